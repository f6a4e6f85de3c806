//! Invalid text.

use eddy_language::parse::parse;
use eddy_syntax::render::{Style, full};
use eddy_syntax::{SourceFile, Sources};
use expect_test::expect;

use crate::{accepted, check_equation};

#[test]
fn strange_characters() {
    check_equation(
        "o = x £ 1;",
        &expect![[r"
        error[E0101]: unexpected character `£`
         --> f.eddy:1:22
          |
        1 | node f(x)->(o) o = x £ 1;
          |                      ^ nothing in the language is written with this
    "]],
    );
    check_equation(
        "o = ££ + x; p = €;",
        &expect![[r"
        error[E0101]: unexpected characters `££`
         --> f.eddy:1:20
          |
        1 | node f(x)->(o) o = ££ + x; p = €;
          |                    ^^ nothing in the language is written with this

        error[E0101]: unexpected character `€`
         --> f.eddy:1:32
          |
        1 | node f(x)->(o) o = ££ + x; p = €;
          |                                ^ nothing in the language is written with this
    "]],
    );
}

#[test]
fn comments_without_end() {
    check_equation(
        "o = (* x (* y *);",
        &expect![[r"
        error[E0101]: unterminated comment: expected `*)` before the end of the file
         --> f.eddy:1:20
          |
        1 | node f(x)->(o) o = (* x (* y *);
          |                    ^^ this `(*` has no `*)`
          |
          = help: comments nest: each `(*` needs a `*)` of its own
    "]],
    );
    accepted("node f(x)->(o) o = (* x (* y *) *) x;");
}

#[test]
fn bytes_that_are_not_text() {
    let file = SourceFile::from_bytes("f.eddy", b"node f(x)->(o) o = x\xff\xfe;".to_vec());
    let diagnostics = parse(&file).diagnostics;
    assert_eq!(diagnostics.len(), 1);
    expect![[r"
        error[E0101]: unexpected character: the file is not valid UTF-8
         --> f.eddy:1:21
          |
        1 | node f(x)->(o) o = x��;
          |                     ^ these bytes are not text
          |
          = help: save the file as UTF-8"]]
    .assert_eq(&full(&diagnostics[0], &Sources::alone(file), Style::Plain));
}
