//! Cotangents: the transposed statements, in opposite order.
//!
//! A region becomes two lists of statements ([`Parts`]): its forward sweep, which is the region itself with a
//! few additions, and its reverse sweep. The values of the forward sweep that the reverse sweep reads are the
//! tape; how they are passed depends on the construct that the region belongs to:
//!
//! * In a body, in a branch or in an iteration that computes both, the two lists follow each other
//!   ([`Parts::joint`]), and the reverse sweep reads names of the forward sweep directly.
//! * The reverse of a loop runs its iterations again, in opposite order ([`loops`]). An iteration starts from
//!   states that the forward loop has collected, runs forward statements again, and then backwards. Scalars
//!   that are costly to compute are collected instead. So a loop keeps what its reverse sweep reads, and
//!   forward code runs at most once for each loop around it.
//! * If values of an `if` are needed before its reverse, the `if` gets further results, which its reverse
//!   reads ([`branches`]).
//! * A body that is called is split in two if its cotangent depends on its result: the first packs a tape,
//!   the second unpacks it.
//!
//! **Fusion.** A call, an `if` or an `each` whose cotangents do not depend on its results needs no tape: it
//! is moved to where its cotangents are known, and becomes one statement that computes results and cotangents
//! ([`fusion`]). A recursion then needs memory in proportion to its depth only. Statements that can fail or
//! add to accumulators stay in their order.
//!
//! **Cotangents.** A name of the current region has a name for its cotangent so far, or none, which means
//! zero. The cotangent of a name that is defined outside of a loop is an accumulator of that loop; that of a
//! name outside of a branch is passed through the branch. See [`cotangents`].

mod branches;
mod calls;
mod cotangents;
mod fusion;
mod loops;
mod record;

use rustc_hash::{FxHashMap, FxHashSet};

use super::activity::Varied;
use super::rules::{Formulas, passes};
use super::segments::segmented;
use super::sizes::Sizes;
use super::{Adjoint, Deriver, Sweep};
use crate::build::Builder;
use crate::clean::{Pruner, can_fail};
use crate::expand::Checkpoints;
use crate::ir::{At, Body, Elem, Kind, Param, Region, Stmt, Type, Var};
use crate::operation::Operation;
use crate::uses::free_vars;
use crate::verify::types_of;
use cotangents::{Construct, Frame};
use fusion::{Parts, Slot};

/// Writes a part of the adjoint of a body.
pub(super) fn write(deriver: &mut Deriver, adjoint: &Adjoint, sweep: Sweep) -> Body {
    let of = deriver.source(adjoint.of);
    let mut types = deriver.types(of);
    let mut source = deriver.module.body(of).clone();
    if let Checkpoints::Keep(keep) = deriver.checkpoints {
        source = segmented(deriver, &source, &types, keep.get());
        types = types_of(&deriver.module, &source).expect("loops in segments are well formed");
    }
    let varied = Varied::new(&deriver.module, &source, &types, &adjoint.active);
    let mut writer = Writer {
        builder: Builder::new(&source, &types),
        deriver,
        varied,
        n_source: types.len(),
        tape_free: adjoint.tape_free,
        frames: Vec::new(),
        acc_cotangents: FxHashMap::default(),
        risky: FxHashSet::default(),
        sizes: Sizes::new(&source, &types),
    };
    writer.body(&source, adjoint, sweep)
}

struct Writer<'a> {
    deriver: &'a mut Deriver,
    builder: Builder,
    varied: Varied,
    /// The number of names of the source, which come first.
    n_source: usize,
    tape_free: bool,
    frames: Vec<Frame>,
    /// The cotangents of the final values of accumulators.
    acc_cotangents: FxHashMap<Var, Var>,
    /// Names defined by reverse statements that fail if their forward statement fails.
    risky: FxHashSet<Var>,
    sizes: Sizes,
}

impl Writer<'_> {
    fn body(&mut self, source: &Body, adjoint: &Adjoint, sweep: Sweep) -> Body {
        let seeds = source.results.iter().zip(&adjoint.seeds).filter(|(_, seed)| **seed);
        let seeds: Vec<Param> = seeds
            .map(|(ty, _)| Param { var: self.builder.fresh("dy", *ty), ty: *ty, is_acc: false })
            .collect();
        let mut accs = Vec::new();
        let mut intos = Vec::new();
        let mut frame = Frame::new(Construct::Body, source.params.iter().map(|param| param.var));
        frame.define(&source.region);
        for (at, param) in source.params.iter().enumerate() {
            if adjoint.active[at] && param.is_acc {
                let var = self.cotangent_name("g", param.var);
                accs.push(Param { var, ty: param.ty, is_acc: false });
                self.acc_cotangents.insert(param.var, var);
            }
            if adjoint.into[at] {
                let var = self.cotangent_name("d", param.var);
                intos.push(Param { var, ty: param.ty, is_acc: true });
                frame.accs.push((param.var, var));
            }
        }
        self.frames.push(frame);
        let (first, ()) = self.builder_aside(|writer| {
            let yields = source.region.yields.iter().zip(&adjoint.seeds).filter(|(_, seed)| **seed);
            for ((var, _), seed) in yields.zip(&seeds) {
                writer.contribute(*var, &[], seed.var);
            }
        });
        let mut parts = self.region(&source.region, sweep == Sweep::Joint);
        parts.prepend(first);
        let wanted = source.params.iter().enumerate();
        let wanted = wanted.filter(|(at, param)| adjoint.active[*at] && !adjoint.into[*at] && !param.is_acc);
        let wanted: Vec<Param> = wanted.map(|(_, param)| *param).collect();
        let (last, cotangents) = self.builder_aside(|writer| {
            wanted.iter().map(|param| writer.current_or_zeros(param.var)).collect::<Vec<Var>>()
        });
        parts.reverse.extend(last);
        self.frames.pop();
        let new_params = [seeds, accs, intos].concat();
        let cotangent_types = wanted.iter().map(|param| param.ty).collect::<Vec<_>>();
        match sweep {
            Sweep::Joint => {
                let mut stmts = parts.joint(&self.builder.types);
                let yields = [source.region.yields.clone(), cotangents].concat();
                self.prune_primal(&mut stmts, &yields);
                let params = [source.params.clone(), new_params].concat();
                let results = [source.results.clone(), cotangent_types].concat();
                self.finish(params, results, Region { stmts, yields })
            }
            Sweep::Forward => {
                let tape = self.tape(&mut parts, &cotangents);
                let mut stmts = parts.forward();
                let packed = self.builder.fresh("tape", Type::scalar(Elem::Tape));
                stmts.push(Stmt::new(vec![packed], Kind::Op(Operation::Pack, tape)));
                let yields = [source.region.yields.clone(), vec![packed]].concat();
                self.prune_primal(&mut stmts, &yields);
                let results = [source.results.clone(), vec![Type::scalar(Elem::Tape)]].concat();
                self.finish(source.params.clone(), results, Region { stmts, yields })
            }
            Sweep::Backward => {
                let tape = self.tape(&mut parts, &cotangents);
                let types: Vec<Type> = tape.iter().map(|var| self.builder.ty(*var)).collect();
                let packed = self.builder.fresh("tape", Type::scalar(Elem::Tape));
                let mut stmts = vec![Stmt::new(tape, Kind::Unpack(types, packed))];
                stmts.extend(parts.reverse);
                let param = Param { var: packed, ty: Type::scalar(Elem::Tape), is_acc: false };
                let params = [vec![param], new_params].concat();
                self.finish(params, cotangent_types, Region { stmts, yields: cotangents })
            }
        }
    }

    fn finish(&mut self, params: Vec<Param>, results: Vec<Type>, region: Region) -> Body {
        let names = std::mem::take(&mut self.builder.names).finish();
        Body { name: String::new(), params, results, region, names }
    }

    /// The names of the forward sweep that the reverse sweep reads. Constants are written again instead.
    fn tape(&mut self, parts: &mut Parts, cotangents: &[Var]) -> Vec<Var> {
        let pruner = Pruner { module: &self.deriver.module, keep: &|_| false };
        pruner.prune(&mut parts.reverse, cotangents.iter().copied().collect());
        let mut read: FxHashSet<Var> = cotangents.iter().copied().collect();
        for stmt in parts.reverse.iter().rev() {
            for result in &stmt.results {
                read.remove(result);
            }
            read.extend(free_vars(stmt));
        }
        let constants = parts.slots.iter().filter(|slot| matches!(slot.stmt.kind, Kind::Const(_)));
        let constants: Vec<Stmt> = constants.map(|slot| slot.stmt.clone()).collect();
        for constant in constants {
            if read.remove(&constant.results[0]) {
                // The two sweeps are separate bodies, so the name may be the same.
                parts.reverse.insert(0, constant);
            }
        }
        // Seeds and accumulators are parameters of the reverse sweep.
        let is_forward = |var: &Var| {
            var.index() < self.n_source
                || parts.slots.iter().any(|slot| slot.stmt.results.contains(var))
                || parts.extra.iter().any(|stmt| stmt.results.contains(var))
        };
        let mut tape: Vec<Var> = read.into_iter().filter(is_forward).collect();
        tape.sort_unstable();
        tape
    }

    /// Removes dead code, except statements of the source that can fail.
    fn prune_primal(&self, stmts: &mut Vec<Stmt>, yields: &[Var]) {
        let types = &self.builder.types;
        let is_source = |stmt: &Stmt| {
            stmt.results.is_empty() || stmt.results.iter().any(|var| var.index() < self.n_source)
        };
        let keep = |stmt: &Stmt| is_source(stmt) && can_fail(stmt, types);
        let pruner = Pruner { module: &self.deriver.module, keep: &keep };
        pruner.prune(stmts, yields.iter().copied().collect());
    }

    fn cotangent_name(&mut self, prefix: &str, var: Var) -> Var {
        let name = format!("{prefix}{}", self.builder.names.name(var));
        self.builder.fresh(&name, self.builder.ty(var))
    }

    /// The statements that `write` appends, which are not added to those of the builder, and its result.
    fn builder_aside<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> (Vec<Stmt>, T) {
        let before = std::mem::take(&mut self.builder.out);
        let result = write(self);
        (std::mem::replace(&mut self.builder.out, before), result)
    }

    /// Both sweeps of a region. Its frame is the top one, and has the cotangents of its yields.
    fn region(&mut self, region: &Region, may_fuse: bool) -> Parts {
        let slots = region.stmts.iter().map(|stmt| Slot { stmt: stmt.clone(), is_fused: false }).collect();
        let mut parts =
            Parts { slots, extra: Vec::new(), reverse: Vec::new(), fused: Vec::new(), risky: Vec::new() };
        let before = std::mem::take(&mut self.builder.out);
        for at in (0..region.stmts.len()).rev() {
            self.builder.span = region.stmts[at].span;
            self.stmt(&region.stmts[at], at, &mut parts, may_fuse);
            if can_fail(&region.stmts[at], &self.builder.types) {
                self.risky.extend(self.builder.out.iter().flat_map(|stmt| stmt.results.iter().copied()));
                let first = parts.reverse.len();
                parts.risky.extend((first..first + self.builder.out.len()).map(|place| (at, place)));
            }
            parts.reverse.append(&mut self.builder.out);
        }
        self.builder.out = before;
        parts
    }

    fn stmt(&mut self, stmt: &Stmt, at: usize, parts: &mut Parts, may_fuse: bool) {
        match &stmt.kind {
            Kind::If(condition, yes, no) => {
                return self.branches(stmt, *condition, [yes, no], at, parts, may_fuse);
            }
            Kind::Loop(repeat) => return self.repeat(stmt, repeat, at, parts, may_fuse),
            Kind::Call(_, callee, arguments) => {
                return self.call(stmt, *callee, arguments, at, parts, may_fuse);
            }
            Kind::Add(acc, places, value) => {
                if let Some(cotangent) = self.acc_cotangents.get(acc).copied()
                    && self.varied.has(*value)
                {
                    let part = self.builder.index(cotangent, places);
                    self.contribute(*value, &[], part);
                }
                return;
            }
            Kind::Const(_) | Kind::Unpack(..) => return,
            Kind::Op(..) | Kind::Index(..) | Kind::Update(..) | Kind::Increase(..) => {}
        }
        let Some(g) = stmt.results.first().and_then(|result| self.take(*result)) else { return };
        match &stmt.kind {
            Kind::Op(operation, operands) => {
                for (place, operand) in operands.iter().enumerate() {
                    if self.varied.has(*operand) && passes(&stmt.kind, place) && !self.deriver.refuses(stmt) {
                        let mut sizes = Vec::new();
                        let mut formulas = Formulas::new(&mut self.builder, &self.sizes, &mut sizes);
                        let term = formulas.vjp(operation, operands, stmt.results[0], place, g);
                        parts.extra.extend(sizes);
                        if let Some(term) = term {
                            self.contribute(*operand, &[], term);
                        }
                    }
                }
            }
            Kind::Index(array, places) => self.contribute(*array, places, g),
            Kind::Update(array, places, value) => self.update(*array, places, *value, g),
            Kind::Increase(array, places, value) => {
                if self.varied.has(*value) {
                    let part = self.builder.index(g, places);
                    self.contribute(*value, &[], part);
                }
                self.contribute(*array, &[], g);
            }
            _ => unreachable!("other statements were done above"),
        }
    }

    /// `y = a with [p] = v`: the cotangent at p goes to v, the rest to a.
    fn update(&mut self, array: Var, places: &[At], value: Var, g: Var) {
        let part = self.builder.index(g, places);
        if self.varied.has(value) {
            self.contribute(value, &[], part);
        }
        if self.varied.has(array) {
            let zeros = self.builder.zeros_like(part);
            let rest = self.builder.update(g, places, zeros);
            self.contribute(array, &[], rest);
        }
    }
}
