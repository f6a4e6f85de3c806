//! The structures of record literals, updates, fields and `match`.

use std::rc::Rc;

use eddy_syntax::Diagnostic;

use super::infer::{Inference, Known, MAX_LEAVES, Mode, tensor, too_large};
use crate::codes;
use crate::program::{Entity, Program, Reference, Role, Structure, TypeDefId};
use crate::tree::{Case, Definition, ExprId, Form, Ident, Scalar, TypeKind};

impl<'a> Inference<'a> {
    pub(super) fn form(&mut self, expr: ExprId, form: &'a Form, parts: &[ExprId]) -> Known {
        match form {
            Form::Record(fields) => self.record(expr, fields, parts),
            Form::RecordUpdate(fields) => self.record_update(fields, parts),
            Form::Field(field) => self.field(*field, parts[0]),
            Form::Place(_) => self.rows_of(expr, parts[0], &parts[1..]),
            Form::Match(cases) => self.match_form(expr, cases, parts),
            _ => {
                self.error(self.module.tree.exprs.at(expr), "nodes have no such expression", None);
                None
            }
        }
    }

    /// The structure of rows of a value.
    pub(super) fn rows_of(&mut self, expr: ExprId, value: ExprId, indices: &[ExprId]) -> Known {
        self.tensors("an index", indices);
        let structure = self.exprs.get(&value).cloned()?;
        if structure.is_record() {
            let at = self.module.tree.exprs.at(expr);
            self.error(at, "a record has no rows: index one of its fields", None);
            return None;
        }
        Some(structure)
    }

    fn record(&mut self, expr: ExprId, idents: &[Ident], parts: &[ExprId]) -> Known {
        let mut fields: Vec<(String, Structure)> = Vec::new();
        let mut is_known = true;
        for (ident, part) in idents.iter().zip(parts) {
            let label = self.module.names.text(ident.name).to_string();
            if fields.iter().any(|(other, _)| *other == label) {
                self.error(ident.span, format!("the field `{label}` is defined twice"), None);
            }
            let part = self.exprs.get(part).cloned();
            is_known &= part.is_some();
            fields.push((label, part.map_or(Structure::Tensor, |part| (*part).clone())));
        }
        if !is_known && self.mode == Mode::Searching {
            return None;
        }
        if let Some(declared) = declared_order(self.program, &fields) {
            for ((label, _), part) in fields.iter().zip(parts) {
                if declared.iter().any(|(other, is_num)| *is_num && other == label) {
                    self.num_parts.insert(*part);
                }
            }
            fields.sort_by_key(|(label, _)| declared.iter().position(|(other, _)| other == label));
        }
        let n_leaves: usize = fields.iter().map(|(_, field)| field.n_leaves()).sum();
        let depth = fields.iter().map(|(_, field)| depth(field)).max().unwrap_or(0);
        if n_leaves > MAX_LEAVES || depth >= Structure::MAX_DEPTH {
            let at = self.module.tree.exprs.at(expr);
            if self.mode == Mode::Checking {
                self.errors.push(*too_large(at));
            }
            // A tensor replaces the record that is too large, so that records around it do not grow.
            return Some(tensor());
        }
        Some(Rc::new(Structure::Record(fields)))
    }

    fn record_update(&mut self, fields: &[Ident], parts: &[ExprId]) -> Known {
        let record = self.exprs.get(&parts[0]).cloned()?;
        for (ident, part) in fields.iter().zip(&parts[1..]) {
            let Some(old) = self.field_of(&record, *ident, parts[0]) else { continue };
            let Some(new) = self.exprs.get(part).cloned() else { continue };
            if *new != old {
                let label = self.module.names.text(ident.name);
                let text =
                    format!("the field `{label}` is {}, but is given {}", self.shown(&old), self.shown(&new));
                self.error(ident.span, text, None);
            }
        }
        Some(record)
    }

    fn field(&mut self, field: Ident, value: ExprId) -> Known {
        let record = self.exprs.get(&value).cloned()?;
        self.field_of(&record, field, value).map(Rc::new)
    }

    /// A field of a record; `None` if there is no such field, which is an error.
    fn field_of(&mut self, record: &Structure, field: Ident, value: ExprId) -> Option<Structure> {
        let label = self.module.names.text(field.name);
        if let Some(found) = record.field(label) {
            return Some(found.clone());
        }
        if self.mode != Mode::Checking {
            return None;
        }
        let exprs = &self.module.tree.exprs;
        let title = format!("type error: there is no field `{label}`");
        let diagnostic = Diagnostic::error(codes::TYPE, field.span, title);
        let shown = self.shown(record);
        let diagnostic = diagnostic.cause(exprs.span(value), format!("this is {shown}"));
        let value = exprs.without_parentheses(value);
        let slot = match self.module.references[value.index()] {
            Reference::Slot(slot) => Some(&self.node.slots[slot.index()]),
            _ => None,
        };
        self.errors.push(match record {
            Structure::Record(fields) => {
                let labels = fields.iter().map(|(label, _)| label.as_str());
                match eddy_syntax::suggest::nearest(label, labels.clone()) {
                    Some(meant) => diagnostic.suggest(field.span, meant),
                    None => {
                        let labels: Vec<&str> = labels.collect();
                        diagnostic.help(format!("its fields are `{}`", labels.join("`, `")))
                    }
                }
            }
            _ => match (label, slot) {
                ("T", Some(slot)) => diagnostic.help(format!("write `transpose({})`", slot.name)),
                ("shape" | "size" | "length" | "ndim" | "dtype" | "len", _) => diagnostic.help(
                    "sizes are compile-time constants: `eddy check` shows them, and a node takes them as inputs",
                ),
                (_, Some(slot)) if slot.role == Role::Input => diagnostic.help(format!(
                    "an input that is a record has a type: `{}: T`, with `type T = {{{label}: num}};`",
                    slot.name
                )),
                _ => diagnostic.help("only records have fields; a row of a tensor is `x[0]`"),
            },
        });
        None
    }

    fn match_form(&mut self, expr: ExprId, cases: &'a [Case], parts: &[ExprId]) -> Known {
        let (scrutinee, alternatives) = (parts[0], &parts[1..]);
        let mut found: Known = None;
        for alternative in alternatives {
            let Some(structure) = self.exprs.get(alternative).cloned() else { continue };
            match &found {
                None => found = Some(structure),
                Some(first) if *first != structure => {
                    let text = format!(
                        "the cases of a `match` differ: {} and {}",
                        self.shown(first),
                        self.shown(&structure)
                    );
                    self.error(self.module.tree.exprs.at(*alternative), text, None);
                }
                Some(_) => {}
            }
        }
        let of = self.exprs.get(&scrutinee).cloned()?;
        match &*of {
            Structure::Enumeration(of) => self.check_cases(expr, cases, *of),
            other => {
                let text = format!("`match` distinguishes enumerators, not {}", self.shown(other));
                self.error(self.module.tree.exprs.at(scrutinee), text, None);
            }
        }
        found
    }

    /// Checks that each enumerator has one case, or that the last case is `_`.
    fn check_cases(&mut self, expr: ExprId, cases: &'a [Case], of: TypeDefId) {
        let names = self.program.enumerators(of);
        let mut numbers: Vec<Option<u32>> = Vec::new();
        for (at, case) in cases.iter().enumerate() {
            match case {
                Case::Otherwise(span) if at + 1 < cases.len() => {
                    return self.error(*span, "`_` is the last case", None);
                }
                Case::Otherwise(_) => numbers.push(None),
                Case::Enumerator(ident) => {
                    let text = self.module.names.text(ident.name);
                    let number = match self.module.entities.get(text) {
                        Some(Entity::Enumerator(other, number)) if *other == of => *number,
                        _ => {
                            let text = format!("`{text}` is no case of `{}`", self.type_name(of));
                            let help = format!("its cases are `{}`", names.join("`, `"));
                            return self.error_with_help(ident.span, text, help);
                        }
                    };
                    if numbers.contains(&Some(number)) {
                        return self.error(ident.span, format!("the case `{text}` is given twice"), None);
                    }
                    numbers.push(Some(number));
                }
            }
        }
        let missing = names.iter().zip(0..).find(|(_, number)| !numbers.contains(&Some(*number)));
        if let (Some((name, _)), false) = (missing, numbers.contains(&None)) {
            let text = format!("there is no case for `{name}`");
            let help = format!("add `{name}: …`, or `_: …` for all others");
            return self.error_with_help(self.module.tree.exprs.at(expr), text, help);
        }
        self.cases.insert(expr, numbers);
    }
}

/// The depth of nested records in it.
fn depth(structure: &Structure) -> usize {
    match structure {
        Structure::Record(fields) => 1 + fields.iter().map(|(_, field)| depth(field)).max().unwrap_or(0),
        _ => 0,
    }
}

/// The labels of the first declared record type with the same labels, in its order, and whether each is a
/// `num`.
fn declared_order(program: &Program, fields: &[(String, Structure)]) -> Option<Vec<(String, bool)>> {
    (0..program.types.len()).map(TypeDefId::new).find_map(|definition| {
        let (module, tree) = program.type_def(definition);
        let Definition::Alias(alias) = tree.definition else { return None };
        let file = &program.modules[module];
        let TypeKind::Record(declared) = file.tree.written.ty(alias) else { return None };
        let labels = declared.iter().map(|(ident, ty)| {
            let is_num = matches!(file.tree.written.ty(*ty), TypeKind::Scalar(Scalar::Num, _));
            (file.names.text(ident.name).to_string(), is_num)
        });
        let labels: Vec<(String, bool)> = labels.collect();
        let is_declared = |label: &String| labels.iter().any(|(other, _)| other == label);
        let has_all = labels.len() == fields.len() && fields.iter().all(|(label, _)| is_declared(label));
        has_all.then_some(labels)
    })
}
