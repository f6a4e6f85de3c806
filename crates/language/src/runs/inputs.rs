//! Converts rows of cells to values of the inputs' types.

use eddy_syntax::suggest::nearest;
use eddy_syntax::{Diagnostic, Diagnostics, Span};
use eddy_tensor::{Data, Scalar, Shape, Static, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::codes;
use crate::draft::Draft;
use crate::elaborate::Interface;
use crate::flow::{Flow, VarId};
use crate::infer::{Hint, Hints};
use crate::names::Names;
use crate::program::{Callable, ComposedBench, Enumerations, Node, Program, Slot};
use crate::semantics::Cell;
use crate::static_value::constant_expression;
use crate::tree::{CellId, CellKind, Cells, ExprId, ExprKind, Exprs, RowValue, Run};

/// The rows of a test bench.
pub(super) struct Rows<'a> {
    node: &'a Node,
    cells: &'a Cells,
    names_of_file: &'a Names,
    /// The names of all rows with their spans.
    names: Vec<(String, Span)>,
    /// Cells by the name of the input.
    rows: FxHashMap<String, Vec<CellId>>,
    pub constants: FxHashMap<String, Static>,
    /// The cells that streams must have.
    pub expected: Vec<ExpectedRow>,
}

/// A row `expect o: 1 2;`.
#[derive(Clone)]
pub(super) struct ExpectedRow {
    pub name: String,
    pub span: Span,
    cells: Vec<CellId>,
}

impl<'a> Rows<'a> {
    pub fn new(
        program: &'a Program,
        run: &Run,
        callable: &Callable,
        composed: Option<&ComposedBench>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let module = &program.modules[Program::MAIN];
        let mut found = Rows {
            node: program.node(program.origin(callable.base)),
            cells: &module.tree.cells,
            names_of_file: &module.names,
            names: Vec::new(),
            rows: FxHashMap::default(),
            expected: Vec::new(),
            constants: composed.iter().flat_map(|bench| bench.constants.iter().cloned()).collect(),
        };
        let mut diagnostics = Vec::new();
        let mut seen: FxHashMap<String, Span> = FxHashMap::default();
        for row in run.rows.iter().filter(|row| row.is_expected) {
            let RowValue::Cells(list) = row.value else { continue };
            let name = module.names.text(row.ident.name).to_string();
            if let Some(earlier) = found.expected.iter().find(|earlier| earlier.name == name) {
                let title = format!("the cells of `{name}` are expected twice");
                diagnostics.push(
                    Diagnostic::error(codes::DEFINED_TWICE, row.ident.span, title)
                        .cause(earlier.span, "first here"),
                );
            }
            let cells = found.cells.items(list).to_vec();
            found.expected.push(ExpectedRow { name, span: row.ident.span, cells });
        }
        for row in run.rows.iter().filter(|row| !row.is_expected) {
            let name = module.names.text(row.ident.name).to_string();
            // A row that is a node or a function is part of the node.
            if composed.is_some_and(|bench| bench.rows.contains(&name)) {
                continue;
            }
            found.names.push((name.clone(), row.ident.span));
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
                    Err(diagnostic) => {
                        let boolean = boolean(&module.tree.exprs, *expr);
                        diagnostics.push(match boolean {
                            Some(boolean) => boolean_constant(&name, boolean, *diagnostic),
                            None => *diagnostic,
                        });
                    }
                },
            }
        }
        if diagnostics.is_empty() {
            diagnostics.extend(found.missing_constants(run, &seen));
        }
        if diagnostics.is_empty() { Ok(found) } else { Err(diagnostics) }
    }

    /// Reports rows that are not for an input of the node.
    pub fn check_names(
        &self,
        node: &str,
        declared: Span,
        interface: &Interface,
    ) -> Result<(), Vec<Diagnostic>> {
        let inputs: FxHashSet<&str> = interface.inputs.iter().map(|port| port.name.as_str()).collect();
        let mut diagnostics = Diagnostics::default();
        for (name, span) in self.names.iter().filter(|(name, _)| !inputs.contains(name.as_str())) {
            diagnostics.push_with(|| unknown_input(node, declared, interface, name, *span));
        }
        if diagnostics.is_empty() { Ok(()) } else { Err(diagnostics.into_sorted()) }
    }

    fn input(&self, name: &str) -> Option<&'a Slot> {
        self.node.inputs().iter().find(|slot| slot.name == name)
    }

    /// Errors about inputs that must be known at compile time but are missing or are rows of cells.
    fn missing_constants(&self, run: &Run, seen: &FxHashMap<String, Span>) -> Vec<Diagnostic> {
        let missing = self.node.static_inputs().filter(|slot| {
            let has_default = slot.default.is_some() && !seen.contains_key(&slot.name);
            !self.constants.contains_key(&slot.name) && !has_default
        });
        let missing_constant = |slot: &Slot| {
            let name = &slot.name;
            let (span, title, help) = match seen.get(name) {
                Some(row) => (
                    *row,
                    format!("the input `{name}` must be a compile-time constant, not a row of cells"),
                    format!("write it with `=`: `{name} = …;`"),
                ),
                None => (
                    run.node.span,
                    format!("this run gives no compile-time constant `{name}`"),
                    format!("add a row `{name} = …;` with a number such as `3` or a list such as `[2,3]`"),
                ),
            };
            let diagnostic = Diagnostic::error(codes::COMPILE_TIME, span, title);
            diagnostic.cause(slot.span, format!("`{name}` is used as a size or a shape")).help(help)
        };
        missing.map(missing_constant).collect()
    }

    /// Whether an input has a row of cells.
    pub fn has_cells(&self, name: &str) -> bool {
        self.rows.contains_key(name)
    }

    /// The length of the longest row.
    pub fn n_cycles(&self) -> usize {
        let expected = self.expected.iter().map(|row| row.cells.len());
        self.rows.values().map(Vec::len).chain(expected).max().unwrap_or(0)
    }

    /// The cells of a row that is expected of a stream, with their places.
    pub fn expected_cells(
        &self,
        flow: &Flow,
        var: VarId,
        row: &ExpectedRow,
        cases: Option<&[String]>,
    ) -> Result<Vec<(Cell, Span)>, Vec<Diagnostic>> {
        let cell = |(cycle, id): (usize, &CellId)| {
            let cell = self.cell_of(flow, (var, &row.name), *id, cycle, cases);
            cell.map(|cell| (cell, self.cells.span(*id))).map_err(|diagnostic| vec![*diagnostic])
        };
        row.cells.iter().enumerate().map(cell).collect()
    }

    /// Types and shapes of the inputs, from the first present cell of each row.
    pub fn hints(&self, draft: &Draft) -> Hints {
        let mut hints = Hints::default();
        for input in &draft.inputs {
            let name = draft.vars[input.index()].name.as_deref().expect("inputs have names");
            let Some(first) = self.first_value(name) else { continue };
            let (shape, leaf) = self.outline(first);
            let span = self.cells.span(first);
            hints.shapes.push(Hint { input: *input, says: shape, span });
            if let Some(CellKind::Bool(_)) = leaf {
                hints.scalars.push(Hint { input: *input, says: Scalar::Bool, span });
            }
        }
        hints
    }

    /// The first cell of a row that is a value.
    fn first_value(&self, name: &str) -> Option<CellId> {
        let is_value =
            |cell: &CellId| !matches!(self.cells.kind(*cell), CellKind::Absent | CellKind::Unknown);
        self.rows.get(name)?.iter().copied().find(is_value)
    }

    /// The shape of a cell according to the first item of each list, and its first leaf.
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

    /// The cells of each input, padded with absent cells.
    pub fn cells(
        &self,
        flow: &Flow,
        n_cycles: usize,
        enumerations: &Enumerations,
    ) -> Result<Vec<Vec<Cell>>, Vec<Diagnostic>> {
        let mut all = Vec::new();
        for input in &flow.inputs {
            let mut row = vec![Cell::Absent; n_cycles];
            let name = flow.var(*input).name.as_deref().expect("inputs have names");
            let given = self.rows.get(name).map_or(&[][..], Vec::as_slice);
            let cases = enumerations.get(name).map(Vec::as_slice);
            for (cycle, (cell, id)) in row.iter_mut().zip(given).enumerate() {
                let read = self.cell(flow, *input, *id, cycle, cases);
                *cell = read.map_err(|diagnostic| vec![*diagnostic])?;
            }
            all.push(row);
        }
        Ok(all)
    }

    fn cell(
        &self,
        flow: &Flow,
        input: VarId,
        id: CellId,
        cycle: usize,
        cases: Option<&[String]>,
    ) -> Result<Cell, Box<Diagnostic>> {
        let name = flow.var(input).name.as_deref().expect("inputs have names");
        self.cell_of(flow, (input, name), id, cycle, cases)
    }

    /// The cell of a stream, which messages call `name`.
    fn cell_of(
        &self,
        flow: &Flow,
        (input, name): (VarId, &str),
        id: CellId,
        cycle: usize,
        cases: Option<&[String]>,
    ) -> Result<Cell, Box<Diagnostic>> {
        match self.cells.kind(id) {
            CellKind::Absent => return Ok(Cell::Absent),
            CellKind::Unknown => return Ok(Cell::Unknown),
            _ => {}
        }
        let ty = &flow.var(input).ty;
        let about = CellPlace { name, cycle };
        let (shape, leaves) = self.flatten(id, &about)?;
        if shape != ty.shape {
            let title = format!("`{name}` has shape {shape} at cycle {cycle}, not {}", ty.shape);
            let diagnostic = Diagnostic::error(codes::DATA, self.cells.span(id), title);
            return Err(Box::new(self.with_shape(diagnostic, flow, (input, name), id)));
        }
        let kinds = leaves.iter().map(|leaf| self.with_number(*leaf, name, cases));
        let kinds: Vec<CellKind> = kinds.collect::<Result<_, _>>()?;
        match elements(&kinds, ty.scalar) {
            Ok(data) => Ok(Cell::Value(Value::new(shape, data).expect("as many elements as the shape has"))),
            Err(wrong) => {
                let title = format!("`{name}` must be {} at cycle {cycle}", ty.scalar);
                Err(Box::new(
                    Diagnostic::error(codes::DATA, self.cells.span(leaves[wrong]), title)
                        .cause(flow.var(input).span, format!("it is {ty}")),
                ))
            }
        }
    }

    /// The kind of a leaf, with an enumerator replaced by its number.
    fn with_number(
        &self,
        leaf: CellId,
        name: &str,
        cases: Option<&[String]>,
    ) -> Result<CellKind, Box<Diagnostic>> {
        let (kind, span) = (self.cells.kind(leaf), self.cells.span(leaf));
        match (kind, cases) {
            (CellKind::Enumerator(given), Some(cases)) => {
                let given = self.names_of_file.text(given);
                if let Some(number) = cases.iter().position(|case| case == given) {
                    return Ok(CellKind::Int(i64::try_from(number).expect("fewer enumerators than bytes")));
                }
                let title = format!("`{given}` is no enumerator of `{name}`");
                let diagnostic = Diagnostic::error(codes::DATA, span, title);
                Err(Box::new(match nearest(given, cases.iter().map(String::as_str)) {
                    Some(meant) => diagnostic.suggest(span, meant),
                    None => diagnostic.help(format!("its enumerators are `{}`", cases.join("`, `"))),
                }))
            }
            (CellKind::Enumerator(given), None) => {
                let given = self.names_of_file.text(given);
                let title = format!("`{given}` is no value of `{name}`");
                let help =
                    "a cell is a number, `t`, `f`, `.` for absent, `?` for unknown, or a list of these";
                Err(Box::new(Diagnostic::error(codes::DATA, span, title).help(help)))
            }
            (_, Some(cases)) => {
                let title = format!("`{name}` takes the name of an enumerator here");
                let help = format!("its enumerators are `{}`", cases.join("`, `"));
                Err(Box::new(Diagnostic::error(codes::DATA, span, title).help(help)))
            }
            (kind, None) => Ok(kind),
        }
    }

    /// Adds the origin of an input's shape: its annotation, its first cell, or the program.
    fn with_shape(
        &self,
        diagnostic: Diagnostic,
        flow: &Flow,
        (input, name): (VarId, &str),
        id: CellId,
    ) -> Diagnostic {
        let var = flow.var(input);
        let annotations = self.input(name).map_or(&[][..], |slot| slot.annotations.as_slice());
        let is_written = annotations.iter().any(|annotation| annotation.dims.is_some());
        match self.first_value(name) {
            Some(first) if !is_written && first != id => {
                diagnostic.cause(self.cells.span(first), "the first cell determines the shape")
            }
            _ => diagnostic.cause(var.span, format!("it is {}", var.ty)),
        }
    }

    /// The shape of a cell and its leaves.
    fn flatten(&self, id: CellId, about: &CellPlace<'_>) -> Result<(Shape, Vec<CellId>), Box<Diagnostic>> {
        let (shape, _) = self.outline(id);
        let mut level = vec![id];
        for depth in 0..shape.len() {
            let mut next = Vec::new();
            for cell in &level {
                match self.cells.kind(*cell) {
                    CellKind::List(items) if items.len() == shape[depth] => {
                        next.extend(self.cells.items(items));
                    }
                    _ => return Err(self.ragged(level[0], *cell, about)),
                }
            }
            level = next;
        }
        match level.iter().find(|leaf| !is_leaf(self.cells.kind(**leaf))) {
            Some(wrong) => Err(self.ragged(level[0], *wrong, about)),
            None => Ok((shape, level)),
        }
    }

    /// The error about an item of a list that differs in shape from the first item.
    fn ragged(&self, first: CellId, wrong: CellId, about: &CellPlace<'_>) -> Box<Diagnostic> {
        let CellPlace { name, cycle } = about;
        let span = self.cells.span(wrong);
        if matches!(self.cells.kind(wrong), CellKind::Absent | CellKind::Unknown) {
            let title = format!(
                "`{name}` must be present as a whole at cycle {cycle}, but this item is absent or unknown"
            );
            return Box::new(
                Diagnostic::error(codes::DATA, span, title)
                    .help("`.` and `?` stand for a whole cell, not for an item of a list"),
            );
        }
        let (found, expected) = (self.outline(wrong).0, self.outline(first).0);
        let title = format!(
            "the items of `{name}` at cycle {cycle} must have the same shape: this one has shape {found}"
        );
        Box::new(
            Diagnostic::error(codes::DATA, span, title)
                .cause(self.cells.span(first), format!("the first one has shape {expected}")),
        )
    }
}

/// The cell that an error is about.
struct CellPlace<'a> {
    name: &'a str,
    cycle: usize,
}

fn is_leaf(kind: CellKind) -> bool {
    !matches!(kind, CellKind::List(_) | CellKind::Absent | CellKind::Unknown)
}

fn boolean(exprs: &Exprs, expr: ExprId) -> Option<bool> {
    match exprs.kind(exprs.without_parentheses(expr)) {
        ExprKind::Bool(boolean) => Some(boolean),
        _ => None,
    }
}

/// The error about `c = true;`.
fn boolean_constant(name: &str, boolean: bool, diagnostic: Diagnostic) -> Diagnostic {
    let cell = if boolean { "t" } else { "f" };
    Diagnostic { title: "a Boolean is not a compile-time constant".to_string(), ..diagnostic }
        .help(format!("give `{name}` a cell for each cycle: `{name}: {cell} {cell} {cell};`"))
}

/// The leaves as elements of a type, or the index of the first one that does not fit.
#[allow(clippy::cast_precision_loss)] // an integer cell of a `num` is rounded to the nearest double
fn elements(leaves: &[CellKind], scalar: Scalar) -> Result<Data, usize> {
    match scalar {
        Scalar::Bool => {
            let boolean =
                |leaf: &CellKind| if let CellKind::Bool(boolean) = leaf { Some(*boolean) } else { None };
            all(leaves, boolean).map(Data::Bool)
        }
        Scalar::Int => {
            let integer = |leaf: &CellKind| if let CellKind::Int(n) = leaf { Some(*n) } else { None };
            all(leaves, integer).map(Data::Int)
        }
        Scalar::Num => {
            let number = |leaf: &CellKind| match leaf {
                CellKind::Int(n) => Some(*n as f64),
                CellKind::Num(x) => Some(*x),
                _ => None,
            };
            all(leaves, number).map(Data::Num)
        }
    }
}

fn all<T>(leaves: &[CellKind], element: impl Fn(&CellKind) -> Option<T>) -> Result<Vec<T>, usize> {
    leaves.iter().enumerate().map(|(index, leaf)| element(leaf).ok_or(index)).collect()
}

fn unknown_input(node: &str, declared: Span, interface: &Interface, name: &str, span: Span) -> Diagnostic {
    let title = format!("the node `{node}` has no input `{name}`");
    let diagnostic = Diagnostic::error(codes::DATA, span, title).cause(declared, "declared here");
    let is_leaf = |leaf: &&str| leaf.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    let names = interface.inputs.iter().map(|port| port.name.as_str());
    let leaves: Vec<String> = names.filter(is_leaf).map(|leaf| format!("`{leaf}: …;`")).collect();
    if !leaves.is_empty() {
        return diagnostic
            .help(format!("`{name}` is a record, which has a row for each leaf: {}", leaves.join(" ")));
    }
    match nearest(name, interface.inputs.iter().map(|port| port.name.as_str())) {
        Some(meant) => diagnostic.suggest(span, meant),
        None => diagnostic,
    }
}
