//! The rules of intersection typing (section 9, Figure 11): from a judgement to its premises.

use dashu_ratio::RBig;

use super::search::{Check, Cut, Derived, Goal, Judgement, NoDerivation, Search, Supply, Variable};
use super::store::{Letter, Number, Point, PointId, SetId, Supplier};
use crate::syntax::{Bit, Op, Term};
use crate::types::Type;

impl Search {
    /// One rule of Figure 11, by the form of the term.
    pub fn check(&mut self, check: Check) -> Result<(), NoDerivation> {
        let judgement = Judgement {
            below: check.below,
            term: check.term,
            environment: check.environment,
            point: check.point,
        };
        self.judgements.push(judgement);
        let below = Some(self.judgements.len() - 1);
        let point = self.store.point(check.point).clone();
        let part = |term, point| Check { term, point, below, ..check };
        match self.terms.get(check.term) {
            // x:[a] ⊢ x : a
            Term::Var(index) => {
                let Variable { collector, supplier, .. } = self.variable(check.environment, index);
                self.store.add_use(collector, check.point);
                self.supply(supplier, check.point);
            }
            // ⊢ n : n
            Term::Num(n) => self.push(Goal::Numbers(point.number, Number::known(n))),
            // coin(p): 0 if p > 0, 1 if p < 1
            Term::Coin(probability) => {
                let p = self.terms.probability(probability);
                let sides = [(0, *p > RBig::ZERO), (1, *p < RBig::ONE)];
                let way = |side| vec![Goal::Numbers(point.number, Number::known(side))];
                let ways = sides.iter().filter(|(_, falls)| *falls).map(|(side, _)| way(*side)).collect();
                return self.choose(ways);
            }
            // tick M : a from M : a
            Term::Tick(m) => self.push(Goal::Check(part(m, check.point))),
            // \x.M : (m,b) from Φ,x:m ⊢ M : b
            Term::Lambda(ty, body) => {
                let (set, rest) = split_first(point);
                let rest = self.store.add(rest);
                let supplier = self.store.take_supplier(set);
                let (environment, collector) = self.bind(check.environment, check.term, ty, supplier);
                self.push(Goal::Uses(collector, set));
                self.push(Goal::Check(Check { environment, ..part(body, rest) }));
            }
            // M N : b from M : ([a1..an],b) and N : aj
            Term::Apply(m, n) => self.apply(part(m, check.point), part(n, check.point)),
            // fix M: the same with N := fix M
            Term::Fix(m) => {
                let Some(unfold) = check.unfold.checked_sub(1) else {
                    self.cuts.insert(Cut::Unfold);
                    return Err(NoDerivation);
                };
                let again = Check { unfold, ..part(check.term, check.point) };
                self.apply(part(m, check.point), again);
            }
            // D M : ([r1·a1..rn·an], r·b) from M : ([a1..an],b), r = r1+…+rn
            Term::Derive(m) => {
                let mut inside = point;
                let letter = inside.word.remove(0);
                let ty = self.type_of(part(m, check.point));
                let (from, _) = self.terms.types.sides(ty).expect("what is differentiated is a function");
                let goal = self.derive(&mut inside, letter, from);
                let inside = self.store.add(inside);
                self.push(goal);
                self.push(Goal::Check(part(m, inside)));
            }
            Term::Op(op, depth, m) => return self.operator(op, depth as usize, point, part(m, check.point)),
            // if^d(M,P,Q) : δ·a from M : δ·0 and P : a, or from M : δ·(ν+1) and Q : a
            Term::If(depth, m, p, q) => {
                let (condition, rest) = self.split_word(point, depth as usize);
                let successor = self.store.fresh_number();
                let successor = Number { offset: 1, ..successor };
                let ways = [(Number::known(0), p), (successor, q)].map(|(number, branch)| {
                    let condition = self.store.add(Point { number, ..condition.clone() });
                    vec![Goal::Check(part(m, condition)), Goal::Check(part(branch, rest))]
                });
                return self.choose(ways.into_iter().collect());
            }
            // let^d(x,M,P) : δ·a from M : δ·ν and x:[ν,…,ν] ⊢ P : a
            Term::Let(depth, m, p) => {
                let (bound, rest) = self.split_word(point, depth as usize);
                let number = self.store.fresh_number();
                let bound = self.store.add(Point { number, ..bound });
                let (environment, collector) = self.bind(check.environment, check.term, Type::NAT, None);
                self.push_all(
                    [
                        Goal::Check(part(m, bound)),
                        Goal::Check(Check { environment, ..part(p, rest) }),
                        Goal::AllEqual(collector, number),
                    ]
                    .into_iter(),
                );
            }
            Term::Zero(_) | Term::Sum(..) => unreachable!("programs are free of sums"),
        }
        Ok(())
    }

    /// The rules for operators, from the point of the whole to that of the part.
    fn operator(&mut self, op: Op, depth: usize, mut point: Point, part: Check) -> Result<(), NoDerivation> {
        let on_part = |search: &mut Search, point| {
            let point = search.store.add(point);
            Goal::Check(Check { point, ..part })
        };
        match op {
            // succ^d M : δ·(ν+1) from M : δ·ν
            Op::Succ => {
                let number = self.store.fresh_number();
                let whole = std::mem::replace(&mut point.number, number);
                let goals = [Goal::Numbers(whole, Number { offset: 1, ..number }), on_part(self, point)];
                self.push_all(goals.into_iter());
            }
            // pred^d M : δ·0 from δ·0 ;  δ·ν from δ·(ν+1)
            Op::Pred => {
                let below = point.number;
                let zero = Point { number: Number::known(0), ..point.clone() };
                let above = Point { number: Number { offset: below.offset + 1, ..below }, ..point };
                let ways = vec![
                    vec![Goal::Numbers(below, Number::known(0)), on_part(self, zero)],
                    vec![on_part(self, above)],
                ];
                return self.choose(ways);
            }
            // pi_i^d M : δ·a from M : δ i·a
            Op::Pi(bit) => {
                point.word.insert(depth, Letter::Known(bit));
                let goal = on_part(self, point);
                self.push(goal);
            }
            // inj_i^d M : δ i·a from M : δ·a
            Op::Inj(bit) => {
                let letter = point.word.remove(depth);
                let goals = [Goal::Letters(letter, Letter::Known(bit)), on_part(self, point)];
                self.push_all(goals.into_iter());
            }
            // theta^d M : δ r·a from M : δ r0 r1·a, r = r0+r1
            Op::Theta => {
                let letter = point.word.remove(depth);
                let ways = [(Bit::Zero, Bit::Zero), (Bit::One, Bit::Zero), (Bit::Zero, Bit::One)];
                let ways = ways.map(|(r0, r1)| {
                    let sum = r0.max(r1);
                    let mut inside = point.clone();
                    inside.word.splice(depth..depth, [Letter::Known(r0), Letter::Known(r1)]);
                    vec![Goal::Letters(letter, Letter::Known(sum)), on_part(self, inside)]
                });
                return self.choose(ways.into_iter().collect());
            }
            // flip_l^d M : δ α'·a from M : δ α·a, where α' is α with its last letter moved to the front
            Op::Flip(levels) => {
                point.word[depth..depth + levels as usize + 2].rotate_left(1);
                let goal = on_part(self, point);
                self.push(goal);
            }
        }
        Ok(())
    }

    /// M is checked with an unknown multiset, then N at each of its points.
    fn apply(&mut self, function: Check, argument: Check) {
        let (set, goal) = self.supplied(argument);
        let mut point = self.store.point(function.point).clone();
        point.sets.insert(0, set);
        let point = self.store.add(point);
        self.push(goal);
        self.push(Goal::Check(Check { point, ..function }));
    }

    /// An unknown multiset of points of an argument, and the goal for when it is known.
    pub fn supplied(&mut self, argument: Check) -> (SetId, Goal) {
        let supplier = self.add_supply(Supply::Argument(argument));
        let set = self.store.supplied_set(supplier);
        (set, Goal::Argument { argument, set, supplier })
    }

    pub fn argument(&mut self, argument: Check, set: SetId, supplier: Supplier) -> Result<(), NoDerivation> {
        let Some(points) = self.store.elements(set).map(<[PointId]>::to_vec) else {
            let ty = self.type_of(argument);
            return self.guess(ty, set, Goal::Argument { argument, set, supplier });
        };
        self.push_all(points.into_iter().map(|point| Goal::Check(Check { point, ..argument })));
        Ok(())
    }

    /// Tries all sizes of a multiset, up to the bound: if the head of a function is a variable, the number of
    /// uses of the argument is unknown.
    fn guess(&mut self, ty: Type, set: SetId, then: Goal) -> Result<(), NoDerivation> {
        self.cuts.insert(Cut::Copies);
        let mut ways = Vec::new();
        // Most functions use their argument once, so that is tried first.
        let sizes =
            [1, 0].into_iter().chain(2..=self.bounds.copies).filter(|size| *size <= self.bounds.copies);
        for size in sizes {
            if self.bytes() > self.bounds.memory {
                self.cuts.insert(Cut::Memory);
                break;
            }
            let points = (0..size).map(|_| self.store.fresh_point(&self.terms.types, ty)).collect();
            let guess = self.store.known_set(points);
            ways.push(vec![Goal::Sets(set, guess), then.clone()]);
        }
        self.choose(ways)
    }

    pub fn type_of(&mut self, check: Check) -> Type {
        let scope = self.scope(check.environment);
        self.checker.type_of(&mut self.terms, check.term, scope).expect("a program is well typed")
    }

    /// `(m', b)` becomes `(m, b)`, where m' is m with letters whose sum is r. Returns the goal to solve once
    /// m is known.
    pub fn derive(&mut self, point: &mut Point, letter: Letter, ty: Type) -> Goal {
        let outside = self.store.take_supplier(point.sets[0]);
        let marked = self.store.fresh_collector();
        let supplier = self.add_supply(Supply::Derived(outside, marked));
        let given = self.store.supplied_set(supplier);
        let wanted = std::mem::replace(&mut point.sets[0], given);
        Goal::Derived(Derived { ty, given, wanted, letter, supplier })
    }

    /// At most one of the points gets the letter 1; if one does, the whole has the letter 1.
    pub fn derived(&mut self, derived: Derived) -> Result<(), NoDerivation> {
        let Derived { ty, given, wanted, letter, supplier } = derived;
        if !self.store.is_taken(supplier) {
            let Some(points) = self.store.elements(given).map(<[PointId]>::to_vec) else {
                return self.guess(ty, given, Goal::Derived(derived));
            };
            for point in points {
                self.supply(Some(supplier), point);
            }
        }
        let Supply::Derived(_, marked) = self.supplies[supplier.index()] else {
            unreachable!("the multiset inside a `D` was made for it")
        };
        let marked = self.store.uses(marked).to_vec();
        let letters: Vec<Letter> = marked.iter().map(|point| self.store.point(*point).word[0]).collect();
        let marked = self.store.known_set(marked);
        let way = |chosen: Option<usize>| {
            let bit = |is_one: bool| Letter::Known(if is_one { Bit::One } else { Bit::Zero });
            let each =
                letters.iter().enumerate().map(|(i, other)| Goal::Letters(*other, bit(Some(i) == chosen)));
            let sum = Goal::Letters(letter, bit(chosen.is_some()));
            std::iter::once(sum).chain(each).chain([Goal::Sets(marked, wanted)]).collect()
        };
        let ways = std::iter::once(None).chain((0..letters.len()).map(Some)).map(way).collect();
        self.choose(ways)
    }

    /// Splits `δ·a` with `|δ| = depth` into the word δ with a placeholder number, which the caller sets, and
    /// a.
    fn split_word(&mut self, mut point: Point, depth: usize) -> (Point, PointId) {
        let rest = point.word.split_off(depth);
        let word = std::mem::replace(&mut point.word, rest);
        let rest = self.store.add(point);
        (Point { sets: Vec::new(), word, number: Number::known(0) }, rest)
    }
}

/// `(m, b)`: the first multiset, and the rest of the point.
fn split_first(mut point: Point) -> (SetId, Point) {
    let set = point.sets.remove(0);
    (set, point)
}
