//! Loops with lags, as instructions (section 3).

use eddy_flow::VarId;
use eddy_tensor::Scalar;
use rustc_hash::FxHashMap;

use crate::plan::{Body, Condition, Instruction, Lagged, Late, Place, Read, Register, Right, Ring, SlotId};
use crate::retime::Lags;
use crate::system::{ClockNo, Def, System};
use eddy_flow::Polarity;

/// The bytes of one value of a stream.
pub fn width(system: &System<'_>, var: VarId) -> u64 {
    let ty = &system.flow.var(var).ty;
    let width = match ty.scalar {
        Scalar::Bool => 1,
        Scalar::Int | Scalar::Num => 8,
    };
    width * ty.shape.iter().map(|size| *size as u64).product::<u64>()
}

/// The bytes of rings and registers.
pub fn bytes(system: &System<'_>, lagged: &Lagged) -> u64 {
    let rings = lagged.rings.iter().map(|ring| ring.slots as u64 * width(system, ring.var));
    let registers = lagged.registers.iter().map(|register| width(system, register.fby));
    rings.sum::<u64>() + registers.sum::<u64>()
}

/// The context of a loop.
pub struct Site<'a> {
    /// The clock whose activations the loop counts.
    pub clock: ClockNo,
    /// The streams that are outputs or that the window reads.
    pub outputs: &'a [VarId],
    /// Whether outputs wait for the latest stream of the loop, and not only for the latest output.
    pub waits_for_all: bool,
    /// The places of operands that the loop does not compute.
    pub outside: &'a dyn Fn(VarId) -> Place,
    /// Where delays keep values between windows.
    pub slot: &'a dyn Fn(VarId) -> Option<SlotId>,
    /// Whether a stream is computed outside of the loop.
    pub is_given: &'a dyn Fn(VarId) -> bool,
    /// Whether a stream is unknown regardless of its equation.
    pub is_always_unknown: &'a dyn Fn(VarId) -> bool,
}

/// The loop with these lags.
pub fn lagged(system: &System<'_>, lags: &Lags, site: &Site<'_>) -> Lagged {
    let mut coder = Coder {
        system,
        site,
        lags: lags.order.iter().copied().collect(),
        ages: FxHashMap::default(),
        registers: Vec::new(),
    };
    let mut body = Vec::new();
    for (var, lag) in &lags.order {
        if !(site.is_given)(*var) {
            body.push(Late { lag: *lag, instruction: coder.instruction(*var) });
        }
    }
    let lag_of = |var: &VarId| coder.lags.get(var).copied();
    let look_ahead = site.outputs.iter().filter_map(lag_of).max().unwrap_or(0);
    let mut conditions: Vec<usize> = Vec::new();
    for output in site.outputs {
        conditions.extend(system.conditions(system.clock(*output)).filter_map(|(var, _)| lag_of(&var)));
    }
    let max_lag = lags.order.iter().map(|(_, lag)| *lag).max().unwrap_or(0);
    let look_ahead =
        if site.waits_for_all { max_lag } else { conditions.into_iter().fold(look_ahead, usize::max) };
    let emit = site.outputs.iter().map(|output| coder.emit(*output, look_ahead)).collect();
    let mut rings: Vec<Ring> = coder
        .ages
        .iter()
        .map(|(var, age)| Ring { var: *var, slots: age + 1 })
        .filter(|ring| ring.slots > 1)
        .collect();
    rings.sort_unstable_by_key(|ring| ring.var);
    Lagged { body, rings, registers: coder.registers, max_lag, look_ahead, emit: Body { code: emit } }
}

struct Coder<'a> {
    system: &'a System<'a>,
    site: &'a Site<'a>,
    lags: FxHashMap<VarId, usize>,
    /// The age of the oldest value of each stream that is read.
    ages: FxHashMap<VarId, usize>,
    registers: Vec<Register>,
}

impl Coder<'_> {
    /// The place of an operand for a stream with this lag, `ahead` activations after its own.
    fn place(&mut self, lag: usize, operand: VarId, ahead: isize) -> Place {
        match self.system.def(operand) {
            Def::Known(known) => return Place::Immediate(known.immediate()),
            Def::Absent => return Place::Absent,
            _ => {}
        }
        let Some(other) = self.lags.get(&operand) else { return (self.site.outside)(operand) };
        let age = lag.cast_signed() - other.cast_signed() - ahead;
        let age = usize::try_from(age).expect("lags leave no operand in the future");
        let oldest = self.ages.entry(operand).or_default();
        *oldest = (*oldest).max(age);
        Place::Ring(age)
    }

    fn here(&mut self, lag: usize, operand: VarId) -> Read {
        Read::Here(operand, self.place(lag, operand, 0))
    }

    fn conditions(&mut self, lag: usize, var: VarId) -> Box<[Condition]> {
        let conditions = self.system.conditions_below(self.system.clock(var), self.site.clock);
        let condition = |(condition, truth): (VarId, bool)| Condition {
            read: self.here(lag, condition),
            polarity: if truth { Polarity::On } else { Polarity::OnNot },
        };
        conditions.into_iter().map(condition).collect()
    }

    fn instruction(&mut self, var: VarId) -> Instruction {
        let lag = self.lags[&var];
        if (self.site.is_always_unknown)(var) {
            // The conditions of its clock are checked only if the loop knows all of them.
            let conditions = self.system.conditions_below(self.system.clock(var), self.site.clock);
            let is_known = |(condition, _): &(VarId, bool)| {
                self.lags.contains_key(condition) || !self.system.is_stream(*condition)
            };
            let is_asked = conditions.iter().all(is_known);
            let clock = if is_asked { self.conditions(lag, var) } else { Box::default() };
            let right = Right::Ahead { slot: None, next: None, init: None };
            return Instruction { var, clock, right, store: Vec::new(), is_repeated: false };
        }
        let clock = self.conditions(lag, var);
        let right = match self.system.def(var) {
            Def::Input | Def::Known(_) | Def::Absent => unreachable!("only equations are computed"),
            Def::Materialised(known) => Right::Copy(Read::Here(var, Place::Immediate(known.immediate()))),
            Def::Copy(operand) => Right::Copy(self.here(lag, *operand)),
            Def::Apply(_, operands) => {
                Right::Apply(operands.iter().map(|operand| self.here(lag, *operand)).collect())
            }
            Def::Choice { condition, yes, no } => Right::Choice {
                condition: self.here(lag, *condition),
                yes: self.here(lag, *yes),
                no: self.here(lag, *no),
            },
            Def::Fby { init, next } => self.fby(lag, var, *init, *next),
            Def::Ahead { init, next } => {
                let place = self.place(lag, *next, 1);
                let next = Read::After { var: *next, inner: place.clone(), last: [place].into() };
                let init = init.map(|init| self.here(lag, init));
                Right::Ahead { slot: None, next: Some(next), init }
            }
        };
        Instruction { var, clock, right, store: Vec::new(), is_repeated: false }
    }

    fn fby(&mut self, lag: usize, var: VarId, init: VarId, next: VarId) -> Right {
        let slot = (self.site.slot)(var);
        let init = self.here(lag, init);
        let is_sampled = self.system.clock(var) != self.site.clock;
        let is_as_late = self.lags.get(&next).is_none_or(|other| *other == lag) && slot.is_none();
        if is_sampled || is_as_late {
            let next = self.here(lag, next);
            self.registers.push(Register { fby: var, next });
            return Right::Register { slot, init };
        }
        let place = self.place(lag, next, -1);
        let next = Read::Before { var: next, first: place.clone(), inner: place };
        Right::Previous { slot, init, next }
    }

    fn emit(&mut self, output: VarId, lag: usize) -> Instruction {
        let is_stream = self.system.is_stream(output);
        let right = Right::Copy(self.here(lag, output));
        // A computed stream carries its own presence.
        let clock = if is_stream { Box::default() } else { self.conditions(lag, output) };
        Instruction { var: output, clock, right, store: Vec::new(), is_repeated: false }
    }
}
