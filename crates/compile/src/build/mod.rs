//! From C text to a shared object: the system's C compiler, and a cache of what it made.
//!
//! ```text
//! text, flags, compiler, machine ──▶ key ──▶ in the cache? ──yes──▶ object
//!                                                │no
//!                                                ╰──▶ compile in a folder of its own ──▶ rename into the cache
//! ```
//!
//! * [`toolchain`]: which compiler there is, what it says of itself, how it is called.
//! * [`process`]: calling a program that must end in time.
//! * [`cache`]: objects by key, checked by hash, the least recently used removed.
//! * [`options`]: what the environment says about all this.
//!
//! This is the one part of the crate that does input and output.

pub mod cache;
pub mod options;
mod process;
#[cfg(all(test, unix))]
mod tests;
pub mod toolchain;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{error, fmt, fs, io};

use tempfile::TempDir;

use crate::emit::Emitted;
use cache::Cache;
pub use options::{BadSetting, BuildOptions};
pub use toolchain::Compiler;
use toolchain::Toolchain;

/// A shared object.
#[derive(Debug)]
pub struct Built {
    /// Where it is, as long as this value lives.
    pub path: PathBuf,
    /// The blake3 hash of the file, which whoever opens it should check.
    pub hash: blake3::Hash,
    /// Whether it was there already.
    pub was_cached: bool,
    /// How long that took.
    pub seconds: f64,
    /// Which compiler made it.
    pub compiler: Compiler,
    /// Why the object is not in the cache but in a temporary folder, if so.
    pub not_kept: Option<CannotWrite>,
    _temporary: Option<TempDir>,
}

/// Why there is no object.
#[derive(Debug)]
pub enum BuildError {
    /// There is no C compiler.
    NoCompiler {
        /// The names under which it was looked for.
        tried: Vec<String>,
    },
    /// The compiler failed.
    Failed {
        /// How it was called.
        compiler: String,
        /// The first lines of what it said.
        output: String,
    },
    /// The compiler was stopped.
    TimedOut {
        /// How it was called.
        compiler: String,
        /// After which time.
        limit: Duration,
    },
    /// Not even a temporary folder can be written to.
    CannotWrite(CannotWrite),
}

/// A file or folder that cannot be written.
#[derive(Debug)]
pub struct CannotWrite {
    /// Which.
    pub path: PathBuf,
    /// What the system says.
    pub error: io::Error,
}

/// Makes a shared object of a program, or finds the one that was made before.
///
/// Without a cache, or if it cannot be written to, the object is made in a temporary folder.
pub fn build(program: &Emitted, options: &BuildOptions) -> Result<Built, BuildError> {
    build_telling(program, options, &mut || ())
}

/// As [`build`]; `tell` is called when the compiler is about to be.
pub fn build_telling(
    program: &Emitted,
    options: &BuildOptions,
    tell: &mut dyn FnMut(),
) -> Result<Built, BuildError> {
    let Emitted { name, runtime_header, header, source, .. } = program;
    build_text(&CText { name, runtime_header, header, source }, options, tell)
}

/// The text of a program in C.
#[derive(Clone, Copy)]
struct CText<'a> {
    name: &'a str,
    runtime_header: &'a str,
    header: &'a str,
    source: &'a str,
}

fn build_text(text: &CText<'_>, options: &BuildOptions, tell: &mut dyn FnMut()) -> Result<Built, BuildError> {
    let start = Instant::now();
    let toolchain = Toolchain::find(&options.search, options.time_limit)?;
    let mut built = match &options.cache {
        None => {
            tell();
            in_temporary_folder(text, &toolchain, options, None)?
        }
        Some(cache) => match in_cache(text, &toolchain, options, cache, tell) {
            Err(BuildError::CannotWrite(problem)) => {
                in_temporary_folder(text, &toolchain, options, Some(problem))?
            }
            outcome => outcome?,
        },
    };
    built.seconds = start.elapsed().as_secs_f64();
    built.compiler = toolchain.described();
    Ok(built)
}

fn in_cache(
    text: &CText<'_>,
    toolchain: &Toolchain,
    options: &BuildOptions,
    cache: &Cache,
    tell: &mut dyn FnMut(),
) -> Result<Built, BuildError> {
    let key = key(text, toolchain);
    let built = |(path, hash), was_cached| Built {
        path,
        hash,
        was_cached,
        seconds: 0.0,
        compiler: Compiler::default(),
        not_kept: None,
        _temporary: None,
    };
    if let Some(found) = cache.find(&key) {
        return Ok(built(found, true));
    }
    tell();
    let folder = cache.workshop()?;
    let object = compile(text, toolchain, folder.path(), options.time_limit)?;
    Ok(built(cache.keep(&key, &object)?, false))
}

fn in_temporary_folder(
    text: &CText<'_>,
    toolchain: &Toolchain,
    options: &BuildOptions,
    not_kept: Option<CannotWrite>,
) -> Result<Built, BuildError> {
    // It has a new name and belongs to the user alone, so that nobody else puts an object there.
    let folder = tempfile::Builder::new().prefix("eddy-").tempdir();
    let folder = folder.map_err(|error| CannotWrite { path: std::env::temp_dir(), error })?;
    let path = compile(text, toolchain, folder.path(), options.time_limit)?;
    let hash = hash_of(&path)?;
    let compiler = Compiler::default();
    Ok(Built { path, hash, was_cached: false, seconds: 0.0, compiler, not_kept, _temporary: Some(folder) })
}

/// Writes the text into a folder and makes an object of it.
fn compile(
    text: &CText<'_>,
    toolchain: &Toolchain,
    folder: &Path,
    limit: Duration,
) -> Result<PathBuf, BuildError> {
    let source = folder.join(format!("{}.c", text.name));
    let files = [
        (folder.join("eddy_rt.h"), text.runtime_header),
        (folder.join(format!("{}.h", text.name)), text.header),
    ];
    for (path, text) in files.into_iter().chain([(source.clone(), text.source)]) {
        fs::write(&path, text).map_err(|error| CannotWrite { path, error })?;
    }
    toolchain.compile(&source, limit)
}

/// What an object depends on. The parts have lengths, so that text cannot go from one to the next unnoticed.
fn key(text: &CText<'_>, toolchain: &Toolchain) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    let mut part = |text: &[u8]| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text);
    };
    for text in [text.name, text.runtime_header, text.header, text.source] {
        part(text.as_bytes());
    }
    for text in toolchain.identity() {
        part(text);
    }
    hasher.finalize()
}

fn hash_of(path: &Path) -> Result<blake3::Hash, CannotWrite> {
    let bytes = fs::read(path).map_err(|error| CannotWrite { path: path.to_owned(), error })?;
    Ok(blake3::hash(&bytes))
}

impl From<CannotWrite> for BuildError {
    fn from(problem: CannotWrite) -> BuildError {
        BuildError::CannotWrite(problem)
    }
}

impl fmt::Display for CannotWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` cannot be written: {}", self.path.display(), self.error)
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::NoCompiler { tried } => {
                let tried: Vec<String> = tried.iter().map(|name| format!("`{name}`")).collect();
                write!(f, "there is no C compiler: looked for {}", tried.join(", "))
            }
            BuildError::Failed { compiler, output } if output.is_empty() => {
                write!(f, "the C compiler `{compiler}` failed and said nothing")
            }
            BuildError::Failed { compiler, output } => {
                write!(f, "the C compiler `{compiler}` failed:\n{output}")
            }
            BuildError::TimedOut { compiler, limit } => {
                let seconds = limit.as_secs_f64();
                write!(
                    f,
                    "the C compiler `{compiler}` was stopped after {seconds} s (set `EDDY_CC_SECONDS` to wait longer)"
                )
            }
            BuildError::CannotWrite(problem) => problem.fmt(f),
        }
    }
}

impl error::Error for CannotWrite {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        Some(&self.error)
    }
}

impl error::Error for BuildError {}
