//! Comparison of derivatives: numbers up to a tolerance, cells up to unknown ones.

use std::mem::discriminant;

use eddy_language::semantics::Cell;
use eddy_tensor::{Data, Value};

use crate::generated::compare::show;

/// The tolerance between engines that compute the same sums in a different order.
pub const EXACT: f64 = 1e-9;
/// The tolerance against central differences of values.
pub const DIFFERENCES: f64 = 1e-6;

/// The elements of a value; empty if they are not numbers.
pub fn elements(value: &Value) -> Vec<f64> {
    match value {
        Value::Num(number) => vec![*number],
        Value::Tensor(tensor) => match tensor.data() {
            Data::Num(numbers) => numbers.clone(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// A value of the same shape with these numbers.
pub fn with_elements(like: &Value, elements: Vec<f64>) -> Value {
    Value::new(like.shape().clone(), Data::Num(elements)).expect("there are as many elements")
}

pub fn dot(left: &Value, right: &Value) -> f64 {
    elements(left).iter().zip(elements(right)).map(|(left, right)| left * right).sum()
}

/// The sum of products over all cells that are known in both.
pub fn dot_rows(left: &[Vec<Cell>], right: &[Vec<Cell>]) -> f64 {
    let cells = left.iter().flatten().zip(right.iter().flatten());
    cells.filter_map(|(left, right)| Some(dot(left.value()?, right.value()?))).sum()
}

/// Whether two numbers are equal up to a tolerance, relative to their magnitude if that is more than 1.
pub fn are_close(left: f64, right: f64, tolerance: f64) -> bool {
    (left - right).abs() <= tolerance * (1.0 + left.abs().max(right.abs()))
}

/// Whether two cells are equal where both are known.
pub fn agrees(left: &Cell, right: &Cell, tolerance: f64) -> bool {
    match (left, right) {
        (Cell::Value(left), Cell::Value(right)) => {
            let (left, right) = (elements(left), elements(right));
            left.len() == right.len()
                && left.iter().zip(&right).all(|(left, right)| are_close(*left, *right, tolerance))
        }
        (Cell::Error, _) | (_, Cell::Error) => false,
        (Cell::Unknown, _) | (_, Cell::Unknown) => true,
        (Cell::Present, right) => right.is_present(),
        (left, Cell::Present) => left.is_present(),
        (left, right) => left == right,
    }
}

/// Rows are equal where both are known.
pub fn same_rows(
    (left_name, left): (&str, &[Vec<Cell>]),
    (right_name, right): (&str, &[Vec<Cell>]),
    tolerance: f64,
) -> Result<(), String> {
    if left.len() != right.len() {
        return Err(format!("{left_name} has {} rows, {right_name} {}", left.len(), right.len()));
    }
    for (number, (left, right)) in left.iter().zip(right).enumerate() {
        if !left.iter().zip(right).all(|(left, right)| agrees(left, right, tolerance)) {
            let (left, right) = (show(left), show(right));
            return Err(format!("row {number}\n  {left_name}: {left}\n  {right_name}: {right}"));
        }
    }
    Ok(())
}

/// Rows are equal, including which cells are known.
pub fn same_cells(
    (left_name, left): (&str, &[Vec<Cell>]),
    (right_name, right): (&str, &[Vec<Cell>]),
    tolerance: f64,
) -> Result<(), String> {
    same_rows((left_name, left), (right_name, right), tolerance)?;
    for (number, (left, right)) in left.iter().zip(right).enumerate() {
        if !left.iter().map(discriminant).eq(right.iter().map(discriminant)) {
            let (left, right) = (show(left), show(right));
            return Err(format!(
                "row {number} is known elsewhere\n  {left_name}: {left}\n  {right_name}: {right}"
            ));
        }
    }
    Ok(())
}
