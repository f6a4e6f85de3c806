//! Code that grows function by function.
//!
//! The tape engine links a whole program before it runs. The transforming engine makes functions when they
//! are called for the first time; until then a function consists of one instruction that requests it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::code::{Code, Function, Instr, Operand, Pc, Tail};
use super::compile::Compiler;
use super::limits::HiddenLimits;
use crate::operation::Scalar;
use crate::syntax::{FnId, Program, TermId, Terms, VarId};
use crate::types::Type;

/// Compiles a whole program. `main` is the variable of the derivative whose ties are choices (`use clarke`).
pub fn compile(program: &Program, main: Option<VarId>) -> Code {
    let mut linker = Linker { main, hidden: HiddenLimits::find(program), ..Linker::default() };
    let none = FxHashSet::default();
    let mut pending = linker.compile(&program.terms, 0, program.main, &none);
    while let Some(function) = pending.pop() {
        if !linker.linked.contains(&function) {
            let body = program.terms.body(function);
            pending.extend(linker.compile_function(&program.terms, function, body, &none));
        }
    }
    linker.code
}

/// Code that grows function by function.
#[derive(Default)]
pub struct Linker {
    /// The code so far. A function that is called but not linked consists of [`Instr::Missing`].
    pub code: Code,
    pub(super) main: Option<VarId>,
    pub(super) hidden: HiddenLimits,
    pub(super) constants: FxHashMap<u64, Operand>,
    pub(super) unary: FxHashMap<Scalar, u32>,
    linked: FxHashSet<FnId>,
    ids: Vec<Option<FnId>>,
}

impl Linker {
    /// The called function with this number.
    pub fn function_id(&self, number: u32) -> FnId {
        self.ids[number as usize].expect("only functions that are called are missing")
    }

    /// Links the program itself. Calls in `repeated` cost no fuel.
    pub fn link_program(&mut self, terms: &Terms, main: TermId, repeated: &FxHashSet<TermId>) {
        let called = self.compile(terms, 0, main, repeated);
        self.stub(terms, called);
    }

    /// Links a function. Calls in `repeated` cost no fuel.
    pub fn link(&mut self, terms: &Terms, function: FnId, body: TermId, repeated: &FxHashSet<TermId>) {
        let called = self.compile_function(terms, function, body, repeated);
        self.stub(terms, called);
    }

    /// Adds stubs for functions that are called but not linked.
    fn stub(&mut self, terms: &Terms, called: Vec<FnId>) {
        for function in called {
            if self.linked.contains(&function) {
                continue;
            }
            let (number, entry) = (self.number(function), pc(&self.code));
            let n_arguments = n_leaves(terms, terms.var(terms.function(function).param).ty);
            self.code.functions[number as usize] = Function { entry, n_slots: n_arguments, n_arguments };
            self.code.instrs.push(Instr::Missing(number));
            self.code.tails.push(Tail::No);
        }
    }

    pub(super) fn number(&mut self, function: FnId) -> u32 {
        let number = function.index() + 1;
        self.grow(number);
        self.ids[number] = Some(function);
        u32::try_from(number).expect("fewer functions than 2^32")
    }

    fn grow(&mut self, number: usize) {
        if self.ids.len() <= number {
            self.ids.resize(number + 1, None);
            self.code.names.resize(number + 1, String::new());
            let unlinked = Function { entry: 0, n_slots: 0, n_arguments: 0 };
            self.code.functions.resize(number + 1, unlinked);
        }
    }

    fn compile_function(
        &mut self,
        terms: &Terms,
        function: FnId,
        body: TermId,
        repeated: &FxHashSet<TermId>,
    ) -> Vec<FnId> {
        self.linked.insert(function);
        let number = self.number(function) as usize;
        self.code.names[number] = terms.function_name(function).to_string();
        let mut compiler = Compiler::new(self, terms, repeated);
        compiler.parameters(function, number);
        compiler.function(number, body)
    }

    fn compile(
        &mut self,
        terms: &Terms,
        number: usize,
        body: TermId,
        repeated: &FxHashSet<TermId>,
    ) -> Vec<FnId> {
        self.grow(number);
        Compiler::new(self, terms, repeated).function(number, body)
    }
}

pub(super) fn pc(code: &Code) -> Pc {
    u32::try_from(code.instrs.len()).expect("the memory limit ends a run before 2^32 instructions")
}

pub(super) fn n_leaves(terms: &Terms, ty: Type) -> u32 {
    u32::try_from(terms.types.leaves(ty)).expect("the checker bounds the size of types")
}
