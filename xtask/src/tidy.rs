//! Tidiness: rules that no other tool checks.
//!
//! * A source file has at most [`MAX_LINES`] lines, unless it is a table or a list of tests.
//! * A source file starts with `//!` and its purpose.
//! * A line of comment has at most [`MAX_COLUMNS`] columns, unless it is a row of a table or one long word.
//! * No file contains a folder of a particular machine.
//! * A note about missing work says what is missing and what that costs.
//! * Names in the map from the papers to the code exist (see [`papers`]).
//! * Pure crates stay pure (see [`purity`]).
//! * The library is documented, listed and tested (see [`library`]).
//! * Documents link to files and headings that exist, and their code blocks are checked (see [`markdown`]).
//! * The book lists each page of the guide (see [`book`]).
//! * Crates use the dependencies that they list, and libraries are tested if they have tests (see
//!   [`manifest`]).
//! * The table of dependencies matches the manifests (see [`dependencies`]).
//! * Pictures show what their examples print (see [`pictures`]).
//!
//! Every rule is a function from a file's name and text to complaints, so it is tested without files.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::{book, dependencies, library, manifest, markdown, papers, pictures, purity};

/// In well-kept projects nine files in ten are far shorter; a longer file usually mixes two ideas.
const MAX_LINES: usize = 600;

/// As wide as `rustfmt` makes code (`max_width` in `rustfmt.toml`); it does not check comments.
const MAX_COLUMNS: usize = 110;

/// Concatenated, so that this file passes its own check.
const MACHINE_FOLDERS: &[&str] = &[concat!("/", "work/"), concat!("/", "home/"), concat!("/", "root/")];
const LEFT_TO_DO: &str = concat!("TO", "DO");

/// All complaints about the repository, as `FILE:LINE: what`.
pub fn complaints(root: &Path) -> Vec<String> {
    let mut all = Vec::new();
    let files = files(root);
    let mut sources = String::new();
    for name in &files {
        let path = root.join(name);
        // Skips files that git lists although they are deleted, and binary data, which is not UTF-8.
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let folder = path.parent().expect("a file is in a folder");
        let complaints =
            in_file(name, &text, |target| text_of(&folder.join(target)), |file| text_of(&root.join(file)));
        all.extend(complaints.iter().map(|complaint| complaint.at(name)));
        if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push_str(&text);
        }
    }
    let map = fs::read_to_string(root.join(papers::MAP)).expect("the map from the papers exists");
    all.extend(papers::complaints(&map, &files, &sources).iter().map(|complaint| complaint.at(papers::MAP)));
    all.extend(in_library(root, &files));
    all.extend(in_book(root, &files));
    all.extend(in_manifests(root, &files));
    all.extend(in_pictures(root));
    all
}

/// The text of a file; empty for folders and binary data.
fn text_of(path: &Path) -> Option<String> {
    path.exists().then(|| fs::read_to_string(path).unwrap_or_default())
}

fn in_book(root: &Path, files: &[String]) -> Vec<String> {
    let is_page = |file: &&String| {
        Path::new(file).extension().is_some_and(|extension| extension == "md")
            && *file != book::SUMMARY
            && root.join(file).exists()
    };
    let page =
        |file: &'_ String| Some((file.strip_prefix(book::FOLDER)?.to_owned(), text_of(&root.join(file))?));
    let pages = files.iter().filter(is_page).filter_map(page).collect();
    let summary = text_of(&root.join(book::SUMMARY)).unwrap_or_default();
    book::complaints(&summary, &pages).iter().map(|complaint| complaint.at(book::SUMMARY)).collect()
}

fn in_pictures(root: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for picture in pictures::PICTURES {
        let drawn = picture.draw(&text_of(&root.join(picture.source())).unwrap_or_default());
        let complaint = match drawn {
            Ok(drawing) if text_of(&root.join(picture.file())).as_ref() == Some(&drawing) => continue,
            Ok(_) => format!("not the picture of {}: call `cargo xtask pictures`", picture.source()),
            Err(error) => format!("{}: {error}", picture.source()),
        };
        all.push(Complaint::new(1, complaint).at(&picture.file()));
    }
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

fn in_manifests(root: &Path, files: &[String]) -> Vec<String> {
    const MANIFEST: &str = "Cargo.toml";
    let read = |name: &str| fs::read_to_string(root.join(name)).unwrap_or_default();
    let (mut all, mut manifests, mut crates) = (Vec::new(), String::new(), Vec::new());
    for path in files {
        let Some(folder) = path.strip_suffix(MANIFEST).filter(|folder| !folder.is_empty()) else { continue };
        let text_of = |is_wanted: &dyn Fn(&str) -> bool| -> String {
            let is_rust = |file: &str| Path::new(file).extension().is_some_and(|extension| extension == "rs");
            files.iter().filter(|file| is_wanted(file) && is_rust(file)).map(|file| read(file)).collect()
        };
        let text = read(path);
        let mut sources = text_of(&|file| file.starts_with(folder));
        // Includes modules of other crates that tests share: `#[path =
        // "../../language/tests/generated/mod.rs"]`.
        for folder in manifest::shared_modules(&sources) {
            sources.push_str(&text_of(&|file| file.contains(&folder)));
        }
        all.extend(manifest::in_crate(&text, &sources).iter().map(|complaint| complaint.at(path)));
        if root.join(folder).join("src/lib.rs").exists() {
            let library = text_of(&|file| file.starts_with(&format!("{folder}src/")));
            all.extend(manifest::in_library(&text, &library).map(|complaint| complaint.at(path)));
        }
        manifests.push_str(&text);
        crates.push((folder.trim_end_matches('/').to_owned(), text));
    }
    let workspace = manifest::in_workspace(&read(MANIFEST), &manifests);
    all.extend(workspace.iter().map(|complaint| complaint.at(MANIFEST)));
    let table = dependencies::complaints(&read(dependencies::DOCUMENT), &crates);
    all.extend(table.iter().map(|complaint| complaint.at(dependencies::DOCUMENT)));
    all
}

/// A violation and its line.
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

fn in_file(
    name: &str,
    text: &str,
    near: impl Fn(&str) -> Option<String>,
    at_root: impl Fn(&str) -> Option<String>,
) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    match name.rsplit_once('.') {
        Some((_, "rs")) => {
            complaints.extend(too_long(name, text));
            complaints.extend(missing_purpose(text));
            complaints.extend(wide_comments(text));
        }
        Some((_, "md")) => complaints.extend(markdown::complaints(text, near, at_root)),
        _ => {}
    }
    complaints.extend(purity::complaints(name, text));
    for (index, line) in text.lines().enumerate() {
        complaints.extend(machine_folder(line).map(|what| Complaint::new(index + 1, what)));
        complaints.extend(unexplained_note(line).map(|what| Complaint::new(index + 1, what)));
    }
    complaints
}

fn too_long(name: &str, text: &str) -> Option<Complaint> {
    let is_list = name.contains("/tests/") || name.ends_with("/tests.rs") || name.ends_with("/table.rs");
    let n_lines = text.lines().count();
    let what = format!("{n_lines} lines; above {MAX_LINES} a file usually holds two ideas");
    (n_lines > MAX_LINES && !is_list).then(|| Complaint::new(n_lines, what))
}

fn missing_purpose(text: &str) -> Option<Complaint> {
    (!text.starts_with("//!")).then(|| Complaint::new(1, "start the file with `//!` and its purpose"))
}

fn wide_comments(text: &str) -> impl Iterator<Item = Complaint> {
    text.lines().enumerate().filter_map(|(index, line)| {
        let comment = line.trim_start().strip_prefix("//")?.trim_start_matches(['/', '!']).trim();
        let (n_columns, is_breakable) = (line.chars().count(), comment.contains(' '));
        let what = format!("{n_columns} columns; break comments at {MAX_COLUMNS}");
        (n_columns > MAX_COLUMNS && is_breakable && !comment.starts_with('|'))
            .then(|| Complaint::new(index + 1, what))
    })
}

fn machine_folder(line: &str) -> Option<String> {
    let is_absolute =
        |at: usize| !line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '.');
    let folder =
        MACHINE_FOLDERS.iter().find(|folder| line.match_indices(**folder).any(|(at, _)| is_absolute(at)))?;
    Some(format!("`{folder}` is a folder of one machine"))
}

fn unexplained_note(line: &str) -> Option<String> {
    let (before, after) = line.split_once(LEFT_TO_DO)?;
    // A word in backquotes is a mention, not a note.
    let is_quoted = before.ends_with('`');
    let is_word = !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric);
    let explanation = after.strip_prefix(':').unwrap_or_default();
    let is_explained = explanation.split_whitespace().count() >= 3;
    (is_word && !is_quoted && !is_explained)
        .then(|| format!("write `{LEFT_TO_DO}: what is missing and what it costs`"))
}

/// The files that git tracks or would track, so that a new file is checked before it is added.
pub fn files(root: &Path) -> Vec<String> {
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
        let complaints = in_file(name, text, |_| None, |_| None);
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
    fn comments_are_as_wide_as_code() {
        for marker in ["//!", "    ///", "    //"] {
            let comment = |n_columns: usize| {
                let words = "é ".repeat(n_columns);
                format!(
                    "//! A.\n{}x",
                    (marker.to_string() + " " + &words).chars().take(n_columns - 1).collect::<String>()
                )
            };
            check("a.rs", &comment(MAX_COLUMNS), &[]);
            check("a.rs", &comment(MAX_COLUMNS + 1), &[2]);
            check("a.txt", &comment(MAX_COLUMNS + 1), &[]);
        }
        let long = "x".repeat(MAX_COLUMNS);
        check(
            "a.rs",
            &format!("//! | {long} | {long} |\n// https://example.org/{long}\nlet a = \"{long} {long}\";"),
            &[],
        );
    }

    #[test]
    fn folders_of_one_machine_are_found_in_any_file() {
        for folder in MACHINE_FOLDERS {
            check("a.txt", &format!("see\nat {folder}me/file"), &[2]);
        }
        let [first, second, _] = MACHINE_FOLDERS else { unreachable!("the list has three folders") };
        check("a.txt", &format!("https://example.org{second}page and ..{first}file"), &[]);
    }

    #[test]
    fn notes_about_missing_work_are_explained() {
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
