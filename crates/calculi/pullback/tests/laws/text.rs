//! P13: printing and reading a value gives the same value. Formatting changes nothing.

use eddy_pullback::engine::Engine;
use eddy_pullback::format::format;
use eddy_syntax::SourceFile;

use crate::generate::Ty;
use crate::harness::{TOO_LONG, Verdict, accepted, answer, law, same};

#[test]
fn printing_and_reading_a_value_gives_it_back_p13() {
    law(
        "print, parse",
        300,
        |generator| generator.program().0,
        |source| {
            let program = accepted(source)?;
            let Some(value) = answer(&program, Engine::Fast)? else { return Ok(Verdict::Vacuous(TOO_LONG)) };
            let text = value.show(&program.terms.types);
            let read = accepted(&text)?;
            let again = answer(&read, Engine::Fast)?.ok_or("a literal takes no time")?;
            same(&value, &again)?;
            if text == again.show(&read.terms.types) {
                Ok(Verdict::Holds)
            } else {
                Err(format!("{text} is printed otherwise"))
            }
        },
    );
}

#[test]
fn formatting_keeps_the_program() {
    law(
        "formatting keeps programs",
        300,
        |generator| {
            let ty = generator.choices.among(&Ty::ALL);
            format!("{}{}", crate::generate::PRIMS, generator.term(ty, 4))
        },
        |source| {
            let file = SourceFile::new("law.pb", source);
            let formatted = format(&file).map_err(|diagnostics| format!("{diagnostics:?}"))?;
            let again = format(&SourceFile::new("law.pb", &formatted))
                .map_err(|diagnostics| format!("{diagnostics:?}"))?;
            if formatted != again {
                return Err(format!("formatted again:\n{formatted}\n{again}"));
            }
            let (before, after) = (accepted(source)?, accepted(&formatted)?);
            if before.show_type() == after.show_type() {
                Ok(Verdict::Holds)
            } else {
                Err(format!("another type:\n{formatted}"))
            }
        },
    );
}
