//! Bodies as flat code over slots.
//!
//! Regions become jumps. Regions that follow each other reuse the same slots, so the size of a frame is that
//! of the deepest nest of regions.

use eddy_syntax::Span;
use eddy_tensor::Value;

use crate::ir::{At, Binding, BodyId, Control, Elem, Kind, Loop, Module, Param, Region, Stmt, Type, Var};
use crate::operation::Operation;

/// A slot of a frame.
pub(super) type Slot = u32;

#[derive(Debug)]
pub(super) struct Code {
    pub instructions: Vec<Instruction>,
    pub spans: Vec<Span>,
    pub n_slots: usize,
    pub params: Vec<Slot>,
    /// Whether tapes can reach the caller; if not, the tapes of a call are freed at its end.
    pub has_tapes: bool,
}

#[derive(Debug)]
pub(super) enum Instruction {
    Const(Value, Slot),
    Apply {
        operation: Operation,
        operands: Box<[Slot]>,
        result: Option<Slot>,
    },
    Index {
        array: Slot,
        at: Box<[SlotAt]>,
        result: Slot,
    },
    /// Replaces or increases elements of a tensor, which is moved out of its slot.
    Update {
        array: Slot,
        at: Box<[SlotAt]>,
        value: Slot,
        is_sum: bool,
        result: Slot,
    },
    Add {
        acc: Acc,
        at: Box<[SlotAt]>,
        value: Slot,
    },
    Unpack {
        tape: Slot,
        results: Box<[Slot]>,
    },
    Call {
        callee: BodyId,
        arguments: Box<[Argument]>,
        results: Box<[Slot]>,
    },
    Return(Box<[Slot]>),
    Jump(usize),
    /// Continues if the slot holds `true`, and jumps otherwise.
    Branch(Slot, usize),
    /// Copies values, all read before the first is written.
    Move(Box<[Copy]>),
    /// Begins a loop.
    Enter {
        count: Option<Slot>,
        rows: Box<[Type]>,
        states: Box<[Slot]>,
    },
    /// Sets the index and continues, or jumps if there is no next iteration.
    Next {
        index: Slot,
        exit: usize,
    },
    /// An iteration of a `while` begins.
    Tick,
    Collect(Box<[Slot]>),
    /// Sets the states, which keep their shapes, and jumps back.
    Again {
        states: Box<[Copy]>,
        target: usize,
        forgets_tapes: bool,
    },
    /// Ends a loop.
    Leave {
        rows: Box<[Slot]>,
        count: Option<Slot>,
    },
}

/// Copies `from` to `to`, or moves it if it is dead afterwards.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copy {
    pub from: Slot,
    pub to: Slot,
    pub is_taken: bool,
}

/// An accumulator: a slot of this frame, or a slot that refers to one of a frame below.
#[derive(Clone, Copy, Debug)]
pub(super) enum Acc {
    Here(Slot),
    Below(Slot),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Argument {
    Value(Slot),
    Acc(Acc),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum SlotAt {
    Int(Slot),
    Range(Slot, Slot),
    All,
}

pub(super) fn compile(module: &Module, id: BodyId, types: &[Type]) -> Code {
    let body = module.body(id);
    let mut compiler = Compiler {
        module,
        types,
        slots: vec![Slot::MAX; body.names.len()],
        acc_params: body.params.iter().filter(|param| param.is_acc).map(|param| param.var).collect(),
        next: 0,
        n_slots: 0,
        instructions: Vec::new(),
        spans: Vec::new(),
        span: Span::default(),
    };
    let params = body.params.iter().map(|param| compiler.define(param.var)).collect();
    compiler.region(&body.region);
    let results = compiler.slots_of(&body.region.yields);
    compiler.emit(Instruction::Return(results));
    let is_tape = |ty: &Type| ty.elem == Elem::Tape;
    Code {
        instructions: compiler.instructions,
        spans: compiler.spans,
        n_slots: compiler.n_slots as usize,
        params,
        has_tapes: body.results.iter().any(is_tape) || body.params.iter().any(|param| is_tape(&param.ty)),
    }
}

struct Compiler<'a> {
    module: &'a Module,
    types: &'a [Type],
    slots: Vec<Slot>,
    acc_params: Vec<Var>,
    next: Slot,
    n_slots: Slot,
    instructions: Vec<Instruction>,
    spans: Vec<Span>,
    span: Span,
}

impl Compiler<'_> {
    fn emit(&mut self, instruction: Instruction) -> usize {
        self.instructions.push(instruction);
        self.spans.push(self.span);
        self.instructions.len() - 1
    }

    fn define(&mut self, var: Var) -> Slot {
        self.slots[var.index()] = self.next;
        self.next += 1;
        self.n_slots = self.n_slots.max(self.next);
        self.next - 1
    }

    fn slot(&self, var: Var) -> Slot {
        self.slots[var.index()]
    }

    fn slots_of(&self, vars: &[Var]) -> Box<[Slot]> {
        vars.iter().map(|var| self.slot(*var)).collect()
    }

    fn places(&self, at: &[At]) -> Box<[SlotAt]> {
        let place = |at: &At| match *at {
            At::Int(index) => SlotAt::Int(self.slot(index)),
            At::Range(lo, hi) => SlotAt::Range(self.slot(lo), self.slot(hi)),
            At::All => SlotAt::All,
        };
        at.iter().map(place).collect()
    }

    fn acc(&self, var: Var) -> Acc {
        let slot = self.slot(var);
        if self.acc_params.contains(&var) { Acc::Below(slot) } else { Acc::Here(slot) }
    }

    /// Compiles the statements of a region; its names stay defined.
    fn region(&mut self, region: &Region) {
        for stmt in &region.stmts {
            self.span = stmt.span;
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            Kind::If(condition, yes, no) => return self.branches(stmt, *condition, [yes, no]),
            Kind::Loop(repeat) => return self.repeat(stmt, repeat),
            _ => {}
        }
        // Operands are found before results are defined; names are unique, so the order does not matter.
        let results: Box<[Slot]> = stmt.results.iter().map(|var| self.define(*var)).collect();
        let instruction = match &stmt.kind {
            Kind::Const(literal) => Instruction::Const((*literal.value).clone(), results[0]),
            Kind::Op(operation, operands) => Instruction::Apply {
                operation: operation.clone(),
                operands: self.slots_of(operands),
                result: results.first().copied(),
            },
            Kind::Index(array, at) => {
                Instruction::Index { array: self.slot(*array), at: self.places(at), result: results[0] }
            }
            Kind::Update(array, at, value) | Kind::Increase(array, at, value) => Instruction::Update {
                array: self.slot(*array),
                at: self.places(at),
                value: self.slot(*value),
                is_sum: matches!(stmt.kind, Kind::Increase(..)),
                result: results[0],
            },
            Kind::Add(acc, at, value) => {
                Instruction::Add { acc: self.acc(*acc), at: self.places(at), value: self.slot(*value) }
            }
            Kind::Call(_, callee, arguments) => {
                let params = &self.module.body(*callee).params;
                let argument = |(param, var): (&Param, &Var)| {
                    if param.is_acc {
                        Argument::Acc(self.acc(*var))
                    } else {
                        Argument::Value(self.slot(*var))
                    }
                };
                let arguments = params.iter().zip(arguments).map(argument).collect();
                Instruction::Call { callee: *callee, arguments, results }
            }
            Kind::Unpack(_, tape) => Instruction::Unpack { tape: self.slot(*tape), results },
            Kind::If(..) | Kind::Loop(_) => unreachable!("statements with regions are compiled above"),
        };
        self.emit(instruction);
    }

    fn branches(&mut self, stmt: &Stmt, condition: Var, [yes, no]: [&Region; 2]) {
        let results: Vec<Slot> = stmt.results.iter().map(|var| self.define(*var)).collect();
        let branch = self.emit(Instruction::Branch(self.slot(condition), 0));
        let end = self.branch(yes, &results);
        let otherwise = self.instructions.len();
        self.instructions[branch] = Instruction::Branch(self.slot(condition), otherwise);
        let last = self.branch(no, &results);
        let here = self.instructions.len();
        self.instructions[end] = Instruction::Jump(here);
        self.instructions[last] = Instruction::Jump(here);
    }

    /// Compiles a branch; returns the place of its final jump, whose target is set later.
    fn branch(&mut self, region: &Region, results: &[Slot]) -> usize {
        let (next, span) = (self.next, self.span);
        self.region(region);
        self.span = span;
        let moves = self.moves(region, &region.yields, results);
        self.emit(Instruction::Move(moves));
        self.next = next;
        self.emit(Instruction::Jump(0))
    }

    /// The copies of the yields of a region to these slots. Names of the region are dead after it.
    fn moves(&self, region: &Region, yields: &[Var], to: &[Slot]) -> Box<[Copy]> {
        let is_local = |var: Var| region.stmts.iter().any(|stmt| stmt.results.contains(&var));
        let is_once = |var: Var| yields.iter().filter(|other| **other == var).count() == 1;
        let moves = yields.iter().zip(to).map(|(var, to)| Copy {
            from: self.slot(*var),
            to: *to,
            is_taken: is_local(*var) && is_once(*var),
        });
        moves.collect()
    }

    fn repeat(&mut self, stmt: &Stmt, repeat: &Loop) {
        let span = stmt.span;
        let results: Vec<Slot> = stmt.results.iter().map(|var| self.define(*var)).collect();
        let count = repeat.counter().map(|(_, count)| self.slot(count));
        let rows = repeat.collect.iter().map(|var| self.types[var.index()]).collect();
        let next = self.next;
        // States and accumulators live in the slots of their results.
        let first_acc = repeat.first_acc();
        let bindings = |compiler: &mut Self, bindings: &[Binding], results: &[Slot], is_taken| {
            let mut copies = Vec::new();
            for (binding, to) in bindings.iter().zip(results) {
                copies.push(Copy { from: compiler.slot(binding.init), to: *to, is_taken });
                compiler.slots[binding.var.index()] = *to;
            }
            copies
        };
        let mut copies = bindings(self, &repeat.states, &results, false);
        copies.extend(bindings(self, &repeat.accs, &results[first_acc..], true));
        self.emit(Instruction::Move(copies.into()));
        let states = results[..repeat.states.len()].into();
        self.emit(Instruction::Enter { count, rows, states });
        let start = self.instructions.len();
        let test = match &repeat.control {
            Control::While(condition) => {
                let inner = self.next;
                self.region(condition);
                self.span = span;
                self.next = inner;
                let test = self.emit(Instruction::Branch(self.slot(condition.yields[0]), 0));
                self.emit(Instruction::Tick);
                test
            }
            Control::For { index, .. } | Control::Each { index, .. } => {
                let index = self.define(*index);
                self.emit(Instruction::Next { index, exit: 0 })
            }
        };
        self.region(&repeat.body);
        self.span = span;
        if !repeat.collect.is_empty() {
            self.emit(Instruction::Collect(self.slots_of(&repeat.collect)));
        }
        let states = self.moves(&repeat.body, &repeat.body.yields, &results);
        let kept = repeat.collect.iter().chain(&repeat.body.yields);
        let forgets_tapes = kept.into_iter().all(|var| self.types[var.index()].elem != Elem::Tape);
        self.emit(Instruction::Again { states, target: start, forgets_tapes });
        let exit = self.instructions.len();
        match &mut self.instructions[test] {
            Instruction::Branch(_, target) => *target = exit,
            Instruction::Next { exit: target, .. } => *target = exit,
            _ => unreachable!("a loop begins with a test"),
        }
        let count = if let Control::While(_) = repeat.control { results.last().copied() } else { None };
        let rows = results[repeat.first_row()..first_acc].into();
        self.emit(Instruction::Leave { rows, count });
        self.next = next;
    }
}
