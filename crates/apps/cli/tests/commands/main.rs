//! The binary `eddy` as users and scripts call it: exit codes, files, data, training, C, and what the
//! documents say of it.
//!
//! One binary for all commands: each test binary is linked by itself, and more of its tests run at once. The
//! file tests (`files.rs`) make their own trials, and the console blocks (`guide.rs`) need another working
//! directory, so these two stay apart.

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
mod pages;
mod run_folders;
#[cfg(unix)]
mod shadow;
mod streaming;
mod train;
mod train_laws;
mod verbatim;
