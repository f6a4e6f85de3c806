//! The state of one function while it is lowered: the body so far, the names in scope, the kinds of values
//! and the integers that sizes depend on.

use eddy_body::ir::{At, Binding, BodyId, Control, Elem, Kind, Literal, Loop, Region, Stmt, Type, Var};
use eddy_body::operation::Operation;
use eddy_syntax::Span;
use eddy_tensor::Op;
use rustc_hash::FxHashMap;

use super::key::Key;
use super::kinds::{KindId, Kinds};
use super::sizes::{Atom, Form};
use super::value::{Leaf, Val};
use crate::names::Name;

/// A literal whose kind is determined when the function is complete.
#[derive(Clone, Copy, Debug)]
pub enum Undecided {
    Number(i64),
    /// The initial value of a sum: `-0.0`, which leaves every term unchanged, or `0`.
    EmptySum,
}

/// A call whose instance is determined at the end, when all kinds are known.
pub struct DeferredCall {
    pub placeholder: BodyId,
    pub function: Val,
    pub args: Vec<Val>,
}

/// Where an instance finds the value of an integer.
#[derive(Clone, Copy, Debug)]
pub enum AtomSource {
    Int(Var),
    /// The size of a tensor along an axis.
    Axis(Var, usize),
}

pub struct Activation {
    pub key: Key,
    /// The file that contains the function.
    pub module: usize,
    pub id: BodyId,
    pub kinds: Kinds,
    pub env: Vec<(Name, Val)>,
    pub params: Vec<Val>,
    pub captured: Vec<(Name, Val)>,
    /// The open regions, the innermost last.
    pub open: Vec<Region>,
    /// Closed branches of an `if` that is not emitted yet.
    pub done: Vec<Region>,
    pub names: Vec<String>,
    pub undecided: FxHashMap<Var, (KindId, Undecided)>,
    pub deferred: Vec<DeferredCall>,
    atoms: Vec<AtomSource>,
    /// The number of atoms of parameters; a caller knows only these.
    pub n_param_atoms: usize,
    /// The index of its first operand; operands below it belong to callers.
    pub first_operand: usize,
    /// Whether the result of a recursive call was unknown; then the code is discarded.
    pub is_provisional: bool,
    /// The call that requested the instance.
    pub span: Span,
    /// The open kinds of its key.
    pub classes: Vec<KindId>,
}

impl Activation {
    pub fn new(key: Key, module: usize, id: BodyId, span: Span) -> Activation {
        Activation {
            key,
            module,
            id,
            kinds: Kinds::default(),
            env: Vec::new(),
            params: Vec::new(),
            captured: Vec::new(),
            open: vec![Region::default()],
            done: Vec::new(),
            names: Vec::new(),
            undecided: FxHashMap::default(),
            deferred: Vec::new(),
            atoms: Vec::new(),
            n_param_atoms: 0,
            first_operand: 0,
            is_provisional: false,
            span,
            classes: Vec::new(),
        }
    }

    pub fn var(&mut self, name: &str) -> Var {
        let at = self.names.len();
        let unique = if name.is_empty() { format!("v{at}") } else { format!("{name}_{at}") };
        self.names.push(unique);
        Var::new(at)
    }

    /// A new integer whose value is at `source`.
    pub fn atom(&mut self, source: AtomSource) -> Form {
        self.atoms.push(source);
        Form::atom(Atom::new(self.atoms.len() - 1))
    }

    pub fn n_atoms(&self) -> usize {
        self.atoms.len()
    }

    /// A variable with the value of a form, or 0 if the form is negative: a count may be negative, a size may
    /// not.
    pub fn size_of_form(&mut self, form: &Form, span: Span) -> Option<Var> {
        let (constant, terms) = form.parts()?;
        if terms.is_empty() {
            return Some(self.int(constant.max(0), span).var);
        }
        let mut sum: Option<Var> = (constant != 0).then(|| self.int(constant, span).var);
        for (atom, coefficient) in terms {
            let mut term = match self.atoms[atom.index()] {
                AtomSource::Int(var) => var,
                AtomSource::Axis(var, axis) => self.op(Operation::Size(axis), vec![var], span),
            };
            if coefficient != 1 {
                let factor = self.int(coefficient, span).var;
                term = self.table(Op::Mul, vec![factor, term], span);
            }
            sum = Some(sum.map_or(term, |sum| self.table(Op::Add, vec![sum, term], span)));
        }
        let zero = self.int(0, span).var;
        Some(self.table(Op::Maximum, vec![sum.unwrap_or(zero), zero], span))
    }

    pub fn emit(&mut self, results: Vec<Var>, kind: Kind, span: Span) {
        let region = self.open.last_mut().expect("a region is open");
        region.stmts.push(Stmt { results, kind, span });
    }

    /// An operation with one result.
    pub fn op(&mut self, operation: Operation, operands: Vec<Var>, span: Span) -> Var {
        let result = self.var("");
        self.emit(vec![result], Kind::Op(operation, operands), span);
        result
    }

    pub fn table(&mut self, op: Op, operands: Vec<Var>, span: Span) -> Var {
        self.op(Operation::Table(op), operands, span)
    }

    pub fn literal(&mut self, literal: Literal, span: Span) -> Var {
        let result = self.var("");
        self.emit(vec![result], Kind::Const(literal), span);
        result
    }

    /// A literal of a kind that is determined at the end.
    pub fn undecided(&mut self, kind: KindId, number: Undecided, span: Span) -> Var {
        let value = match number {
            Undecided::Number(value) => value,
            Undecided::EmptySum => 0,
        };
        let var = self.literal(Literal::int(value), span);
        self.undecided.insert(var, (kind, number));
        var
    }

    pub fn int(&mut self, value: i64, span: Span) -> Leaf {
        let var = self.literal(Literal::int(value), span);
        self.int_leaf(var, Some(Form::constant(value)))
    }

    pub fn int_leaf(&mut self, var: Var, form: Option<Form>) -> Leaf {
        Leaf { var, kind: self.kinds.known(Elem::Int), sizes: Vec::new(), form }
    }

    pub fn leaf(&mut self, var: Var, elem: Elem, sizes: Vec<Option<Form>>) -> Leaf {
        Leaf { var, kind: self.kinds.known(elem), sizes, form: None }
    }

    /// The size of an axis, as an int.
    pub fn size(&mut self, leaf: &Leaf, axis: usize, span: Span) -> Leaf {
        if let Some(constant) = leaf.sizes[axis].as_ref().and_then(Form::as_constant) {
            return self.int(constant, span);
        }
        let var = self.op(Operation::Size(axis), vec![leaf.var], span);
        self.int_leaf(var, leaf.sizes[axis].clone())
    }

    /// `a[i]` along the first axis.
    pub fn row(&mut self, array: Var, index: Var, span: Span) -> Var {
        let result = self.var("");
        self.emit(vec![result], Kind::Index(array, vec![At::Int(index)]), span);
        result
    }

    /// A copy of a leaf with a new name.
    pub fn renamed(&mut self, leaf: &Leaf) -> Leaf {
        Leaf { var: self.var(""), ..leaf.clone() }
    }

    pub fn open_region(&mut self) {
        self.open.push(Region::default());
    }

    /// Ends the innermost region, which yields these variables.
    pub fn close_region(&mut self, yields: Vec<Var>) -> Region {
        let mut region = self.open.pop().expect("a region was opened");
        region.yields = yields;
        region
    }

    /// Emits a loop whose body is the innermost region. Returns the variables of its results.
    pub fn close_loop(
        &mut self,
        header: Header,
        yields: Vec<Var>,
        collect: Vec<Var>,
        span: Span,
    ) -> Vec<Var> {
        let body = self.close_region(yields);
        let repeat =
            Loop { control: header.control, states: header.states, accs: header.accs, collect, body };
        let results: Vec<Var> = (0..repeat.n_results()).map(|_| self.var("")).collect();
        self.emit(results.clone(), Kind::Loop(Box::new(repeat)), span);
        results
    }

    /// The type of a leaf whose kind is known.
    pub fn type_of(&self, leaf: &Leaf) -> Type {
        let elem = self.kinds.get(leaf.kind).unwrap_or(Elem::Int);
        Type { elem, rank: leaf.rank() }
    }

    pub fn lookup(&self, name: Name) -> Option<&Val> {
        self.env.iter().rev().find(|(other, _)| *other == name).map(|(_, val)| val)
    }
}

/// The parts of a loop except its body.
#[derive(Clone)]
pub struct Header {
    pub control: Control,
    pub states: Vec<Binding>,
    pub accs: Vec<Binding>,
}
