//! Clocks: at which cycles a stream is there (section 5).
//!
//! A clock is a root, or a clock sampled by a condition: `base on c on not d`. Inference, which belongs to the language, finds the
//! clock of each stream; passes that come after it, such as planning, get a flow and its clocks.

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::{Flow, Polarity, VarId};

/// A clock; see [`Clocks`] for what it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClockId(u32);

impl ClockId {
    /// The clock with this number.
    pub fn new(index: usize) -> ClockId {
        ClockId(u32::try_from(index).expect("fewer clocks than streams"))
    }

    /// Its number.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a clock is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clock {
    /// As fast as the inputs that own it.
    Root(Root),
    /// The cycles of `of` where a condition has this value.
    On {
        /// The faster clock.
        of: ClockId,
        /// The condition, on that clock.
        condition: VarId,
        /// Which value of it.
        polarity: Polarity,
    },
}

/// When a root is active.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Root {
    /// When one of the inputs that lie on it is present; this is the first of them.
    Input(VarId),
    /// At every cycle: no input owns any root.
    Always,
}

/// The clock of each stream.
#[derive(Clone, Debug)]
pub struct Clocks {
    clocks: Vec<Clock>,
    of_var: Vec<ClockId>,
    /// Streams that stand for roots that no input owns, one for each; the environment demands them.
    demanded: Vec<VarId>,
    /// The number of each root, by its owner. Only messages and listings name roots, so they are counted at the first question.
    root_numbers: OnceLock<FxHashMap<VarId, usize>>,
}

impl Clocks {
    /// The clocks of a program: all clocks, each after the one that it samples; that of each stream; and the streams that stand
    /// for roots that no input owns.
    pub fn new(clocks: Vec<Clock>, of_var: Vec<ClockId>, demanded: Vec<VarId>) -> Clocks {
        Clocks { clocks, of_var, demanded, root_numbers: OnceLock::new() }
    }

    /// The clock of a stream.
    pub fn of(&self, var: VarId) -> ClockId {
        self.of_var[var.index()]
    }

    /// What a clock is.
    pub fn clock(&self, clock: ClockId) -> Clock {
        self.clocks[clock.index()]
    }

    /// All clocks; a clock comes after the one that it samples.
    pub fn all(&self) -> &[Clock] {
        &self.clocks
    }

    /// Streams on roots that no input owns, one for each root: what the environment asks for.
    pub fn demanded(&self) -> &[VarId] {
        &self.demanded
    }

    /// The inputs that lie directly on the root of `owner`; it is active where one of them is present.
    pub fn inputs_on_root(&self, flow: &Flow, owner: VarId) -> Vec<VarId> {
        flow.inputs.iter().copied().filter(|input| self.of(*input) == self.of(owner)).collect()
    }

    /// Whether a clock is a root.
    pub fn is_root(&self, clock: ClockId) -> bool {
        matches!(self.clock(clock), Clock::Root(_))
    }

    /// The clock as people read it: `base on c`; `label` names a condition.
    pub fn show(&self, flow: &Flow, clock: ClockId, label: &impl Fn(VarId) -> String) -> String {
        let mut conditions = Vec::new();
        let mut at = clock;
        let root = loop {
            match self.clock(at) {
                Clock::Root(root) => break root,
                Clock::On { of, condition, polarity } => {
                    let not = if polarity == Polarity::On { "" } else { "not " };
                    conditions.push(format!(" on {not}{}", label(condition)));
                    at = of;
                }
            }
        };
        let mut text = self.root_name(flow, root);
        text.extend(conditions.into_iter().rev());
        text
    }

    /// `base` for the first root that an input lies on, then `'a`, `'b`, and so on.
    fn root_name(&self, flow: &Flow, root: Root) -> String {
        let Root::Input(owner) = root else { return "base".to_string() };
        let numbers = self.root_numbers.get_or_init(|| self.number_roots(flow));
        match numbers.get(&owner) {
            None | Some(0) => "base".to_string(),
            Some(number) => letters(number - 1),
        }
    }

    /// The roots in the order of the first inputs that lie on them.
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

/// The name of a root that is not the first one: `'a` to `'z`, then `'a1` and so on.
pub fn letters(number: usize) -> String {
    let letter = char::from(b'a' + u8::try_from(number % 26).expect("below 26"));
    match number / 26 {
        0 => format!("'{letter}"),
        round => format!("'{letter}{round}"),
    }
}
