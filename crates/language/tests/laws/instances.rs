//! Instances of a node share no state (P12).

use eddy_flow::Flow;
use eddy_language::semantics::Cell;

use crate::generated::case::{Case, Ready, prepared};
use crate::generated::compare::show;
use crate::generated::engines::{Rows, cells, simulate};
use crate::generated::generate::{NodeText, ProgramText};
use crate::generated::harness::{SampleChoices, Trial, Verdict, law_of_programs};
use crate::generated::trace::{Absences, Presence, value};

/// A node on its own.
fn sample(source: &mut SampleChoices<'_>) -> Case {
    let program = source.program.single();
    Case::new(program, source, Absences::Some)
}

#[test]
fn p12_two_instances_are_two_runs() {
    law_of_programs("P12 two instances", 300, sample, |case, ready| {
        let f = case.program.main();
        let inputs = |k: usize| f.input_names().map(|name| format!("{name}{k}")).collect::<Vec<_>>();
        let equation = |k: usize| format!("o{k} = f({});", inputs(k).join(", "));
        let both = NodeText {
            name: "n",
            inputs: [inputs(1), inputs(2)].concat(),
            outputs: vec!["o1".to_string(), "o2".to_string()],
            equations: vec![equation(1), equation(2)],
        };
        let both = program(f, both)?;
        // Streams that are on no input's clock follow the base, which belongs to the first instance.
        let presence = if ready.clocks().demanded().is_empty() { Presence::Free } else { Presence::AsBefore };
        let second = cells!(ready.another_trace(&mut case.decisions(), presence));
        let rows = [ready.inputs.clone(), second.inputs.clone()].concat();
        let both = Ready { prepared: both, inputs: rows, n_cycles: ready.n_cycles };
        let rows = cells!(simulate(&both));
        for (k, alone) in [(1, ready), (2, &second)] {
            is_alone(f, alone, (&format!("f#{k}/"), &format!("o{k}")), (both.flow(), &rows))
                .map_or_else(|broken| Err(format!("{broken}\n{}", both.bench("n"))), Ok)?;
        }
        Ok(Verdict::Holds)
    });
}

#[test]
fn p12_a_sampled_instance_is_a_run_with_absences() {
    law_of_programs("P12 sampled instance", 300, sample, |case, ready| {
        let (f, flow) = (case.program.main(), ready.flow());
        if flow.inputs.is_empty() || !ready.clocks().demanded().is_empty() {
            return Ok(Verdict::Vacuous("streams of no input's clock"));
        }
        let mut choices = case.decisions();
        let ready = &cells!(ready.another_trace(&mut choices, Presence::Together));
        let roots: Vec<usize> =
            (0..flow.inputs.len()).filter(|input| ready.n_samplings(flow.inputs[*input]) == 0).collect();
        let names: Vec<String> = f.input_names().map(ToString::to_string).collect();
        let argument = |(index, name): (usize, &String)| {
            if roots.contains(&index) { format!("{name} when on") } else { name.clone() }
        };
        let arguments: Vec<String> = names.iter().enumerate().map(argument).collect();
        let sampled = NodeText {
            name: "n",
            inputs: [vec!["on:bool".to_string()], f.inputs.clone()].concat(),
            outputs: vec!["o".to_string()],
            equations: vec![format!("o = f({});", arguments.join(", "))],
        };
        let prepared = program(f, sampled)?;
        let base = &ready.inputs[roots[0]];
        let on: Vec<Cell> = base
            .iter()
            .map(|cell| match cell {
                Cell::Absent if choices.below(2) == 0 => Cell::Absent,
                cell => Cell::Value(eddy_tensor::Value::Bool(*cell != Cell::Absent)),
            })
            .collect();
        let mut rows = vec![on.clone()];
        for (index, row) in ready.inputs.iter().enumerate() {
            let cell = |(on, cell): (&Cell, &Cell)| match (on.truth(), cell) {
                // Cells that are not sampled are arbitrary.
                (Some(false), _) if roots.contains(&index) => {
                    Cell::Value(value(flow, flow.inputs[index], &mut choices))
                }
                _ => cell.clone(),
            };
            rows.push(on.iter().zip(row).map(cell).collect());
        }
        let sampled = Ready { prepared, inputs: rows, n_cycles: ready.n_cycles };
        let rows = cells!(simulate(&sampled));
        is_alone(f, ready, ("f#1/", "o"), (sampled.flow(), &rows))
            .map_err(|broken| format!("{broken}\n{}", sampled.bench("n")))
    });
}

fn program(f: &NodeText, main: NodeText) -> Result<eddy_language::prepare::Prepared, String> {
    let program = ProgramText { functions: String::new(), nodes: vec![f.clone(), main] };
    prepared(&program.text(), "n").map_err(|refusal| format!("{refusal:?}\n{}", program.text()))
}

/// The streams of an instance have the same cells as when the node runs alone.
fn is_alone(
    f: &NodeText,
    alone: &Ready,
    (path, output): (&str, &str),
    (flow, rows): (&Flow, &Rows),
) -> Trial {
    let alone_rows = cells!(simulate(alone));
    for var in alone.flow().var_ids() {
        let Some(name) = alone.flow().var(var).name.as_deref() else { continue };
        if alone.flow().inputs.contains(&var) {
            continue;
        }
        let inside = if f.outputs[0] == name { output.to_string() } else { format!("{path}{name}") };
        let Some(other) = flow.find(&inside) else { return Err(format!("there is no `{inside}`")) };
        let (expected, found) = (&alone_rows[var.index()], &rows[other.index()]);
        if expected != found {
            let (expected, found) = (show(expected), show(found));
            return Err(format!("`{inside}`: {found}\n  alone: {expected}\n{}", alone.bench("f")));
        }
    }
    Ok(Verdict::Holds)
}
