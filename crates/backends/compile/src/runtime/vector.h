/* Vectors of numbers of type NUM: as wide as the machine supports, or one number wide. */
#ifndef EDDY_RT_VECTOR_NUM
#define EDDY_RT_VECTOR_NUM

#if defined(__AVX512F__)
#include <immintrin.h>
#define EDDY_LANES_NUM WIDE_LANES
/* The number of rows of a product computed at once, for 32 registers. */
#define EDDY_TILE_ROWS_NUM 8
typedef WIDE_TYPE EddyVectorSUFFIX;
EDDY_INLINE EddyVectorSUFFIX eddy_vector_loadSUFFIX(const NUM *p) { return _mm512_loadu_PS(p); }
EDDY_INLINE void eddy_vector_storeSUFFIX(NUM *p, EddyVectorSUFFIX x) { _mm512_storeu_PS(p, x); }
/* The first n numbers of a vector. */
EDDY_INLINE EddyVectorSUFFIX eddy_vector_load_partSUFFIX(const NUM *p, size_t n) {
  return _mm512_maskz_loadu_PS((WIDE_MASK)((1U << n) - 1U), p);
}
EDDY_INLINE void eddy_vector_store_partSUFFIX(NUM *p, EddyVectorSUFFIX x, size_t n) {
  _mm512_mask_storeu_PS(p, (WIDE_MASK)((1U << n) - 1U), x);
}
EDDY_INLINE EddyVectorSUFFIX eddy_vector_allSUFFIX(NUM x) { return _mm512_set1_PS(x); }
EDDY_INLINE EddyVectorSUFFIX eddy_vector_mulSUFFIX(EddyVectorSUFFIX x, EddyVectorSUFFIX y) { return _mm512_mul_PS(x, y); }
EDDY_INLINE EddyVectorSUFFIX eddy_vector_addSUFFIX(EddyVectorSUFFIX x, EddyVectorSUFFIX y) { return _mm512_add_PS(x, y); }
EDDY_INLINE EddyVectorSUFFIX eddy_vector_fmaSUFFIX(EddyVectorSUFFIX x, EddyVectorSUFFIX y, EddyVectorSUFFIX z) {
  return _mm512_fmadd_PS(x, y, z);
}
#elif defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
#define EDDY_LANES_NUM (WIDE_LANES / 2)
/* For 16 registers. */
#define EDDY_TILE_ROWS_NUM 4
typedef HALF_TYPE EddyVectorSUFFIX;
EDDY_INLINE EddyVectorSUFFIX eddy_vector_loadSUFFIX(const NUM *p) { return _mm256_loadu_PS(p); }
EDDY_INLINE void eddy_vector_storeSUFFIX(NUM *p, EddyVectorSUFFIX x) { _mm256_storeu_PS(p, x); }
/* The first n numbers of a vector. */
EDDY_INLINE EddyVectorSUFFIX eddy_vector_load_partSUFFIX(const NUM *p, size_t n) { return _mm256_maskload_PS(p, HALF_MASK); }
EDDY_INLINE void eddy_vector_store_partSUFFIX(NUM *p, EddyVectorSUFFIX x, size_t n) { _mm256_maskstore_PS(p, HALF_MASK, x); }
EDDY_INLINE EddyVectorSUFFIX eddy_vector_allSUFFIX(NUM x) { return _mm256_set1_PS(x); }
EDDY_INLINE EddyVectorSUFFIX eddy_vector_mulSUFFIX(EddyVectorSUFFIX x, EddyVectorSUFFIX y) { return _mm256_mul_PS(x, y); }
EDDY_INLINE EddyVectorSUFFIX eddy_vector_addSUFFIX(EddyVectorSUFFIX x, EddyVectorSUFFIX y) { return _mm256_add_PS(x, y); }
EDDY_INLINE EddyVectorSUFFIX eddy_vector_fmaSUFFIX(EddyVectorSUFFIX x, EddyVectorSUFFIX y, EddyVectorSUFFIX z) {
  return _mm256_fmadd_PS(x, y, z);
}
#else
#define EDDY_LANES_NUM 1
#define EDDY_TILE_ROWS_NUM 4
typedef NUM EddyVectorSUFFIX;
EDDY_INLINE EddyVectorSUFFIX eddy_vector_loadSUFFIX(const NUM *p) { return *p; }
EDDY_INLINE void eddy_vector_storeSUFFIX(NUM *p, EddyVectorSUFFIX x) { *p = x; }
/* The first n numbers of a vector: there are none. */
EDDY_INLINE EddyVectorSUFFIX eddy_vector_load_partSUFFIX(const NUM *p, size_t n) { return n == 0 ? 0 : *p; }
EDDY_INLINE void eddy_vector_store_partSUFFIX(NUM *p, EddyVectorSUFFIX x, size_t n) {
  if (n > 0) *p = x;
}
EDDY_INLINE EddyVectorSUFFIX eddy_vector_allSUFFIX(NUM x) { return x; }
EDDY_INLINE EddyVectorSUFFIX eddy_vector_mulSUFFIX(EddyVectorSUFFIX x, EddyVectorSUFFIX y) { return x * y; }
EDDY_INLINE EddyVectorSUFFIX eddy_vector_addSUFFIX(EddyVectorSUFFIX x, EddyVectorSUFFIX y) { return x + y; }
EDDY_INLINE EddyVectorSUFFIX eddy_vector_fmaSUFFIX(EddyVectorSUFFIX x, EddyVectorSUFFIX y, EddyVectorSUFFIX z) {
  return eddy_fmaSUFFIX(x, y, z);
}
#endif

#endif
