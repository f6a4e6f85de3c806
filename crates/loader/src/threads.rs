//! Runs the pieces of a large product at the same time.
//!
//! Compiled code hands over a number of pieces and a function that computes one. The thread that called takes pieces, and so do some others, which
//! sleep meanwhile; when all are done, the call returns. Which thread computes a piece does not show in its result.

use std::ffi::c_void;
use std::hint::spin_loop;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

/// Computes one piece.
type Piece = unsafe extern "C" fn(*mut c_void, usize);
/// Runs all pieces.
pub(crate) type RunPieces = unsafe extern "C" fn(usize, *mut c_void, Piece);

/// How many threads compute, the calling one included; 0 until it is set or asked for.
static N_THREADS: AtomicUsize = AtomicUsize::new(0);

/// Lets so many threads compute large products, the one that calls included; none means as many as the machine has.
pub fn set_threads(n: Option<usize>) {
    N_THREADS.store(n.unwrap_or_else(available).max(1), Ordering::Relaxed);
}

fn available() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Pieces that are being computed.
struct Work {
    context: *mut c_void,
    piece: Piece,
    n_pieces: usize,
    /// How many have been taken, and how many are done.
    taken: AtomicUsize,
    done: AtomicUsize,
}

// SAFETY: the context is read by the function of the pieces alone, which may run on several threads at the same time (see the crate documentation). Nobody
// calls it when the last piece is done, and until then whoever handed the work over waits.
unsafe impl Send for Work {}
// SAFETY: as above.
unsafe impl Sync for Work {}

impl Work {
    /// Computes pieces as long as there are any.
    fn help(&self) {
        loop {
            let number = self.taken.fetch_add(1, Ordering::Relaxed);
            if number >= self.n_pieces {
                return;
            }
            // SAFETY: the piece exists, no other thread has taken it, and the context is there until it is done.
            unsafe { (self.piece)(self.context, number) }
            self.done.fetch_add(1, Ordering::Release);
        }
    }
}

/// What sleeping threads wait for.
struct Shared {
    /// The work at hand, and how often there was other work before it.
    work: Option<Arc<Work>>,
    turn: u64,
    /// How many threads there are besides those that call.
    n_helpers: usize,
}

static SHARED: Mutex<Shared> = Mutex::new(Shared { work: None, turn: 0, n_helpers: 0 });
static NEWS: Condvar = Condvar::new();

/// Runs all pieces, and returns when they are done.
///
/// # Safety
///
/// The function may be called with the context and each number below `n_pieces`, from several threads at the same time.
pub(crate) unsafe extern "C" fn run_pieces(n_pieces: usize, context: *mut c_void, piece: Piece) {
    if N_THREADS.load(Ordering::Relaxed) == 0 {
        set_threads(None);
    }
    let n_threads = N_THREADS.load(Ordering::Relaxed);
    let work = Work { context, piece, n_pieces, taken: AtomicUsize::new(0), done: AtomicUsize::new(0) };
    if n_threads == 1 || n_pieces < 2 {
        return work.help();
    }
    let work = Arc::new(work);
    announce(&work, n_threads - 1);
    work.help();
    let mut n_looks = 0_u32;
    while work.done.load(Ordering::Acquire) < n_pieces {
        n_looks += 1;
        // A thread that was interrupted in the middle of a piece may need this processor.
        if n_looks.is_multiple_of(1 << 10) { thread::yield_now() } else { spin_loop() }
    }
}

/// Wakes helpers. If others have work at the same time, the newest is helped with; each caller does what is left of its own.
fn announce(work: &Arc<Work>, n_helpers: usize) {
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    while shared.n_helpers < n_helpers {
        let number = shared.n_helpers;
        // Where there are no more threads to be had, fewer will do.
        if thread::Builder::new().name(format!("eddy-{number}")).spawn(move || sleep(number)).is_err() {
            break;
        }
        shared.n_helpers += 1;
    }
    shared.work = Some(Arc::clone(work));
    shared.turn += 1;
    drop(shared);
    NEWS.notify_all();
}

/// The life of a helper.
fn sleep(number: usize) {
    let mut seen = 0;
    loop {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        while shared.turn == seen {
            shared = NEWS.wait(shared).unwrap_or_else(PoisonError::into_inner);
        }
        seen = shared.turn;
        let work = shared.work.clone();
        drop(shared);
        // Some may be there from a time when more were wanted.
        if number + 1 < N_THREADS.load(Ordering::Relaxed)
            && let Some(work) = work
        {
            work.help();
        }
    }
}
