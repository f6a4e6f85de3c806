// Primitives on which the translated functions build.

typedef struct {
    Num hi;
    Num lo;
} Pair;

typedef struct {
    Bits quarters;
    Num hi;
    Num lo;
} Angle;

EDDY_INLINE Pair pair(Num hi, Num lo) {
    const Pair result = { hi, lo };
    return result;
}

EDDY_INLINE Angle angle(Bits quarters, Num hi, Num lo) {
    const Angle result = { quarters, hi, lo };
    return result;
}

EDDY_INLINE Num select(bool condition, Num yes, Num no) {
    return condition ? yes : no;
}

EDDY_INLINE bool is_nan(Num x) {
    return x != x;
}

EDDY_INLINE Bits to_bits(Num x) {
    const union { Num num; Bits bits; } both = { .num = x };
    return both.bits;
}

EDDY_INLINE Num from_bits(Bits bits) {
    const union { Bits bits; Num num; } both = { .bits = bits };
    return both.num;
}

EDDY_INLINE Bits plus(Bits x, Bits y) {
    return x + y;
}
