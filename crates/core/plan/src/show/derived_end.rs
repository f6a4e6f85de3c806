//! The derived end of windows as a condition: `e and g` for two `backfill`s.

use eddy_flow::VarId;
use rustc_hash::FxHashMap;

use super::names::Names;
use crate::plan::{Bit, DerivedEnd, Polarity};

/// A condition under construction.
#[derive(Clone, Debug, PartialEq)]
enum Text {
    Always,
    Never,
    /// A conjunction.
    All(Vec<String>),
}

impl Text {
    fn and(self, other: Text) -> Text {
        match (self, other) {
            (Text::Never, _) | (_, Text::Never) => Text::Never,
            (Text::Always, other) | (other, Text::Always) => other,
            (Text::All(mut parts), Text::All(more)) => {
                for part in more {
                    if !parts.contains(&part) {
                        parts.push(part);
                    }
                }
                Text::All(parts)
            }
        }
    }

    fn show(&self) -> String {
        match self {
            Text::Always => "true".to_string(),
            Text::Never => "false".to_string(),
            Text::All(parts) => parts.join(" and "),
        }
    }

    /// As a part of a larger condition.
    fn part(&self) -> String {
        match self {
            Text::All(parts) if parts.len() > 1 => format!("({})", self.show()),
            _ => self.show(),
        }
    }
}

/// The condition that ends windows: no required stream needs a later cycle.
pub fn closes(names: &Names<'_>, derived_end: &DerivedEnd) -> String {
    let mut known: FxHashMap<VarId, Text> = FxHashMap::default();
    for needing in &derived_end.bits {
        let get = |var: &VarId| known.get(var).cloned().unwrap_or(Text::Always);
        let text = match &needing.bit {
            Bit::Set => Text::Never,
            Bit::Any(operands) => operands.iter().fold(Text::Always, |text, operand| text.and(get(operand))),
            Bit::First { init, .. } => match get(init) {
                Text::Always => Text::Always,
                _ => Text::All(vec!["not the first cycle".to_string()]),
            },
            Bit::Choice { condition, yes, no } => {
                get(condition).and(choice(names.name(*condition), &get(yes), &get(no)))
            }
        };
        known.insert(needing.var, text);
    }
    let required = derived_end.required.iter().map(|required| known[&required.var].clone());
    let text = required.fold(Text::Always, Text::and);
    let nested = derived_end.nested.iter().map(|(guard, polarity)| {
        let not = if *polarity == Polarity::On { "" } else { "not " };
        Text::All(vec![format!("{not}{}", names.name(*guard))])
    });
    nested.fold(text, Text::and).show()
}

fn choice(condition: &str, yes: &Text, no: &Text) -> Text {
    match (yes, no) {
        _ if yes == no => yes.clone(),
        (Text::Always, Text::Never) => Text::All(vec![condition.to_string()]),
        (Text::Never, Text::Always) => Text::All(vec![format!("not {condition}")]),
        (_, Text::Never) => Text::All(vec![condition.to_string()]).and(yes.clone()),
        (Text::Never, _) => Text::All(vec![format!("not {condition}")]).and(no.clone()),
        _ => Text::All(vec![format!("(if {condition} then {} else {})", yes.part(), no.part())]),
    }
}
