//! Programs for the laws, as text: closed, and in the typed languages well typed by construction.

pub mod lam;
pub mod references;
pub mod simple;
pub mod systemf;
