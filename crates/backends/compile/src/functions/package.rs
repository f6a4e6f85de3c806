//! One function as C for other programs: `NAME.h` and `NAME.c`, which need no other files.
//!
//! ```c
//! int NAME(const NAME_in *in, NAME_out *out, eddy_arena *a);
//! size_t NAME_arena(const NAME_in *in);
//! ```
//!
//! Parameters are fields of `NAME_in`. The parts of a result that is a tuple or a record are fields of
//! `NAME_out`; any other result is its field `value`. Parts of tuples are named `_0`, `_1`, and so on.

use std::fmt::Write;

use eddy_body::verify::VerifyError;
use eddy_body::{BodyId, Elem, Module, Type};

use super::names::{Names, c_word};
use super::{ARENA, Meter, Place, code};
use crate::precision::Precision;
use crate::runtime;

/// How an argument or a result consists of tensors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    Tensor(Type),
    Tuple(Vec<Form>),
    Record(Vec<(String, Form)>),
}

/// The name of a function, its parameters by name, and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    pub name: String,
    pub params: Vec<(String, Form)>,
    pub result: Form,
}

/// The texts of `NAME.h` and `NAME.c`.
#[derive(Clone, Debug)]
pub struct Package {
    /// The name in C.
    pub name: String,
    pub header: String,
    pub source: String,
}

/// Packages a function whose body takes and returns the tensors of its interface, in order.
pub fn package(
    module: &Module,
    body: BodyId,
    interface: &Interface,
    place: &Place<'_>,
) -> Result<Package, VerifyError> {
    let (code, shared) = code(module, &[body], Meter::Exact, &[], Some(place))?;
    let name = Names::default().of(&c_word(&interface.name));
    let header = header(&name, interface, module);
    let callee = &shared.names[body.index()];
    let bound = if code.uses_arena { "0" } else { "EDDY_RESERVED" };
    // Disables warnings about sizes that no statement reads.
    let quiet = "#if defined(__GNUC__)\n#pragma GCC diagnostic ignored \"-Wunused-variable\"\n\
                 #pragma GCC diagnostic ignored \"-Wunused-parameter\"\n\
                 #pragma GCC diagnostic ignored \"-Wunused-but-set-variable\"\n#endif\n";
    let source = format!(
        "#include \"{name}.h\"\n{quiet}\n{}\n{}\n{}\nsize_t {name}_arena(const {name}_in *in) {{\n  (void)in;\n  return {bound};\n}}\n",
        runtime::header(Precision::Double),
        code.text,
        entry(&name, callee, interface),
    );
    Ok(Package { name, header, source })
}

fn header(name: &str, interface: &Interface, module: &Module) -> String {
    let guard = name.to_uppercase();
    let mut fields = String::new();
    for (param, form) in &interface.params {
        let _ = writeln!(fields, "  {};", declaration(form, &c_word(param)));
    }
    if fields.is_empty() {
        fields.push_str("  char none;\n");
    }
    let mut results = String::new();
    for (label, form) in results_of(&interface.result) {
        let _ = writeln!(results, "  {};", declaration(&form, &label));
    }
    if results.is_empty() {
        results.push_str("  char none;\n");
    }
    let mut cases = String::new();
    for enumeration in module.enums.iter().filter(|enumeration| !enumeration.cases.is_empty()) {
        let numbered: Vec<String> =
            enumeration.cases.iter().enumerate().map(|(k, case)| format!("{k} {case}")).collect();
        let _ = writeln!(cases, "/* {}: {} */", enumeration.name, numbered.join(", "));
    }
    format!(
        "#ifndef EDDY_FUNCTION_{guard}\n#define EDDY_FUNCTION_{guard}\n\n#include <stddef.h>\n#include <stdint.h>\n\n\
         /* Memory of the caller, 16 bytes aligned: set base and size, low = 0, high = size, fuel and depth (INT64_MAX: no limit). */\n\
         #ifndef EDDY_ARENA\n#define EDDY_ARENA\n{ARENA}#endif\n\n{cases}\
         typedef struct {{\n{fields}}} {name}_in;\n\n\
         /* A tensor goes to the memory that its data points to, or to the arena if that is null, and is valid until low is reset. */\n\
         typedef struct {{\n{results}}} {name}_out;\n\n\
         /* 0, or 1 range, 2 overflow, 3 division, 4 size, 5 empty, 6 fuel, 7 depth, 8 arena, 9 order, at a->line and a->col. */\n\
         int {name}(const {name}_in *in, {name}_out *out, eddy_arena *a);\n\n\
         /* How large the arena must be, or 0 if no bound is known. */\n\
         size_t {name}_arena(const {name}_in *in);\n\n#endif\n"
    )
}

fn results_of(result: &Form) -> Vec<(String, Form)> {
    match result {
        Form::Tensor(_) => vec![("value".to_owned(), result.clone())],
        Form::Tuple(parts) => {
            parts.iter().enumerate().map(|(k, part)| (format!("_{k}"), part.clone())).collect()
        }
        Form::Record(fields) => fields.iter().map(|(label, form)| (c_word(label), form.clone())).collect(),
    }
}

fn public_type(elem: Elem) -> &'static str {
    match elem {
        Elem::Num => "double",
        Elem::Int => "int64_t",
        Elem::Bool => "uint8_t",
        Elem::Enum(_) => "int32_t",
        Elem::Tape => unreachable!("no interface has tapes"),
    }
}

fn declaration(form: &Form, name: &str) -> String {
    let parts = match form {
        Form::Tensor(Type { elem, rank: 0 }) => return format!("{} {name}", public_type(*elem)),
        Form::Tensor(Type { elem, rank }) => {
            return format!("struct {{ {} *data; int64_t n[{rank}]; }} {name}", public_type(*elem));
        }
        Form::Tuple(parts) => {
            parts.iter().enumerate().map(|(k, part)| declaration(part, &format!("_{k}"))).collect()
        }
        Form::Record(fields) => {
            fields.iter().map(|(label, part)| declaration(part, &c_word(label))).collect::<Vec<_>>()
        }
    };
    if parts.is_empty() {
        return format!("struct {{ char none; }} {name}");
    }
    format!("struct {{ {}; }} {name}", parts.join("; "))
}

/// The tensors of a form, each with the C expression that accesses it.
fn leaves(form: &Form, path: &str, found: &mut Vec<(String, Type)>) {
    match form {
        Form::Tensor(ty) => found.push((path.to_owned(), *ty)),
        Form::Tuple(parts) => {
            for (k, part) in parts.iter().enumerate() {
                leaves(part, &format!("{path}._{k}"), found);
            }
        }
        Form::Record(fields) => {
            for (label, part) in fields {
                leaves(part, &format!("{path}.{}", c_word(label)), found);
            }
        }
    }
}

/// The public function: it converts arguments and results, because enumerators and truth values have other
/// types inside.
fn entry(name: &str, callee: &str, interface: &Interface) -> String {
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for (param, form) in &interface.params {
        leaves(form, &format!("in->{}", c_word(param)), &mut inputs);
    }
    for (label, form) in results_of(&interface.result) {
        leaves(&form, &format!("out->{label}"), &mut outputs);
    }
    let mut text = format!(
        "\nint {name}(const {name}_in *in, {name}_out *out, eddy_arena *a) {{\n  (void)in;\n  (void)out;\n\
         \x20 if (a->low < EDDY_RESERVED) a->low = EDDY_RESERVED;\n\
         \x20 if (a->size < EDDY_RESERVED || a->high < a->low) EDDY_FAIL(EDDY_MEMORY, 0, 0);\n\
         \x20 ((uint64_t *)(void *)a->base)[0] = 0;\n"
    );
    let mut arguments = vec!["a".to_owned()];
    for (k, (path, ty)) in inputs.iter().enumerate() {
        match (ty.rank, ty.elem) {
            (0, Elem::Bool) => arguments.push(format!("{path} != 0")),
            (0, _) => arguments.push(path.clone()),
            (rank, Elem::Enum(_)) => {
                let sizes: Vec<String> = (0..rank).map(|axis| format!("{path}.n[{axis}]")).collect();
                let all = sizes.join(" * ");
                let _ = writeln!(text, "  int64_t *const x{k} = eddy_low(a, (size_t)({all}) * 8);");
                let _ = writeln!(text, "  if (!x{k}) EDDY_FAIL(EDDY_MEMORY, 0, 0);");
                let _ = writeln!(text, "  for (int64_t k = 0; k < {all}; k++) x{k}[k] = {path}.data[k];");
                arguments.push(format!("x{k}"));
            }
            (_, Elem::Bool) => arguments.push(format!("(bool *){path}.data")),
            _ => arguments.push(format!("{path}.data")),
        }
        arguments.extend((0..ty.rank).map(|axis| format!("{path}.n[{axis}]")));
    }
    let mut after = String::new();
    for (k, (path, ty)) in outputs.iter().enumerate() {
        let _ = writeln!(text, "  {};", inside(*ty, &format!("y{k}")));
        arguments.push(format!("&y{k}"));
        if ty.rank == 0 {
            let cast = if let Elem::Enum(_) = ty.elem { "(int32_t)" } else { "" };
            let _ = writeln!(after, "  {path} = {cast}y{k};");
            continue;
        }
        let _ = writeln!(text, "  int64_t y{k}_n[{}];", ty.rank);
        arguments.push(format!("y{k}_n"));
        let _ = writeln!(after, "  const int64_t y{k}_all = eddy_all({}, y{k}_n);", ty.rank);
        let public = public_type(ty.elem);
        if let Elem::Enum(_) = ty.elem {
            let _ = writeln!(after, "  if (!{path}.data) {path}.data = eddy_low(a, (size_t)y{k}_all * 4);");
            let _ = writeln!(after, "  if (!{path}.data) EDDY_FAIL(EDDY_MEMORY, 0, 0);");
            let _ = writeln!(
                after,
                "  for (int64_t k = 0; k < y{k}_all; k++) {path}.data[k] = (int32_t)y{k}[k];"
            );
        } else {
            let copy = format!("__builtin_memcpy({path}.data, y{k}, (size_t)y{k}_all * sizeof({public}))");
            let _ = writeln!(after, "  if ({path}.data) {copy};\n  else {path}.data = ({public} *)y{k};");
        }
        for axis in 0..ty.rank {
            let _ = writeln!(after, "  {path}.n[{axis}] = y{k}_n[{axis}];");
        }
    }
    let _ = writeln!(text, "  const int code = {callee}({});", arguments.join(", "));
    let _ = writeln!(text, "  if (code) return code;\n{after}  return 0;\n}}");
    text
}

fn inside(ty: Type, name: &str) -> String {
    super::body::declared(ty.elem, if ty.rank == 0 { "" } else { "*" }, name)
}
