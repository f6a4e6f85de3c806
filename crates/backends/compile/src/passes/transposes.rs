//! Removes duplicate transposed copies of a matrix.
//!
//! The gradient of a layer reads its matrix by rows and by columns, forwards and backwards, and `emit` makes
//! a copy for each use. A gated recurrent unit has four fields for each matrix, of which only two differ:
//!
//! ```text
//! procedure prepare(self) {
//!   … self.back[64·i0 + i1] = self.kernel[i0 + 40·i1] …      transposed matrix for derivatives
//!   … self.kernel_t[64·i0 + i1] = self.kernel[40·i1 + i0] …  equals `back`
//!   … self.back_t[40·i0 + i1] = self.back[64·i1 + i0] …      equals `kernel`
//! }
//! ```
//!
//! A field qualifies if exactly one loop nest writes it, in a procedure that always runs to its end and runs
//! no other procedure. So two copies of a matrix are written together, and are equal at every read. Replacing
//! the transposed copy of a transposed copy by the matrix has one more condition: every procedure that
//! changes the matrix runs the copying procedure before it reads a copy. For a matrix that a host sets, this
//! is known only of `prepare`, which the host must call after it sets a parameter.

use eddy_imp::effects::{Visit, accesses, walk_stmt};
use eddy_imp::{Base, Binary, Block, Expr, Loop, Name, Place, Procedure, Program, Stmt};
use rustc_hash::{FxHashMap, FxHashSet};

use super::copies::read_instead;

/// The procedure that a host calls after it sets parameters.
const PREPARE: &str = "prepare";

/// Keeps one of several equal copies. Fields that a host accesses stay.
pub(super) fn share(program: &mut Program, seen_by_host: &FxHashSet<Name>) {
    // Terminates: each round removes a field.
    while let Some((copy, same)) = find(program, seen_by_host) {
        read_instead(program, &FxHashMap::from_iter([(copy, same)]));
    }
}

/// A loop nest that writes all of a matrix into a field, transposed.
struct Transposed<'p> {
    to: &'p Name,
    from: &'p Name,
    /// Of `from`.
    rows: usize,
    columns: usize,
}

/// A redundant field, and the field that equals it.
fn find(program: &Program, seen_by_host: &FxHashSet<Name>) -> Option<(Name, Name)> {
    for procedure in program.procedures.iter().filter(|procedure| is_straight(&procedure.body)) {
        let stmts = flattened(&procedure.body);
        let made: Vec<(usize, Transposed<'_>)> =
            (0..stmts.len()).filter_map(|at| Some((at, transposed(stmts[at], program)?))).collect();
        let is_good = |(at, made): &&(usize, Transposed<'_>)| {
            is_written_once(program, made.to) && !reads(&stmts[..*at], made.to)
        };
        let made: Vec<&(usize, Transposed<'_>)> = made.iter().filter(is_good).collect();
        for (number, (later, second)) in made.iter().copied().enumerate() {
            for (earlier, first) in made[..number].iter().copied() {
                if seen_by_host.contains(second.to) {
                    continue;
                }
                let is_sibling = second.from == first.from
                    && (second.rows, second.columns) == (first.rows, first.columns)
                    && !writes(&stmts[*earlier..*later], first.from);
                if is_sibling {
                    return Some((second.to.clone(), first.to.clone()));
                }
                let is_back = second.from == first.to
                    && (second.rows, second.columns) == (first.columns, first.rows)
                    && !writes(&stmts[*earlier..], first.from)
                    && (procedure.name.as_str() == PREPARE || !seen_by_host.contains(first.from))
                    && is_prepared(program, procedure, first.from, second.to);
                if is_back {
                    return Some((second.to.clone(), first.from.clone()));
                }
            }
        }
    }
    None
}

/// Whether each procedure that changes a matrix runs the one that copies it before it reads the copy.
fn is_prepared(program: &Program, preparing: &Procedure, matrix: &Name, copy: &Name) -> bool {
    let mut others = program.procedures.iter().filter(|procedure| procedure.name != preparing.name);
    others.all(|procedure| {
        let stmts = flattened(&procedure.body);
        let changes = |stmt: &&Stmt| writes(&[*stmt], matrix);
        let Some(first) = stmts.iter().position(changes) else { return true };
        let runs = |stmt: &&Stmt| matches!(stmt, Stmt::Run(_, name, _) if *name == preparing.name);
        let Some(run) = stmts[first..].iter().position(runs).map(|at| first + at) else { return false };
        let until = &stmts[first..run];
        !stmts[run..].iter().any(changes)
            && until.iter().all(|stmt| is_straight_stmt(stmt))
            && !reads(until, copy)
    })
}

/// The statements of a block and of its inner scopes.
fn flattened<'b>(block: &'b Block) -> Vec<&'b Stmt> {
    let inner = |stmt: &'b Stmt| match stmt {
        Stmt::Scope(block) => flattened(block),
        other => vec![other],
    };
    block.stmts.iter().flat_map(inner).collect()
}

/// Matches two nested loops that only transpose a matrix.
fn transposed<'p>(stmt: &'p Stmt, program: &'p Program) -> Option<Transposed<'p>> {
    let Stmt::For(outer) = stmt else { return None };
    let [Stmt::For(inner)] = outer.body.stmts.as_slice() else { return None };
    let (to, from) = match inner.body.stmts.as_slice() {
        [Stmt::Store(to, Expr::Load(from), _)] => (to, from),
        [Stmt::Let(name, _, Expr::Load(from), _), Stmt::Store(to, Expr::Var(value), _)] if name == value => {
            (to, from)
        }
        _ => return None,
    };
    let extent = |this: &Loop| this.n_iterations().filter(|_| this.first == Expr::Count(0));
    let (m, n) = (extent(outer)?, extent(inner)?);
    let whole = |place: &'p Place| {
        let (Base::State(name), [at]) = (&place.base, place.at.as_slice()) else { return None };
        let field = program.state.find(name.as_str())?;
        (field.dimensions == [m.checked_mul(n)?]).then_some((
            name,
            field.ty,
            strides(at, &outer.index, &inner.index)?,
        ))
    };
    let ((to, ty, written), (from, same, read)) = (whole(to)?, whole(from)?);
    // An `m` by `n` matrix by rows is an `n` by `m` matrix by columns.
    let (by_rows, by_columns) = ((n, 1), (1, m));
    let (rows, columns) = match (read, written) {
        _ if ty != same || to == from => return None,
        (read, written) if (read, written) == (by_rows, by_columns) => (m, n),
        (read, written) if (read, written) == (by_columns, by_rows) => (n, m),
        _ => return None,
    };
    Some(Transposed { to, from, rows, columns })
}

/// The factors of two indices in a sum of both without a constant.
fn strides(at: &Expr, outer: &Name, inner: &Name) -> Option<(usize, usize)> {
    match at {
        Expr::Var(name) => Some((usize::from(name == outer), usize::from(name == inner))),
        Expr::Binary(op, operands) => match (op, &**operands) {
            (Binary::Mul, [Expr::Count(n), Expr::Var(name)] | [Expr::Var(name), Expr::Count(n)]) => {
                let n = usize::try_from(*n).ok()?;
                Some((if name == outer { n } else { 0 }, if name == inner { n } else { 0 }))
            }
            (Binary::Add, [left, right]) => {
                let (left, right) = (strides(left, outer, inner)?, strides(right, outer, inner)?);
                Some((left.0.checked_add(right.0)?, left.1.checked_add(right.1)?))
            }
            _ => None,
        },
        _ => None,
    }
}

fn is_written_once(program: &Program, field: &Name) -> bool {
    let all = program.procedures.iter().flat_map(|procedure| accesses(&procedure.body));
    all.filter(|(place, access)| access.writes() && place.field() == Some(field)).count() == 1
}

fn writes(stmts: &[&Stmt], field: &Name) -> bool {
    mentions(stmts, field, true)
}

fn reads(stmts: &[&Stmt], field: &Name) -> bool {
    mentions(stmts, field, false)
}

fn mentions(stmts: &[&Stmt], field: &Name, is_written: bool) -> bool {
    struct Mentions<'a>(&'a Name, bool, bool);
    impl Visit for Mentions<'_> {
        fn place(&mut self, place: &Place, access: eddy_imp::effects::Access) {
            let counts = if self.1 { access.writes() } else { access.reads() };
            self.2 |= counts && place.field() == Some(self.0);
        }
    }
    let mut found = Mentions(field, is_written, false);
    for stmt in stmts {
        walk_stmt(stmt, &mut found);
    }
    found.2
}

/// Whether a block always runs to its end, and runs no other procedure.
fn is_straight(block: &Block) -> bool {
    block.stmts.iter().all(is_straight_stmt)
}

fn is_straight_stmt(stmt: &Stmt) -> bool {
    struct Straight(bool);
    impl Visit for Straight {
        fn stmt(&mut self, stmt: &Stmt) {
            self.0 &=
                !matches!(stmt, Stmt::Run(..) | Stmt::Return(_) | Stmt::LeaveIfFailed | Stmt::While(..));
        }
    }
    let mut straight = Straight(true);
    walk_stmt(stmt, &mut straight);
    straight.0
}
