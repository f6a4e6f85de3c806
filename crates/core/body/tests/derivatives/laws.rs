//! Laws on generated modules.

use std::num::NonZeroUsize;

use eddy_body::edit::Names;
use eddy_body::{
    Binding, Checkpoints, Control, Kind, Literal, Operation, Region, Stmt, Var, own, parse, verify,
};
use eddy_tensor::{Op, Value};
use eddy_tests::law::{Coverage, Trial, Verdict, law};
use proptest::prelude::*;

use crate::generate::module;
use crate::harness::{ALL, Bodies, Probe, close, dot, is_num, noise, nums, vector};

fn numbers() -> impl Strategy<Value = Vec<u16>> {
    prop::collection::vec(any::<u16>(), 0..300)
}

fn point(k: i64) -> Vec<Value> {
    vec![k.into(), 0.625.into(), vector(&[0.375, -0.75, 1.25])]
}

const TOO_LARGE: &str = "values are not moderate";

/// The module of these numbers at a point, if its values are moderate.
fn probe(
    numbers: &[u16],
    derivatives: &[&str],
    fails: bool,
) -> Result<Result<(Bodies, Probe), Verdict>, String> {
    let text = module(numbers, fails);
    let bodies = Bodies::new(&text, derivatives).map_err(|error| format!("{error}\n{text}"))?;
    let point = point(2);
    let y = match bodies.run("f", &point) {
        Ok(y) => y,
        Err(error) => return Err(format!("{error}\n{text}")),
    };
    if nums(&y).iter().any(|x| x.is_nan() || x.abs() > 1e6) {
        return Ok(Err(Verdict::Vacuous(TOO_LARGE)));
    }
    Ok(Ok((bodies, Probe::new(&point, y))))
}

fn with_text(numbers: &[u16], trial: impl FnOnce() -> Trial) -> Trial {
    trial().map_err(|error| format!("{error}\n{}", module(numbers, false)))
}

#[test]
fn generated_modules_verify_and_their_text_reads_back() {
    law("body: generated modules verify", 400, &numbers(), |numbers| {
        let mut module = parse(&module(numbers, true)).map_err(|error| error.to_string())?;
        own::own(&mut module);
        verify(&module).map_err(|error| format!("{error}\n{module}"))?;
        let text = module.to_string();
        let again = parse(&text).map_err(|error| format!("{error}\n{text}"))?;
        if again.to_string() == text { Ok(Verdict::Holds) } else { Err(format!("{again}\n{text}")) }
    });
}

/// L18: values and cotangents have the same bits whatever is kept.
#[test]
fn checkpoints_change_no_bit() {
    law("body: L18", 300, &(numbers(), 1_usize..5), |(numbers, keep)| {
        let text = module(numbers, false);
        let has_states = text.contains(" = for ") || text.contains(" = while ");
        let keep = Checkpoints::Keep(NonZeroUsize::new(*keep).expect("it is positive"));
        let all = Bodies::new(&text, &["adj"])?;
        let some = Bodies::keeping(&text, &["adj"], keep)?;
        let mut is_shown = false;
        for k in 0..4 {
            let arguments = point(k);
            let y = all.run("f", &arguments).map_err(|error| format!("{error}\n{text}"))?;
            let mut seed = 7;
            let cotangents = y.iter().filter(|value| is_num(value)).map(|value| noise(value, &mut seed));
            let arguments: Vec<Value> = arguments.iter().cloned().chain(cotangents).collect();
            let bits = |bodies: &Bodies| -> Result<Vec<u64>, String> {
                let found = bodies.derivative("adj_f", &[&arguments])?;
                Ok(nums(&found).iter().map(|x| x.to_bits()).collect())
            };
            let (expected, found) = (bits(&all)?, bits(&some)?);
            if expected != found {
                return Err(format!("{expected:?} and {found:?} at {k}\n{text}\n{}", some.module));
            }
            is_shown |= has_states;
        }
        Ok(Verdict::of(is_shown, "no loop has states"))
    });
}

/// L2, L19.
#[test]
fn reverse_is_the_transpose_of_forward() {
    law("body: L2", 400, &numbers(), |numbers| {
        let (bodies, probe) = match probe(numbers, &["adj", "tan"], false)? {
            Ok(found) => found,
            Err(verdict) => return Ok(verdict),
        };
        with_text(numbers, || {
            let Some(tangent) = probe.first_order(&bodies)? else { return Ok(Verdict::Vacuous(TOO_LARGE)) };
            Ok(Verdict::of(tangent.iter().any(|t| *t != 0.0), "nothing depends on the point"))
        })
    });
}

/// L3.
#[test]
fn forward_is_the_limit_of_differences() {
    law("body: L3", 300, &numbers(), |numbers| {
        let (bodies, probe) = match probe(numbers, &["adj", "tan"], false)? {
            Ok(found) => found,
            Err(verdict) => return Ok(verdict),
        };
        with_text(numbers, || {
            let Some(tangent) = probe.first_order(&bodies)? else { return Ok(Verdict::Vacuous(TOO_LARGE)) };
            let (near, far) = (probe.difference(&bodies, 1e-6), probe.difference(&bodies, 2e-6));
            let Some((near, far)) = near.zip(far) else { return Ok(Verdict::Vacuous("no difference")) };
            let is_smooth = near.iter().zip(&far).all(|(near, far)| close("", *near, *far, 1e-6).is_ok());
            if !is_smooth {
                return Ok(Verdict::Vacuous("a kink is near"));
            }
            for (difference, tangent) in near.iter().zip(&tangent) {
                close("difference and tangent", *difference, *tangent, 1e-5)?;
            }
            Ok(Verdict::of(tangent.iter().any(|t| *t != 0.0), "nothing depends on the point"))
        })
    });
}

/// What expanded modules contain: the constructs, and the ways in which they are differentiated.
const CASES: [&str; 13] = [
    " = if ",
    " = for ",
    " = while ",
    " = each ",
    " acc (",
    " collect (",
    " = update ",
    " = increase ",
    "add n",
    " = call fwd",
    " = call rev",
    " = call adj",
    "reverse_index",
];

/// L4.
#[test]
fn all_mixtures_of_second_order_agree() {
    let coverage = Coverage::default();
    law("body: L4", 150, &numbers(), |numbers| {
        let (bodies, probe) = match probe(numbers, &ALL, false)? {
            Ok(found) => found,
            Err(verdict) => return Ok(verdict),
        };
        with_text(numbers, || {
            let Some(tangent) = probe.first_order(&bodies)? else { return Ok(Verdict::Vacuous(TOO_LARGE)) };
            if tangent.iter().any(|t| t.abs() > 1e6) {
                return Ok(Verdict::Vacuous(TOO_LARGE));
            }
            probe.second_order(&bodies)?;
            let text = bodies.module.to_string();
            CASES.iter().filter(|case| text.contains(**case)).for_each(|case| coverage.note(*case));
            Ok(Verdict::of(tangent.iter().any(|t| *t != 0.0), "nothing depends on the point"))
        })
    });
    coverage.require("body: L4", 20, CASES);
}

/// L6.
#[test]
fn derivatives_are_linear() {
    law("body: L6", 150, &numbers(), |numbers| {
        let (bodies, probe) = match probe(numbers, &["adj", "tan"], false)? {
            Ok(found) => found,
            Err(verdict) => return Ok(verdict),
        };
        with_text(numbers, || {
            let n_y = probe.y.len();
            for (name, direction) in [("adj_f", &probe.w), ("tan_f", &probe.v)] {
                let scaled = |factor: f64| -> Result<Vec<f64>, String> {
                    let scale = |value: &Value| {
                        let elements = nums(std::slice::from_ref(value)).iter().map(|x| x * factor).collect();
                        Value::new(value.shape().clone(), eddy_tensor::Data::Num(elements)).expect("as many")
                    };
                    let direction: Vec<Value> = direction.iter().map(scale).collect();
                    Ok(nums(&bodies.derivative(name, &[&probe.point, &direction])?[n_y..]))
                };
                let (one, twice, none) = (scaled(1.0)?, scaled(2.0)?, scaled(0.0)?);
                // Multiplication by two is exact.
                if twice != one.iter().map(|x| 2.0 * x).collect::<Vec<_>>() {
                    return Err(format!("{name} is not linear: {one:?} and {twice:?}"));
                }
                if none.iter().any(|x| *x != 0.0) {
                    return Err(format!("{name} of zero is {none:?}"));
                }
            }
            Ok(Verdict::Holds)
        })
    });
}

/// L19: a derivative fails where and how the value fails.
#[test]
fn errors_do_not_depend_on_derivatives() {
    law("body: L19", 400, &numbers(), |numbers| {
        let text = module(numbers, true);
        // Places: each line is a span of its own.
        let text: Vec<String> = text
            .lines()
            .enumerate()
            .map(|(at, line)| {
                let is_stmt = line.contains(" = ") || line.trim_start().starts_with(['c', 'a']);
                match line.strip_suffix('{') {
                    None if is_stmt => format!("{line} @{at}..{at}"),
                    Some(header) if line.contains(" = ") => format!("{header} @{at}..{at} {{"),
                    _ => line.to_owned(),
                }
            })
            .collect();
        let text = text.join("\n");
        let bodies = Bodies::new(&text, &["adj", "tan"]).map_err(|error| format!("{error}\n{text}"))?;
        // A counter that is no index of a vector.
        let point = point(3);
        let value = bodies.run("f", &point);
        let (a, v): (Value, Value) = (1.0.into(), vector(&[1.0, 2.0, 3.0]));
        for name in ["adj_f", "tan_f"] {
            let derivative = bodies.run(name, &[point.clone(), vec![a.clone(), v.clone()]].concat());
            let show = |found: &Result<Vec<Value>, eddy_body::RunError>| match found {
                Ok(values) => format!("{:?}", &values[..2]),
                Err(error) => format!("{} {:?}", error.failure, error.span),
            };
            if show(&value) != show(&derivative) {
                return Err(format!("{name}: {} and {}\n{text}", show(&value), show(&derivative)));
            }
        }
        Ok(Verdict::of(value.is_err(), "it does not fail"))
    });
}

/// L11: ⟨scatter(n, i, v), w⟩ = ⟨v, w[i]⟩.
#[test]
fn gather_is_the_transpose_of_scatter() {
    let text = "body f(i: int[_], v: num[_], w: num[_]) -> (num[_], num[_]) {
        n = size 0 (w) z = const 0.0 () zeros = fill(z, n) s = increase zeros [i] v g = index w [i] yield s g }";
    let bodies = Bodies::new(text, &[]).expect("it expands");
    let indices = prop::collection::vec(0_i64..4, 0..6);
    law("body: L11", 100, &indices, |indices| {
        let shape = eddy_tensor::Shape::new(&[indices.len()]);
        let i = Value::new(shape, eddy_tensor::Data::Int(indices.clone())).expect("as many");
        let v: Vec<f64> = (0..indices.len()).map(|at| [1.0, -2.0, 4.0, 0.5, 8.0, 16.0][at]).collect();
        let w = [3.0, 5.0, 7.0, 11.0];
        let results = bodies.run("f", &[i, vector(&v), vector(&w)]).map_err(|error| error.to_string())?;
        close("transposed", dot(&nums(&results[..1]), &w), dot(&v, &nums(&results[1..])), 0.0)?;
        Ok(Verdict::of(!indices.is_empty(), "nothing is scattered"))
    });
}
/// A region whose `for` loops are `while` loops that count.
fn counting(region: &mut Region, names: &mut Names) {
    for stmt in &mut region.stmts {
        match &mut stmt.kind {
            Kind::If(_, yes, no) => {
                counting(yes, names);
                counting(no, names);
            }
            Kind::Loop(repeat) => {
                counting(&mut repeat.body, names);
                if let Control::While(condition) = &mut repeat.control {
                    counting(condition, names);
                }
                let Control::For { index, count } = repeat.control else { continue };
                let mut names = |n: usize| (0..n).map(|_| names.fresh("c")).collect::<Vec<Var>>();
                let [test, one, next, zero, last, total] = names(6).try_into().expect("there are six");
                let op = |op: Op, operands: [Var; 2], result: Var| {
                    Stmt::new(vec![result], Kind::Op(Operation::Table(op), operands.to_vec()))
                };
                let condition = Region { stmts: vec![op(Op::Lt, [index, count], test)], yields: vec![test] };
                repeat.control = Control::While(condition);
                repeat.body.stmts.push(Stmt::new(vec![one], Kind::Const(Literal::int(1))));
                repeat.body.stmts.push(op(Op::Add, [index, one], next));
                repeat.body.yields.push(next);
                stmt.results.insert(repeat.states.len(), last);
                stmt.results.push(total);
                repeat.states.push(Binding { var: index, init: zero });
            }
            _ => {}
        }
    }
    // The initial values of the counters are written before the loops.
    for at in (0..region.stmts.len()).rev() {
        if let Kind::Loop(repeat) = &region.stmts[at].kind
            && let (Control::While(_), Some(counter)) = (&repeat.control, repeat.states.last())
            && names.name(counter.init).starts_with("c_")
        {
            let zero = Stmt::new(vec![counter.init], Kind::Const(Literal::int(0)));
            region.stmts.insert(at, zero);
        }
    }
}

/// L9: a `for` is a `while` that counts; derivatives too.
#[test]
fn a_for_loop_is_a_while_loop_that_counts() {
    law("body: L9", 150, &numbers(), |numbers| {
        let (bodies, probe) = match probe(numbers, &["adj", "tan"], false)? {
            Ok(found) => found,
            Err(verdict) => return Ok(verdict),
        };
        let mut module = parse(&module(numbers, false)).map_err(|error| error.to_string())?;
        let mut n_loops = 0;
        for body in &mut module.bodies {
            let mut names = Names::new(std::mem::take(&mut body.names));
            names.fresh("c");
            let before = names.len();
            counting(&mut body.region, &mut names);
            n_loops += names.len() - before;
            body.names = names.finish();
        }
        let text = module.to_string();
        let others = Bodies::new(&text, &["adj", "tan"]).map_err(|error| format!("{error}\n{text}"))?;
        with_text(numbers, || {
            for (name, directions) in [("f", None), ("tan_f", Some(&probe.v)), ("adj_f", Some(&probe.w))] {
                let directions = directions.map_or(&[][..], |directions| directions);
                let expected = nums(&bodies.derivative(name, &[&probe.point, directions])?);
                let found = nums(&others.derivative(name, &[&probe.point, directions])?);
                for (expected, found) in expected.iter().zip(&found) {
                    close(name, *expected, *found, 1e-9)?;
                }
            }
            Ok(Verdict::of(n_loops > 0, "there is no loop"))
        })
    });
}

/// L12: `(a with [i] = v)[j]` is v or `a[j]`, and a is unchanged.
#[test]
fn an_update_changes_one_place() {
    let text = "body f(a: num[_], i: int, v: num, j: int) -> (num, num, num[_]) {
        b = update a [i] v x = index b [j] y = index a [j] yield x y a }";
    let bodies = Bodies::new(text, &[]).expect("it expands");
    law("body: L12", 60, &(0_i64..4, 0_i64..4), |(i, j)| {
        let a = vector(&[1.0, 2.0, 3.0, 4.0]);
        let results = bodies.run("f", &[a.clone(), (*i).into(), 9.0.into(), (*j).into()]);
        let results = results.map_err(|error| error.to_string())?;
        let expected = if i == j { &Value::Num(9.0) } else { &results[1] };
        if results[0] == *expected && results[2] == a {
            Ok(Verdict::Holds)
        } else {
            Err(format!("{results:?}"))
        }
    });
}
