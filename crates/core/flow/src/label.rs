//! How diagnostics and tables call a stream: by its name, or by the expression that computes it.
//!
//! Labels use the names of the inlined program, so `i when bp` in an inlined node shows the names of the
//! caller's arguments. Constants show their value.

use eddy_tensor::{Op, Spelling};

use super::{Constant, Equation, Kind, Name, Polarity, Purpose, Role, VarId};
use crate::constant::with_point;

/// Longer expressions are cut and end in `…`.
const MAX_LENGTH: usize = 120;

/// Labels of streams inside of "the derivative of …" are cut after this many characters.
const MAX_LETTERS: usize = 48;

pub struct Labels<'a> {
    names: Vec<Option<&'a Name>>,
    definitions: Vec<Option<&'a Equation>>,
    /// For each stream, why it was synthesised; empty if no stream is.
    purposes: Vec<Option<Purpose>>,
    /// Whether a literal of type `num` keeps its point, as in `2.0`; tables show the canonical value, `2`.
    has_points: bool,
}

/// Whether derivatives inside of an expression are written out. For example, the update of a parameter
/// contains its derivative.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Derivatives {
    Shown,
    /// Written as `…`.
    Hidden,
}

/// A piece of a label that is still to be written.
enum Task<'a> {
    Text(&'a str),
    Owned(String),
    /// A stream, in parentheses if it is an operation.
    Operand(VarId),
    /// A stream without parentheses: a whole label or an argument of a call.
    Whole(VarId),
    /// The right-hand side of a stream's equation.
    Definition(VarId),
}

impl<'a> Labels<'a> {
    pub fn new(names: impl Iterator<Item = Option<&'a Name>>, equations: &'a [Equation]) -> Self {
        let names: Vec<_> = names.collect();
        let mut definitions = vec![None; names.len()];
        for equation in equations {
            definitions[equation.out.index()] = Some(equation);
        }
        Labels { names, definitions, purposes: Vec::new(), has_points: false }
    }

    #[must_use]
    pub fn with_purposes(self, purposes: impl Iterator<Item = Option<Purpose>>) -> Self {
        Labels { purposes: purposes.collect(), ..self }
    }

    /// Makes literals of type `num` keep their point, for diagnostics about the source: there `2.0` differs
    /// from `2`.
    #[must_use]
    pub fn with_points(self) -> Self {
        Labels { has_points: true, ..self }
    }

    pub fn label(&self, var: VarId) -> String {
        self.text(vec![Task::Whole(var)], Derivatives::Shown)
    }

    /// A stream as the subject of a sentence: its label between quotes, or its relation to the stream that it
    /// was synthesised for, as in `the derivative of 'g'`. The user knows the name of that stream only.
    pub fn subject(&self, var: VarId, quote: &str) -> String {
        let (mut text, mut at) = (String::new(), var);
        while let Some(Purpose { of, role }) = self.purpose(at) {
            let is_whole = self.names[at.index()].is_some();
            text.push_str(match (role, is_whole) {
                (Role::Derivative, true) => "the derivative of ",
                // "a part of the derivative of a part of …" would say no more.
                (Role::Derivative, false) if text.is_empty() => "a part of the derivative of ",
                (Role::Derivative, false) => "the derivative of ",
                (Role::Reset, _) => "the reset of ",
            });
            at = of;
        }
        let mut label = self.text(vec![Task::Whole(at)], Derivatives::Hidden);
        // A prefix of the label is enough to identify the stream.
        if at != var
            && let Some((end, _)) = label.char_indices().nth(MAX_LETTERS)
        {
            label.truncate(end);
            label.push('…');
        }
        text + quote + &label + quote
    }

    /// Whether the stream appears in the source.
    pub fn is_written(&self, var: VarId) -> bool {
        self.purpose(var).is_none()
    }

    fn is_derivative(&self, var: VarId) -> bool {
        self.purpose(var).is_some_and(|purpose| purpose.role == Role::Derivative)
    }

    fn purpose(&self, var: VarId) -> Option<Purpose> {
        self.purposes.get(var.index()).copied().flatten()
    }

    /// The label of a stream as an operand: in parentheses if it is an operation.
    pub fn operand(&self, var: VarId) -> String {
        self.text(vec![Task::Operand(var)], Derivatives::Shown)
    }

    /// The right-hand side of a stream's equation, even if the stream has a name.
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

    /// Whether the label of a stream needs parentheses as an operand.
    fn is_compound(&self, var: VarId) -> bool {
        if self.names[var.index()].is_some() {
            return false;
        }
        match self.definitions[var.index()].map(|equation| &equation.kind) {
            None | Some(Kind::Const(_)) => false,
            Some(Kind::Apply(op, _)) => match op.spelling() {
                Spelling::Infix | Spelling::Prefix | Spelling::Choice => true,
                Spelling::Call
                | Spelling::Function
                | Spelling::Hidden
                | Spelling::Itself
                | Spelling::List
                | Spelling::Pick
                | Spelling::Row => false,
            },
            Some(Kind::Param(_)) => false,
            Some(_) => true,
        }
    }

    /// Pushes the parts of the right-hand side of a stream's equation, last part first.
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

/// Pushes the parts of an operation, first part first.
fn apply<'a>(op: &'a Op, operands: &[VarId], tasks: &mut Vec<Task<'a>>) {
    match (op.spelling(), operands) {
        (Spelling::Itself, [operand]) => tasks.push(Task::Whole(*operand)),
        (Spelling::Choice, [condition, yes, no]) => {
            tasks.extend([Task::Text("if "), Task::Operand(*condition), Task::Text(" then ")]);
            tasks.extend([Task::Operand(*yes), Task::Text(" else "), Task::Operand(*no)]);
        }
        (Spelling::Prefix, [operand]) => {
            // `-x`, but `not x`.
            let is_word = op.name().ends_with(char::is_alphabetic);
            tasks.push(Task::Text(op.name()));
            tasks.extend(is_word.then_some(Task::Text(" ")));
            tasks.push(Task::Operand(*operand));
        }
        (Spelling::Row, [operand]) => {
            let row: Vec<String> =
                op.statics().iter().map(|value| Constant::from(value).to_string()).collect();
            tasks.extend([Task::Operand(*operand), Task::Owned(format!("[{}]", row.join(",")))]);
        }
        (Spelling::Pick, [operand, index]) => {
            tasks.extend([Task::Operand(*operand), Task::Text("["), Task::Whole(*index), Task::Text("]")]);
        }
        (Spelling::Infix, [left, right]) => {
            let symbol = format!(" {} ", op.name());
            tasks.extend([Task::Operand(*left), Task::Owned(symbol), Task::Operand(*right)]);
        }
        (spelling, _) => {
            let (open, close) = match spelling {
                Spelling::List => ("[".to_string(), "]"),
                _ => (format!("{}(", op.name()), ")"),
            };
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
