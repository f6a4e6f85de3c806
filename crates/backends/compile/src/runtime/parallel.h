/* Large work on numbers of type NUM, in pieces that a host may compute at the same time.
 *
 * A piece of a product or of a sum of outer products is some rows of the result, or some columns. One piece computes each element,
 * in the usual order of its sum, so the number of threads does not affect the bits. Without EDDY_PARALLEL, which only code for a
 * host with threads defines, and before the host has set how to run pieces, everything runs in one piece. */
#ifndef EDDY_RT_PARALLEL_NUM
#define EDDY_RT_PARALLEL_NUM

#ifdef EDDY_PARALLEL
#ifndef EDDY_RT_PARALLEL
#define EDDY_RT_PARALLEL
/* A loop whose arrays do not overlap. Compilers lose this fact when they inline it. */
#if defined(__GNUC__)
#define EDDY_LOOP static __attribute__((noinline))
#else
#define EDDY_LOOP static
#endif

typedef void (*EddyPiece)(void *context, size_t piece);
/* Runs the pieces, given their number and their total number of terms. */
typedef void (*EddyParallel)(size_t pieces, size_t terms, void *context, EddyPiece piece);
static EddyParallel eddy_parallel = 0;

/* Processes a range of elements. */
typedef void (*EddyRange)(const void *context, size_t first, size_t end);
typedef struct {
  const void *context;
  EddyRange range;
  size_t size, per_piece;
} EddyRanges;

static void eddy_piece(void *context, size_t piece) {
  const EddyRanges *const ranges = (const EddyRanges *)context;
  const size_t first = piece * ranges->per_piece, rest = ranges->size - first;
  ranges->range(ranges->context, first, first + (rest < ranges->per_piece ? rest : ranges->per_piece));
}

/* All elements below `size`, in at most 32 pieces of whole units, so that late threads still find some. One piece if there are few terms. */
static void eddy_in_pieces(size_t size, size_t unit, size_t terms, const void *context, EddyRange range) {
  const size_t units = (size + unit - 1) / unit, per_piece = (units + 31) / 32 * unit;
  EddyRanges ranges = {context, range, size, per_piece};
  if (eddy_parallel == 0 || size <= per_piece || terms < EDDY_LARGE_WORK) range(context, 0, size);
  else eddy_parallel((size + per_piece - 1) / per_piece, terms, &ranges, eddy_piece);
}
#endif

typedef struct {
  size_t rows, inner, columns, a_row, a_term, b_term, c_row, plus_row;
  const NUM *a, *b, *plus;
  NUM *c;
} EddyProductSUFFIX;

static void eddy_product_rowsSUFFIX(const void *context, size_t first, size_t end) {
  const EddyProductSUFFIX *const p = (const EddyProductSUFFIX *)context;
  eddy_matmul_plusSUFFIX(end - first, p->inner, p->columns, p->a + first * p->a_row, p->a_row, p->a_term, p->b, p->b_term,
                         p->c + first * p->c_row, p->c_row, p->plus == 0 ? 0 : p->plus + first * p->plus_row, p->plus_row);
}

static void eddy_product_columnsSUFFIX(const void *context, size_t first, size_t end) {
  const EddyProductSUFFIX *const p = (const EddyProductSUFFIX *)context;
  eddy_matmul_plusSUFFIX(p->rows, p->inner, end - first, p->a, p->a_row, p->a_term, p->b + first, p->b_term, p->c + first, p->c_row,
                         p->plus == 0 ? 0 : p->plus + first, p->plus_row);
}

typedef struct {
  size_t columns, terms;
  const NUM *x, *y;
  ptrdiff_t x_term, y_term;
  NUM *c;
} EddyOuterSUFFIX;

static void eddy_outer_pieceSUFFIX(const void *context, size_t first, size_t end) {
  const EddyOuterSUFFIX *const p = (const EddyOuterSUFFIX *)context;
  eddy_outer_sumsSUFFIX(end - first, p->columns, p->terms, p->x + first, p->x_term, p->y, p->y_term, p->c + first * p->columns);
}
#endif

/* c = plus + a b, where inner is not 0; several threads may share it. */
EDDY_INLINE void eddy_large_matmul_plusSUFFIX(size_t rows, size_t inner, size_t columns, const NUM *a, size_t a_row, size_t a_term,
                                               const NUM *b, size_t b_term, NUM *c, size_t c_row, const NUM *plus, size_t plus_row) {
#ifdef EDDY_PARALLEL
  /* Whole tiles of the product, along the side that has more of them. */
  const size_t of_rows = EDDY_TILE_ROWS_NUM, of_columns = (rows == 1 ? 8 : 3) * EDDY_LANES_NUM, terms = rows * inner * columns;
  const EddyProductSUFFIX product = {rows, inner, columns, a_row, a_term, b_term, c_row, plus_row, a, b, plus, c};
  if (rows / of_rows >= columns / of_columns) eddy_in_pieces(rows, of_rows, terms, &product, eddy_product_rowsSUFFIX);
  else eddy_in_pieces(columns, of_columns, terms, &product, eddy_product_columnsSUFFIX);
#else
  eddy_matmul_plusSUFFIX(rows, inner, columns, a, a_row, a_term, b, b_term, c, c_row, plus, plus_row);
#endif
}

/* c = a b, likewise. */
EDDY_INLINE void eddy_large_matmulSUFFIX(size_t rows, size_t inner, size_t columns, const NUM *a, size_t a_row, size_t a_term,
                                          const NUM *b, size_t b_term, NUM *c, size_t c_row) {
  eddy_large_matmul_plusSUFFIX(rows, inner, columns, a, a_row, a_term, b, b_term, c, c_row, 0, 0);
}

/* c = c + x y' for each of some vectors x and y, likewise. */
EDDY_INLINE void eddy_large_outer_sumsSUFFIX(size_t rows, size_t columns, size_t terms, const NUM *x, ptrdiff_t x_term, const NUM *y,
                                             ptrdiff_t y_term, NUM *c) {
#ifdef EDDY_PARALLEL
  const EddyOuterSUFFIX outer = {columns, terms, x, y, x_term, y_term, c};
  eddy_in_pieces(rows, 4, rows * columns * terms, &outer, eddy_outer_pieceSUFFIX);
#else
  eddy_outer_sumsSUFFIX(rows, columns, terms, x, x_term, y, y_term, c);
#endif
}

#endif
