//! One instance of a node: the bindings of its streams, and the values known at compile time.

use eddy_syntax::{Diagnostic, Span};
use rustc_hash::FxHashMap;

use crate::codes;
use crate::flow::{ClockAnnotation, Path, VarId};
use crate::program::{
    ConstantId, ConstantValue, Module, Node, NodeId, Program, Reference, Sharing, Slot, SlotId,
};
use crate::static_value::{Static, StaticError, postorder, value};
use crate::tree::{ExprId, ExprKind, Scalar, UnaryOp};

/// The binding of a slot in an instance.
#[derive(Clone, Debug)]
pub(super) enum Binding {
    Stream(VarId),
    /// A compile-time constant; each use as a stream writes its own constant equation.
    Static(Static),
}

pub(super) struct Instance {
    pub node: NodeId,
    /// The index in the record, if a record is kept.
    pub number: usize,
    /// The instance path, such as `lstm_cell#1/`.
    pub path: Path,
    /// The path for seeds, in which synthesised nodes have the names of their original nodes.
    pub seed_path: Path,
    /// The numbers of the copies around the instances that it makes: `[3]`.
    pub suffix: String,
    /// The shared parameters that it was given, as paths.
    pub shares: Vec<Path>,
    /// Whether its parameters are those of a `let`.
    pub is_shared: bool,
    /// The number of parameters before the instance, if it has custom derivatives and is differentiated.
    pub custom: Option<usize>,
    pub bindings: Vec<Binding>,
    /// The values of expressions that are known at compile time.
    pub statics: FxHashMap<ExprId, Static>,
    /// The index of the equation that is being elaborated.
    pub equation: usize,
    /// The clock annotations of its streams.
    pub clocks: Vec<ClockAnnotation>,
    pub span: Span,
    /// The call that creates the instance; `None` for the root.
    pub call: Option<usize>,
}

impl Instance {
    /// The path of shared parameters.
    pub fn share(&self, sharing: &Sharing) -> Path {
        match sharing {
            Sharing::Own(name) => self.seed_path.inside(format!("{name}{}", self.suffix)),
            Sharing::Given(number) => {
                let given = self.shares.get(*number).cloned();
                // A node that is elaborated on its own is given none.
                given.unwrap_or_else(|| self.seed_path.inside(format!("shared#{number}")))
            }
        }
    }
}

/// The defaults of inputs that are compile-time constants, given the inputs that have values.
pub(super) fn static_defaults(
    program: &Program,
    node: NodeId,
    values: &mut [Option<Static>],
    defaults: &[usize],
) -> Result<(), Box<Diagnostic>> {
    // A default may read other inputs, which may have defaults as well.
    for _ in 0..defaults.len() {
        for input in defaults {
            let Some(default) = program.node(node).slots[*input].default else { continue };
            let mut finder = Finder::new(program, program.module_of(node), program.node(node), &[]);
            finder.slots[..values.len()].clone_from_slice(values);
            finder.expression(default)?;
            values[*input] = finder.known.get(&default).cloned();
        }
    }
    Ok(())
}

/// The values known at compile time, by slot and by expression.
pub(super) struct Statics {
    pub slots: Vec<Option<Static>>,
    pub exprs: FxHashMap<ExprId, Static>,
}

/// Evaluates the static values of a node: arguments, locals whose whole right side is static, and expressions
/// of these.
pub(super) fn statics(
    program: &Program,
    node: NodeId,
    inputs: &[Binding],
) -> Result<Statics, Box<Diagnostic>> {
    let (module, node) = (program.module_of(node), program.node(node));
    let mut finder = Finder::new(program, module, node, inputs);
    finder.locals()?;
    for equation in &node.equations {
        finder.expression(equation.value)?;
    }
    for slot in node.inputs().iter().filter(|slot| !slot.is_callable) {
        if let Some(default) = slot.default {
            finder.expression(default)?;
        }
    }
    let exprs = &module.tree.exprs;
    for dims in node.slots.iter().flat_map(|slot| &slot.annotations).filter_map(|annotation| annotation.dims)
    {
        for dim in exprs.items(dims) {
            finder.expression(*dim)?;
        }
    }
    Ok(Statics { slots: finder.slots, exprs: finder.known })
}

struct Finder<'a> {
    program: &'a Program,
    module: &'a Module,
    node: &'a Node,
    slots: Vec<Option<Static>>,
    known: FxHashMap<ExprId, Static>,
}

impl<'a> Finder<'a> {
    fn new(program: &'a Program, module: &'a Module, node: &'a Node, inputs: &[Binding]) -> Self {
        let mut slots = vec![None; node.slots.len()];
        for (number, binding) in inputs.iter().enumerate() {
            if let Binding::Static(constant) = binding {
                slots[number] = Some(converted_to_annotation(&node.slots[number], constant.clone()));
            }
        }
        Finder { program, module, node, slots, known: FxHashMap::default() }
    }

    /// Evaluates the locals whose right side is static, each after the slots that it mentions.
    fn locals(&mut self) -> Result<(), Box<Diagnostic>> {
        // For each local that can be static, the number of slots that it waits for; for each slot, the locals
        // that wait for it.
        let mut waits_for: FxHashMap<SlotId, (ExprId, usize)> = FxHashMap::default();
        let mut waiting: Vec<Vec<SlotId>> = vec![Vec::new(); self.node.slots.len()];
        let mut ready = Vec::new();
        for equation in &self.node.equations {
            let &[Some(slot)] = equation.targets.as_slice() else { continue };
            let Some(mentioned) = self.static_form(equation.value) else { continue };
            let unknown: Vec<SlotId> =
                mentioned.into_iter().filter(|slot| self.slots[slot.index()].is_none()).collect();
            for other in &unknown {
                waiting[other.index()].push(slot);
            }
            if unknown.is_empty() {
                ready.push(slot);
            }
            waits_for.insert(slot, (equation.value, unknown.len()));
        }
        while let Some(slot) = ready.pop() {
            let (value, _) = waits_for[&slot];
            self.expression(value)?;
            let constant = self.known.get(&value).cloned();
            self.slots[slot.index()] =
                constant.map(|constant| converted_to_annotation(&self.node.slots[slot.index()], constant));
            if self.slots[slot.index()].is_none() {
                continue;
            }
            for other in std::mem::take(&mut waiting[slot.index()]) {
                let (_, n) = waits_for.get_mut(&other).expect("only candidates wait");
                *n -= 1;
                if *n == 0 {
                    ready.push(other);
                }
            }
        }
        Ok(())
    }

    /// A constant of the program that may be a size.
    fn constant(&self, constant: ConstantId) -> Option<Static> {
        match self.program.constant_values.get(constant.index()) {
            Some(Ok(ConstantValue::Static(value))) => Some(value.clone()),
            _ => None,
        }
    }

    /// The slots that an expression mentions; `None` if its form cannot be static.
    fn static_form(&self, root: ExprId) -> Option<Vec<SlotId>> {
        let exprs = &self.module.tree.exprs;
        let (mut mentioned, mut todo) = (Vec::new(), vec![root]);
        while let Some(expr) = todo.pop() {
            match exprs.kind(expr) {
                ExprKind::Number(_)
                | ExprKind::Group(_)
                | ExprKind::List(_)
                | ExprKind::Index(..)
                | ExprKind::Unary(UnaryOp::Negate, _)
                | ExprKind::Binary(..) => todo.extend(exprs.children(expr)),
                ExprKind::Variable(_) => match self.module.references[expr.index()] {
                    Reference::Slot(slot) => mentioned.push(slot),
                    Reference::Constant(constant) if self.constant(constant).is_some() => {}
                    _ => return None,
                },
                _ => return None,
            }
        }
        Some(mentioned)
    }

    /// Evaluates all static parts of an expression.
    fn expression(&mut self, root: ExprId) -> Result<(), Box<Diagnostic>> {
        let exprs = &self.module.tree.exprs;
        for expr in postorder(exprs, root) {
            if let Some(value) = self.value(expr) {
                let value = value.map_err(|error| {
                    Box::new(Diagnostic::error(codes::COMPILE_TIME, exprs.at(expr), error.to_string()))
                })?;
                self.known.insert(expr, value);
            }
        }
        Ok(())
    }

    /// The value of an expression whose parts are evaluated; `None` if it is not static.
    fn value(&self, expr: ExprId) -> Option<Result<Static, StaticError>> {
        let variable = |expr: ExprId| match self.module.references[expr.index()] {
            Reference::Slot(slot) => self.slots[slot.index()].clone(),
            Reference::Constant(constant) => self.constant(constant),
            _ => None,
        };
        value(&self.module.tree.exprs, expr, &self.known, variable)
    }
}

/// Converts an integer to `num` if its slot is annotated so. Other mismatches are rejected later.
#[allow(clippy::cast_precision_loss)] // an integer literal used as `num` is rounded to the nearest double
fn converted_to_annotation(slot: &Slot, constant: Static) -> Static {
    let is_num = slot.annotations.iter().any(|annotation| annotation.scalar == Scalar::Num);
    match constant {
        Static::Int(n) if is_num => Static::Num(n as f64),
        constant => constant,
    }
}
