//! Every operation, for every accepted combination of kinds and ranks, with sizes that fit and sizes that do
//! not.

use std::fmt::Write;

use eddy_body::{BodyId, Elem, Limits, Module, Operation, Type, parse};
use eddy_tensor::{Data, Op, Shape, Value};

use crate::joined::Both;

/// Pseudo-random choices.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % n
    }

    fn among<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    fn value(&mut self, ty: Type, size: Option<usize>) -> Value {
        let mut sizes = [1, 2, 3, 2, 2, 0];
        if self.below(4) > 0 {
            // Equal sizes fit often.
            sizes = [2; 6];
        }
        let shape =
            Shape::from((0..ty.rank).map(|_| size.unwrap_or_else(|| self.among(&sizes))).collect::<Vec<_>>());
        let n: usize = shape.iter().product();
        let nums = [0.5, -1.25, 3.0, -0.0, 0.0, f64::NAN, f64::INFINITY, 1e19, -2.0, 0.75];
        let ints = [0, 1, 2, 3, -1, 2, 1, 4, 7, i64::MAX, i64::MIN];
        let data = match ty.elem {
            Elem::Num => Data::Num((0..n).map(|_| self.among(&nums)).collect()),
            Elem::Bool => Data::Bool((0..n).map(|_| self.below(2) == 0).collect()),
            _ => Data::Int((0..n).map(|_| self.among(&ints)).collect()),
        };
        if ty.rank > 0 {
            return Value::new(shape, data).expect("as many");
        }
        match data {
            Data::Num(xs) => xs[0].into(),
            Data::Int(xs) => xs[0].into(),
            Data::Bool(xs) => xs[0].into(),
            Data::Num32(_) => unreachable!("double precision"),
        }
    }
}

/// The types of operands to try.
fn operand_types(operation: &Operation) -> Vec<Vec<Type>> {
    const ELEMS: [Elem; 3] = [Elem::Num, Elem::Int, Elem::Bool];
    let num = |rank| Type { elem: Elem::Num, rank };
    let int = Type::scalar(Elem::Int);
    match operation {
        Operation::Table(Op::Conv2d) => return vec![vec![num(3), num(4)]],
        Operation::Table(Op::Conv2dDx) => return vec![vec![num(4), num(3)]],
        Operation::Table(Op::Conv2dDk) => return vec![vec![num(3), num(3)]],
        // Tapes have no values, and `reverse_index` is for indices in range.
        Operation::Pack | Operation::FailOrder | Operation::ReverseIndex => return Vec::new(),
        _ => {}
    }
    let mut all = Vec::new();
    for elem in ELEMS {
        for rank in 0..=2 {
            let x = Type { elem, rank };
            all.push(vec![x]);
            for other in 0..=2 {
                let y = Type { elem, rank: other };
                all.push(vec![x, y]);
                all.push(vec![Type { elem: Elem::Bool, rank: other }, x, x]);
            }
            for n in 1..=3 {
                all.push(std::iter::once(x).chain(std::iter::repeat_n(int, n)).collect());
            }
        }
    }
    let is_accepted = |types: &Vec<Type>| operation.result_types(types).is_ok();
    all.retain(is_accepted);
    all.sort_by_key(|types| format!("{types:?}"));
    all.dedup();
    all
}

#[test]
fn every_operation_computes_and_fails_as_the_interpreter() {
    let types = Module::default();
    let mut text = String::new();
    let mut bodies = Vec::new();
    for operation in Operation::all() {
        let (word, axis) = operation.word().expect("each has a word");
        for operands in operand_types(&operation) {
            let results = operation.result_types(&operands).expect("it was asked");
            let list: Vec<String> = operands
                .iter()
                .enumerate()
                .map(|(k, ty)| format!("x{k}: {}", types.type_text(*ty)))
                .collect();
            let names: Vec<String> = (0..operands.len()).map(|k| format!("x{k}")).collect();
            let result: Vec<String> = results.iter().map(|ty| types.type_text(*ty)).collect();
            let axis = axis.map_or(String::new(), |axis| format!("{axis} "));
            let call = format!("{word} {axis}({})", names.join(", "));
            let body =
                if results.is_empty() { format!("{call} yield") } else { format!("y = {call} yield y") };
            let _ = writeln!(
                text,
                "body o{}({}) -> ({}) {{ {body} }}",
                bodies.len(),
                list.join(", "),
                result.join(", ")
            );
            bodies.push(operands);
        }
    }
    let both = Both::new(parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")));
    let mut dice = Dice(1);
    let (mut n_ended, mut n_failed) = (0, 0);
    for (id, operands) in bodies.iter().enumerate() {
        for trial in 0..24 {
            let size = (trial < 4).then_some(trial);
            let arguments: Vec<Value> = operands.iter().map(|ty| dice.value(*ty, size)).collect();
            match both.check(BodyId::new(id), &arguments, &Limits::default()) {
                Ok(_) => n_ended += 1,
                Err(_) => n_failed += 1,
            }
        }
    }
    assert!(bodies.len() > 200 && n_ended > 1000 && n_failed > 500, "{}: {n_ended} {n_failed}", bodies.len());
}

/// Selectors of all kinds, to read, to replace and to increase.
#[test]
fn every_place_is_read_and_changed_as_by_the_interpreter() {
    let selectors = [
        ("", 2),
        ("i", 1),
        ("i, j", 0),
        ("i..j", 2),
        ("..", 2),
        ("..,j", 1),
        ("i, i..j", 1),
        ("i..j, j", 1),
        ("i..j, i..j", 2),
        ("g", 2),
        ("i, g", 1),
        ("g, j", 1),
        ("g, g", 2),
        ("i..j, g", 2),
    ];
    let mut text = String::new();
    for (k, (selector, rank)) in selectors.iter().enumerate() {
        let value = ["num", "num[_]", "num[_, _]"][*rank];
        let head = format!("(m: num[_, _], n: int[_, _], g: int[_], i: int, j: int, v: {value})");
        let _ = writeln!(
            text,
            "body r{k}{head} -> ({value}, num[_, _]) {{ x = index m [{selector}] yield x m }}"
        );
        let _ = writeln!(text, "body a{k}{head} -> (num[_, _]) {{ w = increase m [{selector}] v yield w }}");
        if !selector.contains('g') {
            let _ = writeln!(
                text,
                "body u{k}{head} -> (num[_, _], num[_, _]) {{ w = update m [{selector}] v yield w m }}"
            );
        }
    }
    let mut module = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    eddy_body::own::own(&mut module);
    let both = Both::new(module);
    let mut dice = Dice(5);
    let (mut n_ended, mut n_failed) = (0, 0);
    for id in 0..both.module.bodies.len() {
        let params: Vec<Type> = both.module.bodies[id].params.iter().map(|param| param.ty).collect();
        for trial in 0..60 {
            let mut arguments: Vec<Value> =
                params.iter().map(|ty| dice.value(*ty, (trial % 2 == 0).then_some(2))).collect();
            if trial % 3 != 0 {
                let index = |dice: &mut Dice| dice.among(&[0_i64, 1, 1, 2]);
                let places = vec![index(&mut dice), index(&mut dice)];
                arguments[2] = Value::new(Shape::new(&[2]), Data::Int(places)).expect("two");
                arguments[3] = index(&mut dice).into();
                arguments[4] = index(&mut dice).into();
            }
            match both.check(BodyId::new(id), &arguments, &Limits::default()) {
                Ok(_) => n_ended += 1,
                Err(_) => n_failed += 1,
            }
        }
    }
    assert!(n_ended > 200 && n_failed > 200, "{n_ended} {n_failed}");
}
