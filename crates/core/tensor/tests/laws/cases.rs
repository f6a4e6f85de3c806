//! Generates operands for every operation. A new operation does not compile until it has a case here.
//!
//! All numbers of a case differ by at least 1/16, and are at least 1/2 away from zero. So no difference
//! quotient steps over a kink or a pole, and no maximum is a tie. They are multiples of 1/16, hence exact in
//! both precisions.

use eddy_tensor::{Data, Op, Shape, Value};

/// An operation and valid operands.
#[derive(Debug)]
pub struct Case {
    pub op: Op,
    pub operands: Vec<Value>,
}

impl Case {
    pub fn shapes(&self) -> Vec<Shape> {
        self.operands.iter().map(|operand| operand.shape().clone()).collect()
    }

    pub fn result(&self) -> Value {
        let operands: Vec<&Value> = self.operands.iter().collect();
        eval(&self.op, &operands)
    }

    /// The operands through which derivatives pass.
    pub fn differentiable(&self) -> impl Iterator<Item = usize> {
        (0..self.operands.len()).filter(|index| self.op.is_differentiable_in(*index))
    }
}

/// Evaluates an operation that must not fail.
pub fn eval(op: &Op, operands: &[&Value]) -> Value {
    let shapes: Vec<&Shape> = operands.iter().map(|operand| operand.shape()).collect();
    let shape = op.shape(&shapes).unwrap_or_else(|error| panic!("{op:?}: {error}"));
    let result = op.eval(operands).unwrap_or_else(|error| panic!("{op:?}: {error}"));
    assert_eq!(result.shape(), &shape, "the shape of {op:?}");
    result
}

/// The elements of a `num` value in double precision.
pub fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Num(x) => vec![*x],
        Value::Tensor(tensor) => match tensor.data() {
            Data::Num(xs) => xs.clone(),
            other => panic!("{other:?} are not numbers"),
        },
        other => panic!("{other:?} is not a number"),
    }
}

pub fn tensor(shape: &Shape, data: Data) -> Value {
    Value::new(shape.clone(), data).expect("as many elements as the shape has")
}

/// Generates a case for the operation, with generated static arguments.
pub fn case(op: &Op, c: &mut Choices<'_>) -> Case {
    let (op, operands) = match op {
        Op::Add
        | Op::Sub
        | Op::Mul
        | Op::Div
        | Op::Maximum
        | Op::Minimum
        | Op::Lt
        | Op::Le
        | Op::Gt
        | Op::Ge
        | Op::Eq
        | Op::Ne => (op.clone(), pair(c)),
        Op::Pow => {
            let [x, y] = c.broadcasting();
            (Op::Pow, vec![c.positive(&x), c.num(&y)])
        }
        Op::IntDiv | Op::IntMod => {
            let [x, y] = c.broadcasting();
            (op.clone(), vec![c.int(&x), c.int(&y)])
        }
        Op::And | Op::Or => {
            let [x, y] = c.broadcasting();
            (op.clone(), vec![c.bool(&x), c.bool(&y)])
        }
        Op::Not => {
            let shape = c.shape(0..=3);
            (Op::Not, vec![c.bool(&shape)])
        }
        Op::Log | Op::Sqrt | Op::Lgamma | Op::Digamma => {
            let shape = c.shape(0..=3);
            (op.clone(), vec![c.positive(&shape)])
        }
        Op::Copy
        | Op::Neg
        | Op::Abs
        | Op::Relu
        | Op::Exp
        | Op::Tanh
        | Op::Sigmoid
        | Op::Sin
        | Op::Cos
        | Op::ToNum
        | Op::ToInt
        | Op::Argmax
        | Op::StopGradient
        | Op::ZerosLike
        | Op::OnesLike => (op.clone(), one(c, 0)),
        Op::Softmax => (Op::Softmax, one(c, 1)),
        Op::If | Op::Where => choice(op, c),
        Op::Matmul | Op::Outer | Op::Conv2d | Op::Conv2dDx | Op::Conv2dDk => (op.clone(), product(op, c)),
        Op::Sum(_) | Op::Mean(_) | Op::Max(_) | Op::MaxMask(_) => along_axis(op, c),
        Op::Concat | Op::Stack => (op.clone(), several(op, c)),
        Op::Index(_) | Op::Slice(..) | Op::Pad(..) | Op::Reshape(_) | Op::Transpose => structural(op, c),
        Op::Onehot(_) => {
            let n = 1 + c.below(4);
            let index = i64::try_from(c.below(n)).expect("it is small");
            (Op::Onehot(n), vec![Value::Int(index)])
        }
        Op::Row | Op::Place(_) => {
            let shape = c.shape(1..=3);
            let index = Value::Int(i64::try_from(c.below(shape[0])).expect("it is small"));
            match op {
                Op::Row => (Op::Row, vec![c.num(&shape), index]),
                _ => (Op::Place(shape[0]), vec![index, c.num(&Shape::new(&shape[1..]))]),
            }
        }
        Op::Spread(..) => {
            let operands = one(c, 0);
            let axis = c.below(operands[0].shape().len() + 1);
            (Op::Spread(axis, 1 + c.below(3)), operands)
        }
        Op::Broadcast(_) | Op::Reduce(_) | Op::SumTo => stretching(op, c),
        Op::Unfold(..) | Op::Fold(..) => windows(op, c),
        Op::Each(_) | Op::Call(_) => unreachable!("it is no operation of the table"),
    };
    Case { op, operands }
}

fn one(c: &mut Choices<'_>, min_rank: usize) -> Vec<Value> {
    let shape = c.shape(min_rank..=3);
    vec![c.num(&shape)]
}

fn pair(c: &mut Choices<'_>) -> Vec<Value> {
    let [x, y] = c.broadcasting();
    vec![c.num(&x), c.num(&y)]
}

fn choice(op: &Op, c: &mut Choices<'_>) -> (Op, Vec<Value>) {
    if *op == Op::If {
        let shape = c.shape(0..=3);
        return (Op::If, vec![c.bool(&Shape::scalar()), c.num(&shape), c.num(&shape)]);
    }
    let [condition, x, y] = c.broadcasting();
    (Op::Where, vec![c.bool(&condition), c.num(&x), c.num(&y)])
}

fn product(op: &Op, c: &mut Choices<'_>) -> Vec<Value> {
    let [n, k, m] = [(); 3].map(|()| 1 + c.below(4));
    let [image, kernel, output] = {
        let [h, w, a, b, channels, outputs] = [(); 6].map(|()| 1 + c.below(2));
        [vec![h + a - 1, w + b - 1, channels], vec![h, w, channels, outputs], vec![a, b, outputs]]
    };
    let shapes = match (op, c.below(4)) {
        (Op::Matmul, 0) => [vec![n, k], vec![k, m]],
        (Op::Matmul, 1) => [vec![n, k], vec![k]],
        (Op::Matmul, 2) => [vec![k], vec![k, m]],
        (Op::Matmul, _) => [vec![k], vec![k]],
        (Op::Outer, _) => [vec![n], vec![m]],
        (Op::Conv2d, _) => [image, kernel],
        (Op::Conv2dDx, _) => [kernel, output],
        _ => [image, output],
    };
    shapes.map(|sizes| c.num(&Shape::from(sizes))).into()
}

fn along_axis(op: &Op, c: &mut Choices<'_>) -> (Op, Vec<Value>) {
    let operands = one(c, 0);
    let rank = operands[0].shape().len();
    let axis = c.below(rank + 1);
    let axis = (axis < rank).then_some(axis);
    let op = match op {
        Op::Sum(_) => Op::Sum(axis),
        Op::Mean(_) => Op::Mean(axis),
        Op::Max(_) => Op::Max(axis),
        _ => Op::MaxMask(axis),
    };
    (op, operands)
}

fn several(op: &Op, c: &mut Choices<'_>) -> Vec<Value> {
    let n = 1 + c.below(3);
    let first = c.shape(1..=3);
    let operands = (0..n).map(|_| {
        let mut sizes = first.to_vec();
        if *op == Op::Concat {
            sizes[0] = 1 + c.below(3);
        }
        c.num(&Shape::from(sizes))
    });
    operands.collect()
}

fn structural(op: &Op, c: &mut Choices<'_>) -> (Op, Vec<Value>) {
    let shape = if *op == Op::Transpose { c.shape(0..=2) } else { c.shape(1..=3) };
    let n = shape[..].first().copied().unwrap_or(1);
    let op = match op {
        Op::Index(_) => Op::Index(c.below(n)),
        Op::Slice(..) => {
            let lo = c.below(n + 1);
            Op::Slice(lo, lo + c.below(n + 1 - lo))
        }
        Op::Pad(..) => {
            let lo = c.below(3);
            Op::Pad(lo, lo + n + c.below(3))
        }
        Op::Reshape(_) => {
            let n: usize = shape.iter().product();
            Op::Reshape(Shape::from(
                [vec![n], vec![1, n, 1], shape.iter().rev().copied().collect()][c.below(3)].clone(),
            ))
        }
        _ => Op::Transpose,
    };
    (op, vec![c.num(&shape)])
}

fn stretching(op: &Op, c: &mut Choices<'_>) -> (Op, Vec<Value>) {
    let large = c.shape(0..=3);
    let small = c.shrunk(&large);
    match op {
        Op::Broadcast(_) => (Op::Broadcast(large), vec![c.num(&small)]),
        Op::Reduce(_) => (Op::Reduce(small), vec![c.num(&large)]),
        _ => (Op::SumTo, vec![c.num(&large), c.bool(&small)]),
    }
}

fn windows(op: &Op, c: &mut Choices<'_>) -> (Op, Vec<Value>) {
    let [n_windows, size, stride] = [(); 3].map(|()| 1 + c.below(3));
    // Up to `stride - 1` rows may be left over.
    let n = (n_windows - 1) * stride + size + c.below(stride);
    let outer = c.shape(0..=1);
    let axis = outer.len();
    let last = [n_windows, size];
    let sizes = if matches!(op, Op::Unfold(..)) { &[n][..] } else { &last[..] };
    let shape = Shape::from([&outer[..], sizes, &[1 + c.below(2)]].concat());
    let op =
        if matches!(op, Op::Unfold(..)) { Op::Unfold(axis, size, stride) } else { Op::Fold(axis, stride, n) };
    (op, vec![c.num(&shape)])
}

/// A list of random choices; when it is used up, all further choices are the simplest.
pub struct Choices<'a> {
    left: &'a [u16],
    /// The numbers that are not used yet, in sixteenths.
    pool: Vec<i32>,
}

impl<'a> Choices<'a> {
    pub fn new(choices: &'a [u16]) -> Choices<'a> {
        // Enough for three operands with three axes of size 3.
        Choices { left: choices, pool: (8..56).flat_map(|sixteenths| [sixteenths, -sixteenths]).collect() }
    }

    /// Chooses a number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        let Some((first, others)) = self.left.split_first() else { return 0 };
        self.left = others;
        usize::from(*first) % n
    }

    /// Chooses axes of size 1, 2 or 3.
    pub fn shape(&mut self, ranks: std::ops::RangeInclusive<usize>) -> Shape {
        let rank = ranks.start() + self.below(ranks.end() - ranks.start() + 1);
        Shape::from((0..rank).map(|_| 1 + self.below(3)).collect::<Vec<_>>())
    }

    /// Chooses a shape that broadcasts to this one.
    pub fn shrunk(&mut self, shape: &Shape) -> Shape {
        let skipped = self.below(shape.len() + 1);
        let sizes = shape[skipped..].iter().map(|size| if self.below(3) == 0 { 1 } else { *size });
        Shape::from(sizes.collect::<Vec<_>>())
    }

    /// Chooses shapes that broadcast.
    pub fn broadcasting<const N: usize>(&mut self) -> [Shape; N] {
        let result = self.shape(0..=3);
        [(); N].map(|()| self.shrunk(&result))
    }

    pub fn num(&mut self, shape: &Shape) -> Value {
        let elements = (0..shape.iter().product()).map(|_| self.number());
        tensor(shape, Data::Num(elements.collect()))
    }

    fn positive(&mut self, shape: &Shape) -> Value {
        let elements = (0..shape.iter().product()).map(|_| self.number().abs());
        tensor(shape, Data::Num(elements.collect()))
    }

    pub fn int(&mut self, shape: &Shape) -> Value {
        let elements = (0..shape.iter().product()).map(|_| i64::from(self.sixteenths()));
        tensor(shape, Data::Int(elements.collect()))
    }

    pub fn bool(&mut self, shape: &Shape) -> Value {
        let elements = (0..shape.iter().product()).map(|_| self.below(2) == 1);
        tensor(shape, Data::Bool(elements.collect()))
    }

    fn number(&mut self) -> f64 {
        f64::from(self.sixteenths()) / 16.0
    }

    fn sixteenths(&mut self) -> i32 {
        let index = self.below(self.pool.len());
        self.pool.swap_remove(index)
    }
}
