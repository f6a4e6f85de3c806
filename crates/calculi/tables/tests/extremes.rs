//! Programs that are deep, long or large: nothing recurses on the native stack, and every limit is reported
//! by name.
//!
//! Each program is checked, run, asked about, formatted and dropped in a thread with a small stack; any
//! function that recursed over the program would overflow it.

use eddy_syntax::SourceFile;
use eddy_tables::ask::{self, Answer, ask};
use eddy_tables::derivation::{explain, tables, write};
use eddy_tables::dialect::Dialect;
use eddy_tables::intersection::{self, Intersections};
use eddy_tables::intype::{self, Meanings, is_member};
use eddy_tables::optimise::optimise;
use eddy_tables::run::{Limits, RunError, Shown, run};
use eddy_tables::value::parse::{Goal, parse};
use eddy_tables::value::{Entry, Value, Values};
use eddy_tables::{format, print, trace, typing};

const DEEP: usize = 100_000;

fn on_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work).expect("a thread");
    thread.join().expect("no overflow");
}

/// Runs a program, asks whether the result is in its meaning, prints and formats it.
fn answers(dialect: Dialect, text: String, expected: &'static str) {
    on_small_stack(move || {
        let file = SourceFile::new("deep", text);
        let program = typing::check(&file, dialect).expect("the program is right");
        let (outcome, _) = run(&program, Limits::default());
        assert_eq!(outcome, Ok(Shown(expected.to_string())));
        let mut values = Values::default();
        if let Ok(number) = expected.parse::<i64>() {
            let value = values.int(number);
            let limits = ask::Limits { fuel: 1_000_000, ..ask::Limits::default() };
            let (answer, _) = ask(&program, Goal { value, store: None }, &mut values, limits);
            assert_eq!(answer, Answer::Yes);
        }
        assert!(!print::show(&program.terms, program.main).is_empty());
        format::format(&file, dialect).expect("what is accepted can be formatted");
    });
}

fn refused(dialect: Dialect, text: String, code: &'static str) {
    on_small_stack(move || {
        let diagnostics = typing::check(&SourceFile::new("deep", text), dialect).expect_err("it is wrong");
        assert_eq!(diagnostics.iter().map(|found| found.code.name()).collect::<Vec<_>>(), [code]);
    });
}

fn nested(open: &str, inner: &str, close: &str) -> String {
    open.repeat(DEEP) + inner + &close.repeat(DEEP)
}

#[test]
fn parentheses() {
    for dialect in Dialect::ALL {
        answers(dialect, nested("(", "1", ")"), "1");
        refused(dialect, "(".repeat(DEEP), "TB002");
        refused(dialect, ")".repeat(DEEP), "TB002");
    }
}

#[test]
fn binding_forms() {
    answers(Dialect::Lambda, "\\x. ".repeat(DEEP) + "x", "<fun>");
    answers(Dialect::Lambda, "let x = ".repeat(DEEP) + "7" + &" in x".repeat(DEEP), "7");
    answers(Dialect::Lambda, "if 0 then 1 else ".repeat(DEEP) + "7", "7");
    answers(Dialect::Lambda, nested("(\\x. x) (", "7", ")"), "7");
    answers(Dialect::SystemF, "/\\a. ".repeat(DEEP) + "1", "<thunk>");
    answers(Dialect::References, "1; ".repeat(DEEP) + "7", "7");
    answers(Dialect::References, "!".repeat(DEEP) + &nested("(ref ", "7", ")"), "7");
    answers(Dialect::References, nested("fst (", "7", ", 0)"), "7");
    answers(Dialect::References, nested("(1, ", "7", ")").replacen('(', "fst (", 1), "1");
}

#[test]
fn operators() {
    answers(Dialect::Lambda, "1 + ".repeat(DEEP) + "1", "100001");
    answers(Dialect::Lambda, nested("1 + (", "1", ")"), "100001");
}

#[test]
fn types() {
    let arrows = "int -> ".repeat(DEEP) + "int";
    answers(Dialect::SystemF, format!("(\\f:{arrows}. 7) (fix g : {arrows}. \\x:int. g x)"), "7");
    answers(Dialect::SystemF, format!("\\x:{}. x", nested("(", "int", ")")), "<fun>");
    // Each application doubles the type: it is refused before it is too large to print.
    let doubling = "let d = /\\a. \\x:a. \\f:a -> a -> a. f x x in ".to_string()
        + &"d[".repeat(100)
        + "int"
        + &"]".repeat(100);
    let diagnostics = typing::check(&SourceFile::new("deep", doubling), Dialect::SystemF);
    assert!(diagnostics.is_err(), "a term is no type");
}

#[test]
fn recursion_may_be_deep() {
    let count = "fix f : int -> int. \\n:int. if n = 0 then 0 else 1 + f (n - 1)";
    answers(Dialect::SystemF, format!("({count}) {DEEP}"), "100000");
    let knot = "let r = ref (\\x:int. x) in let f (n:int) = if n = 0 then 0 else 1 + (!r) (n - 1) in r := f; f 100000";
    answers(Dialect::References, knot.to_string(), "100000");
}

#[test]
fn tail_calls_take_constant_memory() {
    let text = "(fix f : int -> int. \\n:int. if n = 0 then 7 else f (n - 1)) 900000";
    let program = typing::check(&SourceFile::new("loop", text), Dialect::SystemF).expect("it is right");
    let (outcome, counters) = run(&program, Limits { memory: 4 << 20, ..Limits::default() });
    assert_eq!(outcome, Ok(Shown("7".into())));
    assert!(counters.deepest < 10, "{}", counters.deepest);
}

#[test]
fn limits_are_reported_by_name() {
    let outcome = |text: &str, limits| {
        let program = typing::check(&SourceFile::new("stop", text), Dialect::Lambda).expect("it is right");
        run(&program, limits).0
    };
    let few = Limits { fuel: 1000, memory: 1 << 30 };
    assert_eq!(outcome("(\\x. x x) (\\x. x x)", few), Err(RunError::Fuel(1000)));
    let little = Limits { fuel: u64::MAX, memory: 8 << 20 };
    let grows = "(\\x. 1 + x x) (\\x. 1 + x x)";
    assert_eq!(outcome(grows, little), Err(RunError::Memory(8 << 20)));
    let squares = "let Z = \\f. let M = \\x. f (\\v. x x v) in M M in Z (\\s. \\n. s (n * n)) 3";
    assert!(matches!(outcome(squares, Limits::default()), Err(RunError::TooLarge(_))));
}

/// A deeply nested value: `{{… -> 1} -> 1}`.
fn deep_table(values: &mut Values) -> Value {
    let one = values.int(1);
    (0..DEEP).fold(one, |inner, _| values.table(vec![Entry::new(inner, one)]))
}

#[test]
fn values_may_be_deep() {
    on_small_stack(|| {
        let mut values = Values::default();
        let table = deep_table(&mut values);
        let shown = values.show(table);
        let read =
            parse(&SourceFile::new("value", shown), Dialect::Lambda, &mut values).expect("it is a value");
        assert_eq!(read.value, table);
        let one = values.int(1);
        let other = values.table(vec![Entry::new(table, one), Entry::new(one, table)]);
        assert_ne!(values.compare(table, other), std::cmp::Ordering::Equal);
        assert!(!values.is_below(other, table));
        let mut types = Intersections::default();
        let ty = types.typof(table, &values);
        assert_eq!(types.valof(ty, &mut values), table);
        let text = "(".repeat(DEEP) + "1 -> 1" + &") -> 1".repeat(DEEP);
        let read = intersection::parse(&SourceFile::new("type", text), &mut types).expect("it is a type");
        assert!(types.is_function(read));
        let program = typing::check(&SourceFile::new("one", "\\x. 1"), Dialect::Lambda).expect("it is right");
        let goal = Goal { value: table, store: None };
        assert_eq!(ask(&program, goal, &mut values, ask::Limits::default()).0, Answer::Yes);
        let typed =
            typing::check(&SourceFile::new("one", "\\x:int. 1"), Dialect::SystemF).expect("it is right");
        let ty = typed.ty.expect("it is typed");
        let is_in =
            is_member(table, ty, (Meanings::default(), 0), &typed.types, &values, intype::DEFAULT_FUEL);
        assert_eq!(is_in, Ok(true));
    });
}

/// A writer with room for this many bytes.
struct Room(usize);

impl std::fmt::Write for Room {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.0 = self.0.checked_sub(text.len()).ok_or(std::fmt::Error)?;
        Ok(())
    }
}

#[test]
fn explanations_may_be_deep() {
    on_small_stack(|| {
        let n = 5_000;
        let text = format!("let f = \\x. x + 1 in {}0{}", "f (".repeat(n), ")".repeat(n));
        let file = SourceFile::new("deep", text);
        let program = typing::check(&file, Dialect::Lambda).expect("it is right");
        let mut values = Values::default();
        let value = values.int(i64::try_from(n).expect("small"));
        let (answer, found, _) =
            explain(&program, Goal { value, store: None }, &mut values, ask::Limits::default());
        assert_eq!(answer, Answer::Yes);
        let found = found.expect("a yes is explained");
        let listed = tables::tables(&found, &program, &file, &mut values);
        assert_eq!(values.entries(listed[0].1).len(), n);
        // The whole tree has a line for each call, and each line is as long as the program, so only a part is
        // written.
        let written =
            write::write(&found, &program.terms, &values, write::Form::Values, &mut Room(10_000_000));
        assert!(written.is_err(), "more than that");
    });
}

#[test]
fn factorials_of_large_numbers_share_their_tables() {
    // Printed, the table of `M` would be 2^60 entries long.
    let text = "let Z = \\f. let M = \\x. f (\\v. x x v) in M M in
        let H = \\r. let F = \\n. if n = 0 then 1 else n * r (n - 1) in F in Z H 60";
    let file = SourceFile::new("factorial", text);
    let program = typing::check(&file, Dialect::Lambda).expect("it is right");
    let (Ok(Shown(result)), _) = run(&program, Limits::default()) else { panic!("it ends") };
    let mut values = Values::default();
    let value = values.int(result.parse::<eddy_tables::integer::Int>().expect("an integer"));
    let (answer, found, _) =
        explain(&program, Goal { value, store: None }, &mut values, ask::Limits::default());
    assert_eq!(answer, Answer::Yes);
    let listed = tables::tables(&found.expect("a yes is explained"), &program, &file, &mut values);
    let (_, m) = listed.iter().find(|(label, _)| label == "M").expect("it has a table");
    assert!(values.size(*m) > 1 << 60, "{}", values.size(*m));
}

#[test]
fn optimising_and_tracing_deep_programs() {
    on_small_stack(|| {
        let text = nested("(\\x. x) (", "7", ")");
        let mut program =
            typing::check(&SourceFile::new("deep", text), Dialect::Lambda).expect("it is right");
        let optimised = optimise(&mut program, 1).expect("it gets smaller");
        assert_eq!(print::show(&program.terms, optimised), "7");
        let text = "(\\x. x) (".repeat(300) + "7" + &")".repeat(300);
        let program = typing::check(&SourceFile::new("deep", text), Dialect::Lambda).expect("it is right");
        assert_eq!(trace::count(&program, Limits::default()), Ok(300));
        // Inlining the pair of calls at each level doubles the program.
        let text =
            "let a = \\f. \\x. f (f x) in ".to_string() + &"a (".repeat(40) + "\\x. x" + &")".repeat(40);
        let mut program =
            typing::check(&SourceFile::new("deep", text), Dialect::Lambda).expect("it is right");
        assert!(optimise(&mut program, 100).is_err(), "it says that it is too large");
    });
}
