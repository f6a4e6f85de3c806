//! L8, L9, L10, L15: texts that must mean the same.

use eddy_tests::law::{Trial, Verdict, law};

use crate::generate::{Lambdas, Loops, Style, scalar_function, vector_function};
use crate::harness::{POINT, is_moderate, lines, near, numbers};

const DULL: &str = "nothing but zeros, or large numbers";
const SAME: &str = "both texts are the same";

/// Value, gradient and tangent of `f` and of `g`: the values are equal to the bit, the derivatives near.
fn same_function(f: &str, g: &str) -> Trial {
    let evals = |name: &str| {
        let direction = "(1.0, [0.5, -0.25, 2.0])";
        [
            format!("{name}(0.625, [0.375, -0.75, 1.25])"),
            format!("grad({name}, {POINT})"),
            format!("jvp({name}, {POINT}, {direction})"),
        ]
    };
    let text = format!("{f}{g}");
    let found = lines(&text, &[evals("f"), evals("g")].concat())?;
    if found[0] != found[3] {
        return Err(format!("values:\n  {}\n  {}\n{text}", found[0], found[3]));
    }
    if !is_moderate(&found[1]) || !is_moderate(&found[2]) {
        return Ok(Verdict::Vacuous(DULL));
    }
    for at in [1, 2] {
        near("derivatives", &found[at], &found[at + 3], 1e-9).map_err(|error| format!("{error}\n{text}"))?;
    }
    Ok(Verdict::Holds)
}

fn same_in_style(name: &str, style: Style) {
    law(name, 60, &numbers(), |numbers| {
        let f = scalar_function("f", numbers, Style::default());
        let g = scalar_function("g", numbers, style);
        if f.replace("fn f", "fn g").replace("f_", "g_") == g {
            return Ok(Verdict::Vacuous(SAME));
        }
        same_function(&f, &g)
    });
}

/// L8.
#[test]
fn other_names_change_nothing() {
    same_in_style("functions: L8, renaming", Style { renamed: true, ..Style::default() });
}

#[test]
fn let_changes_nothing() {
    same_in_style("functions: L8, let", Style { bound: true, ..Style::default() });
}

#[test]
fn inlining_naming_lambdas_and_loops_change_nothing() {
    for lambdas in [Lambdas::BoundByLet, Lambdas::LocalFunctions] {
        for loops in [Loops::While, Loops::TailRecursion] {
            let style = Style { inlined: true, records: true, lambdas, loops, ..Style::default() };
            same_in_style("functions: L8, L9, L15", style);
        }
    }
}

/// L10.
#[test]
fn scans_end_where_folds_do() {
    law("functions: L10", 60, &numbers(), |numbers| {
        let step = scalar_function("step", numbers, Style::default());
        let text = format!(
            "{step}fn body(s: num, i: int) -> num = sin(step(s + num(i), [s, 0.5, num(i)]));
             fn last(x: num, n: int) -> num = (scan s = x for i < n do body(s, i))[n - 1];
             fn folded(x: num, n: int) -> num = fold s = x for i < n do body(s, i);\n"
        );
        let both = |of: &str| format!("({of}, grad(\\x. {of}, 0.625), jvp(\\x. {of}, 0.625, 2.0))");
        let at = |of: &str| format!("let x = 0.625 in {}", both(of));
        let found = lines(&text, &[at("last(x, 4)"), at("folded(x, 4)"), at("folded(x, 0)")])?;
        near("scan and fold", &found[0], &found[1], 1e-9).map_err(|error| format!("{error}\n{text}"))?;
        near("no iterations", &found[2], "[0.625,1,[0.625,2]]", 0.0)?;
        Ok(Verdict::of(is_moderate(&found[0]), DULL))
    });
}

/// L15.
#[test]
fn the_order_and_grouping_of_parameters_do_not_matter() {
    law("functions: L15", 60, &numbers(), |numbers| {
        let f = vector_function("f", numbers, Style::default());
        let text = format!(
            "{f}fn swapped(v: num [3], unused: int, x: num) -> num [3] = f(x, v);
             fn tupled(p: (num, num [3])) -> num [3] = f(p.0, p.1);
             fn labelled(r: {{ a: num, b: num [3] }}) -> num [3] = f(r.a, r.b);\n"
        );
        let seed = "[1.0, -0.5, 0.25]";
        let found = lines(
            &text,
            &[
                format!("vjp(f, {POINT}, {seed})"),
                format!(
                    "let k: int = 7 in let r = vjp(swapped, ([0.375, -0.75, 1.25], k, 0.625), {seed}) in (r.0, r.1.2, r.1.0)"
                ),
                format!("vjp(tupled, {POINT}, {seed})"),
                format!(
                    "let r = vjp(labelled, {{ a = 0.625, b = [0.375, -0.75, 1.25] }}, {seed}) in (r.0, r.1.a, r.1.b)"
                ),
            ],
        )?;
        for other in &found[1..] {
            near("groupings", &found[0], other, 1e-12).map_err(|error| format!("{error}\n{text}"))?;
        }
        Ok(Verdict::of(is_moderate(&found[0]), DULL))
    });
}
