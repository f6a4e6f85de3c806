//! The operations that statements apply to operands: those of the tensor table, and a few that only bodies
//! have.
//!
//! Rows of the table whose static arguments are sizes ([`Sized`]) take these as operands here. Every other
//! row is used as it is, so that bodies compute the same bits as nodes.

use eddy_tensor::{Arity, Class, Op, Scalar, Shape, ShapeRule, Slot};

use crate::ir::{Elem, Type};

/// An operation with its static arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// A row of the table that has no static argument, or only an axis.
    Table(Op),
    /// A row of the table whose sizes are operands, after the tensor.
    Sized(Sized),
    /// `fill(x, n..)`: a scalar of any kind, repeated.
    Fill,
    /// `size K (x)`: the size of an axis.
    Size(usize),
    /// `reverse_index(n, i)`: `n - 1 - i`, for an index `i` below `n`.
    ReverseIndex,
    /// `first_max(x)`: the index of the first element of a vector that no later one exceeds; a leading NaN
    /// stays.
    FirstMax,
    /// `first_min(x)`.
    FirstMin,
    /// `check_size(n, m)`: fails if size `n` is not the required `m`.
    CheckSize,
    /// `check_some(n)`: fails if `n <= 0`, where at least one element is required.
    CheckSome,
    /// `fail_order()`: the derivative order is too high.
    FailOrder,
    /// `pack(x..)`: a tape that keeps values.
    Pack,
}

/// Rows of the table whose static arguments are sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sized {
    /// `reshape(x, n..)`.
    Reshape,
    /// `broadcast(x, n..)`.
    Broadcast,
    /// `reduce(x, n..)`: summed down to a shape.
    Reduce,
    /// `spread K (x, n)`.
    Spread(usize),
    /// `onehot(i, n)`.
    Onehot,
    /// `pad(x, lo, n)`.
    Pad,
    /// `unfold K (x, size, stride)`.
    Unfold(usize),
    /// `fold K (x, stride, n)`.
    Fold(usize),
}

/// Words of operations without static arguments.
const WORDS: [(&str, Op); 48] = [
    ("copy", Op::Copy),
    ("add", Op::Add),
    ("sub", Op::Sub),
    ("mul", Op::Mul),
    ("div", Op::Div),
    ("pow", Op::Pow),
    ("maximum", Op::Maximum),
    ("minimum", Op::Minimum),
    ("int_div", Op::IntDiv),
    ("int_mod", Op::IntMod),
    ("lt", Op::Lt),
    ("le", Op::Le),
    ("gt", Op::Gt),
    ("ge", Op::Ge),
    ("eq", Op::Eq),
    ("ne", Op::Ne),
    ("and", Op::And),
    ("or", Op::Or),
    ("not", Op::Not),
    ("neg", Op::Neg),
    ("abs", Op::Abs),
    ("relu", Op::Relu),
    ("exp", Op::Exp),
    ("log", Op::Log),
    ("sqrt", Op::Sqrt),
    ("tanh", Op::Tanh),
    ("sigmoid", Op::Sigmoid),
    ("lgamma", Op::Lgamma),
    ("digamma", Op::Digamma),
    ("sin", Op::Sin),
    ("cos", Op::Cos),
    ("where", Op::Where),
    ("matmul", Op::Matmul),
    ("concat", Op::Concat),
    ("stack", Op::Stack),
    ("transpose", Op::Transpose),
    ("softmax", Op::Softmax),
    ("to_num", Op::ToNum),
    ("to_int", Op::ToInt),
    ("argmax", Op::Argmax),
    ("stop_gradient", Op::StopGradient),
    ("zeros_like", Op::ZerosLike),
    ("ones_like", Op::OnesLike),
    ("sum_to", Op::SumTo),
    ("outer", Op::Outer),
    ("conv2d", Op::Conv2d),
    ("conv2d_dx", Op::Conv2dDx),
    ("conv2d_dk", Op::Conv2dDk),
];

/// Words of reductions, which may have an axis.
type WithAxis = fn(Option<usize>) -> Op;
const REDUCTIONS: [(&str, WithAxis); 4] =
    [("sum", Op::Sum), ("mean", Op::Mean), ("max", Op::Max), ("max_mask", Op::MaxMask)];

impl Operation {
    /// The word and the axis after it, as they are printed; `None` for rows of the table that bodies do not
    /// have.
    pub fn word(&self) -> Option<(&'static str, Option<usize>)> {
        let word = |word| Some((word, None));
        match self {
            Operation::Table(Op::Sum(axis)) => Some(("sum", *axis)),
            Operation::Table(Op::Mean(axis)) => Some(("mean", *axis)),
            Operation::Table(Op::Max(axis)) => Some(("max", *axis)),
            Operation::Table(Op::MaxMask(axis)) => Some(("max_mask", *axis)),
            Operation::Table(op) => WORDS.iter().find(|(_, row)| row == op).map(|(word, _)| (*word, None)),
            Operation::Sized(sized) => Some(match sized {
                Sized::Reshape => ("reshape", None),
                Sized::Broadcast => ("broadcast", None),
                Sized::Reduce => ("reduce", None),
                Sized::Spread(axis) => ("spread", Some(*axis)),
                Sized::Onehot => ("onehot", None),
                Sized::Pad => ("pad", None),
                Sized::Unfold(axis) => ("unfold", Some(*axis)),
                Sized::Fold(axis) => ("fold", Some(*axis)),
            }),
            Operation::Size(axis) => Some(("size", Some(*axis))),
            Operation::Fill => word("fill"),
            Operation::ReverseIndex => word("reverse_index"),
            Operation::FirstMax => word("first_max"),
            Operation::FirstMin => word("first_min"),
            Operation::CheckSize => word("check_size"),
            Operation::CheckSome => word("check_some"),
            Operation::FailOrder => word("fail_order"),
            Operation::Pack => word("pack"),
        }
    }

    /// The inverse of [`Operation::word`].
    pub fn from_word(word: &str, axis: Option<usize>) -> Option<Operation> {
        if let Some((_, reduction)) = REDUCTIONS.iter().find(|(known, _)| *known == word) {
            return Some(Operation::Table(reduction(axis)));
        }
        let operation = match (word, axis) {
            ("spread", Some(axis)) => Operation::Sized(Sized::Spread(axis)),
            ("unfold", Some(axis)) => Operation::Sized(Sized::Unfold(axis)),
            ("fold", Some(axis)) => Operation::Sized(Sized::Fold(axis)),
            ("size", Some(axis)) => Operation::Size(axis),
            (_, Some(_)) => return None,
            ("reshape", None) => Operation::Sized(Sized::Reshape),
            ("broadcast", None) => Operation::Sized(Sized::Broadcast),
            ("reduce", None) => Operation::Sized(Sized::Reduce),
            ("onehot", None) => Operation::Sized(Sized::Onehot),
            ("pad", None) => Operation::Sized(Sized::Pad),
            ("fill", None) => Operation::Fill,
            ("reverse_index", None) => Operation::ReverseIndex,
            ("first_max", None) => Operation::FirstMax,
            ("first_min", None) => Operation::FirstMin,
            ("check_size", None) => Operation::CheckSize,
            ("check_some", None) => Operation::CheckSome,
            ("fail_order", None) => Operation::FailOrder,
            ("pack", None) => Operation::Pack,
            (word, None) => Operation::Table(WORDS.iter().find(|(known, _)| *known == word)?.1.clone()),
        };
        Some(operation)
    }

    /// Every operation once, with some axis: for tests.
    pub fn all() -> impl Iterator<Item = Operation> {
        let rows = WORDS.iter().map(|(_, op)| Operation::Table(op.clone()));
        let reductions = REDUCTIONS.iter().flat_map(|(_, op)| [op(None), op(Some(1))]).map(Operation::Table);
        let own = [
            "reshape",
            "broadcast",
            "reduce",
            "onehot",
            "pad",
            "fill",
            "reverse_index",
            "first_max",
            "first_min",
            "check_size",
            "check_some",
            "fail_order",
            "pack",
        ];
        let own = own.into_iter().filter_map(|word| Operation::from_word(word, None));
        let with_axis = ["spread", "unfold", "fold", "size"];
        let with_axis = with_axis.into_iter().filter_map(|word| Operation::from_word(word, Some(0)));
        rows.chain(reductions).chain(own).chain(with_axis)
    }

    /// The types of the results for operands of these types, or the error in the operands.
    pub fn result_types(&self, operands: &[Type]) -> Result<Vec<Type>, String> {
        const INT: Type = Type::scalar(Elem::Int);
        let exactly = |n: usize| match operands.len() {
            found if found == n => Ok(()),
            found => Err(format!("needs {n} operands, not {found}")),
        };
        let are_ints = |operands: &[Type]| match operands.iter().position(|ty| *ty != INT) {
            None => Ok(()),
            Some(at) => Err(format!("operand {} must be an int", at + 1)),
        };
        let ints = |n: usize| exactly(n).and_then(|()| are_ints(operands));
        match self {
            Operation::Table(op) => Ok(vec![table_type(op, operands)?]),
            Operation::Sized(sized) => Ok(vec![sized.result_type(operands)?]),
            Operation::Fill => {
                let (value, sizes) = operands.split_first().ok_or("needs a value and sizes")?;
                are_ints(sizes)?;
                rank_is(*value, 0)?;
                Ok(vec![Type { elem: value.elem, rank: sizes.len() }])
            }
            Operation::Size(axis) => {
                exactly(1)?;
                if *axis >= operands[0].rank {
                    return Err(format!("there is no axis {axis}"));
                }
                Ok(vec![INT])
            }
            Operation::ReverseIndex => ints(2).map(|()| vec![INT]),
            Operation::FirstMax | Operation::FirstMin => {
                exactly(1)?;
                rank_is(operands[0], 1)?;
                match operands[0].elem {
                    Elem::Int | Elem::Num => Ok(vec![INT]),
                    _ => Err("needs int or num".to_owned()),
                }
            }
            Operation::CheckSize => ints(2).map(|()| Vec::new()),
            Operation::CheckSome => ints(1).map(|()| Vec::new()),
            Operation::FailOrder => exactly(0).map(|()| Vec::new()),
            Operation::Pack => Ok(vec![Type::scalar(Elem::Tape)]),
        }
    }

    /// Whether it can end a run. Running out of memory is not counted: it can happen anywhere.
    pub fn can_fail(&self, operands: &[Type]) -> bool {
        match self {
            Operation::Table(op) => {
                let is_int = operands.iter().any(|ty| ty.elem == Elem::Int);
                let scalar = if is_int { Scalar::Int } else { Scalar::Num };
                // Shapes of scalars always fit.
                op.can_fail(scalar) || matches!(op, Op::Max(_) | Op::Argmax) || {
                    let has_two = operands.iter().filter(|ty| ty.rank > 0).count() > 1;
                    has_two || matches!(op, Op::Conv2d | Op::Conv2dDk | Op::Conv2dDx)
                }
            }
            Operation::Sized(Sized::Broadcast | Sized::Reduce)
                if operands[0].rank == 0 && operands.len() == 1 =>
            {
                false
            }
            Operation::Size(_) | Operation::ReverseIndex | Operation::Pack => false,
            _ => true,
        }
    }
}

impl Sized {
    /// The row of the table at these sizes.
    pub fn op(self, sizes: &[usize]) -> Op {
        match self {
            Sized::Reshape => Op::Reshape(Shape::new(sizes)),
            Sized::Broadcast => Op::Broadcast(Shape::new(sizes)),
            Sized::Reduce => Op::Reduce(Shape::new(sizes)),
            Sized::Spread(axis) => Op::Spread(axis, sizes[0]),
            Sized::Onehot => Op::Onehot(sizes[0]),
            Sized::Pad => Op::Pad(sizes[0], sizes[1]),
            Sized::Unfold(axis) => Op::Unfold(axis, sizes[0], sizes[1]),
            Sized::Fold(axis) => Op::Fold(axis, sizes[0], sizes[1]),
        }
    }

    fn result_type(self, operands: &[Type]) -> Result<Type, String> {
        let (value, sizes) = operands.split_first().ok_or("needs a tensor and sizes")?;
        if sizes.iter().any(|ty| *ty != Type::scalar(Elem::Int)) {
            return Err("sizes must be ints".to_owned());
        }
        let n_sizes = match self {
            Sized::Reshape | Sized::Broadcast | Sized::Reduce => sizes.len(),
            Sized::Spread(_) | Sized::Onehot => 1,
            Sized::Pad | Sized::Unfold(_) | Sized::Fold(_) => 2,
        };
        if sizes.len() != n_sizes {
            return Err(format!("needs {n_sizes} sizes, not {}", sizes.len()));
        }
        let is_right = match self {
            Sized::Reshape => value.elem != Elem::Tape,
            Sized::Onehot => value.elem == Elem::Int,
            _ => value.is_num(),
        };
        if !is_right {
            return Err("the elements have the wrong kind".to_owned());
        }
        let needs = |holds: bool| if holds { Ok(()) } else { Err("the rank does not fit".to_owned()) };
        let rank = match self {
            Sized::Reshape => sizes.len(),
            Sized::Broadcast => {
                needs(value.rank <= sizes.len())?;
                sizes.len()
            }
            Sized::Reduce => {
                needs(value.rank >= sizes.len())?;
                sizes.len()
            }
            Sized::Spread(axis) => {
                needs(axis <= value.rank)?;
                value.rank + 1
            }
            Sized::Onehot => {
                needs(value.rank == 0)?;
                1
            }
            Sized::Pad => {
                needs(value.rank > 0)?;
                value.rank
            }
            Sized::Unfold(axis) => {
                needs(axis < value.rank)?;
                value.rank + 1
            }
            Sized::Fold(axis) => {
                needs(axis + 1 < value.rank)?;
                value.rank - 1
            }
        };
        Ok(Type { elem: if self == Sized::Onehot { Elem::Num } else { value.elem }, rank })
    }
}

fn rank_is(ty: Type, rank: usize) -> Result<(), String> {
    if ty.rank == rank { Ok(()) } else { Err(format!("needs rank {rank}, not {}", ty.rank)) }
}

/// The type of a row of the table.
fn table_type(op: &Op, operands: &[Type]) -> Result<Type, String> {
    if Operation::Table(op.clone()).word().is_none() {
        return Err("is no operation of bodies".to_owned());
    }
    let signature = op.signature();
    if !signature.arity.accepts(operands.len()) {
        let (Arity::Exactly(n) | Arity::AtLeast(n)) = signature.arity;
        return Err(format!("needs {n} operands, not {}", operands.len()));
    }
    let mut alpha = None;
    for (at, ty) in operands.iter().enumerate() {
        let fits = match signature.operand(at) {
            Slot::Is(scalar) => ty.elem == elem_of(scalar),
            Slot::Free => ty.elem != Elem::Tape,
            Slot::Alpha => {
                let is_of_class = match signature.alpha {
                    Class::Numeric => matches!(ty.elem, Elem::Int | Elem::Num),
                    Class::Any => ty.elem != Elem::Tape,
                };
                is_of_class && *alpha.get_or_insert(ty.elem) == ty.elem
            }
        };
        if !fits {
            return Err(format!("operand {} has the wrong kind of elements", at + 1));
        }
    }
    let elem = match signature.result {
        Slot::Is(scalar) => elem_of(scalar),
        _ => alpha.ok_or("has no operand that says its type")?,
    };
    let rank = rank_of(op, operands).ok_or("the ranks of the operands do not fit")?;
    Ok(Type { elem, rank })
}

fn elem_of(scalar: Scalar) -> Elem {
    match scalar {
        Scalar::Bool => Elem::Bool,
        Scalar::Int => Elem::Int,
        Scalar::Num => Elem::Num,
    }
}

fn rank_of(op: &Op, operands: &[Type]) -> Option<usize> {
    let ranks: Vec<usize> = operands.iter().map(|ty| ty.rank).collect();
    let all_equal = ranks.iter().all(|rank| *rank == ranks[0]);
    let reduced = |axis: &Option<usize>| match axis {
        None => Some(0),
        Some(axis) => (*axis < ranks[0]).then(|| ranks[0] - 1),
    };
    match op {
        Op::Sum(axis) | Op::Mean(axis) | Op::Max(axis) => reduced(axis),
        Op::MaxMask(axis) => reduced(axis).map(|_| ranks[0]),
        Op::Softmax => (ranks[0] > 0).then_some(ranks[0]),
        Op::Matmul => ranks.iter().all(|rank| (1..=2).contains(rank)).then(|| ranks[0] + ranks[1] - 2),
        Op::Outer => (ranks == [1, 1]).then_some(2),
        Op::Transpose => (ranks[0] <= 2).then_some(ranks[0]),
        Op::Concat => (all_equal && ranks[0] > 0).then_some(ranks[0]),
        Op::Conv2d => (ranks == [3, 4]).then_some(3),
        Op::Conv2dDx => (ranks == [4, 3]).then_some(3),
        Op::Conv2dDk => (ranks == [3, 3]).then_some(4),
        Op::SumTo => (ranks[1] <= ranks[0]).then_some(ranks[1]),
        Op::Argmax => Some(0),
        _ => match op.shape_rule() {
            ShapeRule::Equal => all_equal.then_some(ranks[0]),
            ShapeRule::Broadcast => ranks.iter().max().copied(),
            ShapeRule::Stack => all_equal.then(|| ranks[0] + 1),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_unique_and_read_back() {
        let mut words = Vec::new();
        for operation in Operation::all() {
            let (word, axis) = operation.word().expect("each has a word");
            assert_eq!(Operation::from_word(word, axis), Some(operation));
            words.push((word, axis));
        }
        words.sort_unstable();
        let n = words.len();
        words.dedup();
        assert_eq!(words.len(), n);
    }

    /// A new row of the table must be listed here, as one that bodies have or do not have.
    #[test]
    fn every_row_of_the_table_is_reached() {
        let elsewhere = [
            "if",
            "index",
            "slice",
            "reshape",
            "onehot",
            "place",
            "pad",
            "spread",
            "broadcast",
            "reduce",
            "unfold",
            "fold",
        ];
        for op in Op::all() {
            let is_here = Operation::Table(op.clone()).word().is_some();
            assert_eq!(is_here, !elsewhere.contains(&op.name()), "{}", op.name());
        }
    }
}
