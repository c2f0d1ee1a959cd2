//! Rigid geometries that the motion of a solve takes through each other.
//!
//! The points of a step lie where the bodies are near each other at its start. Where a body turns far, or is
//! pushed by another one, it may pass beside them. Two convex geometries of free or fixed bodies then get
//! points at the corners of the one against a plane that is fixed to the other one: the plane that separated
//! them just before they overlapped. All other pairs are named.

use super::free_path::{FreePath, FreePathPoses};
use super::missed::{smallest_extent, thickness_of_pair};
use super::pairs::Pairs;
use super::way::between;
use crate::contact::mean_point;
use crate::geometry::{MESH_DEPTH, Shape};
use crate::math::{RigidTransform, Vector3};
use crate::multibody::Data;
use crate::scene::{CollisionGeometry, ContactPair, Scene};

/// Bodies pass each other if they overlap by this share of the sum of their thicknesses, of which the thicker
/// one counts up to [`THICK`] times the thinner one [-]. The way out on the wrong side is far longer.
const OVERLAP: f64 = 0.04;
/// See [`OVERLAP`]. [-]
const THICK: f64 = 9.0;
/// Points of meshes that are not convex are looked at up to this share of the greatest depth that they have
/// [-].
const MESH_PART: f64 = 0.5;
/// Geometries that overlap at the start pass each other if they overlap by this share of the limit more [-].
const DEEPER: f64 = 0.5;
/// Geometries touch at this share of the overlap at which they pass each other [-].
const TOUCH: f64 = 0.02;
/// The poses that are examined are at most this share of the smaller thickness apart [-].
const LOOK_PART: f64 = 0.5;
/// The largest number of poses that are examined.
const LOOKS_MAX: f64 = 256.0;
/// The number of halvings by which the last pose without overlap is found.
const HALVINGS: u32 = 6;
/// Corners beside the holder of a plane do not touch it, up to this share of the overlap limit [-].
const BESIDE: f64 = 1.0;
/// The end of a cylinder has normals with a larger part along its axis than this [-].
const FLAT_END: f64 = 0.9;

/// A plane between two geometries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Barrier {
    /// The geometry to which the plane is fixed: 0 is A.
    holder: usize,
    /// Its unit normal, from A into B [-, the frame of the holder].
    normal: Vector3,
    /// The depth of the overlap at the start of the step \[m\].
    at_start: f64,
    /// Corners that are farther beside the holder than this do not touch it \[m\].
    beside: f64,
}

/// Two geometries that a motion takes through each other.
#[derive(Clone, Copy, Debug)]
pub(super) enum Passing {
    /// They stay apart on either side of this plane if contact holds them.
    Of(Barrier),
    /// No plane that could hold them is known.
    Unknown,
}

/// The poses of the geometries A and B.
type Poses = (RigidTransform, RigidTransform);

/// A pair that may pass, with its motion through a step.
pub(super) struct Passage<'a> {
    scene: &'a Scene,
    pair: (usize, &'a ContactPair),
    geometries: [&'a CollisionGeometry; 2],
    /// The poses of the bodies at the start and at the end.
    bodies: [[RigidTransform; 2]; 2],
    /// A bound on the way by which they approach each other \[m\].
    travel: f64,
    /// The overlap of geometries that pass each other \[m\].
    limit: f64,
    is_convex: bool,
    /// Whether a plane may hold them: convex geometries of bodies that are free or do not move.
    is_held: bool,
}

impl Barrier {
    /// The depth by which geometries overlapped at the start of the step \[m\].
    pub(super) fn depth_at_start(&self) -> f64 {
        self.at_start
    }
    fn normal_W(&self, X_WG: &Poses) -> Vector3 {
        [X_WG.0, X_WG.1][self.holder].rotation * self.normal
    }
}

impl<'a> Passage<'a> {
    /// The passage of a pair from the poses in `start` along a `motion`; `None` if the motion is too short,
    /// or if a stated stiffness permits deep overlaps. A `landing` may overlap by this much more \[m\].
    pub(super) fn of(
        pairs: &Pairs,
        (scene, start, path): (&'a Scene, &Data, &FreePath<'_>),
        pair: (usize, &'a ContactPair),
        (motion, landing): (&mut FreePathPoses, f64),
    ) -> Option<Self> {
        let geometries = [pair.1.A, pair.1.B].map(|index| &scene.geometries()[index]);
        let [a, b] = geometries.map(smallest_extent);
        let mut limit = OVERLAP * (a + b).min((1.0 + THICK) * a.min(b));
        let rigid = geometries.map(|geometry| geometry.rigid.as_ref());
        let is_convex = rigid.iter().flatten().all(|rigid| rigid.is_convex());
        if !is_convex {
            limit = limit.min(MESH_PART * MESH_DEPTH * pairs.smaller_radius(pair.1, scene));
        }
        limit += landing;
        let end = motion.at(path, 1.0);
        let travel = pairs.approach(pair.1, scene, start, end);
        let is_plane = !(a + b).is_finite();
        if is_plane || travel <= DEEPER * limit || pair.1.material.point_stiffness.is_some() {
            return None;
        }
        let bodies = geometries.map(|geometry| [start, end].map(|data| data.X_WB[geometry.body]));
        let is_known = |(geometry, [from, to]): (&&CollisionGeometry, &[RigidTransform; 2])| {
            from == to || scene.model().is_free(geometry.body)
        };
        let is_held = is_convex && geometries.iter().zip(&bodies).all(is_known);
        Some(Self { scene, pair, geometries, bodies, travel, limit, is_convex, is_held })
    }

    /// The poses of the geometries after a fraction of the step.
    fn at(&self, part: f64) -> Poses {
        let pose = |side: usize| between(&self.bodies[side], part) * self.geometries[side].X_BG;
        (pose(0), pose(1))
    }

    /// The distance of two planes across `n` between which nothing of the two geometries lies \[m\].
    fn separation(&self, X_WG: &Poses, n: &Vector3) -> f64 {
        let reach = |side: usize, X_WG: &RigidTransform, n: &Vector3| {
            self.geometries[side].rigid.as_ref().map_or(f64::INFINITY, |rigid| rigid.reach_W(X_WG, n))
        };
        -reach(1, &X_WG.1, &-n) - reach(0, &X_WG.0, n)
    }

    fn depth(&self, pairs: &mut Pairs, X_WG: &Poses) -> f64 {
        let (index, pair) = self.pair;
        pairs.find_points_at(index, pair, self.scene, 0.0, X_WG);
        pairs.points(index).phi.iter().fold(0.0, |depth, phi| depth.max(-phi))
    }

    /// Whether a plane across the normal `n` of their contact shows that the geometries overlap by at most
    /// `depth` at the poses `X_WG`.
    fn is_shallow(&self, X_WG: &Poses, n: Option<Vector3>, depth: f64) -> bool {
        self.is_convex && n.is_some_and(|n| self.separation(X_WG, &n) >= -depth)
    }

    /// Whether the geometries pass each other. `known` is the plane that the problem of the solve already
    /// contains, `normal` one of its normals of the pair, which spares most searches [-, world].
    pub(super) fn find(&self, pairs: &mut Pairs, known: Option<Barrier>, normal: Option<Vector3>) -> Option<Passing> {
        let (start, end) = (self.at(0.0), self.at(1.0));
        let thickness = thickness_of_pair(self.geometries[0], self.geometries[1]);
        let count = (self.travel / (LOOK_PART * thickness)).ceil().clamp(1.0, LOOKS_MAX) as u32;
        let part = |number: u32| f64::from(number) / f64::from(count);
        if (1..=count).all(|number| self.is_shallow(&self.at(part(number)), normal, self.limit)) {
            return None;
        }
        let at_start = self.depth(pairs, &start);
        let deep = self.limit.max(at_start + DEEPER * self.limit);
        let passes = |barrier: &Barrier| self.separation(&end, &barrier.normal_W(&end)) < -deep;
        if known.is_some_and(|barrier| !passes(&barrier)) {
            return None;
        }
        let number = (1..=count).find(|number| self.depth(pairs, &self.at(part(*number))) > deep)?;
        if let Some(barrier) = known {
            return Some(Passing::Of(barrier));
        }
        if !self.is_held || at_start > self.limit {
            return Some(Passing::Unknown);
        }
        let touch = at_start + TOUCH * self.limit;
        let (mut before, mut after) = (part(number - 1), part(number));
        for _ in 0..HALVINGS {
            let middle = 0.5 * (before + after);
            if self.depth(pairs, &self.at(middle)) > touch {
                after = middle;
            } else {
                before = middle;
            }
        }
        match self.plane_at(pairs, &self.at(before), at_start) {
            Some(barrier) => passes(&barrier).then_some(Passing::Of(barrier)),
            None => Some(Passing::Unknown),
        }
    }

    /// The plane that separates the geometries best at the poses `X_WG`.
    fn plane_at(&self, pairs: &mut Pairs, X_WG: &Poses, at_start: f64) -> Option<Barrier> {
        let (index, pair) = self.pair;
        pairs.find_points_at(index, pair, self.scene, self.limit, X_WG);
        let by_distance = |n: &&Vector3, m: &&Vector3| self.separation(X_WG, n).total_cmp(&self.separation(X_WG, m));
        let normal = *pairs.points(index).normal.iter().max_by(by_distance)?;
        if self.separation(X_WG, &normal) < -at_start - DEEPER * self.limit {
            return None;
        }
        let radius = |side: usize| {
            let rigid = self.geometries[side].rigid.as_ref();
            rigid.map_or(0.0, |rigid| rigid.bounding_sphere_W(&X_WG.0).1)
        };
        let larger = usize::from(radius(1) > radius(0));
        let in_frame = |side: usize| [X_WG.0, X_WG.1][side].rotation.inverse() * normal;
        // Points on a plane beside a round surface would turn it without friction
        let is_flat = |side: &usize| match self.geometries[*side].shape {
            Shape::Sphere { .. } | Shape::Capsule { .. } | Shape::Ellipsoid { .. } => false,
            Shape::Cylinder { .. } => in_frame(*side).z.abs() > FLAT_END,
            _ => true,
        };
        let holder = [larger, 1 - larger].into_iter().find(is_flat)?;
        let beside = BESIDE * self.limit;
        Some(Barrier { holder, normal: in_frame(holder), at_start, beside })
    }
}

impl Pairs {
    /// Sets the points of a pair to those at which corners of the one geometry that lie over the other one
    /// may touch the plane of a `barrier` at the poses `X_WG`. Returns their mean [m, world].
    pub(super) fn set_barrier_points(
        &mut self,
        (index, pair): (usize, &ContactPair),
        scene: &Scene,
        barrier: &Barrier,
        X_WG: &Poses,
    ) -> Option<Vector3> {
        let n = barrier.normal_W(X_WG);
        let geometries = [pair.A, pair.B].map(|index| &scene.geometries()[index]);
        let [Some(A), Some(B)] = geometries.map(|geometry| geometry.rigid.as_ref()) else { return None };
        // Points of the other geometry, seen along `out` from the holder
        let (holder, X_WH, other, X_WO, out) = match barrier.holder {
            0 => (A, &X_WG.0, B, &X_WG.1, n),
            _ => (B, &X_WG.1, A, &X_WG.0, -n),
        };
        let (level, bounds) = (holder.reach_W(X_WH, &out), geometries[barrier.holder].hydroelastic.aabb());
        let bounds = bounds.grown(barrier.beside);
        let points = self.points_mut(index);
        points.clear();
        other.corners_W(X_WO, &-out, |corner| {
            let phi = out.dot(&corner) - level;
            let below = X_WH.inverse_transform_point(&(corner - out * phi).into()).coords;
            if (0..3).all(|i| bounds.min[i] <= below[i] && below[i] <= bounds.max[i]) {
                points.p_WC.push(corner - out * (0.5 * phi));
                points.normal.push(n);
                points.phi.push(phi);
            }
        });
        mean_point(self.points(index))
    }

    /// Raises the distances of the points of a pair that are below `least` \[m\].
    pub(super) fn raise_distances(&mut self, index: usize, least: f64) {
        self.points_mut(index).phi.iter_mut().for_each(|phi| *phi = phi.max(least));
    }
}
