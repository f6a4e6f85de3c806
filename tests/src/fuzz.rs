//! Fuzzing with a fixed seed: a language must not panic on any input.

use eddy_syntax::lex::{Lexed, Lexicon, lex};
use eddy_syntax::{Diagnostic, SourceFile};

use crate::choices::Choices;
use crate::law::{factor, show};

/// Tries inputs made from random bytes, `cases` times `EDDY_CASES`; shows an input that panics.
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

/// The generator `SplitMix64`.
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

/// The bytes unchanged or, half of the time, mapped to printable characters; otherwise only the lexer would
/// be reached.
pub fn half_printable(bytes: &[u8]) -> Vec<u8> {
    let printable = |byte: &u8| if byte.is_ascii() { *byte } else { b' ' + byte % 95 };
    bytes.iter().map(|byte| if bytes.len().is_multiple_of(2) { *byte } else { printable(byte) }).collect()
}

/// Checks that formatting a text keeps its words, and that a refusal has diagnostics. Returns whether the
/// program is accepted; `checked` is the result of the checker.
pub fn is_accepted<T>(
    file: &SourceFile,
    lexicon: &Lexicon,
    format: impl Fn(&SourceFile) -> Result<String, Vec<Diagnostic>>,
    checked: &Result<T, Vec<Diagnostic>>,
) -> bool {
    formats(file, lexicon, format);
    match checked {
        Ok(_) => true,
        Err(diagnostics) => {
            assert!(!diagnostics.is_empty(), "a refusal says why");
            false
        }
    }
}

/// Checks that formatting either refuses the text, or keeps its words and changes nothing when repeated.
fn formats(
    file: &SourceFile,
    lexicon: &Lexicon,
    format: impl Fn(&SourceFile) -> Result<String, Vec<Diagnostic>>,
) {
    let Ok(once) = format(file) else { return };
    let formatted = SourceFile::new(file.name(), once.clone());
    assert_eq!(words(file, lexicon), words(&formatted, lexicon), "formatting changes no words");
    assert_eq!(format(&formatted).as_ref(), Ok(&once), "formatting again changes nothing");
}

/// The words of a text, then its comments.
pub fn words<'a>(file: &'a SourceFile, lexicon: &Lexicon) -> Vec<&'a str> {
    let Lexed { tokens, comments, .. } = lex(file, lexicon);
    let comments = comments.into_iter().map(|comment| comment.span);
    tokens.into_iter().map(|token| token.span).chain(comments).map(|span| file.slice(span)).collect()
}

pub fn numbers(bytes: &[u8]) -> Vec<u16> {
    bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect()
}

/// Joins random pieces, one for every two bytes.
pub fn random_tokens(pieces: &[&str], bytes: &[u8]) -> Vec<u8> {
    let numbers = numbers(bytes);
    let mut choices = Choices::new(&numbers);
    let mut text = String::new();
    for _ in &numbers {
        text.push_str(choices.among(pieces));
        // Most pieces need a space to stay separate; sometimes it is left out, so that pieces merge.
        if !numbers.len().is_multiple_of(4) {
            text.push(' ');
        }
    }
    text.into_bytes()
}

/// Joins random pieces that contain their own blanks, one for every byte.
pub fn joined_pieces(pieces: &[&str], bytes: &[u8]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| pieces[usize::from(*byte) % pieces.len()].bytes()).collect()
}

/// Drops, duplicates, swaps or replaces a few words.
pub fn misspell<'a>(words: &mut Vec<&'a str>, pieces: &[&'a str], choices: &mut Choices<'_>) {
    for _ in 0..choices.below(4) {
        let (at, other) = (choices.below(words.len()), choices.below(words.len()));
        match choices.below(4) {
            0 => drop(words.remove(at)),
            1 => words.insert(other, words[at]),
            2 => words.swap(at, other),
            _ => words[at] = choices.among(pieces),
        }
        if words.is_empty() {
            break;
        }
    }
}

/// Changes, drops or adds a few bytes of a program.
pub fn garbled(program: &str, bytes: &[u8]) -> Vec<u8> {
    let mut text = program.as_bytes().to_vec();
    for change in bytes.chunks_exact(3).take(4) {
        let place = (usize::from(change[0]) * 256 + usize::from(change[1])) % text.len();
        match change[2] % 3 {
            0 => text[place] = change[2],
            1 => drop(text.remove(place)),
            _ => text.insert(place, program.as_bytes()[usize::from(change[2]) % program.len()]),
        }
    }
    text
}
