//! Zeros, infinities, NaN, subnormal numbers, overflow and underflow, exactly as IEEE 754 and Annex F of C99
//! define them.

/// The tests of one width. They compare bits: signs of zeros matter, and there is one NaN.
macro_rules! special {
    ($width:ident, $float:ty, $overflow:expr, $underflow:expr, $tiny:expr) => {
        mod $width {
            use eddy_elementary::$width::*;

            const INF: $float = <$float>::INFINITY;
            const NAN: $float = <$float>::NAN;
            const MAX: $float = <$float>::MAX;
            /// The smallest positive number.
            const TINY: $float = $tiny;

            #[track_caller]
            fn check(function: fn($float) -> $float, cases: &[($float, $float)]) {
                for (x, expected) in cases {
                    let found = function(*x);
                    assert_eq!(
                        found.to_bits(),
                        expected.to_bits(),
                        "f({x:e}) is {found:e}, not {expected:e}"
                    );
                }
            }

            #[test]
            fn exponentials() {
                check(exp, &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (NAN, NAN), (-NAN, NAN)]);
                check(exp, &[(MAX, INF), (-MAX, 0.0), (TINY, 1.0), (-TINY, 1.0)]);
                // The largest argument with a finite result, and the smallest with a nonzero result.
                let (overflow, underflow): ($float, $float) = ($overflow, $underflow);
                assert!(exp(overflow) < INF);
                check(exp, &[(overflow.next_up(), INF), (underflow, TINY), (underflow.next_down(), 0.0)]);
            }

            #[test]
            fn logarithms() {
                check(log, &[(1.0, 0.0), (0.0, -INF), (-0.0, -INF), (INF, INF)]);
                check(log, &[(-TINY, NAN), (-1.0, NAN), (-INF, NAN), (NAN, NAN), (-NAN, NAN)]);
                assert!(log(TINY) < -100.0 && log(MAX) > 88.0);
            }

            #[test]
            fn hyperbolic_tangents() {
                check(tanh, &[(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (NAN, NAN), (-NAN, NAN)]);
                check(tanh, &[(TINY, TINY), (-TINY, -TINY), (MAX, 1.0), (-MAX, -1.0)]);
                let small = <$float>::MIN_POSITIVE;
                check(tanh, &[(small, small), (-small.next_down(), -small.next_down())]);
            }

            #[test]
            fn sigmoids() {
                check(sigmoid, &[(0.0, 0.5), (-0.0, 0.5), (INF, 1.0), (-INF, 0.0), (NAN, NAN), (-NAN, NAN)]);
                check(sigmoid, &[(TINY, 0.5), (MAX, 1.0), (-MAX, 0.0)]);
                let underflow: $float = $underflow;
                check(sigmoid, &[(underflow, TINY), (underflow.next_down(), 0.0)]);
            }

            #[test]
            fn sines_and_cosines() {
                check(sin, &[(0.0, 0.0), (-0.0, -0.0), (TINY, TINY), (-TINY, -TINY)]);
                check(sin, &[(INF, NAN), (-INF, NAN), (NAN, NAN), (-NAN, NAN)]);
                check(
                    cos,
                    &[(0.0, 1.0), (-0.0, 1.0), (TINY, 1.0), (INF, NAN), (-INF, NAN), (NAN, NAN), (-NAN, NAN)],
                );
            }

            #[test]
            fn gamma_functions() {
                check(lgamma, &[(1.0, 0.0), (2.0, 0.0), (0.0, INF), (-0.0, INF), (-3.0, INF), (NAN, NAN)]);
                check(lgamma, &[(INF, INF), (-INF, INF), (MAX, INF), (-MAX, INF), (-NAN, NAN)]);
                check(digamma, &[(0.0, -INF), (-0.0, INF), (-3.0, NAN), (INF, INF), (-INF, NAN), (NAN, NAN)]);
                assert!(lgamma(TINY) > 100.0 && digamma(MAX) > 88.0 && digamma(MAX) < 710.0);
                for n in 1..20_u8 {
                    let factorial = (1..n).fold(1.0, |product: $float, k| product * <$float>::from(k));
                    let error = (lgamma(n.into()) - log(factorial)).abs();
                    assert!(error <= 2.0 * <$float>::EPSILON * log(factorial), "{n}");
                }
            }

            /// All pairs of special numbers, compared with the platform's function where that is exact.
            #[test]
            fn powers() {
                let step = 2.0 / <$float>::EPSILON;
                let sizes = [
                    0.0,
                    TINY,
                    <$float>::MIN_POSITIVE,
                    0.5,
                    (1.0 as $float).next_down(),
                    1.0,
                    (1.0 as $float).next_up(),
                    1.5,
                    2.0,
                    3.0,
                    4.0,
                    step / 2.0 + 0.5,
                    step - 1.0,
                    step,
                    step + 2.0,
                    MAX,
                    INF,
                    NAN,
                ];
                for x in sizes.into_iter().flat_map(|x| [x, -x]) {
                    for y in sizes.into_iter().flat_map(|y| [y, -y]) {
                        let (found, expected) = (pow(x, y), x.powf(y));
                        let is_exact = expected == 0.0 || expected.abs() == 1.0 || expected.is_infinite();
                        if expected.is_nan() || is_exact {
                            assert_eq!(found.is_nan(), expected.is_nan(), "pow({x:e}, {y:e}) is {found:e}");
                            let expected = if expected.is_nan() { NAN } else { expected };
                            assert_eq!(found.to_bits(), expected.to_bits(), "pow({x:e}, {y:e}) is {found:e}");
                        } else {
                            let error = (found / expected - 1.0).abs();
                            assert!(
                                error <= 2.0 * <$float>::EPSILON || found.abs() <= TINY,
                                "pow({x:e}, {y:e}) is {found:e}"
                            );
                        }
                    }
                }
            }

            #[test]
            fn whole_powers_are_exact() {
                for n in 0..10_u8 {
                    let power = (0..n).fold(1.0, |power: $float, _| power * 3.0);
                    assert_eq!(pow(3.0, n.into()), power);
                    assert_eq!(pow(-3.0, n.into()), if n % 2 == 0 { power } else { -power });
                    assert_eq!(pow(power * power, 0.5), power);
                }
            }
        }
    };
}

special!(double, f64, 709.782_712_893_384, -745.133_219_101_941_1, 5e-324);
special!(single, f32, 88.72283, -103.97208, 1e-45);
