//! The names in a state machine: which streams are shared, and what a state reads from around it.

use rustc_hash::FxHashSet;

use crate::names::Name;
use crate::static_value::postorder;
use crate::tree::{
    Automaton, Equation, ExprId, ExprKind, Exprs, Form, Ident, Node, Program, State, TransitionKind,
};

/// The names of the node around a machine.
pub(super) struct Owner {
    /// Streams and `let`s.
    streams: FxHashSet<Name>,
    /// Those that are called, or that are `let`s: nodes and functions, which no clock samples.
    callables: FxHashSet<Name>,
    outputs: FxHashSet<Name>,
    /// Those that equations outside of all machines read.
    read_outside: FxHashSet<Name>,
}

impl Owner {
    pub fn new(tree: &Program, node: &Node) -> Owner {
        let exprs = &tree.exprs;
        let outside = node.equations.iter().map(|equation| equation.value);
        let outside: Vec<ExprId> = outside.chain(node.lets.iter().map(|item| item.value)).collect();
        let inside = node.automata.iter().flat_map(|machine| machine.states.iter().flat_map(parts));
        let all: Vec<ExprId> = outside.iter().copied().chain(inside).collect();
        let mut streams: FxHashSet<Name> =
            node.inputs.iter().chain(&node.outputs).map(|decl| decl.ident.name).collect();
        streams.extend(node.equations.iter().flat_map(Equation::decls).map(|decl| decl.ident.name));
        streams.extend(node.lets.iter().map(|item| item.ident.name));
        for machine in &node.automata {
            streams.extend(machine.stream.map(|(stream, _)| stream.name));
            let defined = machine.states.iter().flat_map(|state| &state.equations);
            streams.extend(defined.flat_map(Equation::decls).map(|decl| decl.ident.name));
        }
        let called = all.iter().flat_map(|root| postorder(exprs, *root)).filter_map(|expr| {
            if let ExprKind::Call(name, _) = exprs.kind(expr) { Some(name) } else { None }
        });
        let mut callables: FxHashSet<Name> = called.collect();
        callables.extend(node.lets.iter().map(|item| item.ident.name));
        callables.extend(node.inputs.iter().filter(|decl| decl.is_callable).map(|decl| decl.ident.name));
        Owner {
            streams,
            callables,
            outputs: node.outputs.iter().map(|decl| decl.ident.name).collect(),
            read_outside: outside
                .iter()
                .flat_map(|root| read(exprs, *root))
                .map(|ident| ident.name)
                .collect(),
        }
    }

    pub fn is_callable(&self, name: Name) -> bool {
        self.callables.contains(&name)
    }
}

/// The expressions of a state.
fn parts(state: &State) -> impl Iterator<Item = ExprId> + '_ {
    let equations = state.equations.iter().map(|equation| equation.value);
    let lets = state.lets.iter().map(|item| item.value);
    equations.chain(lets).chain(state.transitions.iter().map(|transition| transition.condition))
}

/// The variables and callees in an expression, without those of `last`.
fn read(exprs: &Exprs, root: ExprId) -> Vec<Ident> {
    let ident = |expr: ExprId| match exprs.kind(expr) {
        ExprKind::Variable(name) | ExprKind::Call(name, _) => Some(Ident { name, span: exprs.at(expr) }),
        _ => None,
    };
    postorder(exprs, root).into_iter().filter_map(ident).collect()
}

/// The names of `last` in an expression.
fn lasts(exprs: &Exprs, root: ExprId) -> Vec<Ident> {
    let ident = |expr: ExprId| match exprs.kind(expr) {
        ExprKind::Form(form, _) => match exprs.form(form) {
            Form::Last(ident) => Some(*ident),
            _ => None,
        },
        _ => None,
    };
    postorder(exprs, root).into_iter().filter_map(ident).collect()
}

/// What a machine defines.
pub(super) struct Shared {
    /// In the order in which they are defined, each with its first definition.
    pub streams: Vec<Ident>,
    /// All streams that some state defines, shared or not.
    pub defined: FxHashSet<Name>,
    /// The streams whose last value is read, with the first place.
    pub lasts: Vec<(Ident, usize)>,
}

pub(super) fn defines(state: &State, name: Name) -> bool {
    state.equations.iter().flat_map(Equation::decls).any(|decl| decl.ident.name == name)
}

impl Shared {
    pub fn new(tree: &Program, owner: &Owner, others: &[&Automaton], machine: &Automaton) -> Shared {
        let exprs = &tree.exprs;
        let mut written: Vec<Ident> = Vec::new();
        for decl in machine.states.iter().flat_map(|state| &state.equations).flat_map(Equation::decls) {
            if !written.iter().any(|ident| ident.name == decl.ident.name) {
                written.push(decl.ident);
            }
        }
        let elsewhere: FxHashSet<Name> = others
            .iter()
            .flat_map(|other| other.states.iter().flat_map(parts))
            .flat_map(|root| read(exprs, root))
            .map(|ident| ident.name)
            .collect();
        let mut last_read: Vec<(Ident, usize)> = Vec::new();
        for (number, state) in machine.states.iter().enumerate() {
            for ident in parts(state).flat_map(|root| lasts(exprs, root)) {
                last_read.push((ident, number));
            }
        }
        let is_read_by_another = |name: Name| {
            let others = machine.states.iter().filter(|state| !defines(state, name));
            others.flat_map(parts).flat_map(|root| read(exprs, root)).any(|ident| ident.name == name)
        };
        let is_shared = |ident: &Ident| {
            owner.outputs.contains(&ident.name)
                || owner.read_outside.contains(&ident.name)
                || elsewhere.contains(&ident.name)
                || last_read.iter().any(|(last, _)| last.name == ident.name)
                || machine.lasts.iter().any(|last| last.ident.name == ident.name)
                || is_read_by_another(ident.name)
        };
        let defined = written.iter().map(|ident| ident.name).collect();
        let streams: Vec<Ident> = written.into_iter().filter(is_shared).collect();
        // A stream that a state does not define keeps its value there.
        for ident in &streams {
            let silent = machine.states.iter().position(|state| !defines(state, ident.name));
            last_read.extend(silent.map(|state| (*ident, state)));
        }
        Shared { streams, defined, lasts: last_read }
    }
}

/// What a state reads from around it: streams, and last values.
#[derive(Default)]
pub(super) struct Captured {
    pub streams: Vec<Name>,
    pub lasts: Vec<Name>,
}

impl Captured {
    pub fn new(tree: &Program, owner: &Owner, state: &State, kind: TransitionKind) -> Captured {
        let exprs = &tree.exprs;
        let roots: Vec<ExprId> = match kind {
            TransitionKind::Until => {
                let is_unless = |root: &ExprId| {
                    let mut unless = state
                        .transitions
                        .iter()
                        .filter(|transition| transition.kind == TransitionKind::Unless);
                    unless.any(|transition| transition.condition == *root)
                };
                parts(state).filter(|root| !is_unless(root)).collect()
            }
            TransitionKind::Unless => {
                let unless =
                    state.transitions.iter().filter(|transition| transition.kind == TransitionKind::Unless);
                unless.map(|transition| transition.condition).collect()
            }
        };
        let mut captured = Captured::default();
        let is_local = |name: Name| {
            kind == TransitionKind::Until
                && (defines(state, name) || state.lets.iter().any(|item| item.ident.name == name))
        };
        for root in roots {
            for ident in read(exprs, root) {
                let name = ident.name;
                if owner.streams.contains(&name) && !is_local(name) && !captured.streams.contains(&name) {
                    captured.streams.push(name);
                }
            }
            for ident in lasts(exprs, root) {
                if !captured.lasts.contains(&ident.name) {
                    captured.lasts.push(ident.name);
                }
            }
        }
        captured
    }
}

/// A stream that the machine defines at this cycle and that `unless` reads, which it must not.
pub(super) fn read_before(tree: &Program, state: &State, shared: &Shared) -> Option<Ident> {
    let unless = state.transitions.iter().filter(|transition| transition.kind == TransitionKind::Unless);
    let read = unless.flat_map(|transition| read(&tree.exprs, transition.condition));
    let mut wrong = read.filter(|ident| shared.defined.contains(&ident.name));
    wrong.next()
}
