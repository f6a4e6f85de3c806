//! Runs the pieces of large work at the same time: products, sums of outer products, convolutions, loops over
//! many elements.
//!
//! Compiled code hands over a number of pieces and a function that computes one. The thread that called takes
//! pieces, and so do some others, the helpers; when all are done, the call returns. Which thread computes a
//! piece does not show in its result. The helpers belong to a handle, [`Threads`]: two sessions of one
//! process have helpers of their own, in different numbers.
//!
//! Three things decide whether that pays:
//!
//! * *Waking.* A thread that sleeps is woken by a system call, and is there some tens of microseconds later.
//!   So a helper that has nothing to do first looks for work for a while, [`AWAKE`], and then sleeps. A
//!   program costs at most that much of each other core after each work, however rare its work is.
//! * *Rare work.* If helpers sleep, small work is done before they are there. So nobody is woken for it,
//!   unless there was other work shortly before: then there will probably be more, and helpers are awake for
//!   that.
//! * *Caches.* A thread begins with its own share of the pieces, which is the same each time: what a piece
//!   reads and writes is in the cache of the core that had it last time. Who is done with its share helps
//!   others with theirs.

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
/// Runs all pieces of work that has so many terms.
pub(crate) type RunPieces = unsafe extern "C" fn(usize, usize, *mut c_void, Piece);

/// So long a helper looks for work before it sleeps. Between two products of a recurrent layer there are some
/// tens of microseconds.
const AWAKE: Duration = Duration::from_micros(100);

/// Work of so many terms is worth waking somebody: one thread adds up about twenty terms in a nanosecond, so
/// it has fifty microseconds to do.
const LARGE: usize = 1 << 20;

/// Threads that compute large work together. Clones are handles of the same threads, which end when the last
/// handle is gone.
///
/// The helpers are started when there is work for them, so a handle that no large work uses costs nothing.
#[derive(Clone)]
pub struct Threads(Arc<Handle>);

struct Handle {
    pool: Arc<Pool>,
}

/// What a handle and its helpers share.
struct Pool {
    /// How many threads compute, the calling one included.
    n_threads: usize,
    shared: Mutex<Shared>,
    news: Condvar,
    /// [`Shared::turn`], for those who look without asking.
    turn: AtomicU64,
}

impl Threads {
    /// So many threads, the one that calls included.
    pub fn new(n: NonZero<usize>) -> Threads {
        let shared = Shared { work: None, turn: 0, last: None, n_helpers: 0, n_asleep: 0, is_stopped: false };
        let pool = Pool {
            n_threads: n.get(),
            shared: Mutex::new(shared),
            news: Condvar::new(),
            turn: AtomicU64::new(0),
        };
        Threads(Arc::new(Handle { pool: Arc::new(pool) }))
    }

    /// The thread that calls, and no other.
    pub fn alone() -> Threads {
        Threads::new(NonZero::<usize>::MIN)
    }

    /// As many threads as the machine has.
    pub fn of_machine() -> Threads {
        Threads::new(thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN))
    }

    /// How many threads compute, the one that calls included.
    pub fn n(&self) -> usize {
        self.0.pool.n_threads
    }

    /// Until the guard is dropped, these threads run the pieces that compiled code hands over on the current
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
        self.pool.news.notify_all();
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Threads({})", self.n())
    }
}

thread_local! {
    /// The threads of the program that runs on this one. Compiled code calls [`run_pieces`] without saying
    /// who asks, since all that it gets is the address of that function.
    static CURRENT: RefCell<Option<Arc<Pool>>> = const { RefCell::new(None) };
}

/// A call of compiled code. What was entered before is entered again afterwards.
pub(crate) struct Entered {
    before: Option<Arc<Pool>>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.before.take());
    }
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

/// Some pieces: the next one to be taken, and where they end. Alone in its cache line, since its thread
/// writes it at each piece.
#[repr(align(64))]
struct Share {
    next: AtomicUsize,
    end: usize,
}

// SAFETY: the context is read by the function of the pieces alone, which may run on several threads at the
// same time (see the crate documentation). Nobody calls it when the last piece is done, and until then
// whoever handed the work over waits.
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
                // SAFETY: the piece exists, no other thread has taken it, and the context is there until it
                // is done.
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

/// Looks again and again whether something holds. Who waits for somebody that was interrupted may be on the
/// core that this one needs.
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
    /// Whether no handle is left.
    is_stopped: bool,
}

impl Pool {
    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells helpers of work, if that pays. If others have work at the same time, the newest is helped with;
    /// each caller does what is left of its own.
    fn announce(self: &Arc<Pool>, work: &Arc<Work>, n_terms: usize) {
        let now = Instant::now();
        let mut shared = self.shared();
        // Half of this for the work itself.
        let is_rare = shared.last.replace(now).is_none_or(|last| now - last > 2 * AWAKE);
        let all_are_awake = shared.n_helpers > 0 && shared.n_asleep == 0;
        if n_terms < LARGE && is_rare && !all_are_awake {
            return;
        }
        while shared.n_helpers + 1 < work.shares.len() {
            let number = shared.n_helpers + 1;
            let pool = Arc::clone(self);
            // Where there are no more threads to be had, fewer will do.
            if thread::Builder::new().name(format!("eddy-{number}")).spawn(move || pool.live(number)).is_err()
            {
                break;
            }
            shared.n_helpers += 1;
        }
        shared.work = Some(Arc::clone(work));
        shared.turn += 1;
        self.turn.store(shared.turn, Ordering::Release);
        let is_someone_asleep = shared.n_asleep > 0;
        drop(shared);
        if is_someone_asleep {
            self.news.notify_all();
        }
    }

    /// The life of a helper, until the last handle is gone.
    fn live(&self, number: usize) {
        let mut seen = 0;
        loop {
            let start = Instant::now();
            look_until(|| self.turn.load(Ordering::Acquire) != seen || start.elapsed() > AWAKE);
            let mut shared = self.shared();
            while shared.turn == seen {
                shared.n_asleep += 1;
                shared = self.news.wait(shared).unwrap_or_else(PoisonError::into_inner);
                shared.n_asleep -= 1;
            }
            seen = shared.turn;
            if shared.is_stopped {
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
}

/// Runs all pieces of work that has so many terms, or takes as long, and returns when they are done.
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
    work.help(0);
    work.wait();
}
