//! Opens a compiled program and calls it: the one crate that uses `unsafe`.
//!
//! `eddy-compile` writes C, the C compiler makes a shared object of it, and this crate turns the functions of
//! the object into methods on bytes:
//!
//! ```c
//! void    NAME_reset(NAME_state *self);
//! void    NAME_reset_state(NAME_state *self);
//! // Returns the number of outputs that it wrote, or a negative number after an error.
//! int32_t NAME_step(NAME_state *self, const NAME_in *in, NAME_out *out);
//! int32_t NAME_flush(NAME_state *self, NAME_out *out);
//! // Present only if the program has loops for several threads.
//! void    NAME_parallel(EddyParallel run);
//! ```
//!
//! * [`aligned_bytes`]: bytes aligned for C structs.
//! * [`library`]: an object, checked and opened.
//! * [`instance`]: a state and the functions on it.
//! * [`functions`]: compiled functions, which allocate in an arena.
//! * [`threads`]: runs pieces of large work in parallel, on threads that belong to a handle.
//!
//! # What is checked, and what is trusted
//!
//! Rust cannot inspect an object file, so a call into it relies on assumptions. This crate states them and
//! keeps them few. It checks, at each opening or call:
//!
//! * the file is the one that was built: its blake3 hash equals the recorded one (this protects against
//!   accidents, not against an attacker who can write to the user's files and could replace `eddy` as well);
//! * all symbols that the object refers to are resolved when it is opened, not during a call;
//! * pointers are aligned, are never null, and point to as many bytes as the function may read and write.
//!
//! Trusted, because `eddy-compile` wrote the code:
//!
//! * the functions have the types above and the sizes in [`Sizes`]: the C text asserts them when it is
//!   compiled;
//! * between calls they keep only the state and the pointer given to `NAME_parallel`, so a state may move
//!   from thread to thread;
//! * pieces of large work, which the functions hand to threads, write to different places, and no piece reads
//!   what another one writes;
//! * given a state that came from `reset`, they stay within their arrays. So a caller that writes into a
//!   state or into inputs ([`Instance::state_mut`]) must write whole values into the fields of the layout: a
//!   flag is 0 or 1, and cycle counters must not be changed.

pub mod aligned_bytes;
pub mod functions;
pub mod instance;
pub mod library;
pub mod threads;

pub use aligned_bytes::AlignedBytes;
pub use functions::Functions;
pub use instance::Instance;
pub use library::{Function, Library, LoadError, Sizes};
pub use threads::Threads;
