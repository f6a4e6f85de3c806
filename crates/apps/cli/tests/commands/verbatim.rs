//! Documented output with backslashes, which the runner of `console` blocks would take for paths: blocks
//! whose fence names a command.
//!
//! ~~~text
//! ```text,eddy opt docs/guide/programs/inline.lam
//! \n. n + 12
//! ```
//! ~~~
//!
//! The command runs from the root of the repository; blanks separate words, and double quotes enclose one
//! word.

use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn documented_output_is_what_comes_out() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let mut n_blocks = 0;
    for page in pages(&root.join("docs/guide")) {
        let text = std::fs::read_to_string(&page).expect("a page is text");
        for (command, expected) in blocks(&text) {
            n_blocks += 1;
            let output = Command::new(env!("CARGO_BIN_EXE_eddy"))
                .args(words(&command))
                .current_dir(&root)
                .env("NO_COLOR", "1")
                .output()
                .expect("eddy can be started: cargo has just built it");
            let found = String::from_utf8_lossy(&output.stdout).into_owned();
            assert_eq!(found, expected, "{}: eddy {command}", page.display());
        }
    }
    assert!(n_blocks > 0, "some pages have such blocks");
}

/// The programs of the README run when they are copied into an empty folder.
#[test]
fn programs_of_the_readme_run_when_they_are_copied() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let readme = std::fs::read_to_string(root.join("README.md")).expect("the README is text");
    let folder = std::env::temp_dir().join(format!("eddy-readme-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let programs = programs(&readme);
    assert!(programs.len() > 2, "the README has programs");
    for (language, program) in programs {
        let (name, command) = match language.as_str() {
            // A training node needs data; the other programs run without.
            "eddy" if program.contains("\ntrain ") => ("program.eddy".to_string(), "check"),
            language => (format!("program.{language}"), "run"),
        };
        std::fs::write(folder.join(&name), &program).expect("a file can be written");
        let output = Command::new(env!("CARGO_BIN_EXE_eddy"))
            .args([command, &name])
            .current_dir(&folder)
            .env("NO_COLOR", "1")
            .output()
            .expect("eddy can be started: cargo has just built it");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && said.is_empty(), "eddy {command} of\n{program}\nsays\n{said}");
    }
    std::fs::remove_dir_all(&folder).expect("the folder is there");
}

/// The programs of a page, each with its language.
fn programs(page: &str) -> Vec<(String, String)> {
    let (mut programs, mut lines) = (Vec::new(), page.lines());
    while let Some(line) = lines.next() {
        let language = line.strip_prefix("```").and_then(|fence| fence.split(',').next()).unwrap_or_default();
        if line.starts_with("```") {
            let block = lines.by_ref().take_while(|line| !line.starts_with("```"));
            let text: String = block.flat_map(|line| [line, "\n"]).collect();
            if matches!(language, "eddy" | "rd" | "pb" | "cd" | "lam") {
                programs.push((language.to_string(), text));
            }
        }
    }
    programs
}

fn pages(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the guide is there");
    let mut pages: Vec<PathBuf> =
        entries.map(|entry| entry.expect("the folder can be listed").path()).collect();
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    pages
}

/// The commands and what they print.
fn blocks(page: &str) -> Vec<(String, String)> {
    let (mut blocks, mut lines) = (Vec::new(), page.lines());
    while let Some(line) = lines.next() {
        if let Some(command) = line.strip_prefix("```text,eddy ") {
            let block = lines.by_ref().take_while(|line| !line.starts_with("```"));
            blocks.push((command.to_string(), block.flat_map(|line| [line, "\n"]).collect()));
        }
    }
    blocks
}

fn words(command: &str) -> Vec<String> {
    let quoted = |(i, part): (usize, &str)| match i % 2 {
        1 => vec![part.to_string()],
        _ => part.split_whitespace().map(str::to_string).collect(),
    };
    command.split('"').enumerate().flat_map(quoted).collect()
}
