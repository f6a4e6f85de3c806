//! Finds the test files and makes trials: one for each directive and engine, one for the formatter.

use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use libtest_mimic::{Failed, Trial};

use crate::TestPaths;
use crate::bless::bless;
use crate::case::{Case, Directive};
use crate::outcome::{self, Outcome};
use crate::verdict::{both, judge};

/// The extensions of files next to programs that are not programs.
const COMPANIONS: &[&str] = &["out", "stderr", "md", "csv", "jsonl", "npy", "svg"];

/// Blessing repeats until nothing changes; markers at the end of a file need a second round.
const MAX_ROUNDS: usize = 4;

/// Every program under `tests/LANGUAGE/` and `examples/`, relative to the root, in order.
pub fn find_files(root: &Path) -> Vec<PathBuf> {
    let is_language = |path: &PathBuf| path.is_dir() && !path.ends_with("src");
    let mut folders: Vec<PathBuf> = entries(&root.join("tests")).into_iter().filter(is_language).collect();
    folders.push(root.join("examples"));
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in entries(&folder) {
            if path.is_dir() {
                folders.push(path);
            } else if is_program(&path) {
                files.push(path.strip_prefix(root).expect("it was found under the root").to_owned());
            }
        }
    }
    files.sort();
    files
}

fn is_program(path: &Path) -> bool {
    !path.extension().is_some_and(|extension| COMPANIONS.iter().any(|companion| extension == *companion))
}

pub fn of_file(paths: &TestPaths, file: &Path) -> Vec<Trial> {
    let name = name(file);
    let case = match load(paths, file) {
        Ok(case) => case,
        Err(error) => return vec![Trial::test(name, move || Err(error.into()))],
    };
    let mut trials = Vec::new();
    for directive in &case.directives {
        for engine in engines(directive) {
            let mut name = format!("{name}::{}", directive.command);
            name.extend(directive.options.iter().map(|option| format!(" {option}")));
            name.extend(engine.iter().map(|engine| format!("::{engine}")));
            let (paths, case, directive, file) =
                (paths.clone(), case.clone(), directive.clone(), file.to_owned());
            trials.push(Trial::test(name, move || {
                run_directive(&paths, &case, &directive, engine.as_deref(), &file)
            }));
        }
    }
    let (paths, file) = (paths.clone(), file.to_owned());
    trials.push(Trial::test(format!("fmt::{name}"), move || format(&paths, &case, &file)));
    trials
}

/// Writes the actual outcome into the program and the files next to it.
pub fn bless_file(paths: &TestPaths, file: &Path) {
    let path = paths.root.join(file);
    for _ in 0..MAX_ROUNDS {
        // A file with malformed instructions fails as a trial, with a message; a file that is not UTF-8 is
        // skipped.
        let (Ok(text), Ok(case)) = (fs::read_to_string(&path), load(paths, file)) else { return };
        let outcomes: Vec<Outcome> = case
            .directives
            .iter()
            .map(|directive| outcome::of_directive(paths, directive, engines(directive)[0].as_deref(), file))
            .collect();
        bless_companions(paths, &case, &outcomes, file);
        let blessed = bless(&text, &case, &outcomes, out_file(paths, file).is_some());
        if blessed == text {
            return;
        }
        fs::write(&path, blessed).expect("the test file can be written");
    }
}

fn bless_companions(paths: &TestPaths, case: &Case, outcomes: &[Outcome], file: &Path) {
    let path = paths.root.join(file);
    let pairs = || case.directives.iter().zip(outcomes);
    // An example always has its output in a file; elsewhere an existing file is updated.
    let wants_out_file = is_example(file) || out_file(paths, file).is_some();
    if let Some((_, outcome)) = pairs().find(|(directive, _)| directive.output.is_empty() && wants_out_file)
        && !outcome.stdout.is_empty()
    {
        fs::write(path.with_extension("out"), &outcome.stdout).expect("the expected output can be written");
    }
    if path.with_extension("stderr").exists()
        && let Some(directive) = case.directives.first()
    {
        let stderr = outcome::full_stderr(paths, directive, engines(directive)[0].as_deref(), file);
        fs::write(path.with_extension("stderr"), stderr).expect("the expected messages can be written");
    }
}

/// Executes a directive and compares.
fn run_directive(
    paths: &TestPaths,
    case: &Case,
    directive: &Directive,
    engine: Option<&str>,
    file: &Path,
) -> Result<(), Failed> {
    let outcome = outcome::of_directive(paths, directive, engine, file);
    judge(case, directive, out_file(paths, file).as_deref(), &outcome)?;
    if let Ok(expected) = fs::read_to_string(paths.root.join(file).with_extension("stderr")) {
        let found = outcome::full_stderr(paths, directive, engine, file);
        if found != expected {
            return Err(both("messages", &expected, &found).into());
        }
    }
    Ok(())
}

/// The formatter's trial: formatting is idempotent, keeps the instructions, and changes no outcome.
fn format(paths: &TestPaths, case: &Case, file: &Path) -> Result<(), Failed> {
    let copy = copy_with_imports(paths, file)?;
    let formatted = outcome::of_formatting(paths, &[], &copy);
    if formatted.code != Some(0) {
        return check_refusal_is_marked(case, &formatted);
    }
    if outcome::of_formatting(paths, &["--check"], &copy).code != Some(0) {
        return Err(format!(
            "formatting again changes the text; formatted once it is\n{}",
            fs::read_to_string(&copy)?
        )
        .into());
    }
    let text = fs::read_to_string(&copy)?;
    if instructions(&Case::parse(&text)?) != instructions(case) {
        return Err(format!("formatting lost or changed a comment; the formatted text is\n{text}").into());
    }
    for directive in &case.directives {
        for engine in engines(directive) {
            let before = outcome::of_directive(paths, directive, engine.as_deref(), file);
            let after = outcome::of_directive(paths, directive, engine.as_deref(), &copy);
            if essence(&before) != essence(&after) {
                return Err(format!("the formatted program behaves differently:\n{text}\n{after:#?}").into());
            }
        }
    }
    Ok(())
}

/// Copies a program into its own folder, where it may be rewritten, together with the files that it mentions
/// in quotes, transitively, so that imports resolve in the copy.
fn copy_with_imports(paths: &TestPaths, file: &Path) -> io::Result<PathBuf> {
    let folder = paths.scratch.join(name(file).replace('/', "-"));
    let mut files = vec![file.to_owned()];
    let mut next = 0;
    while let Some(file) = files.get(next).cloned() {
        let bytes = fs::read(paths.root.join(&file))?;
        let copy = folder.join(&file);
        let home = file.parent().expect("a file is in a folder");
        fs::create_dir_all(folder.join(home))?;
        fs::write(copy, &bytes)?;
        for quoted in quoted(&String::from_utf8_lossy(&bytes)) {
            // A path that leads upwards could be written to outside of the scratch folder.
            let is_below = Path::new(quoted).components().all(|part| matches!(part, Component::Normal(_)));
            let other = home.join(quoted);
            if is_below && paths.root.join(&other).is_file() && !files.contains(&other) {
                files.push(other);
            }
        }
        next += 1;
    }
    Ok(folder.join(file))
}

/// The texts in quotes, line by line.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split('"').skip(1).step_by(2))
}

/// A program that does not parse cannot be formatted; then the formatter must report the marked errors.
fn check_refusal_is_marked(case: &Case, formatted: &Outcome) -> Result<(), Failed> {
    let marked = |line, code: &String| case.markers.iter().any(|m| m.line == line && m.code == *code);
    let all_marked = formatted.diagnostics.iter().all(|found| marked(found.line, &found.code));
    if all_marked
        && formatted.code == Some(1)
        && !formatted.diagnostics.is_empty()
        && formatted.noise.is_empty()
    {
        return Ok(());
    }
    Err(format!("the formatter refuses the program:\n{formatted:#?}").into())
}

/// The directives without their line numbers, which formatting may change.
fn instructions(case: &Case) -> Vec<Directive> {
    let written = case.directives.iter().filter(|directive| directive.line.is_some());
    let without_places = |directive: &Directive| Directive {
        line: None,
        output: directive.output.iter().map(|(_, text)| (0, text.clone())).collect(),
        exit: directive.exit.map(|(_, code)| (0, code)),
        ..directive.clone()
    };
    written.map(without_places).collect()
}

fn essence(outcome: &Outcome) -> (Option<i32>, &str, Vec<&str>) {
    (outcome.code, &outcome.stdout, outcome.diagnostics.iter().map(|found| &*found.code).collect())
}

/// Loads the instructions of a file. An example without directives is run.
fn load(paths: &TestPaths, file: &Path) -> Result<Case, String> {
    let text = fs::read(paths.root.join(file)).map_err(|error| error.to_string())?;
    let mut case = Case::parse(&String::from_utf8_lossy(&text))?;
    if case.directives.is_empty() {
        if !is_example(file) {
            return Err("no directive says what to do; write `-- run` or `-- check` in a comment".to_owned());
        }
        case.directives.push(Directive { command: "run".to_owned(), ..Directive::default() });
    }
    Ok(case)
}

fn engines(directive: &Directive) -> Vec<Option<String>> {
    match &*directive.engines {
        [] => vec![None],
        engines => engines.iter().cloned().map(Some).collect(),
    }
}

fn out_file(paths: &TestPaths, file: &Path) -> Option<String> {
    fs::read_to_string(paths.root.join(file).with_extension("out")).ok()
}

fn is_example(file: &Path) -> bool {
    file.starts_with("examples")
}

/// The name of `tests/rd/kink.rd` is `rd/kink`; examples keep their folder.
fn name(file: &Path) -> String {
    file.strip_prefix("tests").unwrap_or(file).with_extension("").display().to_string()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    // A folder that does not exist has no entries: a repository may have no examples yet.
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.map(|entry| entry.expect("the folder can be listed").path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_programs_are_found() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let files = find_files(&root);
        assert!(files.iter().all(|file| file.is_relative() && file.extension().is_some_and(|it| it != "md")));
        assert!(!files.iter().any(|file| file.starts_with("tests/src")));
    }

    #[test]
    fn names_are_paths_without_extension() {
        assert_eq!(name(Path::new("tests/rd/paper/kink.rd")), "rd/paper/kink");
        assert_eq!(name(Path::new("examples/rd/descent.rd")), "examples/rd/descent");
    }

    #[test]
    fn imports_stand_in_quotes() {
        let text = "import f from \"a.eddy\"; import \"b.eddy\";\nnode g(x)->(y) -- an odd \" quote";
        assert_eq!(quoted(text).collect::<Vec<_>>(), ["a.eddy", "b.eddy", " quote"]);
    }

    #[test]
    fn a_file_that_fmt_refuses_must_carry_the_marker() {
        let refusal = |line| {
            let found = outcome::Found {
                line,
                severity: "error".into(),
                code: "RD002".into(),
                message: String::new(),
            };
            Outcome { code: Some(1), diagnostics: vec![found], ..Outcome::default() }
        };
        let case = Case::parse("1 + -- error[RD002]\n-- check").expect("well formed");
        assert!(check_refusal_is_marked(&case, &refusal(1)).is_ok());
        assert!(check_refusal_is_marked(&case, &refusal(2)).is_err());
        assert!(check_refusal_is_marked(&case, &Outcome::default()).is_err());
    }
}
