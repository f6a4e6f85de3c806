//! P10: the adjoint of an instance is the instance of the adjoint.

use eddy_reactive::flow::VarId;

use crate::generated::case::Case;
use crate::generated::generate::NodeText;
use crate::numbers::{EXACT, same_cells, same_rows};
use crate::run::{Run, Stop, law_of_nodes, run_text};
use crate::samples::{sample_single, sample_without_random};

#[test]
fn p10_the_adjoint_of_an_instance_is_that_of_its_node() {
    law_of_nodes("P10 instance", 150, sample_without_random, |case, node| {
        let NodeText { name, inputs, outputs, .. } = case.program.main();
        let arguments: Vec<&str> = case.program.main().input_names().collect();
        let (arguments, inputs, outputs) = (arguments.join(", "), inputs.join(", "), outputs.join(", "));
        let caller = format!("node caller({inputs}) -> ({outputs})\n  {outputs} = {name}({arguments});\n");
        let text = format!("{}{caller}", node.text);
        let caller = run_text(&text, "caller", node.ready.inputs.clone(), node.ready.n_cycles)?;
        let seeds = node.seeds(&mut case.decisions());
        let (alone, inlined) = (node.adjoint(&seeds)?, caller.adjoint(&seeds)?);
        Ok(same_cells(("alone", &alone.rows), ("as an instance", &inlined.rows), 0.0)?)
    });
}

/// `o = f(f(x, ..), ..)`, and its adjoint by the adjoints of both instances.
fn twice(case: &Case, node: &Run) -> Result<String, Stop> {
    let f = case.program.main();
    let (flow, clocks, output) = (node.flow(), node.ready.clocks(), node.flow().outputs[0]);
    let names: Vec<&str> = f.input_names().collect();
    let inputs = flow.inputs.iter().zip(&names).filter(|(input, _)| node.sources.contains(input));
    let inputs: Vec<(VarId, &str)> = inputs.map(|(input, name)| (*input, *name)).collect();
    let fits =
        |input: VarId| flow.var(input).ty == flow.var(output).ty && clocks.of(input) == clocks.of(output);
    // The input of the outer instance that takes the output of the inner one.
    let Some((_, taken)) = inputs.iter().find(|(input, _)| fits(*input)) else {
        return Err(Stop::Skipped("does not compose"));
    };
    let parameters = |prefix: &str| {
        let n = node.sources.len() - inputs.len();
        (1..=n).map(|number| format!("{prefix}{number}")).collect::<Vec<_>>()
    };
    // u for cotangents that leave the outer instance, v for those that leave the inner one, r for both.
    let each = |prefix: &str| inputs.iter().map(|(_, name)| format!("{prefix}_{name}")).collect::<Vec<_>>();
    let outer_left = [vec!["o".to_string()], each("u"), parameters("p")].concat().join(", ");
    let inner_left = [vec!["_".to_string()], each("v"), parameters("q")].concat().join(", ");
    let outputs = [each("r"), parameters("q"), parameters("p")].concat().join(", ");
    let sum = |(_, name): &(VarId, &str)| {
        if name == taken {
            format!("  r_{name} = v_{name};\n")
        } else {
            format!("  r_{name} = u_{name} + v_{name};\n")
        }
    };
    let sums = inputs.iter().map(sum).collect::<Vec<_>>().concat();
    let declared = f.inputs.join(", ");
    let inner = names.join(", ");
    let outer: Vec<&str> = names.iter().map(|name| if name == taken { "inner" } else { name }).collect();
    let outer = outer.join(", ");
    Ok(format!(
        "{}node twice({declared}) -> (o)\n  inner = f({inner});\n  o = f({outer});\n\
         node by_hand({declared}, w) -> (o, {outputs})\n  inner = f({inner});\n  {outer_left} = adj_f({outer}, w);\n  \
         {inner_left} = adj_f({inner}, u_{taken});\n{sums}",
        node.text
    ))
}

#[test]
fn p10_adjoints_compose_as_their_nodes_do() {
    law_of_nodes("P10 composition", 400, sample_single, |case, node| {
        let text = twice(case, node)?;
        let run = run_text(&text, "twice", node.ready.inputs.clone(), node.ready.n_cycles)?;
        let seeds = run.seeds(&mut case.decisions());
        let inlined = run.adjoint(&seeds)?;
        let by_hand = run.other("by_hand", [node.ready.inputs.clone(), seeds].concat())?;
        let outputs = by_hand.rows_of(&by_hand.flow().outputs[1..]);
        Ok(same_rows((&text, &inlined.rows), ("by hand", &outputs), EXACT)?)
    });
}
