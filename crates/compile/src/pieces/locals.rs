//! What is known in one piece of a function and needed in another: variables, and the fields that they are kept in.
//!
//! A block may have variables that are called like those of a block around it, so that a name can need several fields. Blocks that
//! are not inside each other share them.

use rustc_hash::{FxHashMap, FxHashSet};

use super::words::Declared;

/// Variables of all blocks that are open, and fields.
#[derive(Default)]
pub(super) struct Locals {
    fields: Vec<Field>,
    by_name: FxHashMap<String, Vec<usize>>,
    taken: FxHashSet<String>,
    /// Outermost first.
    blocks: Vec<Block>,
}

/// A field.
struct Field {
    declared: Declared,
    /// Whether a block that is open has it.
    is_open: bool,
    /// Whether somebody needs it.
    is_needed: bool,
}

#[derive(Default)]
struct Block {
    variables: FxHashMap<String, Variable>,
    fields: Vec<usize>,
}

/// A variable that never changes.
struct Variable {
    declared: Declared,
    /// After how many statements of its block it is there.
    since: usize,
    field: usize,
}

impl Locals {
    /// A block begins.
    pub fn open(&mut self) {
        self.blocks.push(Block::default());
    }

    /// The block that began last ends.
    pub fn close(&mut self) {
        for field in self.blocks.pop().map_or(Vec::new(), |block| block.fields) {
            self.fields[field].is_open = false;
        }
    }

    /// A variable of the innermost block, which is there after so many statements.
    pub fn declare(&mut self, declared: &Declared, since: usize) {
        let field = self.field(declared);
        let variable = Variable { declared: declared.clone(), since, field };
        let block = self.blocks.last_mut().expect("a block is open");
        block.variables.insert(declared.name.clone(), variable);
    }

    /// A field of the innermost block that takes the place of a variable; gives its name.
    pub fn replace(&mut self, declared: &Declared) -> String {
        let field = self.field(declared);
        self.fields[field].is_needed = true;
        self.fields[field].declared.name.clone()
    }

    /// The variable of this name as a statement of the innermost block sees it.
    pub fn find(&mut self, name: &str, statement: usize) -> Option<Kept> {
        let (own, around) = self.blocks.split_last()?;
        let own = own.variables.get(name).filter(|variable| variable.since <= statement);
        let variable = own.or_else(|| around.iter().rev().find_map(|block| block.variables.get(name)))?;
        let field = variable.field;
        let kept =
            Kept { declared: variable.declared.clone(), field: self.fields[field].declared.name.clone() };
        self.fields[field].is_needed = true;
        Some(kept)
    }

    /// The field of a variable of the innermost block, if it is needed.
    pub fn needed(&self, name: &str) -> Option<&str> {
        let variable = self.blocks.last()?.variables.get(name)?;
        let field = &self.fields[variable.field];
        field.is_needed.then_some(field.declared.name.as_str())
    }

    /// All fields that are needed.
    pub fn fields(&self) -> impl Iterator<Item = &Declared> {
        self.fields.iter().filter(|field| field.is_needed).map(|field| &field.declared)
    }

    /// A field that no open block has.
    fn field(&mut self, declared: &Declared) -> usize {
        let known = self.by_name.get(&declared.name).map_or(&[][..], Vec::as_slice);
        let fits = |field: &&usize| {
            let Field { declared: known, is_open, .. } = &self.fields[**field];
            !is_open && known.c_type == declared.c_type && known.dimensions == declared.dimensions
        };
        let number = known.iter().find(fits).copied().unwrap_or_else(|| {
            let mut name = declared.name.clone();
            while !self.taken.insert(name.clone()) {
                name.push('_');
            }
            let declared_field = Declared { name, ..declared.clone() };
            self.by_name.entry(declared.name.clone()).or_default().push(self.fields.len());
            self.fields.push(Field { declared: declared_field, is_open: false, is_needed: false });
            self.fields.len() - 1
        });
        self.fields[number].is_open = true;
        self.blocks.last_mut().expect("a block is open").fields.push(number);
        number
    }
}

/// A variable, and the field with its value.
pub(super) struct Kept {
    pub declared: Declared,
    pub field: String,
}
