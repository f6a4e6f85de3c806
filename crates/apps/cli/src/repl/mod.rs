//! `eddy repl`: declarations, expressions, and equations that run cycle by cycle.
//!
//! * [`workspace`]: what was typed so far, and the program that it makes.
//! * [`mod@line`]: the parts that a line can be.
//! * [`editor`]: reads lines, with history and completion on a terminal.

mod editor;
mod line;
mod workspace;

use std::io::IsTerminal as _;

use crate::answers::Answers;
use crate::commands::ReplArgs;
use crate::input;
use crate::report::Form;
use crate::status::Status;
use crate::stop::Stop;
use editor::{Editor, Read};
use line::{Line, parse};
use workspace::Workspace;

const HELP: &str = "\
an expression        evaluates it: sum([1.0, 2.0])
fn f(x) = ...;       declares a function; also node, type, train, import. A node ends at an empty line
x: 1 2 3             gives an input its next cells; `.` is absent, `?` unknown
y = x + 1            an equation; it replaces the one of the same name
:step [N]            runs the next cycle, or N; an empty line runs one
:list                what was declared, the equations and the inputs
:check               types, clocks and look-ahead
:restart             goes back before the first cycle; cells stay
:forget NAME         removes an equation or an input
:clear               forgets everything
:quit                ends, as Ctrl-D does
";

/// `eddy repl`.
pub fn repl(args: &ReplArgs) -> Result<Status, Stop> {
    let form = Form::new(&args.reporting);
    let mut workspace = Workspace::new(form);
    if let Some(file) = &args.file {
        match input::text(file) {
            Ok(text) if workspace.declare(&text) => {}
            Ok(_) => return Ok(Status::Refused),
            Err(why) => {
                form.failure(&file.display().to_string(), &format!("cannot read the file: {why}"));
                return Ok(Status::Refused);
            }
        }
    }
    let is_terminal = std::io::stdin().is_terminal();
    let mut editor = Editor::new(is_terminal);
    let mut answers = Answers::to_stdout();
    if is_terminal {
        answers.write("Eddy: `:help` lists what a line can be\n")?;
        answers.flush_now();
    }
    let mut has_failed = false;
    loop {
        editor.know(workspace.names());
        let text = match editor.read() {
            Read::Line(text) => text,
            Read::Interrupted => continue,
            Read::End => break,
        };
        let answer = match parse(&text) {
            Ok(Line::Quit) => break,
            Ok(Line::Nothing) if !is_terminal => continue,
            Ok(line) => execute(&mut workspace, line),
            Err(why) => {
                form.failure("line", &why);
                None
            }
        };
        match answer {
            Some(answer) => answers.write(&answer)?,
            None => has_failed = true,
        }
        answers.flush_now();
    }
    // A script learns whether all of its lines were right.
    let status = if has_failed && !is_terminal { Status::Refused } else { Status::Answered };
    answers.finish(Status::Answered)?;
    Ok(status)
}

/// The text of the answer; `None` after an error, which was reported.
fn execute(workspace: &mut Workspace, line: Line) -> Option<String> {
    let done = |is_done: bool| is_done.then(String::new);
    match line {
        Line::Nothing => workspace.step(1),
        Line::Step(n) => workspace.step(n),
        Line::Declaration(text) => done(workspace.declare(&text)),
        Line::Cells { input, cells } => done(workspace.give(&input, &cells)),
        Line::Equation { names, text } => done(workspace.define(names, text)),
        Line::Expression(text) => workspace.evaluate(&text),
        Line::List => Some(workspace.list()),
        Line::Check => workspace.check(),
        Line::Restart => {
            workspace.restart();
            Some(String::new())
        }
        Line::Forget(name) => done(workspace.forget(&name)),
        Line::Clear => {
            workspace.clear();
            Some(String::new())
        }
        Line::Help => Some(HELP.to_string()),
        Line::Quit => Some(String::new()),
    }
}
