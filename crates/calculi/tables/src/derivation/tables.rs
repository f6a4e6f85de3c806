//! The demanded table of each λ of the source: `--tables`.

use rustc_hash::FxHashMap;

use super::{Derivation, Rule};
use crate::syntax::{Origin, Program, Term, TermId, Written};
use crate::value::{Entry, Value, Values};
use eddy_syntax::SourceFile;

/// The label and the table of each λ, in the order of the source. The λs of `let` are left out.
pub fn tables(
    derivation: &Derivation,
    program: &Program,
    file: &SourceFile,
    values: &mut Values,
) -> Vec<(String, Value)> {
    let mut entries: FxHashMap<TermId, Vec<Entry>> = FxHashMap::default();
    for node in derivation.nodes() {
        if let Rule::Lambda(..) = node.rule {
            entries.entry(node.term).or_default().extend(values.entries(node.value));
        }
    }
    let table = |lambda: TermId| {
        let entries = entries.remove(&lambda).unwrap_or_default();
        (label(program, file, lambda), values.table(entries))
    };
    lambdas(program).into_iter().map(table).collect()
}

/// The λs of the source in its order: in a `let`, the definition comes before the body.
fn lambdas(program: &Program) -> Vec<TermId> {
    let terms = &program.terms;
    let (mut found, mut work) = (Vec::new(), vec![program.main]);
    while let Some(id) = work.pop() {
        match *terms.term(id) {
            Term::Apply(function, argument, Written::AsLet) => work.extend([function, argument]),
            Term::Lambda(_, body) => {
                if !matches!(program.origins.get(&id), Some(Origin::Let) | None) {
                    found.push(id);
                }
                work.push(body);
            }
            ref term => {
                let parts: Vec<TermId> = term.parts().collect();
                work.extend(parts.into_iter().rev());
            }
        }
    }
    found
}

/// The name that a `let` gives the λ, or `\x@line:column`.
fn label(program: &Program, file: &SourceFile, lambda: TermId) -> String {
    let Term::Lambda(variable, _) = program.terms.term(lambda) else { unreachable!("only λs have labels") };
    let names = &program.terms.names;
    match program.origins.get(&lambda) {
        Some(Origin::Named(name)) => names.text(*name).to_string(),
        Some(Origin::At(span)) => {
            let at = file.position(span.start);
            format!("\\{}@{}:{}", names.text(*variable), at.line, at.column)
        }
        Some(Origin::Let) | None => unreachable!("these are left out"),
    }
}
