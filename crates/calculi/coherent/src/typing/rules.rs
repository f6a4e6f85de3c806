//! The typing rules (section 3, Figure 2): the type of a form from the types of its parts.
//!
//! The checker of programs and the judgement on core terms share these rules.

use crate::syntax::Op;
use crate::types::{Type, Types};

/// Why a rule does not apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleMismatch {
    /// A function is required; the part has this type.
    NotAFunction(Type),
    /// The argument has the second type where the function takes the first.
    Argument(Type, Type),
    /// `fix` of a function between two types.
    NotAnEndofunction(Type, Type),
    /// `D^d nat` is required, with d the first field; the part has this type.
    NotGround(u32, Type),
    /// The type of the part has fewer levels than required.
    TooShallow(u32, Type),
    /// The result would exceed the maximal depth.
    TooDeep(Type),
    /// The branches have different types.
    Branches(Type, Type),
}

impl RuleMismatch {
    /// Whether it is a matter of depth: a violated `e ≥ …`, or a ground type of another depth than `D^d nat`.
    pub fn is_about_depth(self) -> bool {
        match self {
            RuleMismatch::TooShallow(..) | RuleMismatch::TooDeep(_) => true,
            RuleMismatch::NotGround(_, found) => found.is_ground(),
            _ => false,
        }
    }
}

/// ```text
/// M : A -> B    N : A
/// ───────────────────
///      M N : B
/// ```
pub fn apply(types: &Types, function: Type, argument: Type) -> Result<Type, RuleMismatch> {
    if function.is_unknown() {
        return Ok(function);
    }
    let (from, to) = types.sides(function).ok_or(RuleMismatch::NotAFunction(function))?;
    if !agree(from, argument) {
        return Err(RuleMismatch::Argument(from, argument));
    }
    Ok(to)
}

/// ```text
/// M : A -> A
/// ──────────
/// fix M : A
/// ```
pub fn fix(types: &Types, function: Type) -> Result<Type, RuleMismatch> {
    if function.is_unknown() {
        return Ok(function);
    }
    let (from, to) = types.sides(function).ok_or(RuleMismatch::NotAFunction(function))?;
    if from != to {
        return Err(RuleMismatch::NotAnEndofunction(from, to));
    }
    Ok(from)
}

/// ```text
///     M : A -> B
/// ────────────────
/// D M : D A -> D B
/// ```
pub fn derive(types: &mut Types, function: Type) -> Result<Type, RuleMismatch> {
    if function.is_unknown() {
        return Ok(function);
    }
    let (from, to) = types.sides(function).ok_or(RuleMismatch::NotAFunction(function))?;
    let deep = |ty: Type| ty.checked_deeper(1).ok_or(RuleMismatch::TooDeep(function));
    let (from, to) = (deep(from)?, deep(to)?);
    Ok(types.arrow(from, to))
}

/// ```text
/// M : D^d nat             M : (args,e)  e ≥ d+1      M : (args,e)  e ≥ d
/// ────────────────────    ──────────────────────     ───────────────────────
/// succ^d M : D^d nat      pi_i^d M : (args,e-1)      inj_i^d M : (args,e+1)
///
/// M : (args,e)  e ≥ d+2       M : (args,e)  e ≥ d+l+2
/// ────────────────────────    ───────────────────────
/// theta^d M : (args,e-1)      flip_l^d M : (args,e)
/// ```
/// and `pred` as `succ`.
pub fn op(op: Op, depth: u32, part: Type) -> Result<Type, RuleMismatch> {
    if part.is_unknown() {
        return Ok(part);
    }
    let at_least = |levels: u32| {
        if part.depth >= levels { Ok(()) } else { Err(RuleMismatch::TooShallow(levels, part)) }
    };
    let shallower = || part.shallower(1).ok_or(RuleMismatch::TooShallow(1, part));
    match op {
        Op::Succ | Op::Pred => ground(depth, part),
        Op::Pi(_) => at_least(depth + 1).and_then(|()| shallower()),
        Op::Inj(_) => {
            at_least(depth).and_then(|()| part.checked_deeper(1).ok_or(RuleMismatch::TooDeep(part)))
        }
        Op::Theta => at_least(depth + 2).and_then(|()| shallower()),
        Op::Flip(levels) => at_least(depth + levels + 2).map(|()| part),
    }
}

/// Exactly `D^d nat`, as `succ`, `pred`, `if` and `let` require.
pub fn ground(depth: u32, part: Type) -> Result<Type, RuleMismatch> {
    if part.is_unknown() || part == Type::ground(depth) {
        return Ok(part);
    }
    Err(RuleMismatch::NotGround(depth, part))
}

/// ```text
/// M : D^d nat    P : A    Q : A        M : D^d nat    x:nat ⊢ P : A
/// ─────────────────────────────        ────────────────────────────
///     if^d(M,P,Q) : D^d A                  let^d(x,M,P) : D^d A
/// ```
/// The first premise and the equality of the branches were checked before.
pub fn under(depth: u32, branch: Type) -> Result<Type, RuleMismatch> {
    branch.checked_deeper(depth).ok_or(RuleMismatch::TooDeep(branch))
}

/// The one type of two branches.
pub fn branches(yes: Type, no: Type) -> Result<Type, RuleMismatch> {
    if !agree(yes, no) {
        return Err(RuleMismatch::Branches(yes, no));
    }
    Ok(if yes.is_unknown() { no } else { yes })
}

/// Whether two types are equal, or one of them is unknown.
pub fn agree(one: Type, other: Type) -> bool {
    one == other || one.is_unknown() || other.is_unknown()
}
