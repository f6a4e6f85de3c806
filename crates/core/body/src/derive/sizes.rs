//! Which sizes of a body are known to be equal before it runs.
//!
//! A size is represented by its first occurrence: an axis of a name, or an `int`. Two sizes with the same
//! representative are equal whenever the statements that made them have succeeded. Sizes that are different
//! here may still be equal when the body runs.
//!
//! A representative is visible wherever the name is: no name of a region represents a size outside of the
//! region.

use rustc_hash::{FxHashMap, FxHashSet};

use eddy_tensor::{Op, ShapeRule};

use crate::clean::number_definitions;
use crate::ir::{At, Body, Control, Kind, Loop, Region, Stmt, Type, Var};
use crate::operation::{Operation, Sized};

/// A size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Size {
    Axis(Var, usize),
    Int(Var),
}

/// The sizes of the names of a body.
#[derive(Debug, Default)]
pub(crate) struct Sizes {
    shapes: FxHashMap<Var, Vec<Size>>,
    ints: FxHashMap<Var, Size>,
    equal: FxHashMap<Size, Size>,
    /// The sizes of one row of the rows of a loop, where they are known; `None` if rows are not examined.
    row_shapes: Option<FxHashMap<Var, Vec<Size>>>,
}

impl Sizes {
    pub fn new(body: &Body, types: &[Type]) -> Sizes {
        let mut sizes = Sizes::default();
        sizes.checks(&body.region);
        sizes.region(&body.region, types);
        sizes
    }

    /// The sizes of a body, with those of single rows that loops collect.
    pub fn with_rows(body: &Body, types: &[Type]) -> Sizes {
        let mut sizes = Sizes { row_shapes: Some(FxHashMap::default()), ..Sizes::default() };
        sizes.checks(&body.region);
        sizes.region(&body.region, types);
        sizes
    }

    /// The representative of an axis.
    pub fn axis(&self, var: Var, axis: usize) -> Size {
        self.shapes.get(&var).map_or_else(|| self.find(Size::Axis(var, axis)), |sizes| self.find(sizes[axis]))
    }

    /// The representative of an `int` that is used as a size.
    pub fn int(&self, var: Var) -> Size {
        self.find(self.ints.get(&var).copied().unwrap_or(Size::Int(var)))
    }

    fn find(&self, mut size: Size) -> Size {
        while let Some(other) = self.equal.get(&size) {
            size = *other;
        }
        size
    }

    fn shape(&self, var: Var, types: &[Type]) -> Vec<Size> {
        (0..types[var.index()].rank).map(|axis| self.axis(var, axis)).collect()
    }

    /// The checks at the start of a body hold for all later statements.
    fn checks(&mut self, region: &Region) {
        for stmt in &region.stmts {
            match &stmt.kind {
                Kind::Op(Operation::Size(axis), operands) => {
                    let size = self.axis(operands[0], *axis);
                    self.ints.insert(stmt.results[0], size);
                }
                Kind::Op(Operation::CheckSize, operands) => {
                    let (found, required) = (self.int(operands[0]), self.int(operands[1]));
                    if found != required {
                        self.equal.insert(found, required);
                    }
                }
                Kind::Const(_) => {}
                _ => return,
            }
        }
    }

    fn region(&mut self, region: &Region, types: &[Type]) {
        for stmt in &region.stmts {
            self.stmt(stmt, types);
        }
    }

    fn stmt(&mut self, stmt: &Stmt, types: &[Type]) {
        match &stmt.kind {
            Kind::Op(operation, operands) => self.operation(stmt, operation, operands, types),
            Kind::Index(array, at) => {
                let mut shape = Vec::new();
                for (axis, at) in at.iter().enumerate() {
                    match at {
                        At::Int(index) => shape.extend(self.shape(*index, types)),
                        At::All => shape.push(self.axis(*array, axis)),
                        At::Range(..) => shape.push(Size::Axis(stmt.results[0], shape.len())),
                    }
                }
                let rest = at.len()..types[array.index()].rank;
                let rows = self.row_shapes.as_ref().and_then(|rows| rows.get(array));
                match rows.filter(|_| matches!(at.first(), Some(At::Int(_)))) {
                    // There is a row.
                    Some(row) => shape.extend(rest.map(|axis| self.find(row[axis - 1]))),
                    None => shape.extend(rest.map(|axis| self.axis(*array, axis))),
                }
                self.shapes.insert(stmt.results[0], shape);
            }
            Kind::Update(array, ..) | Kind::Increase(array, ..) => self.alias(stmt.results[0], *array, types),
            Kind::If(_, yes, no) => {
                self.region(yes, types);
                self.region(no, types);
                for ((result, yes), no) in stmt.results.iter().zip(&yes.yields).zip(&no.yields) {
                    let (yes, no) = (self.shape(*yes, types), self.shape(*no, types));
                    if yes == no {
                        self.shapes.insert(*result, yes);
                    }
                }
            }
            Kind::Loop(repeat) => {
                for binding in repeat.states.iter().chain(&repeat.accs) {
                    self.alias(binding.var, binding.init, types);
                }
                if let Control::While(condition) = &repeat.control {
                    self.region(condition, types);
                }
                self.region(&repeat.body, types);
                for (state, result) in repeat.states.iter().zip(&stmt.results) {
                    self.alias(*result, state.init, types);
                }
                for (acc, result) in repeat.accs.iter().zip(&stmt.results[repeat.first_acc()..]) {
                    self.alias(*result, acc.init, types);
                }
                self.rows(stmt, types);
                self.single_rows(stmt, repeat, types);
            }
            Kind::Const(_) | Kind::Add(..) | Kind::Call(..) | Kind::Unpack(..) => {}
        }
    }

    fn alias(&mut self, var: Var, of: Var, types: &[Type]) {
        let shape = self.shape(of, types);
        self.shapes.insert(var, shape);
    }

    /// The rows of a loop whose count is a size.
    fn rows(&mut self, stmt: &Stmt, types: &[Type]) {
        let Kind::Loop(repeat) = &stmt.kind else { return };
        // A count may be negative, a size is not.
        let Some(n) =
            repeat.counter().map(|(_, count)| self.int(count)).filter(|n| matches!(n, Size::Axis(..)))
        else {
            return;
        };
        for (row, result) in repeat.collect.iter().zip(&stmt.results[repeat.first_row()..]) {
            // Without rows the inner sizes are 0, so they need not equal those of a row.
            let inner = (0..types[row.index()].rank).map(|axis| Size::Axis(*result, axis + 1));
            let shape = std::iter::once(n).chain(inner).collect();
            self.shapes.insert(*result, shape);
        }
    }

    /// The sizes of a row, where they come from outside of the loop.
    fn single_rows(&mut self, stmt: &Stmt, repeat: &Loop, types: &[Type]) {
        if self.row_shapes.is_none() {
            return;
        }
        let mut inside: FxHashSet<Var> = stmt.results.iter().copied().collect();
        inside.extend(repeat.states.iter().chain(&repeat.accs).map(|binding| binding.var));
        for region in stmt.kind.regions() {
            number_definitions(region, &mut |var| inside.extend([var]));
        }
        for (row, result) in repeat.collect.iter().zip(&stmt.results[repeat.first_row()..]) {
            let shape = self.shape(*row, types);
            let is_outside = |size: &Size| match size {
                Size::Axis(of, _) | Size::Int(of) => !inside.contains(of),
            };
            if shape.iter().all(is_outside)
                && let Some(rows) = &mut self.row_shapes
            {
                rows.insert(*result, shape);
            }
        }
    }

    fn operation(&mut self, stmt: &Stmt, operation: &Operation, operands: &[Var], types: &[Type]) {
        let Some(result) = stmt.results.first().copied() else { return };
        let shape = match operation {
            Operation::Size(axis) => {
                let size = self.axis(operands[0], *axis);
                self.ints.insert(result, size);
                return;
            }
            Operation::Fill | Operation::Sized(Sized::Reshape | Sized::Broadcast | Sized::Reduce) => {
                operands[1..].iter().map(|size| self.int(*size)).collect()
            }
            Operation::Table(op) => match self.table(op, operands, types) {
                Some(shape) => shape,
                None => return,
            },
            _ => return,
        };
        self.shapes.insert(result, shape);
    }

    fn table(&self, op: &Op, operands: &[Var], types: &[Type]) -> Option<Vec<Size>> {
        let first = || self.shape(operands[0], types);
        match op {
            Op::Sum(Some(axis)) | Op::Mean(Some(axis)) | Op::Max(Some(axis)) => {
                let mut shape = first();
                shape.remove(*axis);
                Some(shape)
            }
            Op::Softmax | Op::MaxMask(_) => Some(first()),
            Op::Transpose => Some(first().into_iter().rev().collect()),
            Op::Matmul => {
                let mut shape = first();
                shape.pop();
                shape.extend(&self.shape(operands[1], types)[1..]);
                Some(shape)
            }
            Op::Outer => Some([first(), self.shape(operands[1], types)].concat()),
            _ => match op.shape_rule() {
                ShapeRule::Equal => Some(first()),
                ShapeRule::Broadcast => {
                    let mut shapes =
                        operands.iter().map(|var| self.shape(*var, types)).filter(|shape| !shape.is_empty());
                    let shape = shapes.next().unwrap_or_default();
                    // Another shape may be stretched, or stretch this one.
                    shapes.all(|other| other == shape).then_some(shape)
                }
                _ => None,
            },
        }
    }
}
