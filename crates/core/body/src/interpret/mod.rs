//! The reference engine: runs bodies one statement at a time.
//!
//! [`Program`] is a verified module as flat code over slots ([`code`]); [`machine`] runs it with a stack of
//! its own, so that the recursion of a program is bounded by [`Limits::depth`] and not by the stack of this
//! process. Tensors are shared and counted: an `update` of a tensor that no other slot holds happens in
//! place.
//!
//! Errors are precise: statements run in order, and the first that fails ends the run with its place.

mod code;
mod failure;
mod ledger;
mod machine;
mod places;
mod rows;

use eddy_tensor::{Scalar, Value};

use crate::ir::{BodyId, Elem, Module, Type};
use crate::verify::{VerifyError, verify_final};
use code::Code;

pub use failure::{Failure, RunError};

/// A module that can be run.
#[derive(Debug)]
pub struct Program {
    codes: Vec<Code>,
    names: Vec<String>,
    params: Vec<Vec<Type>>,
}

/// The limits of a run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Calls and iterations of all loops together; `None` means no limit.
    pub fuel: Option<u64>,
    /// The largest depth of nested calls.
    pub depth: usize,
    /// Bytes of tensors and tapes that are held at once, with shared ones counted once; `None` means no
    /// limit.
    pub memory: Option<usize>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { fuel: None, depth: 1_000_000, memory: None }
    }
}

impl Program {
    /// Compiles a module without marks.
    pub fn new(module: &Module) -> Result<Program, VerifyError> {
        let types = verify_final(module)?;
        let ids = (0..module.bodies.len()).map(BodyId::new);
        Ok(Program {
            codes: ids.map(|id| code::compile(module, id, types.of(id))).collect(),
            names: module.bodies.iter().map(|body| body.name.clone()).collect(),
            params: module
                .bodies
                .iter()
                .map(|body| body.params.iter().map(|param| param.ty).collect())
                .collect(),
        })
    }

    /// The results of a body without accumulators at these arguments. Panics if arguments have other types
    /// than the parameters.
    pub fn run(&self, body: BodyId, arguments: &[Value], limits: &Limits) -> Result<Vec<Value>, RunError> {
        self.run_counting(body, arguments, limits).0
    }

    /// The same, and the fuel that was spent: several runs can share one budget.
    pub fn run_counting(
        &self,
        body: BodyId,
        arguments: &[Value],
        limits: &Limits,
    ) -> (Result<Vec<Value>, RunError>, u64) {
        let params = &self.params[body.index()];
        assert_eq!(params.len(), arguments.len(), "arguments of `{}`", self.names[body.index()]);
        for (ty, argument) in params.iter().zip(arguments) {
            let is_right = match ty.elem {
                Elem::Bool => argument.scalar() == Scalar::Bool,
                Elem::Num => argument.scalar() == Scalar::Num,
                Elem::Int | Elem::Enum(_) => argument.scalar() == Scalar::Int,
                Elem::Tape => false,
            };
            let name = &self.names[body.index()];
            assert!(
                is_right && argument.shape().len() == ty.rank,
                "an argument of `{name}` has another type"
            );
        }
        machine::run(self, body, arguments, limits)
    }
}
