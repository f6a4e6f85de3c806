//! Writes results to standard output or to a file.
//!
//! Languages write to a [`std::fmt::Write`], whose errors carry no cause; [`Answers`] keeps the IO error, so
//! that the end of a command can distinguish a closed pipe from a full disk.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::replacement::Replacement;
use crate::status::Status;

/// The writer that languages write their answers to.
pub struct Answers {
    to: Destination,
    failure: Option<io::Error>,
}

/// A handle of the same output, with which a listener flushes it before it writes to standard error.
#[derive(Clone)]
pub struct Destination(Arc<Mutex<To>>);

enum To {
    /// A stream that is written directly.
    Stream(Box<dyn Write + Send>),
    /// A file that is replaced as a whole at the end, or not at all.
    File(Replacement),
}

impl Answers {
    /// Flushes each line on a terminal, and large blocks elsewhere.
    pub fn to_stdout() -> Self {
        let stdout = io::stdout();
        let to: Box<dyn Write + Send> = if stdout.is_terminal() {
            Box::new(stdout)
        } else {
            Box::new(BufWriter::with_capacity(1 << 16, stdout))
        };
        Answers::new(To::Stream(to))
    }

    /// To a new file, or in place of an existing one; a device or a pipe is written directly.
    pub fn to_file(path: &Path) -> io::Result<Self> {
        let is_other = fs::metadata(path).is_ok_and(|file| !file.is_file() && !file.is_dir());
        let to = if is_other {
            To::Stream(Box::new(BufWriter::with_capacity(1 << 16, File::create(path)?)))
        } else {
            To::File(Replacement::new(path)?)
        };
        Ok(Answers::new(to))
    }

    fn new(to: To) -> Self {
        Answers { to: Destination(Arc::new(Mutex::new(to))), failure: None }
    }

    pub fn destination(&self) -> Destination {
        self.to.clone()
    }

    /// Writes one whole result.
    pub fn write(&mut self, text: &str) -> io::Result<()> {
        self.to.lock().writer().write_all(text.as_bytes())
    }

    /// Flushes the output, because the next line may come much later.
    pub fn flush_now(&mut self) {
        if let Err(failure) = self.to.flush() {
            self.failure.get_or_insert(failure);
        }
    }

    /// Ends the output, or returns the first error. An answer about a refused program replaces no file.
    pub fn finish(mut self, status: Status) -> io::Result<()> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        // A listener may still hold a handle.
        let to = std::mem::replace(&mut *self.to.lock(), To::Stream(Box::new(io::sink())));
        match to {
            To::Stream(mut stream) => stream.flush(),
            To::File(_) if status == Status::Refused => Ok(()),
            To::File(replacement) => replacement.finish(),
        }
    }
}

impl Destination {
    /// Flushes the output.
    pub fn flush(&self) -> io::Result<()> {
        self.lock().writer().flush()
    }

    fn lock(&self) -> MutexGuard<'_, To> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl To {
    fn writer(&mut self) -> &mut dyn Write {
        match self {
            To::Stream(stream) => stream,
            To::File(replacement) => replacement,
        }
    }
}

impl fmt::Write for Answers {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.write(text).map_err(|failure| {
            self.failure.get_or_insert(failure);
            fmt::Error
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    struct Closed;

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_reason_of_a_failed_write_is_kept_for_the_end() {
        let mut answers = Answers::new(To::Stream(Box::new(Closed)));
        assert!(writeln!(answers, "a line").is_err());
        let ended = answers.finish(Status::Answered);
        assert_eq!(ended.map_err(|error| error.kind()), Err(io::ErrorKind::BrokenPipe));
    }
}
