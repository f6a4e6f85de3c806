/* C += A · B, the one product of matrices of all twins: tiles of 8 rows and 2 vectors stay in registers.
 *
 * A has any strides, so that it may be a transposed matrix; rows of B and C are contiguous. Edges that do not fill a tile
 * are done by plain loops. */
#ifndef PRODUCT_H
#define PRODUCT_H
#include "twin.h"

enum { LANES = 64 / sizeof(real), ROWS = 8, COLUMNS = 2 * LANES, DEPTH = 256 };
typedef real vector __attribute__((vector_size(64), aligned(sizeof(real))));

static inline void tile(int depth, const real *a, ptrdiff_t row, ptrdiff_t column, const real *b, ptrdiff_t ldb, real *c,
                        ptrdiff_t ldc) {
  vector sum[ROWS][2];
#pragma GCC unroll 8
  for (int i = 0; i < ROWS; i++) {
    sum[i][0] = *(const vector *)(c + i * ldc);
    sum[i][1] = *(const vector *)(c + i * ldc + LANES);
  }
  for (int k = 0; k < depth; k++) {
    vector left = *(const vector *)(b + k * ldb), right = *(const vector *)(b + k * ldb + LANES);
#pragma GCC unroll 8
    for (int i = 0; i < ROWS; i++) {
      real by = a[i * row + k * column];
      sum[i][0] += left * by;
      sum[i][1] += right * by;
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < ROWS; i++) {
    *(vector *)(c + i * ldc) = sum[i][0];
    *(vector *)(c + i * ldc + LANES) = sum[i][1];
  }
}

static inline void edge(int rows, int columns, int depth, const real *a, ptrdiff_t row, ptrdiff_t column, const real *b,
                        ptrdiff_t ldb, real *c, ptrdiff_t ldc) {
  for (int i = 0; i < rows; i++)
    for (int k = 0; k < depth; k++) {
      real by = a[i * row + k * column];
      for (int j = 0; j < columns; j++) c[i * ldc + j] += by * b[k * ldb + j];
    }
}

static inline void product(int rows, int columns, int depth, const real *a, ptrdiff_t row, ptrdiff_t column, const real *b,
                           ptrdiff_t ldb, real *c, ptrdiff_t ldc) {
  int whole_rows = rows - rows % ROWS, whole_columns = columns - columns % COLUMNS;
  for (int k = 0; k < depth; k += DEPTH) {
    int deep = depth - k < DEPTH ? depth - k : DEPTH;
    const real *ak = a + k * column, *bk = b + k * ldb;
    for (int j = 0; j < whole_columns; j += COLUMNS)
      for (int i = 0; i < whole_rows; i += ROWS)
        tile(deep, ak + i * row, row, column, bk + j, ldb, c + i * ldc + j, ldc);
    edge(whole_rows, columns - whole_columns, deep, ak, row, column, bk + whole_columns, ldb, c + whole_columns, ldc);
    edge(rows - whole_rows, columns, deep, ak + whole_rows * row, row, column, bk, ldb, c + whole_rows * ldc, ldc);
  }
}

/* to += Σ by[i] · rows[i]: a vector times a matrix, 8 vectors of the result at a time in registers. */
static inline void add_rows(int n_rows, int columns, const real *restrict by, const real *restrict rows, ptrdiff_t ld,
                            real *restrict to) {
  enum { WIDE = 8 * LANES };
  int j = 0;
  for (; j + WIDE <= columns; j += WIDE) {
    vector sum[8];
#pragma GCC unroll 8
    for (int v = 0; v < 8; v++) sum[v] = *(const vector *)(to + j + v * LANES);
    for (int i = 0; i < n_rows; i++)
#pragma GCC unroll 8
      for (int v = 0; v < 8; v++) sum[v] += *(const vector *)(rows + i * ld + j + v * LANES) * by[i];
#pragma GCC unroll 8
    for (int v = 0; v < 8; v++) *(vector *)(to + j + v * LANES) = sum[v];
  }
  edge(1, columns - j, n_rows, by, 0, 1, rows + j, ld, to + j, 0);
}
#endif
