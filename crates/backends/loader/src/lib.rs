//! Opens a compiled program and calls it: the one crate that uses `unsafe`.
//!
//! `eddy-compile` writes C, the C compiler makes a shared object of it, and here its functions become methods
//! on bytes:
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
//! * [`aligned_bytes`]: bytes that are aligned as the structs of C want it.
//! * [`library`]: an object, checked and opened.
//! * [`instance`]: a state and the functions on it.
//! * [`functions`]: compiled functions, which compute in an arena.
//! * [`threads`]: runs pieces of large work at the same time, with threads that belong to a handle.
//!
//! # What is checked, and what is trusted
//!
//! Rust cannot look into an object file, so calling one rests on a trust that this crate states and keeps
//! small. Checked here, at each opening or call:
//!
//! * the file is the one that was built: its blake3 hash is the one that was recorded (against accidents, not
//!   against someone who can write to the user's files, and could as well replace `eddy`);
//! * all that it refers to is there when it is opened, not looked for in the middle of a call;
//! * pointers are aligned, never null, and lead to as many bytes as the function may read and write.
//!
//! Trusted, because `eddy-compile` wrote the code:
//!
//! * the functions have the types above and keep to the sizes that [`Sizes`] tells: the C text asserts them
//!   when it is compiled;
//! * they keep nothing from one call to the next but the state, and what `NAME_parallel` was given, so a
//!   state may go from thread to thread;
//! * pieces of large work, which they hand to threads, write to different places and read nothing that
//!   another one writes;
//! * given a state that came from `reset`, they do not leave their arrays. So whoever writes into a state or
//!   into inputs ([`Instance::state_mut`]) writes whole values into the fields of the layout: a flag is 0 or
//!   1, and what counts cycles is left alone.

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
