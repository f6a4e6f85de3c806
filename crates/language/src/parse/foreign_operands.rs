//! Expressions of other languages, and the messages that give Eddy's form.
//!
//! The parser calls these functions only after an error, at a token that the grammar does not allow. Each
//! function examines that token and its neighbours, and suggests Eddy's form of what was probably intended.

use eddy_syntax::lex::TokenKind;

use super::Parser;
use super::foreign::is_prefix_of_lustre;
use super::form::Waits;
use super::frame::{Frame, Operator};
use super::recover::shortened;
use crate::tree::{ExprId, ExprKind};

/// The help for `if c { a }`, `a if c else b` and the like.
const CHOICE: &str = "a choice is written `if c then a else b`";
/// The help for loops and comprehensions inside an expression.
const NO_COMPREHENSION: &str = "a list with one element for each index is written `[i < 4: 2.0 * x[i]]`, and a sum of such elements `sum(i < 4: x[i])`";
/// The help for functions without a name.
const NO_LAMBDA: &str = "there are no functions without a name: write a node, `node f(x) -> (y)  y = …;`";

fn is_operator(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Symbol(symbol) if Operator::from_symbol(symbol).is_some())
}

/// The help for a word before an operand that starts an expression in other languages: `return x`.
fn word_before_operand(word: &str) -> Option<&'static str> {
    Some(match word {
        "return" | "yield" => "there is no `return`: an output is defined by an equation, `y = …;`",
        "lambda" | "fun" | "fn" | "function" => NO_LAMBDA,
        "case" | "match" | "switch" | "select" => CHOICE,
        "let" => "there is no `let … in`: equations follow each other, `z = …; y = z;`",
        "NOT" | "Not" => "write `not`",
        "next" => "the value of the next cycle is `post x`",
        "reset" | "restart" => RESET,
        "await" => "streams are never waited for: `x when c` is there when `c` is true",
        "int" | "num" | "float" | "double" | "real" | "bool" => "a conversion is a call: `int(x)`, `num(x)`",
        "new" => "an instance is made by its call: `f(x)`",
        _ => return None,
    })
}

const RESET: &str = "an instance that restarts is written `reset f(x) every c`";

/// The help for a word after an operand that is an operator in other languages: `a AND b`.
fn word_after_operand(word: &str) -> Option<&'static str> {
    Some(match word {
        "AND" | "And" => "write `and`",
        "OR" | "Or" => "write `or`",
        "MOD" | "Mod" | "rem" => "write `mod`",
        "DIV" | "Div" => "write `div`",
        "FBY" | "Fby" => "write `fby`",
        "WHEN" | "When" => "write `when`",
        "xor" | "XOR" | "Xor" => "either of two conditions, not both: `a != b`",
        "is" => "compare with `==`",
        "in" => "there is no `in`: compare with `==`, and join comparisons with `or`",
        "as" => "convert with `num(x)` or `int(x)`",
        "elif" | "elsif" | "elseif" | "elsIf" => "write `else if`",
        "for" => NO_COMPREHENSION,
        "end" | "done" | "fi" => "an expression and its equation end with `;`",
        "every" | "reset" => RESET,
        "on" => "a stream is sampled with `when`: `x when c`",
        "where" => "there is no `where`: its equations follow this one, each with its `;`",
        "otherwise" => CHOICE,
        _ => return None,
    })
}

impl Parser<'_> {
    /// Whether the token just read is a word that starts an expression in another language. The text after it
    /// is not the start of an equation, although it may look like one: `lambda x: x`.
    pub(super) fn follows_foreign_word(&self) -> bool {
        self.previous().kind == TokenKind::Name
            && !self.starts_line()
            && word_before_operand(self.file.slice(self.previous().span)).is_some()
    }

    /// The help when no operand starts here.
    pub(super) fn help_for_operand(&self) -> Option<String> {
        let text = self.text();
        let next_is_number = self.peek(1) == TokenKind::Number;
        let before = self.file.slice(self.previous().span);
        let in_merge = matches!(self.frames.last(), Some(Frame::Merge { .. }));
        Some(match text {
            _ if in_merge && is_operator(self.token().kind) => {
                "an argument with operators stands in parentheses: `merge c (x + 1) y`".to_string()
            }
            _ if self.begins_equation() => {
                format!("this starts the equation of `{text}`: the one before it is not finished")
            }
            ":" | "::" | "]" if matches!(self.frames.last(), Some(Frame::Index { .. })) => self.slice(),
            "." | "□" if next_is_number => {
                format!(
                    "write a digit before the point: `0.{}`",
                    self.file.slice(self.tokens[self.at + 1].span)
                )
            }
            ")" | "]" if before == "," => "remove the comma before it".to_string(),
            ")" if before == "(" => "there is no empty tuple; a call without arguments is `f()`".to_string(),
            "+" | "++" => format!("there is no unary `{text}`: leave it out"),
            "back" => "`back` only follows `fby`: `i fby back x`".to_string(),
            "." | "?" | "⊥" | "□" => {
                "absent and unknown values are written only in the rows of a `run`".to_string()
            }
            "{" => "braces hold records, `{x = 1.0}`, and the rows of a `run`; group with parentheses".to_string(),
            // `merge(c, x, y)` was parsed as a merge whose condition is a tuple.
            ";" if in_merge && before == ")" => {
                "`merge` takes its arguments without commas: `merge c x y`, each in parentheses if it is more than a name"
                    .to_string()
            }
            "fby" | ";" if text == "fby" || before == "fby" => {
                "`fby` has the first value on its left, and what is delayed on its right: `0.0 fby x`".to_string()
            }
            "when" => "`when` follows the value that it samples: `x when c`".to_string(),
            "else" if before == "or" => "write `or` alone".to_string(),
            "then" if before == "and" => "write `and` alone".to_string(),
            "mod" | "div" | "and" | "or" => format!("`{text}` comes between its operands: `x {text} y`"),
            "\\" | "|" => NO_LAMBDA.to_string(),
            "@" => "the product of matrices is `matmul(x, y)`".to_string(),
            "=" if matches!(before, "<" | ">") => format!("write `{before}=`, without a blank"),
            ";" if is_operator(self.previous().kind) => format!("`{before}` has no operand on its right"),
            _ if self.token().kind == TokenKind::String => {
                "strings are only for the path of an `import`".to_string()
            }
            _ if is_operator(self.token().kind) => format!("`{text}` has no operand on its left"),
            _ => return None,
        })
    }

    /// The help for `x[1:3]`, `x[:3]` and `x[]`.
    fn slice(&self) -> String {
        let Some(Frame::Index { value, .. }) = self.frames.last() else { return String::new() };
        let value = shortened(self.file.slice(self.exprs().span(*value)));
        format!(
            "the rows from `lo` up to, not including, `hi` are `{value}[lo..hi]`; one row is `{value}[i]`"
        )
    }

    /// The help when a token cannot follow an operand.
    pub(super) fn help_after_operand(&self, operand: ExprId) -> Option<String> {
        let previous = self.previous();
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
        if let Some(help) = self.help_after_number() {
            return Some(help);
        }
        let text = self.text();
        if matches!(text, "elif" | "elsif" | "elseif") {
            return Some("write `else if`".to_string());
        }
        match self.frames.last() {
            Some(Frame::Form(open)) if open.waits == Waits::Scrutinee => {
                return Some("a `match` has its cases in braces: `match m { a: x, _: y }`".to_string());
            }
            Some(Frame::IfThen { .. }) => {
                return Some("an `if` has both branches: `if c then x else y`".to_string());
            }
            Some(Frame::IfCondition { .. }) => return Some(CHOICE.to_string()),
            Some(Frame::Index { .. }) if matches!(text, ":" | "::") => return Some(self.slice()),
            _ => {}
        }
        self.help_for_two_words(operand).or_else(|| self.help_for_symbol(operand))
    }

    /// The help for text directly after a number: `1_000`, `0x10`, `1.0f`, `2x`, `5.`.
    fn help_after_number(&self) -> Option<String> {
        let number = self.file.slice(self.previous().span);
        let text = self.text();
        if self.previous().kind != TokenKind::Number {
            return None;
        }
        if text == "." && self.is_glued() && !number.contains(['.', 'e', 'E']) {
            let exponent = self.tokens[self.at + 1];
            let rest = match exponent.kind {
                TokenKind::Name if self.token().span.end == exponent.span.start => {
                    self.file.slice(exponent.span)
                }
                _ => "",
            };
            return Some(format!("write a digit after the point: `{number}.0{rest}`"));
        }
        if text == "." && self.is_glued() {
            return Some("a number has one point".to_string());
        }
        if self.token().kind != TokenKind::Name || self.starts_line() {
            return None;
        }
        let product = format!("write the product with `*`: `{number} * {text}`");
        if !self.is_glued() {
            return word_after_operand(text).is_none().then_some(product);
        }
        let digits = |radix: u32| i64::from_str_radix(&text[1..].replace('_', ""), radix).ok();
        let prefix = text.chars().next().unwrap_or_default();
        Some(match prefix {
            '_' if text[1..].chars().all(|c| c.is_ascii_digit() || c == '_') => {
                format!("digits are written without `_`: `{number}{}`", text.replace('_', ""))
            }
            'x' | 'X' | 'b' | 'B' | 'o' | 'O' if number == "0" && text.len() > 1 => {
                let radix = match prefix.to_ascii_lowercase() {
                    'x' => 16,
                    'b' => 2,
                    _ => 8,
                };
                match digits(radix) {
                    Some(value) => format!("numbers are decimal: write `{value}`"),
                    None => product,
                }
            }
            'e' | 'E' if text.len() == 1 => {
                format!("an exponent has digits: `{number}e5`; a product is `{number} * {text}`")
            }
            _ if matches!(
                text,
                "f" | "F"
                    | "d"
                    | "D"
                    | "L"
                    | "l"
                    | "u"
                    | "U"
                    | "f32"
                    | "f64"
                    | "i32"
                    | "i64"
                    | "u32"
                    | "u64"
                    | "j"
            ) =>
            {
                format!("a number has no suffix: write `{number}`; a product is `{number} * {text}`")
            }
            _ => product,
        })
    }

    /// The help for a word next to an operand: `sin x`, `return x`, `a AND b`.
    fn help_for_two_words(&self, operand: ExprId) -> Option<String> {
        if self.token().kind == TokenKind::Name
            && let Some(help) = word_after_operand(self.text())
        {
            return Some(help.to_string());
        }
        if self.starts_line() {
            return None;
        }
        let last_word = self.file.slice(self.previous().span);
        let follows_name = self.previous().kind == TokenKind::Name;
        if follows_name && let Some(help) = word_before_operand(last_word) {
            return Some(help.to_string());
        }
        let text = shortened(self.text());
        if text == "if" {
            return Some(CHOICE.to_string());
        }
        if !matches!(self.token().kind, TokenKind::Name | TokenKind::Number) {
            return None;
        }
        match self.exprs().kind(operand) {
            ExprKind::Variable(_) if follows_name => Some(format!(
                "a call has parentheses: `{last_word}({text})`; a product is `{last_word} * {text}`"
            )),
            ExprKind::Group(inner)
                if matches!(self.exprs().kind(inner), ExprKind::Variable(name)
                    if super::foreign::scalar(self.names.text(name)).is_some()) =>
            {
                Some("a conversion is a call: `int(x)`, `num(x)`".to_string())
            }
            _ => None,
        }
    }

    /// The help for a symbol after an operand.
    fn help_for_symbol(&self, operand: ExprId) -> Option<String> {
        let is_open = !self.frames.is_empty();
        let text = self.text();
        Some(match text {
            "->" | "→" => "`a -> pre b` of Lustre is `a fby b`".to_string(),
            "^" | "**" => "write `pow(x, y)`".to_string(),
            "." => return Some(self.help_for_member()),
            "(" if matches!(self.exprs().kind(operand), ExprKind::Call(..)) => {
                "a call has one list of arguments: `f(x, y)`; its result is no function".to_string()
            }
            ")" | "]" | "}" if !is_open => format!("no open bracket matches `{text}`"),
            "," if !is_open => "put several values in parentheses: `(x, y)`".to_string(),
            "then" | "else" if !is_open => format!("this `{text}` has no `if`"),
            "back" => "`back` only follows `fby`: `i fby back x`".to_string(),
            ":=" => "an equation ends with `;` before the next one".to_string(),
            ":" | "::" => "a type is on the left side: `y:num = …;`".to_string(),
            "?" => CHOICE.to_string(),
            "not" => "`not` comes before a condition: `a and not b`".to_string(),
            "!" => "`!` is written `not`, before its operand".to_string(),
            "=>" | "\\" => NO_LAMBDA.to_string(),
            "@" => "the product of matrices is `matmul(x, y)`; a clock is written `x when c`".to_string(),
            "|>" => "a call is written `f(x)`".to_string(),
            "<<" | ">>" => {
                "there are no shifts: multiply with a power of two, or divide with `div`".to_string()
            }
            "++" => "tensors are joined with `concat(x, y)`; a counter is an equation, `n = 0 fby n + 1;`"
                .to_string(),
            "+=" | "-=" | "*=" => {
                "a stream is defined once: a running sum is `s = x + (0.0 fby s);`".to_string()
            }
            _ => return self.help_after_comment(),
        })
    }

    /// The help for `x.shape`, `x.T`, `x.sum()` and `np.sin(x)`.
    fn help_for_member(&self) -> String {
        const MODULES: [&str; 10] = ["np", "numpy", "jnp", "jax", "math", "torch", "tf", "nn", "F", "Math"];
        let object = shortened(self.file.slice(self.previous().span));
        let member = shortened(self.file.slice(self.tokens[(self.at + 1).min(self.tokens.len() - 1)].span));
        let is_called = self.peek(2) == TokenKind::Symbol("(");
        match member.as_str() {
            _ if MODULES.contains(&object.as_str()) => {
                format!("functions are called by their name alone: `{member}(…)`")
            }
            "T" => format!("write `transpose({object})`"),
            "shape" | "size" | "length" | "ndim" | "dtype" | "len" => {
                "sizes are compile-time constants: `eddy check` shows them, and a node takes them as inputs".to_string()
            }
            _ if is_called && self.peek(3) == TokenKind::Symbol(")") => {
                format!("a function has its operand in parentheses: `{member}({object})`")
            }
            _ if is_called => format!("a function has its operands in parentheses: `{member}({object}, …)`"),
            _ => "streams have no parts: a node gives several outputs, `a, b = f(x);`, and `x[0]` is a row of a tensor"
                .to_string(),
        }
    }

    /// The help for `x = 1 --2;`, where `--` turns the rest of the line into a comment.
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
}
