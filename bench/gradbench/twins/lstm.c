/* Gates that are computed forwards are kept for the way back. Rows are padded to `width` numbers; for 14 bits, the width of the
 * shipped text, the loops have a constant length. */
#include "tool.h"

static int layers, t_end, b, width;
static double *weight, *bias, *extra, *dweight, *dbias, *dextra; /* [layers][4][width], [3][width] */
static double *state, *sequence, *slope, *flat, y;
static double *kept; /* [time][layer][forget, add, show, change, c, tanh c, h][width] */
enum { FORGET, ADD, SHOW, CHANGE, C, TANH, H, KEPT };

static void copy_rows(double *to, const double *from, int rows) {
  for (int r = 0; r < rows; r++) memcpy(to + r * width, from + r * b, (size_t)b * sizeof(double));
}

static void prepare(const value *input) {
  const value *main_params = get(input, "main_params"), *sequences = get(input, "sequence");
  layers = (int)main_params->n / 2;
  t_end = (int)sequences->n - 1;
  b = (int)(sequences->n_numbers / sequences->n);
  width = (b + 7) / 8 * 8;
  size_t block = (size_t)(layers * 4 * width);
  reserve(&weight, block), reserve(&bias, block), reserve(&dweight, block), reserve(&dbias, block);
  reserve(&extra, (size_t)(3 * width)), reserve(&dextra, (size_t)(3 * width));
  reserve(&state, (size_t)(2 * layers * width));
  reserve(&sequence, (size_t)((t_end + 1) * width));
  reserve(&slope, (size_t)(t_end * width));
  reserve(&kept, (size_t)(t_end + 1) * (size_t)(layers * KEPT * width));
  reserve(&flat, (size_t)(8 * layers * b + 3 * b));
  for (int a = 0; a < layers; a++) {
    copy_rows(weight + a * 4 * width, main_params->numbers + a * 8 * b, 4);
    copy_rows(bias + a * 4 * width, main_params->numbers + a * 8 * b + 4 * b, 4);
  }
  copy_rows(extra, get(input, "extra_params")->numbers, 3);
  copy_rows(state, get(input, "state")->numbers, 2 * layers);
  copy_rows(sequence, sequences->numbers, t_end + 1);
}

static inline double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static inline double *kept_at(int t, int layer, int width) { return kept + ((size_t)t * (size_t)layers + (size_t)layer) * (size_t)(KEPT * width); }

/* The row 0 of `kept` is the state before the first step. If nothing goes back, rows 0 and 1 take turns. */
static inline __attribute__((always_inline)) void forward(int keep, int width) {
  for (int a = 0; a < layers; a++) {
    memcpy(kept_at(0, a, width) + H * width, state + 2 * a * width, (size_t)width * sizeof(double));
    memcpy(kept_at(0, a, width) + C * width, state + (2 * a + 1) * width, (size_t)width * sizeof(double));
  }
  double total = 0;
  for (int t = 0; t < t_end; t++) {
    double u[width], out[width], e[width];
    const double *restrict in = sequence + t * width, *restrict next = sequence + (t + 1) * width;
#pragma omp simd
    for (int i = 0; i < width; i++) u[i] = in[i] * extra[i];
    for (int a = 0; a < layers; a++) {
      double *restrict k = kept_at(keep ? t + 1 : (t + 1) & 1, a, width);
      const double *restrict before = kept_at(keep ? t : t & 1, a, width);
      const double *restrict w = weight + a * 4 * width, *restrict bi = bias + a * 4 * width;
#pragma omp simd
      for (int i = 0; i < width; i++) {
        double h = before[H * width + i];
        double forget = sigmoid(u[i] * w[i] + bi[i]);
        double add = sigmoid(h * w[width + i] + bi[width + i]);
        double show = sigmoid(u[i] * w[2 * width + i] + bi[2 * width + i]);
        double change = tanh(h * w[3 * width + i] + bi[3 * width + i]);
        double c = before[C * width + i] * forget + add * change, s = tanh(c);
        k[FORGET * width + i] = forget;
        k[ADD * width + i] = add;
        k[SHOW * width + i] = show;
        k[CHANGE * width + i] = change;
        k[C * width + i] = c;
        k[TANH * width + i] = s;
        k[H * width + i] = u[i] = show * s;
      }
    }
    double sum = 2, gold = 0, hit = 0;
#pragma omp simd
    for (int i = 0; i < width; i++) {
      out[i] = u[i] * extra[width + i] + extra[2 * width + i];
      e[i] = exp(out[i]);
    }
    for (int i = 0; i < b; i++) {
      sum += e[i];
      gold += next[i];
      hit += next[i] * out[i];
    }
    total += hit - gold * log(sum);
    if (keep)
      for (int i = 0; i < b; i++) slope[t * width + i] = (gold * e[i] / sum - next[i]) / ((double)t_end * b);
  }
  y = -total / ((double)t_end * b);
}

static inline __attribute__((always_inline)) void backward(int width) {
  double dh[layers * width], dc[layers * width];
  memset(dh, 0, sizeof dh);
  memset(dc, 0, sizeof dc);
  memset(dweight, 0, (size_t)(layers * 4 * width) * sizeof(double));
  memset(dbias, 0, (size_t)(layers * 4 * width) * sizeof(double));
  memset(dextra, 0, (size_t)(3 * width) * sizeof(double));
  for (int t = t_end - 1; t >= 0; t--) {
    double d[width];
    const double *restrict top = kept_at(t + 1, layers - 1, width), *restrict in = sequence + t * width;
#pragma omp simd
    for (int i = 0; i < width; i++) {
      double s = slope[t * width + i];
      dextra[width + i] += s * top[H * width + i];
      dextra[2 * width + i] += s;
      d[i] = s * extra[width + i];
    }
    for (int a = layers - 1; a >= 0; a--) {
      const double *restrict k = kept_at(t + 1, a, width), *restrict before = kept_at(t, a, width);
      const double *restrict under = kept_at(t + 1, a ? a - 1 : 0, width) + H * width, *restrict w = weight + a * 4 * width;
      double *restrict dw = dweight + a * 4 * width, *restrict db = dbias + a * 4 * width;
#pragma omp simd
      for (int i = 0; i < width; i++) {
        double u = a ? under[i] : in[i] * extra[i], h = before[H * width + i];
        double f = k[FORGET * width + i], r = k[ADD * width + i], o = k[SHOW * width + i], g = k[CHANGE * width + i];
        double s = k[TANH * width + i], e = d[i] + dh[a * width + i];
        double v = dc[a * width + i] + e * o * (1 - s * s);
        double df = v * before[C * width + i] * f * (1 - f), dr = v * g * r * (1 - r);
        double show = e * s * o * (1 - o), dg = v * r * (1 - g * g);
        dc[a * width + i] = v * f;
        dw[i] += df * u, dw[width + i] += dr * h, dw[2 * width + i] += show * u, dw[3 * width + i] += dg * h;
        db[i] += df, db[width + i] += dr, db[2 * width + i] += show, db[3 * width + i] += dg;
        dh[a * width + i] = dr * w[width + i] + dg * w[3 * width + i];
        d[i] = df * w[i] + show * w[2 * width + i];
      }
    }
#pragma omp simd
    for (int i = 0; i < width; i++) dextra[i] += d[i] * in[i];
  }
}

static void objective(void) {
  if (width == 16) forward(0, 16);
  else forward(0, width);
}

static void jacobian(void) {
  if (width == 16) forward(1, 16), backward(16);
  else forward(1, width), backward(width);
  double *to = flat;
  for (int a = 0; a < layers; a++)
    for (int half = 0; half < 2; half++)
      for (int r = 0; r < 4; r++, to += b)
        memcpy(to, (half ? dbias : dweight) + (a * 4 + r) * width, (size_t)b * sizeof(double));
  for (int r = 0; r < 3; r++, to += b) memcpy(to, dextra + r * width, (size_t)b * sizeof(double));
}

static void answer_objective(void) { printf("%.17g", y); }
static void answer_jacobian(void) { print_row(flat, (size_t)(8 * layers * b + 3 * b)); }

SERVE({"objective", prepare, objective, answer_objective}, {"jacobian", prepare, jacobian, answer_jacobian})
