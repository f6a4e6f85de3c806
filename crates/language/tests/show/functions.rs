//! Functions as text: patterns, types, and the forms that only functions have.

use eddy_language::tree::{
    Binders, Case, Control, Definition, ExprId, ExprList, Form, FormId, Ident, Index, Item, Param, PatternId,
    PatternKind, TypeId, TypeKind, UpdateKind,
};

use super::{Show, comma};

impl Show<'_> {
    pub fn function_item(&self, item: &Item) -> String {
        match item {
            Item::Function(function) => {
                let result = function.result.map_or(String::new(), |ty| format!(" -> {}", self.ty(ty)));
                format!(
                    "fn {}[{}]({}){result} = {}\n",
                    self.name(function.ident),
                    comma(&function.sizes, |size| self.name(*size)),
                    self.params(&function.params),
                    self.expr(function.body)
                )
            }
            Item::Constant(constant) => format!(
                "const {}{} = {}\n",
                self.name(constant.ident),
                self.annotation(constant.annotation),
                self.expr(constant.value)
            ),
            Item::Type(definition) => {
                let sizes = comma(&definition.sizes, |size| self.name(*size));
                let name = self.name(definition.ident);
                match &definition.definition {
                    Definition::Alias(ty) => format!("type {name}[{sizes}] = {}\n", self.ty(*ty)),
                    Definition::Enumeration(names, _) => {
                        format!("type {name}[{sizes}] = enum {}\n", comma(names, |ident| self.name(*ident)))
                    }
                }
            }
            Item::Eval(eval) => format!("eval {}\n", self.expr(eval.value)),
            Item::Node(_) | Item::Run(_) | Item::Train(_) => unreachable!("these are no functions"),
        }
    }

    fn name(&self, ident: Ident) -> String {
        self.names.text(ident.name).to_string()
    }

    fn params(&self, params: &[Param]) -> String {
        comma(params, |param| self.name(param.ident) + &self.annotation(param.annotation))
    }

    fn annotation(&self, annotation: Option<TypeId>) -> String {
        annotation.map_or(String::new(), |ty| format!(": {}", self.ty(ty)))
    }

    fn ty(&self, ty: TypeId) -> String {
        let sizes = |sizes: &Option<ExprList>| match sizes {
            Some(sizes) => format!("[{}]", comma(self.program.exprs.items(*sizes), |size| self.expr(*size))),
            None => String::new(),
        };
        match self.program.written.ty(ty) {
            TypeKind::Error => "<error>".to_string(),
            TypeKind::Scalar(scalar, list) => scalar.word().to_string() + &sizes(list),
            TypeKind::Named(ident, list) => self.name(*ident) + &sizes(list),
            TypeKind::Tuple(parts) => format!("({})", comma(parts, |part| self.ty(*part))),
            TypeKind::Function(params, result) => {
                format!("({}) -> {}", comma(params, |param| self.ty(*param)), self.ty(*result))
            }
            TypeKind::Record(fields) => {
                format!(
                    "{{{}}}",
                    comma(fields, |(ident, ty)| format!("{}: {}", self.name(*ident), self.ty(*ty)))
                )
            }
        }
    }

    fn pattern(&self, pattern: PatternId) -> String {
        match self.program.written.pattern(pattern) {
            PatternKind::Name(ident) => self.name(*ident),
            PatternKind::Discard => "_".to_string(),
            PatternKind::Tuple(parts) => format!("({})", comma(parts, |part| self.pattern(*part))),
            PatternKind::Record(fields) => {
                let field = |(ident, pattern): &(Ident, Option<PatternId>)| match pattern {
                    Some(pattern) => format!("{} = {}", self.name(*ident), self.pattern(*pattern)),
                    None => self.name(*ident),
                };
                format!("{{{}}}", comma(fields, field))
            }
        }
    }

    pub fn form(&self, form: FormId, parts: ExprList) -> String {
        let parts = self.program.exprs.items(parts);
        let part = |k: usize| self.expr(parts[k]);
        let last = || self.expr(parts[parts.len() - 1]);
        match self.program.exprs.form(form) {
            Form::Unit => "unit".to_string(),
            Form::Reset => format!("(reset {} every {})", part(0), last()),
            Form::Let { pattern, annotation } => format!(
                "(let {}{} = {} in {})",
                self.pattern(*pattern),
                self.annotation(*annotation),
                part(0),
                part(1)
            ),
            Form::LetFunction { ident, params, result } => {
                let result = result.map_or(String::new(), |ty| format!(" -> {}", self.ty(ty)));
                let head = format!("{}({}){result}", self.name(*ident), self.params(params));
                format!("(let {head} = {} in {})", part(0), part(1))
            }
            Form::Lambda { params } => {
                let param =
                    comma(params, |param| self.pattern(param.pattern) + &self.annotation(param.annotation));
                format!("(\\{param}. {})", part(0))
            }
            Form::Loop { kind, state, control } => {
                let control = match control {
                    Control::For(binders) => format!("for {}", self.binders(binders, &parts[1..])),
                    Control::While => format!("while {}", part(1)),
                };
                format!("({} {} = {} {control} do {})", kind.word(), self.pattern(*state), part(0), last())
            }
            Form::Comprehension(binders) => format!("[{}: {}]", self.binders(binders, parts), last()),
            Form::Reduction { kind, binders } => {
                format!("{}({}: {})", kind.word(), self.binders(binders, parts), last())
            }
            Form::Place(indices) => format!("{}[{}]", part(0), self.indices(indices, &parts[1..])),
            Form::Update { indices, kind } => {
                let equals = if *kind == UpdateKind::Add { "+=" } else { "=" };
                format!("({} with [{}] {equals} {})", part(0), self.indices(indices, &parts[1..]), last())
            }
            Form::Record(fields) => format!("{{{}}}", self.fields(fields, parts)),
            Form::RecordUpdate(fields) => {
                format!("{{{} with {}}}", part(0), self.fields(fields, &parts[1..]))
            }
            Form::Last(ident) => format!("(last {})", self.name(*ident)),
            Form::WhenIs(ident) => format!("({} when {} is {})", part(0), part(1), self.name(*ident)),
            form @ (Form::Match(cases) | Form::Merge(cases)) => {
                let word = if matches!(form, Form::Match(_)) { "match" } else { "merge" };
                let shown = cases.iter().zip(&parts[1..]).map(|(case, value)| {
                    let case = match case {
                        Case::Enumerator(ident) => self.name(*ident),
                        Case::Otherwise(_) => "_".to_string(),
                    };
                    format!("{case}: {}", self.expr(*value))
                });
                format!("({word} {} {{{}}})", part(0), shown.collect::<Vec<_>>().join(", "))
            }
            Form::Field(ident) => format!("{}.{}", part(0), self.name(*ident)),
            Form::Component { index, .. } => format!("{}.{index}", part(0)),
        }
    }

    fn fields(&self, fields: &[Ident], values: &[ExprId]) -> String {
        let shown = fields.iter().zip(values);
        let shown = shown.map(|(ident, value)| format!("{} = {}", self.name(*ident), self.expr(*value)));
        shown.collect::<Vec<_>>().join(", ")
    }

    fn binders(&self, binders: &Binders, parts: &[ExprId]) -> String {
        let mut parts = parts.iter().map(|part| self.expr(*part));
        let mut next = || parts.next().expect("a part for each bound");
        let shown: Vec<String> = binders
            .binders
            .iter()
            .map(|binder| {
                let lower = if binder.has_lower { format!("{} <= ", next()) } else { String::new() };
                format!("{lower}{} < {}", self.name(binder.ident), next())
            })
            .collect();
        let filter = if binders.has_filter { format!(" if {}", next()) } else { String::new() };
        shown.join(", ") + &filter
    }

    fn indices(&self, indices: &[Index], parts: &[ExprId]) -> String {
        let mut parts = parts.iter().map(|part| self.expr(*part));
        let mut next = || parts.next().expect("a part for each bound");
        let shown = indices.iter().map(|index| match index {
            Index::At => next(),
            Index::Range { has_lower, has_upper } => {
                let lower = if *has_lower { next() } else { String::new() };
                let upper = if *has_upper { next() } else { String::new() };
                format!("{lower}..{upper}")
            }
        });
        shown.collect::<Vec<_>>().join(", ")
    }
}
