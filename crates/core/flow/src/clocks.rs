//! Clocks: the cycles at which a stream is present (section 5).
//!
//! A clock is a root, or a clock sampled by a condition: `base on c on not d`. The language infers the clock
//! of each stream; later passes, such as planning, receive a flow together with its clocks.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::{Flow, Polarity, VarId, cases};

eddy_index::id! {
    /// A clock, as an index into [`Clocks::all`].
    pub struct ClockId, "fewer clocks than streams";
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clock {
    /// Active when an input on it is present.
    Root(Root),
    /// The cycles of `of` at which the condition has the value that `polarity` names.
    On {
        of: ClockId,
        /// A stream on the clock `of`.
        condition: VarId,
        polarity: Polarity,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Root {
    /// Active when any input on this root is present. The field is the first such input.
    Input(VarId),
    /// Active at every cycle; used when no input lies on any root.
    Always,
}

#[derive(Clone, Debug)]
pub struct Clocks {
    clocks: Vec<Clock>,
    of_var: Vec<ClockId>,
    /// One stream for each root without an input; the environment activates these roots by demanding the
    /// streams.
    demanded: Vec<VarId>,
    /// The number of each root, by its owner. Computed on demand, because only diagnostics and listings name
    /// roots.
    root_numbers: OnceLock<FxHashMap<VarId, usize>>,
}

impl Clocks {
    /// `clocks` lists every clock after the clock that it samples; `of_var` gives the clock of each stream;
    /// `demanded` has one stream for each root without an input.
    pub fn new(clocks: Vec<Clock>, of_var: Vec<ClockId>, demanded: Vec<VarId>) -> Clocks {
        Clocks { clocks, of_var, demanded, root_numbers: OnceLock::new() }
    }

    /// The clock of a stream.
    pub fn of(&self, var: VarId) -> ClockId {
        self.of_var[var.index()]
    }

    pub fn clock(&self, clock: ClockId) -> Clock {
        self.clocks[clock.index()]
    }

    /// All clocks, each after the clock that it samples.
    pub fn all(&self) -> &[Clock] {
        &self.clocks
    }

    /// One stream for each root without an input; the environment activates these roots by demanding the
    /// streams.
    pub fn demanded(&self) -> &[VarId] {
        &self.demanded
    }

    /// The inputs on the same root as `owner`. The root is active when any of them is present.
    pub fn inputs_on_root(&self, flow: &Flow, owner: VarId) -> Vec<VarId> {
        flow.inputs.iter().copied().filter(|input| self.of(*input) == self.of(owner)).collect()
    }

    pub fn is_root(&self, clock: ClockId) -> bool {
        matches!(self.clock(clock), Clock::Root(_))
    }

    /// Displays a clock as `base on c`; `label` names the conditions.
    pub fn show(&self, flow: &Flow, clock: ClockId, label: &impl Fn(VarId) -> String) -> String {
        let mut conditions = Vec::new();
        let mut at = clock;
        let root = loop {
            match self.clock(at) {
                Clock::Root(root) => break root,
                Clock::On { of, condition, polarity } => {
                    let label = label(condition);
                    let not = if polarity == Polarity::On { "" } else { "not " };
                    if !cases::is_test(&label) {
                        conditions.push(format!(" on {not}{label}"));
                    } else if let Some(shown) = cases::shown(&label, polarity) {
                        conditions.push(format!(" on {shown}"));
                    }
                    at = of;
                }
            }
        };
        let mut text = self.root_name(flow, root);
        text.extend(conditions.into_iter().rev());
        text
    }

    /// `base` for the root of the first input, then `'a`, `'b`, and so on.
    fn root_name(&self, flow: &Flow, root: Root) -> String {
        let Root::Input(owner) = root else { return "base".to_string() };
        let numbers = self.root_numbers.get_or_init(|| self.number_roots(flow));
        match numbers.get(&owner) {
            None | Some(0) => "base".to_string(),
            Some(number) => letters(number - 1),
        }
    }

    /// Numbers the roots in the order of their first inputs.
    fn number_roots(&self, flow: &Flow) -> FxHashMap<VarId, usize> {
        let mut numbers = FxHashMap::default();
        for input in &flow.inputs {
            if let Clock::Root(Root::Input(owner)) = self.clock(self.of(*input)) {
                let next = numbers.len();
                numbers.entry(owner).or_insert(next);
            }
        }
        numbers
    }
}

/// The name of the root with this number, not counting `base`: `'a` to `'z`, then `'a1` and so on.
pub fn letters(number: usize) -> String {
    let letter = char::from(b'a' + u8::try_from(number % 26).expect("below 26"));
    match number / 26 {
        0 => format!("'{letter}"),
        round => format!("'{letter}{round}"),
    }
}
