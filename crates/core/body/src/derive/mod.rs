//! Derivatives, body to body.
//!
//! [`expand`](mod@crate::expand) requests derived bodies by [`Key`]; each is written once. A derived body
//! calls other derived bodies, whose interfaces follow from their keys, so that recursion needs no fixpoint.
//!
//! * [`rules`]: operations. [`sizes`]: which sizes are equal. [`activity`]: what depends on the point.
//! * [`forward`]: tangents, statement by statement.
//! * [`reverse`]: cotangents. Its documentation explains sweeps, tapes and fusion.
//! * [`segments`]: checkpoints. [`strip`](mod@strip): bodies without some of their accumulators.
//!
//! Decision: bodies that are differentiated again are *tape free*: calls in them whose adjoint cannot be
//! fused run their forward code twice instead of packing a tape, since a tape has no derivative. Code that
//! only runs uses tapes.

pub(crate) mod activity;
pub(crate) mod forward;
pub(crate) mod reverse;
pub(crate) mod rules;
pub(crate) mod segments;
pub(crate) mod sizes;
pub(crate) mod strip;

use eddy_syntax::Span;
use eddy_tensor::{Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::build::Builder;
use crate::clean::compact;
use crate::expand::{Checkpoints, ExpandError};
use crate::ir::{Body, BodyId, Elem, Kind, Mode, Module, Param, Region, Stmt, Type, Var};
use crate::operation::Operation;
use crate::own::own_body;
use crate::verify::types_of;

/// Identifies a derived body.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// The tangent, if these parameters have one. An accumulator with a tangent has a second accumulator for
    /// the tangent.
    Tan { of: BodyId, active: Vec<bool>, tape_free: bool },
    /// The adjoint.
    Adj(Adjoint, Sweep),
    /// The body without these accumulators.
    Strip { of: BodyId, without: Vec<bool> },
}

/// Identifies an adjoint of a body.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Adjoint {
    pub of: BodyId,
    /// Parameters whose cotangents are computed, and accumulators whose final values have cotangents.
    pub active: Vec<bool>,
    /// Parameters whose cotangents are added to accumulators of the caller.
    pub into: Vec<bool>,
    /// Results that have cotangents.
    pub seeds: Vec<bool>,
    pub tape_free: bool,
}

/// A part of an adjoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Sweep {
    /// Results and cotangents in one call.
    Joint,
    /// Results and a tape.
    Forward,
    /// Cotangents from a tape.
    Backward,
}

/// The names that a region reads, and those that are zero.
#[derive(Default)]
struct NameUses {
    /// All names that are read.
    read: FxHashSet<Var>,
    /// Names that are zero.
    zeros: FxHashSet<Var>,
}

impl NameUses {
    fn of(region: &Region) -> NameUses {
        let mut uses = NameUses::default();
        uses.add(region);
        uses
    }

    fn add(&mut self, region: &Region) {
        self.read.extend(&region.yields);
        for stmt in &region.stmts {
            self.read.extend(stmt.kind.operands());
            match &stmt.kind {
                Kind::Const(literal) if *literal.value == Value::Num(0.0) => self.zeros.extend(&stmt.results),
                Kind::Op(Operation::Table(Op::ZerosLike), _) => self.zeros.extend(&stmt.results),
                Kind::Op(Operation::Fill, operands) if self.zeros.contains(&operands[0]) => {
                    self.zeros.extend(&stmt.results);
                }
                Kind::Loop(repeat) => self.read.extend(&repeat.collect),
                _ => {}
            }
            for region in stmt.kind.regions() {
                self.add(region);
            }
        }
    }
}

/// A module to which derived bodies are added.
pub(crate) struct Deriver {
    pub module: Module,
    types: Vec<Option<Vec<Type>>>,
    keys: Vec<Option<Key>>,
    ids: FxHashMap<Key, BodyId>,
    /// The order of the derivative that each body is; 0 for a body of the source.
    orders: Vec<usize>,
    /// Copies of bodies with marks, for derivatives: the marks are replaced by tape-free bodies.
    sources: FxHashMap<BodyId, BodyId>,
    /// For each body with a custom derivative, a body that only calls it.
    callers: FxHashMap<BodyId, BodyId>,
    pending: Vec<BodyId>,
    /// The regions that replace those of bodies with marks at the end.
    replaced: Vec<(usize, Region)>,
    max_order: usize,
    pub checkpoints: Checkpoints,
    /// The first operation without a derivative whose derivative is needed, and its place.
    pub refused: Option<(&'static str, Span)>,
}

impl Deriver {
    pub fn new(module: Module, max_order: usize, checkpoints: Checkpoints) -> Deriver {
        let n = module.bodies.len();
        Deriver {
            module,
            types: vec![None; n],
            keys: vec![None; n],
            ids: FxHashMap::default(),
            orders: vec![0; n],
            sources: FxHashMap::default(),
            callers: FxHashMap::default(),
            pending: Vec::new(),
            replaced: Vec::new(),
            max_order,
            checkpoints,
            refused: None,
        }
    }

    /// Whether a statement has no derivative; records the first one.
    pub fn refuses(&mut self, stmt: &Stmt) -> bool {
        let Kind::Op(Operation::Table(Op::Digamma), _) = &stmt.kind else { return false };
        self.refused.get_or_insert(("digamma", stmt.span));
        true
    }

    /// Writes all requested bodies, and those that they request.
    pub fn finish(mut self) -> Result<Module, ExpandError> {
        while let Some(id) = self.pending.pop() {
            self.write(id);
        }
        if let Some((operation, span)) = self.refused {
            return Err(ExpandError::NoDerivative { operation, span });
        }
        for (at, region) in self.replaced {
            self.module.bodies[at].region = region;
        }
        Ok(self.module)
    }

    /// Replaces the region of a body when all bodies are written.
    pub fn schedule(&mut self, at: usize, region: Region) {
        self.replaced.push((at, region));
    }

    /// The body of this key, whose statements may still be missing.
    pub fn request(&mut self, key: Key) -> BodyId {
        if let Some(id) = self.ids.get(&key) {
            return *id;
        }
        let body = self.interface(&key);
        let order = self.order(&key);
        let id = self.add(body, Some(key.clone()), order);
        self.ids.insert(key, id);
        self.pending.push(id);
        id
    }

    fn order(&self, key: &Key) -> usize {
        match key {
            Key::Tan { of, .. } => self.orders[of.index()] + 1,
            Key::Adj(adjoint, _) => self.orders[adjoint.of.index()] + 1,
            Key::Strip { of, .. } => self.orders[of.index()],
        }
    }

    fn add(&mut self, mut body: Body, key: Option<Key>, order: usize) -> BodyId {
        let taken = |name: &str, module: &Module| module.find(name).is_some();
        if taken(&body.name, &self.module) {
            let mut number = 2;
            while taken(&format!("{}_{number}", body.name), &self.module) {
                number += 1;
            }
            body.name = format!("{}_{number}", body.name);
        }
        self.module.bodies.push(body);
        self.types.push(None);
        self.keys.push(key);
        self.orders.push(order);
        BodyId::new(self.module.bodies.len() - 1)
    }

    /// The body to differentiate: written, and without marks.
    pub fn source(&mut self, id: BodyId) -> BodyId {
        if let Some(source) = self.sources.get(&id) {
            return *source;
        }
        self.write(id);
        let has_marks = has_marks(&self.module.body(id).region);
        let source = if has_marks {
            let mut copy = self.module.body(id).clone();
            self.replace_marks(&mut copy.region, true);
            self.add(copy, None, self.orders[id.index()])
        } else {
            id
        };
        self.sources.insert(id, source);
        source
    }

    /// The types of the names of a body whose statements are written.
    pub fn types(&mut self, id: BodyId) -> Vec<Type> {
        if self.types[id.index()].is_none() {
            let types = types_of(&self.module, self.module.body(id));
            let body = self.module.body(id);
            let types = types.unwrap_or_else(|error| panic!("{error}\n{}", self.module.show(body)));
            self.types[id.index()] = Some(types);
        }
        self.types[id.index()].clone().expect("they were just found")
    }

    /// Replaces marks by calls of derived bodies.
    pub fn replace_marks(&mut self, region: &mut Region, tape_free: bool) {
        let uses = NameUses::of(region);
        self.replace(region, &uses, tape_free);
    }

    fn replace(&mut self, region: &mut Region, uses: &NameUses, tape_free: bool) {
        for stmt in &mut region.stmts {
            match &mut stmt.kind {
                Kind::Call(Mode::Adj | Mode::Tan, ..) => self.replace_mark(stmt, uses, tape_free),
                Kind::If(_, yes, no) => {
                    self.replace(yes, uses, tape_free);
                    self.replace(no, uses, tape_free);
                }
                Kind::Loop(repeat) => {
                    if let crate::ir::Control::While(condition) = &mut repeat.control {
                        self.replace(condition, uses, tape_free);
                    }
                    self.replace(&mut repeat.body, uses, tape_free);
                }
                _ => {}
            }
        }
    }

    /// A body with the same value and without a custom derivative of its own. A mark of a body with a custom
    /// derivative becomes the derivative of a call of that body: the value is that of the body, and the
    /// derivative is the custom one, as at any other call.
    fn without_custom(&mut self, of: BodyId) -> BodyId {
        if self.module.custom(of, Mode::Adj).or(self.module.custom(of, Mode::Tan)).is_none() {
            return of;
        }
        if let Some(caller) = self.callers.get(&of) {
            return *caller;
        }
        let mut body = self.module.body(of).clone();
        let types: Vec<Type> = body.params.iter().map(|param| param.ty).collect();
        body.names.truncate(types.len());
        for (at, param) in body.params.iter_mut().enumerate() {
            param.var = Var::new(at);
            body.names[at] = format!("x_{at}");
        }
        let mut builder = Builder::new(&body, &types);
        let arguments = body.params.iter().map(|param| param.var).collect();
        let yields: Vec<Var> = body.results.iter().map(|ty| builder.fresh("y", *ty)).collect();
        builder.push(yields.clone(), Kind::Call(Mode::Plain, of, arguments));
        body.region = Region { stmts: builder.out, yields };
        body.names = builder.names.finish();
        body.name = format!("call_{}", body.name);
        let caller = self.add(body, None, self.orders[of.index()]);
        self.callers.insert(of, caller);
        caller
    }

    /// A mark becomes a call of the derivative with respect to the numbers whose cotangent is read, or whose
    /// tangent is not zero. The captures of a closure are parameters too, and seldom among them.
    fn replace_mark(&mut self, stmt: &mut Stmt, uses: &NameUses, tape_free: bool) {
        let Kind::Call(mode, callee, arguments) = &mut stmt.kind else { unreachable!("it is a mark") };
        let of = self.without_custom(*callee);
        let body = self.module.body(of);
        let nums: Vec<bool> = body.params.iter().map(|param| param.ty.is_num()).collect();
        let n_nums = nums.iter().filter(|is_num| **is_num).count();
        // One cotangent or tangent per number, after the results or after the arguments.
        let (list, first) = match mode {
            Mode::Adj => (&mut stmt.results, body.results.len()),
            _ => (&mut *arguments, nums.len()),
        };
        let mut matters: Vec<bool> = list[first..]
            .iter()
            .map(|var| if *mode == Mode::Adj { uses.read.contains(var) } else { !uses.zeros.contains(var) })
            .collect();
        if !matters.contains(&true) {
            matters = vec![true; n_nums];
        }
        let mut kept = std::iter::repeat_n(&true, first).chain(&matters);
        list.retain(|_| *kept.next().expect("there is one for each number"));
        let mut matters = matters.into_iter();
        let active = nums.iter().map(|is_num| *is_num && matters.next() == Some(true)).collect();
        let key = if *mode == Mode::Tan {
            Key::Tan { of, active, tape_free }
        } else {
            let (seeds, into) =
                (body.results.iter().map(|ty| ty.is_num()).collect(), vec![false; nums.len()]);
            Key::Adj(Adjoint { of, active, into, seeds, tape_free }, Sweep::Joint)
        };
        *callee = self.request(key);
        *mode = Mode::Plain;
    }

    /// Writes the statements of a body, if they are missing.
    fn write(&mut self, id: BodyId) {
        let Some(key) = self.keys[id.index()].take() else { return };
        let mut body = if self.orders[id.index()] > self.max_order {
            self.too_high(id)
        } else {
            match key {
                Key::Tan { of, active, tape_free } => forward::write(self, of, &active, tape_free),
                Key::Adj(adjoint, sweep) => reverse::write(self, &adjoint, sweep),
                Key::Strip { of, without } => strip::write(self, of, &without),
            }
        };
        own_body(&mut body);
        compact(&mut body);
        body.name.clone_from(&self.module.body(id).name);
        self.module.bodies[id.index()] = body;
    }

    /// A body that fails because its order is too high.
    fn too_high(&self, id: BodyId) -> Body {
        let mut body = self.module.body(id).clone();
        let types: Vec<Type> = body.params.iter().map(|param| param.ty).collect();
        let mut builder = Builder::new(&body, &types);
        builder.push(Vec::new(), Kind::Op(Operation::FailOrder, Vec::new()));
        let yields = body.results.iter().map(|ty| builder.dummy(*ty)).collect();
        body.region = Region { stmts: builder.out, yields };
        body.names = builder.names.finish();
        body
    }

    /// A body with the parameters and results of a key, and no statements.
    fn interface(&self, key: &Key) -> Body {
        let mut writer = Interface { names: Vec::new(), params: Vec::new() };
        match key {
            Key::Tan { of, active, .. } => {
                let source = self.module.body(*of);
                writer.originals(source);
                for (param, _) in source.params.iter().zip(active).filter(|(_, active)| **active) {
                    writer.add(&format!("t{}", source.name(param.var)), param.ty, param.is_acc);
                }
                let tangents = source.results.iter().copied().filter(|ty| ty.is_num());
                let results = source.results.iter().copied().chain(tangents).collect();
                writer.body(format!("tan{}_{}", digits(active), source.name), results)
            }
            Key::Adj(adjoint, sweep) => {
                let source = self.module.body(adjoint.of);
                match sweep {
                    Sweep::Backward => drop(writer.add("tape", Type::scalar(Elem::Tape), false)),
                    Sweep::Joint | Sweep::Forward => writer.originals(source),
                }
                if *sweep != Sweep::Forward {
                    for (ty, _) in source.results.iter().zip(&adjoint.seeds).filter(|(_, seed)| **seed) {
                        writer.add("dy", *ty, false);
                    }
                    for (param, active) in source.params.iter().zip(&adjoint.active) {
                        if *active && param.is_acc {
                            writer.add(&format!("g{}", source.name(param.var)), param.ty, false);
                        }
                    }
                    for (param, into) in source.params.iter().zip(&adjoint.into) {
                        if *into {
                            writer.add(&format!("d{}", source.name(param.var)), param.ty, true);
                        }
                    }
                }
                let cotangents = source
                    .params
                    .iter()
                    .enumerate()
                    .filter(|(at, param)| adjoint.active[*at] && !adjoint.into[*at] && !param.is_acc);
                let cotangents = cotangents.map(|(_, param)| param.ty);
                let results = match sweep {
                    Sweep::Joint => source.results.iter().copied().chain(cotangents).collect(),
                    Sweep::Forward => {
                        source.results.iter().copied().chain([Type::scalar(Elem::Tape)]).collect()
                    }
                    Sweep::Backward => cotangents.collect(),
                };
                let word = match sweep {
                    Sweep::Joint => "adj",
                    Sweep::Forward => "fwd",
                    Sweep::Backward => "rev",
                };
                writer.body(format!("{word}{}_{}", digits(&adjoint.active), source.name), results)
            }
            Key::Strip { of, without } => {
                let source = self.module.body(*of);
                for (param, without) in source.params.iter().zip(without) {
                    if !without {
                        writer.add(source.name(param.var), param.ty, param.is_acc);
                    }
                }
                writer.body(format!("quiet_{}", source.name), source.results.clone())
            }
        }
    }
}

/// The suffix of a name; empty if all are active, which is the usual case.
fn digits(active: &[bool]) -> String {
    if active.iter().all(|active| *active) {
        return String::new();
    }
    active.iter().map(|active| if *active { '1' } else { '0' }).collect()
}

fn has_marks(region: &Region) -> bool {
    region.stmts.iter().any(|stmt| match &stmt.kind {
        Kind::Call(mode, ..) => *mode != Mode::Plain,
        kind => kind.regions().iter().any(|region| has_marks(region)),
    })
}

/// Parameters of a body that is being declared.
struct Interface {
    names: Vec<String>,
    params: Vec<Param>,
}

impl Interface {
    fn add(&mut self, name: &str, ty: Type, is_acc: bool) -> Var {
        let mut names = crate::edit::Names::new(std::mem::take(&mut self.names));
        let var = names.fresh(name);
        self.names = names.finish();
        self.params.push(Param { var, ty, is_acc });
        var
    }

    fn originals(&mut self, source: &Body) {
        for param in &source.params {
            self.add(source.name(param.var), param.ty, param.is_acc);
        }
    }

    fn body(self, name: String, results: Vec<Type>) -> Body {
        Body { name, params: self.params, results, region: Region::default(), names: self.names }
    }
}
