//! Torque-free rotation of a rigid body over a step, which conserves its angular momentum and its energy to
//! rounding.
//!
//! With the body's momentum P = R^T L in its own axes, the implicit midpoint rule of Euler's equations  dP/dt
//! = P x I^-1 P  is
//!   I W + (h/2) W x I W = P,      R <- R cay(h W),      cay(r) = (1 - [r]/2)^-1 (1 + [r]/2),
//! in one unknown, the midpoint's angular velocity W. The Cayley map turns P by exactly the change that the
//! rule makes, so R P = L is exact. The energy, a quadratic invariant, is exact too. The rule is symmetric
//! and of second order; a composition of five, the middle one backwards, is of fourth [Suzuki 1990].

use nalgebra::{Quaternion, UnitQuaternion};

use super::kinematics::from_quaternion;
use crate::math::{Matrix3, Rotation, Vector3, skew};

/// Below this turn in a step \[rad\] the error of a single midpoint rule is the third power of the turn over
/// twelve: 1e-10 rad.
const SINGLE_TURN_MAX: f64 = 1e-3;
/// The largest turn of a fourth-order substep \[rad\]; its error is about 1e-3 of the fifth power of the
/// turn: 3e-5 rad.
const SUBSTEP_TURN_MAX: f64 = 0.5;
/// The orientation of a body that needs more substeps than this in a step is meaningless.
const SUBSTEPS_MAX: f64 = 1000.0;
/// p of the fourth-order composition h (p, p, 1 - 4 p, p, p):  1/(4 - 4^(1/3)).
const SUZUKI: f64 = 0.414_490_771_794_375_7;
/// Newton's method on W squares its error, which starts at about the turn of a substep.
const NEWTON_ITERATIONS_MAX: u32 = 12;
/// A change of W below this fraction of W is rounding. [-]
const ROUNDING: f64 = 4.0 * f64::EPSILON;
/// A relative change below this that no longer decreases is rounding, too. The inverse inertia of a body that
/// is a thousand times as long as wide has fewer correct digits. [-]
const NEARLY: f64 = 1e-9;

/// A body about its centre of mass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Top {
    inertia: Matrix3,
    inverse: Matrix3,
}

impl Top {
    /// The body with this inertia about the centre of mass in the body's axes [kg m2]; `None` if it is not
    /// invertible.
    pub(super) fn new(inertia: Matrix3) -> Option<Self> {
        let inverse = inertia.try_inverse().filter(|inverse| inverse.iter().all(|x| x.is_finite()))?;
        Some(Self { inertia, inverse })
    }

    /// The angular momentum [N m s] at the orientation `R` and the angular velocity `w` [rad/s], in the fixed
    /// axes.
    pub(super) fn momentum(&self, R: &UnitQuaternion<f64>, w: &Vector3) -> Vector3 {
        let R = matrix(R);
        R * (self.inertia * (R.inverse() * w))
    }

    /// The angular velocity at the orientation `R` with the angular momentum `L` [N m s], both in the fixed
    /// axes [rad/s].
    pub(super) fn angular_velocity(&self, R: &UnitQuaternion<f64>, L: &Vector3) -> Vector3 {
        let R = matrix(R);
        let P = R.inverse() * L;
        let w = self.inverse * P;
        // The rounding of the inverse is the same in every step and would accumulate.
        R * (w + self.inverse * (P - self.inertia * w))
    }

    /// Does the same as [`Top::angular_velocity`], so that [`Top::momentum`] returns `L` to the rounding of
    /// the result.
    pub(super) fn spin(&self, R: &UnitQuaternion<f64>, L: &Vector3) -> Vector3 {
        let w = self.angular_velocity(R, L);
        w + self.angular_velocity(R, &(L - self.momentum(R, &w)))
    }

    /// The orientation after `dt` \[s\] with the constant angular momentum `L`. `None` if the body spins too
    /// fast for the step.
    pub(super) fn turn(&self, start: &UnitQuaternion<f64>, L: &Vector3, dt: f64) -> Option<UnitQuaternion<f64>> {
        let turn = dt * self.angular_velocity(start, L).norm();
        if turn <= SINGLE_TURN_MAX {
            return self.midpoint(start, L, dt);
        }
        let substeps = (turn / SUBSTEP_TURN_MAX).ceil();
        if substeps.is_nan() || substeps > SUBSTEPS_MAX {
            return None;
        }
        let h = dt / substeps;
        let mut R = *start;
        for _ in 0..substeps as u32 {
            for part in [SUZUKI, SUZUKI, 1.0 - 4.0 * SUZUKI, SUZUKI, SUZUKI] {
                R = self.midpoint(&R, L, part * h)?;
            }
        }
        Some(R)
    }

    fn midpoint(&self, R: &UnitQuaternion<f64>, L: &Vector3, h: f64) -> Option<UnitQuaternion<f64>> {
        let P = matrix(R).inverse() * L;
        let mut W = self.inverse * P;
        let mut before = f64::INFINITY;
        for _ in 0..NEWTON_ITERATIONS_MAX {
            let IW = self.inertia * W;
            let residual = IW + W.cross(&IW) * (0.5 * h) - P;
            let slope = self.inertia + (skew(&W) * self.inertia - skew(&IW)) * (0.5 * h);
            let step = slope.try_inverse()? * residual;
            W -= step;
            // Convergence is quadratic up to rounding, which is larger for a body that is long or flat.
            let change = step.norm() / W.norm();
            if change <= ROUNDING || (change <= NEARLY && change >= 0.5 * before) || W.norm() == 0.0 {
                let turned = R.quaternion() * Quaternion::from_parts(1.0, W * (0.5 * h));
                return Some(UnitQuaternion::new_normalize(turned));
            }
            before = change;
        }
        None
    }
}

/// The matrix of a quaternion. Unlike a product with the quaternion, a product with the matrix does not scale
/// by the rounding error of the norm, which keeps its sign from step to step.
fn matrix(R: &UnitQuaternion<f64>) -> Rotation {
    from_quaternion(&[R.w, R.i, R.j, R.k])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nut() -> (Top, UnitQuaternion<f64>, Vector3) {
        let inertia = Matrix3::new(3.0, 0.2, -0.1, 0.2, 2.0, 0.3, -0.1, 0.3, 1.5) * 1e-7;
        let R = UnitQuaternion::from_euler_angles(0.3, -0.7, 1.9);
        let top = Top::new(inertia).expect("an inertia");
        let L = top.momentum(&R, &Vector3::new(4.0, 7.0, -5.0));
        (top, R, L)
    }

    /// The error of third order cancels where 4 p^3 + (1 - 4 p)^3 = 0.
    #[test]
    fn the_composition_is_of_fourth_order() {
        let middle = 1.0 - 4.0 * SUZUKI;
        // The slope of the left side in p is 12 (p^2 - (1 - 4 p)^2) = -3.1: an error in the last digit
        // (1e-16) is below the rounding of the terms, and one in the fifteenth digit is not.
        assert!((4.0 * SUZUKI.powi(3) + middle.powi(3)).abs() < 1e-15, "{SUZUKI}");
    }

    /// The angular momentum is the same by construction; the energy is L.w/2.
    #[test]
    fn energy_stays_over_ten_thousand_steps() {
        let (top, start, L) = nut();
        let energy = |R: &UnitQuaternion<f64>| 0.5 * L.dot(&top.angular_velocity(R, &L));
        for dt in [1e-5, 1e-3, 3e-2, 1.0] {
            let mut R = start;
            for _ in 0..10_000 {
                R = top.turn(&R, &L, dt).expect("a turn");
            }
            let gain = energy(&R) / energy(&start) - 1.0;
            assert!(gain.abs() < 1e-12, "dt {dt} s: {gain:e}");
        }
    }

    /// Fourth order: a half step has a sixteenth of the error, against steps of a hundredth.
    #[test]
    fn the_turn_converges_with_the_fourth_power_of_the_step() {
        let (top, start, L) = nut();
        let run = |steps: u32| (0..steps).fold(start, |R, _| top.turn(&R, &L, 1.0 / f64::from(steps)).expect("a turn"));
        let exact = run(6000);
        let [coarse, fine] = [60, 120].map(|steps| run(steps).angle_to(&exact));
        assert!(coarse < 1e-4 && (12.0..20.0).contains(&(coarse / fine)), "{coarse:e} {fine:e}");
    }

    /// Closed form: a ball turns about a fixed axis.
    #[test]
    fn a_ball_turns_at_a_constant_rate() {
        let top = Top::new(Matrix3::identity() * 2e-3).expect("an inertia");
        let w = Vector3::new(3.0, -8.0, 5.0);
        let start = UnitQuaternion::identity();
        let R = (0..1000).fold(start, |R, _| top.turn(&R, &(w * 2e-3), 1e-3).expect("a turn"));
        assert!(R.angle_to(&UnitQuaternion::from_scaled_axis(w)) < 1e-10);
    }

    /// A spin that is too fast is refused.
    #[test]
    fn a_spin_of_many_turns_a_step_is_refused() {
        let (top, start, L) = nut();
        assert!(top.turn(&start, &(L * 1e9), 1e-3).is_none());
        assert!(top.turn(&start, &(L * f64::NAN), 1e-3).is_none());
    }
}
