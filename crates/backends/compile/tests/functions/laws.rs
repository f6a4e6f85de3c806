//! L1 on generated modules.

use std::sync::Arc;

use eddy_body::{Body, BodyId, Kind, Limits, Literal, Mode, Module, Region, Stmt, Type, Var};

use crate::generate::module;
use crate::harness::{ALL, Bodies};
use crate::joined::{Both, arguments, join};

/// Numbers for the generator, different for each seed.
pub fn numbers(seed: u64) -> Vec<u16> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..300)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            u16::try_from(state >> 48).expect("16 bits")
        })
        .collect()
}

fn generated(seeds: std::ops::Range<u64>, can_fail: bool, derivatives: &[&str]) -> Module {
    let modules = seeds.map(|seed| {
        let text = module(&numbers(seed), can_fail);
        let text = if can_fail { placed(&text) } else { text };
        Bodies::new(&text, derivatives).unwrap_or_else(|error| panic!("{error}\n{text}")).module
    });
    join(modules.collect())
}

/// Gives each line a span of its own.
pub fn placed(text: &str) -> String {
    let lines = text.lines().enumerate().map(|(at, line)| {
        let is_stmt = line.contains(" = ") || line.trim_start().starts_with(['c', 'a']);
        match line.strip_suffix('{') {
            None if is_stmt => format!("{line} @{at}..{at}"),
            Some(header) if line.contains(" = ") => format!("{header} @{at}..{at} {{"),
            _ => line.to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether a body is `f` of its module or one of its requested derivatives.
pub fn is_root(module: &Module, id: BodyId) -> bool {
    let name = module.body(id).name.split_once('_').map_or("", |(_, name)| name);
    name == "f" || ALL.iter().any(|word| name == format!("{word}_f"))
}

/// Adds bodies that call these at constants, whose sizes are known to the compiler. Returns them.
fn at_constants(module: &mut Module, roots: &[BodyId], k: i64) -> Vec<BodyId> {
    let mut added = Vec::new();
    for id in roots {
        let called = module.body(*id).clone();
        let types: Vec<Type> = called.params.iter().map(|param| param.ty).collect();
        let values = arguments(&types, k);
        let n = types.len();
        let constants = types.iter().zip(values).enumerate().map(|(at, (ty, value))| {
            let literal = Literal { elem: ty.elem, value: Arc::new(value) };
            Stmt::new(vec![Var::new(at)], Kind::Const(literal))
        });
        let yields: Vec<Var> = (n..n + called.results.len()).map(Var::new).collect();
        let call = Kind::Call(Mode::Plain, *id, (0..n).map(Var::new).collect());
        let stmts = constants.chain([Stmt::new(yields.clone(), call)]).collect();
        module.bodies.push(Body {
            name: format!("at_constants_{k}_{}", called.name),
            params: Vec::new(),
            results: called.results,
            region: Region { stmts, yields },
            names: (0..n + module.body(*id).results.len()).map(|at| format!("v{at}")).collect(),
        });
        added.push(BodyId::new(module.bodies.len() - 1));
    }
    added
}

/// The same with sizes that are known: small tensors are scalars, and short loops are unrolled.
#[test]
fn known_sizes_change_no_bit() {
    let mut module = generated(40..44, false, &["adj", "tan", "tan_adj"]);
    let roots: Vec<BodyId> =
        (0..module.bodies.len()).map(BodyId::new).filter(|id| is_root(&module, *id)).collect();
    let mut entries = at_constants(&mut module, &roots, 2);
    entries.extend(at_constants(&mut module, &roots, 3));
    let both = Both::with_entries(module, &entries);
    let mut n_compared = 0;
    for id in &entries {
        let limits = Limits { fuel: Some(1_000_000), ..Limits::default() };
        n_compared += u32::from(both.check(*id, &[], &limits).is_ok());
    }
    assert!(n_compared > 20, "{n_compared} of {} have values", entries.len());
    let mut module = generated(1040..1052, true, &["adj"]);
    let roots: Vec<BodyId> =
        (0..module.bodies.len()).map(BodyId::new).filter(|id| is_root(&module, *id)).collect();
    let mut entries = at_constants(&mut module, &roots, 1);
    entries.extend(at_constants(&mut module, &roots, 3));
    let both = Both::with_entries(module, &entries);
    for id in entries {
        for fuel in [100_000, 40, 7] {
            let limits = Limits { fuel: Some(fuel), depth: 1000, memory: None };
            // It compares failures too.
            let _ = both.check(id, &[], &limits);
        }
    }
}

/// Values of all constructs, and derivatives to order 2.
#[test]
fn interpreted_and_compiled_values_have_the_same_bits() {
    let (mut n_compared, mut n_failed) = (0, 0);
    // Each batch is a C file; the code of second derivatives is large.
    for batch in 0..2 {
        let module = generated(2 * batch..2 * batch + 2, false, &ALL);
        let roots: Vec<BodyId> =
            (0..module.bodies.len()).map(BodyId::new).filter(|id| is_root(&module, *id)).collect();
        let both = Both::with_entries(module, &roots);
        for id in roots {
            let types: Vec<_> = both.module.body(id).params.iter().map(|param| param.ty).collect();
            let limits = Limits { fuel: Some(1_000_000), ..Limits::default() };
            match both.check(id, &arguments(&types, 2), &limits) {
                Ok(_) => n_compared += 1,
                Err(_) => n_failed += 1,
            }
        }
    }
    assert!(n_compared > 10 * n_failed, "{n_failed} of {n_compared} fail");
}

/// Failures and their places, also with little fuel and little depth.
#[test]
fn interpreted_and_compiled_runs_fail_alike() {
    let (mut n_ended, mut n_failed) = (0, std::collections::BTreeMap::<String, u32>::new());
    for batch in 0..2 {
        let module = generated(1000 + 12 * batch..1012 + 12 * batch, true, &["adj"]);
        let roots: Vec<BodyId> =
            (0..module.bodies.len()).map(BodyId::new).filter(|id| is_root(&module, *id)).collect();
        let both = Both::with_entries(module, &roots);
        for id in roots {
            let types: Vec<_> = both.module.body(id).params.iter().map(|param| param.ty).collect();
            for (k, fuel, depth) in
                [(3, 100_000, 1000), (1, 100_000, 1000), (2, 5, 1000), (0, 23, 1), (2, 60, 2)]
            {
                let limits = Limits { fuel: Some(fuel), depth, memory: None };
                match both.check(id, &arguments(&types, k), &limits) {
                    Ok(_) => n_ended += 1,
                    Err(error) => {
                        let text = error.failure.to_string();
                        let words: Vec<&str> = text.split(' ').take(2).collect();
                        *n_failed.entry(words.join(" ")).or_default() += 1;
                    }
                }
            }
        }
    }
    assert!(n_ended > 20, "{n_ended} runs end, {n_failed:?}");
    assert!(n_failed.len() >= 5, "most kinds of failures: {n_failed:?}");
}
