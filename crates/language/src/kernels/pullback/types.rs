//! Types of `pullback` as types of functions: `R × R*` is `(num, num)`, `R → (R → R) → R` has two parameters.

use eddy_pullback::types::{Shape, Type, Types};

/// The text of a type of numbers: `leaf` returns the text of each `R`, and pairs are in parentheses. `None`
/// if the type has a function.
pub(super) fn along(types: &Types, ty: Type, mut leaf: impl FnMut(usize) -> String) -> Option<String> {
    enum Task {
        Text(&'static str),
        Type(Type),
    }
    let (mut text, mut n_leaves, mut tasks) = (String::new(), 0, vec![Task::Type(ty)]);
    while let Some(task) = tasks.pop() {
        match task {
            Task::Text(part) => text.push_str(part),
            Task::Type(ty) => match types.shape(ty) {
                Shape::Real => {
                    text.push_str(&leaf(n_leaves));
                    n_leaves += 1;
                }
                Shape::Dual(of) => tasks.push(Task::Type(of)),
                Shape::Product(left, right) => tasks.extend([
                    Task::Text(")"),
                    Task::Type(right),
                    Task::Text(", "),
                    Task::Type(left),
                    Task::Text("("),
                ]),
                Shape::Arrow(..) => return None,
            },
        }
    }
    Some(text)
}

/// Whether values of the type consist of numbers.
pub(super) fn is_data(types: &Types, ty: Type) -> bool {
    let mut work = vec![ty];
    while let Some(ty) = work.pop() {
        match types.shape(ty) {
            Shape::Real => {}
            Shape::Dual(of) => work.push(of),
            Shape::Product(left, right) => work.extend([left, right]),
            Shape::Arrow(..) => return false,
        }
    }
    true
}

/// The parameters and the result of a function that takes all its arguments at once.
pub(super) fn uncurried(types: &Types, ty: Type) -> (Vec<Type>, Type) {
    let (mut params, mut ty) = (Vec::new(), ty);
    while let Shape::Arrow(from, to) = types.shape(ty) {
        params.push(from);
        ty = to;
    }
    (params, ty)
}

/// The type of a parameter: numbers, or a function of those and of such functions.
pub(super) fn parameter_text(types: &Types, ty: Type) -> Option<String> {
    enum Task {
        Text(String),
        Type(Type),
    }
    let (mut text, mut tasks) = (String::new(), vec![Task::Type(ty)]);
    while let Some(task) = tasks.pop() {
        match task {
            Task::Text(part) => text.push_str(&part),
            Task::Type(ty) => {
                let (params, result) = uncurried(types, ty);
                let result = along(types, result, |_| "num".to_string())?;
                if params.is_empty() {
                    text.push_str(&result);
                    continue;
                }
                text.push('(');
                tasks.push(Task::Text(format!(") -> {result}")));
                for (at, param) in params.iter().enumerate().rev() {
                    tasks.push(Task::Type(*param));
                    if at > 0 {
                        tasks.push(Task::Text(", ".to_string()));
                    }
                }
            }
        }
    }
    Some(text)
}
