//! Convex meshes: hulls of points, and the star of tetrahedra around the centroid.

use std::collections::BTreeMap;

use super::star::{MedialMesh, star};
use crate::geometry::bvh::Bvh;
use crate::geometry::mesh_measure::centroid;
use crate::geometry::{Aabb, GeometryError, SurfaceMesh};
use crate::math::Vector3;

/// A point counts as outside a plane when it is farther than this share of the mesh's size: single-precision
/// files (STL) leave about 1e-7. [-]
const CONVEX_TOLERANCE: f64 = 1e-6;
/// The same threshold while a hull is built from the given points. [-]
const HULL_TOLERANCE: f64 = 1e-10;

/// Length of the diagonal of the box around the points \[m\].
fn size(vertices: &[Vector3]) -> f64 {
    let bounds = Aabb::around(vertices);
    if bounds.is_empty() { 0.0 } else { (bounds.max - bounds.min).norm() }
}

/// Accepts a mesh that is convex: no vertex lies outside the plane of any triangle.
///
/// # Errors
/// The first vertex that lies outside the plane of a triangle, or an invalid index or position.
pub fn check_convex(mesh: &SurfaceMesh) -> Result<(), GeometryError> {
    crate::geometry::mesh::check_vertices(&mesh.vertices)?;
    crate::geometry::mesh::check_indices(mesh.triangles.iter().map(|t| t.as_slice()), mesh.vertices.len())?;
    let tolerance = CONVEX_TOLERANCE * size(&mesh.vertices);
    // Of the boxes around vertices, only those that reach through the plane are opened: few if the mesh is
    // convex.
    let boxes = (0_u32..).zip(&mesh.vertices).map(|(vertex, p)| (vertex, Aabb { min: *p, max: *p }));
    let tree = Bvh::new(boxes);
    for (triangle, corners) in mesh.triangles.iter().enumerate() {
        let [a, b, c] = corners.map(|vertex| mesh.vertices[vertex as usize]);
        let Some(normal) = (b - a).cross(&(c - a)).try_normalize(0.0) else { continue };
        let distance = |p: &Vector3| normal.dot(&(p - a));
        let through = |node: &Aabb| distance(&node.center()) + normal.abs().dot(&node.half_extents()) > tolerance;
        let mut first = u32::MAX;
        tree.walk(through, |vertex, _| first = first.min(vertex));
        if let Some(position) = mesh.vertices.get(first as usize) {
            return Err(GeometryError::NotConvex { triangle, vertex: first as usize, distance: distance(position) });
        }
    }
    Ok(())
}

/// The star of a convex surface around its centroid.
pub(super) fn medial(surface: &SurfaceMesh) -> Result<MedialMesh, GeometryError> {
    let (volume, center) = centroid(surface);
    let depth = surface
        .triangles
        .iter()
        .filter_map(|triangle| {
            let [a, b, c] = triangle.map(|vertex| surface.vertices[vertex as usize]);
            (b - a).cross(&(c - a)).try_normalize(0.0).map(|normal| normal.dot(&(a - center)))
        })
        .fold(f64::INFINITY, f64::min);
    if !(volume > 0.0 && depth > 0.0 && depth.is_finite()) {
        return Err(GeometryError::FlatHull { vertices: surface.vertices.len() });
    }
    Ok(MedialMesh::star(star(surface, center), depth))
}

/// A triangle of a growing hull, with the points outside its plane.
struct Facet {
    corners: [u32; 3],
    normal: Vector3,
    offset: f64,
    outside: Vec<u32>,
    alive: bool,
}

impl Facet {
    fn new(points: &[Vector3], corners: [u32; 3]) -> Self {
        let [a, b, c] = corners.map(|vertex| points[vertex as usize]);
        let normal = (b - a).cross(&(c - a)).try_normalize(0.0).unwrap_or_default();
        Self { corners, normal, offset: normal.dot(&a), outside: Vec::new(), alive: true }
    }
    fn distance(&self, point: &Vector3) -> f64 {
        self.normal.dot(point) - self.offset
    }
    fn edges(&self) -> [(u32, u32); 3] {
        let [a, b, c] = self.corners;
        [(a, b), (b, c), (c, a)]
    }
}

/// The convex hull of points as a closed surface, by quickhull: the point farthest outside a facet is
/// connected to the border of all facets that it can see, and these facets are removed. Vertices keep the
/// order of `points`.
///
/// # Errors
/// A position that is not finite, or points that span no volume.
pub fn hull(points: &[Vector3]) -> Result<SurfaceMesh, GeometryError> {
    crate::geometry::mesh::check_vertices(points)?;
    let flat = GeometryError::FlatHull { vertices: points.len() };
    let tolerance = HULL_TOLERANCE * size(points);
    let mut hull = GrowingHull::new(first_tetrahedron(points, tolerance).ok_or(flat)?, tolerance);
    let all: Vec<u32> = (0..points.len() as u32).collect();
    assign(points, &all, &mut hull.facets, tolerance);
    // New facets are appended, so those before `at` have no points outside, and each round moves on or uses a
    // point.
    let mut at = 0;
    while let Some(facet) = hull.facets.get(at) {
        let farthest = facet.outside.iter().copied().max_by(|&a, &b| {
            facet.distance(&points[a as usize]).total_cmp(&facet.distance(&points[b as usize])).then(b.cmp(&a))
        });
        match farthest {
            Some(apex) if facet.alive => hull.add_apex(points, apex, at),
            _ => at += 1,
        }
    }
    Ok(compact(points, &hull.facets))
}

/// Four points far from each other, as the first hull.
fn first_tetrahedron(points: &[Vector3], tolerance: f64) -> Option<Vec<Facet>> {
    let farthest = |measure: &dyn Fn(&Vector3) -> f64| {
        let best =
            (0..points.len()).max_by(|&a, &b| measure(&points[a]).total_cmp(&measure(&points[b])).then(b.cmp(&a)))?;
        (measure(&points[best]) > tolerance).then_some(best)
    };
    let a = (0..points.len()).min_by(|&i, &j| points[i].x.total_cmp(&points[j].x).then(i.cmp(&j)))?;
    let p = points[a];
    let b = farthest(&|x| (x - p).norm())?;
    let along = (points[b] - p).normalize();
    let c = farthest(&|x| (x - p).cross(&along).norm())?;
    let normal = (points[b] - p).cross(&(points[c] - p)).normalize();
    let d = farthest(&|x| (x - p).dot(&normal).abs())?;
    let above = (points[d] - p).dot(&normal) > 0.0;
    let (b, c) = if above { (c, b) } else { (b, c) };
    let [a, b, c, d] = [a, b, c, d].map(|vertex| vertex as u32);
    // (a, b, c) now faces away from d
    Some([[a, b, c], [a, d, b], [b, d, c], [c, d, a]].map(|corners| Facet::new(points, corners)).into())
}

/// Assigns each point to the first facet that has it outside.
fn assign(points: &[Vector3], candidates: &[u32], facets: &mut [Facet], tolerance: f64) {
    for &candidate in candidates {
        let point = &points[candidate as usize];
        if let Some(facet) = facets.iter_mut().find(|facet| facet.distance(point) > tolerance) {
            facet.outside.push(candidate);
        }
    }
}

/// A hull to which points are added, with the facet of each directed edge.
struct GrowingHull {
    /// All facets that ever were, in the order of their making.
    facets: Vec<Facet>,
    facet_of_edge: BTreeMap<(u32, u32), usize>,
    tolerance: f64,
}

impl GrowingHull {
    fn new(facets: Vec<Facet>, tolerance: f64) -> Self {
        let mut hull = Self { facets: Vec::new(), facet_of_edge: BTreeMap::new(), tolerance };
        facets.into_iter().for_each(|facet| hull.push(facet));
        hull
    }

    fn push(&mut self, facet: Facet) {
        self.facet_of_edge.extend(facet.edges().map(|edge| (edge, self.facets.len())));
        self.facets.push(facet);
    }

    /// Replaces the facets that see `apex`, which are connected with facet `first` of them, by a cone from it
    /// to their border.
    fn add_apex(&mut self, points: &[Vector3], apex: u32, first: usize) {
        let position = points[apex as usize];
        self.facets[first].alive = false;
        let mut seeing = vec![first];
        let mut border: Vec<(u32, u32)> = Vec::new();
        let mut next = 0;
        while let Some(&at) = seeing.get(next) {
            next += 1;
            for (a, b) in self.facets[at].edges() {
                match self.facet_of_edge.get(&(b, a)).copied() {
                    Some(beyond) if !self.facets[beyond].alive => {}
                    Some(beyond) if self.facets[beyond].distance(&position) > self.tolerance => {
                        self.facets[beyond].alive = false;
                        seeing.push(beyond);
                    }
                    _ => border.push((a, b)),
                }
            }
        }
        seeing.sort_unstable();
        let mut orphans = Vec::new();
        for at in seeing {
            let facet = &mut self.facets[at];
            orphans.append(&mut facet.outside);
            for edge in facet.edges() {
                self.facet_of_edge.remove(&edge);
            }
        }
        border.sort_unstable();
        let first_new = self.facets.len();
        for (a, b) in border {
            self.push(Facet::new(points, [a, b, apex]));
        }
        orphans.retain(|orphan| *orphan != apex);
        assign(points, &orphans, &mut self.facets[first_new..], self.tolerance);
    }
}

/// The surface of the remaining facets, without unused points.
fn compact(points: &[Vector3], facets: &[Facet]) -> SurfaceMesh {
    let alive = || facets.iter().filter(|facet| facet.alive);
    let mut used: Vec<u32> = alive().flat_map(|facet| facet.corners).collect();
    used.sort_unstable();
    used.dedup();
    let number = |vertex: u32| used.partition_point(|other| *other < vertex) as u32;
    SurfaceMesh {
        vertices: used.iter().map(|vertex| points[*vertex as usize]).collect(),
        triangles: alive().map(|facet| facet.corners.map(number)).collect(),
    }
}
