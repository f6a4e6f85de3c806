//! The invariants of a module, and the types of its names.
//!
//! * Every name is defined once and before its use; a region sees the names around it.
//! * Types and ranks fit; sizes are `int` operands; what a loop yields fits its states.
//! * A tensor that is given to `update`, to `increase` or to an accumulator is not used again, so that it can
//!   be changed in place. It is no parameter, no constant, and not defined outside of the loop that changes
//!   it: [`own`](crate::own) inserts copies.
//! * An accumulator is only added to inside of its loop, or passed on as an `acc` argument, and is a value
//!   after the loop. Conditions of `while` add to nothing.
//! * Custom derivatives have the interface of the synthesised ones.
//! * A final module has no `adj` or `tan` marks ([`verify_final`]).

use std::error::Error;
use std::fmt;

use eddy_syntax::Span;

use crate::ir::{At, Body, BodyId, Control, Elem, Kind, Loop, Mode, Module, Region, Stmt, Type, Var};
use crate::parse::MAX_DEPTH;

/// Why a module is not well formed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// The body.
    pub body: String,
    /// The statement, described by its results or its operation.
    pub place: String,
    /// The source of the statement.
    pub span: Span,
    /// The message.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "body `{}`, {}: {}", self.body, self.place, self.message)
    }
}

impl Error for VerifyError {}

/// The types of the names of each body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Types(Vec<Vec<Type>>);

impl Types {
    /// The types of the names of a body, by [`Var`].
    pub fn of(&self, body: BodyId) -> &[Type] {
        &self.0[body.index()]
    }
}

/// Whether a module is well formed, and the types of its names.
pub fn verify(module: &Module) -> Result<Types, VerifyError> {
    for (at, body) in module.bodies.iter().enumerate() {
        if module.bodies[..at].iter().any(|other| other.name == body.name) {
            return Err(error(body, "the name".to_owned(), Span::default(), "is there twice".to_owned()));
        }
    }
    let types = module.bodies.iter().map(|body| Checker::new(module, body).body());
    let types = Types(types.collect::<Result<_, _>>()?);
    for custom in &module.customs {
        let (of, derivative) = (module.body(custom.of), module.body(custom.derivative));
        let (params, results) = interface(of, custom.mode);
        let found: Vec<Type> = derivative.params.iter().map(|param| param.ty).collect();
        let has_acc = of.params.iter().chain(&derivative.params).any(|param| param.is_acc);
        if found != params || derivative.results != results || has_acc {
            let message = format!("is no custom derivative of `{}`: its interface differs", of.name);
            return Err(error(derivative, "the interface".to_owned(), Span::default(), message));
        }
    }
    Ok(types)
}

/// The types of the names of one body, if it is well formed.
pub(crate) fn types_of(module: &Module, body: &Body) -> Result<Vec<Type>, VerifyError> {
    Checker::new(module, body).body()
}

/// [`verify`], and no marks are left.
pub fn verify_final(module: &Module) -> Result<Types, VerifyError> {
    let types = verify(module)?;
    for body in &module.bodies {
        let mut regions = vec![&body.region];
        while let Some(region) = regions.pop() {
            for stmt in &region.stmts {
                if let Kind::Call(Mode::Adj | Mode::Tan, ..) = stmt.kind {
                    let message = "a final body has no derivative marks".to_owned();
                    return Err(error(body, place(body, stmt), stmt.span, message));
                }
                regions.extend(stmt.kind.regions());
            }
        }
    }
    Ok(types)
}

/// The types of parameters and results of a body, or of a derivative of it.
pub fn interface(body: &Body, mode: Mode) -> (Vec<Type>, Vec<Type>) {
    let params: Vec<Type> = body.params.iter().map(|param| param.ty).collect();
    let nums = |types: &[Type]| types.iter().copied().filter(|ty| ty.is_num()).collect::<Vec<_>>();
    let (param_nums, result_nums) = (nums(&params), nums(&body.results));
    match mode {
        Mode::Plain => (params, body.results.clone()),
        Mode::Adj => ([params, result_nums].concat(), [body.results.clone(), param_nums].concat()),
        Mode::Tan => ([params, param_nums].concat(), [body.results.clone(), result_nums].concat()),
    }
}

/// The type of the elements that selectors choose from a tensor, or the error in the selectors.
pub(crate) fn selected(array: Type, at: &[At], type_of: impl Fn(Var) -> Type) -> Result<Type, String> {
    if at.len() > array.rank {
        return Err(format!("{} selectors for {} axes", at.len(), array.rank));
    }
    let mut rank = array.rank - at.len();
    for at in at {
        if at.vars().any(|var| type_of(var).elem != Elem::Int) {
            return Err("an index must be an int".to_owned());
        }
        rank += match *at {
            At::Int(index) => type_of(index).rank,
            At::Range(lo, hi) if type_of(lo).rank > 0 || type_of(hi).rank > 0 => {
                return Err("a bound must be a scalar".to_owned());
            }
            At::Range(..) | At::All => 1,
        };
    }
    Ok(Type { rank, ..array })
}

fn error(body: &Body, place: String, span: Span, message: String) -> VerifyError {
    VerifyError { body: body.name.clone(), place, span, message }
}

fn place(body: &Body, stmt: &Stmt) -> String {
    match (stmt.results.first(), &stmt.kind) {
        (Some(var), _) => format!("`{}`", body.name(*var)),
        (None, Kind::Op(operation, _)) => format!("`{}`", operation.word().map_or("?", |(word, _)| word)),
        (None, Kind::Add(acc, ..)) => format!("`add {}`", body.name(*acc)),
        _ => "a statement without results".to_owned(),
    }
}

/// The state of a name during the check.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Name {
    Undefined,
    /// A value, defined inside of `loops` loops; it may be changed in place if it is `owned`.
    Value {
        ty: Type,
        loops: usize,
        owned: bool,
    },
    Acc(Type),
    /// Its region has ended.
    Hidden,
    /// It was changed in place, and must not be read.
    Consumed,
}

struct Checker<'a> {
    module: &'a Module,
    body: &'a Body,
    names: Vec<Name>,
    types: Vec<Type>,
    /// The visible names, in the order of their definitions; the end of a region removes its names.
    visible: Vec<Var>,
    /// Names that were consumed, in order.
    consumed: Vec<Var>,
    loops: usize,
    depth: usize,
    /// Inside of the condition of a `while`.
    in_condition: bool,
}

impl<'a> Checker<'a> {
    fn new(module: &'a Module, body: &'a Body) -> Checker<'a> {
        let n = body.names.len();
        Checker {
            module,
            body,
            names: vec![Name::Undefined; n],
            // Undefined names have no type; this placeholder is never read.
            types: vec![Type::scalar(Elem::Bool); n],
            visible: Vec::new(),
            consumed: Vec::new(),
            loops: 0,
            depth: 0,
            in_condition: false,
        }
    }

    fn body(mut self) -> Result<Vec<Type>, VerifyError> {
        let whole = |message| error(self.body, "the whole".to_owned(), Span::default(), message);
        for (at, name) in self.body.names.iter().enumerate() {
            if self.body.names[..at].contains(name) {
                return Err(whole(format!("the name `{name}` stands for two things")));
            }
        }
        for param in &self.body.params {
            let value = Name::Value { ty: param.ty, loops: 0, owned: false };
            let name = if param.is_acc { Name::Acc(param.ty) } else { value };
            self.define(param.var, param.ty, name).map_err(whole)?;
        }
        let yields = self.region(&self.body.region)?;
        if yields != self.body.results {
            return Err(whole("what the body yields is not what it declares".to_owned()));
        }
        Ok(self.types)
    }

    fn define(&mut self, var: Var, ty: Type, name: Name) -> Result<(), String> {
        match self.names.get(var.index()) {
            Some(Name::Undefined) => {
                self.names[var.index()] = name;
                self.types[var.index()] = ty;
                self.visible.push(var);
                Ok(())
            }
            Some(_) => Err(format!("`{}` is defined twice", self.body.name(var))),
            None => Err("a name is not in the table of names".to_owned()),
        }
    }

    /// The type of a value that is read.
    fn read(&self, var: Var) -> Result<Type, String> {
        let name = self.body.name(var);
        match self.names.get(var.index()).copied().unwrap_or(Name::Undefined) {
            Name::Value { ty, .. } => Ok(ty),
            Name::Acc(_) => Err(format!("the accumulator `{name}` is read")),
            Name::Undefined => Err(format!("`{name}` is used before it is defined")),
            Name::Hidden => Err(format!("`{name}` is used outside of its region")),
            Name::Consumed => Err(format!("`{name}` is used after it was given away to be changed")),
        }
    }

    /// The type of a tensor that is changed in place.
    fn consume(&mut self, var: Var) -> Result<Type, String> {
        let ty = self.read(var)?;
        let Name::Value { loops, owned, .. } = self.names[var.index()] else {
            unreachable!("what can be read is a value")
        };
        if ty.rank > 0 {
            if !owned || loops < self.loops {
                let name = self.body.name(var);
                return Err(format!("`{name}` is not owned here and cannot be changed: copy it"));
            }
            self.names[var.index()] = Name::Consumed;
            self.consumed.push(var);
        }
        Ok(ty)
    }

    fn acc(&self, var: Var) -> Result<Type, String> {
        match self.names.get(var.index()) {
            Some(Name::Acc(_)) if self.in_condition => Err("a condition adds to an accumulator".to_owned()),
            Some(Name::Acc(ty)) => Ok(*ty),
            _ => Err(format!("`{}` is no accumulator here", self.body.name(var))),
        }
    }

    /// The types of the yields of a region, whose names are hidden afterwards.
    fn region(&mut self, region: &Region) -> Result<Vec<Type>, VerifyError> {
        let mark = self.visible.len();
        let yields = self.open(region)?;
        self.close(mark);
        Ok(yields)
    }

    fn open(&mut self, region: &Region) -> Result<Vec<Type>, VerifyError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = format!("more than {MAX_DEPTH} regions inside each other");
            return Err(error(self.body, "the whole".to_owned(), Span::default(), message));
        }
        for stmt in &region.stmts {
            self.stmt(stmt)?;
        }
        self.depth -= 1;
        let yields = region.yields.iter().map(|var| self.read(*var)).collect::<Result<_, _>>();
        yields.map_err(|message| error(self.body, "a `yield`".to_owned(), Span::default(), message))
    }

    fn close(&mut self, mark: usize) {
        for var in self.visible.drain(mark..) {
            self.names[var.index()] = Name::Hidden;
        }
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<(), VerifyError> {
        let here = |message| error(self.body, place(self.body, stmt), stmt.span, message);
        let types = match &stmt.kind {
            Kind::If(condition, yes, no) => {
                if self.read(*condition).map_err(here)? != Type::scalar(Elem::Bool) {
                    return Err(here("a condition is a bool".to_owned()));
                }
                self.branches(yes, no)?
                    .ok_or_else(|| here("the branches yield different types".to_owned()))?
            }
            Kind::Loop(repeat) => self.repeat(repeat, here)?,
            other => self.simple(other).map_err(here)?,
        };
        if types.len() != stmt.results.len() {
            let (n, found) = (types.len(), stmt.results.len());
            return Err(here(format!("there are {n} results, not {found}")));
        }
        let owned = !matches!(stmt.kind, Kind::Const(_));
        for (var, ty) in stmt.results.iter().zip(types) {
            let name = Name::Value { ty, loops: self.loops, owned };
            self.define(*var, ty, name).map_err(here)?;
        }
        Ok(())
    }

    /// The types that both branches yield. A name that one of them consumes is consumed after both.
    fn branches(&mut self, yes: &Region, no: &Region) -> Result<Option<Vec<Type>>, VerifyError> {
        let before = self.names.clone();
        let mark = self.consumed.len();
        let yes = self.region(yes)?;
        let consumed = self.consumed[mark..].to_vec();
        for var in &consumed {
            if let Name::Value { .. } = before[var.index()] {
                self.names[var.index()] = before[var.index()];
            }
        }
        let no = self.region(no)?;
        for var in consumed {
            if let Name::Value { .. } = before[var.index()] {
                self.names[var.index()] = Name::Consumed;
            }
        }
        Ok((yes == no).then_some(yes))
    }

    fn simple(&mut self, kind: &Kind) -> Result<Vec<Type>, String> {
        match kind {
            Kind::Const(literal) => {
                if let Elem::Enum(id) = literal.elem
                    && id.index() >= self.module.enums.len()
                {
                    return Err("there is no such enumeration".to_owned());
                }
                Ok(vec![literal.ty()])
            }
            Kind::Op(operation, operands) => {
                let types = operands.iter().map(|var| self.read(*var)).collect::<Result<Vec<_>, _>>()?;
                let word = operation.word().map_or("the operation", |(word, _)| word);
                operation.result_types(&types).map_err(|message| format!("{word} {message}"))
            }
            Kind::Index(array, at) => {
                let array = self.read(*array)?;
                Ok(vec![self.selected(array, at)?])
            }
            Kind::Update(array, at, value) | Kind::Increase(array, at, value) => {
                let ty = self.read(*array)?;
                let is_sum = matches!(kind, Kind::Increase(..));
                self.place(ty, at, *value, is_sum)?;
                // If one element got two values, the last would remain, which has no simple derivative.
                let is_gather = |at: &At| matches!(at, At::Int(index) if self.types[index.index()].rank > 0);
                if !is_sum && at.iter().any(is_gather) {
                    return Err("an update has single indices and ranges only".to_owned());
                }
                if kind.operands()[1..].contains(array) {
                    return Err(format!("`{}` is changed and read at once", self.body.name(*array)));
                }
                self.consume(*array)?;
                Ok(vec![ty])
            }
            Kind::Add(acc, at, value) => {
                let ty = self.acc(*acc)?;
                self.place(ty, at, *value, true)?;
                Ok(Vec::new())
            }
            Kind::Call(mode, callee, arguments) => self.call(*mode, *callee, arguments),
            Kind::Unpack(types, tape) => match self.read(*tape)? {
                ty if ty == Type::scalar(Elem::Tape) => Ok(types.clone()),
                _ => Err("only a tape can be unpacked".to_owned()),
            },
            Kind::If(..) | Kind::Loop(_) => unreachable!("statements with regions are checked elsewhere"),
        }
    }

    fn selected(&self, array: Type, at: &[At]) -> Result<Type, String> {
        for var in at.iter().flat_map(|at| at.vars()) {
            self.read(var)?;
        }
        selected(array, at, |var| self.types[var.index()])
    }

    /// Checks that a value has the type of a place.
    fn place(&self, array: Type, at: &[At], value: Var, is_sum: bool) -> Result<(), String> {
        let place = self.selected(array, at)?;
        if self.read(value)? != place {
            return Err("the value does not have the type of its place".to_owned());
        }
        if is_sum && !matches!(array.elem, Elem::Int | Elem::Num) {
            return Err("only int and num can be added".to_owned());
        }
        Ok(())
    }

    fn call(&mut self, mode: Mode, callee: BodyId, arguments: &[Var]) -> Result<Vec<Type>, String> {
        let callee = self.module.bodies.get(callee.index()).ok_or("there is no such body")?;
        let (params, results) = interface(callee, mode);
        if params.len() != arguments.len() {
            return Err(format!(
                "`{}` needs {} arguments, not {}",
                callee.name,
                params.len(),
                arguments.len()
            ));
        }
        if mode != Mode::Plain && callee.params.iter().any(|param| param.is_acc) {
            return Err("a derivative of a body with accumulators cannot be marked".to_owned());
        }
        for (at, (ty, argument)) in params.iter().zip(arguments).enumerate() {
            let is_acc = callee.params.get(at).is_some_and(|param| param.is_acc);
            let found = if is_acc { self.acc(*argument)? } else { self.read(*argument)? };
            if found != *ty {
                return Err(format!("argument {} of `{}` has the wrong type", at + 1, callee.name));
            }
        }
        Ok(results)
    }

    fn repeat(
        &mut self,
        repeat: &Loop,
        here: impl Fn(String) -> VerifyError,
    ) -> Result<Vec<Type>, VerifyError> {
        const INT: Type = Type::scalar(Elem::Int);
        let is_each = matches!(repeat.control, Control::Each { .. });
        if is_each && !(repeat.states.is_empty() && repeat.body.yields.is_empty()) {
            return Err(here("`each` has no states".to_owned()));
        }
        let states = repeat.states.iter().map(|state| self.read(state.init)).collect::<Result<Vec<_>, _>>();
        let states = states.map_err(&here)?;
        let accs = repeat.accs.iter().map(|acc| self.consume(acc.init)).collect::<Result<Vec<_>, _>>();
        let accs = accs.map_err(&here)?;
        if accs.iter().any(|ty| !matches!(ty.elem, Elem::Int | Elem::Num)) {
            return Err(here("only int and num can be added".to_owned()));
        }
        if let Some((_, count)) = repeat.counter()
            && self.read(count).map_err(&here)? != INT
        {
            return Err(here("a count is an int".to_owned()));
        }
        let mark = self.visible.len();
        self.loops += 1;
        let loops = self.loops;
        if let Some((index, _)) = repeat.counter() {
            self.define(index, INT, Name::Value { ty: INT, loops, owned: false }).map_err(&here)?;
        }
        for (state, ty) in repeat.states.iter().zip(&states) {
            self.define(state.var, *ty, Name::Value { ty: *ty, loops, owned: true }).map_err(&here)?;
        }
        for (acc, ty) in repeat.accs.iter().zip(&accs) {
            self.define(acc.var, *ty, Name::Acc(*ty)).map_err(&here)?;
        }
        if let Control::While(condition) = &repeat.control {
            let was_in_condition = std::mem::replace(&mut self.in_condition, true);
            let mark = self.consumed.len();
            let yields = self.region(condition)?;
            self.in_condition = was_in_condition;
            if yields != [Type::scalar(Elem::Bool)] {
                return Err(here("a condition yields one bool".to_owned()));
            }
            if repeat.states.iter().any(|state| self.consumed[mark..].contains(&state.var)) {
                return Err(here("a condition changes a state".to_owned()));
            }
        }
        let yields = self.open(&repeat.body)?;
        let rows = repeat.collect.iter().map(|var| self.collected(*var)).collect::<Result<Vec<_>, _>>();
        let rows = rows.map_err(&here)?;
        self.close(mark);
        self.loops -= 1;
        if yields != states {
            return Err(here("what the loop yields does not fit its states".to_owned()));
        }
        let count = if let Control::While(_) = repeat.control { vec![INT] } else { Vec::new() };
        Ok([states, rows, accs, count].concat())
    }

    /// The type of the rows of a collected name. The name is read at the end of the iteration, so a state
    /// that was changed in place before cannot be collected.
    fn collected(&self, var: Var) -> Result<Type, String> {
        self.read(var).map(Type::row)
    }
}
