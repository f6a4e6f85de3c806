//! Timing.

use std::time::{Duration, Instant};

/// The number of turns of each side.
const TURNS: usize = 7;

/// The best times of two sides that take turns.
pub fn side_by_side(mut left: impl FnMut(), mut right: impl FnMut()) -> (Duration, Duration) {
    let mut best = (Duration::MAX, Duration::MAX);
    for _ in 0..TURNS {
        best.0 = best.0.min(time(&mut left));
        best.1 = best.1.min(time(&mut right));
    }
    best
}

/// The best time of one side.
pub fn alone(mut side: impl FnMut()) -> Duration {
    (0..TURNS).map(|_| time(&mut side)).min().expect("there are turns")
}

fn time(side: &mut impl FnMut()) -> Duration {
    let start = Instant::now();
    side();
    start.elapsed()
}

/// The quotient of two times.
pub fn ratio(times: (Duration, Duration)) -> f64 {
    times.0.as_secs_f64() / times.1.as_secs_f64()
}
