// Converts an integer to a number.
EDDY_INLINE Num as_num(Bits integer) {
    return (Num)integer;
}

// A word of the digits of 2/π.
EDDY_INLINE Bits digits(Bits word) {
    return DIGITS_OF_2_OVER_PI[word];
}
