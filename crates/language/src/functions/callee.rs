//! A function that a node applies, as an operation on streams with its adjoint and its tangent.

use std::any::Any;
use std::sync::{Arc, Mutex, OnceLock};

use eddy_body::ir::{Body, BodyId, Kind, Mode, Module, Param, Region, Stmt, Type as BodyType, Var};
use eddy_body::{Applied, Limits, Program};
use eddy_tensor::{Call, CallFailure, Callee, Data, EvalError, Scalar, Shape, Type, Value};

use super::apply::expanded;

/// The tensors of one operand or result of an operation: a single tensor as it is, several as a pack.
#[derive(Clone, Debug)]
struct Group(Vec<Type>);

impl Group {
    fn ty(&self) -> Type {
        eddy_body::applied::packed(&self.0)
    }

    /// Appends the tensors of an operand to `into`.
    fn unpack(&self, operand: &Value, into: &mut Vec<Value>) {
        // Functions compute in double precision.
        let operand = operand.to_num64();
        if self.0.len() == 1 {
            return into.push(operand);
        }
        let Value::Tensor(pack) = &operand else { unreachable!("a pack is a vector") };
        let Data::Num(elements) = pack.data() else { unreachable!("a pack holds numbers") };
        let mut rest = elements.as_slice();
        for ty in &self.0 {
            let (own, others) = rest.split_at(size(ty));
            rest = others;
            into.push(tensor(ty.shape.clone(), own.to_vec()));
        }
    }

    fn pack(&self, values: Vec<Value>) -> Value {
        if self.0.len() == 1 {
            return values.into_iter().next().expect("a group of one");
        }
        let mut elements = Vec::new();
        for value in &values {
            match value {
                Value::Num(number) => elements.push(*number),
                Value::Tensor(tensor) => match tensor.data() {
                    Data::Num(own) => elements.extend_from_slice(own),
                    _ => unreachable!("a pack holds numbers"),
                },
                _ => unreachable!("a pack holds numbers"),
            }
        }
        tensor(Shape::new(&[elements.len()]), elements)
    }
}

fn size(ty: &Type) -> usize {
    ty.shape.iter().product()
}

fn tensor(shape: Shape, elements: Vec<f64>) -> Value {
    Value::new(shape, Data::Num(elements)).expect("sizes were checked before the run")
}

/// A body, and the program that runs it.
#[derive(Debug)]
struct Code {
    /// The module before derivatives are expanded.
    module: Arc<Module>,
    body: BodyId,
    /// The module with derivatives expanded and ready to run, or why they cannot be expanded.
    ready: OnceLock<Result<Ready, CallFailure>>,
}

#[derive(Debug)]
struct Ready {
    module: Arc<Module>,
    program: Program,
}

impl Code {
    fn ready(&self) -> &Result<Ready, CallFailure> {
        self.ready.get_or_init(|| match expanded(&self.module) {
            Ok(module) => {
                let program =
                    Program::new(&module).unwrap_or_else(|error| panic!("lowered code verifies: {error}"));
                Ok(Ready { module: Arc::new(module), program })
            }
            Err(refused) => {
                let span = refused.primary.span;
                Err(CallFailure { message: refused.title.clone(), place: span.start..span.end })
            }
        })
    }
}

/// A body as an operation.
#[derive(Debug)]
struct Function {
    name: String,
    code: Arc<Code>,
    operands: Vec<Group>,
    operand_types: Vec<Type>,
    /// The results of the body that form the result of the operation, by index.
    picked: Vec<usize>,
    result: Group,
    result_type: Type,
    adjoint: OnceLock<Call>,
    tangent: OnceLock<Call>,
    failures: Mutex<Vec<CallFailure>>,
}

impl Function {
    fn new(name: String, code: Arc<Code>, operands: Vec<Group>, picked: Vec<usize>, result: Group) -> Self {
        Function {
            name,
            code,
            operand_types: operands.iter().map(Group::ty).collect(),
            operands,
            picked,
            result_type: result.ty(),
            result,
            adjoint: OnceLock::new(),
            tangent: OnceLock::new(),
            failures: Mutex::new(Vec::new()),
        }
    }

    /// A function whose body calls a derivative of this function's body.
    fn derivative(&self, mode: Mode) -> Call {
        let mut module = (*self.code.module).clone();
        let of = module.body(self.code.body).clone();
        let is_num = |ty: &BodyType| ty.is_num();
        let params: Vec<BodyType> = of.params.iter().map(|param| param.ty).collect();
        let seeds: Vec<BodyType> = match mode {
            Mode::Adj => of.results.iter().copied().filter(is_num).collect(),
            _ => params.iter().copied().filter(is_num).collect(),
        };
        let found: Vec<BodyType> = match mode {
            Mode::Adj => params.iter().copied().filter(is_num).collect(),
            _ => of.results.iter().copied().filter(is_num).collect(),
        };
        let mut names = Vec::new();
        let mut fresh = |prefix: &str, n: usize| -> Vec<Var> {
            let vars = (names.len()..names.len() + n).map(Var::new).collect();
            names.extend((0..n).map(|at| format!("{prefix}{at}")));
            vars
        };
        let (given, values) = (fresh("x", params.len() + seeds.len()), fresh("y", of.results.len()));
        let derivatives = fresh("d", found.len());
        let types = params.iter().chain(&seeds);
        let params = given.iter().zip(types).map(|(var, ty)| Param { var: *var, ty: *ty, is_acc: false });
        let params = params.collect();
        let call = Kind::Call(mode, self.code.body, given.clone());
        let results = values.into_iter().chain(derivatives.iter().copied()).collect();
        let region = Region { stmts: vec![Stmt::new(results, call)], yields: derivatives };
        let prefix = if mode == Mode::Adj { "adj" } else { "tan" };
        let body = BodyId::new(module.bodies.len());
        let n_found = found.len();
        let unique = format!("{prefix}_{}_{}", of.name, body.index());
        module.bodies.push(Body { name: unique, params, results: found, region, names });
        let code = Code { module: Arc::new(module), body, ready: OnceLock::new() };
        let is_num = |group: &&Group| group.ty().scalar == Scalar::Num;
        let nums = self.operands.iter().filter(is_num);
        let (seeds, result): (Vec<Group>, Vec<Type>) = match mode {
            Mode::Adj => (vec![self.result.clone()], nums.flat_map(|group| group.0.clone()).collect()),
            _ => (nums.cloned().collect(), self.result.0.clone()),
        };
        let operands = self.operands.iter().cloned().chain(seeds).collect();
        let name = format!("{prefix}_{}", self.name);
        let picked = (0..n_found).collect();
        Call::new(Arc::new(Function::new(name, Arc::new(code), operands, picked, Group(result))))
    }
}

impl Callee for Function {
    fn name(&self) -> &str {
        &self.name
    }

    fn operands(&self) -> &[Type] {
        &self.operand_types
    }

    fn result(&self) -> &Type {
        &self.result_type
    }

    fn eval(&self, operands: &[&Value]) -> Result<Value, EvalError> {
        let mut arguments = Vec::new();
        for (group, operand) in self.operands.iter().zip(operands) {
            group.unpack(operand, &mut arguments);
        }
        let found = match self.code.ready() {
            Ok(Ready { program, .. }) => {
                program.run(self.code.body, &arguments, &Limits::default()).map_err(|error| CallFailure {
                    message: error.failure.to_string(),
                    place: error.span.start..error.span.end,
                })
            }
            Err(failure) => Err(failure.clone()),
        };
        match found {
            Ok(values) => {
                let picked = self.picked.iter().map(|at| values[*at].clone()).collect();
                let value = self.result.pack(picked);
                let is_single = operands.iter().any(|operand| is_single_precision(operand));
                Ok(if is_single { value.to_num32() } else { value })
            }
            Err(failure) => {
                let mut failures = self.failures.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                let at = failures.iter().position(|other| *other == failure).unwrap_or_else(|| {
                    failures.push(failure);
                    failures.len() - 1
                });
                Err(EvalError::Function(u32::try_from(at).expect("few failures are kept")))
            }
        }
    }

    fn failure(&self, number: u32) -> CallFailure {
        let failures = self.failures.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        failures[number as usize].clone()
    }

    fn shares_code(&self, other: &dyn Callee) -> bool {
        let other: &dyn Any = other;
        other.downcast_ref::<Function>().is_some_and(|other| Arc::ptr_eq(&self.code, &other.code))
    }

    fn code(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        let Ready { module, .. } = self.code.ready().as_ref().ok()?;
        Some(Arc::new(Applied {
            module: Arc::clone(module),
            body: self.code.body,
            operands: self.operands.iter().map(|group| group.0.clone()).collect(),
            picked: self.picked.clone(),
            result: self.result.0.clone(),
        }))
    }

    fn adjoint(&self) -> Call {
        self.adjoint.get_or_init(|| self.derivative(Mode::Adj)).clone()
    }

    fn tangent(&self) -> Call {
        self.tangent.get_or_init(|| self.derivative(Mode::Tan)).clone()
    }
}

fn is_single_precision(value: &Value) -> bool {
    match value {
        Value::Num32(_) => true,
        Value::Tensor(tensor) => matches!(tensor.data(), Data::Num32(_)),
        _ => false,
    }
}

/// The operations that compute the results of a body: one for all `num` results, and one for each other
/// result.
pub(crate) struct Operations {
    /// Computes the pack of all `num` results, or the only `num` result.
    pub nums: Option<Call>,
    /// The operation of each result that is not a `num`; `None` for the others.
    pub others: Vec<Option<Call>>,
}

/// Turns a body that nodes apply into operations.
pub(crate) fn operations(
    name: &str,
    module: &Arc<Module>,
    body: BodyId,
    operands: &[Type],
    results: &[Type],
) -> Operations {
    let code = Arc::new(Code { module: Arc::clone(module), body, ready: OnceLock::new() });
    let operands: Vec<Group> = operands.iter().map(|ty| Group(vec![ty.clone()])).collect();
    let call = |picked: Vec<usize>| {
        let result = Group(picked.iter().map(|at| results[*at].clone()).collect());
        Call::new(Arc::new(Function::new(
            name.to_string(),
            Arc::clone(&code),
            operands.clone(),
            picked,
            result,
        )))
    };
    let is_num = |at: &usize| results[*at].scalar == Scalar::Num;
    let nums: Vec<usize> = (0..results.len()).filter(is_num).collect();
    let others = (0..results.len()).map(|at| (!is_num(&at)).then(|| call(vec![at]))).collect();
    Operations { nums: (!nums.is_empty()).then(|| call(nums)), others }
}

/// A call whose types are not known yet.
#[derive(Debug)]
struct Open {
    name: String,
    result: Type,
}

/// A placeholder for a function in equations without types.
pub(crate) fn open(name: String) -> Call {
    Call::new(Arc::new(Open { name, result: Type { scalar: Scalar::Num, shape: Shape::scalar() } }))
}

impl Callee for Open {
    fn name(&self) -> &str {
        &self.name
    }

    fn operands(&self) -> &[Type] {
        &[]
    }

    fn result(&self) -> &Type {
        &self.result
    }

    fn eval(&self, _: &[&Value]) -> Result<Value, EvalError> {
        unreachable!("inference replaces placeholders")
    }

    fn failure(&self, _: u32) -> CallFailure {
        unreachable!("inference replaces placeholders")
    }

    fn shares_code(&self, _: &dyn Callee) -> bool {
        false
    }

    fn code(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        None
    }

    fn adjoint(&self) -> Call {
        unreachable!("inference replaces placeholders")
    }

    fn tangent(&self) -> Call {
        unreachable!("inference replaces placeholders")
    }
}
