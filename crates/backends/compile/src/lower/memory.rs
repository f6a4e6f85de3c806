//! Decides where results are stored.
//!
//! A scalar is a variable. A tensor that is read only in the loop that computes it is not stored. Other
//! tensors get memory: their final place, the place of their previous value if nothing needs that any more,
//! or shared scratch memory, a piece of which is free again after the last read of its contents.

use eddy_flow::VarId;
use eddy_imp::{Base, Expr, Name, Place};
use eddy_tensor::{Op, Scalar, Shape, Type};
use rustc_hash::{FxHashMap, FxHashSet};

use super::calls::{applied, copies, steps};
use super::schedule::{Action, ActionKind, Item, Scheduled, summed_along};
use super::{Code, Right, products};
use crate::functions::applied::AppliedFunctions;
use crate::precision::zero;
use crate::view::{Root, View};

/// Where streams are stored.
#[derive(Clone, Debug, Default)]
pub(crate) struct Homes {
    homes: FxHashMap<VarId, Home>,
    /// The views of streams that move no elements.
    aliases: FxHashMap<VarId, View>,
    /// Arrays that are used only while a result is computed.
    workspaces: FxHashMap<VarId, Place>,
    /// The function that computes a result, and copies of its operands by their positions.
    functions: FxHashMap<VarId, Name>,
    copies: FxHashMap<(VarId, usize), Place>,
}

/// Where a stream is stored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Home {
    Scalar(Name),
    Array(Place),
    /// In a variable of the loop that computes it.
    Loop(Name),
}

impl Homes {
    /// Where a stream is after the code has run, as memory. The stream must be in `live_out`.
    pub fn seen(&self, var: VarId, ty: &Type) -> View {
        let view = match self.aliases.get(&var) {
            Some(view) => view.clone(),
            None => View::whole(Root::Var(var), ty),
        };
        let root = match &view.root {
            Root::Var(var) => match &self.homes[var] {
                Home::Scalar(name) | Home::Loop(name) => Root::One(name.into()),
                Home::Array(place) => Root::Memory(place.clone()),
            },
            root => root.clone(),
        };
        View { root, ..view }
    }

    pub fn home(&self, var: VarId) -> &Home {
        &self.homes[&var]
    }

    /// The array of a stream, if it is in one.
    pub fn array(&self, var: VarId) -> Option<&Place> {
        match self.homes.get(&var)? {
            Home::Array(place) => Some(place),
            _ => None,
        }
    }

    /// The array that is used while a result is computed, if it needs one.
    pub fn workspace(&self, var: VarId) -> Option<&Place> {
        self.workspaces.get(&var)
    }

    /// The function of the call that computes a result.
    pub fn function(&self, var: VarId) -> Option<&Name> {
        self.functions.get(&var)
    }

    /// Where an operand of a function is copied to.
    pub fn copy(&self, var: VarId, operand: usize) -> Option<&Place> {
        self.copies.get(&(var, operand))
    }

    pub fn element(&self, view: &View, at: Expr) -> Expr {
        match &view.root {
            Root::One(expr) => expr.clone(),
            Root::Nothing => zero(view.scalar),
            Root::Memory(place) => place.index(at).load(),
            Root::Var(var) => match &self.homes[var] {
                Home::Scalar(name) | Home::Loop(name) => name.into(),
                Home::Array(place) => place.index(at).load(),
            },
        }
    }

    /// The first element of a view: the only one of a scalar.
    pub fn first(&self, view: &View) -> Expr {
        self.element(view, view.offset.into())
    }

    /// The array of a view, if it has one.
    pub fn memory<'a>(&'a self, view: &'a View) -> Option<&'a Place> {
        match &view.root {
            Root::One(_) | Root::Nothing => None,
            Root::Memory(place) => Some(place),
            Root::Var(var) => self.array(*var),
        }
    }
}

impl Homes {
    /// Names the function of a call and finds memory for copies of its operands; returns the pieces.
    fn prepare_call(&mut self, items: &[Item<'_>], scratch: &mut Scratch) -> Vec<usize> {
        let var = items[0].statement.var;
        let parts: Vec<_> =
            items.iter().map(|item| applied(&item.statement.right).expect("it applies a function")).collect();
        let (operands, results) = steps(items);
        self.functions.insert(var, scratch.functions.named(&parts, &operands, &results));
        let mut pieces = Vec::new();
        for (operand, scalar, size) in copies(&items[0]) {
            let piece = scratch.take(scalar, size);
            self.copies.insert((var, operand), Scratch::place(piece));
            pieces.push(piece);
        }
        pieces
    }
}

impl FromIterator<(VarId, Home)> for Homes {
    fn from_iter<T: IntoIterator<Item = (VarId, Home)>>(homes: T) -> Homes {
        Homes { homes: homes.into_iter().collect(), ..Homes::default() }
    }
}

/// What all code of a program shares: memory for values with disjoint lifetimes, and functions that it calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    /// The type and the size of each piece.
    pub pieces: Vec<(Scalar, usize)>,
    is_taken: Vec<bool>,
    pub functions: AppliedFunctions,
}

impl Scratch {
    pub fn name(piece: usize) -> Name {
        format!("t{piece}").into()
    }

    fn place(piece: usize) -> Place {
        Place::state(Scratch::name(piece))
    }

    /// The free piece that fits best; if none is large enough, the largest one grows.
    fn take(&mut self, scalar: Scalar, size: usize) -> usize {
        let free =
            (0..self.pieces.len()).filter(|piece| !self.is_taken[*piece] && self.pieces[*piece].0 == scalar);
        let free: Vec<usize> = free.collect();
        let fitting = free
            .iter()
            .filter(|piece| self.pieces[**piece].1 >= size)
            .min_by_key(|piece| self.pieces[**piece].1);
        let piece = fitting.or_else(|| free.iter().max_by_key(|piece| self.pieces[**piece].1)).copied();
        let piece = piece.unwrap_or_else(|| {
            self.pieces.push((scalar, size));
            self.is_taken.push(false);
            self.pieces.len() - 1
        });
        self.pieces[piece].1 = self.pieces[piece].1.max(size);
        self.is_taken[piece] = true;
        piece
    }

    fn give_back(&mut self, piece: usize) {
        self.is_taken[piece] = false;
    }
}

/// Finds memory for all results.
pub(super) fn assign(
    code: &Code,
    scheduled: &Scheduled<'_>,
    names: &dyn Fn(VarId) -> String,
    scratch: &mut Scratch,
) -> Homes {
    let uses = Uses::new(code, scheduled);
    let in_place = in_place(code, scheduled);
    let mut homes = Homes { aliases: scheduled.aliases.clone(), ..Homes::default() };
    let mut to_free: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    for (number, action) in scheduled.actions.iter().enumerate() {
        for (position, item) in action.items().iter().enumerate() {
            let (var, ty) = (item.statement.var, &item.statement.ty);
            let export = code.exports.get(&var).and_then(|places| places.first());
            let is_accumulated = matches!(item.statement.right, Right::Accumulate(..));
            let position = (is_element(action, item) || is_accumulated).then_some(position);
            let in_place = in_place.get(&var).filter(|place| uses.allow_in_place(place, number, position));
            let home = match (export.or(in_place), uses.last(var)) {
                _ if ty.shape.is_scalar() => Home::Scalar(names(var).into()),
                (Some(place), _) => Home::Array(place.clone()),
                (None, None) => Home::Loop(names(var).into()),
                (None, Some(last)) => {
                    let piece = scratch.take(ty.scalar, ty.shape.iter().product());
                    to_free.entry(last).or_default().push(piece);
                    Home::Array(Scratch::place(piece))
                }
            };
            // A result that is not computed in a loop over elements needs memory even if it is dead.
            let home = match (&action.kind, home) {
                (_, Home::Loop(_)) if !is_element(action, item) => {
                    let piece = scratch.take(ty.scalar, ty.shape.iter().product());
                    to_free.entry(number).or_default().push(piece);
                    Home::Array(Scratch::place(piece))
                }
                (_, home) => home,
            };
            homes.homes.insert(var, home);
            let workspace = workspace(item);
            if workspace > 0 {
                let piece = scratch.take(item.statement.ty.scalar, workspace);
                to_free.entry(number).or_default().push(piece);
                homes.workspaces.insert(var, Scratch::place(piece));
            }
        }
        if let ActionKind::Call(items) = &action.kind {
            let pieces = homes.prepare_call(items, scratch);
            to_free.entry(number).or_default().extend(pieces);
        }
        to_free.remove(&number).unwrap_or_default().into_iter().for_each(|piece| scratch.give_back(piece));
    }
    to_free.into_values().flatten().for_each(|piece| scratch.give_back(piece));
    homes
}

/// Whether a loop computes the result, element by element.
fn is_element(action: &Action<'_>, item: &Item<'_>) -> bool {
    matches!(action.kind, ActionKind::Map(..)) && summed_along(item).is_none()
}

/// The number of temporary elements that an operation needs.
fn workspace(item: &Item<'_>) -> usize {
    match &item.statement.right {
        Right::Apply(Op::Matmul, _) | Right::Accumulate(..) => products::workspace(item),
        _ => 0,
    }
}

/// Where results may be stored in place; an alias of a result is that result.
fn in_place(code: &Code, scheduled: &Scheduled<'_>) -> FxHashMap<VarId, Place> {
    let items = scheduled.actions.iter().flat_map(Action::items);
    let shapes: FxHashMap<VarId, &Shape> =
        items.map(|item| (item.statement.var, &item.statement.ty.shape)).collect();
    let result = |var: &VarId| match scheduled.aliases.get(var) {
        None => Some(*var),
        Some(view) => {
            view.var().filter(|result| shapes.get(result).is_some_and(|shape| view.is_all_of(*result, shape)))
        }
    };
    code.in_place.iter().filter_map(|(var, place)| Some((result(var)?, place.clone()))).collect()
}

/// Later than all actions.
const AFTERWARDS: usize = usize::MAX;

/// The readers of each stream, by the indices of actions.
struct Uses<'a> {
    code: &'a Code,
    /// The actions that read a stream from memory.
    readers: FxHashMap<VarId, Vec<usize>>,
    /// The readers of existing memory.
    memory: FxHashMap<Place, Vec<Reader>>,
}

/// The action, the position in its loop, and whether it reads the element that the loop writes.
type Reader = ((usize, usize), bool);

impl<'a> Uses<'a> {
    fn new(code: &'a Code, scheduled: &Scheduled<'_>) -> Uses<'a> {
        let mut uses = Uses { code, readers: FxHashMap::default(), memory: FxHashMap::default() };
        for (number, action) in scheduled.actions.iter().enumerate() {
            let inside: FxHashSet<VarId> = action.items().iter().map(|item| item.statement.var).collect();
            for (position, item) in action.items().iter().enumerate() {
                for (operand, view) in item.reads.iter().enumerate() {
                    if !view.var().is_some_and(|var| inside.contains(&var)) {
                        uses.add(view, (number, position), is_aligned(&action.kind, operand, view));
                    }
                }
            }
        }
        for var in &code.live_out {
            match scheduled.aliases.get(var) {
                Some(view) => uses.add(view, (AFTERWARDS, 0), false),
                None => uses.readers.entry(*var).or_default().push(AFTERWARDS),
            }
        }
        uses
    }

    fn add(&mut self, view: &View, at: (usize, usize), is_aligned: bool) {
        match &view.root {
            Root::Var(var) => self.readers.entry(*var).or_default().push(at.0),
            Root::Memory(place) => {
                let pointer = match &place.base {
                    Base::Local(name) => self.code.pointers.get(name),
                    _ => None,
                };
                for place in pointer.map_or(std::slice::from_ref(place), <[_; 2]>::as_slice) {
                    self.memory.entry(place.clone()).or_default().push((at, is_aligned));
                }
            }
            Root::One(_) | Root::Nothing => {}
        }
    }

    /// The last reader outside of the loop that computes a stream, if there is one.
    fn last(&self, var: VarId) -> Option<usize> {
        self.readers.get(&var)?.iter().max().copied()
    }

    /// Whether a result may overwrite existing memory: all readers of it have run, or read each element
    /// before it is written, in the same loop. A reader without a position in the loop runs before it.
    fn allow_in_place(&self, place: &Place, action: usize, position: Option<usize>) -> bool {
        let readers = self.memory.get(place).map_or(&[][..], Vec::as_slice);
        let is_over = |((reader, at), is_aligned): &Reader| {
            *reader < action || (*reader == action && Some(*at) <= position && *is_aligned)
        };
        readers.iter().all(is_over)
    }
}

/// Whether each element of an operand is read before the element at the same index is written, and not after.
fn is_aligned(kind: &ActionKind<'_>, operand: usize, view: &View) -> bool {
    match kind {
        ActionKind::Map(shape, _) => view.offset == 0 && view.shape == *shape && view.is_contiguous(),
        // A product is added to its first operand.
        ActionKind::Other(item) => {
            matches!(item.statement.right, Right::Accumulate(..)) && operand == 0 && view.offset == 0
        }
        // A function may write results before it has read all operands.
        ActionKind::Call(_) => false,
    }
}
