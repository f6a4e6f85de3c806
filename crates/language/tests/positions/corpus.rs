//! The programs of the repository.

use eddy_language::Resolved;
use eddy_language::check::{check_program, declared};
use eddy_language::elaborate::ElaborationOptions;
use eddy_language::infer::Hints;
use eddy_language::positions::{Occurrence, Symbol, SymbolKind};
use eddy_language::prepare::{Checks, prepare};
use eddy_language::program::{Base, Program, SlotId};
use eddy_language::tree::{self, Item, RowValue};
use eddy_syntax::Span;
use eddy_syntax::lex::{Token, TokenKind, lex};
use eddy_tests::law::show;

use super::{Read, Written, read, written};

/// Names that are keywords in test benches, `train`s, imports and functions.
const WORDS: [&str; 38] = [
    "import",
    "from",
    "run",
    "train",
    "as",
    "loss",
    "optim",
    "segment",
    "mean",
    "truncate",
    "A",
    "B",
    "K",
    "chrono",
    "trace",
    "stats",
    "strict",
    "unchecked",
    "for",
    "seed",
    "show",
    "prelude",
    "fn",
    "const",
    "type",
    "enum",
    "eval",
    "let",
    "in",
    "match",
    "with",
    "fold",
    "scan",
    "loop",
    "while",
    "do",
    "probe",
    "expect",
];

#[test]
fn every_name_of_a_correct_program_has_a_definition() {
    let (mut n_names, mut missing) = (0, Vec::new());
    for Written { path, text } in written() {
        let read = read(&path, &text);
        let Resolved { program, diagnostics } = &read.resolved;
        if !diagnostics.is_empty() || check_program(program, None).is_err() {
            continue;
        }
        for token in names(&read) {
            n_names += 1;
            let name = read.sources.main().slice(token.span);
            match read.positions.at(token.span.start) {
                Some(found) if found.span == token.span => agrees(&read, found, &path),
                _ => {
                    let place = read.sources.main().position(token.span.start);
                    missing.push(format!("{path}:{}:{}: {name}", place.line, place.column));
                }
            }
        }
    }
    assert!(missing.is_empty(), "{} of {n_names}:\n{}", missing.len(), missing.join("\n"));
    assert!(n_names > 9_000, "{n_names} names must be checked");
}

/// The text of a token equals the name of its symbol, and so does the text at its definition.
pub fn agrees(read: &Read, found: &Occurrence, path: &str) {
    let symbol = read.positions.symbol(found.symbol);
    let text = |span: Span| read.sources.file(span).slice(span);
    match &symbol.kind {
        SymbolKind::Operator => return,
        SymbolKind::File(_) => assert!(text(found.span).starts_with('"'), "{path}: a path"),
        _ if found.is_derived => {}
        _ => assert_eq!(text(found.span), symbol.name, "{path}"),
    }
    match (&symbol.kind, symbol.definition) {
        (SymbolKind::Function, place) => assert!(place.is_none() && symbol.doc.is_some(), "{path}"),
        (SymbolKind::File(_), Some(_)) => {}
        // A label that no type declares.
        (SymbolKind::Field, None) => {}
        (_, Some(place)) => assert_eq!(text(place), symbol.name, "{path}"),
        (_, None) => panic!("{path}: `{}` has no definition", symbol.name),
    }
}

/// The names of the main file, without contextual keywords.
fn names(read: &Read) -> Vec<Token> {
    let file = read.sources.main();
    let tree = &read.resolved.program.modules[Program::MAIN].tree;
    let declarations: Vec<Span> = tree
        .items
        .iter()
        .filter(|item| !matches!(item, Item::Node(_)))
        .map(Item::span)
        .chain(tree.imports.iter().map(|import| import.span))
        .collect();
    let cells: Vec<Span> = tree.runs().flat_map(|run| &run.rows).filter_map(cells).collect();
    let lies_in = |spans: &[Span], token: &Token| {
        spans.iter().any(|span| span.start <= token.span.start && token.span.end <= span.end)
    };
    let tokens = lex(file, &eddy_language::parse::LEXICON).tokens;
    let span_end = |number: usize| tokens[number].span.end;
    let is_name = |(number, token): &(usize, &Token)| {
        let text = file.slice(token.span);
        // `num(k)` is a function.
        let is_call = tokens.get(number + 1).is_some_and(|after| file.slice(after.span) == "(");
        let follows_colon =
            number.checked_sub(1).is_some_and(|before| file.slice(tokens[before].span) == ":");
        let is_type = ["num", "int", "bool"].contains(&text)
            && (follows_colon || (lies_in(&declarations, token) && !is_call));
        let after = |n: usize| tokens.get(number + n);
        let follows_operand = number.checked_sub(1).is_some_and(|before| {
            matches!(tokens[before].kind, TokenKind::Name | TokenKind::Number)
                || [")", "]"].contains(&file.slice(tokens[before].span))
        });
        // `match m {…}`, `{r with x = e}`, `let f = g;`, `fold h = x for i < n do e`: these words are names
        // elsewhere in nodes.
        let is_form = match text {
            "with" => after(2).is_some_and(|token| file.slice(token.span) == "="),
            "match" => after(1).is_some_and(|token| token.kind == TokenKind::Name),
            "let" | "fold" => after(1).is_some_and(|token| {
                token.kind == TokenKind::Name
                    || file.slice(token.span) == "(" && token.span.start > span_end(*number)
            }),
            "for" | "do" | "is" | "continue" | "every" => follows_operand,
            "reset" | "probe" => after(1).is_some_and(|token| token.kind == TokenKind::Name),
            "assert" | "assume" | "until" | "unless" => {
                after(1).is_some_and(|token| !["=", ",", ":"].contains(&file.slice(token.span)))
            }
            "automaton" | "state" | "last" => after(1).is_some_and(|token| {
                token.kind == TokenKind::Name || (text == "automaton" && file.slice(token.span) == "{")
            }),
            _ => false,
        };
        let is_word = is_type || is_form || (WORDS.contains(&text) && lies_in(&declarations, token));
        token.kind == TokenKind::Name && text != "_" && !is_word && !lies_in(&cells, token)
    };
    tokens.iter().enumerate().filter(is_name).map(|(_, token)| *token).collect()
}

/// The cells of a row, which are not names: `t` is true there.
fn cells(row: &tree::Row) -> Option<Span> {
    match row.value {
        RowValue::Cells(_) => Some(Span::new(row.ident.span.end, row.span.end)),
        RowValue::Constant(_) => None,
    }
}

/// Editors show the results of the checks.
#[test]
fn inputs_and_outputs_have_the_types_and_clocks_that_checks_find() {
    let mut n_compared = 0;
    for Written { path, text } in written() {
        let Read { resolved, positions, .. } = read(&path, &text);
        if !resolved.diagnostics.is_empty() {
            continue;
        }
        let program = &resolved.program;
        for callable in declared(program) {
            let Base::Node(node) = callable.base else { continue };
            let no_hints = |_: &_| Hints::default();
            let defaults = program.defaults_of(&callable);
            let given = ElaborationOptions { defaults, ..ElaborationOptions::default() };
            let Ok(prepared) = prepare(program, &callable, &given, no_hints, Checks::On) else {
                continue;
            };
            let declared = program.node(node);
            let inputs =
                (0..declared.n_inputs).filter(|input| !given.defaults.contains(&declared.slots[*input].name));
            let slots = inputs.map(SlotId::new).chain(declared.outputs.iter().copied());
            for (slot, var) in slots.zip(prepared.flow.inputs.iter().chain(&prepared.flow.outputs)) {
                let is_it = |symbol: &Symbol| symbol.kind == SymbolKind::Stream { node, slot };
                let (_, symbol) =
                    positions.symbols().find(|(_, symbol)| is_it(symbol)).expect("it is declared");
                let ty = &prepared.flow.var(*var).ty;
                let is_found = symbol.facts.iter().any(|facts| {
                    facts.scalar == Some(ty.scalar)
                        && facts.shape.as_ref() == Some(&ty.shape)
                        && facts.clock.is_some()
                });
                assert!(
                    is_found,
                    "{path}: `{}` of `{}` is a {ty}: {:?}",
                    symbol.name, declared.name, symbol.facts
                );
                n_compared += 1;
            }
            let (_, symbol) = positions
                .symbols()
                .find(|(_, symbol)| symbol.kind == SymbolKind::Node(node))
                .expect("it is declared");
            assert_eq!(symbol.look_ahead, prepared.verdict, "{path}: {}", declared.name);
        }
    }
    show(&format!("{n_compared} inputs and outputs have the same types"));
    assert!(n_compared > 1000, "{n_compared} must be checked");
}
