//! Operations whose sizes are operands.

use eddy_body::{Elem, Sized, Var};

use super::body::{Emitter, Repr, Tensor, array, int_literal, n_bytes};

impl Emitter<'_, '_> {
    /// Reads sizes, and fails at run time if one is negative.
    fn given_sizes(&mut self, operands: &[Var]) -> Vec<String> {
        let mut sizes = Vec::new();
        for var in operands {
            let size = self.scalar(*var);
            if self.facts.interval(*var).lo < 0 {
                self.fail_with(&format!("{size} < 0"), "EDDY_NEGATIVE", std::slice::from_ref(&size));
            }
            sizes.push(size);
        }
        sizes
    }

    pub fn fill(&mut self, result: Var, operands: &[Var]) {
        let value = self.scalar(operands[0]);
        let sizes = self.given_sizes(&operands[1..]);
        if sizes.is_empty() {
            return self.set(result, Repr::Scalar(value));
        }
        let (name, all) = self.result(result, sizes, true);
        self.fill_elements(&name, &all, &value);
    }

    /// A tensor, or a scalar as a tensor of one element.
    fn as_tensor(&mut self, var: Var) -> Tensor {
        match self.repr(var).clone() {
            Repr::Tensor(_) => self.tensor(var),
            Repr::Scalar(text) => {
                let name = self.names.of("single");
                let elem = self.ty(var).elem;
                self.allocate(&name, elem, &int_literal(1));
                self.line(&format!("{name}[0] = {text};"));
                Tensor { data: name, sizes: Vec::new() }
            }
        }
    }

    pub fn sized(&mut self, result: Var, sized: Sized, operands: &[Var]) {
        let x = operands[0];
        let sizes = self.given_sizes(&operands[1..]);
        match sized {
            Sized::Reshape => self.reshape(result, x, sizes),
            Sized::Broadcast if self.delay_stretched(result, operands, &sizes) => {}
            Sized::Broadcast => self.broadcast(result, x, sizes),
            Sized::Reduce => self.reduce(result, &[x], x, sizes.clone(), &sizes),
            Sized::Spread(axis) => self.spread(result, x, axis, &sizes[0]),
            Sized::Onehot => self.onehot(result, x, &sizes[0]),
            Sized::Pad => self.pad(result, x, &sizes),
            Sized::Unfold(axis) => self.unfold(result, x, axis, &sizes),
            Sized::Fold(axis) => self.fold(result, x, axis, &sizes),
        }
    }

    /// Fails with the error about memory if there are too many elements.
    fn reshape(&mut self, result: Var, x: Var, sizes: Vec<String>) {
        let from = self.sizes(x);
        if !self.facts.all_same(&from, &sizes) {
            let name = self.names.of("reshaped");
            let all = self.new_elements(&name, &sizes);
            let is_known = self.facts.literal_elements(&from).is_some_and(|from| all == int_literal(from));
            let from = if from.is_empty() { int_literal(1) } else { from.join(" * ") };
            if !is_known {
                self.fail_shapes(&format!("{from} != {all}"), &[x], &sizes);
            }
        }
        let tensor = match self.repr(x).clone() {
            Repr::Scalar(text) if sizes.is_empty() => return self.set(result, Repr::Scalar(text)),
            _ => self.as_tensor(x),
        };
        if sizes.is_empty() {
            return self.define(result, &format!("{}[0]", tensor.data));
        }
        self.share(result, Tensor { data: tensor.data, sizes });
    }

    fn broadcast(&mut self, result: Var, x: Var, sizes: Vec<String>) {
        let from = self.sizes(x);
        if sizes.is_empty() {
            return self.set(result, self.repr(x).clone());
        }
        let name = self.names.of("stretched");
        let is_same = self.facts.all_same(&from, &sizes);
        if !is_same {
            // The check of the number of elements comes before the check of the shapes.
            self.new_elements(&name, &sizes);
            if !from.is_empty() {
                let stretches = format!(
                    "!eddy_stretches({}, {}, {}, {})",
                    from.len(),
                    array(&from),
                    sizes.len(),
                    array(&sizes)
                );
                self.fail_shapes(&stretches, &[x], &sizes);
            }
        }
        let (name, all) = self.result(result, sizes.clone(), true);
        let (o, k) = (self.names.of("o"), self.names.of("k"));
        match self.repr(x).clone() {
            Repr::Scalar(text) => self.fill_elements(&name, &all, &text),
            Repr::Tensor(tensor) if is_same => {
                self.copy_elements(&name, &tensor.data, &all, self.ty(x).elem);
            }
            Repr::Tensor(_) if self.few_stretched(x, &sizes, &name) => {}
            Repr::Tensor(tensor) => {
                let walk = self.names.of("walk");
                self.line(&format!("eddy_walk {walk};"));
                let lists = format!("{}, {}", array(&sizes), array(&from));
                self.line(&format!(
                    "eddy_walk_begin(&{walk}, 2, (const int[]){{ {}, {} }}, (const int64_t *const[]){{ {lists} }});",
                    sizes.len(),
                    from.len()
                ));
                self.text.open(&format!("for (int64_t {o} = 0; {o} < {walk}.outer; {o}++)"));
                let element = format!("{}[{walk}.at[1] + {k} * {walk}.step[1]]", tensor.data);
                let target = format!("{name}[{o} * {walk}.inner + {k}]");
                self.line(&format!("for (int64_t {k} = 0; {k} < {walk}.inner; {k}++) {target} = {element};"));
                self.line(&format!("eddy_walk_next(&{walk});"));
                self.text.close();
            }
        }
    }

    /// Sums down to a shape. `operands` are those of the statement.
    pub fn reduce(&mut self, result: Var, operands: &[Var], x: Var, to: Vec<String>, given: &[String]) {
        let from = self.sizes(x);
        if self.facts.all_same(&from, &to) {
            return match self.repr(x).clone() {
                Repr::Tensor(_) => self.copy(result, &self.tensor(x)),
                scalar @ Repr::Scalar(_) => self.set(result, scalar),
            };
        }
        if !to.is_empty() {
            let stretches =
                format!("!eddy_stretches({}, {}, {}, {})", to.len(), array(&to), from.len(), array(&from));
            self.fail_shapes(&stretches, operands, given);
        }
        let is_num = self.ty(x).elem == Elem::Num;
        let data = self.tensor(x).data;
        if to.is_empty() {
            let all = match self.facts.literal_elements(&from) {
                Some(all) => int_literal(all),
                None => from.join(" * "),
            };
            if is_num {
                let sum = self.few_sum(&all, &data);
                return self.define(result, &sum);
            }
            let name = self.name(result);
            self.line(&format!("int64_t {name};"));
            self.fail(&format!("!eddy_sum_int({all}, {data}, &{name})"), "EDDY_OVERFLOW");
            return self.set(result, Repr::Scalar(name));
        }
        let (name, _) = self.result(result, to.clone(), false);
        let suffix = if is_num { "" } else { "_int" };
        let (rank, to_rank, from, to) = (from.len(), to.len(), array(&from), array(&to));
        let call = format!("!eddy_reduced{suffix}({rank}, {from}, {data}, {to_rank}, {to}, {name})");
        self.fail(&call, "EDDY_OVERFLOW");
    }

    fn spread(&mut self, result: Var, x: Var, axis: usize, n: &str) {
        let from = self.as_tensor(x);
        let mut sizes = from.sizes.clone();
        sizes.insert(axis, n.to_owned());
        let (name, _) = self.result(result, sizes, true);
        let product = |sizes: &[String]| if sizes.is_empty() { int_literal(1) } else { sizes.join(" * ") };
        let outer = self.local_int("outer", &product(&from.sizes[..axis]));
        let inner = self.local_int("inner", &product(&from.sizes[axis..]));
        let (o, k) = (self.names.of("o"), self.names.of("k"));
        self.text.open(&format!("for (int64_t {o} = 0; {o} < {outer}; {o}++)"));
        let copy = format!(
            "__builtin_memcpy({name} + ({o} * {n} + {k}) * {inner}, {} + {o} * {inner}, (size_t){inner} * 8);",
            from.data
        );
        self.line(&format!("for (int64_t {k} = 0; {k} < {n}; {k}++) {copy}"));
        self.text.close();
    }

    fn onehot(&mut self, result: Var, index: Var, n: &str) {
        let is_in_range = self.facts.is_in_range(index, n);
        let index = self.scalar(index);
        let (name, all) = self.result(result, vec![n.to_owned()], true);
        // The interpreter reports the index with 32 bits, and an empty shape.
        let shown = format!("({index} > INT32_MAX ? INT32_MAX : {index} < INT32_MIN ? INT32_MIN : {index})");
        if !is_in_range {
            self.fail_with(&format!("{index} < 0 || {index} >= {n}"), "EDDY_INDEX", &[shown, "0".to_owned()]);
        }
        self.fill_elements(&name, &all, "0.0");
        self.line(&format!("{name}[{index}] = 1.0;"));
    }

    fn pad(&mut self, result: Var, x: Var, given: &[String]) {
        let from = self.tensor(x);
        let (lo, n) = (&given[0], &given[1]);
        self.fail_shapes(&format!("{lo} > {n} || {} > {n} - {lo}", from.sizes[0]), &[x], given);
        let mut sizes = from.sizes.clone();
        sizes[0].clone_from(n);
        let (name, all) = self.result(result, sizes, true);
        self.fill_elements(&name, &all, "0.0");
        let inner = if from.sizes.len() == 1 { int_literal(1) } else { from.sizes[1..].join(" * ") };
        let bytes = format!("(size_t)({}) * {}", from.sizes.join(" * "), n_bytes(self.ty(x).elem));
        self.line(&format!("__builtin_memcpy({name} + {lo} * ({inner}), {}, {bytes});", from.data));
    }

    fn unfold(&mut self, result: Var, x: Var, axis: usize, given: &[String]) {
        let from = self.tensor(x);
        let (size, stride) = (&given[0], &given[1]);
        let n = from.sizes[axis].clone();
        let windows = self.local_int("windows", &format!("eddy_windows({n}, {size}, {stride})"));
        self.fail_shapes(&format!("{windows} < 0"), &[x], given);
        let mut sizes = from.sizes.clone();
        sizes[axis].clone_from(size);
        sizes.insert(axis, windows.clone());
        let (name, _) = self.result(result, sizes, true);
        let (outer, _, inner) = Self::slices(&from, Some(axis));
        let (o, w) = (self.names.of("o"), self.names.of("w"));
        self.text.open(&format!("for (int64_t {o} = 0; {o} < {outer}; {o}++)"));
        let to = format!("{name} + ({o} * {windows} + {w}) * {size} * {inner}");
        let start = format!("{} + ({o} * {n} + {w} * {stride}) * {inner}", from.data);
        let copy = format!("__builtin_memcpy({to}, {start}, (size_t)({size} * {inner}) * 8);");
        self.line(&format!("for (int64_t {w} = 0; {w} < {windows}; {w}++) {copy}"));
        self.text.close();
    }

    fn fold(&mut self, result: Var, x: Var, axis: usize, given: &[String]) {
        let from = self.tensor(x);
        let (stride, n) = (&given[0], &given[1]);
        let (windows, size) = (from.sizes[axis].clone(), from.sizes[axis + 1].clone());
        self.fail_shapes(&format!("eddy_windows({n}, {size}, {stride}) != {windows}"), &[x], given);
        let mut sizes = from.sizes.clone();
        sizes.remove(axis);
        sizes[axis].clone_from(n);
        let (name, _) = self.result(result, sizes, true);
        let (_, _, inner) = Self::slices(&from, Some(axis + 1));
        let (outer, ..) = Self::slices(&from, Some(axis));
        self.line(&format!(
            "eddy_folded({outer}, {windows}, {size} * {inner}, {n} * {inner}, {stride} * {inner}, {}, {name});",
            from.data
        ));
    }
}
