//! P10: the adjoint of an instance is the instance of the adjoint.

use eddy_flow::VarId;

use crate::generated::case::Case;
use crate::generated::generate::NodeText;
use crate::numbers::{EXACT, same_cells, same_rows};
use crate::run::{Run, law_of_nodes, run_text};
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

/// A node made of two instances of `f`, and its adjoint by the adjoints of both.
struct Twice<'a> {
    node: &'a Run,
    f: &'a NodeText,
    /// The inputs that have cotangents.
    inputs: Vec<(VarId, &'a str)>,
}

impl<'a> Twice<'a> {
    fn new(case: &'a Case, node: &'a Run) -> Self {
        let f = case.program.main();
        let inputs = node.flow().inputs.iter().zip(f.input_names());
        let inputs = inputs.filter(|(input, _)| node.sources.contains(input));
        Twice { node, f, inputs: inputs.map(|(input, name)| (*input, name)).collect() }
    }

    /// An input of the type of the output.
    fn taken(&self) -> Option<&'a str> {
        let (flow, clocks, output) =
            (self.node.flow(), self.node.ready.clocks(), self.node.flow().outputs[0]);
        let fits =
            |input: VarId| flow.var(input).ty == flow.var(output).ty && clocks.of(input) == clocks.of(output);
        self.inputs.iter().find(|(input, _)| fits(*input)).map(|(_, name)| *name)
    }

    fn parameters(&self, prefix: &str) -> Vec<String> {
        let n = self.node.sources.len() - self.inputs.len();
        (1..=n).map(|number| format!("{prefix}{number}")).collect()
    }

    fn each(&self, prefix: &str) -> Vec<String> {
        self.inputs.iter().map(|(_, name)| format!("{prefix}_{name}")).collect()
    }

    /// The program. u, p are cotangents that leave the first instance, v, q those that leave the second one,
    /// r the sums.
    fn text(&self) -> String {
        let declared: Vec<&str> = self.f.inputs.iter().map(String::as_str).collect();
        let names: Vec<&str> = self.f.input_names().collect();
        let taken = self.taken();
        let second: Vec<&str> =
            names.iter().map(|name| if Some(*name) == taken { "a" } else { name }).collect();
        let with = |names: &[&str], more: &str| [names, &[more]].concat().join(", ");
        let of_first = [self.each("u"), self.parameters("p")].concat().join(", ");
        let of_second = [self.each("v"), self.parameters("q")].concat().join(", ");
        let outputs = [self.each("r"), self.parameters("p"), self.parameters("q")].concat().join(", ");
        // In sequence, or in parallel.
        let (output, seeds) = match taken {
            Some(taken) => ("b".to_string(), [format!("v_{taken}"), "w".to_string()]),
            None => ("a * b".to_string(), ["w * b".to_string(), "w * a".to_string()]),
        };
        let sum = |(_, name): &(VarId, &str)| match taken {
            Some(taken) if taken == *name => format!("  r_{name} = u_{name};\n"),
            _ => format!("  r_{name} = u_{name} + v_{name};\n"),
        };
        let sums = self.inputs.iter().map(sum).collect::<Vec<_>>().concat();
        format!(
            "{}node twice({}) -> (o)\n  a = f({});\n  b = f({});\n  o = {output};\n\
             node by_hand({}) -> (o, {outputs})\n  o = {output};\n  \
             a, {of_first} = adj_f({});\n  b, {of_second} = adj_f({});\n{sums}",
            self.node.text,
            declared.join(", "),
            names.join(", "),
            second.join(", "),
            with(&declared, "w"),
            with(&names, &seeds[0]),
            with(&second, &seeds[1]),
        )
    }
}

#[test]
fn p10_adjoints_compose_as_their_nodes_do() {
    law_of_nodes("P10 composition", 200, sample_single, |case, node| {
        let text = Twice::new(case, node).text();
        let run = run_text(&text, "twice", node.ready.inputs.clone(), node.ready.n_cycles)?;
        let seeds = run.seeds(&mut case.decisions());
        let inlined = run.adjoint(&seeds)?;
        let by_hand = run.other("by_hand", [node.ready.inputs.clone(), seeds].concat())?;
        let outputs = by_hand.rows_of(&by_hand.flow().outputs[1..]);
        Ok(same_rows((&text, &inlined.rows), ("by hand", &outputs), EXACT)?)
    });
}
