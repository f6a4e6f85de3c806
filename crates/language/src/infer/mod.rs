//! Infers types and shapes (section 3) from the inputs, the operations and the annotations.
//!
//! Nodes are inlined first, so inference runs over one list of equations and needs no polymorphism: each
//! instance has its own streams.
//!
//! * [`scalars`]: `num`, `int` or `bool`, by unification.
//! * [`shapes`]: sizes, by propagation; [`recurrences`]: shapes of streams that depend on themselves;
//!   [`least`]: the smallest shapes that fit, for shapes that are still unknown.
//! * [`feasible`]: operations that fit no shape; [`together`]: operations that fit no common shape;
//!   [`misfits`]: errors about both.
//! * [`applications`]: functions that nodes apply. [`bundles`]: the clocks of records.
//! * [`classes`]: classes of streams with equal types or shapes.
//! * [`type_errors`] and [`shape_errors`]: diagnostics.

mod applications;
mod bundles;
mod classes;
mod feasible;
mod least;
mod misfits;
mod recurrences;
mod scalars;
mod shape_errors;
mod shapes;
mod together;
mod type_errors;

use eddy_autodiff::section::Mark;
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Op, Scalar, Shape, Type};

use crate::draft::Draft;
use crate::flow::{Equation, Flow, Kind, Labels, Named, Var, VarId};
use crate::program::Program;
use applications::{Applications, ResultKinds, written_kinds};
pub(crate) use feasible::Sizes;
pub(crate) use misfits::{NeverFits, never_fit_together, never_fits};

/// Types and shapes that data imply for inputs without annotations.
#[derive(Clone, Debug, Default)]
pub struct Hints {
    /// Inputs whose first value is a Boolean, or a tensor of Booleans.
    pub scalars: Vec<Hint<Scalar>>,
    pub shapes: Vec<Hint<Shape>>,
}

/// A property that data imply for one input.
#[derive(Clone, Debug)]
pub struct Hint<T> {
    pub input: VarId,
    pub says: T,
    /// The span of the data if they are in the program, otherwise the declaration of the input.
    pub span: Span,
}

/// Hints from shapes given by the names of inputs.
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

#[derive(Clone, Debug)]
pub struct InferenceError {
    pub diagnostics: Vec<Diagnostic>,
    /// The inputs whose shapes were unknown when an assumption was made that later failed. With other shapes
    /// of these inputs the program may be correct.
    pub defaulted: Vec<VarId>,
    /// The types that are known in spite of the errors; empty if elaboration failed.
    pub found: PartialTypes,
}

/// The types and shapes known in a program with errors or missing parts. They follow from equations and
/// annotations; none is assumed.
#[derive(Clone, Debug, Default)]
pub struct PartialTypes {
    /// Indexed by stream.
    pub scalars: Vec<Option<Scalar>>,
    /// Indexed by stream.
    pub shapes: Vec<Option<Shape>>,
}

impl PartialTypes {
    pub fn scalar(&self, var: VarId) -> Option<Scalar> {
        self.scalars.get(var.index()).copied().flatten()
    }

    pub fn shape(&self, var: VarId) -> Option<&Shape> {
        self.shapes.get(var.index()).and_then(Option::as_ref)
    }
}

impl From<Vec<Diagnostic>> for InferenceError {
    fn from(diagnostics: Vec<Diagnostic>) -> InferenceError {
        InferenceError { diagnostics, defaulted: Vec::new(), found: PartialTypes::default() }
    }
}

/// The scalar type of each stream.
pub(crate) fn scalars_of(program: &Program, draft: &Draft) -> Result<Vec<Scalar>, Vec<Diagnostic>> {
    let labels = Labels::new(draft.vars.iter().map(|var| var.name.as_ref()), &draft.equations);
    let hints = Hints::default();
    let kinds = match Applications::new(program, draft) {
        Some(applications) => applications.result_kinds(&hints, &labels).map_err(|error| vec![*error])?,
        None => ResultKinds::default(),
    };
    scalars::infer(draft, &hints, &labels, &kinds)
}

/// The inputs whose type or shape the program leaves open, so that data decide it. Empty if the program has a
/// type error for all types of these inputs.
pub fn open_inputs(draft: &Draft, hints: &Hints) -> Vec<VarId> {
    let names = draft.vars.iter().map(|var| var.name.as_ref());
    let labels = Labels::new(names, &draft.equations);
    let (types, shapes) =
        (scalars::open_inputs(draft, hints, &labels), shapes::open_inputs(draft, hints, &labels));
    draft.inputs.iter().copied().filter(|input| types.contains(input) || shapes.contains(input)).collect()
}

/// Infers the types of all streams. On failure, [`InferenceError::found`] has those that are known.
///
/// Also returns the marks of the draft, moved to the equations of the flow: the draft has one equation per
/// result of a function, the flow has several.
pub fn infer(
    program: &Program,
    mut draft: Draft,
    hints: &Hints,
) -> Result<(Flow, Vec<Mark>), InferenceError> {
    let mut marks = std::mem::take(&mut draft.marks);
    let typed = types(program, &draft, hints);
    match typed {
        Ok((scalars, shapes, applications)) => {
            let mut flow = flow_of(&draft, scalars, shapes);
            if let Some(applications) = applications {
                applications.replace_applications(&mut flow, &mut marks).map_err(|error| vec![*error])?;
            }
            Ok((flow, marks))
        }
        Err(failure) => Err(InferenceError { found: found(&draft, hints), ..failure }),
    }
}

type Types<'a> = (Vec<Scalar>, Vec<Shape>, Option<Applications<'a>>);

fn types<'a>(program: &'a Program, draft: &'a Draft, hints: &Hints) -> Result<Types<'a>, InferenceError> {
    let names = draft.vars.iter().map(|var| var.name.as_ref());
    let labels = Labels::new(names, &draft.equations).with_points();
    let applications = Applications::new(program, draft);
    let kinds = match &applications {
        Some(applications) => applications.result_kinds(hints, &labels).map_err(|error| vec![*error])?,
        None => ResultKinds::default(),
    };
    let scalars = scalars::infer(draft, hints, &labels, &kinds)?;
    if let Some(applications) = &applications {
        applications.set_kinds(&scalars);
    }
    let shapes = shapes::infer(draft, hints, &labels, applications.as_ref().map(|all| all as _))?;
    Ok((scalars, shapes, applications))
}

/// The types that are known in a program in which some streams have no valid definition.
pub fn found(draft: &Draft, hints: &Hints) -> PartialTypes {
    let names = draft.vars.iter().map(|var| var.name.as_ref());
    let labels = Labels::new(names, &draft.equations);
    PartialTypes {
        scalars: scalars::found(draft, hints, &labels, &written_kinds(draft)),
        shapes: shapes::found(draft, hints, &labels, None),
    }
}

/// The flow with scalar types, and with placeholder shapes: for checks that do not depend on shapes.
pub(crate) fn with_open_sizes(program: &Program, draft: &Draft) -> Result<Flow, Vec<Diagnostic>> {
    let scalars = scalars_of(program, draft)?;
    let shapes = vec![Shape::scalar(); draft.vars.len()];
    Ok(flow_of(draft, scalars, shapes))
}

/// The equations of `x[lo..]`, which have the number of rows of `x` as their end.
fn with_last_rows(mut equations: Vec<Equation>, vars: &[Var]) -> Vec<Equation> {
    for equation in &mut equations {
        if let Kind::Apply(Op::Slice(_, hi), operands) = &mut equation.kind
            && *hi == Op::LAST_ROW
            && let Some(n_rows) = vars[operands[0].index()].ty.shape.first()
        {
            *hi = *n_rows;
        }
    }
    equations
}

fn flow_of(draft: &Draft, scalars: Vec<Scalar>, shapes: Vec<Shape>) -> Flow {
    let vars: Vec<Var> = draft
        .vars
        .iter()
        .cloned()
        .zip(scalars.into_iter().zip(shapes))
        .map(|(var, (scalar, shape))| Var {
            name: var.name,
            span: var.span,
            ty: Type { scalar, shape },
            purpose: None,
        })
        .collect();
    let Draft {
        equations,
        inputs,
        outputs,
        clocks,
        parameters,
        mut learnt,
        persistent_state,
        contracts,
        calls,
        aliases,
        ..
    } = draft.clone();
    let equations = with_last_rows(equations, &vars);
    let mut saved: Vec<Named> =
        parameters.into_iter().map(|parameter| Named { name: parameter.name, var: parameter.var }).collect();
    saved.append(&mut learnt);
    let mut flow = Flow {
        vars,
        equations,
        inputs,
        outputs,
        clocks,
        parameters: saved,
        persistent_state,
        tape: Vec::new(),
        contracts,
        calls,
        aliases,
    };
    bundles::synchronise(&mut flow, &draft.bundles);
    flow
}
