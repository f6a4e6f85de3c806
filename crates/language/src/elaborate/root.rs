//! The root: the node that is run, with its constants and defaults.

use eddy_syntax::Diagnostic;
use rustc_hash::{FxHashMap, FxHashSet};

use super::instance::{self, Binding};
use super::interface::{self, KnownInputs};
use super::synthesis::Place;
use super::{ElaborationOptions, Elaborator, InstanceId, Work, without_body};
use crate::codes;
use crate::flow::Path;
use crate::program::{Callable, Node, Program};
use crate::static_value::Static;

impl Elaborator<'_> {
    pub(super) fn elaborate_root(&mut self, callable: &Callable, given: &ElaborationOptions) {
        self.root(callable, given);
        self.run();
        self.finish();
    }

    fn root(&mut self, callable: &Callable, given: &ElaborationOptions) {
        let origin = self.program.node(self.program.origin(callable.base));
        if origin.is_external() {
            self.diagnostics.push(without_body(&origin.name, origin.span, origin.span));
            return;
        }
        // Only inputs of the original node can be static.
        for (input, slot) in origin.inputs().iter().enumerate() {
            let has_value = given.constants.contains_key(&slot.name) || given.defaults.contains(&slot.name);
            if origin.is_static[input] && !has_value {
                let title = format!("the input `{}` must be a compile-time constant", slot.name);
                let diagnostic = Diagnostic::error(codes::COMPILE_TIME, slot.span, title)
                    .help(format!("give it in the run, `{} = …;`, or with `--const`", slot.name));
                self.diagnostics.push(diagnostic);
                return;
            }
        }
        if origin.is_template {
            self.diagnostics.push(needs_callables(origin));
            return;
        }
        let known = KnownInputs::by_name(&given.constants);
        let levels = match interface::levels(self.program, callable, &known, self.probes) {
            Ok(levels) => levels,
            Err(diagnostics) => {
                self.diagnostics = diagnostics;
                return;
            }
        };
        let Some(values) = self.root_values(callable, given) else { return };
        let mut bindings = Vec::new();
        let mut defaults = Vec::new();
        for (input, port) in levels[levels.len() - 1].inputs.iter().enumerate() {
            if let Some(constant) = values.get(input).cloned().flatten() {
                bindings.push(Binding::Static(constant));
                continue;
            }
            let var = self.var(Some(Path::default().name(port.name.as_str())), port.span);
            bindings.push(Binding::Stream(var));
            let default = origin.inputs().get(input).and_then(|slot| slot.default);
            match default.filter(|_| given.defaults.contains(&port.name)) {
                Some(default) => defaults.push((default, var)),
                None => {
                    self.draft.inputs.push(var);
                    if given.falses.contains(&port.name) {
                        self.falses.insert(var);
                    }
                }
            }
        }
        let span = self.program.span_of(callable);
        let place = Place::new(Path::default(), given.seed_path.clone(), span, None);
        self.instantiate(callable, &levels, place, bindings, Vec::new());
        // The defaults that are no compile-time constants are streams of the root.
        let root = InstanceId::new(0);
        for (default, var) in defaults.into_iter().rev() {
            self.work.push(Work::Drop(1));
            self.work.push(Work::Stream(root, default, Some(var)));
        }
    }

    /// The compile-time constants of the inputs of the root: those given, and defaults.
    fn root_values(
        &mut self,
        callable: &Callable,
        given: &ElaborationOptions,
    ) -> Option<Vec<Option<Static>>> {
        match root_values(self.program, callable, &given.constants, &given.defaults) {
            Ok(values) => Some(values),
            Err(diagnostic) => {
                self.diagnostics.push(*diagnostic);
                None
            }
        }
    }
}

/// The compile-time constants of the inputs of a node: those given, and the defaults of the inputs in
/// `defaults`.
fn root_values(
    program: &Program,
    callable: &Callable,
    constants: &FxHashMap<String, Static>,
    defaults: &FxHashSet<String>,
) -> Result<Vec<Option<Static>>, Box<Diagnostic>> {
    let id = program.origin(callable.base);
    let node = program.node(id);
    let mut values: Vec<Option<Static>> =
        node.inputs().iter().map(|slot| constants.get(&slot.name).cloned()).collect();
    let has_default = |input: &usize| {
        let slot = &node.slots[*input];
        values[*input].is_none() && !slot.is_callable && defaults.contains(&slot.name)
    };
    let defaults: Vec<usize> = (0..node.n_inputs).filter(has_default).collect();
    instance::static_defaults(program, id, &mut values, &defaults)?;
    Ok(values)
}

/// The defaults of the inputs of a node that are numbers or lists of integers, given its other constants.
pub fn static_defaults(
    program: &Program,
    callable: &Callable,
    constants: &FxHashMap<String, Static>,
) -> Result<Vec<(String, Static)>, Vec<Diagnostic>> {
    let defaults = program.defaults_of(callable);
    let values = root_values(program, callable, constants, &defaults).map_err(|error| vec![*error])?;
    let inputs = program.node(program.origin(callable.base)).inputs();
    let found = inputs.iter().zip(values).filter_map(|(slot, value)| Some((slot.name.clone(), value?)));
    Ok(found.filter(|(name, _)| !constants.contains_key(name)).collect())
}

/// The error about a node that runs without the nodes or functions that it needs.
fn needs_callables(node: &Node) -> Diagnostic {
    let names: Vec<&str> = node.callable_inputs().map(|slot| slot.name.as_str()).collect();
    let title = format!("`{}` needs a node or a function for `{}`", node.name, names.join("`, `"));
    Diagnostic::error(codes::COMPILE_TIME, node.span, title)
        .help(format!("give it in a test bench: `run {} {{ {} = tanh; … }}`", node.name, names[0]))
}
