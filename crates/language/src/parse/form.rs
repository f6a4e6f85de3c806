//! The forms of expressions that only functions have: how they start, and which part comes next.
//!
//! An open form keeps its parts among the parser's items, and its kind in a [`Form`]. Its [`Waits`] is the
//! part that comes next; [`Parser::resume_form`] adds a part, reads the tokens that must follow it, and
//! either waits for the next part or completes the form.

use eddy_syntax::Span;
use eddy_syntax::lex::TokenKind;

use super::frame::{Binding, Frame};
use super::{Parser, State, Tightness};
use crate::tree::{
    Binder, Binders, Case, Control, ExprId, ExprKind, Form, Index, LoopKind, Reduction, UpdateKind,
};

/// An open form.
pub(super) struct OpenForm {
    pub form: Form,
    pub start: Span,
    /// The span for messages about it.
    pub at: Span,
    /// The index of its first part among the items.
    pub base: usize,
    pub waits: Waits,
}

/// The part that comes next.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Waits {
    /// The value of `let`, before `in`.
    Bound,
    /// The body of a `let`, a lambda or a loop.
    Body,
    /// The first state of a loop, before `for` or `while`.
    Start,
    /// The condition of a `while`, before `do`.
    Condition,
    /// The lower bound of a binder, before `<= i <`.
    Lower,
    /// The upper bound of a binder.
    Upper,
    /// The filter of binders.
    Filter,
    /// The element of a comprehension, before `]`, or the term of a reduction, before `)`.
    Element,
    /// An index, or the lower bound of a range.
    Index,
    /// The upper bound of a range.
    RangeEnd,
    /// The new value of an update.
    New,
    /// The record of `{r with …}`.
    Record,
    /// The value of a field.
    Field,
    /// The scrutinee of a `match`, before `{`.
    Scrutinee,
    /// An alternative of a `match`.
    Alternative,
}

impl Waits {
    /// How tightly the form binds this part; `None` if the part ends with a word or a bracket.
    pub fn binding(self) -> Option<Binding> {
        match self {
            Waits::Body => Some(Binding::Expr),
            Waits::New => Some(Binding::With),
            _ => None,
        }
    }

    /// The loosest operator that this part may contain outside of parentheses: the grammar has `add` for
    /// bounds, and `or` for new values and records.
    pub fn loosest(self) -> Binding {
        match self {
            Waits::Lower | Waits::Upper => Binding::Sum,
            Waits::New | Waits::Record => Binding::Or,
            _ => Binding::Expr,
        }
    }
}

impl OpenForm {
    /// The token that must follow the current part, in words for a message.
    pub fn waits_for(&self) -> Option<&'static str> {
        Some(match self.waits {
            Waits::Body | Waits::New => return None,
            Waits::Bound => "`in`",
            Waits::Start => "`for` or `while`",
            Waits::Condition => "`do`",
            Waits::Lower => "`<=` and a name",
            Waits::Upper if matches!(self.form, Form::Loop { .. }) => "`,`, `if` or `do`",
            Waits::Upper => "`,`, `if` or `:`",
            Waits::Filter if matches!(self.form, Form::Loop { .. }) => "`do`",
            Waits::Filter => "`:`",
            Waits::Element if matches!(self.form, Form::Comprehension(_)) => "`]`",
            Waits::Element => "`)`",
            Waits::Index => "`,`, `..` or `]`",
            Waits::RangeEnd => "`,` or `]`",
            Waits::Record => "`with`",
            Waits::Field | Waits::Alternative => "`,` or `}`",
            Waits::Scrutinee => "`{`",
        })
    }

    /// The span where it was opened and the text of the label there; `None` if it expects no token.
    pub fn opening(&self) -> Option<(Span, &'static str)> {
        self.waits_for()?;
        let text = match self.form {
            Form::Let { .. } | Form::LetFunction { .. } => "this `let` waits for its `in`",
            Form::Loop { .. } => "this loop is open",
            Form::Reduction { .. } => "this reduction is open",
            Form::Match(_) => "this `match` is open",
            Form::Merge(_) => "this `merge` is open",
            Form::Record(_) | Form::RecordUpdate(_) => "this brace is open",
            _ => "this bracket is open",
        };
        Some((self.at, text))
    }

    fn binders(&mut self) -> &mut Binders {
        match &mut self.form {
            Form::Comprehension(binders)
            | Form::Reduction { binders, .. }
            | Form::Loop { control: Control::For(binders), .. } => binders,
            _ => unreachable!("only these forms have binders"),
        }
    }

    fn indices(&mut self) -> &mut Vec<Index> {
        match &mut self.form {
            Form::Place(indices) | Form::Update { indices, .. } => indices,
            _ => unreachable!("only these forms have indices"),
        }
    }
}

impl Parser<'_> {
    /// Opens a form whose first token was read; then expects its first part.
    pub(super) fn open_form(&mut self, form: Form, start: Span, at: Span, waits: Waits) -> State {
        let base = self.items.len();
        self.wait(Frame::Form(Box::new(OpenForm { form, start, at, base, waits })))
    }

    fn next_part(&mut self, mut open: Box<OpenForm>, waits: Waits) -> State {
        open.waits = waits;
        self.wait(Frame::Form(open))
    }

    /// Completes a form that has all its parts.
    pub(super) fn finish_form(&mut self, open: OpenForm, tightness: Tightness) -> State {
        let items = self.program.exprs.list(self.items.drain(open.base..));
        let form = self.program.exprs.form_id(open.form);
        State::Have(self.push(ExprKind::Form(form, items), open.start, open.at), tightness)
    }

    /// Completes a form whose only part is `value`, which was read.
    pub(super) fn finish_postfix(&mut self, form: Form, value: ExprId, at: Span) -> State {
        let (start, base) = (self.exprs().span(value), self.items.len());
        self.items.push(value);
        self.finish_form(OpenForm { form, start, at, base, waits: Waits::Body }, Tightness::Postfix)
    }

    /// Forms that start with a word, where an operand may be.
    pub(super) fn form_of_word(&mut self) -> Option<State> {
        let word = self.text();
        let is_call = self.peek(1) == TokenKind::Symbol("(") && self.is_glued_ahead(1);
        let reduction = Reduction::ALL.into_iter().find(|reduction| reduction.word() == word);
        if let Some(kind) = reduction
            && is_call
            && self.has_binders(self.at + 1)
        {
            return Some(self.reduction(kind));
        }
        let loop_kind = LoopKind::ALL.into_iter().find(|kind| kind.word() == word);
        Some(match word {
            "let" => self.let_form(),
            "match" => self.match_form(),
            _ => match loop_kind {
                Some(kind) if !is_call => self.loop_form(kind),
                None if is_reserved(word) => self.complain_about_missing_operand(),
                _ => return None,
            },
        })
    }

    /// `sum(i < n: e)` and `fold h = z for i < n do e` in a node.
    pub(super) fn copies_of_word(&mut self) -> Option<State> {
        let word = self.text();
        let opens = self.peek(1) == TokenKind::Symbol("(");
        let is_call = opens && self.is_glued_ahead(1);
        if is_call {
            let reduction = Reduction::OF_NODES.into_iter().find(|reduction| reduction.word() == word)?;
            return self.has_binders(self.at + 1).then(|| self.reduction(reduction));
        }
        let is_fold = word == LoopKind::Fold.word() && (opens || self.peek(1) == TokenKind::Name);
        is_fold.then(|| self.loop_form(LoopKind::Fold))
    }

    /// `match e { a: e, _: e }`.
    pub(super) fn match_form(&mut self) -> State {
        self.bare_form("match … { … }");
        let at = self.advance().span;
        self.open_form(Form::Match(Vec::new()), at, at, Waits::Scrutinee)
    }

    /// `let p = e in b` or `let f(x) = e in b`.
    fn let_form(&mut self) -> State {
        self.bare_form("let … in …");
        let at = self.advance().span;
        let is_function = self.token().kind == TokenKind::Name
            && self.peek(1) == TokenKind::Symbol("(")
            && self.is_glued_ahead(1);
        let form = if is_function { self.let_function_head() } else { self.let_head() };
        match form {
            Some(form) => self.open_form(form, at, at, Waits::Bound),
            None => State::Failed,
        }
    }

    fn let_head(&mut self) -> Option<Form> {
        let pattern = self.pattern()?;
        let annotation = self.optional_type()?;
        self.expect("=")?;
        Some(Form::Let { pattern, annotation })
    }

    fn let_function_head(&mut self) -> Option<Form> {
        let ident = self.ident_here();
        let params = self.params()?;
        let result = if self.eat("->") { Some(self.written_type()?) } else { None };
        self.expect("=")?;
        Some(Form::LetFunction { ident, params, result })
    }

    /// `fold p = e for …`.
    fn loop_form(&mut self, kind: LoopKind) -> State {
        self.bare_form("fold … do …");
        let at = self.advance().span;
        let Some(state) = self.pattern() else { return State::Failed };
        if self.expect("=").is_none() {
            return State::Failed;
        }
        self.open_form(Form::Loop { kind, state, control: Control::While }, at, at, Waits::Start)
    }

    fn reduction(&mut self, kind: Reduction) -> State {
        let at = self.advance().span;
        self.advance();
        let form = Form::Reduction { kind, binders: Binders::default() };
        let base = self.items.len();
        self.binder(Box::new(OpenForm { form, start: at, at, base, waits: Waits::Upper }))
    }

    /// `[i < n: e]`; the bracket is the next token.
    pub(super) fn comprehension(&mut self) -> State {
        let at = self.advance().span;
        let form = Form::Comprehension(Binders::default());
        let base = self.items.len();
        self.binder(Box::new(OpenForm { form, start: at, at, base, waits: Waits::Upper }))
    }

    /// `\x, y. e`.
    pub(super) fn lambda(&mut self) -> State {
        self.bare_form("\\x. …");
        let at = self.advance().span;
        let Some(params) = self.lambda_params() else { return State::Failed };
        self.open_form(Form::Lambda { params }, at, at, Waits::Body)
    }

    /// `{x = e, …}` or `{r with x = e, …}`.
    pub(super) fn record(&mut self) -> State {
        let at = self.advance().span;
        let is_literal = self.token().kind == TokenKind::Name && self.peek(1) == TokenKind::Symbol("=");
        if is_literal {
            let base = self.items.len();
            let form = Form::Record(Vec::new());
            return self.field(Box::new(OpenForm { form, start: at, at, base, waits: Waits::Field }));
        }
        self.open_form(Form::RecordUpdate(Vec::new()), at, at, Waits::Record)
    }

    /// `()`; the opening parenthesis was read.
    pub(super) fn unit(&mut self, start: Span) -> State {
        let base = self.items.len();
        self.finish_form(
            OpenForm { form: Form::Unit, start, at: start, base, waits: Waits::Body },
            Tightness::Postfix,
        )
    }

    /// An index or a field, after a value without a blank.
    pub(super) fn postfix_form(&mut self, value: ExprId) -> Option<State> {
        if !self.is_glued() {
            return None;
        }
        if self.sees("[") {
            let open = self.advance().span;
            let place = Box::new(self.place(value, open));
            return Some(self.index(place));
        }
        if !self.sees(".") || !self.is_glued_ahead(1) {
            return None;
        }
        match self.peek(1) {
            TokenKind::Name => {
                let at = self.advance().span;
                let ident = self.ident_here();
                Some(self.finish_postfix(Form::Field(ident), value, at))
            }
            TokenKind::Number => Some(self.components(value)),
            _ => None,
        }
    }

    /// `.0`, and `.0.1`, which the lexer reads as one number.
    fn components(&mut self, value: ExprId) -> State {
        let at = self.advance().span;
        let token = self.token().span;
        let text = self.file.slice(token);
        let indices: Option<Vec<u32>> = text.split('.').map(|digits| digits.parse().ok()).collect();
        let Some(indices) = indices else {
            self.complain("a number of digits only").help("components of a tuple count from 0: `t.0`");
            return State::Failed;
        };
        self.advance();
        let mut value = value;
        for index in indices {
            match self.finish_postfix(Form::Component { index, span: token }, value, at) {
                State::Have(component, _) => value = component,
                _ => unreachable!("a form with all its parts is an operand"),
            }
        }
        State::Have(value, Tightness::Postfix)
    }

    /// `with [` after a value.
    pub(super) fn update(&mut self, value: ExprId) -> State {
        let (start, at) = (self.exprs().span(value), self.advance().span);
        self.advance();
        let base = self.items.len();
        self.items.push(value);
        let form = Form::Update { indices: Vec::new(), kind: UpdateKind::Replace };
        self.index(Box::new(OpenForm { form, start, at, base, waits: Waits::Index }))
    }

    /// The start of an index: an expression, or a range without a lower bound.
    pub(super) fn index(&mut self, mut open: Box<OpenForm>) -> State {
        if self.eats_dots() {
            open.indices().push(Index::Range { has_lower: false, has_upper: false });
            return self.after_dots(open);
        }
        self.next_part(open, Waits::Index)
    }

    /// After `..`: an upper bound, or the end of the index.
    fn after_dots(&mut self, mut open: Box<OpenForm>) -> State {
        if self.sees(",") || self.sees("]") {
            return self.after_index(open);
        }
        if let Some(Index::Range { has_upper, .. }) = open.indices().last_mut() {
            *has_upper = true;
        }
        self.next_part(open, Waits::RangeEnd)
    }

    fn after_index(&mut self, mut open: Box<OpenForm>) -> State {
        if self.eat(",") {
            return self.index(open);
        }
        if !self.eat("]") {
            return self.form_is_open(open, None);
        }
        let Form::Update { kind, .. } = &mut open.form else {
            return self.finish_form(*open, Tightness::Postfix);
        };
        if self.eat("+=") {
            *kind = UpdateKind::Add;
        } else if !self.eat("=") {
            self.complain("`=` or `+=`").help("an update is written `a with [i] = e`");
            return State::Failed;
        }
        self.next_part(open, Waits::New)
    }

    pub(super) fn place(&mut self, value: ExprId, at: Span) -> OpenForm {
        let (start, base) = (self.exprs().span(value), self.items.len());
        self.items.push(value);
        OpenForm { form: Form::Place(Vec::new()), start, at, base, waits: Waits::Index }
    }

    /// Whether two points without a blank follow.
    pub(super) fn sees_dots(&self) -> bool {
        self.sees(".") && self.peek(1) == TokenKind::Symbol(".") && self.is_glued_ahead(1)
    }

    fn eats_dots(&mut self) -> bool {
        let is_range = self.sees_dots();
        if is_range {
            self.advance();
            self.advance();
        }
        is_range
    }

    /// A binder: `i < n`, or `lo <= i < n`, whose lower bound comes first.
    fn binder(&mut self, mut open: Box<OpenForm>) -> State {
        let is_plain = self.token().kind == TokenKind::Name && self.peek(1) == TokenKind::Symbol("<");
        if !is_plain {
            return self.next_part(open, Waits::Lower);
        }
        let ident = self.ident_here();
        self.advance();
        open.binders().binders.push(Binder { ident, has_lower: false });
        self.next_part(open, Waits::Upper)
    }

    /// `<= i <` after a lower bound.
    fn after_lower(&mut self, mut open: Box<OpenForm>, bound: ExprId) -> State {
        let is_binder =
            self.sees("<=") && self.peek(1) == TokenKind::Name && self.peek(2) == TokenKind::Symbol("<");
        if !is_binder {
            self.complain_after_operand("`<=` and a name", bound);
            return State::Failed;
        }
        self.advance();
        let ident = self.ident_here();
        self.advance();
        open.binders().binders.push(Binder { ident, has_lower: true });
        self.next_part(open, Waits::Upper)
    }

    /// The tokens after the last part of binders.
    fn after_binders(&mut self, open: Box<OpenForm>, last: ExprId) -> State {
        if let Form::Loop { .. } = open.form {
            if self.eat_word("do") {
                return self.next_part(open, Waits::Body);
            }
        } else if self.eat(":") {
            return self.next_part(open, Waits::Element);
        }
        self.form_is_open(open, Some(last))
    }

    /// `x = ` in a record.
    fn field(&mut self, mut open: Box<OpenForm>) -> State {
        let Some(ident) = self.ident("the name of a field") else { return State::Failed };
        if self.expect("=").is_none() {
            return State::Failed;
        }
        match &mut open.form {
            Form::Record(fields) | Form::RecordUpdate(fields) => fields.push(ident),
            _ => unreachable!("only records have fields"),
        }
        self.next_part(open, Waits::Field)
    }

    /// `a:` or `_:` in a match.
    pub(super) fn alternative(&mut self, mut open: Box<OpenForm>) -> State {
        let case = if self.sees_word("_") {
            Case::Otherwise(self.advance().span)
        } else {
            match self.ident("the name of an enumerator, or `_`") {
                Some(ident) => Case::Enumerator(ident),
                None => return State::Failed,
            }
        };
        if self.expect(":").is_none() {
            return State::Failed;
        }
        match &mut open.form {
            Form::Match(cases) | Form::Merge(cases) => cases.push(case),
            _ => unreachable!("only a match has alternatives"),
        }
        self.next_part(open, Waits::Alternative)
    }

    /// Adds a part to a form, and reads the tokens that must follow.
    pub(super) fn resume_form(&mut self, mut open: Box<OpenForm>, part: ExprId) -> State {
        self.items.push(part);
        match open.waits {
            Waits::Body | Waits::New => self.finish_form(*open, Tightness::Loose),
            Waits::Bound if self.eat_word("in") => self.next_part(open, Waits::Body),
            Waits::Start => self.control(open, part),
            Waits::Condition if self.eat_word("do") => self.next_part(open, Waits::Body),
            Waits::Lower => self.after_lower(open, part),
            Waits::Upper if self.eat(",") => self.binder(open),
            Waits::Upper if self.eat("if") => {
                open.binders().has_filter = true;
                self.next_part(open, Waits::Filter)
            }
            Waits::Upper | Waits::Filter => self.after_binders(open, part),
            Waits::Element => {
                let close = if let Form::Comprehension(_) = open.form { "]" } else { ")" };
                if self.eat(close) {
                    self.finish_form(*open, Tightness::Postfix)
                } else {
                    self.form_is_open(open, Some(part))
                }
            }
            Waits::Index if self.eats_dots() => {
                open.indices().push(Index::Range { has_lower: true, has_upper: false });
                self.after_dots(open)
            }
            Waits::Index => {
                open.indices().push(Index::At);
                self.after_index(open)
            }
            Waits::RangeEnd => self.after_index(open),
            Waits::Record if self.eat_word("with") => self.field(open),
            Waits::Field if self.eat(",") => self.field(open),
            Waits::Field if self.eat("}") => self.finish_form(*open, Tightness::Postfix),
            Waits::Scrutinee if self.eat("{") => self.alternative(open),
            Waits::Alternative if self.eat(",") => self.alternative(open),
            Waits::Alternative if self.eat("}") => self.finish_form(*open, Tightness::Postfix),
            _ => self.form_is_open(open, Some(part)),
        }
    }

    /// `for` or `while` after the first state of a loop.
    fn control(&mut self, mut open: Box<OpenForm>, start: ExprId) -> State {
        let is_for = self.eat_word("for");
        if !is_for && !self.eat_word("while") {
            return self.form_is_open(open, Some(start));
        }
        if !is_for {
            return self.next_part(open, Waits::Condition);
        }
        if let Form::Loop { control, .. } = &mut open.form {
            *control = Control::For(Binders::default());
        }
        self.binder(open)
    }

    /// Reports that the next token is not the token that the form expects.
    fn form_is_open(&mut self, open: Box<OpenForm>, part: Option<ExprId>) -> State {
        let expected = open.waits_for().unwrap_or("an operator");
        self.frames.push(Frame::Form(open));
        match part {
            Some(part) => self.complain_after_operand(expected, part),
            None => drop(self.complain(expected)),
        }
        State::Failed
    }

    /// Reports `1 + let …`, which is then parsed as if it were in parentheses.
    fn bare_form(&mut self, shown: &str) {
        if self.frames.last().is_none_or(Frame::takes_expression) {
            return;
        }
        self.complain_and_guess("an operand")
            .help(format!("inside a larger expression it stands in parentheses: `({shown})`"));
    }

    /// Reads a symbol that must follow; returns `None` and reports an error if it does not.
    pub(super) fn expect(&mut self, symbol: &'static str) -> Option<Span> {
        let span = self.token().span;
        if self.eat(symbol) {
            return Some(span);
        }
        self.complain(&format!("`{symbol}`"));
        None
    }

    /// Whether the token `ahead` places ahead has no blank before it.
    pub(super) fn is_glued_ahead(&self, ahead: usize) -> bool {
        let at = self.at + ahead;
        at < self.tokens.len() && self.tokens[at - 1].span.end == self.tokens[at].span.start
    }
}

/// Words that are reserved in functions, in addition to those of nodes.
pub(crate) fn is_reserved(word: &str) -> bool {
    matches!(word, "let" | "in" | "match" | "with" | "fold" | "scan" | "loop" | "for" | "while" | "do")
}
