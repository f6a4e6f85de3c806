//! Trains a node on data (section 9.7).
//!
//! An epoch is one pass over the data, as one trace. Parameters and the state of their optimisers are carried
//! from epoch to epoch; all other state, such as that of a recurrent network, is reset.
//!
//! * [`source`], [`reading`]: data before and while they are read; [`survey`] checks them, [`skipping`]
//!   leaves out rows with missing values, [`filling`] adds the signals that they lack, [`split`] divides
//!   them.
//! * [`dataset`]: the rows, the sequences that they make, and the order in which they come.
//! * [`batches`]: groups of them that are learnt from at once; [`padding`]: groups of different lengths.
//! * [`request`]: requests and results. [`mod@trainer`]: epochs and validation; [`pass`]: one pass over some
//!   rows.
//! * [`measuring`]: metrics, and the answers beside the wanted values.
//! * [`registers`]: the state that outlives an epoch.
//! * [`unknown`]: rows without a known loss; [`waits`]: what they wait for; [`delay`]: how late gradients
//!   must be so that nothing waits.
//! * [`divergence`]: where the first NaN or infinity arose; [`growth`]: losses that grow before that.

mod batches;
mod dataset;
mod delay;
mod divergence;
mod filling;
mod growth;
mod measuring;
mod padding;
mod pass;
mod reading;
mod registers;
mod request;
mod signals;
mod skipping;
mod source;
mod split;
mod survey;
mod trainer;
mod unknown;
mod waits;

use eddy_language::codes;
use eddy_language::program::{self, Base, Callable, TrainId};
use eddy_syntax::{Diagnostic, Sources};

use crate::data::Data;
use crate::program::Program;
use crate::refusal::Refusal;
pub use request::{BatchLoss, Comparison, Epoch, Measured, Progress, TrainPlan, TrainRequest};
pub use split::Split;
pub use trainer::Trainer;

impl Program {
    /// Prepares a node for training on data, and for validation on other data.
    pub fn trainer(
        &self,
        request: &TrainRequest,
        data: Vec<Data>,
        validation: Vec<Data>,
    ) -> Result<Trainer, Refusal> {
        let mut sources = self.sources().clone();
        let made = node(self.resolved(), request, &sources)
            .and_then(|callable| Trainer::new(self, callable, &mut sources, request, data, validation));
        made.map_err(|diagnostics| Refusal { diagnostics, sources })
    }
}

/// The named node, or the only one that is declared.
fn node(
    program: &program::Program,
    request: &TrainRequest,
    sources: &Sources,
) -> Result<Callable, Vec<Diagnostic>> {
    if let Some(name) = &request.node {
        return program.find_named(name).map_err(|diagnostic| vec![*diagnostic]);
    }
    let own = |train: &TrainId| program.train(*train).module == program::Program::MAIN;
    let trains: Vec<TrainId> = (0..program.trains.len()).map(TrainId::new).filter(own).collect();
    if let [train] = trains.as_slice() {
        return Ok(Base::Train(*train).into());
    }
    let end = sources.main().end();
    let diagnostic = if trains.is_empty() {
        Diagnostic::error(
            codes::NOTHING_TO_TRAIN,
            end,
            "nothing to train: the file declares no training node",
        )
        .help("add one, such as `train N as learn loss mse optim sgd(0.1);`")
    } else {
        let names: Vec<&str> = trains.iter().map(|train| program.train(*train).name.as_str()).collect();
        let title = format!("several nodes can be trained: {}", names.join(", "));
        Diagnostic::error(codes::NOTHING_TO_TRAIN, end, title).help("name one: `--node NAME`")
    };
    Err(vec![diagnostic])
}
