//! The documents: every `console` block is run from the root of the repository, and its output is compared.
//!
//! A line `? 1` below a command is its exit code; output and messages follow as a terminal would show them,
//! then an empty line, without which the last line break would be missing. To write what came out, call
//! `TRYCMD=overwrite cargo test --test guide`. Commands other than `eddy` are not run. A block without a
//! language would count as `console`; `cargo xtask test` sees to it that there is none.

use std::path::Path;

#[test]
fn documented_commands_print_what_the_documents_say() {
    // The commands run where this process is; there is no other test in it that could mind.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    std::env::set_current_dir(root).expect("the repository is where it was built");
    // Run folders of the documents; one that is there would not be written over.
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
