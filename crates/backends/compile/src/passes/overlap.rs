//! Splits short loops over slow operations into blocks of the length of vectors.
//!
//! A processor computes a block of elements at once, and the rest one by one. For few elements and slow
//! operations the rest matters: then the last block is as long as the others, and computes some elements a
//! second time.
//!
//! ```text
//! for i: size = 0 while (i < 12) by 1 {     │  unroll 2 for b: size = 0 while (b < 2) by 1 {
//!   self.y[i] = tanh(self.x[i]);            │    for j: size = 0 while (j < 8) by 1 {
//! }                                         │      let i: size = ((b < 1 ? (8 * b) : 4) + j);
//!                                           │      self.y[i] = tanh(self.x[i]);
//! ```
//!
//! If a store overwrites something that the loop reads, it is moved to the end, because the last block reads
//! the old values again.

use eddy_imp::effects::{self, Access, Visit, walk};
use eddy_imp::{Block, Expr, Loop, Name, Place, Precision, Stmt, Type};

use super::affine::Affine;
use super::{blocks_of, is_slow};

/// Splits all short loops of a block.
pub(super) fn blocks(block: &mut Block, precision: Precision) {
    for stmt in &mut block.stmts {
        let made = match &*stmt {
            Stmt::For(this) => overlapping(this, precision),
            _ => None,
        };
        match made {
            Some(mut made) if made.stmts.len() == 1 => *stmt = made.stmts.remove(0),
            Some(made) => *stmt = Stmt::Scope(made),
            None => blocks_of(stmt).into_iter().for_each(|inner| blocks(inner, precision)),
        }
    }
}

/// A loop of `n` in blocks of `size`.
struct Blocks {
    n: usize,
    size: usize,
}

impl Blocks {
    /// The blocks of a loop, if it is short, is not a multiple of a block, and contains slow operations.
    fn of(this: &Loop, precision: Precision) -> Option<Blocks> {
        let size = match precision {
            Precision::Double => 8,
            Precision::Single => 16,
        };
        let n = this.n_iterations().filter(|_| this.ty == Type::Size && this.first == Expr::Count(0))?;
        let is_short = size < n && n < 4 * size && !n.is_multiple_of(size);
        let is_simple = |stmt: &Stmt| matches!(stmt, Stmt::Let(..) | Stmt::Store(..) | Stmt::Note(_));
        let moves_by_one = |(place, _): &(Place, Access)| {
            place.at.iter().all(|index| {
                Affine::of(index, std::slice::from_ref(&this.index))
                    .is_some_and(|own| (0..=1).contains(&own.coefficients[0]))
            })
        };
        let can_be = this.body.stmts.iter().all(is_simple)
            && !effects::can_fail(&this.body)
            && effects::accesses(&this.body).iter().all(moves_by_one);
        (is_short && can_be && takes_time(&this.body)).then_some(Blocks { n, size })
    }

    /// The loops around some statements for the element at `index`.
    fn repeat(&self, index: &Name, body: Block) -> Stmt {
        let (n_blocks, last) = (self.n.div_ceil(self.size), self.n - self.size);
        let (b, j) = (|| Expr::var("b"), || Expr::var("j"));
        let mut inner = Block::new();
        let start = Expr::choice(b().lt(n_blocks - 1), Expr::from(self.size) * b(), last);
        inner.constant(index, Type::Size, start + j());
        inner.append(body);
        let mut outer = Block::new();
        outer.each("j", self.size, |block| block.append(inner));
        let mut block = Block::new();
        block.each("b", n_blocks, |block| block.append(outer));
        let Some(Stmt::For(mut this)) = block.stmts.pop() else { unreachable!("it was just made") };
        this.unroll = Some(n_blocks);
        Stmt::For(this)
    }
}

fn overlapping(this: &Loop, precision: Precision) -> Option<Block> {
    let blocks = Blocks::of(this, precision)?;
    let (mut block, mut body, mut at_end) = (Block::new(), Block::new(), Block::new());
    let reads: Vec<Place> = effects::accesses(&this.body)
        .into_iter()
        .filter(|(_, access)| access.reads())
        .map(|(place, _)| place)
        .collect();
    for (number, stmt) in this.body.stmts.iter().enumerate() {
        match stmt {
            Stmt::Store(place, value, comment) if reads.iter().any(|read| may_be(place, read)) => {
                let name: Name = format!("kept{number}").into();
                let n_blocks = blocks.n.div_ceil(blocks.size);
                let ty = stored_type(value, &this.body)?;
                block.push(Stmt::Array(name.clone(), ty, vec![n_blocks, blocks.size]));
                let aside = Place::local(name).index(Expr::var("b")).index(Expr::var("j"));
                body.push(Stmt::Store(aside.clone(), value.clone(), comment.clone()));
                at_end.store(place, aside);
            }
            other => body.push(other.clone()),
        }
    }
    block.push(blocks.repeat(&this.index, body));
    if !at_end.is_empty() {
        block.push(blocks.repeat(&this.index, at_end));
    }
    Some(block)
}

/// Whether a stored element may be one that another iteration reads.
fn may_be(stored: &Place, read: &Place) -> bool {
    stored.row().overlaps(&read.row())
}

/// The type of a stored value: that of a variable of the loop.
fn stored_type(value: &Expr, body: &Block) -> Option<Type> {
    let Expr::Var(own) = value else { return None };
    body.stmts.iter().find_map(|stmt| match stmt {
        Stmt::Let(name, ty, ..) if name == own => Some(*ty),
        _ => None,
    })
}

/// Whether a loop contains an operation that takes far longer than a sum.
fn takes_time(body: &Block) -> bool {
    struct Takes(bool);
    impl Visit for Takes {
        fn expr(&mut self, expr: &Expr) {
            self.0 |= is_slow(expr);
        }
    }
    let mut takes = Takes(false);
    walk(body, &mut takes);
    takes.0
}
