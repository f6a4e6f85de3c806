//! Which names depend on the point of a derivative, and which states of a loop a cotangent reaches.

use rustc_hash::FxHashSet;

use crate::derive::rules::passes;
use crate::ir::{Body, Control, Kind, Loop, Module, Region, Stmt, Type, Var};
use crate::uses::free_vars;

/// Names whose values depend on the point through operations that have derivatives.
#[derive(Debug)]
pub(crate) struct Varied(Vec<bool>);

struct Context<'a> {
    module: &'a Module,
    types: &'a [Type],
}

impl Varied {
    /// The varied names of a body whose parameters marked in `active` vary.
    pub fn new(module: &Module, body: &Body, types: &[Type], active: &[bool]) -> Varied {
        let mut varied = Varied(vec![false; types.len()]);
        let cx = &Context { module, types };
        for (param, is_active) in body.params.iter().zip(active) {
            varied.0[param.var.index()] = *is_active && param.ty.is_num();
        }
        // A loop carries marks from one iteration to the next; each round marks at least one more name.
        while varied.region(&body.region, cx) {}
        varied
    }

    pub fn has(&self, var: Var) -> bool {
        self.0.get(var.index()).copied().unwrap_or(false)
    }

    fn mark(&mut self, var: Var, cx: &Context<'_>) -> bool {
        let is_new = cx.types[var.index()].is_num() && !self.0[var.index()];
        self.0[var.index()] |= is_new;
        is_new
    }

    /// Whether something was marked.
    fn region(&mut self, region: &Region, cx: &Context<'_>) -> bool {
        region.stmts.iter().fold(false, |is_new, stmt| self.stmt(stmt, cx) | is_new)
    }

    fn stmt(&mut self, stmt: &Stmt, cx: &Context<'_>) -> bool {
        let mut is_new = false;
        let link = |varied: &mut Varied, from: Var, to: Var| varied.has(from) && varied.mark(to, cx);
        match &stmt.kind {
            Kind::If(_, yes, no) => {
                is_new |= self.region(yes, cx) | self.region(no, cx);
                for ((result, yes), no) in stmt.results.iter().zip(&yes.yields).zip(&no.yields) {
                    is_new |= link(self, *yes, *result) | link(self, *no, *result);
                }
            }
            Kind::Loop(repeat) => {
                for binding in repeat.states.iter().chain(&repeat.accs) {
                    is_new |= link(self, binding.init, binding.var);
                }
                if let Control::While(condition) = &repeat.control {
                    is_new |= self.region(condition, cx);
                }
                is_new |= self.region(&repeat.body, cx);
                for ((state, next), result) in
                    repeat.states.iter().zip(&repeat.body.yields).zip(&stmt.results)
                {
                    is_new |= link(self, *next, state.var) | link(self, state.var, *result);
                }
                for (row, result) in repeat.collect.iter().zip(&stmt.results[repeat.first_row()..]) {
                    is_new |= link(self, *row, *result);
                }
                for (acc, result) in repeat.accs.iter().zip(&stmt.results[repeat.first_acc()..]) {
                    is_new |= link(self, acc.var, *result);
                }
            }
            Kind::Add(acc, _, value) => is_new |= link(self, *value, *acc),
            Kind::Unpack(..) => {}
            kind => {
                let operands = kind.operands();
                let depends = (0..operands.len()).any(|at| self.has(operands[at]) && passes(kind, at));
                if depends {
                    for result in &stmt.results {
                        is_new |= self.mark(*result, cx);
                    }
                    // The callee may add to an accumulator that is an argument.
                    if let Kind::Call(_, callee, arguments) = kind {
                        let params = &cx.module.body(*callee).params;
                        for (_, argument) in params.iter().zip(arguments).filter(|(param, _)| param.is_acc) {
                            is_new |= self.mark(*argument, cx);
                        }
                    }
                }
            }
        }
        is_new
    }
}

/// Which states of a loop get a cotangent, if the final states marked in `with_cotangent`, the collected
/// names `rows` of each iteration, and the accumulators `accs` have one.
pub(crate) fn reached_states(
    repeat: &Loop,
    varied: &Varied,
    with_cotangent: &[bool],
    rows: &[Var],
    accs: &FxHashSet<Var>,
) -> Vec<bool> {
    let mut reached = with_cotangent.to_vec();
    loop {
        let yields = repeat.body.yields.iter().zip(&reached).filter(|(_, reached)| **reached);
        let useful: FxHashSet<Var> = yields.map(|(var, _)| *var).chain(rows.iter().copied()).collect();
        let useful = sources(&repeat.body, useful, accs);
        let next: Vec<bool> = repeat
            .states
            .iter()
            .zip(&reached)
            .map(|(state, reached)| *reached || varied.has(state.var) && useful.contains(&state.var))
            .collect();
        if next == reached {
            return reached;
        }
        reached = next;
    }
}

/// The names in `useful`, and all names that they may be computed from in a region.
fn sources(region: &Region, mut useful: FxHashSet<Var>, accs: &FxHashSet<Var>) -> FxHashSet<Var> {
    for stmt in region.stmts.iter().rev() {
        if stmt.results.iter().any(|result| useful.contains(result)) || adds_to(stmt, accs) {
            useful.extend(free_vars(stmt));
        }
    }
    useful
}

/// Whether a statement adds to one of these accumulators.
pub(crate) fn adds_to(stmt: &Stmt, accs: &FxHashSet<Var>) -> bool {
    match &stmt.kind {
        Kind::Add(acc, ..) => accs.contains(acc),
        Kind::Call(_, _, arguments) => arguments.iter().any(|argument| accs.contains(argument)),
        kind => kind.regions().iter().any(|region| region.stmts.iter().any(|stmt| adds_to(stmt, accs))),
    }
}
