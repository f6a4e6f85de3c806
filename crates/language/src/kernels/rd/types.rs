//! Types of `rd` as types, zeros and patterns of functions: `real × unit` is `(num, ())`.

use eddy_rd::types::{Shape, Type, Types};

/// The text of a type: `leaf` returns the text of each leaf, and pairs are in parentheses.
fn along(types: &Types, ty: Type, mut leaf: impl FnMut(Shape) -> String) -> String {
    enum Task {
        Text(&'static str),
        Type(Type),
    }
    let (mut text, mut tasks) = (String::new(), vec![Task::Type(ty)]);
    while let Some(task) = tasks.pop() {
        match task {
            Task::Text(part) => text.push_str(part),
            Task::Type(ty) => match types.shape(ty) {
                Shape::Product(left, right) => tasks.extend([
                    Task::Text(")"),
                    Task::Type(right),
                    Task::Text(", "),
                    Task::Type(left),
                    Task::Text("("),
                ]),
                shape => text.push_str(&leaf(shape)),
            },
        }
    }
    text
}

/// The type in the syntax of functions.
pub(super) fn type_text(types: &Types, ty: Type) -> String {
    along(types, ty, |leaf| if leaf == Shape::Real { "num" } else { "()" }.to_string())
}

/// `zero[T]`.
pub(super) fn zero_text(types: &Types, ty: Type) -> String {
    along(types, ty, |leaf| if leaf == Shape::Real { "0.0" } else { "()" }.to_string())
}

/// The pattern `((x0, x1), x2)` that binds the reals of a value to `x0`, `x1`, …
pub(super) fn pattern(types: &Types, ty: Type, stem: &str) -> String {
    let mut n_reals = 0;
    along(types, ty, |leaf| match leaf {
        Shape::Real => {
            n_reals += 1;
            format!("{stem}{}", n_reals - 1)
        }
        _ => "_".to_string(),
    })
}

/// A tuple with the structure of `ty`; `real` returns the text of each real, numbered from left to right.
pub(super) fn tuple(types: &Types, ty: Type, real: impl Fn(u64) -> String) -> String {
    let mut n_reals = 0;
    along(types, ty, |leaf| match leaf {
        Shape::Real => {
            n_reals += 1;
            real(n_reals - 1)
        }
        _ => "()".to_string(),
    })
}
