//! Conversions from numbers to messages.

use std::time::{SystemTime, UNIX_EPOCH};

use super::interfaces::builtin_interfaces::msg::Time;
use super::interfaces::geometry_msgs::msg::{Point, Pose, Quaternion, Transform, Vector3 as Vector3Message, Wrench};
use super::interfaces::std_msgs::msg::Header;

use crate::math::{RigidTransform, SpatialForce, Vector3};

const NS_PER_SECOND: u64 = 1_000_000_000;

/// The present time of the system clock.
pub(crate) fn system_time() -> Time {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time { sec: now.as_secs() as i32, nanosec: now.subsec_nanos() }
}

/// A stamp in nanoseconds; times before zero become zero.
pub(crate) fn nanoseconds(stamp: &Time) -> u64 {
    u64::try_from(stamp.sec).unwrap_or(0) * NS_PER_SECOND + u64::from(stamp.nanosec)
}

/// Simulated time as a stamp. It starts over after 68 years, like the message's 32-bit seconds.
pub(crate) fn time(ns: u64) -> Time {
    Time { sec: (ns / NS_PER_SECOND) as i32, nanosec: (ns % NS_PER_SECOND) as u32 }
}

pub(crate) fn header(ns: u64, frame: &str) -> Header {
    Header { stamp: time(ns), frame_id: frame.to_owned() }
}

pub(crate) fn point(p: &Vector3) -> Point {
    Point { x: p.x, y: p.y, z: p.z }
}

pub(crate) fn vector(v: &Vector3) -> Vector3Message {
    Vector3Message { x: v.x, y: v.y, z: v.z }
}

fn quaternion(X: &RigidTransform) -> Quaternion {
    let q = nalgebra::UnitQuaternion::from_rotation_matrix(&X.rotation);
    Quaternion { x: q.i, y: q.j, z: q.k, w: q.w }
}

pub(crate) fn pose(X: &RigidTransform) -> Pose {
    Pose { position: point(&X.translation.vector), orientation: quaternion(X) }
}

#[cfg_attr(not(isobar_tf2), allow(dead_code))]
pub(crate) fn transform(X: &RigidTransform) -> Transform {
    Transform { translation: vector(&X.translation.vector), rotation: quaternion(X) }
}

/// The wrench in the axes of B, for F in the axes of the world and the pose of B in the world.
pub(crate) fn wrench_in_body(F_BBo_W: &SpatialForce, X_WB: &RigidTransform) -> Wrench {
    let R_BW = X_WB.rotation.inverse();
    Wrench { force: vector(&(R_BW * F_BBo_W.f)), torque: vector(&(R_BW * F_BBo_W.tau)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_keep_every_nanosecond() {
        let stamp = time(12_345_678_901);
        assert_eq!((stamp.sec, stamp.nanosec), (12, 345_678_901));
    }

    /// B is turned by a quarter about z: a force along world y is a force along B's x.
    #[test]
    fn wrenches_are_in_the_axes_of_the_body() {
        let X_WB = RigidTransform::new(Vector3::new(1.0, 2.0, 3.0), Vector3::z() * std::f64::consts::FRAC_PI_2);
        let F_BBo_W = SpatialForce::new(Vector3::new(-2.0, 0.0, 5.0), Vector3::new(0.0, 3.0, 0.0));
        let wrench = wrench_in_body(&F_BBo_W, &X_WB);
        assert!((wrench.force.x - 3.0).abs() < 1e-15 && wrench.force.y.abs() < 1e-15);
        assert!((wrench.torque.y - 2.0).abs() < 1e-15 && (wrench.torque.z - 5.0).abs() < 1e-15);
    }
}
