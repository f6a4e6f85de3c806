/* Products of matrices of numbers of type NUM.
 *
 * Each element is the sum of its terms from left to right: the first is a product, all others are added with one rounding. The
 * loops run over tiles of the result, whose sums stay in registers; the tiling does not affect the bits. */
#ifndef EDDY_RT_PRODUCT_NUM
#define EDDY_RT_PRODUCT_NUM

/* A tile of `rows` rows and `vectors` vectors; both are constants. Finally adds the array at `plus`, if that is not null. */
EDDY_INLINE void eddy_tileSUFFIX(size_t rows, size_t vectors, size_t inner, const NUM *a, size_t a_row, size_t a_term,
                                 const NUM *b, size_t b_term, NUM *c, size_t c_row, const NUM *plus, size_t plus_row) {
  EddyVectorSUFFIX sum[8][8];
#pragma GCC unroll 8
  for (size_t i = 0; i < rows; i++) {
    const EddyVectorSUFFIX x = eddy_vector_allSUFFIX(a[i * a_row]);
#pragma GCC unroll 8
    for (size_t j = 0; j < vectors; j++)
      sum[i][j] = eddy_vector_mulSUFFIX(x, eddy_vector_loadSUFFIX(b + j * EDDY_LANES_NUM));
  }
  for (size_t k = 1; k < inner; k++) {
    EddyVectorSUFFIX y[8];
#pragma GCC unroll 8
    for (size_t j = 0; j < vectors; j++) y[j] = eddy_vector_loadSUFFIX(b + k * b_term + j * EDDY_LANES_NUM);
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++) {
      const EddyVectorSUFFIX x = eddy_vector_allSUFFIX(a[i * a_row + k * a_term]);
#pragma GCC unroll 8
      for (size_t j = 0; j < vectors; j++) sum[i][j] = eddy_vector_fmaSUFFIX(x, y[j], sum[i][j]);
    }
  }
  if (plus != 0) {
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 8
      for (size_t j = 0; j < vectors; j++)
        sum[i][j] = eddy_vector_addSUFFIX(eddy_vector_loadSUFFIX(plus + i * plus_row + j * EDDY_LANES_NUM), sum[i][j]);
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 8
    for (size_t j = 0; j < vectors; j++) eddy_vector_storeSUFFIX(c + i * c_row + j * EDDY_LANES_NUM, sum[i][j]);
}

/* A tile of `rows` rows and the first `part` numbers of a vector. */
EDDY_INLINE void eddy_tile_partSUFFIX(size_t rows, size_t part, size_t inner, const NUM *a, size_t a_row, size_t a_term, const NUM *b,
                                      size_t b_term, NUM *c, size_t c_row, const NUM *plus, size_t plus_row) {
  EddyVectorSUFFIX sum[8];
  const EddyVectorSUFFIX first = eddy_vector_load_partSUFFIX(b, part);
#pragma GCC unroll 8
  for (size_t i = 0; i < rows; i++) sum[i] = eddy_vector_mulSUFFIX(eddy_vector_allSUFFIX(a[i * a_row]), first);
  for (size_t k = 1; k < inner; k++) {
    const EddyVectorSUFFIX y = eddy_vector_load_partSUFFIX(b + k * b_term, part);
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++)
      sum[i] = eddy_vector_fmaSUFFIX(eddy_vector_allSUFFIX(a[i * a_row + k * a_term]), y, sum[i]);
  }
  if (plus != 0) {
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++)
      sum[i] = eddy_vector_addSUFFIX(eddy_vector_load_partSUFFIX(plus + i * plus_row, part), sum[i]);
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < rows; i++) eddy_vector_store_partSUFFIX(c + i * c_row, sum[i], part);
}

/* Some rows of the result, at most 8; the rows of b and of c are contiguous. Uses as many sums as there are registers,
 * minus three for b and one for a. */
EDDY_INLINE void eddy_rowsSUFFIX(size_t rows, size_t inner, size_t columns, const NUM *a, size_t a_row, size_t a_term,
                                 const NUM *b, size_t b_term, NUM *c, size_t c_row, const NUM *plus, size_t plus_row) {
  const size_t most = rows == 1 ? 8 : 3;
  size_t j = 0;
  for (; j + most * EDDY_LANES_NUM <= columns; j += most * EDDY_LANES_NUM)
    eddy_tileSUFFIX(rows, most, inner, a, a_row, a_term, b + j, b_term, c + j, c_row, plus == 0 ? 0 : plus + j, plus_row);
  if (most == 8 && j + 4 * EDDY_LANES_NUM <= columns) {
    eddy_tileSUFFIX(rows, 4, inner, a, a_row, a_term, b + j, b_term, c + j, c_row, plus == 0 ? 0 : plus + j, plus_row);
    j += 4 * EDDY_LANES_NUM;
  }
  if (j + 2 * EDDY_LANES_NUM <= columns) {
    eddy_tileSUFFIX(rows, 2, inner, a, a_row, a_term, b + j, b_term, c + j, c_row, plus == 0 ? 0 : plus + j, plus_row);
    j += 2 * EDDY_LANES_NUM;
  }
  if (j + EDDY_LANES_NUM <= columns) {
    eddy_tileSUFFIX(rows, 1, inner, a, a_row, a_term, b + j, b_term, c + j, c_row, plus == 0 ? 0 : plus + j, plus_row);
    j += EDDY_LANES_NUM;
  }
  if (j < columns) eddy_tile_partSUFFIX(rows, columns - j, inner, a, a_row, a_term, b + j, b_term, c + j, c_row, plus == 0 ? 0 : plus + j, plus_row);
}

/* The sum of each row, from left to right; there is at least one term. Computes eight sums in parallel, since each waits for its last term. */
EDDY_INLINE void eddy_row_sumsSUFFIX(size_t rows, size_t terms, const NUM *x, size_t x_row, size_t x_term, NUM *c) {
  const size_t rest = rows % 8;
  for (size_t i = 0; i < rows - rest; i += 8) {
    NUM sum[8];
#pragma GCC unroll 8
    for (size_t r = 0; r < 8; r++) sum[r] = x[(i + r) * x_row];
    for (size_t k = 1; k < terms; k++)
#pragma GCC unroll 8
      for (size_t r = 0; r < 8; r++) sum[r] += x[(i + r) * x_row + k * x_term];
#pragma GCC unroll 8
    for (size_t r = 0; r < 8; r++) c[i + r] = sum[r];
  }
  for (size_t i = rows - rest; i < rows; i++) {
    NUM sum = x[i * x_row];
    for (size_t k = 1; k < terms; k++) sum += x[i * x_row + k * x_term];
    c[i] = sum;
  }
}

/* Copies a matrix to row-major order. */
EDDY_INLINE void eddy_packSUFFIX(size_t rows, size_t columns, const NUM *b, size_t b_row, size_t b_column, NUM *c) {
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < columns; j++) c[i * columns + j] = b[i * b_row + j * b_column];
}

/* c = plus + a b, where inner is not 0; without plus if that is null. The result may alias plus. */
EDDY_INLINE void eddy_matmul_plusSUFFIX(size_t rows, size_t inner, size_t columns, const NUM *a, size_t a_row, size_t a_term, const NUM *b,
                                         size_t b_term, NUM *c, size_t c_row, const NUM *plus, size_t plus_row) {
  const size_t tiled = rows - rows % EDDY_TILE_ROWS_NUM, rest = (rows - tiled) % 4;
  for (size_t i = 0; i < tiled; i += EDDY_TILE_ROWS_NUM)
    eddy_rowsSUFFIX(EDDY_TILE_ROWS_NUM, inner, columns, a + i * a_row, a_row, a_term, b, b_term, c + i * c_row, c_row,
                    plus == 0 ? 0 : plus + i * plus_row, plus_row);
  for (size_t i = tiled; i < rows - rest; i += 4)
    eddy_rowsSUFFIX(4, inner, columns, a + i * a_row, a_row, a_term, b, b_term, c + i * c_row, c_row, plus == 0 ? 0 : plus + i * plus_row,
                    plus_row);
  for (size_t i = rows - rest; i < rows; i++)
    eddy_rowsSUFFIX(1, inner, columns, a + i * a_row, a_row, a_term, b, b_term, c + i * c_row, c_row, plus == 0 ? 0 : plus + i * plus_row,
                    plus_row);
}

/* c = a b, where inner is not 0. */
EDDY_INLINE void eddy_matmulSUFFIX(size_t rows, size_t inner, size_t columns, const NUM *a, size_t a_row, size_t a_term,
                                    const NUM *b, size_t b_term, NUM *c, size_t c_row) {
  eddy_matmul_plusSUFFIX(rows, inner, columns, a, a_row, a_term, b, b_term, c, c_row, 0, 0);
}

/* A tile of sums of outer products; rows and vectors are constants. */
EDDY_INLINE void eddy_outer_tileSUFFIX(size_t rows, size_t vectors, size_t terms, const NUM *x, ptrdiff_t x_term, const NUM *y,
                                       ptrdiff_t y_term, NUM *c, size_t c_row) {
  EddyVectorSUFFIX sum[4][4];
#pragma GCC unroll 4
  for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 4
    for (size_t j = 0; j < vectors; j++) sum[i][j] = eddy_vector_loadSUFFIX(c + i * c_row + j * EDDY_LANES_NUM);
  for (size_t k = 0; k < terms; k++) {
    EddyVectorSUFFIX v[4];
#pragma GCC unroll 4
    for (size_t j = 0; j < vectors; j++) v[j] = eddy_vector_loadSUFFIX(y + (ptrdiff_t)k * y_term + j * EDDY_LANES_NUM);
#pragma GCC unroll 4
    for (size_t i = 0; i < rows; i++) {
      const EddyVectorSUFFIX u = eddy_vector_allSUFFIX(x[(ptrdiff_t)k * x_term + (ptrdiff_t)i]);
#pragma GCC unroll 4
      for (size_t j = 0; j < vectors; j++) sum[i][j] = eddy_vector_addSUFFIX(sum[i][j], eddy_vector_mulSUFFIX(u, v[j]));
    }
  }
#pragma GCC unroll 4
  for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 4
    for (size_t j = 0; j < vectors; j++) eddy_vector_storeSUFFIX(c + i * c_row + j * EDDY_LANES_NUM, sum[i][j]);
}

/* The same for the first `part` numbers of a vector. */
EDDY_INLINE void eddy_outer_partSUFFIX(size_t rows, size_t part, size_t terms, const NUM *x, ptrdiff_t x_term, const NUM *y,
                                       ptrdiff_t y_term, NUM *c, size_t c_row) {
  EddyVectorSUFFIX sum[4];
#pragma GCC unroll 4
  for (size_t i = 0; i < rows; i++) sum[i] = eddy_vector_load_partSUFFIX(c + i * c_row, part);
  for (size_t k = 0; k < terms; k++) {
    const EddyVectorSUFFIX v = eddy_vector_load_partSUFFIX(y + (ptrdiff_t)k * y_term, part);
#pragma GCC unroll 4
    for (size_t i = 0; i < rows; i++) {
      const EddyVectorSUFFIX u = eddy_vector_allSUFFIX(x[(ptrdiff_t)k * x_term + (ptrdiff_t)i]);
      sum[i] = eddy_vector_addSUFFIX(sum[i], eddy_vector_mulSUFFIX(u, v));
    }
  }
#pragma GCC unroll 4
  for (size_t i = 0; i < rows; i++) eddy_vector_store_partSUFFIX(c + i * c_row, sum[i], part);
}

/* Some rows of sums of outer products, at most 4. */
EDDY_INLINE void eddy_outer_rowsSUFFIX(size_t rows, size_t columns, size_t terms, const NUM *x, ptrdiff_t x_term, const NUM *y,
                                       ptrdiff_t y_term, NUM *c) {
  size_t j = 0;
  for (; j + 4 * EDDY_LANES_NUM <= columns; j += 4 * EDDY_LANES_NUM)
    eddy_outer_tileSUFFIX(rows, 4, terms, x, x_term, y + j, y_term, c + j, columns);
  if (j + 2 * EDDY_LANES_NUM <= columns) {
    eddy_outer_tileSUFFIX(rows, 2, terms, x, x_term, y + j, y_term, c + j, columns);
    j += 2 * EDDY_LANES_NUM;
  }
  if (j + EDDY_LANES_NUM <= columns) {
    eddy_outer_tileSUFFIX(rows, 1, terms, x, x_term, y + j, y_term, c + j, columns);
    j += EDDY_LANES_NUM;
  }
  if (j < columns) eddy_outer_partSUFFIX(rows, columns - j, terms, x, x_term, y + j, y_term, c + j, columns);
}

/* c = c + x y' for each of some vectors x and y, one after the other: each product is rounded, then added. */
EDDY_INLINE void eddy_outer_sumsSUFFIX(size_t rows, size_t columns, size_t terms, const NUM *x, ptrdiff_t x_term, const NUM *y,
                                       ptrdiff_t y_term, NUM *c) {
  const size_t rest = rows % 4;
  for (size_t i = 0; i < rows - rest; i += 4)
    eddy_outer_rowsSUFFIX(4, columns, terms, x + i, x_term, y, y_term, c + i * columns);
  for (size_t i = rows - rest; i < rows; i++)
    eddy_outer_rowsSUFFIX(1, columns, terms, x + i, x_term, y, y_term, c + i * columns);
}

#endif
