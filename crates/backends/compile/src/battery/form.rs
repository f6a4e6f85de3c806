//! The form of a test case: how operands are read, how the result is used, and whether the result or the
//! adjoint is computed.

use eddy_tensor::{Algebra, Op, Scalar, Shape};

use super::cases::Application;
use super::operands::{Numbers, Values, Wanted};
use super::record::Recorder;
use crate::precision::Precision;

/// How the first operand with axes is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// From an array.
    Whole,
    /// It is computed in the same loop, from an array and a broadcast one: their product, or whether the
    /// first is larger.
    Computed,
    /// From some rows of a larger array.
    Rows,
    /// From a transposed array.
    Transposed,
}

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Result,
    /// The cotangents of the operands, for a cotangent of the result.
    Adjoint,
    /// The same, for a cotangent of the sum of the result along its second-to-last axis.
    AdjointOfSum,
}

pub(super) const READINGS: [Reading; 4] =
    [Reading::Whole, Reading::Computed, Reading::Rows, Reading::Transposed];
pub(super) const ASKED: [Asked; 3] = [Asked::Result, Asked::Adjoint, Asked::AdjointOfSum];

/// A recorded program, and the nodes whose values are the results.
pub(super) struct Recorded {
    pub recorder: Recorder,
    pub results: Vec<usize>,
}

/// Records an application in a form; `None` if it does not have this form.
pub(super) fn recorded(
    application: &Application,
    reading: Reading,
    asked: Asked,
    precision: Precision,
    numbers: &mut Numbers,
) -> Option<Recorded> {
    let mut recorder = Recorder::new(precision);
    let read_so = application.operands.iter().position(|operand| reading.fits(operand))?;
    let operands: Vec<usize> = application
        .operands
        .iter()
        .enumerate()
        .map(|(position, wanted)| {
            let reading = if position == read_so { reading } else { Reading::Whole };
            reading.operand(wanted, &mut recorder, numbers)
        })
        .collect();
    let result = recorder.apply(application.op.clone(), &operands);
    let results = match asked {
        Asked::Result => vec![result],
        Asked::Adjoint | Asked::AdjointOfSum => {
            let of = ended(result, asked, &mut recorder)?;
            if matches!(application.op, Op::Each(_)) || recorder.value(of).scalar() != Scalar::Num {
                return None;
            }
            let shape = recorder.shape(&of).to_vec();
            let g = recorder.input(numbers.value(&Wanted { shape, values: Values::Numbers }));
            let inputs = recorder.inputs();
            // A cotangent that is only passed on needs no computation.
            let cotangents = recorder.adjoint(of, g).into_iter();
            cotangents.filter(|cotangent| !inputs.contains(cotangent)).collect()
        }
    };
    let results: Vec<usize> = results.into_iter().filter(|result| recorder.is_computed(*result)).collect();
    (!results.is_empty()).then_some(Recorded { recorder, results })
}

/// The value to differentiate: the result, or a sum of it.
fn ended(result: usize, asked: Asked, recorder: &mut Recorder) -> Option<usize> {
    if asked == Asked::Adjoint {
        return Some(result);
    }
    let axis = recorder.shape(&result).len().checked_sub(2)?;
    (recorder.value(result).scalar() == Scalar::Num).then(|| recorder.apply(Op::Sum(Some(axis)), &[result]))
}

impl Reading {
    fn fits(self, operand: &Wanted) -> bool {
        match self {
            Reading::Whole => true,
            Reading::Computed => {
                matches!(operand.values, Values::Numbers | Values::Truths) && !operand.shape.is_empty()
            }
            Reading::Rows => operand.values.scalar() == Scalar::Num && !operand.shape.is_empty(),
            Reading::Transposed => operand.shape.len() == 2,
        }
    }

    /// An operand that is read in this way.
    fn operand(self, wanted: &Wanted, recorder: &mut Recorder, numbers: &mut Numbers) -> usize {
        let values = wanted.values;
        match (self, wanted.shape.as_slice()) {
            (Reading::Computed, [.., _]) => {
                let mut stretched = wanted.shape.clone();
                // The second-to-last axis is broadcast, if there is one.
                let axis = stretched.len().saturating_sub(2);
                stretched[axis] = 1;
                let mut number = |shape: Vec<usize>| {
                    recorder.input(numbers.value(&Wanted { shape, values: Values::Numbers }))
                };
                let operands = [number(wanted.shape.clone()), number(stretched)];
                let op = if values == Values::Truths { Op::Gt } else { Op::Mul };
                recorder.apply(op, &operands)
            }
            (Reading::Rows, [rows, inner @ ..]) => {
                let shape = [&[rows + 2], inner].concat();
                let larger = recorder.input(numbers.value(&Wanted { shape, values }));
                recorder.apply(Op::Slice(1, 1 + rows), &[larger])
            }
            (Reading::Transposed, [rows, columns]) => {
                let shape = vec![*columns, *rows];
                let other = recorder.input(numbers.value(&Wanted { shape, values }));
                recorder.apply(Op::Transpose, &[other])
            }
            _ => recorder.input(numbers.value(wanted)),
        }
    }
}

/// `max_pool2d` of an image with `n` channels, and its adjoint: two maxima of windows.
pub(super) fn pooled(n: usize, asked: Asked, precision: Precision, numbers: &mut Numbers) -> Recorded {
    let mut recorder = Recorder::new(precision);
    let mut number = |shape: &Shape, recorder: &mut Recorder| {
        recorder.input(numbers.value(&Wanted { shape: shape.to_vec(), values: Values::Numbers }))
    };
    let image = number(&Shape::new(&[5, 4, n]), &mut recorder);
    let rows = recorder.apply(Op::Unfold(0, 2, 2), &[image]);
    let rows = recorder.apply(Op::Max(Some(1)), &[rows]);
    let columns = recorder.apply(Op::Unfold(1, 2, 2), &[rows]);
    let result = recorder.apply(Op::Max(Some(2)), &[columns]);
    let results = if asked == Asked::Result {
        vec![result]
    } else {
        let g = number(&recorder.shape(&result), &mut recorder);
        recorder.adjoint(result, g)
    };
    Recorded { recorder, results }
}
