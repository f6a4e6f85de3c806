//! Clock inference by unification with occurs check.

use eddy_syntax::{Diagnostic, Diagnostics, Span};
use eddy_tensor::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use super::errors::{Situation, mismatch};
use super::samplings::with_samplings;
use super::{Clock, ClockId, Clocks, Root};
use crate::flow::{Equation, Flow, Kind, Labels, Polarity, VarId, in_instances};

/// A clock during inference.
#[derive(Clone, Copy, Debug)]
pub(super) enum Term {
    /// Unknown, or a root.
    Free,
    /// An alias of another clock.
    Same(u32),
    On {
        of: u32,
        condition: VarId,
        polarity: Polarity,
    },
}

pub(super) struct Terms {
    pub terms: Vec<Term>,
    /// For each stream, the stream of which it is a copy or a negation, and whether it is a negation.
    sources: Vec<(VarId, bool)>,
    /// For each clock a step towards its root, past all samplings. The occurs check only needs the root, so n
    /// nested samplings take n steps instead of n².
    ends: Vec<u32>,
}

pub(super) fn infer(flow: &Flow, is_strict: bool) -> Result<Clocks, Vec<Diagnostic>> {
    let mut inference = Inference::new(flow);
    // The equations of clock annotations come last, so that errors point at the annotation.
    let written: FxHashSet<Span> = flow.clocks.iter().map(|clock| clock.span).collect();
    let (others, of_written): (Vec<_>, Vec<_>) =
        flow.equations.iter().enumerate().partition(|(_, equation)| !written.contains(&equation.span));
    for (number, equation) in others {
        inference.equation(number, equation);
    }
    inference.written();
    if inference.diagnostics.is_empty() {
        for (number, equation) in of_written {
            inference.equation(number, equation);
        }
    }
    if is_strict && !inference.diagnostics.is_empty() {
        return Err(inference.diagnostics);
    }
    Ok(inference.finish())
}

struct Inference<'a> {
    flow: &'a Flow,
    terms: Terms,
    labels: Labels<'a>,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Inference<'a> {
    fn new(flow: &'a Flow) -> Self {
        let n_vars = u32::try_from(flow.vars.len()).expect("elaboration stops before 2^32 streams");
        let ends = (0..n_vars).collect();
        let sources = with_samplings(flow, sources(flow));
        let terms = Terms { terms: vec![Term::Free; flow.vars.len()], sources, ends };
        let labels = flow.labels().with_points();
        Inference { flow, terms, labels, diagnostics: Vec::new() }
    }

    fn equation(&mut self, number: usize, equation: &Equation) {
        let Equation { out, ref kind, span, .. } = *equation;
        let n_before = self.diagnostics.len();
        self.clocks_of(out, kind, span);
        for diagnostic in self.diagnostics.split_off(n_before) {
            self.diagnostics.push(self.flow.in_instances(number, diagnostic));
        }
    }

    fn clocks_of(&mut self, out: VarId, kind: &Kind, span: Span) {
        match kind {
            Kind::Const(_) => {}
            Kind::Apply(_, operands) => {
                // Unifies the operands with each other first, so that errors are about two operands and not
                // about the result.
                for pair in operands.windows(2) {
                    self.require_same_clock(pair[1], pair[0], span);
                }
                if let Some(first) = operands.first() {
                    self.require_same_clock(out, *first, span);
                }
            }
            Kind::Fby { init, next } | Kind::FbyBack { init, next } => {
                self.require_same_clock(*init, *next, span);
                self.require_same_clock(out, *next, span);
            }
            Kind::Post(operand) | Kind::Param(operand) => self.require_same_clock(out, *operand, span),
            Kind::When { value, condition, polarity } => {
                self.require_same_clock(*value, *condition, span);
                let sampled = self.terms.sampled(*condition, *polarity);
                self.require_clock(out, sampled, Situation::Sampled, span);
            }
            Kind::Merge { condition, yes, no } => {
                let on = self.terms.sampled(*condition, Polarity::On);
                let on_not = self.terms.sampled(*condition, Polarity::OnNot);
                self.require_clock(*yes, on, Situation::MergeBranch(*condition, Polarity::On), span);
                self.require_clock(*no, on_not, Situation::MergeBranch(*condition, Polarity::OnNot), span);
                self.require_same_clock(out, *condition, span);
            }
        }
    }

    /// Clock annotations: each condition is on the clock of the previous one, the stream on the last.
    fn written(&mut self) {
        for annotation in &self.flow.clocks {
            let n_before = self.diagnostics.len();
            let mut clock = None;
            for (condition, polarity) in &annotation.conditions {
                if let Some(clock) = clock {
                    self.require_clock(*condition, clock, Situation::Written, annotation.span);
                }
                clock = Some(self.terms.sampled(*condition, *polarity));
            }
            let clock = clock.expect("a clock annotation has a condition");
            self.require_clock(annotation.var, clock, Situation::Written, annotation.span);
            for diagnostic in self.diagnostics.split_off(n_before) {
                self.diagnostics.push(in_instances(&self.flow.calls, annotation.call, diagnostic));
            }
        }
    }

    fn require_same_clock(&mut self, left: VarId, right: VarId, span: Span) {
        let clock = clock_of(right);
        self.require_clock(left, clock, Situation::Operands(right), span);
    }

    fn require_clock(&mut self, var: VarId, clock: u32, situation: Situation, span: Span) {
        let found = clock_of(var);
        // At most `MAX` errors are reported, and constructing one takes time.
        if !self.terms.unify(found, clock) && self.diagnostics.len() < Diagnostics::MAX {
            let situation = match situation {
                Situation::Operands(other) => Situation::Operands(self.leaf_of_tick(other)),
                other => other,
            };
            let diagnostic = mismatch(self.flow, &self.terms, &self.labels, var, clock, situation, span);
            self.diagnostics.push(diagnostic);
        }
    }

    /// For the `x == x` that keeps the leaves of a record on the clock of its leaf `x`: `x`, which messages
    /// name. For any other stream, the stream itself.
    fn leaf_of_tick(&self, var: VarId) -> VarId {
        let definition = self.flow.equations.iter().find(|equation| equation.out == var);
        match definition.map(|equation| &equation.kind) {
            Some(Kind::Apply(Op::Eq, operands)) if operands[0] == operands[1] => operands[0],
            _ => var,
        }
    }

    fn finish(self) -> Clocks {
        let Inference { flow, mut terms, .. } = self;
        // The first input directly on a root owns it.
        let mut owners: FxHashMap<u32, VarId> = FxHashMap::default();
        for input in &flow.inputs {
            let root = terms.find_and_compress(clock_of(*input));
            if matches!(terms.terms[root as usize], Term::Free) {
                owners.entry(root).or_insert(*input);
            }
        }
        let base = flow.inputs.iter().find(|input| owners.contains_key(&terms.find(clock_of(**input))));
        let base = base.map_or(Root::Always, |input| Root::Input(owners[&terms.find(clock_of(*input))]));
        let mut builder = ClockBuilder {
            clocks: Vec::new(),
            numbers: FxHashMap::default(),
            known: FxHashMap::default(),
            owners,
            base,
        };
        let of_var = flow.var_ids().map(|var| builder.clock(&mut terms, var)).collect();
        // The demanded streams: one directly on each root without an owner.
        let mut seen = FxHashSet::default();
        let mut is_demanded = |var: &VarId| {
            let root = terms.find(clock_of(*var));
            matches!(terms.terms[root as usize], Term::Free)
                && !builder.owners.contains_key(&root)
                && seen.insert(root)
        };
        let demanded = flow.var_ids().filter(|var| is_demanded(var)).collect();
        Clocks::new(builder.clocks, of_var, demanded)
    }
}

/// Converts terms to clocks, without duplicates.
struct ClockBuilder {
    clocks: Vec<Clock>,
    numbers: FxHashMap<u32, ClockId>,
    known: FxHashMap<Clock, ClockId>,
    owners: FxHashMap<u32, VarId>,
    base: Root,
}

impl ClockBuilder {
    fn clock(&mut self, terms: &mut Terms, var: VarId) -> ClockId {
        // Goes down from the clock of the stream to one that has a number, then up again.
        let mut pending = Vec::new();
        let mut at = terms.find_and_compress(clock_of(var));
        while !self.numbers.contains_key(&at) {
            pending.push(at);
            match terms.terms[at as usize] {
                Term::On { of, .. } => at = terms.find_and_compress(of),
                Term::Free => break,
                Term::Same(_) => unreachable!("`find` ends at a clock"),
            }
        }
        for term in pending.into_iter().rev() {
            let clock = match terms.terms[term as usize] {
                Term::On { of, condition, polarity } => {
                    Clock::On { of: self.numbers[&terms.find_and_compress(of)], condition, polarity }
                }
                _ => match self.owners.get(&term) {
                    Some(owner) => Clock::Root(Root::Input(*owner)),
                    None => Clock::Root(self.base),
                },
            };
            // Two terms may be the same clock without being unified, such as `base on c` of two separate
            // samplings.
            let next = ClockId::new(self.clocks.len());
            let number = *self.known.entry(clock).or_insert(next);
            if number == next {
                self.clocks.push(clock);
            }
            self.numbers.insert(term, number);
        }
        self.numbers[&terms.find_and_compress(clock_of(var))]
    }
}

pub(super) fn clock_of(var: VarId) -> u32 {
    u32::try_from(var.index()).expect("elaboration stops before 2^32 streams")
}

impl Terms {
    pub fn find(&self, term: u32) -> u32 {
        let mut at = term;
        while let Term::Same(next) = self.terms[at as usize] {
            at = next;
        }
        at
    }

    /// `ck on c`, with `ck` the clock of `c`; the condition is the source of `c`.
    fn sampled(&mut self, condition: VarId, polarity: Polarity) -> u32 {
        let (source, is_negated) = self.sources[condition.index()];
        let polarity = match (polarity, is_negated) {
            (Polarity::On, false) | (Polarity::OnNot, true) => Polarity::On,
            _ => Polarity::OnNot,
        };
        let number = u32::try_from(self.terms.len()).expect("fewer clocks than twice the streams");
        self.terms.push(Term::On { of: clock_of(condition), condition: source, polarity });
        self.ends.push(clock_of(condition));
        number
    }

    /// The stream of which this one is a copy or a negation.
    pub fn source(&self, var: VarId) -> VarId {
        self.sources[var.index()].0
    }

    /// If two clocks sample the same clock by one condition with opposite values: the condition, and the
    /// value of the left clock.
    pub fn complements(&self, left: u32, right: u32) -> Option<(VarId, Polarity)> {
        match (self.terms[self.find(left) as usize], self.terms[self.find(right) as usize]) {
            (
                Term::On { of: a, condition, polarity },
                Term::On { of: b, condition: other, polarity: opposite },
            ) if self.find(a) == self.find(b) && condition == other && polarity != opposite => {
                Some((condition, polarity))
            }
            _ => None,
        }
    }

    /// As [`find`](Self::find), with path compression.
    fn find_and_compress(&mut self, term: u32) -> u32 {
        let end = self.find(term);
        let mut at = term;
        while let Term::Same(next) = self.terms[at as usize] {
            self.terms[at as usize] = Term::Same(end);
            at = next;
        }
        end
    }

    /// Unifies two clocks if possible; otherwise both stay unchanged. Sampled clocks are unified only after
    /// the clocks that they sample: a partial unification left behind by a failure could create a clock
    /// sampled from itself.
    fn unify(&mut self, left: u32, right: u32) -> bool {
        let mut sampled_alike = Vec::new();
        let (mut left, mut right) = (left, right);
        let is_unified = loop {
            (left, right) = (self.find_and_compress(left), self.find_and_compress(right));
            if left == right {
                break true;
            }
            match (self.terms[left as usize], self.terms[right as usize]) {
                (Term::Free, _) => break self.bind(left, right),
                (_, Term::Free) => break self.bind(right, left),
                (
                    Term::On { of: a, condition: c, polarity: p },
                    Term::On { of: b, condition: d, polarity: q },
                ) => {
                    if (c, p) != (d, q) {
                        break false;
                    }
                    sampled_alike.push((left, right));
                    (left, right) = (a, b);
                }
                _ => unreachable!("`find` ends at a clock"),
            }
        };
        if is_unified {
            for (left, right) in sampled_alike {
                self.terms[left as usize] = Term::Same(right);
            }
        }
        is_unified
    }

    /// Makes a root an alias of another clock, unless that is sampled from the root itself.
    fn bind(&mut self, root: u32, clock: u32) -> bool {
        let end = self.end(clock);
        if end == root && clock != root {
            return false;
        }
        self.terms[root as usize] = Term::Same(clock);
        self.ends[root as usize] = end;
        true
    }

    /// The root of a clock, past all samplings.
    fn end(&mut self, clock: u32) -> u32 {
        let mut at = clock;
        while self.ends[at as usize] != at {
            // Halving the path keeps later searches short.
            let next = self.ends[at as usize];
            self.ends[at as usize] = self.ends[next as usize];
            at = self.ends[at as usize];
        }
        at
    }
}

/// For each stream, the stream of which it is a copy or a negation (section 5).
fn sources(flow: &Flow) -> Vec<(VarId, bool)> {
    let definitions = flow.definitions();
    let mut sources: Vec<Option<(VarId, bool)>> = vec![None; flow.vars.len()];
    let mut is_on_path = vec![false; flow.vars.len()];
    for var in flow.var_ids() {
        let mut path = Vec::new();
        let mut at = var;
        let (source, mut is_negated) = loop {
            if let Some(known) = sources[at.index()] {
                break known;
            }
            let origin = definitions[at.index()].and_then(|number| match &flow.equations[number].kind {
                Kind::Apply(Op::Copy, operands) => Some((operands[0], false)),
                Kind::Apply(Op::Not, operands) => Some((operands[0], true)),
                _ => None,
            });
            match origin {
                // A cycle of copies has no source; the causality check rejects it.
                Some((origin, is_negated)) if !is_on_path[origin.index()] && origin != at => {
                    is_on_path[at.index()] = true;
                    path.push((at, is_negated));
                    at = origin;
                }
                _ => {
                    sources[at.index()] = Some((at, false));
                    break (at, false);
                }
            }
        };
        for (copy, negates) in path.into_iter().rev() {
            is_on_path[copy.index()] = false;
            is_negated ^= negates;
            sources[copy.index()] = Some((source, is_negated));
        }
    }
    let sources = sources.into_iter().map(|source| source.expect("each stream has a source")).collect();
    with_names(flow, sources)
}

/// Replaces a source without a name by the first named stream that is a copy or a negation of it, so that
/// errors show `on not n` instead of the whole expression if `n = not (x > 0.0)`.
fn with_names(flow: &Flow, mut sources: Vec<(VarId, bool)>) -> Vec<(VarId, bool)> {
    let mut named: FxHashMap<VarId, (VarId, bool)> = FxHashMap::default();
    for var in flow.var_ids().filter(|var| flow.var(*var).name.is_some()) {
        let (source, is_negated) = sources[var.index()];
        if flow.var(source).name.is_none() {
            named.entry(source).or_insert((var, is_negated));
        }
    }
    for (source, is_negated) in &mut sources {
        if let Some((name, negates)) = named.get(source) {
            (*source, *is_negated) = (*name, *is_negated ^ negates);
        }
    }
    sources
}
