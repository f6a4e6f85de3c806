//! A compiled program that runs in this process: values in, values out.
//!
//! The program is called only at the activations of its root; other cycles are counted here, so that outputs
//! are in the order of cycles.

use std::collections::VecDeque;

use eddy_flow::VarId;
use eddy_loader::{AlignedBytes, Function, Instance, Library, Sizes};
use eddy_plan::execute::{Cell, LateState};
use eddy_tensor::{Data, Scalar, Shape as TensorShape, Type, Value};
use rustc_hash::FxHashMap;

use crate::emit::{DelayState, DelayStatePlace, Emitted, Port, Ring, Shape};
use crate::layout::{Field, Struct};
use crate::names::flag_name;
use crate::precision::{Precision, element_type};

/// A compiled program at some cycle.
pub struct Machine {
    emitted: Emitted,
    instance: Instance,
    prepare: Function,
    input: AlignedBytes,
    output: AlignedBytes,
    /// For each cycle without output so far, whether the root was active.
    waiting: VecDeque<bool>,
    /// The outputs of complete activations.
    found: VecDeque<Vec<Option<Value>>>,
}

/// Why a step failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepError {
    /// An operation failed: the number of its equation.
    Operation(usize),
    /// A window is longer than its memory. The step had no effect.
    Full,
    /// A condition changes inside a window that was compiled for a constant condition.
    Mixed,
}

impl Machine {
    pub fn new(emitted: Emitted, library: &Library) -> Machine {
        let mut instance = Instance::new(library);
        for (name, value) in &emitted.constants {
            let field = emitted.state.find(name).expect("constants are fields");
            if value.n_elements() > 0 {
                write(instance.state_mut(), field, value, emitted.precision);
            }
        }
        instance.reset();
        Machine {
            instance,
            prepare: library.function("prepare").expect("all programs have it"),
            input: library.input(),
            output: library.outputs(),
            waiting: VecDeque::new(),
            found: VecDeque::new(),
            emitted,
        }
    }

    /// The sizes for the loader.
    pub fn sizes(emitted: &Emitted) -> Sizes {
        Sizes {
            state: emitted.state.bytes,
            input: emitted.input.bytes,
            output: emitted.output.bytes,
            max_outputs: emitted.max_outputs,
        }
    }

    /// Runs a cycle with these inputs, in the order of the program.
    pub fn step(&mut self, inputs: &[Option<Value>]) -> Result<(), StepError> {
        if let Some(owners) = &self.emitted.owners
            && owners.iter().all(|owner| inputs[*owner].is_none())
        {
            self.waiting.push_back(false);
            return Ok(());
        }
        let precision = self.emitted.precision;
        for (port, value) in self.emitted.inputs.iter().zip(inputs) {
            if let Some(value) = value {
                write(&mut self.input, field(&self.emitted.input, &port.field), value, precision);
            }
            if port.has_flag {
                let flag = field(&self.emitted.input, &flag_name(&port.field));
                self.input[flag.offset] = u8::from(value.is_some());
            }
        }
        let code = self.instance.step(&self.input, &mut self.output);
        let n = outputs(code)?;
        self.waiting.push_back(true);
        self.take(n);
        Ok(())
    }

    /// Ends the trace.
    pub fn flush(&mut self) -> Result<(), StepError> {
        let n = outputs(self.instance.flush(&mut self.output))?;
        self.take(n);
        Ok(())
    }

    /// Takes the outputs of `n` cycles.
    fn take(&mut self, n: usize) {
        let precision = self.emitted.precision;
        let size = self.emitted.output.bytes.max(1);
        for outputs in self.output.chunks_exact(size).take(n) {
            let value = |port: &Port| read_port(outputs, &self.emitted.output, port, precision);
            self.found.push_back(self.emitted.outputs.iter().map(value).collect());
        }
    }

    /// Whether no window is open, so that the only state is that of delays.
    pub fn is_between_windows(&self) -> bool {
        self.waiting.iter().filter(|is_active| **is_active).count() == self.found.len()
    }

    /// The value of a delay at its next activation; `None` if it had none so far and starts with its initial
    /// value.
    pub fn delay_state(&self, fby: VarId) -> Option<Value> {
        let mut places = self.emitted.delay_states.iter().filter(|memory| memory.fby == fby);
        places.find_map(|memory| self.remembered(memory))
    }

    fn remembered(&self, memory: &DelayState) -> Option<Value> {
        let name = match &memory.place {
            DelayStatePlace::Known(value) => return Some(value.clone()),
            DelayStatePlace::Newest(ring) => {
                let newest = self.iteration().checked_sub(1).filter(|newest| *newest >= ring.lag)?;
                return match self.in_ring(ring, newest) {
                    Cell::Value(value) => Some(value),
                    _ => None,
                };
            }
            DelayStatePlace::Field { flag: Some(flag), .. } if !self.flag(flag, 0) => return None,
            DelayStatePlace::Field { name, .. }
            | DelayStatePlace::Invariant(name)
            | DelayStatePlace::Start(name) => name,
        };
        let field = field(&self.emitted.state, name);
        Some(read(self.instance.state(), field, &memory.ty, 0, self.emitted.precision))
    }

    /// Sets a parameter that is not trained, before the first cycle.
    pub fn give(&mut self, parameter: VarId, value: &Value) {
        let known = self.emitted.parameters.iter().find(|(known, _)| *known == parameter);
        if let Some((_, name)) = known {
            write(self.instance.state_mut(), field(&self.emitted.state, name), value, self.emitted.precision);
            self.instance.call(&self.prepare);
            self.instance.reset_state();
        }
    }

    /// Discards the open window.
    pub fn start_window(&mut self) {
        if let Some(n) = self.emitted.state.find("n") {
            self.instance.state_mut()[n.offset..n.offset + 8].fill(0);
        }
        self.waiting.clear();
        self.found.clear();
    }

    /// The registers of a loop with lags, and the initial values of delays without one.
    fn registers(&self) -> Vec<(VarId, Cell)> {
        let is_one =
            |memory: &&DelayState| memory.lag.is_some() || matches!(memory.place, DelayStatePlace::Start(_));
        let registers = self.emitted.delay_states.iter().filter(is_one);
        registers.filter_map(|memory| Some((memory.fby, Cell::Value(self.remembered(memory)?)))).collect()
    }

    /// The value of each of these delays at its next activation; see [`delay_state`](Self::delay_state).
    pub fn delay_states(&self, fbys: &[VarId]) -> Vec<Option<Value>> {
        let mut places: FxHashMap<VarId, Vec<&DelayState>> = FxHashMap::default();
        for memory in &self.emitted.delay_states {
            places.entry(memory.fby).or_default().push(memory);
        }
        let value = |fby: &VarId| places.get(fby)?.iter().find_map(|memory| self.remembered(memory));
        fbys.iter().map(value).collect()
    }

    /// Restores the state of delays.
    pub fn remember(&mut self, values: &[(VarId, Value)]) {
        let values: FxHashMap<VarId, &Value> = values.iter().map(|(fby, value)| (*fby, value)).collect();
        for memory in &self.emitted.delay_states {
            let Some(value) = values.get(&memory.fby) else { continue };
            let (name, flag) = match &memory.place {
                DelayStatePlace::Field { name, flag } => (name, flag.as_ref()),
                DelayStatePlace::Start(name) => (name, None),
                DelayStatePlace::Known(_) | DelayStatePlace::Invariant(_) | DelayStatePlace::Newest(_) => {
                    continue;
                }
            };
            let state = self.instance.state_mut();
            write(state, field(&self.emitted.state, name), value, self.emitted.precision);
            if let Some(flag) = flag {
                state[field(&self.emitted.state, flag).offset] = 1;
            }
        }
    }

    /// The number of iterations of a loop with lags.
    pub fn iteration(&self) -> usize {
        let count = field(&self.emitted.state, "t");
        let raw = &self.instance.state()[count.offset..count.offset + 8];
        usize::try_from(i64::from_ne_bytes(array(raw))).unwrap_or(0)
    }

    /// The state of a loop with lags.
    pub fn late_state(&self) -> Option<LateState> {
        let Shape::Late(rings) = &self.emitted.shape else { return None };
        let iteration = self.iteration();
        let values = |ring: &Ring| {
            let kept = iteration.saturating_sub(ring.slots).max(ring.lag)..iteration;
            let cells = kept.map(|iteration| (iteration, self.in_ring(ring, iteration))).collect();
            (ring.var, cells)
        };
        Some(LateState {
            iteration,
            waiting: self.waiting.iter().copied().collect(),
            rings: rings.iter().map(values).collect(),
            registers: self.registers(),
        })
    }

    fn in_ring(&self, ring: &Ring, iteration: usize) -> Cell {
        let slot = iteration % ring.slots;
        if ring.flags.as_ref().is_some_and(|flags| !self.flag(flags, slot)) {
            return Cell::Absent;
        }
        let field = field(&self.emitted.state, &ring.field);
        Cell::Value(read(self.instance.state(), field, &ring.ty, slot, self.emitted.precision))
    }

    fn flag(&self, name: &str, index: usize) -> bool {
        self.instance.state()[field(&self.emitted.state, name).offset + index] != 0
    }

    /// The outputs of the next complete cycle.
    pub fn next_row(&mut self) -> Option<Vec<Option<Value>>> {
        match self.waiting.front()? {
            true if self.found.is_empty() => None,
            true => {
                self.waiting.pop_front();
                self.found.pop_front()
            }
            false => {
                self.waiting.pop_front();
                Some(vec![None; self.emitted.outputs.len()])
            }
        }
    }
}

/// The number of cycles of outputs that a call returned.
fn outputs(code: i32) -> Result<usize, StepError> {
    match code {
        i32::MIN => Err(StepError::Full),
        _ if code == i32::MIN + 1 => Err(StepError::Mixed),
        _ if code < 0 => Err(StepError::Operation(usize::try_from(-code - 1).unwrap_or(0))),
        _ => Ok(usize::try_from(code).unwrap_or(0)),
    }
}

fn field<'a>(fields: &'a Struct, name: &str) -> &'a Field {
    fields.find(name).expect("ports are fields")
}

fn read_port(bytes: &[u8], fields: &Struct, port: &Port, precision: Precision) -> Option<Value> {
    if port.has_flag {
        let flag = field(fields, &flag_name(&port.field));
        if bytes[flag.offset] == 0 {
            return None;
        }
    }
    Some(read(bytes, field(fields, &port.field), &port.ty, 0, precision))
}

/// Writes a value into the bytes of a struct.
#[allow(clippy::cast_possible_truncation)] // single precision is rounded
pub(crate) fn write(bytes: &mut [u8], field: &Field, value: &Value, precision: Precision) {
    let mut at = field.offset;
    let mut put = |raw: &[u8]| {
        bytes[at..at + raw.len()].copy_from_slice(raw);
        at += raw.len();
    };
    for element in value.elements() {
        match (element, precision) {
            (Value::Bool(truth), _) => put(&[u8::from(truth)]),
            (Value::Int(x), _) => put(&x.to_ne_bytes()),
            (Value::Num(x), Precision::Double) => put(&x.to_ne_bytes()),
            (Value::Num(x), Precision::Single) => put(&(x as f32).to_ne_bytes()),
            (Value::Num32(x), Precision::Single) => put(&x.to_ne_bytes()),
            (Value::Num32(x), Precision::Double) => put(&f64::from(x).to_ne_bytes()),
            (Value::Tensor(_), _) => unreachable!("an element is a scalar"),
        }
    }
}

/// Reads a value from the bytes of a struct, at an index of a field that may have several.
pub(crate) fn read(bytes: &[u8], field: &Field, ty: &Type, index: usize, precision: Precision) -> Value {
    let n: usize = ty.shape.iter().product();
    let size = element_type(ty.scalar).bytes(precision);
    let at = field.offset + index * n * size;
    let raw = bytes[at..at + n * size].chunks_exact(size);
    let data = match (ty.scalar, precision) {
        (Scalar::Bool, _) => Data::Bool(raw.map(|raw| raw[0] != 0).collect()),
        (Scalar::Int, _) => Data::Int(raw.map(|raw| i64::from_ne_bytes(array(raw))).collect()),
        (Scalar::Num, Precision::Double) => {
            Data::Num(raw.map(|raw| f64::from_ne_bytes(array(raw))).collect())
        }
        (Scalar::Num, Precision::Single) => {
            Data::Num32(raw.map(|raw| f32::from_ne_bytes(array(raw))).collect())
        }
    };
    Value::new(TensorShape::new(&ty.shape), data).expect("as many elements as the shape has")
}

fn array<const N: usize>(raw: &[u8]) -> [u8; N] {
    raw.try_into().expect("elements have their size")
}
