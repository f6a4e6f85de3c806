/* What all twins share: the agreed numbers, how time is taken, and how a gradient is checked.
 *
 * A twin defines `turns`, the things that are timed, and `tensors`, its parameters and their derivatives, and ends in
 * `return twin_main(argc, argv, ...)`. Called without arguments it takes one turn; with `--turns` it takes one for each
 * line of standard input, so that sides can alternate. A turn prints a JSON line for each thing, or for the one that
 * `--only=NUMBER` chooses, and then an empty line.
 * With `--check` it compares derivatives with finite differences instead. `bench/README.md` tells the format. */
#ifndef TWIN_H
#define TWIN_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <tgmath.h>
#undef I /* of complex numbers */
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* `float` or `double`; finite differences need `double`. */
#ifndef REAL
#define REAL float
#endif
typedef REAL real;

/* Number `i` of the sequence `seed`, between -scale and scale: splitmix64, see bench/README.md. */
static inline double number(uint64_t seed, uint64_t i, double scale) {
  uint64_t z = (seed << 32) + (i + 1) * UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  z ^= z >> 31;
  return ((double)(z >> 11) * 0x1p-53 * 2.0 - 1.0) * scale;
}

static inline void fill(real *to, size_t n, uint64_t seed, double scale) {
  for (size_t i = 0; i < n; i++) to[i] = (real)number(seed, i, scale);
}

/* Something to time: `run` does it once, `check` says what came out. */
typedef struct {
  const char *workload;
  void (*run)(void);
  int (*check)(double *numbers); /* how many numbers */
} turn;

/* A parameter, and where its derivative is after `gradient`. */
typedef struct {
  real *value, *slope;
  size_t n;
} tensor;

enum { MAX_RUNS = 100000 };
/* Nanoseconds of a sample; reading the clock of a thread is a system call that takes up to ten microseconds. */
static const double LONG_ENOUGH = 1e6;
static double samples[MAX_RUNS];

/* Processor time of this thread: other work on the machine does not count. */
static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_size(const void *left, const void *right) {
  double x = *(const double *)left, y = *(const double *)right;
  return (x > y) - (x < y);
}

/* Runs for `seconds`, a batch of calls per sample where one call is too short to be timed. */
static void take_turn(const turn *it, double seconds) {
  double start = now_ns(), once;
  it->run();
  once = now_ns() - start;
  int batch = once > LONG_ENOUGH ? 1 : (int)(LONG_ENOUGH / (once + 1.0)) + 1;
  int runs = 0;
  double begin = now_ns();
  while (runs < MAX_RUNS && (runs < 5 || now_ns() - begin < seconds * 1e9)) {
    start = now_ns();
    for (int i = 0; i < batch; i++) it->run();
    samples[runs++] = (now_ns() - start) / batch;
  }
  qsort(samples, (size_t)runs, sizeof samples[0], by_size);
  double numbers[8];
  int n = it->check(numbers);
  printf("{\"workload\":\"%s\",\"peer\":\"C\",\"variant\":\"hand-written\",\"median_ns\":%.1f,\"p25_ns\":%.1f,"
         "\"p75_ns\":%.1f,\"runs\":%d,\"check\":[",
         it->workload, samples[runs / 2], samples[runs / 4], samples[3 * runs / 4], runs * batch);
  for (int i = 0; i < n; i++) printf("%s%.17g", i ? "," : "", numbers[i]);
  printf("]}\n");
}

/* The slope along a direction, by differences and by derivatives; three directions. */
static inline int check_slopes(double (*objective)(void), void (*gradient)(void), const tensor *tensors, int n_tensors) {
  const double step = 1e-5;
  int wrong = 0;
  for (uint64_t direction = 100; direction < 103; direction++) {
    double side[2], slope = 0;
    for (int sign = 0; sign < 2; sign++) {
      double by = sign ? -step : step;
      for (int k = 0; k < n_tensors; k++)
        for (size_t i = 0; i < tensors[k].n; i++)
          tensors[k].value[i] += (real)(by * number(direction + 10 * (uint64_t)k, i, 1));
      side[sign] = objective();
      for (int k = 0; k < n_tensors; k++)
        for (size_t i = 0; i < tensors[k].n; i++)
          tensors[k].value[i] -= (real)(by * number(direction + 10 * (uint64_t)k, i, 1));
    }
    gradient();
    for (int k = 0; k < n_tensors; k++)
      for (size_t i = 0; i < tensors[k].n; i++)
        slope += (double)tensors[k].slope[i] * number(direction + 10 * (uint64_t)k, i, 1);
    double difference = (side[0] - side[1]) / (2 * step);
    int is_right = fabs(slope - difference) <= 1e-6 * (fabs(slope) + fabs(difference)) + 1e-9;
    printf("%s: derivative %.10g, differences %.10g\n", is_right ? "right" : "WRONG", slope, difference);
    wrong += !is_right;
  }
  return wrong != 0;
}

static inline double norm(const tensor *tensors, int n_tensors) {
  double sum = 0;
  for (int k = 0; k < n_tensors; k++)
    for (size_t i = 0; i < tensors[k].n; i++) sum += (double)tensors[k].slope[i] * (double)tensors[k].slope[i];
  return sqrt(sum);
}

/* One core, the last one that is allowed, so that a turn is not moved about. */
static void pin(void) {
  cpu_set_t allowed, one;
  if (sched_getaffinity(0, sizeof allowed, &allowed)) return;
  for (int core = CPU_SETSIZE - 1; core >= 0; core--)
    if (CPU_ISSET(core, &allowed)) {
      CPU_ZERO(&one);
      CPU_SET(core, &one);
      (void)sched_setaffinity(0, sizeof one, &one);
      return;
    }
}

static int twin_main(int argc, char **argv, const turn *turns, int n_turns, int (*check)(void)) {
  int by_line = 0, pinned = 1, first = 0;
  double seconds = 0.3;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--check")) return check();
    if (!strcmp(argv[i], "--turns")) by_line = 1;
    if (!strcmp(argv[i], "--unpinned")) pinned = 0;
    if (!strncmp(argv[i], "--seconds=", 10)) seconds = atof(argv[i] + 10);
    if (!strncmp(argv[i], "--only=", 7)) n_turns = (first = atoi(argv[i] + 7)) + 1;
  }
  if (pinned) pin();
  char line[64];
  while (!by_line || fgets(line, sizeof line, stdin)) {
    for (int i = first; i < n_turns; i++) take_turn(&turns[i], seconds);
    printf("\n");
    fflush(stdout);
    if (!by_line) break;
  }
  return 0;
}

/* A name from sizes: NAME(lstm-train-h, UNITS, -b1) would be "lstm-train-h64-b1". */
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#endif
