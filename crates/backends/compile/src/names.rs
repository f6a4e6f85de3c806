//! The names of streams in C: those of the program, as far as C allows, and unique.

use eddy_flow::{Flow, VarId};
use rustc_hash::FxHashSet;

pub(crate) struct Names {
    names: Vec<String>,
}

impl Names {
    pub fn new(flow: &Flow) -> Names {
        let names = flow.vars.iter().enumerate().map(|(number, var)| match &var.name {
            // The number makes instances unique and avoids keywords of C.
            Some(name) => format!("{}_{number}", identifier(name.word())),
            None => format!("v{number}"),
        });
        Names { names: names.collect() }
    }

    pub fn of(&self, var: VarId) -> String {
        self.names[var.index()].clone()
    }

    /// A stream that the program does not have: an intermediate step of the value of one that it has.
    pub fn step_to(&mut self, var: VarId) -> VarId {
        self.names.push(format!("s{}_{}", self.names.len(), self.of(var)));
        VarId::new(self.names.len() - 1)
    }
}

/// The names of fields for inputs and outputs: those of the program, if C and C++ allow them. Ports that may
/// be absent have a second field, `NAME_present`.
pub(crate) fn port_names(flow: &Flow, ports: &[VarId], has_flag: &dyn Fn(VarId) -> bool) -> Vec<String> {
    let mut taken: FxHashSet<String> = FxHashSet::default();
    let mut names = Vec::new();
    for port in ports {
        let mut name = identifier(flow.var(*port).name.as_deref().unwrap_or("value"));
        let fields = |name: &str| {
            let flag = has_flag(*port).then(|| flag_name(name));
            std::iter::once(name.to_string()).chain(flag).collect::<Vec<_>>()
        };
        // No header has a name with this suffix.
        if is_reserved(&name) {
            name.push('_');
        }
        while fields(&name).iter().any(|field| taken.contains(field)) {
            name.push('_');
        }
        taken.extend(fields(&name));
        names.push(name);
    }
    names
}

/// The field with the presence flag of a port.
pub(crate) fn flag_name(field: &str) -> String {
    format!("{field}_present")
}

/// The name of a program: a prefix of types and functions, and the name of its files.
pub(crate) fn program_name(name: &str) -> String {
    let mut name = identifier(name);
    let lower = name.to_ascii_lowercase();
    // Names of files, targets and functions that come with a program; and device names of operating systems.
    let other = ["main", "makefile", "gnumakefile", "size", "clean", "con", "aux", "nul", "prn"];
    if other.contains(&lower.as_str()) || lower.starts_with("eddy") {
        name.push('_');
    }
    name
}

/// A valid C identifier: primes and other marks become letters.
pub fn identifier(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => text.push(c),
            '\'' => text.push_str("_p"),
            _ => text.push('_'),
        }
    }
    // Names that begin with two underscores, or an underscore and a capital, are reserved for compilers.
    let is_of_compilers = text
        .strip_prefix('_')
        .is_some_and(|rest| rest.starts_with(|c: char| c == '_' || c.is_ascii_uppercase()));
    if text.starts_with(|c: char| c.is_ascii_digit()) || text.is_empty() || is_of_compilers {
        text.insert(0, 'n');
    }
    text
}

/// Whether a word is a keyword of C or C++, or a macro of their libraries.
fn is_reserved(name: &str) -> bool {
    KEYWORDS.contains(&name) || MACROS.contains(&name) || is_of_a_header(name)
}

/// The keywords of C, up to C23, and of C++.
const KEYWORDS: &[&str] = &[
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "typeof_unqual",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
];

/// Macros of the standard libraries and of compilers that are plain words.
const MACROS: &[&str] = &[
    "BUFSIZ",
    "CLOCKS_PER_SEC",
    "EOF",
    "FILENAME_MAX",
    "FOPEN_MAX",
    "HUGE_VAL",
    "HUGE_VALF",
    "HUGE_VALL",
    "I",
    "INFINITY",
    "MB_CUR_MAX",
    "NAN",
    "NDEBUG",
    "NULL",
    "P_tmpdir",
    "RAND_MAX",
    "TMP_MAX",
    "WEOF",
    "assert",
    "complex",
    "errno",
    "i386",
    "imaginary",
    "linux",
    "math_errhandling",
    "noreturn",
    "offsetof",
    "setjmp",
    "stderr",
    "stdin",
    "stdout",
    "unix",
    "va_arg",
    "va_copy",
    "va_end",
    "va_list",
    "va_start",
];

/// Prefixes of macros in headers, such as `INT64_MIN`, `SEEK_SET`, `FLT_EPSILON` and `EINVAL`; all are in
/// capitals.
const CAPITALS: &[&str] = &[
    "ATOMIC_", "CHAR_", "CLOCK_", "DBL_", "DECIMAL_", "EDDY_", "EXIT_", "FE_", "FLT_", "FP_", "INT8",
    "INT16", "INT32", "INT64", "INTMAX_", "INTPTR_", "INT_", "LC_", "LDBL_", "LLONG_", "LONG_", "MATH_",
    "MB_", "M_", "ONCE_", "PRIX", "PTRDIFF_", "RSIZE_", "SCHAR_", "SCNX", "SEEK_", "SHRT_", "SIG", "SIZE_",
    "SSIZE_", "TIME_", "TSS_", "UCHAR_", "UINT8", "UINT16", "UINT32", "UINT64", "UINTMAX_", "UINTPTR_",
    "UINT_", "ULLONG_", "ULONG_", "USHRT_", "WCHAR_", "WINT_", "E",
];

/// Suffixes of the macros that the header of a node defines; their prefix is its name.
const OWN_MACROS: [&str; 2] = ["_STATE_BYTES", "_MAX_OUTPUTS"];

fn is_of_a_header(name: &str) -> bool {
    let is_capital =
        name.len() > 1 && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    // `PRId64`, `SCNu8`.
    let format = name.strip_prefix("PRI").or_else(|| name.strip_prefix("SCN"));
    let is_format = format.is_some_and(|rest| rest.starts_with(['d', 'i', 'o', 'u', 'x']));
    let is_macro = CAPITALS.iter().any(|start| name.starts_with(start))
        || OWN_MACROS.iter().any(|end| name.ends_with(end));
    is_capital && is_macro || is_format || name == "L_tmpnam"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_c_needs_are_changed() {
        let reserved = [
            "int",
            "class",
            "INT64_MIN",
            "EOF",
            "NULL",
            "errno",
            "I",
            "linux",
            "SEEK_SET",
            "E2BIG",
            "and",
            "F_MAX_OUTPUTS",
            "F_STATE_BYTES",
        ];
        assert!(reserved.iter().all(|name| is_reserved(name)));
        assert!(
            !["x", "X", "W", "GT", "inner", "state", "self", "in", "E"].iter().any(|name| is_reserved(name))
        );
        assert_eq!(identifier("__func__"), "n__func__");
        assert_eq!(identifier("_Bool"), "n_Bool");
        assert_eq!(identifier("_x"), "_x");
        for name in ["main", "Makefile", "eddy_rt", "clean", "Eddy"] {
            assert_eq!(program_name(name), format!("{name}_"));
        }
        assert_eq!(program_name("layer"), "layer");
    }
}
