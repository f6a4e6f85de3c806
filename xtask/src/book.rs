//! The guide as a book: `docs/SUMMARY.md` lists each page once, under its title, and `cargo xtask book`
//! builds it with mdBook.
//!
//! Pages link to programs and sources of the repository, which are not part of the book. So the book is built
//! from a copy of `docs` in which such a link becomes text and path: `[drift](../../examples/drift.eddy)`
//! becomes `drift (examples/drift.eddy)`.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use crate::markdown::{self, Line, Link};
use crate::tidy::Complaint;

pub const FOLDER: &str = "docs/";
pub const SUMMARY: &str = "docs/SUMMARY.md";

/// Checks the table of contents; `pages` maps the paths of the other documents in the folder to their texts.
pub fn complaints(summary: &str, pages: &BTreeMap<String, String>) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let mut listed: Vec<&str> = Vec::new();
    for (index, line) in summary.lines().enumerate() {
        let mut complain = |what: String| complaints.push(Complaint::new(index + 1, what));
        let Some((title, target)) = entry(line) else { continue };
        if listed.contains(&target) {
            complain(format!("{target} is listed twice"));
        }
        listed.push(target);
        // Another rule checks that the page exists.
        let heading = pages.get(target).and_then(|text| text.lines().next()?.strip_prefix("# "));
        if heading.is_some_and(|heading| heading != title) {
            complain(format!("{target} has another title than `{title}`"));
        }
    }
    let end = summary.lines().count();
    let unlisted = pages.keys().filter(|page| !listed.contains(&page.as_str()));
    complaints.extend(unlisted.map(|page| Complaint::new(end, format!("{page} is not listed"))));
    complaints
}

/// The title and the page of a line `- [title](page)`.
fn entry(line: &str) -> Option<(&str, &str)> {
    line.trim_start_matches([' ', '-']).strip_prefix('[')?.strip_suffix(')')?.split_once("](")
}

/// Copies the files of `docs` into the folder `to`, without links to files outside of `docs`.
pub fn stage(root: &Path, files: &[String], to: &Path) -> io::Result<()> {
    if to.exists() {
        fs::remove_dir_all(to)?;
    }
    for name in files {
        let Some(page) = name.strip_prefix(FOLDER) else { continue };
        let (from, copy) = (root.join(name), to.join(page));
        fs::create_dir_all(copy.parent().expect("a file is in a folder"))?;
        if Path::new(page).extension().is_some_and(|extension| extension == "md") {
            fs::write(copy, without_outer_links(page, &fs::read_to_string(from)?))?;
        } else {
            fs::copy(from, copy)?;
        }
    }
    Ok(())
}

/// Replaces each link that leaves the book by text and path; `page` is the path of the page in the book.
fn without_outer_links(page: &str, text: &str) -> String {
    let outside = "../".repeat(page.matches('/').count() + 1);
    let mut result = String::new();
    for (kind, line) in markdown::lines(text) {
        let mut rest = line;
        while kind == Line::Prose
            && let Some(Link { before, label, target, after }) = markdown::first_link(rest)
        {
            result += before;
            let link = match target.strip_prefix(&outside) {
                Some(path) => format!("{label} (`{}`)", path.split('#').next().unwrap_or_default()),
                None => format!("[{label}]({target})"),
            };
            result += &link;
            rest = after;
        }
        result += rest;
        result += "\n";
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(summary: &str, words: &[&str]) {
        let pages = [("a.md", "# First\n"), ("guide/b.md", "# Second\n")];
        let pages = pages.map(|(page, text)| (page.to_owned(), text.to_owned())).into_iter().collect();
        let found = complaints(summary, &pages);
        assert_eq!(found.len(), words.len(), "{found:?}");
        for (complaint, word) in found.iter().zip(words) {
            assert!(complaint.what.contains(word), "{complaint:?}");
        }
    }

    #[test]
    fn each_page_is_listed_once_under_its_title() {
        check("# Summary\n\n[First](a.md)\n\n- [Second](guide/b.md)\n", &[]);
        check("[First](a.md)\n", &["guide/b.md is not listed"]);
        check("[First](a.md)\n- [First](a.md)\n  - [Second](guide/b.md)\n", &["listed twice"]);
        check("[Frist](a.md)\n- [Second](guide/b.md)\n", &["another title"]);
    }

    #[test]
    fn links_that_leave_the_book_become_paths() {
        let page = "[a](../a.md#x), [`b`](../../e/b.eddy#y) and `[c](../../c)`\n```text\n[d](../../d)\n```\n";
        let staged = "[a](../a.md#x), `b` (`e/b.eddy`) and `[c](../../c)`\n```text\n[d](../../d)\n```\n";
        assert_eq!(without_outer_links("guide/page.md", page), staged);
        assert_eq!(
            without_outer_links("page.md", "[a](guide/a.md) [b](../b)\n"),
            "[a](guide/a.md) b (`b`)\n"
        );
    }
}
