//! Demands, propagated from the value of the program back to each function.
//!
//! An event is visited once, with the value that it must give. At a call, the body is visited first; then all
//! demands on the variable of the call are known, and together they are the input of an entry. The entry is
//! demanded of the function, and its input of the argument. The entry is also *logged*, with the body as its
//! premise. So when demands reach the λ that made the closure, the log has the premises of most entries. The
//! other entries come from a question or a table; their bodies are run when they are reached. Without the
//! log, bodies would be run again at each level.

use rustc_hash::FxHashMap;

use super::record::{Evaluation, Recorder};
use super::{Derivation, Node, NodeId, Rule};
use crate::ask::{EnvId, Mixed};
use crate::syntax::{Term, TermId};
use crate::value::{Entry, Value};

/// Pending work.
enum Task {
    /// This event must give this value.
    Visit(NodeId, Value),
    /// The body of this call was visited with this value.
    Called(NodeId, Value),
    /// The entries of the table of this λ, from this one on, need premises.
    Entries(NodeId, usize),
}

/// The λ, its environment, and an entry of its table.
type LogKey = (TermId, EnvId, Value, Value);

struct Walk<'a> {
    recorder: Recorder<'a>,
    work: Vec<Task>,
    /// The demands on the variable of each cell: values whose join is taken when all are known.
    demands: FxHashMap<EnvId, Vec<Value>>,
    log: FxHashMap<LogKey, NodeId>,
    /// The value that each event gives; `None` before its visit.
    given: Vec<Option<Value>>,
    /// The premises of λs.
    premises: FxHashMap<NodeId, Vec<(Value, NodeId)>>,
}

/// The derivation that an event gives a value; the result of the event must contain the value.
pub(super) fn derive(recorder: Recorder<'_>, root: NodeId, value: Value) -> Derivation {
    let mut walk = Walk {
        recorder,
        work: vec![Task::Visit(root, value)],
        demands: FxHashMap::default(),
        log: FxHashMap::default(),
        given: Vec::new(),
        premises: FxHashMap::default(),
    };
    while let Some(task) = walk.work.pop() {
        match task {
            Task::Visit(event, value) => walk.visit(event, value),
            Task::Called(event, value) => walk.called(event, value),
            Task::Entries(event, from) => walk.entries(event, from),
        }
    }
    walk.finish(root)
}

impl Walk<'_> {
    fn visit(&mut self, event: NodeId, value: Value) {
        self.given.resize(self.recorder.events.len(), None);
        debug_assert!(self.given[event].is_none(), "an event is visited once");
        self.given[event] = Some(value);
        match self.recorder.events[event].how {
            Evaluation::Int => {}
            Evaluation::Variable(cell) => self.demands.entry(cell).or_default().push(value),
            Evaluation::Lambda(_) => {
                self.premises.insert(event, Vec::new());
                self.work.push(Task::Entries(event, 0));
            }
            Evaluation::Op([a, b]) => {
                let [left, right] = [a, b].map(|part| self.recorder.int_value(part));
                self.work.extend([Task::Visit(b, right), Task::Visit(a, left)]);
            }
            Evaluation::If([condition, branch]) => {
                let test = self.recorder.int_value(condition);
                self.work.extend([Task::Visit(branch, value), Task::Visit(condition, test)]);
            }
            Evaluation::Call { body, .. } => {
                self.work.extend([Task::Called(event, value), Task::Visit(body, value)]);
            }
            Evaluation::Lookup { parts, entry } => self.demand_entry(parts, entry),
        }
    }

    /// After the visit of a call's body: demands the entry that the call used, made from the demands on its
    /// variable.
    fn called(&mut self, event: NodeId, value: Value) {
        let Evaluation::Call { parts, lambda, env, cell, body } = self.recorder.events[event].how else {
            unreachable!("only calls have bodies")
        };
        let input = match &self.recorder.events[parts[1]].result {
            Mixed::Int(_) => self.recorder.int_value(parts[1]),
            _ => self.join_of_demands(cell),
        };
        self.log.insert((lambda, env, input, value), body);
        self.demand_entry(parts, Entry::new(input, value));
    }

    fn demand_entry(&mut self, [function, argument]: [NodeId; 2], entry: Entry) {
        let table = self.recorder.machine.values().table(vec![entry]);
        self.work.extend([Task::Visit(argument, entry.input.value), Task::Visit(function, table)]);
    }

    /// The join of the demands on a variable that is bound to a function: one table, made once.
    fn join_of_demands(&mut self, cell: EnvId) -> Value {
        let values = self.recorder.machine.values();
        let demands = self.demands.remove(&cell).unwrap_or_default();
        let entries = demands.iter().flat_map(|table| values.entries(*table).to_vec()).collect();
        values.table(entries)
    }

    /// Premises for the entries of a λ's table: from the log, or by running its body.
    fn entries(&mut self, event: NodeId, from: usize) {
        let table = self.given[event].expect("it was visited");
        let Evaluation::Lambda(env) = self.recorder.events[event].how else {
            unreachable!("only λs have tables")
        };
        let lambda = self.recorder.events[event].term;
        let Some(entry) = self.recorder.machine.values().entries(table).get(from).copied() else { return };
        let (input, output) = (entry.input.value, entry.output.value);
        self.work.push(Task::Entries(event, from + 1));
        let key = (lambda, env, input, output);
        let premise = if let Some(body) = self.log.get(&key) {
            *body
        } else {
            let body = self.run_body(lambda, env, input, output);
            self.log.insert(key, body);
            self.work.push(Task::Visit(body, output));
            body
        };
        self.premises.entry(event).or_default().push((input, premise));
    }

    /// The first branch of a λ's body that has the output for the input.
    fn run_body(&mut self, lambda: TermId, env: EnvId, input: Value, output: Value) -> NodeId {
        let machine = &mut self.recorder.machine;
        let argument = Mixed::of(input, machine.values());
        let (body, env) = machine.bind(lambda, argument, env);
        let (_, found) = machine.ask_of(body, env, output, None);
        let found = found.expect("the search has shown that the entry is in the closure");
        self.recorder.record(body, env, &found)
    }

    fn finish(self, root: NodeId) -> Derivation {
        let Walk { recorder, given, mut premises, .. } = self;
        let Recorder { machine, events } = recorder;
        let terms = machine.terms();
        let node = |(id, (event, given)): (NodeId, (&super::record::Event, Option<Value>))| {
            let rule = match event.how {
                Evaluation::Int => Rule::Int,
                Evaluation::Variable(_) => Rule::Variable,
                Evaluation::Op(parts) => Rule::Op(parts),
                Evaluation::If(parts) => Rule::If(parts),
                Evaluation::Call { parts, .. } | Evaluation::Lookup { parts, .. } => Rule::Apply(parts),
                Evaluation::Lambda(_) => {
                    let Term::Lambda(name, _) = terms.term(event.term) else {
                        unreachable!("the term of this event is a λ")
                    };
                    Rule::Lambda(*name, premises.remove(&id).unwrap_or_default())
                }
            };
            let value = given.expect("demands reach every event of a run");
            Node { term: event.term, value, rule }
        };
        let nodes = events.iter().zip(given).enumerate().map(node).collect();
        Derivation { nodes, root }
    }
}
