//! The inputs of a callee: their names, defaults, and which of them are callables.

use super::arguments::{Formal, Misbound, Source, bind};
use crate::program::{Base, Callable, Callee, Node};
use crate::tree::ExprId;

pub(super) struct Inputs<'a> {
    pub formals: Vec<Formal<'a>>,
    is_callable: Vec<bool>,
    /// Whether further inputs follow, whose number is not known before types are, or that have no names.
    pub is_open: bool,
}

impl Inputs<'_> {
    pub fn len(&self) -> usize {
        self.formals.len()
    }

    pub fn is_callable(&self, input: usize) -> bool {
        self.is_callable.get(input).copied().unwrap_or(false)
    }

    pub fn has_callables(&self) -> bool {
        self.is_callable.contains(&true)
    }

    pub fn names(&self) -> Vec<&str> {
        self.formals.iter().map(|formal| formal.name).collect()
    }

    /// In the rule of a `train`, the arguments of an optimiser or of a transformation of gradients begin
    /// after the parameter, the step and the gradient: names the arguments without names.
    pub fn name_after_given(&self, written: &mut [(Option<String>, ExprId)]) {
        let [first, second, third, further @ ..] = self.formals.as_slice() else { return };
        let is_given = matches!((first.name, second.name, third.name), ("init" | "p", "step", "g"));
        let names: Vec<Option<&str>> = written.iter().map(|(name, _)| name.as_deref()).collect();
        if !is_given || names.iter().flatten().any(|name| ["init", "p", "step", "g"].contains(name)) {
            return;
        }
        let Ok(bound) = bind(further, &names) else { return };
        for (formal, source) in further.iter().zip(bound) {
            if let Source::Argument(number) = source {
                written[number].0 = Some(formal.name.to_string());
            }
        }
    }

    /// How many arguments a call may have: at least and at most.
    pub fn arity(&self) -> (usize, usize) {
        let n_defaults = self.formals.iter().filter(|formal| formal.has_default).count();
        (self.formals.len() - n_defaults, self.formals.len())
    }

    /// Binds the arguments of a call.
    pub fn bind(&self, written: &[(Option<String>, ExprId)]) -> Result<Vec<Source>, Misbound> {
        let names: Vec<Option<&str>> = written.iter().map(|(name, _)| name.as_deref()).collect();
        if !self.is_open {
            return bind(&self.formals, &names);
        }
        let further = Formal { name: "", has_default: false };
        let formals: Vec<Formal<'_>> =
            self.formals.iter().copied().chain(names.iter().map(|_| further)).collect();
        let mut bound = bind(&formals, &names)?;
        while bound.len() > self.formals.len() && bound.last() == Some(&Source::Missing) {
            bound.pop();
        }
        Ok(bound)
    }
}

/// The inputs of a node.
pub(super) fn formals(node: &Node) -> Vec<Formal<'_>> {
    node.inputs()
        .iter()
        .map(|slot| Formal { name: &slot.name, has_default: slot.default.is_some() })
        .collect()
}

/// The inputs of a callee. Functions of the operation table take arguments by position only.
pub(super) fn inputs_of<'a>(nodes: &'a [Node], parameters: &'a [Vec<String>], callee: &Callee) -> Inputs<'a> {
    let without_names = Inputs { formals: Vec::new(), is_callable: Vec::new(), is_open: true };
    match callee {
        Callee::Instance(Callable { base, modes }) => {
            let (node, extra): (_, &[&'static str]) = match base {
                Base::Node(node) => (node, &[]),
                Base::Woven { node, end: true, cut: true } => (node, &["end", "cut"]),
                Base::Woven { node, end: true, .. } => (node, &["end"]),
                Base::Woven { node, .. } => (node, &["cut"]),
                // The node of a `train` is not resolved yet.
                Base::Train(_) | Base::Test(_) => return without_names,
            };
            let Some(node) = nodes.get(node.index()) else { return without_names };
            let mut formals = formals(node);
            let mut is_callable: Vec<bool> = node.inputs().iter().map(|slot| slot.is_callable).collect();
            formals.extend(extra.iter().map(|name| Formal { name, has_default: false }));
            is_callable.resize(formals.len(), false);
            Inputs { formals, is_callable, is_open: !modes.is_empty() }
        }
        Callee::Applied(function, modes) => {
            let names = &parameters[function.index()];
            let formals: Vec<Formal<'a>> =
                names.iter().map(|name| Formal { name, has_default: false }).collect();
            let is_callable = vec![false; formals.len()];
            Inputs { formals, is_callable, is_open: !modes.is_empty() }
        }
        Callee::Function(_) | Callee::Initialiser(_) | Callee::Param | Callee::AllSum => without_names,
    }
}
