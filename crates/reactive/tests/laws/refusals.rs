//! Checks always end, also on programs whose clocks do not fit together.

use std::fmt;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use eddy_reactive::draft::Draft;
use eddy_reactive::elaborate::Given;
use eddy_reactive::infer::Hints;
use eddy_reactive::prepare::{Checks, prepare};
use eddy_reactive::resolve::resolve;
use eddy_syntax::{SourceFile, Sources};

use crate::generated::generate::Choices;
use crate::generated::harness::{Source, Verdict, law};

/// Far more than a check of thirty lines takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(20);

#[test]
fn checks_end_on_programs_whose_clocks_do_not_fit() {
    law("checks end", 3000, IllClocked::sample, |program| {
        let (send, receive) = mpsc::channel();
        let text = program.0.clone();
        // A check that does not end is left behind; the process ends with the test.
        thread::spawn(move || send.send(is_refused(&text)));
        match receive.recv_timeout(LIMIT) {
            Ok(true) => Ok(Verdict::Holds),
            Ok(false) => Ok(Verdict::Vacuous("still accepted")),
            Err(_) => Err("the checks panic or do not end".to_string()),
        }
    });
}

/// A program of booleans, so that its types are right whatever its clocks are.
struct IllClocked(String);

const NAMES: [&str; 6] = ["c", "d", "x", "y", "z", "w"];
const N_INPUTS: usize = 2;

impl IllClocked {
    fn sample(source: &mut Source<'_>) -> IllClocked {
        let choices = &mut source.program.choices;
        let n_locals = 1 + choices.below(NAMES.len() - N_INPUTS);
        let names = &NAMES[..N_INPUTS + n_locals];
        let mut equations: Vec<String> = names[N_INPUTS..]
            .iter()
            .map(|name| format!("  {name}:bool = {};\n", expression(names, 3, choices)))
            .collect();
        // What the first equations say decides what the later ones can find.
        equations.rotate_left(choices.below(n_locals));
        let output = names[N_INPUTS];
        IllClocked(format!("node n(c:bool, d:bool) -> ({output})\n{}", equations.concat()))
    }
}

/// Its operands are on one clock by accident, if at all.
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

/// Whether one of the nodes is refused; all phases run, with and without their checks.
fn is_refused(text: &str) -> bool {
    let mut sources = Sources::alone(SourceFile::new("law.eddy", text));
    let Ok(program) = resolve(&mut sources) else { return true };
    let Ok(node) = program.find("n", sources.main().end()) else { return true };
    let no_hints = |_: &Draft| Hints::default();
    let outcomes =
        [Checks::Off, Checks::On].map(|checks| prepare(&program, &node, &Given::default(), no_hints, checks));
    outcomes.iter().any(Result::is_err)
}
