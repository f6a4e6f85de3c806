//! Functions of other languages and frameworks, with their equivalents in Eddy.
//!
//! The table is consulted only for unknown names. If the library has a node of the same name with as many
//! inputs as the call has arguments, the error suggests that node instead.

/// What to write instead of a function of another language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replacement {
    /// A function or node that replaces the name alone.
    Name(&'static str),
    /// An explanation, if a different name is not enough.
    Words(&'static str),
}

use Replacement::{Name, Words};

/// Names in other languages and their equivalents. Names are compared in lower case.
const FUNCTIONS: &[(&[&str], Replacement)] = &[
    (&["min"], Words("the smaller of two is `minimum(x, y)`; the smallest element is `-max(-x)`")),
    (&["fmin"], Name("minimum")),
    (&["fmax"], Name("maximum")),
    (&["power"], Name("pow")),
    (&["sqr", "square"], Words("a square is a product: `x * x`")),
    (&["ln"], Name("log")),
    (&["log2", "lb"], Words("`log` is the natural logarithm: `log(x) / log(2.0)`")),
    (&["log10", "lg"], Words("`log` is the natural logarithm: `log(x) / log(10.0)`")),
    (&["fabs", "absolute"], Name("abs")),
    (&["float", "double", "real", "f32", "f64", "float32", "float64"], Name("num")),
    (&["integer", "i32", "i64", "int32", "int64", "trunc"], Name("int")),
    (&["bool", "boolean"], Words("a condition is a comparison: `x != 0`")),
    (
        &["floor", "ceil", "round", "rint"],
        Words("`num(int(x))` drops the fractional part; there is no other rounding"),
    ),
    (&["clip", "clamp"], Words("write `minimum(maximum(x, lo), hi)`")),
    (&["dot", "mm", "matvec", "inner"], Name("matmul")),
    (
        &["einsum", "tensordot"],
        Words("products are `matmul(x, y)`, `outer(x, y)` and `x * y`; sums are `sum(x, axis)`"),
    ),
    (&["avg", "average", "reduce_mean"], Name("mean")),
    (&["reduce_sum"], Name("sum")),
    (&["reduce_max", "amax"], Name("max")),
    (&["std", "stddev", "var", "variance"], Words("the variance is `mean((x - mean(x)) * (x - mean(x)))`")),
    (&["norm"], Words("the length of a vector is `sqrt(sum(x * x))`")),
    (&["view"], Words("write `reshape(shape, x)`, the shape first")),
    (&["concatenate", "cat", "hstack", "vstack", "append"], Name("concat")),
    (&["stack"], Words("rows are stacked by a list: `[x, y]`")),
    (
        &["arange", "range", "iota", "linspace"],
        Words("there are no ranges: a list is written out, `[0.0, 1.0, 2.0]`"),
    ),
    (
        &["full", "fill", "constant"],
        Words("write `broadcast(shape, x)`, or `zeros(shape)` and `ones(shape)`"),
    ),
    (&["eye"], Words("an identity matrix is written out: `[[1.0, 0.0], [0.0, 1.0]]`")),
    (&["rand", "random"], Name("uniform")),
    (&["randn", "gauss"], Name("normal")),
    (&["cumsum"], Words("a running sum over time is an equation: `s = x + (0.0 fby s);`")),
    (
        &["gather", "take", "index_select"],
        Words("row `i` of `x` is `x[i]`, or `matmul(onehot(n, i), x)` where `i` changes"),
    ),
    (
        &["select", "cond", "ifelse", "iff", "ite"],
        Words("write `if c then x else y`, or `where(c, x, y)` for each element"),
    ),
    (&["sign"], Words("write `where(x > 0.0, 1.0, where(x < 0.0, -1.0, 0.0))`")),
    (&["mod", "fmod", "rem", "remainder"], Words("the remainder of integers is `x mod y`")),
    (&["xor"], Words("exclusive or is `a != b`")),
    (
        &["print", "printf", "println"],
        Words("`eddy run` prints the outputs; `show x` in a `run` prints an inner stream too"),
    ),
    (
        &["grad", "gradient", "vjp", "jacobian", "backward", "value_and_grad"],
        Words("the gradient of a node `N` is the node `adj_N`, its tangent `tan_N`"),
    ),
    (&["jvp"], Words("the tangent of a node `N` is the node `tan_N`, its gradient `adj_N`")),
    (
        &["prev", "previous", "pre", "delay", "last", "lag"],
        Words("the previous value is `0.0 fby x`, where `0.0` is the value at the first cycle"),
    ),
    (&["next", "ahead"], Words("the value of the next cycle is `post x`")),
    (
        &["scan", "foldl", "fold_left", "map", "vmap", "pmap", "foreach"],
        Words("operations apply to every element; a loop over time is an equation with `fby`"),
    ),
    (
        &["len", "length", "size", "shape", "ndim", "dim"],
        Words("sizes are compile-time constants: `eddy check` shows them, and a node takes them as inputs"),
    ),
    (&["logistic", "expit"], Name("sigmoid")),
    (&["leaky_relu", "leakyrelu"], Words("write `maximum(x, 0.01 * x)`")),
    (
        &["gelu", "silu", "swish"],
        Words("write `x * sigmoid(x)`, or `x * sigmoid(1.702 * x)` for an approximate GELU"),
    ),
    (&["log_softmax"], Words("write `x - log_sum_exp(x)`, with `import log_sum_exp from \"eddy:losses\";`")),
    (&["cross_entropy", "crossentropy", "crossentropyloss", "nll"], Name("softmax_cross_entropy")),
    (&["bce", "bceloss"], Name("binary_cross_entropy")),
    (&["mseloss", "l2", "l2_loss", "mean_squared_error"], Name("mse")),
    (&["l1", "l1_loss", "mean_absolute_error"], Name("mae")),
    (&["ema"], Name("exponential_average")),
    (&["fully_connected", "fc"], Name("dense")),
    (&["conv", "convolution"], Name("convolution2d")),
    (&["maxpool", "max_pool"], Name("max_pool2d")),
];

/// The equivalent of this function in Eddy.
pub(super) fn replacement(name: &str) -> Option<Replacement> {
    let name = name.to_lowercase();
    FUNCTIONS.iter().find(|(names, _)| names.contains(&name.as_str())).map(|(_, replacement)| *replacement)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::library;

    /// Each name that the table suggests can be called: as a function, or after an import.
    #[test]
    fn suggested_names_can_be_called() {
        for (names, replacement) in FUNCTIONS {
            for name in *names {
                assert!(eddy_tensor::builtin(name).is_none(), "`{name}` exists in Eddy");
            }
            if let Name(name) = replacement {
                let is_node = library::nodes().iter().any(|node| node.name == *name);
                assert!(is_node || eddy_tensor::builtin(name).is_some(), "`{name}` cannot be called");
            }
        }
    }
}
