//! L11: an instance that restarts is its node with segments. L12: a segment is a trace of its own, whatever
//! the clocks of the delays.
//!
//! The generated nodes have delays and parameters on base, on `base on d` and on `base on d on not e`. A
//! segment may end where a clock is silent, and a clock may be silent for a whole segment.

use eddy_tests::choices::Choices;
use eddy_tests::law::{Verdict, law};

use crate::output;

const CYCLES: usize = 8;

fn number(c: &mut Choices<'_>) -> &'static str {
    ["0.5", "-1.25", "2.0", "0.75", "-0.5"][c.below(5)]
}

/// The inputs of a trace; `e` is present where `d` holds.
struct Trace {
    x: Vec<&'static str>,
    d: Vec<bool>,
    e: Vec<bool>,
    /// Where a segment ends, or where an instance restarts.
    signal: Vec<bool>,
    dy: Vec<&'static str>,
}

impl Trace {
    fn new(c: &mut Choices<'_>) -> Trace {
        let truths = |c: &mut Choices<'_>| (0..CYCLES).map(|_| c.below(3) == 0).collect::<Vec<bool>>();
        let numbers = |c: &mut Choices<'_>| (0..CYCLES).map(|_| number(c)).collect();
        let d = truths(c).into_iter().map(|truth| !truth).collect();
        Trace { x: numbers(c), d, e: truths(c), signal: truths(c), dy: numbers(c) }
    }

    /// The rows of a part of the trace.
    fn rows(&self, from: usize, to: usize) -> String {
        let word = |truth: bool| if truth { "t" } else { "f" };
        let join = |cells: Vec<&str>| cells.join(" ");
        let d: Vec<&str> = self.d[from..to].iter().map(|truth| word(*truth)).collect();
        let e = self.d[from..to].iter().zip(&self.e[from..to]);
        let e: Vec<&str> = e.map(|(d, e)| if *d { word(*e) } else { "." }).collect();
        format!("x: {}; d: {}; e: {};", self.x[from..to].join(" "), join(d), join(e))
    }

    fn signal(&self) -> String {
        self.signal.iter().map(|truth| if *truth { "t" } else { "f" }).collect::<Vec<_>>().join(" ")
    }
}

/// The equations of a node with outputs `y`, and two parameters.
fn equations(c: &mut Choices<'_>) -> String {
    let [a, b, first] = [(); 3].map(|()| number(c));
    let clock = c.below(3);
    let u = ["x", "(x when d)", "(x when d when not e)"][clock];
    let delay = |c: &mut Choices<'_>, stream: &str| match c.below(4) {
        0 => format!("({first} * z fby {stream})"),
        1 => format!("(0.5 * z fby back {stream})"),
        2 => format!("(post {stream})"),
        _ => format!("({first} fby {stream})"),
    };
    let recurrent = ["(0.25 fby 0.5 * h)", "(z fby 0.5 * h)", "(0.5 * z fby back 0.25 * h)"][c.below(3)];
    let (one, other) = (delay(c, "z"), delay(c, "(z * h)"));
    let w = format!("w = h + 0.5 * {one} * {other};");
    let back = [
        "w",
        "(merge d w (0.1 * x when not d))",
        "(merge d (merge e (0.5 * x when d when e) w) (p when not d))",
    ];
    format!(
        "  z = {u};\n  h = param({a}) * z + param({b}) * {recurrent};\n  {w}\n  y = {};\n  p = 0.1 fby y;\n",
        back[clock]
    )
}

const INPUTS: &str = "x, d:bool [], e:bool [] when d";

/// The values of each output in each line; absent ones are missing.
fn values(lines: &[String]) -> Vec<Vec<(String, f64)>> {
    let value = |part: &str| {
        let (name, value) = part.split_once(':').expect("an output has a value");
        (name.to_string(), value.parse().unwrap_or(f64::NAN))
    };
    let line = |line: &String| {
        let parts = line.trim_matches(|c| matches!(c, '{' | '}')).split(',');
        parts.filter(|part| !part.is_empty()).map(value).collect()
    };
    lines.iter().map(line).collect()
}

fn of(line: &[(String, f64)], name: &str) -> Option<f64> {
    line.iter().find(|(other, _)| other.trim_matches('"') == name).map(|(_, value)| *value)
}

fn is_close(found: f64, wanted: f64) -> bool {
    (found.is_nan() && wanted.is_nan()) || (found - wanted).abs() <= 1e-11 * (1.0 + wanted.abs())
}

#[test]
fn a_segment_is_a_trace_of_its_own() {
    let numbers = proptest::collection::vec(proptest::num::u16::ANY, 80);
    law("composition: L12", 300, &numbers, |numbers| {
        let mut c = Choices::new(numbers);
        let equations = equations(&mut c);
        let mut trace = Trace::new(&mut c);
        trace.signal[CYCLES - 1] = true;
        // A delay into the future has the value 0 where its segment ends.
        let alone = equations.replace("(post ", "(0.0 fby back ");
        let whole = format!(
            "node n({INPUTS}) -> (y)\n{equations}\nrun adj_n_end {{ {} end: {}; dy: {}; }}\nrun n_end {{ {} end: {}; }}\n",
            trace.rows(0, CYCLES),
            trace.signal(),
            trace.dy.join(" "),
            trace.rows(0, CYCLES),
            trace.signal(),
        );
        let found = match output(&whole) {
            Ok(found) => values(&found),
            Err(error) if error.contains("causality") => return Ok(Verdict::Vacuous("waits for itself")),
            Err(error) => return Err(format!("{error}\n{whole}")),
        };
        let mut from = 0;
        for to in (1..=CYCLES).filter(|to| trace.signal[to - 1]) {
            let part = format!(
                "node n({INPUTS}) -> (y)\n{alone}\nrun adj_n {{ {} dy: {}; }}\n",
                trace.rows(from, to),
                trace.dy[from..to].join(" ")
            );
            let wanted = values(&output(&part).map_err(|error| format!("{error}\n{part}"))?);
            for (cycle, wanted) in wanted.iter().enumerate() {
                for name in ["y", "dx"] {
                    for found in [&found[from + cycle], &found[CYCLES + from + cycle]] {
                        let (found, wanted) = (of(found, name), of(wanted, name));
                        if found.is_some() && !found.zip(wanted).is_some_and(|(a, b)| is_close(a, b)) {
                            return Err(format!(
                                "{name} at {}: {found:?}, {wanted:?}\n{whole}{part}",
                                from + cycle
                            ));
                        }
                    }
                }
            }
            for name in ["dparam1", "dparam2"] {
                let wanted: f64 = wanted.iter().filter_map(|line| of(line, name)).sum();
                let segment = &found[from..to];
                let sum: f64 = segment.iter().filter_map(|line| of(line, name)).sum();
                let later = segment[1..].iter().any(|line| of(line, name) != Some(0.0));
                if !is_close(sum, wanted) || later {
                    return Err(format!("{name}: {sum}, {wanted}\n{whole}{part}"));
                }
            }
            from = to;
        }
        Ok(Verdict::Holds)
    });
}

#[test]
fn probes_and_contracts_that_hold_change_nothing() {
    let numbers = proptest::collection::vec(proptest::num::u16::ANY, 80);
    law("composition: L13", 150, &numbers, |numbers| {
        let mut c = Choices::new(numbers);
        let equations = equations(&mut c);
        let trace = Trace::new(&mut c);
        let program = |items: &str| {
            let (rows, dy) = (trace.rows(0, CYCLES), trace.dy.join(" "));
            let bench = format!(
                "run n stats {{ {rows} }}\nrun adj_n_end stats {{ {rows} end: {}; dy: {dy}; }}\n",
                trace.signal()
            );
            format!("node n({INPUTS}) -> (y)\n{equations}{items}\n{bench}")
        };
        let items =
            "  probe h, w;\n  assert h == h;\n  assume x > -100.0 \"small\";\n  assert not (w != w);\n";
        let (plain, with_items) = (output(&program("")), output(&program(items)));
        if plain == with_items { Ok(Verdict::Holds) } else { Err(format!("{plain:#?}\n{with_items:#?}")) }
    });
}

#[test]
fn an_instance_that_restarts_is_its_node_with_segments() {
    let numbers = proptest::collection::vec(proptest::num::u16::ANY, 80);
    law("composition: L11", 300, &numbers, |numbers| {
        let mut c = Choices::new(numbers);
        let equations = equations(&mut c);
        let trace = Trace::new(&mut c);
        let program = |call: &str| {
            let rows = format!("{} c: {};", trace.rows(0, CYCLES), trace.signal());
            format!(
                "node f({INPUTS}) -> (y)\n{equations}\nnode n({INPUTS}, c:bool []) -> (y)\n  y = {call};\n\
                 run n {{ {rows} }}\nrun adj_n show y, dx {{ {rows} dy: {}; }}\n",
                trace.dy.join(" ")
            )
        };
        let [restarted, woven] =
            ["reset f(x, d, e) every c", "f_end(x, d, e, false fby back c)"].map(program);
        let lines = |text: &str| output(text).map_err(|error| format!("{error}\n{text}"));
        let (found, wanted) = match (lines(&restarted), lines(&woven)) {
            (Ok(found), Ok(wanted)) => (found, wanted),
            (Err(error), Err(_)) if error.contains("causality") => {
                return Ok(Verdict::Vacuous("waits for itself"));
            }
            (found, wanted) => return Err(format!("{found:#?}\n{wanted:#?}")),
        };
        // Values are equal, gradients up to the order of sums. Where the trace ends before an instance
        // restarts, it is unknown what follows.
        let is_known = |line: &String| !line.contains('⊥');
        let alike =
            found[..CYCLES].iter().zip(&wanted).all(|(found, wanted)| !is_known(found) || found == wanted);
        let close = values(&found).iter().zip(&values(&wanted)).all(|(found, wanted)| {
            let is_close = |a: f64, b: f64| a.is_nan() || is_close(a, b);
            found.len() == wanted.len()
                && found.iter().zip(wanted).all(|(a, b)| a.0 == b.0 && is_close(a.1, b.1))
        });
        let never = output(&program("reset f(x, d, e) every false"));
        let plain = output(&program("f(x, d, e)"));
        if alike && close && never == plain {
            Ok(Verdict::Holds)
        } else {
            Err(format!("{found:#?}\n{wanted:#?}\n{never:#?}\n{plain:#?}\n{restarted}"))
        }
    });
}
