//! A folder that reproduces a difference between two engines.
//!
//! It contains the program, the data of the compared cycles, the C text, and a file `README.txt` with the
//! command. It is created under a temporary name and then renamed, so that it is complete or absent. Its name
//! contains a hash of its contents: the same difference, found again, gives the same folder.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

use eddy_driver::disagreement::{Disagreement, Reproduction};
use eddy_syntax::Sources;

use crate::replacement::folder_of;
use crate::report::Form;
use crate::stop::reason;

/// Reports a difference, and the folder that reproduces it.
pub fn report(form: Form, sources: &Sources, folder: &Path, found: Disagreement) {
    let files = files(&found.reproduction);
    let place = folder.join(name(&found.reproduction.node, &files));
    let help = match write(&place, &files) {
        Ok(()) => format!("the folder `{}` shows it again, see its README.txt", place.display()),
        Err(error) => {
            let (place, reason) = (place.display(), reason(&error));
            format!("the folder `{place}`, which would show it again, cannot be written: {reason}")
        }
    };
    let help = format!("{help}; another C compiler may be right, such as `CC=clang`");
    form.diagnostics(sources, &[found.warning.help(help)]);
}

/// The files: paths in the folder, and contents.
fn files(reproduction: &Reproduction) -> Vec<(PathBuf, Vec<u8>)> {
    let named = reproduction.programs.iter().map(|(name, _)| normal(name));
    let paths = below_one_folder(&named.collect::<Vec<_>>());
    let program = Path::new("program");
    let main = paths.first().map(|main| program.join(main)).unwrap_or_default();
    let readme = readme(reproduction, &main);
    let texts = reproduction.programs.iter().map(|(_, text)| text.as_bytes().to_vec());
    let mut files = vec![(PathBuf::from("README.txt"), readme.into_bytes())];
    files.extend(paths.iter().map(|path| program.join(path)).zip(texts));
    files.extend(reproduction.files.iter().map(|(name, bytes)| (PathBuf::from(name), bytes.clone())));
    files
}

fn readme(reproduction: &Reproduction, main: &Path) -> String {
    let Reproduction { notes, environment, command, .. } = reproduction;
    let variables = environment.iter().map(|(name, value)| format!("{name}={}", quoted(&absolute(value))));
    let (first, rest) = command.split_first().map_or(("", command.as_slice()), |(first, rest)| (first, rest));
    let words = ["eddy".to_string(), first.to_string(), quoted(&main.display().to_string())];
    let words = words.into_iter().chain(rest.iter().map(|word| quoted(word)));
    let line: Vec<String> = variables.chain(words).collect();
    format!(
        "{notes}\nTo see it again, in this folder:\n\n    {}\n\nThe same with the other engine: `--engine simulate`. The C text is in `c`. `program` is the program, and \
         what else is here are its data, as far as both engines ran them.\n",
        line.join(" ")
    )
}

/// The command for the program, as typed in another folder.
fn absolute(command: &str) -> String {
    let (program, arguments) = command.split_at(command.find(' ').unwrap_or(command.len()));
    match std::path::absolute(program) {
        Ok(path) if program.contains('/') => format!("{}{arguments}", path.display()),
        _ => command.to_string(),
    }
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./=,+:".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_string()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn name(node: &str, files: &[(PathBuf, Vec<u8>)]) -> String {
    let mut hasher = blake3::Hasher::new();
    for (path, bytes) in files {
        hasher.update(path.as_os_str().as_encoded_bytes()).update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    }
    let hash = hasher.finalize().to_hex();
    let node: String = node.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(40).collect();
    format!("eddy-disagreement-{node}-{}", &hash[..8])
}

/// The absolute path of a file of the program.
fn normal(name: &str) -> PathBuf {
    let named = if name == "<stdin>" { "program.eddy" } else { name };
    let path = std::path::absolute(named).unwrap_or_else(|_| PathBuf::from(named));
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(part) => normal.push(part),
            Component::ParentDir => {
                normal.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    normal
}

/// The same paths, relative to the nearest folder that contains all of them.
fn below_one_folder(paths: &[PathBuf]) -> Vec<PathBuf> {
    let Some(mut folder) = paths.first().and_then(|first| first.parent()) else { return paths.to_vec() };
    while !paths.iter().all(|path| path.starts_with(folder)) {
        folder = folder.parent().unwrap_or(Path::new(""));
    }
    let below = |path: &PathBuf| path.strip_prefix(folder).map_or_else(|_| path.clone(), Path::to_path_buf);
    paths.iter().map(below).collect()
}

fn write(place: &Path, files: &[(PathBuf, Vec<u8>)]) -> io::Result<()> {
    let is_there = || place.join("README.txt").is_file();
    if is_there() {
        return Ok(());
    }
    match write_in_one_step(place, files) {
        // Another process created it first, with the same contents.
        Err(_) if is_there() => Ok(()),
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Err(ErrorKind::AlreadyExists.into()),
        written => written,
    }
}

fn write_in_one_step(place: &Path, files: &[(PathBuf, Vec<u8>)]) -> io::Result<()> {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let temporary =
        tempfile::Builder::new().prefix(&format!(".{name}.eddy-")).tempdir_in(folder_of(place))?;
    files.iter().try_for_each(|(path, bytes)| put(&temporary.path().join(path), bytes))?;
    fs::rename(temporary.path(), place)
}

fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_keep_their_place_beside_the_program() {
        let paths = ["a/b/main.eddy", "a/lib/x.eddy", "a/b/y.eddy"].map(PathBuf::from);
        assert_eq!(below_one_folder(&paths), ["b/main.eddy", "lib/x.eddy", "b/y.eddy"].map(PathBuf::from));
        assert_eq!(below_one_folder(&paths[..1]), [PathBuf::from("main.eddy")]);
    }

    #[test]
    fn a_word_is_quoted_where_a_shell_would_read_more_than_one() {
        assert_eq!(quoted("--in"), "--in");
        assert_eq!(quoted("gcc -m64"), "'gcc -m64'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
