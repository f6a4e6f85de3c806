//! Binders and written types, for inference: patterns bring variables into scope, names of types are replaced
//! by their definitions.

use eddy_syntax::Span;
use rustc_hash::FxHashMap;

use super::errors::{self, Situation};
use super::infer::Inference;
use super::scope::{Entry, Meaning, Place};
use super::unify::Ty;
use crate::names::Name;
use crate::surface::{Binder, Pattern, Written, WrittenId};
use crate::syntax::Path;
use crate::types::Types;

impl Inference<'_> {
    /// Brings the variables of a binder into scope; returns its type.
    pub(super) fn bind(&mut self, binder: &Binder) -> Ty {
        let ty = match binder.written {
            Some(written) => self.written(written),
            None => self.out.unknowns.fresh(),
        };
        let binder_id = self.new_binder(ty);
        self.out.binders.insert(binder.pattern, binder_id);
        let whole = self.place(Place::Whole(binder_id));
        let mut seen: FxHashMap<Name, Span> = FxHashMap::default();
        let mut work = vec![(binder.pattern, whole, ty)];
        while let Some((pattern, place, ty)) = work.pop() {
            self.out.patterns[pattern.index()] = Some(ty);
            let span = self.program.tree.pattern_span(pattern);
            match self.program.tree.pattern(pattern) {
                Pattern::Name(name) => {
                    if let Some(first) = seen.insert(*name, span) {
                        self.diagnostics.push(errors::duplicate(self.names.text(*name), span, first));
                    }
                    let entry = Entry { meaning: Meaning::Local(place), ty };
                    self.scope.bind(*name, entry);
                }
                Pattern::Tuple(items) => {
                    let types: Vec<Ty> = items.iter().map(|_| self.out.unknowns.fresh()).collect();
                    let tuple = self.out.unknowns.tuple(types.iter().copied());
                    self.equal(ty, tuple, span, Situation::Pattern);
                    let n = u32::try_from(items.len()).expect("fewer items than source bytes");
                    let mut parts = Vec::new();
                    for ((i, item), ty) in (0..n).zip(items).zip(types) {
                        let right = i > 0;
                        let path = Path { lefts: n - 1 - i, right };
                        parts.push((*item, self.place(Place::Part(place, path)), ty));
                    }
                    work.extend(parts.into_iter().rev());
                }
            }
        }
        ty
    }

    /// A written type, with the names of types replaced by their definitions.
    pub(super) fn written(&mut self, written: WrittenId) -> Ty {
        let tree = &self.program.tree;
        let (mut order, mut work) = (Vec::new(), vec![written]);
        while let Some(id) = work.pop() {
            order.push(id);
            match tree.written(id) {
                Written::Arrow(a, b) | Written::Product(a, b) => work.extend([a, b]),
                Written::Power(a, _) | Written::Dual(a) | Written::Omega(a) | Written::Group(a) => {
                    work.push(a);
                }
                Written::Error | Written::Real | Written::Name(_) => {}
            }
        }
        let mut made: FxHashMap<WrittenId, Ty> = FxHashMap::default();
        for id in order.into_iter().rev() {
            let ty = match tree.written(id) {
                Written::Error => self.out.unknowns.poison(),
                Written::Real => self.out.unknowns.real(),
                Written::Name(name) => self.type_name(name, tree.written_span(id)),
                Written::Arrow(a, b) => self.out.unknowns.arrow(made[&a], made[&b]),
                Written::Product(a, b) => self.out.unknowns.product(made[&a], made[&b]),
                Written::Dual(a) => self.out.unknowns.dual(made[&a]),
                Written::Omega(a) => self.out.unknowns.omega(made[&a]),
                Written::Group(a) => made[&a],
                Written::Power(a, n) if u64::from(n) > Types::MAX_COMPONENTS => {
                    let _ = a;
                    self.diagnostics.push(errors::too_large(tree.written_span(id)));
                    self.out.unknowns.poison()
                }
                Written::Power(a, n) => {
                    let of = made[&a];
                    self.out.unknowns.tuple((0..n).map(|_| of))
                }
            };
            made.insert(id, ty);
        }
        made[&written]
    }

    fn type_name(&mut self, name: Name, span: Span) -> Ty {
        if let Some(ty) = self.written_types.get(&name) {
            return *ty;
        }
        if !self.poisoned.contains(&name) {
            let mut known: Vec<&str> = self.written_types.keys().map(|name| self.names.text(*name)).collect();
            known.sort_unstable();
            let text = self.names.text(name);
            self.diagnostics.push(errors::unbound("type", text, span, &known));
        }
        self.out.unknowns.poison()
    }
}
