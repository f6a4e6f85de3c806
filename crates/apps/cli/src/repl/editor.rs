//! Reads lines: on a terminal with editing, history and completion, otherwise as they are.

use std::io::{self, BufRead as _};
use std::path::PathBuf;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{Context, Helper};

use super::line::{COMMANDS, begins_block};

/// What was read.
pub enum Read {
    Line(String),
    /// The user gave up the line.
    Interrupted,
    End,
}

/// A source of lines. A declaration that goes on is one line, up to an empty one.
pub struct Editor {
    terminal: Option<rustyline::Editor<Names, FileHistory>>,
}

impl Editor {
    pub fn new(is_terminal: bool) -> Editor {
        let mut terminal =
            if is_terminal { rustyline::Editor::<Names, FileHistory>::new().ok() } else { None };
        if let Some(editor) = &mut terminal {
            editor.set_helper(Some(Names::default()));
            if let Some(path) = history() {
                // There is no history before the first use.
                let _ = editor.load_history(&path);
            }
        }
        Editor { terminal }
    }

    /// Names for completion.
    pub fn know(&mut self, names: Vec<String>) {
        if let Some(helper) = self.terminal.as_mut().and_then(|editor| editor.helper_mut()) {
            helper.names = names;
        }
    }

    /// The next line.
    pub fn read(&mut self) -> Read {
        let first = match self.one("> ") {
            Ok(Some(line)) => line,
            Ok(None) => return Read::End,
            Err(Interrupted) => return Read::Interrupted,
        };
        let mut text = first;
        if begins_block(&text) {
            loop {
                match self.one("... ") {
                    Ok(Some(line)) if line.trim().is_empty() => break,
                    Ok(Some(line)) => text.extend(["\n", &line]),
                    Ok(None) => break,
                    Err(Interrupted) => return Read::Interrupted,
                }
            }
        }
        if let Some(editor) = &mut self.terminal
            && !text.trim().is_empty()
        {
            let _ = editor.add_history_entry(&text);
        }
        Read::Line(text)
    }

    fn one(&mut self, prompt: &str) -> Result<Option<String>, Interrupted> {
        let Some(editor) = &mut self.terminal else {
            let mut line = String::new();
            let n_read = io::stdin().lock().read_line(&mut line).unwrap_or(0);
            return Ok((n_read > 0).then(|| line.trim_end_matches(['\n', '\r']).to_string()));
        };
        match editor.readline(prompt) {
            Ok(line) => Ok(Some(line)),
            Err(ReadlineError::Interrupted) => Err(Interrupted),
            Err(_) => Ok(None),
        }
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        if let (Some(editor), Some(path)) = (&mut self.terminal, history()) {
            if let Some(folder) = path.parent() {
                let _ = std::fs::create_dir_all(folder);
            }
            // Without a place for it, the history is lost.
            let _ = editor.save_history(&path);
        }
    }
}

struct Interrupted;

/// The file of the history.
fn history() -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state"));
    Some(state.or_else(home)?.join("eddy").join("repl-history"))
}

/// Completes commands and names.
#[derive(Default)]
struct Names {
    names: Vec<String>,
}

impl Completer for Names {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let before = &line[..position];
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '\'' | ':');
        let start = before
            .rfind(|c| !is_part(c))
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        let word = &before[start..];
        let commands = COMMANDS.iter().map(ToString::to_string).filter(|_| start == 0);
        let words = self.names.iter().cloned().chain(commands);
        let mut found: Vec<String> =
            words.filter(|name| !word.is_empty() && name.starts_with(word)).collect();
        found.sort();
        found.dedup();
        Ok((start, found))
    }
}

impl rustyline::hint::Hinter for Names {
    type Hint = String;
}

impl rustyline::highlight::Highlighter for Names {}

impl rustyline::validate::Validator for Names {}

impl Helper for Names {}
