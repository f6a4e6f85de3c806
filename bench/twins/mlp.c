/* A perceptron with one hidden layer: a step of gradient descent on a batch. Rows of hidden numbers are padded. */
#include "product.h"
#ifndef INPUTS
#define INPUTS 784
#endif
#ifndef HIDDEN
#define HIDDEN 100
#endif
#ifndef CLASSES
#define CLASSES 10
#endif
#ifndef BATCH
#define BATCH 32
#endif
#define PADDED(n) (((n) + COLUMNS - 1) / COLUMNS * COLUMNS)
enum { N = INPUTS, H = HIDDEN, C = CLASSES, B = BATCH, HP = PADDED(HIDDEN), CP = PADDED(CLASSES) };

static const real rate = (real)0.1;
static real x[B][N] __attribute__((aligned(64)));
static real w1[N][HP] __attribute__((aligned(64))), b1[HP], w2[HP][CP] __attribute__((aligned(64))), b2[CP];
static real h[B][HP] __attribute__((aligned(64))), o[B][CP] __attribute__((aligned(64)));
static real dh[B][HP] __attribute__((aligned(64))), w2t[C][HP] __attribute__((aligned(64)));
static double loss;

/* The loss; `o` becomes the cotangent of the logits. */
static void forward(void) {
  for (int b = 0; b < B; b++) memcpy(h[b], b1, sizeof b1);
  product(B, HP, N, &x[0][0], N, 1, &w1[0][0], HP, &h[0][0], HP);
  for (int b = 0; b < B; b++)
    for (int i = 0; i < HP; i++) h[b][i] = h[b][i] > 0 ? h[b][i] : 0;
  for (int b = 0; b < B; b++) memcpy(o[b], b2, sizeof b2);
  product(B, CP, HP, &h[0][0], HP, 1, &w2[0][0], CP, &o[0][0], CP);
  loss = 0;
  for (int b = 0; b < B; b++) {
    real most = o[b][0], sum = 0, wanted = o[b][b % C];
    for (int i = 1; i < C; i++) most = o[b][i] > most ? o[b][i] : most;
    for (int i = 0; i < CP; i++) o[b][i] = i < C ? exp(o[b][i] - most) : 0;
    for (int i = 0; i < C; i++) sum += o[b][i];
    for (int i = 0; i < C; i++) o[b][i] = (o[b][i] / sum - (i == b % C)) / B;
    loss += (double)(most + log(sum) - wanted) / B;
  }
}

/* A step: derivatives are scaled by the rate on their way, and products add them to the weights in place. */
static void step(void) {
  forward();
  for (int i = 0; i < C; i++)
    for (int j = 0; j < HP; j++) w2t[i][j] = w2[j][i];
  memset(dh, 0, sizeof dh);
  for (int b = 0; b < B; b++)
    for (int i = 0; i < CP; i++) o[b][i] *= -rate;
  product(B, HP, C, &o[0][0], CP, 1, &w2t[0][0], HP, &dh[0][0], HP);
  for (int b = 0; b < B; b++)
    for (int i = 0; i < HP; i++) dh[b][i] = h[b][i] > 0 ? dh[b][i] : 0;
  product(HP, CP, B, &h[0][0], 1, HP, &o[0][0], CP, &w2[0][0], CP);
  product(N, HP, B, &x[0][0], 1, N, &dh[0][0], HP, &w1[0][0], HP);
  for (int b = 0; b < B; b++) {
    for (int i = 0; i < CP; i++) b2[i] += o[b][i];
    for (int i = 0; i < HP; i++) b1[i] += dh[b][i];
  }
}

static void start(void) {
  fill(&x[0][0], B * N, 5, 1);
  memset(b1, 0, sizeof b1);
  memset(w2, 0, sizeof w2);
  memset(w1, 0, sizeof w1);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < H; j++) w1[i][j] = (real)number(1, (uint64_t)(i * H + j), 0.05);
  fill(b1, H, 2, 0.05);
  for (int i = 0; i < H; i++)
    for (int j = 0; j < C; j++) w2[i][j] = (real)number(3, (uint64_t)(i * C + j), 0.05);
  fill(b2, C, 4, 0.05);
}

/* The losses of the first and of the tenth step. */
static int what(double *numbers) {
  start();
  for (int i = 0; i < 10; i++) {
    step();
    if (i == 0) numbers[0] = loss;
  }
  numbers[1] = loss;
  return 2;
}

static real dw1[N][HP], db1[HP], dw2[HP][CP], db2[CP];
static tensor tensors[] = {
    {&w1[0][0], &dw1[0][0], N * HP}, {b1, db1, HP}, {&w2[0][0], &dw2[0][0], HP * CP}, {b2, db2, CP}};
static double objective(void) {
  forward();
  return loss;
}
/* The derivative is what a step changes, which is then taken back. Padding sits on the kink of relu, where differences see
 * another slope, so check sizes that need none. */
static void gradient(void) {
  for (int k = 0; k < 4; k++) memcpy(tensors[k].slope, tensors[k].value, tensors[k].n * sizeof(real));
  step();
  for (int k = 0; k < 4; k++)
    for (size_t i = 0; i < tensors[k].n; i++) {
      real before = tensors[k].slope[i];
      tensors[k].slope[i] = (before - tensors[k].value[i]) / rate;
      tensors[k].value[i] = before;
    }
}
static int check(void) {
  start();
  return check_slopes(objective, gradient, tensors, 4);
}

int main(int argc, char **argv) {
  start();
  turn turns[] = {{"mlp-" TEXT(INPUTS) "-" TEXT(HIDDEN) "-" TEXT(CLASSES) "-b" TEXT(BATCH), step, what}};
  return twin_main(argc, argv, turns, 1, check);
}
