//! What can be wrong with a geometry.

/// Why a geometry cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GeometryError {
    /// A size, modulus or other number that must be positive and finite.
    #[error("the {what} of a {shape} must be positive and finite, not {value}")]
    NotPositive {
        /// The shape's name.
        shape: &'static str,
        /// The quantity.
        what: &'static str,
        /// What was given.
        value: f64,
    },
    /// A vertex quantity that is not finite.
    #[error("the {what} of vertex {vertex} is not finite: repair the mesh file")]
    NotFinite {
        /// The quantity.
        what: &'static str,
        /// Which vertex, counted from 0.
        vertex: usize,
    },
    /// The pressures do not match the vertices.
    #[error("the volume mesh has {vertices} vertices but {pressures} pressures: give one pressure for each vertex")]
    PressureCount {
        /// Count of vertices.
        vertices: usize,
        /// Count of pressures.
        pressures: usize,
    },
    /// An element names a vertex that does not exist.
    #[error("element {element} of the mesh names vertex {vertex}, but there are only {vertices}: repair the mesh file")]
    VertexIndex {
        /// Which element, counted from 0.
        element: usize,
        /// The vertex it names.
        vertex: u32,
        /// How many there are.
        vertices: usize,
    },
    /// A volume mesh without volume.
    #[error("none of the {tets} tetrahedra has any volume: is the mesh empty, or scaled to nothing?")]
    NoVolume {
        /// How many there are.
        tets: usize,
    },
    /// A surface mesh without area.
    #[error("none of the {triangles} triangles has any area: is the mesh empty, or scaled to nothing?")]
    NoArea {
        /// How many there are.
        triangles: usize,
    },
    /// Points that span no volume, where a convex hull is wanted.
    #[error(
        "the {vertices} vertices span no volume, so they have no convex hull: make the geometry rigid, or a thin box"
    )]
    FlatHull {
        /// How many there are.
        vertices: usize,
    },
    /// A mesh that is not convex, where only convex ones can be compliant.
    #[error(
        "the mesh is not convex (vertex {vertex} lies {distance:.3e} m outside the plane of triangle {triangle}), and a \
         compliant triangle mesh must be: declare it convex to use its hull, make it rigid, or give a volume mesh (.vtk)"
    )]
    NotConvex {
        /// The triangle whose plane cuts the mesh.
        triangle: usize,
        /// A vertex outside that plane.
        vertex: usize,
        /// How far outside [m].
        distance: f64,
    },
    /// A margin that is negative or not finite.
    #[error("the margin must be zero or positive and finite, not {value} m")]
    Margin {
        /// What was given [m].
        value: f64,
    },
    /// A compliant half space without thickness.
    #[error("a compliant half space needs a slab thickness [m]: add drake:mesh_slab_thickness, or make it rigid")]
    NoSlabThickness,
    /// A volume mesh without any vertex inside, and no pressures to go with it.
    #[error(
        "the volume mesh has no vertex inside, so a pressure from the distance to the surface is zero everywhere: give \
         a pressure for each vertex, or add a vertex inside"
    )]
    NoInteriorVertex,
    /// A triangle mesh that cannot be filled with tetrahedra.
    #[error(transparent)]
    Fill(#[from] Box<super::fill::FillError>),
}
