//! Differential inverse kinematics: joint speeds that bring a frame of an arm towards a pose within one
//! control period.

use crate::math::{BodyIndex, Index, JointIndex, Matrix6, RigidTransform, Vector3, Vector6, rotation_vector};
use crate::multibody::jacobian::write_columns;
use crate::multibody::{Data, Model, positions};

/// Lengths are compared with angles at this scale \[m\]: about the size of an arm's links.
const LENGTH: f64 = 0.3;
/// Below this manipulability, sqrt(det(J Jᵀ)) with lengths in `LENGTH`, the least squares are damped [-]. The
/// arms in this project have 0.3 to 1 in their tasks.
const MANIPULABILITY_MIN: f64 = 0.05;
/// Damping at a singular pose [-]; it grows from none at `MANIPULABILITY_MIN` [Nakamura & Hanafusa 1986].
const DAMPING_MAX: f64 = 0.08;
/// The smallest damping, against rounding [-].
const DAMPING_MIN: f64 = 1e-5;
/// The largest number of Newton steps in one control period; one is usual, and long periods need two or
/// three.
const ITERATIONS_MAX: u32 = 8;
/// The Newton steps end when the commanded pose is this close to the requested one \[m\] or \[rad\], or at a
/// speed limit.
const ERROR_TOLERANCE: f64 = 1e-4;
/// The rate at which redundant joints return to the initial posture of the arm, without moving the tool
/// [1/s].
const POSTURE_RATE: f64 = 0.5;
/// Joints stay this far from their limits \[rad\].
const LIMIT_MARGIN: f64 = 0.02;

/// The inverse kinematics of one arm. Its coordinates are the commanded ones, not the measured ones.
#[derive(Clone, Debug)]
pub struct DifferentialInverse {
    joints: Vec<JointIndex>,
    body: BodyIndex,
    X_BT: RigidTransform,
    q: Vec<f64>,
    data: Data,
    columns: Vec<Vector6>,
    /// The column of each joint.
    column_of: Vec<usize>,
    /// Positions at the start of a period \[rad\], and the sum of the speeds of its iterations [rad/s].
    start: Vec<f64>,
    total: Vec<f64>,
    speeds: Vec<f64>,
    /// The posture of redundant joints \[rad\], and their speeds towards it before the motion of the tool is
    /// added [rad/s].
    posture: Vec<f64>,
    to_posture: Vec<f64>,
    locked: Vec<bool>,
    /// Speed limits [rad/s].
    limits: Vec<f64>,
}

impl DifferentialInverse {
    /// The inverse kinematics for the frame T, at `X_BT` in `body`, moved by `joints`, from the coordinates
    /// `q` of the whole model; `speed` is the part of the joints' speed limits that may be used.
    pub fn new(
        model: &Model,
        joints: &[JointIndex],
        body: BodyIndex,
        X_BT: RigidTransform,
        q: &[f64],
        speed: f64,
    ) -> Self {
        let dofs = model.body_dofs(body);
        let column_of = |joint: &JointIndex| {
            let start = model.joints()[*joint].v_start;
            dofs.iter().position(|dof| dof.to_usize() == start)
        };
        let joints: Vec<_> = joints.iter().copied().filter(|joint| column_of(joint).is_some()).collect();
        let posture: Vec<f64> = joints.iter().map(|joint| q[model.joints()[*joint].q_start]).collect();
        let limits = joints.iter().map(|joint| speed * model.joints()[*joint].limits.velocity).collect();
        let mut data = Data::new(model);
        positions(model, q, &mut data);
        Self {
            body,
            X_BT,
            q: q.to_vec(),
            data,
            columns: vec![Vector6::zeros(); dofs.len()],
            column_of: joints.iter().filter_map(column_of).collect(),
            start: posture.clone(),
            total: vec![0.0; joints.len()],
            posture,
            to_posture: vec![0.0; joints.len()],
            speeds: vec![0.0; joints.len()],
            locked: vec![false; joints.len()],
            limits,
            joints,
        }
    }

    /// The tool's pose at the commanded coordinates.
    pub fn X_WT(&self) -> RigidTransform {
        self.data.X_WB[self.body] * self.X_BT
    }
    /// The pose of a fixed body, or of a body of the arm as commanded.
    pub fn X_WB(&self, body: BodyIndex) -> RigidTransform {
        self.data.X_WB[body]
    }
    /// Commanded position \[rad\] of joint `i`.
    pub fn position(&self, model: &Model, i: usize) -> f64 {
        self.q[model.joints()[self.joints[i]].q_start]
    }
    /// Commanded speed [rad/s] of joint `i`.
    pub fn speed(&self, i: usize) -> f64 {
        self.speeds[i]
    }

    /// The error of the tool's pose: rotation \[rad\] and translation \[m\] from the commanded to the wanted
    /// one.
    pub fn error(&self, X_WT: &RigidTransform) -> Vector6 {
        let X = self.X_WT();
        let turn = rotation_vector(&(X_WT.rotation * X.rotation.inverse()));
        let shift: Vector3 = X_WT.translation.vector - X.translation.vector;
        Vector6::new(turn.x, turn.y, turn.z, shift.x, shift.y, shift.z)
    }

    /// Moves towards `X_WT` within `dt` \[s\], as far as the limits of speed and position allow. Returns the
    /// part of the required speeds that the speed limits allow, 0 to 1.
    pub fn advance(&mut self, model: &Model, X_WT: &RigidTransform, dt: f64) -> f64 {
        self.total.fill(0.0);
        for (start, joint) in self.start.iter_mut().zip(&self.joints) {
            *start = self.q[model.joints()[*joint].q_start];
        }
        let mut part = 1.0;
        for iteration in 0..ITERATIONS_MAX {
            self.find_speeds(model, X_WT, dt, iteration == 0);
            self.total.iter_mut().zip(&self.speeds).for_each(|(total, speed)| *total += speed);
            let ratios = self.total.iter().zip(&self.limits).map(|(speed, limit)| speed.abs() / limit);
            part = 1.0 / ratios.fold(1.0, f64::max);
            for (i, joint) in self.joints.iter().enumerate() {
                self.speeds[i] = self.total[i] * part;
                self.q[model.joints()[*joint].q_start] = self.start[i] + dt * self.speeds[i];
            }
            positions(model, &self.q, &mut self.data);
            if part < 1.0 || self.error(X_WT).amax() <= ERROR_TOLERANCE {
                break;
            }
        }
        part
    }

    /// Keeps the commanded pose.
    pub fn rest(&mut self) {
        self.speeds.fill(0.0);
    }

    /// Joint speeds that would correct the whole error of the pose within `dt`, to first order.
    fn find_speeds(&mut self, model: &Model, X_WT: &RigidTransform, dt: f64, with_posture: bool) {
        let mut V = self.error(X_WT) / dt;
        V.fixed_rows_mut::<3>(3).scale_mut(1.0 / LENGTH);
        let p_WT = self.X_WT().translation.vector;
        write_columns(model, &self.data, self.body, &p_WT, &mut self.columns);
        for column in &mut self.columns {
            column.fixed_rows_mut::<3>(3).scale_mut(1.0 / LENGTH);
        }
        self.to_posture.fill(0.0);
        if with_posture && self.joints.len() > 6 {
            for (i, joint) in self.joints.iter().enumerate() {
                let q = self.q[model.joints()[*joint].q_start];
                self.to_posture[i] = POSTURE_RATE * (self.posture[i] - q);
            }
        }
        self.locked.fill(false);
        // A joint at its limit is locked and the others solve again; each pass locks one at least.
        for _ in 0..=self.joints.len() {
            if !(self.solve(&V) && self.lock_at_limits(model, dt)) {
                break;
            }
        }
    }

    /// Damped least squares with the joints that are not locked: z + J^T (J J^T + damping² 1)^-1 (V - J z),
    /// where z moves towards the posture. Returns whether there was a solution.
    fn solve(&mut self, V: &Vector6) -> bool {
        let mut gram = Matrix6::zeros();
        let mut V = *V;
        for (i, index) in self.column_of.iter().enumerate().filter(|(i, _)| !self.locked[*i]) {
            gram += self.columns[*index] * self.columns[*index].transpose();
            V -= self.columns[*index] * self.to_posture[i];
        }
        let manipulability = gram.determinant().max(0.0).sqrt();
        let lack = (1.0 - manipulability / MANIPULABILITY_MIN).max(0.0);
        let damping = (DAMPING_MAX * lack).max(DAMPING_MIN);
        let Some(factor) = (gram + Matrix6::identity() * (damping * damping)).cholesky() else {
            self.speeds.fill(0.0);
            return false;
        };
        let weights = factor.solve(&V);
        for (i, index) in self.column_of.iter().enumerate() {
            let speed = self.to_posture[i] + self.columns[*index].dot(&weights);
            self.speeds[i] = if self.locked[i] { 0.0 } else { speed };
        }
        true
    }

    /// Locks the joints that would leave their range, and returns whether there were any.
    fn lock_at_limits(&mut self, model: &Model, dt: f64) -> bool {
        let mut any = false;
        for (i, joint) in self.joints.iter().enumerate() {
            let joint = &model.joints()[*joint];
            let (now, next) = (self.q[joint.q_start], self.q[joint.q_start] + dt * self.speeds[i]);
            let (lower, upper) = (joint.limits.lower + LIMIT_MARGIN, joint.limits.upper - LIMIT_MARGIN);
            if !self.locked[i] && ((next > upper && next > now) || (next < lower && next < now)) {
                self.locked[i] = true;
                any = true;
            }
        }
        any
    }
}
