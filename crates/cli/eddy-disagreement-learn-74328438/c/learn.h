#ifndef LEARN_H
#define LEARN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes of the state, and how many outputs a step, or flush, can give. */
#define LEARN_STATE_BYTES 35651744
#define LEARN_MAX_OUTPUTS 1048576

/* What goes in at a cycle. */
typedef struct {
  double x; /* num [] */
  bool end; /* bool [] */
  bool bp; /* bool [] */
  double dh; /* num [] */
  bool dh_present;
} learn_in;

/* What comes out of a cycle. */
typedef struct {
  double h; /* num [] */
  bool bp; /* bool [] */
} learn_out;

/* What is remembered. It is plain data: copying it saves it. It is fastest at an address that is a multiple of 64. */
typedef struct {
  double w0[1048576]; /* x */
  bool w1[1048576]; /* bp */
  double w2[1048576]; /* dh */
  bool wf2[1048576];
  double w3[1048576]; /* h */
  double w4[1048576]; /* if (true fby end) then 0 else (0 fby (if end then 0 else h)) */
  int64_t n; /* cycles in the window */
  double u0; /* if (true fby end) then (0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby … */
  double u1; /* 0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5… */
  double u2; /* 0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((… */
  double u3; /* if end then 0 else (if (true fby end) then (0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((… */
  double u4; /* 1 - (h * h) */
  double u5; /* 1 - (h * h) */
  double u6; /* (0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((… */
  double u7; /* (0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((… */
  double u8; /* (0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby (… */
  double u9; /* (0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby (… */
  double u10; /* if end then 0 else (if (true fby end) then (0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby … */
  double p0; /* 0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5… */
  double p1; /* 0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((… */
  double r0_v19; /* if end then 0 else (if (true fby end) then (0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby … */
  double r0_v23; /* if end then 0 else (if (true fby end) then (0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((… */
  double r0_v26; /* if end then 0 else h */
  double r1_v36; /* if (true fby end) then 0 else ((if end then 0 else (0 fby back (if (true fby end) then 0 else ((if end then 0 else (0 fby back … */
  double r1_v39; /* if (true fby end) then 0 else ((if end then 0 else (0 fby back (if (true fby end) then 0 else ((if end then 0 else (0 fby back … */
  double r1_v42; /* if (true fby end) then 0 else ((d'h * (1 - (h * h))) * (if (true fby end) then (0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby … */
} learn_state;

/* Starts anew: what is learnt, and delays, have their initial values. */
void learn_reset(learn_state *self);
/* Starts anew, and keeps what was learnt. */
void learn_reset_state(learn_state *self);
/* To be called when parameters (fields k_...) were changed. */
void learn_prepare(learn_state *self);
/* A cycle. Gives how many cycles of outputs are complete now; they are in out, oldest first. Below 0 something went wrong:
   -n: equation n has no value, INT32_MIN: the window is too long, INT32_MIN + 1: it is of a kind that is not compiled. */
int32_t learn_step(learn_state *self, const learn_in *in, learn_out *out);
/* There are no more cycles. Gives 0: outputs of the cycles that are left are made of what would come then (post). */
int32_t learn_flush(learn_state *self, learn_out *out);

#endif
