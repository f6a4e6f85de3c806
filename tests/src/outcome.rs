//! What `eddy` made of a program: exit code, output, and diagnostics read from their short form.

use std::path::Path;
use std::process::Command;

use crate::House;
use crate::case::Directive;

/// The end of one run of `eddy`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The exit code; none after a signal.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// The diagnostics on standard error.
    pub diagnostics: Vec<Found>,
    /// Lines on standard error that are no diagnostics.
    pub noise: Vec<String>,
}

/// A diagnostic that came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The line, from 1.
    pub line: usize,
    /// `error` or `warning`.
    pub severity: String,
    /// The code.
    pub code: String,
    /// The message.
    pub message: String,
}

/// Does what a directive says with `file`, a path relative to the root.
pub fn of_directive(house: &House, directive: &Directive, engine: Option<&str>, file: &Path) -> Outcome {
    let (code, mut stdout, stderr) = eddy(house, &arguments(directive, engine, "--short", file));
    if directive.command == "gradcheck" {
        // Below its first line is a table of rounding errors, which differ between machines.
        stdout = stdout.split_inclusive('\n').take(1).collect();
    }
    let mut outcome = Outcome { code, stdout, ..Outcome::default() };
    outcome.read_stderr(&stderr, file);
    outcome
}

/// What a directive prints on standard error for people.
pub fn full_stderr(house: &House, directive: &Directive, engine: Option<&str>, file: &Path) -> String {
    eddy(house, &arguments(directive, engine, "--color=never", file)).2
}

/// What `eddy fmt` says about a file that it rewrites in place, or only checks.
pub fn of_formatting(house: &House, options: &[&str], file: &Path) -> Outcome {
    let mut arguments = vec!["fmt".to_owned(), "--short".to_owned()];
    arguments.extend(options.iter().map(|&option| option.to_owned()));
    arguments.push(file.display().to_string());
    let (code, stdout, stderr) = eddy(house, &arguments);
    let mut outcome = Outcome { code, stdout, ..Outcome::default() };
    outcome.read_stderr(&stderr, file);
    outcome
}

fn arguments(directive: &Directive, engine: Option<&str>, form: &str, file: &Path) -> Vec<String> {
    let mut arguments = vec![directive.command.clone(), form.to_owned()];
    arguments.extend(directive.options.iter().cloned());
    arguments.extend(engine.map(|engine| format!("--engine={engine}")));
    arguments.push(file.display().to_string());
    arguments
}

fn eddy(house: &House, arguments: &[String]) -> (Option<i32>, String, String) {
    let output = Command::new(&house.eddy)
        .args(arguments)
        .current_dir(&house.root)
        // The tests look the same under every setting of the terminal.
        .env("NO_COLOR", "1")
        .stdin(std::process::Stdio::null())
        .output()
        .expect("eddy can be started: cargo has just built it");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

impl Outcome {
    fn read_stderr(&mut self, stderr: &str, file: &Path) {
        for line in stderr.lines() {
            match found(line, &file.display().to_string()) {
                Some(found) => self.diagnostics.push(found),
                None => self.noise.push(line.to_owned()),
            }
        }
    }
}

/// Reads `FILE:LINE:COL: error[CODE]: message`.
fn found(line: &str, file: &str) -> Option<Found> {
    let rest = line.strip_prefix(file)?.strip_prefix(':')?;
    let (line, rest) = rest.split_once(':')?;
    let (_column, rest) = rest.split_once(": ")?;
    let (severity, rest) = rest.split_once('[')?;
    let (code, message) = rest.split_once("]: ")?;
    let [severity, code, message] = [severity, code, message].map(str::to_owned);
    Some(Found { line: line.parse().ok()?, severity, code, message })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_diagnostic_is_read() {
        let expected = Found {
            line: 12,
            severity: "error".into(),
            code: "RD005".into(),
            message: "type mismatch: expected real, found real * real".into(),
        };
        let line = "tests/rd/a.rd:12:3: error[RD005]: type mismatch: expected real, found real * real";
        assert_eq!(found(line, "tests/rd/a.rd"), Some(expected));
    }

    #[test]
    fn anything_else_is_noise() {
        let mut outcome = Outcome::default();
        outcome.read_stderr("a.rd:1:1: error[RD001]: odd\nthread 'main' panicked\n", Path::new("a.rd"));
        assert_eq!(outcome.diagnostics.len(), 1);
        assert_eq!(outcome.noise, ["thread 'main' panicked"]);
    }
}
