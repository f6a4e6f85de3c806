//! Files, imports and training declarations.

use eddy_syntax::lex::{QUOTE, TokenKind};
use eddy_syntax::{Confidence, Span, suggest};

use super::Parser;
use super::recover::{Place, shortened};
use crate::tree::{ExprKind, ExprList, Ident, Import, Imported, Item, Pattern, Rule, Train};

impl Parser<'_> {
    /// `program`.
    pub(super) fn file(&mut self) {
        loop {
            if self.token().kind == TokenKind::End {
                return;
            }
            if !self.begins_item() {
                self.complain_about_item();
                continue;
            }
            match self.text() {
                "run" => self.run(),
                "train" => self.train(),
                "import" => self.import(),
                "fn" => self.function(),
                "const" => self.constant(),
                "type" => self.type_definition(),
                "eval" => self.eval(),
                _ => self.node(),
            }
        }
    }

    /// `import name, other from "path";` or `import "path";`.
    fn import(&mut self) {
        if !self.program.items.is_empty() && self.explained.insert("import") {
            self.complain("`node`, `fn`, `run` or `train`").help("imports stand at the top of the file");
        }
        let start = self.advance().span;
        let head = self.at;
        if let Some((what, path_span)) = self.import_head() {
            let path = self.file.slice(path_span).trim_matches('"').to_string();
            self.end_of_declaration("an import");
            self.program.imports.push(Import { what, path, path_span, span: self.since(start) });
        } else {
            self.poison_since(head);
            self.skip_declaration();
        }
    }

    fn import_head(&mut self) -> Option<(Imported, Span)> {
        if self.token().kind == TokenKind::String {
            return Some((Imported::All, self.path()?));
        }
        let mut names = Vec::new();
        loop {
            names.push(self.ident("the name of a declaration to import, or a path in quotes")?);
            if !self.eat(",") {
                break;
            }
        }
        if !self.eat_word("from") {
            let is_library = self.sees(":") && self.peek(1) == TokenKind::Name;
            let file = shortened(self.file.slice(self.tokens[(self.at + 1).min(self.tokens.len() - 1)].span));
            let name = names.first().map_or("", |ident| self.names.text(ident.name)).to_string();
            let help = match self.text() {
                _ if is_library => format!("a path stands in quotes: `import \"{name}:{file}\";`"),
                "as" => "an import has no `as`: a node keeps its name, `import f, g from \"FILE.eddy\";`"
                    .to_string(),
                _ => "an import is written `import f, g from \"FILE.eddy\";`, or from the library \
                      `import dense from \"eddy:layers\";`; functions such as `exp` need none"
                    .to_string(),
            };
            self.complain("`,` or `from`").help(help);
            if self.token().kind != TokenKind::String {
                return None;
            }
        }
        Some((Imported::Names(names), self.path()?))
    }

    /// A string with both quotes.
    fn path(&mut self) -> Option<Span> {
        let token = self.token();
        if token.kind != TokenKind::String {
            let shown = shortened(self.text());
            let file = self.tokens[(self.at + 2).min(self.tokens.len() - 1)];
            let is_library = self.peek(1) == TokenKind::Symbol(":") && file.kind == TokenKind::Name;
            let library = shortened(self.file.slice(file.span));
            let complaint = self.complain("a path in quotes");
            if token.kind == TokenKind::Name && is_library {
                complaint.help(format!("write `\"{shown}:{library}\"`"));
            } else if token.kind == TokenKind::Name {
                complaint.help(format!("write `\"{shown}.eddy\"`"));
            }
            return None;
        }
        let text = self.text();
        if text.len() < 2 || !text.ends_with(QUOTE) {
            self.complain("a path with `\"` at its end");
            self.advance();
            return None;
        }
        self.advance();
        Some(token.span)
    }

    /// `train N as M loss L optim O(args) [for "pattern"], … [segment [mean]] [truncate];`.
    fn train(&mut self) {
        let start = self.advance().span;
        let head = self.at;
        if let Some(mut train) = self.train_head(start) {
            self.end_of_declaration("a training declaration");
            train.span = self.since(start);
            self.program.items.push(Item::Train(train));
        } else {
            self.poison_since(head);
            self.skip_declaration();
        }
    }

    fn train_head(&mut self, start: Span) -> Option<Train> {
        let node = self.ident("the name of the node to train")?;
        let ident = self.train_part("as", "the name of the node that trains it")?;
        let loss = self.train_part("loss", "the name of the loss")?;
        let mut rules = vec![self.first_rule()?];
        while self.eat(",") {
            rules.push(self.rule()?);
        }
        let segment = self.flag("segment");
        let mean = if segment.is_some() { self.flag("mean") } else { None };
        let truncate = self.flag("truncate");
        let span = self.since(start);
        Some(Train { at: start, node, ident, loss, rules, segment, mean, truncate, span })
    }

    fn first_rule(&mut self) -> Option<Rule> {
        let optimiser = self.train_part("optim", "the name of the optimiser")?;
        self.rule_of(optimiser)
    }

    /// A further rule: `O(args) for "pattern"`.
    fn rule(&mut self) -> Option<Rule> {
        let optimiser = self.ident("the name of the next optimiser")?;
        self.rule_of(optimiser)
    }

    fn rule_of(&mut self, optimiser: Ident) -> Option<Rule> {
        let arguments = if self.sees("(") {
            let call = self.call_of(optimiser)?;
            match self.exprs().kind(call) {
                ExprKind::Call(_, arguments) => arguments,
                _ => return None,
            }
        } else {
            ExprList::default()
        };
        let pattern = if self.eat_word("for") { Some(self.pattern_of_parameters()?) } else { None };
        Some(Rule { optimiser, arguments, pattern, span: self.since(optimiser.span) })
    }

    /// `"encoder/*"`.
    fn pattern_of_parameters(&mut self) -> Option<Pattern> {
        let text = self.text();
        if self.token().kind != TokenKind::String {
            self.complain("a pattern in quotes").help(
                "the parameters of an optimiser are given by their paths: `sgd(0.1) for \"encoder/*\"`",
            );
            return None;
        }
        if text.len() < 2 || !text.ends_with(QUOTE) {
            self.complain("a pattern with `\"` at its end");
            return None;
        }
        let span = self.advance().span;
        Some(Pattern { text: text[1..text.len() - 1].to_string(), span })
    }

    fn train_part(&mut self, word: &'static str, what: &str) -> Option<Ident> {
        if !self.eat_word(word) {
            let meant = if self.token().kind == TokenKind::Name && self.peek(1) == TokenKind::Name {
                suggest::nearest(self.text(), [word])
            } else {
                None
            };
            let help = match meant {
                Some(word) => format!("did you mean `{word}`?"),
                None => "it is written `train N as M loss L optim O(…);`".to_string(),
            };
            self.complain(&format!("`{word}`")).help(help);
            meant?;
            self.advance();
        }
        self.ident(what)
    }

    fn flag(&mut self, word: &str) -> Option<Span> {
        let span = self.token().span;
        self.eat_word(word).then_some(span)
    }

    /// The `;` of a declaration.
    fn end_of_declaration(&mut self, what: &str) {
        if self.eat(";") {
            return;
        }
        let after = self.previous().span.after();
        let is_next = self.begins_item() || self.token().kind == TokenKind::End;
        let is_segment = self.sees_word("segment");
        let is_mean = self.sees_word("mean");
        let complaint = self.complain("`;`");
        if is_next {
            complaint.edit(format!("{what} ends with `;`"), after, ";", Confidence::Maybe);
            return;
        }
        if is_segment {
            complaint.help("`segment` comes before `truncate`");
        } else if is_mean {
            complaint.help(
                "`mean` comes after `segment`: the gradient of a sequence is then the mean over its rows",
            );
        }
        self.skip_declaration();
    }

    /// Skips past the next `;`, or to the next declaration.
    fn skip_declaration(&mut self) {
        self.skip(Place::Node);
    }
}
