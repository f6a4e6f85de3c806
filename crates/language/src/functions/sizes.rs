//! Sizes as linear forms over integers that are unknown before the run (functions.md, section 2.2).

use std::collections::BTreeMap;

eddy_index::id! {
    /// An integer of one instance: a size variable, an int parameter, a size of a parameter, or an int that
    /// is bound to a name.
    pub struct Atom, "an instance has less than 2^32 integers";
}

/// `constant + Σ coefficient · atom`. Operations return `None` if a form would overflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    constant: i128,
    /// No coefficient is 0.
    terms: BTreeMap<Atom, i128>,
}

impl Form {
    pub fn constant(constant: i64) -> Form {
        Form { constant: i128::from(constant), terms: BTreeMap::new() }
    }

    pub fn atom(atom: Atom) -> Form {
        Form { constant: 0, terms: BTreeMap::from([(atom, 1)]) }
    }

    pub fn as_constant(&self) -> Option<i64> {
        if self.terms.is_empty() { i64::try_from(self.constant).ok() } else { None }
    }

    /// The constant, and the atoms with their coefficients, if all of them fit into 64 bits.
    pub fn parts(&self) -> Option<(i64, Vec<(Atom, i64)>)> {
        let term = |(atom, coefficient): (&Atom, &i128)| Some((*atom, i64::try_from(*coefficient).ok()?));
        let terms = self.terms.iter().map(term).collect::<Option<_>>()?;
        Some((i64::try_from(self.constant).ok()?, terms))
    }

    /// The atom, if the form is a single atom.
    pub fn as_atom(&self) -> Option<Atom> {
        let (atom, coefficient) = self.terms.first_key_value()?;
        (self.terms.len() == 1 && *coefficient == 1 && self.constant == 0).then_some(*atom)
    }

    pub fn add(&self, other: &Form) -> Option<Form> {
        let mut sum = self.clone();
        sum.constant = sum.constant.checked_add(other.constant)?;
        for (atom, coefficient) in &other.terms {
            let term = sum.terms.entry(*atom).or_default();
            *term = term.checked_add(*coefficient)?;
        }
        sum.terms.retain(|_, coefficient| *coefficient != 0);
        Some(sum)
    }

    pub fn scale(&self, factor: i64) -> Option<Form> {
        let factor = i128::from(factor);
        let mut terms = BTreeMap::new();
        for (atom, coefficient) in &self.terms {
            terms.insert(*atom, coefficient.checked_mul(factor)?);
        }
        terms.retain(|_, coefficient| *coefficient != 0);
        Some(Form { constant: self.constant.checked_mul(factor)?, terms })
    }

    pub fn subtract(&self, other: &Form) -> Option<Form> {
        self.add(&other.scale(-1)?)
    }

    /// Whether the forms differ for all values of the atoms.
    pub fn certainly_differs(&self, other: &Form) -> bool {
        self.subtract(other).is_some_and(|difference| difference.terms.is_empty() && difference.constant != 0)
    }

    /// Replaces each atom; `None` if one of them has no form.
    pub fn substitute(&self, of: impl Fn(Atom) -> Option<Form>) -> Option<Form> {
        let mut result = Form { constant: self.constant, terms: BTreeMap::new() };
        for (atom, coefficient) in &self.terms {
            let coefficient = i64::try_from(*coefficient).ok()?;
            result = result.add(&of(*atom)?.scale(coefficient)?)?;
        }
        Some(result)
    }

    /// Whether the form contains an atom that satisfies `predicate`.
    pub fn mentions(&self, predicate: impl Fn(Atom) -> bool) -> bool {
        self.terms.keys().any(|atom| predicate(*atom))
    }
}

/// The size of a broadcast result along one axis; the error has two constants that do not broadcast.
pub fn broadcast(left: Option<&Form>, right: Option<&Form>) -> Result<Option<Form>, (i64, i64)> {
    let constants = (left.and_then(Form::as_constant), right.and_then(Form::as_constant));
    match (left, right) {
        (Some(left), Some(right)) if left == right => Ok(Some(left.clone())),
        _ => match constants {
            (Some(1), _) => Ok(right.cloned()),
            (_, Some(1)) => Ok(left.cloned()),
            (Some(left), Some(right)) => Err((left, right)),
            // An unknown size is 1 or the constant.
            (Some(_), None) => Ok(left.cloned()),
            (None, Some(_)) => Ok(right.cloned()),
            (None, None) => Ok(None),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_compared_whatever_their_atoms_are() {
        let n = Form::atom(Atom::new(0));
        let k = Form::atom(Atom::new(1));
        let one = Form::constant(1);
        let more = n.add(&one).expect("it is small");
        assert!(more.certainly_differs(&n) && !n.certainly_differs(&k));
        assert_eq!(more.subtract(&n).and_then(|form| form.as_constant()), Some(1));
        assert_eq!(n.as_atom(), Some(Atom::new(0)));
        let doubled = more.substitute(|_| Some(k.clone())).and_then(|form| form.scale(2));
        assert_eq!(doubled, k.scale(2).and_then(|form| form.add(&Form::constant(2))));
    }

    #[test]
    fn one_stretches() {
        let [one, two, three] = [1, 2, 3].map(Form::constant);
        assert_eq!(broadcast(Some(&one), Some(&three)), Ok(Some(three.clone())));
        assert_eq!(broadcast(Some(&two), Some(&three)), Err((2, 3)));
        assert_eq!(broadcast(None, Some(&three)), Ok(Some(three)));
        assert_eq!(broadcast(None, None), Ok(None));
    }
}
