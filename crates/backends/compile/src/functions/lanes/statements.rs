//! Statements whose operands depend on the index.

use eddy_body::{Elem, Kind, Operation, Sized, Stmt, Var};
use eddy_tensor::Op;

use super::super::body::{Tensor, int_literal};
use super::super::facts::Interval;
use super::super::scalar::{function, is_elementwise};
use super::values::{at_address, vector_type};
use super::{Lane, Lanes, VECTOR};

impl Lanes<'_, '_, '_> {
    pub(super) fn stmt(&mut self, stmt: &Stmt) -> Option<()> {
        if let Kind::Op(Operation::Size(axis), operands) = &stmt.kind
            && let Some(tensor) = self.lane_tensor(operands[0])
        {
            let size = tensor.sizes[*axis].clone();
            let known = self.e.facts.literal(&size).map_or(Interval::SIZE, Interval::of);
            self.e.facts.set_interval(stmt.results[0], known);
            self.e.set(stmt.results[0], super::super::body::Repr::Scalar(size));
            return Some(());
        }
        if !self.analysis.touches(stmt) {
            return self.uniform(stmt);
        }
        match &stmt.kind {
            Kind::Op(Operation::CheckSome, operands) => {
                self.require(|lanes, u| Some(format!("{} <= EDDY_ALLW(0)", lanes.vector(operands[0], u)?)))
            }
            Kind::Op(Operation::CheckSize, operands) => self.require(|lanes, u| {
                Some(format!("{} != {}", lanes.vector(operands[0], u)?, lanes.vector(operands[1], u)?))
            }),
            Kind::Op(operation, operands) => self.operation(*stmt.results.first()?, operation, operands),
            Kind::Index(array, at) => self.index(stmt.results[0], *array, at),
            Kind::Update(array, at, value) => self.change(stmt.results[0], *array, at, *value, false),
            Kind::Increase(array, at, value) => self.change(stmt.results[0], *array, at, *value, true),
            Kind::Add(acc, at, value) => self.add(*acc, at, *value),
            Kind::If(condition, yes, no) => self.branches(stmt, *condition, [yes, no]),
            Kind::Loop(repeat) => self.repeat(stmt, repeat),
            Kind::Const(_) | Kind::Call(..) | Kind::Unpack(..) => None,
        }
    }

    /// Leaves the block if a test holds in an executed lane.
    pub(super) fn require(&mut self, test: impl Fn(&Self, usize) -> Option<String>) -> Option<()> {
        let tests = self.each_vector(|u| {
            let test = test(self, u)?;
            Some(match &self.mask {
                Some(mask) => format!("EDDY_ANY((eddy_w)({test}) & {mask}_{u})"),
                None => format!("EDDY_ANY((eddy_w)({test}))"),
            })
        })?;
        self.e.fail(&tests.join(" || "), "EDDY_EMPTY");
        Some(())
    }

    fn operation(&mut self, result: Var, operation: &Operation, operands: &[Var]) -> Option<()> {
        match operation {
            Operation::Table(op) if is_elementwise(op) || matches!(op, Op::Copy | Op::StopGradient) => {
                self.elementwise(result, op, operands)
            }
            Operation::Table(op) => self.whole(result, op, operands),
            Operation::Sized(sized) => self.sized(result, *sized, operands),
            Operation::Fill => {
                let sizes = self.given_sizes(&operands[1..])?;
                let x = operands[0];
                if sizes.is_empty() {
                    let texts = self.each_vector(|u| self.vector(x, u))?;
                    self.define(result, &texts);
                    return Some(());
                }
                self.new_tensor(result, sizes, |lanes, _, u| lanes.vector(x, u))
            }
            Operation::FirstMax | Operation::FirstMin => {
                let sign = if *operation == Operation::FirstMax { ">" } else { "<" };
                self.first(result, operands[0], |x, best| format!("{x} {sign} {best}"))
            }
            _ => None,
        }
    }

    /// Sizes that are certainly not negative.
    fn given_sizes(&self, operands: &[Var]) -> Option<Vec<String>> {
        let size = |var: &Var| {
            if let Some(size @ 0..) = self.e.facts.interval(*var).single() {
                return Some(int_literal(size));
            }
            let is_size = !self.values.contains_key(var) && self.e.facts.interval(*var).lo >= 0;
            is_size.then(|| self.e.facts.canonical(&self.e.scalar(*var)))
        };
        operands.iter().map(size).collect()
    }

    fn elementwise(&mut self, result: Var, op: &Op, operands: &[Var]) -> Option<()> {
        if operands.iter().all(|var| self.ty(*var).rank == 0) {
            return self.scalars(result, op, operands);
        }
        let tensors = operands.iter().filter(|var| self.ty(**var).rank > 0);
        let shapes: Vec<Vec<String>> = tensors.map(|var| self.sizes(*var)).collect::<Option<_>>()?;
        if shapes.iter().any(|sizes| !self.e.facts.all_same(&shapes[0], sizes)) {
            return None;
        }
        if operands.iter().any(|var| self.ty(*var).elem != Elem::Num && self.ty(*var).elem != Elem::Bool) {
            return None;
        }
        if let Some(function) = function(op) {
            let sizes = shapes[0].clone();
            let data = self.memory("elements", Elem::Num, &sizes)?;
            let inputs: Vec<String> = operands
                .iter()
                .map(|var| match self.lane_tensor(*var) {
                    Some(tensor) => Some(tensor.data),
                    None => self.copied_to(*var, &sizes),
                })
                .collect::<Option<_>>()?;
            let all = self.product(&sizes);
            let width = self.width;
            let inputs = inputs.join(", ");
            self.line(&format!("eddy_many_{function}({all} * {width}, {inputs}, {data});"));
            self.values.insert(result, Lane::Tensor(Tensor { data, sizes }));
            return Some(());
        }
        let elems: Vec<Elem> = operands.iter().map(|var| self.ty(*var).elem).collect();
        self.new_tensor(result, shapes[0].clone(), |lanes, k, u| {
            let texts: Vec<String> =
                operands.iter().map(|var| lanes.element(*var, k, u)).collect::<Option<_>>()?;
            expression(op, &texts, &elems)
        })
    }

    /// The elements of any operand, stretched to these sizes.
    fn copied_to(&mut self, var: Var, sizes: &[String]) -> Option<String> {
        let elem = self.ty(var).elem;
        let data = self.memory("stretched", elem, sizes)?;
        self.fill(&data, elem, sizes, |lanes, k, u| lanes.element(var, k, u))?;
        Some(data)
    }

    fn scalars(&mut self, result: Var, op: &Op, operands: &[Var]) -> Option<()> {
        let elems: Vec<Elem> = operands.iter().map(|var| self.ty(*var).elem).collect();
        if elems[0] == Elem::Int && self.ty(result).elem == Elem::Int {
            return self.integers(result, op, operands);
        }
        if let Some(function) = function(op) {
            let width = self.width;
            let mut names = Vec::new();
            for var in operands {
                let name = self.e.names.of("from");
                self.line(&format!("double {name}[{width}] __attribute__((aligned(64)));"));
                for u in 0..self.n_vectors {
                    let vector = self.vector(*var, u)?;
                    self.line(&format!("EDDY_V({name} + {}) = {vector};", VECTOR * u));
                }
                names.push(name);
            }
            let to = self.e.names.of("to");
            self.line(&format!("double {to}[{width}] __attribute__((aligned(64)));"));
            self.line(&format!("eddy_many_{function}({width}, {}, {to});", names.join(", ")));
            let texts: Vec<String> = (0..self.n_vectors)
                .map(|u| at_address(Elem::Num, &format!("{to} + {}", VECTOR * u)))
                .collect();
            self.define(result, &texts);
            return Some(());
        }
        let texts = self.each_vector(|u| {
            let texts: Vec<String> =
                operands.iter().map(|var| self.vector(*var, u)).collect::<Option<_>>()?;
            expression(op, &texts, &elems)
        })?;
        if let Op::Copy | Op::StopGradient = op {
            let interval = self.e.facts.interval(operands[0]);
            self.e.facts.set_interval(result, interval);
        }
        self.define(result, &texts);
        Some(())
    }

    /// Operations on integers that certainly do not overflow.
    fn integers(&mut self, result: Var, op: &Op, operands: &[Var]) -> Option<()> {
        let a = self.e.facts.interval(operands[0]);
        let b = operands.get(1).map_or(Interval::ALL, |var| self.e.facts.interval(*var));
        let interval = match op {
            Op::Add => a.plus(b),
            Op::Sub => a.minus(b),
            Op::Mul => a.times(b),
            Op::Neg => Interval::of(0).minus(a),
            Op::Copy | Op::StopGradient | Op::ToInt => a,
            Op::Maximum => Interval { lo: a.lo.max(b.lo), hi: a.hi.max(b.hi) },
            Op::Minimum => Interval { lo: a.lo.min(b.lo), hi: a.hi.min(b.hi) },
            Op::IntDiv | Op::IntMod => {
                if self.is_varying(operands[1]) {
                    return None;
                }
                if b.lo <= 0 && b.hi >= 0 {
                    let divisor = self.e.scalar(operands[1]);
                    self.e.fail(&format!("{divisor} == 0"), "EDDY_DIVISION");
                }
                if a.lo == Interval::ALL.lo && b.lo <= -1 && b.hi >= -1 {
                    return None;
                }
                if *op == Op::IntMod {
                    let divisor = self.e.scalar(operands[1]);
                    self.e.facts.set_below(result, &divisor);
                    Interval { lo: 0, hi: (b.lo.abs().max(b.hi.abs()) - 1).max(0) }
                } else if a.lo >= 0 && b.lo > 0 {
                    Interval { lo: a.lo / b.hi, hi: a.hi / b.lo }
                } else {
                    Interval::ALL
                }
            }
            _ => return None,
        };
        if !interval.fits() {
            return None;
        }
        let texts = self.each_vector(|u| {
            let x = self.vector(operands[0], u)?;
            let y = match operands.get(1) {
                Some(var) => self.vector(*var, u)?,
                None => String::new(),
            };
            Some(match op {
                Op::Add => format!("{x} + {y}"),
                Op::Sub => format!("{x} - {y}"),
                Op::Mul => format!("{x} * {y}"),
                Op::Neg => format!("-{x}"),
                Op::Maximum => format!("EDDY_BLENDW((eddy_w)({y} > {x}), {y}, {x})"),
                Op::Minimum => format!("EDDY_BLENDW((eddy_w)({y} < {x}), {y}, {x})"),
                Op::IntDiv => format!("EDDY_EACHW2(eddy_div, {x}, {y})"),
                Op::IntMod => format!("EDDY_EACHW2(eddy_mod, {x}, {y})"),
                _ => x,
            })
        })?;
        self.e.facts.set_interval(result, interval);
        self.define(result, &texts);
        Some(())
    }

    fn sized(&mut self, result: Var, sized: Sized, operands: &[Var]) -> Option<()> {
        let x = operands[0];
        let sizes = self.given_sizes(&operands[1..])?;
        let from = self.sizes(x)?;
        match sized {
            Sized::Broadcast if self.ty(x).rank == 0 => {
                self.new_tensor(result, sizes, |lanes, _, u| lanes.vector(x, u))
            }
            Sized::Broadcast | Sized::Reduce if self.e.facts.all_same(&from, &sizes) => {
                self.new_tensor(result, sizes, |lanes, k, u| lanes.element(x, k, u))
            }
            Sized::Reshape if self.ty(x).rank > 0 && !sizes.is_empty() => {
                let all = self.e.facts.literal_elements(&sizes);
                let is_same = self.e.facts.all_same(&from, &sizes)
                    || all.is_some() && all == self.e.facts.literal_elements(&from);
                let tensor = self.lane_tensor(x)?;
                if is_same { self.share(result, Tensor { data: tensor.data, sizes }) } else { None }
            }
            _ => None,
        }
    }

    fn whole(&mut self, result: Var, op: &Op, operands: &[Var]) -> Option<()> {
        match op {
            Op::Sum(axis) if self.ty(operands[0]).elem == Elem::Num => {
                if self.ty(operands[0]).rank == 0 {
                    return self.scalars(result, &Op::Copy, operands);
                }
                if self.ty(result).rank > 0 || axis.is_some() && self.ty(operands[0]).rank > 1 {
                    return None;
                }
                self.sum(result, operands[0])
            }
            Op::Max(None) if self.ty(operands[0]).elem == Elem::Num && self.ty(operands[0]).rank > 0 => {
                let at = self.e.names.of("at");
                let best = self.best(&at, operands[0], exceeds)?;
                let texts: Vec<String> = (0..self.n_vectors).map(|u| format!("{best}_{u}")).collect();
                self.define(result, &texts);
                Some(())
            }
            Op::Matmul => self.matmul(result, operands),
            Op::Outer => {
                let (x, y) = (self.sizes(operands[0])?, self.sizes(operands[1])?);
                let sizes = vec![x[0].clone(), y[0].clone()];
                let m = y[0].clone();
                self.new_tensor(result, sizes, |lanes, k, u| {
                    let left = lanes.element(operands[0], &format!("{k} / {m}"), u)?;
                    let right = lanes.element(operands[1], &format!("{k} % {m}"), u)?;
                    Some(format!("{left} * {right}"))
                })
            }
            Op::Concat | Op::Stack => self.joined(result, op, operands),
            Op::Transpose if self.ty(operands[0]).rank < 2 => match self.lane_tensor(operands[0]) {
                Some(tensor) => self.share(result, tensor),
                None => self.scalars(result, &Op::Copy, operands),
            },
            _ => None,
        }
    }

    /// The sum of all elements, from the first on.
    fn sum(&mut self, result: Var, x: Var) -> Option<()> {
        let all = self.sizes(x)?;
        let all = self.product(&all);
        let name = self.e.name(result);
        let start = match self.e.facts.literal(&all) {
            Some(0) => "0.0".to_owned(),
            Some(_) => "-0.0".to_owned(),
            None => format!("({all} == 0 ? 0.0 : -0.0)"),
        };
        for u in 0..self.n_vectors {
            self.line(&format!("eddy_v {name}_{u} = EDDY_ALLV({start});"));
        }
        let k = self.e.names.of("k");
        self.e.text.open(&format!("for (int64_t {k} = 0; {k} < {all}; {k}++)"));
        for u in 0..self.n_vectors {
            let element = self.element(x, &k, u)?;
            self.line(&format!("{name}_{u} += {element};"));
        }
        self.e.text.close();
        self.values.insert(result, Lane::Scalar(name));
        Some(())
    }

    /// The index of the first extremum.
    fn first(&mut self, result: Var, x: Var, wins: impl Fn(&str, &str) -> String) -> Option<()> {
        let name = self.e.name(result);
        self.best(&name, x, wins)?;
        let n = self.sizes(x)?[0].clone();
        self.e.facts.set_below(result, &n);
        self.e.facts.set_interval(result, Interval { lo: 0, hi: Interval::SIZE.hi - 1 });
        self.values.insert(result, Lane::Scalar(name));
        Some(())
    }

    /// Declares the index of the first extremum by this name; returns the name of the extremum.
    fn best(&mut self, name: &str, x: Var, wins: impl Fn(&str, &str) -> String) -> Option<String> {
        if self.ty(x).elem != Elem::Num {
            return None;
        }
        let all = self.sizes(x)?;
        let all = self.product(&all);
        self.e.fail(&format!("{all} == 0"), "EDDY_EMPTY");
        let best = self.e.names.of("best");
        for u in 0..self.n_vectors {
            let first = self.element(x, "0", u)?;
            self.line(&format!("eddy_w {name}_{u} = EDDY_ALLW(0);"));
            self.line(&format!("eddy_v {best}_{u} = {first};"));
        }
        let k = self.e.names.of("k");
        self.e.text.open(&format!("for (int64_t {k} = 1; {k} < {all}; {k}++)"));
        for u in 0..self.n_vectors {
            let element = self.element(x, &k, u)?;
            let mask = self.e.names.of("wins");
            self.line(&format!("const eddy_v {mask}_x = {element};"));
            let test = wins(&format!("{mask}_x"), &format!("{best}_{u}"));
            self.line(&format!("const eddy_w {mask} = (eddy_w)({test});"));
            self.line(&format!("{name}_{u} = EDDY_BLENDW({mask}, EDDY_ALLW({k}), {name}_{u});"));
            self.line(&format!("{best}_{u} = EDDY_BLENDV({mask}, {mask}_x, {best}_{u});"));
        }
        self.e.text.close();
        Some(best)
    }

    fn matmul(&mut self, result: Var, operands: &[Var]) -> Option<()> {
        let (x, y) = (self.sizes(operands[0])?, self.sizes(operands[1])?);
        let inner = x.last()?.clone();
        if !self.e.facts.are_same(&inner, &y[0]) || self.e.facts.literal(&inner).is_none_or(|n| n < 1) {
            return None;
        }
        let n = if x.len() == 2 { x[0].clone() } else { "1".to_owned() };
        let m = if y.len() == 2 { y[1].clone() } else { "1".to_owned() };
        let sizes: Vec<String> = x[..x.len() - 1].iter().chain(&y[1..]).cloned().collect();
        let elem = Elem::Num;
        let data = self.memory("product", elem, &sizes)?;
        let (i, j, l) = (self.e.names.of("i"), self.e.names.of("j"), self.e.names.of("l"));
        self.e.text.open(&format!("for (int64_t {i} = 0; {i} < {n}; {i}++)"));
        self.e.text.open(&format!("for (int64_t {j} = 0; {j} < {m}; {j}++)"));
        let sum = self.e.names.of("sum");
        for u in 0..self.n_vectors {
            let left = self.element(operands[0], &format!("{i} * {inner}"), u)?;
            let right = self.element(operands[1], &j, u)?;
            self.line(&format!("eddy_v {sum}_{u} = {left} * {right};"));
        }
        self.e.text.open(&format!("for (int64_t {l} = 1; {l} < {inner}; {l}++)"));
        for u in 0..self.n_vectors {
            let left = self.element(operands[0], &format!("{i} * {inner} + {l}"), u)?;
            let right = self.element(operands[1], &format!("{l} * {m} + {j}"), u)?;
            self.line(&format!("{{ const eddy_v left = {left}, right = {right}; {sum}_{u} = EDDY_FMAV(left, right, {sum}_{u}); }}"));
        }
        self.e.text.close();
        for u in 0..self.n_vectors {
            let to = self.at(elem, &data, &format!("{i} * {m} + {j}"), u);
            self.line(&format!("{to} = {sum}_{u};"));
        }
        self.e.text.close();
        self.e.text.close();
        if sizes.is_empty() {
            let texts = self.each_vector(|u| Some(self.at(elem, &data, "0", u)))?;
            self.define(result, &texts);
        } else {
            self.values.insert(result, Lane::Tensor(Tensor { data, sizes }));
        }
        Some(())
    }

    /// Operands one behind the other.
    fn joined(&mut self, result: Var, op: &Op, operands: &[Var]) -> Option<()> {
        let shapes: Vec<Vec<String>> = operands.iter().map(|var| self.sizes(*var)).collect::<Option<_>>()?;
        let is_stack = *op == Op::Stack;
        let inner = if is_stack { shapes[0].clone() } else { shapes[0][1..].to_vec() };
        let own = |sizes: &[String]| if is_stack { sizes.to_vec() } else { sizes[1..].to_vec() };
        if shapes.iter().any(|sizes| !self.e.facts.all_same(&inner, &own(sizes))) {
            return None;
        }
        let counts: Vec<i64> =
            shapes.iter().map(|sizes| self.e.facts.literal_elements(sizes)).collect::<Option<_>>()?;
        let rows: i64 = if is_stack {
            i64::try_from(operands.len()).ok()?
        } else {
            shapes.iter().map(|sizes| self.e.facts.literal(&sizes[0])).sum::<Option<i64>>()?
        };
        let sizes: Vec<String> = std::iter::once(int_literal(rows)).chain(inner).collect();
        let elem = self.ty(result).elem;
        let like = self.e.body.name(result).to_owned();
        let data = self.memory(&like, elem, &sizes)?;
        let mut start = 0;
        for (var, count) in operands.iter().zip(counts) {
            let part = [int_literal(count)];
            let offset = format!("({data} + {})", start * i64::try_from(self.width).ok()?);
            self.fill(&offset, elem, &part, |lanes, k, u| lanes.element(*var, k, u))?;
            start += count;
        }
        self.values.insert(result, Lane::Tensor(Tensor { data, sizes }));
        Some(())
    }
}

/// NaN counts as larger than any number.
fn exceeds(x: &str, y: &str) -> String {
    format!("((eddy_w)({x} > {y}) | ((eddy_w)({x} != {x}) & (eddy_w)({y} == {y})))")
}

/// An operation on vectors.
fn expression(op: &Op, texts: &[String], elems: &[Elem]) -> Option<String> {
    let x = texts.first().map_or("", String::as_str);
    let y = texts.get(1).map_or("", String::as_str);
    let is_num = elems.first() == Some(&Elem::Num);
    let ty = vector_type(if is_num { Elem::Num } else { Elem::Int });
    Some(match op {
        Op::Add if is_num => format!("{x} + {y}"),
        Op::Sub if is_num => format!("{x} - {y}"),
        Op::Mul if is_num => format!("{x} * {y}"),
        Op::Div if is_num => format!("{x} / {y}"),
        Op::Neg if is_num => format!("-{x}"),
        Op::Lt => format!("(eddy_w)({x} < {y})"),
        Op::Le => format!("(eddy_w)({x} <= {y})"),
        Op::Gt => format!("(eddy_w)({x} > {y})"),
        Op::Ge => format!("(eddy_w)({x} >= {y})"),
        Op::Eq => format!("(eddy_w)({x} == {y})"),
        Op::Ne => format!("(eddy_w)({x} != {y})"),
        Op::And => format!("{x} & {y}"),
        Op::Or => format!("{x} | {y}"),
        Op::Not => format!("~{x}"),
        Op::Where => {
            let other = texts.get(2)?;
            if elems.get(1) == Some(&Elem::Num) {
                format!("EDDY_BLENDV({x}, {y}, {other})")
            } else {
                format!("EDDY_BLENDW({x}, {y}, {other})")
            }
        }
        Op::Maximum if is_num => {
            let wins = exceeds(y, x);
            format!("EDDY_BLENDV({wins}, {y}, {x})")
        }
        Op::Minimum if is_num => {
            let wins = format!("((eddy_w)({y} < {x}) | ((eddy_w)({y} != {y}) & (eddy_w)({x} == {x})))");
            format!("EDDY_BLENDV({wins}, {y}, {x})")
        }
        Op::Abs if is_num => format!("(eddy_v)((eddy_w){x} & EDDY_ALLW(INT64_MAX))"),
        Op::Relu if is_num => format!("EDDY_BLENDV((eddy_w)({x} <= EDDY_ALLV(0.0)), EDDY_ALLV(0.0), {x})"),
        Op::Sqrt => format!("EDDY_SQRTV({x})"),
        Op::ToNum if is_num => x.to_owned(),
        Op::ToNum if elems[0] == Elem::Int => format!("__builtin_convertvector({x}, eddy_v)"),
        Op::ZerosLike => format!("({ty}){{ 0 }}"),
        Op::OnesLike if is_num => "EDDY_ALLV(1.0)".to_owned(),
        Op::OnesLike => "EDDY_ALLW(1)".to_owned(),
        Op::Copy | Op::StopGradient => x.to_owned(),
        _ => return None,
    })
}
