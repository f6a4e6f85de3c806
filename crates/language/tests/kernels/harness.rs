//! The value of a translation, and its comparison with that of the kernel.

use eddy_language::check::load_as;
use eddy_language::functions::{self, Budget};
use eddy_language::kernels::Kernel;
use eddy_language::program::{Limits, Program};
use eddy_language::tree::Item;
use eddy_syntax::{Diagnostic, SourceFile, Sources};
use eddy_tensor::Value;

pub use eddy_tests::law::{Trial, Verdict, law};

/// More choices than most programs need.
pub const MAX_CHOICES: usize = 300;

/// Calls and iterations of a translation: more than a kernel makes within its own fuel.
const FUEL: u64 = 100_000;

/// The result of running a translation.
pub enum Found {
    /// The numbers of its value, from left to right.
    Numbers(Vec<f64>),
    /// It ran and failed.
    Failed(Diagnostic),
    /// It is not a valid program.
    Refused(Vec<Diagnostic>),
}

/// Translates a program and interprets its result.
pub fn translated(kernel: Kernel, text: &str) -> Found {
    let file = SourceFile::new(format!("law.{}", kernel.extension()), text);
    let mut sources = Sources::alone(file);
    let program = match load_as(&mut sources, Some(kernel), Limits::default()) {
        Ok(program) => program,
        Err(refused) => return Found::Refused(refused),
    };
    let mut budget = Budget { fuel: Some(FUEL), ..Budget::default() };
    let functions = match functions::lower(&program, &mut budget) {
        Ok(functions) => functions,
        Err(refused) => return Found::Refused(refused),
    };
    let items = &program.modules[Program::MAIN].tree.items;
    let eval =
        items.iter().position(|item| matches!(item, Item::Eval(_))).expect("a translation has an `eval`");
    match functions.leaves(functions.evaluation(eval), &mut budget) {
        Ok(values) => Found::Numbers(values.iter().map(number).collect()),
        Err(failed) => Found::Failed(*failed),
    }
}

/// The values of kernels consist of single numbers.
#[allow(clippy::cast_precision_loss)] // integers of laws are small
fn number(value: &Value) -> f64 {
    match value {
        Value::Num(number) => *number,
        Value::Int(number) => *number as f64,
        other => unreachable!("{other:?} is no number of a kernel"),
    }
}

/// The text of a translation, for messages.
pub fn text(kernel: Kernel, text: &str) -> String {
    let file = SourceFile::new(format!("law.{}", kernel.extension()), text);
    match kernel.translate(&file) {
        Ok(translation) => translation.text,
        Err(refused) => refused[0].title.clone(),
    }
}

/// The value of the kernel is that of the translation, within the tolerance of section 10.
pub fn same(kernel: Kernel, program: &str, numbers: &[f64]) -> Trial {
    const TOLERANCE: f64 = 1e-9;
    let close = |x: f64, y: f64| (x - y).abs() <= TOLERANCE * x.abs().max(y.abs()).max(1.0);
    let broken = |found: String| {
        format!(
            "{} has the value {numbers:?}, its translation {found}\n{program}\n{}",
            kernel.extension(),
            text(kernel, program)
        )
    };
    match translated(kernel, program) {
        Found::Numbers(found) => {
            let agree = found.len() == numbers.len() && found.iter().zip(numbers).all(|(x, y)| close(*x, *y));
            if agree { Ok(Verdict::Holds) } else { Err(broken(format!("{found:?}"))) }
        }
        Found::Failed(failed) => Err(broken(format!("fails: {}", failed.title))),
        Found::Refused(refused) => {
            Err(broken(format!("is refused: {} {}", refused[0].code, refused[0].title)))
        }
    }
}
