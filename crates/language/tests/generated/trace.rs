//! Traces that respect the inferred clocks.
//!
//! Inputs on one root are present at the same cycles, and an input on a sampled clock is present exactly
//! where its condition holds. Where the condition is unknown, as at the last cycle of a `post`, so is the
//! input.

use eddy_flow::{Flow, VarId};
use eddy_language::clocks::{Clock, Clocks, Root};
use eddy_language::semantics::Cell;
use eddy_language::semantics::denote::Denotation;
use eddy_tensor::{Data, Scalar, Type, Value};

use super::engines::{NoValue, Rows, SEED};
use super::generate::Choices;

/// Whether roots are sometimes inactive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absences {
    Some,
    /// All of them, at the same cycles.
    Together,
    None,
}

/// The cycles at which the roots of another trace are active.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// At any cycles.
    Free,
    /// At the same cycles.
    AsBefore,
    /// All at the same cycles.
    Together,
}

/// The numbers on a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Few round ones: ties are frequent.
    Round,
    /// Many small ones: functions are rarely at a kink.
    Generic,
}

/// A trace under construction.
pub struct Trace<'a> {
    pub numbers: Numbers,
    pub flow: &'a Flow,
    pub clocks: &'a Clocks,
    pub n_cycles: usize,
    /// Inputs on roots are present where they are present in these rows.
    pub like: Option<Rows>,
}

impl Trace<'_> {
    pub fn rows(&self, choices: &mut Choices<'_>, absences: Absences) -> Result<Rows, NoValue> {
        let is_dense = absences == Absences::None || choices.once_in(3);
        let mut values: Vec<Vec<Value>> = Vec::new();
        let mut rows: Rows = Vec::new();
        let mut is_sampled = Vec::new();
        let mut together: Option<Vec<bool>> = None;
        for (number, input) in self.flow.inputs.iter().enumerate() {
            // All cells are drawn, present or not, so that a change of one decision changes little.
            let value = |choices: &mut Choices<'_>| match self.numbers {
                Numbers::Round => value(self.flow, *input, choices),
                Numbers::Generic => generic_value(&self.flow.var(*input).ty, choices),
            };
            values.push((0..self.n_cycles).map(|_| value(choices)).collect());
            let cells = values[number].iter().map(|value| Cell::Value(value.clone()));
            let own = (0..self.n_cycles).map(|_| !choices.once_in(4) || is_dense).collect();
            let presence = match absences {
                Absences::Together => together.get_or_insert(own),
                Absences::Some | Absences::None => &own,
            };
            let owner = match self.clocks.clock(self.clocks.of(*input)) {
                Clock::Root(Root::Input(owner)) => self.flow.inputs.iter().position(|other| *other == owner),
                _ => None,
            };
            is_sampled.push(owner.is_none());
            let like = self.like.as_ref().map(|rows| &rows[number]);
            let first = owner.and_then(|owner| rows.get(owner));
            rows.push(match (owner, like.or(first)) {
                (None, _) => vec![Cell::Unknown; self.n_cycles],
                (Some(_), Some(row)) => {
                    row.iter().zip(cells).map(|(other, cell)| like_cell(other, cell)).collect()
                }
                (Some(_), None) => presence
                    .iter()
                    .zip(cells)
                    .map(|(there, cell)| if *there { cell } else { Cell::Absent })
                    .collect(),
            });
        }
        let cell = |input: usize, cycle: usize, is_active: bool| {
            if is_active { Cell::Value(values[input][cycle].clone()) } else { Cell::Absent }
        };
        self.fill(cell, &is_sampled, &mut rows)?;
        Ok(rows)
    }

    /// Fills inputs on sampled clocks: present where the program computes that their clock is active.
    pub fn fill(
        &self,
        cell: impl Fn(usize, usize, bool) -> Cell,
        is_sampled: &[bool],
        rows: &mut Rows,
    ) -> Result<(), NoValue> {
        loop {
            let mut denotation = Denotation::new(self.flow, self.clocks, rows, self.n_cycles, SEED);
            denotation.solve().map_err(|_| NoValue)?;
            let mut filled = rows.clone();
            for (number, input) in
                self.flow.inputs.iter().enumerate().filter(|(number, _)| is_sampled[*number])
            {
                for (cycle, into) in filled[number].iter_mut().enumerate() {
                    if let (Cell::Unknown, Some(is_active)) = (&*into, denotation.is_active(*input, cycle)) {
                        *into = cell(number, cycle, is_active);
                    }
                }
            }
            if *rows == filled {
                return Ok(());
            }
            *rows = filled;
        }
    }
}

/// Present where another cell is.
fn like_cell(other: &Cell, cell: Cell) -> Cell {
    if *other == Cell::Absent { Cell::Absent } else { cell }
}

/// A small value of the type of an input.
pub fn value(flow: &Flow, input: VarId, choices: &mut Choices<'_>) -> Value {
    let mut number = |choices: &mut Choices<'_>| choices.among(&[0.0, 1.0, 2.0, -1.0, 0.5, 3.0, -2.5]);
    value_of(&flow.var(input).ty, choices, &mut number)
}

/// A value whose numbers are unlikely to coincide with others.
pub fn generic_value(ty: &Type, choices: &mut Choices<'_>) -> Value {
    let mut number = |choices: &mut Choices<'_>| {
        let choice = u16::try_from(choices.below(2048)).expect("it is below 2048");
        let size = 0.3 + 0.000_57 * f64::from(choice);
        if choice % 3 == 2 { -size } else { size }
    };
    value_of(ty, choices, &mut number)
}

fn value_of(ty: &Type, choices: &mut Choices<'_>, number: &mut impl FnMut(&mut Choices<'_>) -> f64) -> Value {
    let n = ty.shape.n_elements().expect("vectors are small");
    let data = match ty.scalar {
        Scalar::Bool => Data::Bool((0..n).map(|_| choices.below(2) == 1).collect()),
        Scalar::Int => Data::Int((0..n).map(|_| choices.among(&[0, 1, 2, -1, 5])).collect()),
        Scalar::Num => Data::Num((0..n).map(|_| number(choices)).collect()),
    };
    Value::new(ty.shape.clone(), data).expect("there are as many elements as the shape has")
}
