//! The values of expressions while a function is lowered: names of the body, with kinds and sizes.

use eddy_body::ir::{Mode, Var};

use super::key::{FnKey, KeyKind, Ty};
use super::kinds::{KindId, Kinds};
use super::sizes::Form;
use crate::names::Name;
use crate::program::{FunctionId, Structure, TypeDefId};
use crate::tree::ExprId;

/// A tensor.
#[derive(Clone, Debug)]
pub struct Leaf {
    pub var: Var,
    pub kind: KindId,
    /// A form for each axis; `None` if the size is unknown.
    pub sizes: Vec<Option<Form>>,
    /// The value of a single int, as a form.
    pub form: Option<Form>,
}

impl Leaf {
    pub fn rank(&self) -> usize {
        self.sizes.len()
    }
}

#[derive(Clone, Debug)]
pub enum Val {
    Leaf(Leaf),
    /// `()` has no parts.
    Tuple(Vec<Val>),
    Record(Vec<(String, Val)>),
    Function(FnValue),
    /// The result of a recursive call whose type is unknown so far.
    Unknown,
}

/// A function value: its code, and the values that it captures.
#[derive(Clone, Debug)]
pub struct FnValue {
    pub code: Code,
    pub captured: Vec<(Name, Val)>,
}

/// The code of a function value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// A function of the program, or a derivative of it, innermost first: `tan_adj_f` is `[Adj, Tan]`.
    Declared(FunctionId, Vec<Mode>),
    /// A function of the operation table.
    Builtin(&'static str),
    /// A lambda or a local function: the form in the tree of a file.
    Local { module: usize, expr: ExprId },
    /// An expression outside of functions.
    Item { module: usize, expr: ExprId },
    /// `\z. grad(f, z)` for the captured function `f`; `hessian` is its Jacobian.
    Gradient,
    /// A call from outside of the program; a lowering has at most one.
    Outside,
}

impl Val {
    pub fn unit() -> Val {
        Val::Tuple(Vec::new())
    }

    /// A value of this structure; `leaf` creates its tensors in order. The depth of structures is limited.
    pub fn of_structure(structure: &Structure, leaf: &mut dyn FnMut(Option<TypeDefId>) -> Leaf) -> Val {
        match structure {
            Structure::Tensor => Val::Leaf(leaf(None)),
            Structure::Enumeration(definition) => Val::Leaf(leaf(Some(*definition))),
            Structure::Record(fields) => {
                let field =
                    |(label, field): &(String, Structure)| (label.clone(), Val::of_structure(field, leaf));
                Val::Record(fields.iter().map(field).collect())
            }
        }
    }

    /// The structure of a stream of this value; `None` for a tuple. The depth of values is limited.
    pub fn structure(&self, of_leaf: &dyn Fn(&Leaf) -> Structure) -> Option<Structure> {
        match self {
            Val::Leaf(leaf) => Some(of_leaf(leaf)),
            Val::Record(fields) => {
                let field = |(label, val): &(String, Val)| Some((label.clone(), val.structure(of_leaf)?));
                fields.iter().map(field).collect::<Option<_>>().map(Structure::Record)
            }
            Val::Tuple(_) | Val::Function(_) | Val::Unknown => None,
        }
    }

    /// The tensors of the value, in order.
    pub fn leaves(&self) -> Vec<&Leaf> {
        let (mut leaves, mut work) = (Vec::new(), vec![self]);
        while let Some(val) = work.pop() {
            match val {
                Val::Leaf(leaf) => leaves.push(leaf),
                Val::Tuple(parts) => work.extend(parts.iter().rev()),
                Val::Record(fields) => work.extend(fields.iter().rev().map(|(_, val)| val)),
                Val::Function(function) => work.extend(function.captured.iter().rev().map(|(_, val)| val)),
                Val::Unknown => {}
            }
        }
        leaves
    }

    pub fn vars(&self) -> Vec<Var> {
        self.leaves().into_iter().map(|leaf| leaf.var).collect()
    }

    /// The same structure, with each tensor replaced.
    pub fn map(&self, change: &mut dyn FnMut(&Leaf) -> Leaf) -> Val {
        match self {
            Val::Leaf(leaf) => Val::Leaf(change(leaf)),
            Val::Tuple(parts) => Val::Tuple(parts.iter().map(|part| part.map(change)).collect()),
            Val::Record(fields) => {
                Val::Record(fields.iter().map(|(label, val)| (label.clone(), val.map(change))).collect())
            }
            Val::Function(function) => Val::Function(FnValue {
                code: function.code.clone(),
                captured: function.captured.iter().map(|(name, val)| (*name, val.map(change))).collect(),
            }),
            Val::Unknown => Val::Unknown,
        }
    }

    /// Whether a part of the value is unknown so far.
    pub fn is_unknown(&self) -> bool {
        match self {
            Val::Unknown => true,
            Val::Leaf(_) => false,
            Val::Tuple(parts) => parts.iter().any(Val::is_unknown),
            Val::Record(fields) => fields.iter().any(|(_, val)| val.is_unknown()),
            Val::Function(function) => function.captured.iter().any(|(_, val)| val.is_unknown()),
        }
    }

    /// Its type. `open` collects the classes of open kinds, which are numbered in order.
    pub fn ty(&self, kinds: &Kinds, open: &mut Vec<KindId>) -> Ty {
        match self {
            Val::Leaf(leaf) => {
                let kind = match kinds.get(leaf.kind) {
                    Some(elem) => KeyKind::Is(elem),
                    None => {
                        let class = kinds.class(leaf.kind);
                        let at = open.iter().position(|other| *other == class).unwrap_or_else(|| {
                            open.push(class);
                            open.len() - 1
                        });
                        KeyKind::Open(at)
                    }
                };
                Ty::Tensor(kind, leaf.rank())
            }
            Val::Tuple(parts) => Ty::Tuple(parts.iter().map(|part| part.ty(kinds, open)).collect()),
            Val::Record(fields) => {
                Ty::Record(fields.iter().map(|(label, val)| (label.clone(), val.ty(kinds, open))).collect())
            }
            Val::Function(function) => Ty::Function(function.key(kinds, open)),
            Val::Unknown => Ty::Unknown,
        }
    }
}

impl FnValue {
    pub fn key(&self, kinds: &Kinds, open: &mut Vec<KindId>) -> FnKey {
        let captured = self.captured.iter().map(|(name, val)| (*name, val.ty(kinds, open))).collect();
        FnKey { code: self.code.clone(), captured }
    }
}
