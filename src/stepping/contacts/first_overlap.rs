//! Rigid geometries that turn so far in a step that the distances at its start do not show where they meet.

use super::free_path::{FreePath, FreePathPoses, parts};
use super::missed::thickness_of_pair;
use super::pairs::{Pairs, poses};
use crate::math::rotation_vector;
use crate::multibody::Data;
use crate::scene::{ContactPair, Scene};

/// The largest turn in a step for which the points of its start are used \[rad\]. A link then leaves the
/// straight line along its velocity by a fiftieth of its length.
const TURN_MAX: f64 = 0.2;
/// The number of halvings by which the pose of the first overlap is found. An overlap of half the thickness
/// becomes one of a hundredth of it.
const HALVINGS: u32 = 6;

/// The fraction of the step after which two rigid geometries are first deeper in each other than `least`, as
/// a fraction of the thickness of the thinner one, on a `motion` that may take them past each other. `None`
/// if they overlap at the start, hardly turn, move by less than that thickness, or do not meet.
pub(super) fn first_overlap(
    pairs: &mut Pairs,
    (scene, start, path): (&Scene, &Data, &FreePath<'_>),
    (index, pair): (usize, &ContactPair),
    motion: &mut FreePathPoses,
    least: f64,
) -> Option<f64> {
    let (a, b) = (&scene.geometries()[pair.A], &scene.geometries()[pair.B]);
    let thickness = thickness_of_pair(a, b);
    let end = motion.at(path, 1.0);
    let travel = pairs.approach(pair, scene, start, end);
    if travel <= thickness {
        return None;
    }
    let turn = |body| rotation_vector(&(end.X_WB[body].rotation * start.X_WB[body].rotation.inverse())).norm();
    if turn(a.body).max(turn(b.body)) <= TURN_MAX {
        return None;
    }
    let mut overlaps = |data: &Data, least: f64| {
        pairs.find_points_at(index, pair, scene, 0.0, &poses(scene, pair, data)).is_some()
            && pairs.points(index).phi.iter().any(|phi| *phi < -least * thickness)
    };
    if overlaps(start, 0.0) {
        return None;
    }
    // The way along an arc is longer than its chord by up to this factor
    let count = parts(std::f64::consts::FRAC_PI_2 * travel, thickness);
    let number = (1..=count).find(|number| {
        let part = f64::from(*number) / f64::from(count);
        overlaps(motion.at(path, part), least)
    })?;
    let (mut before, mut after) = (f64::from(number - 1) / f64::from(count), f64::from(number) / f64::from(count));
    for _ in 0..HALVINGS {
        let middle = 0.5 * (before + after);
        if overlaps(motion.at(path, middle), least) {
            after = middle;
        } else {
            before = middle;
        }
    }
    Some(after)
}
