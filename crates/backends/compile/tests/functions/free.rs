//! Code for runs without a limit on fuel: inlined, with iterations side by side, and tensors that are never
//! stored. Its values have the bits of the interpreter's, and its failures are those of the interpreter.

use std::fmt::Write;

use eddy_body::{BodyId, Failure, Limits, Module, Program, Type, own, parse, verify_final};
use eddy_compile::build::BuildOptions;
use eddy_compile::functions::{Compiled, Meter, emit_for};
use eddy_tensor::{Data, Shape, Value};

use crate::generate;
use crate::harness::{ALL, Bodies};
use crate::joined::{arguments, is_identical, join};
use crate::laws::{is_root, numbers, placed};

/// Both engines of one module.
struct Free {
    module: Module,
    interpreted: Program,
    compiled: Compiled,
}

impl Free {
    fn new(module: Module, entries: &[BodyId], sizes: &[Vec<Option<i64>>]) -> Free {
        let interpreted = Program::new(&module).expect("it verifies");
        let mut options = BuildOptions::from_environment().expect("the environment makes sense");
        options.tries_compiler = false;
        let emitted = emit_for(&module, entries, Meter::Free, sizes).expect("it verifies");
        let (_, compiled) =
            Compiled::build(&module, emitted, &options, &mut || ()).unwrap_or_else(|error| panic!("{error}"));
        Free { module, interpreted, compiled }
    }

    /// Compares the outcomes; `None` if the interpreter does not end.
    #[track_caller]
    fn check(&self, body: BodyId, arguments: &[Value]) -> Option<bool> {
        let limits = Limits { fuel: Some(3_000_000), ..Limits::default() };
        let expected = self.interpreted.run(body, arguments, &limits);
        if expected.as_ref().is_err_and(|error| error.failure == Failure::Fuel) {
            return None;
        }
        let found = self.compiled.run(body, arguments, &Limits::default());
        let is_same = match (&expected, &found) {
            (Ok(expected), Ok(found)) => expected.iter().zip(found).all(|(x, y)| is_identical(x, y)),
            // A statement may belong to another body.
            (Err(expected), Err(found)) => expected.failure == found.failure && expected.span == found.span,
            _ => false,
        };
        assert!(
            is_same,
            "{arguments:?}:\ninterpreted {expected:?}\ncompiled    {found:?}\n{}",
            self.module.show(self.module.body(body))
        );
        Some(expected.is_ok())
    }
}

fn sizes_of(arguments: &[Value]) -> Vec<Option<i64>> {
    arguments.iter().flat_map(|value| value.shape().iter()).map(|size| i64::try_from(*size).ok()).collect()
}

/// The laws on generated modules, with all constructs and their derivatives.
#[test]
fn free_code_agrees_on_generated_modules() {
    let (mut n_values, mut n_failures) = (0, 0);
    for (seeds, can_fail, derivatives) in
        [(60..62, false, ALL.as_slice()), (70..74, false, &["adj", "tan"]), (1060..1072, true, &["adj"])]
    {
        let modules = seeds.map(|seed| {
            let text = generate::module(&numbers(seed), can_fail);
            let text = if can_fail { placed(&text) } else { text };
            Bodies::new(&text, derivatives).unwrap_or_else(|error| panic!("{error}\n{text}")).module
        });
        let module = join(modules.collect());
        let roots: Vec<BodyId> =
            (0..module.bodies.len()).map(BodyId::new).filter(|id| is_root(&module, *id)).collect();
        let given = |id: &BodyId, k: i64| {
            let types: Vec<Type> = module.body(*id).params.iter().map(|param| param.ty).collect();
            arguments(&types, k)
        };
        let sizes: Vec<_> = roots.iter().map(|id| sizes_of(&given(id, 2))).collect();
        for sizes in [Vec::new(), sizes] {
            let free = Free::new(module.clone(), &roots, &sizes);
            for id in &roots {
                for k in [0, 2, 3] {
                    match free.check(*id, &given(id, k)) {
                        Some(true) => n_values += 1,
                        Some(false) => n_failures += 1,
                        None => {}
                    }
                }
            }
        }
    }
    assert!(n_values > 100 && n_failures > 20, "{n_values} values, {n_failures} failures");
}

fn num(shape: &[usize], seed: u64) -> Value {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut number = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        #[expect(clippy::cast_precision_loss, reason = "53 bits")]
        let unit = (state >> 11) as f64 / (1_u64 << 53) as f64;
        match state % 23 {
            0 => 0.0,
            1 => -0.0,
            2 => f64::NAN,
            3 => 1e6 * unit,
            _ => 4.0 * unit - 2.0,
        }
    };
    let all: usize = shape.iter().product();
    Value::new(Shape::from(shape.to_vec()), Data::Num((0..all).map(|_| number()).collect())).expect("as many")
}

/// One statement for each construct that lanes have; they are joined at random.
struct Iterations {
    seed: u64,
    n_names: usize,
    nums: Vec<String>,
    vectors: Vec<String>,
    tests: Vec<String>,
    ints: Vec<String>,
    text: String,
}

impl Iterations {
    fn draw(&mut self, n: usize) -> usize {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.seed >> 33).expect("31 bits") % n
    }

    fn of(&mut self, list: &[String]) -> String {
        list[self.draw(list.len())].clone()
    }

    fn name(&mut self) -> String {
        self.n_names += 1;
        format!("t{}", self.n_names)
    }

    fn line(&mut self, text: &str) {
        let at = self.text.lines().count();
        let _ = match text.strip_suffix('{') {
            Some(head) => writeln!(self.text, "{head}@{at}..{at} {{"),
            None => writeln!(self.text, "{text} @{at}..{at}"),
        };
    }

    fn num(&mut self) -> String {
        let nums = self.nums.clone();
        self.of(&nums)
    }

    fn stmt(&mut self, depth: usize) {
        let (name, x, y) = (self.name(), self.num(), self.num());
        let (vectors, tests, ints) = (self.vectors.clone(), self.tests.clone(), self.ints.clone());
        let (v, w, c, j) = (self.of(&vectors), self.of(&vectors), self.of(&tests), self.of(&ints));
        match self.draw(if depth > 1 { 15 } else { 19 }) {
            0 => {
                let word = ["add", "sub", "mul", "div", "maximum", "minimum", "pow"][self.draw(7)];
                self.line(&format!("{name} = {word}({x}, {y})"));
                self.nums.push(name);
            }
            1 => {
                let word = ["neg", "abs", "relu", "exp", "log", "sqrt", "tanh", "sigmoid", "sin", "cos"]
                    [self.draw(10)];
                self.line(&format!("{name} = {word}({x})"));
                self.nums.push(name);
            }
            2 => {
                let word = ["lt", "le", "gt", "ge", "eq", "ne"][self.draw(6)];
                self.line(&format!("{name} = {word}({x}, {y})"));
                self.tests.push(name);
            }
            3 => {
                self.line(&format!("{name} = not({c})"));
                self.tests.push(name);
            }
            4 => {
                self.line(&format!("{name} = where({c}, {x}, {y})"));
                self.nums.push(name);
            }
            5 => {
                let word = ["add", "mul", "sub"][self.draw(3)];
                self.line(&format!("{name} = {word}({v}, {w})"));
                self.vectors.push(name);
            }
            6 => {
                let word = ["exp", "neg", "tanh"][self.draw(3)];
                self.line(&format!("{name} = {word}({v})"));
                self.vectors.push(name);
            }
            7 => {
                self.line(&format!("{name} = sum({v})"));
                self.nums.push(name);
            }
            8 => {
                self.line(&format!("{name} = first_min({v})"));
                self.line(&format!("{name}e = index {v} [{name}]"));
                self.nums.push(format!("{name}e"));
            }
            9 => {
                self.line(&format!("{name} = max({v})"));
                self.nums.push(name);
            }
            10 => {
                self.line(&format!("{name} = mul({v}, {x})"));
                self.vectors.push(name);
            }
            11 => {
                self.line(&format!("{name} = int_mod({j}, m)"));
                self.line(&format!("{name}e = index {v} [{name}]"));
                self.nums.push(format!("{name}e"));
                self.ints.push(name);
            }
            12 => {
                self.line(&format!("{name} = to_num({j})"));
                self.nums.push(name);
            }
            13 => {
                self.line(&format!("{name}z = zeros_like({v})"));
                self.line(&format!("{name}k = int_mod({j}, m)"));
                self.line(&format!("{name}u = update {name}z [{name}k] {x}"));
                self.line(&format!("{name} = increase {name}u [zero] {y}"));
                self.vectors.push(name);
            }
            14 => {
                self.line(&format!("{name} = matmul(q, {v})"));
                self.vectors.push(name);
            }
            15 | 16 => {
                let saved = (self.nums.clone(), self.vectors.clone(), self.tests.clone(), self.ints.clone());
                self.line(&format!("{name}, {name}v = if {c} {{"));
                for branch in 0..2 {
                    let n = 1 + self.draw(3);
                    (0..n).for_each(|_| self.stmt(depth + 1));
                    let (x, vectors) = (self.num(), self.vectors.clone());
                    let v = self.of(&vectors);
                    let _ = writeln!(self.text, "yield {x} {v} }}{}", if branch == 0 { " {" } else { "" });
                    (self.nums, self.vectors, self.tests, self.ints) = saved.clone();
                }
                self.nums.push(name.clone());
                self.vectors.push(format!("{name}v"));
            }
            17 => {
                let saved = (self.nums.clone(), self.vectors.clone(), self.tests.clone(), self.ints.clone());
                self.line(&format!("{name}, {name}r = for {name}j < m ({name}s = {x}) collect ({name}s) {{"));
                self.nums.push(format!("{name}s"));
                self.ints.push(format!("{name}j"));
                let n = 1 + self.draw(3);
                (0..n).for_each(|_| self.stmt(depth + 1));
                let last = self.num();
                let _ = writeln!(self.text, "yield {last} }}");
                (self.nums, self.vectors, self.tests, self.ints) = saved;
                self.nums.push(name.clone());
                self.vectors.push(format!("{name}r"));
            }
            _ => {
                let saved = (self.nums.clone(), self.vectors.clone(), self.tests.clone(), self.ints.clone());
                self.line(&format!("{name} = each {name}j < m acc ({name}a = minus) {{"));
                self.ints.push(format!("{name}j"));
                self.line(&format!("{name}e = index {v} [{name}j]"));
                self.nums.push(format!("{name}e"));
                let n = self.draw(3);
                (0..n).for_each(|_| self.stmt(depth + 1));
                let last = self.num();
                self.line(&format!("add {name}a [] {last}"));
                let _ = writeln!(self.text, "yield }}");
                (self.nums, self.vectors, self.tests, self.ints) = saved;
                self.nums.push(name);
            }
        }
    }
}

/// A body with independent iterations that read rows, gather, add to accumulators, and collect rows; the
/// integers are indices, which may be out of range.
fn independent(seed: u64) -> String {
    let all = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let mut code = Iterations {
        seed,
        n_names: 0,
        nums: all(&["x", "y"]),
        vectors: all(&["row", "v"]),
        tests: all(&["on"]),
        ints: all(&["i", "at"]),
        text: String::new(),
    };
    let results = "(num, num[_], num[_], num[_,_], num[_], bool[_], num[_,_])";
    let _ = writeln!(
        code.text,
        "body f(p: num[_,_], v: num[_], ks: int[_], q: num[_,_], n: int) -> {results} {{"
    );
    for line in [
        "zero = const 0 ()",
        "minus = const -0.0 ()",
        "m = size 0 (v)",
        "d0 = zeros_like(v)",
        "g0 = zeros_like(v)",
    ] {
        code.line(line);
    }
    code.line("r, rv, rt, rs, s, d, g = each i < n acc (sa = minus, da = d0, ga = g0) {");
    code.line("row = index p [i]");
    code.line("x = index row [zero]");
    code.line("at = index ks [i]");
    code.line("y = index v [at]");
    code.line("on = lt(x, y)");
    let n = 4 + code.draw(10);
    (0..n).for_each(|_| code.stmt(0));
    let (last, other) = (code.num(), code.num());
    let vectors = code.vectors.clone();
    let tests = code.tests.clone();
    let (v, w, c) = (code.of(&vectors), code.of(&vectors), code.of(&tests));
    code.line(&format!("add sa [] {last}"));
    match code.draw(3) {
        0 => code.line(&format!("add da [] {v}")),
        1 => code.line(&format!("add da [at] {other}")),
        _ => {
            code.line("each jj < m {");
            code.line(&format!("ee = index {v} [jj]"));
            code.line(&format!("ff = mul(ee, {other})"));
            code.line("add da [jj] ff");
            let _ = writeln!(code.text, "yield }}");
        }
    }
    code.line(&format!("add ga [at] {last}"));
    code.line(&format!("add ga [zero] {other}"));
    let recent = code.nums[code.nums.len().saturating_sub(8)..].join(", ");
    code.line(&format!("recent = stack({recent})"));
    let _ = writeln!(code.text, "yield {last} {w} {c} recent }}");
    let _ = writeln!(code.text, "yield s d r rv g rt rs }}");
    code.text
}

/// Iterations side by side, for counts around the number of lanes.
#[test]
fn lanes_change_no_bit() {
    let (mut n_values, mut n_failures) = (0, 0);
    for batch in 0..4_u64 {
        let modules = (0..10).map(|k| {
            let text = independent(100 * batch + k);
            let mut module = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            own::own(&mut module);
            verify_final(&module).unwrap_or_else(|error| panic!("{error}\n{text}"));
            module
        });
        let module = join(modules.collect());
        let roots: Vec<BodyId> = (0..module.bodies.len()).map(BodyId::new).collect();
        let given = |n: usize, bad: Option<usize>| {
            let mut ks: Vec<i64> = (0..n).map(|k| i64::try_from(k * k % 3).expect("small")).collect();
            if let Some(bad) = bad.filter(|bad| *bad < n) {
                ks[bad] = 7;
            }
            let ks = Value::new(Shape::from(vec![n]), Data::Int(ks)).expect("as many");
            vec![
                num(&[n, 3], batch + 1),
                num(&[3], batch + 2),
                ks,
                num(&[3, 3], batch + 3),
                Value::Int(i64::try_from(n).expect("small")),
            ]
        };
        let sizes = vec![vec![None, Some(3), Some(3), None, Some(3), Some(3)]; roots.len()];
        for sizes in [Vec::new(), sizes] {
            let free = Free::new(module.clone(), &roots, &sizes);
            for id in &roots {
                for n in [0, 1, 3, 9, 16, 31, 40, 71] {
                    for bad in [None, Some(0), Some(12), Some(n.max(1) - 1)] {
                        match free.check(*id, &given(n, bad)) {
                            Some(true) => n_values += 1,
                            Some(false) => n_failures += 1,
                            None => {}
                        }
                    }
                }
            }
        }
    }
    assert!(n_values > 200 && n_failures > 200, "{n_values} values, {n_failures} failures");
}

/// The first extremum of many numbers, which is found by vectors.
#[test]
fn first_extrema_of_many_numbers() {
    let text = "body f(v: num[_]) -> (int, int, num, int) {
        i = first_max(v) j = first_min(v) m = max(v) k = argmax(v) yield i j m k }";
    let module = parse(text).unwrap_or_else(|error| panic!("{error}"));
    let id = BodyId::new(0);
    let free = Free::new(module, &[id], &[]);
    let vector = |xs: Vec<f64>| Value::new(Shape::from(vec![xs.len()]), Data::Num(xs)).expect("as many");
    for seed in 0..40 {
        for n in [1, 63, 64, 65, 96, 130, 257] {
            assert_eq!(free.check(id, &[num(&[n], 1 + 97 * seed)]), Some(true));
        }
    }
    for zeros in [[0.0, -0.0], [-0.0, 0.0]] {
        let mut xs = zeros.repeat(40);
        assert_eq!(free.check(id, &[vector(xs.clone())]), Some(true));
        xs[0] = f64::NAN;
        assert_eq!(free.check(id, &[vector(xs.clone())]), Some(true));
        xs[0] = -1.0;
        xs[70] = f64::NAN;
        xs[71] = 1.0;
        xs[79] = 1.0;
        assert_eq!(free.check(id, &[vector(xs)]), Some(true));
    }
}
