//! The two ways in which a command ends before it has a status: it was typed wrongly, or nobody takes its
//! answer.

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

/// Why a command ended early.
pub enum Stop {
    /// The command line was wrong.
    Misuse(clap::Error),
    /// Standard output could not be written.
    Output(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::Output(error)
    }
}

impl Stop {
    /// Tells the user and gives the exit code.
    pub fn report(&self) -> ExitCode {
        match self {
            Stop::Misuse(error) => {
                // Where standard error is closed there is nobody to tell; the exit code still speaks.
                let _ = error.print();
                ExitCode::from(2)
            }
            // The reader has seen enough, which is its right: `eddy trace … | head` is not a failure.
            Stop::Output(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Stop::Output(error) => {
                let _ = writeln!(io::stderr(), "error: cannot write to standard output: {}", reason(error));
                ExitCode::from(1)
            }
        }
    }
}

/// What the system says, without its number, which says nothing to people.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::IsADirectory => "it is a directory".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => {
            let text = error.to_string();
            let end = text.rfind(" (os error").unwrap_or(text.len());
            text[..end].to_lowercase()
        }
    }
}
