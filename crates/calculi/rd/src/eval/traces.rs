//! Ordinary evaluation of traces, `C ⇒ V`, and of operations on closed values.

use rustc_hash::FxHashMap;

use crate::operation::{Op, Primitive, Scalar, Undefined, finite};
use crate::syntax::{Term, TermId, Terms, VarId};
use crate::template::{Algebra, reverse_binary, reverse_unary};
use crate::types::Types;
use crate::value::Value;

/// Evaluates a trace in an environment for its free variables; adds the variables that the trace binds to
/// `env`.
pub fn eval_trace(
    terms: &Terms,
    env: &mut FxHashMap<VarId, Value>,
    trace: TermId,
) -> Result<Value, Undefined> {
    enum Task {
        Eval(TermId),
        Bind(VarId),
        Apply(Term),
    }
    let mut done: Vec<Value> = Vec::new();
    let mut tasks = vec![Task::Eval(trace)];
    while let Some(task) = tasks.pop() {
        match task {
            Task::Bind(var) => {
                let value = done.pop().expect("the definition is evaluated");
                env.insert(var, value);
            }
            Task::Apply(term) => {
                let last = done.pop().expect("the operand is evaluated");
                let value = match term {
                    Term::Add(..) => {
                        let first = done.pop().expect("the left operand is evaluated");
                        Value::Real(Scalar::Add.eval(first.real(), last.real())?)
                    }
                    Term::Pair(..) => Value::pair(done.pop().expect("the left half is evaluated"), last),
                    Term::Op(op, _) => apply(&terms.types, op, &last)?,
                    Term::Fst(_) => last.halves().0.clone(),
                    Term::Snd(_) => last.halves().1.clone(),
                    _ => unreachable!("only these have operands in a trace"),
                };
                done.push(value);
            }
            Task::Eval(id) => match terms.term(id) {
                Term::Var(var) => done.push(env[&var].clone()),
                Term::Real(value) => done.push(Value::Real(value)),
                Term::Unit => done.push(Value::Unit),
                Term::Let { var, bound, body } => {
                    tasks.extend([Task::Eval(body), Task::Bind(var), Task::Eval(bound)]);
                }
                term @ (Term::Add(left, right) | Term::Pair(left, right)) => {
                    tasks.extend([Task::Apply(term), Task::Eval(right), Task::Eval(left)]);
                }
                term @ (Term::Op(_, operand) | Term::Fst(operand) | Term::Snd(operand)) => {
                    tasks.extend([Task::Apply(term), Task::Eval(operand)]);
                }
                _ => unreachable!("traces have no control flow"),
            },
        }
    }
    Ok(done.pop().expect("one value is left"))
}

/// `ev(op, V)`.
pub fn apply(types: &Types, op: Op, argument: &Value) -> Result<Value, Undefined> {
    match op {
        Op::Primal(Primitive::Scalar(scalar)) if scalar.is_binary() => {
            let (x, y) = argument.two_reals();
            Ok(Value::Real(scalar.eval(x, y)?))
        }
        Op::Primal(Primitive::Scalar(scalar)) => Ok(Value::Real(scalar.eval(argument.real(), 0.0)?)),
        Op::Primal(Primitive::Dot(_)) => {
            let (a, b) = argument.halves();
            dot(&a.leaves(), &b.leaves()).map(Value::Real)
        }
        Op::Primal(Primitive::Scale(ty)) => {
            let (factor, vector) = argument.halves();
            let scaled = scale(factor.real(), &vector.leaves())?;
            Ok(Value::from_leaves(types, ty, &scaled))
        }
        Op::Reverse(primitive) => apply_reverse(types, primitive, argument),
    }
}

/// `ev(op_r, ⟨V,W⟩)`, by the template of `op`.
fn apply_reverse(types: &Types, primitive: Primitive, argument: &Value) -> Result<Value, Undefined> {
    let (point, w) = argument.halves();
    match primitive {
        Primitive::Scalar(op) if op.is_binary() => {
            let (da, db) = reverse_binary(&mut Floats, op, point.two_reals(), None, w.real())?;
            Ok(Value::pair(Value::Real(da), Value::Real(db)))
        }
        Primitive::Scalar(op) => {
            reverse_unary(&mut Floats, op, point.real(), None, w.real()).map(Value::Real)
        }
        Primitive::Dot(ty) => {
            let (a, b) = point.halves();
            let (da, db) = (scale(w.real(), &b.leaves())?, scale(w.real(), &a.leaves())?);
            Ok(Value::pair(Value::from_leaves(types, ty, &da), Value::from_leaves(types, ty, &db)))
        }
        Primitive::Scale(ty) => {
            let (factor, vector) = point.halves();
            let w = w.leaves();
            let (dr, dv) = (dot(&vector.leaves(), &w)?, scale(factor.real(), &w)?);
            Ok(Value::pair(Value::Real(dr), Value::from_leaves(types, ty, &dv)))
        }
    }
}

/// Products of leaves, added from left to right.
fn dot(a: &[f64], b: &[f64]) -> Result<f64, Undefined> {
    let mut products = a.iter().zip(b).map(|(x, y)| finite(x * y));
    let Some(first) = products.next() else { return Ok(0.0) };
    products.try_fold(first?, |sum, product| finite(sum + product?))
}

fn scale(factor: f64, vector: &[f64]) -> Result<Vec<f64>, Undefined> {
    vector.iter().map(|x| finite(factor * x)).collect()
}

/// Plain floats as an algebra for templates.
pub struct Floats;

impl Algebra for Floats {
    type Number = f64;
    type Error = Undefined;

    #[inline]
    fn constant(&mut self, value: f64) -> f64 {
        value
    }

    #[inline]
    fn unary(&mut self, op: Scalar, x: f64) -> Result<f64, Undefined> {
        op.eval(x, 0.0)
    }

    #[inline]
    fn binary(&mut self, op: Scalar, x: f64, y: f64) -> Result<f64, Undefined> {
        op.eval(x, y)
    }
}
