//! Prints `imp` as C.
//!
//! The printer makes no decisions: the tree says what a program does, what its procedures share, and which
//! loops threads may run. The printer only adds C syntax: types, literals, parentheses, the order of
//! declarations, and `(void)` for unused names.
//!
//! * [`expression`], [`statement`]: expressions and statements.
//! * [`structs`]: structs, and assertions about them.

mod expression;
mod statement;
mod structs;

#[cfg(test)]
use eddy_imp::{Block, Expr};
use eddy_imp::{Linkage, Name, Parameter, Procedure, Program, Table, effects};

use expression::Style;
pub(crate) use expression::{c_type, number};
use statement::Text;
pub(crate) use structs::{assertions, declaration};

/// Without this, compilers would inline the pieces again.
const PIECE: &str = "#ifdef __GNUC__\n#define EDDY_PIECE static __attribute__((noinline))\n#else\n#define EDDY_PIECE static\n#endif\n";

/// The tables and procedures of a program, after the declarations of its structs.
pub(crate) fn code(program: &Program) -> String {
    let mut text = Text::new(&program.name);
    for table in &program.tables {
        print_table(table, program, &mut text);
    }
    if program.procedures.iter().any(|procedure| matches!(procedure.linkage, Linkage::Piece(_))) {
        text.line("");
        text.text.push_str(PIECE);
    }
    for procedure in &program.procedures {
        print_procedure(procedure, program, &mut text);
    }
    text.text
}

/// Prints statements, for tests that write a function around them.
#[cfg(test)]
pub(crate) fn statements(block: &Block, precision: eddy_imp::Precision) -> String {
    let mut text = Text::new(&"test".into());
    text.block(block, Style { precision, error: "error" });
    text.text
}

/// Prints an expression, for such tests.
#[cfg(test)]
pub(crate) fn expression(expr: &Expr, precision: eddy_imp::Precision) -> String {
    Style { precision, error: "error" }.expr(expr)
}

/// Whether a program contains work that threads may share.
pub(crate) fn is_large(program: &Program) -> bool {
    program.procedures.iter().any(|procedure| effects::is_large(&procedure.body))
}

fn print_table(table: &Table, program: &Program, text: &mut Text) {
    let ty = c_type(table.ty, program.precision);
    let style = Style { precision: program.precision, error: "error" };
    text.line(&format!("static const {ty} {}[{}] = {{", table.name, table.elements.len().max(1)));
    for row in table.elements.chunks(8) {
        let row: Vec<String> = row.iter().map(|element| style.expr(element)).collect();
        text.line(&format!("  {},", row.join(", ")));
    }
    text.line("};");
}

fn print_procedure(procedure: &Procedure, program: &Program, text: &mut Text) {
    text.line("");
    if procedure.linkage == Linkage::Range {
        return print_range(procedure, program, text);
    }
    let name = &program.name;
    // Pieces come before the procedure that they belong to, and need the shared struct.
    if let Linkage::Piece(of) = &procedure.linkage
        && let Some(whole) = program.procedure(of.as_str())
        && is_first_piece(procedure, of, program)
        && !whole.shared.fields.is_empty()
    {
        text.line(&format!("/* What pieces of {name}_{of} know of each other. */"));
        let declared = declaration(&whole.shared, &format!("{name}_{of}_locals"), program.precision);
        text.text.push_str(&declared);
        text.line("");
    }
    let linkage = match &procedure.linkage {
        Linkage::Public => "",
        Linkage::Piece(_) => "EDDY_PIECE ",
        Linkage::Private | Linkage::Range => "static ",
    };
    let result = procedure.result.map_or("void", |ty| c_type(ty, program.precision));
    let parameters = parameters(procedure, program);
    let head = format!("{linkage}{result} {name}_{}({parameters})", procedure.name);
    text.braces(&head, |text| print_body(procedure, program, text));
}

fn is_first_piece(procedure: &Procedure, of: &Name, program: &Program) -> bool {
    let is_piece = |other: &&Procedure| matches!(&other.linkage, Linkage::Piece(name) if name == of);
    program.procedures.iter().find(is_piece).is_some_and(|first| first.name == procedure.name)
}

fn parameters(procedure: &Procedure, program: &Program) -> String {
    let name = &program.name;
    let parameter = |parameter: &Parameter| match parameter {
        Parameter::State => format!("{name}_state *self"),
        Parameter::In => format!("const {name}_in *in"),
        Parameter::Out => format!("{name}_out *out"),
        Parameter::Shared => match &procedure.linkage {
            Linkage::Piece(of) => format!("{name}_{of}_locals *locals"),
            _ => format!("{name}_{}_locals *locals", procedure.name),
        },
        Parameter::Value(own, ty) => format!("{} {own}", c_type(*ty, program.precision)),
        Parameter::Array(own, ty, true) => format!("{} *restrict {own}", c_type(*ty, program.precision)),
        Parameter::Array(own, ty, false) => {
            format!("const {} *restrict {own}", c_type(*ty, program.precision))
        }
    };
    let list: Vec<String> = procedure.parameters.iter().map(parameter).collect();
    if list.is_empty() { "void".to_string() } else { list.join(", ") }
}

fn print_body(procedure: &Procedure, program: &Program, text: &mut Text) {
    let precision = program.precision;
    let is_cut = !procedure.shared.fields.is_empty();
    if is_cut {
        let locals = format!("{}_{}_locals", program.name, procedure.name);
        text.line(&format!("{locals} known;"));
        text.line(&format!("{locals} *const locals = &known;"));
    }
    // The pieces of a procedure share one record of failures.
    let is_shared = is_cut || matches!(procedure.linkage, Linkage::Piece(_));
    let error = if is_shared { "locals->error" } else { "error" };
    if !is_shared && effects::mentions_failure(&procedure.body) {
        text.line("int32_t error = 0;");
    }
    if procedure.shared.find("error").is_some() {
        text.line("locals->error = 0;");
    }
    mention_unused(procedure, text);
    text.block(&procedure.body, Style { precision, error });
}

/// Casts parameters that are never read to `void`, to avoid compiler warnings.
fn mention_unused(procedure: &Procedure, text: &mut Text) {
    let read = effects::read(&procedure.body);
    let structs = effects::structs(&procedure.body);
    for parameter in &procedure.parameters {
        let (name, is_read) = match parameter {
            Parameter::State => ("self", structs.contains(parameter)),
            Parameter::In => ("in", structs.contains(parameter)),
            Parameter::Out => ("out", structs.contains(parameter)),
            Parameter::Shared => ("locals", structs.contains(parameter)),
            Parameter::Value(name, _) | Parameter::Array(name, ..) => (name.as_str(), read.contains(name)),
        };
        if !is_read {
            text.line(&format!("(void){name};"));
        }
    }
}

/// Prints a part of a loop: the procedure, its arguments as a struct, and the function that the runtime calls
/// with it.
fn print_range(procedure: &Procedure, program: &Program, text: &mut Text) {
    let (name, precision) = (format!("{}_{}", program.name, procedure.name), program.precision);
    let given = procedure.parameters.get(2..).unwrap_or_default();
    let field = |parameter: &Parameter| match parameter {
        Parameter::Array(own, ty, true) => format!("{} *{own}", c_type(*ty, precision)),
        Parameter::Array(own, ty, false) => format!("const {} *{own}", c_type(*ty, precision)),
        Parameter::Value(own, ty) => format!("{} {own}", c_type(*ty, precision)),
        other => unreachable!("a part of a loop has no {other:?}"),
    };
    let fields: Vec<String> = given.iter().map(field).collect();
    let names: Vec<String> =
        given.iter().filter_map(Parameter::name).map(|own| format!("loop->{own}")).collect();
    text.line(&format!("typedef struct {{ {}; }} {name}_context;", fields.join("; ")));
    let head = format!("EDDY_LOOP void {name}({})", parameters(procedure, program));
    text.braces(&head, |text| text.block(&procedure.body, Style { precision, error: "error" }));
    let head = format!("static void {name}_part(const void *context, size_t first, size_t end)");
    text.braces(&head, |text| {
        text.line(&format!("const {name}_context *const loop = (const {name}_context *)context;"));
        text.line(&format!("{name}(first, end, {});", names.join(", ")));
    });
}
