//! Values that depend on the index: vectors of scalars, and tensors in lanes.

use eddy_body::{Elem, Type, Var};

use super::super::body::{Repr, Tensor, int_literal};
use super::{Lane, Lanes, VECTOR};

/// The type of a vector.
pub(super) fn vector_type(elem: Elem) -> &'static str {
    if elem == Elem::Num { "eddy_v" } else { "eddy_w" }
}

/// The type of an element in memory; truth values are masks.
pub(super) fn element_type(elem: Elem) -> &'static str {
    if elem == Elem::Num { "double" } else { "int64_t" }
}

/// The vector at an address.
pub(super) fn at_address(elem: Elem, address: &str) -> String {
    if elem == Elem::Num { format!("EDDY_V({address})") } else { format!("EDDY_W({address})") }
}

/// A vector with equal lanes.
fn spread(elem: Elem, text: &str) -> String {
    match elem {
        Elem::Num => format!("EDDY_ALLV({text})"),
        Elem::Bool => format!("EDDY_ALLW(-(int64_t)({text}))"),
        _ => format!("EDDY_ALLW({text})"),
    }
}

impl Lanes<'_, '_, '_> {
    pub(super) fn ty(&self, var: Var) -> Type {
        self.e.ty(var)
    }

    pub(super) fn line(&mut self, line: &str) {
        self.e.line(line);
    }

    /// A vector of a scalar; equal lanes if it does not depend on the index.
    pub(super) fn vector(&self, var: Var, u: usize) -> Option<String> {
        match self.values.get(&var) {
            Some(Lane::Scalar(name)) => Some(format!("{name}_{u}")),
            Some(Lane::Tensor(_) | Lane::Guarded(..)) => None,
            None if self.ty(var).rank > 0 => None,
            None => Some(spread(self.ty(var).elem, &self.e.scalar(var))),
        }
    }

    /// Defines a scalar by the text of each of its vectors.
    pub(super) fn define(&mut self, var: Var, texts: &[String]) {
        let name = self.e.name(var);
        let ty = vector_type(self.ty(var).elem);
        for (u, text) in texts.iter().enumerate() {
            self.line(&format!("const {ty} {name}_{u} = ({ty})({text});"));
        }
        self.values.insert(var, Lane::Scalar(name));
    }

    pub(super) fn each_vector(&self, text: impl Fn(usize) -> Option<String>) -> Option<Vec<String>> {
        (0..self.n_vectors).map(text).collect()
    }

    /// The tensor in lanes, if it depends on the index.
    pub(super) fn lane_tensor(&self, var: Var) -> Option<Tensor> {
        match self.lane(var) {
            Some(Lane::Tensor(tensor)) => Some(Tensor {
                data: tensor.data.clone(),
                sizes: tensor.sizes.iter().map(|size| self.e.facts.canonical(size)).collect(),
            }),
            _ => None,
        }
    }

    /// The value of a name that depends on the index, as the current statement may read it.
    pub(super) fn lane(&self, var: Var) -> Option<Lane> {
        match self.values.get(&var)?.clone() {
            Lane::Guarded(tensor, condition, branch) if self.taken.contains(&(condition, branch)) => {
                Some(Lane::Tensor(tensor))
            }
            lane => Some(lane),
        }
    }

    pub(super) fn sizes(&self, var: Var) -> Option<Vec<String>> {
        match self.lane(var) {
            Some(Lane::Guarded(..)) => None,
            Some(Lane::Tensor(tensor)) => {
                Some(tensor.sizes.iter().map(|size| self.e.facts.canonical(size)).collect())
            }
            Some(Lane::Scalar(_)) => Some(Vec::new()),
            None => match self.e.reprs[var.index()].as_ref()? {
                Repr::Scalar(_) => Some(Vec::new()),
                Repr::Tensor(_) => Some(self.e.sizes(var)),
            },
        }
    }

    /// The product of sizes, as an expression.
    pub(super) fn product(&self, sizes: &[String]) -> String {
        match self.e.facts.literal_elements(sizes) {
            Some(all) => int_literal(all),
            None => format!("({})", sizes.join(" * ")),
        }
    }

    /// The vector of an element of a tensor: in lanes, or with equal lanes; `k` is the element's index.
    pub(super) fn element(&self, var: Var, k: &str, u: usize) -> Option<String> {
        let elem = self.ty(var).elem;
        match self.lane(var) {
            Some(Lane::Guarded(..)) => None,
            Some(Lane::Tensor(tensor)) => Some(self.at(elem, &tensor.data, k, u)),
            Some(Lane::Scalar(_)) => self.vector(var, u),
            None => match self.e.reprs[var.index()].as_ref()? {
                Repr::Scalar(_) => self.vector(var, u),
                Repr::Tensor(tensor) => Some(spread(elem, &format!("{}[{k}]", tensor.data))),
            },
        }
    }

    /// The vector of element `k` of a tensor in lanes.
    pub(super) fn at(&self, elem: Elem, data: &str, k: &str, u: usize) -> String {
        at_address(elem, &format!("{data} + ({k}) * {} + {}", self.width, VECTOR * u))
    }

    /// Memory for the lanes of this many elements.
    pub(super) fn memory(&mut self, like: &str, elem: Elem, sizes: &[String]) -> Option<String> {
        let name = self.e.names.of(like);
        let ty = element_type(elem);
        let width = i64::try_from(self.width).ok()?;
        if let Some(all) = self.e.facts.literal_elements(sizes) {
            let bytes = all.max(1) * width * 8;
            if bytes <= self.local {
                self.local -= bytes;
                let n = all.max(1) * width;
                self.line(&format!("{ty} {name}[{n}] __attribute__((aligned(64)));"));
                return Some(name);
            }
        }
        let all = self.product(sizes);
        self.e.uses_low = true;
        self.line(&format!("{ty} *const {name} = eddy_low(a, (size_t)({all}) * {});", width * 8));
        self.e.fail(&format!("!{name}"), "EDDY_MEMORY");
        Some(name)
    }

    /// A new tensor whose elements have these vectors; `k` is the name of the element's index.
    pub(super) fn new_tensor(
        &mut self,
        var: Var,
        sizes: Vec<String>,
        vector: impl Fn(&Self, &str, usize) -> Option<String>,
    ) -> Option<()> {
        let elem = self.ty(var).elem;
        let like = self.e.body.name(var).to_owned();
        let data = self.memory(&like, elem, &sizes)?;
        self.fill(&data, elem, &sizes, vector)?;
        self.values.insert(var, Lane::Tensor(Tensor { data, sizes }));
        Some(())
    }

    /// Writes all elements of a tensor in lanes.
    pub(super) fn fill(
        &mut self,
        data: &str,
        elem: Elem,
        sizes: &[String],
        vector: impl Fn(&Self, &str, usize) -> Option<String>,
    ) -> Option<()> {
        let all = self.product(sizes);
        let k = self.e.names.of("k");
        self.e.text.open(&format!("for (int64_t {k} = 0; {k} < {all}; {k}++)"));
        let texts = self.each_vector(|u| vector(self, &k, u));
        for (u, text) in texts?.into_iter().enumerate() {
            let to = self.at(elem, data, &k, u);
            self.line(&format!("{to} = ({})({text});", vector_type(elem)));
        }
        self.e.text.close();
        Some(())
    }

    /// A copy in lanes of any tensor.
    pub(super) fn copied(&mut self, var: Var, like: &str) -> Option<Tensor> {
        let (elem, sizes) = (self.ty(var).elem, self.sizes(var)?);
        let data = self.memory(like, elem, &sizes)?;
        self.fill(&data, elem, &sizes, |lanes, k, u| lanes.element(var, k, u))?;
        Some(Tensor { data, sizes })
    }

    /// Lets a result share the memory of a tensor in lanes, or copies it if this memory is changed.
    pub(super) fn share(&mut self, var: Var, from: Tensor) -> Option<()> {
        if !self.e.aliases.is_changed(var) {
            self.values.insert(var, Lane::Tensor(from));
            return Some(());
        }
        let elem = self.ty(var).elem;
        let Tensor { data, sizes } = from;
        self.new_tensor(var, sizes, |lanes, k, u| Some(lanes.at(elem, &data, k, u)))
    }
}
