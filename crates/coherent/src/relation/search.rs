//! The search for a derivation of `⊢ M : a` (section 9, Figure 11).
//!
//! What is still to be shown is a list of goals; where there is more than one way to go on, the others are kept as choices. A goal that fails
//! goes back to the last choice. An application `M N` first checks M with an unknown multiset for its argument. Where M turns out to be an
//! abstraction, N becomes the *supplier* of its variable: each use of the variable is checked against N at once, so that what N
//! can say is known before more is tried. Where nobody supplies the points of a multiset, because a head is a variable of
//! the program's own surroundings, its size is guessed, up to a bound.
//!
//! Bounds make the search finite, and an answer that a bound may have changed is `unknown`.

use super::store::{Collector, Letter, Mark, Number, Point, PointId, SetId, Store, Supplier};
use crate::syntax::{Bit, Op, Program, Term, TermId, Terms};
use crate::types::Type;
use crate::typing::{Checker, Scope};

/// How far to search.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// How large a multiset may be that must be guessed.
    pub copies: u32,
    /// How many times a recursion may be unfolded inside itself.
    pub unfold: u32,
    /// How many goals may be looked at.
    pub work: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds { copies: 3, unfold: 4, work: 10_000_000 }
    }
}

/// What the search found out.
#[derive(Clone, Debug)]
pub enum Answer {
    /// There is a derivation.
    Yes(Box<Found>),
    /// There is none.
    No,
    /// There is none within the bounds.
    Unknown,
}

/// A derivation.
#[derive(Clone, Debug)]
pub struct Found {
    /// The judgements, each after the one below it; the first is the one that was asked for.
    pub judgements: Vec<Judgement>,
    /// The environments that they refer to.
    pub environments: Vec<Variable>,
    /// What is known about their points.
    pub store: Store,
}

/// A judgement `Φ ⊢ M : a`; what Φ is follows from the leaves above it.
#[derive(Clone, Copy, Debug)]
pub struct Judgement {
    /// The judgement below it, which needs it.
    pub below: Option<usize>,
    /// The term.
    pub term: TermId,
    /// Its variables.
    pub environment: Environment,
    /// The point.
    pub point: PointId,
}

/// A list of variables, by the number of its innermost one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Environment(pub(super) Option<u32>);

/// A variable in an environment.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    /// Those outside of it.
    pub outer: Environment,
    /// Who collects its uses.
    pub collector: Collector,
    /// The binder.
    pub binder: TermId,
    /// The types of all of them.
    scope: Scope,
    /// Who checks its uses.
    supplier: Option<Supplier>,
}

/// Who checks the points of a multiset as soon as they are known.
#[derive(Clone, Copy, Debug)]
enum Supply {
    /// The argument of an application.
    Argument(Check),
    /// The multiset inside a `D`: its points get a letter, unknown at first, and go to the supplier of the multiset outside, if there is one. The
    /// points with their letters are collected.
    Derived(Option<Supplier>, Collector),
}

/// Looks for a derivation of a point of a closed term, which the function puts into the store. Gives also the number of goals looked at.
pub fn ask(program: &Program, bounds: Bounds, point: impl FnOnce(&mut Store) -> PointId) -> (Answer, u64) {
    let mut store = Store::default();
    let point = point(&mut store);
    let mut search = Search {
        terms: program.terms.clone(),
        checker: Checker::default(),
        bounds,
        store,
        goals: Vec::new(),
        next: None,
        choices: Vec::new(),
        environments: Vec::new(),
        supplies: Vec::new(),
        judgements: Vec::new(),
        is_cut: false,
        work: 0,
    };
    search.push(Goal::Check(Check {
        term: program.main,
        environment: Environment(None),
        point,
        unfold: bounds.unfold,
        below: None,
    }));
    let is_found = search.run();
    let work = search.work;
    let answer = match is_found {
        true => Answer::Yes(Box::new(Found {
            judgements: search.judgements,
            environments: search.environments,
            store: search.store,
        })),
        false if search.is_cut => Answer::Unknown,
        false => Answer::No,
    };
    (answer, work)
}

/// `Φ ⊢ M : a`, with so many unfoldings left.
#[derive(Clone, Copy, Debug)]
struct Check {
    term: TermId,
    environment: Environment,
    point: PointId,
    unfold: u32,
    below: Option<usize>,
}

/// What is to be shown.
#[derive(Clone, Debug)]
enum Goal {
    Check(Check),
    /// The argument is used at each point of the multiset that the function, checked already, asks for, unless its uses were checked one
    /// by one.
    Argument {
        function: TermId,
        argument: Check,
        set: SetId,
        supplier: Supplier,
    },
    /// The uses of a variable are the multiset.
    Uses(Collector, SetId),
    /// All uses of a variable are this number.
    AllEqual(Collector, Number),
    /// `D M : (wanted, r·b)` from `M : (given, b)`.
    Derived(Derived),
    Letters(Letter, Letter),
    Numbers(Number, Number),
    Points(PointId, PointId),
    Sets(SetId, SetId),
    /// The points of two lists are the same up to their order.
    Match(Vec<PointId>, Vec<PointId>),
}

/// What `D M : (wanted, r·b)` from `M : (given, b)` is about.
#[derive(Clone, Copy, Debug)]
struct Derived {
    function: Check,
    given: SetId,
    wanted: SetId,
    /// r.
    letter: Letter,
    /// Who is given the points of the first multiset, and collects them with their letters.
    supplier: Supplier,
}

/// A goal, and the goals after it.
#[derive(Clone, Debug)]
struct Link {
    goal: Goal,
    next: Option<u32>,
}

/// Ways to go on that were not tried yet, the first of them last.
struct Choice {
    ways: Vec<Vec<Goal>>,
    next: Option<u32>,
    n_goals: usize,
    n_environments: usize,
    n_supplies: usize,
    n_judgements: usize,
    mark: Mark,
}

/// There is no derivation this way.
struct Fail;

struct Search {
    terms: Terms,
    checker: Checker,
    bounds: Bounds,
    store: Store,
    goals: Vec<Link>,
    next: Option<u32>,
    choices: Vec<Choice>,
    environments: Vec<Variable>,
    supplies: Vec<Supply>,
    judgements: Vec<Judgement>,
    /// Whether a bound kept the search from looking further.
    is_cut: bool,
    work: u64,
}

impl Search {
    /// Whether all goals can be shown.
    fn run(&mut self) -> bool {
        while let Some(next) = self.next {
            self.work += 1;
            if self.work > self.bounds.work {
                self.is_cut = true;
                return false;
            }
            let Link { goal, next } = self.goals[next as usize].clone();
            self.next = next;
            if self.show(goal).is_err() && !self.go_back() {
                return false;
            }
        }
        true
    }

    fn push(&mut self, goal: Goal) {
        self.goals.push(Link { goal, next: self.next });
        self.next = Some(u32::try_from(self.goals.len() - 1).expect("the search is bounded far below 2^32"));
    }

    /// The goals in order, before all others.
    fn push_all(&mut self, goals: impl DoubleEndedIterator<Item = Goal>) {
        goals.rev().for_each(|goal| self.push(goal));
    }

    /// One of several ways, tried in order.
    fn choose(&mut self, mut ways: Vec<Vec<Goal>>) -> Result<(), Fail> {
        ways.reverse();
        let Some(first) = ways.pop() else { return Err(Fail) };
        if !ways.is_empty() {
            self.choices.push(Choice {
                ways,
                next: self.next,
                n_goals: self.goals.len(),
                n_environments: self.environments.len(),
                n_supplies: self.supplies.len(),
                n_judgements: self.judgements.len(),
                mark: self.store.mark(),
            });
        }
        self.push_all(first.into_iter());
        Ok(())
    }

    /// Back to the last choice; false if there is none.
    fn go_back(&mut self) -> bool {
        let Some(choice) = self.choices.last_mut() else { return false };
        let way = choice.ways.pop().expect("a choice has a way left");
        self.next = choice.next;
        self.goals.truncate(choice.n_goals);
        self.environments.truncate(choice.n_environments);
        self.supplies.truncate(choice.n_supplies);
        self.judgements.truncate(choice.n_judgements);
        self.store.forget(choice.mark);
        if choice.ways.is_empty() {
            self.choices.pop();
        }
        self.push_all(way.into_iter());
        true
    }

    fn show(&mut self, goal: Goal) -> Result<(), Fail> {
        match goal {
            Goal::Check(check) => self.check(check),
            Goal::Argument { supplier, .. } if self.store.is_taken(supplier) => Ok(()),
            Goal::Argument { function, argument, set, supplier } => {
                self.argument(function, argument, set, supplier)
            }
            Goal::Uses(collector, set) => {
                let uses = self.store.uses(collector).to_vec();
                let uses = self.store.known_set(uses);
                self.push(Goal::Sets(uses, set));
                Ok(())
            }
            Goal::AllEqual(collector, number) => {
                let uses = self.store.uses(collector).to_vec();
                let numbers: Vec<Number> = uses.iter().map(|point| self.store.point(*point).number).collect();
                let all = numbers.into_iter().all(|other| self.store.equate(other, number));
                all.then_some(()).ok_or(Fail)
            }
            Goal::Derived(derived) => self.derived(derived),
            Goal::Letters(one, other) => self.store.equate_letters(one, other).then_some(()).ok_or(Fail),
            Goal::Numbers(one, other) => self.store.equate(one, other).then_some(()).ok_or(Fail),
            Goal::Points(one, other) => self.points(one, other),
            Goal::Sets(one, other) => {
                if self.store.join(one, other) {
                    return Ok(());
                }
                let elements =
                    |set| self.store.elements(set).expect("known, or they would be joined").to_vec();
                let (ones, others) = (elements(one), elements(other));
                self.push(Goal::Match(ones, others));
                Ok(())
            }
            Goal::Match(mut ones, others) => {
                if ones.len() != others.len() {
                    return Err(Fail);
                }
                let Some(first) = ones.pop() else { return Ok(()) };
                let way = |chosen: usize| {
                    let mut rest = others.clone();
                    let partner = rest.remove(chosen);
                    vec![Goal::Points(first, partner), Goal::Match(ones.clone(), rest)]
                };
                self.choose((0..others.len()).map(way).collect())
            }
        }
    }

    /// Two points are one.
    fn points(&mut self, one: PointId, other: PointId) -> Result<(), Fail> {
        let (one, other) = (self.store.point(one).clone(), self.store.point(other).clone());
        let words = one.word.iter().zip(&other.word).all(|(a, b)| self.store.equate_letters(*a, *b));
        if !words || !self.store.equate(one.number, other.number) {
            return Err(Fail);
        }
        self.push_all(one.sets.into_iter().zip(other.sets).map(|(a, b)| Goal::Sets(a, b)));
        Ok(())
    }

    /// One rule of Figure 11, by the form of the term.
    fn check(&mut self, check: Check) -> Result<(), Fail> {
        let judgement = Judgement {
            below: check.below,
            term: check.term,
            environment: check.environment,
            point: check.point,
        };
        self.judgements.push(judgement);
        let below = Some(self.judgements.len() - 1);
        let point = self.store.point(check.point).clone();
        let part = |term, point| Check { term, point, below, ..check };
        match self.terms.get(check.term) {
            // x:[a] ⊢ x : a
            Term::Var(index) => {
                let Variable { collector, supplier, .. } = self.variable(check.environment, index);
                self.store.add_use(collector, check.point);
                self.supply(supplier, check.point);
            }
            // ⊢ n : n
            Term::Num(n) => self.push(Goal::Numbers(point.number, Number::known(n))),
            // coin(p): 0 if p > 0, 1 if p < 1
            Term::Coin(probability) => {
                let p = self.terms.probability(probability);
                let sides = [(0, *p > dashu_ratio::RBig::ZERO), (1, *p < dashu_ratio::RBig::ONE)];
                let way = |side| vec![Goal::Numbers(point.number, Number::known(side))];
                let ways = sides.iter().filter(|(_, falls)| *falls).map(|(side, _)| way(*side)).collect();
                return self.choose(ways);
            }
            // tick M : a from M : a
            Term::Tick(m) => self.push(Goal::Check(part(m, check.point))),
            // \x.M : (m,b) from Φ,x:m ⊢ M : b
            Term::Lambda(ty, body) => {
                let (set, rest) = split_first(point);
                let rest = self.store.add(rest);
                let supplier = self.store.take_supplier(set);
                let (environment, collector) = self.bind(check.environment, check.term, ty, supplier);
                self.push(Goal::Uses(collector, set));
                self.push(Goal::Check(Check { environment, ..part(body, rest) }));
            }
            // M N : b from M : ([a1..an],b) and N : aj
            Term::Apply(m, n) => self.apply(m, part(m, check.point), part(n, check.point)),
            // fix M: the same with N := fix M
            Term::Fix(m) => {
                let Some(unfold) = check.unfold.checked_sub(1) else {
                    self.is_cut = true;
                    return Err(Fail);
                };
                let again = Check { unfold, ..part(check.term, check.point) };
                self.apply(m, part(m, check.point), again);
            }
            // D M : ([r1·a1..rn·an], r·b) from M : ([a1..an],b), r = r1+…+rn
            Term::Derive(m) => {
                let mut inside = point;
                let letter = inside.word.remove(0);
                let outside = self.store.take_supplier(inside.sets[0]);
                let marked = self.store.fresh_collector();
                let supplier = self.add_supply(Supply::Derived(outside, marked));
                let given = self.store.supplied_set(supplier);
                let wanted = std::mem::replace(&mut inside.sets[0], given);
                let inside = self.store.add(inside);
                let function = part(m, inside);
                self.push(Goal::Derived(Derived { function, given, wanted, letter, supplier }));
                self.push(Goal::Check(function));
            }
            Term::Op(op, depth, m) => return self.operator(op, depth as usize, point, part(m, check.point)),
            // if^d(M,P,Q) : δ·a from M : δ·0 and P : a, or from M : δ·(ν+1) and Q : a
            Term::If(depth, m, p, q) => {
                let (condition, rest) = self.split_word(point, depth as usize);
                let successor = self.store.fresh_number();
                let successor = Number { offset: 1, ..successor };
                let ways = [(Number::known(0), p), (successor, q)].map(|(number, branch)| {
                    let condition = self.store.add(Point { number, ..condition.clone() });
                    vec![Goal::Check(part(m, condition)), Goal::Check(part(branch, rest))]
                });
                return self.choose(ways.into_iter().collect());
            }
            // let^d(x,M,P) : δ·a from M : δ·ν and x:[ν,…,ν] ⊢ P : a
            Term::Let(depth, m, p) => {
                let (bound, rest) = self.split_word(point, depth as usize);
                let number = self.store.fresh_number();
                let bound = self.store.add(Point { number, ..bound });
                let (environment, collector) = self.bind(check.environment, check.term, Type::NAT, None);
                self.push_all(
                    [
                        Goal::Check(part(m, bound)),
                        Goal::Check(Check { environment, ..part(p, rest) }),
                        Goal::AllEqual(collector, number),
                    ]
                    .into_iter(),
                );
            }
            Term::Zero(_) | Term::Sum(..) => unreachable!("programs are free of sums"),
        }
        Ok(())
    }

    /// The rules for operators, from the point of the whole to that of the part.
    fn operator(&mut self, op: Op, depth: usize, mut point: Point, part: Check) -> Result<(), Fail> {
        let on_part = |search: &mut Search, point| {
            let point = search.store.add(point);
            Goal::Check(Check { point, ..part })
        };
        match op {
            // succ^d M : δ·(ν+1) from M : δ·ν
            Op::Succ => {
                let number = self.store.fresh_number();
                let whole = std::mem::replace(&mut point.number, number);
                let goals = [Goal::Numbers(whole, Number { offset: 1, ..number }), on_part(self, point)];
                self.push_all(goals.into_iter());
            }
            // pred^d M : δ·0 from δ·0 ;  δ·ν from δ·(ν+1)
            Op::Pred => {
                let below = point.number;
                let zero = Point { number: Number::known(0), ..point.clone() };
                let above = Point { number: Number { offset: below.offset + 1, ..below }, ..point };
                let ways = vec![
                    vec![Goal::Numbers(below, Number::known(0)), on_part(self, zero)],
                    vec![on_part(self, above)],
                ];
                return self.choose(ways);
            }
            // pi_i^d M : δ·a from M : δ i·a
            Op::Pi(bit) => {
                point.word.insert(depth, Letter::Known(bit));
                let goal = on_part(self, point);
                self.push(goal);
            }
            // inj_i^d M : δ i·a from M : δ·a
            Op::Inj(bit) => {
                let letter = point.word.remove(depth);
                let goals = [Goal::Letters(letter, Letter::Known(bit)), on_part(self, point)];
                self.push_all(goals.into_iter());
            }
            // theta^d M : δ r·a from M : δ r0 r1·a, r = r0+r1
            Op::Theta => {
                let letter = point.word.remove(depth);
                let ways = [(Bit::Zero, Bit::Zero), (Bit::One, Bit::Zero), (Bit::Zero, Bit::One)];
                let ways = ways.map(|(r0, r1)| {
                    let sum = r0.max(r1);
                    let mut inside = point.clone();
                    inside.word.splice(depth..depth, [Letter::Known(r0), Letter::Known(r1)]);
                    vec![Goal::Letters(letter, Letter::Known(sum)), on_part(self, inside)]
                });
                return self.choose(ways.into_iter().collect());
            }
            // flip_l^d M : δ α'·a from M : δ α·a, where α' is α with its last letter moved to the front
            Op::Flip(levels) => {
                point.word[depth..depth + levels as usize + 2].rotate_left(1);
                let goal = on_part(self, point);
                self.push(goal);
            }
        }
        Ok(())
    }

    /// M is checked with an unknown multiset, then N at each of its points.
    fn apply(&mut self, m: TermId, function: Check, argument: Check) {
        let supplier = self.add_supply(Supply::Argument(argument));
        let set = self.store.supplied_set(supplier);
        let mut point = self.store.point(function.point).clone();
        point.sets.insert(0, set);
        let point = self.store.add(point);
        self.push(Goal::Argument { function: m, argument, set, supplier });
        self.push(Goal::Check(Check { point, ..function }));
    }

    fn argument(
        &mut self,
        function: TermId,
        argument: Check,
        set: SetId,
        supplier: Supplier,
    ) -> Result<(), Fail> {
        let Some(points) = self.store.elements(set).map(<[PointId]>::to_vec) else {
            let again = Goal::Argument { function, argument, set, supplier };
            return self.guess(function, argument.environment, set, again);
        };
        self.push_all(points.into_iter().map(|point| Goal::Check(Check { point, ..argument })));
        Ok(())
    }

    /// The head of the function is a variable, which does not say how often it uses its argument: all sizes are tried, up to the bound.
    fn guess(
        &mut self,
        function: TermId,
        environment: Environment,
        set: SetId,
        then: Goal,
    ) -> Result<(), Fail> {
        self.is_cut = true;
        let scope = self.scope(environment);
        let ty = self.checker.type_of(&mut self.terms, function, scope).expect("a program is well typed");
        let (from, _) = self.terms.types.sides(ty).expect("what is applied is a function");
        let mut ways = Vec::new();
        // Most functions use their argument once: that is tried first.
        let sizes =
            [1, 0].into_iter().chain(2..=self.bounds.copies).filter(|size| *size <= self.bounds.copies);
        for size in sizes {
            let points = (0..size).map(|_| self.store.fresh_point(&self.terms.types, from)).collect();
            let guess = self.store.known_set(points);
            ways.push(vec![Goal::Sets(set, guess), then.clone()]);
        }
        self.choose(ways)
    }

    /// At most one of the points gets the letter 1, and then the whole has it.
    fn derived(&mut self, derived: Derived) -> Result<(), Fail> {
        let Derived { function, given, wanted, letter, supplier } = derived;
        if !self.store.is_taken(supplier) {
            let Some(points) = self.store.elements(given).map(<[PointId]>::to_vec) else {
                return self.guess(function.term, function.environment, given, Goal::Derived(derived));
            };
            points.into_iter().for_each(|point| self.supply(Some(supplier), point));
        }
        let Supply::Derived(_, marked) = self.supplies[supplier.0 as usize] else {
            unreachable!("the multiset inside a `D` was made for it")
        };
        let marked = self.store.uses(marked).to_vec();
        let letters: Vec<Letter> = marked.iter().map(|point| self.store.point(*point).word[0]).collect();
        let marked = self.store.known_set(marked);
        let way = |chosen: Option<usize>| {
            let bit = |is_one: bool| Letter::Known(if is_one { Bit::One } else { Bit::Zero });
            let each =
                letters.iter().enumerate().map(|(i, other)| Goal::Letters(*other, bit(Some(i) == chosen)));
            let sum = Goal::Letters(letter, bit(chosen.is_some()));
            std::iter::once(sum).chain(each).chain([Goal::Sets(marked, wanted)]).collect()
        };
        let ways = std::iter::once(None).chain((0..letters.len()).map(Some)).map(way).collect();
        self.choose(ways)
    }

    /// `δ·a` with `|δ| = depth`: the points δ·_ of the number that is looked at, whose number is open, and a.
    fn split_word(&mut self, mut point: Point, depth: usize) -> (Point, PointId) {
        let rest = point.word.split_off(depth);
        let word = std::mem::replace(&mut point.word, rest);
        let rest = self.store.add(point);
        (Point { sets: Vec::new(), word, number: Number::known(0) }, rest)
    }

    fn bind(
        &mut self,
        outer: Environment,
        binder: TermId,
        ty: Type,
        supplier: Option<Supplier>,
    ) -> (Environment, Collector) {
        let collector = self.store.fresh_collector();
        let scope = self.scope(outer);
        let scope = self.checker.bind(scope, ty);
        self.environments.push(Variable { outer, collector, binder, scope, supplier });
        let innermost =
            u32::try_from(self.environments.len() - 1).expect("the search is bounded far below 2^32");
        (Environment(Some(innermost)), collector)
    }

    fn add_supply(&mut self, supply: Supply) -> Supplier {
        self.supplies.push(supply);
        Supplier(u32::try_from(self.supplies.len() - 1).expect("the search is bounded far below 2^32"))
    }

    /// A point of a multiset goes to its supplier, through all derivatives on the way, each of which gives it a letter.
    fn supply(&mut self, mut supplier: Option<Supplier>, mut point: PointId) {
        while let Some(Supplier(number)) = supplier {
            match self.supplies[number as usize] {
                Supply::Argument(argument) => {
                    self.push(Goal::Check(Check { point, ..argument }));
                    return;
                }
                Supply::Derived(outside, marked) => {
                    let mut deeper = self.store.point(point).clone();
                    let letter = self.store.fresh_letter();
                    deeper.word.insert(0, letter);
                    point = self.store.add(deeper);
                    self.store.add_use(marked, point);
                    supplier = outside;
                }
            }
        }
    }

    fn scope(&self, environment: Environment) -> Scope {
        environment.0.map_or(Scope::EMPTY, |innermost| self.environments[innermost as usize].scope)
    }

    fn variable(&self, mut environment: Environment, index: u32) -> Variable {
        let innermost = |environment: Environment| {
            self.environments[environment.0.expect("every variable is bound") as usize]
        };
        for _ in 0..index {
            environment = innermost(environment).outer;
        }
        innermost(environment)
    }
}

/// `(m, b)`: the first multiset, and the rest of the point.
fn split_first(mut point: Point) -> (SetId, Point) {
    let set = point.sets.remove(0);
    (set, point)
}
