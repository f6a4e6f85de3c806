//! The library keeps its promises: each node has a comment with an example, a row in the guide, and a file test.

use crate::tidy::Complaint;

/// The folder of the library.
pub const FOLDER: &str = "library/";

/// The chapter that lists it.
pub const GUIDE: &str = "docs/guide/library.md";

/// The file that every program sees without an import; the reference lists it.
const PRELUDE: &str = "prelude";

/// The name in imports of a file of the library.
pub fn file_name(path: &str) -> Option<&str> {
    path.strip_prefix(FOLDER)?.strip_suffix(".eddy").filter(|name| *name != PRELUDE)
}

/// What is missing for the nodes of the file `name` of the library; `tests` are its file tests, one after the other.
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
        let Some((node, signature)) = declared(line) else { continue };
        let mut complain = |what: String| complaints.push(Complaint::new(index + 1, what));
        if !comment.last().is_some_and(|last| last.starts_with("-- Example: `")) {
            complain(format!("the comment above `{node}` ends with no line `Example:`"));
        }
        if !section.contains(&format!("| `{signature}` |")) {
            complain(format!("the section `eddy:{name}` of {GUIDE} has no row `{signature}`"));
        }
        if !["", "_end"].iter().any(|woven| tests.contains(&format!("\nrun {node}{woven} "))) {
            complain(format!("no file test of `eddy:{name}` runs `{node}`"));
        }
    }
    complaints
}

/// The name of the node that a line declares, and how it is called.
fn declared(line: &str) -> Option<(&str, String)> {
    let (node, rest) = line.strip_prefix("node ")?.split_once('(')?;
    let inputs = rest.split_once(')')?.0.split(", ").map(|input| input.split(':').next().unwrap_or_default());
    Some((node, format!("{node}({})", inputs.collect::<Vec<_>>().join(", "))))
}

/// The part of the guide about one file.
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
    fn the_prelude_is_listed_elsewhere() {
        assert_eq!(file_name("library/filters.eddy"), Some("filters"));
        assert_eq!(file_name("library/prelude.eddy"), None);
        assert_eq!(file_name("examples/filters.eddy"), None);
    }
}
