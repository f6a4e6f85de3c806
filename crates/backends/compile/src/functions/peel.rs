//! Iterations that are written apart from the others, and what an iteration does.
//!
//! ```text
//! r = each i < n { c = eq(i, zero)  y = if c { .. } { .. } .. }       if (n > 0) { .. }
//!                                                                     for (i = 1; i < n; i++) { .. }
//! ```

use eddy_body::{Control, Kind, Loop, Operation, Region, Stmt};
use eddy_tensor::{Op, Value};

use super::body::{Emitter, Repr, int_literal};
use super::facts::Interval;
use super::loops::Rows;

impl Emitter<'_, '_> {
    /// Emits the first iteration of a loop without states.
    pub(super) fn peeled(
        &mut self,
        repeat: &Loop,
        rows: &[Rows],
        [low, high]: [&str; 2],
        (uses_low, uses_high): (bool, bool),
    ) {
        let Some((index, count)) = repeat.counter() else { return };
        let (facts, at) = (self.facts.clone(), self.at.clone());
        let count = self.scalar(count);
        self.text.open(&format!("if ({count} > 0)"));
        self.set(index, Repr::Scalar(int_literal(0)));
        self.facts.set_interval(index, Interval::of(0));
        self.facts.set_below(index, &count);
        self.region(&repeat.body);
        self.at.clone_from(&at);
        self.collect(repeat, rows, &int_literal(0));
        if uses_low {
            self.line(&format!("a->low = {low};"));
        }
        if uses_high {
            self.line(&format!("a->high = {high};"));
        }
        self.text.close();
        self.facts = facts;
    }
}

/// Whether the first iteration of a loop is written apart from the others: it chooses by whether the index
/// is 0, and does nothing but arithmetic, so that the others become vectors.
pub(super) fn peels(repeat: &Loop) -> bool {
    let Control::Each { index, .. } = repeat.control else { return false };
    let is_plain = |region: &Region| {
        let is_plain = |stmt: &Stmt| {
            matches!(stmt.kind, Kind::Const(_) | Kind::Op(..) | Kind::Index(..) | Kind::Add(..))
        };
        region.stmts.iter().all(is_plain)
    };
    let mut zeros = Vec::new();
    let mut tests = Vec::new();
    let mut found = false;
    for stmt in &repeat.body.stmts {
        match &stmt.kind {
            Kind::Const(literal) if *literal.value == Value::Int(0) => zeros.push(stmt.results[0]),
            Kind::Op(Operation::Table(Op::Eq | Op::Ne | Op::Gt | Op::Lt), operands)
                if operands.contains(&index) && operands.iter().any(|var| zeros.contains(var)) =>
            {
                tests.push(stmt.results[0]);
            }
            Kind::Const(_) | Kind::Op(..) | Kind::Index(..) | Kind::Add(..) => {}
            Kind::If(condition, yes, no) if tests.contains(condition) && is_plain(yes) && is_plain(no) => {
                found = true;
            }
            _ => return false,
        }
    }
    found
}

/// Whether an iteration uses fuel beyond its own unit.
pub(super) fn burns(region: &Region) -> bool {
    region.stmts.iter().any(|stmt| match &stmt.kind {
        Kind::Call(..) | Kind::Loop(_) => true,
        Kind::If(_, yes, no) => burns(yes) || burns(no),
        _ => false,
    })
}

/// Whether the iterations are independent and have no choices; the order of sums is kept. A remaining check
/// prevents vectorisation, but then the only cost is somewhat more code.
pub(super) fn vectorises(repeat: &Loop) -> bool {
    let is_plain =
        |stmt: &Stmt| matches!(stmt.kind, Kind::Const(_) | Kind::Op(..) | Kind::Index(..) | Kind::Add(..));
    matches!(repeat.control, Control::Each { .. }) && repeat.body.stmts.iter().all(is_plain)
}
