//! Places of tensors: `a[i, lo..hi]`, gather, `a with [i] = e` (functions.md, section 3).

use eddy_body::ir::{At, Elem, Kind};
use eddy_syntax::Span;

use super::errors::{Refused, shape_error};
use super::expression::tensor;
use super::lowering::Lowering;
use super::sizes::Form as Size;
use super::value::{Leaf, Val};
use crate::tree::{Index, UpdateKind};

/// Selectors, and the sizes of the selected elements.
type Selected = (Vec<At>, Vec<Option<Size>>);

impl Lowering<'_> {
    pub fn place(&mut self, indices: &[Index], n_parts: usize, at: Span) -> Result<(), Refused> {
        let mut parts = self.pop_n(n_parts);
        let array = parts.remove(0);
        let Some(array) = tensor(array, at)? else {
            self.push(Val::Unknown);
            return Ok(());
        };
        let Some((selectors, sizes)) = self.select(&array, indices, parts, at)? else {
            self.push(Val::Unknown);
            return Ok(());
        };
        let var = self.here().var("");
        self.here().emit(vec![var], Kind::Index(array.var, selectors), at);
        self.push(Val::Leaf(Leaf { var, kind: array.kind, sizes, form: None }));
        Ok(())
    }

    pub fn update(
        &mut self,
        indices: &[Index],
        kind: UpdateKind,
        n_parts: usize,
        at: Span,
    ) -> Result<(), Refused> {
        let mut parts = self.pop_n(n_parts);
        let array = parts.remove(0);
        let new = parts.pop().expect("an update has a new value");
        let (array, new) = (tensor(array, at)?, tensor(new, at)?);
        let (Some(array), Some(new)) = (array, new) else {
            self.push(Val::Unknown);
            return Ok(());
        };
        let Some((selectors, sizes)) = self.select(&array, indices, parts, at)? else {
            self.push(Val::Unknown);
            return Ok(());
        };
        self.unify(array.kind, new.kind, at)?;
        if kind == UpdateKind::Add {
            self.demand_numeric(&array, at)?;
        }
        if new.rank() != sizes.len() {
            let text = format!("the new value has {} axes, its place {}", new.rank(), sizes.len());
            return Err(shape_error(at, text));
        }
        for (place, size) in sizes.iter().zip(&new.sizes) {
            if let (Some(place), Some(size)) = (place, size)
                && place.certainly_differs(size)
            {
                return Err(shape_error(at, "the new value has another size than its place"));
            }
        }
        let var = self.here().var("");
        let statement = match kind {
            UpdateKind::Replace => Kind::Update(array.var, selectors, new.var),
            UpdateKind::Add => Kind::Increase(array.var, selectors, new.var),
        };
        self.here().emit(vec![var], statement, at);
        self.push(Val::Leaf(Leaf { var, form: None, ..array }));
        Ok(())
    }

    fn select(
        &mut self,
        array: &Leaf,
        indices: &[Index],
        parts: Vec<Val>,
        at: Span,
    ) -> Result<Option<Selected>, Refused> {
        if indices.len() > array.rank() {
            let text = format!("{} indices for a tensor of {} axes", indices.len(), array.rank());
            return Err(shape_error(at, text));
        }
        let mut parts = parts.into_iter();
        let (mut selectors, mut sizes) = (Vec::new(), Vec::new());
        for (axis, index) in indices.iter().enumerate() {
            match index {
                Index::At => {
                    let part = parts.next().expect("an index has a part");
                    let Some(leaf) = tensor(part, at)? else { return Ok(None) };
                    self.demand(&leaf, Elem::Int, at)?;
                    if leaf.rank() > 0 && indices.len() > 1 {
                        return Err(shape_error(at, "an int tensor must be the only index"));
                    }
                    sizes.extend(leaf.sizes);
                    selectors.push(At::Int(leaf.var));
                }
                Index::Range { has_lower: false, has_upper: false } => {
                    selectors.push(At::All);
                    sizes.push(array.sizes[axis].clone());
                }
                Index::Range { has_lower, has_upper } => {
                    let mut bound =
                        |lowering: &mut Self, is_written: bool| -> Result<Option<Leaf>, Refused> {
                            if !is_written {
                                return Ok(None);
                            }
                            let part = parts.next().expect("a bound has a part");
                            lowering.scalar(part, Elem::Int, "a bound", at)
                        };
                    let (lower, upper) = (bound(self, *has_lower)?, bound(self, *has_upper)?);
                    if (*has_lower && lower.is_none()) || (*has_upper && upper.is_none()) {
                        return Ok(None);
                    }
                    let lower = lower.unwrap_or_else(|| self.here().int(0, at));
                    let upper = upper.unwrap_or_else(|| self.here().size(array, axis, at));
                    selectors.push(At::Range(lower.var, upper.var));
                    let forms = upper.form.as_ref().zip(lower.form.as_ref());
                    sizes.push(forms.and_then(|(upper, lower)| upper.subtract(lower)));
                }
            }
        }
        sizes.extend(array.sizes[indices.len()..].iter().cloned());
        Ok(Some((selectors, sizes)))
    }
}
