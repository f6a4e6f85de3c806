/* GradBench lstm: the character model with diagonal weights, its objective and gradient, by back-propagation through time.
 *
 * Gates that are computed forwards are kept for the way back. A layer's row of numbers is padded to whole vectors. */
#ifndef REAL
#define REAL double
#endif
#include "twin.h"
#ifndef LAYERS
#define LAYERS 2
#endif
#ifndef CHARACTERS
#define CHARACTERS 1024
#endif
#ifndef BITS
#define BITS 14
#endif
#define NAME "gradbench-lstm-l" TEXT(LAYERS) "-c" TEXT(CHARACTERS)
enum { L = LAYERS, C = CHARACTERS, B = BITS, T = C - 1, P = (BITS + 7) / 8 * 8 };

typedef real row[P] __attribute__((aligned(64)));
typedef struct {
  row forget, add, show, change, c, tc; /* h is show · tc */
} kept;

static row weight[L][4], bias[L][4], extra[3], dweight[L][4], dbias[L][4], dextra[3];
static row sequence[C];
static kept steps[T + 1][L]; /* before the first step all is 0 */
static row slope[T];         /* the cotangent of the answer */
static double loss;

static inline real sigmoid(real x) { return 1 / (1 + exp(-x)); }

/* The objective; gates of all steps are kept only if somebody goes back. */
static void forward(int keep) {
  row h[L], c[L];
  memset(h, 0, sizeof h);
  memset(c, 0, sizeof c);
  real total = 0;
  for (int t = 0; t < T; t++) {
    row x, y;
#pragma omp simd
    for (int i = 0; i < P; i++) x[i] = sequence[t][i] * extra[0][i];
    for (int l = 0; l < L; l++) {
      kept *restrict k = &steps[keep ? t + 1 : 1][l];
#pragma omp simd
      for (int i = 0; i < P; i++) {
        k->forget[i] = sigmoid(x[i] * weight[l][0][i] + bias[l][0][i]);
        k->add[i] = sigmoid(h[l][i] * weight[l][1][i] + bias[l][1][i]);
        k->show[i] = sigmoid(x[i] * weight[l][2][i] + bias[l][2][i]);
        k->change[i] = tanh(h[l][i] * weight[l][3][i] + bias[l][3][i]);
        k->c[i] = c[l][i] * k->forget[i] + k->add[i] * k->change[i];
        k->tc[i] = tanh(k->c[i]);
        c[l][i] = k->c[i];
        h[l][i] = x[i] = k->show[i] * k->tc[i];
      }
    }
    real e[P] __attribute__((aligned(64))), sum = 2, gold = 0, hit = 0;
#pragma omp simd
    for (int i = 0; i < P; i++) {
      y[i] = x[i] * extra[1][i] + extra[2][i];
      e[i] = exp(y[i]);
    }
    for (int i = 0; i < B; i++) {
      sum += e[i];
      gold += sequence[t + 1][i];
      hit += sequence[t + 1][i] * y[i];
    }
    total += hit - gold * log(sum);
#pragma omp simd
    for (int i = 0; i < P; i++)
      slope[t][i] = i < B ? (gold * e[i] / sum - sequence[t + 1][i]) / ((real)T * B) : 0;
  }
  loss = -(double)total / ((double)T * B);
}

static void backward(void) {
  row dh[L], dc[L];
  memset(dh, 0, sizeof dh);
  memset(dc, 0, sizeof dc);
  memset(dweight, 0, sizeof dweight);
  memset(dbias, 0, sizeof dbias);
  memset(dextra, 0, sizeof dextra);
  for (int t = T - 1; t >= 0; t--) {
    row d;
    const kept *restrict top = &steps[t + 1][L - 1];
#pragma omp simd
    for (int i = 0; i < P; i++) {
      dextra[1][i] += slope[t][i] * top->show[i] * top->tc[i];
      dextra[2][i] += slope[t][i];
      d[i] = slope[t][i] * extra[1][i];
    }
    for (int l = L - 1; l >= 0; l--) {
      const kept *restrict k = &steps[t + 1][l], *restrict before = &steps[t][l];
      row x;
      const kept *restrict under = &steps[t + 1][l ? l - 1 : 0];
#pragma omp simd
      for (int i = 0; i < P; i++) x[i] = l ? under->show[i] * under->tc[i] : sequence[t][i] * extra[0][i];
#pragma omp simd
      for (int i = 0; i < P; i++) {
        real h = before->show[i] * before->tc[i];
        real f = k->forget[i], a = k->add[i], o = k->show[i], g = k->change[i], s = k->tc[i];
        real e = d[i] + dh[l][i];
        real u = dc[l][i] + e * o * (1 - s * s);
        real df = u * before->c[i] * f * (1 - f), da = u * g * a * (1 - a);
        real dshow = e * s * o * (1 - o), dg = u * a * (1 - g * g);
        dc[l][i] = u * f;
        dweight[l][0][i] += df * x[i];
        dweight[l][1][i] += da * h;
        dweight[l][2][i] += dshow * x[i];
        dweight[l][3][i] += dg * h;
        dbias[l][0][i] += df;
        dbias[l][1][i] += da;
        dbias[l][2][i] += dshow;
        dbias[l][3][i] += dg;
        dh[l][i] = da * weight[l][1][i] + dg * weight[l][3][i];
        d[i] = df * weight[l][0][i] + dshow * weight[l][2][i];
      }
    }
#pragma omp simd
    for (int i = 0; i < P; i++) dextra[0][i] += d[i] * sequence[t][i];
  }
}

static void value(void) { forward(0); }
static void gradient(void) {
  forward(1);
  backward();
}

static tensor tensors[] = {{&weight[0][0][0], &dweight[0][0][0], L * 4 * P},
                           {&bias[0][0][0], &dbias[0][0][0], L * 4 * P},
                           {&extra[0][0], &dextra[0][0], 3 * P}};
static int what_objective(double *numbers) {
  value();
  numbers[0] = loss;
  return 1;
}
static int what_gradient(double *numbers) {
  gradient();
  numbers[0] = loss;
  numbers[1] = norm(tensors, 3);
  return 2;
}
static double objective(void) {
  value();
  return loss;
}
static int check(void) { return check_slopes(objective, gradient, tensors, 3); }

static void fill_rows(row *rows, int n, uint64_t seed) {
  for (int r = 0; r < n; r++)
    for (int i = 0; i < B; i++) rows[r][i] = (real)number(seed, (uint64_t)(r * B + i), 1);
}

int main(int argc, char **argv) {
  fill_rows(extra, 3, 1);
  fill_rows(sequence, C, 2);
  for (int t = 0; t < C; t++)
    for (int i = 0; i < B; i++) sequence[t][i] = sequence[t][i] > 0;
  for (int l = 0; l < L; l++) {
    fill_rows(weight[l], 4, 10 + 2 * (uint64_t)l);
    fill_rows(bias[l], 4, 11 + 2 * (uint64_t)l);
  }
  turn turns[] = {{NAME "-objective", value, what_objective}, {NAME "-gradient", gradient, what_gradient}};
  return twin_main(argc, argv, turns, 2, check);
}
