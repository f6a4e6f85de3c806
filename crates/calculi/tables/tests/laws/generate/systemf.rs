//! Well-typed terms of `.sysf`, by type.

use eddy_tests::choices::Choices;

/// The types of generated terms.
#[derive(Clone, Debug, PartialEq)]
pub enum Ty {
    Int,
    Arrow(Box<Ty>, Box<Ty>),
    /// `forall a. a -> a`.
    Identity,
    /// `forall a. int`.
    Lazy,
    /// A type variable in scope.
    Variable(String),
}

impl Ty {
    pub fn arrow(from: Ty, to: Ty) -> Ty {
        Ty::Arrow(from.into(), to.into())
    }

    /// Its spelling in source text.
    pub fn text(&self) -> String {
        match self {
            Ty::Int => "int".to_string(),
            Ty::Arrow(from, to) => format!("(({}) -> {})", from.text(), to.text()),
            Ty::Identity => "(forall a. a -> a)".to_string(),
            Ty::Lazy => "(forall a. int)".to_string(),
            Ty::Variable(name) => name.clone(),
        }
    }
}

/// A type without variables.
pub fn ty(choices: &mut Choices<'_>, depth: u32) -> Ty {
    match if depth == 0 { 0 } else { choices.below(6) } {
        0 | 1 => Ty::Int,
        2 => Ty::Identity,
        3 => Ty::Lazy,
        _ => Ty::arrow(ty(choices, depth - 1), ty(choices, depth - 1)),
    }
}

/// A closed term and its type.
pub fn term(choices: &mut Choices<'_>) -> (String, Ty) {
    let ty = ty(choices, 2);
    let text = Generator { choices, scope: Vec::new(), n_names: 0 }.term(&ty, 4);
    (text, ty)
}

/// A closed term of this type.
pub fn term_of(choices: &mut Choices<'_>, ty: &Ty, depth: u32) -> String {
    Generator { choices, scope: Vec::new(), n_names: 0 }.term(ty, depth)
}

/// A term of this type with these variables.
pub fn open_term(choices: &mut Choices<'_>, ty: &Ty, depth: u32, scope: Vec<(String, Ty)>) -> String {
    Generator { choices, scope, n_names: 0 }.term(ty, depth)
}

struct Generator<'a, 'b> {
    choices: &'a mut Choices<'b>,
    scope: Vec<(String, Ty)>,
    n_names: usize,
}

impl Generator<'_, '_> {
    fn term(&mut self, ty: &Ty, depth: u32) -> String {
        let known: Vec<String> =
            self.scope.iter().filter(|(_, known)| known == ty).map(|(name, _)| name.clone()).collect();
        if !known.is_empty() && (depth == 0 || self.choices.once_in(2)) {
            return known[self.choices.below(known.len())].clone();
        }
        if depth == 0 {
            return self.plain(ty, 0);
        }
        match self.choices.below(8) {
            0..=2 => self.plain(ty, depth - 1),
            3 => {
                let from = super::systemf::ty(self.choices, 1);
                let function = self.term(&Ty::arrow(from.clone(), ty.clone()), depth - 1);
                format!("({function} {})", self.term(&from, depth - 1))
            }
            4 => {
                let condition = self.term(&Ty::Int, depth - 1);
                let yes = self.term(ty, depth - 1);
                format!("(if {condition} then {yes} else {})", self.term(ty, depth - 1))
            }
            5 => {
                let bound = super::systemf::ty(self.choices, 1);
                let name = self.name();
                let value = self.term(&bound, depth - 1);
                let body = self.with(&name, &bound, |this| this.term(ty, depth - 1));
                format!("(let {name} = {value} in {body})")
            }
            6 => {
                let identity = self.term(&Ty::Identity, depth - 1);
                format!("({identity}[{}] {})", ty.text(), self.term(ty, depth - 1))
            }
            _ => self.plain(ty, depth - 1),
        }
    }

    /// A simple form of this type.
    fn plain(&mut self, ty: &Ty, depth: u32) -> String {
        match ty {
            Ty::Int if depth > 0 && self.choices.once_in(3) => {
                let lazy = self.term(&Ty::Lazy, depth - 1);
                format!("({lazy}[int])")
            }
            Ty::Int if depth > 0 && self.choices.once_in(2) => {
                let op = self.choices.among(&["+", "-", "*", "/", "=", "<"]);
                let left = self.term(&Ty::Int, depth - 1);
                format!("({left} {op} {})", self.term(&Ty::Int, depth - 1))
            }
            Ty::Int => self.choices.among(&["0", "1", "2"]).to_string(),
            Ty::Arrow(from, to) if depth > 0 && self.choices.once_in(5) => {
                let (f, x) = (self.name(), self.name());
                let body = self.with(&f, ty, |this| this.with(&x, from, |this| this.term(to, depth - 1)));
                format!("(fix {f} : {}. \\{x}:{}. {body})", ty.text(), from.text())
            }
            Ty::Arrow(from, to) => {
                let name = self.name();
                let body = self.with(&name, from, |this| this.term(to, depth));
                format!("(\\{name}:{}. {body})", from.text())
            }
            Ty::Identity => {
                let (a, x) = (self.name(), self.name());
                let variable = Ty::Variable(a.clone());
                let body = self.with(&x, &variable, |this| this.term(&variable, depth.min(2)));
                format!("(/\\{a}. \\{x}:{a}. {body})")
            }
            Ty::Lazy => {
                let a = self.name();
                format!("(/\\{a}. {})", self.term(&Ty::Int, depth))
            }
            Ty::Variable(_) => {
                let known = self.scope.iter().rev().find(|(_, known)| known == ty);
                known.expect("a variable of this type is in scope").0.clone()
            }
        }
    }

    fn with(&mut self, name: &str, ty: &Ty, term: impl FnOnce(&mut Self) -> String) -> String {
        self.scope.push((name.to_string(), ty.clone()));
        let text = term(self);
        self.scope.pop();
        text
    }

    fn name(&mut self) -> String {
        self.n_names += 1;
        format!("n{}", self.n_names)
    }
}
