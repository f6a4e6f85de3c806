//! The small header that Eddy's C includes, `eddy_rt.h`: elementary functions, checked integers, and numbers.

use eddy_elementary::{Width, c_source};

use crate::precision::Precision;

/// The text of the header.
pub fn header(precision: Precision) -> String {
    let (width, number, suffix, guard) = match precision {
        Precision::Double => (Width::Double, "double", "", "DOUBLE"),
        Precision::Single => (Width::Single, "float", "f", "SINGLE"),
    };
    let numbers = include_str!("runtime/number.h")
        .replace("EDDY_RT_NUM", &format!("EDDY_RT_{guard}"))
        .replace("SUFFIX", suffix)
        .replace("NUM", number);
    format!("{}\n{}\n{numbers}", c_source(width), include_str!("runtime/common.h"))
}
