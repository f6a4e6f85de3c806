//! The C compiler of the machine: what it builds, and whether there is one.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const WARNINGS: &[&str] = &["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror"];

/// What `cc --version` says, if there is a `cc`. If not, says so where a person sees it.
pub fn version() -> Option<String> {
    match Command::new("cc").arg("--version").output() {
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        Err(error) => {
            // Not through `eprintln`, which the test runner keeps to itself.
            writeln!(std::io::stderr(), "SKIPPED: there is no C compiler `cc` ({error})")
                .expect("stderr is open");
            None
        }
    }
}

/// A folder for the files of one test, which is removed in the end.
pub struct Workshop {
    folder: PathBuf,
}

impl Workshop {
    pub fn new(name: &str) -> Workshop {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the folder for tests can be written to");
        Workshop { folder }
    }

    /// Compiles without a warning, and gives what the compiler had to say.
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

    /// What the program answers.
    #[track_caller]
    pub fn run(&self, input: Vec<u8>) -> Vec<u8> {
        let mut program = Command::new(self.folder.join("program"));
        let mut child =
            program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("what was built runs");
        let mut stdin = child.stdin.take().expect("it was piped");
        // The program answers while it reads.
        let writer = std::thread::spawn(move || stdin.write_all(&input));
        let output = child.wait_with_output().expect("it ends");
        writer.join().expect("no panic").expect("the program reads all");
        assert!(output.status.success(), "{:?}", output.status);
        output.stdout
    }
}

impl Drop for Workshop {
    fn drop(&mut self) {
        // Not being able to tidy up is no reason to fail.
        _ = std::fs::remove_dir_all(&self.folder);
    }
}
