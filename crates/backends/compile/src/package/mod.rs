//! A C program as a package: files with a comment at the top, an example that calls it, a Makefile, and its
//! size.

mod example;
mod sizes;

use crate::emit::Emitted;
use crate::precision::Precision;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    pub name: String,
    pub text: String,
    /// Whether users edit it; then an existing file is not overwritten.
    pub is_edited: bool,
}

/// All files of a program, and a report of its size.
pub fn package(emitted: &Emitted, about: &str) -> (Vec<File>, String) {
    let name = &emitted.name;
    let sizes = sizes::report(emitted);
    let generated = |file: &str, text: &str| File {
        name: file.to_string(),
        text: format!("/* {MARK} {about}. */\n{text}"),
        is_edited: false,
    };
    let files = vec![
        generated(&format!("{name}.h"), &emitted.header),
        generated(&format!("{name}.c"), &emitted.source),
        generated("eddy_rt.h", &emitted.runtime_header),
        File { name: "sizes.txt".into(), text: sizes.clone(), is_edited: false },
        File { name: "main.c".into(), text: example::main(emitted), is_edited: true },
        File { name: "Makefile".into(), text: makefile(emitted), is_edited: true },
    ];
    (files, sizes)
}

/// The mark at the beginning of generated files, which are overwritten.
pub const MARK: &str = "Written by Eddy:";

fn makefile(emitted: &Emitted) -> String {
    let name = &emitted.name;
    // The guarantee about the bits of results holds with these flags.
    let exact = "-fno-math-errno -fno-trapping-math -ffp-contract=off";
    format!(
        "# Builds the example. The library is {name}.c alone.\n\
         CC ?= cc\n\
         CFLAGS ?= -std=c99 -O3 -march=native -Wall -Wextra -Wconversion\n\
         EXACT = {exact}\n\n\
         {name}: main.o {name}.o\n\t$(CC) $(LDFLAGS) -o $@ $^ -lm\n\n\
         %.o: %.c {name}.h eddy_rt.h\n\t$(CC) $(CFLAGS) $(EXACT) -c -o $@ $<\n\n\
         .PHONY: size clean\n\
         size: {name}.o\n\tsize $<\n\n\
         clean:\n\trm -f {name} main.o {name}.o\n"
    )
}

impl Emitted {
    /// The C type of numbers.
    pub(crate) fn number(&self) -> &'static str {
        match self.precision {
            Precision::Double => "double",
            Precision::Single => "float",
        }
    }
}
