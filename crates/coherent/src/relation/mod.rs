//! Intersection types.
