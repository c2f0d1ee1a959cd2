//! The contact points of rigid pairs in a dynamic or complementarity step.

use super::dynamic::DynamicContacts;
use super::first_overlap::first_overlap;
use super::input::ContactInput;
use super::missed::thickness_of_pair;
use super::motion_search::ACCELERATION_BOUND;
use super::pairs::{ActivePatch, origins, poses};
use crate::contact::{PointLoad, push_points};
use crate::math::Vector3;
use crate::scene::ContactPair;
use crate::solvers::dynamic::ContactProblem;

/// Points at the end of free motion are used up to this depth, as a fraction of the thickness of the thinner
/// geometry [-].
const DEEP: f64 = 0.1;

impl DynamicContacts {
    /// Adds the points of a pair of rigid geometries that touch, or may touch before the step ends.
    pub(super) fn assemble_points(
        &mut self,
        input: &ContactInput<'_>,
        index: usize,
        pair: &ContactPair,
        problem: &mut ContactProblem,
    ) {
        let ContactInput { scene, settings, data, .. } = *input;
        let step = settings.step();
        let impulse_before = self.pairs.take_point_impulse(index);
        let usual = step * (self.pairs.speed_bound(pair) + step * ACCELERATION_BOUND);
        if self.reached.searched(index).is_none() && self.pairs.is_far(index, pair, usual) {
            return;
        }
        let detection = self.reached.point_detection(&self.pairs, input, (index, pair));
        if impulse_before == 0.0
            && self.reached.searched(index).is_none()
            && self.expected.keeps_apart(&mut self.pairs, input, (index, pair), detection)
        {
            return;
        }
        let at_end = match self.reached.searched(index) {
            Some(_) => None,
            None => self.points_after_turn(input, (index, pair), detection),
        };
        let at_end = at_end.or_else(|| self.points_of_barrier(input, (index, pair)));
        let at_end = at_end.or_else(|| self.points_of_first_touch(input, (index, pair), detection));
        let (found, p_WBo) = match at_end {
            Some(at_end) => at_end,
            None => {
                let found = self.pairs.find_points(index, pair, scene, detection);
                if let Some(p_WC) = &found {
                    input.columns_on_path(pair, p_WC, data, &mut self.columns);
                }
                (found, origins(scene, pair, data))
            }
        };
        let Some(p_WC) = found else { return };
        let points = self.pairs.points(index);
        let (block, momentum_matrix) = problem.add_patch();
        input.start_patch(pair, momentum_matrix, &self.columns, block);
        let columns = &mut self.columns;
        columns.factor_masses(momentum_matrix);
        let translation = columns.mean_inverse_mass();
        let inverse_mass = |p_CF: &Vector3, n: &Vector3| columns.inverse_mass(p_CF, n);
        let load = PointLoad { step, inverse_mass: translation, impulse_before };
        push_points(points, &p_WC, &pair.material, &load, inverse_mass, block);
        self.faces += points.len() as u32;
        self.active.push(ActivePatch { pair: index, p_WC, p_WBo });
        self.approached.push(None);
        self.unresolved.push(None);
    }

    /// The points of a rigid pair that the motion of a solve takes through each other, at its end: their mean
    /// [m, world], and the origins of the bodies. `None` for other pairs.
    fn points_of_barrier(
        &mut self,
        input: &ContactInput<'_>,
        (index, pair): (usize, &ContactPair),
    ) -> Option<(Option<Vector3>, [Vector3; 2])> {
        let search = self.reached.searched(index)?;
        let barrier = search.barrier?;
        let path = input.motion.as_ref()?;
        let motion = self.reached.motion(search);
        let there = motion.at(path, 1.0);
        let X_WG = poses(input.scene, pair, there);
        let p_WC = self.pairs.set_barrier_points((index, pair), input.scene, &barrier, &X_WG)?;
        let p_WBo = origins(input.scene, pair, there);
        if !input.columns_on_path(pair, &p_WC, there, &mut self.columns) {
            // The corners, and the places of the plane that they touch
            let points = self.pairs.points(index);
            let phi = points.phi.iter().sum::<f64>() / points.len() as f64;
            let half = points.normal[0] * (0.5 * phi);
            input.columns_apart(pair, (&(p_WC - half), &(p_WC + half)), there, &mut self.columns);
        }
        let V = motion.velocity(self.columns.columns());
        self.pairs.take_back_distances(index, &p_WC, &V, path.step);
        self.pairs.raise_distances(index, -barrier.depth_at_start());
        Some((Some(p_WC), p_WBo))
    }

    /// The points of a rigid pair whose bodies turn past each other, at the poses at which they first
    /// overlap: their mean [m, world], and the origins of the bodies. `None` if they do not
    /// ([`first_overlap`]).
    fn points_of_first_touch(
        &mut self,
        input: &ContactInput<'_>,
        (index, pair): (usize, &ContactPair),
        detection: f64,
    ) -> Option<(Option<Vector3>, [Vector3; 2])> {
        let ContactInput { scene, data, .. } = *input;
        if detection <= thickness_of_pair(&scene.geometries()[pair.A], &scene.geometries()[pair.B]) {
            return None;
        }
        let path = input.motion.as_ref()?;
        let motion = match self.reached.searched(index) {
            Some(search) => self.reached.motion(search),
            None => input.path().map(|_| &mut self.ahead)?,
        };
        let part = first_overlap(&mut self.pairs, (scene, data, path), (index, pair), motion, 0.0)?;
        let there = motion.at(path, part);
        let p_WC = self.pairs.find_points_at(index, pair, scene, 0.0, &poses(scene, pair, there))?;
        let p_WBo = origins(scene, pair, there);
        input.columns_on_path(pair, &p_WC, there, &mut self.columns);
        let V = motion.velocity(self.columns.columns());
        self.pairs.take_back_distances(index, &p_WC, &V, part * path.step);
        Some((Some(p_WC), p_WBo))
    }

    /// The points of a rigid pair whose bodies turn, at the end of free motion: their mean [m, world], if
    /// there are any, and the origins of the bodies. At the poses of the start, a turn by an angle a would
    /// take points at the distance R by up to a^2 R/2 into the other body, and the next step would return
    /// this depth as a speed. `None` if the points of the start are used: the bodies hardly turn, or approach
    /// or overlap so much in free motion that points at its end may lie on the wrong sides.
    fn points_after_turn(
        &mut self,
        input: &ContactInput<'_>,
        (index, pair): (usize, &ContactPair),
        detection: f64,
    ) -> Option<(Option<Vector3>, [Vector3; 2])> {
        let ContactInput { scene, data, .. } = *input;
        let path = input.path()?;
        let geometries = scene.geometries();
        let (a, b) = (&geometries[pair.A], &geometries[pair.B]);
        if !self.turns(input, path, pair) || self.pairs.is_far(index, pair, detection) {
            return None;
        }
        let (thickness, there) = (thickness_of_pair(a, b), self.ahead.at(path, 1.0));
        if self.pairs.approach(pair, scene, data, there) > thickness {
            return None;
        }
        let p_WBo = origins(scene, pair, there);
        let found = self.pairs.find_points_at(index, pair, scene, detection, &poses(scene, pair, there));
        if let Some(p_WC) = &found {
            let depth = self.pairs.points(index).phi.iter().fold(0.0_f64, |depth, phi| depth.max(-phi));
            if depth > DEEP * thickness {
                return None;
            }
            let normal: Vector3 = self.pairs.points(index).normal.iter().sum();
            if !input.columns_on_path(pair, p_WC, there, &mut self.columns) {
                // The points of the two bodies that touch at the start
                let normal = normal.try_normalize(0.0).unwrap_or_default();
                let V = self.ahead.velocity(self.columns.columns());
                let half = normal * (0.5 * path.step * normal.dot(&V.v));
                let there = self.ahead.at(path, 1.0);
                input.columns_apart(pair, (&(p_WC - half), &(p_WC + half)), there, &mut self.columns);
            }
            let V = self.ahead.velocity(self.columns.columns());
            self.pairs.take_back_distances(index, p_WC, &V, path.step);
        }
        Some((found, p_WBo))
    }
}
