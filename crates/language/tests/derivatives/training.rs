//! P14 and `diff_N` (9.5): training code has the values of its node where `bp` is false, and updates
//! parameters by their cotangents where it is true. P20: steps over several sequences.

use eddy_flow::{Kind, VarId};
use eddy_language::semantics::Cell;

use crate::generated::case::{Case, Ready};
use crate::generated::engines::Rows;
use crate::generated::generate::Choices;
use crate::kernel;
use crate::numbers::{EXACT, elements, same_cells, same_rows, with_elements};
use crate::run::{Run, Stop, law_of_nodes, parameters, run_text};
use crate::samples::{sample_sampled_to_train, sample_to_train, sample_without_random};
use crate::unrolled::Unrolled;

/// A run of training code.
pub struct Diff {
    pub run: Run,
    pub bp: Vec<Cell>,
    /// The cotangents of the outputs, present where `bp` is true.
    pub seeds: Rows,
}

/// `diff_N` with any `bp`. Seeds of outputs that stay unknown are zero.
pub fn diff(node: &Run, choices: &mut Choices<'_>) -> Result<Diff, Stop> {
    let name = format!("diff_{}", node.name);
    let prepared = node.prepared_on_one_root(&name)?;
    let bp = node.signal(&prepared, node.ready.inputs.len(), || !choices.once_in(3))?;
    let is_on = |cycle: usize| bp[cycle].truth() == Some(true);
    let mut seeds = node.seeds(choices);
    for row in &mut seeds {
        let sampled = row
            .iter()
            .enumerate()
            .map(|(cycle, cell)| if is_on(cycle) { cell.clone() } else { Cell::Absent });
        *row = sampled.collect();
    }
    // With updated parameters, other outputs may become unknown; their seeds are then set to zero.
    for _ in 0..3 {
        let inputs = [node.ready.inputs.clone(), vec![bp.clone()], seeds.clone()].concat();
        let ready = Ready { prepared: prepared.clone(), inputs, n_cycles: node.ready.n_cycles };
        let run = Run::new(&node.text, &name, ready)?;
        let targets = run.rows_of(&run.flow().outputs[..node.flow().outputs.len()]);
        let numeric =
            node.flow().outputs.iter().zip(targets).filter(|(output, _)| node.targets.contains(output));
        let mut is_settled = true;
        for (seeds, (_, targets)) in seeds.iter_mut().zip(numeric) {
            for (seed, target) in seeds.iter_mut().zip(targets) {
                if let (Cell::Value(value), None) = (&*seed, target.value()) {
                    let zero = with_elements(value, vec![0.0; elements(value).len()]);
                    is_settled &= *value == zero;
                    *seed = Cell::Value(zero);
                }
            }
        }
        if is_settled {
            return Ok(Diff { run, bp, seeds });
        }
    }
    Err(Stop::Vacuous("outputs that depend on their seeds"))
}

/// The streams that were parameters: they are delays now, at the same spans.
fn moving(node: &Run, diff: &Run) -> Vec<VarId> {
    let spans: Vec<_> = parameters(node.flow()).map(|equation| equation.span).collect();
    let equations = diff.flow().equations.iter();
    let moving = equations
        .filter(|equation| matches!(equation.kind, Kind::Fby { .. }) && spans.contains(&equation.span));
    moving.map(|equation| equation.out).collect()
}

#[test]
fn training_code_moves_parameters_by_their_cotangents() {
    law_of_nodes("diff_N", 200, sample_to_train, moves_by_cotangents);
}

#[test]
fn training_code_of_sampled_streams_moves_parameters_by_their_cotangents() {
    law_of_nodes("diff_N, sampled", 200, sample_sampled_to_train, moves_by_cotangents);
}

/// The cotangents that `diff_N` returns, and the updates of parameters, equal the gradient at the current
/// parameters at each cycle.
fn moves_by_cotangents(case: &Case, node: &Run) -> Result<(), Stop> {
    let Diff { run, bp, seeds } = diff(node, &mut case.decisions())?;
    let moving = moving(node, &run);
    let n_parameters = parameters(node.flow()).count();
    if moving.len() != n_parameters {
        return Err(Stop::Broken(format!("{n_parameters} parameters, {} of them move", moving.len())));
    }
    let n_inputs = node.sources.len() - n_parameters;
    let sources = [&run.sources[..n_inputs], &moving].concat();
    let unrolled = Unrolled::with(&run, [&run.sources[..], &moving].concat(), &|_, _| false)?;
    let targets = &run.targets[..node.targets.len()];
    let expected = kernel::gradient(&unrolled, (targets, &seeds), &sources, node.ready.n_cycles)?;
    let reported = run.rows_of(&run.flow().outputs[node.flow().outputs.len()..]);
    for (number, row) in reported.iter().enumerate() {
        let is_there = |cycle: usize| match &run.row(run.sources[number])[cycle] {
            // Where the source is unknown, the presence of its cotangent is unknown too.
            Cell::Unknown => true,
            source => row[cycle].is_present() == (source.is_present() && bp[cycle].truth() == Some(true)),
        };
        if !(0..row.len()).all(is_there) {
            return Err(Stop::Broken(format!(
                "dx number {number} is absent where x is present and bp is true"
            )));
        }
    }
    let masked: Rows = reported.iter().zip(&expected).map(|(row, expected)| masked(row, expected)).collect();
    let bench = run.ready.bench(&run.name);
    same_rows((&bench, &reported), ("expected", &masked), EXACT)?;
    let steps: Rows = moving.iter().map(|var| steps(run.row(*var))).collect();
    Ok(same_rows((&bench, &steps), ("expected steps", &expected[n_inputs..]), EXACT)?)
}

/// The expected cells where something is returned.
fn masked(row: &[Cell], expected: &[Cell]) -> Vec<Cell> {
    let cell = |(cell, expected): (&Cell, &Cell)| {
        if *cell == Cell::Absent { Cell::Absent } else { expected.clone() }
    };
    row.iter().zip(expected).map(cell).collect()
}

/// The change of a stream to its next activation.
pub fn steps(row: &[Cell]) -> Vec<Cell> {
    let step = |(cycle, cell): (usize, &Cell)| {
        let next = row[cycle + 1..].iter().find(|cell| **cell != Cell::Absent).and_then(Cell::value);
        match (cell.value(), next) {
            (Some(value), Some(next)) => {
                let numbers = elements(value).into_iter().zip(elements(next)).map(|(from, to)| to - from);
                Cell::Value(with_elements(value, numbers.collect()))
            }
            _ => Cell::Unknown,
        }
    };
    row.iter().enumerate().map(step).collect()
}

/// Two runs have the same outputs.
fn same_outputs(node: &Run, other: &Run) -> Result<(), Stop> {
    let [expected, found] =
        [node, other].map(|run| run.rows_of(&run.flow().outputs[..node.flow().outputs.len()]));
    Ok(same_cells((&other.ready.bench(&other.name), &found), (&node.name, &expected), 0.0)?)
}

#[test]
fn p14_training_code_that_learns_nothing_is_its_node() {
    law_of_nodes("P14 diff, false", 150, sample_without_random, |case, node| {
        let main = case.program.main();
        let n_inputs = node.flow().inputs.iter().filter(|input| node.sources.contains(input)).count();
        let (inputs, outputs) = (main.inputs.join(", "), main.outputs.join(", "));
        let arguments: Vec<&str> =
            main.input_names().chain(["false"]).chain(node.targets.iter().map(|_| "0.0")).collect();
        let left =
            main.outputs.iter().map(String::as_str).chain((0..n_inputs).map(|_| "_")).collect::<Vec<_>>();
        let text = format!(
            "{}node infer({inputs}) -> ({outputs})\n  {} = diff_n({});\n",
            node.text,
            left.join(", "),
            arguments.join(", ")
        );
        same_outputs(node, &run_text(&text, "infer", node.ready.inputs.clone(), node.ready.n_cycles)?)
    });
}

#[test]
fn p14_training_code_without_seeds_is_its_node() {
    law_of_nodes("P14 diff, bp false", 150, sample_to_train, |_, node| {
        let prepared = node.prepared_on_one_clock("diff_n")?;
        let bp = node.signal(&prepared, node.ready.inputs.len(), || false)?;
        let absent = vec![vec![Cell::Absent; node.ready.n_cycles]; node.targets.len()];
        let inputs = [node.ready.inputs.clone(), vec![bp], absent].concat();
        let ready = Ready { prepared, inputs, n_cycles: node.ready.n_cycles };
        same_known_outputs(node, &Run::new(&node.text, "diff_n", ready)?)
    });
}

/// Two runs have the same outputs where both are known: a node that updates parameters waits longer.
fn same_known_outputs(node: &Run, other: &Run) -> Result<(), Stop> {
    let [expected, found] =
        [node, other].map(|run| run.rows_of(&run.flow().outputs[..node.flow().outputs.len()]));
    let bench = other.ready.bench(&other.name);
    Ok(same_rows((&bench, &found), (&node.name, &expected), 0.0)?)
}

#[test]
fn p14_a_node_that_is_never_reset_is_its_node() {
    law_of_nodes("P14 end, false", 150, sample_to_train, |_, node| {
        same_outputs(node, &node.with_signals("n_end", 1, || false)?)
    });
}

#[test]
fn a_reset_node_restarts() {
    law_of_nodes("N_end", 150, sample_to_train, |case, node| {
        let choices = &mut case.decisions();
        let woven = node.with_signals("n_end", 1, || choices.once_in(3))?;
        let end = woven.ready.inputs[node.ready.inputs.len()].clone();
        let mut start = 0;
        while start < node.ready.n_cycles {
            let length = end[start..].iter().position(|cell| cell.truth() == Some(true));
            let stop = length.map_or(node.ready.n_cycles, |length| start + length + 1);
            let cut = |rows: &Rows| rows.iter().map(|row| row[start..stop].to_vec()).collect::<Rows>();
            let alone = run_text(&node.text, "n", cut(&node.ready.inputs), stop - start)?;
            let [expected, found] =
                [alone.rows_of(&alone.flow().outputs), cut(&woven.rows_of(&woven.flow().outputs))];
            same_rows((&woven.ready.bench("n_end"), &found), ("alone", &expected), 0.0)?;
            start = stop;
        }
        Ok(())
    });
}
