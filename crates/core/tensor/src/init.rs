//! Initialisers: `zeros`, `ones`, `glorot_uniform`, `orthogonal`.
//!
//! A random initialiser is a constant, drawn once. Its value depends on the seed of the run and on its
//! *path*, the place of the call in the program, such as `lstm_cell#1/dense1#1/glorot_uniform#1`. So adding a
//! layer does not change the weights of the others, and training and inference start from equal weights. The
//! numbers are specified to the bit: FNV-1a of the path, mixed with the seed, initialises a `SplitMix64`
//! generator.

use std::f64::consts::PI;

use crate::element::{Element, Float};
use crate::shape::Shape;
use crate::shape_error::ShapeError;
use crate::value::{Scalar, Value};

/// A function that returns a constant of a given shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Initialiser {
    /// `zeros(shape)`, of any numeric type.
    Zeros,
    /// `ones(shape)`, of any numeric type.
    Ones,
    /// `glorot_uniform(shape)`, of `num`.
    GlorotUniform,
    /// `orthogonal(shape)`, of `num`.
    Orthogonal,
}

/// Finds an initialiser by name.
pub fn initialiser(name: &str) -> Option<Initialiser> {
    Initialiser::ALL.into_iter().find(|initialiser| initialiser.name() == name)
}

impl Initialiser {
    pub const ALL: [Initialiser; 4] =
        [Initialiser::Zeros, Initialiser::Ones, Initialiser::GlorotUniform, Initialiser::Orthogonal];

    pub fn name(self) -> &'static str {
        match self {
            Initialiser::Zeros => "zeros",
            Initialiser::Ones => "ones",
            Initialiser::GlorotUniform => "glorot_uniform",
            Initialiser::Orthogonal => "orthogonal",
        }
    }

    /// A one-line description for users.
    pub fn doc(self) -> &'static str {
        match self {
            Initialiser::Zeros => "zeros in a shape",
            Initialiser::Ones => "ones in a shape",
            Initialiser::GlorotUniform => {
                "random numbers around 0, small enough to keep the variance of a layer's input"
            }
            Initialiser::Orthogonal => "random rows of length 1, at right angles to each other",
        }
    }

    /// Whether it draws random numbers; such an initialiser is always a `num`.
    pub fn is_random(self) -> bool {
        matches!(self, Initialiser::GlorotUniform | Initialiser::Orthogonal)
    }

    /// The constant of this type and shape; random numbers come from `random`.
    pub fn value(self, scalar: Scalar, shape: &Shape, random: SplitMix64) -> Result<Value, ShapeError> {
        shape.n_elements()?;
        Ok(match (self, scalar) {
            (Initialiser::Zeros, Scalar::Int) => Value::filled(Value::Int(0), shape),
            (Initialiser::Zeros, Scalar::Num) => Value::filled(Value::Num(0.0), shape),
            (Initialiser::Ones, Scalar::Int) => Value::filled(Value::Int(1), shape),
            (Initialiser::Ones, Scalar::Num) => Value::filled(Value::Num(1.0), shape),
            (Initialiser::GlorotUniform, Scalar::Num) => glorot_uniform(shape, random),
            (Initialiser::Orthogonal, Scalar::Num) => orthogonal(shape, random),
            _ => unreachable!("{} of {scalar} has not passed the typing rules", self.name()),
        })
    }
}

/// The generator `SplitMix64`, one for each initialiser.
#[derive(Clone, Copy, Debug)]
pub struct SplitMix64 {
    state: u64,
}

/// 2⁶⁴ divided by the golden ratio: the increment of the generator.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

impl SplitMix64 {
    /// The generator of the initialiser at this path, in a run with this seed.
    pub fn new(path: &str, seed: u64) -> SplitMix64 {
        SplitMix64 { state: fnv1a(path) ^ seed.wrapping_mul(GOLDEN) }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        let z = self.state;
        let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in [0, 1), with 53 random bits.
    #[allow(clippy::cast_precision_loss)] // 53 bits fit exactly
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number with the standard normal distribution, by the Box-Muller transform.
    pub fn normal(&mut self) -> f64 {
        let u1 = self.uniform();
        let u2 = self.uniform();
        (-2.0 * Float::log(1.0 - u1)).sqrt() * Float::cos(2.0 * PI * u2)
    }
}

/// The 64-bit hash FNV-1a.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Uniform in ±√(6 / (fan in + fan out)).
fn glorot_uniform(shape: &Shape, mut random: SplitMix64) -> Value {
    let (fan_in, fan_out) = match **shape {
        [] => (1, 1),
        [n] => (n, n),
        [ref receptive @ .., fan_in, fan_out] => {
            let r: usize = receptive.iter().product();
            (fan_in * r, fan_out * r)
        }
    };
    let limit = (6.0 / f64::from_size(fan_in + fan_out)).sqrt();
    let elements = (0..shape.size()).map(|_| (2.0 * random.uniform() - 1.0) * limit).collect();
    f64::value(shape.clone(), elements)
}

/// Views the shape as a matrix whose rows are all axes but the last; the smaller of the two sets, rows or
/// columns, is orthonormal.
fn orthogonal(shape: &Shape, mut random: SplitMix64) -> Value {
    let (n_rows, n_columns) = match **shape {
        [] => return Value::Num(1.0),
        [n] => (1, n),
        [ref rows @ .., n] => (rows.iter().product::<usize>(), n),
    };
    let elements = if n_rows > n_columns {
        let columns = orthonormal(n_columns, n_rows, &mut random);
        (0..n_rows).flat_map(|i| columns.iter().map(move |column| column[i])).collect()
    } else {
        orthonormal(n_rows, n_columns, &mut random).concat()
    };
    f64::value(shape.clone(), elements)
}

/// Orthonormal rows: modified Gram-Schmidt on normally distributed rows.
fn orthonormal(n_rows: usize, n_columns: usize, random: &mut SplitMix64) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for _ in 0..n_rows {
        let mut row: Vec<f64> = (0..n_columns).map(|_| random.normal()).collect();
        for before in &rows {
            let projection = dot(&row, before);
            for (x, y) in row.iter_mut().zip(before) {
                *x -= projection * y;
            }
        }
        let norm = dot(&row, &row).sqrt();
        for x in &mut row {
            *x /= norm;
        }
        rows.push(row);
    }
    rows
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::Op;
    use crate::testing::eval;

    fn draw(initialiser: Initialiser, sizes: &[usize], seed: u64) -> Value {
        let path = format!("{}#1", initialiser.name());
        initialiser
            .value(Scalar::Num, &Shape::new(sizes), SplitMix64::new(&path, seed))
            .expect("few elements")
    }

    #[track_caller]
    fn check(initialiser: Initialiser, sizes: &[usize], seed: u64, expected: &str) {
        assert_eq!(draw(initialiser, sizes, seed).to_string(), expected);
    }

    #[test]
    fn golden_random_numbers() {
        check(
            Initialiser::GlorotUniform,
            &[2, 2],
            0,
            "[[-1.050182594955198,-0.03978101088195783],[-0.7202111338119963,-0.6362552390120118]]",
        );
        check(
            Initialiser::GlorotUniform,
            &[2, 2],
            7,
            "[[-0.30784650748593856,1.0874588600748822],[0.7977019725572014,0.5214813096250228]]",
        );
        check(
            Initialiser::Orthogonal,
            &[2, 2],
            0,
            "[[0.8499025658242435,0.5269398719070015],[-0.5269398719070001,0.8499025658242445]]",
        );
        check(
            Initialiser::Orthogonal,
            &[2, 2],
            7,
            "[[-0.34700083604875365,0.9378648195670131],[0.9378648195670133,0.34700083604875337]]",
        );
    }

    #[test]
    fn known_hashes_and_bits() {
        // From the reference implementations of FNV-1a and SplitMix64.
        assert_eq!(fnv1a(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a("foobar"), 0x8594_4171_f739_67e8);
        let mut random = SplitMix64 { state: 1_234_567 };
        assert_eq!([random.bits(), random.bits()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn glorot_limits_follow_the_fans() {
        for (sizes, fans) in [(&[][..], 2.0), (&[5], 10.0), (&[3, 4], 7.0), (&[2, 2, 3, 4], 28.0)] {
            let limit = f64::sqrt(6.0 / fans);
            let largest = (0..200)
                .flat_map(|seed| f64::slice(&draw(Initialiser::GlorotUniform, sizes, seed)).to_vec())
                .fold(0.0, |largest: f64, x| largest.max(x.abs()));
            assert!(largest < limit && largest > 0.9 * limit, "{sizes:?}: {largest} of {limit}");
        }
    }

    #[test]
    fn the_smaller_side_of_an_orthogonal_matrix_is_orthonormal() {
        for sizes in [&[3, 5][..], &[5, 3], &[4, 4], &[6], &[2, 2, 3]] {
            let columns = sizes[sizes.len() - 1];
            let rows = sizes.iter().product::<usize>() / columns;
            let x = draw(Initialiser::Orthogonal, sizes, 3);
            let x = eval(&Op::Reshape(Shape::new(&[rows, columns])), &[&x]);
            let transposed = eval(&Op::Transpose, &[&x]);
            let operands = if rows <= columns { [&x, &transposed] } else { [&transposed, &x] };
            let gram = eval(&Op::Matmul, &operands);
            let n = rows.min(columns);
            for (place, element) in f64::slice(&gram).iter().enumerate() {
                let expected = if place % (n + 1) == 0 { 1.0 } else { 0.0 };
                assert!((element - expected).abs() < 1e-12, "{sizes:?}: {gram}");
            }
        }
        check(Initialiser::Orthogonal, &[], 3, "1");
    }

    #[test]
    fn constants() {
        check(Initialiser::Zeros, &[2], 0, "[0,0]");
        check(Initialiser::Ones, &[], 0, "1");
        let random = SplitMix64::new("zeros#1", 0);
        let zeros =
            Initialiser::Zeros.value(Scalar::Int, &Shape::new(&[1, 2]), random).expect("two elements");
        assert_eq!(zeros.ty().to_string(), "int [1,2]");
        let refused = Initialiser::Orthogonal.value(Scalar::Num, &Shape::new(&[1 << 20, 1 << 20]), random);
        assert!(refused.expect_err("too many").to_string().contains("shape"));
    }

    #[test]
    fn names_resolve() {
        for each in Initialiser::ALL {
            assert_eq!(initialiser(each.name()), Some(each));
            assert!(!each.doc().is_empty());
        }
        assert_eq!(initialiser("glorot"), None);
        let random: Vec<&str> =
            Initialiser::ALL.into_iter().filter(|each| each.is_random()).map(Initialiser::name).collect();
        assert_eq!(random, ["glorot_uniform", "orthogonal"]);
    }
}
