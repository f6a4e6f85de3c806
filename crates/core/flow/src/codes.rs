//! The code of a diagnostic that several passes over flow report. Each pass also has its own.

eddy_syntax::codes! {
    pages "../../../../docs/errors/";
    /// A program or its data cannot run as a batch, or code that trains on a batch is differentiated.
    BATCH = "E0905", Batch;
}
