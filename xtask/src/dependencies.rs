//! Checks the table of dependencies in `ARCHITECTURE.md` against the manifests of the crates.

use crate::manifest::listed;
use crate::tidy::Complaint;

pub const DOCUMENT: &str = "ARCHITECTURE.md";
const HEADING: &str = "## Dependencies";
const NONE: &str = "–";

/// Checks the table of a document; `manifests` has the folder and the manifest of each crate.
pub fn complaints(document: &str, manifests: &[(String, String)]) -> Vec<Complaint> {
    let lines = || document.lines().enumerate().map(|(index, line)| (index + 1, line));
    let Some((heading, _)) = lines().find(|(_, line)| *line == HEADING) else {
        return vec![Complaint::new(1, format!("there is no section `{HEADING}`"))];
    };
    let section = lines().skip(heading).take_while(|(_, line)| !line.starts_with("## "));
    let rows: Vec<(usize, &str)> = section.filter(|(_, line)| line.starts_with("| `")).collect();
    let expected: Vec<String> = manifests.iter().map(|(folder, manifest)| row(folder, manifest)).collect();
    let missing = expected.iter().filter(|row| !rows.iter().any(|(_, line)| line == row));
    let missing = missing.map(|row| Complaint::new(heading, format!("the table lacks the row {row}")));
    let outdated = rows.iter().filter(|(_, line)| !expected.iter().any(|row| row == line));
    let outdated = outdated.map(|(line, _)| Complaint::new(*line, "no manifest has these dependencies"));
    missing.chain(outdated).collect()
}

/// The row of a crate: its name, crates of the workspace, crates of others, and those that only tests need.
fn row(folder: &str, manifest: &str) -> String {
    let name = folder.rsplit('/').next().unwrap_or(folder);
    let names = |is_wanted: fn(&str) -> bool| -> Vec<&str> {
        let listed = listed(manifest, |table| table.ends_with("dependencies") && is_wanted(table));
        let mut names: Vec<&str> = listed.map(|(_, name, _)| name.trim_end_matches(".workspace")).collect();
        names.sort_unstable();
        names
    };
    let own = |name: &&str| name.starts_with("eddy-");
    let (inside, outside): (Vec<&str>, Vec<&str>) =
        names(|table| !table.contains("dev-")).iter().partition(|name| own(name));
    let only_tests = names(|table| table.contains("dev-"));
    let cell = |names: Vec<&str>| {
        let names: Vec<&str> = names.iter().map(|name| name.trim_start_matches("eddy-")).collect();
        if names.is_empty() { NONE.to_string() } else { names.join(", ") }
    };
    format!("| `{name}` | {} | {} | {} |", cell(inside), cell(outside), cell(only_tests))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "[dependencies]\nserde = { workspace = true }\neddy-flow.workspace = true\n\
        [target.'cfg(unix)'.dependencies]\nrustix.workspace = true\n[dev-dependencies]\nproptest.workspace = true\n";

    #[track_caller]
    fn check(rows: &str, lines: &[usize]) {
        let manifests = [
            ("crates/core/a".to_string(), MANIFEST.to_string()),
            ("tests".to_string(), "[package]\nname = \"b\"\n".to_string()),
        ];
        let document =
            format!("# A\n| `other` | table |\n{HEADING}\n| crate | … |\n{rows}\n## B\n| `c` | x |\n");
        let complaints = complaints(&document, &manifests);
        let found: Vec<usize> = complaints.iter().map(|complaint| complaint.line).collect();
        assert_eq!(found, lines, "{complaints:?}");
    }

    #[test]
    fn each_crate_has_its_row() {
        let (a, b) = ("| `a` | flow | rustix, serde | proptest |", "| `tests` | – | – | – |");
        check(&format!("{a}\n{b}"), &[]);
        check(a, &[3]);
        check(&format!("{a}\n{b}\n| `gone` | – | – | – |"), &[7]);
        check(&format!("{}\n{b}", a.replace("flow", "plan")), &[3, 5]);
    }

    #[test]
    fn the_section_is_required() {
        let complaints = complaints("# A\n", &[]);
        assert_eq!(complaints.len(), 1, "{complaints:?}");
    }
}
