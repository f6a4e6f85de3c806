//! Finds operations of a node that fit no common shape, although each of them fits some shape, for `check` of
//! a node whose inputs have open shapes.
//!
//! ```text
//! h = dense(3, 2, x);    `x` has 2 rows, so `h` has shape [3] or [3,k]
//! y = dense(4, 5, h);    `h` must have 5 rows
//! ```
//!
//! A class of streams has a *domain*, the set of shapes that it may have; a class without one may have any
//! shape. An operation removes from the domains of its operands the shapes that give no result in the domain
//! of its result, and from the domain of its result the shapes that no operands give. This repeats until
//! nothing changes (arc consistency). An empty domain proves that no shapes fit.
//!
//! Domains are finite: their shapes consist of the sizes that occur in the program and one larger size, which
//! stands for all others. This suffices for operations that only compare sizes with each other and with their
//! constants, and whose results have sizes of their operands or constants. Only such operations are checked
//! ([`compares_sizes`]): in `concat(x, zeros([3])) + zeros([10])` the size of `x` is 7, which does not occur
//! in the program. The first domains come from operations that bound the number of axes ([`bounds_axes`]).

use eddy_tensor::{Op, Shape, ShapeError, ShapeRule, Static};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Hints;
use super::shapes::{Assumption, Inference};
use crate::draft::Draft;
use crate::flow::{Kind, Labels, VarId};

/// With more sizes there are too many shapes to try.
const MAX_SIZES: usize = 64;
/// An operation with more combinations of shapes is skipped.
const MAX_COMBINATIONS: usize = 1 << 14;
/// After this many combinations in total, the node is assumed to fit; about a second.
const MAX_WORK: usize = 1 << 23;

/// An operation that fits no shape of an operand.
pub(super) struct Contradiction {
    pub equation: usize,
    pub operand: VarId,
    /// Shapes that the operand can have according to other operations.
    pub shapes: Vec<Shape>,
    /// The equation that restricted the operand to these shapes.
    pub because: Option<usize>,
}

/// The first contradiction between operations that each fit some shape.
pub(super) fn contradiction(draft: &Draft, labels: &Labels<'_>) -> Option<Contradiction> {
    let mut inference = Inference::new(draft, labels, Assumption::FirstOperand);
    // Inference reports contradictions between known shapes.
    inference.given(&Hints::default()).and_then(|()| inference.propagate()).ok()?;
    let sizes = sizes(draft, &mut inference);
    if sizes.len() > MAX_SIZES {
        return None;
    }
    let candidates = candidates(&sizes);
    let mut solver = Solver { inference, candidates, domains: FxHashMap::default(), work: 0 };
    let mut todo: Vec<usize> = (0..draft.equations.len()).rev().collect();
    while let Some(number) = todo.pop() {
        if solver.work > MAX_WORK {
            return None;
        }
        match solver.narrow(number) {
            Ok(changed) => todo.extend(changed.iter().flat_map(|class| &solver.inference.uses[*class])),
            Err(contradiction) => return Some(*contradiction),
        }
    }
    None
}

/// The shapes that a class may have, and the equation that restricted it to them.
#[derive(Clone)]
struct Domain {
    shapes: Vec<Shape>,
    because: Option<usize>,
}

struct Solver<'a> {
    inference: Inference<'a>,
    /// All shapes that an operand of an operation that bounds the number of axes may have.
    candidates: Vec<Shape>,
    domains: FxHashMap<usize, Domain>,
    /// The number of combinations tried.
    work: usize,
}

impl Solver<'_> {
    /// Narrows the domains around an equation; returns the classes whose domains changed.
    fn narrow(&mut self, number: usize) -> Result<Vec<usize>, Box<Contradiction>> {
        let equation = &self.inference.draft.equations[number];
        let Kind::Apply(op, operands) = &equation.kind else { return Ok(Vec::new()) };
        if !compares_sizes(op) {
            return Ok(Vec::new());
        }
        let domains: Option<Vec<Domain>> = operands.iter().map(|var| self.operand(op, *var)).collect();
        let Some(domains) = domains else { return Ok(Vec::new()) };
        let n_combinations = domains.iter().try_fold(1_usize, |n, domain| n.checked_mul(domain.shapes.len()));
        let Some(n_combinations) = n_combinations.filter(|n| *n <= MAX_COMBINATIONS) else {
            return Ok(Vec::new());
        };
        self.work += n_combinations;
        let target = self.domain(equation.out);
        let Some((supported, results)) = combine(op, &domains, target.as_ref()) else {
            return Ok(Vec::new());
        };
        if results.is_empty() {
            // Report the operand that other equations narrowed.
            let narrowed = domains.iter().position(|domain| domain.because.is_some()).unwrap_or(0);
            let Domain { shapes, because } = domains[narrowed].clone();
            let operand = operands[narrowed];
            return Err(Box::new(Contradiction { equation: number, operand, shapes, because }));
        }
        let mut changed = Vec::new();
        for ((var, before), is_supported) in operands.iter().zip(domains).zip(supported) {
            let kept = before.shapes.iter().zip(&is_supported).filter(|(_, is_supported)| **is_supported);
            let kept: Vec<Shape> = kept.map(|(shape, _)| shape.clone()).collect();
            changed.extend(self.learn(*var, kept, number));
        }
        changed.extend(self.learn(equation.out, results, number));
        Ok(changed)
    }

    /// The domain of an operand; `None` if it may have any shape.
    fn operand(&mut self, op: &Op, var: VarId) -> Option<Domain> {
        let candidates = || Domain { shapes: self.candidates.clone(), because: None };
        let open = bounds_axes(op).then(candidates);
        self.domain(var).or(open)
    }

    fn domain(&mut self, var: VarId) -> Option<Domain> {
        if let Some(shape) = self.inference.classes.get(var) {
            return Some(Domain { shapes: vec![shape], because: None });
        }
        self.domains.get(&self.inference.classes.find(var)).cloned()
    }

    /// Sets the domain of a stream; returns its class if the domain changed.
    fn learn(&mut self, var: VarId, shapes: Vec<Shape>, number: usize) -> Option<usize> {
        let class = self.inference.classes.find(var);
        if self.inference.classes.get(var).is_some()
            || self.domains.get(&class).is_some_and(|before| before.shapes.len() == shapes.len())
        {
            return None;
        }
        self.domains.insert(class, Domain { shapes, because: Some(number) });
        Some(class)
    }
}

/// For each operand, which of its shapes occur in a combination that fits; and the results of these
/// combinations. `None` if a result is too large: the larger size that stands for all others may be the
/// cause, so this proves nothing.
fn combine(op: &Op, domains: &[Domain], target: Option<&Domain>) -> Option<(Vec<Vec<bool>>, Vec<Shape>)> {
    let mut supported: Vec<Vec<bool>> =
        domains.iter().map(|domain| vec![false; domain.shapes.len()]).collect();
    let (mut results, mut seen) = (Vec::new(), FxHashSet::default());
    let n_combinations: usize = domains.iter().map(|domain| domain.shapes.len()).product();
    for combination in 0..n_combinations {
        let mut rest = combination;
        let indices: Vec<usize> = domains
            .iter()
            .map(|domain| {
                let index = rest % domain.shapes.len();
                rest /= domain.shapes.len();
                index
            })
            .collect();
        let shapes: Vec<&Shape> =
            domains.iter().zip(&indices).map(|(domain, index)| &domain.shapes[*index]).collect();
        let result = match op.shape(&shapes) {
            Ok(result) => result,
            Err(ShapeError::TooLarge(_)) => return None,
            Err(_) => continue,
        };
        if target.is_some_and(|target| !target.shapes.contains(&result)) {
            continue;
        }
        supported.iter_mut().zip(indices).for_each(|(supported, index)| supported[index] = true);
        if seen.insert(result.clone()) {
            results.push(result);
        }
    }
    Some((supported, results))
}

/// Whether an operation only compares sizes with each other and with its constants, and whether its result
/// has sizes of its operands or constants.
fn compares_sizes(op: &Op) -> bool {
    op.shape_rule() == ShapeRule::Broadcast
        || matches!(
            op,
            Op::Matmul
                | Op::Transpose
                | Op::Index(_)
                | Op::Sum(Some(_))
                | Op::Mean(Some(_))
                | Op::Max(Some(_))
        )
}

/// Whether an operation takes tensors of at most two axes.
fn bounds_axes(op: &Op) -> bool {
    matches!(op, Op::Matmul | Op::Transpose)
}

/// The sizes that occur in the program, and one larger size.
fn sizes(draft: &Draft, inference: &mut Inference<'_>) -> Vec<usize> {
    let mut sizes = vec![1];
    for var in (0..draft.vars.len()).map(VarId::new) {
        if let Some(shape) = inference.classes.get(var) {
            sizes.extend(shape.iter().copied());
        }
    }
    for equation in &draft.equations {
        let Kind::Apply(op, _) = &equation.kind else { continue };
        for constant in op.statics() {
            if let Static::Int(n) = constant
                && let Ok(n) = usize::try_from(n)
            {
                // Row `n` exists if there are `n + 1` rows.
                sizes.extend([n, n.saturating_add(1)]);
            }
        }
    }
    sizes.sort_unstable();
    sizes.dedup();
    let largest = sizes.last().copied().unwrap_or(1);
    sizes.push(largest.saturating_add(1));
    sizes
}

/// All shapes of at most two axes with these sizes.
fn candidates(sizes: &[usize]) -> Vec<Shape> {
    let vectors = sizes.iter().map(|size| Shape::new(&[*size]));
    let matrices = sizes.iter().flat_map(|rows| sizes.iter().map(|columns| Shape::new(&[*rows, *columns])));
    std::iter::once(Shape::scalar()).chain(vectors).chain(matrices).collect()
}
