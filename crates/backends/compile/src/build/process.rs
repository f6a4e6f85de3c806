//! Runs a program with a time limit.
//!
//! A compiler is a driver that calls other programs: a preprocessor, an assembler, a linker; and it may be a
//! script. All of them form one process group, which is killed when the time is over, when the compiler has
//! ended, and when this process ends.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How a program ended.
pub(super) enum Ending {
    Exited {
        status: ExitStatus,
        /// The beginning of its output.
        output: Vec<u8>,
    },
    /// It exceeded the time limit and was killed.
    TimedOut,
}

/// How much of the output is read: a confused compiler can write endlessly.
const MAX_OUTPUT: u64 = 1 << 20;

/// Runs a command until it ends or exceeds the limit. Its child processes end with it, and all end with this
/// process.
pub(super) fn run(command: &mut Command, limit: Duration) -> io::Result<Ending> {
    // A file instead of a pipe: a surviving grandchild could keep a pipe open, and reading from it would
    // never end.
    let mut output = output_file()?;
    command.stdin(Stdio::null()).stdout(handle(&output)?).stderr(handle(&output)?);
    let guard = Guard::start();
    guard.join(command);
    let mut child = command.spawn()?;
    let waited = wait(&mut child, limit);
    if !matches!(waited, Ok(Some(_))) {
        // Without process groups, at least the compiler itself is killed.
        drop(child.kill());
    }
    guard.stop();
    let Some(status) = waited? else {
        child.wait()?;
        return Ok(Ending::TimedOut);
    };
    output.rewind()?;
    let mut bytes = Vec::new();
    output.take(MAX_OUTPUT).read_to_end(&mut bytes)?;
    Ok(Ending::Exited { status, output: bytes })
}

/// A file without a name. The folder that `TMPDIR` names may be missing.
fn output_file() -> io::Result<File> {
    let others =
        ["/tmp", "/var/tmp", "/dev/shm", "."].iter().find_map(|folder| tempfile::tempfile_in(folder).ok());
    tempfile::tempfile().or_else(|error| others.ok_or(error))
}

fn handle(file: &File) -> io::Result<Stdio> {
    Ok(Stdio::from(file.try_clone()?))
}

/// Polls frequently at first, since most calls are short.
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

/// A process group that ends with this process, however that ends.
///
/// Its leader is a shell that reads from a pipe. Only this process holds the other end, so the shell reads
/// end of file when this process ends, even by SIGKILL, and then kills its group. A compiler that joins the
/// group is killed with it.
#[cfg(unix)]
struct Guard {
    leader: Option<(Child, io::PipeWriter)>,
}

#[cfg(unix)]
impl Guard {
    /// Starts the shell. Without a shell, only the compiler itself is killed, not its children.
    fn start() -> Guard {
        use std::os::unix::process::CommandExt;
        let start = || {
            let (reader, writer) = io::pipe()?;
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", "read -r line; kill -9 0"]).process_group(0);
            shell.stdin(reader).stdout(Stdio::null()).stderr(Stdio::null());
            io::Result::Ok((shell.spawn()?, writer))
        };
        Guard { leader: start().ok() }
    }

    /// Makes a command start in the group.
    fn join(&self, command: &mut Command) {
        let leader = self.leader.as_ref().map_or(0, |(leader, _)| leader.id().cast_signed());
        std::os::unix::process::CommandExt::process_group(command, leader);
    }

    /// Kills the whole group.
    fn stop(self) {
        use rustix::process::{Pid, Signal, kill_process_group};
        if let Some((mut leader, _writer)) = self.leader {
            // The leader has not been waited for, so its process id has not been reused. If it is gone, so is
            // its group.
            let _ = kill_process_group(Pid::from_child(&leader), Signal::KILL);
            drop(leader.wait());
        }
    }
}

#[cfg(not(unix))]
struct Guard;

#[cfg(not(unix))]
impl Guard {
    fn start() -> Guard {
        Guard
    }

    fn join(&self, _: &mut Command) {}

    fn stop(self) {}
}
