/* An element depends on its left neighbour only, so a step is taken in blocks that stay in the first cache, with the last elements
 * of the block before. With y[-1] = 1 and slopes 0 there, the first element is no exception. The states before each step are kept
 * for the way back, the slopes k1 to k4 are computed again. */
#include "tool.h"

enum { BLOCK = 512, PAD = 8 };

static double *x, *y, *states, *g, *dy;
static int n, s;

static void prepare(const value *input) {
  copy_of(&x, input, "x");
  n = (int)get(input, "x")->n;
  s = int_of(input, "s");
  reserve(&y, (size_t)n);
  reserve(&g, (size_t)n);
  reserve(&dy, (size_t)n);
}
static void prepare_back(const value *input) {
  prepare(input);
  reserve(&states, (size_t)n * (size_t)s);
}

/* Slopes of a block: `left[i]` is y at i - 1, and index -1 of each slope is that of the block before. */
static void slopes(int length, double h, const double *restrict x, const double *restrict left, double *restrict k1,
                   double *restrict k2, double *restrict k3, double *restrict k4) {
  for (int i = 0; i < length; i++) k1[i] = x[i] * left[i];
  for (int i = 0; i < length; i++) k2[i] = x[i] * (left[i] + h / 2 * k1[i - 1]);
  for (int i = 0; i < length; i++) k3[i] = x[i] * (left[i] + h / 2 * k2[i - 1]);
  for (int i = 0; i < length; i++) k4[i] = x[i] * (left[i] + h * k3[i - 1]);
}

static void step(double h, const double *from, double *to) {
  double left[BLOCK], k[4][PAD + BLOCK] = {{0}}, before = 1;
  for (int first = 0; first < n; first += BLOCK) {
    int length = n - first < BLOCK ? n - first : BLOCK;
    left[0] = before;
    memcpy(left + 1, from + first, (size_t)(length - 1) * sizeof(double));
    before = from[first + length - 1];
    slopes(length, h, x + first, left, k[0] + PAD, k[1] + PAD, k[2] + PAD, k[3] + PAD);
    for (int i = 0; i < length; i++)
      to[first + i] = from[first + i] + h / 6 * (k[0][PAD + i] + 2 * k[1][PAD + i] + 2 * k[2][PAD + i] + k[3][PAD + i]);
    for (int which = 0; which < 4; which++) k[which][PAD - 1] = k[which][PAD + length - 1];
  }
}

static void primal(void) {
  memset(y, 0, (size_t)n * sizeof *y);
  for (int i = 0; i < s; i++) step(2.0 / s, y, y);
}

/* From the cotangent `dy` after a step to that before it, from right to left. A block begins three elements early, so that the slopes
 * at its left neighbour are right. */
static void step_back(double h, const double *before) {
  double left[BLOCK + 3], k[4][PAD + BLOCK + 3], d[4][BLOCK + 1], right[BLOCK + 1];
  for (int which = 0; which < 4; which++) d[which][0] = 0;
  double x_right = 0;
  for (int end = n; end > 0;) {
    int first = end - 1 < BLOCK ? 0 : end - BLOCK, length = end - first, early = first < 3 ? first : 3;
    left[0] = first - early ? before[first - early - 1] : 1;
    memcpy(left + 1, before + first - early, (size_t)(length + early - 1) * sizeof(double));
    for (int which = 0; which < 4; which++) k[which][PAD - 1] = 0;
    slopes(length + early, h, x + first - early, left, k[0] + PAD, k[1] + PAD, k[2] + PAD, k[3] + PAD);
    /* Index `length` of d and of right is the element to the right of the block. */
    for (int which = 0; which < 4; which++) d[which][length] = d[which][0];
    for (int i = 0; i < length - 1; i++) right[i] = x[first + i + 1];
    right[length - 1] = x_right;
    double *restrict dout = dy + first, *restrict to = g + first;
    double *restrict d1 = d[0], *restrict d2 = d[1], *restrict d3 = d[2], *restrict d4 = d[3];
    for (int i = 0; i < length; i++) d4[i] = h / 6 * dout[i];
    for (int i = 0; i < length; i++) d3[i] = h / 3 * dout[i] + h * right[i] * d4[i + 1];
    for (int i = 0; i < length; i++) d2[i] = h / 3 * dout[i] + h / 2 * right[i] * d3[i + 1];
    for (int i = 0; i < length; i++) d1[i] = h / 6 * dout[i] + h / 2 * right[i] * d2[i + 1];
    for (int i = 0; i < length; i++) dout[i] += right[i] * (d1[i + 1] + d2[i + 1] + d3[i + 1] + d4[i + 1]);
    const double *restrict at = left + early, *restrict k1 = k[0] + PAD + early - 1, *restrict k2 = k[1] + PAD + early - 1;
    const double *restrict k3 = k[2] + PAD + early - 1;
    for (int i = 0; i < length; i++)
      to[i] += (d1[i] + d2[i] + d3[i] + d4[i]) * at[i] + h / 2 * (d2[i] * k1[i] + d3[i] * k2[i]) + h * d4[i] * k3[i];
    x_right = x[first];
    end = first;
  }
}

static void gradient(void) {
  size_t size = (size_t)n * sizeof(double);
  memset(states, 0, size);
  for (int i = 0; i + 1 < s; i++) step(2.0 / s, states + (size_t)i * (size_t)n, states + (size_t)(i + 1) * (size_t)n);
  memset(g, 0, size);
  memset(dy, 0, size);
  dy[n - 1] = 1;
  for (int i = s - 1; i >= 0; i--) step_back(2.0 / s, states + (size_t)i * (size_t)n);
}

static void answer_primal(void) { print_row(y, (size_t)n); }
static void answer_gradient(void) { print_row(g, (size_t)n); }

SERVE({"primal", prepare, primal, answer_primal}, {"gradient", prepare_back, gradient, answer_gradient})
