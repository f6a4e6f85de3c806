//! Types of generated terms.

use super::Generator;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ty {
    Real,
    Unit,
    Pair(Box<Ty>, Box<Ty>),
}

impl Ty {
    pub fn pair(left: Ty, right: Ty) -> Ty {
        Ty::Pair(Box::new(left), Box::new(right))
    }

    /// The left-nested product of these types: unit for none, the type itself for one.
    pub fn product(factors: &[Ty]) -> Ty {
        let mut factors = factors.iter().cloned();
        let Some(first) = factors.next() else { return Ty::Unit };
        factors.fold(first, Ty::pair)
    }

    /// The type in source text: `real * real * (unit * real)`.
    pub fn show(&self) -> String {
        match self {
            Ty::Real => "real".to_string(),
            Ty::Unit => "unit".to_string(),
            Ty::Pair(left, right) if matches!(**right, Ty::Pair(..)) => {
                format!("{} * ({})", left.show(), right.show())
            }
            Ty::Pair(left, right) => format!("{} * {}", left.show(), right.show()),
        }
    }

    /// The path to the first real of a variable: `fst(snd(x))`; `None` if there is none.
    pub fn first_real(&self, variable: &str) -> Option<String> {
        match self {
            Ty::Real => Some(variable.to_string()),
            Ty::Unit => None,
            Ty::Pair(left, right) => left
                .first_real(&format!("fst({variable})"))
                .or_else(|| right.first_real(&format!("snd({variable})"))),
        }
    }
}

impl Generator<'_> {
    /// A type: mostly `real`, sometimes unit or a small product.
    pub fn any_type(&mut self) -> Ty {
        use Ty::{Real, Unit};
        let n = self.choices.weighted(&[(10, 0), (4, 1), (1, 2), (1, 3), (1, 4), (1, 5), (1, 6)]);
        match n {
            0 => Real,
            1 => Ty::pair(Real, Real),
            2 => Unit,
            3 => Ty::product(&[Real, Real, Real]),
            4 => Ty::pair(Real, Unit),
            5 => Ty::pair(Real, Ty::pair(Real, Real)),
            _ => Ty::pair(Ty::pair(Unit, Real), Real),
        }
    }

    /// A type that mostly has a real: others have no interesting derivatives.
    pub fn smooth_type(&mut self) -> Ty {
        match self.any_type() {
            Ty::Unit if !self.choices.once_in(4) => Ty::Real,
            ty => ty,
        }
    }

    /// A type with at least one real.
    pub fn type_with_reals(&mut self) -> Ty {
        match self.any_type() {
            Ty::Unit => Ty::Real,
            ty => ty,
        }
    }

    /// The text of a type, sometimes with an exponent.
    pub fn type_text(&mut self, ty: &Ty) -> String {
        let two = Ty::pair(Ty::Real, Ty::Real);
        let power = match ty {
            _ if *ty == two => "real^2",
            Ty::Pair(left, right) if **left == two && **right == Ty::Real => "real^3",
            Ty::Unit => "real^0",
            Ty::Real => "ℝ",
            Ty::Pair(..) => return ty.show(),
        };
        if self.choices.once_in(4) { power.to_string() } else { ty.show() }
    }
}
