//! The codes of diagnostics in `.eddy` files. The hundreds follow the phases: 1 syntax, 2 names and
//! constants, 3 types and shapes, 4 clocks, 5 causality, 6 execution, 7 data, 8 differentiation and training,
//! 9 plans and C.

pub use eddy_autodiff::codes::{CUSTOM, RECURRENCE, SAMPLED, TOO_LARGE, UNREACHED};
pub use eddy_flow::codes::{BATCH, CLOCK};
use eddy_syntax::Code;

eddy_syntax::codes! {
    pages "../../../docs/errors/";
    /// Characters, comments or bytes that are not valid.
    LEXICAL = "E0101", Lexical;
    /// A word or symbol that the grammar does not allow at its place.
    SYNTAX = "E0102", Syntax;
    /// A number that is out of range.
    OUT_OF_RANGE = "E0103", Syntax;
    /// An operator before `fby` belongs to the first value, which is probably not intended.
    FIRST_VALUE = "E0104", Syntax;

    /// A variable that the node does not define.
    UNKNOWN_VARIABLE = "E0201", Names;
    /// A call of a node or function that does not exist.
    UNKNOWN_CALLEE = "E0202", Names;
    /// Something has two definitions.
    DEFINED_TWICE = "E0203", Names;
    /// An output has no definition.
    NO_DEFINITION = "E0204", Names;
    /// A name is an input and an output.
    INPUT_AND_OUTPUT = "E0205", Names;
    /// A node instantiates itself.
    RECURSIVE = "E0206", Names;
    /// A call with too many or too few arguments.
    ARITY = "E0207", Names;
    /// A left side with too many or too few names.
    WIDTH = "E0208", Names;
    /// A definition has the name of a primitive.
    PRIMITIVE = "E0209", Names;
    /// A file that cannot be imported.
    IMPORT = "E0210", Names;
    /// A value that must be known at compile time is unknown, or missing.
    COMPILE_TIME = "E0211", Elaboration;
    /// A node without a body is used.
    WITHOUT_BODY = "E0212", Names;

    /// A function where only data are allowed.
    FUNCTION_VALUE = "E0214", Elaboration;
    /// A function that cannot be specialised, or that uses a construct that functions do not have.
    FUNCTION = "E0215", Elaboration;
    /// A program of a kernel language, or a part of it, that has no translation to functions.
    KERNEL = "E0216", Names;
    /// An argument that is not a node or a function, or a rule of a `train` that does not fit its parameters.
    ARGUMENT = "E0217", Names;
    /// A state machine that is not well formed.
    AUTOMATON = "E0218", Names;

    /// Two different scalar types in one place.
    TYPE = "E0301", Types;
    /// Shapes that do not match.
    SHAPE = "E0302", Shapes;

    /// A stream waits for itself.
    CAUSALITY = "E0501", Causality;
    /// A stream waits for itself at some cycles, and no later cycle resolves it.
    DEADLOCK = "E0502", Causality;

    /// Streams were not present together when the program ran.
    SYNCHRONISATION = "E0601", Run;
    /// An operation had no value when the program ran.
    ARITHMETIC = "E0602", Run;
    /// More cycles were open than allowed.
    WINDOW = "E0603", Run;
    /// A semantics cannot run this program.
    UNSUPPORTED = "E0604", Run;
    /// A test bench that needs more cells than the limit.
    TOO_MANY_CELLS = "E0605", Run;
    /// A file without test benches is run.
    NOTHING_TO_RUN = "E0606", Run;
    /// A file without a training node is trained.
    NOTHING_TO_TRAIN = "E0607", Training;
    /// A contract does not hold.
    CONTRACT = "E0608", Run;
    /// A test bench has other cells than it expects.
    EXPECTATION = "E0609", Run;

    /// Data that do not match the inputs.
    DATA = "E0701", Data;
    /// Data with a column that is not an input.
    UNUSED_COLUMN = "E0702", Data;
    /// Parameters that do not match the node.
    PARAMETERS = "E0703", Data;

    /// A NaN or infinity in training.
    DIVERGENCE = "E0804", Training;
    /// A derivative differs from finite differences.
    GRADIENT = "E0805", Differentiation;
    /// Training code that cannot be printed.
    NOT_PRINTED = "E0807", Differentiation;
    /// More rows have an unknown loss than the look-ahead explains.
    UNKNOWN_LOSS = "E0808", Training;
    /// A loss grows so fast that training is about to diverge.
    GROWTH = "E0809", Training;

    /// A node has no static plan.
    NO_PLAN = "E0901", Plan;
    /// A program runs in the simulator, since it could not be compiled.
    NOT_COMPILED = "E0902", Build;
    /// A node cannot be written in C.
    NO_C = "E0903", Build;
    /// Loops keep their values, although checkpoints were requested.
    NO_CHECKPOINTS = "E0904", Plan;
    /// Compiled code and the simulator disagree.
    DISAGREEMENT = "E0908", Run;
}

/// All codes of `.eddy` files, those of passes over flow too, in order.
pub fn all() -> Vec<Code> {
    let mut all = [CODES, eddy_autodiff::codes::CODES, eddy_flow::codes::CODES].concat();
    all.sort_by_key(|code| code.name());
    all
}

/// The difference of `max` and `maximum`: the former reduces an axis, the latter compares two values.
pub const LARGER_OF_TWO: &str = "`max(x)` and `max(x, axis)` are the largest element of a tensor; the larger of two values is `maximum(x, y)`";
