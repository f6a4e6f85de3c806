//! The command `build`: a node in C, in a folder.
//!
//! Files that Eddy writes anew begin with a mark; a file of the same name without it is somebody else's, and is not touched. Those that
//! people edit are written once.

use std::fs;
use std::path::{Path, PathBuf};

use eddy_language::{Built, File, Options, Status};

use crate::answers::Answers;
use crate::args::{BuildArgs, Target};
use crate::evaluate::parameters;
use crate::input::{self, Unreadable};
use crate::json;
use crate::replacement::replace;
use crate::report::Form;
use crate::stop::{Stop, misuse, reason};

/// `eddy build`.
pub fn build(args: &BuildArgs) -> Result<Status, Stop> {
    let Target::C = args.emit;
    let form = Form::new(&args.reporting);
    let language = args.program.lang.of(&args.program.file, "build")?;
    let mut sources = match input::read(&args.program.file, language) {
        Ok(sources) => sources,
        Err(unreadable) => {
            let Unreadable { sources, diagnostic } = *unreadable;
            form.diagnostics(&sources, &[diagnostic]);
            return Ok(Status::Refused);
        }
    };
    let mut options = Options {
        node: Some(args.node.clone()),
        constants: args.constants.clone(),
        shapes: args.shapes.clone(),
        batch: args.batch,
        seed: args.seed,
        keep: args.keep,
        max_window: args.max_window.map(|cycles| usize::try_from(cycles).unwrap_or(usize::MAX)),
        checkpoints: args.checkpoint.is_some(),
        single: args.f32,
        equations: args.program.equations,
        ..Options::default()
    };
    if let Some(path) = &args.params {
        match parameters(path) {
            Ok(values) => options.parameters = Some((path.display().to_string(), values)),
            Err(message) => {
                form.failure(&path.display().to_string(), &message);
                return Ok(Status::Refused);
            }
        }
    }
    let built = match language.build(&mut sources, &options) {
        None => {
            return Err(misuse("build", &format!("the language {} is not compiled to C", language.name())));
        }
        Some(Ok(built)) => built,
        Some(Err(diagnostics)) => {
            form.diagnostics(&sources, &diagnostics);
            return Ok(Status::Refused);
        }
    };
    form.diagnostics(&sources, &built.warnings);
    let mut answer = built.report.clone();
    if !args.dry_run {
        let folder = args.out.clone().unwrap_or_else(|| PathBuf::from(&built.node));
        match write(&built, &folder) {
            Ok(lines) => answer.push_str(&lines),
            Err((file, message)) => {
                form.failure(&file.display().to_string(), &message);
                return Ok(Status::Refused);
            }
        }
    }
    let mut answers = Answers::to_stdout();
    match form {
        Form::Json => answers.write(&json::result("build", json::status(Status::Answered), &answer))?,
        _ => answers.write(&answer)?,
    }
    answers.finish(Status::Answered)?;
    Ok(Status::Answered)
}

/// Writes all files, after looking whether that would lose something; says which.
fn write(built: &Built, folder: &Path) -> Result<String, (PathBuf, String)> {
    for file in built.files.iter().filter(|file| !file.is_edited) {
        let path = folder.join(&file.name);
        if fs::read(&path).is_ok_and(|bytes| !is_own(file, &bytes)) {
            let message =
                "this file was not written by Eddy: remove it, or choose another folder with `--out`";
            return Err((path, message.to_string()));
        }
    }
    let failed =
        |path: &Path, error: &std::io::Error| (path.to_owned(), format!("cannot write: {}", reason(error)));
    fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    let mut lines = String::new();
    for file in &built.files {
        let path = folder.join(&file.name);
        if file.is_edited && path.exists() {
            lines.extend(["kept ", &path.display().to_string(), "\n"]);
            continue;
        }
        replace(&path, file.text.as_bytes()).map_err(|error| failed(&path, &error))?;
        lines.extend(["wrote ", &path.display().to_string(), "\n"]);
    }
    Ok(lines)
}

/// Whether a file that is there was written by Eddy: it begins as the new one does.
fn is_own(file: &File, bytes: &[u8]) -> bool {
    let mark = file.text.as_bytes().iter().take_while(|byte| **byte != b':').count();
    bytes.get(..mark) == Some(&file.text.as_bytes()[..mark])
}
