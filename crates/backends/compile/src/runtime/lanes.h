/* Vectors whose lanes are iterations of a loop: 8 lanes each; a value has one or several vectors. */
#ifndef EDDY_LANES_H
#define EDDY_LANES_H

typedef double eddy_v __attribute__((vector_size(64), may_alias));
typedef int64_t eddy_w __attribute__((vector_size(64), may_alias));
typedef uint64_t eddy_x __attribute__((vector_size(64), may_alias));
typedef eddy_v eddy_vu __attribute__((aligned(8), may_alias));
typedef eddy_w eddy_wu __attribute__((aligned(8), may_alias));

#define EDDY_V(p) (*(eddy_vu *)(p))
#define EDDY_W(p) (*(eddy_wu *)(p))
#define EDDY_ALLV(x) ((eddy_v){ x, x, x, x, x, x, x, x })
#define EDDY_ALLW(x) ((eddy_w){ x, x, x, x, x, x, x, x })
#define EDDY_IOTA ((eddy_w){ 0, 1, 2, 3, 4, 5, 6, 7 })
/* Where the mask is -1 the first, else the second. */
#define EDDY_BLENDW(mask, x, y) (((mask) & (x)) | (~(mask) & (y)))
#define EDDY_BLENDV(mask, x, y) ((eddy_v)EDDY_BLENDW(mask, (eddy_w)(x), (eddy_w)(y)))

#if defined(__AVX512F__)
#define EDDY_ANY(mask) (_mm512_test_epi64_mask((__m512i)(mask), (__m512i)(mask)) != 0)
#else
EDDY_INLINE bool eddy_any(const int64_t *mask) {
  int64_t all = 0;
  for (int k = 0; k < 8; k++) all |= mask[k];
  return all != 0;
}
#define EDDY_ANY(mask) eddy_any((const int64_t *)&(const eddy_w){ mask })
#endif

/* The elements at these places. */
#define EDDY_GATHERV(p, at) ((eddy_v){ (p)[(at)[0]], (p)[(at)[1]], (p)[(at)[2]], (p)[(at)[3]], (p)[(at)[4]], (p)[(at)[5]], (p)[(at)[6]], (p)[(at)[7]] })
#define EDDY_GATHERW(p, at) ((eddy_w){ (p)[(at)[0]], (p)[(at)[1]], (p)[(at)[2]], (p)[(at)[3]], (p)[(at)[4]], (p)[(at)[5]], (p)[(at)[6]], (p)[(at)[7]] })

#define EDDY_SQRT1(x) __builtin_sqrt(x)
#define EDDY_EACH(F, x) ((eddy_v){ F((x)[0]), F((x)[1]), F((x)[2]), F((x)[3]), F((x)[4]), F((x)[5]), F((x)[6]), F((x)[7]) })
#define EDDY_EACH2(F, x, y) ((eddy_v){ F((x)[0], (y)[0]), F((x)[1], (y)[1]), F((x)[2], (y)[2]), F((x)[3], (y)[3]), \
  F((x)[4], (y)[4]), F((x)[5], (y)[5]), F((x)[6], (y)[6]), F((x)[7], (y)[7]) })
#define EDDY_EACHW2(F, x, y) ((eddy_w){ F((x)[0], (y)[0]), F((x)[1], (y)[1]), F((x)[2], (y)[2]), F((x)[3], (y)[3]), \
  F((x)[4], (y)[4]), F((x)[5], (y)[5]), F((x)[6], (y)[6]), F((x)[7], (y)[7]) })

/* x * y + z with one rounding. */
#if defined(__AVX512F__)
#define EDDY_FMAV(x, y, z) ((eddy_v)_mm512_fmadd_pd((__m512d)(x), (__m512d)(y), (__m512d)(z)))
#define EDDY_SQRTV(x) ((eddy_v)_mm512_sqrt_pd((__m512d)(x)))
#else
#define EDDY_FMAV(x, y, z) ((eddy_v){ eddy_fma((x)[0], (y)[0], (z)[0]), eddy_fma((x)[1], (y)[1], (z)[1]), \
  eddy_fma((x)[2], (y)[2], (z)[2]), eddy_fma((x)[3], (y)[3], (z)[3]), eddy_fma((x)[4], (y)[4], (z)[4]), \
  eddy_fma((x)[5], (y)[5], (z)[5]), eddy_fma((x)[6], (y)[6], (z)[6]), eddy_fma((x)[7], (y)[7], (z)[7]) })
#define EDDY_SQRTV(x) EDDY_EACH(EDDY_SQRT1, x)
#endif

/* Adds the first n numbers one after the other. */
EDDY_INLINE double eddy_add_lanes(double sum, int64_t n, const double *x) {
  for (int64_t l = 0; l < n; l++) sum += x[l];
  return sum;
}

/* Adds lane after lane to each of m numbers; the lanes of a number are `width` apart from those of the next. */
EDDY_HELPER void eddy_add_rows(int64_t m, int64_t n, int64_t width, const double *restrict x, double *restrict y) {
  int64_t e = 0;
#if defined(__AVX512F__)
  for (; n == width && e + 8 <= m; e += 8) {
    __m512d sum = _mm512_loadu_pd(y + e);
    for (int64_t l = 0; l < n; l += 8) {
      const double *const p = x + e * width + l;
      const __m512d r0 = _mm512_loadu_pd(p), r1 = _mm512_loadu_pd(p + width), r2 = _mm512_loadu_pd(p + 2 * width),
        r3 = _mm512_loadu_pd(p + 3 * width), r4 = _mm512_loadu_pd(p + 4 * width), r5 = _mm512_loadu_pd(p + 5 * width),
        r6 = _mm512_loadu_pd(p + 6 * width), r7 = _mm512_loadu_pd(p + 7 * width);
      const __m512d a0 = _mm512_unpacklo_pd(r0, r1), a1 = _mm512_unpackhi_pd(r0, r1), a2 = _mm512_unpacklo_pd(r2, r3),
        a3 = _mm512_unpackhi_pd(r2, r3), a4 = _mm512_unpacklo_pd(r4, r5), a5 = _mm512_unpackhi_pd(r4, r5),
        a6 = _mm512_unpacklo_pd(r6, r7), a7 = _mm512_unpackhi_pd(r6, r7);
      const __m512d b0 = _mm512_shuffle_f64x2(a0, a2, 0x88), b1 = _mm512_shuffle_f64x2(a1, a3, 0x88),
        b2 = _mm512_shuffle_f64x2(a0, a2, 0xdd), b3 = _mm512_shuffle_f64x2(a1, a3, 0xdd),
        b4 = _mm512_shuffle_f64x2(a4, a6, 0x88), b5 = _mm512_shuffle_f64x2(a5, a7, 0x88),
        b6 = _mm512_shuffle_f64x2(a4, a6, 0xdd), b7 = _mm512_shuffle_f64x2(a5, a7, 0xdd);
      sum = _mm512_add_pd(sum, _mm512_shuffle_f64x2(b0, b4, 0x88));
      sum = _mm512_add_pd(sum, _mm512_shuffle_f64x2(b1, b5, 0x88));
      sum = _mm512_add_pd(sum, _mm512_shuffle_f64x2(b2, b6, 0x88));
      sum = _mm512_add_pd(sum, _mm512_shuffle_f64x2(b3, b7, 0x88));
      sum = _mm512_add_pd(sum, _mm512_shuffle_f64x2(b0, b4, 0xdd));
      sum = _mm512_add_pd(sum, _mm512_shuffle_f64x2(b1, b5, 0xdd));
      sum = _mm512_add_pd(sum, _mm512_shuffle_f64x2(b2, b6, 0xdd));
      sum = _mm512_add_pd(sum, _mm512_shuffle_f64x2(b3, b7, 0xdd));
    }
    _mm512_storeu_pd(y + e, sum);
  }
#endif
  for (; e < m; e++) y[e] = eddy_add_lanes(y[e], n, x + e * width);
}

/* From lanes to rows: row l has the m elements of lane l. */
#define EDDY_ROWS(NAME_, T, FROM, CONVERT) \
  EDDY_HELPER void NAME_(int64_t m, int64_t n, int64_t width, const FROM *restrict x, T *restrict y) { \
    for (int64_t e = 0; e < m; e++) for (int64_t l = 0; l < n; l++) y[l * m + e] = CONVERT(x[e * width + l]); \
  }
#define EDDY_SAME(x) (x)
#define EDDY_TRUTH(x) ((x) != 0)
EDDY_ROWS(eddy_rows_num, double, double, EDDY_SAME)
EDDY_ROWS(eddy_rows_int, int64_t, int64_t, EDDY_SAME)
EDDY_ROWS(eddy_rows_bool, bool, int64_t, EDDY_TRUTH)

/* From rows to lanes: lane l has the m elements from `at[l]` on. */
#define EDDY_COLUMNS(NAME_, T, TO, CONVERT) \
  EDDY_HELPER void NAME_(int64_t m, int64_t width, const T *x, const int64_t *restrict at, TO *restrict y) { \
    for (int64_t e = 0; e < m; e++) for (int64_t l = 0; l < width; l++) y[e * width + l] = CONVERT(x[at[l] + e]); \
  }
#define EDDY_MASK(x) (-(int64_t)(x))
EDDY_COLUMNS(eddy_columns_num, double, double, EDDY_SAME)
EDDY_COLUMNS(eddy_columns_int, int64_t, int64_t, EDDY_SAME)
EDDY_COLUMNS(eddy_columns_bool, bool, int64_t, EDDY_MASK)

#endif
