//! Which names may share memory, and where sharing must be replaced by a copy.
//!
//! Tensors never change, except by `update`, `increase` and accumulators, which change theirs in place. So a
//! row of a matrix, a reshaped tensor or the result of an `if` can be read in the memory of its operand,
//! unless a name that shares this memory is changed. Names that may share memory form a class. In a class
//! with such a change, every statement that would share copies instead, unless the operand is dead after the
//! statement: then the result takes over its memory.

use eddy_body::uses::free_vars;
use eddy_body::{Body, Control, Kind, Loop, Operation, Region, Sized, Stmt, Var};
use eddy_tensor::Op;
use rustc_hash::FxHashSet;

pub(super) struct Aliases {
    parents: Vec<usize>,
    changed: FxHashSet<usize>,
    /// Results of `if` that take over the memory of what a branch yields.
    moved: FxHashSet<(Var, usize)>,
    /// States that take over the memory of their first value.
    taken: FxHashSet<Var>,
}

impl Aliases {
    pub fn new(body: &Body) -> Aliases {
        let mut aliases = Aliases {
            parents: (0..body.names.len()).collect(),
            changed: FxHashSet::default(),
            moved: FxHashSet::default(),
            taken: FxHashSet::default(),
        };
        let live = body.region.yields.iter().copied().collect();
        aliases.region(&body.region, live, FxHashSet::default());
        let changed = std::mem::take(&mut aliases.changed);
        aliases.changed = changed.into_iter().map(|var| aliases.class(Var::new(var))).collect();
        aliases
    }

    /// Whether something changes the memory of this name or of one that may share it.
    pub fn is_changed(&self, var: Var) -> bool {
        self.changed.contains(&self.class(var))
    }

    pub fn may_share(&self, x: Var, y: Var) -> bool {
        self.class(x) == self.class(y)
    }

    /// Whether the result of an `if` can be the value that this branch (0 or 1) yields, without a copy.
    pub fn is_moved(&self, result: Var, branch: usize) -> bool {
        !self.is_changed(result) || self.moved.contains(&(result, branch))
    }

    /// Whether a state can start in the memory of its first value.
    pub fn is_taken(&self, state: Var) -> bool {
        self.is_changed(state) && self.taken.contains(&state)
    }

    fn class(&self, var: Var) -> usize {
        let mut at = var.index();
        while self.parents[at] != at {
            at = self.parents[at];
        }
        at
    }

    fn join(&mut self, x: Var, y: Var) {
        let (x, y) = (self.class(x), self.class(y));
        self.parents[x] = y;
    }

    fn change(&mut self, var: Var) {
        self.changed.insert(var.index());
    }

    /// A region after which the names in `live` are read; `owned` are names of enclosing regions whose memory
    /// may be taken over here.
    fn region(&mut self, region: &Region, mut live: FxHashSet<Var>, mut owned: FxHashSet<Var>) {
        for stmt in &region.stmts {
            if !matches!(stmt.kind, Kind::Const(_)) {
                owned.extend(stmt.results.iter().copied());
            }
        }
        for stmt in region.stmts.iter().rev() {
            self.stmt(stmt, &live, &owned);
            live.extend(free_vars(stmt));
        }
    }

    fn stmt(&mut self, stmt: &Stmt, live: &FxHashSet<Var>, owned: &FxHashSet<Var>) {
        match &stmt.kind {
            Kind::Index(array, _) => self.join(stmt.results[0], *array),
            Kind::Op(
                Operation::Table(Op::StopGradient | Op::Transpose | Op::ToNum | Op::ToInt)
                | Operation::Sized(Sized::Reshape),
                operands,
            ) => self.join(stmt.results[0], operands[0]),
            Kind::Update(array, ..) | Kind::Increase(array, ..) => {
                self.join(stmt.results[0], *array);
                self.change(*array);
            }
            Kind::If(_, yes, no) => {
                for (branch, region) in [yes, no].into_iter().enumerate() {
                    let inside: FxHashSet<Var> =
                        region.stmts.iter().flat_map(|stmt| stmt.results.iter().copied()).collect();
                    let constants: FxHashSet<Var> = region
                        .stmts
                        .iter()
                        .filter(|stmt| matches!(stmt.kind, Kind::Const(_)))
                        .flat_map(|stmt| stmt.results.iter().copied())
                        .collect();
                    for (result, yielded) in stmt.results.iter().zip(&region.yields) {
                        self.join(*result, *yielded);
                        let is_owned = (inside.contains(yielded) && !constants.contains(yielded))
                            || (owned.contains(yielded) && !live.contains(yielded));
                        let is_once = region.yields.iter().filter(|other| *other == yielded).count() == 1;
                        if is_owned && is_once {
                            self.moved.insert((*result, branch));
                        }
                    }
                    let live = live.iter().chain(&region.yields).copied().collect();
                    self.region(region, live, owned.clone());
                }
            }
            Kind::Loop(repeat) => self.repeat(stmt, repeat, live, owned),
            Kind::Const(_) | Kind::Op(..) | Kind::Add(..) | Kind::Call(..) | Kind::Unpack(..) => {}
        }
    }

    fn repeat(&mut self, stmt: &Stmt, repeat: &Loop, live: &FxHashSet<Var>, owned: &FxHashSet<Var>) {
        let mut inside: FxHashSet<Var> = repeat.collect.iter().copied().collect();
        for region in stmt.kind.regions() {
            inside.extend(region.stmts.iter().flat_map(free_vars));
            inside.extend(region.yields.iter().copied());
        }
        let inits: Vec<Var> = repeat.states.iter().chain(&repeat.accs).map(|binding| binding.init).collect();
        for (state, result) in repeat.states.iter().zip(&stmt.results) {
            self.join(*result, state.var);
            let is_once = inits.iter().filter(|init| **init == state.init).count() == 1;
            if is_once
                && owned.contains(&state.init)
                && !live.contains(&state.init)
                && !inside.contains(&state.init)
            {
                self.join(state.var, state.init);
                self.taken.insert(state.var);
            }
        }
        for (acc, result) in repeat.accs.iter().zip(&stmt.results[repeat.first_acc()..]) {
            self.join(*result, acc.var);
            self.join(acc.var, acc.init);
            self.change(acc.var);
        }
        let states: FxHashSet<Var> = repeat.states.iter().map(|state| state.var).collect();
        if let Control::While(condition) = &repeat.control {
            let live = condition.yields.iter().chain(&states).copied().collect();
            self.region(condition, live, FxHashSet::default());
        }
        let live = repeat.body.yields.iter().chain(&repeat.collect).copied().collect();
        self.region(&repeat.body, live, states);
    }
}
