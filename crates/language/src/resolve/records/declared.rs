//! Types with names: the annotations of the leaves of a stream.

use eddy_syntax::Diagnostic;
use rustc_hash::FxHashMap;

use crate::codes;
use crate::functions::written::Dim;
use crate::program::{Entity, Module, Reference};
use crate::static_value::postorder;
use crate::tree::{ExprId, ExprKind, Number, UnaryOp};

/// A size, in a form that does not depend on the file in which it is written.
#[derive(Clone, Debug)]
pub(super) enum Size {
    /// An expression of the file of the node.
    Own(ExprId),
    /// An expression of a type declaration: its parts, operands before operators.
    Copied(Vec<SizePart>),
}

/// A part of a copied size. Operands are the numbers of earlier parts.
#[derive(Clone, Debug)]
pub(super) struct SizePart {
    pub kind: ExprKind,
    /// The text of a number, which becomes a name of the node's file.
    pub text: String,
    pub reference: Reference,
    /// For a size parameter of a type, the size that is given for it.
    pub stands_for: Option<Size>,
    pub operands: Vec<usize>,
}

/// The sizes of a leaf; `None` if a size is left open.
pub(super) fn sizes(
    modules: &[Module],
    home: usize,
    dims: &[Dim],
) -> Result<Option<Vec<Size>>, Box<Diagnostic>> {
    let mut sizes = Vec::new();
    for dim in dims {
        match size(modules, home, dim)? {
            Some(size) => sizes.push(size),
            None => return Ok(None),
        }
    }
    Ok(Some(sizes))
}

/// Converts a size to a [`Size`]; `None` if it is left open. The recursion is no deeper than declarations of
/// types are nested.
fn size(modules: &[Module], home: usize, dim: &Dim) -> Result<Option<Size>, Box<Diagnostic>> {
    let Dim::Expr { module, expr, sizes } = dim else { return Ok(None) };
    if *module == home && sizes.is_empty() {
        return Ok(Some(Size::Own(*expr)));
    }
    let file = &modules[*module];
    let exprs = &file.tree.exprs;
    let (mut parts, mut numbers): (Vec<SizePart>, FxHashMap<ExprId, usize>) = Default::default();
    for id in postorder(exprs, *expr) {
        let kind = exprs.kind(id);
        let mut part = SizePart {
            kind,
            text: String::new(),
            reference: Reference::Nothing,
            stands_for: None,
            operands: exprs.children(id).map(|operand| numbers[&operand]).collect(),
        };
        match kind {
            ExprKind::Number(Number { text, .. }) => part.text = file.names.text(text).to_string(),
            ExprKind::Variable(name) => {
                if let Some((_, dim)) = sizes.iter().find(|(other, _)| *other == name) {
                    let Some(given) = size(modules, home, dim)? else { return Ok(None) };
                    part.stands_for = Some(given);
                } else if let Some(Entity::Constant(constant)) = file.entities.get(file.names.text(name)) {
                    part.reference = Reference::Constant(*constant);
                } else {
                    let text = file.names.text(name);
                    let title = format!("size error: `{text}` is neither a size of this type nor a constant");
                    return Err(Box::new(Diagnostic::error(codes::SHAPE, exprs.at(id), title)));
                }
            }
            ExprKind::Group(_) | ExprKind::Binary(..) | ExprKind::Unary(UnaryOp::Negate, _) => {}
            _ => {
                let title = "size error: a size in a type is made of numbers, sizes and constants";
                return Err(Box::new(Diagnostic::error(codes::SHAPE, exprs.at(id), title)));
            }
        }
        numbers.insert(id, parts.len());
        parts.push(part);
    }
    Ok(Some(Size::Copied(parts)))
}
