//! The commands, with their descriptions and examples.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use crate::args::{Lang, Reporting};

/// A command that languages answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    Check,
    Run,
    Trace,
    Ask,
    Enum,
    Opt,
    Intype,
    Gradcheck,
    Compare,
    Test,
    Doc,
    Train,
    Flow,
    Diff,
    Plan,
    Build,
}

/// A command that needs no program in a language, or several.
#[derive(Subcommand)]
pub enum OwnCommand {
    /// Rewrite programs in the one format
    #[command(after_help = "Examples:\n  eddy fmt descent.rd\n  eddy fmt --check *.rd")]
    Fmt(FmtArgs),
    /// Explain the code of a diagnostic, or list all codes
    #[command(after_help = "Examples:\n  eddy explain\n  eddy explain RD005")]
    Explain(ExplainArgs),
    /// Make a folder with a program that trains at once
    #[command(
        after_help = "Example:\n  eddy new forecast && cd forecast && eddy train model.eddy --in data.csv"
    )]
    New(NewArgs),
    /// Evaluate expressions and run equations, cycle by cycle
    #[command(after_help = "Example:\n  eddy repl\n  > x: 1 2 3\n  > s = x + (0.0 fby s)\n  > :step 3")]
    Repl(ReplArgs),
    /// Answer the messages of the benchmark GradBench, on standard input and output
    #[command(after_help = GRADBENCH_EXAMPLE)]
    Gradbench(GradbenchArgs),
    /// Print the script that completes eddy's commands in a shell
    #[command(after_help = COMPLETIONS_EXAMPLE)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Args)]
pub struct FmtArgs {
    /// The programs to rewrite; `-` formats standard input to standard output
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub lang: Lang,
    /// Write nothing; list the files that would change, and exit with 1 if there are any
    #[arg(long)]
    pub check: bool,
    #[command(flatten)]
    pub reporting: Reporting,
}

#[derive(Args)]
pub struct ExplainArgs {
    /// The code, such as RD005; without it, all codes are listed
    pub code: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct NewArgs {
    /// The folder to make
    #[arg(value_hint = ValueHint::DirPath)]
    pub folder: PathBuf,
    #[command(flatten)]
    pub reporting: Reporting,
}

#[derive(Args)]
pub struct ReplArgs {
    /// A program whose declarations are known from the start
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub reporting: Reporting,
}

#[derive(Args)]
pub struct GradbenchArgs {
    /// The folder of the programs, a file MODULE.eddy for each module [default: those that come with eddy]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub programs: Option<PathBuf>,
}

const RUN_EXAMPLES: &str = "\
Examples:
  eddy run descent.rd
  eddy run --engine reference --fuel 1000 descent.rd
  eddy run model.eddy --fn adj_loss --in points.jsonl
  echo 'grad[3](x. x * x)' | eddy run --lang rd -";

const ASK_EXAMPLES: &str = "\
Examples:
  eddy ask walk.cd --point 3
  eddy ask factorial.lam --value '{3 -> 6}' --tables";

const TRAIN_EXAMPLES: &str = "\
Examples:
  eddy train line.eddy --in data.csv
  eddy train line.eddy --in data.csv --validate more.csv --epochs 100 --patience 5
  eddy train line.eddy --in data.csv --epochs 200 --run runs/line-learn --resume
  eddy train iris.eddy --in iris.csv --columns 'x=a..d' --target kind --category kind --normalize x
  eddy train --compare runs/line-learn runs/line-learn-2 --svg curves.svg";

const DIFF_EXAMPLES: &str = "\
Examples:
  eddy diff pipeline.eddy --node app
  eddy diff lstm.eddy --node lstm_end --const units=5 --const sizex=3 --shape x=[3]";

const PLAN_EXAMPLES: &str = "\
Examples:
  eddy plan line.eddy
  eddy plan lstm.eddy --node train --max-window 64
  eddy plan lstm.eddy --node train --svg plan.svg";

const BUILD_EXAMPLES: &str = "\
Examples:
  eddy build filter.eddy --node filter
  eddy build lstm.eddy --node train --f32 --max-window 100 --out firmware/lstm";

const GRADBENCH_EXAMPLE: &str = "\
Example:
  gradbench run --eval 'python3 python/gradbench/gradbench/evals/hello/run.py' --tool 'eddy gradbench'";

const COMPLETIONS_EXAMPLE: &str = "\
Example:
  eddy completions bash > ~/.local/share/bash-completion/completions/eddy";

impl Command {
    /// All commands, in the order of the help.
    pub const ALL: [Command; 16] = [
        Command::Check,
        Command::Run,
        Command::Trace,
        Command::Ask,
        Command::Enum,
        Command::Opt,
        Command::Intype,
        Command::Gradcheck,
        Command::Compare,
        Command::Test,
        Command::Doc,
        Command::Train,
        Command::Flow,
        Command::Diff,
        Command::Plan,
        Command::Build,
    ];

    /// The command's name.
    pub fn name(self) -> &'static str {
        match self {
            Command::Check => "check",
            Command::Run => "run",
            Command::Trace => "trace",
            Command::Ask => "ask",
            Command::Enum => "enum",
            Command::Opt => "opt",
            Command::Intype => "intype",
            Command::Gradcheck => "gradcheck",
            Command::Compare => "compare",
            Command::Test => "test",
            Command::Doc => "doc",
            Command::Train => "train",
            Command::Flow => "flow",
            Command::Diff => "diff",
            Command::Plan => "plan",
            Command::Build => "build",
        }
    }

    /// The description of the command, and examples.
    pub fn help(self) -> (&'static str, &'static str) {
        match self {
            Command::Check => (
                "Check a program and print what it is, such as its type",
                "Example:\n  eddy check descent.rd",
            ),
            Command::Run => ("Run a program and print its value", RUN_EXAMPLES),
            Command::Trace => ("Run a program and print its steps", "Example:\n  eddy trace descent.rd"),
            Command::Ask => ("Ask whether a program has a meaning, and why", ASK_EXAMPLES),
            Command::Enum => {
                ("List the values that a program has, by size", "Example:\n  eddy enum identity.lam --size 3")
            }
            Command::Opt => {
                ("Fold constants and inline functions", "Example:\n  eddy opt twice.lam --depth 4")
            }
            Command::Intype => (
                "Ask whether a value is in the meaning of a program's type",
                "Example:\n  eddy intype identity.sysf --value 'thunk(some({1 -> 1}))'",
            ),
            Command::Gradcheck => (
                "Compare the derivatives of a node or a function with finite differences",
                "Examples:\n  eddy gradcheck cell.eddy --node cell --const units=3 --shape x=[2]\n  eddy gradcheck model.eddy --fn loss --in points.jsonl",
            ),
            Command::Compare => (
                "Run a program under every semantics that understands it, side by side",
                "Example:\n  eddy compare counter.eddy",
            ),
            Command::Test => (
                "Run the test benches of a program that say what they expect",
                "Example:\n  eddy test counter.eddy",
            ),
            Command::Doc => (
                "Write a page about a program: comments, types, clocks and chronograms",
                "Example:\n  eddy doc counter.eddy --out counter.md",
            ),
            Command::Train => ("Learn the parameters of a program from data", TRAIN_EXAMPLES),
            Command::Flow => ("Print the flat equations of a program", "Example:\n  eddy flow counter.eddy"),
            Command::Diff => ("Print the training code of a node as a program", DIFF_EXAMPLES),
            Command::Plan => ("Show how a program will run: loops, windows and kept values", PLAN_EXAMPLES),
            Command::Build => ("Write a node of a program in C", BUILD_EXAMPLES),
        }
    }

    /// Whether the command has the option `--stats`.
    pub fn has_stats(self) -> bool {
        matches!(self, Command::Check | Command::Run | Command::Trace | Command::Ask | Command::Enum)
    }

    /// Whether the answer can go to a file, with `--out`. (`build` has its own `--out`, a folder.)
    pub fn has_output(self) -> bool {
        matches!(self, Command::Run | Command::Trace | Command::Doc)
    }
}
