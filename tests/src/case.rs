//! A test file: a program, and in its comments what to do with it and what to expect.
//!
//! Only whole-line comments are instructions, and only those that start with the name of a command, `=>` or
//! `exit:`; markers such as `-- error[RD003]: unbound` stand behind the code that they are about:
//!
//! ```text
//! -- check
//! -- => real
//! -- run --fuel 100: tape, reference
//! -- => 6
//! 1.rd[3](x:real. x * x)
//! ```
//!
//! An instruction that cannot be understood is an error and never a plain comment: a misspelt directive would
//! otherwise test nothing, silently.

use std::collections::BTreeSet;

/// The commands of directives.
const COMMANDS: [&str; 10] =
    ["check", "run", "trace", "ask", "enum", "opt", "intype", "gradcheck", "diff", "plan"];

/// A program with its instructions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Case {
    /// What to do, in the order of the file.
    pub directives: Vec<Directive>,
    /// Which diagnostics to expect, whatever is done.
    pub markers: Vec<Marker>,
}

/// One command, for one or several engines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directive {
    /// The line where it stands, from 0; `None` for the command of an example that names none.
    pub line: Option<usize>,
    /// `check`, `run` or `trace`.
    pub command: String,
    /// Options, as typed.
    pub options: Vec<String>,
    /// The engines to use in turn; where there are none, the default one is used.
    pub engines: Vec<String>,
    /// The lines of `=>`: where each stands, from 0, and its text.
    pub output: Vec<(usize, String)>,
    /// A stated exit code, and the line where it stands, from 0.
    pub exit: Option<(usize, i32)>,
}

/// A diagnostic that is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// The line of the diagnostic, from 1.
    pub line: usize,
    /// `error` or `warning`.
    pub severity: &'static str,
    /// The code.
    pub code: String,
    /// Words that the message contains.
    pub words: String,
    /// Where the marker itself stands: the line, from 0, and the byte in it.
    pub stands_at: (usize, usize),
}

impl Case {
    /// Reads the instructions of a program.
    pub fn parse(text: &str) -> Result<Case, String> {
        let mut case = Case::default();
        for (number, line) in text.lines().enumerate() {
            if let Some(comment) = line.trim().strip_prefix("--") {
                case.instruction(number, comment.trim())
                    .map_err(|error| format!("line {}: {error}", number + 1))?;
            }
            case.markers.extend(markers(number, line)?);
        }
        if case.is_refused() && case.directives.iter().any(|directive| !directive.output.is_empty()) {
            return Err(
                "a program that is refused has no output: remove the `=>` or the `error` comments".into()
            );
        }
        Ok(case)
    }

    /// Whether an error is expected.
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
    // A colon inside an option, such as that of `--point 01:3`, has no blank behind it.
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

/// The words of a line; what stands in double quotes is one word, without them.
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
            markers.push(Marker { line, severity, code: code.to_owned(), words, stands_at: (number, start) });
        }
    }
    markers.sort_by_key(|marker| marker.stands_at);
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
    fn what_stands_in_quotes_is_one_word() {
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
    fn a_marker_speaks_of_its_own_line_or_of_another() {
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
    fn what_looks_like_an_instruction_must_be_one() {
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
