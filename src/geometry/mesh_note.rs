//! What a person should know of a mesh that was accepted.

use super::surface_check::{Place, SurfaceDefect};

/// Something about a mesh that is not wrong enough to refuse it.
#[derive(Clone, Debug, PartialEq)]
pub enum MeshNote {
    /// The surface was repaired before it was used.
    Repaired {
        /// What was done, in words.
        repairs: String,
    },
    /// A filling lacks a part of the surface that is thinner than its edges.
    LeftOut {
        /// Where.
        at: Place,
        /// How far the part reaches out of the filling \[m\].
        distance: f64,
        /// Edge length of the filling \[m\].
        spacing: f64,
    },
    /// Tetrahedra without volume, or triangles without area.
    Skipped {
        /// What they are.
        what: &'static str,
        /// How many.
        count: usize,
    },
    /// Tetrahedra all of whose corners have no pressure.
    NoPressure {
        /// How many.
        count: usize,
        /// Of how many.
        of: usize,
    },
    /// A rigid surface is no closed, oriented surface.
    Unsound {
        /// What is wrong with it.
        defect: SurfaceDefect,
    },
    /// Parts of a rigid surface go through each other.
    Intersecting {
        /// How many pairs of triangles.
        count: usize,
        /// The first such pair, counted from 0.
        triangles: [u32; 2],
        /// Where they meet.
        at: Place,
    },
}

impl std::fmt::Display for MeshNote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Repaired { repairs } => write!(f, "the mesh was repaired: {repairs}"),
            Self::LeftOut { at, distance, spacing } => write!(
                f,
                "a part of the mesh is too thin for tetrahedra of {spacing:.3e} m and is left out: it reaches {distance:.3e} m out \
                 at {at}; give a smaller resolution hint"
            ),
            Self::Skipped { what, count } => write!(f, "{count} {what} take no part in contact"),
            Self::NoPressure { count, of } => write!(
                f,
                "{count} of {of} tetrahedra have no corner inside the mesh, so that there is no pressure in them and contact is \
                 not felt there: refine the mesh, or give a pressure for each vertex"
            ),
            Self::Unsound { defect } => unsound(defect, f),
            Self::Intersecting { count, triangles: [a, b], at } => write!(
                f,
                "parts of the rigid mesh go through each other ({count} pairs of triangles, the first {a} and {b} at {at}): what \
                 lies inside another part is felt too, where something reaches that deep; unite the parts"
            ),
        }
    }
}

/// What a defect means for a rigid surface, which is used as it is.
fn unsound(defect: &SurfaceDefect, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
    let felt = "a rigid mesh is felt on the outer side of its triangles, and what gets behind them is lost";
    match defect {
        SurfaceDefect::Open { count, triangle, from, to } => write!(
            f,
            "the rigid mesh is open: {count} edges belong to one triangle only, among them that from {from} to {to} (triangle \
             {triangle}); {felt}"
        ),
        SurfaceDefect::NonManifold { count, triangles, from, to } => write!(
            f,
            "{count} edges of the rigid mesh join triangles that disagree on what is inside, the first from {from} to {to} \
             (triangles {triangles:?}); {felt}"
        ),
        other => write!(f, "the rigid mesh has a defect: {other}; {felt}"),
    }
}
