//! Tables in Markdown.

use std::fmt::Write;

use super::Outcome;
use super::record::Record;
use super::workload::Workload;

const EXPLANATION: &str = "\
Medians, with quartiles in brackets. C and Eddy: processor time of the thread. Peers: wall-clock time, as users see it; \
ratios use the smaller of wall-clock and processor time, so that other work on the machine does not count against peers. \
`†` marks a side whose check (loss, norm of the gradient) differs from the others.";

/// The facts, the comparison, and the figures of each side.
pub fn markdown(facts: &[String], no_peers: Option<&str>, outcomes: &[Outcome]) -> String {
    let mut text =
        String::from("# Results\n\n`cargo xtask bench` wrote this file; see [the manual](README.md).\n\n");
    for fact in facts {
        let _ = writeln!(text, "- {fact}");
    }
    if let Some(why) = no_peers {
        let _ = writeln!(text, "- no peers: {why}");
    }
    let _ = writeln!(text, "\n## Eddy against the best peer\n");
    text.push_str("| workload | Eddy | hand-written C | best peer | Eddy ÷ peer | target | Eddy ÷ C | target | C ÷ peer |\n");
    text.push_str("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for outcome in outcomes {
        let _ = writeln!(text, "{}", comparison(outcome));
    }
    text.push_str(&gradients(outcomes));
    let _ = writeln!(text, "\n## All sides\n\n{EXPLANATION}\n");
    text.push_str("| workload | side | median | processor time | runs | check |\n| --- | --- | --- | --- | --- | --- |\n");
    for outcome in outcomes {
        for record in &outcome.records {
            let _ = writeln!(text, "{}", side(outcome, record));
        }
        for why in &outcome.failures {
            let _ = writeln!(text, "| {} | {} | not measured | | | |", outcome.target.name, one_line(why));
        }
    }
    text
}

fn comparison(outcome: &Outcome) -> String {
    let find = |peer: &str| outcome.records.iter().find(|record| record.peer == peer);
    let is_right = |record: &&Record| outcome.is_right(record);
    let peers = outcome.records.iter().filter(|record| !["eddy", "C"].contains(&record.peer.as_str()));
    let best = peers.filter(is_right).min_by(|left, right| left.figure().total_cmp(&right.figure()));
    let time = |record: Option<&Record>| match record {
        Some(record) => format!("{}{}", duration(record.figure()), mark(outcome, record)),
        None => "not measured".to_owned(),
    };
    let name = best.map(|best| format!(" {}", best.peer)).unwrap_or_default();
    // A side with wrong results has a time but no ratio.
    let (eddy, twin) = (find("eddy").filter(is_right), find("C"));
    format!(
        "| {} | {} | {} | {}{name} | {} | {} | {} | {} | {} |",
        outcome.target.name,
        time(find("eddy")),
        time(twin),
        time(best),
        ratio(eddy, best),
        limit(eddy, best, outcome.target.of_peer),
        ratio(eddy, twin),
        limit(eddy, twin, outcome.target.of_twin),
        ratio(twin, best),
    )
}

impl Outcome {
    /// Whether a side's results agree with the others. The reference is the twin, which is checked by finite
    /// differences, or else the first side.
    fn is_right(&self, record: &Record) -> bool {
        let tolerance = Workload::named(self.target.name).map_or(0.0, Workload::tolerance);
        let reference = self.records.iter().find(|other| other.peer == "C").or(self.records.first());
        reference.is_some_and(|reference| record.agrees(reference, tolerance))
    }
}

fn mark(outcome: &Outcome, record: &Record) -> &'static str {
    if outcome.is_right(record) { "" } else { " †" }
}

fn ratio(left: Option<&Record>, right: Option<&Record>) -> String {
    match (left, right) {
        (Some(left), Some(right)) => format!("{:.2}", left.figure() / right.figure()),
        _ => String::new(),
    }
}

fn limit(left: Option<&Record>, right: Option<&Record>, most: Option<f64>) -> String {
    let Some(most) = most else { return String::new() };
    match (left, right) {
        (Some(left), Some(right)) if left.figure() <= most * right.figure() => format!("≤ {most} ✓"),
        (Some(_), Some(_)) => format!("≤ {most} **missed**"),
        _ => format!("≤ {most}"),
    }
}

/// The cost of a gradient, as a multiple of the cost of the value.
fn gradients(outcomes: &[Outcome]) -> String {
    let mut text = String::from(
        "\n## Gradients, counted in objectives\n\n| workload | Eddy | hand-written C | jax | torch |\n",
    );
    text.push_str("| --- | --- | --- | --- | --- |\n");
    let mut is_empty = true;
    for outcome in outcomes {
        let Some(base) = outcome.target.name.strip_suffix("-gradient") else { continue };
        let objective = format!("{base}-objective");
        let Some(objective) = outcomes.iter().find(|other| other.target.name == objective) else { continue };
        let _ = write!(text, "| {base}");
        for peer in ["eddy", "C", "jax", "torch"] {
            let best = |of: &Outcome| {
                let figures = of
                    .records
                    .iter()
                    .filter(|record| record.peer == peer && of.is_right(record))
                    .map(Record::figure);
                figures.min_by(f64::total_cmp)
            };
            let quotient = best(outcome).zip(best(objective)).map(|(gradient, value)| gradient / value);
            let _ =
                write!(text, " | {}", quotient.map_or(String::new(), |quotient| format!("{quotient:.1}")));
        }
        text.push_str(" |\n");
        is_empty = false;
    }
    if is_empty { String::new() } else { text }
}

fn side(outcome: &Outcome, record: &Record) -> String {
    let mark = mark(outcome, record);
    let check: Vec<String> = record.check.iter().map(|number| format!("{number:.8}")).collect();
    format!(
        "| {} | {}, {} | {} [{} {}] | {} | {} | {}{mark} |",
        outcome.target.name,
        record.peer,
        record.variant,
        duration(record.median_ns),
        duration(record.p25_ns),
        duration(record.p75_ns),
        record.cpu_ns.map(duration).unwrap_or_default(),
        record.runs,
        check.join(", "),
    )
}

/// Makes a text fit into a cell of a table.
fn one_line(text: &str) -> String {
    let line: String = text.lines().next().unwrap_or_default().chars().take(120).collect();
    line.replace('|', "\\|")
}

/// Prints nanoseconds in a suitable unit.
pub fn duration(ns: f64) -> String {
    match ns {
        _ if ns < 1e3 => format!("{ns:.0} ns"),
        _ if ns < 1e6 => format!("{:.3} µs", ns / 1e3),
        _ if ns < 1e9 => format!("{:.3} ms", ns / 1e6),
        _ => format!("{:.2} s", ns / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::super::workload::TARGETS;
    use super::*;

    fn record(peer: &str, median: f64, check: f64) -> Record {
        let line = format!(
            r#"{{"peer":"{peer}","variant":"v","median_ns":{median},"p25_ns":1,"p75_ns":3,"runs":5,"check":[{check}]}}"#
        );
        Record::read(&line).expect("the line is a record")
    }

    fn outcome(records: Vec<Record>) -> Outcome {
        Outcome { target: &TARGETS[0], records, failures: vec!["torch: no answer\nat all".to_owned()] }
    }

    #[test]
    fn ratios_are_against_the_best_peer() {
        let records = vec![
            record("eddy", 100.0, 1.0),
            record("C", 50.0, 1.0),
            record("jax", 400.0, 1.0),
            record("torch", 200.0, 1.0),
        ];
        let line = comparison(&outcome(records));
        assert_eq!(
            line,
            "| lstm-train-h64-b1 | 100 ns | 50 ns | 200 ns torch | 0.50 | ≤ 0.55 ✓ | 2.00 | ≤ 1.4 **missed** | 0.25 |"
        );
    }

    #[test]
    fn missing_measurements_are_shown() {
        let line = comparison(&outcome(vec![record("C", 50.0, 1.0)]));
        assert_eq!(
            line,
            "| lstm-train-h64-b1 | not measured | 50 ns | not measured |  | ≤ 0.55 |  | ≤ 1.4 |  |"
        );
    }

    #[test]
    fn a_side_with_different_results_is_marked() {
        let outcome = outcome(vec![record("C", 50.0, 1.0), record("jax", 50.0, 1.1)]);
        assert!(!side(&outcome, &outcome.records[0]).contains('†'));
        assert!(side(&outcome, &outcome.records[1]).contains('†'));
        assert!(markdown(&[], None, &[outcome]).contains("| torch: no answer | not measured |"));
    }
}
