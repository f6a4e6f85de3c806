//! Reads the files of a program: the prelude, the main file, and all files that are imported, directly or
//! indirectly.

use std::collections::BTreeMap;

use eddy_syntax::{Confidence, Diagnostic, Diagnostics, Edit, SourceFile, Sources, Span};

use super::library;
use crate::automata;
use crate::codes;
use crate::contracts;
use crate::kernels::{self, Kernel};
use crate::names::Names;
use crate::parse::{Parsed, parse};
use crate::tree;

pub(super) struct File {
    pub names: Names,
    pub tree: tree::Program,
    /// The number of expressions in the text.
    pub n_written: usize,
    /// The index of the file that each import names; 0, the prelude, if it could not be read.
    pub imports: Vec<usize>,
    pub is_library: bool,
    /// The names that an import of the file brings into scope; `None` if it brings all of them.
    pub exports: Option<Vec<String>>,
    /// Its first position.
    pub start: Span,
    /// Accepted but suspicious code.
    pub warnings: Vec<Diagnostic>,
}

/// Reads all files; the prelude has index 0, the main file index 1. With `kernel`, the main file is a program
/// of that kernel.
pub(super) fn load(
    sources: &mut Sources,
    kernel: Option<Kernel>,
    diagnostics: &mut Diagnostics,
) -> Vec<File> {
    let prelude = sources.add("prelude.eddy", library::PRELUDE).map(|file| read(file, None, true));
    let prelude = prelude.expect("the prelude is small enough to be added to any file");
    let main = read(sources.main(), kernel, false);
    let mut loader = Loader {
        by_base: BTreeMap::from([(sources.main().base(), 1)]),
        library: BTreeMap::new(),
        files: vec![prelude, main],
    };
    let mut next = 0;
    while next < loader.files.len() {
        diagnostics.extend(loader.files[next].1.drain(..));
        for index in 0..loader.files[next].0.tree.imports.len() {
            let import = &loader.files[next].0.tree.imports[index];
            let (path, span) = (import.path.clone(), import.path_span);
            let number = loader.import(&path, span, sources).unwrap_or_else(|diagnostic| {
                diagnostics.push(*diagnostic);
                0
            });
            loader.files[next].0.imports.push(number);
        }
        next += 1;
    }
    let files: Vec<File> = loader.files.into_iter().map(|(file, _)| file).collect();
    files
}

/// The files read so far.
struct Loader {
    files: Vec<(File, Vec<Diagnostic>)>,
    /// File indices by the offset at which the file starts.
    by_base: BTreeMap<u32, usize>,
    /// Indices of library files by import path.
    library: BTreeMap<String, usize>,
}

impl Loader {
    /// The index of the file that an import names.
    fn import(&mut self, path: &str, span: Span, sources: &mut Sources) -> Result<usize, Box<Diagnostic>> {
        if library::is_library(path) {
            return self.import_library(path, span, sources);
        }
        kernels::importable(path, span)?;
        let file = sources.import(path, span).map_err(|reason| unreadable(path, span, &reason))?;
        match self.by_base.get(&file.base()) {
            Some(known) => Ok(*known),
            None => {
                let number = self.add(file, Kernel::of_file(path), false);
                // Errors in a file of another language also point at the import.
                if Kernel::of_file(path).is_some() {
                    let found = &mut self.files[number].1;
                    *found = found.drain(..).map(|found| found.cause(span, "imported here")).collect();
                }
                Ok(number)
            }
        }
    }

    fn import_library(
        &mut self,
        path: &str,
        span: Span,
        sources: &mut Sources,
    ) -> Result<usize, Box<Diagnostic>> {
        if let Some(number) = self.library.get(path) {
            return Ok(*number);
        }
        let text = library::text(path).ok_or_else(|| Box::new(library::unknown_file(path, span)))?;
        let file = sources.add(path, text).map_err(|reason| unreadable(path, span, &reason))?;
        let number = self.add(file, None, true);
        self.library.insert(path.to_string(), number);
        Ok(number)
    }

    fn add(&mut self, file: &SourceFile, kernel: Option<Kernel>, is_library: bool) -> usize {
        let number = self.files.len();
        self.by_base.insert(file.base(), number);
        self.files.push(read(file, kernel, is_library));
        number
    }
}

fn read(file: &SourceFile, kernel: Option<Kernel>, is_library: bool) -> (File, Vec<Diagnostic>) {
    let (parsed, exports) = match kernel {
        None => (parse(file), None),
        Some(kernel) => {
            let (parsed, exports) = kernels::parse(kernel, file);
            (parsed, Some(exports))
        }
    };
    let Parsed { mut program, mut names, mut diagnostics, mut warnings, .. } = parsed;
    let n_written = program.exprs.len();
    contracts::expand(&mut program);
    diagnostics.extend(automata::expand(&mut program, &mut names, &mut warnings));
    let start = Span::new(file.base(), file.base());
    let imports = Vec::new();
    let file = File { names, tree: program, n_written, imports, is_library, exports, start, warnings };
    (file, diagnostics)
}

fn unreadable(path: &str, span: Span, reason: &str) -> Box<Diagnostic> {
    let title = format!("cannot read `{path}`: {reason}");
    let diagnostic = Diagnostic::error(codes::IMPORT, span, title);
    Box::new(match library::file_named(path) {
        Some(meant) => {
            let edit = Edit { span, replacement: format!("\"{meant}\""), confidence: Confidence::Maybe };
            diagnostic.help_with_edit(format!("the library has `{meant}`"), edit)
        }
        None => diagnostic.help("the path is relative to the folder of this file"),
    })
}
