//! Compiled code stops at failing operations as the simulator does: tested on generated programs with an
//! added division that sometimes fails.

use eddy_flow::{Constant, Equation, Kind, Var, VarId};
use eddy_language::clocks::Clocks;
use eddy_language::prepare::Prepared;
use eddy_tensor::{Op, Scalar, Value};

use crate::compiled::{How, PLAIN, compiled_samples};
use crate::generated::case::Ready;
use crate::generated::generate::Choices;
use crate::generated::harness::Verdict;
use crate::samples::Family;

/// A program with `1 div (int(4 v) - k)` for some stream v and some small k; other streams may read it or
/// not.
fn with_trap(ready: &Ready, choices: &mut Choices<'_>) -> Option<Ready> {
    let Ready { prepared, inputs, n_cycles } = ready;
    let (mut flow, clocks) = (prepared.flow.clone(), &prepared.clocks);
    let is_number =
        |var: &VarId| flow.var(*var).ty.scalar == Scalar::Num && flow.var(*var).ty.shape.is_empty();
    let numbers: Vec<VarId> = flow.var_ids().filter(is_number).collect();
    if numbers.is_empty() || flow.equations.is_empty() {
        return None;
    }
    let var = choices.among(&numbers);
    let k = choices.among(&[0, 0, 1, 2, -1, -3]);
    let mut of_var: Vec<_> = flow.var_ids().map(|var| clocks.of(var)).collect();
    let mut define = |kind: Kind, ty| {
        let (span, out) = (flow.equations[0].span, VarId::new(flow.vars.len()));
        flow.vars.push(Var { name: None, span, ty, purpose: None });
        flow.equations.push(Equation { out, kind, span, call: None });
        of_var.push(clocks.of(var));
        out
    };
    let mut constant = |value: Value| {
        let ty = value.ty();
        define(Kind::Const(Constant::Value(value)), ty)
    };
    let [four, k, one] = [Value::Num(4.0), Value::Int(k), Value::Int(1)].map(&mut constant);
    let int = Value::Int(0).ty();
    let fourfold = define(Kind::Apply(Op::Mul, Box::new([var, four])), Value::Num(0.0).ty());
    let whole = define(Kind::Apply(Op::ToInt, Box::new([fourfold])), int.clone());
    let divisor = define(Kind::Apply(Op::Sub, Box::new([whole, k])), int.clone());
    let trap = define(Kind::Apply(Op::IntDiv, Box::new([one, divisor])), int);
    if choices.once_in(3) {
        flow.outputs.push(trap);
    }
    let clocks = Clocks::new(clocks.all().to_vec(), of_var, clocks.demanded().to_vec());
    let prepared = Prepared { flow, clocks, ..prepared.clone() };
    Some(Ready { prepared, inputs: inputs.clone(), n_cycles: *n_cycles })
}

fn traps(name: &'static str, n: u32, family: Family, how: How) {
    compiled_samples(name, n, family, |sample, ready, check| {
        match with_trap(ready, &mut sample.decisions()) {
            Some(ready) => check(&ready, how),
            None => Ok(Verdict::Vacuous("no numbers")),
        }
    });
}

#[test]
fn traps_in_programs() {
    traps("traps", 40, Family::Plain, PLAIN);
}

#[test]
fn traps_in_training() {
    traps("traps in training", 30, Family::Training, How { opens: true, ..PLAIN });
}
