//! "Some branch" and "all entries", three-valued, on one explicit stack (section 7).
//!
//! ```text
//! member(t,⟨λx.e,ϱ⟩) = AND over entries (v↦v') of  OR over branches w of eval(e,ϱ(x:=v)) of member(v',w)
//! ```
//!
//! A [`Some`](Pending::Some) is an OR: the remaining branches, and what their results have to contain. An
//! [`All`](Pending::All) is an AND: the remaining obligations. Both follow Kleene's three-valued logic: *no*
//! beats *unknown* in AND, *yes* beats *unknown* in OR. A branch that reached a limit counts as unknown. A
//! [`Lookup`](Pending::Lookup) is a branch that waits for the decision whether it may use an entry of a
//! table.
//!
//! A question inside a branch gets the remaining fuel of the branch, so the nesting is finite.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::machine::{Branch, Control, Stop};
use super::memory::ExtraMemory;
use super::mixed::{Arena, Cell, EnvId, Heap, Mark, Mixed, NIL};
use super::pending::{Obligation, Pending, Purpose, waiting_bytes};
use super::{Answer, Limits, addresses};
use crate::dialect::Dialect;
use crate::names::Name;
use crate::syntax::{Program, Term, TermId, Terms};
use crate::value::parse::Goal;
use crate::value::{Entry, Side, Store, Value, ValueKind, Values};

/// The machine and its search.
pub(crate) struct Machine<'a> {
    pub(super) dialect: Dialect,
    pub(super) terms: &'a Terms,
    main: TermId,
    pub(super) values: &'a mut Values,
    limits: Limits,
    steps: u64,
    pub(super) memory: ExtraMemory,
    pub(super) arena: Arena,
    /// Pending questions, the innermost last.
    pending: Vec<Pending>,
    /// The addresses of the goal.
    pub(super) addresses: Vec<u64>,
    pub(super) goal_has_choices: bool,
    pub(super) free: FxHashMap<TermId, Rc<[Name]>>,
}

/// The next action of the machine.
enum Task {
    Run(Branch),
    Prove {
        left: Vec<Obligation>,
        is_unknown: bool,
        fuel: u64,
    },
    Answer(Answer),
    /// The outermost question has this answer.
    Done(Answer),
}

/// A branch whose result contains the goal.
pub(crate) struct FoundBranch {
    /// The lookups, in order.
    pub(crate) choices: Vec<usize>,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(program: &'a Program, values: &'a mut Values, limits: Limits) -> Self {
        Machine {
            dialect: program.dialect,
            terms: &program.terms,
            main: program.main,
            values,
            limits,
            steps: 0,
            memory: ExtraMemory::default(),
            arena: Arena::default(),
            pending: Vec::new(),
            addresses: Vec::new(),
            goal_has_choices: true,
            free: FxHashMap::default(),
        }
    }

    /// Records the addresses and tables of the goal.
    pub(crate) fn prepare(&mut self, goal: Goal) {
        self.addresses = addresses(goal, self.values);
        self.goal_has_choices = self.values.has_choices(goal.value);
    }

    /// ask(e,v) = OR over branches (w,h) of eval(e,∅,[]) of member(v,w) (with a goal store μ: AND
    /// match(μ,h)).
    pub(crate) fn ask(&mut self, goal: Goal) -> Answer {
        self.ask_of(self.main, NIL, goal.value, goal.store).0
    }

    /// Whether some branch of a term has a result that contains a value, and that branch.
    pub(crate) fn ask_of(
        &mut self,
        term: TermId,
        env: EnvId,
        value: Value,
        store: Option<Store>,
    ) -> (Answer, Option<FoundBranch>) {
        let branch = self.branch(term, env, Store::EMPTY, self.limits.fuel);
        let (answer, choices, _) = self.search(branch, Purpose::Value(value, store));
        let found = (answer == Answer::Yes).then_some(FoundBranch { choices });
        (answer, found)
    }

    /// All results of a term, and whether there may be more.
    pub(crate) fn results(&mut self, term: TermId, env: EnvId) -> (Vec<Mixed>, bool) {
        let branch = self.branch(term, env, Store::EMPTY, self.limits.fuel);
        let (answer, _, results) = self.search(branch, Purpose::All(Vec::new()));
        (results, answer == Answer::Unknown)
    }

    /// Applications and forcings so far.
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    pub(crate) fn values(&mut self) -> &mut Values {
        self.values
    }

    pub(crate) fn terms(&self) -> &'a Terms {
        self.terms
    }

    /// The cell in which a variable is bound, and its value.
    pub(crate) fn lookup(&self, name: Name, env: EnvId) -> (EnvId, &Mixed) {
        self.arena.lookup(name, env)
    }

    /// The contents of a cell.
    pub(crate) fn cell(&self, cell: EnvId) -> &Cell {
        self.arena.cell(cell)
    }

    /// Keeps the limit of each branch and removes the limits of the whole search, to repeat a question that
    /// was answered before.
    pub(crate) fn lift_limits(&mut self) {
        self.limits = Limits { fuel: self.limits.fuel, steps: u64::MAX, memory: u64::MAX };
    }

    /// Whether a limit of the whole search is reached, while this branch runs.
    pub(super) fn is_exhausted(&mut self, branch: &Branch) -> bool {
        if self.steps >= self.limits.steps {
            return true;
        }
        let tables = self.arena.bytes() + branch.heap.bytes() as u64;
        if tables + self.memory.estimate() <= self.limits.memory {
            return false;
        }
        // Some of the counted memory may have been freed, so it is measured. The search stops a little below
        // the limit: if little memory were left, it would be measured too often.
        let waiting = self.pending.iter().map(Pending::bytes).sum::<usize>();
        self.memory.set(self.arena.extra_bytes() + branch.heap.extra_bytes() + waiting);
        tables + self.memory.estimate() > self.limits.memory - self.limits.memory / 16
    }

    pub(super) fn count(&mut self) {
        self.steps += 1;
    }

    /// A new branch.
    fn branch(&self, term: TermId, env: EnvId, store: Store, fuel: u64) -> Branch {
        let heap = Rc::new(Heap::of(store, self.values));
        Branch { control: Control::Evaluate(term, env), kont: NIL, heap, fuel, choices: NIL }
    }

    /// Queues another branch of the innermost question.
    pub(super) fn queue_branch(&mut self, branch: Branch) {
        let mark = self.arena.mark();
        self.memory.add(waiting_bytes(&branch));
        match self.pending.last_mut() {
            Some(Pending::Some { later, .. }) => later.push((branch, mark)),
            _ => unreachable!("a branch runs for a question"),
        }
        self.arena.share_konts(Some(mark));
    }

    /// Adds a pending question.
    fn wait(&mut self, pending: Pending) {
        self.memory.add(pending.bytes());
        self.pending.push(pending);
    }

    fn search(&mut self, branch: Branch, goal: Purpose) -> (Answer, Vec<usize>, Vec<Mixed>) {
        debug_assert!(self.pending.is_empty(), "one question at a time");
        let mark = self.arena.mark();
        let some = Pending::Some { later: Vec::new(), goal, is_unknown: false, mark, choices: NIL };
        self.wait(some);
        let mut task = Task::Run(branch);
        loop {
            task = match task {
                Task::Run(branch) => self.run_branch(branch),
                Task::Prove { left, is_unknown, fuel } => self.prove(left, is_unknown, fuel),
                Task::Answer(answer) => self.answered(answer),
                Task::Done(answer) => return self.done(answer),
            };
        }
    }

    /// Ends the outermost question.
    fn done(&mut self, answer: Answer) -> (Answer, Vec<usize>, Vec<Mixed>) {
        let Some(Pending::Some { goal, choices, mark, .. }) = self.pending.pop() else {
            unreachable!("the outermost question is answered last")
        };
        let choices = self.arena.choices(choices);
        match goal {
            Purpose::All(results) => (answer, choices, results),
            Purpose::Value(..) => {
                self.arena.cut(mark);
                (answer, choices, Vec::new())
            }
        }
    }

    /// Runs a branch up to the next decision.
    fn run_branch(&mut self, mut branch: Branch) -> Task {
        let Some(Pending::Some { later, .. }) = self.pending.last() else {
            unreachable!("a branch runs for a question")
        };
        // Only branches of the same question share continuations: a question inside a branch begins with
        // none.
        self.arena.share_konts(later.last().map(|(_, mark)| *mark));
        match self.run(&mut branch) {
            Stop::RunError => Task::Answer(Answer::No),
            Stop::Cut => Task::Answer(Answer::Unknown),
            Stop::Result(result) => self.compare(branch, result),
            Stop::Lookup { table, from, argument } => self.look_up(branch, table, from, argument),
        }
    }

    /// Compares the result of a branch with the goal.
    fn compare(&mut self, branch: Branch, result: Mixed) -> Task {
        let Some(Pending::Some { goal, choices, .. }) = self.pending.last_mut() else {
            unreachable!("a branch runs for a question")
        };
        match goal {
            Purpose::All(results) => {
                results.push(result);
                // All results are collected: `No` continues the search.
                Task::Answer(Answer::No)
            }
            Purpose::Value(value, store) => {
                *choices = branch.choices;
                let mut left = vec![Obligation::Member(*value, result)];
                if let Some(store) = *store {
                    // match(μ,h) = dom μ = dom h AND member(μ(a),h(a)) for all a
                    let cells = self.values.cells(store);
                    if cells.len() != branch.heap.len() {
                        return Task::Answer(Answer::No);
                    }
                    for (address, value) in cells {
                        let Some(stored) = branch.heap.get(*address) else { return Task::Answer(Answer::No) };
                        left.push(Obligation::Member(*value, stored.clone()));
                    }
                }
                Task::Prove { left, is_unknown: false, fuel: branch.fuel }
            }
        }
    }

    /// apply(t, w2) = for each entry (v3↦v3') in canonical order: member(v3,w2)=yes → branch with result v3'.
    fn look_up(&mut self, branch: Branch, table: Value, at: usize, argument: Mixed) -> Task {
        let Some(Entry { input, output }) = self.values.entries(table).get(at).copied() else {
            return Task::Answer(Answer::No);
        };
        let mut left = vec![Obligation::Member(input.value, argument.clone())];
        let mut is_usable = true;
        // dom μ ⊆ dom h, member(μ(a),h(a)) for a∈dom μ, and dom μ' ∩ (dom h∖dom μ) = ∅
        for (address, value) in self.values.cells(input.store) {
            match branch.heap.get(*address) {
                Some(stored) => left.push(Obligation::Member(*value, stored.clone())),
                None => is_usable = false,
            }
        }
        let before = self.values.cells(input.store);
        let in_frame = |address: u64| {
            branch.heap.get(address).is_some()
                && before.binary_search_by_key(&address, |cell| cell.0).is_err()
        };
        is_usable &= !self.values.cells(output.store).iter().any(|(address, _)| in_frame(*address));
        let fuel = branch.fuel;
        self.wait(Pending::Lookup { branch, table, at, argument });
        if is_usable { Task::Prove { left, is_unknown: false, fuel } } else { Task::Answer(Answer::No) }
    }

    /// Discharges obligations one after the other, until one needs a run.
    fn prove(&mut self, mut left: Vec<Obligation>, is_unknown: bool, fuel: u64) -> Task {
        while let Some(obligation) = left.pop() {
            match obligation {
                Obligation::Member(value, of) => {
                    if !self.reduce(value, of, &mut left) {
                        return Task::Answer(Answer::No);
                    }
                }
                Obligation::Entry(Entry { input, output }, lambda, env) => {
                    self.wait(Pending::All { left, is_unknown, fuel });
                    let argument = Mixed::of(input.value, self.values);
                    let mark = self.arena.mark();
                    let (body, env) = self.bind(lambda, argument, env);
                    return self.question(body, env, input.store, output, fuel, mark);
                }
                Obligation::Content(value, body, env) => {
                    self.wait(Pending::All { left, is_unknown, fuel });
                    let mark = self.arena.mark();
                    return self.question(body, env, Store::EMPTY, value.into(), fuel, mark);
                }
            }
        }
        Task::Answer(if is_unknown { Answer::Unknown } else { Answer::Yes })
    }

    fn question(
        &mut self,
        body: TermId,
        env: EnvId,
        before: Store,
        after: Side,
        fuel: u64,
        mark: Mark,
    ) -> Task {
        let goal = Purpose::Value(after.value, Some(after.store));
        let some = Pending::Some { later: Vec::new(), goal, is_unknown: false, mark, choices: NIL };
        self.wait(some);
        Task::Run(self.branch(body, env, before, fuel))
    }

    /// member(v,w): returns whether it can hold, and adds the remaining obligations.
    fn reduce(&self, value: Value, of: Mixed, left: &mut Vec<Obligation>) -> bool {
        match (self.values.kind(value), of) {
            (ValueKind::Int(a), Mixed::Int(b)) => *a == b,
            (ValueKind::Address(a), Mixed::Address(b)) => *a == b,
            (_, Mixed::Finite(of)) => self.values.is_below(value, of),
            (ValueKind::Table(entries), Mixed::Closure(lambda, env)) => {
                let entry = |entry: &Entry| Obligation::Entry(*entry, lambda, env);
                left.extend(entries.iter().rev().map(entry));
                true
            }
            (ValueKind::ThunkNone, Mixed::Delayed(..) | Mixed::Thunk(_)) => true,
            (ValueKind::ThunkSome(content), Mixed::Delayed(thunk, env)) => {
                let Term::TypeLambda(body) = self.terms.term(thunk) else {
                    unreachable!("the term of a thunk is a Λ")
                };
                left.push(Obligation::Content(*content, *body, env));
                true
            }
            (ValueKind::ThunkSome(content), Mixed::Thunk(cell)) => match self.arena.cell(cell) {
                Cell::Content(of) => {
                    left.push(Obligation::Member(*content, of.clone()));
                    true
                }
                Cell::Binding(..) | Cell::Pair(..) => unreachable!("a thunk has a content"),
            },
            (ValueKind::Pair(first, second), Mixed::Pair(cell)) => match self.arena.cell(cell) {
                Cell::Pair(of_first, of_second) => {
                    left.push(Obligation::Member(*second, of_second.clone()));
                    left.push(Obligation::Member(*first, of_first.clone()));
                    true
                }
                Cell::Binding(..) | Cell::Content(_) => unreachable!("a pair has two parts"),
            },
            _ => false,
        }
    }

    /// Gives an answer to the innermost pending question.
    fn answered(&mut self, answer: Answer) -> Task {
        match self.pending.pop() {
            Some(Pending::All { left, is_unknown, fuel }) => {
                if answer == Answer::No {
                    return Task::Answer(Answer::No);
                }
                Task::Prove { left, is_unknown: is_unknown || answer == Answer::Unknown, fuel }
            }
            Some(Pending::Lookup { branch, table, at, argument }) => {
                self.looked_up(branch, table, at, argument, answer)
            }
            Some(some @ Pending::Some { .. }) => {
                self.pending.push(some);
                self.next_branch(answer)
            }
            None => unreachable!("the outermost question is answered last"),
        }
    }

    /// Continues the branch after the decision: with the output of the entry, or with the next entry.
    fn looked_up(
        &mut self,
        mut branch: Branch,
        table: Value,
        at: usize,
        argument: Mixed,
        answer: Answer,
    ) -> Task {
        let others = Control::Lookup { table, from: at + 1, argument };
        match answer {
            Answer::Yes => {
                let has_others = at + 1 < self.values.entries(table).len();
                if has_others {
                    self.queue_branch(Branch { control: others, ..branch.clone() });
                }
                let Entry { input, output } = self.values.entries(table)[at];
                self.install(&mut branch, input.store, output.store);
                branch.choices = self.arena.push_choice(at, branch.choices);
                branch.control = Control::Return(Mixed::of(output.value, self.values));
            }
            Answer::No => branch.control = others,
            Answer::Unknown => {
                if let Some(Pending::Some { is_unknown, .. }) = self.pending.last_mut() {
                    *is_unknown = true;
                }
                branch.control = others;
            }
        }
        Task::Run(branch)
    }

    /// Replaces the cells of the input store by those of the output store μ'; the other cells, the frame,
    /// stay.
    fn install(&self, branch: &mut Branch, before: Store, after: Store) {
        if before == Store::EMPTY && after == Store::EMPTY {
            return;
        }
        let heap = Rc::make_mut(&mut branch.heap);
        for (address, _) in self.values.cells(before) {
            heap.remove(*address);
        }
        for (address, value) in self.values.cells(after) {
            heap.set(*address, Mixed::of(*value, self.values));
        }
    }

    /// After a branch without a yes: the next branch, or the answer.
    fn next_branch(&mut self, answer: Answer) -> Task {
        let n_pending = self.pending.len();
        let Some(Pending::Some { later, is_unknown, mark, goal, .. }) = self.pending.last_mut() else {
            unreachable!("a branch runs for a question")
        };
        *is_unknown |= answer == Answer::Unknown;
        if answer != Answer::Yes
            && let Some((branch, mark)) = later.pop()
        {
            // Cells of earlier branches are dead, unless results are collected.
            if matches!(goal, Purpose::Value(..)) {
                self.arena.cut(mark);
            }
            return Task::Run(branch);
        }
        let answer = match answer {
            Answer::Yes => Answer::Yes,
            _ if *is_unknown => Answer::Unknown,
            _ => Answer::No,
        };
        if n_pending == 1 {
            return Task::Done(answer);
        }
        let mark = *mark;
        self.pending.pop();
        self.arena.cut(mark);
        Task::Answer(answer)
    }
}
