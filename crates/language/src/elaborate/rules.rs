//! The rules of a `train` (composition.md, section 5): which optimiser updates which parameter, and sums over
//! all parameters of a rule.

use eddy_autodiff::section::Trained;
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::Op;

use super::Elaborator;
use super::synthesis::Place;
use crate::codes;
use crate::flow::{Kind, Name, VarId};
use crate::program::TrainId;

/// The `all_sum`s of the optimisers of a `train`.
#[derive(Default)]
pub(super) struct Sums {
    /// The rule of the current optimiser; `None` outside of optimisers.
    rule: Option<usize>,
    /// How many `all_sum`s the current optimiser has had.
    n_here: usize,
    terms: Vec<Term>,
}

/// One `all_sum` in one optimiser.
struct Term {
    rule: usize,
    /// Its number in the optimiser: those with equal numbers belong together.
    number: usize,
    operand: VarId,
    sum: VarId,
}

impl Sums {
    /// Begins an optimiser.
    pub fn begin(&mut self, rule: usize) {
        self.rule = Some(rule);
        self.n_here = 0;
    }
}

impl Elaborator<'_> {
    /// The rule of each parameter; `None` after an error.
    pub(super) fn rules(
        &mut self,
        train: TrainId,
        place: &Place,
        parameters: &[(Name, Trained)],
    ) -> Option<Vec<usize>> {
        let rules = &self.program.train(train).rules;
        let prefix = place.seed_path.to_string();
        let paths: Vec<String> = parameters
            .iter()
            .map(|(name, _)| {
                let whole = name.to_string();
                whole.strip_prefix(&prefix).unwrap_or(&whole).to_string()
            })
            .collect();
        let matching = |path: &String| {
            let takes =
                |pattern: &Option<String>| pattern.as_ref().is_none_or(|pattern| matches(pattern, path));
            rules.iter().position(|rule| takes(&rule.pattern))
        };
        let mut found = Vec::new();
        for path in &paths {
            let Some(rule) = matching(path) else {
                let title = format!("no optimiser for `{path}`");
                let help = "add a rule without `for`, which takes all parameters that are left";
                let diagnostic = Diagnostic::error(codes::ARGUMENT, self.program.train(train).span, title);
                self.diagnostics.push(diagnostic.help(help));
                return None;
            };
            found.push(rule);
        }
        for rule in rules {
            let Some(pattern) = &rule.pattern else { continue };
            if !paths.iter().any(|path| matches(pattern, path)) {
                let title = format!("`{pattern}` matches no parameter");
                let listed: Vec<String> = paths.iter().take(8).map(|path| format!("`{path}`")).collect();
                let diagnostic = Diagnostic::error(codes::ARGUMENT, rule.span, title)
                    .help(format!("the parameters are {}", listed.join(", ")));
                self.diagnostics.push(diagnostic);
                return None;
            }
        }
        Some(found)
    }

    /// The stream of an `all_sum`, whose operand is on the stack. Its equation follows when all operands are
    /// known.
    pub(super) fn all_sum(&mut self, target: Option<VarId>, span: Span) -> Option<VarId> {
        let operand = self.pop();
        let Some(rule) = self.sums.rule else {
            let title = "`all_sum` is only in an optimiser";
            self.fail(
                Diagnostic::error(codes::ARGUMENT, span, title)
                    .reason("it is the sum over all parameters that a rule of `train` updates"),
            );
            return None;
        };
        let sum = target.unwrap_or_else(|| self.var(None, span));
        let number = self.sums.n_here;
        self.sums.n_here += 1;
        self.sums.terms.push(Term { rule, number, operand, sum });
        Some(sum)
    }

    /// Writes the sums of all optimisers: from left to right, in the order of the parameters.
    pub(super) fn end_sums(&mut self, span: Span) {
        let sums = std::mem::take(&mut self.sums);
        let mut groups: Vec<(usize, usize)> =
            sums.terms.iter().map(|term| (term.rule, term.number)).collect();
        groups.sort_unstable();
        groups.dedup();
        for group in groups {
            let terms: Vec<&Term> =
                sums.terms.iter().filter(|term| (term.rule, term.number) == group).collect();
            let mut total = terms[0].operand;
            for term in &terms[1..] {
                self.require_same_types(&[terms[0].operand], &[term.operand], span);
                total = self.write(None, Kind::Apply(Op::Add, Box::new([total, term.operand])), span);
            }
            for term in terms {
                self.write(Some(term.sum), Kind::Apply(Op::Copy, Box::new([total])), span);
            }
        }
    }
}

/// Whether a path has the form of a pattern, in which `*` stands for any characters.
fn matches(pattern: &str, path: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == path };
    let Some(mut path) = path.strip_prefix(first) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return path.ends_with(part);
        }
        match path.find(part) {
            Some(at) => path = &path[at + part.len()..],
            None => return false,
        }
    }
    unreachable!("a split has a last part")
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_any_characters() {
        assert!(matches("encoder/*", "encoder/dense#1/kernel"));
        assert!(matches("*/bias", "a/b/bias"));
        assert!(matches("a*b*c", "axxbyyc") && matches("a*a", "aa"));
        assert!(!matches("a*a", "a") && !matches("encoder", "encoder/x") && !matches("*x", "xy"));
        assert!(matches("w", "w") && matches("*", "anything"));
    }
}
