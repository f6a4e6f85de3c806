//! The command `gradbench`: Eddy as a tool of the benchmark GradBench.
//!
//! The benchmark sends one JSON object per line, and each is answered by one line with the same `id`:
//!
//! ```text
//! {"id":0,"kind":"start","eval":"hello"}                           {"id":0,"tool":"eddy"}
//! {"id":1,"kind":"define","module":"hello"}                        {"id":1,"success":true,"timings":[..]}
//! {"id":2,"kind":"evaluate","module":"hello","function":"square",
//!  "input":3.0}                                                    {"id":2,"success":true,"output":9,..}
//! {"id":3,"kind":"analysis","of":2,"valid":true}                   {"id":3}
//! ```
//!
//! A module is a program ([`programs`]), and a function is one of its functions, whose parameters are the
//! members of the input. The times of `evaluate` exclude reading, preparing and printing. A message of any
//! other kind is answered with its `id` only. The command ends at the end of its input.

mod evaluation;
mod programs;

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::time::{Duration, Instant};

use eddy_driver::{FunctionEngine, FunctionModel, FunctionRequest, Program, Refusal};
use eddy_formats::packed::Packed;
use eddy_syntax::render::short;
use serde_json::{Value as Json, json};

use crate::commands::GradbenchArgs;
use crate::status::Status;
use crate::stop::Stop;
use evaluation::Evaluated;
use programs::Programs;

/// `eddy gradbench`.
pub fn serve(args: &GradbenchArgs) -> Result<Status, Stop> {
    let mut tool = Tool { programs: Programs::new(args.programs.clone()), modules: BTreeMap::new() };
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        // A read error ends the input.
        match input.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return Ok(Status::Answered),
            Ok(_) if line.trim_ascii().is_empty() => continue,
            Ok(_) => {}
        }
        let mut answer = tool.answer(&line);
        answer.push('\n');
        output.write_all(answer.as_bytes())?;
        output.flush()?;
    }
}

/// The modules defined so far, with the functions that were evaluated.
struct Tool {
    programs: Programs,
    modules: BTreeMap<String, Module>,
}

struct Module {
    program: Program,
    functions: BTreeMap<String, FunctionModel>,
}

impl Tool {
    fn answer(&mut self, line: &[u8]) -> String {
        let message = match Packed::read(line) {
            Ok(message) => message,
            Err(error) => return failure(&Json::Null, &format!("the message is not JSON: {error}")),
        };
        let id = match message.get("id") {
            Some(Packed::Int(id)) => json!(id),
            _ => Json::Null,
        };
        match text(&message, "kind") {
            Some("start") => json!({ "id": id, "tool": "eddy" }).to_string(),
            Some("define") => {
                let start = Instant::now();
                match self.define(text(&message, "module").unwrap_or_default()) {
                    Ok(()) => {
                        let timings = [timing("define", start.elapsed())];
                        json!({ "id": id, "success": true, "timings": timings }).to_string()
                    }
                    Err(error) => failure(&id, &error),
                }
            }
            Some("evaluate") => match self.evaluate(message) {
                Ok(evaluated) => success(&id, &evaluated),
                Err(error) => failure(&id, &error),
            },
            _ => json!({ "id": id }).to_string(),
        }
    }

    fn define(&mut self, module: &str) -> Result<(), String> {
        let program = self.programs.load(module)?;
        self.modules.insert(module.to_string(), Module { program, functions: BTreeMap::new() });
        Ok(())
    }

    fn evaluate(&mut self, message: Packed) -> Result<Evaluated, String> {
        let module = text(&message, "module").unwrap_or_default().to_string();
        let function = text(&message, "function").unwrap_or_default().to_string();
        let module = self.modules.get_mut(&module).ok_or_else(|| format!("`{module}` is not defined"))?;
        let Packed::Object(members) = message else { unreachable!("it has a kind") };
        let input = members.into_iter().find(|(name, _)| name == "input").map(|(_, input)| input);
        let input = input.ok_or("there is no `input`")?;
        evaluation::evaluate(module.function(function)?, input)
    }
}

impl Module {
    fn function(&mut self, name: String) -> Result<&mut FunctionModel, String> {
        if !self.functions.contains_key(&name) {
            let engine = Some(FunctionEngine::Compiled);
            let request = FunctionRequest { engine, ..FunctionRequest::new(&name) };
            let model = self.program.function(request).map_err(|refusal| reason(&refusal))?;
            self.functions.insert(name.clone(), model);
        }
        Ok(self.functions.get_mut(&name).expect("it is there now"))
    }
}

fn text<'a>(message: &'a Packed, name: &str) -> Option<&'a str> {
    match message.get(name) {
        Some(Packed::Text(text)) => Some(text),
        _ => None,
    }
}

fn failure(id: &Json, error: &str) -> String {
    json!({ "id": id, "success": false, "error": error }).to_string()
}

/// Builds the text directly: the output is JSON already, may be long, and need not be parsed again.
fn success(id: &Json, Evaluated { output, preparation, runs }: &Evaluated) -> String {
    let runs = runs.iter().map(|run| timing("evaluate", *run));
    let timings: Vec<Json> = std::iter::once(timing("prepare", *preparation)).chain(runs).collect();
    let timings = Json::from(timings);
    format!("{{\"id\":{id},\"success\":true,\"output\":{output},\"timings\":{timings}}}")
}

fn timing(name: &str, time: Duration) -> Json {
    json!({ "name": name, "nanoseconds": u64::try_from(time.as_nanos()).unwrap_or(u64::MAX) })
}

/// All messages of a refusal, one per line.
fn reason(refusal: &Refusal) -> String {
    let lines = refusal.diagnostics.iter().map(|diagnostic| short(diagnostic, &refusal.sources));
    lines.collect::<Vec<_>>().join("\n")
}
