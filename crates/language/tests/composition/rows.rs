//! L9: `x[i]` is `matmul(onehot(n, i), x)` for finite `x`, with its derivatives.

use eddy_tests::choices::Choices;
use eddy_tests::law::{Verdict, law};

use crate::output;

#[test]
fn a_row_is_a_product_with_a_onehot_vector() {
    let numbers = proptest::collection::vec(proptest::num::u16::ANY, 40);
    law("composition: L9", 200, &numbers, |numbers| {
        let mut c = Choices::new(numbers);
        let (rows, columns, cycles) = (1 + c.below(4), 1 + c.below(3), 1 + c.below(4));
        let number = |c: &mut Choices<'_>| ["0.5", "-1.25", "2", "3.75", "-0.5", "1"][c.below(6)];
        let tensor = |c: &mut Choices<'_>, n: usize, inner: &dyn Fn(&mut Choices<'_>) -> String| {
            let items: Vec<String> = (0..n).map(|_| inner(c)).collect();
            format!("[{}]", items.join(", "))
        };
        let row = |c: &mut Choices<'_>| tensor(c, columns, &|c| number(c).to_string());
        let cells = |c: &mut Choices<'_>, cell: &dyn Fn(&mut Choices<'_>) -> String| {
            (0..cycles).map(|_| cell(c)).collect::<Vec<_>>().join(" ")
        };
        let xs = cells(&mut c, &|c| tensor(c, rows, &row));
        let is = cells(&mut c, &|c| c.below(rows).to_string());
        let dys = cells(&mut c, &row);
        let delay = ["x", "(x * 0.5 fby x)", "(post x)"][c.below(3)];
        let program = |taken: &str| {
            format!(
                "node n(x:num [{rows},{columns}], i:int []) -> (y:num [{columns}])  z = {delay};  y = 2.0 * {taken};\n\
                 run adj_n {{ x: {xs}; i: {is}; dy: {dys}; }}\n\
                 run tan_n {{ x: {xs}; i: {is}; tx: {xs}; }}\n"
            )
        };
        let (taken, product) = (program("z[i]"), program(&format!("matmul(onehot({rows}, i), z)")));
        match (output(&taken), output(&product)) {
            (Ok(found), Ok(wanted)) if without_signs(&found) == without_signs(&wanted) => Ok(Verdict::Holds),
            (found, wanted) => Err(format!("{found:#?}\n{wanted:#?}\n{taken}")),
        }
    });
}

/// Sums of products with 0 can be -0 where a row has +0, or the reverse.
fn without_signs(lines: &[String]) -> Vec<String> {
    lines.iter().map(|line| line.replace("-0,", "0,").replace("-0]", "0]").replace("-0}", "0}")).collect()
}
