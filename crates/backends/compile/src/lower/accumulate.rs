//! Merges a product with the sum that adds it to something.
//!
//! Gradients of matrices are sums of products over time. The product of a cycle need not go through memory if
//! it has no other readers: each of its elements is added to the sum as soon as it is known. The additions
//! are the same, so the bits are the same.

use eddy_flow::VarId;
use eddy_tensor::Op;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Code, Operand, Right, Statement};
use crate::view::{Root, View};

/// The code with products merged into the sums that read them.
pub(super) fn accumulate(mut code: Code) -> Code {
    let alone = read_once(&code);
    let mut copies: FxHashMap<VarId, View> = FxHashMap::default();
    for group in &mut code.groups {
        let products = group.statements.iter().filter(|statement| alone.contains(&statement.var));
        let products: FxHashMap<VarId, Statement> = products
            .filter(|statement| matches!(statement.right, Right::Apply(Op::Matmul, _)))
            .map(|statement| (statement.var, statement.clone()))
            .collect();
        let mut taken: FxHashSet<VarId> = FxHashSet::default();
        for statement in &mut group.statements {
            if let Right::Copy(operand) = &statement.right
                && let Some(view) = seen(operand, &copies)
            {
                copies.insert(statement.var, view.clone());
            } else if let Some((product, right)) = accumulated(statement, &products, &copies) {
                taken.insert(product);
                statement.right = right;
            }
        }
        group.statements.retain(|statement| !taken.contains(&statement.var));
    }
    code
}

/// The streams with exactly one read.
fn read_once(code: &Code) -> FxHashSet<VarId> {
    let mut readers: FxHashMap<VarId, usize> = FxHashMap::default();
    let conditions = code.groups.iter().flat_map(|group| &group.conditions).map(|(operand, _)| operand);
    let statements = code.groups.iter().flat_map(|group| &group.statements);
    let operands = statements.flat_map(|statement| statement.right.operands());
    for operand in operands.chain(conditions) {
        if let Operand::Var(var) = operand {
            *readers.entry(*var).or_default() += 1;
        }
    }
    for var in code.exports.keys().chain(&code.live_out) {
        readers.remove(var);
    }
    readers.into_iter().filter(|(_, n)| *n == 1).map(|(var, _)| var).collect()
}

/// The view of an operand that exists before the statement runs.
fn seen<'a>(operand: &'a Operand, copies: &'a FxHashMap<VarId, View>) -> Option<&'a View> {
    match operand {
        Operand::Seen(view) => Some(view),
        Operand::Var(var) => copies.get(var),
    }
}

/// For a sum of a product and an array: the product, and the merged right-hand side.
fn accumulated(
    statement: &Statement,
    products: &FxHashMap<VarId, Statement>,
    copies: &FxHashMap<VarId, View>,
) -> Option<(VarId, Right)> {
    let Right::Apply(Op::Add, operands) = &statement.right else { return None };
    let [one, other] = operands.as_slice() else { return None };
    let product = |operand: &Operand| match operand {
        Operand::Var(var) => products.get(var).filter(|product| product.ty == statement.ty),
        Operand::Seen(_) => None,
    };
    let (product, to) = match (product(one), product(other)) {
        (Some(product), _) => (product, other),
        (None, Some(product)) => (product, one),
        (None, None) => return None,
    };
    let view = seen(to, copies)?;
    let is_array = matches!(view.root, Root::Memory(_)) && view.is_contiguous() && !view.shape.is_scalar();
    match &product.right {
        Right::Apply(_, factors) if is_array && view.shape == statement.ty.shape => {
            let [left, right] = factors.as_slice() else { return None };
            Some((product.var, Right::Accumulate(Operand::Seen(view.clone()), left.clone(), right.clone())))
        }
        _ => None,
    }
}
