//! Printing, parsing and formatting (P15).

use eddy_syntax::SourceFile;
use eddy_tables::dialect::Dialect;
use eddy_tables::format::format;
use eddy_tables::print;
use eddy_tables::value::Values;
use eddy_tables::value::parse::{Goal, parse};
use eddy_tests::choices::Choices;

use crate::generate::{lam, references, systemf};
use crate::harness::{Trial, Verdict, law, program, universe};

/// P15: parsing a printed term gives the term.
#[test]
fn p15_terms_are_read_as_they_are_printed() {
    law("P15", 2000, lam::term, |text| {
        let first = program(Dialect::Lambda, text);
        let shown = print::show(&first.terms, first.main);
        let second = program(Dialect::Lambda, &shown);
        let again = print::show(&second.terms, second.main);
        if shown == again && first.terms.size(first.main) == second.terms.size(second.main) {
            Ok(Verdict::Holds)
        } else {
            Err(format!("{shown} is read as {again}"))
        }
    });
}

#[test]
fn p15_values_are_read_as_they_are_printed() {
    for dialect in [Dialect::Lambda, Dialect::SystemF] {
        let mut values = Values::default();
        for value in universe(dialect, 4, &mut values) {
            let file = SourceFile::new("value", values.show(value));
            let goal = parse(&file, dialect, &mut values).expect("it is a value");
            assert_eq!(goal, Goal { value, store: None });
        }
    }
}

#[test]
fn p15_types_are_read_as_they_are_printed() {
    let sample = |choices: &mut Choices<'_>| systemf::ty(choices, 4).text();
    law("P15, types", 500, sample, |ty| {
        let first = program(Dialect::SystemF, &format!("\\x:{ty}. x"));
        let shown = first.types.show(first.ty.expect("it is typed"));
        let second = program(Dialect::SystemF, &format!("\\f:{shown}. f"));
        let again = second.types.show(second.ty.expect("it is typed"));
        if again == format!("({shown}) -> {shown}") {
            Ok(Verdict::Holds)
        } else {
            Err(format!("{shown} is read as {again}"))
        }
    });
}

/// Formatting changes nothing but layout, and a formatted program not at all.
#[test]
fn formatting_keeps_programs() {
    law("formatting", 700, lam::term, |text| keeps(Dialect::Lambda, text));
    law("formatting System F", 400, |choices| systemf::term(choices).0, |text| keeps(Dialect::SystemF, text));
    law("formatting references", 400, references::term, |text| keeps(Dialect::References, text));
}

fn keeps(dialect: Dialect, text: &str) -> Trial {
    let once = format(&SourceFile::new("law", text), dialect).expect("it is a program");
    let twice = format(&SourceFile::new("law", &*once), dialect).expect("it is a program");
    let [before, after] = [text, &once].map(|text| {
        let program = program(dialect, text);
        print::show(&program.terms, program.main)
    });
    if once == twice && before == after { Ok(Verdict::Holds) } else { Err(once) }
}
