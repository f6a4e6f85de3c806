//! Modules joined to one, and their entries run by both engines.

use eddy_body::{BodyId, Elem, Kind, Limits, Module, Program, Region, RunError, Type};
use eddy_compile::build::BuildOptions;
use eddy_compile::functions::{Compiled, Meter, emit};
use eddy_tensor::{Data, Shape, Value};

/// Both engines of one module.
pub struct Both {
    pub module: Module,
    interpreted: Program,
    compiled: Compiled,
}

impl Both {
    /// A final module; all bodies without accumulators and tapes can be run.
    pub fn new(module: Module) -> Both {
        let entries: Vec<BodyId> =
            (0..module.bodies.len()).map(BodyId::new).filter(|id| is_entry(&module, *id)).collect();
        Both::with_entries(module, &entries)
    }

    pub fn with_entries(module: Module, entries: &[BodyId]) -> Both {
        let interpreted = Program::new(&module).expect("it verifies");
        let mut options = BuildOptions::from_environment().expect("the environment makes sense");
        options.tries_compiler = false;
        let emitted = emit(&module, entries, Meter::Exact).expect("it verifies");
        let (_, compiled) =
            Compiled::build(&module, emitted, &options, &mut || ()).unwrap_or_else(|error| panic!("{error}"));
        Both { module, interpreted, compiled }
    }

    pub fn compiled(
        &self,
        body: BodyId,
        arguments: &[Value],
        limits: &Limits,
    ) -> Result<Vec<Value>, RunError> {
        self.compiled.run(body, arguments, limits)
    }

    /// Compares the outcomes, and returns that of the interpreter.
    #[track_caller]
    pub fn check(&self, body: BodyId, arguments: &[Value], limits: &Limits) -> Result<Vec<Value>, RunError> {
        let expected = self.interpreted.run(body, arguments, limits);
        let found = self.compiled.run(body, arguments, limits);
        let is_same = match (&expected, &found) {
            (Ok(expected), Ok(found)) => expected.iter().zip(found).all(|(x, y)| is_identical(x, y)),
            (Err(expected), Err(found)) => expected == found,
            _ => false,
        };
        assert!(
            is_same,
            "{arguments:?}, {limits:?}:\ninterpreted {expected:?}\ncompiled    {found:?}\n{}",
            self.module.show(self.module.body(body))
        );
        expected
    }
}

/// The same bits; any NaN is a NaN.
pub fn is_identical(x: &Value, y: &Value) -> bool {
    let bits = |value: &Value| -> Vec<(u8, u64)> {
        let word = |element: Value| match element {
            Value::Num(x) if x.is_nan() => (0, u64::MAX),
            Value::Num(x) => (0, x.to_bits()),
            Value::Int(x) => (1, x.cast_unsigned()),
            Value::Bool(x) => (2, u64::from(x)),
            other => panic!("{other:?}"),
        };
        value.elements().map(word).collect()
    };
    x.shape() == y.shape() && bits(x) == bits(y)
}

pub fn is_entry(module: &Module, id: BodyId) -> bool {
    let body = module.body(id);
    let is_tape = |ty: &Type| ty.elem == Elem::Tape;
    body.params.iter().all(|param| !param.is_acc && !is_tape(&param.ty)) && !body.results.iter().any(is_tape)
}

/// Modules side by side: bodies are named after the number of their module.
pub fn join(modules: Vec<Module>) -> Module {
    fn shift(region: &mut Region, by: usize) {
        for stmt in &mut region.stmts {
            match &mut stmt.kind {
                Kind::Call(_, callee, _) => *callee = BodyId::new(callee.index() + by),
                Kind::If(_, yes, no) => {
                    shift(yes, by);
                    shift(no, by);
                }
                Kind::Loop(repeat) => {
                    if let eddy_body::Control::While(condition) = &mut repeat.control {
                        shift(condition, by);
                    }
                    shift(&mut repeat.body, by);
                }
                _ => {}
            }
        }
    }
    let mut all = Module::default();
    for (number, module) in modules.into_iter().enumerate() {
        let by = all.bodies.len();
        for mut body in module.bodies {
            body.name = format!("m{number}_{}", body.name);
            shift(&mut body.region, by);
            all.bodies.push(body);
        }
    }
    all
}

/// Arguments of these types: `k` for integers, vectors of three elements.
pub fn arguments(types: &[Type], k: i64) -> Vec<Value> {
    let mut seed = 7_u64;
    let mut number = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        #[allow(clippy::cast_precision_loss)]
        let unit = (seed >> 11) as f64 / (1_u64 << 53) as f64;
        unit * 2.0 - 1.0
    };
    types
        .iter()
        .map(|ty| match (ty.elem, ty.rank) {
            (Elem::Num, 0) => number().into(),
            (Elem::Num, rank) => {
                let shape = Shape::from(vec![3; rank]);
                let data = (0..3_usize.pow(u32::try_from(rank).expect("small"))).map(|_| number()).collect();
                Value::new(shape, Data::Num(data)).expect("as many")
            }
            (Elem::Int, 0) => k.into(),
            other => panic!("no argument for {other:?}"),
        })
        .collect()
}
