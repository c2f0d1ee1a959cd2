//! The motion of rigid pairs through a solved step, compared with what their contact points predict.
//!
//! A step predicts gaps to first order: its points and normals are those of its start. Convex shapes that
//! only translate cannot end deeper in each other than predicted. Shapes that turn can, and they can pass
//! through each other or turn away from a body that they press on. A pair is therefore examined along its
//! motion if it turns or is not convex, and if the boxes around the paths of its geometries overlap.

use super::missed::smallest_extent;
use super::pairs::Pairs;
use crate::geometry::Shape;
use crate::math::{RigidTransform, Rotation, Vector3};
use crate::multibody::Data;
use crate::scene::{CollisionGeometry, ContactKind, ContactPair, Scene};
use crate::solvers::quasistatic::QuasistaticProblem;

/// The largest depth of two rigid geometries at the end of a step, or of a part of it, beyond the depth that
/// their points predict \[m\]. With the Jacobians of the middle, a point at the distance r from the centre of
/// a turn is off by r turn^3/24: 20 um for half a metre and 0.1 rad.
const DEEPER_MAX: f64 = 1e-4;
/// The largest turn in one solve of two rigid geometries that press on each other \[rad\]. Beyond it, the
/// lever arms and normals of the start no longer serve.
const TURN_MAX: f64 = 0.3;
/// A cylinder touches with its side where the cosine between its axis and the normal is below this. [-]
const ON_ITS_SIDE: f64 = 0.5;
/// The largest turn between two poses from which the box around the path of a geometry is made \[rad\]. The
/// arc between them leaves its chord by an eighth of this turn times the chord.
const BOX_TURN: f64 = 0.2;
const BOXES_MAX: f64 = 64.0;
/// Between two poses at which it is examined, a pair moves by this fraction of the smallest extent of the
/// thinner geometry [-]. It passes through if at one of them it is deeper than this fraction.
const LOOK_PART: f64 = 0.25;
const LOOKS_MAX: f64 = 64.0;
/// The arc of a path is at most this many times as long as the distance between its ends [-].
const ARC: f64 = 1.25;
/// Turns above this are taken from the velocities \[rad\], because rotation matrices do not show whole turns.
const FOLDED: f64 = 2.0;

/// The way in which a solution misjudges the motion of two rigid geometries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::stepping) enum Misjudged {
    /// They end deeper in each other than predicted, by this distance \[m\].
    Deeper { depth: f64 },
    /// They overlap by this depth on the way \[m\].
    Passes { depth: f64 },
    /// They press on each other and turn by this angle \[rad\], against each other or as one.
    Turns { turn: f64 },
    /// A plane of the start holds them, and they end farther apart than this distance \[m\].
    Beyond { gap: f64 },
}

/// A pair whose motion is misjudged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::stepping) struct PathMistake {
    /// Index in `Scene::contact_pairs`.
    pub(in crate::stepping) pair: usize,
    pub(in crate::stepping) kind: Misjudged,
}

/// A pair to examine along its motion.
#[derive(Clone, Copy, Debug)]
struct Look {
    pair: usize,
    /// The largest allowed depth at the end, and before the end \[m\].
    at_end: f64,
    before: f64,
    /// The number of poses at which it is examined.
    count: u32,
}

/// Memory of the check.
#[derive(Clone, Debug, Default)]
pub(super) struct PathCheck {
    /// The geometries at a pose of the motion.
    pairs: Pairs,
    data: Option<Box<Data>>,
    looks: Vec<Look>,
}

/// The solution of a step.
pub(super) struct Solution<'a> {
    pub(super) problem: &'a QuasistaticProblem,
    pub(super) v: &'a [f64],
    pub(super) impulses: &'a [Vector3],
}

impl PathCheck {
    /// Looks for a rigid pair whose motion `solution` misjudges. `at_start` has the contact points and the
    /// poses at the start, with the velocities of the solution. `cones` are the pairs with points, ascending,
    /// each with the index of its first contact. `place` writes the poses after a fraction of the motion.
    pub(super) fn find(
        &mut self,
        scene: &Scene,
        at_start: (&mut Pairs, &Data),
        solution: &Solution<'_>,
        cones: impl Iterator<Item = (usize, usize)>,
        mut place: impl FnMut(f64, &mut Data),
    ) -> Option<PathMistake> {
        if scene.contact_pairs().iter().all(|pair| pair.kind != ContactKind::Points) {
            return None;
        }
        let (points, start) = at_start;
        let mut data = self.data.take().unwrap_or_else(|| Box::new(Data::new(scene.model())));
        sweep(scene, (points, start), solution.problem.step, &mut data, &mut place);
        let mistake = self.choose(scene, (points, start), solution, cones, &data);
        let mistake = mistake.or_else(|| self.look(scene, &mut data, &mut place));
        self.data = Some(data);
        mistake
    }

    /// Chooses the pairs to examine along the motion that ends at the poses in `end`. Returns a pair that
    /// turns too far while it presses.
    fn choose(
        &mut self,
        scene: &Scene,
        (pairs, start): (&mut Pairs, &Data),
        solution: &Solution<'_>,
        cones: impl Iterator<Item = (usize, usize)>,
        end: &Data,
    ) -> Option<PathMistake> {
        let Solution { problem, v, impulses } = *solution;
        let h = problem.step;
        self.looks.clear();
        let meeting = pairs.take_swept_pairs(scene);
        let mut cones = cones.peekable();
        let mut mistake = None;
        for index in &meeting {
            let index = *index as usize;
            let pair = &scene.contact_pairs()[index];
            if pair.kind != ContactKind::Points || !pairs.swept_boxes_overlap(pair) {
                continue;
            }
            let motion = Motion::of(scene, pair, start, end, h);
            let turn = motion.turn();
            let rolls = motion.roll();
            if turn == 0.0 && rolls.is_none() && motion.is_convex() {
                continue;
            }
            while cones.next_if(|(other, _)| *other < index).is_some() {}
            let first = cones.peek().filter(|(other, _)| *other == index).map(|(_, first)| *first);
            let points = pairs.points(index);
            let before = points.phi.iter().fold(0.0, |depth: f64, phi| depth.max(-phi));
            let (mut predicted, mut presses, mut rolled) = (0.0_f64, false, 0.0_f64);
            if let Some(first) = first {
                let range = first..first + points.len();
                for (((phi, normal), contact), impulse) in
                    points.phi.iter().zip(&points.normal).zip(&problem.contacts()[range.clone()]).zip(&impulses[range])
                {
                    let moved = h * (problem.contact_velocity(contact, v).x - contact.gap_rate);
                    predicted = predicted.max(-phi - moved);
                    presses |= impulse.x > 0.0;
                    if let Some((axis, angle)) = rolls.filter(|_| impulse.x > 0.0)
                        && normal.dot(&axis).abs() < ON_ITS_SIDE
                    {
                        rolled = rolled.max(angle);
                    }
                }
            }
            let most = if presses { turn.max(rolled) } else { 0.0 };
            if most > TURN_MAX {
                mistake = Some(PathMistake { pair: index, kind: Misjudged::Turns { turn: most } });
                break;
            }
            if turn == 0.0 && motion.is_convex() {
                continue;
            }
            let way = pairs.approach(pair, scene, start, end).max(h * pairs.approach_speed(pair, scene, start));
            let radius = pairs.smaller_radius(pair, scene);
            let off = if motion.is_convex() { turn * (radius + way) } else { way };
            if off <= DEEPER_MAX {
                continue;
            }
            let before = before.max(predicted) + DEEPER_MAX;
            let thickness = motion.thickness();
            let count = (ARC * way / (LOOK_PART * thickness)).ceil().clamp(1.0, LOOKS_MAX) as u32;
            let most = before.max(LOOK_PART * thickness);
            self.looks.push(Look { pair: index, at_end: before, before: most, count });
        }
        pairs.return_swept_pairs(meeting);
        mistake
    }

    /// Examines the chosen pairs, first at the end of the motion, whose poses are in `data`.
    fn look(&mut self, scene: &Scene, data: &mut Data, place: &mut impl FnMut(f64, &mut Data)) -> Option<PathMistake> {
        let Self { pairs, looks, .. } = self;
        let count = looks.iter().map(|look| look.count).max()?;
        for number in 0..count {
            // First the end, then the poses from the start on
            if number > 0 {
                place(f64::from(number) / f64::from(count), data);
            }
            pairs.update_poses(scene, data);
            for Look { pair: index, at_end, before, .. } in looks.iter().filter(|look| look.count > number) {
                let pair = &scene.contact_pairs()[*index];
                if pairs.find_points(*index, pair, scene, 0.0).is_none() {
                    continue;
                }
                let depth = pairs.points(*index).phi.iter().fold(0.0, |depth: f64, phi| depth.max(-phi));
                let kind = match number {
                    0 if depth > *at_end => Misjudged::Deeper { depth: depth - at_end + DEEPER_MAX },
                    1.. if depth > *before => Misjudged::Passes { depth },
                    _ => continue,
                };
                return Some(PathMistake { pair: *index, kind });
            }
        }
        None
    }
}

/// Puts a box around the path of each geometry, and leaves the end of the motion in `data`.
fn sweep(
    scene: &Scene,
    (pairs, start): (&mut Pairs, &Data),
    h: f64,
    data: &mut Data,
    place: &mut impl FnMut(f64, &mut Data),
) {
    place(1.0, data);
    let turn = |geometry: &CollisionGeometry| {
        let turned = angle(&start.X_WB[geometry.body].rotation, &data.X_WB[geometry.body].rotation);
        turned.max(h * start.V_WB[geometry.body].w.norm())
    };
    let turn = scene.geometries().iter().map(turn).fold(0.0, f64::max);
    let count = (turn / BOX_TURN).ceil().clamp(1.0, BOXES_MAX);
    pairs.sweep_boxes(scene, data);
    for number in 1..count as u32 {
        place(f64::from(number) / count, data);
        pairs.extend_swept_boxes(scene, data);
    }
    if count > 1.0 {
        place(1.0, data);
    }
    pairs.grow_swept_boxes(turn / count / 8.0);
}

/// The motion of a pair from its poses at the start of a step to those at its end.
struct Motion<'a> {
    geometries: [&'a CollisionGeometry; 2],
    /// The poses of the geometries at the start and at the end.
    start: [RigidTransform; 2],
    end: [RigidTransform; 2],
    /// The turns of the bodies and that of B against A by their velocities \[rad\].
    spins: [f64; 2],
    spin: Vector3,
}

impl<'a> Motion<'a> {
    fn of(scene: &'a Scene, pair: &ContactPair, start: &Data, end: &Data, h: f64) -> Self {
        let geometries = [pair.A, pair.B].map(|index| &scene.geometries()[index]);
        let poses = |data: &Data| geometries.map(|geometry| data.X_WB[geometry.body] * geometry.X_BG);
        let [w_A, w_B] = geometries.map(|geometry| start.V_WB[geometry.body].w * h);
        let spins = [w_A, w_B].map(|w| w.norm());
        Self { geometries, start: poses(start), end: poses(end), spins, spin: w_B - w_A }
    }

    fn is_convex(&self) -> bool {
        self.geometries.iter().all(|geometry| geometry.rigid.as_ref().is_none_or(|rigid| rigid.is_convex()))
    }

    /// The smallest extent of the thinner geometry \[m\].
    fn thickness(&self) -> f64 {
        self.geometries.iter().map(|geometry| smallest_extent(geometry)).fold(f64::INFINITY, f64::min)
    }

    /// The turn of a cylinder about its axis against the other geometry \[rad\], with the axis, if it is
    /// large. A cylinder on its side has up to eight points, between whose outer ones it rolls.
    fn roll(&self) -> Option<(Vector3, f64)> {
        let of = |side: usize| {
            let is_cylinder = matches!(self.geometries[side].shape, Shape::Cylinder { .. });
            let axis = self.start[side].rotation * Vector3::z();
            Some((axis, self.spin.dot(&axis).abs())).filter(|(_, angle)| is_cylinder && *angle > TURN_MAX)
        };
        of(0).or_else(|| of(1))
    }

    /// The turn of one geometry against the other \[rad\], without turns that leave a shape as it is: those
    /// of a ball, of a cylinder about its axis, and of a half space about its normal.
    fn turn(&self) -> f64 {
        let spin = self.spin.norm();
        let [A, B] =
            [0, 1].map(|side| (&self.geometries[side].shape, &self.start[side].rotation, &self.end[side].rotation));
        let unfold = |turn: f64, spin: f64| if spin > FOLDED { turn.max(spin) } else { turn };
        let relative = unfold(angle(&(A.1.inverse() * B.1), &(A.2.inverse() * B.2)), spin);
        let own = |(shape, start, end): (&Shape, &Rotation, &Rotation), spin: f64| match shape {
            Shape::Sphere { .. } => 0.0,
            Shape::Cylinder { .. } | Shape::Capsule { .. } | Shape::HalfSpace => {
                between(&(start * Vector3::z()), &(end * Vector3::z()))
            }
            _ => unfold(angle(start, end), spin),
        };
        let turn = relative.min(own(A, self.spins[0]) + own(B, self.spins[1]));
        // The swing of the axis of one geometry in the frame of the other
        let swing = |of: (&Shape, &Rotation, &Rotation), to: (&Shape, &Rotation, &Rotation)| {
            between(&(to.1.inverse() * of.1 * Vector3::z()), &(to.2.inverse() * of.2 * Vector3::z()))
        };
        let of_plane = |plane, other: (&Shape, &Rotation, &Rotation), spin: f64| match other.0 {
            Shape::Cylinder { .. } | Shape::Capsule { .. } => swing(plane, other).min(swing(other, plane)),
            _ => unfold(swing(plane, other), spin),
        };
        match (A.0, B.0) {
            (Shape::HalfSpace, _) => turn.min(of_plane(A, B, spin)),
            (_, Shape::HalfSpace) => turn.min(of_plane(B, A, spin)),
            _ => turn,
        }
    }
}

/// The turns of the bodies A and B of a pair, and that of B against A \[rad\], between two poses, with the
/// velocities of a step of `h` \[s\] in those of the start.
pub(super) fn turns_of(scene: &Scene, pair: &ContactPair, (start, end): (&Data, &Data), h: f64) -> ([f64; 2], f64) {
    let motion = Motion::of(scene, pair, start, end, h);
    let unfold = |turn: f64, spin: f64| if spin > FOLDED { turn.max(spin) } else { turn };
    let own =
        [0, 1].map(|side| unfold(angle(&motion.start[side].rotation, &motion.end[side].rotation), motion.spins[side]));
    let [before, after] = [motion.start, motion.end].map(|X| X[0].rotation.inverse() * X[1].rotation);
    (own, unfold(angle(&before, &after), motion.spin.norm()))
}

/// The angle between two rotations \[rad\], accurate for small angles.
fn angle(a: &Rotation, b: &Rotation) -> f64 {
    let half_sine = (a.matrix() - b.matrix()).norm() / (2.0 * std::f64::consts::SQRT_2);
    2.0 * half_sine.min(1.0).asin()
}

/// The angle between two unit vectors \[rad\].
fn between(a: &Vector3, b: &Vector3) -> f64 {
    2.0 * (0.5 * (b - a).norm()).min(1.0).asin()
}
