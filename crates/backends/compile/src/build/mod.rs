//! Builds shared objects from C: calls the system's C compiler and caches the results.
//!
//! ```text
//! compiler ──▶ correct? ──▶ flags that are ──▶ key ──▶ in the cache? ──yes──▶ object
//!                                                        │no
//!                                                        ╰──▶ compile in a working folder ──▶ rename
//! ```
//!
//! * [`toolchain`]: finds the compiler, identifies it, and calls it.
//! * [`qualify`]: checks once, with a battery of loops, that it compiles correctly.
//! * [`process`]: runs a program with a time limit, and ends it with this process.
//! * [`cache`]: objects by key, checked by hash; removes the least recently used.
//! * [`owner`]: checks that a file belongs to the user alone. [`workshop`]: the working folders of compilers.
//! * [`options`]: the settings from the environment.
//!
//! This is the only part of the crate that does input and output.

pub mod cache;
pub mod options;
mod owner;
mod process;
mod qualify;
#[cfg(all(test, unix))]
mod tests;
pub mod toolchain;
mod workshop;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, io};

use eddy_loader::{Functions, Library, LoadError, Sizes};

use crate::emit::Emitted;
use crate::functions;
use crate::machine::Machine;
use cache::Cache;
pub use options::{BadSetting, BuildOptions};
pub use toolchain::Compiler;
use toolchain::Toolchain;
use workshop::Workshop;

#[derive(Debug)]
pub struct Built {
    /// Valid as long as this value lives, but an object in a temporary folder is removed once it is open.
    pub path: PathBuf,
    /// The blake3 hash of the file; check it when opening the file.
    pub hash: blake3::Hash,
    /// Whether the object was in the cache.
    pub was_cached: bool,
    /// How long it took, without qualifying the compiler.
    pub seconds: f64,
    /// The compiler that built the object.
    pub compiler: Compiler,
    /// Why the object is in a temporary folder instead of the cache, if it is.
    pub not_kept: Option<CannotWrite>,
    /// Notes for the user: the compiler is used with safer flags, or the cache is not used.
    pub notes: Vec<String>,
    /// The folder of an object that is not in the cache; removed on drop.
    temporary: Option<Workshop>,
}

impl Built {
    /// Whether the object outlives this value.
    pub fn is_kept(&self) -> bool {
        self.temporary.is_none()
    }
}

#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error("there is no C compiler: looked for {}", quoted(tried))]
    NoCompiler {
        /// The names that were tried.
        tried: Vec<String>,
    },
    /// The compiler failed.
    #[error("the C compiler `{compiler}` failed{}", output_or_silence(output))]
    Failed {
        /// The command.
        compiler: String,
        /// The first lines of its output.
        output: String,
    },
    /// The compiler does not even compile the battery, so no other program will compile either.
    #[error(
        "the C compiler `{compiler}` does not compile the C that Eddy prints{}",
        output_or_silence(output)
    )]
    Unfit {
        /// The command.
        compiler: String,
        /// The first lines of its output.
        output: String,
    },
    /// The compiler exceeded the time limit.
    #[error(
        "the C compiler `{compiler}` was stopped after {} s (set `EDDY_CC_SECONDS` to wait longer)",
        limit.as_secs_f64()
    )]
    TimedOut {
        /// The command.
        compiler: String,
        limit: Duration,
    },
    /// No folder can be written to, not even a temporary one.
    #[error(transparent)]
    CannotWrite(#[from] CannotWrite),
    /// The compiler miscompiles with all flags.
    #[error("the C compiler {compiler} gives wrong results, also without optimisation ({wrong})")]
    Unreliable {
        /// The command and the version.
        compiler: String,
        /// The wrong results.
        wrong: String,
    },
    /// The system cannot load the object.
    #[error("{0}")]
    NotLoaded(String),
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn output_or_silence(output: &str) -> String {
    if output.is_empty() { " without any output".to_owned() } else { format!(":\n{output}") }
}

#[derive(Debug, thiserror::Error)]
#[error("`{}` cannot be written: {error}", path.display())]
pub struct CannotWrite {
    pub path: PathBuf,
    #[source]
    pub error: io::Error,
}

/// Builds and loads the shared object of a program, or finds it in the cache; `tell` is called before the
/// compiler runs.
///
/// Without a writable cache, the object is built in a temporary folder. A cached object that cannot be loaded
/// is rebuilt.
pub fn build(
    program: &Emitted,
    options: &BuildOptions,
    tell: &mut dyn FnMut(),
) -> Result<(Built, Library), BuildError> {
    let Emitted { name, runtime_header, header, source, .. } = program;
    build_and_open(&CText { name, runtime_header, header, source }, Machine::sizes(program), options, tell)
}

/// Builds and loads the functions of a module, or finds them in the cache.
pub fn build_functions(
    emitted: &functions::Emitted,
    options: &BuildOptions,
    tell: &mut dyn FnMut(),
) -> Result<(Built, Functions), BuildError> {
    let functions::Emitted { runtime_header, source, .. } = emitted;
    let text = CText { name: "functions", runtime_header, header: "", source };
    built_and_opened(&text, options, tell, |built| Functions::open(&built.path, &built.hash))
}

fn build_and_open(
    text: &CText<'_>,
    sizes: Sizes,
    options: &BuildOptions,
    tell: &mut dyn FnMut(),
) -> Result<(Built, Library), BuildError> {
    built_and_opened(text, options, tell, |built| Library::open(&built.path, &built.hash, text.name, sizes))
}

fn built_and_opened<T>(
    text: &CText<'_>,
    options: &BuildOptions,
    tell: &mut dyn FnMut(),
    open: impl Fn(&Built) -> Result<T, LoadError>,
) -> Result<(Built, T), BuildError> {
    let built = build_text(text, options, tell)?;
    match open(&built) {
        Ok(library) => {
            // An open object does not need its file. So a killed process leaves no temporary folder behind.
            #[cfg(unix)]
            built.temporary.iter().for_each(Workshop::remove);
            Ok((built, library))
        }
        Err(_) if built.was_cached => {
            // If it cannot be removed, it is found again, and the second attempt reports why it cannot be
            // loaded.
            drop(fs::remove_file(&built.path));
            let built = build_text(text, options, tell)?;
            let library = open(&built).map_err(|error| BuildError::NotLoaded(error.to_string()))?;
            Ok((built, library))
        }
        Err(error) => Err(BuildError::NotLoaded(error.to_string())),
    }
}

#[derive(Clone, Copy)]
struct CText<'a> {
    name: &'a str,
    runtime_header: &'a str,
    header: &'a str,
    source: &'a str,
}

fn build_text(text: &CText<'_>, options: &BuildOptions, tell: &mut dyn FnMut()) -> Result<Built, BuildError> {
    let toolchain = Toolchain::find(&options.search, options.time_limit)?;
    let (toolchain, mut notes) = qualify::qualified(&toolchain, options)?;
    let start = Instant::now();
    let refused = options.cache.as_ref().and_then(|cache| cache.check().err());
    notes.extend(refused.as_ref().map(|why| format!("the cache of compiled programs is not used: {why}")));
    let cache = options.cache.as_ref().filter(|_| refused.is_none());
    let mut built = match cache {
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
    notes.extend(built.not_kept.as_ref().map(|CannotWrite { path, error }| {
        format!(
            "compiled programs are not cached, and are compiled again each time: {}: {error}",
            path.display()
        )
    }));
    built.notes = not_yet_announced(notes);
    built.compiler = toolchain.described();
    Ok(built)
}

/// The notes that this process has not given before: a run may build several programs.
fn not_yet_announced(notes: Vec<String>) -> Vec<String> {
    static REPORTED: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let mut reported = REPORTED.lock().unwrap_or_else(PoisonError::into_inner);
    let new: Vec<String> = notes.into_iter().filter(|note| !reported.contains(note)).collect();
    reported.extend(new.iter().cloned());
    new
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
        notes: Vec::new(),
        temporary: None,
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
    let folder = Workshop::elsewhere()?;
    let path = compile(text, toolchain, folder.path(), options.time_limit)?;
    let hash = hash_of(&path)?;
    Ok(Built {
        path,
        hash,
        was_cached: false,
        seconds: 0.0,
        compiler: Compiler::default(),
        not_kept,
        notes: Vec::new(),
        temporary: Some(folder),
    })
}

/// Writes the text into a folder and compiles it.
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

/// A hash of everything that an object depends on. Parts are prefixed with their lengths, so that different
/// splits of a text have different keys.
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
