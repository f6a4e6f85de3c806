/* GradBench gmm: the log posterior of a mixture of Gaussians (Wishart prior with gamma 1, m 0), and its gradient.
 *
 * Points are taken in blocks; loops over the points of a block are the inner ones and become vectors. */
#ifndef REAL
#define REAL double
#endif
#include "twin.h"
#ifndef DIMENSIONS
#define DIMENSIONS 10
#endif
#ifndef COMPONENTS
#define COMPONENTS 25
#endif
#ifndef POINTS
#define POINTS 1000
#endif
#define NAME "gmm-d" TEXT(DIMENSIONS) "-k" TEXT(COMPONENTS) "-n" TEXT(POINTS)
enum { D = DIMENSIONS, K = COMPONENTS, N = POINTS, BLOCK = 64, BLOCKS = (POINTS + BLOCK - 1) / BLOCK };

typedef real lanes[BLOCK] __attribute__((aligned(64)));

static lanes x[BLOCKS][D]; /* the points, a block after the other, dimensions apart */
static real alpha[K], mu[K][D], q[K][D], l[K][D][D];
static real dalpha[K], dmu[K][D], dq[K][D], dl[K][D][D];
static real diagonal[K][D], height[K]; /* exp q, and alpha + sum of q */
static lanes centred[K][D], seen[K][D], inner[K];
static double loss;

static int n_points(int block) { return block + 1 < BLOCKS ? BLOCK : N - (BLOCKS - 1) * BLOCK; }

static double log_sum_exp(const real *of) {
  double most = (double)of[0], sum = 0;
  for (int k = 1; k < K; k++) most = (double)of[k] > most ? (double)of[k] : most;
  for (int k = 0; k < K; k++) sum += exp((double)of[k] - most);
  return most + log(sum);
}

/* The logarithm of the multivariate gamma function. */
static double log_gamma(double a, double p) {
  double sum = 0.25 * p * (p - 1) * log(3.14159265358979323846);
  for (int j = 1; j <= (int)p; j++) sum += lgamma(a + 0.5 * (1 - j));
  return sum;
}

/* Fills `inner`, which becomes weights of components in the end; the sum of the logarithms of a block. */
static double likelihoods(int block) {
  for (int k = 0; k < K; k++) {
    lanes sum;
    for (int p = 0; p < BLOCK; p++) sum[p] = 0;
    for (int i = 0; i < D; i++)
      for (int p = 0; p < BLOCK; p++) centred[k][i][p] = x[block][i][p] - mu[k][i];
    for (int i = 0; i < D; i++) {
      lanes to;
      for (int p = 0; p < BLOCK; p++) to[p] = diagonal[k][i] * centred[k][i][p];
      for (int j = 0; j < i; j++)
        for (int p = 0; p < BLOCK; p++) to[p] += l[k][i][j] * centred[k][j][p];
      for (int p = 0; p < BLOCK; p++) {
        seen[k][i][p] = to[p];
        sum[p] += to[p] * to[p];
      }
    }
    for (int p = 0; p < BLOCK; p++) inner[k][p] = height[k] - (real)0.5 * sum[p];
  }
  lanes most, total;
  for (int p = 0; p < BLOCK; p++) {
    most[p] = inner[0][p];
    total[p] = 0;
  }
  for (int k = 1; k < K; k++)
    for (int p = 0; p < BLOCK; p++) most[p] = inner[k][p] > most[p] ? inner[k][p] : most[p];
  for (int k = 0; k < K; k++)
#pragma omp simd
    for (int p = 0; p < BLOCK; p++) {
      inner[k][p] = exp(inner[k][p] - most[p]);
      total[p] += inner[k][p];
    }
  double sum = 0;
  for (int p = 0; p < n_points(block); p++) sum += (double)(most[p] + log(total[p]));
  for (int p = 0; p < BLOCK; p++) total[p] = p < n_points(block) ? 1 / total[p] : 0;
  for (int k = 0; k < K; k++)
    for (int p = 0; p < BLOCK; p++) inner[k][p] *= total[p];
  return sum;
}

static real sum_of(const real *restrict a) {
  real sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int p = 0; p < BLOCK; p++) sum += a[p];
  return sum;
}

static real dot(const real *restrict a, const real *restrict b) {
  real sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int p = 0; p < BLOCK; p++) sum += a[p] * b[p];
  return sum;
}

static void pull_back(void) {
  for (int k = 0; k < K; k++) {
    dalpha[k] += sum_of(inner[k]);
    lanes to[D];
    for (int i = 0; i < D; i++)
      for (int p = 0; p < BLOCK; p++) {
        seen[k][i][p] *= inner[k][p];
        to[i][p] = diagonal[k][i] * seen[k][i][p];
      }
    for (int i = 0; i < D; i++) {
      dq[k][i] -= diagonal[k][i] * dot(seen[k][i], centred[k][i]);
      for (int j = 0; j < i; j++) {
        dl[k][i][j] -= dot(seen[k][i], centred[k][j]);
        for (int p = 0; p < BLOCK; p++) to[j][p] += l[k][i][j] * seen[k][i][p];
      }
    }
    for (int i = 0; i < D; i++) dmu[k][i] += sum_of(to[i]);
  }
}

/* All that does not depend on points. */
static double prior(void) {
  double squares = 0, pi = 3.14159265358979323846, n = D + 1;
  for (int k = 0; k < K; k++)
    for (int i = 0; i < D; i++) {
      squares += (double)(diagonal[k][i] * diagonal[k][i]);
      for (int j = 0; j < i; j++) squares += (double)(l[k][i][j] * l[k][i][j]);
    }
  double constant = -n * D * 0.5 * log(2.0) - log_gamma(0.5 * n, D);
  return -0.5 * N * D * log(2 * pi) - N * log_sum_exp(alpha) + 0.5 * squares - K * constant;
}

static void prepare(void) {
  for (int k = 0; k < K; k++) {
    height[k] = alpha[k];
    for (int i = 0; i < D; i++) {
      diagonal[k][i] = exp(q[k][i]);
      height[k] += q[k][i];
    }
  }
}

static void forward(void) {
  prepare();
  loss = prior();
  for (int block = 0; block < BLOCKS; block++) loss += likelihoods(block);
}

static void gradient(void) {
  prepare();
  loss = prior();
  memset(dalpha, 0, sizeof dalpha);
  memset(dmu, 0, sizeof dmu);
  memset(dq, 0, sizeof dq);
  memset(dl, 0, sizeof dl);
  for (int block = 0; block < BLOCKS; block++) {
    loss += likelihoods(block);
    pull_back();
  }
  double share = log_sum_exp(alpha);
  for (int k = 0; k < K; k++) {
    for (int i = 0; i < D; i++) {
      dq[k][i] += dalpha[k] + diagonal[k][i] * diagonal[k][i];
      for (int j = 0; j < i; j++) dl[k][i][j] += l[k][i][j];
    }
    dalpha[k] -= (real)(N * exp((double)alpha[k] - share));
  }
}

static tensor tensors[] = {
    {alpha, dalpha, K}, {&mu[0][0], &dmu[0][0], K * D}, {&q[0][0], &dq[0][0], K * D}, {&l[0][0][0], &dl[0][0][0], K * D * D}};
static int what_objective(double *numbers) {
  forward();
  numbers[0] = loss;
  return 1;
}
static int what_gradient(double *numbers) {
  gradient();
  numbers[0] = loss;
  numbers[1] = norm(tensors, 4);
  return 2;
}
static double objective(void) {
  forward();
  return loss;
}
static int check(void) { return check_slopes(objective, gradient, tensors, 4); }

int main(int argc, char **argv) {
  fill(alpha, K, 1, 1);
  fill(&mu[0][0], K * D, 2, 1);
  fill(&q[0][0], K * D, 3, 0.1);
  fill(&l[0][0][0], K * D * D, 4, 0.1); /* on and above the diagonal nothing reads it */
  for (int n = 0; n < N; n++)
    for (int i = 0; i < D; i++) x[n / BLOCK][i][n % BLOCK] = (real)number(5, (uint64_t)(n * D + i), 1);
  turn turns[] = {{NAME "-objective", forward, what_objective}, {NAME "-gradient", gradient, what_gradient}};
  return twin_main(argc, argv, turns, 2, check);
}
