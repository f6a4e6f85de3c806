//! The fast engine (section 9), observationally equal to the reference.
//!
//! * [`code`] and [`compile`](mod@compile): flat code with slots instead of terms with substitution.
//! * [`heap`] and [`layout`]: values, and how those of each type are kept.
//! * [`machine`]: runs code; calls, pullbacks and contractions wait on a stack of frames.
//! * [`tape`]: numbers with the history that pullbacks want; [`track`]: lifting to a tape, and the backward sweep.
//! * [`contract`]: covectors meet vectors; [`forward`]: `J s·t`.
//!
//! The environment tuple of rule 8 is never built, each `let` has its slot; rule 20a is an addition to the adjoint of an operand, and the dual maps of a let series are
//! one walk back over the tape. Cotangents of function types are lists of calls, as the specification proposes; one case does not fit them and is left to the
//! reference engine ([`machine::Halt::Exotic`]).

pub mod code;
pub mod compile;
pub mod contract;
pub mod forward;
pub mod heap;
pub mod layout;
pub mod machine;
pub mod tape;
pub mod track;

use crate::eval::{self, Unobserved};
use crate::outcome::{Counters, Limits, Outcome};
use crate::syntax::Program;
use crate::types::Types;
use code::Code;
use machine::Halt;

/// The code of a closed program that has a main expression.
pub fn compile(program: &Program) -> Code {
    let main = program.main.expect("whoever runs a program has looked for its main expression");
    compile::compile(&program.terms, main)
}

/// Runs compiled code; `None` if it needs a cotangent that this engine cannot represent.
pub fn execute(program: &Program, code: &Code, limits: Limits) -> Option<(Outcome, Counters, Types)> {
    let main = program.main.expect("whoever runs a program has looked for its main expression");
    let types = program.terms.types.clone();
    let (result, mut machine) = machine::run(code, &program.terms.primitives, types, limits);
    let outcome = match result {
        Ok(value) => Outcome::Value(machine.answer(value, program.terms.ty(main))),
        Err(Halt::Stopped(stop)) => Outcome::Stopped(stop),
        Err(Halt::Exotic) => return None,
    };
    let (counters, types) = machine.finish();
    Some((outcome, counters, types))
}

/// Runs a program. Open programs, and the one case that does not fit, are run by the reference engine.
pub fn run(program: &Program, limits: Limits) -> (Outcome, Counters, Types) {
    let fitting = (!program.is_open).then(|| execute(program, &compile(program), limits)).flatten();
    fitting.unwrap_or_else(|| {
        let (outcome, counters, terms) = eval::run(program, limits, &mut Unobserved);
        (outcome, counters, terms.types)
    })
}
