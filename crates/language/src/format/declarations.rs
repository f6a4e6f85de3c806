//! Plans the gaps between tokens: declarations, equations and rows.

use eddy_syntax::format::{CONTINUED, INDENT, Joint};
use eddy_syntax::lex::TokenKind;

use super::plan::{Planner, Range};
use crate::tree::{
    CellKind, Contract, Decl, Equation, ExprKind, Import, Imported, Item, Let, Node, Probe, RowValue, Run,
    RunOptionKind, Target, Train,
};

impl<'a> Planner<'a> {
    pub fn file(&mut self) {
        let mut after_body = false;
        for import in &self.program.imports {
            self.import(import);
        }
        for item in &self.program.items {
            let first = self.tokens_of(item.span()).first;
            self.join(first, if after_body { Joint::AfterBody } else { Joint::Line });
            after_body = matches!(item, Item::Node(node) if has_body(node));
            match item {
                Item::Node(node) => self.node(node),
                Item::Run(run) => self.run(run),
                Item::Train(train) => self.train(train),
                Item::Function(function) => self.function(function),
                Item::Constant(constant) => self.constant(constant),
                Item::Type(definition) => self.type_definition(definition),
                Item::Eval(eval) => self.eval(eval),
            }
        }
        self.join(0, Joint::Edge);
        self.join(self.tokens.len() - 1, if after_body { Joint::EndOfBody } else { Joint::Edge });
    }

    fn import(&mut self, import: &Import) {
        let range = self.tokens_of(import.span);
        self.join(range.first, Joint::Line);
        self.group(range, CONTINUED);
        let path = self.tokens_of(import.path_span).first;
        self.join(path, Joint::Blank);
        let Imported::Names(names) = &import.what else { return };
        for ident in names {
            self.join(self.tokens_of(ident.span).first, Joint::Space);
        }
        self.join(range.first + 1, Joint::Blank);
        self.join(path - 1, Joint::Space);
    }

    fn node(&mut self, node: &'a Node) {
        let Range { first, last } = self.tokens_of(node.span);
        self.join(first + 1, Joint::Blank);
        self.interface(self.tokens_of(node.inputs_span), &node.inputs);
        let outputs = self.tokens_of(node.outputs_span);
        self.interface(outputs, &node.outputs);
        self.join(outputs.first - 1, Joint::Space);
        self.join(outputs.first, Joint::Blank);
        self.group_with_joint(Range { first: outputs.first - 1, last: outputs.last }, CONTINUED);
        for equation in &node.equations {
            self.equation(equation);
        }
        for item in &node.lets {
            self.let_item(item);
        }
        for automaton in &node.automata {
            self.automaton(automaton);
        }
        self.contracts(&node.contracts, &node.probes);
        let items = node.equations.first().map(|equation| equation.span);
        let items = items.into_iter().chain(node.automata.first().map(|automaton| automaton.span));
        let items = items.chain(node.lets.first().map(|item| item.span));
        let items = items.chain(node.contracts.first().map(|item| item.span));
        let items = items.chain(node.probes.first().map(|item| item.span));
        if let Some(span) = items.min_by_key(|span| span.start) {
            let first = self.tokens_of(span).first;
            self.join(first, Joint::Begin);
            self.group_with_joint(Range { first, last }, INDENT);
        }
    }

    /// `assert e "message";` and `probe x, y;`.
    pub(super) fn contracts(&mut self, contracts: &[Contract], probes: &[Probe]) {
        for contract in contracts {
            let first = self.tokens_of(contract.span).first;
            self.join(first, Joint::Line);
            self.join(first + 1, Joint::Blank);
            self.below(contract.condition);
            let message = self.range(contract.condition).last + 1;
            if self.tokens[message].kind == TokenKind::String {
                self.join(message, Joint::Blank);
            }
        }
        for probe in probes {
            self.join(self.tokens_of(probe.span).first, Joint::Line);
            for ident in &probe.idents {
                self.join(self.tokens_of(ident.span).first, Joint::Blank);
            }
        }
    }

    fn interface(&mut self, range: Range, decls: &[Decl]) {
        let [first, others @ ..] = decls else { return };
        self.brackets(range);
        for decl in others {
            self.join(self.tokens_of(decl.ident.span).first, Joint::Item);
        }
        self.decl(first);
        for decl in others {
            self.decl(decl);
        }
    }

    /// `x:num [3] when not c`, with `= 1.0` for an input.
    fn decl(&mut self, decl: &Decl) {
        if let Some(default) = decl.default {
            self.named(self.tokens_of(decl.ident.span).first, default);
        }
        if let Some(annotation) = decl.annotation
            && let Some(dims) = annotation.dims
        {
            // The bracket comes after the colon and the type.
            self.join(self.tokens_of(annotation.span).first + 1, Joint::Blank);
            self.items(self.program.exprs.items(dims));
        }
        if let Some(sizes) = decl.type_name.and_then(|name| name.sizes) {
            self.items(self.program.exprs.items(sizes));
        }
        for sampling in &decl.clock {
            let Range { first, last } = self.tokens_of(sampling.span);
            for token in first..=last {
                self.join(token, Joint::Blank);
            }
        }
    }

    pub(super) fn equation(&mut self, equation: &Equation) {
        let Range { first, .. } = self.tokens_of(equation.span);
        let equals = self.tokens_of(equation.at).first;
        self.join(first, Joint::Line);
        self.left_side(Range { first, last: equals - 1 }, &equation.targets);
        self.join(equals, Joint::Blank);
        let value = self.program.exprs.kind(equation.value);
        let may_hang = matches!(
            value,
            ExprKind::Call(..)
                | ExprKind::List(_)
                | ExprKind::Tuple(_)
                | ExprKind::Group(_)
                | ExprKind::Merge(..)
        );
        self.below(equation.value);
        if may_hang {
            self.right_sides.push(self.range(equation.value));
        }
    }

    /// `let e = C;`.
    pub(super) fn let_item(&mut self, item: &Let) {
        let first = self.tokens_of(item.span).first;
        let equals = self.tokens_of(item.equals).first;
        self.join(first, Joint::Line);
        self.join(first + 1, Joint::Blank);
        self.join(equals, Joint::Blank);
        self.below(item.value);
        if let ExprKind::Call(..) = self.program.exprs.kind(item.value) {
            self.right_sides.push(self.range(item.value));
        }
    }

    fn left_side(&mut self, range: Range, targets: &[Target]) {
        let in_parentheses = self.tokens[range.first].kind == TokenKind::Symbol("(");
        if in_parentheses {
            self.brackets(range);
        } else {
            self.group(range, CONTINUED);
        }
        for target in targets {
            if let Target::Decl(decl) = target {
                self.decl(decl);
            }
        }
        for target in &targets[1..] {
            self.join(self.tokens_of(target.span()).first, Joint::Space);
        }
    }

    /// Plans a run as if it were on one line; `fit` decides whether it stays there.
    fn run(&mut self, run: &'a Run) {
        let Range { first, .. } = self.tokens_of(run.span);
        self.join(first + 1, Joint::Blank);
        self.options(run);
        let braces = self.tokens_of(run.rows_span);
        self.join(braces.first, Joint::Blank);
        let [first_row, others @ ..] = &run.rows[..] else { return };
        self.join(self.tokens_of(first_row.span).first, Joint::Space);
        for row in others {
            self.join(self.tokens_of(row.span).first, Joint::Item);
        }
        self.join(braces.last, Joint::CloseBrace);
        self.group_with_joint(Range { first: braces.first + 1, last: braces.last }, INDENT);
        for row in &run.rows {
            let range = self.tokens_of(row.span);
            if row.is_expected {
                self.join(range.first + 1, Joint::Blank);
            }
            self.row(range, &row.value);
        }
        self.runs.push(run);
    }

    fn options(&mut self, run: &Run) {
        let (Some(first), Some(last)) = (run.options.first(), run.options.last()) else { return };
        self.group_with_joint(self.tokens_of(first.span.to(last.span)), CONTINUED);
        for option in &run.options {
            let Range { first, last } = self.tokens_of(option.span);
            self.join(first, Joint::Space);
            if last > first {
                self.join(first + 1, Joint::Blank);
            }
            if let RunOptionKind::Show(paths) = &option.kind {
                self.group(Range { first, last }, INDENT);
                for path in &paths[1..] {
                    self.join(self.tokens_of(path.span).first, Joint::Space);
                }
            }
        }
    }

    fn row(&mut self, range: Range, value: &RowValue) {
        match value {
            RowValue::Constant(value) => {
                // The `=` comes before the value.
                self.join(self.range(*value).first - 1, Joint::Blank);
                self.below(*value);
            }
            RowValue::Cells(cells) => {
                self.group(range, CONTINUED);
                let mut work = self.program.cells.items(*cells).to_vec();
                let first_cell = work.first().copied();
                for cell in &work {
                    let range = self.tokens_of(self.program.cells.span(*cell));
                    if Some(*cell) == first_cell {
                        self.join(range.first, Joint::Blank);
                    } else {
                        self.fill(range);
                    }
                }
                while let Some(cell) = work.pop() {
                    let CellKind::List(items) = self.program.cells.kind(cell) else { continue };
                    let items = self.program.cells.items(items);
                    for item in items.iter().skip(1) {
                        self.fill(self.tokens_of(self.program.cells.span(*item)));
                    }
                    work.extend(items);
                }
            }
        }
    }

    /// `train N as M loss L optim O(args) for "encoder/*", P segment mean truncate;`.
    fn train(&mut self, train: &Train) {
        let range = self.tokens_of(train.span);
        self.group(range, CONTINUED);
        for ident in [train.node, train.ident, train.loss] {
            self.join(self.tokens_of(ident.span).first, Joint::Blank);
        }
        let words = [train.ident, train.loss].map(|ident| self.tokens_of(ident.span).first - 1);
        self.join(words[0], Joint::Blank);
        self.join(words[1], Joint::Space);
        for (number, rule) in train.rules.iter().enumerate() {
            let first = self.tokens_of(rule.span).first;
            if number == 0 {
                self.join(first - 1, Joint::Space);
                self.join(first, Joint::Blank);
            } else {
                self.join(first, Joint::Space);
            }
            self.items(self.program.exprs.items(rule.arguments));
            if let Some(pattern) = &rule.pattern {
                let pattern = self.tokens_of(pattern.span).first;
                self.join(pattern - 1, Joint::Blank);
                self.join(pattern, Joint::Blank);
            }
        }
        for flag in [train.segment, train.mean, train.truncate].into_iter().flatten() {
            self.join(self.tokens_of(flag).first, Joint::Space);
        }
    }
}

fn has_body(node: &Node) -> bool {
    !node.equations.is_empty()
        || !node.lets.is_empty()
        || !node.automata.is_empty()
        || !node.contracts.is_empty()
        || !node.probes.is_empty()
}
