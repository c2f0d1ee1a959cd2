//! Poses, velocities and joint columns of all bodies.

use super::data::{Data, LinkData};
use super::joint::JointKind;
use super::model::Model;
use super::state::State;
use super::topology::Link;
use crate::math::{Matrix3, RigidTransform, Rotation, SpatialInertia, SpatialVelocity, Vector3};

/// Computes [`positions`] and [`velocities`] for `state`.
pub fn kinematics(model: &Model, state: &State, data: &mut Data) {
    positions(model, &state.q, data);
    velocities(model, &state.v, data);
}

/// Fills `data.X_WB` from the coordinates `q`, and the columns and inertias that all other algorithms start
/// from. Quaternions need not be normalised, but must not be zero.
pub fn positions(model: &Model, q: &[f64], data: &mut Data) {
    debug_assert_eq!(q.len(), model.nq());
    for (number, link) in model.links().iter().enumerate().skip(1) {
        let parent = data.links[link.parent];
        let (R_FL, p_FL) = joint_pose(link, q);
        let R_WF = parent.R_WL * link.R_PF;
        let p_PL = parent.R_WL * link.p_PF + R_WF * p_FL;
        let moved = &mut data.links[number];
        (moved.p_WT, moved.p_TL) =
            if link.parent == 0 { (p_PL, Vector3::zeros()) } else { (parent.p_WT, parent.p_TL + p_PL) };
        moved.R_WL = R_WF * R_FL;
        moved.inertia = inertia_about(&link.inertia, &moved.R_WL, &moved.p_TL);
        write_columns(link, &R_WF, &moved.p_TL, &mut data.S[link.columns.clone()]);
    }
    let Data { X_WB, links, .. } = data;
    for ((X_WB, &link), X_LB) in X_WB.iter_mut().zip(model.topology.body_link.iter()).zip(model.topology.X_LB.iter()) {
        let LinkData { R_WL, p_TL, p_WT, .. } = &links[link];
        let p_TB = p_TL + R_WL * X_LB.translation.vector;
        *X_WB = RigidTransform::from_parts((p_WT + p_TB).into(), R_WL * X_LB.rotation);
    }
}

/// Fills `data.V_WB` from the generalized velocities `v`, at the coordinates of the last [`positions`].
pub fn velocities(model: &Model, v: &[f64], data: &mut Data) {
    debug_assert_eq!(v.len(), model.nv());
    let dofs = &model.topology.column_dof;
    for (number, link) in model.links().iter().enumerate().skip(1) {
        let mut V_PL = SpatialVelocity::ZERO;
        for column in link.columns.clone() {
            V_PL += data.S[column] * v[dofs[column]];
        }
        let V_WP = data.links[link.parent].V;
        let moved = &mut data.links[number];
        moved.V = V_WP + V_PL;
        moved.bias = V_WP.cross_motion(&V_PL);
        if matches!(link.kind, JointKind::Planar | JointKind::Floating) {
            // Their translational columns follow the moving origin Lo, so d/dt (v_Lo + w x p_LoT) has the
            // term -w x v_Lo.
            let v_Lo = V_PL.shift(&moved.p_TL).v;
            moved.bias.v -= V_PL.w.cross(&v_Lo);
        }
    }
    let Data { V_WB, links, .. } = data;
    for ((V_WB, &link), X_LB) in V_WB.iter_mut().zip(model.topology.body_link.iter()).zip(model.topology.X_LB.iter()) {
        let LinkData { R_WL, p_TL, V, .. } = &links[link];
        *V_WB = V.shift(&(p_TL + R_WL * X_LB.translation.vector));
    }
}

/// Pose of the link in the joint frame F.
fn joint_pose(link: &Link, q: &[f64]) -> (Rotation, Vector3) {
    let q = &q[link.q_start..];
    let scalar = || link.mimic.0 * q[0] + link.mimic.1;
    match link.kind {
        JointKind::Fixed => (Rotation::identity(), Vector3::zeros()),
        JointKind::Revolute | JointKind::Continuous => (about_axis(&link.axis_F, scalar()), Vector3::zeros()),
        JointKind::Prismatic => (Rotation::identity(), link.axis_F * scalar()),
        JointKind::Planar => (about_axis(&link.axis_F, q[2]), link.plane_F.0 * q[0] + link.plane_F.1 * q[1]),
        JointKind::Floating => (from_quaternion(&[q[0], q[1], q[2], q[3]]), Vector3::new(q[4], q[5], q[6])),
    }
}

/// Rotation by `angle` \[rad\] about the unit vector `axis`.
fn about_axis(axis: &Vector3, angle: f64) -> Rotation {
    let (sin, cos) = angle.sin_cos();
    let a = axis * (1.0 - cos);
    let s = axis * sin;
    Rotation::from_matrix_unchecked(Matrix3::new(
        a.x * axis.x + cos,
        a.x * axis.y - s.z,
        a.x * axis.z + s.y,
        a.x * axis.y + s.z,
        a.y * axis.y + cos,
        a.y * axis.z - s.x,
        a.x * axis.z - s.y,
        a.y * axis.z + s.x,
        a.z * axis.z + cos,
    ))
}

/// The rotation of the quaternion (w, x, y, z), which need not be normalised.
pub(super) fn from_quaternion(&[w, x, y, z]: &[f64; 4]) -> Rotation {
    let s = 2.0 / (w * w + x * x + y * y + z * z);
    Rotation::from_matrix_unchecked(Matrix3::new(
        1.0 - s * (y * y + z * z),
        s * (x * y - w * z),
        s * (x * z + w * y),
        s * (x * y + w * z),
        1.0 - s * (x * x + z * z),
        s * (y * z - w * x),
        s * (x * z - w * y),
        s * (y * z + w * x),
        1.0 - s * (x * x + y * y),
    ))
}

/// Writes the joint's columns about T, in world axes: the motion of a unit rate of each of its dofs.
fn write_columns(link: &Link, R_WF: &Rotation, p_TL: &Vector3, out: &mut [SpatialVelocity]) {
    let turn = |axis_W: Vector3| SpatialVelocity::new(axis_W, p_TL.cross(&axis_W));
    let slide = |axis_W: Vector3| SpatialVelocity::new(Vector3::zeros(), axis_W);
    match (link.kind, out) {
        (JointKind::Revolute | JointKind::Continuous, [S]) => *S = turn(R_WF * (link.axis_F * link.mimic.0)),
        (JointKind::Prismatic, [S]) => *S = slide(R_WF * (link.axis_F * link.mimic.0)),
        (JointKind::Planar, [x, y, theta]) => {
            (*x, *y) = (slide(R_WF * link.plane_F.0), slide(R_WF * link.plane_F.1));
            *theta = turn(R_WF * link.axis_F);
        }
        (JointKind::Floating, out) => {
            for (S, i) in out.iter_mut().zip(0..6) {
                let axis = R_WF.matrix().column(i % 3).into_owned();
                *S = if i < 3 { turn(axis) } else { slide(axis) };
            }
        }
        (_, out) => debug_assert!(out.is_empty(), "a joint has as many columns as its kind says"),
    }
}

/// The inertia of a link about T in world axes, from the one about its origin in its axes.
fn inertia_about(inertia_L: &SpatialInertia, R_WL: &Rotation, p_TL: &Vector3) -> SpatialInertia {
    inertia_L.rotate(R_WL).shift(p_TL)
}
