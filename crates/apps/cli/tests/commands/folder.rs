//! A folder in which a test calls `eddy`, and the result of a call.

use std::fs;
use std::io::Write;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// How long a test waits for a line before it fails. The first line may wait for the probes of the C compiler
/// and for a compilation, which take half a minute on a busy machine.
pub const PATIENCE: Duration = Duration::from_mins(2);

/// A folder of one test, empty at its start.
pub struct Folder(pub PathBuf);

impl Folder {
    /// Tests run in parallel, so a name belongs to one test of a file; two files may use the same name.
    #[track_caller]
    pub fn new(test: &str) -> Self {
        let file = Path::new(Location::caller().file()).file_stem().expect("a source file has a name");
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("commands").join(file).join(test);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("the folder can be made");
        Folder(path)
    }

    pub fn with(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        fs::write(self.0.join(name), text).expect("the file can be written");
        self
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).expect("the file is there")
    }

    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("the folder is there");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("the folder can be listed").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_eddy"));
        command.args(arguments).current_dir(&self.0).stdin(Stdio::null()).env_remove("CLICOLOR_FORCE");
        command
    }

    pub fn eddy(&self, arguments: &[&str]) -> Ended {
        Ended::new(&self.command(arguments).output().expect("eddy can be started"))
    }

    pub fn eddy_with_input(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Ended {
        let mut command = self.command(arguments);
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().expect("eddy can be started");
        let _ = child.stdin.take().expect("the input is piped").write_all(input.as_ref());
        Ended::new(&child.wait_with_output().expect("eddy ends"))
    }
}

/// Calls with the words of a line.
impl Folder {
    pub fn call(&self, line: &str) -> Ended {
        self.eddy(&words(line))
    }

    /// The standard output of a command that succeeds.
    #[track_caller]
    pub fn answer(&self, line: &str) -> String {
        let ended = self.call(line);
        assert_eq!(ended.code, Some(0), "{line}: {}", ended.stderr);
        ended.stdout
    }

    /// The messages of a command that is refused.
    #[track_caller]
    pub fn refusal(&self, line: &str) -> String {
        let ended = self.call(line);
        assert_eq!(ended.code, Some(1), "{line}: {}", ended.stdout);
        assert!(ended.stdout.is_empty(), "{line}: {}", ended.stdout);
        ended.stderr
    }
}

pub fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

#[track_caller]
pub fn bytes(folder: &Folder, name: &str) -> Vec<u8> {
    fs::read(folder.0.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The lines of the metrics of a run, without the durations.
pub fn losses(folder: &Folder, run: &str) -> Vec<String> {
    let metrics = folder.read(&format!("{run}/metrics.jsonl"));
    metrics.lines().map(|line| line.split(",\"seconds\"").next().expect("a line").to_string()).collect()
}

/// How a command ended.
#[derive(Debug, PartialEq)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    pub fn new(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("eddy prints UTF-8");
        Ended { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }

    /// Exactly this exit code and output, and nothing on standard error.
    #[track_caller]
    pub fn is(self, code: i32, stdout: &str) {
        assert_eq!(self, Ended { code: Some(code), stdout: stdout.to_owned(), stderr: String::new() });
    }

    /// This exit code, no output, and these words on standard error.
    #[track_caller]
    pub fn fails(self, code: i32, words: &[&str]) {
        self.fails_after("", code, words);
    }

    /// This output, then this exit code and these words on standard error.
    #[track_caller]
    pub fn fails_after(self, stdout: &str, code: i32, words: &[&str]) {
        assert_eq!((self.code, &*self.stdout), (Some(code), stdout), "{}", self.stderr);
        for word in words {
            assert!(self.stderr.contains(word), "no `{word}` in {}", self.stderr);
        }
    }
}
