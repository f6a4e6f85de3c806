//! A body becomes a C function: its statements in order, scalars as locals, tensors in the arena.
//!
//! ```text
//! // Returns 0, or the code of a failure.
//! static int NAME(eddy_arena *a, parameters.., where the results go..)
//! ```
//!
//! A tensor is a pointer and its sizes, which are C locals or literals. Every local is assigned once, so the
//! text of a size says which sizes are equal.

use eddy_body::{Body, BodyId, Elem, Kind, Module, Operation, Region, Stmt, Type, Var};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Place;
use super::aliases::Aliases;
use super::facts::{Facts, Interval};
use super::names::Names;
use super::sites::Sites;
use super::text::Text;

/// How C reads a name.
#[derive(Clone, Debug)]
pub(super) enum Repr {
    /// An expression without effects that needs no parentheses.
    Scalar(String),
    Tensor(Tensor),
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
    pub names: Vec<String>,
    /// Bodies that call no other.
    pub calls_none: Vec<bool>,
    /// For each body those that it reaches by calls.
    pub reached: Vec<FxHashSet<BodyId>>,
    pub sites: Sites,
    /// What a site is called in C, if not by its number: line and column.
    pub place: Option<&'a Place<'a>>,
    pub uses_arena: bool,
    /// Tensors that are constants.
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
    /// Results of inner loops that are rows of outer ones: where they belong, and their size.
    pub direct: FxHashMap<Var, (String, String)>,
    /// Whether the statements so far use the two ends of the arena.
    pub uses_low: bool,
    pub uses_high: bool,
    /// Whether the statements are the body of a loop that the compiler can vectorise.
    pub vectorises: bool,
    /// The place of the statement at hand, as arguments of the failing functions.
    pub at: String,
}

pub(super) fn c_type(elem: Elem) -> &'static str {
    match elem {
        Elem::Num => "double",
        Elem::Int | Elem::Enum(_) => "int64_t",
        Elem::Bool => "bool",
        Elem::Tape => "eddy_word *",
    }
}

/// A declaration of a local or parameter; pointers keep their star beside the name.
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

/// The parameters of the function of a body, by name.
pub(super) fn head(shared: &Shared<'_>, id: BodyId, names: &mut Names, reprs: &mut [Option<Repr>]) -> String {
    let body = shared.module.body(id);
    let mut list = vec!["eddy_arena *a".to_owned()];
    for param in &body.params {
        let name = names.of(body.name(param.var));
        let repr = if param.ty.rank == 0 {
            let stars = if param.is_acc { "*" } else { "" };
            list.push(declared(param.ty.elem, stars, &name));
            Repr::Scalar(if param.is_acc { format!("(*{name})") } else { name })
        } else {
            list.push(declared(param.ty.elem, "*", &name));
            let sizes: Vec<String> = (0..param.ty.rank).map(|k| names.of(&format!("{name}_n{k}"))).collect();
            list.extend(sizes.iter().map(|size| format!("int64_t {size}")));
            Repr::Tensor(Tensor { data: name, sizes })
        };
        reprs[param.var.index()] = Some(repr);
    }
    for (k, ty) in body.results.iter().enumerate() {
        let stars = if ty.rank == 0 { "*" } else { "**" };
        list.push(declared(ty.elem, stars, &format!("eddy_r{k}")));
        if ty.rank > 0 {
            list.push(format!("int64_t *eddy_r{k}_n"));
        }
    }
    // Compilers merge functions that are called once, and then take very long for the large ones of
    // derivatives.
    let linkage = if n_statements(&body.region) > INLINED { "EDDY_LARGE int" } else { "static int" };
    format!("{linkage} {}({})", shared.names[id.index()], list.join(", "))
}

/// Bodies of more statements are not inlined: a call costs nothing beside them.
const INLINED: usize = 60;

fn n_statements(region: &Region) -> usize {
    let inside = |stmt: &Stmt| stmt.kind.regions().into_iter().map(n_statements).sum::<usize>();
    region.stmts.iter().map(|stmt| 1 + inside(stmt)).sum()
}

/// The text of the function of a body.
pub(super) fn function(shared: &mut Shared<'_>, id: BodyId, types: &[Type]) -> String {
    let body = shared.module.body(id);
    let mut names = Names::default();
    let mut reprs = vec![None; body.names.len()];
    let head = head(shared, id, &mut names, &mut reprs);
    let mut emitter = Emitter {
        shared,
        id,
        body,
        types,
        text: Text { lines: String::new(), depth: 1 },
        facts: Facts::default(),
        aliases: Aliases::new(body),
        names,
        reprs,
        direct: FxHashMap::default(),
        uses_low: false,
        uses_high: false,
        vectorises: false,
        at: String::new(),
    };
    emitter.region(&body.region);
    emitter.finish();
    emitter.shared.uses_arena |= emitter.uses_low || emitter.uses_high;
    let (uses_low, uses_high) = (emitter.uses_low, emitter.uses_high && !has_tapes(body));
    let mut text = format!("\n{head} {{\n");
    if uses_low || body.results.iter().any(|ty| ty.rank > 0) {
        text.push_str("  const size_t eddy_mark = a->low;\n");
    }
    if uses_high {
        text.push_str("  const size_t eddy_mark_high = a->high;\n");
    }
    text.push_str(&emitter.text.lines);
    if uses_high {
        text.push_str("  a->high = eddy_mark_high;\n");
    }
    text.push_str("  return 0;\n}\n");
    text
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
            Repr::Scalar(text) => text.clone(),
            Repr::Tensor(_) => unreachable!("the module is verified: this is a scalar"),
        }
    }

    pub fn tensor(&self, var: Var) -> Tensor {
        match self.repr(var) {
            Repr::Tensor(tensor) => tensor.clone(),
            Repr::Scalar(_) => unreachable!("the module is verified: this is a tensor"),
        }
    }

    /// The sizes of a name, none for a scalar.
    pub fn sizes(&self, var: Var) -> Vec<String> {
        match self.repr(var) {
            Repr::Tensor(tensor) => tensor.sizes.clone(),
            Repr::Scalar(_) => Vec::new(),
        }
    }

    pub fn set(&mut self, var: Var, repr: Repr) {
        self.reprs[var.index()] = Some(repr);
    }

    /// A new C name like that of a variable.
    pub fn name(&mut self, var: Var) -> String {
        self.names.of(self.body.name(var))
    }

    pub fn line(&mut self, line: &str) {
        self.text.line(line);
    }

    /// A local that is assigned here and nowhere else.
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
        let at = &self.at;
        self.text.line(&format!("if (EDDY_RARE({condition})) EDDY_FAIL({what}, {at});"));
    }

    pub fn fail_with(&mut self, condition: &str, what: &str, details: &[String]) {
        let (at, details) = (&self.at, details.join(", "));
        self.text.line(&format!("if (EDDY_RARE({condition})) EDDY_FAIL_WITH({what}, {at}, {details});"));
    }

    /// Memory for so many elements, below the next temporaries.
    pub fn allocate(&mut self, name: &str, elem: Elem, count: &str) {
        self.uses_low = true;
        let bytes = n_bytes(elem);
        self.line(&format!(
            "{} = eddy_low(a, (size_t)({count}) * {bytes});",
            declared(elem, "*const ", name)
        ));
        self.fail(&format!("!{name}"), "EDDY_MEMORY");
    }

    /// The elements of a tensor whose sizes are those of another one.
    pub fn n_elements(&mut self, name: &str, sizes: &[String]) -> String {
        match sizes {
            [] => int_literal(1),
            [size] => size.clone(),
            sizes => self.local_int(&format!("{name}_all"), &sizes.join(" * ")),
        }
    }

    /// The elements of a tensor of new sizes, which may be too many.
    pub fn new_elements(&mut self, name: &str, sizes: &[String]) -> String {
        if sizes.is_empty() {
            return int_literal(1);
        }
        let list = array(sizes);
        let all = self.local_int(&format!("{name}_all"), &format!("eddy_elements({}, {list})", sizes.len()));
        self.fail(&format!("{all} < 0"), "EDDY_MEMORY");
        all
    }

    /// Memory for a result, and the number of its elements.
    pub fn result(&mut self, var: Var, sizes: Vec<String>, are_new: bool) -> (String, String) {
        let name = self.name(var);
        let all = if are_new { self.new_elements(&name, &sizes) } else { self.n_elements(&name, &sizes) };
        self.allocate(&name, self.ty(var).elem, &all);
        self.set(var, Repr::Tensor(Tensor { data: name.clone(), sizes }));
        (name, all)
    }

    /// A result in the memory of its operand, or a copy of it where that memory changes.
    pub fn share(&mut self, var: Var, from: Tensor) {
        if self.aliases.is_changed(var) {
            return self.copy(var, &from);
        }
        self.set(var, Repr::Tensor(from));
    }

    pub fn copy(&mut self, var: Var, from: &Tensor) {
        let bytes = n_bytes(self.ty(var).elem);
        let (name, all) = self.result(var, from.sizes.clone(), false);
        self.line(&format!("__builtin_memcpy({name}, {}, (size_t)({all}) * {bytes});", from.data));
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
        let mut targets = Vec::new();
        for result in &stmt.results {
            let (ty, name) = (self.ty(*result), self.name(*result));
            let stars = if ty.rank == 0 { "" } else { "*" };
            self.line(&format!("{};", declared(ty.elem, stars, &name)));
            let sizes: Vec<String> = (0..ty.rank).map(|k| self.names.of(&format!("{name}_n{k}"))).collect();
            if !sizes.is_empty() {
                self.line(&format!("int64_t {};", sizes.join(", ")));
            }
            targets.push(Tensor { data: name, sizes });
        }
        self.text.open(&format!("if ({})", self.scalar(condition)));
        for (branch, region) in regions.into_iter().enumerate() {
            let before = self.facts.clone();
            if branch == 1 {
                self.text.reopen("else");
            }
            self.region(region);
            self.at.clone_from(&at);
            for ((result, target), yielded) in stmt.results.iter().zip(&targets).zip(&region.yields) {
                let mut from = match self.repr(*yielded).clone() {
                    Repr::Scalar(text) => Tensor { data: text, sizes: Vec::new() },
                    Repr::Tensor(tensor) => tensor,
                };
                if !from.sizes.is_empty() && !self.aliases.is_moved(*result, branch) {
                    self.copy(*result, &from);
                    from = self.tensor(*result);
                }
                self.line(&format!("{} = {};", target.data, from.data));
                for (size, from) in target.sizes.iter().zip(&from.sizes) {
                    self.line(&format!("{size} = {from};"));
                }
            }
            self.facts = before;
        }
        self.text.close();
        for (result, target) in stmt.results.iter().zip(targets) {
            let repr = if target.sizes.is_empty() { Repr::Scalar(target.data) } else { Repr::Tensor(target) };
            self.set(*result, repr);
        }
    }

    fn call(&mut self, stmt: &Stmt, callee: BodyId, arguments: &[Var]) {
        let body = self.shared.module.body(callee);
        let is_recursive = self.shared.reached[callee.index()].contains(&self.id);
        self.fail("a->fuel-- == 0", "EDDY_FUEL");
        let stack = if is_recursive { " || eddy_stack_ends(a)" } else { "" };
        // A callee that calls nothing reads no depth.
        let counts = !self.shared.calls_none[callee.index()];
        self.fail(&format!("a->depth{} == 0{stack}", if counts { "--" } else { "" }), "EDDY_DEPTH");
        let mut list = vec!["a".to_owned()];
        for (param, argument) in body.params.iter().zip(arguments) {
            match self.repr(*argument).clone() {
                Repr::Scalar(text) if param.is_acc => list.push(format!("&{text}")),
                Repr::Scalar(text) => list.push(text),
                Repr::Tensor(tensor) => {
                    list.push(tensor.data);
                    list.extend(tensor.sizes);
                }
            }
        }
        let mut sized = Vec::new();
        for result in &stmt.results {
            let (ty, name) = (self.ty(*result), self.name(*result));
            let stars = if ty.rank == 0 { "" } else { "*" };
            // Compilers do not see that it is written unless the call fails.
            self.line(&format!("{} = 0;", declared(ty.elem, stars, &name)));
            list.push(format!("&{name}"));
            if ty.rank > 0 {
                self.uses_low = true;
                let sizes = self.names.of(&format!("{name}_n"));
                self.line(&format!("int64_t {sizes}[{}];", ty.rank));
                list.push(sizes.clone());
                sized.push((*result, name, sizes, ty.rank));
            } else {
                self.set(*result, Repr::Scalar(name));
            }
        }
        self.uses_high |= has_tapes(body);
        let name = &self.shared.names[callee.index()];
        let call = format!("const int eddy_code = {name}({});", list.join(", "));
        self.line(&format!("{{ {call} if (EDDY_RARE(eddy_code)) return eddy_code; }}"));
        if counts {
            self.line("a->depth++;");
        }
        for (result, data, sizes, rank) in sized {
            let sizes = (0..rank).map(|k| self.local_int(&format!("{data}_n{k}"), &format!("{sizes}[{k}]")));
            let sizes = sizes.collect();
            self.set(result, Repr::Tensor(Tensor { data, sizes }));
        }
    }

    /// The results go to the caller; everything else in the arena is released.
    fn finish(&mut self) {
        let body = self.body;
        let yields: Vec<(usize, Repr)> =
            body.region.yields.iter().map(|var| self.repr(*var).clone()).enumerate().collect();
        let (mut data, mut bytes, mut targets) = (Vec::new(), Vec::new(), Vec::new());
        for (k, repr) in &yields {
            match repr {
                Repr::Scalar(text) => self.line(&format!("*eddy_r{k} = {text};")),
                Repr::Tensor(tensor) => {
                    let all = self.n_elements("eddy_result", &tensor.sizes);
                    data.push(tensor.data.clone());
                    bytes.push(format!("(size_t)({all}) * {}", n_bytes(body.results[*k].elem)));
                    targets.push(*k);
                    for (axis, size) in tensor.sizes.iter().enumerate() {
                        self.line(&format!("eddy_r{k}_n[{axis}] = {size};"));
                    }
                }
            }
        }
        if !targets.is_empty() {
            self.line(&format!("void *eddy_data[] = {{ {} }};", data.join(", ")));
            self.line(&format!("const size_t eddy_bytes[] = {{ {} }};", bytes.join(", ")));
            let condition = format!("!eddy_keep(a, eddy_mark, {}, eddy_data, eddy_bytes)", targets.len());
            if self.at.is_empty() {
                "1, 0".clone_into(&mut self.at);
            }
            self.fail(&condition, "EDDY_MEMORY");
            for (k, target) in targets.iter().enumerate() {
                self.line(&format!("*eddy_r{target} = eddy_data[{k}];"));
            }
        } else if self.uses_low {
            self.line("a->low = eddy_mark;");
        }
    }

    fn operation(&mut self, stmt: &Stmt, operation: &Operation, operands: &[Var]) {
        match operation {
            Operation::Table(op) => self.table_operation(stmt.results[0], op, operands),
            Operation::Sized(sized) => self.sized(stmt.results[0], *sized, operands),
            Operation::Fill => self.fill(stmt.results[0], operands),
            Operation::Size(axis) => {
                let size = self.sizes(operands[0])[*axis].clone();
                self.facts.set_interval(stmt.results[0], Interval::SIZE);
                self.set(stmt.results[0], Repr::Scalar(size));
            }
            Operation::ReverseIndex => {
                let (n, i) = (self.scalar(operands[0]), self.scalar(operands[1]));
                let is_index =
                    self.facts.below(operands[1]).is_some_and(|size| self.facts.are_same(size, &n));
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
                }
            }
            Operation::CheckSome => {
                let n = self.scalar(operands[0]);
                self.fail(&format!("{n} <= 0"), "EDDY_EMPTY");
            }
            Operation::FailOrder => {
                let at = &self.at;
                // A condition, so that the compiler does not warn about the statements behind it.
                self.text.line(&format!("if (a) EDDY_FAIL(EDDY_ORDER, {at});"));
            }
            Operation::Pack => self.pack(stmt.results[0], operands),
        }
    }
}

/// A list of integers as an array of C.
pub(super) fn array(sizes: &[String]) -> String {
    if sizes.is_empty() {
        return "(const int64_t *)0".to_owned();
    }
    format!("(const int64_t[]){{ {} }}", sizes.join(", "))
}
