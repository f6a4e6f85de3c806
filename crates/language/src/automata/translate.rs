//! The nodes and equations that a state machine stands for.

use eddy_syntax::{Diagnostic, Span};

use super::build::{Builder, decl};
use super::names::{Captured, Owner, Shared, defines, read_before};
use crate::codes;
use crate::names::{Name, Names};
use crate::tree::{
    Automaton, Contract, Decl, Definition, Equation, ExprId, Ident, Item, Let, Node, Probe, Program, State,
    Transition, TransitionKind, TypeDef,
};

/// The names of a machine.
struct Machine {
    /// The part of instance paths: `automaton#1`, or the name of its stream.
    path: String,
    node: String,
    /// The stream of the state.
    stream: Name,
    /// The constructor of each state.
    constructors: Vec<Ident>,
    shared: Shared,
}

impl Machine {
    /// The name of a stream that no program can have: `m:next`.
    fn hidden(&self, what: &str) -> String {
        format!("{}:{what}", self.path)
    }

    /// The name of the node of a state: `n/m/grow`.
    fn node_of(&self, what: &str) -> String {
        format!("{}/{}/{what}", self.node, self.path)
    }
}

/// The name of the stream that holds the last value of a shared stream.
fn last_of(stream: &str) -> String {
    format!("{stream}:last")
}

/// The equations of machine number `number` of a node; adds the nodes of its states, and their type.
pub(super) fn machine(
    tree: &mut Program,
    names: &mut Names,
    node: &Node,
    owner: &Owner,
    number: usize,
) -> Result<Vec<Equation>, Vec<Diagnostic>> {
    let automaton = &node.automata[number];
    let others: Vec<&Automaton> = node
        .automata
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != number)
        .map(|(_, other)| other)
        .collect();
    let shared = Shared::new(tree, owner, &others, automaton);
    let errors = refused(tree, names, automaton, &shared);
    if !errors.is_empty() {
        return Err(errors);
    }
    let node_name = names.text(node.ident.name).to_string();
    let path = match automaton.stream {
        Some((stream, _)) => names.text(stream.name).to_string(),
        None => format!("automaton#{}", number + 1),
    };
    let mut machine = Machine {
        stream: match automaton.stream {
            Some((stream, _)) => stream.name,
            None => names.intern(&format!("{path}/state")),
        },
        path,
        node: node_name,
        constructors: automaton.states.iter().map(|state| state.ident).collect(),
        shared,
    };
    if automaton.stream.is_none() {
        declare_states(tree, names, &mut machine, automaton);
    }
    let mut builder = Builder { tree, names, span: automaton.word };
    let mut translation = Translation { machine: &machine, automaton, owner, equations: Vec::new() };
    translation.state_of(&mut builder);
    translation.states(&mut builder);
    translation.shared(&mut builder);
    Ok(translation.equations)
}

/// The type of the states of a machine without a name: an enumeration of its own.
fn declare_states(tree: &mut Program, names: &mut Names, machine: &mut Machine, automaton: &Automaton) {
    let type_name = machine.node_of("state");
    for constructor in &mut machine.constructors {
        let text = format!("{type_name}.{}", names.text(constructor.name));
        constructor.name = names.intern(&text);
    }
    let span = automaton.word;
    tree.items.push(Item::Type(TypeDef {
        ident: Ident { name: names.intern(&type_name), span },
        doc: None,
        sizes: Vec::new(),
        definition: Definition::Enumeration(machine.constructors.clone(), span),
        at: span,
        span,
    }));
}

/// Warnings about states that no transition reaches.
pub(super) fn unreached(names: &Names, automaton: &Automaton) -> Vec<Diagnostic> {
    let is_reached = |state: &State| {
        let mut transitions = automaton.states.iter().flat_map(|state| &state.transitions);
        transitions.any(|transition| transition.target.name == state.ident.name)
    };
    let unreached = automaton.states.iter().skip(1).filter(|state| !is_reached(state));
    let warning = |state: &State| {
        let title = format!("no transition reaches the state `{}`", names.text(state.ident.name));
        Diagnostic::warning(codes::AUTOMATON, state.ident.span, title)
    };
    unreached.map(warning).collect()
}

/// The errors of a machine.
fn refused(tree: &Program, names: &Names, automaton: &Automaton, shared: &Shared) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    let error = |span: Span, title: String| Diagnostic::error(codes::AUTOMATON, span, title);
    if automaton.states.is_empty() {
        errors.push(error(automaton.word, "an automaton has at least one state".to_string()));
    }
    for (number, state) in automaton.states.iter().enumerate() {
        let name = names.text(state.ident.name);
        if let Some(first) =
            automaton.states[..number].iter().find(|other| other.ident.name == state.ident.name)
        {
            let title = format!("the state `{name}` is defined twice");
            errors.push(error(state.ident.span, title).cause(first.ident.span, "the first definition"));
        }
        for transition in &state.transitions {
            let target = transition.target;
            if !automaton.states.iter().any(|state| state.ident.name == target.name) {
                let title = format!("unknown state '{}'", names.text(target.name));
                let known: Vec<&str> =
                    automaton.states.iter().map(|state| names.text(state.ident.name)).collect();
                let help = format!("the states are `{}`", known.join("`, `"));
                errors.push(error(target.span, title).help(help));
            }
        }
        if let Some(ident) = read_before(tree, state, shared) {
            let name = names.text(ident.name);
            let title = format!("`unless` decides before the state runs, so it cannot read `{name}`");
            errors.push(
                error(ident.span, title)
                    .help(format!("read its last value, `last {name}`, or write `until`")),
            );
        }
    }
    let mut reported: Vec<Name> = Vec::new();
    for (ident, state) in &shared.lasts {
        if automaton.lasts.iter().any(|last| last.ident.name == ident.name) || reported.contains(&ident.name)
        {
            continue;
        }
        reported.push(ident.name);
        let (name, state) = (names.text(ident.name), names.text(automaton.states[*state].ident.name));
        if !shared.defined.contains(&ident.name) {
            let title = format!("no state defines `{name}`, so it has no last value");
            errors.push(error(ident.span, title));
            continue;
        }
        let title = format!("'{name}' has no last value in state '{state}'");
        let help = format!("give its first value in the head of the automaton: `last {name} = 0.0;`");
        errors.push(error(ident.span, title).help(help));
    }
    errors
}

struct Translation<'a> {
    machine: &'a Machine,
    automaton: &'a Automaton,
    owner: &'a Owner,
    equations: Vec<Equation>,
}

impl Translation<'_> {
    fn define(&mut self, builder: &mut Builder<'_>, text: &str, value: ExprId) -> Name {
        let ident = builder.ident(text);
        let equation = builder.equation(vec![ident], value);
        self.equations.push(equation);
        ident.name
    }

    fn has(&self, kind: TransitionKind) -> bool {
        self.automaton.states.iter().any(|state| of_kind(state, kind).next().is_some())
    }

    /// The state and whether it restarts: ps, pr, s and r of the specification.
    fn state_of(&mut self, builder: &mut Builder<'_>) {
        let machine = self.machine;
        let first = builder.variable(machine.constructors[0].name);
        let [next, again] = ["next", "next_restart"].map(|what| builder.name(&machine.hidden(what)));
        let (next, again) = (builder.variable(next), builder.variable(again));
        let proposed = builder.fby(first, next);
        let not = builder.truth(false);
        let restarts = builder.fby(not, again);
        if !self.has(TransitionKind::Unless) {
            let stream = Ident { name: machine.stream, span: builder.span };
            self.equations.push(builder.equation(vec![stream], proposed));
            self.define(builder, &machine.hidden("restart"), restarts);
            return;
        }
        let proposed = self.define(builder, &machine.hidden("proposed"), proposed);
        let restarts = self.define(builder, &machine.hidden("proposed_restart"), restarts);
        let (mut states, mut again) = (Vec::new(), Vec::new());
        for (number, state) in self.automaton.states.iter().enumerate() {
            let constructor = machine.constructors[number];
            let unchanged = builder.variable(restarts);
            let unchanged = builder.when_is(unchanged, proposed, constructor);
            if of_kind(state, TransitionKind::Unless).next().is_none() {
                let same = builder.variable(constructor.name);
                states.push((constructor, same));
                again.push((constructor, unchanged));
                continue;
            }
            let [to, anew] = self.decide(builder, number, proposed, unchanged);
            states.push((constructor, builder.variable(to)));
            again.push((constructor, builder.variable(anew)));
        }
        let stream = Ident { name: machine.stream, span: builder.span };
        let state = builder.merge(proposed, states);
        self.equations.push(builder.equation(vec![stream], state));
        let again = builder.merge(proposed, again);
        self.define(builder, &machine.hidden("restart"), again);
    }

    /// The instance that decides the strong transitions of a state: its state, and whether that restarts.
    fn decide(
        &mut self,
        builder: &mut Builder<'_>,
        number: usize,
        proposed: Name,
        unchanged: ExprId,
    ) -> [Name; 2] {
        let (machine, automaton) = (self.machine, self.automaton);
        let state = &automaton.states[number];
        builder.span = state.ident.span;
        let captured = Captured::new(builder.tree, self.owner, state, TransitionKind::Unless);
        let text = builder.names.text(state.ident.name).to_string();
        let keep = builder.ident("restart");
        let kept = builder.variable(keep.name);
        let outputs = ["to", "anew"].map(|what| builder.ident(what));
        let equations = self.choices(builder, number, TransitionKind::Unless, outputs, kept);
        let (mut inputs, mut arguments) = self.captured(builder, &captured, proposed, number);
        inputs.push(decl(keep));
        arguments.push(unchanged);
        let name = builder.name(&machine.node_of(&format!("{text}/unless")));
        add_node(builder, name, inputs, outputs.map(decl).to_vec(), equations, state, StateItems::default());
        let call = builder.call(name, arguments);
        let call = self.restarted(builder, call, number, proposed, "proposed_restart");
        let targets = ["to", "anew"].map(|what| builder.ident(&format!("{what}:in:{}:{text}", machine.path)));
        self.equations.push(builder.equation(targets.to_vec(), call));
        builder.span = automaton.word;
        targets.map(|ident| ident.name)
    }

    /// `to = if c then T else …;  anew = if c then true else …;` for the transitions of a state.
    fn choices(
        &self,
        builder: &mut Builder<'_>,
        number: usize,
        kind: TransitionKind,
        [to, anew]: [Ident; 2],
        otherwise: ExprId,
    ) -> Vec<Equation> {
        let state = &self.automaton.states[number];
        let mut target = builder.variable(self.machine.constructors[number].name);
        let mut restart = otherwise;
        let transitions: Vec<&Transition> = of_kind(state, kind).collect();
        let mut equations = Vec::new();
        for (at, transition) in transitions.into_iter().enumerate().rev() {
            let states = &self.automaton.states;
            let index = states.iter().position(|state| state.ident.name == transition.target.name);
            let to_state = self.machine.constructors[index.expect("unknown states were reported")];
            // A condition is in one place: a stream.
            let condition = builder.ident(&format!("condition:{at}"));
            equations.push(builder.equation(vec![condition], transition.condition));
            let (yes, condition_of_restart) =
                (builder.variable(to_state.name), builder.variable(condition.name));
            let condition = builder.variable(condition.name);
            target = builder.choice(condition, yes, target);
            let restarts = builder.truth(transition.restarts);
            restart = builder.choice(condition_of_restart, restarts, restart);
        }
        equations.reverse();
        equations.push(builder.equation(vec![to], target));
        equations.push(builder.equation(vec![anew], restart));
        equations
    }

    /// The inputs of the node of a state and its arguments.
    fn captured(
        &self,
        builder: &mut Builder<'_>,
        captured: &Captured,
        stream: Name,
        number: usize,
    ) -> (Vec<Decl>, Vec<ExprId>) {
        let constructor = self.machine.constructors[number];
        let (mut inputs, mut arguments) = (Vec::new(), Vec::new());
        for name in &captured.streams {
            inputs.push(decl(Ident { name: *name, span: builder.span }));
            let value = builder.variable(*name);
            let is_callable = self.owner.is_callable(*name);
            arguments.push(if is_callable { value } else { builder.when_is(value, stream, constructor) });
        }
        for name in &captured.lasts {
            let text = last_of(builder.names.text(*name));
            let ident = builder.ident(&text);
            inputs.push(decl(ident));
            let value = builder.variable(ident.name);
            arguments.push(builder.when_is(value, stream, constructor));
        }
        (inputs, arguments)
    }

    /// The instance of each state, and what follows it: ns and nr of the specification.
    fn states(&mut self, builder: &mut Builder<'_>) {
        let (mut next, mut again) = (Vec::new(), Vec::new());
        for number in 0..self.automaton.states.len() {
            let constructor = self.machine.constructors[number];
            let has_until = of_kind(&self.automaton.states[number], TransitionKind::Until).next().is_some();
            let decided = self.state(builder, number, has_until);
            builder.span = self.automaton.word;
            match decided {
                Some([to, anew]) => {
                    next.push((constructor, builder.variable(to)));
                    again.push((constructor, builder.variable(anew)));
                }
                None => {
                    let (same, not) = (builder.variable(constructor.name), builder.truth(false));
                    next.push((constructor, same));
                    again.push((constructor, not));
                }
            }
        }
        let next = builder.merge(self.machine.stream, next);
        self.define(builder, &self.machine.hidden("next"), next);
        let again = builder.merge(self.machine.stream, again);
        self.define(builder, &self.machine.hidden("next_restart"), again);
    }

    /// One state; returns the streams of its weak transitions.
    fn state(&mut self, builder: &mut Builder<'_>, number: usize, has_until: bool) -> Option<[Name; 2]> {
        let (machine, automaton) = (self.machine, self.automaton);
        let state = &automaton.states[number];
        builder.span = state.ident.span;
        let text = builder.names.text(state.ident.name).to_string();
        let captured = Captured::new(builder.tree, self.owner, state, TransitionKind::Until);
        let mut equations: Vec<Equation> = state.equations.clone();
        let mut outputs: Vec<Decl> = Vec::new();
        let mut targets: Vec<Ident> = Vec::new();
        for ident in machine.shared.streams.iter().filter(|ident| defines(state, ident.name)) {
            outputs.push(decl(*ident));
            let name = format!("{}:in:{}:{text}", builder.names.text(ident.name), machine.path);
            targets.push(builder.ident(&name));
        }
        let mut decided = None;
        if has_until {
            let ends = ["to", "anew"].map(|what| builder.ident(what));
            let not = builder.truth(false);
            equations.extend(self.choices(builder, number, TransitionKind::Until, ends, not));
            outputs.extend(ends.map(decl));
            let names = ["next", "next_restart"];
            let names = names.map(|what| builder.ident(&format!("{what}:in:{}:{text}", machine.path)));
            targets.extend(names);
            decided = Some(names.map(|ident| ident.name));
        }
        if outputs.is_empty() && state.contracts.is_empty() && state.probes.is_empty() {
            return None;
        }
        if outputs.is_empty() {
            // An instance without outputs stands in no equation.
            let truth = builder.truth(true);
            let runs = builder.ident("runs");
            equations.push(builder.equation(vec![runs], truth));
            outputs.push(decl(runs));
            targets.push(builder.ident(&format!("runs:in:{}:{text}", machine.path)));
        }
        let (inputs, arguments) = self.captured(builder, &captured, machine.stream, number);
        let name = builder.name(&machine.node_of(&text));
        add_node(builder, name, inputs, outputs, equations, state, StateItems::of(state));
        let call = builder.call(name, arguments);
        let call = self.restarted(builder, call, number, machine.stream, "restart");
        self.equations.push(builder.equation(targets, call));
        decided
    }

    /// The instance of a state that is as new where a transition restarts it.
    fn restarted(
        &self,
        builder: &mut Builder<'_>,
        call: ExprId,
        number: usize,
        stream: Name,
        restart: &str,
    ) -> ExprId {
        let states = &self.automaton.states;
        let mut transitions = states.iter().flat_map(|state| &state.transitions);
        let target = states[number].ident.name;
        if !transitions.any(|transition| transition.restarts && transition.target.name == target) {
            return call;
        }
        let restart = builder.name(&self.machine.hidden(restart));
        let restart = builder.variable(restart);
        let restart = builder.when_is(restart, stream, self.machine.constructors[number]);
        builder.reset(call, restart)
    }

    /// The shared streams and their last values.
    fn shared(&mut self, builder: &mut Builder<'_>) {
        let (machine, automaton) = (self.machine, self.automaton);
        for ident in &machine.shared.streams {
            let text = builder.names.text(ident.name).to_string();
            builder.span = ident.span;
            let mut branches = Vec::new();
            for (number, state) in automaton.states.iter().enumerate() {
                let constructor = machine.constructors[number];
                let value = if defines(state, ident.name) {
                    let state = builder.names.text(state.ident.name).to_string();
                    let name = builder.name(&format!("{text}:in:{}:{state}", machine.path));
                    builder.variable(name)
                } else {
                    let last = builder.name(&last_of(&text));
                    let last = builder.variable(last);
                    builder.when_is(last, machine.stream, constructor)
                };
                branches.push((constructor, value));
            }
            let value = builder.merge(machine.stream, branches);
            self.equations.push(builder.equation(vec![*ident], value));
        }
        for last in &automaton.lasts {
            builder.span = last.ident.span;
            let text = last_of(builder.names.text(last.ident.name));
            let stream = builder.variable(last.ident.name);
            let value = builder.fby(last.value, stream);
            self.define(builder, &text, value);
        }
    }
}

fn of_kind(state: &State, kind: TransitionKind) -> impl Iterator<Item = &Transition> {
    state.transitions.iter().filter(move |transition| transition.kind == kind)
}

/// The items of a state beside its equations and transitions.
#[derive(Default)]
struct StateItems {
    lets: Vec<Let>,
    contracts: Vec<Contract>,
    probes: Vec<Probe>,
}

impl StateItems {
    fn of(state: &State) -> StateItems {
        let State { lets, contracts, probes, .. } = state.clone();
        StateItems { lets, contracts, probes }
    }
}

/// Adds the node of a state. `last o` in it becomes an input.
fn add_node(
    builder: &mut Builder<'_>,
    name: Name,
    inputs: Vec<Decl>,
    outputs: Vec<Decl>,
    equations: Vec<Equation>,
    state: &State,
    items: StateItems,
) {
    let StateItems { lets, contracts, probes } = items;
    for equation in &equations {
        builder.replace_lasts(equation.value);
    }
    for item in &lets {
        builder.replace_lasts(item.value);
    }
    let span = state.ident.span;
    builder.tree.items.push(Item::Node(Node {
        ident: Ident { name, span },
        doc: None,
        inputs,
        outputs,
        equations,
        lets,
        automata: Vec::new(),
        contracts,
        probes,
        inputs_span: span,
        outputs_span: span,
        span,
    }));
}
