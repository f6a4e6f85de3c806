//! Results do not depend on how the inputs arrive: data files and test benches give the same cells.

#[path = "../../language/tests/generated/mod.rs"]
mod generated;

use std::io::{BufReader, Cursor, Read};
use std::sync::Arc;

use eddy_driver::data::{Content, Format};
use eddy_driver::{
    BenchRequest, BuildOptions, Data, Deaf, EngineKind, NodeRequest, Options, Program, Refusal, Row,
    RunRequest, Session,
};
use eddy_flow::VarId;
use eddy_language::causality::waiting;
use eddy_language::clocks::{Clock, Clocks};
use eddy_language::program::Enumerations;
use eddy_language::runs::json_line;
use eddy_language::semantics::Cell;
use eddy_tests::law::Coverage;

use generated::case::{Case, Ready};
use generated::engines::{SEED, cells, simulate};
use generated::harness::{Verdict, law_of_programs};

#[test]
fn a_pipe_and_a_test_bench_print_the_same_lines() {
    law_of_programs("streams", 200, Case::sample, |case, ready| {
        let rows = cells!(simulate(ready));
        let outputs: Vec<(VarId, &Vec<Cell>)> =
            ready.flow().outputs.iter().map(|output| (*output, &rows[output.index()])).collect();
        let expected = lines(ready, &outputs);
        let text = case.program.text();
        let bench = format!("{text}\n{}", ready.bench("n").replace(" chrono", &format!(" seed {SEED}")));
        same(lines_of_benches(&bench), &expected)?;
        if !ready.flow().inputs.is_empty() {
            let inputs: Vec<(VarId, &Vec<Cell>)> =
                ready.flow().inputs.iter().copied().zip(&ready.inputs).collect();
            let data = lines(ready, &inputs);
            let request = RunRequest { seed: Some(SEED), ..RunRequest::default() };
            same(lines_of_run(&text, &request, vec![file(data)]), &expected)?;
        }
        Ok(Verdict::Holds)
    });
}

#[test]
fn inputs_in_files_of_their_own_print_the_same_lines_without_cells_where_they_are_sampled_away() {
    let coverage = Coverage::default();
    law_of_programs("files of their own", 300, Case::sample_with_sampled_inputs, |case, ready| {
        let (flow, clocks) = (ready.flow(), ready.clocks());
        let rows = cells!(simulate(ready));
        let outputs: Vec<(VarId, &Vec<Cell>)> =
            flow.outputs.iter().map(|output| (*output, &rows[output.index()])).collect();
        let is_waiting = waiting(flow, clocks);
        let (mut files, mut choices) = (Vec::new(), case.decisions());
        let [mut n_left_out, mut n_kept] = [0, 0];
        for (input, cells) in flow.inputs.iter().zip(&ready.inputs) {
            let conditions: Vec<VarId> = conditions(clocks, *input);
            let mut data = lines(ready, &[(*input, cells)]);
            if !conditions.is_empty() && !conditions.iter().any(|var| is_waiting[var.index()]) {
                // A file may still have a row without a value for each cycle at which the input is absent, or
                // for some of them.
                let share = choices.among(&[1, 1, 2, 100]);
                let mut is_left_out = |line: &&str| *line == "{}\n" && choices.once_in(share);
                let (left_out, kept): (Vec<&str>, Vec<&str>) =
                    data.split_inclusive('\n').partition(&mut is_left_out);
                n_left_out += left_out.len();
                n_kept += kept.iter().filter(|line| **line == "{}\n").count();
                data = kept.concat();
                coverage.note(if conditions.len() > 1 { "several conditions" } else { "one condition" });
            }
            files.push(Data { input: flow.var(*input).name.as_deref().map(str::to_string), ..file(data) });
        }
        // The order of files does not matter.
        files.reverse();
        let request = RunRequest {
            seed: Some(SEED),
            engine: Some(EngineKind::Simulate),
            cycles: Some(ready.n_cycles as u64),
            ..RunRequest::default()
        };
        same(lines_of_run(&case.program.text(), &request, files), &lines(ready, &outputs))?;
        if n_left_out > 0 && n_kept > 0 {
            coverage.note("some absent cells are left out");
        }
        Ok(Verdict::of(n_left_out + n_kept > 0, "no cell is sampled away"))
    });
    let cases = ["one condition", "several conditions", "some absent cells are left out"];
    coverage.require("files of their own", 15, cases);
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
    let line = |cycle: usize| {
        json_line(rows.iter().map(|(var, row)| (name(*var), &row[cycle])), &Enumerations::default())
    };
    (0..ready.n_cycles).map(line).collect()
}

fn file(data: String) -> Data {
    let reader = BufReader::new(Box::new(Cursor::new(data)) as Box<dyn Read + Send>);
    let content = Content::Bytes { format: Format::JsonLines, reader, never_blocks: true };
    Data { name: "data.jsonl".to_string(), input: None, content }
}

fn program(text: &str) -> Result<Program, Refusal> {
    Session::new(Options::new(BuildOptions::from_environment()), Arc::new(Deaf)).load_text("law.eddy", text)
}

/// The lines of all test benches.
fn lines_of_benches(text: &str) -> Result<String, Refusal> {
    let ran = program(text)?.benches(&BenchRequest::default())?.value;
    Ok(ran.results.iter().map(|result| result.text(None)).collect())
}

/// The rows of the node `n` as lines.
fn lines_of_run(text: &str, request: &RunRequest, data: Vec<Data>) -> Result<String, Refusal> {
    let run = program(text)?.model(NodeRequest::of("n"))?.run(request, data)?;
    let names = run.names();
    let line =
        |row: Row| json_line(names.iter().map(String::as_str).zip(&row.cells), &Enumerations::default());
    run.map(|row| row.map(line)).collect()
}

fn same(found: Result<String, Refusal>, expected: &str) -> Result<(), String> {
    let found = found.map_err(|refusal| format!("refused: {refusal}"))?;
    if found == expected { Ok(()) } else { Err(format!("found\n{found}expected\n{expected}")) }
}
