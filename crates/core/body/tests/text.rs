//! Printing and parsing are inverse to each other, on generated modules that need not make sense.

use std::sync::Arc;

use eddy_body::edit::Names;
use eddy_body::{
    At, Binding, Body, BodyId, Control, Custom, Elem, EnumId, Enumeration, Kind, Literal, Loop, Mode, Module,
    Operation, Param, Region, Stmt, Type, Var, parse,
};
use eddy_syntax::Span;
use eddy_tensor::{Data, Shape, Value};
use proptest::prelude::*;

const N_NAMES: usize = 12;
const N_BODIES: usize = 3;

fn var() -> impl Strategy<Value = Var> {
    (0..N_NAMES).prop_map(Var::new)
}

fn vars(n: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Var>> {
    prop::collection::vec(var(), n)
}

fn elem() -> impl Strategy<Value = Elem> {
    let elems = vec![Elem::Bool, Elem::Int, Elem::Num, Elem::Tape, Elem::Enum(EnumId::new(0))];
    prop::sample::select(elems)
}

fn ty() -> impl Strategy<Value = Type> {
    (elem(), 0..3_usize).prop_map(|(elem, rank)| Type { elem, rank })
}

fn number() -> impl Strategy<Value = f64> {
    let special = vec![f64::NAN, -0.0, f64::INFINITY, f64::NEG_INFINITY, 1.0, 1e-300, 5e-324, 1e22];
    prop_oneof![
        any::<f64>().prop_map(|x| if x.is_nan() { f64::NAN } else { x }),
        prop::sample::select(special)
    ]
}

fn literal() -> impl Strategy<Value = Literal> {
    let case = Elem::Enum(EnumId::new(0));
    let scalars = prop_oneof![
        number().prop_map(Literal::num),
        any::<i64>().prop_map(Literal::int),
        any::<bool>().prop_map(Literal::bool),
        (0..2_i64).prop_map(move |n| Literal { elem: case, ..Literal::int(n) }),
    ];
    let tensors =
        (0..2_usize, 0..3_usize, prop::collection::vec((number(), any::<i64>(), any::<bool>()), 4), 0..4_u8);
    let tensors = tensors.prop_map(move |(rows, columns, elements, kind)| {
        let elements = &elements[..rows * columns];
        let (elem, data) = match kind {
            0 => (Elem::Num, Data::Num(elements.iter().map(|(x, ..)| *x).collect())),
            1 => (Elem::Int, Data::Int(elements.iter().map(|(_, n, _)| *n).collect())),
            2 => (Elem::Bool, Data::Bool(elements.iter().map(|(.., b)| *b).collect())),
            _ => (case, Data::Int(elements.iter().map(|(_, n, _)| n.rem_euclid(2)).collect())),
        };
        let value = Value::new(Shape::new(&[rows, columns]), data).expect("as many");
        Literal { elem, value: Arc::new(value) }
    });
    prop_oneof![scalars, tensors]
}

fn places() -> impl Strategy<Value = Vec<At>> {
    let at = prop_oneof![
        var().prop_map(At::Int),
        (var(), var()).prop_map(|(lo, hi)| At::Range(lo, hi)),
        Just(At::All)
    ];
    prop::collection::vec(at, 0..3)
}

fn operation() -> impl Strategy<Value = Operation> {
    prop::sample::select(Operation::all().collect::<Vec<_>>())
}

fn bindings() -> impl Strategy<Value = Vec<Binding>> {
    prop::collection::vec((var(), var()).prop_map(|(var, init)| Binding { var, init }), 0..3)
}

fn region(stmt: BoxedStrategy<Stmt>) -> impl Strategy<Value = Region> {
    (prop::collection::vec(stmt, 0..3), vars(0..3)).prop_map(|(stmts, yields)| Region { stmts, yields })
}

fn repeat(stmt: BoxedStrategy<Stmt>) -> impl Strategy<Value = Kind> {
    let parts =
        (0..3_u8, var(), var(), region(stmt.clone()), bindings(), bindings(), vars(0..3), region(stmt));
    parts.prop_map(|(kind, index, count, condition, states, accs, collect, mut body)| {
        let (control, states) = match kind {
            0 => (Control::For { index, count }, states),
            1 => {
                body.yields.clear();
                (Control::Each { index, count }, Vec::new())
            }
            _ => (Control::While(condition), states),
        };
        Kind::Loop(Box::new(Loop { control, states, accs, collect, body }))
    })
}

/// A statement with at least one result if its text requires one.
fn stmt() -> BoxedStrategy<Stmt> {
    let callee = || (0..N_BODIES).prop_map(BodyId::new);
    let mode = || prop::sample::select(vec![Mode::Plain, Mode::Adj, Mode::Tan]);
    let leaf = prop_oneof![
        literal().prop_map(Kind::Const),
        (operation(), vars(0..4)).prop_map(|(operation, operands)| Kind::Op(operation, operands)),
        (var(), places()).prop_map(|(array, at)| Kind::Index(array, at)),
        (var(), places(), var()).prop_map(|(array, at, value)| Kind::Update(array, at, value)),
        (var(), places(), var()).prop_map(|(array, at, value)| Kind::Increase(array, at, value)),
        (var(), places(), var()).prop_map(|(acc, at, value)| Kind::Add(acc, at, value)),
        (mode(), callee(), vars(0..4))
            .prop_map(|(mode, callee, arguments)| Kind::Call(mode, callee, arguments)),
        (prop::collection::vec(ty(), 0..3), var()).prop_map(|(types, tape)| Kind::Unpack(types, tape)),
    ];
    let span = || {
        prop_oneof![
            Just(Span::default()),
            (0..99_u32, 0..99_u32).prop_map(|(start, end)| Span { start, end })
        ]
    };
    let whole = move |kind: BoxedStrategy<Kind>| {
        (vars(0..3), kind, span()).prop_map(|(results, kind, span)| {
            let results = if let Kind::Add(..) = kind { Vec::new() } else { results };
            Stmt { results, kind, span }
        })
    };
    let first = whole(leaf.boxed()).boxed();
    first
        .prop_recursive(3, 12, 3, move |inner| {
            let branches = (var(), region(inner.clone()), region(inner.clone()));
            let branches = branches.prop_map(|(condition, yes, no)| Kind::If(condition, yes, no));
            prop_oneof![whole(branches.boxed()), whole(repeat(inner).boxed())]
        })
        .boxed()
}

fn module() -> impl Strategy<Value = Module> {
    let param = (var(), ty(), any::<bool>()).prop_map(|(var, ty, is_acc)| Param { var, ty, is_acc });
    let body = (prop::collection::vec(param, 0..3), prop::collection::vec(ty(), 0..3), region(stmt()));
    let custom = (0..N_BODIES, 0..N_BODIES, any::<bool>()).prop_map(|(of, derivative, is_adjoint)| Custom {
        of: BodyId::new(of),
        mode: if is_adjoint { Mode::Adj } else { Mode::Tan },
        derivative: BodyId::new(derivative),
    });
    (prop::collection::vec(body, N_BODIES), prop::collection::vec(custom, 0..2)).prop_map(
        |(bodies, customs)| {
            let body = |(at, (params, results, region)): (usize, (Vec<Param>, Vec<Type>, Region))| {
                let mut names = Names::default();
                for name in ["x", "sum", "add", "yield", "while", "size", "v", "v", "é", "inf", "_a", "index"]
                {
                    names.fresh(name);
                }
                Body { name: format!("b{at}"), params, results, region, names: names.finish() }
            };
            Module {
                enums: vec![Enumeration { name: "sort".into(), cases: vec!["small".into(), "large".into()] }],
                bodies: bodies.into_iter().enumerate().map(body).collect(),
                customs,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    /// The text of a module parses, and the parsed module has the same text; names may have other numbers.
    #[test]
    fn text_round_trips(module in module()) {
        let text = module.to_string();
        let parsed = parse(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(parsed.to_string(), text.clone());
        let again = parse(&parsed.to_string()).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(again, parsed);
    }

    /// Verification accepts or rejects every module without a panic, and so does the parser every text.
    #[test]
    fn any_module_and_any_text_is_answered(module in module(), text in "[a-z{}()\\[\\]:=.,<@_> 0-9\n-]{0,200}") {
        let _ = eddy_body::verify(&module);
        let _ = parse(&text);
        let _ = parse(&format!("body a(x: num) -> () {{ {text}"));
    }
}

#[test]
fn deep_text_is_refused() {
    for open in ["if x { ", "y = each i < n { ", "y = while (a = b) { "] {
        let text = format!("body a(x: num) -> () {{ {}", open.repeat(100_000));
        let error = parse(&text).expect_err("it is too deep");
        assert!(error.to_string().contains("regions inside each other"), "{error}");
    }
}

#[test]
fn mistakes_have_lines() {
    let check = |text: &str, expected: &str| {
        assert_eq!(parse(text).expect_err("it is wrong").to_string(), expected);
    };
    check("body f() -> () {\n  y = sine(x)\n  yield\n}", "line 2: `sine` is no operation");
    check("body f() -> () {\n  y = call g()\n  yield\n}", "line 2: there is no body `g`");
    check("body f(x: real) -> () {\n  yield\n}", "line 1: `real` is no type");
    check(
        "body f() -> () {\n  y = const num [2] { 1.0 } ()\n  yield\n}",
        "line 2: shape [2] has 2 elements, not 1",
    );
    check("body f() -> () {\n yield }\nbody f() -> () {", "line 3: `f` is there twice");
    check("x", "line 1: expected `body`, `enum` or `custom`, found `x`");
    check("body f() -> () {\n  while = sin(x)\n  yield\n}", "line 2: expected a name, found `while`");
}
