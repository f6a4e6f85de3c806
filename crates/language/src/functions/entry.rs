//! Functions that are called from outside, with data (functions.md, section 7): `eddy run --fn NAME --in
//! ARGS`.
//!
//! A call reads its arguments ([`super::datum`]), which gives them types. An instance of the function at
//! these types is lowered once; calls with the same kinds and ranks share it, whatever their sizes are.

use std::sync::Arc;

use eddy_body::RunError;
use eddy_body::ir::{BodyId, Elem, Mode, Module};
use eddy_syntax::suggest::nearest;
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::Value;

use super::activation::Activation;
use super::budget::Budget;
use super::customs::tangent;
use super::datum::{Datum, Expected, Mismatch, Reader, Typed, converted, missing};
use super::instances::{Progress, make_val};
use super::key::{FnKey, Key, KeyKind, Ty};
use super::lowering::{Lowering, Task};
use super::value::{Code, FnValue, Val};
use super::written::Written;
use super::{evaluate_constants, finished, show};
use crate::codes;
use crate::program::{Entity, FunctionId, Program, TypeDefId};
use crate::tree::{Definition, TypeKind};

/// A function of a program, or a derivative of one.
#[derive(Clone, Debug)]
pub struct Entry {
    name: String,
    /// The declaration of the function; for a derivative, of the function that is differentiated.
    span: Span,
    function: FunctionId,
    modes: Vec<Mode>,
    /// The parameters of the declared function.
    params: Vec<(String, Expected)>,
    cases: Arc<Vec<Vec<String>>>,
    records: Vec<Vec<String>>,
    instances: Vec<(Vec<Mode>, Vec<Ty>, Arc<LoweredCall>)>,
}

/// A body that calls an instance.
#[derive(Debug)]
pub struct LoweredCall {
    /// The bodies that the call reaches, with derivatives expanded.
    pub module: Arc<Module>,
    pub program: eddy_body::Program,
    pub body: BodyId,
    /// The number of bodies before the first synthesised derivative.
    pub n_plain: usize,
    /// The types of the arguments, with all kinds known.
    args: Vec<Ty>,
    result: Ty,
}

impl LoweredCall {
    pub fn result(&self) -> &Ty {
        &self.result
    }
}

/// The written types of a function's parameters and result.
#[derive(Clone, Debug)]
pub struct WrittenSignature {
    pub params: Vec<(String, Expected)>,
    pub result: Expected,
}

/// A call whose arguments are known.
#[derive(Clone, Debug)]
pub struct Call {
    pub code: Arc<LoweredCall>,
    /// The tensors of all arguments, in order.
    pub arguments: Vec<Value>,
    /// The arguments with the names of their parameters.
    pub named: Vec<(String, Typed)>,
}

/// The result of a call. `Display` writes it as `eddy run` does.
#[derive(Clone, Debug)]
pub struct Outcome {
    ty: Ty,
    /// The tensors in it, in order.
    pub values: Vec<Value>,
    cases: Arc<Vec<Vec<String>>>,
}

/// Why a call has no result.
#[derive(Clone, Debug)]
pub enum CallError {
    /// An argument does not match its parameter.
    Argument(Mismatch),
    /// The function cannot have arguments of these types.
    Refused(Box<Diagnostic>),
    /// The call failed, or reached a limit.
    Failed(Box<Diagnostic>),
}

impl Entry {
    /// The function of this name that is visible in the main file.
    pub fn new(program: &Program, name: &str) -> Result<Entry, Box<Diagnostic>> {
        let Some(Code::Declared(function, modes)) =
            super::calls::function_named(program, Program::MAIN, name)
        else {
            return Err(unknown(program, name));
        };
        let (module, tree) = program.function(function);
        let lowering = Lowering::new(program);
        let mut params = Vec::new();
        for param in &tree.params {
            let expected = match param.annotation {
                Some(ty) => expected(&lowering.written(module, ty, &[], &mut Vec::new())?),
                None => Expected::Open,
            };
            params.push((program.modules[module].names.text(param.ident.name).to_string(), expected));
        }
        let cases = lowering.module.enums.iter().map(|enumeration| enumeration.cases.clone()).collect();
        let types = (0..program.types.len()).map(TypeDefId::new);
        let records = types.filter_map(|definition| record_labels(program, definition));
        Ok(Entry {
            name: name.to_string(),
            span: tree.ident.span,
            function,
            modes,
            params,
            cases: Arc::new(cases),
            records: records.collect(),
            instances: Vec::new(),
        })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it is declared.
    pub fn span(&self) -> Span {
        self.span
    }

    /// The declared function.
    pub fn function(&self) -> FunctionId {
        self.function
    }

    /// The derivatives taken, innermost first.
    pub fn modes(&self) -> &[Mode] {
        &self.modes
    }

    /// The expected types of the declared function's parameters.
    pub fn params(&self) -> &[(String, Expected)] {
        &self.params
    }

    /// Lowers the function at its written types, and returns its signature. Parameters without a written
    /// type, and function parameters, are errors.
    pub fn written_call(
        &mut self,
        program: &Program,
        budget: &Budget,
    ) -> Result<(Arc<LoweredCall>, WrittenSignature), CallError> {
        let mut named = Vec::new();
        for (name, expected) in self.params.clone() {
            let Some(ty) = written_type(&expected) else {
                let text = format!("the type of the parameter `{name}` of `{}` is not written", self.name);
                let diagnostic = Diagnostic::error(codes::FUNCTION, self.span, text);
                let help = "write the types of all parameters; none can be a function";
                return Err(CallError::Refused(Box::new(diagnostic.help(help))));
            };
            named.push((name, Typed { ty, values: Vec::new() }));
        }
        let modes = self.modes.clone();
        for n in 0..modes.len() {
            for (name, expected) in self.directions(program, &modes[..=n], &named, budget)? {
                let ty = written_type(&expected).expect("the types of directions are known");
                named.push((name, Typed { ty, values: Vec::new() }));
            }
        }
        let code = self.instance(program, &modes, &named, budget)?;
        let names = named.into_iter().map(|(name, _)| name);
        let params = names.zip(code.args.iter().map(of_type)).collect();
        let result = of_type(&code.result);
        Ok((code, WrittenSignature { params, result }))
    }

    /// Reads the arguments of a call, and lowers the function for them.
    pub fn prepare(
        &mut self,
        program: &Program,
        arguments: &[(String, Datum)],
        budget: &Budget,
    ) -> Result<Call, CallError> {
        let (mut named, mut n_open) = (Vec::new(), 0);
        for (name, expected) in self.params.clone() {
            let typed = self.argument(arguments, &name, &expected, &mut n_open)?;
            named.push((name, typed));
        }
        let modes = self.modes.clone();
        for n in 0..modes.len() {
            for (name, expected) in self.directions(program, &modes[..=n], &named, budget)? {
                let typed = self.argument(arguments, &name, &expected, &mut n_open)?;
                named.push((name, typed));
            }
        }
        let names: Vec<&str> = named.iter().map(|(name, _)| name.as_str()).collect();
        if let Some((name, _)) = arguments.iter().find(|(name, _)| !names.contains(&name.as_str())) {
            return Err(CallError::Argument(no_parameter(&self.name, name, &names)));
        }
        let code = self.instance(program, &modes, &named, budget)?;
        for ((_, typed), ty) in named.iter_mut().zip(&code.args) {
            let elems = elems(ty);
            typed.ty = ty.clone();
            for (value, elem) in typed.values.iter_mut().zip(elems) {
                if let Some(num) = converted(value, elem) {
                    *value = num;
                }
            }
        }
        let arguments = named.iter().flat_map(|(_, typed)| typed.values.clone()).collect();
        Ok(Call { code, arguments, named })
    }

    /// Runs a call in the reference engine.
    pub fn run(&self, call: &Call, budget: &mut Budget) -> Result<Outcome, CallError> {
        let found = budget.run(&call.code.program, call.code.body, &call.arguments);
        self.outcome(call, found, budget)
    }

    /// The outcome of a call, from the result of an engine.
    pub fn outcome(
        &self,
        call: &Call,
        found: Result<Vec<Value>, RunError>,
        budget: &Budget,
    ) -> Result<Outcome, CallError> {
        match found {
            Ok(values) => {
                Ok(Outcome { ty: call.code.result.clone(), values, cases: Arc::clone(&self.cases) })
            }
            Err(error) => Err(CallError::Failed(Box::new(budget.diagnostic(&error, self.span)))),
        }
    }

    /// The derivative of a call. Its arguments are those of the call, followed by a direction for each num of
    /// the result (`Adj`) or of the arguments (`Tan`). Its results are those of the call, followed by the
    /// other directions.
    pub fn derivative(
        &mut self,
        program: &Program,
        call: &Call,
        mode: Mode,
        budget: &Budget,
    ) -> Result<Arc<LoweredCall>, CallError> {
        let modes = [self.modes.as_slice(), &[mode]].concat();
        let directions: Vec<Ty> = match mode {
            Mode::Adj => vec![tangent(&call.code.result)],
            _ => call.code.args.iter().filter(|ty| ty.contains_num()).map(tangent).collect(),
        };
        let mut named = call.named.clone();
        named.extend(directions.into_iter().map(|ty| (String::new(), Typed { ty, values: Vec::new() })));
        self.instance(program, &modes, &named, budget)
    }

    fn argument(
        &self,
        arguments: &[(String, Datum)],
        name: &str,
        expected: &Expected,
        n_open: &mut usize,
    ) -> Result<Typed, CallError> {
        let reader = Reader { cases: &self.cases, records: &self.records };
        let given = arguments.iter().find(|(other, _)| other == name).map(|(_, datum)| datum);
        let typed = match (given, expected) {
            (Some(datum), _) => reader.read(datum, expected, name, n_open),
            (None, Expected::Function) => reader.read(&Datum::List(Vec::new()), expected, name, n_open),
            (None, _) => {
                let is_known = |given: &str| self.params.iter().any(|(param, _)| param == given);
                let unknown = arguments.iter().find(|(given, _)| self.modes.is_empty() && !is_known(given));
                let help = unknown.map(|(given, _)| format!("`{given}` is no parameter of `{}`", self.name));
                Err(Mismatch { help, ..missing(name) })
            }
        };
        typed.map_err(CallError::Argument)
    }

    /// The parameters that the last of these derivatives adds: `dy`, or a tangent for each parameter that
    /// contains nums.
    fn directions(
        &mut self,
        program: &Program,
        modes: &[Mode],
        named: &[(String, Typed)],
        budget: &Budget,
    ) -> Result<Vec<(String, Expected)>, CallError> {
        let (mode, inner) = modes.split_last().expect("there is a derivative");
        let unused = |prefix: &str, name: &str| {
            let mut name = format!("{prefix}{name}");
            while named.iter().any(|(other, _)| *other == name) {
                name.insert_str(0, prefix);
            }
            name
        };
        let instance = self.instance(program, inner, named, budget)?;
        if *mode == Mode::Adj {
            return Ok(vec![(unused("d", "y"), of_type(&tangent(&instance.result)))]);
        }
        let with_nums = named.iter().zip(&instance.args).filter(|(_, ty)| ty.contains_num());
        Ok(with_nums.map(|((name, _), ty)| (unused("t", name), of_type(&tangent(ty)))).collect())
    }

    /// The instance of the function, differentiated in these modes, at arguments of these types.
    fn instance(
        &mut self,
        program: &Program,
        modes: &[Mode],
        named: &[(String, Typed)],
        budget: &Budget,
    ) -> Result<Arc<LoweredCall>, CallError> {
        let types: Vec<Ty> = named.iter().map(|(_, typed)| typed.ty.clone()).collect();
        let found = self.instances.iter().find(|(other, args, _)| other == modes && *args == types);
        if let Some((_, _, lowered)) = found {
            return Ok(Arc::clone(lowered));
        }
        let code = Code::Declared(self.function, modes.to_vec());
        let lowered =
            lower_call(program, code, &types, self.span, budget).map_err(CallError::Refused).map(Arc::new)?;
        self.instances.push((modes.to_vec(), types, Arc::clone(&lowered)));
        Ok(lowered)
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&show::show(&self.ty, &mut self.values.iter(), &self.cases))
    }
}

impl Call {
    /// The nums among the tensors of the arguments: their positions, and their names, as in `b.at`.
    pub fn nums(&self) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        let mut n = 0;
        for (name, typed) in &self.named {
            let mut work = vec![(name.clone(), &typed.ty)];
            while let Some((place, ty)) = work.pop() {
                match ty {
                    Ty::Tensor(kind, _) => {
                        if *kind == KeyKind::Is(Elem::Num) {
                            found.push((n, place));
                        }
                        n += 1;
                    }
                    Ty::Tuple(parts) => {
                        let parts = parts.iter().enumerate().rev();
                        work.extend(parts.map(|(at, ty)| (format!("{place}.{at}"), ty)));
                    }
                    Ty::Record(fields) => {
                        let fields = fields.iter().rev();
                        work.extend(fields.map(|(label, ty)| (format!("{place}.{label}"), ty)));
                    }
                    Ty::Function(_) | Ty::Unknown => {}
                }
            }
        }
        found
    }
}

impl Outcome {
    /// The nums among the tensors.
    pub fn nums(&self) -> Vec<&Value> {
        let nums = elems(&self.ty).into_iter().map(|elem| elem == Elem::Num);
        self.values.iter().zip(nums).filter_map(|(value, is_num)| is_num.then_some(value)).collect()
    }

    /// The result as data: tuples are lists, enumerators text.
    pub fn to_datum(&self) -> Datum {
        datum(&self.ty, &mut self.values.iter(), &self.cases)
    }
}

/// Lowers a call of a function at arguments of these types. Kinds that the function leaves open become num.
pub fn lower_call(
    program: &Program,
    code: Code,
    args: &[Ty],
    span: Span,
    budget: &Budget,
) -> Result<LoweredCall, Box<Diagnostic>> {
    let mut lowering = Lowering::new(program);
    let mut diagnostics = Vec::new();
    evaluate_constants(&mut lowering, &mut diagnostics, &mut budget.clone());
    if let Some(first) = diagnostics.into_iter().next() {
        return Err(Box::new(first));
    }
    let key = Key { function: FnKey { code: Code::Outside, captured: Vec::new() }, args: Vec::new() };
    let id = lowering.body_id(&key);
    let mut activation = Activation::new(key.clone(), Program::MAIN, id, span);
    let (mut classes, mut vars) = (Vec::new(), Vec::new());
    let mut vals: Vec<Val> =
        args.iter().map(|ty| make_val(&mut activation, ty, &mut classes, &mut vars)).collect();
    activation.n_param_atoms = activation.n_atoms();
    lowering.activations.push(activation);
    lowering.in_progress.insert(key.clone(), Progress { assumed: None, was_needed: false, depth: 0 });
    let mut work: Vec<&mut Val> = vals.iter_mut().collect();
    while let Some(val) = work.pop() {
        match val {
            Val::Record(fields) => {
                lowering.order_fields(fields, span)?;
                work.extend(fields.iter_mut().map(|(_, val)| val));
            }
            Val::Tuple(parts) => work.extend(parts),
            _ => {}
        }
    }
    lowering.here().params.clone_from(&vals);
    lowering.operands.extend(vals.iter().cloned());
    let function = FnValue { code, captured: Vec::new() };
    lowering.tasks.push(Task::Apply { function, n_args: vals.len(), span });
    lowering.finish_tasks()?;
    for leaf in vals.iter().flat_map(Val::leaves) {
        if lowering.here().kinds.get(leaf.kind).is_none() {
            lowering.demand(leaf, Elem::Num, span)?;
        }
    }
    let args = vals.iter().map(|val| val.ty(&lowering.here().kinds, &mut Vec::new())).collect();
    lowering.tasks.push(Task::Finish);
    lowering.finish_tasks()?;
    let instance = &lowering.instances[&key];
    let (body, result) = (instance.id, instance.result.ty(&instance.kinds, &mut Vec::new()));
    let n_plain = lowering.module.bodies.len();
    let module = finished(&lowering.module, budget)?;
    let program = super::ready(&module);
    Ok(LoweredCall { module: Arc::new(module), program, body, n_plain, args, result })
}

/// The expected type for a written type.
fn expected(written: &Written) -> Expected {
    match written {
        Written::Tensor(elem, dims) => Expected::Tensor(*elem, dims.len()),
        Written::Tuple(parts) => Expected::Tuple(parts.iter().map(expected).collect()),
        Written::Record(fields) => {
            Expected::Record(fields.iter().map(|(label, ty)| (label.clone(), expected(ty))).collect())
        }
        Written::Function => Expected::Function,
    }
}

/// The type, or `None` if a part of it is not written or is a function.
fn written_type(expected: &Expected) -> Option<Ty> {
    Some(match expected {
        Expected::Tensor(elem, rank) => Ty::Tensor(KeyKind::Is(*elem), *rank),
        Expected::Tuple(parts) => Ty::Tuple(parts.iter().map(written_type).collect::<Option<_>>()?),
        Expected::Record(fields) => {
            let field = |(label, part): &(String, Expected)| Some((label.clone(), written_type(part)?));
            Ty::Record(fields.iter().map(field).collect::<Option<_>>()?)
        }
        Expected::Function | Expected::Open => return None,
    })
}

fn of_type(ty: &Ty) -> Expected {
    match ty {
        Ty::Tensor(KeyKind::Is(elem), rank) => Expected::Tensor(*elem, *rank),
        Ty::Tuple(parts) => Expected::Tuple(parts.iter().map(of_type).collect()),
        Ty::Record(fields) => {
            Expected::Record(fields.iter().map(|(label, ty)| (label.clone(), of_type(ty))).collect())
        }
        Ty::Tensor(KeyKind::Open(_), _) | Ty::Function(_) | Ty::Unknown => Expected::Open,
    }
}

/// The kinds of the tensors of a type, in order.
fn elems(ty: &Ty) -> Vec<Elem> {
    match ty {
        Ty::Tensor(KeyKind::Is(elem), _) => vec![*elem],
        Ty::Tensor(KeyKind::Open(_), _) => vec![Elem::Int],
        Ty::Tuple(parts) => parts.iter().flat_map(elems).collect(),
        Ty::Record(fields) => fields.iter().flat_map(|(_, ty)| elems(ty)).collect(),
        Ty::Function(_) | Ty::Unknown => Vec::new(),
    }
}

fn datum(ty: &Ty, values: &mut dyn Iterator<Item = &Value>, cases: &[Vec<String>]) -> Datum {
    match ty {
        Ty::Tensor(kind, rank) => {
            let value = values.next().expect("a value for each tensor");
            match (kind, rank) {
                (KeyKind::Is(Elem::Enum(id)), _) => enumerators(value, &cases[id.index()]),
                _ => Datum::Tensor(value.clone()),
            }
        }
        Ty::Tuple(parts) => Datum::List(parts.iter().map(|part| datum(part, values, cases)).collect()),
        Ty::Record(fields) => Datum::Record(
            fields.iter().map(|(label, ty)| (label.clone(), datum(ty, values, cases))).collect(),
        ),
        Ty::Function(_) | Ty::Unknown => unreachable!("a result is data"),
    }
}

fn enumerators(value: &Value, cases: &[String]) -> Datum {
    let name = |element: Value| match element {
        Value::Int(at) => usize::try_from(at).ok().and_then(|at| cases.get(at).cloned()),
        _ => None,
    };
    let mut texts = value.elements().map(|element| Datum::Text(name(element).unwrap_or_default()));
    let mut rows: Vec<Datum> = texts.by_ref().collect();
    for size in value.shape().iter().rev() {
        rows = rows.chunks((*size).max(1)).map(|row| Datum::List(row.to_vec())).collect();
    }
    if rows.len() == 1 { rows.remove(0) } else { Datum::List(rows) }
}

fn record_labels(program: &Program, definition: TypeDefId) -> Option<Vec<String>> {
    let (module, tree) = program.type_def(definition);
    let file = &program.modules[module];
    let Definition::Alias(alias) = tree.definition else { return None };
    let TypeKind::Record(fields) = file.tree.written.ty(alias) else { return None };
    Some(fields.iter().map(|(ident, _)| file.names.text(ident.name).to_string()).collect())
}

fn no_parameter(function: &str, name: &str, params: &[&str]) -> Mismatch {
    let help = match nearest(name, params.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if params.is_empty() => format!("`{function}` has no parameters: a call is `{{}}`"),
        None => format!("the parameters of `{function}` are {}", params.join(", ")),
    };
    let reason = format!("is no parameter of `{function}`");
    Mismatch { place: name.to_string(), reason, help: Some(help) }
}

fn unknown(program: &Program, name: &str) -> Box<Diagnostic> {
    let file = &program.modules[Program::MAIN];
    let title = format!("unknown function `{name}`");
    let diagnostic = Diagnostic::error(codes::UNKNOWN_CALLEE, Span::default(), title);
    if program.find_named(name).is_ok() {
        return Box::new(diagnostic.help(format!("`{name}` is a node: name it with `--node {name}`")));
    }
    let functions = file.entities.iter().filter(|(_, entity)| matches!(entity, Entity::Function(_)));
    let functions: Vec<&str> = functions.map(|(name, _)| name.as_str()).collect();
    Box::new(match nearest(name, functions.iter().copied()) {
        Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
        None if functions.is_empty() => diagnostic.help("the file has no functions"),
        None => diagnostic.help(format!("the functions of the file are {}", functions.join(", "))),
    })
}
