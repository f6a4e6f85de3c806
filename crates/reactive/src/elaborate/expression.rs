//! The equations of each form of expression.

use eddy_syntax::Span;
use eddy_tensor::{Builtin, Initialiser, Op};

use super::instance::Binding;
use super::{Elaborator, InstanceId, Operand, Work};
use crate::draft::Parameter;
use crate::flow::{Constant, Kind, Polarity, VarId};
use crate::program::{Callee, Equation, Module, Reference, static_positions};
use crate::static_value::Static;
use crate::tree::{BinaryOp, Direction, ExprId, ExprKind, UnaryOp};

impl<'a> Elaborator<'a> {
    pub(super) fn module(&self, instance: InstanceId) -> &'a Module {
        self.program.module_of(self.instances[instance.0].node)
    }

    pub(super) fn known(&self, instance: InstanceId, expr: ExprId) -> Option<&Static> {
        self.instances[instance.0].statics.get(&expr)
    }

    /// An equation: each part of a tuple, each output of an instance has its target.
    pub(super) fn equation(&mut self, instance: InstanceId, number: usize) {
        let node = self.program.node(self.instances[instance.0].node);
        let equation = &node.equations[number];
        let exprs = &self.module(instance).tree.exprs;
        let mut targets = Vec::with_capacity(equation.targets.len());
        for slot in &equation.targets {
            targets.push(match slot.map(|slot| &self.instances[instance.0].bindings[slot.0]) {
                None => None,
                Some(Binding::Stream(var)) => Some(*var),
                Some(Binding::Static(_)) => return, // each use is a constant of its own
            });
        }
        let mut work = Vec::new();
        let (mut at, mut todo) = (0, vec![equation.value]);
        while let Some(expr) = todo.pop() {
            let expr = exprs.without_parentheses(expr);
            if let ExprKind::Tuple(items) = exprs.kind(expr) {
                todo.extend(exprs.items(items).iter().rev());
                continue;
            }
            let Some(n) = self.n_streams(instance, expr) else { return };
            let Some(targets) = targets.get(at..at + n) else { return self.wrong_width(instance, number) };
            at += n;
            self.visit(instance, expr, targets.to_vec(), &mut work);
            work.push(Work::Drop(n));
        }
        if at != targets.len() {
            return self.wrong_width(instance, number);
        }
        self.work.extend(work.into_iter().rev());
    }

    /// Plans the visit of an expression whose streams have these targets; first work first.
    fn visit(&self, instance: InstanceId, expr: ExprId, targets: Vec<Option<VarId>>, work: &mut Vec<Work>) {
        match (self.callee(instance, expr), self.module(instance).tree.exprs.kind(expr)) {
            (Some(Callee::Instance(_)), ExprKind::Call(_, arguments)) => {
                let arguments = self.module(instance).tree.exprs.items(arguments);
                work.extend(arguments.iter().map(|argument| Work::Argument(instance, *argument)));
                work.push(Work::Enter(instance, expr, targets));
            }
            _ => work.push(Work::Stream(instance, expr, targets[0])),
        }
    }

    pub(super) fn callee(&self, instance: InstanceId, expr: ExprId) -> Option<&'a Callee> {
        match &self.module(instance).references[expr.index()] {
            Reference::Call { callee, .. } => Some(callee),
            _ => None,
        }
    }

    /// An argument of an instance: a static one stays static.
    pub(super) fn argument(&mut self, instance: InstanceId, expr: ExprId) {
        match self.known(instance, expr) {
            Some(constant) => self.operands.push(Operand::Static(constant.clone())),
            None => self.stream(instance, expr, None),
        }
    }

    /// An expression as a stream.
    pub(super) fn stream(&mut self, instance: InstanceId, expr: ExprId, target: Option<VarId>) {
        let module = self.module(instance);
        let exprs = &module.tree.exprs;
        let expr = exprs.without_parentheses(expr);
        let span = exprs.at(expr);
        if let Some(constant) = self.known(instance, expr).map(Constant::from) {
            self.push(target, Kind::Const(constant), span);
            return self.record_stream(instance, expr);
        }
        match exprs.kind(expr) {
            ExprKind::Bool(truth) => {
                self.push(target, Kind::Const(Constant::Bool(truth)), span);
                self.record_stream(instance, expr);
            }
            ExprKind::Variable(_) => self.variable(instance, expr, target, span),
            ExprKind::Call(_, arguments) => {
                self.plan_call(instance, expr, exprs.items(arguments), target, span);
            }
            ExprKind::When(_, value, condition) => {
                let (condition, _) = self.stripped(instance, condition);
                self.plan(instance, expr, target, &[value, condition]);
            }
            ExprKind::Index(value, _) => self.plan(instance, expr, target, &[value]),
            ExprKind::Error | ExprKind::Tuple(_) => unreachable!("refused before elaboration"),
            _ => {
                let parts: Vec<ExprId> = exprs.children(expr).collect();
                self.plan(instance, expr, target, &parts);
            }
        }
    }

    /// Visits the operands from left to right, then writes the equation.
    fn plan(&mut self, instance: InstanceId, expr: ExprId, target: Option<VarId>, operands: &[ExprId]) {
        self.work.push(Work::Apply(instance, expr, target));
        self.work.extend(operands.iter().rev().map(|operand| Work::Stream(instance, *operand, None)));
    }

    fn plan_call(
        &mut self,
        instance: InstanceId,
        expr: ExprId,
        arguments: &[ExprId],
        target: Option<VarId>,
        span: Span,
    ) {
        match self.callee(instance, expr).expect("calls are resolved") {
            Callee::Instance(_) => {
                match self.n_streams(instance, expr) {
                    Some(1) => {}
                    Some(n) => return self.not_single(n, span),
                    None => return,
                }
                let mut work = Vec::new();
                self.visit(instance, expr, vec![target], &mut work);
                self.work.extend(work.into_iter().rev());
            }
            Callee::Function(builtin) => {
                let is_static: Vec<usize> = static_positions(*builtin, arguments.len()).collect();
                let streams: Vec<ExprId> = (0..arguments.len())
                    .filter(|position| !is_static.contains(position))
                    .map(|position| arguments[position])
                    .collect();
                self.plan(instance, expr, target, &streams);
            }
            Callee::Param => self.plan(instance, expr, target, arguments),
            Callee::Initialiser(initialiser) => {
                if let Some(shape) = self.shape(instance, arguments[0]) {
                    let path = self.seed_path(instance, expr, *initialiser);
                    self.push(target, Kind::Const(Constant::Initialiser(*initialiser, shape, path)), span);
                    self.record_stream(instance, expr);
                }
            }
        }
    }

    /// Section 4: the instance path and which use of the initialiser it is.
    fn seed_path(&self, instance: InstanceId, expr: ExprId, initialiser: Initialiser) -> Box<str> {
        let Reference::Call { ordinal, .. } = self.module(instance).references[expr.index()] else {
            unreachable!("calls are resolved")
        };
        format!("{}{}#{ordinal}", self.instances[instance.0].seed_path, initialiser.name()).into()
    }

    fn variable(&mut self, instance: InstanceId, expr: ExprId, target: Option<VarId>, span: Span) {
        let Reference::Slot(slot) = self.module(instance).references[expr.index()] else {
            unreachable!("variables are resolved")
        };
        let var = self.stream_of(instance, slot);
        match target {
            None => self.operands.push(Operand::Stream(var)),
            Some(_) => self.push(target, Kind::Apply(Op::Copy, Box::new([var])), span),
        }
    }

    /// The condition without the `not`s in front of it, and whether they were odd in number.
    fn stripped(&self, instance: InstanceId, condition: ExprId) -> (ExprId, bool) {
        let exprs = &self.module(instance).tree.exprs;
        let (mut condition, mut is_negated) = (exprs.without_parentheses(condition), false);
        while let ExprKind::Unary(UnaryOp::Not, operand) = exprs.kind(condition) {
            (condition, is_negated) = (exprs.without_parentheses(operand), !is_negated);
        }
        (condition, is_negated)
    }

    /// Writes the equation of an expression whose operands are on the stack.
    pub(super) fn apply(&mut self, instance: InstanceId, expr: ExprId, target: Option<VarId>) {
        let exprs = &self.module(instance).tree.exprs;
        let span = exprs.at(expr);
        let kind = match exprs.kind(expr) {
            ExprKind::Unary(op, _) => {
                let operand = self.pop();
                match op {
                    UnaryOp::Negate => Kind::Apply(Op::Neg, Box::new([operand])),
                    UnaryOp::Not => Kind::Apply(Op::Not, Box::new([operand])),
                    UnaryOp::Post => Kind::Post(operand),
                }
            }
            ExprKind::Binary(op, ..) => Kind::Apply(binary(op), Box::new(self.pop_many::<2>())),
            ExprKind::If(..) => Kind::Apply(Op::If, Box::new(self.pop_many::<3>())),
            ExprKind::Fby(direction, ..) => {
                let [init, next] = self.pop_many();
                match direction {
                    Direction::Forward => Kind::Fby { init, next },
                    Direction::Back => Kind::FbyBack { init, next },
                }
            }
            ExprKind::When(polarity, _, condition) => {
                let (_, is_negated) = self.stripped(instance, condition);
                let [value, condition] = self.pop_many();
                Kind::When {
                    value,
                    condition,
                    polarity: if is_negated { flipped(polarity) } else { polarity },
                }
            }
            ExprKind::Merge(..) => {
                let [condition, yes, no] = self.pop_many();
                Kind::Merge { condition, yes, no }
            }
            ExprKind::List(items) => Kind::Apply(Op::Stack, self.pop_n(items.len())),
            ExprKind::Index(_, index) => {
                let Some(index) = self.size(instance, index) else { return };
                Kind::Apply(Op::Index(index), Box::new([self.pop()]))
            }
            ExprKind::Call(_, arguments) => match self.callee(instance, expr).expect("calls are resolved") {
                Callee::Param => Kind::Param(self.pop()),
                Callee::Function(builtin) => {
                    let Some(kind) = self.function(instance, *builtin, exprs.items(arguments)) else {
                        return;
                    };
                    kind
                }
                _ => unreachable!("other calls have no operands"),
            },
            _ => unreachable!("other forms have no operands"),
        };
        let is_parameter = matches!(kind, Kind::Param(_));
        self.push(target, kind, span);
        if is_parameter {
            self.parameter(instance, expr, span);
        }
        self.record_stream(instance, expr);
    }

    /// The stream on the stack is a parameter: gives it the name under which it is saved.
    fn parameter(&mut self, instance: InstanceId, expr: ExprId, span: Span) {
        let Some(Operand::Stream(var)) = self.operands.last() else { unreachable!("it was pushed") };
        let (var, place) = (*var, &self.instances[instance.0]);
        let node = self.program.node(place.node);
        let exprs = &self.module(instance).tree.exprs;
        let is_this = |equation: &&Equation| exprs.without_parentheses(equation.value) == expr;
        let local = match node.equations.iter().find(is_this).map(|equation| equation.targets.as_slice()) {
            Some([Some(slot)]) => node.slots[slot.0].name.clone(),
            _ => match self.module(instance).references[expr.index()] {
                Reference::Call { ordinal, .. } => format!("param#{ordinal}"),
                _ => unreachable!("a parameter is a call"),
            },
        };
        let mut name = format!("{}{local}", place.seed_path);
        while !self.parameter_names.insert(name.clone()) {
            name.push('\'');
        }
        self.draft.parameters.push(Parameter { name, var, span });
    }

    fn function(&mut self, instance: InstanceId, builtin: Builtin, arguments: &[ExprId]) -> Option<Kind> {
        let positions: Vec<usize> = static_positions(builtin, arguments.len()).collect();
        let statics: Vec<ExprId> = positions.iter().map(|position| arguments[*position]).collect();
        let op = self.with_statics(instance, builtin, &statics)?;
        Some(Kind::Apply(op, self.pop_n(arguments.len() - positions.len())))
    }

    fn push(&mut self, target: Option<VarId>, kind: Kind, span: Span) {
        let var = self.write(target, kind, span);
        self.operands.push(Operand::Stream(var));
    }

    pub(super) fn pop(&mut self) -> VarId {
        match self.operands.pop() {
            Some(Operand::Stream(var)) => var,
            _ => unreachable!("each visit of a stream leaves one stream"),
        }
    }

    fn pop_many<const N: usize>(&mut self) -> [VarId; N] {
        let mut operands = [VarId::new(0); N];
        for operand in operands.iter_mut().rev() {
            *operand = self.pop();
        }
        operands
    }

    pub(super) fn pop_n(&mut self, n: usize) -> Box<[VarId]> {
        let mut operands: Vec<VarId> = (0..n).map(|_| self.pop()).collect();
        operands.reverse();
        operands.into()
    }
}

fn flipped(polarity: Polarity) -> Polarity {
    match polarity {
        Polarity::On => Polarity::OnNot,
        Polarity::OnNot => Polarity::On,
    }
}

fn binary(op: BinaryOp) -> Op {
    match op {
        BinaryOp::Add => Op::Add,
        BinaryOp::Sub => Op::Sub,
        BinaryOp::Mul => Op::Mul,
        BinaryOp::Divide => Op::Div,
        BinaryOp::IntDivide => Op::IntDiv,
        BinaryOp::Mod => Op::IntMod,
        BinaryOp::Less => Op::Lt,
        BinaryOp::LessEqual => Op::Le,
        BinaryOp::Greater => Op::Gt,
        BinaryOp::GreaterEqual => Op::Ge,
        BinaryOp::Equal => Op::Eq,
        BinaryOp::NotEqual => Op::Ne,
        BinaryOp::And => Op::And,
        BinaryOp::Or => Op::Or,
    }
}
