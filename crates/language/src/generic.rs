//! Checks of nodes whose sizes are open, that is, known only at their instances.
//!
//! Types, clocks and causality do not depend on sizes, so they are checked with placeholder sizes. A shape
//! rule may fail for some sizes and hold for others, so only two things are errors: an operation that fits no
//! shape at all ([`infer::never_fits`]), and operations that fit no shape together
//! ([`infer::never_fit_together`]). Inputs that must be compile-time constants get a few values, numbers and
//! lists; if with each of these values some operation fits no shape, the node is rejected.

use eddy_syntax::Diagnostic;

use crate::causality::causality;
use crate::clocks;
use crate::codes;
use crate::draft::Draft;
use crate::elaborate::{ElaborationOptions, elaborate};
use crate::infer::{self, NeverFits, Sizes};
use crate::program::{Callable, Program, Slot};
use crate::static_value::Static;
use crate::tree::{Annotation, ExprList, Scalar};

/// Checks a node with inputs that must be compile-time constants.
pub fn check_sizes(program: &Program, callable: &Callable, inputs: &[&Slot]) -> Result<(), Vec<Diagnostic>> {
    let elaborated = |values: Vec<Static>| {
        let constants = inputs.iter().map(|input| input.name.clone()).zip(values).collect();
        // A value that fails, because it is a number where a list is needed or out of range, proves nothing
        // about other values.
        let given = ElaborationOptions {
            constants,
            defaults: program.defaults_of(callable),
            ..ElaborationOptions::default()
        };
        elaborate(program, callable, &given).ok()
    };
    // Whether an input is a number or a list follows from how it is used, so the first combination that
    // elaborates is the right one.
    let mut combinations = combinations(inputs.len()).into_iter();
    let found = combinations.find_map(|lists| {
        let mut drafts =
            SIZES.iter().map(|size| elaborated(values(inputs.len(), *size, &lists, &[1; MAX_LISTS])));
        Some((drafts.find_map(|draft| draft)?, lists))
    });
    let Some((draft, lists)) = found else { return check_types(inputs) };
    if infer::never_fits(&draft, Sizes::Open).is_none() {
        return check_rest(program, &draft);
    }
    check_rest(program, &draft)?;
    let mut misfit = None;
    for ranks in ranks(lists.len()) {
        for size in SIZES {
            let Some(draft) = elaborated(values(inputs.len(), size, &lists, &ranks)) else { continue };
            match infer::never_fits(&draft, Sizes::Open) {
                None => return Ok(()),
                Some(found) => misfit = misfit.or_else(|| Some(explained(program, &draft, found))),
            }
        }
    }
    misfit.map_or(Ok(()), |misfit| Err(vec![misfit]))
}

/// Called if no tried value could be elaborated: reports the inputs whose annotated type is the cause. Sizes,
/// indices and axes are integers; a list of them may be annotated as `num`.
fn check_types(inputs: &[&Slot]) -> Result<(), Vec<Diagnostic>> {
    let cannot_be_constant = |annotation: &&Annotation| match annotation.scalar {
        Scalar::Bool => true,
        Scalar::Num => annotation.dims.is_none_or(ExprList::is_empty),
        Scalar::Int => false,
    };
    let wrong = |input: &&Slot| {
        let annotation = input.annotations.iter().find(cannot_be_constant)?;
        let title = format!(
            "the input `{}` must be a compile-time integer, but its type is {}",
            input.name,
            annotation.scalar.word()
        );
        let reason = "it is used as a size, an index or an axis, here or in a node that is called";
        let help = format!("write `{}:int`, or give that place another input", input.name);
        Some(Diagnostic::error(codes::COMPILE_TIME, annotation.span, title).reason(reason).help(help))
    };
    let wrong: Vec<Diagnostic> = inputs.iter().filter_map(wrong).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// Checks a node with inputs whose shapes are open.
pub fn check_shapes(program: &Program, callable: &Callable) -> Result<(), Vec<Diagnostic>> {
    let given =
        ElaborationOptions { defaults: program.defaults_of(callable), ..ElaborationOptions::default() };
    let draft = elaborate(program, callable, &given)?;
    let found = infer::never_fits(&draft, Sizes::Known).or_else(|| infer::never_fit_together(&draft));
    if let Some(found) = found {
        return Err(vec![explained(program, &draft, found)]);
    }
    check_rest(program, &draft)
}

/// The diagnostic of an operation that fits no shape. The user cannot change a library node, so for an
/// operation in such a node the help is about the arguments of its call.
fn explained(program: &Program, draft: &Draft, found: NeverFits) -> Diagnostic {
    let call = found.call.map(|call| &draft.calls[call]).filter(|call| call.is_opaque);
    let callee = call.and_then(|call| program.nodes.iter().find(|node| node.name == *call.node));
    let Some(callee) = callee else { return *found.diagnostic };
    let inputs: Vec<&str> = callee.inputs().iter().map(|slot| slot.name.as_str()).collect();
    let name = &callee.name;
    found
        .diagnostic
        .help(format!("the arguments of `{name}` are `{name}({})`, in this order", inputs.join(", ")))
}

/// Checks types, clocks and causality. Derivatives need shapes, so in nodes with derivatives only types are
/// checked.
fn check_rest(program: &Program, draft: &Draft) -> Result<(), Vec<Diagnostic>> {
    let has_derivatives = !draft.marks.is_empty();
    let flow = infer::with_open_sizes(program, draft)?;
    if has_derivatives {
        return Ok(());
    }
    let clocks = clocks::infer(&flow)?;
    causality(&flow, &clocks).map_err(|diagnostic| vec![*diagnostic])?;
    Ok(())
}

/// Numbers to try. Axes are numbers too, so small ones are included.
const SIZES: [i64; 5] = [2, 1, 0, 3, 4];
/// Combinations with more lists are not tried.
const MAX_LISTS: usize = 3;
/// With more constants than this, no lists are tried.
const MAX_INPUTS: usize = 6;

/// The sets of inputs that may be lists: all combinations, those with few lists first.
fn combinations(n_inputs: usize) -> Vec<Vec<usize>> {
    if n_inputs > MAX_INPUTS {
        return vec![Vec::new()];
    }
    let lists = |mask: u32| (0..n_inputs).filter(|input| mask >> input & 1 == 1).collect::<Vec<_>>();
    let mut combinations: Vec<Vec<usize>> = (0..1 << n_inputs).map(lists).collect();
    combinations.retain(|lists| lists.len() <= MAX_LISTS);
    combinations.sort_by_key(Vec::len);
    combinations
}

/// Values for `n_inputs` inputs; those in `lists` are lists of the given ranks.
fn values(n_inputs: usize, size: i64, lists: &[usize], ranks: &[usize]) -> Vec<Static> {
    let mut values = vec![Static::Int(size); n_inputs];
    for (input, rank) in lists.iter().zip(ranks) {
        values[*input] = Static::List(vec![size.max(1); *rank]);
    }
    values
}

/// All combinations of ranks for `n_lists` lists.
fn ranks(n_lists: usize) -> Vec<Vec<usize>> {
    (0..n_lists).fold(vec![Vec::new()], |all, _| {
        all.iter()
            .flat_map(|before| [1, 2, 0, 3, 4].map(|rank| [before.as_slice(), &[rank]].concat()))
            .collect()
    })
}
