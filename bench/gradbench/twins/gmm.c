/* Points are taken in blocks; loops over the points of a block are the inner ones and become vectors. */
#include "tool.h"

enum { BLOCK = 64 };
typedef double lanes[BLOCK] __attribute__((aligned(64)));

static int d, k, n, m, n_blocks, below;
static double gamma_, *given, *x, *alpha, *mu, *q, *l, *triangle, *height;
static double *dalpha, *dmu, *dq, *dl, *dtriangle;
static lanes *centred, *seen, *inner, *to;
static double y;

static void prepare(const value *input) {
  d = int_of(input, "d"), k = int_of(input, "k"), n = int_of(input, "n"), m = int_of(input, "m");
  gamma_ = number_of(input, "gamma", 1);
  below = d * (d - 1) / 2;
  n_blocks = (n + BLOCK - 1) / BLOCK;
  copy_of(&given, input, "x");
  copy_of(&alpha, input, "alpha");
  copy_of(&mu, input, "mu");
  copy_of(&q, input, "q");
  copy_of(&l, input, "l");
  /* A block after the other, dimensions apart. */
  reserve(&x, (size_t)(n_blocks * d * BLOCK));
  for (int i = 0; i < n; i++)
    for (int a = 0; a < d; a++) x[(i / BLOCK * d + a) * BLOCK + i % BLOCK] = given[i * d + a];
  double **all[] = {&dalpha, &height};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) reserve(all[i], (size_t)k);
  reserve(&dmu, (size_t)(k * d));
  reserve(&dq, (size_t)(k * d));
  reserve(&dl, (size_t)(k * below));
  reserve(&triangle, (size_t)(k * d * d));
  reserve(&dtriangle, (size_t)(k * d * d));
  reserve((double **)&centred, (size_t)(k * d * BLOCK));
  reserve((double **)&seen, (size_t)(k * d * BLOCK));
  reserve((double **)&inner, (size_t)(k * BLOCK));
  reserve((double **)&to, (size_t)(d * BLOCK));
}

static double log_sum_exp(const double *of) {
  double most = of[0], sum = 0;
  for (int j = 1; j < k; j++) most = of[j] > most ? of[j] : most;
  for (int j = 0; j < k; j++) sum += exp(of[j] - most);
  return most + log(sum);
}

static void fill_triangles(void) {
  for (int j = 0; j < k; j++) {
    height[j] = alpha[j];
    const double *column = l + j * below;
    for (int c = 0; c < d; c++) {
      triangle[(j * d + c) * d + c] = exp(q[j * d + c]);
      height[j] += q[j * d + c];
      for (int r = c + 1; r < d; r++) triangle[(j * d + r) * d + c] = *column++;
    }
  }
}

/* Fills `inner`, which becomes weights of components in the end; the sum of the logarithms of a block. */
static double likelihoods(int block) {
  int n_points = block + 1 < n_blocks ? BLOCK : n - block * BLOCK;
  for (int j = 0; j < k; j++) {
    lanes sum = {0};
    const double *restrict points = x + block * d * BLOCK;
    for (int a = 0; a < d; a++)
      for (int p = 0; p < BLOCK; p++) centred[j * d + a][p] = points[a * BLOCK + p] - mu[j * d + a];
    for (int r = 0; r < d; r++) {
      const double *restrict row = triangle + (j * d + r) * d;
      lanes image;
      for (int p = 0; p < BLOCK; p++) image[p] = row[r] * centred[j * d + r][p];
      for (int c = 0; c < r; c++)
        for (int p = 0; p < BLOCK; p++) image[p] += row[c] * centred[j * d + c][p];
      for (int p = 0; p < BLOCK; p++) {
        seen[j * d + r][p] = image[p];
        sum[p] += image[p] * image[p];
      }
    }
    for (int p = 0; p < BLOCK; p++) inner[j][p] = height[j] - 0.5 * sum[p];
  }
  lanes most, total = {0};
  memcpy(most, inner[0], sizeof most);
  for (int j = 1; j < k; j++)
    for (int p = 0; p < BLOCK; p++) most[p] = inner[j][p] > most[p] ? inner[j][p] : most[p];
  for (int j = 0; j < k; j++)
#pragma omp simd
    for (int p = 0; p < BLOCK; p++) {
      inner[j][p] = exp(inner[j][p] - most[p]);
      total[p] += inner[j][p];
    }
  double sum = 0;
  for (int p = 0; p < n_points; p++) sum += most[p] + log(total[p]);
  for (int p = 0; p < BLOCK; p++) total[p] = p < n_points ? 1 / total[p] : 0;
  for (int j = 0; j < k; j++)
    for (int p = 0; p < BLOCK; p++) inner[j][p] *= total[p];
  return sum;
}

static double sum_of(const double *restrict a) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int p = 0; p < BLOCK; p++) sum += a[p];
  return sum;
}
static double dot(const double *restrict a, const double *restrict b) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int p = 0; p < BLOCK; p++) sum += a[p] * b[p];
  return sum;
}

static void pull_back(void) {
  for (int j = 0; j < k; j++) {
    dalpha[j] += sum_of(inner[j]);
    for (int r = 0; r < d; r++)
      for (int p = 0; p < BLOCK; p++) {
        seen[j * d + r][p] *= inner[j][p];
        to[r][p] = 0;
      }
    for (int r = 0; r < d; r++) {
      const double *restrict row = triangle + (j * d + r) * d;
      double *restrict drow = dtriangle + (j * d + r) * d;
      for (int c = 0; c <= r; c++) {
        drow[c] -= dot(seen[j * d + r], centred[j * d + c]);
        for (int p = 0; p < BLOCK; p++) to[c][p] += row[c] * seen[j * d + r][p];
      }
    }
    for (int a = 0; a < d; a++) dmu[j * d + a] += sum_of(to[a]);
  }
}

/* All that does not depend on points. */
static double prior(void) {
  const double pi = 3.14159265358979323846;
  double squares = 0, sum = 0, df = d + m + 1;
  for (int i = 0; i < k * d; i++) {
    squares += exp(2 * q[i]);
    sum += q[i];
  }
  for (int i = 0; i < k * below; i++) squares += l[i] * l[i];
  double wishart = df * d * (log(gamma_) - 0.5 * log(2.0)) - 0.25 * d * (d - 1) * log(pi);
  for (int j = 1; j <= d; j++) wishart -= lgamma(0.5 * (df + 1 - j));
  return -0.5 * n * d * log(2 * pi) - n * log_sum_exp(alpha) + k * wishart - 0.5 * gamma_ * gamma_ * squares + m * sum;
}

static void objective(void) {
  fill_triangles();
  y = prior();
  for (int block = 0; block < n_blocks; block++) y += likelihoods(block);
}

static void jacobian(void) {
  fill_triangles();
  memset(dalpha, 0, (size_t)k * sizeof(double));
  memset(dmu, 0, (size_t)(k * d) * sizeof(double));
  memset(dtriangle, 0, (size_t)(k * d * d) * sizeof(double));
  for (int block = 0; block < n_blocks; block++) {
    likelihoods(block);
    pull_back();
  }
  double share = log_sum_exp(alpha), square = gamma_ * gamma_;
  for (int j = 0; j < k; j++) {
    double *column = dl + j * below;
    for (int c = 0; c < d; c++) {
      double corner = triangle[(j * d + c) * d + c];
      dq[j * d + c] = dalpha[j] + m + corner * (dtriangle[(j * d + c) * d + c] - square * corner);
      for (int r = c + 1; r < d; r++)
        *column++ = dtriangle[(j * d + r) * d + c] - square * triangle[(j * d + r) * d + c];
    }
    dalpha[j] -= n * exp(alpha[j] - share);
  }
}

static void answer_objective(void) { printf("%.17g", y); }
static void answer_jacobian(void) {
  printf("{\"alpha\":");
  print_row(dalpha, (size_t)k);
  printf(",\"mu\":");
  print_rows(dmu, (size_t)k, (size_t)d);
  printf(",\"q\":");
  print_rows(dq, (size_t)k, (size_t)d);
  printf(",\"l\":");
  print_rows(dl, (size_t)k, (size_t)below);
  printf("}");
}

SERVE({"objective", prepare, objective, answer_objective}, {"jacobian", prepare, jacobian, answer_jacobian})
