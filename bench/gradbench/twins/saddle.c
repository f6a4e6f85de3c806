/* Gradients of f are written out. The derivative of the inner maximum by x is a tangent that goes through the inner ascent, as the
 * benchmark wants, although it is 0 here. All four modes have the same answer. */
#include "tool.h"

static double start[2], y[4];

static void prepare(const value *input) {
  const value *found = get(input, "start");
  for (size_t i = 0; i < 2; i++) start[i] = i < found->n_numbers ? found->numbers[i] : 0;
}

static double f(const double *x, const double *y) { return x[0] * x[0] + x[1] * x[1] - y[0] * y[0] - y[1] * y[1]; }
static double norm(double a, double b) { return sqrt(a * a + b * b); }

/* The y that maximises f(x, y), and its derivatives by the two elements of x. */
static void ascend(const double *x, double *y, double d[2][2]) {
  double eta = 1e-5, value, g[2], dg[2][2];
  memcpy(y, start, 2 * sizeof *y);
  memset(d, 0, 4 * sizeof(double));
  value = -f(x, y);
  for (int e = 0; e < 2; e++) {
    g[e] = 2 * y[e];
    for (int j = 0; j < 2; j++) dg[e][j] = 2 * d[e][j];
  }
  for (int i = 0; norm(g[0], g[1]) > 1e-5;) {
    if (i == 10) {
      eta *= 2;
      i = 0;
      continue;
    }
    double next[2] = {y[0] - eta * g[0], y[1] - eta * g[1]};
    if (norm(y[0] - next[0], y[1] - next[1]) <= 1e-5) break;
    double then = -f(x, next);
    if (then < value) {
      value = then;
      for (int e = 0; e < 2; e++) {
        y[e] = next[e];
        g[e] = 2 * y[e];
        for (int j = 0; j < 2; j++) {
          d[e][j] -= eta * dg[e][j];
          dg[e][j] = 2 * d[e][j];
        }
      }
      i++;
    } else {
      eta /= 2;
      i = 0;
    }
  }
}

static double highest(const double *x, double *g) {
  double top[2], d[2][2];
  ascend(x, top, d);
  for (int j = 0; j < 2; j++) g[j] = 2 * x[j] - 2 * (top[0] * d[0][j] + top[1] * d[1][j]);
  return f(x, top);
}

static void run(void) {
  double x[2] = {start[0], start[1]}, g[2], eta = 1e-5, unused[2][2];
  double value = highest(x, g);
  for (int i = 0; norm(g[0], g[1]) > 1e-5;) {
    if (i == 10) {
      eta *= 2;
      i = 0;
      continue;
    }
    double next[2] = {x[0] - eta * g[0], x[1] - eta * g[1]}, slope[2];
    if (norm(x[0] - next[0], x[1] - next[1]) <= 1e-5) break;
    double then = highest(next, slope);
    if (then < value) {
      value = then;
      memcpy(x, next, sizeof x);
      memcpy(g, slope, sizeof g);
      i++;
    } else {
      eta /= 2;
      i = 0;
    }
  }
  memcpy(y, x, sizeof x);
  ascend(x, y + 2, unused);
}

static void answer(void) { print_row(y, 4); }

SERVE({"rr", prepare, run, answer}, {"ff", prepare, run, answer}, {"fr", prepare, run, answer}, {"rf", prepare, run, answer})
