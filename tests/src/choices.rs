//! A list of numbers, interpreted as decisions of a generator.

/// The decisions that are left.
pub struct Choices<'a> {
    rest: std::slice::Iter<'a, u16>,
}

impl<'a> Choices<'a> {
    /// When the numbers are used up, every further decision is the simplest.
    pub fn new(choices: &'a [u16]) -> Self {
        Choices { rest: choices.iter() }
    }

    /// A number below `n`. Smaller choices give smaller numbers, so that shrinking a choice simplifies the
    /// sample.
    pub fn below(&mut self, n: usize) -> usize {
        let choice = usize::from(self.rest.next().copied().unwrap_or(0));
        (choice * n) >> u16::BITS
    }

    /// Chooses an option; the first is the simplest.
    pub fn among<T: Copy>(&mut self, options: &[T]) -> T {
        options[self.below(options.len())]
    }

    /// Chooses an option with a probability proportional to its weight. The first is the simplest and must
    /// have a positive weight.
    pub fn weighted<T: Copy>(&mut self, options: &[(usize, T)]) -> T {
        let total = options.iter().map(|(weight, _)| weight).sum();
        let mut choice = self.below(total);
        for (weight, option) in options {
            match choice.checked_sub(*weight) {
                None => return *option,
                Some(rest) => choice = rest,
            }
        }
        unreachable!("a choice is below the sum of the weights")
    }

    /// True with probability 1 / `n`.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }
}
