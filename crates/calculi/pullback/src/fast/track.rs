//! Lifting values to a tape, stripping them of it, and the backward sweep.
//!
//! A lifted number becomes an input node. A lifted function `f` becomes [`Object::Tracked`]: it runs `f`
//! directly, on cells of the tape, and records each call. With `v` a change of `f`, a call `f z` changes by
//! `v z`; so the cotangent of `f` is the list of its calls, each with the cotangent `c` of its result: `[(z,
//! c), …]`, which contracted with `v` is `Σ c @ (v z)` (rules 19a and 19b fused). Results that are functions
//! are tracked in turn.

use rustc_hash::FxHashMap;

use super::frame::Halt;
use super::heap::{Mark, Object, Value};
use super::layout::Kind;
use super::lazy::{Opening, Owner};
use super::machine::Machine;
use super::tape::{Level, Node, Record};
use crate::outcome::Stop;
use crate::primitive::calculus::{self, Arithmetic};
use crate::types::Type;

/// The state of a backward sweep.
struct Sweep {
    level: u32,
    adjoints: Vec<Option<Value>>,
    /// The calls of tracked functions, by their nodes.
    lists: FxHashMap<u32, Vec<(Value, Value)>>,
}

impl Machine<'_> {
    pub(super) fn open_level(&mut self, owner: Owner) -> u32 {
        let mark = self.heap.mark();
        let opening = Opening { owner, n_frames: self.frames.len(), n_slots: self.n_slots() };
        self.tapes.levels.push(Level { nodes: Vec::new(), mark, opening, stripped: FxHashMap::default() });
        u32::try_from(self.tapes.levels.len() - 1).expect("the memory limit ends a run before 2^32 levels")
    }

    /// The value as an input of the tape at this level.
    pub(super) fn lift(&mut self, value: Value, ty: Type, level: u32) -> Value {
        let layout = self.layouts.of(ty);
        let mut leaves = self.layouts.flatten(&self.heap, value, ty);
        for (leaf, (ty, kind)) in leaves.iter_mut().zip(&layout.leaves) {
            *leaf = match kind {
                Kind::Scalar => Value::Cell(level, self.tapes.push(level, Record::Input, *leaf)),
                Kind::Function | Kind::Functional => self.track(*leaf, *ty, level),
            };
        }
        self.layouts.rebuild(&mut self.heap, ty, &leaves)
    }

    fn track(&mut self, under: Value, ty: Type, level: u32) -> Value {
        let node = self.tapes.push(level, Record::Function, Value::Real(0.0));
        self.heap.object(Object::Tracked { level, node, ty, under })
    }

    /// Records a call of a tracked function with this result.
    pub(super) fn join(
        &mut self,
        level: u32,
        function: u32,
        argument: Value,
        result: Value,
        ty: Type,
    ) -> Value {
        let call = Record::Call { function, argument, outputs: result, ty };
        let node = self.tapes.push(level, call, Value::Real(0.0));
        let layout = self.layouts.of(ty);
        let mut leaves = self.layouts.flatten(&self.heap, result, ty);
        for (leaf, (ty, kind)) in leaves.iter_mut().zip(&layout.leaves) {
            *leaf = match kind {
                Kind::Scalar => {
                    let primal = self.tapes.primal(*leaf, level);
                    Value::Cell(level, self.tapes.push(level, Record::Join(*leaf), primal))
                }
                Kind::Function | Kind::Functional => self.track(*leaf, *ty, level),
            };
        }
        let joined = self.layouts.rebuild(&mut self.heap, ty, &leaves);
        if let Record::Call { outputs, .. } =
            &mut self.tapes.levels[level as usize].nodes[node as usize].record
        {
            *outputs = joined;
        }
        joined
    }

    /// Sweeps the innermost tape from a seed, closes it, and returns the cotangent of its inputs.
    pub(super) fn sweep(
        &mut self,
        handles: Value,
        from: Type,
        seeds: impl IntoIterator<Item = (Value, Value)>,
    ) -> Result<Option<Value>, Stop> {
        self.check_memory()?;
        let Level { nodes, .. } = self.tapes.levels.pop().expect("a level is open");
        let level = u32::try_from(self.tapes.levels.len()).expect("levels are numbered by `u32`");
        let mut sweep = Sweep { level, adjoints: vec![None; nodes.len()], lists: FxHashMap::default() };
        let was_sweeping = std::mem::replace(&mut self.tapes.is_sweeping, true);
        for (value, seed) in seeds {
            self.add_to_adjoint(&mut sweep, value, Some(seed))?;
        }
        for (i, node) in nodes.iter().enumerate().rev() {
            self.pull_node(&mut sweep, &nodes, i, node)?;
        }
        self.tapes.is_sweeping = was_sweeping;
        Ok(self.gather(&mut sweep, handles, from))
    }

    /// Propagates the adjoint of one node to its operands.
    fn pull_node(&mut self, sweep: &mut Sweep, nodes: &[Node], i: usize, node: &Node) -> Result<(), Stop> {
        if let Record::Call { function, argument, outputs, ty } = node.record {
            if let Some(covector) = self.gather(sweep, outputs, ty) {
                sweep.lists.entry(function).or_default().push((argument, covector));
            }
            return Ok(());
        }
        let Some(adjoint) = sweep.adjoints[i] else { return Ok(()) };
        let primal = |value: Value| match value {
            Value::Cell(level, node) if level == sweep.level => nodes[node as usize].primal,
            value => value,
        };
        match node.record {
            Record::Input | Record::Function | Record::Call { .. } => Ok(()),
            Record::Join(under) => self.add_to_adjoint(sweep, under, Some(adjoint)),
            Record::Unary(op, a) => {
                let part = calculus::push_unary(&mut self.tapes, op, primal(a), node.primal, adjoint)?;
                self.add_to_adjoint(sweep, a, part)
            }
            Record::Binary(op, a, b) => {
                let (left, right) = (primal(a), primal(b));
                if is_at(a, sweep.level) {
                    let part = calculus::pull_left(&mut self.tapes, op, right, adjoint)?;
                    self.add_to_adjoint(sweep, a, Some(part))?;
                }
                if is_at(b, sweep.level) {
                    let part = calculus::pull_right(&mut self.tapes, op, left, right, node.primal, adjoint)?;
                    self.add_to_adjoint(sweep, b, Some(part))?;
                }
                Ok(())
            }
        }
    }

    /// `adjoint of value += part`, if the value is on the tape; zeros are skipped.
    fn add_to_adjoint(&mut self, sweep: &mut Sweep, value: Value, part: Option<Value>) -> Result<(), Stop> {
        let (Value::Cell(level, node), Some(part)) = (value, part) else { return Ok(()) };
        if level != sweep.level || part == Value::Real(0.0) {
            return Ok(());
        }
        let slot = &mut sweep.adjoints[node as usize];
        *slot = Some(match *slot {
            None => part,
            Some(before) => self.tapes.binary(calculus::Binary::Add, before, part)?,
        });
        Ok(())
    }

    /// The cotangent of a value that consists of nodes of the tape; `None` if it is zero.
    fn gather(&mut self, sweep: &mut Sweep, handles: Value, ty: Type) -> Option<Value> {
        let leaves = self.layouts.flatten(&self.heap, handles, ty);
        let mut is_zero = true;
        let mut found = Vec::with_capacity(leaves.len());
        for leaf in leaves {
            found.push(match leaf {
                Value::Cell(_, node) => {
                    sweep.adjoints[node as usize].inspect(|_| is_zero = false).unwrap_or(Value::Real(0.0))
                }
                object => {
                    let Object::Tracked { node, .. } = self.heap.get(object) else {
                        unreachable!("handles are cells and tracked functions")
                    };
                    let entries = sweep.lists.remove(&node).unwrap_or_default();
                    is_zero &= entries.is_empty();
                    self.heap.list(entries)
                }
            });
        }
        let dual = self.layouts.types.dual(ty);
        (!is_zero).then(|| self.layouts.rebuild(&mut self.heap, dual, &found))
    }

    /// A value below this level: cells are replaced by their primals, tracked functions by the plain
    /// functions.
    pub(super) fn strip(&mut self, value: Value, level: u32) -> Value {
        let mark = self.tapes.levels[level as usize].mark;
        if let Value::Cell(..) = value {
            return self.tapes.primal(value, level);
        }
        if self.heap.is_older(value, mark) {
            return value;
        }
        // Memoised across calls: otherwise closures that contain each other would be copied for each call.
        let mut memo = std::mem::take(&mut self.tapes.levels[level as usize].stripped);
        let mut work = vec![(value, false)];
        while let Some((at, is_ready)) = work.pop() {
            let Some(own) = key(at).filter(|own| !memo.contains_key(own)) else { continue };
            if self.heap.is_older(at, mark) {
                continue;
            }
            let parts = self.heap.parts(at);
            if !is_ready {
                work.push((at, true));
                work.extend(parts.into_iter().map(|part| (part, false)));
                continue;
            }
            let stripped = |part: Value| match key(part) {
                Some(key) => memo.get(&key).copied().unwrap_or(part),
                None => self.tapes.primal(part, level),
            };
            let parts: Vec<Value> = parts.into_iter().map(stripped).collect();
            let new = if self.is_tracked(at, level) { parts[0] } else { self.heap.with_parts(at, parts) };
            memo.insert(own, new);
        }
        let stripped = key(value).and_then(|key| memo.get(&key).copied()).unwrap_or(value);
        self.tapes.levels[level as usize].stripped = memo;
        stripped
    }

    fn is_tracked(&self, value: Value, level: u32) -> bool {
        matches!(value, Value::Object(_))
            && matches!(self.heap.get(value), Object::Tracked { level: own, .. } if own == level)
    }

    /// The argument for a call of a tracked function, which must not contain cells of higher levels.
    ///
    /// The argument contains such cells if a function variable is differentiated inside a derivative with
    /// respect to this variable, as in `λf. grad f at 2`. The cotangent of `f` would then be `u ↦ u' 2`,
    /// which is not a list of calls; [`super::lazy`] handles this case.
    pub(super) fn argument_of_tracked(&mut self, argument: Value, level: u32) -> Result<Value, Halt> {
        if let Some(next) = self.tapes.levels.get(level as usize + 1)
            && self.mentions_above(argument, level, next.mark)
        {
            return Err(Halt::UntrackableCall(level));
        }
        Ok(self.strip(argument, level))
    }

    fn mentions_above(&self, value: Value, level: u32, mark: Mark) -> bool {
        let (mut work, mut seen) = (vec![value], rustc_hash::FxHashSet::default());
        while let Some(at) = work.pop() {
            match at {
                Value::Cell(own, _) if own > level => return true,
                _ => {}
            }
            if self.heap.is_older(at, mark) || !key(at).is_some_and(|key| seen.insert(key)) {
                continue;
            }
            if let Value::Object(_) = at
                && let Object::Tracked { level: own, .. } = self.heap.get(at)
                && own > level
            {
                return true;
            }
            work.extend(self.heap.parts(at));
        }
        false
    }
}

fn is_at(value: Value, level: u32) -> bool {
    matches!(value, Value::Cell(own, _) if own == level)
}

/// The identity of a tuple or object; `None` for numbers.
fn key(value: Value) -> Option<(u32, u32)> {
    match value {
        Value::Real(_) | Value::Cell(..) => None,
        Value::Tuple(start, len) => Some((start, len)),
        Value::Object(id) => Some((id, 0)),
    }
}
