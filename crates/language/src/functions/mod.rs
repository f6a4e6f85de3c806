//! Functions: typed at each use, specialised, and lowered to bodies (functions.md).
//!
//! * [`lowering`]: the loop that visits expressions; [`activation`]: the state of one function that is being
//!   lowered.
//! * [`expression`], [`choices`], [`structures`], [`places`], [`control`], [`filters`], [`reductions`],
//!   [`sums`]: lower each form of expression.
//! * [`calls`], [`builtins`], [`elements`], [`derivatives`], [`jacobians`]: lower each kind of call.
//! * [`instances`]: a body for each combination of kinds and ranks, recursion; [`entering`] begins an
//!   instance, [`sealing`] ends it; [`groups`] finds recursive functions; [`key`] identifies instances.
//! * [`kinds`], [`sizes`], [`written`], [`value`]: what is known about values.
//! * [`order`]: the nesting depth of derivatives. [`constants`]: evaluated once, before the run. [`customs`]:
//!   derivatives that the user wrote.
//! * [`definitions`]: declared types. [`declarations`]: functions as `eddy check` shows them; [`tapes`]: the
//!   memory of their derivatives.
//! * [`budget`]: limits of a command. [`entry`]: calls from outside, with data that [`datum`] reads or that
//!   are generated ([`made_up`]).
//! * [`resolution`]: checks of names, also in functions without callers.
//! * [`errors`]: diagnostics. [`operators`]: descriptions for editors.
//! * [`show`]: results as text.

mod activation;
pub(crate) mod apply;
mod budget;
mod builtins;
pub(crate) mod callee;
pub(crate) mod calls;
mod choices;
mod constants;
mod control;
mod customs;
pub mod datum;
mod declarations;
mod definitions;
mod derivatives;
mod elements;
mod entering;
pub mod entry;
mod errors;
mod expression;
mod filters;
mod groups;
pub(crate) mod inline;
mod instances;
mod jacobians;
mod key;
mod kinds;
mod lowering;
pub mod made_up;
pub(crate) mod operators;
mod order;
mod places;
mod reductions;
mod resolution;
mod sealing;
mod show;
mod sizes;
mod structures;
mod sums;
mod tapes;
pub(crate) mod value;
pub(crate) mod written;

use std::sync::Arc;

pub use eddy_body::Checkpoints;
use eddy_body::expand::ExpandError;
use eddy_body::ir::{BodyId, Module};
use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::Value;
use rustc_hash::{FxHashMap, FxHashSet};

pub use budget::Budget;
pub use eddy_body::tape::Tape;
pub(crate) use value::Code;

use crate::codes;
use crate::program::{ConstantId, ConstantValue, FunctionId, Program};
use crate::tree::{ExprId, Item, TypeId};
use errors::Refused;
use key::Ty;
use lowering::{Lowering, Task};

/// A file whose functions are checked and lowered.
pub struct Functions {
    /// The bodies of all instances, with derivatives expanded.
    pub module: Arc<Module>,
    program: eddy_body::Program,
    /// The evaluations of the main file, in order.
    pub evals: Vec<Evaluation>,
    /// The functions of the main file, in order.
    pub declared: Vec<Description>,
}

impl Functions {
    /// The output of the `eval` with this index in the main file, or why it has no value.
    pub fn evaluate(&self, item: usize, budget: &mut Budget) -> Result<String, Box<Diagnostic>> {
        let eval = self.evaluation(item);
        self.leaves(eval, budget).map(|values| eval.show(&values))
    }

    /// The `eval` with this index among the declarations of the main file.
    pub fn evaluation(&self, item: usize) -> &Evaluation {
        self.evals.iter().find(|eval| eval.item == item).expect("every evaluation was lowered")
    }

    /// The tensors of the value of an `eval`, or why it has no value.
    pub fn leaves(&self, eval: &Evaluation, budget: &mut Budget) -> Result<Vec<Value>, Box<Diagnostic>> {
        let found = budget.run(&self.program, eval.body, &[]);
        found.map_err(|error| Box::new(budget.diagnostic(&error, eval.span)))
    }
}

/// A function as `eddy check` prints it.
#[derive(Clone, Debug)]
pub struct Description {
    pub name: String,
    /// Its name and type, with a line break at the end.
    pub line: String,
    id: FunctionId,
}

impl Description {
    /// The memory of the tape of its adjoint; `None` if it has no derivative, or if its types are not
    /// written.
    pub fn tape(&self, program: &Program, checkpoints: Checkpoints) -> Option<Tape> {
        tapes::tape_of(program, self.id, checkpoints)
    }
}

/// A lowered `eval`.
pub struct Evaluation {
    /// Its index among the declarations of the main file.
    pub item: usize,
    pub span: Span,
    pub body: BodyId,
    ty: Ty,
    /// The names of enumerations' cases, by number.
    cases: std::rc::Rc<Vec<Vec<String>>>,
}

impl Evaluation {
    /// Prints the result as a line of text, in the form of section 7.
    pub fn show(&self, values: &[Value]) -> String {
        show::show(&self.ty, &mut values.iter(), &self.cases)
    }
}

/// Checks and lowers the functions of a program. Constants are computed within the budget.
pub fn lower(program: &Program, budget: &mut Budget) -> Result<Functions, Vec<Diagnostic>> {
    let mut lowering = Lowering::new(program);
    let mut diagnostics = Vec::new();
    evaluate_constants(&mut lowering, &mut diagnostics, budget);
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    lowering.check_type_definitions(&mut diagnostics);
    let mut found = Vec::new();
    for (item, declared) in program.modules[Program::MAIN].tree.items.iter().enumerate() {
        let Item::Eval(eval) = declared else { continue };
        match lower_expression(&mut lowering, Program::MAIN, eval.value, None) {
            Ok((body, ty)) => found.push((item, eval.at, body, ty)),
            Err(refused) => diagnostics.push(*refused),
        }
    }
    for id in (0..program.functions.len()).map(FunctionId::new) {
        if program.function(id).0 == Program::MAIN
            && let Err(refused) = lowering.check_names(id).and_then(|()| lowering.check_function(id))
            // An evaluation may have reported the same error.
            && !diagnostics.iter().any(|found| found.primary.span == refused.primary.span)
        {
            diagnostics.push(*refused);
        }
    }
    if diagnostics.is_empty()
        && let Err(refused) = lowering.check_custom_results()
    {
        diagnostics.push(*refused);
    }
    if !diagnostics.is_empty() {
        return Err(diagnostics);
    }
    let own = (0..program.functions.len()).map(FunctionId::new);
    let own = own.filter(|id| program.function(*id).0 == Program::MAIN);
    let name = |id| {
        let (module, tree) = program.function(id);
        program.modules[module].names.text(tree.ident.name).to_string()
    };
    let declared = own.map(|id| Description { name: name(id), line: lowering.line(id), id }).collect();
    let cases = lowering.module.enums.iter().map(|enumeration| enumeration.cases.clone()).collect();
    let cases = std::rc::Rc::new(cases);
    let evals = found
        .into_iter()
        .map(|(item, span, body, ty)| Evaluation { item, span, body, ty, cases: std::rc::Rc::clone(&cases) })
        .collect();
    let module = finished(&lowering.module, budget).map_err(|refused| vec![*refused])?;
    Ok(Functions { program: ready(&module), module: Arc::new(module), evals, declared })
}

/// The known types of the names that functions bind, by the spans where they are bound: names of functions,
/// constants, parameters and patterns. A name with several types gets that of its first use.
pub fn bound_types(program: &Program) -> FxHashMap<Span, String> {
    /// Calls and iterations for the constants of a file; with more, an editor shows no types of constants.
    const FUEL: u64 = 100_000;
    let mut budget = Budget { fuel: Some(FUEL), ..Budget::default() };
    let mut lowering = Lowering::new(program);
    lowering.bound = Some(FxHashMap::default());
    evaluate_constants(&mut lowering, &mut Vec::new(), &mut budget);
    for declared in &program.modules[Program::MAIN].tree.items {
        if let Item::Eval(eval) = declared {
            // Errors are reported elsewhere.
            let _ = lower_expression(&mut lowering, Program::MAIN, eval.value, None);
        }
    }
    let own = (0..program.functions.len()).map(FunctionId::new);
    for id in own.filter(|id| !program.modules[program.function(*id).0].is_library) {
        let _ = lowering.check_function(id);
    }
    lowering.all_bound_types()
}

/// A module with copies inserted and derivatives expanded; the budget limits the order of derivatives in
/// recursions.
fn finished(module: &Module, budget: &Budget) -> Result<Module, Refused> {
    let mut module = module.clone();
    eddy_body::own::own(&mut module);
    let order = order::max_order(&module, budget.order);
    match eddy_body::expand_with(&module, order, budget.checkpoints) {
        Ok(expanded) => Ok(expanded),
        Err(error @ ExpandError::NoDerivative { span, .. }) => {
            Err(Box::new(Diagnostic::error(codes::FUNCTION, span, error.to_string())))
        }
        Err(error) => panic!("lowered code has derivatives: {error}"),
    }
}

/// The value of each constant of a program, as an operand of nodes.
pub(crate) fn constant_values(program: &Program) -> Vec<Result<ConstantValue, Box<Diagnostic>>> {
    if program.constants.is_empty() {
        return Vec::new();
    }
    let (mut lowering, mut diagnostics) = (Lowering::new(program), Vec::new());
    evaluate_constants(&mut lowering, &mut diagnostics, &mut Budget::default());
    let ids = (0..program.constants.len()).map(ConstantId::new);
    ids.map(|id| match (lowering.constants.known.get(&id), diagnostics.first()) {
        (Some((ty, values)), _) => Ok(constants::in_node(ty, values)),
        (None, found) => Err(Box::new(found.expect("a constant without value is reported").clone())),
    })
    .collect()
}

/// Computes all constants, each after those that it needs.
fn evaluate_constants(lowering: &mut Lowering<'_>, diagnostics: &mut Vec<Diagnostic>, budget: &mut Budget) {
    let mut waiting: Vec<ConstantId> =
        (0..lowering.program.constants.len()).rev().map(ConstantId::new).collect();
    let mut being_computed: FxHashSet<ConstantId> = FxHashSet::default();
    while let Some(constant) = waiting.last().copied() {
        if lowering.constants.known.contains_key(&constant) {
            waiting.pop();
            continue;
        }
        let (module, tree) = lowering.program.constant(constant);
        lowering.constants.missing = None;
        match constant_value(lowering, module, tree, budget) {
            Ok(known) => {
                lowering.constants.known.insert(constant, known);
                lowering.forget_item(module, tree.value);
                being_computed.remove(&constant);
            }
            Err(refused) => match lowering.constants.missing {
                Some(missing) if missing != constant && !being_computed.contains(&missing) => {
                    lowering.forget_item(module, tree.value);
                    being_computed.insert(constant);
                    waiting.push(missing);
                }
                _ => {
                    diagnostics.push(*refused);
                    return;
                }
            },
        }
    }
}

fn constant_value(
    lowering: &mut Lowering<'_>,
    module: usize,
    tree: &crate::tree::Constant,
    budget: &mut Budget,
) -> Result<(Ty, Vec<Value>), Refused> {
    let (body, ty) = lower_expression(lowering, module, tree.value, tree.annotation)?;
    lowering.check_custom_results()?;
    let program = ready(&finished(&lowering.module, budget)?);
    let found = budget.run(&program, body, &[]);
    let values = found.map_err(|error| Box::new(budget.diagnostic(&error, tree.at)))?;
    Ok((ty, values))
}

/// Lowers an expression outside of functions; it may have a written type.
fn lower_expression(
    lowering: &mut Lowering<'_>,
    module: usize,
    value: ExprId,
    annotation: Option<TypeId>,
) -> Result<(BodyId, Ty), Refused> {
    if module == Program::MAIN {
        lowering.check_expression_names(Code::Item { module, expr: value }, module, &[], value)?;
    }
    lowering.begin_item(module, value);
    lowering.tasks.push(Task::Finish);
    lowering.tasks.extend(annotation.map(Task::Annotate));
    lowering.tasks.push(Task::Expr(value));
    lowering.finish_tasks()?;
    Ok(lowering.end_item(module, value))
}

/// A finished module, ready for the reference engine.
fn ready(module: &Module) -> eddy_body::Program {
    eddy_body::Program::new(module).unwrap_or_else(|error| panic!("lowered code verifies: {error}"))
}
