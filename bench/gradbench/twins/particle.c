/* The force is written out; the derivative by w is a tangent that goes along. All four modes have the same answer. */
#include "tool.h"

static double w, y;

static void prepare(const value *input) { w = number_of(input, "w", 0); }

typedef struct {
  double at, d; /* a number and its derivative by w */
} dual;

static dual path(double w) {
  double x[2] = {0, 8}, v[2] = {0.75, 0}, dx[2] = {0}, dv[2] = {0};
  const double dt = 0.1;
  for (;;) {
    double ahead[2] = {x[0] + dt * v[0], x[1] + dt * v[1]}, dahead[2] = {dx[0] + dt * dv[0], dx[1] + dt * dv[1]};
    if (ahead[1] <= 0) {
      double tau = ahead[1] / v[1], dtau = (dahead[1] - tau * dv[1]) / v[1];
      double e = ahead[0] - tau * v[0], de = dahead[0] - dtau * v[0] - tau * dv[0];
      return (dual){e * e, 2 * e * de};
    }
    /* The potential 1 / |r| of a charge pushes by r / |r|^3. */
    for (int charge = 0; charge < 2; charge++) {
      double r0 = x[0] - 10, r1 = x[1] - (charge ? 0 : 10 - w), d0 = dx[0], d1 = dx[1] + (charge ? 0 : 1);
      double inverse = 1 / (r0 * r0 + r1 * r1), cubed = inverse * sqrt(inverse);
      double along = 3 * (r0 * d0 + r1 * d1) * inverse;
      v[0] += dt * r0 * cubed;
      v[1] += dt * r1 * cubed;
      dv[0] += dt * (d0 - r0 * along) * cubed;
      dv[1] += dt * (d1 - r1 * along) * cubed;
    }
    memcpy(x, ahead, sizeof x);
    memcpy(dx, dahead, sizeof dx);
  }
}

static void run(void) {
  double x = w, eta = 1e-5;
  dual now = path(x);
  for (int i = 0; fabs(now.d) > 1e-5;) {
    if (i == 10) {
      eta *= 2;
      i = 0;
      continue;
    }
    double next = x - eta * now.d;
    if (fabs(x - next) <= 1e-5) break;
    dual then = path(next);
    if (then.at < now.at) {
      x = next;
      now = then;
      i++;
    } else {
      eta /= 2;
      i = 0;
    }
  }
  y = x;
}

static void answer(void) { printf("%.17g", y); }

SERVE({"rr", prepare, run, answer}, {"ff", prepare, run, answer}, {"fr", prepare, run, answer}, {"rf", prepare, run, answer})
