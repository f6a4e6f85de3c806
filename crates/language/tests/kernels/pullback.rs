//! `pullback` and functions: values, and derivatives at numbers.

use eddy_language::kernels::Kernel;
use eddy_pullback::engine::{Engine, run};
use eddy_pullback::outcome::{Leaf, Limits, Outcome};
use eddy_syntax::SourceFile;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};

use crate::generate_pullback::{DEPTH, Generator, PRIMS, Ty};
use crate::harness::{MAX_CHOICES, Trial, Verdict, law, same};

#[test]
fn a_program_is_its_translation() {
    pullback_law("pullback: value", 1000, |generator| generator.program().0);
}

#[test]
fn pullbacks_are_vjp() {
    pullback_law("pullback: Ω", 500, |generator| {
        let body = generator.open_term(&[("x", Ty::Plane)], Ty::Plane, DEPTH);
        let form = generator.open_term(&[("y", Ty::Plane)], Ty::CoPlane, 1);
        let point = generator.open_term(&[], Ty::Plane, 1);
        format!("{PRIMS}(((Ω λx:R^2. {body}) · (\\y:R^2. {form})) {point})")
    });
}

#[test]
fn jacobians_and_gradients_are_operators() {
    pullback_law("pullback: jacobian, grad, vjp", 500, |generator| {
        let body = generator.open_term(&[("x", Ty::Plane)], Ty::Real, DEPTH);
        let point = generator.open_term(&[], Ty::Plane, 1);
        let operator = generator.choices.among(&["jacobian", "grad", "vjp", "J"]);
        let function = format!("(\\x:R^2. {body})");
        PRIMS.to_string()
            + &match operator {
                "vjp" => format!("vjp {function} at {point} with [2]^*"),
                "J" => format!("(J {function} · <1, 2>) {point}"),
                operator => format!("{operator} {function} at {point}"),
            }
    });
}

fn pullback_law(name: &'static str, cases: u32, sample: impl Fn(&mut Generator<'_>) -> String + 'static) {
    let samples = vec(any::<u16>(), 0..MAX_CHOICES).prop_map(move |choices| {
        let mut generator = Generator::new(&choices);
        generator.at_numbers = true;
        sample(&mut generator)
    });
    law(name, cases, &samples, |text| agrees(text));
}

fn agrees(text: &str) -> Trial {
    let program = eddy_pullback::typing::check(&SourceFile::new("law.pb", text))
        .map_err(|found| format!("not accepted: {}\n{text}", found[0].title))?;
    match run(&program, Engine::Fast, Limits { fuel: 1_000_000, ..Limits::default() }).outcome {
        Outcome::Value(answer) => {
            let number = |leaf: &Leaf| match leaf {
                Leaf::Real(number) => *number,
                other => unreachable!("{other:?} is no number"),
            };
            same(Kernel::Pullback, text, &answer.leaves.iter().map(number).collect::<Vec<_>>())
        }
        Outcome::Stopped(_) => Ok(Verdict::Vacuous("stopped")),
        Outcome::Open(_) => unreachable!("the generator writes closed programs"),
    }
}
