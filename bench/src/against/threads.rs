//! Threads: the speed-up of large products and long loops.
//!
//! All columns are one compiled program in one process. They take turns; the shortest wall-clock time of each
//! counts, since other work on the machine can only slow a turn down. The results have the same bits in all
//! columns, which other tests check.

use std::fmt::Write as _;
use std::num::NonZero;
use std::thread::available_parallelism;

use eddy_loader::Threads;

use super::eddy::compiled::Compiled;
use super::machine::on_all_cores;
use super::table::duration;
use super::workload::Workload;

/// Batches, which have large products; one sequence, which has large sums of outer products; and loops over
/// many elements. Sequences are short, so that some runs are not interrupted.
const WORKLOADS: [&str; 6] = [
    "lstm-train-h64-b32-t10",
    "lstm-train-h128-b32-t10",
    "lstm-train-h256-b32-t10",
    "lstm-train-h256-b1-t50",
    "gmm-d64-k25-n1000-gradient",
    "mlp-784-100-10-b32",
];

/// The table, measured on all cores.
pub fn table(is_quick: bool) -> String {
    on_all_cores(|| rows(is_quick))
}

fn rows(is_quick: bool) -> String {
    let n_cores = available_parallelism().map_or(1, NonZero::get);
    let columns: Vec<usize> = [1, 2, 4, 8, 16].into_iter().filter(|n| *n <= n_cores).collect();
    let (n_turns, seconds) = if is_quick { (3, 0.1) } else { (15, 0.3) };
    let heads: Vec<String> =
        columns.iter().map(|n| format!("{n} thread{}", if *n == 1 { "" } else { "s" })).collect();
    let mut text = format!(
        "\n| workload | {} | all against one |\n|{}\n",
        heads.join(" | "),
        " --- |".repeat(columns.len() + 2)
    );
    for name in WORKLOADS {
        println!("threads: {name}");
        let workload = Workload::named(name).expect("the name is that of a workload");
        let row = Compiled::new(workload, seconds);
        let row = row.map(|mut compiled| best_turns(&mut compiled, &columns, n_turns));
        let _ = match row {
            Ok(times) => {
                let cells: Vec<String> = times.iter().map(|ns| duration(*ns)).collect();
                let all = times[times.len() - 1];
                writeln!(text, "| {name} | {} | {:.2} |", cells.join(" | "), times[0] / all)
            }
            Err(why) => writeln!(text, "| {name} | not measured: {why} |{}", " |".repeat(columns.len())),
        };
    }
    text
}

/// The shortest time of a run with each number of threads, in nanoseconds.
fn best_turns(compiled: &mut Compiled, columns: &[usize], n_turns: usize) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; columns.len()];
    let threads: Vec<Threads> = columns.iter().filter_map(|n| NonZero::new(*n)).map(Threads::new).collect();
    for _ in 0..n_turns {
        for (best, threads) in best.iter_mut().zip(&threads) {
            compiled.use_threads(threads);
            *best = best.min(compiled.wall_turn());
        }
    }
    best
}
