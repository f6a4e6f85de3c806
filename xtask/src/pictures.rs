//! Pictures of the guide, drawn from the output of examples of functions: `cargo xtask pictures`.
//!
//! The last line of `examples/functions/NAME.out` has a record of series. The file tests check that the
//! program prints it, and `tidy` checks that the picture is drawn from it.
//!
//! A field is a list of points, a list of paths, a series over the first field, or a matrix of brightness;
//! [`PICTURES`] says which of these, and how to draw it.

use std::fmt::Write;

/// The pictures, by the name of their example.
pub const PICTURES: &[Picture] = &[
    Picture { name: "kalman", kind: Kind::Curves, dots: &["measured"], width: 640.0, height: 240.0 },
    Picture { name: "neural-ode", kind: Kind::Plane, dots: &["target"], width: 400.0, height: 400.0 },
    Picture { name: "k-means", kind: Kind::Plane, dots: &["points"], width: 400.0, height: 400.0 },
    Picture { name: "ray-tracer", kind: Kind::Images, dots: &[], width: 640.0, height: 260.0 },
];

pub struct Picture {
    name: &'static str,
    kind: Kind,
    /// The fields that are drawn as dots; the others are lines.
    dots: &'static [&'static str],
    width: f64,
    height: f64,
}

enum Kind {
    /// The first field holds the x coordinates of all others.
    Curves,
    /// Each field is a list of points, or a list of paths.
    Plane,
    /// Each field is a matrix of brightness; negative numbers are red.
    Images,
}

impl Picture {
    /// The file whose last line holds the numbers.
    pub fn source(&self) -> String {
        format!("examples/functions/{}.out", self.name)
    }

    pub fn file(&self) -> String {
        format!("docs/guide/pictures/{}.svg", self.name)
    }

    /// Draws the output of an example.
    pub fn draw(&self, printed: &str) -> Result<String, String> {
        let line = printed.lines().rev().find(|line| !line.is_empty()).unwrap_or_default();
        let start = line.find('{').unwrap_or_default();
        let fields =
            Reader { rest: &line[start..] }.record().ok_or("the last line has no record of numbers")?;
        let body = match self.kind {
            Kind::Images => images(&fields, self)?,
            Kind::Plane | Kind::Curves => lines(&self.layers(&fields)?, self),
        };
        Ok(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n\
             <style>text{{font:13px ui-monospace,Menlo,Consolas,monospace;fill:#24292f}}.axis{{fill:#8c959f;\
             font-size:11px}}.end{{text-anchor:end}}path{{fill:none;stroke-width:1.8}}\
             .frame{{fill:none;stroke:#eaeef2}}</style>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{body}</svg>\n",
            self.width, self.height
        ))
    }

    /// The layers of the drawing, one for each field.
    fn layers(&self, fields: &[(String, Value)]) -> Result<Vec<Layer>, String> {
        let mut layers = Vec::new();
        let axis = if matches!(self.kind, Kind::Curves) { Some(fields[0].1.numbers()?) } else { None };
        for (name, value) in &fields[usize::from(axis.is_some())..] {
            let paths = match &axis {
                Some(axis) => vec![axis.iter().copied().zip(value.numbers()?).collect()],
                None => value.paths()?,
            };
            layers.push(Layer { name: name.clone(), paths, dots: self.dots.contains(&name.as_str()) });
        }
        Ok(layers)
    }
}

struct Layer {
    name: String,
    paths: Vec<Vec<(f64, f64)>>,
    dots: bool,
}

const COLOURS: [&str; 4] = ["#8c959f", "#0969da", "#cf222e", "#1a7f37"];
const MARGIN: f64 = 40.0;

/// Draws layers in one frame, with the ends of each axis labelled and the names of the layers above.
fn lines(layers: &[Layer], picture: &Picture) -> String {
    let places = || layers.iter().flat_map(|layer| layer.paths.iter().flatten());
    let range = |part: fn(&(f64, f64)) -> f64| {
        places()
            .map(part)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
    };
    let ((left, right), (low, high)) = (range(|place| place.0), range(|place| place.1));
    let (width, height) = (picture.width - 2.0 * MARGIN, picture.height - 2.0 * MARGIN);
    let x = |value: f64| MARGIN + (value - left) / (right - left) * width;
    let y = |value: f64| MARGIN + (high - value) / (high - low) * height;
    let mut text = format!(
        "<rect class=\"frame\" x=\"{MARGIN}\" y=\"{MARGIN}\" width=\"{width}\" height=\"{height}\"/>\n\
         <text class=\"axis\" x=\"{MARGIN}\" y=\"{bottom:.1}\">{left}</text>\n\
         <text class=\"axis end\" x=\"{end:.1}\" y=\"{bottom:.1}\">{right}</text>\n\
         <text class=\"axis end\" x=\"{side:.1}\" y=\"{top:.1}\">{high:.1}</text>\n\
         <text class=\"axis end\" x=\"{side:.1}\" y=\"{floor:.1}\">{low:.1}</text>\n",
        bottom = MARGIN + height + 16.0,
        end = MARGIN + width,
        side = MARGIN - 5.0,
        top = MARGIN + 4.0,
        floor = MARGIN + height,
        left = rounded(left),
        right = rounded(right),
    );
    for (index, layer) in layers.iter().enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        for path in &layer.paths {
            if layer.dots {
                for place in path {
                    let (x, y) = (x(place.0), y(place.1));
                    let _ =
                        writeln!(text, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\" fill=\"{colour}\"/>");
                }
                continue;
            }
            let steps: Vec<String> =
                path.iter().map(|place| format!("{:.1} {:.1}", x(place.0), y(place.1))).collect();
            let _ = writeln!(text, "<path stroke=\"{colour}\" d=\"M{}\"/>", steps.join("L"));
            if let Some(last) = path.last() {
                let (x, y) = (x(last.0), y(last.1));
                let _ = writeln!(text, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>");
            }
        }
        let place = MARGIN + 110.0 * f64::from(u32::try_from(index).unwrap_or(u32::MAX));
        let _ =
            writeln!(text, "<text x=\"{place:.0}\" y=\"24\" style=\"fill:{colour}\">{}</text>", layer.name);
    }
    text
}

/// Rounds a number to two digits after the point.
fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// Draws matrices side by side: white is the largest number, black is 0, red the most negative one.
fn images(fields: &[(String, Value)], picture: &Picture) -> Result<String, String> {
    let mut text = String::new();
    let count = f64::from(u32::try_from(fields.len()).unwrap_or(u32::MAX));
    for (index, (name, value)) in fields.iter().enumerate() {
        let rows: Vec<Vec<f64>> = value.list()?.iter().map(Value::numbers).collect::<Result<_, _>>()?;
        let columns = rows.first().map_or(0, Vec::len);
        let largest = rows.iter().flatten().fold(0.0_f64, |most, value| most.max(value.abs()));
        let room = (picture.width - 16.0 * (count + 1.0)) / count;
        let side = (room / f64::from(u32::try_from(columns).unwrap_or(u32::MAX))).floor();
        let left = 16.0 + (room + 16.0) * f64::from(u32::try_from(index).unwrap_or(u32::MAX));
        let _ = writeln!(text, "<text x=\"{left}\" y=\"24\">{name}</text>");
        let mut y = 34.0;
        for row in &rows {
            let mut x = left;
            for value in row {
                // Perceived brightness is about the square root of the number.
                let shade = (255.0 * (value.abs() / largest).sqrt()).round();
                let colour = if *value < 0.0 {
                    format!("rgb({shade},0,0)")
                } else {
                    format!("rgb({shade},{shade},{shade})")
                };
                let _ = writeln!(
                    text,
                    "<rect x=\"{x:.0}\" y=\"{y:.0}\" width=\"{side}\" height=\"{side}\" fill=\"{colour}\"/>"
                );
                x += side;
            }
            y += side;
        }
    }
    Ok(text)
}

/// A value printed by `eval`: a number, or a list.
enum Value {
    Number(f64),
    List(Vec<Value>),
}

impl Value {
    fn list(&self) -> Result<&[Value], String> {
        match self {
            Self::List(parts) => Ok(parts),
            Self::Number(number) => Err(format!("{number} is not a list")),
        }
    }

    fn numbers(&self) -> Result<Vec<f64>, String> {
        let number = |part: &Value| match part {
            Self::Number(number) => Ok(*number),
            Self::List(_) => Err("a list where a number is needed".to_string()),
        };
        self.list()?.iter().map(number).collect()
    }

    /// The paths of a list of paths; a list of points is one path.
    fn paths(&self) -> Result<Vec<Vec<(f64, f64)>>, String> {
        let place = |part: &Value| match part.numbers()?[..] {
            [x, y] => Ok((x, y)),
            ref other => Err(format!("{} numbers where a point is needed", other.len())),
        };
        let path = |part: &Value| part.list()?.iter().map(place).collect::<Result<Vec<_>, String>>();
        if let Ok(only) = path(self) {
            return Ok(vec![only]);
        }
        self.list()?.iter().map(path).collect()
    }
}

/// Reads the rest of a line.
struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn skip(&mut self, expected: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(expected)?;
        Some(())
    }

    fn record(&mut self) -> Option<Vec<(String, Value)>> {
        let mut fields = Vec::new();
        self.skip('{')?;
        loop {
            self.skip('"')?;
            let (name, rest) = self.rest.split_once('"')?;
            self.rest = rest;
            self.skip(':')?;
            fields.push((name.to_string(), self.value()?));
            if self.skip(',').is_none() {
                self.skip('}')?;
                return Some(fields);
            }
        }
    }

    fn value(&mut self) -> Option<Value> {
        if self.skip('[').is_none() {
            let end = self.rest.find([',', ']', '}'])?;
            let (number, rest) = self.rest.split_at(end);
            self.rest = rest;
            return number.parse().ok().map(Value::Number);
        }
        let mut parts = Vec::new();
        if self.skip(']').is_some() {
            return Some(Value::List(parts));
        }
        loop {
            parts.push(self.value()?);
            if self.skip(',').is_none() {
                self.skip(']')?;
                return Some(Value::List(parts));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CURVES: Picture =
        Picture { name: "a", kind: Kind::Curves, dots: &["y"], width: 180.0, height: 180.0 };

    #[test]
    fn a_series_is_drawn_over_the_first_field() {
        let drawn = CURVES.draw("7\n{\"t\":[0,2],\"y\":[1,3],\"z\":[1,1]}\n").expect("a picture");
        assert!(drawn.contains("<circle cx=\"40.0\" cy=\"140.0\""), "{drawn}");
        assert!(drawn.contains("d=\"M40.0 140.0L140.0 140.0\""), "{drawn}");
    }

    #[test]
    fn paths_and_images_have_their_shapes() {
        let plane = Picture { kind: Kind::Plane, dots: &[], ..CURVES };
        let drawn = plane.draw("{\"p\":[[[0,0],[1,1]],[[1,0],[0,1]]]}").expect("a picture");
        assert_eq!(drawn.matches("<path").count(), 2);
        let images = Picture { kind: Kind::Images, ..CURVES };
        let drawn = images.draw("{\"i\":[[1,-0.25],[0,0]]}").expect("a picture");
        assert!(drawn.contains("rgb(128,0,0)") && drawn.contains("rgb(255,255,255)"), "{drawn}");
    }

    #[test]
    fn other_output_is_refused() {
        for printed in
            ["", "[1,2]", "{\"t\":[0,1],\"y\":[1,", "{\"t\":[0],\"y\":true}", "{\"t\":[0],\"y\":[[1]]}"]
        {
            assert!(CURVES.draw(printed).is_err(), "{printed}");
        }
    }
}
