//! The scan.
use eddy_flow::{Flow, VarId};
use eddy_tensor::{Op, Value};
use rustc_hash::FxHashMap;

use crate::execute::{Cell, Stop};
use crate::plan::Closing;

#[derive(Default)]
pub struct Scan;

impl Scan {
    pub fn closes(
        &mut self,
        _: &Flow,
        _: &[Option<&Op>],
        _: &FxHashMap<VarId, Value>,
        _: &Closing,
        _: &FxHashMap<VarId, Cell>,
    ) -> Result<bool, Stop> {
        Ok(false)
    }
}
