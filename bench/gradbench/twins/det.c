/* Free columns are the bits of a mask; the last two rows are written out. The cotangent of a minor is known before the minor, so that
 * one recursion gives the value and the gradient. */
#include "tool.h"

static double *A, *g, y;
static int ell;

static void prepare(const value *input) {
  copy_of(&A, input, "A");
  ell = int_of(input, "ell");
  reserve(&g, (size_t)(ell * ell));
}

static double minor(const double *restrict row, unsigned columns, int size) {
  if (size == 2) {
    int a = __builtin_ctz(columns), b = __builtin_ctz(columns & (columns - 1));
    return row[a] * row[ell + b] - row[b] * row[ell + a];
  }
  double sum = 0, sign = 1;
  for (unsigned rest = columns; rest; rest &= rest - 1, sign = -sign)
    sum += sign * row[__builtin_ctz(rest)] * minor(row + ell, columns & ~(rest & -rest), size - 1);
  return sum;
}

static double minor_back(const double *restrict row, double *restrict to, unsigned columns, int size, double cotangent) {
  if (size == 2) {
    int a = __builtin_ctz(columns), b = __builtin_ctz(columns & (columns - 1));
    to[a] += cotangent * row[ell + b];
    to[b] -= cotangent * row[ell + a];
    to[ell + a] -= cotangent * row[b];
    to[ell + b] += cotangent * row[a];
    return row[a] * row[ell + b] - row[b] * row[ell + a];
  }
  double sum = 0, sign = 1;
  for (unsigned rest = columns; rest; rest &= rest - 1, sign = -sign) {
    int c = __builtin_ctz(rest);
    double part = sign * minor_back(row + ell, to + ell, columns & ~(rest & -rest), size - 1, cotangent * sign * row[c]);
    to[c] += cotangent * part;
    sum += row[c] * part;
  }
  return sum;
}

static void primal(void) { y = ell == 1 ? A[0] : minor(A, (1u << ell) - 1, ell); }
static void gradient(void) {
  memset(g, 0, (size_t)(ell * ell) * sizeof *g);
  if (ell == 1) g[0] = 1;
  else y = minor_back(A, g, (1u << ell) - 1, ell, 1);
}

static void answer_primal(void) { printf("%.17g", y); }
static void answer_gradient(void) { print_row(g, (size_t)(ell * ell)); }

SERVE({"primal", prepare, primal, answer_primal}, {"gradient", prepare, gradient, answer_gradient})
