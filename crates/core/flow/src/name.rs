//! Names of streams: an identifier of the source and the instances that enclose it, such as
//! `cell#1/gate#2/z`.
//!
//! Instances can be nested a thousand deep, and the name of each stream inside contains the whole path. So
//! paths are shared linked lists: a path is its last part and a pointer to the path before it. The text of a
//! name is built on first use, since most names are never displayed.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use rustc_hash::FxHasher;

/// The instances that enclose a stream, outermost first; empty for streams of the main node.
#[derive(Clone, Default)]
pub struct Path(Option<Arc<Part>>);

/// The name of a stream. It dereferences to the whole name, which allocates once; code that walks over all
/// streams should use [`Name::word`] and [`Name::path`] instead.
#[derive(Clone)]
pub struct Name(Arc<Part>);

/// The last part of a path or name.
struct Part {
    before: Path,
    /// `gate#2` or `z`, without a slash.
    word: Box<str>,
    /// The hash of this part and all parts before it, so that a lookup does not walk along the path.
    hash: u64,
    /// The whole name, built on first use; unused if `before` is empty.
    text: OnceLock<Box<str>>,
}

impl Path {
    /// The path of an instance (or another scope) inside of this one. `word` contains no slash.
    #[must_use]
    pub fn inside(&self, word: impl Into<Box<str>>) -> Path {
        Path(Some(self.name(word).0))
    }

    /// The name of a stream in this instance. `word` contains no slash.
    pub fn name(&self, word: impl Into<Box<str>>) -> Name {
        let word = word.into();
        debug_assert!(!word.contains('/'), "`{word}` is one part of a name");
        let mut hasher = FxHasher::default();
        (self.0.as_ref().map(|part| part.hash), &word).hash(&mut hasher);
        Name(Arc::new(Part { before: self.clone(), word, hash: hasher.finish(), text: OnceLock::new() }))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The parts, outermost first.
    fn words(&self) -> impl Iterator<Item = &str> {
        let parts = std::iter::successors(self.0.as_deref(), |part| part.before.0.as_deref());
        let words: Vec<&str> = parts.map(|part| &*part.word).collect();
        words.into_iter().rev()
    }
}

impl PartialEq for Path {
    fn eq(&self, other: &Path) -> bool {
        let (mut left, mut right) = (self, other);
        while let (Some(one), Some(two)) = (&left.0, &right.0) {
            if Arc::ptr_eq(one, two) {
                return true;
            }
            if one.hash != two.hash || one.word != two.word {
                return false;
            }
            (left, right) = (&one.before, &two.before);
        }
        left.is_empty() && right.is_empty()
    }
}

impl Eq for Path {}

impl Drop for Path {
    /// Iterative, because a path may be longer than the native stack is deep.
    fn drop(&mut self) {
        let mut last = self.0.take();
        while let Some(mut part) = last.and_then(Arc::into_inner) {
            last = part.before.0.take();
        }
    }
}

/// Writes each part with a slash after it.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for word in self.words() {
            f.write_str(word)?;
            f.write_str("/")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), f)
    }
}

impl Name {
    pub fn path(&self) -> &Path {
        &self.0.before
    }

    /// The last part: the name of the stream within its instance.
    pub fn word(&self) -> &str {
        &self.0.word
    }

    /// The path for names that derive from this one, such as `cell#1/k/momentum`.
    pub fn as_path(&self) -> Path {
        Path(Some(Arc::clone(&self.0)))
    }

    /// Appends a `'`, for a stream whose name is taken.
    #[must_use]
    pub fn with_prime(&self) -> Name {
        self.path().name(format!("{}'", self.word()))
    }

    /// The name of the stream when its node is inlined at `path`.
    #[must_use]
    pub fn within(&self, path: &Path) -> Name {
        self.path().words().fold(path.clone(), |path, word| path.inside(word)).name(self.word())
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        if self.path().is_empty() {
            return self.word();
        }
        self.0.text.get_or_init(|| format!("{}{}", self.path(), self.word()).into())
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Name {
        let (path, word) = text.rsplit_once('/').map_or((None, text), |(path, word)| (Some(path), word));
        let parts = path.into_iter().flat_map(|path| path.split('/'));
        parts.fold(Path::default(), |path, part| path.inside(part)).name(word)
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Name) -> bool {
        self.0.hash == other.0.hash && self.word() == other.word() && self.path() == other.path()
    }
}

impl Eq for Name {}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash.hash(state);
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_written_with_its_path() {
        let path = Path::default().inside("cell#1").inside("gate#2");
        assert_eq!(&*path.name("z"), "cell#1/gate#2/z");
        assert_eq!(path.to_string(), "cell#1/gate#2/");
        assert_eq!(&*Path::default().name("z"), "z");
        let outer = Path::default().inside("net#1").inside("derivative");
        assert_eq!(&*path.name("z").within(&outer), "net#1/derivative/cell#1/gate#2/z");
        assert_eq!(&*path.name("z").as_path().name("momentum").with_prime(), "cell#1/gate#2/z/momentum'");
    }

    #[test]
    fn names_with_the_same_text_are_equal() {
        let hash = |name: &Name| {
            let mut hasher = FxHasher::default();
            name.hash(&mut hasher);
            hasher.finish()
        };
        let names = ["z", "a#1/z", "b#1/z", "a#1/b#1/z", "b#1/a#1/z", "a#1/b#1/y", "/z", ""];
        for one in names {
            assert_eq!(&*Name::from(one), one);
            for other in names {
                let (left, right) = (Name::from(one), Name::from(other));
                assert_eq!(left == right, one == other, "{one} and {other}");
                assert_eq!(hash(&left) == hash(&right), one == other, "{one} and {other}");
            }
        }
    }

    #[test]
    fn a_long_path_is_dropped_without_recursion() {
        let text = "a#1/".repeat(100_000) + "z";
        let name = Name::from(text.as_str());
        assert_eq!(*name, text);
    }
}
