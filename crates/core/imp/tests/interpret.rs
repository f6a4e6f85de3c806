//! Results of the interpreter, and errors that it finds.

use eddy_imp::interpret::{Machine, Value};
use eddy_imp::{parse, verify};

const HEAD: &str = "state {\n  a: num [4]\n  s: num\n  k: int\n  n: cycle\n}\nin {\n  x: num [4]\n}\nout {\n  y: num [4]\n  i: int\n}\n";

/// The result of one step with `x = [1, 2, 3, 4]` and a state of zeros, its outputs `y` and `i`.
fn step(precision: &str, procedures: &str) -> (Option<i64>, Vec<f64>, Option<Value>) {
    let program = parse(&format!("program p {precision}\n{HEAD}{procedures}")).expect("it parses");
    verify(&program).unwrap_or_else(|violation| panic!("{violation}"));
    let mut machine = Machine::new(&program, 2);
    machine.fuel = 10_000;
    machine.memory.set_input("x", (1..5_i32).map(|x| Value::Num(x.into()))).expect("a field");
    machine.memory.set_state("a", [Value::Num(0.0); 4]).expect("a field");
    machine.memory.set_state("s", [Value::Num(0.0)]).expect("a field");
    machine.memory.set_state("k", [Value::Int(i64::MAX)]).expect("a field");
    machine.memory.set_state("n", [Value::Count(0)]).expect("a field");
    let result = machine.run("step").unwrap_or_else(|failed| panic!("{failed}"));
    let y = machine.memory.output(0, "y").expect("a field");
    let i = machine.memory.output(0, "i").expect("a field")[0];
    (result, y.iter().map(|value| value.map_or(f64::NAN, Value::num)).collect(), i)
}

#[test]
fn loops_and_variables() {
    let (result, y, _) = step(
        "f64",
        "procedure step(self, in, out) -> status {
           var sum: num = -0.0;
           for i: size = 0 while (i < 4) by 1 {
             sum = (sum + in.x[i]);
             out.y[i] = sum;
           }
           for t: cycle = 3 while (t > 1) by -1 {
             out.y[t] = (out.y[t] / 2.0);
           }
           return 1;
         }",
    );
    assert_eq!((result, y), (Some(1), vec![1.0, 3.0, 3.0, 5.0]));
}

#[test]
fn single_precision_rounds_each_operation() {
    let body = "procedure step(self, in, out) -> status {
       for i: size = 0 while (i < 4) by 1 {
         out.y[i] = fma((in.x[i] / 3.0), 0.1, exp(in.x[i]));
       }
       return 1;
     }";
    let (_, single, _) = step("f32", body);
    let (_, double, _) = step("f64", body);
    for (number, (single, double)) in single.iter().zip(&double).enumerate() {
        let x = [1.0_f32, 2.0, 3.0, 4.0][number];
        let expected = (x / 3.0).mul_add(0.1, eddy_elementary::single::exp(x));
        assert_eq!(*single, f64::from(expected));
        assert!((single - double).abs() < 1e-5 && single != double);
    }
}

#[test]
fn the_first_failure_is_reported() {
    let (result, _, i) = step(
        "f64",
        "procedure step(self, in, out) -> status {
           out.i = int_add(self.k, 1i)@7;
           check to_int(1e300)@8;
           leave if failed;
           return 1;
         }",
    );
    assert_eq!((result, i), (Some(-7), Some(Value::Int(0))));
}

#[test]
fn procedures_pieces_and_parts_of_loops() {
    let (result, y, _) = step(
        "f64",
        "range procedure part(first: size, end: size, mut a0: num [], a1: num [], s2: num) {
           for i: size = first while (i < end) by 1 {
             a0[i] = (a1[i] * s2);
           }
         }
         piece of step procedure step_piece0(in, out, shared) {
           shared.v = in.x[3];
           parallel 4 by 1 terms 9 part(&out.y, &in.x, shared.v);
         }
         shared {
           v: num
         }
         procedure step(self, in, out) -> status {
           run step_piece0(in, out, shared);
           return 2;
         }",
    );
    assert_eq!((result, y), (Some(2), vec![4.0, 8.0, 12.0, 16.0]));
}

#[test]
fn kernels_are_the_loops_that_they_stand_for() {
    let (_, y, _) = step(
        "f64",
        "procedure step(self, in, out) -> status {
           matmul_plus(2, 2, 2, &in.x[0], 2, 1, &in.x[0], 2, &out.y[0], 2, &in.x[0], 2);
           outer_sums(2, 2, 2, &in.x[0], 2, &in.x[0], 2, &out.y[0]);
           row_sums(2, 2, &in.x[0], 2, 1, &self.a[0]);
           out.y[0] = self.a[1];
           return 1;
         }",
    );
    // [[1,2],[3,4]] + [[1,2],[3,4]]² + (1,2)⊗(1,2) + (3,4)⊗(3,4), except for the first element.
    assert_eq!(y, vec![7.0, 12.0 + 2.0 + 12.0, 18.0 + 2.0 + 12.0, 26.0 + 4.0 + 16.0]);
}

#[test]
fn what_verification_cannot_see_is_found() {
    let failed = |body: &str| {
        let text = format!(
            "program p f64\n{HEAD}procedure step(self, in, out) -> status {{\n{body}\nreturn 1;\n}}\n"
        );
        let program = parse(&text).expect("it parses");
        verify(&program).unwrap_or_else(|violation| panic!("{violation}"));
        let mut machine = Machine::new(&program, 1);
        machine.fuel = 1000;
        machine.memory.set_state("n", [Value::Count(4)]).expect("a field");
        machine.run("step").expect_err("it cannot go on").to_string()
    };
    assert!(failed("self.a[self.n] = 1.0;").contains("4 is out of range"));
    assert!(failed("self.s = self.a[0];").contains("before it is written"));
    assert!(failed("while true {\n}").contains("too long"));
    assert!(failed("self.n = (self.n / 0);").contains("is no count"));
}

/// Applies `f`, which gives its operands in opposite order and their number, and fails at a negative number.
fn applied(first: f64) -> (Option<i64>, Vec<f64>) {
    let text = format!(
        "program p f64\n{}function f(num, num [2] by 2) -> (num [3], int)\n{}",
        HEAD.replace("n: cycle", "n: cycle\n  room: cycle [8]"),
        "procedure step(self, in, out) -> status {
           apply f(self.s, &in.x[1]) -> (&out.y[1], &out.i) in self.room @7;
           apply f(in.x[0], &in.x[0]) -> (&self.a[0], &out.i) in self.room @8;
           out.y[0] = self.a[0];
           leave if failed;
           return 1;
         }"
    );
    let program = parse(&text).expect("it parses");
    verify(&program).unwrap_or_else(|violation| panic!("{violation}"));
    let reversed = |_: &eddy_imp::Function, operands: &[Vec<Value>]| {
        let mut all: Vec<Value> = operands.concat();
        let n = Value::Int(i64::try_from(all.len()).ok()?);
        all.reverse();
        all.iter().all(|x| x.num() >= 0.0).then(|| vec![all, vec![n]])
    };
    let mut machine = Machine::new(&program, 1);
    machine.functions = Some(&reversed);
    machine.memory.set_input("x", (1..5_i32).map(|x| Value::Num(x.into()))).expect("a field");
    machine.memory.set_state("s", [Value::Num(first)]).expect("a field");
    let result = machine.run("step").unwrap_or_else(|failed| panic!("{failed}"));
    let y = machine.memory.output(0, "y").expect("a field");
    (result, y.iter().map(|value| value.map_or(f64::NAN, Value::num)).collect())
}

#[test]
fn functions_are_applied_to_elements_that_are_a_step_apart() {
    assert_eq!(applied(9.0), (Some(1), vec![3.0, 4.0, 2.0, 9.0]));
}

#[test]
fn after_a_failure_results_are_zeros_and_no_function_runs() {
    assert_eq!(applied(-9.0), (Some(-7), vec![0.0; 4]));
}
