//! Generalized forces by the recursive Newton-Euler algorithm [Featherstone 2008, ch. 5], in world axes about
//! each tree's reference point.

use super::data::Data;
use super::model::Model;
use crate::math::{SpatialForce, SpatialVelocity, Vector3};

/// Fills `data.coriolis` (c(q, v)) and `data.gravity` (tau_g(q)) [N m] or \[N\], so that
/// M vdot + c = tau_g + tau + J^T F.
///
/// Needs [`kinematics`](super::kinematics).
pub fn bias(model: &Model, data: &mut Data) {
    coriolis(model, data);
    gravity(model, data);
}

/// Fills `data.gravity` alone. Needs [`positions`](super::positions).
pub(crate) fn gravity(model: &Model, data: &mut Data) {
    let Data { gravity, S, force, links, .. } = data;
    // The weight of a link and its descendants, about T.
    for (weight, link) in force.iter_mut().zip(links.iter()) {
        let g = model.gravity_W();
        *weight = SpatialForce::new(link.inertia.first_moment.cross(g), g * link.inertia.mass);
    }
    sum_inwards(model, force);
    project(model, S, force, gravity);
}

/// Fills `data.coriolis` alone.
pub(super) fn coriolis(model: &Model, data: &mut Data) {
    forces(model, data, None);
    let Data { coriolis, S, force, .. } = data;
    project(model, S, force, coriolis);
}

/// Computes the generalized forces that give the accelerations `vdot`: out = M vdot + c - tau_g [N m] or
/// \[N\].
///
/// Needs [`kinematics`](super::kinematics).
pub fn inverse_dynamics(model: &Model, data: &mut Data, vdot: &[f64], out: &mut [f64]) {
    debug_assert_eq!(vdot.len(), model.nv());
    debug_assert_eq!(out.len(), model.nv());
    forces(model, data, Some(vdot));
    project(model, &data.S, &data.force, out);
    for ((force, vdot), armature) in out.iter_mut().zip(vdot).zip(model.dof_armature()) {
        *force += armature * vdot;
    }
}

/// Fills `data.force` with the forces that each joint transmits, about T. Without `vdot`, accelerations and
/// gravity are zero.
fn forces(model: &Model, data: &mut Data, vdot: Option<&[f64]>) {
    let Data { S, links, force, acceleration, .. } = data;
    // Gravity is equivalent to an upward acceleration of the world.
    let upwards = SpatialVelocity::new(Vector3::zeros(), -model.gravity_W());
    acceleration[0] = if vdot.is_some() { upwards } else { SpatialVelocity::ZERO };
    force[0] = SpatialForce::ZERO;
    for (number, link) in model.links().iter().enumerate().skip(1) {
        let moved = &links[number];
        let mut A = acceleration[link.parent] + moved.bias;
        if let Some(vdot) = vdot {
            for column in link.columns.clone() {
                A += S[column] * vdot[model.topology.column_dof[column]];
            }
        }
        acceleration[number] = A;
        let momentum = moved.inertia.mul_velocity(&moved.V);
        force[number] = moved.inertia.mul_velocity(&A) + moved.V.cross_force(&momentum);
    }
    sum_inwards(model, force);
}

/// Adds to `stiffness` a diagonal matrix K that is at least as stiff as the potential of gravity along the
/// scalar joints whose degree of freedom is `free` [N/m] or [N m/rad]. It holds at any angle of a joint, with
/// all other joints as they are. K_ii = sum over j of |H_ij|, where H_ij = (g x w_i) . a_j couples joint i
/// with a joint j that it carries. The moment a_j of the masses beyond j is their sum of m dp/dq_j. A
/// pendulum of length l has K = m g l, and a joint along gravity none.
///
/// Needs [`mass_matrix`](super::mass_matrix), whose composite inertias it uses.
pub(crate) fn weight_stiffness(model: &Model, data: &Data, free: impl Fn(usize) -> bool, stiffness: &mut [f64]) {
    let g = model.gravity_W();
    let scalar = |number: usize| {
        let link = &model.links()[number];
        let dof = |column: usize| model.topology.column_dof[column];
        (link.columns.len() == 1).then_some(link.columns.start).filter(|column| free(dof(*column)))
    };
    for number in 1..model.links().len() {
        let Some(column) = scalar(number) else { continue };
        let (beyond, S) = (&data.composite[number], &data.S[column]);
        let moment = (S.v * beyond.mass + S.w.cross(&beyond.first_moment)).norm();
        let own = model.topology.column_dof[column];
        let mut carrier = number;
        while carrier != 0 {
            if let Some(column) = scalar(carrier) {
                let coupling = g.cross(&data.S[column].w).norm() * moment;
                let dof = model.topology.column_dof[column];
                stiffness[dof] += coupling;
                if carrier != number {
                    stiffness[own] += coupling;
                }
            }
            carrier = model.links()[carrier].parent;
        }
    }
}

/// Writes minus the derivatives of the forces of gravity along the scalar joints `dofs` by their positions to
/// `stiffness`, row-major: the second derivatives H_ij = -(g x w_i) . a_j of the potential, where joint i
/// carries joint j, with the moments a_j of [`weight_stiffness`]. H is symmetric. Degrees of freedom that
/// `place` maps to `None` are left out.
///
/// Needs [`mass_matrix`](super::mass_matrix), whose composite inertias it uses.
pub(crate) fn weight_hessian(
    model: &Model,
    data: &Data,
    (place, size): (impl Fn(usize) -> Option<usize>, usize),
    hessian: &mut Vec<f64>,
) {
    hessian.clear();
    hessian.resize(size * size, 0.0);
    let g = model.gravity_W();
    let scalar = |number: usize| {
        let columns = &model.links()[number].columns;
        let column = (columns.len() == 1).then_some(columns.start)?;
        Some((column, place(model.topology.column_dof[column])?))
    };
    for number in 1..model.links().len() {
        let Some((column, own)) = scalar(number) else { continue };
        let (beyond, S) = (&data.composite[number], &data.S[column]);
        let moment = S.v * beyond.mass + S.w.cross(&beyond.first_moment);
        let mut carrier = number;
        while carrier != 0 {
            if let Some((column, other)) = scalar(carrier) {
                let coupling = -g.cross(&data.S[column].w).dot(&moment);
                hessian[other * size + own] += coupling;
                if carrier != number {
                    hessian[own * size + other] += coupling;
                }
            }
            carrier = model.links()[carrier].parent;
        }
    }
}

fn sum_inwards(model: &Model, force: &mut [SpatialForce]) {
    for (number, link) in model.links().iter().enumerate().skip(1).rev() {
        if link.parent != 0 {
            let passed = force[number];
            force[link.parent] += passed;
        }
    }
}

fn project(model: &Model, S: &[SpatialVelocity], force: &[SpatialForce], out: &mut [f64]) {
    out.fill(0.0);
    for (link, force) in model.links().iter().zip(force) {
        for column in link.columns.clone() {
            out[model.topology.column_dof[column]] += S[column].dot(force);
        }
    }
}
