//! Motion of trees of bodies without forces, M(q) vdot + c(q, v) = 0. The integrator is the classical
//! Runge-Kutta scheme of fourth order, in substeps whose length depends on the fastest link. If all links
//! turn slowly, it is the midpoint scheme of second order.

use super::bias::coriolis;
use super::data::Data;
use super::free_start::{FreeMotionError, FreeStart};
use super::joint::JointKind;
use super::kinematics::kinematics;
use super::mass_matrix::mass_matrix;
use super::model::Model;
use super::state::State;
use crate::math::dense::{NotPositiveDefinite, cholesky_in_place, cholesky_solve_in_place};

/// The largest turn of a link in a substep \[rad\]. The error of a substep is about a hundredth of the fifth
/// power of its turn: 3e-6 rad.
const SUBSTEP_TURN_MAX: f64 = 0.2;
/// The largest number of substeps in a step. Faster motion is an error, because it has no meaning.
const SUBSTEPS_MAX: f64 = 1000.0;

/// The largest turn of a link in a step with the scheme of second order \[rad\]. A step changes the energy by
/// about a fifth of the third power of this turn: that is 0.15 % in a minute of steps of 1 ms.
const SLOW_TURN: f64 = 5e-3;

/// The stages of a scheme: the weight of each derivative, and the part of the substep after which the next
/// derivative is taken.
type Scheme = &'static [(f64, f64)];
const SECOND_ORDER: Scheme = &[(0.0, 0.5), (1.0, 0.0)];
const FOURTH_ORDER: Scheme = &[(1.0 / 6.0, 0.5), (1.0 / 3.0, 0.5), (1.0 / 3.0, 1.0), (1.0 / 6.0, 0.0)];

/// The memory of the integrator.
#[derive(Clone, Debug, Default)]
pub(super) struct TreeFlow {
    state: State,
    /// The point at which the derivative is evaluated.
    point: State,
    /// The derivative at that point.
    slope: State,
    /// The weighted sum of the derivatives of a substep.
    sum: State,
    factor: Vec<f64>,
}

impl TreeFlow {
    /// Moves the trees in `moved`, after the forces at the start have changed their momentum. `turn` is the
    /// largest turn of a link in the step \[rad\]. `data` is that of the start; `scratch` is overwritten.
    pub(super) fn find(
        &mut self,
        model: &Model,
        start: &FreeStart<'_>,
        turn: f64,
        moved: &[bool],
        (data, scratch): (&mut Data, &mut Data),
    ) -> Result<(), FreeMotionError> {
        let substeps = (turn / SUBSTEP_TURN_MAX).ceil();
        if substeps.is_nan() || substeps > SUBSTEPS_MAX {
            return Err(FreeMotionError::Spin { turn });
        }
        self.state.clone_from(start.state);
        self.slope.clone_from(start.state);
        mass_matrix(model, data);
        self.slope.v.copy_from_slice(start.forces);
        self.accelerate(model, moved, data)?;
        for (v, vdot) in self.state.v.iter_mut().zip(&self.slope.v) {
            *v += start.dt * vdot;
        }
        let scheme = if turn <= SLOW_TURN { SECOND_ORDER } else { FOURTH_ORDER };
        let h = start.dt / substeps;
        for _ in 0..substeps as u32 {
            self.substep(model, moved, (scheme, h), scratch)?;
        }
        Ok(())
    }

    /// Writes the final state of the trees that moved.
    pub(super) fn write(&self, model: &Model, moved: &[bool], base: &mut State) {
        for joint in model.joints().iter().filter(|joint| joint.nv > 0 && moved[model.tree_of_dof()[joint.v_start]]) {
            let (q, v) = (joint.q_start..joint.q_start + joint.nq, joint.v_start..joint.v_start + joint.nv);
            base.q[q.clone()].copy_from_slice(&self.state.q[q]);
            base.v[v.clone()].copy_from_slice(&self.state.v[v]);
        }
    }

    fn substep(
        &mut self,
        model: &Model,
        moved: &[bool],
        (scheme, h): (Scheme, f64),
        scratch: &mut Data,
    ) -> Result<(), NotPositiveDefinite> {
        self.sum.clone_from(&self.state);
        self.point.clone_from(&self.state);
        for (weight, ahead) in scheme {
            self.differentiate(model, moved, scratch)?;
            add(&mut self.sum, weight * h, &self.slope);
            self.point.clone_from(&self.state);
            add(&mut self.point, ahead * h, &self.slope);
        }
        self.state.clone_from(&self.sum);
        for joint in model.joints().iter().filter(|joint| joint.nv > 0 && joint.kind == JointKind::Floating) {
            let quaternion = &mut self.state.q[joint.q_start..joint.q_start + 4];
            let norm = quaternion.iter().map(|x| x * x).sum::<f64>().sqrt();
            quaternion.iter_mut().for_each(|x| *x /= norm);
        }
        Ok(())
    }

    /// The derivative at `point`; zero for trees that do not move.
    fn differentiate(&mut self, model: &Model, moved: &[bool], scratch: &mut Data) -> Result<(), NotPositiveDefinite> {
        kinematics(model, &self.point, scratch);
        mass_matrix(model, scratch);
        coriolis(model, scratch);
        for (vdot, c) in self.slope.v.iter_mut().zip(&scratch.coriolis) {
            *vdot = -c;
        }
        self.accelerate(model, moved, scratch)?;
        self.slope.q.fill(0.0);
        for joint in model.joints().iter().filter(|joint| joint.nv > 0 && moved[model.tree_of_dof()[joint.v_start]]) {
            let q = &self.point.q[joint.q_start..joint.q_start + joint.nq];
            let v = &self.point.v[joint.v_start..joint.v_start + joint.nv];
            let qdot = &mut self.slope.q[joint.q_start..joint.q_start + joint.nq];
            match (joint.kind, q, v) {
                (JointKind::Floating, &[w, x, y, z, ..], &[wx, wy, wz, vx, vy, vz]) => {
                    // Half the product (0, w) Q.
                    let turn = [
                        -0.5 * (wx * x + wy * y + wz * z),
                        0.5 * (wx * w + wy * z - wz * y),
                        0.5 * (wy * w + wz * x - wx * z),
                        0.5 * (wz * w + wx * y - wy * x),
                    ];
                    qdot[..4].copy_from_slice(&turn);
                    qdot[4..].copy_from_slice(&[vx, vy, vz]);
                }
                _ => qdot.copy_from_slice(v),
            }
        }
        Ok(())
    }

    /// Divides the forces in `slope.v` by the mass matrix in `data`, tree by tree, so that they become
    /// accelerations; zero for trees that do not move.
    fn accelerate(&mut self, model: &Model, moved: &[bool], data: &Data) -> Result<(), NotPositiveDefinite> {
        let Self { slope, factor, .. } = self;
        for (tree, moved) in model.trees().iter().zip(moved) {
            let force = &mut slope.v[tree.clone()];
            if !moved {
                force.fill(0.0);
                continue;
            }
            let size = tree.len();
            factor.clear();
            for row in tree.clone() {
                factor.extend_from_slice(data.M.row(row));
            }
            cholesky_in_place(factor, size)
                .map_err(|error| NotPositiveDefinite { pivot: tree.start + error.pivot, ..error })?;
            cholesky_solve_in_place(factor, size, force);
        }
        Ok(())
    }
}

/// y += a x.
fn add(y: &mut State, a: f64, x: &State) {
    let pairs = y.q.iter_mut().zip(&x.q).chain(y.v.iter_mut().zip(&x.v));
    pairs.for_each(|(y, x)| *y += a * x);
}
