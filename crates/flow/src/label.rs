//! What messages and tables call a stream: its name, or the expression that it is the value of.
//!
//! A label is made of the names of the program as it runs, so the `i when bp` of an inlined node is called by the caller's
//! names. Constants are called by their value.

use eddy_tensor::Op;

use super::{Constant, Equation, Kind, Polarity, Purpose, Role, VarId};
use crate::constant::with_point;

/// A longer expression ends in `…`.
const MAX_LENGTH: usize = 120;

/// The same for the stream that a synthesised one belongs to.
const MAX_LETTERS: usize = 48;

/// Makes labels.
pub struct Labels<'a> {
    names: Vec<Option<&'a str>>,
    definitions: Vec<Option<&'a Equation>>,
    /// What streams were made for that no text writes; empty if all are written.
    purposes: Vec<Option<Purpose>>,
    /// Whether a number that is a `num` shows it, as `2.0` does; tables show the canonical value, `2`.
    has_points: bool,
}

/// Whether derivatives inside of an expression are written out. A parameter that moves by its derivative has one inside.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Derivatives {
    Shown,
    /// As `…`.
    Hidden,
}

/// What is left to write of a label.
enum Task<'a> {
    Text(&'a str),
    Owned(String),
    /// A stream; in parentheses if it is an operation.
    Operand(VarId),
    /// A stream as a whole label or an argument of a call.
    Whole(VarId),
    /// What a stream is defined as.
    Definition(VarId),
}

impl<'a> Labels<'a> {
    /// For streams with these names and these equations.
    pub fn new(names: impl Iterator<Item = Option<&'a str>>, equations: &'a [Equation]) -> Self {
        let names: Vec<_> = names.collect();
        let mut definitions = vec![None; names.len()];
        for equation in equations {
            definitions[equation.out.index()] = Some(equation);
        }
        Labels { names, definitions, purposes: Vec::new(), has_points: false }
    }

    /// For streams of which some are synthesised.
    #[must_use]
    pub fn with_purposes(self, purposes: impl Iterator<Item = Option<Purpose>>) -> Self {
        Labels { purposes: purposes.collect(), ..self }
    }

    /// For messages about the text of a program: `2.0` is no `2` there.
    #[must_use]
    pub fn with_points(self) -> Self {
        Labels { has_points: true, ..self }
    }

    /// The label of a stream.
    pub fn label(&self, var: VarId) -> String {
        self.text(vec![Task::Whole(var)], Derivatives::Shown)
    }

    /// A stream in a sentence: its label between quotes, or what it is to the stream that it was made for. The user wrote that one, and never
    /// the name of the other: `the derivative of 'g'`.
    pub fn subject(&self, var: VarId, quote: &str) -> String {
        let (mut text, mut at) = (String::new(), var);
        while let Some(Purpose { of, role }) = self.purpose(at) {
            let is_whole = self.names[at.index()].is_some();
            text.push_str(match (role, is_whole) {
                (Role::Derivative, true) => "the derivative of ",
                // A part of a part is a part.
                (Role::Derivative, false) if text.is_empty() => "a part of the derivative of ",
                (Role::Derivative, false) => "the derivative of ",
                (Role::Reset, _) => "the reset of ",
            });
            at = of;
        }
        let mut label = self.text(vec![Task::Whole(at)], Derivatives::Hidden);
        // The sentence is about the derivative; a few letters tell which stream it is of.
        if at != var
            && let Some((end, _)) = label.char_indices().nth(MAX_LETTERS)
        {
            label.truncate(end);
            label.push('…');
        }
        text + quote + &label + quote
    }

    /// Whether the user wrote a stream.
    pub fn is_written(&self, var: VarId) -> bool {
        self.purpose(var).is_none()
    }

    fn is_derivative(&self, var: VarId) -> bool {
        self.purpose(var).is_some_and(|purpose| purpose.role == Role::Derivative)
    }

    fn purpose(&self, var: VarId) -> Option<Purpose> {
        self.purposes.get(var.index()).copied().flatten()
    }

    /// The label of a stream as an operand: in parentheses if it consists of several words.
    pub fn operand(&self, var: VarId) -> String {
        self.text(vec![Task::Operand(var)], Derivatives::Shown)
    }

    /// The right side of a stream's equation, even if the stream has a name.
    pub fn definition(&self, var: VarId) -> String {
        self.text(vec![Task::Definition(var)], Derivatives::Shown)
    }

    fn text(&self, mut tasks: Vec<Task<'a>>, derivatives: Derivatives) -> String {
        let mut text = String::new();
        while let Some(task) = tasks.pop() {
            if text.len() > MAX_LENGTH {
                return text + "…";
            }
            match task {
                Task::Text(piece) => text.push_str(piece),
                Task::Owned(piece) => text.push_str(&piece),
                Task::Whole(var) if derivatives == Derivatives::Hidden && self.is_derivative(var) => {
                    text.push('…');
                }
                Task::Whole(var) => match self.names[var.index()] {
                    Some(name) => text.push_str(name),
                    None => self.expression(var, &mut tasks),
                },
                Task::Definition(var) => self.expression(var, &mut tasks),
                Task::Operand(var) if derivatives == Derivatives::Hidden && self.is_derivative(var) => {
                    text.push('…');
                }
                Task::Operand(var) if self.is_compound(var) => {
                    tasks.extend([Task::Text(")"), Task::Whole(var), Task::Text("(")]);
                }
                Task::Operand(var) => tasks.push(Task::Whole(var)),
            }
        }
        text
    }

    /// Whether the label of a stream consists of several words.
    fn is_compound(&self, var: VarId) -> bool {
        if self.names[var.index()].is_some() {
            return false;
        }
        match self.definitions[var.index()].map(|equation| &equation.kind) {
            None | Some(Kind::Const(_)) => false,
            Some(Kind::Apply(op, _)) => infix(op).is_some() || matches!(op, Op::If | Op::Neg | Op::Not),
            Some(Kind::Param(_)) => false,
            Some(_) => true,
        }
    }

    /// Pushes what the right side of a stream's equation consists of, last part first.
    fn expression(&self, var: VarId, tasks: &mut Vec<Task<'a>>) {
        let Some(equation) = self.definitions[var.index()] else {
            return tasks.push(Task::Text("_"));
        };
        let start = tasks.len();
        match &equation.kind {
            Kind::Const(Constant::Num(x)) if self.has_points => tasks.push(Task::Owned(with_point(*x))),
            Kind::Const(constant) => tasks.push(Task::Owned(constant.to_string())),
            Kind::Apply(op, operands) => apply(op, operands, tasks),
            Kind::When { value, condition, polarity } => {
                let word = if *polarity == Polarity::On { " when " } else { " when not " };
                tasks.extend([Task::Operand(*value), Task::Text(word), Task::Operand(*condition)]);
            }
            Kind::Merge { condition, yes, no } => {
                tasks.extend([Task::Text("merge "), Task::Operand(*condition), Task::Text(" ")]);
                tasks.extend([Task::Operand(*yes), Task::Text(" "), Task::Operand(*no)]);
            }
            Kind::Fby { init, next } => {
                tasks.extend([Task::Operand(*init), Task::Text(" fby "), Task::Operand(*next)]);
            }
            Kind::FbyBack { init, next } => {
                tasks.extend([Task::Operand(*init), Task::Text(" fby back "), Task::Operand(*next)]);
            }
            Kind::Post(operand) => tasks.extend([Task::Text("post "), Task::Operand(*operand)]),
            Kind::Param(operand) => {
                tasks.extend([Task::Text("param("), Task::Whole(*operand), Task::Text(")")]);
            }
        }
        tasks[start..].reverse();
    }
}

/// Pushes the parts of an application, first part first.
fn apply(op: &Op, operands: &[VarId], tasks: &mut Vec<Task<'_>>) {
    match (op, operands) {
        (Op::Copy, [operand]) => tasks.push(Task::Whole(*operand)),
        (Op::If, [condition, yes, no]) => {
            tasks.extend([Task::Text("if "), Task::Operand(*condition), Task::Text(" then ")]);
            tasks.extend([Task::Operand(*yes), Task::Text(" else "), Task::Operand(*no)]);
        }
        (Op::Neg, [operand]) => tasks.extend([Task::Text("-"), Task::Operand(*operand)]),
        (Op::Not, [operand]) => tasks.extend([Task::Text("not "), Task::Operand(*operand)]),
        (Op::Index(index), [operand]) => {
            tasks.extend([Task::Operand(*operand), Task::Owned(format!("[{index}]"))]);
        }
        (_, [left, right]) if infix(op).is_some() => {
            let symbol = infix(op).expect("just looked at");
            tasks.extend([Task::Operand(*left), Task::Owned(format!(" {symbol} ")), Task::Operand(*right)]);
        }
        _ => {
            let (open, close) =
                if *op == Op::Stack { ("[".to_string(), "]") } else { (format!("{}(", op.name()), ")") };
            tasks.push(Task::Owned(open));
            let statics = op.statics();
            for (index, argument) in statics.iter().map(Constant::from).enumerate() {
                tasks.push(Task::Owned(if index == 0 {
                    argument.to_string()
                } else {
                    format!(",{argument}")
                }));
            }
            let has_static = !statics.is_empty();
            for (index, operand) in operands.iter().enumerate() {
                if index > 0 || has_static {
                    tasks.push(Task::Text(","));
                }
                tasks.push(Task::Whole(*operand));
            }
            tasks.push(Task::Text(close));
        }
    }
}

/// The symbol between the operands of a binary operator.
fn infix(op: &Op) -> Option<&'static str> {
    match op {
        Op::Add
        | Op::Sub
        | Op::Mul
        | Op::Div
        | Op::IntDiv
        | Op::IntMod
        | Op::Lt
        | Op::Le
        | Op::Gt
        | Op::Ge
        | Op::Eq
        | Op::Ne
        | Op::And
        | Op::Or => Some(op.name()),
        _ => None,
    }
}
