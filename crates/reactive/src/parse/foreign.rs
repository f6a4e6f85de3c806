//! What people write who come from other languages, and what Eddy writes instead.
//!
//! The ancestors (Lustre, Scade, Lucid) have `pre`, `->`, `let … tel`, `returns`; C and Python have `&&`,
//! `%`, `^`. None of these words is reserved: `pre` is a fine name for a stream, so a word is explained only
//! where it makes no sense as a name.

use eddy_syntax::lex::TokenKind;
use eddy_syntax::{Confidence, suggest};

use super::Parser;
use super::frame::{Frame, Operator};
use super::recover::Place;
use crate::names::Name;
use crate::tree::{ExprId, ExprKind, Scalar};

/// The operator that a symbol stands for elsewhere.
pub(super) fn operator(symbol: &str) -> Option<&'static str> {
    Some(match symbol {
        "=" => "==",
        "&&" => "and",
        "||" => "or",
        "<>" => "!=",
        "%" => "mod",
        _ => return None,
    })
}

/// A type that a word stands for elsewhere, or in haste.
fn scalar(word: &str) -> Option<Scalar> {
    match word {
        "real" | "float" | "double" | "f32" | "f64" | "float32" | "float64" | "number" => Some(Scalar::Num),
        "integer" | "i32" | "i64" | "int32" | "int64" | "nat" => Some(Scalar::Int),
        "boolean" | "clock" => Some(Scalar::Bool),
        _ => {
            let word = suggest::nearest(word, Scalar::ALL.map(Scalar::word))?;
            Scalar::ALL.into_iter().find(|scalar| scalar.word() == word)
        }
    }
}

/// Whether a word is an operator of Lustre, which has its operand behind it.
pub(super) fn is_prefix_of_lustre(word: &str) -> bool {
    matches!(word, "pre" | "last" | "current")
}

fn is_operator(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Symbol(symbol) if Operator::from_symbol(symbol).is_some())
}

impl Parser<'_> {
    /// Reports the next token if it is an operator of another language; it is then read as the one that is
    /// meant.
    pub(super) fn complain_about_foreign_operator(&mut self) {
        let token = self.token();
        let TokenKind::Symbol(symbol) = token.kind else { return };
        let Some(meant) = operator(symbol) else { return };
        let (help, confidence) = match symbol {
            "=" => ("compare with `==`".to_string(), Confidence::Maybe),
            _ => (format!("write `{meant}`"), Confidence::Safe),
        };
        self.complain_and_guess(&format!("`{meant}`")).edit(help, token.span, meant, confidence);
    }

    /// `!x`.
    pub(super) fn complain_about_exclamation_mark(&mut self) {
        let span = self.token().span;
        self.complain_and_guess("`not`").edit("write `not`", span, "not ", Confidence::Safe);
    }

    /// The way out when no operand starts here.
    pub(super) fn help_for_operand(&self) -> Option<String> {
        let text = self.text();
        let next_is_number = self.peek(1) == TokenKind::Number;
        let in_merge = matches!(self.frames.last(), Some(Frame::Merge { .. }));
        Some(match text {
            _ if in_merge && is_operator(self.token().kind) => {
                "an argument with operators stands in parentheses: `merge c (x + 1) y`".to_string()
            }
            _ if self.begins_equation() => {
                format!("this starts the equation of `{text}`: the one before it is not finished")
            }
            "." | "□" if next_is_number => {
                format!(
                    "write a digit before the point: `0.{}`",
                    self.file.slice(self.tokens[self.at + 1].span)
                )
            }
            ")" | "]" if self.previous().kind == TokenKind::Symbol(",") => {
                "remove the comma before it".to_string()
            }
            "+" => "there is no unary `+`: leave it out".to_string(),
            "back" => "`back` only follows `fby`: `i fby back x`".to_string(),
            "." | "?" | "⊥" | "□" => {
                "absent and unknown values are written only in the rows of a `run`".to_string()
            }
            "{" => "braces only hold the rows of a `run`; group with parentheses".to_string(),
            // `merge(c, x, y)` was read as a merge whose condition is a tuple.
            ";" if in_merge && self.file.slice(self.previous().span) == ")" => {
                "`merge` takes its arguments without commas: `merge c x y`, each in parentheses if it is more than a name"
                    .to_string()
            }
            "fby" | ";" if text == "fby" || self.file.slice(self.previous().span) == "fby" => {
                "`fby` has the first value on its left, and what is delayed on its right: `0.0 fby x`".to_string()
            }
            "when" => "`when` follows the value that it samples: `x when c`".to_string(),
            _ if self.token().kind == TokenKind::String => {
                "strings are only for the path of an `import`".to_string()
            }
            _ => return None,
        })
    }

    /// The way out when something follows an operand that cannot.
    pub(super) fn help_after_operand(&self, operand: ExprId) -> Option<String> {
        let token = self.token();
        let previous = self.previous();
        let text = self.text();
        let last_word = self.file.slice(previous.span);
        if is_prefix_of_lustre(last_word) && self.starts_operand(0) {
            return Some(match last_word {
                "current" => "hold the last value with `y = merge c x ((0.0 fby y) when not c);`".to_string(),
                word => {
                    format!("`{word} x` of Lustre is `init fby x`: say what the value is at the first cycle")
                }
            });
        }
        if let ExprKind::Merge(..) = self.exprs().kind(operand)
            && self.starts_operand(0)
        {
            return Some("`merge` has three arguments: a condition, and a value for each case".to_string());
        }
        if token.kind == TokenKind::Name && previous.kind == TokenKind::Number && self.is_glued() {
            return Some(format!(
                "write the product with `*`: `{} * {text}`",
                self.file.slice(previous.span)
            ));
        }
        if let Some(Frame::IfThen { .. }) = self.frames.last() {
            return Some("an `if` has both branches: `if c then x else y`".to_string());
        }
        let is_open = !self.frames.is_empty();
        Some(match text {
            "->" | "→" => "`a -> pre b` of Lustre is `a fby b`".to_string(),
            "^" | "**" => "write `pow(x, y)`".to_string(),
            "." if previous.kind == TokenKind::Number && !last_word.contains(['.', 'e', 'E']) => {
                format!("write a digit behind the point: `{}.0`", self.file.slice(previous.span))
            }
            "." if previous.kind == TokenKind::Name => {
                "streams have no parts: a node gives several outputs, `a, b = f(x);`, and `x[0]` is a row of a tensor"
                    .to_string()
            }
            "every" => "a node `N` that is reset has a twin `N_end(…, end)`, which starts again after `end`"
                .to_string(),
            ")" | "]" | "}" if !is_open => format!("nothing is open that `{text}` would close"),
            "," if !is_open => "put several values in parentheses: `(x, y)`".to_string(),
            "then" | "else" if !is_open => format!("this `{text}` has no `if`"),
            "back" => "`back` only follows `fby`: `i fby back x`".to_string(),
            ":=" => "an equation ends with `;` before the next one".to_string(),
            ":" => "a type stands on the left side: `y:num = …;`".to_string(),
            "?" => "a choice is written `if c then a else b`".to_string(),
            "on" => "a stream is sampled with `when`: `x when c`".to_string(),
            "where" => {
                "there is no `where`: its equations stand beside this one, each with its `;`".to_string()
            }
            _ => return self.help_after_comment(),
        })
    }

    /// `x = 1 --2;`: the rest of the line was a comment.
    pub(super) fn help_after_comment(&self) -> Option<String> {
        let before = self.previous().span.end;
        let next = self.comments.partition_point(|comment| comment.span.start < before);
        let comment =
            self.comments.get(next).filter(|comment| comment.span.end <= self.token().span.start)?;
        let text = self.file.slice(comment.span);
        let code = text
            .strip_prefix("--")
            .filter(|code| code.starts_with(|c: char| !c.is_whitespace() && c != '-'))?;
        code.ends_with(';')
            .then(|| format!("`--` starts a comment: write `- -{}`", code.trim_end_matches(';')))
    }

    /// The type that was meant by a word that names none, which is reported.
    pub(super) fn foreign_scalar(&mut self) -> Option<Scalar> {
        let token = self.token();
        let meant = if token.kind == TokenKind::Name { scalar(self.text()) } else { None };
        let complaint = self.complain("`num`, `int` or `bool`");
        if let Some(meant) = meant {
            let word = meant.word();
            complaint.edit(format!("the type is called `{word}`"), token.span, word, Confidence::Maybe);
        } else {
            complaint.help("types are `num`, `int` and `bool`, with a shape behind them: `num [3]`");
        }
        if token.kind == TokenKind::Name {
            self.advance();
        }
        meant
    }

    /// `returns` in the place of `->`.
    pub(super) fn eats_returns(&mut self) -> bool {
        let span = self.token().span;
        if !self.sees_word("returns") {
            return false;
        }
        self.complain("`->`").edit("write `->`", span, "->", Confidence::Safe);
        self.advance();
        true
    }

    /// `var x:int; let … tel` around the equations of Lustre, `where` before those of Lucid. Whoever wrote `returns` was told already, so it
    /// goes without a word if `is_known`.
    pub(super) fn eats_lustre_block(&mut self, is_known: bool) -> bool {
        if self.token().kind != TokenKind::Name {
            return false;
        }
        let next = self.peek(1);
        let (word, help) = match self.text() {
            "let" if matches!(next, TokenKind::Name | TokenKind::Symbol("(")) => {
                ("let", "the equations of a node follow its head, without `let` and `tel`")
            }
            "where" if next == TokenKind::Name => {
                ("where", "the equations of a node follow its head, without `where`")
            }
            "tel" if !matches!(next, TokenKind::Symbol("=" | ":=" | "==" | "," | ":" | "when")) => {
                ("tel", "a node ends where the next declaration starts, without `tel`")
            }
            "var" if next == TokenKind::Name => {
                ("var", "locals need no declaration; a type may stand in their equation: `x:num = …;`")
            }
            _ => return false,
        };
        if self.explained.insert(word) && !is_known {
            self.complain("an equation").help(help);
            // Who is told about `let` needs not be told about `tel`.
            self.explained.insert("tel");
        }
        self.advance();
        if word == "var" {
            self.skip_declarations();
        } else if word == "tel" && !self.eat(";") {
            self.eat(".");
        }
        true
    }

    /// `x, y:int; z:bool;` behind `var`.
    fn skip_declarations(&mut self) {
        loop {
            let is_end =
                |kind: &TokenKind| matches!(kind, TokenKind::Symbol(";" | "=" | "node") | TokenKind::End);
            let rest = self.tokens[self.at..].iter().map(|token| token.kind);
            let length = rest.take_while(|kind| !is_end(kind)).count();
            let is_declaration = self.peek(length) == TokenKind::Symbol(";");
            let names_something = self.token().kind == TokenKind::Name
                && matches!(self.peek(1), TokenKind::Symbol(":" | "," | ";"));
            if !is_declaration || !names_something {
                return;
            }
            self.at += length + 1;
        }
    }

    /// The way out when an equation has no `=` behind its first name.
    pub(super) fn help_for_equals(&self, first: Option<Name>) -> Option<String> {
        let first = self.names.text(first?);
        let next = self.token().kind;
        if next == TokenKind::Symbol("(") && self.is_glued() {
            return Some(format!("an equation names its results, or discards them: `_ = {first}(…);`"));
        }
        match first {
            "run" | "train" => return Some(format!("`{first}` is followed by the name of a node")),
            "function" | "fun" | "fn" | "def" | "kernel" => {
                return Some("a function of streams is a `node`".to_string());
            }
            "const" | "let" | "var" | "local" if next == TokenKind::Name => {
                let name = self.text();
                return Some(format!("a constant is an equation without `{first}`: `{name} = …;`"));
            }
            _ => {}
        }
        let meant = suggest::nearest(first, ["node", "run", "train", "import"])?;
        (next == TokenKind::Name).then(|| format!("did you mean `{meant}`?"))
    }

    /// Between declarations stands something else.
    pub(super) fn complain_about_item(&mut self) {
        let at = self.at;
        let help = match (self.token().kind, self.peek(1)) {
            (TokenKind::Name, TokenKind::Symbol("=" | "," | ":" | ":=")) => {
                Some("equations belong to a node: write them below its head, before any `run`".to_string())
            }
            (TokenKind::Name, _) => {
                // As if it were the first name of an equation.
                let span = self.advance().span;
                let first = self.intern(span);
                self.help_for_equals(Some(first))
            }
            _ => None,
        };
        self.at = at;
        let complaint = self.complain("`node`, `run` or `train`");
        if let Some(help) = help {
            complaint.help(help);
        }
        self.advance();
        self.skip(Place::File);
    }
}
