//! Writes a node as C.

use eddy_compile::emit::{self, Constants, emit};
use eddy_compile::package::package;
use eddy_compile::{Precision, emit::NotCompiled};
use eddy_flow::Flow;
use eddy_language::check::without_repetitions;
use eddy_language::codes;
use eddy_language::prepare::Checks;
use eddy_plan::{Kinds, plan};
use eddy_syntax::{Diagnostic, Sources, Span};

use crate::checkpoints;
use crate::model::Model;
use crate::planning::recompute;
use crate::precision::check_single;
use crate::refusal::Refusal;

/// The default for the number of cycles of a window.
const MAX_WINDOW: usize = 64;

/// The default for the number of bytes that functions may use at once.
const ARENA: usize = 1 << 20;

/// How C is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuildRequest {
    /// The seed of random initialisers.
    pub seed: u64,
    /// The precision of numbers; `None` means double.
    pub precision: Option<Precision>,
    /// Recompute the values of loops instead of keeping them.
    pub checkpoints: bool,
    /// Keep values that are expensive to recompute.
    pub keep: bool,
    /// The largest number of cycles of a window.
    pub max_window: Option<usize>,
    /// How many bytes functions may use at once.
    pub arena: Option<usize>,
}

/// A program in another language.
#[derive(Clone, Debug)]
pub struct Built {
    /// The node's name.
    pub node: String,
    /// Its files.
    pub files: Vec<File>,
    /// Its size, in words.
    pub report: String,
    /// Warnings and remarks.
    pub warnings: Vec<Diagnostic>,
}

/// A file of a program in another language.
#[derive(Clone, Debug)]
pub struct File {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Whether users edit the file; then it is written only once.
    pub is_edited: bool,
}

impl Model {
    /// The node as C files, which the application stores where it likes.
    pub fn build_c(&self, request: &BuildRequest) -> Result<Built, Refusal> {
        self.build(request).map_err(|found| Refusal::new(without_repetitions(found), self.sources()))
    }

    fn build(&self, request: &BuildRequest) -> Result<Built, Vec<Diagnostic>> {
        let mut prepared = self.prepare_given(&self.given(), Checks::On)?;
        let (name, span, sources) = (self.name(), self.span(), self.sources());
        let BuildRequest { seed, precision, .. } = *request;
        let precision = precision.unwrap_or(Precision::Double);
        let flow = &prepared.flow;
        if precision == Precision::Single {
            check_single(flow)?;
        }
        let planning = eddy_plan::Options {
            seed,
            single: precision == Precision::Single,
            checkpoints: request.checkpoints,
            kinds: Kinds::Bounded,
            recompute: recompute(request.keep),
            ..eddy_plan::Options::default()
        };
        let plan = plan(flow, &prepared.clocks, &planning);
        let emission = emit::Options {
            name: name.clone(),
            precision,
            max_window: request.max_window.unwrap_or(MAX_WINDOW),
            constants: Constants::InText,
            opens: true,
            places: places(flow, sources),
            pieces: emit::Pieces::USUAL,
            arena: request.arena.unwrap_or(ARENA),
        };
        let source = emit::EmitInput { flow, clocks: &prepared.clocks, plan: &plan, seed };
        let emitted = emit(&source, &emission).map_err(|why| vec![no_c(&why, &name, span)])?;
        let warning = checkpoints::warning(flow, &plan, &name, span);
        let about = format!("the node `{name}` of {}", base_name(sources.main().name()));
        let (files, report) = package(&emitted, &about);
        let files = files.into_iter().map(|file| File {
            name: file.name,
            text: file.text,
            is_edited: file.is_edited,
        });
        prepared.warnings.extend(warning);
        Ok(Built { node: emitted.name, files: files.collect(), report, warnings: prepared.warnings })
    }
}

fn no_c(why: &NotCompiled, name: &str, span: Span) -> Diagnostic {
    let title = format!("the node `{name}` cannot be written in C");
    let diagnostic = Diagnostic::error(codes::NO_C, span, title).reason(why.to_string());
    match why {
        NotCompiled::EventDriven | NotCompiled::Unknown(_) | NotCompiled::Fails(_) => {
            diagnostic.help(format!("`eddy plan FILE --node {name} --stream` shows how it runs"))
        }
        NotCompiled::SeveralRoots(..) => diagnostic.help("make them outputs of two nodes, and build each"),
        NotCompiled::Nothing | NotCompiled::Calls(_) | NotCompiled::InternalError(_) => diagnostic,
    }
}

/// The source position of each equation.
fn places(flow: &Flow, sources: &Sources) -> Vec<String> {
    let place = |span: Span| {
        let file = sources.file(span);
        format!("{}:{}", base_name(file.name()), file.position(span.start).line)
    };
    flow.equations.iter().map(|equation| place(equation.span)).collect()
}

/// The name of a file without its folder.
fn base_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
