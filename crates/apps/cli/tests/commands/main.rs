//! The binary `eddy` as users and scripts call it: exit codes, files, data, training, C, and the documents
//! about it.
//!
//! One test binary for all commands: linking a binary takes long, and its tests run in parallel. The file
//! tests (`files.rs`) generate their own test cases, and the console blocks (`guide.rs`) need another working
//! directory, so these two are separate.

mod answers;
mod build;
mod compare;
#[cfg(unix)]
mod compilers;
mod contract;
mod data;
mod examples;
mod folder;
mod functions;
mod gradbench;
mod kernels;
mod limits;
mod metrics;
mod pages;
mod projects;
mod run_folders;
#[cfg(unix)]
mod shadow;
mod streaming;
mod tables;
mod train;
mod train_laws;
mod verbatim;
