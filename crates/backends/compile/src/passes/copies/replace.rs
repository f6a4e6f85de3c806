//! Rewrites code without copies: their origins are read instead.

use eddy_imp::effects::{self, free_of_stmt};
use eddy_imp::rewrite::places;
use eddy_imp::{Base, Block, Name, Place, Stmt};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::blocks_of;

/// Replaces reads of copies by reads of their origins, and removes the writes.
pub(super) fn replace(block: &mut Block, copies: &FxHashMap<Name, Name>) {
    remove_writes(block, copies);
    places(block, &mut |place| {
        if let Base::State(name) = &place.base
            && let Some(origin) = copies.get(name)
        {
            place.base = Base::State(origin.clone());
        }
    });
    follow_pointers(block);
    remove_unread(block);
}

/// All writes of a copy are copies, so they can be removed.
fn remove_writes(block: &mut Block, copies: &FxHashMap<Name, Name>) {
    let is_copy = |place: &Place| matches!(&place.base, Base::State(name) if copies.contains_key(name));
    block.stmts.retain(|stmt| !matches!(stmt, Stmt::Store(place, ..) if is_copy(place)));
    for stmt in &mut block.stmts {
        for inner in blocks_of(stmt) {
            remove_writes(inner, copies);
        }
    }
}

/// Replaces a pointer to one of two equal places by that place.
fn follow_pointers(block: &mut Block) {
    let mut names: FxHashMap<Name, usize> = FxHashMap::default();
    declared(block, &mut names);
    let mut targets: FxHashMap<Name, Place> = FxHashMap::default();
    block.stmts.retain(|stmt| match stmt {
        // A name that is declared again inside refers to something else there.
        Stmt::Pointer(name, _, to) if to.yes == to.no && names[name] == 1 => {
            targets.insert(name.clone(), to.yes.clone());
            false
        }
        _ => true,
    });
    if !targets.is_empty() {
        places(block, &mut |place| {
            while let Base::Local(name) = &place.base
                && let Some(target) = targets.get(name)
            {
                let at = [target.at.clone(), std::mem::take(&mut place.at)].concat();
                *place = Place { base: target.base.clone(), at };
            }
        });
        // Another pointer may have two equal targets now.
        return follow_pointers(block);
    }
    for stmt in &mut block.stmts {
        blocks_of(stmt).into_iter().for_each(follow_pointers);
    }
}

/// How often names are declared in a block, including inner blocks.
fn declared(block: &mut Block, names: &mut FxHashMap<Name, usize>) {
    for stmt in &mut block.stmts {
        if let Some(name) = stmt.declares() {
            *names.entry(name.clone()).or_default() += 1;
        }
        for inner in blocks_of(stmt) {
            declared(inner, names);
        }
    }
}

/// Removes dead constants, and loops without effect.
fn remove_unread(block: &mut Block) {
    for stmt in &mut block.stmts {
        blocks_of(stmt).into_iter().for_each(remove_unread);
    }
    let mut read: FxHashSet<Name> = FxHashSet::default();
    let mut kept = Vec::with_capacity(block.stmts.len());
    for stmt in std::mem::take(&mut block.stmts).into_iter().rev() {
        let is_needed = match &stmt {
            Stmt::Let(name, ..) => {
                let fails = effects::can_fail(&Block::from(vec![stmt.clone()]));
                read.remove(name) || fails
            }
            Stmt::For(this) => !this.body.is_empty(),
            Stmt::Scope(inner) => !inner.is_empty(),
            other => {
                other.declares().map(|name| read.remove(name));
                true
            }
        };
        if is_needed {
            read.extend(free_of_stmt(&stmt));
            kept.push(stmt);
        }
    }
    kept.reverse();
    block.stmts = kept;
}
