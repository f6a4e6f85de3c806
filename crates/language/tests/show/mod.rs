//! A tree as text: implicit parentheses are shown as parentheses, written ones as braces.

#![allow(clippy::format_push_string)] // in tests, readable code matters more than speed

mod functions;

use eddy_language::parse::{Parsed, parse};
use eddy_language::tree::{
    CellId, CellKind, Decl, Direction, ExprId, ExprKind, Imported, Item, NumberValue, Polarity, Program,
    RowValue, Rule, RunOptionKind, Sampling, Target, TypeKind,
};
use eddy_syntax::SourceFile;
use eddy_syntax::names::Names;

/// The tree of a program, one line per equation, row or declaration.
pub fn show(text: &str) -> String {
    let parsed = parse(&SourceFile::new("test.eddy", text));
    let mut shown = String::new();
    for diagnostic in &parsed.diagnostics {
        shown += &format!("{} {}\n", diagnostic.code, diagnostic.title);
    }
    shown + &Show::new(&parsed).program()
}

struct Show<'a> {
    program: &'a Program,
    names: &'a Names,
}

impl<'a> Show<'a> {
    fn new(parsed: &'a Parsed) -> Self {
        Show { program: &parsed.program, names: &parsed.names }
    }

    fn program(&self) -> String {
        let mut out = String::new();
        for import in &self.program.imports {
            let what = match &import.what {
                Imported::All => "everything".to_string(),
                Imported::Names(names) => comma(names, |ident| self.names.text(ident.name).to_string()),
            };
            out += &format!("import {what} from {:?}\n", import.path);
        }
        for item in &self.program.items {
            match item {
                Item::Node(node) => {
                    if let Some(doc) = &node.doc {
                        out += &format!("doc {doc:?}\n");
                    }
                    let inputs = comma(&node.inputs, |decl| self.decl(decl));
                    let outputs = comma(&node.outputs, |decl| self.decl(decl));
                    out += &format!("node {}({inputs}) -> ({outputs})\n", self.names.text(node.ident.name));
                    for item in &node.lets {
                        let (name, at) = (self.names.text(item.ident.name), item.at);
                        out += &format!("  let {name} = {} before {at}\n", self.expr(item.value));
                    }
                    for equation in &node.equations {
                        let targets = comma(&equation.targets, |target| match target {
                            Target::Decl(decl) => self.decl(decl),
                            Target::Discard(_) => "_".to_string(),
                        });
                        out += &format!("  {targets} = {}\n", self.expr(equation.value));
                    }
                }
                Item::Run(run) => {
                    out += &format!("run {}", self.names.text(run.node.name));
                    for option in &run.options {
                        out += &match &option.kind {
                            RunOptionKind::Show(paths) => {
                                format!(" Show({})", comma(paths, |path| path.text(self.names)))
                            }
                            other => format!(" {other:?}"),
                        };
                    }
                    out += "\n";
                    for row in &run.rows {
                        let name = self.names.text(row.ident.name);
                        out += &match row.value {
                            RowValue::Cells(cells) => {
                                let cells =
                                    self.program.cells.items(cells).iter().map(|cell| self.cell(*cell));
                                format!("  {name}: {}\n", cells.collect::<Vec<_>>().join(" "))
                            }
                            RowValue::Constant(value) => format!("  {name} = {}\n", self.expr(value)),
                        };
                    }
                }
                Item::Train(train) => {
                    let [node, name, loss] =
                        [train.node, train.ident, train.loss].map(|ident| self.names.text(ident.name));
                    let rules = comma(&train.rules, |rule| self.rule(rule));
                    out += &format!("train {node} as {name} loss {loss} optim {rules}");
                    out += if train.segment.is_some() { " segment" } else { "" };
                    out += if train.truncate.is_some() { " truncate\n" } else { "\n" };
                }
                Item::Function(_) | Item::Constant(_) | Item::Type(_) | Item::Eval(_) => {
                    out += &self.function_item(item);
                }
            }
        }
        out
    }

    fn rule(&self, rule: &Rule) -> String {
        let optimiser = self.names.text(rule.optimiser.name);
        let arguments = comma(self.program.exprs.items(rule.arguments), |id| self.expr(*id));
        match &rule.pattern {
            Some(pattern) => format!("{optimiser}({arguments}) for {:?}", pattern.text),
            None => format!("{optimiser}({arguments})"),
        }
    }

    fn decl(&self, decl: &Decl) -> String {
        let mut shown = self.names.text(decl.ident.name).to_string();
        if decl.is_callable {
            shown += ":node";
        }
        if let Some(annotation) = decl.annotation {
            shown += &format!(":{}", annotation.scalar.word());
            if let Some(dims) = annotation.dims {
                shown += &format!("[{}]", comma(self.program.exprs.items(dims), |id| self.expr(*id)));
            }
        }
        if let Some(name) = decl.type_name
            && let TypeKind::Named(ident, sizes) = self.program.written.ty(name.ty)
        {
            shown += &format!(":{}", self.names.text(ident.name));
            if let Some(sizes) = sizes {
                shown += &format!("[{}]", comma(self.program.exprs.items(*sizes), |id| self.expr(*id)));
            }
        }
        for Sampling { polarity, condition, .. } in &decl.clock {
            let not = if *polarity == Polarity::OnNot { "not " } else { "" };
            shown += &format!(" when {not}{}", self.names.text(condition.name));
        }
        if let Some(default) = decl.default {
            shown += &format!(" = {}", self.expr(default));
        }
        shown
    }

    fn cell(&self, cell: CellId) -> String {
        match self.program.cells.kind(cell) {
            CellKind::Absent => ".".to_string(),
            CellKind::Unknown => "?".to_string(),
            CellKind::Bool(value) => value.to_string(),
            CellKind::Int(value) => value.to_string(),
            CellKind::Num(value) => format!("{value:?}"),
            CellKind::Enumerator(name) => self.names.text(name).to_string(),
            CellKind::List(list) => {
                format!("[{}]", comma(self.program.cells.items(list), |cell| self.cell(*cell)))
            }
        }
    }

    fn expr(&self, id: ExprId) -> String {
        let exprs = &self.program.exprs;
        let list = |list| comma(exprs.items(list), |id| self.expr(*id));
        match exprs.kind(id) {
            ExprKind::Error => "<error>".to_string(),
            ExprKind::Number(number) => {
                let text = self.names.text(number.text);
                match number.value {
                    NumberValue::Int(value) => assert_eq!(value, text.parse::<i64>().expect("an integer")),
                    NumberValue::Num(value) => assert_eq!(value, text.parse::<f64>().expect("a number")),
                }
                text.to_string()
            }
            ExprKind::Bool(value) => value.to_string(),
            ExprKind::Variable(name) => self.names.text(name).to_string(),
            ExprKind::Call(name, items) => format!("{}({})", self.names.text(name), list(items)),
            ExprKind::Named(name, value) => {
                format!("{} = {}", self.names.text(name), self.expr(value))
            }
            ExprKind::Group(inner) => format!("{{{}}}", self.expr(inner)),
            ExprKind::Tuple(items) => format!("tuple({})", list(items)),
            ExprKind::List(items) => format!("[{}]", list(items)),
            ExprKind::Index(value, index) => format!("{}[{}]", self.expr(value), self.expr(index)),
            ExprKind::Unary(op, inner) => format!("({} {})", op.symbol(), self.expr(inner)),
            ExprKind::Binary(op, left, right) => {
                format!("({} {} {})", self.expr(left), op.symbol(), self.expr(right))
            }
            ExprKind::If(c, yes, no) => {
                format!("(if {} then {} else {})", self.expr(c), self.expr(yes), self.expr(no))
            }
            ExprKind::Fby(direction, first, next) => {
                let word = if direction == Direction::Back { "fby back" } else { "fby" };
                format!("({} {word} {})", self.expr(first), self.expr(next))
            }
            ExprKind::When(polarity, value, c) => {
                let word = if polarity == Polarity::OnNot { "when not" } else { "when" };
                format!("({} {word} {})", self.expr(value), self.expr(c))
            }
            ExprKind::Merge(c, yes, no) => {
                format!("(merge {} {} {})", self.expr(c), self.expr(yes), self.expr(no))
            }
            ExprKind::Form(form, parts) => self.form(form, parts),
        }
    }
}

fn comma<T>(items: &[T], show: impl Fn(&T) -> String) -> String {
    items.iter().map(show).collect::<Vec<_>>().join(", ")
}
