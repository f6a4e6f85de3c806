//! Generated arguments, for checks of derivatives.
//!
//! Numbers are random and away from zero, where many functions have a kink. Size variables and int parameters
//! are small, so that they can be sizes and indices: the first size variable is the largest, as in `fn
//! conv[n, k](x: num [n], w: num [k])`. A parameter without a written type is a num tensor of a given shape,
//! by default a single num.

use eddy_body::ir::Elem;
use eddy_tensor::init::SplitMix64;
use eddy_tensor::{Data, Shape, Value};

use super::datum::Datum;
use super::entry::Entry;
use super::lowering::Lowering;
use super::written::{Dim, Written};
use crate::names::Name;
use crate::program::Program;
use crate::tree::{BinaryOp, ExprId, ExprKind};

/// Selects the arguments to generate.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    pub seed: u64,
    /// The number of choices that were tried before.
    pub attempt: u64,
    /// Whether all numbers are positive, for functions that are undefined for negative numbers.
    pub only_positive: bool,
}

impl Entry {
    /// Generates arguments for the parameters of the declared function, or returns why it cannot. `shapes`
    /// are those of parameters without a written type.
    pub fn made_up(
        &self,
        program: &Program,
        shapes: &[(String, Shape)],
        choice: Choice,
    ) -> Result<Vec<(String, Datum)>, String> {
        let (module, tree) = program.function(self.function());
        let names = &program.modules[module].names;
        let lowering = Lowering::new(program);
        let mut ints: Vec<(Name, i64)> = Vec::new();
        for (at, size) in tree.sizes.iter().enumerate() {
            let size_at =
                if choice.attempt.is_multiple_of(2) { 4 - i64::try_from(at.min(2)).unwrap_or(2) } else { 3 };
            ints.push((size.name, size_at));
        }
        let mut written = Vec::new();
        for param in &tree.params {
            let ty = match param.annotation {
                Some(ty) => Some(lowering.written(module, ty, &[], &mut Vec::new()).map_err(|e| e.title)?),
                None => None,
            };
            if let Some(Written::Tensor(Elem::Int, dims)) = &ty
                && dims.is_empty()
            {
                let mut random = random(names.text(param.ident.name), choice);
                ints.push((param.ident.name, 1 + i64::try_from(random.bits() % 3).unwrap_or(0)));
            }
            written.push((param.ident.name, ty));
        }
        let maker = Maker { program, module, ints: &ints, cases: &lowering.module.enums, choice };
        let mut arguments = Vec::new();
        for (name, ty) in &written {
            let text = names.text(*name).to_string();
            let int = ints.iter().find(|(other, _)| other == name).map(|(_, n)| *n);
            let datum = match (ty, int) {
                (Some(Written::Tensor(Elem::Int, dims)), Some(n)) if dims.is_empty() => Datum::Int(n),
                (Some(ty), _) => maker.datum(ty, &mut random(&text, choice))?,
                (None, _) => {
                    let shape = shapes.iter().find(|(other, _)| *other == text).map(|(_, shape)| shape);
                    let shape = shape.cloned().unwrap_or_else(Shape::scalar);
                    maker.tensor(Elem::Num, &shape, &mut random(&text, choice))?
                }
            };
            arguments.push((text, datum));
        }
        Ok(arguments)
    }
}

fn random(name: &str, choice: Choice) -> SplitMix64 {
    SplitMix64::new(&format!("argument {name} {}", choice.attempt), choice.seed)
}

struct Maker<'a> {
    program: &'a Program,
    module: usize,
    ints: &'a [(Name, i64)],
    cases: &'a [eddy_body::ir::Enumeration],
    choice: Choice,
}

impl Maker<'_> {
    /// A random value of a written type, which is nested only as deep as the parser allows.
    fn datum(&self, ty: &Written, random: &mut SplitMix64) -> Result<Datum, String> {
        Ok(match ty {
            Written::Tensor(elem, dims) => {
                let mut sizes = Vec::new();
                for dim in dims {
                    let size = self.size(dim)?;
                    sizes.push(usize::try_from(size).map_err(|_| format!("a size would be {size}"))?);
                }
                self.tensor(*elem, &Shape::from(sizes), random)?
            }
            Written::Tuple(parts) => {
                Datum::List(parts.iter().map(|part| self.datum(part, random)).collect::<Result<_, _>>()?)
            }
            Written::Record(fields) => {
                let mut data = Vec::new();
                for (label, ty) in fields {
                    data.push((label.clone(), self.datum(ty, random)?));
                }
                Datum::Record(data)
            }
            Written::Function => return Err("a function cannot be made up".to_string()),
        })
    }

    fn tensor(&self, elem: Elem, shape: &Shape, random: &mut SplitMix64) -> Result<Datum, String> {
        let n = shape.n_elements().map_err(|error| error.to_string())?;
        if let Elem::Enum(id) = elem {
            let cases = &self.cases[id.index()].cases;
            let case = |random: &mut SplitMix64| {
                let at = random.bits() % (cases.len() as u64).max(1);
                Datum::Text(cases.get(usize::try_from(at).unwrap_or(0)).cloned().unwrap_or_default())
            };
            let mut rows: Vec<Datum> = (0..n).map(|_| case(random)).collect();
            for size in shape.iter().rev() {
                rows = rows.chunks((*size).max(1)).map(|row| Datum::List(row.to_vec())).collect();
            }
            return Ok(if rows.len() == 1 { rows.remove(0) } else { Datum::List(rows) });
        }
        let data = match elem {
            Elem::Bool => Data::Bool((0..n).map(|_| random.bits().is_multiple_of(2)).collect()),
            Elem::Num => Data::Num((0..n).map(|_| self.number(random)).collect()),
            _ => Data::Int((0..n).map(|_| i64::try_from(random.bits() % 2).unwrap_or(0)).collect()),
        };
        Ok(Datum::Tensor(Value::new(shape.clone(), data).map_err(|error| error.to_string())?))
    }

    fn number(&self, random: &mut SplitMix64) -> f64 {
        let size = 0.2 + random.uniform();
        if random.bits().is_multiple_of(2) || self.choice.only_positive { size } else { -size }
    }

    fn size(&self, dim: &Dim) -> Result<i64, String> {
        match dim {
            Dim::Open => Ok(2),
            Dim::Expr { module, expr, sizes } => self.int(*module, *expr, sizes),
        }
    }

    /// The value of a written size, which is nested only as deep as the parser allows.
    fn int(&self, module: usize, expr: ExprId, sizes: &[(Name, Dim)]) -> Result<i64, String> {
        let file = &self.program.modules[module];
        match file.tree.exprs.kind(expr) {
            ExprKind::Number(number) => file.names.text(number.text).parse().map_err(|_| no_size("a number")),
            ExprKind::Group(inner) => self.int(module, inner, sizes),
            ExprKind::Variable(name) => {
                if let Some((_, dim)) = sizes.iter().find(|(other, _)| *other == name) {
                    return self.size(dim);
                }
                let own = self.ints.iter().find(|(other, _)| module == self.module && *other == name);
                own.map(|(_, n)| *n).ok_or_else(|| no_size(file.names.text(name)))
            }
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.int(module, left, sizes)?, self.int(module, right, sizes)?);
                let found = match op {
                    BinaryOp::Add => left.checked_add(right),
                    BinaryOp::Sub => left.checked_sub(right),
                    BinaryOp::Mul => left.checked_mul(right),
                    _ => None,
                };
                found.ok_or_else(|| no_size("an operator"))
            }
            _ => Err(no_size("an expression")),
        }
    }
}

fn no_size(what: &str) -> String {
    format!("a written size depends on `{what}`")
}
