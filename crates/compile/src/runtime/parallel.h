/* Large products of numbers of type NUM, in pieces that a host may compute at the same time.
 *
 * A piece is some rows of the result, or some columns. Each element is computed by one piece in the order that all products have, so how
 * many threads there are does not show in the bits. Without EDDY_PARALLEL, which only code for a host with threads defines, and before
 * the host has said how pieces are run, this is the product itself. */
#ifndef EDDY_RT_PARALLEL_NUM
#define EDDY_RT_PARALLEL_NUM

#ifdef EDDY_PARALLEL
#ifndef EDDY_RT_PARALLEL
#define EDDY_RT_PARALLEL
typedef void (*EddyPiece)(void *context, size_t piece);
typedef void (*EddyParallel)(size_t pieces, void *context, EddyPiece piece);
static EddyParallel eddy_parallel = 0;
#endif

typedef struct {
  size_t rows, inner, columns, a_row, a_term, b_term, c_row, plus_row;
  const NUM *a, *b, *plus;
  NUM *c;
  size_t of_rows, of_columns; /* the size of a piece, along one of both */
} EddyProductSUFFIX;

static void eddy_product_pieceSUFFIX(void *context, size_t piece) {
  const EddyProductSUFFIX *const p = (const EddyProductSUFFIX *)context;
  if (p->of_rows < p->rows) {
    const size_t first = piece * p->of_rows, rest = p->rows - first;
    eddy_matmul_plusSUFFIX(rest < p->of_rows ? rest : p->of_rows, p->inner, p->columns, p->a + first * p->a_row, p->a_row, p->a_term, p->b,
                           p->b_term, p->c + first * p->c_row, p->c_row, p->plus == 0 ? 0 : p->plus + first * p->plus_row, p->plus_row);
  } else {
    const size_t first = piece * p->of_columns, rest = p->columns - first;
    eddy_matmul_plusSUFFIX(p->rows, p->inner, rest < p->of_columns ? rest : p->of_columns, p->a, p->a_row, p->a_term, p->b + first,
                           p->b_term, p->c + first, p->c_row, p->plus == 0 ? 0 : p->plus + first, p->plus_row);
  }
}
#endif

/* c = plus + a b, where inner is not 0 and there is enough to do for several threads. */
EDDY_INLINE void eddy_large_matmul_plusSUFFIX(size_t rows, size_t inner, size_t columns, const NUM *a, size_t a_row, size_t a_term,
                                               const NUM *b, size_t b_term, NUM *c, size_t c_row, const NUM *plus, size_t plus_row) {
#ifdef EDDY_PARALLEL
  if (eddy_parallel != 0) {
    /* Whole tiles of the product: some rows, or 8 vectors. */
    const size_t row_tiles = (rows + EDDY_TILE_ROWS_NUM - 1) / EDDY_TILE_ROWS_NUM, column_tiles = (columns + 8 * EDDY_LANES_NUM - 1) / (8 * EDDY_LANES_NUM);
    const size_t tiles = rows >= 8 ? row_tiles : column_tiles, pieces = tiles < 32 ? tiles : 32;
    const size_t per_piece = (tiles + pieces - 1) / pieces;
    EddyProductSUFFIX product = {rows, inner, columns, a_row, a_term, b_term, c_row, plus_row, a, b, plus, c, rows, columns};
    if (rows >= 8) product.of_rows = EDDY_TILE_ROWS_NUM * per_piece;
    else product.of_columns = 8 * EDDY_LANES_NUM * per_piece;
    eddy_parallel((tiles + per_piece - 1) / per_piece, &product, eddy_product_pieceSUFFIX);
    return;
  }
#endif
  eddy_matmul_plusSUFFIX(rows, inner, columns, a, a_row, a_term, b, b_term, c, c_row, plus, plus_row);
}

/* c = a b, likewise. */
EDDY_INLINE void eddy_large_matmulSUFFIX(size_t rows, size_t inner, size_t columns, const NUM *a, size_t a_row, size_t a_term,
                                          const NUM *b, size_t b_term, NUM *c, size_t c_row) {
  eddy_large_matmul_plusSUFFIX(rows, inner, columns, a, a_row, a_term, b, b_term, c, c_row, 0, 0);
}

#endif
