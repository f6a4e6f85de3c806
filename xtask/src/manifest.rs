//! Rules for manifests: a crate lists exactly the dependencies that its sources use, with versions from the
//! workspace; and its library is built as a test only if it has tests.

use crate::tidy::Complaint;

/// Checks how the library of a crate is tested; `library` is the text of the Rust files in `src`.
///
/// Tests in a library with `test = false` would never run. A library without tests would be built a second
/// time without need.
pub fn in_library(manifest: &str, library: &str) -> Option<Complaint> {
    let switch = listed(manifest, |table| table == "lib").find(|(_, name, _)| *name == "test");
    let is_switched_off = switch.is_some_and(|(_, _, value)| value.trim() == "false");
    let line = switch.map_or(1, |(line, _, _)| line);
    let has_tests = library.lines().any(|line| line.trim() == "#[test]");
    match (is_switched_off, has_tests) {
        (true, true) => {
            Some(Complaint::new(line, "`src` has tests, which do not run: remove `test = false`"))
        }
        (false, false) => {
            Some(Complaint::new(line, "`src` has no tests: write `test = false` below `[lib]`"))
        }
        _ => None,
    }
}

/// Checks the dependencies of a crate; `sources` is the text of its Rust files.
pub fn in_crate(manifest: &str, sources: &str) -> Vec<Complaint> {
    let check = |(line, name, value): (usize, &str, &str)| {
        let is_inherited = value.contains("workspace = true") || name.ends_with(".workspace");
        let name = name.trim_end_matches(".workspace");
        if !is_inherited {
            Some(Complaint::new(
                line,
                format!(
                    "state the version of `{name}` in the workspace, and write `{name}.workspace = true`"
                ),
            ))
        } else if !is_used(name, sources) {
            Some(Complaint::new(line, format!("no source file of the crate uses `{name}`")))
        } else {
            None
        }
    };
    listed(manifest, |table| table.ends_with("dependencies")).filter_map(check).collect()
}

/// Checks the dependencies of the workspace; `manifests` is the text of the manifests of all crates.
pub fn in_workspace(manifest: &str, manifests: &str) -> Vec<Complaint> {
    let is_wanted = |name: &str| {
        manifests.lines().any(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['.', ' '])))
    };
    let check = |(line, name, _): (usize, &str, &str)| {
        (!is_wanted(name)).then(|| Complaint::new(line, format!("no crate depends on `{name}`")))
    };
    listed(manifest, |table| table == "workspace.dependencies").filter_map(check).collect()
}

/// The lines `name = value` of the tables that `is_wanted` accepts, with their line numbers.
pub fn listed(manifest: &str, is_wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = (usize, &str, &str)> {
    let mut is_inside = false;
    manifest.lines().enumerate().filter_map(move |(index, line)| {
        if let Some(table) = line.strip_prefix('[') {
            is_inside = is_wanted(table.trim_end().trim_end_matches(']'));
            return None;
        }
        let (name, value) = line.split_once('=').filter(|_| is_inside && !line.starts_with('#'))?;
        Some((index + 1, name.trim(), value))
    })
}

/// The folders of modules that sources include from other crates by `#[path]`, as suffixes of paths.
pub fn shared_modules(sources: &str) -> Vec<String> {
    let path = |line: &str| {
        let path = line.trim_start().strip_prefix("#[path = \"")?.strip_suffix("\"]")?;
        let inside = path.trim_start_matches("../");
        // From a folder of tests, `../..` leads to other crates.
        let (folder, _) = inside.rsplit_once('/').filter(|_| path.starts_with("../../"))?;
        Some(format!("/{folder}/"))
    };
    sources.lines().filter_map(path).collect()
}

/// Whether a source file names the crate of a package in a path or an import.
fn is_used(package: &str, sources: &str) -> bool {
    let name = package.replace('-', "_");
    sources.match_indices(&name).any(|(at, _)| {
        let is_start = !sources[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
        let after = &sources[at + name.len()..];
        is_start && ["::", ";", " as "].iter().any(|next| after.starts_with(next))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(found: &[Complaint], lines: &[usize]) {
        assert_eq!(found.iter().map(|complaint| complaint.line).collect::<Vec<_>>(), lines, "{found:?}");
    }

    #[test]
    fn a_crate_uses_its_dependencies() {
        let manifest = "[package]\nname = \"a\"\n\n[dependencies]\neddy-syntax.workspace = true\n\n\
                        [target.'cfg(unix)'.dependencies]\nrustix = { workspace = true, features = [\"x\"] }\n";
        check(&in_crate(manifest, "use eddy_syntax::Span;\nuse rustix::fs;"), &[]);
        check(&in_crate(manifest, "use my_eddy_syntax::Span;\nrustixes;"), &[5, 8]);
    }

    #[test]
    fn a_library_with_tests_is_tested() {
        let (off, on) = ("[package]\n\n[lib]\ntest = false\n", "[package]\n");
        assert_eq!(in_library(off, "fn f() {}\n"), None);
        assert_eq!(in_library(on, "    #[test]\n    fn f() {}\n"), None);
        assert_eq!(in_library(off, "    #[test]\n").map(|complaint| complaint.line), Some(4));
        assert_eq!(in_library(on, "fn f() {}\n").map(|complaint| complaint.line), Some(1));
        // A test binary has its own key `test`.
        assert!(in_library("[[test]]\nname = \"files\"\ntest = false\n", "#[test]\n").is_none());
    }

    #[test]
    fn tests_may_share_modules() {
        let sources =
            "#[path = \"../../language/tests/generated/mod.rs\"]\nmod generated;\n#[path = \"own.rs\"]\n";
        assert_eq!(shared_modules(sources), ["/language/tests/generated/"]);
    }

    #[test]
    fn the_workspace_states_versions() {
        check(&in_crate("[dev-dependencies]\ncsv = \"1.4\"\n", "csv::Reader"), &[2]);
    }

    #[test]
    fn each_dependency_of_the_workspace_is_used() {
        let manifest = "[workspace.dependencies]\n# Tests.\ncsv = \"1.4\"\nserde = \"1.0\"\n\n[profile.dev]\ndebug = 1\n";
        check(&in_workspace(manifest, "csv.workspace = true\nserde_json.workspace = true\n"), &[4]);
    }
}
