//! `eddy new`: a folder with a program that trains at once.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use serde_json::json;

use crate::answers::Answers;
use crate::commands::NewArgs;
use crate::json;
use crate::replacement::replace;
use crate::report::Form;
use crate::status::Status;
use crate::stop::{Stop, reason};

/// The program: a forecast of the next value of a stream.
const MODEL: &str = include_str!("new/model.eddy");
const README: &str = include_str!("new/README.md");
const IGNORED: &str = "runs/\n";

/// The number of rows of the data.
const ROWS: u32 = 400;

/// `eddy new FOLDER`.
pub fn new(args: &NewArgs) -> Result<Status, Stop> {
    let form = Form::new(&args.reporting);
    let folder = &args.folder;
    if folder.exists() && !is_empty(folder) {
        form.failure(&folder.display().to_string(), "exists and is not empty; name another folder");
        return Ok(Status::Refused);
    }
    let files = [
        ("model.eddy", MODEL.to_string()),
        ("data.csv", data()),
        ("README.md", README.to_string()),
        (".gitignore", IGNORED.to_string()),
    ];
    if let Err(error) = write(folder, &files) {
        form.failure(&folder.display().to_string(), &format!("cannot write: {}", reason(&error)));
        return Ok(Status::Refused);
    }
    let mut answers = Answers::to_stdout();
    let text = text(folder, &files);
    match form {
        Form::Json => {
            let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
            let answer = json!({ "folder": folder.display().to_string(), "files": names });
            answers.write(&json::result("new", Status::Answered.word(), &text, &answer))?;
        }
        _ => answers.write(&text)?,
    }
    answers.finish(Status::Answered)?;
    Ok(Status::Answered)
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

fn write(folder: &Path, files: &[(&str, String)]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    files.iter().try_for_each(|(name, text)| replace(&folder.join(name), text.as_bytes()))
}

fn text(folder: &Path, files: &[(&str, String)]) -> String {
    let mut text = String::new();
    for (name, _) in files {
        let _ = writeln!(text, "wrote {}", folder.join(name).display());
    }
    let _ = writeln!(
        text,
        "now: cd {} && eddy test model.eddy && eddy train model.eddy --in data.csv --target next --split 0.8",
        folder.display()
    );
    text
}

/// A wave with two periods, and the value after each.
fn data() -> String {
    let value = |row: u32| {
        let t = f64::from(row);
        // Rounded, so that the file is the same on every machine.
        ((0.6 * (t * 0.2).sin() + 0.3 * (t * 0.07).sin()) * 1e4).round() / 1e4
    };
    let mut text = "time,x,next\n".to_string();
    for row in 0..ROWS {
        let _ = writeln!(text, "{row},{},{}", value(row), value(row + 1));
    }
    text
}
