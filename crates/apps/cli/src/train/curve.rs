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

fn all_losses(epochs: &[Epoch]) -> Vec<f64> {
    let both = epochs.iter().flat_map(|epoch| [Some(epoch.loss), epoch.validation]);
    both.flatten().filter(|loss| loss.is_finite()).collect()
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

/// The losses as a picture for a browser.
pub fn svg(epochs: &[Epoch]) -> String {
    const WIDTH: f64 = 640.0;
    const HEIGHT: f64 = 320.0;
    const MARGIN: f64 = 48.0;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    if let Some(scale) = Scale::new(&all_losses(epochs)) {
        let x = |number: usize| MARGIN + (WIDTH - 2.0 * MARGIN) * ratio(number, epochs.len().max(2) - 1);
        let y = |loss: f64| HEIGHT - MARGIN - (HEIGHT - 2.0 * MARGIN) * scale.height(loss);
        let (bottom, right) = (HEIGHT - MARGIN, WIDTH - MARGIN);
        let _ =
            writeln!(text, "<path d=\"M{MARGIN} {MARGIN}V{bottom}H{right}\" fill=\"none\" stroke=\"#888\"/>");
        for loss in [scale.low, scale.high] {
            let _ = writeln!(
                text,
                "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{loss:.4}</text>",
                MARGIN - 6.0,
                y(loss) + 4.0
            );
        }
        let _ = writeln!(
            text,
            "<text x=\"{right}\" y=\"{}\" text-anchor=\"end\">epoch {}</text>",
            bottom + 18.0,
            epochs.len()
        );
        let training = epochs.iter().map(|epoch| Some(epoch.loss)).collect::<Vec<_>>();
        let validation = epochs.iter().map(|epoch| epoch.validation).collect::<Vec<_>>();
        let curves = [("training", "#1f6feb", training), ("validation", "#d1495b", validation)];
        for (index, (name, colour, losses)) in curves.into_iter().enumerate() {
            let points = losses.iter().enumerate().filter_map(|(number, loss)| Some((number, (*loss)?)));
            let points: Vec<String> =
                points.map(|(number, loss)| format!("{:.1},{:.1}", x(number), y(loss))).collect();
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
                "<text x=\"{right}\" y=\"{}\" text-anchor=\"end\" fill=\"{colour}\">{name}</text>",
                MARGIN + 16.0 * ratio(index, 1)
            );
        }
    }
    text + "</svg>\n"
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
