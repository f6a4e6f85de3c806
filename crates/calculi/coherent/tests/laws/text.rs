//! Printing, parsing and formatting.

use eddy_coherent::format::format;
use eddy_coherent::print;
use eddy_coherent::typing::check;
use eddy_syntax::SourceFile;

use crate::generate::{Generator, Sample, With, terms};
use crate::harness::{Verdict, law};

fn any_program(mut generator: Generator<'_>) -> Sample {
    generator.with = With { fix: true, coins: true, ticks: true, ..With::default() };
    terms::program(generator)
}

#[test]
fn parsing_undoes_printing() {
    law("parsing undoes printing", 800, any_program, |sample| {
        let program = &sample.program;
        let text = print::show(&program.terms, program.main);
        let parsed = check(&SourceFile::new("law.cd", text.clone()))
            .map_err(|diagnostics| format!("{text}\n{}", diagnostics[0].title))?;
        let again = print::show(&parsed.terms, parsed.main);
        if parsed.terms.types.show(parsed.ty) != program.terms.types.show(program.ty) {
            return Err(format!("{text}\nhas another type"));
        }
        // The first text may differ, because the binders of the parsed term have other names.
        let twice = check(&SourceFile::new("law.cd", again.clone())).map_err(|_| again.clone())?;
        if print::show(&twice.terms, twice.main) != again {
            return Err(format!("{text}\nbecomes\n{again}"));
        }
        Ok(Verdict::Holds)
    });
}

#[test]
fn formatting_keeps_the_program_and_is_stable() {
    law("formatting", 400, any_program, |sample| {
        let text = print::show(&sample.program.terms, sample.program.main);
        let file = SourceFile::new("law.cd", text.clone());
        let once = format(&file).map_err(|_| format!("{text}\ncannot be formatted"))?;
        let formatted = SourceFile::new("law.cd", once.clone());
        if format(&formatted).as_ref() != Ok(&once) {
            return Err(format!("formatting is not stable:\n{once}"));
        }
        let (before, after) = (check(&file), check(&formatted));
        let (Ok(before), Ok(after)) = (before, after) else { return Err(format!("not accepted:\n{once}")) };
        if print::show(&before.terms, before.main) != print::show(&after.terms, after.main) {
            return Err(format!("another program:\n{once}"));
        }
        Ok(Verdict::Holds)
    });
}
