//! Qualifies a C compiler: checks that it compiles Eddy's loops correctly.
//!
//! A compiler can be wrong: gcc 11 and 12 miscompiled loops, with other results than the simulator's. So
//! before its first use, a compiler compiles a [`Battery`] of small loops, whose results are compared with
//! the operation table, bit for bit. If some differ, safer flags are tried, and the first that give correct
//! results are used. If none do, the compiler is not used at all.
//!
//! The verdict is cached under everything it depends on: the compiler, its flags, the processor, and the
//! battery itself.
//!
//! ```text
//! FOLDER/compilers/KEY       eddy-verdict 1
//!                            flags 1
//!                            failed Adjoint of relu at size 3, Computed
//!                            check HASH OF THE LINES ABOVE
//! ```
//!
//! A battery is a separate program in a separate process, so a crash of miscompiled code affects nothing
//! else.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::cache::Cache;
use super::owner::{is_ours_alone, make_private};
use super::process::{Ending, run};
use super::toolchain::{FLAGS_BY_SAFETY, Toolchain};
use super::workshop::Workshop;
use super::{BuildError, BuildOptions, CannotWrite};
use crate::battery::{Battery, Extent, FINGERPRINT};
use crate::precision::Precision;

/// The verdict on a compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Verdict {
    /// The index of the correct flags; `None` if no flags are correct.
    flags: Option<usize>,
    /// The cases that are wrong with the usual flags.
    failed: Vec<String>,
}

/// Compilers that were qualified in this process, for use without a cache.
static TRIED: Mutex<Vec<(blake3::Hash, Verdict)>> = Mutex::new(Vec::new());

/// The time limit of a battery. It takes milliseconds; miscompiled code may not end.
const RUN_LIMIT: Duration = Duration::from_secs(10);

/// The first line of a verdict.
const MARK: &str = "eddy-verdict 1";

/// Returns the compiler with trusted flags, and notes for the user about them.
pub(super) fn qualified(
    toolchain: &Toolchain,
    options: &BuildOptions,
) -> Result<(Toolchain, Vec<String>), BuildError> {
    if !options.tries_compiler {
        return Ok((toolchain.clone(), Vec::new()));
    }
    let key = key(toolchain);
    let usable = options.cache.as_ref().filter(|cache| cache.check().is_ok());
    let folder = usable.map(Cache::verdicts);
    let mut notes = Vec::new();
    let verdict = match known(&key, folder.as_deref()) {
        Some(verdict) => verdict,
        None => {
            let verdict = tried(toolchain, options)?;
            if let Err(error) = keep(&key, &verdict, folder.as_deref()) {
                notes.push(format!("the C compiler is tested again each time: {error}"));
            }
            verdict
        }
    };
    let compiler = toolchain.described();
    match verdict.flags {
        Some(0) => Ok((toolchain.clone(), notes)),
        Some(level) => {
            let flags = FLAGS_BY_SAFETY[level].added.join(" ");
            let wrong = wrong(&verdict.failed);
            let note = format!(
                "the C compiler {compiler} gives wrong results with the usual flags ({wrong}); programs are compiled with `{flags}`, with which results are correct, and run more slowly"
            );
            notes.insert(0, note);
            Ok((toolchain.with_flags(level), notes))
        }
        None => Err(BuildError::Unreliable { compiler: compiler.to_string(), wrong: wrong(&verdict.failed) }),
    }
}

fn wrong(failed: &[String]) -> String {
    match failed {
        [] => "it fails".to_string(),
        [only] => format!("wrong: {only}"),
        [first, others @ ..] => format!("wrong: {first}, and {} more", others.len()),
    }
}

/// The first correct flags.
fn tried(toolchain: &Toolchain, options: &BuildOptions) -> Result<Verdict, BuildError> {
    let batteries =
        [Precision::Double, Precision::Single].map(|precision| Battery::new(precision, Extent::Brief));
    let place = options.cache.as_ref().and_then(|cache| cache.workshop().ok());
    let place = place.map_or_else(Workshop::elsewhere, Ok)?;
    let mut failed = Vec::new();
    for level in 0..FLAGS_BY_SAFETY.len() {
        let toolchain = toolchain.with_flags(level);
        let outcome = failures(&toolchain, &batteries, place.path(), options.time_limit);
        let found = match (level, outcome) {
            // A compiler that compiles nothing has no verdict: its output is reported.
            (0, outcome) => outcome.map_err(unfit)?,
            (_, Ok(found)) => found,
            (_, Err(_)) => continue,
        };
        if found.is_empty() {
            return Ok(Verdict { flags: Some(level), failed });
        }
        if level == 0 {
            failed = found;
        }
    }
    Ok(Verdict { flags: None, failed })
}

/// A failure to compile the battery concerns every program.
fn unfit(error: BuildError) -> BuildError {
    match error {
        BuildError::Failed { compiler, output } => BuildError::Unfit { compiler, output },
        other => other,
    }
}

/// The wrong cases of all batteries, which are compiled in parallel.
fn failures(
    toolchain: &Toolchain,
    batteries: &[Battery],
    place: &Path,
    limit: Duration,
) -> Result<Vec<String>, BuildError> {
    let outcomes: Vec<Result<Vec<String>, BuildError>> = thread::scope(|scope| {
        let threads: Vec<_> = batteries
            .iter()
            .enumerate()
            .map(|(number, battery)| {
                let place = place.join(number.to_string());
                scope.spawn(move || failures_of(toolchain, battery, &place, limit))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("a trial does not panic")).collect()
    });
    Ok(outcomes.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
}

fn failures_of(
    toolchain: &Toolchain,
    battery: &Battery,
    place: &Path,
    limit: Duration,
) -> Result<Vec<String>, BuildError> {
    let cannot_write = |path: &Path| {
        let path = path.to_owned();
        move |error| CannotWrite { path, error }
    };
    fs::create_dir_all(place).map_err(cannot_write(place))?;
    let [source, input, output] = ["battery.c", "input", "output"].map(|name| place.join(name));
    fs::write(&source, &battery.text).map_err(cannot_write(&source))?;
    fs::write(&input, &battery.input).map_err(cannot_write(&input))?;
    // Removes the output for earlier flags.
    drop(fs::remove_file(&output));
    let program = toolchain.compile_program(&source, limit)?;
    let mut command = Command::new(&program);
    command.args([&input, &output]);
    match run(&mut command, RUN_LIMIT) {
        Ok(Ending::Exited { status, .. }) if status.success() => {
            Ok(battery.failures(&fs::read(&output).unwrap_or_default()))
        }
        Ok(Ending::Exited { status, .. }) => Ok(vec![format!("a loop that crashes ({status})")]),
        Ok(Ending::TimedOut) => Ok(vec!["a loop that does not end".to_string()]),
        // For example, `gcc -c` makes an object, and some folders cannot have programs.
        Err(error) => Err(toolchain.failed(format!("its program does not start: {error}").as_bytes())),
    }
}

/// A hash of everything a verdict depends on.
fn key(toolchain: &Toolchain) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    let mut part = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    toolchain.identity().for_each(&mut part);
    toolchain.files().iter().for_each(|file| part(file.as_bytes()));
    part(processor().as_bytes());
    for level in FLAGS_BY_SAFETY {
        part(level.added.join(" ").as_bytes());
    }
    part(FINGERPRINT.as_bytes());
    hasher.finalize()
}

/// The system's description of the processor; empty if there is none. The compiler's own view of it is part
/// of the compiler's identity.
fn processor() -> String {
    const WORDS: &[&str] =
        &["vendor_id", "cpu family", "model", "stepping", "microcode", "flags", "Features", "CPU "];
    let mut text = String::new();
    // The first of many processors suffices.
    let file = File::open("/proc/cpuinfo").map(|file| file.take(8192).read_to_string(&mut text));
    let lines = text.lines().take_while(|line| file.is_ok() && !line.is_empty());
    let lines = lines.filter(|line| WORDS.iter().any(|word| line.starts_with(word)));
    lines.collect::<Vec<_>>().join("\n")
}

/// An earlier verdict, of this or another process.
fn known(key: &blake3::Hash, folder: Option<&Path>) -> Option<Verdict> {
    let kept = |folder| {
        let path = verdict_path(folder, key);
        is_ours_alone(folder).ok()?;
        is_ours_alone(&path).ok()?;
        Verdict::read(&fs::read_to_string(&path).ok()?)
    };
    folder.and_then(kept).or_else(|| {
        let tried = TRIED.lock().unwrap_or_else(PoisonError::into_inner);
        tried.iter().find(|(other, _)| other == key).map(|(_, verdict)| verdict.clone())
    })
}

/// Stores a verdict. If it cannot be written, it is valid for this process only.
fn keep(key: &blake3::Hash, verdict: &Verdict, folder: Option<&Path>) -> Result<(), CannotWrite> {
    let written = folder.map_or(Ok(()), |folder| write(&verdict_path(folder, key), verdict));
    if folder.is_none() || written.is_err() {
        TRIED.lock().unwrap_or_else(PoisonError::into_inner).push((*key, verdict.clone()));
    }
    written
}

/// Writes a verdict atomically.
fn write(path: &Path, verdict: &Verdict) -> Result<(), CannotWrite> {
    let folder = path.parent().expect("a verdict is in a folder");
    let write = || {
        make_private(folder)?;
        let mut file = tempfile::Builder::new().prefix(".verdict-").tempfile_in(folder)?;
        file.write_all(verdict.text().as_bytes())?;
        file.persist(path).map_err(|error| error.error)
    };
    write().map(drop).map_err(|error| CannotWrite { path: path.to_owned(), error })
}

fn verdict_path(folder: &Path, key: &blake3::Hash) -> PathBuf {
    folder.join(key.to_string())
}

impl Verdict {
    fn text(&self) -> String {
        let flags = self.flags.map_or("none".to_string(), |flags| flags.to_string());
        let mut text = format!("{MARK}\nflags {flags}\n");
        for name in &self.failed {
            text.push_str("failed ");
            text.push_str(&name.replace('\n', " "));
            text.push('\n');
        }
        format!("{text}check {}\n", blake3::hash(text.as_bytes()))
    }

    /// Parses a verdict; `None` if the text is incomplete.
    fn read(text: &str) -> Option<Verdict> {
        let (lines, check) = text.strip_suffix('\n')?.rsplit_once("\ncheck ")?;
        let lines = format!("{lines}\n");
        if blake3::hash(lines.as_bytes()).to_string() != check {
            return None;
        }
        let mut lines = lines.lines();
        (lines.next()? == MARK).then_some(())?;
        let flags = match lines.next()?.strip_prefix("flags ")? {
            "none" => None,
            number => Some(number.parse().ok().filter(|flags| *flags < FLAGS_BY_SAFETY.len())?),
        };
        let failed =
            lines.map(|line| line.strip_prefix("failed ").map(str::to_string)).collect::<Option<_>>()?;
        Some(Verdict { flags, failed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_read_whole_or_not_at_all() {
        let verdict = Verdict { flags: Some(1), failed: vec!["a loop".into(), "another".into()] };
        let text = verdict.text();
        assert_eq!(Verdict::read(&text), Some(verdict));
        for end in 0..text.len() {
            assert_eq!(Verdict::read(&text[..end]), None, "{}", &text[..end]);
        }
        assert_eq!(Verdict::read(&text.replace("flags 1", "flags 0")), None);
        let none = Verdict { flags: None, failed: Vec::new() };
        assert_eq!(Verdict::read(&none.text()), Some(none));
    }
}
