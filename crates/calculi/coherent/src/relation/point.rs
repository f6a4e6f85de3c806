//! Points as text: `[a, b] -> [c] -> 01:5`.
//!
//! For each argument a multiset in brackets and an arrow, then the leaf as `run` writes its path, a colon,
//! and the number; if the type has no levels, the number alone. A point of `(nat -> nat) -> D nat` is `[[0]
//! -> 1, [0] -> 2] -> 1:3`: the function is used at 0 twice. (Whether any function answers 1 and 2 there is
//! another question.)

use super::store::{Letter, Number, Point, PointId, SetId, Store};
use crate::syntax::Bit;
use crate::types::{Type, Types};

/// Why a text is not a point of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointSyntaxError {
    pub expected: String,
    /// The offset in bytes.
    pub at: usize,
}

/// An unfinished point around the current one.
struct Open {
    /// The complete multisets of arguments.
    sets: Vec<SetId>,
    /// The points of the open multiset.
    elements: Vec<PointId>,
    /// The type of these points.
    element: Type,
    /// The remaining type of the whole.
    rest: Type,
}

/// Reads a point of a type.
pub fn parse(text: &str, types: &Types, ty: Type, store: &mut Store) -> Result<PointId, PointSyntaxError> {
    let mut reader = Reader { text, at: 0 };
    let mut open: Vec<Open> = Vec::new();
    let (mut sets, mut rest) = (Vec::new(), ty);
    loop {
        // The start of a point, or its remaining part.
        if let Some((element, to)) = types.sides(rest) {
            reader.expect("[", "a multiset such as `[0, 0]`")?;
            open.push(Open { sets: std::mem::take(&mut sets), elements: Vec::new(), element, rest: to });
            if !reader.eat("]") {
                rest = element;
                continue;
            }
        } else {
            let mut point = leaf(&mut reader, rest.depth, &mut sets, store)?;
            // The point belongs to a multiset, after which another may follow.
            loop {
                let Some(around) = open.last_mut() else {
                    reader.end()?;
                    return Ok(point);
                };
                around.elements.push(point);
                if reader.eat(",") {
                    rest = around.element;
                    break;
                }
                reader.expect("]", "`,` or `]`")?;
                let closed = open.pop().expect("it is the last one");
                reader.expect("->", "`->`")?;
                (sets, rest) = closed.close(store);
                if types.sides(rest).is_some() {
                    break;
                }
                point = leaf(&mut reader, rest.depth, &mut sets, store)?;
            }
            continue;
        }
        // An empty multiset.
        let closed = open.pop().expect("it was just opened");
        reader.expect("->", "`->`")?;
        (sets, rest) = closed.close(store);
    }
}

impl Open {
    fn close(mut self, store: &mut Store) -> (Vec<SetId>, Type) {
        let set = store.known_set(self.elements);
        self.sets.push(set);
        (self.sets, self.rest)
    }
}

/// `01:5`, or `5` where there are no levels.
fn leaf(
    reader: &mut Reader<'_>,
    depth: u32,
    sets: &mut Vec<SetId>,
    store: &mut Store,
) -> Result<PointId, PointSyntaxError> {
    let mut word = Vec::new();
    if depth > 0 {
        let start = reader.start();
        let digits = reader.digits();
        let is_path =
            digits.len() == depth as usize && digits.bytes().all(|byte| matches!(byte, b'0' | b'1'));
        if !is_path {
            let plural = if depth == 1 { "" } else { "s" };
            return Err(PointSyntaxError {
                expected: format!("a path of {depth} letter{plural} 0 or 1"),
                at: start,
            });
        }
        word.extend(
            digits.bytes().map(|byte| Letter::Known(if byte == b'0' { Bit::Zero } else { Bit::One })),
        );
        reader.expect(":", "`:` after the path")?;
    }
    let start = reader.start();
    let no_number = |_| PointSyntaxError { expected: "a number below 2^64".to_string(), at: start };
    let number = reader.digits().parse().map_err(no_number)?;
    Ok(store.add(Point { sets: std::mem::take(sets), word, number: Number::known(number) }))
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&mut self) -> &'a str {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        rest
    }

    /// Where the next symbol starts.
    fn start(&mut self) -> usize {
        self.rest();
        self.at
    }

    fn eat(&mut self, symbol: &str) -> bool {
        let seen = self.rest().starts_with(symbol);
        if seen {
            self.at += symbol.len();
        }
        seen
    }

    fn expect(&mut self, symbol: &str, expected: &str) -> Result<(), PointSyntaxError> {
        if self.eat(symbol) { Ok(()) } else { Err(self.error(expected)) }
    }

    fn digits(&mut self) -> &'a str {
        let rest = self.rest();
        let length = rest.bytes().take_while(u8::is_ascii_digit).count();
        self.at += length;
        &rest[..length]
    }

    fn end(&mut self) -> Result<(), PointSyntaxError> {
        if self.rest().is_empty() { Ok(()) } else { Err(self.error("the end of the point")) }
    }

    fn error(&self, expected: &str) -> PointSyntaxError {
        PointSyntaxError { expected: expected.to_string(), at: self.at }
    }
}

/// A point as text; unknown parts print as `_`.
pub fn show(store: &Store, point: PointId) -> String {
    enum Task {
        Point(PointId),
        Set(SetId),
        Leaf(PointId),
        Text(&'static str),
    }
    let mut text = String::new();
    let mut work = vec![Task::Point(point)];
    while let Some(task) = work.pop() {
        match task {
            Task::Text(part) => text.push_str(part),
            Task::Point(id) => {
                work.push(Task::Leaf(id));
                for set in store.point(id).sets.iter().rev() {
                    work.extend([Task::Text(" -> "), Task::Set(*set)]);
                }
            }
            Task::Set(set) => match store.elements(set) {
                None => text.push('_'),
                Some(points) => {
                    text.push('[');
                    work.push(Task::Text("]"));
                    for (index, point) in points.iter().enumerate().rev() {
                        work.push(Task::Point(*point));
                        if index > 0 {
                            work.push(Task::Text(", "));
                        }
                    }
                }
            },
            Task::Leaf(id) => {
                let point = store.point(id);
                text.extend(point.word.iter().map(|letter| match store.letter(*letter) {
                    Letter::Known(bit) => bit.digit(),
                    Letter::Unknown(_) => '_',
                }));
                if !point.word.is_empty() {
                    text.push(':');
                }
                let number = store.number(point.number);
                match (number.unknown, number.offset) {
                    (None, n) => text.push_str(&n.to_string()),
                    (Some(_), 0) => text.push('_'),
                    (Some(_), n) => text.extend(["_+", &n.to_string()]),
                }
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, shown: &str) {
        let mut types = Types::default();
        let function = types.arrow(Type::NAT, Type::NAT);
        let binary = types.arrow(Type::NAT, function);
        let higher = types.arrow(function, binary.deeper(1));
        let mut store = Store::default();
        let point = parse(text, &types, higher, &mut store).expect("it is a point");
        assert_eq!(show(&store, point), shown);
    }

    #[test]
    fn points_of_functions_have_multisets() {
        check("[] -> [] -> [] -> 0:3", "[] -> [] -> [] -> 0:3");
        check("[[0] -> 1,[]->2] -> [5,5] -> [] -> 1:3", "[[0] -> 1, [] -> 2] -> [5, 5] -> [] -> 1:3");
    }

    #[test]
    fn malformed_points_are_refused() {
        let mut store = Store::default();
        let no_point = |text: &str, ty: Type, store: &mut Store| {
            parse(text, &Types::default(), ty, store).expect_err("it is no point").expected
        };
        assert_eq!(no_point("x", Type::NAT, &mut store), "a number below 2^64");
        assert_eq!(no_point("3 4", Type::NAT, &mut store), "the end of the point");
        assert_eq!(no_point("3", Type::ground(2), &mut store), "a path of 2 letters 0 or 1");
    }
}
