//! Fits the boundary of a filling to the surface, by dividing boundary edges and faces where it misses.
//!
//! The vertices of a filling lie on the surface, but its edges and faces cut across the edges of the surface
//! and along chords of its bends. An edge that misses the surface by more than the tolerance is divided at
//! its worst point, and the new vertex lies on the surface: at a corner or on an edge of the surface if one
//! is near. A vertex that is already near such a corner or edge moves there instead. An edge of the filling
//! that crosses an edge of the surface is divided once, and both halves then lie in the surface's faces: the
//! boundary becomes exact in a finite number of divisions where faces are flat.
//!
//! Each tetrahedron keeps a corner strictly inside and a positive volume, and its angles and the gradient of
//! the depth stay within limits. A division that would break these rules is not made, and the miss is
//! reported.

use super::features::Features;
use super::quality::dihedral_range_of;
use crate::geometry::mesh_measure::boundary_faces;
use crate::geometry::surface_distance::SurfaceDistance;
use crate::geometry::tetrahedra::{TET_FACES, six_volumes};
use crate::geometry::{Aabb, VolumeMesh};
use crate::math::Vector3;

/// The largest number of rounds over the boundary; each treats all parts that miss, the worst first.
const ROUNDS: usize = 16;
/// Points of an edge where its distance to the surface is measured, as shares of its length. [-]
const SAMPLES: [f64; 3] = [0.25, 0.5, 0.75];
/// A corner or an edge of the surface attracts a new vertex within this share of the divided edge's length.
/// [-]
const ATTRACTION: f64 = 0.35;
/// A vertex nearer than this share of the edge's length to the new vertex is moved instead. [-]
const NEAR_END: f64 = 0.22;
/// New vertices are at least this share of the edge's length away from its ends. [-]
const END_MIN: f64 = 0.08;
/// New vertices lie at most this share of the edge's length beside the edge. [-]
const SHIFT_MAX: f64 = 0.5;
/// A vertex this near to a corner or edge of the surface lies on it, as a share of the filling's size. [-]
const ON_FEATURE: f64 = 1e-9;
/// Dihedral angles [degrees] that a division must keep.
const DIHEDRAL_MIN: f64 = 1.0;
const DIHEDRAL_MAX: f64 = 177.0;
/// The depth rises by at most one metre per metre, and its linear interpolation in a tetrahedron by at most
/// this, or by as much as before. [-]
const GRADIENT_MAX: f64 = 2.0;

/// The surface and the limits of a fit.
pub(super) struct Fit<'a> {
    pub(super) surface: &'a SurfaceDistance<'a>,
    /// The edges of the surface that are sharp enough to matter for the tolerance, and the corners.
    pub(super) features: &'a Features,
    /// Parts of the boundary farther than this from the surface are divided \[m\].
    pub(super) tolerance: f64,
    /// The largest number of tetrahedra.
    pub(super) tets_max: usize,
    /// Boxes in which nothing is changed.
    pub(super) kept: &'a [Aabb],
}

/// Where a vertex lies on the surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Face,
    Edge,
    Corner,
}

/// A part of the boundary that misses the surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Edge([u32; 2]),
    Face([u32; 3]),
}

impl Part {
    fn corners(&self) -> &[u32] {
        match self {
            Self::Edge(edge) => edge,
            Self::Face(face) => face,
        }
    }
}

/// Parts of the boundary that need not be examined again, sorted.
#[derive(Default)]
struct Done {
    /// Edges that are near enough, until one of their ends moves.
    near: Vec<[u32; 2]>,
    /// Parts that cannot be improved, until a tetrahedron at one of their corners changes.
    stuck: Vec<Part>,
}

/// Fits the boundary of `mesh`. `depth` is the depth of each vertex, zero on the boundary. `exposed` returns
/// whether a point of the surface, with the normal there, bounds the inside.
pub(super) fn fit(
    mesh: &mut VolumeMesh,
    depth: &mut Vec<f64>,
    fit: &Fit,
    exposed: &mut dyn FnMut(&Vector3, &Vector3) -> bool,
) {
    let mut fitter = Fitter::new(mesh, depth, fit, exposed);
    let mut done = Done::default();
    for _ in 0..ROUNDS {
        let missing = fitter.missing(&mut done);
        fitter.moved.iter_mut().for_each(|moved| *moved = false);
        fitter.touched.iter_mut().for_each(|touched| *touched = false);
        let mut changed = false;
        for (_, part, at) in missing {
            if fitter.mesh.tets.len() >= fit.tets_max {
                return;
            }
            if fitter.improve(part, &at) {
                changed = true;
            } else {
                done.stuck.push(part);
            }
        }
        done.stuck.sort_unstable();
        if !changed {
            break;
        }
    }
}

struct Fitter<'a, 'm> {
    mesh: &'m mut VolumeMesh,
    depth: &'m mut Vec<f64>,
    fit: &'m Fit<'a>,
    exposed: &'m mut dyn FnMut(&Vector3, &Vector3) -> bool,
    /// The tetrahedra at each vertex.
    around: Vec<Vec<u32>>,
    place: Vec<Place>,
    /// Whether each vertex moved in this round.
    moved: Vec<bool>,
    /// Whether a tetrahedron at each vertex changed in this round.
    touched: Vec<bool>,
    /// Whether a vertex lies at each corner of the surface.
    taken: Vec<bool>,
    guess: u32,
}

impl<'a, 'm> Fitter<'a, 'm> {
    fn new(
        mesh: &'m mut VolumeMesh,
        depth: &'m mut Vec<f64>,
        fit: &'m Fit<'a>,
        exposed: &'m mut dyn FnMut(&Vector3, &Vector3) -> bool,
    ) -> Self {
        let around = tets_around(mesh);
        let bounds = Aabb::around(&mesh.vertices);
        let reach = ON_FEATURE * (bounds.max - bounds.min).norm();
        let mut taken = vec![false; fit.features.corners.len()];
        let place = mesh
            .vertices
            .iter()
            .zip(depth.iter())
            .map(|(vertex, depth)| {
                if *depth > 0.0 {
                    return Place::Face;
                }
                if let Some(corner) = fit.features.nearest_corner(vertex, reach, |_| true) {
                    taken[corner as usize] = true;
                    return Place::Corner;
                }
                match fit.features.nearest_segment(vertex, reach) {
                    Some(_) => Place::Edge,
                    None => Place::Face,
                }
            })
            .collect();
        let (moved, touched) = (vec![true; mesh.vertices.len()], vec![true; mesh.vertices.len()]);
        Self { mesh, depth, fit, exposed, around, place, moved, touched, taken, guess: 0 }
    }

    fn at(&self, vertex: u32) -> Vector3 {
        self.mesh.vertices[vertex as usize]
    }

    /// The parts of the boundary that miss the surface, the worst first, each with its distance and the point
    /// that misses most.
    fn missing(&mut self, done: &mut Done) -> Vec<(f64, Part, Vector3)> {
        let faces = boundary_faces(self.mesh);
        let mut edges: Vec<[u32; 2]> =
            faces.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).map(|[a, b]| [a.min(b), a.max(b)]).collect();
        edges.sort_unstable();
        edges.dedup();
        let mut missing = Vec::new();
        let mut near = Vec::with_capacity(edges.len());
        let touched = &self.touched;
        done.stuck.retain(|part| !part.corners().iter().any(|corner| touched[*corner as usize]));
        for edge in edges {
            let part = Part::Edge(edge);
            if !edge.iter().any(|end| self.moved[*end as usize]) && done.near.binary_search(&edge).is_ok() {
                near.push(edge);
            } else if done.stuck.binary_search(&part).is_err() {
                let [p, q] = edge.map(|end| self.at(end));
                match self.worst(SAMPLES.map(|share| p + (q - p) * share)) {
                    Some((distance, at)) => missing.push((distance, part, at)),
                    None => near.push(edge),
                }
            }
        }
        done.near = near;
        for face in faces {
            let [a, b, c] = face;
            let is_near = |a: u32, b: u32| done.near.binary_search(&[a.min(b), a.max(b)]).is_ok();
            let part = Part::Face(face);
            let is_new = face.iter().any(|vertex| self.touched[*vertex as usize]);
            if is_new && is_near(a, b) && is_near(b, c) && is_near(c, a) {
                let middle = face.iter().map(|vertex| self.at(*vertex)).sum::<Vector3>() / 3.0;
                if let Some((distance, at)) = self.worst([middle]) {
                    missing.push((distance, part, at));
                }
            }
        }
        missing.sort_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
        missing
    }

    /// The point farthest from the surface and its distance \[m\], if that is beyond the tolerance.
    fn worst<const N: usize>(&mut self, points: [Vector3; N]) -> Option<(f64, Vector3)> {
        let mut worst: Option<(f64, Vector3)> = None;
        for point in points {
            let distance = self.fit.surface.nearest(&point, &mut self.guess).distance;
            if distance > worst.map_or(self.fit.tolerance, |(largest, _)| largest) {
                worst = Some((distance, point));
            }
        }
        worst.filter(|(_, at)| !self.fit.kept.iter().any(|kept| kept.overlaps_ball(at, 0.0)))
    }

    /// Divides a part, or moves one of its corners, so that it follows the surface near the point `at`;
    /// returns whether it did.
    fn improve(&mut self, part: Part, at: &Vector3) -> bool {
        let corners = part.corners();
        let ends: Vec<Vector3> = corners.iter().map(|vertex| self.at(*vertex)).collect();
        let length = ends.iter().map(|end| (end - ends[0]).norm()).fold(0.0, f64::max);
        let features = self.fit.features;
        let reach = ATTRACTION * length;
        if let Some(corner) = features.nearest_corner(at, reach, |corner| !self.taken[corner as usize]) {
            let target = features.corners[corner as usize];
            if self.settle(part, corners, &ends, length, &target, Place::Corner) {
                self.taken[corner as usize] = true;
                return true;
            }
        }
        if let Some(segment) = features.nearest_segment(at, reach) {
            let target = match part {
                Part::Edge(_) => features.crossing(segment, [&ends[0], &ends[1]]),
                Part::Face(_) => features.nearest_on(segment, at),
            };
            if self.settle(part, corners, &ends, length, &target, Place::Edge) {
                return true;
            }
        }
        let target = self.fit.surface.nearest(at, &mut self.guess).point;
        self.settle(part, corners, &ends, length, &target, Place::Face)
    }

    /// Puts a vertex at `target`. It moves the nearest end of the part if that is near and less bound to the
    /// surface than `place`, and adds a new vertex otherwise. Returns whether it did.
    fn settle(
        &mut self,
        part: Part,
        corners: &[u32],
        ends: &[Vector3],
        length: f64,
        target: &Vector3,
        place: Place,
    ) -> bool {
        let away = |end: &Vector3| (end - target).norm();
        let (distance, end) = ends
            .iter()
            .zip(corners)
            .map(|(end, corner)| (away(end), *corner))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .unwrap_or((f64::INFINITY, 0));
        if distance < NEAR_END * length && self.place[end as usize] < place && self.move_to(end, target) {
            self.place[end as usize] = place;
            return true;
        }
        if distance < END_MIN * length {
            return false;
        }
        let beside = match part {
            Part::Edge(_) => SurfaceDistance::to_triangle(target, &[ends[0], ends[1], ends[1]]),
            Part::Face(_) => SurfaceDistance::to_triangle(target, &[ends[0], ends[1], ends[2]]),
        };
        if beside > SHIFT_MAX * length {
            return false;
        }
        self.divide(corners, target, place)
    }

    /// Whether a point on the surface bounds the inside.
    fn is_exposed(&mut self, point: &Vector3) -> bool {
        let nearest = self.fit.surface.nearest(point, &mut self.guess);
        let normal = self.fit.surface.normal_at(&nearest).try_normalize(0.0);
        normal.is_some_and(|normal| (self.exposed)(point, &normal))
    }

    /// Divides the tetrahedra that contain all `corners` by a new vertex, if they stay sound.
    fn divide(&mut self, corners: &[u32], target: &Vector3, place: Place) -> bool {
        let Some(first) = corners.first() else { return false };
        let tets: Vec<u32> = self.around[*first as usize]
            .iter()
            .copied()
            .filter(|tet| corners.iter().all(|corner| self.mesh.tets[*tet as usize].contains(corner)))
            .collect();
        if tets.is_empty() {
            return false;
        }
        for tet in &tets {
            let steepest = self.steepness(&self.mesh.tets[*tet as usize].map(|v| (self.at(v), self.depth[v as usize])));
            for replaced in corners {
                let part = self.mesh.tets[*tet as usize].map(|vertex| {
                    if vertex == *replaced { (*target, 0.0) } else { (self.at(vertex), self.depth[vertex as usize]) }
                });
                if !self.is_sound(&part, steepest) {
                    return false;
                }
            }
        }
        if !self.is_exposed(target) {
            return false;
        }
        let vertex = self.mesh.vertices.len() as u32;
        self.mesh.vertices.push(*target);
        self.depth.push(0.0);
        self.place.push(place);
        self.moved.push(true);
        self.touched.push(true);
        self.around.push(Vec::new());
        for tet in tets {
            let whole = self.mesh.tets[tet as usize];
            whole.iter().for_each(|corner| self.touched[*corner as usize] = true);
            for (number, replaced) in corners.iter().enumerate() {
                let part = whole.map(|corner| if corner == *replaced { vertex } else { corner });
                let name = if number == 0 {
                    self.mesh.tets[tet as usize] = part;
                    self.around[*replaced as usize].retain(|other| *other != tet);
                    self.around[vertex as usize].push(tet);
                    continue;
                } else {
                    self.mesh.tets.push(part);
                    self.mesh.tets.len() as u32 - 1
                };
                part.iter().for_each(|corner| self.around[*corner as usize].push(name));
            }
        }
        true
    }

    /// Moves a vertex if the tetrahedra around it stay sound.
    fn move_to(&mut self, vertex: u32, target: &Vector3) -> bool {
        let sound = self.around[vertex as usize].iter().all(|tet| {
            let whole = self.mesh.tets[*tet as usize].map(|v| (self.at(v), self.depth[v as usize]));
            let steepest = self.steepness(&whole);
            let changed = self.mesh.tets[*tet as usize]
                .map(|v| (if v == vertex { *target } else { self.at(v) }, self.depth[v as usize]));
            self.is_sound(&changed, steepest)
        });
        if !sound || !self.is_exposed(target) {
            return false;
        }
        self.mesh.vertices[vertex as usize] = *target;
        self.moved[vertex as usize] = true;
        for tet in &self.around[vertex as usize] {
            self.mesh.tets[*tet as usize].iter().for_each(|corner| self.touched[*corner as usize] = true);
        }
        true
    }

    /// The gradient of the depth in a tetrahedron, from the depths at its corners. [-]
    fn steepness(&self, corners: &[(Vector3, f64); 4]) -> f64 {
        let positions = corners.map(|corner| corner.0);
        let volumes = six_volumes(&positions);
        let mut gradient = Vector3::zeros();
        for i in 0..4 {
            let [a, b, c] = TET_FACES[i].map(|corner| positions[corner]);
            gradient -= (b - a).cross(&(c - a)) * corners[i].1;
        }
        gradient.norm() / volumes
    }

    fn is_sound(&self, corners: &[(Vector3, f64); 4], steepest_before: f64) -> bool {
        let positions = corners.map(|corner| corner.0);
        if six_volumes(&positions) <= 0.0 {
            return false;
        }
        let (min, max) = dihedral_range_of(&positions);
        min.to_degrees() >= DIHEDRAL_MIN
            && max.to_degrees() <= DIHEDRAL_MAX
            && self.steepness(corners) <= GRADIENT_MAX.max(steepest_before)
    }
}

/// The tetrahedra at each vertex.
pub(super) fn tets_around(mesh: &VolumeMesh) -> Vec<Vec<u32>> {
    let mut around = vec![Vec::new(); mesh.vertices.len()];
    for (k, tet) in mesh.tets.iter().enumerate() {
        tet.iter().for_each(|vertex| around[*vertex as usize].push(k as u32));
    }
    around
}
