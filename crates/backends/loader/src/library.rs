//! A shared object, checked and opened.

use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{error, fmt, fs, io};

use crate::aligned_bytes::AlignedBytes;
use crate::threads::{Entered, RunPieces, Threads, run_pieces};

// On Unix, resolves all symbols when the object is opened. By default, the system resolves a function on its
// first call and ends the process if it is missing.
#[cfg(unix)]
pub(crate) use libloading::os::unix as platform;
#[cfg(windows)]
pub(crate) use libloading::os::windows as platform;

/// `void f(state *)`.
pub(crate) type OnState = unsafe extern "C" fn(*mut c_void);
/// `int32_t step(state *, const in *, out *)`.
pub(crate) type Step = unsafe extern "C" fn(*mut c_void, *const c_void, *mut c_void) -> i32;
/// `int32_t flush(state *, out *)`.
pub(crate) type Flush = unsafe extern "C" fn(*mut c_void, *mut c_void) -> i32;

/// `void parallel(void (*run)(size_t, size_t, void *, void (*)(void *, size_t)))`.
type Parallel = unsafe extern "C" fn(RunPieces);

/// The sizes of the structs, and the largest number of outputs of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// `sizeof(NAME_state)`.
    pub state: usize,
    /// `sizeof(NAME_in)`.
    pub input: usize,
    /// `sizeof(NAME_out)`.
    pub output: usize,
    /// The largest number of outputs that one call of `step` or `flush` writes.
    pub max_outputs: usize,
}

impl Sizes {
    /// C has no empty structs: a struct without fields takes one byte. And `step` may write an output that it
    /// does not count.
    fn as_in_c(self) -> Sizes {
        Sizes {
            state: self.state.max(1),
            input: self.input.max(1),
            output: self.output.max(1),
            max_outputs: self.max_outputs.max(1),
        }
    }
}

/// A compiled program. Clones share it; the object is closed when the last clone and the last instance are
/// dropped.
#[derive(Clone)]
pub struct Library {
    pub(crate) opened: Arc<Opened>,
    threads: Threads,
}

/// The functions, and the object that contains them.
pub(crate) struct Opened {
    name: String,
    pub(crate) sizes: Sizes,
    pub(crate) reset: OnState,
    pub(crate) reset_state: OnState,
    pub(crate) step: Step,
    pub(crate) flush: Flush,
    /// Present if the program hands out work for several threads.
    is_parallel: bool,
    object: platform::Library,
}

/// A further function on the state, see [`Library::function`].
#[derive(Clone)]
pub struct Function {
    pub(crate) opened: Arc<Opened>,
    pub(crate) call: OnState,
}

impl Library {
    /// Opens the object of the program `name` if its blake3 hash equals the one recorded when it was built.
    /// The calling thread computes alone, unless [`with_threads`](Self::with_threads) adds others.
    pub fn open(path: &Path, hash: &blake3::Hash, name: &str, sizes: Sizes) -> Result<Library, LoadError> {
        let object = open_checked(path, hash)?;
        // SAFETY: these are the types that `eddy-compile` declares for these names.
        let reset = unsafe { symbol::<OnState>(&object, name, "reset")? };
        // SAFETY: as above.
        let reset_state = unsafe { symbol::<OnState>(&object, name, "reset_state")? };
        // SAFETY: as above.
        let step = unsafe { symbol::<Step>(&object, name, "step")? };
        // SAFETY: as above.
        let flush = unsafe { symbol::<Flush>(&object, name, "flush")? };
        // SAFETY: as above.
        let parallel = unsafe { symbol::<Parallel>(&object, name, "parallel") }.ok();
        if let Some(parallel) = parallel {
            // SAFETY: it stores a pointer. No other thread reads it yet; if the object is open already, the
            // same pointer is stored there.
            unsafe { parallel(run_pieces) }
        }
        let (name, sizes, is_parallel) = (name.to_owned(), sizes.as_in_c(), parallel.is_some());
        let opened = Opened { name, sizes, reset, reset_state, step, flush, is_parallel, object };
        Ok(Library { opened: Arc::new(opened), threads: Threads::alone() })
    }

    /// The same program; its instances compute large work with these threads.
    #[must_use]
    pub fn with_threads(&self, threads: &Threads) -> Library {
        Library { opened: Arc::clone(&self.opened), threads: threads.clone() }
    }

    /// Until the guard is dropped, the threads of this library compute the work that its functions hand out.
    pub(crate) fn enter(&self) -> Option<Entered> {
        self.opened.is_parallel.then(|| self.threads.enter())
    }

    /// The sizes as C has them: none is 0.
    pub fn sizes(&self) -> Sizes {
        self.opened.sizes
    }

    /// A zeroed buffer for the inputs of one step.
    pub fn input(&self) -> AlignedBytes {
        AlignedBytes::zeroed(self.sizes().input)
    }

    /// A zeroed buffer for all outputs that one call may write.
    pub fn outputs(&self) -> AlignedBytes {
        AlignedBytes::zeroed(self.sizes().output * self.sizes().max_outputs)
    }

    /// The function `void NAME_ROLE(NAME_state *)`, for roles that only some programs have.
    pub fn function(&self, role: &str) -> Result<Function, LoadError> {
        assert!(!matches!(role, "step" | "flush"), "`{role}` is no function of the state alone");
        // SAFETY: apart from `step` and `flush`, `eddy-compile` declares all functions with this type.
        let call = unsafe { symbol::<OnState>(&self.opened.object, &self.opened.name, role)? };
        Ok(Function { opened: Arc::clone(&self.opened), call })
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Library")
            .field("name", &self.opened.name)
            .field("sizes", &self.opened.sizes)
            .finish_non_exhaustive()
    }
}

/// Opens an object if its hash equals the recorded one.
pub(crate) fn open_checked(path: &Path, hash: &blake3::Hash) -> Result<platform::Library, LoadError> {
    let unreadable = |error| LoadError::Unreadable { path: path.to_owned(), error };
    // The system would search its libraries for a name without a folder.
    let path = fs::canonicalize(path).map_err(unreadable)?;
    let bytes = fs::read(&path).map_err(unreadable)?;
    if blake3::hash(&bytes) != *hash {
        return Err(LoadError::Changed { path });
    }
    open_object(&path)
}

fn open_object(path: &Path) -> Result<platform::Library, LoadError> {
    #[cfg(unix)]
    // SAFETY: opening runs the initialisers of the object. Its hash shows that `eddy-compile` wrote it, so it
    // contains only functions.
    let opened = unsafe { platform::Library::open(Some(path), platform::RTLD_NOW | platform::RTLD_LOCAL) };
    #[cfg(windows)]
    // SAFETY: as above.
    let opened = unsafe { platform::Library::new(path) };
    opened.map_err(|error| {
        // `libloading` wraps the system's message as the source of its own.
        let reason = error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
        LoadError::NotOpened { path: path.to_owned(), reason }
    })
}

/// The function `NAME_ROLE`.
///
/// # Safety
///
/// `F` is the type of the function, as a pointer, and the caller does not call it after the object is closed.
pub(crate) unsafe fn symbol<F: Copy>(
    object: &platform::Library,
    name: &str,
    role: &str,
) -> Result<F, LoadError> {
    let symbol = format!("{name}_{role}");
    // SAFETY: the caller guarantees the type. An `Option` of a function pointer is a pointer that may be
    // null, which `dlsym` may return.
    match unsafe { object.get::<Option<F>>(symbol.as_str()) } {
        Ok(found) => (*found).ok_or(LoadError::NoFunction { symbol }),
        Err(_) => Err(LoadError::NoFunction { symbol }),
    }
}

/// Why opening a program failed.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file is missing or unreadable.
    #[error("the compiled program `{}` cannot be read: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's message.
        #[source]
        error: io::Error,
    },
    /// The file differs from the one that was built.
    #[error("the compiled program `{}` is not as it was built", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The system cannot load the file.
    #[error("the compiled program `{}` cannot be loaded: {reason}", path.display())]
    NotOpened {
        /// The file.
        path: PathBuf,
        /// The system's message.
        reason: String,
    },
    /// The file lacks a function.
    #[error("the compiled program has no function `{symbol}`")]
    NoFunction {
        /// Its name in C.
        symbol: String,
    },
}
