//! The memory of the tape of `adj_f` (functions.md, section 7), for `eddy check --memory`.

use eddy_body::Checkpoints;
use eddy_body::ir::{Elem, Mode};
use eddy_body::tape::{Formula, Known, Tape, tape};

use super::budget::Budget;
use super::customs::tangent;
use super::entry::{LoweredCall, lower_call};
use super::key::{KeyKind, Ty};
use super::lowering::Lowering;
use super::value::Code;
use super::written::{Dim, Written};
use crate::names::Name;
use crate::program::{FunctionId, Program};
use crate::tree::{BinaryOp, ExprId, ExprKind};

/// The tape of the adjoint of a function with written types; `None` if it has no derivative.
pub fn tape_of(program: &Program, id: FunctionId, checkpoints: Checkpoints) -> Option<Tape> {
    let lowering = Lowering::new(program);
    let key = lowering.written_key(id).ok()??;
    let (module, tree) = program.function(id);
    let (span, budget) = (tree.ident.span, Budget { checkpoints, ..Budget::default() });
    let lowered = |modes: Vec<Mode>, args: &[Ty]| -> Option<LoweredCall> {
        lower_call(program, Code::Declared(id, modes), args, span, &budget).ok()
    };
    let value = lowered(Vec::new(), &key.args)?;
    if !value.result().contains_num() || !key.args.iter().any(Ty::contains_num) {
        return None;
    }
    let direction = tangent(value.result());
    let mut known = Vec::new();
    for param in &tree.params {
        let written = lowering.written(module, param.annotation?, &[], &mut Vec::new()).ok()?;
        let name = program.modules[module].names.text(param.ident.name);
        argument(program, &written, name, &mut known);
    }
    unknown(&direction, &mut known);
    let args = [key.args, vec![direction]].concat();
    let adjoint = lowered(vec![Mode::Adj], &args)?;
    tape(&adjoint.module, adjoint.body, &known, adjoint.n_plain).ok()
}

/// Records what is known about the tensors of an argument: written sizes, and integers by the names of their
/// parameters.
fn argument(program: &Program, written: &Written, name: &str, known: &mut Vec<Known>) {
    match written {
        Written::Tensor(Elem::Int, dims) if dims.is_empty() => known.push(Known::int(Formula::named(name))),
        Written::Tensor(_, dims) => {
            known.push(Known::sized(dims.iter().map(|dim| size(program, dim)).collect()));
        }
        Written::Tuple(parts) => {
            let parts = parts.iter().enumerate();
            parts.for_each(|(at, part)| argument(program, part, &format!("{name}.{at}"), known));
        }
        Written::Record(fields) => {
            for (label, field) in fields {
                argument(program, field, &format!("{name}.{label}"), known);
            }
        }
        Written::Function => {}
    }
}

fn unknown(ty: &Ty, known: &mut Vec<Known>) {
    match ty {
        Ty::Tensor(KeyKind::Is(_) | KeyKind::Open(_), rank) => {
            known.push(Known::sized(vec![Formula::unknown(); *rank]));
        }
        Ty::Tuple(parts) => parts.iter().for_each(|part| unknown(part, known)),
        Ty::Record(fields) => fields.iter().for_each(|(_, field)| unknown(field, known)),
        Ty::Function(_) | Ty::Unknown => {}
    }
}

fn size(program: &Program, dim: &Dim) -> Formula {
    match dim {
        Dim::Open => Formula::unknown(),
        Dim::Expr { module, expr, sizes } => int(program, *module, *expr, sizes),
    }
}

/// The formula of a written size, which is nested only as deep as the parser allows.
fn int(program: &Program, module: usize, expr: ExprId, sizes: &[(Name, Dim)]) -> Formula {
    let file = &program.modules[module];
    match file.tree.exprs.kind(expr) {
        ExprKind::Number(number) => {
            file.names.text(number.text).parse().map_or_else(|_| Formula::unknown(), Formula::constant)
        }
        ExprKind::Group(inner) => int(program, module, inner, sizes),
        ExprKind::Variable(name) => match sizes.iter().find(|(other, _)| *other == name) {
            Some((_, dim)) => size(program, dim),
            None => Formula::named(file.names.text(name)),
        },
        ExprKind::Binary(op, left, right) => {
            let (left, right) = (int(program, module, left, sizes), int(program, module, right, sizes));
            match op {
                BinaryOp::Add => left.plus(&right),
                BinaryOp::Sub => left.minus(&right),
                BinaryOp::Mul => left.times(&right),
                _ => Formula::unknown(),
            }
        }
        _ => Formula::unknown(),
    }
}
