//! A case compiled to C and called on structs that are filled in advance, as a program in C would call it.

use std::time::Instant;

use eddy_compile::Precision;
use eddy_compile::build::{BuildOptions, build};
use eddy_compile::emit::{Constants, EmitInput, Emitted, Options, Pieces, emit};
use eddy_compile::layout::Struct;
use eddy_compile::machine::{Machine, StepError};
use eddy_loader::{AlignedBytes, Instance, Library, Threads};
use eddy_tensor::Value;

use super::super::Side;
use super::super::machine::thread_time_ns;
use super::super::record::{Record, summary};
use super::super::workload::Workload;
use super::case::Case;
use super::ready::ready;

pub struct Compiled {
    case: Case,
    emitted: Emitted,
    library: Library,
    instance: Instance,
    /// The input structs, one for each cycle.
    inputs: Vec<AlignedBytes>,
    outputs: AlignedBytes,
    /// Whether the program resets itself after a sequence, because it has an input `end`.
    is_restarted: bool,
    /// Whether a run is one step of the sequence instead of the whole sequence.
    is_stepwise: bool,
    /// The next step, if a run is one step.
    next: usize,
    seconds: f64,
    check: Vec<f64>,
    /// Seconds from text to C, and from C to machine code.
    pub compile_seconds: (f64, f64),
}

/// The least length of a sample in nanoseconds; reading the clock of a thread is a system call.
const MIN_SAMPLE_NS: f64 = 1e6;

impl Compiled {
    pub fn new(workload: Workload, seconds: f64) -> Result<Compiled, String> {
        let start = Instant::now();
        let case = Case::of(workload);
        let prepared = ready(&case)?;
        let single = workload.is_single();
        let planning = eddy_plan::Options {
            single,
            recompute: eddy_plan::Recompute::Arithmetic,
            ..eddy_plan::Options::default()
        };
        let plan = eddy_plan::plan(&prepared.flow, &prepared.clocks, &planning);
        let source = EmitInput { flow: &prepared.flow, clocks: &prepared.clocks, plan: &plan, seed: 0 };
        let precision = if single { Precision::Single } else { Precision::Double };
        let options = Options {
            name: "bench".to_owned(),
            precision,
            max_window: case.cycles.len(),
            constants: Constants::FromHost,
            opens: false,
            places: Vec::new(),
            pieces: Pieces::USUAL,
            arena: 0,
        };
        let emitted = emit(&source, &options).map_err(|why| format!("not compiled: {why:?}"))?;
        let to_c = start.elapsed().as_secs_f64();
        let settings =
            BuildOptions { cache: None, ..BuildOptions::from_environment().map_err(|bad| bad.to_string())? };
        let (built, library) = build(&emitted, &settings, &mut || ()).map_err(|error| error.to_string())?;
        let library = library.with_threads(&Threads::of_machine());
        let mut compiled = Compiled {
            instance: Instance::new(&library),
            inputs: case.cycles.iter().map(|cycle| input(cycle, &emitted, &library)).collect(),
            outputs: library.outputs(),
            is_restarted: emitted.inputs.iter().any(|port| port.field == "end"),
            is_stepwise: matches!(workload, Workload::Stream { .. } | Workload::Perceptron { .. }),
            next: 0,
            seconds,
            check: Vec::new(),
            compile_seconds: (to_c, built.seconds),
            case,
            emitted,
            library,
        };
        compiled.fill_state();
        compiled.check = compiled.check()?;
        Ok(compiled)
    }

    /// Lets these threads compute from now on.
    pub fn use_threads(&mut self, threads: &Threads) {
        self.instance.use_threads(threads);
    }

    /// Writes large constants, parameters among them, into the state: the C code does not contain them.
    fn fill_state(&mut self) {
        for (name, value) in &self.emitted.constants {
            put(self.instance.state_mut(), &self.emitted.state, name, value, self.emitted.precision);
        }
        self.instance.reset();
    }

    /// Computes the check numbers in a separate run.
    pub fn check(&self) -> Result<Vec<f64>, String> {
        let mut machine = Machine::new(self.emitted.clone(), &self.library);
        let mut rows = Vec::new();
        for cycle in &self.case.cycles {
            let value =
                |field: &str| cycle.iter().find(|(name, _)| *name == field).map(|(_, value)| value.clone());
            let inputs: Vec<Option<Value>> =
                self.emitted.inputs.iter().map(|port| value(&port.field)).collect();
            machine.step(&inputs).map_err(|error: StepError| format!("{error:?}"))?;
            while let Some(row) = machine.next_row() {
                rows.push(row);
            }
        }
        let (n_rows, n_cycles) = (rows.len(), self.case.cycles.len());
        if n_rows < n_cycles {
            return Err(format!("{n_rows} of {n_cycles} cycles have outputs"));
        }
        Ok(self.case.check.read(&rows))
    }

    /// The shortest wall-clock time of a run in one turn, in nanoseconds.
    pub fn wall_turn(&mut self) -> f64 {
        let (mut best, start) = (f64::INFINITY, Instant::now());
        while start.elapsed().as_secs_f64() < self.seconds {
            let start = Instant::now();
            self.run();
            best = best.min(start.elapsed().as_secs_f64() * 1e9);
        }
        best
    }

    fn run(&mut self) {
        if self.is_stepwise {
            self.instance.step(&self.inputs[self.next], &mut self.outputs);
            self.next = (self.next + 1) % self.inputs.len();
        } else {
            if !self.is_restarted {
                self.instance.reset_state();
            }
            for input in &self.inputs {
                self.instance.step(input, &mut self.outputs);
            }
        }
    }
}

impl Side for Compiled {
    fn turn(&mut self) -> Result<Vec<Record>, String> {
        let once = time(|| self.run());
        // A step takes more than a nanosecond, so the quotient is a small number.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let n_batch = (MIN_SAMPLE_NS / once.max(1.0)) as u32 + 1;
        let (mut samples, start) = (Vec::new(), thread_time_ns());
        while samples.len() < 5 || thread_time_ns() - start < self.seconds * 1e9 {
            let batch = time(|| (0..n_batch).for_each(|_| self.run()));
            samples.push(batch / f64::from(n_batch));
        }
        let runs = samples.len() as u64 * u64::from(n_batch);
        Ok(vec![summary("eddy", "compiled", &mut samples, runs, self.check.clone())])
    }
}

fn time(what: impl FnOnce()) -> f64 {
    let start = thread_time_ns();
    what();
    thread_time_ns() - start
}

/// The input struct of one cycle.
fn input(cycle: &[(&'static str, Value)], emitted: &Emitted, library: &Library) -> AlignedBytes {
    let mut bytes = library.input();
    for port in &emitted.inputs {
        let value = cycle.iter().find(|(name, _)| *name == port.field).map(|(_, value)| value);
        if let Some(value) = value {
            put(&mut bytes, &emitted.input, &port.field, value, emitted.precision);
        }
        if port.has_flag {
            let flag = emitted.input.find(&format!("{}_present", port.field)).expect("ports are fields");
            bytes[flag.offset] = u8::from(value.is_some());
        }
    }
    bytes
}

/// Writes a value into the bytes of a struct.
#[allow(clippy::cast_possible_truncation)] // single precision is rounded
fn put(bytes: &mut [u8], fields: &Struct, name: &str, value: &Value, precision: Precision) {
    let mut at = fields.find(name).expect("the name is that of a field").offset;
    let mut write = |raw: &[u8]| {
        bytes[at..at + raw.len()].copy_from_slice(raw);
        at += raw.len();
    };
    for element in value.elements() {
        match (element, precision) {
            (Value::Bool(truth), _) => write(&[u8::from(truth)]),
            (Value::Int(x), _) => write(&x.to_ne_bytes()),
            (Value::Num(x), Precision::Double) => write(&x.to_ne_bytes()),
            (Value::Num(x), Precision::Single) => write(&(x as f32).to_ne_bytes()),
            (Value::Num32(x), _) => write(&x.to_ne_bytes()),
            (Value::Tensor(_), _) => unreachable!("an element is a scalar"),
        }
    }
}
