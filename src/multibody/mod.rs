//! Articulated bodies in minimal coordinates.
