//! The constants (`n=3`) and shapes (`x=[2]`) that a request gives to the inputs of a node.

use eddy_language::codes;
use eddy_language::elaborate::{Interface, constant_expression, interface, shape, static_defaults};
use eddy_language::parse;
use eddy_language::program::{Callable, Program};
use eddy_language::tree::RowValue;
use eddy_syntax::{Diagnostic, Sources, Span};
use eddy_tensor::{Shape, Static};
use rustc_hash::FxHashMap;

/// Constants and shapes, with their inputs.
#[derive(Clone, Debug)]
pub struct FixedInputs {
    /// The compile-time constants, by the names of their inputs.
    pub constants: FxHashMap<String, Static>,
    /// The defaults of the other inputs: a column that the data lack has this value at every cycle.
    pub defaults: FxHashMap<String, Static>,
    /// The shapes, with the names of their inputs.
    pub shapes: Vec<(String, Shape)>,
    /// The node with these constants.
    pub interface: Interface,
}

impl FixedInputs {
    /// Reads names and expressions; each name must be an input of the node.
    pub fn read(
        program: &Program,
        callable: &Callable,
        sources: &mut Sources,
        constants: &[(String, String)],
        shapes: &[(String, String)],
    ) -> Result<FixedInputs, Vec<Diagnostic>> {
        let span = program.span_of(callable);
        let mut values = FxHashMap::default();
        for (input, text) in constants {
            values.insert(input.clone(), constant(sources, "--const", input, text)?);
        }
        let (mut defaults, node) = (FxHashMap::default(), program.node(program.origin(callable.base)));
        for (name, default) in static_defaults(program, callable, &values)? {
            if node.static_inputs().any(|slot| slot.name == name) {
                values.insert(name, default);
            } else {
                defaults.insert(name, default);
            }
        }
        let sizes = read_shapes(sources, shapes, span)?;
        let interface = interface(program, callable, &values)?;
        let named = constants.iter().map(|(input, _)| ("--const", input));
        for (flag, input) in named.chain(shapes.iter().map(|(input, _)| ("--shape", input))) {
            if !interface.inputs.iter().any(|port| port.name == *input) {
                let name = program.name_of(callable);
                let title = format!("the node `{name}` has no input `{input}` for `{flag}`");
                return Err(vec![Diagnostic::error(codes::DATA, span, title)]);
            }
        }
        Ok(FixedInputs { constants: values, defaults, shapes: sizes, interface })
    }
}

/// Shapes with their names.
pub fn read_shapes(
    sources: &mut Sources,
    shapes: &[(String, String)],
    span: Span,
) -> Result<Vec<(String, Shape)>, Vec<Diagnostic>> {
    let mut sizes = Vec::new();
    for (input, text) in shapes {
        let Some(shape) = shape(&constant(sources, "--shape", input, text)?) else {
            let title = format!("a shape is a compile-time list of sizes, such as `[2,3]`, not `{text}`");
            return Err(vec![Diagnostic::error(codes::COMPILE_TIME, span, title)]);
        };
        sizes.push((input.clone(), shape));
    }
    Ok(sizes)
}

/// A compile-time constant that a request gives to an input.
fn constant(sources: &mut Sources, flag: &str, input: &str, text: &str) -> Result<Static, Vec<Diagnostic>> {
    // The parser accepts only whole programs, so the value is parsed as part of one. The value is on a
    // separate line: messages show only that line.
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
