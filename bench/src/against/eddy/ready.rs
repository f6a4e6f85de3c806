//! A program of `bench/programs` with its sizes and parameters, checked and ready to run.

use std::path::{Path, PathBuf};

use eddy_flow::{Constant, Flow, Kind};
use eddy_language::elaborate::{Draft, ElaborationOptions};
use eddy_language::infer::{Hint, Hints};
use eddy_language::prepare::{Checks, Prepared, prepare};
use eddy_language::resolve;
use eddy_syntax::{Diagnostic, SourceFile, Sources};
use eddy_tensor::{Op, Scalar, Value};

use super::case::{Case, shape_of};

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs")
}

/// Checks the program of a case and sets its parameters.
pub fn ready(case: &Case) -> Result<Prepared, String> {
    let text = std::fs::read_to_string(folder().join(case.file)).map_err(|error| error.to_string())?;
    let mut sources = Sources::alone(SourceFile::new(case.file, text));
    let program = resolve(&mut sources).accepted().map_err(titles)?;
    let callable = program.find_named(case.node).map_err(|diagnostic| titles(vec![*diagnostic]))?;
    let constants = case.constants.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let given = ElaborationOptions { constants, ..ElaborationOptions::default() };
    let hints = |draft: &Draft| hints(draft, case);
    let mut prepared = prepare(&program, &callable, &given, hints, Checks::On).map_err(titles)?;
    set_parameters(&mut prepared.flow, &case.parameters)?;
    Ok(prepared)
}

fn titles(diagnostics: Vec<Diagnostic>) -> String {
    let titles: Vec<String> = diagnostics.iter().map(|diagnostic| diagnostic.title.clone()).collect();
    titles.join("; ")
}

/// The types of inputs, from the data.
fn hints(draft: &Draft, case: &Case) -> Hints {
    let mut hints = Hints::default();
    for input in &draft.inputs {
        let var = &draft.vars[input.index()];
        let Some((is_bool, shape)) = var.name.as_deref().and_then(|name| shape_of(case, name)) else {
            continue;
        };
        if is_bool {
            hints.scalars.push(Hint { input: *input, says: Scalar::Bool, span: var.span });
        }
        hints.shapes.push(Hint { input: *input, says: shape, span: var.span });
    }
    hints
}

/// Sets the initial values of parameters, including those that an optimiser updates.
fn set_parameters(flow: &mut Flow, values: &[(String, Value)]) -> Result<(), String> {
    let definitions = flow.definitions();
    for (name, value) in values {
        let parameter = flow.parameters.iter().find(|parameter| *parameter.name == **name);
        let mut var = parameter.ok_or_else(|| unknown(name, flow))?.var;
        // Follows the parameter, through its optimiser if it has one, to the constant that initialises it.
        let constant = loop {
            let number = definitions[var.index()].ok_or_else(|| format!("`{name}` is an input"))?;
            match &flow.equations[number].kind {
                Kind::Fby { init: from, .. } | Kind::Param(from) => var = *from,
                Kind::Apply(Op::Copy, from) => var = from[0],
                Kind::Const(_) => break number,
                _ => return Err(format!("`{name}` does not start as a constant")),
            }
        };
        flow.equations[constant].kind = Kind::Const(Constant::Value(value.clone()));
    }
    Ok(())
}

fn unknown(name: &str, flow: &Flow) -> String {
    let names: Vec<&str> = flow.parameters.iter().map(|parameter| &*parameter.name).collect();
    format!("there is no parameter `{name}` among {}", names.join(", "))
}
