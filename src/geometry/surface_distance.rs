//! Distance of a point to a closed triangle mesh, with its sign.
//!
//! The nearest point is exact (point to triangle, through the tree of boxes). The sign comes from the normal
//! of the feature that the nearest point lies on: a face's own normal, the sum of the normals of both faces
//! at an edge, their sum weighted by angles at a vertex. That sign is exact for a closed, orientable surface
//! that does not meet itself [Bærentzen & Aanæs 2005].

use crate::geometry::bvh::Bvh;
use crate::geometry::{Aabb, SurfaceMesh};
use crate::math::Vector3;

/// More than the depth of any tree: it is split at medians, and its elements are numbered by `u32`.
const DEPTH_MAX: usize = 40;

/// The largest number of nodes that a search visits in the order of the tree.
const VISITED_MAX: u32 = 1000;

/// The square of the distance \[m²\], the nearest point, its triangle and the part of it.
type Best = (f64, Vector3, u32, Feature);

/// The nearest point of a surface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearest {
    /// Distance \[m\].
    pub(crate) distance: f64,
    /// The nearest point \[m\].
    pub(crate) point: Vector3,
    /// A triangle it lies on.
    pub(crate) triangle: u32,
    /// The part of that triangle.
    feature: Feature,
}

/// Part of a triangle: edge i goes from corner i to corner i + 1.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Feature {
    Face,
    Edge(u8),
    Corner(u8),
}

/// A closed surface, prepared for distance queries.
pub(crate) struct SurfaceDistance<'a> {
    mesh: &'a SurfaceMesh,
    bvh: Bvh,
    face_normals: Vec<Vector3>,
    edge_normals: Vec<[Vector3; 3]>,
    vertex_normals: Vec<Vector3>,
}

impl<'a> SurfaceDistance<'a> {
    /// The distances from a mesh with indices in range.
    pub(crate) fn new(mesh: &'a SurfaceMesh) -> Self {
        let corners = |triangle: &[u32; 3]| triangle.map(|vertex| mesh.vertices[vertex as usize]);
        let boxes = mesh.triangles.iter().enumerate().map(|(k, triangle)| (k as u32, Aabb::around(&corners(triangle))));
        let bvh = Bvh::new(boxes);
        let face_normals: Vec<Vector3> = mesh
            .triangles
            .iter()
            .map(|triangle| {
                let [a, b, c] = corners(triangle);
                (b - a).cross(&(c - a)).try_normalize(0.0).unwrap_or_default()
            })
            .collect();
        let mut vertex_normals = vec![Vector3::zeros(); mesh.vertices.len()];
        for (triangle, normal) in mesh.triangles.iter().zip(&face_normals) {
            let p = corners(triangle);
            for i in 0..3 {
                let angle = (p[(i + 1) % 3] - p[i]).angle(&(p[(i + 2) % 3] - p[i]));
                vertex_normals[triangle[i] as usize] += normal * angle;
            }
        }
        let edge_normals = edge_normals(mesh, &face_normals);
        Self { mesh, bvh, face_normals, edge_normals, vertex_normals }
    }

    /// The corners of a triangle \[m\].
    #[inline]
    fn corners(&self, triangle: u32) -> [Vector3; 3] {
        self.mesh.triangles[triangle as usize].map(|vertex| self.mesh.vertices[vertex as usize])
    }

    /// The nearest point of the surface. `guess` is a triangle that is probably near, such as the last
    /// result, and shortens the search. It is set to the new result.
    pub(crate) fn nearest(&self, point: &Vector3, guess: &mut u32) -> Nearest {
        let start = (*guess).min(self.mesh.triangles.len() as u32 - 1);
        let (at, feature) = nearest_on_triangle(point, &self.corners(start));
        let mut best: Best = ((at - point).norm_squared(), at, start, feature);
        // In the order of the tree, which is fastest if the guess is good. Else the nearer child first: the
        // distance that is found there excludes most of the other one.
        let nodes = self.bvh.len();
        let (mut at, mut visited) = (0, 0);
        while at < nodes && visited < VISITED_MAX {
            visited += 1;
            if gap_squared(self.bvh.bounds_of(at), point) >= best.0 {
                at = self.bvh.next(at);
                continue;
            }
            if let Some(triangle) = self.bvh.element(at) {
                self.improve(&mut best, triangle, point);
            }
            at += 1;
        }
        if at < nodes {
            self.descend(point, &mut best);
        }
        *guess = best.2;
        Nearest { distance: best.0.sqrt(), point: best.1, triangle: best.2, feature: best.3 }
    }

    /// Replaces the nearest point by that of a triangle if it is nearer.
    #[inline]
    fn improve(&self, best: &mut Best, triangle: u32, point: &Vector3) {
        let (at, feature) = nearest_on_triangle(point, &self.corners(triangle));
        let squared = (at - point).norm_squared();
        if squared < best.0 {
            *best = (squared, at, triangle, feature);
        }
    }

    /// Searches the whole tree, of two children the nearer one first.
    fn descend(&self, point: &Vector3, best: &mut Best) {
        let mut waiting = [(0, 0.0); DEPTH_MAX];
        let (mut count, mut next) = (0, Some((0, 0.0)));
        while let Some((node, gap)) = next {
            next = None;
            if gap < best.0 {
                if let Some(triangle) = self.bvh.element(node) {
                    self.improve(best, triangle, point);
                } else {
                    let children = [node + 1, self.bvh.next(node + 1)];
                    let [a, b] = children.map(|child| (child, gap_squared(self.bvh.bounds_of(child), point)));
                    let (near, far) = if b.1 < a.1 { (b, a) } else { (a, b) };
                    if far.1 < best.0 {
                        waiting[count] = far;
                        count += 1;
                    }
                    next = Some(near);
                }
            }
            if next.is_none() && count > 0 {
                count -= 1;
                next = Some(waiting[count]);
            }
        }
    }

    /// Whether the surface is nearer to a point than `distance` \[m\]. `guess` is a triangle that is probably
    /// near; it is set to the one that was found.
    pub(crate) fn is_within(&self, point: &Vector3, distance: f64, guess: &mut u32) -> bool {
        let squared = distance * distance;
        let is_near =
            |triangle: u32| (nearest_on_triangle(point, &self.corners(triangle)).0 - point).norm_squared() < squared;
        if is_near((*guess).min(self.mesh.triangles.len() as u32 - 1)) {
            return true;
        }
        let found = std::cell::Cell::new(None);
        self.bvh.walk(
            |bounds| found.get().is_none() && gap_squared(bounds, point) < squared,
            |triangle, _| {
                if is_near(triangle) {
                    found.set(Some(triangle));
                }
            },
        );
        *guess = found.get().unwrap_or(*guess);
        found.get().is_some()
    }

    /// The distance of a point to one triangle \[m\].
    pub(crate) fn to_triangle(point: &Vector3, corners: &[Vector3; 3]) -> f64 {
        (nearest_on_triangle(point, corners).0 - point).norm()
    }

    /// Signed distance \[m\], negative inside.
    pub(crate) fn signed(&self, point: &Vector3, guess: &mut u32) -> f64 {
        let nearest = self.nearest(point, guess);
        if self.normal_at(&nearest).dot(&(point - nearest.point)) < 0.0 { -nearest.distance } else { nearest.distance }
    }

    /// The normal of the feature that a nearest point lies on; not of unit length.
    pub(crate) fn normal_at(&self, nearest: &Nearest) -> Vector3 {
        let triangle = nearest.triangle as usize;
        match nearest.feature {
            Feature::Face => self.face_normals[triangle],
            Feature::Edge(edge) => self.edge_normals[triangle][edge as usize],
            Feature::Corner(corner) => self.vertex_normals[self.mesh.triangles[triangle][corner as usize] as usize],
        }
    }
}

/// The square of the distance of a point from a box \[m²\].
fn gap_squared(bounds: &Aabb, point: &Vector3) -> f64 {
    (bounds.min - point).sup(&(point - bounds.max)).sup(&Vector3::zeros()).norm_squared()
}

/// For each triangle the sum of the normals of the faces at each of its edges.
fn edge_normals(mesh: &SurfaceMesh, face_normals: &[Vector3]) -> Vec<[Vector3; 3]> {
    let mut edges: Vec<([u32; 2], u32, usize)> = Vec::with_capacity(3 * mesh.triangles.len());
    for (k, triangle) in mesh.triangles.iter().enumerate() {
        for i in 0..3 {
            let (a, b) = (triangle[i], triangle[(i + 1) % 3]);
            edges.push(([a.min(b), a.max(b)], k as u32, i));
        }
    }
    edges.sort_unstable();
    let mut normals = vec![[Vector3::zeros(); 3]; mesh.triangles.len()];
    for same in edges.chunk_by(|x, y| x.0 == y.0) {
        let sum: Vector3 = same.iter().map(|(_, triangle, _)| face_normals[*triangle as usize]).sum();
        for (_, triangle, i) in same {
            normals[*triangle as usize][*i] = sum;
        }
    }
    normals
}

/// The point of a triangle nearest to `p`, by the region of the triangle's plane that `p` projects to.
fn nearest_on_triangle(p: &Vector3, [a, b, c]: &[Vector3; 3]) -> (Vector3, Feature) {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(&ap), ac.dot(&ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return (*a, Feature::Corner(0));
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(&bp), ac.dot(&bp));
    if d3 >= 0.0 && d4 <= d3 {
        return (*b, Feature::Corner(1));
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(&cp), ac.dot(&cp));
    if d6 >= 0.0 && d5 <= d6 {
        return (*c, Feature::Corner(2));
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return (a + ab * (d1 / (d1 - d3)), Feature::Edge(0));
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return (a + ac * (d2 / (d2 - d6)), Feature::Edge(2));
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        return (b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6))), Feature::Edge(1));
    }
    let sum = va + vb + vc;
    if sum <= 0.0 {
        return (*a, Feature::Corner(0)); // a triangle without area, all of whose corners coincide
    }
    (a + ab * (vb / sum) + ac * (vc / sum), Feature::Face)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;

    /// The nearest points are those of all triangles, one after the other: of a bumpy grid of 20,000
    /// triangles, near it and far away, with guesses that are good and bad.
    #[test]
    fn nearest_points_are_those_of_all_triangles() {
        const SIDE: u32 = 100;
        let mut random = Random::new(3);
        let corner = |k: u32| (k % (SIDE + 1), k / (SIDE + 1));
        let vertices: Vec<Vector3> = (0..(SIDE + 1).pow(2))
            .map(|k| {
                let (i, j) = corner(k);
                0.01 * Vector3::new(f64::from(i), f64::from(j), random.signed())
            })
            .collect();
        let number = |i: u32, j: u32| i + (SIDE + 1) * j;
        let triangles: Vec<[u32; 3]> = (0..SIDE * SIDE)
            .flat_map(|k| {
                let (i, j) = (k % SIDE, k / SIDE);
                let [a, b, c, d] = [number(i, j), number(i + 1, j), number(i + 1, j + 1), number(i, j + 1)];
                [[a, b, c], [a, c, d]]
            })
            .collect();
        let mesh = SurfaceMesh { vertices, triangles };
        let surface = SurfaceDistance::new(&mesh);
        let count = mesh.triangles.len() as u32;
        for number in 0..60 {
            let height = [0.0, 0.02, 0.5, 5.0][number % 4];
            let [x, y, z] = [0, 1, 2].map(|_| 0.5 + 0.7 * random.signed());
            let point = Vector3::new(x, y, height * z);
            let all = (0..count).map(|k| SurfaceDistance::to_triangle(&point, &surface.corners(k)));
            let expected = all.fold(f64::INFINITY, f64::min);
            let mut guess = random.below(count as usize) as u32;
            for _ in 0..2 {
                let found = surface.nearest(&point, &mut guess);
                assert!((found.distance - expected).abs() <= 1e-12 * expected, "{point:?}: {found:?}, {expected}");
                assert!(((found.point - point).norm() - expected).abs() <= 1e-12 * expected.max(1.0));
                assert_eq!(guess, found.triangle);
            }
        }
    }
}
