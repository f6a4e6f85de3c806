//! Orders statements, and decides which of them share a loop.
//!
//! A statement that moves no element becomes a view: its readers read its operand instead. The others are put
//! into loops ([`fusion`](super::fusion)). Sums of results are computed in the same loop, unless they sum its
//! innermost axis; there additions are independent of each other. A loop visits elements in the order in
//! which sums add them.

use eddy_flow::VarId;
use eddy_tensor::{Op, Scalar, Shape, Type};
use rustc_hash::FxHashMap;

use super::fusion::fuse;
use super::{Code, Operand, Right, Statement};
use crate::operation::{is_elementwise, is_moving};
use crate::view::{Root, View, row_major};

/// Statements in execution order.
pub(super) struct Scheduled<'a> {
    pub actions: Vec<Action<'a>>,
    /// The views of streams that move no elements.
    pub aliases: FxHashMap<VarId, View>,
    /// The conditions of each group.
    pub conditions: Vec<Vec<(View, bool)>>,
}

/// One loop, or one operation with its own loops.
pub(super) struct Action<'a> {
    pub group: usize,
    pub kind: ActionKind<'a>,
}

pub(super) enum ActionKind<'a> {
    /// A loop over a shape that computes all of these; sums come last.
    Map(Shape, Vec<Item<'a>>),
    /// A call of a function that computes all of these.
    Call(Vec<Item<'a>>),
    /// An operation of another kind.
    Other(Item<'a>),
}

/// A statement with its operands.
#[derive(Clone)]
pub(super) struct Item<'a> {
    pub statement: &'a Statement,
    /// The operands, broadcast to the shape of the result if it is computed element by element.
    pub reads: Vec<View>,
}

impl Action<'_> {
    pub fn items(&self) -> &[Item<'_>] {
        match &self.kind {
            ActionKind::Map(_, items) | ActionKind::Call(items) => items,
            ActionKind::Other(item) => std::slice::from_ref(item),
        }
    }
}

pub(super) fn schedule(code: &Code) -> Scheduled<'_> {
    let mut scheduler = Scheduler { aliases: FxHashMap::default(), types: FxHashMap::default() };
    let (mut actions, mut conditions) = (Vec::new(), Vec::new());
    for (number, group) in code.groups.iter().enumerate() {
        let of_group = group.conditions.iter();
        conditions.push(of_group.map(|(operand, truth)| (scheduler.view(operand), *truth)).collect());
        let mut items = Vec::new();
        for statement in &group.statements {
            scheduler.types.insert(statement.var, statement.ty.clone());
            let reads: Vec<View> =
                statement.right.operands().into_iter().map(|operand| scheduler.view(operand)).collect();
            // A view that must be stored is copied.
            let is_kept = code.exports.contains_key(&statement.var);
            match seen_through(statement, &reads).filter(|_| !is_kept) {
                Some(view) => {
                    scheduler.aliases.insert(statement.var, view);
                }
                None => items.push(item(statement, reads)),
            }
        }
        fuse(items, number, &mut actions);
    }
    Scheduled { actions, aliases: scheduler.aliases, conditions }
}

struct Scheduler {
    aliases: FxHashMap<VarId, View>,
    types: FxHashMap<VarId, Type>,
}

impl Scheduler {
    fn view(&self, operand: &Operand) -> View {
        match operand {
            Operand::Seen(view) => view.clone(),
            Operand::Var(var) => match self.aliases.get(var) {
                Some(view) => view.clone(),
                None => View::whole(Root::Var(*var), &self.types[var]),
            },
        }
    }
}

fn item(statement: &Statement, reads: Vec<View>) -> Item<'_> {
    let reads = if is_map(statement) { stretched(statement, &reads) } else { reads };
    Item { statement, reads }
}

/// The view of a statement that moves no elements.
fn seen_through(statement: &Statement, reads: &[View]) -> Option<View> {
    match &statement.right {
        Right::Copy(_) => Some(reads[0].clone()),
        Right::Apply(op, _) => reads.first()?.seen_through(op).filter(|_| reads.len() == 1),
        Right::Choice(..) | Right::Accumulate(..) => None,
    }
}

/// Whether a statement is computed element by element. Views that must be stored are copied in this way.
pub(super) fn is_map(statement: &Statement) -> bool {
    match &statement.right {
        Right::Copy(_) | Right::Choice(..) => true,
        Right::Accumulate(..) => false,
        Right::Apply(op, operands) => is_elementwise(op) || is_moving(op) && operands.len() == 1,
    }
}

/// The operands as the loop over the result reads them.
fn stretched(statement: &Statement, reads: &[View]) -> Vec<View> {
    let shape = &statement.ty.shape;
    match &statement.right {
        Right::Apply(Op::Outer, _) => {
            let [x, y] = reads else { unreachable!("`outer` has two operands") };
            let column = View { strides: vec![x.strides[0], 0], shape: shape.clone(), ..x.clone() };
            let row = View { strides: vec![0, y.strides[0]], shape: shape.clone(), ..y.clone() };
            vec![column, row]
        }
        Right::Apply(op, _) if is_moving(op) => {
            vec![reads[0].seen_through(op).expect("it moves elements without copying them")]
        }
        _ => reads.iter().map(|view| view.stretched(shape)).collect(),
    }
}

/// For a sum that can be computed in the loop over its operand: the stride of its result along each axis of
/// the operand.
pub(super) fn summed_along(item: &Item<'_>) -> Option<Vec<usize>> {
    let (Right::Apply(op, _), [operand]) = (&item.statement.right, item.reads.as_slice()) else {
        return None;
    };
    let (from, to) = (&operand.shape, &item.statement.ty.shape);
    let own = row_major(to);
    let strides: Vec<usize> = match op {
        Op::Sum(Some(axis)) => (0..from.len())
            .map(|at| if at == *axis { 0 } else { own[at - usize::from(at > *axis)] })
            .collect(),
        Op::Reduce(_) => {
            let missing = from.len() - to.len();
            let stride = |at: usize| match at.checked_sub(missing) {
                Some(kept) if to[kept] != 1 => own[kept],
                _ => 0,
            };
            (0..from.len()).map(stride).collect()
        }
        _ => return None,
    };
    let is_side_by_side = from.last().is_some_and(|size| *size > 1) && strides.last() == Some(&1);
    let is_sum = from.iter().product::<usize>() > to.iter().product();
    (is_side_by_side && is_sum && operand.scalar == Scalar::Num).then_some(strides)
}
