//! Writes the equations of each form of expression.

use std::rc::Rc;

use eddy_syntax::{Diagnostic, Span};
use eddy_tensor::{Builtin, Initialiser, Op};

use super::instance::{Binding, Instance};
use super::{Elaborator, InstanceId, Operand, Work};
use crate::codes;
use crate::draft::{Application, Parameter, Part};
use crate::flow::{Constant, Kind, Name, Polarity, VarId};
use crate::functions::apply::{ApplySite, WrittenInterface, WrittenTensor};
use crate::functions::callee;
use crate::functions::value::Code;
use crate::program::{
    Callee, ConstantId, ConstantValue, Made, Module, Reference, Structure, StructuredCall, static_positions,
};
use crate::static_value::Static;
use crate::tree::{BinaryOp, Direction, ExprId, ExprKind, Form, Index, UnaryOp};

impl<'a> Elaborator<'a> {
    pub(super) fn module(&self, instance: InstanceId) -> &'a Module {
        self.program.module_of(self.instances[instance.index()].node)
    }

    pub(super) fn known(&self, instance: InstanceId, expr: ExprId) -> Option<&Static> {
        self.instances[instance.index()].statics.get(&expr)
    }

    /// Elaborates an equation: matches the parts of a tuple and the outputs of an instance with the targets.
    pub(super) fn equation(&mut self, instance: InstanceId, number: usize) {
        self.instances[instance.index()].equation = number;
        let node = self.program.node(self.instances[instance.index()].node);
        let equation = &node.equations[number];
        let exprs = &self.module(instance).tree.exprs;
        let mut targets = Vec::with_capacity(equation.targets.len());
        for slot in &equation.targets {
            targets.push(match slot.map(|slot| &self.instances[instance.index()].bindings[slot.index()]) {
                None => None,
                Some(Binding::Stream(var)) => Some(*var),
                Some(Binding::Static(_)) => return, // each use writes its own constant
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
            // A function that is the whole right side has one result for each target.
            let is_applied = matches!(self.callee(instance, expr), Some(Callee::Applied(..)));
            let n = if is_applied && exprs.without_parentheses(equation.value) == expr {
                targets.len()
            } else {
                let Some(n) = self.n_streams(instance, expr) else { return };
                n
            };
            let Some(targets) = targets.get(at..at + n) else {
                return self.report_wrong_width(instance, number);
            };
            at += n;
            self.visit(instance, expr, targets.to_vec(), &mut work);
            work.push(Work::Drop(n));
        }
        if at != targets.len() {
            return self.report_wrong_width(instance, number);
        }
        for slot in equation.targets.iter().flatten() {
            if node.slots[slot.index()].contract.is_some() {
                work.push(Work::Contract(instance, *slot));
            }
        }
        self.work.extend(work.into_iter().rev());
    }

    /// Appends the steps to elaborate an expression, first step first; its streams get these targets.
    pub(super) fn visit(
        &self,
        instance: InstanceId,
        expr: ExprId,
        targets: Vec<Option<VarId>>,
        work: &mut Vec<Work>,
    ) {
        match (self.callee(instance, expr), self.module(instance).tree.exprs.kind(expr)) {
            (Some(Callee::Instance(_)), ExprKind::Call(_, arguments)) => {
                let site = self.site(instance, expr);
                if let Some(copies) = site.and_then(|site| site.copies) {
                    return self.visit_copies(instance, expr, copies, targets, work);
                }
                let arguments = self.module(instance).tree.exprs.items(arguments);
                let argument = |number: usize| Work::Argument(instance, arguments[number]);
                match site.and_then(|site| site.order.as_ref()) {
                    Some(order) => work.extend(order.iter().copied().map(argument)),
                    None => work.extend((0..arguments.len()).map(argument)),
                }
                work.push(Work::Enter(instance, expr, targets));
            }
            (Some(Callee::Applied(..)), ExprKind::Call(_, arguments)) => {
                let arguments = self.module(instance).tree.exprs.items(arguments);
                work.extend(arguments.iter().map(|argument| Work::Argument(instance, *argument)));
                work.push(Work::Function(instance, expr, targets));
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

    /// Pushes an argument of an instance: a static one stays static.
    pub(super) fn argument(&mut self, instance: InstanceId, expr: ExprId) {
        match self.known(instance, expr) {
            Some(constant) => self.operands.push(Operand::Static(constant.clone())),
            None => self.stream(instance, expr, None),
        }
    }

    /// Pushes the stream of an expression, or schedules the work for it.
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
            ExprKind::Index(value, index) => {
                self.work.push(Work::Apply(instance, expr, target));
                self.work.push(Work::Argument(instance, index));
                self.work.push(Work::Stream(instance, value, None));
            }
            ExprKind::Form(form, parts) if let Form::Place(indices) = exprs.form(form) => {
                self.work.push(Work::Apply(instance, expr, target));
                let parts = exprs.items(parts);
                if indices[0] == Index::At {
                    self.work.extend(parts[1..].iter().rev().map(|index| Work::Argument(instance, *index)));
                }
                self.work.push(Work::Stream(instance, parts[0], None));
            }
            ExprKind::Error | ExprKind::Tuple(_) => unreachable!("rejected before elaboration"),
            _ => {
                let parts: Vec<ExprId> = exprs.children(expr).collect();
                self.plan(instance, expr, target, &parts);
            }
        }
    }

    /// Schedules the operands from left to right, then the equation.
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
                    Some(n) => return self.report_several_streams(n, span),
                    None => return,
                }
                let mut work = Vec::new();
                self.visit(instance, expr, vec![target], &mut work);
                self.work.extend(work.into_iter().rev());
            }
            Callee::Applied(..) => {
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
            Callee::Param => match self.shared_parameter(instance, expr) {
                Some(var) => match target {
                    None => self.operands.push(Operand::Stream(var)),
                    Some(_) => self.push(target, Kind::Apply(Op::Copy, Box::new([var])), span),
                },
                None => self.plan(instance, expr, target, arguments),
            },
            Callee::AllSum => self.plan(instance, expr, target, arguments),
            Callee::Initialiser(initialiser) => {
                if let Some(shape) = self.shape(instance, arguments[0]) {
                    let path = self.seed_path(instance, expr, *initialiser);
                    self.push(target, Kind::Const(Constant::Initialiser(*initialiser, shape, path)), span);
                    self.record_stream(instance, expr);
                }
            }
        }
    }

    /// The seed path of an initialiser (section 4): the instance path and the ordinal of the call.
    fn seed_path(&self, instance: InstanceId, expr: ExprId, initialiser: Initialiser) -> Name {
        let Reference::Call { ordinal, .. } = self.module(instance).references[expr.index()] else {
            unreachable!("calls are resolved")
        };
        let Instance { seed_path, suffix, .. } = &self.instances[instance.index()];
        seed_path.name(format!("{}#{ordinal}{suffix}", initialiser.name()))
    }

    fn variable(&mut self, instance: InstanceId, expr: ExprId, target: Option<VarId>, span: Span) {
        let slot = match self.module(instance).references[expr.index()] {
            Reference::Slot(slot) => slot,
            Reference::Constant(constant) => return self.constant(constant, target, span),
            Reference::ConstantLeaf(constant, leaf) => {
                let Ok(ConstantValue::Structure(_, leaves)) = &self.program.constant_values[constant.index()]
                else {
                    unreachable!("only structures have leaves")
                };
                return self.push(target, Kind::Const(Constant::Value(leaves[leaf].clone())), span);
            }
            _ => unreachable!("variables are resolved"),
        };
        let var = self.stream_of(instance, slot);
        match target {
            None => self.operands.push(Operand::Stream(var)),
            Some(_) => self.push(target, Kind::Apply(Op::Copy, Box::new([var])), span),
        }
    }

    /// Pushes the stream of a constant of the program.
    fn constant(&mut self, constant: ConstantId, target: Option<VarId>, span: Span) {
        // Constants of a program with errors are not computed.
        let Some(value) = self.program.constant_values.get(constant.index()) else {
            let title = "the program has errors, so its constants have no values";
            return self.fail(Diagnostic::error(codes::COMPILE_TIME, span, title));
        };
        match value {
            Ok(ConstantValue::Static(value)) => self.push(target, Kind::Const(Constant::from(value)), span),
            Ok(ConstantValue::Tensor(value)) => {
                self.push(target, Kind::Const(Constant::Value(value.clone())), span);
            }
            Ok(ConstantValue::Structure(..) | ConstantValue::Tuple) => {
                let title = "a constant that is a tuple has no stream";
                let diagnostic = Diagnostic::error(codes::TYPE, span, title);
                self.fail(diagnostic.help("write a function that returns the part that is needed"));
            }
            Err(diagnostic) => {
                let diagnostic = (**diagnostic).clone();
                self.diagnostics.push(diagnostic);
            }
        }
    }

    /// Applies a function whose arguments are on the stack; each of its results gets a target.
    pub(super) fn apply_function(&mut self, instance: InstanceId, expr: ExprId, targets: &[Option<VarId>]) {
        let module = self.module(instance);
        let exprs = &module.tree.exprs;
        let (Some(Callee::Applied(function, modes)), ExprKind::Call(name, arguments)) =
            (self.callee(instance, expr), exprs.kind(expr))
        else {
            unreachable!("only functions are applied")
        };
        let first = self.operands.len() - arguments.len();
        let operands: Vec<Operand> = self.operands.drain(first..).collect();
        let written = match modes.as_slice() {
            // A program with errors has no interfaces.
            [] => self.program.interfaces.get(function.index()).cloned().unwrap_or_default(),
            _ => WrittenInterface::default(),
        };
        let file = self.program.node(self.instances[instance.index()].node).module;
        let structures = match self.program.structured_calls.get(&(file, expr)) {
            Some(structures) => structures.clone(),
            None => StructuredCall {
                arguments: vec![Structure::Tensor; operands.len()],
                results: vec![Structure::Tensor; targets.len()],
            },
        };
        // The written types of a parameter's leaves belong to the leaves of its argument, if both have
        // equally many leaves.
        let params = structures.arguments.iter().enumerate().flat_map(|(at, structure)| {
            let leaves = written.params.get(at).map_or(&[][..], Vec::as_slice);
            let n_leaves = structure.n_leaves();
            (0..n_leaves).map(move |leaf| (leaves.len() == n_leaves).then(|| leaves[leaf].clone()))
        });
        let streams = params.zip(&operands).filter(|(_, operand)| matches!(operand, Operand::Stream(_)));
        let streams: Vec<Option<WrittenTensor>> = streams.map(|(written, _)| written).collect();
        let application = Rc::new(Application {
            name: module.names.text(name).to_string(),
            site: ApplySite {
                code: Code::Declared(*function, modes.clone()),
                module: file,
                expr,
                span: exprs.at(expr),
            },
            operands: streams,
            results: written.results,
            structures,
            arguments: operands
                .iter()
                .map(|operand| match operand {
                    Operand::Stream(_) => None,
                    Operand::Static(value) => Some(value.clone()),
                })
                .collect(),
        });
        let streams: Box<[VarId]> = operands
            .into_iter()
            .filter_map(|operand| match operand {
                Operand::Stream(var) => Some(var),
                Operand::Static(_) => None,
            })
            .collect();
        let op = Op::Call(callee::open(application.name.clone()));
        for (number, target) in targets.iter().enumerate() {
            let var = self.write(*target, Kind::Apply(op.clone(), streams.clone()), exprs.at(expr));
            self.draft.applications.insert(var, Part { application: Rc::clone(&application), number });
            self.operands.push(Operand::Stream(var));
        }
        self.record_stream(instance, expr);
    }

    /// Removes the leading `not`s of a condition; returns whether their number is odd.
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
                let Some(operand) = self.operands.pop() else { unreachable!("an index is an operand") };
                let value = self.pop();
                let Some(kind) = self.row(instance, value, index, operand) else { return };
                kind
            }
            ExprKind::Form(form, parts) => {
                let Form::Place(indices) = exprs.form(form) else { unreachable!("expanded before") };
                let Some(kind) = self.rows(instance, indices, exprs.items(parts), span) else { return };
                kind
            }
            ExprKind::Call(_, arguments) => match self.callee(instance, expr).expect("calls are resolved") {
                Callee::Param => Kind::Param(self.pop()),
                Callee::AllSum => {
                    if let Some(sum) = self.all_sum(target, span) {
                        self.operands.push(Operand::Stream(sum));
                        self.record_stream(instance, expr);
                    }
                    return;
                }
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

    /// Names the parameter on top of the stack; its value is saved under this name.
    fn parameter(&mut self, instance: InstanceId, expr: ExprId, span: Span) {
        let Some(Operand::Stream(var)) = self.operands.last() else {
            unreachable!("the parameter was just pushed")
        };
        let var = *var;
        let mut name = self.parameter_name(instance, expr);
        if self.instances[instance.index()].is_shared {
            self.shared_parameters.insert(name.clone(), var);
        }
        while !self.parameter_names.insert(name.clone()) {
            name = name.with_prime();
        }
        self.draft.parameters.push(Parameter { name, var, span });
    }

    /// The parameter of a `let` that an earlier call of it made.
    fn shared_parameter(&self, instance: InstanceId, expr: ExprId) -> Option<VarId> {
        let is_shared = self.instances[instance.index()].is_shared;
        is_shared.then(|| self.shared_parameters.get(&self.parameter_name(instance, expr)).copied()).flatten()
    }

    fn parameter_name(&self, instance: InstanceId, expr: ExprId) -> Name {
        let place = &self.instances[instance.index()];
        let node = self.program.node(place.node);
        let exprs = &self.module(instance).tree.exprs;
        let equation = &node.equations[place.equation];
        let is_whole = exprs.without_parentheses(equation.value) == expr && node.made != Made::Copied;
        let local = match equation.targets.as_slice() {
            [Some(slot)] if is_whole => node.slots[slot.index()].name.clone(),
            _ => match self.module(instance).references[expr.index()] {
                Reference::Call { ordinal, .. } => format!("param#{ordinal}{}", place.suffix),
                _ => unreachable!("a parameter is a call"),
            },
        };
        place.seed_path.name(local)
    }

    fn function(&mut self, instance: InstanceId, builtin: Builtin, arguments: &[ExprId]) -> Option<Kind> {
        let positions: Vec<usize> = static_positions(builtin, arguments.len()).collect();
        let statics: Vec<ExprId> = positions.iter().map(|position| arguments[*position]).collect();
        let op = self.with_statics(instance, builtin, &statics)?;
        Some(Kind::Apply(op, self.pop_n(arguments.len() - positions.len())))
    }

    pub(super) fn push(&mut self, target: Option<VarId>, kind: Kind, span: Span) {
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
