//! A function as C files for other programs.

use eddy_body::Type;
use eddy_compile::functions::package::{Form, Interface, package};
use eddy_syntax::Span;

use super::{Expected, FunctionModel, NoResult};
use crate::building::{Built, File};
use crate::refusal::Refusal;

impl FunctionModel {
    /// The function in C, at its written types: a header and a source file that need nothing else.
    pub fn build_c(&mut self) -> Result<Built, Refusal> {
        let lowered = self.entry.written_call(self.program.resolved(), &self.budget);
        let (code, signature) = lowered.map_err(|error| match self.no_result(error) {
            NoResult::Refused(refusal) | NoResult::Failed(refusal) => refusal,
        })?;
        let params = signature.params.iter().map(|(name, expected)| (name.clone(), form(expected)));
        let name = self.name().to_string();
        let interface =
            Interface { name: name.clone(), params: params.collect(), result: form(&signature.result) };
        let sources = self.program.sources();
        let place = |span: Span| {
            if span == Span::default() {
                return (0, 0);
            }
            let place = sources.file(span).position(span.start);
            (place.line, place.column)
        };
        let files = package(&code.module, code.body, &interface, &place)
            .unwrap_or_else(|error| panic!("lowered code verifies: {error}"));
        let file_name = sources.main().name().rsplit(['/', '\\']).next().unwrap_or_default();
        let title = format!("/* Written by Eddy: the function `{name}` of {file_name}. */\n");
        let report = format!("{name}: numbers are double; the caller gives the memory\n");
        let file = |name: String, text: &str| File { name, text: format!("{title}{text}"), is_edited: false };
        let files = vec![
            file(format!("{}.h", files.name), &files.header),
            file(format!("{}.c", files.name), &files.source),
        ];
        Ok(Built { node: name, files, report, warnings: self.program.warnings().to_vec() })
    }
}

/// The tensors of an argument or a result.
fn form(expected: &Expected) -> Form {
    match expected {
        Expected::Tensor(elem, rank) => Form::Tensor(Type { elem: *elem, rank: *rank }),
        Expected::Tuple(parts) => Form::Tuple(parts.iter().map(form).collect()),
        Expected::Record(fields) => {
            Form::Record(fields.iter().map(|(label, part)| (label.clone(), form(part))).collect())
        }
        Expected::Function | Expected::Open => unreachable!("the signature is written"),
    }
}
