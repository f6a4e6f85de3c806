//! Which names depend on the index of a loop, and whether additions to accumulators keep their order.

use eddy_body::{At, Control, Kind, Loop, Operation, Region, Stmt, Var};
use eddy_tensor::{Cost, Op};
use rustc_hash::{FxHashMap, FxHashSet};

/// What is known about a loop before it is written.
pub(super) struct Analysis {
    /// Names whose values depend on the index.
    pub varying: FxHashSet<Var>,
    /// How to add to accumulators from outside of inner loops.
    pub additions: FxHashMap<Var, Additions>,
    pub n_vectors: usize,
    /// The accumulators of inner loops.
    local: FxHashSet<Var>,
}

/// When an accumulator gets the values of all lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Additions {
    /// At the statement: there is only one, and each of its executions in an iteration has a place of its
    /// own.
    Now,
    /// At the end of the block: there are several, outside of inner loops.
    Later,
}

/// An `add` to an accumulator from outside.
struct Site {
    /// The indices of the inner loops around it.
    loops: Vec<Var>,
    at: Vec<At>,
    is_in_branch: bool,
}

/// Loops with more statements are left alone.
const MAX_STATEMENTS: usize = 1200;

impl Analysis {
    /// `None` if the loop stays as it is.
    pub fn new(repeat: &Loop, index: Var) -> Option<Analysis> {
        let mut measure = Measure::default();
        measure.region(&repeat.body, 0);
        if measure.n_statements > MAX_STATEMENTS || !measure.is_worthwhile() {
            return None;
        }
        let mut varying = FxHashSet::default();
        varying.insert(index);
        let mut local: FxHashSet<Var> = FxHashSet::default();
        local_accs(&repeat.body, &mut local);
        let n_vectors = measure.n_vectors();
        let mut analysis =
            Analysis { varying, additions: FxHashMap::default(), n_vectors, local: local.clone() };
        while analysis.region(&repeat.body) {}
        let mut sites: Vec<(Var, Site)> = Vec::new();
        let mut reversed = FxHashMap::default();
        find_sites(&repeat.body, &local, &mut Vec::new(), false, &mut reversed, &mut sites)?;
        for acc in sites.iter().map(|(acc, _)| *acc) {
            let own: Vec<&Site> =
                sites.iter().filter(|(other, _)| *other == acc).map(|(_, site)| site).collect();
            let has_index = |at: &At, index: &Var| match at {
                At::Int(var) => var == index || reversed.get(var) == Some(index),
                _ => false,
            };
            let is_spread =
                |site: &Site| site.loops.iter().all(|index| site.at.iter().any(|at| has_index(at, index)));
            let additions = match own.as_slice() {
                [site] if is_spread(site) => Additions::Now,
                sites if sites.iter().all(|site| site.loops.is_empty() && !site.is_in_branch) => {
                    Additions::Later
                }
                _ => return None,
            };
            analysis.additions.insert(acc, additions);
        }
        Some(analysis)
    }

    fn has(&self, var: Var) -> bool {
        self.varying.contains(&var)
    }

    fn mark(&mut self, var: Var) -> bool {
        self.varying.insert(var)
    }

    /// Whether something was marked.
    fn region(&mut self, region: &Region) -> bool {
        region.stmts.iter().fold(false, |is_new, stmt| self.stmt(stmt) | is_new)
    }

    fn stmt(&mut self, stmt: &Stmt) -> bool {
        let mut is_new = false;
        match &stmt.kind {
            Kind::If(condition, yes, no) => {
                is_new |= self.region(yes) | self.region(no);
                let all = self.has(*condition);
                for (k, result) in stmt.results.iter().enumerate() {
                    if all || self.has(yes.yields[k]) || self.has(no.yields[k]) {
                        is_new |= self.mark(*result);
                    }
                }
            }
            Kind::Loop(repeat) => {
                is_new |= self.region(&repeat.body);
                if let Control::While(condition) = &repeat.control {
                    is_new |= self.region(condition);
                }
                for (k, state) in repeat.states.iter().enumerate() {
                    if self.has(state.init) || self.has(repeat.body.yields[k]) || self.has(stmt.results[k]) {
                        is_new |= self.mark(state.var) | self.mark(stmt.results[k]);
                    }
                }
                if self.touches(stmt) {
                    for result in &stmt.results[repeat.first_row()..repeat.first_acc()] {
                        is_new |= self.mark(*result);
                    }
                    for (acc, result) in repeat.accs.iter().zip(&stmt.results[repeat.first_acc()..]) {
                        is_new |= self.mark(acc.var) | self.mark(*result);
                    }
                }
            }
            Kind::Op(Operation::Size(_), _) | Kind::Add(..) => {}
            kind => {
                if kind.operands().iter().any(|var| self.has(*var)) {
                    for result in &stmt.results {
                        is_new |= self.mark(*result);
                    }
                }
            }
        }
        is_new
    }

    /// Whether a statement depends on the index, or adds to accumulators from outside.
    pub fn touches(&self, stmt: &Stmt) -> bool {
        let own = match &stmt.kind {
            Kind::Add(acc, _, value) => !self.local.contains(acc) || self.has(*acc) || self.has(*value),
            _ => false,
        };
        own || !matches!(stmt.kind, Kind::Op(Operation::Size(_), _))
            && (stmt.kind.operands().iter().any(|var| self.has(*var))
                || stmt.results.iter().any(|var| self.has(*var)))
            || stmt.kind.regions().iter().any(|region| {
                region.yields.iter().any(|var| self.has(*var))
                    || region.stmts.iter().any(|stmt| self.touches(stmt))
            })
    }
}

/// The accumulators of inner loops.
fn local_accs(region: &Region, found: &mut FxHashSet<Var>) {
    for stmt in &region.stmts {
        if let Kind::Loop(repeat) = &stmt.kind {
            found.extend(repeat.accs.iter().map(|acc| acc.var));
        }
        for region in stmt.kind.regions() {
            local_accs(region, found);
        }
    }
}

/// `None` if an addition is in a loop of unknown length.
fn find_sites(
    region: &Region,
    local: &FxHashSet<Var>,
    loops: &mut Vec<Var>,
    is_in_branch: bool,
    reversed: &mut FxHashMap<Var, Var>,
    sites: &mut Vec<(Var, Site)>,
) -> Option<()> {
    for stmt in &region.stmts {
        match &stmt.kind {
            Kind::Add(acc, at, _) if !local.contains(acc) => {
                sites.push((*acc, Site { loops: loops.clone(), at: at.clone(), is_in_branch }));
            }
            Kind::Op(Operation::ReverseIndex, operands) => {
                reversed.insert(stmt.results[0], operands[1]);
            }
            Kind::If(_, yes, no) => {
                for region in [yes, no] {
                    find_sites(region, local, loops, true, reversed, sites)?;
                }
            }
            Kind::Loop(repeat) => match repeat.counter() {
                Some((index, _)) => {
                    loops.push(index);
                    find_sites(&repeat.body, local, loops, is_in_branch, reversed, sites)?;
                    loops.pop();
                }
                None => return None,
            },
            _ => {}
        }
    }
    Some(())
}

/// Whether the ordinary code of a statement serves all lanes: it calls nothing, and cannot run forever.
pub(super) fn is_plain(stmt: &Stmt) -> bool {
    match &stmt.kind {
        Kind::Call(..) | Kind::Unpack(..) | Kind::Op(Operation::Pack | Operation::FailOrder, _) => false,
        Kind::Loop(repeat) if repeat.counter().is_none() => false,
        kind => kind.regions().iter().all(|region| region.stmts.iter().all(is_plain)),
    }
}

/// The work of an iteration.
#[derive(Default)]
struct Measure {
    n_statements: usize,
    n_elementary: usize,
    /// Loops that carry a value from one iteration to the next.
    n_chains: usize,
    n_adds: usize,
    is_unfit: bool,
}

impl Measure {
    fn region(&mut self, region: &Region, depth: usize) {
        for stmt in &region.stmts {
            self.n_statements += 1;
            match &stmt.kind {
                Kind::Op(Operation::Table(op), _) => {
                    let is_elementary = matches!(op.facts().cost, Cost::Function);
                    self.n_elementary += usize::from(is_elementary);
                    self.n_chains += usize::from(matches!(op, Op::Sum(_) | Op::Matmul));
                }
                Kind::Call(..) | Kind::Unpack(..) | Kind::Op(Operation::Pack, _) => self.is_unfit = true,
                Kind::Loop(repeat) => {
                    self.is_unfit |= repeat.counter().is_none();
                    let has_sum = repeat.body.stmts.iter().any(|stmt| match &stmt.kind {
                        Kind::Add(acc, at, _) => {
                            at.is_empty() && repeat.accs.iter().any(|own| own.var == *acc)
                        }
                        _ => false,
                    });
                    self.n_chains += usize::from(has_sum || !repeat.states.is_empty());
                }
                Kind::Add(..) => self.n_adds += usize::from(depth == 0),
                _ => {}
            }
            for region in stmt.kind.regions() {
                self.region(region, depth + 1);
            }
        }
    }

    fn is_worthwhile(&self) -> bool {
        !self.is_unfit
            && (self.n_chains > 0 || self.n_elementary > 0 && self.n_statements > 8 || self.n_statements > 40)
    }

    /// Chains of dependent operations need several vectors; much code at once needs the registers.
    fn n_vectors(&self) -> usize {
        match (self.n_chains, self.n_statements) {
            (1.., 0..120) => 4,
            (1.., _) => 2,
            (0, 0..60) => 2,
            (0, _) => 1,
        }
    }
}
