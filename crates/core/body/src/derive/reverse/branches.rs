//! The reverse of `if`: the reverse of the branch that was taken.

use super::super::activity::adds_to;
use super::Writer;
use super::cotangents::{Construct, Frame};
use super::fusion::Parts;
use super::record::Keep;
use crate::edit::Renaming;
use crate::ir::{Kind, Region, Stmt, Type, Var};

impl Writer<'_> {
    pub(super) fn branches(
        &mut self,
        stmt: &Stmt,
        condition: Var,
        regions: [&Region; 2],
        at: usize,
        parts: &mut Parts,
        may_fuse: bool,
    ) {
        let cotangents: Vec<Option<Var>> = stmt.results.iter().map(|var| self.take(*var)).collect();
        let accs = self.acc_cotangents.keys().copied().collect();
        if cotangents.iter().all(Option::is_none) && !adds_to(stmt, &accs) {
            return;
        }
        let seeds: Vec<Var> = cotangents.iter().flatten().copied().collect();
        let is_fused = may_fuse && self.is_fusable(at, parts, &seeds);
        let detached = if is_fused { self.detach(at, parts) } else { Vec::new() };
        let branches = regions.map(|region| self.branch(region, &cotangents));
        let mut passed: Vec<Var> = branches.iter().flat_map(|(_, frame)| frame.passed()).collect();
        passed.sort_unstable();
        passed.dedup();
        let mut ends = Vec::new();
        for (mut branch, frame) in branches {
            let (last, yields) = self.builder_aside(|writer| {
                let cotangent = |var: &Var| match frame.cotangents.get(var) {
                    Some(cotangent) => *cotangent,
                    None => writer.current_or_zeros(*var),
                };
                passed.iter().map(cotangent).collect::<Vec<Var>>()
            });
            branch.reverse.extend(last);
            ends.push((branch, frame, yields));
        }
        let results: Vec<Var> = passed.iter().map(|var| self.cotangent_name("d", *var)).collect();
        if is_fused {
            let joint = ends.iter().zip(regions).map(|((branch, _, yields), region)| Region {
                stmts: branch.joint(&self.builder.types),
                yields: [region.yields.clone(), yields.clone()].concat(),
            });
            let [yes, no] = joint.collect::<Vec<_>>().try_into().expect("there are two branches");
            let all = [stmt.results.clone(), results.clone()].concat();
            self.fuse(at, parts, all, Kind::If(condition, yes, no));
        } else {
            self.separate(condition, at, parts, ends, results.clone());
        }
        for (var, result) in passed.iter().zip(results) {
            self.set(*var, result);
        }
        self.attach(detached);
    }

    fn branch(&mut self, region: &Region, cotangents: &[Option<Var>]) -> (Parts, Frame) {
        let mut frame = Frame::new(Construct::Branch, []);
        frame.define(region);
        self.frames.push(frame);
        let (first, ()) = self.builder_aside(|writer| {
            for (var, cotangent) in region.yields.iter().zip(cotangents) {
                if let Some(cotangent) = cotangent {
                    writer.contribute(*var, &[], *cotangent);
                }
            }
        });
        let mut parts = self.region(region, true);
        parts.prepend(first);
        (parts, self.frames.pop().expect("it was pushed"))
    }

    /// Writes a separate `if` for the reverse sweep, which reads the values that the forward `if` keeps.
    fn separate(
        &mut self,
        condition: Var,
        at: usize,
        parts: &mut Parts,
        ends: Vec<(Parts, Frame, Vec<Var>)>,
        results: Vec<Var>,
    ) {
        let mut forward = Vec::new();
        let mut reverse = Vec::new();
        for (branch, frame, yields) in ends {
            self.frames.push(frame);
            let (stmts, kept) = self.rerun(&branch, &yields, Keep::Results);
            self.frames.pop();
            let mut to = Renaming::default();
            let outside: Vec<Var> = kept.iter().map(|var| self.builder.fresh_like(*var)).collect();
            to.extend(kept.iter().copied().zip(outside.iter().copied()));
            reverse.push(self.renew(Region { stmts, yields }, &mut to));
            forward.push((branch.forward(), kept, outside));
        }
        let [no, yes] = [reverse.pop(), reverse.pop()].map(|region| region.expect("there are two branches"));
        self.keep_behind(parts, at, forward);
        self.builder.push(results, Kind::If(condition, yes, no));
    }

    /// Adds the kept values to the results of the forward `if`. The other branch yields placeholders of their
    /// types.
    fn keep_behind(&mut self, parts: &mut Parts, at: usize, forward: Vec<(Vec<Stmt>, Vec<Var>, Vec<Var>)>) {
        let stmt = &mut parts.slots[at].stmt;
        let Kind::If(_, yes, no) = &mut stmt.kind else { unreachable!("it was an `if`") };
        let regions = [yes, no];
        let mut ends = Vec::new();
        for (region, (stmts, kept, outside)) in regions.into_iter().zip(forward) {
            region.stmts = stmts;
            ends.push((region, kept, outside));
        }
        let [(yes, yes_kept, yes_outside), (no, no_kept, no_outside)] =
            ends.try_into().unwrap_or_else(|_| unreachable!("there are two branches"));
        // In both branches, the kept values of the first branch come first.
        yes.yields.extend(yes_kept);
        let mut dummies = |region: &mut Region, outside: &[Var]| {
            let types: Vec<Type> = outside.iter().map(|var| self.builder.ty(*var)).collect();
            let (stmts, dummies) =
                self.builder.aside(|builder| types.iter().map(|ty| builder.dummy(*ty)).collect::<Vec<_>>());
            region.stmts.extend(stmts);
            region.yields.extend(dummies);
        };
        dummies(no, &yes_outside);
        dummies(yes, &no_outside);
        no.yields.extend(no_kept);
        stmt.results.extend(yes_outside);
        stmt.results.extend(no_outside);
    }
}
