/* One step of the recurrent layer at a time, as a controller would call it. */
#include "lstm.h"
#include "product.h"

static real across[K][G] __attribute__((aligned(64))); /* the kernel, transposed: products become sums of rows */
static real bias[G] __attribute__((aligned(64))), x[T][I];
static real h[H] __attribute__((aligned(64))), c[H] __attribute__((aligned(64)));

__attribute__((noinline)) static void step(const real *restrict input) {
  real z[G] __attribute__((aligned(64)));
  for (int j = 0; j < G; j++) z[j] = bias[j];
  add_rows(I, G, input, &across[0][0], G, z);
  add_rows(H, G, h, &across[I][0], G, z);
#pragma omp simd
  for (int j = 0; j < 3 * H; j++) z[j] = sigmoid(z[j]);
#pragma omp simd
  for (int i = 0; i < H; i++) {
    c[i] = z[i] * c[i] + z[H + i] * tanh(z[3 * H + i]);
    h[i] = z[2 * H + i] * tanh(c[i]);
  }
}

static int at;
static void run(void) {
  step(x[at]);
  at = at + 1 < T ? at + 1 : 0;
}

/* The mean of h squared over the first T steps. */
static int check(double *numbers) {
  memset(h, 0, sizeof h);
  memset(c, 0, sizeof c);
  numbers[0] = 0;
  for (int t = 0; t < T; t++) {
    step(x[t]);
    for (int i = 0; i < H; i++) numbers[0] += (double)h[i] * (double)h[i] / (T * H);
  }
  at = 0;
  return 1;
}

/* There is no derivative here. */
static int nothing(void) { return 0; }

int main(int argc, char **argv) {
  for (int j = 0; j < G; j++)
    for (int i = 0; i < K; i++) across[i][j] = (real)number(1, (uint64_t)(j * K + i), 0.1);
  fill(bias, G, 2, 0.1);
  fill(&x[0][0], T * I, 3, 1);
  turn turns[] = {{"lstm-stream-h" TEXT(UNITS), run, check}};
  return twin_main(argc, argv, turns, 1, nothing);
}
