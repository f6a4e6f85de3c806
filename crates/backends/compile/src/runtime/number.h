/* Operations on numbers of type NUM. */
#ifndef EDDY_RT_NUM
#define EDDY_RT_NUM

/* Rounds once, even on machines without an instruction for it: sums of products have the same bits everywhere. */
EDDY_INLINE NUM eddy_fmaSUFFIX(NUM x, NUM y, NUM z) {
  return __builtin_fmaSUFFIX(x, y, z);
}

EDDY_INLINE NUM eddy_sqrtSUFFIX(NUM x) {
  return __builtin_sqrtSUFFIX(x);
}

EDDY_INLINE NUM eddy_absSUFFIX(NUM x) {
  return __builtin_fabsSUFFIX(x);
}

EDDY_INLINE NUM eddy_reluSUFFIX(NUM x) {
  return x <= 0 ? 0 : x;
}

/* NaN counts as larger than any number, so that maxima propagate it. */
EDDY_INLINE bool eddy_exceedsSUFFIX(NUM x, NUM y) {
  return (x > y) | ((x != x) & (y == y));
}

EDDY_INLINE NUM eddy_maximumSUFFIX(NUM x, NUM y) {
  return eddy_exceedsSUFFIX(y, x) ? y : x;
}

EDDY_INLINE NUM eddy_minimumSUFFIX(NUM x, NUM y) {
  return ((y < x) | ((y != y) & (x == x))) ? y : x;
}

/* Selects one of two values without a branch: both are read. */
EDDY_INLINE NUM eddy_chooseSUFFIX(bool condition, NUM yes, NUM no) {
  const BITS mask = (BITS)0 - (BITS)condition;
  const union { NUM number; BITS bits; } y = { .number = yes }, n = { .number = no };
  const union { BITS bits; NUM number; } chosen = { .bits = (y.bits & mask) | (n.bits & ~mask) };
  return chosen.number;
}

EDDY_INLINE int64_t eddy_to_intSUFFIX(NUM x, int32_t *error, int32_t equation) {
  /* Both bounds are powers of two, hence exact; NaN is outside of every range. */
  if (!(x >= (NUM)-9223372036854775808.0 && x < (NUM)9223372036854775808.0)) { eddy_fail(error, equation); return 0; }
  return (int64_t)x;
}

#endif
