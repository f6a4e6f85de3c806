//! A test file: a program whose comments contain commands and expectations.
//!
//! Instructions are whole-line comments that start with the name of a command, `=>` or `exit:`. Markers such
//! as `-- error[RD003]: unbound` follow the code on their line:
//!
//! ```text
//! -- check
//! -- => real
//! -- run --fuel 100: tape, reference
//! -- => 6
//! 1.rd[3](x:real. x * x)
//! ```
//!
//! A malformed instruction is an error and never a plain comment; otherwise a misspelt directive would
//! silently test nothing.

use std::collections::BTreeSet;

/// The commands of directives.
const COMMANDS: [&str; 10] =
    ["check", "run", "trace", "ask", "enum", "opt", "intype", "gradcheck", "diff", "plan"];

/// A program with its instructions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Case {
    /// In the order of the file.
    pub directives: Vec<Directive>,
    /// The diagnostics to expect from every directive.
    pub markers: Vec<Marker>,
}

/// One command, for one or several engines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directive {
    /// Starts at 0; `None` for the implied command of an example without directives.
    pub line: Option<usize>,
    pub command: String,
    pub options: Vec<String>,
    /// Each engine is a separate trial; if empty, the default engine is used.
    pub engines: Vec<String>,
    /// The `=>` lines: their line numbers, from 0, and their texts.
    pub output: Vec<(usize, String)>,
    /// An explicit exit code and its line number, from 0.
    pub exit: Option<(usize, i32)>,
}

/// An expected diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// The line of the diagnostic, from 1.
    pub line: usize,
    /// `error` or `warning`
    pub severity: &'static str,
    pub code: String,
    /// Words that the message must contain.
    pub words: String,
    /// The position of the marker itself: line, from 0, and byte offset in it.
    pub position: (usize, usize),
}

impl Case {
    /// Parses the instructions of a program.
    pub fn parse(text: &str) -> Result<Case, String> {
        let mut case = Case::default();
        for (number, line) in text.lines().enumerate() {
            if let Some(comment) = line.trim().strip_prefix("--") {
                case.instruction(number, comment.trim())
                    .map_err(|error| format!("line {}: {error}", number + 1))?;
            }
            case.markers.extend(markers(number, line)?);
        }
        // A run that fails, exit code 3, has printed what came before the failure.
        let prints = |directive: &Directive| {
            !directive.output.is_empty() && directive.exit.is_none_or(|(_, code)| code != 3)
        };
        if case.is_refused() && case.directives.iter().any(prints) {
            return Err(
                "a program that is refused has no output: remove the `=>` or the `error` comments".into()
            );
        }
        Ok(case)
    }

    pub fn is_refused(&self) -> bool {
        self.markers.iter().any(|marker| marker.severity == "error")
    }

    fn instruction(&mut self, number: usize, comment: &str) -> Result<(), String> {
        let word = comment.split([' ', ':']).next().unwrap_or_default();
        if COMMANDS.contains(&word) {
            self.directives.push(directive(number, word, &comment[word.len()..])?);
        } else if let Some(output) = comment.strip_prefix("=>") {
            let output = output.strip_prefix(' ').unwrap_or(output);
            self.last("=>")?.output.push((number, output.to_owned()));
        } else if let Some(code) = comment.strip_prefix("exit:") {
            let code = code.trim().parse().map_err(|_| format!("`{}` is not an exit code", code.trim()))?;
            self.last("exit:")?.exit = Some((number, code));
        }
        Ok(())
    }

    fn last(&mut self, what: &str) -> Result<&mut Directive, String> {
        self.directives
            .last_mut()
            .ok_or(format!("`{what}` belongs to the directive above it, and there is none"))
    }
}

fn directive(number: usize, command: &str, rest: &str) -> Result<Directive, String> {
    // A colon inside an option, as in `--point 01:3`, is not followed by a blank.
    let engines_follow = rest.split_once(": ").or(rest.strip_suffix(':').map(|options| (options, "")));
    let (options, engines) = engines_follow.unwrap_or((rest, ""));
    let options = words(options)?;
    if options.first().is_some_and(|first| !first.starts_with("--")) {
        return Err(format!(
            "this is not a directive; one reads `-- {command} --option value: engine, engine`"
        ));
    }
    let engines: Vec<String> = engines
        .split(',')
        .map(|engine| engine.trim().to_owned())
        .filter(|engine| !engine.is_empty())
        .collect();
    if engines.iter().collect::<BTreeSet<_>>().len() < engines.len() {
        return Err("an engine is named twice".to_owned());
    }
    Ok(Directive {
        line: Some(number),
        command: command.to_owned(),
        options,
        engines,
        ..Directive::default()
    })
}

/// The words of a line; text in double quotes is one word, without the quotes.
fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    for (i, part) in text.split('"').enumerate() {
        if i % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    if text.matches('"').count() % 2 == 1 { Err("a quote is not closed".to_owned()) } else { Ok(words) }
}

/// The markers of one line, such as `x + yy -- error[RD003]: unbound`.
fn markers(number: usize, line: &str) -> Result<Vec<Marker>, String> {
    let mut markers = Vec::new();
    for severity in ["error", "warning"] {
        let opening = format!("-- {severity}[");
        for (start, _) in line.match_indices(&opening) {
            let text = &line[start + opening.len()..];
            // The next marker on the line ends the words of this one.
            let text = text.find(" -- ").map_or(text, |end| &text[..end]);
            let wrong = || format!("line {}: a marker reads `-- {severity}[CODE]: words`", number + 1);
            let (code, rest) = text.split_once(']').ok_or_else(wrong)?;
            let (place, words) = rest.split_once(':').unwrap_or((rest, ""));
            let line = match place.trim().strip_prefix("at line ") {
                Some(elsewhere) => elsewhere.parse().map_err(|_| wrong())?,
                None if place.trim().is_empty() => number + 1,
                None => return Err(wrong()),
            };
            let words = words.trim().to_owned();
            markers.push(Marker { line, severity, code: code.to_owned(), words, position: (number, start) });
        }
    }
    markers.sort_by_key(|marker| marker.position);
    Ok(markers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(text: &str) -> Directive {
        let mut case = Case::parse(text).expect("the instructions are well formed");
        assert_eq!(case.directives.len(), 1);
        case.directives.remove(0)
    }

    #[test]
    fn a_directive_has_options_and_engines() {
        let directive = only("-- run --fuel 100 --approx=2: tape, reference\n1");
        assert_eq!(directive.options, ["--fuel", "100", "--approx=2"]);
        assert_eq!(directive.engines, ["tape", "reference"]);
    }

    #[test]
    fn quoted_text_is_one_word() {
        let directive = only("-- ask --value \"{1 -> 2}\" --tables\n1");
        assert_eq!(directive.options, ["--value", "{1 -> 2}", "--tables"]);
        assert!(Case::parse("-- ask --value \"{1 -> 2}").is_err());
    }

    #[test]
    fn output_belongs_to_the_directive_above_it() {
        let case =
            Case::parse("-- check\n-- => real\n1\n-- run: tape\n-- => 1\n-- exit: 0\n").expect("well formed");
        let outputs: Vec<_> = case.directives.iter().map(|directive| directive.output.clone()).collect();
        assert_eq!(outputs, [vec![(1, "real".to_owned())], vec![(4, "1".to_owned())]]);
        assert_eq!(case.directives[1].exit, Some((5, 0)));
    }

    #[test]
    fn an_output_line_keeps_its_indentation_and_may_be_empty() {
        assert_eq!(
            only("-- trace\n-- =>   value 6\n-- =>\n").output,
            [(1, "  value 6".into()), (2, String::new())]
        );
    }

    #[test]
    fn a_marker_refers_to_its_own_line_or_names_another() {
        let case = Case::parse(
            "x + yy -- error[RD003]: unbound -- warning[RD099]\n-- error[RD002] at line 3: end\n",
        );
        let found = case.expect("well formed").markers;
        let found: Vec<_> = found.iter().map(|m| (m.line, m.severity, &*m.code, &*m.words)).collect();
        assert_eq!(
            found,
            [(1, "error", "RD003", "unbound"), (1, "warning", "RD099", ""), (3, "error", "RD002", "end")]
        );
    }

    #[test]
    fn ordinary_comments_are_left_alone() {
        assert_eq!(Case::parse("-- the running example\n1 -- run\n(* check *)"), Ok(Case::default()));
    }

    #[test]
    fn malformed_instructions_are_errors() {
        for wrong in [
            "-- run tape",
            "-- => 1",
            "-- exit: 0",
            "-- run\n-- exit: soon",
            "-- run: tape, tape",
            "1 -- error[RD001",
            "1 -- error[RD001] below: words",
            "-- run\n-- => 1\nyy -- error[RD003]",
        ] {
            assert!(Case::parse(wrong).is_err(), "{wrong}");
        }
    }
}
