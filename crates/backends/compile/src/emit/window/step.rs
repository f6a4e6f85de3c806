//! `step` and `flush`: the prelude, the arrivals, and the window if it closes here.

use eddy_imp::Parameter::{In, Out, State};
use eddy_imp::{Argument, Block, Expr, Linkage, Parameter, Place, Stmt, Type};
use eddy_plan::plan::{Cut, Windows};

use super::super::Emitter;
use super::super::flush_late::give_late;
use super::super::iteration::{Loop, before_end, t};
use super::{n, value};

/// The results of `step` for a window that is too long, and for one of a kind that is not compiled.
const TOO_LONG: i64 = i32::MIN as i64;
const NOT_COMPILED: i64 = TOO_LONG + 1;

impl<'a> Emitter<'a> {
    pub(super) fn step_of_windows(&mut self, windows: &'a Windows, max_window: usize) {
        let body = self.arrival(windows, &Loop::new(&windows.prelude), max_window);
        self.procedure("step", Linkage::Public, vec![State, In, Out], body);
    }

    /// Runs an iteration of the prelude, and the window if it closes at this cycle.
    fn arrival(&mut self, windows: &'a Windows, this: &Loop<'a>, max_window: usize) -> Block {
        let mut block = self.start_of_step();
        block.constant("n", Type::Cycle, Place::state("n"));
        block.when(n().ge(max_window), |block| block.leave(TOO_LONG));
        self.prelude(windows, this, &mut block);
        block.push(Stmt::LeaveIfFailed);
        let (lag, unknown) = (windows.prelude.max_lag, this.unknown_at_end());
        let is_trace = matches!(windows.cut, Cut::Trace);
        if lag > 0 && unknown == 0 {
            block.when(t().lt(lag), |block| block.leave(0));
        } else if lag > 0 {
            block.when(!t().ge(lag).and_then(before_end(lag, unknown)), |block| block.leave(0));
        }
        block.store(Place::state("n"), n() + 1);
        if is_trace {
            // The window is the whole trace: `flush` runs it.
            block.leave(0);
            return block;
        }
        block.when(!Expr::var("closes"), |block| block.leave(0));
        block.store(Place::state("n"), 0);
        run_version(windows, "window", vec![n() + 1, Expr::var("alt")], &mut block);
        block
    }

    /// `flush`: the remaining iterations of the prelude, then the window that is open, or is the whole trace.
    pub(super) fn flush_windows(&mut self, windows: &'a Windows, max_window: usize) {
        let is_trace = matches!(windows.cut, Cut::Trace);
        let lag = windows.prelude.max_lag;
        let (prelude, is_known) = (Loop::after_end(&windows.prelude), self.root.may_be_unknown.is_empty());
        let runs_last = is_trace || self.opens && is_known;
        self.flushes = runs_last || prelude.unknown_at_end() < lag;
        if !self.flushes {
            return self.flush_nothing();
        }
        if lag > 0 {
            let body = self.arrival(windows, &prelude, max_window);
            self.procedure("over", Linkage::Private, vec![State, value("end"), Out], body);
        }
        if runs_last {
            self.last_window(windows, is_trace);
        }
        let (mut flush, rows) = (Block::new(), Expr::var("rows"));
        if lag > 0 {
            give_late(lag, &mut flush);
        }
        if lag == 0 {
            return_from("last", Vec::new(), &mut flush);
        } else if runs_last {
            let arguments = vec![Argument::State, Argument::Out(rows.clone())];
            flush.push(Stmt::Run(Some("given".into()), "last".into(), arguments));
            let given = Expr::var("given");
            flush.leave(Expr::choice(given.clone().lt(0), given.clone(), rows + given));
        } else {
            flush.leave(rows);
        }
        self.procedure("flush", Linkage::Public, vec![State, Out], flush);
        self.is_flushed = is_known;
    }

    /// The window that is open when the trace ends, or is the whole trace.
    fn last_window(&mut self, windows: &'a Windows, is_trace: bool) {
        let mut body = Block::new();
        body.constant("n", Type::Cycle, Place::state("n"));
        body.store(Place::state("n"), 0);
        body.when(n().equals(0), |block| block.leave(0));
        if is_trace {
            return_from("window0", vec![n(), 0.into()], &mut body);
        } else {
            run_version(windows, "open", vec![n()], &mut body);
        }
        let parameters: Vec<Parameter> = vec![State, Out];
        self.procedure("last", Linkage::Private, parameters, body);
    }
}

/// Runs the version of the window whose assumption holds.
fn run_version(windows: &Windows, procedure: &str, given: Vec<Expr>, block: &mut Block) {
    for (number, version) in windows.versions.iter().enumerate() {
        let condition = match version.assumes {
            None => true.into(),
            Some((_, true)) => Place::state("all").load(),
            Some((_, false)) => Place::state("none").load(),
        };
        block.when(condition, |block| {
            return_from(&format!("{procedure}{number}"), given.clone(), block);
        });
    }
    if windows.versions.iter().any(|version| version.assumes.is_some()) {
        block.leave(NOT_COMPILED);
    }
}

/// Returns the result of another procedure, which gets the state, these values and the outputs.
fn return_from(procedure: &str, given: Vec<Expr>, block: &mut Block) {
    let given = given.into_iter().map(Argument::Value);
    let arguments = [Argument::State].into_iter().chain(given).chain([Argument::Out(0.into())]).collect();
    block.push(Stmt::Run(Some("result".into()), procedure.into(), arguments));
    block.leave(Expr::var("result"));
}
