//! Parsing of values for `--value` (section 3), without recursion.
//!
//! ```text
//! goal  ::= value [ ';' store ]
//! value ::= INT | '{' [entry (',' entry)*] '}' | '∅' | 'wrong'
//!         | 'thunk' '(' ('none' | 'some' '(' value ')' | value) ')'
//!         | '(' value (',' value)* ')' | '@' NAT
//! entry ::= side '->' side | '(' value ',' value ')'
//! side  ::= value [ ';' store ]      store ::= '[' ['@' NAT '=' value (',' '@' NAT '=' value)*] ']'
//! ```

use eddy_syntax::lex::{Lexed, TokenKind, lex};
use eddy_syntax::{Diagnostic, SourceFile};

use super::{Entry, Side, Store, Value, Values};
use crate::codes;
use crate::dialect::Dialect;
use crate::parse::reader::Reader;
use crate::parse::{LEXICON, or_lexical};

/// The question of `--value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Goal {
    /// The value of the program.
    pub value: Value,
    /// The final heap, if the question has one.
    pub store: Option<Store>,
}

/// Reads a goal.
pub fn parse(file: &SourceFile, dialect: Dialect, values: &mut Values) -> Result<Goal, Vec<Diagnostic>> {
    let Lexed { tokens, errors, .. } = lex(file, &LEXICON);
    let mut parser = Parser { reader: Reader::new(file, &tokens), dialect, values, frames: Vec::new() };
    let goal = if errors.is_empty() { parser.goal() } else { None };
    let diagnostics = or_lexical(file, &errors, parser.reader.0.diagnostics);
    match goal {
        Some(goal) if diagnostics.is_empty() => Ok(goal),
        _ => Err(diagnostics),
    }
}

/// A continuation: what to do with the next value.
enum Frame {
    Goal,
    /// A table: the entries so far, and the input of the current one.
    Table {
        entries: Vec<Entry>,
        input: Option<Side>,
    },
    /// `(`, and the values before the last comma.
    Bracket {
        items: Vec<Value>,
    },
    /// `thunk(` or `thunk(some(`, and how many brackets close it.
    Thunk {
        n_brackets: usize,
    },
    /// A cell of the store of a side: its value, the cells so far, and the address of this one.
    Cell {
        of: Value,
        cells: Vec<(u64, Value)>,
        address: u64,
    },
}

/// The state of the parser.
enum State {
    Value,
    ParsedValue(ParsedValue),
    /// A value and its store, if one was written.
    HaveSide(ParsedValue, Option<Store>),
    Done(Goal),
}

/// A value; if it was written `(v, w)`, it may be an entry.
#[derive(Clone, Copy)]
struct ParsedValue {
    value: Value,
    entry: Option<Entry>,
}

impl From<Value> for ParsedValue {
    fn from(value: Value) -> Self {
        ParsedValue { value, entry: None }
    }
}

struct Parser<'a> {
    reader: Reader<'a>,
    dialect: Dialect,
    values: &'a mut Values,
    frames: Vec<Frame>,
}

impl Parser<'_> {
    fn goal(&mut self) -> Option<Goal> {
        self.frames.push(Frame::Goal);
        let mut state = State::Value;
        loop {
            state = match state {
                State::Value => self.value()?,
                State::ParsedValue(have) => self.after_value(have)?,
                State::HaveSide(have, store) => self.after_side(have, store)?,
                State::Done(goal) => return Some(goal),
            };
        }
    }

    fn value(&mut self) -> Option<State> {
        if self.reader.sees_literal() {
            let int = self.reader.literal()?;
            return Some(State::ParsedValue(self.values.int(int).into()));
        }
        let is_typed = self.dialect.is_typed();
        match self.reader.token().kind {
            TokenKind::Symbol("{") => {
                self.reader.advance();
                if self.reader.eat("}") {
                    return Some(State::ParsedValue(self.values.table(Vec::new()).into()));
                }
                self.frames.push(Frame::Table { entries: Vec::new(), input: None });
                Some(State::Value)
            }
            TokenKind::Symbol("∅") => {
                self.reader.advance();
                Some(State::ParsedValue(self.values.table(Vec::new()).into()))
            }
            TokenKind::Symbol("(") => {
                self.reader.advance();
                self.frames.push(Frame::Bracket { items: Vec::new() });
                Some(State::Value)
            }
            TokenKind::Symbol("wrong") if is_typed => {
                self.reader.advance();
                Some(State::ParsedValue(self.values.wrong().into()))
            }
            TokenKind::Symbol("thunk") if self.dialect == Dialect::SystemF => self.thunk(),
            TokenKind::Symbol("@") if self.dialect == Dialect::References => {
                let address = self.address()?;
                Some(State::ParsedValue(self.values.address(address).into()))
            }
            _ => {
                self.reader.syntax_error("a value");
                self.reader.help(match self.dialect {
                    Dialect::Lambda => "values are integers and tables such as `{1 -> 2, 3 -> 4}`",
                    Dialect::SystemF => {
                        "values are integers, tables, `thunk(none)`, `thunk(some(v))` and `wrong`"
                    }
                    Dialect::References => "values are integers, tables, addresses `@0`, pairs and `wrong`",
                });
                None
            }
        }
    }

    fn thunk(&mut self) -> Option<State> {
        self.reader.advance();
        if !self.reader.expect("(") {
            return None;
        }
        if self.reader.eat("none") {
            return self.reader.expect(")").then(|| State::ParsedValue(self.values.thunk_none().into()));
        }
        let n_brackets = if self.reader.eat("some") {
            if !self.reader.expect("(") {
                return None;
            }
            2
        } else {
            1
        };
        self.frames.push(Frame::Thunk { n_brackets });
        Some(State::Value)
    }

    /// `@` NAT.
    fn address(&mut self) -> Option<u64> {
        if !self.reader.expect("@") {
            return None;
        }
        let span = self.reader.token().span;
        let is_number = self.reader.token().kind == TokenKind::Number;
        let number = if is_number { self.reader.slice(span).parse::<u64>().ok() } else { None };
        if number.is_none() {
            self.reader.syntax_error("the number of an address");
        }
        self.reader.advance();
        number
    }

    fn after_value(&mut self, have: ParsedValue) -> Option<State> {
        match self.frames.pop()? {
            Frame::Bracket { mut items } => {
                items.push(have.value);
                if self.reader.eat(",") {
                    self.frames.push(Frame::Bracket { items });
                    return Some(State::Value);
                }
                self.reader.expect(")").then_some(())?;
                self.bracket(items)
            }
            Frame::Thunk { n_brackets } => {
                for _ in 0..n_brackets {
                    self.reader.expect(")").then_some(())?;
                }
                Some(State::ParsedValue(self.values.thunk_some(have.value).into()))
            }
            Frame::Cell { of, mut cells, address } => {
                cells.push((address, have.value));
                if self.reader.eat(",") {
                    return self.cell(of, cells);
                }
                self.reader.expect("]").then_some(())?;
                Some(State::HaveSide(of.into(), Some(self.values.store(cells))))
            }
            frame @ (Frame::Goal | Frame::Table { .. }) => {
                self.frames.push(frame);
                if self.dialect != Dialect::References || !self.reader.eat(";") {
                    return Some(State::HaveSide(have, None));
                }
                self.reader.expect("[").then_some(())?;
                if self.reader.eat("]") {
                    return Some(State::HaveSide(have.value.into(), Some(Store::EMPTY)));
                }
                self.cell(have.value, Vec::new())
            }
        }
    }

    /// `(v)`, `(v, w)` as a pair or as an entry, or a longer tuple.
    fn bracket(&mut self, mut items: Vec<Value>) -> Option<State> {
        let last = items.pop().expect("a bracket has a value");
        let Some((&first, middle)) = items.split_first() else {
            return Some(State::ParsedValue(last.into()));
        };
        let is_first_of_entry = matches!(self.frames.last(), Some(Frame::Table { input: None, .. }));
        let is_entry = is_first_of_entry && middle.is_empty() && !self.reader.sees("->");
        if self.dialect != Dialect::References && !is_entry {
            self.reader.syntax_error("no pair before this");
            self.reader.help("pairs are values only of `.ref` programs");
            return None;
        }
        let entry = is_entry.then(|| Entry::new(first, last));
        let value = if self.dialect == Dialect::References {
            items.into_iter().rev().fold(last, |rest, item| self.values.pair(item, rest))
        } else {
            last
        };
        Some(State::ParsedValue(ParsedValue { value, entry }))
    }

    /// `@ NAT =`, in a store.
    fn cell(&mut self, of: Value, cells: Vec<(u64, Value)>) -> Option<State> {
        let start = self.reader.token().span;
        let address = self.address()?;
        if cells.iter().any(|(other, _)| *other == address) {
            let span = start.to(self.reader.previous());
            let title = format!("duplicate address `@{address}` in a store");
            let diagnostic = Diagnostic::error(codes::DUPLICATE, span, title)
                .label("a store has one value at each address")
                .help("remove one of the two");
            self.reader.report(diagnostic);
            return None;
        }
        self.reader.expect("=").then_some(())?;
        self.frames.push(Frame::Cell { of, cells, address });
        Some(State::Value)
    }

    fn after_side(&mut self, have: ParsedValue, store: Option<Store>) -> Option<State> {
        let side = Side { value: have.value, store: store.unwrap_or(Store::EMPTY) };
        match self.frames.pop()? {
            Frame::Goal => {
                if self.reader.token().kind != TokenKind::End {
                    self.reader.syntax_error("the end of the value");
                    return None;
                }
                Some(State::Done(Goal { value: have.value, store }))
            }
            Frame::Table { mut entries, input } => {
                match (input, have.entry) {
                    (Some(input), _) => entries.push(Entry { input, output: side }),
                    (None, Some(entry)) if store.is_none() => entries.push(entry),
                    (None, _) => {
                        self.reader.expect("->").then_some(())?;
                        self.frames.push(Frame::Table { entries, input: Some(side) });
                        return Some(State::Value);
                    }
                }
                if self.reader.eat(",") {
                    self.frames.push(Frame::Table { entries, input: None });
                    return Some(State::Value);
                }
                self.reader.expect("}").then_some(())?;
                Some(State::ParsedValue(self.values.table(entries).into()))
            }
            Frame::Bracket { .. } | Frame::Thunk { .. } | Frame::Cell { .. } => {
                unreachable!("only goals and entries have sides")
            }
        }
    }
}
