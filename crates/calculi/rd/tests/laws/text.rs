//! Programs as text: printing and parsing, the contract of `eddy trace`, and formatting.

use eddy_rd::engine::{Engine, run};
use eddy_rd::eval::{Derivative, Observer};
use eddy_rd::format::format;
use eddy_rd::parse::LEXICON;
use eddy_rd::print::{Printer, print};
use eddy_rd::value::Value;
use eddy_syntax::SourceFile;
use eddy_syntax::lex::{Lexed, lex};
use rustc_hash::FxHashMap;

use crate::alpha::same_term;
use crate::compare::{Tolerance, same_even_in_overflow, show};
use crate::generate::Generator;
use crate::harness::{LIMITS, Verdict, accepted, law};

#[test]
fn parsing_undoes_printing() {
    law(
        "parse after print",
        800,
        |generator| generator.program().0,
        |source| {
            let program = accepted(source)?;
            let printed = print(&program.terms, &FxHashMap::default(), program.main);
            let parsed = accepted(&printed)?;
            if same_term((&program.terms, program.main), (&parsed.terms, parsed.main), &[]) {
                Ok(Verdict::Holds)
            } else {
                Err(format!("printed as {printed}"))
            }
        },
    );
}

#[test]
fn printing_undoes_parsing() {
    // Printing is idempotent.
    law(
        "print after parse",
        400,
        |generator| generator.program().0,
        |source| {
            let program = accepted(source)?;
            let printed = print(&program.terms, &FxHashMap::default(), program.main);
            let parsed = accepted(&printed)?;
            let again = print(&parsed.terms, &FxHashMap::default(), parsed.main);
            if again == printed { Ok(Verdict::Holds) } else { Err(format!("{printed}\n{again}")) }
        },
    );
}

#[test]
fn printed_traces_and_reverses_have_the_values_that_are_reported_10() {
    law(
        "trace text",
        400,
        |generator| generator.program().0,
        |source| {
            let mut reader = Reader { waiting: None, outcome: Ok(()) };
            eddy_rd::engine::run_observed(&accepted(source)?, Engine::Reference, LIMITS, &mut reader);
            reader.outcome.map(|()| Verdict::Holds)
        },
    );
}

/// Reads the output of `eddy trace` back.
struct Reader {
    /// The printed reverse, until the value of the derivative is reported.
    waiting: Option<String>,
    outcome: Result<(), String>,
}

impl Reader {
    fn derivative(&mut self, derivative: &Derivative<'_>) -> Result<(), String> {
        let Derivative { terms, env, var, point, trace, reverse, .. } = derivative;
        let ty = terms.types.show(terms.var(*var).ty);
        let mut printer = Printer::new(terms, env);
        let name = printer.name(*var);
        let (trace_text, reverse_text) = (printer.print(*trace), printer.print(*reverse));
        let read = accepted(&format!("let {name}:{ty} = {point} in {trace_text}"))?;
        let found = run(&read, Engine::Reference, LIMITS).outcome;
        let mut env = (*env).clone();
        let expected = eddy_rd::eval::traces::eval_trace(terms, &mut env, *trace);
        let expected =
            expected.map_or_else(eddy_rd::outcome::Outcome::Undefined, eddy_rd::outcome::Outcome::Value);
        same_even_in_overflow(&found, &expected, Tolerance::Exact)?;
        self.waiting = Some(reverse_text);
        Ok(())
    }

    fn value(&mut self, value: &Value) -> Result<(), String> {
        let text = self.waiting.take().expect("a value follows its derivative");
        let found = run(&accepted(&text)?, Engine::Reference, LIMITS).outcome;
        if show(&found) == value.to_string() {
            return Ok(());
        }
        Err(format!("{} is not {value}: {text}", show(&found)))
    }
}

impl Observer for Reader {
    fn derivative(&mut self, derivative: &Derivative<'_>) {
        if self.outcome.is_ok() {
            self.outcome = Reader::derivative(self, derivative);
        }
    }

    fn value(&mut self, value: &Value) {
        if self.outcome.is_ok() {
            self.outcome = Reader::value(self, value);
        }
    }
}

#[test]
fn formatting_is_idempotent_and_changes_no_outcome() {
    law("formatting", 800, sample_with_comments, |source| {
        let once = formatted(source)?;
        let twice = formatted(&once)?;
        if once != twice {
            return Err(format!("first\n{once}\nthen\n{twice}"));
        }
        if words(source) != words(&once) {
            return Err(format!("other words\n{once}"));
        }
        let (before, after) = (accepted(source)?, accepted(&once)?);
        let (before, after) =
            (run(&before, Engine::Tape, LIMITS).outcome, run(&after, Engine::Tape, LIMITS).outcome);
        same_even_in_overflow(&before, &after, Tolerance::Exact)
    });
}

fn formatted(source: &str) -> Result<String, String> {
    format(&SourceFile::new("law.rd", source)).map_err(|diagnostics| diagnostics[0].title.clone())
}

/// The tokens and the comments of a text.
fn words(source: &str) -> (Vec<String>, Vec<String>) {
    let file = SourceFile::new("law.rd", source);
    let Lexed { tokens, comments, .. } = lex(&file, &LEXICON);
    let text = |span| file.slice(span).to_string();
    let tokens = tokens.iter().map(|token| text(token.span)).collect();
    (tokens, comments.iter().map(|comment| text(comment.span)).collect())
}

/// A program with comments and line breaks between some of its tokens.
fn sample_with_comments(generator: &mut Generator<'_>) -> String {
    const GAPS: [&str; 8] =
        ["", " ", "\n", " (* c *) ", " -- c\n", "\n\n\n", "\n-- c\n", " (* c\n (* d *) *)\n"];
    let source = generator.program().0;
    let file = SourceFile::new("law.rd", &source);
    let mut text = String::new();
    let mut at = 0;
    for token in lex(&file, &LEXICON).tokens {
        text.push_str(&source[at..token.span.start as usize]);
        if generator.choices.once_in(12) {
            text.push_str(generator.choices.among(&GAPS));
        }
        text.push_str(file.slice(token.span));
        at = token.span.end as usize;
    }
    text
}
