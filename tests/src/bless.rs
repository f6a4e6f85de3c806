//! Rewrites wrong expectations in a program to the actual outcome; correct ones stay unchanged.
//!
//! Output comments replace the old ones, or go directly below their directive. The marker of a diagnostic
//! goes after the code on its line. If that line has no code, for example at the end of the file, the marker
//! goes to the end of the file and names the line. Inserting lines can shift that line, so the caller repeats
//! until nothing changes.

use std::collections::BTreeMap;

use crate::case::{Case, Directive, Marker};
use crate::outcome::{Found, Outcome};
use crate::verdict::{code_of_output, markers_match};

/// Returns the text with the expectations of `outcomes`, one for each directive. If the expected output is in
/// a file next to the program, directives without `=>` are unchanged.
pub fn bless(text: &str, case: &Case, outcomes: &[Outcome], has_out_file: bool) -> String {
    let mut edited = EditedText::new(text);
    let pairs = || {
        case.directives
            .iter()
            .zip(outcomes)
            .filter_map(|(directive, outcome)| Some((directive.line?, directive, outcome)))
    };
    for (line, directive, outcome) in pairs() {
        edited.bless_output(line, directive, outcome, has_out_file);
    }
    if let Some(outcome) = outcomes.first() {
        edited.bless_markers(&case.markers, &outcome.diagnostics);
    }
    edited.into_text()
}

/// The lines of the text while they are edited.
struct EditedText<'a> {
    text: &'a str,
    lines: Vec<Option<String>>,
    /// New lines, before the line with the index that is the key.
    inserted: BTreeMap<usize, Vec<String>>,
}

impl<'a> EditedText<'a> {
    fn new(text: &'a str) -> Self {
        EditedText {
            text,
            lines: text.lines().map(|line| Some(line.to_owned())).collect(),
            inserted: BTreeMap::new(),
        }
    }

    fn bless_output(&mut self, line: usize, directive: &Directive, outcome: &Outcome, has_out_file: bool) {
        let is_refused = outcome.code == Some(1);
        let old: Vec<&str> = directive.output.iter().map(|(_, text)| &**text).collect();
        let new: Vec<&str> = outcome.stdout.lines().collect();
        let is_elsewhere = old.is_empty() && has_out_file;
        if old != new && !is_elsewhere {
            let place = directive.output.first().map_or(line + 1, |(first, _)| *first);
            for (number, _) in &directive.output {
                self.lines[*number] = None;
            }
            let comments = new.iter().map(|text| format!("-- => {text}").trim_end().to_owned());
            self.inserted.entry(place).or_default().extend(comments);
        }
        let stated = directive.exit.map(|(_, code)| code);
        let inferred = if is_refused { 1 } else { code_of_output(&outcome.stdout) };
        if outcome.code == Some(stated.unwrap_or(inferred)) {
            return;
        }
        let end = directive.output.last().map_or(line, |(last, _)| *last) + 1;
        if let Some((number, _)) = directive.exit {
            self.lines[number] = None;
        }
        if let Some(code) = outcome.code.filter(|code| *code != inferred) {
            self.inserted.entry(end).or_default().push(format!("-- exit: {code}"));
        }
    }

    fn bless_markers(&mut self, markers: &[Marker], diagnostics: &[Found]) {
        let mut without_code = Vec::new();
        for number in 1..=self.lines.len().max(diagnostics.iter().map(|found| found.line).max().unwrap_or(0))
        {
            let old: Vec<&Marker> = markers.iter().filter(|marker| marker.line == number).collect();
            let new: Vec<&Found> = diagnostics.iter().filter(|found| found.line == number).collect();
            if markers_match(&old, &new) {
                continue;
            }
            for marker in &old {
                self.erase(marker);
            }
            for found in new {
                let Found { severity, code, .. } = found;
                match self.lines.get_mut(number - 1) {
                    Some(Some(line)) if can_carry(line) => line.extend([" -- ", severity, "[", code, "]"]),
                    _ => without_code.push(format!("-- {severity}[{code}] at line {number}")),
                }
            }
        }
        self.inserted.entry(self.lines.len()).or_default().extend(without_code);
    }

    fn erase(&mut self, marker: &Marker) {
        let (number, start) = marker.position;
        if let Some(line) = &mut self.lines[number] {
            line.truncate(start);
            line.truncate(line.trim_end().len());
            if line.is_empty() {
                self.lines[number] = None;
            }
        }
    }

    fn into_text(mut self) -> String {
        let mut lines = Vec::new();
        let n_lines = self.lines.len();
        for number in 0..=n_lines {
            lines.extend(self.inserted.remove(&number).unwrap_or_default());
            lines.extend(self.lines.get_mut(number).and_then(Option::take));
        }
        let mut text = lines.join("\n");
        // A missing newline at the end can matter to the program.
        if self.text.ends_with('\n') {
            text.push('\n');
        }
        text
    }
}

/// Whether a comment can follow the code on this line without becoming part of another comment.
fn can_carry(line: &str) -> bool {
    !line.trim().is_empty() && !line.trim_start().starts_with("--")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, outcomes: &[Outcome], after: &str) {
        let case = Case::parse(before).expect("the instructions are well formed");
        assert_eq!(bless(before, &case, outcomes, false), after);
    }

    fn answered(code: i32, stdout: &str) -> Outcome {
        Outcome { code: Some(code), stdout: stdout.into(), ..Outcome::default() }
    }

    fn refused(line: usize, code: &str) -> Outcome {
        let found = Found { line, severity: "error".into(), code: code.into(), message: "no".into() };
        Outcome { code: Some(1), diagnostics: vec![found], ..Outcome::default() }
    }

    #[test]
    fn output_is_written_below_its_directive() {
        check(
            "-- check\n-- run\n6\n",
            &[answered(0, "real\n"), answered(0, "6\n")],
            "-- check\n-- => real\n-- run\n-- => 6\n6\n",
        );
    }

    #[test]
    fn output_is_replaced_where_it_stood() {
        check("-- run\n6\n-- => 5\n-- => 4\n", &[answered(0, "6\n")], "-- run\n6\n-- => 6\n");
    }

    #[test]
    fn right_expectations_stay_as_they_are() {
        let text = "--   run\n  -- =>   6\nx -- fine";
        check(text, &[answered(0, "  6\n")], text);
        let text = "x + yy -- error[RD003]: n\n-- check\n";
        check(text, &[refused(1, "RD003")], text);
    }

    #[test]
    fn an_exit_code_is_stated_only_where_the_output_does_not_say_it() {
        check("-- run\n1", &[answered(3, "undefined: jump\n")], "-- run\n-- => undefined: jump\n1");
        check("-- run\n-- => 1\n1", &[answered(3, "1\n")], "-- run\n-- => 1\n-- exit: 3\n1");
        check("-- run\n-- => 1\n-- exit: 3\n1", &[answered(0, "1\n")], "-- run\n-- => 1\n1");
    }

    #[test]
    fn a_program_that_is_now_refused_loses_its_output_and_gains_markers() {
        check("-- run\n-- => 1\nyy\n", &[refused(3, "RD003")], "-- run\nyy -- error[RD003]\n");
    }

    #[test]
    fn a_program_that_is_now_accepted_loses_its_markers() {
        check("yy -- error[RD003]\n-- run\n", &[answered(0, "1\n")], "yy\n-- run\n-- => 1\n");
    }

    #[test]
    fn a_marker_on_a_line_without_code_names_its_line() {
        check("1 +\n-- run\n", &[refused(3, "RD002")], "1 +\n-- run\n-- error[RD002] at line 3\n");
        check(
            "1 +\n-- run\n-- error[RD002] at line 3\n",
            &[refused(4, "RD002")],
            "1 +\n-- run\n-- error[RD002] at line 4\n",
        );
    }
}
