//! Reading and changing elements: `index`, `update`, `increase`, `add`.
//!
//! If the selectors are single indices followed by at most one range, the chosen elements are contiguous and
//! are read in place. All other selections are loops over the chosen axes, with a contiguous run of whole
//! axes inside.

use eddy_body::{At, Elem, Type, Var};

use super::body::{Emitter, Repr, Tensor, array, int_literal, n_bytes};

/// The selected elements.
struct Place {
    /// The index of the first one, or of the first one of a run inside of the loops.
    start: String,
    /// The sizes of the whole selection.
    sizes: Vec<String>,
    loops: Vec<Axis>,
    /// The sizes of the axes that are selected as a whole.
    run: Vec<String>,
}

/// A loop over one axis that is not a single index.
struct Axis {
    counter: String,
    count: String,
}

impl Emitter<'_, '_> {
    pub fn index(&mut self, result: Var, array: Var, at: &[At]) {
        self.same_layout(result, array);
        let Repr::Tensor(_) = self.repr(array) else {
            return self.set(result, self.repr(array).clone());
        };
        let tensor = self.tensor(array);
        let place = self.place(&tensor, at);
        if place.sizes.is_empty() {
            let interval = self.facts.elements(array);
            self.facts.set_interval(result, interval);
            if let Some(value) = interval.single() {
                return self.set(result, Repr::Scalar(int_literal(value)));
            }
            let element = match self.lazy_element(array, &format!("({})", place.start)) {
                Some(element) => element.text,
                None => format!("{}[{}]", tensor.data, place.start),
            };
            return self.define(result, &element);
        }
        if place.loops.is_empty() {
            let data = self.names.of(&format!("{}_at", self.body.name(result)));
            let declared = super::body::declared(self.ty(result).elem, "*const ", &data);
            self.line(&format!("{declared} = {} + {};", tensor.data, place.start));
            return self.share(result, Tensor { data, sizes: place.sizes });
        }
        let (name, _) = self.result(result, place.sizes.clone(), true);
        let bytes = n_bytes(self.ty(result).elem);
        let next = self.names.of("next");
        self.line(&format!("int64_t {next} = 0;"));
        self.open_loops(&place);
        if place.run.is_empty() {
            self.line(&format!("{name}[{next}++] = {}[{}];", tensor.data, place.start));
        } else {
            let run = place.run.join(" * ");
            let from = format!("{} + {}", tensor.data, place.start);
            self.line(&format!("__builtin_memcpy({name} + {next}, {from}, (size_t)({run}) * {bytes});"));
            self.line(&format!("{next} += {run};"));
        }
        self.close_loops(&place);
    }

    /// Replaces elements in place, or adds to them. Without a result the array is an accumulator.
    pub fn change(&mut self, target: Var, at: &[At], value: Var, is_sum: bool, result: Option<Var>) {
        let Type { elem, .. } = self.ty(target);
        let tensor = match self.repr(target).clone() {
            Repr::Tensor(_) => self.tensor(target),
            Repr::Scalar(text) => return self.change_scalar(&text, elem, value, is_sum, result),
        };
        let place = self.place(&tensor, at);
        let value_sizes = self.sizes(value);
        if !self.facts.all_same(&place.sizes, &value_sizes) {
            let rank = place.sizes.len();
            let same = format!("!eddy_same({rank}, {}, {})", array(&place.sizes), array(&value_sizes));
            let mut details = vec![rank.to_string()];
            details.extend(place.sizes.iter().chain(&value_sizes).cloned());
            self.fail_with(&same, "EDDY_DIFFERENT", &details);
        }
        let value = match self.repr(value).clone() {
            Repr::Scalar(text) => {
                self.change_element(&format!("{}[{}]", tensor.data, place.start), elem, &text, is_sum);
                None
            }
            Repr::Tensor(value) => Some(value),
        };
        let few = self.facts.literal_elements(&place.run).filter(|_| place.loops.is_empty());
        if let Some(value) = &value
            && let Some(few) = few.and_then(|few| self.few(&int_literal(few)))
        {
            for k in 0..few {
                let element = format!("{}[{} + {k}]", tensor.data, place.start);
                self.change_element(&element, elem, &format!("{}[{k}]", value.data), is_sum);
            }
        } else if let Some(value) = value {
            let next = self.names.of("next");
            self.line(&format!("int64_t {next} = 0;"));
            self.open_loops(&place);
            let k = self.names.of("k");
            let run = if place.run.is_empty() { int_literal(1) } else { place.run.join(" * ") };
            self.text.open(&format!("for (int64_t {k} = 0; {k} < {run}; {k}++)"));
            let element = format!("{}[{} + {k}]", tensor.data, place.start);
            self.change_element(&element, elem, &format!("{}[{next}++]", value.data), is_sum);
            self.text.close();
            self.close_loops(&place);
        }
        if let Some(result) = result {
            self.set(result, Repr::Tensor(tensor));
        }
    }

    fn change_scalar(&mut self, target: &str, elem: Elem, value: Var, is_sum: bool, result: Option<Var>) {
        let value = self.scalar(value);
        match result {
            // An accumulator is a local that changes, or belongs to a caller.
            None => self.change_element(target, elem, &value, is_sum),
            Some(result) if is_sum && elem != Elem::Num => {
                let name = self.name(result);
                self.line(&format!("int64_t {name} = {target};"));
                self.change_element(&name, elem, &value, true);
                self.set(result, Repr::Scalar(name));
            }
            Some(result) if is_sum => self.define(result, &format!("{target} + {value}")),
            Some(result) => self.set(result, Repr::Scalar(value)),
        }
    }

    fn change_element(&mut self, place: &str, elem: Elem, value: &str, is_sum: bool) {
        match (is_sum, elem) {
            (false, _) => self.line(&format!("{place} = {value};")),
            (true, Elem::Num) => self.line(&format!("{place} += {value};")),
            (true, _) => {
                self.fail(&format!("__builtin_add_overflow({place}, {value}, &{place})"), "EDDY_OVERFLOW");
            }
        }
    }

    fn open_loops(&mut self, place: &Place) {
        for Axis { counter, count } in &place.loops {
            self.text.open(&format!("for (int64_t {counter} = 0; {counter} < {count}; {counter}++)"));
        }
    }

    fn close_loops(&mut self, place: &Place) {
        for _ in &place.loops {
            self.text.close();
        }
    }

    /// Emits checks of the selectors, axis by axis.
    fn place(&mut self, tensor: &Tensor, at: &[At]) -> Place {
        let rank = tensor.sizes.len();
        // Elements are contiguous if all selectors but the last are single indices, and the last is no
        // gather.
        let is_together = match at.split_last() {
            None => true,
            Some((last, others)) => {
                others.iter().all(|at| self.is_single(*at))
                    && (self.is_single(*last) || matches!(last, At::Range(..) | At::All))
            }
        };
        let mut place = Place {
            start: String::new(),
            sizes: Vec::new(),
            loops: Vec::new(),
            run: tensor.sizes[at.len()..].to_vec(),
        };
        let mut offsets: Vec<String> = Vec::new();
        let mut are_before_single = true;
        for (axis, selector) in at.iter().enumerate() {
            let size = tensor.sizes[axis].clone();
            let stride: Vec<String> = tensor.sizes[axis + 1..rank].to_vec();
            let scaled = |index: &str| match stride.as_slice() {
                [] => index.to_owned(),
                stride => format!("{index} * {}", stride.join(" * ")),
            };
            match *selector {
                At::Int(index) if self.ty(index).rank == 0 => {
                    let text = self.scalar(index);
                    if !(are_before_single && self.facts.is_in_range(index, &size)) {
                        self.check_index(&text, &size, tensor);
                    }
                    offsets.push(scaled(&text));
                }
                At::Int(indices) => {
                    are_before_single = false;
                    let indices = self.tensor(indices);
                    let all = self.n_elements("gather", &indices.sizes);
                    let (k, j) = (self.names.of("k"), self.names.of("j"));
                    self.text.open(&format!("for (int64_t {k} = 0; {k} < {all}; {k}++)"));
                    self.check_index(&format!("{}[{k}]", indices.data), &size, tensor);
                    self.text.close();
                    offsets.push(scaled(&format!("{}[{j}]", indices.data)));
                    place.loops.push(Axis { counter: j, count: all });
                    place.sizes.extend(indices.sizes);
                }
                At::Range(lo, hi) => {
                    are_before_single = false;
                    let known = self.facts.interval(lo).single().zip(self.facts.interval(hi).single());
                    let known = known.filter(|(lo, hi)| {
                        *lo >= 0 && lo <= hi && self.facts.literal(&size).is_some_and(|size| *hi <= size)
                    });
                    let (lo, hi) = (self.scalar(lo), self.scalar(hi));
                    let mut details = vec![lo.clone(), hi.clone(), rank.to_string()];
                    details.extend(tensor.sizes.iter().cloned());
                    let count = if let Some((lo, hi)) = known {
                        int_literal(hi - lo)
                    } else {
                        let outside = format!("{lo} < 0 || {lo} > {hi} || {hi} > {size}");
                        self.fail_with(&outside, "EDDY_RANGE", &details);
                        self.local_int("length", &format!("{hi} - {lo}"))
                    };
                    if is_together {
                        offsets.push(scaled(&lo));
                        place.run.insert(0, count.clone());
                    } else {
                        let j = self.names.of("j");
                        offsets.push(scaled(&format!("({lo} + {j})")));
                        place.loops.push(Axis { counter: j, count: count.clone() });
                    }
                    place.sizes.push(count);
                }
                At::All => {
                    are_before_single = false;
                    if is_together {
                        place.run.insert(0, size.clone());
                    } else {
                        let j = self.names.of("j");
                        offsets.push(scaled(&j));
                        place.loops.push(Axis { counter: j, count: size.clone() });
                    }
                    place.sizes.push(size);
                }
            }
        }
        place.sizes.extend_from_slice(&tensor.sizes[at.len()..]);
        if at.first().is_some_and(|at| self.is_single(*at)) {
            // The index is in range, so there are rows.
            for size in place.sizes.iter_mut().chain(&mut place.run) {
                *size = self.facts.of_some(size);
            }
        }
        place.start = if offsets.is_empty() { "0".to_owned() } else { offsets.join(" + ") };
        place
    }

    fn is_single(&self, at: At) -> bool {
        matches!(at, At::Int(index) if self.ty(index).rank == 0)
    }

    fn check_index(&mut self, index: &str, size: &str, tensor: &Tensor) {
        let mut details = vec![index.to_owned(), tensor.sizes.len().to_string()];
        details.extend(tensor.sizes.iter().cloned());
        self.fail_with(&format!("(uint64_t){index} >= (uint64_t){size}"), "EDDY_INDEX", &details);
    }
}
