//! The public C of a function: it compiles without warnings, and runs under sanitizers.

use std::fs;
use std::process::Command;

use eddy_body::{Elem, EnumId, Type, own, parse, verify_final};
use eddy_compile::functions::package::{Form, Interface, package};

const MODULE: &str = "
enum mode { up, down }
body upto(n: int, x: num) -> (num[_]) { zero = const 0 () one = const 1 () c = le(n, zero)
  r = if c { e = fill(x, zero) yield e }
    { m = sub(n, one) q = call upto(m, x) k = to_num(n) y = mul(k, x) s = fill(y, one) t = concat(q, s) yield t }
  yield r }
body main_(n: int, x: num, v: num[_], on: bool, ms: mode[_]) -> (num, num[_], num[_], mode[_], bool, num[_, _]) {
  one = const 1 () zero = const 0 () z = const -0.0 ()
  u = call upto(n, x)
  w = for i < n (y = v) { m = size 0 (y) j = int_mod(i, m) e = index y [j] f = add(e, x) t = update y [j] f yield t }
  y1, i1, ys, k = while (a = x, o = zero) collect (a) { c = lt(o, n) yield c } { b = sin(a) o2 = add(o, one) yield b o2 }
  rows, s = each p < n acc (c2 = z) { e2 = index u [p] r2 = fill(e2, k) add c2 [] e2 yield r2 }
  first = index ms [zero..one]
  no = not(on)
  yield s w ys first no rows }
";

const MAIN: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include "f.h"
int main(void) {
  const size_t size = 1 << 16;
  eddy_arena a = { malloc(size), size, 0, size, INT64_MAX, 1000, 0, 0 };
  double v[] = { 1, 2 };
  int32_t ms[] = { 1, 0 };
  double w[2];
  f_in in = { .n = 3, .p = { .x = 0.5, .v = { v, { 2 } } }, .on = 1, .ms = { ms, { 2 } } };
  f_out out = { ._1 = { w, { 0 } } };
  int code = f(&in, &out, &a);
  printf("%d %g %g %g %d %d", code, out._0, w[0], w[1], (int)out._3.data[0], out._4);
  printf(" %g %g %d %d\n", out._2.data[0], out._5.data[8], (int)out._5.n[0], (int)out._5.n[1]);
  in.p.v.n[0] = 0;
  a.low = 0;
  out._1.data = 0;
  code = f(&in, &out, &a);
  printf("%d %d %d\n", code, (int)a.line, (int)a.col);
  a.depth = 1;
  a.low = 0;
  printf("%d\n", f(&in, &out, &a));
  a.size = a.high = 1040;
  a.low = 0;
  a.depth = 1000;
  printf("%d %d\n", f(&in, &out, &a), (int)f_arena(&in));
  free(a.base);
  return 0;
}
"#;

#[test]
fn the_public_c_of_a_function_is_clean() {
    let mut module = parse(MODULE).unwrap_or_else(|error| panic!("{error}"));
    own::own(&mut module);
    verify_final(&module).unwrap_or_else(|error| panic!("{error}"));
    let tensor = |elem, rank| Form::Tensor(Type { elem, rank });
    let mode = Elem::Enum(EnumId::new(0));
    let named = |name: &str, form| (name.to_owned(), form);
    let point = Form::Record(vec![named("x", tensor(Elem::Num, 0)), named("v", tensor(Elem::Num, 1))]);
    let interface = Interface {
        name: "f".to_owned(),
        params: vec![
            named("n", tensor(Elem::Int, 0)),
            named("p", point),
            named("on", tensor(Elem::Bool, 0)),
            named("ms", tensor(mode, 1)),
        ],
        result: Form::Tuple(vec![
            tensor(Elem::Num, 0),
            tensor(Elem::Num, 1),
            tensor(Elem::Num, 1),
            tensor(mode, 1),
            tensor(Elem::Bool, 0),
            tensor(Elem::Num, 2),
        ]),
    };
    let body = module.find("main_").expect("it is there");
    let files = package(&module, body, &interface, &|_| (7, 5)).expect("it verifies");
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [("f.h", files.header.as_str()), ("f.c", &files.source), ("main.c", MAIN)] {
        fs::write(folder.path().join(name), text).expect("it can be written");
    }
    let mut compiler = Command::new("cc");
    compiler.args([
        "-std=c99",
        "-O1",
        "-g",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-fno-math-errno",
        "-fno-trapping-math",
    ]);
    compiler.args(["-ffp-contract=off", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
    let built = compiler.args(["-o", "main", "main.c", "f.c", "-lm"]).current_dir(folder.path()).output();
    let built = built.expect("there is a compiler");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let ran = Command::new(folder.path().join("main")).output().expect("it runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let found = String::from_utf8(ran.stdout).expect("text");
    assert_eq!(found, "0 3 2 2.5 1 0 0.5 1.5 3 3\n3 7 5\n7\n8 0\n");
}
