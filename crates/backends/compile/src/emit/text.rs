//! The header and the source of a finished program.

use std::fmt::Write;

use eddy_imp::Program;

use crate::c;
use crate::runtime::LARGE;

/// The header for hosts: the structs, and the functions to call.
pub(super) fn header(program: &Program, max_outputs: usize, about_flush: &str) -> String {
    let (name, upper) = (&program.name, program.name.as_str().to_uppercase());
    let mut text = format!("#ifndef EDDY_NODE_{upper}_H\n#define EDDY_NODE_{upper}_H\n\n");
    text.push_str("#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n");
    text.push_str("#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    let _ = writeln!(
        text,
        "/* The bytes of the state, and how many outputs a step, or flush, can give. */\n\
         #define {upper}_STATE_BYTES {}\n#define {upper}_MAX_OUTPUTS {max_outputs}\n",
        program.state.bytes.max(1)
    );
    let remembered = "/* What is remembered. It is plain data: copying it saves it. It is fastest at an address that is \
                      a multiple of 64. */";
    let structs = [
        ("/* What goes in at a cycle. */", &program.input, "in"),
        ("\n/* The outputs of a cycle. */", &program.output, "out"),
        (&format!("\n{remembered}"), &program.state, "state"),
    ];
    for (comment, fields, part) in structs {
        let _ = writeln!(text, "{comment}");
        text.push_str(&c::declaration(fields, &format!("{name}_{part}"), program.precision));
    }
    let _ = writeln!(
        text,
        "\n/* Starts anew: what is learnt, and delays, have their initial values. */\n\
         void {name}_reset({name}_state *self);\n\
         /* Starts anew, and keeps what was learnt. */\n\
         void {name}_reset_state({name}_state *self);\n\
         /* To be called when parameters (fields k_...) were changed. */\n\
         void {name}_prepare({name}_state *self);\n\
         /* A cycle. Gives how many cycles of outputs are complete now; they are in out, oldest first. Below 0 something went wrong:\n\
         \x20  -n: equation n has no value, INT32_MIN: the window is too long, INT32_MIN + 1: it is of a kind that is not compiled. */\n\
         int32_t {name}_step({name}_state *self, const {name}_in *in, {name}_out *out);\n\
         /* There are no more cycles{about_flush}. */\n\
         int32_t {name}_flush({name}_state *self, {name}_out *out);\n\n\
         #ifdef __cplusplus\n}}\n#endif\n\n#endif"
    );
    text
}

/// The code, with that of the functions that it applies. If it contains work for threads, the host provides
/// them.
pub(super) fn source(program: &Program, functions: &str) -> String {
    let name = &program.name;
    let mut text = String::new();
    let is_large = c::is_large(program);
    if is_large {
        let _ = writeln!(text, "#define EDDY_PARALLEL\n#define EDDY_LARGE_WORK {LARGE}");
    }
    let _ = writeln!(text, "#include \"{name}.h\"\n#include \"eddy_rt.h\"\n");
    for (part, fields) in [("in", &program.input), ("out", &program.output), ("state", &program.state)] {
        text.push_str(&c::assertions(fields, &format!("{name}_{part}")));
    }
    text.push_str(functions);
    text.push('\n');
    text.push_str(&c::code(program));
    if is_large {
        let _ = writeln!(
            text,
            "\nvoid {name}_parallel(EddyParallel parallel);\n\
             void {name}_parallel(EddyParallel parallel) {{\n  eddy_parallel = parallel;\n}}"
        );
    }
    text
}
