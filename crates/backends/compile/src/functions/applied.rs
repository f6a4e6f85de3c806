//! Functions that nodes apply, as C functions on the memory of a node.
//!
//! A program in `imp` applies functions by name. Their operands and results are elements of arrays at a
//! constant distance, in the precision of the program. Such a function converts its operands, calls the C
//! function of a body, which computes in double precision, and copies the results:
//!
//! ```c
//! static void NODE_apply0(int64_t *memory, int32_t *error, int32_t site,
//!                         double x0, const double *x1, double *y0);
//! ```
//!
//! All results of one application come from one call. The body's arena is memory of the node's state. After a
//! failure the results are zeros, and no body runs: with meaningless numbers a loop could run forever.

use std::fmt::Write;
use std::sync::Arc;

use eddy_body::verify::VerifyError;
use eddy_body::{Applied, Body, BodyId, Kind, Module, Region};
use eddy_imp::{Function, Name, Precision, Tensor};
use eddy_tensor::Type;
use rustc_hash::FxHashMap;

use super::body::{Shared, declared, int_literal};
use super::{ARENA, Code, Meter, code, reached};
use crate::c::c_type;
use crate::precision::element_type;

/// The functions that a program applies.
#[derive(Clone, Debug, Default)]
pub(crate) struct AppliedFunctions(Vec<AppliedFunction>);

/// One or several results of a body, from operands at given places in memory.
#[derive(Clone, Debug)]
pub struct AppliedFunction {
    pub function: Function,
    /// The code of each result; all come from one call.
    pub parts: Vec<Arc<Applied>>,
}

impl AppliedFunctions {
    /// The name of the function that computes these parts of one call. The operands have elements at these
    /// distances, and so have the results.
    pub fn named(&mut self, parts: &[Arc<Applied>], operands: &[usize], results: &[usize]) -> Name {
        let tensors = |types: Vec<Type>, steps: &[usize]| -> Vec<Tensor> {
            let tensor = |(ty, step): (&Type, &usize)| Tensor {
                ty: element_type(ty.scalar),
                size: (!ty.shape.is_scalar()).then(|| ty.shape.iter().product()),
                step: if ty.shape.is_scalar() { 1 } else { *step },
            };
            types.iter().zip(steps).map(tensor).collect()
        };
        let operands = tensors(parts[0].operand_types(), operands);
        let results = tensors(parts.iter().map(|part| part.result_type()).collect(), results);
        let is_it = |known: &&AppliedFunction| {
            let is_same = |(own, other): (&Arc<Applied>, &Arc<Applied>)| {
                own.is_same_call(other) && own.picked == other.picked
            };
            known.function.operands == operands
                && known.function.results == results
                && known.parts.iter().zip(parts).all(is_same)
        };
        if let Some(known) = self.0.iter().find(is_it) {
            return known.function.name.clone();
        }
        let name: Name = format!("apply{}", self.0.len()).into();
        let function = Function { name: name.clone(), operands, results };
        self.0.push(AppliedFunction { function, parts: parts.to_vec() });
        name
    }

    pub fn into_vec(self) -> Vec<AppliedFunction> {
        self.0
    }
}

/// The C of the functions that a program applies.
pub(crate) struct Text {
    pub text: String,
    /// Whether they need memory of the state.
    pub uses_memory: bool,
}

/// The C of the functions of a program with this name; if they need memory, they have this many words.
pub(crate) fn text(
    functions: &[AppliedFunction],
    program: &str,
    precision: Precision,
    words: usize,
) -> Result<Text, VerifyError> {
    let (module, entries) = linked(functions.iter().map(|function| &*function.parts[0]));
    let (Code { text, is_recursive, uses_arena, .. }, shared) =
        code(&module, &entries, Meter::Free, &[], None)?;
    let copies = functions.iter().any(|function| {
        let has_copy = |(tensor, types): (&Tensor, &Vec<Type>)| is_copied(tensor, types, precision);
        function.function.operands.iter().zip(&function.parts[0].operands).any(has_copy)
    });
    let uses_memory = uses_arena || copies;
    let mut all = String::from(QUIET);
    let _ = write!(all, "{ARENA}\n{text}");
    let stack = if is_recursive {
        all.push_str(STACK);
        "(uint64_t)(uintptr_t)__builtin_frame_address(0) - EDDY_STACK"
    } else {
        "0"
    };
    for (function, entry) in functions.iter().zip(&entries) {
        let wrapper = Wrapper { function, shared: &shared, entry: *entry, program, precision };
        all.push_str(&wrapper.call());
        all.push_str(&wrapper.applied(uses_memory.then_some(words), stack));
    }
    all.push_str("#if defined(__GNUC__)\n#pragma GCC diagnostic pop\n#endif\n");
    Ok(Text { text: all, uses_memory })
}

/// Disables warnings about sizes that no statement reads.
const QUIET: &str = "\
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored \"-Wunused-variable\"
#pragma GCC diagnostic ignored \"-Wunused-parameter\"
#pragma GCC diagnostic ignored \"-Wunused-but-set-variable\"
#endif
";

/// A recursion that would use more stack than this fails, like one that is too deep.
const STACK: &str = "
/* How many bytes of the stack a recursive function may use. */
#ifndef EDDY_STACK
#define EDDY_STACK 524288
#endif
";

/// Links the bodies of several applications into one module; also returns the body of each application.
fn linked<'a>(applied: impl Iterator<Item = &'a Applied>) -> (Module, Vec<BodyId>) {
    let mut linked = Module::default();
    let mut ids: FxHashMap<(*const Module, BodyId), BodyId> = FxHashMap::default();
    let mut entries = Vec::new();
    for part in applied {
        let module = &*part.module;
        // Modules of one program have the same enumerations.
        if linked.enums.len() < module.enums.len() {
            linked.enums.clone_from(&module.enums);
        }
        let mut needed: Vec<BodyId> = reached(module)[part.body.index()].iter().copied().collect();
        needed.push(part.body);
        needed.sort_unstable();
        needed.dedup();
        needed.retain(|id| !ids.contains_key(&(std::ptr::from_ref(module), *id)));
        let first = linked.bodies.len();
        for (at, id) in needed.iter().enumerate() {
            ids.insert((std::ptr::from_ref(module), *id), BodyId::new(first + at));
        }
        for id in needed {
            let body: &Body = module.body(id);
            let mut copy = Body { name: format!("{}_{}", body.name, linked.bodies.len()), ..body.clone() };
            renumber(&mut copy.region, &|id| ids[&(std::ptr::from_ref(module), id)]);
            linked.bodies.push(copy);
        }
        entries.push(ids[&(std::ptr::from_ref(module), part.body)]);
    }
    (linked, entries)
}

/// Replaces the bodies that a region calls. Regions nest only as deep as the parser of bodies allows.
fn renumber(region: &mut Region, new: &dyn Fn(BodyId) -> BodyId) {
    for stmt in &mut region.stmts {
        match &mut stmt.kind {
            Kind::Call(_, callee, _) => *callee = new(*callee),
            Kind::If(_, yes, no) => {
                renumber(yes, new);
                renumber(no, new);
            }
            Kind::Loop(repeat) => {
                if let eddy_body::Control::While(condition) = &mut repeat.control {
                    renumber(condition, new);
                }
                renumber(&mut repeat.body, new);
            }
            Kind::Const(_)
            | Kind::Op(..)
            | Kind::Index(..)
            | Kind::Update(..)
            | Kind::Increase(..)
            | Kind::Add(..)
            | Kind::Unpack(..) => {}
        }
    }
}

/// Whether the tensors of an operand are copied before the call: their elements are not adjacent, or have
/// single precision.
fn is_copied(tensor: &Tensor, types: &[Type], precision: Precision) -> bool {
    let is_single = tensor.ty == eddy_imp::Type::Num && precision == Precision::Single;
    let has_tensor = types.iter().any(|ty| !ty.shape.is_scalar());
    has_tensor && (tensor.step != 1 || is_single)
}

fn size(ty: &Type) -> usize {
    ty.shape.iter().product()
}

struct Wrapper<'a> {
    function: &'a AppliedFunction,
    shared: &'a Shared<'a>,
    entry: BodyId,
    program: &'a str,
    precision: Precision,
}

impl Wrapper<'_> {
    fn name(&self) -> String {
        format!("{}_{}", self.program, self.function.function.name)
    }

    /// The operands and results, as parameters.
    fn parameters(&self) -> String {
        let Function { operands, results, .. } = &self.function.function;
        let operands = operands.iter().enumerate().map(|(k, tensor)| {
            let ty = c_type(tensor.ty, self.precision);
            if tensor.size.is_none() { format!("{ty} x{k}") } else { format!("const {ty} *x{k}") }
        });
        let results = results
            .iter()
            .enumerate()
            .map(|(k, tensor)| format!("{} *y{k}", c_type(tensor.ty, self.precision)));
        operands.chain(results).flat_map(|parameter| [", ".to_owned(), parameter]).collect()
    }

    fn arguments(&self) -> String {
        let Function { operands, results, .. } = &self.function.function;
        let operands = (0..operands.len()).map(|k| format!(", x{k}"));
        operands.chain((0..results.len()).map(|k| format!(", y{k}"))).collect()
    }

    /// The function that converts operands and results: it returns 0 or the code of a failure.
    fn call(&self) -> String {
        let name = self.name();
        let mut text = format!("\nstatic int {name}_call(eddy_arena *a{}) {{\n", self.parameters());
        let mut arguments = vec!["a".to_owned()];
        for k in 0..self.function.function.operands.len() {
            self.operand(k, &mut arguments, &mut text);
        }
        let body = self.shared.module.body(self.entry);
        for (k, ty) in body.results.iter().enumerate() {
            let stars = if ty.rank == 0 { "" } else { "*" };
            let _ = writeln!(text, "  {} = 0;", declared(ty.elem, stars, &format!("r{k}")));
            arguments.push(format!("&r{k}"));
            if ty.rank > 0 {
                let _ = writeln!(text, "  int64_t r{k}_n[{}] = {{ 0 }};", ty.rank);
                arguments.push(format!("r{k}_n"));
            }
        }
        let callee = &self.shared.names[self.entry.index()];
        let _ = writeln!(text, "  const int code = {callee}({});", arguments.join(", "));
        text.push_str("  if (code) return code;\n");
        for (k, part) in self.function.parts.iter().enumerate() {
            self.result(k, part, &mut text);
        }
        text.push_str("  return 0;\n}\n");
        text
    }

    /// Adds the arguments of the body for an operand.
    fn operand(&self, k: usize, arguments: &mut Vec<String>, text: &mut String) {
        let (types, tensor) = (&self.function.parts[0].operands[k], &self.function.function.operands[k]);
        if tensor.size.is_none() {
            return arguments.push(format!("x{k}"));
        }
        let all: usize = types.iter().map(size).sum();
        let ty = c_type(tensor.ty, Precision::Double);
        let is_copied = is_copied(tensor, types, self.precision);
        if is_copied {
            let _ = writeln!(text, "  {ty} *const c{k} = eddy_low(a, {} * sizeof({ty}));", all.max(1));
            let _ = writeln!(text, "  if (!c{k}) EDDY_FAIL(EDDY_MEMORY, 0, 0);");
            let element = format!("x{k}[k * {}]", tensor.step);
            let _ = writeln!(text, "  for (int64_t k = 0; k < {all}; k++) c{k}[k] = {element};");
        }
        let mut at = 0;
        for ty in types {
            let data = if is_copied {
                format!("c{k}")
            } else {
                format!("({} *)x{k}", c_type(tensor.ty, Precision::Double))
            };
            if ty.shape.is_scalar() {
                let element =
                    if is_copied { format!("c{k}[{at}]") } else { format!("x{k}[{}]", at * tensor.step) };
                arguments.push(element);
            } else {
                arguments.push(if at == 0 { data } else { format!("{data} + {at}") });
                arguments.extend(ty.shape.iter().map(|n| int_literal(i64::try_from(*n).unwrap_or(i64::MAX))));
            }
            at += size(ty);
        }
    }

    /// Copies the tensors of a result.
    fn result(&self, k: usize, part: &Applied, text: &mut String) {
        let tensor = &self.function.function.results[k];
        let cast = match (tensor.ty, self.precision) {
            (eddy_imp::Type::Num, Precision::Single) => "(float)",
            _ => "",
        };
        let mut at = 0;
        for (picked, ty) in part.picked.iter().zip(&part.result) {
            if ty.shape.is_scalar() {
                let _ = writeln!(text, "  y{k}[{}] = {cast}r{picked};", at * tensor.step);
            } else {
                let to = match (at, tensor.step) {
                    (0, 1) => "k".to_owned(),
                    (at, 1) => format!("k + {at}"),
                    (0, step) => format!("k * {step}"),
                    (at, step) => format!("(k + {at}) * {step}"),
                };
                let n = size(ty);
                let _ =
                    writeln!(text, "  for (int64_t k = 0; k < {n}; k++) y{k}[{to}] = {cast}r{picked}[k];");
            }
            at += size(ty);
        }
    }

    /// The function that the program calls.
    fn applied(&self, words: Option<usize>, stack: &str) -> String {
        let name = self.name();
        let mut text = format!(
            "\nstatic void {name}(int64_t *memory, int32_t *error, int32_t site{}) {{\n  if (*error == 0) {{\n",
            self.parameters()
        );
        match words {
            // The memory is aligned to numbers; an arena needs a stricter alignment.
            Some(words) => {
                let bytes = words * 8 - 16;
                let _ = write!(
                    text,
                    "    char *const base = (char *)memory + (16 - (uintptr_t)memory % 16) % 16;\n\
                     \x20   eddy_arena arena = {{ base, {bytes}, EDDY_RESERVED, {bytes}, INT64_MAX, {DEPTH}, 0, 0 }};\n"
                );
            }
            None => {
                let _ = write!(
                    text,
                    "    uint64_t words[2] = {{ 0, 0 }};\n    (void)memory;\n\
                     \x20   char *const base = (char *)words;\n\
                     \x20   eddy_arena arena = {{ base, 16, 16, 16, INT64_MAX, {DEPTH}, 0, 0 }};\n"
                );
            }
        }
        let _ = write!(
            text,
            "    ((uint64_t *)(void *)base)[0] = {stack};\n\
             \x20   if ({name}_call(&arena{}) == 0) return;\n    *error = site;\n  }}\n",
            self.arguments()
        );
        for (k, tensor) in self.function.function.results.iter().enumerate() {
            let zero = match tensor.ty {
                eddy_imp::Type::Bool => "false",
                _ => "0",
            };
            let _ = match tensor.size {
                None => writeln!(text, "  y{k}[0] = {zero};"),
                Some(n) => {
                    let at = if tensor.step == 1 { "k".to_owned() } else { format!("k * {}", tensor.step) };
                    writeln!(text, "  for (int64_t k = 0; k < {n}; k++) y{k}[{at}] = {zero};")
                }
            };
        }
        text.push_str("}\n");
        text
    }
}

/// The largest number of nested calls, as in the simulator.
const DEPTH: usize = 1_000_000;
