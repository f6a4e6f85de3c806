//! Several errors give several messages, and one error gives one.

#![expect(clippy::disallowed_methods, reason = "tests read files of the repository")]

use eddy_language::parse::{LEXICON, parse};
use eddy_syntax::lex::lex;
use eddy_syntax::render::short;
use eddy_syntax::{SourceFile, Sources};
use expect_test::expect;

use crate::check;

#[test]
fn mistakes_in_different_places_are_all_reported() {
    check(
        "node f(x)->(o)\n  o = x +;\n  p = (x;\n  q = x;\nnode g(->(o)\n  o = if x;\nrun f { x: 1 oops; y: [; }\ntrain f;\nrun g { z: t }",
        &expect![[r"
            error[E0102]: expected an expression, found `;`
             --> f.eddy:2:10
              |
            2 |   o = x +;
              |          ^
              |
              = help: `+` has no operand on its right

            error[E0102]: expected `,` or `)`, found `;`
             --> f.eddy:3:9
              |
            3 |   p = (x;
              |       - ^
              |       |
              |       this parenthesis is open

            error[E0102]: expected a name, found `->`
             --> f.eddy:5:8
              |
            5 | node g(->(o)
              |        ^^

            error[E0102]: expected `then`, found `;`
             --> f.eddy:6:11
              |
            6 |   o = if x;
              |       --  ^
              |       |
              |       this `if` waits for its `then`
              |
              = help: a choice is written `if c then a else b`

            error[E0102]: expected a cell, found `;`
             --> f.eddy:7:24
              |
            7 | run f { x: 1 oops; y: [; }
              |                        ^
              |
              = help: a cell is a number, `t`, `f`, `.` for absent, `?` for unknown, or a list of these

            error[E0102]: expected `as`, found `;`
             --> f.eddy:8:8
              |
            8 | train f;
              |        ^
              |
              = help: it is written `train N as M loss L optim O(…);`

            error[E0102]: expected `;`, found `}`
             --> f.eddy:9:14
              |
            9 | run g { z: t }
              |              ^
              |
            help: a row ends with `;`
              |
            9 | run g { z: t; }
              |             +
        "]],
    );
}

/// The messages about each program of the specification after a change at one of its tokens.
fn messages(change: impl Fn(&mut String, std::ops::Range<usize>)) -> Vec<Vec<String>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs");
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder exists") {
        let text = std::fs::read_to_string(entry.expect("a file").path()).expect("text");
        let tokens = lex(&SourceFile::new("f.eddy", text.clone()), &LEXICON).tokens;
        for token in &tokens[..tokens.len() - 1] {
            let mut changed = text.clone();
            change(&mut changed, token.span.start as usize..token.span.end as usize);
            let file = SourceFile::new("f.eddy", changed);
            all.push(
                parse(&file)
                    .diagnostics
                    .iter()
                    .map(|diagnostic| short(diagnostic, &Sources::alone(file.clone())))
                    .collect(),
            );
        }
    }
    all
}

#[test]
fn a_missing_word_gives_one_message() {
    let messages = messages(|text, word| text.replace_range(word, ""));
    let several: Vec<_> = messages.iter().filter(|messages| messages.len() > 1).collect();
    // `var = …` without its `=` looks like Lustre.
    assert!(several.len() <= 1, "{several:?}");
}

#[test]
fn a_doubled_word_gives_one_message() {
    let messages = messages(|text, word| {
        let doubled = format!(" {}", &text[word.clone()]);
        text.insert_str(word.end, &doubled);
    });
    let several: Vec<_> = messages.iter().filter(|messages| messages.len() > 1).collect();
    assert!(several.is_empty(), "{several:?}");
}
