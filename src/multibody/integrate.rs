//! Integration of the coordinates along generalized velocities.

use super::joint::JointKind;
use super::model::Model;
use crate::math::Vector3;

/// Below this angle \[rad\] the series of sin(x)/x to x^2 is exact to rounding: its next term x^4/120 is
/// under 1e-18.
const SMALL_HALF_ANGLE: f64 = 1e-4;

/// q <- q (+) `dt` v with constant v over `dt` \[s\], which is exact for constant joint rates. Quaternions
/// are turned by the exponential of w dt and normalised.
pub fn integrate(model: &Model, q: &mut [f64], v: &[f64], dt: f64) {
    debug_assert_eq!(q.len(), model.nq());
    debug_assert_eq!(v.len(), model.nv());
    for joint in model.joints().iter().filter(|joint| joint.nv > 0) {
        let q = &mut q[joint.q_start..joint.q_start + joint.nq];
        let v = &v[joint.v_start..joint.v_start + joint.nv];
        match (joint.kind, q, v) {
            (JointKind::Floating, [quaternion @ .., px, py, pz], &[wx, wy, wz, vx, vy, vz]) => {
                turn(quaternion, &(Vector3::new(wx, wy, wz) * dt));
                *px += dt * vx;
                *py += dt * vy;
                *pz += dt * vz;
            }
            (_, q, v) => {
                for (q, v) in q.iter_mut().zip(v) {
                    *q += dt * v;
                }
            }
        }
    }
}

/// Computes the displacement `out` with `from` (+) `out` = `to`, the inverse of [`integrate`] over 1 s. Turns
/// are below half a revolution.
pub fn displacement(model: &Model, from: &[f64], to: &[f64], out: &mut [f64]) {
    for joint in model.joints().iter().filter(|joint| joint.nv > 0) {
        let coordinates = joint.q_start..joint.q_start + joint.nq;
        let out = &mut out[joint.v_start..joint.v_start + joint.nv];
        match (joint.kind, &from[coordinates.clone()], &to[coordinates]) {
            (JointKind::Floating, [a @ .., ax, ay, az], [b @ .., bx, by, bz]) => {
                out[..3].copy_from_slice(rotation_between(a, b).as_slice());
                out[3..].copy_from_slice(&[bx - ax, by - ay, bz - az]);
            }
            (_, from, to) => out.iter_mut().zip(from).zip(to).for_each(|((out, from), to)| *out = to - from),
        }
    }
}

/// The rotation vector r \[rad\] with exp(r/2) A = B, of quaternions (w, x, y, z).
fn rotation_between(a: &[f64], b: &[f64]) -> Vector3 {
    let (&[aw, ax, ay, az], &[bw, bx, by, bz]) = (a, b) else { return Vector3::zeros() };
    let (ua, ub) = (Vector3::new(ax, ay, az), Vector3::new(bx, by, bz));
    let (w, u) = (aw * bw + ua.dot(&ub), ub * aw - ua * bw + ua.cross(&ub));
    // Both signs of a quaternion are the same rotation
    let (w, u) = if w < 0.0 { (-w, -u) } else { (w, u) };
    let half_sine = u.norm();
    if half_sine == 0.0 { Vector3::zeros() } else { u * (2.0 * half_sine.atan2(w) / half_sine) }
}

/// Q <- exp(r/2) Q for the quaternion (w, x, y, z) and the rotation vector r \[rad\] in the fixed frame's
/// axes.
pub(super) fn turn(quaternion: &mut [f64], rotation: &Vector3) {
    let &mut [w, x, y, z] = quaternion else { return };
    let half = 0.5 * rotation.norm();
    let sinc = if half < SMALL_HALF_ANGLE { 1.0 - half * half / 6.0 } else { half.sin() / half };
    let (s, r) = (half.cos(), rotation * (0.5 * sinc));
    let u = Vector3::new(x, y, z);
    let (turned_w, turned_u) = (s * w - r.dot(&u), u * s + r * w + r.cross(&u));
    let scale = 1.0 / (turned_w * turned_w + turned_u.norm_squared()).sqrt();
    quaternion.copy_from_slice(&[turned_w * scale, turned_u.x * scale, turned_u.y * scale, turned_u.z * scale]);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rotation between two quaternions turns the first into the second, also if their signs differ.
    #[test]
    fn rotations_between_quaternions_turn_one_into_the_other() {
        let start = [0.5, -0.5, 0.1, 0.7];
        for r in [Vector3::zeros(), Vector3::new(1e-9, 0.0, -2e-9), Vector3::new(0.3, -1.2, 2.0)] {
            let mut end = start;
            turn(&mut end, &r);
            for sign in [1.0, -1.0] {
                let found = rotation_between(&start, &end.map(|x| sign * x));
                assert!((found - r).norm() < 1e-15 + 1e-14 * r.norm(), "{found} and not {r}");
            }
        }
    }
}
