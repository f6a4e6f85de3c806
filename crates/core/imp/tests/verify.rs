//! Programs that verification rejects, each with exactly one error.

use eddy_imp::{parse, verify};
use expect_test::{Expect, expect};

/// A program with this body of `step`, which may call `helper` and `part`.
fn program(body: &str) -> String {
    format!(
        "program p f64\nstate {{\n  a: num [4]\n  b: num [2, 3]\n  s: num\n  k: int\n  flag: bool\n  n: cycle\n  room: cycle [8]\n}}\n\
         in {{\n  x: num [4]\n}}\nout {{\n  y: num [4]\n}}\ntable c: num = [1.0, 2.0]\n\
         function f(num, num [4]) -> (num [2] by 2, int)\n\
         private procedure helper(self, m: cycle) -> status {{\n  return 0;\n}}\n\
         range procedure part(first: size, end: size, mut a0: num [], s1: num) {{\n\
         for i: size = first while (i < end) by 1 {{\n    a0[i] = s1;\n  }}\n}}\n\
         procedure step(self, in, out) -> status {{\n{body}\n  return 1;\n}}\n"
    )
}

fn accepted(body: &str) {
    let program = parse(&program(body)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(verify(&program), Ok(()), "{body}");
}

fn refused(body: &str, expected: &Expect) {
    let program = parse(&program(body)).unwrap_or_else(|error| panic!("{error}"));
    let violation = verify(&program).expect_err("it is wrong");
    expected.assert_eq(&violation.to_string());
}

#[test]
fn right_programs_are_accepted() {
    accepted(
        "for i: size = 0 while (i < 4) by 1 {\n self.a[i] = (in.x[i] + self.s);\n out.y[i] = table.c[0];\n}",
    );
    accepted("let k: int = int_add(self.k, 1i)@3;\nself.k = k;\nleave if failed;");
    accepted("var v: num = 0.0;\nv = self.b[1, 2];\nself.s = v;");
    accepted(
        "let n: cycle = self.n;\nself.n = (n + 1);\nlet given = run helper(self, n);\nif (given < 0) {\n return given;\n}",
    );
    accepted(
        "array i: int [1];\napply f(self.s, &in.x[0]) -> (&self.a[1], &i[0]) in self.room @3;\nself.k = i[0];",
    );
    accepted("parallel 4 by 1 terms 9 part(&self.a, self.s);");
    accepted("pointer p: num = self.flag ? &self.a : &in.x;\nself.s = p[3];");
    accepted("matmul(1, 3, 2, &self.b[0, 0], 3, 1, &self.a[0], 2, &self.a[2], 2);");
    accepted("array t: num [2, 2];\nt[0, 1] = 1.0;\nself.s = t[0, 1];");
    accepted("scope {\n let v: num = 1.0;\n}\nlet v: bool = true;\nself.flag = v;");
}

#[test]
fn names_and_scopes() {
    refused(
        "self.s = v;",
        &expect![[r"
        in procedure `step`: `v` is not declared here
          self.s = v;"]],
    );
    refused(
        "scope {\n let v: num = 1.0;\n}\nself.s = v;",
        &expect![[r"
        in procedure `step`: `v` is not declared here
          self.s = v;"]],
    );
    refused(
        "let v: num = 1.0;\nlet v: num = 2.0;",
        &expect![[r"
        in procedure `step`: `v` is declared twice in one block
          let v: num = 2.0;"]],
    );
    refused(
        "let v: num = 1.0;\nv = 2.0;",
        &expect![[r"
        in procedure `step`: `v` does not change
          v = 2.0;"]],
    );
    refused(
        "run step(self, in, out);",
        &expect![[r"
        in procedure `step`: `step` is not a procedure declared before this one
          run step(self, in, out);"]],
    );
    refused(
        "self.nothing = 1.0;",
        &expect![[r"
        in procedure `step`: there is no field `nothing`
          self.nothing = 1.0;"]],
    );
}

#[test]
fn types() {
    refused(
        "self.s = 1i;",
        &expect![[r"
        in procedure `step`: `1i` is int, expected num
          self.s = 1i;"]],
    );
    refused(
        "self.k = (self.k + 1i);",
        &expect![[r"
        in procedure `step`: `+` of Type(Int) may fail
          self.k = (self.k + 1i);"]],
    );
    refused(
        "if self.s {\n}",
        &expect![[r"
        in procedure `step`: `self.s` is num, expected bool
          if self.s {"]],
    );
    refused(
        "self.s = exp(self.k);",
        &expect![[r"
        in procedure `step`: `self.k` is int, expected num
          self.s = exp(self.k);"]],
    );
    refused(
        "for i: size = 0 while (i < self.n) by 1 {\n}",
        &expect![[r"
        in procedure `step`: `<` of Type(Size) and Type(Cycle)
          for i: size = 0 while (i < self.n) by 1 {"]],
    );
    refused(
        "return;",
        &expect![[r"
        in procedure `step`: the procedure returns status
          return;"]],
    );
}

#[test]
fn failures_name_an_equation() {
    refused(
        "self.k = int_add(self.k, 1i);",
        &expect![[r"
        in procedure `step`: `int_add` can fail, but names no equation
          self.k = int_add(self.k, 1i);"]],
    );
    refused(
        "self.s = exp(self.s)@4;",
        &expect![[r"
        in procedure `step`: `exp` cannot fail
          self.s = exp(self.s)@4;"]],
    );
}

#[test]
fn memory() {
    refused(
        "self.b[1] = 1.0;",
        &expect![[r"
        in procedure `step`: `self.b[1]` is an array
          self.b[1] = 1.0;"]],
    );
    refused(
        "self.a[1, 1] = 1.0;",
        &expect![[r"
        in procedure `step`: `self.a[1, 1]` has more indices than dimensions
          self.a[1, 1] = 1.0;"]],
    );
    refused(
        "in.x[0] = 1.0;",
        &expect![[r"
        in procedure `step`: `in.x[0]` is only read
          in.x[0] = 1.0;"]],
    );
    refused(
        "self.a[4] = 1.0;",
        &expect![[r"
        in procedure `step`: `4` is between 4 and 4, and there are 4 places
          self.a[4] = 1.0;"]],
    );
    refused(
        "for i: size = 0 while (i < 4) by 1 {\n self.a[(i + 1)] = 1.0;\n}",
        &expect![[r"
        in procedure `step`: `(i + 1)` is between 1 and 4, and there are 4 places
          self.a[(i + 1)] = 1.0;"]],
    );
    refused(
        "pointer p: num = self.flag ? &self.a : &in.x;\np[0] = 1.0;",
        &expect![[r"
        in procedure `step`: `p[0]` is only read
          p[0] = 1.0;"]],
    );
    refused(
        "self.a[self.k] = 1.0;",
        &expect![[r"
        in procedure `step`: `self.k` is no index
          self.a[self.k] = 1.0;"]],
    );
}

#[test]
fn calls() {
    refused(
        "run helper(self);",
        &expect![[r"
        in procedure `step`: 1 arguments for 2 parameters
          run helper(self);"]],
    );
    refused(
        "run helper(self, 1.0);",
        &expect![[r"
        in procedure `step`: `1.0` is num, expected cycle
          run helper(self, 1.0);"]],
    );
    refused(
        "parallel 4 by 1 terms 9 helper(self, 1);",
        &expect![[r"
        in procedure `step`: `helper` does not run a part of a loop
          parallel 4 by 1 terms 9 helper(self, 1);"]],
    );
    refused(
        "parallel 4 by 1 terms 9 part(&in.x, self.s);",
        &expect![[r"
        in procedure `step`: `in.x` is only read
          parallel 4 by 1 terms 9 part(&in.x, self.s);"]],
    );
    refused(
        "row_sums(2, 3, &self.b[0, 0], 3, 1);",
        &expect![[r"
        in procedure `step`: `row_sums` has 6 arguments, not 5
          row_sums(2, 3, &self.b[0, 0], 3, 1);"]],
    );
    refused(
        "large pack(1, 1, &self.a[0], 1, 1, &self.a[1]);",
        &expect![[r"
        in procedure `step`: threads do not share `pack`
          large pack(1, 1, &self.a[0], 1, 1, &self.a[1]);"]],
    );
}

#[test]
fn functions_have_operands_and_results() {
    refused(
        "apply g() -> () in self.room @3;",
        &expect![[r"
        in procedure `step`: there is no function `g`
          apply g() -> () in self.room @3;"]],
    );
    refused(
        "apply f(self.s, &in.x[0]) -> (&self.a[1]) in self.room @3;",
        &expect![[r"
        in procedure `step`: `f` has 2 operands and 2 results
          apply f(self.s, &in.x[0]) -> (&self.a[1]) in self.room @3;"]],
    );
    refused(
        "array i: int [1];\napply f(self.k, &in.x[0]) -> (&self.a[1], &i[0]) in self.room @3;",
        &expect![[r"
            in procedure `step`: `self.k` is int, expected num
              apply f(self.k, &in.x[0]) -> (&self.a[1], &i[0]) in self.room @3;"]],
    );
    refused(
        "array i: int [1];\napply f(self.s, self.s) -> (&self.a[1], &i[0]) in self.room @3;",
        &expect![[r"
            in procedure `step`: `self.s` for operand `num [4]`
              apply f(self.s, self.s) -> (&self.a[1], &i[0]) in self.room @3;"]],
    );
    refused(
        "apply f(self.s, &in.x[0]) -> (&self.a[1], &self.n) in self.room @3;",
        &expect![[r"
        in procedure `step`: `self.n` is cycle, expected int
          apply f(self.s, &in.x[0]) -> (&self.a[1], &self.n) in self.room @3;"]],
    );
    refused(
        "array i: int [1];\napply f(self.s, &in.x[0]) -> (&in.x[1], &i[0]) in self.room @3;",
        &expect![[r"
            in procedure `step`: `in.x[1]` is only read
              apply f(self.s, &in.x[0]) -> (&in.x[1], &i[0]) in self.room @3;"]],
    );
    refused(
        "array i: int [1];\napply f(self.s, &in.x[0]) -> (&self.a[1], &i[0]) in self.a @3;",
        &expect![[r"
            in procedure `step`: `self.a` is an array of num, not of cycle
              apply f(self.s, &in.x[0]) -> (&self.a[1], &i[0]) in self.a @3;"]],
    );
}
