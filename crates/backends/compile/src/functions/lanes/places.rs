//! Elements of tensors where the place, the tensor or the value depends on the index.

use eddy_body::{At, Control, Elem, Kind, Loop, Region, Var};

use super::super::body::{Repr, Tensor};
use super::analysis::Additions;
use super::values::{at_address, element_type, vector_type};
use super::{Lane, Lanes, VECTOR};

/// The elements that selectors choose: one, or adjacent ones.
struct Place {
    /// The offset that is the same for all lanes, and the vectors of what is added to it in each lane.
    offset: String,
    varying: Option<String>,
    /// Whether the lanes are adjacent elements, in order.
    is_adjacent: bool,
    /// The sizes of the chosen elements; empty for one element.
    sizes: Vec<String>,
}

impl Lanes<'_, '_, '_> {
    /// The place of selectors in a tensor of these sizes, after the checks of the selectors.
    fn place(&mut self, sizes: &[String], at: &[At]) -> Option<Place> {
        let (mut offsets, mut varying) = (Vec::new(), Vec::new());
        let mut chosen = Vec::new();
        let mut is_adjacent = false;
        for (axis, selector) in at.iter().enumerate() {
            let stride = &sizes[axis + 1..];
            let scale =
                if stride.is_empty() { String::new() } else { format!(" * {}", self.product(stride)) };
            match selector {
                At::Int(var) if self.ty(*var).rank > 0 => return None,
                At::Int(var) => {
                    let is_in_range = self.e.facts.is_in_range(*var, &sizes[axis]);
                    match self.values.get(var).cloned() {
                        Some(Lane::Scalar(name)) => {
                            if !is_in_range {
                                self.require(|_, u| {
                                    let size = format!("(eddy_x)EDDY_ALLW({})", sizes[axis]);
                                    Some(format!("(eddy_x){name}_{u} >= {size}"))
                                })?;
                            }
                            is_adjacent = stride.is_empty() && *var == self.index;
                            varying.push((name, self.product(stride)));
                        }
                        Some(Lane::Tensor(_) | Lane::Guarded(..)) => return None,
                        None => {
                            let index = self.e.scalar(*var);
                            if !is_in_range {
                                let test = format!("(uint64_t){index} >= (uint64_t){}", sizes[axis]);
                                self.e.fail(&test, "EDDY_INDEX");
                            }
                            offsets.push(format!("{index}{scale}"));
                        }
                    }
                }
                At::Range(lo, hi) if axis + 1 == at.len() => {
                    if self.is_varying(*lo) || self.is_varying(*hi) {
                        return None;
                    }
                    let known = self.e.facts.interval(*lo).single().zip(self.e.facts.interval(*hi).single());
                    let (lo, hi) = (self.e.scalar(*lo), self.e.scalar(*hi));
                    let size = &sizes[axis];
                    let is_inside = |(lo, hi): &(i64, i64)| {
                        *lo >= 0 && lo <= hi && self.e.facts.literal(size).is_some_and(|size| *hi <= size)
                    };
                    let count = match known.filter(is_inside) {
                        Some((lo, hi)) => super::super::body::int_literal(hi - lo),
                        None => {
                            self.e.fail(&format!("{lo} < 0 || {lo} > {hi} || {hi} > {size}"), "EDDY_RANGE");
                            self.e.local_int("length", &format!("{hi} - {lo}"))
                        }
                    };
                    offsets.push(format!("{lo}{scale}"));
                    chosen.push(count);
                }
                At::All if axis + 1 == at.len() => chosen.push(sizes[axis].clone()),
                At::Range(..) | At::All => return None,
            }
        }
        chosen.extend_from_slice(&sizes[at.len()..]);
        is_adjacent &= varying.len() == 1 && chosen.is_empty();
        let offset = if offsets.is_empty() { "0".to_owned() } else { offsets.join(" + ") };
        let varying = match varying.as_slice() {
            [] => None,
            [(name, scale)] if super::super::facts::literal(scale) == Some(1) => Some(name.clone()),
            parts => {
                let name = self.e.names.of("place");
                for u in 0..self.n_vectors {
                    let terms: Vec<String> = parts
                        .iter()
                        .map(|(part, scale)| format!("{part}_{u} * EDDY_ALLW({scale})"))
                        .collect();
                    self.line(&format!("const eddy_w {name}_{u} = {};", terms.join(" + ")));
                }
                Some(name)
            }
        };
        Some(Place { offset, varying, is_adjacent, sizes: chosen })
    }

    pub(super) fn index(&mut self, result: Var, array: Var, at: &[At]) -> Option<()> {
        let elem = self.ty(array).elem;
        if let (Some(rows), Some((At::Int(first), rest))) = (self.rows.get(&array).cloned(), at.split_first())
            && *first == self.index
            && !self.is_varying(array)
        {
            return self.read_lanes(result, &rows, rest);
        }
        if let Some(tensor) = self.lane_tensor(array) {
            return self.read_lanes(result, &tensor, at);
        }
        if self.is_varying(array) && self.ty(array).rank > 0 {
            return None;
        }
        if self.ty(array).rank == 0 {
            let texts = self.each_vector(|u| self.vector(array, u))?;
            self.define(result, &texts);
            return Some(());
        }
        let tensor = self.e.tensor(array);
        // A gather of rows by a varying index may be masked: its lanes must stay inside.
        if self.mask.is_some() && !self.is_read_safe(&tensor, at) {
            return None;
        }
        let place = self.place(&tensor.sizes, at)?;
        let names = place.varying?;
        if !place.sizes.is_empty() {
            let all = self.product(&place.sizes);
            let data = self.memory("row", elem, &place.sizes)?;
            let from = self.e.names.of("from");
            self.line(&format!("int64_t {from}[{}];", self.width));
            for u in 0..self.n_vectors {
                self.line(&format!("EDDY_W({from} + {}) = {names}_{u};", VECTOR * u));
            }
            let word = word(elem);
            let width = self.width;
            self.line(&format!(
                "eddy_columns_{word}({all}, {width}, {} + ({}), {from}, {data});",
                tensor.data, place.offset
            ));
            self.values.insert(result, Lane::Tensor(Tensor { data, sizes: place.sizes }));
            return Some(());
        }
        let name = self.e.name(result);
        let ty = vector_type(elem);
        let base = format!("({} + ({}))", tensor.data, place.offset);
        for u in 0..self.n_vectors {
            let gathered = match elem {
                Elem::Num => format!("EDDY_GATHERV({base}, {names}_{u})"),
                Elem::Bool => format!("-EDDY_GATHERW({base}, {names}_{u})"),
                _ => format!("EDDY_GATHERW({base}, {names}_{u})"),
            };
            let text = if place.is_adjacent && elem != Elem::Bool {
                let address = format!("{base} + {} + {}", self.first, VECTOR * u);
                let whole = format!("{} >= {}", self.live, VECTOR * (u + 1));
                format!("{whole} ? {} : {gathered}", at_address(elem, &address))
            } else {
                gathered
            };
            self.line(&format!("const {ty} {name}_{u} = {text};"));
        }
        let interval = self.e.facts.elements(array);
        self.e.facts.set_interval(result, interval);
        self.values.insert(result, Lane::Scalar(name));
        Some(())
    }

    /// Whether all varying selectors are certainly in range.
    fn is_read_safe(&self, tensor: &Tensor, at: &[At]) -> bool {
        at.iter().zip(&tensor.sizes).all(|(at, size)| match at {
            At::Int(var) => !self.is_varying(*var) || self.e.facts.is_in_range(*var, size),
            _ => true,
        })
    }

    /// Elements of a tensor in lanes.
    fn read_lanes(&mut self, result: Var, tensor: &Tensor, at: &[At]) -> Option<()> {
        let elem = self.ty(result).elem;
        if self.mask.is_some() && !self.is_read_safe(tensor, at) {
            return None;
        }
        let place = self.place(&tensor.sizes, at)?;
        match place.varying {
            None if place.sizes.is_empty() => {
                let texts = self.each_vector(|u| Some(self.at(elem, &tensor.data, &place.offset, u)))?;
                self.define(result, &texts);
                Some(())
            }
            None => {
                let data = self.e.names.of("part");
                let ty = element_type(elem);
                let width = self.width;
                self.line(&format!("{ty} *const {data} = {} + ({}) * {width};", tensor.data, place.offset));
                self.share(result, Tensor { data, sizes: place.sizes })
            }
            Some(names) if place.sizes.is_empty() => {
                let at = self.lane_places(&names, &place.offset);
                let gather = if elem == Elem::Num { "EDDY_GATHERV" } else { "EDDY_GATHERW" };
                let texts = self.each_vector(|u| Some(format!("{gather}({}, {at}_{u})", tensor.data)))?;
                self.define(result, &texts);
                Some(())
            }
            Some(_) => None,
        }
    }

    /// The places of elements in the memory of a tensor in lanes, as vectors.
    fn lane_places(&mut self, names: &str, offset: &str) -> String {
        let at = self.e.names.of("lane_at");
        let width = self.width;
        for u in 0..self.n_vectors {
            let first = VECTOR * u;
            self.line(&format!(
                "const eddy_w {at}_{u} = ({names}_{u} + EDDY_ALLW({offset})) * EDDY_ALLW({width}) + EDDY_IOTA + EDDY_ALLW({first});"
            ));
        }
        at
    }

    /// Replaces or increases elements of a tensor, which becomes one in lanes.
    pub(super) fn change(
        &mut self,
        result: Var,
        array: Var,
        at: &[At],
        value: Var,
        is_sum: bool,
    ) -> Option<()> {
        let elem = self.ty(array).elem;
        if self.ty(array).rank == 0 || is_sum && elem != Elem::Num {
            return None;
        }
        let tensor = match self.lane_tensor(array) {
            Some(tensor) => tensor,
            None => self.copied(array, "changed")?,
        };
        // Lanes that are not executed may write: their results are not used. Reads stay inside.
        if self.mask.is_some() && !self.is_read_safe(&tensor, at) {
            return None;
        }
        let place = self.place(&tensor.sizes, at)?;
        if !self.e.facts.all_same(&place.sizes, &self.sizes(value)?) {
            return None;
        }
        let sign = if is_sum { "+=" } else { "=" };
        match &place.varying {
            None => {
                let all = self.product(&place.sizes);
                let all = if place.sizes.is_empty() { "1".to_owned() } else { all };
                let k = self.e.names.of("k");
                self.e.text.open(&format!("for (int64_t {k} = 0; {k} < {all}; {k}++)"));
                for u in 0..self.n_vectors {
                    let to = self.at(elem, &tensor.data, &format!("{} + {k}", place.offset), u);
                    let from = self.element(value, &k, u)?;
                    self.line(&format!("{to} {sign} {from};"));
                }
                self.e.text.close();
            }
            Some(names) if place.sizes.is_empty() => {
                let at = self.lane_places(names, &place.offset);
                for u in 0..self.n_vectors {
                    let from = self.vector(value, u)?;
                    let scratch = self.e.names.of("value");
                    self.line(&format!("const {} {scratch} = {from};", vector_type(elem)));
                    let to = format!("{}[{at}_{u}[lane]]", tensor.data);
                    self.line(&format!(
                        "for (int lane = 0; lane < {VECTOR}; lane++) {to} {sign} {scratch}[lane];"
                    ));
                }
            }
            Some(_) => return None,
        }
        self.values.insert(result, Lane::Tensor(tensor));
        Some(())
    }

    pub(super) fn add(&mut self, acc: Var, at: &[At], value: Var) -> Option<()> {
        let elem = self.ty(acc).elem;
        if elem != Elem::Num {
            return None;
        }
        if !self.is_outer(acc) {
            return self.add_inside(acc, at, value);
        }
        if let Some(buffer) = self.buffers.get(&acc).cloned() {
            let Some(At::Int(last)) = at.last() else { return None };
            let last = self.e.scalar(*last);
            for u in 0..self.n_vectors {
                let (to, from) = (self.at(elem, &buffer, &last, u), self.vector(value, u)?);
                self.line(&format!("{to} = {from};"));
            }
            return Some(());
        }
        let is_later = self.additions(acc)? == Additions::Later;
        let (target, sizes) = match self.e.repr(acc).clone() {
            Repr::Scalar(text) => (text, None),
            Repr::Tensor(_) => {
                let tensor = self.e.tensor(acc);
                (tensor.data, Some(tensor.sizes))
            }
        };
        let place = match &sizes {
            Some(sizes) => self.place(sizes, at)?,
            None => Place { offset: "0".to_owned(), varying: None, is_adjacent: false, sizes: Vec::new() },
        };
        if !self.e.facts.all_same(&place.sizes, &self.sizes(value)?) {
            return None;
        }
        let values = self.spilled(value, &place.sizes)?;
        let all = if place.sizes.is_empty() { "1".to_owned() } else { self.product(&place.sizes) };
        let offset = &place.offset;
        let target =
            if sizes.is_some() { format!("({target} + ({offset}))") } else { format!("(&{target})") };
        let (live, width) = (self.live.clone(), self.width);
        let mask = self.mask.clone();
        if place.varying.is_none() && mask.is_none() && !is_later {
            if place.sizes.is_empty() {
                self.line(&format!("{target}[0] = eddy_add_lanes({target}[0], {live}, {values});"));
            } else {
                self.line(&format!("eddy_add_rows({all}, {live}, {width}, {values}, {target});"));
            }
            return Some(());
        }
        let places = match &place.varying {
            Some(names) => {
                let name = self.e.names.of("to");
                self.line(&format!("int64_t {name}[{width}];"));
                for u in 0..self.n_vectors {
                    self.line(&format!("EDDY_W({name} + {}) = {names}_{u};", VECTOR * u));
                }
                format!("{name}[lane] + ")
            }
            None => String::new(),
        };
        let condition = match &mask {
            Some(mask) => {
                let name = self.e.names.of("executed");
                self.line(&format!("int64_t {name}[{width}];"));
                for u in 0..self.n_vectors {
                    self.line(&format!("EDDY_W({name} + {}) = {mask}_{u};", VECTOR * u));
                }
                format!("if ({name}[lane]) ")
            }
            None => String::new(),
        };
        let one = format!(
            "{condition}for (int64_t k = 0; k < {all}; k++) {target}[{places}k] += {values}[k * {width} + lane];"
        );
        if is_later {
            self.waiting.push(one);
        } else {
            self.line(&format!("for (int64_t lane = 0; lane < {live}; lane++) {one}"));
        }
        Some(())
    }

    /// Adds the lanes of consecutive elements that an inner loop has written.
    pub(super) fn add_buffer(&mut self, acc: Var, prefix: &[At], count: &str, buffer: &str) -> Option<()> {
        let tensor = self.e.tensor(acc);
        let place = self.place(&tensor.sizes, prefix)?;
        let [size] = place.sizes.as_slice() else { return None };
        if !self.e.facts.are_same(size, count) {
            self.e.fail(&format!("{count} > {size}"), "EDDY_INDEX");
        }
        let (live, width) = (self.live.clone(), self.width);
        self.line(&format!(
            "eddy_add_rows({count}, {live}, {width}, {buffer}, {} + ({}));",
            tensor.data, place.offset
        ));
        Some(())
    }

    /// The address of the lanes of a value.
    fn spilled(&mut self, value: Var, sizes: &[String]) -> Option<String> {
        if let Some(tensor) = self.lane_tensor(value) {
            return Some(tensor.data);
        }
        if sizes.is_empty() {
            let name = self.e.names.of("lanes");
            self.line(&format!("double {name}[{}] __attribute__((aligned(64)));", self.width));
            for u in 0..self.n_vectors {
                let vector = self.vector(value, u)?;
                self.line(&format!("EDDY_V({name} + {}) = {vector};", VECTOR * u));
            }
            return Some(name);
        }
        Some(self.copied(value, "lanes")?.data)
    }

    /// Adds to an accumulator of an inner loop.
    fn add_inside(&mut self, acc: Var, at: &[At], value: Var) -> Option<()> {
        match self.values.get(&acc).cloned()? {
            Lane::Scalar(name) => {
                for u in 0..self.n_vectors {
                    let vector = self.vector(value, u)?;
                    self.line(&match &self.mask {
                        None => format!("{name}_{u} += {vector};"),
                        Some(mask) => {
                            format!(
                                "{name}_{u} = EDDY_BLENDV({mask}_{u}, {name}_{u} + {vector}, {name}_{u});"
                            )
                        }
                    });
                }
                Some(())
            }
            Lane::Guarded(..) => None,
            Lane::Tensor(tensor) => {
                let place = self.place(&tensor.sizes, at)?;
                if !self.e.facts.all_same(&place.sizes, &self.sizes(value)?) {
                    return None;
                }
                let mask = self.mask.clone();
                if let Some(names) = &place.varying {
                    if !place.sizes.is_empty() || mask.is_some() {
                        return None;
                    }
                    let at = self.lane_places(names, &place.offset);
                    for u in 0..self.n_vectors {
                        let from = self.vector(value, u)?;
                        let scratch = self.e.names.of("value");
                        self.line(&format!("const eddy_v {scratch} = {from};"));
                        let to = format!("{}[{at}_{u}[lane]]", tensor.data);
                        self.line(&format!(
                            "for (int lane = 0; lane < {VECTOR}; lane++) {to} += {scratch}[lane];"
                        ));
                    }
                    return Some(());
                }
                let all = if place.sizes.is_empty() { "1".to_owned() } else { self.product(&place.sizes) };
                let k = self.e.names.of("k");
                self.e.text.open(&format!("for (int64_t {k} = 0; {k} < {all}; {k}++)"));
                for u in 0..self.n_vectors {
                    let to = self.at(Elem::Num, &tensor.data, &format!("{} + {k}", place.offset), u);
                    let from = self.element(value, &k, u)?;
                    self.line(&match &mask {
                        None => format!("{to} += {from};"),
                        Some(mask) => format!("{to} = EDDY_BLENDV({mask}_{u}, {to} + {from}, {to});"),
                    });
                }
                self.e.text.close();
                Some(())
            }
        }
    }

    /// Writes the rows of a block.
    pub(super) fn store_row(&mut self, var: Var, rows: &str, sizes: &[String]) -> Option<()> {
        let elem = self.ty(var).elem;
        let own = self.sizes(var)?;
        if !self.e.facts.all_same(sizes, &own) {
            return None;
        }
        let data = match self.lane_tensor(var) {
            Some(tensor) => tensor.data,
            None if own.is_empty() => {
                let name = self.e.names.of("lanes");
                let ty = element_type(elem);
                self.line(&format!("{ty} {name}[{}] __attribute__((aligned(64)));", self.width));
                for u in 0..self.n_vectors {
                    let vector = self.vector(var, u)?;
                    let to = at_address(elem, &format!("{name} + {}", VECTOR * u));
                    self.line(&format!("{to} = {vector};"));
                }
                name
            }
            None => self.copied(var, "lanes")?.data,
        };
        let all = if own.is_empty() { "1".to_owned() } else { self.product(&own) };
        let (first, live, width) = (self.first.clone(), self.live.clone(), self.width);
        self.line(&format!(
            "eddy_rows_{}({all}, {live}, {width}, {data}, {rows} + {first} * {all});",
            word(elem)
        ));
        Some(())
    }

    /// Copies the rows at the index that inner loops read, so that these read lanes.
    pub(super) fn hoist_rows(&mut self, repeat: &Loop) -> Option<()> {
        let mut found = Vec::new();
        rows_inside(&repeat.body, self.index, false, &mut found);
        found.sort_unstable();
        found.dedup();
        for array in found {
            let Some(Repr::Tensor(_)) = self.e.reprs[array.index()].clone() else { continue };
            let tensor = self.e.tensor(array);
            if tensor.sizes.len() < 2 || !self.e.facts.is_in_range(self.index, &tensor.sizes[0]) {
                continue;
            }
            let sizes = tensor.sizes[1..].to_vec();
            let elem = self.ty(array).elem;
            let data = self.memory("rows", elem, &sizes)?;
            let all = self.product(&sizes);
            let Some(Lane::Scalar(index)) = self.values.get(&self.index).cloned() else { return None };
            let from = self.e.names.of("from");
            let width = self.width;
            self.line(&format!("int64_t {from}[{width}];"));
            for u in 0..self.n_vectors {
                self.line(&format!("EDDY_W({from} + {}) = {index}_{u} * EDDY_ALLW({all});", VECTOR * u));
            }
            let word = word(elem);
            self.line(&format!("eddy_columns_{word}({all}, {width}, {}, {from}, {data});", tensor.data));
            self.rows.insert(array, Tensor { data, sizes });
        }
        Some(())
    }
}

/// The tensors from outside that are read in inner loops at the index, with further selectors.
fn rows_inside(region: &Region, index: Var, is_inside: bool, found: &mut Vec<Var>) {
    for stmt in &region.stmts {
        match &stmt.kind {
            Kind::Index(array, at)
                if is_inside && matches!(at.first(), Some(At::Int(first)) if *first == index) =>
            {
                found.push(*array);
            }
            Kind::Loop(repeat) => {
                if !matches!(repeat.control, Control::While(_)) {
                    rows_inside(&repeat.body, index, true, found);
                }
            }
            kind => {
                for region in kind.regions() {
                    rows_inside(region, index, is_inside, found);
                }
            }
        }
    }
}

/// The suffix of the functions that move elements of a kind.
fn word(elem: Elem) -> &'static str {
    match elem {
        Elem::Num => "num",
        Elem::Bool => "bool",
        _ => "int",
    }
}
