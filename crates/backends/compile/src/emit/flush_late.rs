//! `flush` of programs with lags: the work that remains when the inputs end.
//!
//! The loop continues for as many iterations as the lag of its outputs, for streams whose cycle is not past
//! the end; more iterations would emit nothing and have no space. A delay into the future has its initial
//! value at the last cycle. Streams that depend on a `post` may be unknown at the last cycles: these cycles
//! are omitted, all others are emitted.

use eddy_imp::Parameter::{Out, State};
use eddy_imp::{Argument, Block, Expr, Linkage, Parameter, Place, Stmt, Type};
use eddy_plan::plan::Lagged;

use super::Emitter;
use super::iteration::{Loop, before_end, t};

impl<'a> Emitter<'a> {
    /// `flush` of one forward loop.
    pub(super) fn flush_late(&mut self, lagged: &'a Lagged) {
        let this = Loop::after_end(lagged);
        let (z, unknown) = (lagged.look_ahead, this.unknown_at_end());
        self.left_out = unknown;
        if unknown >= z {
            // If outputs have no lag, all have been emitted.
            self.is_flushed = z == 0;
            return self.flush_nothing();
        }
        let mut body = Block::new();
        body.constant("t", Type::Cycle, Place::state("t"));
        body.append(self.iteration(&this));
        body.store(Place::state("t"), t() + 1);
        body.push(Stmt::LeaveIfFailed);
        body.leave(Expr::choice(t().ge(z).and_then(before_end(z, unknown)), 1, 0));
        self.max_outputs = self.max_outputs.max(z);
        let parameters = vec![State, Parameter::Value("end".into(), Type::Cycle), Out];
        self.procedure("over", Linkage::Private, parameters, body);
        let mut flush = Block::new();
        give_late(z, &mut flush);
        flush.leave(Expr::var("rows"));
        self.procedure("flush", Linkage::Public, vec![State, Out], flush);
        self.flushes = true;
        self.is_flushed = unknown == 0;
    }
}

/// Runs `over` n times; `rows` counts the emitted outputs.
pub(super) fn give_late(n: usize, block: &mut Block) {
    block.constant("end", Type::Cycle, Place::state("t"));
    block.variable("rows", Type::Status, 0);
    block.count("k", Type::Cycle, 0, n, |block| {
        let arguments =
            vec![Argument::State, Argument::Value(Expr::var("end")), Argument::Out(Expr::var("rows"))];
        block.push(Stmt::Run(Some("given".into()), "over".into(), arguments));
        block.when(Expr::var("given").lt(0), |block| block.leave(Expr::var("given")));
        block.assign("rows", Expr::var("rows") + Expr::var("given"));
    });
}
