/* An angle moves only the bones of its finger, so a vertex has a derivative by it only through these. */
#include "tool.h"

enum { THETA = 26, FINGERS = 5, ANGLES = 20 };
typedef double matrix[16];

static int bones, n_vertices, n, complicated, mirrored;
static double *theta, *relatives, *inverses, *positions, *weights, *points, *us;
static int *parents, *triangles, *correspondences;
static double *vertices, *by_theta; /* [vertex][3], [vertex][3][26] */
static double *errors, *jacobian_, R[9], by_r[3][9];
static matrix *absolutes, *transforms;
static matrix (*dabsolutes)[ANGLES], (*dtransforms)[ANGLES]; /* by the angles; only those of the own finger are not 0 */
static char (*moves)[ANGLES];

static void prepare(const value *input) {
  const value *data = get(input, "data"), *model = get(data, "model");
  bones = (int)get(model, "parents")->n;
  n_vertices = (int)get(model, "base_positions")->n;
  n = (int)get(data, "correspondences")->n;
  complicated = get(input, "us")->n > 0;
  mirrored = int_of(model, "is_mirrored");
  copy_of(&theta, input, "theta");
  copy_of(&us, input, "us");
  copy_of(&relatives, model, "base_relatives");
  copy_of(&inverses, model, "inverse_base_absolutes");
  copy_of(&positions, model, "base_positions");
  copy_of(&weights, model, "weights");
  copy_of(&points, data, "points");
  ints_of(&parents, model, "parents");
  ints_of(&triangles, model, "triangles");
  ints_of(&correspondences, data, "correspondences");
  reserve((double **)&absolutes, (size_t)bones * 16);
  reserve((double **)&transforms, (size_t)bones * 16);
  reserve((double **)&dabsolutes, (size_t)bones * ANGLES * 16);
  reserve((double **)&dtransforms, (size_t)bones * ANGLES * 16);
  moves = grow(moves, (size_t)bones * sizeof *moves);
  reserve(&vertices, (size_t)n_vertices * 3);
  reserve(&errors, (size_t)n * 3);
}
static void prepare_jacobian(const value *input) {
  prepare(input);
  reserve(&by_theta, (size_t)n_vertices * 3 * THETA);
  reserve(&jacobian_, (size_t)n * 3 * (THETA + 2));
}

static inline void multiply(const double *restrict a, const double *restrict b, double *restrict to) {
  for (int r = 0; r < 4; r++) {
    double row[4] = {0};
    for (int k = 0; k < 4; k++)
      for (int c = 0; c < 4; c++) row[c] += a[4 * r + k] * b[4 * k + c];
    memcpy(to + 4 * r, row, sizeof row);
  }
}

/* Rz(z) Rx(x), and its derivatives; y is always 0. */
static void turn(double x, double z, double *to, double *by_x, double *by_z) {
  double sx = sin(x), cx = cos(x), sz = sin(z), cz = cos(z);
  memcpy(to, (matrix){cz, -cx * sz, sx * sz, 0, sz, cx * cz, -sx * cz, 0, 0, sx, cx, 0, 0, 0, 0, 1}, sizeof(matrix));
  memcpy(by_x, (matrix){0, sx * sz, cx * sz, 0, 0, -sx * cz, -cx * cz, 0, 0, cx, -sx, 0, 0, 0, 0, 0}, sizeof(matrix));
  memcpy(by_z, (matrix){-sz, -cx * cz, sx * cz, 0, cz, -cx * sz, sx * sz, 0, 0, 0, 0, 0, 0, 0, 0, 0}, sizeof(matrix));
}

static void move_bones(int derive) {
  memset(moves, 0, (size_t)bones * sizeof *moves);
  for (int bone = 0; bone < bones; bone++) {
    int joint = bone < 2 ? 3 : (bone - 2) % 4, first = bone < 2 ? 0 : 4 * ((bone - 2) / 4);
    int by_x = joint == 3 ? -1 : joint == 0 ? first : first + 1 + joint, by_z = joint == 0 ? first + 1 : -1;
    matrix turned, dx, dz, relative, drelative;
    turn(by_x < 0 ? 0 : theta[6 + by_x], by_z < 0 ? 0 : theta[6 + by_z], turned, dx, dz);
    multiply(relatives + 16 * bone, turned, relative);
    int parent = parents[bone];
    if (parent < 0) memcpy(absolutes[bone], relative, sizeof relative);
    else multiply(absolutes[parent], relative, absolutes[bone]);
    multiply(absolutes[bone], inverses + 16 * bone, transforms[bone]);
    if (!derive) continue;
    for (int angle = 0; angle < ANGLES; angle++) {
      int own = angle == by_x || angle == by_z;
      if (!own && (parent < 0 || !moves[parent][angle])) continue;
      moves[bone][angle] = 1;
      if (own) {
        multiply(relatives + 16 * bone, angle == by_x ? dx : dz, drelative);
        if (parent < 0) memcpy(dabsolutes[bone][angle], drelative, sizeof drelative);
        else multiply(absolutes[parent], drelative, dabsolutes[bone][angle]);
      } else
        multiply(dabsolutes[parent][angle], relative, dabsolutes[bone][angle]);
      multiply(dabsolutes[bone][angle], inverses + 16 * bone, dtransforms[bone][angle]);
    }
  }
}

/* The rotation of the hand, and its derivatives by the three numbers of its axis. */
static void turn_hand(void) {
  double angle = sqrt(theta[0] * theta[0] + theta[1] * theta[1] + theta[2] * theta[2]);
  memset(by_r, 0, sizeof by_r);
  if (angle < 1e-4) {
    memcpy(R, (double[9]){1, 0, 0, 0, 1, 0, 0, 0, 1}, sizeof R);
    return;
  }
  double c = cos(angle), s = sin(angle), a[3] = {theta[0] / angle, theta[1] / angle, theta[2] / angle};
  double crossed[9] = {0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0};
  for (int i = 0; i < 9; i++) R[i] = (1 - c) * a[i / 3] * a[i % 3] + (i % 4 == 0) * c + s * crossed[i];
  for (int j = 0; j < 3; j++) {
    double e[3] = {((j == 0) - a[j] * a[0]) / angle, ((j == 1) - a[j] * a[1]) / angle, ((j == 2) - a[j] * a[2]) / angle};
    double ecrossed[9] = {0, -e[2], e[1], e[2], 0, -e[0], -e[1], e[0], 0};
    for (int i = 0; i < 9; i++) {
      double aa = a[i / 3] * a[i % 3], daa = e[i / 3] * a[i % 3] + a[i / 3] * e[i % 3];
      by_r[j][i] = a[j] * (s * aa - (i % 4 == 0) * s + c * crossed[i]) + (1 - c) * daa + s * ecrossed[i];
    }
  }
}

static inline void place(const double *M, const double *at, double weight, double *restrict to) {
  for (int r = 0; r < 3; r++)
    to[r] += weight * (M[4 * r] * at[0] + M[4 * r + 1] * at[1] + M[4 * r + 2] * at[2] + M[4 * r + 3] * at[3]);
}
static inline void rotate(const double *R, const double *v, double *restrict to, int stride) {
  for (int r = 0; r < 3; r++) to[r * stride] = R[3 * r] * v[0] + R[3 * r + 1] * v[1] + R[3 * r + 2] * v[2];
}

static void pose(int derive) {
  move_bones(derive);
  turn_hand();
  double sign = mirrored ? -1 : 1;
  for (int vertex = 0; vertex < n_vertices; vertex++) {
    const double *at = positions + 4 * vertex, *weight = weights + vertex * bones;
    double v[3] = {0}, dv[ANGLES][3] = {{0}};
    for (int bone = 0; bone < bones; bone++) {
      if (weight[bone] == 0) continue;
      place(transforms[bone], at, weight[bone], v);
      for (int angle = 0; derive && angle < ANGLES; angle++)
        if (moves[bone][angle]) place(dtransforms[bone][angle], at, weight[bone], dv[angle]);
    }
    v[0] *= sign;
    double *to = vertices + 3 * vertex;
    rotate(R, v, to, 1);
    for (int r = 0; r < 3; r++) to[r] += theta[3 + r];
    if (!derive) continue;
    double *by = by_theta + vertex * 3 * THETA;
    for (int j = 0; j < 3; j++) {
      rotate(by_r[j], v, by + j, THETA);
      for (int r = 0; r < 3; r++) by[r * THETA + 3 + j] = r == j;
    }
    for (int angle = 0; angle < ANGLES; angle++) {
      dv[angle][0] *= sign;
      rotate(R, dv[angle], by + 6 + angle, THETA);
    }
  }
}

static void objective(void) {
  pose(0);
  for (int i = 0; i < n; i++) {
    const int *corner = triangles + 3 * correspondences[i];
    const double *simple = vertices + 3 * correspondences[i], *u = us + 2 * i;
    for (int r = 0; r < 3; r++)
      errors[3 * i + r] = points[3 * i + r] -
                          (complicated ? u[0] * vertices[3 * corner[0] + r] + u[1] * vertices[3 * corner[1] + r] +
                                             (1 - u[0] - u[1]) * vertices[3 * corner[2] + r]
                                       : simple[r]);
  }
}

static void jacobian(void) {
  pose(1);
  double *restrict to = jacobian_;
  for (int i = 0; i < n; i++) {
    if (!complicated) {
      const double *by = by_theta + correspondences[i] * 3 * THETA;
      for (int e = 0; e < 3 * THETA; e++) *to++ = -by[e];
      continue;
    }
    const int *corner = triangles + 3 * correspondences[i];
    double u = us[2 * i], w = us[2 * i + 1], rest = 1 - u - w;
    for (int r = 0; r < 3; r++, to += THETA + 2) {
      const double *restrict a = by_theta + (corner[0] * 3 + r) * THETA, *restrict b = by_theta + (corner[1] * 3 + r) * THETA;
      const double *restrict c = by_theta + (corner[2] * 3 + r) * THETA;
      to[0] = vertices[3 * corner[2] + r] - vertices[3 * corner[0] + r];
      to[1] = vertices[3 * corner[2] + r] - vertices[3 * corner[1] + r];
      for (int e = 0; e < THETA; e++) to[2 + e] = -(u * a[e] + w * b[e] + rest * c[e]);
    }
  }
}

static void answer_objective(void) { print_row(errors, (size_t)n * 3); }
static void answer_jacobian(void) { print_rows(jacobian_, (size_t)n * 3, THETA + (complicated ? 2 : 0)); }

SERVE({"objective", prepare, objective, answer_objective}, {"jacobian", prepare_jacobian, jacobian, answer_jacobian})
