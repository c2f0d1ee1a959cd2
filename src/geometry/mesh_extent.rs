//! Size and identity of a mesh, for coherent contact queries.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Aabb;
use crate::math::Vector3;

/// The identity of the next mesh; zero means none. It assigns cached lists to meshes; no result depends on
/// its value.
static NEXT_IDENTITY: AtomicU64 = AtomicU64::new(1);

/// The size of a mesh and its identity, which a clone shares: meshes never change once they are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MeshExtent {
    /// The identity of the mesh in this process.
    pub(crate) identity: u64,
    /// Centre of a sphere around all vertices, in the mesh's frame \[m\].
    pub(crate) center: Vector3,
    /// Radius of that sphere \[m\].
    pub(crate) radius: f64,
    /// Mean over the elements of their shortest edges \[m\].
    pub(crate) element_size: f64,
}

impl MeshExtent {
    /// The extent of a mesh with these vertices and the corners of its elements, of which there is at least
    /// one. The sphere is centred on the box of the vertices.
    pub(crate) fn new<const N: usize>(vertices: &[Vector3], elements: &[[u32; N]]) -> Self {
        let center = Aabb::around(vertices).center();
        let radius = vertices.iter().map(|vertex| (vertex - center).norm()).fold(0.0, f64::max);
        let mut sum = 0.0;
        for element in elements {
            let corners = element.map(|vertex| vertices[vertex as usize]);
            let mut shortest = f64::INFINITY;
            for (i, a) in corners.iter().enumerate() {
                shortest = corners[..i].iter().map(|b| (a - b).norm()).fold(shortest, f64::min);
            }
            sum += shortest;
        }
        let identity = NEXT_IDENTITY.fetch_add(1, Ordering::Relaxed);
        Self { identity, center, radius, element_size: sum / elements.len() as f64 }
    }
}
