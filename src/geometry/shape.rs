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

    /// A point inside the shape, in its frame \[m\]: its middle or, for a convex mesh, the mean of its
    /// vertices. `None` for a half space and for meshes that may be hollow.
    pub fn middle(&self) -> Option<Vector3> {
        match self {
            Shape::HalfSpace | Shape::Mesh(_) | Shape::Volume { .. } => None,
            Shape::Convex(mesh) => {
                let sum: Vector3 = mesh.vertices.iter().sum();
                (!mesh.vertices.is_empty()).then(|| sum / mesh.vertices.len() as f64)
            }
            _ => Some(Vector3::zeros()),
        }
    }

    /// Whether `p_G` [m, in the shape's frame] is inside the shape; `None` for meshes.
    pub fn contains(&self, p_G: &Vector3) -> Option<bool> {
        match *self {
            Shape::Sphere { radius } => Some(p_G.norm() < radius),
            Shape::Ellipsoid { semi_axes } => Some(p_G.component_div(&semi_axes).norm() < 1.0),
            Shape::Box { size } => Some((p_G.abs() - 0.5 * size).max() < 0.0),
            Shape::Cylinder { radius, length } => Some(p_G.xy().norm() < radius && p_G.z.abs() < 0.5 * length),
            Shape::Capsule { radius, length } => {
                let axis = p_G.z.clamp(-0.5 * length, 0.5 * length);
                Some((p_G - Vector3::z() * axis).norm() < radius)
            }
            Shape::HalfSpace => Some(p_G.z < 0.0),
            Shape::Mesh(_) | Shape::Convex(_) | Shape::Volume { .. } => None,
        }
    }
}
