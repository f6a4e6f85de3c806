//! The laws of formatting.
//!
//! Formatting preserves tokens, comments, and the tree with its documentation; it is idempotent; lines have
//! no trailing blanks, and there are no two consecutive empty lines.

#![expect(clippy::disallowed_methods, reason = "tests read files of the repository")]
#![allow(dead_code)] // not every test uses all of it

#[path = "../show/mod.rs"]
mod show;

use std::sync::OnceLock;

use eddy_language::format;
use eddy_language::parse::LEXICON;
use eddy_syntax::SourceFile;
use eddy_syntax::lex::{TokenKind, lex};

/// The formatted text, after checking the laws.
pub fn assert_laws(text: &str) -> String {
    let once = formatted(text);
    assert_eq!(words(&file(text)), words(&file(&once)), "tokens and comments of\n{text}\nformatted\n{once}");
    assert_eq!(show::show(text), show::show(&once), "the tree of\n{text}\nformatted\n{once}");
    assert_eq!(once, formatted(&once), "formatted twice:\n{text}");
    // Comments over several lines are kept unchanged, with their blanks.
    let is_kept = |(kind, word): &(Option<TokenKind>, &str)| kind.is_none() && word.contains('\n');
    if !words(&file(text)).iter().any(is_kept) {
        assert!(once.lines().all(|line| line.trim_end() == line), "trailing blanks in\n{once}");
        assert!(!once.contains("\n\n\n") && !once.starts_with('\n'), "empty lines in\n{once}");
    }
    assert!(once.is_empty() || once.ends_with('\n') && !once.ends_with("\n\n"), "the end of\n{once}");
    once
}

/// The programs of the specification, in the order of their names.
pub fn programs() -> &'static [String] {
    static PROGRAMS: OnceLock<Vec<String>> = OnceLock::new();
    PROGRAMS.get_or_init(read_programs)
}

fn read_programs() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs");
    let entries = std::fs::read_dir(folder).expect("the folder exists");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).expect("text")).collect()
}

/// The formatted text.
pub fn formatted(text: &str) -> String {
    match format(&file(text)) {
        Ok(formatted) => formatted,
        Err(diagnostics) => panic!("{text}\nis refused: {diagnostics:?}"),
    }
}

pub fn file(text: &str) -> SourceFile {
    SourceFile::new("test.eddy", text)
}

/// The tokens, then the comments, which have no kind.
pub fn words(file: &SourceFile) -> Vec<(Option<TokenKind>, &str)> {
    let lexed = lex(file, &LEXICON);
    let tokens = lexed.tokens.iter().map(|token| (Some(token.kind), file.slice(token.span)));
    tokens.chain(lexed.comments.iter().map(|comment| (None, file.slice(comment.span)))).collect()
}
