//! Names for code that passes write, and renaming of code that they copy.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::{At, Binding, Control, Kind, Region, Stmt, Var};
use crate::parse::{RESERVED, is_of_word};

/// The names of a body that grows; all names are unique.
#[derive(Clone, Debug, Default)]
pub struct Names {
    names: Vec<String>,
    taken: FxHashSet<String>,
}

impl Names {
    /// Starts with the names of a body.
    pub fn new(names: Vec<String>) -> Names {
        let taken = names.iter().cloned().collect();
        Names { names, taken }
    }

    /// A new variable with this name, or with a number after it if the name is taken.
    pub fn fresh(&mut self, name: &str) -> Var {
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_of_word);
        let base = if is_name { name } else { "v" };
        let var = Var::new(self.names.len());
        let is_free = |name: &str, taken: &FxHashSet<String>| {
            !taken.contains(name) && !RESERVED.contains(&name) && name != "yield"
        };
        let mut unique = base.to_owned();
        let mut number = var.index();
        while !is_free(&unique, &self.taken) {
            unique = format!("{base}_{number}");
            number += 1;
        }
        self.taken.insert(unique.clone());
        self.names.push(unique);
        var
    }

    /// A new variable with the name of another one and a new number.
    pub fn fresh_like(&mut self, var: Var) -> Var {
        let name = self.names.get(var.index()).cloned().unwrap_or_default();
        // A number at the end of the name is replaced.
        let base =
            name.rsplit_once('_').filter(|(_, n)| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
        self.fresh(base.map_or(name.as_str(), |(base, _)| base))
    }

    /// The name of a variable.
    pub fn name(&self, var: Var) -> &str {
        &self.names[var.index()]
    }

    /// The number of names.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no names.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The names, by variable.
    pub fn finish(self) -> Vec<String> {
        self.names
    }
}

/// The new names of copied code; names without an entry stay.
pub(crate) type Renaming = FxHashMap<Var, Var>;

/// A statement with other names. To rename a name that it defines, the renaming must contain it.
pub(crate) fn renamed_stmt(stmt: &Stmt, to: &Renaming) -> Stmt {
    let results = stmt.results.iter().map(|var| renamed(*var, to)).collect();
    Stmt { results, kind: renamed_kind(&stmt.kind, to), span: stmt.span }
}

pub(crate) fn renamed(var: Var, to: &Renaming) -> Var {
    to.get(&var).copied().unwrap_or(var)
}

pub(crate) fn renamed_places(at: &[At], to: &Renaming) -> Vec<At> {
    let rename = |at: &At| match *at {
        At::Int(index) => At::Int(renamed(index, to)),
        At::Range(lo, hi) => At::Range(renamed(lo, to), renamed(hi, to)),
        At::All => At::All,
    };
    at.iter().map(rename).collect()
}

pub(crate) fn renamed_vars(vars: &[Var], to: &Renaming) -> Vec<Var> {
    vars.iter().map(|var| renamed(*var, to)).collect()
}

fn renamed_kind(kind: &Kind, to: &Renaming) -> Kind {
    let var = |var: &Var| renamed(*var, to);
    match kind {
        Kind::Const(literal) => Kind::Const(literal.clone()),
        Kind::Op(operation, operands) => Kind::Op(operation.clone(), renamed_vars(operands, to)),
        Kind::Index(array, at) => Kind::Index(var(array), renamed_places(at, to)),
        Kind::Update(array, at, value) => Kind::Update(var(array), renamed_places(at, to), var(value)),
        Kind::Increase(array, at, value) => Kind::Increase(var(array), renamed_places(at, to), var(value)),
        Kind::Add(acc, at, value) => Kind::Add(var(acc), renamed_places(at, to), var(value)),
        Kind::If(condition, yes, no) => {
            Kind::If(var(condition), renamed_region(yes, to), renamed_region(no, to))
        }
        Kind::Call(mode, callee, arguments) => Kind::Call(*mode, *callee, renamed_vars(arguments, to)),
        Kind::Unpack(types, tape) => Kind::Unpack(types.clone(), var(tape)),
        Kind::Loop(repeat) => {
            let mut repeat = repeat.clone();
            match &mut repeat.control {
                Control::For { index, count } | Control::Each { index, count } => {
                    (*index, *count) = (renamed(*index, to), renamed(*count, to));
                }
                Control::While(condition) => *condition = renamed_region(condition, to),
            }
            for binding in repeat.states.iter_mut().chain(&mut repeat.accs) {
                *binding = Binding { var: renamed(binding.var, to), init: renamed(binding.init, to) };
            }
            repeat.collect = renamed_vars(&repeat.collect, to);
            repeat.body = renamed_region(&repeat.body, to);
            Kind::Loop(repeat)
        }
    }
}

fn renamed_region(region: &Region, to: &Renaming) -> Region {
    Region {
        stmts: region.stmts.iter().map(|stmt| renamed_stmt(stmt, to)).collect(),
        yields: renamed_vars(&region.yields, to),
    }
}
