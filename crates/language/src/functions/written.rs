//! Written types: their requirements on values, and the order of fields (functions.md, section 2).

use eddy_body::ir::Elem;
use eddy_syntax::{Diagnostic, Span};

use super::errors::{Refused, function_value, size_error, type_error, unreadable};
use super::lowering::{Lowering, Task};
use super::value::Val;
use crate::codes;
use crate::names::Name;
use crate::program::{Entity, TypeDefId};
use crate::tree::{Definition, ExprId, Scalar, TypeId, TypeKind};

/// A written type, with the names of types resolved.
#[derive(Clone, Debug)]
pub enum Written {
    /// Elements, and a size for each axis.
    Tensor(Elem, Vec<Dim>),
    Tuple(Vec<Written>),
    Record(Vec<(String, Written)>),
    Function,
}

/// A written size.
#[derive(Clone, Debug)]
pub enum Dim {
    /// A size parameter of a type that is named without sizes.
    Open,
    /// An expression of a file, with sizes for the names in it.
    Expr { module: usize, expr: ExprId, sizes: Vec<(Name, Dim)> },
}

impl Dim {
    /// Whether the size is open or depends on an open size.
    pub fn is_open(&self) -> bool {
        match self {
            Dim::Open => true,
            Dim::Expr { sizes, .. } => sizes.iter().any(|(_, dim)| dim.is_open()),
        }
    }
}

impl Lowering<'_> {
    /// Resolves a written type. Types are nested only as deep as the parser allows, and aliases are not
    /// recursive.
    pub fn written(
        &self,
        module: usize,
        ty: TypeId,
        sizes: &[(Name, Dim)],
        within: &mut Vec<TypeDefId>,
    ) -> Result<Written, Refused> {
        let file = &self.program.modules[module];
        let (tree, span) = (&file.tree, file.tree.written.type_span(ty));
        let dims = |list: Option<crate::tree::ExprList>| -> Vec<Dim> {
            let exprs = list.map_or(&[][..], |list| tree.exprs.items(list));
            exprs.iter().map(|expr| Dim::Expr { module, expr: *expr, sizes: sizes.to_vec() }).collect()
        };
        Ok(match tree.written.ty(ty) {
            TypeKind::Error => return Err(unreadable(span)),
            TypeKind::Scalar(scalar, list) => Written::Tensor(elem(*scalar), dims(*list)),
            TypeKind::Tuple(parts) => {
                let parts = parts.iter().map(|part| self.written(module, *part, sizes, within));
                Written::Tuple(parts.collect::<Result<_, _>>()?)
            }
            TypeKind::Function(..) => Written::Function,
            TypeKind::Record(fields) => {
                let field = |(ident, ty): &(crate::tree::Ident, TypeId)| {
                    let label = file.names.text(ident.name).to_string();
                    Ok((label, self.written(module, *ty, sizes, &mut within.clone())?))
                };
                Written::Record(fields.iter().map(field).collect::<Result<_, Refused>>()?)
            }
            TypeKind::Named(ident, list) => {
                let name = file.names.text(ident.name);
                let Some(Entity::Type(definition)) = file.entities.get(name) else {
                    return Err(Box::new(self.unknown_type(name, module, span)));
                };
                if within.contains(definition) {
                    return Err(type_error(span, format!("the type `{name}` is defined by itself")));
                }
                let (home, tree) = self.program.type_def(*definition);
                match &tree.definition {
                    Definition::Enumeration(..) => {
                        Written::Tensor(Self::enumeration(*definition), dims(*list))
                    }
                    Definition::Alias(alias) => {
                        let given = dims(*list);
                        if !given.is_empty() && given.len() != tree.sizes.len() {
                            let text =
                                format!("`{name}` has {} sizes, not {}", tree.sizes.len(), given.len());
                            return Err(size_error(span, text));
                        }
                        let given = given.into_iter().map(Some).chain(std::iter::repeat(None));
                        let names = tree.sizes.iter().map(|size| size.name);
                        let sizes: Vec<(Name, Dim)> =
                            names.zip(given).map(|(name, dim)| (name, dim.unwrap_or(Dim::Open))).collect();
                        within.push(*definition);
                        let written = self.written(home, *alias, &sizes, within)?;
                        within.pop();
                        written
                    }
                }
            }
        })
    }

    fn unknown_type(&self, name: &str, module: usize, span: Span) -> Diagnostic {
        let diagnostic = Diagnostic::error(codes::UNKNOWN_VARIABLE, span, format!("unknown type `{name}`"));
        let entities = self.program.modules[module].entities.iter();
        let types =
            entities.filter(|(_, entity)| matches!(entity, Entity::Type(_))).map(|(name, _)| name.as_str());
        match eddy_syntax::suggest::nearest(name, types.chain(["num", "int", "bool"])) {
            Some(meant) => diagnostic.suggest(span, meant),
            None => diagnostic.help("types are `num`, `int` and `bool`, with a shape after them: `num [3]`, and names that a `type` declares"),
        }
    }

    /// Checks that the last operand has a written type: kinds and ranks must agree; tasks check the sizes.
    pub fn annotate(&mut self, ty: TypeId) -> Result<(), Refused> {
        let module = self.here().module;
        let span = self.program.modules[module].tree.written.type_span(ty);
        let written = self.written(module, ty, &[], &mut Vec::new())?;
        let val = self.operands.last().expect("an operand was computed").clone();
        let mut dims = Vec::new();
        self.demand_written(&val, &written, span, &mut dims)?;
        let mut tasks = Vec::new();
        for (leaf, axis, dim) in dims {
            let Dim::Expr { module, expr, sizes } = dim else { continue };
            tasks.push(Task::Param(super::entering::ParamTask::Check {
                leaf,
                axis,
                module,
                expr,
                sizes,
                span,
            }));
        }
        self.then(tasks);
        Ok(())
    }

    /// Gives a value the kinds of its written type and checks its ranks. Collects the written sizes of its
    /// tensors.
    pub fn demand_written(
        &mut self,
        val: &Val,
        written: &Written,
        span: Span,
        dims: &mut Vec<(super::value::Leaf, usize, Dim)>,
    ) -> Result<(), Refused> {
        match (val, written) {
            (Val::Unknown, _) => Ok(()),
            (Val::Leaf(leaf), Written::Tensor(elem, sizes)) => {
                self.demand(leaf, *elem, span)?;
                if leaf.rank() != sizes.len() {
                    let text = format!("{} axes where {} are written", leaf.rank(), sizes.len());
                    return Err(super::errors::shape_error(span, text));
                }
                dims.extend(sizes.iter().enumerate().map(|(axis, dim)| (leaf.clone(), axis, dim.clone())));
                Ok(())
            }
            (Val::Tuple(parts), Written::Tuple(written)) if parts.len() == written.len() => {
                parts.iter().zip(written).try_for_each(|(val, ty)| self.demand_written(val, ty, span, dims))
            }
            (Val::Record(fields), Written::Record(written))
                if fields.len() == written.len()
                    && fields.iter().zip(written).all(|(field, written)| field.0 == written.0) =>
            {
                let both = fields.iter().zip(written);
                let mut both = both.map(|((_, val), (_, ty))| (val, ty));
                both.try_for_each(|(val, ty)| self.demand_written(val, ty, span, dims))
            }
            (Val::Function(_), Written::Function) => Ok(()),
            (Val::Function(_), _) => Err(function_value(span, "a value of this type")),
            (_, Written::Function) => Err(type_error(span, "a function is required here")),
            _ => {
                let mut open = Vec::new();
                let found = val.ty(&self.here().kinds, &mut open).show(&|elem| self.kind_name(elem));
                Err(type_error(span, format!("{found} does not have the written type")))
            }
        }
    }

    /// Sorts the fields of a record in the order of the first declared type with the same labels; literals
    /// take the kinds of that type.
    pub fn order_fields(&mut self, record: &mut [(String, Val)], at: Span) -> Result<(), Refused> {
        for definition in (0..self.program.types.len()).map(TypeDefId::new) {
            let (module, tree) = self.program.type_def(definition);
            let Definition::Alias(alias) = tree.definition else { continue };
            let file = &self.program.modules[module];
            let TypeKind::Record(fields) = file.tree.written.ty(alias) else { continue };
            let labels: Vec<&str> = fields.iter().map(|(ident, _)| file.names.text(ident.name)).collect();
            let has_all = labels.len() == record.len()
                && record.iter().all(|(label, _)| labels.contains(&label.as_str()));
            if !has_all {
                continue;
            }
            record.sort_by_key(|(label, _)| labels.iter().position(|other| other == label));
            for ((_, val), (_, ty)) in record.iter().zip(fields) {
                let Val::Leaf(leaf) = val else { continue };
                if self.here().kinds.get(leaf.kind).is_none()
                    && let Ok(Written::Tensor(elem, _)) = self.written(module, *ty, &[], &mut Vec::new())
                {
                    let leaf = leaf.clone();
                    self.demand(&leaf, elem, at)?;
                }
            }
            return Ok(());
        }
        Ok(())
    }
}

pub fn elem(scalar: Scalar) -> Elem {
    match scalar {
        Scalar::Num => Elem::Num,
        Scalar::Int => Elem::Int,
        Scalar::Bool => Elem::Bool,
    }
}
