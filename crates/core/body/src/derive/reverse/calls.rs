//! The reverse of calls.

use super::super::{Adjoint, Key, Sweep};
use super::Writer;
use super::fusion::Parts;
use crate::ir::{BodyId, Elem, Kind, Mode, Param, Stmt, Type, Var};

impl Writer<'_> {
    pub(super) fn call(
        &mut self,
        stmt: &Stmt,
        callee: BodyId,
        arguments: &[Var],
        at: usize,
        parts: &mut Parts,
        may_fuse: bool,
    ) {
        let cotangents: Vec<Option<Var>> = stmt.results.iter().map(|var| self.take(*var)).collect();
        let params = self.deriver.module.body(callee).params.clone();
        let acc_cotangents: Vec<Option<Var>> = params
            .iter()
            .zip(arguments)
            .map(|(param, var)| self.acc_cotangents.get(var).copied().filter(|_| param.is_acc))
            .collect();
        let is_varied =
            |param: &Param, var: &Var| !param.is_acc && param.ty.is_num() && self.varied.has(*var);
        let varied: Vec<bool> =
            params.iter().zip(arguments).map(|(param, var)| is_varied(param, var)).collect();
        let has_cotangent = cotangents.iter().chain(&acc_cotangents).any(Option::is_some);
        if !has_cotangent || !varied.contains(&true) {
            return;
        }
        if let Some(custom) = self.deriver.module.custom(callee, Mode::Adj) {
            return self.custom_adjoint(stmt, custom, arguments, &cotangents);
        }
        if let Some(custom) = self.deriver.module.custom(callee, Mode::Tan) {
            return self.custom_tangent(stmt, custom, arguments, &cotangents);
        }
        let mut adjoint = Adjoint {
            of: callee,
            active: varied
                .iter()
                .zip(&acc_cotangents)
                .map(|(varied, acc)| *varied || acc.is_some())
                .collect(),
            into: vec![false; params.len()],
            seeds: cotangents.iter().map(Option::is_some).collect(),
            tape_free: self.tape_free,
        };
        let seeds: Vec<Var> = cotangents.iter().chain(&acc_cotangents).flatten().copied().collect();
        let is_fused = may_fuse && self.is_fusable(at, parts, &seeds);
        let mut accs = Vec::new();
        for (place, var) in arguments.iter().enumerate() {
            // The cotangent of a scalar is returned. That of a tensor would be mostly zeros, so it is added
            // to an accumulator.
            if varied[place]
                && params[place].ty.rank > 0
                && let Some(acc) = self.acc(*var)
            {
                adjoint.into[place] = true;
                accs.push(acc);
            }
        }
        let wanted =
            arguments.iter().enumerate().filter(|(place, _)| varied[*place] && !adjoint.into[*place]);
        let wanted: Vec<Var> = wanted.map(|(_, var)| *var).collect();
        let results: Vec<Var> = wanted.iter().map(|var| self.cotangent_name("d", *var)).collect();
        let derived = [seeds, accs].concat();
        if is_fused {
            let joint = self.deriver.request(Key::Adj(adjoint, Sweep::Joint));
            let all = [stmt.results.clone(), results.clone()].concat();
            let arguments = [arguments.to_vec(), derived].concat();
            self.fuse(at, parts, all, Kind::Call(Mode::Plain, joint, arguments));
        } else if self.tape_free {
            self.again(stmt, adjoint, &params, arguments, derived, &results);
        } else {
            let tape = self.builder.fresh("tape", Type::scalar(Elem::Tape));
            let forward = self.deriver.request(Key::Adj(adjoint.clone(), Sweep::Forward));
            let slot = &mut parts.slots[at].stmt;
            slot.results.push(tape);
            slot.kind = Kind::Call(Mode::Plain, forward, arguments.to_vec());
            let backward = self.deriver.request(Key::Adj(adjoint, Sweep::Backward));
            let arguments = [vec![tape], derived].concat();
            self.builder.push(results.clone(), Kind::Call(Mode::Plain, backward, arguments));
        }
        for (var, result) in wanted.iter().zip(results) {
            self.contribute(*var, &[], result);
        }
    }

    /// Calls the callee again, together with its cotangents, but without its additions to accumulators, which
    /// the first call made.
    fn again(
        &mut self,
        stmt: &Stmt,
        adjoint: Adjoint,
        params: &[Param],
        arguments: &[Var],
        derived: Vec<Var>,
        results: &[Var],
    ) {
        let mut joint = self.deriver.request(Key::Adj(adjoint, Sweep::Joint));
        if params.iter().any(|param| param.is_acc) {
            let all = self.deriver.module.body(joint).params.len();
            let without = (0..all).map(|place| params.get(place).is_some_and(|param| param.is_acc)).collect();
            joint = self.deriver.request(Key::Strip { of: joint, without });
        }
        let values = params.iter().zip(arguments).filter(|(param, _)| !param.is_acc).map(|(_, var)| *var);
        let arguments = values.chain(derived).collect();
        let unused = stmt.results.iter().map(|var| self.builder.fresh_like(*var));
        let all = unused.collect::<Vec<_>>().into_iter().chain(results.iter().copied()).collect();
        self.builder.push(all, Kind::Call(Mode::Plain, joint, arguments));
    }

    /// The cotangents of all nums, with zeros for the missing ones.
    fn all_cotangents(&mut self, stmt: &Stmt, cotangents: &[Option<Var>]) -> Vec<Var> {
        let mut all = Vec::new();
        for (result, cotangent) in stmt.results.iter().zip(cotangents) {
            if self.builder.ty(*result).is_num() {
                all.push(cotangent.unwrap_or_else(|| self.builder.zeros_like(*result)));
            }
        }
        all
    }

    fn num_arguments(&self, arguments: &[Var]) -> Vec<Var> {
        arguments.iter().copied().filter(|var| self.builder.ty(*var).is_num()).collect()
    }

    fn custom_adjoint(&mut self, stmt: &Stmt, custom: BodyId, arguments: &[Var], cotangents: &[Option<Var>]) {
        let seeds = self.all_cotangents(stmt, cotangents);
        self.linear(stmt.results.len(), custom, [arguments.to_vec(), seeds].concat(), arguments);
    }

    /// The cotangent from a custom tangent: the tangent is linear in `tx`, and its transpose with respect to
    /// `tx` is the cotangent.
    fn custom_tangent(&mut self, stmt: &Stmt, custom: BodyId, arguments: &[Var], cotangents: &[Option<Var>]) {
        let body = self.deriver.module.body(custom);
        let (n_params, n_results) = (body.params.len(), body.results.len());
        let active = (0..n_params).map(|place| place >= arguments.len()).collect();
        let seeds = (0..n_results).map(|place| place >= stmt.results.len()).collect();
        let into = vec![false; n_params];
        let adjoint = Adjoint { of: custom, active, into, seeds, tape_free: self.tape_free };
        let derived = self.deriver.request(Key::Adj(adjoint, Sweep::Joint));
        let nums = self.num_arguments(arguments);
        let zeros: Vec<Var> = nums.iter().map(|var| self.builder.zeros_like(*var)).collect();
        let seeds = self.all_cotangents(stmt, cotangents);
        self.linear(n_results, derived, [arguments.to_vec(), zeros, seeds].concat(), arguments);
    }

    /// Writes a call whose results after the first `n_unused` are the cotangents of the nums among
    /// `arguments`.
    fn linear(&mut self, n_unused: usize, callee: BodyId, operands: Vec<Var>, arguments: &[Var]) {
        let types = self.deriver.module.body(callee).results[..n_unused].to_vec();
        let mut results: Vec<Var> = types.iter().map(|ty| self.builder.fresh("unused", *ty)).collect();
        let nums = self.num_arguments(arguments);
        let cotangents: Vec<Var> = nums.iter().map(|var| self.cotangent_name("d", *var)).collect();
        results.extend(&cotangents);
        self.builder.push(results, Kind::Call(Mode::Plain, callee, operands));
        for (var, cotangent) in nums.iter().zip(cotangents) {
            self.contribute(*var, &[], cotangent);
        }
    }
}
