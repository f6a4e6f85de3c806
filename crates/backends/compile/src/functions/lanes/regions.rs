//! Inner loops, and choices that depend on the index.

use eddy_body::{At, Control, Elem, Kind, Loop, Operation, Region, Stmt, Type, Var};

use super::super::body::{Repr, Tensor, c_type};
use super::super::facts::{Guarded, Interval};
use super::analysis::Additions;
use super::values::vector_type;
use super::{Lane, Lanes};

impl Lanes<'_, '_, '_> {
    pub(super) fn branches(&mut self, stmt: &Stmt, condition: Var, regions: [&Region; 2]) -> Option<()> {
        if self.is_varying(condition) {
            return self.choice(stmt, condition, regions);
        }
        if let Some(truth) = self.e.facts.truth(condition) {
            let region = regions[usize::from(!truth)];
            self.region(region)?;
            for (result, yielded) in stmt.results.iter().zip(&region.yields) {
                self.rename(*result, *yielded)?;
            }
            return Some(());
        }
        let targets = self.targets(stmt, regions)?;
        let condition = self.e.scalar(condition);
        let facts = self.e.facts.clone();
        self.e.text.open(&format!("if ({condition})"));
        for (branch, region) in regions.into_iter().enumerate() {
            if branch == 1 {
                self.e.text.reopen("else");
            }
            self.region(region)?;
            for ((result, target), yielded) in stmt.results.iter().zip(&targets).zip(&region.yields) {
                self.assign(*result, target, *yielded)?;
            }
            self.e.facts = facts.clone();
        }
        self.e.text.close();
        Some(())
    }

    /// Declares the results of a choice: vectors, or C scalars where they do not depend on the index.
    fn targets(&mut self, stmt: &Stmt, regions: [&Region; 2]) -> Option<Vec<String>> {
        let mut targets = Vec::new();
        for (k, result) in stmt.results.iter().enumerate() {
            let Type { elem, rank } = self.ty(*result);
            // Tensors need their sizes, which the yielded names have only after the branches.
            if rank > 0 {
                return None;
            }
            let name = self.e.name(*result);
            let is_varying = self.analysis.varying.contains(result);
            let _ = (k, regions);
            if is_varying {
                for u in 0..self.n_vectors {
                    self.line(&format!("{} {name}_{u};", vector_type(elem)));
                }
                self.values.insert(*result, Lane::Scalar(name.clone()));
            } else {
                self.line(&format!("{} {name};", c_type(elem)));
                self.e.set(*result, Repr::Scalar(name.clone()));
            }
            targets.push(name);
        }
        Some(targets)
    }

    fn assign(&mut self, result: Var, target: &str, yielded: Var) -> Option<()> {
        if !self.is_varying(result) {
            let text = self.e.scalar(yielded);
            self.line(&format!("{target} = {text};"));
            return Some(());
        }
        for u in 0..self.n_vectors {
            let text = self.vector(yielded, u)?;
            self.line(&format!("{target}_{u} = {text};"));
        }
        Some(())
    }

    /// Gives the value of a name to another one.
    fn rename(&mut self, to: Var, from: Var) -> Option<()> {
        match self.lane(from) {
            Some(Lane::Tensor(tensor)) => self.share(to, tensor),
            Some(lane) => {
                self.values.insert(to, lane);
                Some(())
            }
            None => match self.e.repr(from).clone() {
                Repr::Scalar(text) if !self.analysis.varying.contains(&to) => {
                    let interval = self.e.facts.interval(from);
                    self.e.facts.set_interval(to, interval);
                    self.e.set(to, Repr::Scalar(text));
                    Some(())
                }
                Repr::Scalar(_) => {
                    let texts = self.each_vector(|u| self.vector(from, u))?;
                    self.define(to, &texts);
                    Some(())
                }
                Repr::Tensor(_) => {
                    let copy = self.copied(from, "chosen")?;
                    self.values.insert(to, Lane::Tensor(copy));
                    Some(())
                }
            },
        }
    }

    /// Both branches, each for the lanes that take it; lanes choose among their results.
    fn choice(&mut self, stmt: &Stmt, condition: Var, regions: [&Region; 2]) -> Option<()> {
        let Some(Lane::Scalar(test)) = self.values.get(&condition).cloned() else { return None };
        let outer = self.mask.clone();
        let facts = self.e.facts.clone();
        // The results of the branch that is written first, and the texts of both.
        let mut ends: Vec<(String, Vec<Var>, String)> = Vec::new();
        let mut intervals = Vec::new();
        for (branch, region) in regions.into_iter().enumerate() {
            let mask = self.e.names.of("mask");
            self.mask = Some(mask.clone());
            self.taken.push((condition, branch));
            self.e.facts.assume(condition, branch);
            self.e.text.depth += 1;
            let before = std::mem::take(&mut self.e.text.lines);
            let written = self.region(region);
            let text = std::mem::replace(&mut self.e.text.lines, before);
            self.e.text.depth -= 1;
            self.taken.pop();
            written?;
            for (result, yielded) in stmt.results.iter().zip(&region.yields) {
                intervals.push((branch, *result, self.e.facts.interval(*yielded)));
            }
            ends.push((text, region.yields.clone(), mask));
            self.e.facts = facts.clone();
        }
        self.mask.clone_from(&outer);
        let mut targets = Vec::new();
        for (k, result) in stmt.results.iter().enumerate() {
            let ty = self.ty(*result);
            if ty.rank == 0 {
                let name = self.e.name(*result);
                for u in 0..self.n_vectors {
                    self.line(&format!("{} {name}_{u} = {{ 0 }};", vector_type(ty.elem)));
                }
                targets.push(Lane::Scalar(name));
            } else {
                let ends = [
                    self.guarded_sizes(ends[0].1[k], (condition, 0))?,
                    self.guarded_sizes(ends[1].1[k], (condition, 1))?,
                ];
                let are_empty = [0, 1].map(|branch| self.e.facts.literal_elements(&ends[branch]) == Some(0));
                let [yes, no] = ends;
                let is_same = self.e.facts.all_same(&yes, &no);
                let (sizes, guard) = match are_empty {
                    _ if is_same => (yes, None),
                    [true, false] => (no, Some(1)),
                    [false, true] => (yes, Some(0)),
                    _ => return None,
                };
                self.e.facts.literal_elements(&sizes)?;
                let like = self.e.body.name(*result).to_owned();
                let data = self.memory(&like, ty.elem, &sizes)?;
                let tensor = Tensor { data, sizes };
                targets.push(match guard {
                    None => Lane::Tensor(tensor),
                    Some(branch) => Lane::Guarded(tensor, condition, branch),
                });
            }
        }
        let is_cheap =
            regions.iter().all(|region| region.stmts.len() <= 4 && region.stmts.iter().all(is_cheap));
        for (branch, (text, yields, mask)) in ends.into_iter().enumerate() {
            for u in 0..self.n_vectors {
                let own = if branch == 0 { format!("{test}_{u}") } else { format!("~{test}_{u}") };
                let all = match &outer {
                    Some(outer) => format!("{outer}_{u} & {own}"),
                    None => own,
                };
                self.line(&format!("const eddy_w {mask}_{u} = {all};"));
            }
            if is_cheap {
                self.e.text.open("");
            } else {
                let any: Vec<String> = (0..self.n_vectors).map(|u| format!("EDDY_ANY({mask}_{u})")).collect();
                self.e.text.open(&format!("if ({})", any.join(" || ")));
            }
            self.e.text.lines.push_str(&text);
            self.taken.push((condition, branch));
            for (target, yielded) in targets.iter().zip(yields) {
                let target = match target {
                    Lane::Guarded(_, _, other) if *other != branch => continue,
                    Lane::Guarded(tensor, ..) => &Lane::Tensor(tensor.clone()),
                    target => target,
                };
                self.blend(target, yielded, &mask)?;
            }
            self.taken.pop();
            self.e.text.close();
        }
        for (result, target) in stmt.results.iter().zip(targets) {
            self.values.insert(*result, target);
        }
        for (branch, result, interval) in intervals {
            self.e.facts.guard(condition, branch, Guarded::Interval(result, interval));
        }
        Some(())
    }

    /// The sizes of what a branch yields.
    fn guarded_sizes(&mut self, var: Var, taken: (Var, usize)) -> Option<Vec<String>> {
        self.taken.push(taken);
        let sizes = self.sizes(var);
        self.taken.pop();
        sizes
    }

    /// Assigns the lanes of a mask.
    fn blend(&mut self, target: &Lane, from: Var, mask: &str) -> Option<()> {
        let elem = self.ty(from).elem;
        let blend = if elem == Elem::Num { "EDDY_BLENDV" } else { "EDDY_BLENDW" };
        match target {
            Lane::Scalar(name) => {
                for u in 0..self.n_vectors {
                    let value = self.vector(from, u)?;
                    self.line(&format!("{name}_{u} = {blend}({mask}_{u}, {value}, {name}_{u});"));
                }
                Some(())
            }
            Lane::Guarded(..) => None,
            Lane::Tensor(tensor) => self.fill(&tensor.data, elem, &tensor.sizes, |lanes, k, u| {
                let old = lanes.at(elem, &tensor.data, k, u);
                Some(format!("{blend}({mask}_{u}, {}, {old})", lanes.element(from, k, u)?))
            }),
        }
    }

    pub(super) fn repeat(&mut self, stmt: &Stmt, repeat: &Loop) -> Option<()> {
        let (Control::For { index, count } | Control::Each { index, count }) = repeat.control else {
            return None;
        };
        if self.is_varying(count) {
            return None;
        }
        let n_names = self.e.names.count();
        let facts = self.e.facts.clone();
        let count_text = self.e.scalar(count);
        let interval = self.e.facts.interval(count);
        let mut states = Vec::new();
        for (binding, result) in repeat.states.iter().zip(&stmt.results) {
            let is_varying = self.analysis.varying.contains(&binding.var);
            let like = format!("{}_next", self.e.body.name(binding.var));
            states.push(self.begin(binding.var, binding.init, &like, is_varying)?);
            let _ = result;
        }
        for acc in &repeat.accs {
            let like = self.e.body.name(acc.var).to_owned();
            let lane = self.begin(acc.var, acc.init, &like, true)?;
            let State::Varying(lane) = lane else { return None };
            self.values.insert(acc.var, lane);
        }
        let counter = self.e.name(index);
        let buffered = self.buffered(repeat, index, count);
        for (acc, _) in &buffered {
            let sizes = [count_text.clone()];
            let buffer = self.memory("added", Elem::Num, &sizes)?;
            self.buffers.insert(*acc, buffer);
        }
        let (text, rows) =
            self.iteration(stmt, repeat, (index, count, &counter, interval), &states, n_names)?;
        self.e.facts = facts;
        let mut tensors = Vec::new();
        let n_rows = if interval.lo >= 0 || repeat.collect.is_empty() {
            count_text.clone()
        } else {
            let rows = self.e.local_int("n_rows", &format!("{count_text} > 0 ? {count_text} : 0"));
            self.e.facts.set_at_most(&rows, &count_text);
            rows
        };
        for (var, (name, row)) in repeat.collect.iter().zip(&rows) {
            let sizes: Vec<String> = std::iter::once(n_rows.clone()).chain(row.iter().cloned()).collect();
            let data = self.memory(&format!("{}s", self.e.body.name(*var)), self.ty(*var).elem, &sizes)?;
            let ty = super::values::element_type(self.ty(*var).elem);
            self.line(&format!("{ty} *const {name} = {data};"));
            tensors.push(Tensor { data, sizes });
        }
        self.e.text.open(&format!("for (int64_t {counter} = 0; {counter} < {count_text}; {counter}++)"));
        self.e.text.lines.push_str(&text);
        self.e.text.close();
        for (acc, prefix) in buffered {
            let buffer = self.buffers.remove(&acc)?;
            self.add_buffer(acc, &prefix, &count_text, &buffer)?;
        }
        for (result, state) in stmt.results.iter().zip(states) {
            match state {
                State::Varying(lane) => drop(self.values.insert(*result, lane)),
                State::Uniform(name) => self.e.set(*result, Repr::Scalar(name)),
            }
        }
        for (result, tensor) in stmt.results[repeat.first_row()..].iter().zip(tensors) {
            self.values.insert(*result, Lane::Tensor(tensor));
        }
        for (result, acc) in stmt.results[repeat.first_acc()..].iter().zip(&repeat.accs) {
            let lane = self.values.get(&acc.var).cloned()?;
            self.values.insert(*result, lane);
        }
        Some(())
    }

    /// Accumulators from outside to whose consecutive elements a loop adds, with the selectors before the
    /// index.
    fn buffered(&self, repeat: &Loop, index: Var, count: Var) -> Vec<(Var, Vec<At>)> {
        let mut found = Vec::new();
        if self.mask.is_some() || self.e.facts.interval(count).lo < 0 {
            return found;
        }
        let mut inside = vec![index];
        let mut last = vec![index];
        inside.extend(repeat.states.iter().chain(&repeat.accs).map(|binding| binding.var));
        for stmt in &repeat.body.stmts {
            if let Kind::Op(Operation::ReverseIndex, operands) = &stmt.kind
                && operands[..] == [count, index]
            {
                last.push(stmt.results[0]);
            }
            inside.extend(&stmt.results);
            let Kind::Add(acc, at, value) = &stmt.kind else { continue };
            let Some((At::Int(selector), prefix)) = at.split_last() else { continue };
            let is_fixed = |at: &At| match at {
                At::Int(var) => !inside.contains(var) && !self.is_varying(*var),
                _ => false,
            };
            if self.is_outer(*acc)
                && !inside.contains(acc)
                && self.ty(*value) == Type::scalar(Elem::Num)
                && at.len() == self.ty(*acc).rank
                && last.contains(selector)
                && prefix.iter().all(is_fixed)
                && self.additions(*acc) == Some(Additions::Now)
            {
                found.push((*acc, prefix.to_vec()));
            }
        }
        found
    }

    /// The text of an iteration, and the names and sizes of the rows that it writes.
    fn iteration(
        &mut self,
        stmt: &Stmt,
        repeat: &Loop,
        (index, count, counter, interval): (Var, Var, &str, Interval),
        states: &[State],
        n_names: usize,
    ) -> Option<(String, Vec<RowNames>)> {
        let _ = stmt;
        let uses_low = std::mem::replace(&mut self.e.uses_low, false);
        let (local, before) = (self.local, std::mem::take(&mut self.e.text.lines));
        self.e.text.depth += 1;
        self.e.set(index, Repr::Scalar(counter.to_owned()));
        self.e.facts.set_interval(index, Interval { lo: 0, hi: (interval.hi - 1).max(0) });
        let bound = self.e.scalar(count);
        self.e.facts.set_below(index, &bound);
        let mut rows = Vec::new();
        let mut written = || -> Option<()> {
            for (binding, state) in repeat.states.iter().zip(states) {
                self.enter(binding.var, state);
            }
            self.region(&repeat.body)?;
            for var in &repeat.collect {
                let elem = self.ty(*var).elem;
                let sizes = self.sizes(*var)?;
                if !sizes.iter().all(|size| self.e.names.is_among_first(size, n_names)) {
                    return None;
                }
                let name = self.e.names.of("rows");
                let all = if sizes.is_empty() { "1".to_owned() } else { self.product(&sizes) };
                let to = format!("({name} + {counter} * {all} * {})", self.width);
                self.fill(&to, elem, &sizes, |lanes, k, u| lanes.element(*var, k, u))?;
                rows.push((name, sizes));
            }
            self.next(repeat, states)
        };
        let written = written();
        self.e.text.depth -= 1;
        let text = std::mem::replace(&mut self.e.text.lines, before);
        self.local = local;
        written?;
        let needs_low = std::mem::replace(&mut self.e.uses_low, uses_low);
        self.e.uses_low |= needs_low;
        if !needs_low {
            return Some((text, rows));
        }
        let low = self.e.names.of("low");
        let pad = "  ".repeat(self.e.text.depth + 1);
        Some((format!("{pad}const size_t {low} = a->low;\n{text}{pad}a->low = {low};\n"), rows))
    }

    /// Declares what a state or an accumulator is before the first iteration.
    fn begin(&mut self, var: Var, init: Var, like: &str, is_varying: bool) -> Option<State> {
        let Type { elem, rank } = self.ty(var);
        if rank > 0 {
            let tensor = self.copied(init, like)?;
            return is_varying.then_some(State::Varying(Lane::Tensor(tensor)));
        }
        let name = self.e.names.of(like);
        if !is_varying {
            let text = self.e.scalar(init);
            self.line(&format!("{} {name} = {text};", c_type(elem)));
            return Some(State::Uniform(name));
        }
        for u in 0..self.n_vectors {
            let text = self.vector(init, u)?;
            self.line(&format!("{} {name}_{u} = {text};", vector_type(elem)));
        }
        Some(State::Varying(Lane::Scalar(name)))
    }

    /// Gives a state its value in an iteration.
    fn enter(&mut self, var: Var, state: &State) {
        match state {
            State::Uniform(name) => self.e.define(var, name),
            State::Varying(Lane::Scalar(name)) => {
                let texts: Vec<String> = (0..self.n_vectors).map(|u| format!("{name}_{u}")).collect();
                self.define(var, &texts);
            }
            State::Varying(lane) => drop(self.values.insert(var, lane.clone())),
        }
    }

    /// Assigns the next states after all of them are read.
    fn next(&mut self, repeat: &Loop, states: &[State]) -> Option<()> {
        let mut moves = Vec::new();
        for (k, (state, yielded)) in states.iter().zip(&repeat.body.yields).enumerate() {
            match state {
                State::Uniform(name) => moves.push(format!("{name} = {};", self.e.scalar(*yielded))),
                State::Varying(Lane::Scalar(name)) => {
                    for u in 0..self.n_vectors {
                        let staged = self.e.names.of("staged");
                        let text = self.vector(*yielded, u)?;
                        let ty = vector_type(self.ty(*yielded).elem);
                        self.line(&format!("const {ty} {staged} = {text};"));
                        moves.push(format!("{name}_{u} = {staged};"));
                    }
                }
                State::Varying(Lane::Guarded(..)) => return None,
                State::Varying(Lane::Tensor(tensor)) => {
                    let elem = self.ty(*yielded).elem;
                    if !self.e.facts.all_same(&tensor.sizes, &self.sizes(*yielded)?) {
                        return None;
                    }
                    if self.lane_tensor(*yielded).is_some_and(|next| next.data == tensor.data) {
                        continue;
                    }
                    // Another state may read this memory.
                    if states.iter().enumerate().any(|(other, _)| {
                        other != k && self.e.aliases.may_share(*yielded, repeat.states[other].var)
                    }) {
                        return None;
                    }
                    let data = tensor.data.clone();
                    self.fill(&data, elem, &tensor.sizes, |lanes, k, u| lanes.element(*yielded, k, u))?;
                }
            }
        }
        for line in moves {
            self.line(&line);
        }
        Some(())
    }
}

/// The C name of rows, and the sizes of one.
type RowNames = (String, Vec<String>);

/// A state of an inner loop: a C scalar that all lanes share, or lanes.
enum State {
    Uniform(String),
    Varying(Lane),
}

fn is_cheap(stmt: &Stmt) -> bool {
    match &stmt.kind {
        Kind::Const(_) | Kind::Index(..) => true,
        Kind::Op(Operation::Table(op), _) => {
            !matches!(op.facts().cost, eddy_tensor::Cost::Function | eddy_tensor::Cost::Terms)
        }
        Kind::If(_, yes, no) => {
            [yes, no].iter().all(|region| region.stmts.len() <= 4 && region.stmts.iter().all(is_cheap))
        }
        _ => false,
    }
}
