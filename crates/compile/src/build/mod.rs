//! From C text to a shared object: the system's C compiler, and a cache of what it made.
//!
//! ```text
//! compiler ──▶ is it right? ──▶ flags that are ──▶ key ──▶ in the cache? ──yes──▶ object
//!                                                             │no
//!                                                             ╰──▶ compile in a folder of its own ──▶ rename into the cache
//! ```
//!
//! * [`toolchain`]: which compiler there is, what it says of itself, how it is called.
//! * [`qualify`]: whether it computes what it should, tried once with a battery of loops.
//! * [`process`]: calling a program that must end in time, and with this one.
//! * [`cache`]: objects by key, checked by hash, the least recently used removed.
//! * [`owner`]: whether a file is the user's alone. [`workshop`]: the folders in which compilers work.
//! * [`options`]: what the environment says about all this.
//!
//! This is the one part of the crate that does input and output.

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
use std::{error, fmt, fs, io};

use eddy_loader::{Library, Sizes};

use crate::emit::Emitted;
use crate::machine::Machine;
use cache::Cache;
pub use options::{BadSetting, BuildOptions};
pub use toolchain::Compiler;
use toolchain::Toolchain;
use workshop::Workshop;

/// A shared object.
#[derive(Debug)]
pub struct Built {
    /// Where it is, as long as this value lives.
    pub path: PathBuf,
    /// The blake3 hash of the file, which whoever opens it should check.
    pub hash: blake3::Hash,
    /// Whether it was there already.
    pub was_cached: bool,
    /// How long that took, trying a compiler for the first time not counted.
    pub seconds: f64,
    /// Which compiler made it.
    pub compiler: Compiler,
    /// Why the object is not in the cache but in a temporary folder, if so.
    pub not_kept: Option<CannotWrite>,
    /// What the user should know: the compiler is used with safer flags, or the cache is not used.
    pub notes: Vec<String>,
    /// The folder of an object that is not in the cache; it goes with this value.
    temporary: Option<Workshop>,
}

impl Built {
    /// Whether the object stays when this value is gone.
    pub fn is_kept(&self) -> bool {
        self.temporary.is_none()
    }
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
    /// The compiler gives wrong results, whatever its flags are.
    Unreliable {
        /// How it is called, and what it says of itself.
        compiler: String,
        /// What was wrong.
        wrong: String,
    },
    /// What was built is not loaded by the system.
    NotLoaded(String),
}

/// A file or folder that cannot be written.
#[derive(Debug)]
pub struct CannotWrite {
    /// Which.
    pub path: PathBuf,
    /// What the system says.
    pub error: io::Error,
}

/// Makes a shared object of a program, or finds the one that was made before, and opens it; `tell` is called when the compiler is about to be.
///
/// Without a cache, or if it cannot be written to, the object is made in a temporary folder. One in the cache that the system does not load is made anew.
pub fn build(
    program: &Emitted,
    options: &BuildOptions,
    tell: &mut dyn FnMut(),
) -> Result<(Built, Library), BuildError> {
    let Emitted { name, runtime_header, header, source, .. } = program;
    build_and_open(&CText { name, runtime_header, header, source }, Machine::sizes(program), options, tell)
}

fn build_and_open(
    text: &CText<'_>,
    sizes: Sizes,
    options: &BuildOptions,
    tell: &mut dyn FnMut(),
) -> Result<(Built, Library), BuildError> {
    let built = build_text(text, options, tell)?;
    let open = |built: &Built| Library::open(&built.path, &built.hash, text.name, sizes);
    match open(&built) {
        Ok(library) => Ok((built, library)),
        Err(_) if built.was_cached => {
            // If it cannot be removed, it is found again, and the second attempt says why it is not loaded.
            drop(fs::remove_file(&built.path));
            let built = build_text(text, options, tell)?;
            let library = open(&built).map_err(|error| BuildError::NotLoaded(error.to_string()))?;
            Ok((built, library))
        }
        Err(error) => Err(BuildError::NotLoaded(error.to_string())),
    }
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
    let toolchain = Toolchain::find(&options.search, options.time_limit)?;
    let (toolchain, note) = qualify::qualified(&toolchain, options)?;
    let start = Instant::now();
    let mut notes: Vec<String> = note.into_iter().collect();
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
            "compiled programs are not kept, and are compiled anew each time: {}: {error}",
            path.display()
        )
    }));
    built.notes = untold(notes);
    built.compiler = toolchain.described();
    Ok(built)
}

/// The notes that were not given before in this process: a run may build several programs.
fn untold(notes: Vec<String>) -> Vec<String> {
    static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    let new: Vec<String> = notes.into_iter().filter(|note| !told.contains(note)).collect();
    told.extend(new.iter().cloned());
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
            BuildError::Unreliable { compiler, wrong } => {
                write!(
                    f,
                    "the C compiler {compiler} gives wrong results, also without optimisation ({wrong})"
                )
            }
            BuildError::NotLoaded(why) => f.write_str(why),
        }
    }
}

impl error::Error for CannotWrite {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        Some(&self.error)
    }
}

impl error::Error for BuildError {}
