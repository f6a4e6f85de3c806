//! The machine forms of diagnostics and results: one JSON object per line, each with `"version": 1`.
//!
//! These objects are a promise to scripts. They are separate from the internal types on purpose: internal
//! types may be refactored, the objects only grow. A key without a value is `null` rather than absent. Lines
//! and columns count from 1, columns in characters; `byte` counts from 0.

use std::fmt;

use eddy_syntax::{Code, Confidence, Diagnostic, Help, Label, Sources, Span};
use serde_json::{Map, Value, json};

use crate::status::Status;

/// Increases when a key changes its meaning or is removed.
const VERSION: u32 = 1;

/// A diagnostic as one line.
pub fn diagnostic(diagnostic: &Diagnostic, sources: &Sources) -> String {
    line(&json!({
        "version": VERSION,
        "type": "diagnostic",
        "code": diagnostic.code.name(),
        "severity": diagnostic.severity.word(),
        "message": diagnostic.title,
        "file": sources.file(diagnostic.primary.span).name(),
        "span": span(diagnostic.primary.span, sources),
        "label": text(&diagnostic.primary.text),
        "causes": diagnostic.causes.iter().map(|cause| label(cause, sources)).collect::<Vec<_>>(),
        "reason": diagnostic.reason,
        "help": diagnostic.help.as_ref().map(|given| help(given, sources)),
    }))
}

/// The counters of `--stats` as one line.
pub fn stats(stats: &[(&'static str, u64)]) -> String {
    let counters: Map<String, Value> =
        stats.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    line(&json!({ "version": VERSION, "type": "stats", "counters": counters }))
}

/// An IO failure as one line.
pub fn failure(file: &str, message: &str) -> String {
    line(&json!({ "version": VERSION, "type": "failure", "file": file, "message": message }))
}

/// A whole result as one line; `output` is the text for people, `answer` the same result as data.
pub fn result(command: &str, status: &str, output: &str, answer: &Value) -> String {
    let output: Vec<&str> = output.lines().collect();
    line(&json!({
        "version": VERSION,
        "command": command,
        "status": status,
        "output": output,
        "answer": answer,
    }))
}

/// The plans of nodes, one line each: `objects` are JSON objects, one per line, without version and command.
pub fn plans(objects: &str) -> String {
    let versioned = |object: &str| {
        let plan: Map<String, Value> =
            serde_json::from_str(object).expect("a plan is printed as a JSON object");
        let mut fields =
            Map::from_iter([("version".into(), VERSION.into()), ("command".into(), "plan".into())]);
        fields.extend(plan);
        line(&Value::Object(fields))
    };
    objects.lines().map(versioned).collect()
}

/// A code as one line, for `explain`; a list of codes leaves the pages out.
pub fn code(language: &str, code: Code, page: Option<&str>) -> String {
    line(&json!({
        "version": VERSION,
        "command": "explain",
        "language": language,
        "code": code.name(),
        "phase": code.phase().name(),
        "title": code.title(),
        "text": page,
    }))
}

/// Turns each line of output into an object, so that a long trace need not fit in memory. The status comes
/// last.
pub struct Lines<'a, W> {
    command: &'a str,
    unfinished: String,
    to: &'a mut W,
}

impl<'a, W: fmt::Write> Lines<'a, W> {
    /// Writes the objects to `to`.
    pub fn new(command: &'a str, to: &'a mut W) -> Self {
        Lines { command, unfinished: String::new(), to }
    }

    /// Writes the status and the answer. For a refused program, nothing was written before and nothing is
    /// written now.
    pub fn finish(mut self, ended: Status, answer: &Value) -> fmt::Result {
        if ended == Status::Refused {
            return Ok(());
        }
        if !self.unfinished.is_empty() {
            self.finish_line()?;
        }
        let (command, status) = (self.command, ended.word());
        let last = json!({ "version": VERSION, "command": command, "status": status, "answer": answer });
        self.to.write_str(&line(&last))
    }

    fn finish_line(&mut self) -> fmt::Result {
        let object = json!({ "version": VERSION, "command": self.command, "line": self.unfinished });
        self.unfinished.clear();
        self.to.write_str(&line(&object))
    }
}

impl<W: fmt::Write> fmt::Write for Lines<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for piece in text.split_inclusive('\n') {
            match piece.strip_suffix('\n') {
                Some(end) => {
                    self.unfinished.push_str(end);
                    self.finish_line()?;
                }
                None => self.unfinished.push_str(piece),
            }
        }
        Ok(())
    }
}

fn label(label: &Label, sources: &Sources) -> Value {
    json!({ "file": sources.file(label.span).name(), "span": span(label.span, sources), "label": text(&label.text) })
}

fn help(help: &Help, sources: &Sources) -> Value {
    let edit = help.edit.as_ref().map(|edit| {
        let confidence = match edit.confidence {
            Confidence::Safe => "safe",
            Confidence::Maybe => "maybe",
        };
        json!({ "span": span(edit.span, sources), "replacement": edit.replacement, "confidence": confidence })
    });
    json!({ "message": help.text, "edit": edit })
}

fn span(span: Span, sources: &Sources) -> Value {
    let file = sources.file(span);
    let place = |byte: u32| {
        let position = file.position(byte);
        json!({ "line": position.line, "column": position.column, "byte": byte - file.base() })
    };
    json!({ "start": place(span.start), "end": place(span.end) })
}

fn text(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

fn line(object: &Value) -> String {
    // Serialised JSON has no line breaks outside of strings, and inside strings they are escaped.
    format!("{object}\n")
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use eddy_syntax::{Edit, SourceFile};
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_diagnostic_has_every_key() {
        let sources = Sources::alone(SourceFile::new("a.rd", "let x = 1 in\n  x + yy"));
        let edit =
            Edit { span: Span::new(19, 21), replacement: "x".to_owned(), confidence: Confidence::Maybe };
        let unbound =
            Diagnostic::error(eddy_rd::codes::UNBOUND_VARIABLE, Span::new(19, 21), "unbound variable `yy`")
                .cause(Span::new(4, 5), "`x` is bound here")
                .help_with_edit("did you mean `x`?", edit);
        let pretty: Value = serde_json::from_str(&diagnostic(&unbound, &sources)).expect("it is JSON");
        expect![[r#"
            {
              "version": 1,
              "type": "diagnostic",
              "code": "RD003",
              "severity": "error",
              "message": "unbound variable `yy`",
              "file": "a.rd",
              "span": {
                "start": {
                  "line": 2,
                  "column": 7,
                  "byte": 19
                },
                "end": {
                  "line": 2,
                  "column": 9,
                  "byte": 21
                }
              },
              "label": null,
              "causes": [
                {
                  "file": "a.rd",
                  "span": {
                    "start": {
                      "line": 1,
                      "column": 5,
                      "byte": 4
                    },
                    "end": {
                      "line": 1,
                      "column": 6,
                      "byte": 5
                    }
                  },
                  "label": "`x` is bound here"
                }
              ],
              "reason": null,
              "help": {
                "message": "did you mean `x`?",
                "edit": {
                  "span": {
                    "start": {
                      "line": 2,
                      "column": 7,
                      "byte": 19
                    },
                    "end": {
                      "line": 2,
                      "column": 9,
                      "byte": 21
                    }
                  },
                  "replacement": "x",
                  "confidence": "maybe"
                }
              }
            }"#]]
        .assert_eq(&format!("{pretty:#}"));
    }

    #[test]
    fn a_trace_is_one_object_per_line_however_it_is_written() {
        let mut text = String::new();
        let mut lines = Lines::new("trace", &mut text);
        write!(lines, "rd x:real ").expect("writing to a string works");
        write!(lines, "at 3\n= 6").expect("writing to a string works");
        lines.finish(Status::Answered, &json!({ "kind": "value" })).expect("writing to a string works");
        expect![[r#"
            {"version":1,"command":"trace","line":"rd x:real at 3"}
            {"version":1,"command":"trace","line":"= 6"}
            {"version":1,"command":"trace","status":"answered","answer":{"kind":"value"}}
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn a_refused_trace_writes_nothing() {
        let mut text = String::new();
        Lines::new("trace", &mut text)
            .finish(Status::Refused, &Value::Null)
            .expect("writing to a string works");
        assert_eq!(text, "");
    }

    #[test]
    fn a_result_holds_its_lines() {
        expect![[r#"
            {"version":1,"command":"run","status":"no-value","output":["undefined: lt at (0, 0)"],"answer":{"kind":"undefined"}}
        "#]]
        .assert_eq(&result(
            "run",
            Status::NoValue.word(),
            "undefined: lt at (0, 0)\n",
            &json!({ "kind": "undefined" }),
        ));
    }
}
