//! Snapshots as messages.

use super::cdr::Cdr;
use crate::math::{RigidTransform, SpatialForce};

const NS_PER_SECOND: u64 = 1_000_000_000;

/// Simulated time as a stamp; the 32-bit seconds of the message wrap after 68 years.
pub(super) fn time(cdr: &mut Cdr<'_>, ns: u64) {
    cdr.i32((ns / NS_PER_SECOND) as i32);
    cdr.u32((ns % NS_PER_SECOND) as u32);
}

pub(super) fn header(cdr: &mut Cdr<'_>, ns: u64, frame: &str) {
    time(cdr, ns);
    cdr.string(frame);
}

/// The rotation as a message's quaternion, x y z w.
fn quaternion(cdr: &mut Cdr<'_>, X: &RigidTransform) {
    let q = nalgebra::UnitQuaternion::from_rotation_matrix(&X.rotation);
    cdr.f64s(&[q.i, q.j, q.k, q.w]);
}

pub(super) fn joint_states(buffer: &mut Vec<u8>, ns: u64, names: &[String], [position, velocity, effort]: [&[f64]; 3]) {
    let mut cdr = Cdr::new(buffer);
    header(&mut cdr, ns, "");
    cdr.length(names.len());
    names.iter().for_each(|name| cdr.string(name));
    cdr.sequence(position);
    cdr.sequence(velocity);
    cdr.sequence(effort);
}

/// The wrench in the axes of B.
pub(super) fn wrench(buffer: &mut Vec<u8>, ns: u64, frame: &str, F_BBo_W: &SpatialForce, X_WB: &RigidTransform) {
    let R_BW = X_WB.rotation.inverse();
    let mut cdr = Cdr::new(buffer);
    header(&mut cdr, ns, frame);
    cdr.f64s((R_BW * F_BBo_W.f).as_slice());
    cdr.f64s((R_BW * F_BBo_W.tau).as_slice());
}

pub(super) fn pose(buffer: &mut Vec<u8>, ns: u64, frame: &str, X: &RigidTransform) {
    let mut cdr = Cdr::new(buffer);
    header(&mut cdr, ns, frame);
    cdr.f64s(X.translation.vector.as_slice());
    quaternion(&mut cdr, X);
}

/// Transforms: the parent frame, the child frame, and the pose of the child in the parent.
pub(super) fn transforms<'a>(
    buffer: &mut Vec<u8>,
    ns: u64,
    transforms: impl ExactSizeIterator<Item = (&'a str, &'a str, &'a RigidTransform)>,
) {
    let mut cdr = Cdr::new(buffer);
    cdr.length(transforms.len());
    for (frame, child, X) in transforms {
        header(&mut cdr, ns, frame);
        cdr.string(child);
        cdr.f64s(X.translation.vector.as_slice());
        quaternion(&mut cdr, X);
    }
}

pub(super) fn number(buffer: &mut Vec<u8>, value: f64) {
    Cdr::new(buffer).f64(value);
}

pub(super) fn text(buffer: &mut Vec<u8>, text: &str) {
    Cdr::new(buffer).string(text);
}

pub(super) fn clock(buffer: &mut Vec<u8>, ns: u64) {
    time(&mut Cdr::new(buffer), ns);
}
