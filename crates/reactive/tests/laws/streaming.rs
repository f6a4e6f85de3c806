//! What is printed does not depend on what is forgotten: an endless pipe and a test bench show the same cells.

use std::io::BufReader;

use eddy_language::{Command, Data, Format, Language, Options, Status};
use eddy_reactive::Reactive;
use eddy_reactive::causality::{needed, waiting};
use eddy_reactive::cell::Cell;
use eddy_reactive::clocks::{Clock, Clocks};
use eddy_reactive::flow::VarId;
use eddy_reactive::runs::json_line;
use eddy_reactive::simulate::Simulation;
use eddy_syntax::{SourceFile, Sources};

use crate::generated::case::{Case, Ready};
use crate::generated::compare::{below, label, same, show};
use crate::generated::engines::{Rows, SEED, cells, options, simulate};
use crate::generated::harness::{Source, Verdict, law_of_programs};

#[test]
fn releasing_complete_cycles_changes_no_cell() {
    let sample = |source: &mut Source<'_>| Case::sample(source).changed(Ready::with_unknown_cycles);
    law_of_programs("release", 400, sample, |_, ready| {
        let whole = cells!(simulate(ready));
        let simulation = Simulation::new(ready.flow(), ready.clocks(), options());
        let Some(seen) = released(simulation, ready) else { return Ok(Verdict::Vacuous("no value")) };
        same(ready.flow(), ("kept", &whole), ("released", &seen))?;
        Ok(Verdict::Holds)
    });
}

#[test]
fn releasing_cycles_whose_outputs_are_complete_changes_no_output() {
    let sample = |source: &mut Source<'_>| Case::sample(source).changed(Ready::with_unknown_cycles);
    law_of_programs("release of what is not needed", 400, sample, |_, ready| {
        let (flow, clocks) = (ready.flow(), ready.clocks());
        let whole = cells!(simulate(ready));
        // Half of the outputs, so that there is something that nobody needs.
        let outputs = &flow.outputs[flow.outputs.len() / 2..];
        let simulation = Simulation::new(flow, clocks, options()).needing(clocks, outputs);
        let Some(seen) = released(simulation, ready) else { return Ok(Verdict::Vacuous("no value")) };
        below(flow, ("released", &seen), ("kept", &whole))?;
        let is_needed = needed(flow, clocks, outputs);
        for var in flow.var_ids().filter(|var| is_needed[var.index()]) {
            let (seen, whole) = (&seen[var.index()], &whole[var.index()]);
            if seen != whole {
                let (label, seen, whole) = (label(flow, var), show(seen), show(whole));
                return Err(format!("`{label}`\n  released: {seen}\n  kept: {whole}"));
            }
        }
        Ok(Verdict::Holds)
    });
}

/// The cells of a simulation that releases each cycle when it is complete, as they were then.
fn released(mut simulation: Simulation<'_>, ready: &Ready) -> Option<Rows> {
    let mut seen: Rows = vec![Vec::new(); ready.flow().vars.len()];
    for cycle in 0..ready.n_cycles {
        simulation.open(&ready.cycle(cycle)).ok()?;
        while simulation.n_open() > 0 && simulation.is_complete(simulation.first_cycle()) {
            for var in ready.flow().var_ids() {
                seen[var.index()].push(simulation.cell(simulation.first_cycle(), var).clone());
            }
            simulation.release();
        }
    }
    simulation.end().ok()?;
    for var in ready.flow().var_ids() {
        let open = simulation.first_cycle()..simulation.n_cycles();
        seen[var.index()].extend(open.map(|cycle| simulation.cell(cycle, var).clone()));
    }
    Some(seen)
}

#[test]
fn a_pipe_and_a_test_bench_print_the_same_lines() {
    law_of_programs("streams", 200, Case::sample, |case, ready| {
        let rows = cells!(simulate(ready));
        let outputs: Vec<(VarId, &Vec<Cell>)> =
            ready.flow().outputs.iter().map(|output| (*output, &rows[output.index()])).collect();
        let expected = lines(ready, &outputs);
        let text = case.program.text();
        let bench = format!("{text}\n{}", ready.bench("n").replace(" chrono", &format!(" seed {SEED}")));
        printed(&bench, &Options::default(), None, &expected)?;
        if !ready.flow().inputs.is_empty() {
            let inputs: Vec<(VarId, &Vec<Cell>)> =
                ready.flow().inputs.iter().copied().zip(&ready.inputs).collect();
            let data = lines(ready, &inputs);
            let options = Options { node: Some("n".to_string()), seed: Some(SEED), ..Options::default() };
            printed(&text, &options, Some(data), &expected)?;
        }
        Ok(Verdict::Holds)
    });
}

#[test]
fn inputs_in_files_of_their_own_print_the_same_lines_without_cells_where_they_are_sampled_away() {
    law_of_programs("files of their own", 300, Case::sample, |case, ready| {
        let (flow, clocks) = (ready.flow(), ready.clocks());
        let rows = cells!(simulate(ready));
        let outputs: Vec<(VarId, &Vec<Cell>)> =
            flow.outputs.iter().map(|output| (*output, &rows[output.index()])).collect();
        let is_waiting = waiting(flow, clocks);
        let mut files = Vec::new();
        for (input, cells) in flow.inputs.iter().zip(&ready.inputs) {
            let conditions: Vec<VarId> = conditions(clocks, *input);
            let mut data = lines(ready, &[(*input, cells)]);
            if !conditions.is_empty() && !conditions.iter().any(|var| is_waiting[var.index()]) {
                data = data.split_inclusive('\n').filter(|line| *line != "{}\n").collect();
            }
            files.push(Data { input: flow.var(*input).name.as_deref().map(str::to_string), ..file(data) });
        }
        // The order of files must not matter.
        files.reverse();
        let options = Options {
            node: Some("n".to_string()),
            seed: Some(SEED),
            engine: Some("simulate".to_string()),
            cycles: Some(ready.n_cycles as u64),
            ..Options::default()
        };
        printed_from(&case.program.text(), &options, files, &lines(ready, &outputs))?;
        Ok(Verdict::Holds)
    });
}

/// The conditions of the clock of a stream.
fn conditions(clocks: &Clocks, var: VarId) -> Vec<VarId> {
    let (mut found, mut clock) = (Vec::new(), clocks.of(var));
    while let Clock::On { of, condition, .. } = clocks.clock(clock) {
        found.push(condition);
        clock = of;
    }
    found
}

/// Rows as a JSON object for each cycle.
fn lines(ready: &Ready, rows: &[(VarId, &Vec<Cell>)]) -> String {
    let name = |var: VarId| ready.flow().var(var).name.as_deref().expect("it is in the head of the node");
    let line = |cycle: usize| json_line(rows.iter().map(|(var, row)| (name(*var), &row[cycle])));
    (0..ready.n_cycles).map(line).collect()
}

/// `eddy run` prints these lines.
fn printed(text: &str, options: &Options, data: Option<String>, expected: &str) -> Result<(), String> {
    printed_from(text, options, data.map(file).into_iter().collect(), expected)
}

fn file(data: String) -> Data {
    Data {
        name: "data.jsonl".to_string(),
        input: None,
        format: Format::JsonLines,
        reader: BufReader::new(Box::new(std::io::Cursor::new(data))),
        is_at_hand: true,
    }
}

fn printed_from(text: &str, options: &Options, data: Vec<Data>, expected: &str) -> Result<(), String> {
    let mut sources = Sources::alone(SourceFile::new("law.eddy", text));
    let mut out = String::new();
    let answer = Reactive.answer(Command::Run, &mut sources, options, data, &mut out);
    let verdict = answer.expect("a string takes all that is written");
    if verdict.status != Status::Answered {
        return Err(format!("refused: {}\n{text}", verdict.diagnostics[0].title));
    }
    if out == expected { Ok(()) } else { Err(format!("printed\n{out}expected\n{expected}")) }
}
