//! The input of the emitter, and the interface of the emitted text for a host.

use eddy_flow::clocks::Clocks;
use eddy_flow::{Flow, VarId};
use eddy_imp::Program;
use eddy_plan::Plan;
use eddy_tensor::{Type, Value};

use crate::functions::AppliedFunction;
use crate::layout::Struct;
use crate::passes::Pieces;
use crate::precision::Precision;

/// The program to compile.
#[derive(Clone, Copy)]
pub struct EmitInput<'a> {
    pub flow: &'a Flow,
    pub clocks: &'a Clocks,
    pub plan: &'a Plan,
    /// The seed of random initial values.
    pub seed: u64,
}

#[derive(Clone, Debug)]
pub struct Options {
    /// The prefix of all names.
    pub name: String,
    pub precision: Precision,
    /// The longest window that there is memory for.
    pub max_window: usize,
    pub constants: Constants,
    /// Whether `flush` runs the window that is open when the inputs end. A host leaves this to the simulator.
    pub opens: bool,
    /// The source position of each equation, for comments; empty to omit them.
    pub places: Vec<String>,
    /// How to split long functions into pieces.
    pub pieces: Pieces,
    /// The bytes of the state that functions may use at once, if they need any.
    pub arena: usize,
}

/// Where large constants are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constants {
    /// In tables of the text.
    InText,
    /// In the state, set by the host: the text does not depend on their values.
    FromHost,
}

/// A program, as `imp` and as C, with everything that a host needs to call it.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// The program from which the C is printed.
    pub program: Program,
    /// The prefix of all names.
    pub name: String,
    pub precision: Precision,
    /// The header that the code includes.
    pub runtime_header: String,
    /// The interface.
    pub header: String,
    pub source: String,
    /// The inputs of a cycle, in the order of the program.
    pub input: Struct,
    /// The outputs of a cycle.
    pub output: Struct,
    pub state: Struct,
    /// The largest number of outputs of a step.
    pub max_outputs: usize,
    /// The inputs whose presence activates a cycle; `None` if all cycles are active.
    pub owners: Option<Vec<usize>>,
    /// The initial values that the host writes into the state, by field: constants that are not in the text.
    pub constants: Vec<(String, Value)>,
    /// The fields of inputs, and whether each has a presence flag.
    pub inputs: Vec<Port>,
    /// The functions that the program applies.
    pub functions: Vec<AppliedFunction>,
    /// See [`Emitted::inputs`].
    pub outputs: Vec<Port>,
    /// The fields of parameters that are not trained.
    pub parameters: Vec<(VarId, String)>,
    /// The state that persists from one cycle, or window, to the next.
    pub delay_states: Vec<DelayState>,
    pub shape: Shape,
    /// Whether an operation may fail.
    pub can_fail: bool,
    /// Whether `flush` emits the outputs of all remaining cycles.
    pub is_flushed: bool,
}

/// The state of a delay.
#[derive(Clone, Debug)]
pub struct DelayState {
    pub fby: VarId,
    pub ty: Type,
    pub place: DelayStatePlace,
    /// The lag, if it is written at each cycle and not only when a window ends.
    pub lag: Option<usize>,
}

/// Where the value of a delay is when no window is open.
#[derive(Clone, Debug)]
pub enum DelayStatePlace {
    /// In a field of the state, if its flag is set.
    Field {
        name: String,
        /// Its flag; without one, the field always has a value.
        flag: Option<String>,
    },
    /// Before the first cycle, in a field of the state; afterwards the delay reads its operand's ring.
    Start(String),
    /// In a loop before windows: the newest value in a ring.
    Newest(Ring),
    /// A known value.
    Known(Value),
    /// A field that does not change.
    Invariant(String),
}

#[derive(Clone, Debug)]
pub enum Shape {
    /// Cycle by cycle.
    Forward,
    /// Cycle by cycle, with lags: the rings that keep streams; `t` counts the cycles.
    Late(Vec<Ring>),
    /// Window by window.
    Windows {
        /// It ends where this stream has this value; if `None`, where nothing waits for later cycles.
        end: Option<(VarId, bool)>,
        /// It runs this many cycles after its last one.
        lag: usize,
    },
    /// All cycles are collected, and run at the end.
    Trace,
}

/// A stream that is kept for some cycles.
#[derive(Clone, Debug)]
pub struct Ring {
    pub var: VarId,
    pub ty: Type,
    pub lag: usize,
    /// The number of values.
    pub slots: usize,
    /// The field with the values.
    pub field: String,
    /// The field with the presence flags, if the stream is absent at some cycles.
    pub flags: Option<String>,
}

/// An input or an output.
#[derive(Clone, Debug)]
pub struct Port {
    /// The name in the program.
    pub name: String,
    /// The name of its field; `NAME_present` is the flag.
    pub field: String,
    pub ty: Type,
    /// Whether it has a flag, because it is absent at some cycles.
    pub has_flag: bool,
}
