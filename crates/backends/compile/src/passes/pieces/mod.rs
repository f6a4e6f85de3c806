//! Splits long procedures into pieces.
//!
//! The time of C compilers grows faster than the length of a function: 10,000 statements take minutes. So a
//! long procedure becomes several, each of a bounded number of statements, and one that runs them in order.
//! Statements are unchanged and run in the same order.
//!
//! ```text
//! var v: num = 0.0;               │  piece of step procedure step_piece0(self, shared) {
//! let a: num = (self.x + 1.0);    │    shared.v = 0.0;
//! if self.c {                     │    let a: num = (self.x + 1.0);
//!   v = a;                        │    shared.a = a;
//! }                               │  }
//! self.y = (v * a);               │  piece of step procedure step_piece1(self, shared) {
//!                                 │    let a: num = shared.a;
//!                                 │    if self.c { …
//! ```
//!
//! A variable that never changes and is needed in other pieces is stored in a field where it is declared, and
//! read from there at the start of a piece. One that changes *is* a field. A pointer is declared again at the
//! start of a piece. Blocks that are too long are split inside, except loops over elements: calls in those
//! would cost more than they gain, and no loop over elements is long (`lower::fusion`).
//!
//! * [`scopes`]: variables and their fields.
//! * [`parts`](mod@parts): which statements go into one piece.
//! * [`fields`]: turns variables that change into fields.

mod fields;
mod parts;
mod scopes;

use std::ops::Range;

use eddy_imp::effects;
use eddy_imp::{
    Argument, Base, Block, Linkage, Loop, Name, Parameter, Place, Precision, Procedure, Program, Stmt, Type,
};
use rustc_hash::FxHashSet;

use super::blocks_of;
use fields::variables_as_fields;
use parts::{Part, Statement, longest_block, parts, statements, weight, weight_of};
use scopes::{Kept, Scopes};

/// When and how to split procedures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pieces {
    /// The approximate number of statements of a piece.
    pub lines: usize,
    /// Procedures with a longer block than this are split, not counting inner blocks but counting loops over
    /// elements;
    pub longest_block: usize,
    /// and procedures that are longer than this.
    pub longest_function: usize,
}

impl Pieces {
    /// Measured with `gcc` 12: of 64, 128, 250, 500 and 1000 lines, pieces of 64 and 128 compiled fastest.
    /// Procedures that compile in about a second are not split, since compilers optimise better within one
    /// function.
    pub const USUAL: Pieces = Pieces { lines: 128, longest_block: 1000, longest_function: 5000 };

    /// Splits everything.
    pub const fn of_lines(lines: usize) -> Pieces {
        Pieces { lines, longest_block: 0, longest_function: 0 }
    }

    fn cuts(self, body: &Block) -> bool {
        weight(body) > self.longest_function || longest_block(body) > self.longest_block
    }
}

/// Splits all long procedures. Pieces come before the procedure that they belong to.
pub(super) fn cut(program: &mut Program, pieces: Pieces) {
    let precision = program.precision;
    let procedures = std::mem::take(&mut program.procedures);
    for procedure in procedures {
        let is_range = procedure.linkage == Linkage::Range;
        if is_range || !pieces.cuts(&procedure.body) {
            program.procedures.push(procedure);
            continue;
        }
        program.procedures.extend(procedure_in_pieces(procedure, pieces.lines, precision));
    }
}

fn procedure_in_pieces(procedure: Procedure, n_stmts: usize, precision: Precision) -> Vec<Procedure> {
    let mut scopes = Scopes::new(precision);
    if effects::mentions_failure(&procedure.body) {
        // The pieces of a procedure share one record of failures.
        scopes.shared.field("error", Type::Status, Vec::new(), "", precision);
    }
    let parameters = procedure.parameters.clone();
    let name = procedure.name.clone();
    let mut cutter = Cutter { name, parameters, n_stmts, scopes, pieces: Vec::new() };
    let body = cutter.block(procedure.body.clone(), None);
    let Cutter { scopes, mut pieces, .. } = cutter;
    pieces.push(Procedure { body, shared: scopes.needed_fields(), ..procedure });
    pieces
}

/// A procedure that is being split.
struct Cutter {
    name: Name,
    parameters: Vec<Parameter>,
    n_stmts: usize,
    scopes: Scopes,
    pieces: Vec<Procedure>,
}

impl Cutter {
    /// Splits a block; it may be the body of a loop with an index.
    fn block(&mut self, block: Block, of: Option<&Loop>) -> Block {
        self.scopes.open();
        if let Some(this) = of {
            self.scopes.declare(&this.index, this.ty, 0);
        }
        let block = variables_as_fields(block, &mut self.scopes);
        let mut statements = statements(block);
        for (number, statement) in statements.iter_mut().enumerate() {
            for stmt in &mut statement.stmts {
                self.inside(stmt);
            }
            for stmt in &statement.stmts {
                match stmt {
                    Stmt::Let(name, ty, ..) => self.scopes.declare(name, *ty, number + 1),
                    Stmt::Run(Some(name), ..) => self.scopes.declare(name, Type::Status, number + 1),
                    Stmt::Pointer(name, ..) => self.scopes.point(name, stmt, number + 1),
                    _ => {}
                }
            }
        }
        let parts = parts(&statements, self.n_stmts);
        let read_back = self.need(&statements, &parts);
        let mut made = Block::new();
        if let Some(this) = of {
            self.keep(&this.index, &mut made);
        }
        for part in &parts {
            match part {
                Part::Stays(number) => self.stays(&statements[*number], &mut made),
                Part::Piece(range) => {
                    self.piece(&statements, range.clone(), &mut made);
                    for stmt in statements[range.clone()].iter().flat_map(|statement| &statement.stmts) {
                        self.read_back(stmt, &read_back, &mut made);
                    }
                }
            }
        }
        self.scopes.close();
        made
    }

    /// Splits the inner blocks of a statement that are too long, unless it is a loop over elements.
    fn inside(&mut self, stmt: &mut Stmt) {
        if weight_of(stmt) <= self.n_stmts {
            return;
        }
        if let Stmt::For(this) = stmt {
            if !this.is_over_elements() {
                let body = std::mem::take(&mut this.body);
                this.body = self.block(body, Some(this));
            }
            return;
        }
        for block in blocks_of(stmt) {
            *block = self.block(std::mem::take(block), None);
        }
    }

    /// Marks the fields that are needed. Returns the variables that pieces declare and the remaining
    /// statements need.
    fn need(&mut self, statements: &[Statement], parts: &[Part]) -> FxHashSet<Name> {
        let (mut by_pieces, mut read_back) = (FxHashSet::default(), FxHashSet::default());
        for part in parts {
            match part {
                Part::Piece(range) => {
                    for name in free(&statements[range.clone()]) {
                        self.scopes.find(&name, range.start);
                    }
                    by_pieces.extend(statements[range.clone()].iter().flat_map(Statement::declared).cloned());
                }
                Part::Stays(number) => {
                    for name in free(std::slice::from_ref(&statements[*number])) {
                        if by_pieces.contains(&name) {
                            self.scopes.find(&name, *number);
                            read_back.insert(name);
                        }
                    }
                }
            }
        }
        read_back
    }

    /// Makes statements a procedure, and calls it.
    fn piece(&mut self, statements: &[Statement], range: Range<usize>, block: &mut Block) {
        let mut body = Block::new();
        let mut names: Vec<Name> = free(&statements[range.clone()]).into_iter().collect();
        names.sort_unstable();
        self.fetch(&names, range.start, &mut body);
        for statement in &statements[range] {
            self.stays(statement, &mut body);
        }
        let passed: Vec<Parameter> = self.passed(&body);
        let arguments = passed.iter().map(argument).collect();
        let name: Name = format!("{}_piece{}", self.name, self.pieces.len()).into();
        block.push(Stmt::Run(None, name.clone(), arguments));
        let (linkage, shared) = (Linkage::Piece(self.name.clone()), eddy_imp::Struct::default());
        self.pieces.push(Procedure { name, linkage, parameters: passed, result: None, shared, body });
    }

    /// Reads the needed variables at the start of a piece; pointers may depend on them.
    fn fetch(&mut self, names: &[Name], statement: usize, body: &mut Block) {
        let (mut fetched, mut pointers) = (FxHashSet::default(), Vec::new());
        let mut todo: Vec<Name> = names.to_vec();
        while let Some(name) = todo.pop() {
            if !fetched.insert(name.clone()) {
                continue;
            }
            match self.scopes.find(&name, statement) {
                Some(Kept::Value(ty, field)) => body.constant(&name, ty, shared(&field)),
                Some(Kept::Pointer(declaration)) => {
                    todo.extend(effects::free_of_stmt(&declaration));
                    pointers.push(declaration);
                }
                None => {}
            }
        }
        // A pointer may refer to the target of another one, which was declared before it.
        pointers.reverse();
        pointers.sort_by_key(|pointer| pointer.declares().map(|name| self.scopes.declared_at(name)));
        body.stmts.extend(pointers);
    }

    /// The parameters that a piece mentions.
    fn passed(&self, body: &Block) -> Vec<Parameter> {
        let (structs, free) = (effects::structs(body), effects::free(body));
        let own = self.parameters.iter().filter(|parameter| match parameter {
            Parameter::Value(name, _) | Parameter::Array(name, ..) => free.contains(name),
            of => structs.contains(of),
        });
        let shared = structs.contains(&Parameter::Shared).then_some(Parameter::Shared);
        own.cloned().chain(shared).collect()
    }

    /// Declares a piece's variables again in the procedure that ran it.
    fn read_back(&mut self, stmt: &Stmt, wanted: &FxHashSet<Name>, block: &mut Block) {
        let Some(name) = stmt.declares().filter(|name| wanted.contains(*name)) else { return };
        if let Stmt::Pointer(..) = stmt {
            return block.push(stmt.clone());
        }
        if let Some((ty, field)) = self.scopes.needed(name) {
            block.constant(name, ty, shared(&field));
        }
    }

    /// Stores a variable of the innermost block in its field, if that is needed.
    fn keep(&self, name: &Name, block: &mut Block) {
        if let Some((_, field)) = self.scopes.needed(name) {
            block.store(shared(&field), name);
        }
    }

    /// A statement that stays where it is.
    fn stays(&self, statement: &Statement, block: &mut Block) {
        for stmt in &statement.stmts {
            block.push(stmt.clone());
            if let Some(name) = stmt.declares() {
                self.keep(name, block);
            }
        }
    }
}

/// A field that pieces share.
fn shared(field: &Name) -> Place {
    Place { base: Base::Shared(field.clone()), at: Vec::new() }
}

/// The argument for a parameter of a piece: the procedure's own.
fn argument(parameter: &Parameter) -> Argument {
    match parameter {
        Parameter::State => Argument::State,
        Parameter::In => Argument::In,
        Parameter::Out => Argument::Out(0.into()),
        Parameter::Shared => Argument::Shared,
        Parameter::Value(name, _) => Argument::Value(name.into()),
        Parameter::Array(name, ..) => Argument::Array(Place::local(name)),
    }
}

/// The free names of statements.
fn free(statements: &[Statement]) -> FxHashSet<Name> {
    let stmts: Vec<Stmt> = statements.iter().flat_map(|statement| statement.stmts.clone()).collect();
    effects::free(&Block::from(stmts))
}
