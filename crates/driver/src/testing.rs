//! Compares the test benches of a program with the cells that they expect: `expect o: 1 2 3;`.

use eddy_language::codes;
use eddy_language::runs::{self, RunOverrides, TOLERANCE, Tested};
use eddy_syntax::Diagnostic;

use crate::engine::EngineKind;
use crate::program::{Answer, Program};
use crate::refusal::Refusal;

/// How test benches are compared.
#[derive(Clone, Copy, Debug)]
pub struct TestRequest {
    /// The semantics; `None` means the one that each bench selects.
    pub engine: Option<EngineKind>,
    /// The largest difference of numbers, relative to the larger of both and to 1.
    pub tolerance: f64,
}

impl Default for TestRequest {
    fn default() -> TestRequest {
        TestRequest { engine: None, tolerance: TOLERANCE }
    }
}

/// The results of the test benches of a file, in the order of the text.
#[derive(Clone, Debug)]
pub struct TestReport {
    /// The benches that expect cells.
    pub tested: Vec<Tested>,
    /// The number of benches that expect none.
    pub n_without: usize,
}

impl TestReport {
    /// The differences of all benches.
    pub fn failures(&self) -> impl Iterator<Item = &Diagnostic> {
        self.tested.iter().flat_map(|tested| &tested.failures)
    }
}

impl Program {
    /// Runs all test benches that expect cells, and compares them.
    pub fn test(&self, request: &TestRequest) -> Result<Answer<TestReport>, Refusal> {
        let overrides =
            RunOverrides { semantics: request.engine.map(EngineKind::semantics), ..RunOverrides::default() };
        let mut report = TestReport { tested: Vec::new(), n_without: 0 };
        for run in self.tree().runs() {
            let tested =
                runs::test(self.resolved(), run, &overrides, request.tolerance).map_err(|mut wrong| {
                    // Static errors of all test benches are reported together.
                    let others = self.tree().runs().filter_map(|run| runs::check(self.resolved(), run).err());
                    wrong.extend(others.flatten());
                    self.refusal(wrong)
                })?;
            match tested {
                Some(tested) => report.tested.push(tested),
                None => report.n_without += 1,
            }
        }
        let mut warnings = Vec::new();
        if report.tested.is_empty() {
            let title = "nothing to test: no test bench of the file expects anything";
            let end = self.sources().main().end();
            let help = "say what a stream must be: `run NODE { x: 1 2; expect o: 3 4; }`";
            warnings.push(Diagnostic::warning(codes::NOTHING_TO_RUN, end, title).help(help));
        }
        Ok(self.answer(report, warnings))
    }
}
