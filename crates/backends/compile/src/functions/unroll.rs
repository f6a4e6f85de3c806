//! Unrolls short loops: the iterations of a `for` or `each` with a known count, one after the other.
//!
//! Then indices are literals and states are names, so that with [`small`](super::small) tensors only scalars
//! remain. An iteration that needs memory in the arena stays in a loop, which releases it. Fuel is counted as
//! in a loop; if no iteration can fail, it is subtracted once.

use std::rc::Rc;

use eddy_body::{Loop, Region, Stmt, Var};

use super::body::{Emitter, Repr, Tensor, declared, int_literal};
use super::facts::Interval;
use super::tapes::Layout;

/// The largest number of copies of a statement, over all enclosing loops.
const MAX_COPIES: i64 = 64;
/// The largest number of iterations of one loop.
const MAX_COUNT: i64 = 16;
/// The largest number of statements in all iterations of a loop.
const MAX_STATEMENTS: i64 = 128;

fn n_statements(region: &Region) -> i64 {
    let inside = |stmt: &Stmt| stmt.kind.regions().into_iter().map(n_statements).sum::<i64>();
    region.stmts.iter().map(|stmt| 1 + inside(stmt)).sum()
}

/// The texts of the iterations, and the results of the loop.
struct Iterations {
    texts: Vec<String>,
    results: Vec<Repr>,
}

impl Emitter<'_, '_> {
    /// Writes the iterations one by one, if their number is known and small.
    pub fn unrolled(&mut self, stmt: &Stmt, repeat: &Loop) -> bool {
        let Some((index, count)) = repeat.counter() else { return false };
        let Some(count) = self.facts.interval(count).single().map(|count| count.max(0)) else { return false };
        let n_copies = self.n_copies * count.max(1);
        let is_changed = |var: Var| self.ty(var).rank > 0 && self.aliases.is_changed(var);
        if count > MAX_COUNT
            || n_copies > MAX_COPIES
            || count * n_statements(&repeat.body) > MAX_STATEMENTS
            // A tensor that is changed in place needs its own memory, but here states share memory with
            // others.
            || repeat.states.iter().any(|state| is_changed(state.var) || is_changed(state.init))
            || repeat.body.yields.iter().any(|next| is_changed(*next))
            // Without an iteration, the sizes of rows are unknown.
            || count == 0 && repeat.collect.iter().any(|row| self.ty(*row).rank > 0)
        {
            return false;
        }
        let (facts, at, n_fails) = (self.facts.clone(), self.at.clone(), self.n_fails);
        let (n_arrays, budget, uses_low) = (self.arrays.len(), self.budget, self.uses_low);
        let (outer_copies, vectorises) = (self.n_copies, self.vectorises);
        (self.n_copies, self.vectorises, self.uses_low) = (n_copies, false, false);
        let (first, found) = self.aside(|emitter| emitter.iterations(stmt, repeat, index, count));
        (self.n_copies, self.vectorises) = (outer_copies, vectorises);
        self.at = at;
        let found = found.filter(|_| !self.uses_low);
        self.uses_low = uses_low;
        let Some(Iterations { texts, results }) = found else {
            (self.facts, self.n_fails, self.budget) = (facts, n_fails, budget);
            self.arrays.truncate(n_arrays);
            return false;
        };
        let can_fail = self.n_fails > n_fails;
        self.text.lines.push_str(&first);
        if !can_fail && count > 0 && self.shared.is_metered() {
            self.fail(&format!("!eddy_pay(a, {})", int_literal(count)), "EDDY_FUEL");
        }
        for text in texts {
            if can_fail {
                self.burn();
            }
            self.text.lines.push_str(&text);
        }
        for (result, repr) in stmt.results.iter().zip(results) {
            self.set(*result, repr);
        }
        true
    }

    /// Writes the iterations, after accumulators and the memory of rows. `None` if states or rows differ in
    /// their sizes.
    fn iterations(&mut self, stmt: &Stmt, repeat: &Loop, index: Var, count: i64) -> Option<Iterations> {
        self.begin_accs(repeat);
        let state = |emitter: &Self, var: Var| (emitter.repr(var).clone(), emitter.facts.interval(var));
        let mut states: Vec<(Repr, Interval)> =
            repeat.states.iter().map(|binding| state(self, binding.init)).collect();
        let mut rows: Vec<Option<Tensor>> = vec![None; repeat.collect.len()];
        // What is known about the elements of each row.
        let mut of_rows: Vec<Vec<(Interval, Option<Rc<Layout>>)>> = vec![Vec::new(); repeat.collect.len()];
        let (mut before, mut texts) = (String::new(), Vec::new());
        for iteration in 0..count {
            self.set(index, Repr::Scalar(int_literal(iteration)));
            self.facts.set_interval(index, Interval::of(iteration));
            for (binding, (repr, interval)) in repeat.states.iter().zip(&states) {
                self.set(binding.var, repr.clone());
                self.facts.set_interval(binding.var, *interval);
            }
            let (mut text, ()) = self.aside(|emitter| emitter.region(&repeat.body));
            for (k, var) in repeat.collect.iter().enumerate() {
                of_rows[k].push((self.facts.interval(*var), self.layouts.get(var).cloned()));
                let sizes = self.sizes(*var);
                let row = self.facts.literal_elements(&sizes)?;
                if rows[k].is_none() {
                    let (begin, tensor) =
                        self.aside(|emitter| emitter.begin_rows(stmt, (repeat, k), &sizes, count));
                    before.push_str(&begin);
                    rows[k] = Some(tensor);
                }
                let target = rows[k].clone().filter(|target| target.sizes[1..] == sizes)?;
                let (copy, ()) = self.aside(|emitter| {
                    let start = iteration * row;
                    match emitter.repr(*var).clone() {
                        Repr::Scalar(text) => emitter.line(&format!("{}[{start}] = {text};", target.data)),
                        Repr::Tensor(tensor) => {
                            let to = format!("({} + {start})", target.data);
                            let elem = emitter.ty(*var).elem;
                            emitter.copy_elements(&to, &tensor.data, &int_literal(row), elem);
                        }
                    }
                });
                text.push_str(&copy);
            }
            texts.push(text);
            for (state, yielded) in states.iter_mut().zip(&repeat.body.yields) {
                let next = (self.repr(*yielded).clone(), self.facts.interval(*yielded));
                let sizes = |repr: &Repr| match repr {
                    Repr::Scalar(_) => Vec::new(),
                    Repr::Tensor(tensor) => tensor.sizes.clone(),
                };
                if !self.facts.all_same(&sizes(&state.0), &sizes(&next.0)) {
                    return None;
                }
                *state = next;
            }
        }
        for (k, rows) in rows.iter_mut().enumerate().filter(|(_, rows)| rows.is_none()) {
            let (begin, tensor) = self.aside(|emitter| emitter.begin_rows(stmt, (repeat, k), &[], count));
            before.push_str(&begin);
            *rows = Some(tensor);
        }
        self.text.lines.push_str(&before);
        for (result, known) in stmt.results[repeat.first_row()..].iter().zip(of_rows) {
            let Some((interval, layout)) = known.first().cloned() else { continue };
            let is_same = known.iter().all(|(_, other)| *other == layout);
            match layout.filter(|_| is_same) {
                Some(layout) => self.layouts.insert(*result, layout),
                None => self.layouts.remove(result),
            };
            if self.ty(*result).rank == 1 {
                self.facts.set_elements(*result, known.iter().fold(interval, |all, (one, _)| all.or(*one)));
            }
        }
        for ((repr, interval), result) in states.iter().zip(&stmt.results) {
            if let Repr::Scalar(_) = repr {
                self.facts.set_interval(*result, *interval);
            }
        }
        let states = states.into_iter().map(|(repr, _)| repr);
        let rows = rows.into_iter().flatten().map(Repr::Tensor);
        let accs = repeat.accs.iter().map(|acc| self.repr(acc.var).clone());
        Some(Iterations { texts, results: states.chain(rows).chain(accs).collect() })
    }

    /// Memory for rows: the rows of an enclosing loop, or new memory.
    fn begin_rows(&mut self, stmt: &Stmt, (repeat, k): (&Loop, usize), row: &[String], count: i64) -> Tensor {
        let result = stmt.results[repeat.first_row() + k];
        let sizes: Vec<String> = std::iter::once(int_literal(count)).chain(row.iter().cloned()).collect();
        let place = self.direct.get(&result).map(|(place, _)| place.clone());
        let Some(place) = place else {
            self.result(result, sizes.clone(), true);
            return self.tensor(result);
        };
        let name = self.name(result);
        self.line(&format!("{} = {place};", declared(self.ty(result).elem, "*const ", &name)));
        Tensor { data: name, sizes }
    }
}
