//! Shapes without annotations are the same for all commands: `check`, `plan`, `flow` and `build` infer
//! without data the shapes that a run infers from data of these shapes.

use std::cell::Cell as Counter;
use std::fmt;

use eddy_language::elaborate::{Draft, ElaborationOptions};
use eddy_language::infer::{Hint, Hints};
use eddy_language::prepare::{Checks, Prepared, prepare};
use eddy_language::resolve;
use eddy_syntax::{SourceFile, Sources};
use eddy_tensor::{Shape, Type};

use crate::generated::generate::Choices;
use crate::generated::harness::{self, SampleChoices, Verdict, law};

const STREAMS: [&str; 4] = ["s", "t", "u", "v"];
/// Inputs without annotated shapes.
const OPEN: [&str; 2] = ["k", "m"];

/// Recurrences between streams, and inputs of which some have annotated shapes.
struct Recurrences(String);

impl Recurrences {
    fn sample(source: &mut SampleChoices<'_>) -> Recurrences {
        let choices = &mut source.program.choices;
        let shape = |choices: &mut Choices<'_>| choices.among(&["[]", "[2]", "[1]", "[3,2]", "[3,1]"]);
        let (x, y) = (shape(choices), shape(choices));
        let mut text = format!("node n(x:num {x}, y:num {y}, k, m, c:bool []) -> (s, t, u, v)\n");
        for stream in STREAMS {
            text.extend(["  ", stream, " = ", expression(choices, 3).as_str(), ";\n"]);
        }
        Recurrences(text)
    }

    fn prepared(&self, open: Option<&[Shape]>) -> Option<Prepared> {
        let mut sources = Sources::alone(SourceFile::new("law.eddy", &self.0));
        let program = resolve(&mut sources).accepted().ok()?;
        let node = program.find("n", sources.main().end()).ok()?;
        let hints = |draft: &Draft| {
            let hint = |(number, says): (usize, &Shape)| {
                let input = draft.inputs[2 + number];
                Hint { input, says: says.clone(), span: draft.vars[input.index()].span }
            };
            let shapes = open.into_iter().flatten().enumerate().map(hint).collect();
            Hints { shapes, ..Hints::default() }
        };
        prepare(&program, &node, &ElaborationOptions::default(), hints, Checks::Off).ok()
    }
}

fn expression(choices: &mut Choices<'_>, depth: usize) -> String {
    let leaf = |choices: &mut Choices<'_>| match choices.below(7) {
        0..2 => choices.among(&["x", "y"]).to_string(),
        2 | 3 => choices.among(&OPEN).to_string(),
        4 => choices.among(&["0.5", "2.0"]).to_string(),
        5 => format!("(0.0 fby {})", choices.among(&STREAMS)),
        _ => format!("(0.0 fby back {})", choices.among(&STREAMS)),
    };
    if depth == 0 {
        return leaf(choices);
    }
    let part = |choices: &mut Choices<'_>| expression(choices, depth - 1);
    match choices.below(8) {
        0..3 => leaf(choices),
        3 => format!("({} + {})", part(choices), part(choices)),
        4 => format!("({} * {})", part(choices), part(choices)),
        5 => format!("maximum({},{})", part(choices), part(choices)),
        6 => format!("(k fby {})", choices.among(&STREAMS)),
        _ => format!("(merge c ({} when c) ((post {}) when not c))", part(choices), choices.among(&STREAMS)),
    }
}

impl fmt::Debug for Recurrences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{}", self.0)
    }
}

fn types(prepared: &Prepared) -> Vec<&Type> {
    prepared.flow.vars.iter().map(|var| &var.ty).collect()
}

fn show(prepared: &Prepared) -> String {
    let named =
        prepared.flow.vars.iter().filter_map(|var| Some(format!("{}: {}", var.name.as_deref()?, var.ty)));
    named.collect::<Vec<_>>().join(", ")
}

#[test]
fn shapes_without_data_are_those_of_a_run_with_such_data() {
    law("shapes without data", 1500, Recurrences::sample, |program| {
        let Some(checked) = program.prepared(None) else { return Ok(Verdict::Vacuous("no shapes")) };
        let inputs = &checked.flow.inputs[2..4];
        let shapes: Vec<Shape> =
            inputs.iter().map(|input| checked.flow.var(*input).ty.shape.clone()).collect();
        match program.prepared(Some(&shapes)) {
            Some(run) if types(&run) == types(&checked) => Ok(Verdict::Holds),
            Some(run) => Err(format!("check: {}\nrun: {}", show(&checked), show(&run))),
            None => Err(format!("accepted without data, refused with them: {}", show(&checked))),
        }
    });
}

/// Inputs of unknown shape are scalars, so a program that runs on scalars is accepted without data.
#[test]
fn programs_that_run_on_scalars_are_accepted_without_data() {
    let n_larger = Counter::new(0);
    law("scalars without data", 1500, Recurrences::sample, |program| {
        let scalars = [Shape::scalar(), Shape::scalar()];
        let Some(run) = program.prepared(Some(&scalars)) else { return Ok(Verdict::Vacuous("no shapes")) };
        match program.prepared(None) {
            Some(checked) if types(&run) == types(&checked) => Ok(Verdict::Holds),
            // An input that is a recurrence's initial value may have the shape of the recurrence.
            Some(_) => {
                n_larger.set(n_larger.get() + 1);
                Ok(Verdict::Holds)
            }
            None => Err(format!("it runs: {}", show(&run))),
        }
    });
    harness::show(&format!("other shapes without data: {}", n_larger.get()));
}
