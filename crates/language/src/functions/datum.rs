//! Values from outside of a program, and their types (functions.md, section 7).
//!
//! A [`Datum`] has the structure of JSON. The written type of a parameter determines the meaning of a
//! structure: a list is a tensor or a tuple, a string an enumerator, an integer possibly a num. Without a
//! written type, the data determine it: lists of equal parts are tensors, other lists are tuples, and
//! integers have the kind that the function needs, else num.

use eddy_body::ir::Elem;
use eddy_syntax::suggest::nearest;
use eddy_tensor::{Data, Shape, Value};

use super::key::{KeyKind, Ty};

/// A value whose type is not known yet.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    Bool(bool),
    Int(i64),
    Num(f64),
    /// An enumerator, or a number that JSON cannot express.
    Text(String),
    /// A tensor, a tuple, or `()`.
    List(Vec<Datum>),
    Record(Vec<(String, Datum)>),
    /// A tensor in memory, from a caller of the library.
    Tensor(Value),
}

/// The expected type of a parameter.
#[derive(Clone, Debug)]
pub enum Expected {
    Tensor(Elem, usize),
    Tuple(Vec<Expected>),
    Record(Vec<(String, Expected)>),
    /// A function, which no datum can represent.
    Function,
    /// The type of the parameter is not written.
    Open,
}

/// A value with its type. An integer whose kind is open may become a num.
#[derive(Clone, Debug)]
pub struct Typed {
    pub ty: Ty,
    /// The tensors in it, in order.
    pub values: Vec<Value>,
}

/// A datum that does not match the type of its parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The parameter and the path to the wrong part, as in `b.at[1]`.
    pub place: String,
    pub reason: String,
    pub help: Option<String>,
}

/// Reads data with the enumerations and the declared records of a program.
pub struct Reader<'a> {
    /// The names of enumerations' cases, by number.
    pub cases: &'a [Vec<String>],
    /// The labels of declared records, in order of declaration.
    pub records: &'a [Vec<String>],
}

impl Reader<'_> {
    /// Reads a datum as a value of the expected type. `n_open` counts the open kinds of one call.
    pub fn read(
        &self,
        datum: &Datum,
        expected: &Expected,
        place: &str,
        n_open: &mut usize,
    ) -> Result<Typed, Mismatch> {
        match expected {
            Expected::Open => self.open(datum, place, n_open),
            Expected::Tensor(elem, rank) => self.tensor(datum, *elem, *rank, place),
            Expected::Function => {
                let reason = "is a function, which data cannot contain".to_string();
                let help = "call it from a function or an `eval` of the program".to_string();
                Err(Mismatch { place: place.to_string(), reason, help: Some(help) })
            }
            Expected::Tuple(parts) => {
                let Datum::List(given) = datum else {
                    return Err(wrong(place, &format!("a list of {} parts", parts.len()), datum));
                };
                if given.len() != parts.len() {
                    let needed = format!("a list of {} parts", parts.len());
                    return Err(wrong(place, &needed, datum));
                }
                let mut typed = Vec::new();
                for (at, (part, given)) in parts.iter().zip(given).enumerate() {
                    typed.push(self.read(given, part, &format!("{place}[{at}]"), n_open)?);
                }
                Ok(tuple(typed))
            }
            Expected::Record(fields) => {
                let Datum::Record(given) = datum else {
                    let labels: Vec<&str> = fields.iter().map(|(label, _)| label.as_str()).collect();
                    return Err(wrong(place, &format!("an object with {}", labels.join(", ")), datum));
                };
                let labels: Vec<&str> = fields.iter().map(|(label, _)| label.as_str()).collect();
                if let Some((label, _)) = given.iter().find(|(label, _)| !labels.contains(&label.as_str())) {
                    return Err(no_field(place, label, &labels));
                }
                let mut typed = Vec::new();
                for (label, field) in fields {
                    let place = format!("{place}.{label}");
                    let found = given.iter().find(|(other, _)| other == label);
                    let (_, given) = found.ok_or_else(|| missing(&place))?;
                    typed.push((label.clone(), self.read(given, field, &place, n_open)?));
                }
                Ok(record(typed))
            }
        }
    }

    fn tensor(&self, datum: &Datum, elem: Elem, rank: usize, place: &str) -> Result<Typed, Mismatch> {
        let ty = Ty::Tensor(KeyKind::Is(elem), rank);
        if let Datum::Tensor(value) = datum {
            let value = converted(value, elem)
                .filter(|value| value.shape().len() == rank)
                .ok_or_else(|| wrong(place, &self.words(elem, rank), datum))?;
            return Ok(Typed { ty, values: vec![value] });
        }
        let leaves = Leaves::collect(datum, rank).map_err(|misfit| {
            let place = format!("{place}{}", misfit.path);
            if misfit.is_uneven {
                let reason = "has rows of different lengths".to_string();
                return Mismatch { place, reason, help: Some("a tensor is rectangular".to_string()) };
            }
            wrong(&place, &self.words(elem, if misfit.path.is_empty() { rank } else { 0 }), misfit.found)
        })?;
        let (mut nums, mut ints, mut bools) = (Vec::new(), Vec::new(), Vec::new());
        for (at, element) in leaves.elements.iter().enumerate() {
            let here = || format!("{place}{}", leaves.path(at));
            match (elem, element) {
                (Elem::Num, element) => match num(element) {
                    Some(x) => nums.push(x),
                    None => return Err(wrong(&here(), "a number", element)),
                },
                (Elem::Int, Datum::Int(n)) => ints.push(*n),
                (Elem::Bool, Datum::Bool(truth)) => bools.push(*truth),
                (Elem::Enum(id), Datum::Text(text)) => {
                    let cases = &self.cases[id.index()];
                    let Some(case) = cases.iter().position(|case| case == text) else {
                        return Err(no_case(&here(), text, cases));
                    };
                    ints.push(i64::try_from(case).expect("an enumeration has few cases"));
                }
                _ => return Err(wrong(&here(), &self.words(elem, 0), element)),
            }
        }
        let data = match elem {
            Elem::Num => Data::Num(nums),
            Elem::Bool => Data::Bool(bools),
            Elem::Int | Elem::Enum(_) | Elem::Tape => Data::Int(ints),
        };
        let shape = Shape::from(leaves.sizes.iter().map(|size| size.unwrap_or(0)).collect::<Vec<_>>());
        Ok(Typed { ty, values: vec![value(shape, data)] })
    }

    fn words(&self, elem: Elem, rank: usize) -> String {
        let element = match elem {
            Elem::Num => "a number".to_string(),
            Elem::Int => "an integer".to_string(),
            Elem::Bool => "true or false".to_string(),
            Elem::Enum(id) => format!("one of {}", quoted(&self.cases[id.index()])),
            Elem::Tape => unreachable!("no parameter is a tape"),
        };
        match rank {
            0 => element,
            1 => format!("a list, each element {element}"),
            n => format!("lists nested {n} deep, each element {element}"),
        }
    }

    /// Reads a datum without an expected type.
    fn open(&self, datum: &Datum, place: &str, n_open: &mut usize) -> Result<Typed, Mismatch> {
        Ok(match datum {
            Datum::Bool(truth) => {
                Typed { ty: Ty::Tensor(KeyKind::Is(Elem::Bool), 0), values: vec![Value::Bool(*truth)] }
            }
            Datum::Int(n) => {
                *n_open += 1;
                Typed { ty: Ty::Tensor(KeyKind::Open(*n_open - 1), 0), values: vec![Value::Int(*n)] }
            }
            Datum::Num(x) => {
                Typed { ty: Ty::Tensor(KeyKind::Is(Elem::Num), 0), values: vec![Value::Num(*x)] }
            }
            Datum::Text(text) => match special(text) {
                Some(x) => Typed { ty: Ty::Tensor(KeyKind::Is(Elem::Num), 0), values: vec![Value::Num(x)] },
                None => return self.enumerator(text, place),
            },
            Datum::Tensor(value) => {
                let elem = match value.scalar() {
                    eddy_tensor::Scalar::Bool => Elem::Bool,
                    eddy_tensor::Scalar::Int => Elem::Int,
                    eddy_tensor::Scalar::Num => Elem::Num,
                };
                let ty = Ty::Tensor(KeyKind::Is(elem), value.shape().len());
                Typed { ty, values: vec![value.to_num64()] }
            }
            Datum::List(parts) if parts.is_empty() => {
                *n_open += 1;
                let ty = Ty::Tensor(KeyKind::Open(*n_open - 1), 1);
                Typed { ty, values: vec![value(Shape::from(vec![0]), Data::Int(Vec::new()))] }
            }
            Datum::List(parts) => {
                if let Some(vector) = vector(parts, n_open) {
                    return Ok(vector);
                }
                let mut typed = Vec::new();
                for (at, part) in parts.iter().enumerate() {
                    typed.push(self.open(part, &format!("{place}[{at}]"), n_open)?);
                }
                match stacked(&typed, n_open) {
                    Some(tensor) => tensor,
                    None => tuple(typed),
                }
            }
            Datum::Record(fields) => {
                let mut typed = Vec::new();
                for (label, field) in fields {
                    let place = format!("{place}.{label}");
                    typed.push((label.clone(), self.open(field, &place, n_open)?));
                }
                let has_all = |labels: &&Vec<String>| {
                    labels.len() == typed.len() && typed.iter().all(|(label, _)| labels.contains(label))
                };
                if let Some(labels) = self.records.iter().find(has_all) {
                    typed.sort_by_key(|(label, _)| labels.iter().position(|other| other == label));
                }
                record(typed)
            }
        })
    }

    fn enumerator(&self, text: &str, place: &str) -> Result<Typed, Mismatch> {
        for (id, cases) in self.cases.iter().enumerate() {
            if let Some(case) = cases.iter().position(|case| case == text) {
                let elem = Elem::Enum(eddy_body::ir::EnumId::new(id));
                let case = i64::try_from(case).expect("an enumeration has few cases");
                let ty = Ty::Tensor(KeyKind::Is(elem), 0);
                return Ok(Typed { ty, values: vec![Value::Int(case)] });
            }
        }
        Err(no_case(place, text, &self.cases.concat()))
    }
}

/// The elements of nested lists.
struct Leaves<'a> {
    /// The length of the lists at each level; `None` if no list at this level was found.
    sizes: Vec<Option<usize>>,
    elements: Vec<&'a Datum>,
}

/// A part of nested lists that does not fit.
struct Misfit<'a> {
    path: String,
    found: &'a Datum,
    is_uneven: bool,
}

impl<'a> Leaves<'a> {
    fn collect(datum: &'a Datum, rank: usize) -> Result<Leaves<'a>, Misfit<'a>> {
        let mut leaves = Leaves { sizes: vec![None; rank], elements: Vec::new() };
        // The enclosing lists of the next part, and how many parts of each were visited.
        let mut around: Vec<(&'a [Datum], usize)> = vec![(std::slice::from_ref(datum), 0)];
        while let Some((parts, next)) = around.last_mut() {
            let Some(part) = parts.get(*next) else {
                around.pop();
                continue;
            };
            *next += 1;
            let level = around.len() - 1;
            let misfit = |is_uneven| {
                let indices: Vec<String> =
                    around[1..].iter().map(|(_, next)| format!("[{}]", next - 1)).collect();
                let path = indices.concat();
                Misfit { path, found: part, is_uneven }
            };
            match part {
                Datum::List(parts) if level < rank => {
                    if leaves.sizes[level].is_some_and(|size| size != parts.len()) {
                        return Err(misfit(true));
                    }
                    leaves.sizes[level] = Some(parts.len());
                    around.push((parts, 0));
                }
                Datum::List(_) | Datum::Record(_) | Datum::Tensor(_) => return Err(misfit(false)),
                _ if level < rank => return Err(misfit(false)),
                element => leaves.elements.push(element),
            }
        }
        Ok(leaves)
    }

    /// The position of an element, as in `[1][2]`.
    fn path(&self, at: usize) -> String {
        let mut rest = at;
        let mut indices: Vec<String> = Vec::new();
        for size in self.sizes.iter().rev() {
            let size = size.unwrap_or(1).max(1);
            indices.push(format!("[{}]", rest % size));
            rest /= size;
        }
        indices.iter().rev().map(String::as_str).collect()
    }
}

/// A list of numbers, or of truth values, as a vector.
fn vector(parts: &[Datum], n_open: &mut usize) -> Option<Typed> {
    let shape = Shape::from(vec![parts.len()]);
    let (kind, data) = if let Some(ints) = parts.iter().map(int).collect::<Option<Vec<i64>>>() {
        *n_open += 1;
        (KeyKind::Open(*n_open - 1), Data::Int(ints))
    } else if let Some(nums) = parts.iter().map(num).collect::<Option<Vec<f64>>>() {
        (KeyKind::Is(Elem::Num), Data::Num(nums))
    } else {
        let bools = parts.iter().map(|part| if let Datum::Bool(truth) = part { Some(*truth) } else { None });
        (KeyKind::Is(Elem::Bool), Data::Bool(bools.collect::<Option<_>>()?))
    };
    Some(Typed { ty: Ty::Tensor(kind, 1), values: vec![value(shape, data)] })
}

fn int(datum: &Datum) -> Option<i64> {
    if let Datum::Int(n) = datum { Some(*n) } else { None }
}

/// Reads a number, or the text of a number that JSON cannot express.
#[expect(clippy::cast_precision_loss, reason = "an integer is rounded to the nearest num")]
fn num(datum: &Datum) -> Option<f64> {
    match datum {
        Datum::Int(n) => Some(*n as f64),
        Datum::Num(x) => Some(*x),
        Datum::Text(text) => special(text),
        _ => None,
    }
}

/// Stacks tensors of one shape and compatible kinds as the rows of a tensor.
fn stacked(rows: &[Typed], n_open: &mut usize) -> Option<Typed> {
    let (mut kind, mut shape) = (None, None);
    for row in rows {
        let (Ty::Tensor(own, _), [value]) = (&row.ty, row.values.as_slice()) else { return None };
        kind = match (kind, *own) {
            (None, own) => Some(own),
            (Some(KeyKind::Open(_)), own @ (KeyKind::Open(_) | KeyKind::Is(Elem::Num))) => Some(own),
            (Some(KeyKind::Is(Elem::Num)), KeyKind::Open(_)) => Some(KeyKind::Is(Elem::Num)),
            (Some(known), own) if known == own => Some(known),
            _ => return None,
        };
        if shape.get_or_insert_with(|| value.shape().clone()) != value.shape() {
            return None;
        }
    }
    let (kind, row) = (kind?, shape?);
    let elem = match kind {
        KeyKind::Is(elem) => elem,
        KeyKind::Open(_) => {
            *n_open += 1;
            Elem::Int
        }
    };
    let elements = rows.iter().flat_map(|typed| typed.values[0].elements());
    let data = match elem {
        Elem::Num => Data::Num(elements.map(|element| number(&element)).collect()),
        Elem::Bool => Data::Bool(elements.map(|element| element == Value::Bool(true)).collect()),
        _ => Data::Int(elements.map(|element| if let Value::Int(n) = element { n } else { 0 }).collect()),
    };
    let shape = Shape::from([&[rows.len()], &row[..]].concat());
    let kind = if let KeyKind::Open(_) = kind { KeyKind::Open(*n_open - 1) } else { kind };
    Some(Typed { ty: Ty::Tensor(kind, shape.len()), values: vec![value(shape, data)] })
}

/// Converts integers to nums, if nums are expected.
pub fn converted(given: &Value, elem: Elem) -> Option<Value> {
    match (given.scalar(), elem) {
        (eddy_tensor::Scalar::Int, Elem::Num) => {
            let elements = given.elements().map(|element| number(&element)).collect();
            Some(value(given.shape().clone(), Data::Num(elements)))
        }
        (eddy_tensor::Scalar::Num, Elem::Num) => Some(given.to_num64()),
        (eddy_tensor::Scalar::Int, Elem::Int) | (eddy_tensor::Scalar::Bool, Elem::Bool) => {
            Some(given.clone())
        }
        _ => None,
    }
}

#[expect(clippy::cast_precision_loss, reason = "an integer is rounded to the nearest num")]
fn number(element: &Value) -> f64 {
    match element {
        Value::Int(n) => *n as f64,
        Value::Num(x) => *x,
        _ => f64::NAN,
    }
}

fn value(shape: Shape, data: Data) -> Value {
    Value::new(shape, data).expect("there are as many elements as the shape has")
}

fn tuple(parts: Vec<Typed>) -> Typed {
    let ty = Ty::Tuple(parts.iter().map(|part| part.ty.clone()).collect());
    Typed { ty, values: parts.into_iter().flat_map(|part| part.values).collect() }
}

fn record(fields: Vec<(String, Typed)>) -> Typed {
    let ty = Ty::Record(fields.iter().map(|(label, field)| (label.clone(), field.ty.clone())).collect());
    Typed { ty, values: fields.into_iter().flat_map(|(_, field)| field.values).collect() }
}

/// The numbers that JSON cannot express.
fn special(text: &str) -> Option<f64> {
    match text {
        "inf" => Some(f64::INFINITY),
        "-inf" => Some(f64::NEG_INFINITY),
        "nan" => Some(f64::NAN),
        _ => None,
    }
}

fn wrong(place: &str, needed: &str, found: &Datum) -> Mismatch {
    let help = match found {
        Datum::Num(x) if needed == "an integer" && x.fract() == 0.0 => {
            Some(format!("write it without a fraction: {x:.0}"))
        }
        _ => None,
    };
    let reason = format!("must be {needed}, not {}", in_words(found));
    Mismatch { place: place.to_string(), reason, help }
}

fn in_words(datum: &Datum) -> String {
    match datum {
        Datum::Bool(truth) => truth.to_string(),
        Datum::Int(n) => n.to_string(),
        Datum::Num(x) => Value::Num(*x).to_string(),
        Datum::Text(text) => format!("the string {text:?}"),
        Datum::List(parts) if parts.is_empty() => "an empty list".to_string(),
        Datum::List(parts) => format!("a list of {}", parts.len()),
        Datum::Record(_) => "an object".to_string(),
        Datum::Tensor(value) => format!("a tensor of type {}", value.ty()),
    }
}

pub fn missing(place: &str) -> Mismatch {
    Mismatch { place: place.to_string(), reason: "is missing".to_string(), help: None }
}

fn no_field(place: &str, label: &str, labels: &[&str]) -> Mismatch {
    let help = match nearest(label, labels.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("its fields are {}", labels.join(", ")),
    };
    Mismatch { place: place.to_string(), reason: format!("has no field `{label}`"), help: Some(help) }
}

fn no_case(place: &str, text: &str, cases: &[String]) -> Mismatch {
    let help = match nearest(text, cases.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean {meant:?}?"),
        None => format!("strings are enumerators, {}, or \"inf\", \"-inf\", \"nan\"", quoted(cases)),
    };
    let reason = format!("is {text:?}, which is no case of an enumeration");
    Mismatch { place: place.to_string(), reason, help: Some(help) }
}

fn quoted(cases: &[String]) -> String {
    cases.iter().map(|case| format!("{case:?}")).collect::<Vec<_>>().join(", ")
}
