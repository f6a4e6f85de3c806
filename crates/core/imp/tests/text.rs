//! Printing and parsing are inverse to each other, on generated programs.

use eddy_imp::stmt::{Parallel, PointsTo};
use eddy_imp::{
    Application, Argument, Base, Binary, Block, Expr, Function, Intrinsic, Kernel, KernelCall, Linkage, Loop,
    Name, Parameter, Place, Precision, Procedure, Program, Stmt, Struct, Table, Tensor, Type, Unary, parse,
};
use proptest::prelude::*;

fn name() -> impl Strategy<Value = Name> {
    "[a-h][a-z0-9_]{0,4}"
        .prop_filter("words of the language are no names", |text| {
            !["for", "if", "by", "apply", "array", "check", "else", "false", "failure"]
                .contains(&text.as_str())
                && !Intrinsic::ALL.iter().any(|one| one.name() == text)
                && !Type::ALL.iter().any(|ty| ty.word() == text)
        })
        .prop_map(Name::from)
}

fn ty() -> impl Strategy<Value = Type> {
    prop::sample::select(Type::ALL.to_vec())
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("there is one NaN in the text", |x| !x.is_nan()),
        Just(f64::NAN),
        Just(-0.0),
        Just(f64::INFINITY),
        Just(f64::NEG_INFINITY),
        Just(1.0),
    ]
}

fn base(expr: BoxedStrategy<Expr>) -> impl Strategy<Value = Base> {
    prop_oneof![
        name().prop_map(Base::State),
        name().prop_map(Base::In),
        (name(), prop::option::of(expr)).prop_map(|(name, row)| Base::Out(name, row.map(Box::new))),
        name().prop_map(Base::Table),
        name().prop_map(Base::Shared),
    ]
}

/// Local memory has at least one index: without one it is a variable.
fn place(expr: BoxedStrategy<Expr>) -> BoxedStrategy<Place> {
    let indices = prop::collection::vec(expr.clone(), 0..3);
    let shared = (base(expr.clone()), indices).prop_map(|(base, at)| Place { base, at });
    let local = (name(), prop::collection::vec(expr, 1..3))
        .prop_map(|(name, at)| Place { base: Base::Local(name), at });
    prop_oneof![shared, local].boxed()
}

fn expr() -> BoxedStrategy<Expr> {
    let leaf = prop_oneof![
        number().prop_map(Expr::num),
        any::<i64>().prop_map(Expr::Int),
        any::<bool>().prop_map(Expr::Bool),
        any::<i64>().prop_map(Expr::Count),
        name().prop_map(Expr::Var),
        Just(Expr::Failure),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let two = (inner.clone(), inner.clone());
        let list = prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            place(inner.clone()).prop_map(Expr::Load),
            (prop::sample::select(vec![Unary::Neg, Unary::Not]), inner.clone())
                .prop_map(|(op, operand)| Expr::Unary(op, Box::new(operand))),
            (prop::sample::select(Binary::ALL.to_vec()), two)
                .prop_map(|(op, (left, right))| Expr::binary(op, left, right)),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(c, y, n)| Expr::choice(c, y, n)),
            (prop::sample::select(Intrinsic::ALL.to_vec()), list.clone())
                .prop_map(|(function, operands)| Expr::Call(function, operands)),
            (prop::sample::select(Intrinsic::ALL.to_vec()), list, 0..100_usize)
                .prop_map(|(function, operands, site)| Expr::Checked(function, operands, site)),
            (ty(), inner).prop_map(|(ty, operand)| operand.cast(ty)),
        ]
    })
    .boxed()
}

fn comment() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[a-z(][a-z *+/()]{0,10}[a-z)]"]
}

fn argument() -> impl Strategy<Value = Argument> {
    prop_oneof![
        expr().prop_map(Argument::Value),
        place(expr()).prop_map(Argument::Array),
        Just(Argument::State),
        Just(Argument::In),
        expr().prop_map(Argument::Out),
        Just(Argument::Shared),
    ]
}

fn stmt() -> BoxedStrategy<Stmt> {
    let arguments = || prop::collection::vec(argument(), 0..4);
    let leaf = prop_oneof![
        (name(), ty(), expr(), comment())
            .prop_map(|(name, ty, value, text)| Stmt::Let(name, ty, value, text)),
        (name(), ty(), expr()).prop_map(|(name, ty, value)| Stmt::Var(name, ty, value)),
        (name(), ty(), prop::collection::vec(0..9_usize, 1..3))
            .prop_map(|(name, ty, dimensions)| Stmt::Array(name, ty, dimensions)),
        (name(), ty(), expr(), place(expr()), place(expr())).prop_map(|(name, ty, condition, yes, no)| {
            Stmt::Pointer(name, ty, Box::new(PointsTo { condition, yes, no }))
        }),
        (name(), expr(), comment()).prop_map(|(name, value, text)| Stmt::Assign(name, value, text)),
        (place(expr()), expr(), comment()).prop_map(|(place, value, text)| Stmt::Store(place, value, text)),
        (place(expr()), expr(), comment()).prop_map(|(place, value, text)| Stmt::AddTo(place, value, text)),
        (prop::sample::select(Kernel::ALL.to_vec()), any::<bool>(), arguments()).prop_map(
            |(kernel, is_large, arguments)| Stmt::Kernel(KernelCall { kernel, is_large, arguments })
        ),
        (name(), arguments(), prop::collection::vec(place(expr()), 0..3), place(expr()), 0..99_usize)
            .prop_map(|(function, operands, results, memory, site)| {
                Stmt::Apply(Box::new(Application { function, operands, results, memory, site }))
            }),
        (prop::option::of(name()), name(), arguments())
            .prop_map(|(result, name, arguments)| Stmt::Run(result, name, arguments)),
        (name(), arguments(), 0..99_usize, 1..9_usize, 0..99_usize).prop_map(
            |(procedure, arguments, size, unit, n_terms)| {
                Stmt::Parallel(Box::new(Parallel { procedure, arguments, size, unit, n_terms }))
            }
        ),
        expr().prop_map(Stmt::Check),
        Just(Stmt::LeaveIfFailed),
        prop::option::of(expr()).prop_map(Stmt::Return),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let block = || prop::collection::vec(inner.clone(), 0..3).prop_map(Block::from);
        prop_oneof![
            (prop::collection::vec((expr(), block()), 1..3), block())
                .prop_map(|(arms, otherwise)| Stmt::If(arms, otherwise)),
            (name(), ty(), expr(), expr(), expr(), prop::option::of(1..9_usize), block()).prop_map(
                |(index, ty, first, condition, step, unroll, body)| {
                    Stmt::For(Box::new(Loop { index, ty, first, condition, step, unroll, body }))
                }
            ),
            (expr(), block()).prop_map(|(condition, block)| Stmt::While(condition, block)),
            block().prop_map(Stmt::Scope),
        ]
    })
    .boxed()
}

fn fields(precision: Precision) -> impl Strategy<Value = Struct> {
    let field = (name(), ty(), prop::collection::vec(0..9_usize, 0..3), comment());
    prop::collection::vec(field, 0..3).prop_map(move |list| {
        let mut fields = Struct::default();
        for (name, ty, dimensions, comment) in list {
            if fields.find(name.as_str()).is_none() {
                fields.field(name, ty, dimensions, comment, precision);
            }
        }
        fields
    })
}

fn parameter() -> impl Strategy<Value = Parameter> {
    prop_oneof![
        Just(Parameter::State),
        Just(Parameter::In),
        Just(Parameter::Out),
        Just(Parameter::Shared),
        (name(), ty()).prop_map(|(name, ty)| Parameter::Value(name, ty)),
        (name(), ty(), any::<bool>())
            .prop_map(|(name, ty, is_written)| Parameter::Array(name, ty, is_written)),
    ]
}

fn procedure(precision: Precision) -> impl Strategy<Value = Procedure> {
    let linkage = prop_oneof![
        Just(Linkage::Public),
        Just(Linkage::Private),
        name().prop_map(Linkage::Piece),
        Just(Linkage::Range)
    ];
    let body = prop::collection::vec(stmt(), 0..4).prop_map(Block::from);
    let parameters = prop::collection::vec(parameter(), 0..3);
    (name(), linkage, parameters, prop::option::of(ty()), fields(precision), body).prop_map(
        |(name, linkage, parameters, result, shared, body)| Procedure {
            name,
            linkage,
            parameters,
            result,
            shared,
            body,
        },
    )
}

fn tensors() -> impl Strategy<Value = Vec<Tensor>> {
    // The step of a scalar is not in the text.
    let size = prop_oneof![Just((None, 1)), (0..9_usize, 1..9_usize).prop_map(|(n, step)| (Some(n), step))];
    let tensor = (ty(), size).prop_map(|(ty, (size, step))| Tensor { ty, size, step });
    prop::collection::vec(tensor, 0..3)
}

fn program() -> impl Strategy<Value = Program> {
    prop::sample::select(vec![Precision::Double, Precision::Single]).prop_flat_map(|precision| {
        let literal = prop_oneof![number().prop_map(Expr::num), any::<i64>().prop_map(Expr::Int)];
        let table = (name(), ty(), prop::collection::vec(literal, 0..4))
            .prop_map(|(name, ty, elements)| Table { name, ty, elements });
        let structs = (fields(precision), fields(precision), fields(precision));
        let tables = prop::collection::vec(table, 0..2);
        let function = (name(), tensors(), tensors()).prop_map(|(name, operands, results)| Function {
            name,
            operands,
            results,
        });
        let functions = prop::collection::vec(function, 0..2);
        let procedures = prop::collection::vec(procedure(precision), 0..3);
        (name(), structs, tables, functions, procedures).prop_map(
            move |(name, (state, input, output), tables, functions, procedures)| Program {
                name,
                precision,
                state,
                input,
                output,
                tables,
                functions,
                procedures,
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// A printed program parses to the same program.
    #[test]
    fn text_round_trips(program in program()) {
        let text = program.to_string();
        let parsed = parse(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(parsed.to_string(), text);
        prop_assert_eq!(parsed.procedures, program.procedures);
        prop_assert_eq!(parsed.state, program.state);
        prop_assert_eq!(parsed.tables, program.tables);
        prop_assert_eq!(parsed.functions, program.functions);
    }

    /// No text makes the parser panic.
    #[test]
    fn any_text_is_answered(text in "[a-z{}()\\[\\]:;=+*.,&|!?@ 0-9\n-]{0,200}") {
        let _ = parse(&text);
        let _ = parse(&format!("program a f64\nstate {{\n}}\nin {{\n}}\nout {{\n}}\nprocedure b() {{\n{text}"));
    }
}

/// A deeply nested text is an error and does not overflow the stack.
#[test]
fn deep_text_is_refused() {
    let head = "program a f64\nstate {\n}\nin {\n}\nout {\n}\nprocedure b() {\n";
    for (open, n) in [("scope {\n", 100_000), ("check !(", 100_000), ("x[", 1)] {
        let text = format!("{head}{}", open.repeat(n));
        assert!(parse(&text).is_err());
    }
    let inner = "!(".repeat(100_000);
    let error = parse(&format!("{head}check {inner}")).expect_err("it is too deep");
    assert!(error.to_string().contains("levels of nesting"), "{error}");
}
