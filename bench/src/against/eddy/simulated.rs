//! The reference: the simulator runs a case in double precision.

use eddy_language::semantics::Cell;
use eddy_language::semantics::simulate::{Options, Simulation};
use eddy_tensor::Value;

use super::case::Case;
use super::ready::ready;

pub fn simulate(case: &Case) -> Result<Vec<Vec<Option<Value>>>, String> {
    let prepared = ready(case)?;
    let flow = &prepared.flow;
    let mut simulation = Simulation::new(flow, &prepared.clocks, Options::default());
    for cycle in &case.cycles {
        let cell = |name: &str| {
            let given = cycle.iter().find(|(input, _)| *input == name).map(|(_, value)| value.clone());
            given.map_or(Cell::Absent, Cell::Value)
        };
        let names = flow.inputs.iter().map(|input| flow.var(*input).name.as_deref().unwrap_or_default());
        let cells: Vec<Cell> = names.map(cell).collect();
        simulation.open(&cells).map_err(|failure| format!("{failure:?}"))?;
    }
    simulation.end().map_err(|failure| format!("{failure:?}"))?;
    let row = |cycle: u64| {
        flow.outputs.iter().map(|output| simulation.cell(cycle, *output).value().cloned()).collect()
    };
    Ok((0..simulation.n_cycles()).map(row).collect())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::super::process::Process;
    use super::super::super::workload::Workload;
    use super::super::super::{Side, twins};
    use super::super::compiled::Compiled;
    use super::*;

    const SMALL: &[&str] = &[
        "lstm-forward-h4-b1-i3-t5",
        "lstm-train-h4-b1-i3-t5",
        "lstm-forward-h4-b2-i3-t5",
        "lstm-train-h4-b2-i3-t5",
        "lstm-stream-h4-i3-t5",
        "gradbench-lstm-l2-c6-b3-objective",
        "gradbench-lstm-l2-c6-b3-gradient",
        "gradbench-lstm-l4-c5-b2-objective",
        "gradbench-lstm-l4-c5-b2-gradient",
        "gmm-d3-k4-n70-objective",
        "gmm-d3-k4-n70-gradient",
        "gmm-d2-k3-n202-gradient",
        "mlp-5-4-3-b4",
        "hvp-3-4-4-1-b5-gradient",
        "hvp-3-4-4-1-b5-product",
    ];

    fn is_near(left: &[f64], right: &[f64], tolerance: f64) -> bool {
        left.len() == right.len()
            && left.iter().zip(right).all(|(x, y)| (x - y).abs() <= tolerance * x.abs().max(y.abs()))
    }

    #[test]
    fn simulated_programs_agree_with_their_twins() {
        if !twins::has_compiler() {
            return;
        }
        let place = std::env::temp_dir().join(format!("eddy-simulated-twins-{}", std::process::id()));
        for name in SMALL {
            let workload = Workload::named(name).expect("the name is that of a workload");
            let case = Case::of(workload);
            let simulated = case.check.read(&simulate(&case).expect(name));
            let binary = twins::build(workload, &place, true).expect("the twin compiles");
            let mut command = std::process::Command::new(binary);
            command.args([format!("--only={}", workload.twin().part), "--seconds=0".to_owned()]);
            let records = Process::start(&mut command).expect(name).turn().expect(name);
            // The twins use double precision here too; only the order of additions differs.
            assert!(
                is_near(&simulated, &records[0].check, 1e-10),
                "{name}: {simulated:?} and {:?}",
                records[0].check
            );
        }
        fs::remove_dir_all(&place).expect("the folder can be removed");
    }

    #[test]
    fn compiled_programs_agree_with_the_simulator() {
        if !twins::has_compiler() {
            return;
        }
        for name in SMALL {
            let workload = Workload::named(name).expect("the name is that of a workload");
            let case = Case::of(workload);
            let simulated = case.check.read(&simulate(&case).expect(name));
            let compiled = Compiled::new(workload, 0.0).expect(name).check().expect(name);
            let is_right = is_near(&simulated, &compiled, workload.tolerance());
            assert!(is_right, "{name}: {simulated:?} and {compiled:?}");
        }
    }
}
