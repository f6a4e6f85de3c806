//! Inputs for functions: the hard values first, then random ones, 64 in all; the same on every run.

use std::rc::Rc;

use super::{Datum, FiniteTable};

/// The sort of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sort {
    Int,
    Bool,
    Real,
    /// A tensor of this shape.
    Tensor(Vec<usize>),
    Tuple(Vec<Sort>),
    Function(Box<Sort>, Box<Sort>),
}

/// Sizes of axes to try.
pub const DIMENSIONS: [usize; 5] = [0, 1, 2, 3, 5];

/// The number of inputs to try.
pub const N_INPUTS: usize = 64;

/// Zeros, ones, negative, subnormal, huge and infinite numbers, and NaN.
const REALS: [f64; 12] =
    [0.0, 1.0, -1.0, -0.0, 5e-324, 1e300, -1e300, 1e-300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 0.5];

/// Zeros, ones and the ends of the range.
const INTS: [i64; 8] = [0, 1, -1, 2, i64::MAX, i64::MIN, i64::MAX - 1, i64::MIN + 1];

/// Inputs of a sort, from a seed.
pub fn inputs(sort: &Sort, seed: u64) -> Vec<Datum> {
    let mut random = Random(seed);
    (0..N_INPUTS).map(|round| datum(sort, round, &mut random)).collect()
}

/// Early rounds use hard values, different ones at each place; later rounds use random ones.
fn datum(sort: &Sort, round: usize, random: &mut Random) -> Datum {
    match sort {
        Sort::Int => Datum::Int(int(round, random)),
        Sort::Bool => Datum::Bool(if round < 2 { round == 1 } else { random.below(2) == 1 }),
        Sort::Real => Datum::Real(real(round, random)),
        Sort::Tensor(shape) => {
            let n_elements = shape.iter().product();
            Datum::Tensor(shape.clone(), (0..n_elements).map(|_| real(round, random)).collect())
        }
        Sort::Tuple(sorts) => Datum::Tuple(sorts.iter().map(|sort| datum(sort, round, random)).collect()),
        Sort::Function(from, to) => {
            let n_entries = random.below(6);
            let entry = |_| (datum(from, random.below(N_INPUTS), random), datum(to, round, random));
            Datum::Function(Rc::new(FiniteTable::new((0..n_entries).map(entry).collect())))
        }
    }
}

fn real(round: usize, random: &mut Random) -> f64 {
    // The first rounds use one hard value everywhere, the next mix them, the rest are ordinary numbers.
    if round < REALS.len() {
        return REALS[round];
    }
    if round < 2 * REALS.len() {
        return REALS[random.below(REALS.len())];
    }
    let unit = f64::from(u32::try_from(random.next() >> 32).expect("32 bits")) / f64::from(u32::MAX);
    let scale = [1.0, 10.0, 1e6, 1e-3][random.below(4)];
    (2.0 * unit - 1.0) * scale
}

fn int(round: usize, random: &mut Random) -> i64 {
    if round < INTS.len() {
        return INTS[round];
    }
    if round < 2 * INTS.len() {
        return INTS[random.below(INTS.len())];
    }
    i64::try_from(random.below(201)).expect("small") - 100
}

/// Random numbers (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).expect("below a usize")
    }
}
