//! The fast engine (section 9), observationally equal to the reference.
//!
//! * [`code`] and [`compile`](mod@compile): flat code with slots instead of terms with substitution.
//! * [`heap`] and [`layout`]: values, and how those of each type are kept.
//! * [`machine`]: runs code; calls, pullbacks and contractions wait on a stack of [`frame`]s.
//! * [`tape`]: numbers with the history that pullbacks want; [`track`]: lifting to a tape, and the backward sweep.
//! * [`contract`]: covectors meet vectors; [`forward`]: `J s·t`; [`lazy`]: cotangents that are no lists of calls.
//!
//! The environment tuple of rule 8 is never built, each `let` has its slot; rule 20a is an addition to the adjoint of an operand, and the dual maps of a let series are
//! one walk back over the tape. Cotangents of function types are lists of calls, as the specification proposes; where these do not suffice, [`lazy`] ones take over.

pub mod code;
pub mod compile;
pub mod contract;
pub mod forward;
pub mod frame;
pub mod heap;
pub mod layout;
pub mod lazy;
pub mod machine;
pub mod tape;
pub mod track;

use crate::eval::{self, Unobserved};
use crate::outcome::{Counters, Limits, Outcome};
use crate::syntax::Program;
use crate::types::Types;
use code::Code;
use frame::Halt;

/// The code of a closed program that has a main expression.
pub fn compile(program: &Program) -> Code {
    let main = program.main.expect("whoever runs a program has looked for its main expression");
    compile::compile(&program.terms, main)
}

/// Runs compiled code.
pub fn execute(program: &Program, code: &Code, limits: Limits) -> (Outcome, Counters, Types) {
    let main = program.main.expect("whoever runs a program has looked for its main expression");
    let types = program.terms.types.clone();
    let (result, mut machine) = machine::run(code, &program.terms.primitives, types, limits);
    let outcome = match result {
        Ok(value) => Outcome::Value(machine.answer(value, program.terms.ty(main))),
        Err(Halt::Stopped(stop)) => Outcome::Stopped(stop),
        Err(Halt::Exotic(_)) => unreachable!("the machine starts again where that happens"),
    };
    let (counters, types) = machine.finish();
    (outcome, counters, types)
}

/// Runs a program. Open programs, whose values are terms, are run by the reference engine.
pub fn run(program: &Program, limits: Limits) -> (Outcome, Counters, Types) {
    if program.is_open {
        let (outcome, counters, terms) = eval::run(program, limits, &mut Unobserved);
        return (outcome, counters, terms.types);
    }
    execute(program, &compile(program), limits)
}
