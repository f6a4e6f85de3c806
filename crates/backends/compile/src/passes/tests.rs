//! Tests of passes by the files in `tests/passes`: a program before, which pass, and the program after it.

use std::path::Path;

use eddy_imp::interpret::{Machine, Value};
use eddy_imp::{Name, Program, parse, verify};
use eddy_tests::passes::check_folder;
use rustc_hash::FxHashSet;

use super::{Pieces, copies, overlap, pieces, threads, transposes};

#[test]
fn passes_from_imp_to_imp() {
    check_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/passes"), passed);
}

fn names(words: &[&str]) -> FxHashSet<Name> {
    words.iter().map(|word| (*word).into()).collect()
}

/// A program after a pass, which is a program too, and whose text reads back.
fn passed(words: &[&str], text: &str) -> Result<String, String> {
    let mut program = parse(text).map_err(|error| error.to_string())?;
    verify(&program).map_err(|violation| violation.to_string())?;
    let precision = program.precision;
    match words {
        // The fields that a host sees.
        ["copies", seen @ ..] => copies::share(&mut program, &names(seen)),
        ["transposes", seen @ ..] => transposes::share(&mut program, &names(seen)),
        ["threads"] => threads::share(&mut program),
        ["overlap"] => {
            program
                .procedures
                .iter_mut()
                .for_each(|procedure| overlap::blocks(&mut procedure.body, precision));
        }
        ["pieces"] => pieces::cut(&mut program, Pieces::USUAL),
        ["pieces", lines] => {
            let lines = lines.parse().map_err(|_| format!("`{lines}` is no number of lines"))?;
            pieces::cut(&mut program, Pieces::of_lines(lines));
        }
        other => return Err(format!("there is no pass `{}`", other.join(" "))),
    }
    verify(&program).map_err(|violation| format!("{violation}\n{program}"))?;
    let text = program.to_string();
    let again = parse(&text).map_err(|error| format!("{error}\n{text}"))?;
    if again.to_string() == text { Ok(text) } else { Err(format!("the text reads back as\n{again}")) }
}

/// What a step shows after a host set all fields, in programs with and without copies.
#[test]
fn programs_without_copies_mean_the_same() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/passes/transposes");
    check_folder(&folder, |words, text| {
        let before = parse(text).map_err(|error| error.to_string())?;
        let after = passed(words, text)?;
        for first in ["prepare", "reset", "refresh"] {
            let has = before.procedures.iter().any(|procedure| procedure.name.as_str() == first);
            let shown = |program: &Program| if has { shown_after(program, first) } else { Ok(None) };
            let [one, other] = [&before, &parse(&after).expect("it was parsed before")].map(shown);
            if one.clone()? != other.clone()? {
                return Err(format!("{first}: {one:?} became {other:?}"));
            }
        }
        Ok(after)
    });
}

fn shown_after(program: &Program, first: &str) -> Result<Option<Value>, String> {
    let mut machine = Machine::new(program, 1);
    machine.memory.clear(program);
    for field in &program.state.fields {
        // Different numbers in each field, and the same ones however many others there are.
        let seed: u32 = field.name.as_str().bytes().map(u32::from).sum();
        let n = field.dimensions.iter().product();
        let elements = (8 * seed..).map(f64::from).map(Value::Num).take(n);
        machine.memory.set_state(field.name.as_str(), elements).map_err(|failed| failed.to_string())?;
    }
    for name in [first, "step"] {
        machine.run(name).map_err(|failed| failed.to_string())?;
    }
    Ok(machine.memory.output(0, "y").ok_or("there is no output")?[0])
}
