//! File tests of passes: a program as text, the pass named in its first line, and the output of the pass.
//!
//! ```text
//! test batch 2
//! -- A sum is one of all streams.
//! input x : num []
//! y : num [] = x + x
//! output y
//! =>
//! input x : num [2]
//! y : num [2] = x + x
//! output y
//! ```
//!
//! Lines that begin with `--` are comments. For a program that a pass refuses, the expectation is `error: `
//! and the reason. `EDDY_BLESS=1` writes the actual result below the line `=>`, for a person to review.

use std::fs;
use std::path::{Path, PathBuf};

/// The line between a program and its expected result.
const ARROW: &str = "=>\n";

/// Checks each file in a folder and its subfolders. The pass gets the words after `test` on the first line,
/// and the program.
pub fn check_folder(folder: &Path, pass: impl Fn(&[&str], &str) -> Result<String, String>) {
    let mut files = Vec::new();
    find(folder, &mut files);
    files.sort();
    assert!(!files.is_empty(), "{}: there is no test", folder.display());
    let is_blessing = std::env::var_os("EDDY_BLESS").is_some();
    let complaints: Vec<String> = files.iter().filter_map(|file| check(file, &pass, is_blessing)).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("a folder that was opened can be listed").path();
        if path.is_dir() {
            find(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// Describes the error in a file, if there is one.
fn check(
    file: &Path,
    pass: &impl Fn(&[&str], &str) -> Result<String, String>,
    is_blessing: bool,
) -> Option<String> {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let (input, expected) = match text.split_once(&format!("\n{ARROW}")) {
        Some((input, expected)) => (format!("{input}\n"), expected),
        None => (text.clone(), ""),
    };
    let Some((words, program)) = input.split_once('\n').filter(|(line, _)| line.starts_with("test ")) else {
        return Some(format!("{}: the first line is not `test PASS`", file.display()));
    };
    let words: Vec<&str> = words.split_whitespace().skip(1).collect();
    let lines = program.lines().filter(|line| !line.starts_with("--"));
    let program: String = lines.flat_map(|line| [line, "\n"]).collect();
    let found = pass(&words, &program).unwrap_or_else(|reason| format!("error: {reason}\n"));
    if found == expected {
        return None;
    }
    if is_blessing {
        let blessed = fs::write(file, format!("{input}{ARROW}{found}"));
        blessed.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        return None;
    }
    Some(format!("{}:\nexpected:\n{expected}\nfound:\n{found}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error of a file with this text, for a pass that shouts, and the rewritten file.
    fn complaint(text: &str, is_blessing: bool) -> (Option<String>, String) {
        let shout = |words: &[&str], text: &str| match words {
            ["shout"] => Ok(text.to_uppercase()),
            _ => Err("there is no such pass".to_string()),
        };
        let name = format!("eddy-passes-{}-{:x}", std::process::id(), text.len());
        let file = std::env::temp_dir().join(name);
        fs::write(&file, text).expect("there is a place for temporary files");
        let found = check(&file, &shout, is_blessing);
        let now = fs::read_to_string(&file).expect("it was just written");
        fs::remove_file(&file).expect("it was just written");
        (found, now)
    }

    #[test]
    fn outputs_are_compared() {
        assert_eq!(complaint("test shout\n-- loud\na\n=>\nA\n", false).0, None);
        assert_eq!(complaint("test other\na\n=>\nerror: there is no such pass\n", false).0, None);
        assert!(complaint("test shout\na\n=>\nB\n", false).0.is_some_and(|text| text.contains("found:\nA")));
        assert!(complaint("test shout\na\n", false).0.is_some());
        assert!(complaint("shout\na\n=>\nA\n", false).0.is_some_and(|text| text.contains("first line")));
    }

    #[test]
    fn blessing_keeps_the_program() {
        let text = "test shout\n-- loud\na\n";
        assert_eq!(complaint(text, true), (None, format!("{text}=>\nA\n")));
        assert_eq!(complaint(&format!("{text}=>\nwrong!\n"), true), (None, format!("{text}=>\nA\n")));
    }
}
