//! The first values of inputs, which say what the program does not: their shapes, and whether they are truth
//! values.
//!
//! Rows are read ahead until nothing is open any more, and played when the program is prepared. Until then
//! there is no output, so only those inputs are waited for of which the equations really leave something
//! open: in `o = x when c` the type of `x`, but not that of `c`, which is a condition.

use eddy_flow::VarId;
use eddy_formats::Row;
use eddy_language::elaborate::Draft;
use eddy_language::infer::{Hint, Hints, open_inputs};
use eddy_tensor::Scalar;

use super::columns::Columns;
use crate::listener::{Event, Listener};

/// So many rows are read, at most, in search of first values.
const MAX_PEEKED: usize = 10_000;

/// After so many rows without output, somebody who looks at a terminal begins to wonder.
const MANY: usize = 10;

/// A search for first values.
pub(super) struct Peek<'a> {
    pub draft: &'a Draft,
    pub columns: &'a mut Columns,
    pub listener: &'a dyn Listener,
    /// Whether it was said why there is no output yet.
    pub is_explained: bool,
}

impl Peek<'_> {
    /// Reads ahead until each input of which something is open has shown a value.
    pub fn hints(mut self) -> Hints {
        let draft = self.draft;
        let has_shape =
            |var: VarId| draft.types.iter().any(|written| written.var == var && written.shape.is_some());
        let mut silent: Vec<usize> =
            (0..draft.inputs.len()).filter(|index| !has_shape(draft.inputs[*index])).collect();
        let mut hints = Hints::default();
        // One row is always read: what it says of an input counts, whether or not it is needed.
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

    /// What a row says about an input; whether it says something.
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

    /// Says once why there is no output, if the data are long in coming.
    fn explain(&mut self, awaited: &[usize], n_peeked: usize) {
        if self.is_explained || n_peeked < MANY || !self.columns.is_waiting_ahead() {
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
