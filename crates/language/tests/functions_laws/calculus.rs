//! L5, L7, L13, L14: rules of the calculus.

use eddy_tests::law::{Verdict, law};

use crate::generate::{Style, expression, scalar_function, vector_function};
use crate::harness::{POINT, is_moderate, lines, near, numbers, parsed};

const DULL: &str = "nothing but zeros, or large numbers";

/// L5.
#[test]
fn both_modes_have_the_same_jacobian() {
    law("functions: L5", 60, &numbers(), |numbers| {
        let f = vector_function("f", numbers, Style::default());
        let evals = ["jacobian_forward", "jacobian_reverse", "jacobian"];
        let found = lines(&f, &evals.map(|operator| format!("{operator}(f, {POINT})")))?;
        for other in &found[1..] {
            near("modes", &found[0], other, 1e-9).map_err(|error| format!("{error}\n{f}"))?;
        }
        Ok(Verdict::of(is_moderate(&found[0]), DULL))
    });
}

/// L7.
#[test]
fn the_chain_rule() {
    law("functions: L7", 60, &(numbers(), numbers()), |(inner, outer)| {
        let f = vector_function("f", inner, Style::default());
        let g = scalar_function("g", outer, Style::default());
        let text = format!(
            "{f}{g}fn h(z: num [3]) -> num = g(z[1], z);\nfn k(x: num) -> num [3] = f(x, [x, 0.5, -x]);\n"
        );
        let found = lines(
            &text,
            &[
                "jvp(\\z. h(k(z)), 0.625, 1.0)".to_string(),
                "jvp(h, k(0.625), jvp(k, 0.625, 1.0).1)".to_string(),
                "let y = vjp(h, k(0.625), 1.0) in (y.0, vjp(k, 0.625, y.1).1)".to_string(),
            ],
        )?;
        for other in &found[1..] {
            near("chain rule", &found[0], other, 1e-9).map_err(|error| format!("{error}\n{text}"))?;
        }
        Ok(Verdict::of(is_moderate(&found[0]), DULL))
    });
}

/// L13.
#[test]
fn exact_custom_derivatives_change_nothing() {
    law("functions: L13", 40, &(numbers(), numbers()), |(inner, outer)| {
        let f = scalar_function("f", inner, Style::default());
        let customs = [
            "fn adj_c(x: num, v: num [3], dy: num) -> (num, num, num [3]) =
               let r = vjp(f, (x, v), dy) in (r.0, r.1.0, r.1.1);\n",
            "fn tan_c(x: num, v: num [3], tx: num, tv: num [3]) -> (num, num) = jvp(f, (x, v), (tx, tv));\n",
        ];
        let (declared, around) = expression("around", outer, &["x", "inner"], Style::default());
        let mut verdict = Verdict::Vacuous(DULL);
        for custom in customs {
            let text = format!(
                "{f}fn c(x: num, v: num [3]) -> num = f(x, v);\n{custom}{declared}
                 fn plain(x: num, v: num [3]) -> num = let inner = f(x, v) in x * inner + {around};
                 fn special(x: num, v: num [3]) -> num = let inner = c(x, v) in x * inner + {around};\n"
            );
            let of = |name: &str| {
                [
                    format!("{name}(0.625, [0.375, -0.75, 1.25])"),
                    format!("grad({name}, {POINT})"),
                    format!("jvp({name}, {POINT}, (1.0, [0.5, -0.25, 2.0]))"),
                    format!("grad(\\x. grad(\\y. {name}(y, [y, x, 0.5]), x), 0.625)"),
                ]
            };
            let found = lines(&text, &[of("plain"), of("special")].concat())?;
            for at in 0..4 {
                near("custom", &found[at], &found[at + 4], 1e-9)
                    .map_err(|error| format!("{error}\n{text}"))?;
            }
            if is_moderate(&found[1]) {
                verdict = Verdict::Holds;
            }
        }
        Ok(verdict)
    });
}

#[test]
fn wrong_custom_derivatives_change_both_modes_alike() {
    law("functions: L13, wrong", 40, &numbers(), |numbers| {
        let f = scalar_function("f", numbers, Style::default());
        let customs = [
            "fn adj_f(x: num, v: num [3], dy: num) -> (num, num, num [3]) = (0.0, 3.0 * dy, v * dy);\n",
            "fn tan_f(x: num, v: num [3], tx: num, tv: num [3]) -> (num, num) = (0.0, 3.0 * tx + sum(v * tv));\n",
        ];
        for custom in customs {
            let text = format!("{f}{custom}fn g(x: num, v: num [3]) -> num = 2.0 * f(x, v);\n");
            let point = "(0.625, [0.375, -0.75, 1.25])";
            let found = lines(
                &text,
                &[
                    format!("grad(g, {point})"),
                    format!("jvp(g, {point}, (1.0, [0.0, 0.0, 0.0])).1"),
                    format!("jvp(g, {point}, (0.0, [1.0, 1.0, 1.0])).1"),
                ],
            )?;
            near("gradient", &found[0], "[6,[0.75,-1.5,2.5]]", 1e-12)
                .map_err(|error| format!("{error}\n{text}"))?;
            near("tangents", &found[1], "6", 1e-12).map_err(|error| format!("{error}\n{text}"))?;
            near("tangents", &found[2], "1.75", 1e-12).map_err(|error| format!("{error}\n{text}"))?;
        }
        Ok(Verdict::Holds)
    });
}

/// L14: an operator inside of a function that is differentiated, at a point that depends on the variable of
/// the outer one.
#[test]
fn nested_operators_agree_with_differences() {
    law("functions: L14", 40, &(numbers(), numbers(), numbers()), |(inner, point, outer)| {
        let (first, body) = expression("inner", inner, &["x", "y"], Style::default());
        let body = format!("x * y * y + {body}");
        let (second, at) = expression("point", point, &["x"], Style::default());
        let (third, around) = expression("outer", outer, &["x", "d"], Style::default());
        let declared = format!("{first}{second}{third}");
        let operators = ["grad(\\y. BODY, AT)", "jvp(\\y. BODY, AT, 1.0).1", "vjp(\\y. BODY, AT, 1.0).1"];
        let mut verdict = Verdict::Vacuous("no difference, or a kink is near");
        let mut all = Vec::new();
        for operator in operators {
            let derivative = operator.replace("BODY", &body).replace("AT", &at);
            let text = format!(
                "{declared}fn h(x: num, v: num [3]) -> num = let d = {derivative} in sin(x) * d + {around};\n"
            );
            let of = |x: &str| format!("h({x}, [0.375, -0.75, 1.25])");
            let found = lines(
                &text,
                &[
                    format!("grad(\\x. {}, 0.625)", of("x")),
                    format!("jvp(\\x. {}, 0.625, 1.0).1", of("x")),
                    format!("({} - {}) / 2e-6", of("0.625 + 1e-6"), of("0.625 - 1e-6")),
                    format!("({} - {}) / 4e-6", of("0.625 + 2e-6"), of("0.625 - 2e-6")),
                ],
            )?;
            near("modes", &found[0], &found[1], 1e-9).map_err(|error| format!("{error}\n{text}"))?;
            let is_smooth = near("", &found[2], &found[3], 1e-5).is_ok();
            if is_smooth && is_moderate(&found[2]) {
                near("differences", &found[0], &found[2], 1e-4)
                    .map_err(|error| format!("{error}\n{text}"))?;
                verdict = Verdict::Holds;
            }
            all.push(found[0].clone());
        }
        for other in &all[1..] {
            near("operators", &all[0], other, 1e-9)?;
        }
        Ok(verdict)
    });
    let text = "";
    let found = lines(text, &["grad(\\x. x * grad(\\y. x + y, 1.0), 0.75)".to_string()]);
    assert_eq!(found.map(|lines| parsed(&lines[0])), Ok(vec![1.0]));
}
