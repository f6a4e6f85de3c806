//! The header that Eddy's C includes, `eddy_rt.h`: elementary functions, checked integers, and numbers.

use eddy_elementary::{Width, c_source};

use crate::precision::Precision;

/// Work of at least this many terms is shared by threads, if there are any. One thread adds about twenty
/// terms per nanosecond, so this takes it thirteen microseconds; notifying another thread that is awake takes
/// less than one.
pub(crate) const LARGE: usize = 1 << 18;

pub fn header(precision: Precision) -> String {
    let width = match precision {
        Precision::Double => Width::Double,
        Precision::Single => Width::Single,
    };
    let numbers = [
        include_str!("runtime/number.h"),
        include_str!("runtime/vector.h"),
        include_str!("runtime/product.h"),
        include_str!("runtime/each.h"),
        include_str!("runtime/parallel.h"),
    ];
    let numbers = numbers.map(|text| instantiated(text, precision)).concat();
    format!("{}\n{}\n{numbers}", c_source(width), include_str!("runtime/common.h"))
}

/// The header of a program, which may have functions: these compute in double precision.
pub(crate) fn header_of(precision: Precision, has_functions: bool) -> String {
    match precision {
        Precision::Single if has_functions => header(Precision::Single) + &header(Precision::Double),
        _ => header(precision),
    }
}

/// Instantiates a text for one precision.
fn instantiated(text: &str, precision: Precision) -> String {
    let (number, bits, suffix, guard, intrinsic, lanes, wide, half) = match precision {
        Precision::Double => ("double", "uint64_t", "", "DOUBLE", "pd", "8", "__m512d", "__m256d"),
        Precision::Single => ("float", "uint32_t", "f", "SINGLE", "ps", "16", "__m512", "__m256"),
    };
    // Selects the lanes below n.
    let (wide_mask, half_mask) = match precision {
        Precision::Double => (
            "__mmask8",
            "_mm256_cmpgt_epi64(_mm256_set1_epi64x((long long)n), _mm256_setr_epi64x(0, 1, 2, 3))",
        ),
        Precision::Single => (
            "__mmask16",
            "_mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))",
        ),
    };
    text.replace("_NUM", &format!("_{guard}"))
        .replace("_PS", &format!("_{intrinsic}"))
        .replace("WIDE_MASK", wide_mask)
        .replace("HALF_MASK", half_mask)
        .replace("WIDE_LANES", lanes)
        .replace("WIDE_TYPE", wide)
        .replace("HALF_TYPE", half)
        .replace("SUFFIX", suffix)
        .replace("BITS", bits)
        .replace("NUM", number)
}
