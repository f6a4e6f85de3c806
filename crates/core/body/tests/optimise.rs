//! Passes for speed change no bit: the interpreter runs modules before and after them.

#[allow(dead_code, reason = "shared with the laws of derivatives")]
#[path = "derivatives/generate.rs"]
mod generate;
#[allow(dead_code, reason = "shared with the laws of derivatives")]
#[path = "derivatives/harness.rs"]
mod harness;

use eddy_body::optimise::inline;
use eddy_body::{
    BodyId, Elem, Failure, Kind, Limits, Module, Program, Region, Type, expand, own, parse, verify_final,
};
use eddy_tensor::{Data, Shape, Value};

use harness::{ALL, Bodies};

fn numbers(seed: u64) -> Vec<u16> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut number = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        u16::try_from(state >> 48).expect("16 bits")
    };
    (0..300).map(|_| number()).collect()
}

fn arguments(types: &[Type], k: i64) -> Option<Vec<Value>> {
    let mut x = 0.3;
    let mut number = || {
        x = (x * 7.1 + 0.37) % 2.0;
        x - 1.0
    };
    let value = |ty: &Type| {
        Some(match (ty.elem, ty.rank) {
            (Elem::Num, 0) => number().into(),
            (Elem::Num, rank) => {
                let all = 3_usize.pow(u32::try_from(rank).ok()?);
                Value::new(Shape::from(vec![3; rank]), Data::Num((0..all).map(|_| number()).collect()))
                    .ok()?
            }
            (Elem::Int, 0) => k.into(),
            _ => return None,
        })
    };
    types.iter().map(value).collect()
}

fn bits(values: &[Value]) -> Vec<(Vec<usize>, Vec<u64>)> {
    let word = |element: Value| match element {
        Value::Num(x) if x.is_nan() => u64::MAX,
        Value::Num(x) => x.to_bits(),
        Value::Int(x) => x.cast_unsigned(),
        Value::Bool(x) => u64::from(x),
        other => panic!("{other:?}"),
    };
    values.iter().map(|value| (value.shape().to_vec(), value.elements().map(word).collect())).collect()
}

fn n_unpacks(region: &Region) -> usize {
    let inside = |kind: &Kind| kind.regions().into_iter().map(n_unpacks).sum::<usize>();
    let own = |kind: &Kind| usize::from(matches!(kind, Kind::Unpack(..)));
    region.stmts.iter().map(|stmt| own(&stmt.kind) + inside(&stmt.kind)).sum()
}

/// The number of values and of failures that were compared.
fn compare(module: &Module) -> (u32, u32) {
    let entries: Vec<BodyId> = (0..module.bodies.len()).map(BodyId::new).collect();
    let optimised = inline(module, &entries);
    verify_final(&optimised).unwrap_or_else(|error| panic!("{error}"));
    let before = Program::new(module).expect("it verifies");
    let after = Program::new(&optimised).expect("it verifies");
    let (mut n_values, mut n_failures) = (0, 0);
    for id in entries {
        let body = module.body(id);
        let types: Vec<Type> = body.params.iter().map(|param| param.ty).collect();
        if body.params.iter().any(|param| param.is_acc) || body.results.iter().any(|ty| ty.elem == Elem::Tape)
        {
            continue;
        }
        for k in [0, 1, 3] {
            let Some(arguments) = arguments(&types, k) else { continue };
            let limits = Limits { fuel: Some(100_000), ..Limits::default() };
            match (before.run(id, &arguments, &limits), after.run(id, &arguments, &limits)) {
                (Ok(expected), Ok(found)) => {
                    assert_eq!(bits(&expected), bits(&found), "{}", optimised.show(optimised.body(id)));
                    n_values += 1;
                }
                (Err(expected), _) if expected.failure == Failure::Fuel => {}
                (Err(expected), Err(found)) => {
                    assert_eq!((expected.failure, expected.span), (found.failure, found.span));
                    n_failures += 1;
                }
                (expected, found) => panic!("{expected:?}, then {found:?}"),
            }
        }
    }
    (n_values, n_failures)
}

#[test]
fn optimised_modules_have_the_same_outcomes() {
    let (mut n_values, mut n_failures) = (0, 0);
    for seed in 0..60_u64 {
        let can_fail = seed % 2 == 1;
        let text = generate::module(&numbers(seed), can_fail);
        let derivatives: &[&str] = if seed % 3 == 0 { &ALL } else { &["adj", "tan"] };
        let bodies = Bodies::new(&text, derivatives).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let (values, failures) = compare(&bodies.module);
        n_values += values;
        n_failures += failures;
    }
    assert!(n_values > 300 && n_failures > 30, "{n_values} values, {n_failures} failures");
}

/// The adjoint of a loop that calls a function, which is split in two since its cotangent depends on its
/// result.
#[test]
fn calls_and_tapes_disappear() {
    let text = "
body g(x: num, v: num[_]) -> (num[_]) {
  s = sin(x)  w = mul(v, s)  c = lt(x, s)
  y = if c { a = mul(w, w)  yield a } { b = exp(w)  yield b }
  yield y
}
body f(x: num, v: num[_], n: int) -> (num) {
  w = for i < n (u = v) { y = call g(x, u)  z = mul(y, y)  yield z }
  s = sum(w)
  yield s
}
body gradient(x: num, v: num[_], n: int) -> (num, num[_]) {
  one = const 1.0 ()
  y, dx, dv = adj f(x, v, n, one)
  yield dx dv
}";
    let mut module = parse(text).unwrap_or_else(|error| panic!("{error}"));
    own::own(&mut module);
    let module = expand(&module, 4).unwrap_or_else(|error| panic!("{error}"));
    let gradient = module.find("gradient").expect("it is there");
    let optimised = inline(&module, &[gradient]);
    assert!(module.bodies.iter().any(|body| n_unpacks(&body.region) > 0), "there are tapes");
    assert_eq!(
        n_unpacks(&optimised.body(gradient).region),
        0,
        "{}",
        optimised.show(optimised.body(gradient))
    );
    let (n_values, _) = compare(&module);
    assert!(n_values > 0);
}
