//! `eddy enum`: the values of a program, by size (section 7.2).
//!
//! A program runs to closures and finite values. The values in a closure are all tables whose entries hold.
//! The input of an entry is any value over the given integers; its output is any value in a result of the
//! body for that input. So values of size `n` need only smaller inputs and outputs, and the list is computed
//! size by size, on demand. Results about closures are memoised.
//!
//! The recursion is as deep as the values, hence bounded by their size.

use rustc_hash::FxHashMap;

use crate::ask::{Cell, EnvId, Limits, Machine, Mixed, NIL};
use crate::integer::Int;
use crate::syntax::{Program, Term, TermId};
use crate::value::universe::{TooMany, Universe, tables_of_size};
use crate::value::{Entry, Value, ValueKind, Values};

/// Values, unless there are too many.
type Listed = Result<Vec<Value>, TooMany>;

/// The values of a program, size by size.
pub struct Enumeration<'a> {
    machine: Machine<'a>,
    universe: Universe,
    main: Vec<Mixed>,
    /// The results of a λ's body for each input, and of a Λ's body.
    results: FxHashMap<(TermId, EnvId, Option<Value>), Vec<Mixed>>,
    /// The entries of a closure, by their contribution to the size of a table.
    entries: FxHashMap<(TermId, EnvId), Vec<Vec<Entry>>>,
    is_complete: bool,
    next_size: usize,
}

impl<'a> Enumeration<'a> {
    /// An enumeration that starts with the values of size 1.
    pub fn new(program: &'a Program, ints: &[Int], values: &'a mut Values, limits: Limits) -> Self {
        let mut machine = Machine::new(program, values, limits);
        let (main, was_cut) = machine.results(program.main, NIL);
        Enumeration {
            machine,
            universe: Universe::new(program.dialect, ints),
            main,
            results: FxHashMap::default(),
            entries: FxHashMap::default(),
            is_complete: !was_cut,
            next_size: 1,
        }
    }

    /// Whether no limit was reached so far.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Applications and forcings so far.
    pub fn steps(&self) -> u64 {
        self.machine.steps()
    }

    /// The store of the values.
    pub fn values(&mut self) -> &mut Values {
        self.machine.values()
    }

    /// The values of size 1, then those of size 2, and so on, each list in the canonical order.
    pub fn next_size(&mut self) -> Listed {
        let size = self.next_size;
        self.next_size += 1;
        let results = self.main.clone();
        let listed = self.union(&results, size);
        self.is_complete &= listed.is_ok();
        listed
    }

    /// The values of this size that are in one of several results, each once.
    fn union(&mut self, results: &[Mixed], size: usize) -> Listed {
        let mut all = Vec::new();
        for result in results {
            all.extend(self.members(result, size)?);
        }
        let values = self.machine.values();
        all.sort_unstable_by(|a, b| values.compare(*a, *b));
        all.dedup();
        Ok(all)
    }

    /// The values of this size in a result.
    fn members(&mut self, result: &Mixed, size: usize) -> Listed {
        match *result {
            Mixed::Int(_) if size > 1 => Ok(Vec::new()),
            Mixed::Int(ref int) => Ok(vec![self.machine.values().int(int.clone())]),
            Mixed::Finite(value) => self.below(value, size),
            Mixed::Closure(lambda, env) => {
                let by_cost: Result<Vec<Vec<Entry>>, TooMany> =
                    (0..size).map(|cost| self.entries(lambda, env, cost)).collect();
                tables_of_size(size, &by_cost?, self.machine.values())
            }
            Mixed::Delayed(thunk, env) => {
                if size == 1 {
                    return Ok(vec![self.machine.values().thunk_none()]);
                }
                let Term::TypeLambda(body) = *self.machine.terms().term(thunk) else {
                    unreachable!("the term of a thunk is a Λ")
                };
                let results = self.results(body, env, None);
                self.thunks(&results, size)
            }
            Mixed::Thunk(cell) => {
                let Cell::Content(content) = self.machine.cell(cell) else {
                    unreachable!("a thunk has a content")
                };
                let content = content.clone();
                if size == 1 {
                    Ok(vec![self.machine.values().thunk_none()])
                } else {
                    self.thunks(&[content], size)
                }
            }
            Mixed::Address(_) | Mixed::Pair(_) => unreachable!("enumeration is only for .lam and .sysf"),
        }
    }

    fn thunks(&mut self, contents: &[Mixed], size: usize) -> Listed {
        let contents = self.union(contents, size - 1)?;
        Ok(contents.into_iter().map(|content| self.machine.values().thunk_some(content)).collect())
    }

    /// The values of this size below a finite one.
    fn below(&mut self, value: Value, size: usize) -> Listed {
        let values = self.machine.values();
        match values.kind(value).clone() {
            ValueKind::Table(entries) => {
                let mut by_cost = vec![Vec::new(); size];
                for entry in entries {
                    let cost = usize::try_from(values.size_of_entry(entry)).unwrap_or(usize::MAX);
                    if let Some(same) = by_cost.get_mut(cost) {
                        same.push(entry);
                    }
                }
                tables_of_size(size, &by_cost, values)
            }
            ValueKind::ThunkSome(_) if size == 1 => Ok(vec![values.thunk_none()]),
            ValueKind::ThunkSome(content) => {
                let content = Mixed::of(content, values);
                self.thunks(&[content], size)
            }
            _ if size == 1 => Ok(vec![value]),
            _ => Ok(Vec::new()),
        }
    }

    /// The entries of a closure that add `cost` to the size of a table.
    fn entries(&mut self, lambda: TermId, env: EnvId, cost: usize) -> Result<Vec<Entry>, TooMany> {
        while self.entries.entry((lambda, env)).or_default().len() <= cost {
            let next = self.entries[&(lambda, env)].len();
            let found = self.entries_at(lambda, env, next)?;
            self.entries.entry((lambda, env)).or_default().push(found);
        }
        Ok(self.entries[&(lambda, env)][cost].clone())
    }

    fn entries_at(&mut self, lambda: TermId, env: EnvId, cost: usize) -> Result<Vec<Entry>, TooMany> {
        let mut found = Vec::new();
        for size in 1..cost {
            let inputs = self.universe.of_size(size, self.machine.values())?.to_vec();
            for input in inputs {
                let results = self.results(lambda, env, Some(input));
                let outputs = self.union(&results, cost - size)?;
                found.extend(outputs.into_iter().map(|output| Entry::new(input, output)));
            }
        }
        Ok(found)
    }

    /// The results of the body of a λ for an input, or of the body of a Λ.
    fn results(&mut self, term: TermId, env: EnvId, input: Option<Value>) -> Vec<Mixed> {
        if let Some(results) = self.results.get(&(term, env, input)) {
            return results.clone();
        }
        let (body, inner) = match input {
            Some(input) => {
                let argument = Mixed::of(input, self.machine.values());
                self.machine.bind(term, argument, env)
            }
            None => (term, env),
        };
        let (results, was_cut) = self.machine.results(body, inner);
        self.is_complete &= !was_cut;
        self.results.insert((term, env, input), results.clone());
        results
    }
}
