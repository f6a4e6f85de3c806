//! The derivative of each operation on reals, first and second, on all engines, against central differences.

use eddy_pullback::engine::Engine;
use eddy_pullback::primitive::{BINARY, UNARY};

use crate::harness::{accepted, answer, close, reals};

/// Truncation and rounding of second differences of smooth functions of size 1 are below the tolerance.
const STEP: f64 = 1e-4;
const TOLERANCE: f64 = 1e-5;

/// All operations are defined and curved around this point.
const POINT: [f64; 2] = [1.25, 0.75];

/// The numbers of a program, the same on all engines.
fn numbers(source: &str) -> Vec<f64> {
    let program = accepted(source).unwrap_or_else(|refused| panic!("{refused}"));
    let [reference, fast, translation] =
        [Engine::Reference, Engine::Fast, Engine::Translation].map(|engine| {
            let answer = answer(&program, engine).unwrap_or_else(|stopped| panic!("{stopped}: {source}"));
            reals(&answer.expect("it is a short program"))
        });
    assert!(close(&reference, &fast, 1e-12), "{reference:?} and {fast:?}: {source}");
    assert!(close(&reference, &translation, 1e-12), "{reference:?} and {translation:?}: {source}");
    reference
}

/// The derivatives of some numbers in both directions, by differences: the columns of a Jacobian.
fn differences(at: impl Fn([f64; 2]) -> Vec<f64>) -> Vec<f64> {
    let [a, b] = POINT;
    let columns = [[STEP, 0.0], [0.0, STEP]].map(|[da, db]| {
        let (forward, back) = (at([a + da, b + db]), at([a - da, b - db]));
        forward.iter().zip(back).map(|(f, b)| (f - b) / (2.0 * STEP)).collect::<Vec<_>>()
    });
    let n = columns[0].len();
    (0..n).flat_map(|row| columns.each_ref().map(|column| column[row])).collect()
}

/// Checks the derivatives of a function of a and b against differences.
#[track_caller]
fn check(body: &str) {
    let function = format!("prim h(a, b) = {body};\n");
    let [a, b] = POINT;
    let value = |[a, b]: [f64; 2]| numbers(&format!("{function}h <{a}, {b}>"));
    let gradient = |[a, b]: [f64; 2]| numbers(&format!("{function}grad h at <{a}, {b}>"));
    let found = gradient(POINT);
    assert!(close(&found, &differences(value), TOLERANCE), "{body}: {found:?}");
    assert!(found.iter().all(|slope| *slope != 0.0), "{body} is constant");
    let hessian = numbers(&format!("{function}jacobian (\\p:R^2. grad h at p) at <{a}, {b}>"));
    let expected = differences(gradient);
    assert!(close(&hessian, &expected, TOLERANCE), "{body}: {hessian:?} is not {expected:?}");
    // The forward derivative along a vector.
    let tangent = numbers(&format!("{function}(J h · <2, 3>) <{a}, {b}>"));
    assert!(close(&tangent, &[2.0 * found[0] + 3.0 * found[1]], 1e-12), "{body}: {tangent:?}");
}

#[test]
fn derivatives_of_functions_of_one_number_agree_with_differences() {
    for (name, _) in UNARY {
        check(&format!("{name}(a * b)"));
        // Below zero the logistic function has another formula.
        if name == "sigmoid" {
            check("sigmoid(0 - a * b)");
        }
    }
}

#[test]
fn derivatives_of_functions_of_two_numbers_agree_with_differences() {
    for (name, _) in BINARY {
        check(&format!("{name}(a * b, a + 2 * b)"));
    }
}

#[test]
fn derivatives_of_powers_agree_with_differences() {
    for exponent in 1..7 {
        check(&format!("(a * b)^{exponent} + (a + b)^0"));
    }
}
