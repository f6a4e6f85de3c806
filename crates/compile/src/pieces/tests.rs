//! Functions and their pieces.

use expect_test::{Expect, expect};

use super::{Pieces, cut};
use crate::lines::Lines;

/// A function in pieces of two lines.
fn check(body: impl FnOnce(&mut Lines), expected: &Expect) {
    check_with(Pieces::of_lines(2), body, expected);
}

fn check_with(pieces: Pieces, body: impl FnOnce(&mut Lines), expected: &Expect) {
    let mut lines = Lines::default();
    lines.block("int32_t f_step(f_state *self, int64_t n)", body);
    expected.assert_eq(&cut(&lines, pieces));
}

fn put(lines: &mut Lines, texts: &[&str]) {
    for text in texts {
        lines.line(text);
    }
}

/// Lines that are there to make a function long.
const OTHERS: [&str; 6] =
    ["self->a = 1;", "self->b = 1;", "self->c = 1;", "self->d = 1;", "self->e = 1;", "self->f = 1;"];

#[test]
fn short_functions_are_left_alone() {
    check_with(
        Pieces::USUAL,
        |lines| put(lines, &["const double v1 = self->x;", "self->y = v1;", "return 1;"]),
        &expect![[r"
        int32_t f_step(f_state *self, int64_t n) {
          const double v1 = self->x;
          self->y = v1;
          return 1;
        }
    "]],
    );
}

#[test]
fn what_does_not_change_is_handed_on_and_what_changes_is_a_field() {
    check(
        |lines| {
            put(lines, &["double v1 = 0;", "const double v2 = self->x; /* v1 v2 */"]);
            lines.block("if (self->c)", |lines| lines.line("v1 = v2;"));
            put(lines, &["self->y = v1;", "out->v1 = v2;"]);
            put(lines, &OTHERS);
            put(lines, &["if (v1 > n) return 0;", "return 1;"]);
        },
        &expect![[r"

            #ifdef __GNUC__
            #define EDDY_PIECE static __attribute__((noinline))
            #else
            #define EDDY_PIECE static
            #endif
            /* What pieces of f_step know of each other. */
            typedef struct {
              double v1;
              double v2;
            } f_step_locals;

            EDDY_PIECE void f_step_piece0(f_step_locals *locals) {
              const double v2 = locals->v2;
              locals->v1 = v2;
            }

            EDDY_PIECE void f_step_piece1(f_state *self, f_step_locals *locals) {
              locals->v1 = 0;
              const double v2 = self->x; /* v1 v2 */
              locals->v2 = v2;
            }

            EDDY_PIECE void f_step_piece2(f_state *self, f_step_locals *locals) {
              if (self->c) {
                f_step_piece0(locals);
              }
            }

            EDDY_PIECE void f_step_piece3(f_state *self, f_step_locals *locals) {
              const double v2 = locals->v2;
              self->y = locals->v1;
              out->v1 = v2;
            }

            EDDY_PIECE void f_step_piece4(f_state *self) {
              self->a = 1;
              self->b = 1;
            }

            EDDY_PIECE void f_step_piece5(f_state *self) {
              self->c = 1;
              self->d = 1;
            }

            EDDY_PIECE void f_step_piece6(f_state *self) {
              self->e = 1;
              self->f = 1;
            }

            int32_t f_step(f_state *self, int64_t n) {
              f_step_locals known;
              f_step_locals *const locals = &known;
              f_step_piece1(self, locals);
              f_step_piece2(self, locals);
              f_step_piece3(self, locals);
              f_step_piece4(self);
              f_step_piece5(self);
              f_step_piece6(self);
              if (locals->v1 > n) return 0;
              return 1;
            }
        "]],
    );
}

#[test]
fn blocks_have_their_own_variables() {
    check(
        |lines| {
            put(lines, &["const int64_t t = n - 1;", "self->x = t;"]);
            lines.block("for (int64_t t = 0; t < n; t++)", |lines| {
                put(lines, &["self->a[t] = 1;", "self->b[t] = 1;", "self->c[t] = 1;"]);
            });
            put(lines, &OTHERS);
            put(lines, &["self->y = t;", "self->z = t;"]);
        },
        &expect![[r"

            #ifdef __GNUC__
            #define EDDY_PIECE static __attribute__((noinline))
            #else
            #define EDDY_PIECE static
            #endif
            /* What pieces of f_step know of each other. */
            typedef struct {
              int64_t t;
              int64_t t_;
            } f_step_locals;

            EDDY_PIECE void f_step_piece0(f_state *self, f_step_locals *locals) {
              const int64_t t = locals->t_;
              self->a[t] = 1;
              self->b[t] = 1;
            }

            EDDY_PIECE void f_step_piece1(f_state *self, f_step_locals *locals) {
              const int64_t t = locals->t_;
              self->c[t] = 1;
            }

            EDDY_PIECE void f_step_piece2(f_state *self, int64_t n, f_step_locals *locals) {
              const int64_t t = n - 1;
              locals->t = t;
              self->x = t;
            }

            EDDY_PIECE void f_step_piece3(f_state *self, int64_t n, f_step_locals *locals) {
              for (int64_t t = 0; t < n; t++) {
                locals->t_ = t;
                f_step_piece0(self, locals);
                f_step_piece1(self, locals);
              }
            }

            EDDY_PIECE void f_step_piece4(f_state *self) {
              self->a = 1;
              self->b = 1;
            }

            EDDY_PIECE void f_step_piece5(f_state *self) {
              self->c = 1;
              self->d = 1;
            }

            EDDY_PIECE void f_step_piece6(f_state *self) {
              self->e = 1;
              self->f = 1;
            }

            EDDY_PIECE void f_step_piece7(f_state *self, f_step_locals *locals) {
              const int64_t t = locals->t;
              self->y = t;
              self->z = t;
            }

            int32_t f_step(f_state *self, int64_t n) {
              f_step_locals known;
              f_step_locals *const locals = &known;
              f_step_piece2(self, n, locals);
              f_step_piece3(self, n, locals);
              f_step_piece4(self);
              f_step_piece5(self);
              f_step_piece6(self);
              f_step_piece7(self, locals);
            }
        "]],
    );
}

#[test]
fn indices_that_a_body_sets_are_known_to_pieces() {
    check(
        |lines| {
            lines.block("for (int64_t a = 0, b = 0; a < n; a = ++b)", |lines| {
                put(lines, &["while (b + 1 < n && !self->w[b]) b++;", "const int64_t m = b - a;"]);
                put(lines, &["self->x = m;", "self->y = a + b;", "self->z = m;"]);
            });
            put(lines, &OTHERS);
        },
        &expect![[r"

            #ifdef __GNUC__
            #define EDDY_PIECE static __attribute__((noinline))
            #else
            #define EDDY_PIECE static
            #endif
            /* What pieces of f_step know of each other. */
            typedef struct {
              int64_t a;
              int64_t b;
              int64_t m;
            } f_step_locals;

            EDDY_PIECE void f_step_piece0(f_state *self, f_step_locals *locals) {
              const int64_t a = locals->a;
              const int64_t b = locals->b;
              const int64_t m = b - a;
              locals->m = m;
              self->x = m;
            }

            EDDY_PIECE void f_step_piece1(f_state *self, f_step_locals *locals) {
              const int64_t a = locals->a;
              const int64_t b = locals->b;
              const int64_t m = locals->m;
              self->y = a + b;
              self->z = m;
            }

            EDDY_PIECE void f_step_piece2(f_state *self, int64_t n, f_step_locals *locals) {
              for (int64_t a = 0, b = 0; a < n; a = ++b) {
                locals->a = a;
                locals->b = b;
                while (b + 1 < n && !self->w[b]) b++;
                locals->b = b;
                f_step_piece0(self, locals);
                f_step_piece1(self, locals);
              }
            }

            EDDY_PIECE void f_step_piece3(f_state *self) {
              self->a = 1;
              self->b = 1;
            }

            EDDY_PIECE void f_step_piece4(f_state *self) {
              self->c = 1;
              self->d = 1;
            }

            EDDY_PIECE void f_step_piece5(f_state *self) {
              self->e = 1;
              self->f = 1;
            }

            int32_t f_step(f_state *self, int64_t n) {
              f_step_locals known;
              f_step_locals *const locals = &known;
              f_step_piece2(self, n, locals);
              f_step_piece3(self);
              f_step_piece4(self);
              f_step_piece5(self);
            }
        "]],
    );
}

#[test]
fn what_belongs_together_stays_together() {
    check(
        |lines| {
            put(lines, &["double s0[2][8];", "#pragma GCC unroll 2"]);
            lines.block("for (size_t b = 0; b < 2; b++)", |lines| put(lines, &OTHERS));
            lines.block("if (n == 1)", |lines| lines.line("self->x = s0[0][1];"));
            lines.block("else", |lines| lines.line("self->x = s0[1][0];"));
            put(lines, &["const double *const x1 = n == 1 ? self->x : self->y;", "self->z = x1[0];"]);
            put(lines, &["/* the last */", "self->z = x1[1];"]);
        },
        &expect![[r"

            #ifdef __GNUC__
            #define EDDY_PIECE static __attribute__((noinline))
            #else
            #define EDDY_PIECE static
            #endif
            /* What pieces of f_step know of each other. */
            typedef struct {
              double s0[2][8];
              const double *x1;
            } f_step_locals;

            EDDY_PIECE void f_step_piece0(f_state *self, f_step_locals *locals) {
              self->x = locals->s0[0][1];
            }

            EDDY_PIECE void f_step_piece1(f_state *self, f_step_locals *locals) {
              self->x = locals->s0[1][0];
            }

            EDDY_PIECE void f_step_piece2(f_state *self) {
              #pragma GCC unroll 2
              for (size_t b = 0; b < 2; b++) {
                self->a = 1;
                self->b = 1;
                self->c = 1;
                self->d = 1;
                self->e = 1;
                self->f = 1;
              }
            }

            EDDY_PIECE void f_step_piece3(f_state *self, int64_t n, f_step_locals *locals) {
              if (n == 1) {
                f_step_piece0(self, locals);
              }
              else {
                f_step_piece1(self, locals);
              }
            }

            EDDY_PIECE void f_step_piece4(f_state *self, int64_t n, f_step_locals *locals) {
              const double *const x1 = n == 1 ? self->x : self->y;
              locals->x1 = x1;
              self->z = x1[0];
            }

            EDDY_PIECE void f_step_piece5(f_state *self, f_step_locals *locals) {
              const double *const x1 = locals->x1;
              /* the last */
              self->z = x1[1];
            }

            int32_t f_step(f_state *self, int64_t n) {
              f_step_locals known;
              f_step_locals *const locals = &known;
              f_step_piece2(self);
              f_step_piece3(self, n, locals);
              f_step_piece4(self, n, locals);
              f_step_piece5(self, locals);
            }
        "]],
    );
}
