//! Small programs with known results, by which a C compiler is judged.
//!
//! Every operation of the table is applied in loops of several sizes, to operands that are stretched, cut out of larger ones, transposed or computed in the same
//! loop; forwards, and as an adjoint. The loops are printed as all others are ([`lower`](mod@crate::lower)), the results are those of the operation table, which
//! is the reference. All cases of a battery are one C program: it reads its inputs from a file, calls each case, and writes what they
//! computed to another. No input is a constant of the text, so a compiler computes nothing in advance.
//!
//! * [`cases`]: applications of every operation.
//! * [`operands`]: numbers for them.
//! * [`form`]: how they are put to the test.
//! * [`record`]: the expected results, and statements that compute them.
//!
//! Nothing here calls a compiler: [`build::qualify`](crate::build) does.

mod cases;
mod form;
mod operands;
mod record;
#[cfg(all(test, unix))]
mod sweep;

use std::fmt::Write;

#[cfg(test)]
use eddy_tensor::Scalar;
use eddy_tensor::{Op, Shape, Value};

use crate::layout::{Element, Struct};
use crate::lines::Lines;
use crate::lower::long_loops::LongLoops;
use crate::lower::lower;
use crate::lower::memory::Scratch;
use crate::machine;
use crate::precision::Precision;
use crate::runtime;
use cases::applications;
use form::{ASKED, Asked, READINGS, Reading, Recorded, pooled, recorded};
use operands::Numbers;

/// A C program, what it reads, and what it has to write.
pub(crate) struct Battery {
    pub precision: Precision,
    /// The text of the program: `battery INPUT OUTPUT`.
    pub text: String,
    /// The bytes of the file that it reads.
    pub input: Vec<u8>,
    output: Struct,
    cases: Vec<Case>,
}

/// What one function computes.
struct Case {
    name: String,
    /// The fields of its results, and their values.
    expected: Vec<(String, Value)>,
}

/// How much is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// What is known to go wrong, in a second: loops that choose, stretch, sum and take maxima.
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

/// Tells batteries apart that other versions of Eddy print. A test compares it with the text of the brief batteries: to print them in each run would take
/// longer than all else that a run does before it starts.
pub(crate) const FINGERPRINT: &str = "f68d5ec8e61bfc78";

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

    /// What of the output is wrong, by the names of cases.
    pub fn failures(&self, output: &[u8]) -> Vec<String> {
        if output.len() != self.output.bytes {
            return vec!["the program that tries the compiler did not finish".to_string()];
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

/// A battery under construction.
struct Writer {
    precision: Precision,
    input: Struct,
    values: Vec<(String, Value)>,
    output: Struct,
    scratch: Scratch,
    functions: Lines,
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
            functions: Lines::default(),
            cases: Vec::new(),
            #[cfg(test)]
            operations: Vec::new(),
        }
    }

    /// The cases that qualify a compiler. Together they take a compiler about a second.
    fn brief(&mut self) {
        // What was compiled wrongly before, then one of each kind of loop.
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
                // The odd turns read operands that are computed in the same loop.
                self.rotated(op, *n, 2 * row + 1 + 4 * column, *most);
            }
        }
        self.pool(3);
    }

    /// Each operation at each size.
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
        // What chooses was compiled wrongly in some forms at these sizes, and only there.
        for n in [3, 5].into_iter().filter(|_| !is_full) {
            for op in [Op::Where, Op::Relu, Op::Abs, Op::Max(None)] {
                self.all_forms(&op, n, &[Reading::Whole, Reading::Computed]);
            }
        }
        for n in SIZES {
            self.pool(n);
        }
    }

    /// Some applications at a size, forwards and as adjoints; which ones, and in which form, changes with the turn.
    fn rotated(&mut self, op: &Op, n: usize, turn: usize, most: usize) {
        let applications = applications(op, n);
        for k in 0..applications.len().min(most) {
            let application = &applications[(turn + k * applications.len() / most) % applications.len()];
            let reading = READINGS[(turn + k) % READINGS.len()];
            let adjoint = ASKED[1 + (turn / 2 + k) % 2];
            for asked in [Asked::Result, adjoint] {
                // An application that has no such form is tried in the plain one.
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

    /// Writes a function.
    fn add(&mut self, name: &str, Recorded { recorder, results }: Recorded) {
        let number = self.cases.len();
        #[cfg(test)]
        self.operations.extend(recorder.operations().cloned());
        let mut inputs = Vec::new();
        for node in recorder.inputs() {
            let field = format!("x{}", self.values.len());
            recorder.field(node, &field, &mut self.input);
            self.values.push((field.clone(), recorder.value(node).clone()));
            inputs.push((node, format!("in->{field}")));
        }
        let (mut outputs, mut expected) = (Vec::new(), Vec::new());
        for (position, node) in results.into_iter().enumerate() {
            let field = format!("y{number}_{position}");
            recorder.field(node, &field, &mut self.output);
            expected.push((field.clone(), recorder.value(node).clone()));
            outputs.push((node, format!("out->{field}")));
        }
        let code = recorder.code(&inputs, &outputs);
        let names = |var: eddy_flow::VarId| format!("v{}", var.index());
        let lowered = lower(&code, &names, self.precision, &mut self.scratch, &LongLoops::default());
        let head = format!(
            "static int32_t case{number}(battery_state *self, const battery_in *in, battery_out *out)"
        );
        self.functions.block(&head, |lines| {
            lines.function_body(&["self", "in", "out"], &lowered.lines);
            lines.line("return 0;");
        });
        self.cases.push(Case { name: name.to_string(), expected });
    }

    fn finish(mut self) -> Battery {
        let mut state = Struct::default();
        for (number, (scalar, size)) in self.scratch.pieces.iter().enumerate() {
            let element = Element::Value(*scalar);
            state.field(format!("t{number}"), element, vec![*size], String::new(), self.precision);
        }
        let n_cases = self.cases.len();
        // What each case returns: 0, if no operation failed.
        self.output.field("codes".into(), Element::Site, vec![n_cases], String::new(), self.precision);
        let mut text = runtime::header(self.precision);
        for (part, fields) in [("in", &self.input), ("out", &self.output), ("state", &state)] {
            text.push_str(&fields.declaration(&format!("battery_{part}"), self.precision));
            text.push_str(&fields.assertions(&format!("battery_{part}")));
        }
        text.push_str(&self.functions.text());
        let cases: Vec<String> = (0..n_cases).map(|number| format!("case{number}")).collect();
        let _ = write!(text, "{}", MAIN.replace("CASES", &cases.join(", ")));
        let mut input = vec![0; self.input.bytes];
        for (name, value) in &self.values {
            let field = self.input.find(name).expect("inputs have fields");
            machine::write(&mut input, field, value, self.precision);
        }
        Battery { precision: self.precision, text, input, output: self.output, cases: self.cases }
    }
}

/// The program around the cases. Their addresses are in a table, so that none becomes part of another function.
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
