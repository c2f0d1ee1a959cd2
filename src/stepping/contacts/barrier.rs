//! Rigid geometries that the motion of a solve takes through each other.
//!
//! The points of a step lie where the bodies are near each other at its start. Where a body turns far, or is
//! pushed by another one, it may pass beside them. Such a pair gets points at all corners of the one geometry
//! against a plane that is fixed to the other one: the plane that separated them just before they overlapped.

use super::free_path::{FreePath, FreePathPoses};
use super::missed::{smallest_extent, thickness_of_pair};
use super::pairs::{Pairs, poses};
use crate::geometry::Shape;
use crate::math::{RigidTransform, Vector3};
use crate::multibody::Data;
use crate::scene::{ContactPair, Scene};

/// Bodies pass each other if they overlap by this share of the sum of their thicknesses [-]. The way out on
/// the wrong side is far longer.
const OVERLAP: f64 = 0.1;
/// The poses that are examined are at most this share of the smaller thickness apart [-].
const LOOK_PART: f64 = 0.5;
/// The largest number of poses that are examined.
const LOOKS_MAX: f64 = 256.0;
/// Geometries that overlap at the start pass each other if they overlap by this share of the limit more [-].
const DEEPER: f64 = 0.5;
/// Geometries touch at this share of the overlap at which they pass each other [-].
const TOUCH: f64 = 0.02;
/// The number of halvings by which the last pose without overlap is found.
const HALVINGS: u32 = 6;

/// A plane between two geometries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Barrier {
    /// The geometry to which the plane is fixed: 0 is A.
    holder: usize,
    /// Its unit normal, from A into B [-, the frame of the holder, or the world's if it is a ball].
    normal: Vector3,
}

/// Two geometries that a motion takes through each other.
#[derive(Clone, Copy, Debug)]
pub(super) enum Passing {
    /// They stay apart on either side of this plane if contact holds them.
    Of(Barrier),
    /// No plane separates them before they overlap.
    Unknown,
}

/// A pair that may pass, with its motion through a step.
pub(super) struct Passage<'a> {
    pub(super) scene: &'a Scene,
    pub(super) start: &'a Data,
    pub(super) path: &'a FreePath<'a>,
    pub(super) pair: (usize, &'a ContactPair),
}

impl Barrier {
    fn normal_W(&self, scene: &Scene, pair: &ContactPair, X_WG: &(RigidTransform, RigidTransform)) -> Vector3 {
        let holder = &scene.geometries()[[pair.A, pair.B][self.holder]];
        match holder.shape {
            Shape::Sphere { .. } => self.normal,
            _ => [X_WG.0, X_WG.1][self.holder].rotation * self.normal,
        }
    }
}

/// The distance of two planes across `n` between which nothing of the two geometries lies \[m\].
fn separation(scene: &Scene, pair: &ContactPair, X_WG: &(RigidTransform, RigidTransform), n: &Vector3) -> f64 {
    let reach = |index, X_WG: &RigidTransform, n: &Vector3| {
        let rigid = scene.geometries()[index].rigid.as_ref();
        rigid.map_or(f64::INFINITY, |rigid| rigid.reach_W(X_WG, n))
    };
    -reach(pair.B, &X_WG.1, &-n) - reach(pair.A, &X_WG.0, n)
}

impl Passage<'_> {
    /// Whether the `motion` of a solve takes the geometries through each other. `known` is the plane that the problem of the solve already contains.
    pub(super) fn find(&self, pairs: &mut Pairs, motion: &mut FreePathPoses, known: Option<Barrier>) -> Option<Passing> {
        let Self { scene, start, path, pair: (index, pair) } = *self;
        let (a, b) = (&scene.geometries()[pair.A], &scene.geometries()[pair.B]);
        let limit = std::env::var("OVERLAP").map_or(OVERLAP, |o| o.parse().unwrap()) * (smallest_extent(a) + smallest_extent(b));
        let end = motion.at(path, 1.0);
        let travel = pairs.approach(pair, scene, start, end);
        if !limit.is_finite() || travel <= DEEPER * limit {
            return None;
        }
        let mut depth = |data: &Data| {
            pairs.find_points_at(index, pair, scene, 0.0, &poses(scene, pair, data));
            pairs.points(index).phi.iter().fold(0.0_f64, |depth, phi| depth.max(-phi))
        };
        let at_start = depth(start);
        let limit = limit.max(at_start + DEEPER * limit);
        let passes = |barrier: Barrier, end: &Data| {
            let X_WG = poses(scene, pair, end);
            let apart = separation(scene, pair, &X_WG, &barrier.normal_W(scene, pair, &X_WG));
            (apart < -limit).then_some(Passing::Of(barrier))
        };
        if let Some(barrier) = known {
            return passes(barrier, motion.at(path, 1.0));
        }
        let count = (travel / (LOOK_PART * thickness_of_pair(a, b))).ceil().clamp(1.0, LOOKS_MAX) as u32;
        let part = |number: u32| f64::from(number) / f64::from(count);
        let number = (1..=count).find(|number| depth(motion.at(path, part(*number))) > limit)?;
        let (mut before, mut after) = (part(number - 1), part(number));
        for _ in 0..HALVINGS {
            let middle = 0.5 * (before + after);
            if depth(motion.at(path, middle)) > at_start + TOUCH * limit {
                after = middle;
            } else {
                before = middle;
            }
        }
        match self.plane_at(pairs, motion.at(path, before), limit) {
            Some(barrier) => passes(barrier, motion.at(path, 1.0)),
            None => Some(Passing::Unknown),
        }
    }

    /// The plane that separates the geometries best at the poses in `data`.
    fn plane_at(&self, pairs: &mut Pairs, data: &Data, limit: f64) -> Option<Barrier> {
        let Self { scene, pair: (index, pair), .. } = *self;
        let X_WG = poses(scene, pair, data);
        pairs.find_points_at(index, pair, scene, limit, &X_WG);
        let by_distance = |n: &&Vector3, m: &&Vector3| {
            separation(scene, pair, &X_WG, n).total_cmp(&separation(scene, pair, &X_WG, m))
        };
        let normal = *pairs.points(index).normal.iter().max_by(by_distance)?;
        if separation(scene, pair, &X_WG, &normal) < -limit {
            return None;
        }
        let radius = |index| scene.geometries()[index].rigid.as_ref().map_or(0.0, |rigid| rigid.bounding_sphere_W(&X_WG.0).1);
        let holder = usize::from(radius(pair.B) > radius(pair.A));
        let sphere = matches!(scene.geometries()[[pair.A, pair.B][holder]].shape, Shape::Sphere { .. });
        let R_WG = [X_WG.0, X_WG.1][holder].rotation;
        Some(Barrier { holder, normal: if sphere { normal } else { R_WG.inverse() * normal } })
    }
}

impl Pairs {
    /// Sets the points of a pair to those at which all corners of the one geometry may touch the plane of a
    /// `barrier` at the poses `X_WG`. Returns their mean [m, world].
    pub(super) fn set_barrier_points(
        &mut self,
        (index, pair): (usize, &ContactPair),
        scene: &Scene,
        barrier: &Barrier,
        X_WG: &(RigidTransform, RigidTransform),
    ) -> Option<Vector3> {
        let n = barrier.normal_W(scene, pair, X_WG);
        let geometries = [pair.A, pair.B].map(|index| scene.geometries()[index].rigid.as_ref());
        let [Some(A), Some(B)] = geometries else { return None };
        // Points of the other geometry, seen along `out` from the holder
        let (holder, X_WH, other, X_WO, out) = match barrier.holder {
            0 => (A, &X_WG.0, B, &X_WG.1, n),
            _ => (B, &X_WG.1, A, &X_WG.0, -n),
        };
        let level = holder.reach_W(X_WH, &out);
        let points = self.points_mut(index);
        points.clear();
        other.corners_W(X_WO, &-out, |corner| {
            let phi = out.dot(&corner) - level;
            points.p_WC.push(corner - out * (0.5 * phi));
            points.normal.push(n);
            points.phi.push(phi);
        });
        crate::contact::mean_point(self.points(index))
    }
}
