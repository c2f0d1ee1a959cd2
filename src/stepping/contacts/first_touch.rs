//! Rigid geometries that are apart at the start of a step: whether and where their motion lets them touch.
//!
//! A contact plane has no border, but the faces of bodies do. A body that flies past a corner would be
//! deflected by the plane of a face beside which it ends. A pair that is apart therefore has points only if
//! its bodies touch on their way, and those of the pose at which they first do.

use super::free_path::{FreePath, FreePathPoses};
use super::missed::thickness_of_pair;
use super::pairs::{Pairs, poses};
use crate::geometry::{PointContacts, Shape};
use crate::math::{BodyIndex, RigidTransform, Rotation, Vector3, rotation_vector};
use crate::multibody::Data;
use crate::scene::{CollisionGeometry, ContactPair, Scene};

/// Bodies nearer than this share of the smaller one's radius touch [-].
const TOUCH: f64 = 1e-6;
/// The largest number of poses of a pair that are examined. Bodies that pass each other at a small distance
/// take the most.
const LOOKS_MAX: u32 = 48;
/// The longest way between two poses of bodies that are not convex, as a share of the thickness of the
/// thinner one [-].
const LOOK_PART: f64 = 0.25;
/// The number of halvings between a pose without contact and one with an overlap.
const HALVINGS: u32 = 20;
/// Bound on the way by which an arc leaves its chord, as a share of the chord times the turn [-].
const SAGITTA: f64 = 0.25;

/// The way of the two geometries of a pair through a step.
pub(super) struct Way<'a> {
    pair: (usize, &'a ContactPair),
    scene: &'a Scene,
    path: &'a FreePath<'a>,
    geometries: [&'a CollisionGeometry; 2],
    /// The poses of the bodies at the start and at the end.
    bodies: [[RigidTransform; 2]; 2],
    /// Whether the origins of both bodies move along straight lines.
    straight: bool,
    convex: bool,
    thickness: f64,
    /// The geometry that is seen from the other one (0 is A), the centre of a sphere around it in its frame,
    /// and the radius \[m\], which is 0 for a ball.
    seen: usize,
    center: Vector3,
    radius: f64,
    /// Geometries nearer than this touch \[m\].
    pub(super) touch: f64,
}

/// The way that is left at a pose: the motion of the centre, seen from the other geometry [m, world], and a
/// bound on the way that turns add to it \[m\].
#[derive(Clone, Copy)]
struct Rest {
    moved: Vector3,
    turned: f64,
}

/// The first touch of a pair on its way.
pub(super) struct FirstTouch {
    /// The fraction of the step [-].
    pub(super) part: f64,
    /// The poses of the geometries there.
    pub(super) X_WG: (RigidTransform, RigidTransform),
    /// A bound on the way that is left \[m\].
    pub(super) rest: f64,
}

impl<'a> Way<'a> {
    /// The way of a pair from the poses in `start`, which are those of `pairs`, along a `motion`.
    pub(super) fn of(
        pairs: &Pairs,
        (scene, start, path): (&'a Scene, &Data, &'a FreePath<'a>),
        (index, pair): (usize, &'a ContactPair),
        motion: &mut FreePathPoses,
    ) -> Self {
        let end = motion.at(path, 1.0);
        let geometries = [pair.A, pair.B].map(|index| &scene.geometries()[index]);
        let [sphere_A, sphere_B] = [pair.A, pair.B].map(|index| pairs.sphere_around(scene, index));
        let seen = usize::from(sphere_B.1 <= sphere_A.1);
        let (center, radius) = [sphere_A, sphere_B][seen];
        let X_WG = pairs.X_WG[[pair.A, pair.B][seen]];
        let straight =
            |geometry: &CollisionGeometry| geometry.body == BodyIndex::WORLD || scene.model().is_free(geometry.body);
        Self {
            pair: (index, pair),
            scene,
            path,
            geometries,
            bodies: geometries.map(|geometry| [start, end].map(|data| data.X_WB[geometry.body])),
            straight: geometries.into_iter().all(straight),
            convex: geometries.iter().all(|geometry| geometry.rigid.as_ref().is_none_or(|rigid| rigid.is_convex())),
            thickness: thickness_of_pair(geometries[0], geometries[1]),
            seen,
            center: X_WG.inverse_transform_point(&center.into()).coords,
            radius: if matches!(geometries[seen].shape, Shape::Sphere { .. }) { 0.0 } else { radius },
            touch: TOUCH * radius,
        }
    }

    /// Whether the way is shorter than a `part` of the thickness of the thinner geometry.
    pub(super) fn is_short(&self, part: f64) -> bool {
        self.length() <= part * self.thickness
    }

    /// The poses of the geometries after a fraction of the step.
    fn at(&self, part: f64, motion: &mut FreePathPoses) -> (RigidTransform, RigidTransform) {
        if !self.straight && part > 0.0 && part < 1.0 {
            return poses(self.scene, self.pair.1, motion.at(self.path, part));
        }
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
        let bent = SAGITTA * (angle(&turn_seen) + angle(&turn_from)) * moved.norm();
        let turned = if self.radius > 0.0 { relative * self.radius } else { 0.0 };
        Rest { moved, turned: turned + bent }
    }

    /// A bound on the way of the whole step \[m\].
    pub(super) fn length(&self) -> f64 {
        let start = [0, 1].map(|side| self.bodies[side][0] * self.geometries[side].X_BG);
        self.rest(&(start[0], start[1])).length()
    }

    /// The share of the way that is left which takes no point to its plane; at least 1 if the geometries do
    /// not touch on it.
    fn free_share(&self, rest: &Rest, points: &PointContacts) -> f64 {
        let side = if self.seen == 1 { -1.0 } else { 1.0 };
        let share = |(phi, normal): (&f64, &Vector3)| {
            let approach = side * normal.dot(&rest.moved) + rest.turned;
            if approach <= *phi { 1.0 } else { phi / approach }
        };
        let along = points.phi.iter().zip(&points.normal).map(share).fold(1.0, f64::min);
        if self.convex {
            return along;
        }
        // Other faces than those of the points may be met farther on
        let nearest = points.phi.iter().copied().fold(f64::INFINITY, f64::min);
        let length = rest.length();
        if length <= nearest { 1.0 } else { (nearest / length).max(along.min(LOOK_PART * self.thickness / length)) }
    }

    /// Where the geometries first touch on their way; `None` if they do not. They are apart at the start.
    pub(super) fn first_touch(&self, pairs: &mut Pairs, motion: &mut FreePathPoses) -> Option<FirstTouch> {
        let (mut part, mut before) = (0.0, 0.0);
        for _ in 0..LOOKS_MAX {
            let X_WG = self.at(part, motion);
            let rest = self.rest(&X_WG);
            let least = self.gap(pairs, &X_WG, rest.length() + self.touch)?;
            if least <= self.touch {
                return Some(self.touch_between(pairs, motion, (before, part), least));
            }
            let share = self.free_share(&rest, pairs.points(self.pair.0));
            if share >= 1.0 {
                return None;
            }
            (before, part) = (part, part + (1.0 - part) * share);
        }
        let least = self.gap(pairs, &self.at(1.0, motion), self.touch)?;
        Some(self.touch_between(pairs, motion, (part, 1.0), least))
    }

    /// The distance of the geometries \[m\] if it is less than `detection`.
    fn gap(&self, pairs: &mut Pairs, X_WG: &(RigidTransform, RigidTransform), detection: f64) -> Option<f64> {
        let (index, pair) = self.pair;
        pairs.find_points_at(index, pair, self.scene, detection, X_WG)?;
        Some(pairs.points(index).phi.iter().copied().fold(f64::INFINITY, f64::min))
    }

    /// The first touch between a pose without contact and a later one with the distance `least`.
    fn touch_between(
        &self,
        pairs: &mut Pairs,
        motion: &mut FreePathPoses,
        (mut before, mut part): (f64, f64),
        least: f64,
    ) -> FirstTouch {
        if least < -self.touch {
            for _ in 0..HALVINGS {
                let middle = 0.5 * (before + part);
                match self.gap(pairs, &self.at(middle, motion), self.touch) {
                    Some(least) => {
                        part = middle;
                        if least >= -self.touch {
                            break;
                        }
                    }
                    None => before = middle,
                }
            }
        }
        let X_WG = self.at(part, motion);
        FirstTouch { part, rest: self.rest(&X_WG).length(), X_WG }
    }
}

impl Rest {
    fn length(&self) -> f64 {
        self.moved.norm() + self.turned
    }
}

fn angle(R: &Rotation) -> f64 {
    rotation_vector(R).norm()
}

/// The pose after a fraction of the way from one to the other: the origin on a straight line, with an even
/// turn.
fn between([start, end]: &[RigidTransform; 2], part: f64) -> RigidTransform {
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
