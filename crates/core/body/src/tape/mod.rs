//! How much memory the tape of a derivative takes, as a formula over sizes.
//!
//! The tape of an adjoint consists of the rows that its loops collect and of the values that its calls pack.
//! A `for` collects as many rows as its count; for a `while` the result is a size per iteration, and for a
//! recursion a size per call. Bodies are evaluated on the part of their values that is known before the run:
//! sizes of tensors and integers, as [`Formula`]s over the sizes of the arguments.
//!
//! ```text
//! y, y0s, n = while (y0 = x) collect (y0) ..        8 B per iteration of 1:24 (unbounded)
//! ```

mod formula;

use std::fmt;

use eddy_syntax::Span;
use eddy_tensor::{Op, ShapeRule, Value};
use rustc_hash::FxHashMap;

use crate::ir::{At, BodyId, Control, Elem, Kind, Loop, Module, Region, Stmt, Type, Var};
use crate::operation::{Operation, Sized};
use crate::verify::{Types, VerifyError, verify_final};

pub use formula::Formula;

/// The part of a value that is known before the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Known {
    /// The value of a scalar `int`, if it is known.
    pub int: Option<Formula>,
    /// The sizes of a tensor.
    pub sizes: Vec<Formula>,
    /// The bytes that a tape, or each tape of a row, keeps.
    packed: Formula,
    /// For a number of iterations of a `while`: the loop, and the divisor of that number.
    counts: Option<(Span, i128)>,
}

impl Known {
    /// A value of which only the sizes are known.
    pub fn sized(sizes: Vec<Formula>) -> Known {
        Known { sizes, ..Known::default() }
    }

    /// An integer.
    pub fn int(int: Formula) -> Known {
        Known { int: Some(int), ..Known::default() }
    }

    fn unknown(ty: Type) -> Known {
        Known::sized(vec![Formula::unknown(); ty.rank])
    }

    fn n_bytes(&self, elem: Elem) -> Formula {
        let n = self.sizes.iter().fold(Formula::constant(1), |n, size| n.times(size));
        let element = Formula::constant(if elem == Elem::Bool { 1 } else { 8 });
        n.times(&element.plus(&self.packed))
    }
}

/// The bytes that a tape takes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tape {
    /// The bytes that the sizes of the arguments determine.
    pub fixed: Formula,
    /// The bytes per iteration of loops whose number of iterations depends on the data.
    pub per_iteration: Vec<(Span, Formula)>,
    /// The bytes per call of a recursion.
    pub per_call: Option<Formula>,
}

impl Tape {
    /// Whether a formula over sizes bounds it.
    pub fn is_bounded(&self) -> bool {
        self.per_iteration.is_empty() && self.per_call.is_none()
    }

    /// The text; `place` shows the place of a loop, as in `3:5`.
    pub fn show(&self, place: &dyn Fn(Span) -> String) -> String {
        let mut parts = Vec::new();
        if !self.fixed.is_zero() || self.is_bounded() {
            parts.push(format!("{} B", self.fixed));
        }
        for (span, bytes) in &self.per_iteration {
            parts.push(format!("{bytes} B per iteration of {} (unbounded)", place(*span)));
        }
        parts.extend(self.per_call.as_ref().map(|bytes| format!("{bytes} B per call (depth)")));
        parts.join(" + ")
    }

    fn add(&mut self, other: &Tape) {
        self.fixed = self.fixed.plus(&other.fixed);
        for (span, bytes) in &other.per_iteration {
            match self.per_iteration.iter_mut().find(|(other, _)| other == span) {
                Some((_, sum)) => *sum = sum.plus(bytes),
                None => self.per_iteration.push((*span, bytes.clone())),
            }
        }
        if let Some(bytes) = &other.per_call {
            self.per_call = Some(self.per_call.clone().unwrap_or_default().plus(bytes));
        }
    }
}

impl fmt::Display for Tape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.show(&|_| "a loop".to_string()))
    }
}

/// The tape of a call of a body of a final module. The first `n_plain` bodies are not derived, so the rows
/// that they collect are no tape.
pub fn tape(module: &Module, body: BodyId, arguments: &[Known], n_plain: usize) -> Result<Tape, VerifyError> {
    let types = verify_final(module)?;
    let mut walk = Walk { module, types, n_plain, open: Vec::new(), done: FxHashMap::default() };
    Ok(walk.call(body, arguments).tape)
}

/// The tape and the results of a call.
#[derive(Clone, Debug, Default)]
struct Effect {
    tape: Tape,
    results: Vec<Known>,
}

struct Walk<'a> {
    module: &'a Module,
    types: Types,
    n_plain: usize,
    /// The bodies of the active calls, and whether they were called again.
    open: Vec<(BodyId, bool)>,
    done: FxHashMap<(BodyId, Vec<Known>), Effect>,
}

/// One walk through a body.
struct Frame {
    known: FxHashMap<Var, Known>,
    tape: Tape,
    body: BodyId,
}

impl Walk<'_> {
    fn call(&mut self, id: BodyId, arguments: &[Known]) -> Effect {
        let module = self.module;
        let body = module.body(id);
        if let Some((_, is_called_again)) = self.open.iter_mut().find(|(other, _)| *other == id) {
            *is_called_again = true;
            let results = body.results.iter().map(|ty| Known::unknown(*ty)).collect();
            return Effect { tape: Tape::default(), results };
        }
        let key = (id, arguments.to_vec());
        if let Some(effect) = self.done.get(&key) {
            return effect.clone();
        }
        self.open.push((id, false));
        let mut frame = Frame { known: FxHashMap::default(), tape: Tape::default(), body: id };
        let mut own = Formula::default();
        for (param, known) in body.params.iter().zip(arguments) {
            if !param.is_acc {
                own = own.plus(&known.n_bytes(param.ty.elem));
            }
            frame.known.insert(param.var, known.clone());
        }
        self.region(&body.region, &mut frame);
        let results = body.region.yields.iter().map(|var| self.known(*var, &frame)).collect();
        let (_, is_recursive) = self.open.pop().expect("the body was entered");
        let mut tape = frame.tape;
        if is_recursive && id.index() >= self.n_plain {
            // A call keeps its arguments until its inner calls are done.
            tape.per_call = Some(tape.per_call.unwrap_or_default().plus(&tape.fixed).plus(&own));
            tape.fixed = Formula::default();
        }
        let effect = Effect { tape, results };
        self.done.insert(key, effect.clone());
        effect
    }

    fn ty(&self, var: Var, frame: &Frame) -> Type {
        self.types.of(frame.body)[var.index()]
    }

    fn known(&self, var: Var, frame: &Frame) -> Known {
        frame.known.get(&var).cloned().unwrap_or_else(|| Known::unknown(self.ty(var, frame)))
    }

    fn int(&self, var: Var, frame: &Frame) -> Formula {
        self.known(var, frame).int.unwrap_or_else(Formula::unknown)
    }

    /// Walks a region. It may recurse, because the verifier limits the nesting of regions.
    fn region(&mut self, region: &Region, frame: &mut Frame) {
        for stmt in &region.stmts {
            self.stmt(stmt, frame);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, frame: &mut Frame) {
        match &stmt.kind {
            Kind::Const(literal) => {
                let known = match &*literal.value {
                    Value::Int(n) => Known::int(Formula::constant(i128::from(*n))),
                    value => Known::sized(value.shape().iter().map(|size| size_of(*size)).collect()),
                };
                frame.known.insert(stmt.results[0], known);
            }
            Kind::Op(operation, operands) => {
                if let (Some(result), Some(known)) =
                    (stmt.results.first(), self.operation(operation, operands, frame))
                    && known.sizes.len() == self.ty(*result, frame).rank
                {
                    frame.known.insert(*result, known);
                }
            }
            Kind::Index(array, at) => {
                let array = self.known(*array, frame);
                let mut sizes = Vec::new();
                for (axis, at) in at.iter().enumerate() {
                    match at {
                        At::Int(index) => sizes.extend(self.known(*index, frame).sizes),
                        At::All => sizes.push(array.sizes[axis].clone()),
                        At::Range(lo, hi) => {
                            sizes.push(self.int(*hi, frame).minus(&self.int(*lo, frame)));
                        }
                    }
                }
                sizes.extend(array.sizes[at.len()..].iter().cloned());
                let known = Known { packed: array.packed, ..Known::sized(sizes) };
                frame.known.insert(stmt.results[0], known);
            }
            Kind::Update(array, ..) | Kind::Increase(array, ..) => {
                let known = self.known(*array, frame);
                frame.known.insert(stmt.results[0], known);
            }
            Kind::If(_, yes, no) => {
                self.region(yes, frame);
                self.region(no, frame);
                for ((result, yes), no) in stmt.results.iter().zip(&yes.yields).zip(&no.yields) {
                    let joined = joined(self.known(*yes, frame), &self.known(*no, frame));
                    frame.known.insert(*result, joined);
                }
            }
            Kind::Call(_, callee, operands) => {
                let arguments: Vec<Known> = operands.iter().map(|var| self.known(*var, frame)).collect();
                let Effect { tape, results } = self.call(*callee, &arguments);
                frame.tape.add(&tape);
                frame.known.extend(stmt.results.iter().copied().zip(results));
            }
            Kind::Loop(repeat) => self.repeat(stmt, repeat, frame),
            Kind::Add(..) | Kind::Unpack(..) => {}
        }
    }

    fn repeat(&mut self, stmt: &Stmt, repeat: &Loop, frame: &mut Frame) {
        // The sizes of states stay the same in all iterations, their values do not.
        for binding in repeat.states.iter().chain(&repeat.accs) {
            let known = Known { int: None, counts: None, ..self.known(binding.init, frame) };
            frame.known.insert(binding.var, known);
        }
        if let Control::While(condition) = &repeat.control {
            self.region(condition, frame);
        }
        self.region(&repeat.body, frame);
        let bindings = repeat.states.iter().zip(&stmt.results);
        for (binding, result) in bindings.chain(repeat.accs.iter().zip(&stmt.results[repeat.first_acc()..])) {
            let known = Known { int: None, counts: None, ..self.known(binding.init, frame) };
            frame.known.insert(*result, known);
        }
        if let (Control::While(_), Some(count)) = (&repeat.control, stmt.results.last()) {
            let counts = Some((stmt.span, 1));
            frame.known.insert(*count, Known { counts, ..Known::int(Formula::unknown()) });
        }
        let mut row_bytes = Formula::default();
        let count = repeat.counter().map(|(_, count)| self.int(count, frame));
        let counts = repeat.counter().and_then(|(_, count)| self.known(count, frame).counts);
        for (row, result) in repeat.collect.iter().zip(&stmt.results[repeat.first_row()..]) {
            let known = self.known(*row, frame);
            row_bytes = row_bytes.plus(&known.n_bytes(self.ty(*row, frame).elem));
            let mut sizes = vec![count.clone().unwrap_or_else(Formula::unknown)];
            sizes.extend(known.sizes);
            let known = Known { packed: known.packed, ..Known::sized(sizes) };
            frame.known.insert(*result, known);
        }
        if frame.body.index() < self.n_plain || row_bytes.is_zero() {
            return;
        }
        if let Some((span, by)) = counts {
            // A segment of a `while`.
            let bytes = if by == 1 { row_bytes } else { row_bytes.divided_by_iterations(by) };
            return frame.tape.add(&Tape { per_iteration: vec![(span, bytes)], ..Tape::default() });
        }
        match count {
            Some(count) => frame.tape.fixed = frame.tape.fixed.plus(&count.times(&row_bytes)),
            None => frame.tape.add(&Tape { per_iteration: vec![(stmt.span, row_bytes)], ..Tape::default() }),
        }
    }

    fn operation(&self, operation: &Operation, operands: &[Var], frame: &Frame) -> Option<Known> {
        let ints = |from: usize| operands[from..].iter().map(|var| self.int(*var, frame)).collect();
        Some(match operation {
            Operation::Size(axis) => Known::int(self.known(operands[0], frame).sizes[*axis].clone()),
            Operation::Fill | Operation::Sized(Sized::Reshape | Sized::Broadcast | Sized::Reduce) => {
                Known::sized(ints(1))
            }
            Operation::Pack => {
                let bytes =
                    operands.iter().map(|var| self.known(*var, frame).n_bytes(self.ty(*var, frame).elem));
                Known {
                    packed: bytes.fold(Formula::default(), |sum, next| sum.plus(&next)),
                    ..Known::default()
                }
            }
            Operation::Table(op) => self.table(op, operands, frame)?,
            _ => return None,
        })
    }

    fn table(&self, op: &Op, operands: &[Var], frame: &Frame) -> Option<Known> {
        let known: Vec<Known> = operands.iter().map(|var| self.known(*var, frame)).collect();
        if let [x, y] = known.as_slice()
            && operands.iter().all(|var| self.ty(*var, frame) == Type::scalar(Elem::Int))
            && let Some(count) = count(op, x, y)
        {
            return Some(count);
        }
        if let [Known { int: Some(a), .. }, Known { int: Some(b), .. }] = known.as_slice() {
            match op {
                Op::Add => return Some(Known::int(a.plus(b))),
                Op::Sub => return Some(Known::int(a.minus(b))),
                Op::Mul => return Some(Known::int(a.times(b))),
                _ => {}
            }
        }
        let mut first = known.first()?.sizes.clone();
        Some(Known::sized(match op {
            Op::Copy | Op::StopGradient => return known.into_iter().next(),
            Op::Sum(Some(axis)) | Op::Mean(Some(axis)) | Op::Max(Some(axis)) => {
                first.remove(*axis);
                first
            }
            Op::Softmax | Op::MaxMask(_) => first,
            Op::Transpose => first.into_iter().rev().collect(),
            Op::Matmul => {
                first.pop();
                first.extend(known[1].sizes[1..].iter().cloned());
                first
            }
            Op::Outer => [first, known[1].sizes.clone()].concat(),
            _ => match op.shape_rule() {
                ShapeRule::Equal => first,
                // Of two sizes, the one that is not 1 is that of the result.
                ShapeRule::Broadcast => {
                    known.iter().fold(Vec::new(), |sizes, next| wider(sizes, &next.sizes))
                }
                _ => return None,
            },
        }))
    }
}

/// A bound of the result of an integer operation on sizes, which are not negative. It is used for the number
/// of iterations of a segment.
fn count(op: &Op, x: &Known, y: &Known) -> Option<Known> {
    let constant = |known: &Known| known.int.as_ref().and_then(Formula::as_constant);
    let by = constant(y).filter(|by| *by > 0);
    Some(match op {
        Op::Maximum if constant(y) == Some(0) => x.clone(),
        Op::Maximum if constant(x) == Some(0) => y.clone(),
        // Either is a bound.
        Op::Minimum if constant(y).is_some() || x.int.is_none() => y.clone(),
        Op::Minimum => x.clone(),
        Op::IntDiv => {
            let counts = x.counts.map(|(span, before)| Some((span, before.saturating_mul(by?))));
            Known { counts: counts.flatten(), ..Known::int(x.int.as_ref()?.divided(by?)) }
        }
        Op::IntMod => Known::int(Formula::constant(by? - 1)),
        Op::Add if x.counts.is_some() && constant(y).is_some() => {
            Known { counts: x.counts, ..Known::int(x.int.as_ref()?.plus(y.int.as_ref()?)) }
        }
        _ => return None,
    })
}

/// The sizes of two tensors that are stretched to each other.
fn wider(a: Vec<Formula>, b: &[Formula]) -> Vec<Formula> {
    if a.len() != b.len() {
        return if a.len() > b.len() { a } else { b.to_vec() };
    }
    let one = Formula::constant(1);
    a.into_iter().zip(b).map(|(a, b)| if a == one { b.clone() } else { a }).collect()
}

fn size_of(size: usize) -> Formula {
    Formula::constant(i128::try_from(size).unwrap_or(i128::MAX))
}

/// The part that is known of a value that is one of two.
fn joined(a: Known, b: &Known) -> Known {
    let same = |a: Formula, b: &Formula| if a == *b { a } else { Formula::unknown() };
    Known {
        int: a.int.filter(|int| b.int.as_ref() == Some(int)),
        sizes: a.sizes.into_iter().zip(&b.sizes).map(|(a, b)| same(a, b)).collect(),
        counts: a.counts.filter(|counts| b.counts.as_ref() == Some(counts)),
        // Only one of the two tapes is kept; the sum is a bound.
        packed: if a.packed == b.packed { a.packed } else { a.packed.plus(&b.packed) },
    }
}
