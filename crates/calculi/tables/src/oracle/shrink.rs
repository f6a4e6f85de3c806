//! Smaller inputs that still show a difference.
//!
//! Numbers become 0, 1 or rounder; elements of tensors one by one; a function loses entries, undemanded ones
//! first.

use std::rc::Rc;

use super::{Datum, FiniteTable};

/// The maximal number of inputs to try.
const MAX_TRIES: usize = 2000;

/// The smallest input found for which `is_so` still holds.
pub fn shrink(input: &Datum, is_so: &dyn Fn(&Datum) -> bool) -> Datum {
    let (mut best, mut tries) = (input.clone(), 0);
    'again: loop {
        for candidate in smaller(&best) {
            tries += 1;
            if tries > MAX_TRIES {
                return best;
            }
            if is_so(&candidate) {
                best = candidate;
                continue 'again;
            }
        }
        return best;
    }
}

/// Inputs that are a little smaller, the smallest first.
fn smaller(input: &Datum) -> Vec<Datum> {
    match input {
        Datum::Int(n) => {
            let candidates = [0, 1, -1, n / 2];
            candidates
                .into_iter()
                .filter(|other| other.unsigned_abs() < n.unsigned_abs())
                .map(Datum::Int)
                .collect()
        }
        Datum::Bool(truth) => {
            if *truth {
                vec![Datum::Bool(false)]
            } else {
                Vec::new()
            }
        }
        Datum::Real(x) => smaller_reals(*x).into_iter().map(Datum::Real).collect(),
        Datum::Tensor(shape, elements) => {
            let mut all = Vec::new();
            if elements.iter().any(|element| element.to_bits() != 0) {
                all.push(Datum::Tensor(shape.clone(), vec![0.0; elements.len()]));
            }
            for (at, element) in elements.iter().enumerate() {
                for other in smaller_reals(*element) {
                    let mut changed = elements.clone();
                    changed[at] = other;
                    all.push(Datum::Tensor(shape.clone(), changed));
                }
            }
            all
        }
        Datum::Tuple(items) => replaced(items, smaller).into_iter().map(Datum::Tuple).collect(),
        Datum::Function(table) => smaller_tables(table),
    }
}

/// 0, then 1 and −1, then rounder numbers; NaN stays, or is replaced by a number.
fn smaller_reals(x: f64) -> Vec<f64> {
    let rank = |x: f64| match x {
        _ if x.to_bits() == 0 => 0,
        _ if x == 1.0 => 1,
        _ if x.abs() == 1.0 => 2,
        _ if x == 0.0 => 3,
        _ if x.is_finite() && x.fract() == 0.0 && x.abs() < 1e6 => 4,
        _ if x.is_finite() => 5,
        _ if x == f64::INFINITY => 6,
        _ => 7,
    };
    let candidates = [0.0, 1.0, -1.0, x.trunc(), x / 2.0, f64::INFINITY];
    let is_smaller = |other: &f64| {
        rank(*other) < rank(x) || rank(*other) == rank(x) && other.is_finite() && other.abs() < x.abs()
    };
    candidates.into_iter().filter(is_smaller).collect()
}

/// The demanded part of a table, then tables with one entry less, then with smaller ones.
fn smaller_tables(table: &FiniteTable) -> Vec<Datum> {
    let function = |entries| Datum::Function(Rc::new(FiniteTable::new(entries)));
    let mut all = Vec::new();
    let demanded = table.demanded();
    if demanded.entries.len() < table.entries.len() {
        all.push(function(demanded.entries));
    }
    for at in 0..table.entries.len() {
        let mut fewer = table.entries.clone();
        fewer.remove(at);
        all.push(function(fewer));
    }
    for at in 0..table.entries.len() {
        for output in smaller(&table.entries[at].1) {
            let mut changed = table.entries.clone();
            changed[at].1 = output;
            all.push(function(changed));
        }
    }
    all
}

/// Lists in which one item is smaller.
fn replaced(items: &[Datum], smaller: impl Fn(&Datum) -> Vec<Datum>) -> Vec<Vec<Datum>> {
    let mut all = Vec::new();
    for (at, item) in items.iter().enumerate() {
        for other in smaller(item) {
            let mut changed = items.to_vec();
            changed[at] = other;
            all.push(changed);
        }
    }
    all
}
