//! Flow: a program as flat equations between streams, one primitive each.
//!
//! ```text
//! o = merge bp (i when bp) ((post o) when not bp);        v3 = i when bp
//!                                                         v4 = post o
//!                                                         v5 = v4 when not bp
//!                                                         o  = merge bp v3 v5
//! ```
//!
//! Nodes are inlined, so there is one list of equations, in *flattening order*: equations in the order of the text,
//! operands from left to right before their operator, the body of an instance in its place. Everything that comes after
//! (clocks, causality, the semantics, differentiation, planning) is about this one data structure.
//!
//! * [`constant`]: what does not depend on time.
//! * [`text`]: flow as text that parses back.
//! * [`verify`](mod@verify): what makes a list of equations a flow.
//! * [`components`](mod@components): cycles among streams.
//! * [`clocks`]: when streams are there, as inference found it.

mod call;
pub mod clocks;
pub mod components;
pub mod constant;
mod label;
pub mod text;
pub mod verify;

use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Op, Type};

pub use call::{Argument, Call, in_instance, in_instances};
pub use constant::Constant;
pub use label::Labels;
pub use verify::{Violation, verify};

/// A stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(u32);

impl VarId {
    /// The variable with this number.
    pub fn new(index: usize) -> VarId {
        VarId(u32::try_from(index).expect("elaboration stops before 2^32 streams"))
    }

    /// Its number.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Which value of a condition is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Polarity {
    /// `when c`: true.
    On,
    /// `when not c`: false.
    OnNot,
}

/// A clock that is written beside a declaration.
#[derive(Clone, Debug)]
pub struct ClockAnnotation {
    /// The stream.
    pub var: VarId,
    /// `when c when not d`, in this order; at least one.
    pub conditions: Vec<(VarId, Polarity)>,
    /// Where it is written.
    pub span: Span,
    /// The instance that it is written in, by its number among the calls.
    pub call: Option<usize>,
}

/// A stream.
#[derive(Clone, Debug)]
pub struct Var {
    /// The user's name with its instance path, such as `lstm_cell#1/zr`; streams inside expressions have none.
    pub name: Option<Box<str>>,
    /// Where it is declared or computed.
    pub span: Span,
    /// Its type.
    pub ty: Type,
    /// What it was made for, if no text writes it.
    pub purpose: Option<Purpose>,
}

/// What a synthesised stream was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Purpose {
    /// The stream that it belongs to, which is older.
    pub of: VarId,
    /// What it is to that stream.
    pub role: Role,
}

/// What a synthesised stream is to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Its cotangent or tangent, or a part of one.
    Derivative,
    /// A part of what resets it or cuts its gradient.
    Reset,
}

/// `out = …`.
#[derive(Clone, Debug, PartialEq)]
pub struct Equation {
    /// What it defines.
    pub out: VarId,
    /// The right side.
    pub kind: Kind,
    /// Where messages about it point: the operator.
    pub span: Span,
    /// The innermost instance that it belongs to, by its number among the calls.
    pub call: Option<usize>,
}

impl Equation {
    /// The same equation between other streams.
    #[must_use]
    pub fn renamed(&self, rename: &impl Fn(VarId) -> VarId) -> Equation {
        let kind = match &self.kind {
            Kind::Const(constant) => Kind::Const(constant.clone()),
            Kind::Apply(op, operands) => {
                Kind::Apply(op.clone(), operands.iter().map(|operand| rename(*operand)).collect())
            }
            Kind::When { value, condition, polarity } => {
                Kind::When { value: rename(*value), condition: rename(*condition), polarity: *polarity }
            }
            Kind::Merge { condition, yes, no } => {
                Kind::Merge { condition: rename(*condition), yes: rename(*yes), no: rename(*no) }
            }
            Kind::Fby { init, next } => Kind::Fby { init: rename(*init), next: rename(*next) },
            Kind::FbyBack { init, next } => Kind::FbyBack { init: rename(*init), next: rename(*next) },
            Kind::Post(operand) => Kind::Post(rename(*operand)),
            Kind::Param(operand) => Kind::Param(rename(*operand)),
        };
        Equation { out: rename(self.out), kind, span: self.span, call: self.call }
    }
}

/// The primitives (section 2).
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// `k`.
    Const(Constant),
    /// `f(x, …)`; copies and `if` are among the functions.
    Apply(Op, Box<[VarId]>),
    /// `y when c` or `y when not c`.
    When {
        /// y.
        value: VarId,
        /// c.
        condition: VarId,
        /// Which value of c.
        polarity: Polarity,
    },
    /// `merge c y z`.
    Merge {
        /// c.
        condition: VarId,
        /// y, there when c is true.
        yes: VarId,
        /// z, there when c is false.
        no: VarId,
    },
    /// `i fby x`.
    Fby {
        /// i.
        init: VarId,
        /// x.
        next: VarId,
    },
    /// `i fby back x`.
    FbyBack {
        /// i.
        init: VarId,
        /// x.
        next: VarId,
    },
    /// `post x`.
    Post(VarId),
    /// `param(i)`, the identity outside of training.
    Param(VarId),
}

impl Kind {
    /// The operands, from left to right.
    pub fn operands(&self) -> impl Iterator<Item = VarId> + '_ {
        let (few, many): ([Option<VarId>; 3], &[VarId]) = match self {
            Kind::Const(_) => ([None; 3], &[]),
            Kind::Apply(_, operands) => ([None; 3], operands),
            Kind::When { value, condition, .. } => ([Some(*value), Some(*condition), None], &[]),
            Kind::Merge { condition, yes, no } => ([Some(*condition), Some(*yes), Some(*no)], &[]),
            Kind::Fby { init, next } | Kind::FbyBack { init, next } => {
                ([Some(*init), Some(*next), None], &[])
            }
            Kind::Post(operand) | Kind::Param(operand) => ([Some(*operand), None, None], &[]),
        };
        few.into_iter().flatten().chain(many.iter().copied())
    }

    /// Whether it reads other cycles than its own.
    pub fn is_delay(&self) -> bool {
        matches!(self, Kind::Fby { .. } | Kind::FbyBack { .. } | Kind::Post(_))
    }
}

/// Equations between typed streams.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    /// The streams.
    pub vars: Vec<Var>,
    /// The equations, in flattening order; each stream that is no input is defined once.
    pub equations: Vec<Equation>,
    /// The inputs of the node that is run.
    pub inputs: Vec<VarId>,
    /// Its outputs.
    pub outputs: Vec<VarId>,
    /// The clocks that are written.
    pub clocks: Vec<ClockAnnotation>,
    /// The parameters, with the names under which they are saved.
    pub parameters: Vec<Named>,
    /// What training has learnt: delays whose state outlives the data.
    pub memory: Vec<Named>,
    /// The streams whose values a backward pass reads: they are kept until it comes.
    pub tape: Vec<VarId>,
    /// The instances, outer ones before inner ones.
    pub calls: Vec<Call>,
    /// Other names of streams: an input of an instance is its argument, an output is what it defines. Only those are kept
    /// that will be shown.
    pub aliases: Vec<(Box<str>, VarId)>,
}

/// A stream with a name that does not depend on where it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Such as `cell#1/kernel`.
    pub name: String,
    /// The stream.
    pub var: VarId,
}

impl Flow {
    /// What messages and tables call the streams.
    pub fn labels(&self) -> Labels<'_> {
        let names = self.vars.iter().map(|var| var.name.as_deref());
        Labels::new(names, &self.equations).with_purposes(self.vars.iter().map(|var| var.purpose))
    }

    /// Says in which instances a mistake in an equation is.
    pub fn in_instances(&self, equation: usize, diagnostic: Diagnostic) -> Diagnostic {
        in_instances(&self.calls, self.equations[equation].call, diagnostic)
    }

    /// A stream.
    pub fn var(&self, var: VarId) -> &Var {
        &self.vars[var.index()]
    }

    /// All streams.
    pub fn var_ids(&self) -> impl Iterator<Item = VarId> + use<> {
        (0..self.vars.len()).map(VarId::new)
    }

    /// For each stream the number of the equation that defines it; inputs have none.
    pub fn definitions(&self) -> Vec<Option<usize>> {
        definitions(self.vars.len(), &self.equations)
    }

    /// The stream with this name.
    pub fn find(&self, name: &str) -> Option<VarId> {
        let own = self.var_ids().find(|var| self.var(*var).name.as_deref() == Some(name));
        own.or_else(|| self.aliases.iter().find(|(alias, _)| **alias == *name).map(|(_, var)| *var))
    }
}

/// For each stream the number of the equation that defines it; inputs have none.
pub fn definitions(n_vars: usize, equations: &[Equation]) -> Vec<Option<usize>> {
    let mut definitions = vec![None; n_vars];
    for (number, equation) in equations.iter().enumerate() {
        definitions[equation.out.index()] = Some(number);
    }
    definitions
}
