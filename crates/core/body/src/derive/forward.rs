//! Tangents: each statement is followed by the statements that compute the tangents of its results.
//!
//! A name that does not depend on the point has no tangent; zeros are written only where a construct requires
//! a tangent.

use rustc_hash::FxHashMap;

use eddy_tensor::Op;

use super::activity::Varied;
use super::rules::{Formulas, passes};
use super::sizes::Sizes;
use super::{Adjoint, Deriver, Key, Sweep};
use crate::build::Builder;
use crate::ir::{Binding, Body, BodyId, Control, Kind, Loop, Mode, Param, Region, Stmt, Var};

/// `tan f(x.., tx..) -> (y.., ty..)` where the active parameters have tangents.
pub(super) fn write(deriver: &mut Deriver, of: BodyId, active: &[bool], tape_free: bool) -> Body {
    let of = deriver.source(of);
    let types = deriver.types(of);
    let source = deriver.module.body(of).clone();
    let varied = Varied::new(&deriver.module, &source, &types, active);
    let sizes = Sizes::new(&source, &types);
    let builder = Builder::new(&source, &types);
    let mut writer = Writer { deriver, builder, varied, tangents: FxHashMap::default(), tape_free, sizes };
    let mut params = source.params.clone();
    for (param, _) in source.params.iter().zip(active).filter(|(_, active)| **active) {
        let var = writer.tangent_name(param.var);
        params.push(Param { var, ..*param });
    }
    let mut region = writer.region(&source.region, |writer| {
        let nums = source.region.yields.iter().zip(&source.results).filter(|(_, ty)| ty.is_num());
        nums.map(|(var, _)| writer.tangent(*var)).collect()
    });
    region.yields = [source.region.yields.clone(), region.yields].concat();
    let tangents = source.results.iter().copied().filter(|ty| ty.is_num());
    let results = source.results.iter().copied().chain(tangents).collect();
    Body { name: String::new(), params, results, region, names: writer.builder.names.finish() }
}

struct Writer<'a> {
    deriver: &'a mut Deriver,
    builder: Builder,
    varied: Varied,
    tangents: FxHashMap<Var, Var>,
    tape_free: bool,
    sizes: Sizes,
}

impl Writer<'_> {
    /// A new name for the tangent of a name.
    fn tangent_name(&mut self, var: Var) -> Var {
        let name = format!("t{}", self.builder.names.name(var));
        let tangent = self.builder.fresh(&name, self.builder.ty(var));
        self.tangents.insert(var, tangent);
        tangent
    }

    /// The tangent of a name, zeros if it has none.
    fn tangent(&mut self, var: Var) -> Var {
        match self.tangents.get(&var) {
            Some(tangent) => *tangent,
            None => self.builder.zeros_like(var),
        }
    }

    /// A region with its tangents; `end` returns its yields.
    fn region(&mut self, region: &Region, end: impl FnOnce(&mut Self) -> Vec<Var>) -> Region {
        let before = std::mem::take(&mut self.builder.out);
        for stmt in &region.stmts {
            self.builder.span = stmt.span;
            self.stmt(stmt);
        }
        let yields = end(self);
        Region { stmts: std::mem::replace(&mut self.builder.out, before), yields }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            Kind::If(condition, yes, no) => return self.branches(stmt, *condition, yes, no),
            Kind::Loop(repeat) => return self.repeat(stmt, repeat),
            Kind::Call(_, callee, arguments) => return self.call(stmt, *callee, arguments),
            _ => self.builder.out.push(stmt.clone()),
        }
        let tangent_of = |writer: &Self, var: &Var| writer.tangents.get(var).copied();
        let tangent = match &stmt.kind {
            Kind::Op(operation, operands) => {
                let mut sum = None;
                for (at, operand) in operands.iter().enumerate() {
                    let Some(tangent) = tangent_of(self, operand) else { continue };
                    if !passes(&stmt.kind, at) || self.deriver.refuses(stmt) {
                        continue;
                    }
                    let mut sizes = Vec::new();
                    let known = &self.sizes;
                    let (stmts, term) = self.builder.aside(|builder| {
                        Formulas::new(builder, known, &mut sizes).jvp(
                            operation,
                            operands,
                            stmt.results[0],
                            at,
                            tangent,
                        )
                    });
                    self.builder.out.extend(sizes.into_iter().chain(stmts));
                    sum = match (sum, term) {
                        (Some(sum), Some(term)) => Some(self.builder.op(Op::Add, &[sum, term])),
                        (sum, term) => sum.or(term),
                    };
                }
                sum
            }
            Kind::Index(array, at) => tangent_of(self, array).map(|array| self.builder.index(array, at)),
            Kind::Update(array, at, value) => match (tangent_of(self, array), tangent_of(self, value)) {
                (None, None) => None,
                (array_tangent, value_tangent) => {
                    // The array was changed in place; the result has the same shape.
                    let array = array_tangent.unwrap_or_else(|| self.builder.zeros_like(stmt.results[0]));
                    let value = value_tangent.unwrap_or_else(|| self.builder.zeros_like(*value));
                    Some(self.builder.update(array, at, value))
                }
            },
            Kind::Increase(array, at, value) => match (tangent_of(self, array), tangent_of(self, value)) {
                (array, None) => array,
                (array, Some(value)) => {
                    let array = array.unwrap_or_else(|| self.builder.zeros_like(stmt.results[0]));
                    Some(self.builder.increase(array, at, value))
                }
            },
            Kind::Add(acc, at, value) => {
                if let Some(value) = tangent_of(self, value)
                    && let Some(acc) = tangent_of(self, acc)
                {
                    self.builder.push(Vec::new(), Kind::Add(acc, at.clone(), value));
                }
                None
            }
            _ => None,
        };
        if let Some(tangent) = tangent {
            self.tangents.insert(stmt.results[0], tangent);
        }
    }

    fn branches(&mut self, stmt: &Stmt, condition: Var, yes: &Region, no: &Region) {
        let varied: Vec<usize> =
            (0..stmt.results.len()).filter(|at| self.varied.has(stmt.results[*at])).collect();
        let branch = |writer: &mut Self, region: &Region| {
            let mut branch = writer.region(region, |writer| {
                varied.iter().map(|at| writer.tangent(region.yields[*at])).collect()
            });
            branch.yields = [region.yields.clone(), branch.yields].concat();
            branch
        };
        let (yes, no) = (branch(self, yes), branch(self, no));
        let tangents = varied.iter().map(|at| self.tangent_name(stmt.results[*at]));
        let tangents: Vec<Var> = tangents.collect();
        self.builder.span = stmt.span;
        self.builder.push([stmt.results.clone(), tangents].concat(), Kind::If(condition, yes, no));
    }

    fn repeat(&mut self, stmt: &Stmt, repeat: &Loop) {
        let bind = |writer: &mut Self, bindings: &[Binding]| {
            let mut places = Vec::new();
            let mut tangents = Vec::new();
            for (at, binding) in bindings.iter().enumerate() {
                if writer.varied.has(binding.var) {
                    let init = writer.tangent(binding.init);
                    tangents.push(Binding { var: writer.tangent_name(binding.var), init });
                    places.push(at);
                }
            }
            (places, tangents)
        };
        let (states, state_tangents) = bind(self, &repeat.states);
        let (accs, acc_tangents) = bind(self, &repeat.accs);
        let rows: Vec<usize> =
            (0..repeat.collect.len()).filter(|at| self.varied.has(repeat.collect[*at])).collect();
        let mut collected = Vec::new();
        let mut body = self.region(&repeat.body, |writer| {
            collected = rows.iter().map(|at| writer.tangent(repeat.collect[*at])).collect();
            states.iter().map(|at| writer.tangent(repeat.body.yields[*at])).collect()
        });
        body.yields = [repeat.body.yields.clone(), body.yields].concat();
        let control = match &repeat.control {
            // Conditions have no tangents.
            Control::While(condition) => Control::While(condition.clone()),
            other => other.clone(),
        };
        let (first_row, first_acc) = (repeat.first_row(), repeat.first_acc());
        let end = first_acc + repeat.accs.len();
        let mut results = stmt.results[..first_row].to_vec();
        results.extend(states.iter().map(|at| self.tangent_name(stmt.results[*at])));
        results.extend_from_slice(&stmt.results[first_row..first_acc]);
        results.extend(rows.iter().map(|at| self.tangent_name(stmt.results[first_row + *at])));
        results.extend_from_slice(&stmt.results[first_acc..end]);
        results.extend(accs.iter().map(|at| self.tangent_name(stmt.results[first_acc + *at])));
        results.extend_from_slice(&stmt.results[end..]);
        let repeat = Loop {
            control,
            states: [repeat.states.clone(), state_tangents].concat(),
            accs: [repeat.accs.clone(), acc_tangents].concat(),
            collect: [repeat.collect.clone(), collected].concat(),
            body,
        };
        self.builder.span = stmt.span;
        self.builder.push(results, Kind::Loop(Box::new(repeat)));
    }

    fn call(&mut self, stmt: &Stmt, callee: BodyId, arguments: &[Var]) {
        let params = self.deriver.module.body(callee).params.clone();
        let active: Vec<bool> = arguments.iter().map(|var| self.tangents.contains_key(var)).collect();
        let is_active = params.iter().zip(&active).any(|(param, active)| *active && !param.is_acc);
        if !is_active {
            self.builder.out.push(stmt.clone());
            return;
        }
        let nums = stmt.results.iter().copied().filter(|var| self.builder.ty(*var).is_num());
        let nums: Vec<Var> = nums.collect();
        if let Some(custom) = self.deriver.module.custom(callee, Mode::Tan) {
            self.builder.out.push(stmt.clone());
            let num_arguments = arguments.iter().copied().filter(|var| self.builder.ty(*var).is_num());
            let tangents: Vec<Var> =
                num_arguments.collect::<Vec<_>>().into_iter().map(|var| self.tangent(var)).collect();
            let mut results: Vec<Var> =
                stmt.results.iter().map(|var| self.builder.fresh_like(*var)).collect();
            results.extend(nums.iter().map(|var| self.tangent_name(*var)));
            let arguments = [arguments.to_vec(), tangents].concat();
            self.builder.push(results, Kind::Call(Mode::Plain, custom, arguments));
            return;
        }
        if let Some(custom) = self.deriver.module.custom(callee, Mode::Adj) {
            return self.transposed(stmt, custom, arguments, &nums);
        }
        let key = Key::Tan { of: callee, active: active.clone(), tape_free: self.tape_free };
        let derived = self.deriver.request(key);
        let tangents = arguments.iter().zip(&active).filter(|(_, active)| **active);
        let tangents: Vec<Var> = tangents.map(|(var, _)| self.tangents[var]).collect();
        let tangent_results: Vec<Var> = nums.iter().map(|var| self.tangent_name(*var)).collect();
        let results = [stmt.results.clone(), tangent_results].concat();
        let arguments = [arguments.to_vec(), tangents].concat();
        self.builder.push(results, Kind::Call(Mode::Plain, derived, arguments));
    }

    /// The tangent from a custom adjoint: the adjoint is linear in `dy`, and its transpose with respect to
    /// `dy` is the tangent.
    fn transposed(&mut self, stmt: &Stmt, custom: BodyId, arguments: &[Var], nums: &[Var]) {
        self.builder.out.push(stmt.clone());
        let body = self.deriver.module.body(custom);
        let (n_params, n_results) = (body.params.len(), body.results.len());
        let is_seed = |at: usize| at >= arguments.len();
        let active: Vec<bool> = (0..n_params).map(is_seed).collect();
        let seeds: Vec<bool> = (0..n_results).map(|at| at >= stmt.results.len()).collect();
        let adjoint =
            Adjoint { of: custom, active, into: vec![false; n_params], seeds, tape_free: self.tape_free };
        let derived = self.deriver.request(Key::Adj(adjoint, Sweep::Joint));
        let mut all = arguments.to_vec();
        all.extend(nums.iter().map(|var| self.builder.zeros_like(*var)));
        for argument in arguments {
            if self.builder.ty(*argument).is_num() {
                let tangent = self.tangent(*argument);
                all.push(tangent);
            }
        }
        let types = self.deriver.module.body(custom).results.clone();
        let mut results: Vec<Var> = types.iter().map(|ty| self.builder.fresh("unused", *ty)).collect();
        results.extend(nums.iter().map(|var| self.tangent_name(*var)));
        self.builder.push(results, Kind::Call(Mode::Plain, derived, all));
    }
}
