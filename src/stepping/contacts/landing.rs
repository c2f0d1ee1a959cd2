//! Points of rigid bodies that are apart at the start of a step.

use super::columns::RelativeColumns;
use super::first_touch::{FirstTouch, Way};
use super::free_path::{FreePath, FreePathPoses};
use super::input::ContactInput;
use super::motion_search::{ACCELERATION_BOUND, MotionSearch};
use super::pairs::{Pairs, origins};
use crate::geometry::PointContacts;
use crate::math::Vector3;
use crate::scene::{ContactPair, Scene};

/// The points of the start stay if their normal differs from that of the first touch by less than this
/// [1 - cosine].
const SAME_PLANE: f64 = 1e-9;
/// They stay on a way shorter than this part of the thickness of the thinner geometry [-].
const SHORT_WAY: f64 = 0.05;

/// The points of a pair.
pub(super) enum Found {
    /// They are those that other rules give: the pair touches, or has lasted from the step before.
    ByOthers,
    /// There are none: the bodies do not touch.
    Apart,
    /// Those of the start.
    Start(Vector3),
    /// Those of the first touch, in the memory of the pair, and the origins of the bodies there.
    Landing(Vector3, [Vector3; 2]),
}

/// The motion by which pairs of rigid bodies that are apart are expected to touch.
#[derive(Clone, Debug, Default)]
pub(super) struct Landing {
    expected: FreePathPoses,
    /// Whether each tree is held by contacts in that motion.
    carried: Vec<bool>,
}

/// The contacts of a step in which points are sought, and their memory.
pub(super) struct Seeking<'a> {
    pub(super) pairs: &'a mut Pairs,
    pub(super) reached: &'a mut MotionSearch,
    pub(super) columns: &'a mut RelativeColumns,
}

impl Landing {
    /// Computes the expected motion of the step: free bodies that no contact held in the step before move
    /// freely, all others keep their velocities.
    pub(super) fn expect_motion(&mut self, pairs: &Pairs, scene: &Scene, path: &FreePath<'_>) {
        let model = scene.model();
        self.carried.clear();
        self.carried.resize(model.trees().len(), false);
        for pair in pairs.loaded() {
            let pair = &scene.contact_pairs()[pair];
            for geometry in [pair.A, pair.B] {
                if let Some(joint) = model.free_joint(scene.geometries()[geometry].body) {
                    self.carried[model.tree_of_dof()[joint.v_start]] = true;
                }
            }
        }
        self.expected.expect(path, &self.carried);
    }

    /// The points of a pair that had no load in the step before, if it is apart at the start.
    pub(super) fn points_apart(
        &mut self,
        Seeking { pairs, reached, columns }: Seeking<'_>,
        input: &ContactInput<'_>,
        (index, pair): (usize, &ContactPair),
        detection: f64,
    ) -> Found {
        let ContactInput { scene, data, .. } = *input;
        let Some(path) = input.motion.as_ref() else { return Found::ByOthers };
        let found = pairs.find_points(index, pair, scene, detection);
        let Some(p_WC) = found else {
            pairs.note_gap(index, detection);
            return Found::Apart;
        };
        let Some((gap, normal)) = deepest(pairs.points(index)) else { return Found::Apart };
        pairs.note_gap(index, gap);
        let motion = match reached.searched(index) {
            Some(search) => reached.motion(search),
            None => &mut self.expected,
        };
        let way = Way::of(pairs, (scene, data, path), (index, pair), motion);
        if gap <= way.touch {
            return Found::ByOthers;
        }
        if way.length() <= gap {
            pairs.clear_points(index);
            return Found::Apart;
        }
        let touch = pairs.with_spare_memory(index, |pairs| {
            let touch = way.first_touch(pairs, motion)?;
            let (_, normal) = deepest(pairs.points(index))?;
            Some((touch, normal))
        });
        let Some((FirstTouch { part, rest, X_WG }, landed)) = touch else {
            pairs.clear_points(index);
            return Found::Apart;
        };
        if way.is_short(SHORT_WAY) && normal.dot(&landed) > 1.0 - SAME_PLANE {
            return Found::Start(p_WC);
        }
        let reach = rest + input.settings.step().powi(2) * ACCELERATION_BOUND;
        let Some(p_WC) = pairs.find_points_at(index, pair, scene, reach.max(2.0 * way.touch), &X_WG) else {
            return Found::Apart;
        };
        let motion = match reached.searched(index) {
            Some(search) => reached.motion(search),
            None => &mut self.expected,
        };
        let there = motion.at(path, part);
        let p_WBo = origins(scene, pair, there);
        input.columns_on_path(pair, &p_WC, there, columns);
        let V = motion.velocity(columns.columns());
        pairs.take_back_distances(index, &p_WC, &V, part * path.step);
        Found::Landing(p_WC, p_WBo)
    }
}

/// The distance and the normal of the nearest point.
fn deepest(points: &PointContacts) -> Option<(f64, Vector3)> {
    let nearest = points.phi.iter().zip(&points.normal).min_by(|a, b| a.0.total_cmp(b.0));
    nearest.map(|(phi, normal)| (*phi, *normal))
}
