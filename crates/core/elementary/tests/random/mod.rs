//! Random numbers, the same on every run.

/// The generator `SplitMix64`.
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = self.0;
        let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn flip(&mut self) -> bool {
        self.bits() >> 63 == 1
    }

    /// A number between two positive or two negative ones; the one nearer to zero comes first.
    #[allow(clippy::cast_precision_loss)] // 53 bits fit exactly
    pub fn between(&mut self, from: f64, to: f64) -> f64 {
        if self.flip() {
            let (from, to) = (from.to_bits(), to.to_bits());
            f64::from_bits(from + self.bits() % (to - from + 1))
        } else {
            from + (to - from) * ((self.bits() >> 11) as f64 / 53.0_f64.exp2())
        }
    }
}
