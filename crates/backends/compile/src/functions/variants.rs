//! A body becomes C functions: one for all sizes of its arguments, and others for sizes that a caller knows.
//!
//! ```text
//! // Returns 0, or the code of a failure.
//! static int NAME(eddy_arena *a, parameters.., where the results go..)
//! ```
//!
//! Sizes are known if the text gives them (`num [3]`, a list of three elements), or if they follow from such
//! sizes. A caller that knows sizes of its arguments calls a *variant*, in which these are literals, so that
//! the C compiler treats small tensors like scalars. A result whose sizes are literals too is written to
//! memory of the caller. The other results are stored one after the other at the low end of the arena, where
//! the temporaries of the function began.
//!
//! Recursive bodies have one function, for all sizes: the sizes of a variant's results are known only when it
//! is written, and a recursion could need new variants forever.

use std::rc::Rc;

use eddy_body::{Body, BodyId, Elem, Region, Stmt, Var};
use rustc_hash::FxHashMap;

use super::aliases::Aliases;
use super::body::{Emitter, Repr, Shared, Tensor, declared, has_tapes, int_literal, n_bytes};
use super::facts::Facts;
use super::lazy;
use super::names::Names;
use super::small::ARRAY;
use super::tapes::Layout;
use super::text::Text;

/// A function for known sizes of its arguments.
#[derive(Clone, Debug)]
pub(super) struct Variant {
    name: String,
    /// The sizes of results that are written to the caller's memory.
    results: Vec<Option<Vec<String>>>,
    /// The layouts of tapes that it returns.
    layouts: Vec<Option<Rc<Layout>>>,
}

/// What a caller knows about the arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Known {
    /// The sizes of all tensors, one after the other.
    sizes: Vec<Option<i64>>,
    /// For each parameter, the layout of its tape.
    layouts: Vec<Option<Rc<Layout>>>,
}

/// The number of bytes left for the C arrays of a function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget(pub i64);

/// The largest depth of functions that are being written, and the largest number of variants of a body.
const MAX_DEPTH: usize = 24;
const MAX_VARIANTS: usize = 8;

/// The bytes of C arrays in a function; fewer in recursive functions, which use up the stack.
const ARRAYS: i64 = 1 << 13;
const ARRAYS_OF_RECURSIONS: i64 = 1 << 8;

/// Bodies with more statements are not inlined: compilers inline a function that is called once, and then
/// take very long on the large functions of derivatives.
const INLINED: usize = 60;

fn n_statements(region: &Region) -> usize {
    let inside = |stmt: &Stmt| stmt.kind.regions().into_iter().map(n_statements).sum::<usize>();
    region.stmts.iter().map(|stmt| 1 + inside(stmt)).sum()
}

/// The parameters, their names, and how statements read them.
struct Head {
    list: Vec<String>,
    names: Names,
    reprs: Vec<Option<Repr>>,
}

/// The parameters of a function; known sizes are omitted.
fn head(body: &Body, known: &[Option<i64>]) -> Head {
    let mut names = Names::default();
    let mut reprs = vec![None; body.names.len()];
    let mut list = vec!["eddy_arena *a".to_owned()];
    let mut known = known.iter();
    for param in &body.params {
        let name = names.of(body.name(param.var));
        let repr = if param.ty.rank == 0 {
            let stars = if param.is_acc { "*" } else { "" };
            list.push(declared(param.ty.elem, stars, &name));
            Repr::Scalar(if param.is_acc { format!("(*{name})") } else { name })
        } else {
            list.push(declared(param.ty.elem, "*", &name));
            let mut sizes = Vec::new();
            for axis in 0..param.ty.rank {
                if let Some(Some(size)) = known.next() {
                    sizes.push(int_literal(*size));
                    continue;
                }
                let size = names.of(&format!("{name}_n{axis}"));
                list.push(format!("int64_t {size}"));
                sizes.push(size);
            }
            Repr::Tensor(Tensor { data: name, sizes })
        };
        reprs[param.var.index()] = Some(repr);
    }
    Head { list, names, reprs }
}

/// The declaration of a function; a result of known sizes is written to the caller's memory.
fn declaration(name: &str, body: &Body, mut list: Vec<String>, results: &[Option<Vec<String>>]) -> String {
    for (k, ty) in body.results.iter().enumerate() {
        let is_known = results.get(k).is_some_and(Option::is_some);
        let stars = if ty.rank == 0 || is_known { "*" } else { "**" };
        list.push(declared(ty.elem, stars, &format!("eddy_r{k}")));
        if ty.rank > 0 && !is_known {
            list.push(format!("int64_t *eddy_r{k}_n"));
        }
    }
    let linkage = if n_statements(&body.region) > INLINED { "EDDY_LARGE int" } else { "static int" };
    format!("{linkage} {name}({})", list.join(", "))
}

/// The function of an entry.
pub(super) struct Callee {
    pub name: String,
    /// The sizes of all its parameters; those that are known are omitted in calls.
    pub sizes: Vec<Option<i64>>,
    /// The sizes of results that are written to the caller's memory.
    pub results: Vec<Option<Vec<String>>>,
}

/// Writes the functions of these bodies, and all functions that they call. The sizes of an entry's arguments
/// may be known.
pub(super) fn write(shared: &mut Shared<'_>, entries: &[BodyId], sizes: &[Vec<Option<i64>>]) -> Vec<Callee> {
    let mut callees = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let body = shared.module.body(*entry);
        let sizes = sizes.get(at).filter(|sizes| sizes.iter().any(Option::is_some));
        let known = sizes.cloned().map(|sizes| Known { sizes, layouts: vec![None; body.params.len()] });
        let variant = known.and_then(|known| Some((callee(shared, *entry, known.clone())?, known.sizes)));
        if variant.is_none() {
            require(shared, *entry);
        }
        callees.push(match variant {
            Some((Variant { name, results, .. }, sizes)) => Callee { name, sizes, results },
            None => Callee {
                name: shared.names[entry.index()].clone(),
                sizes: Vec::new(),
                results: vec![None; body.results.len()],
            },
        });
    }
    while let Some(id) = shared.waiting.pop() {
        function(shared, id, None);
    }
    callees
}

/// Requests the function of a body for all sizes.
fn require(shared: &mut Shared<'_>, id: BodyId) {
    if !shared.general.contains(&id) {
        shared.general.push(id);
        shared.waiting.push(id);
    }
}

/// The declarations of functions that may be called before they are written.
pub(super) fn declarations(shared: &Shared<'_>) -> String {
    let line = |id: &BodyId| {
        let body = shared.module.body(*id);
        format!("{};\n", declaration(&shared.names[id.index()], body, head(body, &[]).list, &[]))
    };
    shared.general.iter().map(line).collect()
}

/// Writes the function of a body, for all sizes or for these.
fn function(shared: &mut Shared<'_>, id: BodyId, known: Option<&Known>) -> Variant {
    let body = shared.module.body(id);
    let Head { list, names, reprs } = head(body, known.map_or(&[], |known| &known.sizes));
    let layouts = known.iter().flat_map(|known| known.layouts.iter().zip(&body.params));
    let layouts = layouts.filter_map(|(layout, param)| Some((param.var, layout.clone()?))).collect();
    let name = match known {
        None => shared.names[id.index()].clone(),
        Some(_) => {
            let like = shared.names[id.index()].clone();
            shared.all_names.of(&like)
        }
    };
    let types = Rc::clone(&shared.types);
    let is_recursive = shared.reached[id.index()].contains(&id);
    shared.depth += 1;
    let mut emitter = Emitter {
        shared,
        id,
        body,
        types: types.of(id),
        text: Text { lines: String::new(), depth: 1 },
        facts: Facts::default(),
        aliases: Aliases::new(body),
        names,
        reprs,
        direct: FxHashMap::default(),
        uses_low: false,
        uses_high: false,
        vectorises: false,
        at: String::new(),
        n_fails: 0,
        arrays: String::new(),
        budget: Budget(if is_recursive { ARRAYS_OF_RECURSIONS } else { ARRAYS }),
        layouts,
        n_copies: 1,
        bail: None,
        once: lazy::read_once(body).into_iter().collect(),
        lazy: FxHashMap::default(),
    };
    emitter.region(&body.region);
    let results = emitter.finish(known.is_some());
    let (uses_low, uses_high) = (emitter.uses_low, emitter.uses_high && !has_tapes(body));
    let is_kept = |(k, ty): (usize, &eddy_body::Type)| ty.rank > 0 && results[k].is_none();
    let mut text = format!("\n{} {{\n", declaration(&name, body, list, &results));
    let keeps_results = body.results.iter().enumerate().any(is_kept);
    if uses_low || keeps_results {
        text.push_str("  const size_t eddy_mark = a->low;\n");
    }
    if uses_high {
        text.push_str("  const size_t eddy_mark_high = a->high;\n");
    }
    text.push_str(&emitter.arrays);
    text.push_str(&emitter.text.lines);
    if uses_high {
        text.push_str("  a->high = eddy_mark_high;\n");
    }
    text.push_str("  return 0;\n}\n");
    let uses_arena = emitter.uses_low || emitter.uses_high || keeps_results;
    let layouts = body.region.yields.iter().map(|var| emitter.layouts.get(var).cloned()).collect();
    shared.depth -= 1;
    shared.uses_arena |= uses_arena;
    let is_small = n_statements(&body.region) <= INLINED;
    let call = format!("const int eddy_code = {name}(");
    if is_recursive && is_small && known.is_none() && !shared.is_metered() && text.matches(&call).count() == 1
    {
        // One level of the recursion is inlined into the next.
        let head = format!("static int {name}(");
        let again = shared.all_names.of(&format!("{name}_again"));
        shared.functions.push_str(&text.replace(&head, &format!("EDDY_AGAIN int {again}(")));
        text = text.replace(&call, &format!("const int eddy_code = {again}("));
    }
    shared.functions.push_str(&text);
    Variant { name, results, layouts }
}

/// The variant for a call with these known sizes; `None` if the function for all sizes is called.
fn callee(shared: &mut Shared<'_>, id: BodyId, known: Known) -> Option<Variant> {
    if let Some(variant) = shared.variants.get(&(id, known.clone())) {
        return Some(variant.clone());
    }
    let is_recursive = shared.reached[id.index()].contains(&id);
    let n_variants = shared.variants.keys().filter(|(other, _)| *other == id).count();
    if is_recursive || shared.depth >= MAX_DEPTH || n_variants >= MAX_VARIANTS {
        require(shared, id);
        return None;
    }
    let variant = function(shared, id, Some(&known));
    shared.variants.insert((id, known), variant.clone());
    Some(variant)
}

impl Emitter<'_, '_> {
    pub fn call(&mut self, stmt: &Stmt, callee_id: BodyId, arguments: &[Var]) {
        let body = self.shared.module.body(callee_id);
        let is_recursive = self.shared.reached[callee_id.index()].contains(&self.id);
        self.burn();
        let stack = if is_recursive { " || eddy_stack_ends(a)" } else { "" };
        // A callee without calls does not read the depth.
        // Without recursion, the depth of calls has a bound, which callers of unmetered code compare.
        let is_limited = self.shared.is_metered() || self.shared.is_recursive;
        let counts = is_limited && !self.shared.calls_none[callee_id.index()];
        if is_limited {
            self.fail(&format!("a->depth{} == 0{stack}", if counts { "--" } else { "" }), "EDDY_DEPTH");
        }
        let sizes: Vec<String> = arguments.iter().flat_map(|argument| self.sizes(*argument)).collect();
        let known = Known {
            sizes: sizes.iter().map(|size| self.facts.literal(size)).collect(),
            layouts: arguments.iter().map(|argument| self.layouts.get(argument).cloned()).collect(),
        };
        let variant = callee(self.shared, callee_id, known);
        let mut list = vec!["a".to_owned()];
        for (param, argument) in body.params.iter().zip(arguments) {
            match self.repr(*argument).clone() {
                Repr::Scalar(text) if param.is_acc => list.push(format!("&{text}")),
                Repr::Scalar(text) => list.push(text),
                Repr::Tensor(tensor) => {
                    list.push(tensor.data);
                    let sizes = self.sizes(*argument);
                    let is_given = |size: &String| variant.is_none() || self.facts.literal(size).is_none();
                    list.extend(sizes.into_iter().filter(is_given));
                }
            }
        }
        let mut sized = Vec::new();
        for (k, result) in stmt.results.iter().enumerate() {
            let ty = self.ty(*result);
            match variant.as_ref().and_then(|variant| variant.layouts[k].clone()) {
                Some(layout) => self.layouts.insert(*result, layout),
                None => self.layouts.remove(result),
            };
            if let Some(sizes) = variant.as_ref().and_then(|variant| variant.results[k].clone()) {
                let (name, _) = self.result(*result, sizes, false);
                list.push(name);
                continue;
            }
            let name = self.name(*result);
            let stars = if ty.rank == 0 { "" } else { "*" };
            // Initialised, because compilers do not see that a call without failure assigns it.
            self.line(&format!("{} = 0;", declared(ty.elem, stars, &name)));
            list.push(format!("&{name}"));
            if ty.rank > 0 {
                self.uses_low = true;
                let sizes = self.names.of(&format!("{name}_n"));
                self.line(&format!("int64_t {sizes}[{}];", ty.rank));
                list.push(sizes.clone());
                sized.push((*result, name, sizes, ty.rank));
            } else {
                self.set(*result, Repr::Scalar(name));
            }
        }
        self.uses_high |= has_tapes(body);
        let name =
            variant.map_or_else(|| self.shared.names[callee_id.index()].clone(), |variant| variant.name);
        let call = format!("const int eddy_code = {name}({});", list.join(", "));
        self.n_fails += 1;
        self.line(&format!("{{ {call} if (EDDY_RARE(eddy_code)) return eddy_code; }}"));
        if counts {
            self.line("a->depth++;");
        }
        for (result, data, sizes, rank) in sized {
            let sizes = (0..rank).map(|k| self.local_int(&format!("{data}_n{k}"), &format!("{sizes}[{k}]")));
            let sizes = sizes.collect();
            self.set(result, Repr::Tensor(Tensor { data, sizes }));
        }
    }

    /// Returns the results to the caller and releases everything else in the arena. Returns the sizes of
    /// results that the caller has memory for.
    fn finish(&mut self, is_variant: bool) -> Vec<Option<Vec<String>>> {
        let body = self.body;
        let mut known = Vec::new();
        let (mut data, mut bytes, mut targets) = (Vec::new(), Vec::new(), Vec::new());
        for (k, var) in body.region.yields.iter().enumerate() {
            let elem = body.results[k].elem;
            let tensor = match self.repr(*var).clone() {
                Repr::Scalar(text) => {
                    self.line(&format!("*eddy_r{k} = {text};"));
                    known.push(None);
                    continue;
                }
                Repr::Tensor(_) => self.tensor(*var),
            };
            let is_small = |all: &i64| is_variant && *all <= ARRAY && elem != Elem::Tape;
            if let Some(all) = self.facts.literal_elements(&tensor.sizes).filter(is_small) {
                self.copy_elements(&format!("eddy_r{k}"), &tensor.data, &int_literal(all), elem);
                known.push(Some(tensor.sizes));
                continue;
            }
            let all = self.n_elements("eddy_result", &tensor.sizes);
            data.push(tensor.data.clone());
            bytes.push(format!("(size_t)({all}) * {}", n_bytes(elem)));
            targets.push(k);
            for (axis, size) in tensor.sizes.iter().enumerate() {
                self.line(&format!("eddy_r{k}_n[{axis}] = {size};"));
            }
            known.push(None);
        }
        if !targets.is_empty() {
            self.line(&format!("void *eddy_data[] = {{ {} }};", data.join(", ")));
            self.line(&format!("const size_t eddy_bytes[] = {{ {} }};", bytes.join(", ")));
            let condition = format!("!eddy_keep(a, eddy_mark, {}, eddy_data, eddy_bytes)", targets.len());
            if self.at.is_empty() {
                "1, 0".clone_into(&mut self.at);
            }
            self.fail(&condition, "EDDY_MEMORY");
            for (k, target) in targets.iter().enumerate() {
                self.line(&format!("*eddy_r{target} = eddy_data[{k}];"));
            }
        } else if self.uses_low {
            self.line("a->low = eddy_mark;");
        }
        known
    }
}
