//! A side in a separate process: it takes a turn for each line that it receives.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use super::Side;
use super::record::Record;

/// The time limit of a turn. A peer's first turn includes compilation, which takes up to a minute.
const TURN_LIMIT: Duration = Duration::from_mins(3);

/// A process that waits for its turn.
pub struct Process {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
}

impl Process {
    /// Starts the process. Its standard error is shown to the developer.
    pub fn start(command: &mut Command) -> Result<Process, String> {
        let mut child = command
            .arg("--turns")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{command:?}: {error}"))?;
        let stdin = child.stdin.take().expect("the stream is piped");
        let stdout = child.stdout.take().expect("the stream is piped");
        let (send, lines) = channel();
        // A separate reader thread, so that a process without output can time out.
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Process { child, stdin, lines })
    }
}

impl Side for Process {
    fn turn(&mut self) -> Result<Vec<Record>, String> {
        writeln!(self.stdin, "turn").map_err(|error| format!("the process ended: {error}"))?;
        let mut records = Vec::new();
        loop {
            let line = self.lines.recv_timeout(TURN_LIMIT).map_err(|_| "no answer".to_owned())?;
            if line.is_empty() {
                return Ok(records);
            }
            records.push(Record::read(&line)?);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process may have ended already, or hang in its turn; in either case it is no longer needed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
