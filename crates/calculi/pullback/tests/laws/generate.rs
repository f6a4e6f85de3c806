//! Programs that are well typed by construction, as samples of laws.
//!
//! A list of numbers is read as a list of choices; the choice 0 is always the simplest one, and after the end
//! of the list all choices are 0. So shrinking lists shrinks programs. Types are `R`, `R^2`, `R -> R` and
//! their duals. The generator makes all forms of section 2, each kind of binder, nested pullbacks, and
//! contractions with directions in function spaces. Numerals are 1, 2 and 3 and all operations are
//! polynomial, so nothing is undefined and most arithmetic is exact.

use eddy_tests::choices::Choices;

/// The types of generated terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    Real,
    Plane,
    Fun,
    CoReal,
    CoPlane,
    CoFun,
}

impl Ty {
    pub const ALL: [Ty; 6] = [Ty::Real, Ty::Plane, Ty::Fun, Ty::CoReal, Ty::CoPlane, Ty::CoFun];

    /// Its spelling in source text.
    pub fn text(self) -> &'static str {
        match self {
            Ty::Real => "R",
            Ty::Plane => "R^2",
            Ty::Fun => "(R -> R)",
            Ty::CoReal => "R^*",
            Ty::CoPlane => "(R^2)^*",
            Ty::CoFun => "(R -> R)^*",
        }
    }

    fn predual(self) -> Option<Ty> {
        match self {
            Ty::CoReal => Some(Ty::Real),
            Ty::CoPlane => Some(Ty::Plane),
            Ty::CoFun => Some(Ty::Fun),
            _ => None,
        }
    }

    fn dual(self) -> Ty {
        match self {
            Ty::Plane => Ty::CoPlane,
            Ty::Fun => Ty::CoFun,
            _ => Ty::CoReal,
        }
    }
}

/// The primitives of all programs.
pub const PRIMS: &str = "prim q(x, y) = <x * y, x + 2*y>;\nprim s(x, y) = x^2 * y - x;\n";

/// The maximal depth of a term.
pub const DEPTH: u32 = 4;

/// Generates programs from a sequence of choices.
pub struct Generator<'a> {
    pub choices: Choices<'a>,
    scope: Vec<(String, Ty)>,
    n_names: usize,
    /// The number of enclosing pullbacks.
    nesting: u32,
    /// Whether all points and results of derivatives are numbers.
    pub at_numbers: bool,
}

const MAX_NESTING: u32 = 2;

impl<'a> Generator<'a> {
    pub fn new(choices: &'a [u16]) -> Self {
        Generator {
            choices: Choices::new(choices),
            scope: Vec::new(),
            n_names: 0,
            nesting: 0,
            at_numbers: false,
        }
    }

    /// A whole program whose value consists of numbers, and its type.
    pub fn program(&mut self) -> (String, Ty) {
        let ty = self.choices.among(&[Ty::Real, Ty::Plane, Ty::CoReal, Ty::CoPlane]);
        (format!("{PRIMS}{}", self.term(ty, DEPTH)), ty)
    }

    /// A term of any type with these variables free.
    pub fn open_term(&mut self, free: &[(&str, Ty)], ty: Ty, depth: u32) -> String {
        let scope = free.iter().map(|(name, ty)| ((*name).to_string(), *ty)).collect();
        let before = std::mem::replace(&mut self.scope, scope);
        let term = self.term(ty, depth);
        self.scope = before;
        term
    }

    pub fn numeral(&mut self) -> &'static str {
        self.choices.among(&["1", "2", "3"])
    }

    /// One of the types, of which the last one is `R -> R`.
    fn space(&mut self, types: &[Ty]) -> Ty {
        let n = types.len() - usize::from(self.at_numbers);
        self.choices.among(&types[..n])
    }

    fn variable(&mut self, ty: Ty) -> Option<String> {
        let fitting: Vec<&String> =
            self.scope.iter().filter(|(_, own)| *own == ty).map(|(name, _)| name).collect();
        let n = fitting.len();
        (n > 0).then(|| fitting[n - 1 - self.choices.below(n)].clone())
    }

    /// Binds a new variable in a term. Names repeat on purpose, to test shadowing and capture.
    fn bind(&mut self, ty: Ty, body: impl FnOnce(&mut Self) -> String) -> (String, String) {
        let name = ["x", "y", "z"][self.n_names % 3].to_string();
        self.n_names += 1;
        self.scope.push((name.clone(), ty));
        // An outer variable of the same name is hidden.
        let hidden: Vec<(String, Ty)> =
            self.scope[..self.scope.len() - 1].iter().filter(|(own, _)| *own == name).cloned().collect();
        let kept: Vec<(String, Ty)> = self
            .scope
            .iter()
            .enumerate()
            .filter(|(i, (own, _))| *i == self.scope.len() - 1 || *own != name)
            .map(|(_, entry)| entry.clone())
            .collect();
        let before = std::mem::replace(&mut self.scope, kept);
        let body = body(self);
        self.scope = before;
        self.scope.pop();
        debug_assert!(hidden.len() <= self.scope.len());
        (name, body)
    }

    /// A term in parentheses, or an atom.
    pub fn term(&mut self, ty: Ty, depth: u32) -> String {
        if depth == 0 {
            return self.leaf(ty);
        }
        match ty {
            Ty::Real => self.real(depth),
            Ty::Plane => self.plane(depth),
            Ty::Fun => self.function(depth),
            Ty::CoReal | Ty::CoPlane | Ty::CoFun => self.covector(ty, depth),
        }
    }

    fn leaf(&mut self, ty: Ty) -> String {
        if self.choices.below(4) < 3
            && let Some(name) = self.variable(ty)
        {
            return name;
        }
        match ty {
            Ty::Real => self.numeral().to_string(),
            Ty::Plane => format!("<{}, {}>", self.numeral(), self.numeral()),
            Ty::Fun => {
                let n = self.numeral();
                self.choices
                    .among(
                        &[format!("(\\u:R. u * {n})"), "(\\u:R. u * u)".into(), "(zero : R -> R)".into()]
                            .each_ref(),
                    )
                    .clone()
            }
            Ty::CoReal => format!("[{}]^*", self.numeral()),
            Ty::CoPlane => format!("[{}, {}]^*", self.numeral(), self.numeral()),
            Ty::CoFun => format!("((λu:R -> R. u {})^* · [{}]^*)", self.numeral(), self.numeral()),
        }
    }

    fn real(&mut self, depth: u32) -> String {
        let d = depth - 1;
        match self.choices.below(14) {
            0 | 1 => self.leaf(Ty::Real),
            2 => format!("({} + {})", self.term(Ty::Real, d), self.term(Ty::Real, d)),
            3 => format!("({} * {})", self.term(Ty::Real, d), self.term(Ty::Real, d)),
            4 => format!("({} - {})", self.term(Ty::Real, d), self.term(Ty::Real, d)),
            5 => format!("({})^2", self.term(Ty::Real, d)),
            6 => format!("(s {})", self.term(Ty::Plane, d)),
            7 => {
                let side = self.choices.among(&["fst", "snd"]);
                format!("({side} {})", self.term(Ty::Plane, d))
            }
            8 => format!("({} {})", self.term(Ty::Fun, d), self.term(Ty::Real, d)),
            9 => self.binding(Ty::Real, d),
            10 => format!("(sharp {})", self.term(Ty::CoReal, d)),
            11 => {
                let ty = self.space(&[Ty::Real, Ty::Plane, Ty::Fun]);
                format!("({} @ {})", self.term(ty.dual(), d), self.term(ty, d))
            }
            12 => self.jacobian(d),
            _ if self.nesting < MAX_NESTING => {
                self.nesting += 1;
                let (x, body) = self.bind(Ty::Real, |generator| generator.term(Ty::Real, d));
                self.nesting -= 1;
                format!("(grad (\\{x}:R. {body}) at {})", self.term(Ty::Real, d))
            }
            _ => self.leaf(Ty::Real),
        }
    }

    /// `(J f · t) a`.
    fn jacobian(&mut self, d: u32) -> String {
        if self.choices.below(2) == 0 {
            return format!("((J s · {}) {})", self.term(Ty::Plane, d), self.term(Ty::Plane, d));
        }
        if self.nesting >= MAX_NESTING {
            return self.leaf(Ty::Real);
        }
        self.nesting += 1;
        let (x, body) = self.bind(Ty::Real, |generator| generator.term(Ty::Real, d));
        self.nesting -= 1;
        format!("((J (\\{x}:R. {body}) · {}) {})", self.term(Ty::Real, d), self.term(Ty::Real, d))
    }

    fn plane(&mut self, depth: u32) -> String {
        let d = depth - 1;
        match self.choices.below(7) {
            0 | 1 => format!("<{}, {}>", self.term(Ty::Real, d), self.term(Ty::Real, d)),
            2 => self.leaf(Ty::Plane),
            3 => format!("(q {})", self.term(Ty::Plane, d)),
            4 => format!("({} + {})", self.term(Ty::Plane, d), self.term(Ty::Plane, d)),
            5 => self.binding(Ty::Plane, d),
            _ => format!("(sharp {})", self.term(Ty::CoPlane, d)),
        }
    }

    fn function(&mut self, depth: u32) -> String {
        let d = depth - 1;
        match self.choices.below(7) {
            0 | 1 => {
                let (x, body) = self.bind(Ty::Real, |generator| generator.term(Ty::Real, d));
                format!("(\\{x}:R. {body})")
            }
            2 => self.leaf(Ty::Fun),
            3 => format!("({} + {})", self.term(Ty::Fun, d), self.term(Ty::Fun, d)),
            4 => self.binding(Ty::Fun, d),
            5 => format!("(J {} · {})", self.term(Ty::Fun, d), self.term(Ty::Real, d)),
            _ => {
                let (x, body) = self.bind(Ty::Real, |generator| {
                    let (y, body) = generator.bind(Ty::Real, |generator| generator.term(Ty::Real, d));
                    format!("\\{y}:R. {body}")
                });
                format!("((\\{x}:R. {body}) {})", self.term(Ty::Real, d))
            }
        }
    }

    /// A `let` of some type around a term.
    fn binding(&mut self, ty: Ty, d: u32) -> String {
        let bound = self.choices.among(&[Ty::Real, Ty::Fun, Ty::Plane, Ty::CoReal]);
        let value = self.term(bound, d);
        let (x, body) = self.bind(bound, |generator| generator.term(ty, d));
        format!("(let {x} : {} = {value} in {body})", bound.text())
    }

    fn covector(&mut self, ty: Ty, depth: u32) -> String {
        let d = depth - 1;
        let of = ty.predual().expect("it is a dual type");
        match self.choices.below(7) {
            0 => self.leaf(ty),
            1 if of != Ty::Fun => format!("(flat {})", self.term(of, d)),
            2 => format!("({} + {})", self.term(ty, d), self.term(ty, d)),
            3 => {
                let value = self.space(&[Ty::Real, Ty::Plane, Ty::Fun]);
                let (v, body) = self.linear(of, value, d.min(2));
                format!("((λ{v}:{}. {body})^* · {})", of.text(), self.term(value.dual(), d))
            }
            _ if self.nesting < MAX_NESTING => self.pullback(of, d),
            _ => self.leaf(ty),
        }
    }

    /// `((Ω λx.p) · w) a`, the covector of a constant or of a varying 1-form.
    fn pullback(&mut self, of: Ty, d: u32) -> String {
        self.nesting += 1;
        let value = self.space(&[Ty::Real, Ty::Real, Ty::Plane, Ty::Fun]);
        let (x, body) = self.bind(of, |generator| generator.term(value, d));
        self.nesting -= 1;
        let form = if value == Ty::Real && self.choices.below(3) < 2 {
            format!("Ω [{}]", self.numeral())
        } else {
            let (y, covector) = self.bind(value, |generator| generator.term(value.dual(), d.min(1)));
            format!("(\\{y}:{}. {covector})", value.text())
        };
        format!("(((Ω λ{x}:{}. {body}) · {form}) {})", of.text(), self.term(of, d))
    }

    /// A variable of some type, and a term of another that is linear in it.
    pub fn linear(&mut self, of: Ty, ty: Ty, depth: u32) -> (String, String) {
        // Other variables of that name are hidden, and linear variables must not be used elsewhere.
        let v = "v".to_string();
        let before: Vec<(String, Ty)> = self.scope.clone();
        self.scope.retain(|(name, _)| *name != v);
        let body = self.linear_in(&v, of, ty, depth);
        self.scope = before;
        (v, body)
    }

    fn linear_in(&mut self, v: &str, of: Ty, ty: Ty, depth: u32) -> String {
        let direct = match (of, ty) {
            (Ty::Real, Ty::Real) | (Ty::Plane, Ty::Plane) => v.to_string(),
            (Ty::Plane, Ty::Real) => {
                let side = self.choices.among(&["fst", "snd"]);
                format!("({side} {v})")
            }
            (Ty::Real, Ty::Plane) => format!("<{v}, {v}>"),
            (Ty::Real, Ty::Fun) => format!("(\\w:R. (J s · <{v}, {v}>) <w, 1>)"),
            (Ty::Plane, Ty::Fun) => format!("(\\w:R. (J s · {v}) <1, w>)"),
            (Ty::Fun, Ty::Fun) => v.to_string(),
            (Ty::Fun, Ty::Real) => format!("({v} {})", self.term(Ty::Real, 1)),
            _ => {
                format!("<{v} {}, {v} {}>", self.term(Ty::Real, 1), self.term(Ty::Real, 1))
            }
        };
        if depth == 0 {
            return direct;
        }
        let d = depth - 1;
        match (self.choices.below(6), ty) {
            (0, _) => direct,
            (1, _) => format!("({direct} + {})", self.linear_in(v, of, ty, d)),
            (2, Ty::Real) => {
                let inner = self.linear_in(v, of, Ty::Plane, d);
                format!("((J s · {inner}) {})", self.term(Ty::Plane, 1))
            }
            (2 | 3, Ty::Fun) => format!("(\\w:R. {})", self.linear_in(v, of, Ty::Real, d)),
            (2, _) => {
                let inner = self.linear_in(v, of, Ty::Plane, d);
                format!("((J q · {inner}) {})", self.term(Ty::Plane, 1))
            }
            (3, Ty::Real) => {
                format!("({} @ {})", self.term(Ty::CoPlane, 1), self.linear_in(v, of, Ty::Plane, d))
            }
            (3, _) => format!("<{}, zero>", self.linear_in(v, of, Ty::Real, d)),
            (4, _) => {
                // A `let` of a syntactically zero term is the soft spot of the rules, and not generated.
                format!("(let k = {direct} in k + k)")
            }
            _ => "zero".to_string(),
        }
    }
}
