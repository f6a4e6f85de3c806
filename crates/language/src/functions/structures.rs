//! Tuples, records and patterns (functions.md, sections 2 and 3).

use eddy_syntax::Span;

use super::activation::AtomSource;
use super::errors::{Refused, function, function_value, names, shape_error, type_error};
use super::expression::no_functions;
use super::lowering::Lowering;
use super::value::{Leaf, Val};
use crate::tree::{Ident, PatternId, PatternKind};

/// The largest nesting depth of tuples and records.
const MAX_NESTED: usize = 100;

/// The largest number of parts of a tuple or record at one level. Without this limit, a recursion that
/// pairs its argument with itself would build types of 2^300 parts before it reached the limit of instances.
const MAX_PARTS: usize = 10_000;

impl Lowering<'_> {
    pub fn push_structure(&mut self, val: Val, at: Span) -> Result<(), Refused> {
        let mut level = vec![&val];
        for _ in 0..MAX_NESTED {
            level = level.into_iter().flat_map(parts_of).collect();
            if level.is_empty() {
                self.push(val);
                return Ok(());
            }
            if level.len() > MAX_PARTS {
                let text = format!("specialisation refuses a tuple or record of more than {MAX_PARTS} parts");
                return Err(function(at, text));
            }
        }
        Err(type_error(at, format!("tuples and records are nested more than {MAX_NESTED} levels deep")))
    }

    pub fn record(&mut self, fields: &[Ident], at: Span) -> Result<(), Refused> {
        let values = self.pop_n(fields.len());
        no_functions(&values, at, "a field of a record")?;
        let mut record: Vec<(String, Val)> = Vec::new();
        for (ident, value) in fields.iter().zip(values) {
            let label = self.text(ident.name).to_string();
            if record.iter().any(|(other, _)| *other == label) {
                return Err(names(ident.span, format!("the field `{label}` is defined twice")));
            }
            record.push((label, value));
        }
        self.order_fields(&mut record, at)?;
        self.push_structure(Val::Record(record), at)
    }

    pub fn record_update(&mut self, fields: &[Ident]) -> Result<(), Refused> {
        let values = self.pop_n(fields.len());
        let record = self.pop();
        let Val::Record(mut record) = record else {
            if let Val::Unknown = record {
                self.push(Val::Unknown);
                return Ok(());
            }
            return Err(type_error(fields[0].span, "only a record has fields"));
        };
        self.check_distinct(fields)?;
        for (ident, value) in fields.iter().zip(values) {
            let label = self.text(ident.name);
            let Some(at) = record.iter().position(|(other, _)| other == label) else {
                return Err(type_error(ident.span, format!("the record has no field `{label}`")));
            };
            self.same_type(&record[at].1.clone(), &value, ident.span)?;
            record[at].1 = value;
        }
        self.push(Val::Record(record));
        Ok(())
    }

    /// Requires equal kinds and ranks.
    pub fn same_type(&mut self, a: &Val, b: &Val, at: Span) -> Result<(), Refused> {
        match (a, b) {
            (Val::Unknown, _) | (_, Val::Unknown) => Ok(()),
            (Val::Leaf(a), Val::Leaf(b)) => {
                self.unify(a.kind, b.kind, at)?;
                if a.rank() == b.rank() {
                    return Ok(());
                }
                Err(shape_error(at, format!("{} axes where {} are required", b.rank(), a.rank())))
            }
            (Val::Tuple(a), Val::Tuple(b)) if a.len() == b.len() => {
                a.iter().zip(b).try_for_each(|(a, b)| self.same_type(a, b, at))
            }
            (Val::Record(a), Val::Record(b))
                if a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.0 == b.0) =>
            {
                a.iter().zip(b).try_for_each(|(a, b)| self.same_type(&a.1, &b.1, at))
            }
            (_, Val::Function(_)) => Err(function_value(at, "an operand")),
            _ => Err(type_error(at, "the types differ")),
        }
    }

    pub fn field(&mut self, ident: Ident) -> Result<(), Refused> {
        let label = self.text(ident.name);
        let found = match self.pop() {
            Val::Unknown => Some(Val::Unknown),
            Val::Record(fields) => fields.into_iter().find(|(other, _)| other == label).map(|(_, val)| val),
            _ => None,
        };
        match found {
            Some(val) => {
                self.push(val);
                Ok(())
            }
            None => Err(type_error(ident.span, format!("there is no field `{label}`"))),
        }
    }

    pub fn component(&mut self, index: u32, span: Span) -> Result<(), Refused> {
        let found = match self.pop() {
            Val::Unknown => Some(Val::Unknown),
            Val::Tuple(parts) => parts.into_iter().nth(index as usize),
            _ => None,
        };
        match found {
            Some(val) => {
                self.push(val);
                Ok(())
            }
            None => Err(type_error(span, format!("there is no field `{index}`"))),
        }
    }

    /// Binds a pattern to the last operand.
    pub fn bind(&mut self, pattern: PatternId) -> Result<(), Refused> {
        let val = self.pop();
        let module = self.here().module;
        let written = &self.program.modules[module].tree.written;
        let mut work = vec![(pattern, val)];
        while let Some((pattern, val)) = work.pop() {
            let span = written.pattern_span(pattern);
            match (written.pattern(pattern), val) {
                (PatternKind::Discard, _) => {}
                (PatternKind::Name(ident), val) => {
                    let val = self.with_atom(val);
                    self.note_type(ident.span, &val);
                    self.here().env.push((ident.name, val));
                }
                (PatternKind::Tuple(parts), Val::Unknown) => {
                    work.extend(parts.iter().rev().map(|part| (*part, Val::Unknown)));
                }
                (PatternKind::Tuple(parts), Val::Tuple(values)) if parts.len() == values.len() => {
                    work.extend(parts.iter().copied().zip(values).rev());
                }
                (PatternKind::Tuple(parts), _) => {
                    let text = format!("the pattern needs a tuple of {}", parts.len());
                    return Err(type_error(span, text));
                }
                (PatternKind::Record(fields), val) => {
                    let mut bound = Vec::new();
                    for (ident, pattern) in fields {
                        let label = self.text(ident.name);
                        let found = match &val {
                            Val::Unknown => Some(Val::Unknown),
                            Val::Record(values) => {
                                values.iter().find(|(other, _)| other == label).map(|(_, val)| val.clone())
                            }
                            _ => None,
                        };
                        let Some(found) = found else {
                            return Err(type_error(ident.span, format!("there is no field `{label}`")));
                        };
                        match pattern {
                            Some(pattern) => bound.push((*pattern, found)),
                            None => {
                                self.note_type(ident.span, &found);
                                self.here().env.push((ident.name, found));
                            }
                        }
                    }
                    work.extend(bound.into_iter().rev());
                }
            }
        }
        Ok(())
    }

    /// Gives an int that is bound to a name an atom, unless it has a form.
    pub fn with_atom(&mut self, val: Val) -> Val {
        match val {
            Val::Leaf(leaf) if leaf.rank() == 0 && leaf.form.is_none() => {
                let form = Some(self.here().atom(AtomSource::Int(leaf.var)));
                Val::Leaf(Leaf { form, ..leaf })
            }
            other => other,
        }
    }
}

fn parts_of(val: &Val) -> Vec<&Val> {
    match val {
        Val::Tuple(parts) => parts.iter().collect(),
        Val::Record(fields) => fields.iter().map(|(_, val)| val).collect(),
        _ => Vec::new(),
    }
}
