//! Layout that depends on widths: right sides that start on the line of their `=`, and the columns of
//! chronograms.
//!
//! The line breaker considers one line at a time; these decisions consider several lines. They depend on
//! tokens and comments, not on the line breaks of the source, except that a `run` over several lines keeps
//! several lines. So formatting a formatted file changes nothing.

use eddy_syntax::format::{Gap, INDENT, Joint, WIDTH};
use eddy_syntax::lex::Token;
use eddy_syntax::{SourceFile, Span};

use super::plan::{Range, tokens_of};
use crate::parse::{LEXICON, Parsed};
use crate::tree::{CellList, RowValue, Run};

/// Adjusts the gaps of right sides and runs.
pub(super) fn fit(
    file: &SourceFile,
    parsed: &Parsed,
    right_sides: &[Range],
    runs: &[&Run],
    gaps: &mut [Gap],
) {
    let ruler = Ruler::new(file, parsed, gaps);
    for right_side in right_sides {
        start_after_equals(&ruler, *right_side, gaps);
    }
    for run in runs {
        lay_out_run(&ruler, run, gaps);
    }
}

/// Measures the widths of tokens on one line.
struct Ruler<'a> {
    file: &'a SourceFile,
    parsed: &'a Parsed,
    tokens: &'a [Token],
    /// The start of each token, and the end of the last one, if all were on one line.
    starts: Vec<usize>,
    ends: Vec<usize>,
}

impl<'a> Ruler<'a> {
    fn new(file: &'a SourceFile, parsed: &'a Parsed, gaps: &[Gap]) -> Self {
        let tokens = &parsed.tokens[..];
        let (mut starts, mut ends) = (Vec::with_capacity(tokens.len()), Vec::with_capacity(tokens.len()));
        let (mut column, mut left) = (0, "");
        for (token, gap) in tokens.iter().zip(gaps) {
            let text = file.slice(token.span);
            column += usize::from(gap.joint.parts(&LEXICON, left, text));
            starts.push(column);
            column += text.chars().count();
            ends.push(column);
            left = text;
        }
        Ruler { file, parsed, tokens, starts, ends }
    }

    fn width(&self, Range { first, last }: Range) -> usize {
        self.ends[last] - self.starts[first]
    }

    /// Whether there is a comment between the first and the last of these tokens.
    fn has_comments(&self, Range { first, last }: Range) -> bool {
        let (start, end) = (self.tokens[first].span.start, self.tokens[last].span.start);
        let comments = &self.parsed.comments;
        let next = comments.partition_point(|comment| comment.span.start < start);
        comments.get(next).is_some_and(|comment| comment.span.start < end)
    }

    /// Whether a comment is right before a token, on the same line. The ruler does not measure comments.
    fn follows_comment(&self, token: usize) -> bool {
        let start = self.tokens[token].span.start;
        let comments = &self.parsed.comments;
        let before = comments.partition_point(|comment| comment.span.start < start).checked_sub(1);
        before.is_some_and(|index| {
            let end = comments[index].span.end;
            let follows = token == 0 || self.tokens[token - 1].span.end <= end;
            follows && !self.file.slice(Span::new(end, start)).contains('\n')
        })
    }

    fn tokens_of(&self, span: Span) -> Range {
        tokens_of(self.tokens, span)
    }
}

/// Starts a right side on the line of its `=` if it does not fit on a line of its own, or contains comments.
fn start_after_equals(ruler: &Ruler<'_>, right_side: Range, gaps: &mut [Gap]) {
    let indent = usize::from(2 * INDENT);
    let semicolon = 1;
    let fits = indent + ruler.width(right_side) + semicolon <= WIDTH;
    let equals = Range { first: right_side.first - 1, last: right_side.first };
    // A comment after the `=` may need the line break.
    if (fits && !ruler.has_comments(right_side)) || ruler.has_comments(equals) {
        return;
    }
    gaps[right_side.first].group = None;
    gaps[right_side.first].joint = Joint::Blank;
    gaps[right_side.last + 1].ends -= 1;
}

/// Keeps a run on one line if it is on one line and fits. Otherwise each row has a line, with its cells in
/// columns if these fit.
fn lay_out_run(ruler: &Ruler<'_>, run: &Run, gaps: &mut [Gap]) {
    let all = ruler.tokens_of(run.span);
    let is_one_line = !ruler.file.slice(run.rows_span).contains('\n');
    let is_measured = !ruler.has_comments(all) && !ruler.follows_comment(all.first);
    if is_one_line && ruler.width(all) <= WIDTH && is_measured {
        return;
    }
    let rows: Vec<Range> = run.rows.iter().map(|row| ruler.tokens_of(row.span)).collect();
    for row in &rows {
        gaps[row.first].joint = Joint::Line;
    }
    gaps[rows[0].first].joint = Joint::Begin;
    if !rows.iter().any(|row| ruler.has_comments(*row)) {
        align(ruler, run, gaps);
    }
}

/// Aligns the cells of each cycle, if every row then fits on its line.
fn align(ruler: &Ruler<'_>, run: &Run, gaps: &mut [Gap]) {
    let cells_of = |list: CellList| -> Vec<Range> {
        let cells = &ruler.parsed.program.cells;
        cells.items(list).iter().map(|cell| ruler.tokens_of(cells.span(*cell))).collect()
    };
    // The name with its colon is in the first column.
    let rows: Vec<Vec<Range>> = run
        .rows
        .iter()
        .filter_map(|row| if let RowValue::Cells(cells) = row.value { Some((row, cells)) } else { None })
        .map(|(row, cells)| {
            let name = ruler.tokens_of(row.span).first;
            let n_words = usize::from(row.is_expected);
            let label = Range { first: name, last: name + n_words + 1 };
            std::iter::once(label).chain(cells_of(cells)).collect()
        })
        .collect();
    let mut columns: Vec<usize> = Vec::new();
    for row in &rows {
        columns.resize(columns.len().max(row.len()), 0);
        for (column, cell) in columns.iter_mut().zip(row) {
            *column = ruler.width(*cell).max(*column);
        }
    }
    let total = usize::from(INDENT) + columns.iter().map(|column| column + 1).sum::<usize>();
    // The blank after the last column is as wide as the `;`.
    if rows.len() < 2 || total > WIDTH {
        return;
    }
    for row in rows {
        for (i, cell) in row.iter().enumerate().skip(1) {
            let padding = columns[i - 1] - ruler.width(row[i - 1]);
            gaps[cell.first].padding = u8::try_from(padding).expect("a column is narrower than a line");
        }
    }
}
