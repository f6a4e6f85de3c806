//! Single precision uses the same kernels, so results agree with double precision up to rounding.

use eddy_tensor::{Data, Scalar, Value};

use crate::cases::{Case, eval, numbers};
use crate::harness::law;

#[test]
fn single_precision_is_near_double_precision() {
    law(
        "single_precision_is_near_double_precision",
        60,
        |_| true,
        |case| {
            let wide = case.result();
            let operands: Vec<Value> = case.operands.iter().map(Value::to_num32).collect();
            let narrow = Case { op: case.op.clone(), operands }.result();
            let is_made_of_num = case.operands.iter().any(|operand| operand.scalar() == Scalar::Num);
            if wide.scalar() == Scalar::Num && is_made_of_num && !is_single(&narrow) {
                return Err(format!("{narrow} is not in single precision"));
            }
            if wide.scalar() != Scalar::Num {
                return if narrow == wide { Ok(()) } else { Err(format!("{narrow} is not {wide}")) };
            }
            let (narrow, wide) = (numbers(&narrow.to_num64()), numbers(&wide));
            // An f32 has 24 bits; the sums and powers here lose a few.
            let far = narrow.iter().zip(&wide).find(|(x, y)| (*x - *y).abs() > 1e-5 * (1.0 + y.abs()));
            far.map_or(Ok(()), |(x, y)| Err(format!("{x} is not near {y}")))
        },
    );
}

fn is_single(value: &Value) -> bool {
    match value {
        Value::Num32(_) => true,
        Value::Tensor(tensor) => matches!(tensor.data(), Data::Num32(_)),
        _ => false,
    }
}

#[test]
fn single_precision_rounds_after_each_operation() {
    use eddy_tensor::Op;
    let third = eval(&Op::Div, &[&Value::Num32(1.0), &Value::Num32(3.0)]);
    assert_eq!(third, Value::Num32(1.0 / 3.0));
    assert_ne!(third.to_num64(), eval(&Op::Div, &[&Value::Num(1.0), &Value::Num(3.0)]));
}
