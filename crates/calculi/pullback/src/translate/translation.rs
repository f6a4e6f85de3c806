//! From kernel terms to 𝓛, the table of the paper's Appendix D.
//!
//! ```text
//! r*_t = λv.Σ r_i·π_i v              (J f·s)_t = D f·s_t
//! (φ@u)_t = φ_t u_t                  (J s·u)_t = λx.(D s_t·u_t)x
//! ((λy.s)^*·t)_t = λv.t_t((λy.s_t)v)
//! ((Ω λy.p)·s)_t = λx v. s_t((λy.p_t)x)((D(λy.p_t)·v)x)
//! ```
//!
//! and the identity on the λ part. Operands are bound by `let`, so they are evaluated before the λ is made,
//! as in the other engines.

use super::term::{Form, LTerm, LTerms, LVar};
use crate::eval::divide::ends_in_constant;
use crate::primitive::PrimId;
use crate::primitive::calculus::Binary;
use crate::syntax::{Path, Term, TermId, Terms};
use crate::types::{Type, assemble};

enum Task {
    Visit(TermId),
    Build(TermId),
    Enter,
    Leave,
}

struct Translation<'a> {
    terms: &'a Terms,
    out: LTerms,
    /// The variables of the enclosing binders, the innermost last.
    scope: Vec<LVar>,
    done: Vec<LTerm>,
    /// The variables of binders whose bodies are done.
    bound: Vec<LVar>,
    mul: PrimId,
}

/// The translation of a closed term.
pub fn translate(terms: &Terms, main: TermId) -> (LTerms, LTerm) {
    let mut primitives = terms.primitives.clone();
    let mul = primitives.binary(Binary::Mul);
    let out = LTerms::new(primitives);
    let mut translation =
        Translation { terms, out, scope: Vec::new(), done: Vec::new(), bound: Vec::new(), mul };
    let term = translation.walk(main);
    (translation.out, term)
}

impl Translation<'_> {
    fn walk(&mut self, main: TermId) -> LTerm {
        let mut tasks = vec![Task::Visit(main)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Visit(id) => {
                    tasks.push(Task::Build(id));
                    let children: Vec<_> = self.terms.term(id).children().collect();
                    for (child, depth) in children.into_iter().rev() {
                        if depth == 0 {
                            tasks.push(Task::Visit(child));
                        } else {
                            tasks.extend([Task::Leave, Task::Visit(child), Task::Enter]);
                        }
                    }
                }
                Task::Enter => {
                    let var = self.out.fresh();
                    self.scope.push(var);
                }
                Task::Leave => {
                    let var = self.scope.pop().expect("it was entered");
                    self.bound.push(var);
                }
                Task::Build(id) => {
                    let term = self.build(id);
                    self.done.push(term);
                }
            }
        }
        self.pop()
    }

    fn pop(&mut self) -> LTerm {
        self.done.pop().expect("parts are translated first")
    }

    /// `λy.body` of a binder whose body is done.
    fn abstraction(&mut self, body: LTerm) -> LTerm {
        let var = self.bound.pop().expect("its body is done");
        self.out.push(Form::Lambda(var, body))
    }

    fn build(&mut self, id: TermId) -> LTerm {
        let form = match self.terms.term(id) {
            Term::Bound(index) => Form::Var(self.scope[self.scope.len() - 1 - index as usize]),
            Term::Free(_) => unreachable!("open programs are not translated"),
            Term::Real(value) => Form::Real(value),
            Term::Zero => Form::Zero,
            Term::Lambda(..) => {
                let body = self.pop();
                return self.abstraction(body);
            }
            Term::Apply(..) => {
                let (argument, function) = (self.pop(), self.pop());
                Form::Apply(function, argument)
            }
            Term::Pair(..) => {
                let (right, left) = (self.pop(), self.pop());
                Form::Pair(left, right)
            }
            Term::Add(..) => {
                let (right, left) = (self.pop(), self.pop());
                Form::Add(left, right)
            }
            Term::Project(path, _) => Form::Project(path, self.pop()),
            Term::Prim(f, _) => Form::Prim(f, self.pop()),
            // λx.f'(⟨x,s⟩)
            Term::PrimJacobian(f, _) => {
                let (direction, derivative) = (self.pop(), self.out.primitives.derivative(f));
                return self.out.with(direction, |out, direction| {
                    out.lambda(|out, x| {
                        let pair = out.push(Form::Pair(x, direction));
                        out.push(Form::Prim(derivative, pair))
                    })
                });
            }
            // λv.t((λy.s) v)
            Term::Dual(..) => {
                let (operand, body) = (self.pop(), self.pop());
                let function = self.abstraction(body);
                return self.out.with(operand, |out, operand| {
                    out.lambda(|out, v| {
                        let image = out.apply(function, v);
                        out.apply(operand, image)
                    })
                });
            }
            // λx.λv.w((λy.p) x)(D(λy.p; x; v))
            Term::Pullback(_, kernel_body, _) => {
                let (form, body) = (self.pop(), self.pop());
                let function = self.abstraction(body);
                if ends_in_constant(self.terms, kernel_body) {
                    return self.constant_pullback(function, form);
                }
                return self.pullback(function, form);
            }
            // λx.D(s; x; u)
            Term::Jacobian(..) => {
                let (direction, function) = (self.pop(), self.pop());
                return self.out.with(function, |out, function| {
                    out.with(direction, |out, direction| {
                        out.lambda(|out, x| out.push(Form::Derive(function, x, vec![direction])))
                    })
                });
            }
            Term::Contract(..) => {
                let (vector, covector) = (self.pop(), self.pop());
                Form::Apply(covector, vector)
            }
            Term::Flat(of) => {
                let (vector, ty) = (self.pop(), self.terms.ty(of));
                return self.flat(vector, ty);
            }
            Term::Sharp(_) => {
                let covector = self.pop();
                return self.sharp(covector, self.terms.ty(id));
            }
        };
        self.out.push(form)
    }

    /// (9)   A constant value: the 1-form is not evaluated.
    fn constant_pullback(&mut self, function: LTerm, form: LTerm) -> LTerm {
        self.out.with(form, |out, _| {
            out.lambda(|out, x| {
                let value = out.apply(function, x);
                out.with(value, |out, _| out.push(Form::Zero))
            })
        })
    }

    /// Applies the 1-form to the value before the direction is known, so that a covector is computed once.
    fn pullback(&mut self, function: LTerm, form: LTerm) -> LTerm {
        self.out.with(form, |out, form| {
            out.lambda(|out, x| {
                let value = out.apply(function, x);
                let covector = out.apply(form, value);
                out.with(covector, |out, covector| {
                    out.lambda(|out, v| {
                        let tangent = out.push(Form::Derive(function, x, vec![v]));
                        out.apply(covector, tangent)
                    })
                })
            })
        })
    }

    /// `λv.Σ a_i·v_i`.
    fn flat(&mut self, vector: LTerm, ty: Type) -> LTerm {
        let mul = self.mul;
        let places = places(self.terms, ty);
        self.out.with(vector, |out, vector| {
            out.lambda(|out, v| {
                let products: Vec<LTerm> = places
                    .iter()
                    .map(|place| {
                        let (a, b) = (component(out, vector, place), component(out, v, place));
                        let pair = out.push(Form::Pair(a, b));
                        out.push(Form::Prim(mul, pair))
                    })
                    .collect();
                products.into_iter().reduce(|a, b| out.push(Form::Add(a, b))).expect("a vector has a leaf")
            })
        })
    }

    /// `⟨φ ε_1, …⟩`.
    fn sharp(&mut self, covector: LTerm, ty: Type) -> LTerm {
        let n = self.terms.types.components(ty);
        let terms = self.terms;
        self.out.with(covector, |out, covector| {
            let leaves = (0..n).map(|leaf| {
                let basis = basis(out, terms, ty, leaf);
                out.apply(covector, basis)
            });
            let leaves: Vec<LTerm> = leaves.collect();
            arrange(out, terms, ty, leaves)
        })
    }
}

/// The chains of projections to the leaves of a Euclidean type.
fn places(terms: &Terms, ty: Type) -> Vec<Vec<Path>> {
    let (mut places, mut work) = (Vec::new(), vec![(ty, Vec::new())]);
    while let Some((ty, place)) = work.pop() {
        if terms.types.factors(ty).is_none() {
            places.push(place);
            continue;
        }
        let items = terms.types.spine(ty);
        let n = items.len();
        for (i, item) in items.into_iter().enumerate().rev() {
            let lefts = u32::try_from(n - 1 - i).expect("types have fewer items");
            let mut place = place.clone();
            place.push(Path { lefts, right: i > 0 });
            work.push((item, place));
        }
    }
    places
}

fn component(out: &mut LTerms, of: LTerm, place: &[Path]) -> LTerm {
    place.iter().fold(of, |of, path| out.push(Form::Project(*path, of)))
}

/// The basis vector of a Euclidean type that is 1 at this leaf.
pub fn basis(out: &mut LTerms, terms: &Terms, ty: Type, leaf: u64) -> LTerm {
    let n = terms.types.components(ty);
    let leaves = (0..n).map(|i| out.push(Form::Real(if i == leaf { 1.0 } else { 0.0 }))).collect();
    arrange(out, terms, ty, leaves)
}

/// The tuple of a Euclidean type with these leaves.
fn arrange(out: &mut LTerms, terms: &Terms, ty: Type, leaves: Vec<LTerm>) -> LTerm {
    let steps = terms.types.assembly(ty);
    assemble(&steps, leaves, |left, right| out.push(Form::Pair(left, right)))
}
