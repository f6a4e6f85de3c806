//! Inputs that nobody would write, from a fixed seed: a language survives them all.

use crate::law::{factor, show};

/// Tries the inputs that random bytes stand for, `cases` times `EDDY_CASES`; one that is not survived is shown.
pub fn try_random(
    cases: u64,
    max_len: usize,
    input: impl Fn(&[u8]) -> Vec<u8>,
    survives: impl Fn(&[u8]) + std::panic::RefUnwindSafe,
) {
    for case in 0..cases * u64::from(factor()) {
        let mut random = Random(case + 1);
        let len = usize::try_from(random.next()).unwrap_or(usize::MAX) % max_len;
        let bytes: Vec<u8> = (0..len).map(|_| random.next().to_le_bytes()[4]).collect();
        let input = input(&bytes);
        if let Err(panic) = std::panic::catch_unwind(|| survives(&input)) {
            show(&format!("case {case}:\n{}", String::from_utf8_lossy(&input)));
            std::panic::resume_unwind(panic);
        }
    }
}

/// Random numbers (splitmix64): each seed gives others.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// Bytes as they are, or, half of the time, as printable ones, or nothing but the lexer would be reached.
pub fn half_printable(bytes: &[u8]) -> Vec<u8> {
    let printable = |byte: &u8| if byte.is_ascii() { *byte } else { b' ' + byte % 95 };
    bytes.iter().map(|byte| if bytes.len().is_multiple_of(2) { *byte } else { printable(byte) }).collect()
}
