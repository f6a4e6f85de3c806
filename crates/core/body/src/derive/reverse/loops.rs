//! The reverse of loops: the iterations again, in opposite order.
//!
//! ```text
//! s, r = for i < n (s0 = a) collect (s1) { .. yield s1 }          with cotangents ds, dr
//!
//! s, r, T = for i < n (s0 = a) collect (s1, s0) { .. yield s1 }   the states that the reverse reads
//! da = for j < n (g = ds) {                                       g: the cotangent of the state
//!   i = reverse_index(n, j)   s0 = index T [i]                    where iteration i began
//!   ..                                                            what it computed, again
//!   ..                                                            its reverse
//!   yield ds0
//! }
//! ```
//!
//! Cotangents of names from outside are accumulators of the reverse loop. The iterations of `each` are
//! independent: the reverse is an `each` in the same order, and has no states.

use rustc_hash::FxHashSet;

use super::super::activity::{adds_to, reached_states};
use super::Writer;
use super::cotangents::{Construct, Frame};
use super::fusion::Parts;
use super::record::Keep;
use crate::edit::Renaming;
use crate::ir::{At, Binding, Control, Elem, Kind, Loop, Region, Stmt, Type, Var};
use crate::operation::Operation;
use crate::uses::free_of_region;

/// A state that has a cotangent.
struct Reached {
    state: Binding,
    /// The value that the body yields for it.
    next: Var,
    /// The state of the reverse loop.
    g: Var,
    /// The cotangent of the final state.
    last: Option<Var>,
    /// The final state.
    result: Var,
}

impl Writer<'_> {
    pub(super) fn repeat(
        &mut self,
        stmt: &Stmt,
        repeat: &Loop,
        at: usize,
        parts: &mut Parts,
        may_fuse: bool,
    ) {
        let taken: Vec<Option<Var>> = stmt.results.iter().map(|var| self.take(*var)).collect();
        let outer_accs: FxHashSet<Var> = self.acc_cotangents.keys().copied().collect();
        if taken.iter().all(Option::is_none) && !adds_to(stmt, &outer_accs) {
            return;
        }
        let seeds: Vec<Var> = taken.iter().flatten().copied().collect();
        let is_each = matches!(repeat.control, Control::Each { .. });
        let is_fused = may_fuse && is_each && self.is_fusable(at, parts, &seeds);
        let detached = if is_fused { self.detach(at, parts) } else { Vec::new() };
        let (first_row, first_acc) = (repeat.first_row(), repeat.first_acc());
        let with_cotangents = repeat.accs.iter().zip(&taken[first_acc..]);
        let with_cotangents: Vec<(Binding, Var)> = with_cotangents
            .filter_map(|(acc, cotangent)| cotangent.map(|cotangent| (*acc, cotangent)))
            .collect();
        self.acc_cotangents.extend(with_cotangents.iter().map(|(acc, cotangent)| (acc.var, *cotangent)));
        let rows = repeat.collect.iter().zip(&taken[first_row..first_acc]);
        let rows: Vec<(Var, Var)> =
            rows.filter_map(|(row, cotangent)| cotangent.map(|g| (*row, g))).collect();
        let reached = self.reached(stmt, repeat, &taken, &rows);
        let index = match repeat.counter() {
            Some((index, _)) => index,
            None => self.builder.fresh("i", Type::scalar(Elem::Int)),
        };
        let (inner, frame, yields) = self.iteration(repeat, index, &reached, &rows);
        let accs: Vec<Binding> = frame
            .accs
            .iter()
            .map(|(var, acc)| Binding { var: *acc, init: self.current_or_zeros(*var) })
            .collect();
        let acc_results: Vec<Var> =
            frame.accs.iter().map(|(var, _)| self.cotangent_name("d", *var)).collect();
        let names: Vec<Var> = frame.accs.iter().map(|(var, _)| *var).collect();
        let state_results: Vec<Var> = reached.iter().map(|one| self.builder.fresh_like(one.g)).collect();
        if is_fused {
            let body = Region { stmts: inner.joint(&self.builder.types), yields: Vec::new() };
            let accs = [repeat.accs.clone(), accs].concat();
            let joint = Loop { accs, body, ..repeat.clone() };
            let results = [stmt.results.clone(), acc_results.clone()].concat();
            self.fuse(at, parts, results, Kind::Loop(Box::new(joint)));
        } else {
            let results = [state_results.clone(), acc_results.clone()].concat();
            self.backwards(repeat, index, inner, frame, yields, &reached, accs, (at, parts, results));
        }
        for (var, result) in names.iter().zip(acc_results) {
            self.set(*var, result);
        }
        for (one, result) in reached.iter().zip(state_results) {
            self.contribute(one.state.init, &[], result);
        }
        for (acc, cotangent) in with_cotangents {
            self.contribute(acc.init, &[], cotangent);
        }
        self.attach(detached);
    }

    fn reached(
        &mut self,
        stmt: &Stmt,
        repeat: &Loop,
        taken: &[Option<Var>],
        rows: &[(Var, Var)],
    ) -> Vec<Reached> {
        let first_row = repeat.first_row();
        let with_cotangent: Vec<bool> = taken[..first_row].iter().map(Option::is_some).collect();
        let row_names: Vec<Var> = rows.iter().map(|(name, _)| *name).collect();
        let accs = self.acc_cotangents.keys().copied().collect();
        let reached = reached_states(repeat, &self.varied, &with_cotangent, &row_names, &accs);
        let places = (0..first_row).filter(|place| reached[*place]);
        let one = |place: usize| Reached {
            state: repeat.states[place],
            next: repeat.body.yields[place],
            g: self.cotangent_name("d", repeat.states[place].var),
            last: taken[place],
            result: stmt.results[place],
        };
        places.map(one).collect()
    }

    /// Both sweeps of an iteration, its frame, and the cotangents of the states at its beginning.
    fn iteration(
        &mut self,
        repeat: &Loop,
        index: Var,
        reached: &[Reached],
        rows: &[(Var, Var)],
    ) -> (Parts, Frame, Vec<Var>) {
        let locals = repeat.states.iter().map(|state| state.var).chain([index]);
        let mut frame = Frame::new(Construct::Loop, locals);
        frame.define(&repeat.body);
        frame.templates.extend(reached.iter().map(|one| (one.state.var, one.g)));
        self.frames.push(frame);
        let (first, ()) = self.builder_aside(|writer| {
            for one in reached {
                writer.contribute(one.next, &[], one.g);
            }
            for (row, cotangent) in rows {
                let part = writer.builder.index(*cotangent, &[At::Int(index)]);
                writer.contribute(*row, &[], part);
            }
        });
        let mut parts = self.region(&repeat.body, true);
        parts.prepend(first);
        let (last, yields) = self.builder_aside(|writer| {
            reached.iter().map(|one| writer.current_or_zeros(one.state.var)).collect::<Vec<Var>>()
        });
        parts.reverse.extend(last);
        (parts, self.frames.pop().expect("it was pushed"), yields)
    }

    /// Writes the reverse loop, and makes the forward loop keep the values that it reads.
    #[allow(clippy::too_many_arguments)] // the parts of one statement
    fn backwards(
        &mut self,
        repeat: &Loop,
        index: Var,
        inner: Parts,
        frame: Frame,
        yields: Vec<Var>,
        reached: &[Reached],
        accs: Vec<Binding>,
        (at, parts, results): (usize, &mut Parts, Vec<Var>),
    ) {
        self.frames.push(frame);
        let (stmts, mut kept) = self.rerun(&inner, &yields, Keep::Rows);
        self.frames.pop();
        let region = Region { stmts, yields };
        let read = free_of_region(&region, &[]);
        kept.extend(repeat.states.iter().map(|state| state.var).filter(|state| read.contains(state)));
        let rows: Vec<Var> = kept
            .iter()
            .map(|var| {
                let name = format!("{}s", self.builder.names.name(*var));
                self.builder.fresh(&name, self.builder.ty(*var).row())
            })
            .collect();
        Self::collect(parts, at, &inner, &kept, &rows);
        let count = match repeat.counter() {
            Some((_, count)) => count,
            None => *parts.slots[at].stmt.results.last().expect("a `while` counts"),
        };
        let mut to = Renaming::default();
        let mut first = Vec::new();
        let control = if let Control::Each { .. } = repeat.control {
            let new = self.builder.fresh_like(index);
            to.insert(index, new);
            Control::Each { index: new, count }
        } else {
            let backward = self.builder.fresh("j", Type::scalar(Elem::Int));
            first.push(Stmt::new(vec![index], Kind::Op(Operation::ReverseIndex, vec![count, backward])));
            Control::For { index: backward, count }
        };
        let read_back =
            |(var, rows): (&Var, &Var)| Stmt::new(vec![*var], Kind::Index(*rows, vec![At::Int(index)]));
        first.extend(kept.iter().zip(&rows).map(read_back));
        let stmts = [first, region.stmts].concat();
        let body = self.renew(Region { stmts, yields: region.yields }, &mut to);
        let states = reached.iter().map(|one| {
            let init = one.last.unwrap_or_else(|| self.builder.zeros_like(one.result));
            Binding { var: one.g, init }
        });
        let states = states.collect();
        let reverse = Loop { control, states, accs, collect: Vec::new(), body };
        self.builder.push(results, Kind::Loop(Box::new(reverse)));
    }

    /// Makes the forward loop collect these names as rows.
    fn collect(parts: &mut Parts, at: usize, inner: &Parts, kept: &[Var], rows: &[Var]) {
        let stmt = &mut parts.slots[at].stmt;
        let Kind::Loop(forward) = &mut stmt.kind else { unreachable!("it was a loop") };
        let first_acc = forward.first_acc();
        stmt.results.splice(first_acc..first_acc, rows.iter().copied());
        forward.collect.extend(kept);
        forward.body.stmts = inner.forward();
    }
}
