//! The gradient of an unrolled trace by `rd`, a separate language whose engines share no code with the one
//! under test.
//!
//! The graph of cells becomes one term, `grad[(x0, x1, ..)](p. let (x0, x1, ..) = p in let v0 = x0 * x1 in ..
//! loss)`, with a variable for each element of each cell. Linear and bilinear operations are written out with
//! coefficients that are read off their values, not off their derivatives.

use std::fmt::Write;

use eddy_flow::VarId;
use eddy_language::semantics::Cell;
use eddy_rd::engine::{Engine, run};
use eddy_rd::outcome::{Limits, Outcome};
use eddy_rd::typing::check;
use eddy_syntax::SourceFile;
use eddy_tensor::{Op, Shape, Value};

use crate::generated::engines::Rows;
use crate::numbers::{elements, with_elements};
use crate::run::Stop;
use crate::unrolled::{Step, StepNo, Unrolled};

/// The gradient of Σ ⟨w, y⟩, cell by cell, with respect to some given streams.
pub fn gradient(
    unrolled: &Unrolled<'_>,
    (targets, weights): (&[VarId], &Rows),
    sources: &[VarId],
    n_cycles: usize,
) -> Result<Rows, Stop> {
    let points: Vec<StepNo> =
        sources.iter().flat_map(|source| unrolled.steps_of(*source)).map(|(_, step)| step).collect();
    let text = Term::new(unrolled, &points).text(targets, weights)?;
    let program = check(&SourceFile::new("law.rd", &text))
        .map_err(|diagnostics| format!("`rd` refuses: {}\n{text}", diagnostics[0].title))?;
    let mut slopes = match run(&program, Engine::Tape, Limits::default()).outcome {
        Outcome::Value(value) => value.leaves().into_iter(),
        // The conditionals of `rd` are undefined at ties.
        Outcome::Undefined(_) => return Err(Stop::Vacuous("a kink")),
        other => return Err(Stop::Broken(format!("`rd` says {other:?}\n{text}"))),
    };
    let mut rows = vec![vec![Cell::Unknown; n_cycles]; sources.len()];
    for (source, row) in sources.iter().zip(&mut rows) {
        for (cycle, step) in unrolled.steps_of(*source) {
            let value = &unrolled.values[step];
            let slopes = slopes.by_ref().take(elements(value).len()).collect();
            row[cycle] = Cell::Value(with_elements(value, slopes));
        }
    }
    Ok(rows)
}

/// A number in the syntax of `rd`.
fn literal(number: f64) -> String {
    if number < 0.0 { format!("({number:?})") } else { format!("{number:?}") }
}

/// A term under construction.
struct Term<'a> {
    unrolled: &'a Unrolled<'a>,
    /// The steps that are variables of the function.
    points: &'a [StepNo],
    /// The variable or literal for each element of each step.
    atoms: Vec<Vec<String>>,
    lets: String,
}

impl<'a> Term<'a> {
    fn new(unrolled: &'a Unrolled<'a>, points: &'a [StepNo]) -> Self {
        Term { unrolled, points, atoms: Vec::new(), lets: String::new() }
    }

    fn text(mut self, targets: &[VarId], weights: &Rows) -> Result<String, Stop> {
        for number in 0..self.unrolled.steps.len() {
            let atoms = self.step(number)?;
            self.atoms.push(atoms);
        }
        // A tuple has at least two components.
        let (mut names, mut values) = (vec!["z".to_string(), "y".to_string()], vec![0.0, 0.0]);
        for point in self.points.iter().rev() {
            names.splice(0..0, self.atoms[*point].iter().cloned());
            values.splice(0..0, elements(&self.unrolled.values[*point]));
        }
        let values: Vec<String> = values.into_iter().map(literal).collect();
        let loss = self.loss(targets, weights);
        let (names, values, lets) = (names.join(", "), values.join(", "), self.lets);
        Ok(format!("grad[({values})](p. let ({names}) = p in\n{lets}{loss})"))
    }

    fn loss(&self, targets: &[VarId], weights: &Rows) -> String {
        let mut terms = vec!["z".to_string()];
        for (target, weights) in targets.iter().zip(weights) {
            for (cycle, step) in self.unrolled.steps_of(*target) {
                let Some(weight) = weights[cycle].value() else { continue };
                let weights = elements(weight).into_iter().zip(&self.atoms[step]);
                terms.extend(weights.map(|(weight, atom)| format!("{} * {atom}", literal(weight))));
            }
        }
        terms.join(" + ")
    }

    /// The variables or literals for the elements of a step.
    fn step(&mut self, number: StepNo) -> Result<Vec<String>, Stop> {
        let value = &self.unrolled.values[number];
        let n = elements(value).len();
        match &self.unrolled.steps[number] {
            Step::Given if self.points.contains(&number) => {
                Ok((0..n).map(|element| format!("x{number}_{element}")).collect())
            }
            Step::Given => Ok(literals(value)),
            // Booleans and integers are constants.
            Step::Apply(..) if n == 0 => Ok(Vec::new()),
            Step::Apply(op, operands) => {
                let terms = self.operation(op, operands, value)?;
                let name = |(element, term): (usize, String)| {
                    let name = format!("v{number}_{element}");
                    writeln!(self.lets, "let {name} = {term} in").expect("writing to a string cannot fail");
                    name
                };
                Ok(terms.into_iter().enumerate().map(name).collect())
            }
        }
    }

    /// A term for each element of the result.
    fn operation(&self, op: &Op, operands: &[StepNo], result: &Value) -> Result<Vec<String>, Stop> {
        let values: Vec<&Value> = operands.iter().map(|operand| &self.unrolled.values[*operand]).collect();
        let atoms = |number: usize| &self.atoms[operands[number]];
        let each = |term: &dyn Fn(&str) -> String| atoms(0).iter().map(|atom| term(atom)).collect();
        let pairs = |term: &dyn Fn(&str, &str) -> String| {
            let pair = |(left, right): (usize, usize)| term(&atoms(0)[left], &atoms(1)[right]);
            Ok(partners(values[0], values[1])?.into_iter().map(pair).collect())
        };
        match op {
            Op::Exp | Op::Log | Op::Sqrt | Op::Tanh | Op::Sigmoid | Op::Sin | Op::Cos => {
                Ok(each(&|atom| format!("{}({atom})", op.name())))
            }
            Op::Relu => Ok(each(&|atom| format!("(if {atom} > 0 then {atom} else 0)"))),
            Op::Abs => Ok(each(&|atom| format!("(if {atom} > 0 then {atom} else -{atom})"))),
            Op::Div => pairs(&|left, right| format!("{left} / {right}")),
            Op::Pow => pairs(&|left, right| format!("pow({left}, {right})")),
            Op::Maximum => pairs(&|left, right| format!("(if {left} > {right} then {left} else {right})")),
            Op::Minimum => pairs(&|left, right| format!("(if {left} < {right} then {left} else {right})")),
            Op::Mul | Op::Matmul | Op::Outer | Op::Conv2d | Op::Conv2dDx | Op::Conv2dDk => {
                self.bilinear(op, operands, result)
            }
            Op::Softmax => Ok(softmax(atoms(0), result.shape())),
            Op::Max(axis) => {
                let mask = elements(&eval(&Op::MaxMask(*axis), &values)?);
                let kept =
                    mask.iter().zip(atoms(0)).map(|(kept, atom)| format!("{} * {atom}", literal(*kept)));
                let kept: Vec<String> = kept.collect();
                let sums = coefficients(&Op::Sum(*axis), &values, 0)?;
                Ok(sums.iter().map(|sum| combination(sum, &kept)).collect())
            }
            Op::ToNum if !elements(values[0]).is_empty() => self.linear(op, operands, result),
            Op::ToNum | Op::OnesLike | Op::Onehot(_) => Ok(literals(result)),
            _ => self.linear(op, operands, result),
        }
    }

    /// Σ c x, with the coefficients that the operation has on unit vectors.
    fn linear(&self, op: &Op, operands: &[StepNo], result: &Value) -> Result<Vec<String>, Stop> {
        let values: Vec<&Value> = operands.iter().map(|operand| &self.unrolled.values[*operand]).collect();
        let mut terms = vec![Vec::new(); elements(result).len()];
        for (number, operand) in operands.iter().enumerate() {
            for (terms, coefficients) in terms.iter_mut().zip(coefficients(op, &values, number)?) {
                if coefficients.iter().any(|coefficient| *coefficient != 0.0) {
                    terms.push(combination(&coefficients, &self.atoms[*operand]));
                }
            }
        }
        Ok(terms.into_iter().map(sum).collect())
    }

    /// Σ c x y, with the coefficients that the operation has on pairs of unit vectors.
    fn bilinear(&self, op: &Op, operands: &[StepNo], result: &Value) -> Result<Vec<String>, Stop> {
        let [left, right] = [0, 1].map(|number| &self.unrolled.values[operands[number]]);
        let mut terms = vec![Vec::new(); elements(result).len()];
        for (number, atom) in self.atoms[operands[0]].iter().enumerate() {
            let found = coefficients(op, &[&unit(left, number), right], 1)?;
            for (terms, coefficients) in terms.iter_mut().zip(found) {
                if coefficients.iter().any(|coefficient| *coefficient != 0.0) {
                    terms
                        .push(format!("{atom} * ({})", combination(&coefficients, &self.atoms[operands[1]])));
                }
            }
        }
        Ok(terms.into_iter().map(sum).collect())
    }
}

fn literals(value: &Value) -> Vec<String> {
    elements(value).into_iter().map(literal).collect()
}

fn sum(terms: Vec<String>) -> String {
    if terms.is_empty() { "0".to_string() } else { terms.join(" + ") }
}

/// Σ c x.
fn combination(coefficients: &[f64], atoms: &[String]) -> String {
    let terms = coefficients.iter().zip(atoms).filter(|(coefficient, _)| **coefficient != 0.0);
    sum(terms.map(|(coefficient, atom)| format!("{} * {atom}", literal(*coefficient))).collect())
}

/// A value with a single 1 among zeros.
fn unit(like: &Value, element: usize) -> Value {
    let n = elements(like).len();
    with_elements(like, (0..n).map(|other| f64::from(u8::from(other == element))).collect())
}

fn eval(op: &Op, operands: &[&Value]) -> Result<Value, Stop> {
    op.eval(operands).map_err(|_| Stop::Vacuous("no value"))
}

/// For each element of the result, the coefficients of one operand of a linear operation. Operands that are
/// not numbers stay unchanged.
fn coefficients(op: &Op, operands: &[&Value], number: usize) -> Result<Vec<Vec<f64>>, Stop> {
    let n = elements(operands[number]).len();
    let is_bilinear =
        matches!(op, Op::Mul | Op::Matmul | Op::Outer | Op::Conv2d | Op::Conv2dDx | Op::Conv2dDk);
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for element in 0..n {
        let others = operands.iter().enumerate().map(|(other, value)| match elements(value).len() {
            _ if other == number => unit(value, element),
            0 => (*value).clone(),
            _ if is_bilinear => (*value).clone(),
            n => with_elements(value, vec![0.0; n]),
        });
        let others: Vec<Value> = others.collect();
        let found = elements(&eval(op, &others.iter().collect::<Vec<_>>())?);
        rows.resize(found.len(), Vec::new());
        for (row, coefficient) in rows.iter_mut().zip(found) {
            row.push(coefficient);
        }
    }
    Ok(rows)
}

/// For each element of a broadcast result, the elements of both operands that are combined there.
fn partners(left: &Value, right: &Value) -> Result<Vec<(usize, usize)>, Stop> {
    let (n_left, n_right) = (elements(left).len(), elements(right).len());
    let mut partners = Vec::new();
    for first in 0..n_left {
        for second in 0..n_right {
            let met = eval(&Op::Mul, &[&unit(left, first), &unit(right, second)])?;
            for (place, met) in elements(&met).into_iter().enumerate() {
                if met != 0.0 {
                    partners.push((place, (first, second)));
                }
            }
        }
    }
    partners.sort_unstable();
    Ok(partners.into_iter().map(|(_, pair)| pair).collect())
}

/// Exponentials along the last axis, scaled to sum 1.
fn softmax(atoms: &[String], shape: &Shape) -> Vec<String> {
    let width = shape.last().copied().unwrap_or(1);
    let mut terms = Vec::new();
    for row in atoms.chunks(width) {
        let total = row.iter().map(|atom| format!("exp({atom})")).collect::<Vec<_>>().join(" + ");
        terms.extend(row.iter().map(|atom| format!("exp({atom}) / ({total})")));
    }
    terms
}
