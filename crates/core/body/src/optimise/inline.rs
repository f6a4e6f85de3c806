//! Replaces calls by the statements of the callee.
//!
//! ```text
//! body f(x: num) -> (num) { y = call g(x)  z = mul(y, y)  yield z }
//! body g(a: num) -> (num) { b = sin(a)  yield b }
//!
//! body f(x: num) -> (num) { b = sin(x)  z = mul(b, b)  yield z }
//! ```
//!
//! The statements keep their spans. Bodies that call themselves are not inlined, and keep their calls, so
//! that the depth of a recursion is counted as before.

use rustc_hash::{FxHashMap, FxHashSet};

use eddy_tensor::Op;

use super::rewrite::{collected, rewritten};
use super::rows::rows;
use super::same::same;
use super::untape::untape;
use crate::clean::{compact, number_definitions};
use crate::edit::{Names, Renaming, renamed_stmt};
use crate::ir::{Body, BodyId, Kind, Mode, Module, Region, Stmt, Var};
use crate::operation::Operation;
use crate::own::own_body;

/// A body with more statements is inlined only where it is called once.
const SMALL: usize = 200;

/// No body grows beyond this number of statements.
const MAX_STATEMENTS: usize = 6000;

/// The module with calls of the bodies that `entries` need replaced where that is possible.
pub fn inline(module: &Module, entries: &[BodyId]) -> Module {
    let calls: Vec<Vec<BodyId>> = module.bodies.iter().map(|body| callees(&body.region)).collect();
    let mut order = Vec::new();
    let mut state = vec![Visit::New; module.bodies.len()];
    for entry in entries {
        visit(*entry, &calls, &mut state, &mut order);
    }
    let mut n_calls: FxHashMap<BodyId, usize> = FxHashMap::default();
    for callee in order.iter().flat_map(|id| &calls[id.index()]) {
        *n_calls.entry(*callee).or_default() += 1;
    }
    let recursive: FxHashSet<BodyId> = order.iter().copied().filter(|id| reaches(*id, &calls)).collect();
    let mut inlined = module.clone();
    for id in order {
        if recursive.contains(&id) || calls[id.index()].is_empty() {
            continue;
        }
        let mut body = inlined.bodies[id.index()].clone();
        let mut names = Names::new(std::mem::take(&mut body.names));
        let n_statements = n_statements(&body.region);
        let mut inliner = Inliner {
            module: &inlined,
            recursive: &recursive,
            n_calls: &n_calls,
            collected: collected(&body.region),
            names: &mut names,
            n_statements,
        };
        let mut rewrite =
            |stmt: Stmt, to: &mut Renaming, stmts: &mut Vec<Stmt>| inliner.stmt(stmt, to, stmts);
        body.region = rewritten(&body.region, &mut Renaming::default(), &mut rewrite);
        body.names = names.finish();
        own_body(&mut body);
        compact(&mut body);
        untape(&inlined, &mut body);
        rows(&inlined, &mut body);
        same(&inlined, &mut body);
        inlined.bodies[id.index()] = body;
    }
    inlined
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    New,
    Open,
    Done,
}

/// Appends the bodies that a body reaches, each after those that it calls; the stack of the search is
/// explicit, since calls can nest deeply.
fn visit(entry: BodyId, calls: &[Vec<BodyId>], state: &mut [Visit], order: &mut Vec<BodyId>) {
    let mut open = vec![entry];
    while let Some(id) = open.last().copied() {
        match state[id.index()] {
            Visit::New => {
                state[id.index()] = Visit::Open;
                let next = calls[id.index()].iter().filter(|callee| state[callee.index()] == Visit::New);
                open.extend(next);
            }
            Visit::Open => {
                state[id.index()] = Visit::Done;
                order.push(id);
                open.pop();
            }
            Visit::Done => drop(open.pop()),
        }
    }
}

/// Whether a body may call itself.
fn reaches(id: BodyId, calls: &[Vec<BodyId>]) -> bool {
    let mut found: FxHashSet<BodyId> = FxHashSet::default();
    let mut open = calls[id.index()].clone();
    while let Some(next) = open.pop() {
        if next == id {
            return true;
        }
        if found.insert(next) {
            open.extend(&calls[next.index()]);
        }
    }
    false
}

/// The bodies that a region calls, one for each call.
fn callees(region: &Region) -> Vec<BodyId> {
    let mut found = Vec::new();
    for stmt in &region.stmts {
        if let Kind::Call(_, callee, _) = stmt.kind {
            found.push(callee);
        }
        found.extend(stmt.kind.regions().into_iter().flat_map(callees));
    }
    found
}

fn n_statements(region: &Region) -> usize {
    let inside = |stmt: &Stmt| stmt.kind.regions().into_iter().map(n_statements).sum::<usize>();
    region.stmts.iter().map(|stmt| 1 + inside(stmt)).sum()
}

struct Inliner<'a> {
    /// Callees are inlined already.
    module: &'a Module,
    recursive: &'a FxHashSet<BodyId>,
    n_calls: &'a FxHashMap<BodyId, usize>,
    collected: FxHashSet<Var>,
    names: &'a mut Names,
    n_statements: usize,
}

impl Inliner<'_> {
    fn stmt(&mut self, stmt: Stmt, to: &mut Renaming, stmts: &mut Vec<Stmt>) {
        match &stmt.kind {
            Kind::Call(Mode::Plain, callee, arguments) if self.is_inlined(*callee) => {
                self.call(&stmt, self.module.body(*callee), arguments, to, stmts);
            }
            _ => stmts.push(stmt),
        }
    }

    fn is_inlined(&mut self, callee: BodyId) -> bool {
        let n = n_statements(&self.module.body(callee).region);
        let is_once = self.n_calls.get(&callee) == Some(&1);
        let fits = !self.recursive.contains(&callee)
            && (is_once || n <= SMALL)
            && self.n_statements + n <= MAX_STATEMENTS;
        if fits {
            self.n_statements += n;
        }
        fits
    }

    fn call(
        &mut self,
        stmt: &Stmt,
        callee: &Body,
        arguments: &[Var],
        to: &mut Renaming,
        stmts: &mut Vec<Stmt>,
    ) {
        let mut inside = Renaming::default();
        for (param, argument) in callee.params.iter().zip(arguments) {
            inside.insert(param.var, *argument);
        }
        number_definitions(&callee.region, &mut |var| {
            inside.insert(var, self.names.fresh(callee.name(var)));
        });
        stmts.extend(callee.region.stmts.iter().map(|stmt| renamed_stmt(stmt, &inside)));
        for (result, yielded) in stmt.results.iter().zip(&callee.region.yields) {
            let value = *inside.get(yielded).expect("a name of the callee");
            // A loop collects names of its own body.
            if self.collected.contains(result) && callee.params.iter().any(|param| param.var == *yielded) {
                let kind = Kind::Op(Operation::Table(Op::Copy), vec![value]);
                stmts.push(Stmt { results: vec![*result], kind, span: stmt.span });
            } else {
                to.insert(*result, value);
            }
        }
    }
}
