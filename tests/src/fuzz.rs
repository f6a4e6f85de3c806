//! Inputs that nobody would write, from a fixed seed: a language survives them all.

use eddy_language::{Command, Language, Options, Status, Verdict};
use eddy_syntax::lex::{Lexed, Lexicon, lex};
use eddy_syntax::{SourceFile, Sources};

use crate::choices::Choices;
use crate::law::{factor, show};

/// Tries the inputs that random bytes stand for, `cases` times `EDDY_CASES`; one that is not survived is shown.
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

/// Random numbers (splitmix64): each seed gives others.
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

/// Bytes as they are, or, half of the time, as printable ones, or nothing but the lexer would be reached.
pub fn half_printable(bytes: &[u8]) -> Vec<u8> {
    let printable = |byte: &u8| if byte.is_ascii() { *byte } else { b' ' + byte % 95 };
    bytes.iter().map(|byte| if bytes.len().is_multiple_of(2) { *byte } else { printable(byte) }).collect()
}

/// Reading, formatting and checking a text give an answer. Says whether the program is accepted.
pub fn is_accepted(language: &dyn Language, lexicon: &Lexicon, file: &SourceFile) -> bool {
    formats(language, lexicon, file);
    let (verdict, out) = answer(language, Command::Check, file, &Options::default());
    match verdict.status {
        Status::Refused => {
            assert!(!verdict.diagnostics.is_empty(), "a refusal says why");
            assert!(out.is_empty(), "a refusal writes nothing: {out}");
            false
        }
        Status::Answered => true,
        Status::NoValue => panic!("checking runs nothing"),
    }
}

/// What a language answers about one file, and what it writes.
pub fn answer(
    language: &dyn Language,
    command: Command,
    file: &SourceFile,
    options: &Options,
) -> (Verdict, String) {
    let mut out = String::new();
    let mut sources = Sources::alone(file.clone());
    let verdict = language.answer(command, &mut sources, options, Vec::new(), &mut out);
    (verdict.expect("a string takes all that is written"), out)
}

/// Formatting refuses, or gives a text with the same words, which is its own format.
fn formats(language: &dyn Language, lexicon: &Lexicon, file: &SourceFile) {
    let Ok(once) = language.format(file) else { return };
    let formatted = SourceFile::new(file.name(), once.clone());
    assert_eq!(words(file, lexicon), words(&formatted, lexicon), "formatting changes no words");
    assert_eq!(language.format(&formatted).as_ref(), Ok(&once), "formatting again changes nothing");
}

/// The words of a text, then its comments.
pub fn words<'a>(file: &'a SourceFile, lexicon: &Lexicon) -> Vec<&'a str> {
    let Lexed { tokens, comments, .. } = lex(file, lexicon);
    let comments = comments.into_iter().map(|comment| comment.span);
    tokens.into_iter().map(|token| token.span).chain(comments).map(|span| file.slice(span)).collect()
}

/// The choices that bytes stand for.
pub fn numbers(bytes: &[u8]) -> Vec<u16> {
    bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect()
}

/// A soup of pieces, one per two bytes.
pub fn soup(pieces: &[&str], bytes: &[u8]) -> Vec<u8> {
    let numbers = numbers(bytes);
    let mut choices = Choices::new(&numbers);
    let mut text = String::new();
    for _ in &numbers {
        text.push_str(choices.among(pieces));
        // Most pieces need a space to stay apart; without it, others come about.
        if !numbers.len().is_multiple_of(4) {
            text.push(' ');
        }
    }
    text.into_bytes()
}

/// Pieces that bring their own blanks, one per byte.
pub fn thick_soup(pieces: &[&str], bytes: &[u8]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| pieces[usize::from(*byte) % pieces.len()].bytes()).collect()
}

/// Makes a few mistakes: words are dropped, doubled, swapped or replaced by a piece.
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

/// A program in which a few bytes are changed, dropped or added.
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
