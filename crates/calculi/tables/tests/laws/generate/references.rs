//! Well-typed terms of `.ref`, by type.

use eddy_tests::choices::Choices;

/// The types of generated terms.
#[derive(Clone, Debug, PartialEq)]
pub enum Ty {
    Int,
    Arrow(Box<Ty>, Box<Ty>),
    Pair(Box<Ty>, Box<Ty>),
    Ref(Box<Ty>),
}

impl Ty {
    pub fn text(&self) -> String {
        match self {
            Ty::Int => "int".to_string(),
            Ty::Arrow(from, to) => format!("(({}) -> {})", from.text(), to.text()),
            Ty::Pair(first, second) => format!("({} * {})", first.text(), second.text()),
            Ty::Ref(stored) => format!("(ref {})", stored.text()),
        }
    }
}

fn ty(choices: &mut Choices<'_>, depth: u32) -> Ty {
    match if depth == 0 { 0 } else { choices.below(7) } {
        0..=2 => Ty::Int,
        3 => Ty::Arrow(ty(choices, depth - 1).into(), ty(choices, depth - 1).into()),
        4 => Ty::Pair(ty(choices, depth - 1).into(), ty(choices, depth - 1).into()),
        _ => Ty::Ref(ty(choices, depth - 1).into()),
    }
}

/// A closed term of type `int`.
pub fn int_term(choices: &mut Choices<'_>) -> String {
    Generator { choices, scope: Vec::new(), n_names: 0 }.term(&Ty::Int, 5)
}

/// A closed term of any type.
pub fn term(choices: &mut Choices<'_>) -> String {
    let ty = ty(choices, 2);
    Generator { choices, scope: Vec::new(), n_names: 0 }.term(&ty, 4)
}

/// A closed function from a cell to a cell.
pub fn update(choices: &mut Choices<'_>) -> String {
    let cell = Ty::Ref(Ty::Int.into());
    let scope = vec![("cell".to_string(), cell.clone())];
    let body = Generator { choices, scope, n_names: 0 }.term(&cell, 4);
    format!("\\cell:ref int. {body}")
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
        match self.choices.below(9) {
            0 | 1 => self.plain(ty, depth - 1),
            2 => {
                let from = self::ty(self.choices, 1);
                let function = self.term(&Ty::Arrow(from.clone().into(), ty.clone().into()), depth - 1);
                format!("({function} {})", self.term(&from, depth - 1))
            }
            3 => {
                let condition = self.term(&Ty::Int, depth - 1);
                let yes = self.term(ty, depth - 1);
                format!("(if {condition} then {yes} else {})", self.term(ty, depth - 1))
            }
            4 => {
                let bound = self::ty(self.choices, 2);
                self.n_names += 1;
                let name = format!("n{}", self.n_names);
                let value = self.term(&bound, depth - 1);
                self.scope.push((name.clone(), bound));
                let body = self.term(ty, depth - 1);
                self.scope.pop();
                format!("(let {name} = {value} in {body})")
            }
            5 => {
                let target = Ty::Ref(self::ty(self.choices, 1).into());
                let first = self.term(&target, depth - 1);
                format!("({first}; {})", self.term(ty, depth - 1))
            }
            6 => format!("(!{})", self.term(&Ty::Ref(ty.clone().into()), depth - 1)),
            7 => {
                let pair = Ty::Pair(ty.clone().into(), Ty::Int.into());
                format!("(fst {})", self.term(&pair, depth - 1))
            }
            _ => self.plain(ty, depth - 1),
        }
    }

    fn plain(&mut self, ty: &Ty, depth: u32) -> String {
        match ty {
            Ty::Int if depth > 0 && self.choices.once_in(2) => {
                let op = self.choices.among(&["+", "-", "*", "/", "=", "<"]);
                let left = self.term(&Ty::Int, depth - 1);
                format!("({left} {op} {})", self.term(&Ty::Int, depth - 1))
            }
            Ty::Int => self.choices.among(&["0", "1", "2"]).to_string(),
            Ty::Arrow(from, to) => {
                self.n_names += 1;
                let name = format!("n{}", self.n_names);
                self.scope.push((name.clone(), (**from).clone()));
                let body = self.term(to, depth);
                self.scope.pop();
                format!("(\\{name}:{}. {body})", from.text())
            }
            Ty::Pair(first, second) => format!("({}, {})", self.term(first, depth), self.term(second, depth)),
            Ty::Ref(stored) if depth > 0 && self.choices.once_in(2) => {
                let target = self.term(ty, depth - 1);
                format!("({target} := {})", self.term(stored, depth - 1))
            }
            Ty::Ref(stored) => format!("(ref {})", self.term(stored, depth)),
        }
    }
}
