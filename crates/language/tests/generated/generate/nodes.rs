//! Nodes: their streams are declared first, then each gets its equation.

use std::ops::Range;

use super::Generator;
use super::functions::with_several;
use super::program::{Feature, NodeText};
use super::scope::{BASE, ClockNo, MAX_SAMPLINGS, Scope, Stream, Ty};
use super::text::Text;

const INPUTS: [&str; 4] = ["x", "c", "y", "s"];
const LOCALS: [&str; 9] = ["a", "b", "d", "e", "h", "k", "m", "p", "q"];

/// The size and the name of a node.
#[derive(Clone, Copy)]
pub struct Kind {
    pub name: &'static str,
    pub max_inputs: usize,
    pub max_locals: usize,
    /// The number of outputs of a node that others instantiate; `None` for any number.
    pub n_outputs: Option<usize>,
}

/// The prefix of a condition.
fn not(polarity: bool) -> &'static str {
    if polarity { "" } else { "not " }
}

impl Generator<'_> {
    /// A node.
    pub fn node(&mut self, kind: Kind) -> NodeText {
        self.scope = Scope::default();
        self.has_random = kind.n_outputs.is_some();
        let n_inputs = self.inputs(kind.max_inputs);
        let pairs = self.locals(kind);
        self.sample_an_input(n_inputs, kind);
        let mut heads: Vec<String> =
            (0..self.scope.streams.len()).map(|number| self.head(number, number < n_inputs)).collect();
        let outputs = self.outputs(n_inputs, kind);
        self.scope.n_defined = n_inputs;
        self.has_parts = self.has(Feature::Smooth);
        let (mut values, mut stream) = (Vec::new(), n_inputs);
        while stream < self.scope.streams.len() {
            if let Some((_, callee)) = pairs.iter().find(|(first, _)| *first == stream) {
                let value = self.pair(*callee, stream);
                values.push((stream..stream + 2, value.loose()));
                stream += 2;
            } else {
                let value = self.right_side(stream);
                values.push((stream..stream + 1, value.loose()));
                stream += 1;
            }
            self.scope.n_defined = stream;
        }
        if self.has_parts {
            self.write_shapes(&mut heads[n_inputs..], n_inputs);
        }
        let mut several = self.has(Feature::Functions) && !self.choices.once_in(4);
        let mut equations: Vec<String> = Vec::new();
        for (streams, value) in values {
            let is_number = streams.len() == 1 && self.scope.streams[streams.start].ty == Ty::Num;
            let head = heads[streams].join(", ");
            if several && is_number {
                several = false;
                equations.extend(with_several(&head, &value));
            } else {
                equations.push(format!("{head} = {value};"));
            }
        }
        if kind.n_outputs.is_none() {
            equations.extend(self.links(n_inputs));
        }
        if kind.n_outputs.is_none() && self.has(Feature::OneClock) {
            equations.extend(self.tied(n_inputs));
        }
        if kind.n_outputs.is_some() {
            self.callees.push(self.interface(kind.name, n_inputs, &outputs));
        }
        let outputs = outputs.iter().map(|number| self.scope.streams[*number].name.clone()).collect();
        NodeText { name: kind.name, inputs: heads[..n_inputs].to_vec(), outputs, equations }
    }

    fn declare(&mut self, name: &str, ty: Ty, clock: ClockNo) {
        self.scope.streams.push(Stream { name: name.to_string(), ty, clock, alias: None });
    }

    fn inputs(&mut self, max: usize) -> usize {
        let counts: &[(usize, usize)] = if self.has(Feature::SampledInputs) {
            &[(1, 3), (1, 4)]
        } else {
            &[(2, 1), (4, 2), (4, 3), (3, 4), (1, 0)]
        };
        let n = self.choices.weighted(counts).min(max);
        for (number, name) in INPUTS.iter().enumerate().take(n) {
            let ty = match number {
                0 if self.has(Feature::Smooth) => self.choices.weighted(&[(6, Ty::Num), (2, Ty::Vector)]),
                0 => self.choices.weighted(&[(6, Ty::Num), (1, Ty::Bool), (1, Ty::Vector)]),
                1 => self.choices.weighted(&[(6, Ty::Bool), (1, Ty::Num)]),
                _ => self.choices.weighted(&[(3, Ty::Num), (3, Ty::Bool), (1, Ty::Vector), (1, Ty::Int)]),
            };
            let is_sampled =
                !self.has(Feature::OneClock) && (self.choices.once_in(3) || self.has(Feature::SampledInputs));
            let clock = if is_sampled { self.some_clock() } else { BASE };
            self.declare(name, ty, clock);
        }
        n
    }

    /// The clock of some condition; the base if there is none.
    fn some_clock(&mut self) -> ClockNo {
        let is_condition =
            |stream: &Stream| stream.ty == Ty::Bool && self.scope.n_samplings(stream.clock) < MAX_SAMPLINGS;
        let conditions: Vec<usize> = (0..self.scope.streams.len())
            .filter(|number| is_condition(&self.scope.streams[*number]))
            .collect();
        if conditions.is_empty() || !self.has(Feature::Sampling) {
            return BASE;
        }
        let condition = self.choices.among(&conditions);
        let polarity = self.choices.below(2) == 0;
        self.scope.on(condition, polarity)
    }

    /// Declares the locals; returns the pairs among them that are the outputs of one instance, and its node.
    fn locals(&mut self, kind: Kind) -> Vec<(usize, usize)> {
        let n_outputs = kind.n_outputs.unwrap_or(1);
        let n = n_outputs + self.choices.below(kind.max_locals);
        let mut pairs = Vec::new();
        let first = self.scope.streams.len();
        let two = self.callees.iter().position(|callee| callee.outputs.len() == 2);
        while self.scope.streams.len() < first + n {
            let number = self.scope.streams.len() - first;
            if let Some(callee) = two
                && number + 2 <= LOCALS.len()
                && self.choices.once_in(4)
            {
                pairs.push((first + number, callee));
                let clock = if number < n_outputs { BASE } else { self.local_clock() };
                for (output, name) in LOCALS[number..number + 2].iter().enumerate() {
                    let ty = self.callees[callee].outputs[output].ty;
                    self.declare(name, ty, clock);
                }
                continue;
            }
            let name = LOCALS[number];
            if number < n_outputs {
                let ty = self.output_type();
                self.declare(name, ty, BASE);
            } else if self.choices.once_in(10) {
                self.declare_alias(name);
            } else {
                let vectors = if self.has(Feature::Smooth) { 4 } else { 1 };
                let types = [(5, Ty::Num), (4, Ty::Bool), (vectors, Ty::Vector), (1, Ty::Int)];
                let ty = self.choices.weighted(&types);
                let clock = self.local_clock();
                self.declare(name, ty, clock);
            }
        }
        pairs
    }

    /// The type of a local that may become an output. A program to differentiate returns numbers, often of
    /// the type of its first input.
    fn output_type(&mut self) -> Ty {
        let types = [(6, Ty::Num), (1, Ty::Vector), (1, Ty::Bool), (1, Ty::Int)];
        if !self.has(Feature::Smooth) {
            return self.choices.weighted(&types);
        }
        match self.scope.streams.first() {
            Some(Stream { ty: Ty::Vector, .. }) if !self.choices.once_in(3) => Ty::Vector,
            _ => self.choices.weighted(&types[..2]),
        }
    }

    fn local_clock(&mut self) -> ClockNo {
        if self.choices.once_in(3) { self.some_clock() } else { BASE }
    }

    /// A copy or a negation of a condition.
    fn declare_alias(&mut self, name: &str) {
        let bools: Vec<usize> = (0..self.scope.streams.len())
            .filter(|number| self.scope.streams[*number].ty == Ty::Bool)
            .collect();
        if bools.is_empty() {
            return self.declare(name, Ty::Num, BASE);
        }
        let origin = self.choices.among(&bools);
        let is_copy = self.choices.below(2) == 1;
        let clock = self.scope.streams[origin].clock;
        let alias = match self.scope.streams[origin].alias {
            Some((origin, origin_is_copy)) => (origin, origin_is_copy == is_copy),
            None => (origin, is_copy),
        };
        self.scope.streams.push(Stream { name: name.to_string(), ty: Ty::Bool, clock, alias: Some(alias) });
    }

    /// The last input, if it is a number, may be sampled by a condition that the node computes.
    fn sample_an_input(&mut self, n_inputs: usize, kind: Kind) {
        let is_plain = kind.n_outputs.is_some() || self.has(Feature::OneClock);
        if is_plain || n_inputs < 2 || !self.choices.once_in(4) {
            return;
        }
        let last = n_inputs - 1;
        if self.scope.streams[last].ty == Ty::Num {
            let clock = self.some_clock();
            self.scope.streams[last].clock = clock;
        }
    }

    /// A declaration: the name, usually with its type, sometimes with its clock.
    fn head(&mut self, number: usize, is_input: bool) -> String {
        let Stream { name, ty, clock, .. } = self.scope.streams[number].clone();
        let is_plain = match ty {
            Ty::Vector => false,
            _ if is_input => self.choices.once_in(4),
            _ => !self.choices.once_in(8),
        };
        let mut head = if is_plain { name } else { format!("{name}:{}", ty.text()) };
        if self.has(Feature::WrittenClocks) && self.choices.once_in(3) {
            let mut samplings = Vec::new();
            let mut at = clock;
            while let Some(sampling) = self.scope.sampling(at) {
                let (condition, not) = (&self.scope.streams[sampling.condition].name, not(sampling.polarity));
                samplings.push(format!(" when {not}{condition}"));
                at = sampling.of;
            }
            head.extend(samplings.into_iter().rev());
        }
        head
    }

    /// Annotates numbers that are parts of vectors in recurrences, because inference cannot tell which of the
    /// two a stream is.
    fn write_shapes(&self, heads: &mut [String], first: usize) {
        for (head, stream) in heads.iter_mut().zip(&self.scope.streams[first..]) {
            if stream.ty == Ty::Num {
                let rest = head.trim_start_matches(&stream.name).trim_start_matches(":num");
                *head = format!("{}:num []{rest}", stream.name);
            }
        }
    }

    /// Equations that put inputs on their intended clocks: an input that is used by itself is on its own
    /// clock.
    fn links(&mut self, n_inputs: usize) -> Vec<String> {
        let (mut equations, has_sampled_inputs) = (Vec::new(), self.has(Feature::SampledInputs));
        for (input, name) in (0..n_inputs).zip(["t", "u", "v", "w"]) {
            let Stream { name: linked, ty, clock, .. } = self.scope.streams[input].clone();
            let is_linked = |_: &_| !self.choices.once_in(3) || has_sampled_inputs;
            let Some(sampling) = self.scope.sampling(clock).filter(is_linked) else {
                continue;
            };
            if self.choices.below(2) == 1 {
                let (condition, not) = (&self.scope.streams[sampling.condition].name, not(sampling.polarity));
                equations.push(format!(
                    "{name} = if {condition} when {not}{condition} then {linked} else {linked};"
                ));
                continue;
            }
            let mut value = Text::atom(linked);
            let mut at = clock;
            while let Some(sampling) = self.scope.sampling(at) {
                let condition = Text::atom(self.scope.streams[sampling.condition].name.clone());
                let other = self.literal(if ty == Ty::Vector { Ty::Num } else { ty });
                let (yes, no) = if sampling.polarity { (value, other) } else { (other, value) };
                value = Text::merge(condition, yes, no);
                at = sampling.of;
            }
            equations.push(format!("{name} = {};", value.loose()));
        }
        equations
    }

    /// An equation that puts all inputs on one clock.
    fn tied(&self, n_inputs: usize) -> Option<String> {
        let there = self.scope.streams[..n_inputs].iter().map(|Stream { name, ty, .. }| match ty {
            Ty::Bool => name.clone(),
            Ty::Num => format!("{name} > 0.0"),
            Ty::Int => format!("{name} > 0"),
            Ty::Vector => format!("sum({name}) > 0.0"),
        });
        let all = there.reduce(|left, right| format!("{left} and {right}"))?;
        Some(format!("_ = {all};"))
    }

    /// An instantiated node returns its first locals, which are on its base or on a clock that an input
    /// samples.
    fn outputs(&mut self, n_inputs: usize, kind: Kind) -> Vec<usize> {
        let locals = n_inputs..self.scope.streams.len();
        match kind.n_outputs {
            None => {
                let mut outputs: Vec<usize> = Vec::new();
                let is_fit =
                    |local: &usize| !self.has(Feature::OneClock) || self.scope.streams[*local].clock == BASE;
                let fit: Vec<usize> = locals.filter(is_fit).collect();
                for local in &fit {
                    let is_number = *local == n_inputs && self.has(Feature::Smooth);
                    if Some(local) == fit.last() || is_number || self.choices.below(2) == 1 {
                        outputs.push(*local);
                    }
                }
                outputs
            }
            Some(1) => {
                let is_visible = |clock: ClockNo| match self.scope.sampling(clock) {
                    None => true,
                    Some(sampling) => sampling.of == BASE && sampling.condition < n_inputs,
                };
                let is_fit = |local: &usize| {
                    let Stream { ty, clock, .. } = self.scope.streams[*local];
                    let has_derivative = matches!(ty, Ty::Num | Ty::Vector);
                    is_visible(clock) && (has_derivative || !self.has(Feature::Smooth))
                };
                let eligible: Vec<usize> = locals.filter(is_fit).collect();
                vec![self.choices.among(&eligible)]
            }
            Some(n) => locals.take(n).collect(),
        }
    }
}
