//! Training code as source: what `eddy diff` prints (section 9.5, printed form).
//!
//! [`eddy_autodiff`] synthesises `diff_N`; this module prints it as a program that can be read, changed and
//! run. There is one printed node per node: its forward equations are copied from the source, its backward
//! equations are its transpose ([`eddy_autodiff::Node`]) in the user's names. Each contribution to a
//! cotangent is attributed to the use that it comes from, so the source determines its position and its
//! names. The printed and the synthesised node compute the same cells.
//!
//! * [`mod@link`]: the nodes that N needs, in one file; [`weave`]: with resets, where `M_end` is requested.
//! * [`local`]: one instance as steps between its own streams; [`activity`]: its transpose; [`supports`]:
//!   where cotangents can differ from zero.
//! * [`instances`]: all instances, and the translation of each call.
//! * [`node`]: the text of one node, from [`forward`] equations, names of supports ([`support_names`]),
//!   [`calls`] and [`cotangent`]s, which are sums of [`contribution`]s; [`interface`] adds the equations that
//!   its inputs and outputs need.
//! * [`dense`]: the outermost node of the dense form.
//! * [`text`], [`names`], [`dimensions`], [`nodes`]: expressions, fresh names, sizes, and the printed nodes.

mod activity;
mod calls;
mod contribution;
mod cotangent;
mod dense;
mod dimensions;
mod forward;
mod instances;
mod interface;
mod link;
mod local;
mod names;
mod node;
mod nodes;
mod refusal;
mod support_names;
mod supports;
mod text;
mod weave;

use eddy_autodiff::section::Mode;
use eddy_syntax::{Diagnostic, SourceFile, Sources, Span};
use eddy_tensor::{Shape, Static, Type};
use rustc_hash::FxHashMap;

use crate::clocks;
use crate::draft::Draft;
use crate::elaborate::{ElaborationOptions, elaborate_recorded};
use crate::flow::{Flow, Kind, VarId};
use crate::infer::{infer, shape_hints};
use crate::prepare::{Checks, Prepared, prepare};
use crate::program::{Callable, Program};
use crate::resolve::resolve;
use activity::Summary;
use instances::{Derived, Instances};
use link::{Linked, link};
use local::{Local, Typed};
use node::print_instance;
use nodes::Nodes;
use supports::NotClosed;

/// The options of `eddy diff`.
#[derive(Clone, Debug, Default)]
pub struct PrintOptions {
    /// Compile-time constants for inputs, by name.
    pub constants: FxHashMap<String, Static>,
    /// Shapes of inputs, by name; others are scalars.
    pub shapes: Vec<(String, Shape)>,
    /// Whether to print dense cotangents even if sparse ones are possible.
    pub dense: bool,
    /// Whether cells that depend on values after the end of the trace are 0 instead of unknown.
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

/// The value of a delay into the future at the end of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    /// Unknown, as in the paper.
    Open,
    /// 0.
    Finite,
}

/// Whether the types of streams are written where resets are woven in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Types {
    /// Inference finds them.
    Inferred,
    /// Inference does not find them, because a zero can be an `int` or a `num`.
    Written,
}

/// Whether the shapes of the incoming cotangents are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shapes {
    /// Inference finds them.
    Inferred,
    /// Inference does not find them, as in `dx = do[0];`.
    Written,
}

/// Whether the incoming cotangents are tied to the clocks of their streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ties {
    /// The equations tie them.
    Inferred,
    /// The equations do not tie them, as in `dx = dy;`; an additional unread equation does.
    Written,
}

/// The training code of a node or of an `M_end`.
pub fn print(
    program: &Program,
    callable: &Callable,
    options: &PrintOptions,
) -> Result<String, Vec<Diagnostic>> {
    refusal::check(program, callable)?;
    let requested_program = program;
    // A node without synthesised training code has no printed training code.
    let given = ElaborationOptions { constants: options.constants.clone(), ..ElaborationOptions::default() };
    let diff = Callable { base: callable.base, modes: vec![Mode::Diff] };
    let synthesised =
        prepare(program, &diff, &given, |draft| shape_hints(draft, &options.shapes), Checks::On)?;
    let original = typed(program, callable, options)?;
    refusal::several_clocks(program, callable, &original.flow)?;
    refusal::rows_at_run_time(callable, program, &original.flow)?;
    let options = &with_all_shapes(options, &original);
    let locals = locals(&original);
    let mut linked = link(&original, &locals, callable, Types::Inferred);
    if !has_types(&linked, &original, options) {
        linked = link(&original, &locals, callable, Types::Written);
    }
    let program = resolve(&mut Sources::alone(SourceFile::new("linked.eddy", linked.source()))).accepted()?;
    let root = program.find(&linked.root, Span::default())?;
    let typed = typed(&program, &root, options)?;
    let mut mismatch = None;
    for shapes in [Shapes::Inferred, Shapes::Written] {
        for ties in [Ties::Inferred, Ties::Written] {
            let text = derive(&typed, &linked, options, shapes, ties)?;
            match compare(&text, &synthesised, &typed, options) {
                Ok(()) => return Ok(text),
                Err(found) => mismatch = Some(found),
            }
        }
    }
    let mismatch = mismatch.expect("each way to write the text was tried");
    Err(vec![refusal::mismatch(requested_program, callable, &mismatch)])
}

/// Adds the inferred shapes of inputs, so that the printed text is checked at the same shapes.
fn with_all_shapes(options: &PrintOptions, original: &Typed<'_>) -> PrintOptions {
    let inputs = original.flow.inputs.iter().map(|input| original.flow.var(*input));
    let shapes = inputs.filter_map(|var| Some((var.name.as_deref()?.to_string(), var.ty.shape.clone())));
    PrintOptions { shapes: shapes.collect(), ..options.clone() }
}

/// Whether inference finds the same types in the linked program, where zeros of resets may be of either
/// numeric type.
fn has_types(linked: &Linked, original: &Typed<'_>, options: &PrintOptions) -> bool {
    let mut sources = Sources::alone(SourceFile::new("linked.eddy", linked.source()));
    let Ok(program) = resolve(&mut sources).accepted() else { return false };
    let Ok(root) = program.find(&linked.root, Span::default()) else { return false };
    let Ok(linked) = typed(&program, &root, options) else { return false };
    let types = |flow: &Flow| -> Vec<Type> {
        flow.inputs.iter().chain(&flow.outputs).map(|var| flow.var(*var).ty.clone()).collect()
    };
    types(&linked.flow) == types(&original.flow)
}

/// Why the printed node differs from `diff_N`.
#[derive(Debug)]
enum Mismatch {
    /// A check of the language refuses the text.
    Refused(Diagnostic),
    /// An input or output has another type or another clock.
    Stream { name: String, printed: String, synthesised: String },
}

/// Compares the inferred types and clocks of the printed node with those of the synthesised one. The inputs
/// have the shapes of the synthesised node's inputs.
fn compare(
    text: &str,
    synthesised: &Prepared,
    original: &Typed<'_>,
    options: &PrintOptions,
) -> Result<(), Box<Mismatch>> {
    let refused = |found: Vec<Diagnostic>| {
        let first = found.into_iter().next().expect("a refusal has a reason");
        Box::new(Mismatch::Refused(first))
    };
    let mut sources = Sources::alone(SourceFile::new("printed.eddy", text));
    let program = resolve(&mut sources).accepted().map_err(refused)?;
    let name = format!("diff_{}", original.node(0).name);
    let callable = program.find(&name, Span::default()).map_err(refused)?;
    let given = ElaborationOptions { constants: options.constants.clone(), ..ElaborationOptions::default() };
    let shapes: Vec<(String, Shape)> = synthesised
        .flow
        .inputs
        .iter()
        .map(|input| synthesised.flow.var(*input))
        .filter_map(|var| Some((var.name.as_deref()?.to_string(), var.ty.shape.clone())))
        .collect();
    let hints = |draft: &Draft| shape_hints(draft, &shapes);
    let printed = prepare(&program, &callable, &given, hints, Checks::On).map_err(refused)?;
    // In the dense form, a condition of N is a stream of the instance of `back_N` in the wrapper.
    let inside = format!("back_{}#1/", original.node(0).name);
    for ((name, printed), (_, synthesised)) in streams(&printed).into_iter().zip(streams(synthesised)) {
        let printed = printed.replace(&inside, "");
        if printed != synthesised {
            return Err(Box::new(Mismatch::Stream { name, printed, synthesised }));
        }
    }
    Ok(())
}

/// The names of inputs and outputs, with their types and clocks. A constant is present whenever it is needed,
/// so its clock is irrelevant.
fn streams(prepared: &Prepared) -> Vec<(String, String)> {
    let Prepared { flow, clocks, .. } = prepared;
    let (labels, definitions) = (flow.labels(), flow.definitions());
    let is_constant = |var: VarId| {
        definitions[var.index()].is_some_and(|number| matches!(flow.equations[number].kind, Kind::Const(_)))
    };
    let show = |var: VarId| {
        let ty = flow.var(var).ty.to_string();
        if is_constant(var) {
            return ty;
        }
        format!("{ty} on clock {}", clocks.show(flow, clocks.of(var), &|var| labels.label(var)))
    };
    flow.inputs.iter().chain(&flow.outputs).map(|var| (labels.label(*var), show(*var))).collect()
}

/// Elaborates a node and infers the types of all its streams.
fn typed<'a>(
    program: &'a Program,
    callable: &Callable,
    options: &PrintOptions,
) -> Result<Typed<'a>, Vec<Diagnostic>> {
    let given = ElaborationOptions { constants: options.constants.clone(), ..ElaborationOptions::default() };
    let (mut draft, record) = elaborate_recorded(program, callable, &given)?;
    draft.marks.clear();
    let hints = shape_hints(&draft, &options.shapes);
    let (flow, _) = infer(program, draft, &hints).map_err(|failure| failure.diagnostics)?;
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
    options: &PrintOptions,
    shapes: Shapes,
    ties: Ties,
) -> Result<String, Vec<Diagnostic>> {
    let locals = locals(typed);
    let mut summaries: Vec<Option<Summary>> = vec![None; locals.len()];
    for instance in (0..locals.len()).rev() {
        summaries[instance] = Some(Summary::new(typed, instance, &locals[instance], &summaries));
    }
    let clocks = clocks::infer(&typed.flow)?;
    let instances = |form: Form| {
        let n_outputs = |instance: usize| typed.node(instance).outputs.len();
        let seeded = (0..locals.len()).map(|instance| vec![true; n_outputs(instance)]).collect();
        let derived = vec![None; locals.len()];
        Instances {
            typed,
            locals: &locals,
            summaries: &summaries,
            clocks: &clocks,
            form,
            shapes,
            ties,
            seeded,
            transposed: vec![None; locals.len()],
            derived,
        }
    };
    let ends = if options.finite { Ends::Finite } else { Ends::Open };
    // A node without outputs has no cotangents to pad, and nothing can call it.
    let is_dense = options.dense && !typed.node(0).outputs.is_empty();
    let sparse = if is_dense { Err(NotClosed) } else { print_all(instances(Form::Sparse(ends)), linked) };
    let nodes = match sparse {
        Ok((nodes, _)) => nodes,
        Err(NotClosed) => {
            let Ok((mut nodes, root)) = print_all(instances(Form::Dense), linked) else {
                unreachable!("dense cotangents need no supports")
            };
            dense::wrap(typed, &locals[0], &root.name, shapes, &mut nodes);
            nodes
        }
    };
    Ok(with_needed(linked, &nodes))
}

/// Prints the instances that carry cotangents, callees first; the callees of a node are in reverse order, in
/// which cotangents reach them.
fn print_all(mut instances: Instances<'_>, linked: &Linked) -> Result<(Nodes, Derived), NotClosed> {
    let mut nodes = Nodes::default();
    nodes.reserve(linked.nodes.iter().map(|node| node.name.clone()));
    let mut todo = vec![(0, false)];
    while let Some((instance, callees_are_done)) = todo.pop() {
        if callees_are_done {
            let derived = print_instance(&instances, instance, &mut nodes)?;
            instances.derived[instance] = Some(derived);
        } else {
            todo.push((instance, true));
            todo.extend(instances.transpose(instance).into_iter().map(|callee| (callee, false)));
        }
    }
    let root = instances.derived[0].take().expect("the outermost node is printed last");
    Ok((nodes, root))
}

/// The printed nodes, after the nodes that they call and the woven ones that they derive from.
fn with_needed(linked: &Linked, nodes: &Nodes) -> String {
    let mut text: String = String::new();
    let mut needed = nodes.called();
    // Callees come first in the list, so the reverse order visits callers before their callees.
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
