//! Shapes, meshes, pressure fields and the contact surfaces between them. This module does not depend on
//! bodies, robots or friction.
//!
//! A ball of radius 5 cm pressed 5 mm into a rigid floor:
//!
//! ```
//! # #![allow(non_snake_case)]
//! use isobar::geometry::{
//!     ContactSurface, HydroelasticGeometry, HydroelasticParameters, HydroelasticWorkspace, Shape,
//!     contact_surface,
//! };
//! use isobar::math::RigidTransform;
//!
//! let parameters = HydroelasticParameters {
//!     compliant: Some(1e5),
//!     resolution_hint: Some(0.01),
//!     slab_thickness: None,
//!     ..HydroelasticParameters::default()
//! };
//! let ball = HydroelasticGeometry::new(&Shape::Sphere { radius: 0.05 }, &parameters)?;
//! let floor = HydroelasticGeometry::RigidHalfSpace;
//! let (X_WA, X_WB) = (RigidTransform::translation(0.0, 0.0, 0.045), RigidTransform::identity());
//!
//! let mut workspace = HydroelasticWorkspace::default(); // both are reused from step to step
//! let mut surface = ContactSurface::new();
//! contact_surface(&ball, &X_WA, &floor, &X_WB, &mut workspace, &mut surface)?;
//! // pi E d^2 (1 - 2 d / (3 R)) = 7.3 N, less the volume outside the chords
//! let on_floor = surface.static_wrench_on_B().f;
//! assert!(on_floor.z < -6.0 && on_floor.z > -7.4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod aabb;
mod broad_phase;
mod bvh;
mod cells;
mod error;
pub mod fill;
mod hydroelastic;
mod intersections;
mod layers;
pub mod make;
mod mesh;
mod mesh_extent;
mod mesh_measure;
mod mesh_note;
mod pressure_field;
mod rigid;
mod shape;
mod signed_distance;
mod solid_angle;
pub mod surface_check;
mod surface_distance;
mod tetrahedra;
mod triangle_colors;
mod winding;

pub use aabb::Aabb;
pub use broad_phase::BroadPhase;
pub use cells::{CellDefect, check_cells};
pub use error::GeometryError;
pub use hydroelastic::{
    CoherenceCheck, CoherenceReport, ContactSurface, FACE_AREA_MIN, FACE_GRADIENT_COSINE_MIN, FacePart,
    FaceRepresentation, HydroelasticGeometry, HydroelasticWorkspace, NoContactSurface, RigidSurface, contact_surface,
    effective_gradient,
};
pub use make::HydroelasticParameters;
pub use mesh::{MeshError, SurfaceMesh, VolumeMesh};
pub use mesh_note::MeshNote;
pub use pressure_field::{FacePlane, LinearPressure, PressureField};
pub use rigid::{
    MESH_DEPTH, PointContacts, RigidShape, RigidWorkspace, contact_points, depth_beyond_reach, surfaces_cross,
};
pub use shape::Shape;
pub use tetrahedra::NO_NEIGHBOUR;
pub use triangle_colors::TriangleColors;
