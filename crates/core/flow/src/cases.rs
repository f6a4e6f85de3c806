//! Conditions that test which constructor a stream of an enumeration has (composition.md, section 7).
//!
//! `x when s is mid` is sampled by `not c₀`, then by `c₁`, where `c₀` is `s == low` and `c₁` is `(s == mid)
//! when not c₀`. The names of these conditions say what they test, so that clocks are shown as they are
//! written: `base on s is mid`. No program has such names.

use crate::Polarity;

const IS: &str = ":is:";
const ELSE: &str = ":else:";

/// The name of condition number `number` of a stream: the test of that constructor, among those that are
/// left.
pub fn test_name(stream: &str, constructors: &[String], number: usize) -> String {
    let tested = format!("{stream}{IS}{}", constructors[number]);
    // The last test decides between two.
    if number + 2 == constructors.len() {
        format!("{tested}{ELSE}{}", constructors[number + 1])
    } else {
        tested
    }
}

/// Whether a stream with this name is such a condition.
pub fn is_test(name: &str) -> bool {
    name.contains(IS)
}

/// How a sampling by such a condition is shown; `None` if a further sampling says more.
pub(crate) fn shown(label: &str, polarity: Polarity) -> Option<String> {
    let (tested, other) = match label.split_once(ELSE) {
        Some((tested, other)) => (tested, Some(other)),
        None => (label, None),
    };
    let (stream, constructor) = (tested_stream(tested)?, tested.split_once(IS)?.1);
    match (polarity, other) {
        (Polarity::On, _) => Some(format!("{stream} is {constructor}")),
        (Polarity::OnNot, Some(other)) => Some(format!("{stream} is {other}")),
        (Polarity::OnNot, None) => None,
    }
}

/// The stream that a condition with this name tests; `None` if it is no such condition. The state of a
/// machine is a stream with a path: `automaton#1/state`.
pub fn tested_stream(label: &str) -> Option<String> {
    label.split_once(IS).map(|(stream, _)| stream.replace(':', "/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samplings_are_shown_as_they_are_written() {
        let gears = ["low", "mid", "top"].map(str::to_string);
        let [first, second] = [0, 1].map(|number| test_name("s", &gears, number));
        assert_eq!(shown(&first, Polarity::On).as_deref(), Some("s is low"));
        assert_eq!(shown(&first, Polarity::OnNot), None);
        assert_eq!(shown(&second, Polarity::On).as_deref(), Some("s is mid"));
        assert_eq!(shown(&second, Polarity::OnNot).as_deref(), Some("s is top"));
        assert!(is_test(&first) && !is_test("s"));
    }
}
