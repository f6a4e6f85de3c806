//! Classes of streams that are known to be alike, and what is known about each class.

use eddy_syntax::Span;

use crate::flow::VarId;

/// A partition of streams; each class may have a property of type `T`, with the place that it was learnt from.
pub(super) struct Classes<T> {
    parents: Vec<u32>,
    known: Vec<Option<(T, Span)>>,
}

/// Two classes that cannot be one: they have different properties.
pub(super) struct Conflict<T> {
    pub left: (T, Span),
    pub right: (T, Span),
}

impl<T: Clone + PartialEq> Classes<T> {
    /// Each stream in a class of its own, about which nothing is known.
    pub fn new(n_vars: usize) -> Self {
        let n = u32::try_from(n_vars).expect("elaboration stops before 2^32 streams");
        Classes { parents: (0..n).collect(), known: vec![None; n_vars] }
    }

    /// The representative of the class of a stream.
    pub fn find(&mut self, var: VarId) -> usize {
        let mut at = var.index();
        while self.parents[at] as usize != at {
            // Halving the path keeps later searches short.
            let up = self.parents[at] as usize;
            self.parents[at] = self.parents[up];
            at = self.parents[at] as usize;
        }
        at
    }

    /// What is known about a stream, and from where.
    pub fn known(&mut self, var: VarId) -> Option<&(T, Span)> {
        let class = self.find(var);
        self.known[class].as_ref()
    }

    /// What is known about a stream.
    pub fn get(&mut self, var: VarId) -> Option<T> {
        self.known(var).map(|(property, _)| property.clone())
    }

    /// Learns a property; says whether that is news.
    pub fn set(&mut self, var: VarId, property: T, from: Span) -> Result<bool, Conflict<T>> {
        let class = self.find(var);
        match &self.known[class] {
            None => {
                self.known[class] = Some((property, from));
                Ok(true)
            }
            Some((known, _)) if *known == property => Ok(false),
            Some(known) => Err(Conflict { left: known.clone(), right: (property, from) }),
        }
    }

    /// Makes the classes of two streams one.
    pub fn unite(&mut self, left: VarId, right: VarId) -> Result<(), Conflict<T>> {
        let (left, right) = (self.find(left), self.find(right));
        if left == right {
            return Ok(());
        }
        let known = match (self.known[left].take(), self.known[right].take()) {
            (Some(a), Some(b)) if a.0 != b.0 => {
                self.known[left] = Some(a.clone());
                self.known[right] = Some(b.clone());
                return Err(Conflict { left: a, right: b });
            }
            (a, b) => a.or(b),
        };
        // The smaller number stays, so that which stream represents a class does not depend on chance.
        let (root, child) = (left.min(right), left.max(right));
        self.parents[child] = u32::try_from(root).expect("it was a `u32` before");
        self.known[root] = known;
        Ok(())
    }
}
