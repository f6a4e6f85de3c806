//! What an expression stands for while its function is lowered: names of the body, with kinds and sizes.

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
    /// A form for each axis; `None` where the size is not known.
    pub sizes: Vec<Option<Form>>,
    /// What a single int is, as a form.
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
    /// The result of a recursive call whose type is not known yet.
    Unknown,
}

/// A function as a value: what it does, and the values that it uses from around.
#[derive(Clone, Debug)]
pub struct FnValue {
    pub code: Code,
    pub captured: Vec<(Name, Val)>,
}

/// What a function value does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// A function of the program, or a derivative of it, the first one first: `tan_adj_f` is `[Adj, Tan]`.
    Declared(FunctionId, Vec<Mode>),
    /// A function of the operation table.
    Builtin(&'static str),
    /// A lambda or a local function: the form in the tree of a file.
    Local { module: usize, expr: ExprId },
    /// An expression that stands outside of functions.
    Item { module: usize, expr: ExprId },
    /// `\z. grad(f, z)` for the function that it has captured; `hessian` is its Jacobian.
    Gradient,
    /// A call from outside of the program; there is one in a lowering.
    Outside,
}

impl Val {
    pub fn unit() -> Val {
        Val::Tuple(Vec::new())
    }

    /// A value of this structure, whose tensors `leaf` makes in order. Structures are nested only so deep.
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

    /// What a stream of this value is; `None` for a tuple. Values are nested only so deep.
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

    /// The tensors in it, in order.
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

    /// The same structure with other tensors.
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

    /// Whether a part of it is not known yet.
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
