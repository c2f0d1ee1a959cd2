//! Free motion of bodies during a step: the motion without contacts and actuators.
//!
//! The known forces of the step (weight, external wrenches) change the momentum at its start. Then the bodies
//! move without forces for the whole step:
//! - a **free body** turns without torque ([`torque_free`](super::torque_free)): momentum and energy are
//!   conserved to rounding;
//! - **trees with joints** follow  M(q) vdot + c(q, v) = 0  ([`tree_flow`](super::tree_flow)) if any of their
//!   links turns fast;
//! - if all links of these trees turn very slowly, this module does nothing for them, and the step uses the
//!   Coriolis forces at its start.
//!
//! An impulse at the start followed by an exact free motion is a symplectic splitting: without contact, the
//! energy of a pendulum oscillates about its value and does not drift.

use nalgebra::{Quaternion, UnitQuaternion};

use super::data::Data;
use super::free_start::{FreeMotionError, FreeStart};
use super::integrate::turn;
use super::model::Model;
use super::state::State;
use super::topology::{FreeLink, Link};
use super::torque_free::Top;
use super::tree_flow::TreeFlow;
use crate::math::{SpatialForce, SpatialVelocity, Vector3};

/// If no link on a joint turns by more than this in a step \[rad\], all trees with joints keep the explicit
/// Coriolis forces. They change the energy in each step by about a fifth of the square of this turn, always
/// in the same direction: that is 0.3 % in a minute of steps of 1 ms.
const SLOW_TURN: f64 = 5e-4;

/// The end of the free motion, and the memory for computing it.
#[derive(Clone, Debug, Default)]
pub struct FreeMotion {
    /// The end of the free motion of the blocks that have [`moved`](Self::moved). The other blocks have the
    /// coordinates of the start and zero velocities. A step that ends with the velocities v ends at the
    /// coordinates base.q (+) dt (v - base.v).
    pub base: State,
    moved: Vec<bool>,
    flow: TreeFlow,
}

impl FreeMotion {
    /// Whether block `tree` of [`Model::trees`] has moved.
    pub fn moved(&self, tree: usize) -> bool {
        self.moved[tree]
    }

    /// Whether any block has moved.
    pub fn moved_any(&self) -> bool {
        self.moved.iter().any(|moved| *moved)
    }

    /// Sets the end to `state` without any free motion.
    pub fn stay(&mut self, model: &Model, state: &State) {
        self.base.clone_from(state);
        self.base.v.fill(0.0);
        self.moved.clear();
        self.moved.resize(model.trees().len(), false);
    }

    /// Writes to `out` the coordinates q0 for which the joints end the step at q0 + dt v, to first order in
    /// the change of v. They are those of `state` except in trees that have moved. Floating joints keep those
    /// of `state`.
    pub fn reference(&self, model: &Model, state: &State, dt: f64, out: &mut State) {
        out.clone_from(state);
        let moved = |dof: usize| self.moved[model.tree_of_dof()[dof]];
        for joint in model.joints().iter().filter(|joint| joint.nv == joint.nq && joint.nv > 0 && moved(joint.v_start))
        {
            for i in 0..joint.nv {
                out.q[joint.q_start + i] = self.base.q[joint.q_start + i] - dt * self.base.v[joint.v_start + i];
            }
        }
    }

    /// Computes the free motion from `start`, whose kinematics are in `data`; `scratch` is overwritten.
    /// Returns whether any block has moved.
    ///
    /// # Errors
    /// A spin that is too fast for the step, or a singular mass matrix.
    pub fn find(
        &mut self,
        model: &Model,
        start: &FreeStart<'_>,
        data: &mut Data,
        scratch: &mut Data,
    ) -> Result<bool, FreeMotionError> {
        self.stay(model, start.state);
        let Self { base, moved, flow } = self;
        let turn = start.dt * fastest_jointed(model, data);
        if turn > SLOW_TURN || turn.is_nan() {
            moved.fill(true);
            model.topology.free_links.iter().for_each(|free| moved[free.tree] = false);
            flow.find(model, start, turn, moved, (data, scratch))?;
            flow.write(model, moved, base);
        }
        for free in &model.topology.free_links {
            moved[free.tree] = move_body(&model.links()[free.link], free, start, base)?;
        }
        Ok(self.moved_any())
    }

    /// Turns the velocities of free bodies with their bodies. `end` has the coordinates of the end of a step.
    /// Its velocities v belong to the orientations at the end of free motion, as does the mass matrix with
    /// which contacts changed them. A body that contacts have turned further keeps its angular momentum about
    /// its centre of mass, which moves with dt (v - base.v).
    pub fn carry_spin(&self, model: &Model, dt: f64, end: &mut State) {
        for free in model.topology.free_links.iter().filter(|free| self.moved[free.tree]) {
            let dofs = free.dof..free.dof + 6;
            if end.v[dofs.clone()] == self.base.v[dofs.clone()] {
                continue;
            }
            let link = &model.links()[free.link];
            let Some(top) = Top::new(link.inertia.central()) else { continue };
            let q = link.q_start..link.q_start + 7;
            let center = link.inertia.center_of_mass();
            let [(R_free, p_free), (R_end, _)] = [&self.base.q, &end.q].map(|coordinates| {
                let coordinates = &coordinates[q.clone()];
                (orientation(coordinates), Vector3::from_column_slice(&coordinates[4..]))
            });
            let (p_free_BoBcm, p_end_BoBcm) = (R_free * center, R_end * center);
            let [V_free, V] = [&self.base.v, &end.v].map(|v| {
                let [w, v] = two_vectors(&v[dofs.clone()]);
                SpatialVelocity::new(w, v).shift(&p_free_BoBcm)
            });
            let w = top.spin(&R_end, &top.momentum(&R_free, &V.w));
            let p = p_free + p_free_BoBcm + (V.v - V_free.v) * dt - p_end_BoBcm;
            let v = V.v - w.cross(&p_end_BoBcm);
            end.q[q.start + 4..q.end].copy_from_slice(p.as_slice());
            end.v[dofs].copy_from_slice(&[w.x, w.y, w.z, v.x, v.y, v.z]);
        }
    }
}

/// The largest angular velocity of a link on a joint [rad/s].
fn fastest_jointed(model: &Model, data: &Data) -> f64 {
    let mut fastest = 0.0_f64;
    let mut free = model.topology.free_links.iter().map(|free| free.link).peekable();
    for (number, link) in data.links.iter().enumerate().skip(1) {
        if free.next_if_eq(&number).is_none() {
            fastest = fastest.max(link.V.w.norm_squared());
        }
    }
    fastest.sqrt()
}

/// The angular and the linear part of six numbers.
fn two_vectors(six: &[f64]) -> [Vector3; 2] {
    [Vector3::from_column_slice(&six[..3]), Vector3::from_column_slice(&six[3..])]
}

/// The orientation of the coordinates of a floating joint.
pub(super) fn orientation(coordinates: &[f64]) -> UnitQuaternion<f64> {
    UnitQuaternion::new_normalize(Quaternion::new(coordinates[0], coordinates[1], coordinates[2], coordinates[3]))
}

/// The orientation `turned` as the next step reads it if nothing else turns the body: it is normalised twice
/// more. A spin computed from another rounding of it would lose 7e-17 of the momentum in each step.
fn next_orientation(turned: &UnitQuaternion<f64>) -> UnitQuaternion<f64> {
    let mut coordinates = [turned.w, turned.i, turned.j, turned.k];
    turn(&mut coordinates, &Vector3::zeros());
    orientation(&coordinates)
}

/// Moves a free body. Returns false, without any change, if it has no mass or its inertia is not invertible.
fn move_body(link: &Link, free: &FreeLink, start: &FreeStart<'_>, base: &mut State) -> Result<bool, FreeMotionError> {
    let (dt, mass) = (start.dt, link.inertia.mass);
    let Some(top) = Top::new(link.inertia.central()).filter(|_| mass > 0.0) else { return Ok(false) };
    let (q, dofs) = (link.q_start..link.q_start + 7, free.dof..free.dof + 6);
    let coordinates = &start.state.q[q.clone()];
    let R = orientation(coordinates);
    let p_FBo = Vector3::from_column_slice(&coordinates[4..]);
    let [w, v] = two_vectors(&start.state.v[dofs.clone()]);
    let [tau, f] = two_vectors(&start.forces[dofs.clone()]);
    let center = link.inertia.center_of_mass();
    let p_BoBcm = R * center;
    let v_Bcm = SpatialVelocity::new(w, v).shift(&p_BoBcm).v + f * (dt / mass);
    let L = top.momentum(&R, &w) + SpatialForce::new(tau, f).shift(&p_BoBcm).tau * dt;
    let turned = top.turn(&R, &L, dt).ok_or(FreeMotionError::Spin { turn: dt * w.norm() })?;
    let spin = top.spin(&next_orientation(&turned), &L);
    let offset = turned * center;
    let p = p_FBo + p_BoBcm + v_Bcm * dt - offset;
    let v = v_Bcm - spin.cross(&offset);
    base.q[q].copy_from_slice(&[turned.w, turned.i, turned.j, turned.k, p.x, p.y, p.z]);
    base.v[dofs].copy_from_slice(&[spin.x, spin.y, spin.z, v.x, v.y, v.z]);
    Ok(true)
}
