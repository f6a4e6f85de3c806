//! Results, on standard output.
//!
//! Languages write to a [`std::fmt::Write`], whose errors carry nothing; [`Answers`] remembers what really
//! happened, so that a closed pipe and a full disk can be told apart at the end.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

use eddy_language::Sink;

/// Standard output as the languages see it.
pub struct Answers {
    to: Box<dyn Write>,
    failure: Option<io::Error>,
}

impl Answers {
    /// Lines appear one by one on a terminal and in large blocks elsewhere.
    pub fn to_stdout() -> Self {
        let stdout = io::stdout().lock();
        let to: Box<dyn Write> = if stdout.is_terminal() {
            Box::new(stdout)
        } else {
            Box::new(BufWriter::with_capacity(1 << 16, stdout))
        };
        Answers { to, failure: None }
    }

    /// To a new file, or in place of what is in it.
    pub fn to_file(path: &Path) -> io::Result<Self> {
        let file = BufWriter::with_capacity(1 << 16, File::create(path)?);
        Ok(Answers { to: Box::new(file), failure: None })
    }

    /// Writes a whole result.
    pub fn write(&mut self, text: &str) -> io::Result<()> {
        self.to.write_all(text.as_bytes())
    }

    /// Everything reached the reader, or why not.
    pub fn finish(mut self) -> io::Result<()> {
        match self.failure.take() {
            Some(failure) => Err(failure),
            None => self.to.flush(),
        }
    }
}

impl Sink for Answers {
    fn flush(&mut self) {
        if let Err(failure) = self.to.flush() {
            self.failure.get_or_insert(failure);
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
        let mut answers = Answers { to: Box::new(Closed), failure: None };
        assert!(writeln!(answers, "a line").is_err());
        assert_eq!(answers.finish().map_err(|error| error.kind()), Err(io::ErrorKind::BrokenPipe));
    }
}
