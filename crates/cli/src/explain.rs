//! The command `explain`: the page behind a diagnostic's code, or the list of all codes.

use std::fmt::Write;

use eddy_language::{Language, Status};
use eddy_syntax::explain::Page;
use eddy_syntax::suggest::nearest;

use crate::answers::Answers;
use crate::args::ExplainArgs;
use crate::json;
use crate::languages::LANGUAGES;
use crate::stop::{Stop, misuse};

/// `eddy explain`.
pub fn explain(args: &ExplainArgs) -> Result<Status, Stop> {
    let text = match &args.code {
        Some(code) => {
            let (language, page) = find(code).map_err(|message| misuse("explain", &message))?;
            if args.json {
                json::page(language.name(), page, Some(page.text))
            } else {
                page.text.trim_end().to_owned() + "\n"
            }
        }
        None if args.json => all().map(|(language, page)| json::page(language.name(), page, None)).collect(),
        None => list(),
    };
    let mut answers = Answers::to_stdout();
    answers.write(&text)?;
    answers.finish(Status::Answered)?;
    Ok(Status::Answered)
}

fn find(code: &str) -> Result<(&'static dyn Language, &'static Page), String> {
    let is_wanted = |page: &Page| page.code.eq_ignore_ascii_case(code);
    if let Some(found) = all().find(|(_, page)| is_wanted(page)) {
        return Ok(found);
    }
    let tip = match nearest(code, all().map(|(_, page)| page.code)) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "`eddy explain` lists all codes".to_owned(),
    };
    Err(format!("there is no diagnostic with the code `{code}`\n\n  tip: {tip}"))
}

fn list() -> String {
    let mut text = String::new();
    for family in LANGUAGES.chunk_by(|a, b| share_pages(*a, *b)) {
        let gap = if text.is_empty() { "" } else { "\n" };
        let names: Vec<_> = family.iter().map(|language| language.name()).collect();
        let _ = writeln!(text, "{gap}{}", names.join(", "));
        for page in family[0].pages() {
            let _ = writeln!(text, "  {}  {}", page.code, page.title());
        }
    }
    text
}

/// Whether two languages are of one family, which has one list of pages.
fn share_pages(a: &dyn Language, b: &dyn Language) -> bool {
    std::ptr::eq(a.pages(), b.pages())
}

/// Each page once, with the first language that has it.
fn all() -> impl Iterator<Item = (&'static dyn Language, &'static Page)> {
    let families = LANGUAGES.chunk_by(|a, b| share_pages(*a, *b)).map(|family| family[0]);
    families.flat_map(|language| language.pages().iter().map(move |page| (language, page)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_found_in_either_case() {
        for (_, page) in all() {
            for code in [page.code.to_uppercase(), page.code.to_lowercase()] {
                assert_eq!(find(&code).map(|(_, found)| found.code), Ok(page.code));
            }
        }
    }

    #[test]
    fn an_unknown_code_is_an_error() {
        assert!(find("no such code").is_err());
    }
}
