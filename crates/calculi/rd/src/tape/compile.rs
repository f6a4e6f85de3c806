//! From terms to instructions.
//!
//! Compiling a term gives the places of its reals: a range of [`Operand`]s in a growing pool. A pair of two
//! adjacent ranges is the range of both, a projection is a part of a range, a variable is the range that it
//! is bound to; none of them needs an instruction. [`arithmetic`](super::arithmetic) compiles operations,
//! [`place`](super::place) chooses slots.
//!
//! The walk uses a work list of [`Task`]s instead of recursion.

use rustc_hash::{FxHashMap, FxHashSet};

use super::code::{Instr, Operand, Pc, Slot, Tail};
use super::link::{Linker, pc};
use crate::operation::{Op, Pred};
use crate::syntax::{FnId, Term, TermId, Terms, Test, VarId};
use crate::types::Type;

/// The places of the reals of a value: a range of the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leaves {
    pub start: u32,
    pub len: u32,
}

/// Pending work in the current function, innermost last.
enum Task {
    Eval(TermId, Tail),
    Add(Tail),
    Op(Op, Tail),
    /// This many adjacent components.
    Tuple(usize, Tail),
    Project(bool, Type, Tail),
    Bind(VarId),
    Branch(Pred, TermId, TermId, Tail),
    /// The code of the first branch is done: stores its value, and starts the second branch.
    Else {
        branch: Pc,
        top: Slot,
        pinned: Slot,
        no: TermId,
        join: Option<Join>,
        tail: Tail,
    },
    /// The code of the second branch is done.
    EndIf {
        jump: Pc,
        join: Join,
    },
    Call {
        function: FnId,
        /// The first slot of the limits for the callee.
        mark: Slot,
        repeated: bool,
        tail: Tail,
    },
    Open(VarId, TermId, Tail),
    Close(Derivative, Tail),
}

/// The place for the value of a conditional.
#[derive(Clone, Copy)]
struct Join {
    dst: Slot,
    len: u32,
}

/// A derivative whose body is being compiled.
#[derive(Clone, Copy)]
struct Derivative {
    /// The slots of its variable, which the result reuses.
    dst: Slot,
    len: u32,
    cotangents: Leaves,
    body: TermId,
    is_main: bool,
}

pub(super) struct Compiler<'a> {
    pub(super) linker: &'a mut Linker,
    pub(super) terms: &'a Terms,
    pub(super) repeated: &'a FxHashSet<TermId>,
    pub(super) pool: Vec<Operand>,
    pub(super) vars: FxHashMap<VarId, Leaves>,
    /// The remaining limits of the limited functions in scope.
    limits: FxHashMap<FnId, Operand>,
    called: Vec<FnId>,
    /// The next free slot.
    pub(super) top: Slot,
    /// Slots below `pinned` belong to variables; each slot above has one use.
    pub(super) pinned: Slot,
    pub(super) max_top: Slot,
    tasks: Vec<Task>,
    pub(super) done: Vec<Leaves>,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(linker: &'a mut Linker, terms: &'a Terms, repeated: &'a FxHashSet<TermId>) -> Self {
        Compiler {
            linker,
            terms,
            repeated,
            pool: Vec::new(),
            vars: FxHashMap::default(),
            limits: FxHashMap::default(),
            called: Vec::new(),
            top: 0,
            pinned: 0,
            max_top: 0,
            tasks: Vec::new(),
            done: Vec::new(),
        }
    }

    /// Gives the parameters of a function the first slots.
    pub(super) fn parameters(&mut self, function: FnId, number: usize) {
        let hidden: Vec<FnId> = self.linker.hidden.of(function).collect();
        for limited in hidden {
            let slot = self.slot();
            self.limits.insert(limited, Operand::slot(slot));
        }
        let param = self.terms.function(function).param;
        let n = self.n_leaves(self.terms.var(param).ty);
        let leaves = self.slots(n);
        self.vars.insert(param, leaves);
        self.pinned = self.top;
        self.linker.code.functions[number].n_arguments = self.top;
    }

    /// Compiles the body of a function; returns the functions that it calls.
    pub(super) fn function(mut self, number: usize, body: TermId) -> Vec<FnId> {
        self.linker.code.functions[number].entry = self.pc();
        self.max_top = self.top;
        self.tasks.push(Task::Eval(body, Tail::Function));
        while let Some(task) = self.tasks.pop() {
            self.step(task);
        }
        debug_assert!(self.done.is_empty(), "a function leaves its value by returning");
        self.linker.code.functions[number].n_slots = self.max_top;
        self.called
    }

    fn step(&mut self, task: Task) {
        match task {
            Task::Eval(term, tail) => self.eval(term, tail),
            Task::Add(tail) => {
                let (x, y) = (self.done[self.done.len() - 2], self.done[self.done.len() - 1]);
                self.done.truncate(self.done.len() - 2);
                let (x, y) = (self.leaf(x, 0), self.leaf(y, 0));
                self.free(&[x, y]);
                let dst = self.slot();
                self.emit(Instr::Add(dst, x, y), tail);
                self.finish_slots(dst, 1, tail);
            }
            Task::Op(op, tail) => {
                let argument = self.pop();
                let result = self.operation(op, argument, tail);
                self.finish(result, tail);
            }
            Task::Tuple(n, tail) => {
                let whole = self.concat(n);
                self.finish(whole, tail);
            }
            Task::Project(first, pair, tail) => {
                let whole = self.pop();
                let (left, _) = self.terms.types.factors(pair).expect("a projection has a pair");
                let n = self.n_leaves(left);
                let part = if first {
                    Leaves { start: whole.start, len: n }
                } else {
                    Leaves { start: whole.start + n, len: whole.len - n }
                };
                self.finish(part, tail);
            }
            Task::Bind(var) => {
                let value = self.pop();
                self.vars.insert(var, value);
                self.pinned = self.top;
            }
            Task::Branch(pred, yes, no, tail) => self.branch(pred, yes, no, tail),
            Task::Else { branch, top, pinned, no, join, tail } => {
                self.start_else(branch, join);
                (self.top, self.pinned) = (top, pinned);
                self.tasks.push(Task::Eval(no, tail));
            }
            Task::EndIf { jump, join } => {
                let value = self.pop();
                self.store(value, join);
                self.patch(jump);
                self.top = join.dst + join.len;
                self.pinned = self.pinned.min(join.dst);
                self.push_slots(join.dst, join.len);
            }
            Task::Call { function, mark, repeated, tail } => self.call(function, mark, repeated, tail),
            Task::Open(var, body, tail) => self.open(var, body, tail),
            Task::Close(derivative, tail) => self.close(derivative, tail),
        }
    }

    fn eval(&mut self, id: TermId, tail: Tail) {
        use Task::Eval;
        match self.terms.term(id) {
            Term::Var(var) => self.finish(self.vars[&var], tail),
            Term::Real(value) => {
                let constant = self.constant_operand(value);
                let leaves = self.list(&[constant]);
                self.finish(leaves, tail);
            }
            Term::Unit => self.finish(Leaves { start: 0, len: 0 }, tail),
            Term::Add(left, right) => {
                self.tasks.extend([Task::Add(tail), Eval(right, Tail::No), Eval(left, Tail::No)]);
            }
            Term::Op(op, operand) => self.tasks.extend([Task::Op(op, tail), Eval(operand, Tail::No)]),
            Term::Let { var, bound, body } => {
                self.tasks.extend([Eval(body, tail), Task::Bind(var), Eval(bound, Tail::No)]);
            }
            Term::Pair(..) => {
                // ⟨⟨a,b⟩,c⟩ is one list: joining its parts in pairs would copy the first ones repeatedly.
                let task = self.tasks.len();
                self.tasks.push(Task::Tuple(0, tail));
                let mut left = id;
                while let Term::Pair(rest, last) = self.terms.term(left) {
                    self.tasks.push(Eval(last, Tail::No));
                    left = rest;
                }
                self.tasks.push(Eval(left, Tail::No));
                let n = self.tasks.len() - task - 1;
                self.tasks[task] = Task::Tuple(n, tail);
            }
            Term::Fst(pair) => {
                self.tasks.extend([Task::Project(true, self.terms.ty(pair), tail), Eval(pair, Tail::No)]);
            }
            Term::Snd(pair) => {
                self.tasks.extend([Task::Project(false, self.terms.ty(pair), tail), Eval(pair, Tail::No)]);
            }
            Term::If { test: Test::Constant(known), yes, no } => {
                self.tasks.push(Eval(if known { yes } else { no }, tail));
            }
            Term::If { test: Test::Pred(pred, operand), yes, no } => {
                self.tasks.extend([Task::Branch(pred, yes, no, tail), Eval(operand, Tail::No)]);
            }
            Term::Letrec { function, body } => {
                if let Some(limit) = self.terms.function(function).limit {
                    let limit = self.constant_operand(f64::from(limit));
                    self.limits.insert(function, limit);
                }
                self.tasks.push(Eval(body, tail));
            }
            Term::Call { function, argument } => {
                // The limits for the callee are right below its arguments.
                let mark = self.top;
                self.reserve(self.n_hidden(function));
                let repeated = self.repeated.contains(&id);
                let call = Task::Call { function, mark, repeated, tail };
                self.tasks.extend([call, Eval(argument, Tail::No)]);
            }
            Term::Rd { cotangent, point, var, body } => {
                self.tasks.extend([
                    Task::Open(var, body, tail),
                    Eval(cotangent, Tail::No),
                    Eval(point, Tail::No),
                ]);
            }
        }
    }

    /// Completes a value; at the end of a function, returns it.
    fn finish(&mut self, leaves: Leaves, tail: Tail) {
        if tail == Tail::Function {
            let window = self.anywhere(leaves);
            self.emit(Instr::Return { window, n: leaves.len }, Tail::No);
        } else {
            self.done.push(leaves);
        }
    }

    fn finish_slots(&mut self, first: Slot, n: u32, tail: Tail) {
        self.push_slots(first, n);
        let leaves = self.pop();
        self.finish(leaves, tail);
    }

    fn branch(&mut self, pred: Pred, yes: TermId, no: TermId, tail: Tail) {
        let condition = self.pop();
        let (x, y) = (self.leaf(condition, 0), self.leaf(condition, 1));
        self.free(&[x, y]);
        let join = (tail != Tail::Function).then(|| {
            let len = self.n_leaves(self.terms.ty(yes));
            Join { dst: self.reserve(len), len }
        });
        let branch = self.pc();
        self.emit(Instr::Branch(pred, x, y, 0), Tail::No);
        let otherwise = Task::Else { branch, top: self.top, pinned: self.pinned, no, join, tail };
        self.tasks.extend([otherwise, Task::Eval(yes, tail)]);
    }

    /// Ends the first branch, and starts the second.
    fn start_else(&mut self, branch: Pc, join: Option<Join>) {
        if let Some(join) = join {
            let value = self.pop();
            self.store(value, join);
            let jump = self.pc();
            self.emit(Instr::Jump(0), Tail::No);
            self.tasks.push(Task::EndIf { jump, join });
        }
        self.patch(branch);
    }

    /// Stores the value of a branch in the place of the conditional.
    fn store(&mut self, value: Leaves, join: Join) {
        for i in 0..value.len {
            let operand = self.leaf(value, i);
            self.emit(Instr::Copy(join.dst + i, operand), Tail::No);
        }
    }

    fn n_hidden(&self, function: FnId) -> u32 {
        u32::try_from(self.linker.hidden.of(function).count()).expect("fewer functions than bytes")
    }

    /// Checks the limit of the callee, and passes all limits that it needs in the slots from `mark` on.
    fn pass_limits(&mut self, function: FnId, number: u32, mark: Slot) {
        let hidden: Vec<FnId> = self.linker.hidden.of(function).collect();
        if self.terms.function(function).limit.is_some() && !hidden.contains(&function) {
            // The body does not call the function again, so the remaining limit is dead.
            let unused = self.slot();
            self.emit(Instr::Limit(unused, self.limits[&function], number), Tail::No);
            self.top -= 1;
        }
        for (dst, limited) in (mark..).zip(hidden) {
            let limit = self.limits[&limited];
            let instr =
                if limited == function { Instr::Limit(dst, limit, number) } else { Instr::Copy(dst, limit) };
            self.emit(instr, Tail::No);
        }
    }

    /// Emits a call whose argument is compiled already.
    fn call(&mut self, function: FnId, mark: Slot, repeated: bool, tail: Tail) {
        let argument = self.pop();
        let in_place = tail == Tail::Function && !repeated;
        let n_hidden = self.n_hidden(function);
        let window = if n_hidden > 0 {
            self.gather_at(argument, mark + n_hidden);
            mark
        } else if in_place {
            self.anywhere(argument)
        } else {
            self.gather(argument, mark)
        };
        let number = self.linker.number(function);
        self.called.push(function);
        self.pass_limits(function, number, mark);
        if in_place {
            self.emit(Instr::TailCall { function: number, window }, Tail::No);
            return;
        }
        self.emit(
            Instr::Call { function: number, window, lenient: tail == Tail::Derivative, repeated },
            Tail::No,
        );
        let n_results = self.n_leaves(self.terms.function(function).result);
        self.top = window + n_results;
        self.pinned = self.pinned.min(window);
        self.max_top = self.max_top.max(self.top);
        self.finish_slots(window, n_results, tail);
    }

    /// Opens a derivative whose point and cotangent are compiled; its body comes next.
    fn open(&mut self, var: VarId, body: TermId, tail: Tail) {
        let cotangents = self.pop();
        let point = self.pop();
        let (dst, len) = (self.reserve(point.len), point.len);
        self.push_slots(dst, len);
        let leaves = self.pop();
        self.vars.insert(var, leaves);
        self.pinned = self.top;
        let is_main = self.linker.main == Some(var);
        let point = self.code_list(point);
        self.emit(Instr::Open { point, dst, main: is_main }, Tail::No);
        let derivative = Derivative { dst, len, cotangents, body, is_main };
        self.tasks.extend([Task::Close(derivative, tail), Task::Eval(body, Tail::Derivative)]);
    }

    fn close(&mut self, derivative: Derivative, tail: Tail) {
        let Derivative { dst, len, cotangents, body, is_main } = derivative;
        let outputs = self.pop();
        if is_main {
            self.linker.code.main_body_type = Some(self.terms.ty(body));
        }
        let (outputs, cotangents) = (self.code_list(outputs), self.code_list(cotangents));
        self.emit(Instr::Close { outputs, cotangents, dst, n: len, main: is_main }, Tail::No);
        self.top = dst + len;
        self.pinned = self.pinned.min(dst);
        self.finish_slots(dst, len, tail);
    }

    pub(super) fn emit(&mut self, instr: Instr, tail: Tail) {
        self.linker.code.instrs.push(instr);
        self.linker.code.tails.push(tail);
    }

    pub(super) fn pc(&self) -> Pc {
        pc(&self.linker.code)
    }

    /// Sets the target of a jump to the next instruction.
    fn patch(&mut self, at: Pc) {
        let here = self.pc();
        match &mut self.linker.code.instrs[at as usize] {
            Instr::Branch(_, _, _, to) | Instr::Jump(to) => *to = here,
            _ => unreachable!("only jumps are patched"),
        }
    }
}
