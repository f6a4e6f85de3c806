#include "learn.h"
#include "eddy_rt.h"

_Static_assert(sizeof(learn_in) == 32, "size of learn_in");
_Static_assert(offsetof(learn_in, x) == 0, "x");
_Static_assert(offsetof(learn_in, end) == 8, "end");
_Static_assert(offsetof(learn_in, bp) == 9, "bp");
_Static_assert(offsetof(learn_in, dh) == 16, "dh");
_Static_assert(offsetof(learn_in, dh_present) == 24, "dh_present");
_Static_assert(sizeof(learn_out) == 16, "size of learn_out");
_Static_assert(offsetof(learn_out, h) == 0, "h");
_Static_assert(offsetof(learn_out, bp) == 8, "bp");
_Static_assert(sizeof(learn_state) == 35651744, "size of learn_state");
_Static_assert(offsetof(learn_state, w0) == 0, "w0");
_Static_assert(offsetof(learn_state, w1) == 8388608, "w1");
_Static_assert(offsetof(learn_state, w2) == 9437184, "w2");
_Static_assert(offsetof(learn_state, wf2) == 17825792, "wf2");
_Static_assert(offsetof(learn_state, w3) == 18874368, "w3");
_Static_assert(offsetof(learn_state, w4) == 27262976, "w4");
_Static_assert(offsetof(learn_state, n) == 35651584, "n");
_Static_assert(offsetof(learn_state, u0) == 35651592, "u0");
_Static_assert(offsetof(learn_state, u1) == 35651600, "u1");
_Static_assert(offsetof(learn_state, u2) == 35651608, "u2");
_Static_assert(offsetof(learn_state, u3) == 35651616, "u3");
_Static_assert(offsetof(learn_state, u4) == 35651624, "u4");
_Static_assert(offsetof(learn_state, u5) == 35651632, "u5");
_Static_assert(offsetof(learn_state, u6) == 35651640, "u6");
_Static_assert(offsetof(learn_state, u7) == 35651648, "u7");
_Static_assert(offsetof(learn_state, u8) == 35651656, "u8");
_Static_assert(offsetof(learn_state, u9) == 35651664, "u9");
_Static_assert(offsetof(learn_state, u10) == 35651672, "u10");
_Static_assert(offsetof(learn_state, p0) == 35651680, "p0");
_Static_assert(offsetof(learn_state, p1) == 35651688, "p1");
_Static_assert(offsetof(learn_state, r0_v19) == 35651696, "r0_v19");
_Static_assert(offsetof(learn_state, r0_v23) == 35651704, "r0_v23");
_Static_assert(offsetof(learn_state, r0_v26) == 35651712, "r0_v26");
_Static_assert(offsetof(learn_state, r1_v36) == 35651720, "r1_v36");
_Static_assert(offsetof(learn_state, r1_v39) == 35651728, "r1_v39");
_Static_assert(offsetof(learn_state, r1_v42) == 35651736, "r1_v42");

void learn_reset_state(learn_state *self) {
  self->n = 0;
}

void learn_reset(learn_state *self) {
  self->p0 = 0.5;
  self->p1 = 0.75;
  learn_prepare(self);
  learn_reset_state(self);
}

void learn_prepare(learn_state *self) {
  (void)self;
}

static int32_t learn_window0(learn_state *self, int64_t n, int alt, learn_out *out) {
  (void)alt;
  if (n == 1) {
    const int64_t t = 0;
    (void)t;
    const double v7 = (self->p0 * self->w0[t]); /* (if (true fby end) then (0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby … */
    const double v12 = (self->p1 * 0.0); /* (if (true fby end) then (0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby … */
    const double v13 = (v7 + v12); /* ((if (true fby end) then (0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby … */
    const double h_4 = eddy_tanh(v13); /* tanh(((if (true fby end) then (0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((… */
    const double v29 = (self->w1[t] ? self->w2[t] : 0.0); /* merge bp dh 0 */
    const double d_ph_45 = (v29 + 0.0); /* (merge bp dh 0) + (if end then 0 else (0 fby back (if (true fby end) then 0 else ((d'h * (1 - (h * h))) * (if (true fby end… */
    const double v47 = (h_4 * h_4); /* h * h */
    const double v48 = (1.0 - v47); /* 1 - (h * h) */
    const double v44 = (d_ph_45 * v48); /* d'h * (1 - (h * h)) */
    const double v49 = (v44 * 0.0); /* (d'h * (1 - (h * h))) * (if (true fby end) then 0 else (0 fby (if end then 0 else h))) */
    const double v40 = (0.0 + v49); /* (if end then 0 else (0 fby back (if (true fby end) then 0 else ((if end then 0 else (0 fby back (if (true fby end) then 0… */
    const double v34 = (0.0 + v40); /* (if (true fby false) then (if (true fby end) then 0 else ((if end then 0 else (0 fby back (if (true fby end) then 0 else … */
    const double v65 = (v44 * self->w0[t]); /* (d'h * (1 - (h * h))) * x */
    const double v37 = (0.0 + v65); /* (if end then 0 else (0 fby back (if (true fby end) then 0 else ((if end then 0 else (0 fby back (if (true fby end) then 0… */
    const double v33 = (0.0 + v37); /* (if (true fby false) then (if (true fby end) then 0 else ((if end then 0 else (0 fby back (if (true fby end) then 0 else … */
    const double v77 = (self->p0 + v33); /* (0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((… */
    const double v78 = (self->p1 + v34); /* (0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby (… */
    self->w3[t] = h_4;
    self->u6 = v77;
    self->u8 = v78;
    out[t].h = self->w3[t];
    out[t].bp = self->w1[t];
    self->p0 = self->u6;
    self->p1 = self->u8;
    return 1;
  }
  /* sweep 0, forwards */
  {
    const int64_t t = 0;
    (void)t;
    const double v17 = self->p0; /* 0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5… */
    const double v7 = (v17 * self->w0[t]); /* (if (true fby end) then (0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby … */
    const double v19 = v17; /* if end then 0 else (if (true fby end) then (0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby … */
    const double v21 = self->p1; /* 0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((… */
    const double v12 = (v21 * 0.0); /* (if (true fby end) then (0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby … */
    const double v13 = (v7 + v12); /* ((if (true fby end) then (0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby … */
    const double h_4 = eddy_tanh(v13); /* tanh(((if (true fby end) then (0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((… */
    const double v23 = v21; /* if end then 0 else (if (true fby end) then (0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((… */
    const double v47 = (h_4 * h_4); /* h * h */
    const double v48 = (1.0 - v47); /* 1 - (h * h) */
    self->u1 = v17;
    self->u10 = v19;
    self->u2 = v21;
    self->w3[t] = h_4;
    self->u3 = v23;
    self->u4 = v48;
    self->r0_v19 = v19;
    self->r0_v23 = v23;
    self->r0_v26 = h_4;
  }
  for (int64_t t = 1; t < n - 1; t++) {
    const double v7 = (self->u10 * self->w0[t]); /* (if (true fby end) then (0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby … */
    const double v11 = self->r0_v26; /* if (true fby end) then 0 else (0 fby (if end then 0 else h)) */
    const double v12 = (self->u3 * v11); /* (if (true fby end) then (0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby … */
    const double v13 = (v7 + v12); /* ((if (true fby end) then (0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby … */
    const double h_4 = eddy_tanh(v13); /* tanh(((if (true fby end) then (0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((… */
    self->w4[t] = v11;
    self->w3[t] = h_4;
    self->r0_v26 = h_4;
  }
  {
    const int64_t t = n - 1;
    (void)t;
    const double v7 = ((t == 1 ? self->r0_v19 : self->u10) * self->w0[t]); /* (if (true fby end) then (0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby … */
    const double v9 = (t == 1 ? self->r0_v23 : self->u3); /* if (true fby end) then (0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby … */
    const double v11 = self->r0_v26; /* if (true fby end) then 0 else (0 fby (if end then 0 else h)) */
    const double v12 = (v9 * v11); /* (if (true fby end) then (0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby … */
    const double v13 = (v7 + v12); /* ((if (true fby end) then (0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby … */
    const double h_4 = eddy_tanh(v13); /* tanh(((if (true fby end) then (0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((… */
    const double v47 = (h_4 * h_4); /* h * h */
    const double v48 = (1.0 - v47); /* 1 - (h * h) */
    self->u0 = v9;
    self->w4[t] = v11;
    self->w3[t] = h_4;
    self->u5 = v48;
  }
  /* sweep 1, backwards */
  {
    const int64_t t = n - 1;
    (void)t;
    const double v29 = (self->w1[t] ? self->w2[t] : 0.0); /* merge bp dh 0 */
    const double d_ph_45 = (v29 + 0.0); /* (merge bp dh 0) + (if end then 0 else (0 fby back (if (true fby end) then 0 else ((d'h * (1 - (h * h))) * (if (true fby end… */
    const double v44 = (d_ph_45 * self->u5); /* d'h * (1 - (h * h)) */
    const double v43 = (v44 * self->u0); /* (d'h * (1 - (h * h))) * (if (true fby end) then (0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby … */
    const double v49 = (v44 * self->w4[t]); /* (d'h * (1 - (h * h))) * (if (true fby end) then 0 else (0 fby (if end then 0 else h))) */
    const double v40 = (0.0 + v49); /* (if end then 0 else (0 fby back (if (true fby end) then 0 else ((if end then 0 else (0 fby back (if (true fby end) then 0… */
    const double v65 = (v44 * self->w0[t]); /* (d'h * (1 - (h * h))) * x */
    const double v37 = (0.0 + v65); /* (if end then 0 else (0 fby back (if (true fby end) then 0 else ((if end then 0 else (0 fby back (if (true fby end) then 0… */
    self->r1_v36 = v37;
    self->r1_v39 = v40;
    self->r1_v42 = v43;
  }
  for (int64_t t = n - 2; t > 0; t--) {
    const double v47 = (self->w3[t] * self->w3[t]); /* h * h */
    const double v48 = (1.0 - v47); /* 1 - (h * h) */
    const double v29 = (self->w1[t] ? self->w2[t] : 0.0); /* merge bp dh 0 */
    const double d_ph_45 = (v29 + self->r1_v42); /* (merge bp dh 0) + (if end then 0 else (0 fby back (if (true fby end) then 0 else ((d'h * (1 - (h * h))) * (if (true fby end… */
    const double v44 = (d_ph_45 * v48); /* d'h * (1 - (h * h)) */
    const double v43 = (v44 * self->u3); /* (d'h * (1 - (h * h))) * (if (true fby end) then (0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby … */
    const double v49 = (v44 * self->w4[t]); /* (d'h * (1 - (h * h))) * (if (true fby end) then 0 else (0 fby (if end then 0 else h))) */
    const double v40 = (self->r1_v39 + v49); /* (if end then 0 else (0 fby back (if (true fby end) then 0 else ((if end then 0 else (0 fby back (if (true fby end) then 0… */
    const double v65 = (v44 * self->w0[t]); /* (d'h * (1 - (h * h))) * x */
    const double v37 = (self->r1_v36 + v65); /* (if end then 0 else (0 fby back (if (true fby end) then 0 else ((if end then 0 else (0 fby back (if (true fby end) then 0… */
    self->r1_v36 = v37;
    self->r1_v39 = v40;
    self->r1_v42 = v43;
  }
  {
    const int64_t t = 0;
    (void)t;
    const double v29 = (self->w1[t] ? self->w2[t] : 0.0); /* merge bp dh 0 */
    const double d_ph_45 = (v29 + self->r1_v42); /* (merge bp dh 0) + (if end then 0 else (0 fby back (if (true fby end) then 0 else ((d'h * (1 - (h * h))) * (if (true fby end… */
    const double v44 = (d_ph_45 * self->u4); /* d'h * (1 - (h * h)) */
    const double v49 = (v44 * 0.0); /* (d'h * (1 - (h * h))) * (if (true fby end) then 0 else (0 fby (if end then 0 else h))) */
    const double v40 = (self->r1_v39 + v49); /* (if end then 0 else (0 fby back (if (true fby end) then 0 else ((if end then 0 else (0 fby back (if (true fby end) then 0… */
    const double v34 = (0.0 + v40); /* (if (true fby false) then (if (true fby end) then 0 else ((if end then 0 else (0 fby back (if (true fby end) then 0 else … */
    const double v65 = (v44 * self->w0[t]); /* (d'h * (1 - (h * h))) * x */
    const double v37 = (self->r1_v36 + v65); /* (if end then 0 else (0 fby back (if (true fby end) then 0 else ((if end then 0 else (0 fby back (if (true fby end) then 0… */
    const double v33 = (0.0 + v37); /* (if (true fby false) then (if (true fby end) then 0 else ((if end then 0 else (0 fby back (if (true fby end) then 0 else … */
    const double v77 = (self->u1 + v33); /* (0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((… */
    const double v78 = (self->u2 + v34); /* (0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby (… */
    self->u6 = v77;
    self->u8 = v78;
  }
  /* sweep 2, forwards */
  {
    const int64_t t = n - 1;
    (void)t;
    const double v77 = (self->u6 + 0.0); /* (0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((0.5 fby ((… */
    const double v78 = (self->u8 + 0.0); /* (0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby ((0.75 fby (… */
    self->u7 = v77;
    self->u9 = v78;
  }
  for (int64_t t = 0; t < n; t++) {
    if (t == 0) {
      out[t].h = self->w3[t];
      out[t].bp = self->w1[t];
    }
    else if (t < n - 1) {
      out[t].h = self->w3[t];
      out[t].bp = self->w1[t];
    }
    else {
      out[t].h = self->w3[t];
      out[t].bp = self->w1[t];
    }
  }
  self->p0 = self->u7;
  self->p1 = self->u9;
  return (int32_t)n;
}

int32_t learn_step(learn_state *self, const learn_in *in, learn_out *out) {
  const int64_t n = self->n;
  if (n >= 1048576) return INT32_MIN;
  self->w0[n] = in->x;
  self->w1[n] = in->bp;
  if (in->dh_present) {
    self->w2[n] = in->dh;
  }
  self->wf2[n] = in->dh_present;
  const bool closes = in->end;
  const int alt = 0;
  self->n = n + 1;
  if (!closes) return 0;
  self->n = 0;
  return learn_window0(self, n + 1, alt, out);
}

int32_t learn_flush(learn_state *self, learn_out *out) {
  (void)self;
  (void)out;
  return 0;
}
