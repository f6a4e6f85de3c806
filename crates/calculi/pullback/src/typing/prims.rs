//! The bodies of primitives (section 3.4): scalars, or tuples of scalars, made by arithmetic.

use eddy_syntax::suggest::nearest;
use eddy_syntax::{Diagnostic, Diagnostics, Span};
use rustc_hash::FxHashMap;

use crate::codes;
use crate::names::{Name, Names};
use crate::primitive::calculus::{Binary, Unary};
use crate::primitive::{BINARY, Node, Primitive, UNARY};
use crate::surface::{BinaryOp, ExprId, ExprKind, Ident, Tree};

/// Pending work, in the order of evaluation.
enum Task {
    Visit(ExprId),
    Unary(Unary),
    Binary(Binary),
}

/// The primitive of a declaration; if its body has errors, a primitive of the same type.
pub(super) fn primitive(
    tree: &Tree,
    names: &Names,
    ident: Ident,
    params: &[Ident],
    body: ExprId,
    diagnostics: &mut Diagnostics,
) -> Primitive {
    let mut known: FxHashMap<Name, u32> = FxHashMap::default();
    let mut spans: FxHashMap<Name, Span> = FxHashMap::default();
    for (i, param) in params.iter().enumerate() {
        known.insert(param.name, u32::try_from(i).expect("fewer than 2^32 parameters"));
        if let Some(first) = spans.insert(param.name, param.span) {
            let title = format!("duplicate parameter `{}`", names.text(param.name));
            let diagnostic = Diagnostic::error(codes::DUPLICATE, param.span, title)
                .label("the same name again")
                .cause(first, "first declared here");
            diagnostics.push(diagnostic);
        }
    }
    let nodes = (0..params.len()).map(|i| Node::Param(u32::try_from(i).expect("counted above"))).collect();
    let mut builder = Builder { tree, names, known, nodes, diagnostics };
    let outputs = components(tree, body).into_iter().map(|part| builder.component(part)).collect();
    let nodes = builder.nodes;
    let name = names.text(ident.name).to_string();
    Primitive { name, n_params: params.len(), nodes, outputs, derivative_of: None }
}

/// The scalars of a left-nested tuple, from left to right.
fn components(tree: &Tree, body: ExprId) -> Vec<ExprId> {
    let mut rest = tree.ungroup(body);
    let mut parts = Vec::new();
    while let ExprKind::Tuple(items) = tree.kind(rest) {
        parts.extend(items[1..].iter().rev());
        rest = tree.ungroup(items[0]);
    }
    parts.push(rest);
    parts.reverse();
    parts
}

struct Builder<'a> {
    tree: &'a Tree,
    names: &'a Names,
    known: FxHashMap<Name, u32>,
    nodes: Vec<Node>,
    diagnostics: &'a mut Diagnostics,
}

impl Builder<'_> {
    fn component(&mut self, expr: ExprId) -> u32 {
        let (mut tasks, mut done) = (vec![Task::Visit(expr)], Vec::new());
        while let Some(task) = tasks.pop() {
            let node = match task {
                Task::Visit(expr) => match self.visit(expr, &mut tasks) {
                    Some(node) => node,
                    None => continue,
                },
                Task::Unary(op) => {
                    let a = done.pop().expect("its operand is done");
                    self.push(Node::Unary(op, a))
                }
                Task::Binary(op) => {
                    let b = done.pop().expect("its operands are done");
                    let a = done.pop().expect("its operands are done");
                    self.push(Node::Binary(op, a, b))
                }
            };
            done.push(node);
        }
        done.pop().expect("an expression has a value")
    }

    /// Returns a leaf, or schedules the parts of the expression.
    fn visit(&mut self, expr: ExprId, tasks: &mut Vec<Task>) -> Option<u32> {
        let tree = self.tree;
        match tree.kind(expr) {
            ExprKind::Error => return Some(self.push(Node::Constant(0.0))),
            ExprKind::Number(value) => return Some(self.push(Node::Constant(*value))),
            ExprKind::Name(name) => return Some(self.name(*name, tree.span(expr))),
            ExprKind::Group(inner) => tasks.push(Task::Visit(*inner)),
            ExprKind::Binary(op, _, left, right) => {
                let op = match op {
                    BinaryOp::Add => Binary::Add,
                    BinaryOp::Sub => Binary::Sub,
                    BinaryOp::Mul => Binary::Mul,
                    BinaryOp::Div => Binary::Div,
                };
                tasks.extend([Task::Binary(op), Task::Visit(*right), Task::Visit(*left)]);
            }
            ExprKind::Negate(inner) => tasks.extend([Task::Unary(Unary::Neg), Task::Visit(*inner)]),
            ExprKind::Power(base, k) => tasks.extend([Task::Unary(Unary::Pow(*k)), Task::Visit(*base)]),
            ExprKind::Apply(function, argument) => return self.call(expr, *function, *argument, tasks),
            _ => return Some(self.refuse(tree.span(expr))),
        }
        None
    }

    fn name(&mut self, name: Name, span: Span) -> u32 {
        if let Some(param) = self.known.get(&name) {
            return *param;
        }
        let text = self.names.text(name);
        let is_builtin =
            UNARY.iter().any(|(known, _)| *known == text) || BINARY.iter().any(|(known, _)| *known == text);
        if is_builtin {
            return self.refuse(span);
        }
        let title = format!("unbound variable `{text}` in a primitive");
        let mut diagnostic = Diagnostic::error(codes::UNBOUND, span, title)
            .label("not a parameter")
            .reason("the body of a primitive knows its parameters and the builtin functions, nothing else");
        let params = self.known.keys().map(|name| self.names.text(*name));
        let mut params: Vec<&str> = params.collect();
        params.sort_unstable();
        if let Some(meant) = nearest(text, params) {
            diagnostic = diagnostic.suggest(span, meant);
        }
        self.diagnostics.push(diagnostic);
        self.push(Node::Constant(0.0))
    }

    /// `exp(x)` or `mult(x, y)`.
    fn call(
        &mut self,
        expr: ExprId,
        function: ExprId,
        argument: ExprId,
        tasks: &mut Vec<Task>,
    ) -> Option<u32> {
        let tree = self.tree;
        let ExprKind::Name(name) = tree.kind(tree.ungroup(function)) else {
            return Some(self.refuse(tree.span(expr)));
        };
        let text = self.names.text(*name);
        let items = components(tree, argument);
        let unary = UNARY.iter().find(|(known, _)| *known == text);
        let binary = BINARY.iter().find(|(known, _)| *known == text);
        let expected = match (unary, binary) {
            _ if self.known.contains_key(name) => return Some(self.refuse(tree.span(expr))),
            (Some((_, op)), _) => {
                tasks.push(Task::Unary(*op));
                1
            }
            (None, Some((_, op))) => {
                tasks.push(Task::Binary(*op));
                2
            }
            (None, None) => return Some(self.refuse(tree.span(function))),
        };
        if items.len() != expected {
            tasks.pop();
            let title =
                format!("`{text}` expects {expected} argument{}", if expected == 1 { "" } else { "s" });
            let diagnostic = Diagnostic::error(codes::ARGUMENTS, tree.span(expr), title)
                .label(format!("found {}", items.len()));
            self.diagnostics.push(diagnostic);
            return Some(self.push(Node::Constant(0.0)));
        }
        tasks.extend(items.into_iter().rev().map(Task::Visit));
        None
    }

    fn refuse(&mut self, span: Span) -> u32 {
        let diagnostic = Diagnostic::error(codes::PRIMITIVE, span, "the body of a primitive is arithmetic")
            .label("this is not arithmetic")
            .reason("a primitive is made of its parameters, numerals, `+ - * / ^` and builtin functions such as `exp`")
            .help("write it as a `def`, which may use everything and is differentiated all the same");
        self.diagnostics.push(diagnostic);
        self.push(Node::Constant(0.0))
    }

    fn push(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        u32::try_from(self.nodes.len() - 1).expect("fewer operations than source bytes")
    }
}
