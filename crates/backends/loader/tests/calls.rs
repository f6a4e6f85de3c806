//! Opens and calls objects that the system's compiler makes from C text.

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;

use eddy_loader::{AlignedBytes, Instance, Library, LoadError, Sizes, Threads};
use tempfile::TempDir;

/// Sums its input when it is present. Every second cycle it outputs the sums of two cycles, and at the end
/// the rest.
const SUMS: &str = r"
#include <stdbool.h>
#include <stdint.h>
typedef struct { double x; bool x_present; } sums_in;
typedef struct { double sum; } sums_out;
typedef struct { double rate; double sum; double kept; int64_t n; } sums_state;

void sums_reset_state(sums_state *self) { self->sum = 0; self->n = 0; }
void sums_reset(sums_state *self) { self->rate = 1; sums_reset_state(self); }
void sums_double_rate(sums_state *self) { self->rate *= 2; }
int32_t sums_step(sums_state *self, const sums_in *in, sums_out *out) {
  if (in->x_present) self->sum += self->rate * in->x;
  if (self->sum > 1e6) return -7;
  self->n++;
  if (self->n % 2) { self->kept = self->sum; return 0; }
  out[0].sum = self->kept;
  out[1].sum = self->sum;
  return 2;
}
int32_t sums_flush(sums_state *self, sums_out *out) {
  if (self->n % 2 == 0) return 0;
  out[0].sum = self->kept;
  return 1;
}
";

const SIZES: Sizes = Sizes { state: 32, input: 16, output: 8, max_outputs: 2 };

struct Object {
    _folder: TempDir,
    path: PathBuf,
}

impl Object {
    fn of(text: &str) -> Object {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let (source, path) = (folder.path().join("program.c"), folder.path().join("program.so"));
        fs::write(&source, text).expect("the folder can be written to");
        let mut command = Command::new("cc");
        command.args(["-std=c99", "-O2", "-fPIC", "-shared", "-o"]).arg(&path).arg(&source);
        assert!(command.status().expect("there is a C compiler").success());
        Object { _folder: folder, path }
    }

    fn open(&self) -> Result<Library, LoadError> {
        Library::open(&self.path, &hash(&self.path), "sums", SIZES)
    }
}

fn hash(path: &Path) -> blake3::Hash {
    blake3::hash(&fs::read(path).expect("the file exists"))
}

fn sums() -> Instance {
    Instance::new(&Object::of(SUMS).open().expect("it is opened"))
}

/// The outputs of one step, or the equation that failed.
fn step(instance: &mut Instance, x: Option<f64>) -> Result<Vec<f64>, i32> {
    let mut input = instance.library().input();
    input[..8].copy_from_slice(&x.unwrap_or(f64::NAN).to_ne_bytes());
    input[8] = u8::from(x.is_some());
    let mut output = instance.library().outputs();
    let count = instance.step(&input, &mut output);
    shown(count, &output)
}

fn flush(instance: &mut Instance) -> Result<Vec<f64>, i32> {
    let mut output = instance.library().outputs();
    let count = instance.flush(&mut output);
    shown(count, &output)
}

fn shown(count: i32, output: &[u8]) -> Result<Vec<f64>, i32> {
    let count = usize::try_from(count).map_err(|_| count)?;
    Ok(output.chunks_exact(8).take(count).map(|bytes| number(bytes, 0)).collect())
}

fn number(bytes: &[u8], at: usize) -> f64 {
    f64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

#[test]
fn steps_write_as_many_outputs_as_are_due() {
    let mut sums = sums();
    assert_eq!(step(&mut sums, Some(1.0)), Ok(vec![]));
    assert_eq!(step(&mut sums, None), Ok(vec![1.0, 1.0]));
    assert_eq!(flush(&mut sums), Ok(vec![]));
    assert_eq!(step(&mut sums, Some(2.5)), Ok(vec![]));
    assert_eq!(flush(&mut sums), Ok(vec![3.5]));
    assert_eq!(step(&mut sums, Some(1e7)), Err(-7));
}

#[test]
fn reset_state_keeps_parameters_and_reset_does_not() {
    let mut sums = sums();
    let double_rate = sums.library().function("double_rate").expect("it exists");
    sums.call(&double_rate);
    assert_eq!(step(&mut sums, Some(1.0)), Ok(vec![]));
    assert_eq!(step(&mut sums, Some(1.0)), Ok(vec![2.0, 4.0]));
    sums.reset_state();
    assert_eq!(number(sums.state(), 0), 2.0);
    assert_eq!(number(sums.state(), 8), 0.0);
    sums.reset();
    assert_eq!(number(sums.state(), 0), 1.0);
}

#[test]
fn the_host_writes_into_the_state() {
    let mut sums = sums();
    sums.state_mut()[8..16].copy_from_slice(&40.0_f64.to_ne_bytes());
    assert_eq!(step(&mut sums, Some(2.0)), Ok(vec![]));
    assert_eq!(flush(&mut sums), Ok(vec![42.0]));
}

#[test]
fn instances_are_independent_outlive_their_library_and_change_threads() {
    let library = Object::of(SUMS).open().expect("it is opened");
    let (mut one, mut other) = (Instance::new(&library), Instance::new(&library));
    drop(library);
    assert_eq!(step(&mut one, Some(1.0)), Ok(vec![]));
    let thread = std::thread::spawn(move || {
        assert_eq!(step(&mut other, Some(10.0)), Ok(vec![]));
        flush(&mut other)
    });
    assert_eq!(thread.join().expect("it does not panic"), Ok(vec![10.0]));
    assert_eq!(flush(&mut one), Ok(vec![1.0]));
}

#[test]
fn structs_without_fields_take_a_byte() {
    let text = "#include <stdint.h>\n\
        typedef struct { char nothing; } none;\n\
        void sums_reset(none *self) { self->nothing = 1; } void sums_reset_state(none *self) { (void)self; }\n\
        int32_t sums_step(none *self, const none *in, none *out) { *out = *in; return self->nothing; }\n\
        int32_t sums_flush(none *self, none *out) { (void)self; (void)out; return 0; }\n";
    let object = Object::of(text);
    let none = Sizes { state: 0, input: 0, output: 0, max_outputs: 0 };
    let library = Library::open(&object.path, &hash(&object.path), "sums", none).expect("it is opened");
    let mut instance = Instance::new(&library);
    assert_eq!(instance.step(&library.input(), &mut library.outputs()), 1);
}

#[test]
fn a_file_that_changed_is_not_opened() {
    let object = Object::of(SUMS);
    let built = hash(&object.path);
    let bytes = fs::read(&object.path).expect("it exists");
    let open = || Library::open(&object.path, &built, "sums", SIZES);
    for at in [0, bytes.len() / 2, bytes.len() - 1] {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        fs::write(&object.path, changed).expect("it can be written");
        assert!(matches!(open(), Err(LoadError::Changed { .. })));
    }
    fs::write(&object.path, &bytes[..bytes.len() / 2]).expect("it can be written");
    assert!(matches!(open(), Err(LoadError::Changed { .. })));
    fs::write(&object.path, &bytes).expect("it can be written");
    assert!(open().is_ok());
    fs::remove_file(&object.path).expect("it can be removed");
    assert!(matches!(open(), Err(LoadError::Unreadable { .. })));
}

#[test]
fn a_file_that_is_no_object_is_an_error() {
    let object = Object::of(SUMS);
    for bytes in [&b""[..], b"\x7fELF", b"not an object"] {
        fs::write(&object.path, bytes).expect("it can be written");
        assert!(matches!(object.open(), Err(LoadError::NotOpened { .. })));
    }
}

#[test]
fn opening_reports_missing_symbols() {
    let calls_undefined =
        format!("void undefined(void);\n{}", SUMS.replace("self->rate = 1;", "self->rate = 1; undefined();"));
    let error = Object::of(&calls_undefined).open().expect_err("`undefined` is not defined");
    assert!(matches!(&error, LoadError::NotOpened { reason, .. } if reason.contains("undefined")), "{error}");
    let error = Object::of(&SUMS.replace("sums_flush", "sums_rinse")).open().expect_err("it cannot flush");
    assert_eq!(error.to_string(), "the compiled program has no function `sums_flush`");
    let error = sums().library().function("update").err().expect("it does not exist");
    assert_eq!(error.to_string(), "the compiled program has no function `sums_update`");
}

#[test]
#[should_panic(expected = "another program")]
fn a_function_is_not_called_on_the_state_of_another_program() {
    let double_rate = sums().library().function("double_rate").expect("it exists");
    sums().call(&double_rate);
}

#[test]
#[should_panic(expected = "no function of the state alone")]
fn step_is_not_called_without_inputs() {
    let _ = sums().library().function("step");
}

#[test]
#[should_panic(expected = "the size of the struct of inputs")]
fn inputs_that_are_too_short_are_not_read() {
    let mut sums = sums();
    let mut outputs = sums.library().outputs();
    sums.step(&AlignedBytes::zeroed(8), &mut outputs);
}

#[test]
#[should_panic(expected = "room for 1 outputs, where there may be 2")]
fn outputs_without_room_are_not_written() {
    let mut sums = sums();
    let inputs = sums.library().input();
    sums.step(&inputs, &mut AlignedBytes::zeroed(8));
}

#[test]
#[should_panic(expected = "room for 0 outputs, where there may be 2")]
fn flush_needs_room_too() {
    sums().flush(&mut []);
}

#[test]
#[should_panic(expected = "outputs are whole structs of 8 bytes")]
fn outputs_are_whole_structs() {
    sums().flush(&mut AlignedBytes::zeroed(20));
}

#[test]
#[should_panic(expected = "inputs are aligned")]
fn unaligned_inputs_are_not_read() {
    let mut sums = sums();
    let mut outputs = sums.library().outputs();
    sums.step(&AlignedBytes::zeroed(20)[4..], &mut outputs);
}

/// Sums of rows, in pieces that the host runs.
const PIECES: &str = r"
#include <stddef.h>
#include <stdint.h>
typedef struct { double x; } sums_in;
typedef struct { double sum; } sums_out;
typedef struct { double rows[100]; } sums_state;
typedef void (*Piece)(void *context, size_t piece);
typedef void (*Run)(size_t pieces, size_t terms, void *context, Piece piece);
static Run run = 0;

void sums_parallel(Run given) { run = given; }
void sums_reset_state(sums_state *self) { (void)self; }
void sums_reset(sums_state *self) { (void)self; }
static void row(void *context, size_t piece) {
  double sum = 0;
  for (size_t i = 0; i < 1000; i++) sum += (double)(piece * i) / 7.0;
  ((sums_state *)context)->rows[piece] += sum;
}
int32_t sums_step(sums_state *self, const sums_in *in, sums_out *out) {
  (void)in;
  run(100, 1 << 17, self, row);
  out[0].sum = 0;
  for (size_t i = 0; i < 100; i++) out[0].sum += self->rows[i];
  return 1;
}
int32_t sums_flush(sums_state *self, sums_out *out) { (void)self; (void)out; return 0; }
";

fn pieces() -> Library {
    let object = Object::of(PIECES);
    let sizes = Sizes { state: 800, input: 8, output: 8, max_outputs: 1 };
    Library::open(&object.path, &hash(&object.path), "sums", sizes).expect("it is right")
}

fn threads(n: usize) -> Threads {
    Threads::new(NonZero::new(n).expect("at least one"))
}

/// The state after 200 steps.
fn after_steps(library: &Library) -> Vec<u8> {
    let mut instance = Instance::new(library);
    let (input, mut output) = (library.input(), library.outputs());
    for _ in 0..200 {
        assert_eq!(instance.step(&input, &mut output), 1);
    }
    instance.state().to_vec()
}

#[test]
fn each_piece_is_run_once_whatever_the_number_of_threads() {
    let library = pieces();
    let alone = after_steps(&library);
    assert!(alone.iter().any(|byte| *byte != 0));
    for n in [1, 2, 3, 8, 2] {
        assert_eq!(after_steps(&library.with_threads(&threads(n))), alone, "{n} threads");
    }
}

#[test]
fn handles_with_different_numbers_of_threads_work_at_the_same_time() {
    let library = pieces();
    let alone = after_steps(&library);
    std::thread::scope(|scope| {
        let running: Vec<_> = [1, 2, 3, 4]
            .map(|n| library.with_threads(&threads(n)))
            .into_iter()
            .map(|library| scope.spawn(move || after_steps(&library)))
            .collect();
        for thread in running {
            assert_eq!(thread.join().expect("it does not panic"), alone);
        }
    });
}

/// A program whose pieces wait until two of them run at the same time.
const MEETING: &str = r"
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
typedef struct { double x; } sums_in;
typedef struct { double n_met; } sums_out;
typedef struct { atomic_int n_here; atomic_int n_met; } sums_state;
typedef void (*Piece)(void *context, size_t piece);
typedef void (*Run)(size_t pieces, size_t terms, void *context, Piece piece);
static Run run = 0;

void sums_parallel(Run given) { run = given; }
void sums_reset_state(sums_state *self) { (void)self; }
void sums_reset(sums_state *self) { (void)self; }
static void meet(void *context, size_t piece) {
  sums_state *self = context;
  (void)piece;
  atomic_fetch_add(&self->n_here, 1);
  time_t start = time(0);
  while (atomic_load(&self->n_here) < 2 && time(0) - start < 3) {}
  if (atomic_load(&self->n_here) >= 2) atomic_fetch_add(&self->n_met, 1);
}
int32_t sums_step(sums_state *self, const sums_in *in, sums_out *out) {
  (void)in;
  run(2, 1 << 30, self, meet);
  out[0].n_met = atomic_load(&self->n_met);
  return 1;
}
int32_t sums_flush(sums_state *self, sums_out *out) { (void)self; (void)out; return 0; }
";

#[test]
fn as_many_threads_compute_as_the_handle_has() {
    let object = Object::of(MEETING);
    let sizes = Sizes { state: 8, input: 8, output: 8, max_outputs: 1 };
    let library = Library::open(&object.path, &hash(&object.path), "sums", sizes).expect("it is right");
    let n_met = |library: Library| {
        let mut instance = Instance::new(&library);
        let (input, mut output) = (library.input(), library.outputs());
        assert_eq!(instance.step(&input, &mut output), 1);
        number(&output, 0)
    };
    assert_eq!(n_met(library.with_threads(&threads(2))), 2.0, "both pieces run at the same time");
    assert_eq!(
        n_met(library.with_threads(&threads(1))),
        1.0,
        "the second one finds the first has been there"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn workers_end_with_the_last_handle() {
    // Other tests of this process have workers of their own, with lower numbers.
    const N: usize = 23;
    let n_last = || {
        let tasks = fs::read_dir("/proc/self/task").expect("the system tells its threads");
        let name =
            |task: std::io::Result<fs::DirEntry>| fs::read_to_string(task.ok()?.path().join("comm")).ok();
        tasks.filter_map(name).filter(|name| name.trim() == format!("eddy-{}", N - 1)).count()
    };
    let handle = threads(N);
    let library = pieces().with_threads(&handle);
    let mut instance = Instance::new(&library);
    let (input, mut output) = (library.input(), library.outputs());
    let until = |n_wanted: usize, work: &mut dyn FnMut()| {
        (0..10_000).any(|_| {
            work();
            std::thread::sleep(std::time::Duration::from_millis(1));
            n_last() == n_wanted
        })
    };
    // Work that arrives right after other work wakes workers.
    assert!(until(1, &mut || (0..3).for_each(|_| {
        instance.step(&input, &mut output);
    })));
    drop((handle, library, instance));
    assert!(until(0, &mut || ()));
}
