//! Batches: a program for several streams at once has the table of as many runs, in all engines.

use eddy_tables::oracle::{Datum, Tolerance, agree, inputs};

use crate::functions::Node;

/// Operations that are applied to each stream of a batch. Each row: the operation, the node, and a part of
/// its C text for three streams.
const NODES: [(&str, &str, &str); 10] = [
    (
        "a product of two factors that differ",
        "node f(x:num [5, 3], y:num [3, 6]) -> (o) o = matmul(x, y);",
        "eddy_each_sums(3, 5, 6, 1, 1, 3, ",
    ),
    (
        "a vector times a matrix, and a vector times a vector",
        "node f(x:num [3], y:num [3, 5]) -> (o, p) o = matmul(x, y); p = matmul(x, y[0][0] * x);",
        "eddy_each_sums(3, 1, 5, 1, 1, 3, ",
    ),
    (
        "a matrix that differs, times one that does not",
        "node f(x:num [5, 3]) -> (o) o = matmul(x, param(glorot_uniform([3, 2])));",
        "eddy_each_sums(3, 5, 2, 1, 1, 3, ",
    ),
    (
        "a transposed factor",
        "node f(x:num [4, 3], y:num [5, 3]) -> (o) o = matmul(x, transpose(y));",
        "&in->y[0], 9, 0, 0, 3, 1, ",
    ),
    (
        "a convolution and its derivatives",
        "node f(x:num [4, 4, 2], g:num [3, 3, 2]) -> (o, p, q) k = param(glorot_uniform([2, 2, 2, 2])); o = conv2d(x, k); p = conv2d_dx(k, g); q = conv2d_dk(x, g);",
        "eddy_each_sums(3, 2, 1, nr, nq, 2, ",
    ),
    (
        "factors that are the same everywhere",
        "node f(x:num [2, 3]) -> (o, p) o = matmul(x, ones([3, 2])); p = matmul(transpose(x), 0.5 * ones([2]));",
        "sum = eddy_fma(",
    ),
    (
        "convolutions with what is the same everywhere",
        "node f(x:num [4, 4, 2], g:num [3, 3, 2]) -> (o, p, q) k = ones([2, 2, 2, 2]); o = conv2d(x, k); p = conv2d_dx(k, g); q = conv2d_dk(x, ones([3, 3, 2]));",
        "sum = eddy_fma(",
    ),
    ("the place of a maximum", "node f(x:num [2, 3]) -> (o) o = argmax(x);", "best = 3 * i0 + i1"),
    ("a one in each stream", "node f(x:num [4]) -> (o) o = onehot(4, argmax(x));", "3 * eddy_index("),
    ("a softmax", "node f(x:num [2, 4]) -> (o) o = softmax(x);", "eddy_exp("),
];

#[test]
fn a_batch_has_the_tables_of_its_streams() {
    for (pass, text, words) in NODES {
        let (alone, batch) = (Node::new(text), Node::of_streams(3, 1, text));
        let apart = |input: &Datum, _: u64| alone.simulated_apart(input);
        let together = |input: &Datum, _: u64| batch.simulated(input);
        agree(pass, &apart, &together, &inputs(&batch.sort(), 17), Tolerance::Exact)
            .unwrap_or_else(|witness| panic!("{witness}"));
        let compiled = batch.keeps_its_table(pass, Tolerance::Exact);
        assert!(compiled.source().contains(words), "no `{words}` in\n{}", compiled.source());
    }
}

/// An operation that fails in one stream fails in the batch.
#[test]
fn a_stream_without_a_value_stops_the_batch() {
    let text = "node f(x:num [2]) -> (o) o = onehot(2, argmax(x) + int(x[0]));";
    let (alone, batch) = (Node::new(text), Node::of_streams(2, 1, text));
    let apart = |input: &Datum, _: u64| alone.simulated_apart(input);
    let together = |input: &Datum, _: u64| batch.simulated(input);
    agree("an index outside", &apart, &together, &inputs(&batch.sort(), 41), Tolerance::Exact)
        .unwrap_or_else(|witness| panic!("{witness}"));
    batch.keeps_its_table("an index outside", Tolerance::Exact);
}

/// Checks that a planted mistake is caught: the streams of the batch differ from those that ran alone.
fn caught(pass: &str, text: &str, right: &str, wrong: &str) {
    let batch = Node::of_streams(3, 1, text);
    let compiled = batch.compile_mistaken(right, wrong);
    let planned = |input: &Datum, _: u64| batch.planned(input);
    let in_c = |input: &Datum, _: u64| compiled.run(input);
    agree(pass, &planned, &in_c, &inputs(&batch.sort(), 41), Tolerance::Exact).expect_err(pass);
}

#[test]
fn slips_between_streams_are_caught() {
    let product = "node f(x:num [5, 3], y:num [3, 6]) -> (o) o = matmul(x, y);";
    caught("a term too few", product, "1, 1, 3, &in->x", "1, 1, 2, &in->x");
    caught("the factor of one stream for all", product, "3, 1, &in->y", "3, 0, &in->y");
    caught("the last stream forgotten", product, "sums(3, 5,", "sums(2, 5,");
    let image = "node f(x:num [3, 3, 1]) -> (o) o = conv2d(x, param(glorot_uniform([2, 2, 1, 2])));";
    caught("a convolution without a row of its kernel", image, "2, 2, 1, &in->x", "1, 2, 1, &in->x");
    let place = "node f(x:num [2, 3]) -> (o) o = argmax(x);";
    caught("a place in the batch, not in the stream", place, "best = 3 * i0 + i1", "best = 9 * i0 + 3 * i1");
    let one = "node f(x:num [4]) -> (o) o = onehot(4, argmax(x));";
    caught("a one in the next stream", one, ") + i0]", ") + (i0 + 1) % 3]");
    let turned = "node f(x:num [2, 3]) -> (o) o = transpose(x) + 1.0;";
    caught("a stream that is not turned round", turned, "3 * i0 + 9 * i1", "9 * i0 + 3 * i1");
}
