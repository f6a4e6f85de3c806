//! Lists all derivatives as text, which shows what they read.
//!
//! This is the specification's table as implemented: V is applied to the cotangent g of the result y, T to
//! the tangent t of an operand; x, x1, x2, x3 are the operands. A formula that reads more operands than it
//! needs makes programs wait for values that they do not need, so review every change in this list.

use std::mem::discriminant;

use eddy_tensor::{Algebra, Op, Shape, Site, Static};
use expect_test::expect;

use crate::derivatives::is_differentiable;

/// Every operation with derivatives, with shapes for which all forms of its derivatives occur.
fn sites() -> Vec<(Op, Vec<Shape>)> {
    let unary: &[&[usize]] = &[&[2]];
    let binary: &[&[usize]] = &[&[2], &[2]];
    let sites: &[(Op, &[&[usize]])] = &[
        (Op::Copy, unary),
        (Op::ToNum, unary),
        (Op::Add, binary),
        (Op::Add, &[&[3], &[2, 3]]),
        (Op::Sub, binary),
        (Op::Sub, &[&[2, 3], &[]]),
        (Op::Mul, binary),
        (Op::Mul, &[&[2, 1], &[1, 3]]),
        (Op::Div, binary),
        (Op::Pow, binary),
        (Op::Maximum, binary),
        (Op::Minimum, binary),
        (Op::Neg, unary),
        (Op::Abs, unary),
        (Op::Relu, unary),
        (Op::Exp, unary),
        (Op::Log, unary),
        (Op::Sqrt, unary),
        (Op::Tanh, unary),
        (Op::Sigmoid, unary),
        (Op::Sin, unary),
        (Op::Cos, unary),
        (Op::Lgamma, unary),
        (Op::If, &[&[], &[2], &[2]]),
        (Op::Where, &[&[2], &[2], &[2]]),
        (Op::Where, &[&[], &[3], &[2, 3]]),
        (Op::Matmul, &[&[2, 3], &[3, 4]]),
        (Op::Matmul, &[&[2, 3], &[3]]),
        (Op::Matmul, &[&[3], &[3, 4]]),
        (Op::Matmul, &[&[3], &[3]]),
        (Op::Outer, &[&[2], &[3]]),
        (Op::Conv2d, &[&[4, 5, 1], &[2, 2, 1, 3]]),
        (Op::Conv2dDx, &[&[2, 2, 1, 3], &[3, 4, 3]]),
        (Op::Conv2dDk, &[&[4, 5, 1], &[3, 4, 3]]),
        (Op::Concat, &[&[2, 4], &[3, 4]]),
        (Op::Stack, &[&[3], &[3]]),
        (Op::Index(1), &[&[2, 3]]),
        (Op::Row, &[&[2, 3], &[]]),
        (Op::Place(2), &[&[], &[3]]),
        (Op::Slice(1, 3), &[&[4]]),
        (Op::Pad(1, 4), &[&[2]]),
        (Op::Reshape(Shape::new(&[6])), &[&[2, 3]]),
        (Op::Transpose, &[&[2, 3]]),
        (Op::Spread(1, 3), &[&[2]]),
        (Op::Broadcast(Shape::new(&[2, 3])), &[&[3]]),
        (Op::Reduce(Shape::new(&[3])), &[&[2, 3]]),
        (Op::SumTo, &[&[2, 3], &[3]]),
        (Op::Unfold(0, 3, 2), &[&[6]]),
        (Op::Fold(0, 2, 6), &[&[2, 3]]),
        (Op::Sum(None), &[&[2, 3]]),
        (Op::Sum(Some(0)), &[&[2, 3]]),
        (Op::Mean(None), &[&[2, 3]]),
        (Op::Mean(Some(1)), &[&[2, 3]]),
        (Op::Max(None), &[&[2, 3]]),
        (Op::Max(Some(1)), &[&[2, 3]]),
        (Op::Softmax, &[&[2, 3]]),
    ];
    let shapes = |sizes: &[&[usize]]| sizes.iter().map(|sizes| Shape::new(sizes)).collect();
    sites.iter().map(|(op, sizes)| (op.clone(), shapes(sizes))).collect()
}

#[test]
fn every_derivative_is_listed() {
    let listed: Vec<_> = sites().iter().map(|(op, _)| discriminant(op)).collect();
    for op in Op::all().filter(|op| is_differentiable(op)) {
        assert!(listed.contains(&discriminant(op)), "{op:?} is missing");
    }
}

#[test]
fn derivatives_read_what_they_need() {
    let lines: String = sites().iter().map(|(op, shapes)| derivatives(op, shapes)).collect();
    expect![[r"
        copy(x)                 x     g                                             t
        num(x)                  x     g                                             t
        x1 + x2                 x1    g                                             t
        x1 + x2                 x2    g                                             t
        x1 + x2                 x1    reduce([3],g)                                 broadcast([2,3],t)
        x1 + x2                 x2    g                                             t
        x1 - x2                 x1    g                                             t
        x1 - x2                 x2    -g                                            -t
        x1 - x2                 x1    g                                             t
        x1 - x2                 x2    reduce([],-g)                                 broadcast([2,3],-t)
        x1 * x2                 x1    g * x2                                        t * x2
        x1 * x2                 x2    g * x1                                        t * x1
        x1 * x2                 x1    reduce([2,1],g * x2)                          t * x2
        x1 * x2                 x2    reduce([1,3],g * x1)                          t * x1
        x1 / x2                 x1    g / x2                                        t / x2
        x1 / x2                 x2    -((g * x1) / (x2 * x2))                       -((t * x1) / (x2 * x2))
        pow(x1,x2)              x1    g * (x2 * pow(x1,x2 - 1))                     t * (x2 * pow(x1,x2 - 1))
        pow(x1,x2)              x2    g * (log(x1) * y)                             t * (log(x1) * y)
        maximum(x1,x2)          x1    where(x1 >= x2,g,0)                           where(x1 >= x2,t,0)
        maximum(x1,x2)          x2    where(x1 >= x2,0,g)                           where(x1 >= x2,0,t)
        minimum(x1,x2)          x1    where(x1 <= x2,g,0)                           where(x1 <= x2,t,0)
        minimum(x1,x2)          x2    where(x1 <= x2,0,g)                           where(x1 <= x2,0,t)
        -x                      x     -g                                            -t
        abs(x)                  x     where(x > 0,g,where(x < 0,-g,0))              where(x > 0,t,where(x < 0,-t,0))
        relu(x)                 x     where(x > 0,g,0)                              where(x > 0,t,0)
        exp(x)                  x     g * y                                         t * y
        log(x)                  x     g / x                                         t / x
        sqrt(x)                 x     g * (0.5 / y)                                 t * (0.5 / y)
        tanh(x)                 x     g * (1 - (y * y))                             t * (1 - (y * y))
        sigmoid(x)              x     g * (y * (1 - y))                             t * (y * (1 - y))
        sin(x)                  x     g * cos(x)                                    t * cos(x)
        cos(x)                  x     -(g * sin(x))                                 -(t * sin(x))
        lgamma(x)               x     g * digamma(x)                                t * digamma(x)
        if x1 then x2 else x3   x2    if x1 then g else broadcast([2],0)            if x1 then t else broadcast([2],0)
        if x1 then x2 else x3   x3    if x1 then broadcast([2],0) else g            if x1 then broadcast([2],0) else t
        where(x1,x2,x3)         x2    where(x1,g,0)                                 where(x1,t,0)
        where(x1,x2,x3)         x3    where(x1,0,g)                                 where(x1,0,t)
        where(x1,x2,x3)         x2    reduce([3],where(x1,g,0))                     broadcast([2,3],where(x1,t,0))
        where(x1,x2,x3)         x3    where(x1,0,g)                                 where(x1,0,t)
        matmul(x1,x2)           x1    matmul(g,transpose(x2))                       matmul(t,x2)
        matmul(x1,x2)           x2    matmul(transpose(x1),g)                       matmul(x1,t)
        matmul(x1,x2)           x1    outer(g,x2)                                   matmul(t,x2)
        matmul(x1,x2)           x2    matmul(transpose(x1),g)                       matmul(x1,t)
        matmul(x1,x2)           x1    matmul(x2,g)                                  matmul(t,x2)
        matmul(x1,x2)           x2    outer(x1,g)                                   matmul(x1,t)
        matmul(x1,x2)           x1    g * x2                                        matmul(t,x2)
        matmul(x1,x2)           x2    g * x1                                        matmul(x1,t)
        outer(x1,x2)            x1    matmul(g,x2)                                  outer(t,x2)
        outer(x1,x2)            x2    matmul(x1,g)                                  outer(x1,t)
        conv2d(x1,x2)           x1    conv2d_dx(x2,g)                               conv2d(t,x2)
        conv2d(x1,x2)           x2    conv2d_dk(x1,g)                               conv2d(x1,t)
        conv2d_dx(x1,x2)        x1    conv2d_dk(g,x2)                               conv2d_dx(t,x2)
        conv2d_dx(x1,x2)        x2    conv2d(g,x1)                                  conv2d_dx(x1,t)
        conv2d_dk(x1,x2)        x1    conv2d_dx(g,x2)                               conv2d_dk(t,x2)
        conv2d_dk(x1,x2)        x2    conv2d(x1,g)                                  conv2d_dk(x1,t)
        concat(x1,x2)           x1    slice(0,2,g)                                  pad(0,5,t)
        concat(x1,x2)           x2    slice(2,5,g)                                  pad(2,5,t)
        stack(x1,x2)            x1    g[0]                                          pad(0,2,reshape([1,3],t))
        stack(x1,x2)            x2    g[1]                                          pad(1,2,reshape([1,3],t))
        x[1]                    x     pad(1,2,reshape([1,3],g))                     t[1]
        x1[x2]                  x1    place(2,x2,g)                                 t[x2]
        place(2,x1,x2)          x2    g[x1]                                         place(2,x1,t)
        slice(1,3,x)            x     pad(1,4,g)                                    slice(1,3,t)
        pad(1,4,x)              x     slice(1,3,g)                                  pad(1,4,t)
        reshape([6],x)          x     reshape([2,3],g)                              reshape([6],t)
        transpose(x)            x     transpose(g)                                  transpose(t)
        spread(1,3,x)           x     sum(g,1)                                      spread(1,3,t)
        broadcast([2,3],x)      x     reduce([3],g)                                 broadcast([2,3],t)
        reduce([3],x)           x     broadcast([2,3],g)                            reduce([3],t)
        sum_to(x1,x2)           x1    broadcast([2,3],g)                            reduce([3],t)
        unfold(0,3,2,x)         x     fold(0,2,6,g)                                 unfold(0,3,2,t)
        fold(0,2,6,x)           x     unfold(0,3,2,g)                               fold(0,2,6,t)
        sum(x)                  x     broadcast([2,3],g)                            sum(t)
        sum(x,0)                x     spread(0,2,g)                                 sum(t,0)
        mean(x)                 x     broadcast([2,3],g / 6)                        mean(t)
        mean(x,1)               x     spread(1,3,g / 3)                             mean(t,1)
        max(x)                  x     where(max_mask(x) > 0,broadcast([2,3],g),0)   sum(where(max_mask(x) > 0,t,0))
        max(x,1)                x     where(max_mask(x,1) > 0,spread(1,3,g),0)      sum(where(max_mask(x,1) > 0,t,0),1)
        softmax(x)              x     y * (g - spread(1,3,sum(y * g,1)))            y * (t - spread(1,3,sum(y * t,1)))
    "]].assert_eq(&lines);
}

/// One line for each operand: the call, the operand, V and T.
fn derivatives(op: &Op, shapes: &[Shape]) -> String {
    let result = op.shape(&shapes.iter().collect::<Vec<_>>()).expect("these shapes fit");
    let name = |index: usize| if shapes.len() == 1 { "x".to_owned() } else { format!("x{}", index + 1) };
    let operands: Vec<Formula> =
        shapes.iter().enumerate().map(|(index, shape)| Formula::name(&name(index), shape)).collect();
    let y = Formula::name("y", &result);
    let site = Site { operands: &operands, result: &y, shapes, result_shape: &result };
    let lines = (0..shapes.len()).filter(|index| op.is_differentiable_in(*index)).map(|index| {
        let backward = op.vjp(index, &site, &Formula::name("g", &result), &mut Text).expect("differentiable");
        let forward =
            op.jvp(index, &site, &Formula::name("t", &shapes[index]), &mut Text).expect("differentiable");
        assert_eq!((&backward.shape, &forward.shape), (&shapes[index], &result), "{op:?}");
        let call = written(op, &operands);
        format!("{call:<24}{:<6}{:<46}{}\n", name(index), backward.text, forward.text)
    });
    lines.collect()
}

/// Prints formulas in the notation of the language.
struct Text;

#[derive(Clone)]
struct Formula {
    text: String,
    /// Whether it needs parentheses as an operand.
    is_compound: bool,
    shape: Shape,
}

impl Formula {
    fn name(text: &str, shape: &Shape) -> Formula {
        Formula { text: text.to_owned(), is_compound: false, shape: shape.clone() }
    }

    fn operand(&self) -> String {
        if self.is_compound { format!("({})", self.text) } else { self.text.clone() }
    }
}

impl Algebra for Text {
    type Value = Formula;

    fn apply(&mut self, op: Op, operands: &[Formula]) -> Formula {
        let shapes: Vec<&Shape> = operands.iter().map(|operand| &operand.shape).collect();
        let shape = op.shape(&shapes).unwrap_or_else(|error| panic!("{op:?}: {error}"));
        let is_compound = op == Op::If || !op.name().starts_with(char::is_alphabetic);
        Formula { text: written(&op, operands), is_compound, shape }
    }

    fn constant(&mut self, value: f64) -> Formula {
        Formula::name(&value.to_string(), &Shape::scalar())
    }

    fn shape(&self, value: &Formula) -> Shape {
        value.shape.clone()
    }
}

fn written(op: &Op, operands: &[Formula]) -> String {
    let operand = |index: usize| operands[index].operand();
    match op {
        Op::If => format!("if {} then {} else {}", operand(0), operand(1), operand(2)),
        Op::Index(row) => format!("{}[{row}]", operand(0)),
        Op::Row => format!("{}[{}]", operand(0), operands[1].text),
        Op::Neg => format!("-{}", operand(0)),
        _ if !op.name().starts_with(char::is_alphabetic) => {
            format!("{} {} {}", operand(0), op.name(), operand(1))
        }
        _ => {
            let operands = operands.iter().map(|operand| operand.text.clone());
            let statics = op.statics().into_iter().map(|argument| match argument {
                Static::Int(n) => n.to_string(),
                Static::Num(x) => x.to_string(),
                Static::List(sizes) => format!("{sizes:?}").replace(' ', ""),
            });
            let is_axis = matches!(op, Op::Sum(_) | Op::Mean(_) | Op::Max(_) | Op::MaxMask(_));
            let arguments: Vec<String> =
                if is_axis { operands.chain(statics).collect() } else { statics.chain(operands).collect() };
            format!("{}({})", op.name(), arguments.join(","))
        }
    }
}
