//! The answers of the best parameters against the wanted values: a confusion matrix for classes, points for
//! numbers.

use std::fmt::Write;

use eddy_tensor::{Scalar, Value};
use serde_json::{Value as Json, json};

use super::curve::escaped;

/// The largest number of answers that are read.
pub const MOST: usize = 100_000;

/// The largest number of points that are drawn.
const POINTS: usize = 5_000;

/// The largest number of classes of a matrix.
const CLASSES: usize = 40;

/// Answers that can be shown.
pub enum Answers {
    /// For each wanted class, how often each class was the answer.
    Classes { names: Vec<String>, counts: Vec<Vec<usize>> },
    /// Pairs of a wanted number and its answer.
    Numbers(Vec<(f64, f64)>),
}

impl Answers {
    /// The answers beside the wanted values; `names` has the texts of the classes, if they have some. `None`
    /// if they are neither classes nor numbers.
    pub fn new(pairs: &[(Value, Value)], names: &[String]) -> Option<Answers> {
        let (answer, wanted) = pairs.first()?;
        let is_scalar = |value: &Value| value.shape().is_scalar();
        if wanted.scalar() == Scalar::Int && is_scalar(wanted) {
            let classes: Option<Vec<(usize, usize)>> =
                pairs.iter().map(|(answer, wanted)| Some((class(wanted)?, chosen(answer)?))).collect();
            return matrix(&classes?, names);
        }
        let is_number = |value: &Value| value.scalar() == Scalar::Num && is_scalar(value);
        if !is_number(answer) || !is_number(wanted) {
            return None;
        }
        Some(Answers::Numbers(
            pairs.iter().map(|(answer, wanted)| (number(wanted), number(answer))).collect(),
        ))
    }

    /// The matrix for a terminal; points have no text but their largest errors.
    pub fn text(&self) -> String {
        let mut text = String::new();
        match self {
            Answers::Classes { names, counts } => {
                let all: usize = counts.iter().flatten().sum();
                let right: usize = (0..counts.len()).map(|class| counts[class][class]).sum();
                let cells = counts.iter().flatten().map(|n| n.to_string().len()).max().unwrap_or(1);
                let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(1);
                let column = cells.max(width);
                let _ = writeln!(text, "answers: {right} of {all} are right; a row for each wanted class");
                let _ = write!(text, "{:width$}", "");
                let cells = |cells: Vec<String>| {
                    let cells = cells.iter().map(|cell| format!("  {cell:>column$}"));
                    cells.collect::<Vec<_>>().concat() + "\n"
                };
                text += &cells(names.clone());
                for (name, row) in names.iter().zip(counts) {
                    let _ = write!(text, "{name:width$}");
                    text += &cells(row.iter().map(ToString::to_string).collect());
                }
            }
            Answers::Numbers(pairs) => {
                let errors: Vec<f64> = pairs.iter().map(|(wanted, answer)| (answer - wanted).abs()).collect();
                let largest = errors.iter().copied().fold(0.0, f64::max);
                let mean = errors.iter().sum::<f64>() / number_of(errors.len());
                let _ = writeln!(
                    text,
                    "answers: {} pairs, mean error {mean:.6}, largest error {largest:.6}",
                    pairs.len()
                );
            }
        }
        text
    }

    /// The same as data.
    pub fn as_data(&self) -> Json {
        match self {
            Answers::Classes { names, counts } => json!({ "classes": names, "counts": counts }),
            Answers::Numbers(pairs) => json!({ "pairs": pairs.len() }),
        }
    }

    /// A picture for a browser.
    pub fn svg(&self) -> String {
        match self {
            Answers::Classes { names, counts } => matrix_svg(names, counts),
            Answers::Numbers(pairs) => points_svg(pairs),
        }
    }
}

#[allow(clippy::cast_precision_loss)] // pictures are small
fn number_of(n: usize) -> f64 {
    n as f64
}

fn number(value: &Value) -> f64 {
    match value.to_num64() {
        Value::Num(x) => x,
        _ => f64::NAN,
    }
}

/// The class that an integer names.
fn class(value: &Value) -> Option<usize> {
    match value {
        Value::Int(n) => usize::try_from(*n).ok().filter(|n| *n < CLASSES),
        _ => None,
    }
}

/// The class of an answer: an integer, or the place of the largest number.
fn chosen(answer: &Value) -> Option<usize> {
    if answer.shape().is_scalar() {
        return class(answer);
    }
    let numbers: Vec<f64> = answer.to_num64().elements().map(|element| number(&element)).collect();
    let is_vector = answer.shape().len() == 1 && answer.scalar() == Scalar::Num && numbers.len() <= CLASSES;
    let largest = (0..numbers.len()).reduce(|best, at| if numbers[at] > numbers[best] { at } else { best });
    largest.filter(|_| is_vector)
}

fn matrix(pairs: &[(usize, usize)], names: &[String]) -> Option<Answers> {
    let n = pairs.iter().map(|(wanted, answer)| wanted.max(answer) + 1).max()?.max(names.len());
    let mut counts = vec![vec![0; n]; n];
    for (wanted, answer) in pairs {
        counts[*wanted][*answer] += 1;
    }
    let names = (0..n).map(|class| names.get(class).cloned().unwrap_or_else(|| class.to_string())).collect();
    Some(Answers::Classes { names, counts })
}

fn begin(width: f64, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    )
}

fn matrix_svg(names: &[String], counts: &[Vec<usize>]) -> String {
    const SIZE: f64 = 48.0;
    const MARGIN: f64 = 120.0;
    let side = MARGIN + SIZE * number_of(names.len()) + 24.0;
    let mut text = begin(side, side);
    for (row, (name, counts)) in names.iter().zip(counts).enumerate() {
        let (y, all) = (MARGIN + SIZE * number_of(row), counts.iter().sum::<usize>().max(1));
        let name = escaped(name);
        let (middle, left) = (y + SIZE / 2.0 + 4.0, MARGIN - 8.0);
        let _ = writeln!(text, "<text x=\"{left}\" y=\"{middle}\" text-anchor=\"end\">{name}</text>");
        let _ = writeln!(text, "<text x=\"{middle}\" y=\"{left}\" text-anchor=\"middle\">{name}</text>");
        for (column, n) in counts.iter().enumerate() {
            let (x, part) = (MARGIN + SIZE * number_of(column), number_of(*n) / number_of(all));
            let ink = if part > 0.5 { "white" } else { "black" };
            let _ = writeln!(
                text,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{SIZE}\" height=\"{SIZE}\" fill=\"#1f6feb\" fill-opacity=\"{part:.3}\" stroke=\"#ccc\"/>"
            );
            let centre = x + SIZE / 2.0;
            let _ = writeln!(
                text,
                "<text x=\"{centre}\" y=\"{middle}\" text-anchor=\"middle\" fill=\"{ink}\">{n}</text>"
            );
        }
    }
    let _ = writeln!(text, "<text x=\"8\" y=\"20\">rows: wanted, columns: answers</text>");
    text + "</svg>\n"
}

/// Wanted numbers to the right, answers upwards; right answers are on the diagonal.
fn points_svg(pairs: &[(f64, f64)]) -> String {
    const SIDE: f64 = 420.0;
    const MARGIN: f64 = 48.0;
    let mut text = begin(SIDE, SIDE);
    let all = || pairs.iter().flat_map(|(wanted, answer)| [*wanted, *answer]).filter(|x| x.is_finite());
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    if low < high {
        let part = |x: f64| (SIDE - 2.0 * MARGIN) * ((x - low) / (high - low));
        let (x, y) = (|value: f64| MARGIN + part(value), |value: f64| SIDE - MARGIN - part(value));
        let (near, far) = (MARGIN, SIDE - MARGIN);
        let _ = writeln!(
            text,
            "<path d=\"M{near} {near}V{far}H{far}\" fill=\"none\" stroke=\"#888\"/>\n<path d=\"M{near} {far}L{far} {near}\" stroke=\"#ccc\"/>"
        );
        for value in [low, high] {
            let (right, up) = (x(value), y(value) + 4.0);
            let left = near - 6.0;
            let _ = writeln!(text, "<text x=\"{left}\" y=\"{up:.1}\" text-anchor=\"end\">{value:.4}</text>");
            let below = far + 18.0;
            let _ = writeln!(
                text,
                "<text x=\"{right:.1}\" y=\"{below}\" text-anchor=\"middle\">{value:.4}</text>"
            );
        }
        let step = pairs.len().div_ceil(POINTS).max(1);
        for (wanted, answer) in pairs.iter().step_by(step).filter(|(a, b)| a.is_finite() && b.is_finite()) {
            let _ = writeln!(
                text,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2\" fill=\"#1f6feb\" fill-opacity=\"0.5\"/>",
                x(*wanted),
                y(*answer)
            );
        }
        let _ = writeln!(text, "<text x=\"{near}\" y=\"20\">right: wanted, up: answers</text>");
    }
    text + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use eddy_tensor::{Data, Shape};

    use super::*;

    fn vector(elements: &[f64]) -> Value {
        Value::new(Shape::new(&[elements.len()]), Data::Num(elements.to_vec())).expect("as many as the shape")
    }

    #[test]
    fn classes_are_counted_and_numbers_are_points() {
        let pairs = [
            (vector(&[0.1, 0.9]), Value::Int(1)),
            (vector(&[0.8, 0.2]), Value::Int(1)),
            (vector(&[0.8, 0.2]), Value::Int(0)),
        ];
        let answers = Answers::new(&pairs, &["no".to_string(), "yes".to_string()]).expect("they are classes");
        assert_eq!(
            answers.text(),
            "answers: 2 of 3 are right; a row for each wanted class\n      no  yes\nno     1    0\nyes    1    1\n"
        );
        assert!(answers.svg().ends_with("</svg>\n"));
        let numbers = Answers::new(&[(Value::Num(1.5), Value::Num(1.0))], &[]).expect("they are numbers");
        assert_eq!(numbers.text(), "answers: 1 pairs, mean error 0.500000, largest error 0.500000\n");
        assert!(Answers::new(&[(vector(&[1.0]), Value::Num(1.0))], &[]).is_none());
        assert!(Answers::new(&[(vector(&[1.0]), Value::Int(-1))], &[]).is_none());
        assert!(Answers::new(&[], &[]).is_none());
    }
}
