//! The codes of diagnostics that several passes over flow report. Each pass also has its own.

eddy_syntax::codes! {
    pages "../../../../docs/errors/";
    /// Streams on different clocks in one operation.
    CLOCK = "E0401", Clocks;
    /// A program or its data cannot run as a batch, or code that trains on a batch is differentiated.
    BATCH = "E0905", Batch;
}
