//! Indices as affine functions: a constant, and a coefficient for each loop variable.

use eddy_imp::{Binary, Expr, Name};

/// `offset + Σ coefficient · index`, plus a part that does not depend on loop variables.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Affine {
    /// One for each loop variable, in the order of the loops.
    pub coefficients: Vec<i64>,
}

impl Affine {
    /// An index in loops with these variables; `None` if it is not affine.
    pub fn of(expr: &Expr, indices: &[Name]) -> Option<Affine> {
        match expr {
            Expr::Count(_) => Some(Affine { coefficients: vec![0; indices.len()] }),
            Expr::Var(name) => {
                let coefficients = indices.iter().map(|index| i64::from(index == name)).collect();
                Some(Affine { coefficients })
            }
            Expr::Cast(_, operand) => Affine::of(operand, indices),
            Expr::Binary(op, operands) => {
                let [left, right] = &**operands;
                match op {
                    Binary::Add => Affine::of(left, indices)?.plus(&Affine::of(right, indices)?, 1),
                    Binary::Sub => Affine::of(left, indices)?.plus(&Affine::of(right, indices)?, -1),
                    Binary::Mul => match (left, right) {
                        (Expr::Count(n), other) | (other, Expr::Count(n)) => {
                            Affine::of(other, indices)?.times(*n)
                        }
                        _ => Affine::constant(expr, indices),
                    },
                    _ => Affine::constant(expr, indices),
                }
            }
            _ => Affine::constant(expr, indices),
        }
    }

    /// An expression that mentions no loop variable is constant.
    fn constant(expr: &Expr, indices: &[Name]) -> Option<Affine> {
        struct Mentions<'a>(&'a [Name], bool);
        impl eddy_imp::effects::Visit for Mentions<'_> {
            fn expr(&mut self, expr: &Expr) {
                self.1 |= matches!(expr, Expr::Var(name) if self.0.contains(name));
            }
        }
        let mut mentions = Mentions(indices, false);
        eddy_imp::effects::walk_expr(expr, &mut mentions);
        (!mentions.1).then(|| Affine { coefficients: vec![0; indices.len()] })
    }

    fn plus(mut self, other: &Affine, sign: i64) -> Option<Affine> {
        for (own, other) in self.coefficients.iter_mut().zip(&other.coefficients) {
            *own = own.checked_add(other.checked_mul(sign)?)?;
        }
        Some(self)
    }

    fn times(mut self, n: i64) -> Option<Affine> {
        for own in &mut self.coefficients {
            *own = own.checked_mul(n)?;
        }
        Some(self)
    }

    /// Whether different values of one loop variable lead to different places, for all values of the others:
    /// its step is larger than the range of all smaller steps, and its range is smaller than every larger
    /// step, of which all others are multiples.
    pub fn is_apart_along(&self, axis: usize, sizes: &[usize]) -> bool {
        let extent = |axis: usize| i64::try_from(sizes[axis]).map_or(i64::MAX, |size| size - 1);
        let own = self.coefficients[axis].abs();
        let (mut reach, mut larger) = (0_i64, 0_i64);
        for (other, step) in self.coefficients.iter().enumerate() {
            let step = step.abs();
            if other == axis || step == 0 || extent(other) == 0 {
                continue;
            }
            if step < own {
                reach = reach.saturating_add(step.saturating_mul(extent(other)));
            } else {
                larger = gcd(larger, step);
            }
        }
        let furthest = own.saturating_mul(extent(axis)).saturating_add(reach);
        own > reach && (larger == 0 || furthest < larger)
    }
}

/// The greatest common divisor.
fn gcd(mut x: i64, mut y: i64) -> i64 {
    while y != 0 {
        (x, y) = (y, x % y);
    }
    x
}

#[cfg(test)]
mod tests {
    use super::Affine;

    #[track_caller]
    fn check(coefficients: &[i64], sizes: &[usize], apart: &[bool]) {
        let affine = Affine { coefficients: coefficients.to_vec() };
        let found: Vec<bool> = (0..sizes.len()).map(|axis| affine.is_apart_along(axis, sizes)).collect();
        assert_eq!(found, apart);
        // By brute force.
        let mut places = vec![(Vec::new(), 0_i64)];
        for (step, size) in coefficients.iter().zip(sizes) {
            let longer = places.iter().flat_map(|(at, place)| {
                (0..*size).map(move |i| {
                    let moved = place + step * i64::try_from(i).expect("it is small");
                    ([at.as_slice(), &[i]].concat(), moved)
                })
            });
            places = longer.collect();
        }
        for (axis, is_apart) in apart.iter().enumerate().filter(|(_, is_apart)| **is_apart) {
            for (one, place) in &places {
                let meets = |(other, there): &(Vec<usize>, i64)| there == place && other[axis] != one[axis];
                assert!(!(*is_apart && places.iter().any(meets)), "axis {axis} of {coefficients:?}");
            }
        }
    }

    #[test]
    fn parts_of_a_loop_write_different_places() {
        check(&[12, 4, 1], &[2, 3, 4], &[true, true, true]);
        check(&[12, 12, 4, 4, 1], &[2, 2, 2, 2, 4], &[false, false, false, false, true]);
        check(&[3, 0, 1], &[2, 5, 4], &[false, false, false]);
        check(&[8, -1], &[3, 8], &[true, true]);
    }
}
