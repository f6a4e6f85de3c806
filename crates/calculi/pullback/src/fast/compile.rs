//! From kernel terms to code, in one walk with a list of tasks.
//!
//! Blocks nest, so the unfinished blocks are a stack. Each block between a variable and its use captures the
//! variable once.

use rustc_hash::FxHashMap;

use super::code::{Abstraction, Action, Block, BlockId, Code, Instruction, Operand, Signature};
use crate::eval::divide::ends_in_constant;
use crate::primitive::Node;
use crate::primitive::calculus::Binary;
use crate::syntax::{Term, TermId, Terms};
use crate::types::Type;

enum Task {
    Visit(TermId),
    Emit(TermId),
    /// The value of a `let` is known.
    EnterLet(TermId),
    LeaveLet,
    /// The body of this abstraction is compiled.
    EndBlock,
}

/// A block under construction.
#[derive(Default)]
struct Draft {
    instructions: Vec<Instruction>,
    n_slots: u32,
    /// The slots of captured variables, by their levels.
    captured: FxHashMap<usize, u32>,
    captured_slots: Vec<u32>,
    /// The captured values, in the enclosing block.
    captures: Vec<Operand>,
}

/// A variable in scope: its block, and its place there.
struct Variable {
    block: usize,
    operand: Operand,
}

struct Compiler<'a> {
    terms: &'a Terms,
    blocks: Vec<Block>,
    drafts: Vec<Draft>,
    scope: Vec<Variable>,
    done: Vec<Operand>,
    abstractions: Vec<Abstraction>,
}

/// The code of a closed term.
pub fn compile(terms: &Terms, main: TermId) -> Code {
    let mut compiler = Compiler {
        terms,
        blocks: Vec::new(),
        drafts: vec![Draft { n_slots: 1, ..Draft::default() }],
        scope: Vec::new(),
        done: Vec::new(),
        abstractions: Vec::new(),
    };
    compiler.walk(main);
    let main = compiler.finish_block().block;
    Code { blocks: compiler.blocks, main }
}

impl Compiler<'_> {
    fn walk(&mut self, main: TermId) {
        let mut tasks = vec![Task::Visit(main)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Visit(id) => self.visit(id, &mut tasks),
                Task::Emit(id) => {
                    let operand = self.emit(id);
                    self.done.push(operand);
                }
                Task::EnterLet(body) => {
                    let operand = self.pop();
                    self.scope.push(Variable { block: self.drafts.len() - 1, operand });
                    tasks.extend([Task::LeaveLet, Task::Visit(body)]);
                }
                Task::LeaveLet => {
                    self.scope.pop();
                }
                Task::EndBlock => {
                    self.scope.pop();
                    let abstraction = self.finish_block();
                    self.abstractions.push(abstraction);
                }
            }
        }
    }

    fn pop(&mut self) -> Operand {
        self.done.pop().expect("parts are compiled first")
    }

    fn visit(&mut self, id: TermId, tasks: &mut Vec<Task>) {
        let terms = self.terms;
        match terms.term(id) {
            Term::Apply(function, bound) if matches!(terms.term(function), Term::Lambda(..)) => {
                let Term::Lambda(_, body) = terms.term(function) else { return };
                tasks.extend([Task::EnterLet(body), Task::Visit(bound)]);
            }
            Term::Lambda(_, body) => {
                tasks.push(Task::Emit(id));
                self.begin_block(body, tasks);
            }
            Term::Dual(_, body, operand) | Term::Pullback(_, body, operand) => {
                tasks.extend([Task::Emit(id), Task::Visit(operand)]);
                self.begin_block(body, tasks);
            }
            // The operands of an operation need no tuple.
            Term::Prim(f, argument) => {
                tasks.push(Task::Emit(id));
                match (self.single(f), terms.term(argument)) {
                    (Some(Node::Binary(..)), Term::Pair(a, b)) => {
                        tasks.extend([Task::Visit(b), Task::Visit(a)]);
                    }
                    _ => tasks.push(Task::Visit(argument)),
                }
            }
            Term::Pair(..) => {
                tasks.push(Task::Emit(id));
                tasks.extend(self.items(id).into_iter().rev().map(Task::Visit));
            }
            term => {
                tasks.push(Task::Emit(id));
                tasks.extend(term.children().rev().map(|(child, _)| Task::Visit(child)));
            }
        }
    }

    /// The items along the left spine of a literal tuple.
    fn items(&self, id: TermId) -> Vec<TermId> {
        let (mut items, mut at) = (Vec::new(), id);
        while let Term::Pair(left, right) = self.terms.term(at) {
            items.push(right);
            at = left;
        }
        items.push(at);
        items.reverse();
        items
    }

    /// The operation of a primitive that consists of one operation on its parameters in order.
    fn single(&self, f: crate::primitive::PrimId) -> Option<Node> {
        let primitive = self.terms.primitives.get(f);
        match primitive.nodes[..] {
            [Node::Param(0), op @ Node::Unary(_, 0)] if primitive.outputs == [1] => Some(op),
            [Node::Param(0), Node::Param(1), op @ Node::Binary(_, 0, 1)] if primitive.outputs == [2] => {
                Some(op)
            }
            _ => None,
        }
    }

    fn begin_block(&mut self, body: TermId, tasks: &mut Vec<Task>) {
        self.drafts.push(Draft { n_slots: 1, ..Draft::default() });
        self.scope.push(Variable { block: self.drafts.len() - 1, operand: Operand::Slot(0) });
        tasks.extend([Task::EndBlock, Task::Visit(body)]);
    }

    fn finish_block(&mut self) -> Abstraction {
        let result = self.pop();
        let Draft { instructions, n_slots, captured_slots, captures, .. } =
            self.drafts.pop().expect("it was begun");
        self.blocks.push(Block { instructions, result, n_slots, captured: captured_slots });
        let block = BlockId::new(self.blocks.len() - 1);
        Abstraction { block, captures: captures.into() }
    }

    /// The place of a variable in the current block.
    fn variable(&mut self, index: u32) -> Operand {
        let level = self.scope.len() - 1 - index as usize;
        let Variable { block, operand } = self.scope[level];
        let mut operand = operand;
        if let Operand::Real(_) = operand {
            return operand;
        }
        for draft in &mut self.drafts[block + 1..] {
            let slot = match draft.captured.get(&level) {
                Some(slot) => *slot,
                None => {
                    let slot = draft.n_slots;
                    draft.n_slots += 1;
                    draft.captured.insert(level, slot);
                    draft.captured_slots.push(slot);
                    draft.captures.push(operand);
                    slot
                }
            };
            operand = Operand::Slot(slot);
        }
        operand
    }

    fn push(&mut self, origin: TermId, action: Action) -> Operand {
        let draft = self.drafts.last_mut().expect("there is always a block");
        let to = draft.n_slots;
        draft.n_slots += 1;
        draft.instructions.push(Instruction { to, origin, action });
        Operand::Slot(to)
    }

    fn signature(&self, id: TermId, body: TermId) -> Signature {
        let is_constant = ends_in_constant(self.terms, body);
        Signature { from: self.terms.param(id), to: self.terms.ty(body), is_constant }
    }

    fn emit(&mut self, id: TermId) -> Operand {
        let terms = self.terms;
        let action = match terms.term(id) {
            Term::Bound(index) => return self.variable(index),
            Term::Free(_) => unreachable!("open programs are run by the reference engine"),
            Term::Real(value) => return Operand::Real(value),
            Term::Zero if terms.ty(id) == Type::REAL => return Operand::Real(0.0),
            Term::Zero => Action::Zero(terms.ty(id)),
            // Vectors and covectors have the same representation.
            Term::Flat(_) | Term::Sharp(_) => return self.pop(),
            Term::Pair(..) => self.tuple(id),
            Term::Project(path, _) => Action::Project(path, self.pop()),
            Term::Prim(f, argument) => match (self.single(f), terms.term(argument)) {
                (Some(Node::Unary(op, _)), _) => Action::Unary(op, self.pop()),
                (Some(Node::Binary(op, ..)), Term::Pair(..)) => {
                    let (b, a) = (self.pop(), self.pop());
                    Action::Binary(op, a, b)
                }
                _ => Action::Prim(f, self.pop()),
            },
            Term::PrimJacobian(f, _) => Action::PrimJacobian(f, self.pop()),
            Term::Add(..) => {
                let (b, a) = (self.pop(), self.pop());
                match terms.ty(id) {
                    Type::REAL => Action::Binary(Binary::Add, a, b),
                    ty => Action::Add(ty, a, b),
                }
            }
            Term::Apply(function, _) => {
                let (b, a) = (self.pop(), self.pop());
                Action::Apply(terms.ty(function), a, b)
            }
            Term::Jacobian(function, _) => {
                let (b, a) = (self.pop(), self.pop());
                Action::Jacobian(terms.ty(function), a, b)
            }
            Term::Contract(_, vector) => {
                let (b, a) = (self.pop(), self.pop());
                Action::Contract(terms.ty(vector), a, b)
            }
            Term::Lambda(..) => Action::Closure(self.abstraction()),
            Term::Dual(_, body, _) => {
                let operand = self.pop();
                Action::Dual(self.abstraction(), operand, self.signature(id, body))
            }
            Term::Pullback(_, body, _) => {
                let operand = self.pop();
                Action::Pullback(self.abstraction(), operand, self.signature(id, body))
            }
        };
        self.push(id, action)
    }

    fn abstraction(&mut self) -> Abstraction {
        self.abstractions.pop().expect("its body is compiled")
    }

    fn tuple(&mut self, id: TermId) -> Action {
        let items = self.items(id);
        let extends = self.terms.types.factors(self.terms.ty(items[0])).is_some();
        let items = self.done.split_off(self.done.len() - items.len()).into_boxed_slice();
        Action::Tuple { extends, items }
    }
}
