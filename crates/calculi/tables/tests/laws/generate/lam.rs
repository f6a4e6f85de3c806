//! Closed terms of `.lam` of depth at most 5, with the weights of section 11.

use eddy_tests::choices::Choices;

use super::simple;

const NAMES: [&str; 3] = ["x", "y", "z"];

#[derive(Clone, Copy)]
enum Form {
    Leaf,
    Lambda,
    Apply,
    If,
    Op,
}

/// A closed term; every other one is simply typed and so does not get stuck by an application.
pub fn mixed(choices: &mut Choices<'_>) -> String {
    if choices.once_in(2) { simple::any_term(choices) } else { term(choices) }
}

/// A closed term that mostly has a step: typed in three of four cases.
pub fn reducible(choices: &mut Choices<'_>) -> String {
    match choices.below(4) {
        0 => term(choices),
        1 => simple::redex(choices),
        _ => simple::int_term(choices),
    }
}

/// A closed term.
pub fn term(choices: &mut Choices<'_>) -> String {
    open_term(choices, 5, &mut Vec::new())
}

/// A closed λ.
pub fn lambda(choices: &mut Choices<'_>) -> String {
    let name = choices.among(&NAMES);
    let body = open_term(choices, 4, &mut vec![name]);
    format!("(\\{name}. {body})")
}

/// A term with these variables.
pub fn open_term(choices: &mut Choices<'_>, depth: u32, scope: &mut Vec<&'static str>) -> String {
    const FORMS: [(usize, Form); 5] =
        [(15, Form::Leaf), (35, Form::Lambda), (35, Form::Apply), (8, Form::If), (7, Form::Op)];
    let form = if depth == 0 { Form::Leaf } else { choices.weighted(&FORMS) };
    match form {
        Form::Leaf => leaf(choices, scope),
        Form::Lambda => {
            let name = choices.among(&NAMES);
            scope.push(name);
            let body = open_term(choices, depth - 1, scope);
            scope.pop();
            format!("(\\{name}. {body})")
        }
        Form::Apply => {
            let function = open_term(choices, depth - 1, scope);
            format!("({function} {})", open_term(choices, depth - 1, scope))
        }
        Form::If => {
            let condition = open_term(choices, depth - 1, scope);
            let yes = open_term(choices, depth - 1, scope);
            format!("(if {condition} then {yes} else {})", open_term(choices, depth - 1, scope))
        }
        Form::Op => {
            let op = choices.among(&["+", "-", "*", "/", "%", "=", "!=", "<", "<=", ">", ">="]);
            let left = open_term(choices, depth - 1, scope);
            format!("({left} {op} {})", open_term(choices, depth - 1, scope))
        }
    }
}

fn leaf(choices: &mut Choices<'_>, scope: &[&'static str]) -> String {
    let options: Vec<&str> = ["0", "1"].into_iter().chain(scope.iter().copied()).collect();
    choices.among(&options).to_string()
}

/// A term that diverges: Ω, Ω in a strict place, or an unguarded recursion.
pub fn diverging(choices: &mut Choices<'_>) -> String {
    const OMEGA: &str = "((\\x. x x) (\\x. x x))";
    let other = open_term(choices, 2, &mut Vec::new());
    match choices.below(6) {
        0 => OMEGA.to_string(),
        1 => format!("({OMEGA} + {other})"),
        2 => format!("(if {OMEGA} then {other} else {other})"),
        3 => format!("({OMEGA} {other})"),
        4 => format!("((\\y. {other}) {OMEGA})"),
        _ => "((\\f. (\\x. f (\\v. x x v)) (\\x. f (\\v. x x v))) (\\r. \\n. r (n + 1)) 0)".to_string(),
    }
}
