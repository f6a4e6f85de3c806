//! Runs: their options and rows.

use eddy_syntax::lex::{Token, TokenKind};
use eddy_syntax::{Confidence, Diagnostic, Span, suggest};

use super::Parser;
use super::recover::{Place, shortened};
use crate::codes;
use crate::tree::{
    CellId, CellKind, CellList, Ident, Item, NumberValue, Row, RowValue, Run, RunOption, RunOptionKind,
    Segment, Semantics, StreamPath,
};

/// The words that start an option.
const OPTIONS: [&str; 12] =
    ["A", "B", "K", "chrono", "trace", "stats", "strict", "unchecked", "for", "seed", "show", "probe"];

/// The word that starts a row of expected cells.
const EXPECT: &str = "expect";

/// The forms of cells, for messages.
const CELLS: &str = "a cell is a number, `t`, `f`, `.` for absent, `?` for unknown, or a list of these";

impl Parser<'_> {
    /// `run f chrono { x: 1 2; }`.
    pub(super) fn run(&mut self) {
        let start = self.advance().span;
        let node = self.ident_here();
        let mut options = Vec::new();
        let mut has_rows = true;
        while has_rows && !self.sees("{") {
            match self.option() {
                Some(option) => {
                    self.complain_about_repetition(&options, &option);
                    options.push(option);
                }
                // The brace is missing, and the error was reported.
                None if self.begins_row() => {
                    self.skip_rows();
                    has_rows = false;
                }
                None => has_rows = self.finds_brace(),
            }
        }
        let open = self.token().span;
        self.eat("{");
        let rows = if has_rows { self.rows(open) } else { Vec::new() };
        let (rows_span, span) = (self.since(open), self.since(start));
        self.program.items.push(Item::Run(Run { node, options, rows, rows_span, span }));
    }

    /// Reports a second length, seed or semantics of a bench; a word such as `chrono` may be repeated.
    fn complain_about_repetition(&mut self, options: &[RunOption], option: &RunOption) {
        let is_alike = |other: &&RunOption| {
            matches!(
                (&other.kind, &option.kind),
                (RunOptionKind::For(_), RunOptionKind::For(_))
                    | (RunOptionKind::Seed(_), RunOptionKind::Seed(_))
                    | (RunOptionKind::Semantics(_), RunOptionKind::Semantics(_))
            )
        };
        if let Some(other) = options.iter().find(is_alike) {
            let text = |span| self.file.slice(span).to_string();
            let title =
                format!("expected one of `{}` and `{}`, found both", text(other.span), text(option.span));
            let diagnostic = Diagnostic::error(codes::SYNTAX, option.span, title);
            self.diagnostics.push(diagnostic.cause(other.span, "first here"));
        }
    }

    fn option(&mut self) -> Option<RunOption> {
        let start = self.token();
        let word = if start.kind == TokenKind::Name { self.text() } else { "" };
        if !OPTIONS.contains(&word) {
            let help = match suggest::nearest(word, OPTIONS) {
                _ if self.begins_row() => "the inputs stand in braces: `run f { x: 1 2; }`".to_string(),
                Some(option) if word.len() > 1 => format!("did you mean `{option}`?"),
                _ if start.kind == TokenKind::Name => format!("the options are `{}`", OPTIONS.join("`, `")),
                _ => "the inputs stand in braces, even if there are none: `run f for 3 {}`".to_string(),
            };
            self.complain("an option or `{`").help(help);
            return None;
        }
        self.advance();
        let kind = match word {
            "A" => RunOptionKind::Semantics(Semantics::Denotational),
            "B" => RunOptionKind::Semantics(Semantics::Operational),
            "K" => RunOptionKind::Semantics(Semantics::Kahn),
            "chrono" => RunOptionKind::Chrono,
            "trace" => RunOptionKind::Trace,
            "stats" => RunOptionKind::Stats,
            "strict" => RunOptionKind::Strict,
            "unchecked" => RunOptionKind::Unchecked,
            "probe" => RunOptionKind::Probe,
            "for" => RunOptionKind::For(self.natural("a number of cycles")?),
            "seed" => RunOptionKind::Seed(self.natural("a seed")?),
            _ => RunOptionKind::Show(self.paths()?),
        };
        Some(RunOption { kind, span: self.since(start.span) })
    }

    fn paths(&mut self) -> Option<Vec<StreamPath>> {
        let mut paths = Vec::new();
        loop {
            paths.push(self.path_to_stream()?);
            if !self.eat(",") {
                return Some(paths);
            }
        }
    }

    /// `f#1/g#2[3]/x`.
    fn path_to_stream(&mut self) -> Option<StreamPath> {
        let start = self.token().span;
        let mut segments = Vec::new();
        loop {
            let ident = self.leaf("the name of a stream")?;
            let instance = if self.eat("#") { Some(self.instance()?) } else { None };
            let mut copies = Vec::new();
            while self.eat("[") {
                copies.push(self.natural("the number of a copy")?);
                if !self.eat("]") {
                    self.complain("`]`");
                    return None;
                }
            }
            segments.push(Segment { ident, instance, copies });
            if !self.eat("/") {
                return Some(StreamPath { segments, span: self.since(start) });
            }
        }
    }

    /// `k` of `#k`, from 1.
    fn instance(&mut self) -> Option<u32> {
        let span = self.token().span;
        let number = self.natural("the number of an instance")?;
        let instance = u32::try_from(number).ok().filter(|number| *number > 0);
        if instance.is_none() {
            let title = "number out of range: expected the number of an instance, from 1 to 2^32 - 1";
            self.diagnostics.push(Diagnostic::error(codes::OUT_OF_RANGE, span, title));
        }
        Some(instance.unwrap_or(1))
    }

    /// After an error among the options, skips to the `{`. Returns false if a `;`, a `}` or a declaration
    /// comes before it.
    fn finds_brace(&mut self) -> bool {
        loop {
            match self.token().kind {
                TokenKind::End => return false,
                TokenKind::Symbol("{") => return true,
                TokenKind::Symbol(";" | "}") => {
                    self.advance();
                    return false;
                }
                _ if self.begins_item() => return false,
                _ => drop(self.advance()),
            }
        }
    }

    /// Skips rows whose opening brace is missing.
    fn skip_rows(&mut self) {
        while self.token().kind != TokenKind::End && !self.begins_item() {
            if self.advance().kind == TokenKind::Symbol("}") {
                return;
            }
        }
    }

    fn begins_row(&self) -> bool {
        self.begins_expectation()
            || self.token().kind == TokenKind::Name
                && matches!(self.peek(self.n_tokens_of_leaf()), TokenKind::Symbol(":" | "="))
    }

    /// Whether `expect o` begins here; `expect: 1 2;` is a row of an input of that name.
    fn begins_expectation(&self) -> bool {
        self.token().kind == TokenKind::Name && self.text() == EXPECT && self.peek(1) == TokenKind::Name
    }

    /// The number of tokens of the name of a stream or of a leaf of a record: `p.x` has three, without
    /// blanks.
    fn n_tokens_of_leaf(&self) -> usize {
        let mut n = 1;
        while self.peek(n) == TokenKind::Symbol(".")
            && self.peek(n + 1) == TokenKind::Name
            && self.is_glued_ahead(n)
            && self.is_glued_ahead(n + 1)
        {
            n += 2;
        }
        n
    }

    /// `x`, or `p.x` as one name.
    fn leaf(&mut self, what: &str) -> Option<Ident> {
        let n_tokens = self.n_tokens_of_leaf();
        let ident = self.ident(what)?;
        for _ in 1..n_tokens {
            self.advance();
        }
        let span = self.since(ident.span);
        Some(if n_tokens == 1 { ident } else { Ident { name: self.intern(span), span } })
    }

    fn rows(&mut self, open: Span) -> Vec<Row> {
        let mut rows = Vec::new();
        loop {
            match self.token().kind {
                TokenKind::Symbol("}") => {
                    self.advance();
                    return rows;
                }
                TokenKind::End => {
                    self.complain("`}`").cause(open, "this brace is open");
                    return rows;
                }
                _ if self.begins_item() => {
                    self.complain("`}`").cause(open, "this brace is open");
                    return rows;
                }
                TokenKind::Symbol(";") => {
                    self.complain("a row").help("remove this `;`");
                    self.advance();
                }
                _ => rows.extend(self.row()),
            }
        }
    }

    /// `x: 1 . 2;`, `k = e;` or `expect o: 1 2;`.
    fn row(&mut self) -> Option<Row> {
        let start = self.token().span;
        let is_expected = self.begins_expectation();
        if is_expected {
            self.advance();
        }
        let Some(ident) = self.leaf("the name of an input or `}`") else {
            self.advance();
            self.skip(Place::Run);
            return None;
        };
        let value = if self.eat(":") || self.eats_equals_before_cells() {
            let (cells, is_complete) = self.cells_of_row();
            if is_complete {
                self.end_of_line(None, Place::Run);
            } else {
                self.skip(Place::Run);
            }
            RowValue::Cells(cells)
        } else if is_expected {
            self.complain("`:`").help("write `expect o: 1 2 3;`, with a cell for each cycle");
            self.skip(Place::Run);
            return None;
        } else if self.eat("=") {
            RowValue::Constant(self.line(Place::Run))
        } else {
            self.complain("`:` or `=`").help("write `x: 1 2 3;` for a stream, `k = 3;` for a constant");
            self.skip(Place::Run);
            return None;
        };
        Some(Row { is_expected, ident, value, span: self.since(start) })
    }

    /// Reports `c = t f t;`, and parses it as if the `=` were a colon.
    fn eats_equals_before_cells(&mut self) -> bool {
        let is_cell = |token: &Token| match token.kind {
            TokenKind::Number | TokenKind::Symbol("true" | "false" | "." | "?" | "⊥") => true,
            TokenKind::Name => matches!(self.file.slice(token.span), "t" | "T" | "f" | "F" | "_"),
            _ => false,
        };
        let is_row = self.sees("=") && self.tokens[self.at + 1..].iter().take(2).all(is_cell);
        if is_row {
            let span = self.token().span;
            let help = "cells come after a colon, one for each cycle";
            self.complain("`:`").edit(help, span, ":", Confidence::Maybe);
            self.advance();
        }
        is_row
    }

    /// The cells up to the first token that is not a cell, and whether all of them could be read.
    fn cells_of_row(&mut self) -> (CellList, bool) {
        let mut done: Vec<CellId> = Vec::new();
        // For each open list: its bracket, and the index of its first cell among the complete ones.
        let mut open: Vec<(Span, usize)> = Vec::new();
        let is_complete = self.read_cells(&mut done, &mut open).is_some();
        // Drops the contents of lists that are not closed.
        if let Some((_, base)) = open.first() {
            done.truncate(*base);
        }
        (self.cells().list(done), is_complete)
    }

    fn read_cells(&mut self, done: &mut Vec<CellId>, open: &mut Vec<(Span, usize)>) -> Option<()> {
        self.has_guessed = false;
        loop {
            // Expects a cell, the end of the row, or the end of an empty list.
            if self.eat("[") {
                open.push((self.previous().span, done.len()));
                if !self.sees("]") {
                    continue;
                }
            } else {
                if open.is_empty() && self.ends_row() {
                    return Some(());
                }
                let start = self.token().span;
                let kind = self.cell(!open.is_empty())?;
                let span = self.since(start);
                let id = self.cells().push(kind, span);
                done.push(id);
            }
            // Expects what follows a cell of a list, or the end of an empty list.
            while let Some(&(bracket, base)) = open.last() {
                if self.eat("]") {
                    open.pop();
                    let items = self.cells().list(done.drain(base..));
                    let span = self.since(bracket);
                    let id = self.cells().push(CellKind::List(items), span);
                    done.push(id);
                } else if self.eat(",") {
                    break;
                } else {
                    self.complain("`,` or `]`").cause(bracket, "this list is open");
                    return None;
                }
            }
            // A comma outside of lists is an error, which is reported once per row.
            while open.is_empty() && self.sees(",") {
                if !self.has_guessed {
                    self.complain_and_guess("a cell or `;`").help("cells are separated by blanks");
                }
                self.advance();
            }
        }
    }

    fn ends_row(&self) -> bool {
        matches!(self.token().kind, TokenKind::Symbol(";" | "}") | TokenKind::End)
            || self.begins_row()
            || self.begins_item()
    }

    /// One cell that is not a list.
    fn cell(&mut self, in_list: bool) -> Option<CellKind> {
        let is_number = |kind| kind == TokenKind::Number;
        if self.sees("-") && is_number(self.peek(1)) {
            self.advance();
            self.reject_glued_point()?;
            return Some(self.number_cell(true));
        }
        if is_number(self.token().kind) {
            self.reject_glued_point()?;
            return Some(self.number_cell(false));
        }
        let kind = match self.token().kind {
            TokenKind::Symbol("true") => CellKind::Bool(true),
            TokenKind::Symbol("false") => CellKind::Bool(false),
            TokenKind::Symbol("?" | "⊥") => CellKind::Unknown,
            TokenKind::Symbol(".") => CellKind::Absent,
            TokenKind::Name => match self.text() {
                "t" | "T" => CellKind::Bool(true),
                "f" | "F" => CellKind::Bool(false),
                "_" => CellKind::Absent,
                _ => {
                    let span = self.token().span;
                    CellKind::Enumerator(self.intern(span))
                }
            },
            _ => return self.complain_about_missing_cell(in_list),
        };
        self.reject_glued_point()?;
        self.advance();
        Some(kind)
    }

    fn complain_about_missing_cell(&mut self, in_list: bool) -> Option<CellKind> {
        if self.has_guessed {
            return None;
        }
        let help = match self.token().kind {
            TokenKind::Symbol("-") => "a minus belongs to a number: `-1`",
            TokenKind::Symbol("+") => "a positive number has no sign",
            TokenKind::Symbol("(") => "a cell is a constant: compute constants in a row `k = …;`",
            _ => CELLS,
        };
        self.complain(if in_list { "a cell" } else { "a cell or `;`" }).help(help);
        None
    }

    fn number_cell(&mut self, is_negative: bool) -> CellKind {
        let span = self.advance().span;
        match self.number_value(span, is_negative) {
            Some(NumberValue::Int(value)) => CellKind::Int(value),
            Some(NumberValue::Num(value)) => CellKind::Num(value),
            None => CellKind::Unknown,
        }
    }

    /// Decision: `.5` and `1.` are refused, although they could be parsed as an absent cell next to a number.
    /// A number was intended, and the mistake would go unnoticed.
    fn reject_glued_point(&mut self) -> Option<()> {
        let (here, next) = (self.token(), self.tokens[self.at + 1]);
        let help = match (here.kind, next.kind) {
            _ if here.span.end != next.span.start => return Some(()),
            // `□`, the twin of `.`, cannot be meant as a decimal point.
            _ if self.file.slice(here.span.to(next.span)).contains('□') => return Some(()),
            (TokenKind::Number, TokenKind::Symbol(".")) => {
                "write a digit after the point, or a blank before it"
            }
            (TokenKind::Symbol("."), TokenKind::Number) => {
                "write a digit before the point, or a blank after it"
            }
            _ => return Some(()),
        };
        let found = shortened(self.file.slice(here.span.to(next.span)));
        self.complain_about("a number or cells with blanks between them", &format!("`{found}`")).help(help);
        None
    }
}
