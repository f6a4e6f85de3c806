/* Derivatives of the projection are written out, a block of 2 x 15 for each observation. */
#include "tool.h"

static int n, m, p;
static double *cam, *x, *feat, *cams, *xs, *ws, *feats, *reproj, *w_err, *vals;
static int *rows, *cols;

static void repeat(double **to, const double *of, int width, int times) {
  reserve(to, (size_t)width * (size_t)times);
  for (int i = 0; i < times; i++) memcpy(*to + (size_t)i * (size_t)width, of, (size_t)width * sizeof(double));
}

static void prepare(const value *input) {
  n = int_of(input, "n"), m = int_of(input, "m"), p = int_of(input, "p");
  double w = number_of(input, "w", 0);
  repeat(&cams, copy_of(&cam, input, "cam"), 11, n);
  repeat(&xs, copy_of(&x, input, "x"), 3, m);
  repeat(&ws, &w, 1, p);
  repeat(&feats, copy_of(&feat, input, "feat"), 2, p);
}
static void prepare_objective(const value *input) {
  prepare(input);
  reserve(&reproj, 2 * (size_t)p);
  reserve(&w_err, (size_t)p);
}
static void prepare_jacobian(const value *input) {
  prepare(input);
  reserve(&vals, 31 * (size_t)p);
  rows = grow(rows, (3 * (size_t)p + 1) * sizeof(int));
  cols = grow(cols, 31 * (size_t)p * sizeof(int));
}

static inline void cross(const double *a, const double *b, double *to) {
  to[0] = a[1] * b[2] - a[2] * b[1];
  to[1] = a[2] * b[0] - a[0] * b[2];
  to[2] = a[0] * b[1] - a[1] * b[0];
}
static inline double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* P rotated by r and, if `R` is given, its derivatives by P and by r. */
static inline void rotate(const double *r, const double *P, double *to, double R[3][3], double by_r[3][3]) {
  double square = dot(r, r);
  if (square == 0) {
    cross(r, P, to);
    for (int i = 0; i < 3; i++) to[i] += P[i];
    if (!R) return;
    for (int j = 0; j < 3; j++) {
      double unit[3] = {j == 0, j == 1, j == 2}, turned[3];
      cross(unit, P, turned);
      for (int i = 0; i < 3; i++) {
        R[i][j] = i == j;
        by_r[i][j] = turned[i];
      }
    }
    return;
  }
  double angle = sqrt(square), c = cos(angle), s = sin(angle), inverse = 1 / angle;
  double u[3] = {r[0] * inverse, r[1] * inverse, r[2] * inverse}, uP[3];
  cross(u, P, uP);
  double along = dot(u, P);
  for (int i = 0; i < 3; i++) to[i] = c * P[i] + s * uP[i] + (1 - c) * along * u[i];
  if (!R) return;
  double crossed[3][3] = {{0, -u[2], u[1]}, {u[2], 0, -u[0]}, {-u[1], u[0], 0}};
  for (int j = 0; j < 3; j++) {
    double e[3] = {(j == 0) - u[j] * u[0], (j == 1) - u[j] * u[1], (j == 2) - u[j] * u[2]}, eP[3];
    cross(e, P, eP);
    double side = dot(e, P);
    for (int i = 0; i < 3; i++) {
      R[i][j] = (i == j) * c + s * crossed[i][j] + (1 - c) * u[i] * u[j];
      by_r[i][j] = u[j] * (c * uP[i] - s * P[i] + s * along * u[i]) +
                   inverse * (s * eP[i] + (1 - c) * (side * u[i] + along * e[i]));
    }
  }
}

static void objective(void) {
  for (int i = 0; i < p; i++) {
    const double *cam = cams + 11 * (i % n), *x = xs + 3 * (i % m), *feat = feats + 2 * i;
    double P[3] = {x[0] - cam[3], x[1] - cam[4], x[2] - cam[5]}, Q[3];
    rotate(cam, P, Q, NULL, NULL);
    double e0 = Q[0] / Q[2], e1 = Q[1] / Q[2], s = e0 * e0 + e1 * e1, L = 1 + s * (cam[9] + cam[10] * s);
    reproj[2 * i] = ws[i] * (cam[6] * e0 * L + cam[7] - feat[0]);
    reproj[2 * i + 1] = ws[i] * (cam[6] * e1 * L + cam[8] - feat[1]);
    w_err[i] = 1 - ws[i] * ws[i];
  }
}

static void block_of(const double *cam, const double *x, double w, const double *feat, double *restrict to) {
  double P[3] = {x[0] - cam[3], x[1] - cam[4], x[2] - cam[5]}, Q[3], R[3][3], by_r[3][3];
  rotate(cam, P, Q, R, by_r);
  double inverse = 1 / Q[2], e[2] = {Q[0] * inverse, Q[1] * inverse}, s = e[0] * e[0] + e[1] * e[1];
  double f = cam[6], L = 1 + s * (cam[9] + cam[10] * s), dL = cam[9] + 2 * cam[10] * s;
  for (int a = 0; a < 2; a++, to += 15) {
    /* By Q: the derivative of f L e[a], where e = Q / Q[2]. */
    double by_e[2] = {f * 2 * dL * e[0] * e[a], f * 2 * dL * e[1] * e[a]}, by_Q[3];
    by_e[a] += f * L;
    by_Q[0] = w * inverse * by_e[0];
    by_Q[1] = w * inverse * by_e[1];
    by_Q[2] = -(by_Q[0] * e[0] + by_Q[1] * e[1]);
    for (int j = 0; j < 3; j++) {
      double by_P = by_Q[0] * R[0][j] + by_Q[1] * R[1][j] + by_Q[2] * R[2][j];
      to[j] = by_Q[0] * by_r[0][j] + by_Q[1] * by_r[1][j] + by_Q[2] * by_r[2][j];
      to[3 + j] = -by_P;
      to[11 + j] = by_P;
    }
    to[6] = w * L * e[a];
    to[7] = a == 0 ? w : 0;
    to[8] = a == 1 ? w : 0;
    to[9] = w * f * s * e[a];
    to[10] = w * f * s * s * e[a];
    to[14] = f * L * e[a] + cam[7 + a] - feat[a];
  }
}

static void jacobian(void) {
  int *row = rows, *col = cols, at = 0;
  *row++ = 0;
  for (int i = 0; i < p; i++) {
    block_of(cams + 11 * (i % n), xs + 3 * (i % m), ws[i], feats + 2 * i, vals + 30 * (size_t)i);
    for (int a = 0; a < 2; a++) {
      for (int c = 0; c < 11; c++) *col++ = 11 * (i % n) + c;
      for (int c = 0; c < 3; c++) *col++ = 11 * n + 3 * (i % m) + c;
      *col++ = 11 * n + 3 * m + i;
      *row++ = at += 15;
    }
  }
  for (int i = 0; i < p; i++) {
    vals[30 * (size_t)p + (size_t)i] = -2 * ws[i];
    *col++ = 11 * n + 3 * m + i;
    *row++ = ++at;
  }
}

static void answer_objective(void) {
  printf("{\"reproj_error\":{\"elements\":");
  print_row(reproj, 2);
  printf(",\"repeated\":%d},\"w_err\":{\"element\":%.17g,\"repeated\":%d}}", p, w_err[0], p);
}

/* The first 30 and the last. */
static void excerpt(const char *name, const int *ints, const double *numbers, size_t size) {
  size_t most = size < 30 ? size : 30;
  int some[31];
  double others[31];
  for (size_t i = 0; i <= most; i++) {
    size_t from = i < most ? i : size - 1;
    if (ints) some[i] = ints[from];
    else others[i] = numbers[from];
  }
  printf("\"%s\":", name);
  if (ints) print_ints(some, most + 1);
  else print_row(others, most + 1);
}

static void answer_jacobian(void) {
  putchar('{');
  excerpt("rows", rows, NULL, 3 * (size_t)p + 1);
  putchar(',');
  excerpt("cols", cols, NULL, 31 * (size_t)p);
  putchar(',');
  excerpt("vals", NULL, vals, 31 * (size_t)p);
  putchar('}');
}

SERVE({"objective", prepare_objective, objective, answer_objective}, {"jacobian", prepare_jacobian, jacobian, answer_jacobian})
