//! Rule (5): the dual of a first-order linear map, applied to a literal covector.
//!
//! The walk goes from the result to the variable; each part gets the covectors of its users. Parts have
//! smaller numbers than the terms around them, so taking the largest number first visits a part after all of
//! its users, and a shared part once.

use std::collections::BTreeMap;

use super::literal;
use super::tower::{self, Tower};
use crate::primitive::Undefined;
use crate::syntax::{Term, TermId, Terms, VarId};

/// `Sᵀ c`, if the body is first-order and linear in the variable; `None` if it is not.
pub fn transpose(
    terms: &mut Terms,
    body: TermId,
    var: VarId,
    covector: Vec<f64>,
) -> Result<Option<Vec<f64>>, Undefined> {
    let mut result = vec![0.0; literal::n_leaves(terms, terms.var(var).ty)];
    let mut pending: BTreeMap<TermId, Vec<f64>> = BTreeMap::from([(body, covector)]);
    while let Some((id, c)) = pending.pop_last() {
        let term = terms.term(id);
        match term {
            // v: add c
            Term::Free(found) if found == var => add(&mut result, &c),
            // 0: nothing
            Term::Zero | Term::Real(0.0) => {}
            // π_i s: pad c with zeros, go to s
            Term::Project(path, of) => {
                if !terms.types.is_euclidean(terms.ty(of)) {
                    return Ok(None);
                }
                let range = literal::selected(terms, terms.ty(of), path);
                let n = literal::n_leaves(terms, terms.ty(of));
                let slot = pending.entry(of).or_insert_with(|| vec![0.0; n]);
                add(&mut slot[range], &c);
            }
            // ⟨s,t⟩: split c
            Term::Pair(left, right) => {
                let (first, second) = c.split_at(literal::n_leaves(terms, terms.ty(left)));
                push(&mut pending, left, first.to_vec());
                push(&mut pending, right, second.to_vec());
            }
            // s+t: both
            Term::Add(left, right) => {
                push(&mut pending, left, c.clone());
                push(&mut pending, right, c);
            }
            // (J f·s) r: go to s with J(f)(r)ᵀc; likewise in one direction of a tower
            Term::Apply(function, point) => {
                let (Some(tower), Some(point)) = (Tower::of(terms, function), literal::vector(terms, point))
                else {
                    return Ok(None);
                };
                let is_open = |id: &TermId| literal::vector(terms, *id).is_none();
                let open: Vec<TermId> = tower.directions.iter().copied().filter(is_open).collect();
                let [open] = open[..] else { return Ok(None) };
                let others: Vec<Vec<f64>> =
                    tower.directions.iter().filter_map(|id| literal::vector(terms, *id)).collect();
                let pulled = tower::transposed(&mut terms.primitives, tower.prim, point, &others, &c)?;
                push(&mut pending, open, pulled);
            }
            // k^*@s: go to s with c·k;   (flat s)@r: go to s with c·r
            Term::Contract(left, right) => {
                let scale = |k: Vec<f64>| k.into_iter().map(|k| k * c[0]).collect();
                if let Some(k) = literal::covector(terms, left) {
                    push(&mut pending, right, scale(k));
                } else if let (Term::Flat(of), Some(r)) = (terms.term(left), literal::vector(terms, right)) {
                    push(&mut pending, of, scale(r));
                } else {
                    return Ok(None);
                }
            }
            _ => return Ok(None),
        }
    }
    if result.iter().all(|leaf| leaf.is_finite()) {
        Ok(Some(result))
    } else {
        Err(Undefined::new("a derivative"))
    }
}

fn push(pending: &mut BTreeMap<TermId, Vec<f64>>, id: TermId, c: Vec<f64>) {
    match pending.entry(id) {
        std::collections::btree_map::Entry::Vacant(entry) => {
            entry.insert(c);
        }
        std::collections::btree_map::Entry::Occupied(mut entry) => add(entry.get_mut(), &c),
    }
}

fn add(slot: &mut [f64], c: &[f64]) {
    for (slot, c) in slot.iter_mut().zip(c) {
        *slot += c;
    }
}
