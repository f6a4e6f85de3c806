//! Long loops, as functions of their own, so that several threads can each run a part of one.
//!
//! ```text
//! {
//!   const law_loop0 loop = {self->w3[t], self->t2};                    what it reads and writes
//!   eddy_in_pieces(8192, 64, 983040, &loop, law_range0);               `runtime/parallel.h`
//! }
//!
//! EDDY_LOOP void law_run0(size_t first, size_t end, float *restrict a0, const float *restrict a1) {
//!   for (size_t i0 = first; i0 < end; i0++) {
//!     const float e23 = eddy_sigmoidf(a1[i0]);
//!     a0[i0] = e23;
//!   }
//! }
//! ```
//!
//! Each array that the loop mentions is a parameter, and so is each scalar. Arrays with different names are different memory, so a compiler may know: it then makes vectors of the
//! loop as it does where the loop stands in its place. A loop is left where it is if an element is read that another part of it may write, or a pointer that may point to what it
//! writes.
//!
//! Only code for a host that has threads has such functions.

use std::cell::RefCell;

use eddy_tensor::Scalar;
use rustc_hash::{FxHashMap, FxHashSet};

use super::memory::{Home, Homes};
use super::print::Printer;
use super::prune::can_fail;
use super::schedule::Item;
use crate::lines::Lines;
use crate::runtime::LARGE;
use crate::view::{Root, View};

/// The long loops of a program.
#[derive(Debug, Default)]
pub(crate) struct LongLoops {
    /// The name of the program, if its host has threads.
    program: Option<String>,
    functions: RefCell<Functions>,
}

#[derive(Debug, Default)]
struct Functions {
    lines: Lines,
    /// Parameters and lines, and the number of the function that has them: windows write the same loop several times.
    numbers: FxHashMap<(String, String), usize>,
}

/// How a loop is cut: along so many places, in whole units, and how many terms of a product take as long as all of it.
pub(super) struct Cut {
    pub size: usize,
    pub unit: usize,
    pub n_terms: usize,
}

impl LongLoops {
    /// None yet, in a program for a host that has threads, or not.
    pub fn new(program: Option<String>) -> LongLoops {
        LongLoops { program, ..LongLoops::default() }
    }

    /// The text of the functions.
    pub fn text(&self) -> String {
        self.functions.borrow().lines.text()
    }
}

impl Printer<'_> {
    /// Hands a loop over to threads, if that pays and can be done. The loop is written once more by `body`, which gets the statements with
    /// parameters in the place of what they mention; it runs from `first` to `end` along the side that is cut.
    pub fn in_pieces(
        &self,
        items: &[Item<'_>],
        cut: &Cut,
        lines: &mut Lines,
        body: impl FnOnce(&Printer<'_>, &[Item<'_>], &mut Lines),
    ) -> bool {
        let Some(program) = &self.long_loops.program else { return false };
        if cut.n_terms < LARGE || cut.size <= cut.unit || !self.can_be_cut(items) {
            return false;
        }
        let mut parameters = Parameters::new(self, items);
        let (homes, items) = (parameters.homes(items), parameters.items(items));
        let printer = Printer { homes: &homes, rows_read: FxHashMap::default(), ..self.clone() };
        let mut inner = Lines::default();
        body(&printer, &items, &mut inner);
        let number = self.long_loops.functions.borrow_mut().number(program, &parameters, &inner);
        let arguments: Vec<&str> = parameters.list.iter().map(|one| one.argument.as_str()).collect();
        let Cut { size, unit, n_terms } = cut;
        lines.block("", |lines| {
            lines.line(format!("const {program}_loop{number} loop = {{{}}};", arguments.join(", ")));
            lines.line(format!("eddy_in_pieces({size}, {unit}, {n_terms}, &loop, {program}_range{number});"));
        });
        true
    }

    /// Whether parts of a loop can run at the same time: none of it fails, and nothing is read that another part writes.
    fn can_be_cut(&self, items: &[Item<'_>]) -> bool {
        let homes = self.homes;
        let own: FxHashSet<_> = items.iter().map(|item| item.statement.var).collect();
        let written: FxHashSet<&str> =
            items.iter().filter_map(|item| homes.array(item.statement.var)).collect();
        let is_written = |text: &str| written.contains(text);
        let is_harmless = |item: &Item<'_>, view: &View| match (&view.root, view.var()) {
            (_, Some(var)) if own.contains(&var) => true,
            (Root::Memory(text), _) if is_written(text) => is_same_element(item, view),
            (Root::Memory(text), _) => {
                let targets = self.pointers.get(text).into_iter().flatten();
                !targets.into_iter().any(|target| is_written(target))
            }
            (_, Some(var)) if homes.array(var).is_some_and(is_written) => is_same_element(item, view),
            _ => true,
        };
        items.iter().all(|item| {
            !can_fail(item.statement)
                && !matches!(homes.home(item.statement.var), Home::Scalar(_))
                && item.reads.iter().all(|view| is_harmless(item, view))
        })
    }
}

/// Whether the element that is read is the one at the place of the result.
fn is_same_element(item: &Item<'_>, view: &View) -> bool {
    view.offset == 0 && view.shape == item.statement.ty.shape && view.is_contiguous()
}

/// What a function gets in the place of arrays and scalars.
struct Parameters<'a> {
    printer: &'a Printer<'a>,
    written: FxHashSet<String>,
    list: Vec<Parameter>,
}

struct Parameter {
    name: String,
    /// `const float`, and whether it is an array of these.
    ty: String,
    is_array: bool,
    /// What it stands for.
    argument: String,
}

impl<'a> Parameters<'a> {
    fn new(printer: &'a Printer<'a>, items: &[Item<'_>]) -> Parameters<'a> {
        let written = items.iter().filter_map(|item| printer.homes.array(item.statement.var));
        Parameters { printer, written: written.map(str::to_string).collect(), list: Vec::new() }
    }

    /// The parameter for an array or a scalar.
    fn of(&mut self, argument: &str, scalar: Scalar, is_array: bool) -> String {
        if let Some(parameter) = self.list.iter().find(|parameter| parameter.argument == argument) {
            return parameter.name.clone();
        }
        let name = format!("{}{}", if is_array { "a" } else { "s" }, self.list.len());
        let (constant, ty) = (
            if self.written.contains(argument) { "" } else { "const " },
            self.printer.precision.c_type(scalar),
        );
        let (ty, argument) = (format!("{constant}{ty}"), argument.to_string());
        self.list.push(Parameter { name: name.clone(), ty, is_array, argument });
        name
    }

    /// Where the statements keep what they compute.
    fn homes(&mut self, items: &[Item<'_>]) -> Homes {
        let statements = items.iter().map(|item| item.statement);
        statements
            .map(|statement| {
                let home = match self.printer.homes.home(statement.var) {
                    Home::Array(text) => Home::Array(self.of(text, statement.ty.scalar, true)),
                    home => home.clone(),
                };
                (statement.var, home)
            })
            .collect()
    }

    /// The statements, with parameters in the place of what was there before.
    fn items<'b>(&mut self, items: &[Item<'b>]) -> Vec<Item<'b>> {
        let own: FxHashSet<_> = items.iter().map(|item| item.statement.var).collect();
        let mut replaced = items.to_vec();
        for view in replaced.iter_mut().flat_map(|item| &mut item.reads) {
            let home = match &view.root {
                Root::Var(var) if own.contains(var) => continue,
                Root::Var(var) => self.printer.homes.home(*var).clone(),
                Root::Memory(text) => Home::Array(text.clone()),
                Root::One(text) => Home::Scalar(text.clone()),
            };
            view.root = match home {
                Home::Array(text) => Root::Memory(self.of(&text, view.scalar, true)),
                // A compiler should see literals.
                Home::Scalar(text) | Home::Loop(text) if is_literal(&text) => Root::One(text),
                Home::Scalar(text) | Home::Loop(text) => Root::One(self.of(&text, view.scalar, false)),
            };
        }
        replaced
    }

    /// Declarations, each between these; pointers with this word.
    fn declared(&self, restrict: &str, after: &str) -> String {
        let declared = self.list.iter().map(|Parameter { name, ty, is_array, .. }| {
            let star = if *is_array { format!("*{restrict}") } else { String::new() };
            format!("{ty} {star}{name}")
        });
        declared.collect::<Vec<_>>().join(after)
    }
}

/// Whether an expression is a number or a truth value.
fn is_literal(text: &str) -> bool {
    text == "true"
        || text == "false"
        || text.trim_start_matches(['(', '-']).starts_with(|c: char| c.is_ascii_digit())
}

impl Functions {
    /// The number of the functions that run a loop, which are written if they are not there yet.
    fn number(&mut self, program: &str, parameters: &Parameters<'_>, body: &Lines) -> usize {
        let next = self.numbers.len();
        let declared = parameters.declared("restrict ", ", ");
        let number = *self.numbers.entry((declared.clone(), body.text())).or_insert(next);
        if number < next {
            return number;
        }
        let given: Vec<String> = parameters.list.iter().map(|one| format!("loop->{}", one.name)).collect();
        let (fields, given) = (parameters.declared("", "; "), given.join(", "));
        let context =
            format!("const {program}_loop{number} *const loop = (const {program}_loop{number} *)context;");
        let range =
            format!("static void {program}_range{number}(const void *context, size_t first, size_t end)");
        self.lines.line("");
        self.lines.line(format!("typedef struct {{ {fields}; }} {program}_loop{number};"));
        let run = format!("EDDY_LOOP void {program}_run{number}(size_t first, size_t end, {declared})");
        self.lines.block(&run, |lines| lines.append(body));
        self.lines.block(&range, |lines| {
            lines.line(context);
            lines.line(format!("{program}_run{number}(first, end, {given});"));
        });
        number
    }
}
