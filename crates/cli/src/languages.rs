//! Which languages there are, and which of them a file is written in.
//!
//! This is the one list: a new language is a dependency of this crate and a line here. Help, completions,
//! `explain` and the messages below all read it.

use std::path::Path;

use eddy_language::Language;
use eddy_syntax::suggest::nearest;

/// Every language, in the order of the help.
pub const LANGUAGES: &[&dyn Language] = &[
    &eddy_reactive::Reactive,
    &eddy_rd::Rd,
    &eddy_pullback::Pullback,
    &eddy_coherent::Coherent,
    &eddy_tables::LAM,
    &eddy_tables::SYSF,
    &eddy_tables::REF,
];

/// The language with this name.
pub fn named(name: &str) -> Option<&'static dyn Language> {
    LANGUAGES.iter().copied().find(|language| language.name() == name)
}

/// The language of a file, from its extension; otherwise a message for the person who typed it.
pub fn of_file(file: &Path) -> Result<&'static dyn Language, String> {
    let extension = file.extension().unwrap_or_default().to_string_lossy().into_owned();
    let has_extension = |language: &&&dyn Language| language.extensions().contains(&&*extension);
    if let Some(language) = LANGUAGES.iter().find(has_extension) {
        return Ok(*language);
    }
    let known = LANGUAGES.iter().flat_map(|language| language.extensions()).copied();
    let tip = match nearest(&extension, known) {
        Some(meant) => format!("did you mean `{}`?", file.with_extension(meant).display()),
        None => "name the language with `--lang NAME`".to_owned(),
    };
    let what = if extension.is_empty() {
        format!("cannot tell the language of `{}`: it has no extension", file.display())
    } else {
        format!(
            "cannot tell the language of `{}`: no language has the extension `.{extension}`",
            file.display()
        )
    };
    Err(format!("{what}\n\n  languages: {}\n  tip: {tip}", overview()))
}

/// The language of standard input, which has no extension: a message that asks for it.
pub fn of_standard_input() -> String {
    format!(
        "standard input has no extension: name its language with `--lang NAME`\n\n  languages: {}",
        overview()
    )
}

/// Every language with its extensions, such as `rd (.rd)`.
pub fn overview() -> String {
    list(LANGUAGES.iter().map(|language| {
        let extensions = list(language.extensions().iter().map(|extension| format!(".{extension}")));
        format!("{} ({extensions})", language.name())
    }))
}

/// Every language with its engines, such as `rd: tape, reference`.
pub fn engines() -> String {
    let of = |language: &&dyn Language| format!("{}: {}", language.name(), language.engines().join(", "));
    LANGUAGES.iter().map(of).collect::<Vec<_>>().join("; ")
}

fn list(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_file_is_recognised_by_its_extension() {
        assert_eq!(of_file(Path::new("a.b/model.rd")).map(Language::name), Ok("rd"));
    }

    #[test]
    fn a_misspelt_extension_is_corrected() {
        let message =
            of_file(Path::new("dir/model.RD")).map(Language::name).expect_err("upper case is unknown");
        assert!(message.contains("did you mean `dir/model.rd`?"), "{message}");
    }

    #[test]
    fn no_two_languages_share_a_name_or_an_extension_and_no_two_families_a_code() {
        let names = LANGUAGES.iter().map(|language| format!("--lang {}", language.name()));
        let extensions = LANGUAGES.iter().flat_map(|language| language.extensions()).map(|e| format!(".{e}"));
        // Languages of one family have one list of pages.
        let families = LANGUAGES.chunk_by(|a, b| std::ptr::eq(a.pages(), b.pages()));
        let codes = families.flat_map(|family| family[0].pages()).map(|page| page.code.to_owned());
        let all: Vec<String> = names.chain(extensions).chain(codes).collect();
        let distinct: BTreeSet<&String> = all.iter().collect();
        assert_eq!(distinct.len(), all.len(), "{all:?}");
    }

    #[test]
    fn every_language_has_a_page_for_files_that_cannot_be_read() {
        for language in LANGUAGES {
            let codes: Vec<_> = language.pages().iter().map(|page| page.code).collect();
            assert!(codes.contains(&language.unreadable()), "{}", language.name());
        }
    }
}
