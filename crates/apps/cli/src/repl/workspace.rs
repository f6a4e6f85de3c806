//! What was typed so far, and the program that it makes.
//!
//! The equations are a node whose inputs are the rows of cells that were given. A step runs a bench of that
//! node from the first cycle, as long as it has become, and prints the rows that are new or known by now: the
//! same cells as those of a run as a whole, also if the equations look ahead.

use std::fmt::Write as _;
use std::sync::Arc;

use eddy_driver::benches::ItemResult;
use eddy_driver::program::MemoryReport;
use eddy_driver::{BenchRequest, Deaf, Program, Refusal};
use eddy_language::runs::Found;

use crate::languages::reactive::settings;
use crate::report::Form;

/// The node of the equations, with primes if there is another one of this name.
const NODE: &str = "repl";

/// What was typed so far.
pub struct Workspace {
    form: Form,
    session: eddy_driver::Session,
    declarations: Vec<String>,
    /// The equations, with the names that they define.
    equations: Vec<(Vec<String>, String)>,
    /// The inputs with their cells.
    inputs: Vec<(String, String)>,
    n_cycles: usize,
    /// The lines of the cycles so far.
    shown: Vec<String>,
}

impl Workspace {
    pub fn new(form: Form) -> Workspace {
        let settings = settings(None, eddy_driver::Limits::new(None, None));
        let session = eddy_driver::Session::new(settings, Arc::new(Deaf));
        Workspace {
            form,
            session,
            declarations: Vec::new(),
            equations: Vec::new(),
            inputs: Vec::new(),
            n_cycles: 0,
            shown: Vec::new(),
        }
    }

    /// Names for completion.
    pub fn names(&self) -> Vec<String> {
        let equations = self.equations.iter().flat_map(|(names, _)| names.clone());
        let inputs = self.inputs.iter().map(|(name, _)| name.clone());
        let declared = self.declarations.iter().flat_map(|text| {
            let after = |word: &str| {
                let rest = text.split_whitespace().skip_while(move |other| *other != word).nth(1);
                rest.map(|rest| rest.split(['(', '[', '=', ';']).next().unwrap_or_default().to_string())
            };
            ["node", "fn", "type"].into_iter().filter_map(after).collect::<Vec<_>>()
        });
        equations.chain(inputs).chain(declared).collect()
    }

    /// Adds a declaration; returns whether it is right.
    pub fn declare(&mut self, text: &str) -> bool {
        self.declarations.push(text.to_string());
        let is_right = self.checked();
        if !is_right {
            self.declarations.pop();
        }
        is_right
    }

    /// Gives an input its next cells.
    pub fn give(&mut self, input: &str, cells: &str) -> bool {
        let before = self.inputs.clone();
        match self.inputs.iter_mut().find(|(name, _)| name == input) {
            Some((_, known)) => {
                known.push(' ');
                known.push_str(cells);
            }
            None => self.inputs.push((input.to_string(), cells.to_string())),
        }
        let is_right = self.checked();
        if !is_right {
            self.inputs = before;
        }
        is_right
    }

    /// Adds an equation, in place of those that define one of these names.
    pub fn define(&mut self, names: Vec<String>, text: String) -> bool {
        let before = self.equations.clone();
        self.equations.retain(|(others, _)| !others.iter().any(|other| names.contains(other)));
        self.equations.push((names, text));
        let is_right = self.checked();
        if is_right {
            // The cells of earlier cycles are those of the new equations.
            self.shown.clear();
        } else {
            self.equations = before;
        }
        is_right
    }

    /// Removes an equation or an input.
    pub fn forget(&mut self, name: &str) -> bool {
        let before = (self.equations.clone(), self.inputs.clone());
        self.equations.retain(|(names, _)| !names.iter().any(|other| other == name));
        self.inputs.retain(|(other, _)| other != name);
        if (self.equations.len(), self.inputs.len()) == (before.0.len(), before.1.len()) {
            self.form.failure("line", &format!("there is no equation and no input `{name}`"));
            return false;
        }
        let is_right = self.checked();
        if !is_right {
            (self.equations, self.inputs) = before;
        }
        is_right
    }

    pub fn restart(&mut self) {
        self.n_cycles = 0;
        self.shown.clear();
    }

    pub fn clear(&mut self) {
        *self = Workspace::new(self.form);
    }

    /// What was typed so far.
    pub fn list(&self) -> String {
        let mut text = String::new();
        for declaration in &self.declarations {
            text.extend([declaration, "\n"]);
        }
        for (_, equation) in &self.equations {
            text.extend([equation, "\n"]);
        }
        for (input, cells) in &self.inputs {
            text.extend([input, ": ", cells, "\n"]);
        }
        let _ = writeln!(text, "{} cycles have run", self.n_cycles);
        text
    }

    /// Types, clocks and look-ahead.
    pub fn check(&self) -> Option<String> {
        let checked = self.load(&self.program("")).and_then(|program| program.check(MemoryReport::LeftOut));
        self.reported(checked).map(|answer| answer.value.to_string())
    }

    /// The value of an expression.
    pub fn evaluate(&self, expression: &str) -> Option<String> {
        let text = self.program(&format!("eval {expression};\n"));
        let results = self.run(&text)?;
        let lines = results.iter().map(|result| match result {
            ItemResult::Evaluation(line) => format!("{line}\n"),
            ItemResult::Bench(_) => String::new(),
        });
        Some(lines.collect())
    }

    /// Runs the next cycles, and prints those that are new or known by now.
    pub fn step(&mut self, n: usize) -> Option<String> {
        if self.equations.is_empty() {
            return Some("there are no equations yet: write one, such as `y = x + 1`\n".to_string());
        }
        let n_cycles = self.n_cycles + n;
        let rows: String = self.inputs.iter().flat_map(|(input, cells)| [input, ": ", cells, "; "]).collect();
        let bench = format!("run {} for {n_cycles} {{ {rows}}}\n", self.node());
        let results = self.run(&self.program(&bench))?;
        let lines = results.into_iter().rev().find_map(|result| match result {
            ItemResult::Bench(ran) if matches!(ran.found, Found::Cells { .. }) => Some(ran.text(None)),
            _ => None,
        })?;
        let lines: Vec<String> = lines.lines().map(str::to_string).collect();
        let mut text = String::new();
        for (cycle, line) in lines.iter().enumerate() {
            if self.shown.get(cycle) != Some(line) {
                let _ = writeln!(text, "{cycle:>4}  {line}");
            }
        }
        (self.n_cycles, self.shown) = (n_cycles, lines);
        Some(text)
    }

    fn node(&self) -> String {
        let mut name = NODE.to_string();
        while self.declarations.iter().any(|text| text.contains(&format!("node {name}("))) {
            name.push('\'');
        }
        name
    }

    /// The program with some more text.
    fn program(&self, more: &str) -> String {
        let mut text: String = self.declarations.iter().flat_map(|text| [text, "\n\n"]).collect();
        if !self.equations.is_empty() {
            let inputs: Vec<&str> = self.inputs.iter().map(|(input, _)| input.as_str()).collect();
            let outputs: Vec<&str> =
                self.equations.iter().flat_map(|(names, _)| names.iter().map(String::as_str)).collect();
            let _ = writeln!(text, "node {}({}) -> ({})", self.node(), inputs.join(", "), outputs.join(", "));
            for (_, equation) in &self.equations {
                text.extend(["  ", equation, "\n"]);
            }
        }
        text + more
    }

    fn load(&self, text: &str) -> Result<Program, Refusal> {
        self.session.load_text("<repl>", text)
    }

    /// Whether the program is right so far; otherwise reports why.
    fn checked(&self) -> bool {
        let checked = self.load(&self.program("")).and_then(|program| program.check(MemoryReport::LeftOut));
        self.reported(checked).is_some()
    }

    fn run(&self, text: &str) -> Option<Vec<ItemResult>> {
        let ran = self.load(text).and_then(|program| {
            let answer = program.benches(&BenchRequest::default())?;
            match answer.value.failure {
                None => Ok(answer.value.results),
                Some(failure) => {
                    Err(Refusal { diagnostics: vec![failure], sources: program.sources().clone() })
                }
            }
        });
        self.reported(ran)
    }

    /// The answer; `None` after a refusal, which is reported.
    fn reported<T>(&self, answer: Result<T, Refusal>) -> Option<T> {
        answer.map_err(|Refusal { diagnostics, sources }| self.form.diagnostics(&sources, &diagnostics)).ok()
    }
}
