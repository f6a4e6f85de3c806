//! `rd` and functions: values, and derivatives that are written in either language.

use eddy_language::kernels::Kernel;
use eddy_rd::engine::{Engine, run};
use eddy_rd::outcome::{Limits, Outcome};
use eddy_syntax::SourceFile;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};

use crate::generate_rd::{Generator, Ty};
use crate::harness::{MAX_CHOICES, Trial, Verdict, law, same};

/// Enough for every recursion whose argument is not large.
const LIMITS: Limits = Limits { fuel: 100, memory: 1 << 30 };

#[test]
fn a_program_is_its_translation() {
    rd_law("rd: value", 1500, |generator| generator.program().0);
}

#[test]
fn reverse_derivatives_are_vjp() {
    rd_law("rd: rd", 700, |generator| derivative(generator, "rd"));
}

#[test]
fn forward_derivatives_are_jvp() {
    rd_law("rd: fd", 700, |generator| derivative(generator, "fd"));
}

#[test]
fn gradients_are_grad() {
    rd_law("rd: grad", 700, |generator| {
        let ty = generator.smooth_type();
        let (point, real) = (generator.value(&ty), Ty::Real);
        let body = generator.open_term(&[("x", &ty)], 1, &real);
        format!("grad[{point}](x:{}. {body})", ty.show())
    });
}

/// `W.rd[V](x:T. N)` or `W.fd[V](x:T. N)`.
fn derivative(generator: &mut Generator<'_>, operator: &str) -> String {
    let (ty, result) = (generator.smooth_type(), generator.smooth_type());
    let (point, direction) =
        (generator.value(&ty), generator.value(if operator == "rd" { &result } else { &ty }));
    let body = generator.open_term(&[("x", &ty)], 1, &result);
    format!("{direction}.{operator}[{point}](x:{}. {body})", ty.show())
}

fn rd_law(name: &'static str, cases: u32, sample: impl Fn(&mut Generator<'_>) -> String + 'static) {
    let samples =
        vec(any::<u16>(), 0..MAX_CHOICES).prop_map(move |choices| sample(&mut Generator::new(&choices)));
    law(name, cases, &samples, |text| agrees(text));
}

fn agrees(text: &str) -> Trial {
    let program = eddy_rd::typing::check(&SourceFile::new("law.rd", text))
        .map_err(|found| format!("not accepted: {}\n{text}", found[0].title))?;
    match run(&program, Engine::Reference, LIMITS).outcome {
        Outcome::Value(value) => same(Kernel::Rd, text, &value.leaves()),
        Outcome::Undefined(_) => Ok(Verdict::Vacuous("undefined")),
        Outcome::Diverged | Outcome::OutOfMemory => Ok(Verdict::Vacuous("diverged")),
        Outcome::Interval(..) => unreachable!("the generator writes no `use clarke`"),
    }
}
