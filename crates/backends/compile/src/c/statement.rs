//! Statements in C.

use std::fmt::Write;

use eddy_imp::effects::declared_and_read;
use eddy_imp::{Application, Argument, Block, Expr, KernelCall, Name, Stmt};

use super::expression::{Style, c_type, number_function};

pub(super) struct Text {
    pub text: String,
    depth: usize,
    /// The prefix of all names of the program.
    program: Name,
}

impl Text {
    pub fn new(program: &Name) -> Text {
        Text { text: String::new(), depth: 0, program: program.clone() }
    }

    pub fn line(&mut self, line: &str) {
        for _ in 0..self.depth {
            self.text.push_str("  ");
        }
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// A statement with a comment.
    fn commented_line(&mut self, line: &str, comment: &str) {
        if comment.is_empty() {
            return self.line(line);
        }
        self.line(&format!("{line} /* {} */", in_comment(comment)));
    }

    /// `head { … }`
    pub fn braces(&mut self, head: &str, inner: impl FnOnce(&mut Text)) {
        self.line(&if head.is_empty() { "{".to_string() } else { format!("{head} {{") });
        self.depth += 1;
        inner(self);
        self.depth -= 1;
        self.line("}");
    }

    /// All statements of a block. Casts variables that are never read to `void`, to avoid compiler warnings.
    pub fn block(&mut self, block: &Block, style: Style) {
        for (stmt, is_read) in block.stmts.iter().zip(declared_and_read(block)) {
            self.stmt(stmt, style);
            if let (Some(name), false) = (stmt.declares(), is_read) {
                self.line(&format!("(void){name};"));
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt, style: Style) {
        let precision = style.precision;
        match stmt {
            Stmt::Let(name, ty, value, comment) => {
                let ty = c_type(*ty, precision);
                self.commented_line(&format!("const {ty} {name} = {};", style.whole(value)), comment);
            }
            Stmt::Var(name, ty, value) => {
                self.line(&format!("{} {name} = {};", c_type(*ty, precision), style.whole(value)));
            }
            Stmt::Array(name, ty, dimensions) => {
                let mut declared = format!("{} {name}", c_type(*ty, precision));
                for n in dimensions {
                    let _ = write!(declared, "[{}]", n.max(&1));
                }
                self.line(&format!("{declared};"));
            }
            Stmt::Pointer(name, ty, to) => {
                let (ty, condition) = (c_type(*ty, precision), style.expr(&to.condition));
                let [yes, no] = [&to.yes, &to.no].map(|place| style.place(place));
                self.line(&format!("const {ty} *const {name} = {condition} ? {yes} : {no};"));
            }
            Stmt::Assign(name, value, comment) => {
                self.commented_line(&format!("{name} = {};", style.whole(value)), comment);
            }
            Stmt::Store(place, value, comment) => {
                self.commented_line(&format!("{} = {};", style.place(place), style.whole(value)), comment);
            }
            Stmt::AddTo(place, value, comment) => {
                self.commented_line(&format!("{} += {};", style.place(place), style.whole(value)), comment);
            }
            Stmt::If(arms, otherwise) => self.condition(arms, otherwise, style),
            Stmt::For(this) => {
                if let Some(n) = this.unroll {
                    self.line(&format!("#pragma GCC unroll {n}"));
                }
                let (ty, index) = (c_type(this.ty, precision), &this.index);
                let (first, condition) = (style.whole(&this.first), style.whole(&this.condition));
                let step = step(index, &this.step, style);
                let head = format!("for ({ty} {index} = {first}; {condition}; {step})");
                self.braces(&head, |text| text.block(&this.body, style));
            }
            Stmt::While(condition, block) => {
                self.braces(&format!("while ({})", style.whole(condition)), |text| text.block(block, style));
            }
            Stmt::Scope(block) => self.braces("", |text| text.block(block, style)),
            Stmt::Kernel(call) => self.line(&kernel(call, style)),
            Stmt::Apply(this) => self.line(&application(this, &self.program, style)),
            Stmt::Run(result, procedure, arguments) => {
                let result = result.as_ref().map_or(String::new(), |name| format!("const int32_t {name} = "));
                let arguments = argument_list(arguments, style);
                let program = &self.program;
                self.line(&format!("{result}{program}_{procedure}({arguments});"));
            }
            Stmt::Parallel(this) => {
                let (program, procedure) = (self.program.clone(), &this.procedure);
                let arguments = argument_list(&this.arguments, style);
                self.braces("", |text| {
                    text.line(&format!("const {program}_{procedure}_context loop = {{{arguments}}};"));
                    let (size, unit, terms) = (this.size, this.unit, this.n_terms);
                    let range = format!("{program}_{procedure}_part");
                    text.line(&format!("eddy_in_pieces({size}, {unit}, {terms}, &loop, {range});"));
                });
            }
            Stmt::Check(value) => self.line(&format!("(void){};", style.expr(value))),
            // The variable exists only if something can fail.
            Stmt::LeaveIfFailed => self.line(&format!("if ({0}) return -{0};", style.error)),
            Stmt::Return(None) => self.line("return;"),
            Stmt::Return(Some(value)) => self.line(&format!("return {};", style.whole(value))),
            Stmt::Note(text) => self.line(&format!("/* {} */", in_comment(text))),
        }
    }

    fn condition(&mut self, arms: &[(Expr, Block)], otherwise: &Block, style: Style) {
        for (number, (condition, block)) in arms.iter().enumerate() {
            let word = if number == 0 { "if" } else { "else if" };
            let head = format!("{word} ({})", style.whole(condition));
            self.braces(&head, |text| text.block(block, style));
        }
        if !otherwise.is_empty() {
            self.braces("else", |text| text.block(otherwise, style));
        }
    }
}

/// Escapes the end of a comment.
pub(super) fn in_comment(text: &str) -> String {
    text.replace("*/", "* /").replace("/*", "/ *").replace('\n', " ")
}

fn step(index: &Name, step: &Expr, style: Style) -> String {
    match step {
        Expr::Count(1) => format!("{index}++"),
        Expr::Count(-1) => format!("{index}--"),
        step => format!("{index} += {}", style.whole(step)),
    }
}

fn kernel(call: &KernelCall, style: Style) -> String {
    let large = if call.is_large { "large_" } else { "" };
    let function = number_function(&format!("{large}{}", call.kernel.name()), style.precision);
    let arguments: Vec<String> = call.arguments.iter().map(|argument| in_place(argument, style)).collect();
    format!("{function}({});", arguments.join(", "))
}

fn application(this: &Application, program: &Name, style: Style) -> String {
    let mut arguments = vec![style.place(&this.memory), format!("&{}", style.error), this.site.to_string()];
    arguments.extend(this.operands.iter().map(|operand| in_place(operand, style)));
    arguments.extend(this.results.iter().map(|place| format!("&{}", style.place(place))));
    format!("{program}_{}({});", this.function, arguments.join(", "))
}

/// An argument that begins with an element of an array.
fn in_place(operand: &Argument, style: Style) -> String {
    match operand {
        Argument::Array(place) => format!("&{}", style.place(place)),
        other => argument(other, style),
    }
}

fn argument_list(arguments: &[Argument], style: Style) -> String {
    let arguments: Vec<String> = arguments.iter().map(|one| argument(one, style)).collect();
    arguments.join(", ")
}

fn argument(argument: &Argument, style: Style) -> String {
    match argument {
        Argument::Value(value) => style.whole(value),
        Argument::Array(place) => style.place(place),
        Argument::State => "self".to_string(),
        Argument::In => "in".to_string(),
        Argument::Out(Expr::Count(0)) => "out".to_string(),
        Argument::Out(row) => format!("out + {}", style.expr(row)),
        Argument::Shared => "locals".to_string(),
    }
}
