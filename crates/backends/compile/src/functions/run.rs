//! Compiled functions that can be called like the interpreter.

use std::sync::{Mutex, PoisonError};

use eddy_body::{BodyId, Elem, Limits, Module, RunError, Type};
use eddy_loader::functions::{
    Arena, Argument, CallLimits, ElementKind, Elements, Entry as Loaded, Output, OutputElements,
};
use eddy_tensor::{Data, Shape, Value};

use super::{Emitted, Sites};
use crate::build::{BuildError, BuildOptions, Built, build_functions};

/// The size of the arena for calls without a limit on memory. The system provides pages on first access; if
/// it does not reserve this much, the arena is smaller.
const ARENA: usize = 1 << 36;

/// A module whose entries are compiled and loaded.
#[derive(Debug)]
pub struct Compiled {
    /// The names of bodies, for errors.
    names: Vec<String>,
    sites: Sites,
    entries: Vec<(BodyId, Vec<Type>, Vec<Type>, Loaded)>,
    is_recursive: bool,
    /// Reused by later calls.
    arena: Mutex<Option<(usize, Arena)>>,
}

impl Compiled {
    /// Builds the C of a module, or finds it in the cache; `tell` is called before the compiler runs.
    pub fn build(
        module: &Module,
        emitted: Emitted,
        options: &BuildOptions,
        tell: &mut dyn FnMut(),
    ) -> Result<(Built, Compiled), BuildError> {
        let (built, functions) = build_functions(&emitted, options, tell)?;
        let Emitted { sites, entries, is_recursive, .. } = emitted;
        let loaded = entries.into_iter().map(|entry| {
            let role = entry.body.index().to_string();
            let loaded = functions.entry("eddy_call", &role);
            loaded.map(|loaded| (entry.body, entry.params, entry.results, loaded))
        });
        let entries =
            loaded.collect::<Result<_, _>>().map_err(|error| BuildError::NotLoaded(error.to_string()))?;
        let names = module.bodies.iter().map(|body| body.name.clone()).collect();
        Ok((built, Compiled { names, sites, entries, is_recursive, arena: Mutex::new(None) }))
    }

    /// Runs an entry with these arguments, which have the types of its parameters; returns its results, like
    /// [`Program::run`](eddy_body::Program::run) of the interpreter.
    pub fn run(&self, body: BodyId, arguments: &[Value], limits: &Limits) -> Result<Vec<Value>, RunError> {
        self.run_counting(body, arguments, limits).0
    }

    /// Like [`run`](Self::run), and returns the fuel that was used.
    pub fn run_counting(
        &self,
        body: BodyId,
        arguments: &[Value],
        limits: &Limits,
    ) -> (Result<Vec<Value>, RunError>, u64) {
        let entry = self.entries.iter().find(|(id, ..)| *id == body);
        let (_, params, results, loaded) = entry.expect("only entries are called");
        assert_eq!(params.len(), arguments.len(), "arguments of `{}`", self.names[body.index()]);
        let fits = |(ty, value): (&Type, &Value)| {
            let is_right = match ty.elem {
                Elem::Num => value.scalar() == eddy_tensor::Scalar::Num,
                Elem::Bool => value.scalar() == eddy_tensor::Scalar::Bool,
                Elem::Int | Elem::Enum(_) => value.scalar() == eddy_tensor::Scalar::Int,
                Elem::Tape => false,
            };
            is_right && value.shape().len() == ty.rank
        };
        assert!(params.iter().zip(arguments).all(fits), "an argument has another type");
        let kinds: Vec<(ElementKind, usize)> = results.iter().map(|ty| (kind(ty.elem), ty.rank)).collect();
        let arguments: Vec<Argument<'_>> = arguments.iter().map(argument).collect();
        let given = limits.fuel.map_or(i64::MAX, |fuel| i64::try_from(fuel).unwrap_or(i64::MAX));
        let mut call_limits = CallLimits {
            fuel: given,
            depth: i64::try_from(limits.depth).unwrap_or(i64::MAX),
            is_recursive: self.is_recursive,
        };
        let size = limits.memory.unwrap_or(ARENA);
        let mut kept = self.arena.lock().unwrap_or_else(PoisonError::into_inner);
        let mut arena = match kept.take() {
            Some((bytes, arena)) if bytes == size => arena,
            _ => Arena::new(size),
        };
        let outcome = loaded.call(&mut arena, &mut call_limits, &arguments, &kinds);
        let spent = u64::try_from(given - call_limits.fuel).unwrap_or(0);
        *kept = Some((size, arena));
        let found = match outcome {
            Ok(outputs) => Ok(outputs.into_iter().map(value).collect()),
            Err(stopped) => {
                let site = usize::try_from(stopped.line).expect("a site is a number");
                Err(self.sites.error(&self.names, site, stopped.what, &stopped.details))
            }
        };
        (found, spent)
    }
}

fn kind(elem: Elem) -> ElementKind {
    match elem {
        Elem::Num => ElementKind::Num,
        Elem::Bool => ElementKind::Bool,
        Elem::Int | Elem::Enum(_) => ElementKind::Int,
        Elem::Tape => unreachable!("no entry has tapes"),
    }
}

fn argument(value: &Value) -> Argument<'_> {
    use std::slice::from_ref;
    let elements = match value {
        Value::Num(x) => Elements::Num(from_ref(x)),
        Value::Int(x) => Elements::Int(from_ref(x)),
        Value::Bool(x) => Elements::Bool(from_ref(x)),
        Value::Tensor(tensor) => match tensor.data() {
            Data::Num(xs) => Elements::Num(xs),
            Data::Int(xs) => Elements::Int(xs),
            Data::Bool(xs) => Elements::Bool(xs),
            Data::Num32(_) => unreachable!("functions compute in double precision"),
        },
        Value::Num32(_) => unreachable!("functions compute in double precision"),
    };
    Argument { shape: value.shape(), elements }
}

fn value(output: Output) -> Value {
    if output.shape.is_empty() {
        return match output.elements {
            OutputElements::Num(xs) => Value::Num(xs[0]),
            OutputElements::Int(xs) => Value::Int(xs[0]),
            OutputElements::Bool(xs) => Value::Bool(xs[0]),
        };
    }
    let data = match output.elements {
        OutputElements::Num(xs) => Data::Num(xs),
        OutputElements::Int(xs) => Data::Int(xs),
        OutputElements::Bool(xs) => Data::Bool(xs),
    };
    Value::new(Shape::from(output.shape), data).expect("as many elements as the shape has")
}
