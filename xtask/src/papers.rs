//! Checks that the tests and files named in `docs/papers.md`, which maps the papers to the code, exist.

use std::collections::BTreeSet;

use crate::tidy::Complaint;

pub const MAP: &str = "docs/papers.md";

/// Reports names in the map that do not exist: tests that no source file defines, and missing files.
///
/// A test is a quoted name with at least two underscores; a file is a quoted path, which may omit the crate.
pub fn complaints(map: &str, files: &[String], sources: &str) -> Vec<Complaint> {
    let functions: BTreeSet<&str> = sources.lines().filter_map(defined_function).collect();
    let mut complaints = Vec::new();
    for (index, line) in map.lines().enumerate() {
        // Every second piece between backquotes is quoted.
        for quoted in line.split('`').skip(1).step_by(2) {
            let is_missing = if is_test(quoted) {
                !functions.contains(quoted)
            } else {
                is_path(quoted) && !files.iter().any(|file| is_in(quoted, file))
            };
            if is_missing {
                complaints.push(Complaint::new(index + 1, format!("there is no `{quoted}`")));
            }
        }
    }
    complaints
}

fn defined_function(line: &str) -> Option<&str> {
    Some(line.strip_prefix("fn ")?.split_once('(')?.0)
}

fn is_test(quoted: &str) -> bool {
    let is_name = quoted.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    is_name && quoted.matches('_').count() >= 2
}

fn is_path(quoted: &str) -> bool {
    ["src/", "tests/", "examples/", "library/"].iter().any(|folder| quoted.starts_with(folder))
}

/// Whether a file has this path or lies in the folder with this path.
fn is_in(path: &str, file: &str) -> bool {
    if path.ends_with('/') {
        file.starts_with(path) || file.contains(&format!("/{path}"))
    } else {
        // A folder may be written without the final slash.
        let folder = format!("{path}/");
        file == path || file.ends_with(&format!("/{path}")) || is_in(&folder, file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(map: &str, n_complaints: usize) {
        let files = ["crates/calculi/rd/src/eval/mod.rs".to_string(), "examples/rd/square.rd".to_string()];
        let found = complaints(map, &files, "fn lemma_3_1() {\nfn helper() {");
        assert_eq!(found.len(), n_complaints, "{found:?}");
    }

    #[test]
    fn tests_exist() {
        check("see `lemma_3_1`, and `op_r`", 0);
        check("see `lemma_3_2`", 1);
    }

    #[test]
    fn files_and_folders_exist() {
        check("`src/eval/mod.rs`, `src/eval/`, `examples/rd/square.rd`", 0);
        check("`src/eval.rs`, `src/evaluation/`, `examples/rd/cube.rd`", 3);
    }
}
