//! Decides whether some conditions can hold together at one cycle.
//!
//! `a = if c then b else x; b = if c then 1.0 else a;` has an instantaneous cycle, but `c` is never true and
//! false at once. A condition is read as a formula over *atoms*, built with `not`, `and`, `or`, `if` and
//! comparisons. All combinations of values of the atoms are tried, so `x > 0.0` and `x <= 0.0` exclude each
//! other, and so do `k == 1` and `k == 2`. Two atoms with equal expressions on the same clock are the same.
//!
//! Numbers are assumed to be ordered: there is no warning about the effects of NaN. Other relations between
//! atoms are not seen, so a positive answer can be wrong; therefore it causes a warning and not an error. If
//! there are too many combinations, the answer is negative.

use eddy_tensor::{Op, Scalar};
use rustc_hash::{FxHashMap, FxHashSet};

use super::facts::Facts;
use super::graph::{Edge, Guard};
use crate::clocks::Clocks;
use crate::flow::{Constant, Equation, Flow, Kind, VarId};

/// The largest number of combinations to try: a few conditions with a few constants each.
const MAX_COMBINATIONS: usize = 1 << 12;
/// Atoms are compared to this depth; deeper parts are compared as streams.
const MAX_DEPTH: usize = 6;

pub(super) struct Conditions<'a> {
    flow: &'a Flow,
    clocks: &'a Clocks,
    facts: &'a Facts,
    definitions: &'a [Option<usize>],
    /// Operands come before the formulas that use them.
    formulas: Vec<Formula>,
    of_var: FxHashMap<VarId, usize>,
    atoms: FxHashMap<String, usize>,
    /// The terms that are compared with constants.
    terms: Vec<Term>,
    n_atoms: usize,
}

enum Formula {
    Truth(bool),
    Atom(usize),
    Not(usize),
    And(usize, usize),
    Or(usize, usize),
    If(usize, usize, usize),
    Compare { term: usize, op: Op, constant: f64 },
}

struct Term {
    key: String,
    constants: Vec<f64>,
}

/// The value of each formula under one combination.
pub(super) struct Combination(Vec<bool>);

impl<'a> Conditions<'a> {
    pub fn new(
        flow: &'a Flow,
        clocks: &'a Clocks,
        facts: &'a Facts,
        definitions: &'a [Option<usize>],
    ) -> Self {
        Conditions {
            flow,
            clocks,
            facts,
            definitions,
            formulas: Vec::new(),
            of_var: FxHashMap::default(),
            atoms: FxHashMap::default(),
            terms: Vec::new(),
            n_atoms: 0,
        }
    }

    /// Reads the guard of an edge: a formula, and the value of it that opens the edge.
    pub fn read(&mut self, edge: &Edge) -> Option<(usize, bool)> {
        match edge.guard? {
            Guard::Condition(condition, truth) => Some((self.formula(condition), truth)),
            Guard::First => Some((self.activation("first", edge.from), true)),
            Guard::Last => Some((self.activation("last", edge.from), true)),
            Guard::EndOfTrace => Some((self.activation("last", edge.from), false)),
        }
    }

    /// Returns the first result of `found` over all combinations.
    pub fn find<T>(&self, limit: usize, mut found: impl FnMut(&Combination) -> Option<T>) -> Option<T> {
        let sizes: Vec<usize> = std::iter::repeat_n(2, self.n_atoms)
            .chain(self.terms.iter().map(|term| 2 * term.constants.len() + 1))
            .collect();
        let n_combinations = sizes.iter().try_fold(1_usize, |n, size| n.checked_mul(*size))?;
        if n_combinations > limit.min(MAX_COMBINATIONS) {
            return None;
        }
        (0..n_combinations).find_map(|number| {
            let mut rest = number;
            let digits: Vec<usize> = sizes
                .iter()
                .map(|size| {
                    let digit = rest % size;
                    rest /= size;
                    digit
                })
                .collect();
            found(&self.evaluate(&digits))
        })
    }

    fn evaluate(&self, digits: &[usize]) -> Combination {
        let mut values: Vec<bool> = Vec::with_capacity(self.formulas.len());
        for formula in &self.formulas {
            values.push(match formula {
                Formula::Truth(truth) => *truth,
                Formula::Atom(atom) => digits[*atom] == 1,
                Formula::Not(operand) => !values[*operand],
                Formula::And(left, right) => values[*left] && values[*right],
                Formula::Or(left, right) => values[*left] || values[*right],
                Formula::If(condition, yes, no) => values[if values[*condition] { *yes } else { *no }],
                Formula::Compare { term, op, constant } => {
                    self.terms[*term].compare(digits[self.n_atoms + *term], op, *constant)
                }
            });
        }
        Combination(values)
    }

    /// The formula of a condition. Where a condition depends on itself, it is an atom.
    fn formula(&mut self, condition: VarId) -> usize {
        let mut path = vec![(condition, false)];
        let mut is_open: FxHashSet<VarId> = FxHashSet::default();
        while let Some((var, is_ready)) = path.pop() {
            if self.of_var.contains_key(&var) {
                continue;
            }
            let parts = self.parts(var);
            if is_ready || parts.is_empty() {
                let formula = self.build_formula(var);
                self.add(var, formula);
                is_open.remove(&var);
            } else if !is_open.insert(var) {
                let atom = self.atom(format!("v{}", var.index()));
                self.add(var, atom);
            } else {
                path.push((var, true));
                path.extend(parts.into_iter().rev().map(|part| (part, false)));
            }
        }
        self.of_var[&condition]
    }

    fn add(&mut self, var: VarId, formula: Formula) {
        let number = self.formulas.len();
        self.formulas.push(formula);
        self.of_var.insert(var, number);
    }

    fn equation(&self, var: VarId) -> Option<&'a Equation> {
        let flow = self.flow;
        self.definitions[var.index()].map(|number| &flow.equations[number])
    }

    /// The Boolean operands of a stream at the same cycle.
    fn parts(&self, var: VarId) -> Vec<VarId> {
        if self.facts.is_always(var, true) || self.facts.is_always(var, false) {
            return Vec::new();
        }
        match self.equation(var).map(|equation| &equation.kind) {
            Some(Kind::Apply(Op::Copy | Op::Not | Op::And | Op::Or | Op::If, operands)) => operands.to_vec(),
            _ => Vec::new(),
        }
    }

    fn build_formula(&mut self, var: VarId) -> Formula {
        for truth in [true, false] {
            if self.facts.is_always(var, truth) {
                return Formula::Truth(truth);
            }
        }
        let number = |conditions: &Self, var: &VarId| conditions.of_var[var];
        if let Some(Kind::Apply(op, operands)) = self.equation(var).map(|equation| &equation.kind) {
            match (op, &operands[..]) {
                (Op::Copy, [operand]) => {
                    let operand = number(self, operand);
                    return Formula::And(operand, operand);
                }
                (Op::Not, [operand]) => return Formula::Not(number(self, operand)),
                (Op::And, [left, right]) => return Formula::And(number(self, left), number(self, right)),
                (Op::Or, [left, right]) => return Formula::Or(number(self, left), number(self, right)),
                (Op::If, [condition, yes, no]) => {
                    return Formula::If(number(self, condition), number(self, yes), number(self, no));
                }
                (Op::Lt | Op::Le | Op::Gt | Op::Ge | Op::Eq | Op::Ne, [left, right])
                    if self.flow.var(*left).ty.scalar != Scalar::Bool =>
                {
                    return self.comparison(op, *left, *right);
                }
                _ => {}
            }
        }
        let key = self.key(var, MAX_DEPTH);
        self.atom(key)
    }

    fn atom(&mut self, key: String) -> Formula {
        let next = self.n_atoms;
        let atom = *self.atoms.entry(key).or_insert(next);
        self.n_atoms = self.n_atoms.max(atom + 1);
        Formula::Atom(atom)
    }

    /// Whether a clock is at its first or last activation.
    fn activation(&mut self, which: &str, var: VarId) -> usize {
        let key = format!("{which}@{}", self.clocks.of(var).index());
        let formula = self.atom(key);
        self.formulas.push(formula);
        self.formulas.len() - 1
    }

    /// A comparison with a constant, or of a difference with zero.
    fn comparison(&mut self, op: &Op, left: VarId, right: VarId) -> Formula {
        let (left_key, right_key) = (self.key(left, MAX_DEPTH), self.key(right, MAX_DEPTH));
        let (key, op, constant) = match (self.number(left), self.number(right)) {
            (_, Some(constant)) => (left_key, op.clone(), constant),
            (Some(constant), None) => (right_key, mirrored(op), constant),
            (None, None) if left_key <= right_key => (format!("{left_key} - {right_key}"), op.clone(), 0.0),
            (None, None) => (format!("{right_key} - {left_key}"), mirrored(op), 0.0),
        };
        let term = self.terms.iter().position(|term| term.key == key).unwrap_or(self.terms.len());
        if term == self.terms.len() {
            self.terms.push(Term { key, constants: Vec::new() });
        }
        let constants = &mut self.terms[term].constants;
        if let Err(place) = constants.binary_search_by(|other| other.total_cmp(&constant)) {
            constants.insert(place, constant);
        }
        Formula::Compare { term, op, constant }
    }

    #[allow(clippy::cast_precision_loss)] // integers that round to the same number are compared as equal, which can only add warnings
    fn number(&self, var: VarId) -> Option<f64> {
        match &self.equation(var)?.kind {
            Kind::Const(Constant::Num(x)) if !x.is_nan() => Some(*x + 0.0),
            Kind::Const(Constant::Int(n)) => Some(*n as f64),
            Kind::Const(Constant::Zero) => Some(0.0),
            _ => None,
        }
    }

    /// A text that is equal only for streams that are always equal; the recursion is no deeper than `depth`.
    fn key(&self, var: VarId, depth: usize) -> String {
        let itself = || format!("v{}", var.index());
        let Some(equation) = self.equation(var).filter(|_| depth > 0) else { return itself() };
        let clock = self.clocks.of(var).index();
        let operands = |operands: &[VarId]| -> String {
            operands.iter().map(|operand| self.key(*operand, depth - 1) + ",").collect()
        };
        let key = match &equation.kind {
            Kind::Const(constant) => format!("{constant}:{}@{clock}", self.flow.var(var).ty),
            Kind::Apply(Op::Copy, vars) => self.key(vars[0], depth - 1),
            Kind::Apply(op, vars) => format!("{op:?}({})", operands(vars)),
            Kind::When { value, condition, polarity } => {
                format!("when {polarity:?}({})", operands(&[*value, *condition]))
            }
            Kind::Fby { init, next } => match (self.truth(*init), self.truth(*next)) {
                (Some(true), Some(false)) => format!("first@{clock}"),
                _ => format!("fby({})@{clock}", operands(&[*init, *next])),
            },
            Kind::FbyBack { init, next } => match (self.truth(*init), self.truth(*next)) {
                (Some(true), Some(false)) => format!("last@{clock}"),
                _ => format!("fby back({})@{clock}", operands(&[*init, *next])),
            },
            Kind::Post(operand) => format!("post({})", self.key(*operand, depth - 1)),
            Kind::Merge { condition, yes, no } => format!("merge({})", operands(&[*condition, *yes, *no])),
            Kind::Param(_) => itself(),
        };
        // A wide expression is compared as a stream.
        if key.len() > 512 { itself() } else { key }
    }

    fn truth(&self, var: VarId) -> Option<bool> {
        match self.equation(var)?.kind {
            Kind::Const(Constant::Bool(truth)) => Some(truth),
            _ => None,
        }
    }
}

impl Combination {
    /// Whether this combination opens a guard.
    pub fn opens(&self, guard: Option<(usize, bool)>) -> bool {
        guard.is_none_or(|(formula, truth)| self.0[formula] == truth)
    }
}

impl Term {
    /// A comparison if the term lies in this region; the regions are below, at and above each constant in
    /// turn.
    fn compare(&self, region: usize, op: &Op, constant: f64) -> bool {
        let place = self.constants.iter().position(|other| other.total_cmp(&constant).is_eq());
        let at = 2 * place.expect("`comparison` inserted the constant") + 1;
        match op {
            Op::Lt => region < at,
            Op::Le => region <= at,
            Op::Gt => region > at,
            Op::Ge => region >= at,
            Op::Eq => region == at,
            Op::Ne => region != at,
            _ => unreachable!("only comparisons have terms"),
        }
    }
}

/// The comparison with its operands exchanged.
fn mirrored(op: &Op) -> Op {
    match op {
        Op::Lt => Op::Gt,
        Op::Le => Op::Ge,
        Op::Gt => Op::Lt,
        Op::Ge => Op::Le,
        other => other.clone(),
    }
}
