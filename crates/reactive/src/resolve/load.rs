//! The files of a program: the prelude, the main file, and all that is imported, directly or not.

use std::collections::BTreeMap;

use eddy_syntax::{Diagnostic, SourceFile, Sources, Span};

use super::library;
use crate::codes;
use crate::names::Names;
use crate::parse::{Parsed, parse};
use crate::tree;

/// A file that was read.
pub(super) struct File {
    pub names: Names,
    pub tree: tree::Program,
    /// The file that each import of it names.
    pub imports: Vec<usize>,
    /// Whether it came with the binary.
    pub is_library: bool,
}

/// Reads all files; the prelude is number 0, the main file number 1.
pub(super) fn load(sources: &mut Sources, diagnostics: &mut Vec<Diagnostic>) -> Vec<File> {
    let prelude = sources.add("prelude.eddy", library::PRELUDE).map(|file| read(file, true));
    let prelude = prelude.expect("the prelude fits beside any file");
    let main = read(sources.main(), false);
    let mut loader = Loader {
        bases: vec![None, Some(sources.main().base())],
        library: BTreeMap::new(),
        files: vec![prelude, main],
    };
    let mut next = 0;
    while next < loader.files.len() {
        diagnostics.append(&mut loader.files[next].1);
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
    loader.files.into_iter().map(|(file, _)| file).collect()
}

/// The files that were read so far.
struct Loader {
    files: Vec<(File, Vec<Diagnostic>)>,
    /// The offset where each file starts, which says which it is.
    bases: Vec<Option<u32>>,
    /// The files of the library, by their paths.
    library: BTreeMap<String, usize>,
}

impl Loader {
    /// The number of the file that an import names.
    fn import(&mut self, path: &str, span: Span, sources: &mut Sources) -> Result<usize, Box<Diagnostic>> {
        if library::is_library(path) {
            return self.import_library(path, span, sources);
        }
        let file = sources.import(path, span).map_err(|reason| unreadable(path, span, &reason))?;
        let known = self.bases.iter().position(|base| *base == Some(file.base()));
        Ok(known.unwrap_or_else(|| self.add(file, false)))
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
        let text = library::text(path).ok_or_else(|| Box::new(library::not_there(path, span)))?;
        let file = sources.add(path, text).map_err(|reason| unreadable(path, span, &reason))?;
        let number = self.add(file, true);
        self.library.insert(path.to_string(), number);
        Ok(number)
    }

    fn add(&mut self, file: &SourceFile, is_library: bool) -> usize {
        self.bases.push(Some(file.base()));
        self.files.push(read(file, is_library));
        self.files.len() - 1
    }
}

fn read(file: &SourceFile, is_library: bool) -> (File, Vec<Diagnostic>) {
    let Parsed { program, names, diagnostics, .. } = parse(file);
    (File { names, tree: program, imports: Vec::new(), is_library }, diagnostics)
}

fn unreadable(path: &str, span: Span, reason: &str) -> Box<Diagnostic> {
    let title = format!("cannot read `{path}`: {reason}");
    Box::new(
        Diagnostic::error(codes::IMPORT, span, title).help("the path is seen from the folder of this file"),
    )
}
