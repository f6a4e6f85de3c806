//! The format of `.rd` files: what it looks like, and the laws that it obeys.
//!
//! The laws: tokens and comments do not change; formatting is idempotent; blanks and single line breaks in
//! the source do not matter; nesting and size do not matter.

use eddy_rd::format::format;
use eddy_rd::parse::LEXICON;
use eddy_syntax::SourceFile;
use eddy_syntax::lex::{TokenKind, lex};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use proptest::sample::select;

fn formatted(text: &str) -> String {
    match format(&file(text)) {
        Ok(formatted) => formatted,
        Err(diagnostics) => panic!("{text}\nis refused: {diagnostics:?}"),
    }
}

fn check(text: &str, expected: &Expect) {
    let once = formatted(text);
    expected.assert_eq(&once);
    assert_laws(text, &once);
}

fn assert_laws(text: &str, once: &str) {
    let (before, after) = (file(text), file(once));
    assert_eq!(words(&before), words(&after), "tokens and comments of\n{text}\nformatted\n{once}");
    let twice = formatted(once);
    assert_eq!(once, twice, "formatted twice: {text}");
    assert!(once.ends_with('\n') && !once.ends_with("\n\n") && !once.starts_with('\n'), "edges of\n{once}");
    // Comments over several lines are kept as they are, with their blanks.
    if !text.contains("several lines") {
        assert!(once.lines().all(|line| line.trim_end() == line), "trailing blanks in\n{once}");
        assert!(!once.contains("\n\n\n"), "two empty lines in\n{once}");
    }
}

fn file(text: &str) -> SourceFile {
    SourceFile::new("test.rd", text)
}

/// The tokens, then the comments, which have no kind.
fn words(file: &SourceFile) -> Vec<(Option<TokenKind>, &str)> {
    let lexed = lex(file, &LEXICON);
    let tokens = lexed.tokens.iter().map(|token| (Some(token.kind), file.slice(token.span)));
    tokens.chain(lexed.comments.iter().map(|comment| (None, file.slice(comment.span)))).collect()
}

#[test]
fn tokens_are_spaced_as_the_language_is_written() {
    check(
        "f ( x,y )+- x * 2 ^ -3/<1 ,  2>-zero[real*( unit * real)^2]",
        &expect![[r"
            f(x, y) + -x * 2^-3 / <1, 2> - zero[real * (unit * real)^2]
        "]],
    );
    check(
        "1 . rd [ 2 ] ( x : real . x * 1 . fd[3](y.x+y)) . mul_r (3,4) + grad [1] ( f ) . powi_r [ - 3 ] (2)",
        &expect![[r"
            1.rd[2](x:real. x * 1.fd[3](y. x + y)).mul_r(3, 4) + grad[1](f).powi_r[-3](2)
        "]],
    );
    check(
        "if not a<b&&c>=d||not (true) then powi [2] (x) else ()",
        &expect![[r"
            if not a < b && c >= d || not (true) then powi[2](x) else ()
        "]],
    );
}

#[test]
fn tokens_that_would_merge_keep_a_blank() {
    check(
        "( *, - - 2, -(-2), 1 - -1, f( * ), 2^- -1)",
        &expect![[r"
            ( *, - -2, -(-2), 1 - -1, f( *), 2^- -1)
        "]],
    );
    check(
        "1 .rd[2](x:real^2. 5)",
        &expect![[r"
            1.rd[2](x:real^2. 5)
        "]],
    );
}

#[test]
fn unicode_spellings_are_kept() {
    check(
        "let ⟨x:ℝ×ℝ, y⟩ = ⟨(1,2),3⟩ in if ¬ y≤1∧¬(y≠2)∨y ≥ 3 then y·x else y×x",
        &expect![[r"
            let ⟨x:ℝ × ℝ, y⟩ = ⟨(1, 2), 3⟩ in
            if ¬y ≤ 1 ∧ ¬(y ≠ 2) ∨ y ≥ 3 then y · x else y × x
        "]],
    );
}

#[test]
fn an_equals_sign_that_closes_a_bracket_stays_one_token() {
    check(
        "let <x>=1 in let <y> = x in y",
        &expect![[r"
            let <x>= 1 in
            let <y> = x in
            y
        "]],
    );
}

#[test]
fn directives_have_a_line_each() {
    check(
        "use clarke use clarke (* why *) grad[0](x. relu(x))",
        &expect![[r"
            use clarke
            use clarke
            (* why *) grad[0](x. relu(x))
        "]],
    );
}

#[test]
fn definitions_at_the_top_have_a_line_each() {
    check(
        "const k = (2, -3) in let f(x:real):real = let y = x in y * fst(k) in letrec[3] g():real = 1 in (f(5), g())",
        &expect![[r"
            const k = (2, -3) in
            let f(x:real):real = let y = x in y * fst(k) in
            letrec[3] g():real = 1 in
            (f(5), g())
        "]],
    );
}

/// Program G12 of the specification.
const GRADIENT_DESCENT: &str = "\
const a = 2 in const b = 6 in const w0 = 0 in const rate = 0.0625 in const maxLoss = 0.01 in
let myUntrainedModel(x:real, w:real):real = w * x in
let myLoss(y:real, p:real):real = (p - y) * (p - y) in
let myTrainedModel(x:real):real =
  let currentLoss(w:real):real = myLoss(b, myUntrainedModel(a, w)) in
  let gradLoss(w:real):real = grad[w](v:real. currentLoss(v)) in
  letrec descend(w:real):real =
    if currentLoss(w) < maxLoss then w else descend(w - rate * gradLoss(w)) in
  myUntrainedModel(x, descend(w0))
in (myTrainedModel(5), grad[5](myTrainedModel))
";

#[test]
fn a_definition_breaks_after_its_equals_sign() {
    check(
        GRADIENT_DESCENT,
        &expect![[r"
            const a = 2 in
            const b = 6 in
            const w0 = 0 in
            const rate = 0.0625 in
            const maxLoss = 0.01 in
            let myUntrainedModel(x:real, w:real):real = w * x in
            let myLoss(y:real, p:real):real = (p - y) * (p - y) in
            let myTrainedModel(x:real):real =
              let currentLoss(w:real):real = myLoss(b, myUntrainedModel(a, w)) in
              let gradLoss(w:real):real = grad[w](v:real. currentLoss(v)) in
              letrec descend(w:real):real =
                if currentLoss(w) < maxLoss then w else descend(w - rate * gradLoss(w)) in
              myUntrainedModel(x, descend(w0)) in
            (myTrainedModel(5), grad[5](myTrainedModel))
        "]],
    );
}

#[test]
fn parameters_that_do_not_fit_have_a_line_each() {
    check(
        "let classify(width:real, height:real, leftWeights:real^16, rightWeights:real^16, offset:real * real):real = 1 in 1",
        &expect![[r"
            let classify(
              width:real,
              height:real,
              leftWeights:real^16,
              rightWeights:real^16,
              offset:real * real
            ):real = 1 in
            1
        "]],
    );
}

#[test]
fn types_break_before_their_products() {
    check(
        "zero[(real * real)^1000 * (unit * real)^1000 * (real * unit)^1000 * (real * real)^1000 * real * real^1000]",
        &expect![[r"
            zero[(real * real)^1000
              * (unit * real)^1000
              * (real * unit)^1000
              * (real * real)^1000
              * real
              * real^1000]
        "]],
    );
}

#[test]
fn a_conditional_breaks_before_else() {
    check(
        "if temperature < threshold then adjusted(temperature, threshold) else original(temperature, threshold, 1)",
        &expect![[r"
            if temperature < threshold then adjusted(temperature, threshold)
            else original(temperature, threshold, 1)
        "]],
    );
}

#[test]
fn else_if_is_not_indented_further() {
    check(
        "let clamp(x:real):real = if x < 0 then 0 else if x < 1 then let y = x in y * (x + 1) else if x < 2 then if x < 1.5 then 1 else 2 else if 2 < x then 3 else 4 in clamp(1)",
        &expect![[r"
            let clamp(x:real):real =
              if x < 0 then 0
              else if x < 1 then let y = x in y * (x + 1)
              else if x < 2 then if x < 1.5 then 1 else 2
              else if 2 < x then 3
              else 4 in
            clamp(1)
        "]],
    );
}

#[test]
fn long_branches_and_conditions_differ_in_their_indentation() {
    check(
        "if firstCondition(temperature) < threshold && secondCondition(temperature) < threshold || thirdCondition < threshold then let scaled = scale(temperature, threshold) in let shifted = scaled + 1 in shifted * scaled * shifted else otherwise(temperature)",
        &expect![[r"
            if firstCondition(temperature) < threshold && secondCondition(temperature) < threshold
                || thirdCondition < threshold then
              let scaled = scale(temperature, threshold) in
              let shifted = scaled + 1 in
              shifted * scaled * shifted
            else otherwise(temperature)
        "]],
    );
}

#[test]
fn arguments_and_tuples_that_do_not_fit_have_an_item_per_line() {
    check(
        "combine(first(temperature, threshold), (second(temperature, threshold), third(temperature)), <1, 23>)",
        &expect![[r"
            combine(
              first(temperature, threshold),
              (second(temperature, threshold), third(temperature)),
              <1, 23>
            )
        "]],
    );
    check(
        "1 + norm((((first(temperature, threshold), second(temperature, threshold), third(temperature, 12)))))",
        &expect![[r"
            1
              + norm((((
                first(temperature, threshold),
                second(temperature, threshold),
                third(temperature, 12)
              ))))
        "]],
    );
}

#[test]
fn sums_break_before_their_operators() {
    check(
        "let total = first(temperature) * threshold + second(temperature) / threshold - (third(temperature) - 1) in total",
        &expect![[r"
            let total =
              first(temperature) * threshold + second(temperature) / threshold - (third(temperature) - 1) in
            total
        "]],
    );
    check(
        "first(temperature) * threshold + second(temperature) / threshold - (third(temperature) - 1) + let x = 1 in let y = second(temperature) * second(temperature) * third(temperature) * fourth(temperature) in x * y",
        &expect![[r"
            first(temperature) * threshold
              + second(temperature) / threshold
              - (third(temperature) - 1)
              + let x = 1 in
                let y = second(temperature) * second(temperature) * third(temperature) * fourth(temperature) in
                x * y
        "]],
    );
}

#[test]
fn the_body_of_a_derivative_goes_below_its_binder() {
    check(
        "cotangent.rd[(temperature, threshold)](p:real * real. let (t, h) = p in first(t) * second(h) * third(t, h))",
        &expect![[r"
            cotangent.rd[(temperature, threshold)](p:real * real.
              let (t, h) = p in
              first(t) * second(h) * third(t, h)
            )
        "]],
    );
}

#[test]
fn comments_keep_their_lines() {
    check(
        "
-- About the file.

-- About x.
let x = 1 in -- ends the line
   -- about y
let y = -- why
  2 in
let z =
  -- on its own
  3 in   (* before f *) f(x, -- first
    y (* second *), (* third *) z
    -- last
  ) + -- and
  1


  -- the end
",
        &expect![[r"
            -- About the file.

            -- About x.
            let x = 1 in  -- ends the line
            -- about y
            let y =  -- why
              2 in
            let z =
              -- on its own
              3 in
            (* before f *) f(
              x,  -- first
              y (* second *),
              (* third *) z
              -- last
            )
              +  -- and
                1

            -- the end
        "]],
    );
}

#[test]
fn comments_are_kept_inside_lines() {
    check(
        "let -- a\nf(* b *)( (* c *) ) -- d\n: real = if 1 < 2 -- e\nthen f (* f *) ((* g *)) else (* h *) if true then 1 -- i\n-- j\nelse 2 in 1",
        &expect![[r"
            let  -- a
              f (* b *) ((* c *))  -- d
              :real =
              if 1 < 2  -- e
                then f (* f *) ((* g *))
              else (* h *) if true then 1  -- i
              -- j
              else 2 in
            1
        "]],
    );
}

#[test]
fn a_comment_of_several_lines_is_kept() {
    check(
        "let x =\n      (* over\n  several lines  \n     *) 1 in x",
        &expect![[r"
            let x =
              (* over
              several lines  
                 *) 1 in
            x
        "]],
    );
}

#[test]
fn a_long_comment_does_not_break_the_code_before_it() {
    check(
        "f(temperature, threshold) -- a remark that is so long that the line has more than a hundred columns in all",
        &expect![[r"
            f(temperature, threshold)  -- a remark that is so long that the line has more than a hundred columns in all
        "]],
    );
}

#[test]
fn single_empty_lines_are_kept() {
    check(
        "\n\nuse clarke\n\n\n\nlet f(x:real):real =\n\n  let y = x in\n\n\n  y in\n\nf(\n\n1,\n\n2\n\n)\n\n+ 1\n\n",
        &expect![[r"
            use clarke

            let f(x:real):real =
              let y = x in

              y in

            f(
              1,

              2
            ) + 1
        "]],
    );
}

#[test]
fn a_program_with_mistakes_is_not_formatted() {
    let refused = |text: &str| {
        let diagnostics = format(&file(text)).expect_err("the program is wrong");
        let shown = diagnostics.iter().map(|diagnostic| {
            format!("{} at {}: {}", diagnostic.code, diagnostic.primary.span.start, diagnostic.title)
        });
        shown.collect::<Vec<_>>().join("\n")
    };
    expect![[r"
        RD002 at 8: syntax error: expected a term, found `in`
        RD001 at 23: unexpected character `£`"]]
    .assert_eq(&refused("let x = in let y = 2 + £1 in x + y"));
    expect!["RD010 at 3: term used as a boolean"].assert_eq(&refused("if 1 then 2 else 3"));
    expect!["RD009 at 4: `sin` is reserved"].assert_eq(&refused("let sin = 3 in 1"));
    expect!["RD011 at 0: numeral out of range"].assert_eq(&refused("1e999"));
}

/// Formats in a thread with the default stack, which recursion would overflow.
fn check_deep(text: String) {
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let checked = thread.spawn(move || {
        let once = formatted(&text);
        assert!(words(&file(&text)) == words(&file(&once)), "the tokens changed");
        assert!(once == formatted(&once), "formatting twice changed something");
        assert!(once.len() < 200 * text.len(), "{} bytes have become {}", text.len(), once.len());
    });
    checked.expect("a thread starts").join().expect("the program is formatted");
}

#[test]
fn programs_may_be_arbitrarily_deep() {
    let n = 100_000;
    check_deep(format!("{}x{}", "(".repeat(n), ")".repeat(n)));
    check_deep(format!("{}x", "let x = 1 in ".repeat(n)));
    // Deep enough for stack frames of a hundred bytes to overflow.
    let n = 30_000;
    check_deep(format!("{}1{}", "let x = ".repeat(n), " in x".repeat(n)));
    check_deep(format!("{}x{}", "f(1, ".repeat(n), ")".repeat(n)));
    check_deep(format!("x{}", " + x".repeat(n)));
    check_deep(format!("{}x{}", "x - (".repeat(n), ")".repeat(n)));
    check_deep(format!("{}x", "- ".repeat(n)));
    check_deep(format!("{}x", "if 1 < 2 then 1 else ".repeat(n)));
    check_deep(format!("{}x{}", "if 1 < 2 then ".repeat(n), " else 1".repeat(n)));
    check_deep(format!("{}x{}", "grad[1](x. ".repeat(n), ")".repeat(n)));
    check_deep(format!("x{}", ".rd[1](x. x)".repeat(n)));
    check_deep(format!("zero[{}real{}]", "(".repeat(n), ")".repeat(n)));
    check_deep(format!("{}x{}", "(* c *) ".repeat(n), " -- c\n".repeat(n)));
}

/// Programs that together use every form, some of them long enough to break.
const PROGRAMS: [&str; 12] = [
    GRADIENT_DESCENT,
    "1.rd[1](x:real. x * 1.rd[1](y:real. x + y))",
    "use clarke let g(x:real):real = if x == 0 then 0 else x in grad[0](g)",
    "(dot((1, 2), (3, 4)), 2.dot_r((1, 2), (3, 4)), ((2).mul_r(3, 4), 1.powi_r[3](2)))",
    "zero[real * unit] + (3, ()) + (4, *) - 3.fd[2](x:real. (x * x, 5 * x))",
    "letrec f(x:real):real = if x < 1 then x * x else grad[x](y:real. f(y - 1)) in (f(1.5), grad[1.5](f))",
    "((4^0.5, 9^(1/2)), 1.rd[(1, 2)](p. fst(p) ^ snd(p)), 2^-2, - -x)",
    "let v:real^2 = (1, 2) in let () = () in let <x:real>=7 in let ⟨a, b⟩ = v in (v - 0.5 * w, -v)",
    "letrec[3] f(n:real * (real * unit)^2):real = 1 in const k = (2, -3) in 1 + if 1 < 2 then 10 else 20",
    "if not a < b && true || ¬(c ≥ d) then 1 else if false then 2 else let x = 1 in x",
    "let classify(width:real, height:real, weights:real^16 * real^16, offset:real * real):real = \
     if width < height && firstCondition(temperature) < threshold then combine(first(width, height), \
     (second(weights, offset), third(temperature)), <1, 2>) else first(width) * height + let x = weights in \
     let y = second(temperature) * x in x * y in 1.rd[(width, height)](p:real * real. classify(p, p, p, p))",
    "((((first(temperature, threshold), second(temperature, threshold))))) * (grad[(temperature, (threshold, \
     temperature))](x. let y = x in y * y + y / y) + powi[3](temperature)) - <1, if 2 > 1 then 5 else 6>",
];

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

/// The tokens of a program without comments, except for the end token.
fn tokens(text: &str) -> Vec<String> {
    let file = file(text);
    let words = words(&file);
    words[..words.len() - 1].iter().map(|(_, text)| (*text).to_string()).collect()
}

/// The tokens of a program, and the separators before each of them and at the end.
fn separated(separators: &'static [&'static str]) -> impl Strategy<Value = (Vec<String>, Vec<&'static str>)> {
    let program = prop_oneof![select(&PROGRAMS[..]).prop_map(str::to_string), term()];
    program.prop_flat_map(move |program| {
        let tokens = tokens(&program);
        let separator = prop_oneof![8 => Just(" "), 2 => select(separators)];
        let separators = proptest::collection::vec(separator, tokens.len() + 1);
        (Just(tokens), separators)
    })
}

fn joined(tokens: &[String], separators: &[&str]) -> String {
    let ends = tokens.iter().map(String::as_str).chain([""]);
    separators.iter().zip(ends).flat_map(|(separator, token)| [*separator, token]).collect()
}

/// Terms of all forms and sizes.
fn term() -> impl Strategy<Value = String> {
    let leaf = select(&["x", "1", "2.5", "()", "temperature", "zero[real * unit]", "f(x, threshold)"][..]);
    let leaf = leaf.prop_map(str::to_string);
    leaf.prop_recursive(8, 96, 3, |term| {
        let binary = select(&["+", "-", "*", "/"][..]);
        let compare = select(&["<", ">=", "≠"][..]);
        prop_oneof![
            (term.clone(), binary, term.clone()).prop_map(|(l, op, r)| format!("({l}){op}({r})")),
            (term.clone(), term.clone()).prop_map(|(l, r)| format!("{l} + {r}")),
            (term.clone(), term.clone()).prop_map(|(l, r)| format!("({l})^({r})")),
            term.clone().prop_map(|t| format!("- {t}")),
            (term.clone(), term.clone()).prop_map(|(b, t)| format!("let y = {b} in {t}")),
            (term.clone(), term.clone()).prop_map(|(b, t)| format!("let g(x:real):real = {b} in\n\n{t}")),
            (term.clone(), compare, term.clone(), term.clone())
                .prop_map(|(l, op, r, t)| format!("if {l} {op} {r} && not {r} < 1 then {t} else {l}")),
            (term.clone(), term.clone(), term.clone()).prop_map(|(a, b, c)| format!("h({a}, <{b}, {c}>)")),
            (term.clone(), term.clone()).prop_map(|(l, t)| format!("grad[{l}](x:real^2. {t})")),
            (term.clone(), term).prop_map(|(m, l)| format!("({m}).rd[{l}](f)")),
        ]
    })
}

proptest! {
    #[test]
    fn comments_anywhere_survive((tokens, separators) in separated(&SEPARATORS)) {
        let text = joined(&tokens, &separators);
        assert_laws(&text, &formatted(&text));
    }

    #[test]
    fn blanks_and_single_line_breaks_do_not_matter((tokens, separators) in separated(&SEPARATORS[..2])) {
        prop_assert_eq!(formatted(&tokens.join(" ")), formatted(&joined(&tokens, &separators)));
    }

    #[test]
    fn terms_of_all_forms_obey_the_laws(text in term()) {
        assert_laws(&text, &formatted(&text));
    }
}
