//! Checks that pure crates have no side effects, so that an editor or a browser can use them.
//!
//! * Their sources use no module of the standard library that accesses files, processes, threads, the
//!   environment or the time. Compiling for `wasm32-unknown-unknown` does not show this: the modules exist
//!   there and fail when called.
//! * They depend only on each other and on a few libraries without side effects.
//!
//! Tests are exempt, in `tests` folders and below `#[cfg(test)]`.

use crate::tidy::Complaint;

/// The folders of the pure crates in `crates`.
const CRATES: &[&str] = &[
    "base/index",
    "base/syntax",
    "calculi/coherent",
    "calculi/pullback",
    "calculi/rd",
    "calculi/tables",
    "core/autodiff",
    "core/batch",
    "core/body",
    "core/elementary",
    "core/flow",
    "core/imp",
    "core/plan",
    "core/tensor",
    "language",
];

/// Libraries without side effects.
const LIBRARIES: &[&str] = &["annotate-snippets", "dashu-int", "dashu-ratio", "pulp", "rustc-hash"];

/// Modules of `std` with side effects.
const MODULES: &[&str] = &["env", "fs", "io", "net", "os", "process", "thread", "time"];

/// Checks a file of a pure crate.
pub fn complaints(name: &str, text: &str) -> Vec<Complaint> {
    let Some(path) = name.strip_prefix("crates/") else { return Vec::new() };
    let inside = CRATES.iter().find_map(|folder| path.strip_prefix(folder)?.strip_prefix('/'));
    match inside {
        Some("Cargo.toml") => dependencies(text),
        Some(file) if file.starts_with("src/") => modules(text),
        _ => Vec::new(),
    }
}

fn dependencies(text: &str) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let mut is_relevant = false;
    for (index, line) in text.lines().enumerate() {
        if line.starts_with('[') {
            is_relevant = line.ends_with("dependencies]") && !line.contains("dev-");
            continue;
        }
        let dependency = line.split(['.', ' ', '=']).next().unwrap_or_default();
        let is_folder_of = |name: &str| CRATES.iter().any(|folder| folder.rsplit('/').next() == Some(name));
        let is_pure = dependency.strip_prefix("eddy-").is_some_and(is_folder_of);
        if is_relevant && !dependency.is_empty() && !is_pure && !LIBRARIES.contains(&dependency) {
            let what = format!("a pure crate depends on `{dependency}`; the list is in xtask/src/purity.rs");
            complaints.push(Complaint::new(index + 1, what));
        }
    }
    complaints
}

fn modules(text: &str) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    // Whether the line is inside of `use std::{…};`.
    let mut is_grouped = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim() == "#[cfg(test)]" {
            break;
        }
        let code = line.split("//").next().unwrap_or_default();
        let mut named: Vec<&str> = code.split("std::").skip(1).map(first_word).collect();
        is_grouped |= code.contains("std::{");
        if is_grouped {
            named.extend(code.split(|c: char| !is_in_word(c)));
            is_grouped = !code.contains(';');
        }
        if let Some(module) = named.into_iter().find(|word| MODULES.contains(word)) {
            let what =
                format!("a pure crate uses `std::{module}`; move this to the driver or an application");
            complaints.push(Complaint::new(index + 1, what));
        }
    }
    complaints
}

fn first_word(text: &str) -> &str {
    &text[..text.find(|c| !is_in_word(c)).unwrap_or(text.len())]
}

fn is_in_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, text: &str, lines: &[usize]) {
        let complaints = complaints(name, text);
        let found: Vec<usize> = complaints.iter().map(|complaint| complaint.line).collect();
        assert_eq!(found, lines, "{complaints:?}");
    }

    #[test]
    fn pure_sources_use_no_module_with_side_effects() {
        let text = "//! `std::fs` is not used.\nuse std::fmt;\nuse std::fs::File;\nlet now = std::time::Instant::now();\n";
        check("crates/language/src/lib.rs", text, &[3, 4]);
        check("crates/language/src/parse/mod.rs", "use std::{fmt, env};\n", &[1]);
        check("crates/core/flow/src/lib.rs", "use std::{\n    fmt,\n    thread,\n};\nlet time = 1;\n", &[3]);
        check("crates/core/flow/src/lib.rs", "let io = std::environment();\n", &[]);
    }

    #[test]
    fn tests_and_other_crates_may_read_files() {
        let text = "//! Reads.\nuse std::fs;\n";
        check("crates/language/tests/parse.rs", text, &[]);
        check("crates/driver/src/lib.rs", text, &[]);
        check("crates/language/src/cell.rs", "//! A cell.\n#[cfg(test)]\nuse std::fs;\n", &[]);
    }

    #[test]
    fn pure_crates_depend_on_pure_crates() {
        let manifest = "[dependencies]\neddy-flow.workspace = true\nrustc-hash.workspace = true\n";
        check("crates/language/Cargo.toml", manifest, &[]);
        let compiled = "[dependencies]\neddy-compile.workspace = true\ntempfile = \"3\"\n";
        check("crates/language/Cargo.toml", compiled, &[2, 3]);
        check("crates/driver/Cargo.toml", compiled, &[]);
        check("crates/language/Cargo.toml", "[dev-dependencies]\ntempfile.workspace = true\n", &[]);
        let on_unix = "[target.'cfg(unix)'.dependencies]\nrustix.workspace = true\n";
        check("crates/language/Cargo.toml", on_unix, &[2]);
    }
}
