//! `eddy build`: a node as C.

use eddy_compile::emit::{self, Constants, emit};
use eddy_compile::package::package;
use eddy_compile::{Precision, emit::NotCompiled};
use eddy_language::{Built, Options};
use eddy_plan::{Kinds, plan};
use eddy_syntax::{Diagnostic, Sources, Span};

use crate::checkpoints;
use crate::codes;
use crate::command_line::{Told, shape_hints};
use crate::draft::Draft;
use crate::elaborate::Given;
use crate::flow::Flow;
use crate::parameters;
use crate::planning::recompute;
use crate::prepare::{Checks, prepare};
use crate::program::{Callable, Program};

/// Windows may have so many cycles, if nothing else is said.
const MAX_WINDOW: usize = 64;

/// The files of a node in C.
pub fn build(
    program: &Program,
    node: &Callable,
    sources: &mut Sources,
    options: &Options,
) -> Result<Built, Vec<Diagnostic>> {
    let Told { constants, shapes, .. } =
        Told::read(program, node, sources, &options.constants, &options.shapes)?;
    let given = Given { constants, batch: options.batch, ..Given::default() };
    let mut prepared =
        prepare(program, node, &given, |draft: &Draft| shape_hints(draft, &shapes), Checks::On)?;
    let (name, span) = (program.name_of(node), program.span_of(node));
    if let Some((file, values)) = &options.parameters {
        parameters::give(&mut prepared.flow, values, file, span)?;
    }
    let seed = options.seed.unwrap_or(0);
    let flow = &prepared.flow;
    let planning = eddy_plan::Options {
        seed,
        single: options.single,
        checkpoints: options.checkpoints,
        kinds: Kinds::Bounded,
        recompute: recompute(options),
        ..eddy_plan::Options::default()
    };
    let plan = plan(flow, &prepared.clocks, &planning);
    let emission = emit::Options {
        name: name.clone(),
        precision: if options.single { Precision::Single } else { Precision::Double },
        max_window: options.max_window.unwrap_or(MAX_WINDOW),
        constants: Constants::InText,
        opens: true,
        places: places(flow, sources),
        pieces: emit::Pieces::USUAL,
    };
    let source = emit::Source { flow, clocks: &prepared.clocks, plan: &plan, seed };
    let emitted = emit(&source, &emission).map_err(|why| {
        let title = format!("the node `{name}` cannot be written in C");
        let diagnostic = Diagnostic::error(codes::NO_C, span, title).reason(why.to_string());
        vec![match why {
            NotCompiled::EventDriven | NotCompiled::Unknown(_) | NotCompiled::Fails(_) => {
                diagnostic.help(format!("`eddy plan FILE --node {name} --stream` shows how it runs"))
            }
            NotCompiled::SeveralRoots(..) => {
                diagnostic.help("make them outputs of two nodes, and build each")
            }
            NotCompiled::Nothing => diagnostic,
        }]
    })?;
    let warning = checkpoints::warning(flow, &plan, &name, span);
    let about = format!("the node `{name}` of {}", base_name(sources.main().name()));
    let (files, report) = package(&emitted, &about);
    let files = files.into_iter().map(|file| eddy_language::File {
        name: file.name,
        text: file.text,
        is_edited: file.is_edited,
    });
    prepared.warnings.extend(warning);
    Ok(Built { node: emitted.name, files: files.collect(), report, warnings: prepared.warnings })
}

/// Where each equation stands.
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
