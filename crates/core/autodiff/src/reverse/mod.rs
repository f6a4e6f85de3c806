//! Cotangents (9.2): the transpose of each equation, in a file per construct.
//!
//! * [`apply`]: operations, `if` among them.
//! * [`sample`]: `when` and `merge`, which become each other.
//! * [`delay`]: `fby`, `fby back` and `post`: looking back becomes looking ahead.
//! * [`instance`]: instances with derivatives written by the user.
//! * [`node`]: one node separately, for printed training code.

mod apply;
mod delay;
mod instance;
pub mod node;
mod sample;

use std::ops::Range;

use eddy_flow::{Equation, Kind, VarId};
use eddy_syntax::Diagnostic;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::activity::{active, differentiable_operands, passages};
use crate::body::{Body, Step};
use crate::expand::Host;
use crate::prune::mentioned;
use crate::renaming::Renaming;
use crate::section::{Instance, Pair};
use crate::writer::Writer;

/// A request to transpose.
pub(crate) struct Task<'a> {
    pub body: &'a Body,
    /// The streams whose cotangents are wanted.
    pub sources: Vec<VarId>,
    /// Where cotangents enter: streams, each with the cotangent that is an input.
    pub seeds: Vec<Pair>,
    /// Sources whose cotangent is an existing stream.
    pub pinned: Vec<Pair>,
    /// Whether `diff_M` may replace its instance.
    pub is_training: bool,
}

/// The cotangents of all active streams.
pub(crate) type Cotangents = FxHashMap<VarId, VarId>;

/// Writes the transposed equations.
pub(crate) fn reverse(
    task: &Task<'_>,
    writer: &mut Writer,
    host: &mut dyn Host,
) -> Result<Cotangents, Vec<Diagnostic>> {
    let steps = task.body.steps(|instance| task.is_black_box(instance));
    let sinks = task.seeds.iter().map(|seed| seed.primal);
    let active = active(writer, passages(writer, &steps), task.sources.iter().copied(), sinks);
    let order = in_order(&steps, &task.sources, &active);
    let pinned: FxHashMap<VarId, VarId> =
        task.pinned.iter().map(|pair| (pair.primal, pair.derivative)).collect();
    let cotangents: Cotangents = order
        .iter()
        .map(|var| (*var, pinned.get(var).copied().unwrap_or_else(|| writer.derivative("d'", *var))))
        .collect();
    let renaming = Renaming::new(writer, pinned.values().copied().collect());
    let first = writer.body.equations.len();
    let mut reverse = Reverse { writer, cotangents, uses: Vec::new(), step: 0, n_attributed: first };
    for (number, step) in steps.iter().enumerate().rev() {
        reverse.step = number;
        match step {
            Step::Equation(equation) => reverse.equation(equation),
            Step::Instance(placed) => reverse.instance(&placed.instance, task.is_training, host)?,
        }
    }
    note_reads(task.body, first, reverse.writer);
    Ok(reverse.sums(&order, &task.seeds, renaming))
}

/// Records which values of a body the new equations read: all except constants and parameters, which do not
/// change.
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

/// The active streams, in the order of their definitions.
fn in_order(steps: &[Step<'_>], sources: &[VarId], active: &FxHashSet<VarId>) -> Vec<VarId> {
    let mut seen = FxHashSet::default();
    let defined = steps.iter().flat_map(|step| match step {
        Step::Equation(equation) => vec![equation.out],
        Step::Instance(placed) => placed.instance.outputs.iter().map(|output| output.var).collect(),
    });
    let all = sources.iter().copied().chain(defined);
    all.filter(|var| active.contains(var) && seen.insert(*var)).collect()
}

/// The contribution of one use of a stream to its cotangent.
#[derive(Clone, Debug)]
pub struct Use {
    /// The index of the step that uses it: an equation, or a call.
    pub step: usize,
    /// The position of the operand.
    pub position: usize,
    pub operand: VarId,
    pub value: VarId,
    /// The equations of the contribution.
    pub equations: Range<usize>,
}

struct Reverse<'a> {
    writer: &'a mut Writer,
    cotangents: Cotangents,
    /// The contributions, the last one first.
    uses: Vec<Use>,
    /// The step in progress.
    step: usize,
    /// The number of equations that belong to earlier contributions.
    n_attributed: usize,
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
            self.contribute(position, operand, contribution);
        }
    }

    fn contribute(&mut self, position: usize, operand: VarId, value: VarId) {
        let n_equations = self.writer.body.equations.len();
        let equations = std::mem::replace(&mut self.n_attributed, n_equations)..n_equations;
        self.uses.push(Use { step: self.step, position, operand, value, equations });
    }

    /// Fan-out is a sum: the seed first, then the uses in flattening order.
    fn sums(self, order: &[VarId], seeds: &[Pair], mut renaming: Renaming) -> Cotangents {
        let mut uses: FxHashMap<VarId, Vec<VarId>> = FxHashMap::default();
        for Use { operand, value, .. } in self.uses.iter().rev() {
            uses.entry(*operand).or_default().push(*value);
        }
        for var in order.iter().rev() {
            let seeds = seeds.iter().filter(|seed| seed.primal == *var).map(|seed| seed.derivative);
            let parts: Vec<VarId> = seeds.chain(uses.remove(var).unwrap_or_default()).collect();
            self.writer.at_stream(*var);
            renaming.define_sum(self.cotangents[var], &parts, self.writer);
        }
        let renamed = renaming.finish(self.writer);
        self.cotangents.into_iter().map(|(var, cotangent)| (var, renamed.stream(cotangent))).collect()
    }
}
