//! Small programs with known results, which test a C compiler.
//!
//! Every operation of the table is applied in loops of several sizes, to operands that are broadcast, slices
//! of larger ones, transposed or computed in the same loop; as itself, and as an adjoint. The loops are
//! printed like all others ([`lower`](mod@crate::lower)); the operation table is the reference for the
//! results. All cases of a battery form one C program: it reads its inputs from a file, calls each case, and
//! writes the results to another file. No input is a constant of the text, so a compiler cannot compute
//! anything in advance.
//!
//! * [`cases`]: applications of every operation.
//! * [`operands`]: numbers for the operands.
//! * [`form`]: the form of each test case.
//! * [`record`]: the expected results, and the statements that compute them.
//!
//! Nothing here calls a compiler: [`build::qualify`](crate::build) does.

mod cases;
mod form;
mod operands;
mod record;
#[cfg(all(test, unix))]
#[expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "it compiles and runs C")]
mod sweep;

use std::fmt::Write;

use eddy_imp::Parameter::{In, Out, State};
use eddy_imp::{Linkage, Place, Precision, Procedure, Program, Stmt, Struct, Type};
#[cfg(test)]
use eddy_tensor::Scalar;
use eddy_tensor::{Op, Shape, Value};

use rustc_hash::FxHashSet;

use crate::c;
use crate::lower::lower;
use crate::lower::memory::Scratch;
use crate::machine;
use crate::passes::{self, Pieces};
use crate::precision::element_type;
use crate::runtime;
use cases::applications;
use form::{ASKED, Asked, READINGS, Reading, Recorded, pooled, recorded};
use operands::Numbers;

/// A C program, its input and its expected output.
pub(crate) struct Battery {
    pub precision: Precision,
    /// The text of the program `battery INPUT OUTPUT`.
    pub text: String,
    /// The contents of the input file.
    pub input: Vec<u8>,
    output: Struct,
    cases: Vec<Case>,
}

/// The expected results of one function.
struct Case {
    name: String,
    /// The fields of its results, and their values.
    expected: Vec<(String, Value)>,
}

/// How many cases to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Cases that compilers are known to get wrong, in a second: loops that choose, broadcast, sum and take
    /// maxima.
    Brief,
    /// Each operation at each size, in a form that changes from size to size.
    #[cfg(test)]
    Usual,
    /// Each operation at each size in all forms.
    #[cfg(test)]
    Full,
}

/// The sizes of innermost loops: around the lengths of vectors.
#[cfg(test)]
const SIZES: [usize; 15] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33];

/// Distinguishes the batteries of different versions of Eddy. A test compares it with the text of the brief
/// batteries, because printing them in each run would take longer than everything else before its start.
pub(crate) const FINGERPRINT: &str = "c5a54116e0ce058c";

impl Battery {
    pub fn new(precision: Precision, extent: Extent) -> Battery {
        let mut writer = Writer::new(precision);
        match extent {
            Extent::Brief => writer.brief(),
            #[cfg(test)]
            Extent::Usual => writer.sweep(false),
            #[cfg(test)]
            Extent::Full => writer.sweep(true),
        }
        writer.finish()
    }

    /// The names of the cases whose output is wrong.
    pub fn failures(&self, output: &[u8]) -> Vec<String> {
        if output.len() != self.output.bytes {
            return vec!["the test program did not finish".to_string()];
        }
        let is_right = |(name, expected): &(String, Value)| {
            let field = self.output.find(name).expect("results have fields");
            machine::read(output, field, &expected.ty(), 0, self.precision) == *expected
        };
        let failed = self.cases.iter().filter(|case| !case.expected.iter().all(is_right));
        failed.map(|case| case.name.clone()).collect()
    }

    #[cfg(test)]
    fn n_cases(&self) -> usize {
        self.cases.len()
    }
}

struct Writer {
    precision: Precision,
    input: Struct,
    values: Vec<(String, Value)>,
    output: Struct,
    scratch: Scratch,
    procedures: Vec<Procedure>,
    cases: Vec<Case>,
    #[cfg(test)]
    operations: Vec<Op>,
}

impl Writer {
    fn new(precision: Precision) -> Writer {
        Writer {
            precision,
            input: Struct::default(),
            values: Vec::new(),
            output: Struct::default(),
            scratch: Scratch::default(),
            procedures: Vec::new(),
            cases: Vec::new(),
            #[cfg(test)]
            operations: Vec::new(),
        }
    }

    /// The cases that qualify a compiler. Compiling them takes about a second.
    fn brief(&mut self) {
        // Loops that were miscompiled before, then one of each kind.
        let cases: [(Op, &[usize], usize); 17] = [
            (Op::Where, &[3, 5], 4),
            (Op::Relu, &[3, 5], 2),
            (Op::Max(None), &[3, 5], 1),
            (Op::Abs, &[3], 1),
            (Op::Maximum, &[5], 1),
            (Op::Sum(None), &[3, 17], 1),
            (Op::Reduce(Shape::scalar()), &[5], 2),
            (Op::Add, &[8, 17], 1),
            (Op::Exp, &[3, 17], 1),
            (Op::Tanh, &[8], 1),
            (Op::Softmax, &[5], 1),
            (Op::Matmul, &[3, 17], 1),
            (Op::Conv2d, &[3], 1),
            (Op::Fold(0, 1, 1), &[5], 1),
            (Op::IntMod, &[8], 1),
            (Op::And, &[17], 1),
            (Op::Transpose, &[5], 1),
        ];
        for (row, (op, sizes, most)) in cases.iter().enumerate() {
            for (column, n) in sizes.iter().enumerate() {
                // Odd turns read operands that are computed in the same loop.
                self.rotated(op, *n, 2 * row + 1 + 4 * column, *most);
            }
        }
        self.pool(3);
    }

    #[cfg(test)]
    fn sweep(&mut self, is_full: bool) {
        let each = Op::Each(eddy_tensor::Each::new(Op::Argmax, &[true]));
        for (row, op) in Op::all().cloned().chain([each]).enumerate() {
            for (column, n) in SIZES.into_iter().enumerate() {
                if is_full {
                    self.all_forms(&op, n, &READINGS);
                } else {
                    self.rotated(&op, n, row + column, 1);
                }
            }
        }
        // At these sizes only, choices were miscompiled in some forms.
        for n in [3, 5].into_iter().filter(|_| !is_full) {
            for op in [Op::Where, Op::Relu, Op::Abs, Op::Max(None)] {
                self.all_forms(&op, n, &[Reading::Whole, Reading::Computed]);
            }
        }
        for n in SIZES {
            self.pool(n);
        }
    }

    /// Some applications at a size, with their adjoints; `turn` determines which ones, and in which form.
    fn rotated(&mut self, op: &Op, n: usize, turn: usize, most: usize) {
        let applications = applications(op, n);
        for k in 0..applications.len().min(most) {
            let application = &applications[(turn + k * applications.len() / most) % applications.len()];
            let reading = READINGS[(turn + k) % READINGS.len()];
            let adjoint = ASKED[1 + (turn / 2 + k) % 2];
            for asked in [Asked::Result, adjoint] {
                // An application without this form is tried in the plain one.
                let seed = self.cases.len() as u64;
                let of = |reading, asked| {
                    recorded(application, reading, asked, self.precision, &mut Numbers::new(seed))
                };
                let plain = if asked == Asked::Result { Asked::Result } else { Asked::Adjoint };
                if let Some(recorded) = of(reading, asked).or_else(|| of(Reading::Whole, plain)) {
                    self.add(&format!("{asked:?} of {} at size {n}, {reading:?}", op.name()), recorded);
                }
            }
        }
    }

    /// All applications at a size in all forms.
    #[cfg(test)]
    fn all_forms(&mut self, op: &Op, n: usize, readings: &[Reading]) {
        let is_full = readings == READINGS;
        let is_wanted = |application: &cases::Application| {
            is_full || application.operands.iter().any(|operand| operand.values.scalar() == Scalar::Num)
        };
        for application in applications(op, n).into_iter().filter(is_wanted) {
            for &reading in readings {
                for asked in ASKED {
                    let numbers = &mut Numbers::new(self.cases.len() as u64);
                    if let Some(recorded) = recorded(&application, reading, asked, self.precision, numbers) {
                        self.add(&format!("{asked:?} of {application:?}, {reading:?}"), recorded);
                    }
                }
            }
        }
    }

    fn pool(&mut self, n: usize) {
        for asked in [Asked::Result, Asked::Adjoint] {
            let pooled = pooled(n, asked, self.precision, &mut Numbers::new(n as u64));
            self.add(&format!("{asked:?} of max_pool2d with {n} channels"), pooled);
        }
    }

    fn add(&mut self, name: &str, Recorded { recorder, results }: Recorded) {
        let number = self.cases.len();
        #[cfg(test)]
        self.operations.extend(recorder.operations().cloned());
        let mut inputs = Vec::new();
        for node in recorder.inputs() {
            let field = format!("x{}", self.values.len());
            recorder.field(node, &field, &mut self.input);
            self.values.push((field.clone(), recorder.value(node).clone()));
            inputs.push((node, Place::input(field)));
        }
        let (mut outputs, mut expected) = (Vec::new(), Vec::new());
        for (position, node) in results.into_iter().enumerate() {
            let field = format!("y{number}_{position}");
            recorder.field(node, &field, &mut self.output);
            expected.push((field.clone(), recorder.value(node).clone()));
            outputs.push((node, Place::output(field)));
        }
        let code = recorder.code(&inputs, &outputs);
        let names = |var: eddy_flow::VarId| format!("v{}", var.index());
        let mut body = lower(&code, &names, &mut self.scratch).block;
        if eddy_imp::effects::can_fail(&body) {
            body.push(Stmt::LeaveIfFailed);
        }
        body.leave(0);
        self.procedures.push(Procedure {
            name: format!("case{number}").into(),
            linkage: Linkage::Private,
            parameters: vec![State, In, Out],
            result: Some(Type::Status),
            shared: Struct::default(),
            body,
        });
        self.cases.push(Case { name: name.to_string(), expected });
    }

    fn finish(mut self) -> Battery {
        let mut state = Struct::default();
        for (number, (scalar, size)) in self.scratch.pieces.iter().enumerate() {
            state.field(Scratch::name(number), element_type(*scalar), vec![*size], "", self.precision);
        }
        let n_cases = self.cases.len();
        // The results of the cases: 0 if no operation failed.
        self.output.field("codes", Type::Status, vec![n_cases], "", self.precision);
        let mut text = runtime::header(self.precision);
        for (part, fields) in [("in", &self.input), ("out", &self.output), ("state", &state)] {
            text.push_str(&c::declaration(fields, &format!("battery_{part}"), self.precision));
            text.push_str(&c::assertions(fields, &format!("battery_{part}")));
        }
        let mut program = Program {
            name: "battery".into(),
            precision: self.precision,
            state,
            input: self.input.clone(),
            output: self.output.clone(),
            tables: Vec::new(),
            functions: Vec::new(),
            procedures: self.procedures,
        };
        passes::run(&mut program, &FxHashSet::default(), false, Pieces::USUAL);
        text.push_str(&c::code(&program));
        let cases: Vec<String> = (0..n_cases).map(|number| format!("battery_case{number}")).collect();
        let _ = write!(text, "{}", MAIN.replace("CASES", &cases.join(", ")));
        let mut input = vec![0; self.input.bytes];
        for (name, value) in &self.values {
            let field = self.input.find(name).expect("inputs have fields");
            machine::write(&mut input, field, value, self.precision);
        }
        Battery { precision: self.precision, text, input, output: self.output, cases: self.cases }
    }
}

/// The program around the cases. Their addresses are in a table, so that none is inlined.
const MAIN: &str = "
#include <stdio.h>

static battery_state state;
static battery_in in;
static battery_out out;

int main(int argc, char **argv) {
  static int32_t (*const cases[])(battery_state *, const battery_in *, battery_out *) = {CASES};
  if (argc != 3) return 2;
  FILE *file = fopen(argv[1], \"rb\");
  if (file == 0 || fread(&in, sizeof(in), 1, file) != 1) return 2;
  fclose(file);
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) out.codes[i] = cases[i](&state, &in, &out);
  file = fopen(argv[2], \"wb\");
  if (file == 0 || fwrite(&out, sizeof(out), 1, file) != 1) return 2;
  return fclose(file) == 0 ? 0 : 2;
}
";
