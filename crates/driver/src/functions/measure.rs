//! Both derivatives of the entries of the arguments of one call, and finite differences.

use std::sync::Arc;

use eddy_body::ir::Mode;
use eddy_language::functions::Budget;
use eddy_language::functions::entry::{Call, CallError, Entry, LoweredCall};
use eddy_tensor::init::SplitMix64;
use eddy_tensor::{Data, Op, Value};

use super::Datum;
use super::gradcheck::FunctionEntry;
use crate::gradcheck::{STEP, is_kink, numbers, place_in};
use crate::program::Program;

/// The largest number of measured entries of one call; a sample, if there are more.
const MAX_ENTRIES: usize = 2000;

/// The smallest number of measured entries, even if a call takes long.
const MIN_ENTRIES: usize = 20;

/// The approximate number of calls and iterations for measuring one call.
const MAX_WORK: u64 = 1 << 26;

/// A call, its derivatives, and the weights of its results.
pub(super) struct Point<'a> {
    entry: &'a Entry,
    budget: &'a mut Budget,
    call: Call,
    adjoint: Arc<LoweredCall>,
    tangent: Arc<LoweredCall>,
    weights: Vec<Value>,
    n_results: usize,
    seed: u64,
    /// The fuel that the call uses.
    spent: u64,
}

impl<'a> Point<'a> {
    pub fn new(
        program: &Program,
        entry: &'a mut Entry,
        budget: &'a mut Budget,
        arguments: &[(String, Datum)],
        seed: u64,
    ) -> Result<Point<'a>, CallError> {
        let call = entry.prepare(program.resolved(), arguments, budget)?;
        let adjoint = entry.derivative(program.resolved(), &call, Mode::Adj, budget)?;
        let tangent = entry.derivative(program.resolved(), &call, Mode::Tan, budget)?;
        let fuel = budget.fuel.unwrap_or(u64::MAX);
        let mut metered = Budget { fuel: Some(fuel), ..*budget };
        let result = entry.run(&call, &mut metered)?;
        let spent = fuel - metered.fuel.unwrap_or(0);
        let weights = result.nums().into_iter().enumerate().map(|(at, y)| weight(y, at, seed)).collect();
        let n_results = result.values.len();
        Ok(Point { entry, budget, call, adjoint, tangent, weights, n_results, seed, spent })
    }

    /// The entries of all nums, or a sample of them, and the number of all entries.
    pub fn entries(mut self, number: usize) -> Result<(Vec<FunctionEntry>, usize), CallError> {
        let (adjoint, weights) = (Arc::clone(&self.adjoint), self.weights.clone());
        let cotangents = self.run(&adjoint, &weights)?.split_off(self.n_results);
        let nums = self.call.nums();
        let mut all: Vec<(usize, usize)> = Vec::new();
        for (num, (at, _)) in nums.iter().enumerate() {
            all.extend((0..self.call.arguments[*at].n_elements()).map(|index| (num, index)));
        }
        let n_all = all.len();
        let mut entries = Vec::new();
        for (num, index) in self.sample(all) {
            let (at, name) = &nums[num];
            let reverse = numbers(&cotangents[num])[index];
            let forward = self.forward(&nums, num, index)?;
            let value = self.call.arguments[*at].clone();
            let step = STEP * numbers(&value)[index].abs().max(1.0);
            let up = self.loss(*at, changed(&value, index, step))?;
            let down = self.loss(*at, changed(&value, index, -step))?;
            let here = self.loss(*at, value.clone())?;
            let (left, right) = ((here - down) / step, (up - here) / step);
            entries.push(FunctionEntry {
                place: place_in(name, value.shape(), index),
                call: number,
                reverse,
                forward,
                difference: (up - down) / (2.0 * step),
                is_kink: is_kink(left, right, reverse) && is_kink(left, right, forward),
            });
        }
        Ok((entries, n_all))
    }

    /// The derivative of the weighted sum by one entry, in forward mode.
    fn forward(&mut self, nums: &[(usize, String)], num: usize, index: usize) -> Result<f64, CallError> {
        let zeros = |(at, _): &(usize, String)| {
            Op::ZerosLike.eval(&[&self.call.arguments[*at]]).expect("zeros have no failure")
        };
        let mut directions: Vec<Value> = nums.iter().map(zeros).collect();
        directions[num] = changed(&directions[num], index, 1.0);
        let tangent = Arc::clone(&self.tangent);
        let tangents = self.run(&tangent, &directions)?.split_off(self.n_results);
        Ok(weighted(&tangents.iter().collect::<Vec<_>>(), &self.weights))
    }

    /// The weighted sum of the results with one argument replaced.
    fn loss(&mut self, at: usize, value: Value) -> Result<f64, CallError> {
        let mut varied = self.call.clone();
        varied.arguments[at] = value;
        let result = self.entry.run(&varied, self.budget)?;
        Ok(weighted(&result.nums(), &self.weights))
    }

    fn run(&mut self, code: &LoweredCall, directions: &[Value]) -> Result<Vec<Value>, CallError> {
        let arguments = [self.call.arguments.as_slice(), directions].concat();
        let found = self.budget.run(&code.program, code.body, &arguments);
        found.map_err(|error| CallError::Failed(Box::new(self.budget.diagnostic(&error, self.entry.span()))))
    }

    /// All entries, or an evenly spread sample: each entry takes four runs.
    fn sample(&self, mut all: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
        let most = usize::try_from(MAX_WORK / (4 * self.spent).max(1)).unwrap_or(MAX_ENTRIES);
        let most = most.clamp(MIN_ENTRIES, MAX_ENTRIES);
        let mut random = SplitMix64::new("entries", self.seed);
        while all.len() > most {
            let left_out = (u128::from(random.bits()) * all.len() as u128) >> 64;
            all.swap_remove(usize::try_from(left_out).unwrap_or(0));
        }
        all
    }
}

/// Random weights of a result, away from zero.
fn weight(y: &Value, at: usize, seed: u64) -> Value {
    let mut random = SplitMix64::new(&format!("weight {at}"), seed);
    let weights = (0..y.n_elements()).map(|_| {
        let size = 0.2 + random.uniform();
        if random.bits().is_multiple_of(2) { size } else { -size }
    });
    like(y, weights.collect())
}

fn weighted(values: &[&Value], weights: &[Value]) -> f64 {
    let sum = |(value, weight): (&&Value, &Value)| {
        numbers(weight).into_iter().zip(numbers(value)).map(|(w, y)| w * y).sum::<f64>()
    };
    values.iter().zip(weights).map(sum).sum()
}

/// A value with one element increased.
fn changed(value: &Value, index: usize, by: f64) -> Value {
    let mut elements = numbers(value);
    elements[index] += by;
    like(value, elements)
}

fn like(value: &Value, elements: Vec<f64>) -> Value {
    Value::new(value.shape().clone(), Data::Num(elements)).expect("the shape is the same")
}
