//! The cells of chronograms, in one table; lists refer to their items by number, items before lists.

use eddy_syntax::Span;

use crate::names::Name;

eddy_index::id! {
    /// A cell of a chronogram.
    pub struct CellId, "fewer cells than source bytes";
}

/// Several cells, in order; [`Cells::items`] gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct CellList {
    start: u32,
    end: u32,
}

impl CellList {
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    pub fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// The value of an input at one cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CellKind {
    /// `.`, `□` or `_`: absent.
    Absent,
    /// `?` or `⊥`: unknown.
    Unknown,
    /// `true`, `t`, `T` or `false`, `f`, `F`.
    Bool(bool),
    /// A number without point and exponent, which an input of either numeric type takes.
    Int(i64),
    /// A number with point or exponent.
    Num(f64),
    /// The name of an enumerator.
    Enumerator(Name),
    /// `[1, 2]`.
    List(CellList),
}

/// The cells of one program.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    kinds: Vec<CellKind>,
    spans: Vec<Span>,
    pool: Vec<CellId>,
}

impl Cells {
    pub fn push(&mut self, kind: CellKind, span: Span) -> CellId {
        let id = CellId::new(self.kinds.len());
        self.kinds.push(kind);
        self.spans.push(span);
        id
    }

    /// Makes a list of cells.
    pub fn list(&mut self, items: impl IntoIterator<Item = CellId>) -> CellList {
        let offset = |at: usize| u32::try_from(at).expect("fewer cells than source bytes");
        let start = offset(self.pool.len());
        self.pool.extend(items);
        CellList { start, end: offset(self.pool.len()) }
    }

    pub fn items(&self, list: CellList) -> &[CellId] {
        &self.pool[list.start as usize..list.end as usize]
    }

    pub fn kind(&self, id: CellId) -> CellKind {
        self.kinds[id.0 as usize]
    }

    pub fn span(&self, id: CellId) -> Span {
        self.spans[id.0 as usize]
    }
}
