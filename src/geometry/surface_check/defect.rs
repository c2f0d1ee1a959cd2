//! Defects of a surface that cannot be repaired.

use crate::geometry::mesh::MeshError;
use crate::math::Vector3;

/// A point, for messages \[m\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position(pub Vector3);

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "({:.6}, {:.6}, {:.6})", self.0.x, self.0.y, self.0.z)
    }
}

/// A defect of a surface that cannot be repaired without guessing. Triangles are counted from 0, as in the
/// given mesh.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SurfaceDefect {
    /// Positions or indices are broken.
    #[error(transparent)]
    Array(#[from] MeshError),
    /// No triangle has an area.
    #[error("none of the {triangles} triangles has any area: check the mesh file and its scale")]
    Empty {
        /// The number of triangles.
        triangles: usize,
    },
    /// An edge with one triangle only.
    #[error(
        "the surface is open: {count} edges belong to one triangle only, among them that from {from} to {to} (triangle \
         {triangle}), at a hole too large to close by guessing: wrap the mesh (`wrap: 0.001` in the scene's materials, or `isobar mesh FILE --wrap 1mm`), \
         declare it convex to use its hull, or make it rigid"
    )]
    Open {
        /// The number of such edges.
        count: usize,
        /// A triangle.
        triangle: u32,
        /// One end of its edge.
        from: Position,
        /// The other end.
        to: Position,
    },
    /// An edge whose triangles disagree on the side that is inside.
    #[error(
        "{count} edges join triangles that disagree on the side that is inside, the first from {from} to {to} (triangles \
         {triangles:?}): wrap the mesh (`wrap: 0.001` in the scene's materials, or `isobar mesh FILE --wrap 1mm`), declare it convex to use its \
         hull, or make it rigid"
    )]
    NonManifold {
        /// The number of such edges.
        count: usize,
        /// The triangles at the first.
        triangles: Vec<u32>,
        /// One end of the edge.
        from: Position,
        /// The other end.
        to: Position,
    },
    /// A surface with one side, like a Moebius strip.
    #[error(
        "the surface has no outside: going around it, triangle {triangle} at {at} turns to its other side: wrap the \
         mesh (`isobar mesh FILE --wrap 1mm`), or rebuild it there"
    )]
    OneSided {
        /// A triangle.
        triangle: u32,
        /// Its centre.
        at: Position,
    },
    /// A component encloses nothing.
    #[error(
        "a part of the surface encloses no volume ({triangles} triangles, the first is {triangle} at {at}): wrap \
         the mesh (`isobar mesh FILE --wrap 1mm`), give the part thickness, or remove it"
    )]
    NoVolume {
        /// Count of its triangles.
        triangles: usize,
        /// Its first triangle.
        triangle: u32,
        /// Its centre.
        at: Position,
    },
}
