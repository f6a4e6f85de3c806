//! Messages about text that the lexer could not read, and about comments in the style of other languages.

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
                None => match instead(text) {
                    Some(words) => diagnostic.help(words),
                    None => diagnostic,
                },
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

/// The intended character for a lookalike, such as the typographic characters of word processors.
fn lookalike(text: &str) -> Option<&'static str> {
    Some(match text {
        "−" | "–" | "—" => "-",
        "·" | "⋅" | "∗" => "*",
        "÷" | "∕" => "/",
        "“" | "”" | "„" | "'" => "\"",
        "’" | "‘" | "′" => "'",
        "；" => ";",
        "，" => ",",
        "：" => ":",
        _ => return None,
    })
}

/// The replacement for a mathematical symbol.
fn instead(text: &str) -> Option<&'static str> {
    Some(match text {
        "√" => "write `sqrt(x)`",
        "²" => "write `x * x`",
        "³" => "write `pow(x, 3.0)`",
        "π" => "write the number: `3.141592653589793`",
        "∞" => "there is no such constant; `1e308` is near the largest number",
        "∂" | "∇" => "the gradient of a node `N` is the node `adj_N`, its tangent `tan_N`",
        "∑" | "Σ" => "write `sum(x)`",
        "½" => "write `0.5`",
        "$" | "`" => "names are letters, digits, `_` and `'`, without a sign before them",
        _ if text.chars().all(char::is_alphabetic) => "names are written with the letters a to z and A to Z",
        _ => return None,
    })
}

/// Whether this `//` is a division: an operand is before it on its line, and the equation continues after it.
fn divides(file: &SourceFile, before: Option<&Token>, at: Span) -> bool {
    let Some(before) = before else { return false };
    let between = file.slice(Span::new(before.span.end, at.start));
    let is_operand =
        matches!(before.kind, TokenKind::Name | TokenKind::Number | TokenKind::Symbol(")" | "]"));
    let rest = file.slice(Span::new(at.end, file.end().end));
    let line = rest.lines().next().unwrap_or_default();
    is_operand && !between.contains('\n') && line.trim_end().ends_with(';')
}

/// Removes comments that start with `//`, `/*` or `#` from the tokens, so that their contents cause no
/// errors, and reports the first of them.
pub(super) fn drop_foreign_comments(file: &SourceFile, tokens: &mut Vec<Token>) -> Option<Diagnostic> {
    // Most files contain none of these marks; a search of the text is cheaper than examining every token.
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
            TokenKind::Symbol("//") if divides(file, kept.last(), token.span) => {
                first.get_or_insert((token.span, "//;"));
                kept.push(Token { kind: TokenKind::Symbol("div"), span: token.span });
                continue;
            }
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
        end_of_comment = token.span.end + u32::try_from(length).expect("a source file is at most 64 MiB");
    }
    *tokens = kept;
    let (span, mark) = first?;
    if mark == "//;" {
        let title = "expected `div` or a comment, found `//`";
        return Some(
            Diagnostic::error(codes::SYNTAX, span, title)
                .help("integers are divided with `x div y`; a comment starts with `--`"),
        );
    }
    let rest = file.slice(Span::new(span.end, file.end().end));
    let directive = rest.split_whitespace().next().filter(|_| mark == "#" && !rest.starts_with([' ', '\t']));
    if let Some("define" | "include") = directive {
        let title =
            format!("expected `node`, `fn`, `run` or `train`, found `#{}`", directive.unwrap_or_default());
        let help = match directive {
            Some("define") => {
                "equations belong to a node: write `N = 4;` below the head of each node that needs it"
            }
            _ => "an import is written `import f, g from \"FILE.eddy\";`; functions such as `exp` need none",
        };
        return Some(Diagnostic::error(codes::SYNTAX, span, title).help(help));
    }
    let title = format!("expected a comment to start with `--` or `(*`, found `{mark}`");
    let help = if mark == "/*" { "write `(* … *)`" } else { "write `-- …`" };
    Some(Diagnostic::error(codes::SYNTAX, span, title).label("comments are not written like this").help(help))
}
