//! The names in scope. There are few, so that names hide one another often.

use super::types::Ty;

const VARIABLES: [&str; 8] = ["x", "y", "z", "a", "b", "u", "v", "w'"];
const FUNCTIONS: [&str; 4] = ["f", "g", "h", "x"];

#[derive(Clone)]
struct Binding {
    name: &'static str,
    ty: Ty,
    /// How many function bodies enclose the binder; `None` for constants, which are visible everywhere.
    depth: Option<usize>,
}

/// A function in scope.
#[derive(Clone)]
pub struct Function {
    pub name: &'static str,
    pub params: Vec<Ty>,
    pub result: Ty,
    /// The nesting of derivatives in a call.
    pub height: u32,
}

#[derive(Default)]
pub struct Scope {
    ordinary: Vec<Binding>,
    functions: Vec<Function>,
    depth: usize,
}

/// How many names were in scope at some moment.
#[derive(Clone, Copy)]
pub struct Mark {
    ordinary: usize,
    functions: usize,
}

impl Scope {
    pub fn variable_names() -> &'static [&'static str] {
        &VARIABLES
    }

    pub fn function_names() -> &'static [&'static str] {
        &FUNCTIONS
    }

    pub fn mark(&self) -> Mark {
        Mark { ordinary: self.ordinary.len(), functions: self.functions.len() }
    }

    pub fn release(&mut self, mark: Mark) {
        self.ordinary.truncate(mark.ordinary);
        self.functions.truncate(mark.functions);
    }

    pub fn enter_function(&mut self) -> Mark {
        self.depth += 1;
        self.mark()
    }

    pub fn leave_function(&mut self, mark: Mark) {
        self.depth -= 1;
        self.release(mark);
    }

    pub fn bind(&mut self, name: &'static str, ty: Ty) {
        self.ordinary.push(Binding { name, ty, depth: Some(self.depth) });
    }

    pub fn bind_constant(&mut self, name: &'static str, ty: Ty) {
        self.ordinary.push(Binding { name, ty, depth: None });
    }

    pub fn define(&mut self, function: Function) {
        self.functions.push(function);
    }

    /// The variables that can be used here, the innermost first, and then the constants.
    pub fn visible(&self) -> Vec<(&'static str, Ty)> {
        let mut seen = Vec::new();
        let (mut visible, mut constants) = (Vec::new(), Vec::new());
        for binding in self.ordinary.iter().rev() {
            if seen.contains(&binding.name) {
                continue;
            }
            seen.push(binding.name);
            match binding.depth {
                None => constants.push((binding.name, binding.ty.clone())),
                Some(depth) if depth == self.depth => visible.push((binding.name, binding.ty.clone())),
                Some(_) => {}
            }
        }
        visible.extend(constants);
        visible
    }

    /// The functions that can be called here, the innermost first.
    pub fn callable(&self) -> Vec<Function> {
        let mut callable: Vec<Function> = Vec::new();
        for function in self.functions.iter().rev() {
            if callable.iter().all(|inner| inner.name != function.name) {
                callable.push(function.clone());
            }
        }
        callable
    }
}
