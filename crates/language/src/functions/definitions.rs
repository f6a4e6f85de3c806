//! Checks of declared types: errors are reported even in unused types (functions.md, section 2).

use eddy_syntax::Diagnostic;

use super::errors::{Refused, size_error};
use super::lowering::Lowering;
use crate::names::Name;
use crate::program::{Entity, Program, TypeDefId};
use crate::tree::{Definition, ExprKind, Ident, TypeDef, TypeId, TypeKind};

impl Lowering<'_> {
    /// Checks that names of types and sizes are known, that no type contains itself, and that fields differ.
    pub fn check_type_definitions(&self, diagnostics: &mut Vec<Diagnostic>) {
        for id in (0..self.program.types.len()).map(TypeDefId::new) {
            let (module, tree) = self.program.type_def(id);
            if module == Program::MAIN
                && let Err(refused) = self.check_type_definition(id, module, tree)
            {
                diagnostics.push(*refused);
            }
        }
    }

    fn check_type_definition(&self, id: TypeDefId, module: usize, tree: &TypeDef) -> Result<(), Refused> {
        let Definition::Alias(alias) = tree.definition else { return Ok(()) };
        self.check_distinct_in(module, &tree.sizes)?;
        self.written(module, alias, &[], &mut vec![id])?;
        let sizes: Vec<Name> = tree.sizes.iter().map(|size| size.name).collect();
        self.check_written(module, alias, &sizes)
    }

    /// Checks that fields differ, and that sizes are written with these names and constants.
    fn check_written(&self, module: usize, ty: TypeId, sizes: &[Name]) -> Result<(), Refused> {
        let file = &self.program.modules[module];
        let mut work = vec![ty];
        while let Some(ty) = work.pop() {
            let dims = match file.tree.written.ty(ty) {
                TypeKind::Error => None,
                TypeKind::Scalar(_, dims) | TypeKind::Named(_, dims) => *dims,
                TypeKind::Tuple(parts) => {
                    work.extend(parts);
                    None
                }
                TypeKind::Record(fields) => {
                    let labels: Vec<Ident> = fields.iter().map(|(label, _)| *label).collect();
                    self.check_distinct_in(module, &labels)?;
                    work.extend(fields.iter().map(|(_, ty)| ty));
                    None
                }
                TypeKind::Function(params, result) => {
                    work.extend(params.iter().chain([result]));
                    None
                }
            };
            let exprs = &file.tree.exprs;
            let mut parts: Vec<_> = dims.map_or(&[][..], |dims| exprs.items(dims)).to_vec();
            while let Some(expr) = parts.pop() {
                if let ExprKind::Variable(name) = exprs.kind(expr) {
                    let text = file.names.text(name);
                    let is_constant = matches!(file.entities.get(text), Some(Entity::Constant(_)));
                    if !sizes.contains(&name) && !is_constant {
                        let text = format!("unknown size `{text}`");
                        return Err(size_error(exprs.at(expr), text));
                    }
                }
                parts.extend(exprs.children(expr));
            }
        }
        Ok(())
    }
}
