//! Compiled functions: calls with machine words as arguments, an arena, and a stack for deep recursion.
//!
//! ```c
//! int SYMBOL(eddy_arena *a, const eddy_word *in, eddy_word *out);      // 0, or the code of a failure
//! ```
//!
//! A scalar is one word, a tensor is its address and its sizes. The first word of the arena holds the end of
//! the stack; the words after it hold the arguments of a failure.

use std::alloc::{Layout, alloc, dealloc};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;
use std::{fmt, thread};

use crate::library::{LoadError, open_checked, platform, symbol};

/// `eddy_arena`.
#[repr(C)]
struct CArena {
    base: *mut u8,
    size: usize,
    low: usize,
    high: usize,
    fuel: i64,
    depth: i64,
    line: i32,
    col: i32,
}

type Call = unsafe extern "C" fn(*mut CArena, *const u64, *mut u64) -> i32;

/// The part at the start of the arena that belongs to the runtime, `EDDY_RESERVED`.
const RESERVED: usize = 1024;

/// Stack reserved per call. Frames of compiled functions take a few hundred bytes. With larger frames, the
/// reachable depth is smaller than the limit and the failure is the same.
const BYTES_PER_CALL: usize = 4096;

/// Stack that must remain when a recursion fails: functions that do not recurse do not check the stack.
const STACK_MARGIN: usize = 1 << 18;

/// Compiled functions. Clones share them.
#[derive(Clone)]
pub struct Functions(Arc<platform::Library>);

/// One compiled function.
#[derive(Clone)]
pub struct Entry {
    call: Call,
    _object: Functions,
}

/// Memory for temporaries and results. One call uses it at a time.
pub struct Arena {
    base: NonNull<u8>,
    size: usize,
}

/// An argument: its shape (empty for a scalar) and its elements.
#[derive(Clone, Copy, Debug)]
pub struct Argument<'a> {
    pub shape: &'a [usize],
    pub elements: Elements<'a>,
}

#[derive(Clone, Copy, Debug)]
pub enum Elements<'a> {
    Num(&'a [f64]),
    Int(&'a [i64]),
    Bool(&'a [bool]),
}

/// The kind and rank of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementKind {
    Num,
    Int,
    Bool,
}

/// A result: its shape and its elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    pub shape: Vec<usize>,
    pub elements: OutputElements,
}

#[derive(Clone, Debug, PartialEq)]
pub enum OutputElements {
    Num(Vec<f64>),
    Int(Vec<i64>),
    Bool(Vec<bool>),
}

/// The limits of a call.
#[derive(Clone, Copy, Debug)]
pub struct CallLimits {
    pub fuel: i64,
    pub depth: i64,
    pub is_recursive: bool,
}

/// A failure of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// The public code: 1 range, 2 overflow, and so on.
    pub code: i32,
    pub line: i32,
    pub col: i32,
    /// The exact failure and its arguments.
    pub what: i64,
    pub details: Vec<i64>,
}

impl Functions {
    /// Opens an object if its blake3 hash equals the one recorded when it was built.
    pub fn open(path: &Path, hash: &blake3::Hash) -> Result<Functions, LoadError> {
        Ok(Functions(Arc::new(open_checked(path, hash)?)))
    }

    /// The function `NAME_ROLE`.
    pub fn entry(&self, name: &str, role: &str) -> Result<Entry, LoadError> {
        // SAFETY: this is the type that `eddy-compile` declares for functions that take words.
        let call = unsafe { symbol::<Call>(&self.0, name, role)? };
        Ok(Entry { call, _object: self.clone() })
    }
}

impl fmt::Debug for Functions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Functions")
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Entry")
    }
}

impl fmt::Debug for Arena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Arena({} bytes)", self.size)
    }
}

// SAFETY: `Arena` owns its memory; nothing else refers to it.
unsafe impl Send for Arena {}

impl Arena {
    /// `bytes` bytes, or as many of them as the system promises. The system maps them on first access.
    pub fn new(bytes: usize) -> Arena {
        let mut size = bytes.max(RESERVED).next_multiple_of(64) + RESERVED;
        loop {
            let layout = Arena::layout(size);
            // SAFETY: the size is not 0.
            let base = NonNull::new(unsafe { alloc(layout) });
            match base {
                Some(base) => {
                    // SAFETY: an arena is larger than this part.
                    unsafe { base.as_ptr().write_bytes(0, RESERVED) }
                    return Arena { base, size };
                }
                None if size > 1 << 16 => size = (size / 2).next_multiple_of(64),
                None => std::alloc::handle_alloc_error(layout),
            }
        }
    }

    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size, 64).expect("an arena is smaller than the address space")
    }

    /// A word of the runtime's part.
    #[allow(clippy::cast_ptr_alignment, reason = "an arena is aligned at 64 bytes")]
    fn word(&self, at: usize) -> *mut i64 {
        assert!(at < RESERVED / 8, "the index is in the part of the runtime");
        self.base.as_ptr().cast::<i64>().wrapping_add(at)
    }

    /// An address that compiled code returned, if `bytes` bytes of the arena begin there.
    fn checked(&self, address: u64, bytes: usize) -> *const u8 {
        let offset = usize::try_from(address).ok().and_then(|at| at.checked_sub(self.base.as_ptr().addr()));
        let offset = offset.filter(|at| at.checked_add(bytes).is_some_and(|end| end <= self.size));
        self.base.as_ptr().wrapping_add(offset.expect("compiled code returns addresses inside of its arena"))
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout.
        unsafe { dealloc(self.base.as_ptr(), Arena::layout(self.size)) }
    }
}

/// A call that may run on another thread.
struct Job {
    call: Call,
    arena: *mut CArena,
    input: *const u64,
    output: *mut u64,
    limit: *mut i64,
}

// SAFETY: the thread that made the call waits until it is done.
unsafe impl Send for Job {}

impl Job {
    fn run(self, stack: usize) -> i32 {
        let here = 0_u8;
        let end = if stack == 0 { 0 } else { (&raw const here).addr() - (stack - STACK_MARGIN) };
        // SAFETY: the pointer is to the first word of the arena, which has no other alias.
        unsafe { self.limit.write(i64::try_from(end).unwrap_or(0)) }
        // SAFETY: the function has this type (see `Functions::entry`). It reads one word per parameter word
        // and writes one per result word, which `Entry::call` provides, and the arena has the size that it
        // states.
        unsafe { (self.call)(self.arena, self.input, self.output) }
    }
}

impl Entry {
    /// Calls the function. The arguments have the types of the parameters; `results` are the kinds and ranks
    /// of the results. On return, the fuel in `limits` is the fuel that remains.
    pub fn call(
        &self,
        arena: &mut Arena,
        limits: &mut CallLimits,
        arguments: &[Argument<'_>],
        results: &[(ElementKind, usize)],
    ) -> Result<Vec<Output>, Stopped> {
        let mut input: Vec<u64> = arguments.iter().flat_map(words).collect();
        let mut output = vec![0_u64; results.iter().map(|(_, rank)| 1 + rank).sum()];
        // An empty vector has no address that C may read.
        input.push(0);
        output.push(0);
        let mut state = CArena {
            base: arena.base.as_ptr(),
            size: arena.size,
            low: RESERVED,
            high: arena.size,
            fuel: limits.fuel,
            depth: limits.depth,
            line: 0,
            col: 0,
        };
        let job = || Job {
            call: self.call,
            arena: &raw mut state,
            input: input.as_ptr(),
            output: output.as_mut_ptr(),
            limit: arena.word(0),
        };
        let code = run(job, *limits);
        limits.fuel = state.fuel;
        if code != 0 {
            // SAFETY: the word is inside the arena, and `Arena::new` initialised it.
            let what = unsafe { arena.word(1).read() };
            // SAFETY: as above.
            let details = (2..RESERVED / 8).map(|at| unsafe { arena.word(at).read() });
            return Err(Stopped { code, line: state.line, col: state.col, what, details: details.collect() });
        }
        let mut words = output.into_iter();
        let mut next = || words.next().expect("there is a word for each part of a result");
        let outputs = results.iter().map(|(kind, rank)| {
            let value = next();
            let shape: Vec<usize> =
                (0..*rank).map(|_| usize::try_from(next()).expect("a size fits into memory")).collect();
            Output { elements: read(arena, *kind, value, (*rank > 0).then(|| shape.iter().product())), shape }
        });
        Ok(outputs.collect())
    }
}

/// Runs a call on this thread, or on a new thread whose stack is large enough for its depth.
fn run(mut job: impl FnMut() -> Job, limits: CallLimits) -> i32 {
    if !limits.is_recursive {
        return job().run(0);
    }
    let depth = usize::try_from(limits.depth).unwrap_or(0).saturating_add(64);
    let mut stack = depth.saturating_mul(BYTES_PER_CALL).clamp(4 * STACK_MARGIN, 1 << 36);
    loop {
        let spawned = thread::scope(|scope| {
            let job = job();
            let thread = thread::Builder::new().stack_size(stack).spawn_scoped(scope, move || job.run(stack));
            thread.map(|thread| thread.join().expect("compiled code does not panic"))
        });
        match spawned {
            Ok(code) => return code,
            Err(_) if stack > 8 * STACK_MARGIN => stack /= 2,
            // The system gives no thread: limit the recursion to this much of the current stack.
            Err(_) => return job().run(2 * STACK_MARGIN),
        }
    }
}

fn words(argument: &Argument<'_>) -> Vec<u64> {
    let is_scalar = argument.shape.is_empty();
    let size: usize = argument.shape.iter().product();
    let address = |len: usize, address: usize| {
        assert_eq!(len, size, "an argument has as many elements as its shape");
        address as u64
    };
    let first = match argument.elements {
        Elements::Num(xs) if is_scalar => xs[0].to_bits(),
        Elements::Int(xs) if is_scalar => xs[0].cast_unsigned(),
        Elements::Bool(xs) if is_scalar => u64::from(xs[0]),
        Elements::Num(xs) => address(xs.len(), xs.as_ptr().expose_provenance()),
        Elements::Int(xs) => address(xs.len(), xs.as_ptr().expose_provenance()),
        Elements::Bool(xs) => address(xs.len(), xs.as_ptr().expose_provenance()),
    };
    std::iter::once(first).chain(argument.shape.iter().map(|size| *size as u64)).collect()
}

/// Reads a scalar, or a tensor's elements at an address.
fn read(arena: &Arena, kind: ElementKind, word: u64, n: Option<usize>) -> OutputElements {
    let Some(n) = n else {
        return match kind {
            ElementKind::Num => OutputElements::Num(vec![f64::from_bits(word)]),
            ElementKind::Int => OutputElements::Int(vec![word.cast_signed()]),
            ElementKind::Bool => OutputElements::Bool(vec![word != 0]),
        };
    };
    if n == 0 {
        return match kind {
            ElementKind::Num => OutputElements::Num(Vec::new()),
            ElementKind::Int => OutputElements::Int(Vec::new()),
            ElementKind::Bool => OutputElements::Bool(Vec::new()),
        };
    }
    let bytes = if kind == ElementKind::Bool { n } else { 8 * n };
    let start = arena.checked(word, bytes);
    match kind {
        ElementKind::Num => {
            // SAFETY: these bytes are inside the arena, compiled code has written them, and it aligns tensors
            // to 16 bytes.
            let elements: &[f64] = unsafe { std::slice::from_raw_parts(start.cast(), n) };
            OutputElements::Num(elements.to_vec())
        }
        ElementKind::Int => {
            // SAFETY: as above.
            let elements: &[i64] = unsafe { std::slice::from_raw_parts(start.cast(), n) };
            OutputElements::Int(elements.to_vec())
        }
        ElementKind::Bool => {
            // SAFETY: as above; read as bytes, which may have any value.
            let bytes: &[u8] = unsafe { std::slice::from_raw_parts(start, n) };
            OutputElements::Bool(bytes.iter().map(|byte| *byte != 0).collect())
        }
    }
}
