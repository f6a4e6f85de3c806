//! Small functions as equations of the node that applies them.
//!
//! The sizes of streams are constants, so a function without control, or with loops of a few iterations, is a
//! list of operations. As equations these are planned, batched and compiled like all others, and compute the
//! same bits. An inlined result depends only on the operands that it reads, whereas a result of an
//! application depends on all operands. So that inlining changes no dependency, a function is inlined only if
//! each result reads all operands (functions.md, section 6).

use std::collections::BTreeSet;

use eddy_body::ir::{At, Body, BodyId, Control, Kind, Loop, Mode, Module, Region, Stmt, Var};
use eddy_body::operation::Operation;
use eddy_tensor::{Op, Scalar, Shape, Slot, Type, Value};

/// The largest number of operations to inline.
const MAX_STEPS: usize = 64;
/// The largest depth of nested calls.
const MAX_DEPTH: usize = 16;
/// The largest number of iterations of an inlined loop.
const MAX_ITERATIONS: i64 = 8;

/// An operand of an inlined operation.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// An argument of the function.
    Argument(usize),
    /// The result of an earlier operation.
    Step(usize),
    Constant(Value),
}

#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub op: Op,
    pub operands: Vec<Source>,
    pub ty: Type,
}

/// A function as operations, and its results.
#[derive(Clone, Debug)]
pub(crate) struct Inlined {
    pub steps: Vec<Step>,
    pub results: Vec<Source>,
}

/// The operations of a body at these types of its parameters; `None` if it is not small, or has control that
/// depends on its arguments.
pub(crate) fn inline(module: &Module, body: BodyId, params: &[Type]) -> Option<Inlined> {
    let mut inliner = Inliner { module, steps: Vec::new() };
    let arguments = params.iter().enumerate().map(|(at, ty)| Entry {
        source: Source::Argument(at),
        ty: ty.clone(),
        reads: BTreeSet::from([at]),
    });
    let results = inliner.call(body, arguments.collect(), MAX_DEPTH)?;
    if results.iter().any(|result| result.reads.len() < params.len()) {
        return None;
    }
    let results = results.into_iter().map(|result| result.source).collect();
    Some(Inlined { steps: inliner.steps, results })
}

/// The value of a variable.
#[derive(Clone, Debug)]
struct Entry {
    source: Source,
    ty: Type,
    /// The arguments that the value depends on.
    reads: BTreeSet<usize>,
}

impl Entry {
    fn constant(value: Value) -> Entry {
        Entry { ty: value.ty(), source: Source::Constant(value), reads: BTreeSet::new() }
    }

    fn value(&self) -> Option<&Value> {
        match &self.source {
            Source::Constant(value) => Some(value),
            _ => None,
        }
    }

    fn int(&self) -> Option<i64> {
        match self.value()? {
            Value::Int(number) => Some(*number),
            _ => None,
        }
    }

    fn size(&self) -> Option<usize> {
        usize::try_from(self.int()?).ok()
    }
}

struct Inliner<'m> {
    module: &'m Module,
    steps: Vec<Step>,
}

/// The values of the variables of one body.
type Env = Vec<Option<Entry>>;

impl Inliner<'_> {
    fn call(&mut self, id: BodyId, arguments: Vec<Entry>, depth: usize) -> Option<Vec<Entry>> {
        // A function with a custom derivative must remain a call.
        if depth == 0 || self.module.customs.iter().any(|custom| custom.of == id) {
            return None;
        }
        let body: &Body = self.module.body(id);
        let mut env: Env = vec![None; body.names.len()];
        for (param, argument) in body.params.iter().zip(arguments) {
            if param.is_acc {
                return None;
            }
            env[param.var.index()] = Some(argument);
        }
        self.region(&body.region, &mut env, depth)
    }

    /// Regions nest only as deep as the parser of bodies allows.
    fn region(&mut self, region: &Region, env: &mut Env, depth: usize) -> Option<Vec<Entry>> {
        for stmt in &region.stmts {
            self.statement(stmt, env, depth)?;
        }
        region.yields.iter().map(|var| env[var.index()].clone()).collect()
    }

    fn statement(&mut self, stmt: &Stmt, env: &mut Env, depth: usize) -> Option<()> {
        if self.steps.len() > MAX_STEPS {
            return None;
        }
        let get = |env: &Env, var: Var| env[var.index()].clone();
        let results = match &stmt.kind {
            Kind::Const(literal) => vec![Entry::constant((*literal.value).clone())],
            Kind::Op(operation, operands) => {
                let operands = operands.iter().map(|var| get(env, *var)).collect::<Option<Vec<_>>>()?;
                self.operation(operation, operands)?
            }
            Kind::Index(array, at) => vec![self.index(&get(env, *array)?, at, env)?],
            Kind::Add(acc, at, value) if at.is_empty() => {
                let sum = self.sum(get(env, *acc)?, get(env, *value)?)?;
                env[acc.index()] = Some(sum);
                Vec::new()
            }
            Kind::If(condition, yes, no) => {
                let Value::Bool(holds) = *get(env, *condition)?.value()? else { return None };
                self.region(if holds { yes } else { no }, env, depth)?
            }
            Kind::Call(Mode::Plain, id, operands) => {
                let arguments = operands.iter().map(|var| get(env, *var)).collect::<Option<_>>()?;
                self.call(*id, arguments, depth - 1)?
            }
            Kind::Loop(repeat) => self.repeat(repeat, env, depth)?,
            Kind::Update(..) | Kind::Increase(..) | Kind::Add(..) | Kind::Call(..) | Kind::Unpack(..) => {
                return None;
            }
        };
        for (var, result) in stmt.results.iter().zip(results) {
            env[var.index()] = Some(result);
        }
        Some(())
    }

    fn operation(&mut self, operation: &Operation, operands: Vec<Entry>) -> Option<Vec<Entry>> {
        let one = |entry: Option<Entry>| entry.map(|entry| vec![entry]);
        match operation {
            Operation::Table(op) => one(self.apply(op.clone(), operands)),
            Operation::Sized(sized) => {
                let sizes = operands[1..].iter().map(Entry::size).collect::<Option<Vec<_>>>()?;
                one(self.apply(sized.op(&sizes), operands[..1].to_vec()))
            }
            Operation::Size(axis) => {
                let size = i64::try_from(operands[0].ty.shape[*axis]).ok()?;
                Some(vec![Entry::constant(Value::Int(size))])
            }
            Operation::CheckSize => (operands[0].int()? == operands[1].int()?).then(Vec::new),
            Operation::CheckSome => (operands[0].int()? > 0).then(Vec::new),
            Operation::ReverseIndex => {
                let index = operands[0].int()? - 1 - operands[1].int()?;
                Some(vec![Entry::constant(Value::Int(index))])
            }
            Operation::Fill
            | Operation::FirstMax
            | Operation::FirstMin
            | Operation::FailOrder
            | Operation::Pack => None,
        }
    }

    /// Adds an operation of the table. An operation on constants is evaluated now; `None` if it fails.
    fn apply(&mut self, op: Op, operands: Vec<Entry>) -> Option<Entry> {
        if let Some(values) = operands.iter().map(Entry::value).collect::<Option<Vec<&Value>>>() {
            return op.eval(&values).ok().map(Entry::constant);
        }
        let shapes: Vec<&Shape> = operands.iter().map(|operand| &operand.ty.shape).collect();
        let shape = op.shape(&shapes).ok()?;
        let signature = op.signature();
        let scalar = match signature.result {
            Slot::Is(scalar) => scalar,
            Slot::Alpha | Slot::Free => {
                let is_alpha = |at: &usize| signature.operand(*at) == Slot::Alpha;
                let first = (0..operands.len()).find(is_alpha)?;
                operands[first].ty.scalar
            }
        };
        let reads = operands.iter().flat_map(|operand| operand.reads.iter().copied()).collect();
        let ty = Type { scalar, shape };
        let operands = operands.into_iter().map(|operand| operand.source).collect();
        self.steps.push(Step { op, operands, ty: ty.clone() });
        Some(Entry { source: Source::Step(self.steps.len() - 1), ty, reads })
    }

    /// Adds the selection of a row, or of a range of rows of a `num` tensor, at constant indices.
    fn index(&mut self, array: &Entry, at: &[At], env: &Env) -> Option<Entry> {
        let known = |var: Var| env[var.index()].as_ref().and_then(Entry::size);
        let mut entry = array.clone();
        let mut axes = at.iter().peekable();
        while let Some(At::Int(var)) = axes.peek() {
            let row = known(*var)?;
            if row >= *entry.ty.shape.first()? {
                return None;
            }
            entry = self.apply(Op::Index(row), vec![entry])?;
            axes.next();
        }
        match (axes.next(), axes.next()) {
            (None, _) => Some(entry),
            (Some(At::Range(lo, hi)), None) if entry.ty.scalar == Scalar::Num => {
                let (lo, hi) = (known(*lo)?, known(*hi)?);
                let is_inside = lo <= hi && hi <= *entry.ty.shape.first()?;
                if is_inside { self.apply(Op::Slice(lo, hi), vec![entry]) } else { None }
            }
            _ => None,
        }
    }

    fn sum(&mut self, acc: Entry, value: Entry) -> Option<Entry> {
        // Adding a term to `-0.0` leaves the term unchanged.
        if let Some(Value::Num(start)) = acc.value()
            && *start == 0.0
            && start.is_sign_negative()
            && value.ty.shape.is_scalar()
        {
            return Some(value);
        }
        self.apply(Op::Add, vec![acc, value])
    }

    /// Unrolls a loop of a few iterations.
    fn repeat(&mut self, repeat: &Loop, env: &mut Env, depth: usize) -> Option<Vec<Entry>> {
        let (Control::For { index, count } | Control::Each { index, count }) = &repeat.control else {
            return None;
        };
        let count = env[count.index()].as_ref()?.int()?;
        if count > MAX_ITERATIONS {
            return None;
        }
        for binding in repeat.states.iter().chain(&repeat.accs) {
            env[binding.var.index()] = env[binding.init.index()].clone();
        }
        let mut rows: Vec<Vec<Entry>> = vec![Vec::new(); repeat.collect.len()];
        for iteration in 0..count {
            env[index.index()] = Some(Entry::constant(Value::Int(iteration)));
            let next = self.region(&repeat.body, env, depth)?;
            for (rows, var) in rows.iter_mut().zip(&repeat.collect) {
                rows.push(env[var.index()].clone()?);
            }
            for (state, next) in repeat.states.iter().zip(next) {
                env[state.var.index()] = Some(next);
            }
        }
        let mut results = Vec::new();
        for state in &repeat.states {
            results.push(env[state.var.index()].clone()?);
        }
        for rows in rows {
            // An empty tensor has no rows to determine its type.
            if rows.is_empty() {
                return None;
            }
            results.push(self.apply(Op::Stack, rows)?);
        }
        for acc in &repeat.accs {
            results.push(env[acc.var.index()].clone()?);
        }
        Some(results)
    }
}
