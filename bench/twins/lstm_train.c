/* The recurrent layer over one sequence: mean of h squared, and its derivatives in the weights.
 *
 * Products with inputs are done for all steps at once before the loop; derivatives of the weights after it. */
#include "lstm.h"
#include "product.h"

static real kernel[G][K] __attribute__((aligned(64))), bias[G] __attribute__((aligned(64)));
static real dkernel[G][K] __attribute__((aligned(64))), dbias[G] __attribute__((aligned(64)));
static real across[K][G] __attribute__((aligned(64))); /* the kernel, transposed */
static real xh[T][K] __attribute__((aligned(64)));     /* inputs beside previous h */
static real z[T][G] __attribute__((aligned(64)));      /* gates before, after, and then their cotangents */
static real c[T + 1][H], tc[T][H];
static double loss;

static void transpose(void) {
  for (int j = 0; j < G; j++)
    for (int i = 0; i < K; i++) across[i][j] = kernel[j][i];
}

static void forward(void) {
  for (int t = 0; t < T; t++) memcpy(z[t], bias, sizeof bias);
  product(T, G, I, &xh[0][0], K, 1, &across[0][0], G, &z[0][0], G);
  real sum = 0;
  for (int t = 0; t < T; t++) {
    real *restrict zt = z[t], h[H];
    const real *restrict before = &xh[t][I];
    add_rows(H, G, before, &across[I][0], G, zt);
#pragma omp simd
    for (int j = 0; j < 3 * H; j++) zt[j] = sigmoid(zt[j]);
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < H; i++) {
      zt[3 * H + i] = tanh(zt[3 * H + i]);
      c[t + 1][i] = zt[i] * c[t][i] + zt[H + i] * zt[3 * H + i];
      tc[t][i] = tanh(c[t + 1][i]);
      h[i] = zt[2 * H + i] * tc[t][i];
      sum += h[i] * h[i];
    }
    if (t + 1 < T) memcpy(&xh[t + 1][I], h, sizeof h);
  }
  loss = (double)sum / (T * H);
}

static void backward(void) {
  real dh[H] = {0}, dc[H] = {0};
  for (int t = T - 1; t >= 0; t--) {
    real *restrict zt = z[t];
#pragma omp simd
    for (int i = 0; i < H; i++) {
      real f = zt[i], a = zt[H + i], o = zt[2 * H + i], g = zt[3 * H + i], s = tc[t][i];
      real d = dh[i] + o * s * (real)(2.0 / (T * H));
      real e = dc[i] + d * o * (1 - s * s);
      dc[i] = e * f;
      zt[i] = e * c[t][i] * f * (1 - f);
      zt[H + i] = e * g * a * (1 - a);
      zt[2 * H + i] = d * s * o * (1 - o);
      zt[3 * H + i] = e * a * (1 - g * g);
    }
    memset(dh, 0, sizeof dh);
    add_rows(G, H, zt, &kernel[0][I], K, dh);
  }
  memset(dkernel, 0, sizeof dkernel);
  product(G, K, T, &z[0][0], 1, G, &xh[0][0], K, &dkernel[0][0], K);
  memset(dbias, 0, sizeof dbias);
  for (int t = 0; t < T; t++)
    for (int j = 0; j < G; j++) dbias[j] += z[t][j];
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
  transpose();
  forward();
  return loss;
}
static void slopes(void) {
  transpose();
  gradient();
}
static int check(void) { return check_slopes(objective, slopes, tensors, 2); }

int main(int argc, char **argv) {
  fill(&kernel[0][0], G * K, 1, 0.1);
  fill(bias, G, 2, 0.1);
  for (int t = 0; t < T; t++)
    for (int i = 0; i < I; i++) xh[t][i] = (real)number(3, (uint64_t)(t * I + i), 1);
  transpose();
  turn turns[] = {{"lstm-forward-" NAME, forward, what_forward}, {"lstm-train-" NAME, gradient, what_gradient}};
  return twin_main(argc, argv, turns, 2, check);
}
