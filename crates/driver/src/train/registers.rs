//! State that outlives an epoch: parameters, and the state of their optimisers.
//!
//! Each is a `fby` of the training node, a *register*, under a name that does not depend on how the node
//! runs. Before the first epoch a register has no value, and starts with the initial value of its equation.

use eddy_flow::{Flow, Kind, Named, VarId};
use eddy_language::causality::needed;
use eddy_language::clocks::Clocks;
use eddy_language::codes;
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Op, Type, Value};
use rustc_hash::FxHashMap;

/// The registers of a training node, in the order of `Flow::persistent_state`.
pub(super) struct Registers {
    all: Vec<Register>,
    parameters: Vec<Parameter>,
    numbers: FxHashMap<String, usize>,
    /// Whether numbers have single precision.
    is_single: bool,
}

struct Register {
    name: String,
    var: VarId,
    ty: Type,
    /// Whether the loss depends on it. If not, compiled code does not compute it.
    is_needed: bool,
    /// Its initial value, if that is a constant.
    initial: Option<Value>,
    value: Option<Value>,
}

/// A parameter and its register.
struct Parameter {
    name: String,
    register: usize,
}

impl Registers {
    /// Each parameter must be the state of an optimiser: otherwise its value at the end of an epoch is
    /// unknown.
    pub fn new(
        flow: &Flow,
        clocks: &Clocks,
        loss: VarId,
        seed: u64,
        is_single: bool,
        (node, span): (&str, Span),
    ) -> Result<Registers, Box<Diagnostic>> {
        if flow.persistent_state.is_empty() {
            let title = format!("the node `{node}` learns nothing: no parameter of it is trained");
            return Err(Box::new(Diagnostic::error(codes::NOTHING_TO_TRAIN, span, title)));
        }
        let definitions = flow.definitions();
        let equation = |var: VarId| definitions[var.index()].map(|number| &flow.equations[number].kind);
        let is_needed = needed(flow, clocks, &[loss]);
        let register = |Named { name, var }: &Named| {
            let var = *var;
            let initial = match equation(var) {
                Some(Kind::Fby { init, .. }) => initial(*init, flow, &equation, seed),
                _ => None,
            };
            let initial = initial.map(|value| if is_single { value.to_num32() } else { value });
            let ty = flow.var(var).ty.clone();
            Register {
                name: name.to_string(),
                var,
                ty,
                is_needed: is_needed[var.index()],
                initial,
                value: None,
            }
        };
        let all: Vec<Register> = flow.persistent_state.iter().map(register).collect();
        let of_var: FxHashMap<VarId, usize> =
            all.iter().enumerate().map(|(number, register)| (register.var, number)).collect();
        let mut parameters = Vec::new();
        for named in &flow.parameters {
            let original = copied(named.var, &equation);
            let Some(register) = of_var.get(&original) else {
                let title =
                    format!("the optimiser of the parameter `{}` does not keep it in a `fby`", named.name);
                let help = "an optimiser ends in `p = init fby p1;`, with p1 the value after the step";
                let span = flow.var(named.var).span;
                return Err(Box::new(Diagnostic::error(codes::NOTHING_TO_TRAIN, span, title).help(help)));
            };
            parameters.push(Parameter { name: named.name.to_string(), register: *register });
        }
        let numbers =
            all.iter().enumerate().map(|(number, register)| (register.name.clone(), number)).collect();
        Ok(Registers { all, parameters, numbers, is_single })
    }

    /// The initial state of the next epoch.
    pub fn remembered(&self) -> Vec<(VarId, Value)> {
        self.all.iter().filter_map(|register| Some((register.var, register.value.clone()?))).collect()
    }

    /// Stores the values after an epoch. If one of them is not finite, stores nothing and returns its name.
    pub fn learn(&mut self, values: Vec<Option<Value>>) -> Result<(), String> {
        let diverged = self.all.iter().zip(&values).find(|(register, value)| {
            register.is_needed && value.as_ref().is_some_and(|value| !value.is_finite())
        });
        if let Some((register, _)) = diverged {
            return Err(register.name.clone());
        }
        for (register, value) in self.all.iter_mut().zip(values) {
            let single = |value: Value| if self.is_single { value.to_num32() } else { value };
            let value = value.filter(|_| register.is_needed).map(single);
            // Engines need not compute constant state.
            register.value = value.or(register.value.take()).or_else(|| register.initial.clone());
        }
        Ok(())
    }

    /// The state that later epochs depend on, by name.
    pub fn persistent_state(&self) -> Vec<(String, Value)> {
        self.all
            .iter()
            .filter_map(|register| Some((register.name.clone(), register.value.clone()?)))
            .collect()
    }

    /// The parameters, by name.
    pub fn parameters(&self) -> Vec<(String, Value)> {
        let value = |parameter: &Parameter| {
            let register = &self.all[parameter.register];
            Some((parameter.name.clone(), register.value.as_ref().or(register.initial.as_ref())?.clone()))
        };
        self.parameters.iter().filter_map(value).collect()
    }

    /// Restores the state of [`persistent_state`](Self::persistent_state); returns an error if it does not
    /// fit.
    pub fn restore(&mut self, state: Vec<(String, Value)>) -> Result<(), String> {
        let mut values: Vec<Option<Value>> = vec![None; self.all.len()];
        for (name, value) in state {
            let Some(number) = self.numbers.get(&name) else {
                return Err(format!("it has `{name}`, which this program does not know"));
            };
            values[*number] = Some(self.fitting(*number, &name, value)?);
        }
        // A register whose initial value is no constant may never have been active.
        let mut both = self.all.iter().zip(&values);
        if let Some((missing, _)) =
            both.find(|(register, value)| value.is_none() && register.initial.is_some())
        {
            return Err(format!("it has no `{}`", missing.name));
        }
        for (register, value) in self.all.iter_mut().zip(values) {
            register.value = value;
        }
        Ok(())
    }

    /// Starts from parameters of another run; returns an error if they do not fit.
    pub fn start_from(&mut self, parameters: Vec<(String, Value)>) -> Result<(), String> {
        let registers: FxHashMap<&str, usize> =
            self.parameters.iter().map(|parameter| (parameter.name.as_str(), parameter.register)).collect();
        let mut values = Vec::new();
        for (name, value) in parameters {
            let Some(number) = registers.get(name.as_str()) else {
                return Err(format!("it has a parameter `{name}`, which this program does not know"));
            };
            values.push((*number, self.fitting(*number, &name, value)?));
        }
        for (number, value) in values {
            self.all[number].value = Some(value);
        }
        Ok(())
    }

    fn fitting(&self, number: usize, name: &str, value: Value) -> Result<Value, String> {
        let ty = &self.all[number].ty;
        let value = if self.is_single { value.to_num32() } else { value.to_num64() };
        if value.ty() == *ty {
            Ok(value)
        } else {
            Err(format!("its `{name}` is {}, but this program has {ty}", value.ty()))
        }
    }
}

/// The stream that this one copies.
fn copied<'a>(var: VarId, equation: &impl Fn(VarId) -> Option<&'a Kind>) -> VarId {
    let mut at = var;
    while let Some(Kind::Apply(Op::Copy, operands)) = equation(at) {
        at = operands[0];
    }
    at
}

/// The value of a stream, if it is a constant.
fn initial<'a>(
    var: VarId,
    flow: &Flow,
    equation: &impl Fn(VarId) -> Option<&'a Kind>,
    seed: u64,
) -> Option<Value> {
    let at = copied(var, equation);
    match equation(at)? {
        Kind::Const(constant) => Some(constant.value(&flow.var(at).ty, seed)),
        _ => None,
    }
}
