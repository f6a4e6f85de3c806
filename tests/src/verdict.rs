//! Compares an outcome with the expectation, and writes the message of a failing test.

use std::fmt::Write;

use crate::case::{Case, Directive, Marker};
use crate::outcome::{Found, Outcome};

/// Compares an outcome with the expectations of a directive. `out_file` is the text of `NAME.out`, the
/// expected output if the program has no `=>` lines.
pub fn judge(
    case: &Case,
    directive: &Directive,
    out_file: Option<&str>,
    outcome: &Outcome,
) -> Result<(), String> {
    let mut complaints = String::new();
    complain_about_diagnostics(&case.markers, outcome, &mut complaints);
    match expected_output(case, directive, out_file) {
        None => complaints += "no output is expected yet; EDDY_BLESS=1 writes what came out\n",
        Some(expected) => {
            if outcome.stdout != expected {
                complaints += &both("output", &expected, &outcome.stdout);
            }
            let code = expected_code(case, directive, &expected);
            if outcome.code != Some(code) {
                let found = outcome.code.map_or("a signal".to_owned(), |code| code.to_string());
                let _ = writeln!(complaints, "expected the exit code {code}, found {found}");
            }
        }
    }
    if complaints.is_empty() { Ok(()) } else { Err(complaints) }
}

/// Both texts, each line with a bar in front, so that blanks and missing newlines are visible.
pub fn both(what: &str, expected: &str, found: &str) -> String {
    let bars = |text: &str| match text {
        "" => "  (nothing)\n".to_owned(),
        text => text.split_inclusive('\n').fold(String::new(), |all, line| all + "  | " + line),
    };
    let end = if found.is_empty() || found.ends_with('\n') { "" } else { "  (no line break at the end)\n" };
    format!("expected {what}:\n{}found {what}:\n{}{end}", bars(expected), bars(found))
}

/// The exit code implied by an output: 3 if its last line says that there is no value.
pub fn code_of_output(output: &str) -> i32 {
    let last = output.lines().last().unwrap_or_default();
    if last.starts_with("undefined:") || last.starts_with("diverged:") { 3 } else { 0 }
}

/// Whether the markers name exactly the actual diagnostics.
pub fn markers_match(markers: &[&Marker], found: &[&Found]) -> bool {
    let (missing, unexpected) = unmatched(markers, found);
    missing.is_empty() && unexpected.is_empty()
}

fn expected_output(case: &Case, directive: &Directive, out_file: Option<&str>) -> Option<String> {
    let fails = directive.exit.is_some_and(|(_, code)| code == 3);
    if case.is_refused() && (!fails || directive.output.is_empty()) {
        return Some(String::new());
    }
    if directive.output.is_empty() {
        return out_file.map(str::to_owned);
    }
    Some(directive.output.iter().flat_map(|(_, line)| [line, "\n"]).collect())
}

fn expected_code(case: &Case, directive: &Directive, output: &str) -> i32 {
    match directive.exit {
        Some((_, code)) => code,
        None if case.is_refused() => 1,
        None => code_of_output(output),
    }
}

fn complain_about_diagnostics(markers: &[Marker], outcome: &Outcome, complaints: &mut String) {
    let markers: Vec<&Marker> = markers.iter().collect();
    let found: Vec<&Found> = outcome.diagnostics.iter().collect();
    let (missing, unexpected) = unmatched(&markers, &found);
    for Marker { line, severity, code, words, .. } in missing {
        let words = if words.is_empty() { String::new() } else { format!(" with the words \"{words}\"") };
        let _ = writeln!(complaints, "missing on line {line}: {severity}[{code}]{words}");
    }
    for Found { line, severity, code, message } in unexpected {
        let _ = writeln!(complaints, "unexpected on line {line}: {severity}[{code}]: {message}");
    }
    for line in &outcome.noise {
        let _ = writeln!(complaints, "unexpected on standard error: {line}");
    }
}

/// The markers without a diagnostic and the diagnostics without a marker.
fn unmatched<'a>(markers: &[&'a Marker], found: &[&'a Found]) -> (Vec<&'a Marker>, Vec<&'a Found>) {
    let mut unexpected = found.to_vec();
    let mut missing = Vec::new();
    for marker in markers {
        match unexpected.iter().position(|found| matches_marker(marker, found)) {
            Some(position) => drop(unexpected.remove(position)),
            None => missing.push(*marker),
        }
    }
    (missing, unexpected)
}

fn matches_marker(marker: &Marker, found: &Found) -> bool {
    marker.line == found.line
        && marker.severity == found.severity
        && marker.code == found.code
        && found.message.contains(&marker.words)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNBOUND: &str = "a.rd:1:5: error[RD003]: unbound variable `yy`";

    fn outcome(code: i32, stdout: &str, diagnostic: Option<&str>) -> Outcome {
        let diagnostics = diagnostic.map(|text| {
            let (line, message) = (text[5..6].parse().expect("a digit"), text[24..].to_owned());
            Found { line, severity: "error".into(), code: text[16..21].into(), message }
        });
        Outcome {
            code: Some(code),
            stdout: stdout.into(),
            diagnostics: diagnostics.into_iter().collect(),
            noise: vec![],
        }
    }

    #[track_caller]
    fn check(program: &str, outcome: &Outcome, complaint: Option<&str>) {
        let case = Case::parse(program).expect("the instructions are well formed");
        match (judge(&case, &case.directives[0], None, outcome), complaint) {
            (Ok(()), None) => {}
            (Err(found), Some(expected)) => assert!(found.contains(expected), "{found}"),
            (verdict, _) => panic!("{verdict:?}"),
        }
    }

    #[test]
    fn the_right_output_passes_and_a_wrong_one_fails() {
        check("-- run\n-- => 6\n6", &outcome(0, "6\n", None), None);
        check(
            "-- run\n-- => 7\n6",
            &outcome(0, "6\n", None),
            Some("expected output:\n  | 7\nfound output:\n  | 6\n"),
        );
        check("-- run\n-- => 6\n6", &outcome(0, "6", None), Some("no line break"));
        check("-- run\n6", &outcome(0, "6\n", None), Some("EDDY_BLESS"));
    }

    #[test]
    fn the_exit_code_is_inferred_or_stated() {
        check(
            "-- run\n-- => undefined: lt at (0, 0)\n",
            &outcome(3, "undefined: lt at (0, 0)\n", None),
            None,
        );
        check(
            "-- run\n-- => diverged: out of fuel\n",
            &outcome(0, "diverged: out of fuel\n", None),
            Some("exit code 3"),
        );
        check("-- run\n-- => 6\n-- exit: 3\n", &outcome(3, "6\n", None), None);
        check("-- run\n-- => 6\n-- exit: 3\n", &outcome(0, "6\n", None), Some("exit code 3, found 0"));
    }

    #[test]
    fn a_marked_diagnostic_passes_and_anything_else_fails() {
        check("x + yy -- error[RD003]: unbound\n-- check", &outcome(1, "", Some(UNBOUND)), None);
        check(
            "x + yy -- error[RD003]: `zz`\n-- check",
            &outcome(1, "", Some(UNBOUND)),
            Some("with the words \"`zz`\""),
        );
        check(
            "x + yy -- error[RD004]\n-- check",
            &outcome(1, "", Some(UNBOUND)),
            Some("missing on line 1: error[RD004]"),
        );
        check("x\n+ yy -- error[RD003]\n-- check", &outcome(1, "", Some(UNBOUND)), Some("missing on line 2"));
        check(
            "-- check\n-- => real\nx + yy",
            &outcome(1, "", Some(UNBOUND)),
            Some("unexpected on line 1: error[RD003]"),
        );
        check("1 -- error[RD003] -- error[RD003]\n-- check", &outcome(1, "", Some(UNBOUND)), Some("missing"));
    }

    #[test]
    fn a_refused_program_prints_nothing_and_exits_with_1() {
        let program = "x + yy -- error[RD003]\n-- run";
        check(program, &outcome(1, "6\n", Some(UNBOUND)), Some("(nothing)"));
        check(program, &outcome(0, "", Some(UNBOUND)), Some("exit code 1, found 0"));
    }

    #[test]
    fn noise_on_standard_error_fails() {
        let outcome = Outcome { noise: vec!["thread panicked".into()], ..outcome(0, "6\n", None) };
        check("-- run\n-- => 6\n6", &outcome, Some("thread panicked"));
    }

    #[test]
    fn an_example_expects_the_file_beside_it() {
        let (case, directive) =
            (Case::default(), Directive { command: "run".into(), ..Directive::default() });
        assert_eq!(judge(&case, &directive, Some("6\n"), &outcome(0, "6\n", None)), Ok(()));
        assert!(judge(&case, &directive, Some("7\n"), &outcome(0, "6\n", None)).is_err());
    }
}
