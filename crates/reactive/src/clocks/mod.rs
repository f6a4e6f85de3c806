//! Clocks: at which cycles a stream is there (section 5).
//!
//! A clock is a root, or a clock sampled by a condition: `base on c on not d`. Streams of one operation have one clock; `when`
//! makes a slower one, `merge` joins two complementary ones. Clocks are found by unification, and a program whose streams
//! would be combined at different times is refused.
//!
//! Conditions are compared as variables, up to copies and negations: `n = not c` makes `on n` the same as `on not c`. Two texts
//! `a and b` are two conditions, since nothing says that they stay equal.

mod errors;
mod infer;

use eddy_syntax::Diagnostic;

use crate::flow::{Flow, Polarity, VarId};

/// A clock; see [`Clocks`] for what it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClockId(u32);

impl ClockId {
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
}

impl Clocks {
    /// Finds the clocks of a program.
    pub fn infer(flow: &Flow) -> Result<Clocks, Vec<Diagnostic>> {
        infer::infer(flow, true)
    }

    /// Finds clocks as far as there are any: a program that is run unchecked may have none.
    pub fn guess(flow: &Flow) -> Clocks {
        infer::infer(flow, false).expect("mistakes are ignored")
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
        let mut owners: Vec<VarId> = Vec::new();
        for input in &flow.inputs {
            if let Clock::Root(Root::Input(owner)) = self.clock(self.of(*input))
                && !owners.contains(&owner)
            {
                owners.push(owner);
            }
        }
        match owners.iter().position(|other| *other == owner) {
            None | Some(0) => "base".to_string(),
            Some(number) => letters(number - 1),
        }
    }
}

/// `'a` to `'z`, then `'a1` and so on.
fn letters(number: usize) -> String {
    let letter = char::from(b'a' + u8::try_from(number % 26).expect("below 26"));
    match number / 26 {
        0 => format!("'{letter}"),
        round => format!("'{letter}{round}"),
    }
}
