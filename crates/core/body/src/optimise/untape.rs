//! Removes tapes that are packed and unpacked in one body.
//!
//! ```text
//! t = pack(x, y)  ..  a, b = unpack(num, num)(t)        a and b are x and y
//!
//! t = if c { .. t1 = pack(x)  yield t1 } { t2 = pack()  yield t2 }
//! if c { a = unpack(num)(t) .. } { .. }                 a is a further result of the first `if`
//! ```

use rustc_hash::{FxHashMap, FxHashSet};

use eddy_tensor::Op;

use super::rewrite::collected;
use crate::build::Builder;
use crate::clean::{Pruner, compact, number_definitions};
use crate::edit::{Renaming, renamed_stmt, renamed_vars};
use crate::ir::{Body, Control, Elem, Kind, Loop, Module, Region, Stmt, Type, Var};
use crate::operation::Operation;
use crate::own::own_body;
use crate::verify::types_of;

/// Removes such tapes from a body.
pub(super) fn untape(module: &Module, body: &mut Body) {
    if !unpacks(&body.region) {
        return;
    }
    let types = types_of(module, body).expect("the body is well formed");
    let mut untaper = Untaper {
        builder: Builder::new(body, &types),
        collected: collected(&body.region),
        tapes: FxHashMap::default(),
        to: Renaming::default(),
        taken: Vec::new(),
    };
    let Region { mut stmts, yields } = untaper.region(&body.region);
    body.names = untaper.builder.names.finish();
    // Everything but dead tapes stays: it may fail.
    let keep = |stmt: &Stmt| !matches!(stmt.kind, Kind::Op(Operation::Pack, _) | Kind::Const(_));
    Pruner { module, keep: &keep }.prune(&mut stmts, yields.iter().copied().collect());
    body.region = Region { stmts, yields };
    own_body(body);
    compact(body);
}

fn unpacks(region: &Region) -> bool {
    region.stmts.iter().any(|stmt| match &stmt.kind {
        Kind::Unpack(..) => true,
        kind => kind.regions().into_iter().any(unpacks),
    })
}

/// What is known about a tape.
#[derive(Clone)]
enum Tape {
    Packed(Vec<Var>),
    /// The result of a choice: what each branch packed, by names that are visible after it.
    Chosen(Var, [Option<Vec<Var>>; 2]),
}

struct Untaper {
    builder: Builder,
    collected: FxHashSet<Var>,
    tapes: FxHashMap<Var, Tape>,
    to: Renaming,
    /// The conditions around the current statement, and their branches.
    taken: Vec<(Var, usize)>,
}

impl Untaper {
    fn region(&mut self, region: &Region) -> Region {
        let mut stmts = Vec::with_capacity(region.stmts.len());
        for stmt in &region.stmts {
            self.stmt(stmt, &mut stmts);
        }
        Region { stmts, yields: renamed_vars(&region.yields, &self.to) }
    }

    fn stmt(&mut self, stmt: &Stmt, stmts: &mut Vec<Stmt>) {
        match &stmt.kind {
            Kind::If(condition, yes, no) => stmts.push(self.branches(stmt, *condition, [yes, no])),
            Kind::Loop(repeat) => stmts.push(self.repeat(stmt, repeat)),
            Kind::Op(Operation::Pack, operands) => {
                let operands = renamed_vars(operands, &self.to);
                self.tapes.insert(stmt.results[0], Tape::Packed(operands));
                stmts.push(renamed_stmt(stmt, &self.to));
            }
            Kind::Unpack(_, tape) => match self.packed(*self.to.get(tape).unwrap_or(tape)) {
                Some(operands) => {
                    for (result, operand) in stmt.results.iter().zip(operands) {
                        if self.collected.contains(result) {
                            let kind = Kind::Op(Operation::Table(Op::Copy), vec![operand]);
                            stmts.push(Stmt { results: vec![*result], kind, span: stmt.span });
                        } else {
                            self.to.insert(*result, operand);
                        }
                    }
                }
                None => stmts.push(renamed_stmt(stmt, &self.to)),
            },
            _ => stmts.push(renamed_stmt(stmt, &self.to)),
        }
    }

    /// What a tape certainly holds at the current statement.
    fn packed(&self, tape: Var) -> Option<Vec<Var>> {
        match self.tapes.get(&tape)? {
            Tape::Packed(operands) => Some(operands.clone()),
            Tape::Chosen(condition, branches) => {
                let (_, branch) = self.taken.iter().find(|(known, _)| known == condition)?;
                branches[*branch].clone()
            }
        }
    }

    fn branches(&mut self, stmt: &Stmt, condition: Var, regions: [&Region; 2]) -> Stmt {
        let condition = *self.to.get(&condition).unwrap_or(&condition);
        let mut written = Vec::new();
        for (branch, region) in regions.into_iter().enumerate() {
            self.taken.push((condition, branch));
            written.push(self.region(region));
            self.taken.pop();
        }
        let mut results = stmt.results.clone();
        for (k, result) in stmt.results.iter().enumerate() {
            if self.builder.ty(*result).elem != Elem::Tape || self.builder.ty(*result).rank > 0 {
                continue;
            }
            let mut chosen = [None, None];
            for branch in 0..2 {
                let Some(Tape::Packed(operands)) = self.tapes.get(&written[branch].yields[k]).cloned() else {
                    continue;
                };
                chosen[branch] = Some(
                    operands
                        .iter()
                        .map(|var| self.outside(*var, branch, &mut written, &mut results))
                        .collect(),
                );
            }
            self.tapes.insert(*result, Tape::Chosen(condition, chosen));
        }
        let [yes, no] = written.try_into().expect("there are two branches");
        Stmt { results, kind: Kind::If(condition, yes, no), span: stmt.span }
    }

    /// A name after a choice for a name in one of its branches.
    fn outside(&mut self, var: Var, branch: usize, regions: &mut [Region], results: &mut Vec<Var>) -> Var {
        let mut is_inside = false;
        number_definitions(&regions[branch], &mut |own| is_inside |= own == var);
        if !is_inside {
            return var;
        }
        if let Some(at) = regions[branch].yields.iter().position(|own| *own == var) {
            return results[at];
        }
        let ty: Type = self.builder.ty(var);
        let result = self.builder.fresh_like(var);
        let (dummy, other) = self.builder.aside(|builder| builder.dummy(ty));
        regions[1 - branch].stmts.extend(dummy);
        regions[1 - branch].yields.push(other);
        regions[branch].yields.push(var);
        results.push(result);
        result
    }

    fn repeat(&mut self, stmt: &Stmt, repeat: &Loop) -> Stmt {
        let condition = match &repeat.control {
            Control::While(condition) => Some(self.region(condition)),
            _ => None,
        };
        let body = self.region(&repeat.body);
        let mut head = Loop { body: Region::default(), ..repeat.clone() };
        if let Control::While(condition) = &mut head.control {
            *condition = Region::default();
        }
        let mut stmt = renamed_stmt(&Stmt { kind: Kind::Loop(Box::new(head)), ..stmt.clone() }, &self.to);
        if let Kind::Loop(repeat) = &mut stmt.kind {
            repeat.body = body;
            if let Some(condition) = condition {
                repeat.control = Control::While(condition);
            }
        }
        stmt
    }
}
