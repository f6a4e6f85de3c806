//! A list of numbers, read as decisions: what generated programs are made of.

/// The decisions that are left.
pub struct Choices<'a> {
    rest: std::slice::Iter<'a, u16>,
}

impl<'a> Choices<'a> {
    /// Decisions that these numbers stand for; when they are used up, the simplest is taken.
    pub fn new(choices: &'a [u16]) -> Self {
        Choices { rest: choices.iter() }
    }

    /// A number below `n`. Smaller choices give smaller numbers, so that shrinking one cannot make things worse.
    pub fn below(&mut self, n: usize) -> usize {
        let choice = usize::from(self.rest.next().copied().unwrap_or(0));
        (choice * n) >> u16::BITS
    }

    /// One of several; the first is the simplest.
    pub fn among<T: Copy>(&mut self, options: &[T]) -> T {
        options[self.below(options.len())]
    }

    /// One of several, each as often as its weight says; the first is the simplest and has a weight.
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

    /// Yes, once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }
}
