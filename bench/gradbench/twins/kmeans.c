/* Centroids are stored by dimension, so that the distances of one point to all of them are vectors. */
#include "tool.h"

static double *points, *centroids, *by_dimension, *distances, *first, *dir, y;
static int *counts, n, k, d;

static void prepare(const value *input) {
  copy_of(&points, input, "points");
  copy_of(&centroids, input, "centroids");
  n = (int)get(input, "points")->n;
  k = (int)get(input, "centroids")->n;
  d = k ? (int)(get(input, "centroids")->n_numbers / (size_t)k) : 0;
  reserve(&by_dimension, (size_t)(k * d));
  reserve(&distances, (size_t)k);
  reserve(&first, (size_t)(k * d));
  reserve(&dir, (size_t)(k * d));
  counts = grow(counts, (size_t)k * sizeof(int));
}

static void turn_around(void) {
  for (int j = 0; j < k; j++)
    for (int a = 0; a < d; a++) by_dimension[a * k + j] = centroids[j * d + a];
}

static void distances_of(const double *restrict point, double *restrict to) {
  for (int j = 0; j < k; j++) {
    double e = by_dimension[j] - point[0];
    to[j] = e * e;
  }
  int a = 1;
  for (; a + 3 < d; a += 4) {
    const double *restrict c = by_dimension + a * k;
    for (int j = 0; j < k; j++) {
      double e = c[j] - point[a], f = c[k + j] - point[a + 1], g = c[2 * k + j] - point[a + 2], h = c[3 * k + j] - point[a + 3];
      to[j] += (e * e + f * f) + (g * g + h * h);
    }
  }
  for (; a < d; a++)
    for (int j = 0; j < k; j++) {
      double e = by_dimension[a * k + j] - point[a];
      to[j] += e * e;
    }
}

static double smallest(const double *restrict of) {
  double least = of[0];
  for (int j = 1; j < k; j++) least = of[j] < least ? of[j] : least;
  return least;
}

static void cost(void) {
  turn_around();
  double total = 0;
  for (int i = 0; i < n; i++) {
    distances_of(points + i * d, distances);
    total += smallest(distances);
  }
  y = total;
}

/* The gradient, 2 (c - p) summed over the points of a centroid, divided by the diagonal of the Hessian, 2 for each. */
static void direction(void) {
  turn_around();
  memset(first, 0, (size_t)(k * d) * sizeof *first);
  memset(counts, 0, (size_t)k * sizeof *counts);
  for (int i = 0; i < n; i++) {
    distances_of(points + i * d, distances);
    double least = smallest(distances);
    int nearest = 0;
    while (distances[nearest] != least) nearest++;
    counts[nearest]++;
    for (int a = 0; a < d; a++) first[nearest * d + a] += 2 * (centroids[nearest * d + a] - points[i * d + a]);
  }
  for (int j = 0; j < k; j++)
    for (int a = 0; a < d; a++) dir[j * d + a] = first[j * d + a] / (2.0 * counts[j]);
}

static void answer_cost(void) { printf("%.17g", y); }
static void answer_dir(void) { print_rows(dir, (size_t)k, (size_t)d); }

SERVE({"cost", prepare, cost, answer_cost}, {"dir", prepare, direction, answer_dir})
