//! Tensors that are never stored: each element is computed where it is read.
//!
//! ```text
//! t = mul(c, k)  y = add(x, t)  s = sum(y)          for (k..) s += x[k] + c * k[k];
//! ```
//!
//! This holds for arithmetic on tensors of one shape whose result is read once: by such an operation or by a
//! sum in the same region, or element by element in a loop. Nothing may change the operands in place.

use eddy_body::{At, Body, Elem, Kind, Loop, Operation, Region, Stmt, Var};
use eddy_tensor::{Cost, Op};
use rustc_hash::FxHashMap;

use super::body::{Emitter, Repr, Tensor};
use super::facts::Interval;
use super::scalar::{Operand, is_elementwise};

/// Where the text of an element has its index.
const INDEX: char = '\u{1}';

/// Longer texts are computed once and stored.
const LONGEST: usize = 600;

/// The names that are read once, in a way that needs no memory.
pub(super) fn read_once(body: &Body) -> Vec<Var> {
    let mut readers = Readers::default();
    readers.region(&body.region, 0, 0);
    let is_once = |(var, reads): (Var, Vec<bool>)| (reads == [true]).then_some(var);
    readers.reads.into_iter().filter_map(is_once).collect()
}

#[derive(Default)]
struct Readers {
    /// For each name, the depth of choices and of loops around its definition.
    defined: FxHashMap<Var, (usize, usize)>,
    /// For each name, whether each of its reads needs no memory.
    reads: FxHashMap<Var, Vec<bool>>,
}

impl Readers {
    fn region(&mut self, region: &Region, choices: usize, loops: usize) {
        for stmt in &region.stmts {
            self.operands(stmt, choices, loops);
            match &stmt.kind {
                Kind::If(_, yes, no) => {
                    self.region(yes, choices + 1, loops);
                    self.region(no, choices + 1, loops);
                }
                Kind::Loop(repeat) => {
                    for region in stmt.kind.regions() {
                        self.region(region, choices, loops + 1);
                    }
                    self.kept(repeat);
                }
                _ => {}
            }
            self.defined.extend(stmt.results.iter().map(|var| (*var, (choices, loops))));
        }
        for var in &region.yields {
            self.reads.entry(*var).or_default().push(false);
        }
    }

    fn kept(&mut self, repeat: &Loop) {
        for var in &repeat.collect {
            self.reads.entry(*var).or_default().push(false);
        }
    }

    fn operands(&mut self, stmt: &Stmt, choices: usize, loops: usize) {
        for (at, var) in stmt.kind.operands().into_iter().enumerate() {
            let place = self.defined.get(&var).copied();
            let is_here = place == Some((choices, loops));
            let needs_none = match &stmt.kind {
                Kind::Op(Operation::Table(Op::Sum(None)), _) => is_here,
                Kind::Op(Operation::Table(op), _) => {
                    is_here && is_elementwise(op) && op.facts().cost == Cost::Arithmetic
                }
                // Whatever the choices are: at most one of them reads the element.
                Kind::Index(_, selectors) => {
                    at == 0
                        && matches!(selectors.as_slice(), [At::Int(_)])
                        && place.is_some_and(|(_, outside)| outside + 1 == loops)
                }
                _ => false,
            };
            self.reads.entry(var).or_default().push(needs_none);
        }
    }
}

impl Emitter<'_, '_> {
    /// Whether an operation on tensors of one shape is computed where its result is read; then records it.
    pub fn delay(&mut self, result: Var, op: &Op, operands: &[Var], sizes: &[String]) -> bool {
        let is_arithmetic = op.facts().cost == Cost::Arithmetic && self.ty(result).elem == Elem::Num;
        let is_stable = |var: &Var| self.ty(*var).rank == 0 || !self.aliases.is_changed(*var);
        if self.shared.is_metered()
            || self.bail.is_some()
            || !is_arithmetic
            || !self.once.contains(&result)
            || !operands.iter().all(is_stable)
            || operands.iter().any(|var| !matches!(self.ty(*var).elem, Elem::Num))
        {
            return false;
        }
        let texts: Vec<Operand> =
            operands.iter().map(|var| self.element_at(*var, &INDEX.to_string())).collect();
        let (text, _) = self.element(op, &texts);
        if text.len() > LONGEST {
            return false;
        }
        self.lazy.insert(result, format!("({text})"));
        let sizes = sizes.to_vec();
        self.set(result, Repr::Tensor(Tensor { data: "0".to_owned(), sizes }));
        true
    }

    /// The same for a number that is stretched to a vector of a size that some tensor has.
    pub fn delay_stretched(&mut self, result: Var, operands: &[Var], sizes: &[String]) -> bool {
        let [x, size] = *operands else { return false };
        let is_number = self.ty(x).rank == 0 && self.ty(x).elem == Elem::Num;
        let is_free = !self.shared.is_metered() && self.bail.is_none();
        if !is_number
            || !is_free
            || !self.once.contains(&result)
            || self.facts.interval(size).hi > Interval::SIZE.hi
        {
            return false;
        }
        self.lazy.insert(result, self.scalar(x));
        self.set(result, Repr::Tensor(Tensor { data: "0".to_owned(), sizes: sizes.to_vec() }));
        true
    }

    /// An element of a tensor that is not stored.
    pub fn lazy_element(&self, var: Var, k: &str) -> Option<Operand> {
        let text = self.lazy.get(&var)?.replace(INDEX, k);
        Some(Operand { text, elem: Elem::Num, interval: Interval::ALL })
    }

    /// Stores a tensor.
    pub fn store(&mut self, var: Var) {
        let Some(text) = self.lazy.remove(&var) else { return };
        let sizes = self.sizes(var);
        let (name, all) = self.result(var, sizes, false);
        let k = self.names.of("k");
        let element = text.replace(INDEX, &k);
        self.line(&format!("for (int64_t {k} = 0; {k} < {all}; {k}++) {name}[{k}] = {element};"));
    }

    /// The sum of a tensor that is not stored.
    pub fn lazy_sum(&mut self, result: Var, x: Var) -> bool {
        let Some(text) = self.lazy.get(&x).cloned() else { return false };
        let sizes = self.sizes(x);
        let name = self.name(result);
        let all = self.n_elements(&name, &sizes);
        let k = self.names.of("k");
        self.line(&format!("double {name} = {all} == 0 ? 0.0 : -0.0;"));
        let element = text.replace(INDEX, &k);
        self.line(&format!("for (int64_t {k} = 0; {k} < {all}; {k}++) {name} += {element};"));
        self.set(result, Repr::Scalar(name));
        true
    }
}
