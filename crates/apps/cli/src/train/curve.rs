//! Draws the losses of a run: in a terminal, and as SVG.

use std::fmt::Write;

use super::metrics::Epoch;

/// The size of the picture in a terminal, in characters.
const COLUMNS: usize = 60;
const ROWS: usize = 8;

/// The range of the losses, and how it is scaled.
struct Scale {
    low: f64,
    high: f64,
    /// Losses whose largest is more than ten times the smallest are drawn by their logarithms.
    is_logarithmic: bool,
}

impl Scale {
    fn new(losses: &[f64]) -> Option<Scale> {
        let low = losses.iter().copied().fold(f64::INFINITY, f64::min);
        let high = losses.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (losses.len() >= 2 && low.is_finite() && high.is_finite()).then(|| Scale {
            low,
            high,
            is_logarithmic: low > 0.0 && high / low > 10.0,
        })
    }

    /// 0 for the lowest loss, 1 for the highest.
    fn height(&self, loss: f64) -> f64 {
        let of = |x: f64| if self.is_logarithmic { x.ln() } else { x };
        let range = of(self.high) - of(self.low);
        if range > 0.0 { (of(loss) - of(self.low)) / range } else { 0.5 }
    }
}

/// The losses as dots, eight to a character; `None` if there are fewer than two.
pub fn text(epochs: &[Epoch]) -> String {
    let losses: Vec<f64> = epochs.iter().map(|epoch| epoch.loss).filter(|loss| loss.is_finite()).collect();
    let Some(scale) = Scale::new(&losses) else { return String::new() };
    let mut canvas = Canvas::new();
    let (width, height) = (2 * COLUMNS - 1, 4 * ROWS - 1);
    let dot = |x: usize| {
        // Interpolates linearly between two epochs.
        let at = ratio(x, width) * ratio(losses.len() - 1, 1);
        let before = losses[floor(at)];
        let after = losses[(floor(at) + 1).min(losses.len() - 1)];
        let part = at - at.floor();
        let up = scale.height(before) * (1.0 - part) + scale.height(after) * part;
        height - floor((up * ratio(height, 1)).round())
    };
    let mut last = dot(0);
    for x in 0..=width {
        let y = dot(x);
        for y in y.min(last)..=y.max(last) {
            canvas.set(x, y);
        }
        last = y;
    }
    canvas.text(&scale, losses.len())
}

#[allow(clippy::cast_precision_loss)] // a picture has few dots
fn ratio(a: usize, b: usize) -> f64 {
    a as f64 / b as f64
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // dots are counted from 0
fn floor(x: f64) -> usize {
    x.max(0.0) as usize
}

/// Dots as Braille characters.
struct Canvas {
    cells: Vec<[u8; COLUMNS]>,
}

impl Canvas {
    fn new() -> Canvas {
        Canvas { cells: vec![[0; COLUMNS]; ROWS] }
    }

    fn set(&mut self, x: usize, y: usize) {
        // The bits of the dots of one character, by column and row.
        const BITS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
        if let Some(cell) = self.cells.get_mut(y / 4).and_then(|row| row.get_mut(x / 2)) {
            *cell |= BITS[x % 2][y % 4];
        }
    }

    fn text(&self, scale: &Scale, n_epochs: usize) -> String {
        let mut text = String::new();
        for (number, row) in self.cells.iter().enumerate() {
            let label = match number {
                0 => format!("{:.4}", scale.high),
                n if n == ROWS - 1 => format!("{:.4}", scale.low),
                _ => String::new(),
            };
            let dots = row.iter().map(|bits| char::from_u32(0x2800 + u32::from(*bits)).unwrap_or(' '));
            let _ = writeln!(text, "{label:>10} ┤{}", dots.collect::<String>().trim_end_matches('\u{2800}'));
        }
        let kind = if scale.is_logarithmic { "loss, logarithmic" } else { "loss" };
        let _ = writeln!(text, "{:>10} └{}", "", "─".repeat(COLUMNS));
        let _ = writeln!(text, "{:>10}  {kind}, epochs 1 to {n_epochs}", "");
        text
    }
}

/// The losses as a picture for a browser, and below them a picture for each metric.
pub fn svg(epochs: &[Epoch]) -> String {
    let training = epochs.iter().map(|epoch| Some(epoch.loss)).collect();
    let validation = epochs.iter().map(|epoch| epoch.validation).collect();
    let losses = vec![
        Line { name: "training".to_string(), values: training },
        Line { name: "validation".to_string(), values: validation },
    ];
    let mut panels = vec![Panel { title: String::new(), lines: losses }];
    for name in metric_names(epochs) {
        let values = epochs.iter().map(|epoch| epoch.metric(&name)).collect();
        panels.push(Panel { title: String::new(), lines: vec![Line { name, values }] });
    }
    drawn(&panels)
}

/// The names of all metrics, in the order in which they first come.
pub fn metric_names(epochs: &[Epoch]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (name, _) in epochs.iter().flat_map(|epoch| &epoch.metrics) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// Lines with one scale.
pub struct Panel {
    pub title: String,
    pub lines: Vec<Line>,
}

/// A value for each epoch.
pub struct Line {
    pub name: String,
    pub values: Vec<Option<f64>>,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 320.0;
const MARGIN: f64 = 48.0;
const COLOURS: [&str; 6] = ["#1f6feb", "#d1495b", "#2a9d4a", "#b5651d", "#7b4fb5", "#3a8f9e"];

/// Panels one below the other.
pub fn drawn(panels: &[Panel]) -> String {
    let height = HEIGHT * ratio(panels.len(), 1);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (number, panel) in panels.iter().enumerate() {
        panel.draw(HEIGHT * ratio(number, 1), &mut text);
    }
    text + "</svg>\n"
}

impl Panel {
    fn draw(&self, top: f64, text: &mut String) {
        let values = self.lines.iter().flat_map(|line| line.values.iter().copied().flatten());
        let finite: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        let Some(scale) = Scale::new(&finite) else { return };
        let n_epochs = self.lines.iter().map(|line| line.values.len()).max().unwrap_or(0);
        let x = |number: usize| MARGIN + (WIDTH - 2.0 * MARGIN) * ratio(number, n_epochs.max(2) - 1);
        let y = |value: f64| top + HEIGHT - MARGIN - (HEIGHT - 2.0 * MARGIN) * scale.height(value);
        let (first, bottom, right) = (top + MARGIN, top + HEIGHT - MARGIN, WIDTH - MARGIN);
        let _ =
            writeln!(text, "<path d=\"M{MARGIN} {first}V{bottom}H{right}\" fill=\"none\" stroke=\"#888\"/>");
        for value in [scale.low, scale.high] {
            let _ = writeln!(
                text,
                "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{value:.4}</text>",
                MARGIN - 6.0,
                y(value) + 4.0
            );
        }
        let _ = writeln!(
            text,
            "<text x=\"{right}\" y=\"{}\" text-anchor=\"end\">epoch {n_epochs}</text>",
            bottom + 18.0,
        );
        if !self.title.is_empty() {
            let title = escaped(&self.title);
            let _ = writeln!(text, "<text x=\"{MARGIN}\" y=\"{}\">{title}</text>", first - 12.0);
        }
        for (index, (line, colour)) in self.lines.iter().zip(COLOURS.iter().cycle()).enumerate() {
            let points = line.values.iter().enumerate();
            let points =
                points.filter_map(|(number, value)| Some((number, (*value).filter(|v| v.is_finite())?)));
            let points: Vec<String> =
                points.map(|(number, value)| format!("{:.1},{:.1}", x(number), y(value))).collect();
            if points.is_empty() {
                continue;
            }
            let _ = writeln!(
                text,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
                points.join(" ")
            );
            let _ = writeln!(
                text,
                "<text x=\"{right}\" y=\"{}\" text-anchor=\"end\" fill=\"{colour}\">{}</text>",
                first + 16.0 * ratio(index, 1),
                escaped(&line.name)
            );
        }
    }
}

/// Text for SVG.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use eddy_driver::train::Measured;

    use super::*;

    fn epochs(losses: &[f64]) -> Vec<Epoch> {
        let epoch = |loss: &f64| {
            let measured =
                Measured { loss: *loss, n_rows: 1, n_unknown: 0, why_unknown: None, warnings: Vec::new() };
            Epoch::new(&measured, None, 0.0)
        };
        losses.iter().map(epoch).collect()
    }

    #[test]
    fn a_falling_loss_falls_from_left_to_right() {
        let text = text(&epochs(&[4.0, 3.0, 2.0, 1.0]));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), ROWS + 2);
        assert!(lines[0].contains("4.0000") && lines[ROWS - 1].contains("1.0000"), "{text}");
        assert!(lines[0].chars().count() < lines[ROWS - 1].chars().count(), "{text}");
    }

    #[test]
    fn one_epoch_has_no_curve() {
        assert_eq!(text(&epochs(&[1.0])), "");
        assert!(svg(&epochs(&[1.0])).ends_with("</svg>\n"));
    }

    #[test]
    fn losses_that_are_not_finite_are_left_out() {
        let text = text(&epochs(&[f64::NAN, 2.0, f64::INFINITY, 1.0]));
        assert!(text.contains("2.0000") && text.contains("1.0000"), "{text}");
    }
}
