//! The instructions of the tape engine.

use crate::operation::{Pred, Scalar};
use crate::types::Type;

/// The place of a real: a slot of the current frame, or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand(i32);

/// A slot of the current frame.
pub type Slot = u32;

/// A place in the code.
pub type Pc = u32;

impl Operand {
    pub fn slot(slot: Slot) -> Self {
        Operand(i32::try_from(slot).expect("a frame has fewer slots than the program has bytes"))
    }

    /// The constant with this number.
    pub fn constant(index: usize) -> Self {
        Operand(!i32::try_from(index).expect("fewer constants than the program has bytes"))
    }

    /// The slot, unless it is a constant.
    pub fn as_slot(self) -> Option<Slot> {
        u32::try_from(self.0).ok()
    }

    /// The slot, or the number of the constant.
    #[inline]
    #[allow(clippy::cast_sign_loss)] // each side has the sign that it is cast from
    pub fn locate(self) -> Result<usize, usize> {
        if self.0 >= 0 { Ok(self.0 as usize) } else { Err(!self.0 as usize) }
    }
}

/// A range in [`Code::lists`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List {
    pub start: u32,
    pub len: u32,
}

/// An instruction. The most common operations have instructions of their own.
#[derive(Clone, Copy, Debug)]
pub enum Instr {
    /// `dst := x + y`.
    Add(Slot, Operand, Operand),
    /// `dst := x - y`.
    Sub(Slot, Operand, Operand),
    /// `dst := x * y`.
    Mul(Slot, Operand, Operand),
    /// `dst := x / y`.
    Div(Slot, Operand, Operand),
    /// `dst := pow(x, y)`.
    Pow(Slot, Operand, Operand),
    /// `dst := -x`.
    Neg(Slot, Operand),
    /// `dst := op(x)`, `op` by its number in [`Code::unary`].
    Unary(u32, Slot, Operand),
    /// `dst := x`.
    Copy(Slot, Operand),
    /// Continues with the next instruction if `pred(x, y)`, jumps otherwise.
    Branch(Pred, Operand, Operand, Pc),
    Jump(Pc),
    /// Calls a function whose arguments, and later results, are the slots from `window` on. A `lenient` call
    /// is the last operation of a derivative's body, see [`Tail`].
    Call {
        function: u32,
        /// The first slot of the callee's frame.
        window: Slot,
        /// Whether the last operation of the callee may overflow.
        lenient: bool,
        /// Whether the call repeats an earlier one, and costs no fuel.
        repeated: bool,
    },
    /// Calls a function that reuses the frame of the current one.
    TailCall {
        function: u32,
        /// The first slot of the arguments.
        window: Slot,
    },
    /// Ends the current function; its results are `n` slots from `window` on.
    Return {
        window: Slot,
        n: u32,
    },
    /// The only instruction of a function that is not linked yet.
    Missing(u32),
    /// `dst := x - 1` for the remaining limit of this function; undefined if `x` is 0.
    Limit(Slot, Operand, u32),
    /// Opens a tape: the reals of a list become its leaves, in the slots from `dst` on.
    Open {
        point: List,
        /// The first slot of the leaves.
        dst: Slot,
        /// Whether predicates at ties make choices from here on (`use clarke`).
        main: bool,
    },
    /// Sweeps the innermost tape from its outputs, with these cotangents, and puts the cotangents of its
    /// leaves in the slots from `dst` on.
    Close {
        outputs: List,
        cotangents: List,
        /// The first slot of the result.
        dst: Slot,
        /// The number of leaves.
        n: u32,
        /// Whether this ends the main derivative (`use clarke`).
        main: bool,
    },
}

/// Whether an instruction is the last operation of a function or of the body of a derivative.
///
/// A trace does not evaluate its last operation, only its derivative; so the last operation of a derivative's
/// body may overflow without making the derivative undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    No,
    /// The last operation of a function.
    Function,
    /// The last operation of the body of a derivative.
    Derivative,
}

#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// The first instruction.
    pub entry: Pc,
    /// The number of slots in a frame of the function.
    pub n_slots: u32,
    /// The number of slots that hold the arguments.
    pub n_arguments: u32,
}

/// A compiled program; function 0 is the program itself.
#[derive(Clone, Debug, Default)]
pub struct Code {
    pub instrs: Vec<Instr>,
    /// The [`Tail`] of each instruction.
    pub tails: Vec<Tail>,
    pub functions: Vec<Function>,
    /// Their names, for reports.
    pub names: Vec<String>,
    pub constants: Vec<f64>,
    /// The operations of [`Instr::Unary`].
    pub unary: Vec<Scalar>,
    /// The operand lists of [`Instr::Open`] and [`Instr::Close`].
    pub lists: Vec<Operand>,
    /// The type of the body of the main derivative (`use clarke`).
    pub main_body_type: Option<Type>,
}
