//! Passes between writing and printing a program, from `imp` to `imp`.
//!
//! Each pass preserves the meaning of the program, to the bit.
//!
//! * [`copies`]: removes fields that are always copies of another one.
//! * [`transposes`]: removes duplicate transposed copies of a matrix.
//! * [`overlap`]: splits short loops over slow operations into blocks of the length of vectors.
//! * [`threads`]: moves long loops to separate procedures, which threads share.
//! * [`pieces`]: splits long procedures.

mod affine;
mod copies;
mod overlap;
mod pieces;
#[cfg(test)]
mod tests;
mod threads;
mod transposes;

use eddy_imp::{Binary, Block, Expr, Name, Program, Stmt};
use rustc_hash::FxHashSet;

pub use pieces::Pieces;

/// Runs all passes. Without threads, no work is shared; `seen_by_host` are fields that must stay.
pub(crate) fn run(program: &mut Program, seen_by_host: &FxHashSet<Name>, has_threads: bool, pieces: Pieces) {
    copies::share(program, seen_by_host);
    transposes::share(program, seen_by_host);
    if has_threads {
        threads::share(program);
    } else {
        program.procedures.iter_mut().for_each(|procedure| keep_small(&mut procedure.body));
    }
    for procedure in &mut program.procedures {
        overlap::blocks(&mut procedure.body, program.precision);
    }
    pieces::cut(program, pieces);
}

/// All inner blocks of a statement.
fn blocks_of(stmt: &mut Stmt) -> Vec<&mut Block> {
    match stmt {
        Stmt::If(arms, otherwise) => arms.iter_mut().map(|(_, block)| block).chain([otherwise]).collect(),
        Stmt::For(this) => vec![&mut this.body],
        Stmt::While(_, block) | Stmt::Scope(block) => vec![block],
        _ => Vec::new(),
    }
}

/// Whether an operation takes far longer than a sum, without its operands.
fn is_slow(expr: &Expr) -> bool {
    match expr {
        Expr::Call(function, _) => function.cost() > 1,
        Expr::Binary(Binary::Div, _) => true,
        _ => false,
    }
}

/// Marks all work as not shared by threads.
fn keep_small(block: &mut Block) {
    for stmt in &mut block.stmts {
        if let Stmt::Kernel(call) = stmt {
            call.is_large = false;
        }
        blocks_of(stmt).into_iter().for_each(keep_small);
    }
}
