//! Rows of cells as values of the inputs' types.

use eddy_syntax::suggest::nearest;
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Data, Scalar, Shape, Static, Value};
use rustc_hash::FxHashMap;

use crate::cell::Cell;
use crate::codes;
use crate::elaborate::constant_expression;
use crate::flow::{Draft, Flow, VarId};
use crate::infer::{Hint, Hints};
use crate::program::{Node, NodeId, Program};
use crate::tree::{CellId, CellKind, Cells, RowValue, Run};

/// What a test bench gives to the inputs of its node.
pub(super) struct Rows<'a> {
    cells: &'a Cells,
    /// By the name of the input.
    rows: FxHashMap<String, Vec<CellId>>,
    pub constants: FxHashMap<String, Static>,
}

impl<'a> Rows<'a> {
    pub fn new(program: &'a Program, run: &Run, node: NodeId) -> Result<Self, Vec<Diagnostic>> {
        let module = &program.modules[Program::MAIN];
        let mut found =
            Rows { cells: &module.tree.cells, rows: FxHashMap::default(), constants: FxHashMap::default() };
        let mut diagnostics = Vec::new();
        let mut seen: FxHashMap<String, Span> = FxHashMap::default();
        for row in &run.rows {
            let name = module.names.text(row.ident.name).to_string();
            if !program.node(node).inputs().iter().any(|slot| slot.name == name) {
                diagnostics.push(no_input(program.node(node), &name, row.ident.span));
            }
            if let Some(earlier) = seen.insert(name.clone(), row.ident.span) {
                let title = format!("the row `{name}` is defined twice");
                diagnostics.push(
                    Diagnostic::error(codes::DEFINED_TWICE, row.ident.span, title)
                        .cause(earlier, "first here"),
                );
            }
            match &row.value {
                RowValue::Cells(list) => {
                    found.rows.insert(name, found.cells.items(*list).to_vec());
                }
                RowValue::Constant(expr) => match constant_expression(&module.tree.exprs, *expr) {
                    Ok(constant) => {
                        found.constants.insert(name, constant);
                    }
                    Err(diagnostic) => diagnostics.push(*diagnostic),
                },
            }
        }
        if diagnostics.is_empty() { Ok(found) } else { Err(diagnostics) }
    }

    /// The length of the longest row.
    pub fn n_cycles(&self) -> usize {
        self.rows.values().map(Vec::len).max().unwrap_or(0)
    }

    /// What the first present cell of each row says about its input.
    pub fn hints(&self, draft: &Draft) -> Hints {
        let mut hints = Hints::default();
        for input in &draft.inputs {
            let name = draft.vars[input.index()].name.as_deref().expect("inputs have names");
            let Some(row) = self.rows.get(name) else { continue };
            let present = row
                .iter()
                .find(|cell| !matches!(self.cells.kind(**cell), CellKind::Absent | CellKind::Unknown));
            let Some(first) = present else { continue };
            let (shape, leaf) = self.outline(*first);
            let span = self.cells.span(*first);
            hints.shapes.push(Hint { input: *input, says: shape, span });
            if let Some(CellKind::Bool(_)) = leaf {
                hints.scalars.push(Hint { input: *input, says: Scalar::Bool, span });
            }
        }
        hints
    }

    /// The shape of a cell, going by the first item of each list, and the first leaf.
    fn outline(&self, cell: CellId) -> (Shape, Option<CellKind>) {
        let (mut sizes, mut at) = (Vec::new(), cell);
        loop {
            match self.cells.kind(at) {
                CellKind::List(items) => {
                    sizes.push(items.len());
                    match self.cells.items(items).first() {
                        Some(first) => at = *first,
                        None => return (Shape::new(&sizes), None),
                    }
                }
                leaf => return (Shape::new(&sizes), Some(leaf)),
            }
        }
    }

    /// A row of cells for each input.
    pub fn cells(&self, flow: &Flow, n_cycles: usize) -> Result<Vec<Vec<Cell>>, Vec<Diagnostic>> {
        let mut all = Vec::new();
        for input in &flow.inputs {
            let mut row = vec![Cell::Absent; n_cycles];
            let name = flow.var(*input).name.as_deref().expect("inputs have names");
            let given = self.rows.get(name).map_or(&[][..], Vec::as_slice);
            for (cycle, (cell, id)) in row.iter_mut().zip(given).enumerate() {
                *cell = self.cell(flow, *input, *id, cycle).map_err(|diagnostic| vec![*diagnostic])?;
            }
            all.push(row);
        }
        Ok(all)
    }

    fn cell(&self, flow: &Flow, input: VarId, id: CellId, cycle: usize) -> Result<Cell, Box<Diagnostic>> {
        match self.cells.kind(id) {
            CellKind::Absent => return Ok(Cell::Absent),
            CellKind::Unknown => return Ok(Cell::Unknown),
            _ => {}
        }
        let ty = &flow.var(input).ty;
        let name = flow.var(input).name.as_deref().expect("inputs have names");
        let span = self.cells.span(id);
        let (shape, leaves) = self.flatten(id).ok_or_else(|| {
            let title =
                format!("the lists of `{name}` at cycle {cycle} are not all of one length: it has no shape");
            Box::new(Diagnostic::error(codes::DATA, span, title))
        })?;
        if shape != ty.shape {
            let title = format!("`{name}` has shape {shape} at cycle {cycle}, not {}", ty.shape);
            return Err(Box::new(
                Diagnostic::error(codes::DATA, span, title)
                    .cause(flow.var(input).span, format!("it is {ty}")),
            ));
        }
        match elements(&leaves, ty.scalar) {
            Some(data) => {
                Ok(Cell::Value(Value::new(shape, data).expect("as many elements as the shape has")))
            }
            None => {
                let title = format!("`{name}` must be {} at cycle {cycle}", ty.scalar);
                Err(Box::new(
                    Diagnostic::error(codes::DATA, span, title)
                        .cause(flow.var(input).span, format!("it is {ty}")),
                ))
            }
        }
    }

    /// The shape of a cell and its leaves; none if its lists are of different lengths.
    fn flatten(&self, id: CellId) -> Option<(Shape, Vec<CellKind>)> {
        let (shape, _) = self.outline(id);
        let mut level = vec![id];
        for size in shape.iter() {
            let mut next = Vec::new();
            for cell in level {
                match self.cells.kind(cell) {
                    CellKind::List(items) if items.len() == *size => next.extend(self.cells.items(items)),
                    _ => return None,
                }
            }
            level = next;
        }
        let leaves: Vec<CellKind> = level.into_iter().map(|cell| self.cells.kind(cell)).collect();
        let is_leaf =
            |kind: &CellKind| !matches!(kind, CellKind::List(_) | CellKind::Absent | CellKind::Unknown);
        leaves.iter().all(is_leaf).then_some((shape, leaves))
    }
}

/// The leaves as elements of a type, if they are.
#[allow(clippy::cast_precision_loss)] // an integer cell of a `num` is the nearest number
fn elements(leaves: &[CellKind], scalar: Scalar) -> Option<Data> {
    match scalar {
        Scalar::Bool => {
            let truth = |leaf: &CellKind| if let CellKind::Bool(truth) = leaf { Some(*truth) } else { None };
            leaves.iter().map(truth).collect::<Option<_>>().map(Data::Bool)
        }
        Scalar::Int => {
            let integer = |leaf: &CellKind| if let CellKind::Int(n) = leaf { Some(*n) } else { None };
            leaves.iter().map(integer).collect::<Option<_>>().map(Data::Int)
        }
        Scalar::Num => {
            let number = |leaf: &CellKind| match leaf {
                CellKind::Int(n) => Some(*n as f64),
                CellKind::Num(x) => Some(*x),
                _ => None,
            };
            leaves.iter().map(number).collect::<Option<_>>().map(Data::Num)
        }
    }
}

fn no_input(node: &Node, name: &str, span: Span) -> Diagnostic {
    let title = format!("the node `{}` has no input `{name}`", node.name);
    let diagnostic = Diagnostic::error(codes::DATA, span, title).cause(node.span, "declared here");
    match nearest(name, node.inputs().iter().map(|slot| slot.name.as_str())) {
        Some(meant) => diagnostic.suggest(span, meant),
        None => diagnostic,
    }
}
