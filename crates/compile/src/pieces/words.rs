//! What lines of printed C mention and declare.
//!
//! This reads what this crate prints, no more of C: a declaration begins its line, or the head of a loop.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::lines::{Line, Lines};

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Declared {
    pub name: String,
    /// Its type; that of a pointer ends with `*`.
    pub c_type: String,
    /// `[8]`, or nothing.
    pub dimensions: String,
    /// Whether it never changes.
    pub is_const: bool,
}

impl Declared {
    /// What declares it, but for its value.
    pub fn text(&self) -> String {
        let Declared { name, c_type, dimensions, .. } = self;
        let space = if c_type.ends_with('*') { "" } else { " " };
        format!("{c_type}{space}{name}{dimensions}")
    }

    /// What declares it as something that never changes.
    pub fn constant(&self) -> String {
        let Declared { name, c_type, .. } = self;
        if c_type.ends_with('*') { format!("{c_type}const {name}") } else { format!("const {c_type} {name}") }
    }
}

/// The types of variables.
const TYPES: &[&str] = &["double", "float", "int64_t", "int32_t", "int", "bool", "size_t"];

/// What a line declares.
pub(super) fn declared(line: &str) -> Vec<Declared> {
    let (has_const, rest) = match line.strip_prefix("const ") {
        Some(rest) => (true, rest),
        None => (false, line),
    };
    let typed = TYPES.iter().find_map(|ty| Some((*ty, rest.strip_prefix(ty)?.strip_prefix(' ')?)));
    let Some((ty, rest)) = typed else { return Vec::new() };
    if let Some(pointer) = rest.strip_prefix("*const ") {
        let pointee = if has_const { "const " } else { "" };
        return vec![declarator(pointer, &format!("{pointee}{ty} *"), true)];
    }
    let end = rest.find(';').unwrap_or(rest.len());
    separated(&rest[..end]).into_iter().map(|text| declarator(text, ty, has_const)).collect()
}

fn declarator(text: &str, c_type: &str, is_const: bool) -> Declared {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let after = &text[end..];
    let n_dimensions = if after.starts_with('[') { after.rfind(']').map_or(0, |last| last + 1) } else { 0 };
    Declared {
        name: text[..end].to_string(),
        c_type: c_type.to_string(),
        dimensions: after[..n_dimensions].to_string(),
        is_const,
    }
}

/// Declarators: what stands between commas that are in no brackets.
fn separated(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

/// What the head of a loop declares.
pub(super) fn declared_by_head(head: &str) -> Vec<Declared> {
    head.strip_prefix("for (").map_or(Vec::new(), declared)
}

/// Where a line has names: not those of fields, nor what is in comments.
pub(super) fn words(line: &str) -> Vec<Range<usize>> {
    let bytes = line.as_bytes();
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            at = line[at..].find("*/").map_or(bytes.len(), |end| at + end + 2);
        } else if is_part(bytes[at]) {
            let start = at;
            // The parts of a number are no names.
            let is_number = bytes[at].is_ascii_digit();
            while at < bytes.len() && (is_part(bytes[at]) || is_number && bytes[at] == b'.') {
                at += 1;
            }
            let before = line[..start].trim_end();
            let is_field = before.ends_with("->") || before.ends_with('.');
            if !is_number && !is_field {
                found.push(start..at);
            }
        } else {
            at += 1;
        }
    }
    found
}

/// The names that lines mention and do not declare themselves.
pub(super) fn free(lines: &[Line]) -> BTreeSet<&str> {
    let (mut names, mut own) = (BTreeSet::new(), BTreeSet::new());
    for line in lines {
        match line {
            Line::Plain(text) => {
                own.extend(declared(text).into_iter().map(|declared| declared.name));
                let mentioned = words(text).into_iter().map(|word| &text[word]);
                names.extend(mentioned.filter(|name| !own.contains(*name)));
            }
            Line::Block { head, inner, .. } => {
                let bound = declared_by_head(head);
                let is_bound = |name: &&str| bound.iter().any(|declared| declared.name == *name);
                let mentioned = words(head).into_iter().map(|word| &head[word]).chain(free(&inner.lines));
                names.extend(mentioned.filter(|name| !is_bound(name) && !own.contains(*name)));
            }
        }
    }
    names
}

/// From the names of variables to what they are called instead.
pub(super) type Renamed = FxHashMap<String, String>;

/// Gives variables other names, except where a block has variables of its own that are called so.
pub(super) fn rename(line: &mut Line, renamed: &Renamed) {
    match line {
        Line::Plain(text) => rename_in(text, renamed),
        Line::Block { head, inner, .. } => {
            let mut renamed = Cow::Borrowed(renamed);
            hide(declared_by_head(head), &mut renamed);
            rename_in(head, &renamed);
            for line in &mut inner.lines {
                if let Line::Plain(text) = line {
                    hide(declared(text), &mut renamed);
                }
                rename(line, &renamed);
            }
        }
    }
}

fn hide(own: Vec<Declared>, renamed: &mut Cow<'_, Renamed>) {
    for declared in own {
        if renamed.contains_key(&declared.name) {
            renamed.to_mut().remove(&declared.name);
        }
    }
}

fn rename_in(text: &mut String, renamed: &Renamed) {
    for word in words(text).into_iter().rev() {
        if let Some(to) = renamed.get(&text[word.clone()]) {
            text.replace_range(word, to);
        }
    }
}

/// Whether a line gives a variable another value.
pub(super) fn assigns(line: &str, name: &str) -> bool {
    words(line).into_iter().any(|word| {
        let (before, after) = (line[..word.start].trim_end(), line[word.end..].trim_start());
        let is_set = after.starts_with('=') && !after.starts_with("==");
        let is_changed = ["++", "--", "+=", "-="].iter().any(|sign| after.starts_with(sign));
        let is_stepped = before.ends_with("++") || before.ends_with("--");
        &line[word] == name && (is_set || is_changed || is_stepped)
    })
}

/// How many lines there are.
pub(super) fn weight(lines: &Lines) -> usize {
    lines.lines.iter().map(weight_of).sum()
}

/// How many lines it takes.
pub(super) fn weight_of(line: &Line) -> usize {
    match line {
        Line::Plain(_) => 1,
        Line::Block { inner, .. } => 2 + weight(inner),
    }
}

/// Whether a block is a loop over elements.
pub(super) fn is_over_elements(head: &str) -> bool {
    head.starts_with("for (size_t")
}

/// How long the longest block is, not counting blocks inside of it.
pub(super) fn longest_block(lines: &Lines) -> usize {
    let (mut own, mut inside) = (0, 0);
    for line in &lines.lines {
        match line {
            Line::Block { head, inner, .. } if !is_over_elements(head) => {
                own += 1;
                inside = inside.max(longest_block(inner));
            }
            line => own += weight_of(line),
        }
    }
    own.max(inside)
}
