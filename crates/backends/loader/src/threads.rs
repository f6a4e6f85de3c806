//! Runs the pieces of large work in parallel: products, sums of outer products, convolutions, loops over many
//! elements.
//!
//! Compiled code hands out a number of pieces and a function that computes one piece. The calling thread and
//! some further threads, the workers, take pieces until all are done; then the call returns. The result does
//! not depend on which thread computes a piece. The workers belong to a handle, [`Threads`]: two sessions of
//! one process have separate workers, in different numbers.
//!
//! Three things decide whether this is faster than one thread:
//!
//! * *Waking.* A system call wakes a sleeping thread, and the thread runs some tens of microseconds later. So
//!   an idle worker first spins for [`SPIN_TIME`] and then sleeps. A program therefore costs at most that
//!   much time of each other core after each work, however rare its work is.
//! * *Rare work.* Small work is finished before sleeping workers have woken up, so it wakes none. After
//!   recent work it does: more work will probably follow, and the workers will be awake for it.
//! * *Caches.* A thread begins with its own share of the pieces, which is the same each time: the data of a
//!   piece are in the cache of the core that computed it last. A thread that has finished its share takes
//!   pieces of other shares.

use std::cell::RefCell;
use std::ffi::c_void;
use std::fmt;
use std::hint::spin_loop;
use std::num::NonZero;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Computes one piece.
type Piece = unsafe extern "C" fn(*mut c_void, usize);
/// Runs all pieces: `(n_pieces, n_terms, context, piece)`.
pub(crate) type RunPieces = unsafe extern "C" fn(usize, usize, *mut c_void, Piece);

/// How long an idle worker spins before it sleeps. Two products of a recurrent layer are some tens of
/// microseconds apart.
const SPIN_TIME: Duration = Duration::from_micros(100);

/// From this many terms on, work wakes sleeping workers: one thread adds about twenty terms per nanosecond,
/// so it would take fifty microseconds alone.
const WAKING_TERMS: usize = 1 << 20;

/// Threads that compute large work together. Clones share the threads, which end when the last clone is
/// dropped.
///
/// Workers start with the first work that needs them, so a handle without large work costs nothing.
#[derive(Clone)]
pub struct Threads(Arc<Handle>);

struct Handle {
    pool: Arc<Pool>,
}

/// The state that a handle and its workers share.
struct Pool {
    /// The number of threads that compute, including the caller.
    n_threads: usize,
    shared: Mutex<Shared>,
    wake: Condvar,
    /// A copy of [`Shared::turn`] that spinning workers read without the lock.
    turn: AtomicU64,
}

impl Threads {
    /// `n` threads, including the caller.
    pub fn new(n: NonZero<usize>) -> Threads {
        let shared = Shared { work: None, turn: 0, last: None, n_workers: 0, n_asleep: 0, is_stopped: false };
        let pool = Pool {
            n_threads: n.get(),
            shared: Mutex::new(shared),
            wake: Condvar::new(),
            turn: AtomicU64::new(0),
        };
        Threads(Arc::new(Handle { pool: Arc::new(pool) }))
    }

    /// The calling thread only.
    pub fn alone() -> Threads {
        Threads::new(NonZero::<usize>::MIN)
    }

    /// One thread per core of the machine.
    pub fn of_machine() -> Threads {
        Threads::new(thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN))
    }

    /// The number of threads that compute, including the caller.
    pub fn n(&self) -> usize {
        self.0.pool.n_threads
    }

    /// Until the guard is dropped, these threads run the pieces that compiled code hands out on the current
    /// thread.
    pub(crate) fn enter(&self) -> Entered {
        Entered { before: CURRENT.replace(Some(Arc::clone(&self.0.pool))) }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let mut shared = self.pool.shared();
        shared.is_stopped = true;
        shared.turn += 1;
        self.pool.turn.store(shared.turn, Ordering::Release);
        drop(shared);
        self.pool.wake.notify_all();
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Threads({})", self.n())
    }
}

thread_local! {
    /// The threads of the program that runs on this thread. Compiled code knows only the address of
    /// [`run_pieces`] and cannot pass a handle.
    static CURRENT: RefCell<Option<Arc<Pool>>> = const { RefCell::new(None) };
}

/// Guards a call of compiled code; on drop, the previous threads are current again.
pub(crate) struct Entered {
    before: Option<Arc<Pool>>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.before.take());
    }
}

/// Pieces in progress.
struct Work {
    context: *mut c_void,
    piece: Piece,
    n_pieces: usize,
    /// For each thread, the pieces that it begins with.
    shares: Vec<Share>,
    n_done: AtomicUsize,
}

/// A range of pieces: the next one to take, and the end. It has a cache line of its own, since its thread
/// writes it at each piece.
#[repr(align(64))]
struct Share {
    next: AtomicUsize,
    end: usize,
}

// SAFETY: only the function of the pieces reads the context, and it may run on several threads at the same
// time (see the crate documentation). No thread calls it after the last piece is done, and until then the
// thread that handed out the work waits.
unsafe impl Send for Work {}
// SAFETY: as above.
unsafe impl Sync for Work {}

impl Work {
    /// Computes pieces until none is left, starting with the thread's own share.
    fn run_pieces_from(&self, own_share: usize) {
        let (before, from_own) = self.shares.split_at(own_share);
        for share in from_own.iter().chain(before) {
            loop {
                let number = share.next.fetch_add(1, Ordering::Relaxed);
                if number >= share.end {
                    break;
                }
                // SAFETY: the piece exists, no other thread has taken it, and the context is valid until the
                // piece is done.
                unsafe { (self.piece)(self.context, number) }
                self.n_done.fetch_add(1, Ordering::Release);
            }
        }
    }

    /// Waits for the pieces that other threads are computing.
    fn wait(&self) {
        spin_until(|| self.n_done.load(Ordering::Acquire) == self.n_pieces);
    }
}

/// Spins until the condition holds. It yields now and then: the thread it waits for may have been interrupted
/// and need this core.
fn spin_until(holds: impl Fn() -> bool) {
    let mut n_spins = 0_u32;
    while !holds() {
        n_spins = n_spins.wrapping_add(1);
        if n_spins.is_multiple_of(64) { thread::yield_now() } else { spin_loop() }
    }
}

/// The state behind the lock.
struct Shared {
    /// The newest work, and the number of works and stops announced so far.
    work: Option<Arc<Work>>,
    turn: u64,
    /// When work last arrived, whether or not workers were woken for it.
    last: Option<Instant>,
    /// The number of workers, and how many of them sleep.
    n_workers: usize,
    n_asleep: usize,
    /// Whether the last handle was dropped.
    is_stopped: bool,
}

impl Pool {
    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Announces work to the workers, if that pays off. If several callers have work at the same time,
    /// workers take the newest; each caller finishes its own.
    fn announce(self: &Arc<Pool>, work: &Arc<Work>, n_terms: usize) {
        let now = Instant::now();
        let mut shared = self.shared();
        // One spin time for the pause, and one for the work itself.
        let is_rare = shared.last.replace(now).is_none_or(|last| now - last > 2 * SPIN_TIME);
        let all_are_awake = shared.n_workers > 0 && shared.n_asleep == 0;
        if n_terms < WAKING_TERMS && is_rare && !all_are_awake {
            return;
        }
        while shared.n_workers + 1 < work.shares.len() {
            let number = shared.n_workers + 1;
            let pool = Arc::clone(self);
            // If the system gives no more threads, continue with fewer.
            if thread::Builder::new()
                .name(format!("eddy-{number}"))
                .spawn(move || pool.run_worker(number))
                .is_err()
            {
                break;
            }
            shared.n_workers += 1;
        }
        shared.work = Some(Arc::clone(work));
        shared.turn += 1;
        self.turn.store(shared.turn, Ordering::Release);
        let is_any_asleep = shared.n_asleep > 0;
        drop(shared);
        if is_any_asleep {
            self.wake.notify_all();
        }
    }

    /// The loop of a worker; it returns when the last handle is dropped.
    fn run_worker(&self, number: usize) {
        let mut seen_turn = 0;
        loop {
            let start = Instant::now();
            spin_until(|| self.turn.load(Ordering::Acquire) != seen_turn || start.elapsed() > SPIN_TIME);
            let mut shared = self.shared();
            while shared.turn == seen_turn {
                shared.n_asleep += 1;
                shared = self.wake.wait(shared).unwrap_or_else(PoisonError::into_inner);
                shared.n_asleep -= 1;
            }
            seen_turn = shared.turn;
            if shared.is_stopped {
                return;
            }
            let work = shared.work.clone();
            drop(shared);
            // Work of few pieces has fewer shares than there are threads.
            if let Some(work) = work.filter(|work| number < work.shares.len()) {
                work.run_pieces_from(number);
            }
        }
    }
}

/// Runs all pieces, with `n_terms` as the estimate of the work, and returns when they are done.
///
/// # Safety
///
/// The function may be called with the context and each number below `n_pieces`, from several threads at the
/// same time.
pub(crate) unsafe extern "C" fn run_pieces(
    n_pieces: usize,
    n_terms: usize,
    context: *mut c_void,
    piece: Piece,
) {
    let pool = CURRENT.with_borrow(Clone::clone);
    let n_shares = pool.as_ref().map_or(1, |pool| pool.n_threads).min(n_pieces);
    let Some(pool) = pool.filter(|_| n_shares > 1) else {
        for number in 0..n_pieces {
            // SAFETY: this thread alone computes all pieces.
            unsafe { piece(context, number) }
        }
        return;
    };
    let share = |number: usize| {
        let first = |number: usize| n_pieces * number / n_shares;
        Share { next: AtomicUsize::new(first(number)), end: first(number + 1) }
    };
    let shares = (0..n_shares).map(share).collect();
    let work = Arc::new(Work { context, piece, n_pieces, shares, n_done: AtomicUsize::new(0) });
    pool.announce(&work, n_terms);
    work.run_pieces_from(0);
    work.wait();
}
