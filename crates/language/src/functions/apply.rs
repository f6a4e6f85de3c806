//! Functions at the types of streams: how a node applies them (functions.md, section 6).
//!
//! The sizes of streams are known before the run. So each application has a separate body, whose parameters
//! have constant sizes, and the sizes of its results must follow from these.

use std::sync::Arc;

use eddy_body::ir::{BodyId, Elem, Literal, Module};
use eddy_syntax::Span;
use eddy_tensor::{Op, Scalar, Shape, Static, Type, Value};

use super::activation::{Activation, AtomSource, Undecided};
use super::errors::{Refused, shape_error, type_error};
use super::instances::Progress;
use super::key::{FnKey, Key, KeyKind, Ty};
use super::lowering::{Lowering, Task};
use super::sizes::Form;
use super::value::{Code, FnValue, Leaf, Val};
use super::written::{Dim, Written};
use super::{Budget, evaluate_constants, finished};
use crate::program::{FunctionId, Program, Structure, TypeDefId};
use crate::tree::{self, ExprId, ExprKind, NumberValue, TypeId};

/// An argument of a function in a node: its structure and its leaves.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ApplyArgument {
    pub structure: Structure,
    pub leaves: Vec<ApplyLeaf>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ApplyLeaf {
    /// A stream of this type.
    Stream(Type),
    Static(Static),
}

/// An application of a function in a node.
#[derive(Clone, Debug)]
pub struct ApplySite {
    pub(crate) code: Code,
    /// The file of the call; `expr` and `span` are its position there.
    pub(crate) module: usize,
    pub(crate) expr: ExprId,
    pub(crate) span: Span,
}

/// The body of a function for given types of its arguments.
#[derive(Clone, Debug)]
pub(crate) struct AppliedBody {
    /// Its parameters are the streams among the arguments.
    pub body: BodyId,
    pub results: AppliedResult,
}

/// The result of a function: the components of a tuple, or one component.
#[derive(Clone, Debug)]
pub(crate) struct AppliedResult {
    pub is_tuple: bool,
    pub components: Vec<AppliedComponent>,
}

#[derive(Clone, Debug)]
pub(crate) struct AppliedComponent {
    /// `None` for a tuple, because a stream cannot be a tuple.
    pub structure: Option<Structure>,
    pub leaves: Vec<Type>,
}

/// The written type of a tensor in a parameter or result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenTensor {
    pub scalar: Scalar,
    /// The shape, if all sizes are literals.
    pub shape: Option<Shape>,
}

/// The written types of a function's parameters and result.
#[derive(Clone, Debug, Default)]
pub struct WrittenInterface {
    /// The leaves of each parameter; empty for parameters without a type, and for tuples.
    pub params: Vec<Vec<WrittenTensor>>,
    /// The leaves of the result; empty if its type is not written or contains a tuple.
    pub results: Vec<WrittenTensor>,
    /// The structure of the result, or of each component of a tuple; empty if the type is not written.
    pub result_structures: Vec<Option<Structure>>,
}

/// The written types of each function of a program.
pub(crate) fn written_interfaces(program: &Program) -> Vec<WrittenInterface> {
    let lowering = Lowering::new(program);
    let of = |id: FunctionId| {
        let (module, tree) = program.function(id);
        let leaves = |written: &Written| -> Vec<WrittenTensor> {
            let leaves = written_leaves(written).unwrap_or_default();
            leaves.into_iter().map(|(elem, dims)| lowering.written_tensor(elem, dims)).collect()
        };
        let read = |ty: TypeId| lowering.written(module, ty, &[], &mut Vec::new()).ok();
        let params = tree.params.iter().map(|param| match param.annotation.and_then(read) {
            Some(written) => leaves(&written),
            None => Vec::new(),
        });
        let components = match tree.result.and_then(read) {
            None => Vec::new(),
            Some(Written::Tuple(parts)) => parts,
            Some(written) => vec![written],
        };
        let result_structures: Vec<Option<Structure>> = components.iter().map(written_structure).collect();
        let is_known = result_structures.iter().all(Option::is_some);
        let results = if is_known { components.iter().flat_map(leaves).collect() } else { Vec::new() };
        WrittenInterface { params: params.collect(), results, result_structures }
    };
    (0..program.functions.len()).map(FunctionId::new).map(of).collect()
}

/// The structure of a stream with a written type; `None` for tuples and functions. Written types are nested
/// only as deep as the parser allows.
fn written_structure(written: &Written) -> Option<Structure> {
    match written {
        Written::Tensor(Elem::Enum(id), _) => Some(Structure::Enumeration(TypeDefId::new(id.index()))),
        Written::Tensor(..) => Some(Structure::Tensor),
        Written::Record(fields) => {
            let field = |(label, field): &(String, Written)| Some((label.clone(), written_structure(field)?));
            fields.iter().map(field).collect::<Option<_>>().map(Structure::Record)
        }
        Written::Tuple(_) | Written::Function => None,
    }
}

/// The tensors of a written type in order, if it has a structure.
fn written_leaves(written: &Written) -> Option<Vec<(Elem, &[Dim])>> {
    let (mut leaves, mut work) = (Vec::new(), vec![written]);
    while let Some(written) = work.pop() {
        match written {
            Written::Tensor(elem, dims) => leaves.push((*elem, dims.as_slice())),
            Written::Record(fields) => work.extend(fields.iter().rev().map(|(_, field)| field)),
            Written::Tuple(_) | Written::Function => return None,
        }
    }
    Some(leaves)
}

/// A named type in the declaration of a stream: its structure, and the elements and sizes of its leaves.
pub(crate) struct StreamType {
    pub structure: Structure,
    pub leaves: Vec<(tree::Scalar, Vec<Dim>)>,
}

/// Reads the named types of a program.
pub(crate) struct StreamTypes<'p>(Lowering<'p>);

impl<'p> StreamTypes<'p> {
    pub fn new(program: &'p Program) -> StreamTypes<'p> {
        StreamTypes(Lowering::new(program))
    }

    pub fn read(&self, module: usize, ty: TypeId) -> Result<StreamType, Refused> {
        let written = self.0.written(module, ty, &[], &mut Vec::new())?;
        let (Some(structure), Some(leaves)) = (written_structure(&written), written_leaves(&written)) else {
            let span = self.0.program.modules[module].tree.written.type_span(ty);
            let text = "a stream is a tensor, an enumerator or a record of these, not a tuple or a function";
            return Err(type_error(span, text));
        };
        let scalar = |elem: Elem| match elem {
            Elem::Num => tree::Scalar::Num,
            Elem::Bool => tree::Scalar::Bool,
            Elem::Int | Elem::Enum(_) | Elem::Tape => tree::Scalar::Int,
        };
        let leaves = leaves.into_iter().map(|(elem, dims)| (scalar(elem), dims.to_vec())).collect();
        Ok(StreamType { structure, leaves })
    }
}

/// Lowers functions of a program for the types of streams.
pub(crate) struct Applier<'p>(Lowering<'p>);

impl<'p> Applier<'p> {
    pub fn new(program: &'p Program) -> Applier<'p> {
        let mut lowering = Lowering::new(program);
        // A constant without value is reported at its declaration, so these diagnostics are dropped.
        evaluate_constants(&mut lowering, &mut Vec::new(), &mut Budget::default());
        Applier(lowering)
    }

    pub fn apply(&mut self, site: &ApplySite, arguments: &[ApplyArgument]) -> Result<AppliedBody, Refused> {
        let (instance, name) = self.0.lower_at(site, arguments)?;
        let kinds = &instance.kinds;
        let ty = |leaf: &Leaf| -> Result<Type, Refused> {
            let sizes = leaf.sizes.iter().map(|size| {
                let constant = size.as_ref().and_then(Form::as_constant);
                constant.and_then(|size| usize::try_from(size).ok())
            });
            let Some(sizes) = sizes.collect::<Option<Vec<usize>>>() else {
                let text = format!("a size of the result of '{name}' is not known before the run");
                let help = "sizes of streams are compile-time constants: they follow from the shapes of the \
                            arguments and from compile-time integers";
                return Err(Box::new(shape_error(site.span, text).help(help)));
            };
            let scalar = scalar(kinds.get(leaf.kind).unwrap_or(Elem::Int));
            Ok(Type { scalar, shape: Shape::from(sizes) })
        };
        let structure = |leaf: &Leaf| match kinds.get(leaf.kind) {
            Some(Elem::Enum(id)) => Structure::Enumeration(TypeDefId::new(id.index())),
            _ => Structure::Tensor,
        };
        let component = |val: &Val| -> Result<AppliedComponent, Refused> {
            let leaves = val.leaves().into_iter().map(&ty).collect::<Result<_, _>>()?;
            Ok(AppliedComponent { structure: val.structure(&structure), leaves })
        };
        let (is_tuple, parts) = match &instance.result {
            Val::Tuple(parts) => (true, parts.as_slice()),
            val => (false, std::slice::from_ref(val)),
        };
        let components = parts.iter().map(component).collect::<Result<_, _>>()?;
        Ok(AppliedBody { body: instance.id, results: AppliedResult { is_tuple, components } })
    }

    /// All bodies so far, before derivatives are expanded.
    pub fn module(&mut self) -> Module {
        let mut module = self.0.module.clone();
        eddy_body::own::own(&mut module);
        module
    }
}

/// The module with derivatives expanded, ready to run.
pub(crate) fn expanded(module: &Module) -> Result<Module, Refused> {
    finished(module, &Budget::default())
}

impl Lowering<'_> {
    fn written_tensor(&self, elem: Elem, dims: &[Dim]) -> WrittenTensor {
        let size = |dim: &Dim| {
            let Dim::Expr { module, expr, .. } = dim else { return None };
            match self.program.modules[*module].tree.exprs.kind(*expr) {
                ExprKind::Number(number) => match number.value {
                    NumberValue::Int(size) => usize::try_from(size).ok(),
                    NumberValue::Num(_) => None,
                },
                _ => None,
            }
        };
        let shape = dims.iter().map(size).collect::<Option<Vec<usize>>>().map(Shape::from);
        WrittenTensor { scalar: scalar(elem), shape }
    }

    /// A body that applies a function to streams and constants.
    fn lower_at(
        &mut self,
        site: &ApplySite,
        arguments: &[ApplyArgument],
    ) -> Result<(std::rc::Rc<super::instances::Instance>, String), Refused> {
        let leaves = arguments.iter().flat_map(|argument| {
            argument.structure.leaves().into_iter().map(|leaf| leaf.enumeration).zip(&argument.leaves)
        });
        let types = leaves.filter_map(|(enumeration, leaf)| match leaf {
            ApplyLeaf::Stream(ty) => {
                Some(Ty::Tensor(KeyKind::Is(elem(ty.scalar, enumeration)), ty.shape.len()))
            }
            ApplyLeaf::Static(_) => None,
        });
        let code = Code::Item { module: site.module, expr: site.expr };
        let key = Key { function: FnKey { code, captured: Vec::new() }, args: types.collect() };
        let id = self.body_id(&key);
        let mut activation = Activation::new(key.clone(), site.module, id, site.span);
        let mut operands = Vec::new();
        for argument in arguments {
            let mut leaves = argument.leaves.iter();
            let mut leaf =
                |enumeration: Option<TypeDefId>| match leaves.next().expect("a value for each leaf") {
                    ApplyLeaf::Stream(ty) => {
                        let leaf = stream(&mut activation, ty, enumeration);
                        activation.params.push(Val::Leaf(leaf.clone()));
                        leaf
                    }
                    ApplyLeaf::Static(value) => constant(&mut activation, value, enumeration, site.span),
                };
            operands.push(Val::of_structure(&argument.structure, &mut leaf));
        }
        activation.n_param_atoms = activation.n_atoms();
        activation.first_operand = self.operands.len();
        self.activations.push(activation);
        self.in_progress.insert(key.clone(), Progress { assumed: None, was_needed: false, depth: 0 });
        let n_args = operands.len();
        self.operands.extend(operands);
        let function = FnValue { code: site.code.clone(), captured: Vec::new() };
        let name = self.callee_name(&function);
        self.then(vec![Task::Apply { function, n_args, span: site.span }, Task::Finish]);
        let done = self.finish_tasks();
        // The body is not shared: the same call may have other sizes in another instance of its node.
        self.ids.remove(&key);
        let instance = self.instances.remove(&key);
        done?;
        Ok((instance.expect("it was lowered"), name))
    }
}

/// The representation of elements in streams: enumerators are numbers.
fn scalar(elem: Elem) -> Scalar {
    match elem {
        Elem::Num => Scalar::Num,
        Elem::Bool => Scalar::Bool,
        Elem::Int | Elem::Enum(_) | Elem::Tape => Scalar::Int,
    }
}

fn elem(scalar: Scalar, enumeration: Option<TypeDefId>) -> Elem {
    match (scalar, enumeration) {
        (_, Some(definition)) => Lowering::enumeration(definition),
        (Scalar::Bool, None) => Elem::Bool,
        (Scalar::Int, None) => Elem::Int,
        (Scalar::Num, None) => Elem::Num,
    }
}

/// A parameter of constant size.
fn stream(activation: &mut Activation, ty: &Type, enumeration: Option<TypeDefId>) -> Leaf {
    let var = activation.var("p");
    let size = |size: &usize| i64::try_from(*size).ok().map(Form::constant);
    let sizes = ty.shape.iter().map(size).collect();
    let kind = activation.kinds.known(elem(ty.scalar, enumeration));
    let is_int = ty.scalar == Scalar::Int && enumeration.is_none();
    let form = (is_int && ty.shape.is_scalar()).then(|| activation.atom(AtomSource::Int(var)));
    Leaf { var, kind, sizes, form }
}

/// A compile-time constant, whose kind is open if it is an integer.
fn constant(activation: &mut Activation, value: &Static, enumeration: Option<TypeDefId>, span: Span) -> Leaf {
    match value {
        Static::Int(number) if let Some(definition) = enumeration => {
            let elem = Lowering::enumeration(definition);
            let var = activation.literal(Literal { elem, value: Arc::new(Value::Int(*number)) }, span);
            activation.leaf(var, elem, Vec::new())
        }
        Static::Num(number) => {
            let var = activation.literal(Literal::num(*number), span);
            activation.leaf(var, Elem::Num, Vec::new())
        }
        Static::Int(number) => {
            let kind = activation.kinds.open();
            let var = activation.undecided(kind, Undecided::Number(*number), span);
            Leaf { var, kind, sizes: Vec::new(), form: Some(Form::constant(*number)) }
        }
        Static::List(numbers) => {
            let kind = activation.kinds.open();
            let items =
                numbers.iter().map(|number| activation.undecided(kind, Undecided::Number(*number), span));
            let items = items.collect();
            let var = activation.table(Op::Stack, items, span);
            let size = i64::try_from(numbers.len()).ok().map(Form::constant);
            Leaf { var, kind, sizes: vec![size], form: None }
        }
    }
}
