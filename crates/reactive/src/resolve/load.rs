//! The files of a program: the prelude, the main file, and all that is imported, directly or not.

use eddy_syntax::{Diagnostic, SourceFile, Sources, Span};

use super::PRELUDE;
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
}

/// Reads all files; the prelude is number 0, the main file number 1.
pub(super) fn load(sources: &mut Sources, diagnostics: &mut Vec<Diagnostic>) -> Vec<File> {
    let prelude = sources.add("prelude.eddy", PRELUDE).map(read);
    let prelude = prelude.expect("the prelude fits beside any file");
    let main = read(sources.main());
    // The offset where each file starts says which it is.
    let mut bases = vec![None, Some(sources.main().base())];
    let mut files = vec![prelude, main];
    let mut next = 0;
    while next < files.len() {
        diagnostics.append(&mut files[next].1);
        for index in 0..files[next].0.tree.imports.len() {
            let import = &files[next].0.tree.imports[index];
            let (path, span) = (import.path.clone(), import.path_span);
            let number = match sources.import(&path, span) {
                Err(reason) => {
                    diagnostics.push(unreadable(&path, span, &reason));
                    0
                }
                Ok(file) => match bases.iter().position(|base| *base == Some(file.base())) {
                    Some(number) => number,
                    None => {
                        bases.push(Some(file.base()));
                        files.push(read(file));
                        files.len() - 1
                    }
                },
            };
            files[next].0.imports.push(number);
        }
        next += 1;
    }
    files.into_iter().map(|(file, _)| file).collect()
}

fn read(file: &SourceFile) -> (File, Vec<Diagnostic>) {
    let Parsed { program, names, diagnostics, .. } = parse(file);
    (File { names, tree: program, imports: Vec::new() }, diagnostics)
}

fn unreadable(path: &str, span: Span, reason: &str) -> Diagnostic {
    Diagnostic::error(codes::IMPORT, span, format!("cannot read `{path}`: {reason}"))
        .help("the path is seen from the folder of this file")
}
