/* The sizes and the agreed numbers of the recurrent layer. Rows of the kernel: forget, input, output, candidate gate. */
#ifndef LSTM_H
#define LSTM_H
#include "twin.h"
#ifndef UNITS
#define UNITS 64
#endif
#ifndef INPUTS
#define INPUTS 32
#endif
#ifndef STEPS
#define STEPS 100
#endif
#ifndef BATCH
#define BATCH 1
#endif
#ifndef NAME
#define NAME "h" TEXT(UNITS) "-b" TEXT(BATCH)
#endif
enum { H = UNITS, I = INPUTS, T = STEPS, K = INPUTS + UNITS, G = 4 * UNITS };

static inline real sigmoid(real x) { return (real)1 / ((real)1 + exp(-x)); }
#endif
