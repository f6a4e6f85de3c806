//! The numerals of `coherent` and functions.

use eddy_coherent::engine::{Engine, run};
use eddy_coherent::outcome::{LeafResult, Limits};
use eddy_coherent::print::show;
use eddy_coherent::types::Type;
use eddy_coherent::typing::check;
use eddy_language::kernels::Kernel;
use eddy_syntax::SourceFile;
use proptest::collection::vec;
use proptest::prelude::{Strategy, any};

use crate::generate_coherent::{Generator, Sample};
use crate::harness::{Found, MAX_CHOICES, Trial, Verdict, law, same, translated};

/// Enough for every recursion that ends.
const LIMITS: Limits = Limits { fuel: 20_000, memory: 1 << 26 };

#[test]
fn a_program_is_its_translation() {
    let samples = vec(any::<u16>(), 0..MAX_CHOICES).prop_map(|choices| {
        let sample = numeral_program(Generator::new(&choices));
        show(&sample.program.terms, sample.program.main)
    });
    law("coherent: value", 1000, &samples, |text| agrees(text));
}

/// The kernel evaluates call by name, so it may have a value where the translation has none, but not the
/// other way round.
fn agrees(text: &str) -> Trial {
    let program = check(&SourceFile::new("law.cd", text))
        .map_err(|found| format!("not accepted: {}\n{text}", found[0].title))?;
    let leaves = run(&program, Engine::Environment, LIMITS, 0).0;
    match (leaves.map(|leaves| leaves.leaves[0].result.clone()), translated(Kernel::Coherent, text)) {
        (Ok(LeafResult::Value { .. }), Found::Failed(_)) => {
            Ok(Verdict::Vacuous("an unused argument diverges"))
        }
        #[allow(clippy::cast_precision_loss)] // numbers of laws are small
        (Ok(LeafResult::Value { value, .. }), _) => same(Kernel::Coherent, text, &[value as f64]),
        (_, Found::Failed(_)) => Ok(Verdict::Vacuous("diverges")),
        (Ok(other), Found::Numbers(found)) => Err(format!("{other:?} is not {found:?}\n{text}")),
        (Err(exhausted), Found::Numbers(found)) => Err(format!("{exhausted:?} is not {found:?}\n{text}")),
        (_, Found::Refused(found)) => Err(format!("refused: {}\n{text}", found[0].title)),
    }
}

/// A closed program of type `nat` without depths and derivatives.
fn numeral_program(mut generator: Generator<'_>) -> Sample {
    generator.with.only_numerals = true;
    let main = generator.term(Type::NAT);
    generator.finish(main, Type::NAT)
}
