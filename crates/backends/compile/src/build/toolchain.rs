//! The system's C compiler: its location, its identity, and its calls.
//!
//! Objects are compiled for the machine that they run on, so the compiler's view of that machine is part of
//! its identity. The compiler is queried: its predefined macros name its version and every processor
//! extension that it may use. So a cache that is shared between machines never serves an instruction that one
//! of them lacks.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::BuildError;
use super::process::{Ending, run};

/// The operations of the text define every result to the bit: no contraction, nothing that `-ffast-math`
/// would allow. `errno` and the floating-point exception flags are never read. Warnings (`-w`) concern only
/// the developers of the emitter, whose tests enable them.
const FLAGS: &[&str] =
    &["-std=c99", "-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "-fPIC", "-w"];

/// Flags in addition to the usual ones.
pub(super) struct Level {
    pub added: &'static [&'static str],
    /// Whether the compiler may use all extensions of this processor.
    pub is_native: bool,
}

/// The usual flags first, then safer ones, which enable fewer compiler passes: without vectors, for any
/// processor, and without optimisation.
pub(super) const FLAGS_BY_SAFETY: [Level; 4] = [
    Level { added: &[], is_native: true },
    Level { added: &["-O2", "-fno-tree-vectorize"], is_native: true },
    Level { added: &["-O1"], is_native: false },
    Level { added: &["-O0"], is_native: false },
];

/// Not all compilers support it for all machines.
const NATIVE: &str = "-march=native";

/// After the source: on processors without the instruction, `fma` is a function.
const LIBRARIES: &[&str] = &["-lm"];

/// The compilers to try if `CC` is not set.
const NAMES: &[&str] = &["cc", "gcc", "clang"];

/// The number of lines of the compiler's output that a user sees.
const SHOWN_LINES: usize = 20;

/// Where to look for a compiler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// The variable `CC`: a program, optionally with arguments.
    pub cc: Option<OsString>,
    /// The variable `PATH`.
    pub path: Option<OsString>,
}

/// A description of the compiler that built an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compiler {
    /// A program, optionally with arguments; a valid value of `CC`.
    pub command: String,
    /// The first line of its version output.
    pub version: String,
    /// The flags that Eddy passes.
    pub flags: String,
}

impl fmt::Display for Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Compiler { command, version, .. } = self;
        if version.is_empty() { write!(f, "`{command}`") } else { write!(f, "`{command}` ({version})") }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Toolchain {
    program: PathBuf,
    /// From `CC`.
    arguments: Vec<String>,
    flags: Vec<&'static str>,
    version: Vec<u8>,
    macros: Vec<u8>,
}

/// Compilers that have been queried: once per process is enough.
static KNOWN: Mutex<Vec<(Search, Toolchain)>> = Mutex::new(Vec::new());

impl Toolchain {
    /// The compiler that `CC` names; without `CC`, the first of `cc`, `gcc`, `clang`.
    pub fn find(search: &Search, limit: Duration) -> Result<Toolchain, BuildError> {
        // A thread that panicked here left a valid list.
        let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, toolchain)) = known().iter().find(|(known, _)| known == search) {
            return Ok(toolchain.clone());
        }
        let (program, arguments) = search.compiler()?;
        let toolchain = Toolchain::ask(program, arguments, limit)?;
        known().push((search.clone(), toolchain.clone()));
        Ok(toolchain)
    }

    fn ask(program: PathBuf, arguments: Vec<String>, limit: Duration) -> Result<Toolchain, BuildError> {
        let mut toolchain =
            Toolchain { program, arguments, flags: FLAGS.to_vec(), version: Vec::new(), macros: Vec::new() };
        let version = toolchain.call(toolchain.command().arg("--version"), limit)?;
        toolchain.version = version;
        toolchain.flags.push(NATIVE);
        toolchain.macros = match toolchain.ask_macros(limit) {
            Err(BuildError::Failed { .. }) => {
                toolchain.flags.pop();
                toolchain.ask_macros(limit)?
            }
            macros => macros?,
        };
        Ok(toolchain)
    }

    fn ask_macros(&self, limit: Duration) -> Result<Vec<u8>, BuildError> {
        self.call(self.command().args(&self.flags).args(["-dM", "-E", "-x", "c", "-"]), limit)
    }

    /// The same compiler with the flags of another [`Level`].
    pub fn with_flags(&self, level: usize) -> Toolchain {
        let Level { added, is_native } = &FLAGS_BY_SAFETY[level];
        let mut toolchain = self.clone();
        toolchain.flags.retain(|flag| *is_native || *flag != NATIVE);
        toolchain.flags.extend(*added);
        toolchain
    }

    /// The files of the compiler, as far as its command names them: paths, sizes and times. A replaced
    /// compiler counts as a different one, even if it reports the same version.
    pub fn files(&self) -> Vec<String> {
        let paths = std::iter::once(self.program.clone()).chain(self.arguments.iter().map(PathBuf::from));
        let described = |path: PathBuf| {
            let path = path.canonicalize().ok()?;
            let metadata = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
            let modified = metadata.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
            Some(format!("{} {} {}", path.display(), metadata.len(), modified.as_nanos()))
        };
        paths.filter_map(described).collect()
    }

    /// Everything that an object depends on, besides its source.
    pub fn identity(&self) -> impl Iterator<Item = &[u8]> {
        let arguments = self.arguments.iter().map(String::as_bytes);
        let flags = self.flags.iter().map(|flag| flag.as_bytes());
        let whole = [self.program.as_os_str().as_encoded_bytes(), &self.version, &self.macros];
        whole.into_iter().chain(arguments).chain(flags)
    }

    pub fn described(&self) -> Compiler {
        let version = String::from_utf8_lossy(&self.version);
        Compiler {
            command: self.to_string(),
            version: version.lines().next().unwrap_or_default().trim().to_string(),
            flags: self.flags.join(" "),
        }
    }

    /// Compiles an object next to the source.
    pub fn compile(&self, source: &Path, limit: Duration) -> Result<PathBuf, BuildError> {
        self.make(source, source.with_extension(env::consts::DLL_EXTENSION), &["-shared"], limit)
    }

    /// Compiles a program next to the source.
    pub fn compile_program(&self, source: &Path, limit: Duration) -> Result<PathBuf, BuildError> {
        let name = format!("program{}", env::consts::EXE_SUFFIX);
        self.make(source, source.with_file_name(name), &[], limit)
    }

    fn make(
        &self,
        source: &Path,
        object: PathBuf,
        kind: &[&str],
        limit: Duration,
    ) -> Result<PathBuf, BuildError> {
        let mut command = self.command();
        command.args(&self.flags).args(kind).arg("-o").arg(&object).arg(source).args(LIBRARIES);
        if let Some(folder) = source.parent() {
            // Temporary files of a killed compiler are removed with this folder.
            command.env("TMPDIR", folder);
        }
        let output = self.call(&mut command, limit)?;
        if !object.is_file() {
            return Err(self.failed(&[b"it made no object\n".as_slice(), &output].concat()));
        }
        Ok(object)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        // Makes its output independent of the language settings.
        command.args(&self.arguments).env("LC_ALL", "C");
        command
    }

    /// The output of the compiler, if it succeeds.
    fn call(&self, command: &mut Command, limit: Duration) -> Result<Vec<u8>, BuildError> {
        match run(command, limit) {
            Ok(Ending::Exited { status, output }) if status.success() => Ok(output),
            Ok(Ending::Exited { status, output }) if output.is_empty() => {
                Err(self.failed(status.to_string().as_bytes()))
            }
            Ok(Ending::Exited { output, .. }) => Err(self.failed(&output)),
            Ok(Ending::TimedOut) => Err(BuildError::TimedOut { compiler: self.to_string(), limit }),
            Err(error) => Err(self.failed(error.to_string().as_bytes())),
        }
    }

    pub fn failed(&self, output: &[u8]) -> BuildError {
        let output = String::from_utf8_lossy(output);
        let mut lines: Vec<&str> = output.lines().take(SHOWN_LINES + 1).collect();
        if lines.len() > SHOWN_LINES {
            lines[SHOWN_LINES] = "…";
        }
        BuildError::Failed { compiler: self.to_string(), output: lines.join("\n") }
    }
}

impl fmt::Display for Toolchain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.program.display())?;
        self.arguments.iter().try_for_each(|argument| write!(f, " {argument}"))
    }
}

impl Search {
    /// The program and its arguments. If `CC` is set, no other compiler is tried.
    fn compiler(&self) -> Result<(PathBuf, Vec<String>), BuildError> {
        let cc = self.cc.as_ref().map(|cc| cc.to_string_lossy().into_owned()).unwrap_or_default();
        let mut words = cc.split_whitespace().map(str::to_owned);
        let names = words
            .next()
            .map_or_else(|| NAMES.iter().map(|name| (*name).to_owned()).collect(), |name| vec![name]);
        match names.iter().find_map(|name| self.program(name)) {
            Some(program) => Ok((program, words.collect())),
            None => Err(BuildError::NoCompiler { tried: names }),
        }
    }

    /// Finds a program on `PATH`. Not left to the system, which would also search other places without a
    /// `PATH`.
    fn program(&self, name: &str) -> Option<PathBuf> {
        if Path::new(name).components().count() > 1 {
            return executable(PathBuf::from(name));
        }
        let folders = env::split_paths(self.path.as_deref().unwrap_or(OsStr::new("")));
        // An empty entry means the current folder, which is skipped.
        let folders = folders.filter(|folder| !folder.as_os_str().is_empty());
        folders.map(|folder| folder.join(name)).find_map(executable)
    }
}

#[cfg(unix)]
fn executable(path: PathBuf) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = path.metadata().ok()?;
    (metadata.is_file() && metadata.permissions().mode() & 0o111 != 0).then_some(path)
}

#[cfg(not(unix))]
fn executable(path: PathBuf) -> Option<PathBuf> {
    [path.with_extension(env::consts::EXE_EXTENSION), path].into_iter().find(|path| path.is_file())
}
