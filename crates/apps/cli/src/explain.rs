//! The command `explain`: the page behind a diagnostic's code, or the list of all codes.

use std::fmt::Write;

use eddy_syntax::Code;
use eddy_syntax::suggest::nearest;

use crate::answers::Answers;
use crate::command_line::misuse;
use crate::commands::ExplainArgs;
use crate::json;
use crate::languages::{LANGUAGES, Language};
use crate::status::Status;
use crate::stop::Stop;

/// `eddy explain`.
pub fn explain(args: &ExplainArgs) -> Result<Status, Stop> {
    let text = match &args.code {
        Some(code) => {
            let (language, code) = find(code).map_err(|message| misuse("explain", &message))?;
            if args.json {
                json::code(language.name(), code, Some(code.page()))
            } else {
                code.page().trim_end().to_owned() + "\n"
            }
        }
        None if args.json => all().map(|(language, code)| json::code(language.name(), code, None)).collect(),
        None => list(),
    };
    let mut answers = Answers::to_stdout();
    answers.write(&text)?;
    answers.finish(Status::Answered)?;
    Ok(Status::Answered)
}

fn find(wanted: &str) -> Result<(&'static dyn Language, Code), String> {
    if let Some(found) = all().find(|(_, code)| code.name().eq_ignore_ascii_case(wanted)) {
        return Ok(found);
    }
    let tip = match nearest(wanted, all().map(|(_, code)| code.name())) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "`eddy explain` lists all codes".to_owned(),
    };
    Err(format!("there is no diagnostic with the code `{wanted}`\n\n  tip: {tip}"))
}

fn list() -> String {
    let mut text = String::new();
    for family in families() {
        let gap = if text.is_empty() { "" } else { "\n" };
        let names: Vec<_> = family.iter().map(|language| language.name()).collect();
        let _ = writeln!(text, "{gap}{}", names.join(", "));
        let codes = family[0].codes();
        let widest = |text: fn(&Code) -> &'static str| codes.iter().map(|code| text(code).len()).max();
        let name = widest(|code| code.name()).unwrap_or(0);
        let phase = widest(|code| code.phase().name()).unwrap_or(0);
        for code in &codes {
            let _ = writeln!(text, "  {code:name$}  {:phase$}  {}", code.phase().name(), code.title());
        }
    }
    text
}

/// The groups of languages that share their codes, such as `lam`, `sysf` and `ref`.
pub fn families() -> impl Iterator<Item = &'static [&'static dyn Language]> {
    LANGUAGES.chunk_by(|a, b| a.codes() == b.codes())
}

/// Each code once, with the first language that has it.
fn all() -> impl Iterator<Item = (&'static dyn Language, Code)> {
    families().flat_map(|family| family[0].codes().into_iter().map(|code| (family[0], code)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_found_in_either_case() {
        for (_, code) in all() {
            for wanted in [code.name().to_uppercase(), code.name().to_lowercase()] {
                assert_eq!(find(&wanted).map(|(_, found)| found), Ok(code));
            }
        }
    }

    #[test]
    fn an_unknown_code_is_an_error() {
        assert!(find("no such code").is_err());
    }
}
