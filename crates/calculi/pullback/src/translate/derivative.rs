//! The derivative of a term in a variable, along another variable (section 7): `∂y = d`, `∂z = 0`, and
//!
//! ```text
//! ∂(s t) = (∂s) t + D(s; t; ∂t)
//! ∂D^k(s;a;v⃗) = D^k(∂s;a;v⃗) + Σ_i D^k(s;a;v⃗[i:=∂v_i]) + D^{k+1}(s;a;v⃗,∂a)
//! ```
//!
//! The last clause keeps the (k+1) form: rewriting it as the derivative of `λa.D(s;a;v)` would not end. Zeros
//! are left out as they arise, so a term without the variable costs nothing.

use rustc_hash::FxHashMap;

use super::term::{Form, LTerm, LTerms, LVar};

/// `∂term` in `y` along `d`; `None` if it is zero.
pub fn derive(terms: &mut LTerms, term: LTerm, y: LVar, d: LVar) -> Option<LTerm> {
    let mut memo: FxHashMap<LTerm, Option<LTerm>> = FxHashMap::default();
    // The derivative of a variable that `let` binds is itself a variable, bound next to it.
    let mut tangents: FxHashMap<LVar, LVar> = FxHashMap::from_iter([(y, d)]);
    let mut work = vec![(term, false)];
    while let Some((id, is_ready)) = work.pop() {
        if memo.contains_key(&id) {
            continue;
        }
        if !is_ready {
            work.push((id, true));
            if let Form::Let(x, bound, body) = *terms.form(id) {
                // The derivative of the body refers to the derivative of the bound term by name, even if the
                // latter is zero. A term and its derivative may both bind this variable; they share parts, so
                // they use the same name.
                tangents.entry(x).or_insert_with(|| terms.fresh());
                work.extend([(body, false), (bound, false)]);
            } else {
                work.extend(terms.children(id).into_iter().map(|child| (child, false)));
            }
            continue;
        }
        let derived = clause(terms, id, &memo, &tangents);
        memo.insert(id, derived);
    }
    memo[&term]
}

fn clause(
    terms: &mut LTerms,
    id: LTerm,
    memo: &FxHashMap<LTerm, Option<LTerm>>,
    tangents: &FxHashMap<LVar, LVar>,
) -> Option<LTerm> {
    let of = |id: &LTerm| memo[id];
    match terms.form(id).clone() {
        Form::Real(_) | Form::Zero => None,
        Form::Var(x) => tangents.get(&x).map(|dx| terms.var(*dx)),
        Form::Lambda(x, body) => of(&body).map(|body| terms.push(Form::Lambda(x, body))),
        Form::Project(path, a) => of(&a).map(|a| terms.push(Form::Project(path, a))),
        Form::Add(a, b) => match (of(&a), of(&b)) {
            (Some(a), Some(b)) => Some(terms.push(Form::Add(a, b))),
            (a, b) => a.or(b),
        },
        Form::Pair(a, b) => match (of(&a), of(&b)) {
            (None, None) => None,
            (da, db) => {
                let zero = terms.push(Form::Zero);
                Some(terms.push(Form::Pair(da.unwrap_or(zero), db.unwrap_or(zero))))
            }
        },
        // f'(⟨t,∂t⟩)
        Form::Prim(f, a) => of(&a).map(|da| {
            let derivative = terms.primitives.derivative(f);
            let pair = terms.push(Form::Pair(a, da));
            terms.push(Form::Prim(derivative, pair))
        }),
        Form::Apply(s, t) => {
            let left = of(&s).map(|ds| terms.apply(ds, t));
            let right = of(&t).map(|dt| terms.push(Form::Derive(s, t, vec![dt])));
            sum(terms, left, right)
        }
        // let x = s in ∂t, with the derivative of x bound next to it
        Form::Let(x, bound, body) => of(&body).map(|dbody| {
            let dbound = of(&bound).unwrap_or_else(|| terms.push(Form::Zero));
            let dx = tangents[&x];
            let inner = terms.push(Form::Let(dx, dbound, dbody));
            terms.push(Form::Let(x, bound, inner))
        }),
        Form::Derive(s, a, directions) => {
            let mut total = of(&s).map(|ds| terms.push(Form::Derive(ds, a, directions.clone())));
            for (i, direction) in directions.iter().enumerate() {
                if let Some(changed) = of(direction) {
                    let mut directions = directions.clone();
                    directions[i] = changed;
                    let part = terms.push(Form::Derive(s, a, directions));
                    total = sum(terms, total, Some(part));
                }
            }
            let last = of(&a).map(|da| {
                let mut directions = directions.clone();
                directions.push(da);
                terms.push(Form::Derive(s, a, directions))
            });
            sum(terms, total, last)
        }
    }
}

fn sum(terms: &mut LTerms, left: Option<LTerm>, right: Option<LTerm>) -> Option<LTerm> {
    match (left, right) {
        (Some(left), Some(right)) => Some(terms.push(Form::Add(left, right))),
        (left, right) => left.or(right),
    }
}
