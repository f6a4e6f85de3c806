//! A program that is ready to run, with a trace.

use std::fmt;
use std::panic::{UnwindSafe, catch_unwind};

use eddy_flow::{Flow, VarId};
use eddy_language::clocks::{Clock, Clocks};
use eddy_language::codes;
use eddy_language::elaborate::{Draft, ElaborationOptions};
use eddy_language::infer::{Hint, Hints};
use eddy_language::prepare::{Checks, Prepared, prepare};
use eddy_language::resolve;
use eddy_language::semantics::Cell;
use eddy_syntax::{Diagnostic, SourceFile, Sources};
use eddy_tensor::Shape;

use super::engines::{NoValue, Rows};
use super::generate::{Choices, ProgramText};
use super::harness::SampleChoices;
use super::trace::{Absences, Numbers, Presence, Trace, value};

/// A program with a trace, or the reason why it has none.
pub struct Case {
    pub program: ProgramText,
    pub outcome: Result<Ready, Refusal>,
    /// Decisions for a law.
    law: Vec<u16>,
}

#[derive(Clone)]
pub struct Ready {
    pub prepared: Prepared,
    pub inputs: Rows,
    pub n_cycles: usize,
}

/// Why a program does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It waits for itself.
    Causality,
    /// An operation has no value on this trace.
    Arithmetic,
    /// Any other error.
    Other(String),
}

impl Case {
    /// A program with clock annotations, and a trace.
    pub fn sample_with_written_clocks(source: &mut SampleChoices<'_>) -> Case {
        let program = source.program.program_with_written_clocks();
        Case::new(program, source, Absences::Some)
    }

    /// A program and a trace.
    pub fn sample(source: &mut SampleChoices<'_>) -> Case {
        let program = source.program.program();
        Case::new(program, source, Absences::Some)
    }

    /// A program with sampled inputs, and a trace.
    pub fn sample_with_sampled_inputs(source: &mut SampleChoices<'_>) -> Case {
        let program = source.program.program_with_sampled_inputs();
        Case::new(program, source, Absences::Some)
    }

    /// A program without `fby back`, and a trace.
    pub fn sample_without_end(source: &mut SampleChoices<'_>) -> Case {
        let program = source.program.program_without_end();
        Case::new(program, source, Absences::Some)
    }

    pub fn new(program: ProgramText, source: &mut SampleChoices<'_>, absences: Absences) -> Case {
        Case::with_numbers(program, source, absences, Numbers::Round)
    }

    /// A program to differentiate, and a trace.
    pub fn smooth(program: ProgramText, source: &mut SampleChoices<'_>) -> Case {
        Case::with_numbers(program, source, Absences::Some, Numbers::Generic)
    }

    /// A program to train, and a trace on which all inputs are present at the same cycles.
    pub fn to_train(program: ProgramText, source: &mut SampleChoices<'_>) -> Case {
        Case::with_numbers(program, source, Absences::Together, Numbers::Generic)
    }

    fn with_numbers(
        program: ProgramText,
        source: &mut SampleChoices<'_>,
        absences: Absences,
        numbers: Numbers,
    ) -> Case {
        let outcome = prepared(&program.text(), program.main().name)
            .and_then(|prepared| Ready::new(prepared, &mut source.trace, absences, numbers));
        Case { program, outcome, law: source.law.to_vec() }
    }

    /// Decisions for a law.
    pub fn decisions(&self) -> Choices<'_> {
        Choices::new(&self.law)
    }

    /// The same program on another trace.
    #[must_use]
    pub fn changed(mut self, change: impl FnOnce(&Ready, &mut Choices<'_>) -> Ready) -> Case {
        self.outcome = self.outcome.map(|ready| change(&ready, &mut Choices::new(&self.law)));
        self
    }
}

/// Prepares a program whose inputs without annotations are scalars. If this panics, the program counts as
/// refused, because samples are made outside of the tested code.
pub fn prepared(text: &str, node: &str) -> Result<Prepared, Refusal> {
    prepared_with(text, node, scalars)
}

/// Prepares a program for inputs with these cells.
pub fn prepared_for(text: &str, node: &str, inputs: &Rows) -> Result<Prepared, Refusal> {
    let shape = |row: &Vec<Cell>| row.iter().find_map(Cell::value).map(|value| value.shape().clone());
    let shapes: Vec<Option<Shape>> = inputs.iter().map(shape).collect();
    prepared_with(text, node, |draft: &Draft| {
        let known =
            draft.inputs.iter().zip(&shapes).filter_map(|(input, shape)| Some((*input, shape.clone()?)));
        hints(draft, known)
    })
}

fn prepared_with(
    text: &str,
    node: &str,
    hints: impl Fn(&Draft) -> Hints + UnwindSafe,
) -> Result<Prepared, Refusal> {
    let prepared = catch_unwind(|| try_to_prepare(text, node, hints));
    prepared.unwrap_or_else(|_| Err(Refusal::Other("the checks panicked".to_string())))
}

fn try_to_prepare(text: &str, node: &str, hints: impl Fn(&Draft) -> Hints) -> Result<Prepared, Refusal> {
    let mut sources = Sources::alone(SourceFile::new("law.eddy", text));
    let checked = resolve(&mut sources).accepted().and_then(|program| {
        let node = program.find(node, sources.main().end())?;
        prepare(&program, &node, &ElaborationOptions::default(), hints, Checks::On)
    });
    checked.map_err(|diagnostics| refusal(&diagnostics))
}

/// Hints that inputs without annotated shapes are scalars.
fn scalars(draft: &Draft) -> Hints {
    let has_shape =
        |var: VarId| draft.types.iter().any(|written| written.var == var && written.shape.is_some());
    let inputs = draft.inputs.iter().filter(|input| !has_shape(**input));
    hints(draft, inputs.map(|input| (*input, Shape::scalar())))
}

fn hints(draft: &Draft, shapes: impl Iterator<Item = (VarId, Shape)>) -> Hints {
    let hint = |(input, says): (VarId, Shape)| Hint { input, says, span: draft.vars[input.index()].span };
    Hints { shapes: shapes.map(hint).collect(), ..Hints::default() }
}

fn refusal(diagnostics: &[Diagnostic]) -> Refusal {
    let first = &diagnostics[0];
    match first.code {
        codes::CAUSALITY => Refusal::Causality,
        code => Refusal::Other(format!("{code} {} at {:?}", first.title, first.primary.span)),
    }
}

impl Ready {
    fn new(
        prepared: Prepared,
        choices: &mut Choices<'_>,
        absences: Absences,
        numbers: Numbers,
    ) -> Result<Ready, Refusal> {
        let n_cycles = match numbers {
            Numbers::Round => choices.below(9),
            Numbers::Generic => 1 + choices.below(7),
        };
        let trace = Trace { flow: &prepared.flow, clocks: &prepared.clocks, n_cycles, like: None, numbers };
        let inputs = trace.rows(choices, absences).map_err(|_| Refusal::Arithmetic)?;
        Ok(Ready { prepared, inputs, n_cycles })
    }

    /// The same program on a trace of the same length.
    pub fn another_trace(&self, choices: &mut Choices<'_>, presence: Presence) -> Result<Ready, NoValue> {
        let like = match presence {
            Presence::AsBefore => Some(self.inputs.clone()),
            Presence::Free => None,
            Presence::Together => {
                let base =
                    (0..self.n_cycles).map(|_| if choices.once_in(3) { Cell::Absent } else { Cell::Present });
                let base: Vec<Cell> = base.collect();
                Some(vec![base; self.inputs.len()])
            }
        };
        let trace = Trace {
            flow: self.flow(),
            clocks: self.clocks(),
            n_cycles: self.n_cycles,
            like,
            numbers: Numbers::Round,
        };
        Ok(self.with_inputs(trace.rows(choices, Absences::Some)?, self.n_cycles))
    }

    pub fn flow(&self) -> &Flow {
        &self.prepared.flow
    }

    pub fn clocks(&self) -> &Clocks {
        &self.prepared.clocks
    }

    pub fn cycle(&self, cycle: usize) -> Vec<Cell> {
        self.inputs.iter().map(|row| row[cycle].clone()).collect()
    }

    /// The number of samplings of a stream's clock.
    pub fn n_samplings(&self, var: VarId) -> usize {
        let mut clock = self.clocks().of(var);
        let mut n = 0;
        while let Clock::On { of, .. } = self.clocks().clock(clock) {
            (clock, n) = (of, n + 1);
        }
        n
    }

    /// The same program on other inputs.
    pub fn with_inputs(&self, inputs: Rows, n_cycles: usize) -> Ready {
        Ready { prepared: self.prepared.clone(), inputs, n_cycles }
    }

    /// Makes some cycles unknown; of some inputs, only the presence stays known. Where the clock of a sampled
    /// input becomes unknown, so does the input.
    pub fn with_unknown_cycles(&self, choices: &mut Choices<'_>) -> Ready {
        let mut inputs = self.inputs.clone();
        let is_sampled: Vec<bool> =
            self.flow().inputs.iter().map(|input| self.n_samplings(*input) > 0).collect();
        for cycle in 0..self.n_cycles {
            let is_whole = choices.once_in(6);
            for (row, is_sampled) in inputs.iter_mut().zip(&is_sampled) {
                if is_whole || *is_sampled {
                    row[cycle] = Cell::Unknown;
                } else if row[cycle].is_present() && choices.once_in(6) {
                    row[cycle] = Cell::Present;
                }
            }
        }
        let trace = Trace {
            flow: self.flow(),
            clocks: self.clocks(),
            n_cycles: self.n_cycles,
            like: None,
            numbers: Numbers::Round,
        };
        // A program that has values still has values where less is known.
        let _ = trace.fill(|input, cycle, _| self.inputs[input][cycle].clone(), &is_sampled, &mut inputs);
        self.with_inputs(inputs, self.n_cycles)
    }

    /// Makes any cells of inputs unknown.
    pub fn with_unknown_cells(&self, choices: &mut Choices<'_>) -> Ready {
        let mut inputs = self.inputs.clone();
        for cell in inputs.iter_mut().flatten() {
            if choices.once_in(3) {
                *cell = Cell::Unknown;
            }
        }
        self.with_inputs(inputs, self.n_cycles)
    }

    /// Makes inputs present where their clocks say absent, and vice versa.
    pub fn with_wrong_cells(&self, choices: &mut Choices<'_>) -> Ready {
        let mut inputs = self.inputs.clone();
        for (input, row) in self.flow().inputs.iter().zip(&mut inputs) {
            for cell in row {
                if choices.once_in(6) {
                    *cell = match cell {
                        Cell::Absent => Cell::Value(value(self.flow(), *input, choices)),
                        _ => Cell::Absent,
                    };
                }
            }
        }
        self.with_inputs(inputs, self.n_cycles)
    }

    /// The trace as a test bench that can be appended to the program.
    pub fn bench(&self, node: &str) -> String {
        let row = |(input, row): (&VarId, &Vec<Cell>)| {
            let name = self.flow().var(*input).name.as_deref().expect("inputs have names");
            let cells: Vec<String> = row.iter().map(ToString::to_string).collect();
            format!(" {name}: {};", cells.join(" "))
        };
        let rows: String = self.flow().inputs.iter().zip(&self.inputs).map(row).collect();
        format!("run {node} chrono for {} {{{rows} }}", self.n_cycles)
    }
}

/// The program and its test bench, as a file.
impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{}", self.program.text())?;
        match &self.outcome {
            Ok(ready) => writeln!(f, "{}", ready.bench(self.program.main().name)),
            Err(refusal) => writeln!(f, "({refusal:?})"),
        }
    }
}
