//! The equations of a coin that stays flat: an oracle without contact geometry.
//!
//! With v along x, the spin omega, and points p with the weights w of the normal force (sum w = 1),
//!   dv/dt = -mu g sum w u_x,   d omega/dt = -mu g (2/R^2) sum w (x u_y - y u_x),
//!   u = s/sqrt(|s|^2 + v_s^2),
//! and the slip s = (v - omega y, omega x). The ratio v/(omega R) tends to 0.64415 for the fan's ring, and to
//! 0.65300 for a uniform pressure.

use std::f64::consts::TAU;

use super::coin::{GRAVITY, MU, RADIUS};

/// The points on which the coin presses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Footprint {
    /// The centroids of a fan of 152 triangles.
    Fan,
    /// A uniform pressure.
    Disc,
}

/// A step of the equations takes this part of the time to stop. The error of the method is of its fourth
/// power. [-]
const PART: f64 = 5e-3;
/// Rings and points per ring of the quadrature of a disc.
const QUADRATURE: (u32, u32) = (24, 96);
/// Points of the fan.
const FAN: u32 = 152;

impl Footprint {
    /// Positions \[m\] and weights [-].
    fn points(self) -> Vec<([f64; 2], f64)> {
        let ring = |radius: f64, count: u32, weight: f64| {
            (0..count).map(move |i| {
                let angle = TAU * (f64::from(i) + 0.5) / f64::from(count);
                ([radius * angle.cos(), radius * angle.sin()], weight / f64::from(count))
            })
        };
        match self {
            // The height of a triangle is shorter than the radius
            Self::Fan => {
                let height = RADIUS * (0.5 * TAU / f64::from(FAN)).cos();
                ring(2.0 / 3.0 * height, FAN, 1.0).collect()
            }
            Self::Disc => {
                // Rings of equal area, each at the radius of its mean
                let (rings, count) = QUADRATURE;
                let middle = |i: u32| RADIUS * ((f64::from(i) + 0.5) / f64::from(rings)).sqrt();
                (0..rings).flat_map(|i| ring(middle(i), count, 1.0 / f64::from(rings))).collect()
            }
        }
    }
}

/// The rates of v [m/s2] and omega [rad/s2].
fn rates(points: &[([f64; 2], f64)], [v, omega]: [f64; 2], slip_min: f64) -> [f64; 2] {
    let (mut force, mut torque) = (0.0, 0.0);
    for ([x, y], weight) in points {
        let slip = [v - omega * y, omega * x];
        let scale = weight / (slip[0] * slip[0] + slip[1] * slip[1] + slip_min * slip_min).sqrt();
        force += scale * slip[0];
        torque += scale * (x * slip[1] - y * slip[0]);
    }
    [-MU * GRAVITY * force, -MU * GRAVITY * 2.0 / (RADIUS * RADIUS) * torque]
}

/// Force of friction on a coin with the speeds of its centre and its rim [m/s], over mu N, and its torque
/// over mu N R [-].
pub fn friction_of(footprint: Footprint, [speed, rim]: [f64; 2]) -> [f64; 2] {
    let [force, torque] = rates(&footprint.points(), [speed, rim / RADIUS], f64::MIN_POSITIVE.sqrt());
    [-force / (MU * GRAVITY), -0.5 * RADIUS * torque / (MU * GRAVITY)]
}

/// v/(omega R) where the rim speed omega R falls to `read` [m/s], of a coin that starts with the speeds
/// `start` [m/s] of its centre and its rim. `slip_min` is v_s [m/s].
pub fn exact_ratio(footprint: Footprint, [speed, rim]: [f64; 2], read: f64, slip_min: f64) -> Option<f64> {
    let points = footprint.points();
    let rate = |state: [f64; 2]| rates(&points, state, slip_min);
    let mut state = [speed, rim / RADIUS];
    // Each step takes at least 0.2 % of the speed that is left
    for _ in 0..100_000 {
        let h = PART * (state[0] + state[1] * RADIUS) / (MU * GRAVITY);
        let along = |k: [f64; 2], h: f64| [state[0] + h * k[0], state[1] + h * k[1]];
        let k1 = rate(state);
        let k2 = rate(along(k1, 0.5 * h));
        let k3 = rate(along(k2, 0.5 * h));
        let k4 = rate(along(k3, h));
        let next = [0, 1].map(|i| state[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
        let [before, after] = [state[1] * RADIUS, next[1] * RADIUS];
        if before > read && after <= read {
            let part = (before - read) / (before - after);
            return Some((state[0] + part * (next[0] - state[0])) / read);
        }
        state = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The limits that Farkas et al. and Masterjohn et al. give: the ratio no longer changes there. The
    /// quadrature of the disc is good to 1e-3.
    #[test]
    fn ratios_tend_to_their_limits() {
        for (footprint, limit, bound) in [(Footprint::Fan, 0.644153, 1e-4), (Footprint::Disc, 0.652998, 1e-3)] {
            let start = [limit * 5.0, 5.0];
            let found = exact_ratio(footprint, start, 0.01, 1e-9).expect("a ratio");
            assert!((found - limit).abs() < bound, "{footprint:?}: {found} and not {limit}");
        }
    }
}
