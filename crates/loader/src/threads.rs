//! Runs the pieces of large work at the same time: products, sums of outer products, convolutions, loops over many elements.
//!
//! Compiled code hands over a number of pieces and a function that computes one. The thread that called takes pieces, and so do some others, the
//! helpers; when all are done, the call returns. Which thread computes a piece does not show in its result.
//!
//! Three things decide whether that pays:
//!
//! * *Waking.* A thread that sleeps is woken by a system call, and is there some tens of microseconds later. So a helper that has nothing to do first
//!   looks for work for a while, [`AWAKE`], and then sleeps. A program costs at most that much of each other core after each work, however rare its work is.
//! * *Rare work.* If helpers sleep, small work is done before they are there. So nobody is woken for it, unless there was other work shortly before: then
//!   there will probably be more, and helpers are awake for that.
//! * *Caches.* A thread begins with its own share of the pieces, which is the same each time: what a piece reads and writes is in the cache
//!   of the core that had it last time. Who is done with its share helps others with theirs.

use std::ffi::c_void;
use std::hint::spin_loop;
use std::num::NonZero;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Computes one piece.
type Piece = unsafe extern "C" fn(*mut c_void, usize);
/// Runs all pieces of work that has so many terms.
pub(crate) type RunPieces = unsafe extern "C" fn(usize, usize, *mut c_void, Piece);

/// So long a helper looks for work before it sleeps. Between two products of a recurrent layer there are some tens of microseconds.
const AWAKE: Duration = Duration::from_micros(100);

/// Work of so many terms is worth waking somebody: one thread adds up about twenty terms in a nanosecond, so it has fifty microseconds to do.
const LARGE: usize = 1 << 20;

/// How many threads compute, the calling one included; 0 until it is set or asked for.
static N_THREADS: AtomicUsize = AtomicUsize::new(0);

/// Lets so many threads compute large work, the one that calls included; none means as many as the machine has.
pub fn set_threads(n: Option<usize>) {
    N_THREADS.store(n.unwrap_or_else(available).max(1), Ordering::Relaxed);
}

fn available() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

fn n_threads() -> usize {
    if N_THREADS.load(Ordering::Relaxed) == 0 {
        set_threads(None);
    }
    N_THREADS.load(Ordering::Relaxed)
}

/// Pieces that are being computed.
struct Work {
    context: *mut c_void,
    piece: Piece,
    n_pieces: usize,
    /// For each thread the pieces that it begins with.
    shares: Vec<Share>,
    n_done: AtomicUsize,
}

/// Some pieces: the next one to be taken, and where they end. Alone in its cache line, since its thread writes it at each piece.
#[repr(align(64))]
struct Share {
    next: AtomicUsize,
    end: usize,
}

// SAFETY: the context is read by the function of the pieces alone, which may run on several threads at the same time (see the crate documentation). Nobody
// calls it when the last piece is done, and until then whoever handed the work over waits.
unsafe impl Send for Work {}
// SAFETY: as above.
unsafe impl Sync for Work {}

impl Work {
    /// Computes pieces as long as there are any, first those of the own share.
    fn help(&self, own: usize) {
        let (others, first) = self.shares.split_at(own);
        for share in first.iter().chain(others) {
            loop {
                let number = share.next.fetch_add(1, Ordering::Relaxed);
                if number >= share.end {
                    break;
                }
                // SAFETY: the piece exists, no other thread has taken it, and the context is there until it is done.
                unsafe { (self.piece)(self.context, number) }
                self.n_done.fetch_add(1, Ordering::Release);
            }
        }
    }

    /// Waits for the pieces that others are computing.
    fn wait(&self) {
        look_until(|| self.n_done.load(Ordering::Acquire) == self.n_pieces);
    }
}

/// Looks again and again whether something holds. Who waits for somebody that was interrupted may be on the core that this one needs.
fn look_until(holds: impl Fn() -> bool) {
    let mut n_looks = 0_u32;
    while !holds() {
        n_looks = n_looks.wrapping_add(1);
        if n_looks.is_multiple_of(64) { thread::yield_now() } else { spin_loop() }
    }
}

/// What helpers wait for.
struct Shared {
    /// The work at hand, and how often there was other work before it.
    work: Option<Arc<Work>>,
    turn: u64,
    /// When there was work last, handed over or not.
    last: Option<Instant>,
    /// How many threads there are besides those that call, and how many of them sleep.
    n_helpers: usize,
    n_asleep: usize,
}

static SHARED: Mutex<Shared> =
    Mutex::new(Shared { work: None, turn: 0, last: None, n_helpers: 0, n_asleep: 0 });
static NEWS: Condvar = Condvar::new();
/// [`Shared::turn`], for those who look without asking.
static TURN: AtomicU64 = AtomicU64::new(0);

fn shared() -> MutexGuard<'static, Shared> {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs all pieces of work that has so many terms, or takes as long, and returns when they are done.
///
/// # Safety
///
/// The function may be called with the context and each number below `n_pieces`, from several threads at the same time.
pub(crate) unsafe extern "C" fn run_pieces(
    n_pieces: usize,
    n_terms: usize,
    context: *mut c_void,
    piece: Piece,
) {
    let n_shares = n_threads().min(n_pieces);
    if n_shares < 2 {
        for number in 0..n_pieces {
            // SAFETY: this thread alone computes all pieces.
            unsafe { piece(context, number) }
        }
        return;
    }
    let share = |number: usize| {
        let first = |number: usize| n_pieces * number / n_shares;
        Share { next: AtomicUsize::new(first(number)), end: first(number + 1) }
    };
    let shares = (0..n_shares).map(share).collect();
    let work = Arc::new(Work { context, piece, n_pieces, shares, n_done: AtomicUsize::new(0) });
    announce(&work, n_terms);
    work.help(0);
    work.wait();
}

/// Tells helpers of work, if that pays. If others have work at the same time, the newest is helped with; each caller does what is left of its own.
fn announce(work: &Arc<Work>, n_terms: usize) {
    let now = Instant::now();
    let mut shared = shared();
    // Half of this for the work itself.
    let is_rare = shared.last.replace(now).is_none_or(|last| now - last > 2 * AWAKE);
    let all_are_awake = shared.n_helpers > 0 && shared.n_asleep == 0;
    if n_terms < LARGE && is_rare && !all_are_awake {
        return;
    }
    while shared.n_helpers + 1 < work.shares.len() {
        let number = shared.n_helpers + 1;
        // Where there are no more threads to be had, fewer will do.
        if thread::Builder::new().name(format!("eddy-{number}")).spawn(move || live(number)).is_err() {
            break;
        }
        shared.n_helpers += 1;
    }
    shared.work = Some(Arc::clone(work));
    shared.turn += 1;
    TURN.store(shared.turn, Ordering::Release);
    let somebody_sleeps = shared.n_asleep > 0;
    drop(shared);
    if somebody_sleeps {
        NEWS.notify_all();
    }
}

/// The life of a helper. It ends when fewer are wanted: the one with the highest number goes first.
fn live(number: usize) {
    let mut seen = 0;
    loop {
        if number < N_THREADS.load(Ordering::Relaxed) {
            let start = Instant::now();
            look_until(|| TURN.load(Ordering::Acquire) != seen || start.elapsed() > AWAKE);
        }
        let mut shared = shared();
        while shared.turn == seen {
            shared.n_asleep += 1;
            shared = NEWS.wait(shared).unwrap_or_else(PoisonError::into_inner);
            shared.n_asleep -= 1;
        }
        seen = shared.turn;
        if number >= N_THREADS.load(Ordering::Relaxed) && number == shared.n_helpers {
            shared.n_helpers -= 1;
            return;
        }
        let work = shared.work.clone();
        drop(shared);
        // Work of few pieces has fewer shares.
        if let Some(work) = work.filter(|work| number < work.shares.len()) {
            work.help(number);
        }
    }
}
