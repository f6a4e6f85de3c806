//! An example program that calls the code: some cycles with generated inputs, and their outputs.

use std::fmt::Write;

use eddy_tensor::Scalar;

use crate::emit::{Emitted, Port};

/// The text of `main.c`.
pub fn main(emitted: &Emitted) -> String {
    let (name, upper) = (&emitted.name, emitted.name.to_uppercase());
    let mut text = format!(
        "/* An example: some cycles with made-up inputs. It is yours to change; Eddy does not write it again. */\n\
         #include <stdio.h>\n\n#include \"{name}.h\"\n\n\
         /* No memory is allocated: what the program remembers is here. */\n\
         static {name}_state state;\nstatic {name}_out outputs[{upper}_MAX_OUTPUTS];\n\n\
         static void show(int32_t n) {{\n  for (int32_t i = 0; i < n; i++) {{\n"
    );
    for port in &emitted.outputs {
        text.push_str(&output(port));
    }
    let _ = write!(
        text,
        "    printf(\"\\n\");\n  }}\n}}\n\n\
         int main(void) {{\n  {name}_reset(&state);\n  for (int cycle = 0; cycle < 10; cycle++) {{\n    {name}_in in = {{0}};\n"
    );
    for port in &emitted.inputs {
        text.push_str(&input(port, emitted.number()));
    }
    let _ = write!(
        text,
        "    const int32_t n = {name}_step(&state, &in, outputs);\n\
         \x20   if (n < 0) {{\n      fprintf(stderr, \"cycle %d: an error, %d\\n\", cycle, (int)n);\n      return 1;\n    }}\n\
         \x20   show(n);\n  }}\n\
         \x20 const int32_t n = {name}_flush(&state, outputs);\n\
         \x20 if (n < 0) {{\n    fprintf(stderr, \"the end: an error, %d\\n\", (int)n);\n    return 1;\n  }}\n\
         \x20 show(n);\n  return 0;\n}}\n"
    );
    text
}

fn input(port: &Port, number: &str) -> String {
    let Port { field, ty, has_flag, .. } = port;
    let value = match ty.scalar {
        Scalar::Bool => "cycle % 5 == 4".to_string(),
        Scalar::Int => "cycle".to_string(),
        Scalar::Num => format!("({number})0.1 * ({number})cycle"),
    };
    let n: usize = ty.shape.iter().product();
    let mut text = if ty.shape.is_scalar() {
        format!("    in.{field} = {value};\n")
    } else {
        format!("    for (int i = 0; i < {n}; i++) in.{field}[i] = {value};\n")
    };
    if *has_flag {
        let _ = writeln!(text, "    in.{field}_present = true;");
    }
    text
}

fn output(port: &Port) -> String {
    let Port { field, ty, has_flag, .. } = port;
    let at = if ty.shape.is_scalar() { "" } else { "[0]" };
    let (form, cast) = match ty.scalar {
        Scalar::Bool => ("%d", "(int)"),
        Scalar::Int => ("%lld", "(long long)"),
        Scalar::Num => ("%.9g", "(double)"),
    };
    let print = format!("printf(\"{field}{at} = {form}  \", {cast}outputs[i].{field}{at});");
    if *has_flag {
        format!("    if (outputs[i].{field}_present) {print}\n")
    } else {
        format!("    {print}\n")
    }
}
