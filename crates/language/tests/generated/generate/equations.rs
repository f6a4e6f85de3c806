//! Typical right sides: recurrences that run forwards, recurrences that run backwards until a condition
//! breaks them, resets, and held streams.

use super::Generator;
use super::expressions::Place;
use super::program::Feature;
use super::scope::{MAX_SAMPLINGS, Ty};
use super::text::Text;

/// The depth of the right side of an equation.
const DEPTH: u32 = 3;

#[derive(Clone, Copy)]
enum Form {
    Expression,
    /// `e + (k fby v)`.
    Forwards,
    /// `merge c (e when c) ((post v) when not c)`, and with `fby` in place of `post`.
    Filled,
    /// `if c then e else post v`.
    Chosen,
    /// `e + fby_end(shape, c, k, v)`, and `post_end`.
    Reset,
    /// `e + (k fby back v)`.
    Backwards,
    /// `backfill(e, c)`.
    Backfill,
    /// `if c then e else v`: waits for itself where `c` does not hold.
    Waiting,
}

impl Generator<'_> {
    /// The right side of the equation of a stream.
    pub fn right_side(&mut self, stream: usize) -> Text {
        let declared = self.scope.streams[stream].clone();
        let (ty, place) = (declared.ty, Place::root(declared.clock, DEPTH));
        if let Some((origin, is_copy)) = declared.alias {
            let origin = Text::atom(self.scope.streams[origin].name.clone());
            return if is_copy { origin } else { origin.prefixed("not") };
        }
        let guards = usize::from(self.has(Feature::Guards));
        let back = guards * usize::from(self.has(Feature::FbyBack));
        let form = self.choices.weighted(&[
            (9, Form::Expression),
            (3, Form::Forwards),
            (3 * usize::from(self.has(Feature::Sampling)), Form::Filled),
            (2 * guards, Form::Chosen),
            (2, Form::Reset),
            (back, Form::Backwards),
            (guards, Form::Backfill),
            (guards, Form::Waiting),
        ]);
        let own = Text::atom(declared.name);
        self.recurrence(form, ty, own, place).unwrap_or_else(|| self.expression(ty, place))
    }

    fn recurrence(&mut self, form: Form, ty: Ty, own: Text, place: Place) -> Option<Text> {
        match form {
            Form::Expression => None,
            Form::Forwards => {
                let incoming = self.expression(ty, place.operand());
                let delayed = Text::delayed(self.literal(ty), "fby", own);
                Some(self.combined(ty, incoming, delayed))
            }
            Form::Backwards => {
                let incoming = self.expression(ty, place.operand());
                let delayed = Text::delayed(self.literal(ty), "fby back", own);
                Some(self.combined(ty, incoming, delayed))
            }
            Form::Filled => {
                if self.scope.n_samplings(place.clock) >= MAX_SAMPLINGS {
                    return None;
                }
                let condition = self.condition(place)?;
                let name = self.scope.streams[condition].name.clone();
                let on = self.scope.on(condition, true);
                let fresh = self.expression(ty, place.branch().on(on));
                let held = if self.choices.below(2) == 0 && self.has(Feature::Guards) {
                    own.prefixed("post")
                } else {
                    Text::delayed(self.literal(ty), "fby", own)
                };
                Some(Text::merge(Text::atom(name.clone()), fresh, held.sampled(&name, false)))
            }
            Form::Chosen => {
                let condition = self.expression(Ty::Bool, place.operand());
                let incoming = self.expression(ty, place.branch());
                let ahead = own.prefixed("post");
                let ahead = match self.choices.below(2) {
                    0 => ahead,
                    _ => {
                        let more = self.leaf(ty, place);
                        self.combined(ty, more, ahead)
                    }
                };
                Some(Text::choice(condition, incoming, ahead))
            }
            Form::Reset => {
                let shape = match ty {
                    Ty::Num | Ty::Int => "[]",
                    Ty::Vector => "[2]",
                    Ty::Bool => return None,
                };
                let end = self.condition(place)?;
                let end = Text::atom(self.scope.streams[end].name.clone());
                let names =
                    if self.has(Feature::Guards) { &["fby_end", "post_end"][..] } else { &["fby_end"] };
                let name = self.choices.among(names);
                let init = self.leaf(ty, place.operand());
                let recurrence = Text::call(name, vec![Text::atom(shape), end, init, own]);
                let incoming = self.expression(ty, place.operand());
                Some(self.combined(ty, incoming, recurrence))
            }
            Form::Backfill => {
                let condition = self.condition(place)?;
                let name = Text::atom(self.scope.streams[condition].name.clone());
                Some(Text::call("backfill", vec![self.expression(ty, place.operand()), name]))
            }
            Form::Waiting => {
                let condition = self.expression(Ty::Bool, place.operand());
                let incoming = self.expression(ty, place.branch());
                Some(Text::choice(condition, incoming, own))
            }
        }
    }
}
