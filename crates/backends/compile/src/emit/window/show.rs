//! The outputs of a window, after all sweeps.

use eddy_imp::{Block, Expr, Place as ImpPlace, Stmt, Type};
use eddy_plan::plan::{Condition, Place, Read, Region, Right as Planned, Version, Zone};

use super::super::assign::{copy, first};
use super::super::iteration::t;
use super::super::{Emitter, holds};
use super::{Context, alternatives, last_zones, n};
use crate::lower::Operand;
use crate::names::flag_name;

impl<'a> Emitter<'a> {
    /// Fills the outputs of all cycles, in order.
    pub(super) fn emissions(&mut self, region: &'a Region, version: &'a Version, block: &mut Block) {
        let zone = |emitter: &mut Self, zone: Zone| {
            let mut block = Block::new();
            emitter.emission(region, version, zone, &mut block);
            block
        };
        let (first, inner) = (zone(self, Zone::First), zone(self, Zone::Inner));
        let is_open = self.frame.is_open;
        let lasts = if is_open { Vec::new() } else { last_zones(region) };
        let lasts: Vec<Block> = lasts.into_iter().map(|last| zone(self, last)).collect();
        let mut arms = vec![(t().equals(0), first)];
        let mut otherwise = Block::new();
        if is_open {
            otherwise = inner;
        } else {
            arms.push((t().lt(n() - 1), inner));
            alternatives(lasts, &mut otherwise);
        }
        let is_empty = otherwise.is_empty() && arms.iter().all(|(_, block)| block.is_empty());
        if !is_empty {
            block.count("t", Type::Cycle, 0, n(), |block| block.push(Stmt::If(arms, otherwise)));
        }
    }

    /// The outputs of a cycle in a zone.
    pub(super) fn emission(
        &mut self,
        region: &'a Region,
        version: &'a Version,
        zone: Zone,
        block: &mut Block,
    ) {
        let Some(id) = region.zone_id(zone) else { return };
        let body = &version.emit[id.index()];
        let mut context = Context::nowhere();
        let mut copies = Block::new();
        for (output, port) in self.source.flow.outputs.clone().iter().zip(self.outputs.clone()) {
            let Some(instruction) = body.code.iter().find(|instruction| instruction.var == *output) else {
                continue;
            };
            let Planned::Copy(read) = &instruction.right else { unreachable!("outputs are copied") };
            let mut conditions = self.conditions_of(&mut context, &instruction.clock);
            let is_absent = matches!(read, Read::Here(_, Place::Absent));
            if let Read::Here(var, place) = read {
                conditions.extend(self.kept_presence(*var, place, t()));
            }
            if port.has_flag {
                let is_there = if is_absent { false.into() } else { Expr::all(conditions.clone()) };
                copies.store(ImpPlace::output_of(t(), flag_name(&port.field)), is_there);
            }
            if is_absent {
                continue;
            }
            let Operand::Seen(view) = self.read(&mut context, read) else {
                unreachable!("nothing is computed here")
            };
            let (to, ty) = (ImpPlace::output_of(t(), port.field.as_str()), self.ty(*output));
            copies.when(Expr::all(conditions), |block| copy(&view, &to, ty, block));
        }
        block.append(context.declare_pointers(copies));
    }

    pub(super) fn conditions_of(&mut self, context: &mut Context, clock: &[Condition]) -> Vec<Expr> {
        let mut conditions = Vec::new();
        for condition in clock {
            let Operand::Seen(view) = self.read(context, &condition.read) else {
                unreachable!("it has a place")
            };
            conditions.push(holds(condition.polarity, first(&view)));
        }
        conditions
    }
}
