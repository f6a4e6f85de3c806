//! Peeks at the first values of inputs, which determine what the program leaves open: their shapes, and
//! whether they are booleans.
//!
//! Rows are read ahead until nothing is open, and replayed when the program is prepared. There is no output
//! until then, so the search waits only for inputs whose types the equations leave open: in `o = x when c`
//! the type of `x` is open, but not that of `c`, which is a condition.

use eddy_flow::VarId;
use eddy_formats::Row;
use eddy_language::elaborate::Draft;
use eddy_language::infer::{Hint, Hints, open_inputs};
use eddy_tensor::Scalar;

use super::columns::Columns;
use crate::listener::{Event, Listener};

/// The largest number of rows to read in search of first values.
const MAX_PEEKED: usize = 10_000;

/// After this many rows without output, a note explains the delay to the user.
const ROWS_BEFORE_NOTE: usize = 10;

/// A search for first values.
pub(super) struct Peek<'a> {
    pub draft: &'a Draft,
    pub columns: &'a mut Columns,
    pub listener: &'a dyn Listener,
    /// Whether the note was given.
    pub is_explained: bool,
}

impl Peek<'_> {
    /// Reads ahead until each input with an open type has shown a value.
    pub fn hints(mut self) -> Hints {
        let draft = self.draft;
        let has_shape =
            |var: VarId| draft.types.iter().any(|written| written.var == var && written.shape.is_some());
        let mut silent: Vec<usize> =
            (0..draft.inputs.len()).filter(|index| !has_shape(draft.inputs[*index])).collect();
        let mut hints = Hints::default();
        // One row is always read: its values count even for inputs that need no hint.
        let mut awaited = silent.clone();
        let mut n_peeked = 0;
        while !awaited.is_empty() && n_peeked < MAX_PEEKED {
            self.explain(&awaited, n_peeked);
            let Some(row) = self.columns.look_ahead(&awaited) else { break };
            let n_before = hints.shapes.len();
            silent.retain(|index| !self.learn(*index, &row, &mut hints));
            if hints.shapes.len() > n_before || n_peeked == 0 {
                let open = open_inputs(draft, &hints);
                awaited = silent.clone();
                awaited.retain(|index| open.contains(&draft.inputs[*index]));
            }
            n_peeked += 1;
        }
        hints
    }

    /// Adds what a row determines about an input to the hints; returns whether it determined anything.
    fn learn(&self, index: usize, row: &Row, hints: &mut Hints) -> bool {
        let raw = &row.cells[index];
        if !raw.is_value() {
            return false;
        }
        let input = self.draft.inputs[index];
        let span = self.draft.vars[input.index()].span;
        hints.shapes.push(Hint { input, says: raw.outline().0, span });
        hints.scalars.extend(raw.is_bool().then_some(Hint { input, says: Scalar::Bool, span }));
        true
    }

    /// Gives the note once, if the data arrive slowly.
    fn explain(&mut self, awaited: &[usize], n_peeked: usize) {
        if self.is_explained || n_peeked < ROWS_BEFORE_NOTE || !self.columns.is_waiting_ahead() {
            return;
        }
        self.is_explained = true;
        let name = |index: &usize| self.draft.vars[self.draft.inputs[*index].index()].name.as_deref();
        let Some(name) = awaited.first().and_then(name) else { return };
        self.listener.hear(Event::Remark(format!(
            "there is no output before the first value of `{name}`, which decides its type; write the type, such as \
             `{name}:num []`, to start at once"
        )));
    }
}
