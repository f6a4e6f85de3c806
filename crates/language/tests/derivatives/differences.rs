//! Slopes of an unrolled trace by central differences, which use no derivatives.

use eddy_flow::VarId;
use eddy_language::semantics::Cell;
use eddy_tensor::Value;

use crate::generated::engines::Rows;
use crate::numbers::{elements, with_elements};
use crate::run::Stop;
use crate::unrolled::Unrolled;

/// The distance of the outer points from the middle. The truncation error is about 1e-12 times the fifth
/// derivative, the rounding error about 1e-13 times the value.
const STEP: f64 = 1e-3;

/// The slope at 0 of a function that is given at ± STEP and ± STEP / 2.
fn slope([far_left, left, right, far_right]: [f64; 4]) -> f64 {
    let (far, near) = ((far_right - far_left) / (2.0 * STEP), (right - left) / STEP);
    (4.0 * near - far) / 3.0
}

const POINTS: [f64; 4] = [-STEP, -STEP / 2.0, STEP / 2.0, STEP];

/// The gradient of Σ ⟨w, y⟩, cell by cell, with respect to some given streams.
pub fn gradient(
    unrolled: &Unrolled<'_>,
    (targets, weights): (&[VarId], &Rows),
    sources: &[VarId],
    n_cycles: usize,
) -> Result<Rows, Stop> {
    let mut rows = vec![vec![Cell::Unknown; n_cycles]; sources.len()];
    for (source, row) in sources.iter().zip(&mut rows) {
        for (cycle, step) in unrolled.steps_of(*source) {
            let value = &unrolled.values[step];
            let mut slopes = Vec::new();
            for element in 0..elements(value).len() {
                let mut losses = [0.0; 4];
                for (loss, length) in losses.iter_mut().zip(POINTS) {
                    let mut numbers = elements(value);
                    numbers[element] += length;
                    let values = unrolled.evaluate(&[(step, with_elements(value, numbers))])?;
                    *loss = unrolled.loss(targets, weights, &values);
                }
                slopes.push(slope(losses));
            }
            row[cycle] = Cell::Value(with_elements(value, slopes));
        }
    }
    Ok(rows)
}

/// The derivatives of some streams along a direction of the sources, cell by cell.
pub fn directional(
    unrolled: &Unrolled<'_>,
    (sources, directions): (&[VarId], &Rows),
    targets: &[VarId],
    n_cycles: usize,
) -> Result<Rows, Stop> {
    let mut points: Vec<Vec<Value>> = Vec::new();
    for length in POINTS {
        points.push(unrolled.evaluate(&unrolled.moved(sources, directions, length))?);
    }
    let mut rows = vec![vec![Cell::Unknown; n_cycles]; targets.len()];
    for (target, row) in targets.iter().zip(&mut rows) {
        for (cycle, step) in unrolled.steps_of(*target) {
            let at: Vec<Vec<f64>> = points.iter().map(|values| elements(&values[step])).collect();
            let slopes = (0..at[0].len()).map(|element| slope([0, 1, 2, 3].map(|point| at[point][element])));
            row[cycle] = Cell::Value(with_elements(&unrolled.values[step], slopes.collect()));
        }
    }
    Ok(rows)
}
