//! Variables of one piece that another piece needs, and the fields that hold them.
//!
//! A block may have variables with the same names as an enclosing block, so one name may need several fields.
//! Blocks that are not nested share them.

use eddy_imp::{Name, Precision, Stmt, Struct, Type};
use rustc_hash::{FxHashMap, FxHashSet};

/// The variables of all open blocks, and fields.
pub(super) struct Scopes {
    /// Fields that always exist.
    pub shared: Struct,
    precision: Precision,
    fields: Vec<Field>,
    by_name: FxHashMap<Name, Vec<usize>>,
    taken: FxHashSet<Name>,
    /// Outermost first.
    blocks: Vec<Scope>,
    n_declared: usize,
}

struct Field {
    name: Name,
    ty: Type,
    dimensions: Vec<usize>,
    /// Whether an open block uses it.
    is_open: bool,
    /// Whether another piece needs it.
    is_needed: bool,
}

#[derive(Default)]
struct Scope {
    variables: FxHashMap<Name, Variable>,
    fields: Vec<usize>,
}

/// What a name of a block refers to.
struct Variable {
    /// The number of statements of its block before it is visible.
    since: usize,
    /// Its position among all declarations.
    number: usize,
    what: What,
}

enum What {
    /// A variable that never changes, and its field.
    Constant(Type, usize),
    /// A pointer, by its declaration.
    Pointer(Stmt),
}

/// How another piece accesses a variable.
pub(super) enum Kept {
    /// In a field.
    Value(Type, Name),
    /// By the same declaration.
    Pointer(Stmt),
}

impl Scopes {
    pub fn new(precision: Precision) -> Scopes {
        Scopes {
            shared: Struct::default(),
            precision,
            fields: Vec::new(),
            by_name: FxHashMap::default(),
            taken: ["error".into()].into_iter().collect(),
            blocks: Vec::new(),
            n_declared: 0,
        }
    }

    pub fn open(&mut self) {
        self.blocks.push(Scope::default());
    }

    /// Closes the innermost block.
    pub fn close(&mut self) {
        for field in self.blocks.pop().map_or(Vec::new(), |block| block.fields) {
            self.fields[field].is_open = false;
        }
    }

    /// Declares a variable of the innermost block that never changes, visible after `since` statements.
    pub fn declare(&mut self, name: &Name, ty: Type, since: usize) {
        let field = self.field(name, ty, Vec::new());
        self.insert(name, since, What::Constant(ty, field));
    }

    /// Declares a pointer of the innermost block.
    pub fn point(&mut self, name: &Name, declaration: &Stmt, since: usize) {
        self.insert(name, since, What::Pointer(declaration.clone()));
    }

    fn insert(&mut self, name: &Name, since: usize, what: What) {
        self.n_declared += 1;
        let variable = Variable { since, number: self.n_declared, what };
        self.blocks.last_mut().expect("a block is open").variables.insert(name.clone(), variable);
    }

    /// Replaces a variable of the innermost block by a field; returns its name.
    pub fn replace(&mut self, name: &Name, ty: Type, dimensions: Vec<usize>) -> Name {
        let field = self.field(name, ty, dimensions);
        self.fields[field].is_needed = true;
        self.fields[field].name.clone()
    }

    /// The variable of this name as a statement of the innermost block sees it.
    pub fn find(&mut self, name: &Name, statement: usize) -> Option<Kept> {
        let variable = self.variable(name, statement)?;
        match &variable.what {
            What::Pointer(declaration) => Some(Kept::Pointer(declaration.clone())),
            What::Constant(ty, field) => {
                let (ty, field) = (*ty, *field);
                self.fields[field].is_needed = true;
                Some(Kept::Value(ty, self.fields[field].name.clone()))
            }
        }
    }

    fn variable(&self, name: &Name, statement: usize) -> Option<&Variable> {
        let (own, around) = self.blocks.split_last()?;
        let own = own.variables.get(name).filter(|variable| variable.since <= statement);
        own.or_else(|| around.iter().rev().find_map(|block| block.variables.get(name)))
    }

    /// The position of a declaration among all.
    pub fn declared_at(&self, name: &Name) -> usize {
        self.variable(name, usize::MAX).map_or(0, |variable| variable.number)
    }

    /// The field of a variable of the innermost block, if it is needed.
    pub fn needed(&self, name: &Name) -> Option<(Type, Name)> {
        match self.blocks.last()?.variables.get(name)?.what {
            What::Constant(ty, field) => {
                self.fields[field].is_needed.then(|| (ty, self.fields[field].name.clone()))
            }
            What::Pointer(_) => None,
        }
    }

    /// All needed fields.
    pub fn needed_fields(self) -> Struct {
        let mut shared = self.shared;
        for Field { name, ty, dimensions, .. } in self.fields.into_iter().filter(|field| field.is_needed) {
            shared.field(name, ty, dimensions, "", self.precision);
        }
        shared
    }

    /// A field that no open block uses.
    fn field(&mut self, name: &Name, ty: Type, dimensions: Vec<usize>) -> usize {
        let known = self.by_name.get(name).map_or(&[][..], Vec::as_slice);
        let fits = |field: &&usize| {
            let Field { ty: known, dimensions: sizes, is_open, .. } = &self.fields[**field];
            !is_open && *known == ty && *sizes == dimensions
        };
        let number = known.iter().find(fits).copied().unwrap_or_else(|| {
            let mut free = name.clone();
            while !self.taken.insert(free.clone()) {
                free = format!("{free}_").into();
            }
            self.by_name.entry(name.clone()).or_default().push(self.fields.len());
            self.fields.push(Field { name: free, ty, dimensions, is_open: false, is_needed: false });
            self.fields.len() - 1
        });
        self.fields[number].is_open = true;
        self.blocks.last_mut().expect("a block is open").fields.push(number);
        number
    }
}
