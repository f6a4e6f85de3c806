//! Checkpoints: loops in segments, so that a reverse sweep keeps fewer states.
//!
//! The reverse of a loop needs the state before each iteration. With `keep k` the loop is written as `k`
//! segments before it is differentiated:
//!
//! ```text
//! s = for i < n (s0 = a) { .. }
//!
//! s = for c < k (s1 = a) {                        m: iterations of a segment, n div k rounded up
//!   s2 = for j < clamp(n - c m, 0, m) (s0 = s1) { i = c m + j  .. }
//!   yield s2 }
//! ```
//!
//! The reverse sweep then keeps what [`reverse`](super::reverse) keeps for two nested loops: the `k` states
//! at the beginnings of segments, and, while it goes through a segment, which it runs again, what the
//! iterations of this one segment need. Values and cotangents have the bits of the plain loop, since each
//! iteration computes the same.
//!
//! A `while` runs once without keeping anything to find out how many iterations there are; then it is a
//! `for`.
//!
//! Loops that collect rows keep a row for each iteration anyway, and `each` has no states: they stay as they
//! are. So does a `while` that adds to accumulators, as it would add twice.

use eddy_tensor::Op;

use super::Deriver;
use crate::build::Builder;
use crate::clean::number_definitions;
use crate::edit::{Renaming, renamed_stmt, renamed_vars};
use crate::ir::{Binding, Body, Control, Elem, Kind, Literal, Loop, Region, Stmt, Type, Var};

/// The body with each loop in `keep` segments.
pub(super) fn segmented(deriver: &Deriver, body: &Body, types: &[Type], keep: usize) -> Body {
    let mut writer = Writer { deriver, builder: Builder::new(body, types), keep };
    let region = writer.region(&body.region);
    Body { region, names: writer.builder.names.finish(), ..body.clone() }
}

struct Writer<'a> {
    deriver: &'a Deriver,
    builder: Builder,
    keep: usize,
}

impl Writer<'_> {
    fn region(&mut self, region: &Region) -> Region {
        let before = std::mem::take(&mut self.builder.out);
        for stmt in &region.stmts {
            self.stmt(stmt);
        }
        Region { stmts: std::mem::replace(&mut self.builder.out, before), yields: region.yields.clone() }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        self.builder.span = stmt.span;
        let kind = match &stmt.kind {
            Kind::If(condition, yes, no) => Kind::If(*condition, self.region(yes), self.region(no)),
            Kind::Loop(repeat) => {
                let repeat = Loop { body: self.region(&repeat.body), ..(**repeat).clone() };
                self.builder.span = stmt.span;
                return self.repeat(stmt, repeat);
            }
            kind => kind.clone(),
        };
        self.builder.out.push(Stmt { kind, ..stmt.clone() });
    }

    fn repeat(&mut self, stmt: &Stmt, repeat: Loop) {
        if repeat.states.is_empty() || !repeat.collect.is_empty() {
            return self.builder.push(stmt.results.clone(), Kind::Loop(Box::new(repeat)));
        }
        match &repeat.control {
            Control::For { index, count } => {
                let (index, count) = (*index, *count);
                self.segments(&stmt.results, repeat, index, count);
            }
            Control::While(_) if !self.adds(&repeat) => {
                let count = *stmt.results.last().expect("a `while` has a count");
                self.count(&repeat, count);
                let index = self.builder.fresh("i", Type::scalar(Elem::Int));
                let results = &stmt.results[..stmt.results.len() - 1];
                self.segments(results, repeat, index, count);
            }
            _ => self.builder.push(stmt.results.clone(), Kind::Loop(Box::new(repeat))),
        }
    }

    /// Whether a loop adds to accumulators that belong to no loop in it.
    fn adds(&self, repeat: &Loop) -> bool {
        let stmts = match &repeat.control {
            Control::While(condition) => [condition.stmts.clone(), repeat.body.stmts.clone()].concat(),
            _ => repeat.body.stmts.clone(),
        };
        !repeat.accs.is_empty() || !super::strip::foreign_accs(self.deriver, &stmts).is_empty()
    }

    /// Counts the iterations of a `while` by a copy of it, whose final states are not used.
    fn count(&mut self, repeat: &Loop, count: Var) {
        let Control::While(condition) = &repeat.control else { unreachable!("it is a `while`") };
        let mut defined: Vec<Var> = repeat.states.iter().map(|state| state.var).collect();
        for region in [condition, &repeat.body] {
            number_definitions(region, &mut |var| defined.push(var));
        }
        let mut to = Renaming::default();
        for var in defined {
            let new = self.builder.fresh_like(var);
            to.insert(var, new);
        }
        let copy = |region: &Region| Region {
            stmts: region.stmts.iter().map(|stmt| renamed_stmt(stmt, &to)).collect(),
            yields: renamed_vars(&region.yields, &to),
        };
        let states = repeat.states.iter().map(|state| Binding { var: to[&state.var], init: state.init });
        let counting = Loop {
            control: Control::While(copy(condition)),
            states: states.collect(),
            accs: Vec::new(),
            collect: Vec::new(),
            body: copy(&repeat.body),
        };
        let mut results: Vec<Var> = Vec::new();
        for state in &repeat.states {
            results.push(self.builder.fresh_like(state.var));
        }
        results.push(count);
        self.builder.push(results, Kind::Loop(Box::new(counting)));
    }

    fn segments(&mut self, results: &[Var], repeat: Loop, index: Var, count: Var) {
        let span = self.builder.span;
        let int = |builder: &mut Builder, value: usize| {
            builder.constant(Literal::int(i64::try_from(value).unwrap_or(i64::MAX)))
        };
        let (zero, one, keep) =
            (int(&mut self.builder, 0), int(&mut self.builder, 1), int(&mut self.builder, self.keep));
        let builder = &mut self.builder;
        let all = builder.op(Op::Maximum, &[count, zero]);
        // Rounded up without a sum that could overflow.
        let (whole, rest) = (builder.op(Op::IntDiv, &[all, keep]), builder.op(Op::IntMod, &[all, keep]));
        let more = builder.op(Op::Minimum, &[rest, one]);
        let length = builder.op(Op::Add, &[whole, more]);
        let segment = builder.fresh("c", Type::scalar(Elem::Int));
        let starts: Vec<Var> = repeat.states.iter().map(|state| builder.fresh_like(state.var)).collect();
        let ends: Vec<Var> = repeat.states.iter().map(|state| builder.fresh_like(state.var)).collect();
        let (stmts, ()) = builder.aside(|builder| {
            builder.span = span;
            let first = builder.op(Op::Mul, &[segment, length]);
            let left = builder.op(Op::Sub, &[all, first]);
            let least = builder.op(Op::Minimum, &[length, left]);
            let n = builder.op(Op::Maximum, &[least, zero]);
            let j = builder.fresh("j", Type::scalar(Elem::Int));
            let add = Stmt {
                results: vec![index],
                kind: Kind::Op(crate::operation::Operation::Table(Op::Add), vec![first, j]),
                span,
            };
            let states = repeat.states.iter().zip(&starts);
            let inner = Loop {
                control: Control::For { index: j, count: n },
                states: states.map(|(state, start)| Binding { var: state.var, init: *start }).collect(),
                accs: Vec::new(),
                collect: Vec::new(),
                body: Region {
                    stmts: [vec![add], repeat.body.stmts].concat(),
                    yields: repeat.body.yields.clone(),
                },
            };
            builder.push(ends.clone(), Kind::Loop(Box::new(inner)));
        });
        let states = repeat.states.iter().zip(&starts);
        let outer = Loop {
            control: Control::For { index: segment, count: keep },
            states: states.map(|(state, start)| Binding { var: *start, init: state.init }).collect(),
            accs: repeat.accs,
            collect: Vec::new(),
            body: Region { stmts, yields: ends },
        };
        self.builder.push(results.to_vec(), Kind::Loop(Box::new(outer)));
    }
}
