/* Products of matrices of numbers of type NUM, one for each stream of a batch.
 *
 * The values of an element in all streams are neighbours, so a vector is one element in some streams. Each element is the sum of its terms from left to
 * right, the first one a product, all others added with one rounding. The loops go through tiles of the result, whose sums stay in registers. */
#ifndef EDDY_RT_EACH_NUM
#define EDDY_RT_EACH_NUM

/* How many rows of a tile there are registers for, if it has four columns. */
#define EDDY_EACH_ROWS_NUM (EDDY_TILE_ROWS_NUM / 2)

/* An element in the next n streams, at most a vector of them; what is shared is the same in all. */
EDDY_INLINE EddyVectorSUFFIX eddy_each_loadSUFFIX(size_t n, const NUM *p, size_t stream) {
  if (stream == 0) return eddy_vector_allSUFFIX(*p);
  return n == EDDY_LANES_NUM ? eddy_vector_loadSUFFIX(p) : eddy_vector_load_partSUFFIX(p, n);
}

/* A tile of `rows` rows and `columns` columns, which are constants and at most 4, in the next n streams. */
EDDY_INLINE void eddy_each_tileSUFFIX(size_t rows, size_t columns, size_t n, size_t inner, const NUM *a, size_t a_row, size_t a_term,
                                      size_t a_stream, const NUM *b, size_t b_term, size_t b_column, size_t b_stream, NUM *c, size_t c_row,
                                      size_t c_column) {
  EddyVectorSUFFIX sum[4][4], y[4];
#pragma GCC unroll 4
  for (size_t j = 0; j < columns; j++) y[j] = eddy_each_loadSUFFIX(n, b + j * b_column, b_stream);
#pragma GCC unroll 4
  for (size_t i = 0; i < rows; i++) {
    const EddyVectorSUFFIX x = eddy_each_loadSUFFIX(n, a + i * a_row, a_stream);
#pragma GCC unroll 4
    for (size_t j = 0; j < columns; j++) sum[i][j] = eddy_vector_mulSUFFIX(x, y[j]);
  }
  for (size_t k = 1; k < inner; k++) {
#pragma GCC unroll 4
    for (size_t j = 0; j < columns; j++) y[j] = eddy_each_loadSUFFIX(n, b + k * b_term + j * b_column, b_stream);
#pragma GCC unroll 4
    for (size_t i = 0; i < rows; i++) {
      const EddyVectorSUFFIX x = eddy_each_loadSUFFIX(n, a + i * a_row + k * a_term, a_stream);
#pragma GCC unroll 4
      for (size_t j = 0; j < columns; j++) sum[i][j] = eddy_vector_fmaSUFFIX(x, y[j], sum[i][j]);
    }
  }
#pragma GCC unroll 4
  for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 4
    for (size_t j = 0; j < columns; j++) {
      if (n == EDDY_LANES_NUM)
        eddy_vector_storeSUFFIX(c + i * c_row + j * c_column, sum[i][j]);
      else
        eddy_vector_store_partSUFFIX(c + i * c_row + j * c_column, sum[i][j], n);
    }
}

/* Some rows, at most 4, in the next n streams. */
EDDY_INLINE void eddy_each_rowsSUFFIX(size_t rows, size_t n, size_t inner, size_t columns, const NUM *a, size_t a_row, size_t a_term,
                                      size_t a_stream, const NUM *b, size_t b_term, size_t b_column, size_t b_stream, NUM *c, size_t c_row,
                                      size_t c_column) {
  const size_t tiled = columns - columns % 4;
  for (size_t j = 0; j < tiled; j += 4)
    eddy_each_tileSUFFIX(rows, 4, n, inner, a, a_row, a_term, a_stream, b + j * b_column, b_term, b_column, b_stream, c + j * c_column, c_row,
                         c_column);
  for (size_t j = tiled; j < columns; j++)
    eddy_each_tileSUFFIX(rows, 1, n, inner, a, a_row, a_term, a_stream, b + j * b_column, b_term, b_column, b_stream, c + j * c_column, c_row,
                         c_column);
}

/* All of the product in the next n streams. */
EDDY_INLINE void eddy_each_streamsSUFFIX(size_t n, size_t rows, size_t inner, size_t columns, const NUM *a, size_t a_row, size_t a_term,
                                         size_t a_stream, const NUM *b, size_t b_term, size_t b_column, size_t b_stream, NUM *c, size_t c_row,
                                         size_t c_column) {
  /* Where there is one column, there are registers for four rows. */
  const size_t most = columns == 1 ? 4 : EDDY_EACH_ROWS_NUM, tiled = rows - rows % most;
  for (size_t i = 0; i < tiled; i += most)
    eddy_each_rowsSUFFIX(most, n, inner, columns, a + i * a_row, a_row, a_term, a_stream, b, b_term, b_column, b_stream, c + i * c_row, c_row,
                         c_column);
  for (size_t i = tiled; i < rows; i++)
    eddy_each_rowsSUFFIX(1, n, inner, columns, a + i * a_row, a_row, a_term, a_stream, b, b_term, b_column, b_stream, c + i * c_row, c_row,
                         c_column);
}

/* c = a b in each stream, where inner is not 0. From one stream to the next it is one number, or none where an operand is shared. */
EDDY_INLINE void eddy_matmul_eachSUFFIX(size_t streams, size_t rows, size_t inner, size_t columns, const NUM *a, size_t a_row, size_t a_term,
                                        size_t a_stream, const NUM *b, size_t b_term, size_t b_column, size_t b_stream, NUM *c) {
  const size_t rest = streams % EDDY_LANES_NUM;
  for (size_t s = 0; s < streams - rest; s += EDDY_LANES_NUM)
    eddy_each_streamsSUFFIX(EDDY_LANES_NUM, rows, inner, columns, a + s * a_stream, a_row, a_term, a_stream, b + s * b_stream, b_term, b_column,
                            b_stream, c + s, columns * streams, streams);
  const size_t s = streams - rest;
  if (rest > 0)
    eddy_each_streamsSUFFIX(rest, rows, inner, columns, a + s * a_stream, a_row, a_term, a_stream, b + s * b_stream, b_term, b_column, b_stream,
                            c + s, columns * streams, streams);
}

#endif
