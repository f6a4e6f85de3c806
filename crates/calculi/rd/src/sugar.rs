//! The abbreviations of sections 2 and 3.1 that build core terms: zero and addition at every type, tuples and
//! their patterns.

use crate::operation::{Op, Primitive, Scalar};
use crate::syntax::{Term, TermId, Terms, VarId};
use crate::types::{Shape, Type};

impl Terms {
    /// `0_T`: `0_real = 0`, `0_unit = *`, `0_{T×U} = ⟨0_T, 0_U⟩`.
    pub fn zero(&mut self, ty: Type) -> TermId {
        enum Task {
            Build(Type),
            Join,
        }
        let mut done = Vec::new();
        let mut tasks = vec![Task::Build(ty)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Join => {
                    let (left, right) = pop_two(&mut done);
                    done.push(self.pair(left, right));
                }
                Task::Build(ty) => match self.types.shape(ty) {
                    Shape::Real => done.push(self.real(0.0)),
                    Shape::Unit => done.push(self.push(Term::Unit)),
                    Shape::Product(left, right) => {
                        tasks.extend([Task::Join, Task::Build(right), Task::Build(left)]);
                    }
                    Shape::Unknown => done.push(self.poison()),
                },
            }
        }
        done.pop().expect("one term is built")
    }

    /// `M +_T N`, by induction on `T`:
    ///
    /// ```text
    /// M +_real N = M + N          M +_unit N = let x = M in let y = N in *
    /// M +_{T×U} N = let ⟨x1,x2⟩ = M in let ⟨y1,y2⟩ = N in ⟨x1 +_T y1, x2 +_U y2⟩
    /// ```
    pub fn add_at(&mut self, ty: Type, left: TermId, right: TermId) -> TermId {
        enum Task {
            Add(Type, TermId, TermId),
            Join(Vec<(VarId, TermId)>),
        }
        let mut done = Vec::new();
        let mut tasks = vec![Task::Add(ty, left, right)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Join(lets) => {
                    let (first, second) = pop_two(&mut done);
                    let pair = self.pair(first, second);
                    done.push(self.bind_all(&lets, pair));
                }
                Task::Add(ty, left, right) => match self.types.shape(ty) {
                    Shape::Real => done.push(self.push(Term::Add(left, right))),
                    Shape::Unit => {
                        let lets = [(self.fresh_named("x", ty), left), (self.fresh_named("y", ty), right)];
                        let unit = self.push(Term::Unit);
                        done.push(self.bind_all(&lets, unit));
                    }
                    Shape::Product(first, second) => {
                        let mut lets = Vec::new();
                        let (x1, x2) = self.split(left, "x", &mut lets);
                        let (y1, y2) = self.split(right, "y", &mut lets);
                        tasks.extend([Task::Join(lets), Task::Add(second, x2, y2), Task::Add(first, x1, y1)]);
                    }
                    Shape::Unknown => done.push(self.poison()),
                },
            }
        }
        done.pop().expect("one term is built")
    }

    /// The lets of `let ⟨x1,x2⟩ = M in …`, appended to `lets`, and the terms `x1`, `x2`.
    fn split(&mut self, pair: TermId, name: &str, lets: &mut Vec<(VarId, TermId)>) -> (TermId, TermId) {
        let whole = self.fresh_named("z", self.ty(pair));
        lets.push((whole, pair));
        let mut half = |terms: &mut Terms, index: &str, project: fn(TermId) -> Term| {
            let whole = terms.variable(whole);
            let half = terms.push(project(whole));
            let var = terms.fresh_named(&format!("{name}{index}"), terms.ty(half));
            lets.push((var, half));
            terms.variable(var)
        };
        (half(self, "1", Term::Fst), half(self, "2", Term::Snd))
    }

    /// `let x = M in let y = N in … in body`.
    pub fn bind_all(&mut self, lets: &[(VarId, TermId)], body: TermId) -> TermId {
        lets.iter().rev().fold(body, |body, (var, bound)| self.bind(*var, *bound, body))
    }

    /// The left-nested tuple of these terms: unit for none, the term itself for one.
    pub fn tuple(&mut self, items: &[TermId]) -> TermId {
        match items {
            [] => self.push(Term::Unit),
            [first, rest @ ..] => rest.iter().fold(*first, |left, right| self.pair(left, *right)),
        }
    }

    /// `op(M)` for an operation on one real.
    pub fn scalar(&mut self, scalar: Scalar, argument: TermId) -> TermId {
        self.push(Term::Op(Op::Primal(Primitive::Scalar(scalar)), argument))
    }

    /// `op(⟨M,N⟩)` for an operation on two reals.
    pub fn scalar2(&mut self, scalar: Scalar, left: TermId, right: TermId) -> TermId {
        let pair = self.pair(left, right);
        self.scalar(scalar, pair)
    }

    /// `scale_T(⟨M,N⟩)`.
    pub fn scale(&mut self, factor: TermId, vector: TermId) -> TermId {
        let ty = self.ty(vector);
        let pair = self.pair(factor, vector);
        self.push(Term::Op(Op::Primal(Primitive::Scale(ty)), pair))
    }
}

/// Pops two results, the earlier first.
fn pop_two(done: &mut Vec<TermId>) -> (TermId, TermId) {
    let right = done.pop().expect("both halves are built");
    let left = done.pop().expect("both halves are built");
    (left, right)
}
