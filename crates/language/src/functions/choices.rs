//! `if`, `match`, and `and` and `or` on single values: only one side is evaluated (functions.md, section 3).

use eddy_body::ir::{Elem, Kind, Literal, Var};
use eddy_syntax::Span;
use eddy_tensor::Op;

use super::errors::{Refused, shape_error, type_error};
use super::expression::{no_functions, tensor};
use super::lowering::{Lowering, Task};
use super::sizes::Form as Size;
use super::value::{Leaf, Val};
use crate::tree::{BinaryOp, Case, ExprId, ExprKind, Form, Ident};

impl Lowering<'_> {
    /// Lowers `if`, and `and` and `or` on single values, which evaluate only one side.
    pub fn branch(&mut self, expr: ExprId) -> Result<(), Refused> {
        let at = self.exprs().at(expr);
        let val = self.pop();
        match self.exprs().kind(expr) {
            ExprKind::If(condition, yes, no) => {
                let place = self.exprs().at(condition);
                let Some(leaf) = self.scalar(val, Elem::Bool, "a condition", place)? else {
                    // The condition comes from a recursive call whose type is unknown: the branches are
                    // lowered only to find their types.
                    self.here().is_provisional = true;
                    self.branches(Var::new(0), Task::Expr(yes), Task::Expr(no), at);
                    return Ok(());
                };
                self.branches(leaf.var, Task::Expr(yes), Task::Expr(no), at);
            }
            ExprKind::Binary(op, _, right) => {
                let Some(leaf) = tensor(val.clone(), at)? else {
                    self.push(val);
                    self.then(vec![Task::Expr(right), Task::Combine(expr)]);
                    return Ok(());
                };
                self.demand(&leaf, Elem::Bool, at)?;
                if leaf.rank() > 0 {
                    self.push(val);
                    self.then(vec![Task::Expr(right), Task::Combine(expr)]);
                    return Ok(());
                }
                // The left side is a single value, so the right side is a branch: it is evaluated only if
                // needed, and must be a single value too.
                let known = Task::Loop(super::control::LoopTask::Truth(op == BinaryOp::Or, at));
                let (yes, no) = match op {
                    BinaryOp::Or => (known, Task::Expr(right)),
                    _ => (Task::Expr(right), known),
                };
                self.branches(leaf.var, yes, no, at);
            }
            _ => unreachable!("these have branches"),
        }
        Ok(())
    }

    pub fn branches(&mut self, condition: Var, yes: Task, no: Task, span: Span) {
        self.then(vec![
            Task::OpenRegion,
            yes,
            Task::EndBranch,
            Task::OpenRegion,
            no,
            Task::EndBranch,
            Task::If { condition, span },
        ]);
    }

    pub fn end_if(&mut self, condition: Var, span: Span) -> Result<(), Refused> {
        let (no, yes) = (self.pop(), self.pop());
        let (no_region, yes_region) = {
            let here = self.here();
            (here.done.pop().expect("two branches"), here.done.pop().expect("two branches"))
        };
        let pair = [yes, no];
        no_functions(&pair, span, "the result of `if` or `match`")?;
        let [yes, no] = pair;
        let joined = self.join(&yes, &no, span)?;
        let results = joined.vars();
        self.here().emit(results, Kind::If(condition, yes_region, no_region), span);
        self.push(joined);
        Ok(())
    }

    /// Joins the values of two branches: kinds and ranks must be equal; sizes that differ become unknown.
    pub fn join(&mut self, a: &Val, b: &Val, at: Span) -> Result<Val, Refused> {
        match (a, b) {
            (Val::Unknown, other) | (other, Val::Unknown) => {
                self.here().is_provisional = true;
                Ok(other.clone())
            }
            (Val::Leaf(a), Val::Leaf(b)) => {
                self.unify(a.kind, b.kind, at)?;
                if a.rank() != b.rank() {
                    let text = "the branches have different numbers of axes";
                    return Err(shape_error(at, text));
                }
                let same = |a: &Option<Size>, b: &Option<Size>| a.clone().filter(|_| a == b);
                let sizes = a.sizes.iter().zip(&b.sizes).map(|(a, b)| same(a, b)).collect();
                let (kind, form) = (a.kind, same(&a.form, &b.form));
                Ok(Val::Leaf(Leaf { var: self.here().var(""), kind, sizes, form }))
            }
            (Val::Tuple(a), Val::Tuple(b)) if a.len() == b.len() => {
                let parts = a.iter().zip(b).map(|(a, b)| self.join(a, b, at)).collect::<Result<_, _>>()?;
                Ok(Val::Tuple(parts))
            }
            (Val::Record(a), Val::Record(b))
                if a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0) =>
            {
                let fields = a.iter().zip(b);
                let fields = fields.map(|(a, b)| Ok((a.0.clone(), self.join(&a.1, &b.1, at)?)));
                Ok(Val::Record(fields.collect::<Result<_, Refused>>()?))
            }
            _ => Err(type_error(at, "the branches have different types")),
        }
    }

    /// The next alternative of a `match`; the scrutinee is the last operand.
    pub fn match_case(&mut self, expr: ExprId, at: usize) -> Result<(), Refused> {
        let (form, parts) = self.form_of(expr).expect("it is a form");
        let Form::Match(cases) = form else { unreachable!("a match is a match") };
        let span = self.exprs().at(expr);
        let scrutinee = self.pop();
        let Some(leaf) = tensor(scrutinee.clone(), span)? else {
            self.push(Val::Unknown);
            return Ok(());
        };
        let Some(Elem::Enum(enumeration)) = self.here().kinds.get(leaf.kind) else {
            return Err(type_error(span, "`match` looks at a value of an enumeration"));
        };
        if at == 0 {
            self.check_cases(cases, enumeration, span)?;
        }
        let is_last = at + 1 == cases.len();
        match cases[at] {
            Case::Enumerator(ident) if !is_last => {
                let number = self.enumerator(ident, enumeration)?;
                let here = self.here();
                let value = std::sync::Arc::new(eddy_tensor::Value::Int(number));
                let case = here.literal(Literal { elem: Elem::Enum(enumeration), value }, ident.span);
                let condition = here.table(Op::Eq, vec![leaf.var, case], ident.span);
                self.push(scrutinee);
                // The selected branch drops the scrutinee; the other branch examines it again.
                let taken = parts[at + 1];
                self.then(vec![
                    Task::OpenRegion,
                    Task::Expr(taken),
                    Task::EndBranch,
                    Task::OpenRegion,
                    Task::Loop(super::control::LoopTask::Swap),
                    Task::Match { expr, at: at + 1 },
                    Task::EndBranch,
                    Task::If { condition, span },
                ]);
            }
            _ => self.tasks.push(Task::Expr(parts[at + 1])),
        }
        Ok(())
    }

    pub fn enumerator(&self, ident: Ident, enumeration: eddy_body::ir::EnumId) -> Result<i64, Refused> {
        let text = self.text(ident.name);
        let cases = &self.module.enums[enumeration.index()].cases;
        match cases.iter().position(|case| case == text) {
            Some(at) => Ok(i64::try_from(at).expect("fewer enumerators than source bytes")),
            None => {
                let of = &self.module.enums[enumeration.index()].name;
                Err(type_error(ident.span, format!("`{text}` is no case of `{of}`")))
            }
        }
    }

    pub fn check_cases(
        &self,
        cases: &[Case],
        enumeration: eddy_body::ir::EnumId,
        span: Span,
    ) -> Result<(), Refused> {
        let all = &self.module.enums[enumeration.index()].cases;
        let mut seen: Vec<i64> = Vec::new();
        for (at, case) in cases.iter().enumerate() {
            match case {
                Case::Enumerator(ident) => {
                    let number = self.enumerator(*ident, enumeration)?;
                    if seen.contains(&number) {
                        let text = format!("the case `{}` is given twice", self.text(ident.name));
                        return Err(type_error(ident.span, text));
                    }
                    seen.push(number);
                }
                Case::Otherwise(place) if at + 1 < cases.len() => {
                    return Err(type_error(*place, "`_` is the last case"));
                }
                Case::Otherwise(_) => return Ok(()),
            }
        }
        let missing = all.iter().zip(0..).find(|(_, number)| !seen.contains(number));
        match missing {
            Some((name, _)) => Err(type_error(span, format!("there is no case for `{name}`"))),
            None => Ok(()),
        }
    }
}
