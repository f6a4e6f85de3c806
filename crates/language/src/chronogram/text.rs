//! The table of section 11: columns left-aligned, two spaces apart.
//!
//! ```text
//! cycle  0      1      2
//! bp     false  false  true
//! o      8      8      8
//! ```

/// Writes a table of named rows. With a width, cycles that do not fit go to further tables below, separated
/// by an empty line.
pub fn table(rows: &[(&str, Vec<String>)], n_cycles: usize, width: Option<usize>) -> String {
    let header = std::iter::once("cycle".to_string()).chain((0..n_cycles).map(|cycle| cycle.to_string()));
    let mut columns: Vec<Vec<String>> = header.map(|head| vec![head]).collect();
    for (name, cells) in rows {
        columns[0].push((*name).to_string());
        for (column, cell) in columns[1..].iter_mut().zip(cells) {
            column.push(cell.clone());
        }
    }
    let widths: Vec<usize> = columns
        .iter()
        .map(|column| column.iter().map(|cell| cell.chars().count()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for page in pages(&widths, width) {
        if !text.is_empty() {
            text.push('\n');
        }
        let shown: Vec<(&[String], usize)> = std::iter::once(0)
            .chain(page)
            .map(|column| (columns[column].as_slice(), widths[column]))
            .collect();
        for line in 0..=rows.len() {
            let cells = shown.iter().map(|(column, width)| format!("{:width$}", column[line]));
            text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
            text.push('\n');
        }
    }
    text
}

/// The ranges of columns for each table, without the column of names.
fn pages(widths: &[usize], width: Option<usize>) -> Vec<std::ops::Range<usize>> {
    let width = width.unwrap_or(usize::MAX);
    let mut pages = Vec::new();
    let mut start = 1;
    while start < widths.len() {
        let mut used = widths[0];
        let mut end = start;
        // A page has at least one cycle, however wide.
        while end < widths.len() && (end == start || used + 2 + widths[end] <= width) {
            used += 2 + widths[end];
            end += 1;
        }
        pages.push(start..end);
        start = end;
    }
    if pages.is_empty() {
        pages.push(1..1);
    }
    pages
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn row(n: i64) -> Vec<String> {
        (0..n).map(|cycle| if cycle % 3 == 1 { ".".to_string() } else { (cycle * 10).to_string() }).collect()
    }

    #[test]
    fn columns_are_aligned_and_trailing_blanks_are_trimmed() {
        expect![[r"
            cycle  0  1  2
            x      0  .  20
            name   0  .  20
        "]]
        .assert_eq(&table(&[("x", row(3)), ("name", row(3))], 3, None));
    }

    #[test]
    fn long_traces_are_split_into_pages() {
        expect![[r"
            cycle  0  1  2
            x      0  .  20

            cycle  3   4
            x      30  .
        "]]
        .assert_eq(&table(&[("x", row(5))], 5, Some(15)));
    }
}
