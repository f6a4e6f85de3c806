//! Charts as SVG: text that any browser shows and that tests can compare.
//!
//! Boolean values are drawn as a wave, other values as boxes, those of enumerations as one box for equal
//! neighbours. An absent cell is a small dot, an unknown one
//! is hatched, a contradiction is red. Long traces are split into bands, one below the other.

use std::fmt::Write;

use super::{Arrow, Chart, Role, Row};
use crate::semantics::Cell;

/// Cycles in one band.
const BAND: usize = 24;
const ROW_HEIGHT: usize = 30;
const HEADER: usize = 26;
const MARGIN: usize = 16;

const STYLE: &str = "\
text{font:13px ui-monospace,Menlo,Consolas,monospace;fill:#24292f}\
.title{font-weight:600;font-size:15px}\
.cycle{fill:#8c959f;font-size:11px}\
.name{text-anchor:end}\
.output{font-weight:700}\
.clock{fill:#8c959f;font-style:italic}\
.value{text-anchor:middle}\
.grid{stroke:#eaeef2;stroke-width:1}\
.box{fill:#f6f8fa;stroke:#afb8c1;stroke-width:1}\
.result{fill:#ddf4ff;stroke:#54aeff;stroke-width:1}\
.wave{fill:none;stroke:#1a7f37;stroke-width:2}\
.high{fill:#dafbe1;stroke:none}\
.absent{fill:#d0d7de}\
.unknown{fill:url(#hatched);stroke:#afb8c1;stroke-width:1;stroke-dasharray:3 2}\
.error{fill:#ffebe9;stroke:#cf222e;stroke-width:1.5}\
.tick{fill:#8c959f}\
.forward{fill:none;stroke:#0969da;stroke-width:1.2;opacity:.75}\
.backward{fill:none;stroke:#cf222e;stroke-width:1.2;opacity:.75}";

/// Whether reads across time are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrows {
    Drawn,
    Hidden,
}

/// Draws charts, one below the other.
pub fn draw(charts: &[Chart], arrows: Arrows) -> String {
    let mut body = String::new();
    let (mut top, mut width) = (MARGIN, 0);
    for chart in charts {
        let picture = Picture::new(chart);
        width = width.max(picture.width());
        top = picture.draw(arrows, top, &mut body) + MARGIN;
    }
    let width = width + 2 * MARGIN;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{top}\" viewBox=\"0 0 {width} {top}\">\n\
         <style>{STYLE}</style>\n\
         <defs>\
         <pattern id=\"hatched\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\
         <rect width=\"6\" height=\"6\" fill=\"#fff\"/><line y2=\"6\" stroke=\"#d0d7de\" stroke-width=\"2\"/></pattern>\
         <marker id=\"blue\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"6\" markerHeight=\"6\" orient=\"auto\">\
         <path d=\"M0 0L8 4L0 8z\" fill=\"#0969da\"/></marker>\
         <marker id=\"red\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"6\" markerHeight=\"6\" orient=\"auto\">\
         <path d=\"M0 0L8 4L0 8z\" fill=\"#cf222e\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{body}</svg>\n"
    )
}

/// A chart and its dimensions in pixels.
struct Picture<'a> {
    chart: &'a Chart,
    /// The width of the names.
    names: usize,
    /// The width of a cycle.
    column: usize,
}

impl<'a> Picture<'a> {
    fn new(chart: &'a Chart) -> Self {
        let letters = |text: &str| text.chars().count();
        let names = chart.rows.iter().map(|row| letters(&row.name)).max().unwrap_or(0) * 8 + 8;
        let cells = chart.rows.iter().filter(|row| !is_wave(row)).flat_map(|row| &row.cells);
        let words = chart.rows.iter().flat_map(|row| &row.enumerators).map(|name| letters(name));
        let widest = cells.map(|cell| letters(&shown(cell))).chain(words).max().unwrap_or(1);
        Picture { chart, names, column: (widest * 8 + 14).max(38) }
    }

    fn width(&self) -> usize {
        self.names + 12 + self.column * self.chart.n_cycles.min(BAND)
    }

    /// The middle of a cycle, counted from the start of its band.
    fn x(&self, cycle: usize) -> usize {
        MARGIN + self.names + 12 + self.column * (cycle % BAND) + self.column / 2
    }

    fn draw(&self, arrows: Arrows, top: usize, out: &mut String) -> usize {
        let mut at = top;
        line(
            out,
            &format!(
                "<text class=\"title\" x=\"{MARGIN}\" y=\"{}\">{}</text>",
                at + 14,
                escaped(&self.chart.title)
            ),
        );
        at += HEADER;
        let n_bands = self.chart.n_cycles.div_ceil(BAND).max(1);
        for band in 0..n_bands {
            let cycles = band * BAND..((band + 1) * BAND).min(self.chart.n_cycles);
            at = self.band(cycles, arrows, at, out) + MARGIN / 2;
        }
        at
    }

    fn band(&self, cycles: std::ops::Range<usize>, arrows: Arrows, top: usize, out: &mut String) -> usize {
        for cycle in cycles.clone() {
            let x = self.x(cycle);
            line(out, &format!("<text class=\"cycle value\" x=\"{x}\" y=\"{}\">{cycle}</text>", top + 12));
        }
        let first = top + 18;
        for (number, row) in self.chart.rows.iter().enumerate() {
            let middle = first + number * ROW_HEIGHT + ROW_HEIGHT / 2;
            self.row(row, cycles.clone(), middle, out);
        }
        if arrows == Arrows::Drawn {
            for arrow in &self.chart.arrows {
                if cycles.contains(&arrow.from.1) && cycles.contains(&arrow.to.1) {
                    self.arrow(arrow, first, out);
                }
            }
        }
        first + self.chart.rows.len() * ROW_HEIGHT
    }

    fn row(&self, row: &Row, cycles: std::ops::Range<usize>, middle: usize, out: &mut String) {
        let class = match row.role {
            Role::Output => "name output",
            Role::Clock => "name clock",
            Role::Input | Role::Local => "name",
        };
        let names_end = MARGIN + self.names;
        line(
            out,
            &format!(
                "<text class=\"{class}\" x=\"{names_end}\" y=\"{}\">{}</text>",
                middle + 4,
                escaped(&row.name)
            ),
        );
        let (left, right) =
            (self.x(cycles.start) - self.column / 2, self.x(cycles.end.max(1) - 1) + self.column / 2);
        line(
            out,
            &format!(
                "<line class=\"grid\" x1=\"{left}\" x2=\"{right}\" y1=\"{0}\" y2=\"{0}\"/>",
                middle + ROW_HEIGHT / 2
            ),
        );
        if is_wave(row) && row.role != Role::Clock {
            self.wave(row, cycles.clone(), middle, out);
        }
        self.segments(row, cycles.clone(), middle, out);
        for cycle in cycles {
            self.cell(row, cycle, middle, out);
        }
    }

    /// Draws Boolean values as high and low.
    fn wave(&self, row: &Row, cycles: std::ops::Range<usize>, middle: usize, out: &mut String) {
        let mut path = String::new();
        let mut is_drawing = false;
        for cycle in cycles {
            let (left, right) = (self.x(cycle) - self.column / 2, self.x(cycle) + self.column / 2);
            let Some(truth) = row.cells[cycle].truth() else {
                is_drawing = false;
                continue;
            };
            let y = if truth { middle - 9 } else { middle + 9 };
            if truth {
                let width = right - left;
                line(
                    out,
                    &format!("<rect class=\"high\" x=\"{left}\" y=\"{y}\" width=\"{width}\" height=\"18\"/>"),
                );
            }
            let step = if is_drawing { 'L' } else { 'M' };
            write!(path, "{step}{left} {y}L{right} {y}").expect("writing to a string cannot fail");
            is_drawing = true;
        }
        if !path.is_empty() {
            line(out, &format!("<path class=\"wave\" d=\"{path}\"/>"));
        }
    }

    /// Draws the values of an enumeration: a box with the name for equal neighbours.
    fn segments(&self, row: &Row, cycles: std::ops::Range<usize>, middle: usize, out: &mut String) {
        let mut start = cycles.start;
        while start < cycles.end {
            let Some(name) = row.enumerator(start) else {
                start += 1;
                continue;
            };
            let same = (start..cycles.end).take_while(|cycle| row.enumerator(*cycle) == Some(name));
            let end = start + same.count();
            let (left, right) = (self.x(start) - self.column / 2 + 4, self.x(end - 1) + self.column / 2 - 4);
            let class = if row.role == Role::Output { "result" } else { "box" };
            let (top, width, x) = (middle - 11, right - left, usize::midpoint(left, right));
            line(
                out,
                &format!(
                    "<rect class=\"{class}\" x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"22\" rx=\"4\"/>"
                ),
            );
            let text = escaped(name);
            line(out, &format!("<text class=\"value\" x=\"{x}\" y=\"{}\">{text}</text>", middle + 4));
            start = end;
        }
    }

    fn cell(&self, row: &Row, cycle: usize, middle: usize, out: &mut String) {
        let (x, width) = (self.x(cycle), self.column - 8);
        let (left, top) = (x - width / 2, middle - 11);
        let frame = |class: &str| {
            format!(
                "<rect class=\"{class}\" x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"22\" rx=\"4\"/>"
            )
        };
        let label = |text: &str| {
            format!("<text class=\"value\" x=\"{x}\" y=\"{}\">{}</text>", middle + 4, escaped(text))
        };
        match &row.cells[cycle] {
            Cell::Absent => {
                line(out, &format!("<circle class=\"absent\" cx=\"{x}\" cy=\"{middle}\" r=\"1.5\"/>"));
            }
            Cell::Present if row.role == Role::Clock => {
                line(out, &format!("<circle class=\"tick\" cx=\"{x}\" cy=\"{middle}\" r=\"4\"/>"));
            }
            Cell::Unknown | Cell::Present => {
                line(out, &frame("unknown"));
                line(out, &label(&shown(&row.cells[cycle])));
            }
            Cell::Error => {
                line(out, &frame("error"));
                line(out, &label("✗"));
            }
            Cell::Value(_) if is_wave(row) || row.enumerator(cycle).is_some() => {}
            Cell::Value(_) => {
                line(out, &frame(if row.role == Role::Output { "result" } else { "box" }));
                line(out, &label(&shown(&row.cells[cycle])));
            }
        }
    }

    fn arrow(&self, arrow: &Arrow, first: usize, out: &mut String) {
        let y = |row: usize| first + row * ROW_HEIGHT + ROW_HEIGHT / 2;
        let (x1, y1) = (self.x(arrow.from.1), y(arrow.from.0));
        let (x2, y2) = (self.x(arrow.to.1), y(arrow.to.0));
        let (class, head) = if arrow.from.1 < arrow.to.1 { ("forward", "blue") } else { ("backward", "red") };
        // A curve above the boxes, so that arrows along one row are visible.
        let (start, end) = (y1 - 11, y2 - 11);
        let bend = start.min(end).saturating_sub(12);
        line(
            out,
            &format!(
                "<path class=\"{class}\" d=\"M{x1} {start}C{x1} {bend} {x2} {bend} {x2} {end}\" marker-end=\"url(#{head})\"/>"
            ),
        );
    }
}

/// Whether all values of a row are Boolean.
fn is_wave(row: &Row) -> bool {
    let mut values = row.cells.iter().filter_map(Cell::value).peekable();
    values.peek().is_some() && values.all(|value| value.as_bool().is_some())
}

/// A cell's text, shortened if it is long.
fn shown(cell: &Cell) -> String {
    const LONGEST: usize = 14;
    let text = match cell {
        Cell::Value(eddy_tensor::Value::Num(x)) => {
            let short = format!("{}", eddy_tensor::text::Number((x * 1e4).round() / 1e4));
            if x.is_finite() && x.abs() >= 1e-3 && x.abs() < 1e9 { short } else { cell.to_string() }
        }
        _ => cell.to_string(),
    };
    if text.chars().count() <= LONGEST {
        return text;
    }
    text.chars().take(LONGEST - 1).chain(['…']).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use eddy_tensor::Value;
    use expect_test::expect;

    use super::*;

    #[test]
    fn equal_neighbours_of_an_enumeration_are_one_segment() {
        let cells = [0, 0, 1].map(|number| Cell::Value(Value::Int(number))).into_iter();
        let cells = cells.chain([Cell::Absent, Cell::Value(Value::Int(1))]).collect();
        let enumerators = ["idle", "press"].map(str::to_string).to_vec();
        let row = Row { name: "m".to_string(), role: Role::Local, cells, enumerators };
        let chart = Chart { title: "n".to_string(), rows: vec![row], n_cycles: 5, ..Chart::default() };
        let picture = draw(&[chart], Arrows::Hidden);
        let is_cell = |line: &&str| line.starts_with("<rect class=\"box\"") || line.contains(">idle<");
        let is_cell = |line: &&str| is_cell(line) || line.contains(">press<") || line.contains("absent\" cx");
        let lines: Vec<&str> = picture.lines().filter(is_cell).collect();
        expect![[r#"
            <rect class="box" x="48" y="64" width="100" height="22" rx="4"/>
            <text class="value" x="98" y="79">idle</text>
            <rect class="box" x="156" y="64" width="46" height="22" rx="4"/>
            <text class="value" x="179" y="79">press</text>
            <rect class="box" x="264" y="64" width="46" height="22" rx="4"/>
            <text class="value" x="287" y="79">press</text>
            <circle class="absent" cx="233" cy="75" r="1.5"/>"#]]
        .assert_eq(&lines.join("\n"));
    }
}
