//! Union-find over streams: streams of one class have the same property, such as a type or a shape.

use eddy_syntax::Span;

use crate::flow::VarId;

/// A property of a stream.
pub(super) trait Property: Clone + PartialEq {
    /// The property that satisfies both; `None` if they contradict each other.
    fn join(&self, other: &Self) -> Option<Self>;
}

/// Where a property comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    /// The stream of which it was derived.
    pub var: VarId,
    pub span: Span,
}

/// A partition of streams; each class may have a property of type `T`, with its origin.
pub(super) struct Classes<T> {
    parents: Vec<u32>,
    known: Vec<Option<(T, Origin)>>,
}

/// Two properties that contradict each other: of two classes that must be united, or of a class and a new
/// property.
pub(super) struct Conflict<T> {
    pub left: (T, Origin),
    pub right: (T, Origin),
}

impl<T: Property> Classes<T> {
    /// Each stream in a class of its own, without a property.
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

    /// The property of a stream with its origin, if known.
    pub fn known(&mut self, var: VarId) -> Option<&(T, Origin)> {
        let class = self.find(var);
        self.known[class].as_ref()
    }

    /// The property of a stream, if known.
    pub fn get(&mut self, var: VarId) -> Option<T> {
        self.known(var).map(|(property, _)| property.clone())
    }

    /// Adds a property; returns whether it changed the class.
    pub fn set(&mut self, var: VarId, property: T, span: Span) -> Result<bool, Box<Conflict<T>>> {
        let class = self.find(var);
        let new = (property, Origin { var, span });
        let joined = join(self.known[class].as_ref(), Some(&new))?;
        let is_changed = joined.as_ref().map(|(property, _)| property)
            != self.known[class].as_ref().map(|(property, _)| property);
        self.known[class] = joined;
        Ok(is_changed)
    }

    /// Unites the classes of two streams.
    pub fn unite(&mut self, left: VarId, right: VarId) -> Result<(), Box<Conflict<T>>> {
        let (left, right) = (self.find(left), self.find(right));
        if left == right {
            return Ok(());
        }
        let known = join(self.known[left].as_ref(), self.known[right].as_ref())?;
        // The smaller number stays the root, so that the representative of a class is deterministic.
        let (root, child) = (left.min(right), left.max(right));
        self.parents[child] = u32::try_from(root).expect("indices come from `parents`, which has `u32`s");
        (self.known[root], self.known[child]) = (known, None);
        Ok(())
    }
}

type KnownProperty<T> = Option<(T, Origin)>;

/// The property that satisfies both. Its origin is that of `left` if `left` is this property, else that of
/// `right`.
fn join<T: Property>(
    left: Option<&(T, Origin)>,
    right: Option<&(T, Origin)>,
) -> Result<KnownProperty<T>, Box<Conflict<T>>> {
    let (Some(a), Some(b)) = (left, right) else { return Ok(left.or(right).cloned()) };
    match a.0.join(&b.0) {
        Some(property) if property == a.0 => Ok(Some(a.clone())),
        Some(property) => Ok(Some((property, b.1))),
        None => Err(Box::new(Conflict { left: a.clone(), right: b.clone() })),
    }
}
