//! From the typed tree to kernel terms (section 3.1); removes sugar.
//!
//! A list of tasks visits the tree; results wait on a stack until the form around them is built. Each task
//! has its binder depth, so a variable becomes its index without another walk: the level of a binder is
//! recorded when it is entered, and the index of a variable is the number of binders since then.

use eddy_syntax::Span;
use rustc_hash::FxHashMap;

use super::infer::Inferred;
use super::scope::{BinderId, Meaning, Place, PlaceId};
use crate::primitive::PrimId;
use crate::primitive::calculus::{Binary, Unary};
use crate::surface::{
    BinaryOp, Binder, DeclarationKind, Derivative, ExprId, ExprKind, Former, Pattern, Program,
};
use crate::syntax::{Hint, Path, Term, TermId, Terms};
use crate::types::Type;

/// The terms of a program, and their sources.
pub struct Lowered {
    /// The main expression under its definitions.
    pub main: TermId,
    /// For each term, the expression that it was made for.
    pub origins: Vec<Span>,
}

enum Task {
    Visit(ExprId, u32),
    Build(ExprId, u32),
}

struct Lowering<'a> {
    program: &'a Program,
    inferred: &'a mut Inferred,
    terms: &'a mut Terms,
    memo: &'a mut Vec<Option<Type>>,
    levels: FxHashMap<BinderId, u32>,
    origins: Vec<Span>,
    done: Vec<TermId>,
    primitives: Operators,
}

/// The primitives behind the operators.
struct Operators {
    mul: PrimId,
    sub: PrimId,
    div: PrimId,
    neg: PrimId,
}

/// Makes the terms of a program without errors.
pub fn lower(
    program: &Program,
    inferred: &mut Inferred,
    terms: &mut Terms,
    memo: &mut Vec<Option<Type>>,
) -> Lowered {
    let primitives = Operators {
        mul: terms.primitives.binary(Binary::Mul),
        sub: terms.primitives.binary(Binary::Sub),
        div: terms.primitives.binary(Binary::Div),
        neg: terms.primitives.builtin("neg").expect("it is builtin"),
    };
    debug_assert_eq!(terms.primitives.get(primitives.neg).nodes.len(), 2, "one operation, {:?}", Unary::Neg);
    let mut lowering = Lowering {
        program,
        inferred,
        terms,
        memo,
        levels: FxHashMap::default(),
        origins: Vec::new(),
        done: Vec::new(),
        primitives,
    };
    let main = lowering.program_term();
    Lowered { main, origins: lowering.origins }
}

impl Lowering<'_> {
    /// Definitions are `let`s around the main expression.
    fn program_term(&mut self) -> TermId {
        let program = self.program;
        let mut defs = Vec::new();
        for declaration in &program.declarations {
            let DeclarationKind::Def { binders, body, .. } = &declaration.kind else { continue };
            let depth = u32::try_from(defs.len()).expect("fewer definitions than source bytes");
            let body = self.function_body(binders, *body, depth);
            let value = self.wrap(binders, body);
            let binder = self.inferred.defs[defs.len()];
            self.levels.insert(binder, depth);
            self.note(declaration.ident.span);
            defs.push((Hint(declaration.ident.name), value, declaration.ident.span));
        }
        let depth = u32::try_from(defs.len()).expect("fewer definitions than source bytes");
        let mut term = match program.main {
            Some(main) => self.visit(main, depth),
            // Without a main expression only the definitions are checked.
            None => self.terms.real(0.0),
        };
        for (hint, value, span) in defs.into_iter().rev() {
            term = self.terms.bind(hint, value, term);
            self.note(span);
        }
        term
    }

    /// The body of `\b b. e` at this depth.
    fn function_body(&mut self, binders: &[Binder], body: ExprId, depth: u32) -> TermId {
        let inner = self.enter(binders, depth);
        self.visit(body, inner)
    }

    /// Records the levels of binders; returns the depth under them.
    fn enter(&mut self, binders: &[Binder], depth: u32) -> u32 {
        let mut depth = depth;
        for binder in binders {
            let id = self.inferred.binders[&binder.pattern];
            self.levels.insert(id, depth);
            depth += 1;
        }
        depth
    }

    /// Lambdas around a body.
    fn wrap(&mut self, binders: &[Binder], mut body: TermId) -> TermId {
        for binder in binders.iter().rev() {
            let (hint, param) = (self.hint(binder), self.param(binder));
            body = self.terms.lambda(hint, param, body);
        }
        body
    }

    fn hint(&mut self, binder: &Binder) -> Hint {
        match self.program.tree.pattern(binder.pattern) {
            Pattern::Name(name) => Hint(*name),
            Pattern::Tuple(_) => self.terms.hint("p"),
        }
    }

    fn param(&mut self, binder: &Binder) -> Type {
        let ty = self.inferred.patterns[binder.pattern.index()].expect("it was bound");
        self.inferred.unknowns.ground(ty, &mut self.terms.types, self.memo)
    }

    fn ty(&mut self, expr: ExprId) -> Type {
        let ty = self.inferred.types[expr.index()].expect("it was visited");
        self.inferred.unknowns.ground(ty, &mut self.terms.types, self.memo)
    }

    fn note(&mut self, span: Span) {
        self.origins.resize(self.terms.len(), span);
    }

    fn visit(&mut self, expr: ExprId, depth: u32) -> TermId {
        let mut tasks = vec![Task::Visit(expr, depth)];
        while let Some(task) = tasks.pop() {
            match task {
                Task::Visit(expr, depth) => {
                    tasks.push(Task::Build(expr, depth));
                    self.parts(expr, depth, &mut tasks);
                }
                Task::Build(expr, depth) => {
                    let term = self.build(expr, depth);
                    self.note(self.program.tree.span(expr));
                    self.done.push(term);
                }
            }
        }
        self.pop()
    }

    fn pop(&mut self) -> TermId {
        self.done.pop().expect("parts are built first")
    }

    /// The primitive that an expression names.
    fn prim(&self, expr: ExprId) -> Option<PrimId> {
        match self.inferred.meanings.get(&self.program.tree.ungroup(expr)) {
            Some(Meaning::Prim(prim)) => Some(*prim),
            _ => None,
        }
    }

    /// Schedules the parts, the first one on top.
    fn parts(&mut self, expr: ExprId, depth: u32, tasks: &mut Vec<Task>) {
        let program = self.program;
        match program.tree.kind(expr) {
            ExprKind::Error | ExprKind::Number(_) | ExprKind::Name(_) | ExprKind::Zero | ExprKind::Jay(_) => {
            }
            ExprKind::Group(a)
            | ExprKind::Ascribe(a, _)
            | ExprKind::Negate(a)
            | ExprKind::Power(a, _)
            | ExprKind::Star(a)
            | ExprKind::Project(_, a)
            | ExprKind::Sharp(a)
            | ExprKind::Flat(a) => tasks.push(Task::Visit(*a, depth)),
            ExprKind::Omega(literal) => tasks.push(Task::Visit(*literal, depth + 1)),
            ExprKind::Tuple(items) => {
                tasks.extend(items.iter().rev().map(|item| Task::Visit(*item, depth)));
            }
            ExprKind::Binary(_, _, a, b) | ExprKind::Contract(a, b) => {
                tasks.extend([Task::Visit(*b, depth), Task::Visit(*a, depth)]);
            }
            ExprKind::Apply(function, argument) => {
                tasks.push(Task::Visit(*argument, depth));
                if self.prim(*function).is_none() {
                    tasks.push(Task::Visit(*function, depth));
                }
            }
            ExprKind::Lambda(binders, body) => {
                let inner = self.enter(binders, depth);
                tasks.push(Task::Visit(*body, inner));
            }
            ExprKind::Let(binder, bound, body) => {
                let inner = self.enter(std::slice::from_ref(binder), depth);
                tasks.extend([Task::Visit(*body, inner), Task::Visit(*bound, depth)]);
            }
            ExprKind::Former(former, function, operand) => {
                tasks.push(Task::Visit(*operand, depth));
                self.function_part(*former, *function, depth, tasks);
            }
            ExprKind::Derivative(_, function, point) => {
                tasks.extend([Task::Visit(*point, depth + 1), Task::Visit(*function, depth)]);
            }
            ExprKind::Vjp(function, point, covector) => {
                let covector = Task::Visit(*covector, depth + 2);
                tasks.extend([covector, Task::Visit(*point, depth + 1), Task::Visit(*function, depth)]);
            }
        }
    }

    /// The function under the operator of a former: the body of a λ, or an η-expanded function.
    fn function_part(&mut self, former: Former, function: ExprId, depth: u32, tasks: &mut Vec<Task>) {
        let program = self.program;
        if self.prim(function).is_some() {
            return;
        }
        let inner = program.tree.ungroup(function);
        match program.tree.kind(inner) {
            _ if former == Former::Jacobian => tasks.push(Task::Visit(function, depth)),
            ExprKind::Lambda(binders, body) => {
                let inner = self.enter(binders, depth);
                tasks.push(Task::Visit(*body, inner));
            }
            _ => tasks.push(Task::Visit(function, depth + 1)),
        }
    }

    fn build(&mut self, expr: ExprId, depth: u32) -> TermId {
        let program = self.program;
        match program.tree.kind(expr) {
            ExprKind::Error | ExprKind::Jay(_) => unreachable!("a program with mistakes is not lowered"),
            ExprKind::Number(value) => self.terms.real(*value),
            ExprKind::Zero => {
                let ty = self.ty(expr);
                self.terms.zero(ty)
            }
            ExprKind::Name(_) => self.name(expr, depth),
            ExprKind::Group(_) | ExprKind::Ascribe(..) => self.pop(),
            ExprKind::Tuple(items) => {
                let items = self.done.split_off(self.done.len() - items.len());
                items.into_iter().reduce(|left, right| self.terms.pair(left, right)).expect("it has items")
            }
            ExprKind::Negate(_) => self.unary(self.primitives.neg),
            ExprKind::Power(_, k) => {
                let power = self.terms.primitives.power(*k);
                self.unary(power)
            }
            ExprKind::Star(_) | ExprKind::Flat(_) => {
                let of = self.pop();
                self.terms.flat(of)
            }
            ExprKind::Sharp(_) => {
                let of = self.pop();
                self.terms.sharp(of)
            }
            ExprKind::Project(side, _) => {
                let of = self.pop();
                self.terms.project(Path::step(*side), of)
            }
            ExprKind::Omega(_) => {
                let literal = self.pop();
                self.constant_form(literal)
            }
            ExprKind::Binary(op, ..) => self.binary(*op),
            ExprKind::Contract(..) => {
                let (right, left) = (self.pop(), self.pop());
                self.terms.contract(left, right)
            }
            ExprKind::Apply(function, _) => {
                let argument = self.pop();
                match self.prim(*function) {
                    Some(prim) => self.terms.prim(prim, argument),
                    None => {
                        let function = self.pop();
                        self.terms.apply(function, argument)
                    }
                }
            }
            ExprKind::Lambda(binders, _) => {
                let body = self.pop();
                self.wrap(binders, body)
            }
            ExprKind::Let(binder, ..) => {
                let (body, bound) = (self.pop(), self.pop());
                let hint = self.hint(binder);
                self.terms.bind(hint, bound, body)
            }
            ExprKind::Former(former, function, _) => self.former(*former, *function),
            ExprKind::Derivative(Derivative::Gradient, ..) => self.gradient(),
            ExprKind::Derivative(Derivative::Jacobian, ..) => self.jacobian(),
            ExprKind::Vjp(..) => self.vjp(),
        }
    }

    fn unary(&mut self, prim: PrimId) -> TermId {
        let argument = self.pop();
        self.terms.prim(prim, argument)
    }

    fn binary(&mut self, op: BinaryOp) -> TermId {
        let (right, left) = (self.pop(), self.pop());
        let prim = match op {
            BinaryOp::Add => return self.terms.add(left, right),
            BinaryOp::Sub => self.primitives.sub,
            BinaryOp::Mul => self.primitives.mul,
            BinaryOp::Div => self.primitives.div,
        };
        let pair = self.terms.pair(left, right);
        self.terms.prim(prim, pair)
    }

    /// A variable is its index, or a component of one; a primitive is `λp. f(p)`.
    fn name(&mut self, expr: ExprId, depth: u32) -> TermId {
        match self.inferred.meanings[&expr] {
            Meaning::Local(place) => self.place(place, depth),
            Meaning::Free(var) => {
                let ty = self.terms.var(var).ty;
                self.terms.push(Term::Free(var), ty)
            }
            Meaning::Prim(prim) => {
                let param = self.terms.types.vector(self.terms.primitives.get(prim).n_params);
                let argument = self.terms.bound(0, param);
                let body = self.terms.prim(prim, argument);
                let hint = self.terms.hint("p");
                self.terms.lambda(hint, param, body)
            }
            Meaning::Poisoned => unreachable!("a program with mistakes is not lowered"),
        }
    }

    fn place(&mut self, mut place: PlaceId, depth: u32) -> TermId {
        let mut paths = Vec::new();
        loop {
            match self.inferred.places[place.index()] {
                Place::Part(of, path) => {
                    paths.push(path);
                    place = of;
                }
                Place::Whole(binder) => {
                    let ty = self.binder_type(binder);
                    let mut term = self.terms.bound(depth - self.levels[&binder] - 1, ty);
                    for path in paths.into_iter().rev() {
                        term = self.terms.project(path, term);
                    }
                    return term;
                }
            }
        }
    }

    fn binder_type(&mut self, binder: BinderId) -> Type {
        let ty = self.inferred.binder_types[binder.index()];
        self.inferred.unknowns.ground(ty, &mut self.terms.types, self.memo)
    }

    fn former(&mut self, former: Former, function: ExprId) -> TermId {
        let operand = self.pop();
        let prim = self.prim(function);
        if former == Former::Jacobian {
            return match prim {
                Some(prim) => self.terms.prim_jacobian(prim, operand),
                None => {
                    let function = self.pop();
                    self.terms.jacobian(function, operand)
                }
            };
        }
        let inner = self.program.tree.ungroup(function);
        let function_ty = self.ty(function);
        let (param, _) = self.terms.types.function(function_ty);
        let (hint, body) = match (prim, self.program.tree.kind(inner)) {
            (Some(prim), _) => {
                let argument = self.terms.bound(0, param);
                (self.terms.hint("x"), self.terms.prim(prim, argument))
            }
            (None, ExprKind::Lambda(binders, _)) => {
                let body = self.pop();
                (self.hint(&binders[0]), self.wrap(&binders[1..], body))
            }
            _ => {
                let (function, argument) = (self.pop(), self.terms.bound(0, param));
                (self.terms.hint("x"), self.terms.apply(function, argument))
            }
        };
        match former {
            Former::Pullback => self.terms.pullback(hint, param, body, operand),
            _ => self.terms.dual_map(hint, param, body, operand),
        }
    }

    /// `λ_. r*`.
    fn constant_form(&mut self, literal: TermId) -> TermId {
        let (ty, covector) = (self.terms.ty(literal), self.terms.flat(literal));
        let hint = self.terms.hint("_");
        self.terms.lambda(hint, ty, covector)
    }

    /// `((Ω λx. g x) · form) p`, where `g` and `p` have these indices.
    fn pulled(&mut self, [g, p]: [u32; 2], function: Type, form: TermId) -> TermId {
        let (param, _) = self.terms.types.function(function);
        let (g, x) = (self.terms.bound(g + 1, function), self.terms.bound(0, param));
        let body = self.terms.apply(g, x);
        let hint = self.terms.hint("x");
        let pullback = self.terms.pullback(hint, param, body, form);
        let p = self.terms.bound(p, param);
        self.terms.apply(pullback, p)
    }

    /// `let g = f in let p = v in body`.
    fn with_function(&mut self, function: TermId, point: TermId, body: TermId) -> TermId {
        let (g, p) = (self.terms.hint("g"), self.terms.hint("p"));
        let inner = self.terms.bind(p, point, body);
        self.terms.bind(g, function, inner)
    }

    fn gradient(&mut self) -> TermId {
        let (point, function) = (self.pop(), self.pop());
        let one = self.terms.real(1.0);
        let form = self.constant_form(one);
        let row = self.pulled([1, 0], self.terms.ty(function), form);
        let body = self.terms.sharp(row);
        self.with_function(function, point, body)
    }

    /// A tuple of the shape of the value, with a row for each leaf.
    fn jacobian(&mut self) -> TermId {
        enum Step {
            Visit(Type),
            Join,
        }
        let (point, function) = (self.pop(), self.pop());
        let function_ty = self.terms.ty(function);
        let (_, value) = self.terms.types.function(function_ty);
        let (mut steps, mut rows, mut leaf) = (vec![Step::Visit(value)], Vec::new(), 0);
        while let Some(step) = steps.pop() {
            match step {
                Step::Visit(ty) => match self.terms.types.factors(ty) {
                    Some((left, right)) => {
                        steps.extend([Step::Join, Step::Visit(right), Step::Visit(left)]);
                    }
                    None => {
                        let basis = self.terms.basis(value, leaf);
                        leaf += 1;
                        let form = self.constant_form(basis);
                        rows.push(self.pulled([1, 0], function_ty, form));
                    }
                },
                Step::Join => {
                    let right = rows.pop().expect("both parts are made");
                    let left = rows.pop().expect("both parts are made");
                    rows.push(self.terms.pair(left, right));
                }
            }
        }
        let body = rows.pop().expect("a Euclidean type has a leaf");
        self.with_function(function, point, body)
    }

    fn vjp(&mut self) -> TermId {
        let (covector, point, function) = (self.pop(), self.pop(), self.pop());
        let function_ty = self.terms.ty(function);
        let (_, value) = self.terms.types.function(function_ty);
        let c = self.terms.bound(1, self.terms.ty(covector));
        let (unused, hint) = (self.terms.hint("_"), self.terms.hint("c"));
        let form = self.terms.lambda(unused, value, c);
        let body = self.pulled([2, 1], function_ty, form);
        let body = self.terms.bind(hint, covector, body);
        self.with_function(function, point, body)
    }
}
