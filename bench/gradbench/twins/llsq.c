/* Points are taken in blocks; loops over the points of a block become vectors. */
#include "tool.h"

enum { BLOCK = 32 };
typedef double lanes[BLOCK] __attribute__((aligned(64)));

static double *x, *g, y;
static int m, n;

static void prepare(const value *input) {
  copy_of(&x, input, "x");
  m = (int)get(input, "x")->n;
  n = int_of(input, "n");
  reserve(&g, (size_t)m);
}

/* The residuals of the points from `first` on; those beyond the last one are 0. */
static void residuals(int first, double *restrict t, double *restrict r) {
  lanes power, sum;
  for (int p = 0; p < BLOCK; p++) {
    t[p] = (double)(2 * (first + p) - (n - 1)) / (n - 1); /* exactly 0 in the middle, whatever -ffast-math does */
    power[p] = 1;
    sum[p] = 0;
  }
  for (int j = 0; j < m; j++)
    for (int p = 0; p < BLOCK; p++) {
      sum[p] += x[j] * power[p];
      power[p] *= t[p];
    }
  for (int p = 0; p < BLOCK; p++) {
    double sign = (t[p] > 0) - (t[p] < 0);
    r[p] = first + p < n ? sign - sum[p] : 0;
  }
}

static void primal(void) {
  double total = 0;
  for (int first = 0; first < n; first += BLOCK) {
    lanes t, r;
    residuals(first, t, r);
    for (int p = 0; p < BLOCK; p++) total += r[p] * r[p];
  }
  y = 0.5 * total;
}

static void gradient(void) {
  memset(g, 0, (size_t)m * sizeof *g);
  for (int first = 0; first < n; first += BLOCK) {
    lanes t, r;
    residuals(first, t, r);
    for (int j = 0; j < m; j++) {
      double sum = 0;
      for (int p = 0; p < BLOCK; p++) {
        sum += r[p];
        r[p] *= t[p];
      }
      g[j] -= sum;
    }
  }
}

static void answer_primal(void) { printf("%.17g", y); }
static void answer_gradient(void) { print_row(g, (size_t)m); }

SERVE({"primal", prepare, primal, answer_primal}, {"gradient", prepare, gradient, answer_gradient})
