//! Statements that can fail, and the translation of their failures.
//!
//! Compiled code reports the number of a site and some integers, such as an index and the shape that it
//! exceeds. The failure is rebuilt here, with the interpreter's wording; errors about shapes come from the
//! shape rule of the operation.

use eddy_body::{BodyId, Failure, Kind, Operation, RunError};
use eddy_syntax::Span;
use eddy_tensor::{Op, Shape, ShapeError};

/// The statements that can fail, in the order of the C text.
#[derive(Clone, Debug, Default)]
pub struct Sites(Vec<Site>);

#[derive(Clone, Debug)]
struct Site {
    body: BodyId,
    span: Span,
    operation: Option<Operation>,
}

impl Sites {
    /// The number of a new site, counted from 1.
    pub(super) fn add(&mut self, body: BodyId, span: Span, kind: &Kind) -> usize {
        let operation = if let Kind::Op(operation, _) = kind { Some(operation.clone()) } else { None };
        self.0.push(Site { body, span, operation });
        self.0.len()
    }

    /// The error for a failure of compiled code: its site, its number, and its details; `names` are the names
    /// of bodies.
    pub fn error(&self, names: &[String], site: usize, what: i64, details: &[i64]) -> RunError {
        let site = &self.0[site.checked_sub(1).expect("sites are counted from 1")];
        let failure = failure(what, details, site.operation.as_ref());
        RunError { failure, span: site.span, body: names[site.body.index()].clone() }
    }
}

/// Reads integers in sequence.
struct Details<'a>(&'a [i64]);

impl Details<'_> {
    fn int(&mut self) -> i64 {
        let (first, rest) = self.0.split_first().expect("a failure has all its details");
        self.0 = rest;
        *first
    }

    fn size(&mut self) -> usize {
        usize::try_from(self.int()).expect("sizes are not negative")
    }

    fn shape(&mut self, rank: usize) -> Shape {
        Shape::from((0..rank).map(|_| self.size()).collect::<Vec<_>>())
    }
}

/// Numbers are defined in `runtime/functions.h`.
fn failure(what: i64, details: &[i64], operation: Option<&Operation>) -> Failure {
    let mut details = Details(details);
    match what {
        1 => {
            let (index, rank) = (details.int(), details.size());
            Failure::Index { index, shape: details.shape(rank) }
        }
        2 => {
            let (lo, hi, rank) = (details.int(), details.int(), details.size());
            Failure::Range { lo, hi, shape: details.shape(rank) }
        }
        3 => Failure::Overflow,
        4 => Failure::Division,
        5 => Failure::Size { found: details.int(), required: details.int() },
        6 => Failure::Negative(details.int()),
        7 => shapes(&mut details, operation.expect("only operations have rules of shapes")),
        8 => {
            let rank = details.size();
            let (left, right) = (details.shape(rank), details.shape(rank));
            ShapeError::Different { left, right }.into()
        }
        9 => Failure::Empty,
        10 => Failure::Fuel,
        11 => Failure::Depth,
        12 => Failure::Memory,
        13 => Failure::Order,
        other => unreachable!("compiled code fails with known numbers, not with {other}"),
    }
}

/// The error of the operation's shape rule.
fn shapes(details: &mut Details<'_>, operation: &Operation) -> Failure {
    let n_operands = details.size();
    let shapes: Vec<Shape> = (0..n_operands)
        .map(|_| {
            let rank = details.size();
            details.shape(rank)
        })
        .collect();
    let op: Op = match operation {
        Operation::Table(op) => op.clone(),
        Operation::Sized(sized) => {
            let n_sizes = details.size();
            let sizes: Vec<usize> = (0..n_sizes).map(|_| details.size()).collect();
            sized.op(&sizes)
        }
        other => unreachable!("{other:?} has no rule of shapes"),
    };
    let error = op.shape(&shapes.iter().collect::<Vec<_>>());
    error.expect_err("compiled code found that the shapes do not fit").into()
}
