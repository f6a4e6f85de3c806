//! State machines: generated ones against an interpreter that follows the words of section 7, and L10: a
//! machine with one state and no transition is its equations.

use std::fmt::Write;

use eddy_tests::choices::Choices;
use eddy_tests::law::{Verdict, law};

use crate::output;

const CONSTANTS: [f64; 6] = [0.5, -0.5, 1.0, 2.0, -1.0, 0.25];

/// `until e then T`, where e is `read > limit`.
#[derive(Clone, Copy)]
struct Transition {
    /// What it reads: x, `last o`, and for weak transitions o and k.
    read: usize,
    limit: f64,
    restarts: bool,
    target: usize,
}

/// `k = first fby (a * k + x);  o = b * k + c * read;`, with transitions.
struct State {
    first: f64,
    a: f64,
    b: f64,
    c: f64,
    reads_last: bool,
    /// Whether it defines o; otherwise o keeps its value.
    defines: bool,
    until: Vec<Transition>,
    unless: Vec<Transition>,
}

struct Machine {
    states: Vec<State>,
    first_o: f64,
}

fn constant(c: &mut Choices<'_>) -> f64 {
    CONSTANTS[c.below(CONSTANTS.len())]
}

fn machine(c: &mut Choices<'_>) -> Machine {
    let n = 1 + c.below(3);
    let state = |c: &mut Choices<'_>| {
        let transitions = |c: &mut Choices<'_>, n_reads: usize| {
            let transition = |c: &mut Choices<'_>| Transition {
                read: c.below(n_reads),
                limit: constant(c),
                restarts: c.below(2) == 0,
                target: c.below(n),
            };
            (0..c.below(3)).map(|_| transition(c)).collect()
        };
        State {
            first: constant(c),
            a: constant(c),
            b: constant(c),
            c: constant(c),
            reads_last: c.below(2) == 0,
            defines: c.below(4) > 0,
            until: transitions(c, 4),
            unless: transitions(c, 2),
        }
    };
    let mut states: Vec<State> = (0..n).map(|_| state(c)).collect();
    // An output has a definition in some state.
    states[0].defines = true;
    Machine { states, first_o: constant(c) }
}

impl Machine {
    fn text(&self) -> String {
        let mut text = format!("  automaton {{\n    last o = {:?};\n    last q = 0.0;\n", self.first_o);
        for (number, state) in self.states.iter().enumerate() {
            let _ = writeln!(
                text,
                "    state s{number} {{\n      k = {:?} fby ({:?} * k + x);",
                state.first, state.a
            );
            let read = if state.reads_last { "last o" } else { "x" };
            let _ = writeln!(text, "      q = {:?} * k + {:?} * {read};", state.b, state.c);
            if state.defines {
                let _ = writeln!(text, "      o = q;");
            }
            let mut transitions = |word: &str, transitions: &[Transition]| {
                for transition in transitions {
                    let read = ["x", "last o", "q", "k"][transition.read];
                    let then = if transition.restarts { "then" } else { "continue" };
                    let Transition { limit, target, .. } = transition;
                    let _ = writeln!(text, "      {word} {read} > {limit:?} {then} s{target};");
                }
            };
            transitions("until", &state.until);
            transitions("unless", &state.unless);
            text.push_str("    }\n");
        }
        text + "  }\n"
    }

    /// The outputs o and q at each cycle.
    fn run(&self, xs: &[f64]) -> Vec<(f64, f64)> {
        let mut memory: Vec<f64> = self.states.iter().map(|state| state.first).collect();
        let (mut at, mut restarts, mut last_o) = (0, false, self.first_o);
        let mut found = Vec::new();
        for x in xs {
            let strong = self.states[at].unless.iter().find(|t| [*x, last_o][t.read] > t.limit);
            if let Some(transition) = strong {
                (at, restarts) = (transition.target, transition.restarts);
            }
            let state = &self.states[at];
            if restarts {
                memory[at] = state.first;
            }
            let k = memory[at];
            memory[at] = state.a * k + x;
            let q = state.b * k + state.c * if state.reads_last { last_o } else { *x };
            let o = if state.defines { q } else { last_o };
            found.push((o, q));
            let weak = state.until.iter().find(|t| [*x, last_o, q, k][t.read] > t.limit);
            (at, restarts) = weak.map_or((at, false), |transition| (transition.target, transition.restarts));
            last_o = o;
        }
        found
    }
}

#[test]
fn a_machine_runs_as_its_words_say() {
    let numbers = proptest::collection::vec(proptest::num::u16::ANY, 100);
    law("composition: machines", 300, &numbers, |numbers| {
        let mut c = Choices::new(numbers);
        let machine = machine(&mut c);
        let xs: Vec<f64> = (0..8).map(|_| constant(&mut c)).collect();
        let cells: Vec<String> = xs.iter().map(|x| format!("{x:?}")).collect();
        let program =
            format!("node n(x) -> (o, q)\n{}\nrun n {{ x: {}; }}\n", machine.text(), cells.join(" "));
        let wanted: Vec<String> = machine.run(&xs).iter().map(|(o, q)| format!("{o} {q}")).collect();
        let found = output(&program).map_err(|error| format!("{error}\n{program}"))?;
        let found: Vec<String> = found.iter().map(|line| values(line)).collect();
        if found == wanted { Ok(Verdict::Holds) } else { Err(format!("{found:#?}\n{wanted:#?}\n{program}")) }
    });
}

/// The values of `{"o":1,"q":2}`.
fn values(line: &str) -> String {
    let parts = line.trim_matches(|c| matches!(c, '{' | '}')).split(',');
    let values: Vec<String> = parts
        .map(|part| part.split(':').nth(1).expect("a value").parse::<f64>().expect("a number").to_string())
        .collect();
    values.join(" ")
}

#[test]
fn a_machine_with_one_state_is_its_equations() {
    let numbers = proptest::collection::vec(proptest::num::u16::ANY, 40);
    law("composition: L10", 200, &numbers, |numbers| {
        let mut c = Choices::new(numbers);
        let (a, b, first) = (constant(&mut c), constant(&mut c), constant(&mut c));
        let delay =
            ["k = {first} fby (a * k + x)", "k = x + post (0.0 * x)", "k = {first} fby back x"][c.below(3)];
        let delay = delay.replace("{first}", &format!("{first:?}"));
        let body = format!("a = {a:?};  {delay};  o = param({b:?}) * k + x;");
        let bench = |name: &str| {
            format!(
                "run {name} {{ x: 1 -0.5 2 0.25; }}\nrun adj_{name} {{ x: 1 -0.5 2 0.25; do: 1 0.5 -1 2; }}\n"
            )
        };
        let machine = format!("node n(x) -> (o)  automaton {{ state s {{ {body} }} }}\n{}", bench("n"));
        let equations = format!("node n(x) -> (o)  {body}\n{}", bench("n"));
        match (output(&machine), output(&equations)) {
            (Ok(found), Ok(wanted)) if found == wanted => Ok(Verdict::Holds),
            (found, wanted) => Err(format!("{found:#?}\n{wanted:#?}\n{machine}")),
        }
    });
}
