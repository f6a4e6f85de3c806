//! Documented output with backslashes, which the runner of `console` blocks would take for paths: blocks whose fence names a command.
//!
//! ~~~text
//! ```text,eddy opt docs/guide/programs/inline.lam
//! \n. n + 12
//! ```
//! ~~~
//!
//! The command runs from the root of the repository; words are separated by blanks, and what stands in double quotes is one word.

use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn documented_output_is_what_comes_out() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
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
