//! P11: cotangents are linear in the seeds, and are transposed tangents (the first law of 9.10); operations
//! without derivatives.

use eddy_language::semantics::Cell;
use eddy_tensor::Value;

use crate::generated::engines::Rows;
use crate::generated::generate::{Choices, NodeText};
use crate::numbers::{EXACT, are_close, dot_rows, elements, same_rows, with_elements};
use crate::run::{Run, Stop, law_of_nodes, run_text};
use crate::samples::{sample, sample_without_random};

/// a · left + b · right, where both have values.
fn combined((a, left): (f64, &Rows), (b, right): (f64, &Rows)) -> Rows {
    let cell = |(left, right): (&Cell, &Cell)| match (left, right) {
        (Cell::Value(left), Cell::Value(right)) => {
            let numbers = elements(left).into_iter().zip(elements(right)).map(|(x, y)| a * x + b * y);
            Cell::Value(with_elements(left, numbers.collect()))
        }
        (Cell::Value(_), other) => other.clone(),
        (other, _) => other.clone(),
    };
    let row = |(left, right): (&Vec<Cell>, &Vec<Cell>)| left.iter().zip(right).map(cell).collect();
    left.iter().zip(right).map(row).collect()
}

#[test]
fn p11_cotangents_are_linear_in_the_seeds() {
    law_of_nodes("P11 linear", 150, sample, |case, node| {
        let choices = &mut case.decisions();
        let (left, right) = (node.seeds(choices), node.seeds(choices));
        let both = combined((0.5, &left), (-2.0, &right));
        let [left, right, both] = [&left, &right, &both].map(|seeds| node.adjoint(seeds));
        let (left, right, both) = (left?, right?, both?);
        let sum = combined((0.5, &left.rows), (-2.0, &right.rows));
        Ok(same_rows(("of the sum", &both.rows), ("sum", &sum), EXACT)?)
    });
}

/// Σ ⟨ty, dy⟩ = Σ ⟨tx, dx⟩ + Σ ⟨tparam, dparam⟩.
pub fn is_dual(node: &Run, choices: &mut Choices<'_>) -> Result<(), Stop> {
    let seeds = node.seeds(choices);
    let adjoint = node.adjoint(&seeds)?;
    let directions = node.directions(&adjoint.rows, choices);
    let tangent = node.tangent(&directions)?;
    let (forward, backward) = (dot_rows(&tangent.rows, &seeds), dot_rows(&directions, &adjoint.rows));
    if are_close(forward, backward, EXACT) {
        return Ok(());
    }
    let benches = [&tangent.run, &adjoint.run].map(|run| run.ready.bench(&run.name)).join("\n");
    Err(Stop::Broken(format!("⟨Jv,w⟩ is {forward}, ⟨v,Jᵀw⟩ is {backward}\n{benches}\n{}", node.text)))
}

#[test]
fn p11_cotangents_are_transposed_tangents() {
    law_of_nodes("P11 dual", 300, sample, |case, node| is_dual(node, &mut case.decisions()));
}

/// A node with the outputs of another one on transformed arguments.
fn wrapped(node: &NodeText, argument: impl Fn(&str) -> String) -> String {
    let arguments: Vec<String> = node.input_names().map(argument).collect();
    let (inputs, outputs) = (node.inputs.join(", "), node.outputs.join(", "));
    format!("node wrapped({inputs}) -> ({outputs})\n  {outputs} = {}({});\n", node.name, arguments.join(", "))
}

#[test]
fn stop_gradient_is_the_identity_with_derivative_zero() {
    law_of_nodes("stop_gradient", 150, sample_without_random, |case, node| {
        let flow = node.flow();
        let n_inputs = flow.inputs.iter().filter(|input| node.sources.contains(input)).count();
        let is_num = |name: &str| {
            flow.inputs
                .iter()
                .any(|var| flow.var(*var).name.as_deref() == Some(name) && node.sources.contains(var))
        };
        let text = wrapped(case.program.main(), |name| {
            if is_num(name) { format!("stop_gradient({name})") } else { name.to_string() }
        });
        let text = format!("{}{text}", node.text);
        let stopped = run_text(&text, "wrapped", node.ready.inputs.clone(), node.ready.n_cycles)?;
        let outputs = [node, &stopped].map(|run| run.rows_of(&run.flow().outputs));
        if outputs[0] != outputs[1] {
            return Err(Stop::Broken(format!("values change\n{text}")));
        }
        let seeds = node.seeds(&mut case.decisions());
        let (whole, stopped) = (node.adjoint(&seeds)?, stopped.adjoint(&seeds)?);
        let zero = |cell: &Cell| !matches!(cell, Cell::Value(value) if *value != zero_like(value));
        if !stopped.rows[..n_inputs].iter().flatten().all(zero) {
            return Err(Stop::Broken(format!("a cotangent passes\n{text}")));
        }
        let name = "with stop_gradient";
        Ok(same_rows((name, &stopped.rows[n_inputs..]), ("without", &whole.rows[n_inputs..]), EXACT)?)
    });
}

fn zero_like(value: &Value) -> Value {
    with_elements(value, vec![0.0; elements(value).len()])
}
