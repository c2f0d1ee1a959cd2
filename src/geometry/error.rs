//! Errors of geometries.

use super::cells::CellDefect;
use super::fill::FillError;
use super::mesh::MeshError;
use super::surface_check::Position;

/// The reason why a geometry cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GeometryError {
    /// A size, modulus or other number that must be positive and finite.
    #[error("the {what} of a {shape} must be positive and finite, not {value}")]
    NotPositive {
        /// The shape's name.
        shape: &'static str,
        /// The quantity.
        what: &'static str,
        /// The given value.
        value: f64,
    },
    /// The arrays of a mesh are broken.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// The pressures do not match the vertices.
    #[error("the volume mesh has {vertices} vertices but {pressures} pressures: give one pressure for each vertex")]
    PressureCount {
        /// Count of vertices.
        vertices: usize,
        /// Count of pressures.
        pressures: usize,
    },
    /// A given pressure is negative.
    #[error(
        "the pressure at vertex {vertex} of the volume mesh, at {at}, is {pressure:.3e} Pa: contact needs pressures of 0 on \
         the boundary and above 0 inside; correct the file, or leave its pressures out"
    )]
    NegativePressure {
        /// The vertex with the smallest pressure.
        vertex: usize,
        /// Its position.
        at: Position,
        /// Its pressure \[Pa\].
        pressure: f64,
    },
    /// A given pressure is not zero on the boundary.
    #[error(
        "the pressure at vertex {vertex} of the volume mesh, at {at}, is {pressure:.3e} Pa, but the vertex lies on the \
         boundary: contact needs a pressure of 0 there; correct the file, or leave its pressures out"
    )]
    BoundaryPressure {
        /// The vertex with the largest pressure.
        vertex: usize,
        /// Its position.
        at: Position,
        /// Its pressure \[Pa\].
        pressure: f64,
    },
    /// A volume mesh without volume.
    #[error("none of the {tets} tetrahedra has any volume: check the mesh file and its scale")]
    NoVolume {
        /// Number of tetrahedra.
        tets: usize,
    },
    /// A surface mesh without area.
    #[error("none of the {triangles} triangles has any area: check the mesh file and its scale")]
    NoArea {
        /// Number of triangles.
        triangles: usize,
    },
    /// Points that span no volume where a convex hull is needed.
    #[error(
        "the {vertices} vertices span no volume, so they have no convex hull: make the geometry rigid, or a thin box"
    )]
    FlatHull {
        /// Number of vertices.
        vertices: usize,
    },
    /// A compliant mesh that is not convex where convexity is required.
    #[error(
        "the mesh is not convex (vertex {vertex} lies {distance:.3e} m outside the plane of triangle {triangle}), and a \
         compliant triangle mesh must be: declare it convex to use its hull, make it rigid, or give a volume mesh (.vtk)"
    )]
    NotConvex {
        /// The triangle whose plane cuts the mesh.
        triangle: usize,
        /// A vertex outside that plane.
        vertex: usize,
        /// Distance outside the plane \[m\].
        distance: f64,
    },
    /// A margin that is negative or not finite.
    #[error("the margin must be zero or positive and finite, not {value} m")]
    Margin {
        /// The given margin \[m\].
        value: f64,
    },
    /// A compliant half space without thickness.
    #[error("a compliant half space needs a slab thickness [m]: add `slab_thickness`, or make it rigid")]
    NoSlabThickness,
    /// A volume mesh without vertices inside and without pressures.
    #[error(
        "the volume mesh has no vertex inside, so a pressure from the distance to the surface is zero everywhere: give \
         a pressure for each vertex, or add a vertex inside"
    )]
    NoInteriorVertex,
    /// Tetrahedra that have no volume or overlap.
    #[error(transparent)]
    Cells(#[from] CellDefect),
    /// A triangle mesh that cannot be filled with tetrahedra.
    #[error(transparent)]
    Fill(#[from] Box<FillError>),
}
