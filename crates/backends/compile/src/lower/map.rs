//! Loops over elements.
//!
//! ```text
//! for i0: size = 0 while (i0 < 14) by 1 {
//!   let v4: num = …;                  an element that is read only in this loop
//!   let e5: num = tanh(v4);
//!   self.t0[i0] = e5;                 an element that is stored
//!   self.t1[i0] += e5;                an element that is summed along an outer axis
//! }
//! ```

use eddy_flow::VarId;
use eddy_imp::stmt::Comment;
use eddy_imp::{Block, Expr, Name, Stmt};
use eddy_tensor::Shape;
use rustc_hash::FxHashSet;

use super::memory::Home;
use super::schedule::{Item, summed_along};
use super::write::{Writer, expression};
use crate::nest::{Nest, index, loops};
use crate::precision::element_type;
use crate::view::{Root, View};

/// Statements that share a loop over a shape.
pub(super) struct Map<'a> {
    writer: &'a Writer<'a>,
    shape: &'a Shape,
    items: &'a [Item<'a>],
    /// The streams that the loop computes.
    own: FxHashSet<VarId>,
}

impl<'a> Map<'a> {
    pub fn new(writer: &'a Writer<'a>, shape: &'a Shape, items: &'a [Item<'a>]) -> Map<'a> {
        let own = items.iter().map(|item| item.statement.var).collect();
        Map { writer, shape, items, own }
    }

    pub fn write(&self, block: &mut Block) {
        for item in self.items.iter().filter(|item| summed_along(item).is_some()) {
            let size = item.statement.ty.shape.iter().product();
            let sum = self.writer.result(item, index(0));
            loops(&[size], 0, block, |block| block.set(&sum, Expr::num(-0.0), Comment::new()));
        }
        let nest = self.nest();
        nest.write(block, |block| self.body(&nest, block));
    }

    /// The loops, and how the operands and then the results move in them.
    fn nest(&self) -> Nest {
        let wholes: Vec<View> = self.items.iter().map(|item| written(item, self.shape)).collect();
        let views: Vec<&View> = self.items.iter().flat_map(|item| &item.reads).chain(&wholes).collect();
        Nest::new(self.shape, &views)
    }

    /// The statements for one element.
    fn body(&self, nest: &Nest, block: &mut Block) {
        let n_reads: usize = self.items.iter().map(|item| item.reads.len()).sum();
        let mut at = 0;
        for (number, item) in self.items.iter().enumerate() {
            let reads = item.reads.iter().enumerate();
            let reads: Vec<Expr> = reads.map(|(k, view)| self.element(view, nest.place(at + k))).collect();
            at += item.reads.len();
            let place = nest.place(n_reads + number);
            if summed_along(item).is_some() {
                let [read] = <[Expr; 1]>::try_from(reads).expect("a sum has one operand");
                let Expr::Load(sum) = self.writer.result(item, place) else {
                    unreachable!("a sum in this loop is stored in an array")
                };
                block.push(Stmt::AddTo(sum, read, item.statement.comment.clone()));
            } else {
                self.store(item, expression(item, reads), place, block);
            }
        }
    }

    /// An element that the loop computes is in a variable, even if it is also stored.
    fn element(&self, view: &View, at: Expr) -> Expr {
        let homes = self.writer.homes;
        match view.var() {
            Some(var) if self.own.contains(&var) => match homes.home(var) {
                Home::Array(_) => temporary(var).into(),
                _ => homes.element(view, at),
            },
            _ => homes.element(view, at),
        }
    }

    /// Stores an element.
    fn store(&self, item: &Item<'_>, value: Expr, at: Expr, block: &mut Block) {
        let Item { statement, .. } = item;
        let (ty, comment) = (element_type(statement.ty.scalar), statement.comment.clone());
        match self.writer.homes.home(statement.var) {
            Home::Scalar(name) if !self.writer.declared_in_place.contains(&statement.var) => {
                block.push(Stmt::Assign(name.clone(), value, comment));
            }
            Home::Scalar(name) | Home::Loop(name) => {
                block.push(Stmt::Let(name.clone(), ty, value, comment));
            }
            Home::Array(place) => {
                let name = temporary(statement.var);
                block.push(Stmt::Let(name.clone(), ty, value, comment));
                block.store(place.index(at), name);
            }
        }
    }
}

/// Where a loop over a shape writes a result.
fn written(item: &Item<'_>, shape: &Shape) -> View {
    let whole = View::whole(Root::Var(item.statement.var), &item.statement.ty);
    match summed_along(item) {
        Some(strides) => View { shape: shape.clone(), strides, ..whole },
        None => whole,
    }
}

/// The variable of a loop for an element that is also stored.
fn temporary(var: VarId) -> Name {
    format!("e{}", var.index()).into()
}
