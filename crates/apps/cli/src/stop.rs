//! Errors that end a command before it has a status: a wrong command line, or an output that cannot be
//! written.

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
    /// Reports the error and returns the exit code.
    pub fn report(&self) -> ExitCode {
        match self {
            Stop::Misuse(error) => {
                // If standard error is closed, the message is lost and the exit code remains.
                let _ = error.print();
                ExitCode::from(2)
            }
            // The reader closed the pipe, as in `eddy trace … | head`, which is not a failure.
            Stop::Output(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Stop::Output(error) => {
                let _ = writeln!(io::stderr(), "error: cannot write to standard output: {}", reason(error));
                ExitCode::from(1)
            }
        }
    }
}

/// The system's message without its error number, which does not help users.
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
