//! One instance of a node: what its streams are bound to, and what is known in it at compile time.

use eddy_syntax::{Diagnostic, Span};
use rustc_hash::FxHashMap;

use crate::codes;
use crate::flow::{ClockAnnotation, VarId};
use crate::program::{Module, Node, NodeId, Program, Reference, Slot, SlotId};
use crate::static_value::{Static, StaticError, postorder, value};
use crate::tree::{ExprId, ExprKind, Scalar, UnaryOp};

/// What a slot is in an instance.
#[derive(Clone, Debug)]
pub(super) enum Binding {
    /// A stream.
    Stream(VarId),
    /// A compile-time constant; each use as a stream is a constant of its own.
    Static(Static),
}

/// An instance.
pub(super) struct Instance {
    pub node: NodeId,
    /// Its number in the record, if one is kept.
    pub number: usize,
    /// The prefix of its names, such as `lstm_cell#1/`.
    pub path: String,
    /// The same for seeds, where synthesised nodes have the names of what they are derived from.
    pub seed_path: String,
    /// How many parameters there were before, if its derivatives are written by the user and matter here.
    pub custom: Option<usize>,
    pub bindings: Vec<Binding>,
    /// The expressions that are known at compile time.
    pub statics: FxHashMap<ExprId, Static>,
    /// The clocks that are written in it.
    pub clocks: Vec<ClockAnnotation>,
    /// Where it is instantiated.
    pub span: Span,
    /// The call that made it; none for the node that is run.
    pub call: Option<usize>,
}

/// What is known at compile time.
pub(super) struct Statics {
    pub slots: Vec<Option<Static>>,
    pub exprs: FxHashMap<ExprId, Static>,
}

/// Finds what is static: arguments, locals whose whole right side is, and the expressions made of these.
pub(super) fn statics(
    program: &Program,
    node: NodeId,
    inputs: &[Binding],
) -> Result<Statics, Box<Diagnostic>> {
    let (module, node) = (program.module_of(node), program.node(node));
    let mut finder = Finder::new(module, node, inputs);
    finder.locals()?;
    for equation in &node.equations {
        finder.expression(equation.value)?;
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
    module: &'a Module,
    node: &'a Node,
    slots: Vec<Option<Static>>,
    known: FxHashMap<ExprId, Static>,
}

impl<'a> Finder<'a> {
    fn new(module: &'a Module, node: &'a Node, inputs: &[Binding]) -> Self {
        let mut slots = vec![None; node.slots.len()];
        for (number, binding) in inputs.iter().enumerate() {
            if let Binding::Static(constant) = binding {
                slots[number] = Some(of_written_type(&node.slots[number], constant.clone()));
            }
        }
        Finder { module, node, slots, known: FxHashMap::default() }
    }

    /// Locals whose right side is static: each is evaluated when all that it mentions is known.
    fn locals(&mut self) -> Result<(), Box<Diagnostic>> {
        // For each local that can be static, how many slots it still waits for; for each slot, who waits for it.
        let mut waits_for: FxHashMap<SlotId, (ExprId, usize)> = FxHashMap::default();
        let mut waiting: Vec<Vec<SlotId>> = vec![Vec::new(); self.node.slots.len()];
        let mut ready = Vec::new();
        for equation in &self.node.equations {
            let &[Some(slot)] = equation.targets.as_slice() else { continue };
            let Some(mentioned) = self.static_form(equation.value) else { continue };
            let unknown: Vec<SlotId> =
                mentioned.into_iter().filter(|slot| self.slots[slot.0].is_none()).collect();
            for other in &unknown {
                waiting[other.0].push(slot);
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
            self.slots[slot.0] = constant.map(|constant| of_written_type(&self.node.slots[slot.0], constant));
            if self.slots[slot.0].is_none() {
                continue;
            }
            for other in std::mem::take(&mut waiting[slot.0]) {
                let (_, n) = waits_for.get_mut(&other).expect("only candidates wait");
                *n -= 1;
                if *n == 0 {
                    ready.push(other);
                }
            }
        }
        Ok(())
    }

    /// The slots that an expression mentions, if it has the form of a static one.
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

    /// The value of an expression whose parts were evaluated, if it is static.
    fn value(&self, expr: ExprId) -> Option<Result<Static, StaticError>> {
        let variable = |expr: ExprId| match self.module.references[expr.index()] {
            Reference::Slot(slot) => self.slots[slot.0].clone(),
            _ => None,
        };
        value(&self.module.tree.exprs, expr, &self.known, variable)
    }
}

/// An integer whose slot is written to be a `num` is one. Other types that do not go together are refused later.
#[allow(clippy::cast_precision_loss)] // an integer literal at `num` is the nearest number
fn of_written_type(slot: &Slot, constant: Static) -> Static {
    let is_num = slot.annotations.iter().any(|annotation| annotation.scalar == Scalar::Num);
    match constant {
        Static::Int(n) if is_num => Static::Num(n as f64),
        constant => constant,
    }
}
