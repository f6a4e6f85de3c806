//! Operations in the text of flow: infix operators, brackets, calls, and any of these applied to each slice of the operands with these numbers:
//! `each [0,1] call matmul ( x y )`.

use eddy_tensor::{Arity, Each, Op, Static, builtin};

use crate::Constant;

/// The operators that stand between their operands.
const INFIX: [Op; 14] = [
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::Div,
    Op::IntDiv,
    Op::IntMod,
    Op::Lt,
    Op::Le,
    Op::Gt,
    Op::Ge,
    Op::Eq,
    Op::Ne,
    Op::And,
    Op::Or,
];

/// An operation on named streams.
pub fn print(op: &Op, operands: &[&str]) -> String {
    match (op, operands) {
        (Op::Each(each), _) => {
            let wide = each.is_wide().iter().enumerate().filter(|(_, is_wide)| **is_wide);
            let wide: Vec<String> = wide.map(|(number, _)| number.to_string()).collect();
            format!("each [{}] {}", wide.join(","), print(each.op(), operands))
        }
        (Op::Copy, [operand]) => (*operand).to_string(),
        (Op::Neg, [operand]) => format!("- {operand}"),
        (Op::Not, [operand]) => format!("not {operand}"),
        (Op::If, [condition, yes, no]) => format!("if {condition} then {yes} else {no}"),
        (Op::Index(index), [operand]) => format!("{operand} [{index}]"),
        (Op::Stack, _) => format!("[ {} ]", operands.join(" ")),
        (_, [left, right]) if INFIX.contains(op) => format!("{left} {} {right}", op.name()),
        _ => {
            let statics: Vec<String> =
                op.statics().iter().map(|value| Constant::from(value).to_string()).collect();
            let statics = if statics.is_empty() { String::new() } else { format!(" {}", statics.join(" ")) };
            format!("call {}{statics} ( {} )", op.name(), operands.join(" "))
        }
    }
}

/// The operation and operands of these words; nothing if they are none.
pub(super) fn parse<'a>(words: &[&'a str]) -> Option<(Op, Vec<&'a str>)> {
    match words {
        [operand] => Some((Op::Copy, vec![operand])),
        ["-", operand] => Some((Op::Neg, vec![operand])),
        ["not", operand] => Some((Op::Not, vec![operand])),
        ["if", condition, "then", yes, "else", no] => Some((Op::If, vec![condition, yes, no])),
        ["[", items @ .., "]"] => Some((Op::Stack, items.to_vec())),
        ["call", name, rest @ ..] => call(name, rest),
        ["each", wide, rest @ ..] if !rest.is_empty() && wide.starts_with('[') => each(wide, rest),
        [operand, index] => {
            let index = index.strip_prefix('[')?.strip_suffix(']')?.parse().ok()?;
            Some((Op::Index(index), vec![operand]))
        }
        [left, symbol, right] => {
            let op = INFIX.iter().find(|op| op.name() == *symbol)?;
            Some((op.clone(), vec![left, right]))
        }
        _ => None,
    }
}

/// An operation on slices, of which there are none unless operands have the numbers of wide ones. Slices have no slices.
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
    let builtin = builtin(name)?;
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

/// `1,2,3`; nothing between brackets is the empty list.
pub(super) fn integers(text: &str) -> Option<Vec<i64>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    text.split(',').map(|item| item.parse().ok()).collect()
}
