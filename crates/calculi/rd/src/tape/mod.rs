//! The tape engine (section 12): flat code, flat values, Wengert tapes; no term or trace is built.
//!
//! * [`code`]: the instructions. A value is its reals in consecutive slots of a frame, so pairs, projections
//!   and lets cost nothing; the rest is arithmetic on reals, branches, calls and derivatives.
//! * [`compile`](mod@compile): from terms to instructions, with [`arithmetic`] and [`place`].
//! * [`limits`]: limited recursion as hidden parameters.
//! * [`link`]: code that grows function by function.
//! * [`machine`]: the interpreter. Frames live in one growing stack, tail calls reuse theirs.
//! * [`record`]: the tapes, one for each active derivative, and their backward sweep.
//!
//! A nested derivative has its own tape. A real stores the innermost tape that it depends on; an operation
//! records itself there and, through the primals of its operands, on every tape below. The backward sweep
//! multiplies numbers of the tapes below, and so is itself recorded there: this gives derivatives of every
//! order without confusing perturbations.

mod arithmetic;
pub mod code;
mod compile;
mod limits;
mod link;
mod machine;
mod place;
mod record;

use crate::outcome::{Counters, Limits, Outcome, Ties};
use crate::syntax::{Program, VarId};
use crate::value::Value;

pub use link::{Linker, compile};
pub use machine::{Machine, Step};

/// Runs a program. Under `use clarke`, `main` is the variable of the main derivative and a place for the
/// value of its body.
pub fn run(
    program: &Program,
    limits: Limits,
    ties: &mut Ties,
    main: Option<(VarId, &mut Option<Value>)>,
) -> (Outcome, Counters) {
    let code = compile(program, main.as_ref().map(|(var, _)| *var));
    execute(program, &code, limits, ties, main.map(|(_, body)| body))
}

/// Runs compiled code of a program.
pub fn execute(
    program: &Program,
    code: &code::Code,
    limits: Limits,
    ties: &mut Ties,
    body: Option<&mut Option<Value>>,
) -> (Outcome, Counters) {
    let mut machine = Machine::new(limits, std::mem::take(ties));
    let outcome = match machine.run(code) {
        Ok(Step::Missing(_)) => unreachable!("the whole program is linked"),
        Ok(Step::Finished(leaves)) => {
            let types = &program.terms.types;
            if let (Some(slot), Some(leaves), Some(ty)) = (body, machine.main_body(), code.main_body_type) {
                *slot = Some(Value::from_leaves(types, ty, &leaves));
            }
            Outcome::Value(Value::from_leaves(types, program.terms.ty(program.main), &leaves))
        }
        Err(stop) => stop.into(),
    };
    let counters = machine.counters();
    *ties = machine.into_ties();
    (outcome, counters)
}
