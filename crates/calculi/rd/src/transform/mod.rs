//! Source transformation (section 13): whole terms are differentiated, branches included, before they run.
//!
//! ```text
//! A.rd_L(x:T.N)  ↦  let l:T = L in let w:U = A in let x:T = l in Rev(x:T; w; N)      innermost first
//! ```
//!
//! Terms are first put into A-normal form ([`normal`]), which also replaces derivatives; [`crate::reverse`]
//! has the clauses of `Rev`. The result has no derivatives, and runs on the machine of the tape engine
//! without a tape.
//!
//! A function gets its reverse `f_r` when a derivative calls it. If the body of `f` differentiates `f`, then
//! `f_r` needs `f_rr`, and so on without end; so a function is transformed at its first call. Functions are
//! closed, so a function determines its closure, and `f_r` is memoised by `f`.
//!
//! The backward pass computes a definition again to find its intermediate values. Calls that repeat earlier
//! ones cost no fuel, so a program needs the same fuel here as elsewhere.
//!
//! Decision: a main derivative under `use clarke` is not transformed, because the choice at a tie would have
//! to be repeated wherever the tie is computed again. This is reported as RD014, like `letrec[n]`.

mod normal;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::clarke;
use crate::outcome::{Counters, Limits, Outcome, Stop, Ties};
use crate::reverse::{Goal, ReverseFunctions, TooLarge, reverse_term};
use crate::syntax::{FnId, Program, Term, TermId, Terms};
use crate::tape::{Linker, Machine, Step};
use crate::value::Value;

/// Why a program cannot be transformed (RD014).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotTransformable {
    /// A function is defined by `letrec[n]`: its reverse would need the function at limit `n-1`.
    LimitedRecursion,
    /// The program ends in a derivative under `use clarke`.
    Clarke,
}

/// Why a program cannot be transformed; `None` if it can.
pub fn not_transformable(program: &Program) -> Option<NotTransformable> {
    if program.terms.has_limits() {
        return Some(NotTransformable::LimitedRecursion);
    }
    (program.clarke && clarke::main_derivative(program).is_some()).then_some(NotTransformable::Clarke)
}

/// Runs a program for which [`not_transformable`] returns `None`.
///
/// # Panics
/// If [`not_transformable`] returns a reason.
pub fn run(program: &Program, limits: Limits) -> (Outcome, Counters) {
    assert_eq!(
        not_transformable(program),
        None,
        "the caller checks first that the program can be transformed"
    );
    // The terms take about half of the memory; code and data take the rest.
    let max_bytes = usize::try_from(limits.memory / 2).unwrap_or(usize::MAX);
    let mut transformer = Transformer {
        terms: program.terms.clone(),
        functions: Functions { max_bytes, ..Functions::default() },
    };
    let mut linker = Linker::default();
    let mut machine = Machine::new(limits, Ties::default());
    let outcome = match transformer.run(program.main, &mut linker, &mut machine) {
        Ok(leaves) => {
            let ty = program.terms.ty(program.main);
            Outcome::Value(Value::from_leaves(&program.terms.types, ty, &leaves))
        }
        Err(stop) => stop.into(),
    };
    (outcome, machine.counters())
}

struct Transformer {
    terms: Terms,
    functions: Functions,
}

impl Transformer {
    /// Runs the program, and transforms each function when it is called for the first time.
    fn run(&mut self, main: TermId, linker: &mut Linker, machine: &mut Machine) -> Result<Vec<f64>, Stop> {
        let main = normal::normalise(&mut self.terms, &mut self.functions, main)?;
        linker.link_program(&self.terms, main, &self.functions.repeated);
        loop {
            match machine.run(&linker.code)? {
                Step::Finished(leaves) => return Ok(leaves),
                Step::Missing(number) => {
                    let function = linker.function_id(number);
                    let body = self.functions.body(&mut self.terms, function)?;
                    linker.link(&self.terms, function, body, &self.functions.repeated);
                }
            }
        }
    }
}

/// The functions transformed so far, and their reverses.
#[derive(Default)]
struct Functions {
    /// `f_r` by `f`.
    reverse: FxHashMap<FnId, FnId>,
    /// `f` by `f_r`.
    origin: FxHashMap<FnId, FnId>,
    /// The bodies, in A-normal form and without derivatives.
    bodies: FxHashMap<FnId, TermId>,
    /// The calls that repeat earlier ones.
    repeated: FxHashSet<TermId>,
    /// How many bytes the table of terms may take.
    max_bytes: usize,
}

impl ReverseFunctions for Functions {
    fn reverse_of(&mut self, terms: &mut Terms, function: FnId) -> FnId {
        if let Some(reverse) = self.reverse.get(&function) {
            return *reverse;
        }
        let known = terms.function(function);
        let argument = terms.var(known.param).ty;
        let pair = terms.types.product(argument, known.result);
        let param = terms.fresh_named("p", pair);
        let reverse = terms.declare(known.name, param, argument, None);
        self.reverse.insert(function, reverse);
        self.origin.insert(reverse, function);
        reverse
    }

    fn mark_repeated(&mut self, call: TermId) {
        self.repeated.insert(call);
    }

    fn is_repeated(&self, call: TermId) -> bool {
        self.repeated.contains(&call)
    }
}

impl Functions {
    /// The transformed body of a function. The body of a reverse needs the body of its original first; the
    /// original may itself be a reverse.
    fn body(&mut self, terms: &mut Terms, function: FnId) -> Result<TermId, TooLarge> {
        let mut waiting = vec![function];
        while let Some(function) = waiting.last().copied() {
            let body = match self.origin.get(&function).copied() {
                _ if self.bodies.contains_key(&function) => {
                    waiting.pop();
                    continue;
                }
                None => normal::normalise(terms, self, terms.body(function))?,
                Some(original) => match self.bodies.get(&original).copied() {
                    None => {
                        waiting.push(original);
                        continue;
                    }
                    Some(body) => self.reverse_body(terms, function, original, body)?,
                },
            };
            self.bodies.insert(function, body);
        }
        Ok(self.bodies[&function])
    }

    // letrec f_r(p:T×U):T = (let ⟨x,v⟩ = p in Rev(x:T; v; M))
    fn reverse_body(
        &mut self,
        terms: &mut Terms,
        reverse: FnId,
        original: FnId,
        body: TermId,
    ) -> Result<TermId, TooLarge> {
        let known = terms.function(original);
        let p = terms.function(reverse).param;
        let p_term = terms.variable(p);
        let (point, cotangent) = (terms.push(Term::Fst(p_term)), terms.push(Term::Snd(p_term)));
        let x = terms.fresh_named("x", terms.ty(point));
        let v = terms.fresh_named("v", terms.ty(cotangent));
        let (x_term, v_term) = (terms.variable(x), terms.variable(v));
        let goal = Goal { var: known.param, point: x_term, cotangent: v_term, body };
        let max_bytes = self.max_bytes;
        let reversed = reverse_term(terms, self, goal, max_bytes)?;
        Ok(terms.bind_all(&[(x, point), (v, cotangent)], reversed))
    }
}
