//! Test benches that give nodes or functions to their node: `run twice { f = tanh; x: 1 2; }`.

use eddy_syntax::Span;

use super::Composer;
use super::closure::{Closure, Part};
use super::expand::Scope;
use crate::program::{Base, Callable, ComposedBench, NodeId, Program, Slot};
use crate::resolve::synthesis;
use crate::static_value::constant_expression;
use crate::tree::{ExprId, RowValue, Run};

/// A test bench with the rows that are nodes or functions.
struct Bench {
    span: Span,
    template: NodeId,
    rows: Vec<(usize, ExprId)>,
}

impl Composer<'_> {
    /// Makes the node of each test bench that needs one.
    pub fn benches(&mut self) {
        let module = &self.program.modules[Program::MAIN];
        let bench = |run: &Run| {
            let Callable { base, .. } =
                synthesis::callable(module.names.text(run.node.name), &module.visible)?;
            let (Base::Node(template) | Base::Woven { node: template, .. }) = base else { return None };
            let node = self.program.node(template);
            let row = |(input, slot): (usize, &Slot)| {
                let mut rows = run.rows.iter().filter(|row| !row.is_expected);
                let given = rows.find(|row| module.names.text(row.ident.name) == slot.name)?;
                match given.value {
                    RowValue::Constant(value) => Some((input, value)),
                    RowValue::Cells(_) => None,
                }
            };
            let inputs = node.inputs().iter().enumerate().filter(|(_, slot)| slot.is_callable);
            node.is_template.then(|| Bench {
                span: run.span,
                template,
                rows: inputs.filter_map(row).collect(),
            })
        };
        let benches: Vec<Bench> = module.tree.runs().filter_map(bench).collect();
        for bench in benches {
            if let Some(made) = self.bench(&bench) {
                self.program.benches.insert(bench.span, made);
            }
            while let Some(task) = self.waiting.pop() {
                self.expand(task);
            }
        }
    }

    /// The node of a test bench; `None` if it lacks a callable, which is reported when it runs.
    fn bench(&mut self, bench: &Bench) -> Option<ComposedBench> {
        let mut scope = Scope::without_node(Program::MAIN, Vec::new());
        let node = self.program.node(bench.template);
        let inputs: Vec<usize> = (0..node.n_inputs).filter(|input| node.slots[*input].is_callable).collect();
        let mut written = Vec::new();
        let mut callables: Vec<(usize, Closure)> = Vec::new();
        for input in inputs {
            let row = bench.rows.iter().find(|(given, _)| *given == input);
            let closure = match row {
                Some((_, value)) => self.closure_of(&mut scope, *value, &mut written)?,
                None => self.default_of(bench.template, input)?,
            };
            callables.push((input, closure));
        }
        let (mut values, mut shares) = (Vec::new(), Vec::new());
        for (_, closure) in &callables {
            closure.collect(&mut values, &mut shares);
        }
        let made = self.specialised(bench.template, &callables, 0)?;
        let n_own = self.program.node(made).n_inputs - values.len();
        let mut constants = Vec::new();
        for (number, value) in values.iter().enumerate() {
            let constant = match value {
                Part::Written(at) => {
                    constant_expression(&self.program.modules[Program::MAIN].tree.exprs, written[*at])
                }
                Part::Constant(module, expr) => {
                    constant_expression(&self.program.modules[*module].tree.exprs, *expr)
                }
                Part::Slot(_) | Part::Default(_) => continue,
            };
            match constant {
                Ok(constant) => {
                    constants.push((self.program.node(made).slots[n_own + number].name.clone(), constant));
                }
                Err(diagnostic) => {
                    self.diagnostics.push(*diagnostic);
                    return None;
                }
            }
        }
        let rows = bench.rows.iter();
        let rows = rows.map(|(input, _)| self.program.node(bench.template).slots[*input].name.clone());
        Some(ComposedBench { node: made, rows: rows.collect(), constants })
    }
}
