//! Loops over elements, as text.
//!
//! ```text
//! for (size_t i0 = 0; i0 < 14; i0++) {
//!   const double v4 = …;                 an element that is read in the loop alone
//!   const double e5 = eddy_tanh(v4);
//!   self->t0[i0] = e5;                   one that is stored
//!   self->t1[i0] += e5;                  one that is summed along an outer axis
//! }
//! ```
//!
//! A machine computes so many elements at once, a block, and what is left one by one. If elements are few and not cheap, that shows: then the
//! last block is as long as the others, and computes some elements a second time.

use eddy_flow::VarId;
use eddy_tensor::{Op, Shape};
use rustc_hash::FxHashSet;

use super::Right;
use super::long_loops::Cut;
use super::memory::Home;
use super::print::Printer;
use super::prune::can_fail;
use super::schedule::{Item, summed_along};
use crate::lines::Lines;
use crate::nest::{Nest, loops};
use crate::precision::Precision;
use crate::view::{Root, View};

/// Statements that share a loop over a shape.
pub(super) struct Map<'a> {
    printer: &'a Printer<'a>,
    shape: &'a Shape,
    items: &'a [Item<'a>],
    /// The streams that the loop computes.
    own: FxHashSet<VarId>,
}

impl<'a> Map<'a> {
    pub fn new(printer: &'a Printer<'a>, shape: &'a Shape, items: &'a [Item<'a>]) -> Map<'a> {
        let own = items.iter().map(|item| item.statement.var).collect();
        Map { printer, shape, items, own }
    }

    pub fn print(&self, lines: &mut Lines) {
        let printer = self.printer;
        for item in self.items.iter().filter(|item| summed_along(item).is_some()) {
            let (size, zero) = (item.statement.ty.shape.iter().product(), printer.precision.number(-0.0));
            loops(&[size], 0, lines, |lines| lines.line(format!("{} = {zero};", printer.result(item, "i0"))));
        }
        if !self.in_pieces(lines) {
            self.loops(self.nest(), lines);
        }
    }

    /// The loops, and how what is read and then what is written moves in them.
    fn nest(&self) -> Nest {
        let wholes: Vec<View> = self.items.iter().map(|item| written(item, self.shape)).collect();
        let views: Vec<&View> = self.items.iter().flat_map(|item| &item.reads).chain(&wholes).collect();
        Nest::new(self.shape, &views)
    }

    /// Lets threads run parts of the loop, if there is enough to do for them and it takes no sums.
    fn in_pieces(&self, lines: &mut Lines) -> bool {
        let sizes = self.nest().sizes();
        let (Some(&size), None) = (sizes.first(), self.items.iter().find_map(summed_along)) else {
            return false;
        };
        // A function takes about as long as sixteen terms of a product. Parts of a vector would take as long as whole ones.
        let cost = |item: &Item<'_>| if takes_time(item) { 16 } else { 1 };
        let n_terms = sizes.iter().product::<usize>() * self.items.iter().map(cost).sum::<usize>();
        let cut = Cut { size, unit: if sizes.len() == 1 { 64 } else { 1 }, n_terms };
        self.printer.in_pieces(self.items, &cut, lines, |printer, items, lines| {
            let map = Map::new(printer, self.shape, items);
            map.loops(map.nest().part(), lines);
        })
    }

    fn loops(&self, nest: Nest, lines: &mut Lines) {
        let n_reads = self.items.iter().map(|item| item.reads.len()).sum();
        match self.blocks(&nest) {
            Some(blocks) => nest.write_outer(lines, |lines| self.overlapping(&nest, n_reads, &blocks, lines)),
            None => nest.write(lines, |lines| self.body(&nest, n_reads, &[], lines)),
        }
    }

    /// The statements for one element; some results are put aside in the place of being stored.
    fn body(&self, nest: &Nest, n_reads: usize, aside: &[usize], lines: &mut Lines) {
        let mut at = 0;
        for (number, item) in self.items.iter().enumerate() {
            let reads = item.reads.iter().enumerate();
            let reads: Vec<String> = reads.map(|(k, view)| self.element(view, &nest.place(at + k))).collect();
            at += item.reads.len();
            let place = nest.place(n_reads + number);
            if summed_along(item).is_some() {
                let (sum, comment) = (self.printer.result(item, &place), &item.statement.comment);
                lines.line(format!("{sum} += {}; /* {comment} */", reads[0]));
            } else {
                let target = if aside.contains(&number) { Some(format!("s{number}[b][j]")) } else { None };
                self.store(item, &self.printer.expression(item, &reads), &place, target, lines);
            }
        }
    }

    /// What the loop computes is in a variable, also if it is stored as well.
    fn element(&self, view: &View, place: &str) -> String {
        let homes = self.printer.homes;
        match view.var() {
            Some(var) if self.own.contains(&var) => match homes.home(var) {
                Home::Array(_) => temporary(var.index()),
                _ => homes.element(view, place),
            },
            _ => homes.element(view, place),
        }
    }

    /// Keeps an element where it belongs, or in `target`.
    fn store(
        &self,
        item: &Item<'_>,
        expression: &str,
        place: &str,
        target: Option<String>,
        lines: &mut Lines,
    ) {
        let Item { statement, .. } = item;
        let (ty, comment) = (self.printer.precision.c_type(statement.ty.scalar), &statement.comment);
        match self.printer.homes.home(statement.var) {
            Home::Scalar(name) if self.printer.declared_in_place.contains(&statement.var) => {
                lines.line(format!("const {ty} {name} = {expression}; /* {comment} */"));
                if can_fail(statement) {
                    lines.line(format!("(void){name};"));
                }
            }
            Home::Scalar(name) => lines.line(format!("{name} = {expression}; /* {comment} */")),
            Home::Loop(name) => lines.line(format!("const {ty} {name} = {expression}; /* {comment} */")),
            Home::Array(text) => {
                let name = temporary(statement.var.index());
                lines.line(format!("const {ty} {name} = {expression}; /* {comment} */"));
                lines.line(format!("{} = {name};", target.unwrap_or_else(|| format!("{text}[{place}]"))));
            }
        }
    }

    /// The blocks of the innermost loop, if it is short, does not end where a block does, and computes what takes time.
    fn blocks(&self, nest: &Nest) -> Option<Blocks> {
        let size = match self.printer.precision {
            Precision::Double => 8,
            Precision::Single => 16,
        };
        let n = nest.innermost_in_steps_of_one()?;
        let is_short = size < n && n < 4 * size && !n.is_multiple_of(size);
        let is_idempotent = self.items.iter().all(|item| summed_along(item).is_none());
        (is_short && is_idempotent && self.items.iter().any(takes_time)).then_some(Blocks { n, size })
    }

    /// The innermost loop in blocks. What is stored over something that the loop reads is stored at the end: the last block reads that, too.
    fn overlapping(&self, nest: &Nest, n_reads: usize, blocks: &Blocks, lines: &mut Lines) {
        let Blocks { n, size } = blocks;
        let (n_blocks, last, i) = (n.div_ceil(*size), n - size, nest.innermost_index());
        let aside: Vec<usize> =
            (0..self.items.len()).filter(|number| self.is_read(&self.items[*number])).collect();
        for number in &aside {
            let ty = self.printer.c_type(&self.items[*number]);
            lines.line(format!("{ty} s{number}[{n_blocks}][{size}];"));
        }
        let go = |lines: &mut Lines, body: &dyn Fn(&mut Lines)| {
            lines.line(format!("#pragma GCC unroll {n_blocks}"));
            lines.block(&format!("for (size_t b = 0; b < {n_blocks}; b++)"), |lines| {
                lines.block(&format!("for (size_t j = 0; j < {size}; j++)"), |lines| {
                    lines.line(format!(
                        "const size_t {i} = (b < {} ? {size} * b : {last}) + j;",
                        n_blocks - 1
                    ));
                    body(lines);
                });
            });
        };
        go(lines, &|lines| self.body(nest, n_reads, &aside, lines));
        if !aside.is_empty() {
            go(lines, &|lines| {
                for number in &aside {
                    let place = nest.place(n_reads + number);
                    lines.line(format!(
                        "{} = s{number}[b][j];",
                        self.printer.result(&self.items[*number], &place)
                    ));
                }
            });
        }
    }

    /// Whether the loop reads the array that it stores a result in.
    fn is_read(&self, item: &Item<'_>) -> bool {
        let Home::Array(text) = self.printer.homes.home(item.statement.var) else { return false };
        let mut reads = self.items.iter().flat_map(|item| &item.reads);
        reads.any(|view| match &view.root {
            Root::Memory(other) => other == text,
            Root::Var(var) => {
                !self.own.contains(var) && *self.printer.homes.home(*var) == Home::Array(text.clone())
            }
            Root::One(_) => false,
        })
    }
}

/// A loop of `n` in blocks of `size`.
struct Blocks {
    n: usize,
    size: usize,
}

/// Whether an operation takes far longer than a sum.
fn takes_time(item: &Item<'_>) -> bool {
    match &item.statement.right {
        Right::Apply(op, _) => {
            matches!(
                op,
                Op::Exp | Op::Log | Op::Tanh | Op::Sigmoid | Op::Sin | Op::Cos | Op::Pow | Op::Div | Op::Sqrt
            )
        }
        _ => false,
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

/// The variable of a loop for what is also stored.
fn temporary(var: usize) -> String {
    format!("e{var}")
}
