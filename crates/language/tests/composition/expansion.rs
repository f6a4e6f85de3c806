//! The expansion law (composition.md, sections 0 and 13: L1 to L4, L7): a program that composes nodes has the
//! cells and gradients of its expansion by hand, bit for bit.
//!
//! The generated node calls other nodes directly, through `let`s, as arguments of a node, in copies and in
//! folds. Its twin is written out: a shared parameter is an input of the nodes that use it, copies are a
//! list, a fold is nested calls. Every name that a lambda or a fold binds is read once, so that the twin
//! needs no further equations.

use std::fmt::Write;

use eddy_tests::choices::Choices;
use eddy_tests::law::{Verdict, law};

use crate::output;

/// The nodes of both programs. Those that end in `_p` are given their parameter.
const NODES: &str = "\
node leak(k0, u, w = 0.5) -> (o)  o = param(k0) * (0.0 fby o) + w * u;
node leak_p(p, u, w = 0.5) -> (o)  o = p * (0.0 fby o) + w * u;
node gain(k0, u) -> (o)  o = param(k0) * u - (1.0 fby u);
node gain_p(p, u) -> (o)  o = p * u - (1.0 fby u);
node acc(u) -> (o)  o = u + (0.25 fby 0.5 * o);
node twice(f, u) -> (o)  o = f(0.5 * f(u));
node around(f: node, u, g = tanh) -> (o)  o = g(f(u)) + f(1.0);
";

/// A composed expression, and the same written out.
#[derive(Clone)]
struct Pair {
    composed: String,
    expanded: String,
}

fn both(text: impl Into<String>) -> Pair {
    let text = text.into();
    Pair { composed: text.clone(), expanded: text }
}

/// A node that is given to another one, and what its call becomes.
struct Callable {
    composed: String,
    /// The call, with `$` for the argument.
    call: String,
}

impl Callable {
    fn applied(&self, argument: &str) -> String {
        self.call.replace('$', argument)
    }
}

struct Generator<'a, 'b> {
    c: &'a mut Choices<'b>,
    /// Names that must be read exactly once, and those that may be read.
    names: Vec<Pair>,
    /// The nodes that `let`s name.
    lets: Vec<Callable>,
}

impl Generator<'_, '_> {
    fn constant(&mut self) -> &'static str {
        ["0.5", "-1.25", "2.0", "0.75"][self.c.below(4)]
    }

    fn leaf(&mut self) -> Pair {
        match self.c.below(3) {
            0 => both(self.constant()),
            _ => self.names[self.c.below(self.names.len())].clone(),
        }
    }

    fn operator(&mut self, left: &Pair, right: &Pair) -> Pair {
        let op = ["+", "*", "-"][self.c.below(3)];
        Pair {
            composed: format!("({} {op} {})", left.composed, right.composed),
            expanded: format!("({} {op} {})", left.expanded, right.expanded),
        }
    }

    fn expression(&mut self, depth: usize) -> Pair {
        if depth == 0 {
            return self.leaf();
        }
        match self.c.below(9) {
            0 => self.leaf(),
            1 => {
                let (left, right) = (self.expression(depth - 1), self.expression(depth - 1));
                self.operator(&left, &right)
            }
            2 => {
                let inner = self.expression(depth - 1);
                Pair {
                    composed: format!("(0.5 fby {})", inner.composed),
                    expanded: format!("(0.5 fby {})", inner.expanded),
                }
            }
            3 => self.direct_call(depth),
            4 => {
                let (number, inner) = (self.c.below(self.lets.len()), self.expression(depth - 1));
                Pair {
                    composed: format!("e{number}({})", inner.composed),
                    expanded: self.lets[number].applied(&inner.expanded),
                }
            }
            5 => self.passed(depth),
            6 => self.copies(depth),
            7 => self.fold(depth),
            _ => {
                let (number, inner) = (self.c.below(self.lets.len()), self.expression(depth - 1));
                let call = self.lets[number].applied("1.0");
                let inside = self.lets[number].applied(&inner.expanded);
                Pair {
                    composed: format!("around(u = {}, f = e{number})", inner.composed),
                    expanded: format!("(tanh({inside}) + {call})"),
                }
            }
        }
    }

    /// A call with arguments by position, by name, and left out.
    fn direct_call(&mut self, depth: usize) -> Pair {
        let (k, inner) = (self.constant(), self.expression(depth - 1));
        let Pair { composed, expanded } = inner;
        match self.c.below(5) {
            0 => Pair { composed: format!("acc(u = {composed})"), expanded: format!("acc({expanded})") },
            1 => Pair {
                composed: format!("gain(u = {composed}, k0 = {k})"),
                expanded: format!("gain({k}, {expanded})"),
            },
            2 => Pair {
                composed: format!("leak({k}, {composed})"),
                expanded: format!("leak({k}, {expanded}, 0.5)"),
            },
            3 => Pair {
                composed: format!("leak(w = 0.25, {k}, {composed})"),
                expanded: format!("leak({k}, {expanded}, 0.25)"),
            },
            _ => both(format!("gain({k}, {expanded})")).with(format!("gain({k}, {composed})")),
        }
    }

    /// `twice(f, e)`, where f is a partial application, an operation, a lambda or a `let`.
    fn passed(&mut self, depth: usize) -> Pair {
        let k = self.constant();
        let callable = match self.c.below(5) {
            0 => Callable { composed: format!("gain({k})"), call: format!("gain({k}, $)") },
            1 => {
                Callable { composed: format!("leak(k0 = {k}, w = 2.0)"), call: format!("leak({k}, $, 2.0)") }
            }
            2 => Callable { composed: "tanh".to_string(), call: "tanh($)".to_string() },
            3 => {
                let outer = self.leaf();
                Callable {
                    composed: format!("\\v. v * {k} + {}", outer.composed),
                    call: format!("($ * {k} + {})", outer.expanded),
                }
            }
            _ => {
                let number = self.c.below(self.lets.len());
                Callable { composed: format!("e{number}"), call: self.lets[number].call.clone() }
            }
        };
        let inner = self.expression(depth - 1);
        let inside = callable.applied(&format!("({})", inner.expanded));
        Pair {
            composed: format!("twice({}, {})", callable.composed, inner.composed),
            expanded: callable.applied(&format!("(0.5 * {inside})")),
        }
    }

    /// `sum(i < n: e)` and the like; the twin lists the copies.
    fn copies(&mut self, depth: usize) -> Pair {
        let n = 1 + self.c.below(3);
        let name = format!("i{}", self.names.len());
        // The same choices for every copy.
        self.names.push(Pair { composed: format!("num({name})"), expanded: format!("<{name}>") });
        let inner = self.expression(depth - 1);
        self.names.pop();
        let copy = |index: usize| inner.expanded.replace(&format!("<{name}>"), &format!("{index}.0"));
        let listed: Vec<String> = (0..n).map(copy).collect();
        let (listed, composed) = (listed.join(", "), &inner.composed);
        match self.c.below(4) {
            0 => Pair {
                composed: format!("sum({name} < {n}: {composed})"),
                expanded: format!("sum([{listed}], 0)"),
            },
            1 => Pair {
                composed: format!("mean({name} < {n}: {composed})"),
                expanded: format!("mean([{listed}], 0)"),
            },
            2 => Pair {
                composed: format!("max({name} < {n}: {composed})"),
                expanded: format!("max([{listed}], 0)"),
            },
            _ => {
                let at = self.c.below(n);
                Pair {
                    composed: format!("[{name} < {n}: {composed}][{at}]"),
                    expanded: format!("[{listed}][{at}]"),
                }
            }
        }
    }

    /// `fold h = z for i < n do e`; the twin nests the steps.
    fn fold(&mut self, depth: usize) -> Pair {
        let n = self.c.below(4);
        let first = self.expression(depth - 1);
        let name = format!("i{}", self.names.len());
        self.names.push(Pair { composed: format!("num({name})"), expanded: format!("<{name}>") });
        let other = self.expression(depth - 1);
        let k = self.constant();
        self.names.pop();
        let mut expanded = format!("({})", first.expanded);
        for index in 0..n {
            let other = other.expanded.replace(&format!("<{name}>"), &format!("{index}.0"));
            expanded = format!("(gain({k}, {expanded}) - {other})");
        }
        let body = format!("gain({k}, h{name}) - {}", other.composed);
        Pair { composed: format!("(fold h{name} = {} for {name} < {n} do {body})", first.composed), expanded }
    }
}

impl Pair {
    fn with(self, composed: String) -> Pair {
        Pair { composed, ..self }
    }
}

/// A composed program and its twin.
fn programs(c: &mut Choices<'_>) -> (String, String) {
    let mut generator = Generator { c, names: vec![both("x"), both("y")], lets: Vec::new() };
    let (left, right) = (generator.leaf(), generator.leaf());
    let captured = generator.operator(&left, &right).expanded;
    let lets = [
        ("let e0 = leak(0.5, w = 2.0);", "leak_p(q0, $, 2.0)"),
        ("let e1 = gain(k0 = -1.5);", "gain_p(q1, $)"),
        (&*format!("let e2 = leak(w = {captured}, k0 = 0.75);"), "leak_p(q2, $, w2)"),
        ("let e3 = e1;", "gain_p(q1, $)"),
        ("let e4 = acc;", "acc($)"),
    ];
    let written: Vec<&str> = lets.iter().map(|(text, _)| *text).collect();
    for (_, call) in lets {
        generator.lets.push(Callable { composed: String::new(), call: call.to_string() });
    }
    let (o, p) = (generator.expression(3), generator.expression(2));
    let (mut composed, mut expanded) = (NODES.to_string(), NODES.to_string());
    let bench = |name: &str| {
        let rows = "x: 1 -0.5 2 0.25; y: 0.5 1 -1 3;";
        format!("run {name} {{ {rows} }}\nrun adj_{name} {{ {rows} do: 1 0.5 -1 2; dp: 1 1 -0.5 0; }}\n")
    };
    let _ = write!(
        composed,
        "node n(x, y) -> (o, p)\n  {}\n  o = {};\n  p = {};\n{}",
        written.join("\n  "),
        o.composed,
        p.composed,
        bench("n")
    );
    let shared = ["0.5", "-1.5", "0.75"].iter().enumerate();
    let used = |number: usize| [&o, &p].iter().any(|pair| pair.expanded.contains(&format!("_p(q{number},")));
    let mut parameters = String::new();
    for (number, value) in shared.filter(|(number, _)| used(*number)) {
        let _ = writeln!(parameters, "  q{number} = param({value});");
    }
    let _ = write!(
        expanded,
        "node n(x, y) -> (o, p)\n{parameters}  w2 = {captured};\n  o = {};\n  p = {};\n{}",
        o.expanded,
        p.expanded,
        bench("n")
    );
    (composed, expanded)
}

/// The lines that a program prints, with the gradients of parameters in order of size, or its first error.
fn lines(text: &str) -> Result<Vec<String>, String> {
    Ok(output(text)?.iter().map(|line| sorted(line)).collect())
}

/// A line with its gradients of parameters sorted: the twin may have them in another order.
fn sorted(line: &str) -> String {
    let (rest, parameters): (Vec<&str>, Vec<&str>) =
        line.trim_matches(|c| matches!(c, '{' | '}')).split(',').partition(|part| !part.contains("param"));
    let mut values: Vec<&str> = parameters.iter().filter_map(|part| part.split(':').nth(1)).collect();
    values.sort_unstable();
    format!("{} | {}", rest.join(","), values.join(","))
}

#[test]
fn a_composed_program_is_its_expansion() {
    let numbers = proptest::collection::vec(proptest::num::u16::ANY, 60);
    law("composition: L1", 300, &numbers, |numbers| {
        let (composed, expanded) = programs(&mut Choices::new(numbers));
        match (lines(&composed), lines(&expanded)) {
            (Ok(found), Ok(wanted)) if found == wanted => Ok(Verdict::Holds),
            (Err(_), Err(_)) => Ok(Verdict::Vacuous("both are refused")),
            (found, wanted) => Err(format!("{found:#?}\n{wanted:#?}\n{composed}\n{expanded}")),
        }
    });
}
