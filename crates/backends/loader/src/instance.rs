//! A state and the program's functions on it.

use std::fmt;
use std::sync::Arc;

use crate::aligned_bytes::AlignedBytes;
use crate::library::{Function, Library};
use crate::threads::Threads;

/// A running program. Instances of one library are independent.
pub struct Instance {
    library: Library,
    state: AlignedBytes,
}

/// Structs of inputs and outputs contain numbers of at most eight bytes.
const ALIGNMENT: usize = 8;

impl Instance {
    /// A new instance: a zeroed state, then `reset`.
    pub fn new(library: &Library) -> Instance {
        let state = AlignedBytes::zeroed(library.sizes().state);
        let mut instance = Instance { library: library.clone(), state };
        instance.reset();
        instance
    }

    pub fn library(&self) -> &Library {
        &self.library
    }

    /// From now on, these threads compute large work.
    pub fn use_threads(&mut self, threads: &Threads) {
        self.library = self.library.with_threads(threads);
    }

    /// The bytes of the state.
    pub fn state(&self) -> &[u8] {
        &self.state
    }

    /// The bytes of the state, to be written field by field; see the [crate documentation](crate) for what
    /// may be written.
    pub fn state_mut(&mut self) -> &mut [u8] {
        &mut self.state
    }

    /// Resets the state, including the parameters, to the initial values.
    pub fn reset(&mut self) {
        let reset = self.library.opened.reset;
        let _entered = self.library.enter();
        // SAFETY: the state has the size and alignment of the struct and is borrowed mutably, so it has no
        // alias.
        unsafe { reset(self.state.as_mut_ptr().cast()) }
    }

    /// Resets the state but keeps the parameters.
    pub fn reset_state(&mut self) {
        let reset_state = self.library.opened.reset_state;
        let _entered = self.library.enter();
        // SAFETY: as in `reset`.
        unsafe { reset_state(self.state.as_mut_ptr().cast()) }
    }

    /// Calls another function of the same program.
    ///
    /// # Panics
    ///
    /// If it is a function of another program.
    pub fn call(&mut self, function: &Function) {
        assert!(
            Arc::ptr_eq(&function.opened, &self.library.opened),
            "the function belongs to another program"
        );
        let _entered = self.library.enter();
        // SAFETY: it is a function of this program, on its state; otherwise as in `reset`.
        unsafe { (function.call)(self.state.as_mut_ptr().cast()) }
    }

    /// Runs one cycle. Returns the number of structs written to `output`; a negative number identifies the
    /// equation that failed.
    ///
    /// # Panics
    ///
    /// If `input` is not exactly one struct, if `output` is not an array of structs with room for
    /// [`Sizes::max_outputs`], or if one of them is not aligned to eight bytes. [`Library::input`] and
    /// [`Library::outputs`] allocate buffers that fit.
    ///
    /// [`Sizes::max_outputs`]: crate::Sizes::max_outputs
    pub fn step(&mut self, input: &[u8], output: &mut [u8]) -> i32 {
        let sizes = self.library.sizes();
        assert_eq!(input.len(), sizes.input, "the size of the struct of inputs");
        assert!(is_aligned(input), "inputs are aligned");
        self.check_outputs(output);
        let step = self.library.opened.step;
        let _entered = self.library.enter();
        let (state, input, output) =
            (self.state.as_mut_ptr().cast(), input.as_ptr().cast(), output.as_mut_ptr().cast());
        // SAFETY: the state as in `reset`; the input is one aligned struct, and the outputs are aligned with
        // room for as many as the function writes. The borrows guarantee that none of the three overlaps
        // another.
        let count = unsafe { step(state, input, output) };
        self.checked(count)
    }

    /// Ends the stream: writes the outputs that are still known, as [`Instance::step`] does.
    ///
    /// # Panics
    ///
    /// If `output` does not meet the requirements of [`Instance::step`].
    pub fn flush(&mut self, output: &mut [u8]) -> i32 {
        self.check_outputs(output);
        let flush = self.library.opened.flush;
        let _entered = self.library.enter();
        // SAFETY: as in `step`.
        let count = unsafe { flush(self.state.as_mut_ptr().cast(), output.as_mut_ptr().cast()) };
        self.checked(count)
    }

    fn check_outputs(&self, output: &[u8]) {
        let sizes = self.library.sizes();
        assert!(
            output.len().is_multiple_of(sizes.output),
            "outputs are whole structs of {} bytes",
            sizes.output
        );
        let room = output.len() / sizes.output;
        assert!(
            room >= sizes.max_outputs,
            "room for {room} outputs, where there may be {}",
            sizes.max_outputs
        );
        assert!(is_aligned(output), "outputs are aligned");
    }

    fn checked(&self, count: i32) -> i32 {
        let max = self.library.sizes().max_outputs;
        let is_possible = usize::try_from(count).is_ok_and(|count| count <= max) || count < 0;
        assert!(is_possible, "{count} outputs were written, where there may be {max}");
        count
    }
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance").field("library", &self.library).finish_non_exhaustive()
    }
}

fn is_aligned(bytes: &[u8]) -> bool {
    bytes.as_ptr().addr().is_multiple_of(ALIGNMENT)
}
