//! Checks the constructors of `x when s is a` and `merge s { a: e, b: e }` (composition.md, section 7).

use eddy_syntax::{Diagnostic, Span};

use super::body::Body;
use crate::codes;
use crate::program::{Entity, TypeDefId};
use crate::tree::{Case, Form, Ident};

impl Body<'_> {
    /// Reports constructors that do not exist, occur twice or are missing. Returns whether all is right.
    pub(super) fn check_constructors(&mut self, form: &Form, span: Span) -> bool {
        let refusal = match form {
            Form::WhenIs(constructor) => self.constructor(*constructor).err(),
            Form::Merge(cases) => self.branches(cases, span).err(),
            _ => None,
        };
        let is_right = refusal.is_none();
        self.diagnostics.extend(refusal.map(|refusal| *refusal));
        is_right
    }

    /// The enumeration and the number of a constructor.
    fn constructor(&self, ident: Ident) -> Result<(TypeDefId, u32), Box<Diagnostic>> {
        let name = self.context.module.names.text(ident.name);
        match self.context.scope.entities.get(name) {
            Some(Entity::Enumerator(of, number)) => Ok((*of, *number)),
            _ => {
                let title = format!("there is no constructor `{name}`");
                let help = "constructors are declared with their type: `type Gear = enum { low, top };`";
                Err(Box::new(Diagnostic::error(codes::TYPE, ident.span, title).help(help)))
            }
        }
    }

    fn branches(&self, cases: &[Case], span: Span) -> Result<(), Box<Diagnostic>> {
        let mut found: Vec<(TypeDefId, u32)> = Vec::new();
        for case in cases {
            let ident = match case {
                Case::Enumerator(ident) => *ident,
                Case::Otherwise(at) => {
                    let title = "`merge` has a branch for each constructor";
                    let diagnostic = Diagnostic::error(codes::TYPE, *at, title);
                    return Err(Box::new(diagnostic.help("`match` has `_`, and computes all its branches")));
                }
            };
            let constructor = self.constructor(ident)?;
            let name = self.context.module.names.text(ident.name);
            if found.contains(&constructor) {
                let title = format!("the branch `{name}` is given twice");
                return Err(Box::new(Diagnostic::error(codes::TYPE, ident.span, title)));
            }
            if found.first().is_some_and(|(of, _)| *of != constructor.0) {
                let title = format!("no constructor `{name}` in the type of the other branches");
                return Err(Box::new(Diagnostic::error(codes::TYPE, ident.span, title)));
            }
            found.push(constructor);
        }
        let Some((of, _)) = found.first() else { return Ok(()) };
        let names = self.context.enumerators(*of);
        let is_missing = |number: &usize| !found.iter().any(|(_, other)| *other as usize == *number);
        match (0..names.len()).find(is_missing) {
            None => Ok(()),
            Some(number) => {
                let title = format!("missing branch '{}'", names[number]);
                Err(Box::new(Diagnostic::error(codes::TYPE, span, title)))
            }
        }
    }
}
