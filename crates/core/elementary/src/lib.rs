//! Elementary functions with the same bits in Rust and in C: `exp log tanh sigmoid sin cos pow lgamma
//! digamma`, for `f64` and `f32`.
//!
//! ```
//! use eddy_elementary::{Width, c_source, double};
//!
//! assert_eq!(double::tanh(0.5), 0.46211715726000973);
//! assert!(c_source(Width::Double).contains("EDDY_INLINE double eddy_tanh(double x)"));
//! ```
//!
//! The simulator computes in Rust, compiled programs in C, and they must agree bit for bit. The functions of
//! the platform do not qualify: they differ between machines, and compilers do not vectorise loops over them.
//!
//! # One source
//!
//! The files in `shared/`, and the constants and polynomials in `double/` and `single/`, are Rust modules and
//! also the source of the C functions: [`c_source`] translates them token by token. They use a small subset
//! of Rust: functions of `let` steps and a result, calls, `+ - * /`, comparisons, operations on bits, `if …
//! else` around a whole result. [`double`] and [`single`] compile the same files with different types and
//! constants. Only `shared/primitives.rs` and `c/`, about a page, are written twice.
//!
//! * **No fused multiply-add**, no table look-up, no library call: IEEE 754 defines every operation to the
//!   last bit, on every machine.
//! * **No branches**: both sides are computed and `select` takes one, so that a loop over a function
//!   vectorises. The only exception are large arguments of `sin` and `cos`; see [C](#the-functions-in-c).
//! * **One NaN**: a NaN result has the bits `0x7FF8…0` (`0x7FC00000`), for every NaN operand. Signs of zeros,
//!   infinities, subnormal numbers and the special cases of `pow` follow IEEE 754 and Annex F of C99.
//!
//! # Accuracy
//!
//! The largest errors found, in units in the last place of the true value; 0.5 is optimal. Double precision:
//! 100,000 samples or more for each row, against 256 bits. Single precision: all floats (`pow`: five million
//! samples). `tests/accuracy` measures the errors and allows slightly more.
//!
//! | function | arguments | `f64` | `f32` |
//! | --- | --- | --- | --- |
//! | `exp` | result normal | 0.616 | 0.639 |
//! | | result subnormal | 0.768 | 0.780 |
//! | `log` | all | 0.500 | 0.501 |
//! | `tanh` | all | 0.863 | 0.779 |
//! | `sigmoid` | positive | 0.525 | 0.529 |
//! | | negative, result normal | 0.622 | 0.650 |
//! | | result subnormal | 0.768 | 0.780 |
//! | `sin` | below 1048576 (`f32`: 1024) | 0.793 | 0.807 |
//! | | others | 0.738 | 0.839 |
//! | `cos` | below 1048576 (`f32`: 1024) | 0.787 | 0.804 |
//! | | others | 0.750 | 0.830 |
//! | `pow` | all | 0.773 | 0.785 |
//! | `lgamma` | 0 to 0.5, from 3 on | 0.6 | 0.65 |
//! | `digamma` | 0 to 0.5, from 3 on | 4 | 4 |
//!
//! Between 0.5 and 3 `lgamma` and `digamma` have zeros, where the error is at most half a unit and 2·10⁻¹⁷,
//! respectively 10⁻¹⁵; for negative arguments it is at most 4 units and 10⁻¹⁵, respectively 6 units and
//! 2·10⁻¹⁵.
//!
//! `sqrt`, `abs` and `/` are exact in IEEE 754, so this crate does not define them.
//!
//! # Speed
//!
//! Nanoseconds for each of 1024 elements, from `cargo bench -p eddy-elementary` on one core of a shared
//! x86-64 machine with AVX-512, with gcc 12 and glibc 2.36. C is compiled with `-O3 -march=native`; Rust for
//! any x86-64 (`eddy-tensor` also compiles its loops for wider vectors), where the rows `sin_near` and
//! `cos_near` are `sin` and `cos`. A single result takes longer than the platform's: twice as long for `exp`,
//! four times for `pow`.
//!
//! | function | C | C, glibc | Rust | Rust, std | C `f32` | C, glibc | Rust `f32` | Rust, std |
//! | --- | --- | --- | --- | --- | --- | --- | --- | --- |
//! | `exp` | 1.5 | 5.2 | 4.9 | 4.6 | 0.6 | 3.2 | 1.8 | 2.5 |
//! | `log` | 2.4 | 4.3 | 8.2 | 3.8 | 1.0 | 3.5 | 3.4 | 2.9 |
//! | `tanh` | 2.0 | 10.3 | 6.6 | 9.6 | 0.9 | 11.4 | 2.7 | 11.2 |
//! | `sigmoid` | 2.3 | 5.2 | 7.8 | 4.6 | 1.0 | 3.2 | 3.2 | 2.6 |
//! | `sin_near` | 1.8 | 8.9 | 8.8 | 8.8 | 0.8 | 3.3 | 7.9 | 2.7 |
//! | `cos_near` | 1.8 | 9.2 | 8.8 | 8.7 | 0.8 | 3.6 | 7.9 | 2.8 |
//! | `sin` | 8.3 | 8.9 | 8.8 | 8.8 | 7.7 | 3.3 | 7.9 | 2.7 |
//! | `sin` above 1e9 | 30.1 | 41.9 | 23.9 | 40.7 | 33.9 | 4.3 | 20.9 | 4.0 |
//! | `pow` | 8.4 | 9.9 | 45.3 | 10.0 | 3.6 | 4.2 | 7.9 | 4.2 |
//!
//! # The functions in C
//!
//! [`c_source`] is C99 that needs `<stdint.h>` and `<float.h>` and no library. It is placed before the code
//! that calls it; both widths can be in one file. gcc gives no warnings with `-std=c99 -pedantic -Wall
//! -Wextra -Wconversion`.
//!
//! ```c
//! double eddy_exp(double x);          float eddy_expf(float x);
//! double eddy_log(double x);          float eddy_logf(float x);
//! double eddy_tanh(double x);         float eddy_tanhf(float x);
//! double eddy_sigmoid(double x);      float eddy_sigmoidf(float x);
//! double eddy_pow(double x, double y); float eddy_powf(float x, float y);
//! double eddy_sin(double x);          float eddy_sinf(float x);
//! double eddy_cos(double x);          float eddy_cosf(float x);
//! double eddy_lgamma(double x);       float eddy_lgammaf(float x);
//! double eddy_digamma(double x);      float eddy_digammaf(float x);
//!
//! int eddy_is_near(double x);         int eddy_is_nearf(float x);      /* |x| <= 1048576, or 1024 */
//! double eddy_sin_near(double x);     float eddy_sin_nearf(float x);   /* right where that holds */
//! double eddy_cos_near(double x);     float eddy_cos_nearf(float x);
//! ```
//!
//! All are `static inline`. Other names also begin with `eddy_`, `Eddy` or `EDDY_`. Compile with
//! `-ffp-contract=off`, at any optimisation level, for any machine, but never with `-ffast-math` (the text
//! rejects it). `-fno-math-errno -fno-trapping-math` do not change results.
//!
//! `eddy_sin` has a branch for large arguments, which prevents vectorisation. To vectorise a loop, split it
//! into two steps with the same results:
//!
//! ```c
//! for (int i = 0; i < n; i++) y[i] = eddy_sin_near(x[i]);
//! for (int i = 0; i < n; i++) if (!eddy_is_near(x[i])) y[i] = eddy_sin(x[i]);
//! ```
//!
//! (`y` must not alias `x`.) Sums of products are outside of this crate: they accumulate with `fma` in
//! `eddy-tensor`, and must in C (`__builtin_fma(x, y, sum)`), term by term from left to right.

// The common subset is also C, where numerals have no underscores, `&` on conditions computes both sides, and
// so on.
#![allow(
    clippy::approx_constant,
    clippy::duplicate_mod,
    clippy::eq_op,
    clippy::excessive_precision,
    clippy::needless_bitwise_bool,
    clippy::unreadable_literal
)]
// A loop vectorises only if the functions that it calls are inlined.
#![allow(clippy::inline_always)]

mod c;
pub mod double;
pub mod single;

pub use c::{Width, c_source};
