//! Functions as `eddy check` shows them, and the check of functions without callers (functions.md, sections
//! 2.1 and 7).

use eddy_body::ir::BodyId;
use eddy_syntax::Span;
use rustc_hash::FxHashMap;

use super::activation::Activation;
use super::entering::ParamTask;
use super::errors::Refused;
use super::key::{FnKey, Key, KeyKind, Ty};
use super::lowering::{Lowering, Task};
use super::sizes::Form as Size;
use super::value::{Code, Val};
use super::written::Written;
use crate::program::FunctionId;
use crate::tree::{ExprId, ExprKind, Param, TypeId, TypeKind};

impl Lowering<'_> {
    /// Lowers a function at its written types. A function with open types or with function parameters is
    /// checked only at its uses.
    pub fn check_function(&mut self, id: FunctionId) -> Result<(), Refused> {
        let Some(key) = self.written_key(id)? else { return Ok(()) };
        if self.instances.contains_key(&key) {
            return Ok(());
        }
        let (module, tree) = self.program.function(id);
        let span = tree.ident.span;
        // A dummy activation takes the place of a caller.
        let none = BodyId::new(u32::MAX as usize);
        self.activations.push(Activation::new(key.clone(), module, none, span));
        self.tasks.push(Task::Param(ParamTask::Leave));
        self.start_instance(key, None, span)?;
        self.finish_tasks()
    }

    /// The instance of a function at its written types, if all of them are written.
    pub fn written_key(&self, id: FunctionId) -> Result<Option<Key>, Refused> {
        let (module, tree) = self.program.function(id);
        let mut args = Vec::new();
        for param in &tree.params {
            let Some(ty) = param.annotation else { return Ok(None) };
            match closed(&self.written(module, ty, &[], &mut Vec::new())?) {
                Some(ty) => args.push(ty),
                None => return Ok(None),
            }
        }
        let function = FnKey { code: Code::Declared(id, Vec::new()), captured: Vec::new() };
        Ok(Some(Key { function, args }))
    }

    /// `f: (x: num [n], k: int) -> num`, or the parameters without a written type: `f: generic in x`.
    pub fn line(&self, id: FunctionId) -> String {
        let (module, tree) = self.program.function(id);
        let names = &self.program.modules[module].names;
        let name = names.text(tree.ident.name);
        let open: Vec<&str> = tree
            .params
            .iter()
            .filter(|param| param.annotation.is_none())
            .map(|param| names.text(param.ident.name))
            .collect();
        if !open.is_empty() {
            return format!("{name}: generic in {}\n", open.join(", "));
        }
        let param = |param: &Param| {
            let ty = param.annotation.map_or_else(String::new, |ty| self.show_written(module, ty));
            format!("{}: {ty}", names.text(param.ident.name))
        };
        let params: Vec<String> = tree.params.iter().map(param).collect();
        let result = match (tree.result, self.written_key(id)) {
            (Some(ty), _) => self.show_written(module, ty),
            (None, Ok(Some(key))) => match self.instances.get(&key) {
                Some(instance) => {
                    let ty = instance.result.ty(&instance.kinds, &mut Vec::new());
                    let mut sizes = instance.result.leaves().into_iter().flat_map(|leaf| leaf.sizes.clone());
                    self.show_type(&ty, &mut sizes)
                }
                None => "?".to_string(),
            },
            (None, _) => "?".to_string(),
        };
        format!("{name}: ({}) -> {result}\n", params.join(", "))
    }

    /// Records the type of a bound name, if types were requested.
    pub fn note_type(&mut self, span: Span, val: &Val) {
        if self.bound.is_some() && !val.is_unknown() {
            let text = match val {
                Val::Function(_) => "function".to_string(),
                val => self.show_value(val),
            };
            self.bound.get_or_insert_default().entry(span).or_insert(text);
        }
    }

    /// The recorded types and the types of declarations, by their spans.
    pub fn all_bound_types(mut self) -> FxHashMap<Span, String> {
        let mut types = self.bound.take().unwrap_or_default();
        for id in (0..self.program.functions.len()).map(FunctionId::new) {
            let (module, tree) = self.program.function(id);
            let line = self.line(id);
            if let Some((_, ty)) = line.trim_end().split_once(": ") {
                types.insert(tree.ident.span, ty.to_string());
            }
            for param in &tree.params {
                if let Some(ty) = param.annotation {
                    types.insert(param.ident.span, self.show_written(module, ty));
                }
            }
        }
        for (id, (ty, _)) in &self.constants.known {
            let (_, tree) = self.program.constant(*id);
            types.insert(tree.ident.span, ty.show(&|elem| self.kind_name(elem)));
        }
        types
    }

    /// Prints a type with its constant sizes.
    fn show_type(&self, ty: &Ty, sizes: &mut dyn Iterator<Item = Option<Size>>) -> String {
        match ty {
            Ty::Tensor(kind, rank) => {
                let name = match kind {
                    KeyKind::Is(elem) => self.kind_name(*elem),
                    KeyKind::Open(_) => "int".to_string(),
                };
                let shown: Vec<String> = sizes
                    .take(*rank)
                    .map(|size| match size.as_ref().and_then(Size::as_constant) {
                        Some(n) => n.to_string(),
                        None => "_".to_string(),
                    })
                    .collect();
                if shown.is_empty() { name } else { format!("{name} [{}]", shown.join(", ")) }
            }
            Ty::Tuple(parts) => {
                let parts: Vec<String> = parts.iter().map(|part| self.show_type(part, sizes)).collect();
                format!("({})", parts.join(", "))
            }
            Ty::Record(fields) => {
                let field = |(label, ty): &(String, Ty)| format!("{label}: {}", self.show_type(ty, sizes));
                let fields: Vec<String> = fields.iter().map(field).collect();
                format!("{{ {} }}", fields.join(", "))
            }
            Ty::Function(_) | Ty::Unknown => "?".to_string(),
        }
    }

    /// Prints a written type in the standard format.
    fn show_written(&self, module: usize, ty: TypeId) -> String {
        let file = &self.program.modules[module];
        let sizes = |list: Option<crate::tree::ExprList>, blank: &str| {
            let Some(list) = list else { return String::new() };
            let sizes: Vec<String> =
                file.tree.exprs.items(list).iter().map(|size| self.show_size(module, *size)).collect();
            format!("{blank}[{}]", sizes.join(", "))
        };
        let list = |types: &[TypeId]| {
            types.iter().map(|ty| self.show_written(module, *ty)).collect::<Vec<_>>().join(", ")
        };
        match file.tree.written.ty(ty) {
            TypeKind::Error => "?".to_string(),
            TypeKind::Scalar(scalar, dims) => scalar.word().to_string() + &sizes(*dims, " "),
            TypeKind::Named(ident, dims) => file.names.text(ident.name).to_string() + &sizes(*dims, ""),
            TypeKind::Tuple(parts) => format!("({})", list(parts)),
            TypeKind::Function(params, result) => {
                format!("({}) -> {}", list(params), self.show_written(module, *result))
            }
            TypeKind::Record(fields) => {
                let field = |(ident, ty): &(crate::tree::Ident, TypeId)| {
                    format!("{}: {}", file.names.text(ident.name), self.show_written(module, *ty))
                };
                let fields: Vec<String> = fields.iter().map(field).collect();
                format!("{{ {} }}", fields.join(", "))
            }
        }
    }

    /// Prints a written size, with single blanks around operators.
    fn show_size(&self, module: usize, size: ExprId) -> String {
        let file = &self.program.modules[module];
        let exprs = &file.tree.exprs;
        match exprs.kind(size) {
            ExprKind::Variable(name) => file.names.text(name).to_string(),
            ExprKind::Number(number) => file.names.text(number.text).to_string(),
            ExprKind::Binary(op, left, right) => {
                format!("{} {} {}", self.show_size(module, left), op.symbol(), self.show_size(module, right))
            }
            ExprKind::Group(inner) => format!("({})", self.show_size(module, inner)),
            _ => "_".to_string(),
        }
    }
}

/// Kinds and ranks of a written type without functions.
pub fn closed(written: &Written) -> Option<Ty> {
    match written {
        Written::Tensor(elem, dims) => Some(Ty::Tensor(KeyKind::Is(*elem), dims.len())),
        Written::Tuple(parts) => parts.iter().map(closed).collect::<Option<_>>().map(Ty::Tuple),
        Written::Record(fields) => {
            let field = |(label, ty): &(String, Written)| Some((label.clone(), closed(ty)?));
            fields.iter().map(field).collect::<Option<_>>().map(Ty::Record)
        }
        Written::Function => None,
    }
}
