//! What synthesised nodes are given and give (section 9.1).
//!
//! The interface of `adj_N` depends on the types of N: only `num` streams have derivatives. So N is elaborated on its own first, a
//! *probe*, with the compile-time constants that it is given.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use eddy_autodiff::section::Mode;
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Scalar, Static};
use rustc_hash::FxHashMap;

use super::{Given, elaborate_with};
use crate::infer::scalars_of;
use crate::program::{Base, Callable, Program};

/// An input or output.
#[derive(Clone, Debug)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Where it is declared; what is synthesised has the place of what it belongs to.
    pub span: Span,
    /// Whether it must be known at compile time.
    pub is_static: bool,
    /// Whether it is a `num`, which has derivatives. Only what derivatives are taken of was asked this.
    pub is_num: bool,
}

/// What a node is given and gives.
#[derive(Clone, Debug)]
pub struct Interface {
    /// The inputs.
    pub inputs: Vec<Port>,
    /// The outputs.
    pub outputs: Vec<Port>,
    /// How many parameters it has.
    pub n_parameters: usize,
    /// The names that are taken.
    names: BTreeSet<String>,
}

/// What is known about the inputs of a node when it is instantiated.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Known {
    /// The compile-time constants.
    pub constants: Vec<Option<Static>>,
    /// Which inputs are the constant `false`.
    pub is_false: Vec<bool>,
}

/// The interfaces of nodes that derivatives are taken of.
#[derive(Default)]
pub(super) struct Probes(RefCell<FxHashMap<(Base, String), Rc<Interface>>>);

/// The interface of a node or of what is synthesised from it, with these compile-time constants.
pub fn interface(
    program: &Program,
    callable: &Callable,
    constants: &FxHashMap<String, Static>,
) -> Result<Interface, Vec<Diagnostic>> {
    let head = Interface::head(program, callable.base);
    let constants = head.inputs.iter().map(|port| constants.get(&port.name).cloned()).collect();
    let known = Known { constants, is_false: Vec::new() };
    let levels = levels(program, callable, &known, &Probes::default())?;
    let last = levels.into_iter().next_back().expect("there is the node itself");
    Ok(Rc::unwrap_or_clone(last))
}

/// The interfaces of the base and of each derivative of it.
pub(super) fn levels(
    program: &Program,
    callable: &Callable,
    known: &Known,
    probes: &Probes,
) -> Result<Vec<Rc<Interface>>, Vec<Diagnostic>> {
    if callable.modes.is_empty() {
        return Ok(vec![Rc::new(Interface::head(program, callable.base))]);
    }
    let mut levels = vec![probe(program, callable.base, known, probes)?];
    for mode in &callable.modes {
        let derived = levels[levels.len() - 1].derivative(*mode);
        levels.push(Rc::new(derived));
    }
    Ok(levels)
}

/// The interface of a node with the types that it has on its own.
pub(super) fn probe(
    program: &Program,
    base: Base,
    known: &Known,
    probes: &Probes,
) -> Result<Rc<Interface>, Vec<Diagnostic>> {
    let mut interface = Interface::head(program, base);
    let constants: Vec<Option<Static>> = interface
        .inputs
        .iter()
        .enumerate()
        .map(|(input, port)| known.constants.get(input).cloned().flatten().filter(|_| port.is_static))
        .collect();
    let key = (base, format!("{constants:?}{:?}", known.is_false));
    if let Some(found) = probes.0.borrow().get(&key) {
        return Ok(Rc::clone(found));
    }
    let names = interface.inputs.iter().map(|port| port.name.clone());
    let is_false = |input: &usize| known.is_false.get(*input).copied().unwrap_or(false);
    let given = Given {
        constants: names
            .clone()
            .zip(constants)
            .filter_map(|(name, constant)| Some((name, constant?)))
            .collect(),
        falses: names.enumerate().filter(|(input, _)| is_false(input)).map(|(_, name)| name).collect(),
        ..Given::default()
    };
    let draft = elaborate_with(program, &base.into(), &given, probes)?;
    let scalars = scalars_of(&draft)?;
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
    /// Names and places, without types.
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
            let slot = &node.slots[output.0];
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
        let (prefix, given, got) = match mode {
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
        for port in got {
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

    /// A port with a name that is not taken: `'` is appended until it is not.
    fn fresh(&mut self, prefix: &str, name: &str, span: Span, is_num: bool) -> Port {
        let mut name = format!("{prefix}{name}");
        while !self.names.insert(name.clone()) {
            name.push('\'');
        }
        Port { name, span, is_static: false, is_num }
    }
}
