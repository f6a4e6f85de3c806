//! The results of bodies, and their failures.

use eddy_body::{Limits, Program, RunError, parse};
use eddy_tensor::{Data, Shape, Value};

fn vector(elements: &[f64]) -> Value {
    Value::new(Shape::new(&[elements.len()]), Data::Num(elements.to_vec())).expect("as many as it has")
}

fn run_with(text: &str, arguments: &[Value], limits: &Limits) -> Result<String, RunError> {
    let module = parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let program = Program::new(&module).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let results = program.run(module.find("f").expect("it is called f"), arguments, limits)?;
    Ok(results.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
}

#[track_caller]
fn check(text: &str, arguments: &[Value], expected: &str) {
    let found = run_with(text, arguments, &Limits::default());
    assert_eq!(found.unwrap_or_else(|error| format!("{}", error.failure)), expected);
}

#[test]
fn a_while_loop_runs_as_long_as_its_condition_holds() {
    let text = "body f(x: num) -> (num, num[_], int) { c = const 100.0 ()
        y, ys, n = while (y0 = x) collect (y0) { t = lt(y0, c) yield t } { y1 = mul(y0, x) yield y1 }
        yield y ys n }";
    check(text, &[5.0.into()], "125 [5,25] 2");
    check(text, &[100.0.into()], "100 [] 0");
}

#[test]
fn loops_keep_states_rows_and_accumulators() {
    let text = "body f(n: int) -> (int, int[_], int) { z = const 0 () s0 = const 0 ()
        s, r, a = for i < n (s1 = z) collect (i) acc (a1 = s0) { add a1 [] i  t = add(s1, i)  yield t }
        yield s r a }";
    check(text, &[4.into()], "6 [0,1,2,3] 6");
    check(text, &[(-1).into()], "0 [] 0");
}

#[test]
fn each_makes_rows() {
    let text = "body f(n: int) -> (int[_,_]) {
        y = each i < n { r = each j < n { p = mul(i, j) yield p } yield r }
        yield y }";
    check(text, &[3.into()], "[[0,0,0],[0,1,2],[0,2,4]]");
}

#[test]
fn places_mix_indices_ranges_and_gathers() {
    let head = "body f(x: num[_]) -> (num[_,_], num[_], num[_,_]) { one = const 1 () two = const 2 () three = const 3 ()
        a = reshape(x, two, three)  g = const int [2] { 1 0 } ()
        b = index a [.., one..three]  c = index a [one, g]  d = index a [g, one..two]
        yield b c d }";
    check(head, &[vector(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0])], "[[1,2],[4,5]] [4,3] [[4],[1]]");
}

#[test]
fn increases_add_duplicates_and_updates_leave_the_original() {
    let text =
        "body f(x: num[_]) -> (num[_], num[_], num[_]) { g = const int [3] { 2 0 2 } () one = const 1 ()
        a = copy(x)  b = increase a [g] x  c = copy(x)  v = const 7.0 ()  d = update c [one] v
        yield b d x }";
    check(text, &[vector(&[1.0, 10.0, 100.0])], "[11,10,201] [1,7,100] [1,10,100]");
}

#[test]
fn failures_are_those_of_the_first_statement_that_fails() {
    let head =
        |rest: &str| format!("body f(x: num[_], i: int) -> (int) {{ z = const 0 () o = const 1 () {rest} }}");
    let x = || vector(&[1.0, 2.0]);
    check(&head("a = index x [i] yield i"), &[x(), 9.into()], "index 9 is out of range for shape [2]");
    check(&head("a = int_div(o, z) b = index x [i] yield a"), &[x(), 9.into()], "division by zero");
    check(&head("b = mul(i, i) yield b"), &[x(), i64::MAX.into()], "integer overflow");
    check(&head("check_size(o, i) yield o"), &[x(), 3.into()], "size error: a size is 1 where 3 is required");
    check(
        &head("check_some(z) yield o"),
        &[x(), 3.into()],
        "an empty range has nothing to choose from or to add",
    );
    check(&head("a = index x [o..i] yield o"), &[x(), 3.into()], "range 1..3 is out of range for shape [2]");
    check(
        &head("a = fill(o, i) yield o"),
        &[x(), (-2).into()],
        "size error: a size is -2, which is negative",
    );
    check(
        &head("a = fill(o, i, i) yield o"),
        &[x(), 20_000.into()],
        "out of memory: the limit on tensors is reached",
    );
    check(&head("fail_order() yield o"), &[x(), 3.into()], "the derivative order is too high");
    let ragged = head("r = each k < i { p = fill(o, k) yield p } yield o");
    check(&ragged, &[x(), 2.into()], "shape error: shapes [0] and [1] should be equal");
    let grows = head("s = for k < i (y = x) { y2 = concat(y, y) yield y2 } yield o");
    check(&grows, &[x(), 2.into()], "shape error: shapes [2] and [4] should be equal");
}

const DEEP: &str = "body f(n: int, x: num) -> (num) { z = const 0 () t = le(n, z)
    y = if t { yield x } { o = const 1 () m = sub(n, o) r = call f(m, x) s = sin(r) yield s }
    yield y }";

#[test]
fn a_program_recurses_a_million_times() {
    check(DEEP, &[999_999.into(), 0.0.into()], "0");
    check(DEEP, &[1_000_001.into(), 0.0.into()], "calls are nested too deeply: the depth limit is reached");
}

#[test]
fn limits_say_their_names() {
    let limits = Limits { fuel: Some(10), ..Limits::default() };
    let fuel = run_with(DEEP, &[11.into(), 0.0.into()], &limits).expect_err("there is not enough");
    assert_eq!(fuel.to_string(), "out of fuel (in `f`)");
    assert!(run_with(DEEP, &[10.into(), 0.0.into()], &limits).is_ok());
    let limits = Limits { memory: Some(1000), ..Limits::default() };
    let text = "body f(n: int) -> (num) { z = const 0.0 () a = fill(z, n) s = sum(a) yield s }";
    assert!(run_with(text, &[125.into()], &limits).is_ok());
    let memory = run_with(text, &[126.into()], &limits).expect_err("it is too much");
    assert_eq!(memory.failure.to_string(), "out of memory: the limit on tensors is reached");
}

/// A tensor that many frames and slots share counts once, until the last of them is released.
#[test]
fn shared_tensors_are_counted_once() {
    let limits = Limits { memory: Some(1600), ..Limits::default() };
    let shared = "body f(n: int, x: num[_]) -> (num[_]) { z = const 0 () t = eq(n, z)
        y = if t { yield x } { o = const 1 () m = sub(n, o) r = call f(m, x) yield r }
        yield y }
        body g(n: int) -> (num) { c = const 100 () z = const 1.0 () x = fill(z, c) y = call f(n, x) s = sum(y) yield s }";
    let module = parse(shared).expect("it parses");
    let program = Program::new(&module).expect("it verifies");
    let g = module.find("g").expect("it is there");
    assert_eq!(program.run(g, &[50.into()], &limits).expect("it fits"), [100.0.into()]);
    // Accumulators, rows and tapes are counted too; each iteration frees what it made.
    let loops = "body g(n: int) -> (num) { c = const 100 () z = const 1.0 () x = fill(z, c)
        a = for i < n () acc (a0 = x) { y = fill(z, c) add a0 [] y yield }
        s = sum(a) yield s }";
    let module = parse(loops).expect("it parses");
    let program = Program::new(&module).expect("it verifies");
    let g = module.find("g").expect("it is there");
    let limits = Limits { memory: Some(3200), ..limits };
    assert_eq!(program.run(g, &[50.into()], &limits).expect("it fits"), [5100.0.into()]);
}

/// A run reports the spent fuel, so that several runs can share one budget.
#[test]
fn spent_fuel_is_counted() {
    let module = parse(DEEP).expect("it parses");
    let program = Program::new(&module).expect("it verifies");
    let f = module.find("f").expect("it is there");
    let (found, spent) = program.run_counting(f, &[7.into(), 0.0.into()], &Limits::default());
    assert!(found.is_ok());
    assert_eq!(spent, 7);
}

/// A hundred thousand updates of a vector of a hundred thousand elements: copies would take minutes.
#[test]
fn updates_of_a_state_happen_in_place() {
    let text = "body f(n: int) -> (num) { z = const 0.0 () x = fill(z, n)
        y = for i < n (y0 = x) { v = to_num(i) y1 = update y0 [i] v yield y1 }
        s = sum(y) yield s }";
    check(text, &[100_000.into()], "4999950000");
}

#[test]
fn first_extrema_stay_with_the_first() {
    let text = "body f(x: num[_]) -> (int, int) { a = first_max(x) b = first_min(x) yield a b }";
    check(text, &[vector(&[1.0, 3.0, 3.0, 0.5, f64::NAN, 0.5])], "1 3");
    check(text, &[vector(&[f64::NAN, 3.0])], "0 0");
    check(text, &[vector(&[])], "an empty range has nothing to choose from or to add");
}

#[test]
fn tapes_keep_values() {
    let text = "body f(x: num[_], i: int) -> (num[_], int) { t = pack(x, i) a, b = unpack (num[_], int) t yield a b }";
    check(text, &[vector(&[1.0, 2.0]), 7.into()], "[1,2] 7");
}
