//! Tidiness: what a reader notices and no tool of the language checks.
//!
//! * A source file fits in the head: at most [`MAX_LINES`] lines, unless it is a table or a list of tests.
//! * A source file opens with `//!`, which says what it is for.
//! * Nothing names a folder of somebody's machine.
//! * What is left to do is said in words: what is missing, and what that costs.
//! * The map from the papers to the code leads somewhere (see [`papers`]).
//! * The library is documented, listed and tested (see [`library`]).
//! * Documents link to files that exist, and their code blocks are checked (see [`markdown`]).
//!
//! Every rule is a function from a file's name and text to complaints, so it is tested without files.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{library, markdown, papers};

/// Nine files in ten of well kept projects are far below this; a file above it usually holds two ideas.
const MAX_LINES: usize = 600;

/// Pieced together, so that this file passes its own test.
const MACHINE_FOLDERS: &[&str] = &[concat!("/", "work/"), concat!("/", "home/"), concat!("/", "root/")];
const LEFT_TO_DO: &str = concat!("TO", "DO");

/// What is untidy in the repository, as `FILE:LINE: what`.
pub fn complaints(root: &Path) -> Vec<String> {
    let mut all = Vec::new();
    let files = files(root);
    let mut sources = String::new();
    for name in &files {
        let path = root.join(name);
        // A file that git knows and that is gone is being deleted; one that is not UTF-8 is data.
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let exists = |target: &str| path.parent().is_some_and(|folder| folder.join(target).exists());
        all.extend(in_file(name, &text, exists).iter().map(|complaint| complaint.at(name)));
        if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push_str(&text);
        }
    }
    let map = fs::read_to_string(root.join(papers::MAP)).expect("the map from the papers is there");
    all.extend(papers::complaints(&map, &files, &sources).iter().map(|complaint| complaint.at(papers::MAP)));
    all.extend(in_library(root, &files));
    all
}

fn in_library(root: &Path, files: &[String]) -> Vec<String> {
    let read = |name: &str| fs::read_to_string(root.join(name)).unwrap_or_default();
    let guide = read(library::GUIDE);
    let mut all = Vec::new();
    for path in files {
        let Some(name) = library::file_name(path) else { continue };
        let prefix = format!("tests/reactive/library/{name}_");
        let tests: String =
            files.iter().filter(|file| file.starts_with(&prefix)).map(|file| read(file)).collect();
        let complaints = library::complaints(name, &read(path), &guide, &tests);
        all.extend(complaints.iter().map(|complaint| complaint.at(path)));
    }
    all
}

/// Something to tidy up, and the line where it is.
#[derive(Debug, PartialEq, Eq)]
pub struct Complaint {
    pub line: usize,
    pub what: String,
}

impl Complaint {
    pub fn new(line: usize, what: impl Into<String>) -> Self {
        Complaint { line, what: what.into() }
    }

    fn at(&self, name: &str) -> String {
        format!("{name}:{}: {}", self.line, self.what)
    }
}

fn in_file(name: &str, text: &str, exists: impl Fn(&str) -> bool) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    match name.rsplit_once('.') {
        Some((_, "rs")) => {
            complaints.extend(too_long(name, text));
            complaints.extend(silent_opening(text));
        }
        Some((_, "md")) => complaints.extend(markdown::complaints(text, exists)),
        _ => {}
    }
    for (index, line) in text.lines().enumerate() {
        complaints.extend(machine_folder(line).map(|what| Complaint::new(index + 1, what)));
        complaints.extend(left_unexplained(line).map(|what| Complaint::new(index + 1, what)));
    }
    complaints
}

fn too_long(name: &str, text: &str) -> Option<Complaint> {
    let is_list = name.contains("/tests/") || name.ends_with("/tests.rs") || name.ends_with("/table.rs");
    let n_lines = text.lines().count();
    let what = format!("{n_lines} lines; above {MAX_LINES} a file usually holds two ideas");
    (n_lines > MAX_LINES && !is_list).then(|| Complaint::new(n_lines, what))
}

fn silent_opening(text: &str) -> Option<Complaint> {
    (!text.starts_with("//!")).then(|| Complaint::new(1, "open the file with `//!`: what is it for?"))
}

fn machine_folder(line: &str) -> Option<String> {
    let is_absolute =
        |at: usize| !line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '.');
    let folder =
        MACHINE_FOLDERS.iter().find(|folder| line.match_indices(**folder).any(|(at, _)| is_absolute(at)))?;
    Some(format!("`{folder}` is a folder of one machine"))
}

fn left_unexplained(line: &str) -> Option<String> {
    let (before, after) = line.split_once(LEFT_TO_DO)?;
    // In quotes it is a word that the text speaks about.
    let is_quoted = before.ends_with('`');
    let is_word = !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric);
    let explanation = after.strip_prefix(':').unwrap_or_default();
    let is_explained = explanation.split_whitespace().count() >= 3;
    (is_word && !is_quoted && !is_explained)
        .then(|| format!("write `{LEFT_TO_DO}: what is missing and what it costs`"))
}

/// The files that git tracks or would track; a new file is tidy before it is added.
fn files(root: &Path) -> Vec<String> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .expect("git can be called");
    assert!(output.status.success(), "tidiness is checked in a clone of the repository");
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    names.split_terminator('\0').map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, text: &str, lines: &[usize]) {
        let complaints = in_file(name, text, |_| false);
        let found: Vec<usize> = complaints.iter().map(|complaint| complaint.line).collect();
        assert_eq!(found, lines, "{complaints:?}");
    }

    #[test]
    fn a_long_file_is_a_table_or_a_list_of_tests() {
        let text = "//!\n".repeat(MAX_LINES + 1);
        check("crates/a/src/lib.rs", &text, &[MAX_LINES + 1]);
        check("crates/a/src/lib.rs", &text[4..], &[]);
        check("crates/a/src/operation/table.rs", &text, &[]);
        check("crates/a/tests/laws.rs", &text, &[]);
        check("notes.txt", &text, &[]);
    }

    #[test]
    fn a_source_file_opens_with_its_purpose() {
        check("a.rs", "fn main() {}\n", &[1]);
        check("a.rs", "", &[1]);
        check("a.rs", "//! The purpose.\n", &[]);
    }

    #[test]
    fn folders_of_one_machine_are_found_in_any_file() {
        for folder in MACHINE_FOLDERS {
            check("a.txt", &format!("see\nat {folder}me/file"), &[2]);
        }
        let [first, second, _] = MACHINE_FOLDERS else { unreachable!("there are three") };
        check("a.txt", &format!("https://example.org{second}page and ..{first}file"), &[]);
    }

    #[test]
    fn what_is_left_to_do_is_explained() {
        check(
            "a.toml",
            &format!("# {LEFT_TO_DO}\n# {LEFT_TO_DO}: later\n# {LEFT_TO_DO} see above and below"),
            &[1, 2, 3],
        );
        check(
            "a.toml",
            &format!("# {LEFT_TO_DO}: merge windows; costs one pass\n`{LEFT_TO_DO}`\n{LEFT_TO_DO}S"),
            &[],
        );
    }
}
