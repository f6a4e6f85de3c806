//! The declarative semantics as a type system: intersection types (section 6.1; section 2.4 of the paper).
//!
//! `A ::= n | F`, `F ::= A -> B | F & G | top`. Types are another notation for values:
//! [`valof`](Intersections::valof) and [`typof`](Intersections::typof) convert between them, and a subtype is
//! a larger value. So subtyping is decided on values ([`is_subtype`](Intersections::is_subtype)); [`subtype`]
//! has the rules of Figure 5, for the laws.

mod parse;
pub mod subtype;

use std::fmt::{self, Write};

use rustc_hash::FxHashMap;

use crate::integer::Int;
use crate::value::{Entry, Value, ValueKind, Values};

pub use parse::parse;

eddy_index::id! {
    /// An intersection type; equal types are equal numbers.
    pub struct Intersection, "memory ends before 2^32 types";
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// The type of a single integer.
    Int(Int),
    /// `A -> B`.
    Arrow(Intersection, Intersection),
    /// `F & G`.
    And(Intersection, Intersection),
    /// The type of all functions.
    Top,
}

/// All intersection types of one session.
#[derive(Clone, Debug, Default)]
pub struct Intersections {
    forms: Vec<Form>,
    numbers: FxHashMap<Form, Intersection>,
}

impl Intersections {
    pub fn make(&mut self, form: Form) -> Intersection {
        if let Some(ty) = self.numbers.get(&form) {
            return *ty;
        }
        let ty = Intersection::new(self.forms.len());
        self.forms.push(form.clone());
        self.numbers.insert(form, ty);
        ty
    }

    pub fn form(&self, ty: Intersection) -> &Form {
        &self.forms[ty.index()]
    }

    /// Whether a type is one of functions.
    pub fn is_function(&self, ty: Intersection) -> bool {
        !matches!(self.form(ty), Form::Int(_))
    }

    /// valof(n)=n; valof(A→B)={(valof A, valof B)}; valof(F∧G)=union; valof(⊤)=∅.
    pub fn valof(&self, ty: Intersection, values: &mut Values) -> Value {
        // Parts have smaller numbers than wholes.
        let mut done: Vec<Value> = Vec::with_capacity(ty.index() + 1);
        for form in &self.forms[..=ty.index()] {
            let value = match form {
                Form::Int(int) => values.int(int.clone()),
                Form::Arrow(a, b) => values.table(vec![Entry::new(done[a.index()], done[b.index()])]),
                Form::And(f, g) => {
                    values.join(done[f.index()], done[g.index()]).expect("only functions are intersected")
                }
                Form::Top => values.table(Vec::new()),
            };
            done.push(value);
        }
        done[ty.index()]
    }

    /// typof(n)=n; typof(t) = conjunction of typof(v)→typof(v') over t in canonical order, ⊤ if empty.
    pub fn typof(&mut self, value: Value, values: &Values) -> Intersection {
        let mut done: FxHashMap<Value, Intersection> = FxHashMap::default();
        let mut work = vec![value];
        while let Some(&value) = work.last() {
            if done.contains_key(&value) {
                work.pop();
                continue;
            }
            let before = work.len();
            work.extend(values.parts(value).into_iter().filter(|part| !done.contains_key(part)));
            if work.len() > before {
                continue;
            }
            work.pop();
            let ty = match values.kind(value) {
                ValueKind::Int(int) => self.make(Form::Int(int.clone())),
                ValueKind::Table(entries) => {
                    let mut whole = None;
                    for entry in entries {
                        let arrow = Form::Arrow(done[&entry.input.value], done[&entry.output.value]);
                        let arrow = self.make(arrow);
                        whole = Some(whole.map_or(arrow, |whole| self.make(Form::And(whole, arrow))));
                    }
                    whole.unwrap_or_else(|| self.make(Form::Top))
                }
                _ => unreachable!("values of `.lam` are integers and tables"),
            };
            done.insert(value, ty);
        }
        done[&value]
    }

    /// A <: B iff valof(B) ⊑ valof(A).
    pub fn is_subtype(&self, a: Intersection, b: Intersection, values: &mut Values) -> bool {
        let (a, b) = (self.valof(a, values), self.valof(b, values));
        values.is_below(b, a)
    }
}

/// Writes typof of a value: `(-10 -> -9) & (41 -> 42)`, `top`, `(top -> 5) -> 5`.
pub fn write_type_of(value: Value, values: &Values, out: &mut dyn Write) -> fmt::Result {
    enum Piece {
        Text(&'static str),
        Value(Value, bool),
    }
    let mut work = vec![Piece::Value(value, false)];
    while let Some(piece) = work.pop() {
        let (value, needs_brackets) = match piece {
            Piece::Text(text) => {
                out.write_str(text)?;
                continue;
            }
            Piece::Value(value, needs_brackets) => (value, needs_brackets),
        };
        match values.kind(value) {
            ValueKind::Int(int) => write!(out, "{int}")?,
            ValueKind::Table(entries) if entries.is_empty() => out.write_str("top")?,
            ValueKind::Table(entries) => {
                // Arrows bind tighter than `&`, but as operands of `&` they are written with brackets.
                let (is_one, start) = (entries.len() == 1, work.len());
                if needs_brackets {
                    work.push(Piece::Text("("));
                }
                for (i, entry) in entries.iter().enumerate() {
                    work.push(Piece::Text(match (i, is_one) {
                        (_, true) => "",
                        (0, false) => "(",
                        (_, false) => " & (",
                    }));
                    let output_is_and = values.entries(entry.output.value).len() > 1;
                    work.extend([
                        Piece::Value(entry.input.value, true),
                        Piece::Text(" -> "),
                        Piece::Value(entry.output.value, output_is_and),
                        Piece::Text(if is_one { "" } else { ")" }),
                    ]);
                }
                if needs_brackets {
                    work.push(Piece::Text(")"));
                }
                work[start..].reverse();
            }
            _ => unreachable!("values of `.lam` are integers and tables"),
        }
    }
    Ok(())
}
