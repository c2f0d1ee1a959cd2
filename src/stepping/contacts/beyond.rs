//! Checks of a solved quasistatic step on the pairs that carry a force: planes of contact points that act
//! beyond their faces, and pressure fields that carry a body which turns too far against its carrier.
//!
//! A contact point that is apart at the start of a step is an infinite plane in its program. If such a plane
//! carries a force, the two bodies must meet where the step ends. If they do not, the plane has held a body
//! beside the face, and the step is taken in parts, each with the planes of its own start.

use super::pairs::Pairs;
use super::path::{Misjudged, PathMistake, turns_of};
use crate::math::Vector3;
use crate::multibody::Data;
use crate::scene::{ContactKind, ContactPair, Scene};
use crate::solvers::quasistatic::QuasistaticProblem;

/// The largest distance at the end of a step of two bodies that press on each other \[m\].
const APART_MAX: f64 = 1e-4;
/// The same as a fraction of their distance at the start [-].
const APART_PART: f64 = 0.05;
/// The largest turn of a body that carries a free one by a pressure field, in one solve \[rad\]. The
/// distance from the solution shrinks by this factor in each linearisation; those of 0.45 rad lose objects
/// that round fingers hold.
const CARRIER_TURN_MAX: f64 = 0.35;
/// The largest product of the turn of a carrier and the turn of a free body against it, in one solve [rad2].
/// The error of the slip is about half of this product times the radius on which the body rolls.
const TURNS_MAX: f64 = 0.03;

/// Memory of the check.
#[derive(Clone, Debug, Default)]
pub(in crate::stepping) struct BeyondCheck {
    /// Whether bodies may carry others along any turn.
    pub(in crate::stepping) any_turn: bool,
    /// Whether one carried another along a turn that is too large.
    pub(in crate::stepping) turned: bool,
    /// The geometries at the end of the step.
    pairs: Pairs,
    data: Option<Box<Data>>,
}

impl BeyondCheck {
    /// Looks for a pair whose planes act beyond its faces. `start` has the points at the start, `cones` are
    /// the pairs with points, each with the index of its first contact, and `place` writes the poses after a
    /// part of the motion.
    pub(super) fn find_plane(
        &mut self,
        (scene, start): (&Scene, &Pairs),
        problem: &QuasistaticProblem,
        (v, impulses): (&[f64], &[Vector3]),
        cones: impl Iterator<Item = (usize, usize)>,
        mut place: impl FnMut(f64, &mut Data),
    ) -> Option<PathMistake> {
        let mut data = None;
        let mut mistake = None;
        for (index, first) in cones {
            let phis = &start.points(index).phi;
            let gap = phis.iter().copied().fold(f64::INFINITY, f64::min);
            let loaded = |number: usize| impulses.get(first + number).is_some_and(|impulse| impulse.x > 0.0);
            if gap <= APART_MAX || !(0..phis.len()).any(loaded) {
                continue;
            }
            // Relaxed friction keeps a gap, which the solution predicts.
            let contacts = &problem.contacts()[first..first + phis.len()];
            let kept = (0..phis.len()).filter(|number| loaded(*number));
            let kept = kept.map(|number| problem.step * problem.contact_velocity(&contacts[number], v).x);
            let most = APART_MAX + APART_PART * gap + kept.fold(0.0, f64::max);
            if data.is_none() {
                let mut end = self.data.take().unwrap_or_else(|| Box::new(Data::new(scene.model())));
                place(1.0, &mut end);
                self.pairs.update_poses(scene, &end);
                data = Some(end);
            }
            if self.pairs.find_points(index, &scene.contact_pairs()[index], scene, most).is_none() {
                mistake = Some(PathMistake { pair: index, kind: Misjudged::Beyond { gap: most } });
                break;
            }
        }
        self.data = data.or_else(|| self.data.take());
        mistake
    }

    /// Looks for a pair with a pressure field at the start, whose geometries are `at_start`, or at the end,
    /// where it `presses`, that carries a free body or base along a turn that is too large. `start` has the
    /// poses at the start and the velocities of the step of `h` \[s\].
    pub(super) fn find_turn(
        &mut self,
        (scene, at_start): (&Scene, &Pairs),
        (start, h): (&Data, f64),
        presses: impl Fn(usize) -> bool,
        mut place: impl FnMut(f64, &mut Data),
    ) -> Option<PathMistake> {
        if self.any_turn {
            return None;
        }
        let base = |index| scene.model().base(scene.geometries()[index].body);
        let free = |pair: &ContactPair| match [pair.A, pair.B].map(base) {
            [Some(a), Some(b)] if a == b => [false, false],
            bases => bases.map(|base| base.is_some()),
        };
        let pairs = scene.contact_pairs().iter().enumerate().filter(|(index, pair)| {
            let is_field = pair.kind == ContactKind::PressureField && free(pair) != [false, false];
            is_field && (at_start.near(pair, 0.0) || presses(*index))
        });
        let mut pairs = pairs.peekable();
        pairs.peek()?;
        let mut end = self.data.take().unwrap_or_else(|| Box::new(Data::new(scene.model())));
        place(1.0, &mut end);
        let mistake = pairs.find_map(|(index, pair)| {
            let ([A, B], turn) = turns_of(scene, pair, (start, &end), h);
            let carrier = match free(pair) {
                [false, _] => A,
                [true, false] => B,
                [true, true] => A.min(B),
            };
            let turn = if carrier > CARRIER_TURN_MAX { carrier } else { turn };
            let too_far = carrier > CARRIER_TURN_MAX || A.min(B) * turn > TURNS_MAX;
            too_far.then_some(PathMistake { pair: index, kind: Misjudged::Turns { turn } })
        });
        self.data = Some(end);
        self.turned |= mistake.is_some();
        mistake
    }
}
