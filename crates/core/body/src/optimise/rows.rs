//! Rows that loops collect for others that run through them again, as derivatives do.
//!
//! ```text
//! y, ns, ts = for i < k (..) collect (n, t) { n = size 0 (x)  t = pack(x, a, n) .. }
//! for j < k (..) { i = reverse_index(k, j)  m = index ns [i]  u = index ts [i]  b, c, d = unpack (..) u .. }
//! ```
//!
//! * A row that is the same in all iterations is read where it comes from: `m` is `size 0 (x)`.
//! * A tape in rows of a loop with a known count is replaced by rows of its parts, if these have fixed sizes:
//!   `b` is `x`, and `c` is `index as [i]`, where `as` are rows of `a`.

use rustc_hash::{FxHashMap, FxHashSet};

use eddy_tensor::Op;

use super::rewrite::collected;
use crate::build::Builder;
use crate::clean::{Pruner, compact, number_definitions};
use crate::derive::sizes::{Size, Sizes};
use crate::edit::{Renaming, renamed_stmt, renamed_vars};
use crate::ir::{At, Body, Control, Elem, Kind, Literal, Loop, Module, Region, Stmt, Type, Var};
use crate::operation::Operation;
use crate::own::own_body;
use crate::verify::types_of;

/// Replaces such rows in a body.
pub(super) fn rows(module: &Module, body: &mut Body) {
    let types = types_of(module, body).expect("the body is well formed");
    let sizes = Sizes::with_rows(body, &types);
    let mut reader = Reader {
        builder: Builder::new(body, &types),
        sizes,
        collected: collected(&body.region),
        constants: FxHashMap::default(),
        measured: FxHashMap::default(),
        packed: FxHashMap::default(),
        reversed: FxHashSet::default(),
        rows: FxHashMap::default(),
        tape_rows: FxHashMap::default(),
        tapes: FxHashMap::default(),
        to: Renaming::default(),
        is_changed: false,
    };
    let region = reader.region(&body.region);
    if !reader.is_changed {
        return;
    }
    let types = reader.builder.types;
    body.names = reader.builder.names.finish();
    let Region { mut stmts, yields } = region;
    // Everything but dead tapes stays: it may fail.
    let keep = |stmt: &Stmt| match &stmt.kind {
        Kind::Op(Operation::Pack | Operation::Size(_), _) | Kind::Const(_) => false,
        Kind::Index(..) => types[stmt.results[0].index()].elem != Elem::Tape,
        _ => true,
    };
    Pruner { module, keep: &keep }.prune(&mut stmts, yields.iter().copied().collect());
    body.region = Region { stmts, yields };
    own_body(body);
    compact(body);
}

/// Where a value of an iteration is found after the loop.
#[derive(Clone)]
enum Part {
    /// It is a name from outside.
    Name(Var),
    Constant(Literal),
    /// It is a size of a name from outside.
    Size(Var, usize),
    /// In rows.
    Row(Var),
}

struct Reader {
    builder: Builder,
    sizes: Sizes,
    collected: FxHashSet<Var>,
    constants: FxHashMap<Var, Literal>,
    /// Sizes by their names.
    measured: FxHashMap<Var, (Var, usize)>,
    packed: FxHashMap<Var, Vec<Var>>,
    /// Indices that run through all rows.
    reversed: FxHashSet<Var>,
    /// Rows that need not be read, and rows of tapes.
    rows: FxHashMap<Var, Part>,
    tape_rows: FxHashMap<Var, Vec<Part>>,
    /// Tapes from rows, with the index.
    tapes: FxHashMap<Var, (Vec<Part>, Var)>,
    to: Renaming,
    is_changed: bool,
}

impl Reader {
    fn region(&mut self, region: &Region) -> Region {
        let mut stmts = Vec::with_capacity(region.stmts.len());
        for stmt in &region.stmts {
            self.stmt(stmt, &mut stmts);
        }
        Region { stmts, yields: renamed_vars(&region.yields, &self.to) }
    }

    fn stmt(&mut self, stmt: &Stmt, stmts: &mut Vec<Stmt>) {
        match &stmt.kind {
            Kind::If(condition, yes, no) => {
                let (yes, no) = (self.region(yes), self.region(no));
                let condition = *self.to.get(condition).unwrap_or(condition);
                stmts.push(Stmt { kind: Kind::If(condition, yes, no), ..stmt.clone() });
                return;
            }
            Kind::Loop(repeat) => return stmts.push(self.repeat(stmt, repeat)),
            Kind::Unpack(_, tape) => {
                if let Some((parts, at)) = self.tapes.get(tape).cloned() {
                    self.is_changed = true;
                    for (result, part) in stmt.results.iter().zip(parts) {
                        self.read(*result, &part, at, stmt, stmts);
                    }
                    return;
                }
            }
            Kind::Index(rows, at) => {
                if let [At::Int(index)] = at.as_slice()
                    && self.reversed.contains(index)
                {
                    if let Some(part) = self.rows.get(rows).cloned() {
                        self.is_changed = true;
                        return self.read(stmt.results[0], &part, *index, stmt, stmts);
                    }
                    if let Some(parts) = self.tape_rows.get(rows).cloned() {
                        self.tapes.insert(stmt.results[0], (parts, *index));
                    }
                }
            }
            Kind::Op(Operation::ReverseIndex, _) => drop(self.reversed.insert(stmt.results[0])),
            Kind::Op(Operation::Pack, operands) => {
                let operands = renamed_vars(operands, &self.to);
                self.packed.insert(stmt.results[0], operands);
            }
            Kind::Op(Operation::Size(axis), operands) => {
                self.measured.insert(stmt.results[0], (operands[0], *axis));
            }
            Kind::Const(literal) => drop(self.constants.insert(stmt.results[0], literal.clone())),
            _ => {}
        }
        stmts.push(renamed_stmt(stmt, &self.to));
    }

    /// Defines a name by a part of an iteration that is over.
    fn read(&mut self, result: Var, part: &Part, at: Var, stmt: &Stmt, stmts: &mut Vec<Stmt>) {
        let at = *self.to.get(&at).unwrap_or(&at);
        let kind = match part {
            Part::Name(var) if !self.collected.contains(&result) => {
                self.to.insert(result, *var);
                return;
            }
            Part::Name(var) => Kind::Op(Operation::Table(Op::Copy), vec![*var]),
            Part::Constant(literal) => {
                self.constants.insert(result, literal.clone());
                Kind::Const(literal.clone())
            }
            Part::Size(of, axis) => {
                self.measured.insert(result, (*of, *axis));
                Kind::Op(Operation::Size(*axis), vec![*of])
            }
            Part::Row(rows) => Kind::Index(*rows, vec![At::Int(at)]),
        };
        stmts.push(Stmt { results: vec![result], kind, span: stmt.span });
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
        let Kind::Loop(repeat) = &mut stmt.kind else { unreachable!("it is a loop") };
        repeat.body = body;
        if let Some(condition) = condition {
            repeat.control = Control::While(condition);
        }
        let mut inside: FxHashSet<Var> = FxHashSet::default();
        inside.extend(repeat.states.iter().chain(&repeat.accs).map(|binding| binding.var));
        inside.extend(repeat.counter().map(|(index, _)| index));
        number_definitions(&repeat.body, &mut |var| inside.extend([var]));
        if let Control::While(condition) = &repeat.control {
            number_definitions(condition, &mut |var| inside.extend([var]));
        }
        let first = repeat.first_row();
        for k in 0..repeat.collect.len() {
            let (var, result) = (repeat.collect[k], stmt.results[first + k]);
            if let Some(part) = self.outside(var, &inside) {
                self.rows.insert(result, part);
            } else if repeat.counter().is_some()
                && let Some(operands) = self.packed.get(&var).cloned()
                && let Some(parts) = self.parts(&operands, &inside, repeat, &mut stmt.results)
            {
                self.tape_rows.insert(result, parts);
            }
        }
        stmt
    }

    /// A value that is the same in all iterations.
    fn outside(&self, var: Var, inside: &FxHashSet<Var>) -> Option<Part> {
        if !inside.contains(&var) {
            return Some(Part::Name(var));
        }
        if let Some(literal) = self.constants.get(&var) {
            return Some(Part::Constant(literal.clone()));
        }
        let (of, axis) = self.measured.get(&var)?;
        match self.sizes.axis(*of, *axis) {
            Size::Axis(of, axis) if !inside.contains(&of) => Some(Part::Size(of, axis)),
            Size::Int(of) if !inside.contains(&of) => Some(Part::Name(of)),
            _ => None,
        }
    }

    /// Where the parts of a tape are found; adds rows of them to the loop.
    fn parts(
        &mut self,
        operands: &[Var],
        inside: &FxHashSet<Var>,
        repeat: &mut Loop,
        results: &mut Vec<Var>,
    ) -> Option<Vec<Part>> {
        let mut found = Vec::new();
        for var in operands {
            let ty: Type = self.builder.ty(*var);
            let is_visible = repeat.states.iter().any(|state| state.var == *var)
                || repeat.body.stmts.iter().any(|stmt| stmt.results.contains(var));
            let has_fixed_sizes = (0..ty.rank).all(|axis| match self.sizes.axis(*var, axis) {
                Size::Axis(of, _) | Size::Int(of) => !inside.contains(&of),
            });
            found.push(match self.outside(*var, inside) {
                Some(part) => Some(part),
                None if ty.elem == Elem::Tape || !is_visible || !has_fixed_sizes => return None,
                None => None,
            });
        }
        self.is_changed = true;
        let mut parts = Vec::new();
        for (var, part) in operands.iter().zip(found) {
            parts.push(match part {
                Some(part) => part,
                None => {
                    let first = repeat.first_row();
                    let known = repeat.collect.iter().position(|own| own == var);
                    let rows = known.map(|at| results[first + at]);
                    Part::Row(rows.unwrap_or_else(|| {
                        let rows = self.builder.fresh("kept", self.builder.ty(*var).row());
                        results.insert(repeat.first_acc(), rows);
                        repeat.collect.push(*var);
                        rows
                    }))
                }
            });
        }
        Some(parts)
    }
}
