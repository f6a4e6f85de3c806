//! From `rd` to functions (functions.md, section 10): core terms, which have no sugar.
//!
//! | `rd` | function |
//! | --- | --- |
//! | `real`, `unit`, `T × U` | `num`, `()`, `(T, U)`: [`types`] |
//! | `x`, `r`, `let x = M in N`, `*`, `⟨M,N⟩`, `fst M`, `snd M` | the same; `.0`, `.1`: [`terms`] |
//! | `M + N` at any type, `zero[T]` | `+` of each leaf, by the sugar of `rd` itself |
//! | `op(M)`, `op_r⟨L,M⟩`, `dot_T`, `scale_T` | [`operations`] |
//! | `if M < N ..`, `&&`, `\|\|`, `not` | `if`, `and`, `or`, `not`; `if not B` swaps the branches |
//! | `letrec f(x:T):U = M in N` | `fn f(x: T) -> U = M;` if outermost, else `let f(x: T) -> U = M in N` |
//! | `letrec[n] f` | one more parameter `limit` that counts down; at 0 `1 div limit` fails |
//! | `grad[L](x. N)` | `grad(\x. N, L)` |
//! | `M.rd[L](x. N)` | `vjp(\x. N, L, M).1` |
//! | `M.fd[L](x. N)` | `jvp(\x. N, L, M).1` |
//! | a derivative whose point or result contains no reals | zero |
//! | the program | `eval` |
//!
//! In the kernel, a function of n ≥ 2 parameters takes one tuple, which nests to the left. A separate item
//! exports it with n parameters: `fn f(a: num, b: num) -> num = f_2((a, b));`.
//!
//! `use clarke` has no translation.
//!
//! The kernel is undefined where both sides of `<` are equal, where an operation leaves its domain and where
//! a result overflows; functions take a branch there, or continue with an infinity or a NaN. Where the kernel
//! has a value, the function has the same value.

mod operations;
mod terms;
mod types;

use eddy_rd::parse::parse;
use eddy_rd::surface::{ExprKind, Head};
use eddy_rd::syntax::{FnId, Term, TermId, Terms, VarId};
use eddy_rd::typing::check;
use eddy_syntax::{Diagnostic, SourceFile, Span};
use rustc_hash::FxHashMap;

use super::writer::{TooLong, Translation, Writer};
use super::{outside, too_long};
use operations::Operations;
use terms::{Position, Task};

/// The program as functions; otherwise its errors, or an error at the construct without translation.
pub fn translate(file: &SourceFile) -> Result<Translation, Vec<Diagnostic>> {
    let program = check(file)?;
    let surface = parse(file).program;
    if let Some(directive) = surface.directives.first() {
        let reason =
            "at a tie it explores both branches and answers with intervals; a function takes one branch";
        return Err(vec![outside(directive.span, "`use clarke`", reason)]);
    }
    // The ids of the outermost definitions follow the order of the text. In a derivative, definitions in the
    // point have the smallest ids, so a message there may point to another definition.
    let heads = surface.exprs.ids().filter_map(|id| match surface.exprs.kind(id) {
        ExprKind::Function(head, ..) => Some((**head).clone()),
        _ => None,
    });
    let mut heads: Vec<Head> = heads.collect();
    heads.sort_by_key(|head| head.ident.span.start);
    let whole = surface.exprs.span(surface.term);
    let translator = Translator {
        terms: &program.terms,
        heads,
        whole,
        out: Writer::default(),
        operations: Operations::new(program.terms.types.clone()),
        vars: FxHashMap::default(),
        functions: FxHashMap::default(),
        within: FxHashMap::default(),
        n_uses: n_uses(&program.terms, program.main),
        tasks: Vec::new(),
    };
    translator.program(program.main).map_err(|TooLong| vec![too_long(whole)])
}

struct Translator<'a> {
    terms: &'a Terms,
    /// The heads of all functions, by `FnId`.
    heads: Vec<Head>,
    whole: Span,
    out: Writer,
    operations: Operations,
    vars: FxHashMap<VarId, String>,
    functions: FxHashMap<FnId, String>,
    /// The limit parameters of the functions whose bodies enclose the current term.
    within: FxHashMap<FnId, String>,
    n_uses: FxHashMap<VarId, u32>,
    /// Pending work, innermost last.
    tasks: Vec<Task>,
}

impl Translator<'_> {
    fn program(mut self, main: TermId) -> Result<Translation, TooLong> {
        let items = items(self.terms, main);
        // A later definition of a name hides the earlier ones, so the last definition is exported.
        let mut exports = Vec::new();
        for function in items.iter().rev() {
            let name = self.terms.function_name(*function).to_string();
            let exported = self.out.exported(&name);
            let is_exported_as_it_is = self.heads[function.index()].params.len() == 1
                && self.terms.function(*function).limit.is_none();
            let own = match exported {
                Some(name) if is_exported_as_it_is => name,
                Some(name) => {
                    exports.push((*function, name.clone()));
                    self.out.global(&name)
                }
                None => self.out.global(&name),
            };
            self.functions.insert(*function, own);
        }
        for function in &items {
            if let Some((_, name)) = exports.iter().find(|(exported, _)| exported == function) {
                self.export(*function, name);
            }
            self.item(*function)?;
        }
        self.out.item(self.whole);
        self.out.push("eval ");
        self.schedule([Task::Term(main, Position::Last), Task::Text(";\n")]);
        self.finish()?;
        self.operations.write_helpers(&mut self.out);
        self.out.has_room()?;
        Ok(self.out.finish())
    }

    /// `fn f(x: T) -> U = M;`
    fn item(&mut self, function: FnId) -> Result<(), TooLong> {
        self.out.item(self.heads[function.index()].ident.span);
        self.out.push("fn ");
        let (head, body) = (self.head(function), self.body(function, vec![Task::Text(";\n")]));
        self.schedule(head.into_iter().chain(body).collect::<Vec<_>>());
        self.finish()
    }

    /// The item that exports a function with separate parameters.
    fn export(&mut self, function: FnId, name: &str) {
        let (params, span) = {
            let head = &self.heads[function.index()];
            let names: Vec<String> =
                head.params.iter().map(|param| self.terms.names.text(param.ident.name).to_string()).collect();
            (names, head.ident.span)
        };
        self.out.item(span);
        let kernel = self.terms.function(function);
        let tys = self.operations.factors(self.terms.var(kernel.param).ty, params.len());
        let params: Vec<String> = params.iter().map(|param| self.out.local(param)).collect();
        let written: Vec<String> = params
            .iter()
            .zip(&tys)
            .map(|(param, ty)| format!("{param}: {}", self.operations.type_text(*ty)))
            .collect();
        let result = self.operations.type_text(kernel.result);
        let tuple = match params.split_first() {
            None => "()".to_string(),
            Some((first, rest)) => {
                rest.iter().fold(first.clone(), |left, right| format!("({left}, {right})"))
            }
        };
        let limit = kernel.limit.map(|limit| format!("{limit}, ")).unwrap_or_default();
        let called = &self.functions[&function];
        let text = format!("fn {name}({}) -> {result} = {called}({limit}{tuple});\n", written.join(", "));
        self.out.push(&text);
    }
}

/// The functions that enclose the result of the program, outermost first. Their bodies use no variables of
/// the program, so each becomes an item.
fn items(terms: &Terms, main: TermId) -> Vec<FnId> {
    let (mut items, mut at) = (Vec::new(), main);
    loop {
        at = match terms.term(at) {
            Term::Let { body, .. } => body,
            Term::Letrec { function, body } => {
                items.push(function);
                body
            }
            _ => return items,
        };
    }
}

/// How often each variable is used in a term and in the functions that it defines.
fn n_uses(terms: &Terms, main: TermId) -> FxHashMap<VarId, u32> {
    let (mut n_uses, mut work) = (FxHashMap::default(), vec![main]);
    while let Some(id) = work.pop() {
        match terms.term(id) {
            Term::Var(var) => *n_uses.entry(var).or_insert(0) += 1,
            Term::Letrec { function, .. } => work.push(terms.body(function)),
            _ => {}
        }
        terms.push_children(id, &mut work);
    }
    n_uses
}
