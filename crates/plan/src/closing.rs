//! The derived end of windows (section 8).

use eddy_flow::VarId;

use crate::plan::Closing;
use crate::region::{Context, Draft};
use crate::system::System;

impl Closing {
    /// The inputs and results of the prelude that the scan reads.
    pub(crate) fn reads(&self, _system: &System<'_>) -> Vec<VarId> {
        Vec::new()
    }
}

/// The predicate that ends windows, if there is one that may hold.
pub fn closing(_context: &Context<'_>, _outputs: &[VarId], _draft: &Draft) -> Option<Closing> {
    None
}
