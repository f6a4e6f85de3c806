//! `for`, `each` and `while` as C loops.
//!
//! States, accumulators, and rows of known number and sizes are declared before the loop. At the end of an
//! iteration, its rows and the next states are copied, and all its temporaries are released; so a loop over
//! tensors needs the memory of one iteration. Rows of unknown number grow at the high end of the arena, and
//! move to the low end after the loop.

use eddy_body::{Control, Elem, Kind, Loop, Stmt, Var};

use super::body::{Emitter, Repr, Tensor, array, c_type, declared, int_literal, n_bytes};
use super::facts::{Interval, literal};
use super::peel::{burns, peels, vectorises};
use super::small::ARRAY;

/// A state in C: a local that changes, or memory whose contents change.
struct State {
    name: String,
    sizes: Vec<String>,
}

/// The index of the iteration; and for a loop that pays its fuel in advance, the number of iterations that
/// the fuel allows.
struct Counter {
    name: String,
    end: String,
}

/// The rows that a loop collects, in C.
pub(super) struct Rows {
    name: String,
    /// The number of rows that fit into the memory, and whether it grew in this iteration.
    room: String,
    grew: String,
    elem: Elem,
    /// The sizes of a row after the loop; empty for scalars.
    row: Vec<String>,
    /// The sizes of a row in an iteration.
    sizes: Vec<String>,
    /// Whether the memory exists before the first iteration.
    is_ready: bool,
    /// The interval of integer rows.
    interval: Interval,
}

impl Emitter<'_, '_> {
    pub fn repeat(&mut self, stmt: &Stmt, repeat: &Loop) {
        if self.unrolled(stmt, repeat) {
            return;
        }
        let at = self.at.clone();
        let direct = self.direct_rows(repeat);
        let n_names = self.names.count();
        let facts = self.facts.clone();
        let states = self.begin_states(repeat);
        self.begin_accs(repeat);
        let (outer_low, outer_high) = (self.uses_low, self.uses_high);
        (self.uses_low, self.uses_high) = (false, false);
        let name = match repeat.counter() {
            Some((index, _)) => self.name(index),
            None => self.names.of("count"),
        };
        let counter = Counter { end: self.names.of(&format!("{name}_end")), name };
        let mut names = Vec::new();
        for var in &repeat.collect {
            let name = self.names.of(&format!("{}s", self.body.name(*var)));
            if let Some((_, size)) = direct.iter().find(|(other, _)| other == var) {
                let place = format!("{name} + {} * {size}", counter.name);
                self.direct.insert(*var, (place, size.clone()));
            }
            names.push(name);
        }
        let is_peeled = !self.shared.is_metered() && peels(repeat);
        // The iteration is emitted first, because the code before the loop depends on it.
        let before = std::mem::take(&mut self.text.lines);
        self.text.depth += 1;
        let lazy = self.lazy.clone();
        let before_loop = std::mem::replace(&mut self.vectorises, vectorises(repeat));
        self.iteration(repeat, &states, &counter.name, i128::from(is_peeled));
        self.vectorises = before_loop;
        self.at.clone_from(&at);
        let rows = self.rows(repeat, names, n_names);
        self.collect(repeat, &rows, &counter.name);
        self.next_states(repeat, &states);
        let low = self.names.of("low");
        let high = self.names.of("high");
        let (uses_low, uses_high) = (self.uses_low, self.uses_high);
        self.release(repeat, &rows, &low, &high, &counter.name);
        self.text.depth -= 1;
        let body = std::mem::replace(&mut self.text.lines, before);
        self.facts = facts;
        // What is not stored in an iteration is unknown after it.
        self.lazy = lazy;
        let n_rows = self.before(stmt, repeat, &rows, &counter);
        let is_growing = repeat.counter().is_none() && !rows.is_empty();
        if uses_low {
            self.line(&format!("size_t {low} = a->low;"));
        }
        let begin = self.names.of("begin");
        if uses_high {
            self.line(&format!("size_t {high} = a->high;"));
        }
        if is_growing {
            self.line(&format!("const size_t {begin} = a->high;"));
        }
        let lanes = if rows.iter().all(|rows| rows.is_ready) {
            let targets: Vec<(String, Vec<String>)> =
                rows.iter().map(|rows| (rows.name.clone(), rows.sizes.clone())).collect();
            self.lanes(repeat, &targets)
        } else {
            None
        };
        let start = match lanes {
            Some((text, done)) => {
                self.text.lines.push_str(&text);
                done
            }
            None => "0".to_owned(),
        };
        let start = if is_peeled && start == "0" {
            self.peeled(repeat, &rows, [&low, &high], (uses_low, uses_high));
            "1".to_owned()
        } else {
            start
        };
        self.head(repeat, &counter, &start);
        self.text.lines.push_str(&body);
        self.text.close();
        if uses_low {
            self.line(&format!("a->low = {low};"));
        }
        self.leave(stmt, repeat, &states, &rows, &counter, &n_rows);
        if is_growing && self.forgets_tapes(repeat) {
            self.line(&format!("a->high = {begin};"));
        }
        self.uses_low |= outer_low || uses_low;
        self.uses_high |= outer_high || uses_high;
    }

    fn begin_states(&mut self, repeat: &Loop) -> Vec<State> {
        let mut states = Vec::new();
        for binding in &repeat.states {
            let ty = self.ty(binding.var);
            let name = self.names.of(&format!("{}_next", self.body.name(binding.var)));
            let state = match self.repr(binding.init).clone() {
                Repr::Scalar(text) => {
                    self.line(&format!("{} = {text};", declared(ty.elem, "", &name)));
                    State { name, sizes: Vec::new() }
                }
                Repr::Tensor(tensor) if self.aliases.is_taken(binding.var) => {
                    State { name: tensor.data, sizes: self.sizes(binding.init) }
                }
                Repr::Tensor(tensor) => {
                    let sizes = self.sizes(binding.init);
                    let all = self.n_elements(&name, &sizes);
                    self.allocate(&name, ty.elem, &all);
                    self.copy_elements(&name, &tensor.data, &all, ty.elem);
                    State { name, sizes }
                }
            };
            states.push(state);
        }
        states
    }

    pub fn begin_accs(&mut self, repeat: &Loop) {
        for binding in &repeat.accs {
            let repr = match self.repr(binding.init).clone() {
                Repr::Scalar(text) => {
                    let (name, elem) = (self.name(binding.var), self.ty(binding.var).elem);
                    self.line(&format!("{} {name} = {text};", c_type(elem)));
                    Repr::Scalar(name)
                }
                Repr::Tensor(_) => Repr::Tensor(self.tensor(binding.init)),
            };
            self.set(binding.var, repr);
        }
    }

    /// Emits the statements of an iteration.
    fn iteration(&mut self, repeat: &Loop, states: &[State], counter: &str, first: i128) {
        for (binding, state) in repeat.states.iter().zip(states) {
            if self.ty(binding.var).rank == 0 {
                // Each name is assigned once: the state is a constant within an iteration.
                self.define(binding.var, &state.name);
            } else {
                let tensor = Tensor { data: state.name.clone(), sizes: state.sizes.clone() };
                self.set(binding.var, Repr::Tensor(tensor));
            }
        }
        let at = self.at.clone();
        match &repeat.control {
            Control::While(condition) => {
                self.region(condition);
                self.at.clone_from(&at);
                let test = self.scalar(condition.yields[0]);
                self.line(&format!("if (!{test}) break;"));
                self.burn();
            }
            Control::For { index, count } | Control::Each { index, count } => {
                self.set(*index, Repr::Scalar(counter.to_owned()));
                let hi = self.facts.interval(*count).hi;
                self.facts.set_interval(*index, Interval { lo: first, hi: (hi - 1).max(first) });
                let count = self.scalar(*count);
                self.facts.set_below(*index, &count);
                if burns(&repeat.body) {
                    self.burn();
                }
            }
        }
        self.region(&repeat.body);
    }

    /// Rows that an inner `each` can write at their final place, with their size. The size is known before
    /// the outer loop, and each row is a separate result.
    fn direct_rows(&mut self, repeat: &Loop) -> Vec<(Var, String)> {
        let mut found = Vec::new();
        if repeat.counter().is_none() {
            return found;
        }
        for var in &repeat.collect {
            let defines = |stmt: &&Stmt| stmt.results.first() == Some(var);
            let Some(Kind::Loop(inner)) = repeat.body.stmts.iter().find(defines).map(|stmt| &stmt.kind)
            else {
                continue;
            };
            let Control::Each { count, .. } = inner.control else { continue };
            let is_once = repeat.collect.iter().filter(|other| *other == var).count() == 1;
            let is_row = inner.collect.first().is_some_and(|row| self.ty(*row).rank == 0);
            if !is_once || !is_row || self.aliases.is_changed(*var) || self.reprs[count.index()].is_none() {
                continue;
            }
            let text = self.scalar(count);
            let size = if self.facts.interval(count).lo >= 0 {
                text
            } else {
                let size = self.local_int("columns", &format!("{text} > 0 ? {text} : 0"));
                self.facts.set_at_most(&size, &text);
                size
            };
            found.push((*var, size));
        }
        found
    }

    fn rows(&mut self, repeat: &Loop, names: Vec<String>, n_names: usize) -> Vec<Rows> {
        let mut all = Vec::new();
        for (var, name) in repeat.collect.iter().zip(names) {
            let ty = self.ty(*var);
            let sizes = self.sizes(*var);
            let are_known = sizes.iter().all(|size| self.names.is_among_first(size, n_names));
            let is_ready = repeat.counter().is_some() && are_known;
            let count = repeat.counter().and_then(|(_, count)| self.facts.interval(count).single());
            let is_known = is_ready && count.is_some_and(|count| count > 0);
            let row = (0..ty.rank).map(|k| match self.facts.literal(&sizes[k]) {
                Some(size) if is_known => int_literal(size),
                _ => self.names.of(&format!("{name}_n{}", k + 1)),
            });
            let row = row.collect();
            let room = self.names.of(&format!("{name}_room"));
            let grew = self.names.of(&format!("{name}_grew"));
            all.push(Rows {
                name,
                room,
                grew,
                elem: ty.elem,
                row,
                sizes,
                is_ready,
                interval: self.facts.interval(*var),
            });
        }
        all
    }

    /// Copies the rows of an iteration.
    pub(super) fn collect(&mut self, repeat: &Loop, rows: &[Rows], counter: &str) {
        for (var, rows) in repeat.collect.iter().zip(rows) {
            if self.direct.contains_key(var) {
                continue;
            }
            let sizes = self.sizes(*var);
            let name = &rows.name;
            if !rows.is_ready {
                self.first_row(rows, &sizes, counter, repeat.counter().is_some());
            }
            match self.repr(*var).clone() {
                Repr::Scalar(text) => self.line(&format!("{name}[{counter}] = {text};")),
                Repr::Tensor(tensor) => {
                    let all = match self.facts.literal_elements(&sizes) {
                        Some(all) => int_literal(all),
                        None => sizes.join(" * "),
                    };
                    let to = format!("({name} + {counter} * {all})");
                    self.copy_elements(&to, &tensor.data, &all, rows.elem);
                }
            }
        }
    }

    /// Takes the sizes of all rows from the first one. Then allocates memory: for all rows if their number is
    /// known, else for some.
    fn first_row(&mut self, rows: &Rows, sizes: &[String], counter: &str, is_counted: bool) {
        let (name, bytes) = (&rows.name, n_bytes(rows.elem));
        if !sizes.is_empty() {
            self.text.open(&format!("if ({counter} == 0)"));
            for (row, size) in rows.row.iter().zip(sizes) {
                self.line(&format!("{row} = {size};"));
            }
            if is_counted {
                self.uses_low = true;
                let list: Vec<String> =
                    std::iter::once(rows.room.clone()).chain(sizes.iter().cloned()).collect();
                let all = self.new_elements(name, &list);
                self.line(&format!("{name} = eddy_low(a, (size_t)({all}) * {bytes});"));
                self.fail(&format!("!{name}"), "EDDY_MEMORY");
            }
            let differ: Vec<String> =
                rows.row.iter().zip(sizes).map(|(row, size)| format!("{row} != {size}")).collect();
            if self.bail.is_some() {
                self.text.close();
                return self.fail(&differ.join(" || "), "EDDY_DIFFERENT");
            }
            self.text.reopen(&format!("else if (EDDY_RARE({}))", differ.join(" || ")));
            let mut details = vec![sizes.len().to_string()];
            details.extend(rows.row.iter().chain(sizes).cloned());
            let at = self.at.clone();
            self.line(&format!("EDDY_FAIL_WITH(EDDY_DIFFERENT, {at}, {});", details.join(", ")));
            self.text.close();
        }
        if !is_counted {
            self.uses_high = true;
            let row = if sizes.is_empty() { int_literal(1) } else { sizes.join(" * ") };
            self.text.open(&format!("if (EDDY_RARE({counter} == {}))", rows.room));
            let room = &rows.room;
            let grown = format!("eddy_grow(a, {name}, &{room}, {counter}, (size_t)({row}) * {bytes})");
            self.line(&format!("{name} = {grown};"));
            self.fail(&format!("!{name}"), "EDDY_MEMORY");
            self.line(&format!("{} = true;", rows.grew));
            self.text.close();
        }
    }

    /// Assigns the next states, which have the shapes of the current ones; all are read before the first is
    /// written.
    fn next_states(&mut self, repeat: &Loop, states: &[State]) {
        let yields = &repeat.body.yields;
        for (state, yielded) in states.iter().zip(yields) {
            let sizes = self.sizes(*yielded);
            if !self.facts.all_same(&state.sizes, &sizes) {
                let rank = sizes.len();
                let same = format!("!eddy_same({rank}, {}, {})", array(&state.sizes), array(&sizes));
                let mut details = vec![rank.to_string()];
                details.extend(state.sizes.iter().chain(&sizes).cloned());
                self.fail_with(&same, "EDDY_DIFFERENT", &details);
            }
        }
        let mut moves = Vec::new();
        for (k, (state, yielded)) in states.iter().zip(yields).enumerate() {
            let Repr::Tensor(_) = self.repr(*yielded) else {
                let text = self.scalar(*yielded);
                moves.push(format!("{} = {text};", state.name));
                continue;
            };
            let mut tensor = self.tensor(*yielded);
            if tensor.data == state.name {
                continue;
            }
            let elem = self.ty(*yielded).elem;
            let all = self.n_elements(&state.name, &tensor.sizes);
            let others = repeat.states.iter().enumerate().filter(|(other, _)| *other != k);
            let is_read_later =
                others.into_iter().any(|(_, other)| self.aliases.may_share(*yielded, other.var));
            if let Some(n) = self.few(&all) {
                for k in 0..n {
                    let staged = self.names.of("staged");
                    self.line(&format!("const {} {staged} = {}[{k}];", c_type(elem), tensor.data));
                    moves.push(format!("{}[{k}] = {staged};", state.name));
                }
                continue;
            }
            let bytes = format!("(size_t)({all}) * {}", n_bytes(elem));
            if is_read_later {
                let staged = self.names.of("staged");
                self.allocate(&staged, elem, &all);
                self.line(&format!("__builtin_memcpy({staged}, {}, {bytes});", tensor.data));
                tensor.data = staged;
            }
            moves.push(format!("__builtin_memmove({}, {}, {bytes});", state.name, tensor.data));
        }
        for line in moves {
            self.line(&line);
        }
    }

    /// Ends an iteration.
    fn release(&mut self, repeat: &Loop, rows: &[Rows], low: &str, high: &str, counter: &str) {
        let is_while = repeat.counter().is_none();
        let is_late = rows.iter().any(|rows| !rows.is_ready && !rows.row.is_empty());
        if self.uses_low {
            if is_late && !is_while {
                // The rows lie above the temporaries of the first iteration.
                self.line(&format!("if ({counter} == 0) {low} = a->low;"));
            }
            self.line(&format!("a->low = {low};"));
        }
        if self.uses_high && self.forgets_tapes(repeat) {
            if is_while && !rows.is_empty() {
                let grew: Vec<String> = rows.iter().map(|rows| rows.grew.clone()).collect();
                self.text.open(&format!("if ({})", grew.join(" || ")));
                self.line(&format!("{high} = a->high;"));
                for grew in grew {
                    self.line(&format!("{grew} = false;"));
                }
                self.text.close();
            }
            self.line(&format!("a->high = {high};"));
        }
        if is_while {
            self.line(&format!("{counter}++;"));
        }
    }

    fn forgets_tapes(&self, repeat: &Loop) -> bool {
        repeat.collect.iter().chain(&repeat.body.yields).all(|var| self.ty(*var).elem != Elem::Tape)
    }

    /// Emits the code before the loop: memory of rows, and the number of iterations that the fuel allows.
    /// Returns the number of rows.
    fn before(&mut self, stmt: &Stmt, repeat: &Loop, rows: &[Rows], counter: &Counter) -> String {
        let Counter { name: counter, end } = counter;
        let Some((_, count)) = repeat.counter() else {
            self.line(&format!("int64_t {counter} = 0;"));
            for Rows { name, room, grew, elem, row, .. } in rows {
                self.line(&format!("{} = 0;", declared(*elem, "*", name)));
                self.line(&format!("int64_t {room} = 0;"));
                self.line(&format!("bool {grew} = false;"));
                if !row.is_empty() {
                    let row: Vec<String> = row.iter().map(|size| format!("{size} = 0")).collect();
                    self.line(&format!("int64_t {};", row.join(", ")));
                }
            }
            return String::new();
        };
        let text = self.scalar(count);
        let is_metered = self.shared.is_metered();
        let is_leaf = is_metered && !burns(&repeat.body);
        let interval = self.facts.interval(count);
        let row_place = stmt.results.first().and_then(|var| self.direct.get(var).cloned());
        let n_rows = if let Some((_, size)) = &row_place {
            size.clone()
        } else if interval.lo >= 0 {
            text.clone()
        } else if rows.is_empty() {
            String::new()
        } else {
            let rows = self.local_int(&format!("{counter}_rows"), &format!("{text} > 0 ? {text} : 0"));
            self.facts.set_at_most(&rows, &text);
            rows
        };
        if is_leaf {
            self.line(&format!("const int64_t {end} = eddy_burn(a, {text});"));
        }
        if rows.is_empty() {
            return n_rows;
        }
        // There are at most as many rows as the fuel allows.
        let room = if !is_metered || self.facts.literal(&n_rows).is_some_and(|n| n <= ARRAY) {
            n_rows.clone()
        } else if is_leaf {
            end.clone()
        } else {
            let room = format!("{n_rows} < a->fuel ? {n_rows} : a->fuel");
            self.local_int(&format!("{counter}_room"), &room)
        };
        for (at, (rows, var)) in rows.iter().zip(&repeat.collect).enumerate() {
            let (name, elem) = (&rows.name, rows.elem);
            if let Some((place, _)) = row_place.as_ref().filter(|_| at == 0) {
                self.line(&format!("{} = {place};", declared(elem, "*const ", name)));
                continue;
            }
            if !rows.is_ready {
                self.line(&format!("{} = 0;", declared(elem, "*", name)));
                let row: Vec<String> = rows.row.iter().map(|size| format!("{size} = 0")).collect();
                self.line(&format!("int64_t {};", row.join(", ")));
                self.line(&format!("const int64_t {} = {room};", rows.room));
                continue;
            }
            let sizes = self.sizes(*var);
            for (row, size) in rows.row.iter().zip(&sizes) {
                if self.facts.literal(row).is_none() {
                    self.line(&format!("const int64_t {row} = {n_rows} > 0 ? {size} : 0;"));
                }
            }
            // A row that exceeds the fuel is never completed.
            let is_direct = self.direct.contains_key(var);
            let size = |size: &String| {
                if is_metered && is_direct && self.facts.literal(size).is_none() {
                    format!("({size} < a->fuel ? {size} : a->fuel)")
                } else {
                    size.clone()
                }
            };
            let list: Vec<String> = std::iter::once(room.clone()).chain(rows.row.iter().map(size)).collect();
            let all = self.new_elements(name, &list);
            self.allocate(name, elem, &all);
        }
        n_rows
    }

    fn head(&mut self, repeat: &Loop, counter: &Counter, start: &str) {
        let Some((_, count)) = repeat.counter() else { return self.text.open("for (;;)") };
        let Counter { name: counter, end } = counter;
        let is_paid = self.shared.is_metered() && !burns(&repeat.body);
        let end = if is_paid { end.clone() } else { self.scalar(count) };
        self.text.open(&format!("for (int64_t {counter} = {start}; {counter} < {end}; {counter}++)"));
    }

    /// Sets the results of the loop.
    fn leave(
        &mut self,
        stmt: &Stmt,
        repeat: &Loop,
        states: &[State],
        rows: &[Rows],
        counter: &Counter,
        n_rows: &str,
    ) {
        let is_while = repeat.counter().is_none();
        if let Some((_, count)) = repeat.counter()
            && self.shared.is_metered()
            && !burns(&repeat.body)
        {
            let count = self.scalar(count);
            self.fail(&format!("{} < {count}", counter.end), "EDDY_FUEL");
        }
        for (result, state) in stmt.results.iter().zip(states) {
            let repr = if state.sizes.is_empty() {
                Repr::Scalar(state.name.clone())
            } else {
                Repr::Tensor(Tensor { data: state.name.clone(), sizes: state.sizes.clone() })
            };
            self.set(*result, repr);
        }
        let n = if is_while { &counter.name } else { n_rows };
        for ((result, rows), var) in stmt.results[repeat.first_row()..].iter().zip(rows).zip(&repeat.collect)
        {
            self.same_layout(*result, *var);
            self.leave_rows(*result, rows, *var, n, is_while);
        }
        for (result, acc) in stmt.results[repeat.first_acc()..].iter().zip(&repeat.accs) {
            self.set(*result, self.repr(acc.var).clone());
        }
        if is_while {
            let count = *stmt.results.last().expect("a `while` has a count");
            self.facts.set_interval(count, Interval { lo: 0, hi: Interval::ALL.hi });
            self.set(count, Repr::Scalar(counter.name.clone()));
        }
    }

    fn leave_rows(&mut self, result: Var, rows: &Rows, var: Var, n: &str, is_while: bool) {
        let sizes: Vec<String> = std::iter::once(n.to_owned()).chain(rows.row.iter().cloned()).collect();
        if rows.is_ready {
            for (row, size) in rows.row.iter().zip(self.sizes(var)) {
                self.facts.set_at_most(row, &size);
            }
        } else {
            for (row, size) in rows.row.iter().zip(&rows.sizes) {
                if literal(size).is_some() {
                    self.facts.set_at_most(row, size);
                }
            }
        }
        if rows.elem == Elem::Int && rows.row.is_empty() {
            self.facts.set_elements(result, rows.interval);
        }
        let mut data = rows.name.clone();
        if is_while {
            data = self.names.of(&rows.name);
            let all = self.new_elements(&data, &sizes);
            self.allocate(&data, rows.elem, &all);
            let bytes = format!("(size_t)({all}) * {}", n_bytes(rows.elem));
            self.line(&format!("if ({all} > 0) __builtin_memcpy({data}, {}, {bytes});", rows.name));
        }
        self.set(result, Repr::Tensor(Tensor { data, sizes }));
    }
}
