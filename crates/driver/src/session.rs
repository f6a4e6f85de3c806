//! A session: settings that the requests of one user share.
//!
//! A session owns its threads and has its own C compiler, limits and listener. Sessions of a process share
//! only the cache of compiled programs, if both name the same folder. A session does not read the
//! environment: an application that keeps settings there calls [`BuildOptions::from_environment`].

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

/// The settings of a session.
#[derive(Clone, Debug)]
pub struct Options {
    /// The number of threads that compute, including the caller; `None` means as many as the machine has.
    pub threads: Option<NonZero<usize>>,
    /// The limits of a program's size.
    pub limits: Limits,
    /// The C compiler and the cache of its output. If the settings are invalid, programs are simulated, with
    /// a warning.
    pub building: Result<BuildOptions, BadSetting>,
}

impl Options {
    /// All threads of the machine and the default limits.
    pub fn new(building: Result<BuildOptions, BadSetting>) -> Options {
        Options { threads: None, limits: Limits::default(), building }
    }
}

/// Loads programs. Clones share the session.
#[derive(Clone)]
pub struct Session(Arc<Shared>);

struct Shared {
    /// The requested number of threads.
    n_threads: Option<NonZero<usize>>,
    limits: Limits,
    native: Native,
    listener: Arc<dyn Listener>,
}

impl Session {
    /// A session with these settings; `listener` receives its announcements.
    pub fn new(options: Options, listener: Arc<dyn Listener>) -> Session {
        let Options { threads: n_threads, limits, building } = options;
        let threads = n_threads.map_or_else(Threads::of_machine, Threads::new);
        Session(Arc::new(Shared { n_threads, limits, native: Native { building, threads }, listener }))
    }

    /// Reads and resolves a program; the sources read its imports.
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
