//! One production per form of expression; each takes a place and makes an expression for it.

use super::Generator;
use super::program::Feature;
use super::scope::{ClockNo, MAX_SAMPLINGS, Ty};
use super::text::{Level, Text};

/// The place of an expression.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub clock: ClockNo,
    /// The maximal depth.
    pub depth: u32,
    /// How far into the future the path from the equation leads.
    pub weight: i32,
    /// Whether a condition, or the end of the trace, can break that path.
    pub is_guarded: bool,
}

impl Place {
    /// The whole right side of an equation.
    pub fn root(clock: ClockNo, depth: u32) -> Place {
        Place { clock, depth, weight: 0, is_guarded: false }
    }

    pub fn operand(self) -> Place {
        Place { depth: self.depth.saturating_sub(1), ..self }
    }

    pub fn branch(self) -> Place {
        Place { is_guarded: true, ..self.operand() }
    }

    pub fn past(self) -> Place {
        Place { weight: self.weight - 1, ..self.operand() }
    }

    pub fn future(self) -> Place {
        Place { weight: self.weight + 1, ..self.operand() }
    }

    pub fn on(self, clock: ClockNo) -> Place {
        Place { clock, ..self }
    }
}

#[derive(Clone, Copy)]
enum Form {
    Leaf,
    Pointwise,
    If,
    Fby,
    Post,
    FbyBack,
    Merge,
    When,
    Instance,
    Reset,
    Param,
}

impl Generator<'_> {
    /// An expression of a type.
    pub fn expression(&mut self, ty: Ty, place: Place) -> Text {
        if place.depth == 0 {
            return self.leaf(ty, place);
        }
        let is_smooth = self.has(Feature::Smooth);
        let parameters = match (ty, is_smooth) {
            _ if !self.has(Feature::Parameters) => 0,
            (Ty::Num, true) => 3,
            (Ty::Num, false) | (Ty::Vector, true) => 1,
            _ => 0,
        };
        let back = usize::from(self.has(Feature::FbyBack));
        let sampled = usize::from(self.scope.sampling(place.clock).is_some());
        let form = self.choices.weighted(&[
            (4, Form::Leaf),
            (if is_smooth { 16 } else { 8 }, Form::Pointwise),
            (2, Form::If),
            (4, Form::Fby),
            (3, Form::Post),
            (back, Form::FbyBack),
            (4, Form::Merge),
            (5 * sampled, Form::When),
            (3, Form::Instance),
            (1, Form::Reset),
            (parameters, Form::Param),
        ]);
        match form {
            Form::Leaf => self.leaf(ty, place),
            Form::Pointwise => self.pointwise(ty, place),
            Form::If => {
                let condition = self.expression(Ty::Bool, place.operand());
                let (yes, no) = self.alternatives(ty, [place.branch(), place.branch()]);
                Text::choice(condition, yes, no)
            }
            Form::Fby => {
                let first = Place { depth: place.depth.min(2), ..place }.branch();
                let (init, next) = self.alternatives(ty, [first, place.past()]);
                Text::delayed(init, "fby", next)
            }
            Form::Post => self.expression(ty, place.future()).prefixed("post"),
            Form::FbyBack => {
                let last = Place { depth: place.depth.min(2), ..place }.branch();
                let (init, next) =
                    self.alternatives(ty, [last, Place { is_guarded: true, ..place.future() }]);
                Text::delayed(init, "fby back", next)
            }
            Form::Merge => self.merge(ty, place),
            Form::When => self.sampled(place, |generator, place| generator.expression(ty, place)),
            Form::Instance => self.instance(ty, place).unwrap_or_else(|| self.leaf(ty, place)),
            Form::Reset => self.reset(ty, place).unwrap_or_else(|| self.leaf(ty, place)),
            Form::Param => {
                let varies = self.has(Feature::VaryingParameters) && (!is_smooth || self.choices.once_in(4));
                let init = if varies { self.expression(ty, place.operand()) } else { self.literal(ty) };
                Text::call("param", vec![init])
            }
        }
    }

    /// A stream, an operator on one, or a literal.
    pub fn leaf(&mut self, ty: Ty, place: Place) -> Text {
        // No unguarded path may lead back here at the same cycle or later. Some guarded paths do: they wait
        // for the other branch.
        let is_ahead = place.weight > 0 || self.choices.once_in(10);
        let sees_later = place.weight < 0 || (place.is_guarded && is_ahead && self.has(Feature::Guards));
        let streams = self.scope.visible(ty, place.clock, sees_later);
        let is_sampled = usize::from(self.scope.sampling(place.clock).is_some());
        let n_streams = if streams.is_empty() { 0 } else { 6 };
        match self.choices.weighted(&[(n_streams, 0), (2 * is_sampled, 1), (1, 2), (1, 3)]) {
            0 => Text::atom(self.scope.streams[self.choices.among(&streams)].name.clone()),
            1 => self.sampled(place, |generator, place| generator.leaf(ty, place)),
            2 => self.literal(ty),
            _ => {
                let numbers = self.scope.visible(Ty::Num, place.clock, sees_later);
                if numbers.is_empty() {
                    return self.literal(ty);
                }
                let number = Text::atom(self.scope.streams[self.choices.among(&numbers)].name.clone());
                match ty {
                    Ty::Bool => Text::infix(number, ">", Text::atom("0.0")),
                    Ty::Vector => Text::atom(format!("[{}, 2.0]", number.loose())),
                    Ty::Num | Ty::Int => self.literal(ty),
                }
            }
        }
    }

    /// Two expressions of one shape. Next to a stream that is known to be a vector, a scalar literal becomes
    /// a vector too.
    fn alternatives(&mut self, ty: Ty, [first, second]: [Place; 2]) -> (Text, Text) {
        if ty == Ty::Vector && self.choices.once_in(3) {
            return (self.literal(Ty::Num), self.leaf(ty, second));
        }
        (self.expression(ty, first), self.expression(ty, second))
    }

    pub fn literal(&mut self, ty: Ty) -> Text {
        let text = match ty {
            Ty::Num if self.has(Feature::Smooth) => self.choices.among(&["0.5", "1.25", "0.75", "2.0"]),
            Ty::Num => self.choices.among(&["1.0", "0.0", "2.0", "0.5", "3.0"]),
            Ty::Bool => self.choices.among(&["true", "false"]),
            Ty::Int => self.choices.among(&["1", "0", "2", "5"]),
            Ty::Vector => return self.vector_literal(),
        };
        Text::atom(text)
    }

    fn vector_literal(&mut self) -> Text {
        if !self.has_random && self.has(Feature::Random) && self.choices.once_in(4) {
            self.has_random = true;
            return Text::atom("glorot_uniform([2])");
        }
        Text::atom(self.choices.among(&["[1.0, 2.0]", "zeros([2])", "ones([2])"]))
    }

    /// `e when c`, on a sampled clock; `e` is made for the clock of `c`.
    fn sampled(&mut self, place: Place, make: impl FnOnce(&mut Self, Place) -> Text) -> Text {
        let sampling = self.scope.sampling(place.clock).expect("the place is sampled");
        let value = make(self, place.operand().on(sampling.of));
        let (name, polarity) = self.condition_name(sampling.condition, sampling.polarity);
        value.sampled(&name, polarity)
    }

    /// A condition by its own name or by that of a copy or a negation.
    fn condition_name(&mut self, condition: usize, polarity: bool) -> (String, bool) {
        let names = self.scope.names_of(condition, polarity);
        names[self.choices.below(names.len())].clone()
    }

    /// A condition on a clock. At places that read the past, it may be defined later in the text.
    pub fn condition(&mut self, place: Place) -> Option<usize> {
        let conditions = self.scope.visible(Ty::Bool, place.clock, place.weight < 0);
        if conditions.is_empty() { None } else { Some(self.choices.among(&conditions)) }
    }

    /// `merge c a b`; if no condition has a name, the branches are constants, which are on any clock.
    fn merge(&mut self, ty: Ty, place: Place) -> Text {
        let can_sample = self.has(Feature::Sampling) && self.scope.n_samplings(place.clock) < MAX_SAMPLINGS;
        let condition = if can_sample { self.condition(place) } else { None };
        let Some(condition) = condition else {
            let condition = self.expression(Ty::Bool, place.operand());
            let (yes, no) = (self.literal(ty), self.literal(ty));
            return Text::merge(condition, yes, no);
        };
        let (on, on_not) = (self.scope.on(condition, true), self.scope.on(condition, false));
        let (yes, no) = self.alternatives(ty, [place.branch().on(on), place.branch().on(on_not)]);
        Text::merge(Text::atom(self.scope.streams[condition].name.clone()), yes, no)
    }

    /// `fby_end` or `post_end` of the prelude.
    fn reset(&mut self, ty: Ty, place: Place) -> Option<Text> {
        let shape = match ty {
            Ty::Num | Ty::Int => "[]",
            Ty::Vector => "[2]",
            Ty::Bool => return None,
        };
        let end = self.condition(place)?;
        let end = Text::atom(self.scope.streams[end].name.clone());
        let is_forward = self.choices.below(2) == 0;
        let (name, inside) =
            if is_forward { ("fby_end", place.past()) } else { ("post_end", place.future()) };
        let init = self.leaf(ty, place.branch());
        let next = self.expression(ty, Place { is_guarded: true, ..inside });
        Some(Text::call(name, vec![Text::atom(shape), end, init, next]))
    }
}

/// An index into a vector.
pub fn indexed(vector: Text, index: usize) -> Text {
    Text::atom(format!("{}[{index}]", vector.at(Level::Atom)))
}
