//! The report of a side after a turn: a line of JSON, the same from C, Python and Rust.

use serde_json::Value;

/// The time of a variant of a workload, and its results.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub peer: String,
    pub variant: String,
    pub median_ns: f64,
    pub p25_ns: f64,
    pub p75_ns: f64,
    /// The mean processor time of a call, if the other times are wall-clock times.
    pub cpu_ns: Option<f64>,
    pub runs: u64,
    /// A few numbers that all sides must agree on.
    pub check: Vec<f64>,
}

impl Record {
    /// Parses a line.
    pub fn read(line: &str) -> Result<Record, String> {
        let json: Value = serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
        let missing = |name: &str| format!("no `{name}` in {line}");
        let text = |name: &str| json[name].as_str().map(str::to_owned).ok_or_else(|| missing(name));
        let number = |name: &str| json[name].as_f64().ok_or_else(|| missing(name));
        let check = json["check"].as_array().ok_or_else(|| missing("check"))?;
        Ok(Record {
            peer: text("peer")?,
            variant: text("variant")?,
            median_ns: number("median_ns")?,
            p25_ns: number("p25_ns")?,
            p75_ns: number("p75_ns")?,
            cpu_ns: json["cpu_ns"].as_f64(),
            runs: json["runs"].as_u64().ok_or_else(|| missing("runs"))?,
            check: check.iter().map(|one| one.as_f64().unwrap_or(f64::NAN)).collect(),
        })
    }

    /// The figure for ratios. On a busy machine the wall clock includes other work, so a peer gets the
    /// smaller of its two times.
    pub fn figure(&self) -> f64 {
        self.cpu_ns.map_or(self.median_ns, |cpu| cpu.min(self.median_ns))
    }

    /// Whether the results agree.
    pub fn agrees(&self, other: &Record, tolerance: f64) -> bool {
        let is_near = |(left, right): (&f64, &f64)| {
            (left - right).abs() <= tolerance * left.abs().max(right.abs()) + f64::MIN_POSITIVE
        };
        self.check.len() == other.check.len() && self.check.iter().zip(&other.check).all(is_near)
    }

    /// One record for the turns of one side: the median of each figure.
    pub fn of_turns(turns: &[Record]) -> Option<Record> {
        let middle = |figure: &dyn Fn(&Record) -> f64| {
            let mut figures: Vec<f64> = turns.iter().map(figure).collect();
            figures.sort_by(f64::total_cmp);
            figures[figures.len() / 2]
        };
        let last = turns.last()?;
        Some(Record {
            median_ns: middle(&|turn| turn.median_ns),
            p25_ns: middle(&|turn| turn.p25_ns),
            p75_ns: middle(&|turn| turn.p75_ns),
            cpu_ns: last.cpu_ns.map(|_| middle(&|turn| turn.cpu_ns.unwrap_or(f64::INFINITY))),
            runs: turns.iter().map(|turn| turn.runs).sum(),
            ..last.clone()
        })
    }
}

/// Summarises the samples of a turn.
pub fn summary(peer: &str, variant: &str, samples: &mut [f64], runs: u64, check: Vec<f64>) -> Record {
    samples.sort_by(f64::total_cmp);
    let at = |quarter: usize| samples[samples.len() * quarter / 4];
    Record {
        peer: peer.to_owned(),
        variant: variant.to_owned(),
        median_ns: at(2),
        p25_ns: at(1),
        p75_ns: at(3),
        cpu_ns: None,
        runs,
        check,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(median_ns: f64, check: &[f64]) -> Record {
        let line = format!(
            r#"{{"peer":"C","variant":"v","median_ns":{median_ns},"p25_ns":1,"p75_ns":3,"runs":5,"check":{check:?}}}"#
        );
        Record::read(&line).expect("the line is a record")
    }

    #[test]
    fn a_line_becomes_a_record() {
        let read = record(2.0, &[0.5]);
        assert_eq!((read.median_ns, read.runs, read.check), (2.0, 5, vec![0.5]));
        assert!(Record::read("{}").is_err());
        assert!(Record::read("Traceback").is_err());
    }

    #[test]
    fn records_agree_within_the_tolerance() {
        let one = record(1.0, &[1.0, 2.0]);
        assert!(one.agrees(&record(9.0, &[1.0, 2.000_001]), 1e-5));
        assert!(!one.agrees(&record(1.0, &[1.0, 2.1]), 1e-5));
        assert!(!one.agrees(&record(1.0, &[1.0]), 1e-5));
    }

    #[test]
    fn turns_are_summarised_by_their_medians() {
        let turns = [record(5.0, &[1.0]), record(1.0, &[1.0]), record(2.0, &[1.0])];
        let whole = Record::of_turns(&turns).expect("there are turns");
        assert_eq!((whole.median_ns, whole.runs), (2.0, 15));
    }
}
