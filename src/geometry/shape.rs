//! The shapes that a collision or visual geometry can have.

use std::sync::Arc;

use super::{SurfaceMesh, VolumeMesh};
use crate::math::Vector3;

/// A shape in its own frame: centred at the origin, axes of cylinders and capsules along z (as in URDF).
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Ball.
    Sphere {
        /// Radius \[m\].
        radius: f64,
    },
    /// Ellipsoid.
    Ellipsoid {
        /// Semi-axes along x, y, z \[m\].
        semi_axes: Vector3,
    },
    /// Box.
    Box {
        /// Full edge lengths along x, y, z \[m\].
        size: Vector3,
    },
    /// Cylinder along z.
    Cylinder {
        /// Radius \[m\].
        radius: f64,
        /// Length along z \[m\].
        length: f64,
    },
    /// Capsule along z.
    Capsule {
        /// Radius \[m\].
        radius: f64,
        /// Length of the cylindrical part along z, without the caps \[m\].
        length: f64,
    },
    /// The half space z <= 0.
    HalfSpace,
    /// A closed triangle mesh, scale applied.
    Mesh(Arc<SurfaceMesh>),
    /// The convex hull of a triangle mesh, scale applied.
    Convex(Arc<SurfaceMesh>),
    /// A tetrahedral mesh; `pressure` per vertex \[Pa\] if the file gives one.
    Volume {
        /// The mesh, scale applied.
        mesh: Arc<VolumeMesh>,
        /// Pressure at each vertex \[Pa\]; computed from the distance to the surface if absent.
        pressure: Option<Arc<Vec<f64>>>,
    },
}

impl Shape {
    /// The shape's name in messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Shape::Sphere { .. } => "sphere",
            Shape::Ellipsoid { .. } => "ellipsoid",
            Shape::Box { .. } => "box",
            Shape::Cylinder { .. } => "cylinder",
            Shape::Capsule { .. } => "capsule",
            Shape::HalfSpace => "half space",
            Shape::Mesh(_) => "mesh",
            Shape::Convex(_) => "convex mesh",
            Shape::Volume { .. } => "volume mesh",
        }
    }
}
