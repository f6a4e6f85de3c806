/* The runtime of Eddy's C: C99, freestanding; no library is called. */
#ifndef EDDY_RT_COMMON
#define EDDY_RT_COMMON

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Records the first failure: the number of an equation, counted from 1. */
EDDY_INLINE void eddy_fail(int32_t *error, int32_t equation) {
  if (*error == 0) *error = equation;
}

/* Integer arithmetic is checked: overflow is an error. */
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

/* Euclidean division: the remainder is not negative. */
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

/* Selects one of two values without a branch: both are read. */
EDDY_INLINE int64_t eddy_choose_int(bool condition, int64_t yes, int64_t no) {
  const uint64_t mask = (uint64_t)0 - (uint64_t)condition;
  return (int64_t)(((uint64_t)yes & mask) | ((uint64_t)no & ~mask));
}

EDDY_INLINE bool eddy_choose_bool(bool condition, bool yes, bool no) {
  return (condition & yes) | (!condition & no);
}

/* An index below n, or an error. */
EDDY_INLINE size_t eddy_index(int64_t index, int64_t n, int32_t *error, int32_t equation) {
  if (index < 0 || index >= n) { eddy_fail(error, equation); return 0; }
  return (size_t)index;
}

#endif
