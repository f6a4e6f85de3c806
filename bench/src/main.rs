//! Side-by-side benchmarks: `cargo run --release -p eddy-bench`, or `-- reactive` for those of one language.
//!
//! Every figure is a ratio of two things measured in one run on one machine, or a count that does not depend on the machine.
//! The two sides take turns, and the best of several turns counts: other work on the machine can only slow a turn down.
//! Targets are shown beside the figures and asserted nowhere.

#![allow(clippy::print_stdout, reason = "the table is what this program is for")]

mod clock;
mod coherent;
mod planning;
mod pullback;
mod rd;
mod reactive;
mod tables;

fn main() {
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    let is_chosen = |name: &str| chosen.is_empty() || chosen.iter().any(|other| other == name);
    if is_chosen("rd") {
        println!("rd\n");
        rd::loops_against_rust();
        rd::gradients_against_values();
        rd::deep_recursion();
        rd::nested_derivatives();
        rd::reading();
    }
    if is_chosen("pullback") {
        println!("\npullback\n");
        pullback::gradients_against_values();
        pullback::growth();
        pullback::nested_derivatives();
        pullback::reading();
    }
    if is_chosen("coherent") {
        println!("\ncoherent\n");
        coherent::steps();
        coherent::the_walk();
    }
    if is_chosen("tables") {
        println!("\ntables\n");
        tables::asking_against_running();
        tables::explaining();
        tables::listing();
    }
    if is_chosen("reactive") {
        println!("\nreactive\n");
        reactive::firings();
        reactive::checking();
    }
    if is_chosen("plan") {
        println!("\nplan\n");
        planning::planning();
    }
}
