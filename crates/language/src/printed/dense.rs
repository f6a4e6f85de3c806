//! The outermost node of the dense form: it pads its inputs and samples its outputs (section 9.5).

use super::Shapes;
use super::dimensions::Dimensions;
use super::local::{Local, Typed};
use super::names::Fresh;
use super::node::inputs;
use super::nodes::{NodeText, Nodes};
use super::text::Text;
use crate::program::{Module, SlotId};
use crate::tree::{Decl, ExprId, Ident, Node, Polarity};

/// Adds the node `diff_N`, which calls `back_N`.
pub(super) fn wrap(typed: &Typed<'_>, local: &Local, back: &str, shapes: Shapes, nodes: &mut Nodes) {
    let (node, module) = (typed.node(0), typed.module(0));
    let tree = typed.program.tree_of(node);
    let mut text = Text::default();
    // The names are those of the synthesised node, so all streams of N count as taken.
    let mut fresh = Fresh::new(node.slots.iter().map(|slot| slot.name.clone()));
    let bp = fresh.name("bp");
    let cotangent =
        |fresh: &mut Fresh, slot: SlotId| fresh.name(&format!("d{}", node.slots[slot.index()].name));
    let is_num = |slot: &SlotId| local.is_num(local.slot(*slot));
    let seeds: Vec<String> =
        node.outputs.iter().filter(|slot| is_num(slot)).map(|slot| cotangent(&mut fresh, *slot)).collect();
    let varying: Vec<SlotId> = (0..node.n_inputs).map(SlotId::new).filter(is_num).collect();
    let results: Vec<String> = varying.iter().map(|slot| cotangent(&mut fresh, *slot)).collect();
    let dense: Vec<String> = results.iter().map(|name| fresh.name(&format!("{name}0"))).collect();

    let dimensions = Dimensions::new(typed.program, typed.recorded(0), &mut text);
    let decls = [&tree.inputs, &tree.outputs].map(|decls| without_local_clocks(tree, module, decls));
    let inputs = inputs(typed, 0, &decls[0], local, &dimensions, shapes, &mut text);
    let outputs = decls[1].iter().map(|decl| text.declaration(module, decl)).collect::<Vec<_>>();
    let condition = text.var(&bp);
    let mut arguments: Vec<ExprId> = node.inputs().iter().map(|slot| text.var(&slot.name)).collect();
    for seed in &seeds {
        let (seed, zero) = (text.var(seed), text.number(0.0));
        arguments.push(text.merge(condition, seed, zero));
    }
    let targets: Vec<String> = node
        .outputs
        .iter()
        .map(|slot| node.slots[slot.index()].name.clone())
        .chain(dense.iter().cloned())
        .collect();
    let call = text.call(back, &arguments);
    let mut lines = vec![text.equation(&targets, call)];
    for (name, dense) in results.iter().zip(&dense) {
        let dense = text.var(dense);
        let mask = text.when(dense, condition, Polarity::On);
        lines.push(text.equation(std::slice::from_ref(name), mask));
    }
    // Without any cotangent, nothing else determines the type and clock of `bp`.
    let is_unread = seeds.is_empty() && results.is_empty();
    let bp = if is_unread { format!("{bp}:bool []") } else { bp };
    let mut annotated = Vec::new();
    for (slot, seed) in node.outputs.iter().filter(|slot| is_num(slot)).zip(seeds) {
        annotated.push(match shapes {
            Shapes::Inferred => seed,
            Shapes::Written => dimensions.annotated(&seed, local.ty(local.slot(*slot)), &text),
        });
    }
    let wrapper = NodeText {
        inputs: inputs.into_iter().chain([bp]).chain(annotated).collect(),
        outputs: outputs.into_iter().chain(results.iter().cloned()).collect(),
        lines,
    };
    nodes.add(&format!("diff_{}", node.name), wrapper);
}

/// Copies the declarations. Removes a clock with a condition that is local to N, because `back_N` declares
/// it.
fn without_local_clocks(tree: &Node, module: &Module, decls: &[Decl]) -> Vec<Decl> {
    let name = |ident: Ident| module.names.text(ident.name);
    let is_known = |condition: Ident| {
        tree.inputs.iter().chain(&tree.outputs).any(|decl| name(decl.ident) == name(condition))
    };
    let mut decls = decls.to_vec();
    for decl in &mut decls {
        if !decl.clock.iter().all(|sampling| is_known(sampling.condition)) {
            decl.clock.clear();
        }
    }
    decls
}
