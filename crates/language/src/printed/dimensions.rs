//! Prints a size as the program writes it: as the compile-time parameter with this value, or else the static
//! expression of the body with this value, if there is only one (section 9.5, shapes). So training code is as
//! general in its sizes as the program, provided that the instance has different sizes where the program has
//! different names.

use std::collections::BTreeMap;

use eddy_tensor::{Shape, Type};
use rustc_hash::FxHashMap;

use super::Shapes;
use super::text::Text;
use crate::elaborate::Recorded;
use crate::program::{Module, Node, Program};
use crate::static_value::Static;
use crate::tree::{ExprId, ExprKind};

/// The sizes for which an instance has names.
pub(super) struct Dimensions {
    /// The sizes that are values of parameters; the head of a node can use no other names.
    parameters: FxHashMap<usize, ExprId>,
    sizes: FxHashMap<usize, ExprId>,
    lists: FxHashMap<Vec<i64>, ExprId>,
}

impl Dimensions {
    /// The names of an instance, as expressions of a text.
    pub fn new(program: &Program, recorded: &Recorded, text: &mut Text) -> Dimensions {
        let (node, module) = (program.node(recorded.node), program.module_of(recorded.node));
        let mut sizes: BTreeMap<usize, Vec<(String, ExprId)>> = BTreeMap::new();
        let mut lists: BTreeMap<Vec<i64>, Vec<ExprId>> = BTreeMap::new();
        for (slot, constant) in node.inputs().iter().zip(&recorded.constants) {
            let name = text.var(&slot.name);
            match constant {
                Some(Static::Int(n)) => {
                    if let Ok(size) = usize::try_from(*n) {
                        sizes.entry(size).or_default().push((slot.name.clone(), name));
                    }
                }
                Some(Static::List(list)) => lists.entry(list.clone()).or_default().push(name),
                _ => {}
            }
        }
        let only = |(size, known): (usize, Vec<(String, ExprId)>)| match known.as_slice() {
            [(_, expr)] => Some((size, *expr)),
            _ => None,
        };
        let parameters = sizes.clone().into_iter().filter_map(only).collect();
        // A parameter is preferred to an expression.
        let named: Vec<usize> = sizes.keys().copied().collect();
        for (size, expr) in written(node, module, recorded) {
            if named.contains(&size) {
                continue;
            }
            let expr = text.copy(module, expr, &FxHashMap::default(), &|_| None);
            let words = text.show(expr);
            let known = sizes.entry(size).or_default();
            if !known.iter().any(|(other, _)| *other == words) {
                known.push((words, expr));
            }
        }
        let only_list = |(list, known): (Vec<i64>, Vec<ExprId>)| match known.as_slice() {
            [expr] if !list.is_empty() => Some((list, *expr)),
            _ => None,
        };
        Dimensions {
            parameters,
            sizes: sizes.into_iter().filter_map(only).collect(),
            lists: lists.into_iter().filter_map(only_list).collect(),
        }
    }

    /// A size. 0 is printed as a number, because it is a position rather than a size.
    pub fn size(&self, size: usize, text: &mut Text) -> ExprId {
        match self.sizes.get(&size).filter(|_| size > 0) {
            Some(expr) => *expr,
            None => text.integer(size),
        }
    }

    /// Zero: a literal if inference finds its shape (section 3), else `zeros(shape)`.
    pub fn zero(&self, shape: &Shape, shapes: Shapes, text: &mut Text) -> ExprId {
        if shapes == Shapes::Inferred || shape.is_scalar() {
            return text.number(0.0);
        }
        let shape = self.shape(shape, text);
        text.call("zeros", &[shape])
    }

    /// A list of sizes.
    pub fn shape(&self, shape: &Shape, text: &mut Text) -> ExprId {
        let list: Option<Vec<i64>> = shape.iter().map(|size| i64::try_from(*size).ok()).collect();
        if let Some(expr) = list.and_then(|list| self.lists.get(&list)) {
            return *expr;
        }
        let sizes: Vec<ExprId> = shape.iter().map(|size| self.size(*size, text)).collect();
        text.list(&sizes)
    }

    /// `x:num [n,3]`, for the head of a node.
    pub fn annotated(&self, name: &str, ty: &Type, text: &Text) -> String {
        let parameter = |size: &usize| match self.parameters.get(size) {
            Some(expr) => text.show(*expr),
            None => size.to_string(),
        };
        let sizes: Vec<String> = ty.shape.iter().map(parameter).collect();
        format!("{name}:{} [{}]", ty.scalar, sizes.join(","))
    }
}

/// The static expressions of a body that are not numerals, in the order of the text.
fn written(node: &Node, module: &Module, recorded: &Recorded) -> Vec<(usize, ExprId)> {
    let exprs = &module.tree.exprs;
    let mut found: Vec<ExprId> = recorded.statics.keys().copied().collect();
    found.sort_unstable();
    let inputs: Vec<&str> = node.inputs().iter().map(|slot| slot.name.as_str()).collect();
    let is_name = |expr: &ExprId| match exprs.kind(*expr) {
        ExprKind::Number(_) | ExprKind::Group(_) => false,
        ExprKind::Variable(name) => !inputs.contains(&module.names.text(name)),
        _ => true,
    };
    let sizes = found.into_iter().filter(is_name).filter_map(|expr| match &recorded.statics[&expr] {
        Static::Int(n) => Some((usize::try_from(*n).ok()?, expr)),
        _ => None,
    });
    sizes.collect()
}
