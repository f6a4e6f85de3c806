//! What the lexer could not read, as messages; and comments in the style of other languages.

use eddy_syntax::lex::{LexError, Token, TokenKind};
use eddy_syntax::{Confidence, Diagnostic, Edit, SourceFile, Span};

use crate::codes;

pub(super) fn diagnostic(file: &SourceFile, error: LexError) -> Diagnostic {
    match error {
        LexError::UnexpectedCharacters(span) => {
            let text = file.slice(span);
            let plural = if text.chars().count() == 1 { "" } else { "s" };
            let shown = super::recover::shortened(text).escape_debug().to_string();
            let diagnostic =
                Diagnostic::error(codes::LEXICAL, span, format!("unexpected character{plural} `{shown}`"))
                    .label("nothing in the language is written with this");
            match lookalike(text) {
                Some(meant) => {
                    let replacement = meant.to_string();
                    let edit = Edit { span, replacement, confidence: Confidence::Maybe };
                    diagnostic.help_with_edit(format!("write `{meant}`"), edit)
                }
                None => diagnostic,
            }
        }
        LexError::UnterminatedComment(span) => Diagnostic::error(
            codes::LEXICAL,
            span,
            "unterminated comment: expected `*)` before the end of the file",
        )
        .label("this `(*` has no `*)`")
        .help("comments nest: each `(*` needs a `*)` of its own"),
        LexError::InvalidUtf8(span) => {
            Diagnostic::error(codes::LEXICAL, span, "unexpected character: the file is not valid UTF-8")
                .label("these bytes are not text")
                .help("save the file as UTF-8")
        }
    }
}

/// What is meant by a character that only looks like it, as those do that word processors write.
fn lookalike(text: &str) -> Option<&'static str> {
    Some(match text {
        "−" | "–" | "—" => "-",
        "·" | "⋅" | "∗" => "*",
        "÷" | "∕" => "/",
        "“" | "”" | "„" => "\"",
        "’" | "‘" | "′" => "'",
        "；" => ";",
        "，" => ",",
        "：" => ":",
        _ => return None,
    })
}

/// Takes comments that start with `//`, `/*` or `#` out of the tokens, and reports the first of them: what is
/// in them is no mistake of its own.
pub(super) fn drop_foreign_comments(file: &SourceFile, tokens: &mut Vec<Token>) -> Option<Diagnostic> {
    // Nearly no file has any, and then nothing is done per token.
    if !["//", "/*", "#"].iter().any(|mark| file.text().contains(mark)) {
        return None;
    }
    let mut first: Option<(Span, &'static str)> = None;
    let mut end_of_comment = 0;
    let mut kept: Vec<Token> = Vec::with_capacity(tokens.len());
    for (i, token) in tokens.iter().enumerate() {
        if token.span.start < end_of_comment && token.kind != TokenKind::End {
            continue;
        }
        let name = kept.last().filter(|before| before.kind == TokenKind::Name);
        let precedes_number = tokens.get(i + 1).is_some_and(|next| next.kind == TokenKind::Number);
        let is_path = name.is_some_and(|name| precedes_number || name.span.end == token.span.start);
        let (mark, close) = match token.kind {
            TokenKind::Symbol("//") => ("//", "\n"),
            TokenKind::Symbol("/*") => ("/*", "*/"),
            // `f#1` is a path.
            TokenKind::Symbol("#") if !is_path => ("#", "\n"),
            _ => {
                kept.push(*token);
                continue;
            }
        };
        first.get_or_insert((token.span, mark));
        let rest = file.slice(Span::new(token.span.end, file.end().end));
        let length = rest.find(close).map_or(rest.len(), |at| at + close.len());
        end_of_comment = token.span.end + u32::try_from(length).expect("a source file is at most 1 GiB");
    }
    *tokens = kept;
    let (span, mark) = first?;
    let title = format!("expected a comment to start with `--` or `(*`, found `{mark}`");
    let help = if mark == "/*" { "write `(* … *)`" } else { "write `-- …`" };
    Some(Diagnostic::error(codes::SYNTAX, span, title).label("comments are not written like this").help(help))
}
