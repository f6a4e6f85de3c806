//! The rules of Figure 2, as equations between types: one visit of the tree.
//!
//! Each expression gets a type with unknown parts, each rule equates types, and [`unify`](super::unify)
//! solves the equations. There is no generalisation: one definition has one type. The walk also resolves
//! names.
//!
//! The visit uses a list of tasks instead of recursion. The type of `jacobian f at v` depends on the solved
//! type of `f`, so these expressions wait until everything else is known ([`postponed`](super::postponed)).

use eddy_syntax::{Diagnostics, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use super::errors::{self, Situation};
use super::postponed::Postponed;
use super::prims;
use super::scope::{BinderId, Entry, Meaning, Place, PlaceId, Scope};
use super::unify::{Clash, KnownForm, Ty, Unknowns};
use crate::names::{Name, Names};
use crate::parse::Parsed;
use crate::primitive::{BINARY, PrimId, Primitives, UNARY};
use crate::surface::{
    BinaryOp, Binder, DeclarationKind, Derivative, ExprId, ExprKind, Former, PatternId, Program, Side,
    WrittenId,
};
use crate::syntax::Terms;
use crate::types::Type;

/// A condition that is checked when all types are known.
#[derive(Clone, Copy, Debug)]
pub struct Euclidean {
    /// The type that must be Euclidean.
    pub ty: Ty,
    /// The expression that requires it.
    pub at: ExprId,
}

/// The results of the visit.
pub struct Inferred {
    /// The type of each expression; `None` if it was not visited.
    pub types: Vec<Option<Ty>>,
    pub patterns: Vec<Option<Ty>>,
    /// The binder of each outermost pattern.
    pub binders: FxHashMap<PatternId, BinderId>,
    pub binder_types: Vec<Ty>,
    /// The binder of each definition, in order.
    pub defs: Vec<BinderId>,
    pub meanings: FxHashMap<ExprId, Meaning>,
    /// Places in the values of binders.
    pub places: Vec<Place>,
    /// Types with unknown parts.
    pub unknowns: Unknowns,
    /// The free variables, with types that are not ground yet.
    pub assumed: Vec<(crate::syntax::VarId, Ty)>,
    /// The types that must be Euclidean.
    pub euclidean: Vec<Euclidean>,
}

enum Task {
    Visit(ExprId),
    Finish(ExprId),
    BindLet(Binder, ExprId),
    Leave(usize),
}

pub(super) struct Inference<'a> {
    pub(super) program: &'a Program,
    pub(super) names: &'a Names,
    pub(super) poisoned: &'a FxHashSet<Name>,
    pub(super) out: Inferred,
    pub(super) scope: Scope,
    pub(super) written_types: FxHashMap<Name, Ty>,
    pub(super) postponed: Vec<Postponed>,
    pub(super) diagnostics: &'a mut Diagnostics,
}

/// Visits all declarations and the main expression.
pub fn infer(parsed: &Parsed, terms: &mut Terms, diagnostics: &mut Diagnostics) -> Inferred {
    let program = &parsed.program;
    let out = Inferred {
        types: vec![None; program.tree.n_exprs()],
        patterns: vec![None; program.tree.n_patterns()],
        binders: FxHashMap::default(),
        binder_types: Vec::new(),
        defs: Vec::new(),
        meanings: FxHashMap::default(),
        places: Vec::new(),
        unknowns: Unknowns::default(),
        assumed: Vec::new(),
        euclidean: Vec::new(),
    };
    let mut inference = Inference {
        program,
        names: &parsed.names,
        poisoned: &parsed.poisoned,
        out,
        scope: Scope::default(),
        written_types: FxHashMap::default(),
        postponed: Vec::new(),
        diagnostics,
    };
    inference.builtins(&mut terms.primitives);
    inference.declarations(terms);
    if let Some(main) = program.main {
        inference.visit(main);
    }
    inference.postponed();
    inference.out
}

impl Inference<'_> {
    fn builtins(&mut self, primitives: &mut Primitives) {
        let texts = UNARY.iter().map(|(text, _)| *text).chain(BINARY.iter().map(|(text, _)| *text));
        for text in texts {
            // Names that the program does not mention are skipped.
            if let Some(name) = self.names.find(text) {
                let prim = primitives.builtin(text).expect("it is in the table");
                let ty = self.prim_type(primitives, prim);
                self.scope.bind(name, Entry { meaning: Meaning::Prim(prim), ty });
            }
        }
    }

    fn prim_type(&mut self, primitives: &Primitives, prim: PrimId) -> Ty {
        let primitive = primitives.get(prim);
        let from = self.out.unknowns.vector(primitive.n_params);
        let to = self.out.unknowns.vector(primitive.outputs.len());
        self.out.unknowns.arrow(from, to)
    }

    fn declarations(&mut self, terms: &mut Terms) {
        let program = self.program;
        let mut declared: FxHashMap<(bool, Name), Span> = FxHashMap::default();
        for declaration in &program.declarations {
            let ident = declaration.ident;
            let is_type = matches!(declaration.kind, DeclarationKind::Type(_));
            if let Some(first) = declared.insert((is_type, ident.name), ident.span) {
                self.diagnostics.push(errors::duplicate(self.names.text(ident.name), ident.span, first));
            }
            let (meaning, ty) = match &declaration.kind {
                DeclarationKind::Type(written) => {
                    let ty = self.written(*written);
                    self.written_types.insert(ident.name, ty);
                    continue;
                }
                DeclarationKind::Assume(written) => {
                    let ty = self.written(*written);
                    let var = terms.fresh(ident.name, Type::REAL);
                    self.out.assumed.push((var, ty));
                    (Meaning::Free(var), ty)
                }
                DeclarationKind::Prim { params, body } => {
                    let prim =
                        prims::primitive(&program.tree, self.names, ident, params, *body, self.diagnostics);
                    let prim = terms.primitives.push(prim);
                    (Meaning::Prim(prim), self.prim_type(&terms.primitives, prim))
                }
                DeclarationKind::Def { binders, result, body } => self.def(binders, *result, *body),
            };
            self.scope.bind(ident.name, Entry { meaning, ty });
        }
    }

    fn def(&mut self, binders: &[Binder], result: Option<WrittenId>, body: ExprId) -> (Meaning, Ty) {
        let mark = self.scope.mark();
        let params: Vec<Ty> = binders.iter().map(|binder| self.bind(binder)).collect();
        let mut ty = self.visit(body);
        if let Some(written) = result {
            let expected = self.written(written);
            let span = self.program.tree.written_span(written);
            self.equal(expected, ty, self.span(body), Situation::Annotation(span));
            ty = expected;
        }
        self.scope.leave(mark);
        for param in params.into_iter().rev() {
            ty = self.out.unknowns.arrow(param, ty);
        }
        let binder = self.new_binder(ty);
        self.out.defs.push(binder);
        (Meaning::Local(self.place(Place::Whole(binder))), ty)
    }

    pub(super) fn new_binder(&mut self, ty: Ty) -> BinderId {
        self.out.binder_types.push(ty);
        BinderId::new(self.out.binder_types.len() - 1)
    }

    pub(super) fn place(&mut self, place: Place) -> PlaceId {
        self.out.places.push(place);
        PlaceId::new(self.out.places.len() - 1)
    }

    /// Visits an expression with all its parts; returns its type.
    fn visit(&mut self, expr: ExprId) -> Ty {
        let mut tasks = vec![Task::Visit(expr)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Visit(expr) => self.enter(expr, &mut tasks),
                Task::Finish(expr) => {
                    let ty = self.finish(expr);
                    self.out.types[expr.index()] = Some(ty);
                }
                Task::BindLet(binder, bound) => {
                    let ty = self.bind(&binder);
                    let found = self.ty(bound);
                    self.equal(ty, found, self.span(bound), Situation::Bound(binder.span));
                }
                Task::Leave(mark) => self.scope.leave(mark),
            }
        }
        self.ty(expr)
    }

    fn enter(&mut self, expr: ExprId, tasks: &mut Vec<Task>) {
        let program = self.program;
        tasks.push(Task::Finish(expr));
        match program.tree.kind(expr) {
            ExprKind::Error | ExprKind::Number(_) | ExprKind::Name(_) | ExprKind::Zero => {}
            ExprKind::Group(a)
            | ExprKind::Ascribe(a, _)
            | ExprKind::Negate(a)
            | ExprKind::Power(a, _)
            | ExprKind::Star(a)
            | ExprKind::Omega(a)
            | ExprKind::Jay(a)
            | ExprKind::Project(_, a)
            | ExprKind::Sharp(a)
            | ExprKind::Flat(a) => tasks.push(Task::Visit(*a)),
            ExprKind::Tuple(items) => tasks.extend(items.iter().rev().map(|item| Task::Visit(*item))),
            ExprKind::Apply(a, b)
            | ExprKind::Binary(_, _, a, b)
            | ExprKind::Contract(a, b)
            | ExprKind::Former(_, a, b)
            | ExprKind::Derivative(_, a, b) => tasks.extend([Task::Visit(*b), Task::Visit(*a)]),
            ExprKind::Vjp(a, b, c) => tasks.extend([Task::Visit(*c), Task::Visit(*b), Task::Visit(*a)]),
            ExprKind::Lambda(binders, body) => {
                tasks.extend([Task::Leave(self.scope.mark()), Task::Visit(*body)]);
                for binder in binders {
                    self.bind(binder);
                }
            }
            ExprKind::Let(binder, bound, body) => {
                let mark = self.scope.mark();
                let bind = Task::BindLet(*binder, *bound);
                tasks.extend([Task::Leave(mark), Task::Visit(*body), bind, Task::Visit(*bound)]);
            }
        }
    }

    /// The rule for one form; its parts have types.
    fn finish(&mut self, expr: ExprId) -> Ty {
        let program = self.program;
        match program.tree.kind(expr) {
            ExprKind::Error | ExprKind::Jay(_) => self.out.unknowns.poison(),
            ExprKind::Number(_) => self.out.unknowns.real(),
            ExprKind::Name(name) => self.name(*name, expr),
            ExprKind::Zero => self.out.unknowns.fresh(),
            ExprKind::Group(inner) => self.ty(*inner),
            ExprKind::Tuple(items) => {
                let items: Vec<Ty> = items.iter().map(|item| self.ty(*item)).collect();
                self.out.unknowns.tuple(items)
            }
            ExprKind::Ascribe(inner, written) => {
                let expected = self.written(*written);
                let situation = Situation::Annotation(program.tree.written_span(*written));
                self.equal(expected, self.ty(*inner), self.span(*inner), situation);
                expected
            }
            ExprKind::Lambda(binders, body) => {
                let mut ty = self.ty(*body);
                for binder in binders.iter().rev() {
                    let param = self.out.patterns[binder.pattern.index()].expect("it was bound");
                    ty = self.out.unknowns.arrow(param, ty);
                }
                ty
            }
            ExprKind::Let(_, _, body) => self.ty(*body),
            ExprKind::Apply(function, argument) => self.apply(*function, *argument, expr),
            ExprKind::Binary(BinaryOp::Add, op, left, right) => {
                let ty = self.ty(*left);
                self.equal(ty, self.ty(*right), self.span(*right), Situation::Sum(*op, self.span(*left)));
                ty
            }
            ExprKind::Binary(_, op, left, right) => {
                self.real(*left, Situation::Arithmetic(*op));
                self.real(*right, Situation::Arithmetic(*op))
            }
            ExprKind::Negate(inner) | ExprKind::Power(inner, _) => {
                self.real(*inner, Situation::Arithmetic(self.span(expr)))
            }
            ExprKind::Contract(covector, vector) => {
                let expected = self.out.unknowns.dual(self.ty(*vector));
                let situation = Situation::Contraction(self.span(*vector));
                self.equal(expected, self.ty(*covector), self.span(*covector), situation);
                self.out.unknowns.real()
            }
            ExprKind::Star(inner) | ExprKind::Flat(inner) => {
                let ty = self.ty(*inner);
                self.out.euclidean.push(Euclidean { ty, at: *inner });
                self.out.unknowns.dual(ty)
            }
            ExprKind::Omega(literal) => {
                let ty = self.ty(*literal);
                self.out.unknowns.omega(ty)
            }
            ExprKind::Former(former, function, operand) => self.former(*former, *function, *operand),
            ExprKind::Project(side, pair) => {
                let (first, second) = (self.out.unknowns.fresh(), self.out.unknowns.fresh());
                let expected = self.out.unknowns.product(first, second);
                self.equal(
                    expected,
                    self.ty(*pair),
                    self.span(*pair),
                    Situation::Projection(self.span(expr)),
                );
                if *side == Side::First { first } else { second }
            }
            ExprKind::Sharp(inner) => {
                let ty = self.out.unknowns.fresh();
                let expected = self.out.unknowns.dual(ty);
                self.equal(expected, self.ty(*inner), self.span(*inner), Situation::Sharp(self.span(expr)));
                self.out.euclidean.push(Euclidean { ty, at: *inner });
                ty
            }
            ExprKind::Derivative(derivative, function, point) => {
                self.derivative(*derivative, *function, *point, expr)
            }
            ExprKind::Vjp(function, point, covector) => {
                let (from, to) = self.function(*function, Situation::Differentiated(self.span(expr)));
                self.equal(from, self.ty(*point), self.span(*point), Situation::Point(self.span(*function)));
                let expected = self.out.unknowns.dual(to);
                let situation = Situation::Covector(self.span(*function));
                self.equal(expected, self.ty(*covector), self.span(*covector), situation);
                self.out.unknowns.dual(from)
            }
        }
    }

    fn name(&mut self, name: Name, expr: ExprId) -> Ty {
        let Some(Entry { meaning, ty }) = self.scope.find(name) else {
            if !self.poisoned.contains(&name) {
                let known: Vec<&str> = self.scope.names().map(|name| self.names.text(name)).collect();
                let text = self.names.text(name);
                self.diagnostics.push(errors::unbound("variable", text, self.span(expr), &known));
            }
            self.out.meanings.insert(expr, Meaning::Poisoned);
            return self.out.unknowns.poison();
        };
        self.out.meanings.insert(expr, meaning);
        ty
    }

    fn apply(&mut self, function: ExprId, argument: ExprId, expr: ExprId) -> Ty {
        let given = self.ty(function);
        // If the head is a function, the mismatch is in the argument.
        if let KnownForm::Arrow(from, to) = self.out.unknowns.known(given) {
            let situation = Situation::Argument(self.span(function));
            self.equal(from, self.ty(argument), self.span(argument), situation);
            return to;
        }
        let result = self.out.unknowns.fresh();
        let expected = self.out.unknowns.arrow(self.ty(argument), result);
        self.equal_at(
            expected,
            given,
            self.span(function),
            self.span(expr),
            Situation::Applied(self.span(argument)),
        );
        result
    }

    fn former(&mut self, former: Former, function: ExprId, operand: ExprId) -> Ty {
        let (from, to) = self.function(function, Situation::Differentiated(self.span(function)));
        let found = self.ty(operand);
        match former {
            Former::Pullback => {
                let expected = self.out.unknowns.omega(to);
                self.equal(expected, found, self.span(operand), Situation::Form(self.span(function)));
                self.out.unknowns.omega(from)
            }
            Former::DualMap => {
                let expected = self.out.unknowns.dual(to);
                self.equal(expected, found, self.span(operand), Situation::Covector(self.span(function)));
                self.out.unknowns.dual(from)
            }
            Former::Jacobian => {
                self.equal(from, found, self.span(operand), Situation::Direction(self.span(function)));
                self.out.unknowns.arrow(from, to)
            }
        }
    }

    fn derivative(&mut self, derivative: Derivative, function: ExprId, point: ExprId, expr: ExprId) -> Ty {
        let (from, to) = self.function(function, Situation::Differentiated(self.span(expr)));
        self.equal(from, self.ty(point), self.span(point), Situation::Point(self.span(function)));
        self.out.euclidean.push(Euclidean { ty: from, at: point });
        match derivative {
            Derivative::Gradient => {
                let real = self.out.unknowns.real();
                self.equal(real, to, self.span(function), Situation::Gradient);
                from
            }
            Derivative::Jacobian => {
                let result = self.out.unknowns.fresh();
                self.postponed.push(Postponed { at: function, point: from, value: to, result });
                result
            }
        }
    }

    /// The argument and result types of an expression that must be a function.
    fn function(&mut self, expr: ExprId, situation: Situation) -> (Ty, Ty) {
        let (from, to) = (self.out.unknowns.fresh(), self.out.unknowns.fresh());
        let expected = self.out.unknowns.arrow(from, to);
        self.equal(expected, self.ty(expr), self.span(expr), situation);
        (from, to)
    }

    fn real(&mut self, expr: ExprId, situation: Situation) -> Ty {
        let real = self.out.unknowns.real();
        self.equal(real, self.ty(expr), self.span(expr), situation);
        real
    }

    pub(super) fn equal(&mut self, expected: Ty, found: Ty, span: Span, situation: Situation) {
        self.equal_at(expected, found, span, span, situation);
    }

    /// Unifies two types; reports a mismatch at `span`, or a cycle at `at`.
    fn equal_at(&mut self, expected: Ty, found: Ty, span: Span, at: Span, situation: Situation) {
        let unknowns = &mut self.out.unknowns;
        let may_clash = match (unknowns.known(expected), unknowns.known(found)) {
            (KnownForm::Nothing, _) | (_, KnownForm::Nothing) | (KnownForm::Real, KnownForm::Real) => false,
            _ => !self.diagnostics.is_full(),
        };
        let shown = may_clash.then(|| (unknowns.show(expected), unknowns.show(found)));
        match unknowns.unify(expected, found, at) {
            Ok(()) => {}
            Err(Clash::Infinite(cycle)) => self.diagnostics.push(errors::infinite(cycle)),
            Err(Clash::Mismatch) => {
                let (expected, found) = shown.unwrap_or_default();
                self.diagnostics.push(errors::mismatch(&expected, &found, span, situation));
            }
        }
    }

    fn ty(&self, expr: ExprId) -> Ty {
        self.out.types[expr.index()].expect("parts are visited first")
    }

    pub(super) fn span(&self, expr: ExprId) -> Span {
        self.program.tree.span(expr)
    }
}
