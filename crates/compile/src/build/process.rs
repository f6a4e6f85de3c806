//! Calls a program that must end in time.
//!
//! A compiler is a driver that calls others: a preprocessor, an assembler, a linker, and perhaps it is a script. All of them are
//! one group of processes, and the group is stopped when its time is over.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What a program did.
pub(super) enum Ending {
    /// It ended.
    Exited {
        status: ExitStatus,
        /// The beginning of what it wrote.
        output: Vec<u8>,
    },
    /// It was stopped.
    TimedOut,
}

/// How much of the output is read: a compiler on the wrong track can write without end.
const MAX_OUTPUT: u64 = 1 << 20;

/// Runs a command to its end, or to the end of its time.
pub(super) fn run(command: &mut Command, limit: Duration) -> io::Result<Ending> {
    // A file, not a pipe: a grandchild that lives on could keep a pipe open, and reading from it would not end.
    let mut output = tempfile::tempfile()?;
    command.stdin(Stdio::null()).stdout(handle(&output)?).stderr(handle(&output)?);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut child = command.spawn()?;
    let Some(status) = wait(&mut child, limit)? else {
        stop(&mut child)?;
        return Ok(Ending::TimedOut);
    };
    output.rewind()?;
    let mut bytes = Vec::new();
    output.take(MAX_OUTPUT).read_to_end(&mut bytes)?;
    Ok(Ending::Exited { status, output: bytes })
}

fn handle(file: &File) -> io::Result<Stdio> {
    Ok(Stdio::from(file.try_clone()?))
}

/// Waits, asking often at first: most calls are over in a moment.
fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let Some(left) = limit.checked_sub(start.elapsed()) else { return Ok(None) };
        sleep(pause.min(left));
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Stops a process and those that it started.
fn stop(child: &mut Child) -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process_group};
        // Nobody has waited for the child yet, so its number is still its own.
        kill_process_group(Pid::from_child(child), Signal::KILL)?;
    }
    // Where there are no groups, at least the compiler itself is stopped.
    #[cfg(not(unix))]
    child.kill()?;
    child.wait().map(|_| ())
}
