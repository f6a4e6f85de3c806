//! What streams are called in C: as in the program, as far as C allows, and each differently.

use eddy_flow::{Flow, VarId};
use rustc_hash::FxHashSet;

/// Names of streams.
pub(crate) struct Names {
    names: Vec<String>,
}

impl Names {
    pub fn new(flow: &Flow) -> Names {
        let names = flow.vars.iter().enumerate().map(|(number, var)| match var.name.as_deref() {
            // The number keeps instances apart, and the name from clashing with words of C.
            Some(name) => format!("{}_{number}", identifier(name.rsplit('/').next().unwrap_or(name))),
            None => format!("v{number}"),
        });
        Names { names: names.collect() }
    }

    pub fn of(&self, var: VarId) -> String {
        self.names[var.index()].clone()
    }

    /// A stream that the program does not have: a step on the way to the value of one that it has.
    pub fn step_to(&mut self, var: VarId) -> VarId {
        self.names.push(format!("s{}_{}", self.names.len(), self.of(var)));
        VarId::new(self.names.len() - 1)
    }
}

/// Names of fields for inputs and outputs: those of the program, if C allows them.
pub(crate) fn port_names(flow: &Flow, ports: &[VarId]) -> Vec<String> {
    let mut taken: FxHashSet<String> = FxHashSet::default();
    let mut names = Vec::new();
    for port in ports {
        let mut name = identifier(flow.var(*port).name.as_deref().unwrap_or("value"));
        while RESERVED.contains(&name.as_str()) || taken.contains(&name) {
            name.push('_');
        }
        taken.insert(name.clone());
        taken.insert(format!("{name}_present"));
        names.push(name);
    }
    names
}

/// A name that C allows: primes and other marks become letters.
pub fn identifier(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => text.push(c),
            '\'' => text.push_str("_p"),
            _ => text.push('_'),
        }
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) || text.is_empty() {
        text.insert(0, 'n');
    }
    text
}

/// The words of C99, and what the headers define.
const RESERVED: &[&str] = &[
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
    "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return",
    "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void",
    "volatile", "while", "bool", "true", "false", "asm", "typeof", "size_t", "int64_t", "int32_t",
    "uint64_t", "uint32_t", "uint8_t", "NULL", "offsetof",
];
