//! The reactive language: the speed of checking and simulating programs, and the memory of the simulator.

use std::time::Instant;

use eddy_language::elaborate::ElaborationOptions;
use eddy_language::infer::Hints;
use eddy_language::prepare::{Checks, Prepared, prepare};
use eddy_language::program::{Callable, Program};
use eddy_language::resolve;
use eddy_language::semantics::Cell;
use eddy_language::semantics::simulate::{Options, Simulation};
use eddy_syntax::{SourceFile, Sources};
use eddy_tensor::Value;

const N_CYCLES: u32 = 10_000_000;
const WINDOW: u32 = 100;

const FILTER: &str = "
node iir(x)->(y)
  x1 = 0.0 fby x; x2 = 0.0 fby x1;
  y1 = 0.0 fby y; y2 = 0.0 fby y1;
  y = 0.2 * x + 0.3 * x1 + 0.2 * x2 + 0.5 * y1 - 0.2 * y2;";

/// Checks a node and prepares it to run.
pub fn prepared(text: &str, node: &str) -> Prepared {
    let mut sources = Sources::alone(SourceFile::new("bench.eddy", text));
    let program = resolve(&mut sources).accepted().expect("the program is valid");
    let node = program.modules[Program::MAIN].visible[node];
    prepare(&program, &Callable::from(node), &ElaborationOptions::default(), |_| Hints::default(), Checks::On)
        .expect("the program is valid")
}

/// Scalar equations per second: in a forward program, and in one that looks ahead over [`WINDOW`] cycles.
/// Memory does not grow with the trace, because at most the window is open.
pub fn firings() {
    println!("simulation of {N_CYCLES} cycles (target: 3 million equations/s, constant memory)");
    let filter = prepared(FILTER, "iir");
    simulate("IIR filter", &filter, |cycle| vec![Cell::Value(Value::Num(f64::from(cycle % 7)))]);
    let backfill = prepared("node f(i,bp)->(o) o = backfill(i,bp);", "f");
    simulate("backfill over 100 cycles", &backfill, |cycle| {
        let is_end = cycle % WINDOW == WINDOW - 1;
        vec![Cell::Value(Value::Num(f64::from(cycle))), Cell::Value(Value::Bool(is_end))]
    });
}

/// Runs a program on generated inputs, and discards each cycle when it is complete.
fn simulate(name: &str, prepared: &Prepared, input: impl Fn(u32) -> Vec<Cell>) {
    let mut simulation = Simulation::new(&prepared.flow, &prepared.clocks, Options::default());
    let start = Instant::now();
    for cycle in 0..N_CYCLES {
        simulation.open(&input(cycle)).expect("the simulation does not fail");
        while simulation.n_open() > 0 && simulation.is_complete(simulation.first_cycle()) {
            simulation.release();
        }
    }
    let n_equations = u32::try_from(prepared.flow.equations.len()).expect("a small program");
    let rate = f64::from(n_equations) * f64::from(N_CYCLES) / start.elapsed().as_secs_f64() / 1e6;
    println!(
        "  {name:<28} {rate:6.1} million equations/s   at most {} cycles open",
        simulation.widest_window()
    );
}

/// The time from text to the result of checking, for programs of many equations.
pub fn checking() {
    println!("\ncheck (target: 10000 equations in 0.3 s, growing linearly)");
    for n in [1_000, 10_000, 100_000] {
        let text = long_program(n);
        let start = Instant::now();
        let prepared = prepared(&text, "f");
        let seconds = start.elapsed().as_secs_f64();
        println!("  {n:6} equations, {:7} after flattening   {seconds:.3} s", prepared.flow.equations.len());
    }
}

/// A chain of equations of all kinds, some of which read streams defined much earlier.
fn long_program(n: usize) -> String {
    let line = |i: usize| match i % 4 {
        0 => format!("x{i} = 0.0 fby (x{} + x{});\n", i - 1, i / 2),
        1 => format!("x{i} = x{} * 0.5 + 1.0;\n", i - 1),
        2 => format!("x{i} = if x{} < 0.0 then x{} else 0.0;\n", i - 1, i - 1),
        _ => format!("x{i} = tanh(x{}) - post x{};\n", i - 1, i / 2),
    };
    let lines: Vec<String> = (1..n).map(line).collect();
    format!("node f(x0)->(y)\n{}y = x{};\n", lines.concat(), n - 1)
}
