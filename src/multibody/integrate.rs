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
