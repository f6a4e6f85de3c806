//! Well-typed modules out of numbers, as text. Smaller numbers give smaller modules.
//!
//! All vectors have three elements, and integers that are used as indices are taken modulo three, so that a
//! module runs; with `can_fail` some are not. Functions are bounded, so that values stay moderate. The
//! modules change any tensor in place: [`own`](eddy_body::own) inserts the necessary copies.

use std::fmt::Write;

use eddy_tests::choices::Choices;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ty {
    Num,
    Vector,
    Int,
    Bool,
}

#[derive(Clone, Debug)]
struct Scope {
    names: Vec<(String, Ty)>,
    /// Accumulators, scalars and vectors.
    accs: Vec<(String, Ty)>,
}

pub struct Generator<'a> {
    choices: Choices<'a>,
    text: String,
    n_names: usize,
    /// Bodies that can be called; each takes a counter.
    callees: Vec<String>,
    can_fail: bool,
    budget: usize,
}

/// A module whose body `f(k: int, a: num, v: num[_]) -> (num, num[_])` calls the others.
pub fn module(numbers: &[u16], can_fail: bool) -> String {
    let mut generator = Generator {
        choices: Choices::new(numbers),
        text: String::new(),
        n_names: 0,
        callees: Vec::new(),
        can_fail,
        budget: 0,
    };
    let helpers = ["g", "h"];
    let n = generator.choices.below(helpers.len() + 1);
    for helper in &helpers[..n] {
        generator.recursive(helper);
        generator.callees.push((*helper).to_owned());
    }
    generator.header("f");
    let mut scope = Generator::parameters();
    generator.budget = 14;
    if let Some(callee) = generator.callees.last().cloned() {
        generator.some(&mut scope, 1);
        generator.call(&mut scope, &callee, "k", 1);
    }
    let results = generator.block(scope, &[Ty::Num, Ty::Vector], 1);
    generator.finish(&results);
    generator.text
}

impl Generator<'_> {
    fn header(&mut self, name: &str) {
        writeln!(self.text, "body {name}(k: int, a: num, v: num[_]) -> (num, num[_]) {{")
            .expect("text grows");
        for (name, value) in
            [("zero", "0"), ("one", "1"), ("three", "3"), ("half", "0.5"), ("nothing", "-0.0")]
        {
            self.line(1, &format!("{name} = const {value} ()"));
        }
        self.line(1, "ix = const int [3] { 2 0 2 } ()");
    }

    fn parameters() -> Scope {
        let names = [("k", Ty::Int), ("a", Ty::Num), ("v", Ty::Vector), ("half", Ty::Num), ("one", Ty::Int)];
        Scope { names: names.map(|(name, ty)| (name.to_owned(), ty)).to_vec(), accs: Vec::new() }
    }

    fn finish(&mut self, results: &[String]) {
        self.line(1, &format!("yield {}", results.join(" ")));
        self.text.push_str("}\n");
    }

    /// A body that may call itself with a smaller counter.
    fn recursive(&mut self, name: &str) {
        self.n_names = 0;
        self.header(name);
        self.line(1, "stop = le(k, zero)");
        self.line(1, "r, w = if stop {");
        self.budget = 5;
        let results = self.block(Generator::parameters(), &[Ty::Num, Ty::Vector], 2);
        self.line(2, &format!("yield {}", results.join(" ")));
        self.line(1, "} {");
        self.line(2, "less = sub(k, one)");
        let mut scope = Generator::parameters();
        self.budget = 5;
        // The call is in the middle, so that it depends on statements, and statements depend on it.
        self.some(&mut scope, 2);
        self.call(&mut scope, name, "less", 2);
        let results = self.block(scope, &[Ty::Num, Ty::Vector], 2);
        self.line(2, &format!("yield {}", results.join(" ")));
        self.line(1, "}");
        self.finish(&["r".to_owned(), "w".to_owned()]);
        self.n_names = 0;
    }

    fn line(&mut self, depth: usize, line: &str) {
        writeln!(self.text, "{:1$}{line}", "", 2 * depth).expect("text grows");
    }

    fn fresh(&mut self) -> String {
        self.n_names += 1;
        format!("n{}", self.n_names)
    }

    /// Statements, then names of these types.
    fn block(&mut self, mut scope: Scope, types: &[Ty], depth: usize) -> Vec<String> {
        while self.budget > 0 && !self.choices.once_in(9) {
            self.some(&mut scope, depth);
        }
        types.iter().map(|ty| self.latest(&mut scope, *ty, depth)).collect()
    }

    fn some(&mut self, scope: &mut Scope, depth: usize) {
        self.budget = self.budget.saturating_sub(1);
        if self.can_fail && self.choices.once_in(4) {
            return self.read(scope, depth);
        }
        let deep = depth > 4;
        match self.choices.below(if deep { 8 } else { 15 }) {
            0 | 1 => self.scalar(scope, depth),
            2 | 3 => self.vector(scope, depth),
            4 => self.read(scope, depth),
            5 => self.change(scope, depth),
            6 => self.integer(scope, depth),
            7 => self.add(scope, depth),
            8 => self.branch(scope, depth),
            9 | 10 => self.counted(scope, depth),
            11 => self.while_loop(scope, depth),
            12 | 13 => self.each(scope, depth),
            _ if self.callees.is_empty() => self.scalar(scope, depth),
            _ => {
                let count = self.choices.among(&["one", "zero", "k"]);
                let callee = self.callees[self.choices.below(self.callees.len())].clone();
                self.call(scope, &callee, count, depth);
            }
        }
    }

    fn define(&mut self, scope: &mut Scope, ty: Ty, depth: usize, value: &str) {
        let name = self.fresh();
        self.line(depth, &format!("{name} = {value}"));
        scope.names.push((name, ty));
    }

    /// Some name of a type; late ones are likely.
    fn pick(&mut self, scope: &mut Scope, ty: Ty, depth: usize) -> String {
        let names: Vec<String> =
            scope.names.iter().filter(|(_, found)| *found == ty).map(|(name, _)| name.clone()).collect();
        if names.is_empty() {
            assert_eq!(ty, Ty::Bool, "the parameters have names of the other types");
            let (x, y) = (self.pick(scope, Ty::Num, depth), self.pick(scope, Ty::Num, depth));
            self.define(scope, Ty::Bool, depth, &format!("lt({x}, {y})"));
            return self.latest(scope, ty, depth);
        }
        let at = self.choices.below(names.len());
        names[names.len() - 1 - at].clone()
    }

    fn latest(&mut self, scope: &mut Scope, ty: Ty, depth: usize) -> String {
        let name = scope.names.iter().rev().find(|(_, found)| *found == ty).map(|(name, _)| name.clone());
        name.unwrap_or_else(|| self.pick(scope, ty, depth))
    }

    fn scalar(&mut self, scope: &mut Scope, depth: usize) {
        let (x, y) = (self.pick(scope, Ty::Num, depth), self.pick(scope, Ty::Num, depth));
        let v = self.pick(scope, Ty::Vector, depth);
        let w = self.pick(scope, Ty::Vector, depth);
        let value = match self.choices.below(10) {
            0 => format!("mul({x}, {y})"),
            1 => format!("add({x}, {y})"),
            2 => format!("sin({x})"),
            3 => format!("tanh({x})"),
            4 => format!("sub({x}, {y})"),
            5 => format!("sigmoid({x})"),
            6 => format!("maximum({x}, {y})"),
            7 => format!("sum({v})"),
            8 => format!("matmul({v}, {w})"),
            _ => format!("max({v})"),
        };
        self.define(scope, Ty::Num, depth, &value);
    }

    fn vector(&mut self, scope: &mut Scope, depth: usize) {
        let x = self.pick(scope, Ty::Num, depth);
        let (v, w) = (self.pick(scope, Ty::Vector, depth), self.pick(scope, Ty::Vector, depth));
        let value = match self.choices.below(8) {
            0 => format!("mul({v}, {x})"),
            1 => format!("mul({v}, {w})"),
            2 => format!("add({v}, {w})"),
            3 => format!("tanh({v})"),
            4 => format!("index {v} [ix]"),
            5 => format!("fill({x}, three)"),
            6 => {
                let t = self.fresh();
                self.line(depth, &format!("{t} = concat({v}, {w})"));
                format!("index {t} [one..four_{t}]")
            }
            _ => format!("sin({v})"),
        };
        if let Some(at) = value.find("four_") {
            let end = &value[at..value.len() - 1];
            self.line(depth, &format!("{end} = add(three, one)"));
        }
        self.define(scope, Ty::Vector, depth, &value);
    }

    /// An index that is in range; with `can_fail`, any index.
    fn place(&mut self, scope: &mut Scope, depth: usize) -> String {
        let i = self.pick(scope, Ty::Int, depth);
        if self.can_fail {
            return self.choices.among(&[i.as_str(), "k"]).to_owned();
        }
        let name = self.fresh();
        self.line(depth, &format!("{name} = int_mod({i}, three)"));
        name
    }

    fn read(&mut self, scope: &mut Scope, depth: usize) {
        let i = self.place(scope, depth);
        let v = self.pick(scope, Ty::Vector, depth);
        self.define(scope, Ty::Num, depth, &format!("index {v} [{i}]"));
    }

    fn change(&mut self, scope: &mut Scope, depth: usize) {
        let (v, w) = (self.pick(scope, Ty::Vector, depth), self.pick(scope, Ty::Vector, depth));
        let x = self.pick(scope, Ty::Num, depth);
        let i = self.place(scope, depth);
        let value = match self.choices.below(4) {
            0 => format!("update {v} [{i}] {x}"),
            1 => format!("increase {v} [{i}] {x}"),
            2 => format!("increase {v} [ix] {w}"),
            _ => {
                let part = self.fresh();
                self.line(depth, &format!("{part} = index {w} [zero..one]"));
                format!("update {v} [zero..one] {part}")
            }
        };
        self.define(scope, Ty::Vector, depth, &value);
    }

    fn integer(&mut self, scope: &mut Scope, depth: usize) {
        let (i, j) = (self.pick(scope, Ty::Int, depth), self.pick(scope, Ty::Int, depth));
        let value = match self.choices.below(if self.can_fail { 6 } else { 3 }) {
            0 => format!("add({i}, {j})"),
            1 => format!("sub({i}, {j})"),
            2 => format!("int_mod({i}, three)"),
            3 => format!("int_div({i}, {j})"),
            _ => {
                self.line(depth, &format!("check_size({i}, {j})"));
                format!("add({i}, {j})")
            }
        };
        self.define(scope, Ty::Int, depth, &value);
    }

    fn add(&mut self, scope: &mut Scope, depth: usize) {
        if scope.accs.is_empty() {
            return self.scalar(scope, depth);
        }
        let (acc, ty) = scope.accs[self.choices.below(scope.accs.len())].clone();
        let value = self.pick(scope, ty, depth);
        if ty == Ty::Vector && self.choices.once_in(2) {
            let (i, x) = (self.place(scope, depth), self.pick(scope, Ty::Num, depth));
            self.line(depth, &format!("add {acc} [{i}] {x}"));
        } else {
            self.line(depth, &format!("add {acc} [] {value}"));
        }
    }

    fn call(&mut self, scope: &mut Scope, callee: &str, count: &str, depth: usize) {
        let (x, v) = (self.pick(scope, Ty::Num, depth), self.pick(scope, Ty::Vector, depth));
        let (y, w) = (self.fresh(), self.fresh());
        self.line(depth, &format!("{y}, {w} = call {callee}({count}, {x}, {v})"));
        scope.names.extend([(y, Ty::Num), (w, Ty::Vector)]);
    }

    fn branch(&mut self, scope: &mut Scope, depth: usize) {
        let condition = self.pick(scope, Ty::Bool, depth);
        let types = [Ty::Num, Ty::Vector, Ty::Int];
        let types = &types[..=self.choices.below(3)];
        let results: Vec<String> = types.iter().map(|_| self.fresh()).collect();
        self.line(depth, &format!("{} = if {condition} {{", results.join(", ")));
        for end in ["} {", "}"] {
            let yields = self.block(scope.clone(), types, depth + 1);
            self.line(depth + 1, &format!("yield {}", yields.join(" ")));
            self.line(depth, end);
        }
        scope.names.extend(results.into_iter().zip(types.iter().copied()));
    }

    /// States with their first values, the scope of the body, and what it yields.
    fn states(&mut self, scope: &mut Scope, types: &[Ty], depth: usize) -> (Vec<String>, Vec<String>) {
        let inits = types.iter().map(|ty| self.pick(scope, *ty, depth)).collect();
        (types.iter().map(|_| self.fresh()).collect(), inits)
    }

    fn accs(&mut self, scope: &mut Scope, depth: usize) -> Vec<(String, Ty, String)> {
        let mut accs = Vec::new();
        for ty in [Ty::Num, Ty::Vector] {
            if self.choices.once_in(2) {
                let init = self.pick(scope, ty, depth);
                accs.push((self.fresh(), ty, init));
            }
        }
        accs
    }

    fn acc_clause(accs: &[(String, Ty, String)]) -> String {
        if accs.is_empty() {
            return String::new();
        }
        let accs: Vec<String> = accs.iter().map(|(name, _, init)| format!("{name} = {init}")).collect();
        format!(" acc ({})", accs.join(", "))
    }

    fn counted(&mut self, scope: &mut Scope, depth: usize) {
        let types = [Ty::Num, Ty::Vector, Ty::Int];
        let types = &types[..=self.choices.below(3)];
        let (states, inits) = self.states(scope, types, depth);
        let accs = self.accs(scope, depth);
        let index = self.fresh();
        let count = self.choices.among(&["three", "one", "zero"]);
        let mut results: Vec<String> = types.iter().map(|_| self.fresh()).collect();
        let mut inside = scope.clone();
        inside.names.push((index.clone(), Ty::Int));
        inside.names.extend(states.iter().cloned().zip(types.iter().copied()));
        inside.accs.extend(accs.iter().map(|(name, ty, _)| (name.clone(), *ty)));
        // The collected name is known only after the body is written.
        let collects = self.choices.once_in(2);
        let before = std::mem::take(&mut self.text);
        let yields = self.block(inside, types, depth + 1);
        let body = std::mem::replace(&mut self.text, before);
        let bindings: Vec<String> =
            states.iter().zip(&inits).map(|(state, init)| format!("{state} = {init}")).collect();
        let collect = if collects { format!(" collect ({})", yields[0]) } else { String::new() };
        let rows = self.fresh();
        if collects {
            results.push(rows.clone());
        }
        let sums: Vec<String> = accs.iter().map(|_| self.fresh()).collect();
        results.extend(sums.iter().cloned());
        let clause = Generator::acc_clause(&accs);
        self.line(
            depth,
            &format!(
                "{} = for {index} < {count} ({}){collect}{clause} {{",
                results.join(", "),
                bindings.join(", ")
            ),
        );
        self.text.push_str(&body);
        self.line(depth + 1, &format!("yield {}", yields.join(" ")));
        self.line(depth, "}");
        scope.names.extend(results.into_iter().zip(types.iter().copied()));
        scope.names.extend(sums.into_iter().zip(accs.iter().map(|(_, ty, _)| *ty)));
        if collects {
            self.define(scope, Ty::Num, depth, &format!("sum({rows})"));
        }
    }

    fn while_loop(&mut self, scope: &mut Scope, depth: usize) {
        let types = [Ty::Num, Ty::Vector];
        let types = &types[..=self.choices.below(2)];
        let (states, inits) = self.states(scope, types, depth);
        let counter = self.fresh();
        let limit = self.choices.among(&["three", "one", "zero"]);
        let (next, test, both) = (self.fresh(), self.fresh(), self.fresh());
        let mut results: Vec<String> = types.iter().map(|_| self.fresh()).collect();
        let outer = results.clone();
        results.extend([self.fresh(), self.fresh()]);
        let bindings: Vec<String> =
            states.iter().zip(&inits).map(|(state, init)| format!("{state} = {init}")).collect();
        self.line(
            depth,
            &format!("{} = while ({}, {counter} = zero) {{", results.join(", "), bindings.join(", ")),
        );
        let bound = self.fresh();
        self.line(depth + 1, &format!("{bound} = const 4.0 ()"));
        self.line(depth + 1, &format!("{test} = lt({counter}, {limit})"));
        self.line(depth + 1, &format!("{both}_x = lt({}, {bound})", states[0]));
        self.line(depth + 1, &format!("{both} = and({test}, {both}_x)"));
        self.line(depth + 1, &format!("yield {both}"));
        self.line(depth, "} {");
        let mut inside = scope.clone();
        inside.names.push((counter.clone(), Ty::Int));
        inside.names.extend(states.iter().cloned().zip(types.iter().copied()));
        self.line(depth + 1, &format!("{next} = add({counter}, one)"));
        let yields = self.block(inside, types, depth + 1);
        self.line(depth + 1, &format!("yield {} {next}", yields.join(" ")));
        self.line(depth, "}");
        scope.names.extend(outer.into_iter().zip(types.iter().copied()));
    }

    fn each(&mut self, scope: &mut Scope, depth: usize) {
        let accs = self.accs(scope, depth);
        let index = self.fresh();
        let (rows, sums): (String, Vec<String>) = (self.fresh(), accs.iter().map(|_| self.fresh()).collect());
        let results = [vec![rows.clone()], sums.clone()].concat();
        let clause = Generator::acc_clause(&accs);
        self.line(depth, &format!("{} = each {index} < three{clause} {{", results.join(", ")));
        let mut inside = scope.clone();
        inside.names.push((index, Ty::Int));
        inside.accs.extend(accs.iter().map(|(name, ty, _)| (name.clone(), *ty)));
        let yields = self.block(inside, &[Ty::Num], depth + 1);
        self.line(depth + 1, &format!("yield {}", yields[0]));
        self.line(depth, "}");
        scope.names.push((rows, Ty::Vector));
        scope.names.extend(sums.into_iter().zip(accs.iter().map(|(_, ty, _)| *ty)));
    }
}
