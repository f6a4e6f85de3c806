//! Normalised inputs: their means are subtracted, and the differences divided by their deviations.
//!
//! Both are equations at the front of the program, so that every engine, and C, computes the same bits. The
//! input keeps its stream; all that read it now read the normalised one.

use eddy_flow::clocks::Clocks;
use eddy_flow::{Constant, Equation, Kind, Var, VarId};
use eddy_formats::Normalised;
use eddy_language::codes;
use eddy_language::prepare::Prepared;
use eddy_language::semantics::Cell;
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::slices::stack;
use eddy_tensor::{Data, Op, Scalar, Type, Value};

/// Puts the normalisation of inputs into equations; `from` names its source in messages.
pub(crate) fn normalise(
    prepared: &mut Prepared,
    inputs: &[Normalised],
    from: &str,
    span: Span,
) -> Result<(), Vec<Diagnostic>> {
    for Normalised { input, mean, deviation } in inputs {
        let refused = |title: String, help: &str| {
            vec![Diagnostic::error(codes::PARAMETERS, span, title).help(help.to_string())]
        };
        let named = |var: &VarId| {
            prepared.flow.var(*var).name.as_ref().is_some_and(|name| name.to_string() == *input)
        };
        let Some(number) = prepared.flow.inputs.iter().position(named) else {
            let title = format!("`{from}` normalises an input `{input}`, and the node has none of that name");
            return Err(refused(title, "run the node that was trained, or one with its inputs"));
        };
        let ty = prepared.input_types()[number].clone();
        if mean.ty() != ty {
            let title =
                format!("the input `{input}` is {ty}, but `{from}` normalises one that is {}", mean.ty());
            return Err(refused(title, "give the node data as those it was trained on"));
        }
        insert(prepared, prepared.flow.inputs[number], mean, deviation);
    }
    Ok(())
}

/// Inserts the equations of one input.
fn insert(prepared: &mut Prepared, input: VarId, mean: &Value, deviation: &Value) {
    let n_streams = prepared.batch.as_ref().filter(|batch| batch.is_wide(input)).map(|batch| batch.n);
    let widened = |value: &Value| match n_streams {
        Some(n) => stack(&vec![value; n]),
        None => value.clone(),
    };
    let Prepared { flow, clocks, batch, .. } = prepared;
    let Var { ty, span, .. } = flow.var(input).clone();
    let first = flow.vars.len();
    let [mean_var, deviation_var, difference, normalised] =
        [0, 1, 2, 3].map(|offset| VarId::new(first + offset));
    flow.vars.extend(std::iter::repeat_n(Var { name: None, span, ty, purpose: None }, 4));
    let rename = |var: VarId| if var == input { normalised } else { var };
    for equation in &mut flow.equations {
        *equation = equation.renamed(&rename);
    }
    flow.outputs.iter_mut().chain(&mut flow.tape).for_each(|var| *var = rename(*var));
    let equation = |out, kind| Equation { out, kind, span, call: None };
    let front = [
        equation(mean_var, Kind::Const(Constant::Value(widened(mean)))),
        equation(deviation_var, Kind::Const(Constant::Value(widened(deviation)))),
        equation(difference, Kind::Apply(Op::Sub, vec![input, mean_var].into())),
        equation(normalised, Kind::Apply(Op::Div, vec![difference, deviation_var].into())),
    ];
    flow.equations.splice(0..0, front);
    let clock = clocks.of(input);
    let of_var = flow.var_ids().map(|var| if var.index() < first { clocks.of(var) } else { clock }).collect();
    *clocks = Clocks::new(clocks.all().to_vec(), of_var, clocks.demanded().to_vec());
    if let Some(batch) = batch {
        batch.add_vars(4, n_streams.is_some());
    }
}

/// The mean and the deviation of an input, measured value by value.
pub(crate) struct Moments {
    /// The type of a value.
    ty: Type,
    n: f64,
    mean: Vec<f64>,
    /// The sums of the squares of the differences from the mean.
    squares: Vec<f64>,
    first: Vec<f64>,
    /// Which elements have changed since the first value.
    varies: Vec<bool>,
}

impl Moments {
    pub fn new(ty: &Type) -> Moments {
        assert_eq!(ty.scalar, Scalar::Num, "only numbers are normalised");
        let n = ty.shape.iter().product();
        let (zeros, varies) = (|| vec![0.0; n], vec![false; n]);
        Moments { ty: ty.clone(), n: 0.0, mean: zeros(), squares: zeros(), first: zeros(), varies }
    }

    /// Adds the value of a cell, if it has one. Welford's method: the sum of the squares of large numbers
    /// would lose their differences.
    pub fn add(&mut self, cell: &Cell) {
        let Some(value) = cell.value() else { return };
        self.n += 1.0;
        for (place, x) in value.elements().map(number).enumerate() {
            if self.n == 1.0 {
                self.first[place] = x;
            }
            self.varies[place] |= x != self.first[place];
            let before = x - self.mean[place];
            self.mean[place] += before / self.n;
            self.squares[place] += before * (x - self.mean[place]);
        }
    }

    /// The normalisation of the input, and the number of its elements that never change, whose deviation
    /// becomes 1; `None` without any value.
    pub fn result(&self, input: &str) -> Option<(Normalised, usize)> {
        if self.n == 0.0 {
            return None;
        }
        let deviation = |place: usize| {
            let deviation = (self.squares[place] / self.n).sqrt();
            if self.varies[place] && deviation.is_normal() { deviation } else { 1.0 }
        };
        // The mean of equal numbers may differ from them by rounding.
        let mean = |place: usize| if self.varies[place] { self.mean[place] } else { self.first[place] };
        let places = 0..self.varies.len();
        let value = |elements: Vec<f64>| {
            Value::new(self.ty.shape.clone(), Data::Num(elements)).expect("as many elements as the type has")
        };
        let (mean, deviation) =
            (value(places.clone().map(mean).collect()), value(places.map(deviation).collect()));
        let n_constant = self.varies.iter().filter(|varies| !**varies).count();
        Some((Normalised { input: input.to_string(), mean, deviation }, n_constant))
    }
}

fn number(element: Value) -> f64 {
    match element {
        Value::Num(x) => x,
        Value::Num32(x) => f64::from(x),
        other => unreachable!("{other} is no number of a num"),
    }
}

#[cfg(test)]
mod tests {
    use eddy_tensor::Shape;

    use super::*;

    #[test]
    fn large_numbers_keep_their_differences_and_constants_their_value() {
        let vector = |a: f64, b: f64| {
            Cell::Value(Value::new(Shape::new(&[2]), Data::Num(vec![a, b])).expect("two elements"))
        };
        let mut moments = Moments::new(&Type { scalar: Scalar::Num, shape: Shape::new(&[2]) });
        assert_eq!(moments.result("x"), None);
        for cell in [vector(1e9 + 1.0, 0.1), Cell::Absent, vector(1e9 + 2.0, 0.1), vector(1e9 + 3.0, 0.1)] {
            moments.add(&cell);
        }
        let (normalised, n_constant) = moments.result("x").expect("there are values");
        assert_eq!((normalised.mean.to_string(), n_constant), ("[1000000002,0.1]".to_string(), 1));
        let Cell::Value(expected) = vector((2.0_f64 / 3.0).sqrt(), 1.0) else {
            unreachable!("it has a value")
        };
        assert_eq!(normalised.deviation, expected);
    }
}
