//! The way of two rigid geometries through a step, and whether they may touch on it.

use super::free_path::{FreePath, FreePathPoses};
use super::missed::thickness_of_pair;
use super::pairs::Pairs;
use crate::geometry::Shape;
use crate::math::{RigidTransform, Rotation, Vector3, rotation_vector};
use crate::multibody::Data;
use crate::scene::{CollisionGeometry, ContactPair, Scene};

/// Bodies nearer than this share of the smaller one's radius touch [-]. At smaller distances the direction
/// of the nearest points is uncertain.
const TOUCH: f64 = 1e-4;
/// The largest number of poses of a pair that are examined. Bodies that pass each other at a small distance
/// take the most.
const LOOKS_MAX: u32 = 64;
/// The longest way between two poses of bodies that are not convex, as a share of the thickness of the
/// thinner one [-].
const LOOK_PART: f64 = 0.25;
/// The largest turn of a body in a step whose way is examined \[rad\]. Of larger ones the poses of the start
/// and the end tell too little.
const TURN_MAX: f64 = 1.0;
/// A turn of less than this \[rad\], or that adds less than this share of a way, is rounding [-].
const ROUNDING: f64 = 1e-9;

/// The way of the two geometries of a pair through a step.
pub(super) struct Way<'a> {
    pair: (usize, &'a ContactPair),
    scene: &'a Scene,
    geometries: [&'a CollisionGeometry; 2],
    /// The poses of the bodies at the start and at the end.
    bodies: [[RigidTransform; 2]; 2],
    convex: bool,
    thickness: f64,
    /// The geometry that is seen from the other one (0 is A), the centre of a sphere around it in its frame,
    /// and the radius \[m\], which is 0 for a ball.
    seen: usize,
    center: Vector3,
    radius: f64,
    /// The distance of the centre from the origin of its body, and a bound on its distance from the origin of
    /// the other body \[m\].
    arms: [f64; 2],
    /// The way of the one origin, seen from the other \[m\].
    carried: f64,
    /// Geometries nearer than this touch \[m\].
    pub(super) touch: f64,
}

/// The way that is left at a pose: the motion of the centre, seen from the other geometry [m, world], a bound
/// on the way that turns add to it \[m\], and four times one on the distance of the centre from its chord,
/// which bounds the speed at which it leaves the chord \[m\].
#[derive(Clone, Copy)]
struct Rest {
    moved: Vector3,
    turned: f64,
    bend: f64,
}

impl<'a> Way<'a> {
    /// The way of a pair from the poses in `start`, which are those of `pairs`, along a `motion` of its
    /// bodies from which they may deviate by `margin` \[m\]. `None` if it is not known well enough: the
    /// bodies turn far, or links on joints move along any curves.
    pub(super) fn of(
        pairs: &Pairs,
        (scene, start, path): (&'a Scene, &Data, &FreePath<'_>),
        (index, pair): (usize, &'a ContactPair),
        (motion, margin): (&mut FreePathPoses, f64),
    ) -> Option<Self> {
        let end = motion.at(path, 1.0);
        let geometries = [pair.A, pair.B].map(|index| &scene.geometries()[index]);
        let bodies = geometries.map(|geometry| [start, end].map(|data| data.X_WB[geometry.body]));
        let is_known = |(geometry, [from, to]): (&&CollisionGeometry, &[RigidTransform; 2])| {
            let turn = angle(&(to.rotation * from.rotation.inverse()));
            let turn = turn.max(path.step * start.V_WB[geometry.body].w.norm());
            let model = scene.model();
            // Bodies that are welded to one that turns move along arcs. Meshes that are not convex may have
            // no points at a corner that turns towards the other.
            let is_convex = geometry.rigid.as_ref().is_none_or(|rigid| rigid.is_convex());
            let turns = turn <= TURN_MAX && is_convex && model.free_joint(geometry.body).is_some();
            from == to && turn == 0.0 || model.is_free(geometry.body) && (turn <= ROUNDING || turns)
        };
        if !geometries.iter().zip(&bodies).all(is_known) {
            return None;
        }
        let [sphere_A, sphere_B] = [pair.A, pair.B].map(|index| pairs.sphere_around(scene, index));
        let seen = usize::from(sphere_B.1 <= sphere_A.1);
        let (center, radius) = [sphere_A, sphere_B][seen];
        let X_WG = pairs.X_WG[[pair.A, pair.B][seen]];
        let origins = bodies.map(|poses| poses.map(|X_WB| X_WB.translation.vector));
        let ways = origins.map(|[from, to]| to - from);
        let [arm, other] = [seen, 1 - seen].map(|side| (center - origins[side][0]).norm());
        let carried = (ways[1] - ways[0]).norm();
        Some(Self {
            pair: (index, pair),
            scene,
            geometries,
            bodies,
            convex: geometries.iter().all(|geometry| geometry.rigid.as_ref().is_none_or(|rigid| rigid.is_convex())),
            thickness: thickness_of_pair(geometries[0], geometries[1]),
            seen,
            center: X_WG.inverse_transform_point(&center.into()).coords,
            radius: if matches!(geometries[seen].shape, Shape::Sphere { .. }) { 0.0 } else { radius },
            arms: [arm, other + carried + TURN_MAX * arm],
            carried,
            touch: TOUCH * radius + margin,
        })
    }

    /// Whether geometries with the distance `gap` \[m\] at the start stay apart because their way is short.
    pub(super) fn keeps_apart_by(&self, gap: f64) -> bool {
        gap > self.touch && self.length() < gap - self.touch
    }

    /// The poses of the geometries after a fraction of the step.
    fn at(&self, part: f64) -> (RigidTransform, RigidTransform) {
        let pose = |side: usize| between(&self.bodies[side], part) * self.geometries[side].X_BG;
        (pose(0), pose(1))
    }

    /// The way that is left at the poses `X_WG`.
    fn rest(&self, X_WG: &(RigidTransform, RigidTransform)) -> Rest {
        let now = [X_WG.0, X_WG.1];
        let end = [0, 1].map(|side| self.bodies[side][1] * self.geometries[side].X_BG);
        let (seen, from) = (self.seen, 1 - self.seen);
        let center = nalgebra::Point3::from(self.center);
        let place = |X: &[RigidTransform; 2]| X[from].inverse_transform_point(&(X[seen] * center));
        let moved = now[from].rotation * (place(&end) - place(&now));
        let turn = |side: usize| end[side].rotation * now[side].rotation.inverse();
        let (turn_seen, turn_from) = (turn(seen), turn(from));
        let relative = angle(&(turn_from.inverse() * turn_seen));
        let turned = if self.radius > 0.0 { relative * self.radius } else { 0.0 };
        Rest { moved, turned, bend: 4.0 * self.bend(angle(&turn_seen), angle(&turn_from)) }
    }

    /// A bound on the distance of the centre from its chord, seen from the other geometry, if the bodies turn
    /// evenly by these angles \[m\]: an eighth of the second derivative of its place in a frame that turns.
    fn bend(&self, seen: f64, from: f64) -> f64 {
        let speed = self.carried + seen * self.arms[0];
        let bend = [from * from * self.arms[1], 2.0 * from * speed, seen * seen * self.arms[0]];
        // The centre of a half space, which does not turn, is not finite
        0.125 * bend.into_iter().filter(|part| *part > 0.0).sum::<f64>()
    }

    /// A bound on the way of the whole step \[m\].
    fn length(&self) -> f64 {
        self.rest(&self.at(0.0)).length()
    }

    /// Whether the points of the start, which are those in `pairs`, show that the geometries stay apart.
    pub(super) fn is_free_from_start(&self, pairs: &Pairs) -> bool {
        let start = self.at(0.0);
        let rest = self.rest(&start);
        let normals = &pairs.points(self.pair.0).normal;
        normals.iter().any(|normal| self.share_along(normal, &start, &rest) >= 1.0)
    }

    /// Whether the geometries stay apart on all of their way: at each pose two planes that move with them
    /// separate them up to the next one. False if this is not certain.
    pub(super) fn is_free(&self, pairs: &mut Pairs) -> bool {
        let mut part = 0.0;
        for _ in 0..LOOKS_MAX {
            let X_WG = self.at(part);
            let share = self.free_share(pairs, &X_WG);
            if share >= 1.0 || share <= 0.0 {
                return share > 0.0;
            }
            part += (1.0 - part) * share;
        }
        false
    }

    /// The share of the way that is left at the poses `X_WG` which is free: 1 if it is all free, 0 if the
    /// geometries touch or may touch.
    fn free_share(&self, pairs: &mut Pairs, X_WG: &(RigidTransform, RigidTransform)) -> f64 {
        let (index, pair) = self.pair;
        let rest = self.rest(X_WG);
        let detection = if self.convex { f64::INFINITY } else { rest.length() + self.touch };
        pairs.find_points_at(index, pair, self.scene, detection, X_WG);
        let points = pairs.points(index);
        let (mut most, mut before) = (0.0_f64, None);
        for normal in &points.normal {
            if before.replace(*normal) != Some(*normal) {
                most = most.max(self.share_along(normal, X_WG, &rest));
            }
        }
        if self.convex || most >= 1.0 {
            return most;
        }
        // A body may be near the other one inside its hull
        let nearest = points.phi.iter().copied().fold(detection, f64::min);
        most = most.max(self.share(nearest, rest.length()));
        if rest.turned + rest.bend <= ROUNDING * rest.length() && nearest > self.touch {
            let planes = points.phi.iter().zip(&points.normal);
            let along = planes.map(|(phi, normal)| self.share(*phi, self.approach(&rest, normal)));
            most = most.max(along.fold(1.0, f64::min).min(LOOK_PART * self.thickness / rest.length()));
        }
        most
    }

    /// The share of the way that is left which two planes across `normal`, the unit vector from A into B,
    /// show to be free: the hulls of the geometries lie on their outer sides.
    fn share_along(&self, normal: &Vector3, X_WG: &(RigidTransform, RigidTransform), rest: &Rest) -> f64 {
        let reach = |side: usize, X_WG: &RigidTransform, n: &Vector3| {
            self.geometries[side].rigid.as_ref().map_or(f64::INFINITY, |rigid| rigid.reach_W(X_WG, n))
        };
        let gap = -reach(1, &X_WG.1, &-normal) - reach(0, &X_WG.0, normal);
        self.share(gap, self.approach(rest, normal))
    }

    /// The share of an `approach` \[m\] that leaves geometries with the distance `gap` \[m\] at half the
    /// distance of a touch; 0 if they touch at the start of it [-].
    fn share(&self, gap: f64, approach: f64) -> f64 {
        let free = gap - 0.5 * self.touch;
        match gap > self.touch {
            false => 0.0,
            true if approach <= free => 1.0,
            true => free / approach,
        }
    }

    /// A bound on the way that the geometries approach each other along a normal from A into B \[m\].
    fn approach(&self, rest: &Rest, normal: &Vector3) -> f64 {
        let side = if self.seen == 1 { -1.0 } else { 1.0 };
        (side * normal.dot(&rest.moved) + rest.turned).max(0.0) + rest.bend
    }
}

impl Rest {
    fn length(&self) -> f64 {
        self.moved.norm() + self.turned + self.bend
    }
}

fn angle(R: &Rotation) -> f64 {
    rotation_vector(R).norm()
}

/// The pose after a fraction of the way from one to the other: the origin on a straight line, with an even
/// turn.
pub(super) fn between([start, end]: &[RigidTransform; 2], part: f64) -> RigidTransform {
    if part == 0.0 {
        return *start;
    }
    if part == 1.0 {
        return *end;
    }
    let turn = rotation_vector(&(end.rotation * start.rotation.inverse()));
    let origin = start.translation.vector.lerp(&end.translation.vector, part);
    RigidTransform::from_parts(origin.into(), Rotation::new(part * turn) * start.rotation)
}
