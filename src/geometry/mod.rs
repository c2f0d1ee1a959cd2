//! Shapes, meshes, pressure fields and the contact surfaces between them. Knows no body, no robot and no friction.

mod aabb;
mod broad_phase;
mod bvh;
mod error;
mod hydroelastic;
pub mod make;
mod mesh;
mod pressure_field;
mod shape;

pub use aabb::Aabb;
pub use broad_phase::candidate_pairs;
pub use error::GeometryError;
pub use hydroelastic::{
    ContactSurface, FACE_AREA_MIN, FACE_GRADIENT_COSINE_MIN, FaceRepresentation, HydroelasticGeometry,
    HydroelasticParameters, HydroelasticWorkspace, NoContactSurface, RigidSurface, contact_surface, effective_gradient,
};
pub use mesh::{SurfaceMesh, VolumeMesh};
pub use pressure_field::{FacePlane, LinearPressure, NO_NEIGHBOUR, PressureField};
pub use shape::Shape;
