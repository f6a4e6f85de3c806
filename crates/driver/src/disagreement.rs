//! The warning and the files that the user gets when compiled code and the simulator differ.

use std::fmt::Write;
use std::path::Path;

use eddy_batch::Batch;
use eddy_flow::Flow;
use eddy_formats::Saved;
use eddy_language::codes;
use eddy_language::semantics::Cell;
use eddy_syntax::{Diagnostic, Sources, Span};
use eddy_tensor::slices::split;
use eddy_tensor::text::Json;
use eddy_tensor::{Scalar, Value};

use crate::engine::{Compilation, Difference};

/// A difference between two engines.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// The warning.
    pub warning: Diagnostic,
    /// The contents of a folder that reproduces it.
    pub reproduction: Reproduction,
}

/// The contents of a folder that reproduces a difference.
#[derive(Clone, Debug, Default)]
pub struct Reproduction {
    /// The node that ran.
    pub node: String,
    /// What differs, and which compiler made the code, in lines.
    pub notes: String,
    /// The files of the program: their paths and texts. The main file comes first.
    pub programs: Vec<(String, String)>,
    /// Data, parameters and C text: paths in the folder and contents.
    pub files: Vec<(String, Vec<u8>)>,
    /// Environment variables that the command needs.
    pub environment: Vec<(String, String)>,
    /// The command, without `eddy` and the program, which comes after the first word.
    pub command: Vec<String>,
}

/// The node that ran.
pub struct Subject<'a> {
    /// The program.
    pub sources: &'a Sources,
    /// The name of the node.
    pub node: &'a str,
    /// The span for messages.
    pub span: Span,
    /// The code that is wrong.
    pub compilation: &'a Compilation,
}

/// The warning about a difference, and the folder that reproduces it by this command with these data.
pub fn report(
    subject: &Subject<'_>,
    difference: &Difference,
    command: Vec<String>,
    data: Vec<(String, Vec<u8>)>,
) -> Disagreement {
    let Subject { node, span, compilation, sources } = subject;
    let Difference { what, cycle, compiled, simulated, .. } = difference;
    let compiler = compilation.compiler().cloned().unwrap_or_default();
    let title = format!("compiled code of `{node}` is wrong: {what} at cycle {cycle}");
    let reason = format!(
        "compiled code gives {compiled}, the simulator {simulated}. The simulator runs the program from its first row on, so the results are right, but slower. \
         The C compiler is `{}`, {}, with the flags {}",
        compiler.command, compiler.version, compiler.flags
    );
    let warning = Diagnostic::warning(codes::DISAGREEMENT, *span, title).reason(reason);
    let mut notes =
        format!("Compiled code and the simulator of Eddy {} differ.\n\n", env!("CARGO_PKG_VERSION"));
    let facts = [
        ("node", (*node).to_string()),
        ("what differs", what.clone()),
        ("cycle", cycle.to_string()),
        ("compiled", compiled.clone()),
        ("simulated", simulated.clone()),
        ("compiler", format!("{} ({})", compiler.command, compiler.version)),
        ("flags", compiler.flags),
    ];
    for (name, fact) in facts {
        writeln!(notes, "{name:<13} {fact}").expect("a string takes all that is written");
    }
    let c_files = compilation.c_files().into_iter();
    let c_files = c_files.map(|(name, text)| (format!("c/{name}"), text.as_bytes().to_vec()));
    let reproduction = Reproduction {
        node: (*node).to_string(),
        notes,
        programs: programs(sources),
        files: data.into_iter().chain(c_files).collect(),
        environment: vec![("CC".to_string(), compiler.command)],
        command,
    };
    Disagreement { warning, reproduction }
}

/// The files that the user wrote: the first is the main one, the second the prelude. Files of the library and
/// excerpts of other texts have no extension and are left out.
fn programs(sources: &Sources) -> Vec<(String, String)> {
    let is_program = |name: &str| Path::new(name).extension().is_some_and(|extension| extension == "eddy");
    let files = sources.files().iter().enumerate();
    let own = files.filter(|(number, file)| *number == 0 || *number > 1 && is_program(file.name()));
    own.map(|(_, file)| (file.name().to_string(), file.text().to_string())).collect()
}

/// Rows as JSON lines that read back as the same cells.
pub fn json_lines(flow: &Flow, rows: &[Vec<Cell>]) -> Vec<u8> {
    let mut text = String::new();
    for row in rows {
        let cells = flow.inputs.iter().zip(row).filter_map(|(input, cell)| {
            let name = flow.var(*input).name.as_deref().expect("inputs have names");
            let value = match cell {
                Cell::Absent => return None,
                Cell::Value(value) => exactly(value),
                Cell::Unknown | Cell::Present | Cell::Error => "\"⊥\"".to_string(),
            };
            Some(format!("\"{name}\":{value}"))
        });
        let cells: Vec<String> = cells.collect();
        writeln!(text, "{{{}}}", cells.join(",")).expect("a string takes all that is written");
    }
    text.into_bytes()
}

/// A value as JSON with all its bits; the usual output prints negative zero as `0`.
fn exactly(value: &Value) -> String {
    if value.n_elements() == 0 || value.scalar() != Scalar::Num {
        return Json(value).to_string();
    }
    let element = |element: Value| match element {
        Value::Num(x) if x == 0.0 && x.is_sign_negative() => "-0.0".to_string(),
        element => Json(&element).to_string(),
    };
    let mut level: Vec<String> = value.elements().map(element).collect();
    for size in value.shape().iter().rev() {
        level = level.chunks(*size).map(|items| format!("[{}]", items.join(","))).collect();
    }
    level.pop().expect("there is one value")
}

/// The cells of one stream of a batch.
pub fn stream_of(flow: &Flow, batch: &Batch, row: &[Cell], stream: usize) -> Vec<Cell> {
    let cells = flow.inputs.iter().zip(row);
    let own = cells.map(|(input, cell)| match cell {
        Cell::Value(value) if batch.is_wide(*input) => Cell::Value(split(value)[stream].clone()),
        cell => cell.clone(),
    });
    own.collect()
}

/// The file of these parameters.
pub fn parameters(values: &[(String, Value)]) -> Vec<u8> {
    let saved = Saved { values: values.to_vec(), note: String::new() };
    saved.encode().expect("values of programs can be saved")
}

/// Options that take a value, as words of a command line.
pub fn words<'a>(options: impl IntoIterator<Item = (&'a str, Option<String>)>) -> Vec<String> {
    let given = options.into_iter().filter_map(|(flag, value)| Some([flag.to_string(), value?]));
    given.flatten().collect()
}
