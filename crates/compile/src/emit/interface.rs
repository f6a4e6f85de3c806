//! What is asked of the printer, and what a host is told about the text.

use eddy_flow::clocks::Clocks;
use eddy_flow::{Flow, VarId};
use eddy_plan::Plan;
use eddy_tensor::{Type, Value};

use crate::layout::Struct;
use crate::pieces::Pieces;
use crate::precision::Precision;

/// What to compile.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The equations.
    pub flow: &'a Flow,
    /// When streams are there.
    pub clocks: &'a Clocks,
    /// When they are computed.
    pub plan: &'a Plan,
    /// The seed of initial values.
    pub seed: u64,
}

/// How to compile it.
#[derive(Clone, Debug)]
pub struct Options {
    /// What everything is called: names begin with it.
    pub name: String,
    /// The precision of numbers.
    pub precision: Precision,
    /// The longest window that there is memory for.
    pub max_window: usize,
    /// Where constants are.
    pub constants: Constants,
    /// Whether `flush` runs the window that is open when the inputs end. A host has somebody else do that.
    pub opens: bool,
    /// For each equation where it stands in the source, for comments; empty if nobody will read them.
    pub places: Vec<String>,
    /// How long functions are cut into pieces.
    pub pieces: Pieces,
}

/// Where constants are that are too large to stand in expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constants {
    /// In tables of the text.
    InText,
    /// In the state, where the host puts them: the text does not depend on their values.
    FromHost,
}

/// C text, and what a host needs to call it.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// What everything is called.
    pub name: String,
    /// The precision of numbers.
    pub precision: Precision,
    /// The header that the code includes.
    pub runtime_header: String,
    /// The interface.
    pub header: String,
    /// The code.
    pub source: String,
    /// The inputs of a cycle, in the order of the program.
    pub input: Struct,
    /// The outputs of a cycle.
    pub output: Struct,
    /// The state.
    pub state: Struct,
    /// How many outputs a step can give at most.
    pub max_outputs: usize,
    /// The inputs whose presence says that a cycle is one of the program; none if all cycles are.
    pub owners: Option<Vec<usize>>,
    /// What the host puts into the state at the beginning, by the names of fields: constants that are not in the text.
    pub constants: Vec<(String, Value)>,
    /// The names of the fields of inputs and outputs, and whether each has a flag that says if it is there.
    pub inputs: Vec<Port>,
    /// See [`Emitted::inputs`].
    pub outputs: Vec<Port>,
    /// The fields of parameters that nothing learns.
    pub parameters: Vec<(VarId, String)>,
    /// What the program remembers from one cycle, or window, to the next.
    pub memories: Vec<Memory>,
    /// The kind of plan that it runs by.
    pub shape: Shape,
    /// Whether an operation may have no value.
    pub can_fail: bool,
    /// Whether `flush` gives the outputs of all cycles that are left.
    pub is_flushed: bool,
}

/// What is carried over by a delay.
#[derive(Clone, Debug)]
pub struct Memory {
    /// The `fby`.
    pub fby: VarId,
    /// Its type.
    pub ty: Type,
    /// Where its value is.
    pub place: MemoryPlace,
    /// If it is written at each cycle, and not only when a window ends: how late.
    pub lag: Option<usize>,
}

/// Where the value of a delay is when no window is open.
#[derive(Clone, Debug)]
pub enum MemoryPlace {
    /// In a field of the state, if its flag says so.
    Field {
        /// The field.
        name: String,
        /// Its flag; without one the field always has a value.
        flag: Option<String>,
    },
    /// Before the first cycle, in a field of the state; then the delay reads what is kept of its operand.
    Start(String),
    /// In a loop before windows: the newest value in a ring.
    Newest(Ring),
    /// It is known.
    Known(Value),
    /// It is a field that does not change.
    Invariant(String),
}

/// How a program runs.
#[derive(Clone, Debug)]
pub enum Shape {
    /// Cycle by cycle.
    Forward,
    /// Cycle by cycle, and some streams late: the rings that keep streams, `t` counts the cycles.
    Late(Vec<Ring>),
    /// A window at a time.
    Windows {
        /// It ends where this stream has this value; if there is none, where nothing waits for later cycles.
        end: Option<(VarId, bool)>,
        /// It is run so many cycles after its last one.
        lag: usize,
    },
    /// All cycles are collected, and run at the end.
    Trace,
}

/// A stream that is kept for some cycles.
#[derive(Clone, Debug)]
pub struct Ring {
    /// The stream.
    pub var: VarId,
    /// Its type.
    pub ty: Type,
    /// How late it is.
    pub lag: usize,
    /// How many values there are.
    pub slots: usize,
    /// The field with the values.
    pub field: String,
    /// The field that says which are there, if the stream is not there at all cycles.
    pub flags: Option<String>,
}

/// An input or an output.
#[derive(Clone, Debug)]
pub struct Port {
    /// What the program calls it.
    pub name: String,
    /// The name of its field; `NAME_present` is the flag.
    pub field: String,
    /// Its type.
    pub ty: Type,
    /// Whether it has a flag: it is not there at all cycles.
    pub has_flag: bool,
}
