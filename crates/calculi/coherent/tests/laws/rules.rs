//! Each rule of Figures 5 and 6, in each of its cases, keeps the type and the results of the term (Theorem
//! 4.11, P8).
//!
//! Random terms seldom have the redexes of the rarer rules. Here the redex is constructed from random parts;
//! a case that has not reached a number often enough fails the law.

use eddy_coherent::outcome::Outcome;
use eddy_coherent::rewrite::rules::reduce;
use eddy_coherent::syntax::{Bit, Op, Program, Term, TermId};
use eddy_coherent::types::Type;
use eddy_coherent::typing::recheck;
use eddy_tests::law::Coverage;

use crate::generate::{Generator, Sample, With};
use crate::harness::{Trial, Verdict, law, leaves, same, with_main};
use crate::rewriting::{summands, union};

/// The rules and their cases. The projection has the depth d, its argument the depth e.
const CASES: [(&str, &str); 33] = [
    ("beta", ""),
    ("D", ""),
    ("fix", ""),
    ("succ", ""),
    ("pred", ""),
    ("if", ""),
    ("let", ""),
    ("tick", ""),
    ("pi-lambda", ""),
    ("pi-app", ""),
    ("pi-D", ""),
    ("pi-succ", "succ"),
    ("pi-succ", "pred"),
    ("pi-if", "d < e"),
    ("pi-if", "e <= d"),
    ("pi-let", "d < e"),
    ("pi-let", "e <= d"),
    ("pi-theta", "d = e, 0"),
    ("pi-theta", "d = e, 1"),
    ("pi-theta", "d < e"),
    ("pi-theta", "e < d"),
    ("pi-inj", "d = e, same"),
    ("pi-inj", "d = e, other"),
    ("pi-inj", "d < e"),
    ("pi-inj", "e < d"),
    ("pi-pi", "d < e"),
    ("pi-pi", "e <= d"),
    ("pi-flip", "d < e"),
    ("pi-flip", "e + l + 2 <= d"),
    ("pi-flip", "complete, l = 0"),
    ("pi-flip", "complete, l = 1"),
    ("pi-flip", "complete, l = 2"),
    ("pi-flip", "complete, l = 0, deep"),
];

/// The case whose result is 0.
const EMPTY: (&str, &str) = ("pi-inj", "d = e, other");

/// A redex of a rule, applied to these arguments so that it has a ground type.
struct Redex {
    sample: Sample,
    case: (&'static str, &'static str),
    term: TermId,
    arguments: Vec<TermId>,
}

impl std::fmt::Debug for Redex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}: {:?}", self.case, self.sample)
    }
}

fn redex(mut generator: Generator<'_>) -> Redex {
    let case = generator.choices.among(&CASES);
    redex_of(generator, case)
}

fn redex_of(mut generator: Generator<'_>, case: (&'static str, &'static str)) -> Redex {
    generator.with = With { ticks: true, ..With::default() };
    generator.size = 6;
    let term = build(&mut generator, case);
    let mut ty = recheck(&mut generator.terms, term).unwrap_or_else(|| panic!("{case:?} is not well typed"));
    let (mut main, mut arguments) = (term, Vec::new());
    while let Some((from, to)) = generator.terms.types.sides(ty) {
        let argument = generator.term(from);
        arguments.push(argument);
        main = generator.add(Term::Apply(main, argument));
        ty = to;
    }
    Redex { sample: generator.finish(main, ty), case, term, arguments }
}

/// A program that mostly has a number at one of its leaves, or any.
pub fn often_a_number(mut generator: Generator<'_>) -> Sample {
    if generator.choices.once_in(4) {
        return crate::generate::program(generator);
    }
    let cases = [("D", ""), ("pi-theta", "d = e, 1"), ("pi-inj", "d = e, same"), ("beta", ""), ("let", "")];
    let case = generator.choices.among(&cases);
    redex_of(generator, case).sample
}

/// A term of type `D^k nat` that mostly has a number at one of its leaves.
pub fn rich(generator: &mut Generator<'_>, k: u32) -> TermId {
    if generator.choices.once_in(6) {
        return generator.term(Type::ground(k));
    }
    let number = u64::try_from(generator.choices.below(3)).expect("small");
    let mut term = generator.add(Term::Num(number));
    for depth in 0..k {
        let (bit, at) = (generator.bit(), generator.level(depth));
        term = generator.terms.op(Op::Inj(bit), at, term);
    }
    term
}

/// `\x:nat. M` with M of type `D^k nat`.
fn function(generator: &mut Generator<'_>, k: u32) -> TermId {
    generator.scope.push(Type::NAT);
    let body = rich(generator, k);
    generator.scope.pop();
    generator.add(Term::Lambda(Type::NAT, body))
}

fn build(generator: &mut Generator<'_>, case: (&str, &str)) -> TermId {
    let more = generator.level(1);
    let bit = generator.bit();
    // pi^d around a term.
    let pi = |generator: &mut Generator<'_>, d: u32, m: TermId| generator.terms.op(Op::Pi(bit), d, m);
    match case {
        ("beta", _) => {
            let (f, n) = (function(generator, more), rich(generator, 0));
            generator.add(Term::Apply(f, n))
        }
        ("D", _) => {
            let f = function(generator, more);
            generator.add(Term::Derive(f))
        }
        ("fix", _) => {
            generator.scope.push(Type::ground(more));
            let body = rich(generator, more);
            generator.scope.pop();
            let f = generator.add(Term::Lambda(Type::ground(more), body));
            generator.add(Term::Fix(f))
        }
        ("succ" | "pred", _) => {
            let n = generator.leaf(0);
            generator.terms.op(if case.0 == "succ" { Op::Succ } else { Op::Pred }, 0, n)
        }
        ("if", _) => {
            let n = generator.leaf(0);
            let (p, q) = (rich(generator, more), rich(generator, more));
            generator.add(Term::If(0, n, p, q))
        }
        ("let", _) => {
            let n = generator.leaf(0);
            let body = body_of_let(generator, more);
            generator.add(Term::Let(0, n, body))
        }
        ("tick", _) => {
            let m = rich(generator, more);
            generator.add(Term::Tick(m))
        }
        ("pi-lambda", _) => {
            let f = function(generator, 1 + 2 * more);
            pi(generator, more, f)
        }
        ("pi-app", _) => {
            let (f, n) = (function(generator, 1 + more), rich(generator, 0));
            let m = generator.add(Term::Apply(f, n));
            pi(generator, more, m)
        }
        ("pi-D", _) => {
            let f = function(generator, 1 + more);
            let m = generator.add(Term::Derive(f));
            pi(generator, 1 + more, m)
        }
        ("pi-succ", op) => {
            let m = rich(generator, 1 + more);
            let m = generator.terms.op(if op == "succ" { Op::Succ } else { Op::Pred }, 1 + more, m);
            let d = generator.level(more);
            pi(generator, d, m)
        }
        ("pi-if", "d < e") => {
            let (n, p, q) = (rich(generator, 1 + more), rich(generator, 0), rich(generator, 0));
            let m = generator.add(Term::If(1 + more, n, p, q));
            let d = generator.level(more);
            pi(generator, d, m)
        }
        ("pi-if", _) => {
            let (n, p, q) = (rich(generator, more), rich(generator, 1), rich(generator, 1));
            let m = generator.add(Term::If(more, n, p, q));
            pi(generator, more, m)
        }
        ("pi-let", "d < e") => {
            let (n, body) = (rich(generator, 1 + more), body_of_let(generator, 0));
            let m = generator.add(Term::Let(1 + more, n, body));
            let d = generator.level(more);
            pi(generator, d, m)
        }
        ("pi-let", _) => {
            let (n, body) = (rich(generator, more), body_of_let(generator, 1));
            let m = generator.add(Term::Let(more, n, body));
            pi(generator, more, m)
        }
        ("pi-theta", place) => {
            let (d, e, k, bit) = match place {
                "d = e, 0" => (more, more, 2 + more, Bit::Zero),
                "d = e, 1" => (more, more, 2 + more, Bit::One),
                "d < e" => (0, 1, 3, bit),
                _ => (1, 0, 3, bit),
            };
            let m = rich(generator, k);
            let m = generator.terms.op(Op::Theta, e, m);
            generator.terms.op(Op::Pi(bit), d, m)
        }
        ("pi-inj", place) => {
            let (d, e, j) = match place {
                "d = e, same" => (more, more, bit),
                "d = e, other" => (more, more, if bit == Bit::Zero { Bit::One } else { Bit::Zero }),
                "d < e" => (0, 1 + more, generator.bit()),
                _ => (1 + more, 0, generator.bit()),
            };
            let m = rich(generator, d.max(e));
            let m = generator.terms.op(Op::Inj(j), e, m);
            pi(generator, d, m)
        }
        ("pi-pi", place) => {
            let (d, e) = if place == "d < e" { (0, 1) } else { (1, generator.level(1)) };
            let m = rich(generator, 3);
            let other = generator.bit();
            let m = generator.terms.op(Op::Pi(other), e, m);
            pi(generator, d, m)
        }
        ("pi-flip", "d < e") => {
            let m = rich(generator, 3);
            let m = generator.terms.op(Op::Flip(0), 1, m);
            pi(generator, 0, m)
        }
        ("pi-flip", "e + l + 2 <= d") => {
            let m = rich(generator, 3);
            let m = generator.terms.op(Op::Flip(0), 0, m);
            pi(generator, 2, m)
        }
        ("pi-flip", place) => {
            let levels = if place.contains("l = 2") { 2 } else { u32::from(place.contains("l = 1")) };
            let d = u32::from(place.contains("deep"));
            let m = rich(generator, d + levels + 2);
            let mut m = generator.terms.op(Op::Flip(levels), d, m);
            for _ in 0..levels + 2 {
                let bit = generator.bit();
                m = generator.terms.op(Op::Pi(bit), d, m);
            }
            m
        }
        _ => unreachable!("a case of the list"),
    }
}

fn body_of_let(generator: &mut Generator<'_>, k: u32) -> TermId {
    generator.scope.push(Type::NAT);
    let body = rich(generator, k);
    generator.scope.pop();
    body
}

#[test]
fn each_rule_keeps_type_and_results_theorem_4_11_and_p8() {
    let coverage = Coverage::default();
    law("each rule", 5000, redex, |redex| keeps(redex, &coverage));
    let names = CASES.map(|(rule, case)| format!("{rule} {case}"));
    coverage.require("each rule", 100, &names);
    let valued = CASES.into_iter().filter(|case| *case != EMPTY);
    coverage.require("each rule", 10, valued.map(|(rule, case)| format!("{rule} {case}, a number")));
}

fn keeps(redex: &Redex, coverage: &Coverage) -> Trial {
    let mut program = redex.sample.program.clone();
    let (rule, case) = redex.case;
    let ty = recheck(&mut program.terms, redex.term).expect("a redex is well typed");
    let Some((found, result)) = reduce(&mut program.terms, redex.term, ty) else {
        return Err("no rule applies".to_string());
    };
    if (rule, found) == ("pi-pi", "pi-flip") {
        return Ok(Verdict::Vacuous("a flip is projected"));
    }
    if found != rule {
        return Err(format!("the rule is {found}"));
    }
    if recheck(&mut program.terms, result) != Some(ty) {
        let shown = eddy_coherent::print::show(&program.terms, result);
        return Err(format!("{shown} has another type"));
    }
    coverage.note(format!("{rule} {case}"));
    let after = redex.arguments.iter().fold(result, |m, n| program.terms.add(Term::Apply(m, *n)));
    let Some(after) = summands(&mut program.terms, after) else {
        return Err("a sum outside of linear places".to_string());
    };
    let numbers = equal_results(&program, &after)?;
    if numbers > 0 {
        coverage.note(format!("{rule} {case}, a number"));
    }
    Ok(Verdict::of(numbers > 0 || redex.case == EMPTY, "no number at any leaf"))
}

/// The number of leaves with a number, which both sides have.
fn equal_results(program: &Program, after: &[TermId]) -> Result<usize, String> {
    let mut numbers = 0;
    for path in leaves(program) {
        let before = crate::harness::env(&with_main(program, program.main, program.ty), &path);
        let after = union(program, after, &path);
        if same(before, after) == Some(false) {
            return Err(format!("at {path:?}: {before:?}, then {after:?}"));
        }
        numbers += usize::from(matches!(before, Outcome::Value { .. }));
    }
    Ok(numbers)
}
