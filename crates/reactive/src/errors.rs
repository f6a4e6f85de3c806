//! What is said when a program stops while it runs, or asks for something that is not there.

use eddy_syntax::suggest::nearest;
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{EvalError, Op};

use crate::codes;
use crate::engine::Failure;
use crate::flow::{Equation, Flow, Kind};
use crate::kahn;
use crate::simulate::{self, Contradiction};

/// An operation has no value.
pub fn operation(flow: &Flow, equation: usize, cycle: u64, error: EvalError) -> Diagnostic {
    let Equation { out, span, .. } = flow.equations[equation];
    let title = format!("{error} at cycle {cycle} in {}", flow.labels().subject(out, "'"));
    let diagnostic = flow.in_instances(equation, Diagnostic::error(codes::ARITHMETIC, span, title));
    match (error, &flow.equations[equation].kind) {
        (EvalError::OnehotOutOfRange { .. }, Kind::Apply(Op::Onehot(n), _)) => diagnostic.reason(match n {
            0 => "`onehot(0, i)` has no places".to_string(),
            n => format!("`onehot({n}, i)` has the places 0 to {}", n - 1),
        }),
        _ => diagnostic,
    }
}

/// Streams were not there together.
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
            let (is, must_be) = if is_there { ("there", "absent") } else { ("absent", "there") };
            let reason = format!("{name} is {is} at cycle {cycle}, where {what} needs it to be {must_be}");
            if needs.span == diagnostic.primary.span {
                diagnostic.reason(reason)
            } else {
                diagnostic.cause(needs.span, format!("needs {name} to be {must_be}")).reason(reason)
            }
        }
        None => {
            diagnostic.reason("the inputs are not there at the cycles that the clocks of the program need")
        }
    };
    diagnostic.help("`eddy check` prints the clock of each input")
}

/// A simulation stopped.
pub fn simulation(flow: &Flow, failure: &simulate::Failure) -> Diagnostic {
    match failure {
        simulate::Failure::Operation { equation, cycle, error } => operation(flow, *equation, *cycle, *error),
        simulate::Failure::Window { cycle, var, limit } => {
            let label = flow.labels().subject(*var, "'");
            let title =
                format!("more than {limit} cycles are open: {label} is still unknown at cycle {cycle}");
            Diagnostic::error(codes::WINDOW, flow.var(*var).span, title)
                .reason("`--max-window` bounds how far the program may look ahead")
        }
    }
}

/// A run that cannot go on.
pub fn run(flow: &Flow, failure: &Failure) -> Diagnostic {
    match failure {
        Failure::Simulation(failure) => simulation(flow, failure),
        Failure::Synchronisation(cycle, equation, contradiction) => {
            synchronisation(flow, *equation, *cycle, *contradiction)
        }
    }
}

/// Lists have no such program.
pub fn kahn(flow: &Flow, failure: &kahn::Failure) -> Diagnostic {
    match failure {
        kahn::Failure::FbyBack { equation } => {
            let title = "`fby back` has no Kahn semantics: lists have no end to start from";
            Diagnostic::error(codes::UNSUPPORTED, flow.equations[*equation].span, title)
                .help("run it with the semantics A or B")
        }
        kahn::Failure::Operation { equation, position, error } => {
            operation(flow, *equation, *position as u64, *error)
        }
    }
}

/// A stream that is to be shown is not there.
pub fn unknown_stream(flow: &Flow, name: &str, span: Span) -> Diagnostic {
    let diagnostic = Diagnostic::error(codes::UNKNOWN_VARIABLE, span, format!("unknown variable `{name}`"));
    let known = || flow.vars.iter().filter_map(|var| var.name.as_deref());
    let in_instance = known().find(|path| path.rsplit('/').next() == Some(name));
    match in_instance.or_else(|| nearest(name, known())) {
        Some(meant) => diagnostic.suggest(span, meant),
        None => diagnostic.help("streams of instances are written with their path, such as `f#1/x`"),
    }
}
