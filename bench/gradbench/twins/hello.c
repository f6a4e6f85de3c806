#include "tool.h"

static double x, y;
static void prepare(const value *input) { x = input->n_numbers ? input->numbers[0] : 0; }
static void square(void) { y = x * x; }
static void twice(void) { y = 2 * x; }
static void answer(void) { printf("%.17g", y); }

SERVE({"square", prepare, square, answer}, {"double", prepare, twice, answer})
