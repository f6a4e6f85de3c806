/* The recurrent layer over a batch of sequences: mean of h squared, and its derivatives in the weights.
 *
 * Numbers of one place in all sequences stand side by side, so that gates are computed a vector of sequences at a time.
 * For the derivatives of the weights, one long product after the loop, both factors are kept transposed. */
#include "lstm.h"
#include "product.h"

enum { B = BATCH };
static real kernel[G][K] __attribute__((aligned(64))), bias[G] __attribute__((aligned(64)));
static real dkernel[G][K] __attribute__((aligned(64))), dbias[G] __attribute__((aligned(64)));
static real xh[T + 1][K][B] __attribute__((aligned(64)));    /* inputs above previous h */
static real turned[T][B][K] __attribute__((aligned(64)));    /* the same, transposed */
static real z[T][G][B] __attribute__((aligned(64)));         /* gates */
static real dz[T][B][G] __attribute__((aligned(64)));        /* their cotangents, transposed */
static real c[T + 1][H][B] __attribute__((aligned(64))), tc[T][H][B] __attribute__((aligned(64)));
static double loss;

static void forward(void) {
  real sum = 0;
  for (int t = 0; t < T; t++) {
    real *restrict zt = &z[t][0][0];
    for (int j = 0; j < G; j++)
      for (int b = 0; b < B; b++) zt[j * B + b] = bias[j];
    product(G, B, K, &kernel[0][0], K, 1, &xh[t][0][0], B, zt, B);
#pragma omp simd
    for (int i = 0; i < 3 * H * B; i++) zt[i] = sigmoid(zt[i]);
    real *restrict before = &c[t][0][0], *restrict after = &c[t + 1][0][0], *restrict shown = &tc[t][0][0];
    real *restrict h = &xh[t + 1][I][0];
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < H * B; i++) {
      zt[3 * H * B + i] = tanh(zt[3 * H * B + i]);
      after[i] = zt[i] * before[i] + zt[H * B + i] * zt[3 * H * B + i];
      shown[i] = tanh(after[i]);
      h[i] = zt[2 * H * B + i] * shown[i];
      sum += h[i] * h[i];
    }
  }
  loss = (double)sum / ((double)T * H * B);
}

static void backward(void) {
  static real dh[H][B] __attribute__((aligned(64))), dc[H][B] __attribute__((aligned(64)));
  static real d[G][B] __attribute__((aligned(64)));
  memset(dh, 0, sizeof dh);
  memset(dc, 0, sizeof dc);
  for (int t = T - 1; t >= 0; t--) {
    const real *restrict zt = &z[t][0][0], *restrict before = &c[t][0][0], *restrict shown = &tc[t][0][0];
    real *restrict to = &d[0][0], *restrict h = &dh[0][0], *restrict cell = &dc[0][0];
#pragma omp simd
    for (int i = 0; i < H * B; i++) {
      real f = zt[i], a = zt[H * B + i], o = zt[2 * H * B + i], g = zt[3 * H * B + i], s = shown[i];
      real e = h[i] + o * s * (real)(2.0 / ((double)T * H * B));
      real u = cell[i] + e * o * (1 - s * s);
      cell[i] = u * f;
      to[i] = u * before[i] * f * (1 - f);
      to[H * B + i] = u * g * a * (1 - a);
      to[2 * H * B + i] = e * s * o * (1 - o);
      to[3 * H * B + i] = u * a * (1 - g * g);
    }
    memset(dh, 0, sizeof dh);
    product(H, B, G, &kernel[0][I], 1, K, &d[0][0], B, &dh[0][0], B);
    for (int j = 0; j < G; j++)
      for (int b = 0; b < B; b++) dz[t][b][j] = d[j][b];
    for (int i = 0; i < H; i++)
      for (int b = 0; b < B; b++) turned[t][b][I + i] = xh[t][I + i][b];
  }
  memset(dkernel, 0, sizeof dkernel);
  product(G, K, T * B, &dz[0][0][0], 1, G, &turned[0][0][0], K, &dkernel[0][0], K);
  memset(dbias, 0, sizeof dbias);
  for (int t = 0; t < T; t++)
    for (int b = 0; b < B; b++)
      for (int j = 0; j < G; j++) dbias[j] += dz[t][b][j];
}

static void gradient(void) {
  forward();
  backward();
}

static tensor tensors[] = {{&kernel[0][0], &dkernel[0][0], G * K}, {bias, dbias, G}};
static int what_forward(double *numbers) {
  forward();
  numbers[0] = loss;
  return 1;
}
static int what_gradient(double *numbers) {
  gradient();
  numbers[0] = loss;
  numbers[1] = norm(tensors, 2);
  return 2;
}
static double objective(void) {
  forward();
  return loss;
}
static int check(void) { return check_slopes(objective, gradient, tensors, 2); }

int main(int argc, char **argv) {
  fill(&kernel[0][0], G * K, 1, 0.1);
  fill(bias, G, 2, 0.1);
  for (int t = 0; t < T; t++)
    for (int b = 0; b < B; b++)
      for (int i = 0; i < I; i++)
        turned[t][b][i] = xh[t][i][b] = (real)number(3, (uint64_t)((t * B + b) * I + i), 1);
  turn turns[] = {{"lstm-forward-" NAME, forward, what_forward}, {"lstm-train-" NAME, gradient, what_gradient}};
  return twin_main(argc, argv, turns, 2, check);
}
