//! Compares each operation in C with the operation table, bit for bit: all operations, on generated operands,
//! at `-O0` and `-O3`.

#[allow(dead_code, clippy::pedantic)]
#[path = "../../../../core/tensor/tests/laws/cases.rs"]
mod cases;

use std::fmt::Write;
use std::fs;
use std::process::Command;

use eddy_flow::VarId;
use eddy_tensor::slices::stack;
use eddy_tensor::{Each, Op, Value};

use eddy_imp::{Place, Precision};

use super::memory::Scratch;
use super::{Code, Group, Operand, Right, Statement, lower};
use crate::c;
use crate::precision::{element_type, elements};
use crate::runtime;
use crate::view::{Root, View};

/// A C function with operands as arrays, which computes the result into `out`.
fn function(number: usize, op: &Op, operands: &[Value], result: &Value, precision: Precision) -> String {
    let mut text = String::new();
    let mut views = Vec::new();
    for (index, operand) in operands.iter().enumerate() {
        let (name, ty) = (format!("x{number}_{index}"), operand.ty());
        let elements: Vec<String> =
            elements(operand).iter().map(|one| c::expression(one, precision)).collect();
        let elements = if elements.is_empty() { "0".to_string() } else { elements.join(", ") };
        let _ = writeln!(
            text,
            "__attribute__((unused)) static const {} {name}[] = {{ {elements} }};",
            c::c_type(element_type(ty.scalar), precision)
        );
        let place = Place::local(name);
        let root = if ty.shape.is_scalar() { Root::One(place.index(0).into()) } else { Root::Memory(place) };
        views.push(Operand::Seen(View::whole(root, &ty)));
    }
    let var = VarId::new(0);
    let right = match (op, views.as_slice()) {
        (Op::If, [c, x, y]) => Right::Choice(c.clone(), x.clone(), y.clone()),
        _ => Right::Apply(op.clone(), views),
    };
    let ty = result.ty();
    let out = Place::local("out");
    let to = if ty.shape.is_scalar() { out.index(0) } else { out };
    let statement = Statement { var, ty: ty.clone(), right, site: 7, comment: format!("{op:?}") };
    let code = Code {
        groups: vec![Group { conditions: Vec::new(), statements: vec![statement] }],
        exports: [(var, vec![to])].into_iter().collect(),
        ..Code::default()
    };
    let mut scratch = Scratch::default();
    let lowered = lower(&code, &|_| "result".to_string(), &mut scratch);
    assert!(scratch.pieces.is_empty(), "one operation needs no memory");
    let c_type = c::c_type(element_type(ty.scalar), precision);
    let size = result.n_elements().max(1);
    let _ = writeln!(
        text,
        "static void case{number}(void) {{\n  static {c_type} out[{size}];\n  int32_t error = 0;"
    );
    text.push_str(&c::statements(&lowered.block, precision));
    let _ = writeln!(text, "  if (error) {{ printf(\"error\\n\"); return; }}");
    let _ = writeln!(text, "  show(out, sizeof(out[0]), {});\n}}", result.n_elements());
    text
}

/// The bytes of the elements, as the C program prints them.
fn bits(value: &Value) -> String {
    let mut text = String::new();
    for element in value.elements() {
        let bytes: Vec<u8> = match element {
            Value::Bool(truth) => vec![u8::from(truth)],
            Value::Int(x) => x.to_le_bytes().to_vec(),
            Value::Num(x) => if x.is_nan() { f64::NAN } else { x }.to_le_bytes().to_vec(),
            Value::Num32(x) => if x.is_nan() { f32::NAN } else { x }.to_le_bytes().to_vec(),
            Value::Tensor(_) => unreachable!("an element is a scalar"),
        };
        for byte in bytes {
            let _ = write!(text, "{byte:02x}");
        }
        text.push(' ');
    }
    text
}

const MAIN: &str = "
#include <stdio.h>
static void show(const void *values, size_t size, size_t n) {
  const unsigned char *bytes = values;
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < size; k++) printf(\"%02x\", bytes[i * size + k]);
    printf(\" \");
  }
  printf(\"\\n\");
}
";

fn choices(seed: u16) -> Vec<u16> {
    (0..64_u16).map(|k| (seed.wrapping_mul(7919) ^ k.wrapping_mul(40503)).wrapping_mul(2654)).collect()
}

fn table_cases() -> Vec<(Op, Vec<Value>)> {
    let seeds = || (0..12_u16).map(choices);
    let cases = Op::all()
        .flat_map(|op| seeds().map(move |choices| cases::case(op, &mut cases::Choices::new(&choices))));
    cases.map(|case| (case.op, case.operands)).collect()
}

/// Operands for the operations on each stream of a batch: all differ between streams, or only one does.
fn stream_cases() -> Vec<(Op, Vec<Value>)> {
    let ops = [
        Op::Matmul,
        Op::Transpose,
        Op::Conv2d,
        Op::Conv2dDx,
        Op::Conv2dDk,
        Op::Argmax,
        Op::Onehot(0),
        Op::Row,
        Op::Place(0),
    ];
    let mut all = Vec::new();
    for (op, n) in ops.iter().flat_map(|op| [1, 3, 8, 19].map(|n| (op, n))) {
        for seed in 0..4 {
            let case = cases::case(op, &mut cases::Choices::new(&choices(seed)));
            let masks: &[&[bool]] = match case.operands.len() {
                1 => &[&[true]],
                _ => &[&[true, true], &[true, false], &[false, true]],
            };
            let is_wide = masks[usize::from(seed) % masks.len()];
            let operands = case.operands.iter().zip(is_wide);
            let operands =
                operands.map(
                    |(operand, is_wide)| {
                        if *is_wide { streams(&case.op, operand, n) } else { operand.clone() }
                    },
                );
            all.push((Op::Each(Each::new(case.op.clone(), is_wide)), operands.collect()));
        }
    }
    all
}

/// An operand in several streams: numbers that differ, indices in range.
fn streams(op: &Op, operand: &Value, n: i64) -> Value {
    let one = |stream: i64| match (op, operand) {
        (Op::Onehot(size), Value::Int(at)) => {
            Value::Int((at + stream) % i64::try_from(*size).expect("it is small"))
        }
        // There is a row 0 whatever the shape.
        (Op::Row | Op::Place(_), Value::Int(at)) => Value::Int(if stream % 2 == 0 { *at } else { 0 }),
        #[allow(clippy::cast_precision_loss)] // there are few streams
        _ => {
            Op::Mul.eval(&[operand, &Value::Num(1.0 - 0.37 * stream as f64)]).expect("numbers have a product")
        }
    };
    let values: Vec<Value> = (0..n).map(one).collect();
    stack(&values.iter().collect::<Vec<_>>())
}

#[test]
fn every_operation_has_the_bits_of_the_table() {
    Command::new("cc").arg("--version").output().expect("there is a C compiler");
    let folder = std::env::temp_dir().join(format!("eddy-lower-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("there is a place for temporary files");
    for precision in [Precision::Double, Precision::Single] {
        let (mut text, mut expected, mut all) = (String::new(), Vec::new(), Vec::new());
        text.push_str(&runtime::header(precision));
        text.push_str(MAIN);
        let mut number = 0;
        for (op, operands) in table_cases().into_iter().chain(stream_cases()) {
            let operands: Vec<Value> = match precision {
                Precision::Double => operands,
                Precision::Single => operands.iter().map(Value::to_num32).collect(),
            };
            let references: Vec<&Value> = operands.iter().collect();
            let result = op.eval(&references).expect("the case has a value");
            let result = if precision == Precision::Single { result.to_num32() } else { result };
            text.push_str(&function(number, &op, &operands, &result, precision));
            expected.push(bits(&result));
            all.push(format!("{op:?} of {operands:?}"));
            number += 1;
        }
        text.push_str("int main(void) {\n");
        for case in 0..number {
            let _ = writeln!(text, "  case{case}();");
        }
        text.push_str("  return 0;\n}\n");
        let source = folder.join("ops.c");
        fs::write(&source, &text).expect("it can be written");
        for flags in [
            &["-O0"][..],
            &["-O3", "-march=native"],
            &["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover"],
        ] {
            let program = folder.join("ops");
            let built = Command::new("cc")
                .args(["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror"])
                .args(["-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"])
                .args(flags)
                .arg("-o")
                .args([&program, &source])
                .arg("-lm")
                .output()
                .expect("the compiler can be started");
            let errors = String::from_utf8_lossy(&built.stderr);
            assert!(built.status.success(), "{}", errors.lines().take(30).collect::<Vec<_>>().join("\n"));
            let output = Command::new(&program).output().expect("the program can be started");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let output = String::from_utf8_lossy(&output.stdout).to_string();
            for ((found, expected), case) in output.lines().zip(&expected).zip(&all) {
                assert_eq!(found, expected, "{precision:?} {flags:?}: {case}");
            }
            assert_eq!(output.lines().count(), expected.len());
        }
    }
    let _ = fs::remove_dir_all(&folder);
}
