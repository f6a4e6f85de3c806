//! One call for each line of data files.

use std::collections::VecDeque;
use std::io::{BufReader, Read};

use eddy_formats::BadData;
use eddy_formats::calls::{Call, Calls, Tree};
use eddy_language::codes;
use eddy_language::functions::entry::{CallError, Outcome};
use eddy_syntax::Diagnostic;

use super::{Datum, FunctionModel, NoResult, unfit_argument};
use crate::data::{Content, Data, Format};
use crate::refusal::Refusal;
use crate::stream::Stopped;

/// Calls a function with each line of data files. Ends with the data, or with the first call that has no
/// result.
pub struct DataCalls {
    model: FunctionModel,
    files: VecDeque<(String, Calls<Box<dyn Read + Send>>)>,
    has_ended: bool,
}

/// A line of a data file.
pub(super) struct Line {
    pub file: String,
    pub call: Call,
    pub arguments: Vec<(String, Datum)>,
}

impl FunctionModel {
    /// Calls the function once for each line of these data. Without data, a function without parameters is
    /// called once.
    pub fn calls(self, data: Vec<Data>) -> Result<DataCalls, Refusal> {
        let mut files = VecDeque::new();
        if data.is_empty() {
            let call: Box<dyn Read + Send> = if self.entry.params().is_empty() && !self.is_synthesised() {
                Box::new(&b"{}"[..])
            } else {
                let name = self.name();
                let title = format!("the function `{name}` has parameters, and there are no data for them");
                let diagnostic = Diagnostic::error(codes::DATA, self.span(), title)
                    .help("give a file with one call per line, `--in FILE`: {\"x\": 1.5}");
                return Err(self.program.refusal(vec![diagnostic]));
            };
            files.push_back(("<no data>".to_string(), Calls::new(BufReader::new(call))));
        }
        for data in data {
            let (file, refused) = (data.name.clone(), |title: String| {
                self.program.refusal(vec![Diagnostic::error(codes::DATA, self.span(), title)])
            });
            let opened = data.opened();
            let Data { name, input, content } =
                opened.map_err(|error| refused(format!("`{file}` cannot be read: {error}")))?;
            match content {
                Content::Bytes { format: Format::JsonLines, reader, .. } if input.is_none() => {
                    files.push_back((name, Calls::new(reader)));
                }
                _ => {
                    let title =
                        format!("`{name}` is no file of calls: they are JSON lines, one object for each");
                    return Err(refused(title));
                }
            }
        }
        Ok(DataCalls { model: self, files, has_ended: false })
    }

    fn is_synthesised(&self) -> bool {
        !self.entry.modes().is_empty()
    }
}

impl DataCalls {
    /// The function that is called.
    pub fn model(&self) -> &FunctionModel {
        &self.model
    }

    pub(super) fn model_mut(&mut self) -> &mut FunctionModel {
        &mut self.model
    }

    /// Whether reading the next call may block.
    pub fn is_waiting(&self) -> bool {
        self.files.front().is_some_and(|(_, calls)| calls.is_waiting())
    }

    /// The arguments of the next line.
    pub(super) fn next_arguments(&mut self) -> Result<Option<Line>, Refusal> {
        while let Some((file, calls)) = self.files.front_mut() {
            match calls.next_call() {
                Ok(Some(call)) => {
                    let file = file.clone();
                    let arguments = match arguments(&call) {
                        Ok(arguments) => arguments,
                        Err(bad) => return Err(self.bad(file, bad, None)),
                    };
                    return Ok(Some(Line { file, call, arguments }));
                }
                Ok(None) => drop(self.files.pop_front()),
                Err(bad) => {
                    let file = file.clone();
                    return Err(self.bad(file, bad, None));
                }
            }
        }
        Ok(None)
    }

    fn bad(&self, file: String, bad: BadData, help: Option<String>) -> Refusal {
        let mut refusal = Stopped::Data { file, bad }.refusal(self.model.program.sources());
        if let Some(help) = help {
            refusal.diagnostics =
                refusal.diagnostics.into_iter().map(|found| found.help(help.clone())).collect();
        }
        refusal
    }

    /// Why the call of a line has no result.
    pub(super) fn no_result(&self, file: String, call: &Call, error: CallError) -> NoResult {
        let program = &self.model.program;
        match error {
            CallError::Argument(mismatch) => {
                let parameter = mismatch.place.split(['.', '[']).next().unwrap_or_default().to_string();
                let help = mismatch.help.clone();
                let title = unfit_argument(mismatch, self.model.span()).title;
                NoResult::Refused(self.bad(file, call.bad(&parameter, title), help))
            }
            CallError::Refused(found) => {
                NoResult::Refused(program.refusal(vec![found.reason(place(&file, call))]))
            }
            CallError::Failed(found) => {
                NoResult::Failed(program.refusal(vec![found.reason(place(&file, call))]))
            }
        }
    }
}

impl DataCalls {
    /// Why calls were interpreted although machine code was requested, if that happened.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        self.model.warnings()
    }
}

impl Iterator for DataCalls {
    type Item = Result<Outcome, NoResult>;

    fn next(&mut self) -> Option<Result<Outcome, NoResult>> {
        if self.has_ended {
            return None;
        }
        let found = match self.next_arguments() {
            Ok(None) => None,
            Ok(Some(Line { file, call, arguments })) => {
                let found = self.model.outcome(&arguments);
                Some(found.map_err(|error| self.no_result(file, &call, error)))
            }
            Err(refusal) => Some(Err(NoResult::Refused(refusal))),
        };
        self.has_ended = !matches!(found, Some(Ok(_)));
        found
    }
}

fn place(file: &str, call: &Call) -> String {
    format!("in the call of line {} of {file}", call.place.line)
}

/// The arguments of a call as data.
fn arguments(call: &Call) -> Result<Vec<(String, Datum)>, BadData> {
    let argument = |(name, tree): &(String, Tree)| match datum(tree) {
        Some(datum) => Ok((name.clone(), datum)),
        None => Err(call.bad(name, format!("`{name}` contains null, which is no value of a function"))),
    };
    call.arguments.iter().map(argument).collect()
}

/// A value of the data; `None` if it contains null. The JSON reader limits the depth.
fn datum(tree: &Tree) -> Option<Datum> {
    Some(match tree {
        Tree::Null => return None,
        Tree::Bool(truth) => Datum::Bool(*truth),
        Tree::Int(n) => Datum::Int(*n),
        Tree::Num(x) => Datum::Num(*x),
        Tree::Text(text) => Datum::Text(text.clone()),
        Tree::List(parts) => Datum::List(parts.iter().map(datum).collect::<Option<_>>()?),
        Tree::Object(fields) => {
            let field = |(name, tree): &(String, Tree)| Some((name.clone(), datum(tree)?));
            Datum::Record(fields.iter().map(field).collect::<Option<_>>()?)
        }
    })
}
