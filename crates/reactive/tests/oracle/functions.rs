//! Nodes as functions that the yardstick can sample.

use std::fs;
use std::process::Command;

use eddy_compile::Precision;
use eddy_compile::emit::{Emitted, Options as EmitOptions, Source, emit};
use eddy_compile::machine::Machine;
use eddy_loader::Library;
use eddy_plan::execute::{Cell as PlanCell, Execution};
use eddy_plan::{Options as PlanOptions, Plan, plan};
use eddy_reactive::cell::Cell;
use eddy_reactive::elaborate::Given;
use eddy_reactive::infer::Hints;
use eddy_reactive::prepare::{Checks, Prepared, prepare};
use eddy_reactive::resolve::resolve;
use eddy_reactive::simulate::{Options as SimulationOptions, Simulation};
use eddy_syntax::{SourceFile, Sources};
use eddy_tables::oracle::{Datum, Outcome, Reason, Sort};
use eddy_tensor::{Data, Scalar, Shape, Type, Value};

const SEED: u64 = 1;

/// A node without memory.
pub struct Node {
    prepared: Prepared,
    plan: Plan,
}

impl Node {
    /// The node `f` of a program.
    pub fn new(text: &str) -> Node {
        let mut sources = Sources::alone(SourceFile::new("oracle.eddy", text));
        let prepared = resolve(&mut sources).and_then(|program| {
            let node = program.find("f", sources.main().end())?;
            prepare(&program, &node, &Given::default(), |_| Hints::default(), Checks::On)
        });
        let prepared = prepared.unwrap_or_else(|diagnostics| panic!("{text}: {diagnostics:?}"));
        let options = PlanOptions { seed: SEED, ..PlanOptions::default() };
        let plan = plan(&prepared.flow, &prepared.clocks, &options);
        Node { prepared, plan }
    }

    /// What its inputs are.
    pub fn sort(&self) -> Sort {
        let flow = &self.prepared.flow;
        let sort = |ty: &Type| match (ty.scalar, ty.shape.is_scalar()) {
            (Scalar::Int, true) => Sort::Int,
            (Scalar::Bool, true) => Sort::Bool,
            (_, true) => Sort::Real,
            (Scalar::Num, false) => Sort::Tensor(ty.shape.to_vec()),
            _ => panic!("tensors of reals are sampled"),
        };
        Sort::Tuple(flow.inputs.iter().map(|input| sort(&flow.var(*input).ty)).collect())
    }

    /// The node by the simulator.
    pub fn simulated(&self, input: &Datum) -> Outcome {
        let Prepared { flow, clocks, .. } = &self.prepared;
        let mut simulation =
            Simulation::new(flow, clocks, SimulationOptions { seed: SEED, ..SimulationOptions::default() });
        let cells: Vec<Cell> = values(input).into_iter().map(Cell::Value).collect();
        if simulation.open_last(&cells).is_err() {
            return Outcome::Undefined(Reason::Trap);
        }
        let outputs = flow.outputs.iter().map(|output| match simulation.cell(0, *output) {
            Cell::Value(value) => datum(value),
            other => panic!("a pure function has a value: {other:?}"),
        });
        Outcome::Value(Datum::Tuple(outputs.collect()))
    }

    /// The node by executing its plan.
    pub fn planned(&self, input: &Datum) -> Outcome {
        let Prepared { flow, clocks, .. } = &self.prepared;
        let mut execution = Execution::new(flow, clocks, &self.plan).expect("it has a static plan");
        let cells: Vec<PlanCell> = values(input).into_iter().map(PlanCell::Value).collect();
        if execution.step(&cells).is_err() || execution.finish().is_err() {
            return Outcome::Undefined(Reason::Trap);
        }
        let row = execution.next_row().expect("there is one cycle");
        let output = |cell: &PlanCell| match cell {
            PlanCell::Value(value) => datum(value),
            _ => panic!("a pure function has a value"),
        };
        Outcome::Value(Datum::Tuple(row.iter().map(output).collect()))
    }

    /// The node as C.
    pub fn compile(&self) -> Compiled {
        let source =
            Source { flow: &self.prepared.flow, clocks: &self.prepared.clocks, plan: &self.plan, seed: SEED };
        let options = EmitOptions {
            name: "law".to_string(),
            precision: Precision::Double,
            max_window: 4,
            constants: eddy_compile::emit::Constants::FromHost,
            opens: false,
            places: Vec::new(),
        };
        let emitted = emit(&source, &options).unwrap_or_else(|why| panic!("it can be compiled: {why:?}"));
        Compiled { library: build(&emitted), emitted }
    }
}

/// A node as C.
pub struct Compiled {
    emitted: Emitted,
    library: Library,
}

impl Compiled {
    /// The node at an input.
    pub fn run(&self, input: &Datum) -> Outcome {
        let mut machine = Machine::new(self.emitted.clone(), &self.library);
        let inputs: Vec<Option<Value>> = values(input).into_iter().map(Some).collect();
        if machine.step(&inputs).is_err() {
            return Outcome::Undefined(Reason::Trap);
        }
        let row = machine.next_row().expect("there is one cycle");
        let output = |value: &Option<Value>| datum(value.as_ref().expect("a pure function has a value"));
        Outcome::Value(Datum::Tuple(row.iter().map(output).collect()))
    }
}

/// Builds a shared object with the flags that Eddy uses.
fn build(emitted: &Emitted) -> Library {
    let folder = std::env::temp_dir().join(format!("eddy-oracle-{}-{:p}", std::process::id(), emitted));
    fs::create_dir_all(&folder).expect("there is a place for temporary files");
    let name = &emitted.name;
    let files = [
        (format!("{name}.h"), &emitted.header),
        (format!("{name}.c"), &emitted.source),
        ("eddy_rt.h".to_string(), &emitted.runtime_header),
    ];
    for (file, text) in &files {
        fs::write(folder.join(file), text).expect("it can be written");
    }
    let object = folder.join(format!("{name}.so"));
    let built = Command::new("cc")
        .args(["-std=c99", "-O2", "-fPIC", "-shared"])
        .args(["-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"])
        .arg("-o")
        .arg(&object)
        .arg(folder.join(format!("{name}.c")))
        .arg("-lm")
        .output()
        .expect("there is a C compiler");
    assert!(built.status.success(), "{}\n{}", String::from_utf8_lossy(&built.stderr), emitted.source);
    let bytes = fs::read(&object).expect("it was built");
    let library = Library::open(&object, &blake3::hash(&bytes), name, Machine::sizes(emitted));
    let library = library.unwrap_or_else(|error| panic!("{error}"));
    let _ = fs::remove_dir_all(&folder);
    library
}

/// The values of a tuple of inputs.
fn values(input: &Datum) -> Vec<Value> {
    let Datum::Tuple(items) = input else { panic!("inputs are a tuple") };
    let value = |item: &Datum| match item {
        Datum::Int(n) => Value::Int(*n),
        Datum::Bool(truth) => Value::Bool(*truth),
        Datum::Real(x) => Value::Num(*x),
        Datum::Tensor(shape, elements) => Value::new(Shape::new(shape), Data::Num(elements.clone()))
            .expect("as many elements as the shape has"),
        Datum::Tuple(_) | Datum::Function(_) => panic!("nodes take scalars and tensors"),
    };
    items.iter().map(value).collect()
}

fn datum(value: &Value) -> Datum {
    let sizes = value.shape().to_vec();
    match value {
        Value::Int(n) => Datum::Int(*n),
        Value::Bool(truth) => Datum::Bool(*truth),
        Value::Num(x) => Datum::Real(*x),
        Value::Num32(x) => Datum::Real(f64::from(*x)),
        Value::Tensor(tensor) => match tensor.data() {
            Data::Num(elements) => Datum::Tensor(sizes, elements.clone()),
            _ => {
                let elements: Vec<Datum> = value.elements().map(|element| datum(&element)).collect();
                let shape = sizes.iter().map(|size| Datum::Int(i64::try_from(*size).expect("small")));
                Datum::Tuple(vec![Datum::Tuple(shape.collect()), Datum::Tuple(elements)])
            }
        },
    }
}
