//! A surface under repair.

use super::defect::Position;
use super::report::SurfaceReport;
use crate::geometry::SurfaceMesh;
use crate::math::Vector3;

/// A mesh under repair; `source` holds the number of the given triangle that each triangle comes from.
pub(super) struct Work {
    pub(super) vertices: Vec<Vector3>,
    pub(super) triangles: Vec<[u32; 3]>,
    pub(super) source: Vec<u32>,
    pub(super) report: SurfaceReport,
}

impl Work {
    /// The given mesh, before any repair.
    pub(super) fn new(mesh: &SurfaceMesh) -> Self {
        Self {
            vertices: mesh.vertices.clone(),
            triangles: mesh.triangles.clone(),
            source: (0..mesh.triangles.len() as u32).collect(),
            report: SurfaceReport { triangles_given: mesh.triangles.len(), ..SurfaceReport::default() },
        }
    }
    /// Adds a triangle that comes from the given triangle `source`.
    pub(super) fn push(&mut self, triangle: [u32; 3], source: u32) {
        self.triangles.push(triangle);
        self.source.push(source);
    }
    /// Half the cross product of two edges of a triangle: its area along its normal \[m²\].
    pub(super) fn area_vector(&self, triangle: usize) -> Vector3 {
        let [a, b, c] = self.corners(triangle);
        (b - a).cross(&(c - a)) * 0.5
    }
    /// Leaves out the marked triangles.
    pub(super) fn leave_out(&mut self, gone: &[bool]) {
        let (mut of_triangle, mut of_source) = (gone.iter(), gone.iter());
        self.triangles.retain(|_| !of_triangle.next().copied().unwrap_or(false));
        self.source.retain(|_| !of_source.next().copied().unwrap_or(false));
    }
    /// The number of edges that are not passed equally often in both directions.
    pub(super) fn open_edges(&self) -> usize {
        self.edges()
            .chunk_by(|x, y| x.0 == y.0)
            .filter(|same| 2 * same.iter().filter(|e| e.2).count() != same.len())
            .count()
    }
    pub(super) fn corners(&self, triangle: usize) -> [Vector3; 3] {
        self.triangles[triangle].map(|vertex| self.vertices[vertex as usize])
    }
    pub(super) fn position(&self, vertex: u32) -> Position {
        Position(self.vertices[vertex as usize])
    }
    pub(super) fn center(&self, triangle: usize) -> Position {
        let [a, b, c] = self.corners(triangle);
        Position((a + b + c) / 3.0)
    }
    /// All edges as (sorted ends, triangle, whether the triangle passes it from the smaller end to the
    /// larger), sorted.
    pub(super) fn edges(&self) -> Vec<([u32; 2], u32, bool)> {
        let mut edges = Vec::with_capacity(3 * self.triangles.len());
        for (k, triangle) in self.triangles.iter().enumerate() {
            for i in 0..3 {
                let (a, b) = (triangle[i], triangle[(i + 1) % 3]);
                edges.push(([a.min(b), a.max(b)], k as u32, a < b));
            }
        }
        edges.sort_unstable();
        edges
    }
}
