//! Dead code, unused names, and the order of statements.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::edit::{Renaming, renamed_stmt, renamed_vars};
use crate::ir::{At, Body, Control, Elem, Kind, Loop, Mode, Module, Region, Stmt, Type, Var};
use crate::uses::{free_of_region, free_vars};

/// Whether a statement can end a run, apart from running out of memory.
pub(crate) fn can_fail(stmt: &Stmt, types: &[Type]) -> bool {
    let is_whole = |at: &[At]| at.iter().all(|at| *at == At::All);
    match &stmt.kind {
        Kind::Const(_) | Kind::Unpack(..) => false,
        Kind::Op(operation, operands) => {
            let operands: Vec<Type> = operands.iter().map(|var| types[var.index()]).collect();
            operation.can_fail(&operands)
        }
        Kind::Index(_, at) => !is_whole(at),
        Kind::Add(_, at, value) => !at.is_empty() || types[value.index()] != Type::scalar(Elem::Num),
        Kind::Update(..) | Kind::Increase(..) | Kind::Call(..) => true,
        Kind::If(_, yes, no) => [yes, no].into_iter().any(|region| can_region_fail(region, types)),
        Kind::Loop(repeat) => {
            let keeps_shapes = repeat.states.iter().all(|state| types[state.var.index()].rank == 0)
                && repeat.collect.iter().all(|var| types[var.index()].rank == 0);
            // A `while` may run forever, and then it runs out of fuel.
            !keeps_shapes
                || matches!(repeat.control, Control::While(_))
                || can_region_fail(&repeat.body, types)
        }
    }
}

fn can_region_fail(region: &Region, types: &[Type]) -> bool {
    region.stmts.iter().any(|stmt| can_fail(stmt, types))
}

/// Removes dead code.
pub(crate) struct Pruner<'a> {
    /// Determines which parameters of callees are accumulators.
    pub module: &'a Module,
    /// Whether to keep a statement whose results are dead.
    pub keep: &'a dyn Fn(&Stmt) -> bool,
}

impl Pruner<'_> {
    /// Removes dead statements, results, states and rows.
    pub fn prune(&self, stmts: &mut Vec<Stmt>, mut live: FxHashSet<Var>) {
        let mut kept = Vec::with_capacity(stmts.len());
        for mut stmt in std::mem::take(stmts).into_iter().rev() {
            match &mut stmt.kind {
                Kind::If(_, yes, no) => {
                    let is_live: Vec<bool> = stmt.results.iter().map(|var| live.contains(var)).collect();
                    retain(&mut stmt.results, &is_live);
                    for region in [yes, no] {
                        retain(&mut region.yields, &is_live);
                        let live = region.yields.iter().copied().collect();
                        self.prune(&mut region.stmts, live);
                    }
                }
                Kind::Loop(repeat) => self.prune_loop(repeat, &mut stmt.results, &live),
                _ => {}
            }
            let is_read = stmt.results.iter().any(|var| live.contains(var));
            if is_read || self.adds(&stmt, &mut Vec::new()) || self.is_kept(&stmt) {
                live.extend(free_vars(&stmt));
                kept.push(stmt);
            }
        }
        kept.reverse();
        *stmts = kept;
    }

    /// Whether to keep the dead statement because of `keep`, or because of a statement inside of it.
    fn is_kept(&self, stmt: &Stmt) -> bool {
        match &stmt.kind {
            Kind::If(..) => {
                let regions = stmt.kind.regions();
                regions.iter().any(|region| region.stmts.iter().any(|stmt| self.is_kept(stmt)))
            }
            _ => (self.keep)(stmt),
        }
    }

    /// Whether a statement adds to accumulators that are defined outside of it.
    fn adds(&self, stmt: &Stmt, bound: &mut Vec<Var>) -> bool {
        match &stmt.kind {
            Kind::Add(acc, ..) => !bound.contains(acc),
            Kind::Call(mode, callee, arguments) => {
                let params = self.module.body(*callee).params.iter().zip(arguments);
                *mode == Mode::Plain
                    && params.into_iter().any(|(param, var)| param.is_acc && !bound.contains(var))
            }
            Kind::Loop(repeat) => {
                let n = bound.len();
                bound.extend(repeat.accs.iter().map(|acc| acc.var));
                let adds = repeat.body.stmts.iter().any(|stmt| self.adds(stmt, bound));
                bound.truncate(n);
                adds
            }
            kind => {
                let regions = kind.regions();
                regions.iter().any(|region| region.stmts.iter().any(|stmt| self.adds(stmt, bound)))
            }
        }
    }

    fn prune_loop(&self, repeat: &mut Loop, results: &mut Vec<Var>, live: &FxHashSet<Var>) {
        let (first_row, first_acc) = (repeat.first_row(), repeat.first_acc());
        let is_live: Vec<bool> = results.iter().map(|var| live.contains(var)).collect();
        let rows = is_live[first_row..first_acc].to_vec();
        retain(&mut repeat.collect, &rows);
        let accs = self.prune_accs(repeat, &is_live[first_acc..]);
        // A live state makes the states live that its next value is computed from.
        let mut states = is_live[..first_row].to_vec();
        let body = loop {
            let yields =
                repeat.body.yields.iter().zip(&states).filter(|(_, live)| **live).map(|(var, _)| *var);
            let mut region = Region { stmts: repeat.body.stmts.clone(), yields: yields.collect() };
            let live = region.yields.iter().chain(&repeat.collect).copied().collect();
            self.prune(&mut region.stmts, live);
            let mut used = free_of_region(&region, &repeat.collect);
            if let Control::While(condition) = &repeat.control {
                used.extend(free_of_region(condition, &[]));
            }
            let reach =
                repeat.states.iter().zip(&states).map(|(state, live)| *live || used.contains(&state.var));
            let next: Vec<bool> = reach.collect();
            if next == states {
                break region;
            }
            states = next;
        };
        repeat.body = body;
        let n_counts = results.len() - first_acc - repeat.accs.len();
        let counts = std::iter::repeat_n(true, n_counts);
        let kept: Vec<bool> = states.iter().chain(&rows).chain(&accs).copied().chain(counts).collect();
        retain(results, &kept);
        retain(&mut repeat.states, &states);
        retain(&mut repeat.accs, &accs);
    }

    /// Removes additions to dead accumulators of a loop; returns which accumulators are still used.
    fn prune_accs(&self, repeat: &mut Loop, is_live: &[bool]) -> Vec<bool> {
        let dead = repeat.accs.iter().zip(is_live).filter(|(_, live)| !**live).map(|(acc, _)| acc.var);
        let dead: FxHashSet<Var> = dead.collect();
        if dead.is_empty() {
            return vec![true; repeat.accs.len()];
        }
        self.remove_adds(&mut repeat.body.stmts, &dead);
        let free = free_of_region(&repeat.body, &repeat.collect);
        repeat.accs.iter().map(|acc| !dead.contains(&acc.var) || free.contains(&acc.var)).collect()
    }

    fn remove_adds(&self, stmts: &mut Vec<Stmt>, accs: &FxHashSet<Var>) {
        stmts.retain(
            |stmt| !matches!(&stmt.kind, Kind::Add(acc, ..) if accs.contains(acc) && !(self.keep)(stmt)),
        );
        for stmt in stmts {
            match &mut stmt.kind {
                Kind::If(_, yes, no) => {
                    self.remove_adds(&mut yes.stmts, accs);
                    self.remove_adds(&mut no.stmts, accs);
                }
                Kind::Loop(repeat) => self.remove_adds(&mut repeat.body.stmts, accs),
                _ => {}
            }
        }
    }
}

fn retain<T>(items: &mut Vec<T>, is_live: &[bool]) {
    let mut is_live = is_live.iter();
    items.retain(|_| is_live.next().copied().unwrap_or(true));
}

/// Removes names that the statements of a body do not mention, and renumbers the others.
pub(crate) fn compact(body: &mut Body) {
    let mut to = Renaming::default();
    let mut names = Vec::new();
    for param in &mut body.params {
        to.insert(param.var, Var::new(names.len()));
        names.push(body.names[param.var.index()].clone());
        param.var = to[&param.var];
    }
    number_definitions(&body.region, &mut |var| {
        to.insert(var, Var::new(names.len()));
        names.push(body.names[var.index()].clone());
    });
    body.region = Region {
        stmts: body.region.stmts.iter().map(|stmt| renamed_stmt(stmt, &to)).collect(),
        yields: renamed_vars(&body.region.yields, &to),
    };
    body.names = names;
}

/// Calls `define` with all names that the statements of a region and their inner regions define.
pub(crate) fn number_definitions(region: &Region, define: &mut dyn FnMut(Var)) {
    for stmt in &region.stmts {
        stmt.results.iter().for_each(|var| define(*var));
        if let Kind::Loop(repeat) = &stmt.kind {
            repeat.states.iter().chain(&repeat.accs).for_each(|binding| define(binding.var));
            if let Some((index, _)) = repeat.counter() {
                define(index);
            }
        }
        for region in stmt.kind.regions() {
            number_definitions(region, define);
        }
    }
}

/// Sorts statements so that each comes after those whose results it reads, and otherwise keeps the given
/// order. The statements at the places `chain` keep their order, and the second place of each of `pairs`
/// comes after the first.
pub(crate) fn ordered(stmts: Vec<Stmt>, chain: &[usize], pairs: &[(usize, usize)]) -> Vec<Stmt> {
    let mut definitions = FxHashMap::default();
    for (at, stmt) in stmts.iter().enumerate() {
        definitions.extend(stmt.results.iter().map(|var| (*var, at)));
    }
    let mut followers: Vec<Vec<usize>> = vec![Vec::new(); stmts.len()];
    let mut n_missing = vec![0_usize; stmts.len()];
    let mut link = |before: usize, after: usize| {
        followers[before].push(after);
        n_missing[after] += 1;
    };
    for (at, stmt) in stmts.iter().enumerate() {
        for var in free_vars(stmt) {
            if let Some(before) = definitions.get(&var) {
                link(*before, at);
            }
        }
    }
    for pair in chain.windows(2) {
        link(pair[0], pair[1]);
    }
    for (before, after) in pairs {
        link(*before, *after);
    }
    let mut ready: std::collections::BTreeSet<usize> =
        (0..stmts.len()).filter(|at| n_missing[*at] == 0).collect();
    let mut stmts: Vec<Option<Stmt>> = stmts.into_iter().map(Some).collect();
    let mut result = Vec::with_capacity(stmts.len());
    while let Some(at) = ready.pop_first() {
        result.extend(stmts[at].take());
        for after in std::mem::take(&mut followers[at]) {
            n_missing[after] -= 1;
            if n_missing[after] == 0 {
                ready.insert(after);
            }
        }
    }
    assert_eq!(result.len(), stmts.len(), "statements do not need each other in a circle");
    result
}
