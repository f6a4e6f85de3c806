//! `train N as M loss L optim O(args)` (section 9.7): the node, its loss, and an optimiser for each parameter.

use eddy_autodiff::section::{Train, Trained, Wish};
use eddy_tensor::Op;

use super::instance::Binding;
use super::interface::Interface;
use super::synthesis::Place;
use super::{Elaborator, Operand, Work};
use crate::flow::{Constant, Kind, Polarity, VarId};
use crate::program::{Base, Callable, TrainId};

/// A training node that is being elaborated.
pub(super) struct Training {
    train: TrainId,
    place: Place,
    end: Option<VarId>,
    cut: Option<VarId>,
    bp: VarId,
    gt: VarId,
    /// The stream that the loss must be.
    loss: Option<VarId>,
    /// How many parameters there were before.
    n_parameters: usize,
    stage: Stage,
}

/// What was elaborated.
enum Stage {
    Node,
    Loss { output: VarId },
    Optimisers { output: VarId, loss: VarId, n: usize },
}

impl Elaborator<'_> {
    /// Begins a training node: `y = N(x..)`, or `N_end`, `N_cut`.
    pub(super) fn train(
        &mut self,
        train: TrainId,
        place: Place,
        mut bindings: Vec<Binding>,
        targets: &[Option<VarId>],
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
        self.begin_section();
        self.n_derivatives += 1;
        self.work.push(Work::Train(Box::new(Training {
            train,
            place: place.clone(),
            end,
            cut,
            bp,
            gt,
            loss: targets.get(1).copied().flatten(),
            n_parameters: self.draft.parameters.len(),
            stage: Stage::Node,
        })));
        let base = match (end, cut) {
            (None, None) => Base::Node(node),
            _ => Base::Woven { node, end: end.is_some(), cut: cut.is_some() },
        };
        bindings.extend([end, cut].into_iter().flatten().map(Binding::Stream));
        let callable = Callable::from(base);
        self.instantiate(&callable, &[], place, bindings, targets.iter().take(1).copied().collect());
    }

    /// What was elaborated last is done: goes on.
    pub(super) fn continue_training(&mut self, mut training: Training) {
        match training.stage {
            Stage::Node => {
                let output = self.pop();
                let span = training.place.span;
                let when = Kind::When { value: output, condition: training.bp, polarity: Polarity::On };
                let sampled = self.write(None, when, span);
                let loss = self.program.train(training.train).loss;
                let bindings = vec![Binding::Stream(sampled), Binding::Stream(training.gt)];
                let name = &self.program.node(loss).name;
                let place = within(&training.place, name, 1);
                let target = training.loss.unwrap_or_else(|| self.loss_stream(&training));
                training.stage = Stage::Loss { output };
                self.work.push(Work::Train(Box::new(training)));
                self.enter(loss, place, bindings, &[Some(target)]);
            }
            Stage::Loss { output } => {
                let loss = self.pop();
                self.optimisers(training, output, loss);
            }
            Stage::Optimisers { output, loss, n } => {
                self.operands.truncate(self.operands.len() - n);
                self.operands.extend([output, loss].map(Operand::Stream));
            }
        }
    }

    /// A stream for the loss, named as the interface names it.
    fn loss_stream(&mut self, training: &Training) -> VarId {
        let interface = Interface::head(self.program, Base::Train(training.train));
        let name = &interface.outputs[interface.outputs.len() - 1].name;
        self.var(Some(format!("{}{name}", training.place.path)), training.place.span)
    }

    /// Ends the section that is differentiated; each parameter then is an instance of the optimiser.
    fn optimisers(&mut self, mut training: Training, output: VarId, loss: VarId) {
        let program = self.program;
        let declared = program.train(training.train);
        let span = training.place.span;
        let parameters = self.draft.parameters.split_off(training.n_parameters);
        let step = self.step(&training);
        let mut trained = Vec::new();
        for parameter in &parameters {
            let [init, gradient, value] = [(); 3].map(|()| self.var(None, parameter.span));
            let var = [parameter.var];
            for other in [init, gradient, value] {
                self.alike(&var, &[other], parameter.span);
            }
            let own_step = if step.is_none() { Some(self.var(None, span)) } else { None };
            trained.push(Trained { init, gradient, step: own_step, value });
        }
        let wish = Train {
            node: program.node(declared.node).name.clone(),
            loss,
            parameters: trained.clone(),
            is_bounded: step.is_some(),
        };
        self.n_derivatives -= 1;
        self.end_section(Wish::Train(wish), span);
        training.stage = Stage::Optimisers { output, loss, n: trained.len() };
        let place = training.place.clone();
        self.work.push(Work::Train(Box::new(training)));
        let name = &program.node(declared.optimiser).name;
        for (number, trained) in trained.iter().enumerate().rev() {
            let step = step.or(trained.step).expect("one of both says when");
            let streams = [trained.init, step, trained.gradient].map(Binding::Stream);
            let arguments = declared.arguments.iter().cloned().map(Binding::Static);
            let bindings = streams.into_iter().chain(arguments).collect();
            let place = within(&place, name, number + 1);
            self.work.push(Work::Instantiate(declared.optimiser, place, bindings, trained.value));
        }
    }

    /// When parameters move: at the first cycle of a segment or piece, if `bp` holds there.
    fn step(&mut self, training: &Training) -> Option<VarId> {
        let span = training.place.span;
        let last = match (training.end, training.cut) {
            (None, None) => return None,
            (Some(signal), None) | (None, Some(signal)) => signal,
            (Some(end), Some(cut)) => self.write(None, Kind::Apply(Op::Or, Box::new([end, cut])), span),
        };
        let truth = self.write(None, Kind::Const(Constant::Bool(true)), span);
        let first = self.write(None, Kind::Fby { init: truth, next: last }, span);
        Some(self.write(None, Kind::Apply(Op::And, Box::new([first, training.bp])), span))
    }
}

fn within(place: &Place, name: &str, ordinal: usize) -> Place {
    Place {
        path: format!("{}{name}#{ordinal}/", place.path),
        seed_path: format!("{}{name}#{ordinal}/", place.seed_path),
        span: place.span,
    }
}
