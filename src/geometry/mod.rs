//! Shapes, meshes, pressure fields and the contact surfaces between them. Knows no body, no robot and no friction.

mod mesh;
mod shape;

pub use mesh::{SurfaceMesh, VolumeMesh};
pub use shape::Shape;
