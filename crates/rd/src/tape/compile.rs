//! From terms to instructions.
//!
//! Compiling a term gives the places of its reals: a range of [`Operand`]s in a growing pool. A pair of two ranges that
//! stand side by side is the range of both, a projection is a part of a range, a variable is the range that it was
//! bound to; none of them needs an instruction. Slots are given out upwards in a frame and given back where a
//! branch ends, so a call can place its frame right above what is in use, and its arguments where they were computed.
//!
//! The walk uses a work list of [`Task`]s instead of recursion.

use rustc_hash::FxHashMap;

use super::code::{Code, Function, Instr, List, Operand, Pc, Slot, Tail};
use super::limits::HiddenLimits;
use crate::operation::{Op, Pred, Primitive, Scalar};
use crate::syntax::{FnId, Program, Term, TermId, Terms, Test, VarId};
use crate::template::{Algebra, reverse_binary, reverse_unary};
use crate::types::Type;

/// Compiles a program. `main` is the variable of the derivative in which ties are choices (`use clarke`).
pub fn compile(program: &Program, main: Option<VarId>) -> Code {
    let terms = &program.terms;
    let code = Code {
        instrs: Vec::new(),
        tails: Vec::new(),
        functions: vec![Function { entry: 0, n_slots: 0, n_arguments: 0 }; terms.n_functions() + 1],
        names: vec![String::new(); terms.n_functions() + 1],
        constants: Vec::new(),
        unary: Vec::new(),
        lists: Vec::new(),
        main_body_type: Type::UNIT,
    };
    let mut compiler = Compiler {
        terms,
        main,
        hidden: HiddenLimits::find(program),
        code,
        constants: FxHashMap::default(),
        unary: FxHashMap::default(),
        pool: Vec::new(),
        vars: vec![Leaves { start: 0, len: 0 }; terms.n_vars()],
        limits: FxHashMap::default(),
        pending: Vec::new(),
        top: 0,
        max_top: 0,
        tasks: Vec::new(),
        done: Vec::new(),
    };
    compiler.function(0, program.main);
    while let Some(function) = compiler.pending.pop() {
        compiler.body(function);
    }
    compiler.code
}

/// The places of the reals of a value: a range of the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Leaves {
    start: u32,
    len: u32,
}

/// What is left to do in the current function, innermost last.
enum Task {
    Eval(TermId, Tail),
    Add(Tail),
    Op(Op, Tail),
    Pair(Tail),
    Project(bool, Type, Tail),
    Bind(VarId),
    Branch(Pred, TermId, TermId, Tail),
    /// The first branch is done: it leaves its value, and the second starts.
    Else {
        branch: Pc,
        top: Slot,
        no: TermId,
        join: Option<Join>,
        tail: Tail,
    },
    /// The second branch is done.
    EndIf {
        jump: Pc,
        join: Join,
    },
    Call(FnId, Slot, Tail),
    Open(VarId, TermId, Tail),
    Close(Derivative, Tail),
}

/// Where the branches of a conditional leave their value.
#[derive(Clone, Copy)]
struct Join {
    dst: Slot,
    len: u32,
}

/// A derivative whose body is being compiled.
#[derive(Clone, Copy)]
struct Derivative {
    /// The slots of its variable, which the result will take.
    dst: Slot,
    len: u32,
    cotangents: Leaves,
    body: TermId,
    is_main: bool,
}

struct Compiler<'a> {
    terms: &'a Terms,
    main: Option<VarId>,
    hidden: HiddenLimits,
    code: Code,
    constants: FxHashMap<u64, Operand>,
    unary: FxHashMap<Scalar, u32>,
    pool: Vec<Operand>,
    vars: Vec<Leaves>,
    /// The remaining limits of the limited functions in scope.
    limits: FxHashMap<FnId, Operand>,
    pending: Vec<FnId>,
    /// The next free slot.
    top: Slot,
    max_top: Slot,
    tasks: Vec<Task>,
    done: Vec<Leaves>,
}

impl Compiler<'_> {
    /// Compiles the body of a function, whose arguments are in the first slots.
    fn body(&mut self, function: FnId) {
        let definition = self.terms.function(function);
        self.limits.clear();
        self.top = 0;
        let hidden: Vec<FnId> = self.hidden.of(function).collect();
        for limited in hidden {
            let slot = self.slot();
            self.limits.insert(limited, Operand::slot(slot));
        }
        let n = self.n_leaves(self.terms.var(definition.param).ty);
        let leaves = self.slots(n);
        self.vars[definition.param.index()] = leaves;
        let number = function.index() + 1;
        self.code.names[number] = self.terms.function_name(function).to_string();
        self.code.functions[number].n_arguments = self.top;
        self.function(number, self.terms.body(function));
    }

    fn function(&mut self, number: usize, body: TermId) {
        self.code.functions[number].entry = self.pc();
        self.max_top = self.top;
        self.tasks.push(Task::Eval(body, Tail::Function));
        while let Some(task) = self.tasks.pop() {
            self.step(task);
        }
        debug_assert!(self.done.is_empty(), "a function leaves its value by returning");
        self.code.functions[number].n_slots = self.max_top;
    }

    fn step(&mut self, task: Task) {
        match task {
            Task::Eval(term, tail) => self.eval(term, tail),
            Task::Add(tail) => {
                let (x, y) = (self.done[self.done.len() - 2], self.done[self.done.len() - 1]);
                self.done.truncate(self.done.len() - 2);
                let dst = self.slot();
                let (x, y) = (self.leaf(x, 0), self.leaf(y, 0));
                self.emit(Instr::Add(dst, x, y), tail);
                self.finish_slots(dst, 1, tail);
            }
            Task::Op(op, tail) => {
                let argument = self.pop();
                let result = self.operation(op, argument, tail);
                self.finish(result, tail);
            }
            Task::Pair(tail) => {
                let right = self.pop();
                let left = self.pop();
                let both = self.concat(left, right);
                self.finish(both, tail);
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
            Task::Bind(var) => self.vars[var.index()] = self.pop(),
            Task::Branch(pred, yes, no, tail) => self.branch(pred, yes, no, tail),
            Task::Else { branch, top, no, join, tail } => self.otherwise(branch, top, no, join, tail),
            Task::EndIf { jump, join } => {
                let value = self.pop();
                self.store(value, join);
                self.patch(jump);
                self.top = join.dst + join.len;
                self.push_slots(join.dst, join.len);
            }
            Task::Call(function, mark, tail) => self.call(function, mark, tail),
            Task::Open(var, body, tail) => self.open(var, body, tail),
            Task::Close(derivative, tail) => self.close(derivative, tail),
        }
    }

    fn eval(&mut self, id: TermId, tail: Tail) {
        use Task::Eval;
        match self.terms.term(id) {
            Term::Var(var) => self.finish(self.vars[var.index()], tail),
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
            Term::Pair(left, right) => {
                self.tasks.extend([Task::Pair(tail), Eval(right, Tail::No), Eval(left, Tail::No)]);
            }
            Term::Fst(pair) => {
                self.tasks.extend([Task::Project(true, self.terms.ty(pair), tail), Eval(pair, Tail::No)]);
            }
            Term::Snd(pair) => {
                self.tasks.extend([Task::Project(false, self.terms.ty(pair), tail), Eval(pair, Tail::No)]);
            }
            Term::If { test: Test::Known(known), yes, no } => {
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
                self.pending.push(function);
                self.tasks.push(Eval(body, tail));
            }
            Term::Call { function, argument } => {
                // The limits that the callee is passed come right below its arguments.
                let mark = self.top;
                self.reserve(self.n_hidden(function));
                self.tasks.extend([Task::Call(function, mark, tail), Eval(argument, Tail::No)]);
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

    /// A value is complete; at the end of a function it is returned.
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

    fn operation(&mut self, op: Op, argument: Leaves, tail: Tail) -> Leaves {
        match op {
            Op::Primal(Primitive::Scalar(scalar)) if scalar.is_binary() => {
                let (x, y) = (self.leaf(argument, 0), self.leaf(argument, 1));
                let result = self.binary_instr(scalar, x, y, tail);
                self.list(&[result])
            }
            Op::Primal(Primitive::Scalar(scalar)) => {
                let x = self.leaf(argument, 0);
                let result = self.unary_instr(scalar, x, tail);
                self.list(&[result])
            }
            Op::Primal(Primitive::Dot(_)) => {
                let (a, b) = self.halves(argument);
                let result = self.dot(a, b, tail);
                self.list(&[result])
            }
            Op::Primal(Primitive::Scale(_)) => {
                let vector = Leaves { start: argument.start + 1, len: argument.len - 1 };
                self.scale(self.leaf(argument, 0), vector, tail)
            }
            Op::Reverse(primitive) => self.reverse(primitive, argument),
        }
    }

    /// `op_r(⟨x,w⟩)` by the template of `op`.
    fn reverse(&mut self, primitive: Primitive, argument: Leaves) -> Leaves {
        let at = |n: u32| Leaves { start: argument.start + n, len: argument.len - n };
        let infallible = "writing instructions does not fail";
        match primitive {
            Primitive::Scalar(op) if op.is_binary() => {
                let (a, b, w) = (self.leaf(argument, 0), self.leaf(argument, 1), self.leaf(argument, 2));
                let (da, db) = reverse_binary(self, op, (a, b), w).expect(infallible);
                self.list(&[da, db])
            }
            Primitive::Scalar(op) => {
                let (x, w) = (self.leaf(argument, 0), self.leaf(argument, 1));
                let dx = reverse_unary(self, op, x, w).expect(infallible);
                self.list(&[dx])
            }
            Primitive::Dot(_) => {
                let point = Leaves { start: argument.start, len: argument.len - 1 };
                let w = self.leaf(at(argument.len - 1), 0);
                let (a, b) = self.halves(point);
                let (da, db) = (self.scale(w, b, Tail::No), self.scale(w, a, Tail::No));
                self.concat(da, db)
            }
            Primitive::Scale(_) => {
                let n = (argument.len - 1) / 2;
                let (v, w) = (Leaves { len: n, ..at(1) }, at(1 + n));
                let dr = self.dot(v, w, Tail::No);
                let dr = self.list(&[dr]);
                let dv = self.scale(self.leaf(argument, 0), w, Tail::No);
                self.concat(dr, dv)
            }
        }
    }

    /// Products of leaves, added from left to right.
    fn dot(&mut self, a: Leaves, b: Leaves, tail: Tail) -> Operand {
        let mut sum = None;
        for i in 0..a.len {
            let product = self.binary_instr(Scalar::Mul, self.leaf(a, i), self.leaf(b, i), tail);
            sum = Some(match sum {
                None => product,
                Some(sum) => self.binary_instr(Scalar::Add, sum, product, tail),
            });
        }
        sum.unwrap_or_else(|| self.constant_operand(0.0))
    }

    fn scale(&mut self, factor: Operand, vector: Leaves, tail: Tail) -> Leaves {
        let products: Vec<Operand> = (0..vector.len)
            .map(|i| self.binary_instr(Scalar::Mul, factor, self.leaf(vector, i), tail))
            .collect();
        self.list(&products)
    }

    fn branch(&mut self, pred: Pred, yes: TermId, no: TermId, tail: Tail) {
        let condition = self.pop();
        let (x, y) = (self.leaf(condition, 0), self.leaf(condition, 1));
        let join = (tail != Tail::Function).then(|| {
            let len = self.n_leaves(self.terms.ty(yes));
            Join { dst: self.reserve(len), len }
        });
        let branch = self.pc();
        self.emit(Instr::Branch(pred, x, y, 0), Tail::No);
        let otherwise = Task::Else { branch, top: self.top, no, join, tail };
        self.tasks.extend([otherwise, Task::Eval(yes, tail)]);
    }

    fn otherwise(&mut self, branch: Pc, top: Slot, no: TermId, join: Option<Join>, tail: Tail) {
        if let Some(join) = join {
            let value = self.pop();
            self.store(value, join);
            let jump = self.pc();
            self.emit(Instr::Jump(0), Tail::No);
            self.tasks.push(Task::EndIf { jump, join });
        }
        self.patch(branch);
        self.top = top;
        self.tasks.push(Task::Eval(no, tail));
    }

    /// Puts the value of a branch where the conditional leaves it.
    fn store(&mut self, value: Leaves, join: Join) {
        for i in 0..value.len {
            let operand = self.leaf(value, i);
            self.emit(Instr::Copy(join.dst + i, operand), Tail::No);
        }
    }

    fn n_hidden(&self, function: FnId) -> u32 {
        u32::try_from(self.hidden.of(function).count()).expect("fewer functions than bytes")
    }

    /// Checks the limit of the callee, and passes it and the others that it needs in the slots from `mark` on.
    fn pass_limits(&mut self, function: FnId, number: u32, mark: Slot) {
        let hidden: Vec<FnId> = self.hidden.of(function).collect();
        if self.terms.function(function).limit.is_some() && !hidden.contains(&function) {
            // The body does not call the function again, so nobody asks for what is left.
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

    /// The argument is computed; `mark` is where its limits start.
    fn call(&mut self, function: FnId, mark: Slot, tail: Tail) {
        let argument = self.pop();
        let n_hidden = self.n_hidden(function);
        let window = match (n_hidden, tail) {
            (0, Tail::Function) => self.anywhere(argument),
            (0, _) => self.gather(argument, mark),
            _ => {
                self.gather_at(argument, mark + n_hidden);
                mark
            }
        };
        let number = u32::try_from(function.index() + 1).expect("fewer functions than bytes");
        self.pass_limits(function, number, mark);
        if tail == Tail::Function {
            self.emit(Instr::TailCall { function: number, window }, Tail::No);
            return;
        }
        self.emit(Instr::Call { function: number, window, lenient: tail == Tail::Derivative }, Tail::No);
        let n_results = self.n_leaves(self.terms.function(function).result);
        self.top = window + n_results;
        self.max_top = self.max_top.max(self.top);
        self.push_slots(window, n_results);
    }

    /// The first of the consecutive slots in which a value stands, if it does.
    fn consecutive(&self, leaves: Leaves) -> Option<Slot> {
        let slots = || (0..leaves.len).map(|i| self.leaf(leaves, i).as_slot());
        let first = slots().next().unwrap_or(Some(self.top))?;
        slots().zip(first..).all(|(slot, expected)| slot == Some(expected)).then_some(first)
    }

    /// Makes a value stand in consecutive slots, wherever that is.
    fn anywhere(&mut self, leaves: Leaves) -> Slot {
        self.consecutive(leaves).unwrap_or_else(|| self.at_top(leaves))
    }

    /// Makes a value stand in consecutive slots at the end of the frame. Slots from `mark` on hold nothing else that is
    /// needed, so a value that ends the frame there stays where it is.
    fn gather(&mut self, leaves: Leaves, mark: Slot) -> Slot {
        match self.consecutive(leaves) {
            Some(first) if first >= mark && first + leaves.len == self.top => first,
            _ => self.at_top(leaves),
        }
    }

    fn at_top(&mut self, leaves: Leaves) -> Slot {
        let first = self.top;
        self.gather_at(leaves, first);
        first
    }

    /// Puts the reals of a value into consecutive slots from `first` on, by way of free slots where they would
    /// overwrite each other.
    fn gather_at(&mut self, leaves: Leaves, first: Slot) {
        let in_place = (0..leaves.len).all(|i| self.leaf(leaves, i) == Operand::slot(first + i));
        if in_place {
            self.top = self.top.max(first + leaves.len);
            self.max_top = self.max_top.max(self.top);
            return;
        }
        let free = self.top.max(first + leaves.len);
        self.top = free;
        let overlaps = (0..leaves.len).any(|i| {
            self.leaf(leaves, i).as_slot().is_some_and(|slot| (first..first + leaves.len).contains(&slot))
        });
        let target = if overlaps { self.reserve(leaves.len) } else { first };
        for i in 0..leaves.len {
            let operand = self.leaf(leaves, i);
            self.emit(Instr::Copy(target + i, operand), Tail::No);
        }
        if overlaps {
            for i in 0..leaves.len {
                self.emit(Instr::Copy(first + i, Operand::slot(target + i)), Tail::No);
            }
        }
        self.max_top = self.max_top.max(self.top);
    }

    /// The point and the cotangent are computed: the body comes next.
    fn open(&mut self, var: VarId, body: TermId, tail: Tail) {
        let cotangents = self.pop();
        let point = self.pop();
        let (dst, len) = (self.reserve(point.len), point.len);
        self.push_slots(dst, len);
        self.vars[var.index()] = self.pop();
        let is_main = self.main == Some(var);
        let point = self.code_list(point);
        self.emit(Instr::Open { point, dst, main: is_main }, Tail::No);
        let derivative = Derivative { dst, len, cotangents, body, is_main };
        self.tasks.extend([Task::Close(derivative, tail), Task::Eval(body, Tail::Derivative)]);
    }

    fn close(&mut self, derivative: Derivative, tail: Tail) {
        let Derivative { dst, len, cotangents, body, is_main } = derivative;
        let outputs = self.pop();
        if is_main {
            self.code.main_body_type = self.terms.ty(body);
        }
        let (outputs, cotangents) = (self.code_list(outputs), self.code_list(cotangents));
        self.emit(Instr::Close { outputs, cotangents, dst, n: len, main: is_main }, Tail::No);
        self.top = dst + len;
        self.finish_slots(dst, len, tail);
    }

    fn binary_instr(&mut self, op: Scalar, x: Operand, y: Operand, tail: Tail) -> Operand {
        let dst = self.slot();
        let instr = match op {
            Scalar::Add => Instr::Add(dst, x, y),
            Scalar::Sub => Instr::Sub(dst, x, y),
            Scalar::Mul => Instr::Mul(dst, x, y),
            Scalar::Div => Instr::Div(dst, x, y),
            Scalar::Pow => Instr::Pow(dst, x, y),
            _ => unreachable!("a unary operation has one argument"),
        };
        self.emit(instr, tail);
        Operand::slot(dst)
    }

    fn unary_instr(&mut self, op: Scalar, x: Operand, tail: Tail) -> Operand {
        let dst = self.slot();
        let instr = if op == Scalar::Neg {
            Instr::Neg(dst, x)
        } else {
            let next = u32::try_from(self.code.unary.len()).expect("fewer operations than bytes");
            let number = *self.unary.entry(op).or_insert_with(|| {
                self.code.unary.push(op);
                next
            });
            Instr::Unary(number, dst, x)
        };
        self.emit(instr, tail);
        Operand::slot(dst)
    }

    fn emit(&mut self, instr: Instr, tail: Tail) {
        self.code.instrs.push(instr);
        self.code.tails.push(tail);
    }

    fn pc(&self) -> Pc {
        u32::try_from(self.code.instrs.len()).expect("fewer instructions than 2^32")
    }

    /// Makes a jump go to the next instruction.
    fn patch(&mut self, at: Pc) {
        let here = self.pc();
        match &mut self.code.instrs[at as usize] {
            Instr::Branch(_, _, _, to) | Instr::Jump(to) => *to = here,
            _ => unreachable!("only jumps are patched"),
        }
    }

    fn n_leaves(&self, ty: Type) -> u32 {
        u32::try_from(self.terms.types.leaves(ty)).expect("the checker bounds the size of types")
    }

    fn slot(&mut self) -> Slot {
        self.reserve(1)
    }

    fn reserve(&mut self, n: u32) -> Slot {
        let first = self.top;
        self.top += n;
        self.max_top = self.max_top.max(self.top);
        first
    }

    fn slots(&mut self, n: u32) -> Leaves {
        let first = self.reserve(n);
        self.push_slots(first, n);
        self.pop()
    }

    fn push_slots(&mut self, first: Slot, n: u32) {
        let start = self.pool_end();
        self.pool.extend((first..first + n).map(Operand::slot));
        self.done.push(Leaves { start, len: n });
    }

    fn pool_end(&self) -> u32 {
        u32::try_from(self.pool.len()).expect("fewer operands than 2^32")
    }

    fn list(&mut self, operands: &[Operand]) -> Leaves {
        let start = self.pool_end();
        self.pool.extend_from_slice(operands);
        Leaves { start, len: u32::try_from(operands.len()).expect("few operands") }
    }

    fn leaf(&self, leaves: Leaves, i: u32) -> Operand {
        self.pool[(leaves.start + i) as usize]
    }

    fn pop(&mut self) -> Leaves {
        self.done.pop().expect("the operand is compiled")
    }

    fn halves(&self, leaves: Leaves) -> (Leaves, Leaves) {
        let n = leaves.len / 2;
        (Leaves { start: leaves.start, len: n }, Leaves { start: leaves.start + n, len: n })
    }

    /// Two values side by side.
    fn concat(&mut self, left: Leaves, right: Leaves) -> Leaves {
        if right.len == 0 {
            return left;
        }
        if left.len == 0 {
            return right;
        }
        let len = left.len + right.len;
        if left.start + left.len == right.start {
            return Leaves { start: left.start, len };
        }
        let start = self.pool_end();
        for leaves in [left, right] {
            self.pool.extend_from_within(leaves.start as usize..(leaves.start + leaves.len) as usize);
        }
        Leaves { start, len }
    }

    fn code_list(&mut self, leaves: Leaves) -> List {
        let start = u32::try_from(self.code.lists.len()).expect("fewer operands than 2^32");
        let range = leaves.start as usize..(leaves.start + leaves.len) as usize;
        self.code.lists.extend_from_slice(&self.pool[range]);
        List { start, len: leaves.len }
    }

    fn constant_operand(&mut self, value: f64) -> Operand {
        let next = self.code.constants.len();
        *self.constants.entry(value.to_bits()).or_insert_with(|| {
            self.code.constants.push(value);
            Operand::constant(next)
        })
    }
}

/// Templates written as instructions.
impl Algebra for Compiler<'_> {
    type Number = Operand;
    type Error = std::convert::Infallible;

    fn constant(&mut self, value: f64) -> Operand {
        self.constant_operand(value)
    }

    fn unary(&mut self, op: Scalar, x: Operand) -> Result<Operand, Self::Error> {
        Ok(self.unary_instr(op, x, Tail::No))
    }

    fn binary(&mut self, op: Scalar, x: Operand, y: Operand) -> Result<Operand, Self::Error> {
        Ok(self.binary_instr(op, x, y, Tail::No))
    }
}
