//! Simply typed terms of `.lam`, as text: no application in them gets stuck, and few names make binders
//! shadow each other.
//!
//! Untyped terms are mostly stuck or functions, so that laws about results are mostly vacuous.

use eddy_tests::choices::Choices;

/// Names are reused, so that a careless substitution captures.
pub const NAMES: [&str; 3] = ["x", "y", "z"];

/// Simple types.
#[derive(Clone, Debug, PartialEq)]
pub enum Ty {
    Int,
    Arrow(Box<Ty>, Box<Ty>),
}

impl Ty {
    pub fn arrow(from: Ty, to: Ty) -> Ty {
        Ty::Arrow(from.into(), to.into())
    }
}

/// Variables and their types, the innermost last.
pub type Scope = Vec<(&'static str, Ty)>;

/// A closed term of type `int`.
pub fn int_term(choices: &mut Choices<'_>) -> String {
    term(choices, &Ty::Int, 5, &mut Vec::new())
}

/// A closed term of a small type.
pub fn any_term(choices: &mut Choices<'_>) -> String {
    let ty = small_type(choices, 2);
    term(choices, &ty, 4, &mut Vec::new())
}

/// A closed λ of a small type.
pub fn lambda(choices: &mut Choices<'_>) -> String {
    let (from, to) = (small_type(choices, 1), small_type(choices, 1));
    bind(choices, &from, |choices, scope| term(choices, &to, 3, scope), &mut Vec::new())
}

/// A closed application of a λ, of a small type.
pub fn redex(choices: &mut Choices<'_>) -> String {
    let (from, to) = (small_type(choices, 2), small_type(choices, 2));
    let argument = term(choices, &from, 3, &mut Vec::new());
    let function = bind(choices, &from, |choices, scope| term(choices, &to, 3, scope), &mut Vec::new());
    format!("({function} {argument})")
}

pub fn small_type(choices: &mut Choices<'_>, order: u32) -> Ty {
    match if order == 0 { 0 } else { choices.below(4) } {
        0 | 1 => Ty::Int,
        _ => Ty::arrow(small_type(choices, order - 1), small_type(choices, order - 1)),
    }
}

pub fn term(choices: &mut Choices<'_>, ty: &Ty, depth: u32, scope: &mut Scope) -> String {
    let visible: Vec<&'static str> = NAMES
        .into_iter()
        .filter(|name| scope.iter().rev().find(|(bound, _)| bound == name).is_some_and(|(_, of)| of == ty))
        .collect();
    if !visible.is_empty() && (depth == 0 || choices.once_in(3)) {
        return choices.among(&visible).to_string();
    }
    if depth == 0 {
        return plain(choices, ty, 0, scope);
    }
    match choices.below(6) {
        0 | 1 => plain(choices, ty, depth - 1, scope),
        2 => {
            let from = small_type(choices, 1);
            let function = term(choices, &Ty::arrow(from.clone(), ty.clone()), depth - 1, scope);
            format!("({function} {})", term(choices, &from, depth - 1, scope))
        }
        3 => {
            let condition = term(choices, &Ty::Int, depth - 1, scope);
            let yes = term(choices, ty, depth - 1, scope);
            format!("(if {condition} then {yes} else {})", term(choices, ty, depth - 1, scope))
        }
        // A redex, often with a function as its argument.
        _ => {
            let from = small_type(choices, 2);
            let argument = term(choices, &from, depth - 1, scope);
            let body = bind(choices, &from, |choices, scope| term(choices, ty, depth - 1, scope), scope);
            format!("({body} {argument})")
        }
    }
}

/// A simple form of this type.
fn plain(choices: &mut Choices<'_>, ty: &Ty, depth: u32, scope: &mut Scope) -> String {
    match ty {
        Ty::Int if depth > 0 && choices.once_in(2) => {
            let op = choices.among(&["+", "-", "*", "=", "<", "/"]);
            let left = term(choices, &Ty::Int, depth - 1, scope);
            format!("({left} {op} {})", term(choices, &Ty::Int, depth - 1, scope))
        }
        Ty::Int => choices.among(&["0", "1", "2"]).to_string(),
        Ty::Arrow(from, to) => bind(choices, from, |choices, scope| term(choices, to, depth, scope), scope),
    }
}

fn bind(
    choices: &mut Choices<'_>,
    from: &Ty,
    body: impl FnOnce(&mut Choices<'_>, &mut Scope) -> String,
    scope: &mut Scope,
) -> String {
    let name = choices.among(&NAMES);
    scope.push((name, from.clone()));
    let body = body(choices, scope);
    scope.pop();
    format!("(\\{name}. {body})")
}
