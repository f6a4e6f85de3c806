//! Training code as source: what `eddy diff` prints (section 9.5, printed form).
//!
//! `diff_N` exists by name ([`eddy_autodiff`]); here it is written down, as a program that can be read, changed and run. It is
//! derived from the text of the nodes rather than from flow: one printed node per node, forward equations as they were, and backward
//! equations in the user's names. Both compute the same cells.
//!
//! * [`mod@link`]: the nodes that N needs, in one file; [`weave`]: with resets, where `M_end` is asked for.
//! * [`local`]: one instance as steps between its own streams; [`activity`]: which of them carry cotangents; [`supports`]: where these
//!   can be different from zero.
//! * [`node`]: the text of one node, from [`forward`] equations, names of supports ([`beside`]), [`calls`] and [`cotangent`]s, whose
//!   [`formula`]s come from the operation table; [`interface`] adds what its inputs and outputs need.
//! * [`dense`]: the outermost node of the dense form.
//! * [`text`], [`names`], [`dimensions`], [`nodes`]: expressions, fresh names, sizes, and the nodes that were printed.

mod activity;
mod beside;
mod calls;
mod cotangent;
mod dense;
mod dimensions;
mod formula;
mod forward;
mod interface;
mod link;
mod local;
mod names;
mod node;
mod nodes;
mod refusal;
mod supports;
mod text;
mod weave;

use eddy_autodiff::section::Mode;
use eddy_syntax::{Diagnostic, SourceFile, Sources, Span};
use eddy_tensor::{Shape, Static, Type};
use rustc_hash::FxHashMap;

use crate::clocks;
use crate::command_line::shape_hints;
use crate::draft::Draft;
use crate::elaborate::{Given, elaborate_recorded};
use crate::flow::{Flow, Kind, VarId};
use crate::infer::infer;
use crate::prepare::{Checks, Prepared, prepare};
use crate::program::{Callable, Program};
use crate::resolve::resolve;
use activity::Summary;
use link::{Linked, link};
use local::{Local, Typed};
use node::{Derived, Known, print_instance};
use nodes::Nodes;
use supports::NotClosed;

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// Compile-time constants for inputs, by name.
    pub constants: FxHashMap<String, Static>,
    /// Shapes of inputs, by name; others are scalars.
    pub shapes: Vec<(String, Shape)>,
    /// Print dense cotangents, also where sparse ones are possible.
    pub dense: bool,
    /// Make cells that depend on what comes after the end of the trace 0 instead of unknown.
    pub finite: bool,
}

/// How cotangents are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// With supports.
    Sparse(Ends),
    /// On the clocks of their streams.
    Dense,
}

/// What a delay to the future gives at the end of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    /// Nothing is known, as in the paper.
    Open,
    /// 0.
    Finite,
}

/// Whether the types of streams are written down where resets are woven in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Types {
    /// They follow from what is computed.
    Inferred,
    /// They do not: a zero can be an integer.
    Written,
}

/// Whether the shapes of the cotangents that come in are written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shapes {
    /// They follow from what is computed.
    Inferred,
    /// They do not, as in `dx = do[0];`.
    Written,
}

/// Whether the cotangents that come in are tied to the clocks of their streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ties {
    /// They are, by what is computed.
    Inferred,
    /// They are not, as in `dx = dy;`, so an equation that nobody reads does it.
    Written,
}

/// The training code of a node or of an `M_end`.
pub fn print(program: &Program, callable: &Callable, wish: &Wish) -> Result<String, Vec<Diagnostic>> {
    refusal::check(program, callable)?;
    // What has no synthesised training code has no printed one.
    let given = Given { constants: wish.constants.clone(), ..Given::default() };
    let diff = Callable { base: callable.base, modes: vec![Mode::Diff] };
    let synthesised = prepare(program, &diff, &given, |draft| shape_hints(draft, &wish.shapes), Checks::On)?;
    let original = typed(program, callable, wish)?;
    refusal::several_clocks(program, callable, &original.flow)?;
    let wish = &with_all_shapes(wish, &original);
    let locals = locals(&original);
    let mut linked = link(&original, &locals, callable, Types::Inferred);
    if !has_types(&linked, &original, wish) {
        linked = link(&original, &locals, callable, Types::Written);
    }
    let program = resolve(&mut Sources::alone(SourceFile::new("linked.eddy", linked.source())))?;
    let root = program.find(&linked.root, Span::default())?;
    let typed = typed(&program, &root, wish)?;
    let mut text = String::new();
    for shapes in [Shapes::Inferred, Shapes::Written] {
        for ties in [Ties::Inferred, Ties::Written] {
            text = derive(&typed, &linked, wish, shapes, ties)?;
            if is_like(&text, &synthesised, &typed, wish) {
                return Ok(text);
            }
        }
    }
    Ok(text)
}

/// With the shapes that inputs turned out to have, so that what is written from here on is read at the same instance.
fn with_all_shapes(wish: &Wish, original: &Typed<'_>) -> Wish {
    let inputs = original.flow.inputs.iter().map(|input| original.flow.var(*input));
    let shapes = inputs.filter_map(|var| Some((var.name.as_deref()?.to_string(), var.ty.shape.clone())));
    Wish { shapes: shapes.collect(), ..wish.clone() }
}

/// Whether inference finds the same types in the linked program, where zeros that resets write may be of either numeric type.
fn has_types(linked: &Linked, original: &Typed<'_>, wish: &Wish) -> bool {
    let mut sources = Sources::alone(SourceFile::new("linked.eddy", linked.source()));
    let Ok(program) = resolve(&mut sources) else { return false };
    let Ok(root) = program.find(&linked.root, Span::default()) else { return false };
    let Ok(linked) = typed(&program, &root, wish) else { return false };
    let types = |flow: &Flow| -> Vec<Type> {
        flow.inputs.iter().chain(&flow.outputs).map(|var| flow.var(*var).ty.clone()).collect()
    };
    types(&linked.flow) == types(&original.flow)
}

/// Whether a run of the printed node finds the types and clocks of the synthesised one, when its data have the shapes of the inputs and
/// outputs of N.
fn is_like(text: &str, synthesised: &Prepared, original: &Typed<'_>, wish: &Wish) -> bool {
    let Ok(program) = resolve(&mut Sources::alone(SourceFile::new("printed.eddy", text))) else {
        return false;
    };
    let name = format!("diff_{}", original.node(0).name);
    let Ok(callable) = program.find(&name, Span::default()) else { return false };
    let given = Given { constants: wish.constants.clone(), ..Given::default() };
    let shapes: Vec<(String, Shape)> = synthesised
        .flow
        .inputs
        .iter()
        .map(|input| synthesised.flow.var(*input))
        .filter_map(|var| Some((var.name.as_deref()?.to_string(), var.ty.shape.clone())))
        .collect();
    let hints = |draft: &Draft| shape_hints(draft, &shapes);
    prepare(&program, &callable, &given, hints, Checks::On)
        .is_ok_and(|printed| streams(&printed) == streams(synthesised))
}

/// The types and clocks of inputs and outputs. A constant is there whenever it is needed, so its clock says nothing.
fn streams(prepared: &Prepared) -> Vec<(Type, Option<String>)> {
    let Prepared { flow, clocks, .. } = prepared;
    let (labels, definitions) = (flow.labels(), flow.definitions());
    let is_constant = |var: VarId| {
        definitions[var.index()].is_some_and(|number| matches!(flow.equations[number].kind, Kind::Const(_)))
    };
    let clock = |var: VarId| clocks.show(flow, clocks.of(var), &|var| labels.label(var));
    let streams = flow.inputs.iter().chain(&flow.outputs);
    streams.map(|var| (flow.var(*var).ty.clone(), (!is_constant(*var)).then(|| clock(*var)))).collect()
}

/// A node with the types of all its streams.
fn typed<'a>(program: &'a Program, callable: &Callable, wish: &Wish) -> Result<Typed<'a>, Vec<Diagnostic>> {
    let given = Given { constants: wish.constants.clone(), ..Given::default() };
    let (mut draft, record) = elaborate_recorded(program, callable, &given)?;
    draft.marks.clear();
    let hints = shape_hints(&draft, &wish.shapes);
    let flow = infer(draft, &hints).map_err(|failure| failure.diagnostics)?;
    let definitions = flow.definitions();
    Ok(Typed { program, flow, definitions, record })
}

fn locals(typed: &Typed<'_>) -> Vec<Local> {
    (0..typed.record.instances.len()).map(|instance| Local::new(typed, instance)).collect()
}

/// Derives the training code of a program in one file.
fn derive(
    typed: &Typed<'_>,
    linked: &Linked,
    wish: &Wish,
    shapes: Shapes,
    ties: Ties,
) -> Result<String, Vec<Diagnostic>> {
    let locals = locals(typed);
    let mut summaries: Vec<Option<Summary>> = vec![None; locals.len()];
    for instance in (0..locals.len()).rev() {
        summaries[instance] = Some(Summary::new(typed, instance, &locals[instance], &summaries));
    }
    let clocks = clocks::infer(&typed.flow)?;
    let known = |form: Form| {
        let n_outputs = |instance: usize| typed.node(instance).outputs.len();
        let seeded = (0..locals.len()).map(|instance| vec![true; n_outputs(instance)]).collect();
        let derived = vec![None; locals.len()];
        Known {
            typed,
            locals: &locals,
            summaries: &summaries,
            clocks: &clocks,
            form,
            shapes,
            ties,
            seeded,
            derived,
        }
    };
    let ends = if wish.finite { Ends::Finite } else { Ends::Open };
    let sparse = if wish.dense { Err(NotClosed) } else { print_all(known(Form::Sparse(ends)), linked) };
    let nodes = match sparse {
        Ok((nodes, _)) => nodes,
        Err(NotClosed) => {
            let Ok((mut nodes, root)) = print_all(known(Form::Dense), linked) else {
                unreachable!("dense cotangents need no supports")
            };
            dense::wrap(typed, &locals[0], &root.name, shapes, &mut nodes);
            nodes
        }
    };
    Ok(with_needed(linked, &nodes))
}

/// Prints the instances that carry cotangents, callees first; of the callees of a node the last one first, as cotangents meet
/// them.
fn print_all(mut known: Known<'_>, linked: &Linked) -> Result<(Nodes, Derived), NotClosed> {
    let mut nodes = Nodes::default();
    nodes.reserve(linked.nodes.iter().map(|node| node.name.clone()));
    let mut todo = vec![(0, false)];
    while let Some((instance, callees_are_done)) = todo.pop() {
        if callees_are_done {
            let derived = print_instance(&known, instance, &mut nodes)?;
            known.derived[instance] = Some(derived);
        } else {
            todo.push((instance, true));
            todo.extend(known.derived_callees(instance).into_iter().map(|callee| (callee, false)));
        }
    }
    let root = known.derived[0].take().expect("the outermost node is printed last");
    Ok((nodes, root))
}

/// What was printed, behind the nodes that it calls and the woven ones that it was made from.
fn with_needed(linked: &Linked, nodes: &Nodes) -> String {
    let mut text: String = String::new();
    let mut needed = nodes.called();
    // Callees come first in the list, so going backwards meets callers before what they call.
    for node in linked.nodes.iter().rev() {
        if node.is_woven || needed.contains(&node.name) {
            needed.extend(node.text.called());
        }
    }
    for node in &linked.nodes {
        if node.is_woven || needed.contains(&node.name) {
            text.push_str(&node.text.show(&node.name));
        }
    }
    text.push_str(&nodes.show());
    text
}
