//! Why a surface is not filled.

use crate::geometry::surface_check::{Place, SurfaceDefect};

/// Why a surface cannot be filled with tetrahedra.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FillError {
    /// The surface itself is broken.
    #[error(transparent)]
    Surface(#[from] SurfaceDefect),
    /// The hint or the limit is out of range.
    #[error("the resolution hint must be positive and finite, not {value} m")]
    Hint {
        /// What was given [m].
        value: f64,
    },
    /// More tetrahedra than allowed.
    #[error(
        "filling the mesh at a resolution of {spacing:.3e} m takes about {estimate:.0} tetrahedra, more than the limit of \
         {tets_max}: give a larger resolution hint, or raise the limit"
    )]
    TooMany {
        /// Edge length [m].
        spacing: f64,
        /// How many it would be.
        estimate: f64,
        /// The limit.
        tets_max: usize,
    },
    /// A part of the surface that is thinner than the finest lattice that the limit allows.
    #[error(
        "the mesh has parts too thin to fill: with edges of {spacing:.3e} m the filling still misses the surface by \
         {distance:.3e} m at {at}, and a finer one takes more than {tets_max} tetrahedra: raise the \
         limit, thicken the part, or declare the mesh rigid or convex"
    )]
    Thin {
        /// Edge length [m].
        spacing: f64,
        /// How far the surface is from the filling [m].
        distance: f64,
        /// Where.
        at: Place,
        /// The limit.
        tets_max: usize,
    },
}
