//! Where results are kept.
//!
//! A scalar is a variable of C. A tensor that is read only in the loop that computes it is never stored. Others get memory: the
//! place where they are wanted in the end, the place of their last value if nothing needs that any more, or scratch memory, which
//! is shared: a piece is free again when the last reader of what was in it has run.

use eddy_flow::VarId;
use eddy_tensor::{Op, Scalar, Shape, Type};
use rustc_hash::{FxHashMap, FxHashSet};

use super::schedule::{Action, ActionKind, Item, Scheduled, summed_along};
use super::{Code, Right, products};
use crate::view::{Root, View};

/// Where streams are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Homes {
    homes: FxHashMap<VarId, Home>,
    /// What streams that are seen through look at.
    aliases: FxHashMap<VarId, View>,
    /// Arrays that are used while a result is computed, and not after.
    workspaces: FxHashMap<VarId, String>,
}

/// Where a stream is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Home {
    /// In a C variable of this name.
    Scalar(String),
    /// In the array that this C expression is.
    Array(String),
    /// In a variable of the loop that computes it.
    Loop(String),
}

impl Homes {
    /// Where a stream is when the code has run, as memory that was there before. It was asked to stay there.
    pub fn seen(&self, var: VarId, ty: &Type) -> View {
        let view = match self.aliases.get(&var) {
            Some(view) => view.clone(),
            None => View::whole(Root::Var(var), ty),
        };
        let root = match &view.root {
            Root::Var(var) => match &self.homes[var] {
                Home::Scalar(name) | Home::Loop(name) => Root::One(name.clone()),
                Home::Array(text) => Root::Memory(text.clone()),
            },
            root => root.clone(),
        };
        View { root, ..view }
    }

    /// Whether a stream is somewhere when the code has run.
    pub fn has(&self, var: VarId) -> bool {
        match self.aliases.get(&var).map(|view| &view.root) {
            None => self.homes.contains_key(&var),
            Some(Root::Var(result)) => self.homes.contains_key(result),
            Some(_) => true,
        }
    }

    /// Where a result goes.
    pub fn home(&self, var: VarId) -> &Home {
        &self.homes[&var]
    }

    /// The array that a stream is in, if it is in one.
    pub fn array(&self, var: VarId) -> Option<&str> {
        match self.homes.get(&var)? {
            Home::Array(text) => Some(text),
            _ => None,
        }
    }

    /// The array that is used while a result is computed, if it needs one.
    pub fn workspace(&self, var: VarId) -> Option<&str> {
        self.workspaces.get(&var).map(String::as_str)
    }

    /// An element of a view.
    pub fn element(&self, view: &View, place: &str) -> String {
        match &view.root {
            Root::One(text) => text.clone(),
            Root::Memory(text) => format!("{text}[{place}]"),
            Root::Var(var) => match &self.homes[var] {
                Home::Scalar(name) | Home::Loop(name) => name.clone(),
                Home::Array(text) => format!("{text}[{place}]"),
            },
        }
    }
}

impl FromIterator<(VarId, Home)> for Homes {
    fn from_iter<T: IntoIterator<Item = (VarId, Home)>>(homes: T) -> Homes {
        Homes { homes: homes.into_iter().collect(), ..Homes::default() }
    }
}

/// Memory that is shared by what is not needed at the same time. All code of a program has the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    /// The type and the size of each piece.
    pub pieces: Vec<(Scalar, usize)>,
    is_taken: Vec<bool>,
}

impl Scratch {
    /// What a piece is called.
    pub fn name(piece: usize) -> String {
        format!("self->t{piece}")
    }

    /// The piece that fits best among the free ones; if none is large enough, the largest one grows.
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
                _ if ty.shape.is_scalar() => Home::Scalar(names(var)),
                (Some(place), _) => Home::Array(place.clone()),
                (None, None) => Home::Loop(names(var)),
                (None, Some(last)) => {
                    let piece = scratch.take(ty.scalar, ty.shape.iter().product());
                    to_free.entry(last).or_default().push(piece);
                    Home::Array(Scratch::name(piece))
                }
            };
            // What no loop computes needs memory even if nobody reads it.
            let home = match (&action.kind, home) {
                (_, Home::Loop(_)) if !is_element(action, item) => {
                    let piece = scratch.take(ty.scalar, ty.shape.iter().product());
                    to_free.entry(number).or_default().push(piece);
                    Home::Array(Scratch::name(piece))
                }
                (_, home) => home,
            };
            homes.homes.insert(var, home);
            let workspace = workspace(item);
            if workspace > 0 {
                let piece = scratch.take(item.statement.ty.scalar, workspace);
                to_free.entry(number).or_default().push(piece);
                homes.workspaces.insert(var, Scratch::name(piece));
            }
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

/// How many numbers an operation puts aside while it runs.
fn workspace(item: &Item<'_>) -> usize {
    match &item.statement.right {
        Right::Apply(Op::Matmul, _) | Right::Accumulate(..) => products::workspace(item),
        _ => 0,
    }
}

/// Where results may go; what is only another name for a result is that result.
fn in_place(code: &Code, scheduled: &Scheduled<'_>) -> FxHashMap<VarId, String> {
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

/// Who reads what, by the numbers of actions.
struct Uses<'a> {
    code: &'a Code,
    /// The actions that read a stream from memory.
    readers: FxHashMap<VarId, Vec<usize>>,
    /// Who reads memory that was there before.
    memory: FxHashMap<String, Vec<Reader>>,
}

/// The action, the position in its loop, and whether the element that is read is the one that the loop writes.
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
            Root::Memory(text) => {
                let places =
                    self.code.pointers.get(text).map_or(std::slice::from_ref(text), <[_; 2]>::as_slice);
                for place in places {
                    self.memory.entry(place.clone()).or_default().push((at, is_aligned));
                }
            }
            Root::One(_) => {}
        }
    }

    /// The last reader outside of the loop that computes it, if there is one.
    fn last(&self, var: VarId) -> Option<usize> {
        self.readers.get(&var)?.iter().max().copied()
    }

    /// Whether a result may be written to memory that was there before: whoever reads that has run, or reads each element before it is
    /// written, in the same loop. What has no position there is begun before the loop is.
    fn allow_in_place(&self, place: &str, action: usize, position: Option<usize>) -> bool {
        let readers = self.memory.get(place).map_or(&[][..], Vec::as_slice);
        let is_over = |((reader, at), is_aligned): &Reader| {
            *reader < action || (*reader == action && Some(*at) <= position && *is_aligned)
        };
        readers.iter().all(is_over)
    }
}

/// Whether each element of an operand is read before the element at the same place is written, and not after.
fn is_aligned(kind: &ActionKind<'_>, operand: usize, view: &View) -> bool {
    match kind {
        ActionKind::Map(shape, _) => view.offset == 0 && view.shape == *shape && view.is_contiguous(),
        // What a product is added to is its first operand.
        ActionKind::Other(item) => {
            matches!(item.statement.right, Right::Accumulate(..)) && operand == 0 && view.offset == 0
        }
    }
}
