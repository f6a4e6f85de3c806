//! Names of synthesised nodes (section 9.1): `adj_N`, `diff_N`, `tan_N`, `N_end`, `N_cut`.
//!
//! Names nest from the left: `tan_adj_N_end` is the tangent of the adjoint of `N_end`. At each level, a node
//! that the program defines takes precedence: this is how derivatives are customised.

use std::collections::BTreeMap;

use eddy_autodiff::section::Mode;

use crate::program::{Base, Callable};

/// The highest order of derivatives. Each order has about four times the equations of the one below.
pub const MAX_ORDER: usize = 8;

/// The number of derivatives that a name contains.
pub fn order(mut name: &str) -> usize {
    let mut order = 0;
    while let Some(mode) = MODES.into_iter().find(|mode| name.starts_with(mode.prefix())) {
        name = &name[mode.prefix().len()..];
        order += 1;
    }
    order
}

/// Resolves a name to a node or to a node that is synthesised from one.
pub fn callable(name: &str, nodes: &BTreeMap<String, Base>) -> Option<Callable> {
    let (mut rest, mut modes) = (name, Vec::new());
    // The name after each prefix is removed, with the prefixes removed so far.
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
    // `adj_N_end` is the adjoint of `N_end`, even if the program defines `adj_N`.
    defined.or_else(|| {
        let woven = |(rest, modes): &(&str, Vec<Mode>)| {
            woven(rest, nodes).map(|base| Callable { base, modes: modes.clone() })
        };
        stages.iter().rev().find_map(woven)
    })
}

const MODES: [Mode; 3] = [Mode::Adjoint, Mode::Diff, Mode::Tangent];

/// `N_end`, `N_cut` or `N_end_cut`.
fn woven(name: &str, nodes: &BTreeMap<String, Base>) -> Option<Base> {
    let weave = |suffix: &str, end: bool, cut: bool| match nodes.get(name.strip_suffix(suffix)?)? {
        Base::Node(node) => Some(Base::Woven { node: *node, end, cut }),
        _ => None,
    };
    weave("_cut", false, true)
        .or_else(|| weave("_end_cut", true, true))
        .or_else(|| weave("_end", true, false))
}
