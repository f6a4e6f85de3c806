//! Small bodies: the code of their adjoints, and comparisons of all their derivatives.

mod loops;
mod operations;
mod recursion;

use eddy_tensor::Value;
use expect_test::Expect;

use crate::harness::{ALL, Bodies, Probe, close};

/// Values, both derivatives, differences, and all mixtures of second order.
#[track_caller]
fn check(text: &str, point: &[Value]) {
    let compare = || -> Result<(), String> {
        let bodies = Bodies::new(text, &ALL)?;
        let y = bodies.run("f", point).map_err(|error| error.to_string())?;
        let probe = Probe::new(point, y);
        let tangent = probe.first_order(&bodies)?.ok_or("a derivative is not finite")?;
        let difference = probe.difference(&bodies, 1e-6).ok_or("no difference")?;
        for (difference, tangent) in difference.iter().zip(&tangent) {
            close("difference", *difference, *tangent, 1e-5)?;
        }
        probe.second_order(&bodies)
    };
    compare().unwrap_or_else(|error| panic!("{error}"));
}

/// The bodies that the adjoint needs.
#[track_caller]
fn check_code(text: &str, expected: Expect) {
    let bodies = Bodies::new(text, &["adj"]).unwrap_or_else(|error| panic!("{error}"));
    let n_given = text.matches("body ").count() + 1;
    let shown: Vec<String> =
        bodies.module.bodies[n_given..].iter().map(|body| bodies.module.show(body)).collect();
    expected.assert_eq(&shown.concat());
}
