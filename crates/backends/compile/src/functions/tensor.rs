//! Operations of the table on tensors.

use eddy_body::{Elem, Var};
use eddy_tensor::{Cost, Op};

use super::body::{Emitter, Repr, Tensor, array, c_type, int_literal, n_bytes};
use super::facts::{Interval, literal};
use super::scalar::{Operand, function, is_elementwise};

impl Emitter<'_, '_> {
    pub fn table_operation(&mut self, result: Var, op: &Op, operands: &[Var]) {
        let are_scalars = operands.iter().all(|var| self.ty(*var).rank == 0);
        match op {
            Op::StopGradient if !are_scalars => self.share(result, self.tensor(operands[0])),
            Op::Copy if !are_scalars => {
                let from = self.tensor(operands[0]);
                self.copy(result, &from);
            }
            Op::ToNum if !are_scalars && self.ty(operands[0]).elem == Elem::Num => {
                self.share(result, self.tensor(operands[0]));
            }
            Op::ToInt if !are_scalars && self.ty(operands[0]).elem == Elem::Int => {
                self.share(result, self.tensor(operands[0]));
            }
            Op::Copy | Op::StopGradient => self.scalars(result, op, operands),
            op if is_elementwise(op) && are_scalars => self.scalars(result, op, operands),
            op if is_elementwise(op) => self.elements(result, op, operands),
            _ => self.whole(result, op, operands),
        }
    }

    fn scalars(&mut self, result: Var, op: &Op, operands: &[Var]) {
        let texts: Vec<Operand> = operands.iter().map(|var| self.scalar_operand(*var)).collect();
        if let Some(truth) = self.known_truth(op, operands) {
            self.facts.set_truth(result, truth);
            return self.set(result, Repr::Scalar(truth.to_string()));
        }
        let (text, interval) = self.element(op, &texts);
        self.facts.set_interval(result, interval);
        if let (Op::Sub, [index, by]) = (op, operands)
            && let (Some(bound), Some(by @ 0..)) =
                (self.facts.below(*index), self.facts.interval(*by).single())
            && self.facts.interval(*index).lo >= i128::from(by)
        {
            let bound = bound.to_owned();
            self.facts.set_below(result, &bound);
        }
        if self.ty(result).elem == Elem::Int
            && let Some(value) = interval.single()
        {
            return self.set(result, Repr::Scalar(int_literal(value)));
        }
        if let Op::Copy | Op::StopGradient = op {
            return self.set(result, Repr::Scalar(text));
        }
        self.define(result, &text);
    }

    /// One loop over all elements if the shapes are known to be equal, else a loop over rows.
    fn elements(&mut self, result: Var, op: &Op, operands: &[Var]) {
        if self.few_elements(result, op, operands) {
            return;
        }
        let tensors: Vec<Var> = operands.iter().copied().filter(|var| self.ty(*var).rank > 0).collect();
        let sizes = self.sizes(tensors[0]);
        let is_flat = tensors.iter().all(|var| self.facts.all_same(&sizes, &self.sizes(*var)));
        if is_flat && self.delay(result, op, operands, &sizes) {
            return;
        }
        if !is_flat || op.facts().cost == Cost::Function {
            for var in &tensors {
                self.store(*var);
            }
        }
        if is_flat {
            let (name, mut all) = self.result(result, sizes, false);
            let k = self.names.of("k");
            if op.facts().cost == Cost::Function && self.ty(result).elem == Elem::Num {
                let read: Vec<String> = tensors.iter().map(|var| self.tensor(*var).data).collect();
                let arrays: Vec<&str> = read.iter().chain([&name]).map(String::as_str).collect();
                all = self.whole_vectors(&arrays, &all);
                if let Some(function) = function(op).filter(|_| tensors.len() == operands.len()) {
                    let arrays = arrays.join(", ");
                    return self.line(&format!("eddy_many_{function}({all}, {arrays});"));
                }
            }
            self.text.open(&format!("for (int64_t {k} = 0; {k} < {all}; {k}++)"));
            let texts: Vec<Operand> = operands.iter().map(|var| self.element_at(*var, &k)).collect();
            let text = self.vector_element(op, &texts);
            self.line(&format!("{name}[{k}] = {text};"));
            return self.text.close();
        }
        let (walk, sizes) = self.walk(op, operands, &tensors);
        let (name, _) = self.result(result, sizes, true);
        let (o, k) = (self.names.of("o"), self.names.of("k"));
        let n = self.local_int(&format!("{name}_inner"), &format!("{walk}.inner"));
        self.text.open(&format!("for (int64_t {o} = 0; {o} < {walk}.outer; {o}++)"));
        let mut rows = Vec::new();
        for (at, var) in tensors.iter().enumerate() {
            let (row, step) = (self.names.of("row"), self.names.of("step"));
            let (ty, data) = (c_type(self.ty(*var).elem), self.tensor(*var).data);
            self.line(&format!("const {ty} *const {row} = {data} + {walk}.at[{at}];"));
            self.line(&format!("const int64_t {step} = {walk}.step[{at}];"));
            rows.push((*var, row, step));
        }
        let target = self.names.of("target");
        let ty = c_type(self.ty(result).elem);
        self.line(&format!("{ty} *const {target} = {name} + {o} * {n};"));
        self.text.open(&format!("for (int64_t {k} = 0; {k} < {n}; {k}++)"));
        let texts: Vec<Operand> = operands
            .iter()
            .map(|var| match rows.iter().find(|(other, ..)| other == var) {
                None => self.scalar_operand(*var),
                Some((var, row, step)) => Operand {
                    text: format!("{row}[{k} * {step}]"),
                    elem: self.ty(*var).elem,
                    interval: Interval::ALL,
                },
            })
            .collect();
        let text = self.vector_element(op, &texts);
        self.line(&format!("{target}[{k}] = {text};"));
        self.text.close();
        self.line(&format!("eddy_walk_next(&{walk});"));
        self.text.close();
    }

    fn vector_element(&mut self, op: &Op, operands: &[Operand]) -> String {
        let before = std::mem::replace(&mut self.vectorises, true);
        let (text, _) = self.element(op, operands);
        self.vectorises = before;
        text
    }

    /// Declares the order in which tensors that broadcast are read; also returns the sizes of the result.
    fn walk(&mut self, op: &Op, operands: &[Var], tensors: &[Var]) -> (String, Vec<String>) {
        let walk = self.names.of("walk");
        self.line(&format!("eddy_walk {walk};"));
        let ranks: Vec<String> = tensors.iter().map(|var| self.ty(*var).rank.to_string()).collect();
        let lists: Vec<String> = tensors.iter().map(|var| array(&self.sizes(*var))).collect();
        let begin = format!(
            "eddy_walk_begin(&{walk}, {}, (const int[]){{ {} }}, (const int64_t *const[]){{ {} }})",
            tensors.len(),
            ranks.join(", "),
            lists.join(", ")
        );
        debug_assert!(is_elementwise(op), "only such operations broadcast");
        self.fail_shapes(&format!("!{begin}"), operands, &[]);
        let rank = tensors.iter().map(|var| self.ty(*var).rank).max().unwrap_or(0);
        let sizes = (0..rank).map(|k| self.local_int(&format!("{walk}_n{k}"), &format!("{walk}.n[{k}]")));
        (walk.clone(), sizes.collect())
    }

    pub fn element_at(&self, var: Var, k: &str) -> Operand {
        if self.ty(var).rank == 0 {
            return self.scalar_operand(var);
        }
        if let Some(element) = self.lazy_element(var, k) {
            return element;
        }
        let text = format!("{}[{k}]", self.tensor(var).data);
        Operand { text, elem: self.ty(var).elem, interval: Interval::ALL }
    }

    /// Fails with the shapes of the operands, and the sizes given to the operation.
    pub fn fail_shapes(&mut self, condition: &str, operands: &[Var], sizes: &[String]) {
        let mut details = vec![int_literal(i64::try_from(operands.len()).expect("few operands"))];
        for var in operands {
            let own = self.sizes(*var);
            details.push(own.len().to_string());
            details.extend(own);
        }
        details.push(sizes.len().to_string());
        details.extend(sizes.iter().cloned());
        self.fail_with(condition, "EDDY_SHAPES", &details);
    }

    /// Operations that read several elements of an operand.
    fn whole(&mut self, result: Var, op: &Op, operands: &[Var]) {
        match op {
            Op::Sum(axis) | Op::Mean(axis) | Op::Max(axis) => self.reduction(result, op, *axis, operands[0]),
            Op::MaxMask(axis) => self.max_mask(result, *axis, operands[0]),
            Op::Argmax => self.argmax(result, operands[0]),
            Op::Softmax => {
                let x = self.tensor(operands[0]);
                let (name, all) = self.result(result, x.sizes.clone(), false);
                let n = x.sizes.last().expect("softmax has an axis");
                let rows = format!("{n} == 0 ? 0 : {all} / {n}");
                self.line(&format!("eddy_softmax_rows({rows}, {n}, {}, {name});", x.data));
            }
            Op::Matmul => self.matmul(result, operands),
            Op::Outer => {
                let (x, y) = (self.tensor(operands[0]), self.tensor(operands[1]));
                let (n, m) = (x.sizes[0].clone(), y.sizes[0].clone());
                let (name, _) = self.result(result, vec![n.clone(), m.clone()], true);
                let (i, j) = (self.names.of("i"), self.names.of("j"));
                self.text.open(&format!("for (int64_t {i} = 0; {i} < {n}; {i}++)"));
                let product = format!("{name}[{i} * {m} + {j}] = {}[{i}] * {}[{j}];", x.data, y.data);
                self.line(&format!("for (int64_t {j} = 0; {j} < {m}; {j}++) {product}"));
                self.text.close();
            }
            Op::Transpose if self.ty(result).rank < 2 => match self.repr(operands[0]).clone() {
                Repr::Tensor(tensor) => self.share(result, tensor),
                scalar @ Repr::Scalar(_) => self.set(result, scalar),
            },
            Op::Transpose => {
                let x = self.tensor(operands[0]);
                let (n, m) = (x.sizes[0].clone(), x.sizes[1].clone());
                let (name, _) = self.result(result, vec![m.clone(), n.clone()], false);
                let bytes = n_bytes(self.ty(result).elem);
                self.line(&format!("eddy_transposed({n}, {m}, {bytes}, {}, {name});", x.data));
            }
            Op::Concat => self.concat(result, operands),
            Op::Stack => self.stack(result, operands),
            Op::SumTo => {
                let sizes = self.sizes(operands[1]);
                self.reduce(result, operands, operands[0], sizes, &[]);
            }
            Op::Conv2d => self.conv2d(result, operands),
            Op::Conv2dDx => self.conv2d_dx(result, operands),
            Op::Conv2dDk => self.conv2d_dk(result, operands),
            other => unreachable!("`{}` is no operation of bodies", other.name()),
        }
    }

    fn reduction(&mut self, result: Var, op: &Op, axis: Option<usize>, x: Var) {
        let is_num = self.ty(x).elem == Elem::Num;
        let suffix = if is_num { "" } else { "_int" };
        let Repr::Tensor(_) = self.repr(x) else {
            self.facts.set_interval(result, self.facts.interval(x));
            return self.set(result, self.repr(x).clone());
        };
        if matches!(op, Op::Sum(None)) && self.lazy_sum(result, x) {
            return;
        }
        self.store(x);
        let tensor = self.tensor(x);
        let (outer, n, inner) = Self::slices(&tensor, axis);
        if matches!(op, Op::Max(_)) {
            self.fail(&format!("{n} == 0"), "EDDY_EMPTY");
        }
        let Some(axis) = axis.filter(|_| self.ty(result).rank > 0) else {
            // Outer and inner are 1 for a vector and an axis.
            let data = &tensor.data;
            match op {
                Op::Sum(_) if !is_num => {
                    let name = self.name(result);
                    self.line(&format!("int64_t {name};"));
                    self.fail(&format!("!eddy_sum_int({n}, {data}, &{name})"), "EDDY_OVERFLOW");
                    self.set(result, Repr::Scalar(name));
                }
                Op::Sum(_) => {
                    let sum = self.few_sum(&n, data);
                    self.define(result, &sum);
                }
                Op::Mean(_) => {
                    let sum = self.few_sum(&n, data);
                    self.define(result, &format!("{sum} / (double){n}"));
                }
                _ => self.define(result, &format!("{data}[eddy_maximum_at{suffix}({n}, 1, {data})]")),
            }
            return;
        };
        let mut sizes = tensor.sizes.clone();
        sizes.remove(axis);
        let (name, all) = self.result(result, sizes, true);
        let data = &tensor.data;
        match op {
            Op::Sum(_) if !is_num => {
                let call = format!("!eddy_sums_int({outer}, {n}, {inner}, {data}, {name})");
                self.fail(&call, "EDDY_OVERFLOW");
            }
            Op::Sum(_) => self.line(&format!("eddy_sums({outer}, {n}, {inner}, {data}, {name});")),
            Op::Mean(_) => {
                self.line(&format!("eddy_sums({outer}, {n}, {inner}, {data}, {name});"));
                let k = self.names.of("k");
                let mean = format!("{name}[{k}] = {name}[{k}] / (double){n};");
                self.line(&format!("for (int64_t {k} = 0; {k} < {all}; {k}++) {mean}"));
            }
            _ => self.line(&format!("eddy_maxima{suffix}({outer}, {n}, {inner}, {data}, {name});")),
        }
    }

    /// The number of slices before an axis, the length of a slice, and the distance of its elements.
    pub fn slices(tensor: &Tensor, axis: Option<usize>) -> (String, String, String) {
        let product = |sizes: &[String]| match sizes {
            [] => int_literal(1),
            [size] => size.clone(),
            sizes => match sizes.iter().map(|size| literal(size)).product::<Option<i64>>() {
                Some(all) => int_literal(all),
                None => format!("({})", sizes.join(" * ")),
            },
        };
        match axis {
            None => (int_literal(1), product(&tensor.sizes), int_literal(1)),
            Some(axis) => (
                product(&tensor.sizes[..axis]),
                tensor.sizes[axis].clone(),
                product(&tensor.sizes[axis + 1..]),
            ),
        }
    }

    fn max_mask(&mut self, result: Var, axis: Option<usize>, x: Var) {
        let Repr::Tensor(tensor) = self.repr(x).clone() else {
            return self.set(result, Repr::Scalar("1.0".to_owned()));
        };
        let (outer, n, inner) = Self::slices(&tensor, axis);
        let (name, _) = self.result(result, tensor.sizes.clone(), false);
        self.line(&format!("eddy_max_mask({outer}, {n}, {inner}, {}, {name});", tensor.data));
    }

    fn argmax(&mut self, result: Var, x: Var) {
        let Repr::Tensor(tensor) = self.repr(x).clone() else {
            return self.set(result, Repr::Scalar(int_literal(0)));
        };
        let (_, n, _) = Self::slices(&tensor, None);
        self.fail(&format!("{n} == 0"), "EDDY_EMPTY");
        let suffix = if self.ty(x).elem == Elem::Num { "" } else { "_int" };
        self.define(result, &format!("eddy_maximum_at{suffix}({n}, 1, {})", tensor.data));
        self.facts.set_interval(result, Interval { lo: 0, hi: Interval::SIZE.hi - 1 });
        if tensor.sizes.len() == 1 {
            self.facts.set_below(result, &n);
        }
    }

    fn matmul(&mut self, result: Var, operands: &[Var]) {
        let (x, y) = (self.tensor(operands[0]), self.tensor(operands[1]));
        let inner = x.sizes.last().expect("matmul has one or two axes").clone();
        if !self.facts.are_same(&inner, &y.sizes[0]) {
            self.fail_shapes(&format!("{inner} != {}", y.sizes[0]), operands, &[]);
        }
        let sizes: Vec<String> = x.sizes[..x.sizes.len() - 1].iter().chain(&y.sizes[1..]).cloned().collect();
        if sizes.is_empty() {
            if let Some(n @ 1..) = self.few(&inner) {
                let mut sum = format!("{}[0] * {}[0]", x.data, y.data);
                for l in 1..n {
                    sum = format!("eddy_fma({}[{l}], {}[{l}], {sum})", x.data, y.data);
                }
                return self.define(result, &sum);
            }
            return self.define(result, &format!("eddy_inner({inner}, {}, {})", x.data, y.data));
        }
        let n = if x.sizes.len() == 2 { x.sizes[0].clone() } else { int_literal(1) };
        let m = if y.sizes.len() == 2 { y.sizes[1].clone() } else { int_literal(1) };
        let (name, _) = self.result(result, sizes, true);
        if self.few_products([&n, &inner, &m], &x.data, &y.data, &name) {
            return;
        }
        self.line(&format!("eddy_matrix_product({n}, {inner}, {m}, {}, {}, {name});", x.data, y.data));
    }

    fn concat(&mut self, result: Var, operands: &[Var]) {
        let tensors: Vec<Tensor> = operands.iter().map(|var| self.tensor(*var)).collect();
        let inner = tensors[0].sizes[1..].to_vec();
        for tensor in &tensors[1..] {
            let differing: Vec<String> = inner
                .iter()
                .zip(&tensor.sizes[1..])
                .filter(|(x, y)| !self.facts.are_same(x, y))
                .map(|(x, y)| format!("{x} != {y}"))
                .collect();
            if !differing.is_empty() {
                self.fail_shapes(&differing.join(" || "), operands, &[]);
            }
        }
        let rows: Vec<String> = tensors.iter().map(|tensor| tensor.sizes[0].clone()).collect();
        let known: Option<i64> = rows.iter().map(|size| self.facts.literal(size)).sum();
        let rows = match known {
            Some(rows) => int_literal(rows),
            None if rows.len() == 1 => rows[0].clone(),
            None => self.local_int("rows", &rows.join(" + ")),
        };
        let sizes: Vec<String> = std::iter::once(rows).chain(inner).collect();
        let (name, _) = self.result(result, sizes, true);
        self.chain(&name, self.ty(result).elem, tensors.iter().map(|tensor| Repr::Tensor(tensor.clone())));
    }

    fn stack(&mut self, result: Var, operands: &[Var]) {
        let first = self.sizes(operands[0]);
        for var in &operands[1..] {
            let sizes = self.sizes(*var);
            if !self.facts.all_same(&first, &sizes) {
                let same = format!("!eddy_same({}, {}, {})", first.len(), array(&first), array(&sizes));
                self.fail_shapes(&same, operands, &[]);
            }
        }
        let n = i64::try_from(operands.len()).expect("few operands");
        let sizes: Vec<String> = std::iter::once(int_literal(n)).chain(first).collect();
        let (name, _) = self.result(result, sizes, true);
        let parts: Vec<Repr> = operands.iter().map(|var| self.repr(*var).clone()).collect();
        self.chain(&name, self.ty(result).elem, parts.into_iter());
    }

    /// Writes parts one after the other.
    fn chain(&mut self, name: &str, elem: Elem, parts: impl Iterator<Item = Repr>) {
        let mut before: Vec<String> = Vec::new();
        for part in parts {
            let start = if before.is_empty() { "0".to_owned() } else { before.join(" + ") };
            match part {
                Repr::Scalar(text) => {
                    self.line(&format!("{name}[{start}] = {text};"));
                    before.push("1".to_owned());
                }
                Repr::Tensor(tensor) => {
                    let all = match self.facts.literal_elements(&tensor.sizes) {
                        Some(all) => int_literal(all),
                        None => tensor.sizes.join(" * "),
                    };
                    self.copy_elements(&format!("({name} + ({start}))"), &tensor.data, &all, elem);
                    before.push(all);
                }
            }
        }
    }

    fn conv2d(&mut self, result: Var, operands: &[Var]) {
        let (x, k) = (self.tensor(operands[0]), self.tensor(operands[1]));
        let (x_n, k_n) = (&x.sizes, &k.sizes);
        let empty = format!("{} == 0 || {} == 0 || {} == 0 || {} == 0", x_n[0], x_n[1], k_n[0], k_n[1]);
        let fits = format!("{} != {} || {} > {} || {} > {}", x_n[2], k_n[2], k_n[0], x_n[0], k_n[1], x_n[1]);
        self.fail_shapes(&format!("{empty} || {fits}"), operands, &[]);
        let height = self.local_int("height", &format!("{} - {} + 1", x_n[0], k_n[0]));
        let width = self.local_int("width", &format!("{} - {} + 1", x_n[1], k_n[1]));
        let (name, _) = self.result(result, vec![height.clone(), width.clone(), k_n[3].clone()], true);
        let sizes = [&x_n[1], &x_n[2], &k_n[0], &k_n[1], &height, &width, &k_n[3]].map(Clone::clone);
        self.line(&format!("eddy_convolved({}, {}, {}, {name});", array(&sizes), x.data, k.data));
    }

    fn conv2d_dx(&mut self, result: Var, operands: &[Var]) {
        let (k, g) = (self.tensor(operands[0]), self.tensor(operands[1]));
        let (k_n, g_n) = (&k.sizes, &g.sizes);
        let empty = format!("{} == 0 || {} == 0 || {} == 0 || {} == 0", k_n[0], k_n[1], g_n[0], g_n[1]);
        self.fail_shapes(&format!("{empty} || {} != {}", k_n[3], g_n[2]), operands, &[]);
        let height = self.local_int("height", &format!("{} + {} - 1", g_n[0], k_n[0]));
        let width = self.local_int("width", &format!("{} + {} - 1", g_n[1], k_n[1]));
        let (name, all) = self.result(result, vec![height, width.clone(), k_n[2].clone()], true);
        let sizes = [&width, &k_n[2], &k_n[0], &k_n[1], &g_n[0], &g_n[1], &k_n[3]].map(Clone::clone);
        self.line(&format!("eddy_convolved_dx({}, {}, {}, {all}, {name});", array(&sizes), k.data, g.data));
    }

    fn conv2d_dk(&mut self, result: Var, operands: &[Var]) {
        let (x, g) = (self.tensor(operands[0]), self.tensor(operands[1]));
        let (x_n, g_n) = (&x.sizes, &g.sizes);
        let empty = format!("{} == 0 || {} == 0 || {} == 0 || {} == 0", x_n[0], x_n[1], g_n[0], g_n[1]);
        let fits = format!("{} > {} || {} > {}", g_n[0], x_n[0], g_n[1], x_n[1]);
        self.fail_shapes(&format!("{empty} || {fits}"), operands, &[]);
        let height = self.local_int("height", &format!("{} - {} + 1", x_n[0], g_n[0]));
        let width = self.local_int("width", &format!("{} - {} + 1", x_n[1], g_n[1]));
        let sizes = vec![height.clone(), width.clone(), x_n[2].clone(), g_n[2].clone()];
        let (name, _) = self.result(result, sizes, true);
        let sizes = [&x_n[1], &x_n[2], &height, &width, &g_n[0], &g_n[1], &g_n[2]].map(Clone::clone);
        self.line(&format!("eddy_convolved_dk({}, {}, {}, {name});", array(&sizes), x.data, g.data));
    }
}
