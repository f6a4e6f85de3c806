//! Operations in the text of flow: infix operators, brackets, calls, and any of these applied slice by slice.
//! In `each [0,1] call matmul ( x y )` the list has the indices of the operands that are sliced.

use eddy_tensor::{Arity, Each, Op, Spelling, Static, named};

use crate::Constant;

/// Prints an operation on named streams.
pub fn print(op: &Op, operands: &[&str]) -> String {
    if let Op::Each(each) = op {
        let wide = each.is_wide().iter().enumerate().filter(|(_, is_wide)| **is_wide);
        let wide: Vec<String> = wide.map(|(number, _)| number.to_string()).collect();
        return format!("each [{}] {}", wide.join(","), print(each.op(), operands));
    }
    let statics: Vec<String> = op.statics().iter().map(|value| Constant::from(value).to_string()).collect();
    match (op.spelling(), operands) {
        (Spelling::Itself, [operand]) => (*operand).to_string(),
        (Spelling::Prefix, [operand]) => format!("{} {operand}", op.name()),
        (Spelling::Infix, [left, right]) => format!("{left} {} {right}", op.name()),
        (Spelling::Choice, [condition, yes, no]) => format!("if {condition} then {yes} else {no}"),
        (Spelling::Row, [operand]) => format!("{operand} [{}]", statics.join(",")),
        (Spelling::Pick, [operand, index]) => format!("{operand} [ {index} ]"),
        (Spelling::List, _) => format!("[ {} ]", operands.join(" ")),
        // An operation with a wrong number of operands is printed as a call.
        _ => {
            let statics = if statics.is_empty() { String::new() } else { format!(" {}", statics.join(" ")) };
            format!("call {}{statics} ( {} )", op.name(), operands.join(" "))
        }
    }
}

/// Parses an operation and its operands; returns `None` if the words form no operation.
pub(super) fn parse<'a>(words: &[&'a str]) -> Option<(Op, Vec<&'a str>)> {
    match words {
        [operand] => Some((Op::Copy, vec![operand])),
        ["if", condition, "then", yes, "else", no] => Some((Op::If, vec![condition, yes, no])),
        ["[", items @ .., "]"] => Some((Op::Stack, items.to_vec())),
        ["call", name, rest @ ..] => call(name, rest),
        ["each", wide, rest @ ..] if !rest.is_empty() && wide.starts_with('[') => each(wide, rest),
        [symbol, operand] if !operand.starts_with('[') => {
            let op = Op::all().find(|op| op.spelling() == Spelling::Prefix && op.name() == *symbol)?;
            Some((op.clone(), vec![operand]))
        }
        [operand, "[", index, "]"] => Some((Op::Row, vec![operand, index])),
        [operand, index] => {
            let index = index.strip_prefix('[')?.strip_suffix(']')?.parse().ok()?;
            Some((Op::Index(index), vec![operand]))
        }
        [left, symbol, right] => {
            let op = Op::all().find(|op| op.spelling() == Spelling::Infix && op.name() == *symbol)?;
            Some((op.clone(), vec![left, right]))
        }
        _ => None,
    }
}

/// Parses an operation on slices. At least one operand must be sliced, and `each` does not nest.
fn each<'a>(wide: &str, words: &[&'a str]) -> Option<(Op, Vec<&'a str>)> {
    if words[0] == "each" && words.len() > 1 {
        return None;
    }
    let (op, operands) = parse(words)?;
    let Some(Static::List(wide)) = static_argument(wide) else { return None };
    let mut is_wide = vec![false; operands.len()];
    for number in wide {
        *is_wide.get_mut(usize::try_from(number).ok()?)? = true;
    }
    is_wide.contains(&true).then(|| (Op::Each(Each::new(op, &is_wide)), operands))
}

fn call<'a>(name: &str, words: &[&'a str]) -> Option<(Op, Vec<&'a str>)> {
    let open = words.iter().position(|word| *word == "(")?;
    let (statics, operands) = words.split_at(open);
    let operands = operands.strip_prefix(&["("])?.strip_suffix(&[")"])?;
    let statics: Vec<Static> = statics.iter().map(|word| static_argument(word)).collect::<Option<_>>()?;
    let builtin = named(name)?;
    let n_leading = builtin.n_leading();
    let is_right = match builtin.arity() {
        Arity::Exactly(n) => operands.len() == n,
        Arity::AtLeast(n) => operands.len() >= n,
    };
    let is_counted = statics.len() == n_leading || (builtin.has_axis() && statics.len() == n_leading + 1);
    (is_right && is_counted).then(|| builtin.op(&statics).ok().map(|op| (op, operands.to_vec())))?
}

fn static_argument(word: &str) -> Option<Static> {
    match word.strip_prefix('[') {
        None => word.parse().ok().map(Static::Int),
        Some(items) => integers(items.strip_suffix(']')?).map(Static::List),
    }
}

/// Parses `1,2,3`; the empty text is the empty list.
pub(super) fn integers(text: &str) -> Option<Vec<i64>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    text.split(',').map(|item| item.parse().ok()).collect()
}
