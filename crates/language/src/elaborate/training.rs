//! `train N as M loss L optim O(args)` (section 9.7): the node, its loss, and an optimiser for each
//! parameter.

use eddy_autodiff::section::{Request, Train, Trained};
use eddy_syntax::Span;
use eddy_tensor::{Op, Scalar, Shape, ShapeRule};
use rustc_hash::{FxHashMap, FxHashSet};

use super::instance::Binding;
use super::interface::Interface;
use super::synthesis::Place;
use super::{Elaborator, Operand, Work};
use crate::draft::{Loss, TypeAnnotation};
use crate::flow::{Constant, Kind, Name, Named, Path, Polarity, VarId};
use crate::program::{Base, Callable, TrainId};

/// A training node that is being elaborated.
pub(super) struct Training {
    train: TrainId,
    place: Place,
    stage: Stage,
}

/// The inputs of a training node after those of its node, and other context.
struct Signals {
    end: Option<VarId>,
    cut: Option<VarId>,
    bp: VarId,
    gt: VarId,
    /// The stream that the loss must define, if there is one.
    loss: Option<VarId>,
    /// The number of parameters before the training node.
    n_parameters: usize,
    /// Whether optimisers update the parameters.
    is_learning: bool,
}

/// The part that was elaborated last.
enum Stage {
    Node(Signals),
    /// With the output, the output sampled on `bp`, and the index of the loss's first equation.
    Loss(Signals, [VarId; 2], usize),
    Optimisers(Optimisers),
}

/// The optimisers of a training node, one for each parameter.
struct Optimisers {
    /// For each parameter, the number of its rule.
    rules: Vec<usize>,
    output: VarId,
    loss: VarId,
    /// The condition at which all of them step; `None` if each has its own.
    step: Option<VarId>,
    /// The parameters with their names.
    parameters: Vec<(Name, Trained)>,
    n_done: usize,
    /// The index of the last optimiser's first equation.
    first: usize,
}

impl Elaborator<'_> {
    /// Begins a training node: `y = N(x..)`, or `N_end`, `N_cut`.
    pub(super) fn train(
        &mut self,
        train: TrainId,
        place: Place,
        mut bindings: Vec<Binding>,
        targets: &[Option<VarId>],
        is_learning: bool,
    ) {
        let declared = self.program.train(train);
        let (node, segment, truncate) = (declared.node, declared.segment, declared.truncate);
        let given = bindings.split_off(self.program.node(node).n_inputs);
        let mut given = given.into_iter();
        let mut next = || given.next().expect("the arguments were counted");
        let (end, cut) = (segment.then(&mut next), truncate.then(&mut next));
        let (bp, gt) = (next(), next());
        let end = end.map(|end| self.signal(end, place.span));
        let cut = cut.map(|cut| self.signal(cut, place.span));
        let bp = self.signal(bp, place.span);
        let gt = self.as_stream(gt, place.span);
        if is_learning {
            self.begin_section();
            self.n_derivatives += 1;
        }
        let loss = targets.get(1).copied().flatten();
        let n_parameters = self.draft.parameters.len();
        let stage = Stage::Node(Signals { end, cut, bp, gt, loss, n_parameters, is_learning });
        self.work.push(Work::Train(Box::new(Training { train, place: place.clone(), stage })));
        let base = match (end, cut) {
            (None, None) => Base::Node(node),
            _ => Base::Woven { node, end: end.is_some(), cut: cut.is_some() },
        };
        bindings.extend([end, cut].into_iter().flatten().map(Binding::Stream));
        let callable = Callable::from(base);
        self.instantiate(&callable, &[], place, bindings, targets.iter().take(1).copied().collect());
    }

    /// Continues after the last part is elaborated.
    pub(super) fn continue_training(&mut self, training: Training) {
        let Training { train, place, stage } = training;
        match stage {
            Stage::Node(signals) => {
                let output = self.pop();
                let when = Kind::When { value: output, condition: signals.bp, polarity: Polarity::On };
                let sampled = self.write(None, when, place.span);
                let loss = self.program.train(train).loss;
                let bindings = vec![Binding::Stream(sampled), Binding::Stream(signals.gt)];
                let name = &self.program.node(loss).name;
                let call = self.register_call(name, loss, Box::new([]), place.span);
                let inside = within(&place, name, 1, call);
                let target = signals.loss.unwrap_or_else(|| self.loss_stream(train, &place));
                let stage = Stage::Loss(signals, [output, sampled], self.draft.equations.len());
                self.work.push(Work::Train(Box::new(Training { train, place, stage })));
                self.enter(loss, inside, bindings, &[Some(target)]);
            }
            Stage::Loss(signals, [output, sampled], first) => {
                let loss = self.pop();
                let span = self.program.train(train).span;
                if self.compares_elementwise(first, sampled, signals.gt) {
                    let name = self.program.node(self.program.train(train).loss).name.clone();
                    self.draft.losses.push(Loss { name, output, target: signals.gt, span });
                }
                let annotation =
                    TypeAnnotation { var: loss, scalar: Scalar::Num, shape: None, span, formal: None };
                self.draft.types.push(annotation);
                if !signals.is_learning {
                    self.operands.extend([output, loss].map(Operand::Stream));
                    return;
                }
                let minimised = if self.is_weighted { self.weighted(loss, span) } else { loss };
                self.optimisers(train, place, &signals, output, [loss, minimised]);
            }
            Stage::Optimisers(optimisers) => self.optimiser(train, place, optimisers),
        }
    }

    /// A stream for the loss, with the name of the interface.
    fn loss_stream(&mut self, train: TrainId, place: &Place) -> VarId {
        let interface = Interface::head(self.program, Base::Train(train));
        let name = &interface.outputs[interface.outputs.len() - 1].name;
        self.var(Some(place.path.name(name.as_str())), place.span)
    }

    /// The loss times a new input, which is the last one.
    fn weighted(&mut self, loss: VarId, span: Span) -> VarId {
        let mut name = "weight".to_string();
        let is_taken = |name: &str, draft: &crate::draft::Draft| {
            draft.vars.iter().any(|var| var.name.as_deref() == Some(name))
        };
        while is_taken(&name, &self.draft) {
            name.push('\'');
        }
        let weight = self.var(Some(Path::default().name(name.as_str())), span);
        self.draft.inputs.push(weight);
        let annotation = TypeAnnotation {
            var: weight,
            scalar: Scalar::Num,
            shape: Some(Shape::scalar()),
            span,
            formal: None,
        };
        self.draft.types.push(annotation);
        self.write(None, Kind::Apply(Op::Mul, Box::new([loss, weight])), span)
    }

    /// Ends the section that is differentiated; then each parameter becomes an instance of the optimiser.
    /// `minimised` is the loss, or what is minimised instead.
    fn optimisers(
        &mut self,
        train: TrainId,
        place: Place,
        signals: &Signals,
        output: VarId,
        [loss, minimised]: [VarId; 2],
    ) {
        let program = self.program;
        let declared = program.train(train);
        let span = place.span;
        let parameters = self.draft.parameters.split_off(signals.n_parameters);
        let last = self.last_row(signals, span);
        let step = last.map(|last| self.step(last, signals, span));
        let n_rows = last.filter(|_| declared.mean).map(|last| self.n_rows(last, signals, span));
        let mut trained = Vec::new();
        for parameter in parameters {
            let [init, gradient, value] = [(); 3].map(|()| self.var(None, parameter.span));
            for other in [init, gradient, value] {
                self.require_same_types(&[parameter.var], &[other], parameter.span);
            }
            let own_step = if step.is_none() { Some(self.var(None, span)) } else { None };
            self.draft.learnt.push(Named { name: parameter.name.clone(), var: value });
            trained.push((parameter.name, Trained { init, gradient, step: own_step, value }));
        }
        let request = Train {
            node: program.node(declared.node).name.clone(),
            loss: minimised,
            n_rows,
            parameters: trained.iter().map(|(_, trained)| trained.clone()).collect(),
            is_bounded: step.is_some(),
        };
        self.n_derivatives -= 1;
        self.end_section(Request::Train(request), span);
        let Some(rules) = self.rules(train, &place, &trained) else { return };
        let optimisers = Optimisers { rules, output, loss, step, parameters: trained, n_done: 0, first: 0 };
        self.optimiser(train, place, optimisers);
    }

    /// Begins the next optimiser; after the last one, ends the training node.
    fn optimiser(&mut self, train: TrainId, place: Place, mut optimisers: Optimisers) {
        let declared = self.program.train(train);
        if optimisers.n_done > 0 {
            self.pop();
            self.record_optimiser_state(train, &optimisers);
        }
        let Some((_, trained)) = optimisers.parameters.get(optimisers.n_done) else {
            self.end_sums(place.span);
            self.operands.extend([optimisers.output, optimisers.loss].map(Operand::Stream));
            return;
        };
        let step = optimisers.step.or(trained.step).expect("one of both is set");
        let (init, gradient) = (trained.init, trained.gradient);
        let (step, gradient) = self.delayed(step, gradient, place.span);
        let Some((_, trained)) = optimisers.parameters.get(optimisers.n_done) else {
            unreachable!("the index was checked above")
        };
        let streams = [init, step, gradient].map(Binding::Stream);
        let number = optimisers.rules[optimisers.n_done];
        let rule = &declared.rules[number];
        let arguments = rule.arguments.iter().cloned().map(Binding::Static);
        let bindings = streams.into_iter().chain(arguments).collect();
        let value = trained.value;
        optimisers.n_done += 1;
        optimisers.first = self.draft.equations.len();
        self.sums.begin(number);
        let name = &self.program.node(rule.optimiser).name;
        let call = self.register_call(name, rule.optimiser, Box::new([]), place.span);
        let inside = within(&place, name, optimisers.n_done, call);
        let stage = Stage::Optimisers(optimisers);
        self.work.push(Work::Train(Box::new(Training { train, place, stage })));
        self.enter(rule.optimiser, inside, bindings, &[Some(value)]);
    }

    /// Adds the state of the last optimiser to the state that training keeps between epochs.
    fn record_optimiser_state(&mut self, train: TrainId, optimisers: &Optimisers) {
        let rule = optimisers.rules[optimisers.n_done - 1];
        let optimiser = self.program.node(self.program.train(train).rules[rule].optimiser);
        let (parameter, trained) = &optimisers.parameters[optimisers.n_done - 1];
        // Names begin with the name of the parameter, so only names of the same optimiser can clash.
        let mut names: FxHashSet<Name> = FxHashSet::default();
        let path = parameter.as_path();
        for equation in &self.draft.equations[optimisers.first..] {
            let Kind::Fby { .. } = equation.kind else { continue };
            let local = match &self.draft.vars[equation.out.index()].name {
                Some(name) => name.word().to_string(),
                None if equation.out == trained.value => {
                    optimiser.slots[optimiser.outputs[0].index()].name.clone()
                }
                None => format!("_{}", equation.out.index()),
            };
            let mut name = path.name(local);
            while !names.insert(name.clone()) {
                name = name.with_prime();
            }
            self.draft.persistent_state.push(Named { name, var: equation.out });
        }
    }

    /// The condition that holds at the last cycle of a segment or piece; `None` if there are no segments.
    fn last_row(&mut self, signals: &Signals, span: Span) -> Option<VarId> {
        match (signals.end, signals.cut) {
            (None, None) => None,
            (Some(signal), None) | (None, Some(signal)) => Some(signal),
            (Some(end), Some(cut)) => Some(self.write(None, Kind::Apply(Op::Or, Box::new([end, cut])), span)),
        }
    }

    /// Holds at the first cycle, and after each cycle at which `last` holds.
    fn first_row(&mut self, last: VarId, span: Span) -> VarId {
        let truth = self.write(None, Kind::Const(Constant::Bool(true)), span);
        self.write(None, Kind::Fby { init: truth, next: last }, span)
    }

    /// The condition for an update of parameters: the first cycle of a segment or piece, if `bp` holds there.
    fn step(&mut self, last: VarId, signals: &Signals, span: Span) -> VarId {
        let first = self.first_row(last, span);
        self.write(None, Kind::Apply(Op::And, Box::new([first, signals.bp])), span)
    }

    /// The number of cycles of the segment or piece that have a loss, at each of these cycles:
    ///
    /// ```text
    /// rest = (if bp then 1 else 0) + (if last then 0 else (0 fby back rest))
    /// all = if first then rest else (0 fby all)
    /// ```
    fn n_rows(&mut self, last: VarId, signals: &Signals, span: Span) -> VarId {
        let first = self.first_row(last, span);
        let number = |this: &mut Self, n: f64| this.write(None, Kind::Const(Constant::Num(n)), span);
        let (rest, all) = (self.var(None, span), self.var(None, span));
        for count in [rest, all] {
            let shape = Some(Shape::scalar());
            let annotation = TypeAnnotation { var: count, scalar: Scalar::Num, shape, span, formal: None };
            self.draft.types.push(annotation);
        }
        let (one, none) = (number(self, 1.0), number(self, 0.0));
        let this_row = self.write(None, Kind::Apply(Op::If, Box::new([signals.bp, one, none])), span);
        let (after_end, none) = (number(self, 0.0), number(self, 0.0));
        let later = self.write(None, Kind::FbyBack { init: after_end, next: rest }, span);
        let later = self.write(None, Kind::Apply(Op::If, Box::new([last, none, later])), span);
        self.write(Some(rest), Kind::Apply(Op::Add, Box::new([this_row, later])), span);
        let before = number(self, 0.0);
        let held = self.write(None, Kind::Fby { init: before, next: all }, span);
        self.write(Some(all), Kind::Apply(Op::If, Box::new([first, rest, held])), span);
        self.write(None, Kind::When { value: all, condition: signals.bp, polarity: Polarity::On }, span)
    }

    /// The step and the gradient of an optimiser, delayed by `self.delay` activations.
    fn delayed(&mut self, step: VarId, gradient: VarId, span: Span) -> (VarId, VarId) {
        let (mut step, mut gradient) = (step, gradient);
        for _ in 0..self.delay {
            let never = self.write(None, Kind::Const(Constant::Bool(false)), span);
            step = self.write(None, Kind::Fby { init: never, next: step }, span);
            let zero = self.write(None, Kind::Const(Constant::Num(0.0)), span);
            gradient = self.write(None, Kind::Fby { init: zero, next: gradient }, span);
        }
        (step, gradient)
    }

    /// Whether an elementwise operation of the loss has both the output and the target as operands.
    fn compares_elementwise(&self, first: usize, output: VarId, target: VarId) -> bool {
        let equations = &self.draft.equations[first..];
        let mut copies: FxHashMap<VarId, VarId> = FxHashMap::default();
        for equation in equations {
            if let Kind::Apply(Op::Copy, operands) = &equation.kind {
                copies.insert(equation.out, operands[0]);
            }
        }
        let original = |var: VarId| {
            let mut at = var;
            // Streams may be copies of each other in a cycle, which is reported elsewhere.
            for _ in 0..copies.len() {
                at = copies.get(&at).copied().unwrap_or(at);
            }
            at
        };
        let of_loss = |var: &VarId| {
            let original = original(*var);
            [original == output, original == target]
        };
        equations.iter().any(|equation| match &equation.kind {
            Kind::Apply(op, operands) if op.shape_rule() == ShapeRule::Broadcast => {
                let found: Vec<[bool; 2]> = operands.iter().map(of_loss).collect();
                found.iter().any(|[is_output, _]| *is_output) && found.iter().any(|[_, is_target]| *is_target)
            }
            _ => false,
        })
    }
}

fn within(place: &Place, name: &str, ordinal: usize, call: usize) -> Place {
    let instance = format!("{name}#{ordinal}");
    let path = place.path.inside(instance.as_str());
    Place::new(path, place.seed_path.inside(instance), place.span, Some(call))
}
