//! The contact surface of two geometries, as arrays that run in parallel.

use super::polygon::{ConvexPolygon, Corners};
use crate::geometry::LinearPressure;
use crate::math::{RigidTransform, Vector3};

/// Below (0.1 um)^2 a face has no usable normal or weight; the bound is far below the square of any mesh edge
/// in use. \[m2\]
pub const FACE_AREA_MIN: f64 = 1e-14;

/// The faces that are made of the intersection of two elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FaceRepresentation {
    /// One polygon for each pair of elements [pressure-field contact patches, III-B].
    #[default]
    Polygon,
    /// A fan of triangles about the centroid of each polygon: the original method, with about four times the
    /// faces.
    TriangleFan,
}

/// The faces of the contact between a geometry A and a geometry B, in world axes and positions.
///
/// Contact normals Cz point from A into B, so the pressure pushes B along +Cz: the force of a face on B at
/// rest is `pressure * area * normal`. The arrays over faces have equal lengths and are sorted by
/// (`element_A`, `element_B`); the triangles of a fan follow each other.
#[derive(Clone, Debug, Default)]
pub struct ContactSurface {
    /// Centroid p_WC of each face \[m\].
    pub centroid: Vec<Vector3>,
    /// Unit normal Cz of each face, from A into B.
    pub normal: Vec<Vector3>,
    /// Area \[m2\], above [`FACE_AREA_MIN`].
    pub area: Vec<f64>,
    /// Pressure p0 at the centroid \[Pa\], which is the mean over the face.
    pub pressure: Vec<f64>,
    /// The slope of A's pressure into A: g_A = -grad p_A . Cz [Pa/m]; infinite where A is rigid. Positive
    /// except at some irregular corners of the field [pressure-field contact patches, eq. 17].
    pub g_A: Vec<f64>,
    /// The slope of B's pressure into B: g_B = grad p_B . Cz [Pa/m]; infinite where B is rigid.
    pub g_B: Vec<f64>,
    /// The element of A: a tetrahedron, a triangle, or 0 for a half space.
    pub element_A: Vec<u32>,
    /// The element of B.
    pub element_B: Vec<u32>,
    /// Corners p_WQ of all faces, one face after the other, counter-clockwise about Cz \[m\].
    pub corners: Vec<Vector3>,
    /// Pressure at each corner \[Pa\].
    pub corner_pressure: Vec<f64>,
    /// The end of each face's range in `corners`.
    pub corner_ends: Vec<u32>,
}

/// Data shared by a polygon and its faces, in the frame M of the query.
#[derive(Clone, Copy, Debug)]
pub(super) struct FaceData {
    /// Cz in M.
    pub(super) normal_M: Vector3,
    /// The pressure on the face.
    pub(super) pressure_M: LinearPressure,
    pub(super) g_A: f64,
    pub(super) g_B: f64,
    pub(super) element_A: u32,
    pub(super) element_B: u32,
    /// Whether the polygon runs counter-clockwise about the reversed normal.
    pub(super) against: bool,
}

impl ContactSurface {
    /// An empty surface.
    pub fn new() -> Self {
        Self::default()
    }
    /// The number of faces.
    pub fn len(&self) -> usize {
        self.area.len()
    }
    /// Whether there are no faces, that is, no contact.
    pub fn is_empty(&self) -> bool {
        self.area.is_empty()
    }
    /// Removes all faces and keeps the memory.
    pub fn clear(&mut self) {
        self.centroid.clear();
        self.normal.clear();
        self.area.clear();
        self.pressure.clear();
        self.g_A.clear();
        self.g_B.clear();
        self.element_A.clear();
        self.element_B.clear();
        self.corners.clear();
        self.corner_pressure.clear();
        self.corner_ends.clear();
    }
    /// The corners of face `face` and the pressure at each.
    pub fn polygon(&self, face: usize) -> (&[Vector3], &[f64]) {
        let start = if face == 0 { 0 } else { self.corner_ends[face - 1] as usize };
        let range = start..self.corner_ends[face] as usize;
        (&self.corners[range.clone()], &self.corner_pressure[range])
    }
    /// Effective pressure gradient of face `face` [Pa/m]; see [`effective_gradient`].
    pub fn gradient(&self, face: usize) -> f64 {
        effective_gradient(self.g_A[face], self.g_B[face])
    }
    /// Mean squared distance of the points of face `face` from its centroid \[m2\].
    pub fn spread(&self, face: usize) -> f64 {
        spread(self.polygon(face).0, &self.centroid[face], &self.normal[face], self.area[face])
    }
    /// Face `face` divided among its corners: for each a part between the middles of its two edges and the
    /// centroid of the face. A part larger than `area_max` \[m2\] is divided in the same way, about the mean
    /// of its corners.
    pub fn corner_parts(&self, face: usize, area_max: f64) -> impl Iterator<Item = FacePart> {
        let (corners, pressures) = self.polygon(face);
        let (count, c, p_c, normal) = (corners.len(), self.centroid[face], self.pressure[face], self.normal[face]);
        (0..count).flat_map(move |number| {
            let (before, after) = ((number + count - 1) % count, (number + 1) % count);
            let (x, m, n) = (corners[number], corners[before], corners[after]);
            let corners = [c, 0.5 * (m + x), x, 0.5 * (x + n)];
            let p_m = 0.5 * (pressures[before] + pressures[number]);
            let p_n = 0.5 * (pressures[number] + pressures[after]);
            let pressures = [p_c, p_m, pressures[number], p_n];
            let whole = FacePart::of(&corners, &pressures, &normal);
            if whole.area <= area_max {
                return [Some(whole), None, None, None].into_iter().flatten();
            }
            let (middle, p_middle) = (corners.iter().sum::<Vector3>() / 4.0, pressures.iter().sum::<f64>() / 4.0);
            let quarter = |i: usize| {
                let (before, after) = ((i + 3) % 4, (i + 1) % 4);
                let (m, n) = (0.5 * (corners[before] + corners[i]), 0.5 * (corners[i] + corners[after]));
                let (p_m, p_n) = (0.5 * (pressures[before] + pressures[i]), 0.5 * (pressures[i] + pressures[after]));
                FacePart::of(&[middle, m, corners[i], n], &[p_middle, p_m, pressures[i], p_n], &normal)
            };
            [0, 1, 2, 3].map(|i| Some(quarter(i))).into_iter().flatten()
        })
    }
    /// Sum of the areas \[m2\].
    pub fn total_area(&self) -> f64 {
        self.area.iter().sum()
    }
    /// Force on B at rest \[N\], and its torque about the world's origin [N m], with one point for each face.
    pub fn static_wrench_on_B(&self) -> crate::math::SpatialForce {
        let mut total = crate::math::SpatialForce::ZERO;
        for face in 0..self.len() {
            let force = self.normal[face] * (self.pressure[face] * self.area[face]);
            total += crate::math::SpatialForce::new(self.centroid[face].cross(&force), force);
        }
        total
    }

    /// Appends the faces of `polygon`, given in M.
    #[inline(always)]
    pub(super) fn append(
        &mut self,
        polygon: &ConvexPolygon,
        data: &FaceData,
        X_WM: &RigidTransform,
        representation: FaceRepresentation,
    ) {
        let corners = polygon.corners(data.against);
        let (area, center_M) = corners.area_and_centroid(&data.normal_M);
        if area <= FACE_AREA_MIN {
            return;
        }
        match representation {
            FaceRepresentation::Polygon => self.append_face(&corners, area, &center_M, data, X_WM),
            FaceRepresentation::TriangleFan => self.append_fan(&corners, &center_M, data, X_WM),
        }
    }

    /// Appends the triangles about the centroid of a polygon.
    fn append_fan(&mut self, corners: &Corners, center_M: &Vector3, data: &FaceData, X_WM: &RigidTransform) {
        for (a, b) in corners.iter().zip(corners.iter().skip(1).chain(corners.iter().take(1))) {
            let area = 0.5 * (a - center_M).cross(&(b - center_M)).dot(&data.normal_M);
            if area > FACE_AREA_MIN {
                let triangle = Corners::triangle(*center_M, *a, *b);
                self.append_face(&triangle, area, &((center_M + a + b) / 3.0), data, X_WM);
            }
        }
    }

    #[inline(always)]
    fn append_face(
        &mut self,
        corners_M: &Corners,
        area: f64,
        centroid_M: &Vector3,
        data: &FaceData,
        X_WM: &RigidTransform,
    ) {
        let in_world = |point_M: &Vector3| X_WM.rotation * point_M + X_WM.translation.vector;
        self.centroid.push(in_world(centroid_M));
        self.normal.push(X_WM.rotation * data.normal_M);
        self.area.push(area);
        self.pressure.push(data.pressure_M.at(centroid_M));
        self.g_A.push(data.g_A);
        self.g_B.push(data.g_B);
        self.element_A.push(data.element_A);
        self.element_B.push(data.element_B);
        // Four corners at once, also for triangles.
        let (start, count) = (self.corners.len(), corners_M.count);
        let [a, b, c, d] = &corners_M.first;
        self.corners.extend_from_slice(&[in_world(a), in_world(b), in_world(c), in_world(d)]);
        let pressure = |corner| data.pressure_M.at(corner);
        self.corner_pressure.extend_from_slice(&[pressure(a), pressure(b), pressure(c), pressure(d)]);
        self.corners.truncate(start + count);
        self.corner_pressure.truncate(start + count);
        for corner in corners_M.rest() {
            self.corners.push(in_world(corner));
            self.corner_pressure.push(data.pressure_M.at(corner));
        }
        self.corner_ends.push((start + count) as u32);
    }
}

/// A part of a face.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FacePart {
    /// Centroid [m, world].
    pub centroid: Vector3,
    /// Area \[m2\].
    pub area: f64,
    /// Pressure at the centroid \[Pa\].
    pub pressure: f64,
    /// Mean squared distance of its points from the centroid \[m2\].
    pub spread: f64,
}

impl FacePart {
    /// The quadrilateral with these corners, and their pressures \[Pa\].
    fn of([c, m, x, n]: &[Vector3; 4], [p_c, p_m, p_x, p_n]: &[f64; 4], normal: &Vector3) -> Self {
        // The triangles (c, m, x) and (c, x, n).
        let first = 0.5 * (m - c).cross(&(x - c)).dot(normal);
        let second = 0.5 * (x - c).cross(&(n - c)).dot(normal);
        let area = (first + second).max(FACE_AREA_MIN);
        let (first, second) = (first / area, second / area);
        let centroid = (c + x + m * first + n * second) / 3.0;
        let pressure = (p_c + p_x + p_m * first + p_n * second) / 3.0;
        Self { centroid, area, pressure, spread: spread(&[*c, *m, *x, *n], &centroid, normal, area) }
    }
}

/// Mean squared distance of the points of a polygon from its centroid \[m2\], by triangles (centroid, a, b):
/// the integral of r^2 over one is (area/6)(a.a + a.b + b.b).
fn spread(corners: &[Vector3], centroid: &Vector3, normal: &Vector3, area: f64) -> f64 {
    let Some(last) = corners.last() else { return 0.0 };
    let (mut a, mut sum) = (last - centroid, 0.0);
    for corner in corners {
        let b = corner - centroid;
        sum += a.cross(&b).dot(normal) * (a.dot(&a) + a.dot(&b) + b.dot(&b));
        a = b;
    }
    (sum / (12.0 * area)).max(0.0)
}

/// The effective pressure gradient g = g_A g_B / (g_A + g_B) [Pa/m], two springs in series [pressure-field
/// contact patches, eq. 23]. The gradient of a rigid side is infinite, and g is then that of the other side.
/// Meaningful if both are positive.
#[inline]
pub fn effective_gradient(g_A: f64, g_B: f64) -> f64 {
    if g_A.is_infinite() {
        g_B
    } else if g_B.is_infinite() {
        g_A
    } else {
        g_A * g_B / (g_A + g_B)
    }
}
