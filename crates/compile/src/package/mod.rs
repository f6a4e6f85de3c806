//! A program in C as people use it: files with a header for readers, an example that calls it, a Makefile, and how large it is.

mod example;
mod sizes;

use crate::emit::Emitted;
use crate::precision::Precision;

/// A file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Whether people edit it: then it is written once.
    pub is_edited: bool,
}

/// All files of a program, and how large it is.
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

/// How files begin that are written anew each time.
pub const MARK: &str = "Written by Eddy:";

fn makefile(emitted: &Emitted) -> String {
    let name = &emitted.name;
    // What Eddy promises about the bits of results holds with these.
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
    /// What numbers are called.
    pub(crate) fn number(&self) -> &'static str {
        match self.precision {
            Precision::Double => "double",
            Precision::Single => "float",
        }
    }
}
