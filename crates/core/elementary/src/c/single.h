// The angle of a large number: computed in double precision, then rounded.
EDDY_NOINLINE Angle far_angle(Num x) {
    const EddyAngle wide = eddy_far_angle((double)x);
    const Num hi = (Num)wide.hi;
    return angle((Bits)wide.quarters, hi, (Num)(wide.hi - (double)hi));
}
