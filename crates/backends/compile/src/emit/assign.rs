//! Assignments.

use eddy_imp::effects::{Access, Visit, walk_expr};
use eddy_imp::{Base, Block, Expr, Name, Place, Stmt};
use eddy_tensor::Type;
use rustc_hash::FxHashMap;

use super::reads::memory;
use crate::nest::Nest;
use crate::precision::{element_type, zero};
use crate::view::{Root, View};

/// An element of a view that has a place.
pub(super) fn element(view: &View, at: impl Into<Expr>) -> Expr {
    match &view.root {
        Root::One(expr) => expr.clone(),
        Root::Nothing => zero(view.scalar),
        Root::Memory(place) => place.index(at).load(),
        Root::Var(_) => unreachable!("it has a place by now"),
    }
}

/// The first element of a view that has a place: the only one of a scalar.
pub(super) fn first(view: &View) -> Expr {
    element(view, view.offset)
}

/// `to = view`, element by element.
pub(super) fn copy(view: &View, to: &Place, ty: &Type, block: &mut Block) {
    if ty.shape.is_scalar() {
        return block.store(to, first(view));
    }
    let target = View::whole(Root::Memory(to.clone()), ty);
    let nest = Nest::new(&view.shape, &[view, &target]);
    nest.write(block, |block| block.store(to.index(nest.place(1)), element(view, nest.place(0))));
}

/// One of several simultaneous assignments.
pub(super) struct Write {
    pub to: Place,
    /// The source.
    pub view: View,
    pub ty: Type,
    /// The conditions under which it happens.
    pub conditions: Vec<Expr>,
    /// A flag that records that it happened.
    pub flag: Option<Place>,
}

impl Write {
    /// Whether source and target are the same.
    fn is_there(&self) -> bool {
        let own = |place: &Place| *place == self.to && self.view.offset == 0;
        matches!(&self.view.root, Root::One(Expr::Load(place)) | Root::Memory(place) if own(place))
    }
}

/// Places that are written, by their base.
struct Written(FxHashMap<Base, Vec<Place>>);

impl Written {
    fn new<'w>(places: impl Iterator<Item = &'w Place>) -> Written {
        let mut written: FxHashMap<Base, Vec<Place>> = FxHashMap::default();
        for place in places {
            written.entry(place.base.clone()).or_default().push(place.clone());
        }
        Written(written)
    }

    /// Whether a place other than `own` is written that overlaps `read`.
    fn has_other(&self, own: &Place, read: &Place) -> bool {
        let written = self.0.get(&read.base).map_or(&[][..], Vec::as_slice);
        written.iter().any(|place| place != own && place.overlaps(read))
    }

    /// Whether an expression reads a written place other than `own`.
    fn changes(&self, own: Option<&Place>, expr: &Expr) -> bool {
        struct Reads<'w>(&'w Written, Option<&'w Place>, bool);
        impl Visit for Reads<'_> {
            fn place(&mut self, place: &Place, _: Access) {
                self.2 |= match self.1 {
                    Some(own) => place != own && self.0.has_other(own, place),
                    None => {
                        self.0.0.get(&place.base).is_some_and(|all| all.iter().any(|one| one.overlaps(place)))
                    }
                };
            }
        }
        let mut reads = Reads(self, own, false);
        walk_expr(expr, &mut reads);
        reads.2
    }
}

/// Simultaneous assignments: values that are overwritten before they are read are saved first.
pub(super) fn write_at_once(mut writes: Vec<Write>, block: &mut Block) {
    let written = Written::new(writes.iter().map(|write| &write.to));
    for (number, write) in writes.iter_mut().enumerate() {
        let is_overwritten = match &write.view.root {
            // A pointer may point to anything.
            Root::Memory(Place { base: Base::Local(_), .. }) => true,
            Root::Memory(place) => *place != write.to && written.has_other(&write.to, place),
            Root::One(expr) => written.changes(Some(&write.to), expr),
            Root::Nothing | Root::Var(_) => false,
        };
        if is_overwritten {
            write.view = put_aside(number, write, block);
        }
    }
    // Conditions are evaluated before the first assignment changes them.
    for (number, write) in writes.iter_mut().enumerate() {
        if write.conditions.iter().any(|condition| written.changes(None, condition)) {
            let name: Name = format!("happens{number}").into();
            let conditions = Expr::all(std::mem::take(&mut write.conditions));
            block.constant(&name, eddy_imp::Type::Bool, conditions);
            write.conditions = vec![name.into()];
        }
    }
    for write in writes {
        let is_there = write.is_there();
        if is_there && write.flag.is_none() {
            continue;
        }
        block.when(Expr::all(write.conditions), |block| {
            if !is_there {
                copy(&write.view, &write.to, &write.ty, block);
            }
            if let Some(flag) = write.flag {
                block.store(flag, true);
            }
        });
    }
}

/// Copies the source of an assignment to a separate variable or array.
fn put_aside(number: usize, write: &Write, block: &mut Block) -> View {
    let (name, ty): (Name, _) = (format!("aside{number}").into(), element_type(write.ty.scalar));
    if write.ty.shape.is_scalar() {
        block.constant(&name, ty, first(&write.view));
        return View::whole(Root::One(name.into()), &write.ty);
    }
    let aside = Place::local(&name);
    block.push(Stmt::Array(name, ty, vec![write.ty.shape.iter().product()]));
    copy(&write.view, &aside, &write.ty, block);
    memory(aside, &write.ty)
}
