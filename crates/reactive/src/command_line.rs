//! What the command line says about the inputs of a node: `--const n=3` and `--shape x=[2]`.

use eddy_syntax::{Diagnostic, Sources};
use eddy_tensor::{Shape, Static};
use rustc_hash::FxHashMap;

use crate::codes;
use crate::draft::Draft;
use crate::elaborate::{Interface, interface};
use crate::infer::{Hint, Hints};
use crate::parse;
use crate::program::{Callable, Program};
use crate::static_value::{constant_expression, shape};
use crate::tree::RowValue;

/// What was said, and the inputs that it is about.
pub struct Told {
    /// The compile-time constants, by the names of their inputs.
    pub constants: FxHashMap<String, Static>,
    /// The shapes, with the names of their inputs.
    pub shapes: Vec<(String, Shape)>,
    /// The node with these constants.
    pub interface: Interface,
}

impl Told {
    /// Reads names and expressions; each must be about an input of the node.
    pub fn read(
        program: &Program,
        callable: &Callable,
        sources: &mut Sources,
        constants: &[(String, String)],
        shapes: &[(String, String)],
    ) -> Result<Told, Vec<Diagnostic>> {
        let span = program.span_of(callable);
        let mut values = FxHashMap::default();
        for (input, text) in constants {
            values.insert(input.clone(), constant(sources, "--const", input, text)?);
        }
        let mut sizes = Vec::new();
        for (input, text) in shapes {
            let Some(shape) = shape(&constant(sources, "--shape", input, text)?) else {
                let title = format!("a shape is a compile-time list of sizes, such as `[2,3]`, not `{text}`");
                return Err(vec![Diagnostic::error(codes::COMPILE_TIME, span, title)]);
            };
            sizes.push((input.clone(), shape));
        }
        let interface = interface(program, callable, &values)?;
        let named = constants.iter().map(|(input, _)| ("--const", input));
        for (flag, input) in named.chain(shapes.iter().map(|(input, _)| ("--shape", input))) {
            if !interface.inputs.iter().any(|port| port.name == *input) {
                let name = program.name_of(callable);
                let title = format!("the node `{name}` has no input `{input}` for `{flag}`");
                return Err(vec![Diagnostic::error(codes::DATA, span, title)]);
            }
        }
        Ok(Told { constants: values, shapes: sizes, interface })
    }
}

/// Shapes by the names of inputs, as inference takes them.
pub fn shape_hints(draft: &Draft, shapes: &[(String, Shape)]) -> Hints {
    let mut hints = Hints::default();
    for input in &draft.inputs {
        let var = &draft.vars[input.index()];
        let given = shapes.iter().find(|(name, _)| var.name.as_deref() == Some(name));
        let hint = |shape: &Shape| Hint { input: *input, says: shape.clone(), span: var.span };
        hints.shapes.extend(given.map(|(_, shape)| hint(shape)));
    }
    hints
}

/// A compile-time constant that the command line gives to an input.
fn constant(sources: &mut Sources, flag: &str, input: &str, text: &str) -> Result<Static, Vec<Diagnostic>> {
    // The parser knows whole programs, so the value is read as part of one.
    // The value is on a line of its own, the one that a message shows.
    let program = format!("run f {{ {input} =\n{text}\n; }}");
    let file = sources.add_excerpt(&format!("{flag} {input}"), &program, 0).expect("a constant is short");
    let parsed = parse::parse(file);
    if !parsed.diagnostics.is_empty() {
        return Err(parsed.diagnostics);
    }
    let run = parsed.program.runs().next().expect("one run was written");
    match &run.rows[0].value {
        RowValue::Constant(expr) => {
            constant_expression(&parsed.program.exprs, *expr).map_err(|diagnostic| vec![*diagnostic])
        }
        RowValue::Cells(_) => unreachable!("a constant was written"),
    }
}
