//! `M_end` as source (sections 9.4 and 9.5), as Fig 19 follows from Fig 8.
//!
//! ```text
//! i fby x        fby_end(shape,end,i,x)
//! post x         post_end(shape,end,zeros(shape),x)
//! param(i)       param_end(shape,end,param(i)); unchanged as an initial value, which is read only at resets
//! M(x)           M_end(x,end), if M has something to reset
//! ```
//!
//! Delays of booleans, and `fby back`, become delays with `if` expressions instead of calls.

use eddy_tensor::{Scalar, Type};
use rustc_hash::FxHashMap;

use super::Types;
use super::dimensions::Dimensions;
use super::link::targets;
use super::local::Typed;
use super::names::Fresh;
use super::nodes::NodeText;
use super::text::Text;
use crate::program::{Callee, Reference};
use crate::tree::{Direction, ExprId, ExprKind, Target, UnaryOp};

/// An instance that resets are woven into.
pub(super) struct Woven<'a> {
    pub typed: &'a Typed<'a>,
    pub instance: usize,
    /// The names of the printed nodes, by instance; callees have names before their callers.
    pub names: &'a [Option<String>],
    /// Which instances have an input `end`.
    pub woven: &'a [bool],
    pub types: Types,
}

/// The text of an instance with resets.
pub(super) fn node(woven: &Woven<'_>) -> NodeText {
    let typed = woven.typed;
    let (declared, module) = (typed.node(woven.instance), typed.module(woven.instance));
    let tree = typed.program.tree_of(declared);
    let mut text = Text::default();
    let mut fresh = Fresh::new(declared.slots.iter().map(|slot| slot.name.clone()));
    let end = fresh.name("end");
    let mut weaver = Weaver {
        dimensions: Dimensions::new(typed.program, typed.recorded(woven.instance), &mut text),
        woven,
        end: text.var(&end),
        fresh,
        reset: None,
        is_read: false,
    };
    let mut lines = Vec::new();
    for equation in &tree.equations {
        let mut targets = targets(&mut text, module, &equation.targets);
        if woven.types == Types::Written {
            write_types(woven, &equation.targets, &mut targets);
        }
        let bare = weaver.initial_parameters(equation.value);
        let callee = |expr: ExprId| woven.names[*typed.recorded(woven.instance).calls.get(&expr)?].clone();
        let value = text.copy_changed(module, equation.value, &callee, &mut |text, expr, copies| {
            if bare.contains(&expr) {
                return None;
            }
            let changed = weaver.changed(text, expr, copies);
            weaver.is_read |= changed.is_some();
            changed
        });
        lines.push(text.equation(&targets, value));
    }
    if let Some(reset) = &weaver.reset {
        let truth = text.truth(true);
        let value = text.fby(Direction::Forward, truth, weaver.end);
        lines.push(text.equation(std::slice::from_ref(reset), value));
    }
    let mut inputs: Vec<String> = tree.inputs.iter().map(|decl| text.declaration(module, decl)).collect();
    // Without state to reset, nothing else determines the type and clock of `end`.
    inputs.push(if weaver.is_read { end } else { format!("{end}:bool []") });
    let outputs = tree.outputs.iter().map(|decl| text.declaration(module, decl)).collect();
    NodeText { inputs, outputs, lines }
}

/// Adds the scalar types of streams without a written type.
fn write_types(woven: &Woven<'_>, decls: &[Target], targets: &mut [String]) {
    let typed = woven.typed;
    let (node, module) = (typed.node(woven.instance), typed.module(woven.instance));
    for (target, text) in decls.iter().zip(targets) {
        let Target::Decl(decl) = target else { continue };
        let name = module.names.text(decl.ident.name);
        let slot = node.slots.iter().position(|slot| slot.name == name).expect("a target is a stream");
        let is_plain = node.slots[slot].annotations.is_empty() && decl.clock.is_empty();
        if let (Some(var), true) = (typed.recorded(woven.instance).slots[slot], is_plain) {
            *text = format!("{name}:{}", typed.flow.var(var).ty.scalar);
        }
    }
}

struct Weaver<'a> {
    woven: &'a Woven<'a>,
    dimensions: Dimensions,
    end: ExprId,
    fresh: Fresh,
    /// The name of `true fby end`, if it is needed.
    reset: Option<String>,
    /// Whether any state is reset.
    is_read: bool,
}

impl Weaver<'_> {
    /// The parameters that are initial values of delays to the past.
    fn initial_parameters(&self, root: ExprId) -> Vec<ExprId> {
        let module = self.woven.typed.module(self.woven.instance);
        let exprs = &module.tree.exprs;
        let inits = crate::static_value::postorder(exprs, root).into_iter().filter_map(|expr| {
            match exprs.kind(expr) {
                ExprKind::Fby(Direction::Forward, init, _) => Some(exprs.without_parentheses(init)),
                _ => None,
            }
        });
        inits.filter(|init| self.is_parameter(*init)).collect()
    }

    fn is_parameter(&self, expr: ExprId) -> bool {
        let module = self.woven.typed.module(self.woven.instance);
        matches!(module.references[expr.index()], Reference::Call { callee: Callee::Param, .. })
    }

    fn ty(&self, expr: ExprId) -> Option<Type> {
        let typed = self.woven.typed;
        let var = typed.recorded(self.woven.instance).streams.get(&expr)?;
        Some(typed.flow.var(*var).ty.clone())
    }

    /// The replacement of an expression, if it changes.
    fn changed(
        &mut self,
        text: &mut Text,
        expr: ExprId,
        copies: &FxHashMap<ExprId, ExprId>,
    ) -> Option<ExprId> {
        let typed = self.woven.typed;
        let module = typed.module(self.woven.instance);
        match module.tree.exprs.kind(expr) {
            ExprKind::Fby(direction, init, next) => {
                let ty = self.ty(expr)?;
                Some(self.delay(text, direction, copies[&init], copies[&next], &ty))
            }
            ExprKind::Unary(UnaryOp::Post, operand) => {
                let ty = self.ty(expr)?;
                Some(self.post(text, copies[&operand], &ty))
            }
            ExprKind::Call(_, arguments) => {
                let mut arguments: Vec<ExprId> =
                    module.tree.exprs.items(arguments).iter().map(|argument| copies[argument]).collect();
                if self.is_parameter(expr) {
                    let ty = self.ty(expr)?;
                    let shape = self.dimensions.shape(&ty.shape, text);
                    let parameter = text.call("param", &arguments);
                    return Some(text.call("param_end", &[shape, self.end, parameter]));
                }
                let callee = *typed.recorded(self.woven.instance).calls.get(&expr)?;
                if !self.woven.woven[callee] {
                    return None;
                }
                arguments.push(self.end);
                let name = self.woven.names[callee].as_ref().expect("callees are woven first");
                Some(text.call(name, &arguments))
            }
            _ => None,
        }
    }

    fn delay(
        &mut self,
        text: &mut Text,
        direction: Direction,
        init: ExprId,
        next: ExprId,
        ty: &Type,
    ) -> ExprId {
        if direction == Direction::Forward && ty.scalar != Scalar::Bool {
            let shape = self.dimensions.shape(&ty.shape, text);
            return text.call("fby_end", &[shape, self.end, init, next]);
        }
        let zero = zero(text, ty.scalar);
        let reset = self.reset(text);
        let (at_edge, at_other) = match direction {
            Direction::Forward => (reset, self.end),
            Direction::Back => (self.end, reset),
        };
        let next = text.conditional(at_other, zero, next);
        let delayed = text.fby(direction, init, next);
        text.conditional(at_edge, init, delayed)
    }

    fn post(&mut self, text: &mut Text, operand: ExprId, ty: &Type) -> ExprId {
        if ty.scalar != Scalar::Bool {
            let shape = self.dimensions.shape(&ty.shape, text);
            let zeros = text.call("zeros", &[shape]);
            return text.call("post_end", &[shape, self.end, zeros, operand]);
        }
        let (no, reset) = (text.truth(false), self.reset(text));
        let next = text.conditional(reset, no, operand);
        let post = text.unary(UnaryOp::Post, next);
        text.conditional(self.end, no, post)
    }

    fn reset(&mut self, text: &mut Text) -> ExprId {
        if self.reset.is_none() {
            self.reset = Some(self.fresh.name("rst"));
        }
        text.var(self.reset.as_ref().expect("it has just been named"))
    }
}

fn zero(text: &mut Text, scalar: Scalar) -> ExprId {
    match scalar {
        Scalar::Bool => text.truth(false),
        Scalar::Int => text.integer(0),
        Scalar::Num => text.number(0.0),
    }
}
