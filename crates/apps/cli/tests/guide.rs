//! The documents: runs every `console` block from the root of the repository, and compares its output.
//!
//! A line `? 1` below a command is its exit code; output and messages follow as on a terminal, then an empty
//! line, without which the last line break would be missing. To write the actual output, run
//! `TRYCMD=overwrite cargo test --test guide`. Commands other than `eddy` are not run. A block without a
//! language would count as `console`; `cargo xtask test` checks that there is none.

use std::path::Path;

#[test]
fn documented_commands_print_what_the_documents_say() {
    // The commands run in this process's folder; no other test in this binary depends on it.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    std::env::set_current_dir(root).expect("the repository is where it was built");
    // Removes run folders of the documents: an existing one would not be overwritten.
    let _ = std::fs::remove_dir_all("target/guide");
    trycmd::TestCases::new()
        .register_bin("eddy", Path::new(env!("CARGO_BIN_EXE_eddy")))
        .env("NO_COLOR", "1")
        .case("*.md")
        .case("docs/**/*.md")
        .case("examples/**/*.md")
        .case("tests/**/*.md")
        .run();
}
