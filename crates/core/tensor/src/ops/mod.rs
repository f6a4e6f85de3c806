//! The entries of the operation table with their tests, one file per family.

pub(crate) mod arithmetic;
pub(crate) mod functions;
pub(crate) mod logic;

pub(crate) mod conversions;
pub(crate) mod rows;
pub(crate) mod stretching;
pub(crate) mod structure;
pub(crate) mod windows;

pub(crate) mod convolution;
pub(crate) mod linear;
pub(crate) mod reductions;
