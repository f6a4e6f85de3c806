//! Cotangents (9.2): the transpose of each equation, in a file per construct.
//!
//! * [`apply`]: operations, `if` among them.
//! * [`sample`]: `when` and `merge`, which become each other.
//! * [`delay`]: `fby`, `fby back` and `post`: what looked back now looks ahead.
//! * [`instance`]: instances whose derivative the user wrote.

mod apply;
mod delay;
mod instance;
mod sample;

use eddy_flow::{Equation, Kind, VarId};
use eddy_syntax::Diagnostic;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::activity::{active, differentiable_operands};
use crate::body::{Body, Step};
use crate::expand::Host;
use crate::prune::mentioned;
use crate::renaming::Renaming;
use crate::section::{Instance, Pair};
use crate::writer::Writer;

/// What is to be transposed.
pub(crate) struct Task<'a> {
    pub body: &'a Body,
    /// The streams whose cotangents are wanted.
    pub sources: Vec<VarId>,
    /// Where cotangents enter: streams, and the cotangent that comes from outside.
    pub seeds: Vec<Pair>,
    /// Sources whose cotangent is a stream that exists.
    pub pinned: Vec<Pair>,
    /// Whether `diff_M` stands for its instance.
    pub is_training: bool,
}

/// The cotangents that were written: of all active streams.
pub(crate) type Cotangents = FxHashMap<VarId, VarId>;

/// Writes the transposed equations.
pub(crate) fn reverse(
    task: &Task<'_>,
    writer: &mut Writer,
    host: &mut dyn Host,
) -> Result<Cotangents, Vec<Diagnostic>> {
    let steps = task.body.steps(|instance| task.is_black_box(instance));
    let sinks = task.seeds.iter().map(|seed| seed.primal);
    let active = active(writer, &steps, task.sources.iter().copied(), sinks);
    let order = in_order(&steps, &task.sources, &active);
    let pinned: FxHashMap<VarId, VarId> =
        task.pinned.iter().map(|pair| (pair.primal, pair.derivative)).collect();
    let cotangents: Cotangents = order
        .iter()
        .map(|var| (*var, pinned.get(var).copied().unwrap_or_else(|| writer.derivative("d'", *var))))
        .collect();
    let renaming = Renaming::new(writer, pinned.values().copied().collect());
    let first = writer.body.equations.len();
    let mut reverse = Reverse { writer, host, cotangents, uses: FxHashMap::default() };
    for step in steps.iter().rev() {
        match step {
            Step::Equation(equation) => reverse.equation(equation),
            Step::Instance(placed) => reverse.instance(&placed.instance, task.is_training)?,
        }
    }
    note_reads(task.body, first, reverse.writer);
    Ok(reverse.sums(&order, &task.seeds, renaming))
}

/// Notes which values of a body the equations written since read: all but constants, and parameters, which stay as they are.
fn note_reads(body: &Body, first: usize, writer: &mut Writer) {
    let is_kept = |equation: &&Equation| {
        !matches!(equation.kind, Kind::Const(_) | Kind::Param(_)) && !writer.held.contains(&equation.out)
    };
    let defined: FxHashSet<VarId> =
        body.equations.iter().filter(is_kept).map(|equation| equation.out).collect();
    let all: FxHashSet<VarId> = body.equations.iter().map(|equation| equation.out).collect();
    let inputs: FxHashSet<VarId> = mentioned(body).into_iter().filter(|var| !all.contains(var)).collect();
    let reads = writer.body.equations[first..].iter().flat_map(|equation| equation.kind.operands());
    let reads: Vec<VarId> = reads.filter(|var| defined.contains(var) || inputs.contains(var)).collect();
    writer.tape.extend(reads);
}

impl Task<'_> {
    fn is_black_box(&self, instance: &Instance) -> bool {
        instance.has_adjoint || instance.has_tangent || (self.is_training && instance.has_diff)
    }
}

/// The active streams, in the order in which they are defined.
fn in_order(steps: &[Step<'_>], sources: &[VarId], active: &FxHashSet<VarId>) -> Vec<VarId> {
    let mut seen = FxHashSet::default();
    let defined = steps.iter().flat_map(|step| match step {
        Step::Equation(equation) => vec![equation.out],
        Step::Instance(placed) => placed.instance.outputs.iter().map(|output| output.var).collect(),
    });
    let all = sources.iter().copied().chain(defined);
    all.filter(|var| active.contains(var) && seen.insert(*var)).collect()
}

struct Reverse<'a> {
    writer: &'a mut Writer,
    host: &'a mut dyn Host,
    cotangents: Cotangents,
    /// What each stream's uses contribute, the last use first.
    uses: FxHashMap<VarId, Vec<VarId>>,
}

impl Reverse<'_> {
    fn equation(&mut self, equation: &Equation) {
        let Some(cotangent) = self.cotangents.get(&equation.out).copied() else { return };
        self.writer.at_equation(equation);
        for (position, operand) in differentiable_operands(self.writer, equation).into_iter().rev() {
            if !self.cotangents.contains_key(&operand) {
                continue;
            }
            let contribution = match &equation.kind {
                Kind::Apply(op, operands) => {
                    apply::contribution(op, operands, equation.out, position, cotangent, self.writer)
                }
                Kind::When { condition, polarity, .. } => {
                    sample::of_when(*condition, *polarity, cotangent, self.writer)
                }
                Kind::Merge { condition, .. } => {
                    sample::of_merge(*condition, position, cotangent, self.writer)
                }
                Kind::Fby { .. } => delay::of_fby(position, cotangent, self.writer),
                Kind::FbyBack { .. } => delay::of_fby_back(position, cotangent, self.writer),
                Kind::Post(_) => delay::of_post(cotangent, self.writer),
                Kind::Const(_) | Kind::Param(_) => unreachable!("derivatives do not pass"),
            };
            self.contribute(operand, contribution);
        }
    }

    fn contribute(&mut self, operand: VarId, contribution: VarId) {
        self.uses.entry(operand).or_default().push(contribution);
    }

    /// Fan-out is a sum: the seed first, then the uses in flattening order.
    fn sums(mut self, order: &[VarId], seeds: &[Pair], mut renaming: Renaming) -> Cotangents {
        for var in order.iter().rev() {
            let seeds = seeds.iter().filter(|seed| seed.primal == *var).map(|seed| seed.derivative);
            let uses = self.uses.remove(var).unwrap_or_default();
            let parts: Vec<VarId> = seeds.chain(uses.into_iter().rev()).collect();
            self.writer.at_stream(*var);
            renaming.define_sum(self.cotangents[var], &parts, self.writer);
        }
        let renamed = renaming.finish(self.writer);
        self.cotangents.into_iter().map(|(var, cotangent)| (var, renamed.stream(cotangent))).collect()
    }
}
