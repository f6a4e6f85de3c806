//! The laws of formatting, on the programs of the specification and on generated ones, with comments and line
//! breaks anywhere.

mod text_laws;

use eddy_language::parse::LEXICON;
use eddy_syntax::lex::{TokenKind, lex};
use proptest::prelude::*;
use proptest::sample::select;

use text_laws::{assert_laws, file, formatted};

/// Separators between two tokens.
const SEPARATORS: [&str; 12] = [
    " ",
    "\n",
    "\n\n\n",
    " -- a\n",
    " -- b\n\n",
    "\n-- c\n",
    "\n\n  -- d\n  -- e\n\n\n",
    " (* f *) ",
    "\n(* g *) ",
    " (* h *)\n",
    " (* i *) (* j *)\n\n(* k *)\n  ",
    " (* over\n several lines *) ",
];

fn written() -> impl Strategy<Value = String> {
    select(text_laws::programs())
}

/// Expressions of all forms and sizes.
fn expr() -> impl Strategy<Value = String> {
    let leaf = select(
        &["x", "1", "2.5", "true", "temperature", "zeros([n, 3])", "f(x, threshold)", "[]", "g()", "c'"][..],
    );
    let leaf = leaf.prop_map(str::to_string);
    leaf.prop_recursive(8, 64, 3, |expr| {
        let binary = select(&["+", "-", "*", "/", "div", "mod", "<", "≤", "==", "and", "∨"][..]);
        let prefix = select(&["-", "not ", "post ", "¬"][..]);
        let two = (expr.clone(), expr.clone());
        let three = (expr.clone(), expr.clone(), expr.clone());
        prop_oneof![
            (expr.clone(), binary, expr.clone()).prop_map(|(l, op, r)| format!("({l}) {op} ({r})")),
            two.clone().prop_map(|(l, r)| format!("x + ({l}) - y * ({r}) + z")),
            (prefix, expr.clone()).prop_map(|(op, e)| format!("{op}({e})")),
            two.clone().prop_map(|(l, r)| format!("({l}) fby ({r}) fby back z")),
            two.clone().prop_map(|(l, r)| format!("({l}) when c when not ({r})")),
            three.clone().prop_map(|(a, b, c)| format!("merge ({a}) ({b}) f({c})[0]")),
            three.clone().prop_map(|(a, b, c)| format!("merge c[0] [{a}, {b}] [{c}]")),
            three.clone().prop_map(|(a, b, c)| format!("(if {a} then {b} else if {c} then 1 else 2)")),
            three.prop_map(|(a, b, c)| format!("h({a}, ({b}, {c}), - -x)")),
            two.prop_map(|(a, b)| format!("[{a}, {b}]")),
        ]
    })
}

/// Programs with all declarations, around generated expressions.
fn program() -> impl Strategy<Value = String> {
    let equation = (select(&["x", "a, b", "(p:num [2, k], _)", "y:bool when c"][..]), expr())
        .prop_map(|(left, right)| format!("{left} = {right};"));
    let equations = proptest::collection::vec(equation, 0..4).prop_map(|equations| equations.join("\n"));
    let node = (equations, expr()).prop_map(|(equations, size)| {
        format!("node f(x:num [{size}], y when not x, z_that_is_long)->(o, p)\n{equations}")
    });
    let cell = select(&["1", ".", "-2.5", "t", "[1, [2, -3], []]", "?", "1000000"][..]);
    let cells = proptest::collection::vec(cell, 0..40).prop_map(|cells| cells.join(" "));
    let row =
        (cells, expr()).prop_map(|(cells, value)| format!("x: {cells};\nk = {value};\nlong_name: 1 2 3;"));
    let run = (row, select(&["\n", " "][..])).prop_map(|(rows, separator)| {
        format!("run f chrono show a#1/b, c for 3 {{{separator}{} }}", rows.replace('\n', separator))
    });
    let train = expr().prop_map(|value| format!("train f as g loss h optim sgd({value}, 2) segment;"));
    let item = prop_oneof![3 => node, 2 => run, 1 => train];
    let items = proptest::collection::vec(item, 0..4).prop_map(|items| items.join("\n"));
    (select(&["", "import a, b from \"x.eddy\"; ", "import \"y\"; "][..]), items)
        .prop_map(|(imports, items)| imports.to_string() + &items)
}

/// The tokens of a program without comments and without the final end token; each with whether it is adjacent
/// to the previous one where that matters.
fn tokens(text: &str) -> Vec<(String, bool)> {
    let file = file(text);
    let lexed = lex(&file, &LEXICON);
    let (mut end, mut is_behind_point) = (u32::MAX, false);
    let mut tokens = Vec::new();
    for token in lexed.tokens.iter().filter(|token| token.kind != TokenKind::End) {
        // A call, an index, a field and a range are written without blanks.
        let is_point = token.kind == TokenKind::Symbol(".");
        let matters = is_point || is_behind_point || matches!(token.kind, TokenKind::Symbol("(" | "["));
        tokens.push((file.slice(token.span).to_string(), matters && token.span.start == end));
        (end, is_behind_point) = (token.span.end, is_point);
    }
    tokens
}

/// A program with other separators between its tokens.
fn separated(separators: &'static [&'static str]) -> impl Strategy<Value = (String, String)> {
    prop_oneof![written(), program()].prop_flat_map(move |program| {
        let tokens = tokens(&program);
        let separator = prop_oneof![8 => Just(" "), 2 => select(separators)];
        let separators = proptest::collection::vec(separator, tokens.len() + 1);
        separators.prop_map(move |separators| {
            let join = |separators: &mut dyn Iterator<Item = &'static str>| {
                let mut text = String::new();
                for (token, is_glued) in &tokens {
                    let separator = separators.next().unwrap_or(" ");
                    text += if *is_glued { "" } else { separator };
                    text += token;
                }
                text + separators.next().unwrap_or_default()
            };
            (join(&mut std::iter::empty()), join(&mut separators.into_iter()))
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn comments_anywhere_survive((_, text) in separated(&SEPARATORS)) {
        assert_laws(&text);
    }

    #[test]
    fn programs_of_all_forms_obey_the_laws(text in program()) {
        assert_laws(&text);
    }

    #[test]
    fn blanks_and_single_line_breaks_do_not_matter((plain, text) in separated(&SEPARATORS[..2])) {
        // Except that a run over several lines keeps its lines.
        if !plain.contains('{') {
            prop_assert_eq!(formatted(&plain), formatted(&text));
        }
    }
}

#[test]
fn the_programs_of_the_specification_obey_the_laws() {
    for text in text_laws::programs() {
        assert_laws(text);
    }
}
