/* Sums of products of numbers of type NUM, in each stream of a batch.
 *
 * The values of an element in all streams are contiguous, so a vector is one element in several streams. Each sum runs over its
 * terms in order and starts with -0, so that the first term is a product; terms are added with one rounding. The loops run over
 * tiles of sums, which stay in registers. */
#ifndef EDDY_RT_EACH_NUM
#define EDDY_RT_EACH_NUM

/* The number of rows of a tile with four columns that fits into registers. */
#define EDDY_EACH_ROWS_NUM (EDDY_TILE_ROWS_NUM / 2)

/* An element in the next n streams, at most a vector of them; a shared operand is the same in all. */
EDDY_INLINE EddyVectorSUFFIX eddy_each_loadSUFFIX(size_t n, const NUM *p, ptrdiff_t stream) {
  if (stream == 0) return eddy_vector_allSUFFIX(*p);
  return n == EDDY_LANES_NUM ? eddy_vector_loadSUFFIX(p) : eddy_vector_load_partSUFFIX(p, n);
}

/* A tile of `rows` rows and `columns` columns, which are constants and at most 4, in the next n streams. */
EDDY_INLINE void eddy_each_tileSUFFIX(size_t n, ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, const NUM *a,
                                      ptrdiff_t a_row, ptrdiff_t a0, ptrdiff_t a1, ptrdiff_t a2, ptrdiff_t a_stream, const NUM *b,
                                      ptrdiff_t b_column, ptrdiff_t b0, ptrdiff_t b1, ptrdiff_t b2, ptrdiff_t b_stream, NUM *c,
                                      ptrdiff_t c_row, ptrdiff_t c_column) {
  EddyVectorSUFFIX sum[4][4];
#pragma GCC unroll 4
  for (ptrdiff_t i = 0; i < rows; i++)
#pragma GCC unroll 4
    for (ptrdiff_t j = 0; j < columns; j++) sum[i][j] = eddy_vector_allSUFFIX((NUM)-0.0);
  for (ptrdiff_t t0 = 0; t0 < n0; t0++)
    for (ptrdiff_t t1 = 0; t1 < n1; t1++)
      for (ptrdiff_t t2 = 0; t2 < n2; t2++) {
        const NUM *x = a + (t0 * a0 + t1 * a1 + t2 * a2), *y = b + (t0 * b0 + t1 * b1 + t2 * b2);
        EddyVectorSUFFIX v[4];
#pragma GCC unroll 4
        for (ptrdiff_t j = 0; j < columns; j++) v[j] = eddy_each_loadSUFFIX(n, y + j * b_column, b_stream);
#pragma GCC unroll 4
        for (ptrdiff_t i = 0; i < rows; i++) {
          const EddyVectorSUFFIX u = eddy_each_loadSUFFIX(n, x + i * a_row, a_stream);
#pragma GCC unroll 4
          for (ptrdiff_t j = 0; j < columns; j++) sum[i][j] = eddy_vector_fmaSUFFIX(u, v[j], sum[i][j]);
        }
      }
#pragma GCC unroll 4
  for (ptrdiff_t i = 0; i < rows; i++)
#pragma GCC unroll 4
    for (ptrdiff_t j = 0; j < columns; j++) {
      if (n == EDDY_LANES_NUM)
        eddy_vector_storeSUFFIX(c + (i * c_row + j * c_column), sum[i][j]);
      else
        eddy_vector_store_partSUFFIX(c + (i * c_row + j * c_column), sum[i][j], n);
    }
}

/* Some rows, at most 4, in the next n streams. */
EDDY_INLINE void eddy_each_rowsSUFFIX(size_t n, ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, const NUM *a,
                                      ptrdiff_t a_row, ptrdiff_t a0, ptrdiff_t a1, ptrdiff_t a2, ptrdiff_t a_stream, const NUM *b,
                                      ptrdiff_t b_column, ptrdiff_t b0, ptrdiff_t b1, ptrdiff_t b2, ptrdiff_t b_stream, NUM *c,
                                      ptrdiff_t c_row, ptrdiff_t c_column) {
  const ptrdiff_t tiled = columns - columns % 4;
  for (ptrdiff_t j = 0; j < tiled; j += 4)
    eddy_each_tileSUFFIX(n, rows, 4, n0, n1, n2, a, a_row, a0, a1, a2, a_stream, b + j * b_column, b_column, b0, b1, b2, b_stream,
                         c + j * c_column, c_row, c_column);
  for (ptrdiff_t j = tiled; j < columns; j++)
    eddy_each_tileSUFFIX(n, rows, 1, n0, n1, n2, a, a_row, a0, a1, a2, a_stream, b + j * b_column, b_column, b0, b1, b2, b_stream,
                         c + j * c_column, c_row, c_column);
}

/* All sums in the next n streams. With one column, four rows fit into registers. */
EDDY_INLINE void eddy_each_streamsSUFFIX(size_t n, ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, const NUM *a,
                                         ptrdiff_t a_row, ptrdiff_t a0, ptrdiff_t a1, ptrdiff_t a2, ptrdiff_t a_stream, const NUM *b,
                                         ptrdiff_t b_column, ptrdiff_t b0, ptrdiff_t b1, ptrdiff_t b2, ptrdiff_t b_stream, NUM *c,
                                         ptrdiff_t c_row, ptrdiff_t c_column) {
  const ptrdiff_t most = columns == 1 ? 4 : EDDY_EACH_ROWS_NUM, tiled = rows - rows % most;
  for (ptrdiff_t i = 0; i < tiled; i += most)
    eddy_each_rowsSUFFIX(n, most, columns, n0, n1, n2, a + i * a_row, a_row, a0, a1, a2, a_stream, b, b_column, b0, b1, b2, b_stream,
                         c + i * c_row, c_row, c_column);
  for (ptrdiff_t i = tiled; i < rows; i++)
    eddy_each_rowsSUFFIX(n, 1, columns, n0, n1, n2, a + i * a_row, a_row, a0, a1, a2, a_stream, b, b_column, b0, b1, b2, b_stream,
                         c + i * c_row, c_row, c_column);
}

/* c = the sum of a b in each stream, for some rows of a and c and some columns of b and c. A term has three indices, the last of which varies fastest, and
 * there are n0 n1 n2 of them. The stride between streams is one number, or 0 for a shared operand. */
EDDY_INLINE void eddy_each_sumsSUFFIX(size_t streams, ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, const NUM *a,
                                      ptrdiff_t a_row, ptrdiff_t a0, ptrdiff_t a1, ptrdiff_t a2, ptrdiff_t a_stream, const NUM *b,
                                      ptrdiff_t b_column, ptrdiff_t b0, ptrdiff_t b1, ptrdiff_t b2, ptrdiff_t b_stream, NUM *c,
                                      ptrdiff_t c_row, ptrdiff_t c_column) {
  const size_t rest = streams % EDDY_LANES_NUM;
  const ptrdiff_t whole = (ptrdiff_t)(streams - rest);
  for (ptrdiff_t s = 0; s < whole; s += EDDY_LANES_NUM)
    eddy_each_streamsSUFFIX(EDDY_LANES_NUM, rows, columns, n0, n1, n2, a + s * a_stream, a_row, a0, a1, a2, a_stream, b + s * b_stream, b_column,
                            b0, b1, b2, b_stream, c + s, c_row, c_column);
  if (rest > 0)
    eddy_each_streamsSUFFIX(rest, rows, columns, n0, n1, n2, a + whole * a_stream, a_row, a0, a1, a2, a_stream, b + whole * b_stream, b_column, b0,
                            b1, b2, b_stream, c + whole, c_row, c_column);
}

#endif
