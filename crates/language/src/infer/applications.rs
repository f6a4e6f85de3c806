//! Functions that nodes apply: the types of their results, and the operations that they become
//! (functions.md, section 6).
//!
//! A function is typed separately for each combination of types of its arguments, so these types must be
//! known first: kinds and ranks select the code, and sizes determine the sizes of the results.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use eddy_autodiff::section::Mark;
use eddy_syntax::Diagnostic;
use eddy_tensor::{Op, Scalar, Shape, Type, Value};
use rustc_hash::FxHashMap;

use super::{Hints, scalars, shapes};
use crate::codes;
use crate::draft::{Application, Draft, Part};
use crate::flow::{Constant, Equation, Flow, Kind, Labels, Var, VarId};
use crate::functions::apply::{AppliedBody, AppliedResult, Applier, ApplyArgument, ApplyLeaf};
use crate::functions::callee::operations;
use crate::functions::inline::{Inlined, Source, inline};
use crate::program::{Program, Structure};

/// The known kinds of the results of functions.
pub(super) type ResultKinds = FxHashMap<VarId, Scalar>;

/// The applications of a program without types.
pub(super) struct Applications<'a> {
    draft: &'a Draft,
    applier: RefCell<Applier<'a>>,
    /// The kind of each stream, if known.
    kinds: RefCell<Vec<Option<Scalar>>>,
    found: RefCell<FxHashMap<Use, Found>>,
}

/// The types of results of functions.
pub(super) trait ResultTypes {
    /// The type of a result at these shapes of its operands; `None` if a kind is not known.
    fn result(&self, equation: &Equation, shapes: &[&Shape]) -> Option<Result<Type, Box<Diagnostic>>>;
}

/// An application at the types of its streams.
type Use = (*const Application, Vec<Type>);
type Found = Result<Rc<AppliedBody>, Box<Diagnostic>>;

impl<'a> Applications<'a> {
    /// `None` if the program applies no functions.
    pub fn new(program: &'a Program, draft: &'a Draft) -> Option<Applications<'a>> {
        (!draft.applications.is_empty()).then(|| Applications {
            draft,
            applier: RefCell::new(Applier::new(program)),
            kinds: RefCell::new(vec![None; draft.vars.len()]),
            found: RefCell::new(FxHashMap::default()),
        })
    }

    /// The kinds of all results. A result without a written kind needs the types of the arguments, which may
    /// be results themselves.
    pub fn result_kinds(&self, hints: &Hints, labels: &Labels<'_>) -> Result<ResultKinds, Box<Diagnostic>> {
        let mut known = written_kinds(self.draft);
        let mut assumed = Vec::new();
        while known.len() < self.draft.applications.len() {
            let kinds = scalars::found(self.draft, hints, labels, &known);
            *self.kinds.borrow_mut() = with_defaults(kinds, &assumed);
            let shapes = shapes::found(self.draft, hints, labels, Some(self));
            let n_before = known.len();
            let mut first_unknown = None;
            for equation in &self.draft.equations {
                if !self.draft.applications.contains_key(&equation.out) || known.contains_key(&equation.out) {
                    continue;
                }
                let operands: Vec<VarId> = equation.kind.operands().collect();
                let shapes: Option<Vec<&Shape>> =
                    operands.iter().map(|operand| shapes[operand.index()].as_ref()).collect();
                match shapes.and_then(|shapes| self.result(equation, &shapes)) {
                    Some(ty) => drop(known.insert(equation.out, ty?.scalar)),
                    None => first_unknown = first_unknown.or(Some(equation)),
                }
            }
            if let (true, Some(equation)) = (known.len() == n_before, first_unknown) {
                if assumed.contains(&equation.out) {
                    known.insert(equation.out, self.assumed_kind(equation, hints, labels));
                }
                assumed.push(equation.out);
                assumed.extend(equation.kind.operands());
            }
        }
        Ok(known)
    }

    /// The kind of a result whose arguments have shapes that the equations do not determine: its kind at the
    /// assumed shapes. If the function accepts no such shapes, shape inference reports it.
    fn assumed_kind(&self, equation: &Equation, hints: &Hints, labels: &Labels<'_>) -> Scalar {
        let shapes = shapes::infer(self.draft, hints, labels, Some(self)).ok();
        let ty = shapes.and_then(|shapes| {
            let operands: Vec<&Shape> =
                equation.kind.operands().map(|operand| &shapes[operand.index()]).collect();
            self.result(equation, &operands)?.ok()
        });
        ty.map_or(Scalar::Num, |ty| ty.scalar)
    }

    pub fn set_kinds(&self, kinds: &[Scalar]) {
        *self.kinds.borrow_mut() = kinds.iter().copied().map(Some).collect();
    }

    fn applied(&self, application: &Rc<Application>, types: Vec<Type>) -> Found {
        let key = (Rc::as_ptr(application), types);
        if let Some(found) = self.found.borrow().get(&key) {
            return found.clone();
        }
        let mut streams = key.1.iter();
        let mut leaves = application.arguments.iter().map(|given| match given {
            Some(value) => ApplyLeaf::Static(value.clone()),
            None => ApplyLeaf::Stream(streams.next().expect("a type for each stream").clone()),
        });
        let argument = |structure: &Structure| ApplyArgument {
            structure: structure.clone(),
            leaves: leaves.by_ref().take(structure.n_leaves()).collect(),
        };
        let arguments: Vec<ApplyArgument> = application.structures.arguments.iter().map(argument).collect();
        let found = self.applier.borrow_mut().apply(&application.site, &arguments).map(Rc::new);
        self.found.borrow_mut().insert(key, found.clone());
        found
    }

    /// Replaces each application by operations. If several results are numbers, one operation computes them
    /// as one vector, the pack, of which each result is a slice.
    pub fn replace_applications(self, flow: &mut Flow, marks: &mut [Mark]) -> Result<(), Box<Diagnostic>> {
        let mut bodies = FxHashMap::default();
        for equation in &flow.equations {
            let Some(part) = self.draft.applications.get(&equation.out) else { continue };
            let types: Vec<Type> =
                equation.kind.operands().map(|operand| flow.var(operand).ty.clone()).collect();
            bodies.insert(Rc::as_ptr(&part.application), self.applied(&part.application, types)?);
        }
        let module = Arc::new(self.applier.borrow_mut().module());
        let old = std::mem::take(&mut flow.equations);
        let mut new_index = Vec::with_capacity(old.len() + 1);
        for equation in old {
            new_index.push(flow.equations.len());
            match self.draft.applications.get(&equation.out) {
                None => flow.equations.push(equation),
                // The first result of an application writes the equations of all its results.
                Some(part) if part.number > 0 => {}
                Some(part) => {
                    let body = &bodies[&Rc::as_ptr(&part.application)];
                    let operands: Vec<VarId> = equation.kind.operands().collect();
                    let types: Vec<Type> =
                        operands.iter().map(|operand| flow.var(*operand).ty.clone()).collect();
                    let name = &part.application.name;
                    let outs = self.results_of(&part.application);
                    match inline(&module, body.body, &types) {
                        Some(inlined) => write_inlined(flow, &equation, &operands, inlined, &outs),
                        None => {
                            let results = body.results.types();
                            let operations = operations(name, &module, body.body, &types, &results);
                            write(flow, &equation, &operands, &operations, &outs);
                        }
                    }
                }
            }
        }
        new_index.push(flow.equations.len());
        for mark in marks {
            mark.at = new_index[mark.at];
        }
        Ok(())
    }

    /// The streams of all results of an application, in order.
    fn results_of(&self, application: &Rc<Application>) -> Vec<VarId> {
        let parts = self.draft.applications.iter();
        let mut parts: Vec<(usize, VarId)> = parts
            .filter(|(_, part)| Rc::ptr_eq(&part.application, application))
            .map(|(var, part)| (part.number, *var))
            .collect();
        parts.sort_unstable();
        parts.into_iter().map(|(_, var)| var).collect()
    }
}

impl ResultTypes for Applications<'_> {
    fn result(&self, equation: &Equation, shapes: &[&Shape]) -> Option<Result<Type, Box<Diagnostic>>> {
        let part = &self.draft.applications[&equation.out];
        let kinds = self.kinds.borrow();
        let types =
            equation.kind.operands().zip(shapes).map(|(operand, shape)| {
                Some(Type { scalar: kinds[operand.index()]?, shape: (*shape).clone() })
            });
        let types: Vec<Type> = types.collect::<Option<_>>()?;
        drop(kinds);
        Some(self.applied(&part.application, types).and_then(|body| part_type(part, &body.results)))
    }
}

/// The results whose kinds are written.
pub(super) fn written_kinds(draft: &Draft) -> ResultKinds {
    let written = |(var, part): (&VarId, &Part)| {
        let written = part.application.results.get(part.number)?;
        Some((*var, written.scalar))
    };
    draft.applications.iter().filter_map(written).collect()
}

/// Assumes that these streams are numbers if their kind is unknown.
fn with_defaults(mut kinds: Vec<Option<Scalar>>, assumed: &[VarId]) -> Vec<Option<Scalar>> {
    for var in assumed {
        kinds[var.index()].get_or_insert(Scalar::Num);
    }
    kinds
}

/// The type of one leaf of the results of an application.
fn part_type(part: &Part, results: &AppliedResult) -> Result<Type, Box<Diagnostic>> {
    let Application { name, site, structures, .. } = &*part.application;
    let error = |title: String| Diagnostic::error(codes::WIDTH, site.span, title);
    let (n_names, n_results) = (structures.results.len(), results.components.len());
    let is_alone = !results.is_tuple && n_names == 1;
    let is_each = results.is_tuple && n_names == n_results && n_names > 1;
    if !is_alone && !is_each {
        let streams = if n_names == 1 { "1 stream".to_string() } else { format!("{n_names} streams") };
        return Err(Box::new(if results.is_tuple {
            let title = format!("`{name}` returns a tuple of {n_results}, but {streams} can be named here");
            error(title).help("give each component a name in an equation of its own: `a, b = …;`")
        } else {
            error(format!("the left side names {streams}, but `{name}` has one result"))
        }));
    }
    for (number, (component, expected)) in results.components.iter().zip(&structures.results).enumerate() {
        if component.structure.as_ref() == Some(expected) {
            continue;
        }
        let result = if results.is_tuple {
            format!("result {} of `{name}`", number + 1)
        } else {
            format!("the result of `{name}`")
        };
        let what = match &component.structure {
            None => "a tuple",
            Some(Structure::Record(_)) => "a record",
            Some(Structure::Enumeration(_)) => "an enumerator",
            Some(Structure::Tensor) => "a tensor",
        };
        let diagnostic = error(format!("{result} is {what}, which a stream cannot be here"));
        return Err(Box::new(match component.structure {
            None => diagnostic,
            Some(_) => {
                diagnostic.help(format!("write the result type of `{name}`: `fn {name}(…) -> … = …;`"))
            }
        }));
    }
    Ok(results.types()[part.number].clone())
}

impl AppliedResult {
    /// The types of all tensors in it.
    fn types(&self) -> Vec<Type> {
        self.components.iter().flat_map(|component| component.leaves.clone()).collect()
    }
}

/// Writes the operations of a small function as equations.
fn write_inlined(flow: &mut Flow, equation: &Equation, operands: &[VarId], inlined: Inlined, outs: &[VarId]) {
    let (span, call) = (equation.span, equation.call);
    let fresh = |flow: &mut Flow, ty: Type| {
        flow.vars.push(Var { name: None, span, ty, purpose: None });
        VarId::new(flow.vars.len() - 1)
    };
    let stream = |flow: &mut Flow, source: &Source, steps: &[VarId]| match source {
        Source::Argument(at) => operands[*at],
        Source::Step(at) => steps[*at],
        Source::Constant(value) => {
            let out = fresh(flow, value.ty());
            let constant = match value {
                Value::Bool(truth) => Constant::Bool(*truth),
                Value::Int(number) => Constant::Int(*number),
                Value::Num(number) => Constant::Num(*number),
                Value::Num32(_) | Value::Tensor(_) => Constant::Value(value.clone()),
            };
            let kind = Kind::Const(constant);
            flow.equations.push(Equation { out, kind, span, call });
            out
        }
    };
    let mut steps = Vec::with_capacity(inlined.steps.len());
    for step in inlined.steps {
        let operands = step.operands.iter().map(|source| stream(flow, source, &steps)).collect();
        let out = fresh(flow, step.ty);
        flow.equations.push(Equation { out, kind: Kind::Apply(step.op, operands), span, call });
        steps.push(out);
    }
    for (out, source) in outs.iter().zip(&inlined.results) {
        let value = stream(flow, source, &steps);
        flow.equations.push(Equation {
            out: *out,
            kind: Kind::Apply(Op::Copy, Box::new([value])),
            span,
            call,
        });
    }
}

/// Writes the equations of one application.
fn write(
    flow: &mut Flow,
    equation: &Equation,
    operands: &[VarId],
    operations: &crate::functions::callee::Operations,
    outs: &[VarId],
) {
    let define = |flow: &mut Flow, out: VarId, op: Op, operands: &[VarId]| {
        let kind = Kind::Apply(op, operands.into());
        flow.equations.push(Equation { out, kind, span: equation.span, call: equation.call });
    };
    for (out, call) in outs.iter().zip(&operations.others) {
        if let Some(call) = call {
            define(flow, *out, Op::Call(call.clone()), operands);
        }
    }
    let Some(call) = &operations.nums else { return };
    let nums = outs.iter().zip(&operations.others).filter(|(_, call)| call.is_none());
    let nums: Vec<VarId> = nums.map(|(out, _)| *out).collect();
    if let [out] = nums.as_slice() {
        return define(flow, *out, Op::Call(call.clone()), operands);
    }
    let fresh = |flow: &mut Flow, shape: Shape| {
        let ty = Type { scalar: Scalar::Num, shape };
        flow.vars.push(Var { name: None, span: equation.span, ty, purpose: None });
        VarId::new(flow.vars.len() - 1)
    };
    let pack = fresh(flow, call.callee().result().shape.clone());
    define(flow, pack, Op::Call(call.clone()), operands);
    let mut lo = 0;
    for out in nums {
        let shape = flow.var(out).ty.shape.clone();
        let hi = lo + shape.iter().product::<usize>();
        match shape.len() {
            0 => define(flow, out, Op::Index(lo), &[pack]),
            1 => define(flow, out, Op::Slice(lo, hi), &[pack]),
            _ => {
                let slice = fresh(flow, Shape::new(&[hi - lo]));
                define(flow, slice, Op::Slice(lo, hi), &[pack]);
                define(flow, out, Op::Reshape(shape), &[slice]);
            }
        }
        lo = hi;
    }
}
