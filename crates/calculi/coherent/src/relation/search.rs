//! The search for a derivation of `⊢ M : a` (section 9, Figure 11).
//!
//! The open goals are a list. If a goal has several alternatives, the untried ones are kept as choices, and a
//! goal that fails backtracks to the last choice. An application `M N` first checks M with an unknown
//! multiset for its argument. If M is an abstraction, N becomes the *supplier* of its variable: each use of
//! the variable is checked against N at once, so that constraints from N are known before more alternatives
//! are tried. If a multiset has no supplier, because the head of the application is a variable of the
//! program's own context, its size is guessed, up to a bound.
//!
//! Bounds make the search finite; an answer that a bound may have changed is `unknown`.

use std::collections::BTreeSet;

use super::store::{Collector, Letter, Mark, Number, PointId, SetId, Store, Supplier};
use crate::syntax::{Program, TermId, Terms};
use crate::types::Type;
use crate::typing::{Checker, Scope};

/// The bounds of a search.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The maximal size of a guessed multiset.
    pub copies: u32,
    /// The maximal depth of unfolding a recursion.
    pub unfold: u32,
    /// The maximal number of goals.
    pub work: u64,
    /// Approximate bytes.
    pub memory: u64,
}

/// A bound that the search reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cut {
    /// [`Bounds::copies`].
    Copies,
    /// [`Bounds::unfold`].
    Unfold,
    /// [`Bounds::work`].
    Work,
    /// [`Bounds::memory`].
    Memory,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds { copies: 3, unfold: 4, work: 2_000_000, memory: 1 << 30 }
    }
}

/// The answer of the search.
#[derive(Clone, Debug)]
pub enum Answer {
    /// A derivation exists.
    Yes(Box<Derivation>),
    No,
    /// No derivation exists within these bounds.
    Unknown(BTreeSet<Cut>),
}

/// A derivation.
#[derive(Clone, Debug)]
pub struct Derivation {
    /// The judgements, each after the one below it; the first is the question.
    pub judgements: Vec<Judgement>,
    /// The environments that they refer to.
    pub environments: Vec<Variable>,
    /// The solved unknowns of their points.
    pub store: Store,
}

/// A judgement `Φ ⊢ M : a`; Φ follows from the leaves above it.
#[derive(Clone, Copy, Debug)]
pub struct Judgement {
    /// The judgement below it, which needs it.
    pub below: Option<usize>,
    pub term: TermId,
    /// Its variables.
    pub environment: Environment,
    pub point: PointId,
}

/// A list of variables, by the number of its innermost one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Environment(pub(super) Option<u32>);

/// A variable in an environment.
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    /// The variables outside of it.
    pub outer: Environment,
    /// The collector of its uses.
    pub collector: Collector,
    pub binder: TermId,
    /// The types of all variables in scope.
    scope: Scope,
    /// The supplier that checks its uses.
    pub(super) supplier: Option<Supplier>,
}

/// How the points of a multiset are checked as soon as they are known.
#[derive(Clone, Copy, Debug)]
pub(super) enum Supply {
    /// The argument of an application.
    Argument(Check),
    /// The multiset inside a `D`: its points get a letter, unknown at first, and go to the supplier of the
    /// multiset outside, if there is one. The points with their letters are collected.
    Derived(Option<Supplier>, Collector),
}

/// Searches for a derivation of a point of a closed term; the function puts the point into the store. Also
/// returns the number of goals.
pub fn ask(program: &Program, bounds: Bounds, point: impl FnOnce(&mut Store) -> PointId) -> (Answer, u64) {
    let mut search = Search::new(&program.terms, bounds);
    let point = point(&mut search.store);
    let check = search.closed(program.main, point);
    search.push(Goal::Check(check));
    search.answer()
}

/// `Φ ⊢ M : a`, with the number of unfoldings left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Check {
    pub term: TermId,
    pub environment: Environment,
    pub point: PointId,
    pub unfold: u32,
    pub below: Option<usize>,
}

/// An open goal.
#[derive(Clone, Debug)]
pub(super) enum Goal {
    Check(Check),
    /// The argument has each point of the multiset that the function requires. The function is already
    /// checked. Nothing remains to do if each use was checked separately.
    Argument {
        argument: Check,
        set: SetId,
        supplier: Supplier,
    },
    /// All goals of at least one of these lists.
    Either(Vec<Vec<Goal>>),
    /// The uses of a variable are the multiset.
    Uses(Collector, SetId),
    /// All uses of a variable are this number.
    AllEqual(Collector, Number),
    /// `D M : (wanted, r·b)` from `M : (given, b)`.
    Derived(Derived),
    Letters(Letter, Letter),
    Numbers(Number, Number),
    Points(PointId, PointId),
    Sets(SetId, SetId),
    /// The points of two lists are the same up to their order.
    Match(Vec<PointId>, Vec<PointId>),
}

/// The data of `D M : (wanted, r·b)` from `M : (given, b)`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Derived {
    /// The type of the points of the first multiset.
    pub ty: Type,
    pub given: SetId,
    pub wanted: SetId,
    /// r.
    pub letter: Letter,
    /// The supplier that gets the points of the first multiset, and collects them with their letters.
    pub supplier: Supplier,
}

/// A goal, and the goals after it.
#[derive(Clone, Debug)]
struct Link {
    goal: Goal,
    next: Option<u32>,
}

/// Untried alternatives, the first of them last.
struct Choice {
    ways: Vec<Vec<Goal>>,
    next: Option<u32>,
    n_goals: usize,
    n_environments: usize,
    n_supplies: usize,
    n_judgements: usize,
    mark: Mark,
}

/// This alternative has no derivation.
pub(super) struct NoDerivation;

pub(super) struct Search {
    pub terms: Terms,
    pub checker: Checker,
    pub bounds: Bounds,
    pub store: Store,
    goals: Vec<Link>,
    next: Option<u32>,
    choices: Vec<Choice>,
    pub environments: Vec<Variable>,
    pub supplies: Vec<Supply>,
    pub judgements: Vec<Judgement>,
    /// The bounds that the search reached.
    pub cuts: BTreeSet<Cut>,
    work: u64,
}

impl Search {
    pub fn new(terms: &Terms, bounds: Bounds) -> Search {
        Search {
            terms: terms.clone(),
            checker: Checker::default(),
            bounds,
            store: Store::default(),
            goals: Vec::new(),
            next: None,
            choices: Vec::new(),
            environments: Vec::new(),
            supplies: Vec::new(),
            judgements: Vec::new(),
            cuts: BTreeSet::new(),
            work: 0,
        }
    }

    /// `⊢ M : a`.
    pub fn closed(&self, term: TermId, point: PointId) -> Check {
        Check { term, environment: Environment(None), point, unfold: self.bounds.unfold, below: None }
    }

    /// Searches; also returns the number of goals.
    pub fn answer(mut self) -> (Answer, u64) {
        let answer = if self.run() {
            let Search { judgements, environments, store, .. } = self;
            Answer::Yes(Box::new(Derivation { judgements, environments, store }))
        } else if self.cuts.is_empty() {
            Answer::No
        } else {
            Answer::Unknown(self.cuts)
        };
        (answer, self.work)
    }

    /// Whether all goals are provable.
    fn run(&mut self) -> bool {
        while let Some(next) = self.next {
            self.work += 1;
            if self.work > self.bounds.work {
                self.cuts.insert(Cut::Work);
                return false;
            }
            if self.bytes() > self.bounds.memory {
                self.cuts.insert(Cut::Memory);
                return false;
            }
            let Link { goal, next } = self.goals[next as usize].clone();
            self.next = next;
            if self.prove(goal).is_err() && !self.go_back() {
                return false;
            }
        }
        true
    }

    /// The approximate size of the search in bytes.
    pub fn bytes(&self) -> u64 {
        let lists = self.goals.len() * size_of::<Link>()
            + self.choices.len() * (size_of::<Choice>() + 2 * size_of::<Goal>())
            + self.environments.len() * size_of::<Variable>()
            + self.supplies.len() * size_of::<Supply>()
            + self.judgements.len() * size_of::<Judgement>();
        (lists + self.store.bytes()) as u64
    }

    pub fn push(&mut self, goal: Goal) {
        self.goals.push(Link { goal, next: self.next });
        self.next = Some(u32::try_from(self.goals.len() - 1).expect("the search is bounded far below 2^32"));
    }

    /// Adds goals in order, before all others.
    pub fn push_all(&mut self, goals: impl DoubleEndedIterator<Item = Goal>) {
        goals.rev().for_each(|goal| self.push(goal));
    }

    /// Tries several alternatives, in order.
    pub fn choose(&mut self, mut ways: Vec<Vec<Goal>>) -> Result<(), NoDerivation> {
        ways.reverse();
        let Some(first) = ways.pop() else { return Err(NoDerivation) };
        if !ways.is_empty() {
            self.choices.push(Choice {
                ways,
                next: self.next,
                n_goals: self.goals.len(),
                n_environments: self.environments.len(),
                n_supplies: self.supplies.len(),
                n_judgements: self.judgements.len(),
                mark: self.store.mark(),
            });
        }
        self.push_all(first.into_iter());
        Ok(())
    }

    /// Returns to the last choice; false if there is none.
    fn go_back(&mut self) -> bool {
        let Some(choice) = self.choices.last_mut() else { return false };
        let way = choice.ways.pop().expect("a choice has a way left");
        self.next = choice.next;
        self.goals.truncate(choice.n_goals);
        self.environments.truncate(choice.n_environments);
        self.supplies.truncate(choice.n_supplies);
        self.judgements.truncate(choice.n_judgements);
        self.store.undo_to(choice.mark);
        if choice.ways.is_empty() {
            self.choices.pop();
        }
        self.push_all(way.into_iter());
        true
    }

    fn prove(&mut self, goal: Goal) -> Result<(), NoDerivation> {
        match goal {
            Goal::Check(check) => self.check(check),
            Goal::Argument { supplier, .. } if self.store.is_taken(supplier) => Ok(()),
            Goal::Argument { argument, set, supplier } => self.argument(argument, set, supplier),
            Goal::Either(ways) => self.choose(ways),
            Goal::Uses(collector, set) => {
                let uses = self.store.uses(collector).to_vec();
                let uses = self.store.known_set(uses);
                self.push(Goal::Sets(uses, set));
                Ok(())
            }
            Goal::AllEqual(collector, number) => {
                let uses = self.store.uses(collector).to_vec();
                let numbers: Vec<Number> = uses.iter().map(|point| self.store.point(*point).number).collect();
                let all = numbers.into_iter().all(|other| self.store.equate(other, number));
                all.then_some(()).ok_or(NoDerivation)
            }
            Goal::Derived(derived) => self.derived(derived),
            Goal::Letters(one, other) => {
                self.store.equate_letters(one, other).then_some(()).ok_or(NoDerivation)
            }
            Goal::Numbers(one, other) => self.store.equate(one, other).then_some(()).ok_or(NoDerivation),
            Goal::Points(one, other) => self.points(one, other),
            Goal::Sets(one, other) => {
                if self.store.join(one, other) {
                    return Ok(());
                }
                let elements =
                    |set| self.store.elements(set).expect("known, or they would be joined").to_vec();
                let (ones, others) = (elements(one), elements(other));
                self.push(Goal::Match(ones, others));
                Ok(())
            }
            Goal::Match(mut ones, others) => {
                if ones.len() != others.len() {
                    return Err(NoDerivation);
                }
                let Some(first) = ones.pop() else { return Ok(()) };
                let way = |chosen: usize| {
                    let mut rest = others.clone();
                    let partner = rest.remove(chosen);
                    vec![Goal::Points(first, partner), Goal::Match(ones.clone(), rest)]
                };
                self.choose((0..others.len()).map(way).collect())
            }
        }
    }

    /// Unifies two points.
    fn points(&mut self, one: PointId, other: PointId) -> Result<(), NoDerivation> {
        let (one, other) = (self.store.point(one).clone(), self.store.point(other).clone());
        let words = one.word.iter().zip(&other.word).all(|(a, b)| self.store.equate_letters(*a, *b));
        if !words || !self.store.equate(one.number, other.number) {
            return Err(NoDerivation);
        }
        self.push_all(one.sets.into_iter().zip(other.sets).map(|(a, b)| Goal::Sets(a, b)));
        Ok(())
    }

    pub fn bind(
        &mut self,
        outer: Environment,
        binder: TermId,
        ty: Type,
        supplier: Option<Supplier>,
    ) -> (Environment, Collector) {
        let collector = self.store.fresh_collector();
        let scope = self.scope(outer);
        let scope = self.checker.bind(scope, ty);
        self.environments.push(Variable { outer, collector, binder, scope, supplier });
        let innermost =
            u32::try_from(self.environments.len() - 1).expect("the search is bounded far below 2^32");
        (Environment(Some(innermost)), collector)
    }

    pub fn add_supply(&mut self, supply: Supply) -> Supplier {
        self.supplies.push(supply);
        Supplier::new(self.supplies.len() - 1)
    }

    /// Sends a point of a multiset to its supplier, through all derivatives on the way, each of which adds a
    /// letter.
    pub fn supply(&mut self, mut supplier: Option<Supplier>, mut point: PointId) {
        while let Some(number) = supplier {
            match self.supplies[number.index()] {
                Supply::Argument(argument) => {
                    self.push(Goal::Check(Check { point, ..argument }));
                    return;
                }
                Supply::Derived(outside, marked) => {
                    let mut deeper = self.store.point(point).clone();
                    let letter = self.store.fresh_letter();
                    deeper.word.insert(0, letter);
                    point = self.store.add(deeper);
                    self.store.add_use(marked, point);
                    supplier = outside;
                }
            }
        }
    }

    pub fn scope(&self, environment: Environment) -> Scope {
        environment.0.map_or(Scope::EMPTY, |innermost| self.environments[innermost as usize].scope)
    }

    pub fn variable(&self, mut environment: Environment, index: u32) -> Variable {
        let innermost = |environment: Environment| {
            self.environments[environment.0.expect("every variable is bound") as usize]
        };
        for _ in 0..index {
            environment = innermost(environment).outer;
        }
        innermost(environment)
    }
}
