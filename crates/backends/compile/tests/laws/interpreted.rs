//! The `imp` program of a plan has the meaning of the plan: its interpreter yields the rows of the simulator,
//! bit for bit, without a C compiler.

use eddy_compile::Precision;
use eddy_compile::emit::{Constants, EmitInput, Emitted, NotCompiled, Options, Pieces, emit};
use eddy_flow::VarId;
use eddy_imp::Function;
use eddy_imp::interpret::{Machine, Value as Element};
use eddy_language::semantics::Cell;
use eddy_language::semantics::simulate::{self, Simulation};
use eddy_plan::{Recompute, plan};
use eddy_tensor::{Data, Scalar, Value};
use eddy_tests::law::Coverage;

use crate::functions::Bodies;
use crate::generated::case::Ready;
use crate::generated::engines::{SEED, rows};
use crate::generated::harness::{Trial, Verdict, law};
use crate::samples::{Family, Sample, prepared};

/// The elements of a value.
pub fn elements(value: &Value) -> Vec<Element> {
    let element = |element: Value| match element {
        Value::Bool(truth) => Element::Bool(truth),
        Value::Int(x) => Element::Int(x),
        Value::Num(x) => Element::Num(x),
        Value::Num32(x) => Element::Num(x.into()),
        Value::Tensor(_) => unreachable!("an element is a scalar"),
    };
    value.elements().map(element).collect()
}

/// The value with these elements.
#[allow(clippy::cast_possible_truncation, reason = "in single precision they have it")]
fn value(elements: &[Option<Element>], ty: &eddy_tensor::Type, single: bool) -> Value {
    let n: usize = ty.shape.iter().product();
    let elements = elements.iter().take(n).map(|element| element.expect("what is shown was written"));
    let data = match (ty.scalar, single) {
        (Scalar::Bool, _) => Data::Bool(elements.map(Element::truth).collect()),
        (Scalar::Int, _) => Data::Int(elements.map(Element::count).collect()),
        (Scalar::Num, false) => Data::Num(elements.map(Element::num).collect()),
        (Scalar::Num, true) => Data::Num32(elements.map(|element| element.num() as f32).collect()),
    };
    Value::new(ty.shape.clone(), data).expect("as many elements as the shape has")
}

type Rows = Vec<Vec<Option<Value>>>;

/// The rows of the interpreter; `None` if it stops where a host would take over.
fn interpreted(emitted: &Emitted, ready: &Ready, single: bool) -> Result<Option<Rows>, String> {
    let program = &emitted.program;
    let bodies = Bodies::new(emitted);
    let apply = |function: &Function, operands: &[Vec<Element>]| bodies.apply(function, operands);
    let mut machine = Machine::new(program, emitted.max_outputs);
    machine.functions = Some(&apply);
    machine.fuel = 50_000_000;
    let failed = |failed: eddy_imp::interpret::InterpreterError| format!("{failed}\n{program}");
    machine.memory.clear(program);
    for (name, value) in &emitted.constants {
        machine.memory.set_state(name, elements(value)).map_err(failed)?;
    }
    machine.run("reset").map_err(failed)?;
    let mut is_active = Vec::new();
    let mut shown: Rows = Vec::new();
    let take = |machine: &Machine<'_>, n: i64, shown: &mut Rows| {
        for row in 0..usize::try_from(n).unwrap_or(0) {
            let port = |port: &eddy_compile::emit::Port| {
                let flag = format!("{}_present", port.field);
                let is_there =
                    !port.has_flag || machine.memory.output(row, &flag)?[0].is_some_and(Element::truth);
                let elements = machine.memory.output(row, &port.field)?;
                is_there.then(|| value(elements, &port.ty, single))
            };
            shown.push(emitted.outputs.iter().map(port).collect());
        }
    };
    for cycle in 0..ready.n_cycles {
        let cells = ready.cycle(cycle);
        let is_owner = |owners: &Vec<usize>| owners.iter().any(|owner| cells[*owner].value().is_some());
        is_active.push(emitted.owners.as_ref().is_none_or(is_owner));
        if is_active.last() == Some(&false) {
            continue;
        }
        for (port, cell) in emitted.inputs.iter().zip(&cells) {
            if let Some(value) = cell.value() {
                machine.memory.set_input(&port.field, elements(value)).map_err(failed)?;
            }
            if port.has_flag {
                let flag = Element::Bool(cell.value().is_some());
                machine.memory.set_input(&format!("{}_present", port.field), [flag]).map_err(failed)?;
            }
        }
        match machine.run("step").map_err(failed)? {
            Some(n) if n >= 0 => take(&machine, n, &mut shown),
            _ => return Ok(None),
        }
    }
    match machine.run("flush").map_err(failed)? {
        Some(n) if n >= 0 => take(&machine, n, &mut shown),
        _ => return Ok(None),
    }
    let (mut rows, mut shown): (Rows, _) = (Vec::new(), shown.into_iter());
    for is_active in is_active {
        let row = if is_active { shown.next() } else { Some(vec![None; emitted.outputs.len()]) };
        // Cycles after an incomplete one wait for it.
        let Some(row) = row else { break };
        rows.push(row);
    }
    Ok(Some(rows))
}

/// How programs are printed.
#[derive(Clone, Copy)]
struct How {
    single: bool,
    /// How long procedures are cut.
    pieces: Pieces,
}

const PLAIN: How = How { single: false, pieces: Pieces::USUAL };

fn emitted(ready: &Ready, how: How) -> Result<Emitted, NotCompiled> {
    let (flow, clocks) = (ready.flow(), ready.clocks());
    let options = eddy_plan::Options {
        seed: SEED,
        single: how.single,
        recompute: Recompute::Arithmetic,
        ..eddy_plan::Options::default()
    };
    let plan = plan(flow, clocks, &options);
    let options = Options {
        name: "law".to_string(),
        precision: if how.single { Precision::Single } else { Precision::Double },
        // Memory for longer windows would only take time.
        max_window: ready.n_cycles + 4,
        constants: Constants::FromHost,
        opens: true,
        places: Vec::new(),
        pieces: how.pieces,
        arena: 1 << 16,
    };
    emit(&EmitInput { flow, clocks, plan: &plan, seed: SEED }, &options)
}

/// The cells of the outputs, cycle by cycle, by the simulator; `None` if an operation fails.
fn simulated_rows(ready: &Ready, single: bool) -> Option<Vec<Vec<Cell>>> {
    let options = simulate::Options { seed: SEED, single, ..simulate::Options::default() };
    let mut simulation = Simulation::new(ready.flow(), ready.clocks(), options);
    for cycle in 0..ready.n_cycles {
        let cells = ready.cycle(cycle);
        let is_last = cycle + 1 == ready.n_cycles;
        if is_last { simulation.open_last(&cells) } else { simulation.open(&cells) }.ok()?;
    }
    let rows = rows(&simulation, ready.flow(), ready.n_cycles);
    if rows.iter().flatten().any(|cell| *cell == Cell::Error) {
        return None;
    }
    let row = |cycle: usize| {
        ready.flow().outputs.iter().map(|output| rows[output.index()][cycle].clone()).collect()
    };
    Some((0..ready.n_cycles).map(row).collect())
}

fn agrees(ready: &Ready, how: How) -> Trial {
    let emitted = match emitted(ready, how) {
        Ok(emitted) => emitted,
        Err(NotCompiled::SeveralRoots(..)) => return Ok(Verdict::Vacuous("several roots")),
        Err(NotCompiled::InternalError(violation)) => return Err(violation),
        Err(_) => return Ok(Verdict::Vacuous("it is not compiled")),
    };
    let text = emitted.program.to_string();
    let parsed = eddy_imp::parse(&text).map_err(|error| format!("{error}\n{text}"))?;
    if parsed.to_string() != text {
        return Err(format!("its text is another program\n{text}"));
    }
    let Some(simulated) = simulated_rows(ready, how.single) else {
        return Ok(Verdict::Vacuous("it has no value"));
    };
    let is_known = |cell: &Cell| matches!(cell, Cell::Value(_) | Cell::Absent);
    let inputs = (0..ready.n_cycles).flat_map(|cycle| ready.cycle(cycle));
    if !inputs.into_iter().all(|cell| is_known(&cell)) {
        return Ok(Verdict::Vacuous("an input is unknown"));
    }
    let n_known = simulated.iter().take_while(|row| row.iter().all(is_known)).count();
    let Some(rows) = interpreted(&emitted, ready, how.single)? else {
        return Ok(Verdict::Vacuous("a host would go on"));
    };
    let n = if emitted.is_flushed { n_known } else { rows.len().min(n_known) };
    let n_shown = ready.flow().outputs.len();
    let value = |cell: &Cell| cell.value().cloned();
    let expected: Rows = simulated[..n].iter().map(|row| row.iter().map(value).collect()).collect();
    let rows: Rows = rows.into_iter().take(n).map(|row| row.into_iter().take(n_shown).collect()).collect();
    if rows == expected {
        return Ok(Verdict::of(n > 0, "no cycle is complete"));
    }
    Err(format!("interpreted: {rows:?}\nsimulated: {expected:?}\n{text}"))
}

fn interpreted_samples(name: &'static str, n: u32, family: Family, how: How) {
    let coverage = Coverage::default();
    law(
        name,
        n,
        |source| Sample::of(family, source),
        |sample| match &sample.ready {
            Ok(ready) => {
                let verdict = agrees(ready, how)?;
                if let Verdict::Holds = verdict {
                    coverage.note(if sample.n_calls() > 0 { "with calls" } else { "compared" });
                }
                Ok(verdict)
            }
            Err(refusal) => Ok(Verdict::Vacuous(refusal)),
        },
    );
    let is_of_functions =
        matches!(family, Family::Functions | Family::FunctionsAdjoint | Family::FunctionsTraining);
    coverage.require(name, n / 4, [if is_of_functions { "with calls" } else { "compared" }]);
}

#[test]
fn interpreted_programs() {
    interpreted_samples("interpreted programs", 400, Family::ThroughTraining, PLAIN);
}

#[test]
fn interpreted_programs_in_pieces() {
    let how = How { pieces: Pieces::of_lines(3), ..PLAIN };
    interpreted_samples("interpreted programs in pieces", 1000, Family::Plain, how);
}

#[test]
fn interpreted_training() {
    interpreted_samples("interpreted training", 500, Family::Training, PLAIN);
}

#[test]
fn interpreted_training_in_single_precision() {
    let how = How { single: true, ..PLAIN };
    interpreted_samples("interpreted training in single precision", 300, Family::Training, how);
}

#[test]
fn interpreted_calls() {
    interpreted_samples("interpreted calls", 150, Family::Functions, PLAIN);
    let how = How { pieces: Pieces::of_lines(3), ..PLAIN };
    interpreted_samples("interpreted calls in pieces", 80, Family::FunctionsTraining, how);
    let how = How { single: true, ..PLAIN };
    // Training has the adjoints of calls; half of the adjoints alone have several unrelated outputs.
    interpreted_samples("interpreted training with calls, single", 60, Family::FunctionsTraining, how);
}

/// A gradient reads each matrix by rows and by columns, forwards and backwards; two copies of it are enough.
#[test]
fn the_gradient_of_a_gated_recurrent_unit_keeps_two_copies_of_each_matrix() {
    let text = "import gru from \"eddy:recurrent\";\nnode net(x: num [2]) -> (h) h = gru(8, 2, x);\n";
    let prepared = prepared(text, "adj_net_end").expect("it is a program");
    let n_cycles = 9;
    let row = |(number, input): (usize, &VarId)| {
        let ty = &prepared.flow.var(*input).ty;
        let cell = |cycle: usize| {
            let n = ty.shape.n_elements().expect("shapes are small");
            let element = |at: usize| {
                f64::from(u8::try_from((7 * cycle + 3 * at + number) % 11).expect("small")) / 8.0 - 0.5
            };
            let data = match ty.scalar {
                Scalar::Bool => Data::Bool(vec![cycle % 4 == 3; n]),
                _ => Data::Num((0..n).map(element).collect()),
            };
            Cell::Value(Value::new(ty.shape.clone(), data).expect("as many elements as the shape has"))
        };
        (0..n_cycles).map(cell).collect()
    };
    let inputs = prepared.flow.inputs.iter().enumerate().map(row).collect();
    let ready = Ready { prepared, inputs, n_cycles };
    let verdict = agrees(&ready, PLAIN);
    assert!(matches!(verdict, Ok(Verdict::Holds)), "{}", verdict.err().unwrap_or_default());
    let emitted = emitted(&ready, PLAIN).expect("it is compiled");
    let fields = emitted.program.state.fields.iter();
    let kept = |size: usize| {
        fields
            .clone()
            .filter(|field| field.dimensions == [size] && field.name.as_str().starts_with("k_"))
            .count()
    };
    assert_eq!([kept(160), kept(80)], [2, 2], "{}", emitted.program);
}
