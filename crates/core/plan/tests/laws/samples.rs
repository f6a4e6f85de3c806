//! The samples for the laws of planning: generated programs and their derivatives, with traces of all
//! lengths.

use std::fmt;

use eddy_flow::{Equation, Kind};
use eddy_language::elaborate::ElaborationOptions;
use eddy_language::infer::Hints;
use eddy_language::prepare::{Checks, Prepared, prepare};
use eddy_language::resolve;
use eddy_syntax::{Diagnostic, SourceFile, Sources};

use eddy_tensor::Op;

use crate::generated::case::Ready;
use crate::generated::engines::NoValue;
use crate::generated::generate::{Choices, NodeText, ProgramText};
use crate::generated::harness::SampleChoices;
use crate::generated::trace::{Absences, Numbers, Trace};

/// A node of a program, and a trace for it.
pub struct Sample {
    pub text: String,
    pub node: String,
    pub ready: Result<Ready, &'static str>,
    /// Choices for a law.
    pub law: Vec<u16>,
}

/// How a program is derived from a generated one.
#[derive(Clone, Copy, Debug)]
pub enum Family {
    /// Unchanged.
    Plain,
    /// Its adjoint of first or second order, or its tangent.
    Adjoint,
    /// The program with resets, or an adjoint of that.
    Reset,
    /// Training code or a training loop for the program.
    Training,
    /// The adjoint of training code or of a training loop.
    ThroughTraining,
    /// Unchanged, but nodes apply functions that stay calls.
    Functions,
    /// The adjoint of first or second order, or the tangent, of such a program.
    FunctionsAdjoint,
    /// Training code or a training loop for such a program.
    FunctionsTraining,
    /// Not a generated program, but one whose streams depend on each other in both directions, a bounded
    /// number of cycles apart, inside of windows.
    BothWays,
    /// Not a generated program either: windows have derived ends, and operations that may fail have operands
    /// that are unknown at these ends.
    UnknownAtEnd,
}

impl Sample {
    pub fn of(family: Family, source: &mut SampleChoices<'_>) -> Sample {
        let program = match family {
            Family::Plain => Some(source.program.program()),
            Family::Adjoint => Some(source.program.smooth_program()),
            Family::Reset => Some(source.program.program_to_train()),
            Family::Training | Family::ThroughTraining => Some(source.program.single_to_train()),
            Family::Functions => Some(source.program.with_functions().program()),
            Family::FunctionsAdjoint => Some(source.program.with_functions().smooth_program()),
            Family::FunctionsTraining => Some(source.program.with_functions().single_to_train()),
            Family::BothWays | Family::UnknownAtEnd => None,
        };
        let (text, node) = match program {
            Some(program) => derived(family, &program, &mut source.trace),
            None if matches!(family, Family::UnknownAtEnd) => unknown_at_end(&mut source.program.choices),
            None => both_ways(&mut source.program.choices),
        };
        let ready = prepared(&text, &node).and_then(|prepared| {
            trace(prepared, &mut source.trace, source.law).map_err(|NoValue| "no value")
        });
        Sample { text, node, ready, law: source.law.to_vec() }
    }

    /// How often the program applies functions that stay calls.
    pub fn n_calls(&self) -> usize {
        let Ok(ready) = &self.ready else { return 0 };
        let is_call = |equation: &&Equation| matches!(&equation.kind, Kind::Apply(op, _) if matches!(op.applied(), Op::Call(_)));
        ready.flow().equations.iter().filter(is_call).count()
    }

    pub fn decisions(&self) -> Choices<'_> {
        Choices::new(&self.law)
    }
}

/// The text of a program, and the node to run.
fn derived(family: Family, program: &ProgramText, choices: &mut Choices<'_>) -> (String, String) {
    let text = program.text();
    let NodeText { name: main, .. } = *program.main();
    let node = match family {
        Family::Plain | Family::Functions => main.to_string(),
        Family::Adjoint | Family::FunctionsAdjoint => {
            choices.among(&["adj_#", "tan_#", "adj_adj_#"]).replace('#', main)
        }
        Family::Reset => choices.among(&["#_end", "adj_#_end", "adj_#_cut", "diff_#_end"]).replace('#', main),
        Family::Training | Family::ThroughTraining | Family::FunctionsTraining => {
            let optimiser = choices.among(&["sgd(0.125)", "momentum(0.125,0.5)"]);
            let pieces = choices.among(&["segment", "truncate", "segment truncate", ""]);
            let declaration = format!("train {main} as t loss mse optim {optimiser} {pieces};\n");
            let node = match (choices.once_in(3), family) {
                (true, Family::Training | Family::FunctionsTraining) => "diff_#".replace('#', main),
                (true, _) => "adj_diff_#_end".replace('#', main),
                (false, Family::Training | Family::FunctionsTraining) => "t".to_string(),
                (false, _) => "adj_t".to_string(),
            };
            return (text + &declaration, node);
        }
        Family::BothWays | Family::UnknownAtEnd => unreachable!("these families have no generated program"),
    };
    (text, node)
}

/// A program in which `a` needs the next cycle of `b`, and `b` is `a` some cycles ago. The delays start with
/// a known value, or with one that is computed in the window.
fn both_ways(choices: &mut Choices<'_>) -> (String, String) {
    let (ty, zero) = choices.among(&[("num []", "0.0"), ("num [2]", "zeros([2])")]);
    let mut start = || choices.among(&["y + s", "y", "s - x", zero]);
    let mut text = vec![format!("node m(x:{ty}, y:{ty}, e:bool) -> (o, a)\n  s = backfill(x, e);\n")];
    text.push(format!("  a = s + (if e then {} else post b);\n", start()));
    text.push(format!("  b = {} fby c;\n  c = {} fby d;\n", start(), start()));
    text.push(format!("  d = {};\n", choices.among(&["a", "a * y", "y fby a"])));
    text.push("  o = a - s;\n".to_string());
    text.push(format!(
        "node n(x:{ty}, y:{ty}, e:bool, k:bool) -> (o, a) o, a = m(x when k, y when k, e when k);\n"
    ));
    (text.concat(), choices.among(&["m", "n"]).to_string())
}

/// A program with quotients of integers. The divisors come from the next cycle and are positive; at the end
/// of a window they are unknown and not needed.
fn unknown_at_end(choices: &mut Choices<'_>) -> (String, String) {
    let (ty, zero, one) = choices.among(&[("int []", "0", "1"), ("int [2]", "full([2], 0)", "full([2], 1)")]);
    let mut text = vec![format!("node m(x:{ty}, y:{ty}, e:bool, g:bool) -> (o, p, q)\n")];
    text.push("  a = backfill(x, e);\n  b = backfill(y, g);\n".to_string());
    let divisors =
        ["post z", "post (z + z)", "(if g then z else post z)", "(z * post z)", "(post z) + (post z)"];
    text.push(format!("  z = {} + {one};\n", choices.among(&["a * a", "b * b", "a * a + b * b"])));
    text.push(format!("  c = x {} ({});\n", choices.among(&["div", "mod"]), choices.among(&divisors)));
    text.push(format!("  d = {};\n", choices.among(&["c", "c + (if g then x else post d)", "c * z"])));
    text.push(format!(
        "  o = if {} then {} else d;\n",
        choices.among(&["e", "g"]),
        choices.among(&["x", "z"])
    ));
    text.push(format!("  p = {};\n", choices.among(&["x", "o + x", "if g then y else c"])));
    text.push(format!("  q = x + ({zero} fby {});\n", choices.among(&["x", "q", "o"])));
    text.push(format!("node n(x:{ty}, y:{ty}, e:bool, g:bool, k:bool) -> (o, p, q)\n"));
    text.push("  o, p, q = m(x when k, y when k, e when k, g when k);\n".to_string());
    (text.concat(), choices.among(&["m", "n"]).to_string())
}

/// Prepares a node, unless the program is refused.
pub fn prepared(text: &str, node: &str) -> Result<Prepared, &'static str> {
    prepared_given(text, node, &ElaborationOptions::default()).map_err(|_| "refused")
}

/// Prepares a node with given constants and shapes.
pub fn prepared_given(
    text: &str,
    node: &str,
    given: &ElaborationOptions,
) -> Result<Prepared, Vec<Diagnostic>> {
    let mut sources = Sources::alone(SourceFile::new("law.eddy", text));
    resolve(&mut sources).accepted().and_then(|program| {
        let callable = program.find(node, sources.main().end())?;
        prepare(&program, &callable, given, |_| Hints::default(), Checks::On)
    })
}

/// A trace of any length: none, a few cycles, or many.
fn trace(prepared: Prepared, choices: &mut Choices<'_>, law: &[u16]) -> Result<Ready, NoValue> {
    let n_cycles = match choices.below(8) {
        few @ 0..4 => few,
        some @ 4..7 => 2 * some,
        _ => 40,
    };
    // Long traces take more choices than there are, so the choices for the law seed a generator.
    let mut state =
        law.iter().fold(7_u32, |state, number| state.wrapping_mul(31).wrapping_add(u32::from(*number)));
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        u16::try_from(state >> 16).expect("16 bits are left")
    };
    let drawn: Vec<u16> = (0..4000).map(|_| next()).collect();
    let mut drawn = Choices::new(&drawn);
    let absences = if drawn.once_in(3) { Absences::Together } else { Absences::None };
    let trace = Trace {
        flow: &prepared.flow,
        clocks: &prepared.clocks,
        n_cycles,
        like: None,
        numbers: if drawn.once_in(2) { Numbers::Round } else { Numbers::Generic },
    };
    let inputs = trace.rows(&mut drawn, absences)?;
    Ok(Ready { prepared, inputs, n_cycles })
}

/// The program and its test bench, ready to be pasted into a file.
impl fmt::Debug for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{}", self.text)?;
        match &self.ready {
            Ok(ready) => writeln!(f, "{}", ready.bench(&self.node)),
            Err(refusal) => writeln!(f, "({}: {refusal})", self.node),
        }
    }
}
