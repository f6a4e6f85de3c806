//! The C compiler of this machine, if there is one.

#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests compile and run C")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const WARNINGS: &[&str] = &["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror"];

/// The output of `cc --version`. Returns `None` without a `cc`, and prints that the test is skipped.
pub fn version() -> Option<String> {
    match Command::new("cc").arg("--version").output() {
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        Err(error) => {
            // Bypasses `eprintln`, which the test runner captures.
            writeln!(std::io::stderr(), "SKIPPED: there is no C compiler `cc` ({error})")
                .expect("stderr is open");
            None
        }
    }
}

/// A folder for the files of one test, removed on drop.
pub struct ScratchFolder {
    folder: PathBuf,
}

impl ScratchFolder {
    pub fn new(name: &str) -> ScratchFolder {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the folder for tests can be written to");
        ScratchFolder { folder }
    }

    /// Compiles, asserts that there are no warnings, and returns the compiler's output.
    #[track_caller]
    pub fn compile(&self, text: &str, flags: &[&str]) -> String {
        std::fs::write(self.folder.join("program.c"), text).expect("the folder can be written to");
        let mut compiler = Command::new("cc");
        compiler.args(WARNINGS).args(flags).args(["program.c", "-o", "program"]).current_dir(&self.folder);
        let output = compiler.output().expect("there is a compiler");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{flags:?}: {said}");
        said
    }

    /// Runs the program and returns its output.
    #[track_caller]
    pub fn run(&self, input: Vec<u8>) -> Vec<u8> {
        let mut program = Command::new(self.folder.join("program"));
        let mut child =
            program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("what was built runs");
        let mut stdin = child.stdin.take().expect("it was piped");
        // The program writes while it reads, so one thread would block.
        let writer = std::thread::spawn(move || stdin.write_all(&input));
        let output = child.wait_with_output().expect("it ends");
        writer.join().expect("no panic").expect("the program reads all");
        assert!(output.status.success(), "{:?}", output.status);
        output.stdout
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // Failing to clean up must not fail the test.
        _ = std::fs::remove_dir_all(&self.folder);
    }
}
