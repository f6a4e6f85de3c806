//! Classes of streams that are known to be alike, and what is known about each class.

use eddy_syntax::Span;

use crate::flow::VarId;

/// What can be known about a stream.
pub(super) trait Property: Clone + PartialEq {
    /// What is known if both are; none if they contradict each other.
    fn join(&self, other: &Self) -> Option<Self>;
}

/// What a property was learnt from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    /// The stream that it was said about.
    pub var: VarId,
    /// Where.
    pub span: Span,
}

/// A partition of streams; each class may have a property of type `T`, with what it was learnt from.
pub(super) struct Classes<T> {
    parents: Vec<u32>,
    known: Vec<Option<(T, Origin)>>,
}

/// Two classes that cannot be one, or a property that a class cannot have: they contradict each other.
pub(super) struct Conflict<T> {
    pub left: (T, Origin),
    pub right: (T, Origin),
}

impl<T: Property> Classes<T> {
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
    pub fn known(&mut self, var: VarId) -> Option<&(T, Origin)> {
        let class = self.find(var);
        self.known[class].as_ref()
    }

    /// What is known about a stream.
    pub fn get(&mut self, var: VarId) -> Option<T> {
        self.known(var).map(|(property, _)| property.clone())
    }

    /// Learns a property; says whether that is news.
    pub fn set(&mut self, var: VarId, property: T, span: Span) -> Result<bool, Box<Conflict<T>>> {
        let class = self.find(var);
        let news = (property, Origin { var, span });
        let joined = join(self.known[class].as_ref(), Some(&news))?;
        let is_news = joined.as_ref().map(|(property, _)| property)
            != self.known[class].as_ref().map(|(property, _)| property);
        self.known[class] = joined;
        Ok(is_news)
    }

    /// Makes the classes of two streams one.
    pub fn unite(&mut self, left: VarId, right: VarId) -> Result<(), Box<Conflict<T>>> {
        let (left, right) = (self.find(left), self.find(right));
        if left == right {
            return Ok(());
        }
        let known = join(self.known[left].as_ref(), self.known[right].as_ref())?;
        // The smaller number stays, so that which stream represents a class does not depend on chance.
        let (root, child) = (left.min(right), left.max(right));
        self.parents[child] = u32::try_from(root).expect("it was a `u32` before");
        (self.known[root], self.known[child]) = (known, None);
        Ok(())
    }
}

type Known<T> = Option<(T, Origin)>;

/// What is known if both are, with the origin of the one that says it; the first one if both do.
fn join<T: Property>(
    left: Option<&(T, Origin)>,
    right: Option<&(T, Origin)>,
) -> Result<Known<T>, Box<Conflict<T>>> {
    let (Some(a), Some(b)) = (left, right) else { return Ok(left.or(right).cloned()) };
    match a.0.join(&b.0) {
        Some(property) if property == a.0 => Ok(Some(a.clone())),
        Some(property) => Ok(Some((property, b.1))),
        None => Err(Box::new(Conflict { left: a.clone(), right: b.clone() })),
    }
}
