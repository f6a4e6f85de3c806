//! Builds with compilers that exist, are missing, fail or hang, and with a cache that is full, broken or
//! shared.
//!
//! Misbehaving compilers are scripts. They are called as `sh SCRIPT`: a file that was just written cannot
//! always be executed while other threads start processes.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::time::{Duration, SystemTime};
use std::{env, fs, thread};

use eddy_loader::{Instance, Library, Sizes};
use tempfile::TempDir;

use super::cache::Cache;
use super::toolchain::{Search, Toolchain};
use super::{BuildError, BuildOptions, Built, CText, build_and_open, build_text, key};

mod ownership;
mod qualification;

/// A program that multiplies by a factor, which its header defines.
const SOURCE: &str = r#"
#include "times.h"
#include "eddy_rt.h"
void times_reset(times_state *self) { self->nothing = 0; }
void times_reset_state(times_state *self) { self->nothing = 0; }
int32_t times_step(times_state *self, const times_in *in, times_out *out) {
  int unused_variables_are_no_error;
  (void)self;
  out->y = in->x * FACTOR;
  return 1;
}
int32_t times_flush(times_state *self, times_out *out) { (void)self; (void)out; return 0; }
"#;

const HEADER: &str = "typedef struct { double x; } times_in;\ntypedef struct { double y; } times_out;\n\
    typedef struct { char nothing; } times_state;\n";

fn header(factor: u32) -> String {
    format!("{HEADER}#define FACTOR {factor}\n")
}

fn text(header: &str) -> CText<'_> {
    CText { name: "times", runtime_header: "#include <stdint.h>\n", header, source: SOURCE }
}

/// A folder with a cache in it.
struct Place {
    folder: TempDir,
    options: BuildOptions,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let options = BuildOptions {
            search: Search { cc: None, path: env::var_os("PATH") },
            cache: Some(Cache { folder: folder.path().join("cache"), limit: 1 << 30 }),
            time_limit: Duration::from_mins(1),
            tries_compiler: false,
        };
        Place { folder, options }
    }

    fn cache(&mut self) -> &mut Cache {
        self.options.cache.as_mut().expect("it was given one")
    }

    /// Uses a script as the compiler. It answers immediately when asked for its identity.
    fn with_compiler(mut self, script: &str) -> Place {
        let path = self.folder.path().join("compiler.sh");
        let script = format!("case \"$*\" in *--version*|*-dM*) echo a script; exit 0;; esac\n{script}\n");
        fs::write(&path, script).expect("it can be written");
        self.options.search.cc = Some(format!("sh {}", path.display()).into());
        self
    }

    fn build(&self, factor: u32) -> Result<Built, BuildError> {
        build_text(&text(&header(factor)), &self.options, &mut || ())
    }

    /// Builds a program and tries it.
    #[track_caller]
    fn built(&self, factor: u32) -> Built {
        let built = self.build(factor).expect("it is built");
        assert_eq!(run(&built, 3.0), 3.0 * f64::from(factor));
        built
    }

    /// The contents of the cache: objects, and working folders.
    fn objects(&self) -> Vec<PathBuf> {
        let Some(cache) = &self.options.cache else { return Vec::new() };
        let folders = fs::read_dir(cache.folder.join("compiled")).expect("the cache is there");
        let files =
            folders.flat_map(|folder| fs::read_dir(folder.expect("it is read").path()).expect("a folder"));
        files.map(|file| file.expect("it is read").path()).collect()
    }
}

#[track_caller]
fn run(built: &Built, x: f64) -> f64 {
    let sizes = Sizes { state: 1, input: 8, output: 8, max_outputs: 1 };
    let library = Library::open(&built.path, &built.hash, "times", sizes).expect("it can be opened");
    let (mut input, mut output) = (library.input(), library.outputs());
    input.copy_from_slice(&x.to_ne_bytes());
    assert_eq!(Instance::new(&library).step(&input, &mut output), 1);
    f64::from_ne_bytes(output[..].try_into().expect("eight bytes"))
}

#[test]
fn a_program_is_built_once() {
    let place = Place::new();
    let first = place.built(2);
    assert!(!first.was_cached && first.not_kept.is_none());
    let second = place.built(2);
    assert!(second.was_cached);
    assert_eq!((first.path, first.hash), (second.path, second.hash));
    let other = place.built(5);
    assert!(!other.was_cached);
    assert_eq!(place.objects().len(), 2, "nothing else is left in the cache");
}

#[test]
fn the_key_depends_on_every_text_and_on_the_compiler() {
    let place = Place::new();
    let toolchain = |cc: Option<&str>| {
        let search = Search { cc: cc.map(Into::into), ..place.options.search.clone() };
        Toolchain::find(&search, place.options.time_limit).expect("there is one")
    };
    let plain = CText { name: "a", runtime_header: "b", header: "c", source: "d" };
    let mut keys = vec![
        key(&plain, &toolchain(None)),
        key(&plain, &toolchain(Some("cc -DNDEBUG"))),
        key(&CText { name: "e", ..plain }, &toolchain(None)),
        key(&CText { runtime_header: "e", ..plain }, &toolchain(None)),
        key(&CText { header: "e", ..plain }, &toolchain(None)),
        key(&CText { source: "e", ..plain }, &toolchain(None)),
        key(&CText { header: "cd", source: "", ..plain }, &toolchain(None)),
    ];
    assert_eq!(keys[0], key(&plain, &toolchain(None)));
    let n_keys = keys.len();
    keys.sort_by_key(|key| *key.as_bytes());
    keys.dedup();
    assert_eq!(keys.len(), n_keys);
}

#[test]
fn without_a_compiler_the_names_that_were_tried_are_said() {
    let mut place = Place::new();
    place.options.search.path = None;
    let error = place.build(2).expect_err("there is no compiler");
    assert_eq!(error.to_string(), "there is no C compiler: looked for `cc`, `gcc`, `clang`");
    place.options.search.path = Some(place.folder.path().into());
    assert!(matches!(place.build(2), Err(BuildError::NoCompiler { .. })), "an empty folder");
    place.options.search = Search { cc: Some("no-such-compiler -O9".into()), path: env::var_os("PATH") };
    let error = place.build(2).expect_err("no other takes its place");
    assert_eq!(error.to_string(), "there is no C compiler: looked for `no-such-compiler`");
    // A file that cannot be executed is not a compiler.
    let file = place.folder.path().join("cc");
    fs::write(&file, "").expect("it can be written");
    place.options.search.cc = Some(file.into());
    assert!(matches!(place.build(2), Err(BuildError::NoCompiler { .. })));
}

#[test]
fn a_failing_compiler_is_reported_with_its_message() {
    let place = Place::new().with_compiler("echo 'times.c:1: error: no' >&2; exit 3");
    let error = place.build(2).expect_err("it fails");
    assert!(
        matches!(&error, BuildError::Failed { output, .. } if output == "times.c:1: error: no"),
        "{error}"
    );
    assert!(place.objects().is_empty(), "its working folder is removed");
    let place =
        Place::new().with_compiler("for i in 1 2 3 4 5; do printf 'a\\nb\\nc\\nd\\ne\\nf\\n'; done; exit 1");
    let error = place.build(2).expect_err("it fails");
    let BuildError::Failed { output, .. } = &error else { panic!("{error}") };
    assert_eq!(output.lines().count(), 21, "the first lines are enough");
    assert!(output.ends_with('…'));
    let place = Place::new().with_compiler("exit 1");
    assert!(place.build(2).expect_err("it fails").to_string().ends_with("failed:\nexit status: 1"));
}

#[test]
fn text_that_is_not_c_is_refused_with_its_place() {
    let place = Place::new();
    let error = build_text(&CText { source: "no C\n", ..text(HEADER) }, &place.options, &mut || ())
        .expect_err("it is not C");
    let BuildError::Failed { output, .. } = &error else { panic!("{error}") };
    assert!(output.contains("times.c:1"), "{output}");
}

#[test]
fn a_compiler_that_is_none_is_refused() {
    for cc in ["false", "true"] {
        let mut place = Place::new();
        place.options.search.cc = Some(cc.into());
        assert!(matches!(place.build(2), Err(BuildError::Failed { .. })), "{cc}");
    }
}

#[test]
fn a_compiler_that_hangs_is_stopped_with_all_that_it_started() {
    let mut place = Place::new().with_compiler("sleep 600 & echo $! > \"$(dirname \"$0\")/started\"; wait");
    place.options.time_limit = Duration::from_secs(3);
    let error = place.build(2).expect_err("it hangs");
    assert!(matches!(error, BuildError::TimedOut { .. }), "{error}");
    assert!(error.to_string().ends_with("was stopped after 3 s (set `EDDY_CC_SECONDS` to wait longer)"));
    let started = fs::read_to_string(place.folder.path().join("started")).expect("it started something");
    wait_until(|| !is_running(started.trim()));
    assert!(place.objects().is_empty(), "its working folder is removed");
}

/// Whether a process is running. A zombie is not.
fn is_running(process: &str) -> bool {
    let status = Command::new("kill").args(["-0", process]).stderr(Stdio::null()).status();
    let is_known = status.expect("`kill` can be called").success();
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    is_known && !stat.contains(") Z ")
}

#[track_caller]
fn wait_until(condition: impl Fn() -> bool) {
    for _ in 0..3000 {
        if condition() {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("it did not happen");
}

#[test]
fn a_compiler_that_hangs_when_it_is_asked_what_it_is_is_stopped() {
    let mut place = Place::new();
    let script = place.folder.path().join("hang.sh");
    fs::write(&script, "sleep 600").expect("it can be written");
    place.options.search.cc = Some(format!("sh {}", script.display()).into());
    place.options.time_limit = Duration::from_millis(100);
    assert!(matches!(place.build(2), Err(BuildError::TimedOut { .. })));
}

#[test]
fn a_broken_entry_is_made_anew() {
    let place = Place::new();
    let first = place.built(2);
    let good = fs::read(&first.path).expect("it is there");
    let mut flipped = good.clone();
    flipped[good.len() / 2] ^= 0x10;
    for broken in [&flipped[..], &good[..good.len() / 2], b"", b"something else altogether"] {
        fs::write(&first.path, broken).expect("it can be written");
        let again = place.built(2);
        assert!(!again.was_cached);
        assert_eq!(again.hash, blake3::hash(&fs::read(&again.path).expect("it is there")));
        assert!(place.built(2).was_cached);
    }
}

#[test]
fn a_folder_in_the_place_of_an_entry_does_no_harm() {
    let mut place = Place::new();
    let first = place.built(2);
    fs::remove_file(&first.path).expect("it can be removed");
    fs::create_dir(&first.path).expect("it can be made");
    let again = place.built(2);
    assert!(!again.was_cached);
    // A file in place of the folder of all entries.
    let compiled = place.cache().folder.join("compiled");
    fs::remove_dir_all(&compiled).expect("it can be removed");
    fs::write(&compiled, "").expect("it can be written");
    assert!(place.built(2).not_kept.is_some());
}

#[test]
fn without_a_cache_objects_are_made_in_a_temporary_folder() {
    let mut place = Place::new();
    let in_the_way = place.folder.path().join("file");
    fs::write(&in_the_way, "").expect("it can be written");
    place.cache().folder = in_the_way.join("cache");
    let built = place.built(2);
    assert!(!built.was_cached);
    let problem = built.not_kept.as_ref().expect("it is not kept");
    assert!(problem.to_string().contains("cannot be written"), "{problem}");
    let path = built.path.clone();
    assert!(path.exists());
    drop(built);
    assert!(!path.exists(), "it is removed with its last holder");

    place.options.cache = None;
    let built = place.built(2);
    assert!(!built.was_cached && built.not_kept.is_none());
}

#[test]
fn an_object_in_a_temporary_folder_is_removed_once_it_is_open() {
    let mut place = Place::new();
    place.options.cache = None;
    let sizes = Sizes { state: 1, input: 8, output: 8, max_outputs: 1 };
    let (built, library) =
        build_and_open(&text(&header(2)), sizes, &place.options, &mut || ()).expect("it is opened");
    assert!(!built.path.parent().expect("it was in a folder").exists() && !built.is_kept());
    let (mut input, mut output) = (library.input(), library.outputs());
    input.copy_from_slice(&3_f64.to_ne_bytes());
    assert_eq!(Instance::new(&library).step(&input, &mut output), 1);
    assert_eq!(output[..], 6_f64.to_ne_bytes());
}

#[test]
fn a_cache_that_can_only_be_read_serves_what_it_has() {
    let mut place = Place::new();
    place.built(2);
    let folder = place.cache().folder.join("compiled");
    let writable = fs::metadata(&folder).expect("it is there").permissions();
    let mut readable = writable.clone();
    readable.set_readonly(true);
    fs::set_permissions(&folder, readable).expect("it is ours");
    let (old, new) = (place.built(2), place.built(5));
    // Root can write regardless of permissions.
    let may_write = fs::write(folder.join("probe"), "").is_ok();
    fs::set_permissions(&folder, writable).expect("it is ours");
    assert!(old.was_cached && !new.was_cached);
    assert_eq!(new.not_kept.is_some(), !may_write);
}

#[test]
fn many_threads_at_once_all_get_a_good_object() {
    let place = Place::new();
    let barrier = Barrier::new(8);
    let hashes: Vec<blake3::Hash> = thread::scope(|scope| {
        let build = || {
            barrier.wait();
            place.built(2).hash
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(build)).collect();
        threads.into_iter().map(|thread| thread.join().expect("it does not panic")).collect()
    });
    assert!(place.built(2).was_cached);
    let objects = place.objects();
    assert!(
        objects
            .iter()
            .all(|path| hashes.iter().any(|hash| path.to_string_lossy().contains(&hash.to_string())))
    );
}

#[test]
fn the_least_recently_used_go_first() {
    let mut place = Place::new();
    let built: Vec<Built> = (1..=3).map(|factor| place.built(factor)).collect();
    let hour = Duration::from_hours(1);
    for (age, built) in [5, 4, 3].into_iter().zip(&built) {
        let file = fs::File::options().write(true).open(&built.path).expect("it is there");
        file.set_modified(SystemTime::now() - hour * age).expect("it is ours");
    }
    // The oldest is used once more; then there is room for two and a half.
    assert!(place.built(1).was_cached);
    let bytes = fs::metadata(&built[0].path).expect("it is there").len();
    place.cache().limit = bytes * 5 / 2;
    let newest = place.built(4);
    assert!(built[0].path.exists() && newest.path.exists());
    assert!(!built[1].path.exists() && !built[2].path.exists());
    assert_eq!(place.objects().len(), 2);
    // The object that is about to be used is kept even if it alone is too large.
    place.cache().limit = 1;
    assert!(!place.built(6).was_cached);
    assert_eq!(place.objects().len(), 1);
    assert!(place.built(6).was_cached);
}

#[test]
fn what_a_killed_process_left_behind_is_removed_after_a_day() {
    let mut place = Place::new();
    let compiled = place.cache().folder.join("compiled");
    let (old, new) = (compiled.join(".making-old"), compiled.join(".making-new"));
    for folder in [&old, &new] {
        fs::create_dir_all(folder).expect("it can be made");
        fs::write(folder.join("times.c"), SOURCE).expect("it can be written");
    }
    let two_days_ago = SystemTime::now() - Duration::from_hours(48);
    fs::File::open(&old).and_then(|folder| folder.set_modified(two_days_ago)).expect("it is ours");
    place.cache().limit = 1;
    place.built(2);
    assert!(!old.exists());
    assert!(new.join("times.c").exists(), "another process may be working there");
}

/// Not a test itself: other tests run it in separate processes, with a chosen environment.
#[test]
#[ignore = "the tests that need another process run it"]
fn another_process_builds() {
    let outcome = env::var_os("EDDY_TEST_OUTCOME").expect("the tests that run this one say where to write");
    let options = BuildOptions::from_environment().expect("the environment makes sense");
    let text = match build_text(&text(&header(2)), &options, &mut || ()) {
        Ok(built) => format!("{} {} {:?}", run(&built, 21.0), built.was_cached, built.not_kept),
        Err(error) => error.to_string(),
    };
    fs::write(outcome, text).expect("the outcome can be written");
}

/// A process that builds.
struct Process {
    child: Child,
    outcome: PathBuf,
}

impl Process {
    fn start(place: &Place, name: &str, variables: &[(&str, &str)]) -> Process {
        let outcome = place.folder.path().join(name);
        let mut command = Command::new(env::current_exe().expect("tests know their file"));
        command.args(["--exact", "build::tests::another_process_builds", "--ignored"]);
        command.env_remove("CC").env("EDDY_CACHE_DIR", place.folder.path().join("cache"));
        command.env("EDDY_CC_TRUST", "1");
        command.env("EDDY_TEST_OUTCOME", &outcome).envs(variables.iter().copied()).stdout(Stdio::null());
        Process { child: command.spawn().expect("it is started"), outcome }
    }

    fn outcome(mut self) -> String {
        assert!(self.child.wait().expect("it ends").success());
        fs::read_to_string(&self.outcome).expect("it wrote what happened")
    }
}

#[test]
fn two_processes_at_once_both_get_a_good_object() {
    let place = Place::new();
    let processes = [0, 1].map(|n| Process::start(&place, &n.to_string(), &[]));
    for outcome in processes.map(Process::outcome) {
        assert!(outcome == "42 false None" || outcome == "42 true None", "{outcome}");
    }
    assert_eq!(Process::start(&place, "2", &[]).outcome(), "42 true None");
    assert!(place.objects().iter().all(|path| !is_in_the_making(path)));
}

fn is_in_the_making(path: &Path) -> bool {
    path.to_string_lossy().contains(".making-")
}

#[test]
fn a_process_that_is_killed_while_it_builds_does_not_stand_in_the_way() {
    let place = Place::new();
    let folder = place.folder.path().to_owned();
    let slow = place.with_compiler("echo $$ > \"$(dirname \"$0\")/compiling\"; exec sleep 600");
    let cc = slow.options.search.cc.clone().expect("it has a compiler");
    let cc = cc.to_str().expect("it is text");
    let mut killed = Process::start(&slow, "killed", &[("CC", cc)]);
    let compiling = || fs::read_to_string(folder.join("compiling")).unwrap_or_default();
    wait_until(|| compiling().ends_with('\n'));
    killed.child.kill().expect("it is ours");
    killed.child.wait().expect("it ends");
    assert!(slow.objects().iter().any(|path| is_in_the_making(path)), "its working folder remains");
    wait_until(|| !is_running(compiling().trim()));
    assert_eq!(Process::start(&slow, "next", &[]).outcome(), "42 false None");
    assert!(!slow.objects().iter().any(|path| is_in_the_making(path)), "its working folder is swept");
}

#[test]
fn the_environment_is_heeded() {
    let place = Place::new();
    let outcome = Process::start(&place, "no path", &[("PATH", "")]).outcome();
    assert_eq!(outcome, "there is no C compiler: looked for `cc`, `gcc`, `clang`");
    let failing = [("CC", "false")];
    let outcome = Process::start(&place, "failing", &failing).outcome();
    assert!(outcome.contains("false` failed"), "{outcome}");
    let in_the_way = place.folder.path().join("failing");
    let in_the_way = in_the_way.to_str().expect("it is text");
    let outcome = Process::start(&place, "no folder", &[("EDDY_CACHE_DIR", in_the_way)]).outcome();
    assert!(outcome.starts_with("42 false Some("), "{outcome}");
    let outcome = Process::start(&place, "no cache", &[("EDDY_CACHE_SIZE", "0")]).outcome();
    assert_eq!(outcome, "42 false None");
}
