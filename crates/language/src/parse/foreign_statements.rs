//! Statements and declarations of other languages, and the messages that give Eddy's form.
//!
//! Called when a node contains something other than an equation, or a file something other than a
//! declaration.

use eddy_syntax::lex::TokenKind;
use eddy_syntax::suggest;

use super::Parser;
use super::recover::Place;
use crate::names::Name;
use crate::tree::Item;

const NO_LOOP: &str = "a loop is an expression: `[i < 4: x[i]]` has an element for each index, `fold s = 0.0 for i < 4 do s + x[i]` goes on from one to the \
                       next, and what is carried from cycle to cycle is written with `fby`";
const NODE: &str = "a function of streams is a node: `node f(x) -> (y)  y = …;`";
const IMPORT: &str = "an import is written `import f, g from \"FILE.eddy\";`, or from the library `import dense from \"eddy:layers\";`";
const OUTPUTS: &str =
    "there is no `return`: the outputs are named in the head, `-> (y)`, and defined by equations, `y = …;`";

/// The help for a word at the start of a statement, in a node or between nodes.
fn statement(word: &str) -> Option<&'static str> {
    Some(match word {
        "for" | "while" | "loop" | "do" | "repeat" | "foreach" | "until" => NO_LOOP,
        "return" | "yield" => OUTPUTS,
        "function" | "fun" | "fn" | "def" | "kernel" | "process" | "proc" | "func" | "sub" | "class"
        | "struct" => NODE,
        "from" | "use" | "using" | "include" | "open" | "require" | "load" => IMPORT,
        "print" | "printf" | "println" => {
            "`eddy run` prints the outputs; `show x` in a `run` prints an inner stream too"
        }
        "state" | "init" | "last" => "a stream with a memory is an equation with `fby`: `s = 0.0 fby s + x;`",
        "reset" | "automaton" | "restart" => {
            "an instance that restarts is written `reset f(x) every c`; state machines are `automaton { state S { … } }`"
        }
        "input" | "output" => "inputs and outputs are in the head of the node: `node f(x) -> (y)`",
        "begin" | "end" | "pass" | "done" | "od" => {
            "a node ends where the next declaration starts, without a word"
        }
        "switch" | "case" | "match" | "elif" | "elsif" => {
            "a choice is an expression: `y = if c then a else b;`"
        }
        _ => return None,
    })
}

/// Whether a word declares a name in other languages.
fn declares(word: &str) -> bool {
    matches!(
        word,
        "const"
            | "let"
            | "var"
            | "local"
            | "val"
            | "mut"
            | "global"
            | "static"
            | "auto"
            | "final"
            | "constexpr"
            | "define"
    )
}

impl Parser<'_> {
    /// The help when an equation has no `=` after its first name.
    pub(super) fn help_for_equals(&self, first: Option<Name>) -> Option<String> {
        let first = self.names.text(first?);
        let next = self.token().kind;
        if let Some(help) = statement(first) {
            return Some(help.to_string());
        }
        if next == TokenKind::Symbol("(") && self.is_glued() {
            return Some(format!("an equation names its results, or discards them: `_ = {first}(…);`"));
        }
        let text = self.text();
        match next {
            TokenKind::Name if matches!(first, "run" | "train") => {}
            _ if matches!(first, "run" | "train") => {
                return Some(format!("`{first}` is followed by the name of a node"));
            }
            TokenKind::Name if declares(first) => {
                return Some(format!("a constant is an equation without `{first}`: `{text} = …;`"));
            }
            TokenKind::Name if super::foreign::scalar(first).is_some() => {
                let word = super::foreign::scalar(first).map_or("num", |scalar| scalar.word());
                return Some(format!("a type comes after the name: `{text}:{word} = …;`"));
            }
            TokenKind::Symbol("+=" | "-=" | "*=" | "/=" | "++") => {
                return Some(format!(
                    "a stream is defined once: a running sum is `{first} = x + (0.0 fby {first});`"
                ));
            }
            TokenKind::Symbol("<") if self.peek(1) == TokenKind::Symbol("-") => {
                return Some("an equation is written with `=`".to_string());
            }
            TokenKind::Symbol("[") => {
                return Some(
                    "a stream is defined as a whole: `y = [a, b];` or `y = concat(a, b);`".to_string(),
                );
            }
            TokenKind::Symbol(";") | TokenKind::End => {
                return Some(format!("an equation has two sides: `y = {first};`"));
            }
            _ => {}
        }
        let meant =
            suggest::nearest(first, ["node", "fn", "const", "type", "eval", "run", "train", "import"]);
        match meant {
            Some(meant) if next == TokenKind::Name => Some(format!("did you mean `{meant}`?")),
            _ if next == TokenKind::Name => {
                Some(format!("several names on the left are separated by commas: `{first}, {text} = …;`"))
            }
            _ => None,
        }
    }

    /// The help when the text between declarations begins with a name.
    fn help_for_item(&self) -> Option<String> {
        let (word, next) = (self.text(), self.peek(1));
        let rest = self.file.slice(self.tokens[(self.at + 1).min(self.tokens.len() - 1)].span);
        let is_head = self.peek(2) == TokenKind::Symbol("(");
        if let Some(help) = statement(word) {
            return Some(help.to_string());
        }
        let declares = declares(word) || super::foreign::scalar(word).is_some();
        Some(match next {
            // `float f(float x)` and `let f(x) = x`.
            TokenKind::Name if declares && is_head => NODE.to_string(),
            TokenKind::Name if declares => help_for_constant(rest),
            TokenKind::Symbol("=" | ":=") => help_for_constant(word),
            TokenKind::Symbol("," | ":") if word != "import" => {
                "equations belong to a node: write them below its head, before any `run`".to_string()
            }
            _ if word == "import" => IMPORT.to_string(),
            TokenKind::Symbol("(") => {
                format!("{NODE}; a node is tried with a test bench, `run {word} {{ x: 1.0 2.0; }}`")
            }
            _ if matches!(word, "run" | "train") => format!("`{word}` is followed by the name of a node"),
            _ => {
                let meant = suggest::nearest(word, ["node", "run", "train", "import"])?;
                (next == TokenKind::Name).then(|| format!("did you mean `{meant}`?"))?
            }
        })
    }

    /// The help after `const k = 3.0;` among the equations of a node: `const` ends the node.
    fn help_after_constant(&self) -> Option<String> {
        let [.., Item::Node(_), Item::Constant(constant)] = &self.program.items[..] else { return None };
        let is_equation = matches!(self.peek(1), TokenKind::Symbol("=" | "," | ":" | ":="));
        let name = self.names.text(constant.ident.name);
        is_equation.then(|| {
            format!("`const` declares a constant of the file and ends the node above; inside a node write `{name} = …;`")
        })
    }

    /// Reports text between declarations that is no declaration.
    pub(super) fn complain_about_item(&mut self) {
        let help = if self.token().kind == TokenKind::Name { self.help_for_item() } else { None };
        let help = self.help_after_constant().or(help);
        let complaint = self.complain("`node`, `fn`, `run` or `train`");
        if let Some(help) = help {
            complaint.help(help);
        }
        // `from numpy import sin` is one error, and so is `import {dense} from "eddy:layers";`.
        let is_import = self.sees_word("from") || self.sees_word("import");
        self.advance();
        if is_import {
            while !self.starts_line() && self.token().kind != TokenKind::End {
                self.advance();
            }
        }
        self.skip(Place::File);
    }
}

/// The help for `const N = 4;` or `N = 4;` between nodes.
fn help_for_constant(name: &str) -> String {
    format!(
        "equations belong to a node: write `{name} = …;` below the head of each node that needs it, or make `{name}` an \
         input and give it as an argument"
    )
}
