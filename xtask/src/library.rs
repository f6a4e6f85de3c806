//! Checks the library: each node has a comment with an example, a row in the guide, and a file test. The same
//! holds for functions, except helpers: functions without an example that only other functions of the file
//! use.

use crate::tidy::Complaint;

pub const FOLDER: &str = "library/";

/// The chapter that lists the library.
pub const GUIDE: &str = "docs/guide/library.md";

/// The file that every program sees without an import; the reference lists it instead of the guide.
const PRELUDE: &str = "prelude";

/// The name by which programs import a file of the library.
pub fn file_name(path: &str) -> Option<&str> {
    path.strip_prefix(FOLDER)?.strip_suffix(".eddy").filter(|name| *name != PRELUDE)
}

/// Checks the nodes and functions of the library file `name`; `tests` is the concatenation of its file tests.
pub fn complaints(name: &str, text: &str, guide: &str, tests: &str) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let section = section(name, guide);
    let mut comment: Vec<&str> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.starts_with("--") {
            comment.push(line);
            continue;
        }
        let comment = std::mem::take(&mut comment);
        let Some(Declared { kind, name: item, signature }) = declared(line) else { continue };
        let has_example = comment.last().is_some_and(|last| last.starts_with("-- Example: `"));
        let mut complain = |what: String| complaints.push(Complaint::new(index + 1, what));
        let is_tested = match kind {
            Kind::Node => ["", "_end"].iter().any(|suffix| tests.contains(&format!("\nrun {item}{suffix} "))),
            Kind::Function if !has_example => continue,
            Kind::Function => mentions(tests, item),
        };
        if !has_example {
            complain(format!("the comment above `{item}` does not end with a line `Example:`"));
        }
        if !section.contains(&format!("| `{signature}` |")) {
            complain(format!("the section `eddy:{name}` of {GUIDE} has no row `{signature}`"));
        }
        if !is_tested {
            complain(format!("no file test of `eddy:{name}` runs `{item}`"));
        }
    }
    complaints
}

enum Kind {
    Node,
    Function,
}

struct Declared<'a> {
    kind: Kind,
    name: &'a str,
    signature: String,
}

/// The node or the function that a line declares. Its parameters are on that line.
fn declared(line: &str) -> Option<Declared<'_>> {
    let kinds = [("node ", Kind::Node), ("fn ", Kind::Function)];
    let (rest, kind) = kinds.into_iter().find_map(|(word, kind)| Some((line.strip_prefix(word)?, kind)))?;
    let (head, params) = rest.split_once('(')?;
    let name = head.split('[').next().unwrap_or_default();
    Some(Declared { kind, name, signature: format!("{name}({})", names(params).join(", ")) })
}

/// The names of parameters, without their types, up to the `)` that closes the list.
fn names(params: &str) -> Vec<&str> {
    let (mut depth, mut start, mut names) = (0, 0, Vec::new());
    for (at, c) in params.char_indices() {
        let ends_here = depth == 0 && matches!(c, ',' | ')');
        if ends_here {
            names.push(params[start..at].split(':').next().unwrap_or_default().trim());
            start = at + 1;
        }
        match c {
            '(' | '[' => depth += 1,
            ')' if depth == 0 => break,
            ')' | ']' => depth -= 1,
            _ => {}
        }
    }
    names
}

/// Whether a program calls a function or passes it as an argument.
fn mentions(tests: &str, function: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let code = tests.lines().filter(|line| !line.starts_with("--"));
    code.flat_map(|line| line.split(|c| !is_word(c))).any(|word| word == function)
}

fn section<'a>(name: &str, guide: &'a str) -> &'a str {
    let start = guide.find(&format!("## `eddy:{name}`")).unwrap_or(guide.len());
    let end = guide[start..].find("\n## ").map_or(guide.len(), |length| start + length);
    &guide[start..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUIDE: &str = "## `eddy:other`\n| `hold(c, x)` | |\n\n## `eddy:filters`\n\n| `delay(n, x)` | |\n";

    #[track_caller]
    fn check(text: &str, tests: &str, words: &[&str]) {
        let found = complaints("filters", text, GUIDE, tests);
        assert_eq!(found.len(), words.len(), "{found:?}");
        for (complaint, word) in found.iter().zip(words) {
            assert!(complaint.what.contains(word), "{complaint:?}");
        }
    }

    #[test]
    fn a_node_has_an_example_a_row_and_a_test() {
        let delay = "-- Later.\n-- Example: `y = delay(2, x);`\nnode delay(n:int, x) -> (y)\n";
        check(delay, "\nrun delay { }", &[]);
        check(delay, "\nrun delay_end { }", &[]);
        check(delay, "\nrun delays { }", &["no file test"]);
        check("-- Later.\nnode delay(n, x) -> (y)\n", "\nrun delay { }", &["Example"]);
        let hold = "-- Example: `y = hold(c, x);`\nnode hold(c, x) -> (y)\n";
        check(hold, "\nrun hold { }", &["no row `hold(c, x)`"]);
    }

    #[test]
    fn a_function_with_an_example_has_a_row_and_a_test() {
        let hold = "-- Later.\n-- Example: `hold(\\x. x, 2.0)`\nfn hold[n](c: (num, int) -> num, x: num [n, 2]) -> num =\n";
        let row = "## `eddy:filters`\n\n| `hold(c, x)` | |\n";
        let found = |text: &str, guide: &str, tests: &str| {
            complaints("filters", text, guide, tests)
                .into_iter()
                .map(|complaint| complaint.what)
                .collect::<String>()
        };
        assert_eq!(found(hold, row, "eval hold(f, 2.0);"), "");
        assert!(found(hold, row, "-- hold\neval holds(f);").contains("no file test"));
        assert!(found(hold, GUIDE, "eval hold(f, 2.0);").contains("no row `hold(c, x)`"));
        assert_eq!(found("-- A part of others.\nfn part(x) = x;\n", row, ""), "");
    }

    #[test]
    fn the_prelude_is_listed_elsewhere() {
        assert_eq!(file_name("library/filters.eddy"), Some("filters"));
        assert_eq!(file_name("library/prelude.eddy"), None);
        assert_eq!(file_name("examples/filters.eddy"), None);
    }
}
