//! Results, on standard output or in a file.
//!
//! Languages write to a [`std::fmt::Write`], whose errors carry nothing; [`Answers`] remembers what really
//! happened, so that a closed pipe and a full disk can be told apart at the end.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

use eddy_language::{Disagreement, Sink, Status};
use eddy_syntax::Sources;

use crate::replacement::Replacement;
use crate::report::Form;
use crate::reproduction;

/// Where answers go, as the languages see it.
pub struct Answers {
    to: To,
    failure: Option<io::Error>,
    /// How what is told meanwhile looks.
    form: Form,
}

enum To {
    /// Somewhere that takes what comes.
    Stream(Box<dyn Write>),
    /// A file that is whole at the end, or stays as it was.
    File(Replacement),
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
        Answers { to: To::Stream(to), failure: None, form: Form::Short }
    }

    /// To a new file, or in place of what is in it; a device or a pipe takes what comes.
    pub fn to_file(path: &Path) -> io::Result<Self> {
        let is_other = fs::metadata(path).is_ok_and(|file| !file.is_file() && !file.is_dir());
        let to = if is_other {
            To::Stream(Box::new(BufWriter::with_capacity(1 << 16, File::create(path)?)))
        } else {
            To::File(Replacement::new(path)?)
        };
        Ok(Answers { to, failure: None, form: Form::Short })
    }

    /// With another form of what is told meanwhile.
    pub fn telling(self, form: Form) -> Self {
        Answers { form, ..self }
    }

    /// Writes a whole result.
    pub fn write(&mut self, text: &str) -> io::Result<()> {
        self.writer().write_all(text.as_bytes())
    }

    fn writer(&mut self) -> &mut dyn Write {
        match &mut self.to {
            To::Stream(stream) => stream,
            To::File(replacement) => replacement,
        }
    }

    /// Everything reached the reader, or why not. The answer about a program that is refused replaces no file.
    pub fn finish(mut self, status: Status) -> io::Result<()> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        match self.to {
            To::Stream(mut stream) => stream.flush(),
            To::File(_) if status == Status::Refused => Ok(()),
            To::File(replacement) => replacement.finish(),
        }
    }
}

impl Sink for Answers {
    fn flush(&mut self) {
        if let Err(failure) = self.writer().flush() {
            self.failure.get_or_insert(failure);
        }
    }

    fn remark(&mut self, text: &str) {
        // Where standard error is closed there is nobody to tell.
        let _ = writeln!(io::stderr(), "note: {text}");
    }

    fn progress(&mut self, text: &str) {
        if io::stderr().is_terminal() {
            self.remark(text);
        }
    }

    fn disagreement(&mut self, sources: &Sources, found: Disagreement) {
        // The folder of the command: that of a program may not be the user's.
        reproduction::tell(self.form, sources, Path::new(""), found);
    }
}

/// An answer that is kept until it is whole; what is told meanwhile is told at once.
pub struct Whole<'a> {
    pub text: String,
    pub answers: &'a mut Answers,
}

impl fmt::Write for Whole<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text.push_str(text);
        Ok(())
    }
}

impl Sink for Whole<'_> {
    fn disagreement(&mut self, sources: &Sources, found: Disagreement) {
        self.answers.disagreement(sources, found);
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
        let mut answers = Answers { to: To::Stream(Box::new(Closed)), failure: None, form: Form::Short };
        assert!(writeln!(answers, "a line").is_err());
        let ended = answers.finish(Status::Answered);
        assert_eq!(ended.map_err(|error| error.kind()), Err(io::ErrorKind::BrokenPipe));
    }
}
