//! `train` (9.7): parameters move against the gradient of the loss. P20: `sgd_batch` over k sequences moves them once, by the mean
//! of the gradients of the sequences.

use std::ops::Range;

use eddy_reactive::cell::Cell;
use eddy_reactive::flow::{Kind, VarId};
use eddy_tensor::{Op, Type, Value};

use crate::generated::case::Case;
use crate::generated::engines::Rows;
use crate::generated::generate::Choices;
use crate::generated::trace::generic_value;
use crate::kernel;
use crate::numbers::{EXACT, elements, same_rows, with_elements};
use crate::run::{Run, Stop, law_of_nodes, parameters, run_text};
use crate::samples::sample_single_to_train;
use crate::training::steps;
use crate::unrolled::Unrolled;

const RATE: f64 = 0.125;

/// Sequences of data for a node, each ended by `end`.
struct Sequences {
    end: Vec<Cell>,
    gt: Vec<Cell>,
    ranges: Vec<Range<usize>>,
}

impl Sequences {
    fn new(node: &Run, choices: &mut Choices<'_>) -> Sequences {
        let ty: Type = node.flow().var(node.targets[0]).ty.clone();
        let row = node.ready.inputs.first();
        let is_there = |cycle: usize| row.is_none_or(|row| row[cycle].is_present());
        let n_cycles = node.ready.n_cycles;
        let (mut end, mut gt) = (vec![Cell::Absent; n_cycles], vec![Cell::Absent; n_cycles]);
        let (mut ranges, mut start) = (Vec::new(), 0);
        for cycle in (0..n_cycles).filter(|cycle| is_there(*cycle)) {
            let is_last = !(cycle + 1..n_cycles).any(is_there) || choices.below(2) == 1;
            end[cycle] = Cell::Value(Value::Bool(is_last));
            gt[cycle] = Cell::Value(generic_value(&ty, choices));
            if is_last {
                ranges.push(start..cycle + 1);
                start = cycle + 1;
            }
        }
        Sequences { end, gt, ranges }
    }
}

/// A node with parameters, its loss, and its training.
fn text(case: &Case, node: &Run, optimiser: &str) -> String {
    let f = case.program.main();
    let (inputs, arguments) = (f.inputs.join(", "), f.input_names().collect::<Vec<_>>().join(", "));
    let comma = if inputs.is_empty() { "" } else { ", " };
    format!(
        "{}node line({inputs}) -> (o)\n  o = param(0.75) * f({arguments}) + param(0.25);\n\
         node whole({inputs}{comma}gt) -> (l)\n  l = mse(line({arguments}), gt);\n\
         train line as trained loss mse optim {optimiser};\n",
        node.text
    )
}

/// The sum over the cycles of a row.
fn total(row: &[Cell]) -> Option<Value> {
    let mut values = row.iter().filter_map(Cell::value);
    let first = values.next()?;
    let numbers = values.fold(elements(first), |sum, value| {
        sum.into_iter().zip(elements(value)).map(|(sum, number)| sum + number).collect()
    });
    Some(with_elements(first, numbers))
}

/// left + factor · right.
fn moved(left: &Value, factor: f64, right: &Value) -> Value {
    let numbers = elements(left).into_iter().zip(elements(right)).map(|(left, right)| left + factor * right);
    with_elements(left, numbers.collect())
}

/// What one sequence says.
struct Sequence {
    losses: Vec<Cell>,
    /// What the parameters start with.
    start: Vec<Value>,
    gradient: Vec<Value>,
}

/// The losses of one sequence at some values of the parameters, and the gradient there.
fn sequence(text: &str, inputs: Rows, at: Option<&[Value]>) -> Result<Sequence, Stop> {
    let n_cycles = inputs[0].len();
    let run = run_text(text, "whole_end", inputs, n_cycles)?;
    let mut unrolled = Unrolled::new(&run)?;
    let parameters: Vec<_> = parameters(run.flow()).map(|equation| equation.out).collect();
    if let Some(at) = at {
        let cells = parameters.iter().zip(at).flat_map(|(var, value)| {
            unrolled.steps_of(*var).map(|(_, step)| (step, value.clone())).collect::<Vec<_>>()
        });
        let changes: Vec<_> = cells.collect();
        unrolled = unrolled.at(&changes)?;
    }
    let mut losses = vec![Cell::Absent; n_cycles];
    let mut weights = losses.clone();
    for (cycle, step) in unrolled.steps_of(run.targets[0]) {
        losses[cycle] = Cell::Value(unrolled.values[step].clone());
        weights[cycle] = Cell::Value(Value::Num(1.0));
    }
    if (0..n_cycles).any(|cycle| !run.row(run.targets[0])[cycle].is_final()) {
        return Err(Stop::Skipped("a loss that stays unknown"));
    }
    let gradient = kernel::gradient(&unrolled, (&run.targets, &vec![weights]), &parameters, n_cycles)?;
    let gradient: Option<Vec<Value>> = gradient.iter().map(|row| total(row)).collect();
    let gradient = gradient.ok_or(Stop::Skipped("a parameter without cells"))?;
    let value = |row: &[Cell]| row.iter().find_map(Cell::value).cloned().expect("it has a gradient");
    let start = parameters.iter().map(|var| value(run.row(*var))).collect();
    Ok(Sequence { losses, start, gradient })
}

/// The streams that are given by optimisers in place of parameters: copies now, at the same places of the text.
fn optimised(trained: &Run, node: &Run) -> Vec<VarId> {
    let spans: Vec<_> = parameters(node.flow()).map(|equation| equation.span).collect();
    let equations = trained.flow().equations.iter();
    let copies = equations.filter(|equation| {
        matches!(equation.kind, Kind::Apply(Op::Copy, _)) && spans.contains(&equation.span)
    });
    // What the optimisers start with is copied at these places too, further down.
    copies.map(|equation| equation.out).take(spans.len()).collect()
}

#[test]
fn train_moves_parameters_against_the_gradient_of_the_loss() {
    law_of_nodes("train", 200, sample_single_to_train, |case, node| {
        let choices = &mut case.decisions();
        let text = text(case, node, &format!("sgd({RATE})"));
        let line = run_text(&text, "line", node.ready.inputs.clone(), node.ready.n_cycles)?;
        let prepared = line.prepared_on_one_clock("trained")?;
        let bp = line.signal(&prepared, line.ready.inputs.len(), || !choices.once_in(3))?;
        let seeds = line.seeds(choices).remove(0);
        let gt = seeds.iter().zip(&bp);
        let gt = gt.map(|(cell, bp)| if bp.truth() == Some(true) { cell.clone() } else { Cell::Absent });
        let inputs = [line.ready.inputs.clone(), vec![bp.clone(), gt.collect()]].concat();
        let trained = run_text(&text, "trained", inputs, node.ready.n_cycles)?;
        let moving = optimised(&trained, &line);
        let loss = &trained.flow().outputs[1..];
        let unrolled = Unrolled::with(&trained, [&trained.sources[..], &moving].concat(), &|_, _| false)?;
        let weights = vec![vec![Cell::Value(Value::Num(-RATE)); node.ready.n_cycles]];
        let expected = kernel::gradient(&unrolled, (loss, &weights), &moving, node.ready.n_cycles)?;
        let found: Rows = moving.iter().map(|var| steps(trained.row(*var))).collect();
        Ok(same_rows((&trained.ready.bench("trained"), &found), ("expected", &expected), EXACT)?)
    });
}

#[test]
fn p20_a_batch_is_one_step_with_the_mean_gradient() {
    law_of_nodes("P20 sgd_batch", 200, sample_single_to_train, |case, node| {
        let choices = &mut case.decisions();
        let k = 1 + choices.below(3);
        let text = text(case, node, &format!("sgd_batch({RATE}, {k}) segment"));
        node.prepared_on_one_clock("f_end")?;
        let Sequences { end, gt, ranges } = Sequences::new(node, choices);
        let bp = end
            .iter()
            .map(|cell| if cell.is_present() { Cell::Value(Value::Bool(true)) } else { Cell::Absent });
        let inputs = [node.ready.inputs.clone(), vec![end.clone(), bp.collect(), gt.clone()]].concat();
        let trained = run_text(&text, "trained", inputs, node.ready.n_cycles)?;
        let found = trained.rows_of(&trained.flow().outputs[1..]);
        let (mut losses, mut sums, mut at): (Vec<Cell>, Option<Vec<Value>>, Option<Vec<Value>>) =
            Default::default();
        for (number, range) in ranges.into_iter().enumerate() {
            let rows = [node.ready.inputs.clone(), vec![gt.clone(), end.clone()]].concat();
            let rows: Rows = rows.iter().map(|row| row[range.clone()].to_vec()).collect();
            let Sequence { losses: of_sequence, start, gradient } = sequence(&text, rows, at.as_deref())?;
            losses.extend(of_sequence);
            let sum = match sums.take() {
                None => gradient,
                Some(sum) => sum.iter().zip(&gradient).map(|(sum, more)| moved(sum, 1.0, more)).collect(),
            };
            if (number + 1) % k == 0 {
                let from = at.take().unwrap_or(start);
                #[allow(clippy::cast_precision_loss)] // batches are small
                let factor = -RATE / k as f64;
                at = Some(from.iter().zip(&sum).map(|(from, sum)| moved(from, factor, sum)).collect());
            } else {
                sums = Some(sum);
            }
        }
        losses.resize(node.ready.n_cycles, Cell::Absent);
        Ok(same_rows((&trained.ready.bench("trained"), &found), ("by sequences", &[losses]), EXACT)?)
    });
}
