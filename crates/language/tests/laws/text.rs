//! Flow text reads back, and formatting preserves programs.

use eddy_language::format;
use eddy_language::parse::LEXICON;
use eddy_syntax::SourceFile;
use eddy_syntax::lex::{Lexed, lex};

use crate::generated::case::{Case, Ready, prepared};
use crate::generated::compare::same;
use crate::generated::engines::{cells, simulate};
use crate::generated::generate::Choices;
use crate::generated::harness::{Verdict, law_of_programs};
use crate::generated::round_trip::reads_back;

#[test]
fn flow_reads_back_as_it_was_printed() {
    law_of_programs("flow text", 400, Case::sample, |_, ready| reads_back(ready));
}

#[test]
fn flow_with_written_clocks_reads_back_as_it_was_printed() {
    law_of_programs("flow text, written clocks", 200, Case::sample_with_written_clocks, |_, ready| {
        reads_back(ready)
    });
}

#[test]
fn formatting_is_idempotent_and_changes_no_cell() {
    law_of_programs("formatting", 300, Case::sample_with_written_clocks, |case, ready| {
        let bench = ready.bench(case.program.main().name);
        let source = with_comments(&format!("{}{bench}\n", case.program.text()), &mut case.decisions());
        let once = formatted(&source)?;
        let twice = formatted(&once)?;
        if once != twice {
            return Err(format!("source\n{source}\nfirst\n{once}\nthen\n{twice}"));
        }
        if words(&source) != words(&once) {
            return Err(format!("source\n{source}\nother words\n{once}"));
        }
        let prepared =
            prepared(&once, case.program.main().name).map_err(|refusal| format!("{refusal:?}\n{once}"))?;
        let other = Ready { prepared, inputs: ready.inputs.clone(), n_cycles: ready.n_cycles };
        let (before, after) = (cells!(simulate(ready)), cells!(simulate(&other)));
        same(ready.flow(), ("B", &before), ("B, formatted", &after))?;
        Ok(Verdict::Holds)
    });
}

fn formatted(source: &str) -> Result<String, String> {
    format(&SourceFile::new("law.eddy", source))
        .map_err(|diagnostics| format!("{}\n{source}", diagnostics[0].title))
}

/// The tokens and the comments of a text.
fn words(source: &str) -> (Vec<String>, Vec<String>) {
    let file = SourceFile::new("law.eddy", source);
    let Lexed { tokens, comments, .. } = lex(&file, &LEXICON);
    let text = |span| file.slice(span).to_string();
    let tokens = tokens.iter().map(|token| text(token.span)).collect();
    (tokens, comments.iter().map(|comment| text(comment.span)).collect())
}

/// Replaces some blanks of a text by comments and line breaks; adjacent tokens stay adjacent.
fn with_comments(source: &str, choices: &mut Choices<'_>) -> String {
    const GAPS: [&str; 8] =
        ["\n", "   ", " (* c *) ", " -- c\n", "\n\n\n", "\n-- c\n", " (* c\n (* d *) *)\n", "\n\n  -- c\n\n"];
    let file = SourceFile::new("law.eddy", source);
    let mut text = String::new();
    let mut at = 0;
    for token in lex(&file, &LEXICON).tokens {
        let gap = &source[at..token.span.start as usize];
        text.push_str(gap);
        if !gap.is_empty() && choices.once_in(6) {
            text.push_str(choices.among(&GAPS));
        }
        text.push_str(file.slice(token.span));
        at = token.span.end as usize;
    }
    text.push_str(&source[at..]);
    text
}
