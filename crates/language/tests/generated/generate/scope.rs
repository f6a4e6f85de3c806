//! The streams of a node and the clocks of its conditions.

/// The type of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    Num,
    Bool,
    Int,
    /// `num [2]`.
    Vector,
}

impl Ty {
    /// In the syntax of annotations.
    pub fn text(self) -> &'static str {
        match self {
            Ty::Num => "num",
            Ty::Bool => "bool",
            Ty::Int => "int",
            Ty::Vector => "num [2]",
        }
    }
}

/// A clock of a node; the first one is the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockNo(usize);

/// The clock of unsampled inputs.
pub const BASE: ClockNo = ClockNo(0);

/// The maximal number of samplings of a stream.
pub const MAX_SAMPLINGS: usize = 2;

/// `ck on c` or `ck on not c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// The clock of the condition.
    pub of: ClockNo,
    /// The index of the stream that is the condition.
    pub condition: usize,
    /// The value of the condition at which the stream is present.
    pub polarity: bool,
}

/// A stream of a node.
#[derive(Clone, Debug)]
pub struct Stream {
    pub name: String,
    pub ty: Ty,
    pub clock: ClockNo,
    /// The condition of which it is a copy (true) or the negation (false).
    pub alias: Option<(usize, bool)>,
}

/// The streams of a node, in order of definition: those from `n_defined` on come later in the text, so that
/// not every place may mention them.
#[derive(Default)]
pub struct Scope {
    pub streams: Vec<Stream>,
    pub n_defined: usize,
    samplings: Vec<Sampling>,
}

impl Scope {
    /// The sampling of a clock; `None` for the base.
    pub fn sampling(&self, clock: ClockNo) -> Option<Sampling> {
        clock.0.checked_sub(1).map(|index| self.samplings[index])
    }

    /// The number of samplings of a clock.
    pub fn n_samplings(&self, clock: ClockNo) -> usize {
        let mut n = 0;
        let mut at = clock;
        while let Some(sampling) = self.sampling(at) {
            (at, n) = (sampling.of, n + 1);
        }
        n
    }

    /// The clock of streams that are sampled by a condition.
    pub fn on(&mut self, condition: usize, polarity: bool) -> ClockNo {
        let (condition, polarity) = match self.streams[condition].alias {
            Some((origin, is_copy)) => (origin, polarity == is_copy),
            None => (condition, polarity),
        };
        let sampling = Sampling { of: self.streams[condition].clock, condition, polarity };
        let known = self.samplings.iter().position(|other| *other == sampling);
        ClockNo(
            1 + known.unwrap_or_else(|| {
                self.samplings.push(sampling);
                self.samplings.len() - 1
            }),
        )
    }

    /// The streams of a type on a clock that are defined before this place, and optionally those after it.
    pub fn visible(&self, ty: Ty, clock: ClockNo, with_later: bool) -> Vec<usize> {
        let n = if with_later { self.streams.len() } else { self.n_defined };
        let fits = |number: &usize| (self.streams[*number].ty, self.streams[*number].clock) == (ty, clock);
        (0..n).filter(fits).collect()
    }

    /// The names for a condition and its polarity: its own, and those of its copies and negations.
    pub fn names_of(&self, condition: usize, polarity: bool) -> Vec<(String, bool)> {
        let own = (self.streams[condition].name.clone(), polarity);
        let aliases = self.streams[..self.n_defined].iter().filter_map(|stream| match stream.alias {
            Some((origin, is_copy)) if origin == condition => {
                Some((stream.name.clone(), polarity == is_copy))
            }
            _ => None,
        });
        [own].into_iter().chain(aliases).collect()
    }
}
