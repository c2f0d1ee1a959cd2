//! Polynomials between the points of a trajectory.

/// The state of one joint at one point.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Knot {
    /// \[rad\] or \[m\].
    pub(crate) position: f64,
    /// [rad/s] or [m/s].
    pub(crate) velocity: Option<f64>,
    /// [rad/s2] or [m/s2].
    pub(crate) acceleration: Option<f64>,
}

/// Position and velocity after `t` \[s\] of a segment of `T` \[s\]. The polynomial is the one of least degree
/// that meets both ends: linear between positions, cubic with velocities, quintic with accelerations too.
/// If the polynomial overflows, the result is not finite.
pub(crate) fn interpolate(from: &Knot, to: &Knot, T: f64, t: f64) -> (f64, f64) {
    let d = to.position - from.position;
    let Some(v1) = to.velocity else { return (from.position + d * t / T, d / T) };
    let v0 = from.velocity.unwrap_or(0.0);
    let Some(a1) = to.acceleration else {
        let c2 = (3.0 * d / T - 2.0 * v0 - v1) / T;
        let c3 = (v0 + v1 - 2.0 * d / T) / (T * T);
        return (from.position + t * (v0 + t * (c2 + t * c3)), v0 + t * (2.0 * c2 + t * 3.0 * c3));
    };
    let a0 = from.acceleration.unwrap_or(0.0);
    let c2 = a0 / 2.0;
    let c3 = (20.0 * d - (8.0 * v1 + 12.0 * v0) * T - (3.0 * a0 - a1) * T * T) / (2.0 * T.powi(3));
    let c4 = (-30.0 * d + (14.0 * v1 + 16.0 * v0) * T + (3.0 * a0 - 2.0 * a1) * T * T) / (2.0 * T.powi(4));
    let c5 = (12.0 * d - 6.0 * (v1 + v0) * T + (a1 - a0) * T * T) / (2.0 * T.powi(5));
    let position = from.position + t * (v0 + t * (c2 + t * (c3 + t * (c4 + t * c5))));
    let velocity = v0 + t * (2.0 * c2 + t * (3.0 * c3 + t * (4.0 * c4 + t * 5.0 * c5)));
    (position, velocity)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The polynomial meets the stated values and derivatives at both ends, in all three degrees. At the end,
    /// terms of up to 85 cancel, which leaves a rounding error below 1e-13. The difference over 1e-6 s is
    /// wrong by half the jerk of 30: 1.5e-5.
    #[test]
    fn polynomials_meet_both_ends() {
        let from = Knot { position: 1.0, velocity: Some(0.5), acceleration: Some(0.25) };
        for (velocity, acceleration) in [(None, None), (Some(-1.0), None), (Some(-1.0), Some(2.0))] {
            let to = Knot { position: 3.0, velocity, acceleration };
            let (start, start_speed) = interpolate(&from, &to, 2.0, 0.0);
            let (end, end_speed) = interpolate(&from, &to, 2.0, 2.0);
            assert!((start - 1.0).abs() < 1e-14 && (end - 3.0).abs() < 1e-13);
            if let Some(velocity) = velocity {
                assert!((start_speed - 0.5).abs() < 1e-14 && (end_speed - velocity).abs() < 1e-13);
            }
            if let Some(acceleration) = acceleration {
                let (_, before) = interpolate(&from, &to, 2.0, 2.0 - 1e-6);
                assert!(((end_speed - before) / 1e-6 - acceleration).abs() < 1e-4);
            }
        }
    }
}
