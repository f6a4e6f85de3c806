//! Growth of checking: how the time of `eddy check`, `eddy flow` and `eddy run` depends on the size of a
//! program, valid or not.
//!
//! Each case is a family of programs. Sizes double; the exponent is the slope of the last doublings: 1 for
//! linear growth, 2 for quadratic. Start-up takes a few milliseconds, which lowers the exponents of small
//! cases.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// A family of programs.
struct Case {
    name: &'static str,
    command: &'static str,
    program: fn(usize) -> String,
}

const CASES: &[Case] = &[
    Case { name: "unread inputs", command: "check", program: unused_inputs },
    Case { name: "a sum of inputs", command: "check", program: used_inputs },
    Case { name: "outputs that copy inputs", command: "check", program: copied_inputs },
    Case { name: "a chain of delays", command: "check", program: chain },
    Case { name: "samplings in samplings", command: "check", program: nested_when },
    Case { name: "samplings side by side", command: "check", program: samplings },
    Case { name: "instances side by side", command: "check", program: instances },
    Case { name: "nodes in chains of 50 calls", command: "check", program: chains_of_calls },
    Case { name: "trained parameters", command: "check", program: parameters },
    Case { name: "parameters with names", command: "check", program: named_parameters },
    Case { name: "unknown variables", command: "check", program: unknown_variables },
    Case { name: "unknown nodes", command: "check", program: unknown_nodes },
    Case { name: "definitions of one stream", command: "check", program: duplicates },
    Case { name: "outputs without a definition", command: "check", program: undefined_outputs },
    Case { name: "type errors", command: "check", program: type_errors },
    Case { name: "clock errors", command: "check", program: clock_errors },
    Case { name: "one instantaneous cycle", command: "check", program: long_cycle },
    Case { name: "many instantaneous cycles", command: "check", program: short_cycles },
    Case { name: "one cycle that no guard breaks", command: "check", program: guarded_cycle },
    Case { name: "constants defined by the previous one", command: "check", program: constants },
    Case { name: "constants defined by the next one", command: "check", program: constants_backwards },
    Case { name: "rows for unknown inputs", command: "run", program: unknown_rows },
    Case { name: "flow of a chain of delays", command: "flow", program: chain },
    Case { name: "flow of samplings side by side", command: "flow", program: samplings },
];

/// Calls may be nested 1000 deep. `check` checks each node with everything that it calls, so its time grows
/// with the square of the depth, and so does the output of `flow`; a run contains one node with everything
/// that it calls.
const DEEP_CASES: &[Case] = &[
    Case { name: "nodes that call the previous one", command: "check", program: deep_calls },
    Case { name: "a run of nodes that call the previous one", command: "run", program: deep_run },
];

pub fn table(eddy: &Path, work: &Path, is_quick: bool) -> String {
    let sizes: &[usize] = if is_quick { &[1_000, 2_000, 4_000] } else { &[12_500, 25_000, 50_000, 100_000] };
    table_of(CASES, sizes, eddy, work) + &table_of(DEEP_CASES, &[125, 250, 500, 1_000], eddy, work)
}

fn table_of(cases: &[Case], sizes: &[usize], eddy: &Path, work: &Path) -> String {
    let mut text = String::from("\n| checking n of | command |");
    text.extend(sizes.iter().map(|size| format!(" n = {size} |")));
    text.push_str(" exponent |\n| --- | --- |");
    text.push_str(&" --- |".repeat(sizes.len() + 1));
    text.push('\n');
    for case in cases {
        println!("growth of checking: {}", case.name);
        let times: Result<Vec<f64>, String> =
            sizes.iter().map(|size| measure(case, *size, eddy, work)).collect();
        let _ = write!(text, "| {} | `{}` |", case.name, case.command);
        let _ = match times {
            Ok(times) => {
                text.extend(times.iter().map(|seconds| format!(" {seconds:.2} s |")));
                let (first, last) = (times[times.len() - 3], times[times.len() - 1]);
                // Two doublings.
                writeln!(text, " {:.1} |", (last / first).log2() / 2.0)
            }
            Err(why) => writeln!(text, " not measured: {why} |"),
        };
    }
    text
}

/// The time of one run, in seconds. Exit code 1, for programs with errors, does not count as a failure here.
fn measure(case: &Case, size: usize, eddy: &Path, work: &Path) -> Result<f64, String> {
    let path = work.join("checking.eddy");
    fs::create_dir_all(work)
        .and_then(|()| fs::write(&path, (case.program)(size)))
        .map_err(|error| error.to_string())?;
    let start = Instant::now();
    let status = Command::new(eddy)
        .arg(case.command)
        .arg(&path)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(|error| error.to_string())?;
    match status.code() {
        Some(0 | 1) => Ok(start.elapsed().as_secs_f64()),
        _ => Err(format!("`eddy` ended with {status}")),
    }
}

/// `node f(x) -> (y)` with these equations.
fn node(equations: impl Iterator<Item = String>, output: &str) -> String {
    let equations: String = equations.collect();
    format!("node f(x, c:bool) -> (y)\n{equations}  y = {output};\n")
}

fn names(prefix: &str, n: usize, separator: &str) -> String {
    joined(n, separator, |i| format!("{prefix}{i}"))
}

fn joined(n: usize, separator: &str, part: impl Fn(usize) -> String) -> String {
    (0..n).map(part).collect::<Vec<_>>().join(separator)
}

fn unused_inputs(n: usize) -> String {
    format!("node f({}) -> (y)\n  y = 1.0;\n", names("x", n, ", "))
}

fn used_inputs(n: usize) -> String {
    format!("node f({}) -> (y)\n  y = {};\n", names("x", n, ", "), names("x", n, " + "))
}

fn copied_inputs(n: usize) -> String {
    let equations: String = joined(n, "", |i| format!("  y{i} = x{i};\n"));
    format!("node f({}) -> ({})\n{equations}", names("x", n, ", "), names("y", n, ", "))
}

fn chain(n: usize) -> String {
    let first = "  a0 = x;\n".to_string();
    let equations = (1..n).map(|i| format!("  a{i} = 0.0 fby a{} + x;\n", i - 1));
    node(std::iter::once(first).chain(equations), &format!("a{}", n - 1))
}

fn nested_when(n: usize) -> String {
    let first = "  a0 = x;\n  c0 = c;\n".to_string();
    let step = |i: usize| format!("  a{i} = a{j} when c{j};\n  c{i} = c{j} when c{j};\n", j = i - 1);
    node(std::iter::once(first).chain((1..n).map(step)), &format!("a{}", n - 1))
}

fn samplings(n: usize) -> String {
    let step = |i: usize| format!("  b{i} = merge c{i} (x when c{i}) (x when not c{i});\n");
    let equations: String = (0..n).map(step).collect();
    let conditions = joined(n, ", ", |i| format!("c{i}:bool"));
    format!("node f(x, {conditions}) -> (y)\n{equations}  y = {};\n", names("b", n, " + "))
}

fn instances(n: usize) -> String {
    let first = "  a0 = x;\n".to_string();
    let equations = (1..n).map(|i| format!("  a{i} = g(a{});\n", i - 1));
    let caller = node(std::iter::once(first).chain(equations), &format!("a{}", n - 1));
    format!("node g(x) -> (y)\n  y = 0.0 fby x + 1.0;\n{caller}")
}

/// `n` nodes, each of which calls the previous one, except for every 50th.
fn chains_of_calls(n: usize) -> String {
    calls(n, 50)
}

fn deep_calls(n: usize) -> String {
    calls(n, n)
}

fn deep_run(n: usize) -> String {
    format!("{}run f{} {{ x: 1.0; }}\n", calls(n, n), n - 1)
}

fn calls(n: usize, depth: usize) -> String {
    joined(n, "", |i| {
        let called = if i % depth == 0 { "x".to_string() } else { format!("f{}(x)", i - 1) };
        format!("node f{i}(x) -> (y)\n  y = 0.0 fby {called} + 1.0;\n")
    })
}

fn parameters(n: usize) -> String {
    let sum = joined(n, " + ", |i| format!("param({i}.0) * x"));
    format!("node f(x) -> (y)\n  y = {sum};\ntrain f as learn loss mse optim sgd(0.1);\n")
}

fn named_parameters(n: usize) -> String {
    let equations = (0..n).map(|i| format!("  a{i} = param({i}.0);\n"));
    node(equations, &joined(n, " + ", |i| format!("a{i} * x")))
}

fn unknown_variables(n: usize) -> String {
    node((0..n).map(|i| format!("  a{i} = x + b{i};\n")), "x")
}

fn unknown_nodes(n: usize) -> String {
    joined(n, "", |i| format!("node h{i}(x) -> (y)\n  y = g{i}(x);\n"))
}

fn duplicates(n: usize) -> String {
    node((0..n).map(|_| "  y = x;\n".to_string()), "x")
}

fn undefined_outputs(n: usize) -> String {
    format!("node f(x) -> ({})\n  y0 = x;\n", names("y", n, ", "))
}

fn type_errors(n: usize) -> String {
    node((0..n).map(|i| format!("  a{i} = x + 1.0 + (c and x > 1.0);\n")), "x")
}

fn clock_errors(n: usize) -> String {
    node((0..n).map(|i| format!("  a{i} = x + (x when c);\n")), "x")
}

fn long_cycle(n: usize) -> String {
    node((0..n).map(|i| format!("  a{i} = a{} + x;\n", (i + 1) % n)), "a0")
}

fn short_cycles(n: usize) -> String {
    node((0..n).map(|i| format!("  a{i} = a{i} + x;\n")), "x")
}

fn guarded_cycle(n: usize) -> String {
    let equation =
        |i: usize| format!("  a{i} = if c{i} then a{} + x else a{};\n", (i + 1) % n, (7 * i + 3) % n);
    let conditions = joined(n, ", ", |i| format!("c{i}:bool"));
    format!("node f(x, {conditions}) -> (y)\n{}  y = a0;\n", joined(n, "", equation))
}

fn constants(n: usize) -> String {
    format!("const c0 = 1;\n{}", joined(n, "", |i| format!("const c{} = c{i} + 1;\n", i + 1)))
}

fn constants_backwards(n: usize) -> String {
    format!("{}const c{n} = 1;\n", joined(n, "", |i| format!("const c{i} = c{} + 1;\n", i + 1)))
}

fn unknown_rows(n: usize) -> String {
    let rows: String = joined(n, "", |i| format!("  x{i}: 1.0;\n"));
    format!("node f(x) -> (y)\n  y = x;\nrun f {{\n{rows}}}\n")
}
