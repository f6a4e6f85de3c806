//! The requests about a program, and their answers.
//!
//! A request is plain data with a method `answer`. For a program that is refused, the answer is its
//! diagnostics. Answers are data too, and print as `eddy` shows them.
//!
//! ```
//! use eddy_rd::outcome::Outcome;
//! use eddy_rd::requests::{Check, Run};
//! use eddy_syntax::SourceFile;
//!
//! let file = SourceFile::new("square.rd", "grad[3](x. x * x)");
//! assert_eq!(Check.answer(&file).unwrap().to_string(), "real");
//! let report = Run { engine: "reference".parse().unwrap(), ..Run::default() }.answer(&file).unwrap();
//! assert!(matches!(report.outcome, Outcome::Value(value) if value.real() == 6.0));
//! ```

use std::fmt::{self, Write};

use eddy_syntax::{Diagnostic, SourceFile};

use crate::denote::{Denotation, denote};
use crate::engine::{self, Engine, Report};
use crate::outcome::{Counters, Limits};
use crate::surface::{ExprKind, Recursion};
use crate::syntax::{Program, Term};
use crate::trace::{self, TraceOptions};
use crate::transform::{self, NotTransformable};
use crate::{codes, parse, typing};

/// What is the type of the program?
#[derive(Clone, Copy, Debug, Default)]
pub struct Check;

/// What is its value?
#[derive(Clone, Copy, Debug, Default)]
pub struct Run {
    /// The evaluator.
    pub engine: Engine,
    /// The limits of the run.
    pub limits: Limits,
    /// Replace each recursion by this approximant.
    pub approximant: Option<u32>,
}

/// What is its value, on every engine that can run it?
#[derive(Clone, Copy, Debug, Default)]
pub struct Compare {
    /// The limits of each run.
    pub limits: Limits,
}

/// Which steps lead to its value? Only the reference engine has traces.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trace {
    /// The parts to show.
    pub show: TraceOptions,
    /// The limits of the run.
    pub limits: Limits,
    /// Replace each recursion by this approximant.
    pub approximant: Option<u32>,
}

/// A program that is well typed. It prints as its type.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The program, as core terms.
    pub program: Program,
}

/// The answers of the engines.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The engines by their names, the default first.
    pub reports: Vec<(&'static str, Report)>,
}

/// A program that is ready to be traced.
#[derive(Clone, Debug)]
pub struct Traced {
    program: Program,
    show: TraceOptions,
    limits: Limits,
}

impl Check {
    /// The program with its type.
    pub fn answer(self, file: &SourceFile) -> Result<Checked, Vec<Diagnostic>> {
        Ok(Checked { program: typing::check(file)? })
    }
}

impl Run {
    /// The value, or why there is none.
    pub fn answer(self, file: &SourceFile) -> Result<Report, Vec<Diagnostic>> {
        let program = prepare(file, self.approximant)?;
        if self.engine == Engine::Transform
            && let Some(not_transformable) = transform::not_transformable(&program)
        {
            return Err(vec![cannot_transform(file, not_transformable)]);
        }
        Ok(engine::run(&program, self.engine, self.limits))
    }
}

impl Compare {
    /// A report for each engine, and for the denotation if its recursive evaluator has enough stack.
    pub fn answer(self, file: &SourceFile) -> Result<Compared, Vec<Diagnostic>> {
        let program = prepare(file, None)?;
        let can_run = |engine: &Engine| {
            *engine != Engine::Transform || transform::not_transformable(&program).is_none()
        };
        let engines = Engine::ALL.into_iter().filter(can_run);
        let mut reports: Vec<_> =
            engines.map(|engine| (engine.name(), engine::run(&program, engine, self.limits))).collect();
        let n_calls = reports[0].1.counters.calls;
        if !program.clarke && nests_little(&program, n_calls) {
            let Denotation { outcome, calls, .. } =
                denote(&program.terms, &[], program.main, self.limits.fuel);
            let counters = Counters { calls, ..Counters::default() };
            reports.push(("denote", Report { outcome, counters, limits: self.limits }));
        }
        Ok(Compared { reports })
    }
}

/// Whether the denotational evaluator, which recurses natively, certainly has enough stack for a program that
/// makes this number of calls.
fn nests_little(program: &Program, n_calls: u64) -> bool {
    // Its frames take some kilobytes in a debug build, and a thread of tests has two megabytes.
    const MAX_NESTING: u64 = 400;
    let (terms, mut deepest, mut work) = (&program.terms, 0, vec![(program.main, 1)]);
    let mut parts = Vec::new();
    while let Some((id, depth)) = work.pop() {
        deepest = deepest.max(depth);
        if deepest > MAX_NESTING {
            return false;
        }
        if let Term::Letrec { function, .. } = terms.term(id) {
            work.push((terms.body(function), 1));
        }
        terms.push_children(id, &mut parts);
        work.extend(parts.drain(..).map(|part| (part, depth + 1)));
    }
    deepest.saturating_mul(n_calls.saturating_add(1)) <= MAX_NESTING
}

impl Trace {
    /// The program, which runs when its trace is written.
    pub fn answer(self, file: &SourceFile) -> Result<Traced, Vec<Diagnostic>> {
        let program = prepare(file, self.approximant)?;
        Ok(Traced { program, show: self.show, limits: self.limits })
    }
}

impl Traced {
    /// Runs the program, and writes each line of its trace as soon as the line is known. Fails only if `out`
    /// fails.
    pub fn write(&self, out: &mut dyn Write) -> Result<Report, fmt::Error> {
        trace::trace(&self.program, self.limits, self.show, out)
    }
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let terms = &self.program.terms;
        write!(f, "{}", terms.types.show(terms.ty(self.program.main)))
    }
}

/// Checks a program and replaces recursion by its approximant if that is requested.
fn prepare(file: &SourceFile, approximant: Option<u32>) -> Result<Program, Vec<Diagnostic>> {
    let mut program = typing::check(file)?;
    if let Some(limit) = approximant {
        program.terms.approximate(limit);
    }
    Ok(program)
}

/// The diagnostic for a program that cannot be transformed, at the definition or directive that is the
/// reason.
fn cannot_transform(file: &SourceFile, not_transformable: NotTransformable) -> Diagnostic {
    let program = parse::parse(file).program;
    let help = "run it with `--engine tape`, which handles every program";
    if not_transformable == NotTransformable::Clarke {
        let span = program.directives.first().expect("the program says `use clarke`").span;
        let title = "a derivative under `use clarke` cannot be transformed";
        return Diagnostic::error(codes::TRANSFORM, span, title)
            .reason("the choice at a tie would have to be repeated wherever the tie is computed again")
            .help(help);
    }
    let heads = program.exprs.ids().filter_map(|id| match program.exprs.kind(id) {
        ExprKind::Function(head, ..) => Some(head),
        _ => None,
    });
    // If no function has a limit of its own, `--approx` has limited all of them, and the last one is
    // reported.
    let limited = heads.max_by_key(|head| matches!(head.recursion, Recursion::Limited(_)));
    let span = limited.expect("only functions have limits").ident.span;
    Diagnostic::error(codes::TRANSFORM, span, "letrec[n] cannot be transformed")
        .label("the recursion of this function is limited")
        .reason("its reverse would need the function itself at limit n-1")
        .help(help)
}
