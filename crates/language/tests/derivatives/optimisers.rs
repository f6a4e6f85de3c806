//! `train` (9.7): parameters are updated by the gradient of the loss of each cycle, of each piece between two
//! cuts, or of each sequence. The updates of an optimiser by the gradients of sequences are computed
//! independently (9.6). P20: `sgd_batch` over k sequences updates the parameters once, by the mean.

use std::ops::Range;

use eddy_flow::{Kind, VarId};
use eddy_language::semantics::Cell;
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

/// The sum of the cells of a row.
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

/// The results of one sequence.
struct Sequence {
    losses: Vec<Cell>,
    /// The initial values of the parameters.
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
        return Err(Stop::Vacuous("a loss that stays unknown"));
    }
    let gradient = kernel::gradient(&unrolled, (&run.targets, &vec![weights]), &parameters, n_cycles)?;
    let gradient: Option<Vec<Value>> = gradient.iter().map(|row| total(row)).collect();
    let gradient = gradient.ok_or(Stop::Vacuous("a parameter without cells"))?;
    let value = |row: &[Cell]| row.iter().find_map(Cell::value).cloned().expect("it has a gradient");
    let start = parameters.iter().map(|var| value(run.row(*var))).collect();
    Ok(Sequence { losses, start, gradient })
}

/// The streams by which optimisers replace parameters: copies at the same spans.
fn optimised(trained: &Run, node: &Run) -> Vec<VarId> {
    let spans: Vec<_> = parameters(node.flow()).map(|equation| equation.span).collect();
    let equations = trained.flow().equations.iter();
    let copies = equations.filter(|equation| {
        matches!(equation.kind, Kind::Apply(Op::Copy, _)) && spans.contains(&equation.span)
    });
    // Copies of the optimisers' initial values have the same spans, and come later.
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

/// The same with cuts: parameters are held between two cuts, and are updated if `bp` is true at the first
/// cycle of a piece.
#[test]
fn truncated_training_moves_parameters_by_the_gradients_of_the_pieces() {
    law_of_nodes("train truncate", 200, sample_single_to_train, |case, node| {
        let choices = &mut case.decisions();
        let text = text(case, node, &format!("sgd({RATE}) truncate"));
        let line = run_text(&text, "line", node.ready.inputs.clone(), node.ready.n_cycles)?;
        let prepared = line.prepared_on_one_clock("trained")?;
        let n_inputs = line.ready.inputs.len();
        let cut = line.signal(&prepared, n_inputs, || choices.once_in(3))?;
        let bp = line.signal(&prepared, n_inputs + 1, || !choices.once_in(3))?;
        let seeds = line.seeds(choices).remove(0);
        let gt = seeds.iter().zip(&bp);
        let gt = gt.map(|(cell, bp)| if bp.truth() == Some(true) { cell.clone() } else { Cell::Absent });
        let inputs = [line.ready.inputs.clone(), vec![cut, bp.clone(), gt.collect()]].concat();
        let trained = run_text(&text, "trained", inputs, node.ready.n_cycles)?;
        let moving = optimised(&trained, &line);
        let loss = &trained.flow().outputs[1..];
        let unrolled = Unrolled::with(&trained, [&trained.sources[..], &moving].concat(), &|_, _| false)?;
        let weights = vec![vec![Cell::Value(Value::Num(-RATE)); node.ready.n_cycles]];
        let mut expected = kernel::gradient(&unrolled, (loss, &weights), &moving, node.ready.n_cycles)?;
        for row in &mut expected {
            let unmoved = row.iter_mut().zip(&bp).filter(|(_, bp)| bp.truth() == Some(false));
            for cell in unmoved.map(|(cell, _)| cell) {
                if let Cell::Value(value) = cell {
                    *value = with_elements(value, vec![0.0; value.n_elements()]);
                }
            }
        }
        let found: Rows = moving.iter().map(|var| steps(trained.row(*var))).collect();
        Ok(same_rows((&trained.ready.bench("trained"), &found), ("expected", &expected), EXACT)?)
    });
}

/// An independent implementation of optimisers: updates parameters from one sequence to the next.
struct Optimiser {
    rule: Rule,
    /// The number of sequences so far.
    n: i32,
    /// The state of each parameter: sums of gradients, velocities or moments.
    memory: Vec<[Value; 2]>,
}

/// The optimisers of section 9.6.
#[derive(Clone, Copy)]
enum Rule {
    Batch(i32),
    Momentum(f64),
    Adam(f64, f64, f64),
}

impl Rule {
    /// In the syntax of a program.
    fn text(self) -> String {
        match self {
            Rule::Batch(k) => format!("sgd_batch({RATE}, {k})"),
            Rule::Momentum(mu) => format!("momentum({RATE}, {mu:?})"),
            Rule::Adam(b1, b2, eps) => format!("adam({RATE}, {b1:?}, {b2:?}, {eps:?})"),
        }
    }
}

impl Optimiser {
    fn new(rule: Rule) -> Optimiser {
        Optimiser { rule, n: 0, memory: Vec::new() }
    }

    /// The parameters after a sequence.
    fn step(&mut self, parameters: &[Value], gradient: &[Value]) -> Vec<Value> {
        if self.memory.is_empty() {
            let zeros = |value: &Value| with_elements(value, vec![0.0; value.n_elements()]);
            self.memory = parameters.iter().map(|value| [zeros(value), zeros(value)]).collect();
        }
        self.n += 1;
        let (rule, n) = (self.rule, self.n);
        let moves = parameters.iter().zip(gradient).zip(&mut self.memory);
        moves.map(|((parameter, gradient), memory)| rule.moved(n, parameter, gradient, memory)).collect()
    }
}

impl Rule {
    fn moved(self, n: i32, parameter: &Value, gradient: &Value, memory: &mut [Value; 2]) -> Value {
        let [first, second] = memory;
        match self {
            Rule::Batch(k) => {
                *first = moved(first, 1.0, gradient);
                if n % k != 0 {
                    return parameter.clone();
                }
                let parameter = moved(parameter, -RATE / f64::from(k), first);
                *first = moved(first, -1.0, &first.clone());
                parameter
            }
            Rule::Momentum(mu) => {
                *first = moved(gradient, mu, first);
                moved(parameter, -RATE, first)
            }
            Rule::Adam(b1, b2, eps) => {
                let square = |value: &Value| {
                    with_elements(value, elements(value).into_iter().map(|x| x * x).collect())
                };
                let zero = moved(gradient, -1.0, gradient);
                *first = moved(&moved(&zero, b1, first), 1.0 - b1, gradient);
                *second = moved(&moved(&zero, b2, second), 1.0 - b2, &square(gradient));
                let [m, v] = [(&*first, b1), (&*second, b2)]
                    .map(|(moment, b)| elements(moment).into_iter().map(move |x| x / (1.0 - b.powi(n))));
                let direction = m.zip(v).map(|(m, v)| m / (v.sqrt() + eps)).collect();
                moved(parameter, -RATE, &with_elements(parameter, direction))
            }
        }
    }
}

/// Compares training of a node on sequences with training by the optimiser of this file.
fn by_sequences(name: &'static str, rule: impl Fn(&mut Choices<'_>) -> Rule) {
    law_of_nodes(name, 200, sample_single_to_train, |case, node| {
        let choices = &mut case.decisions();
        let rule = rule(choices);
        let text = text(case, node, &format!("{} segment", rule.text()));
        node.prepared_on_one_clock("f_end")?;
        let Sequences { end, gt, ranges } = Sequences::new(node, choices);
        let bp = end
            .iter()
            .map(|cell| if cell.is_present() { Cell::Value(Value::Bool(true)) } else { Cell::Absent });
        let inputs = [node.ready.inputs.clone(), vec![end.clone(), bp.collect(), gt.clone()]].concat();
        let trained = run_text(&text, "trained", inputs, node.ready.n_cycles)?;
        let found = trained.rows_of(&trained.flow().outputs[1..]);
        let mut optimiser = Optimiser::new(rule);
        let (mut losses, mut at): (Vec<Cell>, Option<Vec<Value>>) = Default::default();
        for range in ranges {
            let rows = [node.ready.inputs.clone(), vec![gt.clone(), end.clone()]].concat();
            let rows: Rows = rows.iter().map(|row| row[range.clone()].to_vec()).collect();
            let Sequence { losses: of_sequence, start, gradient } = sequence(&text, rows, at.as_deref())?;
            losses.extend(of_sequence);
            at = Some(optimiser.step(&at.take().unwrap_or(start), &gradient));
        }
        losses.resize(node.ready.n_cycles, Cell::Absent);
        Ok(same_rows((&trained.ready.bench("trained"), &found), ("by sequences", &[losses]), EXACT)?)
    });
}

#[test]
fn p20_a_batch_is_one_step_with_the_mean_gradient() {
    by_sequences("P20 sgd_batch", |choices| {
        Rule::Batch(i32::try_from(1 + choices.below(3)).expect("a batch is small"))
    });
}

#[test]
fn momentum_remembers_the_gradients_of_sequences() {
    by_sequences("momentum", |choices| Rule::Momentum([0.0, 0.5, 0.9][choices.below(3)]));
}

#[test]
fn adam_scales_the_gradients_of_sequences() {
    by_sequences("adam", |choices| Rule::Adam([0.5, 0.9][choices.below(2)], 0.99, 0.125));
}
