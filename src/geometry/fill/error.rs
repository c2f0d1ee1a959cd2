//! Errors of filling a surface.

use crate::geometry::CellDefect;
use crate::geometry::surface_check::{Position, SurfaceDefect};

/// The reason why a surface cannot be filled with tetrahedra.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FillError {
    /// The surface itself is broken.
    #[error(transparent)]
    Surface(#[from] SurfaceDefect),
    /// Inside and outside are contradictory.
    #[error(
        "the inside of the mesh is undefined at {at}: separate the parts of the mesh that meet there, or declare it convex or rigid"
    )]
    Sides {
        /// The position.
        at: Position,
    },
    /// The tetrahedra overlap.
    #[error("the mesh cannot be filled: {defect}")]
    Cells {
        /// The defect.
        defect: CellDefect,
    },
    /// The hint or the distance of a wrap is out of range.
    #[error("the {what} must be positive and finite, not {value} m")]
    Hint {
        /// The quantity.
        what: &'static str,
        /// The given value \[m\].
        value: f64,
    },
    /// More tetrahedra than allowed.
    #[error(
        "filling the mesh at a resolution of {spacing:.3e} m takes about {estimate:.0} tetrahedra, more than the limit of \
         {tets_max}: give a larger resolution hint"
    )]
    TooMany {
        /// Edge length \[m\].
        spacing: f64,
        /// The number of tetrahedra needed.
        estimate: f64,
        /// The limit.
        tets_max: usize,
    },
    /// A part of the surface that is thinner than the finest lattice that the limit allows.
    #[error(
        "the mesh has parts too thin to fill: with edges of {spacing:.3e} m the filling still misses the surface by \
         {distance:.3e} m at {at}, and a finer one takes more than {tets_max} tetrahedra: {way_out}"
    )]
    Thin {
        /// Edge length \[m\].
        spacing: f64,
        /// Distance of the surface from the filling \[m\].
        distance: f64,
        /// The position.
        at: Position,
        /// The limit.
        tets_max: usize,
        /// Advice for the user.
        way_out: &'static str,
    },
}
