//! Long functions in pieces.
//!
//! C compilers take time that grows faster than the length of a function: with 10,000 statements they take minutes. So a long function becomes
//! several, each of a bounded number of lines, and one that calls them in order. Statements stay what they are and run in the same order.
//!
//! ```text
//! double v = 0;                      │  EDDY_PIECE void f_piece0(f_state *self, f_step_locals *locals) {
//! const double a = self->x + 1.0;    │    locals->v = 0;
//! if (self->c) {                     │    const double a = self->x + 1.0;
//!   v = a;                           │    locals->a = a;
//! }                                  │  }
//! self->y = v * a;                   │  EDDY_PIECE void f_piece1(f_state *self, f_step_locals *locals) {
//!                                    │    const double a = locals->a;
//!                                    │    if (self->c) { …
//! ```
//!
//! A variable that never changes and is needed in other pieces is put into a field where it is declared, and read from there where a piece begins.
//! One that changes *is* a field. Blocks that are too long are cut inside, except loops over elements: calls in those would cost more than they gain, and
//! no loop over elements is long (`lower::schedule`).
//!
//! * [`words`]: what lines mention and declare.
//! * [`locals`]: variables and their fields.
//! * [`runs`]: which statements go into one piece.

mod locals;
mod runs;
#[cfg(test)]
mod tests;
mod words;

use std::ops::Range;

use rustc_hash::FxHashSet;

use crate::lines::{Line, Lines};
use locals::{Kept, Locals};
use runs::{Part, Statement, parts, statements};
use words::{
    Declared, Renamed, declared, declared_by_head, free, is_over_elements, longest_block, rename, weight,
    weight_of,
};

/// What is cut, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pieces {
    /// How many lines a piece has, or a little more.
    pub lines: usize,
    /// Functions are cut that have a longer block than this, not counting blocks inside of it; loops over elements count.
    pub longest_block: usize,
    /// And functions that are longer than this.
    pub longest_function: usize,
}

impl Pieces {
    /// Of 64, 128, 250, 500 and 1000 lines, pieces of 64 and 128 were compiled fastest by `gcc` 12. What is compiled in about a second is not cut:
    /// compilers know more about what is in one function.
    pub const USUAL: Pieces = Pieces { lines: 128, longest_block: 1000, longest_function: 5000 };

    /// Everything is cut.
    pub const fn of_lines(lines: usize) -> Pieces {
        Pieces { lines, longest_block: 0, longest_function: 0 }
    }

    fn cut(self, body: &Lines) -> bool {
        weight(body) > self.longest_function || longest_block(body) > self.longest_block
    }
}

/// Compilers would put pieces together again.
const MACRO: &str = "#ifdef __GNUC__\n#define EDDY_PIECE static __attribute__((noinline))\n#else\n#define EDDY_PIECE static\n#endif\n";

/// The text of functions, in which long ones are in pieces.
pub(crate) fn cut(functions: &Lines, pieces: Pieces) -> String {
    let mut lines = Lines::default();
    let mut has_pieces = false;
    for line in &functions.lines {
        match line {
            Line::Block { head, inner, .. } if pieces.cut(inner) => {
                has_pieces = true;
                lines.append(&function(head, inner, pieces.lines));
            }
            line => lines.lines.push(line.clone()),
        }
    }
    if has_pieces { format!("\n{MACRO}{}", lines.text()) } else { lines.text() }
}

/// A function in pieces.
fn function(head: &str, body: &Lines, n_lines: usize) -> Lines {
    let (name, parameters) = signature(head);
    let mut cutter = Cutter {
        name,
        parameters,
        n_lines,
        locals: Locals::default(),
        pieces: Lines::default(),
        n_pieces: 0,
    };
    let body = cutter.block(body.clone(), &[]);
    let name = &cutter.name;
    let mut lines = Lines::default();
    let has_fields = cutter.locals.fields().next().is_some();
    if has_fields {
        lines.line(format!("/* What pieces of {name} know of each other. */"));
        lines.block_with("typedef struct", &format!("}} {name}_locals;"), |lines| {
            for field in cutter.locals.fields() {
                lines.line(format!("{};", field.text()));
            }
        });
        lines.line("");
    }
    lines.append(&cutter.pieces);
    lines.block(head, |lines| {
        if has_fields {
            lines.line(format!("{name}_locals known;"));
            lines.line(format!("{name}_locals *const locals = &known;"));
        }
        lines.append(&body);
    });
    lines
}

/// The name and the parameters of a function.
fn signature(head: &str) -> (String, Vec<Declared>) {
    let (before, after) = head.split_once('(').expect("a function has parameters");
    let name = before.rsplit(' ').next().unwrap_or(before).to_string();
    let parameters = after.trim_end_matches(')').split(", ").map(|text| {
        let start = text.rfind([' ', '*']).map_or(0, |at| at + 1);
        Declared {
            name: text[start..].to_string(),
            c_type: text[..start].trim_end().to_string(),
            dimensions: String::new(),
            is_const: true,
        }
    });
    let mut parameters: Vec<Declared> = parameters.collect();
    let (c_type, dimensions) = (format!("{name}_locals *"), String::new());
    parameters.push(Declared { name: "locals".to_string(), c_type, dimensions, is_const: true });
    (name, parameters)
}

/// A function that is being cut.
struct Cutter {
    name: String,
    /// Its parameters; the last one is the struct of what pieces know of each other.
    parameters: Vec<Declared>,
    n_lines: usize,
    locals: Locals,
    /// The pieces so far.
    pieces: Lines,
    n_pieces: usize,
}

impl Cutter {
    /// A block in pieces; its head declares the indices of a loop.
    fn block(&mut self, lines: Lines, indices: &[Declared]) -> Lines {
        self.locals.open();
        for index in indices {
            self.locals.declare(index, 0);
        }
        let mut statements = statements(self.with_fields(lines), indices);
        for (number, statement) in statements.iter_mut().enumerate() {
            for line in &mut statement.lines {
                self.inside(line);
            }
            for declared in statement.declared() {
                self.locals.declare(&declared, number + 1);
            }
        }
        let parts = parts(&statements, self.n_lines);
        let read_back = self.need(&statements, &parts);
        let mut block = Lines::default();
        for index in indices {
            self.keep(&index.name, &mut block);
        }
        for part in &parts {
            match part {
                Part::Stays(number) => self.stays(&statements[*number], indices, &mut block),
                Part::Piece(range) => {
                    self.piece(&statements, range.clone(), &mut block);
                    for statement in &statements[range.clone()] {
                        for declared in
                            statement.declared().iter().filter(|own| read_back.contains(&own.name))
                        {
                            self.read_back(declared, &mut block);
                        }
                    }
                }
            }
        }
        self.locals.close();
        block
    }

    /// Variables that change are fields.
    fn with_fields(&mut self, lines: Lines) -> Lines {
        let (mut renamed, mut out) = (Renamed::default(), Lines::default());
        for mut line in lines.lines {
            let changing = match &line {
                Line::Plain(text) => declared(text).into_iter().find(|declared| !declared.is_const),
                Line::Block { .. } => None,
            };
            let field =
                changing.as_ref().map(|declared| format!("locals->{}", self.locals.replace(declared)));
            if let Some(declared) = &changing {
                renamed.remove(&declared.name);
            }
            rename(&mut line, &renamed);
            match (changing, field, line) {
                (Some(declared), Some(field), Line::Plain(text)) => {
                    // An array has no value here.
                    if let Some(value) = text.strip_prefix(&format!("{} = ", declared.text())) {
                        out.line(format!("{field} = {value}"));
                    }
                    renamed.insert(declared.name, field);
                }
                (.., line) => out.lines.push(line),
            }
        }
        out
    }

    /// Cuts what is too long inside of a line, unless it is a loop over elements.
    fn inside(&mut self, line: &mut Line) {
        let is_long = weight_of(line) > self.n_lines;
        if let Line::Block { head, inner, .. } = line
            && is_long
            && !is_over_elements(head)
        {
            *inner = self.block(std::mem::take(inner), &declared_by_head(head));
        }
    }

    /// Says which fields are needed. Gives the variables that pieces declare and what stays needs.
    fn need(&mut self, statements: &[Statement], parts: &[Part]) -> FxHashSet<String> {
        let (mut by_pieces, mut read_back) = (FxHashSet::default(), FxHashSet::default());
        for part in parts {
            match part {
                Part::Piece(range) => {
                    let lines = joined(&statements[range.clone()]);
                    for name in free(&lines) {
                        self.locals.find(name, range.start);
                    }
                    let declared = statements[range.clone()].iter().flat_map(Statement::declared);
                    by_pieces.extend(declared.map(|declared| declared.name));
                }
                Part::Stays(number) => {
                    for name in
                        free(&statements[*number].lines).into_iter().filter(|name| by_pieces.contains(*name))
                    {
                        self.locals.find(name, *number);
                        read_back.insert(name.to_string());
                    }
                }
            }
        }
        read_back
    }

    /// Makes statements a function, and calls it.
    fn piece(&mut self, statements: &[Statement], range: Range<usize>, block: &mut Lines) {
        let (mut body, lines) = (Lines::default(), joined(&statements[range.clone()]));
        for name in free(&lines) {
            if let Some(Kept { declared, field }) = self.locals.find(name, range.start) {
                body.line(format!("{} = locals->{field};", declared.constant()));
            }
        }
        for statement in &statements[range] {
            self.stays(statement, &[], &mut body);
        }
        let mentioned = free(&body.lines);
        let passed = self.parameters.iter().filter(|parameter| mentioned.contains(parameter.name.as_str()));
        let passed: Vec<&Declared> = passed.collect();
        let declared: Vec<String> = passed.iter().map(|parameter| parameter.text()).collect();
        let names: Vec<&str> = passed.iter().map(|parameter| parameter.name.as_str()).collect();
        let name = format!("{}_piece{}", self.name, self.n_pieces);
        let declared = if declared.is_empty() { "void".to_string() } else { declared.join(", ") };
        block.line(format!("{name}({});", names.join(", ")));
        self.pieces.block(&format!("EDDY_PIECE void {name}({declared})"), |lines| lines.append(&body));
        self.pieces.line("");
        self.n_pieces += 1;
    }

    /// What a piece declared, in the function that called it.
    fn read_back(&self, declared: &Declared, lines: &mut Lines) {
        if let Some(field) = self.locals.needed(&declared.name) {
            lines.line(format!("{} = locals->{field};", declared.constant()));
        }
    }

    /// Puts a variable of the innermost block into its field, if that is needed.
    fn keep(&self, name: &str, lines: &mut Lines) {
        if let Some(field) = self.locals.needed(name) {
            lines.line(format!("locals->{field} = {name};"));
        }
    }

    /// A statement that stays where it is.
    fn stays(&self, statement: &Statement, indices: &[Declared], block: &mut Lines) {
        block.lines.extend_from_slice(&statement.lines);
        for declared in statement.declared() {
            self.keep(&declared.name, block);
        }
        for index in indices.iter().filter(|index| statement.assigns(&index.name)) {
            self.keep(&index.name, block);
        }
    }
}

/// The lines of statements.
fn joined(statements: &[Statement]) -> Vec<Line> {
    statements.iter().flat_map(|statement| statement.lines.clone()).collect()
}
