//! Types and shapes (section 3): what each stream carries, found from the inputs, the operations and what is written.
//!
//! Nodes are inlined before, so inference is over one list of equations and needs no polymorphism: each instance has its own
//! streams.
//!
//! * [`scalars`]: `num`, `int` or `bool`, by unification.
//! * [`shapes`]: sizes, by propagation; [`least`]: the smallest ones, where that does not tell.
//! * [`feasible`]: operations that fit no shape.
//! * [`classes`]: streams that are known to be alike.
//! * [`type_errors`] and [`shape_errors`]: what is said when it fails.

mod classes;
mod feasible;
mod least;
mod scalars;
mod shape_errors;
mod shapes;
mod type_errors;

use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Scalar, Shape, Type};

use crate::codes;
use crate::draft::Draft;
use crate::flow::{Flow, Kind, Labels, Named, Var, VarId, in_instances};
pub use feasible::Sizes;

/// What data say about inputs that have no written type.
#[derive(Clone, Debug, Default)]
pub struct Hints {
    /// Inputs whose first value is a truth value, or a tensor of them.
    pub scalars: Vec<Hint<Scalar>>,
    /// The shapes of the first values.
    pub shapes: Vec<Hint<Shape>>,
}

/// What data say about one input.
#[derive(Clone, Debug)]
pub struct Hint<T> {
    /// The input.
    pub input: VarId,
    /// What is said.
    pub says: T,
    /// Where the data are, if they stand in the program, else where the input is declared.
    pub span: Span,
}

/// Why a program has no types.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What is wrong.
    pub diagnostics: Vec<Diagnostic>,
    /// The inputs whose shapes were not known when something was assumed, and then something went wrong. With other shapes
    /// the program may be right.
    pub defaulted: Vec<VarId>,
}

impl From<Vec<Diagnostic>> for Failure {
    fn from(diagnostics: Vec<Diagnostic>) -> Failure {
        Failure { diagnostics, defaulted: Vec::new() }
    }
}

/// The scalar type of each stream, without shapes.
pub fn scalars_of(draft: &Draft) -> Result<Vec<Scalar>, Vec<Diagnostic>> {
    let labels = Labels::new(draft.vars.iter().map(|var| var.name.as_deref()), &draft.equations);
    scalars::infer(draft, &Hints::default(), &labels)
}

/// The inputs of which the program does not say what they are, so that data decide it: whether they carry truth values, or
/// which shape they have. Nothing if the program is wrong whatever they are.
pub fn open_inputs(draft: &Draft, hints: &Hints) -> Vec<VarId> {
    let names = draft.vars.iter().map(|var| var.name.as_deref());
    let labels = Labels::new(names, &draft.equations);
    let (types, shapes) =
        (scalars::open_inputs(draft, hints, &labels), shapes::open_inputs(draft, hints, &labels));
    draft.inputs.iter().copied().filter(|input| types.contains(input) || shapes.contains(input)).collect()
}

/// Finds the types of all streams.
pub fn infer(draft: Draft, hints: &Hints) -> Result<Flow, Failure> {
    let names = draft.vars.iter().map(|var| var.name.as_deref());
    let labels = Labels::new(names, &draft.equations).with_points();
    let scalars = scalars::infer(&draft, hints, &labels)?;
    let shapes = shapes::infer(&draft, hints, &labels)?;
    Ok(flow_of(draft, scalars, shapes))
}

/// The equations with their scalar types, and all shapes as if they were scalars: for what does not depend on shapes.
pub fn with_open_sizes(draft: Draft) -> Result<Flow, Vec<Diagnostic>> {
    let scalars = scalars_of(&draft)?;
    let shapes = vec![Shape::scalar(); draft.vars.len()];
    Ok(flow_of(draft, scalars, shapes))
}

/// What is said about an operation that fits no shape of what is not known.
pub fn never_fits(draft: &Draft, sizes: Sizes) -> Option<Box<Diagnostic>> {
    let names = draft.vars.iter().map(|var| var.name.as_deref());
    let labels = Labels::new(names, &draft.equations).with_points();
    let misfit = feasible::misfit(draft, &labels, sizes)?;
    let equation = &draft.equations[misfit.equation];
    // With open sizes, constants in the text of the operation may be made up.
    let operation = match (&equation.kind, sizes) {
        (Kind::Apply(op, _), Sizes::Open) => op.name().to_string(),
        _ => labels.definition(equation.out),
    };
    let unknown: Vec<String> = misfit.unknown.iter().map(|var| format!("`{}`", labels.label(*var))).collect();
    let whatever = match (unknown.is_empty(), sizes) {
        (false, _) => format!("whatever the shape of {} is", unknown.join(" and ")),
        (true, _) => "whatever the sizes are".to_string(),
    };
    let title = format!("`{operation}` has no shape, {whatever}");
    let mut diagnostic = Diagnostic::error(codes::SHAPE, equation.span, title);
    let known = misfit.known.iter().map(|(var, shape)| {
        let subject = match (&draft.vars[var.index()].name, sizes) {
            (None, Sizes::Open) => "an operand".to_string(),
            _ => format!("`{}`", labels.label(*var)),
        };
        match (sizes, shape.len()) {
            (Sizes::Known, _) => format!("{subject} has shape {shape}"),
            (Sizes::Open, 0) => format!("{subject} is a single number"),
            (Sizes::Open, 1) => format!("{subject} has 1 axis"),
            (Sizes::Open, n) => format!("{subject} has {n} axes"),
        }
    });
    diagnostic = diagnostic.reason(known.collect::<Vec<_>>().join(", "));
    Some(Box::new(in_instances(&draft.calls, equation.call, diagnostic)))
}

fn flow_of(draft: Draft, scalars: Vec<Scalar>, shapes: Vec<Shape>) -> Flow {
    let vars = draft
        .vars
        .into_iter()
        .zip(scalars.into_iter().zip(shapes))
        .map(|(var, (scalar, shape))| Var {
            name: var.name,
            span: var.span,
            ty: Type { scalar, shape },
            purpose: None,
        })
        .collect();
    let Draft { equations, inputs, outputs, clocks, parameters, mut learnt, memory, calls, aliases, .. } =
        draft;
    let mut saved: Vec<Named> =
        parameters.into_iter().map(|parameter| Named { name: parameter.name, var: parameter.var }).collect();
    saved.append(&mut learnt);
    Flow {
        vars,
        equations,
        inputs,
        outputs,
        clocks,
        parameters: saved,
        memory,
        tape: Vec::new(),
        calls,
        aliases,
    }
}
