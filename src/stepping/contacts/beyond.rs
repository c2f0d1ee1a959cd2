//! A check of a solved quasistatic step: planes of contact points that act beyond their faces.
//!
//! A contact point that is apart at the start of a step is an infinite plane in its program. If such a plane
//! carries a force, the two bodies must meet where the step ends. If they do not, the plane has held a body
//! beside the face, and the step is taken in parts, each with the planes of its own start.

use super::pairs::Pairs;
use super::path::{Misjudged, PathMistake};
use crate::math::Vector3;
use crate::multibody::Data;
use crate::scene::Scene;
use crate::solvers::quasistatic::QuasistaticProblem;

/// The largest distance at the end of a step of two bodies that press on each other \[m\].
const APART_MAX: f64 = 1e-4;
/// The same as a fraction of their distance at the start [-].
const APART_PART: f64 = 0.05;

/// Memory of the check.
#[derive(Clone, Debug, Default)]
pub(super) struct BeyondCheck {
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
}
