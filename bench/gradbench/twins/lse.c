#include "tool.h"

static double *x, *g, y;
static int n;

static void prepare(const value *input) {
  copy_of(&x, input, "x");
  n = (int)get(input, "x")->n;
  reserve(&g, (size_t)n);
}

static double largest(void) {
  double a = x[0];
  for (int i = 1; i < n; i++) a = x[i] > a ? x[i] : a;
  return a;
}

static void primal(void) {
  double a = largest(), sum = 0;
  for (int i = 0; i < n; i++) sum += exp(x[i] - a);
  y = a + log(sum);
}

static void gradient(void) {
  double a = largest(), sum = 0;
  for (int i = 0; i < n; i++) {
    g[i] = exp(x[i] - a);
    sum += g[i];
  }
  double scale = 1 / sum;
  for (int i = 0; i < n; i++) g[i] *= scale;
}

static void answer_primal(void) { printf("%.17g", y); }
static void answer_gradient(void) { print_row(g, (size_t)n); }

SERVE({"primal", prepare, primal, answer_primal}, {"gradient", prepare, gradient, answer_gradient})
