//! Final bodies as C.
//!
//! Decision: bodies do not pass through `imp`. `imp` describes one step of a plan: all extents are literals,
//! buffers are fields of structs, and a step continues after a failure, which is recorded. In a body, sizes
//! are values, memory grows, functions call each other recursively, and the first failure ends the run. Only
//! expressions of single elements could be shared, and these are one line each. So bodies have a separate
//! printer, which uses the same elementary functions, number literals, compiler and cache.
//!
//! * [`body`]: a body as a C function. [`loops`], [`places`], [`scalar`], [`tensor`], [`sized`], [`tapes`],
//!   [`constants`]: its statements.
//! * [`package`]: one function as C for other programs. [`applied`]: functions that nodes apply.
//! * [`lanes`]: independent iterations side by side. [`lazy`]: tensors that are never stored. [`peel`]: first
//!   iterations.
//! * [`aliases`]: which tensors may be read in the memory of others. [`facts`]: which checks certainly hold.
//! * [`run`]: builds, loads and calls it. [`sites`]: translates failures of compiled code. [`names`],
//!   [`text`]: the text.
//!
//! # Two kinds of code
//!
//! With [`Meter::Exact`], code counts fuel and depth as the interpreter does. With [`Meter::Free`], for runs
//! without a limit on fuel, it counts neither, and is optimised: the module first passes through
//! [`eddy_body::optimise`], and then loops become vectors. Both have the same values and failures.
//!
//! # Memory
//!
//! The caller provides an arena with two ends. Temporaries are a stack at the low end: a function or an
//! iteration of a loop releases its temporaries when it ends, and moves its results to where they began. At
//! the high end are tapes, which outlive the iteration that creates them, and rows of loops with an unknown
//! number of rows. Scalars are C locals.
//!
//! # Invariants
//!
//! * The same bits and the same failures as the interpreter (law L1): statements and sums keep their order,
//!   and the compiler may not contract or reassociate. Fuel is counted where the interpreter counts it; a
//!   loop whose iterations use no fuel of their own pays in advance.
//! * Memory is counted differently: a run that exceeds the arena ends with `memory`, possibly earlier or
//!   later than in the interpreter.

mod aliases;
pub(crate) mod applied;
mod body;
mod constants;
mod facts;
mod lanes;
mod lazy;
mod loops;
mod names;
pub mod package;
mod peel;
mod places;
mod run;
mod scalar;
mod sites;
mod sized;
mod small;
mod tapes;
mod tensor;
mod text;
mod unroll;
mod variants;

use std::fmt::Write;
use std::rc::Rc;

use eddy_body::optimise::inline;
use eddy_body::verify::{Types, VerifyError};
use eddy_body::{BodyId, Elem, Kind, Module, Region, Type, verify_final};
use eddy_syntax::Span;
use rustc_hash::{FxHashMap, FxHashSet};

pub use applied::AppliedFunction;
use body::{Shared, declared};
use names::{Names, c_word};
pub use run::Compiled;
pub use sites::Sites;
use tapes::word_field;
use variants::Callee;

use crate::precision::Precision;
use crate::runtime;

/// The C of a module.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// The text, which includes `eddy_rt.h`.
    pub source: String,
    pub runtime_header: String,
    pub sites: Sites,
    /// The bodies that can be called, in the order of the request, with their interfaces.
    pub entries: Vec<Entry>,
    /// Whether a body may call itself.
    pub is_recursive: bool,
}

/// A body that can be called from outside.
#[derive(Clone, Debug)]
pub struct Entry {
    pub body: BodyId,
    /// `int SYMBOL(eddy_arena *, const eddy_word *in, eddy_word *out)`.
    pub symbol: String,
    pub params: Vec<Type>,
    pub results: Vec<Type>,
}

const ARENA: &str = "\
typedef struct {
  char *base;
  size_t size, low, high;
  int64_t fuel, depth;
  int32_t line, col;
} eddy_arena;
";

/// What code counts while it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Meter {
    /// Fuel and the depth of calls, as the interpreter does.
    #[default]
    Exact,
    /// Only the depth of calls in modules with recursion. Runs have no limit on fuel, and one on depth that
    /// is not below the number of bodies.
    Free,
}

/// The C of a final module whose `entries` can be called; omits bodies that no entry reaches.
pub fn emit(module: &Module, entries: &[BodyId], meter: Meter) -> Result<Emitted, VerifyError> {
    emit_for(module, entries, meter, &[])
}

/// The same for arguments with these sizes: for each entry, the sizes of all its tensors one after the other,
/// as far as they are known. Entries without sizes take all.
pub fn emit_for(
    module: &Module,
    entries: &[BodyId],
    meter: Meter,
    sizes: &[Vec<Option<i64>>],
) -> Result<Emitted, VerifyError> {
    let optimised = (meter == Meter::Free).then(|| inline(module, entries));
    let (code, shared) = code(optimised.as_ref().unwrap_or(module), entries, meter, sizes, None)?;
    let entries: Vec<Entry> = entries
        .iter()
        .map(|id| {
            let body = module.body(*id);
            Entry {
                body: *id,
                symbol: format!("eddy_call_{}", id.index()),
                params: body.params.iter().map(|param| param.ty).collect(),
                results: body.results.clone(),
            }
        })
        .collect();
    let callees = entries.iter().zip(&code.callees);
    let wrappers: String = callees.map(|(entry, callee)| wrapper(entry, callee)).collect();
    Ok(Emitted {
        source: format!("#include \"eddy_rt.h\"\n\n{ARENA}\n{}{wrappers}", code.text),
        runtime_header: runtime::header(Precision::Double),
        sites: shared.sites,
        entries,
        is_recursive: code.is_recursive,
    })
}

/// The functions of all needed bodies.
struct Code {
    text: String,
    is_recursive: bool,
    /// Whether a function needs memory of the arena.
    uses_arena: bool,
    /// The function of each entry.
    callees: Vec<Callee>,
}

/// The position of a statement in the source: line and column.
pub type Place<'a> = dyn Fn(Span) -> (u32, u32) + 'a;

fn code<'a>(
    module: &'a Module,
    entries: &[BodyId],
    meter: Meter,
    sizes: &[Vec<Option<i64>>],
    place: Option<&'a Place<'a>>,
) -> Result<(Code, Shared<'a>), VerifyError> {
    let types = Rc::new(verify_final(module)?);
    let mut shared = shared(module, Rc::clone(&types), place);
    shared.meter = meter;
    let is_needed = |id: BodyId| {
        entries.contains(&id) || entries.iter().any(|entry| shared.reached[entry.index()].contains(&id))
    };
    let mut needed = (0..module.bodies.len()).map(BodyId::new).filter(|id| is_needed(*id));
    let is_recursive = needed.any(|id| shared.reached[id.index()].contains(&id));
    shared.is_recursive = is_recursive;
    let callees = variants::write(&mut shared, entries, sizes);
    let (rank, results) = limits(module, &types);
    let text = format!(
        "#define EDDY_RANK {rank}\n#define EDDY_RESULTS {results}\n{}\n{}{}\n{}{}",
        include_str!("../runtime/functions.h"),
        if shared.uses_lanes { include_str!("../runtime/lanes.h") } else { "" },
        shared.tables,
        variants::declarations(&shared),
        shared.functions,
    );
    Ok((Code { text, is_recursive, uses_arena: shared.uses_arena, callees }, shared))
}

/// The highest rank in the module, and the largest number of results of a body, as array lengths in C.
fn limits(module: &Module, types: &Types) -> (usize, usize) {
    let ranks = (0..module.bodies.len()).flat_map(|id| types.of(BodyId::new(id)).iter().map(|ty| ty.rank));
    let results = module.bodies.iter().map(|body| body.results.len());
    (ranks.max().unwrap_or(0).max(1), results.max().unwrap_or(0).max(1))
}

/// For each body, the bodies that it calls directly or indirectly.
fn reached(module: &Module) -> Vec<FxHashSet<BodyId>> {
    let callees: Vec<FxHashSet<BodyId>> = module.bodies.iter().map(|body| callees(&body.region)).collect();
    let of = |id: usize| {
        let mut found = callees[id].clone();
        let mut open: Vec<BodyId> = found.iter().copied().collect();
        while let Some(next) = open.pop() {
            open.extend(callees[next.index()].iter().copied().filter(|callee| found.insert(*callee)));
        }
        found
    };
    (0..module.bodies.len()).map(of).collect()
}

fn shared<'a>(module: &'a Module, types: Rc<Types>, place: Option<&'a Place<'a>>) -> Shared<'a> {
    let reached = reached(module);
    let mut names = Names::default();
    let own_names = module.bodies.iter().map(|body| names.of(&format!("f_{}", c_word(&body.name)))).collect();
    Shared {
        module,
        types,
        names: own_names,
        calls_none: reached.iter().map(FxHashSet::is_empty).collect(),
        all_names: names,
        reached,
        functions: String::new(),
        variants: FxHashMap::default(),
        depth: 0,
        waiting: Vec::new(),
        general: Vec::new(),
        sites: Sites::default(),
        place,
        uses_arena: false,
        meter: Meter::Exact,
        is_recursive: false,
        uses_lanes: false,
        tables: String::new(),
        n_tables: 0,
    }
}

fn callees(region: &Region) -> FxHashSet<BodyId> {
    let mut found = FxHashSet::default();
    let mut open = vec![region];
    while let Some(region) = open.pop() {
        for stmt in &region.stmts {
            if let Kind::Call(_, callee, _) = stmt.kind {
                found.insert(callee);
            }
            open.extend(stmt.kind.regions());
        }
    }
    found
}

/// A function that takes and returns words: one for a scalar; the address and the sizes of a tensor.
fn wrapper(entry: &Entry, callee: &Callee) -> String {
    let mut text = format!(
        "\nint {}(eddy_arena *a, const eddy_word *in, eddy_word *out) {{\n  (void)in;\n  (void)out;\n",
        entry.symbol
    );
    let mut arguments = vec!["a".to_owned()];
    let (mut at, mut known) = (0, callee.sizes.iter());
    for ty in &entry.params {
        let argument = match (ty.rank, ty.elem) {
            (0, Elem::Bool) => format!("in[{at}].integer != 0"),
            (0, elem) => format!("in[{at}].{}", word_field(elem, false)),
            _ => format!("in[{at}].data"),
        };
        arguments.push(argument);
        let sizes = (0..ty.rank).filter(|_| known.next().is_none_or(Option::is_none));
        arguments.extend(sizes.map(|k| format!("in[{}].integer", at + 1 + k)));
        at += 1 + ty.rank;
    }
    let (mut after, mut at) = (String::new(), 0);
    for (k, (ty, sizes)) in entry.results.iter().zip(&callee.results).enumerate() {
        let stars = if ty.rank == 0 { "" } else { "*" };
        if let Some(sizes) = sizes {
            // Its sizes are known, and it is written to memory of the caller.
            let bytes = format!("(size_t)({}) * {}", sizes.join(" * "), body::n_bytes(ty.elem));
            let _ = writeln!(
                text,
                "  {} = eddy_low(a, {bytes});",
                declared(ty.elem, "*const ", &format!("r{k}"))
            );
            let _ = writeln!(text, "  if (!r{k}) EDDY_FAIL(EDDY_MEMORY, 1, 0);");
            arguments.push(format!("r{k}"));
        } else {
            let _ = writeln!(text, "  {} = 0;", declared(ty.elem, stars, &format!("r{k}")));
            arguments.push(format!("&r{k}"));
        }
        let _ = writeln!(after, "  out[{at}].{} = r{k};", word_field(ty.elem, ty.rank > 0));
        if ty.rank > 0 && sizes.is_none() {
            let _ = writeln!(text, "  int64_t r{k}_n[{}] = {{ 0 }};", ty.rank);
            arguments.push(format!("r{k}_n"));
        }
        for axis in 0..ty.rank {
            let size = match sizes {
                Some(sizes) => sizes[axis].clone(),
                None => format!("r{k}_n[{axis}]"),
            };
            let _ = writeln!(after, "  out[{}].integer = {size};", at + 1 + axis);
        }
        at += 1 + ty.rank;
    }
    let _ = writeln!(text, "  const int code = {}({});", callee.name, arguments.join(", "));
    let _ = writeln!(text, "  if (code) return code;\n{after}  return 0;\n}}");
    text
}
