/* Products of matrices of numbers of type NUM.
 *
 * Each element is the sum of its terms from left to right, the first one a product, all others added with one rounding. The loops
 * go through tiles of the result, whose sums stay in registers; how they are cut does not show in the bits. */
#ifndef EDDY_RT_PRODUCT_NUM
#define EDDY_RT_PRODUCT_NUM

/* A tile of `rows` rows and `vectors` vectors; both are constants. */
EDDY_INLINE void eddy_tileSUFFIX(size_t rows, size_t vectors, size_t inner, const NUM *a, size_t a_row, size_t a_term,
                                 const NUM *b, size_t b_term, NUM *c, size_t c_row) {
  EddyVectorSUFFIX sum[4][8];
#pragma GCC unroll 4
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
#pragma GCC unroll 4
    for (size_t i = 0; i < rows; i++) {
      const EddyVectorSUFFIX x = eddy_vector_allSUFFIX(a[i * a_row + k * a_term]);
#pragma GCC unroll 8
      for (size_t j = 0; j < vectors; j++) sum[i][j] = eddy_vector_fmaSUFFIX(x, y[j], sum[i][j]);
    }
  }
#pragma GCC unroll 4
  for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 8
    for (size_t j = 0; j < vectors; j++) eddy_vector_storeSUFFIX(c + i * c_row + j * EDDY_LANES_NUM, sum[i][j]);
}

/* One element. */
EDDY_INLINE NUM eddy_dotSUFFIX(size_t inner, const NUM *a, size_t a_term, const NUM *b, size_t b_term) {
  NUM sum = a[0] * b[0];
  for (size_t k = 1; k < inner; k++) sum = eddy_fmaSUFFIX(a[k * a_term], b[k * b_term], sum);
  return sum;
}

/* Some rows of the result, at most 4; the elements of a row of b and of c lie one after the other. */
EDDY_INLINE void eddy_rowsSUFFIX(size_t rows, size_t inner, size_t columns, const NUM *a, size_t a_row, size_t a_term,
                                 const NUM *b, size_t b_term, NUM *c, size_t c_row) {
  const size_t most = rows == 1 ? 8 : 4;
  size_t j = 0;
  for (; j + most * EDDY_LANES_NUM <= columns; j += most * EDDY_LANES_NUM)
    eddy_tileSUFFIX(rows, most, inner, a, a_row, a_term, b + j, b_term, c + j, c_row);
  if (most == 8 && j + 4 * EDDY_LANES_NUM <= columns) {
    eddy_tileSUFFIX(rows, 4, inner, a, a_row, a_term, b + j, b_term, c + j, c_row);
    j += 4 * EDDY_LANES_NUM;
  }
  if (j + 2 * EDDY_LANES_NUM <= columns) {
    eddy_tileSUFFIX(rows, 2, inner, a, a_row, a_term, b + j, b_term, c + j, c_row);
    j += 2 * EDDY_LANES_NUM;
  }
  if (j + EDDY_LANES_NUM <= columns) {
    eddy_tileSUFFIX(rows, 1, inner, a, a_row, a_term, b + j, b_term, c + j, c_row);
    j += EDDY_LANES_NUM;
  }
  for (; j < columns; j++)
    for (size_t i = 0; i < rows; i++) c[i * c_row + j] = eddy_dotSUFFIX(inner, a + i * a_row, a_term, b + j, b_term);
}

/* c = a b, where inner is not 0. */
EDDY_INLINE void eddy_matmulSUFFIX(size_t rows, size_t inner, size_t columns, const NUM *a, size_t a_row, size_t a_term,
                                    const NUM *b, size_t b_term, NUM *c, size_t c_row) {
  size_t i = 0;
  for (; i + 4 <= rows; i += 4)
    eddy_rowsSUFFIX(4, inner, columns, a + i * a_row, a_row, a_term, b, b_term, c + i * c_row, c_row);
  for (; i < rows; i++)
    eddy_rowsSUFFIX(1, inner, columns, a + i * a_row, a_row, a_term, b, b_term, c + i * c_row, c_row);
}

#endif
