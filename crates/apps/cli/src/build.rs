//! The command `build`: a node in C, in a folder.
//!
//! Files that Eddy regenerates begin with a mark. `build` overwrites no file that has the same name and lacks
//! the mark, and it writes files that people edit only once.

use std::fs;
use std::path::{Path, PathBuf};

use eddy_driver::building::{Built, File};
use eddy_driver::functions::Budget;
use eddy_driver::{
    BuildRequest, Encoding, FunctionRequest, GivenParameters, NodeRequest, Precision, Refusal,
};
use eddy_syntax::Sources;
use serde_json::json;

use crate::answers::Answers;
use crate::json;
use crate::languages::reactive::building::{BuildArgs, Target};
use crate::languages::reactive::functions::checkpoints;
use crate::languages::reactive::{cycles, given_parameters, load};
use crate::replacement::replace;
use crate::report::Form;
use crate::session::Session;
use crate::status::Status;
use crate::stop::{Stop, reason};

/// `eddy build`.
pub fn build(args: BuildArgs, session: &Session) -> Result<Status, Stop> {
    let Target::C = args.emit;
    let form = session.form;
    let Some(sources) = session.sources() else { return Ok(Status::Refused) };
    let Ok(parameters) = given_parameters(args.params.as_deref(), form) else {
        return Ok(Status::Refused);
    };
    let (built, sources) = match ask(&args, parameters, sources) {
        Ok(built) => built,
        Err(Refusal { diagnostics, sources }) => {
            form.diagnostics(&sources, &diagnostics);
            return Ok(Status::Refused);
        }
    };
    form.diagnostics(&sources, &built.warnings);
    let mut text = built.report.clone();
    let folder = (!args.dry_run).then(|| args.out.unwrap_or_else(|| PathBuf::from(&built.node)));
    if let Some(folder) = &folder {
        match write(&built, folder) {
            Ok(lines) => text.push_str(&lines),
            Err((file, message)) => {
                form.failure(&file.display().to_string(), &message);
                return Ok(Status::Refused);
            }
        }
    }
    let mut answers = Answers::to_stdout();
    match form {
        Form::Json => {
            let files: Vec<&str> = built.files.iter().map(|file| file.name.as_str()).collect();
            let folder = folder.map(|folder| folder.display().to_string());
            let answer = json!({ "node": built.node, "folder": folder, "files": files });
            answers.write(&json::result("build", Status::Answered.word(), &text, &answer))?;
        }
        _ => answers.write(&text)?,
    }
    answers.finish(Status::Answered)?;
    Ok(Status::Answered)
}

/// The node in C, and the sources that its warnings refer to.
fn ask(
    args: &BuildArgs,
    (parameters, encoding): (Option<GivenParameters>, Encoding),
    sources: Sources,
) -> Result<(Built, Sources), Refusal> {
    let BuildArgs { node, function, constants, shapes, batch, .. } = args;
    if let Some(function) = function {
        let budget = Budget { checkpoints: checkpoints(args.keep_states), ..Budget::default() };
        let request = FunctionRequest { budget, ..FunctionRequest::new(function.as_str()) };
        let mut model = load(sources, args.limits.read())?.function(request)?;
        let built = model.build_c()?;
        return Ok((built, model.program().sources().clone()));
    }
    let request = NodeRequest {
        node: node.clone().expect("a node or a function is given"),
        constants: constants.clone(),
        shapes: shapes.clone(),
        batch: *batch,
    };
    let model = load(sources, args.limits.read())?.model(request)?;
    let model = model.with_parameters(parameters).with_encoding(encoding);
    let built = model.build_c(&BuildRequest {
        seed: args.seed.unwrap_or(0),
        precision: args.f32.then_some(Precision::Single),
        checkpoints: args.checkpoint.is_some(),
        keep: args.keep,
        max_window: args.max_window.map(cycles),
        arena: args.arena.and_then(|bytes| usize::try_from(bytes).ok()),
    })?;
    Ok((built, model.sources().clone()))
}

/// Checks that no file would be lost, then writes all files. Returns the report.
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

/// Whether Eddy wrote this existing file: it begins as the new one does.
fn is_own(file: &File, bytes: &[u8]) -> bool {
    let mark = file.text.as_bytes().iter().take_while(|byte| **byte != b':').count();
    bytes.get(..mark) == Some(&file.text.as_bytes()[..mark])
}
