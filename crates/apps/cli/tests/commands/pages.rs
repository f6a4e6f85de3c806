//! The pages of `eddy explain`: each wrong program is refused with the page's code, each right one is
//! accepted.
//!
//! A page is a file `docs/errors/CODE.md`. Each block with a program names the language, the expected
//! outcome, and the command if that is not `check`:
//!
//! ~~~text
//! ```rd,wrong,run --engine transform
//! letrec[3] f(n:real):real = n in grad[1](f)
//! ```
//! ~~~
//!
//! A page about data has them in a block such as `csv,data`; the programs below read them. A block
//! `sh,compiler` is the C compiler of the wrong programs below it. A program with only a warning is accepted,
//! with that warning.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

#[test]
fn the_programs_of_every_page_have_the_stated_outcome() {
    let complaint = |(code, text): &(String, String)| Some(format!("{code}: {}", check(code, text).err()?));
    let complaints: Vec<String> = pages().iter().filter_map(complaint).collect();
    assert!(complaints.is_empty(), "docs/errors:\n{}", complaints.join("\n"));
}

#[test]
fn every_code_has_a_page_and_every_page_is_explained() {
    let list = stdout(&eddy(&["explain"], ""));
    let explained: BTreeSet<&str> =
        list.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    let written = pages();
    assert_eq!(explained, written.iter().map(|(code, _)| &**code).collect());
    for (code, text) in &written {
        assert_eq!(stdout(&eddy(&["explain", code], "")).trim_end(), text.trim_end());
    }
}

fn check(code: &str, page: &str) -> Result<(), String> {
    let programs = programs(page);
    for kind in ["wrong", "right"] {
        if !programs.iter().any(|program| program.kind == kind) {
            return Err(format!("no block shows a {kind} program"));
        }
    }
    let mut data: Option<String> = None;
    let mut compiler: Option<String> = None;
    for Program { language, kind, command, text } in programs {
        if kind == "data" {
            data = Some(data_file(code, language, &text));
            continue;
        }
        if kind == "compiler" {
            compiler = Some(data_file(code, language, &text));
            continue;
        }
        let mut arguments: Vec<&str> = command.split_whitespace().collect();
        arguments.extend(["--short", "--lang", language, "-"]);
        arguments.extend(data.iter().flat_map(|data| ["--in", data]));
        let output = match &compiler {
            Some(compiler) if kind == "wrong" => compiled_by(compiler, &arguments, &text),
            _ => eddy(&arguments, &text),
        };
        let status = output.status.code();
        // Progress is not a message about the program.
        let is_message = |line: &&str| ["error", "warning"].iter().any(|word| line.contains(word));
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        let messages: String = message.lines().filter(is_message).flat_map(|line| [line, "\n"]).collect();
        let as_said = match kind {
            "wrong" => {
                let all_say =
                    |mark: &str| !messages.is_empty() && messages.lines().all(|line| line.contains(mark));
                // Refused, or without a value and with a message that gives the reason.
                let is_refused = matches!(status, Some(1 | 3)) && output.stdout.is_empty();
                (is_refused && all_say(&format!(": error[{code}]: ")))
                    || (status == Some(0) && all_say(&format!(": warning[{code}]: ")))
            }
            // A right program may have no value when it is run; it is still accepted.
            "right" => matches!(status, Some(0 | 3)) && messages.is_empty(),
            _ => return Err(format!("a program is `wrong` or `right`, not `{kind}`")),
        };
        if !as_said {
            return Err(format!("a {kind} program gives the exit code {status:?} and\n{messages}\n{text}"));
        }
    }
    Ok(())
}

/// Writes a file with the data of a page.
fn data_file(code: &str, extension: &str, text: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(format!("{code}.{extension}"));
    fs::write(&path, text).expect("the folder for tests can be written");
    path.display().to_string()
}

struct Program<'a> {
    language: &'a str,
    kind: &'a str,
    command: &'a str,
    text: String,
}

/// The blocks with two or three words after the fence; other blocks are ordinary text.
fn programs(page: &str) -> Vec<Program<'_>> {
    let mut programs = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
        let text = block.join("\n") + "\n";
        let mut info = info.splitn(3, ',').map(str::trim);
        if let (Some(language), Some(kind)) = (info.next(), info.next()) {
            programs.push(Program { language, kind, command: info.next().unwrap_or("check"), text });
        }
    }
    programs
}

/// The folder of the pages; paths in their commands are relative to it.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/errors")
}

fn pages() -> Vec<(String, String)> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder())
        .expect("the error pages are in docs/errors")
        .map(|entry| entry.expect("the folder can be listed").path())
        .collect();
    paths.sort();
    let code = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    paths.iter().map(|path| (code(path), fs::read_to_string(path).expect("a page is text"))).collect()
}

fn eddy(arguments: &[&str], input: &str) -> Output {
    call(Command::new(env!("CARGO_BIN_EXE_eddy")).args(arguments).current_dir(folder()), input)
}

/// Calls `eddy` with a shell script as C compiler, in a writable folder.
fn compiled_by(script: &str, arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_eddy"));
    command.args(arguments).current_dir(env!("CARGO_TARGET_TMPDIR"));
    call(command.env("CC", format!("sh {script}")).env("EDDY_CACHE_SIZE", "0"), input)
}

fn call(command: &mut Command, input: &str) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("eddy can be started: cargo has just built it");
    // With a wrong command line, the input is never read; the message is checked in any case.
    let _ = child.stdin.take().expect("the input is piped").write_all(input.as_bytes());
    child.wait_with_output().expect("eddy ends")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A page about an unbound variable with these two programs.
fn sample(wrong: &str, right: &str) -> String {
    let prose = "# RD003\n\n```text\nno program\n```\n";
    format!("{prose}\n```rd,wrong\n{wrong}\n```\n\n```rd,right,run --fuel 10\n{right}\n```\n")
}

#[test]
fn a_good_page_passes() {
    assert_eq!(check("RD003", &sample("yy", "1")), Ok(()));
}

#[test]
fn a_page_with_a_wrong_program_in_the_wrong_place_fails() {
    assert!(check("RD003", &sample("1", "1")).is_err());
    assert!(check("RD003", &sample("yy", "yy")).is_err());
    assert!(check("RD004", &sample("yy", "1")).is_err());
    assert!(check("RD003", "# RD003\n").is_err());
    assert!(check("RD003", &sample("yy", "1").replace("rd,wrong", "rd,worng")).is_err());
}
