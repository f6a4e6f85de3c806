//! From `pullback` to functions (functions.md, section 10): kernel terms, which have no sugar.
//!
//! | `pullback` | function |
//! | --- | --- |
//! | `R`, `σ × τ`, `σ*` | `num`, `(σ, τ)`, σ itself; `r^*`, `flat` and `sharp` are the identity: [`types`] |
//! | `x`, `r`, `⟨s,t⟩`, `π1 t`, `π2 t` | the same; `.0`, `.1` |
//! | `s + t`, `0` | `+` of each leaf, zeros |
//! | `f(t)`, `prim f` | an operation, or a function of the operations of f: [`operations`] |
//! | `λx.λy.t`, applied to `a` and `b` | a function of two parameters, `f(a, b)` |
//! | `let x = s in t`, `def` | `let`; a `fn` or a `const` |
//! | `(J s · v) a` | `jvp(\z. s(z), a, v).1` |
//! | `((Ω λx.P) · ω) a` | `let p(x) = P in vjp(p, a, ω(p(a))).1`; `grad`, `vjp` and `jacobian` are sugar for it |
//! | `(λx.s)^* · φ` | `vjp(\x. s, 0, φ).1` |
//! | `φ @ v` | the sum of the products of leaves |
//! | the main expression | `eval` |
//!
//! These have no translation: functions in pairs, as points or results of derivatives, and as results of the
//! program; and free variables. A function that returns a function becomes one with more parameters, so
//! functions occur only as arguments and in `let`s.

mod operations;
mod terms;
mod types;

use eddy_pullback::syntax::{Program, Term, TermId};
use eddy_pullback::typing::check;
use eddy_syntax::{Diagnostic, SourceFile, Span};

use super::writer::{Translation, Writer};
use super::{outside, too_long};
use operations::Operations;
use terms::Task;

/// Why there is no translation.
pub(super) enum Stop {
    /// A term without translation, its description, and the reason.
    Outside(TermId, &'static str, &'static str),
    TooLong,
}

impl From<super::writer::TooLong> for Stop {
    fn from(_: super::writer::TooLong) -> Stop {
        Stop::TooLong
    }
}

/// The program as functions; otherwise its errors, or an error at the construct without translation.
pub fn translate(file: &SourceFile) -> Result<Translation, Vec<Diagnostic>> {
    let program = check(file)?;
    let start = Span::new(file.base(), file.base());
    let translator = Translator {
        program: &program,
        out: Writer::default(),
        operations: Operations::new(program.terms.types.clone()),
        scope: Vec::new(),
        tasks: Vec::new(),
        start,
    };
    translator.program().map_err(|stop| {
        vec![match stop {
            Stop::Outside(term, what, reason) => {
                outside(program.place(Some(term)).unwrap_or(start), what, reason)
            }
            Stop::TooLong => too_long(program.place(None).unwrap_or(start)),
        }]
    })
}

struct Translator<'a> {
    program: &'a Program,
    out: Writer,
    operations: Operations,
    /// The names of the variables in scope, the innermost last.
    scope: Vec<String>,
    /// Pending work, innermost last.
    tasks: Vec<Task>,
    start: Span,
}

impl Translator<'_> {
    fn program(mut self) -> Result<Translation, Stop> {
        let terms = &self.program.terms;
        let (mut definitions, mut at) = (Vec::new(), self.program.definitions);
        while let Term::Apply(function, value) = terms.term(at)
            && let Term::Lambda(hint, rest) = terms.term(function)
        {
            definitions.push((hint, value, at));
            at = rest;
        }
        // A later definition of a name hides the earlier ones, so the last definition is exported.
        let mut names: Vec<String> = Vec::new();
        for (hint, ..) in definitions.iter().rev() {
            let name = terms.names.text(hint.0);
            let name = self.out.exported(name).unwrap_or_else(|| self.out.global(name));
            names.push(name);
        }
        names.reverse();
        for ((_, value, at), name) in definitions.iter().zip(names) {
            self.definition(&name, *value, self.program.place(Some(*at)).unwrap_or(self.start))?;
            self.scope.push(name);
        }
        if self.program.main.is_some() {
            if !self.operations.is_data(terms.ty(at)) {
                return Err(Stop::Outside(
                    at,
                    "a program whose value is a function",
                    "a value consists of numbers",
                ));
            }
            self.out.item(self.program.place(Some(at)).unwrap_or(self.start));
            self.out.push("eval ");
            self.schedule([Task::Term(at, Vec::new()), Task::Text(";\n")]);
            self.finish()?;
        }
        self.operations.write_helpers(&self.program.terms, &mut self.out);
        self.out.has_room()?;
        Ok(self.out.finish())
    }

    /// `fn f(x: T) -> U = t;` or `const c = t;`
    fn definition(&mut self, name: &str, value: TermId, place: Span) -> Result<(), Stop> {
        let terms = &self.program.terms;
        self.out.item(place);
        let (params, result) = self.operations.uncurried(terms.ty(value));
        if params.is_empty() {
            self.out.push(&format!("const {name} = "));
            self.schedule([Task::Term(value, Vec::new()), Task::Text(";\n")]);
            return self.finish();
        }
        let names = self.parameter_names(value, params.len());
        let mut written = Vec::new();
        for (name, ty) in names.iter().zip(&params) {
            let ty = self.operations.parameter_text(*ty).ok_or(no_such_type(value))?;
            written.push(format!("{name}: {ty}"));
        }
        let result = self.operations.type_text(result).ok_or(no_such_type(value))?;
        self.out.push(&format!("fn {name}({}) -> {result} = ", written.join(", ")));
        self.schedule([Task::Term(value, names), Task::Text(";\n")]);
        self.finish()
    }
}

/// The error for a function whose type contains functions where the language allows none.
fn no_such_type(term: TermId) -> Stop {
    Stop::Outside(
        term,
        "a function of this type",
        "parameters and results are numbers, tuples of numbers, and as parameters functions of those",
    )
}
