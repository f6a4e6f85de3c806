//! Checks always terminate, also on programs with contradictory clocks.

#![expect(clippy::disallowed_methods, reason = "tests wait in a thread, with a time limit")]

use std::fmt;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use eddy_language::elaborate::{Draft, ElaborationOptions};
use eddy_language::infer::Hints;
use eddy_language::prepare::{Checks, prepare};
use eddy_language::resolve;
use eddy_syntax::{SourceFile, Sources};

use crate::generated::generate::Choices;
use crate::generated::harness::{SampleChoices, Verdict, law};

/// Far longer than a check of thirty lines takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(20);

#[test]
fn checks_terminate_on_contradictory_clocks() {
    law("checks end", 3000, IllClocked::sample, |program| {
        let (send, receive) = mpsc::channel();
        let text = program.0.clone();
        // A check that does not terminate keeps running until the process ends with the test.
        thread::spawn(move || send.send(is_refused(&text)));
        match receive.recv_timeout(LIMIT) {
            Ok(true) => Ok(Verdict::Holds),
            Ok(false) => Ok(Verdict::Vacuous("still accepted")),
            Err(_) => Err("the checks panic or do not terminate".to_string()),
        }
    });
}

/// A program of Booleans, so that its types are correct whatever its clocks are.
struct IllClocked(String);

const NAMES: [&str; 6] = ["c", "d", "x", "y", "z", "w"];
const N_INPUTS: usize = 2;

impl IllClocked {
    fn sample(source: &mut SampleChoices<'_>) -> IllClocked {
        let choices = &mut source.program.choices;
        let n_locals = 1 + choices.below(NAMES.len() - N_INPUTS);
        let names = &NAMES[..N_INPUTS + n_locals];
        let mut equations: Vec<String> = names[N_INPUTS..]
            .iter()
            .map(|name| format!("  {name}:bool = {};\n", expression(names, 3, choices)))
            .collect();
        // Earlier equations determine the clocks for later ones.
        equations.rotate_left(choices.below(n_locals));
        let output = names[N_INPUTS];
        IllClocked(format!("node n(c:bool, d:bool) -> ({output})\n{}", equations.concat()))
    }
}

/// An expression whose operands are on one clock only by accident.
fn expression(names: &[&str], depth: usize, choices: &mut Choices<'_>) -> String {
    let operand = |choices: &mut Choices<'_>| match depth {
        0 => choices.among(names).to_string(),
        _ => expression(names, depth - 1, choices),
    };
    match choices.below(9) {
        0..2 => choices.among(names).to_string(),
        2 => format!("(not {})", operand(choices)),
        3 => format!("({} == {})", operand(choices), operand(choices)),
        4 => format!("({} when {})", operand(choices), choices.among(names)),
        5 => format!("({} when not {})", operand(choices), choices.among(names)),
        6 => format!("(merge {} {} {})", choices.among(names), operand(choices), operand(choices)),
        7 => format!("({} fby {})", operand(choices), operand(choices)),
        _ => format!(
            "(merge {0} ({1} when {0}) {2})",
            choices.among(names),
            operand(choices),
            operand(choices)
        ),
    }
}

impl fmt::Debug for IllClocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{}", self.0)
    }
}

/// Whether one of the nodes is rejected; runs all phases, with and without checks.
fn is_refused(text: &str) -> bool {
    let mut sources = Sources::alone(SourceFile::new("law.eddy", text));
    let Ok(program) = resolve(&mut sources).accepted() else { return true };
    let Ok(node) = program.find("n", sources.main().end()) else { return true };
    let no_hints = |_: &Draft| Hints::default();
    let outcomes = [Checks::Off, Checks::On]
        .map(|checks| prepare(&program, &node, &ElaborationOptions::default(), no_hints, checks));
    outcomes.iter().any(Result::is_err)
}
