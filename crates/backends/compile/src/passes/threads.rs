//! Moves long loops to separate procedures, so that several threads can each run a part of one.
//!
//! ```text
//! parallel 8192 by 64 terms 983040 loop0(&self.w3[t], &self.t2);
//!
//! range procedure loop0(range_first: size, range_end: size, mut a0: num [], a1: num []) {
//!   for i0: size = range_first while (i0 < range_end) by 1 {
//!     let e23: num = sigmoid(a1[i0]);
//!     a0[i0] = e23;
//!   }
//! }
//! ```
//!
//! Each array and each scalar that the loop mentions is a parameter. Arrays with different names do not
//! overlap, which compilers may assume, so that the loop vectorises as it would in place. A loop stays in
//! place if it reads an element that another part of it may write, or a pointer that may point to something
//! it writes.

use eddy_imp::effects::{self, Visit, walk};
use eddy_imp::stmt::Parallel;
use eddy_imp::{
    Argument, Base, Block, Expr, Linkage, Loop, Name, Parameter, Place, Procedure, Program, Stmt, Struct,
    Type,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::affine::Affine;
use super::{blocks_of, is_slow};
use crate::runtime::LARGE;

/// A part of a vector would take as long as a whole one.
const UNIT: usize = 64;

/// The cost of a function, in terms of a product.
const COST_OF_FUNCTION: usize = 16;

/// The start and the end of a part of a loop. No stream and no variable of a window has such a name.
const RANGE: [&str; 2] = ["range_first", "range_end"];

/// Moves long loops out of all procedures.
pub(super) fn share(program: &mut Program) {
    let mut ranges = Ranges { program, made: Vec::new(), names: FxHashMap::default() };
    let mut procedures = Vec::new();
    for mut procedure in ranges.program.procedures.clone() {
        let types = VariableFacts::of(&procedure);
        let mut body = std::mem::take(&mut procedure.body);
        ranges.block(&mut body, &types);
        procedure.body = body;
        procedures.push(procedure);
    }
    let made = ranges.made;
    program.procedures = made.into_iter().chain(procedures).collect();
}

/// The types of variables, and the targets of pointers.
#[derive(Clone, Default)]
struct VariableFacts {
    types: FxHashMap<Name, Type>,
    pointers: FxHashMap<Name, [Place; 2]>,
}

impl VariableFacts {
    /// The types of a procedure's parameters.
    fn of(procedure: &Procedure) -> VariableFacts {
        let mut known = VariableFacts::default();
        for parameter in &procedure.parameters {
            if let Parameter::Value(name, ty) | Parameter::Array(name, ty, _) = parameter {
                known.types.insert(name.clone(), *ty);
            }
        }
        known
    }
}

struct Ranges<'p> {
    program: &'p Program,
    made: Vec<Procedure>,
    /// The name of the procedure for given parameters and body: windows contain the same loop several times.
    names: FxHashMap<(String, Block), Name>,
}

impl Ranges<'_> {
    fn block(&mut self, block: &mut Block, around: &VariableFacts) {
        let mut known = around.clone();
        for stmt in &mut block.stmts {
            match &*stmt {
                Stmt::Let(name, ty, ..) | Stmt::Var(name, ty, _) | Stmt::Array(name, ty, _) => {
                    known.types.insert(name.clone(), *ty);
                }
                Stmt::Pointer(name, ty, to) => {
                    known.types.insert(name.clone(), *ty);
                    known.pointers.insert(name.clone(), [to.yes.clone(), to.no.clone()]);
                }
                _ => {}
            }
            if let Some(parallel) = self.parallel(stmt, &known) {
                *stmt = parallel;
                continue;
            }
            if let Stmt::For(this) = &*stmt {
                known.types.insert(this.index.clone(), this.ty);
            }
            for inner in blocks_of(stmt) {
                self.block(inner, &known);
            }
        }
    }

    /// The statement for a loop that threads can share; `None` if they cannot.
    fn parallel(&mut self, stmt: &Stmt, known: &VariableFacts) -> Option<Stmt> {
        let nest = Nest::of(stmt)?;
        let n_terms = nest.sizes.iter().product::<usize>().checked_mul(cost(nest.body))?;
        if n_terms < LARGE || !nest.can_be_cut(known) {
            return None;
        }
        let along = nest.along()?;
        let (size, unit) = (nest.sizes[along], if nest.sizes.len() == 1 { UNIT } else { 1 });
        if size <= unit {
            return None;
        }
        let mut replacements = Replacements::new(self.program, known, nest.body)?;
        let body = replacements.replaced(&nest.cut(along));
        let procedure = self.procedure(&replacements, body);
        let arguments = replacements.arguments;
        Some(Stmt::Parallel(Box::new(Parallel { procedure, arguments, size, unit, n_terms })))
    }

    /// The name of the procedure that runs a part of a loop; adds it if it does not exist yet.
    fn procedure(&mut self, replacements: &Replacements<'_>, body: Block) -> Name {
        let declared: Vec<String> = replacements.parameters.iter().map(ToString::to_string).collect();
        let key = (declared.join(", "), body.clone());
        if let Some(name) = self.names.get(&key) {
            return name.clone();
        }
        let name: Name = format!("loop{}", self.made.len()).into();
        let range = RANGE.map(|name| Parameter::Value(name.into(), Type::Size));
        let parameters = range.into_iter().chain(replacements.parameters.iter().cloned()).collect();
        let shared = Struct::default();
        let linkage = Linkage::Range;
        self.made.push(Procedure { name: name.clone(), linkage, parameters, result: None, shared, body });
        self.names.insert(key, name.clone());
        name
    }
}

/// Perfectly nested loops that count from 0.
struct Nest<'s> {
    indices: Vec<Name>,
    sizes: Vec<usize>,
    loops: Vec<&'s Loop>,
    body: &'s Block,
}

impl<'s> Nest<'s> {
    fn of(stmt: &'s Stmt) -> Option<Nest<'s>> {
        let Stmt::For(first) = stmt else { return None };
        let mut loops: Vec<&Loop> = vec![first];
        while let [Stmt::For(inner)] = loops[loops.len() - 1].body.stmts.as_slice() {
            loops.push(inner);
        }
        let is_counted = |this: &&Loop| this.ty == Type::Size && this.first == Expr::Count(0);
        if !loops.iter().all(is_counted) {
            return None;
        }
        let sizes = loops.iter().map(|this| this.n_iterations()).collect::<Option<Vec<_>>>()?;
        let indices = loops.iter().map(|this| this.index.clone()).collect();
        Some(Nest { indices, sizes, body: &loops[loops.len() - 1].body, loops })
    }

    /// Whether parts of it can run at the same time: nothing fails, the body has no loops or conditions, and
    /// no part reads what another part writes.
    fn can_be_cut(&self, known: &VariableFacts) -> bool {
        let is_simple = |stmt: &Stmt| matches!(stmt, Stmt::Let(..) | Stmt::Store(..) | Stmt::Note(_));
        if !self.body.stmts.iter().all(is_simple) || effects::can_fail(self.body) {
            return false;
        }
        let accesses = effects::accesses(self.body);
        let written: Vec<&Place> =
            accesses.iter().filter(|(_, how)| how.writes()).map(|(place, _)| place).collect();
        accesses.iter().all(|(place, _)| {
            let points_to = match &place.base {
                Base::Local(name) => known.pointers.get(name).map_or(&[][..], <[_; 2]>::as_slice),
                _ => &[],
            };
            let is_pointed_at = points_to.iter().any(|target| written.iter().any(|one| one.overlaps(target)));
            !is_pointed_at && written.iter().all(|one| *one == place || !same_memory(one, place))
        })
    }

    /// The longest loop along which all writes are distinct; of several the outermost.
    fn along(&self) -> Option<usize> {
        let accesses = effects::accesses(self.body);
        let written = accesses.iter().filter(|(_, how)| how.writes());
        let written = written
            .map(|(place, _)| {
                let (last, outer) = place.at.split_last()?;
                let is_fixed = |index: &Expr| {
                    Affine::of(index, &self.indices)
                        .is_some_and(|own| own.coefficients.iter().all(|n| *n == 0))
                };
                Affine::of(last, &self.indices).filter(|_| outer.iter().all(is_fixed))
            })
            .collect::<Option<Vec<Affine>>>()?;
        let is_apart = |axis: &usize| written.iter().all(|own| own.is_apart_along(*axis, &self.sizes));
        // The innermost of several loops is kept for vectors.
        let last = if self.sizes.len() == 1 { 1 } else { self.sizes.len() - 1 };
        let candidates = (0..last).filter(is_apart);
        let longest = candidates.clone().map(|axis| self.sizes[axis]).max()?;
        // Maps are split along the outermost loop, whatever its length.
        let is_map = written.iter().any(|own| own.coefficients.iter().all(|n| *n != 0));
        let mut candidates = candidates;
        if is_map { candidates.next() } else { candidates.find(|axis| self.sizes[*axis] == longest) }
    }

    /// The loops, one of which runs only from `first` to `end`.
    fn cut(&self, along: usize) -> Block {
        let mut body = self.body.clone();
        for (axis, this) in self.loops.iter().enumerate().rev() {
            let mut this = Loop { body, ..(*this).clone() };
            if axis == along {
                let [first, end] = RANGE.map(Expr::var);
                this.first = first;
                this.condition = Expr::from(&this.index).lt(end);
            }
            body = Block::from(vec![Stmt::For(Box::new(this))]);
        }
        body
    }
}

fn same_memory(one: &Place, other: &Place) -> bool {
    one.row().overlaps(&other.row())
}

/// The approximate cost of the statements for one element, in terms of a product.
fn cost(body: &Block) -> usize {
    struct Cost(usize);
    impl Visit for Cost {
        fn stmt(&mut self, stmt: &Stmt) {
            self.0 += usize::from(
                matches!(stmt, Stmt::Let(..))
                    || matches!(stmt, Stmt::Store(_, value, _) if !matches!(value, Expr::Var(_))),
            );
        }
        fn expr(&mut self, expr: &Expr) {
            self.0 += if is_slow(expr) { COST_OF_FUNCTION - 1 } else { 0 };
        }
    }
    let mut cost = Cost(0);
    walk(body, &mut cost);
    cost.0
}

/// The parameters that replace arrays and scalars.
struct Replacements<'k> {
    program: &'k Program,
    known: &'k VariableFacts,
    own: FxHashSet<Name>,
    written: Vec<Place>,
    parameters: Vec<Parameter>,
    arguments: Vec<Argument>,
}

impl<'k> Replacements<'k> {
    fn new(program: &'k Program, known: &'k VariableFacts, body: &Block) -> Option<Replacements<'k>> {
        let own = body.stmts.iter().filter_map(Stmt::declares).cloned().collect();
        let accesses = effects::accesses(body);
        let written = accesses.iter().filter(|(_, how)| how.writes()).map(|(place, _)| place.row());
        let written = written.collect();
        // Everything that is mentioned must have a type.
        let is_typed = accesses.iter().all(|(place, _)| element_type(program, known, place).is_some());
        is_typed.then_some(Replacements {
            program,
            known,
            own,
            written,
            parameters: Vec::new(),
            arguments: Vec::new(),
        })
    }

    /// The code, with parameters in place of arrays and scalars.
    fn replaced(&mut self, block: &Block) -> Block {
        let mut block = block.clone();
        self.in_block(&mut block);
        block
    }

    fn in_block(&mut self, block: &mut Block) {
        for stmt in &mut block.stmts {
            match stmt {
                Stmt::Let(_, _, value, _) => self.in_expr(value),
                Stmt::Store(place, value, _) => {
                    self.in_expr(value);
                    self.in_place(place);
                }
                Stmt::For(this) => {
                    self.own.insert(this.index.clone());
                    self.in_block(&mut this.body);
                }
                _ => {}
            }
        }
    }

    fn in_expr(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Load(place) if is_element_of_row(self.program, self.known, place) => self.in_place(place),
            Expr::Load(_) => *expr = self.scalar(expr),
            Expr::Var(name) if !self.own.contains(name) => {
                *expr = self.scalar(expr);
            }
            Expr::Unary(_, operand) | Expr::Cast(_, operand) => self.in_expr(operand),
            Expr::Binary(_, operands) => operands.iter_mut().for_each(|operand| self.in_expr(operand)),
            Expr::Choice(operands) => operands.iter_mut().for_each(|operand| self.in_expr(operand)),
            Expr::Call(_, operands) | Expr::Checked(_, operands, _) => {
                for operand in operands {
                    self.in_expr(operand);
                }
            }
            _ => {}
        }
    }

    /// An element of an array that is a parameter.
    fn in_place(&mut self, place: &mut Place) {
        if matches!(&place.base, Base::Table(_)) {
            return;
        }
        let mut index = place.at.pop().expect("an element has an index");
        self.in_expr(&mut index);
        let array = place.clone();
        let is_written = self.written.contains(&array);
        let ty = element_type(self.program, self.known, &array).expect("it has a type");
        let argument = Argument::Array(array);
        let name = self.parameter(argument, "a", |name| Parameter::Array(name, ty, is_written));
        *place = Place::local(name).index(index);
    }

    /// A scalar that is a parameter.
    fn scalar(&mut self, expr: &Expr) -> Expr {
        let ty = match expr {
            Expr::Var(name) => self.known.types.get(name).copied(),
            Expr::Load(place) => element_type(self.program, self.known, place),
            _ => None,
        };
        let ty = ty.expect("variables in a loop have types");
        let name = self.parameter(Argument::Value(expr.clone()), "s", |name| Parameter::Value(name, ty));
        name.into()
    }

    fn parameter(&mut self, argument: Argument, letter: &str, made: impl FnOnce(Name) -> Parameter) -> Name {
        if let Some(number) = self.arguments.iter().position(|known| *known == argument) {
            return self.parameters[number].name().expect("it is a variable or an array").clone();
        }
        let name: Name = format!("{letter}{}", self.parameters.len()).into();
        self.parameters.push(made(name.clone()));
        self.arguments.push(argument);
        name
    }
}

/// The type of the elements of some memory, if a loop may mention it.
fn element_type(program: &Program, known: &VariableFacts, place: &Place) -> Option<Type> {
    match &place.base {
        Base::State(name) => program.state.find(name.as_str()).map(|field| field.ty),
        Base::In(name) => program.input.find(name.as_str()).map(|field| field.ty),
        Base::Out(name, _) => program.output.find(name.as_str()).map(|field| field.ty),
        Base::Table(name) => program.table(name.as_str()).map(|table| table.ty),
        Base::Local(name) => known.types.get(name).copied(),
        Base::Shared(_) => None,
    }
}

/// Whether an element belongs to an array, and is neither a scalar nor an entry for a cycle in a list of
/// scalars.
fn is_element_of_row(program: &Program, known: &VariableFacts, place: &Place) -> bool {
    let dimensions =
        |fields: &Struct, name: &Name| fields.find(name.as_str()).map_or(0, |field| field.dimensions.len());
    let n = match &place.base {
        Base::State(name) => dimensions(&program.state, name),
        Base::In(name) => dimensions(&program.input, name),
        Base::Out(name, _) => dimensions(&program.output, name),
        Base::Table(_) => 1,
        Base::Local(_) => usize::from(known.types.contains_key(place.base.name())),
        Base::Shared(_) => 0,
    };
    n > 0 && n == place.at.len()
}
