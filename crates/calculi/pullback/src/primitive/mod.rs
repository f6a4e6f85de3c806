//! The set F of primitives (section 2): builtin functions on reals, and those that a program declares
//! (section 3.4).
//!
//! A primitive is a list of scalar operations, operands before operators, so a subexpression that is used
//! twice is computed once. F is closed under `f ↦ f'` with `f'(⟨a,u⟩) = J(f)(a)(u)`:
//! [`Primitives::derivative`] builds the list of `f'` from that of `f`.
//!
//! Only [`calculus`] defines derivatives of operations. It is generic in the numbers: reals, nodes of a new
//! list, or cells on a tape.

pub mod calculus;

use rustc_hash::FxHashMap;

use crate::syntax::TermId;
use calculus::{Arithmetic, Binary, Unary};

eddy_index::id! {
    pub struct PrimId, "memory ends before 2^32 primitives";
}

/// One operation of a primitive; operands are the numbers of earlier operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Node {
    Param(u32),
    Constant(f64),
    Unary(Unary, u32),
    Binary(Binary, u32, u32),
}

/// A function `R^n → R^m`.
#[derive(Clone, Debug)]
pub struct Primitive {
    /// Its name; `f'` for a derivative.
    pub name: String,
    /// `n`.
    pub n_params: usize,
    pub nodes: Vec<Node>,
    /// The operations whose results are the components of the result; `m` of them.
    pub outputs: Vec<u32>,
    /// `f`, for `f'`.
    pub derivative_of: Option<PrimId>,
}

/// An operation outside its domain: its value or its derivative is not a finite number.
#[derive(Clone, Debug, PartialEq)]
pub struct Undefined {
    /// The operation, such as `log(0)`.
    pub what: String,
    /// The term of the program, if known.
    pub at: Option<TermId>,
}

impl Undefined {
    pub fn new(what: impl Into<String>) -> Self {
        Undefined { what: what.into(), at: None }
    }
}

impl Primitive {
    /// The value of the primitive at a point, for any kind of numbers.
    pub fn apply<A: Arithmetic>(&self, on: &mut A, point: &[A::Number]) -> Result<Vec<A::Number>, A::Error> {
        let values = self.forward(on, point)?;
        Ok(self.outputs.iter().map(|output| values[*output as usize]).collect())
    }

    fn forward<A: Arithmetic>(&self, on: &mut A, point: &[A::Number]) -> Result<Vec<A::Number>, A::Error> {
        let mut values: Vec<A::Number> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            values.push(match *node {
                Node::Param(i) => point[i as usize],
                Node::Constant(value) => on.constant(value),
                Node::Unary(op, a) => on.unary(op, values[a as usize])?,
                Node::Binary(op, a, b) => on.binary(op, values[a as usize], values[b as usize])?,
            });
        }
        Ok(values)
    }

    /// `J(f)(point)(direction)`, one sweep forward; `None` for a tangent that is certainly zero.
    pub fn tangent<A: Arithmetic>(
        &self,
        on: &mut A,
        point: &[A::Number],
        direction: &[Option<A::Number>],
    ) -> Result<Vec<Option<A::Number>>, A::Error> {
        let values = self.forward(on, point)?;
        let mut tangents: Vec<Option<A::Number>> = Vec::with_capacity(self.nodes.len());
        for (i, node) in self.nodes.iter().enumerate() {
            tangents.push(match *node {
                Node::Param(i) => direction[i as usize],
                Node::Constant(_) => None,
                Node::Unary(op, a) => match tangents[a as usize] {
                    None => None,
                    Some(da) => calculus::push_unary(on, op, values[a as usize], values[i], da)?,
                },
                Node::Binary(op, a, b) => {
                    let (da, db) = (tangents[a as usize], tangents[b as usize]);
                    let operands = [values[a as usize], values[b as usize]];
                    calculus::push_binary(on, op, operands, values[i], [da, db])?
                }
            });
        }
        Ok(self.outputs.iter().map(|output| tangents[*output as usize]).collect())
    }

    /// `J(f)(point)ᵀ(covector)`, one sweep forward and one backward; no matrix is built.
    pub fn cotangent<A: Arithmetic>(
        &self,
        on: &mut A,
        point: &[A::Number],
        covector: &[Option<A::Number>],
    ) -> Result<Vec<Option<A::Number>>, A::Error> {
        let values = self.forward(on, point)?;
        let mut adjoints: Vec<Option<A::Number>> = vec![None; self.nodes.len()];
        for (output, c) in self.outputs.iter().zip(covector) {
            calculus::accumulate(on, &mut adjoints[*output as usize], *c)?;
        }
        let mut result = vec![None; self.n_params];
        for (i, node) in self.nodes.iter().enumerate().rev() {
            let Some(adjoint) = adjoints[i] else { continue };
            match *node {
                Node::Param(i) => calculus::accumulate(on, &mut result[i as usize], Some(adjoint))?,
                Node::Constant(_) => {}
                Node::Unary(op, a) => {
                    let part = calculus::push_unary(on, op, values[a as usize], values[i], adjoint)?;
                    calculus::accumulate(on, &mut adjoints[a as usize], part)?;
                }
                Node::Binary(op, a, b) => {
                    let operands = [values[a as usize], values[b as usize]];
                    let parts = calculus::pull_binary(on, op, operands, values[i], adjoint)?;
                    calculus::accumulate(on, &mut adjoints[a as usize], parts[0])?;
                    calculus::accumulate(on, &mut adjoints[b as usize], parts[1])?;
                }
            }
        }
        Ok(result)
    }
}

/// The primitives of one program. The table grows: a derivative is added on first use.
#[derive(Clone, Debug, Default)]
pub struct Primitives {
    all: Vec<Primitive>,
    derivatives: FxHashMap<PrimId, PrimId>,
    powers: FxHashMap<u32, PrimId>,
    binaries: FxHashMap<Binary, PrimId>,
}

/// The builtin functions on reals, by their names.
pub const UNARY: [(&str, Unary); 11] = [
    ("neg", Unary::Neg),
    ("exp", Unary::Exp),
    ("log", Unary::Log),
    ("sin", Unary::Sin),
    ("cos", Unary::Cos),
    ("tan", Unary::Tan),
    ("tanh", Unary::Tanh),
    ("sqrt", Unary::Sqrt),
    ("sigmoid", Unary::Sigmoid),
    ("recip", Unary::Recip),
    ("pow2", Unary::Pow(2)),
];

/// The builtin functions on pairs of reals.
pub const BINARY: [(&str, Binary); 4] =
    [("add", Binary::Add), ("sub", Binary::Sub), ("mult", Binary::Mul), ("div", Binary::Div)];

impl Primitives {
    pub fn push(&mut self, primitive: Primitive) -> PrimId {
        self.all.push(primitive);
        PrimId::new(self.all.len() - 1)
    }

    pub fn get(&self, id: PrimId) -> &Primitive {
        &self.all[id.index()]
    }

    pub fn builtin(&mut self, name: &str) -> Option<PrimId> {
        if let Some((name, op)) = UNARY.iter().find(|(known, _)| *known == name) {
            return Some(self.push(unary(name, *op)));
        }
        let (_, op) = BINARY.iter().find(|(known, _)| *known == name)?;
        Some(self.binary(*op))
    }

    /// `add`, `sub`, `mult` or `div`.
    pub fn binary(&mut self, op: Binary) -> PrimId {
        if let Some(known) = self.binaries.get(&op) {
            return *known;
        }
        let (name, _) = BINARY.iter().find(|(_, known)| *known == op).expect("all of them are in the table");
        let nodes = vec![Node::Param(0), Node::Param(1), Node::Binary(op, 0, 1)];
        let id = self.push(Primitive {
            name: (*name).to_string(),
            n_params: 2,
            nodes,
            outputs: vec![2],
            derivative_of: None,
        });
        self.binaries.insert(op, id);
        id
    }

    /// `pow_k`, written `t^k`.
    pub fn power(&mut self, k: u32) -> PrimId {
        if let Some(known) = self.powers.get(&k) {
            return *known;
        }
        let id = self.push(unary(&format!("pow_{k}"), Unary::Pow(k)));
        self.powers.insert(k, id);
        id
    }

    /// `f'` of `f`. Its parameters are those of `f`, for the point, and the same again, for the direction.
    pub fn derivative(&mut self, id: PrimId) -> PrimId {
        if let Some(known) = self.derivatives.get(&id) {
            return *known;
        }
        let primitive = self.get(id).clone();
        let n = primitive.n_params;
        let mut list = List { nodes: Vec::new() };
        let mut params =
            |from: usize| (from..from + n).map(|i| list.push(Node::Param(index(i)))).collect::<Vec<_>>();
        let (point, direction) = (params(0), params(n));
        let direction: Vec<_> = direction.into_iter().map(Some).collect();
        let tangents = match primitive.tangent(&mut list, &point, &direction) {
            Ok(tangents) => tangents,
            Err(never) => match never {},
        };
        let outputs = tangents
            .into_iter()
            .map(|tangent| tangent.unwrap_or_else(|| list.push(Node::Constant(0.0))))
            .collect();
        let name = format!("{}'", primitive.name);
        let derivative_of = Some(id);
        let nodes = list.nodes;
        let derivative = self.push(Primitive { name, n_params: 2 * n, nodes, outputs, derivative_of });
        self.derivatives.insert(id, derivative);
        derivative
    }
}

fn unary(name: &str, op: Unary) -> Primitive {
    let nodes = vec![Node::Param(0), Node::Unary(op, 0)];
    Primitive { name: name.to_string(), n_params: 1, nodes, outputs: vec![1], derivative_of: None }
}

fn index(i: usize) -> u32 {
    u32::try_from(i).expect("memory ends before 2^32 operations")
}

/// Operations of an unfinished list as numbers.
struct List {
    nodes: Vec<Node>,
}

impl List {
    fn push(&mut self, node: Node) -> u32 {
        self.nodes.push(node);
        index(self.nodes.len() - 1)
    }
}

impl Arithmetic for List {
    type Number = u32;
    type Error = std::convert::Infallible;

    fn constant(&mut self, value: f64) -> u32 {
        self.push(Node::Constant(value))
    }

    fn unary(&mut self, op: Unary, a: u32) -> Result<u32, Self::Error> {
        Ok(self.push(Node::Unary(op, a)))
    }

    fn binary(&mut self, op: Binary, a: u32, b: u32) -> Result<u32, Self::Error> {
        Ok(self.push(Node::Binary(op, a, b)))
    }
}
