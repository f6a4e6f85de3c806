//! Counts the bytes of tensors that a run holds.
//!
//! Tensors are shared between slots, frames and tapes. Each is counted once: the ledger counts the places
//! that hold it by the address of the tensor, which does not change while a place holds it. Runs without a
//! limit keep no ledger.

use std::sync::Arc;

use eddy_tensor::{Data, Tensor, Value};
use rustc_hash::FxHashMap;

use super::failure::Failure;

#[derive(Debug)]
pub(super) struct Ledger {
    limit: usize,
    n_bytes: usize,
    n_holders: FxHashMap<*const Tensor, usize>,
}

impl Ledger {
    pub fn new(limit: usize) -> Ledger {
        Ledger { limit, n_bytes: 0, n_holders: FxHashMap::default() }
    }

    /// One more place holds this value.
    pub fn hold(&mut self, value: &Value) -> Result<(), Failure> {
        let Value::Tensor(tensor) = value else { return Ok(()) };
        let n_holders = self.n_holders.entry(Arc::as_ptr(tensor)).or_insert(0);
        *n_holders += 1;
        if *n_holders == 1 { self.add(n_bytes(tensor)) } else { Ok(()) }
    }

    /// One place less holds this value.
    pub fn release(&mut self, value: &Value) {
        let Value::Tensor(tensor) = value else { return };
        let address = Arc::as_ptr(tensor);
        let n_holders = self.n_holders.get_mut(&address).expect("the value was held");
        *n_holders -= 1;
        if *n_holders == 0 {
            self.n_holders.remove(&address);
            self.n_bytes -= n_bytes(tensor);
        }
    }

    /// Adds bytes that belong to no tensor yet, such as rows that a loop collects.
    pub fn add(&mut self, n_bytes: usize) -> Result<(), Failure> {
        self.n_bytes += n_bytes;
        if self.n_bytes > self.limit { Err(Failure::Memory) } else { Ok(()) }
    }

    pub fn subtract(&mut self, n_bytes: usize) {
        self.n_bytes -= n_bytes;
    }
}

fn n_bytes(tensor: &Tensor) -> usize {
    match tensor.data() {
        Data::Bool(xs) => xs.len(),
        Data::Num32(xs) => 4 * xs.len(),
        other => 8 * other.len(),
    }
}
