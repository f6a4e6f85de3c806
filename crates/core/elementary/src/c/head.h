#ifndef EDDY_INLINE

#include <float.h>
#include <stdint.h>

// The functions below return the same bits everywhere, provided that each operation is rounded separately.
#if defined(__FAST_MATH__)
#error "eddy: results would differ; compile without -ffast-math"
#endif
#if FLT_EVAL_METHOD != 0
#error "eddy: results would differ; compile for a machine that rounds each operation (on x86: -mfpmath=sse)"
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#endif

// A loop vectorises only if the functions that it calls are inlined.
#if defined(__GNUC__)
#define EDDY_INLINE static inline __attribute__((always_inline, unused))
#define EDDY_NOINLINE static __attribute__((noinline, cold, unused))
#else
#define EDDY_INLINE static inline
#define EDDY_NOINLINE static inline
#endif
