//! The memory of a running program: arrays by name, whose elements are uninitialised until they are written.

use rustc_hash::FxHashMap;

use super::InterpreterError;
use crate::layout::Struct;
use crate::name::Name;
use crate::program::Program;
use crate::types::{Precision, Type};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// In single precision, a number that has this precision.
    Num(f64),
    /// An integer of the language.
    Int(i64),
    Bool(bool),
    /// A size, a cycle, an offset or a status.
    Count(i64),
}

impl Value {
    /// False if it is not a truth value.
    pub fn truth(self) -> bool {
        matches!(self, Value::Bool(true))
    }

    pub fn count(self) -> i64 {
        match self {
            Value::Count(n) | Value::Int(n) => n,
            Value::Bool(truth) => truth.into(),
            Value::Num(_) => 0,
        }
    }

    pub fn num(self) -> f64 {
        match self {
            Value::Num(x) => x,
            _ => f64::NAN,
        }
    }

    pub(super) fn zero(ty: Type) -> Value {
        match ty {
            Type::Num => Value::Num(0.0),
            Type::Int => Value::Int(0),
            Type::Bool => Value::Bool(false),
            Type::Size | Type::Cycle | Type::Offset | Type::Status => Value::Count(0),
        }
    }

    pub(super) fn as_type(self, ty: Type) -> Value {
        match (self, ty) {
            (Value::Count(n), Type::Int) => Value::Int(n),
            (value, _) => value,
        }
    }
}

/// Identifies an array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Array {
    State(Name),
    In(Name),
    Out(usize, Name),
    Table(Name),
    Shared(Name),
    Local(usize),
}

struct Cells {
    dimensions: Vec<usize>,
    values: Vec<Option<Value>>,
}

impl Cells {
    fn new(dimensions: Vec<usize>) -> Cells {
        let n = dimensions.iter().map(|n| (*n).max(1)).product();
        Cells { dimensions, values: vec![None; n] }
    }
}

pub struct Memory {
    arrays: FxHashMap<Array, Cells>,
    n_local: usize,
    pub(super) precision: Precision,
}

impl Memory {
    pub(super) fn new(program: &Program, n_outputs: usize) -> Memory {
        let mut memory = Memory { arrays: FxHashMap::default(), n_local: 0, precision: program.precision };
        memory.add(&program.state, Array::State);
        memory.add(&program.input, Array::In);
        for row in 0..n_outputs {
            memory.add(&program.output, |name| Array::Out(row, name));
        }
        for procedure in &program.procedures {
            memory.add(&procedure.shared, Array::Shared);
        }
        for table in &program.tables {
            let literal = |expr: &crate::Expr| match expr {
                crate::Expr::Num(x) => Some(Value::Num(memory.rounded(x.get()))),
                crate::Expr::Int(x) => Some(Value::Int(*x)),
                crate::Expr::Bool(truth) => Some(Value::Bool(*truth)),
                _ => None,
            };
            let values: Vec<Option<Value>> = table.elements.iter().map(literal).collect();
            let cells = Cells { dimensions: vec![values.len()], values };
            memory.arrays.insert(Array::Table(table.name.clone()), cells);
        }
        memory
    }

    fn add(&mut self, fields: &Struct, array: impl Fn(Name) -> Array) {
        for field in &fields.fields {
            self.arrays.insert(array(field.name.clone()), Cells::new(field.dimensions.clone()));
        }
    }

    /// Rounds to the precision of the program.
    #[allow(clippy::cast_possible_truncation, reason = "rounding is what single precision means")]
    pub(super) fn rounded(&self, x: f64) -> f64 {
        match self.precision {
            Precision::Double => x,
            Precision::Single => f64::from(x as f32),
        }
    }

    /// Sets all uninitialised elements to zero, as hosts do with the state before a program starts.
    pub fn clear(&mut self, program: &Program) {
        let fields = program.state.fields.iter().map(|field| (Array::State(field.name.clone()), field.ty));
        let n_outputs = self.arrays.keys().filter_map(|array| match array {
            Array::Out(row, _) => Some(row + 1),
            _ => None,
        });
        let rows = 0..n_outputs.max().unwrap_or(0);
        let outputs = rows.flat_map(|row| {
            let of = move |name: &Name| Array::Out(row, name.clone());
            program.output.fields.iter().map(move |field| (of(&field.name), field.ty))
        });
        let inputs = program.input.fields.iter().map(|field| (Array::In(field.name.clone()), field.ty));
        for (array, ty) in fields.chain(inputs).chain(outputs) {
            if let Some(cells) = self.arrays.get_mut(&array) {
                for cell in &mut cells.values {
                    cell.get_or_insert(Value::zero(ty));
                }
            }
        }
    }

    /// Sets all elements of a field of the state, in row-major order.
    pub fn set_state(
        &mut self,
        name: &str,
        values: impl IntoIterator<Item = Value>,
    ) -> Result<(), InterpreterError> {
        self.fill(&Array::State(name.into()), values)
    }

    /// Sets all elements of a field of the input.
    pub fn set_input(
        &mut self,
        name: &str,
        values: impl IntoIterator<Item = Value>,
    ) -> Result<(), InterpreterError> {
        self.fill(&Array::In(name.into()), values)
    }

    fn fill(
        &mut self,
        array: &Array,
        values: impl IntoIterator<Item = Value>,
    ) -> Result<(), InterpreterError> {
        let values: Vec<Value> = values.into_iter().map(|value| self.normal(value)).collect();
        let cells = self.cells_mut(array)?;
        for (cell, value) in cells.values.iter_mut().zip(values) {
            *cell = Some(value);
        }
        Ok(())
    }

    pub(super) fn normal(&self, value: Value) -> Value {
        match value {
            Value::Num(x) => Value::Num(self.rounded(x)),
            value => value,
        }
    }

    /// The elements of a field of the state; `None` for uninitialised ones.
    pub fn state(&self, name: &str) -> Option<&[Option<Value>]> {
        Some(&self.arrays.get(&Array::State(name.into()))?.values)
    }

    /// The elements of a field of an output.
    pub fn output(&self, row: usize, name: &str) -> Option<&[Option<Value>]> {
        Some(&self.arrays.get(&Array::Out(row, name.into()))?.values)
    }

    pub(super) fn local(&mut self, _: Type, dimensions: Vec<usize>) -> usize {
        let number = self.n_local;
        self.n_local += 1;
        self.arrays.insert(Array::Local(number), Cells::new(dimensions));
        number
    }

    pub(super) fn n_local(&self) -> usize {
        self.n_local
    }

    /// Drops the local arrays of a block that has ended.
    pub(super) fn drop_local(&mut self, n: usize) {
        for number in n..self.n_local {
            self.arrays.remove(&Array::Local(number));
        }
        self.n_local = n;
    }

    fn cells(&self, array: &Array) -> Result<&Cells, InterpreterError> {
        self.arrays.get(array).ok_or_else(|| InterpreterError(format!("there is no {array:?}")))
    }

    fn cells_mut(&mut self, array: &Array) -> Result<&mut Cells, InterpreterError> {
        self.arrays.get_mut(array).ok_or_else(|| InterpreterError(format!("there is no {array:?}")))
    }

    /// The offset of the element at some indices; a part of an array has one index, relative to its start.
    pub(super) fn offset(
        &self,
        array: &Array,
        indices: &[i64],
        start: usize,
        is_part: bool,
    ) -> Result<usize, InterpreterError> {
        let cells = self.cells(array)?;
        let out_of_range = |index: i64| InterpreterError(format!("{index} is out of range"));
        if is_part {
            let index = indices.first().copied().unwrap_or(0);
            let at = i64::try_from(start).ok().and_then(|start| start.checked_add(index));
            return at.and_then(|at| usize::try_from(at).ok()).ok_or_else(|| out_of_range(index));
        }
        let mut at = 0;
        for (axis, size) in cells.dimensions.iter().enumerate() {
            let index = indices.get(axis).copied().unwrap_or(0);
            let place = usize::try_from(index).ok().filter(|place| place < size);
            at = at * size + place.ok_or_else(|| out_of_range(index))?;
        }
        Ok(start + at)
    }

    pub(super) fn read(&self, array: &Array, at: usize) -> Result<Value, InterpreterError> {
        match self.cells(array)?.values.get(at) {
            Some(Some(value)) => Ok(*value),
            Some(None) => Err(InterpreterError(format!("{array:?} is read at {at}, before it is written"))),
            None => Err(InterpreterError(format!("{array:?} is read at {at}, beyond its end"))),
        }
    }

    pub(super) fn write(&mut self, array: &Array, at: usize, value: Value) -> Result<(), InterpreterError> {
        match self.cells_mut(array)?.values.get_mut(at) {
            Some(cell) => {
                *cell = Some(value);
                Ok(())
            }
            None => Err(InterpreterError(format!("{array:?} is written at {at}, beyond its end"))),
        }
    }
}
