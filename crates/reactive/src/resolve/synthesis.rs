//! Names of nodes that are synthesised (section 9.1): `adj_N`, `diff_N`, `tan_N`, `N_end`, `N_cut`.
//!
//! Names nest from the left: `tan_adj_N_end` is the tangent of the adjoint of `N_end`. What the program defines wins, at every
//! step: that is how derivatives are customised.

use std::collections::BTreeMap;

use eddy_autodiff::section::Mode;

use crate::program::{Base, Callable};

/// A derivative of a derivative of … at most so often; each takes about four times the equations.
pub const MAX_ORDER: usize = 8;

/// How many derivatives a name asks for.
pub fn order(mut name: &str) -> usize {
    let mut order = 0;
    while let Some(mode) = MODES.into_iter().find(|mode| name.starts_with(mode.prefix())) {
        name = &name[mode.prefix().len()..];
        order += 1;
    }
    order
}

/// What a name stands for, among nodes and what is synthesised from them.
pub fn callable(name: &str, nodes: &BTreeMap<String, Base>) -> Option<Callable> {
    let (mut rest, mut modes) = (name, Vec::new());
    // The name after taking off more and more derivatives, each with what was taken off.
    let mut stages = vec![(rest, modes.clone())];
    while let Some(mode) = MODES.into_iter().find(|mode| rest.starts_with(mode.prefix()))
        && modes.len() < MAX_ORDER
    {
        rest = &rest[mode.prefix().len()..];
        modes.insert(0, mode);
        stages.push((rest, modes.clone()));
    }
    let defined = stages.iter().find_map(|(rest, modes)| {
        nodes.get(*rest).map(|base| Callable { base: *base, modes: modes.clone() })
    });
    // `adj_N_end` is the adjoint of `N_end`, also where the program defines `adj_N`.
    defined.or_else(|| {
        let woven = |(rest, modes): &(&str, Vec<Mode>)| {
            woven(rest, nodes).map(|base| Callable { base, modes: modes.clone() })
        };
        stages.iter().rev().find_map(woven)
    })
}

const MODES: [Mode; 3] = [Mode::Adjoint, Mode::Diff, Mode::Tangent];

/// A node with resets woven in.
fn woven(name: &str, nodes: &BTreeMap<String, Base>) -> Option<Base> {
    let weave = |suffix: &str, end: bool, cut: bool| match nodes.get(name.strip_suffix(suffix)?)? {
        Base::Node(node) => Some(Base::Woven { node: *node, end, cut }),
        _ => None,
    };
    weave("_cut", false, true)
        .or_else(|| weave("_end_cut", true, true))
        .or_else(|| weave("_end", true, false))
}
