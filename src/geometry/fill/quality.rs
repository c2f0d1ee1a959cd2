//! The quality of a filling.

use crate::geometry::bvh::Bvh;
use crate::geometry::surface_distance::SurfaceDistance;
use crate::geometry::{Aabb, SurfaceMesh, VolumeMesh};
use crate::math::Vector3;

/// Limits the density of samples: a surface of compact triangles has about this many at most, in addition to
/// its vertices.
const SAMPLES_MAX: usize = 20_000;

/// The largest number of missed points at which the thickness is measured.
const MISSED_SAMPLES_MAX: usize = 400;
/// The search for the other side of a thin part starts this far below the surface, as a share of the body's
/// size. [-]
const NEAR: f64 = 1e-6;

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
    /// Share of the surface's area that is farther from the filling's boundary than a fiftieth of the size
    /// of the surface, or than the distance of a wrap [-].
    pub missed_area: f64,
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

/// The distances of a surface from another one, at samples.
pub(super) struct Missed {
    /// The largest distance \[m\].
    pub(super) largest: f64,
    /// The point where it occurs.
    pub(super) at: Vector3,
    /// The share of the area that is farther away than the tolerance. [-]
    pub(super) share: f64,
    /// Some of the samples that are farther away than the tolerance, each with the normal there.
    pub(super) samples: Vec<(Vector3, Vector3)>,
}

/// Distances of points of `from`, about `step` \[m\] apart, to `to`. Only points for which `counts` holds
/// (the point, the normal there) are included.
pub(super) fn one_sided_distance(
    from: &SurfaceMesh,
    to: &SurfaceDistance,
    step: f64,
    tolerance: f64,
    mut counts: impl FnMut(&Vector3, &Vector3) -> bool,
) -> Missed {
    let corners = |triangle: &[u32; 3]| triangle.map(|vertex| from.vertices[vertex as usize]);
    let area_of = |[a, b, c]: [Vector3; 3]| 0.5 * (b - a).cross(&(c - a)).norm();
    let area: f64 = from.triangles.iter().map(|triangle| area_of(corners(triangle))).sum();
    let step = step.max((area / SAMPLES_MAX as f64).sqrt());
    let mut guess = 0;
    let mut missed = Missed { largest: 0.0, at: Vector3::zeros(), share: 0.0, samples: Vec::new() };
    let mut sample = |point: &Vector3, normal: &Vector3, area: f64| {
        let distance = to.nearest(point, &mut guess).distance;
        let (is_largest, is_missed) = (distance > missed.largest, distance > tolerance && area > 0.0);
        if !(is_largest || is_missed) || !counts(point, normal) {
            return;
        }
        if is_largest {
            (missed.largest, missed.at) = (distance, *point);
        }
        if is_missed {
            missed.share += area;
            if missed.samples.len() < MISSED_SAMPLES_MAX {
                missed.samples.push((*point, *normal));
            }
        }
    };
    for triangle in &from.triangles {
        let [a, b, c] = corners(triangle);
        let normal = (b - a).cross(&(c - a)).try_normalize(0.0).unwrap_or_default();
        let longest = (b - a).norm().max((c - b).norm()).max((a - c).norm());
        let parts = ((longest / step).ceil() as usize).clamp(1, 200);
        [a, b, c].iter().for_each(|corner| sample(corner, &normal, 0.0));
        // Cell centres of a grid along both edges: strictly inside the triangle, each once.
        let cell = area_of([a, b, c]) / (parts * (parts + 1) / 2) as f64;
        for i in 0..parts {
            for j in 0..parts - i {
                let (s, t) = ((i as f64 + 1.0 / 3.0) / parts as f64, (j as f64 + 1.0 / 3.0) / parts as f64);
                sample(&(a + (b - a) * s + (c - a) * t), &normal, cell);
            }
        }
    }
    missed.share = if area > 0.0 { missed.share / area } else { 0.0 };
    missed
}

/// The thickness of a body under points of its surface \[m\] that a tenth of them do not exceed: the
/// distance along the inward normal to the other side. `None` without points.
pub(super) fn thickness(surface: &SurfaceMesh, points: &[(Vector3, Vector3)]) -> Option<f64> {
    if points.is_empty() {
        return None;
    }
    let corners = |triangle: &[u32; 3]| triangle.map(|vertex| surface.vertices[vertex as usize]);
    let boxes = surface.triangles.iter().enumerate().map(|(k, triangle)| (k as u32, Aabb::around(&corners(triangle))));
    let tree = Bvh::new(boxes);
    let size = (tree.bounds().max - tree.bounds().min).norm();
    let mut found: Vec<f64> = points
        .iter()
        .filter_map(|(point, normal)| {
            let (start, end) = (point - normal * (NEAR * size), point - normal * size);
            let along = end - start;
            let nearest = std::cell::Cell::new(1.0_f64);
            tree.walk(
                |bounds| bounds.overlaps(&Aabb::around(&[start, start + along * nearest.get()])),
                |triangle, _| {
                    let [a, b, c] = corners(&surface.triangles[triangle as usize]);
                    let normal = (b - a).cross(&(c - a));
                    let t = normal.dot(&(a - start)) / normal.dot(&along);
                    let at = start + along * t;
                    let within =
                        [(a, b), (b, c), (c, a)].iter().all(|(p, q)| normal.cross(&(q - p)).dot(&(at - p)) >= 0.0);
                    if t > 0.0 && t < nearest.get() && within {
                        nearest.set(t);
                    }
                },
            );
            (nearest.get() < 1.0).then_some((nearest.get() + NEAR) * size)
        })
        .collect();
    found.sort_unstable_by(f64::total_cmp);
    found.get(found.len() / 10).copied()
}
