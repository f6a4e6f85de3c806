//! Programs without a printed form (section 9.5, limits).

use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Op, Scalar};
use rustc_hash::FxHashSet;

use super::Mismatch;
use super::link::calls;
use crate::clocks::{self, Clock};
use crate::codes;
use crate::flow::{Equation, Flow, Kind, VarId};
use crate::program::{Base, Callable, Callee, NodeId, Program, Reference};

/// Checks that a node or an `M_end` has a printed form: neither it nor a node that it instantiates is another
/// synthesised node, applies a function, reads a constant, has records, or has only a custom tangent.
pub(super) fn check(program: &Program, callable: &Callable) -> Result<(), Vec<Diagnostic>> {
    if !is_printable(callable) {
        return Err(vec![synthesised(program, callable, program.span_of(callable))]);
    }
    let root = program.origin(callable.base);
    let mut todo = vec![root];
    let mut seen: FxHashSet<NodeId> = FxHashSet::from_iter([root]);
    while let Some(node) = todo.pop() {
        let module = program.module_of(node);
        if let Some(diagnostic) = applied_function(program, node).or_else(|| expanded(program, node)) {
            return Err(vec![diagnostic]);
        }
        for (callable, expr) in calls(program, node) {
            if !is_printable(callable) {
                return Err(vec![synthesised(program, callable, module.tree.exprs.at(expr))]);
            }
            let origin = program.origin(callable.base);
            if let Some(diagnostic) = without_adjoint(program, origin, module.tree.exprs.at(expr)) {
                return Err(vec![diagnostic]);
            }
            if seen.insert(origin) {
                todo.push(origin);
            }
        }
    }
    Ok(())
}

/// Reports a node on several clocks: its `diff_N` samples `bp` for each clock, which has no printed form.
pub(super) fn several_clocks(
    program: &Program,
    callable: &Callable,
    flow: &Flow,
) -> Result<(), Vec<Diagnostic>> {
    let (clocks, definitions) = (clocks::infer(flow)?, flow.definitions());
    // A constant is present whenever it is needed.
    let is_constant = |var: VarId| {
        definitions[var.index()].is_some_and(|number| matches!(flow.equations[number].kind, Kind::Const(_)))
    };
    let ports = flow.inputs.iter().chain(&flow.outputs).copied();
    let mut nums = ports.filter(|var| flow.var(*var).ty.scalar == Scalar::Num && !is_constant(*var));
    let sampling = |var: VarId| {
        let (mut conditions, mut at) = (Vec::new(), clocks.of(var));
        while let Clock::On { of, condition, polarity } = clocks.clock(at) {
            conditions.push((condition, polarity));
            at = of;
        }
        conditions
    };
    let Some(first) = nums.next() else { return Ok(()) };
    let Some(other) = nums.find(|var| sampling(*var) != sampling(first)) else { return Ok(()) };
    let name = program.name_of(callable);
    let labels = flow.labels();
    let title = format!(
        "the training code of `{name}` has no printed form: `{}` and `{}` are on different clocks",
        labels.label(first),
        labels.label(other)
    );
    let diagnostic = Diagnostic::error(codes::NOT_PRINTED, flow.var(other).span, title)
        .reason("`bp` is sampled for each clock, which only the synthesised node does")
        .help(format!("the synthesised node can be run: `eddy run FILE --node diff_{name}`"));
    Err(vec![diagnostic])
}

/// Reports a node that takes a row at run time.
pub(super) fn rows_at_run_time(
    callable: &Callable,
    program: &Program,
    flow: &Flow,
) -> Result<(), Vec<Diagnostic>> {
    let is_row = |equation: &&Equation| matches!(equation.kind, Kind::Apply(Op::Row, _));
    let Some(equation) = flow.equations.iter().find(is_row) else { return Ok(()) };
    let name = program.name_of(callable);
    let title = format!("the training code of `{name}` has no printed form: it takes a row at run time");
    let diagnostic = Diagnostic::error(codes::NOT_PRINTED, equation.span, title)
        .reason("the cotangent of `x[i]` is a row among zeros, for which nodes have no function")
        .help(format!("the synthesised node can be run: `eddy run FILE --node diff_{name}`"));
    Err(vec![diagnostic])
}

/// The error when no printed form has the types and clocks of the synthesised node.
pub(super) fn mismatch(program: &Program, callable: &Callable, mismatch: &Mismatch) -> Diagnostic {
    let name = program.name_of(callable);
    let why = match mismatch {
        Mismatch::Refused(diagnostic) => diagnostic.title.clone(),
        Mismatch::Stream { name, printed, synthesised } => {
            format!("`{name}` would be {printed} instead of {synthesised}")
        }
    };
    let title = format!("the training code of `{name}` has no printed form: {why}");
    Diagnostic::error(codes::NOT_PRINTED, program.span_of(callable), title)
        .reason(
            "what `eddy diff` prints passes all checks and has the types and clocks of the synthesised node",
        )
        .help(format!("the synthesised node can be run: `eddy run FILE --node diff_{name}`"))
}

fn is_printable(callable: &Callable) -> bool {
    let is_printable = matches!(callable.base, Base::Node(_) | Base::Woven { cut: false, .. });
    is_printable && callable.modes.is_empty()
}

fn synthesised(program: &Program, callable: &Callable, span: Span) -> Diagnostic {
    let title = format!("`{}` is synthesised and has no source to differentiate", program.name_of(callable));
    Diagnostic::error(codes::NOT_PRINTED, span, title)
        .reason("`eddy diff` prints training code for nodes, and for `M_end`, whose source it writes first")
        .help("the synthesised node can be run: `eddy run FILE --node NAME`")
}

/// Reports a node that applies a function or reads a constant: the printed file contains only nodes.
fn applied_function(program: &Program, node: NodeId) -> Option<Diagnostic> {
    let module = program.module_of(node);
    let exprs = &module.tree.exprs;
    let mut todo: Vec<_> = program.node(node).equations.iter().rev().map(|equation| equation.value).collect();
    while let Some(expr) = todo.pop() {
        match &module.references[expr.index()] {
            Reference::Call { callee: Callee::Applied(..), .. } => {
                let title = "training code of a node that applies a function has no text";
                return Some(
                    Diagnostic::error(codes::NOT_PRINTED, exprs.at(expr), title)
                        .reason(
                            "`eddy diff` prints nodes only: the functions that they apply, and `adj_f`, which gives \
                             their cotangents, would be missing in that file",
                        )
                        .help(
                            "the derivative can be run: `eddy run FILE --node adj_NAME`; a node of your own can call \
                             `adj_f`: `y, dx = adj_f(x, dy);`",
                        ),
                );
            }
            Reference::Constant(_) => {
                let title = "training code of a node that reads a constant has no text";
                let diagnostic = Diagnostic::error(codes::NOT_PRINTED, exprs.at(expr), title);
                return Some(diagnostic.help("write its value, or make it an input of the node"));
            }
            _ => todo.extend(exprs.children(expr)),
        }
    }
    None
}

/// Reports a node with records or enumerations: its equations differ from the written ones, and their streams
/// have no names in the language.
fn expanded(program: &Program, node: NodeId) -> Option<Diagnostic> {
    let node = program.node(node);
    node.is_expanded.then(|| {
        let title = "training code of a node with records, enumerations, `let`s or copies has no text";
        Diagnostic::error(codes::NOT_PRINTED, node.span, title)
            .reason("what they stand for is differentiated: `eddy flow` shows it")
            .help("the derivative can be run: `eddy run FILE --node adj_NAME`")
    })
}

/// Reports a node whose only custom derivative is `tan_M`: printed code calls `adj_M`, and the transpose of
/// `tan_M` has no source.
fn without_adjoint(program: &Program, node: NodeId, span: Span) -> Option<Diagnostic> {
    let custom = program.customs.get(&node)?;
    let name = &program.node(node).name;
    let is_tangent_alone = custom.adjoint.is_none() && custom.tangent.is_some();
    is_tangent_alone.then(|| {
        let title =
            format!("`{name}` has only the custom derivative `tan_{name}`; its transpose is synthesised and has no source");
        Diagnostic::error(codes::NOT_PRINTED, span, title).help(format!("write `adj_{name}` too"))
    })
}
