/* What the twins of GradBench share: they speak its protocol, so that a twin answers the same lines as Eddy.
 *
 * A twin defines `functions`: each has a name, `prepare`, which copies the input into arrays of the twin, `run`, which is timed, and
 * `answer`, which prints the output. Build: cc -std=gnu11 -O3 -march=native -ffast-math -fopenmp-simd NAME.c -lm */
#ifndef TOOL_H
#define TOOL_H
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A JSON value. An array keeps the numbers of all its levels in one row; strings inside of arrays are dropped. */
typedef struct value value;
struct value {
  char *key;       /* in an object */
  char *text;      /* a string */
  double *numbers; /* a number, a truth value or an array */
  size_t n_numbers, n; /* n: elements of the outermost level, or members of an object */
  value *members;
};

static void *grow(void *of, size_t bytes) {
  void *to = realloc(of, bytes ? bytes : 1);
  if (!to) {
    fprintf(stderr, "out of memory\n");
    exit(1);
  }
  return to;
}

static char *skip(char *at) { return at + strspn(at, " \t\r\n,:"); }

static void push(value *to, double number) {
  if ((to->n_numbers & (to->n_numbers + 1)) == 0 || !to->numbers)
    to->numbers = grow(to->numbers, (2 * to->n_numbers + 2) * sizeof(double));
  to->numbers[to->n_numbers++] = number;
}

static char *read_string(char *at, char **text) {
  char *to = *text = ++at;
  while (*at && *at != '"') {
    if (*at == '\\' && at[1]) at++;
    *to++ = *at++;
  }
  char *end = *at ? at + 1 : at;
  *to = 0;
  return end;
}

/* Reads a value into `to`; the numbers of nested arrays are appended. */
static char *read_value(char *at, value *to) {
  at = skip(at);
  if (*at == '{') {
    at = skip(at + 1);
    while (*at && *at != '}') {
      to->members = grow(to->members, (to->n + 1) * sizeof(value));
      value *member = &to->members[to->n++];
      memset(member, 0, sizeof *member);
      at = read_string(at, &member->key);
      at = skip(read_value(at, member));
    }
    return at + 1;
  }
  if (*at == '[') {
    size_t n = 0;
    for (at = skip(at + 1); *at && *at != ']'; at = skip(at), n++) at = read_value(at, to);
    to->n = n;
    return at + 1;
  }
  if (*at == '"') return read_string(at, &to->text);
  if (*at == 't' || *at == 'f' || *at == 'n') {
    push(to, *at == 't');
    return at + strcspn(at, ",]}");
  }
  char *end;
  push(to, strtod(at, &end));
  return end == at ? at + 1 : end;
}

static void release(value *of) {
  for (size_t i = 0; of->members && i < of->n; i++) release(&of->members[i]);
  free(of->members);
  free(of->numbers);
}

static const value none;
static const value *get(const value *of, const char *key) {
  for (size_t i = 0; of->members && i < of->n; i++)
    if (!strcmp(of->members[i].key, key)) return &of->members[i];
  return &none;
}
static double number_of(const value *of, const char *key, double otherwise) {
  const value *found = get(of, key);
  return found->n_numbers ? found->numbers[0] : otherwise;
}
static inline int int_of(const value *of, const char *key) { return (int)number_of(of, key, 0); }

/* Copies the numbers of a member to memory that the next call reuses. */
static inline double *copy_of(double **to, const value *of, const char *key) {
  const value *found = get(of, key);
  *to = grow(*to, (found->n_numbers + 16) * sizeof(double));
  if (found->n_numbers) memcpy(*to, found->numbers, found->n_numbers * sizeof(double));
  return *to;
}
static inline int *ints_of(int **to, const value *of, const char *key) {
  const value *found = get(of, key);
  *to = grow(*to, (found->n_numbers + 1) * sizeof(int));
  for (size_t i = 0; i < found->n_numbers; i++) (*to)[i] = (int)found->numbers[i];
  return *to;
}

/* Memory on a boundary of vectors, freed by `free`. */
static inline void reserve(double **to, size_t n) {
  free(*to);
  if (posix_memalign((void **)to, 64, (n + 16) * sizeof(double))) exit(1);
  memset(*to, 0, (n + 16) * sizeof(double));
}

static inline void print_row(const double *of, size_t n) {
  putchar('[');
  for (size_t i = 0; i < n; i++) printf(i ? ",%.17g" : "%.17g", of[i]);
  putchar(']');
}
static inline void print_rows(const double *of, size_t rows, size_t columns) {
  putchar('[');
  for (size_t r = 0; r < rows; r++) {
    if (r) putchar(',');
    print_row(of + r * columns, columns);
  }
  putchar(']');
}
static inline void print_ints(const int *of, size_t n) {
  putchar('[');
  for (size_t i = 0; i < n; i++) printf(i ? ",%d" : "%d", of[i]);
  putchar(']');
}

typedef struct {
  const char *name;
  void (*prepare)(const value *input);
  void (*run)(void);
  void (*answer)(void);
} function;

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void evaluate(const value *message, const function *functions, int n_functions) {
  const char *name = get(message, "function")->text;
  const value *input = get(message, "input");
  for (int i = 0; i < n_functions; i++)
    if (name && !strcmp(name, functions[i].name)) {
      functions[i].prepare(input);
      int min_runs = (int)number_of(input, "min_runs", 1), runs = 0;
      double min_seconds = number_of(input, "min_seconds", input->members ? 1 : 0), seconds = 0;
      printf(",\"success\":true,\"timings\":[");
      while (runs < min_runs || seconds < min_seconds) {
        uint64_t start = now();
        functions[i].run();
        uint64_t took = now() - start;
        seconds += (double)took * 1e-9;
        printf("%s{\"name\":\"evaluate\",\"nanoseconds\":%llu}", runs++ ? "," : "", (unsigned long long)took);
      }
      printf("],\"output\":");
      functions[i].answer();
      return;
    }
  printf(",\"success\":false,\"error\":\"no such function\"");
}

static int serve(const function *functions, int n_functions) {
  char *line = NULL;
  size_t capacity = 0;
  static char buffer[1 << 16];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  while (getline(&line, &capacity, stdin) > 0) {
    value message = {0};
    read_value(line, &message);
    const char *kind = get(&message, "kind")->text;
    printf("{\"id\":%.0f", number_of(&message, "id", 0));
    if (kind && !strcmp(kind, "start")) printf(",\"tool\":\"twin\"");
    if (kind && !strcmp(kind, "define")) printf(",\"success\":true");
    if (kind && !strcmp(kind, "evaluate")) evaluate(&message, functions, n_functions);
    printf("}\n");
    fflush(stdout);
    release(&message);
  }
  free(line);
  return 0;
}

#define SERVE(...)                                                       \
  int main(void) {                                                       \
    static const function functions[] = {__VA_ARGS__};                   \
    return serve(functions, (int)(sizeof functions / sizeof *functions)); \
  }
#endif
