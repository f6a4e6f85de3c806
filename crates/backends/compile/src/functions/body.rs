//! A body becomes a C function: its statements in order, scalars as locals, tensors in the arena.
//!
//! ```text
//! // Returns 0, or the code of a failure.
//! static int NAME(eddy_arena *a, parameters.., where the results go..)
//! ```
//!
//! A tensor is a pointer and its sizes, which are C locals or literals. Every local is assigned once, so two
//! sizes with the same text are equal. [`small`](super::small) describes the code for known sizes.

use std::rc::Rc;

use eddy_body::verify::Types;
use eddy_body::{Body, BodyId, Elem, Kind, Module, Operation, Region, Stmt, Type, Var};
use rustc_hash::{FxHashMap, FxHashSet};

use super::aliases::Aliases;
use super::facts::{Facts, Guarded, Interval};
use super::names::Names;
use super::sites::Sites;
use super::tapes::Layout;
use super::text::Text;
use super::variants::{Budget, Known, Variant};
use super::{Meter, Place};

/// How C reads a name.
#[derive(Clone, Debug)]
pub(super) enum Repr {
    /// An expression without effects that needs no parentheses.
    Scalar(String),
    Tensor(Tensor),
}

impl Shared<'_> {
    /// Whether the code counts fuel, and the depth of all calls.
    pub fn is_metered(&self) -> bool {
        self.meter == Meter::Exact
    }
}

/// A tensor in row-major order.
#[derive(Clone, Debug)]
pub(super) struct Tensor {
    pub data: String,
    pub sizes: Vec<String>,
}

/// What all functions of a module share.
pub(super) struct Shared<'a> {
    pub module: &'a Module,
    pub types: Rc<Types>,
    pub names: Vec<String>,
    pub all_names: Names,
    /// The text of the functions, each after those that it calls.
    pub functions: String,
    /// The functions for known sizes of their arguments.
    pub variants: FxHashMap<(BodyId, Known), Variant>,
    /// The number of functions that are being written.
    pub depth: usize,
    /// Bodies whose function for all sizes is called but not written yet; `general` contains all called ones.
    pub waiting: Vec<BodyId>,
    pub general: Vec<BodyId>,
    /// Bodies that call no other.
    pub calls_none: Vec<bool>,
    /// For each body, the bodies that it calls directly or indirectly.
    pub reached: Vec<FxHashSet<BodyId>>,
    pub sites: Sites,
    /// Maps a site to line and column; without it, C reports the number of the site.
    pub place: Option<&'a Place<'a>>,
    pub uses_arena: bool,
    pub meter: Meter,
    /// Whether a needed body may call itself.
    pub is_recursive: bool,
    pub uses_lanes: bool,
    /// The text of constant tensors.
    pub tables: String,
    pub n_tables: usize,
}

pub(super) struct Emitter<'a, 'm> {
    pub shared: &'a mut Shared<'m>,
    pub id: BodyId,
    pub body: &'m Body,
    pub types: &'a [Type],
    pub text: Text,
    pub facts: Facts,
    pub aliases: Aliases,
    pub names: Names,
    pub reprs: Vec<Option<Repr>>,
    /// Results of inner loops that are rows of outer ones: their place, and their size.
    pub direct: FxHashMap<Var, (String, String)>,
    /// Whether the statements so far use the low and the high end of the arena.
    pub uses_low: bool,
    pub uses_high: bool,
    /// Whether the statements are the body of a loop that the compiler can vectorise.
    pub vectorises: bool,
    /// The site of the current statement, as arguments of the failing functions.
    pub at: String,
    /// The number of places so far that can fail.
    pub n_fails: usize,
    /// The declarations of tensors that are C arrays, and the number of bytes left for more.
    pub arrays: String,
    pub budget: Budget,
    /// The layouts of tapes, and of the tapes in rows.
    pub layouts: FxHashMap<Var, Rc<Layout>>,
    /// How often the current statements are written.
    pub n_copies: i64,
    /// Where a failing check goes, if the statements are for iterations in lanes.
    pub bail: Option<String>,
    /// The names that are read once, and the texts of elements of those that are not stored.
    pub once: FxHashSet<Var>,
    pub lazy: FxHashMap<Var, String>,
}

pub(super) fn c_type(elem: Elem) -> &'static str {
    match elem {
        Elem::Num => "double",
        Elem::Int | Elem::Enum(_) => "int64_t",
        Elem::Bool => "bool",
        Elem::Tape => "eddy_word *",
    }
}

/// A declaration of a local or parameter; the star of a pointer is next to the name.
pub(super) fn declared(elem: Elem, stars: &str, name: &str) -> String {
    match elem {
        Elem::Tape => format!("eddy_word *{stars}{name}"),
        _ => format!("{} {stars}{name}", c_type(elem)),
    }
}

pub(super) fn n_bytes(elem: Elem) -> usize {
    if elem == Elem::Bool { 1 } else { 8 }
}

pub(super) fn int_literal(value: i64) -> String {
    match value {
        i64::MIN => "(-INT64_C(9223372036854775807) - 1)".to_owned(),
        value if value < 0 => format!("(-INT64_C({}))", -value),
        value => format!("INT64_C({value})"),
    }
}

/// Whether tapes can leave the body.
pub(super) fn has_tapes(body: &Body) -> bool {
    let is_tape = |ty: &Type| ty.elem == Elem::Tape;
    body.results.iter().any(is_tape) || body.params.iter().any(|param| is_tape(&param.ty))
}

impl Emitter<'_, '_> {
    pub fn ty(&self, var: Var) -> Type {
        self.types[var.index()]
    }

    pub fn repr(&self, var: Var) -> &Repr {
        self.reprs[var.index()].as_ref().expect("names are defined before they are used")
    }

    pub fn scalar(&self, var: Var) -> String {
        match self.repr(var) {
            Repr::Scalar(_) if self.facts.interval(var).single().is_some() => {
                self.facts.interval(var).single().map(int_literal).expect("it is known")
            }
            Repr::Scalar(text) => text.clone(),
            Repr::Tensor(_) => unreachable!("the module is verified: this is a scalar"),
        }
    }

    pub fn tensor(&self, var: Var) -> Tensor {
        match self.repr(var) {
            Repr::Tensor(tensor) => Tensor { data: tensor.data.clone(), sizes: self.sizes(var) },
            Repr::Scalar(_) => unreachable!("the module is verified: this is a tensor"),
        }
    }

    /// The sizes of a name; empty for a scalar.
    pub fn sizes(&self, var: Var) -> Vec<String> {
        match self.repr(var) {
            Repr::Tensor(tensor) => tensor.sizes.iter().map(|size| self.facts.canonical(size)).collect(),
            Repr::Scalar(_) => Vec::new(),
        }
    }

    pub fn set(&mut self, var: Var, repr: Repr) {
        self.reprs[var.index()] = Some(repr);
    }

    /// A new C name that resembles the name of a variable.
    pub fn name(&mut self, var: Var) -> String {
        self.names.of(self.body.name(var))
    }

    pub fn line(&mut self, line: &str) {
        self.text.line(line);
    }

    /// Declares a local that is assigned only here.
    pub fn define(&mut self, var: Var, value: &str) {
        let name = self.name(var);
        let elem = self.ty(var).elem;
        match elem {
            Elem::Tape => self.line(&format!("eddy_word *const {name} = {value};")),
            _ => self.line(&format!("const {} {name} = {value};", c_type(elem))),
        }
        self.set(var, Repr::Scalar(name));
    }

    /// A local integer that belongs to a tensor or a loop.
    pub fn local_int(&mut self, like: &str, value: &str) -> String {
        let name = self.names.of(like);
        self.line(&format!("const int64_t {name} = {value};"));
        name
    }

    pub fn fail(&mut self, condition: &str, what: &str) {
        self.n_fails += 1;
        if let Some(label) = &self.bail {
            return self.text.line(&format!("if (EDDY_RARE({condition})) goto {label};"));
        }
        let at = &self.at;
        self.text.line(&format!("if (EDDY_RARE({condition})) EDDY_FAIL({what}, {at});"));
    }

    pub fn fail_with(&mut self, condition: &str, what: &str, details: &[String]) {
        self.n_fails += 1;
        if let Some(label) = &self.bail {
            return self.text.line(&format!("if (EDDY_RARE({condition})) goto {label};"));
        }
        let (at, details) = (&self.at, details.join(", "));
        self.text.line(&format!("if (EDDY_RARE({condition})) EDDY_FAIL_WITH({what}, {at}, {details});"));
    }

    /// Uses one unit of fuel.
    pub fn burn(&mut self) {
        if self.shared.is_metered() {
            self.fail("a->fuel-- == 0", "EDDY_FUEL");
        }
    }

    /// Allocates memory for this many elements, as a C array or at the low end of the arena.
    pub fn allocate(&mut self, name: &str, elem: Elem, count: &str) {
        if let Some(n) = self.facts.literal(count)
            && self.allocate_array(name, elem, n)
        {
            return;
        }
        self.uses_low = true;
        let bytes = n_bytes(elem);
        self.line(&format!(
            "{} = eddy_low(a, (size_t)({count}) * {bytes});",
            declared(elem, "*const ", name)
        ));
        self.fail(&format!("!{name}"), "EDDY_MEMORY");
    }

    /// The number of elements of a tensor whose sizes are those of an existing one.
    pub fn n_elements(&mut self, name: &str, sizes: &[String]) -> String {
        if let Some(all) = self.facts.literal_elements(sizes) {
            return int_literal(all);
        }
        match sizes {
            [size] => size.clone(),
            sizes => self.local_int(&format!("{name}_all"), &sizes.join(" * ")),
        }
    }

    /// The number of elements of a tensor of new sizes; fails at run time if it is too large.
    pub fn new_elements(&mut self, name: &str, sizes: &[String]) -> String {
        if let Some(all) = self.facts.literal_elements(sizes) {
            return int_literal(all);
        }
        let elements = match sizes {
            [size] => format!("EDDY_ELEMENTS1({size})"),
            sizes => format!("eddy_elements({}, {})", sizes.len(), array(sizes)),
        };
        let all = self.local_int(&format!("{name}_all"), &elements);
        self.fail(&format!("{all} < 0"), "EDDY_MEMORY");
        all
    }

    /// Memory for a result, and the number of its elements.
    pub fn result(&mut self, var: Var, sizes: Vec<String>, are_new: bool) -> (String, String) {
        let sizes: Vec<String> = sizes.iter().map(|size| self.facts.canonical(size)).collect();
        let name = self.name(var);
        let all = if are_new { self.new_elements(&name, &sizes) } else { self.n_elements(&name, &sizes) };
        self.allocate(&name, self.ty(var).elem, &all);
        self.set(var, Repr::Tensor(Tensor { data: name.clone(), sizes }));
        (name, all)
    }

    /// Lets a result share the memory of its operand, or copies the operand if this memory is changed.
    pub fn share(&mut self, var: Var, from: Tensor) {
        if self.aliases.is_changed(var) {
            return self.copy(var, &from);
        }
        self.set(var, Repr::Tensor(from));
    }

    pub fn copy(&mut self, var: Var, from: &Tensor) {
        let (name, all) = self.result(var, from.sizes.clone(), false);
        self.copy_elements(&name, &from.data, &all, self.ty(var).elem);
    }

    /// Copies elements; the two arrays do not overlap.
    pub fn copy_elements(&mut self, to: &str, from: &str, all: &str, elem: Elem) {
        if let Some(n) = self.few(all) {
            for k in 0..n {
                self.line(&format!("{to}[{k}] = {from}[{k}];"));
            }
            return;
        }
        let bytes = n_bytes(elem);
        // The tensors of a recursion are usually small.
        if bytes == 8 && self.shared.reached[self.id.index()].contains(&self.id) {
            return self.line(&format!("eddy_copy_words({to}, {from}, {all});"));
        }
        self.line(&format!("__builtin_memcpy({to}, {from}, (size_t)({all}) * {bytes});"));
    }

    /// Returns what `write` writes, without adding it to the text.
    pub fn aside<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> (String, T) {
        let before = std::mem::take(&mut self.text.lines);
        let result = write(self);
        (std::mem::replace(&mut self.text.lines, before), result)
    }

    pub fn region(&mut self, region: &Region) {
        for stmt in &region.stmts {
            self.at_stmt(stmt);
            self.stmt(stmt);
        }
    }

    pub fn at_stmt(&mut self, stmt: &Stmt) {
        let site = self.shared.sites.add(self.id, stmt.span, &stmt.kind);
        self.at = match self.shared.place {
            None => format!("{site}, 0"),
            Some(place) => {
                let (line, col) = place(stmt.span);
                format!("{line}, {col}")
            }
        };
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            Kind::Const(literal) => self.constant(stmt.results[0], literal),
            Kind::Op(operation, operands) => self.operation(stmt, operation, operands),
            Kind::Index(array, at) => self.index(stmt.results[0], *array, at),
            Kind::Update(array, at, value) => self.change(*array, at, *value, false, Some(stmt.results[0])),
            Kind::Increase(array, at, value) => self.change(*array, at, *value, true, Some(stmt.results[0])),
            Kind::Add(acc, at, value) => self.change(*acc, at, *value, true, None),
            Kind::If(condition, yes, no) => self.branches(stmt, *condition, [yes, no]),
            Kind::Call(_, callee, arguments) => self.call(stmt, *callee, arguments),
            Kind::Loop(repeat) => self.repeat(stmt, repeat),
            Kind::Unpack(types, tape) => self.unpack(&stmt.results, types, *tape),
        }
    }

    fn branches(&mut self, stmt: &Stmt, condition: Var, regions: [&Region; 2]) {
        let at = self.at.clone();
        if let Some(truth) = self.facts.truth(condition) {
            return self.only_branch(stmt, usize::from(!truth), regions[usize::from(!truth)]);
        }
        let mut ends = Vec::new();
        for (branch, region) in regions.into_iter().enumerate() {
            let before = self.facts.clone();
            self.facts.assume(condition, branch);
            self.text.depth += 1;
            let (text, ()) = self.aside(|emitter| emitter.region(region));
            self.text.depth -= 1;
            let yields: Vec<Tensor> = region
                .yields
                .iter()
                .map(|var| match self.repr(*var).clone() {
                    Repr::Scalar(text) => Tensor { data: text, sizes: Vec::new() },
                    Repr::Tensor(_) => self.tensor(*var),
                })
                .collect();
            ends.push((text, yields, std::mem::replace(&mut self.facts, before)));
        }
        self.at.clone_from(&at);
        let targets: Vec<Tensor> = stmt
            .results
            .iter()
            .enumerate()
            .map(|(k, result)| self.branch_target(*result, &ends[0].1[k].sizes, &ends[1].1[k].sizes))
            .collect();
        let mut intervals: Vec<Vec<Interval>> = Vec::new();
        // Only literals are visible after the branches.
        let literal = |facts: &Facts, size: &String| facts.literal(size).map(int_literal);
        let mut sizes: Vec<Vec<Vec<String>>> = Vec::new();
        for (_, yields, facts) in &ends {
            let of = |tensor: &Tensor| tensor.sizes.iter().filter_map(|size| literal(facts, size)).collect();
            let of = |tensor: &Tensor| -> Vec<String> {
                let known: Vec<String> = of(tensor);
                if known.len() == tensor.sizes.len() { known } else { Vec::new() }
            };
            sizes.push(yields.iter().map(of).collect());
        }
        self.text.open(&format!("if ({})", self.scalar(condition)));
        for (branch, (text, yields, facts)) in ends.into_iter().enumerate() {
            if branch == 1 {
                self.text.reopen("else");
            }
            self.text.lines.push_str(&text);
            intervals.push(regions[branch].yields.iter().map(|var| facts.interval(*var)).collect());
            let before = std::mem::replace(&mut self.facts, facts);
            for ((result, target), from) in stmt.results.iter().zip(&targets).zip(yields) {
                self.end_branch(*result, branch, target, from);
            }
            self.facts = before;
        }
        self.text.close();
        for (k, result) in stmt.results.iter().enumerate() {
            for (branch, (own, guarded)) in intervals.iter().zip(&sizes).enumerate() {
                self.facts.guard(condition, branch, Guarded::Interval(*result, own[k]));
                for (size, own) in targets[k].sizes.iter().zip(&guarded[k]) {
                    self.facts.guard(condition, branch, Guarded::Size(size.clone(), own.clone()));
                }
            }
            self.facts.set_interval(*result, intervals[0][k].or(intervals[1][k]));
            let [yes, no] = regions.map(|region| self.layouts.get(&region.yields[k]).cloned());
            match yes.filter(|yes| no.as_ref() == Some(yes)) {
                Some(layout) => self.layouts.insert(*result, layout),
                None => self.layouts.remove(result),
            };
        }
        for (result, target) in stmt.results.iter().zip(targets) {
            let repr = if target.sizes.is_empty() { Repr::Scalar(target.data) } else { Repr::Tensor(target) };
            self.set(*result, repr);
        }
    }

    /// Writes only one branch, because the condition is known.
    fn only_branch(&mut self, stmt: &Stmt, branch: usize, region: &Region) {
        self.region(region);
        for (result, yielded) in stmt.results.iter().zip(&region.yields) {
            self.same_layout(*result, *yielded);
            match self.repr(*yielded).clone() {
                Repr::Tensor(tensor) if !self.aliases.is_moved(*result, branch) => {
                    self.copy(*result, &tensor);
                }
                repr => {
                    self.facts.set_interval(*result, self.facts.interval(*yielded));
                    self.set(*result, repr);
                }
            }
        }
    }

    /// Declares the locals for a result of an `if`: a C array, or a pointer and the sizes that are not known.
    fn branch_target(&mut self, result: Var, yes: &[String], no: &[String]) -> Tensor {
        let (ty, name) = (self.ty(result), self.name(result));
        if ty.rank > 0
            && yes == no
            && let Some(all) = self.facts.literal_elements(yes)
            && self.few(&int_literal(all)).is_some()
            && self.allocate_array(&name, ty.elem, all)
        {
            return Tensor { data: name, sizes: yes.to_vec() };
        }
        let stars = if ty.rank == 0 { "" } else { "*" };
        self.line(&format!("{};", declared(ty.elem, stars, &name)));
        let mut sizes = Vec::new();
        for (k, (yes, no)) in yes.iter().zip(no).enumerate() {
            let mut size = yes.clone();
            if yes != no || self.facts.literal(yes).is_none() {
                size = self.names.of(&format!("{name}_n{k}"));
                self.line(&format!("int64_t {size};"));
            }
            sizes.push(size);
        }
        Tensor { data: name, sizes }
    }

    fn end_branch(&mut self, result: Var, branch: usize, target: &Tensor, mut from: Tensor) {
        if from.sizes.is_empty() {
            return self.line(&format!("{} = {};", target.data, from.data));
        }
        if self.is_array(&target.data) {
            let all = self.n_elements(&target.data, &target.sizes);
            return self.copy_elements(&target.data, &from.data, &all, self.ty(result).elem);
        }
        if !self.aliases.is_moved(result, branch) {
            self.copy(result, &from);
            from = self.tensor(result);
        }
        self.line(&format!("{} = {};", target.data, from.data));
        for (size, from) in target.sizes.iter().zip(&from.sizes).filter(|(size, from)| size != from) {
            self.line(&format!("{size} = {from};"));
        }
    }

    fn operation(&mut self, stmt: &Stmt, operation: &Operation, operands: &[Var]) {
        match operation {
            Operation::Table(op) => self.table_operation(stmt.results[0], op, operands),
            Operation::Sized(sized) => self.sized(stmt.results[0], *sized, operands),
            Operation::Fill => self.fill(stmt.results[0], operands),
            Operation::Size(axis) => {
                let size = self.sizes(operands[0])[*axis].clone();
                let known = self.facts.literal(&size).map_or(Interval::SIZE, Interval::of);
                self.facts.set_interval(stmt.results[0], known);
                self.set(stmt.results[0], Repr::Scalar(size));
            }
            Operation::ReverseIndex => {
                let (n, i) = (self.scalar(operands[0]), self.scalar(operands[1]));
                let is_index =
                    self.facts.below(operands[1]).is_some_and(|size| self.facts.are_same(size, &n));
                let (count, index) = (self.facts.interval(operands[0]), self.facts.interval(operands[1]));
                if let (Some(count), Some(index)) = (count.single(), index.single())
                    && index < count
                {
                    let index = count - 1 - index;
                    self.facts.set_interval(stmt.results[0], Interval::of(index));
                    return self.set(stmt.results[0], Repr::Scalar(int_literal(index)));
                }
                self.define(stmt.results[0], &format!("{n} - 1 - {i}"));
                if is_index {
                    self.facts.set_below(stmt.results[0], &n);
                    let hi = self.facts.interval(operands[0]).hi - 1;
                    self.facts.set_interval(stmt.results[0], Interval { lo: 0, hi });
                }
            }
            Operation::FirstMax | Operation::FirstMin => {
                let tensor = self.tensor(operands[0]);
                let n = tensor.sizes[0].clone();
                self.fail(&format!("{n} == 0"), "EDDY_EMPTY");
                let word = if *operation == Operation::FirstMax { "max" } else { "min" };
                let suffix = if self.ty(operands[0]).elem == Elem::Num { "" } else { "_int" };
                self.define(stmt.results[0], &format!("eddy_first_{word}{suffix}({n}, {})", tensor.data));
                self.facts.set_below(stmt.results[0], &n);
                self.facts.set_interval(stmt.results[0], Interval { lo: 0, hi: Interval::SIZE.hi - 1 });
            }
            Operation::CheckSize => {
                let (found, required) = (self.scalar(operands[0]), self.scalar(operands[1]));
                if !self.facts.are_same(&found, &required) {
                    let details = [found.clone(), required.clone()];
                    self.fail_with(&format!("{found} != {required}"), "EDDY_SIZE", &details);
                    self.facts.set_same(&found, &required);
                    for (var, other) in [(operands[0], &required), (operands[1], &found)] {
                        if let Some(size) = self.facts.literal(other) {
                            self.facts.set_interval(var, Interval::of(size));
                        }
                    }
                }
            }
            Operation::CheckSome => {
                let n = self.scalar(operands[0]);
                self.fail(&format!("{n} <= 0"), "EDDY_EMPTY");
            }
            Operation::FailOrder => {
                let at = &self.at;
                self.n_fails += 1;
                // A condition, so that the compiler does not warn about unreachable statements after it.
                self.text.line(&format!("if (a) EDDY_FAIL(EDDY_ORDER, {at});"));
            }
            Operation::Pack => self.pack(stmt.results[0], operands),
        }
    }
}

/// A list of integers as a C array.
pub(super) fn array(sizes: &[String]) -> String {
    if sizes.is_empty() {
        return "(const int64_t *)0".to_owned();
    }
    format!("(const int64_t[]){{ {} }}", sizes.join(", "))
}
