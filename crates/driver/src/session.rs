//! A session: settings that the requests of one user share.
//!
//! A session owns its threads and knows its C compiler, its limits and its listener. Nothing is shared with
//! other sessions of the process but the cache of compiled programs, if both name the same folder. The
//! environment is not read here: an application that wants its settings from there says so
//! ([`BuildOptions::from_environment`]).

use std::fmt;
use std::num::NonZero;
use std::sync::Arc;

use eddy_compile::build::{BadSetting, BuildOptions};
use eddy_language::check::{load, load_as};
use eddy_language::kernels::Kernel;
use eddy_language::program::Limits;
use eddy_loader::Threads;
use eddy_syntax::{SourceFile, Sources};

use crate::engine::Native;
use crate::listener::Listener;
use crate::program::Program;
use crate::refusal::Refusal;

/// What a session is made of.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many threads compute, the one that asks included; none: as many as the machine has.
    pub threads: Option<NonZero<usize>>,
    /// How large programs may become.
    pub limits: Limits,
    /// The C compiler and the cache of what it made. If settings make no sense, programs are simulated, and a
    /// warning says why.
    pub building: Result<BuildOptions, BadSetting>,
}

impl Options {
    /// All threads of the machine and the usual limits.
    pub fn new(building: Result<BuildOptions, BadSetting>) -> Options {
        Options { threads: None, limits: Limits::default(), building }
    }
}

/// Where programs are loaded. Clones are handles of the same session.
#[derive(Clone)]
pub struct Session(Arc<Shared>);

struct Shared {
    /// The number of threads that was asked for.
    n_threads: Option<NonZero<usize>>,
    limits: Limits,
    native: Native,
    listener: Arc<dyn Listener>,
}

impl Session {
    /// A session with these settings, which announces what takes long.
    pub fn new(options: Options, listener: Arc<dyn Listener>) -> Session {
        let Options { threads: n_threads, limits, building } = options;
        let threads = n_threads.map_or_else(Threads::of_machine, Threads::new);
        Session(Arc::new(Shared { n_threads, limits, native: Native { building, threads }, listener }))
    }

    /// Reads and resolves a program; what it imports is read as the sources say.
    pub fn load(&self, mut sources: Sources) -> Result<Program, Refusal> {
        match load(&mut sources, self.0.limits) {
            Ok(program) => Ok(Program::new(self.clone(), program, sources)),
            Err(diagnostics) => Err(Refusal { diagnostics, sources }),
        }
    }

    /// Reads a program of a kernel as functions.
    pub fn load_kernel(&self, kernel: Kernel, mut sources: Sources) -> Result<Program, Refusal> {
        match load_as(&mut sources, Some(kernel), self.0.limits) {
            Ok(program) => Ok(Program::new(self.clone(), program, sources)),
            Err(diagnostics) => Err(Refusal { diagnostics, sources }),
        }
    }

    /// Reads a program that imports nothing but the library; `name` is what messages call it.
    pub fn load_text(&self, name: &str, text: &str) -> Result<Program, Refusal> {
        self.load(Sources::alone(SourceFile::new(name, text)))
    }

    /// The threads that compute.
    pub fn threads(&self) -> &Threads {
        &self.0.native.threads
    }

    pub(crate) fn n_threads(&self) -> Option<usize> {
        self.0.n_threads.map(NonZero::get)
    }

    pub(crate) fn native(&self) -> &Native {
        &self.0.native
    }

    pub(crate) fn listener(&self) -> &dyn Listener {
        &*self.0.listener
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("threads", self.threads()).finish_non_exhaustive()
    }
}
