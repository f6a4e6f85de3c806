//! Suggestions for unknown names and words.

/// The candidate nearest to `word`, if one is near enough to suggest; ties go to the first. A word that
/// differs only in case is always near; `word` itself is never suggested.
///
/// ```
/// use eddy_syntax::suggest::nearest;
/// assert_eq!(nearest("lenght", ["width", "length"]), Some("length"));
/// assert_eq!(nearest("LSTM", ["last", "lstm"]), Some("lstm"));
/// assert_eq!(nearest("zzz", ["width", "length"]), None);
/// ```
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A third of the letters may differ, as in rustc; of two letters, one may differ.
    let n_letters = word.chars().count();
    let limit = if n_letters == 2 { 1 } else { n_letters / 3 };
    let lower = word.to_lowercase();
    candidates
        .into_iter()
        // Cheap, and rejects nearly all candidates: a character has at most four bytes.
        .filter(|candidate| candidate.len().abs_diff(word.len()) <= 4 * limit && *candidate != word)
        .map(|candidate| (distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        // Of two that are equally near in lower case, the one with the same case wins.
        .min_by_key(|(near, candidate)| (*near, distance(word, candidate)))
        .map(|(_, candidate)| candidate)
}

/// The number of insertions, deletions, replacements and swaps of neighbours that turn one word into the
/// other (the optimal string alignment distance).
fn distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    let mut before = vec![0; to.len() + 1];
    let mut above: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1; to.len() + 1];
        for (j, b) in to.iter().enumerate() {
            let replace = above[j] + usize::from(a != b);
            row[j + 1] = replace.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == to[j - 1] && from[i - 1] == *b {
                row[j + 1] = row[j + 1].min(before[j - 1] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[to.len()]
}

/// A name that is not one of the known ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// As it was written.
    pub name: String,
    /// The known names.
    pub known: Vec<&'static str>,
}

/// The one of `all` whose name is `name`.
///
/// ```
/// use eddy_syntax::suggest::named;
/// let colours = ["red", "green"];
/// assert_eq!(named("green", &colours, |colour| colour), Ok("green"));
/// let unknown = named("gren", &colours, |colour| colour).unwrap_err();
/// assert_eq!(unknown.to_string(), "`gren` is none of red, green; did you mean `green`?");
/// ```
pub fn named<T: Copy>(name: &str, all: &[T], name_of: impl Fn(T) -> &'static str) -> Result<T, UnknownName> {
    all.iter().copied().find(|one| name_of(*one) == name).ok_or_else(|| UnknownName {
        name: name.to_string(),
        known: all.iter().map(|one| name_of(*one)).collect(),
    })
}

impl UnknownName {
    /// The name that was probably meant.
    pub fn nearest(&self) -> Option<&'static str> {
        nearest(&self.name, self.known.iter().copied())
    }
}

impl std::fmt::Display for UnknownName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` is none of {}", self.name, self.known.join(", "))?;
        self.nearest().map_or(Ok(()), |meant| write!(f, "; did you mean `{meant}`?"))
    }
}

impl std::error::Error for UnknownName {}
