//! From tree to kernel terms: names, types, the side conditions of section 4, and the removal of sugar.
//!
//! * [`scope`]: meanings of names. [`prims`]: the bodies of primitives.
//! * [`infer`]: the rules of Figure 2, as equations between types, with [`annotate`] for binders and written
//!   types, and [`postponed`] for Jacobians; [`unify`] solves them.
//! * [`lower`]: kernel terms, when all types are known.
//! * [`linear`]: the linearity of dual maps, on kernel terms.
//! * [`recheck`]: the rules again on kernel terms, for the laws.
//! * [`errors`]: the wording of errors.

mod annotate;
mod errors;
pub mod infer;
pub mod linear;
mod lower;
mod postponed;
mod prims;
pub mod recheck;
mod scope;
pub mod unify;

use eddy_syntax::{Diagnostic, Diagnostics, SourceFile, Span};

use crate::codes;
use crate::parse::{Parsed, parse};
use crate::syntax::{Program, Term, TermId, Terms};
use crate::types::{Type, Types};
use infer::Inferred;
use linear::{NotLinear, Reason};

/// Parses and checks a file.
///
/// ```
/// use eddy_syntax::SourceFile;
/// let file = SourceFile::new("f.pb", "\\x:R. x * x");
/// let program = eddy_pullback::typing::check(&file).expect("it is well typed");
/// assert_eq!(program.show_type().as_deref(), Some("R -> R"));
/// ```
pub fn check(file: &SourceFile) -> Result<Program, Vec<Diagnostic>> {
    check_parsed(parse(file))
}

fn check_parsed(mut parsed: Parsed) -> Result<Program, Vec<Diagnostic>> {
    let mut diagnostics = std::mem::take(&mut parsed.diagnostics);
    // If tokens were dropped, type errors are unreliable.
    if diagnostics.iter().any(|diagnostic| diagnostic.code == codes::LEXICAL) {
        return Err(diagnostics.into_sorted());
    }
    let mut terms = Terms::default();
    let mut inferred = infer::infer(&parsed, &mut terms, &mut diagnostics);
    if let Some(span) = inferred.unknowns.cycle() {
        diagnostics.push(errors::infinite(span));
    }
    if !diagnostics.is_empty() {
        return Err(diagnostics.into_sorted());
    }
    let mut memo = Vec::new();
    solve(&parsed, &mut inferred, &mut terms.types, &mut memo, &mut diagnostics);
    if !diagnostics.is_empty() {
        return Err(diagnostics.into_sorted());
    }
    let Parsed { program, names, .. } = parsed;
    terms.names = names;
    for (var, ty) in std::mem::take(&mut inferred.assumed) {
        let ty = inferred.unknowns.ground(ty, &mut terms.types, &mut memo);
        terms.set_type(var, ty);
    }
    let is_open = terms.n_vars() > 0;
    let lowered = lower::lower(&program, &mut inferred, &mut terms, &mut memo);
    check_linearity(&terms, &lowered.origins, &mut diagnostics);
    if !diagnostics.is_empty() {
        return Err(diagnostics.into_sorted());
    }
    let main = program.main.map(|_| lowered.main);
    Ok(Program { terms, main, definitions: lowered.main, is_open, origins: lowered.origins })
}

/// Makes all types ground, and runs the checks that need ground types.
fn solve(
    parsed: &Parsed,
    inferred: &mut Inferred,
    types: &mut Types,
    memo: &mut Vec<Option<Type>>,
    diagnostics: &mut Diagnostics,
) {
    let tree = &parsed.program.tree;
    for id in tree.ids() {
        if let Some(ty) = inferred.types[id.index()] {
            let ty = inferred.unknowns.ground(ty, types, memo);
            if types.components(ty) > Types::MAX_COMPONENTS {
                diagnostics.push(errors::too_large(tree.span(id)));
                return;
            }
        }
    }
    for condition in std::mem::take(&mut inferred.euclidean) {
        let ty = inferred.unknowns.ground(condition.ty, types, memo);
        if !types.is_euclidean(ty) {
            // In a chain of errors types grow from error to error, so types of discarded messages are not
            // printed.
            let shown = if diagnostics.is_full() { String::new() } else { types.show(ty) };
            diagnostics.push(errors::not_euclidean(&shown, tree.span(condition.at)));
        }
    }
}

/// Checks that each dual map is linear.
fn check_linearity(terms: &Terms, origins: &[Span], diagnostics: &mut Diagnostics) {
    for (index, origin) in origins.iter().enumerate() {
        if let Some((_, Term::Dual(hint, body, _))) = terms.nth(index)
            && let Err(not_linear) = linear::check(terms, body)
        {
            let name = terms.names.text(hint.0);
            diagnostics.push(not_linear_error(terms, origins, name, not_linear, *origin));
        }
    }
}

fn not_linear_error(
    terms: &Terms,
    origins: &[Span],
    name: &str,
    NotLinear { part, occurrence, reason }: NotLinear,
    whole: Span,
) -> Diagnostic {
    let at = |id: TermId| origins[id.index()];
    let (title, label, why, help) = match reason {
        Reason::Numeral | Reason::Constant => (
            "not linear: a constant in a dual map".to_string(),
            format!("this does not depend on `{name}`"),
            "a linear function is 0 at 0; of the constants only 0 is linear".to_string(),
            "leave the constant out, or differentiate the whole function with `(Ω f) · w`".to_string(),
        ),
        Reason::Primitive(f) => {
            let f = &terms.primitives.get(f).name;
            (
                format!("not linear: `{name}` under `{f}`"),
                format!("the argument of `{f}` is not a linear position"),
                format!("primitives are functions of any kind, and `{f}` is not taken to be linear"),
                format!("its derivative is linear in the direction: `(J {f} · v) r` at a point `r`"),
            )
        }
        Reason::Argument => (
            format!("not linear: `{name}` in the argument of a function"),
            "an argument is a linear position only of a λ that is written here".to_string(),
            "an unknown function need not be linear".to_string(),
            "put the variable in the place of the function, or bind the argument with `let`".to_string(),
        ),
        Reason::BothSides => (
            format!("not linear: `{name}` on both sides"),
            "this is linear in each side, but not in both together".to_string(),
            "doubling both sides multiplies the whole by four".to_string(),
            "use the variable on one side only".to_string(),
        ),
        Reason::PullbackBody => (
            format!("not linear: `{name}` in the body of a pullback"),
            "a pullback is linear in its 1-form, not in its function".to_string(),
            "the point at which a function is differentiated moves with it".to_string(),
            "use the variable in the 1-form only".to_string(),
        ),
    };
    let mut diagnostic = Diagnostic::error(codes::NOT_LINEAR, at(part), title).label(label);
    if let Some(occurrence) = occurrence.filter(|occurrence| *occurrence != part) {
        diagnostic = diagnostic.cause(at(occurrence), "the occurrence that is not linear");
    }
    diagnostic.cause(whole, "in this dual map").reason(why).help(help)
}

impl Program {
    /// The place of the main expression, or of a term in it.
    pub fn place(&self, term: Option<TermId>) -> Option<Span> {
        let term = term.or(self.body());
        self.origins.get(term?.index()).copied()
    }

    /// The main expression without its definitions.
    fn body(&self) -> Option<TermId> {
        let mut body = self.main?;
        while let Term::Apply(function, _) = self.terms.term(body)
            && let Term::Lambda(_, rest) = self.terms.term(function)
        {
            body = rest;
        }
        Some(body)
    }

    /// The text of the type of the main expression.
    pub fn show_type(&self) -> Option<String> {
        Some(self.terms.types.show(self.terms.ty(self.main?)))
    }
}
