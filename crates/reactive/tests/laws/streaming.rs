//! What is printed does not depend on what is forgotten: an endless pipe and a test bench show the same cells.

use std::io::BufReader;

use eddy_language::{Command, Data, Format, Language, Options, Status};
use eddy_reactive::Reactive;
use eddy_reactive::cell::Cell;
use eddy_reactive::flow::VarId;
use eddy_reactive::runs::json_line;
use eddy_reactive::simulate::Simulation;
use eddy_syntax::{SourceFile, Sources};

use crate::generated::case::{Case, Ready};
use crate::generated::compare::{label, show};
use crate::generated::engines::{Rows, SEED, cells, options, simulate};
use crate::generated::harness::{Verdict, law_of_programs};

#[test]
fn releasing_complete_cycles_changes_no_cell() {
    law_of_programs(
        "release",
        400,
        |source| Case::sample(source).changed(Ready::with_unknown_cycles),
        |_, ready| {
            let whole = cells!(simulate(ready));
            let mut simulation = Simulation::new(ready.flow(), ready.clocks(), options());
            let mut seen: Rows = vec![Vec::new(); ready.flow().vars.len()];
            let collect = |simulation: &Simulation<'_>, seen: &mut Rows| {
                for var in ready.flow().var_ids() {
                    seen[var.index()].push(simulation.cell(simulation.first_cycle(), var).clone());
                }
            };
            for cycle in 0..ready.n_cycles {
                if simulation.open(&ready.cycle(cycle)).is_err() {
                    return Ok(Verdict::Skipped("no value"));
                }
                while simulation.n_open() > 0 && simulation.is_complete(simulation.first_cycle()) {
                    collect(&simulation, &mut seen);
                    simulation.release();
                }
            }
            if simulation.end().is_err() {
                return Ok(Verdict::Skipped("no value"));
            }
            for var in ready.flow().var_ids() {
                let open = simulation.first_cycle()..simulation.n_cycles();
                let rest = open.map(|cycle| simulation.cell(cycle, var).clone());
                let row: Vec<Cell> = seen[var.index()].iter().cloned().chain(rest).collect();
                if row != whole[var.index()] {
                    let (label, row) = (label(ready.flow(), var), show(&row));
                    return Err(format!(
                        "`{label}`\n  released: {row}\n  kept: {}",
                        show(&whole[var.index()])
                    ));
                }
            }
            Ok(Verdict::Holds)
        },
    );
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

/// Rows as a JSON object for each cycle.
fn lines(ready: &Ready, rows: &[(VarId, &Vec<Cell>)]) -> String {
    let name = |var: VarId| ready.flow().var(var).name.as_deref().expect("it is in the head of the node");
    let line = |cycle: usize| json_line(rows.iter().map(|(var, row)| (name(*var), &row[cycle])));
    (0..ready.n_cycles).map(line).collect()
}

/// `eddy run` prints these lines.
fn printed(text: &str, options: &Options, data: Option<String>, expected: &str) -> Result<(), String> {
    let mut sources = Sources::alone(SourceFile::new("law.eddy", text));
    let data = data.map(|data| Data {
        name: "data.jsonl".to_string(),
        input: None,
        format: Format::JsonLines,
        reader: BufReader::new(Box::new(std::io::Cursor::new(data))),
    });
    let mut out = String::new();
    let answer = Reactive.answer(Command::Run, &mut sources, options, data.into_iter().collect(), &mut out);
    let verdict = answer.expect("a string takes all that is written");
    if verdict.status != Status::Answered {
        return Err(format!("refused: {}\n{text}", verdict.diagnostics[0].title));
    }
    if out == expected { Ok(()) } else { Err(format!("printed\n{out}expected\n{expected}")) }
}
