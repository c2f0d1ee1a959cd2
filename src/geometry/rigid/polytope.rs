//! Convex polyhedra with polygonal faces, from which contact between flat sides is clipped.

use super::vector_index::VectorIndex;
use crate::geometry::SurfaceMesh;
use crate::math::Vector3;

/// Triangles whose normals differ by less than this angle \[rad\], and whose planes by less than this share
/// of the size, are one face: single-precision files leave about 1e-7.
const COPLANAR_ANGLE: f64 = 1e-5;
/// See [`COPLANAR_ANGLE`]. [-]
const COPLANAR_OFFSET: f64 = 1e-6;
/// Edge directions that differ by a smaller angle than this are merged. \[rad\]
const PARALLEL_ANGLE: f64 = 1e-9;

/// A face: its outward unit normal and its corners, counter-clockwise from outside.
#[derive(Clone, Debug)]
pub(super) struct Face {
    pub(super) normal: Vector3,
    pub(super) corners: Vec<u32>,
    /// The extent of the polyhedron along the normal \[m\].
    pub(super) reach: f64,
}

/// A convex polyhedron in its geometry's frame.
#[derive(Clone, Debug)]
pub(super) struct Polytope {
    pub(super) vertices: Vec<Vector3>,
    pub(super) faces: Vec<Face>,
    /// The faces around each vertex.
    faces_of_vertex: Vec<Vec<u32>>,
    /// One unit vector for each direction that edges have, opposite ones counted once.
    pub(super) edge_directions: Vec<Vector3>,
}

impl Polytope {
    /// The polyhedron of a convex triangle mesh: coplanar triangles become one face.
    pub(super) fn new(mesh: &SurfaceMesh) -> Self {
        let size = mesh.vertices.iter().fold(0.0_f64, |size, vertex| size.max((vertex - mesh.vertices[0]).norm()));
        let mut groups: Vec<(Vector3, f64, Vec<u32>)> = Vec::new();
        let mut normals = VectorIndex::new(COPLANAR_ANGLE);
        for triangle in &mesh.triangles {
            let [a, b, c] = triangle.map(|vertex| mesh.vertices[vertex as usize]);
            let Some(normal) = (b - a).cross(&(c - a)).try_normalize(0.0) else { continue };
            let offset = normal.dot(&a);
            let same = |group: u32| {
                let (other, at, _) = &groups[group as usize];
                (normal - other).norm() < COPLANAR_ANGLE && (offset - at).abs() < COPLANAR_OFFSET * size
            };
            match normals.first(&normal, same) {
                Some(group) => groups[group as usize].2.extend(triangle),
                None => {
                    normals.insert(&normal, groups.len() as u32);
                    groups.push((normal, offset, triangle.to_vec()));
                }
            }
        }
        let faces: Vec<Face> = groups
            .into_iter()
            .map(|(normal, _, corners)| Face { normal, corners: outline(&mesh.vertices, &normal, corners), reach: 0.0 })
            .collect();
        let (vertices, mut faces) = corners_only(&mesh.vertices, faces);
        for face in &mut faces {
            face.reach = extent(&vertices, &face.normal).1;
        }
        let mut faces_of_vertex = vec![Vec::new(); vertices.len()];
        let mut edge_directions: Vec<Vector3> = Vec::new();
        let mut directions = VectorIndex::new(2.0 * PARALLEL_ANGLE);
        for (number, face) in faces.iter().enumerate() {
            for (corner, vertex) in face.corners.iter().enumerate() {
                faces_of_vertex[*vertex as usize].push(number as u32);
                let next = face.corners[(corner + 1) % face.corners.len()];
                let edge = vertices[next as usize] - vertices[*vertex as usize];
                let Some(direction) = edge.try_normalize(0.0) else { continue };
                let parallel = |other: u32| edge_directions[other as usize].cross(&direction).norm() < PARALLEL_ANGLE;
                if [direction, -direction].iter().all(|way| directions.first(way, parallel).is_none()) {
                    directions.insert(&direction, edge_directions.len() as u32);
                    edge_directions.push(direction);
                }
            }
        }
        Self { vertices, faces, faces_of_vertex, edge_directions }
    }

    /// The vertex farthest along `direction`; the first of equal ones.
    pub(super) fn support(&self, direction: &Vector3) -> usize {
        let mut best = (f64::NEG_INFINITY, 0);
        for (vertex, position) in self.vertices.iter().enumerate() {
            let reach = direction.dot(position);
            if reach > best.0 {
                best = (reach, vertex);
            }
        }
        best.1
    }

    /// The interval that the polyhedron covers along `direction` \[m\].
    pub(super) fn extent(&self, direction: &Vector3) -> (f64, f64) {
        extent(&self.vertices, direction)
    }

    /// Among the faces at the farthest vertex along `direction`, the one whose normal is closest to that
    /// direction.
    pub(super) fn support_face(&self, direction: &Vector3) -> Option<&Face> {
        let around = &self.faces_of_vertex[self.support(direction)];
        let mut best: Option<(f64, &Face)> = None;
        for face in around.iter().map(|face| &self.faces[*face as usize]) {
            let looks = face.normal.dot(direction);
            if best.is_none_or(|(most, _)| looks > most) {
                best = Some((looks, face));
            }
        }
        best.map(|(_, face)| face)
    }
}

fn extent(vertices: &[Vector3], direction: &Vector3) -> (f64, f64) {
    vertices.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), vertex| {
        let at = direction.dot(vertex);
        // One instruction each; `min` and `max` also check for NaN.
        (if at < low { at } else { low }, if at > high { at } else { high })
    })
}

/// Leaves out the vertices that are not the corner of any face: those inside faces and inside the body.
fn corners_only(vertices: &[Vector3], mut faces: Vec<Face>) -> (Vec<Vector3>, Vec<Face>) {
    let mut used: Vec<u32> = faces.iter().flat_map(|face| &face.corners).copied().collect();
    used.sort_unstable();
    used.dedup();
    for corner in faces.iter_mut().flat_map(|face| &mut face.corners) {
        *corner = used.binary_search(corner).unwrap_or_default() as u32;
    }
    (used.iter().map(|vertex| vertices[*vertex as usize]).collect(), faces)
}

/// The convex outline of coplanar points, counter-clockwise about `normal` [Andrew 1979, monotone chain].
fn outline(vertices: &[Vector3], normal: &Vector3, mut points: Vec<u32>) -> Vec<u32> {
    points.sort_unstable();
    points.dedup();
    let (u, v) = basis(normal);
    let at = |vertex: u32| (u.dot(&vertices[vertex as usize]), v.dot(&vertices[vertex as usize]));
    points.sort_by(|a, b| {
        let ((ax, ay), (bx, by)) = (at(*a), at(*b));
        ax.total_cmp(&bx).then(ay.total_cmp(&by)).then(a.cmp(b))
    });
    let span = points.iter().map(|p| at(*p).0.abs() + at(*p).1.abs()).fold(0.0, f64::max);
    let turns_left = |a: u32, b: u32, c: u32| {
        let ((ax, ay), (bx, by), (cx, cy)) = (at(a), at(b), at(c));
        (bx - ax) * (cy - ay) - (by - ay) * (cx - ax) > f64::EPSILON * span * span
    };
    let mut chain: Vec<u32> = Vec::new();
    for half in 0..2 {
        let start = chain.len();
        for i in 0..points.len() {
            let point = if half == 0 { points[i] } else { points[points.len() - 1 - i] };
            while chain.len() >= start + 2 && !turns_left(chain[chain.len() - 2], chain[chain.len() - 1], point) {
                chain.pop();
            }
            chain.push(point);
        }
        chain.pop();
    }
    chain
}

/// Two unit vectors that make a right-handed basis with the unit vector `n`, a smooth function of it except
/// at -z [Duff et al. 2017].
pub(super) fn basis(n: &Vector3) -> (Vector3, Vector3) {
    let sign = 1.0_f64.copysign(n.z);
    let a = -1.0 / (sign + n.z);
    let b = n.x * n.y * a;
    (Vector3::new(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x), Vector3::new(b, sign + n.y * n.y * a, -n.y))
}
