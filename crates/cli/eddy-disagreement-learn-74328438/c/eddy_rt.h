#ifndef EDDY_INLINE

#include <float.h>
#include <stdint.h>

// The functions below have the same bits everywhere, provided that each operation is rounded once, by itself.
#if defined(__FAST_MATH__)
#error "eddy: results would differ; compile without -ffast-math"
#endif
#if FLT_EVAL_METHOD != 0
#error "eddy: results would differ; compile for a machine that rounds each operation (on x86: -mfpmath=sse)"
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

// A loop vectorises if what it calls becomes part of it.
#if defined(__GNUC__)
#define EDDY_INLINE static inline __attribute__((always_inline, unused))
#define EDDY_APART static __attribute__((noinline, cold, unused))
#else
#define EDDY_INLINE static inline
#define EDDY_APART static inline
#endif

#endif
#ifndef EDDY_ELEMENTARY
#define EDDY_ELEMENTARY

// What the rest takes for granted.

typedef struct {
    double hi;
    double lo;
} EddyPair;

typedef struct {
    uint64_t quarters;
    double hi;
    double lo;
} EddyAngle;

EDDY_INLINE EddyPair eddy_pair(double hi, double lo) {
    const EddyPair result = { hi, lo };
    return result;
}

EDDY_INLINE EddyAngle eddy_angle(uint64_t quarters, double hi, double lo) {
    const EddyAngle result = { quarters, hi, lo };
    return result;
}

EDDY_INLINE double eddy_select(int condition, double yes, double no) {
    return condition ? yes : no;
}

EDDY_INLINE int eddy_is_nan(double x) {
    return x != x;
}

EDDY_INLINE uint64_t eddy_to_bits(double x) {
    const union { double num; uint64_t bits; } both = { .num = x };
    return both.bits;
}

EDDY_INLINE double eddy_from_bits(uint64_t bits) {
    const union { uint64_t bits; double num; } both = { .bits = bits };
    return both.num;
}

EDDY_INLINE uint64_t eddy_plus(uint64_t x, uint64_t y) {
    return x + y;
}

// The constants of `f64`: the format, and what the functions need in this precision.


// How many digits a number has behind its point.
#define EDDY_MANTISSA_BITS (52u)
// The field of these digits.
#define EDDY_MANTISSA (0x000FFFFFFFFFFFFFu)
#define EDDY_SIGN (0x8000000000000000u)
// From the second bit of a count of quarter turns to the sign.
#define EDDY_QUARTER_TO_SIGN (62u)
// All but the sign.
#define EDDY_MAGNITUDE (0x7FFFFFFFFFFFFFFFu)
// All but the lower digits: 26 remain.
#define EDDY_UPPER_HALF (0xFFFFFFFFF8000000u)
#define EDDY_EXPONENT_BIAS (1023u)
#define EDDY_EXPONENT_BIAS_AS_NUM (1023.0)
#define EDDY_INFINITE (0x7FF0000000000000u)
// The NaN that all functions return.
#define EDDY_QUIET_NAN (0x7FF8000000000000u)
#define EDDY_SMALLEST_NORMAL (2.2250738585072014e-308)
// 2⁵⁴, which lifts any subnormal number to the normal ones.
#define EDDY_LIFT (18014398509481984.0)
#define EDDY_LIFT_EXPONENT (54.0)
// 2⁵²: from here on all numbers are integers, and the last digit counts ones.
#define EDDY_UNIT_STEP (4503599627370496.0)
#define EDDY_UNIT_STEP_BITS (0x4330000000000000u)
// 1.5 of that: the last digit still counts ones if a negative integer is added.
#define EDDY_MAGIC (6755399441055744.0)

#define EDDY_LOG2_E (1.4426950408889634)
// The first 41 digits of ln 2: a product with an exponent is exact.
#define EDDY_LN2_HI (0.693147180559663)
#define EDDY_LN2_LO (2.8235290563031577e-13)
// From here on exp is zero.
#define EDDY_EXP_LOWEST (-746.0)
// From here on exp is infinite.
#define EDDY_EXP_HIGHEST (710.0)
// From here on tanh is 1.
#define EDDY_TANH_ONE (20.0)
// Beside 1, two to this power is nothing.
#define EDDY_NEGLIGIBLE (-1000.0)
// 2⁶⁵: any number but 1 has a power of zero or infinity with this exponent.
#define EDDY_LARGEST_EXPONENT (36893488147419103232.0)

// √½.
#define EDDY_SQRT_HALF (0x3FE6A09E667F3BCDu)
// The bits of 1 less those of √½.
#define EDDY_ONE_LESS_SQRT_HALF (0x00095F619980C433u)
// The first half of the digits of ⅔.
#define EDDY_TWO_THIRDS_HI (0.6666666567325592)
#define EDDY_TWO_THIRDS_LO (9.934107462565104e-9)

// Up to here a number of quarter turns times a part of π/2 is exact.
#define EDDY_NEAR (1048576.0)
#define EDDY_TWO_OVER_PI (0.6366197723675814)
// π/2 in four parts, the first three of 33 digits.
#define EDDY_PI_2_A (1.5707963267341256)
#define EDDY_PI_2_B (6.077100506303966e-11)
#define EDDY_PI_2_C (2.0222662487111665e-21)
#define EDDY_PI_2_D (8.4784276603689e-32)

// The digits of 2/π in words of 32, after two words of zeros.
static const uint64_t EDDY_DIGITS_OF_2_OVER_PI[42u] = { 0u, 0u, 0xA2F9836Eu, 0x4E441529u, 0xFC2757D1u, 0xF534DDC0u, 0xDB629599u, 0x3C439041u, 0xFE5163ABu, 0xDEBBC561u, 0xB7246E3Au, 0x424DD2E0u, 0x06492EEAu, 0x09D1921Cu, 0xFE1DEB1Cu, 0xB129A73Eu, 0xE88235F5u, 0x2EBB4484u, 0xE99C7026u, 0xB45F7E41u, 0x3991D639u, 0x835339F4u, 0x9C845F8Bu, 0xBDF9283Bu, 0x1FF897FFu, 0xDE05980Fu, 0xEF2F118Bu, 0x5A0A6D1Fu, 0x6D367ECFu, 0x27CB09B7u, 0x4F463F66u, 0x9E5FEA2Du, 0x7527BAC7u, 0xEBE5F17Bu, 0x3D0739F7u, 0x8A5292EAu, 0x6BFB5FB1u, 0x1F8D5D08u, 0x56033046u, 0xFC7B6BABu, 0xF0CFBC20u, 0x9AF4361Du };

// An integer as a number.
EDDY_INLINE double eddy_as_num(uint64_t integer) {
    return (double)integer;
}

// A word of the digits of 2/π.
EDDY_INLINE uint64_t eddy_digits(uint64_t word) {
    return EDDY_DIGITS_OF_2_OVER_PI[word];
}

// Arithmetic that keeps what rounding would lose: sums, products and quotients as pairs.
//
// There is no fused multiplication here, since a machine without one would give other bits or be slow. Instead of it, a product
// is exact when both factors have at most half of the digits; [`upper_half`] cuts a number down to that with
// one operation on its bits. What is cut off is as small as the square root of the rounding unit u, so plain arithmetic is good
// enough for it: the errors that it makes are below u².

EDDY_INLINE double eddy_upper_half(double x);
EDDY_INLINE EddyPair eddy_ordered_sum(double x, double y);
EDDY_INLINE EddyPair eddy_exact_sum(double x, double y);
EDDY_INLINE EddyPair eddy_product(EddyPair x, EddyPair y);
EDDY_INLINE EddyPair eddy_quotient(EddyPair x, EddyPair y);

// The first half of the digits, the others zero.
EDDY_INLINE double eddy_upper_half(double x) {
    return eddy_from_bits(eddy_to_bits(x) & EDDY_UPPER_HALF);
}

// `x + y` exactly, if |x| ≥ |y| or x = 0.
EDDY_INLINE EddyPair eddy_ordered_sum(double x, double y) {
    const double sum = x + y;
    return eddy_pair(sum, (x - sum) + y);
}

// `x + y` exactly.
EDDY_INLINE EddyPair eddy_exact_sum(double x, double y) {
    const double sum = x + y;
    const double y_in_sum = sum - x;
    const double x_in_sum = sum - y_in_sum;
    return eddy_pair(sum, (x - x_in_sum) + (y - y_in_sum));
}

// `x y`, where `lo` may be as large as √u `hi`. The error is a few u² of the product.
EDDY_INLINE EddyPair eddy_product(EddyPair x, EddyPair y) {
    const double x_upper = eddy_upper_half(x.hi);
    const double y_upper = eddy_upper_half(y.hi);
    const double x_rest = (x.hi - x_upper) + x.lo;
    const double y_rest = (y.hi - y_upper) + y.lo;
    return eddy_pair(x_upper * y_upper, x_upper * y_rest + x_rest * (y.hi + y.lo));
}

// `x / y`, where `hi` has half of the digits and `lo` is about √u `hi`. The error is a few u² of the quotient.
//
// The first half of the quotient is guessed, and its product with the first half of `y` is exact; so is the subtraction, since
// both sides agree in half of their digits. What remains is divided with plain arithmetic.
EDDY_INLINE EddyPair eddy_quotient(EddyPair x, EddyPair y) {
    const double inverse = 1.0 / y.hi;
    const double guess = eddy_upper_half(x.hi * inverse);
    const double y_upper = eddy_upper_half(y.hi);
    const double y_rest = (y.hi - y_upper) + y.lo;
    const double x_rest = ((x.hi - guess * y_upper) - guess * y_rest) + x.lo;
    return eddy_pair(guess, x_rest * inverse);
}

// The angle of a large number, after Payne and Hanek: multiply by those digits of 2/π that matter, as integers.
//
// Let x = M 2^e with an integer M of 53 digits. Of x (2/π) we want the integer part modulo 4 and the fraction. Digits of 2/π whose
// product with x is a multiple of 4 do not matter; the 224 digits after them do: 53 are shifted out by M, 2 are
// the integer part, up to 61 may be zeros (no `f64` is nearer to a multiple of π/2), and more than 100 are left for the
// rest. Digits come in words of 32, so that products of words fit into 64 digits with room for carries.

EDDY_APART EddyAngle eddy_far_angle(double x);
EDDY_INLINE uint64_t eddy_window(uint64_t place, uint64_t shift);

#define EDDY_WORD (0xFFFFFFFFu)
#define EDDY_ONE_OVER_2_30 (9.313225746154785e-10)
#define EDDY_ONE_OVER_2_62 (2.168404344971009e-19)
#define EDDY_ONE_OVER_2_94 (5.048709793414476e-29)
#define EDDY_ONE_OVER_2_126 (1.1754943508222875e-38)
#define EDDY_PI_2_HI (1.5707963267948966)
#define EDDY_PI_2_LO (6.123233995736766e-17)

// The angle of a finite number from 2^9 on.
EDDY_APART EddyAngle eddy_far_angle(double x) {
    const uint64_t mantissa = (eddy_to_bits(x) & EDDY_MANTISSA) | (EDDY_MANTISSA + 1u);
    const uint64_t m_hi = mantissa >> 32u;
    const uint64_t m_lo = mantissa & EDDY_WORD;
    // e + 62 = exponent field - 1023 - 52 + 62, and 64 - 2 of them are the zeros in front: the first digit that matters.
    const uint64_t first = (eddy_to_bits(x) >> EDDY_MANTISSA_BITS) - 1013u;
    const uint64_t shift = first & 31u;
    const uint64_t place = first >> 5u;
    const uint64_t a = eddy_window(place, shift);
    const uint64_t b = eddy_window(place + 1u, shift);
    const uint64_t c = eddy_window(place + 2u, shift);
    const uint64_t d = eddy_window(place + 3u, shift);
    const uint64_t e = eddy_window(place + 4u, shift);
    const uint64_t f = eddy_window(place + 5u, shift);
    const uint64_t g = eddy_window(place + 6u, shift);
    // The product modulo 2^224, from its last word on. Each sum has at most 2 · 32 bits, since its terms are split.
    const uint64_t p = ((m_lo * g) >> 32u) + ((m_hi * g) & EDDY_WORD) + ((m_lo * f) & EDDY_WORD);
    const uint64_t q = (p >> 32u) + ((m_lo * f) >> 32u) + ((m_hi * g) >> 32u) + ((m_hi * f) & EDDY_WORD) + ((m_lo * e) & EDDY_WORD);
    const uint64_t r = (q >> 32u) + ((m_lo * e) >> 32u) + ((m_hi * f) >> 32u) + ((m_hi * e) & EDDY_WORD) + ((m_lo * d) & EDDY_WORD);
    const uint64_t s = (r >> 32u) + ((m_lo * d) >> 32u) + ((m_hi * e) >> 32u) + ((m_hi * d) & EDDY_WORD) + ((m_lo * c) & EDDY_WORD);
    const uint64_t t = (s >> 32u) + ((m_lo * c) >> 32u) + ((m_hi * d) >> 32u) + ((m_hi * c) & EDDY_WORD) + ((m_lo * b) & EDDY_WORD);
    const uint64_t v = (t >> 32u) + ((m_lo * b) >> 32u) + ((m_hi * c) >> 32u) + ((m_hi * b) & EDDY_WORD) + ((m_lo * a) & EDDY_WORD);
    const uint64_t top = v & EDDY_WORD;
    // Two digits for the quarters, rounded; what is left is between -1/2 and 1/2.
    const uint64_t quarters = (top + 0x20000000u) >> 30u;
    const double rest = eddy_as_num(top) - eddy_as_num(quarters << 30u);
    const EddyPair first_sum = eddy_exact_sum(rest * EDDY_ONE_OVER_2_30, eddy_as_num(t & EDDY_WORD) * EDDY_ONE_OVER_2_62);
    const EddyPair second_sum = eddy_exact_sum(first_sum.hi, eddy_as_num(s & EDDY_WORD) * EDDY_ONE_OVER_2_94);
    const EddyPair last_sum = eddy_exact_sum(second_sum.hi, eddy_as_num(r & EDDY_WORD) * EDDY_ONE_OVER_2_126);
    const EddyPair fraction = eddy_pair(last_sum.hi, last_sum.lo + (second_sum.lo + first_sum.lo));
    const EddyPair turned = eddy_product(fraction, eddy_pair(EDDY_PI_2_HI, EDDY_PI_2_LO));
    const EddyPair sum = eddy_exact_sum(turned.hi, turned.lo);
    return eddy_angle(quarters, sum.hi, sum.lo);
}

// 32 digits of 2/π, so many words and digits from the start.
EDDY_INLINE uint64_t eddy_window(uint64_t place, uint64_t shift) {
    return ((((eddy_digits(place) << 32u) | eddy_digits(place + 1u)) << shift) >> 32u) & EDDY_WORD;
}

#endif // EDDY_ELEMENTARY

#ifndef EDDY_ELEMENTARY_DOUBLE
#define EDDY_ELEMENTARY_DOUBLE

// Questions about one number and operations on its parts: sign, exponent, integer part.

EDDY_INLINE double eddy_nearest(double x);
EDDY_INLINE int eddy_is_integer(double x);
EDDY_INLINE double eddy_absolute(double x);
EDDY_INLINE double eddy_flipped_by_sign_of(double x, double y);
EDDY_INLINE double eddy_at_most(double x, double highest);
EDDY_INLINE double eddy_at_least(double x, double lowest);
EDDY_INLINE double eddy_power_of_two(double k);
EDDY_INLINE double eddy_scaled(double x, double k);
EDDY_INLINE double eddy_unless_nan(double x, double y);

// The nearest integer, for numbers that are much smaller than [`MAGIC`]: adding it leaves no place for a fraction.
EDDY_INLINE double eddy_nearest(double x) {
    return (x + EDDY_MAGIC) - EDDY_MAGIC;
}

// Whether a number that is not negative is an integer; from `UNIT_STEP` on all are.
EDDY_INLINE int eddy_is_integer(double x) {
    return (x >= EDDY_UNIT_STEP) | ((x + EDDY_UNIT_STEP) - EDDY_UNIT_STEP == x);
}

EDDY_INLINE double eddy_absolute(double x) {
    return eddy_from_bits(eddy_to_bits(x) & EDDY_MAGNITUDE);
}

// `y`, or `-y` if `x` is negative.
EDDY_INLINE double eddy_flipped_by_sign_of(double x, double y) {
    return eddy_from_bits(eddy_to_bits(y) ^ (eddy_to_bits(x) & EDDY_SIGN));
}

// `x`, at most `highest`. NaN stays.
EDDY_INLINE double eddy_at_most(double x, double highest) {
    return eddy_select(x > highest, highest, x);
}

// `x`, at least `lowest`. NaN stays.
EDDY_INLINE double eddy_at_least(double x, double lowest) {
    return eddy_select(x < lowest, lowest, x);
}

// 2 to the power k, an integer in the range of the exponents of normal numbers.
//
// The last digits of k + MAGIC are k in two's complement; they are moved to where the exponent is.
EDDY_INLINE double eddy_power_of_two(double k) {
    return eddy_from_bits(eddy_plus(eddy_to_bits(k + EDDY_MAGIC), EDDY_EXPONENT_BIAS) << EDDY_MANTISSA_BITS);
}

// `x 2^k` for k between the double of the lowest and of the highest exponent; rounded once, if at all.
EDDY_INLINE double eddy_scaled(double x, double k) {
    const double half = eddy_nearest(0.5 * k);
    return (x * eddy_power_of_two(half)) * eddy_power_of_two(k - half);
}

// `y`, and the one NaN where `x` is any.
EDDY_INLINE double eddy_unless_nan(double x, double y) {
    return eddy_select(eddy_is_nan(x), eddy_from_bits(EDDY_QUIET_NAN), y);
}

// The polynomials of `f64`: minimax for the weighted error that is stated with each, coefficients rounded from the first on.
//
// Even and odd terms are summed side by side, which halves the time that a single result takes.

EDDY_INLINE double eddy_exp_tail(double r);
EDDY_INLINE double eddy_log_tail(double z);
EDDY_INLINE double eddy_sin_tail(double z);
EDDY_INLINE double eddy_cos_tail(double z);

// `(exp(r) - 1 - r - r²/2) / r³` for |r| ≤ (ln 2)/2. Error, times r³: 2^-63.8.
EDDY_INLINE double eddy_exp_tail(double r) {
    const double z = r * r;
    const double a = 0.16666666666666685 + r * 0.04166666666666666;
    const double b = 0.00833333333331578 + r * 0.0013888888888892812;
    const double c = 0.00019841269899330613 + r * 2.4801587304251217e-5;
    const double d = 2.7557232062489322e-6 + r * 2.7557293831268723e-7;
    const double e = 2.511296734221698e-8 + r * 2.0907984417210766e-9;
    return a + z * (b + z * (c + z * (d + z * e)));
}

// `(2 atanh(s)/s - 2 - ⅔z) / z²` with s² = z ≤ 0.0295. Error, times z²: 2^-72.4.
EDDY_INLINE double eddy_log_tail(double z) {
    const double y = z * z;
    const double a = 0.3999999999999998 + z * 0.2857142857144384;
    const double b = 0.22222222217789805 + z * 0.1818181884397532;
    const double c = 0.15384558430367143 + z * 0.13336264406107398;
    const double d = 0.11675783019149392 + z * 0.11981730990481906;
    return a + y * (b + y * (c + y * d));
}

// `(sin(r)/r - 1) / z` with r² = z ≤ π²/16. Error, times z: 2^-58.0.
EDDY_INLINE double eddy_sin_tail(double z) {
    const double y = z * z;
    const double a = -0.16666666666666632 + z * 0.008333333333322474;
    const double b = -0.0001984126982983745 + z * 2.755731369799887e-6;
    const double c = -2.5050758595703263e-8 + z * 1.5896802609153382e-10;
    return a + y * (b + y * c);
}

// `(cos(r) - 1 + z/2) / z²` with r² = z ≤ π²/16. Error, times z²: 2^-64.1.
EDDY_INLINE double eddy_cos_tail(double z) {
    const double y = z * z;
    const double a = 0.0416666666666666 + z * -0.0013888888888874459;
    const double b = 2.4801587289655057e-5 + z * -2.7557314394669653e-7;
    const double c = 2.087572823648599e-9 + z * -1.135987217251799e-11;
    return a + y * (b + y * c);
}
// The exponential: `exp(x) = 2^k exp(r)` with r = x - k ln 2, hence |r| ≤ (ln 2)/2.
//
// The function [`exp_rest`] computes `exp(r) - 1` as a pair; all functions of this crate that need an exponential use it.

EDDY_INLINE double eddy_exp(double x);
EDDY_INLINE EddyPair eddy_exp_rest(double x, double x_lo, double k);

// e to the power x.
//
// The sum of 1 and the pair is rounded once, and the last step is exact unless the result is subnormal. Beyond the bounds the
// result is infinite or zero anyway; inside, k fits into an exponent, split in two.
EDDY_INLINE double eddy_exp(double x) {
    const double y = eddy_at_most(eddy_at_least(x, EDDY_EXP_LOWEST), EDDY_EXP_HIGHEST);
    const double k = eddy_nearest(y * EDDY_LOG2_E);
    const EddyPair rest = eddy_exp_rest(y, 0.0, k);
    const EddyPair sum = eddy_ordered_sum(1.0, rest.hi);
    return eddy_unless_nan(x, eddy_scaled(sum.hi + (sum.lo + rest.lo), k));
}

// `exp(x + x_lo - k ln 2) - 1` as a pair, for k = nearest(x / ln 2) and a small `x_lo`.
//
// The product of k and `LN2_HI` is exact, since that ends in enough zeros, and so is its difference with x. Let r be the rest and u the
// rounding unit. exp(r) - 1 = r + q with q = r² (1/2 + r tail(r)), |q| < 0.19 |r|; q is rounded about three times, so the relative
// error of the pair is below 3 u 0.19, about half of u. The tail is a minimax polynomial whose error is far below that.
EDDY_INLINE EddyPair eddy_exp_rest(double x, double x_lo, double k) {
    const double exact = x - k * EDDY_LN2_HI;
    const double correction = x_lo - k * EDDY_LN2_LO;
    const double r = exact + correction;
    const double r_lo = (exact - r) + correction;
    const double q = (r * r) * (0.5 + r * eddy_exp_tail(r));
    const EddyPair sum = eddy_ordered_sum(r, q);
    return eddy_pair(sum.hi, sum.lo + r_lo);
}

// The two functions that saturate, `tanh` and `sigmoid`: quotients of sums with an exponential.
//
// Both are computed from the exponential as a pair, and divided as pairs, so that there is one rounding at the end. That is what
// keeps the relative error small where `tanh` is near 0 and where `sigmoid` is.

EDDY_INLINE double eddy_tanh(double x);
EDDY_INLINE double eddy_sigmoid(double x);

// The hyperbolic tangent: `(e - 1) / (e + 1)` with e = exp(2 |x|), and the sign of x.
//
// With exp(2 |x|) = 2^k (1 + p), the numerator E is (2^k - 1) + 2^k p, where the first term is exact, and 0 if k = 0: near 0 the
// relative error of E is that of p, about u/2, and it shrinks as k grows. The denominator is E + 2. From `TANH_ONE` on
// the result is 1.
EDDY_INLINE double eddy_tanh(double x) {
    const double y = 2.0 * eddy_at_most(eddy_absolute(x), EDDY_TANH_ONE);
    const double k = eddy_nearest(y * EDDY_LOG2_E);
    const EddyPair p = eddy_exp_rest(y, 0.0, k);
    const double power = eddy_power_of_two(k);
    const EddyPair e = eddy_ordered_sum(power - 1.0, power * p.hi);
    const double e_lo = e.lo + power * p.lo;
    const EddyPair below = eddy_exact_sum(e.hi, 2.0);
    const EddyPair ratio = eddy_quotient(eddy_pair(e.hi, e_lo), eddy_pair(below.hi, below.lo + e_lo));
    return eddy_unless_nan(x, eddy_flipped_by_sign_of(x, ratio.hi + ratio.lo));
}

// The logistic function: `1 / (1 + e)` if x is positive, else `e / (1 + e)`, with e = exp(-|x|).
//
// With e = 2^k m the second quotient is 2^k (m / (1 + e)), so that small results are scaled last and rounded once. In the
// denominator a very small e does not count, and its exponent is bounded.
EDDY_INLINE double eddy_sigmoid(double x) {
    const double y = eddy_at_least(-eddy_absolute(x), EDDY_EXP_LOWEST);
    const double k = eddy_nearest(y * EDDY_LOG2_E);
    const EddyPair p = eddy_exp_rest(y, 0.0, k);
    const EddyPair m = eddy_ordered_sum(1.0, p.hi);
    const double m_lo = m.lo + p.lo;
    const double power = eddy_power_of_two(eddy_at_least(k, EDDY_NEGLIGIBLE));
    const EddyPair below = eddy_ordered_sum(1.0, power * m.hi);
    const EddyPair above = eddy_pair(eddy_select(x < 0.0, m.hi, 1.0), eddy_select(x < 0.0, m_lo, 0.0));
    const EddyPair ratio = eddy_quotient(above, eddy_pair(below.hi, below.lo + power * m_lo));
    return eddy_unless_nan(x, eddy_scaled(ratio.hi + ratio.lo, eddy_select(x < 0.0, k, 0.0)));
}

// The natural logarithm: x = 2^k m with m between √½ and √2, `log x = k ln 2 + log m`.
//
// With s = (m - 1) / (m + 1), `log m = 2 atanh s = s (2 + ⅔ s² + s⁴ tail(s²))`. Here |s| < 0.172, and s² < 0.0295.

EDDY_INLINE double eddy_log(double x);
EDDY_INLINE EddyPair eddy_log_pair(double x);

// The natural logarithm. That of zero is negative infinity, that of a negative number NaN.
EDDY_INLINE double eddy_log(double x) {
    const EddyPair y = eddy_log_pair(x);
    const double finite = eddy_select(x == eddy_from_bits(EDDY_INFINITE), x, y.hi + y.lo);
    const double at_zero = eddy_select(x == 0.0, -eddy_from_bits(EDDY_INFINITE), eddy_from_bits(EDDY_QUIET_NAN));
    return eddy_select(x > 0.0, finite, at_zero);
}

// The natural logarithm of a positive finite number, where `lo` may be as large as √u `hi`.
//
// m - 1 is exact. The error comes from s⁴ tail(s²), which is at most 0.00018 of the sum and rounded three times: relative to the
// logarithm it is below 2⁻¹¹ u. No digits cancel in the last sum, as |k ln 2| is at least twice |log m| unless k is 0.
EDDY_INLINE EddyPair eddy_log_pair(double x) {
    // A subnormal number is lifted to the normal ones.
    const double y = eddy_select(x < EDDY_SMALLEST_NORMAL, x * EDDY_LIFT, x);
    const double lift = eddy_select(x < EDDY_SMALLEST_NORMAL, EDDY_LIFT_EXPONENT, 0.0);
    // The fields of exponent and mantissa, such that the mantissa starts to count at √½.
    const uint64_t fields = eddy_plus(eddy_to_bits(y), EDDY_ONE_LESS_SQRT_HALF);
    const double m = eddy_from_bits((fields & EDDY_MANTISSA) + EDDY_SQRT_HALF);
    // An integer in the last digits of a number whose last digit counts ones.
    const double biased = eddy_from_bits((fields >> EDDY_MANTISSA_BITS) | EDDY_UNIT_STEP_BITS) - EDDY_UNIT_STEP;
    const double k = (biased - EDDY_EXPONENT_BIAS_AS_NUM) - lift;
    const double f = m - 1.0;
    const EddyPair s = eddy_quotient(eddy_pair(f, 0.0), eddy_ordered_sum(2.0, f));
    // The first half of s has an exact square.
    const double square = s.hi * s.hi;
    const double square_lo = (s.hi + s.hi + s.lo) * s.lo;
    const double z = square + square_lo;
    const EddyPair third = eddy_product(eddy_pair(square, square_lo), eddy_pair(EDDY_TWO_THIRDS_HI, EDDY_TWO_THIRDS_LO));
    const EddyPair terms = eddy_ordered_sum(2.0, third.hi);
    const EddyPair series = eddy_ordered_sum(terms.hi, terms.lo + (third.lo + (z * z) * eddy_log_tail(z)));
    const EddyPair log_m = eddy_product(s, series);
    const EddyPair sum = eddy_ordered_sum(k * EDDY_LN2_HI, log_m.hi);
    return eddy_pair(sum.hi, sum.lo + (log_m.lo + k * EDDY_LN2_LO));
}

// Powers: `x^y = exp(y log |x|)`, with the logarithm and its product with y as pairs.
//
// An error ε of y log |x| is a relative error ε of the result, and y log |x| is up to 745 before the result leaves the range. So
// the pair needs some ten digits more than the result; see the error of [`log_pair`].

EDDY_INLINE double eddy_pow(double x, double y);
EDDY_INLINE double eddy_pow_inside(double x, double y);

// x to the power y, with all the special cases of IEEE 754 (and of C99, Annex F).
//
// * `pow(x, ±0)` and `pow(1, y)` are 1, even if the other operand is NaN; else NaN gives NaN.
// * The power of a negative number is NaN unless y is an integer, and negative if y is odd; zeros and infinities have
//   signs like other numbers, but any y will do.
EDDY_INLINE double eddy_pow(double x, double y) {
    const double base = eddy_absolute(x);
    const double exponent = eddy_absolute(y);
    // Zero and infinity have no logarithm; 2 stands in for them.
    const int is_edge = (base == 0.0) | (base == eddy_from_bits(EDDY_INFINITE));
    const double at_edge = eddy_select((base > 1.0) == (y > 0.0), eddy_from_bits(EDDY_INFINITE), 0.0);
    const double inside = eddy_pow_inside(eddy_select(is_edge, 2.0, base), y);
    const double size = eddy_select(is_edge, at_edge, inside);

    const int is_odd = eddy_is_integer(exponent) & !eddy_is_integer(0.5 * exponent);
    const double with_sign = eddy_select(is_odd, eddy_flipped_by_sign_of(x, size), size);

    const int has_none = (x < 0.0) & !is_edge & !eddy_is_integer(exponent);
    const int is_undefined = eddy_is_nan(x) | eddy_is_nan(y) | has_none;
    const double defined = eddy_select(is_undefined, eddy_from_bits(EDDY_QUIET_NAN), with_sign);
    return eddy_select((x == 1.0) | (y == 0.0), 1.0, defined);
}

// x to the power y for positive finite x.
//
// A larger |y| than `LARGEST_EXPONENT` gives the same result, 0, 1 or infinity, even if x is next to 1. It keeps infinities out
// of the pairs.
EDDY_INLINE double eddy_pow_inside(double x, double y) {
    const double exponent = eddy_at_most(eddy_at_least(y, -EDDY_LARGEST_EXPONENT), EDDY_LARGEST_EXPONENT);
    const EddyPair p = eddy_product(eddy_pair(exponent, 0.0), eddy_log_pair(x));
    const EddyPair wide = eddy_ordered_sum(p.hi, p.lo);
    const double hi = eddy_at_most(eddy_at_least(wide.hi, EDDY_EXP_LOWEST), EDDY_EXP_HIGHEST);
    const double lo = eddy_select(hi == wide.hi, wide.lo, 0.0);
    const double k = eddy_nearest(hi * EDDY_LOG2_E);
    const EddyPair rest = eddy_exp_rest(hi, lo, k);
    const EddyPair sum = eddy_ordered_sum(1.0, rest.hi);
    return eddy_scaled(sum.hi + (sum.lo + rest.lo), k);
}

// Sine and cosine: |x| = k π/2 + r with |r| ≤ π/4, and k mod 4 says which of ± sin r and ± cos r it is.
//
// The rest r needs π/2 with many more digits than k π/2 has in front of it. Up to NEAR, subtracting four parts of π/2 in turn does
// that without a branch ([`near_angle`]). Beyond, only an integer product with the right digits of 2/π will do
// (`far_angle`), which is slow and rare. So that loops vectorise, there are
//
// * `sin_near` and `cos_near`, without branches, right up to NEAR (beyond, their results mean nothing), and
// * `sin` and `cos`, right everywhere, with one branch.

EDDY_INLINE int eddy_is_near(double x);
EDDY_INLINE double eddy_sin(double x);
EDDY_INLINE double eddy_cos(double x);
EDDY_INLINE double eddy_sin_near(double x);
EDDY_INLINE double eddy_cos_near(double x);
EDDY_APART double eddy_sin_far(double x);
EDDY_APART double eddy_cos_far(double x);
EDDY_INLINE EddyAngle eddy_near_angle(double x);
EDDY_INLINE double eddy_sin_of(uint64_t quarters, EddyAngle rest);
EDDY_INLINE double eddy_sin_rest(double r, double r_lo);
EDDY_INLINE double eddy_cos_rest(double r, double r_lo);

// Whether [`sin_near`] and [`cos_near`] are right at `x`.
EDDY_INLINE int eddy_is_near(double x) {
    return eddy_absolute(x) <= EDDY_NEAR;
}

// The sine of x; NaN at infinities.
EDDY_INLINE double eddy_sin(double x) {
    return eddy_is_near(x) ? eddy_sin_near(x) : eddy_sin_far(x);
}

// The cosine of x; NaN at infinities.
EDDY_INLINE double eddy_cos(double x) {
    return eddy_is_near(x) ? eddy_cos_near(x) : eddy_cos_far(x);
}

// The sine of x, if [`is_near`].
EDDY_INLINE double eddy_sin_near(double x) {
    const EddyAngle a = eddy_near_angle(eddy_absolute(x));
    return eddy_unless_nan(x, eddy_flipped_by_sign_of(x, eddy_sin_of(a.quarters, a)));
}

// The cosine of x, if [`is_near`].
EDDY_INLINE double eddy_cos_near(double x) {
    const EddyAngle a = eddy_near_angle(eddy_absolute(x));
    return eddy_unless_nan(x, eddy_sin_of(eddy_plus(a.quarters, 1u), a));
}

// The sine of x, if not [`is_near`].
EDDY_APART double eddy_sin_far(double x) {
    const EddyAngle a = eddy_far_angle(eddy_absolute(x));
    return eddy_unless_nan(x - x, eddy_flipped_by_sign_of(x, eddy_sin_of(a.quarters, a)));
}

// The cosine of x, if not [`is_near`].
EDDY_APART double eddy_cos_far(double x) {
    const EddyAngle a = eddy_far_angle(eddy_absolute(x));
    return eddy_unless_nan(x - x, eddy_sin_of(eddy_plus(a.quarters, 1u), a));
}

// The angle of a number from 0 to NEAR.
//
// The products with the parts A, B and C of π/2 are exact, as these end in zeros; the first difference is exact too, and the others are
// as pairs. No floating point number in the range is so near to a multiple of π/2 that the digits of A to D run out: the
// rest is correct to 2⁻¹⁰ u or better.
EDDY_INLINE EddyAngle eddy_near_angle(double x) {
    const double k = eddy_nearest(x * EDDY_TWO_OVER_PI);
    const double without_a = x - k * EDDY_PI_2_A;
    const EddyPair without_b = eddy_exact_sum(without_a, -(k * EDDY_PI_2_B));
    const EddyPair without_c = eddy_exact_sum(without_b.hi, -(k * EDDY_PI_2_C));
    const EddyPair r = eddy_ordered_sum(without_c.hi, (without_b.lo + without_c.lo) - k * EDDY_PI_2_D);
    return eddy_angle(eddy_to_bits(k + EDDY_MAGIC), r.hi, r.lo);
}

// The sine of an angle's rest after so many quarter turns.
EDDY_INLINE double eddy_sin_of(uint64_t quarters, EddyAngle rest) {
    const double size = eddy_select((quarters & 1u) == 0u, eddy_sin_rest(rest.hi, rest.lo), eddy_cos_rest(rest.hi, rest.lo));
    return eddy_from_bits(eddy_to_bits(size) ^ ((quarters & 2u) << EDDY_QUARTER_TO_SIGN));
}

// `sin(r + r_lo)` for |r| ≤ π/4: r and a correction of at most a tenth of it, hence an error below 0.5 + 0.3 units.
EDDY_INLINE double eddy_sin_rest(double r, double r_lo) {
    const double z = r * r;
    return r + (r * (z * eddy_sin_tail(z)) + r_lo * (1.0 - 0.5 * z));
}

// `cos(r + r_lo)` for |r| ≤ π/4: the error of r² / 2, which is at most a quarter of a unit, is the largest beside the rounding.
EDDY_INLINE double eddy_cos_rest(double r, double r_lo) {
    const double z = r * r;
    const double half = 0.5 * z;
    const double top = 1.0 - half;
    return top + (((1.0 - top) - half) + ((z * z) * eddy_cos_tail(z) - r * r_lo));
}

#endif // EDDY_ELEMENTARY_DOUBLE


/* What Eddy's C needs of a machine: C99, freestanding; no library is called. */
#ifndef EDDY_RT_COMMON
#define EDDY_RT_COMMON

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What went wrong first: the number of an equation, counted from 1. */
EDDY_INLINE void eddy_fail(int32_t *error, int32_t equation) {
  if (*error == 0) *error = equation;
}

/* Integers are checked: what does not fit is an error. */
EDDY_INLINE int64_t eddy_int_add(int64_t x, int64_t y, int32_t *error, int32_t equation) {
  int64_t result;
  if (__builtin_add_overflow(x, y, &result)) { eddy_fail(error, equation); return 0; }
  return result;
}

EDDY_INLINE int64_t eddy_int_sub(int64_t x, int64_t y, int32_t *error, int32_t equation) {
  int64_t result;
  if (__builtin_sub_overflow(x, y, &result)) { eddy_fail(error, equation); return 0; }
  return result;
}

EDDY_INLINE int64_t eddy_int_mul(int64_t x, int64_t y, int32_t *error, int32_t equation) {
  int64_t result;
  if (__builtin_mul_overflow(x, y, &result)) { eddy_fail(error, equation); return 0; }
  return result;
}

EDDY_INLINE int64_t eddy_int_neg(int64_t x, int32_t *error, int32_t equation) {
  return eddy_int_sub(0, x, error, equation);
}

EDDY_INLINE int64_t eddy_int_abs(int64_t x, int32_t *error, int32_t equation) {
  return x < 0 ? eddy_int_neg(x, error, equation) : x;
}

/* Euclidean: the remainder is not negative. */
EDDY_INLINE int64_t eddy_int_div(int64_t x, int64_t y, int32_t *error, int32_t equation) {
  if (y == 0 || (x == INT64_MIN && y == -1)) { eddy_fail(error, equation); return 0; }
  const int64_t quotient = x / y;
  return x % y >= 0 ? quotient : (y > 0 ? quotient - 1 : quotient + 1);
}

EDDY_INLINE int64_t eddy_int_mod(int64_t x, int64_t y, int32_t *error, int32_t equation) {
  if (y == 0) { eddy_fail(error, equation); return 0; }
  if (y == -1) return 0;
  const int64_t rest = x % y;
  return rest >= 0 ? rest : (y > 0 ? rest + y : rest - y);
}

EDDY_INLINE bool eddy_int_exceeds(int64_t x, int64_t y) {
  return x > y;
}

/* An index below n, or an error. */
EDDY_INLINE size_t eddy_index(int64_t index, int64_t n, int32_t *error, int32_t equation) {
  if (index < 0 || index >= n) { eddy_fail(error, equation); return 0; }
  return (size_t)index;
}

#endif

/* Operations on numbers of type double. */
#ifndef EDDY_RT_DOUBLE
#define EDDY_RT_DOUBLE

/* One rounding, also where the machine has no instruction for it: sums of products have the same bits everywhere. */
EDDY_INLINE double eddy_fma(double x, double y, double z) {
  return __builtin_fma(x, y, z);
}

EDDY_INLINE double eddy_sqrt(double x) {
  return __builtin_sqrt(x);
}

EDDY_INLINE double eddy_abs(double x) {
  return __builtin_fabs(x);
}

EDDY_INLINE double eddy_relu(double x) {
  return x <= 0 ? 0 : x;
}

/* NaN counts as larger than any number, so that it shows. */
EDDY_INLINE bool eddy_exceeds(double x, double y) {
  return (x > y) | ((x != x) & (y == y));
}

EDDY_INLINE double eddy_maximum(double x, double y) {
  return eddy_exceeds(y, x) ? y : x;
}

EDDY_INLINE double eddy_minimum(double x, double y) {
  return ((y < x) | ((y != y) & (x == x))) ? y : x;
}

EDDY_INLINE int64_t eddy_to_int(double x, int32_t *error, int32_t equation) {
  /* Both bounds are powers of two, hence exact; NaN is in no range. */
  if (!(x >= (double)-9223372036854775808.0 && x < (double)9223372036854775808.0)) { eddy_fail(error, equation); return 0; }
  return (int64_t)x;
}

#endif
/* Vectors of numbers of type double: as wide as the machine has them, and one number wide elsewhere. */
#ifndef EDDY_RT_VECTOR_DOUBLE
#define EDDY_RT_VECTOR_DOUBLE

#if defined(__AVX512F__)
#include <immintrin.h>
#define EDDY_LANES_DOUBLE 8
/* How many rows of a product are computed at once: there are 32 registers. */
#define EDDY_TILE_ROWS_DOUBLE 8
typedef __m512d EddyVector;
EDDY_INLINE EddyVector eddy_vector_load(const double *p) { return _mm512_loadu_pd(p); }
EDDY_INLINE void eddy_vector_store(double *p, EddyVector x) { _mm512_storeu_pd(p, x); }
/* The first n numbers of a vector. */
EDDY_INLINE EddyVector eddy_vector_load_part(const double *p, size_t n) {
  return _mm512_maskz_loadu_pd((__mmask8)((1U << n) - 1U), p);
}
EDDY_INLINE void eddy_vector_store_part(double *p, EddyVector x, size_t n) {
  _mm512_mask_storeu_pd(p, (__mmask8)((1U << n) - 1U), x);
}
EDDY_INLINE EddyVector eddy_vector_all(double x) { return _mm512_set1_pd(x); }
EDDY_INLINE EddyVector eddy_vector_mul(EddyVector x, EddyVector y) { return _mm512_mul_pd(x, y); }
EDDY_INLINE EddyVector eddy_vector_add(EddyVector x, EddyVector y) { return _mm512_add_pd(x, y); }
EDDY_INLINE EddyVector eddy_vector_fma(EddyVector x, EddyVector y, EddyVector z) {
  return _mm512_fmadd_pd(x, y, z);
}
#elif defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#define EDDY_LANES_DOUBLE (8 / 2)
/* There are 16 registers. */
#define EDDY_TILE_ROWS_DOUBLE 4
typedef __m256d EddyVector;
EDDY_INLINE EddyVector eddy_vector_load(const double *p) { return _mm256_loadu_pd(p); }
EDDY_INLINE void eddy_vector_store(double *p, EddyVector x) { _mm256_storeu_pd(p, x); }
/* The first n numbers of a vector. */
EDDY_INLINE EddyVector eddy_vector_load_part(const double *p, size_t n) { return _mm256_maskload_pd(p, _mm256_cmpgt_epi64(_mm256_set1_epi64x((long long)n), _mm256_setr_epi64x(0, 1, 2, 3))); }
EDDY_INLINE void eddy_vector_store_part(double *p, EddyVector x, size_t n) { _mm256_maskstore_pd(p, _mm256_cmpgt_epi64(_mm256_set1_epi64x((long long)n), _mm256_setr_epi64x(0, 1, 2, 3)), x); }
EDDY_INLINE EddyVector eddy_vector_all(double x) { return _mm256_set1_pd(x); }
EDDY_INLINE EddyVector eddy_vector_mul(EddyVector x, EddyVector y) { return _mm256_mul_pd(x, y); }
EDDY_INLINE EddyVector eddy_vector_add(EddyVector x, EddyVector y) { return _mm256_add_pd(x, y); }
EDDY_INLINE EddyVector eddy_vector_fma(EddyVector x, EddyVector y, EddyVector z) {
  return _mm256_fmadd_pd(x, y, z);
}
#else
#define EDDY_LANES_DOUBLE 1
#define EDDY_TILE_ROWS_DOUBLE 4
typedef double EddyVector;
EDDY_INLINE EddyVector eddy_vector_load(const double *p) { return *p; }
EDDY_INLINE void eddy_vector_store(double *p, EddyVector x) { *p = x; }
/* The first n numbers of a vector: there are none. */
EDDY_INLINE EddyVector eddy_vector_load_part(const double *p, size_t n) { return n == 0 ? 0 : *p; }
EDDY_INLINE void eddy_vector_store_part(double *p, EddyVector x, size_t n) {
  if (n > 0) *p = x;
}
EDDY_INLINE EddyVector eddy_vector_all(double x) { return x; }
EDDY_INLINE EddyVector eddy_vector_mul(EddyVector x, EddyVector y) { return x * y; }
EDDY_INLINE EddyVector eddy_vector_add(EddyVector x, EddyVector y) { return x + y; }
EDDY_INLINE EddyVector eddy_vector_fma(EddyVector x, EddyVector y, EddyVector z) {
  return eddy_fma(x, y, z);
}
#endif

#endif
/* Products of matrices of numbers of type double.
 *
 * Each element is the sum of its terms from left to right, the first one a product, all others added with one rounding. The loops
 * go through tiles of the result, whose sums stay in registers; how they are cut does not show in the bits. */
#ifndef EDDY_RT_PRODUCT_DOUBLE
#define EDDY_RT_PRODUCT_DOUBLE

/* A tile of `rows` rows and `vectors` vectors; both are constants. What is at `plus`, if that is not null, is added to it in the end. */
EDDY_INLINE void eddy_tile(size_t rows, size_t vectors, size_t inner, const double *a, size_t a_row, size_t a_term,
                                 const double *b, size_t b_term, double *c, size_t c_row, const double *plus, size_t plus_row) {
  EddyVector sum[8][8];
#pragma GCC unroll 8
  for (size_t i = 0; i < rows; i++) {
    const EddyVector x = eddy_vector_all(a[i * a_row]);
#pragma GCC unroll 8
    for (size_t j = 0; j < vectors; j++)
      sum[i][j] = eddy_vector_mul(x, eddy_vector_load(b + j * EDDY_LANES_DOUBLE));
  }
  for (size_t k = 1; k < inner; k++) {
    EddyVector y[8];
#pragma GCC unroll 8
    for (size_t j = 0; j < vectors; j++) y[j] = eddy_vector_load(b + k * b_term + j * EDDY_LANES_DOUBLE);
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++) {
      const EddyVector x = eddy_vector_all(a[i * a_row + k * a_term]);
#pragma GCC unroll 8
      for (size_t j = 0; j < vectors; j++) sum[i][j] = eddy_vector_fma(x, y[j], sum[i][j]);
    }
  }
  if (plus != 0) {
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 8
      for (size_t j = 0; j < vectors; j++)
        sum[i][j] = eddy_vector_add(eddy_vector_load(plus + i * plus_row + j * EDDY_LANES_DOUBLE), sum[i][j]);
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 8
    for (size_t j = 0; j < vectors; j++) eddy_vector_store(c + i * c_row + j * EDDY_LANES_DOUBLE, sum[i][j]);
}

/* A tile of `rows` rows and the first `part` numbers of a vector. */
EDDY_INLINE void eddy_tile_part(size_t rows, size_t part, size_t inner, const double *a, size_t a_row, size_t a_term, const double *b,
                                      size_t b_term, double *c, size_t c_row, const double *plus, size_t plus_row) {
  EddyVector sum[8];
  const EddyVector first = eddy_vector_load_part(b, part);
#pragma GCC unroll 8
  for (size_t i = 0; i < rows; i++) sum[i] = eddy_vector_mul(eddy_vector_all(a[i * a_row]), first);
  for (size_t k = 1; k < inner; k++) {
    const EddyVector y = eddy_vector_load_part(b + k * b_term, part);
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++)
      sum[i] = eddy_vector_fma(eddy_vector_all(a[i * a_row + k * a_term]), y, sum[i]);
  }
  if (plus != 0) {
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++)
      sum[i] = eddy_vector_add(eddy_vector_load_part(plus + i * plus_row, part), sum[i]);
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < rows; i++) eddy_vector_store_part(c + i * c_row, sum[i], part);
}

/* Some rows of the result, at most 8; the elements of a row of b and of c lie one after the other. As many sums as there are registers for,
 * less three for what is read of b and one for what is read of a. */
EDDY_INLINE void eddy_rows(size_t rows, size_t inner, size_t columns, const double *a, size_t a_row, size_t a_term,
                                 const double *b, size_t b_term, double *c, size_t c_row, const double *plus, size_t plus_row) {
  const size_t most = rows == 1 ? 8 : 3;
  size_t j = 0;
  for (; j + most * EDDY_LANES_DOUBLE <= columns; j += most * EDDY_LANES_DOUBLE)
    eddy_tile(rows, most, inner, a, a_row, a_term, b + j, b_term, c + j, c_row, plus == 0 ? 0 : plus + j, plus_row);
  if (most == 8 && j + 4 * EDDY_LANES_DOUBLE <= columns) {
    eddy_tile(rows, 4, inner, a, a_row, a_term, b + j, b_term, c + j, c_row, plus == 0 ? 0 : plus + j, plus_row);
    j += 4 * EDDY_LANES_DOUBLE;
  }
  if (j + 2 * EDDY_LANES_DOUBLE <= columns) {
    eddy_tile(rows, 2, inner, a, a_row, a_term, b + j, b_term, c + j, c_row, plus == 0 ? 0 : plus + j, plus_row);
    j += 2 * EDDY_LANES_DOUBLE;
  }
  if (j + EDDY_LANES_DOUBLE <= columns) {
    eddy_tile(rows, 1, inner, a, a_row, a_term, b + j, b_term, c + j, c_row, plus == 0 ? 0 : plus + j, plus_row);
    j += EDDY_LANES_DOUBLE;
  }
  if (j < columns) eddy_tile_part(rows, columns - j, inner, a, a_row, a_term, b + j, b_term, c + j, c_row, plus == 0 ? 0 : plus + j, plus_row);
}

/* The sum of each row, from left to right; there is at least one term. Eight sums go side by side, since one waits for its last term. */
EDDY_INLINE void eddy_row_sums(size_t rows, size_t terms, const double *x, size_t x_row, size_t x_term, double *c) {
  const size_t rest = rows % 8;
  for (size_t i = 0; i < rows - rest; i += 8) {
    double sum[8];
#pragma GCC unroll 8
    for (size_t r = 0; r < 8; r++) sum[r] = x[(i + r) * x_row];
    for (size_t k = 1; k < terms; k++)
#pragma GCC unroll 8
      for (size_t r = 0; r < 8; r++) sum[r] += x[(i + r) * x_row + k * x_term];
#pragma GCC unroll 8
    for (size_t r = 0; r < 8; r++) c[i + r] = sum[r];
  }
  for (size_t i = rows - rest; i < rows; i++) {
    double sum = x[i * x_row];
    for (size_t k = 1; k < terms; k++) sum += x[i * x_row + k * x_term];
    c[i] = sum;
  }
}

/* Puts a matrix aside by rows. */
EDDY_INLINE void eddy_pack(size_t rows, size_t columns, const double *b, size_t b_row, size_t b_column, double *c) {
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < columns; j++) c[i * columns + j] = b[i * b_row + j * b_column];
}

/* c = plus + a b, where inner is not 0; without plus if that is null. The result may lie where plus does. */
EDDY_INLINE void eddy_matmul_plus(size_t rows, size_t inner, size_t columns, const double *a, size_t a_row, size_t a_term, const double *b,
                                         size_t b_term, double *c, size_t c_row, const double *plus, size_t plus_row) {
  const size_t tiled = rows - rows % EDDY_TILE_ROWS_DOUBLE, rest = (rows - tiled) % 4;
  for (size_t i = 0; i < tiled; i += EDDY_TILE_ROWS_DOUBLE)
    eddy_rows(EDDY_TILE_ROWS_DOUBLE, inner, columns, a + i * a_row, a_row, a_term, b, b_term, c + i * c_row, c_row,
                    plus == 0 ? 0 : plus + i * plus_row, plus_row);
  for (size_t i = tiled; i < rows - rest; i += 4)
    eddy_rows(4, inner, columns, a + i * a_row, a_row, a_term, b, b_term, c + i * c_row, c_row, plus == 0 ? 0 : plus + i * plus_row,
                    plus_row);
  for (size_t i = rows - rest; i < rows; i++)
    eddy_rows(1, inner, columns, a + i * a_row, a_row, a_term, b, b_term, c + i * c_row, c_row, plus == 0 ? 0 : plus + i * plus_row,
                    plus_row);
}

/* c = a b, where inner is not 0. */
EDDY_INLINE void eddy_matmul(size_t rows, size_t inner, size_t columns, const double *a, size_t a_row, size_t a_term,
                                    const double *b, size_t b_term, double *c, size_t c_row) {
  eddy_matmul_plus(rows, inner, columns, a, a_row, a_term, b, b_term, c, c_row, 0, 0);
}

/* A tile of sums of outer products; rows and vectors are constants. */
EDDY_INLINE void eddy_outer_tile(size_t rows, size_t vectors, size_t terms, const double *x, ptrdiff_t x_term, const double *y,
                                       ptrdiff_t y_term, double *c, size_t c_row) {
  EddyVector sum[4][4];
#pragma GCC unroll 4
  for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 4
    for (size_t j = 0; j < vectors; j++) sum[i][j] = eddy_vector_load(c + i * c_row + j * EDDY_LANES_DOUBLE);
  for (size_t k = 0; k < terms; k++) {
    EddyVector v[4];
#pragma GCC unroll 4
    for (size_t j = 0; j < vectors; j++) v[j] = eddy_vector_load(y + (ptrdiff_t)k * y_term + j * EDDY_LANES_DOUBLE);
#pragma GCC unroll 4
    for (size_t i = 0; i < rows; i++) {
      const EddyVector u = eddy_vector_all(x[(ptrdiff_t)k * x_term + (ptrdiff_t)i]);
#pragma GCC unroll 4
      for (size_t j = 0; j < vectors; j++) sum[i][j] = eddy_vector_add(sum[i][j], eddy_vector_mul(u, v[j]));
    }
  }
#pragma GCC unroll 4
  for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 4
    for (size_t j = 0; j < vectors; j++) eddy_vector_store(c + i * c_row + j * EDDY_LANES_DOUBLE, sum[i][j]);
}

/* The same for the first `part` numbers of a vector. */
EDDY_INLINE void eddy_outer_part(size_t rows, size_t part, size_t terms, const double *x, ptrdiff_t x_term, const double *y,
                                       ptrdiff_t y_term, double *c, size_t c_row) {
  EddyVector sum[4];
#pragma GCC unroll 4
  for (size_t i = 0; i < rows; i++) sum[i] = eddy_vector_load_part(c + i * c_row, part);
  for (size_t k = 0; k < terms; k++) {
    const EddyVector v = eddy_vector_load_part(y + (ptrdiff_t)k * y_term, part);
#pragma GCC unroll 4
    for (size_t i = 0; i < rows; i++) {
      const EddyVector u = eddy_vector_all(x[(ptrdiff_t)k * x_term + (ptrdiff_t)i]);
      sum[i] = eddy_vector_add(sum[i], eddy_vector_mul(u, v));
    }
  }
#pragma GCC unroll 4
  for (size_t i = 0; i < rows; i++) eddy_vector_store_part(c + i * c_row, sum[i], part);
}

/* Some rows of sums of outer products, at most 4. */
EDDY_INLINE void eddy_outer_rows(size_t rows, size_t columns, size_t terms, const double *x, ptrdiff_t x_term, const double *y,
                                       ptrdiff_t y_term, double *c) {
  size_t j = 0;
  for (; j + 4 * EDDY_LANES_DOUBLE <= columns; j += 4 * EDDY_LANES_DOUBLE)
    eddy_outer_tile(rows, 4, terms, x, x_term, y + j, y_term, c + j, columns);
  if (j + 2 * EDDY_LANES_DOUBLE <= columns) {
    eddy_outer_tile(rows, 2, terms, x, x_term, y + j, y_term, c + j, columns);
    j += 2 * EDDY_LANES_DOUBLE;
  }
  if (j + EDDY_LANES_DOUBLE <= columns) {
    eddy_outer_tile(rows, 1, terms, x, x_term, y + j, y_term, c + j, columns);
    j += EDDY_LANES_DOUBLE;
  }
  if (j < columns) eddy_outer_part(rows, columns - j, terms, x, x_term, y + j, y_term, c + j, columns);
}

/* c = c + x y' for each of some vectors x and y, one after the other: each product is rounded, then added. */
EDDY_INLINE void eddy_outer_sums(size_t rows, size_t columns, size_t terms, const double *x, ptrdiff_t x_term, const double *y,
                                       ptrdiff_t y_term, double *c) {
  const size_t rest = rows % 4;
  for (size_t i = 0; i < rows - rest; i += 4)
    eddy_outer_rows(4, columns, terms, x + i, x_term, y, y_term, c + i * columns);
  for (size_t i = rows - rest; i < rows; i++)
    eddy_outer_rows(1, columns, terms, x + i, x_term, y, y_term, c + i * columns);
}

#endif
/* Sums of products of numbers of type double, in each stream of a batch.
 *
 * The values of an element in all streams are neighbours, so a vector is one element in some streams. Each sum goes over its terms in their order and
 * starts with -0, so that the first term is a product; terms are added with one rounding. The loops go through tiles of sums, which stay in registers. */
#ifndef EDDY_RT_EACH_DOUBLE
#define EDDY_RT_EACH_DOUBLE

/* How many rows of a tile there are registers for, if it has four columns. */
#define EDDY_EACH_ROWS_DOUBLE (EDDY_TILE_ROWS_DOUBLE / 2)

/* An element in the next n streams, at most a vector of them; what is shared is the same in all. */
EDDY_INLINE EddyVector eddy_each_load(size_t n, const double *p, ptrdiff_t stream) {
  if (stream == 0) return eddy_vector_all(*p);
  return n == EDDY_LANES_DOUBLE ? eddy_vector_load(p) : eddy_vector_load_part(p, n);
}

/* A tile of `rows` rows and `columns` columns, which are constants and at most 4, in the next n streams. */
EDDY_INLINE void eddy_each_tile(size_t n, ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, const double *a,
                                      ptrdiff_t a_row, ptrdiff_t a0, ptrdiff_t a1, ptrdiff_t a2, ptrdiff_t a_stream, const double *b,
                                      ptrdiff_t b_column, ptrdiff_t b0, ptrdiff_t b1, ptrdiff_t b2, ptrdiff_t b_stream, double *c,
                                      ptrdiff_t c_row, ptrdiff_t c_column) {
  EddyVector sum[4][4];
#pragma GCC unroll 4
  for (ptrdiff_t i = 0; i < rows; i++)
#pragma GCC unroll 4
    for (ptrdiff_t j = 0; j < columns; j++) sum[i][j] = eddy_vector_all((double)-0.0);
  for (ptrdiff_t t0 = 0; t0 < n0; t0++)
    for (ptrdiff_t t1 = 0; t1 < n1; t1++)
      for (ptrdiff_t t2 = 0; t2 < n2; t2++) {
        const double *x = a + (t0 * a0 + t1 * a1 + t2 * a2), *y = b + (t0 * b0 + t1 * b1 + t2 * b2);
        EddyVector v[4];
#pragma GCC unroll 4
        for (ptrdiff_t j = 0; j < columns; j++) v[j] = eddy_each_load(n, y + j * b_column, b_stream);
#pragma GCC unroll 4
        for (ptrdiff_t i = 0; i < rows; i++) {
          const EddyVector u = eddy_each_load(n, x + i * a_row, a_stream);
#pragma GCC unroll 4
          for (ptrdiff_t j = 0; j < columns; j++) sum[i][j] = eddy_vector_fma(u, v[j], sum[i][j]);
        }
      }
#pragma GCC unroll 4
  for (ptrdiff_t i = 0; i < rows; i++)
#pragma GCC unroll 4
    for (ptrdiff_t j = 0; j < columns; j++) {
      if (n == EDDY_LANES_DOUBLE)
        eddy_vector_store(c + (i * c_row + j * c_column), sum[i][j]);
      else
        eddy_vector_store_part(c + (i * c_row + j * c_column), sum[i][j], n);
    }
}

/* Some rows, at most 4, in the next n streams. */
EDDY_INLINE void eddy_each_rows(size_t n, ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, const double *a,
                                      ptrdiff_t a_row, ptrdiff_t a0, ptrdiff_t a1, ptrdiff_t a2, ptrdiff_t a_stream, const double *b,
                                      ptrdiff_t b_column, ptrdiff_t b0, ptrdiff_t b1, ptrdiff_t b2, ptrdiff_t b_stream, double *c,
                                      ptrdiff_t c_row, ptrdiff_t c_column) {
  const ptrdiff_t tiled = columns - columns % 4;
  for (ptrdiff_t j = 0; j < tiled; j += 4)
    eddy_each_tile(n, rows, 4, n0, n1, n2, a, a_row, a0, a1, a2, a_stream, b + j * b_column, b_column, b0, b1, b2, b_stream,
                         c + j * c_column, c_row, c_column);
  for (ptrdiff_t j = tiled; j < columns; j++)
    eddy_each_tile(n, rows, 1, n0, n1, n2, a, a_row, a0, a1, a2, a_stream, b + j * b_column, b_column, b0, b1, b2, b_stream,
                         c + j * c_column, c_row, c_column);
}

/* All sums in the next n streams. Where there is one column, there are registers for four rows. */
EDDY_INLINE void eddy_each_streams(size_t n, ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, const double *a,
                                         ptrdiff_t a_row, ptrdiff_t a0, ptrdiff_t a1, ptrdiff_t a2, ptrdiff_t a_stream, const double *b,
                                         ptrdiff_t b_column, ptrdiff_t b0, ptrdiff_t b1, ptrdiff_t b2, ptrdiff_t b_stream, double *c,
                                         ptrdiff_t c_row, ptrdiff_t c_column) {
  const ptrdiff_t most = columns == 1 ? 4 : EDDY_EACH_ROWS_DOUBLE, tiled = rows - rows % most;
  for (ptrdiff_t i = 0; i < tiled; i += most)
    eddy_each_rows(n, most, columns, n0, n1, n2, a + i * a_row, a_row, a0, a1, a2, a_stream, b, b_column, b0, b1, b2, b_stream,
                         c + i * c_row, c_row, c_column);
  for (ptrdiff_t i = tiled; i < rows; i++)
    eddy_each_rows(n, 1, columns, n0, n1, n2, a + i * a_row, a_row, a0, a1, a2, a_stream, b, b_column, b0, b1, b2, b_stream,
                         c + i * c_row, c_row, c_column);
}

/* c = the sum of a b in each stream, for some rows of a and c and some columns of b and c. A term has three indices, the last of which moves fastest, and
 * there are n0 n1 n2 of them. From one stream to the next it is one number, or none where an operand is shared. */
EDDY_INLINE void eddy_each_sums(size_t streams, ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, const double *a,
                                      ptrdiff_t a_row, ptrdiff_t a0, ptrdiff_t a1, ptrdiff_t a2, ptrdiff_t a_stream, const double *b,
                                      ptrdiff_t b_column, ptrdiff_t b0, ptrdiff_t b1, ptrdiff_t b2, ptrdiff_t b_stream, double *c,
                                      ptrdiff_t c_row, ptrdiff_t c_column) {
  const size_t rest = streams % EDDY_LANES_DOUBLE;
  const ptrdiff_t whole = (ptrdiff_t)(streams - rest);
  for (ptrdiff_t s = 0; s < whole; s += EDDY_LANES_DOUBLE)
    eddy_each_streams(EDDY_LANES_DOUBLE, rows, columns, n0, n1, n2, a + s * a_stream, a_row, a0, a1, a2, a_stream, b + s * b_stream, b_column,
                            b0, b1, b2, b_stream, c + s, c_row, c_column);
  if (rest > 0)
    eddy_each_streams(rest, rows, columns, n0, n1, n2, a + whole * a_stream, a_row, a0, a1, a2, a_stream, b + whole * b_stream, b_column, b0,
                            b1, b2, b_stream, c + whole, c_row, c_column);
}

#endif
/* Large work on numbers of type double, in pieces that a host may compute at the same time.
 *
 * A piece of a product or of a sum of outer products is some rows of the result, or some columns. Each element is computed by one piece in
 * the order that all such sums have, so how many threads there are does not show in the bits. Without EDDY_PARALLEL, which only code for a
 * host with threads defines, and before the host has said how pieces are run, all is done at once. */
#ifndef EDDY_RT_PARALLEL_DOUBLE
#define EDDY_RT_PARALLEL_DOUBLE

#ifdef EDDY_PARALLEL
#ifndef EDDY_RT_PARALLEL
#define EDDY_RT_PARALLEL
/* A loop whose arrays are different ones. Compilers forget that if it becomes part of another function. */
#if defined(__GNUC__)
#define EDDY_LOOP static __attribute__((noinline))
#else
#define EDDY_LOOP static
#endif

typedef void (*EddyPiece)(void *context, size_t piece);
/* Runs so many pieces, which have so many terms together. */
typedef void (*EddyParallel)(size_t pieces, size_t terms, void *context, EddyPiece piece);
static EddyParallel eddy_parallel = 0;

/* Does what there is to do from one place to another. */
typedef void (*EddyRange)(const void *context, size_t first, size_t end);
typedef struct {
  const void *context;
  EddyRange range;
  size_t size, per_piece;
} EddyRanges;

static void eddy_piece(void *context, size_t piece) {
  const EddyRanges *const ranges = (const EddyRanges *)context;
  const size_t first = piece * ranges->per_piece, rest = ranges->size - first;
  ranges->range(ranges->context, first, first + (rest < ranges->per_piece ? rest : ranges->per_piece));
}

/* All places below `size`, in at most 32 pieces of whole units: enough of them for threads that come late. One piece if there are few terms. */
static void eddy_in_pieces(size_t size, size_t unit, size_t terms, const void *context, EddyRange range) {
  const size_t units = (size + unit - 1) / unit, per_piece = (units + 31) / 32 * unit;
  EddyRanges ranges = {context, range, size, per_piece};
  if (eddy_parallel == 0 || size <= per_piece || terms < EDDY_LARGE) range(context, 0, size);
  else eddy_parallel((size + per_piece - 1) / per_piece, terms, &ranges, eddy_piece);
}
#endif

typedef struct {
  size_t rows, inner, columns, a_row, a_term, b_term, c_row, plus_row;
  const double *a, *b, *plus;
  double *c;
} EddyProduct;

static void eddy_product_rows(const void *context, size_t first, size_t end) {
  const EddyProduct *const p = (const EddyProduct *)context;
  eddy_matmul_plus(end - first, p->inner, p->columns, p->a + first * p->a_row, p->a_row, p->a_term, p->b, p->b_term,
                         p->c + first * p->c_row, p->c_row, p->plus == 0 ? 0 : p->plus + first * p->plus_row, p->plus_row);
}

static void eddy_product_columns(const void *context, size_t first, size_t end) {
  const EddyProduct *const p = (const EddyProduct *)context;
  eddy_matmul_plus(p->rows, p->inner, end - first, p->a, p->a_row, p->a_term, p->b + first, p->b_term, p->c + first, p->c_row,
                         p->plus == 0 ? 0 : p->plus + first, p->plus_row);
}

typedef struct {
  size_t columns, terms;
  const double *x, *y;
  ptrdiff_t x_term, y_term;
  double *c;
} EddyOuter;

static void eddy_outer_piece(const void *context, size_t first, size_t end) {
  const EddyOuter *const p = (const EddyOuter *)context;
  eddy_outer_sums(end - first, p->columns, p->terms, p->x + first, p->x_term, p->y, p->y_term, p->c + first * p->columns);
}
#endif

/* c = plus + a b, where inner is not 0 and there may be enough to do for several threads. */
EDDY_INLINE void eddy_large_matmul_plus(size_t rows, size_t inner, size_t columns, const double *a, size_t a_row, size_t a_term,
                                               const double *b, size_t b_term, double *c, size_t c_row, const double *plus, size_t plus_row) {
#ifdef EDDY_PARALLEL
  /* Whole tiles of the product, along the side that has more of them. */
  const size_t of_rows = EDDY_TILE_ROWS_DOUBLE, of_columns = (rows == 1 ? 8 : 3) * EDDY_LANES_DOUBLE, terms = rows * inner * columns;
  const EddyProduct product = {rows, inner, columns, a_row, a_term, b_term, c_row, plus_row, a, b, plus, c};
  if (rows / of_rows >= columns / of_columns) eddy_in_pieces(rows, of_rows, terms, &product, eddy_product_rows);
  else eddy_in_pieces(columns, of_columns, terms, &product, eddy_product_columns);
#else
  eddy_matmul_plus(rows, inner, columns, a, a_row, a_term, b, b_term, c, c_row, plus, plus_row);
#endif
}

/* c = a b, likewise. */
EDDY_INLINE void eddy_large_matmul(size_t rows, size_t inner, size_t columns, const double *a, size_t a_row, size_t a_term,
                                          const double *b, size_t b_term, double *c, size_t c_row) {
  eddy_large_matmul_plus(rows, inner, columns, a, a_row, a_term, b, b_term, c, c_row, 0, 0);
}

/* c = c + x y' for each of some vectors x and y, likewise. */
EDDY_INLINE void eddy_large_outer_sums(size_t rows, size_t columns, size_t terms, const double *x, ptrdiff_t x_term, const double *y,
                                             ptrdiff_t y_term, double *c) {
#ifdef EDDY_PARALLEL
  const EddyOuter outer = {columns, terms, x, y, x_term, y_term, c};
  eddy_in_pieces(rows, 4, rows * columns * terms, &outer, eddy_outer_piece);
#else
  eddy_outer_sums(rows, columns, terms, x, x_term, y, y_term, c);
#endif
}

#endif
