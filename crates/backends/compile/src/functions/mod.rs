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
//! * [`aliases`]: which tensors may be read in the memory of others. [`facts`]: which checks certainly hold.
//! * [`run`]: builds, loads and calls it. [`sites`]: translates failures of compiled code. [`names`],
//!   [`text`]: the text.
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
mod loops;
mod names;
pub mod package;
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

/// The C of a final module whose `entries` can be called; omits bodies that no entry reaches.
pub fn emit(module: &Module, entries: &[BodyId]) -> Result<Emitted, VerifyError> {
    let (code, shared) = code(module, entries, None)?;
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
    let wrappers: String = entries.iter().map(|entry| wrapper(&shared, entry)).collect();
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
}

/// The position of a statement in the source: line and column.
pub type Place<'a> = dyn Fn(Span) -> (u32, u32) + 'a;

fn code<'a>(
    module: &'a Module,
    entries: &[BodyId],
    place: Option<&'a Place<'a>>,
) -> Result<(Code, Shared<'a>), VerifyError> {
    let types = Rc::new(verify_final(module)?);
    let mut shared = shared(module, Rc::clone(&types), place);
    let is_needed = |id: BodyId| {
        entries.contains(&id) || entries.iter().any(|entry| shared.reached[entry.index()].contains(&id))
    };
    let mut needed = (0..module.bodies.len()).map(BodyId::new).filter(|id| is_needed(*id));
    let is_recursive = needed.any(|id| shared.reached[id.index()].contains(&id));
    variants::write(&mut shared, entries);
    let (rank, results) = limits(module, &types);
    let text = format!(
        "#define EDDY_RANK {rank}\n#define EDDY_RESULTS {results}\n{}\n{}\n{}{}",
        include_str!("../runtime/functions.h"),
        shared.tables,
        variants::declarations(&shared),
        shared.functions,
    );
    Ok((Code { text, is_recursive, uses_arena: shared.uses_arena }, shared))
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
fn wrapper(shared: &Shared<'_>, entry: &Entry) -> String {
    let mut text = format!(
        "\nint {}(eddy_arena *a, const eddy_word *in, eddy_word *out) {{\n  (void)in;\n  (void)out;\n",
        entry.symbol
    );
    let mut arguments = vec!["a".to_owned()];
    let mut at = 0;
    for ty in &entry.params {
        let argument = match (ty.rank, ty.elem) {
            (0, Elem::Bool) => format!("in[{at}].integer != 0"),
            (0, elem) => format!("in[{at}].{}", word_field(elem, false)),
            _ => format!("in[{at}].data"),
        };
        arguments.push(argument);
        arguments.extend((0..ty.rank).map(|k| format!("in[{}].integer", at + 1 + k)));
        at += 1 + ty.rank;
    }
    let (mut after, mut at) = (String::new(), 0);
    for (k, ty) in entry.results.iter().enumerate() {
        let stars = if ty.rank == 0 { "" } else { "*" };
        let _ = writeln!(text, "  {} = 0;", declared(ty.elem, stars, &format!("r{k}")));
        arguments.push(format!("&r{k}"));
        let _ = writeln!(after, "  out[{at}].{} = r{k};", word_field(ty.elem, ty.rank > 0));
        if ty.rank > 0 {
            let _ = writeln!(text, "  int64_t r{k}_n[{}] = {{ 0 }};", ty.rank);
            arguments.push(format!("r{k}_n"));
            for axis in 0..ty.rank {
                let _ = writeln!(after, "  out[{}].integer = r{k}_n[{axis}];", at + 1 + axis);
            }
        }
        at += 1 + ty.rank;
    }
    let name = &shared.names[entry.body.index()];
    let _ = writeln!(text, "  const int code = {name}({});", arguments.join(", "));
    let _ = writeln!(text, "  if (code) return code;\n{after}  return 0;\n}}");
    text
}
