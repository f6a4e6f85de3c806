//! Parameters whose uses are on a sampled clock lie on its base (composition.md, section 9): one value for a
//! segment, one optimiser whose steps are those of base.
//!
//! ```text
//! o = param(i)   on κ            p = param(i);  o = p when κ
//! ```
//!
//! i must be constant. Its equations are written anew, since its streams may be on κ.

use eddy_flow::{Kind, VarId};
use rustc_hash::FxHashMap;

use crate::activations::{Sampled, Sampling, sampling};
use crate::body::Body;
use crate::expand::{Host, flow_of, streams_of};
use crate::weave::rewritten;
use crate::writer::Writer;

/// How the streams of a body are sampled from the root of their clock.
pub(crate) fn samplings(
    body: &Body,
    clocks: &eddy_flow::clocks::Clocks,
    is_asked: impl Fn(&Kind) -> bool,
) -> FxHashMap<VarId, Sampling> {
    let streams = streams_of(body);
    let asked = body.equations.iter().filter(|equation| is_asked(&equation.kind));
    let of = |out: VarId| {
        let number = streams.binary_search(&out).expect("its equation mentions it");
        let sampling = sampling(clocks, clocks.of(VarId::new(number)));
        sampling.into_iter().map(|(condition, polarity)| (streams[condition.index()], polarity)).collect()
    };
    asked.map(|equation| (equation.out, of(equation.out))).collect()
}

/// The equations of a stream that reads no input and no delay; `None` for any other stream.
pub(crate) fn constant(body: &Body, root: VarId) -> Option<Vec<usize>> {
    let definitions: FxHashMap<VarId, usize> =
        body.equations.iter().enumerate().map(|(number, equation)| (equation.out, number)).collect();
    let (mut equations, mut todo) = (Vec::new(), vec![root]);
    while let Some(var) = todo.pop() {
        let number = *definitions.get(&var)?;
        if equations.contains(&number) {
            continue;
        }
        match &body.equations[number].kind {
            Kind::Const(_) => {}
            Kind::Apply(_, operands) => todo.extend(operands.iter()),
            _ => return None,
        }
        equations.push(number);
    }
    equations.sort_unstable();
    Some(equations)
}

/// Writes the equations of a constant anew; returns its stream.
pub(crate) fn copied(body: &Body, constant: &[usize], root: VarId, writer: &mut Writer) -> VarId {
    // Equations are in any order, and operands come before operators only where they are nested.
    let mut copies: FxHashMap<VarId, VarId> = FxHashMap::default();
    for number in constant {
        let out = body.equations[*number].out;
        let ty = writer.ty(out).clone();
        copies.insert(out, writer.fresh(ty));
    }
    for number in constant {
        let equation = body.equations[*number].renamed(&|var| copies[&var]);
        writer.define(equation.out, equation.kind);
    }
    copies[&root]
}

/// Moves the parameters of a body that is trained to base, where their initial values are constant.
pub(crate) fn lifted(body: Body, writer: &mut Writer, host: &dyn Host) -> Body {
    let is_parameter = |kind: &Kind| matches!(kind, Kind::Param(_));
    if !body.equations.iter().any(|equation| is_parameter(&equation.kind)) {
        return body;
    }
    let clocks = host.guessed_clocks(&flow_of(&body, writer));
    let samplings = samplings(&body, &clocks, is_parameter);
    let mut parts: FxHashMap<VarId, Vec<usize>> = FxHashMap::default();
    for equation in &body.equations {
        if let Kind::Param(init) = equation.kind
            && !samplings[&equation.out].is_empty()
            && let Some(constant) = constant(&body, init)
        {
            parts.insert(equation.out, constant);
        }
    }
    if parts.is_empty() {
        return body;
    }
    let mut sampled = Sampled::default();
    let before = body.clone();
    let lifted = rewritten(body, writer, |equation, writer| {
        match (&equation.kind, parts.get(&equation.out)) {
            (Kind::Param(init), Some(constant)) => {
                let init = copied(&before, constant, *init, writer);
                let ty = writer.ty(equation.out).clone();
                let parameter = writer.write(Kind::Param(init), ty);
                let value = sampled.stream(parameter, &samplings[&equation.out], writer);
                writer.define_copy(equation.out, value);
            }
            _ => writer.body.equations.push(equation.clone()),
        }
        Ok(())
    });
    lifted.unwrap_or_else(|_| unreachable!("nothing is refused"))
}
