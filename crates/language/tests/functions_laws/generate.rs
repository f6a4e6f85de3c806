//! Generated functions: well typed by construction, moderate in value, and written in several styles.
//!
//! A [`Style`] changes only how a construct is written, never which one is chosen: the same numbers in two
//! styles are two texts that must mean the same.

use eddy_tests::choices::Choices;

/// How constructs are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent ways of writing the same")]
pub struct Style {
    /// Other names.
    pub renamed: bool,
    /// The body of a declared function instead of its call.
    pub inlined: bool,
    /// Operands are bound by `let` first.
    pub bound: bool,
    pub lambdas: Lambdas,
    pub loops: Loops,
    /// Records instead of tuples.
    pub records: bool,
}

/// How a function is passed as an argument.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lambdas {
    #[default]
    InPlace,
    BoundByLet,
    LocalFunctions,
}

/// How a loop with a count is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Loops {
    #[default]
    For,
    While,
    TailRecursion,
}

/// A function from a number and a vector of three to a number, with the functions that it calls.
pub fn scalar_function(name: &str, numbers: &[u16], style: Style) -> String {
    let mut writer = Writer::new(name, numbers, style);
    let body = writer.num(4);
    writer.program(name, "num", &body)
}

/// The same with three numbers as its result.
pub fn vector_function(name: &str, numbers: &[u16], style: Style) -> String {
    let mut writer = Writer::new(name, numbers, style);
    let body = writer.vec(4);
    writer.program(name, "num [3]", &body)
}

/// A number as an expression over `x`, `v` and further numbers in scope.
pub fn expression(prefix: &str, numbers: &[u16], scope: &[&str], style: Style) -> (String, String) {
    let mut writer = Writer::new(prefix, numbers, style);
    writer.nums = scope.iter().map(|name| (*name).to_string()).collect();
    let body = writer.num(3);
    (writer.declared, body)
}

/// Functions that generated ones call.
pub const PRELUDE: &str = "fn apply(f: (num) -> num, x: num) -> num = f(x);
";

struct Writer<'a> {
    choices: Choices<'a>,
    style: Style,
    /// The name of the function, which makes the names of its helpers unique.
    name: String,
    n_names: usize,
    declared: String,
    n_declared: usize,
    nums: Vec<String>,
    vecs: Vec<String>,
    ints: Vec<String>,
}

impl<'a> Writer<'a> {
    fn new(name: &str, numbers: &'a [u16], style: Style) -> Writer<'a> {
        Writer {
            choices: Choices::new(numbers),
            style,
            name: name.to_string(),
            n_names: 0,
            declared: String::new(),
            n_declared: 0,
            nums: vec!["x".to_string()],
            vecs: vec!["v".to_string()],
            ints: Vec::new(),
        }
    }

    fn program(self, name: &str, result: &str, body: &str) -> String {
        format!("{}fn {name}(x: num, v: num [3]) -> {result} =\n  {body};\n", self.declared)
    }

    fn fresh(&mut self, name: &str) -> String {
        self.n_names += 1;
        if self.style.renamed { format!("other{}", self.n_names) } else { format!("{name}{}", self.n_names) }
    }

    /// Calls `write` with more numbers in scope.
    fn with_nums(&mut self, names: &[&str], write: impl FnOnce(&mut Self) -> String) -> String {
        let before = self.nums.len();
        self.nums.extend(names.iter().map(|name| (*name).to_string()));
        let text = write(self);
        self.nums.truncate(before);
        text
    }

    fn with_int(&mut self, name: &str, write: impl FnOnce(&mut Self) -> String) -> String {
        self.ints.push(name.to_string());
        let text = write(self);
        self.ints.pop();
        text
    }

    /// An operand, perhaps bound by `let`.
    fn operand(&mut self, value: String) -> String {
        if !self.style.bound {
            return value;
        }
        let name = self.fresh("t");
        format!("(let {name} = {value} in {name})")
    }

    /// An index of three.
    fn index(&mut self) -> String {
        let at = self.choices.below(3 + self.ints.len());
        if at < 3 { at.to_string() } else { format!("{} mod 3", self.ints[at - 3]) }
    }

    fn condition(&mut self, depth: usize) -> String {
        match self.choices.below(3) {
            0 => format!("{} < {}", self.num(depth), self.num(depth)),
            1 => format!("{} == 1", self.index()),
            _ => format!("({} > 0.25 and {} != 0)", self.num(depth), self.index()),
        }
    }

    fn leaf(&mut self) -> String {
        match self.choices.below(4) {
            0 | 1 => {
                let at = self.choices.below(self.nums.len());
                self.nums[self.nums.len() - 1 - at].clone()
            }
            2 => self.choices.among(&["0.5", "1.25", "-0.75", "2.0"]).to_string(),
            _ => match self.ints.last() {
                Some(int) => format!("num({int})"),
                None => "0.375".to_string(),
            },
        }
    }

    fn num(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.leaf();
        }
        let d = depth - 1;
        let text = match self.choices.below(17) {
            0 => return self.leaf(),
            1 | 2 => {
                let op = self.choices.among(&["+", "*", "-"]);
                format!("({} {op} {})", self.num(d), self.num(d))
            }
            3 => format!("{}({})", self.choices.among(&["sin", "tanh", "cos", "sigmoid"]), self.num(d)),
            4 => format!("(if {} then {} else {})", self.condition(0), self.num(d), self.num(d)),
            5 => {
                let (name, value) = (self.fresh("a"), self.num(d));
                let body = self.with_nums(&[&name], |writer| writer.num(d));
                format!("(let {name} = {value} in {body})")
            }
            6 => self.counted(d),
            7 => self.sum(d),
            8 => format!("{}[{}]", self.vec(d), self.index()),
            9 => format!("sum({})", self.vec(d)),
            10 => self.helper(d),
            11 => self.applied(d),
            12 => self.pair(d),
            13 => self.recursion(d),
            14 => {
                let (word, i) = (self.choices.among(&["max", "min", "prod"]), self.fresh("i"));
                let term = self.with_int(&i, |writer| writer.num(d));
                format!("tanh({word}({i} < 3: {term}))")
            }
            15 => {
                let (y, n) = (self.fresh("y"), self.fresh("n"));
                let start = self.num(d);
                let body = self.with_nums(&[&y], |writer| writer.num(d));
                format!(
                    "(loop ({y}, {n}) = ({start}, 0) while {n} < 3 and {y} < 2.5 do (sin({body}), {n} + 1)).0"
                )
            }
            _ => {
                let name = self.fresh("m");
                let cases = (self.num(d), self.num(d));
                format!(
                    "(let {name} = {} in if {name} > 0.0 then {name} * {} else {})",
                    self.num(d),
                    cases.0,
                    cases.1
                )
            }
        };
        self.operand(text)
    }

    /// A loop with a count, in the style of loops.
    fn counted(&mut self, d: usize) -> String {
        let count = self.choices.below(4);
        let (s, i) = (self.fresh("s"), self.fresh("i"));
        let start = self.num(d);
        let body = self.with_int(&i, |writer| writer.with_nums(&[&s], |writer| writer.num(d)));
        let body = format!("sin({body})");
        match self.style.loops {
            Loops::For => format!("(fold {s} = {start} for {i} < {count} do {body})"),
            Loops::While => {
                format!("(fold ({s}, {i}) = ({start}, 0) while {i} < {count} do ({body}, {i} + 1)).0")
            }
            Loops::TailRecursion => {
                let go = self.fresh("go");
                format!(
                    "(let {go}({s}: num, {i}: int) -> num = if {i} >= {count} then {s} else {go}({body}, {i} + 1) \
                     in {go}({start}, 0))"
                )
            }
        }
    }

    fn sum(&mut self, d: usize) -> String {
        let i = self.fresh("i");
        let term = self.with_int(&i, |writer| writer.num(d));
        match self.choices.below(3) {
            0 => format!("sum({i} < 3: {term})"),
            1 => format!("sum({i} < 4 if {i} mod 2 == 1: {term})"),
            _ => {
                let j = self.fresh("j");
                let other = self.with_int(&j, Writer::leaf);
                format!("sum({i} < 3, {j} < {i}: {term} * {other})")
            }
        }
    }

    /// A call of a declared function of two numbers, or its body.
    fn helper(&mut self, d: usize) -> String {
        let arguments = [self.num(d), self.num(d)];
        let names = [self.fresh("p"), self.fresh("q")];
        // A declared function sees its parameters only.
        let outer =
            (std::mem::take(&mut self.nums), std::mem::take(&mut self.vecs), std::mem::take(&mut self.ints));
        let body = self.with_nums(&[&names[0], &names[1]], |writer| writer.num(d.min(2)));
        (self.nums, self.vecs, self.ints) = outer;
        let [p, q] = &names;
        let [a, b] = &arguments;
        if self.style.inlined {
            // The second argument does not see the first parameter.
            let second = self.fresh("t");
            let first = self.fresh("t");
            return format!(
                "(let {first} = {a} in let {second} = {b} in let {p} = {first} in let {q} = {second} in {body})"
            );
        }
        self.n_declared += 1;
        let name = format!("{}_{}", self.name, self.n_declared);
        let declaration = format!("fn {name}({p}: num, {q}: num) -> num = {body};\n");
        self.declared.push_str(&declaration);
        format!("{name}({a}, {b})")
    }

    /// A function passed to another one.
    fn applied(&mut self, d: usize) -> String {
        let parameter = self.fresh("z");
        let body = self.with_nums(&[&parameter], |writer| writer.num(d));
        let argument = self.num(d);
        let f = self.fresh("f");
        let call = |f: &str| format!("apply({f}, {argument})");
        match self.style.lambdas {
            Lambdas::InPlace => call(&format!("\\{parameter}. {body}")),
            Lambdas::BoundByLet => format!("(let {f} = \\{parameter}. {body} in {})", call(&f)),
            Lambdas::LocalFunctions => {
                format!("(let {f}({parameter}: num) -> num = {body} in {})", call(&f))
            }
        }
    }

    fn pair(&mut self, d: usize) -> String {
        let (first, second) = (self.num(d), self.num(d));
        let name = self.fresh("r");
        let fields = if self.style.records { ["first", "second"] } else { ["0", "1"] };
        let [a, b] = fields.map(|field| format!("{name}.{field}"));
        let body = self.with_nums(&[&a, &b], |writer| writer.num(d));
        if self.style.records {
            format!("(let {name} = {{first = {first}, second = {second}}} in {body})")
        } else {
            format!("(let {name} = ({first}, {second}) in {body})")
        }
    }

    /// A function that calls itself, its result used in the caller.
    fn recursion(&mut self, d: usize) -> String {
        let [go, x, n] = ["rec", "x", "n"].map(|name| self.fresh(name));
        let depth = self.choices.below(4);
        let base = self.with_nums(&[&x], |writer| writer.num(d.min(1)));
        let step = self.with_nums(&[&x], |writer| writer.num(d));
        let start = self.num(d);
        format!(
            "(let {go}({x}: num, {n}: int) -> num = \
             if {n} <= 0 then {base} else tanh({x} * {go}(sin({step}), {n} - 1)) in {go}({start}, {depth}))"
        )
    }

    fn vec(&mut self, depth: usize) -> String {
        let at = if self.vecs.is_empty() { 0 } else { self.choices.below(self.vecs.len()) };
        let known = self.vecs.get(at).cloned().unwrap_or_else(|| "[0.5, -1.0, 0.25]".to_string());
        if depth == 0 {
            return known;
        }
        let d = depth - 1;
        match self.choices.below(9) {
            0 => known,
            1 => format!("[{}, {}, {}]", self.num(d), self.num(d.min(1)), self.num(0)),
            2 => {
                let i = self.fresh("i");
                let element = self.with_int(&i, |writer| writer.num(d));
                format!("[{i} < 3: {element}]")
            }
            3 => format!("({} {} {})", self.vec(d), self.choices.among(&["+", "*", "-"]), self.vec(d)),
            4 => {
                let (op, at) = (self.choices.among(&["=", "+="]), self.index());
                format!("({} with [{at}] {op} {})", self.vec(d), self.num(d))
            }
            5 => format!("{}[[2, {}, 0]]", self.vec(d), self.index()),
            6 => {
                let (s, i) = (self.fresh("s"), self.fresh("i"));
                let start = self.num(d);
                let body = self.with_int(&i, |writer| writer.with_nums(&[&s], |writer| writer.num(d)));
                format!("(scan {s} = {start} for {i} < 3 do sin({body}))")
            }
            7 => {
                let (w, i) = (self.fresh("w"), self.fresh("i"));
                let start = self.vec(d);
                self.vecs.push(w.clone());
                let value = self.with_int(&i, |writer| writer.num(d));
                let at = self.with_int(&i, Self::index);
                self.vecs.pop();
                format!("(fold {w} = {start} for {i} < 3 do {w} with [{at}] = sin({value}))")
            }
            _ => format!("scatter(3, [{}, 1], [{}, {}])", self.index(), self.num(d), self.num(0)),
        }
    }
}
