//! Differences between compiled code and the simulator, in words.

use eddy_language::semantics::Cell;
use eddy_tensor::Value;

use super::{EngineError, EngineInput};

/// One difference between compiled code and the simulator.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The stream that differs, such as "`y`".
    pub what: String,
    /// The cycle; for state, the last one.
    pub cycle: usize,
    /// The value in compiled code.
    pub compiled: String,
    /// The value in the simulator.
    pub simulated: String,
    /// The inputs at the cycles that both engines ran.
    pub inputs: Vec<Vec<Cell>>,
}

impl Difference {
    pub(super) fn of_rows(
        source: EngineInput<'_>,
        cycle: usize,
        compiled: &[Cell],
        simulated: &[Cell],
        inputs: &[Vec<Cell>],
    ) -> Difference {
        let output = compiled.iter().zip(simulated).position(|(compiled, simulated)| compiled != simulated);
        let output = output.expect("the rows differ");
        let name = source.flow.var(source.shown[output]).name.as_deref();
        let what = name.map_or_else(|| format!("output {}", output + 1), |name| format!("`{name}`"));
        Difference::of_cells(what, cycle, &compiled[output], &simulated[output], inputs)
    }

    pub(super) fn of_memory(
        name: &str,
        compiled: &Cell,
        simulated: &Cell,
        inputs: &[Vec<Cell>],
    ) -> Difference {
        let what = format!("what is learnt in `{name}`");
        Difference::of_cells(what, inputs.len().saturating_sub(1), compiled, simulated, inputs)
    }

    pub(super) fn of_length(compiled: usize, simulated: usize, inputs: &[Vec<Cell>]) -> Difference {
        Difference {
            what: "the number of rows".to_string(),
            cycle: inputs.len().saturating_sub(1),
            compiled: compiled.to_string(),
            simulated: simulated.to_string(),
            inputs: inputs.to_vec(),
        }
    }

    pub(super) fn of_endings(
        source: EngineInput<'_>,
        compiled: Option<&EngineError>,
        simulated: Option<&EngineError>,
        inputs: &[Vec<Cell>],
    ) -> Difference {
        let ending = |failure: Option<&EngineError>| match failure {
            Some(failure) => format!("the error \"{}\"", failure.diagnostic(source.flow).title),
            None => "no error".to_string(),
        };
        Difference {
            what: "whether the program has a value".to_string(),
            cycle: inputs.len().saturating_sub(1),
            compiled: ending(compiled),
            simulated: ending(simulated),
            inputs: inputs.to_vec(),
        }
    }

    fn of_cells(
        what: String,
        cycle: usize,
        compiled: &Cell,
        simulated: &Cell,
        inputs: &[Vec<Cell>],
    ) -> Difference {
        let inputs = inputs.to_vec();
        if let (Cell::Value(left), Cell::Value(right)) = (compiled, simulated)
            && left.ty() == right.ty()
            && let Some((index, left, right)) = first_difference(left, right)
        {
            let what = if simulated.value().is_some_and(|value| value.shape().is_empty()) {
                what
            } else {
                format!("element {index} of {what}")
            };
            return Difference { what, cycle, compiled: exactly(&left), simulated: exactly(&right), inputs };
        }
        Difference { what, cycle, compiled: described(compiled), simulated: described(simulated), inputs }
    }
}

/// The first element that differs.
fn first_difference(left: &Value, right: &Value) -> Option<(usize, Value, Value)> {
    let pairs = left.elements().zip(right.elements()).enumerate();
    let mut different = pairs.filter(|(_, (left, right))| left != right);
    different.next().map(|(index, (left, right))| (index, left, right))
}

fn described(cell: &Cell) -> String {
    match cell {
        Cell::Absent => "absent".to_string(),
        Cell::Unknown | Cell::Present => "unknown".to_string(),
        Cell::Error => "contradictory".to_string(),
        Cell::Value(value) => exactly(value),
    }
}

/// The text of a value. Different values have different texts: zeros have signs.
fn exactly(value: &Value) -> String {
    match value {
        Value::Num(x) => format!("{x:?}"),
        Value::Num32(x) => format!("{x:?}"),
        other => other.to_string(),
    }
}
