//! The interfaces of synthesised nodes (section 9.1).
//!
//! The interface of `adj_N` depends on the types of N, because only `num` streams have derivatives. So N is
//! elaborated on its own first, as a *probe*, with the compile-time constants of the call.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use eddy_autodiff::section::Mode;
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Scalar, Static};
use rustc_hash::FxHashMap;

use super::{ElaborationOptions, elaborate_with};
use crate::infer::scalars_of;
use crate::program::{Base, Callable, Program};

/// An input or output of a node.
#[derive(Clone, Debug)]
pub struct Port {
    pub name: String,
    /// The span of its declaration; a synthesised port has the span of the port that it belongs to.
    pub span: Span,
    /// Whether it must be known at compile time.
    pub is_static: bool,
    /// Whether it is a `num`, which has derivatives. Set only for nodes that are differentiated.
    pub is_num: bool,
}

#[derive(Clone, Debug)]
pub struct Interface {
    pub inputs: Vec<Port>,
    pub outputs: Vec<Port>,
    pub n_parameters: usize,
    /// Names in use, which new ports must not have.
    names: BTreeSet<String>,
}

/// Compile-time knowledge about the inputs of an instance.
pub(super) struct KnownInputs<'a> {
    constants: Constants<'a>,
    /// For each input, whether it is the constant `false`.
    is_false: Vec<bool>,
}

/// Compile-time constants of inputs: by position for a call, by name for a run.
enum Constants<'a> {
    InOrder(Vec<Option<Static>>),
    ByName(&'a FxHashMap<String, Static>),
}

impl<'a> KnownInputs<'a> {
    /// For the arguments of a call.
    pub fn in_order(constants: Vec<Option<Static>>, is_false: Vec<bool>) -> Self {
        KnownInputs { constants: Constants::InOrder(constants), is_false }
    }

    /// For the constants of a run.
    pub fn by_name(constants: &'a FxHashMap<String, Static>) -> Self {
        KnownInputs { constants: Constants::ByName(constants), is_false: Vec::new() }
    }

    fn constant(&self, input: usize, name: &str) -> Option<Static> {
        match &self.constants {
            Constants::InOrder(constants) => constants.get(input).cloned().flatten(),
            Constants::ByName(constants) => constants.get(name).cloned(),
        }
    }
}

/// A cache of the interfaces of nodes that are differentiated.
#[derive(Default)]
pub(super) struct Probes(RefCell<FxHashMap<(Base, String), Rc<Interface>>>);

/// The interface of a node or of a node synthesised from it, with these compile-time constants.
pub fn interface(
    program: &Program,
    callable: &Callable,
    constants: &FxHashMap<String, Static>,
) -> Result<Interface, Vec<Diagnostic>> {
    let levels = levels(program, callable, &KnownInputs::by_name(constants), &Probes::default())?;
    let last = levels.into_iter().next_back().expect("the first level is the node itself");
    Ok(Rc::unwrap_or_clone(last))
}

/// The interfaces of the base and of each of its derivatives, innermost first.
pub(super) fn levels(
    program: &Program,
    callable: &Callable,
    known: &KnownInputs<'_>,
    probes: &Probes,
) -> Result<Vec<Rc<Interface>>, Vec<Diagnostic>> {
    if callable.modes.is_empty() {
        return Ok(vec![Rc::new(Interface::head(program, callable.base))]);
    }
    let mut level = Rc::unwrap_or_clone(probe(program, callable.base, known, probes)?);
    let mut levels = Vec::new();
    for mode in &callable.modes {
        // A constant does not vary, so it has no derivative.
        for (input, port) in level.inputs.iter_mut().enumerate() {
            port.is_num &= known.constant(input, &port.name).is_none();
        }
        let derived = level.derivative(*mode);
        levels.push(Rc::new(std::mem::replace(&mut level, derived)));
    }
    levels.push(Rc::new(level));
    Ok(levels)
}

/// The interface of a node, with types that are inferred from the node alone.
pub(super) fn probe(
    program: &Program,
    base: Base,
    known: &KnownInputs<'_>,
    probes: &Probes,
) -> Result<Rc<Interface>, Vec<Diagnostic>> {
    let mut interface = Interface::head(program, base);
    let constants: Vec<Option<Static>> = interface
        .inputs
        .iter()
        .enumerate()
        .map(|(input, port)| known.constant(input, &port.name).filter(|_| port.is_static))
        .collect();
    let key = (base, format!("{constants:?}{:?}", known.is_false));
    if let Some(found) = probes.0.borrow().get(&key) {
        return Ok(Rc::clone(found));
    }
    let names = interface.inputs.iter().map(|port| port.name.clone());
    let is_false = |input: &usize| known.is_false.get(*input).copied().unwrap_or(false);
    let given = ElaborationOptions {
        constants: names
            .clone()
            .zip(constants)
            .filter_map(|(name, constant)| Some((name, constant?)))
            .collect(),
        falses: names.enumerate().filter(|(input, _)| is_false(input)).map(|(_, name)| name).collect(),
        ..ElaborationOptions::default()
    };
    let draft = elaborate_with(program, &base.into(), &given, probes)?;
    let scalars = scalars_of(program, &draft)?;
    let streams = interface.inputs.iter_mut().filter(|port| !port.is_static);
    let pairs = streams.zip(&draft.inputs).chain(interface.outputs.iter_mut().zip(&draft.outputs));
    for (port, var) in pairs {
        port.is_num = scalars[var.index()] == Scalar::Num;
    }
    interface.n_parameters = draft.parameters.len();
    let interface = Rc::new(interface);
    probes.0.borrow_mut().insert(key, Rc::clone(&interface));
    Ok(interface)
}

impl Interface {
    /// The interface of a node with names and spans, but without types.
    pub(super) fn head(program: &Program, base: Base) -> Interface {
        let node = program.node(program.origin(base));
        let mut interface = Interface {
            inputs: Vec::new(),
            outputs: Vec::new(),
            n_parameters: 0,
            names: node.slots.iter().map(|slot| slot.name.clone()).collect(),
        };
        for (input, slot) in node.inputs().iter().enumerate() {
            let is_static = node.is_static[input];
            interface.inputs.push(Port {
                name: slot.name.clone(),
                span: slot.span,
                is_static,
                is_num: false,
            });
        }
        for output in &node.outputs {
            let slot = &node.slots[output.index()];
            interface.outputs.push(Port {
                name: slot.name.clone(),
                span: slot.span,
                is_static: false,
                is_num: false,
            });
        }
        let mut extra: Vec<&str> = Vec::new();
        let (end, cut) = match base {
            Base::Node(_) => (false, false),
            Base::Woven { end, cut, .. } => (end, cut),
            Base::Train(train) | Base::Test(train) => {
                (program.train(train).segment, program.train(train).truncate)
            }
        };
        extra.extend(end.then_some("end"));
        extra.extend(cut.then_some("cut"));
        if let Base::Train(_) | Base::Test(_) = base {
            extra.extend(["bp", "gt"]);
        }
        for name in extra {
            let port = interface.fresh("", name, node.span, false);
            interface.inputs.push(port);
        }
        if let Base::Train(_) | Base::Test(_) = base {
            let port = interface.fresh("", "loss", node.span, false);
            interface.outputs.push(port);
        }
        interface
    }

    /// The interface of a derivative.
    fn derivative(&self, mode: Mode) -> Interface {
        let mut derived = self.clone();
        let nums =
            |ports: &[Port]| -> Vec<Port> { ports.iter().filter(|port| port.is_num).cloned().collect() };
        let (inputs, outputs) = (nums(&self.inputs), nums(&self.outputs));
        let span = self.inputs.first().or(self.outputs.first()).map_or(Span::default(), |port| port.span);
        let (prefix, given, returned) = match mode {
            Mode::Adjoint | Mode::Diff => ("d", outputs, inputs),
            Mode::Tangent => ("t", inputs, outputs),
        };
        if mode == Mode::Diff {
            let bp = derived.fresh("", "bp", span, false);
            derived.inputs.push(bp);
        }
        for port in given {
            let port = derived.fresh(prefix, &port.name, port.span, true);
            derived.inputs.push(port);
        }
        if mode == Mode::Tangent {
            for number in 1..=self.n_parameters {
                let port = derived.fresh(prefix, &format!("param{number}"), span, true);
                derived.inputs.push(port);
            }
        }
        for port in returned {
            let port = derived.fresh(prefix, &port.name, port.span, true);
            derived.outputs.push(port);
        }
        match mode {
            Mode::Adjoint => {
                for number in 1..=self.n_parameters {
                    let port = derived.fresh(prefix, &format!("param{number}"), span, true);
                    derived.outputs.push(port);
                }
            }
            Mode::Diff => derived.n_parameters = 0,
            Mode::Tangent => {}
        }
        derived
    }

    /// A new port; appends `'` to the name until it is unused.
    fn fresh(&mut self, prefix: &str, name: &str, span: Span, is_num: bool) -> Port {
        let mut name = format!("{prefix}{name}");
        while !self.names.insert(name.clone()) {
            name.push('\'');
        }
        Port { name, span, is_static: false, is_num }
    }
}
