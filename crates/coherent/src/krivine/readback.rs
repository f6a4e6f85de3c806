//! readback
