//! The fast engine (section 9), observationally equal to the reference.
//!
//! * [`code`] and [`compile`](mod@compile): flat code with slots instead of terms with substitution.
//! * [`heap`] and [`layout`]: values, and the layouts of types.
//! * [`machine`]: runs code; calls, pullbacks and contractions wait on a stack of [`frame`]s.
//! * [`tape`]: numbers with their history; [`track`]: lifting to a tape, and the backward sweep.
//! * [`contract`]: contractions of covectors and vectors; [`forward`]: `J s·t`; [`lazy`]: cotangents that are
//!   not lists of calls.
//!
//! The environment tuple of rule 8 is never built, because each `let` has its own slot; rule 20a is an
//! addition to the adjoint of an operand, and the dual maps of a let series are one backward sweep over the
//! tape. Cotangents of function types are lists of calls, as the specification proposes; where lists do not
//! suffice, [`lazy`] cotangents replace them.

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
    let main = program.main.expect("the caller checked that there is a main expression");
    compile::compile(&program.terms, main)
}

pub fn execute(program: &Program, code: &Code, limits: Limits) -> (Outcome, Counters, Types) {
    let main = program.main.expect("the caller checked that there is a main expression");
    let types = program.terms.types.clone();
    let (result, mut machine) = machine::run(code, &program.terms.primitives, types, limits);
    let outcome = match result {
        Ok(value) => Outcome::Value(machine.answer(value, program.terms.ty(main))),
        Err(Halt::Stopped(stop)) => Outcome::Stopped(stop),
        Err(Halt::UntrackableCall(_)) => unreachable!("the machine restarts the owner of the level"),
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
