//! Clock inference by unification with occurs check.

use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use super::errors::{Situation, mismatch};
use super::samplings::with_samplings;
use super::{Clock, ClockId, Clocks, Root};
use crate::flow::{Equation, Flow, Kind, Labels, Polarity, VarId, in_instances};

/// A clock while it is being found.
#[derive(Clone, Copy, Debug)]
pub(super) enum Term {
    /// Not known yet, or a root.
    Free,
    /// The same as another.
    Same(u32),
    /// Sampled.
    On { of: u32, condition: VarId, polarity: Polarity },
}

pub(super) struct Terms {
    pub terms: Vec<Term>,
    /// A condition is what it is a copy or a negation of.
    sources: Vec<(VarId, bool)>,
}

pub(super) fn infer(flow: &Flow, is_strict: bool) -> Result<Clocks, Vec<Diagnostic>> {
    let mut inference = Inference::new(flow);
    // The equations that stand for written clocks come last: the message should speak of what is written.
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
        let terms =
            Terms { terms: vec![Term::Free; flow.vars.len()], sources: with_samplings(flow, sources(flow)) };
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
                // Operands with each other first: the message then speaks of two operands, not of a result.
                for pair in operands.windows(2) {
                    self.same(pair[1], pair[0], span);
                }
                if let Some(first) = operands.first() {
                    self.same(out, *first, span);
                }
            }
            Kind::Fby { init, next } | Kind::FbyBack { init, next } => {
                self.same(*init, *next, span);
                self.same(out, *next, span);
            }
            Kind::Post(operand) | Kind::Param(operand) => self.same(out, *operand, span),
            Kind::When { value, condition, polarity } => {
                self.same(*value, *condition, span);
                let sampled = self.terms.sampled(*condition, *polarity);
                self.is(out, sampled, Situation::Sampled, span);
            }
            Kind::Merge { condition, yes, no } => {
                let on = self.terms.sampled(*condition, Polarity::On);
                let on_not = self.terms.sampled(*condition, Polarity::OnNot);
                self.is(*yes, on, Situation::MergeBranch(*condition, Polarity::On), span);
                self.is(*no, on_not, Situation::MergeBranch(*condition, Polarity::OnNot), span);
                self.same(out, *condition, span);
            }
        }
    }

    /// The clocks that are written: the conditions lie on each other's clocks, the stream on the last.
    fn written(&mut self) {
        for annotation in &self.flow.clocks {
            let n_before = self.diagnostics.len();
            let mut clock = None;
            for (condition, polarity) in &annotation.conditions {
                if let Some(clock) = clock {
                    self.is(*condition, clock, Situation::Written, annotation.span);
                }
                clock = Some(self.terms.sampled(*condition, *polarity));
            }
            let clock = clock.expect("a written clock has a condition");
            self.is(annotation.var, clock, Situation::Written, annotation.span);
            for diagnostic in self.diagnostics.split_off(n_before) {
                self.diagnostics.push(in_instances(&self.flow.calls, annotation.call, diagnostic));
            }
        }
    }

    fn same(&mut self, left: VarId, right: VarId, span: Span) {
        let clock = clock_of(right);
        self.is(left, clock, Situation::Operands(right), span);
    }

    fn is(&mut self, var: VarId, clock: u32, situation: Situation, span: Span) {
        let found = clock_of(var);
        if !self.terms.unify(found, clock) {
            let diagnostic = mismatch(self.flow, &self.terms, &self.labels, var, clock, situation, span);
            self.diagnostics.push(diagnostic);
        }
    }

    fn finish(self) -> Clocks {
        let Inference { flow, mut terms, .. } = self;
        // The first input that lies directly on a root owns it.
        let mut owners: FxHashMap<u32, VarId> = FxHashMap::default();
        for input in &flow.inputs {
            let root = terms.find(clock_of(*input));
            if matches!(terms.terms[root as usize], Term::Free) {
                owners.entry(root).or_insert(*input);
            }
        }
        let base = flow.inputs.iter().find(|input| owners.contains_key(&terms.find(clock_of(**input))));
        let base = base.map_or(Root::Always, |input| Root::Input(owners[&terms.find(clock_of(*input))]));
        let mut finished = Finished {
            clocks: Vec::new(),
            numbers: FxHashMap::default(),
            known: FxHashMap::default(),
            owners,
            base,
        };
        let of_var = flow.var_ids().map(|var| finished.clock(&mut terms, var)).collect();
        // One stream that lies directly on each root without an owner.
        let mut seen = FxHashSet::default();
        let mut is_demanded = |var: &VarId| {
            let root = terms.find(clock_of(*var));
            matches!(terms.terms[root as usize], Term::Free)
                && !finished.owners.contains_key(&root)
                && seen.insert(root)
        };
        let demanded = flow.var_ids().filter(|var| is_demanded(var)).collect();
        Clocks::new(finished.clocks, of_var, demanded)
    }
}

/// Terms become clocks; equal terms become one.
struct Finished {
    clocks: Vec<Clock>,
    numbers: FxHashMap<u32, ClockId>,
    known: FxHashMap<Clock, ClockId>,
    owners: FxHashMap<u32, VarId>,
    base: Root,
}

impl Finished {
    fn clock(&mut self, terms: &mut Terms, var: VarId) -> ClockId {
        // From the stream's clock down to one that has a number, then up again.
        let mut pending = Vec::new();
        let mut at = terms.find(clock_of(var));
        while !self.numbers.contains_key(&at) {
            pending.push(at);
            match terms.terms[at as usize] {
                Term::On { of, .. } => at = terms.find(of),
                Term::Free => break,
                Term::Same(_) => unreachable!("`find` ends at a clock"),
            }
        }
        for term in pending.into_iter().rev() {
            let clock = match terms.terms[term as usize] {
                Term::On { of, condition, polarity } => {
                    Clock::On { of: self.numbers[&terms.find(of)], condition, polarity }
                }
                _ => match self.owners.get(&term) {
                    Some(owner) => Clock::Root(Root::Input(*owner)),
                    None => Clock::Root(self.base),
                },
            };
            // Two terms may be one clock without having met, such as `base on c` of two separate samplings.
            let next = ClockId::new(self.clocks.len());
            let number = *self.known.entry(clock).or_insert(next);
            if number == next {
                self.clocks.push(clock);
            }
            self.numbers.insert(term, number);
        }
        self.numbers[&terms.find(clock_of(var))]
    }
}

/// The clock of a stream.
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

    /// `ck on c`, with `ck` the clock of `c`; the condition is what `c` is a copy or a negation of.
    fn sampled(&mut self, condition: VarId, polarity: Polarity) -> u32 {
        let (source, is_negated) = self.sources[condition.index()];
        let polarity = match (polarity, is_negated) {
            (Polarity::On, false) | (Polarity::OnNot, true) => Polarity::On,
            _ => Polarity::OnNot,
        };
        let number = u32::try_from(self.terms.len()).expect("fewer clocks than twice the streams");
        self.terms.push(Term::On { of: clock_of(condition), condition: source, polarity });
        number
    }

    /// What a stream is a copy or a negation of.
    pub fn source(&self, var: VarId) -> VarId {
        self.sources[var.index()].0
    }

    /// The condition that two clocks sample one clock by, with opposite values; and which value the left one takes.
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

    /// As [`find`](Self::find); what was passed on the way leads there directly from now on.
    fn find_short(&mut self, term: u32) -> u32 {
        let end = self.find(term);
        let mut at = term;
        while let Term::Same(next) = self.terms[at as usize] {
            self.terms[at as usize] = Term::Same(end);
            at = next;
        }
        end
    }

    /// Makes two clocks one, if they can be; otherwise both stay as they were. Clocks that are sampled alike become one only when
    /// what they sample has: a merge that is left behind by a failure could make a clock that is sampled from itself.
    fn unify(&mut self, left: u32, right: u32) -> bool {
        let mut sampled_alike = Vec::new();
        let (mut left, mut right) = (left, right);
        let is_one = loop {
            (left, right) = (self.find_short(left), self.find_short(right));
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
        if is_one {
            for (left, right) in sampled_alike {
                self.terms[left as usize] = Term::Same(right);
            }
        }
        is_one
    }

    /// A root is another clock, unless that is sampled from the root itself.
    fn bind(&mut self, root: u32, clock: u32) -> bool {
        let mut at = clock;
        while let Term::On { of, .. } = self.terms[at as usize] {
            at = self.find(of);
            if at == root {
                return false;
            }
        }
        self.terms[root as usize] = Term::Same(clock);
        true
    }
}

/// What each stream is a copy of, or a negation of (section 5).
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
                // A cycle of copies has no source; causality refuses it.
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

/// A source without a name gives way to the first stream with one that is a copy or a negation of it: messages then say
/// `on not n` where `n = not (x > 0.0)`, and not the whole expression.
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
