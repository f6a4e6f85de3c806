//! Errors about names, calls and callables in nodes.

use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Arity, Builtin, StaticKind};

use super::arguments::{Misbound, Source};
use super::body::Context;
use super::inputs::Inputs;
use crate::codes;
use crate::program::{Base, Callable, Callee, Node, Slot};
use crate::tree::ExprId;

/// The error about `g + x`, where `g` is a node or a function.
pub(super) fn callee_used_as_stream(callee: &Callee, diagnostic: Diagnostic, nodes: &[Node]) -> Diagnostic {
    let (what, name, inputs) = match callee {
        Callee::Instance(Callable { base: Base::Node(node), .. }) => {
            let node = &nodes[node.index()];
            let inputs: Vec<&str> = node.inputs().iter().map(|slot| slot.name.as_str()).collect();
            ("a node", node.name.as_str(), inputs.join(", "))
        }
        Callee::Instance(_) => ("a node", "…", "…".to_string()),
        Callee::Applied(..) => ("a function", "…", "…".to_string()),
        Callee::Function(builtin) => ("a function", builtin.name(), "…".to_string()),
        Callee::Initialiser(initialiser) => ("a function", initialiser.name(), "…".to_string()),
        Callee::Param => ("a function", "param", "…".to_string()),
        Callee::AllSum => ("a function", "all_sum", "…".to_string()),
    };
    let diagnostic = Diagnostic { help: None, ..diagnostic };
    diagnostic
        .label(format!("this is {what}, not a stream"))
        .help(format!("give it its arguments: `{name}({inputs})`"))
}

/// The error about `e + x`, where `e` is a `let` or an input that is a node.
pub(super) fn callable_used_as_stream(diagnostic: Diagnostic, name: &str) -> Diagnostic {
    Diagnostic { help: None, ..diagnostic }
        .label("this is a node or a function, not a stream")
        .help(format!("give it its arguments: `{name}(…)`"))
}

/// The error about `g(x)`, where `g` is a stream.
pub(super) fn stream_used_as_callee(name: &str, declared: Option<&Slot>, span: Span) -> Diagnostic {
    let diagnostic =
        Diagnostic::error(codes::UNKNOWN_CALLEE, span, format!("unknown node or function `{name}`"))
            .label("this is a stream, which cannot be called");
    let diagnostic = match declared {
        Some(slot) => diagnostic.cause(slot.span, format!("`{name}` is declared here")),
        None => diagnostic,
    };
    diagnostic.help(format!("a product is written `{name} * x`, an item of a tensor `{name}[0]`"))
}

/// The error about `twice(x, x)`, where a node is needed.
pub(super) fn not_callable(span: Span) -> Diagnostic {
    Diagnostic::error(codes::ARGUMENT, span, "a node or function is needed")
        .help("give its name, some of its arguments, or a function without a name: `tanh`, `dense(8, 4)`, `\\x. 2.0 * x`")
}

/// The error about `let y = x + 1.0;`.
pub(super) fn let_of_stream(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(codes::ARGUMENT, span, "a node or function is needed")
        .reason("a `let` names a node whose calls share their parameters")
        .help(format!("an equation is written without `let`: `{name} = …;`"))
}

/// The error about `let y = f(2.0, x);`, where `f` has no further inputs.
pub(super) fn nothing_left(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(codes::ARGUMENT, span, "nothing left to apply")
        .label(format!("`{name}` has all its inputs"))
        .help(format!("write the equation: `y = {name}(…);`"))
}

/// The error about `loop`, `scan` and `fold … while` in a node.
pub(super) fn loop_in_node(span: Span) -> Diagnostic {
    Diagnostic::error(codes::SYNTAX, span, "nodes have no loops of this kind")
        .help("a node has `fold h = z for i < n do e`; other loops stand in functions, `fn f(x) = …;`")
}

/// The error about a range that only functions have.
pub(super) fn range(span: Span, reason: &str) -> Diagnostic {
    Diagnostic::error(codes::SYNTAX, span, "nodes have no ranges of this kind")
        .reason(reason)
        .help("other ranges stand in functions, `fn f(x) = …;`")
}

/// The error about a pattern in a lambda or a `fold` of a node.
pub(super) fn pattern(span: Span) -> Diagnostic {
    Diagnostic::error(codes::SYNTAX, span, "a name is needed here")
        .reason("in nodes, lambdas and folds bind names of streams")
}

/// The error about arguments that do not fit the inputs of a callee.
pub(super) fn misbound(
    context: &Context<'_>,
    name: &str,
    callee: &Callee,
    inputs: &Inputs<'_>,
    bound: &Result<Vec<Source>, Misbound>,
    written: &[(Option<String>, ExprId)],
    span: Span,
) -> Diagnostic {
    let exprs = &context.module.tree.exprs;
    let named =
        |number: usize| (written[number].0.as_deref().unwrap_or_default(), exprs.at(written[number].1));
    let diagnostic = match bound {
        Err(Misbound::NoInput(number)) => {
            let (argument, at) = named(*number);
            let title = format!("`{name}` has no input named `{argument}`");
            let diagnostic = Diagnostic::error(codes::ARITY, at, title);
            return match eddy_syntax::suggest::nearest(argument, inputs.names()) {
                Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
                None => with_inputs(diagnostic, context, callee, inputs),
            };
        }
        Err(Misbound::GivenTwice(number)) => {
            let (argument, at) = named(*number);
            let title = format!("the input `{argument}` of `{name}` is given twice");
            Diagnostic::error(codes::ARITY, at, title)
        }
        Err(Misbound::TooMany) | Ok(_) => {
            let n = written.len();
            let found = if n == 1 { "1 is".to_string() } else { format!("{n} are") };
            let expected = match inputs.arity() {
                (least, most) if least == most => arguments(least),
                (least, most) => format!("{least} to {}", arguments(most)),
            };
            Diagnostic::error(codes::ARITY, span, format!("`{name}` expects {expected}, but {found} given"))
        }
    };
    with_inputs(diagnostic, context, callee, inputs)
}

fn arguments(n: usize) -> String {
    format!("{n} argument{}", if n == 1 { "" } else { "s" })
}

/// Adds the declaration of the callee, and the form of a call.
fn with_inputs(
    diagnostic: Diagnostic,
    context: &Context<'_>,
    callee: &Callee,
    inputs: &Inputs<'_>,
) -> Diagnostic {
    match callee {
        Callee::Instance(Callable { base: Base::Node(node), modes }) if modes.is_empty() => {
            let node = &context.nodes[node.index()];
            diagnostic.cause(node.span, "declared here").help(call_form(node))
        }
        _ if inputs.len() > 0 => diagnostic.help(format!("its inputs are `({})`", inputs.names().join(", "))),
        _ => diagnostic,
    }
}

/// The error about a call of a function of the operation table, which takes arguments by position.
pub(super) fn wrong_operands(
    name: &str,
    callee: &Callee,
    written: &[(Option<String>, ExprId)],
    span: Span,
) -> Option<Diagnostic> {
    let expected = match callee {
        Callee::Function(builtin) if !builtin.accepts(written.len()) => Some(expected_arguments(*builtin)),
        Callee::Initialiser(_) | Callee::Param | Callee::AllSum if written.len() != 1 => Some(arguments(1)),
        Callee::Function(_) | Callee::Initialiser(_) | Callee::Param | Callee::AllSum => None,
        Callee::Instance(_) | Callee::Applied(..) => return None,
    };
    if let Some(argument) = written.iter().find_map(|(argument, _)| argument.as_deref()) {
        let title = format!("`{name}` has no input named `{argument}`");
        let diagnostic = Diagnostic::error(codes::ARITY, span, title);
        let help = match callee {
            Callee::Function(builtin) => {
                format!("operations take them by position: `{name}({})`", operands(*builtin))
            }
            _ => "operations take their arguments by position".to_string(),
        };
        return Some(diagnostic.help(help));
    }
    let found = if written.len() == 1 { "1 is".to_string() } else { format!("{} are", written.len()) };
    let title = format!("`{name}` expects {}, but {found} given", expected?);
    let diagnostic = Diagnostic::error(codes::ARITY, span, title);
    Some(if name == "max" { diagnostic.help(codes::LARGER_OF_TWO) } else { diagnostic })
}

/// The error about `_ = sink(x);`. Decision: a node without outputs cannot be instantiated, because an
/// instance could have no effect.
pub(super) fn without_outputs(diagnostic: Diagnostic) -> Diagnostic {
    diagnostic
        .reason("a node without outputs has no effect on its caller; it can only be run on its own")
        .help("remove the call, or give the node an output")
}

/// The form of a call of the node.
fn call_form(node: &Node) -> String {
    let inputs: Vec<&str> = node.inputs().iter().map(|slot| slot.name.as_str()).collect();
    format!("arguments go by position or by name: `{}({})`", node.name, inputs.join(", "))
}

/// `2 arguments`, `2 or 3 arguments`, `at least 1 argument`.
fn expected_arguments(builtin: Builtin) -> String {
    let (n, or_more) = match builtin.arity() {
        Arity::Exactly(n) => (n + builtin.n_leading(), false),
        Arity::AtLeast(n) => (n + builtin.n_leading(), true),
    };
    let plural = if n == 1 && !builtin.has_axis() { "" } else { "s" };
    match (or_more, builtin.has_axis()) {
        (true, _) => format!("at least {n} argument{plural}"),
        (false, true) => format!("{n} or {} argument{plural}", n + 1),
        (false, false) => format!("{n} argument{plural}"),
    }
}

/// The arguments of an operation, such as `n, m, x` for `slice`: constants, operands, and an axis if it has
/// one.
fn operands(builtin: Builtin) -> String {
    let sizes = builtin.statics().iter().filter(|kind| **kind == StaticKind::Size).count();
    let mut names: Vec<&str> = ["n", "m", "k"].into_iter().take(sizes).collect();
    names.extend(builtin.statics().contains(&StaticKind::Shape).then_some("shape"));
    let n_operands = match builtin.arity() {
        Arity::Exactly(n) => n,
        Arity::AtLeast(n) => n + 1,
    };
    names.extend(["x", "y", "z"].into_iter().take(n_operands));
    names.extend(matches!(builtin.arity(), Arity::AtLeast(_)).then_some("…"));
    names.extend(builtin.has_axis().then_some("axis"));
    names.join(", ")
}

/// The error about `x[i, lo..hi]` in a node.
pub(super) fn several_ranges(span: Span) -> Diagnostic {
    let title = "a node takes one range of rows at a time";
    Diagnostic::error(codes::SYNTAX, span, title).help("write `x[i][lo..hi]`, or a function, `fn f(x) = …;`")
}

/// The error about `last o` outside of a state machine.
pub(super) fn last_outside(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error(codes::AUTOMATON, span, "`last` is only in the states of an automaton")
        .help(format!("elsewhere it is a delay, which says its value at the first cycle: `init fby {name}`"))
}
