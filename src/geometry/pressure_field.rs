//! A pressure field: a tetrahedral mesh with a pressure at each vertex, linear in each tetrahedron.

use super::bvh::Bvh;
use super::layers::{Cores, Layer, levels};
use super::mesh::MeshError;
use super::mesh_extent::MeshExtent;
use super::tetrahedra::{TET_FACES, is_flat, neighbours, six_volumes};
use super::{Aabb, GeometryError, VolumeMesh};
use crate::math::{Rotation, Vector3};

/// A linear function of the position: p(x) = `at_origin` + `gradient` . x.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinearPressure {
    /// Gradient [Pa/m], constant.
    pub gradient: Vector3,
    /// Value at the origin of the frame \[Pa\].
    pub at_origin: f64,
}

impl LinearPressure {
    /// The pressure at `point` \[Pa\].
    #[inline]
    pub fn at(&self, point: &Vector3) -> f64 {
        self.at_origin + self.gradient.dot(point)
    }
}

/// The half space n . x <= d with unit n: the inner side of a face.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FacePlane {
    /// Outward unit normal n.
    pub normal: Vector3,
    /// Offset d \[m\].
    pub offset: f64,
}

impl FacePlane {
    /// Signed distance of `point` \[m\], positive outside.
    #[inline]
    pub fn distance(&self, point: &Vector3) -> f64 {
        self.normal.dot(point) - self.offset
    }
}

/// The corners of a tetrahedron: position in the first three numbers \[m\], pressure in the last \[Pa\].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TetCorners(pub(crate) [[f64; 4]; 4]);

impl TetCorners {
    pub(crate) fn new(corners: &[Vector3; 4], pressures: &[f64; 4]) -> Self {
        Self(std::array::from_fn(|i| [corners[i].x, corners[i].y, corners[i].z, pressures[i]]))
    }

    /// The same corners in the frame A, where R_AB, p_AB is the pose of their current frame B.
    #[inline(always)]
    pub(crate) fn in_frame(&self, R_AB: &Rotation, p_AB: &Vector3) -> Self {
        let in_A = |[x, y, z, pressure]: &[f64; 4]| {
            let p = R_AB * Vector3::new(*x, *y, *z) + p_AB;
            [p.x, p.y, p.z, *pressure]
        };
        let [a, b, c, d] = &self.0;
        Self([in_A(a), in_A(b), in_A(c), in_A(d)])
    }

    /// The value of a linear function at each corner.
    #[inline(always)]
    pub(crate) fn values(&self, gradient: &Vector3, at_origin: f64) -> [f64; 4] {
        let at = |[x, y, z, _]: &[f64; 4]| at_origin + (gradient.x * x + gradient.y * y + gradient.z * z);
        let [a, b, c, d] = &self.0;
        [at(a), at(b), at(c), at(d)]
    }

    /// The pressure at each corner \[Pa\].
    #[inline(always)]
    pub(crate) fn pressures(&self) -> [f64; 4] {
        let [a, b, c, d] = &self.0;
        [a[3], b[3], c[3], d[3]]
    }

    /// The corners \[m\].
    #[inline]
    pub(crate) fn positions(&self) -> [Vector3; 4] {
        self.0.map(|[x, y, z, _]| Vector3::new(x, y, z))
    }
}

/// The planes of the four faces of a tetrahedron, coordinate by coordinate, so that four distances are
/// computed at once.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TetPlanes {
    x: [f64; 4],
    y: [f64; 4],
    z: [f64; 4],
    offset: [f64; 4],
}

impl TetPlanes {
    fn new(planes: &[FacePlane; 4]) -> Self {
        let [x, y, z] = [0, 1, 2].map(|axis| planes.map(|plane| plane.normal[axis]));
        Self { x, y, z, offset: planes.map(|plane| plane.offset) }
    }

    /// The signed distance from each plane of the point with the position x, y, z \[m\], positive outside.
    #[inline(always)]
    pub(crate) fn distances(&self, [x, y, z, _]: &[f64; 4]) -> [f64; 4] {
        let mut distances = [0.0; 4];
        for (i, distance) in distances.iter_mut().enumerate() {
            *distance = self.x[i] * x + self.y[i] * y + self.z[i] * z - self.offset[i];
        }
        distances
    }
}

/// A volume mesh with its pressure field and all further data of contact queries, in the geometry's frame.
/// In all arrays over elements, the elements keep their numbers in the given mesh.
#[derive(Clone, Debug)]
pub struct PressureField {
    mesh: VolumeMesh,
    pressure: Vec<f64>,
    linear: Vec<LinearPressure>,
    steepness: Vec<f64>,
    corners: Vec<TetCorners>,
    planes: Vec<TetPlanes>,
    neighbours: Vec<[u32; 4]>,
    pressure_min: f64,
    pressure_max: f64,
    skipped: usize,
    bvh: Bvh,
    layers: Bvh<Layer>,
    cores: Cores,
    extent: MeshExtent,
}

impl PressureField {
    /// The field with `pressure` \[Pa\] at the vertices of `mesh`. A left-handed tetrahedron is reordered;
    /// one without volume takes no part in contact and is counted in [`PressureField::skipped`].
    ///
    /// # Errors
    /// A pressure or position that is not finite, different numbers of pressures and vertices, an index out
    /// of range, or a mesh without any volume.
    pub fn new(mut mesh: VolumeMesh, pressure: Vec<f64>) -> Result<Self, GeometryError> {
        check(&mesh, &pressure)?;
        let count = mesh.tets.len();
        let mut linear = Vec::with_capacity(count);
        let mut planes = Vec::with_capacity(count);
        let mut boxes = Vec::with_capacity(count);
        for (element, tet) in mesh.tets.iter_mut().enumerate() {
            let corners = tet.map(|vertex| mesh.vertices[vertex as usize]);
            if six_volumes(&corners) < 0.0 {
                tet.swap(2, 3);
            }
            let corners = tet.map(|vertex| mesh.vertices[vertex as usize]);
            if is_flat(&corners) {
                linear.push(LinearPressure::default());
                planes.push(TetPlanes::default());
                continue;
            }
            linear.push(linear_pressure(&corners, &tet.map(|vertex| pressure[vertex as usize])));
            planes.push(TetPlanes::new(&face_planes(&corners)));
            boxes.push((element as u32, Aabb::around(&corners)));
        }
        if boxes.is_empty() {
            return Err(GeometryError::NoVolume { tets: count });
        }
        let extent = MeshExtent::new(&mesh.vertices, &mesh.tets);
        let steepness: Vec<f64> = linear.iter().map(|linear: &LinearPressure| linear.gradient.norm()).collect();
        let corners_and_pressures = |element: u32| {
            let tet = mesh.tets[element as usize];
            (tet.map(|vertex| mesh.vertices[vertex as usize]), tet.map(|vertex| pressure[vertex as usize]))
        };
        let layers = boxes.iter().flat_map(|&(element, _)| {
            let (corners, pressures) = corners_and_pressures(element);
            let (lowest, highest) = range(&pressures);
            levels(lowest, highest, steepness[element as usize], extent.element_size)
                .map(move |(lowest, highest)| (element, Layer::new(&corners, &pressures, lowest, highest)))
        });
        let pressure_min = pressure.iter().copied().fold(f64::INFINITY, f64::min);
        let pressure_max = pressure.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let corners = (0..count as u32).map(|element| {
            let (corners, pressures) = corners_and_pressures(element);
            TetCorners::new(&corners, &pressures)
        });
        let tets = boxes.iter().map(|&(element, _)| corners_and_pressures(element));
        Ok(Self {
            layers: Bvh::new(layers),
            cores: Cores::new(extent.center, (pressure_min, pressure_max), tets),
            corners: corners.collect(),
            neighbours: neighbours(&mesh.tets),
            pressure_min,
            pressure_max,
            skipped: count - boxes.len(),
            bvh: Bvh::new(boxes),
            extent,
            mesh,
            pressure,
            steepness,
            linear,
            planes,
        })
    }

    /// The mesh.
    pub fn mesh(&self) -> &VolumeMesh {
        &self.mesh
    }
    /// The pressure at each vertex \[Pa\].
    pub fn pressure(&self) -> &[f64] {
        &self.pressure
    }
    /// The linear pressure in each tetrahedron; zero in one without volume.
    pub fn linear(&self) -> &[LinearPressure] {
        &self.linear
    }
    /// The norm of the gradient in each tetrahedron [Pa/m].
    pub(crate) fn steepness(&self) -> &[f64] {
        &self.steepness
    }
    /// The planes of the faces of a tetrahedron; face i lies opposite vertex i.
    pub fn planes(&self, element: u32) -> [FacePlane; 4] {
        let TetPlanes { x, y, z, offset } = &self.planes[element as usize];
        std::array::from_fn(|i| FacePlane { normal: Vector3::new(x[i], y[i], z[i]), offset: offset[i] })
    }
    /// The same planes, in a layout for four at once.
    #[inline]
    pub(crate) fn tet_planes(&self, element: u32) -> &TetPlanes {
        &self.planes[element as usize]
    }
    /// The tetrahedron behind each face of each tetrahedron, or [`NO_NEIGHBOUR`](super::NO_NEIGHBOUR).
    pub fn neighbours(&self) -> &[[u32; 4]] {
        &self.neighbours
    }
    /// Smallest vertex pressure \[Pa\]; it is below zero in a field with a margin.
    pub fn pressure_min(&self) -> f64 {
        self.pressure_min
    }
    /// Largest vertex pressure \[Pa\].
    pub fn pressure_max(&self) -> f64 {
        self.pressure_max
    }
    /// The number of tetrahedra without volume, which were left out.
    pub fn skipped(&self) -> usize {
        self.skipped
    }
    /// The box around the mesh.
    pub fn bounds(&self) -> Aabb {
        self.bvh.bounds()
    }
    pub(crate) fn bvh(&self) -> &Bvh {
        &self.bvh
    }
    /// The tree over the layers of the tetrahedra; each has as many leaves as it has layers.
    pub(crate) fn layers(&self) -> &Bvh<Layer> {
        &self.layers
    }
    pub(crate) fn cores(&self) -> &Cores {
        &self.cores
    }
    pub(crate) fn extent(&self) -> &MeshExtent {
        &self.extent
    }
    /// The corners of a tetrahedron \[m\].
    #[inline]
    pub(crate) fn corners(&self, element: u32) -> [Vector3; 4] {
        self.corners[element as usize].positions()
    }
    /// The same corners with their pressures, in a layout for four at once.
    #[inline]
    pub(crate) fn tet_corners(&self, element: u32) -> &TetCorners {
        &self.corners[element as usize]
    }
}

/// The smallest and the largest of the pressures at the corners of a tetrahedron \[Pa\].
pub(crate) fn range(pressures: &[f64; 4]) -> (f64, f64) {
    let [a, b, c, d] = *pressures;
    (a.min(b).min(c.min(d)), a.max(b).max(c.max(d)))
}

fn check(mesh: &VolumeMesh, pressure: &[f64]) -> Result<(), GeometryError> {
    if pressure.len() != mesh.vertices.len() {
        return Err(GeometryError::PressureCount { vertices: mesh.vertices.len(), pressures: pressure.len() });
    }
    if let Some(vertex) = pressure.iter().position(|value| !value.is_finite()) {
        return Err(MeshError::NotFinite { what: "pressure", vertex }.into());
    }
    super::mesh::check_vertices(&mesh.vertices)?;
    Ok(super::mesh::check_indices(mesh.tets.iter().map(|tet| tet.as_slice()), mesh.vertices.len())?)
}

/// The linear function through four values: the gradient is the sum of value times gradient of the
/// barycentric coordinate of each corner, in the order of the corners.
fn linear_pressure(corners: &[Vector3; 4], pressure: &[f64; 4]) -> LinearPressure {
    let coordinate_gradient = |i: usize| {
        let [v, a, b, c] = [0, 1, 2, 3].map(|k| corners[(i + k) % 4]);
        let area = (b - a).cross(&(c - a));
        area / area.dot(&(v - a))
    };
    let [p_a, p_b, p_c, p_d] = *pressure;
    let gradient = coordinate_gradient(0) * p_a
        + coordinate_gradient(1) * p_b
        + coordinate_gradient(2) * p_c
        + coordinate_gradient(3) * p_d;
    LinearPressure { gradient, at_origin: pressure[0] - gradient.dot(&corners[0]) }
}

fn face_planes(corners: &[Vector3; 4]) -> [FacePlane; 4] {
    TET_FACES.map(|[i, j, k]| {
        let normal = (corners[j] - corners[i]).cross(&(corners[k] - corners[i])).normalize();
        FacePlane { normal, offset: normal.dot(&((corners[i] + corners[j] + corners[k]) / 3.0)) }
    })
}

/// The tetrahedron of the unit tests in this room.
#[cfg(test)]
pub(super) const UNIT_TETRAHEDRON: [Vector3; 4] = [
    Vector3::new(0.0, 0.0, 0.0),
    Vector3::new(1.0, 0.0, 0.0),
    Vector3::new(0.0, 1.0, 0.0),
    Vector3::new(0.0, 0.0, 1.0),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::NO_NEIGHBOUR;

    fn two_tets() -> VolumeMesh {
        VolumeMesh {
            vertices: vec![Vector3::zeros(), Vector3::x(), Vector3::y(), Vector3::z(), Vector3::new(1.0, 1.0, 1.0)],
            tets: vec![[0, 1, 2, 3], [1, 2, 3, 4]],
        }
    }

    /// A linear function sampled at the vertices is recovered in every tetrahedron.
    #[test]
    fn reproduces_a_linear_function() {
        let mesh = two_tets();
        let gradient = Vector3::new(2.0, -3.0, 5.0);
        let pressure = mesh.vertices.iter().map(|x| 7.0 + gradient.dot(x)).collect();
        let field = PressureField::new(mesh, pressure).unwrap();
        for linear in field.linear() {
            assert!((linear.gradient - gradient).norm() < 1e-13);
            assert!((linear.at_origin - 7.0).abs() < 1e-13);
        }
    }

    #[test]
    fn finds_the_neighbour_and_turns_the_faces_outward() {
        let field = PressureField::new(two_tets(), vec![0.0; 5]).unwrap();
        assert_eq!(field.neighbours()[0], [1, NO_NEIGHBOUR, NO_NEIGHBOUR, NO_NEIGHBOUR]);
        for element in 0..2 {
            let center = field.corners(element).iter().sum::<Vector3>() / 4.0;
            assert!(field.planes(element).iter().all(|plane| plane.distance(&center) < 0.0));
        }
    }

    #[test]
    fn counts_a_flat_tetrahedron_and_stays_finite() {
        let mut mesh = two_tets();
        mesh.vertices.push(Vector3::new(0.3, 0.3, 0.0));
        mesh.tets.push([0, 1, 2, 5]);
        let field = PressureField::new(mesh, vec![1.0; 6]).unwrap();
        assert_eq!(field.skipped(), 1);
        assert!(field.linear().iter().all(|linear| linear.gradient.iter().all(|g| g.is_finite())));
    }
}
