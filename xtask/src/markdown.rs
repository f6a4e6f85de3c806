//! Rules for documents: links lead to files and headings that exist, every code block names its language, and
//! a program that a page quotes from a file is in that file.
//!
//! The test of the guide would take a block without a language for a transcript, and would skip an indented
//! transcript. So both are rejected here, with a message.

use crate::tidy::Complaint;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    Prose,
    /// The first line of a code block, with the text after its backquotes.
    Opening(&'a str),
    Code,
    Closing,
}

/// Classifies the lines of a document.
pub fn lines(text: &str) -> impl Iterator<Item = (Line<'_>, &str)> {
    let mut fence: Option<&str> = None;
    text.lines().map(move |line| {
        let kind = match (fence, opening(line)) {
            (Some(open), _) if line.trim() == open => {
                fence = None;
                Line::Closing
            }
            (Some(_), _) => Line::Code,
            (None, Some((marks, info))) => {
                fence = Some(marks);
                Line::Opening(info)
            }
            (None, None) => Line::Prose,
        };
        (kind, line)
    })
}

/// The backquotes, and the words after them, of a line that opens a code block.
fn opening(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let end = line.find(|character| character != '`').unwrap_or(line.len());
    (end >= 3).then(|| (&line[..end], line[end..].trim()))
}

/// Checks a document.
///
/// `near` returns the text of a file by its path relative to the document, `at_root` by its path in the
/// repository. For a folder or binary data they return the empty text.
pub fn complaints(
    text: &str,
    near: impl Fn(&str) -> Option<String>,
    at_root: impl Fn(&str) -> Option<String>,
) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let mut block: Vec<&str> = Vec::new();
    let mut file: Option<&str> = None;
    let mut indent = 0;
    for (index, (kind, line)) in lines(text).enumerate() {
        let mut complain = |what: String| complaints.push(Complaint::new(index + 1, what));
        match kind {
            Line::Prose => {
                for target in links(line) {
                    if let Some(what) = wrong_link(target, text, &near) {
                        complain(format!("{what}: {target}"));
                    }
                }
            }
            Line::Opening(info) => {
                if info.is_empty() {
                    complain("name the language of the block; `text` if it is none".to_owned());
                } else if info.starts_with("console") && line.starts_with(' ') {
                    complain("an indented `console` block is not tested; move it to the left".to_owned());
                }
                file = info.split_once(',').map(|(_, file)| file.trim()).filter(|file| is_path(file));
                indent = line.len() - line.trim_start().len();
                block.clear();
            }
            Line::Code => block.push(line.get(indent..).unwrap_or_default()),
            Line::Closing => {
                if let Some(file) = file
                    && !at_root(file).is_some_and(|program| repeats(&block, &program))
                {
                    complain(format!("the program above is not in the file {file}"));
                }
            }
        }
    }
    complaints
}

/// Whether a word after the language is the path of a program. Other words say how to run it, as in
/// `wrong,run --engine tape`.
fn is_path(word: &str) -> bool {
    word.contains('/') && !word.contains(' ')
}

/// Whether the lines of a block are consecutive in a program, ignoring comments and blank lines.
fn repeats(block: &[&str], program: &str) -> bool {
    let block: Vec<&str> = block.iter().copied().filter_map(without_comment).collect();
    let program: Vec<&str> = program.lines().filter_map(without_comment).collect();
    !block.is_empty() && program.windows(block.len()).any(|lines| lines == block)
}

fn without_comment(line: &str) -> Option<&str> {
    let code = line.split("--").next().unwrap_or_default().trim_end();
    (!code.is_empty()).then_some(code)
}

/// The targets of `[text](target)` and of `[name]: target`.
fn links(line: &str) -> Vec<&str> {
    if let Some((name, target)) = line.split_once("]: ")
        && name.starts_with('[')
    {
        return target.split_whitespace().take(1).collect();
    }
    let mut targets = Vec::new();
    let mut rest = line;
    while let Some(link) = first_link(rest) {
        targets.extend(link.target.split_whitespace().take(1));
        rest = link.after;
    }
    targets
}

/// A link `[label](target)`, with the text before and after it on its line.
pub struct Link<'a> {
    pub before: &'a str,
    pub label: &'a str,
    pub target: &'a str,
    pub after: &'a str,
}

/// The first link of a line outside of backquotes.
pub fn first_link(line: &str) -> Option<Link<'_>> {
    let is_quoted = |at: usize| line[..at].matches('`').count() % 2 == 1;
    let middle = line.match_indices("](").map(|(at, _)| at).find(|at| !is_quoted(*at))?;
    let start = line[..middle].rfind('[')?;
    let end = middle + line[middle..].find(')')?;
    Some(Link {
        before: &line[..start],
        label: &line[start + 1..middle],
        target: &line[middle + 2..end],
        after: &line[end + 1..],
    })
}

/// The error in a link of a document with this text, if any.
fn wrong_link(target: &str, text: &str, near: impl Fn(&str) -> Option<String>) -> Option<&'static str> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let target = target.trim_matches(['<', '>']);
    let (path, heading) = target.split_once('#').unwrap_or((target, ""));
    let file = if path.is_empty() { Some(text.to_owned()) } else { near(path) };
    let Some(file) = file else { return Some("the link leads nowhere") };
    let is_document =
        path.is_empty() || path.rsplit_once('.').is_some_and(|(_, extension)| extension == "md");
    let is_missing = is_document && !heading.is_empty() && !headings(&file).any(|found| found == heading);
    is_missing.then_some("the file has no such heading")
}

/// The anchors of a document's headings: lower case, hyphens for blanks, no other punctuation.
fn headings(text: &str) -> impl Iterator<Item = String> {
    let prose = lines(text).filter(|(kind, _)| *kind == Line::Prose);
    prose
        .filter_map(|(_, line)| {
            line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#'))
        })
        .map(|title| {
            let is_kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
            title
                .trim()
                .to_lowercase()
                .chars()
                .filter(is_kept)
                .map(|c| if c == ' ' { '-' } else { c })
                .collect()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only `here.md` exists next to the document, and `programs/a.rd` in the repository.
    #[track_caller]
    fn check(text: &str, lines: &[usize]) {
        let near = |path: &str| (path == "here.md").then(|| "# A `part`, or two\n".to_owned());
        let program = "-- The square.\n\nlet x = 1 in -- one\n  x * x\n";
        let complaints = complaints(text, near, |path| (path == "programs/a.rd").then(|| program.to_owned()));
        let found: Vec<usize> = complaints.iter().map(|complaint| complaint.line).collect();
        assert_eq!(found, lines, "{complaints:?}");
    }

    #[test]
    fn a_link_leads_to_a_file_that_exists() {
        check("[a](here.md), [b](here.md \"title\"), [d](https://example.org)", &[]);
        check("[a](here.md) and\n[b](there.md)", &[2]);
        check("[a]: here.md\n[b]: there.md", &[2]);
    }

    #[test]
    fn a_link_leads_to_a_heading_that_exists() {
        check("[a](here.md#a-part-or-two)\n\n[b](here.md#another)", &[3]);
        check("## Here\n\n[a](#here) [b](#there)", &[3]);
        check("```text\n# here\n```\n[a](#here)", &[4]);
    }

    #[test]
    fn code_has_no_links() {
        check("`[a](there.md)` and `x`\n\n```rd\n[a](there.md)\n```\n[a](there.md)", &[6]);
    }

    #[test]
    fn a_code_block_names_its_language() {
        check("```\nx\n```\n```text\n```\n", &[1]);
        check("````text\n```\nx\n```\n````\n", &[]);
    }

    #[test]
    fn a_transcript_is_not_indented() {
        check("- item\n\n  ```console\n  $ eddy\n  ```\n  ```text\n  ```\n", &[3]);
    }

    #[test]
    fn a_program_with_a_file_is_in_the_file() {
        check("```rd,programs/a.rd\nlet x = 1 in\n  x * x\n```\n", &[]);
        check("```rd,programs/a.rd\n  x * x\n```\n", &[]);
        check("- item\n\n  ```rd,programs/a.rd\n    x * x\n  ```\n", &[]);
        check("```rd,programs/a.rd\nlet x = 2 in\n  x * x\n```\n", &[4]);
        check("```rd,programs/b.rd\n  x * x\n```\n", &[3]);
        check("```rd,programs/a.rd\n```\n", &[2]);
        check("```rd,wrong,run --engine tape\nyy\n```\n", &[]);
    }
}
