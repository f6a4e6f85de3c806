//! Diagnostics about programs that fail while they run, and about unknown streams.

use eddy_syntax::suggest::nearest;
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{CallFailure, EvalError, Op};

use crate::codes;
use crate::flow::{Contract, Equation, Flow, Kind, in_instances};
use crate::semantics::kahn;
use crate::semantics::simulate::{self, Contradiction};

/// An operation has no value.
pub fn operation(flow: &Flow, equation: usize, cycle: u64, error: EvalError) -> Diagnostic {
    let Equation { out, span, .. } = flow.equations[equation];
    if let Some(contract) = flow.contracts.iter().find(|contract| contract.var == out) {
        return violation(flow, equation, cycle, contract);
    }
    if let (EvalError::Function(number), Kind::Apply(op, _)) = (error, &flow.equations[equation].kind)
        && let Op::Call(call) = op.applied()
    {
        let CallFailure { message, place } = call.callee().failure(number);
        let title = format!("{message} at cycle {cycle} in `{}`", call.callee().name());
        let diagnostic = flow.in_instances(equation, Diagnostic::error(codes::ARITHMETIC, span, title));
        let place = Span { start: place.start, end: place.end };
        return if place == Span::default() {
            diagnostic
        } else {
            diagnostic.cause(place, "it happens here")
        };
    }
    let title = format!("{error} at cycle {cycle} in {}", flow.labels().subject(out, "'"));
    let diagnostic = flow.in_instances(equation, Diagnostic::error(codes::ARITHMETIC, span, title));
    match (error, &flow.equations[equation].kind) {
        (EvalError::OnehotOutOfRange { .. }, Kind::Apply(Op::Onehot(n), _)) => diagnostic.reason(match n {
            0 => "`onehot(0, i)` has no elements".to_string(),
            n => format!("`onehot({n}, i)` has the elements 0 to {}", n - 1),
        }),
        (EvalError::RowOutOfRange { .. }, Kind::Apply(Op::Row, operands)) => {
            let label = flow.labels().label(operands[0]);
            let n = flow.var(operands[0]).ty.shape[0];
            let title = match n {
                1 => format!("{error}: {label} has 1 row (cycle {cycle})"),
                n => format!("{error}: {label} has {n} rows (cycle {cycle})"),
            };
            Diagnostic { title, ..diagnostic }
                .help("both branches of an `if` are computed: choose the index, not the result")
        }
        _ => diagnostic,
    }
}

/// A contract does not hold. The caller of a node owes what the node assumes.
fn violation(flow: &Flow, equation: usize, cycle: u64, contract: &Contract) -> Diagnostic {
    let Contract { is_assumption, message, span, .. } = contract;
    let what = if *is_assumption { "assumption violated" } else { "assertion failed" };
    let title = format!("{what} at cycle {cycle}: {message}");
    let caller = flow.equations[equation].call.map(|call| &flow.calls[call]).filter(|_| *is_assumption);
    match caller {
        Some(caller) => {
            let diagnostic = Diagnostic::error(codes::CONTRACT, caller.span, title);
            let diagnostic = diagnostic.cause(*span, "assumed here");
            in_instances(&flow.calls, caller.within, diagnostic)
        }
        None => flow.in_instances(equation, Diagnostic::error(codes::CONTRACT, *span, title)),
    }
}

/// Streams of one operation are not present at the same cycles.
pub fn synchronisation(
    flow: &Flow,
    equation: usize,
    cycle: u64,
    contradiction: Option<Contradiction>,
) -> Diagnostic {
    let Equation { out, span, .. } = flow.equations[equation];
    let labels = flow.labels();
    let title = format!("synchronisation error at cycle {cycle} in {}", labels.subject(out, "'"));
    let diagnostic = flow.in_instances(equation, Diagnostic::error(codes::SYNCHRONISATION, span, title));
    let diagnostic = match contradiction {
        Some(Contradiction { cycle, var, is_there, equation }) => {
            let (name, needs) = (labels.subject(var, "`"), &flow.equations[equation]);
            let what = labels.subject(needs.out, "`");
            let (is, must_be) = if is_there { ("present", "absent") } else { ("absent", "present") };
            let reason = format!("{name} is {is} at cycle {cycle}, but {what} needs it to be {must_be}");
            if needs.span == diagnostic.primary.span {
                diagnostic.reason(reason)
            } else {
                diagnostic.cause(needs.span, format!("needs {name} to be {must_be}")).reason(reason)
            }
        }
        None => diagnostic
            .reason("the inputs are not present at the cycles that the clocks of the program require"),
    };
    diagnostic.help("`eddy check` prints the clock of each input")
}

/// A simulation stopped.
pub fn simulation(flow: &Flow, failure: &simulate::SimulationError) -> Diagnostic {
    match failure {
        simulate::SimulationError::Operation { equation, cycle, error } => {
            operation(flow, *equation, *cycle, *error)
        }
        simulate::SimulationError::Window { cycle, var, limit } => {
            let label = flow.labels().subject(*var, "'");
            let title =
                format!("more than {limit} cycles are open: {label} is still unknown at cycle {cycle}");
            Diagnostic::error(codes::WINDOW, flow.var(*var).span, title)
                .reason("`--max-window` bounds how far the program may look ahead")
        }
    }
}

/// A program without Kahn semantics.
pub fn kahn(flow: &Flow, failure: &kahn::KahnError) -> Diagnostic {
    match failure {
        kahn::KahnError::FbyBack { equation } => {
            let title = "`fby back` has no Kahn semantics: lists have no end to start from";
            Diagnostic::error(codes::UNSUPPORTED, flow.equations[*equation].span, title)
                .help("run it with the semantics A or B")
        }
        kahn::KahnError::Operation { equation, position, error } => {
            operation(flow, *equation, *position as u64, *error)
        }
    }
}

/// A stream to show does not exist.
pub fn unknown_stream(flow: &Flow, name: &str, span: Span) -> Diagnostic {
    let diagnostic = Diagnostic::error(codes::UNKNOWN_VARIABLE, span, format!("unknown variable `{name}`"));
    let known = || flow.vars.iter().filter_map(|var| var.name.as_deref());
    let in_instance = known().find(|path| path.rsplit('/').next() == Some(name));
    match in_instance.or_else(|| nearest(name, known())) {
        Some(meant) => diagnostic.suggest(span, meant),
        None => diagnostic.help("streams of instances are written with their path, such as `f#1/x`"),
    }
}
