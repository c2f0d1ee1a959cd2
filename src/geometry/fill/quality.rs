//! The quality of a filling.

use crate::geometry::surface_distance::SurfaceDistance;
use crate::geometry::{SurfaceMesh, VolumeMesh};
use crate::math::Vector3;

/// Limits the density of samples: a surface of compact triangles has about this many at most, in addition to
/// its vertices.
const SAMPLES_MAX: usize = 20_000;

/// Measures of a filling against the surface that was filled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FillQuality {
    /// Smallest dihedral angle of all tetrahedra \[rad\].
    pub dihedral_min: f64,
    /// Largest dihedral angle of all tetrahedra \[rad\].
    pub dihedral_max: f64,
    /// Sum of the tetrahedra's volumes \[m³\].
    pub volume: f64,
    /// (volume - volume inside the surface) / volume inside the surface [-].
    pub volume_error: f64,
    /// Largest distance of sampled points of the surface to the filling's boundary \[m\].
    pub surface_to_filling: f64,
    /// Largest distance of sampled points of the filling's boundary to the surface \[m\].
    pub filling_to_surface: f64,
}

/// Smallest and largest dihedral angle \[rad\] of all tetrahedra.
pub fn dihedral_range(mesh: &VolumeMesh) -> (f64, f64) {
    mesh.tets.iter().fold((f64::INFINITY, 0.0), |(low, high), tet| {
        let (min, max) = dihedral_range_of(&tet.map(|vertex| mesh.vertices[vertex as usize]));
        (low.min(min), f64::max(high, max))
    })
}

/// Smallest and largest dihedral angle \[rad\] of one tetrahedron.
pub(super) fn dihedral_range_of(p: &[Vector3; 4]) -> (f64, f64) {
    const EDGES: [[usize; 4]; 6] = [[0, 1, 2, 3], [0, 2, 1, 3], [0, 3, 1, 2], [1, 2, 0, 3], [1, 3, 0, 2], [2, 3, 0, 1]];
    EDGES.iter().fold((f64::INFINITY, 0.0), |(low, high), &[a, b, c, d]| {
        let along = p[b] - p[a];
        let angle = (p[c] - p[a]).cross(&along).angle(&(p[d] - p[a]).cross(&along));
        (low.min(angle), f64::max(high, angle))
    })
}

/// Sum of the volumes of the tetrahedra \[m³\].
pub fn volume(mesh: &VolumeMesh) -> f64 {
    mesh.tets
        .iter()
        .map(|tet| {
            let [a, b, c, d] = tet.map(|vertex| mesh.vertices[vertex as usize]);
            (b - a).cross(&(c - a)).dot(&(d - a)) / 6.0
        })
        .sum()
}

/// Largest distance \[m\] of points of `from`, about `step` \[m\] apart, to `to`, and the point where it
/// occurs. Only points for which `counts` holds (the point, the normal there) are included.
pub(super) fn one_sided_distance(
    from: &SurfaceMesh,
    to: &SurfaceDistance,
    step: f64,
    mut counts: impl FnMut(&Vector3, &Vector3) -> bool,
) -> (f64, Vector3) {
    let corners = |triangle: &[u32; 3]| triangle.map(|vertex| from.vertices[vertex as usize]);
    let area: f64 = from
        .triangles
        .iter()
        .map(|triangle| {
            let [a, b, c] = corners(triangle);
            0.5 * (b - a).cross(&(c - a)).norm()
        })
        .sum();
    let step = step.max((area / SAMPLES_MAX as f64).sqrt());
    let mut guess = 0;
    let mut largest = (0.0, Vector3::zeros());
    let mut sample = |point: &Vector3, normal: &Vector3| {
        let distance = to.nearest(point, &mut guess).distance;
        if distance > largest.0 && counts(point, normal) {
            largest = (distance, *point);
        }
    };
    for triangle in &from.triangles {
        let [a, b, c] = corners(triangle);
        let normal = (b - a).cross(&(c - a)).try_normalize(0.0).unwrap_or_default();
        let longest = (b - a).norm().max((c - b).norm()).max((a - c).norm());
        let parts = ((longest / step).ceil() as usize).clamp(1, 200);
        [a, b, c].iter().for_each(|corner| sample(corner, &normal));
        // Cell centres of a grid along both edges: strictly inside the triangle, each once.
        for i in 0..parts {
            for j in 0..parts - i {
                let (s, t) = ((i as f64 + 1.0 / 3.0) / parts as f64, (j as f64 + 1.0 / 3.0) / parts as f64);
                sample(&(a + (b - a) * s + (c - a) * t), &normal);
            }
        }
    }
    largest
}
