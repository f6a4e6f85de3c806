//! Planning: its time, compared with typing and checking the same program.

use std::fmt::Write;

use eddy_plan::show::kind;
use eddy_plan::{Options, plan};

use crate::clock::{ratio, side_by_side};
use crate::reactive::prepared;

const LSTM: &str = "
import lstm from \"eddy:recurrent\";
node layer(x: num [2]) -> (h) h = lstm(2, 2, x);
train layer as learn loss mse optim sgd(0.125) segment;";

/// A program that trains through time, and a long forward program.
pub fn planning() {
    println!(
        "planning, against everything from text to causality (targets: milliseconds; well below a second)"
    );
    against_checking("LSTM that learns", LSTM, "learn");
    against_checking("10000 forward equations", &chain(5_000), "chain");
}

fn against_checking(name: &str, text: &str, node: &str) {
    let ready = prepared(text, node);
    let options = Options::default();
    let planned = plan(&ready.flow, &ready.clocks, &options);
    let times =
        side_by_side(|| drop(plan(&ready.flow, &ready.clocks, &options)), || drop(prepared(text, node)));
    println!(
        "  {name:<26} {:>6} equations  {:7.2} ms  {:5.2} times as long   {}",
        ready.flow.equations.len(),
        times.0.as_secs_f64() * 1e3,
        ratio(times),
        kind(&ready.flow, &planned)
    );
}

/// A chain of filters, two equations each.
fn chain(n: usize) -> String {
    let mut text = String::from("node chain(x0: num []) -> (y)\n");
    for number in 0..n {
        writeln!(text, "  x{} = x{number} + (0.5 fby x{number});", number + 1)
            .expect("writing to a string succeeds");
    }
    writeln!(text, "  y = x{n};").expect("writing to a string succeeds");
    text
}
