//! The rules of calculus, as equations between programs.

use eddy_rd::denote::{denote, push_forward};
use eddy_rd::engine::{Engine, run};
use eddy_rd::outcome::{Limits, Outcome};
use eddy_rd::syntax::Term;

use crate::body::{Body, Parts, parts, value};
use crate::compare::{LAWS, Reports, Tolerance, same, show};
use crate::generate::{BINARY, EXPONENTS, Generator, Ty, UNARY};
use crate::harness::{LIMITS, Trial, Verdict, accepted, law};

fn reference(source: &str) -> Result<Outcome, String> {
    Ok(run(&accepted(source)?, Engine::Reference, LIMITS).outcome)
}

/// Two programs have the same outcome. Reports of undefined operations may differ, since the right one
/// evaluates terms twice.
fn equal(left: &str, right: &str) -> Trial {
    let twice = Limits { fuel: 2 * LIMITS.fuel + 1, ..LIMITS };
    let left_outcome = reference(left)?;
    if let Outcome::Diverged = left_outcome {
        return Ok(Verdict::Vacuous("out of fuel"));
    }
    let right_outcome = run(&accepted(right)?, Engine::Reference, twice).outcome;
    let verdict = same(&left_outcome, &right_outcome, LAWS, Reports::Kind)
        .map_err(|difference| format!("{difference}\n{left}\n{right}"))?;
    Ok(match left_outcome {
        Outcome::Value(_) => verdict,
        _ => Verdict::Vacuous("undefined"),
    })
}

#[test]
fn forward_mode_is_one_pass_of_dual_numbers() {
    law("forward mode", 500, sample_forward, |(body, tangent)| {
        let program = accepted(&forward(body, tangent))?;
        // The program is `let y = … in M.rd[0](y. y.rd[L](x. N))`.
        let Parts { y, body: inner, .. } = parts(&program);
        let Term::Rd { var, body: inner, .. } = program.terms.term(inner) else { unreachable!("see above") };
        let (outer, point, tangent) = (value(&body.outer)?, value(&body.point)?, value(tangent)?);
        let pushed = push_forward(&program.terms, &[(y, outer)], var, (&point, &tangent), inner, LIMITS.fuel);
        let found = run(&program, Engine::Reference, LIMITS).outcome;
        let tolerance = if pushed.is_exact { Tolerance::Exact } else { LAWS };
        same(&found, &pushed.outcome, tolerance, Reports::Whole)
    });
}

#[test]
fn forward_mode_from_reverse_mode_equation_6() {
    law("equation 6", 300, sample_forward, |(body, tangent)| {
        let result = body.result.show();
        let inner = body.rd("y'", &body.text);
        let reverse = format!("{tangent}.rd[zero[{result}]](y':{result}. {inner})");
        let (left, right) = (reference(&forward(body, tangent))?, reference(&body.within(&reverse))?);
        same(&left, &right, Tolerance::Exact, Reports::Whole)
    });
}

/// A body and a tangent for it.
fn sample_forward(generator: &mut Generator<'_>) -> (Body, String) {
    let body = Body::sample(generator, 2);
    let tangent = generator.value(&body.ty);
    (body, tangent)
}

fn forward(body: &Body, tangent: &str) -> String {
    body.within(&format!("{tangent}.fd[{}](x:{}. {})", body.point, body.ty.show(), body.text))
}

#[test]
fn the_derivative_is_linear_in_the_cotangent() {
    let sample = |generator: &mut Generator<'_>| {
        let body = Body::sample(generator, 1);
        let other = generator.value(&body.result);
        let (a, b) = (generator.value(&Ty::Real), generator.value(&Ty::Real));
        (body, other, a, b)
    };
    law("linearity", 400, sample, |(body, other, a, b)| {
        let w = &body.cotangent;
        let sum = body.rd(&format!("({a} * {w} + {b} * {other})"), &body.text);
        let (left, right) = (body.rd(w, &body.text), body.rd(other, &body.text));
        equal(&body.within(&sum), &body.within(&format!("{a} * {left} + {b} * {right}")))
    });
}

#[test]
fn chain_rule_equation_8() {
    let sample = |generator: &mut Generator<'_>| {
        let (t, s, u) = (generator.any_type(), generator.any_type(), generator.any_type());
        let (point, cotangent) = (generator.value(&t), generator.value(&u));
        let inner = generator.open_term(&[("x", &t)], 1, &s);
        let outer = generator.open_term(&[("x", &s)], 1, &u);
        let (t, s, u) = (t.show(), s.show(), u.show());
        let define = format!("let f1(x:{t}):{s} = {inner} in let g1(x:{s}):{u} = {outer} in ");
        let left = format!("{define}{cotangent}.rd[{point}](x. g1(f1(x)))");
        (left, format!("{define}({cotangent}.rd[f1({point})](g1)).rd[{point}](f1)"))
    };
    law("chain rule", 400, sample, |(left, right)| equal(left, right));
}

#[test]
fn two_variables_equation_10() {
    let sample = |generator: &mut Generator<'_>| {
        let (first, second, result) = (generator.any_type(), generator.any_type(), generator.any_type());
        let (a, b, w) = (generator.value(&first), generator.value(&second), generator.value(&result));
        let body = generator.open_term(&[("x", &first), ("y", &second)], 1, &result);
        let (x, y) = (first.show(), second.show());
        let left = format!("{w}.rd[({a}, {b})](p. let (x, y) = p in {body})");
        let by_x = format!("{w}.rd[{a}](x:{x}. let y:{y} = {b} in {body})");
        let by_y = format!("{w}.rd[{b}](y:{y}. let x:{x} = {a} in {body})");
        (left, format!("({by_x}, {by_y})"))
    };
    law("two variables", 400, sample, |(left, right)| equal(left, right));
}

#[test]
fn conditionals_with_equal_branches_change_nothing_4_1_and_4_3() {
    let sample = |generator: &mut Generator<'_>| {
        let ty = generator.type_with_reals();
        let body = Body::sample_at(generator, 1, ty);
        (body, generator.value(&Ty::Real))
    };
    law("conditionals", 400, sample, |(body, c)| {
        let x = body.ty.first_real("x").expect("the type has a real");
        let plain = reference(&body.derivative())?;
        let guarded = |c: &str| {
            let both = format!("if {x} < {c} then {} else {}", body.text, body.text);
            body.within(&body.rd(&body.cotangent, &both))
        };
        let at = body.ty.first_real(&body.point).expect("the type has a real");
        let on_the_boundary = reference(&guarded(&at))?;
        let is_undefined =
            matches!(&on_the_boundary, Outcome::Undefined(report) if report.to_string().starts_with("lt at"));
        if !is_undefined {
            return Err(format!("at the boundary: {}", show(&on_the_boundary)));
        }
        let (point, boundary) = (reference(&at)?, reference(c)?);
        if same(&point, &boundary, Tolerance::Exact, Reports::Whole).is_ok() {
            return Ok(Verdict::Vacuous("at the boundary"));
        }
        same(&plain, &reference(&guarded(c))?, Tolerance::Exact, Reports::Whole)
    });
}

/// An operation of arity `T → real` for which the tower of derivatives is tried.
struct Tower {
    name: String,
    reverse: String,
    ty: &'static str,
    points: Vec<String>,
}

fn towers() -> Vec<Tower> {
    const NUMERALS: [&str; 9] = ["1", "0", "2", "(-1)", "3", "0.5", "(-2)", "0.25", "1.5"];
    let pairs = || NUMERALS.iter().flat_map(|a| NUMERALS.iter().map(move |b| format!("({a}, {b})")));
    let vectors = || vec!["((1, 2), (3, -1))".to_string(), "((0, 0.5), (-2, 1.5))".to_string()];
    let scalar = |name: String, reverse: String| Tower {
        name,
        reverse,
        ty: "real",
        points: NUMERALS.iter().map(ToString::to_string).collect(),
    };
    let unary = UNARY.iter().map(|name| scalar((*name).to_string(), format!("{name}_r")));
    let powers = EXPONENTS.iter().map(|k| scalar(format!("powi[{k}]"), format!("powi_r[{k}]")));
    let binary = BINARY.iter().map(|name| Tower {
        name: (*name).to_string(),
        reverse: format!("{name}_r"),
        ty: "real * real",
        points: pairs().collect(),
    });
    let dot = Tower { name: "dot".into(), reverse: "dot_r".into(), ty: "real^2 * real^2", points: vectors() };
    let scale = Tower {
        name: "scale".into(),
        reverse: "scale_r".into(),
        ty: "real * real",
        points: pairs().collect(),
    };
    unary.chain(powers).chain(binary).chain([dot, scale]).collect()
}

#[test]
fn tower_of_derivatives_of_every_operation() {
    crate::harness::on_large_stack(|| {
        for Tower { name, reverse, ty, points } in towers() {
            for point in &points {
                let check = || -> Result<(), String> {
                    let value = reference(&format!("{name}({point})"))?;
                    // w.rd[V](x. op(x)) = w.op_r(V), bit for bit.
                    let by_rd = reference(&format!("1.5.rd[{point}](x:{ty}. {name}(x))"))?;
                    let by_name = reference(&format!("1.5.{reverse}({point})"))?;
                    same(&by_rd, &by_name, Tolerance::Exact, Reports::Whole)?;
                    let first = format!("1.5.rd[x](x:{ty}. {name}(x))");
                    let second = format!("{point}.rd[x](x:{ty}. {first})");
                    let third = format!("{point}.rd[x](x:{ty}. {second})");
                    for derivative in [first, second, third] {
                        defined_together(&value, &format!("let x:{ty} = {point} in {derivative}"))?;
                    }
                    Ok(())
                };
                if let Err(broken) = check() {
                    panic!("{name} at {point}: {broken}");
                }
            }
        }
    });
}

/// A derivative of an operation has its denotation as value, and is undefined exactly where the operation is.
fn defined_together(value: &Outcome, source: &str) -> Trial {
    let program = accepted(source)?;
    let outcome = run(&program, Engine::Reference, LIMITS).outcome;
    let denotation = denote(&program.terms, &[], program.main, LIMITS.fuel).outcome;
    same(&outcome, &denotation, LAWS, Reports::Whole)
        .map_err(|difference| format!("{difference}\n{source}"))?;
    let undefined = |outcome: &Outcome| matches!(outcome, Outcome::Undefined(_));
    if undefined(value) == undefined(&outcome) {
        Ok(Verdict::Holds)
    } else {
        Err(format!("{} and {}\n{source}", show(value), show(&outcome)))
    }
}
