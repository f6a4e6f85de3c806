/* The gradient of a network of two hidden layers with tanh, and the Hessian of its loss times a vector.
 *
 * The product is the gradient's own derivative along the vector: every value of the gradient has a tangent beside it. */
#ifndef REAL
#define REAL double
#endif
#include "product.h"
#ifndef INPUTS
#define INPUTS 8
#endif
#ifndef HIDDEN
#define HIDDEN 32
#endif
#ifndef BATCH
#define BATCH 64
#endif
#define NAME "hvp-" TEXT(INPUTS) "-" TEXT(HIDDEN) "-" TEXT(HIDDEN) "-1-b" TEXT(BATCH)
enum { N = INPUTS, H = HIDDEN, B = BATCH };

/* Parameters, or what has their shape. */
typedef struct {
  real w1[N][H], b1[H], w2[H][H], b2[H], w3[H], b3[1];
} network;
enum { SIZE = sizeof(network) / sizeof(real) };
/* Values on the way: hidden layers, the error, and cotangents of what goes into tanh. */
typedef struct {
  real h1[B][H], h2[B][H], y[B], d2[B][H], d1[B][H];
} values;

static real x[B][N] __attribute__((aligned(64))), gt[B];
static network p __attribute__((aligned(64))), v __attribute__((aligned(64)));
static network g __attribute__((aligned(64))), hv __attribute__((aligned(64)));
static values a __attribute__((aligned(64))), ta __attribute__((aligned(64)));
static real turned[H][H] __attribute__((aligned(64))), t_turned[H][H] __attribute__((aligned(64)));
static double loss;

static void spread(real to[B][H], const real *row) {
  for (int b = 0; b < B; b++) memcpy(to[b], row, H * sizeof(real));
}

static void transpose(const real from[H][H], real to[H][H]) {
  for (int i = 0; i < H; i++)
    for (int j = 0; j < H; j++) to[j][i] = from[i][j];
}

static void add_up(const real rows[B][H], real *to) {
  for (int b = 0; b < B; b++)
    for (int i = 0; i < H; i++) to[i] += rows[b][i];
}

static void gradient(void) {
  spread(a.h1, p.b1);
  product(B, H, N, &x[0][0], N, 1, &p.w1[0][0], H, &a.h1[0][0], H);
  real *h1 = &a.h1[0][0], *h2 = &a.h2[0][0], *d1 = &a.d1[0][0], *d2 = &a.d2[0][0];
#pragma omp simd
  for (int i = 0; i < B * H; i++) h1[i] = tanh(h1[i]);
  spread(a.h2, p.b2);
  product(B, H, H, h1, H, 1, &p.w2[0][0], H, h2, H);
#pragma omp simd
  for (int i = 0; i < B * H; i++) h2[i] = tanh(h2[i]);
  memset(&g, 0, sizeof g);
  loss = 0;
  for (int b = 0; b < B; b++) {
    real y = p.b3[0] - gt[b];
#pragma omp simd reduction(+ : y)
    for (int i = 0; i < H; i++) y += a.h2[b][i] * p.w3[i];
    loss += (double)(y * y) / B;
    a.y[b] = y * 2 / B;
    g.b3[0] += a.y[b];
    for (int i = 0; i < H; i++) {
      g.w3[i] += a.y[b] * a.h2[b][i];
      a.d2[b][i] = a.y[b] * p.w3[i] * (1 - a.h2[b][i] * a.h2[b][i]);
    }
  }
  transpose(p.w2, turned);
  memset(d1, 0, sizeof a.d1);
  product(B, H, H, d2, H, 1, &turned[0][0], H, d1, H);
  for (int i = 0; i < B * H; i++) d1[i] *= 1 - h1[i] * h1[i];
  product(H, H, B, h1, 1, H, d2, H, &g.w2[0][0], H);
  product(N, H, B, &x[0][0], 1, N, d1, H, &g.w1[0][0], H);
  add_up(a.d2, g.b2);
  add_up(a.d1, g.b1);
}

/* After `gradient`: its tangent along `v`. */
static void tangent(void) {
  real *h1 = &a.h1[0][0], *h2 = &a.h2[0][0], *d1 = &a.d1[0][0], *d2 = &a.d2[0][0];
  real *th1 = &ta.h1[0][0], *th2 = &ta.h2[0][0], *td1 = &ta.d1[0][0], *td2 = &ta.d2[0][0];
  spread(ta.h1, v.b1);
  product(B, H, N, &x[0][0], N, 1, &v.w1[0][0], H, th1, H);
  for (int i = 0; i < B * H; i++) th1[i] *= 1 - h1[i] * h1[i];
  spread(ta.h2, v.b2);
  product(B, H, H, h1, H, 1, &v.w2[0][0], H, th2, H);
  product(B, H, H, th1, H, 1, &p.w2[0][0], H, th2, H);
  for (int i = 0; i < B * H; i++) th2[i] *= 1 - h2[i] * h2[i];
  memset(&hv, 0, sizeof hv);
  for (int b = 0; b < B; b++) {
    real ty = v.b3[0];
#pragma omp simd reduction(+ : ty)
    for (int i = 0; i < H; i++) ty += a.h2[b][i] * v.w3[i] + ta.h2[b][i] * p.w3[i];
    ty *= (real)2 / B;
    hv.b3[0] += ty;
    for (int i = 0; i < H; i++) {
      real s = a.h2[b][i], ts = ta.h2[b][i], out = 1 - s * s;
      hv.w3[i] += ty * s + a.y[b] * ts;
      ta.d2[b][i] = (ty * p.w3[i] + a.y[b] * v.w3[i]) * out - a.y[b] * p.w3[i] * 2 * s * ts;
    }
  }
  transpose(v.w2, t_turned);
  memset(td1, 0, sizeof ta.d1);
  product(B, H, H, td2, H, 1, &turned[0][0], H, td1, H);
  product(B, H, H, d2, H, 1, &t_turned[0][0], H, td1, H);
  /* d1 is already multiplied by 1 - h1², and h1² < 1. */
  for (int i = 0; i < B * H; i++) {
    real out = 1 - h1[i] * h1[i];
    td1[i] = td1[i] * out - d1[i] / out * 2 * h1[i] * th1[i];
  }
  product(H, H, B, h1, 1, H, td2, H, &hv.w2[0][0], H);
  product(H, H, B, th1, 1, H, d2, H, &hv.w2[0][0], H);
  product(N, H, B, &x[0][0], 1, N, td1, H, &hv.w1[0][0], H);
  add_up(ta.d2, hv.b2);
  add_up(ta.d1, hv.b1);
}

static void both(void) {
  gradient();
  tangent();
}

static tensor slopes[] = {{(real *)&p, (real *)&g, SIZE}}, second[] = {{(real *)&p, (real *)&hv, SIZE}};
static int what_gradient(double *numbers) {
  gradient();
  numbers[0] = loss;
  numbers[1] = norm(slopes, 1);
  return 2;
}
static int what_product(double *numbers) {
  both();
  numbers[0] = loss;
  numbers[1] = norm(slopes, 1);
  numbers[2] = norm(second, 1);
  return 3;
}
static double objective(void) {
  gradient();
  return loss;
}
/* The slope of `gradient · v` is the product. */
static double along(void) {
  double sum = 0;
  gradient();
  for (int i = 0; i < SIZE; i++) sum += (double)((real *)&g)[i] * (double)((real *)&v)[i];
  return sum;
}
static int check(void) {
  return check_slopes(objective, gradient, slopes, 1) | check_slopes(along, both, second, 1);
}

static void start(network *of, uint64_t seed, double scale) {
  fill(&of->w1[0][0], N * H, seed, scale);
  fill(of->b1, H, seed + 1, scale);
  fill(&of->w2[0][0], H * H, seed + 2, scale);
  fill(of->b2, H, seed + 3, scale);
  fill(of->w3, H, seed + 4, scale);
  fill(of->b3, 1, seed + 5, scale);
}

int main(int argc, char **argv) {
  start(&p, 1, 0.3);
  start(&v, 11, 1);
  fill(&x[0][0], B * N, 7, 1);
  fill(gt, B, 8, 1);
  turn turns[] = {{NAME "-gradient", gradient, what_gradient}, {NAME "-product", both, what_product}};
  return twin_main(argc, argv, turns, 2, check);
}
