//! The slip of free bodies, and of trees with a floating or planar base, that others carry along in a step.
//!
//! The slip of a pair is its relative velocity J v at the end of the step, times the step. A free body
//! moves straight and turns about its origin, but a body that carries it may move it along an arc. The
//! velocities of two bodies that move as one then differ by the error of the straight way: with them alone,
//! an object that rests on a turntable would spiral inwards by r turn^2/2 a step. This error is taken off
//! the slip, which is 0 for bodies that move as one. Bodies on other joints, and bodies on a body at rest,
//! have no such error.

use super::columns::RelativeColumns;
use super::pairs::Pairs;
use crate::math::{BodyIndex, SpatialVelocity, Vector3, rotation_vector};
use crate::multibody::{Data, Model};
use crate::scene::{ContactPair, Scene};

/// Ways and turns below this are rounding \[m\] or \[rad\].
const ROUNDING: f64 = 1e-13;
/// A body that moves by less than this is carried, wherever its carrier would lead it \[m\].
const AT_REST: f64 = 1e-6;

/// A step of `step` \[s\] with the poses at its start and at its end, to which the generalized velocities v
/// lead.
pub(super) struct Moved<'a> {
    pub(super) model: &'a Model,
    pub(super) start: &'a Data,
    pub(super) end: &'a Data,
    pub(super) v: &'a [f64],
    pub(super) step: f64,
}

impl Moved<'_> {
    /// The motion of the surface of B against that of A, at the patch point C, that takes the error of bodies
    /// that are carried off the slip of B against A [rad/s, m/s, world]. `columns` are scratch memory.
    pub(super) fn correction(
        &self,
        [A, B]: [BodyIndex; 2],
        p_WC: &Vector3,
        columns: &mut RelativeColumns,
    ) -> SpatialVelocity {
        let mut error = |carrier, body| self.error(carrier, body, p_WC, columns);
        match [A, B].map(|body| self.model.base(body)) {
            [None, None] => SpatialVelocity::ZERO,
            [Some(a), Some(b)] if a == b => SpatialVelocity::ZERO,
            [None, Some(_)] => -error(A, B),
            [Some(_), None] => error(B, A),
            [Some(_), Some(_)] => {
                // The one that turns less carries
                let [a, b] = [A, B].map(|body| self.turned_squared(body));
                let share = if a + b > 0.0 { b / (a + b) } else { 0.5 };
                error(B, A) * (1.0 - share) - error(A, B) * share
            }
        }
    }

    /// The velocity at C that leads the base of a `body` from where `carrier` would have carried it from to
    /// where it ends, relative to the carrier's own one; less if it moves otherwise than the carrier would
    /// lead it.
    fn error(
        &self,
        carrier: BodyIndex,
        body: BodyIndex,
        p_WC: &Vector3,
        columns: &mut RelativeColumns,
    ) -> SpatialVelocity {
        let Self { model, start, end, v, step } = self;
        let (X_start, X_end) = (start.X_WB[carrier], end.X_WB[carrier]);
        let (Some(from), Some(to)) = (model.base_origin(start, body), model.base_origin(end, body)) else {
            return SpatialVelocity::ZERO;
        };
        if X_start == X_end {
            return SpatialVelocity::ZERO;
        }
        columns.merge(model, end, (BodyIndex::WORLD, carrier), p_WC);
        let V = columns.velocity(v) * *step;
        let led = to - (X_start * X_end.inverse_transform_point(&to.into())).coords;
        let turn = unwound(rotation_vector(&(X_end.rotation * X_start.rotation.inverse())), &V.w);
        let error = SpatialVelocity::new(turn, led + turn.cross(&(p_WC - to))) - V;
        if error.w.amax().max(error.v.amax()) < ROUNDING {
            return SpatialVelocity::ZERO;
        }
        error * (carried(&(to - from), &led) / step)
    }

    /// The square of the change of a body's rotation matrix.
    fn turned_squared(&self, body: BodyIndex) -> f64 {
        (self.end.X_WB[body].rotation.matrix() - self.start.X_WB[body].rotation.matrix()).norm_squared()
    }
}

/// How far a body that moves by `moved` is carried by one that would lead it by `led` \[m\]: 1 if the two are
/// the same, 0 if it stays where it is. The derivative is 0 at 1.
fn carried(moved: &Vector3, led: &Vector3) -> f64 {
    let rest = AT_REST * AT_REST;
    ((2.0 * moved.dot(led) + rest) / (moved.norm_squared() + led.norm_squared() + rest)).clamp(0.0, 1.0)
}

/// Bound of the change of the error of two bodies that turn together \[m\], if their velocities at the end of
/// a step of `h` \[s\] change by those in `data`, which has its poses, from the poses in `start`: the smaller
/// turn times the larger change of their motion, where the geometries are nearest.
pub(super) fn curvature(
    pairs: &Pairs,
    pair: &ContactPair,
    scene: &Scene,
    (start, data, h): (&Data, &Data, f64),
) -> f64 {
    let [a, b] = [pair.A, pair.B].map(|index| pairs.sphere_around(scene, index));
    let center = if a.1 < b.1 { a.0 } else { b.0 };
    let [(turn_A, way_A), (turn_B, way_B)] = [pair.A, pair.B].map(|index| {
        let body = scene.geometries()[index].body;
        let V = data.V_WB[body].shift(&(center - data.X_WB[body].translation.vector)) * h;
        let turned = (data.X_WB[body].rotation.matrix() - start.X_WB[body].rotation.matrix()).norm();
        (turned + V.w.norm(), V.v.norm())
    });
    turn_A.min(turn_B) * way_A.max(way_B)
}

/// A rotation vector of the same rotation, as near as possible to `spin`.
fn unwound(turn: Vector3, spin: &Vector3) -> Vector3 {
    let angle = turn.norm();
    let axis = if angle > ROUNDING.sqrt() { turn / angle } else { spin.try_normalize(0.0).unwrap_or_default() };
    let angle = turn.dot(&axis);
    let whole = ((spin.dot(&axis) - angle) / std::f64::consts::TAU).round();
    if whole == 0.0 { turn } else { axis * (angle + whole * std::f64::consts::TAU) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Rotation;

    /// Rotation vectors keep the whole turns of the velocities.
    #[test]
    fn turns_are_unwound_near_the_spin() {
        let axis = Vector3::new(2.0, -1.0, 2.0) / 3.0;
        for angle in [0.0, 1e-9, 0.5, 3.0, 3.3, 6.0, std::f64::consts::TAU, 7.0, -4.0, 14.0] {
            let spin = axis * angle;
            let found = unwound(rotation_vector(&Rotation::new(spin)), &spin);
            assert!((found - spin).norm() < 1e-12, "{angle}: {found} and not {spin}");
        }
    }

    /// A body that moves as its carrier would lead it is carried, and one that stays where it is is not.
    #[test]
    fn bodies_that_stay_are_not_carried() {
        let led = Vector3::new(0.01, 0.02, 0.0);
        assert_eq!(carried(&led, &led), 1.0);
        assert_eq!(carried(&-led, &led), 0.0);
        assert!(carried(&Vector3::zeros(), &led) < 1e-8);
        assert!(carried(&(led * 1.1), &led) > 0.995);
    }
}
