//! The test benches and evaluations of a program: `run f { x: 1 2 3; }` and `eval e;`.

use std::sync::Arc;

use eddy_language::chronogram::Chart;
use eddy_language::codes;
use eddy_language::functions::{self, Budget};
use eddy_language::program;
use eddy_language::runs::{self, Ran, RunOverrides};
use eddy_language::tree::{self, Item, RowValue, Run, RunOption, RunOptionKind};
use eddy_syntax::Diagnostic;

use crate::engine::EngineKind;
use crate::functions::runner::{FunctionEngine, FunctionRunner};
use crate::program::{Answer, Program};
use crate::refusal::Refusal;

/// How test benches are run. These settings override those in the file.
#[derive(Clone, Debug, Default)]
pub struct BenchRequest {
    /// The engine. Test benches are small, so `Compiled` simulates them. Functions are compiled by
    /// `Compiled`, and interpreted by the other engines; without a named engine, small evaluations are
    /// interpreted.
    pub engine: Option<EngineKind>,
    /// The seed of random initialisers.
    pub seed: Option<u64>,
    /// The largest number of cycles that may be open at once.
    pub max_window: Option<usize>,
    /// Show the iterates of the fixpoint.
    pub trace: bool,
    /// The limits of all evaluations together.
    pub budget: Budget,
}

/// The results of the test benches and evaluations of a file, in the order of the text.
#[derive(Clone, Debug)]
pub struct FileRun {
    /// One result for each test bench and evaluation that ran.
    pub results: Vec<ItemResult>,
    /// Why an evaluation has no value; nothing after it ran.
    pub failure: Option<Diagnostic>,
}

/// The result of one test bench or evaluation.
#[derive(Clone, Debug)]
pub enum ItemResult {
    /// The result of a `run`; [`Ran::text`] prints it in the form that the bench requests.
    Bench(Ran),
    /// The line of an `eval`.
    Evaluation(String),
}

impl ItemResult {
    /// The text for people; `width` is the width of a table.
    pub fn text(&self, width: Option<usize>) -> String {
        match self {
            ItemResult::Bench(ran) => ran.text(width),
            ItemResult::Evaluation(line) => format!("{line}\n"),
        }
    }
}

impl Program {
    /// Runs all test benches and evaluations.
    pub fn benches(&self, request: &BenchRequest) -> Result<Answer<FileRun>, Refusal> {
        let program = self.resolved();
        let refuse = |diagnostics| self.refusal(diagnostics);
        // Static errors of all functions are reported before anything runs.
        let mut budget = request.budget;
        let functions = functions::lower(program, &mut budget).map_err(refuse)?;
        let (mut ran, mut warnings) = (FileRun { results: Vec::new(), failure: None }, Vec::new());
        let entries = functions.evals.iter().map(|eval| eval.body).collect();
        let engine = request.engine.map(FunctionEngine::of);
        let runner = FunctionRunner::new(self.session(), Arc::clone(&functions.module), entries, engine);
        for (at, item) in self.tree().items.iter().enumerate() {
            match item {
                Item::Run(run) => {
                    let (found, notes) =
                        runs::run(program, run, &request.overrides()).map_err(|mut wrong| {
                            // Static errors of all test benches are reported together.
                            wrong.extend(
                                self.runs().filter_map(|run| runs::check(program, run).err()).flatten(),
                            );
                            self.refusal(wrong)
                        })?;
                    ran.results.push(ItemResult::Bench(found));
                    warnings.extend(notes);
                }
                Item::Eval(_) => {
                    let eval = functions.evals.iter().find(|eval| eval.item == at);
                    let eval = eval.expect("every evaluation was lowered");
                    match runner.run(eval.body, &[], &mut budget) {
                        Ok(values) => ran.results.push(ItemResult::Evaluation(eval.show(&values))),
                        Err(error) => {
                            ran.failure = Some(budget.diagnostic(&error, eval.span));
                            break;
                        }
                    }
                }
                _ => {}
            }
        }
        warnings.extend(runner.warning());
        warnings.extend(self.nothing_to_run());
        Ok(self.answer(ran, warnings))
    }

    pub(crate) fn tree(&self) -> &tree::Program {
        &self.resolved().modules[program::Program::MAIN].tree
    }

    /// All cells of all streams of all test benches, and which cell reads which.
    pub fn charts(&self, request: &BenchRequest) -> Result<Answer<Vec<Chart>>, Refusal> {
        let overrides = request.overrides();
        let charts =
            self.runs().map(|run| runs::chart(self.resolved(), run, &overrides)).collect::<Result<_, _>>();
        let charts = charts.map_err(|diagnostics| self.refusal(diagnostics))?;
        Ok(self.answer(charts, self.nothing_to_run()))
    }

    fn runs(&self) -> impl Iterator<Item = &Run> {
        self.tree().runs()
    }

    /// Warnings about a valid program in which nothing runs.
    fn nothing_to_run(&self) -> Vec<Diagnostic> {
        let has_evaluations = self.tree().items.iter().any(|item| matches!(item, Item::Eval(_)));
        if self.runs().next().is_none() && !has_evaluations {
            let title = "nothing to run: the file has no test bench";
            let end = self.sources().main().end();
            let warning = Diagnostic::warning(codes::NOTHING_TO_RUN, end, title).help(
                "add one, `run NODE { x: 1 2 3; }`, or name a node: `eddy run FILE --node NAME --in DATA`",
            );
            return vec![warning];
        }
        let has_length = |run: &&Run| {
            let is_for = |option: &RunOption| matches!(option.kind, RunOptionKind::For(_));
            run.options.iter().any(is_for)
                || run.rows.iter().any(|row| matches!(row.value, RowValue::Cells(_)))
        };
        let silent = self.runs().filter(|run| !has_length(run)).map(|run| {
            let title = "nothing to run: this test bench has no cycles";
            Diagnostic::warning(codes::NOTHING_TO_RUN, run.node.span, title)
                .help("give it a row of cells, or say how many cycles it has: `for 3`")
        });
        silent.collect()
    }
}

impl BenchRequest {
    fn overrides(&self) -> RunOverrides {
        RunOverrides {
            semantics: self.engine.map(EngineKind::semantics),
            trace: self.trace,
            seed: self.seed,
            max_window: self.max_window,
            width: None,
        }
    }
}
