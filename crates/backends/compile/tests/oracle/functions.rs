//! Nodes as functions that the oracle can sample.

#![expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests compile and run C")]

use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use eddy_compile::Precision;
use eddy_compile::emit::{EmitInput, Emitted, Options as EmitOptions, Pieces, emit};
use eddy_compile::machine::Machine;
use eddy_flow::{Equation, Flow, VarId};
use eddy_language::elaborate::ElaborationOptions;
use eddy_language::infer::Hints;
use eddy_language::prepare::{Checks, Prepared, prepare};
use eddy_language::resolve;
use eddy_language::semantics::Cell;
use eddy_language::semantics::simulate::{Options as SimulationOptions, Simulation};
use eddy_loader::Library;
use eddy_plan::execute::{Cell as PlanCell, Execution, ExecutionError};
use eddy_plan::show::report;
use eddy_plan::{Options as PlanOptions, Plan, plan};
use eddy_syntax::{SourceFile, Sources};
use eddy_tables::oracle::{Datum, Outcome, Reason, Sort, Tolerance, agree, inputs};
use eddy_tensor::slices::{split, stack};
use eddy_tensor::{Data, Scalar, Shape, Type, Value};

const SEED: u64 = 1;

/// A node, run for some cycles.
pub struct Node {
    prepared: Prepared,
    plan: Plan,
    n_cycles: usize,
    n_shown: usize,
    single: bool,
    pieces: Pieces,
}

/// The oracle's value for an absent stream.
const ABSENT: Datum = Datum::Tuple(Vec::new());

/// The oracle's value for an unknown cell.
fn unknown() -> Datum {
    Datum::Tuple(vec![ABSENT])
}

impl Node {
    /// The node `f` of a program at one cycle: a pure function if it has no memory.
    pub fn new(text: &str) -> Node {
        Node::of_cycles(1, text)
    }

    /// A run of the node `f` of a program: a pure function, whatever state the node has, from all cells of
    /// the inputs to all cells of the outputs, cycle by cycle. Each output must be known after the last
    /// cycle.
    pub fn of_cycles(n_cycles: usize, text: &str) -> Node {
        Node::planned_with(n_cycles, &PlanOptions::default(), text)
    }

    /// As [`of_cycles`](Self::of_cycles), with other options of planning.
    pub fn planned_with(n_cycles: usize, options: &PlanOptions, text: &str) -> Node {
        Node::given(&ElaborationOptions::default(), n_cycles, options, text)
    }

    /// As [`of_cycles`](Self::of_cycles), for several streams at once: inputs and outputs are those of all
    /// streams.
    pub fn of_streams(n_streams: usize, n_cycles: usize, text: &str) -> Node {
        let given = ElaborationOptions { batch: Some(n_streams), ..ElaborationOptions::default() };
        Node::given(&given, n_cycles, &PlanOptions::default(), text)
    }

    fn given(given: &ElaborationOptions, n_cycles: usize, options: &PlanOptions, text: &str) -> Node {
        let mut sources = Sources::alone(SourceFile::new("oracle.eddy", text));
        let prepared = resolve(&mut sources).accepted().and_then(|program| {
            let node = program.find("f", sources.main().end())?;
            prepare(&program, &node, given, |_| Hints::default(), Checks::On)
        });
        let prepared = prepared.unwrap_or_else(|diagnostics| panic!("{text}: {diagnostics:?}"));
        let plan = plan(&prepared.flow, &prepared.clocks, &PlanOptions { seed: SEED, ..*options });
        Node { prepared, plan, n_cycles, n_shown: n_cycles, single: options.single, pieces: Pieces::USUAL }
    }

    /// The outputs of the first cycles only: those of later ones depend on cycles after the run.
    pub fn showing(self, n_shown: usize) -> Node {
        Node { n_shown, ..self }
    }

    /// The node with all functions in pieces of `n_lines` lines.
    pub fn in_pieces(self, n_lines: usize) -> Node {
        Node { pieces: Pieces::of_lines(n_lines), ..self }
    }

    /// The node with other equations for some of its streams; it can only be simulated.
    pub fn with_equations(mut self, rewrite: impl FnOnce(&Flow) -> Vec<Equation>) -> Node {
        self.prepared.flow.equations = rewrite(&self.prepared.flow);
        self
    }

    /// Checks that the plan has the table of the simulator, within the tolerance.
    fn keeps_its_table_planned(&self, pass: &str, tolerance: Tolerance) {
        let simulated = |input: &Datum, _: u64| self.simulated(input);
        let planned = |input: &Datum, _: u64| self.planned(input);
        let inputs = inputs(&self.sort(), 17);
        agree(&format!("{pass}, planning"), &simulated, &planned, &inputs, tolerance)
            .unwrap_or_else(|witness| panic!("{witness}\n{}", self.report()));
    }

    /// Checks that the plan has the table of the simulator, within the tolerance, and that C has the table of
    /// the plan, bit for bit. Returns the C.
    pub fn keeps_its_table(&self, pass: &str, tolerance: Tolerance) -> Compiled<'_> {
        self.keeps_its_table_planned(pass, tolerance);
        let compiled = self.compile();
        let planned = |input: &Datum, _: u64| self.planned(input);
        let in_c = |input: &Datum, _: u64| compiled.run(input);
        agree(&format!("{pass}, C"), &planned, &in_c, &inputs(&self.sort(), 17), Tolerance::Exact)
            .unwrap_or_else(|witness| panic!("{witness}\n{}", compiled.source()));
        compiled
    }

    /// The plan as text.
    pub fn report(&self) -> String {
        report("f", &self.prepared.flow, &self.plan, None)
    }

    /// The type of its inputs.
    pub fn sort(&self) -> Sort {
        let flow = &self.prepared.flow;
        let sort = |ty: &Type| match (ty.scalar, ty.shape.is_scalar()) {
            (Scalar::Int, true) => Sort::Int,
            (Scalar::Bool, true) => Sort::Bool,
            (_, true) => Sort::Real,
            (Scalar::Num, false) => Sort::Tensor(ty.shape.to_vec()),
            _ => panic!("tensors of reals are sampled"),
        };
        let cycle: Vec<Sort> = flow.inputs.iter().map(|input| sort(&flow.var(*input).ty)).collect();
        Sort::Tuple(std::iter::repeat_n(cycle, self.n_cycles).flatten().collect())
    }

    /// The inputs of each cycle.
    fn cycles<C>(&self, input: &Datum, cell: impl Fn(Value) -> C) -> Vec<Vec<C>> {
        let mut values = values(input).into_iter().map(cell);
        let n_inputs = self.prepared.flow.inputs.len();
        (0..self.n_cycles).map(|_| values.by_ref().take(n_inputs).collect()).collect()
    }

    /// The node by the simulator.
    pub fn simulated(&self, input: &Datum) -> Outcome {
        let Prepared { flow, clocks, .. } = &self.prepared;
        let options = SimulationOptions { seed: SEED, single: self.single, ..SimulationOptions::default() };
        let mut simulation = Simulation::new(flow, clocks, options);
        for cells in self.cycles(input, Cell::Value) {
            if simulation.open(&cells).is_err() {
                return Outcome::Undefined(Reason::Trap);
            }
        }
        if simulation.end().is_err() {
            return Outcome::Undefined(Reason::Trap);
        }
        let cell = |cycle: u64, output: VarId| match simulation.cell(cycle, output) {
            Cell::Value(value) => datum(value),
            Cell::Absent => ABSENT,
            _ => unknown(),
        };
        let outputs = (0..self.n_shown as u64)
            .flat_map(|cycle| flow.outputs.iter().map(move |output| (cycle, *output)))
            .map(|(cycle, output)| cell(cycle, output));
        Outcome::Value(Datum::Tuple(outputs.collect()))
    }

    /// The node by the simulator, for each stream of a batch separately.
    pub fn simulated_apart(&self, input: &Datum) -> Outcome {
        let streams: Vec<Vec<Value>> = values(input).iter().map(split).collect();
        let mut results: Vec<Vec<Value>> = Vec::new();
        for stream in 0..streams[0].len() {
            let own = streams.iter().map(|values| datum(&values[stream])).collect();
            match self.simulated(&Datum::Tuple(own)) {
                Outcome::Value(result) => results.push(values(&result)),
                undefined @ Outcome::Undefined(_) => return undefined,
            }
        }
        let outputs = (0..results[0].len()).map(|output| {
            let of_streams: Vec<&Value> = results.iter().map(|values| &values[output]).collect();
            datum(&stack(&of_streams))
        });
        Outcome::Value(Datum::Tuple(outputs.collect()))
    }

    /// The node by executing its plan.
    pub fn planned(&self, input: &Datum) -> Outcome {
        let Prepared { flow, clocks, .. } = &self.prepared;
        let mut execution = Execution::new(flow, clocks, &self.plan).expect("it has a static plan");
        for cells in self.cycles(input, |value| PlanCell::Value(self.rounded(value))) {
            match execution.step(&cells) {
                Err(ExecutionError::Violation(violation)) => panic!("a plan is wrong in itself: {violation}"),
                Err(_) => return Outcome::Undefined(Reason::Trap),
                Ok(()) => {}
            }
        }
        if execution.finish().is_err() {
            return Outcome::Undefined(Reason::Trap);
        }
        let cell = |cell: PlanCell| match cell {
            PlanCell::Value(value) => datum(&value),
            PlanCell::Absent => ABSENT,
            _ => unknown(),
        };
        let rows = std::iter::from_fn(|| execution.next_row()).take(self.n_shown).flatten();
        Outcome::Value(Datum::Tuple(rows.map(cell).collect()))
    }

    fn rounded(&self, value: Value) -> Value {
        if self.single { value.to_num32() } else { value }
    }

    /// The node as C.
    pub fn compile(&self) -> Compiled<'_> {
        self.compile_edited(|_| ())
    }

    /// The streams that can fail and are not planned.
    pub fn unread(&self) -> Vec<&str> {
        let name = |var: &VarId| self.prepared.flow.var(*var).name.as_deref();
        self.plan.unread.iter().filter_map(name).collect()
    }

    /// The node as C with a planted mistake: one text replaced by another, which must occur.
    pub fn compile_mistaken(&self, right: &str, wrong: &str) -> Compiled<'_> {
        self.compile_edited(|emitted| {
            assert!(emitted.source.contains(right), "no `{right}` in\n{}", emitted.source);
            emitted.source = emitted.source.replace(right, wrong);
        })
    }

    fn compile_edited(&self, edit: impl FnOnce(&mut Emitted)) -> Compiled<'_> {
        let source = EmitInput {
            flow: &self.prepared.flow,
            clocks: &self.prepared.clocks,
            plan: &self.plan,
            seed: SEED,
        };
        let options = EmitOptions {
            name: "law".to_string(),
            precision: if self.single { Precision::Single } else { Precision::Double },
            max_window: 8,
            constants: eddy_compile::emit::Constants::FromHost,
            opens: false,
            places: Vec::new(),
            pieces: self.pieces,
            arena: 1 << 16,
        };
        let mut emitted = emit(&source, &options).unwrap_or_else(|why| panic!("it can be compiled: {why:?}"));
        edit(&mut emitted);
        Compiled { node: self, library: build(&emitted), emitted }
    }
}

/// A node as C.
pub struct Compiled<'a> {
    node: &'a Node,
    emitted: Emitted,
    library: Library,
}

impl Compiled<'_> {
    /// The C.
    pub fn source(&self) -> &str {
        &self.emitted.source
    }

    /// The node at an input.
    pub fn run(&self, input: &Datum) -> Outcome {
        let mut machine = Machine::new(self.emitted.clone(), &self.library);
        for inputs in self.node.cycles(input, Some) {
            if machine.step(&inputs).is_err() {
                return Outcome::Undefined(Reason::Trap);
            }
        }
        let cell = |cell: Option<Value>| cell.map_or(ABSENT, |value| datum(&value));
        let rows = std::iter::from_fn(|| machine.next_row()).take(self.node.n_shown).flatten();
        Outcome::Value(Datum::Tuple(rows.map(cell).collect()))
    }
}

/// Builds a shared object with the flags that Eddy uses.
fn build(emitted: &Emitted) -> Library {
    // A path of its own: the system does not load a path again while it is loaded.
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("eddy-oracle-{}-{number}", std::process::id()));
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
            Data::Num32(elements) => Datum::Tensor(sizes, elements.iter().copied().map(f64::from).collect()),
            _ => {
                let elements: Vec<Datum> = value.elements().map(|element| datum(&element)).collect();
                let shape = sizes.iter().map(|size| Datum::Int(i64::try_from(*size).expect("small")));
                Datum::Tuple(vec![Datum::Tuple(shape.collect()), Datum::Tuple(elements)])
            }
        },
    }
}
