//! Decides which statements of a block go into one piece.

use std::ops::Range;

use eddy_imp::effects::{self, Visit, walk_stmt};
use eddy_imp::{Block, Name, Stmt};
use rustc_hash::FxHashMap;

/// A statement, with the notes before it.
pub(super) struct Statement {
    pub stmts: Vec<Stmt>,
    /// Whether it must stay in its procedure, because it may leave it.
    is_fixed: bool,
}

impl Statement {
    /// The variables that the rest of the block sees.
    pub fn declared(&self) -> impl Iterator<Item = &Name> {
        self.stmts.iter().filter_map(Stmt::declares)
    }

    fn weight(&self) -> usize {
        self.stmts.iter().map(weight_of).sum()
    }
}

pub(super) fn statements(block: Block) -> Vec<Statement> {
    let mut statements: Vec<Statement> = Vec::new();
    let mut is_begun = false;
    for stmt in block.stmts {
        let (is_fixed, is_note) = (leaves(&stmt), matches!(stmt, Stmt::Note(_)));
        match statements.last_mut().filter(|_| is_begun) {
            Some(last) => {
                last.is_fixed |= is_fixed;
                last.stmts.push(stmt);
            }
            None => statements.push(Statement { stmts: vec![stmt], is_fixed }),
        }
        is_begun = is_note;
    }
    statements
}

/// Whether a statement may leave the procedure.
fn leaves(stmt: &Stmt) -> bool {
    struct Leaves(bool);
    impl Visit for Leaves {
        fn stmt(&mut self, stmt: &Stmt) {
            self.0 |= matches!(stmt, Stmt::Return(_) | Stmt::LeaveIfFailed);
        }
    }
    let mut leaves = Leaves(false);
    walk_stmt(stmt, &mut leaves);
    leaves.0
}

/// The number of statements in a block.
pub(super) fn weight(block: &Block) -> usize {
    block.stmts.iter().map(weight_of).sum()
}

/// The number of statements in a statement.
pub(super) fn weight_of(stmt: &Stmt) -> usize {
    // The end of a block is a line, too.
    match stmt {
        Stmt::If(arms, otherwise) => {
            arms.iter().map(|(_, block)| 2 + weight(block)).sum::<usize>() + weight(otherwise)
        }
        Stmt::For(this) => 2 + weight(&this.body),
        Stmt::While(_, block) | Stmt::Scope(block) => 2 + weight(block),
        _ => 1,
    }
}

/// The length of the longest block, not counting inner blocks but counting loops over elements.
pub(super) fn longest_block(block: &Block) -> usize {
    let own = block.stmts.iter().map(|stmt| match stmt {
        Stmt::For(this) if this.is_over_elements() => weight_of(stmt),
        _ => 1,
    });
    let own: usize = own.sum();
    let inner = block.stmts.iter().map(|stmt| match stmt {
        Stmt::If(arms, otherwise) => {
            let arms = arms.iter().map(|(_, block)| longest_block(block));
            arms.chain([longest_block(otherwise)]).max().unwrap_or(0)
        }
        Stmt::For(this) => longest_block(&this.body),
        Stmt::While(_, block) | Stmt::Scope(block) => longest_block(block),
        _ => 0,
    });
    inner.fold(own, usize::max)
}

pub(super) enum Part {
    /// A statement that stays.
    Stays(usize),
    /// Statements that become a piece.
    Piece(Range<usize>),
}

/// Splits a block into pieces of about `n_stmts` statements.
pub(super) fn parts(statements: &[Statement], n_stmts: usize) -> Vec<Part> {
    let crossing = crossing(statements);
    let (mut parts, mut start) = (Vec::new(), 0);
    while start < statements.len() {
        if statements[start].is_fixed {
            parts.push(Part::Stays(start));
            start += 1;
            continue;
        }
        let (mut end, mut weight, mut ends) = (start, 0, Vec::new());
        while end < statements.len() && !statements[end].is_fixed {
            weight += statements[end].weight();
            if weight > n_stmts && end > start {
                break;
            }
            end += 1;
            if 4 * weight >= 3 * n_stmts {
                ends.push(end);
            }
        }
        let is_end = end == statements.len() || statements[end].is_fixed;
        match parts.last_mut() {
            // So few statements are not worth a call.
            Some(Part::Piece(last)) if is_end && 4 * weight < n_stmts && last.end == start => last.end = end,
            _ if is_end && 4 * weight < n_stmts => parts.extend((start..end).map(Part::Stays)),
            _ => {
                // Where the fewest variables cross the cut; of equal positions the last.
                let best = ends.into_iter().rev().min_by_key(|end| crossing[*end]);
                end = best.filter(|_| !is_end).unwrap_or(end);
                parts.push(Part::Piece(start..end));
            }
        }
        start = end;
    }
    parts
}

/// For each position between two statements, the number of variables declared before and needed after it.
fn crossing(statements: &[Statement]) -> Vec<usize> {
    let mut declared: FxHashMap<Name, usize> = FxHashMap::default();
    let mut last: FxHashMap<Name, usize> = FxHashMap::default();
    for (number, statement) in statements.iter().enumerate() {
        for name in statement.stmts.iter().flat_map(effects::free_of_stmt) {
            last.insert(name, number);
        }
        declared.extend(statement.declared().map(|name| (name.clone(), number)));
    }
    let mut changes = vec![0_isize; statements.len() + 2];
    for (name, first) in &declared {
        if let Some(last) = last.get(name).filter(|last| *last > first) {
            changes[first + 1] += 1;
            changes[last + 1] -= 1;
        }
    }
    let crossing = changes.iter().scan(0_isize, |n, change| {
        *n += change;
        Some(usize::try_from(*n).expect("a variable is declared before it ends"))
    });
    crossing.collect()
}
