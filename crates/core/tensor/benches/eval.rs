//! Measures evaluation of scalars, of which the simulator needs many millions per second, and of a few
//! tensors.
//!
//! `cargo bench -p eddy-tensor` prints nanoseconds for each, the best of several rounds.

#![expect(clippy::disallowed_methods, reason = "a benchmark measures time")]

use std::hint::black_box;
use std::time::Instant;

use eddy_tensor::init::SplitMix64;
use eddy_tensor::{Initialiser, Op, Scalar, Shape, Value};

const ROUNDS: usize = 7;

fn main() {
    measure_chain();
    let (x, y) = (Value::Num(1.5), Value::Num(2.5));
    let (i, j) = (Value::Int(12), Value::Int(5));
    let truth = Value::Bool(true);
    measure("scalar +", &Op::Add, &[&x, &y]);
    measure("scalar *", &Op::Mul, &[&x, &y]);
    measure("scalar <", &Op::Lt, &[&x, &y]);
    measure("scalar + of int", &Op::Add, &[&i, &j]);
    measure("scalar div", &Op::IntDiv, &[&i, &j]);
    measure("scalar if", &Op::If, &[&truth, &x, &y]);
    measure("scalar where", &Op::Where, &[&truth, &x, &y]);
    measure("scalar and", &Op::And, &[&truth, &truth]);
    measure("scalar tanh", &Op::Tanh, &[&x]);
    measure("scalar exp", &Op::Exp, &[&x]);
    measure("scalar log", &Op::Log, &[&x]);
    measure("scalar pow", &Op::Pow, &[&x, &y]);
    measure("scalar relu", &Op::Relu, &[&x]);
    measure("[4] + [4]", &Op::Add, &[&tensor(&[4]), &tensor(&[4])]);
    let row = tensor(&[1000]);
    measure("[1000] + [1000]", &Op::Add, &[&row, &row]);
    measure("[1000] + []", &Op::Add, &[&row, &x]);
    measure("[10,1000] + [10,1]", &Op::Add, &[&tensor(&[10, 1000]), &tensor(&[10, 1])]);
    measure("tanh [1000]", &Op::Tanh, &[&row]);
    measure("exp [1000]", &Op::Exp, &[&row]);
    measure("sin [1000]", &Op::Sin, &[&row]);
    measure("log [1000]", &Op::Log, &[&row]);
    measure("pow [1000]", &Op::Pow, &[&row, &x]);
    measure("softmax [10,100]", &Op::Softmax, &[&tensor(&[10, 100])]);
    measure("sum [1000]", &Op::Sum(None), &[&row]);
    let matrix = tensor(&[256, 256]);
    measure("matmul [256,256]·[256,256]", &Op::Matmul, &[&matrix, &matrix]);
    measure("matmul [256,256]·[256]", &Op::Matmul, &[&matrix, &tensor(&[256])]);
    measure("matmul [64,96]·[96]", &Op::Matmul, &[&tensor(&[64, 96]), &tensor(&[96])]);
    measure("matmul [96]·[96,64]", &Op::Matmul, &[&tensor(&[96]), &tensor(&[96, 64])]);
    measure("matmul [4,4]·[4]", &Op::Matmul, &[&tensor(&[4, 4]), &tensor(&[4])]);
    let (image, kernel) = (tensor(&[28, 28, 8]), tensor(&[3, 3, 8, 16]));
    measure("conv2d [28,28,8]·[3,3,8,16]", &Op::Conv2d, &[&image, &kernel]);
    let cotangent = tensor(&[26, 26, 16]);
    measure("conv2d_dx of that", &Op::Conv2dDx, &[&kernel, &cotangent]);
    measure("conv2d_dk of that", &Op::Conv2dDk, &[&image, &cotangent]);
}

/// A loop as in a simulator: different operations read earlier cells and write the next one.
#[expect(clippy::print_stdout, clippy::cast_precision_loss, reason = "a benchmark prints how long it took")]
fn measure_chain() {
    const N: usize = 1000;
    let ops = [Op::Add, Op::Mul, Op::Relu, Op::Sub, Op::Maximum, Op::Neg, Op::Minimum, Op::Abs];
    let program: Vec<&Op> = (0..N).map(|i| &ops[(i * 5 + i / 7) % ops.len()]).collect();
    let mut cells = vec![Value::Num(0.5); N + 2];
    let best = (0..500)
        .map(|_| {
            let start = Instant::now();
            for (i, op) in program.iter().enumerate() {
                let operands = [&cells[i], &cells[i + 1]];
                let n_operands = if matches!(op, Op::Relu | Op::Neg | Op::Abs) { 1 } else { 2 };
                cells[i + 2] = op.eval(&operands[..n_operands]).expect("operands fit");
            }
            start.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min);
    black_box(&cells);
    println!("{:<30} {:>12.1} ns", "each of 1000 scalar operations", best / N as f64 * 1e9);
}

fn tensor(sizes: &[usize]) -> Value {
    let random = SplitMix64::new("bench", 0);
    Initialiser::GlorotUniform.value(Scalar::Num, &Shape::new(sizes), random).expect("not too large")
}

/// `black_box` hides the operation from the compiler, so each call goes through the table.
#[expect(clippy::print_stdout, clippy::cast_precision_loss, reason = "a benchmark prints how long it took")]
fn measure(name: &str, op: &Op, operands: &[&Value]) {
    let n_calls = calls_in(op, operands, 0.02);
    let best = (0..ROUNDS).map(|_| time(op, operands, n_calls)).fold(f64::INFINITY, f64::min);
    println!("{name:<30} {:>12.1} ns", best / n_calls as f64 * 1e9);
}

/// The number of calls that take this many seconds.
fn calls_in(op: &Op, operands: &[&Value], seconds: f64) -> usize {
    let mut n_calls = 1;
    while time(op, operands, n_calls) < seconds {
        n_calls *= 2;
    }
    n_calls
}

fn time(op: &Op, operands: &[&Value], n_calls: usize) -> f64 {
    let start = Instant::now();
    for _ in 0..n_calls {
        black_box(black_box(op).eval(black_box(operands))).expect("operands fit");
    }
    start.elapsed().as_secs_f64()
}
