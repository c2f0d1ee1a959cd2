//! Pairs of rigid bodies that are apart at the start of a step and are expected to stay apart.
//!
//! A contact plane has no border, but the faces of bodies do. A body that flies past a corner would be
//! deflected by the plane of a face beside which it ends. A pair that is apart therefore has points only if
//! its bodies may touch on their way.

use super::free_path::{FreePath, FreePathPoses};
use super::input::ContactInput;
use super::motion_search::ACCELERATION_BOUND;
use super::pairs::Pairs;
use super::way::Way;
use crate::scene::{ContactPair, Scene};

/// The motion of the bodies through a step as it is expected before the first solve.
#[derive(Clone, Debug, Default)]
pub(super) struct ExpectedMotion {
    poses: FreePathPoses,
    /// Whether contacts held each tree in the step before.
    carried: Vec<bool>,
}

impl ExpectedMotion {
    /// Computes the motion of a step: free bodies that no contact held in the step before move freely, all
    /// others keep their velocities.
    pub(super) fn begin(&mut self, pairs: &Pairs, scene: &Scene, path: &FreePath<'_>) {
        let model = scene.model();
        self.carried.clear();
        self.carried.resize(model.trees().len(), false);
        for pair in pairs.loaded() {
            for tree in trees(scene, &scene.contact_pairs()[pair]).into_iter().flatten() {
                self.carried[tree] = true;
            }
        }
        self.poses.expect(path, &self.carried);
    }

    /// Whether contacts held one of the bodies of a pair in the step before: their forces may change.
    fn is_carried(&self, scene: &Scene, pair: &ContactPair) -> bool {
        trees(scene, pair).into_iter().flatten().any(|tree| self.carried[tree])
    }

    /// Whether a pair without a load in the step before is apart at the start, and stays apart. It then has
    /// no points within the distance `detection` \[m\], unless the motion of a solve takes it to a touch.
    pub(super) fn keeps_apart(
        &mut self,
        pairs: &mut Pairs,
        input: &ContactInput<'_>,
        (index, pair): (usize, &ContactPair),
        detection: f64,
    ) -> bool {
        let ContactInput { scene, data, .. } = *input;
        let Some(path) = input.motion.as_ref().filter(|_| !pairs.expects_touch(index)) else { return false };
        let gap = match pairs.find_points(index, pair, scene, detection) {
            Some(_) => pairs.points(index).phi.iter().copied().fold(f64::INFINITY, f64::min),
            None => detection,
        };
        let margin = if self.is_carried(scene, pair) { path.step.powi(2) * ACCELERATION_BOUND } else { 0.0 };
        let motion = (&mut self.poses, margin);
        let Some(way) = Way::of(pairs, (scene, data, path), (index, pair), motion) else { return false };
        let apart = way.keeps_apart_by(gap)
            || gap > way.touch
                && (way.is_free_from_start(pairs) || pairs.with_spare_memory(index, |pairs| way.is_free(pairs)));
        if apart {
            pairs.expect_apart(index, gap);
        }
        apart
    }
}

/// The trees of the free bodies of a pair.
fn trees(scene: &Scene, pair: &ContactPair) -> [Option<usize>; 2] {
    let model = scene.model();
    [pair.A, pair.B].map(|geometry| {
        let joint = model.free_joint(scene.geometries()[geometry].body)?;
        Some(model.tree_of_dof()[joint.v_start])
    })
}
