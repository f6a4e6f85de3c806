//! The accesses of a procedure to the fields of the state, in textual order.

use eddy_imp::effects::{Access, Visit, walk_expr, walk_stmt};
use eddy_imp::{Argument, Base, Block, Expr, Loop, Name, Place, Procedure, Program, Stmt};
use rustc_hash::FxHashMap;

/// An access to a field.
#[derive(Clone, Debug)]
pub(super) struct Event {
    /// The number of statements before it.
    number: usize,
    /// The enclosing blocks, outermost first; a scope does not count, since it always runs.
    blocks: Vec<usize>,
    /// The enclosing loops, outermost first.
    loops: Vec<usize>,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Read,
    Write,
    /// The whole field is overwritten with the whole of another one.
    Copy(Name),
    /// Another procedure may read and write it; its accesses are found there.
    Elsewhere,
}

impl Event {
    pub fn is_read(&self) -> bool {
        matches!(self.what, What::Read)
    }

    pub fn is_write(&self) -> bool {
        matches!(self.what, What::Write | What::Copy(_))
    }

    /// Whether the field may change.
    pub fn is_change(&self) -> bool {
        !self.is_read()
    }

    /// The copied field, if it is a copy.
    pub fn copied(&self) -> Option<&Name> {
        match &self.what {
            What::Copy(origin) => Some(origin),
            What::Read | What::Write | What::Elsewhere => None,
        }
    }

    /// Whether it has always run when the other one runs.
    pub fn runs_before(&self, other: &Event) -> bool {
        self.number < other.number && other.blocks.starts_with(&self.blocks)
    }

    /// Whether it may run between a write and a read, where the write runs before the read.
    pub fn comes_between(&self, write: &Event, read: &Event) -> bool {
        let is_between = write.number < self.number && self.number < read.number;
        // In a loop that does not contain the write, a statement after the read runs before it in the next
        // iteration.
        let again = read.loops.iter().find(|of| !write.loops.contains(of));
        is_between || again.is_some_and(|of| self.loops.contains(of))
    }
}

/// The accesses of a procedure to each field.
pub(super) fn events(procedure: &Procedure, program: &Program) -> FxHashMap<Name, Vec<Event>> {
    let mut walker = Walker {
        program,
        found: FxHashMap::default(),
        pointers: FxHashMap::default(),
        number: 0,
        n_blocks: 0,
        blocks: Vec::new(),
        loops: Vec::new(),
    };
    walker.block(&procedure.body);
    walker.found
}

struct Walker<'p> {
    program: &'p Program,
    found: FxHashMap<Name, Vec<Event>>,
    /// The fields that pointers may point to.
    pointers: FxHashMap<Name, Vec<Name>>,
    number: usize,
    n_blocks: usize,
    blocks: Vec<usize>,
    loops: Vec<usize>,
}

impl Walker<'_> {
    fn block(&mut self, block: &Block) {
        block.stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    /// A block that may not run, or may run several times.
    fn inner(&mut self, block: &Block) {
        self.n_blocks += 1;
        self.blocks.push(self.n_blocks);
        self.block(block);
        self.blocks.pop();
    }

    fn stmt(&mut self, stmt: &Stmt) {
        self.number += 1;
        match stmt {
            Stmt::If(arms, otherwise) => {
                for (condition, _) in arms {
                    self.expr(condition);
                }
                for (_, block) in arms {
                    self.inner(block);
                }
                self.inner(otherwise);
            }
            Stmt::Scope(block) => self.block(block),
            Stmt::While(condition, block) => {
                self.repeated(|walker| {
                    walker.expr(condition);
                    walker.inner(block);
                });
            }
            Stmt::For(this) => self.repeat(this, stmt),
            Stmt::Run(_, _, arguments) if arguments.contains(&Argument::State) => {
                for field in &self.program.state.fields {
                    self.add(&field.name, What::Elsewhere);
                }
            }
            Stmt::Store(place, Expr::Load(from), _) if whole_scalars(place, from) => {
                self.copied(place.base.name(), from.base.name());
            }
            _ => self.plain(stmt),
        }
        if let Stmt::Pointer(name, _, to) = stmt {
            let targets = [&to.yes, &to.no].into_iter().flat_map(|place| self.fields(place)).collect();
            self.pointers.insert(name.clone(), targets);
        }
    }

    fn repeated(&mut self, inner: impl FnOnce(&mut Self)) {
        self.n_blocks += 1;
        self.loops.push(self.n_blocks);
        inner(self);
        self.loops.pop();
    }

    fn repeat(&mut self, this: &Loop, stmt: &Stmt) {
        let copies = self.copies(this);
        if copies.is_empty() {
            self.expr(&this.first);
            return self.repeated(|walker| {
                walker.expr(&this.condition);
                walker.expr(&this.step);
                walker.inner(&this.body);
            });
        }
        // A loop that copies may contain other statements, if these do not access the copied fields.
        let mut own = Fields(Vec::new());
        walk_stmt(stmt, &mut own);
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for (place, access) in &own.0 {
            for field in self.fields(place) {
                if access.reads() {
                    reads.push(field.clone());
                }
                if access.writes() {
                    writes.push(field);
                }
            }
        }
        let is_clean = |(copy, origin): &(Name, Name)| {
            !reads.contains(copy)
                && !writes.contains(origin)
                && writes.iter().filter(|written| *written == copy).count() == 1
        };
        for field in &reads {
            self.add(field, What::Read);
        }
        for (copy, origin) in copies.iter().filter(|pair| is_clean(pair)) {
            self.add(copy, What::Copy(origin.clone()));
        }
        for field in &writes {
            let is_copy = copies.iter().any(|pair| pair.0 == *field && is_clean(pair));
            if !is_copy {
                self.add(field, What::Write);
            }
        }
    }

    /// The fields that a loop over all of their elements copies: to, from.
    fn copies(&self, this: &Loop) -> Vec<(Name, Name)> {
        let Some(n) = this.n_iterations().filter(|_| this.first == Expr::Count(0)) else { return Vec::new() };
        let index = Expr::from(&this.index);
        let element = |place: &Place| match (&place.base, place.at.as_slice()) {
            (Base::State(name), [at]) if *at == index => {
                let field = self.program.state.find(name.as_str())?;
                (field.dimensions == [n]).then(|| name.clone())
            }
            _ => None,
        };
        let mut loaded: FxHashMap<&Name, Name> = FxHashMap::default();
        let mut found = Vec::new();
        for stmt in &this.body.stmts {
            match stmt {
                Stmt::Let(name, _, Expr::Load(place), _) => {
                    loaded.extend(element(place).map(|field| (name, field)));
                }
                Stmt::Store(place, value, _) => {
                    let from = match value {
                        Expr::Var(name) => loaded.get(name).cloned(),
                        Expr::Load(from) => element(from),
                        _ => None,
                    };
                    found.extend(element(place).zip(from));
                }
                _ => {}
            }
        }
        found
    }

    /// A scalar field that is copied.
    fn copied(&mut self, copy: &Name, origin: &Name) {
        self.add(origin, What::Read);
        self.add(copy, What::Copy(origin.clone()));
    }

    /// The fields that a place may be a part of.
    fn fields(&self, place: &Place) -> Vec<Name> {
        match &place.base {
            Base::State(name) => vec![name.clone()],
            Base::Local(name) => self.pointers.get(name).cloned().unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    fn expr(&mut self, expr: &Expr) {
        let mut own = Fields(Vec::new());
        walk_expr(expr, &mut own);
        self.add_all(own);
    }

    fn plain(&mut self, stmt: &Stmt) {
        let mut own = Fields(Vec::new());
        walk_stmt(stmt, &mut own);
        self.add_all(own);
    }

    fn add_all(&mut self, Fields(places): Fields) {
        for (place, access) in places {
            for field in self.fields(&place) {
                if access.reads() {
                    self.add(&field, What::Read);
                }
                if access.writes() {
                    self.add(&field, What::Write);
                }
            }
        }
    }

    fn add(&mut self, field: &Name, what: What) {
        let event =
            Event { number: self.number, blocks: self.blocks.clone(), loops: self.loops.clone(), what };
        self.found.entry(field.clone()).or_default().push(event);
    }
}

fn whole_scalars(to: &Place, from: &Place) -> bool {
    let is_whole = |place: &Place| matches!(place.base, Base::State(_)) && place.at.is_empty();
    is_whole(to) && is_whole(from)
}

struct Fields(Vec<(Place, Access)>);

impl Visit for Fields {
    fn place(&mut self, place: &Place, access: Access) {
        self.0.push((place.clone(), access));
    }
}
