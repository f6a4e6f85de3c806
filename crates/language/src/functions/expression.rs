//! Literals, names, operators, tuples, records and choices (functions.md, section 3).

use eddy_body::ir::{Elem, Literal};
use eddy_syntax::Span;
use eddy_tensor::Op;

use super::activation::Undecided;
use super::errors::{Refused, function_value, kinds, names, shape_error, show, too_deep, unreadable};
use super::kinds::KindId;
use super::lowering::{Lowering, Task};
use super::sizes::{Form as Size, broadcast};
use super::value::{Code, FnValue, Leaf, Val};
use crate::names::Name;
use crate::program::Entity;
use crate::tree::{BinaryOp, ExprId, ExprKind, Form, NumberValue, UnaryOp};

/// How deep choices and loops may nest. Bodies allow [`eddy_body::parse::MAX_DEPTH`]; the rest is for the
/// regions that filters and derivatives add.
const MAX_REGIONS: usize = eddy_body::parse::MAX_DEPTH - 8;

impl Lowering<'_> {
    pub fn expr(&mut self, expr: ExprId) -> Result<(), Refused> {
        let at = self.exprs().at(expr);
        if self.here().open.len() > MAX_REGIONS {
            return Err(too_deep(at, MAX_REGIONS));
        }
        match self.exprs().kind(expr) {
            ExprKind::Error => return Err(unreadable(at)),
            ExprKind::Number(number) => {
                let leaf = match number.value {
                    NumberValue::Int(value) => {
                        let kind = self.here().kinds.open();
                        let var = self.here().undecided(kind, Undecided::Number(value), at);
                        Leaf { var, kind, sizes: Vec::new(), form: Some(Size::constant(value)) }
                    }
                    NumberValue::Num(value) => {
                        let var = self.here().literal(Literal::num(value), at);
                        self.here().leaf(var, Elem::Num, Vec::new())
                    }
                };
                self.push(Val::Leaf(leaf));
            }
            ExprKind::Bool(value) => {
                let var = self.here().literal(Literal::bool(value), at);
                let leaf = self.here().leaf(var, Elem::Bool, Vec::new());
                self.push(Val::Leaf(leaf));
            }
            ExprKind::Variable(name) => return self.variable(name, at),
            ExprKind::Group(inner) => self.tasks.push(Task::Expr(inner)),
            ExprKind::Named(_, inner) => self.tasks.push(Task::Expr(inner)),
            ExprKind::Call(..) => return self.begin_call(expr),
            ExprKind::If(condition, ..) => {
                self.then(vec![Task::Expr(condition), Task::Branch(expr)]);
            }
            ExprKind::Binary(BinaryOp::And | BinaryOp::Or, left, _) => {
                self.then(vec![Task::Expr(left), Task::Branch(expr)]);
            }
            ExprKind::Fby(..) => return Err(stream_operator("fby", at)),
            ExprKind::When(..) => return Err(stream_operator("when", at)),
            ExprKind::Merge(..) => return Err(stream_operator("merge", at)),
            ExprKind::Unary(UnaryOp::Post, _) => return Err(stream_operator("post", at)),
            ExprKind::Form(..) => return self.form(expr),
            ExprKind::Tuple(_)
            | ExprKind::List(_)
            | ExprKind::Index(..)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..) => {
                self.tasks.push(Task::Combine(expr));
                self.visit_children(expr);
            }
        }
        Ok(())
    }

    pub fn visit_children(&mut self, expr: ExprId) {
        let children: Vec<ExprId> = self.exprs().children(expr).collect();
        self.tasks.extend(children.into_iter().rev().map(Task::Expr));
    }

    pub fn form(&mut self, expr: ExprId) -> Result<(), Refused> {
        let (form, parts) = self.form_of(expr).expect("it is a form");
        let scope = self.here().env.len();
        match form {
            Form::Last(_) => return Err(stream_operator("last", self.exprs().at(expr))),
            Form::Merge(_) => return Err(stream_operator("merge", self.exprs().at(expr))),
            Form::Reset => return Err(stream_operator("reset", self.exprs().at(expr))),
            Form::WhenIs(_) => return Err(stream_operator("when", self.exprs().at(expr))),
            Form::Unit => self.push(Val::unit()),
            Form::Let { pattern, annotation } => {
                let mut tasks = vec![Task::Expr(parts[0])];
                tasks.extend(annotation.map(Task::Annotate));
                tasks.extend([Task::Bind(*pattern), Task::Expr(parts[1]), Task::Unbind(scope)]);
                self.then(tasks);
            }
            Form::LetFunction { ident, .. } => {
                let function = self.local_function(expr);
                self.here().env.push((ident.name, Val::Function(function)));
                self.then(vec![Task::Expr(parts[1]), Task::Unbind(scope)]);
            }
            Form::Lambda { .. } => {
                let function = self.local_function(expr);
                self.push(Val::Function(function));
            }
            Form::Loop { .. } | Form::Comprehension(_) | Form::Reduction { .. } => {
                return self.begin_loop(expr);
            }
            Form::Match(_) => self.then(vec![Task::Expr(parts[0]), Task::Match { expr, at: 0 }]),
            Form::Place(_)
            | Form::Update { .. }
            | Form::Record(_)
            | Form::RecordUpdate(_)
            | Form::Field(_)
            | Form::Component { .. } => {
                self.tasks.push(Task::Combine(expr));
                self.visit_children(expr);
            }
        }
        Ok(())
    }

    /// A lambda or a local function, with the names that it captures.
    pub fn local_function(&mut self, expr: ExprId) -> FnValue {
        let mut mentioned: Vec<Name> = Vec::new();
        let mut work = vec![expr];
        while let Some(expr) = work.pop() {
            if let ExprKind::Variable(name) | ExprKind::Call(name, _) = self.exprs().kind(expr) {
                mentioned.push(name);
            }
            work.extend(self.exprs().children(expr));
        }
        mentioned.sort_unstable();
        mentioned.dedup();
        let module = self.here().module;
        let captured = mentioned
            .into_iter()
            .filter_map(|name| self.here().lookup(name).map(|val| (name, val.clone())))
            .collect();
        FnValue { code: Code::Local { module, expr }, captured }
    }

    pub fn variable(&mut self, name: Name, at: Span) -> Result<(), Refused> {
        if let Some(val) = self.here().lookup(name) {
            let val = val.clone();
            self.push(val);
            return Ok(());
        }
        let text = self.text(name);
        let module = self.here().module;
        let val = match self.program.modules[module].entities.get(text) {
            Some(Entity::Constant(constant)) => return self.constant(*constant, at),
            Some(Entity::Enumerator(definition, number)) => {
                let elem = Self::enumeration(*definition);
                let value = std::sync::Arc::new(eddy_tensor::Value::Int(i64::from(*number)));
                let var = self.here().literal(Literal { elem, value }, at);
                Val::Leaf(self.here().leaf(var, elem, Vec::new()))
            }
            Some(Entity::Type(_)) => return Err(names(at, format!("`{text}` is a type, not a value"))),
            Some(Entity::Function(_)) | None => match self.named_function(name) {
                Some(code) => Val::Function(FnValue { code, captured: Vec::new() }),
                None => return Err(self.unknown_name(text, at)),
            },
        };
        self.push(val);
        Ok(())
    }

    pub fn unknown_name(&self, text: &str, at: Span) -> Refused {
        let module = self.activations.last().expect("a function is being lowered").module;
        if super::derivatives::Operator::named(text).is_some() {
            let title = format!("the derivative operator `{text}` is not a function value");
            let refused = eddy_syntax::Diagnostic::error(crate::codes::FUNCTION_VALUE, at, title);
            return Box::new(
                refused
                    .help(format!("call it: `{text}(f, x)`; a lambda can be passed on: `\\x. {text}(f, x)`")),
            );
        }
        let file = &self.program.modules[module];
        let locals = self.activations.last().into_iter().flat_map(|here| here.env.iter());
        let locals = locals.map(|(name, _)| file.names.text(*name));
        let known = locals.chain(file.entities.keys().map(String::as_str));
        let refused = eddy_syntax::Diagnostic::error(
            crate::codes::UNKNOWN_VARIABLE,
            at,
            format!("unknown variable `{text}`"),
        );
        Box::new(match eddy_syntax::suggest::nearest(text, known) {
            Some(meant) => refused.suggest(at, meant),
            None => refused,
        })
    }

    pub fn combine(&mut self, expr: ExprId) -> Result<(), Refused> {
        let at = self.exprs().at(expr);
        match self.exprs().kind(expr) {
            ExprKind::Tuple(items) => {
                let parts = self.pop_n(items.len());
                no_functions(&parts, at, "an element of a tuple")?;
                self.push_structure(Val::Tuple(parts), at)
            }
            ExprKind::List(items) => self.list(items.len(), at),
            ExprKind::Unary(op, _) => self.unary(op, at),
            ExprKind::Binary(op, ..) => {
                let right = self.pop();
                let left = self.pop();
                self.binary(op, left, right, at)
            }
            ExprKind::Form(form, parts) => match self.exprs().form(form) {
                Form::Place(indices) => self.place(indices, parts.len(), at),
                Form::Update { indices, kind } => self.update(indices, *kind, parts.len(), at),
                Form::Record(fields) => self.record(fields, at),
                Form::RecordUpdate(fields) => self.record_update(fields),
                Form::Field(ident) => self.field(*ident),
                Form::Component { index, span } => self.component(*index, *span),
                _ => unreachable!("these forms have tasks of their own"),
            },
            _ => unreachable!("only forms with parts are combined"),
        }
    }

    /// Unifies two kinds.
    pub fn unify(&mut self, a: KindId, b: KindId, at: Span) -> Result<(), Refused> {
        self.here().kinds.unify(a, b).map_err(|(a, b)| {
            let name = |elem| self.kind_name(elem);
            kinds(at, &show(a, &name), &show(b, &name))
        })
    }

    /// Requires a kind.
    pub fn demand(&mut self, leaf: &Leaf, elem: Elem, at: Span) -> Result<(), Refused> {
        let needed = self.here().kinds.known(elem);
        self.unify(needed, leaf.kind, at)
    }

    pub fn demand_numeric(&mut self, leaf: &Leaf, at: Span) -> Result<(), Refused> {
        match self.here().kinds.get(leaf.kind) {
            None | Some(Elem::Int | Elem::Num) => Ok(()),
            Some(elem) => Err(kinds(at, "a number", &self.kind_name(elem))),
        }
    }

    /// Requires a single value of this kind.
    pub fn scalar(&mut self, val: Val, elem: Elem, what: &str, at: Span) -> Result<Option<Leaf>, Refused> {
        let Some(leaf) = tensor(val, at)? else { return Ok(None) };
        self.demand(&leaf, elem, at)?;
        if leaf.rank() > 0 {
            return Err(shape_error(at, format!("{what} must be a single {}", self.kind_name(elem))));
        }
        Ok(Some(leaf))
    }

    pub fn unary(&mut self, op: UnaryOp, at: Span) -> Result<(), Refused> {
        let val = self.pop();
        let Some(leaf) = tensor(val, at)? else {
            self.push(Val::Unknown);
            return Ok(());
        };
        let table = if op == UnaryOp::Not { Op::Not } else { Op::Neg };
        match op {
            UnaryOp::Not => self.demand(&leaf, Elem::Bool, at)?,
            _ => self.demand_numeric(&leaf, at)?,
        }
        let var = self.here().table(table, vec![leaf.var], at);
        let form = leaf.form.as_ref().and_then(|form| form.scale(-1));
        self.push(Val::Leaf(Leaf { var, form, ..leaf }));
        Ok(())
    }

    pub fn binary(&mut self, op: BinaryOp, left: Val, right: Val, at: Span) -> Result<(), Refused> {
        let (left, right) = (tensor(left, at)?, tensor(right, at)?);
        let (Some(left), Some(right)) = (left, right) else {
            self.push(Val::Unknown);
            return Ok(());
        };
        self.unify(left.kind, right.kind, at)?;
        let (table, needs) = table_op(op);
        match needs {
            Needs::Numeric => self.demand_numeric(&left, at)?,
            Needs::Is(elem) => self.demand(&left, elem, at)?,
            Needs::Anything => {}
        }
        let sizes = broadcast_sizes(&left, &right, at)?;
        let var = self.here().table(table, vec![left.var, right.var], at);
        let is_truth = matches!(
            op,
            BinaryOp::Less
                | BinaryOp::LessEqual
                | BinaryOp::Greater
                | BinaryOp::GreaterEqual
                | BinaryOp::Equal
                | BinaryOp::NotEqual
        );
        let kind = if is_truth { self.here().kinds.known(Elem::Bool) } else { left.kind };
        let form = form_of(op, left.form.as_ref(), right.form.as_ref());
        self.push(Val::Leaf(Leaf { var, kind, sizes, form }));
        Ok(())
    }

    /// `[e, …]`: equal shapes, stacked.
    pub fn list(&mut self, n: usize, at: Span) -> Result<(), Refused> {
        let items = self.pop_n(n);
        no_functions(&items, at, "an element of a tensor")?;
        if n == 0 {
            let kind = self.here().kinds.open();
            let zero = self.here().undecided(kind, Undecided::Number(0), at);
            let none = self.here().int(0, at);
            let var = self.here().op(eddy_body::operation::Operation::Fill, vec![zero, none.var], at);
            self.push(Val::Leaf(Leaf { var, kind, sizes: vec![Some(Size::constant(0))], form: None }));
            return Ok(());
        }
        let mut leaves = Vec::new();
        for item in items {
            match tensor(item, at)? {
                Some(leaf) => leaves.push(leaf),
                None => {
                    self.push(Val::Unknown);
                    return Ok(());
                }
            }
        }
        let first = leaves[0].clone();
        for other in &leaves[1..] {
            self.unify(first.kind, other.kind, at)?;
            if other.rank() != first.rank() {
                return Err(shape_error(at, "the elements of a list have different numbers of axes"));
            }
            for (a, b) in first.sizes.iter().zip(&other.sizes) {
                if let (Some(a), Some(b)) = (a, b)
                    && a.certainly_differs(b)
                {
                    return Err(shape_error(at, "the elements of a list have different sizes"));
                }
            }
        }
        let var = self.here().table(Op::Stack, leaves.iter().map(|leaf| leaf.var).collect(), at);
        let length = i64::try_from(n).expect("a list is shorter than its text");
        let mut sizes = vec![Some(Size::constant(length))];
        for axis in 0..first.rank() {
            sizes.push(leaves.iter().find_map(|leaf| leaf.sizes[axis].clone()));
        }
        self.push(Val::Leaf(Leaf { var, kind: first.kind, sizes, form: None }));
        Ok(())
    }
}

enum Needs {
    Numeric,
    Is(Elem),
    Anything,
}

fn table_op(op: BinaryOp) -> (Op, Needs) {
    match op {
        BinaryOp::Add => (Op::Add, Needs::Numeric),
        BinaryOp::Sub => (Op::Sub, Needs::Numeric),
        BinaryOp::Mul => (Op::Mul, Needs::Numeric),
        BinaryOp::Divide => (Op::Div, Needs::Is(Elem::Num)),
        BinaryOp::IntDivide => (Op::IntDiv, Needs::Is(Elem::Int)),
        BinaryOp::Mod => (Op::IntMod, Needs::Is(Elem::Int)),
        BinaryOp::Less => (Op::Lt, Needs::Numeric),
        BinaryOp::LessEqual => (Op::Le, Needs::Numeric),
        BinaryOp::Greater => (Op::Gt, Needs::Numeric),
        BinaryOp::GreaterEqual => (Op::Ge, Needs::Numeric),
        BinaryOp::Equal => (Op::Eq, Needs::Anything),
        BinaryOp::NotEqual => (Op::Ne, Needs::Anything),
        BinaryOp::And => (Op::And, Needs::Is(Elem::Bool)),
        BinaryOp::Or => (Op::Or, Needs::Is(Elem::Bool)),
    }
}

/// The result of an operator on single ints, as a form.
fn form_of(op: BinaryOp, left: Option<&Size>, right: Option<&Size>) -> Option<Size> {
    let (left, right) = (left?, right?);
    let constants = || Some((left.as_constant()?, right.as_constant()?));
    match op {
        BinaryOp::Add => left.add(right),
        BinaryOp::Sub => left.subtract(right),
        BinaryOp::Mul => match (left.as_constant(), right.as_constant()) {
            (Some(factor), _) => right.scale(factor),
            (_, Some(factor)) => left.scale(factor),
            _ => None,
        },
        BinaryOp::IntDivide => {
            let (a, b) = constants()?;
            Some(Size::constant(a.checked_div_euclid(b)?))
        }
        BinaryOp::Mod => {
            let (a, b) = constants()?;
            Some(Size::constant(a.checked_rem_euclid(b)?))
        }
        _ => None,
    }
}

pub fn stream_operator(word: &str, at: Span) -> Refused {
    super::errors::function(at, format!("'{word}' is a stream operator; a function has none"))
}

pub fn no_functions(parts: &[Val], at: Span, place: &str) -> Result<(), Refused> {
    if parts.iter().any(|part| matches!(part, Val::Function(_))) {
        return Err(function_value(at, place));
    }
    Ok(())
}

/// The value as a tensor; anything else is an error.
pub fn tensor(val: Val, at: Span) -> Result<Option<Leaf>, Refused> {
    match val {
        Val::Leaf(leaf) => Ok(Some(leaf)),
        Val::Unknown => Ok(None),
        Val::Function(_) => Err(function_value(at, "an operand")),
        Val::Tuple(_) => Err(kinds(at, "a tensor", "a tuple")),
        Val::Record(_) => Err(kinds(at, "a tensor", "a record")),
    }
}

/// The sizes of two tensors after broadcasting.
pub fn broadcast_sizes(left: &Leaf, right: &Leaf, at: Span) -> Result<Vec<Option<Size>>, Refused> {
    let rank = left.rank().max(right.rank());
    let size = |leaf: &Leaf, axis: usize| -> Option<Option<Size>> {
        let missing = rank - leaf.rank();
        (axis >= missing).then(|| leaf.sizes[axis - missing].clone())
    };
    (0..rank)
        .map(|axis| match (size(left, axis), size(right, axis)) {
            (Some(one), None) | (None, Some(one)) => Ok(one),
            (Some(left), Some(right)) => broadcast(left.as_ref(), right.as_ref())
                .map_err(|(a, b)| shape_error(at, format!("sizes {a} and {b} do not go together"))),
            (None, None) => unreachable!("one of them has all axes"),
        })
        .collect()
}
