//! The rules for documents: links lead somewhere, and every code block says what it is.
//!
//! A block without a language would be taken for a transcript by the test of the guide, and an indented
//! transcript would be passed over by it, so both are refused here, where the message can say so.

use crate::tidy::Complaint;

/// What is untidy in a document; `exists` answers for a path relative to it.
pub fn complaints(text: &str, exists: impl Fn(&str) -> bool) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let mut fence: Option<&str> = None;
    for (index, line) in text.lines().enumerate() {
        let mut complain = |what: String| complaints.push(Complaint::new(index + 1, what));
        match (fence, opening(line)) {
            (Some(open), _) => {
                if line.trim() == open {
                    fence = None;
                }
            }
            (None, Some((marks, language))) => {
                fence = Some(marks);
                if language.is_empty() {
                    complain("name the language of the block; `text` if it is none".to_owned());
                } else if language.starts_with("console") && line.starts_with(' ') {
                    complain("an indented `console` block is not tested; move it to the left".to_owned());
                }
            }
            (None, None) => {
                for target in links(line) {
                    if !leads_somewhere(target, &exists) {
                        complain(format!("the link leads nowhere: {target}"));
                    }
                }
            }
        }
    }
    complaints
}

/// The marks and the language of a line that opens a code block.
fn opening(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let end = line.find(|character| character != '`').unwrap_or(line.len());
    (end >= 3).then(|| (&line[..end], line[end..].trim()))
}

/// The targets of `[text](target)` and of `[name]: target`.
fn links(line: &str) -> Vec<&str> {
    if let Some((name, target)) = line.split_once("]: ")
        && name.starts_with('[')
    {
        return target.split_whitespace().take(1).collect();
    }
    let mut targets = Vec::new();
    // Every second piece between backquotes is code.
    for prose in line.split('`').step_by(2) {
        for (start, opening) in prose.match_indices("](") {
            let target = &prose[start + opening.len()..];
            let target = target.split(')').next().unwrap_or_default();
            targets.extend(target.split_whitespace().take(1));
        }
    }
    targets
}

fn leads_somewhere(target: &str, exists: impl Fn(&str) -> bool) -> bool {
    let is_elsewhere = target.contains("://") || target.starts_with("mailto:");
    let path = target.trim_matches(['<', '>']).split('#').next().unwrap_or_default();
    is_elsewhere || path.is_empty() || exists(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only `here.md` exists.
    #[track_caller]
    fn check(text: &str, lines: &[usize]) {
        let complaints = complaints(text, |path| path == "here.md");
        let found: Vec<usize> = complaints.iter().map(|complaint| complaint.line).collect();
        assert_eq!(found, lines, "{complaints:?}");
    }

    #[test]
    fn a_link_leads_to_a_file_that_exists() {
        check("[a](here.md), [b](here.md#part \"title\"), [c](#part), [d](https://example.org)", &[]);
        check("[a](here.md) and\n[b](there.md)", &[2]);
        check("[a]: here.md\n[b]: there.md", &[2]);
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
}
