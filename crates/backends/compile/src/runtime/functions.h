/* The runtime of functions: an arena, failures, and operations on tensors whose sizes are known when they run. */
#ifndef EDDY_FUNCTIONS
#define EDDY_FUNCTIONS

#define EDDY_COLD static __attribute__((noinline, cold, unused))
/* The compiler decides whether it inlines these. */
#define EDDY_HELPER static __attribute__((unused))
#define EDDY_LARGE static __attribute__((noinline))
#define EDDY_AGAIN static inline __attribute__((always_inline))
#define EDDY_RARE(condition) __builtin_expect(!!(condition), 0)

/* A tensor has at most so many elements. */
#define EDDY_MAX_ELEMENTS (INT64_C(1) << 28)

/* The beginning of the arena belongs to the runtime: where the stack ends (0: unknown), and what the last failure was about. */
#define EDDY_RESERVED ((size_t)1024)
#define EDDY_DETAILS 126

typedef union { double num; int64_t integer; void *data; } eddy_word;

/* What failed; the public codes are coarser. */
enum {
  EDDY_INDEX = 1, EDDY_RANGE, EDDY_OVERFLOW, EDDY_DIVISION, EDDY_SIZE, EDDY_NEGATIVE, EDDY_SHAPES, EDDY_DIFFERENT,
  EDDY_EMPTY, EDDY_FUEL, EDDY_DEPTH, EDDY_MEMORY, EDDY_ORDER
};

EDDY_COLD int eddy_fails(eddy_arena *a, int what, int32_t line, int32_t col, int n, const int64_t *details) {
  static const int codes[] = { 0, 1, 1, 2, 3, 4, 4, 4, 4, 5, 6, 7, 8, 9 };
  a->line = line;
  a->col = col;
  if (a->size >= EDDY_RESERVED) {
    int64_t *const words = (int64_t *)(void *)a->base;
    words[1] = what;
    for (int k = 0; k < n && k < EDDY_DETAILS; k++) words[2 + k] = details[k];
  }
  return codes[what];
}

#define EDDY_FAIL(what, line, col) return eddy_fails(a, what, line, col, 0, 0)
#define EDDY_FAIL_WITH(what, line, col, ...) \
  do { const int64_t details_[] = { __VA_ARGS__ }; \
    return eddy_fails(a, what, line, col, (int)(sizeof details_ / sizeof *details_), details_); } while (0)

/* Elementary functions outside of loops that vectorise: inlined everywhere, they would be most of the code. */
#define EDDY_FUNCTION(NAME_) \
  static __attribute__((noinline, const, unused)) double eddy_single_##NAME_(double x) { return eddy_##NAME_(x); }
EDDY_FUNCTION(exp)
EDDY_FUNCTION(log)
EDDY_FUNCTION(tanh)
EDDY_FUNCTION(sigmoid)
EDDY_FUNCTION(sin)
EDDY_FUNCTION(cos)
EDDY_FUNCTION(lgamma)
EDDY_FUNCTION(digamma)
static __attribute__((noinline, const, unused)) double eddy_single_pow(double x, double y) { return eddy_pow(x, y); }

/* Elementary functions of many numbers. */
#define EDDY_MANY(NAME_) \
  static __attribute__((noinline, unused)) void eddy_many_##NAME_(int64_t n, const double *restrict x, double *restrict y) { \
    for (int64_t k = 0; k < n; k++) y[k] = eddy_##NAME_(x[k]); \
  }
EDDY_MANY(exp)
EDDY_MANY(log)
EDDY_MANY(tanh)
EDDY_MANY(sigmoid)
/* Far from 0 there is a branch, which does not vectorise. */
#define EDDY_MANY_NEAR(NAME_) \
  static __attribute__((noinline, unused)) void eddy_many_##NAME_(int64_t n, const double *restrict x, double *restrict y) { \
    int64_t far = 0; \
    for (int64_t k = 0; k < n; k++) far |= !eddy_is_near(x[k]); \
    if (far) for (int64_t k = 0; k < n; k++) y[k] = eddy_##NAME_(x[k]); \
    else for (int64_t k = 0; k < n; k++) y[k] = eddy_##NAME_##_near(x[k]); \
  }
EDDY_MANY_NEAR(sin)
EDDY_MANY_NEAR(cos)
EDDY_MANY(lgamma)
EDDY_MANY(digamma)
static __attribute__((noinline, unused)) void eddy_many_pow(int64_t n, const double *restrict x, const double *restrict z, double *restrict y) {
  for (int64_t k = 0; k < n; k++) y[k] = eddy_pow(x[k], z[k]);
}

/* Temporaries grow from the low end, tapes and rows of unknown number from the high end. */
EDDY_INLINE void *eddy_low(eddy_arena *a, size_t bytes) {
  const size_t n = (bytes + 15) & ~(size_t)15;
  if (EDDY_RARE(n > a->high - a->low)) return 0;
  void *const start = a->base + a->low;
  a->low += n;
  return start;
}

EDDY_INLINE void *eddy_high(eddy_arena *a, size_t bytes) {
  const size_t n = (bytes + 15) & ~(size_t)15;
  if (EDDY_RARE(n > a->high - a->low)) return 0;
  a->high -= n;
  return a->base + a->high;
}

/* The number of elements, or -1 if there are too many. */
EDDY_HELPER int64_t eddy_elements(int rank, const int64_t *n) {
  int64_t bound = 1, elements = 1;
  for (int k = 0; k < rank; k++) {
    const int64_t size = n[k] > 1 ? n[k] : 1;
    if (size > EDDY_MAX_ELEMENTS || bound * size > EDDY_MAX_ELEMENTS) return -1;
    bound *= size;
    elements *= n[k];
  }
  return elements;
}

/* The same for one size. */
#define EDDY_ELEMENTS1(n) ((n) > EDDY_MAX_ELEMENTS ? -1 : (n))

/* Copies n words, usually few of them: by two moves that may overlap. */
typedef int64_t eddy_two __attribute__((vector_size(16), aligned(8), may_alias));
typedef int64_t eddy_four __attribute__((vector_size(32), aligned(8), may_alias));
EDDY_INLINE void eddy_copy_words(void *to, const void *from, int64_t n) {
  int64_t *const y = (int64_t *)to;
  const int64_t *const x = (const int64_t *)from;
  if (n > 8) {
    __builtin_memcpy(to, from, (size_t)n * 8);
  } else if (n >= 4) {
    const eddy_four first = *(const eddy_four *)(const void *)x, last = *(const eddy_four *)(const void *)(x + n - 4);
    *(eddy_four *)(void *)y = first;
    *(eddy_four *)(void *)(y + n - 4) = last;
  } else if (n >= 2) {
    const eddy_two first = *(const eddy_two *)(const void *)x, last = *(const eddy_two *)(const void *)(x + n - 2);
    *(eddy_two *)(void *)y = first;
    *(eddy_two *)(void *)(y + n - 2) = last;
  } else if (n == 1) {
    y[0] = x[0];
  }
}

EDDY_HELPER int64_t eddy_all(int rank, const int64_t *n) {
  int64_t elements = 1;
  for (int k = 0; k < rank; k++) elements *= n[k];
  return elements;
}

EDDY_HELPER bool eddy_same(int rank, const int64_t *x, const int64_t *y) {
  for (int k = 0; k < rank; k++) if (x[k] != y[k]) return false;
  return true;
}

/* Euclidean division by a number that is not 0. */
EDDY_INLINE int64_t eddy_mod(int64_t x, int64_t y) {
  if (y == -1) return 0;
  const int64_t rest = x % y;
  return rest >= 0 ? rest : (y > 0 ? rest + y : rest - y);
}

EDDY_INLINE int64_t eddy_div(int64_t x, int64_t y) {
  const int64_t quotient = x / y;
  return x % y >= 0 ? quotient : (y > 0 ? quotient - 1 : quotient + 1);
}

/* How many of n iterations the fuel allows; they are paid at once, since nothing else burns fuel meanwhile. */
EDDY_INLINE int64_t eddy_burn(eddy_arena *a, int64_t n) {
  int64_t end = n < 0 ? 0 : n;
  if (EDDY_RARE(end > a->fuel)) end = a->fuel;
  a->fuel -= end;
  return end;
}

/* Whether the fuel allows n iterations, none of which fails. */
EDDY_INLINE bool eddy_pay(eddy_arena *a, int64_t n) {
  if (EDDY_RARE(a->fuel < n)) { a->fuel = 0; return false; }
  a->fuel -= n;
  return true;
}

/* Whether the stack is nearly used up. */
EDDY_INLINE bool eddy_stack_ends(const eddy_arena *a) {
  return (uintptr_t)__builtin_frame_address(0) < (uintptr_t)((const uint64_t *)(const void *)a->base)[0];
}

/* Moves results to where the temporaries of a function begin, which releases all others. */
EDDY_COLD bool eddy_stage(eddy_arena *a, int n, void **data, const size_t *bytes) {
  for (int k = 0; k < n; k++) {
    void *const copy = eddy_low(a, bytes[k]);
    if (!copy) return false;
    __builtin_memcpy(copy, data[k], bytes[k]);
    data[k] = copy;
  }
  return true;
}

EDDY_HELPER bool eddy_keep(eddy_arena *a, size_t mark, int n, void **data, const size_t *bytes) {
  const uintptr_t first = (uintptr_t)(a->base + mark), end = (uintptr_t)(a->base + a->low);
  /* Those that are temporaries, by address; what is elsewhere is copied last. Few functions have many results. */
  int order[EDDY_RESULTS] = { 0 }, n_inside = 0, n_all = 0;
  for (int k = 0; k < n; k++) {
    if ((uintptr_t)data[k] < first || (uintptr_t)data[k] >= end) continue;
    int at = n_inside++;
    for (; at > 0 && (uintptr_t)data[order[at - 1]] > (uintptr_t)data[k]; at--) order[at] = order[at - 1];
    order[at] = k;
  }
  for (int k = 1; k < n_inside; k++) {
    if ((uintptr_t)data[order[k]] >= (uintptr_t)data[order[k - 1]] + ((bytes[order[k - 1]] + 15) & ~(size_t)15)) continue;
    /* Two of them overlap. */
    if (!eddy_stage(a, n, data, bytes)) return false;
    for (int j = 0; j < n; j++) order[j] = j;
    n_inside = n;
    break;
  }
  n_all = n_inside;
  for (int k = 0; k < n && n_all < n; k++) {
    bool is_inside = false;
    for (int j = 0; j < n_inside; j++) is_inside |= order[j] == k;
    if (!is_inside) order[n_all++] = k;
  }
  a->low = mark;
  for (int k = 0; k < n; k++) {
    void *const to = eddy_low(a, bytes[order[k]]);
    if (!to) return false;
    if (to != data[order[k]]) __builtin_memmove(to, data[order[k]], bytes[order[k]]);
    data[order[k]] = to;
  }
  return true;
}

/* Rows of unknown number: moves them to where there is room for more. */
EDDY_COLD void *eddy_grow(eddy_arena *a, const void *rows, int64_t *room, int64_t n, size_t bytes) {
  const int64_t more = n < 8 ? 16 : 2 * n;
  void *const grown = eddy_high(a, (size_t)more * bytes);
  if (grown && n > 0) __builtin_memcpy(grown, rows, (size_t)n * bytes);
  *room = more;
  return grown;
}

/* How operands that broadcast to one shape are read: row by row; in a row each advances by its step or stays. */
typedef struct {
  int rank, n_operands;
  int64_t n[EDDY_RANK];
  int64_t outer, inner;
  int64_t at[3], step[3];
  int n_axes;
  int64_t sizes[EDDY_RANK], counters[EDDY_RANK], steps[EDDY_RANK][3];
} eddy_walk;

/* Whether the operands broadcast. */
EDDY_HELPER bool eddy_walk_begin(eddy_walk *w, int n_operands, const int *ranks, const int64_t *const *n) {
  int rank = 0;
  for (int k = 0; k < n_operands; k++) if (ranks[k] > rank) rank = ranks[k];
  w->rank = rank;
  w->n_operands = n_operands;
  for (int axis = 0; axis < rank; axis++) {
    int64_t size = 1;
    for (int k = 0; k < n_operands; k++) {
      const int own = axis + ranks[k] - rank;
      const int64_t found = own < 0 ? 1 : n[k][own];
      if (found == size || found == 1) continue;
      if (size != 1) return false;
      size = found;
    }
    w->n[axis] = size;
  }
  int64_t inside[3] = { 1, 1, 1 };
  w->n_axes = 0;
  /* Innermost first; axes in which all operands behave alike are one. */
  for (int axis = rank - 1; axis >= 0; axis--) {
    int64_t steps[3] = { 0, 0, 0 };
    for (int k = 0; k < n_operands; k++) {
      const int own = axis + ranks[k] - rank;
      const int64_t found = own < 0 ? 1 : n[k][own];
      if (found != 1) { steps[k] = inside[k]; inside[k] *= found; }
    }
    if (w->n[axis] == 1) continue;
    bool is_alike = w->n_axes > 0;
    for (int k = 0; k < n_operands && is_alike; k++) {
      is_alike = w->steps[w->n_axes - 1][k] * w->sizes[w->n_axes - 1] == steps[k];
    }
    if (is_alike) { w->sizes[w->n_axes - 1] *= w->n[axis]; continue; }
    w->sizes[w->n_axes] = w->n[axis];
    for (int k = 0; k < 3; k++) w->steps[w->n_axes][k] = steps[k];
    w->n_axes++;
  }
  if (w->n_axes == 0) {
    w->n_axes = 1;
    w->sizes[0] = 1;
    for (int k = 0; k < 3; k++) w->steps[0][k] = 0;
  }
  w->inner = w->sizes[0];
  w->outer = 1;
  for (int axis = 0; axis < w->n_axes; axis++) {
    w->counters[axis] = 0;
    if (axis > 0) w->outer *= w->sizes[axis];
  }
  for (int k = 0; k < 3; k++) { w->at[k] = 0; w->step[k] = w->steps[0][k]; }
  return true;
}

EDDY_HELPER void eddy_walk_next(eddy_walk *w) {
  for (int axis = 1; axis < w->n_axes; axis++) {
    w->counters[axis]++;
    for (int k = 0; k < w->n_operands; k++) w->at[k] += w->steps[axis][k];
    if (w->counters[axis] < w->sizes[axis]) return;
    w->counters[axis] = 0;
    for (int k = 0; k < w->n_operands; k++) w->at[k] -= w->steps[axis][k] * w->sizes[axis];
  }
}

/* Whether a shape stretches to another of the same or a higher rank. */
EDDY_HELPER bool eddy_stretches(int rank, const int64_t *n, int to_rank, const int64_t *to) {
  if (rank > to_rank) return false;
  for (int k = 0; k < rank; k++) {
    const int64_t size = to[to_rank - rank + k];
    if (n[k] != size && n[k] != 1) return false;
  }
  return true;
}

/* Sums go from left to right, from the first term. */
EDDY_INLINE double eddy_sum(int64_t n, const double *x) {
  double sum = n == 0 ? 0.0 : -0.0;
  for (int64_t k = 0; k < n; k++) sum += x[k];
  return sum;
}

EDDY_HELPER bool eddy_sum_int(int64_t n, const int64_t *x, int64_t *result) {
  int64_t sum = 0;
  for (int64_t k = 0; k < n; k++) if (EDDY_RARE(__builtin_add_overflow(sum, x[k], &sum))) return false;
  *result = sum;
  return true;
}

EDDY_HELPER void eddy_sums(int64_t outer, int64_t n, int64_t inner, const double *restrict x, double *restrict y) {
  for (int64_t o = 0; o < outer; o++) {
    double *const row = y + o * inner;
    for (int64_t j = 0; j < inner; j++) row[j] = n == 0 ? 0.0 : -0.0;
    for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < inner; j++) row[j] += x[(o * n + i) * inner + j];
  }
}

EDDY_HELPER bool eddy_sums_int(int64_t outer, int64_t n, int64_t inner, const int64_t *x, int64_t *y) {
  for (int64_t o = 0; o < outer; o++) {
    int64_t *const row = y + o * inner;
    for (int64_t j = 0; j < inner; j++) row[j] = 0;
    for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < inner; j++) {
      if (EDDY_RARE(__builtin_add_overflow(row[j], x[(o * n + i) * inner + j], &row[j]))) return false;
    }
  }
  return true;
}

/* The first element that no later one beats; a leading NaN stays. */
#define EDDY_FIRST(NAME_, T, BEATS) \
  EDDY_HELPER int64_t NAME_(int64_t n, const T *x) { \
    int64_t best = 0; \
    for (int64_t k = 1; k < n; k++) if (x[k] BEATS x[best]) best = k; \
    return best; \
  }
EDDY_FIRST(eddy_first_max_int, int64_t, >)
EDDY_FIRST(eddy_first_min_int, int64_t, <)

/* Of many numbers: the extremum by vectors, then the first number that equals it. A NaN that does not lead beats none. */
typedef double eddy_eight __attribute__((vector_size(64), aligned(8), may_alias));
typedef int64_t eddy_masks __attribute__((vector_size(64), may_alias));
#define EDDY_FIRST_NUM(NAME_, BEATS) \
  EDDY_HELPER int64_t NAME_(int64_t n, const double *x) { \
    int64_t best = 0, k = 0; \
    if (n < 64 || x[0] != x[0]) { \
      for (k = 1; k < n; k++) if (x[k] BEATS x[best]) best = k; \
      return best; \
    } \
    const double f = x[0]; \
    eddy_eight most[4] = { { f, f, f, f, f, f, f, f }, { f, f, f, f, f, f, f, f }, { f, f, f, f, f, f, f, f }, { f, f, f, f, f, f, f, f } }; \
    for (; k + 32 <= n; k += 32) for (int j = 0; j < 4; j++) { \
      const eddy_eight y = *(const eddy_eight *)(const void *)(x + k + 8 * j); \
      const eddy_masks wins = (eddy_masks)(y BEATS most[j]); \
      most[j] = (eddy_eight)((wins & (eddy_masks)y) | (~wins & (eddy_masks)most[j])); \
    } \
    double extreme = f; \
    for (int j = 0; j < 4; j++) for (int l = 0; l < 8; l++) if (most[j][l] BEATS extreme) extreme = most[j][l]; \
    for (; k < n; k++) if (x[k] BEATS extreme) extreme = x[k]; \
    while (x[best] != extreme) best++; \
    return best; \
  }
EDDY_FIRST_NUM(eddy_first_max, >)
EDDY_FIRST_NUM(eddy_first_min, <)

/* The place of the first maximum; NaN counts as larger than any number. */
EDDY_HELPER int64_t eddy_maximum_at(int64_t n, int64_t step, const double *x) {
  int64_t best = 0;
  if (step == 1 && n >= 64) {
    int64_t nan = 0;
    for (int64_t k = 0; k < n; k++) nan |= x[k] != x[k];
    if (!nan) return eddy_first_max(n, x);
    while (x[best] == x[best]) best++;
    return best;
  }
  for (int64_t k = 1; k < n; k++) if (eddy_exceeds(x[k * step], x[best * step])) best = k;
  return best;
}

EDDY_HELPER int64_t eddy_maximum_at_int(int64_t n, int64_t step, const int64_t *x) {
  int64_t best = 0;
  for (int64_t k = 1; k < n; k++) if (x[k * step] > x[best * step]) best = k;
  return best;
}

#define EDDY_MAXIMA(SUFFIX_, T) \
  EDDY_HELPER void eddy_maxima##SUFFIX_(int64_t outer, int64_t n, int64_t inner, const T *x, T *y) { \
    for (int64_t o = 0; o < outer; o++) for (int64_t j = 0; j < inner; j++) { \
      const T *const first = x + o * n * inner + j; \
      y[o * inner + j] = first[eddy_maximum_at##SUFFIX_(n, inner, first) * inner]; \
    } \
  }
EDDY_MAXIMA(, double)
EDDY_MAXIMA(_int, int64_t)

EDDY_HELPER void eddy_max_mask(int64_t outer, int64_t n, int64_t inner, const double *x, double *y) {
  for (int64_t k = 0; k < outer * n * inner; k++) y[k] = 0.0;
  if (n == 0) return;
  for (int64_t o = 0; o < outer; o++) for (int64_t j = 0; j < inner; j++) {
    const int64_t first = o * n * inner + j;
    y[first + eddy_maximum_at(n, inner, x + first) * inner] = 1.0;
  }
}

EDDY_HELPER void eddy_softmax_rows(int64_t rows, int64_t n, const double *x, double *y) {
  for (int64_t r = 0; r < rows; r++, x += n, y += n) {
    if (n == 0) continue;
    const double largest = x[eddy_maximum_at(n, 1, x)];
    for (int64_t k = 0; k < n; k++) y[k] = eddy_exp(x[k] - largest);
    double sum = -0.0;
    for (int64_t k = 0; k < n; k++) sum += y[k];
    for (int64_t k = 0; k < n; k++) y[k] = y[k] / sum;
  }
}

/* y[i,j] += x[i,l] z[l,j], l in order, each term with one rounding. Rows of x are apart by steps[0], columns by steps[1]. */
EDDY_HELPER void eddy_accumulate(int64_t n, int64_t k, int64_t m, const double *restrict x, int64_t row, int64_t column,
                                 const double *restrict z, double *restrict y) {
  for (int64_t i = 0; i < n; i++) for (int64_t l = 0; l < k; l++) {
    const double factor = x[i * row + l * column];
    for (int64_t j = 0; j < m; j++) y[i * m + j] = eddy_fma(factor, z[l * m + j], y[i * m + j]);
  }
}

EDDY_INLINE void eddy_set(int64_t n, double x, double *y) {
  for (int64_t k = 0; k < n; k++) y[k] = x;
}

/* A sum of products has one accumulator in a register where the result is a number. */
EDDY_INLINE double eddy_inner(int64_t n, const double *x, const double *y) {
  double sum = n == 0 ? 0.0 : -0.0;
  for (int64_t k = 0; k < n; k++) sum = eddy_fma(x[k], y[k], sum);
  return sum;
}

EDDY_HELPER void eddy_matrix_product(int64_t n, int64_t k, int64_t m, const double *restrict x, const double *restrict z, double *restrict y) {
  if (m == 1) {
    for (int64_t i = 0; i < n; i++) y[i] = eddy_inner(k, x + i * k, z);
    return;
  }
#if defined(__AVX512F__)
  /* Four rows and two vectors of the result at once, which stay in registers. */
  if (m % 16 == 0 && k > 0) {
    const int64_t whole = n - n % 4;
    for (int64_t i = 0; i < whole; i += 4) for (int64_t j = 0; j < m; j += 16) {
      eddy_tile(4, 2, (size_t)k, x + i * k, (size_t)k, 1, z + j, (size_t)m, y + i * m + j, (size_t)m, 0, 0);
    }
    x += whole * k;
    y += whole * m;
    n -= whole;
  }
#endif
  eddy_set(n * m, k == 0 ? 0.0 : -0.0, y);
  eddy_accumulate(n, k, m, x, k, 1, z, y);
}

EDDY_HELPER void eddy_transposed(int64_t n, int64_t m, size_t bytes, const void *x, void *y) {
  const char *const from = (const char *)x;
  char *const to = (char *)y;
  for (int64_t j = 0; j < m; j++) for (int64_t i = 0; i < n; i++) {
    __builtin_memcpy(to + (size_t)(j * n + i) * bytes, from + (size_t)(i * m + j) * bytes, bytes);
  }
}

/* Sums down to a shape that stretches to that of x. */
#define EDDY_REDUCE(NAME_, T, START, ADD) \
  EDDY_HELPER bool NAME_(int rank, const int64_t *n, const T *x, int to_rank, const int64_t *to, T *y) { \
    const int64_t all = eddy_all(rank, n), some = eddy_all(to_rank, to); \
    int64_t counters[EDDY_RANK] = { 0 }, steps[EDDY_RANK], at = 0, inside = 1; \
    for (int k = rank - 1; k >= 0; k--) { \
      const int own = k - (rank - to_rank); \
      const int64_t size = own < 0 ? 1 : to[own]; \
      steps[k] = size == 1 ? 0 : inside; \
      inside *= size; \
    } \
    for (int64_t k = 0; k < some; k++) y[k] = START; \
    for (int64_t k = 0; k < all; k++) { \
      ADD; \
      for (int axis = rank - 1; axis >= 0; axis--) { \
        counters[axis]++; \
        at += steps[axis]; \
        if (counters[axis] < n[axis]) break; \
        counters[axis] = 0; \
        at -= steps[axis] * n[axis]; \
      } \
    } \
    return true; \
  }
EDDY_REDUCE(eddy_reduced, double, (all == 0 ? 0.0 : -0.0), y[at] += x[k])
EDDY_REDUCE(eddy_reduced_int, int64_t, 0, if (__builtin_add_overflow(y[at], x[k], &y[at])) return false)

/* How many windows fit, or -1. */
EDDY_HELPER int64_t eddy_windows(int64_t n, int64_t size, int64_t stride) {
  if (size == 0 || stride == 0 || size > n) return -1;
  return (n - size) / stride + 1;
}

EDDY_HELPER void eddy_folded(int64_t outer, int64_t windows, int64_t window, int64_t row, int64_t stride, const double *x, double *y) {
  for (int64_t k = 0; k < outer * row; k++) y[k] = 0.0;
  if (row == 0) return;
  for (int64_t o = 0; o < outer; o++, y += row) for (int64_t w = 0; w < windows; w++, x += window) {
    double *const start = y + w * stride;
    const int64_t reached = w == 0 || window <= stride ? 0 : window - stride;
    for (int64_t k = 0; k < reached; k++) start[k] += x[k];
    for (int64_t k = reached; k < window; k++) start[k] = x[k];
  }
}

/* Convolutions of an image [H,W,C] and a kernel [h,w,C,O]; s holds W C h w H' W' O. */
EDDY_HELPER void eddy_convolved(const int64_t *s, const double *image, const double *kernel, double *y) {
  const int64_t run = s[3] * s[1];
  eddy_set(s[4] * s[5] * s[6], s[1] == 0 ? 0.0 : -0.0, y);
  for (int64_t r = 0; r < s[4]; r++) for (int64_t i = 0; i < s[2]; i++) {
    eddy_accumulate(s[5], run, s[6], image + (r + i) * s[0] * s[1], s[1], 1, kernel + i * run * s[6], y + r * s[5] * s[6]);
  }
}

EDDY_HELPER void eddy_convolved_dx(const int64_t *s, const double *kernel, const double *g, int64_t n, double *image) {
  const int64_t run = s[3] * s[1];
  eddy_set(n, s[6] == 0 ? 0.0 : -0.0, image);
  for (int64_t r = 0; r < s[4]; r++) for (int64_t i = 0; i < s[2]; i++) for (int64_t q = 0; q < s[5]; q++) {
    double *const first = image + (r + i) * s[0] * s[1] + q * s[1];
    for (int64_t o = 0; o < s[6]; o++) {
      const double factor = g[(r * s[5] + q) * s[6] + o];
      for (int64_t k = 0; k < run; k++) first[k] = eddy_fma(factor, kernel[(i * run + k) * s[6] + o], first[k]);
    }
  }
}

EDDY_HELPER void eddy_convolved_dk(const int64_t *s, const double *image, const double *g, double *kernel) {
  const int64_t run = s[3] * s[1];
  eddy_set(s[2] * run * s[6], -0.0, kernel);
  for (int64_t r = 0; r < s[4]; r++) for (int64_t i = 0; i < s[2]; i++) {
    eddy_accumulate(run, s[5], s[6], image + (r + i) * s[0] * s[1], 1, s[1], g + r * s[5] * s[6], kernel + i * run * s[6]);
  }
}

#endif
