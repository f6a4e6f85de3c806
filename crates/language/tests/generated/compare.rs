//! Comparison of rows of cells: equality, and the order of knowledge.

use eddy_flow::{Flow, Labels, VarId};
use eddy_language::semantics::Cell;

use super::engines::Rows;

/// Whether one cell is at most as defined as another: ⊥ ≤ □, ⊥ ≤ ? ≤ v, all ≤ ✗.
pub fn is_below(low: &Cell, high: &Cell) -> bool {
    match (low, high) {
        (Cell::Unknown, _) | (_, Cell::Error) => true,
        (Cell::Present, Cell::Present | Cell::Value(_)) => true,
        _ => low == high,
    }
}

/// Each stream has the same cells in both.
pub fn same(flow: &Flow, left: (&str, &Rows), right: (&str, &Rows)) -> Result<(), String> {
    compare(flow, left, right, |left, right| left == right)
}

/// Each stream on the left is at most as defined as on the right, up to the length of the left.
pub fn below(flow: &Flow, left: (&str, &Rows), right: (&str, &Rows)) -> Result<(), String> {
    compare(flow, left, right, is_below)
}

fn compare(
    flow: &Flow,
    (left_name, left): (&str, &Rows),
    (right_name, right): (&str, &Rows),
    is_right: impl Fn(&Cell, &Cell) -> bool,
) -> Result<(), String> {
    for var in flow.var_ids() {
        let (low, high) = (&left[var.index()], &right[var.index()]);
        if !low.iter().zip(high).all(|(low, high)| is_right(low, high)) {
            let label = label(flow, var);
            return Err(format!("`{label}`\n  {left_name}: {}\n  {right_name}: {}", show(low), show(high)));
        }
    }
    Ok(())
}

pub fn without_error(flow: &Flow, name: &str, rows: &Rows) -> Result<(), String> {
    match flow.var_ids().find(|var| rows[var.index()].contains(&Cell::Error)) {
        None => Ok(()),
        Some(var) => Err(format!("`{}` in {name}: {}", label(flow, var), show(&rows[var.index()]))),
    }
}

pub fn label(flow: &Flow, var: VarId) -> String {
    Labels::new(flow.vars.iter().map(|var| var.name.as_ref()), &flow.equations).label(var)
}

/// Cells as tables show them.
pub fn show(row: &[Cell]) -> String {
    row.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}
