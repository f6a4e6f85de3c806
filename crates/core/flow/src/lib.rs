//! Flow: a program as flat equations between streams, one primitive each.
//!
//! ```text
//! o = merge bp (i when bp) ((post o) when not bp);        v3 = i when bp
//!                                                         v4 = post o
//!                                                         v5 = v4 when not bp
//!                                                         o  = merge bp v3 v5
//! ```
//!
//! Nodes are inlined, so a flow is one list of equations in *flattening order*: equations in source order,
//! operands from left to right before their operator, the body of an instance at its call. All later phases
//! (clocks, causality, the semantics, differentiation, planning) work on this data structure.
//!
//! * [`constant`]: values that do not depend on time.
//! * [`text`]: flow as text that parses back.
//! * [`verify`](mod@verify): the invariants of a flow.
//! * [`components`](mod@components): cycles among streams.
//! * [`clocks`]: at which cycles each stream is present, as inferred by the language.

mod call;
pub mod cases;
pub mod clocks;
pub mod codes;
pub mod components;
pub mod constant;
mod contract;
mod label;
mod name;
pub mod text;
pub mod verify;

use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Op, Type};

pub use call::{Argument, Call, in_instance, in_instances};
pub use constant::Constant;
pub use contract::Contract;
pub use label::Labels;
pub use name::{Name, Path};
pub use verify::{Violation, verify};

eddy_index::id! {
    /// A stream of a [`Flow`].
    pub struct VarId, "elaboration stops before 2^32 streams";
}

/// The value of a condition at which a stream is present.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Polarity {
    /// `when c`: `c` is true.
    On,
    /// `when not c`: `c` is false.
    OnNot,
}

/// A clock that the source declares for a stream.
#[derive(Clone, Debug)]
pub struct ClockAnnotation {
    pub var: VarId,
    /// In source order, outermost first: `when c when not d`. Never empty.
    pub conditions: Vec<(VarId, Polarity)>,
    pub span: Span,
    /// The instance that declares it, as an index into [`Flow::calls`].
    pub call: Option<usize>,
}

#[derive(Clone, Debug)]
pub struct Var {
    /// The source name with its instance path, such as `lstm_cell#1/zr`; `None` for subexpressions.
    pub name: Option<Name>,
    /// Where the stream is declared or computed.
    pub span: Span,
    pub ty: Type,
    /// Set for synthesised streams, which have no source text.
    pub purpose: Option<Purpose>,
}

/// Why a stream was synthesised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Purpose {
    /// The stream it was made for; that stream is older.
    pub of: VarId,
    pub role: Role,
}

/// The relation of a synthesised stream to the stream that it was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A cotangent or tangent of the stream, or a part of one.
    Derivative,
    /// A part of the condition that resets the stream or cuts its gradient.
    Reset,
}

/// The definition `out = kind` of a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Equation {
    pub out: VarId,
    /// The primitive on the right-hand side.
    pub kind: Kind,
    /// The operator in the source, where diagnostics point.
    pub span: Span,
    /// The innermost enclosing instance, as an index into [`Flow::calls`].
    pub call: Option<usize>,
}

impl Equation {
    /// Returns the equation with `rename` applied to its result and operands.
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
    /// `f(x, …)`. Copies and `if` are operations too.
    Apply(Op, Box<[VarId]>),
    /// `y when c` or `y when not c`.
    When {
        /// `y`
        value: VarId,
        /// `c`
        condition: VarId,
        polarity: Polarity,
    },
    /// `merge c y z`.
    Merge {
        /// `c`
        condition: VarId,
        /// `y`, present where `c` is true.
        yes: VarId,
        /// `z`, present where `c` is false.
        no: VarId,
    },
    /// `i fby x`.
    Fby {
        /// `i`
        init: VarId,
        /// `x`
        next: VarId,
    },
    /// `i fby back x`.
    FbyBack {
        /// `i`
        init: VarId,
        /// `x`
        next: VarId,
    },
    /// `post x`.
    Post(VarId),
    /// `param(i)`: the identity, except that training replaces its value.
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

    /// Whether the equation reads a cycle other than its own.
    pub fn is_delay(&self) -> bool {
        matches!(self, Kind::Fby { .. } | Kind::FbyBack { .. } | Kind::Post(_))
    }
}

/// Equations between typed streams.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    pub vars: Vec<Var>,
    /// In flattening order. Every stream that is not an input has exactly one equation.
    pub equations: Vec<Equation>,
    /// The inputs of the main node.
    pub inputs: Vec<VarId>,
    /// The outputs of the main node.
    pub outputs: Vec<VarId>,
    /// Declared clocks.
    pub clocks: Vec<ClockAnnotation>,
    /// Parameters under the names that files of learnt values use.
    pub parameters: Vec<Named>,
    /// Delays whose state outlives the data: trained parameters, and the state of optimisers.
    pub persistent_state: Vec<Named>,
    /// Streams that a backward pass reads; their values are kept until then.
    pub tape: Vec<VarId>,
    pub contracts: Vec<Contract>,
    /// Inlined instances; outer ones come before inner ones.
    pub calls: Vec<Call>,
    /// Other names of streams: an input of an instance is an alias of its argument, an output of the stream
    /// that it defines. Only names that can be displayed are kept.
    pub aliases: Vec<(Name, VarId)>,
}

/// A stream with a stable name, which does not depend on where the stream is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Such as `cell#1/kernel`.
    pub name: Name,
    pub var: VarId,
}

impl Flow {
    /// The names that diagnostics and tables use for streams.
    pub fn labels(&self) -> Labels<'_> {
        let names = self.vars.iter().map(|var| var.name.as_ref());
        Labels::new(names, &self.equations).with_purposes(self.vars.iter().map(|var| var.purpose))
    }

    /// Adds the enclosing instances of an equation to a diagnostic about it.
    pub fn in_instances(&self, equation: usize, diagnostic: Diagnostic) -> Diagnostic {
        in_instances(&self.calls, self.equations[equation].call, diagnostic)
    }

    pub fn var(&self, var: VarId) -> &Var {
        &self.vars[var.index()]
    }

    pub fn var_ids(&self) -> impl Iterator<Item = VarId> + use<> {
        (0..self.vars.len()).map(VarId::new)
    }

    /// The index of the equation that defines each stream; `None` for inputs.
    pub fn definitions(&self) -> Vec<Option<usize>> {
        definitions(self.vars.len(), &self.equations)
    }

    /// The stream with this name or alias.
    pub fn find(&self, name: &str) -> Option<VarId> {
        let wanted = Name::from(name);
        let own = self.var_ids().find(|var| self.var(*var).name.as_ref() == Some(&wanted));
        own.or_else(|| self.aliases.iter().find(|(alias, _)| *alias == wanted).map(|(_, var)| *var))
    }
}

/// The index of the equation that defines each stream; `None` for inputs.
pub fn definitions(n_vars: usize, equations: &[Equation]) -> Vec<Option<usize>> {
    let mut definitions = vec![None; n_vars];
    for (number, equation) in equations.iter().enumerate() {
        definitions[equation.out.index()] = Some(number);
    }
    definitions
}
