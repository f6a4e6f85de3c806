//! P18: custom derivatives (9.12). Exact custom derivatives change no cell; with a wrong one, both modes
//! compute the wrong derivative.

use std::fmt::Write;

use eddy_flow::VarId;
use eddy_language::semantics::Cell;

use crate::duality::is_dual;
use crate::generated::case::Case;
use crate::generated::engines::Rows;
use crate::generated::generate::{NodeText, ProgramText};
use crate::numbers::{EXACT, elements, same_cells, same_rows, with_elements};
use crate::run::{Run, Stop, law_of_nodes, run_text};
use crate::samples::{sample_single_to_train, sample_single_without_parameters};
use crate::training::diff;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Custom {
    Adjoint,
    Tangent,
    Both,
}

/// A program in which `m` instantiates `f`, and the parts of derivatives of `f`; `g` is a copy of `f`.
struct Customised<'a> {
    f: &'a NodeText,
    /// The inputs that have derivatives.
    numbers: Vec<String>,
    text: String,
}

impl<'a> Customised<'a> {
    fn new(case: &'a Case, node: &Run) -> Customised<'a> {
        let f = case.program.main();
        // `node.text` has the functions.
        let copy = ProgramText { functions: String::new(), nodes: vec![NodeText { name: "g", ..f.clone() }] };
        let arguments: Vec<&str> = f.input_names().collect();
        let (inputs, arguments) = (f.inputs.join(", "), arguments.join(", "));
        let m = format!("node m({inputs}) -> (o)\n  o = sin(f({arguments})) * param(0.75);\n");
        let text = format!("{}{}{m}", node.text, copy.text());
        let is_number = |(input, _): &(&VarId, &str)| node.sources.contains(input);
        let numbers = node.flow().inputs.iter().zip(f.input_names()).filter(is_number);
        Customised { f, numbers: numbers.map(|(_, name)| name.to_string()).collect(), text }
    }

    /// Names derived from the inputs that have derivatives.
    fn list(&self, prefix: &str) -> Vec<String> {
        self.numbers.iter().map(|name| format!("{prefix}{name}")).collect()
    }

    /// The program with derivatives of `f`; those by the adjoint are multiplied by `factor`.
    fn text(&self, custom: Custom, factor: &str) -> String {
        let (inputs, arguments) =
            (self.f.inputs.join(", "), self.f.input_names().collect::<Vec<_>>().join(", "));
        let mut text = self.text.clone();
        if custom != Custom::Tangent {
            let (outputs, found) = (self.list("d_").join(", "), self.list("e_").join(", "));
            writeln!(
                text,
                "node adj_f({inputs}, w) -> (z, {outputs})\n  z, {found} = adj_g({arguments}, w);"
            )
            .expect("writing to a string cannot fail");
            for name in &self.numbers {
                writeln!(text, "  d_{name} = {factor} * e_{name};").expect("writing to a string cannot fail");
            }
        }
        if custom != Custom::Adjoint {
            let given = self.list("t_").join(", ");
            writeln!(
                text,
                "node tan_f({inputs}, {given}) -> (z, tz)\n  z, tz = tan_g({arguments}, {given});"
            )
            .expect("writing to a string cannot fail");
        }
        text
    }
}

fn main_of(text: &str, node: &Run) -> Result<Run, Stop> {
    run_text(text, "m", node.ready.inputs.clone(), node.ready.n_cycles)
}

#[test]
fn p18_exact_custom_derivatives_change_no_cell() {
    law_of_nodes("P18 exact", 120, sample_single_without_parameters, |case, node| {
        let customised = Customised::new(case, node);
        if customised.numbers.is_empty() {
            return Err(Stop::Vacuous("nothing to differentiate"));
        }
        let choices = &mut case.decisions();
        let plain = main_of(&customised.text, node)?;
        let seeds = plain.seeds(choices);
        let adjoint = plain.adjoint(&seeds)?;
        let directions = plain.directions(&plain.rows_of(&plain.sources), choices);
        let tangent = plain.tangent(&directions)?;
        for custom in [Custom::Adjoint, Custom::Tangent, Custom::Both] {
            let text = customised.text(custom, "1.0");
            let run = main_of(&text, node)?;
            same_cells((&text, &run.adjoint(&seeds)?.rows), ("adj_m", &adjoint.rows), EXACT)?;
            same_cells((&text, &run.tangent(&directions)?.rows), ("tan_m", &tangent.rows), EXACT)?;
        }
        Ok(())
    });
}

#[test]
fn p18_a_wrong_custom_derivative_is_followed_by_both_modes() {
    law_of_nodes("P18 wrong", 120, sample_single_without_parameters, |case, node| {
        let customised = Customised::new(case, node);
        if customised.numbers.is_empty() {
            return Err(Stop::Vacuous("nothing to differentiate"));
        }
        let plain = main_of(&customised.text, node)?;
        let seeds = plain.seeds(&mut case.decisions());
        let right = plain.adjoint(&seeds)?;
        let run = main_of(&customised.text(Custom::Adjoint, "2.0"), node)?;
        let wrong = run.adjoint(&seeds)?;
        // All paths from the inputs go through `f`, none from the parameter does.
        let n = customised.numbers.len();
        let doubled = [doubled(&right.rows[..n]), right.rows[n..].to_vec()].concat();
        same_rows(("with a wrong derivative", &wrong.rows), ("expected", &doubled), EXACT)?;
        is_dual(&run, &mut case.decisions())
    });
}

fn doubled(rows: &[Vec<Cell>]) -> Rows {
    let double = |cell: &Cell| match cell {
        Cell::Value(value) => {
            Cell::Value(with_elements(value, elements(value).iter().map(|number| 2.0 * number).collect()))
        }
        other => other.clone(),
    };
    rows.iter().map(|row| row.iter().map(double).collect()).collect()
}

#[test]
fn p18_exact_custom_training_code_changes_no_cell() {
    law_of_nodes("P18 diff", 120, sample_single_to_train, |case, node| {
        let customised = Customised::new(case, node);
        if customised.numbers.is_empty() {
            return Err(Stop::Vacuous("nothing to differentiate"));
        }
        let inputs = customised.f.inputs.join(", ");
        let arguments = customised.f.input_names().collect::<Vec<_>>().join(", ");
        let outputs = customised.list("d_").join(", ");
        let custom = format!(
            "node diff_f({inputs}, bp, w) -> (z, {outputs})\n  z, {outputs} = diff_g({arguments}, bp, w);\n"
        );
        let plain = diff(&main_of(&customised.text, node)?, &mut case.decisions())?.run;
        let text = customised.text.clone() + &custom;
        let run = run_text(&text, "diff_m", plain.ready.inputs.clone(), node.ready.n_cycles)?;
        let [expected, found] = [&plain, &run].map(|run| run.rows_of(&run.flow().outputs));
        Ok(same_rows((&text, &found), ("diff_m", &expected), EXACT)?)
    });
}
