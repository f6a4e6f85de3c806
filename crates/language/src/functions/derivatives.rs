//! Derivatives as expressions: `grad`, `vjp`, `jvp`, `jacobian`, `hessian`, `adj_f`, `tan_f` (functions.md,
//! section 5).
//!
//! An operator becomes a call that is marked `adj` or `tan`. The captured values of a function value become
//! further parameters of the body: their cotangents are not used, their tangents are zero.

use eddy_body::ir::{BodyId, Elem, Kind, Literal, Mode, Var};
use eddy_syntax::Span;
use eddy_tensor::Op;

use super::activation::DeferredCall;
use super::errors::{Refused, arity, function, function_value, shape_error, type_error};
use super::instances::{Instance, Ready};
use super::lowering::{Lowering, Task};
use super::sizes::Form as Size;
use super::value::{Code, FnValue, Leaf, Val};
use crate::names::Name;
use crate::tree::{ExprKind, Form};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Grad,
    ValueAndGrad,
    Vjp,
    Jvp,
    Jacobian,
    JacobianForward,
    JacobianReverse,
    Hessian,
}

impl Operator {
    const ALL: [Operator; 8] = [
        Operator::Grad,
        Operator::ValueAndGrad,
        Operator::Vjp,
        Operator::Jvp,
        Operator::Jacobian,
        Operator::JacobianForward,
        Operator::JacobianReverse,
        Operator::Hessian,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Operator::Grad => "grad",
            Operator::ValueAndGrad => "value_and_grad",
            Operator::Vjp => "vjp",
            Operator::Jvp => "jvp",
            Operator::Jacobian => "jacobian",
            Operator::JacobianForward => "jacobian_forward",
            Operator::JacobianReverse => "jacobian_reverse",
            Operator::Hessian => "hessian",
        }
    }

    pub fn named(name: &str) -> Option<Operator> {
        Operator::ALL.into_iter().find(|operator| operator.name() == name)
    }

    pub fn n_operands(self) -> usize {
        if matches!(self, Operator::Vjp | Operator::Jvp) { 3 } else { 2 }
    }
}

/// A function at a point, ready to be differentiated.
pub struct Site {
    pub f: FnValue,
    pub args: Vec<Val>,
    pub id: BodyId,
    /// The result of the function; each call renames its variables, which have no definition.
    pub result: Val,
    pub span: Span,
}

impl Lowering<'_> {
    pub fn derive(&mut self, operator: Operator, span: Span) -> Result<(), Refused> {
        let n = operator.n_operands();
        let operands = self.operands[self.operands.len() - n..].to_vec();
        let n_below = self.operands.len() - n;
        let Val::Function(f) = operands[0].clone() else {
            return Err(type_error(span, format!("'{}' needs a function, then a point", operator.name())));
        };
        if operands[1..].iter().any(Val::is_unknown) {
            self.here().is_provisional = true;
            self.operands.truncate(n_below);
            self.push(Val::Unknown);
            return Ok(());
        }
        let f = match operator {
            // A Hessian is the Jacobian of the gradient.
            Operator::Hessian => {
                FnValue { code: Code::Gradient, captured: vec![(Name::new(0), operands[0].clone())] }
            }
            _ => f,
        };
        let args = self.point(&f, operands[1].clone(), span)?;
        let n_tasks = self.tasks.len();
        match self.instance(&f, &args, span)? {
            Ready::Started => {
                self.tasks.insert(n_tasks, Task::Derive { operator, span });
                Ok(())
            }
            Ready::Unknown => {
                self.operands.truncate(n_below);
                self.push(Val::Unknown);
                Ok(())
            }
            Ready::Instance(instance) => {
                if self.decide_point(&instance, &f, &args, span)? {
                    // The operator is lowered again, with the instance at these kinds.
                    self.tasks.push(Task::Derive { operator, span });
                    return Ok(());
                }
                if !args.iter().any(|arg| self.has_num(arg)) {
                    let name = operator.name();
                    let text = format!("there is nothing to differentiate: the point of '{name}' has no num");
                    return Err(function(span, text));
                }
                self.operands.truncate(n_below);
                let site = self.site(&instance, f, args, span)?;
                let derived = match operator {
                    Operator::Grad | Operator::ValueAndGrad => self.gradient(&site, operator)?,
                    Operator::Vjp => self.vjp(&site, &operands[2])?,
                    Operator::Jvp => self.jvp(&site, &operands[2])?,
                    Operator::JacobianForward => self.jacobian_forward(&site),
                    Operator::Jacobian | Operator::JacobianReverse | Operator::Hessian => {
                        self.jacobian_reverse(&site)
                    }
                };
                self.push(derived);
                Ok(())
            }
        }
    }

    /// Splits the point into the arguments of a function.
    fn point(&self, f: &FnValue, point: Val, span: Span) -> Result<Vec<Val>, Refused> {
        if let Val::Function(_) = point {
            return Err(function_value(span, "the point of a derivative"));
        }
        let n_params = self.n_params(f, &point);
        if n_params == 1 {
            return Ok(vec![point]);
        }
        match point {
            Val::Tuple(parts) if parts.len() == n_params => Ok(parts),
            _ => {
                let text =
                    format!("the point of a function of {n_params} parameters is a tuple of {n_params}");
                Err(type_error(span, text))
            }
        }
    }

    /// Gives the literals in a point the kinds that the function needs; the others become nums. Returns
    /// whether the point has such literals.
    fn decide_point(
        &mut self,
        instance: &Instance,
        f: &FnValue,
        args: &[Val],
        span: Span,
    ) -> Result<bool, Refused> {
        let kinds = &self.here().kinds;
        let open: Vec<Leaf> = args
            .iter()
            .flat_map(Val::leaves)
            .filter(|leaf| kinds.get(leaf.kind).is_none())
            .cloned()
            .collect();
        if open.is_empty() {
            return Ok(false);
        }
        self.unify_classes(instance, f, args, span)?;
        for leaf in open {
            if self.here().kinds.get(leaf.kind).is_none() {
                self.demand(&leaf, Elem::Num, span)?;
            }
        }
        Ok(true)
    }

    pub fn is_num(&self, leaf: &Leaf) -> bool {
        let here = self.activations.last().expect("a function is being lowered");
        here.kinds.get(leaf.kind) == Some(Elem::Num)
    }

    /// The number of parameters of a function value.
    pub fn n_params(&self, f: &FnValue, point: &Val) -> usize {
        match &f.code {
            Code::Declared(id, modes) => {
                let n = self.program.function(*id).1.params.len();
                // Each mode adds parameters; the point has one part for each parameter.
                match (modes.is_empty(), point) {
                    (true, _) => n,
                    (false, Val::Tuple(parts)) => parts.len(),
                    (false, _) => 1,
                }
            }
            Code::Builtin(name) => match eddy_tensor::builtin(name).map(eddy_tensor::Builtin::arity) {
                Some(eddy_tensor::Arity::Exactly(n)) => n,
                _ => 1,
            },
            Code::Local { module, expr } => {
                let exprs = &self.program.modules[*module].tree.exprs;
                match exprs.kind(*expr) {
                    ExprKind::Form(form, _) => match exprs.form(form) {
                        Form::Lambda { params } => params.len(),
                        Form::LetFunction { params, .. } => params.len(),
                        _ => 1,
                    },
                    _ => 1,
                }
            }
            Code::Item { .. } => unreachable!("an item is no function value"),
            Code::Gradient => match &f.captured[0].1 {
                Val::Function(inner) => self.n_params(inner, point),
                _ => 1,
            },
            Code::Outside => unreachable!("a call from outside is no function value"),
        }
    }

    pub fn site(
        &mut self,
        instance: &Instance,
        f: FnValue,
        args: Vec<Val>,
        span: Span,
    ) -> Result<Site, Refused> {
        let mut open = Vec::new();
        let kinds = &self.activations.last().expect("a function is being lowered").kinds;
        f.key(kinds, &mut open);
        for arg in &args {
            arg.ty(kinds, &mut open);
        }
        let is_closed = open.is_empty();
        let sizes = self.size_map(instance, &f, &args, span)?;
        let result = self.returned(instance, &open, &sizes);
        let id = if is_closed {
            instance.id
        } else {
            let placeholder = BodyId::new(u32::MAX as usize - self.here().deferred.len());
            let call = DeferredCall { placeholder, function: Val::Function(f.clone()), args: args.clone() };
            self.here().deferred.push(call);
            placeholder
        };
        let has_num = result.leaves().iter().any(|leaf| self.is_num(leaf));
        if !has_num {
            let text = "there is nothing to differentiate: the result of the function has no num";
            return Err(function(span, text));
        }
        Ok(Site { f, args, id, result, span })
    }

    /// Calls the adjoint with a cotangent for each num of the result. Returns the result, and the cotangents
    /// of the arguments.
    pub fn adjoint(&mut self, site: &Site, cotangents: Vec<Var>) -> (Val, Vec<Val>) {
        let mut operands = operands(site);
        operands.extend(cotangents);
        let here = self.here();
        let value = site.result.map(&mut |leaf| here.renamed(leaf));
        let mut results = value.vars();
        let mut tangents = Vec::new();
        for arg in &site.args {
            let tangent = self.tangent(arg);
            results.extend(tangent.vars());
            tangents.push(tangent);
        }
        for (_, val) in &site.f.captured {
            let unused = self.tangent(val);
            results.extend(unused.vars());
        }
        self.here().emit(results, Kind::Call(Mode::Adj, site.id, operands), site.span);
        (value, tangents)
    }

    /// New names in the structure of a tangent: `()` for parts that are not nums.
    pub fn tangent(&mut self, val: &Val) -> Val {
        match val {
            Val::Leaf(leaf) if self.is_num(leaf) => {
                let leaf = self.here().renamed(leaf);
                Val::Leaf(leaf)
            }
            Val::Leaf(_) | Val::Unknown => Val::unit(),
            Val::Tuple(parts) => Val::Tuple(parts.iter().map(|part| self.tangent(part)).collect()),
            Val::Record(fields) => {
                Val::Record(fields.iter().map(|(label, val)| (label.clone(), self.tangent(val))).collect())
            }
            Val::Function(function) => {
                Val::Tuple(function.captured.iter().map(|(_, val)| self.tangent(val)).collect())
            }
        }
    }

    /// The tangents of several arguments as the tangent of a point.
    pub fn of_point(tangents: Vec<Val>) -> Val {
        let mut tangents = tangents;
        if tangents.len() == 1 { tangents.remove(0) } else { Val::Tuple(tangents) }
    }

    pub fn gradient(&mut self, site: &Site, operator: Operator) -> Result<Val, Refused> {
        let is_single = matches!(&site.result, Val::Leaf(leaf) if leaf.rank() == 0 && self.is_num(leaf));
        if !is_single {
            let found = self.show_value(&site.result);
            let text =
                format!("'{}' needs a function whose result is a single num, not {found}", operator.name());
            return Err(shape_error(site.span, text));
        }
        let one = self.here().literal(Literal::num(1.0), site.span);
        let (value, tangents) = self.adjoint(site, vec![one]);
        let gradient = Self::of_point(tangents);
        Ok(if operator == Operator::Grad { gradient } else { Val::Tuple(vec![value, gradient]) })
    }

    pub fn vjp(&mut self, site: &Site, direction: &Val) -> Result<Val, Refused> {
        let cotangents = self.direction(&site.result, direction, site.span)?;
        let (value, tangents) = self.adjoint(site, cotangents);
        Ok(Val::Tuple(vec![value, Self::of_point(tangents)]))
    }

    pub fn jvp(&mut self, site: &Site, direction: &Val) -> Result<Val, Refused> {
        let point = if site.args.len() == 1 { site.args[0].clone() } else { Val::Tuple(site.args.clone()) };
        let tangents = self.direction(&point, direction, site.span)?;
        let (value, tangent) = self.forward(site, tangents);
        Ok(Val::Tuple(vec![value, tangent]))
    }

    /// Calls the tangent with a tangent for each num of the arguments.
    pub fn forward(&mut self, site: &Site, tangents: Vec<Var>) -> (Val, Val) {
        let mut operands = operands(site);
        operands.extend(tangents);
        for (_, val) in &site.f.captured {
            operands.extend(self.zeros_of(val, site.span));
        }
        let here = self.here();
        let value = site.result.map(&mut |leaf| here.renamed(leaf));
        let tangent = self.tangent(&site.result);
        let mut results = value.vars();
        results.extend(tangent.vars());
        self.here().emit(results, Kind::Call(Mode::Tan, site.id, operands), site.span);
        (value, tangent)
    }

    /// Zeros as the tangent of each num in a constant value.
    fn zeros_of(&mut self, val: &Val, span: Span) -> Vec<Var> {
        let nums: Vec<Var> =
            val.leaves().into_iter().filter(|leaf| self.is_num(leaf)).map(|leaf| leaf.var).collect();
        nums.into_iter().map(|var| self.here().table(Op::ZerosLike, vec![var], span)).collect()
    }

    /// The nums of a direction, in order, if it has the structure of the tangent of `val`.
    pub fn direction(&mut self, val: &Val, direction: &Val, span: Span) -> Result<Vec<Var>, Refused> {
        match (val, direction) {
            (Val::Leaf(leaf), given) if !self.is_num(leaf) => match given {
                Val::Tuple(parts) if parts.is_empty() => Ok(Vec::new()),
                _ => Err(type_error(span, "the direction of a part that is no num is `()`")),
            },
            (Val::Leaf(leaf), Val::Leaf(given)) => {
                self.demand(given, Elem::Num, span)?;
                if given.rank() != leaf.rank() {
                    let text =
                        format!("a direction has {} axes where {} are required", given.rank(), leaf.rank());
                    return Err(shape_error(span, text));
                }
                for (needed, found) in leaf.sizes.iter().zip(&given.sizes) {
                    if let (Some(needed), Some(found)) = (needed, found)
                        && needed.certainly_differs(found)
                    {
                        return Err(shape_error(
                            span,
                            "a direction does not have the size of the value that it belongs to",
                        ));
                    }
                }
                Ok(vec![given.var])
            }
            (Val::Tuple(parts), Val::Tuple(given)) if parts.len() == given.len() => {
                let vars = parts.iter().zip(given).map(|(part, given)| self.direction(part, given, span));
                Ok(vars.collect::<Result<Vec<_>, _>>()?.concat())
            }
            (Val::Record(fields), Val::Record(given))
                if fields.len() == given.len() && fields.iter().zip(given).all(|(a, b)| a.0 == b.0) =>
            {
                let both = fields.iter().zip(given);
                let vars = both.map(|((_, val), (_, given))| self.direction(val, given, span));
                Ok(vars.collect::<Result<Vec<_>, _>>()?.concat())
            }
            _ => Err(type_error(span, "a direction has the structure of a tangent")),
        }
    }

    /// Describes a value, with the sizes that are known.
    pub fn show_value(&self, val: &Val) -> String {
        let here = self.activations.last().expect("a function is being lowered");
        match val {
            Val::Leaf(leaf) => {
                let elem = here.kinds.get(leaf.kind).unwrap_or(Elem::Int);
                if leaf.rank() == 0 {
                    return self.kind_name(elem);
                }
                let size = |size: &Option<Size>| match size.as_ref().and_then(Size::as_constant) {
                    Some(n) => n.to_string(),
                    None => "_".to_string(),
                };
                let sizes: Vec<String> = leaf.sizes.iter().map(size).collect();
                format!("{} [{}]", self.kind_name(elem), sizes.join(", "))
            }
            other => other.ty(&here.kinds, &mut Vec::new()).show(&|elem| self.kind_name(elem)),
        }
    }

    /// Emits the body of `adj_f` or `tan_f`: one call of the derivative.
    pub fn wrapped_derivative(&mut self, inner: FnValue, mode: Mode, span: Span) -> Result<(), Refused> {
        let mut args = self.here().params.clone();
        let n = self.n_before_directions(&inner, mode, args.len(), span)?;
        let directions = args.split_off(n);
        let n_tasks = self.tasks.len();
        match self.instance(&inner, &args, span)? {
            Ready::Started => {
                let task = super::entering::ParamTask::Derivative(inner, mode, span);
                self.tasks.insert(n_tasks, Task::Param(task));
                Ok(())
            }
            Ready::Unknown => {
                self.push(Val::Unknown);
                Ok(())
            }
            Ready::Instance(instance) => {
                if self.decide_point(&instance, &inner, &args, span)? {
                    let task = super::entering::ParamTask::Derivative(inner, mode, span);
                    self.tasks.push(Task::Param(task));
                    return Ok(());
                }
                let n_tangents = args.iter().filter(|arg| self.has_num(arg)).count();
                if mode == Mode::Tan && n_tangents != directions.len() {
                    let (expected, found) = (args.len() + n_tangents, args.len() + directions.len());
                    return Err(arity(span, &self.derivative_name(&inner, mode), expected, found));
                }
                let site = self.site(&instance, inner, args, span)?;
                let result = match mode {
                    Mode::Adj => {
                        let direction = directions.first().cloned().unwrap_or_else(Val::unit);
                        let cotangents = self.direction(&site.result, &direction, span)?;
                        let (value, tangents) = self.adjoint(&site, cotangents);
                        let mut parts = vec![value];
                        let cotangents = site.args.iter().zip(tangents);
                        let cotangents = cotangents.filter(|(arg, _)| self.has_num(arg));
                        parts.extend(cotangents.map(|(_, cotangent)| cotangent));
                        Val::Tuple(parts)
                    }
                    _ => {
                        let mut given = directions.into_iter();
                        let mut tangents = Vec::new();
                        for arg in &site.args {
                            if self.has_num(arg) {
                                let direction = given.next().unwrap_or_else(Val::unit);
                                tangents.extend(self.direction(arg, &direction, span)?);
                            } else {
                                tangents.extend(self.zeros_of(arg, span));
                            }
                        }
                        let (value, tangent) = self.forward(&site, tangents);
                        Val::Tuple(vec![value, tangent])
                    }
                };
                self.push(result);
                Ok(())
            }
        }
    }

    /// Whether an argument has a cotangent; a function value has none.
    fn has_num(&self, val: &Val) -> bool {
        !matches!(val, Val::Function(_)) && val.leaves().iter().any(|leaf| self.is_num(leaf))
    }

    /// The number of parameters of `f` among the `n_found` parameters of `adj_f` or `tan_f`; `f` may itself
    /// be a derivative. `n_found` determines how many parameters contain nums.
    fn n_before_directions(
        &self,
        inner: &FnValue,
        mode: Mode,
        n_found: usize,
        span: Span,
    ) -> Result<usize, Refused> {
        let Code::Declared(id, modes) = &inner.code else {
            unreachable!("only a declared function has derivatives with names")
        };
        let n_params = self.program.function(*id).1.params.len();
        let after = |modes: &[Mode], with_num: usize| {
            modes.iter().fold((n_params, with_num), |(n, with_num), mode| match mode {
                Mode::Adj => (n + 1, with_num + 1),
                _ => (n + with_num, 2 * with_num),
            })
        };
        let all = [&modes[..], &[mode]].concat();
        match (0..=n_params).find(|with_num| after(&all, *with_num).0 == n_found) {
            Some(with_num) => Ok(after(modes, with_num).0),
            None => {
                let name = self.derivative_name(inner, mode);
                Err(arity(span, &name, after(&all, n_params).0, n_found))
            }
        }
    }

    /// `adj_f`, `tan_f`, and so on.
    fn derivative_name(&self, inner: &FnValue, mode: Mode) -> String {
        let modes = match &inner.code {
            Code::Declared(_, modes) => modes.clone(),
            _ => Vec::new(),
        };
        let prefix = |mode: Mode| if mode == Mode::Adj { "adj_" } else { "tan_" };
        let prefixes: String = std::iter::once(mode).chain(modes.into_iter().rev()).map(prefix).collect();
        prefixes + &self.callee_name(inner)
    }
}

pub fn operands(site: &Site) -> Vec<Var> {
    let captured = site.f.captured.iter().map(|(_, val)| val);
    site.args.iter().chain(captured).flat_map(Val::vars).collect()
}
