//! The codes of diagnostics in `.eddy` files. The hundreds tell the phase: 1 syntax, 2 names and constants, 3 types and
//! shapes, 4 clocks, 5 causality, 6 execution, 7 data, 8 differentiation, 9 planning.

pub use eddy_autodiff::codes::{CUSTOM, RECURRENCE, SAMPLED, TOO_LARGE, UNREACHED};
pub use eddy_batch::BATCH;
use eddy_syntax::Code;
use eddy_syntax::explain::Page;

/// Characters, comments or bytes that cannot be read.
pub const LEXICAL: Code = "E0101";
/// A word or symbol where the grammar has none.
pub const SYNTAX: Code = "E0102";
/// A number beyond what it may be.
pub const OUT_OF_RANGE: Code = "E0103";
/// An operator before `fby` belongs to the first value, which is probably not meant.
pub const FIRST_VALUE: Code = "E0104";

/// A variable that the node does not define.
pub const UNKNOWN_VARIABLE: Code = "E0201";
/// A call of a node or function that is not there.
pub const UNKNOWN_CALLEE: Code = "E0202";
/// Something has two definitions.
pub const DEFINED_TWICE: Code = "E0203";
/// An output has no definition.
pub const NO_DEFINITION: Code = "E0204";
/// A name is an input and an output.
pub const INPUT_AND_OUTPUT: Code = "E0205";
/// A node instantiates itself.
pub const RECURSIVE: Code = "E0206";
/// Too many or too few arguments.
pub const ARITY: Code = "E0207";
/// A left side with too many or too few names.
pub const WIDTH: Code = "E0208";
/// A primitive is defined as something else.
pub const PRIMITIVE: Code = "E0209";
/// A file that cannot be imported.
pub const IMPORT: Code = "E0210";
/// Something that must be known at compile time is not, or has no value.
pub const COMPILE_TIME: Code = "E0211";
/// A node that is only declared is used.
pub const WITHOUT_BODY: Code = "E0212";

/// Two scalar types meet that differ.
pub const TYPE: Code = "E0301";
/// Shapes do not go together.
pub const SHAPE: Code = "E0302";

/// Streams meet that are there at different cycles.
pub const CLOCK: Code = "E0401";

/// A stream waits for itself.
pub const CAUSALITY: Code = "E0501";
/// A stream waits for itself at some cycles, and no later one can resolve it.
pub const DEADLOCK: Code = "E0502";

/// Streams were not there together when the program ran.
pub const SYNCHRONISATION: Code = "E0601";
/// An operation had no value when the program ran.
pub const ARITHMETIC: Code = "E0602";
/// More cycles were open than allowed.
pub const WINDOW: Code = "E0603";
/// A semantics cannot run this program.
pub const UNSUPPORTED: Code = "E0604";

/// A test bench that would fill more cells than are kept.
pub const TOO_MANY_CELLS: Code = "E0605";

/// A file without test benches is run.
pub const NOTHING_TO_RUN: Code = "E0606";

/// Data that do not go with the inputs.
pub const DATA: Code = "E0701";
/// Data with a column that is no input.
pub const UNUSED_COLUMN: Code = "E0702";

/// Parameters that do not go with the node.
pub const PARAMETERS: Code = "E0703";
/// A file without a training node is trained.
pub const NOTHING_TO_TRAIN: Code = "E0607";
/// A number became infinite or none at all in training.
pub const DIVERGENCE: Code = "E0804";
/// A derivative differs from finite differences.
pub const GRADIENT: Code = "E0805";
/// More losses are unknown than looking ahead explains.
pub const UNKNOWN_LOSS: Code = "E0808";
/// A loss grows so fast that training is about to diverge.
pub const GROWTH: Code = "E0809";
/// Training code that cannot be printed.
pub const NOT_PRINTED: Code = "E0807";

/// A node has no static plan.
pub const NO_PLAN: Code = "E0901";

/// A program runs in the simulator, since it could not be compiled.
pub const NOT_COMPILED: Code = "E0902";

/// A node cannot be written in C.
pub const NO_C: Code = "E0903";

/// Loops keep what they compute, although they were asked to run again.
pub const NO_CHECKPOINTS: Code = "E0904";

/// Compiled code and the simulator disagree.
pub const DISAGREEMENT: Code = "E0908";

/// What `max` is not: it reduces an axis, and elsewhere it compares two values.
pub const LARGER_OF_TWO: &str = "`max(x)` and `max(x, axis)` are the largest element of a tensor; the larger of two values is `maximum(x, y)`";

macro_rules! page {
    ($code:literal) => {
        Page { code: $code, text: include_str!(concat!("../../../docs/errors/", $code, ".md")) }
    };
}

/// The pages of `eddy explain`, in the order of their codes.
pub const PAGES: &[Page] = &[
    page!("E0101"),
    page!("E0102"),
    page!("E0103"),
    page!("E0104"),
    page!("E0201"),
    page!("E0202"),
    page!("E0203"),
    page!("E0204"),
    page!("E0205"),
    page!("E0206"),
    page!("E0207"),
    page!("E0208"),
    page!("E0209"),
    page!("E0210"),
    page!("E0211"),
    page!("E0212"),
    page!("E0213"),
    page!("E0301"),
    page!("E0302"),
    page!("E0401"),
    page!("E0501"),
    page!("E0502"),
    page!("E0601"),
    page!("E0602"),
    page!("E0603"),
    page!("E0604"),
    page!("E0605"),
    page!("E0606"),
    page!("E0607"),
    page!("E0701"),
    page!("E0702"),
    page!("E0703"),
    page!("E0801"),
    page!("E0802"),
    page!("E0803"),
    page!("E0804"),
    page!("E0805"),
    page!("E0806"),
    page!("E0807"),
    page!("E0808"),
    page!("E0809"),
    page!("E0901"),
    page!("E0902"),
    page!("E0903"),
    page!("E0904"),
    page!("E0905"),
    page!("E0908"),
];
