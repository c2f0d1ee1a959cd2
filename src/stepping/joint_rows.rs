//! Actuators, limits of positions and speeds, and dry friction of the joints, as rows of the convex problem.

use super::command::JointTarget;
use super::input::StepStart;
use super::settings::CommonSettings;
use crate::contact::NEAR_RIGID_BETA;
use crate::math::{Index, ScalarJointIndex};
use crate::multibody::Joint;
use crate::scene::{Actuator, Scene};
use crate::solvers::BoxRow;
use crate::solvers::dynamic::ContactProblem;

/// Time constant with which a joint beyond its limit returns \[s\]; full correction in one step would throw
/// it back.
pub(super) const RECOVERY_TIME: f64 = 0.02;

/// A joint at its velocity limit exceeds it by this fraction of the change of velocity that the limit
/// prevents [-].
const SPEED_LIMIT_SLIP: f64 = 1e-6;

/// The origin of an actuator's effort.
#[derive(Clone, Copy, Debug)]
enum EffortSource {
    /// A constant effort only, and its value before it was clamped to +- the limit [N m] or \[N\].
    Constant { effort: f64, wanted: f64, limit: f64 },
    /// The impulse of the row with that index.
    Row(usize),
}

/// The rows of actuators and of velocity limits in the present step, kept to compute efforts and impulses
/// afterwards.
#[derive(Clone, Debug, Default)]
pub(super) struct JointRows {
    sources: Vec<EffortSource>,
    /// The joints whose velocity limits are enforced, with the first of their two rows.
    speed_limits: Vec<(ScalarJointIndex, usize)>,
}

impl JointRows {
    /// Adds all rows of the joints to `problem`, and adds constant efforts, dampers and springs to its
    /// momentum equation. `gravity` is the generalized gravity force [N m] or \[N\]. Velocity limits have
    /// rows if `speed_limits` is set.
    pub(super) fn assemble(
        &mut self,
        scene: &Scene,
        (settings, speed_limits): (&CommonSettings, bool),
        StepStart { initial, state, command, .. }: &StepStart<'_>,
        gravity: &[f64],
        problem: &mut ContactProblem,
    ) {
        let model = scene.model();
        self.sources.clear();
        self.speed_limits.clear();
        let dt = settings.step();
        for (dof, damping) in model.dof_damping().iter().enumerate() {
            problem.momentum_matrix.add(dof, dof, dt * damping);
        }
        for (position, index) in scene.joints().iter().enumerate() {
            let joint = &model.joints()[*index];
            let (dof, ratio) = (joint.v_start, joint.mimic.map_or(1.0, |mimic| mimic.multiplier));
            let q = joint.position(&state.q).unwrap_or(0.0);
            // The spring at the end of the step: gamma = dt k (reference - q - dt u)
            let spring = &joint.spring;
            problem.momentum_matrix.add(dof, dof, dt * dt * spring.stiffness * ratio * ratio);
            problem.momentum[dof] += dt * spring.stiffness * (spring.reference - q) * ratio;
            let scalar = ScalarJoint {
                joint,
                ratio,
                dt,
                q,
                inverse_mass: ratio * ratio / problem.momentum_matrix.diagonal(dof),
            };
            let actuator = &scene.actuators()[position];
            let start = joint.position(&initial.q).unwrap_or(0.0);
            let target = standing_target(command.targets.as_slice().get(position), actuator, start);
            // The gravity load of a mimic joint is included in its leader's.
            let gravity = if joint.mimic.is_some() { 0.0 } else { gravity[dof] };
            self.sources.push(scalar.push_actuator(actuator, &target, gravity, problem));
            if joint.friction > 0.0 {
                problem.rows.push(friction_row(joint, ratio, dt, settings.stiction_tolerance));
            }
            scalar.push_limits(problem);
            if speed_limits && has_speed_limit(joint) {
                self.speed_limits.push((ScalarJointIndex::from_usize(position), problem.rows.len()));
                scalar.push_speed_limits(problem);
            }
        }
    }

    /// Writes the impulses of the velocity limits that act at the end velocities `v`, by joint [N s] or
    /// [N m s].
    pub(super) fn speed_limit_impulses(
        &self,
        problem: &ContactProblem,
        v: &[f64],
        impulses: &mut Vec<(ScalarJointIndex, f64)>,
    ) {
        let impulse = |row: usize| problem.rows[row].impulse(problem.rows[row].speed(v)).0;
        let limits = self.speed_limits.iter().map(|(joint, row)| (*joint, impulse(*row) + impulse(row + 1)));
        impulses.clear();
        impulses.extend(limits.filter(|(_, impulse)| *impulse != 0.0));
    }

    /// Computes the efforts of the actuators over the step that ended with the velocities `v` [N m] or \[N\].
    pub(super) fn efforts(&self, problem: &ContactProblem, v: &[f64], step: f64, efforts: &mut Vec<f64>) {
        let impulse = |row: usize| problem.rows[row].impulse(problem.rows[row].speed(v)).0;
        self.efforts_from(impulse, step, efforts);
    }

    /// Computes the efforts of the actuators over a step in which the rows have the impulses `impulse` [N m]
    /// or \[N\].
    pub(super) fn efforts_from(&self, impulse: impl Fn(usize) -> f64, step: f64, efforts: &mut Vec<f64>) {
        efforts.clear();
        efforts.extend(self.sources.iter().map(|source| match source {
            EffortSource::Constant { effort, .. } => *effort,
            EffortSource::Row(row) => impulse(*row) / step,
        }));
    }
}

impl JointRows {
    /// Whether a small change of a joint's feed-forward effort acts on it at the end velocities `v`: whether
    /// more and less of it are within the effort limit.
    pub(super) fn takes_effort(&self, problem: &ContactProblem, v: &[f64], joint: usize) -> [bool; 2] {
        let (value, lower, upper) = match self.sources[joint] {
            EffortSource::Constant { wanted, limit, .. } => (wanted, -limit, limit),
            EffortSource::Row(row) => {
                let row = &problem.rows[row];
                ((row.target - row.speed(v)) / row.regularization, row.lower, row.upper)
            }
        };
        [lower <= value && value < upper, lower < value && value <= upper]
    }
}

/// Whether a joint has a velocity limit. A limit of 0 counts as none: many URDF files state it if no limit is
/// known.
pub(super) fn has_speed_limit(joint: &Joint) -> bool {
    joint.limits.velocity > 0.0 && joint.limits.velocity.is_finite()
}

/// The command of a joint. A joint without a command is held at its initial position by its stiffness, or
/// stopped by its damping if it has no stiffness.
pub(super) fn standing_target(target: Option<&JointTarget>, actuator: &Actuator, start: f64) -> JointTarget {
    match target {
        Some(target) if *target != JointTarget::default() => *target,
        _ if actuator.stiffness > 0.0 => JointTarget { position: Some(start), ..JointTarget::default() },
        _ if actuator.damping > 0.0 => JointTarget { velocity: Some(0.0), ..JointTarget::default() },
        _ => JointTarget::default(),
    }
}

/// Dry friction over a step `dt` \[s\], regularized below the stiction tolerance [rad/s] or [m/s]; `ratio` is
/// the joint's rate per unit of its generalized velocity.
pub(super) fn friction_row(joint: &Joint, ratio: f64, dt: f64, stiction_tolerance: f64) -> BoxRow {
    let bound = dt * joint.friction;
    BoxRow {
        dof: joint.v_start as u32,
        coefficient: ratio,
        target: 0.0,
        regularization: stiction_tolerance / bound,
        lower: -bound,
        upper: bound,
    }
}

/// A joint with one degree of freedom, its own or its leader's.
struct ScalarJoint<'a> {
    joint: &'a Joint,
    /// Rate of the joint per unit of its generalized velocity [-]: 1, or the multiplier of a mimic joint.
    ratio: f64,
    /// Step \[s\].
    dt: f64,
    /// Position \[rad\] or \[m\].
    q: f64,
    /// ratio^2/A_ii [1/kg] or [1/(kg m2)].
    inverse_mass: f64,
}

impl ScalarJoint<'_> {
    fn row(&self, target: f64, regularization: f64, lower: f64, upper: f64) -> BoxRow {
        BoxRow { dof: self.joint.v_start as u32, coefficient: self.ratio, target, regularization, lower, upper }
    }

    /// R = beta^2 / (4 pi^2) w, with w the inverse effective mass, as for near-rigid contact points.
    fn near_rigid(&self) -> f64 {
        NEAR_RIGID_BETA * NEAR_RIGID_BETA / (4.0 * std::f64::consts::PI.powi(2)) * self.inverse_mass
    }

    /// The impedance at the end of the step:
    ///   gamma = dt clamp(K (q_cmd - q0 - dt u) + D (v_cmd - u) + tau_ff, +-limit).
    fn push_actuator(
        &self,
        actuator: &Actuator,
        target: &JointTarget,
        gravity: f64,
        problem: &mut ContactProblem,
    ) -> EffortSource {
        let stiffness = if target.position.is_some() { actuator.stiffness } else { 0.0 };
        let tracks = target.position.is_some() || target.velocity.is_some();
        let damping = if tracks { actuator.damping } else { 0.0 };
        let compensation = if actuator.gravity_compensation { -gravity } else { 0.0 };
        let at_rest = stiffness * (target.position.unwrap_or(self.q) - self.q)
            + damping * target.velocity.unwrap_or(0.0)
            + target.effort.unwrap_or(0.0)
            + compensation;
        let limit = actuator.effort_limit;
        let rate = self.dt * stiffness + damping;
        if rate > 0.0 {
            let regularization = 1.0 / (self.dt * rate);
            problem.rows.push(self.row(at_rest / rate, regularization, -self.dt * limit, self.dt * limit));
            EffortSource::Row(problem.rows.len() - 1)
        } else {
            let effort = at_rest.clamp(-limit, limit);
            problem.momentum[self.joint.v_start] += self.dt * self.ratio * effort;
            EffortSource::Constant { effort, wanted: at_rest, limit }
        }
    }

    /// Adds two rows that keep the speed within the velocity limit.
    fn push_speed_limits(&self, problem: &mut ContactProblem) {
        let (limit, regularization) = (self.joint.limits.velocity, SPEED_LIMIT_SLIP * self.inverse_mass);
        problem.rows.push(self.row(-limit, regularization, 0.0, f64::INFINITY));
        problem.rows.push(self.row(limit, regularization, f64::NEG_INFINITY, 0.0));
    }

    /// Adds the rows of the limits: the joint may reach a limit within the step, but not pass it.
    fn push_limits(&self, problem: &mut ContactProblem) {
        let limits = &self.joint.limits;
        let speed_to = |gap: f64| if gap >= 0.0 { gap / self.dt } else { gap / (self.dt + RECOVERY_TIME) };
        if limits.lower.is_finite() {
            let target = -speed_to(self.q - limits.lower);
            problem.rows.push(self.row(target, self.near_rigid(), 0.0, f64::INFINITY));
        }
        if limits.upper.is_finite() {
            let target = speed_to(limits.upper - self.q);
            problem.rows.push(self.row(target, self.near_rigid(), f64::NEG_INFINITY, 0.0));
        }
    }
}
