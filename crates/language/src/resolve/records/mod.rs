//! Expands the records and enumerations of nodes (functions.md, section 6), so that all later phases see
//! tensors.
//!
//! A record stream is a bundle of streams on one clock. Each record stream is replaced by one stream per
//! leaf, and each equation of records by one equation per leaf:
//!
//! ```text
//! p = {x = 0.0, v = 1.0} fby step(p);       step#1.x, step#1.v = step(p.x, p.v);
//!                                           p.x = 0.0 fby step#1.x;
//!                                           p.v = 1.0 fby step#1.v;
//! ```
//!
//! Enumerators become their numbers; `match` becomes comparisons with them. The tree is unchanged.
//!
//! * [`interface`](mod@interface): the structures of inputs and outputs, also of derivatives.
//! * [`infer`]: which streams and expressions are records or enumerators, and errors about them.
//!   [`forms`]: records, fields and `match`.
//! * [`inherit`](mod@inherit): the structures of what made nodes capture.
//! * [`declared`]: named types, as annotations of leaves.
//! * [`streams`]: the new streams. [`rewrite`]: the new equations.

mod declared;
mod forms;
mod infer;
mod inherit;
mod interface;
mod rewrite;
mod streams;

use eddy_syntax::Diagnostics;

use crate::codes;
use crate::program::{Callee, ConstantValue, Made, NodeId, Program, Reference, Structure};
use crate::tree::{ExprKind, Form};
use interface::StreamInterface;

/// Expands all nodes; `order` lists callees first.
pub(super) fn expand_records(program: &mut Program, order: &[NodeId], diagnostics: &mut Diagnostics) {
    let mut interfaces: Vec<StreamInterface> =
        program.nodes.iter().map(StreamInterface::of_tensors).collect();
    inherit::inherit(program, &mut interfaces, order);
    for id in order {
        if !has_structures(program, &interfaces, *id) {
            continue;
        }
        match infer::infer(program, &interfaces, *id) {
            Ok(found) => {
                interfaces[id.index()] = found.interface(program.node(*id));
                rewrite::rewrite(program, &interfaces, *id, &found);
            }
            Err(errors) => {
                diagnostics.extend(errors);
                discard(program, *id);
            }
        }
    }
    check_trains(program, &interfaces, diagnostics);
}

/// Drops the equations of a node with records that could not be expanded.
pub(super) fn discard_unexpanded(program: &mut Program) {
    let interfaces: Vec<StreamInterface> = program.nodes.iter().map(StreamInterface::of_tensors).collect();
    for id in (0..program.nodes.len()).map(NodeId::new) {
        if has_structures(program, &interfaces, id) {
            discard(program, id);
        }
    }
}

fn discard(program: &mut Program, id: NodeId) {
    let node = &mut program.nodes[id.index()];
    node.equations.clear();
    node.is_broken = true;
}

/// Whether a node has records, enumerators or named types.
fn has_structures(program: &Program, interfaces: &[StreamInterface], id: NodeId) -> bool {
    let (module, node) = (program.module_of(id), program.node(id));
    let has_structure = node.made != Made::Written && !interfaces[id.index()].has_tensors_only();
    if has_structure || node.slots.iter().any(|slot| !slot.type_names.is_empty()) {
        return true;
    }
    let exprs = &module.tree.exprs;
    let mut todo: Vec<_> = node.equations.iter().map(|equation| equation.value).collect();
    while let Some(expr) = todo.pop() {
        let is_structured = match &module.references[expr.index()] {
            Reference::Enumerator(..) => true,
            Reference::Constant(constant) => matches!(
                program.constant_values.get(constant.index()),
                Some(Ok(ConstantValue::Structure(..)))
            ),
            Reference::Call { callee: Callee::Instance(callable), .. } => {
                !interfaces[program.origin(callable.base).index()].has_tensors_only()
            }
            Reference::Call { callee: Callee::Applied(function, modes), .. } if modes.is_empty() => {
                let interface = program.interfaces.get(function.index());
                let structures = interface.iter().flat_map(|interface| interface.result_structures.iter());
                structures.flatten().any(|structure| *structure != Structure::Tensor)
            }
            _ => match exprs.kind(expr) {
                ExprKind::Form(form, _) => !matches!(exprs.form(form), Form::Place(_)),
                _ => false,
            },
        };
        if is_structured {
            return true;
        }
        todo.extend(exprs.children(expr));
    }
    false
}

/// Checks that the output of a trained node, and the inputs of its loss and optimiser, are tensors.
fn check_trains(program: &Program, interfaces: &[StreamInterface], diagnostics: &mut Diagnostics) {
    for train in &program.trains {
        for node in [train.node, train.loss].into_iter().chain(train.rules.iter().map(|rule| rule.optimiser))
        {
            let interface = &interfaces[node.index()];
            let streams = if node == train.node { &interface.outputs[..] } else { &[] };
            let others = if node == train.node { &[] } else { &interface.inputs[..] };
            if streams.iter().chain(others).all(|stream| stream.structure == Structure::Tensor) {
                continue;
            }
            let name = &program.node(node).name;
            let title = format!("`train` takes tensors, but `{name}` has a record or an enumeration there");
            let help = "give the node an output that is a tensor, such as `[p.x, p.v]`";
            diagnostics.push(
                eddy_syntax::Diagnostic::error(codes::TYPE, train.span, title)
                    .cause(program.node(node).span, "declared here")
                    .help(help),
            );
        }
    }
}
