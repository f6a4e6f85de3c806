//! Tables about a program, computed before it runs.

use eddy_tensor::Value;

use super::Options;
use crate::flow::{Flow, Kind, VarId};

pub(super) struct Tables {
    /// The equations that mention each stream, as concatenated lists.
    uses: Vec<u32>,
    starts: Vec<u32>,
    /// The value of each constant equation.
    constants: Vec<Option<Value>>,
    /// The index of each equation among the delays.
    delays: Vec<Option<u32>>,
    n_delays: usize,
}

impl Tables {
    pub fn new(flow: &Flow, options: Options) -> Self {
        let mut lists: Vec<Vec<u32>> = vec![Vec::new(); flow.vars.len()];
        let mut delays = Vec::with_capacity(flow.equations.len());
        let mut n_delays = 0;
        for (number, equation) in flow.equations.iter().enumerate() {
            let number = u32::try_from(number).expect("elaboration stops before 2^32 equations");
            for var in equation.kind.operands().chain([equation.out]) {
                let list = &mut lists[var.index()];
                if list.last() != Some(&number) {
                    list.push(number);
                }
            }
            delays.push(equation.kind.is_delay().then_some(n_delays));
            n_delays += u32::from(equation.kind.is_delay());
        }
        let (mut uses, mut starts) = (Vec::new(), vec![0]);
        for list in lists {
            uses.extend(list);
            starts.push(u32::try_from(uses.len()).expect("fewer operands than 2^32"));
        }
        let rounded = |value: Value| if options.single { value.to_num32() } else { value };
        let constant = |equation: &crate::flow::Equation| match &equation.kind {
            Kind::Const(constant) => Some(rounded(constant.value(&flow.var(equation.out).ty, options.seed))),
            _ => None,
        };
        let constants = flow.equations.iter().map(constant).collect();
        Tables { uses, starts, constants, delays, n_delays: n_delays as usize }
    }

    /// The equations that mention a stream.
    pub fn uses(&self, var: VarId) -> &[u32] {
        &self.uses[self.starts[var.index()] as usize..self.starts[var.index() + 1] as usize]
    }

    pub fn constant(&self, equation: usize) -> &Value {
        self.constants[equation].as_ref().expect("only constant equations have one")
    }

    /// The index of an equation among the delays.
    pub fn delay(&self, equation: usize) -> usize {
        self.delays[equation].expect("only delays have an index") as usize
    }

    pub fn n_delays(&self) -> usize {
        self.n_delays
    }
}
