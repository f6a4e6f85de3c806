//! The result of running `eddy` on a program: exit code, output, and diagnostics parsed from their short
//! form.

use std::path::Path;
use std::process::Command;

use crate::TestPaths;
use crate::case::Directive;

/// The result of one run of `eddy`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// `None` after a signal.
    pub code: Option<i32>,
    pub stdout: String,
    pub diagnostics: Vec<Found>,
    /// Lines on standard error that are not diagnostics.
    pub noise: Vec<String>,
}

/// An actual diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Starts at 1.
    pub line: usize,
    /// `error` or `warning`
    pub severity: String,
    pub code: String,
    pub message: String,
}

/// Executes a directive on `file`, a path relative to the root.
pub fn of_directive(paths: &TestPaths, directive: &Directive, engine: Option<&str>, file: &Path) -> Outcome {
    let (code, mut stdout, stderr) = eddy(paths, &arguments(directive, engine, "--short", file));
    if directive.command == "gradcheck" {
        // The rest is a table of rounding errors, which differ between machines.
        stdout = stdout.split_inclusive('\n').take(1).collect();
    }
    let mut outcome = Outcome { code, stdout, ..Outcome::default() };
    outcome.read_stderr(&stderr, file);
    outcome
}

/// The standard error of a directive in the form for people.
pub fn full_stderr(paths: &TestPaths, directive: &Directive, engine: Option<&str>, file: &Path) -> String {
    eddy(paths, &arguments(directive, engine, "--color=never", file)).2
}

/// Runs `eddy fmt` on a file; `options` choose between rewriting and checking it.
pub fn of_formatting(paths: &TestPaths, options: &[&str], file: &Path) -> Outcome {
    let mut arguments = vec!["fmt".to_owned(), "--short".to_owned()];
    arguments.extend(options.iter().map(|&option| option.to_owned()));
    arguments.push(file.display().to_string());
    let (code, stdout, stderr) = eddy(paths, &arguments);
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

fn eddy(paths: &TestPaths, arguments: &[String]) -> (Option<i32>, String, String) {
    let output = Command::new(&paths.eddy)
        .args(arguments)
        .current_dir(&paths.root)
        // Makes the tests independent of the terminal.
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

/// Parses `FILE:LINE:COL: error[CODE]: message`.
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
